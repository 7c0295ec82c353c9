//! The crawl's database in the simulation: a real store behind a disk with latency and planned failures, with a record of
//! every committed visit.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

use async_trait::async_trait;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{BackendFactory, OpenOptions, RedbStore};
use gleaner_store::crawldb::update::{UpdateDb, UpdateRow};
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;

use super::plan::{Millis, Store, StoreFault};
use super::plug::Plug;
use super::random::{Random, mix};
use super::wire::SimClock;

/// The events of a URL in the database, in order.
#[derive(Clone, Debug)]
pub enum Event {
    Visited {
        visit: Box<Visit>,
        outcome: Outcome,
    },
    /// Queued for this time, by `make_due` or by the increment.
    MadeDue(UrlKey, UnixMillis),
    /// URLs parked on this host under another token are queued again.
    Unparked(HostId),
    /// All URLs of a host that waited for a time were made due.
    BroughtForward(HostId),
    Blocked(HostId, UnixMillis),
}

/// An event with its time and its life.
#[derive(Clone, Debug)]
pub struct Told {
    pub at: Millis,
    pub wall: UnixMillis,
    pub life: u64,
    pub event: Event,
}

/// Survives the lives of the process.
pub struct Record {
    pub clock: Arc<SimClock>,
    pub life: AtomicU64,
    pub healed: AtomicBool,
    seed: u64,
    faults: Vec<StoreFault>,
    calls: Mutex<BTreeMap<&'static str, u64>>,
    told: Mutex<Vec<Told>>,
    keys: Mutex<BTreeSet<UrlKey>>,
    committed: Mutex<BTreeSet<(UrlKey, UnixMillis)>>,
    /// Calls that failed as planned.
    pub failed: AtomicU64,
}

impl Record {
    pub fn new(clock: Arc<SimClock>, seed: u64, faults: Vec<StoreFault>) -> Self {
        Self {
            clock,
            life: AtomicU64::new(0),
            healed: AtomicBool::new(false),
            seed,
            faults,
            calls: Mutex::default(),
            told: Mutex::default(),
            keys: Mutex::default(),
            committed: Mutex::default(),
            failed: AtomicU64::new(0),
        }
    }

    pub fn told(&self) -> Vec<Told> {
        self.told.lock().unwrap().clone()
    }

    /// Every URL that the database was ever given.
    pub fn keys(&self) -> BTreeSet<UrlKey> {
        self.keys.lock().unwrap().clone()
    }

    fn tell(&self, event: Event) {
        let told =
            Told { at: self.clock.elapsed(), wall: self.clock.now(), life: self.life.load(Ordering::Relaxed), event };
        self.told.lock().unwrap().push(told);
    }

    /// Of the increment's rows those that ask for a page that was read before.
    pub fn asks_again(&self, news: &[UpdateRow]) {
        for row in news.iter().filter(|row| row.again) {
            self.tell(Event::MadeDue(row.key.clone(), row.found));
        }
    }

    fn know<'a>(&self, keys: impl Iterator<Item = &'a UrlKey>) {
        self.keys.lock().unwrap().extend(keys.cloned());
    }

    /// Counts a call; fails if the plan says that it fails without effect.
    fn call(&self, name: &'static str) -> Result<u64, CrawlDbError> {
        let nth = {
            let mut calls = self.calls.lock().unwrap();
            let nth = calls.entry(name).or_default();
            *nth += 1;
            *nth
        };
        self.fails(name, nth, false)?;
        Ok(nth)
    }

    /// Fails if the plan says that the call takes effect and its response is lost: a sync that reports an error for data
    /// that is on disk.
    fn fails_behind(&self, name: &'static str, nth: u64) -> Result<(), CrawlDbError> {
        self.fails(name, nth, true)
    }

    fn fails(&self, name: &'static str, nth: u64, behind: bool) -> Result<(), CrawlDbError> {
        let fails = |fault: &StoreFault| {
            fault.call == name && fault.behind == behind && (fault.nth..fault.nth + fault.times).contains(&nth)
        };
        if self.healed.load(Ordering::Relaxed) || !self.faults.iter().any(fails) {
            return Ok(());
        }
        self.failed.fetch_add(1, Ordering::Relaxed);
        let detail = format!("simulated fault at call {nth} of {name}");
        Err(CrawlDbError::Storage { path: "sim".into(), detail, full: true })
    }
}

/// The bytes of a database file in memory: what a dying process leaves.
#[derive(Clone, Default)]
pub struct FileInMemory(Arc<Mutex<Bytes>>);

#[derive(Default)]
struct Bytes {
    now: Vec<u8>,
    /// Undo records of the writes since the last sync, in order.
    undo: Vec<Undo>,
    /// True from a power loss until a process opens the file: the previous process can no longer write.
    is_off: bool,
}

enum Undo {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl std::fmt::Debug for FileInMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("FileInMemory")
    }
}

impl redb::StorageBackend for FileInMemory {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let bytes = self.0.lock().unwrap();
        let at = offset as usize;
        out.copy_from_slice(bytes.now.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        bytes.powered()?.set_len(len as usize);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.0.lock().unwrap().powered()?.undo.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        let bytes = bytes.powered()?;
        let at = offset as usize;
        let end = at + data.len();
        if bytes.now.len() < end {
            bytes.set_len(end);
        }
        let before = bytes.now[at..end].to_vec();
        bytes.undo.push(Undo::Bytes(at, before));
        bytes.now[at..end].copy_from_slice(data);
        Ok(())
    }
}

impl Bytes {
    fn powered(&mut self) -> io::Result<&mut Self> {
        if self.is_off { Err(io::Error::other("the power is off")) } else { Ok(self) }
    }

    fn set_len(&mut self, len: usize) {
        let before = self.now.len();
        if len < before {
            self.undo.push(Undo::Bytes(len, self.now[len..].to_vec()));
        }
        self.undo.push(Undo::Length(before));
        self.now.resize(len, 0);
    }
}

impl FileInMemory {
    fn factory(&self) -> BackendFactory {
        let file = self.clone();
        Box::new(move || {
            file.0.lock().unwrap().is_off = false;
            Ok(Box::new(file.clone()))
        })
    }

    /// Power loss: all writes since the last sync are lost.
    pub fn power_off(&self) {
        let mut bytes = self.0.lock().unwrap();
        for undo in std::mem::take(&mut bytes.undo).into_iter().rev() {
            match undo {
                Undo::Length(length) => bytes.now.resize(length, 0),
                Undo::Bytes(at, before) => bytes.now[at..at + before.len()].copy_from_slice(&before),
            }
        }
        bytes.is_off = true;
    }

    /// Opens it like a new process. Nothing waits for a disk here, so its calls complete at once.
    pub fn open_update(&self) -> Arc<UpdateDb> {
        let options = OpenOptions { cache_bytes: 1 << 20, sync: false };
        Arc::new(UpdateDb::open_with(Path::new("update"), options, self.factory()).unwrap())
    }
}

/// The machine's disk; each life opens it.
pub enum Disk {
    /// The model only forgets the leases, when their owner dies.
    Memory(Arc<MemoryStore>),
    Redb(FileInMemory),
}

impl Disk {
    pub fn new(store: Store) -> Self {
        match store {
            Store::Memory => Self::Memory(Arc::new(MemoryStore::new())),
            Store::Redb => Self::Redb(FileInMemory::default()),
        }
    }

    /// Power loss; what the model reported as committed is kept.
    pub fn power_off(&self) {
        if let Self::Redb(file) = self {
            file.power_off();
        }
    }

    /// Opens the store like a new process.
    pub fn open(&self) -> Arc<dyn CrawlDb> {
        match self {
            Self::Memory(store) => Arc::clone(store) as Arc<dyn CrawlDb>,
            Self::Redb(file) => {
                let options = OpenOptions { cache_bytes: 1 << 20, sync: false };
                Arc::new(RedbStore::open_with(Path::new("sim"), options, file.factory()).unwrap())
            }
        }
    }
}

struct Parked(std::thread::Thread);

impl Wake for Parked {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a store's blocking thread synchronously: virtual time stands still, and nothing overtakes the call, so
/// that a run is a function of its seed.
fn at_once<T>(call: impl Future<Output = T>) -> T {
    let waker = Waker::from(Arc::new(Parked(std::thread::current())));
    let mut call = std::pin::pin!(tokio::task::unconstrained(call));
    let mut context = Context::from_waker(&waker);
    if let Poll::Ready(done) = call.as_mut().poll(&mut context) {
        return done;
    }
    Plug::pulled_while(|| {
        loop {
            if let Poll::Ready(done) = call.as_mut().poll(&mut context) {
                return done;
            }
            std::thread::park();
        }
    })
}

/// Lets everything settle that can happen now: tasks woken by the archive's thread then always resume last, whenever
/// they were woken.
async fn settle() {
    for _ in 0..16 {
        tokio::task::yield_now().await;
    }
}

/// The store of one life.
pub struct Watched {
    pub db: Arc<dyn CrawlDb>,
    pub record: Arc<Record>,
}

impl Watched {
    /// The committer's calls have the latency of a disk.
    async fn takes_time(&self, nth: u64) {
        let pause = Random::new(mix(self.record.seed, 0xd15c + nth)).pick(&[1, 2, 5, 20, 250]);
        tokio::time::sleep(Duration::from_millis(pause)).await;
        settle().await;
    }
}

#[async_trait]
impl Reader for Watched {
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError> {
        at_once(self.db.hosts())
    }

    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError> {
        at_once(self.db.site_counts(site))
    }

    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError> {
        at_once(self.db.torrents(after, rows_max))
    }

    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError> {
        at_once(self.db.newest(before, skip, rows_max))
    }

    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError> {
        at_once(self.db.torrents_at(infohashes))
    }

    async fn labels(&self) -> Result<SiteLabels, CrawlDbError> {
        at_once(self.db.labels())
    }

    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError> {
        at_once(self.db.changes(after, rows_max))
    }

    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError> {
        at_once(self.db.magnets(after, rows_max))
    }

    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError> {
        at_once(self.db.magnets_at(infohashes))
    }

    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError> {
        at_once(self.db.listings(site, after, rows_max))
    }

    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError> {
        at_once(self.db.url_looks(site, after, rows_max))
    }

    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError> {
        at_once(self.db.not_whole(site))
    }

    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError> {
        self.record.call("note")?;
        at_once(self.db.note(site, name))
    }
}

#[async_trait]
impl CrawlDb for Watched {
    async fn host_id(&self, site: &str, origin: &str) -> Result<HostId, CrawlDbError> {
        self.record.call("host_id")?;
        at_once(self.db.host_id(site, origin))
    }

    async fn add_discovered(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<u64, CrawlDbError> {
        self.record.call("add_discovered")?;
        self.record.know(batch.iter().map(|found| &found.key));
        at_once(self.db.add_discovered(batch, now))
    }

    async fn make_due(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<(), CrawlDbError> {
        self.record.call("make_due")?;
        self.record.know(batch.iter().map(|found| &found.key));
        for found in &batch {
            self.record.tell(Event::MadeDue(found.key.clone(), found.due));
        }
        at_once(self.db.make_due(batch, now))
    }

    async fn unpark(&self, host: HostId, token: u64, now: UnixMillis) -> Result<u64, CrawlDbError> {
        self.record.call("unpark")?;
        let unparked = at_once(self.db.unpark(host, token, now))?;
        if unparked > 0 {
            self.record.tell(Event::Unparked(host));
        }
        Ok(unparked)
    }

    async fn bring_forward(&self, host: HostId) -> Result<(), CrawlDbError> {
        self.record.call("bring_forward")?;
        self.record.tell(Event::BroughtForward(host));
        at_once(self.db.bring_forward(host))
    }

    async fn lease_due(&self, request: LeaseRequest) -> Result<Vec<Lease>, CrawlDbError> {
        self.record.call("lease_due")?;
        at_once(self.db.lease_due(request))
    }

    async fn host_due(&self, host: HostId, now: UnixMillis) -> Result<HostDue, CrawlDbError> {
        self.record.call("host_due")?;
        at_once(self.db.host_due(host, now))
    }

    async fn release(&self, owner: Owner, keys: Vec<UrlKey>) -> Result<(), CrawlDbError> {
        self.record.call("release")?;
        at_once(self.db.release(owner, keys))
    }

    async fn release_all(&self, owner: Owner, hosts: &HashSet<HostId>) -> Result<(), CrawlDbError> {
        self.record.call("release_all")?;
        at_once(self.db.release_all(owner, hosts))
    }

    async fn record_visits(&self, visits: Arc<Vec<Visit>>) -> Result<Vec<Receipt>, CrawlDbError> {
        let called = self.record.call("record_visits");
        self.takes_time(*called.as_ref().unwrap_or(&0)).await;
        let nth = called?;
        for visit in visits.iter() {
            self.record.know(std::iter::once(&visit.key).chain(visit.outlinks.iter().map(|found| &found.key)));
        }
        let receipts = at_once(self.db.record_visits(Arc::clone(&visits)))?;
        for (visit, receipt) in visits.iter().zip(&receipts) {
            // A batch that was committed although its commit seemed to fail is sent a second time.
            if self.record.committed.lock().unwrap().insert((visit.key.clone(), visit.at)) {
                self.record.tell(Event::Visited { visit: Box::new(visit.clone()), outcome: receipt.outcome });
            }
        }
        self.record.fails_behind("record_visits", nth)?;
        Ok(receipts)
    }

    async fn known_torrents(&self, infohashes: Vec<Infohashes>) -> Result<Vec<Option<Infohashes>>, CrawlDbError> {
        let called = self.record.call("known_torrents");
        self.takes_time(*called.as_ref().unwrap_or(&0)).await;
        called?;
        at_once(self.db.known_torrents(infohashes))
    }

    async fn block_host_until(
        &self,
        host: HostId,
        until: UnixMillis,
        reason: &str,
        complaints: u32,
    ) -> Result<(), CrawlDbError> {
        self.record.call("block_host_until")?;
        at_once(self.db.block_host_until(host, until, reason, complaints))?;
        self.record.tell(Event::Blocked(host, until));
        Ok(())
    }

    async fn forgive_host(&self, host: HostId) -> Result<(), CrawlDbError> {
        self.record.call("forgive_host")?;
        at_once(self.db.forgive_host(host))
    }

    async fn put_notes(&self, site: &str, notes: Vec<(String, Vec<u8>)>) -> Result<(), CrawlDbError> {
        self.record.call("put_notes")?;
        at_once(self.db.put_notes(site, notes))
    }

    async fn add_crawl_time(&self, site: &str, crawl_ms: u64) -> Result<(), CrawlDbError> {
        self.record.call("add_crawl_time")?;
        at_once(self.db.add_crawl_time(site, crawl_ms))
    }

    async fn url_record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError> {
        self.record.call("url_record")?;
        at_once(self.db.url_record(key))
    }

    async fn url_records(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UrlRecord>>, CrawlDbError> {
        self.record.call("url_records")?;
        at_once(self.db.url_records(keys))
    }

    async fn queued(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        at_once(self.db.queued(host, rows_max))
    }

    async fn planned(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError> {
        at_once(self.db.planned(host, rows_max))
    }

    async fn forget_torrent(&self, infohashes: Infohashes, now: UnixMillis) -> Result<(), CrawlDbError> {
        at_once(self.db.forget_torrent(infohashes, now))
    }

    async fn adopt_torrent(&self, facts: TorrentFacts, now: UnixMillis) -> Result<(), CrawlDbError> {
        at_once(self.db.adopt_torrent(facts, now))
    }
}

/// Everything that the interface shows, one line each: equal for equal databases.
pub async fn dump(db: &dyn CrawlDb, keys: &BTreeSet<UrlKey>, sites: &[&str]) -> Vec<String> {
    let hosts = db.hosts().await.unwrap();
    let mut lines: Vec<String> = hosts.iter().map(|host| format!("{host:?}")).collect();
    for key in keys {
        lines.push(format!("{key:?} {:?}", db.url_record(key).await.unwrap()));
    }
    for host in &hosts {
        let queued = db.queued(host.id, usize::MAX).await.unwrap();
        lines.extend(queued.iter().map(|row| format!("queued {row:?}")));
    }
    for site in sites {
        lines.push(format!("{site} {:?}", db.site_counts(site).await.unwrap()));
        let listings = db.listings(site, None, usize::MAX).await.unwrap();
        lines.extend(listings.iter().map(|row| format!("{row:?}")));
    }
    lines.extend(db.torrents(None, usize::MAX).await.unwrap().iter().map(|row| format!("{row:?}")));
    lines.extend(db.magnets(None, usize::MAX).await.unwrap().iter().map(|row| format!("{row:?}")));
    lines
}
