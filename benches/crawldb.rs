//! The speed of the crawl database, and whether it keeps what it reported. Prints a table; fails if a figure misses its
//! target or a committed row is lost.
//!
//! `cargo bench --bench crawldb` [-- --urls 20000000]; `--urls 0` measures visits only. It re-executes itself: a child fills the
//! database, continues inserting, and is killed meanwhile; the parent opens the file and checks every batch that the child had
//! reported.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;

const HOSTS: u32 = 2_000;
const LINKS_PER_PAGE: u64 = 100;
/// Links of a page that an earlier page of its host also had.
const KNOWN_LINKS_PER_PAGE: u64 = 30;
const PAGES_PER_BATCH: usize = 500;
const NEW_PER_BATCH: u64 = PAGES_PER_BATCH as u64 * (LINKS_PER_PAGE - KNOWN_LINKS_PER_PAGE);
const CACHE_BYTES: usize = 96 << 20;
/// Minimum batches that the child inserts into the full database before it is killed.
const BATCHES_AFTER_FULL: u64 = 5;
const VISITS_PER_BATCH: usize = 400;
const DETAILS: u64 = 15_000;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let urls = value("--urls").map_or(20_000_000, |urls| urls.parse().expect("--urls takes a number"));
    if let Some(path) = value("--child") {
        return runtime().block_on(child(Path::new(path), urls));
    }
    let folder = tempfile::Builder::new().prefix("gleaner-bench-").tempdir_in(scratch()).expect("a scratch folder");
    let visits_ok = runtime().block_on(visits(&folder.path().join("visits.redb")));
    let bulk_ok = urls == 0 || bulk(&folder.path().join("bulk.redb"), urls);
    drop(folder);
    assert!(visits_ok && bulk_ok, "a figure is missed; see the table");
}

/// Folder of the file: some gigabytes, so not the temporary folder, which may be in memory.
fn scratch() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("the scratch folder");
    folder
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime")
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn now() -> Instant {
    Instant::now()
}

/// Prints a line of the table; true if `value` is within `target`.
fn row(what: &str, value: f64, unit: &str, target: Option<(f64, bool)>) -> bool {
    let (text, ok) = match target {
        Some((limit, true)) => (format!("≥ {limit}"), value >= limit),
        Some((limit, false)) => (format!("≤ {limit}"), value <= limit),
        None => (String::new(), true),
    };
    println!("{what:<58} {value:>14.1} {unit:<10} {text:<12} {}", if ok { "" } else { "MISSED" });
    ok
}

/// User and system time of this process, in microseconds; the kernel counts in ticks of 10 ms.
fn cpu_us() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").expect("/proc");
    let fields: Vec<&str> = stat.rsplit(')').next().expect("fields").split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<f64>().expect("ticks");
    (ticks(11) + ticks(12)) * 10_000.0
}

/// Peak resident memory of this process, in MB.
fn peak_mb() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("/proc");
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).expect("VmHWM");
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).expect("kB") / 1_024.0
}

/// A crawl in random host order: each page adds links of its host with consecutive numbers.
struct Pages {
    random: u64,
    next_ids: Vec<u64>,
}

impl Pages {
    fn new() -> Self {
        Self { random: 0x9E37_79B9_7F4A_7C15, next_ids: vec![KNOWN_LINKS_PER_PAGE; HOSTS as usize] }
    }

    fn random(&mut self) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        self.random
    }

    fn batch(&mut self) -> Vec<Discovered> {
        let mut batch = Vec::with_capacity(PAGES_PER_BATCH * LINKS_PER_PAGE as usize);
        for _ in 0..PAGES_PER_BATCH {
            let host = (self.random() % u64::from(HOSTS)) as u32;
            let next = &mut self.next_ids[host as usize];
            // The first page of a host has links 0 to 99, each later one repeats 30.
            let first = *next - KNOWN_LINKS_PER_PAGE;
            *next = first + LINKS_PER_PAGE;
            batch.extend((first..*next).map(|id| link(HostId(host), id)));
        }
        batch
    }
}

fn link(host: HostId, id: u64) -> Discovered {
    const WORDS: [&str; 8] = ["linux", "some", "debian-iso", "collection", "vol", "x86", "complete", "2021"];
    let hash = (id ^ u64::from(host.0) << 32).wrapping_mul(0xD6E8_FEB8_6659_FD93) >> 40;
    let word = |shift: u64| WORDS[(hash >> shift) as usize & 7];
    let path = format!("/torrent/{}-{}-{}-{}", 100_000 + id, word(0), word(3), word(6));
    let key = UrlKey { host, path: path.into() };
    Discovered { key, depth: 2, rank: 1, due: UnixMillis(0), via: None, is_target: false, found: None }
}

fn options() -> OpenOptions {
    OpenOptions { cache_bytes: CACHE_BYTES, sync: true }
}

async fn open_with_hosts(path: &Path) -> RedbStore {
    let db = RedbStore::open(path, OpenOptions { sync: false, ..options() }).expect("open");
    for host in 0..HOSTS {
        db.host_id(&format!("site{}", host % 100), &format!("http://host{host}.example")).await.expect("host");
    }
    drop(db);
    RedbStore::open(path, options()).expect("open")
}

/// Fills the database, reporting each batch once it is committed, leases from it, and inserts until it is killed.
async fn child(path: &Path, urls: u64) {
    let db = open_with_hosts(path).await;
    let mut pages = Pages::new();
    let (mut inserted, mut offered, mut slowest_ms) = (0_u64, 0_u64, 0_f64);
    let (start, cpu) = (now(), cpu_us());
    let mut batch = pages.batch();
    let mut full = false;
    for number in 0_u64.. {
        let began = now();
        offered += batch.len() as u64;
        // The next batch is generated while this one is written, as in a crawl.
        let (added, next) = tokio::join!(db.add_discovered(batch, UnixMillis(1)), async { pages.batch() });
        let added = added.expect("insert");
        batch = next;
        inserted += added;
        slowest_ms = slowest_ms.max(began.elapsed().as_secs_f64() * 1e3);
        println!("committed {number} {added}");
        std::io::stdout().flush().expect("flush");
        if !full && inserted >= urls {
            full = true;
            let seconds = start.elapsed().as_secs_f64();
            println!("fill {inserted} {offered} {seconds} {slowest_ms} {}", cpu_us() - cpu);
            let (leased, seconds) = lease_all(&db).await;
            println!("lease {leased} {seconds}");
            println!("peak {}", peak_mb());
            std::io::stdout().flush().expect("flush");
        }
    }
}

async fn lease_all(db: &RedbStore) -> (usize, f64) {
    let start = now();
    let mut leased = 0;
    for _ in 0..2 {
        for host in (0..HOSTS).map(HostId) {
            let (at, deadline) = (UnixMillis(2), UnixMillis(600_000));
            let request = LeaseRequest {
                host,
                owner: Owner(1),
                now: at,
                deadline,
                urls_max: 100,
                rank_max: u8::MAX,
                order: LeaseOrder::ByRank,
            };
            leased += db.lease_due(request).await.expect("lease").len();
        }
    }
    (leased, start.elapsed().as_secs_f64())
}

/// Runs the child, kills it, and opens its file.
fn bulk(path: &Path, urls: u64) -> bool {
    let mut child = Command::new(std::env::current_exe().expect("own path"))
        .args(["--child", path.to_str().expect("path"), "--urls", &urls.to_string()])
        .stdout(Stdio::piped())
        .spawn()
        .expect("child");
    let mut lines = BufReader::new(child.stdout.take().expect("stdout")).lines();
    let mut committed: Vec<u64> = Vec::new();
    let mut reports: Vec<Vec<f64>> = Vec::new();
    let mut full_at = None;
    while full_at.is_none_or(|full| committed.len() as u64 <= full + BATCHES_AFTER_FULL) {
        let line = lines.next().expect("the child died").expect("line");
        let (what, figures) = line.split_once(' ').expect("report");
        let figures: Vec<f64> = figures.split(' ').map(|figure| figure.parse().expect("figure")).collect();
        match what {
            "committed" => committed.push(figures[1] as u64),
            "fill" => full_at = Some(committed.len() as u64),
            _ => {}
        }
        if what != "committed" {
            reports.push(figures);
        }
    }
    // In the middle of the next batch.
    std::thread::sleep(std::time::Duration::from_millis(150));
    child.kill().expect("kill");
    child.wait().expect("wait");
    for line in lines.map_while(Result::ok) {
        if let Some(figures) = line.strip_prefix("committed ") {
            committed.push(figures.rsplit(' ').next().and_then(|added| added.parse().ok()).expect("figure"));
        }
    }
    let [fill, lease, peak] = reports.as_slice() else { panic!("reports {reports:?}") };
    let file_bytes = path.metadata().expect("file").len() as f64;
    println!("{} URLs over {HOSTS} hosts, {KNOWN_LINKS_PER_PAGE} of {LINKS_PER_PAGE} links of a page known:", fill[0]);
    let mut ok = row("URLs inserted", fill[0] / fill[2], "/s", Some((200_000.0, true)));
    row("links offered", fill[1] / fill[2], "/s", None);
    row("CPU per URL inserted", fill[4] / fill[0], "µs", None);
    ok &= row("longest time between commits", fill[3], "ms", Some((1_000.0, false)));
    ok &= row("leased", lease[0] / lease[1], "/s", Some((20_000.0, true)));
    ok &= row("peak memory of the process (VmHWM)", peak[0], "MB", Some((400.0, false)));
    row("file per URL", file_bytes / fill[0], "bytes", None);
    let start = now();
    let db = RedbStore::open(path, options()).expect("the database opens after SIGKILL");
    let reopened = start.elapsed().as_secs_f64();
    ok &= row("reopened after SIGKILL", reopened, "s", Some((2.0, false)));
    runtime().block_on(async {
        let hosts = db.hosts().await.expect("hosts").len();
        let start = now();
        for _ in 0..100 {
            assert_eq!(db.hosts().await.expect("hosts").len(), hosts);
        }
        row(&format!("all {hosts} hosts listed in"), start.elapsed().as_secs_f64() * 1e4, "µs", None);
    });
    let start = now();
    let lost = runtime().block_on(lost(&db, &committed));
    row("verified in", start.elapsed().as_secs_f64(), "s", None);
    ok & row("committed URLs lost", lost as f64, "", Some((0.0, false)))
}

/// Number of committed URLs that are missing: by count over all, one by one for the newest batches and samples of the rest.
async fn lost(db: &RedbStore, committed: &[u64]) -> u64 {
    let mut known = 0;
    for site in 0..100 {
        known += db.site_counts(&format!("site{site}")).await.expect("counts").urls_known;
    }
    let reported: u64 = committed.iter().sum();
    // One batch may have been committed before its report was read.
    assert!(known <= reported + 2 * NEW_PER_BATCH, "{known} URLs, {reported} reported");
    let mut lost = reported.saturating_sub(known);
    let mut pages = Pages::new();
    let newest = committed.len().saturating_sub(BATCHES_AFTER_FULL as usize);
    for number in 0..committed.len() {
        let step = if number >= newest { 1 } else { 977 };
        for found in pages.batch().iter().step_by(step) {
            lost += u64::from(db.url_record(&found.key).await.expect("read").is_none());
        }
    }
    lost
}

/// CPU per visit of a crawl of one site: detail pages with 20 known links and a new one, then their torrents.
async fn visits(path: &Path) -> bool {
    let db = RedbStore::open(path, options()).expect("open");
    let host = db.host_id("site", "http://site.example").await.expect("host");
    let detail = |id: u64| link(host, id);
    let seeds: Vec<Discovered> = (0..DETAILS).map(detail).collect();
    db.add_discovered(seeds, UnixMillis(1)).await.expect("insert");
    println!(
        "{DETAILS} detail pages with 20 known links and a new one, {DETAILS} torrents, batches of {VISITS_PER_BATCH}:"
    );
    let details = crawl(&db, host, "detail visit", |id, lease| {
        let mut visit = visit_of(lease);
        visit.outlinks = (1..=20).map(|step| detail((id * 7 + step * 13) % DETAILS)).collect();
        let key = UrlKey { host, path: format!("/download/{id}.torrent").into() };
        let via = Some(format!("http://site.example{}", visit.key.path).into());
        visit.outlinks.push(Discovered {
            key,
            depth: 3,
            rank: 2,
            due: UnixMillis(0),
            via,
            is_target: true,
            found: None,
        });
        visit.body_hash = Some(id.wrapping_mul(0x9E37_79B9_7F4A_7C15));
        visit
    });
    let details = details.await;
    let torrents = crawl(&db, host, "torrent visit", |id, lease| {
        let mut visit = visit_of(lease);
        visit.outcome = Outcome::TorrentStored;
        visit.torrent = Some(torrent(id));
        visit
    });
    let torrents = torrents.await;
    let counts = db.site_counts("site").await.expect("counts");
    assert_eq!((counts.torrents, counts.urls_known, counts.urls_queued), (DETAILS, 2 * DETAILS, 0));
    row("file per visit", path.metadata().expect("file").len() as f64 / (2 * DETAILS) as f64, "bytes", None);
    let ok = row("both together", f64::midpoint(details, torrents), "µs CPU", Some((10.0, false)));
    for (what, outcome, memo) in [
        ("revisit that leaves a memo", Outcome::Page, Some("etag \"5f3c-61a\"; Sat, 21 Nov 2026 10:00:00 GMT")),
        ("revisit with a memo, not modified", Outcome::NotModified, None),
    ] {
        db.make_due((0..DETAILS).map(detail).collect(), UnixMillis(2)).await.expect("make due");
        let again = |_, lease: Lease| {
            assert_eq!(lease.memo.is_some(), outcome == Outcome::NotModified);
            let at = UnixMillis(4 + u64::from(memo.is_none()));
            Visit { at, outcome, memo: memo.map(Into::into), ..visit_of(lease) }
        };
        crawl(&db, host, what, again).await;
    }
    ok
}

/// Leases everything due, makes the visits, and measures only the CPU time of leasing and recording.
async fn crawl(db: &RedbStore, host: HostId, what: &str, visit: impl Fn(u64, Lease) -> Visit) -> f64 {
    let (mut cpu, mut id, mut recorded) = (0.0, 0, 0);
    // All visits of the phase are generated before measuring: that is not the database's work.
    let before = cpu_us();
    let mut leases = Vec::new();
    while leases.len() < DETAILS as usize {
        let (at, deadline) = (UnixMillis(2), UnixMillis(600_000));
        let request = LeaseRequest {
            host,
            owner: Owner(1),
            now: at,
            deadline,
            urls_max: 400,
            rank_max: u8::MAX,
            order: LeaseOrder::ByRank,
        };
        leases.extend(db.lease_due(request).await.expect("lease"));
    }
    cpu += cpu_us() - before;
    let mut batches: Vec<Vec<Visit>> = Vec::new();
    for lease in leases {
        if recorded % VISITS_PER_BATCH == 0 {
            batches.push(Vec::with_capacity(VISITS_PER_BATCH));
        }
        batches.last_mut().expect("a batch").push(visit(id, lease));
        id += 1;
        recorded += 1;
    }
    let (before, start) = (cpu_us(), now());
    for batch in batches {
        db.record_visits(batch.into()).await.expect("record");
    }
    cpu += cpu_us() - before;
    row(&format!("{what}, wall"), start.elapsed().as_secs_f64() * 1e6 / DETAILS as f64, "µs", None);
    let per_visit = cpu / DETAILS as f64;
    row(what, per_visit, "µs CPU", None);
    per_visit
}

fn visit_of(lease: Lease) -> Visit {
    Visit {
        key: lease.key,
        depth: lease.depth,
        rank: lease.rank,
        attempts: lease.attempts,
        via: lease.via,
        found: None,
        at: UnixMillis(3),
        outcome: Outcome::Page,
        next: Next::Done,
        body_bytes: 12_000,
        body_hash: None,
        outlinks: Vec::new(),
        torrent: None,
        magnets: Vec::new(),
        listing: None,
        memo: None,
        labels: Vec::new(),
        not_whole: None,
    }
}

fn torrent(id: u64) -> TorrentFacts {
    let mut v1 = [0; 20];
    for (at, chunk) in v1.chunks_mut(4).enumerate() {
        let hash = (id + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(7 * at as u32 + 20);
        chunk.copy_from_slice(&(hash as u32).to_be_bytes());
    }
    TorrentFacts {
        infohashes: Infohashes { v1: Some(v1), v2: None },
        name: format!("Some collection of things, volume {id}").into(),
        payload_bytes: 700 << 20,
        file_count: 12,
        metainfo_bytes: 8_000,
        sha256: [7; 32],
        created_unix: Some(1_600_000_000),
        private: false,
    }
}
