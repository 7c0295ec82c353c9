//! What comes out of a large archive: how fast its index is made, how large it is, how fast Torznab and searches answer over HTTP, and the memory it takes.
//! Prints a table; fails if a figure misses its target.
//!
//! `cargo bench -p gleaner-serve --bench outlet` [-- --torrents 1000000] [--folder DIR]; a named folder is kept, as a data folder for `gleaner run`.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gleaner_base::clock::{SystemClock, UnixMillis};
use gleaner_rules::config::web::{Listen, Web};
use gleaner_search::Search;
use gleaner_search::filing::Filing;
use gleaner_search::follow::Follower;
use gleaner_serve::{Inside, Listening, Outlet, serve};
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::Archive;
use gleaner_torrent::contents::{ContainedFile, Contents};

const VISITS_PER_BATCH: u64 = 2_000;
const FIRST_MS: u64 = 1_700_000_000_000;
/// Requests of each kind that are measured.
const ASKED: u64 = 200;

/// Words of names and paths, of which a few are in many names and most in few.
const WORDS: [&str; 40] = [
    "debian",
    "ubuntu",
    "fedora",
    "arch",
    "server",
    "desktop",
    "netinst",
    "live",
    "amd64",
    "arm64",
    "riscv64",
    "linux",
    "archive",
    "public",
    "domain",
    "concert",
    "lossless",
    "flac",
    "book",
    "science",
    "data",
    "climate",
    "genome",
    "survey",
    "map",
    "lecture",
    "film",
    "documentary",
    "history",
    "nature",
    "1080p",
    "720p",
    "x264",
    "remaster",
    "edition",
    "complete",
    "collection",
    "volume",
    "season",
    "special",
];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let value = |name: &str| arguments.iter().position(|a| a == name).and_then(|at| arguments.get(at + 1));
    let torrents =
        value("--torrents").map_or(1_000_000, |torrents| torrents.parse().expect("--torrents takes a number"));
    let folder = tempfile::Builder::new().prefix("gleaner-bench-").tempdir_in(scratch()).expect("a scratch folder");
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
    let kept = value("--folder").map(PathBuf::from);
    let is_well = runtime.block_on(measure(kept.as_deref().unwrap_or(folder.path()), torrents));
    drop(folder);
    assert!(is_well, "a figure is missed; see the table");
}

/// Folder of the file: some gigabytes, so not the temporary folder, which may be in memory.
fn scratch() -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    std::fs::create_dir_all(&folder).expect("the scratch folder");
    folder
}

#[allow(clippy::disallowed_methods)] // a benchmark measures real time
fn now() -> Instant {
    Instant::now()
}

/// xorshift: the same archive each time.
struct Random(u64);

impl Random {
    fn of(seed: u64) -> Self {
        let mut random = Self(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..3).for_each(|_| _ = random.next());
        random
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The first words often, the last seldom.
    fn word(&mut self) -> &'static str {
        let (a, b) = (self.next() % 40, self.next() % 40);
        WORDS[a.min(b) as usize]
    }
}

fn name(nth: u64) -> String {
    let mut random = Random::of(nth);
    let words: Vec<&str> = (0..4).map(|_| random.word()).collect();
    match random.next() % 4 {
        0 => format!("{}.{}.S{:02}E{:02}.{}", words[0], words[1], nth % 12 + 1, nth % 24 + 1, words[2]),
        1 => format!("{} {} - {} ({})", words[0], words[1], words[2], 1950 + nth % 77),
        _ => format!("{}-{}.{}-{}-{}-{nth}", words[0], nth % 40, nth % 10, words[1], words[2]),
    }
}

fn hashes(nth: u64) -> Infohashes {
    let mut random = Random::of(nth ^ 0x5555);
    let mut v1 = [0; 20];
    v1.chunks_mut(8).for_each(|part| part.copy_from_slice(&random.next().to_le_bytes()[..part.len()]));
    v1[16..].copy_from_slice(&u32::try_from(nth).unwrap_or_default().to_be_bytes());
    Infohashes { v1: Some(v1), v2: None }
}

/// What its file would hold: three to ten paths, three of fifty trackers.
fn contents(row: &TorrentRow) -> Option<Contents> {
    let v1 = row.facts.infohashes.v1?;
    let nth = u64::from(u32::from_be_bytes([v1[16], v1[17], v1[18], v1[19]]));
    let mut random = Random::of(nth ^ 0xaaaa);
    let extension = ["iso", "mkv", "flac", "pdf", "csv", "epub"][(nth % 6) as usize];
    let file = |number| ContainedFile {
        path: format!("{}/{}-{}-{number:02}.{extension}", random.word(), random.word(), random.word()),
        bytes: 1 << 20,
    };
    let files = (0..3 + nth % 8).map(file).collect();
    let trackers = (0..3).map(|of| format!("udp://tracker{}.example:6969/announce", (nth * 7 + of) % 50)).collect();
    Some(Contents { files, trackers, ..Contents::default() })
}

async fn fill(db: &RedbStore, torrents: u64) {
    let mut hosts = Vec::new();
    for site in 0..20 {
        hosts.push(db.host_id(&format!("site{site}"), &format!("http://site{site}.example")).await.expect("a host"));
    }
    let visit = |nth: u64| Visit {
        depth: 2,
        rank: 1,
        via: Some(format!("http://site.example/details/{nth}").into()),
        body_bytes: 2_000,
        torrent: Some(TorrentFacts {
            infohashes: hashes(nth),
            name: name(nth).into(),
            payload_bytes: (nth % 4_000) << 20,
            file_count: 5,
            metainfo_bytes: 2_000,
            sha256: [7; 32],
            created_unix: None,
            private: nth.is_multiple_of(7),
        }),
        ..Visit::new(
            UrlKey { host: hosts[(nth % 20) as usize], path: format!("/download/{nth}").into() },
            UnixMillis(FIRST_MS + nth * 500),
            Outcome::TorrentStored,
        )
    };
    for first in (0..torrents).step_by(VISITS_PER_BATCH as usize) {
        let visits = (first..torrents.min(first + VISITS_PER_BATCH)).map(visit).collect::<Vec<_>>();
        db.record_visits(visits.into()).await.expect("a commit");
    }
}

/// Prints a line of the table; true if the value is within its target.
fn told(what: &str, value: f64, unit: &str, most: f64, least: f64) -> bool {
    let is_well = value <= most && value >= least;
    let target = if most < f64::MAX {
        format!("≤ {most}")
    } else if least > 0.0 {
        format!("≥ {least}")
    } else {
        String::new()
    };
    println!("{what:<52} {value:>12.2} {unit:<12} {target:<10} {}", if is_well { "" } else { "MISSED" });
    is_well
}

fn resident_mb(field: &str) -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("this process");
    let line = status.lines().find(|line| line.starts_with(field)).unwrap_or_default();
    line.split_whitespace().nth(1).and_then(|kb| kb.parse::<f64>().ok()).unwrap_or_default() / 1024.0
}

fn folder_bytes(folder: &Path) -> u64 {
    let entries = std::fs::read_dir(folder).expect("the index");
    entries.filter_map(|entry| entry.ok()?.metadata().ok()).map(|of| of.len()).sum()
}

async fn measure(folder: &Path, torrents: u64) -> bool {
    let options = OpenOptions { cache_bytes: 32 << 20, sync: false };
    std::fs::create_dir_all(folder).expect("the data folder");
    let db = Arc::new(RedbStore::open(&folder.join("crawl.redb"), options).expect("a database"));
    fill(&db, torrents).await;
    let archive = Arc::new(Archive::open(folder.join("torrents"), false).expect("an archive"));

    let began = now();
    let mut follower = Follower::open(folder).expect("an index");
    loop {
        let step = follower.step(&*db, &|row| Ok(contents(row)), &Filing::default()).await.expect("a step");
        if step.is_level && follower.is_whole() {
            break;
        }
    }
    let seconds = began.elapsed().as_secs_f64();
    let text: u64 = (0..torrents.min(20_000))
        .map(|nth| {
            let row = TorrentRow {
                facts: TorrentFacts {
                    infohashes: hashes(nth),
                    name: name(nth).into(),
                    payload_bytes: 0,
                    file_count: 0,
                    metainfo_bytes: 0,
                    sha256: [0; 32],
                    created_unix: None,
                    private: false,
                },
                site: "".into(),
                stored: UnixMillis(0),
                seen_count: 0,
                sources: Vec::new(),
            };
            let paths: usize =
                contents(&row).map_or(0, |contents| contents.files.iter().map(|file| file.path.len()).sum());
            (name(nth).len() + paths + 40) as u64
        })
        .sum();
    let text = text as f64 * torrents as f64 / torrents.min(20_000) as f64;
    let mut is_well = told("index made", torrents as f64 / seconds, "torrents/s", f64::MAX, 5_000.0);
    let search = follower.search();
    drop(follower);
    is_well &=
        told("index, of names, paths and infohashes", folder_bytes(&folder.join("search")) as f64 / text, "", 0.8, 0.0);

    let web = Web { listen: Some(Listen::Tcp(([127, 0, 0, 1], 0).into())), ..Web::default() };
    let finder: gleaner_serve::Finder = Arc::new(move || Some(Arc::<Search>::clone(&search)));
    let inside = Inside::default();
    let outlet = Outlet::new((db as Arc<dyn Reader>, archive, finder), inside, Arc::new(SystemClock), web, folder);
    let listening = Listening::bind(&Listen::Tcp(([127, 0, 0, 1], 0).into())).expect("a port");
    let address = listening.address().expect("an address").expect("a port");
    tokio::spawn(serve(listening, Arc::new(outlet)));
    let asked = tokio::task::spawn_blocking(move || ask(address)).await.expect("the client");
    is_well &= asked;
    is_well &= told("memory: own", resident_mb("RssAnon"), "MB", 350.0, 0.0);
    told("memory: mapped files", resident_mb("RssFile"), "MB", f64::MAX, 0.0);
    is_well
}

/// Asks for each kind of page many times; true if all are within their targets.
fn ask(address: std::net::SocketAddr) -> bool {
    let mut stream = TcpStream::connect(address).expect("the server");
    stream.set_nodelay(true).expect("a socket");
    let word = |nth: u64| Random::of(nth + 77).word();
    type Target<'t> = Box<dyn Fn(u64) -> String + 't>;
    let offset = |nth: u64| nth * 500;
    let kinds: Vec<(&str, f64, Target<'_>)> = vec![
        (
            "search: two words, p95",
            50.0,
            Box::new(|nth| format!("/api/v1/search?q={}+{}&order=relevance", word(nth), word(nth + 1))),
        ),
        (
            "search: a phrase, p95",
            50.0,
            Box::new(|nth| format!("/api/v1/search?q=%22{}+{}%22&order=relevance", word(nth), word(nth + 1))),
        ),
        ("search: a beginning, p95", 50.0, Box::new(|nth| format!("/api/v1/search?q={}*", &word(nth)[..3]))),
        (
            "search: a word of one tracker, p95",
            50.0,
            Box::new(|nth| format!("/api/v1/search?q={}+tracker:tracker{}.example", word(nth), nth % 50)),
        ),
        ("search: facets of everything, p95", 50.0, Box::new(|_| "/api/v1/categories".to_owned())),
        (
            "Torznab: newest, any offset to 100,000, p95",
            20.0,
            Box::new(move |nth| format!("/api?t=search&offset={}", offset(nth))),
        ),
        (
            "Torznab: newest of a category, any offset, p95",
            20.0,
            Box::new(move |nth| format!("/api?t=tvsearch&cat=5000,5040&offset={}", offset(nth))),
        ),
        (
            "Torznab: season and episode, p95",
            50.0,
            Box::new(|nth| {
                format!("/api?t=tvsearch&cat=5000&q={}&season={}&ep={}", word(nth), nth % 12 + 1, nth % 24 + 1)
            }),
        ),
        (
            "JSON: newest by cursor, p95",
            20.0,
            Box::new(|nth| format!("/api/v1/torrents?cursor={}-{}", FIRST_MS + nth * 1_000, "ff".repeat(20))),
        ),
        ("feed of everything, p95", 20.0, Box::new(|_| "/feeds/all.rss".to_owned())),
    ];
    let mut is_well = true;
    for (what, most, target) in kinds {
        let mut times: Vec<f64> = (0..ASKED).map(|nth| once(&mut stream, &target(nth))).collect();
        times.sort_by(f64::total_cmp);
        is_well &= told(what, times[times.len() * 95 / 100], "ms", most, 0.0);
    }
    is_well
}

/// Milliseconds of one request.
fn once(stream: &mut TcpStream, target: &str) -> f64 {
    // Below the rate at which a client is told to wait.
    std::thread::sleep(Duration::from_millis(40));
    let began = now();
    stream.write_all(format!("GET {target} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").as_bytes()).expect("the server");
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    loop {
        let length = stream.read(&mut buffer).expect("the server");
        bytes.extend_from_slice(&buffer[..length]);
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else { continue };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        assert!(head.starts_with("http/1.1 200"), "{target}: {head}");
        let body = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length: "))
            .and_then(|length| length.parse::<usize>().ok());
        if bytes.len() >= end + 4 + body.expect("a length") {
            return began.elapsed().as_secs_f64() * 1_000.0;
        }
    }
}
