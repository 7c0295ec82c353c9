//! What the learner itself costs for each page of a thousand links. `cargo bench -p gleaner-learn --bench cost`

use std::time::{Duration, Instant};

use futures_util::FutureExt as _;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_learn::{Answer, Ask, Options, learn, limits};

const LINKS: usize = 1_000;
const ORIGIN: &str = "https://made-up.example";

/// A tracker whose pages have a thousand links each. Its own time is not counted.
#[derive(Default)]
struct Tracker {
    pages: u32,
    own: Duration,
}

/// Benches measure real time.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

fn body(path: &str) -> Vec<u8> {
    let number = |front: &str| path.strip_prefix(front).and_then(|rest| rest.parse::<usize>().ok());
    if let Some(id) = number("/download/") {
        return format!("d4:infod6:lengthi{}e4:name1:a12:piece lengthi16384e6:pieces20:{id:020}ee", 1 + id % 16_000)
            .into();
    }
    let links = |first: usize, count: usize| -> String {
        let rows = (first..first + count).map(|id| {
            format!(
                "<tr><td><a href=\"/details/{id}\">Some distribution {id}</a><td><a href=\"/user/{}\">user {id}</a>",
                id % 97
            )
        });
        rows.collect()
    };
    if let Some(id) = number("/details/") {
        return format!("<h1>{id}</h1><a href=\"/download/{id}\">Download</a>{}", links(id + 1, LINKS / 2 - 1)).into();
    }
    let page = number("/?page=").unwrap_or(1);
    let pager: String = (1..=40).map(|to| format!("<a href=\"/?page={to}\">{to}</a> ")).collect();
    format!("<table>{}</table>{pager}", links(page * LINKS / 2, LINKS / 2 - 20)).into()
}

impl Ask for Tracker {
    async fn ask(&mut self, url: &CrawlUrl, _: &str) -> Result<Answer, String> {
        let watch = now();
        let body = body(url.path());
        self.pages += u32::from(body.len() > 10_000);
        self.own += watch.elapsed();
        Ok(Answer { url: url.as_str().to_owned(), status: 200, content_type: None, body, rendered: Vec::new() })
    }

    fn allows(&self, _: &CrawlUrl) -> bool {
        true
    }
}

fn main() {
    let options = Options {
        start: CrawlUrl::parse(&format!("{ORIGIN}/"), &Canonical::default()).expect("the URL is valid"),
        requests: limits::REQUESTS,
        user: None,
        barren: Vec::new(),
        lean: false,
        robots_reason: None,
        rate: 1.0,
        families: true,
        login: None,
        canonical: Canonical::default(),
    };
    for _ in 0..3 {
        let mut tracker = Tracker::default();
        let watch = now();
        let outcome = learn(&mut tracker, &options).now_or_never().expect("the site answers at once");
        let took = watch.elapsed() - tracker.own;
        let each = took.as_secs_f64() * 1e3 / f64::from(tracker.pages);
        println!(
            "{each:.2} ms a page: {} requests, {} pages of {LINKS} links, {took:?}; learned: {}",
            outcome.requests,
            tracker.pages,
            outcome.learned.is_ok()
        );
    }
}
