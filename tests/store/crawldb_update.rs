//! The guarantees of the update crawldb beside its history: power loss at any sync of either file, SIGKILL during
//! merges, files that are held, damaged or belong to another history. Nothing is lost, and nothing is there twice.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fs;
use std::io::{BufRead, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::crawldb_disk::{SURVIVORS, Shared};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::update::{Merged, UpdateDb, UpdateRow, Visited};
use gleaner_store::crawldb::*;

const OPTIONS: OpenOptions = OpenOptions { cache_bytes: 1 << 20, sync: true };
const HOST: HostId = HostId(0);
/// Links of one page.
const LINKS: u64 = 12;
const ROUNDS: u64 = 5;
/// Number of SIGKILLs in one run: `GLEANER_KILLS`.
const KILLS: usize = 200;
/// Polling interval of a process's life, and its maximum.
const WATCHED_EVERY: Duration = Duration::from_micros(200);
const LASTS_MAX: Duration = Duration::from_secs(60);

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(test)
}

fn key(path: &str) -> UrlKey {
    UrlKey { host: HOST, path: path.into() }
}

fn row(path: &str, found: u64) -> UpdateRow {
    let (found, via) = (UnixMillis(found), Some("http://a/list".into()));
    UpdateRow { key: key(path), found, level: 1, depth: 2, rank: 33, via, is_target: true, again: false }
}

fn visit(path: &str, at: u64, next: Next) -> Visit {
    Visit {
        key: key(path),
        depth: 1,
        rank: 0,
        attempts: 0,
        via: None,
        found: None,
        at: UnixMillis(at),
        outcome: Outcome::Gone,
        next,
        body_bytes: 0,
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

fn at(ms: u64) -> UnixMillis {
    UnixMillis(ms)
}

/// What was reported before the power loss.
#[derive(Default)]
struct Reported {
    pages: BTreeSet<u64>,
    visited: BTreeSet<Box<str>>,
    is_done: bool,
}

/// Like the crawl: links before the page that has them, visits before their rows are removed, and a merge of the rest of
/// the previous round.
async fn crawl(history: &RedbStore, update: &UpdateDb, reported: &mut Reported) -> Result<(), CrawlDbError> {
    history.host_id("s", "http://a").await?;
    update.pair(history, at(1)).await?;
    for round in 0..ROUNDS {
        let now = 1_000 * (round + 1);
        update.add((0..LINKS).map(|link| row(&format!("/{round}/{link}"), now)).collect()).await?;
        history.record_visits(vec![visit(&format!("/page/{round}"), now, Next::Done)].into()).await?;
        reported.pages.insert(round);
        let latest = update.lease_latest(HOST, 4).await?;
        let keys: Vec<UrlKey> = latest.iter().map(|row| row.key.clone()).collect();
        let known = history.url_records(keys.clone()).await?;
        let to_visit = latest.iter().zip(known).filter(|(row, record)| !row.is_settled(record.as_ref(), at(u64::MAX)));
        let visits: Vec<Visit> = to_visit.map(|(row, _)| visit(&row.key.path, now + 1, Next::Done)).collect();
        let paths: Vec<Box<str>> = visits.iter().map(|visit| visit.key.path.clone()).collect();
        history.record_visits(visits.into()).await?;
        reported.visited.extend(paths);
        update.remove(keys).await?;
        update.merge(history, HOST, at(now), at(now + 2)).await?;
    }
    reported.is_done = true;
    Ok(())
}

/// All links of every recorded page are known to one of the files; a visited URL is not leased again; and once history has everything,
/// each link is there once: visited or queued.
async fn check(history: &RedbStore, update: &UpdateDb, reported: &Reported) {
    history.host_id("s", "http://a").await.unwrap();
    assert_eq!(update.pair(history, at(9_999)).await.unwrap(), 0, "a power loss makes no other history of it");
    let mut links = BTreeSet::new();
    for round in 0..ROUNDS {
        let page = history.url_record(&key(&format!("/page/{round}"))).await.unwrap();
        assert!(page.is_some() || !reported.pages.contains(&round), "a page that was reported is lost");
        for link in (0..LINKS).map(|link| key(&format!("/{round}/{link}"))) {
            let is_here = update.found_at(vec![link.clone()]).await.unwrap()[0].is_some();
            let record = history.url_record(&link).await.unwrap();
            assert!(page.is_none() || is_here || record.is_some(), "{link:?} of a page that was read is lost");
            let was_visited = record.is_some_and(|record| record.outcome.is_some());
            assert!(was_visited || !reported.visited.contains(&link.path), "{link:?}: its visit is lost");
            if is_here || record.is_some() {
                links.insert(link);
            }
        }
    }
    let visited = visited(history, &links).await;
    for row in update.lease_latest(HOST, 1_000).await.unwrap() {
        let record = history.url_record(&row.key).await.unwrap();
        assert_eq!(row.is_settled(record.as_ref(), at(u64::MAX)), visited.contains(&row.key), "{:?}", row.key);
    }
    for _ in 0..2 {
        update.merge(history, HOST, at(u64::MAX), at(10_000)).await.unwrap();
        assert_eq!(update.waiting(HOST), 0);
        assert!(update.rows(HOST, None, 9).await.unwrap().is_empty());
        let now = at(10_000);
        let all = LeaseRequest {
            host: HOST,
            owner: Owner(1),
            now,
            deadline: now,
            urls_max: 1_000,
            rank_max: u8::MAX,
            order: LeaseOrder::ByRank,
        };
        let queued: Vec<UrlKey> = history.lease_due(all).await.unwrap().into_iter().map(|lease| lease.key).collect();
        let distinct: BTreeSet<UrlKey> = queued.iter().cloned().collect();
        assert_eq!(queued.len(), distinct.len(), "queued twice");
        assert_eq!(distinct, links.difference(&visited).cloned().collect());
        history.release(Owner(1), queued).await.unwrap();
    }
}

async fn visited(history: &dyn CrawlDb, links: &BTreeSet<UrlKey>) -> BTreeSet<UrlKey> {
    let mut visited = BTreeSet::new();
    for link in links {
        if history.url_record(link).await.unwrap().is_some_and(|record| record.outcome.is_some()) {
            visited.insert(link.clone());
        }
    }
    visited
}

fn open(history: &Shared, update: &Shared) -> Result<(RedbStore, UpdateDb), CrawlDbError> {
    let store = RedbStore::open_with(Path::new("history"), OPTIONS, history.factory())?;
    Ok((store, UpdateDb::open_with(Path::new("update"), OPTIONS, update.factory())?))
}

#[test]
fn power_lost_at_any_sync_of_either_file_loses_nothing_and_doubles_nothing() {
    for of_update in [false, true] {
        let mut is_done = false;
        for dies_at in 1..400 {
            for survives in SURVIVORS {
                let (history, update) = (Shared::default(), Shared::default());
                let dies = if of_update { &update } else { &history };
                dies.0.lock().unwrap().dies_at_sync = Some(dies_at);
                let mut reported = Reported::default();
                if let Ok((store, fresh)) = open(&history, &update) {
                    let crawled = run(crawl(&store, &fresh, &mut reported));
                    assert!(matches!(crawled, Ok(()) | Err(CrawlDbError::Storage { full: false, .. })), "{crawled:?}");
                }
                // Neither file has more than what the disk was told to keep.
                history.0.lock().unwrap().power_off(survives);
                update.0.lock().unwrap().power_off(survives);
                let (store, fresh) = open(&history, &update).unwrap_or_else(|error| panic!("sync {dies_at}: {error}"));
                run(check(&store, &fresh, &reported));
                is_done = reported.is_done;
            }
            if is_done {
                break;
            }
        }
        assert!(is_done, "the sweep did not reach the end of the crawl");
    }
}

#[test]
fn a_disk_that_fails_for_a_while_is_told_and_then_used_again() {
    let disk = Shared::default();
    let update = UpdateDb::open_with(Path::new("update"), OPTIONS, disk.factory()).unwrap();
    run(async {
        update.add(vec![row("/a", 1)]).await.unwrap();
        let room = disk.0.lock().unwrap().now.len();
        disk.0.lock().unwrap().bytes_max = Some(room);
        let many = || (0..50_000).map(|n| row(&format!("/many/{n}"), 2)).collect();
        let error = update.add(many()).await.unwrap_err();
        assert!(matches!(error, CrawlDbError::Storage { full: true, .. }), "{error}");
        disk.0.lock().unwrap().bytes_max = None;
        assert_eq!(update.found_at(vec![key("/a"), key("/many/1")]).await.unwrap(), [Some(at(1)), None]);
        assert_eq!((update.add(many()).await.unwrap(), update.waiting(HOST)), (50_000, 50_001));
    });
}

#[test]
fn the_latest_come_first_leased_once_and_what_is_there_keeps_its_time() {
    let disk = Shared::default();
    let update = UpdateDb::open_with(Path::new("update"), OPTIONS, disk.factory()).unwrap();
    run(async {
        assert_eq!(update.add(vec![row("/1", 10), row("/2", 30), row("/3", 30), row("/4", 20)]).await.unwrap(), 4);
        assert_eq!(update.add(vec![row("/1", 99), row("/5", 5)]).await.unwrap(), 1);
        let paths = async |rows_max: usize| -> Vec<Box<str>> {
            update.lease_latest(HOST, rows_max).await.unwrap().into_iter().map(|row| row.key.path).collect()
        };
        assert_eq!(paths(2).await, ["/2".into(), "/3".into()]);
        assert_eq!(paths(2).await, ["/4".into(), "/1".into()]);
        update.release(&[key("/3")]);
        assert_eq!(paths(9).await, ["/3".into(), "/5".into()]);
        assert!(paths(9).await.is_empty());
        update.remove(vec![key("/2"), key("/not here")]).await.unwrap();
        update.release_all(&HashSet::from([HOST]));
        assert_eq!((paths(9).await.len(), update.waiting(HOST)), (4, 4));
        let mut other = row("/other", 7);
        other.key.host = HostId(1);
        update.add(vec![other]).await.unwrap();
        assert_eq!((update.waiting(HOST), update.waiting(HostId(1))), (4, 1));
        assert_eq!(update.rows(HOST, None, 9).await.unwrap().len(), 4, "another host's are its own");
    });
}

#[test]
fn a_merge_hands_over_what_is_old_and_has_pages_looked_at_again() {
    let disk = Shared::default();
    let update = UpdateDb::open_with(Path::new("update"), OPTIONS, disk.factory()).unwrap();
    let history = MemoryStore::new();
    run(async {
        history.host_id("s", "http://a").await.unwrap();
        update.pair(&history, at(1)).await.unwrap();
        history
            .record_visits(vec![visit("/list/2", 50, Next::Done), visit("/done", 60, Next::Done)].into())
            .await
            .unwrap();
        let again = |path, found| UpdateRow { again: true, ..row(path, found) };
        let rows = vec![row("/old", 100), row("/young", 900), row("/done", 100), row("/ahead", 5_000)];
        update.add(rows).await.unwrap();
        update.add(vec![again("/list/2", 100), again("/done?", 100)]).await.unwrap();
        // For a clock that shows 1,000: later times come from another clock.
        let merged = update.merge(&history, HOST, at(500), at(1_000)).await.unwrap();
        assert_eq!(merged, Merged { added: 2, again: 2, settled: 1 });
        assert_eq!(update.rows(HOST, None, 9).await.unwrap(), [row("/young", 900)]);
        let queued = history.queued(HOST, 99).await.unwrap();
        let told: Vec<(&str, u16, u8, Option<&str>)> =
            queued.iter().map(|row| (&*row.key.path, row.depth, row.rank, row.via.as_deref())).collect();
        let via = Some("http://a/list");
        assert_eq!(
            told,
            [("/ahead", 2, 33, via), ("/old", 2, 33, via), ("/done?", 2, 33, via), ("/list/2", 2, 33, via)]
        );
        assert_eq!(update.merge(&history, HOST, at(500), at(1_000)).await.unwrap(), Merged::default());
        let record = history.url_record(&key("/old")).await.unwrap().unwrap();
        assert_eq!(record.first_seen, at(100), "when it was found, not when it was handed over");
    });
}

#[test]
fn a_look_that_was_taken_after_it_was_asked_for_is_settled() {
    let record = |visited: u64| UrlRecord {
        depth: 1,
        attempts: 0,
        outcome: Some(Outcome::Page),
        first_seen: at(1),
        visited: at(visited),
    };
    let again = UpdateRow { again: true, ..row("/list/2", 100) };
    let settled = [Some(record(100)), Some(record(101)), None].map(|record| again.is_settled(record.as_ref(), at(150)));
    assert_eq!(settled, [false, true, false]);
    assert!(!again.is_settled(Some(&record(151)), at(150)), "a visit by a clock that was ahead");
    let queued = UrlRecord { outcome: None, ..record(0) };
    let new = [Some(record(99)), Some(queued), None].map(|record| row("/x", 100).is_settled(record.as_ref(), at(50)));
    assert_eq!(new, [true, false, false]);
}

#[test]
fn another_historys_rows_are_forgotten_and_its_own_are_not() {
    let disk = Shared::default();
    let (first, second) = (MemoryStore::new(), MemoryStore::new());
    run(async {
        let open = || UpdateDb::open_with(Path::new("update"), OPTIONS, disk.factory()).unwrap();
        let update = open();
        assert_eq!(update.pair(&first, at(5)).await.unwrap(), 0);
        update.add(vec![row("/a", 1)]).await.unwrap();
        drop(update);
        let update = open();
        assert_eq!((update.pair(&first, at(7)).await.unwrap(), update.waiting(HOST)), (0, 1));
        drop(update);
        let update = open();
        assert_eq!((update.pair(&second, at(8)).await.unwrap(), update.waiting(HOST)), (1, 0));
        assert!(update.lease_latest(HOST, 9).await.unwrap().is_empty());
    });
}

fn file() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new/update.redb");
    (folder, path)
}

fn refused(path: &Path) -> CrawlDbError {
    UpdateDb::open(path, OPTIONS).err().unwrap()
}

#[test]
fn a_file_that_is_held_newer_or_something_else_is_refused_and_left_alone() {
    let (_folder, path) = file();
    let held = UpdateDb::open(&path, OPTIONS).unwrap();
    assert!(matches!(refused(&path), CrawlDbError::Held { .. }));
    drop(held);
    let set_schema = |schema: u64| {
        let db = redb::Database::open(&path).unwrap();
        let txn = db.begin_write().unwrap();
        let meta = redb::TableDefinition::<&str, u64>::new("update_meta");
        txn.open_table(meta).unwrap().insert("schema", schema).unwrap();
        txn.commit().unwrap();
    };
    set_schema(2);
    assert!(matches!(refused(&path), CrawlDbError::NewerSchema { found: 2, known: 1, .. }));
    set_schema(1);
    drop(UpdateDb::open(&path, OPTIONS).unwrap());
    fs::remove_file(&path).unwrap();
    // A history crawldb is not an update crawldb.
    drop(RedbStore::open(&path, OPTIONS).unwrap());
    let error = refused(&path);
    assert!(matches!(error, CrawlDbError::Corrupt { .. }), "{error}");
    drop(RedbStore::open(&path, OPTIONS).unwrap());
    fs::write(&path, b"dear diary, ".repeat(1_000)).unwrap();
    assert!(matches!(refused(&path), CrawlDbError::Corrupt { .. }));
    assert_eq!(fs::read(&path).unwrap(), b"dear diary, ".repeat(1_000));
}

#[test]
fn random_damage_never_panics() {
    let (_folder, path) = file();
    let fill = |update: &UpdateDb| -> Result<(), CrawlDbError> {
        run(async {
            update.add((0..3_000).map(|n| row(&format!("/{n}"), n)).collect()).await?;
            let leased = update.lease_latest(HOST, 500).await?;
            update.remove(leased.into_iter().map(|row| row.key).collect()).await?;
            update.rows(HOST, None, 5_000).await.map(drop)
        })
    };
    let update = UpdateDb::open(&path, OPTIONS).unwrap();
    fill(&update).unwrap();
    run(update.add(vec![row("/last", 1)])).unwrap();
    drop(update);
    let whole = fs::read(&path).unwrap();
    let mut random = 0x2545_F491_4F6C_DD1D_u64;
    let mut told = 0;
    for _ in 0..40 {
        let mut damaged = whole.clone();
        for _ in 0..64 {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let from = random as usize % damaged.len();
            let to = damaged.len().min(from + 64);
            damaged[from..to].fill((random >> 40) as u8);
        }
        fs::write(&path, &damaged).unwrap();
        told += u32::from(UpdateDb::open(&path, OPTIONS).and_then(|update| fill(&update)).is_err());
    }
    assert!(told > 0, "damage is noticed at least where it is met");
}

/// Folder of the killed child; without it the child has nothing to do.
const CHILD_FOLDER: &str = "GLEANER_UPDATE_CHILD";

fn open_in(folder: &Path) -> (RedbStore, UpdateDb) {
    // It only has to survive SIGKILL: the page cache outlives the process, and two hundred lives need no disk.
    let options = OpenOptions { cache_bytes: 1 << 20, sync: false };
    let history = RedbStore::open(&folder.join("crawl.redb"), options).unwrap();
    (history, UpdateDb::open(&folder.join("update.redb"), options).unwrap())
}

/// The life of a process that is killed: pages with links, visits of the latest, merges, endlessly.
#[test]
fn the_process_that_is_killed() {
    let Ok(folder) = std::env::var(CHILD_FOLDER) else { return };
    let folder = Path::new(&folder);
    let (history, update) = open_in(folder);
    run(async {
        history.host_id("s", "http://a").await.unwrap();
        update.pair(&history, at(1)).await.unwrap();
        let mut out = std::io::stdout();
        let first = history.site_counts("s").await.unwrap().urls_known;
        for round in first.. {
            let now = 1_000 + round;
            update.add((0..LINKS).map(|link| row(&format!("/{round}/{link}"), now)).collect()).await.unwrap();
            history.record_visits(vec![visit(&format!("/page/{round}"), now, Next::Done)].into()).await.unwrap();
            writeln!(out, "page {round}").unwrap();
            let latest = update.lease_latest(HOST, 5).await.unwrap();
            let keys: Vec<UrlKey> = latest.iter().map(|row| row.key.clone()).collect();
            let records = history.url_records(keys.clone()).await.unwrap();
            let to_visit =
                latest.iter().zip(records).filter(|(row, record)| !row.is_settled(record.as_ref(), at(u64::MAX)));
            let visits: Vec<Visit> = to_visit.map(|(row, _)| visit(&row.key.path, now, Next::Done)).collect();
            let visits = Arc::new(visits);
            history.record_visits(Arc::clone(&visits)).await.unwrap();
            visits.iter().for_each(|visit| writeln!(out, "visited {}", visit.key.path).unwrap());
            update.remove(keys).await.unwrap();
            let merged = update.merge(&history, HOST, at(now), at(now)).await.unwrap();
            writeln!(out, "merged {}", merged.added + merged.settled).unwrap();
            out.flush().unwrap();
        }
    });
}

#[test]
fn sigkill_in_the_middle_of_merges_loses_nothing_and_doubles_nothing() {
    let kills = std::env::var("GLEANER_KILLS").map_or(KILLS, |kills| kills.parse().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut reported = BTreeMap::<String, u64>::new();
    let mut random = 0x9E37_79B9_7F4A_7C15_u64;
    let (mut worked, mut merges) = (0, 0);
    for _ in 0..kills {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", "crawldb_update::the_process_that_is_killed", "--nocapture"])
            .env(CHILD_FOLDER, folder.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap());
        let merged = Arc::new(AtomicU64::new(0));
        let count = Arc::clone(&merged);
        let is_merge = |line: &String| line.starts_with("merged ");
        let read = move |line: &String| {
            count.fetch_add(is_merge(line).into(), Ordering::Relaxed);
        };
        let reader =
            std::thread::spawn(move || lines.lines().map_while(Result::ok).inspect(read).collect::<Vec<String>>());
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        // Killed somewhere after its n-th merge, however long those take; with none, during its start.
        let lasts = random % 6;
        for _ in 0..LASTS_MAX.as_micros() / WATCHED_EVERY.as_micros() {
            if merged.load(Ordering::Relaxed) >= lasts || reader.is_finished() {
                break;
            }
            std::thread::sleep(WATCHED_EVERY);
        }
        std::thread::sleep(Duration::from_micros((random >> 16) % if lasts == 0 { 60_000 } else { 10_000 }));
        child.kill().unwrap();
        child.wait().unwrap();
        let lines = reader.join().unwrap();
        let told = |line: &&String| line.starts_with("page ") || line.starts_with("visited ");
        worked += usize::from(lines.iter().any(|line| line.starts_with("page ")));
        merges += lines.iter().filter(|line| is_merge(line)).count();
        for line in lines.iter().filter(told) {
            *reported.entry(line.clone()).or_default() += 1;
        }
    }
    assert!(worked > kills / 4, "{worked} of {kills} lives did something");
    assert!(merges > kills, "{merges} merges in {kills} lives");
    let twice: Vec<_> = reported.iter().filter(|(_, times)| **times > 1).collect();
    assert!(twice.is_empty(), "done twice: {twice:?}");

    let (history, update) = open_in(folder.path());
    run(async {
        update.pair(&history, at(1)).await.unwrap();
        let records = async |path: &str| history.url_record(&key(path)).await.unwrap();
        let (mut links, mut visited) = (0, 0);
        for line in reported.keys() {
            let (what, of) = line.split_once(' ').unwrap();
            if what == "visited" {
                assert!(records(of).await.is_some_and(|record| record.outcome.is_some()), "{line} is lost");
                continue;
            }
            assert!(records(&format!("/page/{of}")).await.is_some(), "{line} is lost");
            for link in 0..LINKS {
                let link = key(&format!("/{of}/{link}"));
                let is_here = update.found_at(vec![link.clone()]).await.unwrap()[0].is_some();
                assert!(is_here || records(&link.path).await.is_some(), "{link:?} is lost");
            }
        }
        update.merge(&history, HOST, at(u64::MAX), at(u64::MAX)).await.unwrap();
        assert_eq!(update.waiting(HOST), 0);
        let counts = history.site_counts("s").await.unwrap();
        let mut queued = BTreeSet::new();
        for row in history.queued(HOST, usize::MAX).await.unwrap() {
            assert!(queued.insert(row.key.clone()), "{:?} is queued twice", row.key);
            assert!(records(&row.key.path).await.is_some_and(|record| record.outcome.is_none()), "{:?}", row.key);
            links += 1;
        }
        // Every counted visit is of a different URL.
        visited += counts.pages();
        assert_eq!(counts.urls_known, links + visited, "{counts:?}");
        println!("{kills} kills, {worked} lives at work, {merges} merges, {visited} visits, {links} URLs queued");
    });
}

#[test]
fn a_page_that_is_asked_for_again_while_its_last_visit_is_written_down_is_fetched_once_more() {
    run(async {
        let update = UpdateDb::open_with(Path::new("update"), OPTIONS, Shared::default().factory()).unwrap();
        let again = |found: u64| UpdateRow { again: true, ..row("/thread", found) };
        assert_eq!(update.add(vec![again(100), row("/new", 100)]).await.unwrap(), 2);
        assert_eq!(update.lease_latest(HOST, 9).await.unwrap().len(), 2);
        // Both were visited by now; the thread has news again before that is on disk.
        assert_eq!(update.add(vec![again(130), row("/new", 130)]).await.unwrap(), 0);
        let visited =
            |path: &str, began: u64, ended: u64| Visited { key: key(path), began: at(began), ended: at(ended) };
        let visits = vec![visited("/thread", 110, 120), visited("/new", 110, 120)];
        update.keep_asked_since(&visits).await.unwrap();
        assert_eq!(update.remove_visited(visits).await.unwrap(), 1);
        assert_eq!((update.waiting(HOST), update.lease_latest(HOST, 9).await.unwrap()), (1, vec![again(130)]));
        assert_eq!(update.remove_visited(vec![visited("/thread", 130, 140)]).await.unwrap(), 0);
        assert_eq!((update.waiting(HOST), update.rows(HOST, None, 9).await.unwrap()), (0, Vec::new()));
    });
}

#[test]
fn news_that_come_while_their_page_is_under_way_outlive_its_visit_and_a_kill_before_its_end_is_told() {
    run(async {
        let disk = Shared::default();
        let open = || UpdateDb::open_with(Path::new("update"), OPTIONS, disk.factory()).unwrap();
        let update = open();
        let again = |path: &str, found: u64| UpdateRow { again: true, ..row(path, found) };
        let rows = ["/before", "/meanwhile", "/after"].into_iter().zip([100, 130, 160]);
        update.add(rows.map(|(path, found)| again(path, found)).collect()).await.unwrap();
        let visits = ["/before", "/meanwhile", "/after"];
        let visits = visits.map(|path| Visited { key: key(path), began: at(100), ended: at(150) }).to_vec();
        update.keep_asked_since(&visits).await.unwrap();
        // The visits are recorded, and the process is killed before it removes them here.
        drop(update);
        let update = open();
        let record = |visited: u64| UrlRecord {
            depth: 1,
            attempts: 0,
            outcome: Some(Outcome::Page),
            first_seen: at(1),
            visited: at(visited),
        };
        let mut rows = update.rows(HOST, None, 9).await.unwrap();
        rows.retain(|row| !row.is_settled(Some(&record(150)), at(200)));
        assert_eq!(rows, [again("/after", 160), again("/meanwhile", 150)]);
        let latest: Vec<u64> = update.lease_latest(HOST, 9).await.unwrap().iter().map(|row| row.found.0).collect();
        assert_eq!(latest, [160, 150, 100]);
        assert_eq!(update.remove_visited(visits).await.unwrap(), 2);
        let later = |path: &str| Visited { key: key(path), began: at(160), ended: at(170) };
        let later = vec![later("/meanwhile"), later("/after")];
        update.keep_asked_since(&later).await.unwrap();
        assert_eq!((update.remove_visited(later).await.unwrap(), update.waiting(HOST)), (0, 0));
    });
}

#[test]
fn what_was_found_by_a_clock_that_was_set_back_since_is_settled_by_a_visit_of_now() {
    run(async {
        let update = UpdateDb::open_with(Path::new("update"), OPTIONS, Shared::default().factory()).unwrap();
        let again = |path: &str, found: u64| UpdateRow { again: true, ..row(path, found) };
        update.add(vec![again("/ahead", 9_000), again("/due", 100), row("/new", 8_000)]).await.unwrap();
        assert_eq!(update.lease_latest(HOST, 9).await.unwrap().len(), 3);
        let all = || ["/ahead", "/due", "/new", "/not here"].map(key).to_vec();
        update.bring_back(all(), at(200)).await.unwrap();
        assert!(update.lease_latest(HOST, 9).await.unwrap().is_empty(), "they are leased as before");
        let rows = [again("/ahead", 200), again("/due", 100), row("/new", 200)];
        assert_eq!((update.rows(HOST, None, 9).await.unwrap(), update.waiting(HOST)), (rows.to_vec(), 3));
        let visited = |path: &str, began: u64| Visited { key: key(path), began: at(began), ended: at(began + 10) };
        assert_eq!(update.remove_visited(vec![visited("/ahead", 210)]).await.unwrap(), 0);
        update.release_all(&HashSet::from([HOST]));
        let left: Vec<Box<str>> =
            update.lease_latest(HOST, 9).await.unwrap().into_iter().map(|row| row.key.path).collect();
        assert_eq!(left, ["/new".into(), "/due".into()], "each once, in the order of its time");
    });
}
