//! SIGKILL at random moments of a real crawl, over real sockets, on a real disk: no torrent that was reported as
//! stored is lost or damaged, none is stored twice, no finished page is fetched again, the next start needs no
//! repair, and the crawl completes.
//!
//! `benches/kill/run` runs the same with 1,000 kills. `GLEANER_KILLS` sets their number, `GLEANER_KILL_SEED` makes
//! the times reproducible.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb, Outcome, Reader, UrlKey};
use gleaner_torrent::metainfo;
use serde_json::Value;

use crate::cli::web::get;

/// Kills in one run of the tests.
const KILLS: usize = 8;

/// Ratio of kills of the fast crawl to those of the slow one: it takes longer lives to see what a life finished.
const SLOW_KILLS_SHARE: usize = 4;

/// Longest life of a crawl at full speed: many kills hit the start, the first commits, the last ones.
const FAST_LIFE_MAX: Duration = Duration::from_millis(350);

/// Longest life of a slow crawl: several commit windows.
const SLOW_LIFE_MAX: Duration = Duration::from_millis(2_400);

/// Maximum factor for the lives of a slow crawl if they finish too little.
const LONGER_LIVES_MAX: u32 = 5;

/// Requests per second of the slow crawl.
const SLOW_RATE: usize = 200;

/// Asked for by the test after each kill: no crawl asks for it, and the site's log has it.
const KILLED: &str = "/robots.txt?killed";

/// Connections in the demo's rule file: requests that may be in flight at a kill.
const CONNECTIONS: usize = 16;

/// Time limit for opening a killed crawl's folder: the documented figure for 20 million URLs.
const REOPEN_TIME_MAX: Duration = Duration::from_secs(2);

/// Time limit for a crawl without kills.
const CRAWL_TIME_MAX: Duration = Duration::from_secs(120);

/// A small reproducible generator (splitmix64) for the times of the kills.
struct Moments(u64);

impl Moments {
    fn below(&mut self, max: Duration) -> Duration {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^= mixed >> 31;
        Duration::from_micros(mixed % u64::try_from(max.as_micros()).unwrap())
    }
}

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

fn gleaner() -> Command {
    Command::new(env!("CARGO_BIN_EXE_gleaner"))
}

/// The demo site in its own process, so that it outlives the crawls.
struct Site {
    child: Child,
    stdin: Option<ChildStdin>,
    stdout: BufReader<ChildStdout>,
    folder: Arc<tempfile::TempDir>,
    origin: String,
}

impl Site {
    fn start(torrents: usize) -> Self {
        let folder = Arc::new(tempfile::tempdir().unwrap());
        let mut child = gleaner()
            .args(["__demo-site", "--torrents", &torrents.to_string(), "--truth"])
            .arg(folder.path().join("truth"))
            .arg("--rules-out")
            .arg(folder.path().join("rules"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (child.stdin.take(), BufReader::new(child.stdout.take().unwrap()));
        let mut site = Self { child, stdin, stdout, folder, origin: String::new() };
        let url = site.line()["site"].as_str().unwrap().to_owned();
        site.origin = url.trim_end_matches('/').to_owned();
        site
    }

    fn line(&mut self) -> Value {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("the demo site said {line:?}: {error}"))
    }

    fn rules(&self) -> PathBuf {
        self.folder.path().join("rules")
    }

    /// Slows the crawl down, through the site's rule file.
    fn limit_rate(&self, requests_per_second: usize) {
        let path = self.rules().join("demo.toml");
        let text = fs::read_to_string(&path).unwrap();
        let slow: String = text
            .lines()
            .map(|line| match line.starts_with("requests_per_second") {
                true => format!("requests_per_second = {requests_per_second}\n"),
                false => format!("{line}\n"),
            })
            .collect();
        assert_ne!(slow, text, "{} sets no rate", path.display());
        fs::write(path, slow).unwrap();
    }

    fn truth(&self) -> BTreeSet<String> {
        fs::read_to_string(self.folder.path().join("truth")).unwrap().lines().map(str::to_owned).collect()
    }

    /// Notes in the site's log that a life has ended.
    fn note_kill(&self) {
        let port = self.origin.rsplit(':').next().unwrap().parse().unwrap();
        assert_eq!(get(port, KILLED).status, 200);
    }

    /// Stops the site; returns its request counts.
    fn end(mut self) -> Value {
        drop(self.stdin.take());
        self.line()
    }
}

impl Drop for Site {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One data folder that is crawled, killed and crawled again until its crawl is complete.
struct Crawl {
    rules: PathBuf,
    folder: tempfile::TempDir,
    /// The highest number of torrents ever reported as stored.
    reported: u64,
    /// How long opening the folder took after each kill.
    reopened: Vec<Duration>,
}

impl Crawl {
    fn new(site: &Site) -> Self {
        Self { rules: site.rules(), folder: tempfile::tempdir().unwrap(), reported: 0, reopened: Vec::new() }
    }

    fn command(&self, command: &str) -> Command {
        let mut gleaner = gleaner();
        gleaner.arg(command).arg("--data").arg(self.folder.path()).arg("--rules").arg(&self.rules);
        gleaner
    }

    /// Crawls for a while, then kills. True if the crawl was complete before.
    fn live(&self, life: Duration) -> bool {
        let log = fs::File::create(self.folder.path().join("crawl.log")).unwrap();
        let mut crawl = self.command("crawl");
        crawl.args(["demo", "--json"]).stdout(log.try_clone().unwrap()).stderr(log);
        let mut child = crawl.spawn().unwrap();
        std::thread::sleep(life);
        let ended = child.try_wait().unwrap();
        let _ = child.kill();
        let _ = child.wait();
        if let Some(status) = ended {
            let told = fs::read_to_string(self.folder.path().join("crawl.log")).unwrap();
            assert!(status.success(), "a crawl that nobody killed ended with {status}:\n{told}");
        }
        ended.is_some()
    }

    /// Crawls to the end, within bounded time.
    fn finish(&self) {
        let begun = now();
        let mut child = self.command("crawl").args(["demo", "--json"]).stdout(Stdio::null()).spawn().unwrap();
        let status = loop {
            if let Some(status) = child.try_wait().unwrap() {
                break status;
            }
            if begun.elapsed() > CRAWL_TIME_MAX {
                let _ = child.kill();
                let _ = child.wait();
                panic!("the last crawl does not end");
            }
            std::thread::sleep(Duration::from_millis(10));
        };
        assert!(status.success(), "the last crawl ended with {status}");
    }

    /// Files of the archive under their final names, each read and found intact: its infohash is its name.
    fn whole_files(&self) -> BTreeSet<String> {
        let (mut folders, mut names) = (vec![self.folder.path().to_owned()], BTreeSet::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    // The folder for temporary files guarantees nothing.
                    if path.file_name().is_some_and(|name| !name.to_string_lossy().starts_with('.')) {
                        folders.push(path);
                    }
                } else if path.extension().is_some_and(|extension| extension == "torrent") {
                    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
                    let metainfo = metainfo::parse(&fs::read(&path).unwrap())
                        .unwrap_or_else(|error| panic!("{} is broken: {error}", path.display()));
                    assert_eq!(metainfo.infohashes.key_hex(), name, "{} holds another torrent", path.display());
                    assert!(names.insert(name), "{} is there twice", path.display());
                }
            }
        }
        names
    }

    fn database(&self) -> PathBuf {
        self.folder.path().join("crawl.redb")
    }

    /// What `status` reports as stored.
    fn status(&self) -> u64 {
        let report = json(&self.command("status").arg("--json").output().unwrap());
        let site = report["sites"].as_array().and_then(|sites| sites.iter().find(|site| site["name"] == "demo"));
        site.map_or(0, |site| site["torrents_seen"].as_u64().unwrap_or_else(|| panic!("{site}")))
    }

    /// After a kill: everything reported exists, and the folder opens at once.
    fn check_after_kill(&mut self) {
        let files = self.whole_files();
        assert!(
            files.len() as u64 >= self.reported,
            "{} torrents were reported as stored, {} are in the archive",
            self.reported,
            files.len()
        );
        // A crawl that was killed before it created its database has nothing to report.
        if !self.database().exists() && files.is_empty() && self.reported == 0 {
            return;
        }
        let begun = now();
        let reported = self.status();
        self.reopened.push(begun.elapsed());
        assert!(reported >= self.reported, "reported {}, after the kill {reported}", self.reported);
        assert!(reported <= files.len() as u64, "{reported} rows, {} files", files.len());
        self.reported = reported;
    }

    /// After the end: each torrent of the site exists once, archive and database agree.
    fn check_complete(&self, truth: &BTreeSet<String>) {
        let files = self.whole_files();
        let (lost, foreign): (Vec<_>, Vec<_>) = (truth.difference(&files).collect(), files.difference(truth).collect());
        assert!(lost.is_empty() && foreign.is_empty(), "lost {lost:?}, not of the site {foreign:?}");
        assert_eq!(self.status(), truth.len() as u64);

        let verified = self.command("verify").output().unwrap();
        assert!(verified.status.success(), "{}", told(&verified));

        let export = self.folder.path().join("export");
        let exported = self.command("export").arg(&export).output().unwrap();
        assert!(exported.status.success(), "{}", told(&exported));
        let mut hashes = BTreeSet::new();
        for line in fs::read_to_string(export.join("manifest.jsonl")).unwrap().lines() {
            let row: Value = serde_json::from_str(line).unwrap();
            for hash in [&row["infohash_v1"], &row["infohash_v2"]].into_iter().filter_map(Value::as_str) {
                assert!(hashes.insert(hash.to_owned()), "stored twice: {hash}");
            }
        }
        assert!(truth.iter().all(|name| hashes.contains(name)), "the manifest lacks torrents of the archive");
    }
}

fn told(output: &Output) -> String {
    format!(
        "{}\n{}\n{}",
        output.status,
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    )
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", told(output));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", told(output)))
}

/// Tests measure real time.
#[allow(clippy::disallowed_methods)]
fn now() -> Instant {
    Instant::now()
}

/// One line of figures for `benches/kill/run`.
fn report(what: &str, kills: usize, crawls: usize, torrents: usize, mut reopened: Vec<Duration>) {
    reopened.sort();
    let at = |share: usize| reopened.get((reopened.len().max(1) - 1) * share / 100).copied().unwrap_or_default();
    println!(
        "{{\"crawl\":\"{what}\",\"kills\":{kills},\"crawls_completed\":{crawls},\"torrents_each\":{torrents},\
         \"lost\":0,\"stored_twice\":0,\"reopen_ms_median\":{:.1},\"reopen_ms_max\":{:.1}}}",
        at(50).as_secs_f64() * 1e3,
        at(100).as_secs_f64() * 1e3
    );
}

#[test]
fn sigkill_at_random_moments_loses_no_torrent_and_stores_none_twice() {
    let kills_wanted = usize::try_from(number("GLEANER_KILLS", KILLS as u64)).unwrap();
    let mut moments = Moments(number("GLEANER_KILL_SEED", 1));
    let site = Site::start(700);
    let truth = site.truth();
    let (mut kills, mut crawls, mut reopened) = (0, 0, Vec::new());
    while kills < kills_wanted {
        let mut crawl = Crawl::new(&site);
        let mut complete = false;
        while !complete && kills < kills_wanted {
            complete = crawl.live(moments.below(FAST_LIFE_MAX));
            kills += usize::from(!complete);
            crawl.check_after_kill();
        }
        crawl.finish();
        crawl.check_complete(&truth);
        crawls += 1;
        reopened.append(&mut crawl.reopened);
    }
    report("full speed", kills, crawls, truth.len(), reopened.clone());
    // A single measurement may hit a busy disk; a repair step would show in each.
    reopened.sort();
    assert!(
        reopened[reopened.len() / 2] < REOPEN_TIME_MAX,
        "opening after a kill takes {:?}",
        reopened[reopened.len() / 2]
    );
}

#[test]
fn no_finished_page_is_fetched_again_after_a_sigkill() {
    let kills_wanted = usize::try_from(number("GLEANER_KILLS", KILLS as u64)).unwrap().div_ceil(SLOW_KILLS_SHARE);
    let mut moments = Moments(number("GLEANER_KILL_SEED", 1).wrapping_add(1));
    let (mut kills, mut crawls, mut finished, mut again) = (0, 0, 0, 0);
    let (mut torrents, mut reopened) = (0, Vec::new());
    // On a busy machine lives end before they have done anything: those of further crawls are longer.
    let (finished_wanted, mut longer) = (kills_wanted * CONNECTIONS, 1);
    while kills < kills_wanted || (finished <= finished_wanted && longer < LONGER_LIVES_MAX) {
        longer += u32::from(kills >= kills_wanted);
        let mut killed = 0;
        let mut copies = Vec::new();
        let site = Site::start(600);
        site.limit_rate(SLOW_RATE);
        let truth = site.truth();
        torrents = truth.len();
        let mut crawl = Crawl::new(&site);
        let mut complete = false;
        while !complete && killed < kills_wanted {
            complete = crawl.live(moments.below(SLOW_LIFE_MAX * longer));
            killed += usize::from(!complete);
            let copy = site.folder.path().join(format!("kill-{}.redb", copies.len()));
            if fs::exists(crawl.database()).unwrap() {
                fs::copy(crawl.database(), &copy).unwrap();
            }
            copies.push(copy);
            site.note_kill();
            crawl.check_after_kill();
        }
        crawl.finish();
        crawl.check_complete(&truth);
        crawls += 1;
        kills += killed;
        reopened.append(&mut crawl.reopened);

        let folder = Arc::clone(&site.folder);
        let (origin, account) = (site.origin.clone(), site.end());
        assert_eq!(account["requests_dropped"].as_u64(), Some(0), "the site's log is whole");
        assert_eq!(account["refused_fetches"].as_u64(), Some(0), "{}", account["kinds"]);
        let requests: Vec<&str> = account["requests"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let paths = requests.iter().copied().collect();
        let at_kill: Vec<_> = copies
            .iter()
            .map(|copy| match fs::exists(copy).unwrap() {
                true => finished_pages(copy, &origin, &paths),
                false => BTreeSet::new(),
            })
            .collect();
        drop(folder);
        let of_crawl = assert_no_finished_page_again(&requests, &at_kill);
        finished += of_crawl.0;
        again += of_crawl.1;
    }
    println!("{again} requests were made again: killed before their commit");
    report("no page again", kills, crawls, torrents, reopened);
    assert!(finished > finished_wanted, "only {finished} pages were finished before a kill: it shows nothing");
}

/// Lives are separated by [`KILLED`]. A page that the database called finished when a life was killed must not be requested by a later
/// one. Returns how many pages were finished, and how many were requested again because the kill came before their commit.
fn assert_no_finished_page_again(requests: &[&str], finished_at_kill: &[BTreeSet<String>]) -> (usize, usize) {
    let (mut asked, mut again) = (BTreeSet::new(), 0);
    for (life, paths) in requests.split(|path| *path == KILLED).enumerate() {
        let finished = life.checked_sub(1).map(|before| &finished_at_kill[before]);
        // Both begin each life.
        for path in paths.iter().filter(|path| !["/", "/robots.txt"].contains(path)) {
            // A session id or a link position makes no other page, and only adds URLs; the compared URLs are the ones that the
            // crawler requests.
            if finished.is_some_and(|finished| finished.contains(*path)) {
                panic!("{path} was finished when life {life} began, and fetched again in it");
            }
            again += usize::from(!asked.insert(*path));
        }
    }
    (finished_at_kill.last().map_or(0, BTreeSet::len), again)
}

/// The subset of these paths that a crawl database calls finished.
fn finished_pages(database: &Path, origin: &str, paths: &BTreeSet<&str>) -> BTreeSet<String> {
    let store = RedbStore::open(database, OpenOptions::default()).unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let hosts = store.hosts().await.unwrap();
        // Killed before the first page.
        let Some(host) = hosts.iter().find(|host| *host.origin == *origin).map(|host| host.id) else {
            return BTreeSet::new();
        };
        let mut finished = BTreeSet::new();
        for path in paths {
            let record = store.url_record(&UrlKey { host, path: (*path).into() }).await.unwrap();
            let outcome = record.and_then(|record| record.outcome);
            if matches!(outcome, Some(Outcome::Page | Outcome::TorrentStored | Outcome::TorrentDuplicate)) {
                finished.insert((*path).to_owned());
            }
        }
        finished
    })
}

#[test]
fn a_page_fetched_again_is_noticed() {
    let finished = [BTreeSet::from(["/t/0".to_owned()])];
    let requests = ["/t/0", "/t/1", KILLED, "/t/1"];
    assert_eq!(assert_no_finished_page_again(&requests, &finished), (1, 1), "the second was not committed");
    let again = [&requests[..], &["/t/0"]].concat();
    assert!(std::panic::catch_unwind(|| assert_no_finished_page_again(&again, &finished)).is_err());
}
