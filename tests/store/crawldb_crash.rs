//! The guarantees of the crawl database under failures: power loss at any sync, full disks, files that are damaged, newer
//! or held.

mod crawldb_files;
mod crawldb_schema;

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::crawldb_disk::{Disk, SURVIVORS, Shared};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{BackendFactory, OpenOptions, RedbStore};
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;

const OPTIONS: OpenOptions = OpenOptions { cache_bytes: 4 << 20, sync: true };
const BATCHES: u64 = 6;
/// Bytes of the note: several pages of the file.
const NOTE_BYTES: usize = 10_000;

fn run<T>(test: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(test)
}

fn open_on(disk: &Shared) -> Result<RedbStore, CrawlDbError> {
    RedbStore::open_with(Path::new("disk"), OPTIONS, disk.factory())
}

fn key(path: String) -> UrlKey {
    UrlKey { host: HostId(0), path: path.into() }
}

fn memo(batch: u64) -> Box<str> {
    format!("memo of {batch}").into()
}

fn torrent(batch: u64) -> Infohashes {
    Infohashes { v1: Some([batch as u8; 20]), v2: None }
}

/// A visit that stores a torrent, finds 20 links and leaves its URL parked with a memo, as not read whole.
fn visit(batch: u64) -> Visit {
    let link = |link| Discovered {
        key: key(format!("/{batch}/{link}")),
        depth: 1,
        rank: 0,
        due: UnixMillis(0),
        via: None,
        is_target: link % 3 == 0,
        found: None,
    };
    Visit {
        key: key(format!("/{batch}")),
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        found: None,
        at: UnixMillis(batch + 1),
        outcome: Outcome::TorrentStored,
        next: Next::Park(batch),
        body_bytes: 1,
        body_hash: Some(batch),
        outlinks: (0..20).map(link).collect(),
        torrent: Some(TorrentFacts {
            infohashes: torrent(batch),
            name: "name".into(),
            payload_bytes: 1,
            file_count: 1,
            metainfo_bytes: 1,
            sha256: [0; 32],
            created_unix: None,
            private: false,
        }),
        magnets: Vec::new(),
        listing: None,
        labels: Vec::new(),
        memo: Some(memo(batch)),
        not_whole: Some(memo(batch)),
    }
}

/// Crawls and unparks until something fails; returns the number of batches that were reported as committed. After each batch its
/// number is noted and the host blocked with as many complaints.
async fn crawl(db: &RedbStore) -> Result<u64, (u64, CrawlDbError)> {
    db.host_id("s", "http://a").await.map_err(|error| (0, error))?;
    for batch in 0..BATCHES {
        db.record_visits(vec![visit(batch)].into()).await.map_err(|error| (batch, error))?;
        let complaints = batch as u32 + 1;
        db.put_note("s", "batch", vec![batch as u8; NOTE_BYTES]).await.map_err(|error| (batch, error))?;
        db.block_host_until(HostId(0), UnixMillis(7), "503", complaints).await.map_err(|error| (batch, error))?;
    }
    db.unpark(HostId(0), BATCHES, UnixMillis(8)).await.map_err(|error| (BATCHES, error))?;
    Ok(BATCHES)
}

/// The note is a complete one that was stored, and the complaints belong to it or to the step right after it; neither is
/// older than what was reported.
async fn check_notes(db: &RedbStore, reported: u64) {
    let noted = db.note("s", "batch").await.unwrap().map_or(0, |note| {
        assert!(note.len() == NOTE_BYTES && note.iter().all(|byte| *byte == note[0]), "the note is torn");
        u64::from(note[0]) + 1
    });
    let complaints = u64::from(db.hosts().await.unwrap().first().map_or(0, |host| host.complaints));
    assert!(reported <= complaints && complaints <= noted && noted <= complaints + 1, "{noted} {complaints}");
    assert!(noted <= reported + 1, "{noted} were noted, {reported} reported");
}

/// Every batch is there completely or not at all, including all reported ones; counts agree; the crawl can be finished.
async fn check(db: &RedbStore, reported: u64) {
    check_notes(db, reported).await;
    let mut whole = 0;
    for batch in 0..BATCHES {
        let stored = db.known_torrents(vec![torrent(batch)]).await.unwrap()[0].is_some();
        let visited = db.url_record(&key(format!("/{batch}"))).await.unwrap().is_some();
        let mut links = 0;
        for link in 0..20 {
            links += u64::from(db.url_record(&key(format!("/{batch}/{link}"))).await.unwrap().is_some());
        }
        assert_eq!((visited, links), (stored, if stored { 20 } else { 0 }), "batch {batch} is torn");
        assert!(stored || batch >= reported, "batch {batch} was reported and is lost");
        whole += u64::from(stored);
    }
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.torrents, counts.urls_known, counts.pages_not_whole), (whole, whole * 21, whole));
    for row in db.not_whole("s").await.unwrap() {
        let batch = row.at.0 - 1;
        assert_eq!((&*row.url, row.reason), (&*format!("http://a/{batch}"), memo(batch)));
        assert!(db.known_torrents(vec![torrent(batch)]).await.unwrap()[0].is_some(), "the reason of a lost visit");
    }
    assert_eq!(db.not_whole("s").await.unwrap().len() as u64, whole);
    let unparked = counts.urls_queued - whole * 20;
    assert!(unparked == 0 || (reported, unparked) == (BATCHES, BATCHES), "{unparked} of {whole} are unparked");
    crawl(db).await.map_err(|(_, error)| error).unwrap();
    assert_eq!(db.site_counts("s").await.unwrap().torrents, BATCHES);
    let all = LeaseRequest {
        host: HostId(0),
        owner: Owner(1),
        now: UnixMillis(9),
        deadline: UnixMillis(99),
        urls_max: 1_000,
        rank_max: u8::MAX,
        order: LeaseOrder::ByRank,
    };
    let leases = db.lease_due(all).await.unwrap();
    assert_eq!(leases.len() as u64, BATCHES * 21);
    let memos: BTreeSet<_> = leases.into_iter().filter_map(|lease| Some((lease.key, lease.memo?))).collect();
    assert_eq!(memos, (0..BATCHES).map(|batch| (key(format!("/{batch}")), memo(batch))).collect());
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, BATCHES * 21);
}

/// The data of [`crawldb_schema::write_schema_1`] exist, and data that this schema did not support can be added.
async fn check_schema_1(db: &RedbStore) {
    let host = db.hosts().await.unwrap().remove(0);
    assert_eq!((host.blocked_until, &*host.blocked_reason, host.complaints), (UnixMillis(5_000), "429", 0));
    assert_eq!(db.note("s", "n").await.unwrap(), None);
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.urls_known, counts.urls_queued, counts.of(Outcome::Page)), (4, 2, 1));
    let record = db.url_record(&key("/done".into())).await.unwrap().unwrap();
    assert_eq!((record.outcome, record.visited), (Some(Outcome::Page), UnixMillis(20)));

    assert_eq!(db.unpark(HostId(0), 8, UnixMillis(100)).await.unwrap(), 1);
    let due = UnixMillis(0);
    let done =
        Discovered { key: key("/done".into()), depth: 1, rank: 1, due, via: None, is_target: false, found: None };
    db.make_due(vec![done], UnixMillis(100)).await.unwrap();
    let now = UnixMillis(100);
    let all = LeaseRequest {
        host: HostId(0),
        owner: Owner(1),
        now,
        deadline: UnixMillis(999),
        urls_max: 9,
        rank_max: u8::MAX,
        order: LeaseOrder::ByRank,
    };
    let leases = db.lease_due(all).await.unwrap();
    let told: Vec<_> = leases.iter().map(|lease| (&*lease.key.path, lease.attempts, lease.via.as_deref())).collect();
    let via = Some("http://a/list");
    assert_eq!(told, [("/later", 1, None), ("/done", 0, None), ("/queued", 0, via), ("/parked", 0, None)]);
    assert!(leases.iter().all(|lease| lease.memo.is_none()));

    let revisit = |key| Visit { key, next: Next::RevisitAt(due), outlinks: Vec::new(), torrent: None, ..visit(200) };
    let visits: Vec<_> = leases.into_iter().map(|lease| revisit(lease.key)).collect();
    db.record_visits(visits.into()).await.unwrap();
    let memos: Vec<_> = db.lease_due(all).await.unwrap().into_iter().map(|lease| lease.memo).collect();
    assert_eq!(memos, vec![Some(memo(200)); 4]);
    db.put_note("s", "n", vec![1]).await.unwrap();
    db.block_host_until(HostId(0), UnixMillis(9), "503", 2).await.unwrap();
    assert_eq!(db.hosts().await.unwrap()[0].complaints, 2);
    assert_eq!(db.note("s", "n").await.unwrap(), Some(vec![1]));
}

#[test]
fn power_lost_at_any_sync_loses_nothing_reported_and_tears_nothing() {
    let mut finished = false;
    for dies_at in 1..200 {
        for survives in SURVIVORS {
            let disk = Shared::default();
            disk.0.lock().unwrap().dies_at_sync = Some(dies_at);
            let reported = match open_on(&disk) {
                Ok(db) => run(async {
                    match crawl(&db).await {
                        Ok(reported) => {
                            finished = true;
                            reported
                        }
                        Err((reported, error)) => {
                            assert!(matches!(error, CrawlDbError::Storage { full: false, .. }), "{error}");
                            reported
                        }
                    }
                }),
                Err(error) => {
                    assert!(matches!(error, CrawlDbError::Storage { .. }), "{error}");
                    0
                }
            };
            disk.0.lock().unwrap().power_off(survives);
            let db = open_on(&disk).unwrap_or_else(|error| panic!("sync {dies_at}: {error}"));
            run(check(&db, reported));
        }
        if finished {
            return;
        }
    }
    panic!("the sweep did not reach the end of the crawl");
}

/// Everything that a store reports of the batches, in a comparable form.
async fn everything(db: &dyn CrawlDb) -> String {
    let mut told = format!("{:?}", (db.site_counts("s").await.unwrap(), db.torrents(None, 99).await.unwrap()));
    for batch in 0..4 {
        told += &format!("{:?}", db.url_record(&key(format!("/{batch}"))).await.unwrap());
    }
    let now = UnixMillis(9);
    let all = LeaseRequest {
        host: HostId(0),
        owner: Owner(1),
        now,
        deadline: now,
        urls_max: 1_000,
        rank_max: u8::MAX,
        order: LeaseOrder::ByRank,
    };
    let mut leases = db.lease_due(all).await.unwrap();
    // Each store has its own numbers.
    leases.iter_mut().for_each(|lease| lease.seq = 0);
    told + &format!("{leases:?}")
}

#[test]
fn a_batch_that_failed_at_any_sync_is_recorded_again_as_if_it_had_not() {
    let batch = || Arc::new(vec![visit(1), visit(0), visit(2), visit(1)]);
    let prepared = async |db: &dyn CrawlDb| {
        db.host_id("s", "http://a").await.unwrap();
        db.record_visits(vec![visit(0)].into()).await.unwrap();
        let revisit = Discovered { due: UnixMillis(0), ..visit(0).outlinks.remove(0) };
        db.make_due(vec![Discovered { key: key("/2".into()), ..revisit }], UnixMillis(3)).await.unwrap();
        let now = UnixMillis(4);
        let some = LeaseRequest {
            host: HostId(0),
            owner: Owner(1),
            now,
            deadline: UnixMillis(99),
            urls_max: 30,
            rank_max: u8::MAX,
            order: LeaseOrder::ByRank,
        };
        db.lease_due(some).await.unwrap();
    };
    let model = MemoryStore::new();
    let (receipts, after) = run(async {
        prepared(&model).await;
        (model.record_visits(batch()).await.unwrap(), everything(&model).await)
    });
    let mut in_file = Vec::new();
    for dies_at in 0..20 {
        let disk = Shared::default();
        let db = open_on(&disk).unwrap();
        let failed = run(async {
            prepared(&db).await;
            let before = db.site_counts("s").await.unwrap();
            let syncs = disk.0.lock().unwrap().syncs;
            disk.0.lock().unwrap().dies_at_sync = Some(syncs + dies_at);
            let failed = db.record_visits(batch()).await.is_err();
            // Once more on the dead disk: the record of the first attempt survives that.
            let failed_again = failed && db.record_visits(batch()).await.is_err();
            assert_eq!(failed, failed_again);
            disk.0.lock().unwrap().dies_at_sync = None;
            if failed {
                let is_in_file = db.url_record(&key("/1".into())).await.unwrap().is_some();
                in_file.push(is_in_file);
                if !is_in_file {
                    assert_eq!(db.site_counts("s").await.unwrap(), before, "sync {dies_at}");
                }
                assert_eq!(db.record_visits(batch()).await.unwrap(), receipts, "sync {dies_at}");
            }
            assert_eq!(everything(&db).await, after, "sync {dies_at}");
            failed
        });
        if !failed {
            assert!(in_file.contains(&true) && in_file.contains(&false), "{in_file:?}");
            return;
        }
    }
    panic!("the sweep did not reach the end of the commit");
}

#[test]
fn more_urls_than_one_transaction_takes_are_unparked() {
    const URLS: u64 = 50_003;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("crawl.redb");
    let db = RedbStore::open(&path, OpenOptions { sync: false, ..OPTIONS }).unwrap();
    run(async {
        db.host_id("s", "http://a").await.unwrap();
        let parked = |url| Visit { key: key(format!("/{url}")), torrent: None, outlinks: Vec::new(), ..visit(url % 3) };
        db.record_visits(Arc::new((0..URLS).map(parked).collect())).await.unwrap();
        let kept = URLS.div_ceil(3);
        assert_eq!(db.unpark(HostId(0), 0, UnixMillis(8)).await.unwrap(), URLS - kept);
        assert_eq!(db.unpark(HostId(0), 9, UnixMillis(8)).await.unwrap(), kept);
        assert_eq!(db.site_counts("s").await.unwrap().urls_queued, URLS);
        let parked = (0..URLS).map(|url| Visit { at: UnixMillis(50), next: Next::Park(7), ..parked(url) });
        db.record_visits(Arc::new(parked.collect())).await.unwrap();
        assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 0);
        assert_eq!(db.unpark(HostId(0), 8, UnixMillis(8)).await.unwrap(), URLS);
        assert_eq!(db.queued(HostId(0), usize::MAX).await.unwrap().len() as u64, URLS);
    });
}

#[test]
fn long_urls_are_unparked_in_transactions_of_bounded_bytes() {
    const URLS: u64 = 4_000;
    let disk = Shared::default();
    let db = open_on(&disk).unwrap();
    run(async {
        db.host_id("s", "http://a").await.unwrap();
        let folder = "d".repeat(4_000);
        let parked = |url| Visit {
            key: key(format!("/{folder}/{url}")),
            next: Next::Park(7),
            torrent: None,
            outlinks: Vec::new(),
            ..visit(0)
        };
        db.record_visits(Arc::new((0..URLS).map(parked).collect())).await.unwrap();
        let syncs = || disk.0.lock().unwrap().syncs;
        let before = syncs();
        assert_eq!(db.unpark(HostId(0), 8, UnixMillis(8)).await.unwrap(), URLS);
        // 16 MB; a commit is one or two syncs.
        assert!(syncs() - before >= 4, "{} syncs", syncs() - before);
        assert_eq!(db.site_counts("s").await.unwrap().urls_queued, URLS);
    });
}

#[test]
fn the_notes_of_a_site_cost_one_commit() {
    let disk = Shared::default();
    let db = open_on(&disk).unwrap();
    run(async {
        let syncs = || disk.0.lock().unwrap().syncs;
        let before = syncs();
        db.put_note("s", "n", vec![1]).await.unwrap();
        let of_one = syncs() - before;
        let before = syncs();
        db.put_notes("s", (0..5).map(|n| (format!("n{n}"), vec![n])).collect()).await.unwrap();
        assert_eq!(syncs() - before, of_one);
    });
}

/// Two hundred sites that start at once: each write is on disk when its call returns, and they share the syncs.
#[test]
fn small_writes_that_come_together_share_their_syncs_and_each_is_durable() {
    const SITES: usize = 200;
    let disk = Shared::default();
    let db = Arc::new(open_on(&disk).unwrap());
    let syncs = || disk.0.lock().unwrap().syncs;
    let before = syncs();
    run(db.put_note("alone", "n", vec![1])).unwrap();
    let of_one = syncs() - before;
    disk.0.lock().unwrap().sync_time = Duration::from_millis(5);
    let before = syncs();
    run(async {
        let sites = (0..SITES).map(|site| {
            let (db, disk) = (Arc::clone(&db), disk.clone());
            tokio::spawn(async move {
                let site = format!("s{site}");
                let host = db.host_id(&site, "http://a").await.unwrap();
                db.put_note(&site, "n", vec![1]).await.unwrap();
                db.block_host_until(host, UnixMillis(7), "503", 1).await.unwrap();
                // What the disk would have after a power loss now.
                if host.0 % 50 == 0 {
                    let after = Shared(Arc::new(Mutex::new(Disk {
                        now: disk.0.lock().unwrap().synced.clone(),
                        ..Disk::default()
                    })));
                    let db = open_on(&after).unwrap();
                    assert_eq!(db.note(&site, "n").await.unwrap(), Some(vec![1]));
                    let row = db.hosts().await.unwrap().into_iter().find(|row| *row.site == *site).unwrap();
                    assert_eq!((row.id, row.complaints), (host, 1));
                }
            })
        });
        for site in sites.collect::<Vec<_>>() {
            site.await.unwrap();
        }
    });
    let shared = syncs() - before;
    // How many coincide is up to the machine; without sharing it would be this many.
    assert!(shared < SITES * 3 * of_one, "{shared} syncs for {} writes, {of_one} for one", SITES * 3);
}

#[test]
fn a_full_disk_is_told_and_the_crawl_goes_on_when_there_is_room() {
    let disk = Shared::default();
    let db = open_on(&disk).unwrap();
    run(async {
        db.host_id("s", "http://a").await.unwrap();
        db.record_visits(vec![visit(0)].into()).await.unwrap();
        let room = disk.0.lock().unwrap().now.len();
        disk.0.lock().unwrap().bytes_max = Some(room);
        let mut reported = 1;
        let error = loop {
            // Each batch is larger than the previous one, until one does not fit.
            let mut large = visit(reported);
            let link = large.outlinks[0].clone();
            let links = (0..5_000 * reported)
                .map(|number| Discovered { key: key(format!("/large/{reported}/{number}")), ..link.clone() });
            large.key = key(format!("/large/{reported}"));
            large.torrent = None;
            large.outlinks = links.collect();
            match db.record_visits(vec![large].into()).await {
                Ok(_) => reported += 1,
                Err(error) => break error,
            }
            assert!(reported < 50, "the disk never was full");
        };
        assert!(matches!(error, CrawlDbError::Storage { full: true, .. }), "{error}");
        let lost = db.url_record(&key(format!("/large/{reported}"))).await;
        assert!(matches!(lost, Ok(None) | Err(CrawlDbError::Storage { full: true, .. })), "{lost:?}");
        disk.0.lock().unwrap().bytes_max = None;
        assert!(db.url_record(&key("/0".into())).await.unwrap().is_some());
        db.record_visits(vec![visit(1)].into()).await.unwrap();
        assert!(db.known_torrents(vec![torrent(1)]).await.unwrap()[0].is_some());
    });
}

#[test]
fn a_read_only_disk_is_told() {
    let factory: BackendFactory = Box::new(|| Err(io::ErrorKind::ReadOnlyFilesystem.into()));
    let error = RedbStore::open_with(Path::new("disk"), OPTIONS, factory).err().unwrap();
    assert!(matches!(error, CrawlDbError::Storage { full: false, .. }), "{error}");
    // A folder that cannot be created.
    let error = RedbStore::open(Path::new("/proc/gleaner/crawl.redb"), OPTIONS).err().unwrap();
    assert!(error.to_string().starts_with("/proc/gleaner/crawl.redb: "), "{error}");
}

/// The power is lost at each sync of the takeover in turn, on a disk that keeps what was never synced, or loses it.
#[test]
fn a_database_of_schema_3_has_its_torrents_by_time_whatever_sync_the_power_is_lost_at() {
    let newest = |disk: &Shared| {
        let db = open_on(disk).unwrap();
        run(async {
            let rows = db.newest(None, 0, 1_000).await.unwrap();
            assert!(rows.is_sorted_by(|a, b| a.place() > b.place()));
            assert_eq!(rows.len(), db.torrents(None, 1_000).await.unwrap().len());
            rows.len()
        })
    };
    for dies_at in 1..50 {
        let mut taken_over = false;
        for survives in SURVIVORS {
            let disk = Shared::default();
            run(crawl(&open_on(&disk).unwrap())).map_err(|(_, error)| error).unwrap();
            let stored = newest(&disk);
            let db = redb::Database::builder().create_with_backend(disk.clone()).unwrap();
            let txn = db.begin_write().unwrap();
            txn.open_table(redb::TableDefinition::<&str, u64>::new("meta")).unwrap().insert("schema", 3).unwrap();
            assert!(txn.delete_table(redb::TableDefinition::<&[u8], ()>::new("by_time")).unwrap());
            assert!(txn.delete_table(redb::TableDefinition::<u64, &[u8]>::new("changes")).unwrap());
            txn.commit().unwrap();
            drop(db);
            let syncs = disk.0.lock().unwrap().syncs;
            disk.0.lock().unwrap().dies_at_sync = Some(syncs + dies_at);
            taken_over = open_on(&disk).is_ok();
            disk.0.lock().unwrap().power_off(survives);
            assert_eq!((newest(&disk), stored > 0), (stored, true), "sync {dies_at}");
        }
        if taken_over {
            assert!(dies_at > 1, "the sweep began behind the takeover");
            return;
        }
    }
    panic!("the sweep did not reach the end of the takeover");
}

#[test]
fn a_database_of_schema_1_is_taken_over_whatever_sync_the_power_is_lost_at() {
    for dies_at in 1..50 {
        let mut taken_over = false;
        for survives in SURVIVORS {
            let disk = Shared::default();
            crawldb_schema::write_schema_1(disk.clone());
            let syncs = disk.0.lock().unwrap().syncs;
            disk.0.lock().unwrap().dies_at_sync = Some(syncs + dies_at);
            taken_over = open_on(&disk).is_ok();
            disk.0.lock().unwrap().power_off(survives);
            run(check_schema_1(&open_on(&disk).unwrap_or_else(|error| panic!("sync {dies_at}: {error}"))));
        }
        if taken_over {
            assert!(dies_at > 1, "the sweep began behind the takeover");
            return;
        }
    }
    panic!("the sweep did not reach the end of the takeover");
}
