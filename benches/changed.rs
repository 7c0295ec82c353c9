//! The cost of detecting that a page has not changed, in the crawl's own code: `cargo bench --bench changed`
//!
//! The pages of real programs below `$GLEANER_CORPORA/pages` (`../shared/data` if not set) go through
//! `crawl::fresh::changed` like revisits, as lists of a site whose rules accept their links: learned from six visits with a
//! clock, counters and a form token that each view generates anew, then revisited. For comparison: a revisit without a
//! fingerprint (links and rows), a page with one new row, and the parse with html5ever. Best of several rounds each,
//! interleaved, so that all run under the same conditions.

#![allow(clippy::disallowed_methods)] // what it measures is the machine

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use gleaner_base::clock::{Clock, SystemClock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::fresh::changed::Reading;
use gleaner_crawl::frontier::crews::Crew;
use gleaner_crawl::job::Job;
use gleaner_crawl::outlinks;
use gleaner_crawl::site::Site;
use gleaner_crawl::version::Print;
use gleaner_net::fetch::{
    FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport, charset,
};
use gleaner_page::{links, tree};
use gleaner_rules::{self as rules, Class};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

/// Rounds of each; the best counts.
const TURNS: usize = 40;

/// Visits before the measured one.
const LOOKS: u64 = 6;

const RULES: &str = "start = ['http://a.example/list']
[classes]
detail = ['(thread|torrent|details|topic|attachment|files?/|\\.iso)']
index = ['.']
";

/// A transport without requests.
struct Nowhere;

#[async_trait]
impl Transport for Nowhere {
    async fn send(&self, _request: Request<'_>) -> Result<Response, FetchFailure> {
        Err(FetchFailure { kind: FailureKind::Dns, detail: String::new() })
    }

    async fn resolve(&self, _url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Err(FetchFailure { kind: FailureKind::Dns, detail: String::new() })
    }
}

fn site() -> Site {
    let rules = rules::from_text("a", RULES).unwrap_or_else(|faults| panic!("{faults:?}"));
    Site::new(rules, Arc::new(Nowhere), Arc::new(SystemClock), Arc::new(MemoryStore::new()))
}

fn job() -> Job {
    let key = UrlKey { host: HostId(0), path: "/list".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let url = CrawlUrl::from_parts("http://a.example", "/list");
    Job { lease, url, class: Class::Index, rule: 0, crew: Crew::History, was_read: false, is_guess: false }
}

fn timed<T>(work: impl FnOnce() -> T) -> Duration {
    let start = Instant::now();
    std::hint::black_box(work());
    start.elapsed()
}

fn pages(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            pages(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "html") {
            found.push(path);
        }
    }
}

/// The page with the parts that programs generate at each view: a clock, counters, the generation time, and a form token.
fn another(body: &[u8], look: u64) -> Vec<u8> {
    let token = look.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let noise = format!(
        "<div class='status'><p>Now: 12:{:02}:{:02}</p><p>{} users online, {} guests</p><p>Page made in 0.0{}s with {} queries</p>\
         <form action='/search'><input type='hidden' name='token' value='{token:x}'></form></div>",
        7 * look % 60,
        11 * look % 60,
        20 + 13 * look % 80,
        100 + 29 * look % 300,
        10 + 17 * look % 80,
        8 + look % 5,
    );
    let end = body.windows(7).rposition(|at| at.eq_ignore_ascii_case(b"</body>")).unwrap_or(body.len());
    [&body[..end], noise.as_bytes(), &body[end..]].concat()
}

/// The cost of one page, in microseconds.
#[derive(Clone, Copy)]
struct Costs {
    /// Parsing it into a tree.
    parse: f64,
    /// A revisit that finds it unchanged: the scan for links, and the fingerprint.
    unchanged: f64,
    scan: f64,
    /// A revisit without fingerprints.
    read: f64,
    /// A revisit that finds a new row.
    changed: f64,
}

impl Costs {
    const LONGEST: Self =
        Self { parse: f64::MAX, unchanged: f64::MAX, scan: f64::MAX, read: f64::MAX, changed: f64::MAX };

    fn with(self, other: Self, mix: impl Fn(f64, f64) -> f64) -> Self {
        Self {
            parse: mix(self.parse, other.parse),
            unchanged: mix(self.unchanged, other.unchanged),
            scan: mix(self.scan, other.scan),
            read: mix(self.read, other.read),
            changed: mix(self.changed, other.changed),
        }
    }

    fn told(self) -> String {
        let Self { parse, unchanged, scan, read, changed } = self;
        let print = (unchanged - scan).max(0.0);
        format!(
            "{parse:9.1} {print:9.1} {:7.1} % {unchanged:11.1} {read:9.1} {:7.1} % {changed:9.1} {:6.2}",
            100.0 * print / parse,
            100.0 * unchanged / read,
            changed / read
        )
    }
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// The costs of one page; `None` if it is not detected as unchanged.
fn costs(body: &[u8], turns: usize) -> Option<Costs> {
    let (site, job, headers) = (site(), job(), ResponseHeaders::default());
    let encoding = charset::detect(None, body, None);
    let (rules, sitemaps) = (&*site.rules, &*site.rows.sitemaps);
    let read = |body: &[u8], last| site.fresh.changed.read((rules, sitemaps), &job, &headers, body, last);
    let rows = |body: &[u8]| site.fresh.boards.read(rules, &job, &headers, body, SystemClock.now());
    let mut last: Option<Print> = None;
    for look in 0..LOOKS {
        if let Reading::Read(_, print, _) = read(&another(body, look), last) {
            last = print;
        }
    }
    let is_unchanged = |read: &Reading| matches!(read, Reading::Unchanged(_));
    let body = another(body, LOOKS);
    let body = body.as_slice();
    if !is_unchanged(&read(body, last)) {
        return None;
    }
    let mut best = Costs::LONGEST;
    for _ in 0..turns {
        let unchanged = micros(timed(|| read(body, last)));
        let scan = micros(timed(|| links::scan(body, charset::detect(None, body, None)).links.len()));
        let found = micros(timed(|| outlinks::read_page(rules, sitemaps, &job, &headers, body)));
        let mined = micros(timed(|| rows(body)));
        let parse = micros(timed(|| tree::parse(&encoding.decode(body).0).is_ok()));
        let now = Costs { parse, unchanged, scan, read: found + mined, changed: f64::MAX };
        best = best.with(now, f64::min);
    }
    for turn in 0..turns {
        let mut news = body.to_vec();
        news.extend(format!("<a href='/details/{turn}-new'>new {turn}</a>").into_bytes());
        let mut print = None;
        let time = timed(|| {
            if let Reading::Read(_, now, _) = read(&news, last) {
                print = now;
            }
            rows(&news)
        });
        assert!(print.is_some(), "a page with a new link is read");
        best.changed = best.changed.min(micros(time));
    }
    Some(best)
}

fn main() {
    // Without `--bench`, as in `cargo test --all-targets`, only check that it works.
    let is_bench = std::env::args().any(|argument| argument == "--bench");
    let mut found = Vec::new();
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let folder = std::env::var_os("GLEANER_CORPORA").map_or_else(beside, PathBuf::from).join("pages");
    pages(&folder, &mut found);
    found.sort();
    assert!(!found.is_empty(), "no pages below {}; GLEANER_CORPORA says where they are", folder.display());
    if !is_bench {
        found.truncate(1);
    }
    println!("    bytes  parse µs  print µs  of parse  unchanged µs  read µs   of read  changed µs  times");
    let (mut all, mut counted, mut others) =
        (Costs { parse: 0.0, unchanged: 0.0, scan: 0.0, read: 0.0, changed: 0.0 }, 0, 0);
    for path in found {
        let Ok(body) = std::fs::read(&path) else { continue };
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let folder = path.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        match costs(&body, if is_bench { TURNS } else { 1 }) {
            Some(costs) => {
                println!("{:9} {}  {folder}/{name}", body.len(), costs.told());
                (all, counted) = (all.with(costs, |sum, cost| sum + cost), counted + 1);
            }
            None => {
                println!("{:9} all of its bytes count  {folder}/{name}", body.len());
                others += 1;
            }
        }
    }
    println!("      all {}  {counted} pages, {others} others", all.told());
}
