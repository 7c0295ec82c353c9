//! The crawl database in one redb file. `docs/design/crawldb.md` describes the file and its guarantees.
//!
//! Each call is one unit of work on a blocking thread. Writers take turns at one mutex, and a call returns only
//! after its change is durable: `record_visits` commits durably, and concurrent small writes share one sync. Readers
//! work on snapshots in parallel. Leases, hosts and counts are held in memory: leases because they end with the process
//! anyway, the others because every call needs them.
//!
//! A disk error fails the call that met it; the next call reopens the file (`file`) and reloads everything held in
//! memory except the leases.

mod codec;
pub(super) mod copy;
pub(super) mod file;
mod harvest;
mod known;
mod labels;
mod leases;
mod moves;
mod not_whole;
mod notes;
pub(super) mod open;
mod queue;
mod read;
mod record;
mod seen;
pub(super) mod tables;
mod times;
mod unwritten;
mod urls;

use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard};

use async_trait::async_trait;
use redb::{Database, ReadableDatabase, WriteTransaction};

use self::codec::QueueRow;
pub use self::copy::{Bounds, CRAWL_SCHEMA, Snapshot};
use self::file::File;
use self::harvest::Harvest;
use self::known::{CRAWL_MS, CachedTables};
use self::leases::Leases;
use self::notes::Memos;
use self::open::Fault;
pub use self::open::{BackendFactory, OpenOptions};
use self::record::InDoubt;
use self::seen::UrlFingerprints;
use self::tables::{HOSTS, QUEUE};
use self::urls::{UrlChanges, UrlWrites};
use super::record::*;
use super::{CrawlDb, CrawlDbError, HostDue, LeaseRequest, Owner, Reader, check_notes};
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// See the module.
pub struct RedbStore {
    core: Arc<Core>,
}

/// Locks are taken in the order of the fields.
struct Core {
    file: File,
    /// Held while visits are recorded.
    in_doubt: Mutex<InDoubt>,
    /// Held while the small writes committed so far are made durable.
    syncing: Mutex<()>,
    /// Number of commits so far, and of those known to be durable. Both change only under `writer`.
    commits: AtomicU64,
    durable: AtomicU64,
    /// Held while writing.
    writer: Mutex<UrlFingerprints>,
    known: RwLock<CachedTables>,
    leases: Mutex<Leases>,
}

impl RedbStore {
    /// Opens or creates the database at `path`, with its folder. Blocks for a few reads and one commit, also after a
    /// crash of the process that held it.
    ///
    /// # Errors
    /// `Held`, `NewerSchema`, `Corrupt` or `Storage`; a file that is not a crawl database is never changed.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, CrawlDbError> {
        file::refuse_newer(path, open::schema_of)?;
        Self::open_with(path, options, open::file_factory(path, options))
    }

    /// Opens an existing database that cannot be written, for reading: the file does not change, and any writes are
    /// discarded with this value.
    ///
    /// # Errors
    /// Same as [`Self::open`].
    pub fn read_only(path: &Path, options: OpenOptions) -> Result<Self, CrawlDbError> {
        Self::open_with(path, options, open::reading_factory(path))
    }

    /// Like [`Self::open`], over storage that `factory` creates at each opening; `path` is only used in messages.
    ///
    /// # Errors
    /// Same as [`Self::open`].
    pub fn open_with(path: &Path, options: OpenOptions, factory: BackendFactory) -> Result<Self, CrawlDbError> {
        let core = Core {
            file: File::new(path, options, factory),
            in_doubt: Mutex::default(),
            syncing: Mutex::default(),
            commits: AtomicU64::new(0),
            durable: AtomicU64::new(0),
            writer: Mutex::new(UrlFingerprints::new()),
            known: RwLock::default(),
            leases: Mutex::default(),
        };
        core.open()?;
        Ok(Self { core: Arc::new(core) })
    }

    /// Runs `work` on a blocking thread.
    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core, &Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, CrawlDbError> {
        let core = Arc::clone(&self.core);
        let joined = tokio::task::spawn_blocking(move || core.with_file(work)).await;
        joined.unwrap_or_else(|error| Err(self.core.file.cut_short(&error)))
    }
}

impl Core {
    /// Runs `work` on the open file, opening it first if necessary.
    fn with_file<T>(&self, work: impl FnOnce(&Self, &Database) -> Result<T, Fault>) -> Result<T, CrawlDbError> {
        self.open()?;
        self.file.with(|db| work(self, db))
    }

    /// Opens the file if it is closed, and loads the state that is held in memory.
    fn open(&self) -> Result<(), CrawlDbError> {
        self.file.open(open::read, |known| {
            // Commits that never became durable are lost.
            *self.writer() = UrlFingerprints::new();
            *self.known.write().unwrap_or_else(PoisonError::into_inner) = known;
            self.leases().rescan();
        })
    }

    // A poisoned lock is used as it is: its data changes only after a commit, in steps that do not panic.
    fn known(&self) -> RwLockReadGuard<'_, CachedTables> {
        self.known.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn leases(&self) -> MutexGuard<'_, Leases> {
        self.leases.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn writer(&self) -> MutexGuard<'_, UrlFingerprints> {
        self.writer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// One write: `work` fills a transaction, which is committed durably; then memory is updated.
    fn write<T>(
        &self,
        db: &Database,
        work: impl FnOnce(&WriteTransaction, &mut UrlWrites<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut seen = self.writer();
        let done = self.write_in(tables::begin(db)?, &mut seen, work)?;
        self.durable.store(self.commits.load(Ordering::Relaxed), Ordering::Release);
        Ok(done)
    }

    /// A small write: `work` commits it in a transaction that a crash may undo, and one sync makes all earlier commits
    /// durable. A process may start two hundred sites at once, each with a few of these.
    fn write_small<T>(
        &self,
        db: &Database,
        work: impl FnOnce(WriteTransaction, &mut UrlFingerprints) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let mut seen = self.writer();
        // Counted before memory is updated: until the sync is done, nobody takes it for durable.
        let commit = self.commits.fetch_add(1, Ordering::AcqRel) + 1;
        let done = work(tables::begin_volatile(db)?, &mut seen)?;
        drop(seen);
        self.sync(db, commit)?;
        Ok(done)
    }

    /// True if no small write waits for its sync, which may still fail.
    fn is_durable(&self) -> bool {
        self.durable.load(Ordering::Acquire) >= self.commits.load(Ordering::Acquire)
    }

    /// Makes a commit and all before it durable; a caller that waited for its turn may find its commit done.
    fn sync(&self, db: &Database, commit: u64) -> Result<(), Fault> {
        let _turn = self.syncing.lock().unwrap_or_else(PoisonError::into_inner);
        if self.durable.load(Ordering::Acquire) >= commit {
            return Ok(());
        }
        let _seen = self.writer();
        tables::begin(db)?.commit()?;
        self.durable.store(self.commits.load(Ordering::Relaxed), Ordering::Release);
        Ok(())
    }

    fn write_in<T>(
        &self,
        txn: WriteTransaction,
        seen: &mut UrlFingerprints,
        work: impl FnOnce(&WriteTransaction, &mut UrlWrites<'_>) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        let known = self.known();
        let mut writes = UrlWrites::open(&txn, &known, seen)?;
        let done = work(&txn, &mut writes)?;
        let UrlChanges { mut queue, memos, not_whole, labels, mut tally, next_seq, fresh } = writes.finish();
        queue.apply(&txn)?;
        memos.apply(&txn)?;
        not_whole.apply(&txn, &known, &mut tally)?;
        labels.apply(&txn)?;
        known.write(&txn, &tally, next_seq)?;
        drop(known);
        txn.commit()?;
        self.known.write().unwrap_or_else(PoisonError::into_inner).apply(&tally, labels.fresh, next_seq);
        fresh.into_iter().for_each(|mark| seen.insert(mark));
        queue.tell(&mut self.leases());
        Ok(done)
    }

    /// Fails for an unknown host number, before anything is written.
    fn check_hosts<'k>(&self, keys: impl Iterator<Item = &'k UrlKey>) -> Result<(), Fault> {
        let known = self.known();
        let mut keys = keys.map(|key| known.host(key.host));
        keys.try_for_each(|host| host.map(|_| ()))
    }

    fn put_host(&self, txn: WriteTransaction, host: HostRow) -> Result<(), Fault> {
        let mut value = Vec::new();
        codec::put_host(&mut value, &host);
        txn.open_table(HOSTS)?.insert(host.id.0, value.as_slice())?;
        txn.commit()?;
        let mut known = self.known.write().unwrap_or_else(PoisonError::into_inner);
        match known.hosts.get_mut(host.id.0 as usize) {
            Some(row) => *row = host,
            None => known.add_host(host),
        }
        Ok(())
    }

    fn host_id(&self, db: &Database, site: &str, origin: &str) -> Result<HostId, Fault> {
        self.write_small(db, |txn, _| {
            let known = self.known();
            if let Some(id) = known.host_id(site, origin) {
                return Ok(id);
            }
            let id = u32::try_from(known.hosts.len()).ok().filter(|&id| id < u32::MAX);
            let id = HostId(id.ok_or_else(|| Fault::Damaged("all host numbers are used up".into()))?);
            drop(known);
            let (site, origin, blocked_reason) = (site.into(), origin.into(), "".into());
            self.put_host(
                txn,
                HostRow { id, site, origin, blocked_until: UnixMillis(0), blocked_reason, complaints: 0 },
            )?;
            Ok(id)
        })
    }

    /// Changes the stored state of a host.
    fn change_host(&self, db: &Database, host: HostId, change: impl FnOnce(&mut HostRow)) -> Result<(), Fault> {
        self.write_small(db, |txn, _| {
            let mut row = self.known().host(host)?.clone();
            change(&mut row);
            self.put_host(txn, row)
        })
    }

    fn record_visits(&self, db: &Database, visits: &[Visit]) -> Result<Vec<Receipt>, Fault> {
        let mut in_doubt = self.in_doubt.lock().unwrap_or_else(PoisonError::into_inner);
        let mut receipts = Vec::new();
        let done = self.write(db, |txn, writes| {
            receipts = record::record(txn, writes, visits, &in_doubt)?;
            Ok(())
        });
        match done {
            Ok(()) => in_doubt.recorded(visits),
            Err(_) if receipts.is_empty() => {}
            Err(_) => in_doubt.failed(visits, &receipts),
        }
        done.map(|()| receipts)
    }

    fn add_crawl_time(&self, db: &Database, site: &str, crawl_ms: u64) -> Result<(), Fault> {
        // Take the turn first: a reader of known hosts must not wait behind a writer that waits for a batch.
        self.write_small(db, |txn, seen| {
            let site = self.known.write().unwrap_or_else(PoisonError::into_inner).site_number(site);
            self.write_in(txn, seen, |_, writes| {
                writes.changes.tally.add_size(site, CRAWL_MS, crawl_ms);
                Ok(())
            })
        })
    }

    fn lease_due(&self, db: &Database, request: LeaseRequest) -> Result<Vec<Lease>, Fault> {
        let LeaseRequest { host, owner, now, deadline, urls_max, .. } = request;
        if urls_max == 0 {
            return self.known().host(host).map(|_| Vec::new());
        }
        self.promote(db, host, now)?;
        // The snapshot is taken under the lock: a commit that it lacks has not yet ended its leases.
        let mut leases = self.leases();
        let held = leases.host(host);
        held.expire(now);
        let txn = db.begin_read()?;
        let queue = txn.open_table(QUEUE)?;
        let mut memos = Memos::of(&txn);
        let mut leased = Vec::new();
        read::free_rows(&queue, held, &request, |held, at, value| {
            let row = QueueRow::decode(value).ok_or_else(|| Fault::row("queue"))?;
            let memo = if row.memo { memos.get(host, row.path)? } else { None };
            held.take(at, row.path, owner, deadline);
            let QueueRow { rank, attempts, depth, .. } = row;
            let key = UrlKey { host, path: row.path.into() };
            let via = row.via.map(Into::into);
            leased.push(Lease { key, depth, rank, attempts, via, memo, deadline, found: None, seq: at.1 });
            Ok(())
        })?;
        Ok(leased)
    }

    fn host_due(&self, db: &Database, host: HostId, now: UnixMillis) -> Result<HostDue, Fault> {
        self.known().host(host)?;
        let mut leases = self.leases();
        let held = leases.host(host);
        held.expire(now);
        read::host_due(db, host, held, now)
    }

    fn forget_torrent(&self, db: &Database, infohashes: &Infohashes, now: UnixMillis) -> Result<(), Fault> {
        self.write(db, |txn, writes| {
            let mut sources = Harvest::open(txn, writes.known())?.forget(infohashes, &mut writes.changes.tally)?;
            sources.sort_by(|a, b| (a.host, &a.path).cmp(&(b.host, &b.path)));
            // They are fetched unconditionally.
            let batch: Vec<Discovered> = sources
                .into_iter()
                .map(|found| Discovered {
                    key: UrlKey { host: found.host, path: found.path },
                    depth: 0,
                    rank: 0,
                    due: now,
                    via: found.via,
                    is_target: false,
                    found: None,
                })
                .collect();
            batch.iter().for_each(|found| writes.forget_memo(&found.key));
            writes.make_due(&batch, now, true)
        })
    }
}

#[async_trait]
impl Reader for RedbStore {
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError> {
        self.call(|core, _| Ok(core.known().hosts.clone())).await
    }

    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError> {
        let site = site.to_owned();
        self.call(move |core, _| Ok(core.known().site_counts(&site))).await
    }

    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.call(move |core, db| read::torrents(core, db, after.as_deref(), rows_max)).await
    }

    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.call(move |core, db| times::newest(core, db, before.as_ref(), skip, rows_max)).await
    }

    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError> {
        self.call(move |core, db| times::torrents_at(core, db, &infohashes)).await
    }

    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError> {
        self.call(move |_, db| times::changes(db, after, rows_max)).await
    }

    async fn labels(&self) -> Result<SiteLabels, CrawlDbError> {
        self.call(move |core, db| labels::rows(&core.known(), db)).await
    }

    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError> {
        self.call(move |core, db| read::magnets(core, db, after.as_deref(), rows_max)).await
    }

    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError> {
        self.call(move |core, db| read::magnets_at(core, db, &infohashes)).await
    }

    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError> {
        let site = site.to_owned();
        self.call(move |core, db| read::listings(core, db, &site, after, rows_max)).await
    }

    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError> {
        let site = site.to_owned();
        self.call(move |core, db| read::url_looks(core, db, &site, after, rows_max)).await
    }

    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError> {
        let site = site.to_owned();
        self.call(move |core, db| not_whole::rows(&core.known(), db, &site)).await
    }

    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError> {
        let (site, name) = (site.to_owned(), name.to_owned());
        self.call(move |_, db| notes::note(db, &site, &name)).await
    }
}

#[async_trait]
impl CrawlDb for RedbStore {
    async fn host_id(&self, site: &str, origin: &str) -> Result<HostId, CrawlDbError> {
        let known = self.core.known().host_id(site, origin);
        if let Some(id) = known.filter(|_| self.core.is_durable()) {
            return Ok(id);
        }
        let (site, origin) = (site.to_owned(), origin.to_owned());
        self.call(move |core, db| core.host_id(db, &site, &origin)).await
    }

    async fn add_discovered(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<u64, CrawlDbError> {
        if batch.is_empty() {
            return Ok(0);
        }
        self.call(move |core, db| {
            core.check_hosts(batch.iter().map(|found| &found.key))?;
            let batch: Vec<_> = batch.iter().map(|found| (found, now)).collect();
            core.write(db, |_, writes| {
                let mut added = 0;
                writes.insert_absent(&batch, |_| added += 1)?;
                Ok(added)
            })
        })
        .await
    }

    async fn make_due(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<(), CrawlDbError> {
        if batch.is_empty() {
            return Ok(());
        }
        self.call(move |core, db| {
            core.check_hosts(batch.iter().map(|found| &found.key))?;
            core.write_small(db, |txn, seen| core.write_in(txn, seen, |_, writes| writes.make_due(&batch, now, false)))
        })
        .await
    }

    async fn unpark(&self, host: HostId, token: u64, now: UnixMillis) -> Result<u64, CrawlDbError> {
        self.call(move |core, db| core.unpark(db, host, token, now)).await
    }

    async fn bring_forward(&self, host: HostId) -> Result<(), CrawlDbError> {
        self.call(move |core, db| core.promote(db, host, UnixMillis(u64::MAX))).await
    }

    async fn lease_due(&self, request: LeaseRequest) -> Result<Vec<Lease>, CrawlDbError> {
        self.call(move |core, db| core.lease_due(db, request)).await
    }

    async fn host_due(&self, host: HostId, now: UnixMillis) -> Result<HostDue, CrawlDbError> {
        self.call(move |core, db| core.host_due(db, host, now)).await
    }

    async fn release(&self, owner: Owner, keys: Vec<UrlKey>) -> Result<(), CrawlDbError> {
        let mut leases = self.core.leases();
        for key in keys {
            leases.host(key.host).release(owner, &key.path);
        }
        Ok(())
    }

    async fn release_all(&self, owner: Owner, hosts: &HashSet<HostId>) -> Result<(), CrawlDbError> {
        let mut leases = self.core.leases();
        hosts.iter().for_each(|host| leases.host(*host).release_all(owner));
        Ok(())
    }

    async fn record_visits(&self, visits: Arc<Vec<Visit>>) -> Result<Vec<Receipt>, CrawlDbError> {
        if visits.is_empty() {
            return Ok(Vec::new());
        }
        self.call(move |core, db| {
            for visit in visits.iter() {
                let labelled = visit.labels.iter().map(|label| &label.key);
                let linked = visit.outlinks.iter().map(|link| &link.key);
                core.check_hosts(std::iter::once(&visit.key).chain(linked).chain(labelled))?;
            }
            core.record_visits(db, &visits)
        })
        .await
    }

    async fn known_torrents(&self, infohashes: Vec<Infohashes>) -> Result<Vec<Option<Infohashes>>, CrawlDbError> {
        self.call(move |_, db| read::known_torrents(db, &infohashes)).await
    }

    async fn block_host_until(
        &self,
        host: HostId,
        until: UnixMillis,
        reason: &str,
        complaints: u32,
    ) -> Result<(), CrawlDbError> {
        let reason = reason.into();
        self.call(move |core, db| {
            core.change_host(db, host, |row| {
                (row.blocked_until, row.blocked_reason, row.complaints) = (until, reason, complaints);
            })
        })
        .await
    }

    async fn forgive_host(&self, host: HostId) -> Result<(), CrawlDbError> {
        if self.core.known().host(host).is_ok_and(|row| row.complaints == 0 && row.blocked_until == UnixMillis(0)) {
            return Ok(());
        }
        self.call(move |core, db| {
            core.change_host(db, host, |row| (row.complaints, row.blocked_until) = (0, UnixMillis(0)))
        })
        .await
    }

    async fn put_notes(&self, site: &str, notes: Vec<(String, Vec<u8>)>) -> Result<(), CrawlDbError> {
        check_notes(site, &notes)?;
        if notes.is_empty() {
            return Ok(());
        }
        let site = site.to_owned();
        self.call(move |core, db| core.write_small(db, |txn, _| notes::put_notes(txn, &site, &notes))).await
    }

    async fn add_crawl_time(&self, site: &str, crawl_ms: u64) -> Result<(), CrawlDbError> {
        let site = site.to_owned();
        self.call(move |core, db| core.add_crawl_time(db, &site, crawl_ms)).await
    }

    async fn url_record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError> {
        let key = key.clone();
        self.call(move |_, db| read::url_record(db, &key)).await
    }

    async fn url_records(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UrlRecord>>, CrawlDbError> {
        self.call(move |_, db| read::url_records(db, &keys)).await
    }

    async fn queued(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        self.call(move |_, db| read::queued(db, host, rows_max)).await
    }

    async fn planned(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        self.call(move |_, db| read::planned(db, host, rows_max)).await
    }

    async fn forget_torrent(&self, infohashes: Infohashes, now: UnixMillis) -> Result<(), CrawlDbError> {
        self.call(move |core, db| core.forget_torrent(db, &infohashes, now)).await
    }

    async fn adopt_torrent(&self, facts: TorrentFacts, now: UnixMillis) -> Result<(), CrawlDbError> {
        if facts.infohashes.key().is_empty() {
            return Ok(());
        }
        self.call(move |core, db| {
            core.write(db, |txn, writes| {
                Harvest::open(txn, writes.known())?.adopt(facts, now, &mut writes.changes.tally)
            })
        })
        .await
    }
}
