//! Learning on sites in memory: what it finds, and what it never asks for.

mod bad_input;
mod sites;

use std::collections::{BTreeSet, HashMap, VecDeque};

use futures_util::FutureExt as _;

use crate::reading::{Answer, Home, Reading};
use crate::{Ask, Estimate, Kind, Learned, Nothing, Options, Outcome, learn, limits};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_rules::{SiteRules, Verdict, from_text};

/// What a made-up site answers.
enum Reply {
    Page(String),
    /// The torrent of this number.
    Torrent(u64),
    Bytes(&'static str, Vec<u8>),
    To(String),
    Status(u16),
}

/// A site in memory. It counts requests, and those that act.
struct MadeUp<F> {
    page: F,
    /// What robots.txt closes.
    closed: &'static [&'static str],
    asked: Vec<String>,
}

impl<F: FnMut(&str) -> Reply> MadeUp<F> {
    fn new(page: F) -> Self {
        Self { page, closed: &[], asked: Vec::new() }
    }

    fn get(&mut self, path: &str) -> Answer {
        let mut path = path.to_owned();
        for _ in 0..5 {
            let (status, kind, body) = match (self.page)(&path) {
                Reply::To(next) => {
                    path = next;
                    continue;
                }
                Reply::Page(body) => (200, "text/html; charset=utf-8", body.into_bytes()),
                Reply::Torrent(number) => (200, "application/x-bittorrent", torrent(number)),
                Reply::Bytes(kind, body) => (200, kind, body),
                Reply::Status(status) => (status, "text/html", b"<h1>no</h1><a href='/'>home</a>".to_vec()),
            };
            let url = format!("{ORIGIN}{path}");
            return Answer { url, status, content_type: Some(kind.to_owned()), body, rendered: Vec::new() };
        }
        Answer { url: format!("{ORIGIN}{path}"), status: 302, ..Answer::default() }
    }

    fn learn(&mut self, options: &Options) -> Outcome {
        learn(self, options).now_or_never().unwrap()
    }

    /// Crawls by learned rules: the torrents that are reached, and the pages that were asked for.
    fn crawl(&mut self, rules: &SiteRules) -> (BTreeSet<String>, usize) {
        let mut torrents = BTreeSet::new();
        let mut known: HashMap<String, ()> = HashMap::new();
        let mut open: VecDeque<CrawlUrl> = rules.start.iter().cloned().collect();
        let home = Home::of(&rules.start[0]);
        let mut pages = 0;
        while let Some(url) = open.pop_front() {
            if known.insert(url.as_str().to_owned(), ()).is_some() {
                continue;
            }
            pages += 1;
            assert!(pages < 5_000, "the rules lead on without end: {url}");
            self.asked.push(url.path().to_owned());
            let reading = Reading::of(&self.get(url.path()), &home, &rules.canonical);
            if let Kind::Torrent(infohash) = reading.kind {
                torrents.insert(infohash);
                continue;
            }
            let links = reading.links.iter().map(|link| home.url(&link.path));
            open.extend(links.filter(|url| matches!(rules.judge(url), Verdict::Take { .. })));
        }
        (torrents, pages)
    }
}

impl<F: FnMut(&str) -> Reply> Ask for MadeUp<F> {
    async fn ask(&mut self, url: &CrawlUrl, _: &str) -> Result<Answer, String> {
        self.asked.push(url.path().to_owned());
        Ok(self.get(url.path()))
    }

    fn allows(&self, url: &CrawlUrl) -> bool {
        !self.closed.iter().any(|closed| url.path().starts_with(closed))
    }
}

const ORIGIN: &str = "https://made-up.example";

fn options(path: &str) -> Options {
    Options {
        start: CrawlUrl::parse(&format!("{ORIGIN}{path}"), &Canonical::default()).unwrap(),
        requests: limits::REQUESTS,
        user: None,
        barren: Vec::new(),
        lean: false,
        robots_reason: None,
        rate: 1.0,
        families: false,
        login: None,
        canonical: Canonical::default(),
    }
}

/// A torrent of its own for each number.
fn torrent(number: u64) -> Vec<u8> {
    let info = format!("d6:lengthi{}e4:name5:thing12:piece lengthi16384e6:pieces20:", 1 + number % 16_000);
    let mut bytes = b"d4:info".to_vec();
    bytes.extend(info.as_bytes());
    bytes.extend(format!("{number:020}").as_bytes());
    bytes.extend(b"ee");
    bytes
}

/// The rules of a learned file, which must pass the check.
fn rules_of(learned: &Learned) -> std::sync::Arc<SiteRules> {
    from_text(&learned.name, &learned.text).unwrap_or_else(|faults| panic!("{faults:#?}\n{}", learned.text))
}

/// Learns and crawls: all torrents are reached with at most so many requests, and nothing that acts was asked for.
fn is_whole<F: FnMut(&str) -> Reply>(site: &mut MadeUp<F>, options: &Options, torrents: usize, most: usize) -> Learned {
    let outcome = site.learn(options);
    let learned = outcome.learned.unwrap_or_else(|why| panic!("{why}: {:#?}", outcome.log));
    let (found, pages) = site.crawl(&rules_of(&learned));
    assert_eq!(found.len(), torrents, "{:#?}{}", outcome.log, learned.text);
    assert!(pages <= most, "{pages} requests, {most} are enough:\n{}", learned.text);
    let harm: Vec<&String> = site.asked.iter().filter(|path| acts(path)).collect();
    assert!(harm.is_empty(), "{harm:?}");
    learned
}

/// What made-up sites are changed by.
fn acts(path: &str) -> bool {
    ["logout", "posting", "mark=", "watch=", "thanks", "privmsg", "/act/"].iter().any(|word| path.contains(word))
}
