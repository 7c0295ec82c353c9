//! Instructions of the hot functions of a visit, counted by callgrind: `cargo bench -p gleaner-crawl --bench counted`
//!
//! The bench starts itself under `valgrind --tool=callgrind`, for each case with few rounds and with more of them: the difference by round is
//! what one costs. Counts depend on the build alone. Without an argument it prints one table; `benches/counted/run` counts whole crawls.

use std::hint::black_box;
use std::process::{Command, Stdio};
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use gleaner_base::clock::{SystemClock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::frontier::crews::Crew;
use gleaner_crawl::job::Job;
use gleaner_crawl::site::Site;
use gleaner_crawl::{outlinks, visit};
use gleaner_net::fetch::{Body, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use gleaner_page::{links, scripted};
use gleaner_rules::{Class, from_text};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

const RULES: &str = "start = ['http://a.example/browse/page-1.html']
[classes]
index = ['^/browse/page-\\d+\\.html$']
detail = ['^/details/\\d+\\.html$']
download = ['^/download/\\d+\\.torrent$']
";

/// Rounds of the two runs that are compared.
const ROUNDS: [usize; 2] = [20, 120];

const PAGE_BYTES: usize = 41_000;
const LINKS: usize = 300;

/// One body for every URL.
struct Web(Bytes);

struct Whole(Option<Bytes>);

#[async_trait]
impl Body for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        Ok(self.0.take())
    }
}

#[async_trait]
impl Transport for Web {
    async fn send(&self, _request: Request<'_>) -> Result<Response, FetchFailure> {
        let body = Box::new(Whole(Some(self.0.clone())));
        Ok(Response { status: 200, headers: ResponseHeaders::default(), body })
    }

    async fn resolve(&self, _url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution::default())
    }
}

/// An index page of 41 kB with 300 links to details, of which the first has this number.
fn page(first: usize) -> Bytes {
    let mut page = String::from(
        "<!DOCTYPE html><html><head><meta charset=utf-8><title>Browse</title><script src=\"/assets/site.js\"></script></head><body><table>\n",
    );
    for number in first..first + LINKS {
        page += &format!(
            "<tr class=\"odd\"><td class=\"name\"><a href=\"/details/{number}.html\" title=\"No. {number}\">Survey of {number}</a></td><td>2026-11-21</td></tr>\n"
        );
    }
    page += "</table>";
    page += &" ".repeat(PAGE_BYTES.saturating_sub(page.len() + 14));
    page += "</body></html>";
    page.into()
}

fn torrent() -> Bytes {
    let pieces = vec![b'p'; 8_000];
    let head = format!(
        "d8:announce15:http://t/a/b/cd4:infod6:lengthi104857600e4:name5:a.bin12:piece lengthi262144e6:pieces{}:",
        pieces.len()
    );
    [head.replace("15:http://t/a/b/cd", "16:http://t.a/b/c/d").as_bytes(), &pieces, b"ee"].concat().into()
}

fn site(body: Bytes) -> Arc<Site> {
    let rules = from_text("a", RULES).unwrap_or_else(|faults| panic!("{faults:?}"));
    Arc::new(Site::new(rules, Arc::new(Web(body)), Arc::new(SystemClock), Arc::new(MemoryStore::new())))
}

fn job(path: &str, class: Class, rule: usize) -> Job {
    let key = UrlKey { host: HostId(0), path: path.into() };
    let (via, memo, found) = (None, None, None);
    let lease = Lease { key, depth: 1, rank: 0, attempts: 0, via, memo, deadline: UnixMillis(u64::MAX), found, seq: 0 };
    let url = CrawlUrl::from_parts("http://a.example", path);
    Job { lease, url, class, rule, crew: Crew::History, was_read: false, is_guess: false }
}

const CASES: [(&str, &str); 9] = [
    ("index_known", "visit of an index page of 41 kB, 300 links, all known: to rows"),
    ("index_new", "visit of such a page, all links new: to rows"),
    ("front", "visit of such a page as the first of its list: to rows"),
    ("torrent", "visit of a torrent of 8 kB: to its row"),
    ("read_page", "the page read: links, listing, labels, fingerprint"),
    ("scan", "its link scan alone"),
    ("signs", "its signs of scripts alone"),
    ("join", "one of its links: resolved and normalised"),
    ("judge", "one of its URLs: class"),
];

/// Runs a case this many times.
fn run(case: &str, rounds: usize) {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
    let known = page(1);
    let (index, visited) = (site(known.clone()), job("/browse/page-5.html", Class::Index, 0));
    let finish = |site: &Arc<Site>, job: &Job| {
        runtime.block_on(visit::guarded(site, job.clone(), None, None)).expect("the store is memory")
    };
    let visit = |site: &Arc<Site>, job: &Job| {
        let finished = finish(site, job);
        black_box(finished.visit.outlinks.len() + usize::from(finished.visit.torrent.is_some()))
    };
    match case {
        "index_known" => {
            // Known is what the store holds.
            let first = Arc::new(vec![finish(&index, &visited).visit]);
            let receipts = runtime.block_on(index.db.record_visits(first)).expect("the store is memory");
            assert_eq!(receipts.iter().map(|receipt| receipt.urls_added as usize).sum::<usize>(), LINKS);
            assert!((0..rounds).all(|_| visit(&index, &visited) == LINKS));
        }
        "front" => {
            let visited = job("/browse/page-1.html", Class::Index, 0);
            assert!((0..rounds).all(|_| visit(&index, &visited) == LINKS));
        }
        "index_new" => {
            // The same page, on a site that has seen none. Both runs build as many sites, so that none counts.
            let sites: Vec<_> = (0..ROUNDS[1]).map(|_| site(known.clone())).collect();
            assert!(sites[..rounds].iter().all(|site| visit(site, &visited) == LINKS));
        }
        "torrent" => {
            let (site, job) = (site(torrent()), job("/download/1.torrent", Class::Download, 2));
            assert!((0..rounds).all(|_| visit(&site, &job) == 1));
        }
        "read_page" => {
            let headers = ResponseHeaders::default();
            let read =
                || outlinks::read_page(&index.rules, &index.rows.sitemaps, &visited, &headers, black_box(&known));
            assert!((0..rounds).all(|_| read().found.len() == LINKS));
        }
        "scan" => assert!((0..rounds).all(|_| links::scan(black_box(&known), encoding_rs::UTF_8).links.len() == LINKS)),
        "signs" => assert!((0..rounds).all(|_| scripted::signs(black_box(&known)).scripts)),
        "join" => {
            let base = visited.url.to_url().expect("it is one");
            let join = |_| CrawlUrl::join(&base, black_box("/details/4711.html"), None, &index.rules.canonical).is_ok();
            assert!((0..rounds).all(join));
        }
        "judge" => {
            let url = CrawlUrl::from_parts("http://a.example", "/details/4711.html");
            assert!(
                (0..rounds).all(|_| matches!(index.rules.judge(black_box(&url)), gleaner_rules::Verdict::Take { .. }))
            );
        }
        _ => panic!("no case {case}"),
    }
}

/// Instructions of a run under callgrind.
fn counted(case: &str, rounds: usize) -> u64 {
    let this = std::env::current_exe().expect("the path of this program");
    let out = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(this)
        .args([case, &rounds.to_string()])
        .stdout(Stdio::null())
        .output()
        .expect("valgrind is not installed; hint: apt-get install valgrind");
    let told = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{case}: {told}");
    let total = told.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    total.unwrap_or_else(|| panic!("valgrind prints no count: {told}"))
}

fn main() {
    let mut words = std::env::args().skip(1).filter(|word| word != "--bench");
    if let (Some(case), Some(rounds)) = (words.next(), words.next()) {
        return run(&case, rounds.parse().expect("a number of rounds"));
    }
    println!("| what | instructions |\n| --- | ---: |");
    for (case, what) in CASES {
        let [few, more] = ROUNDS;
        let one = counted(case, more).saturating_sub(counted(case, few)) / (more - few) as u64;
        println!("| {what} | {one} |");
    }
}
