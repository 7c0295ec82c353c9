//! The update crawldb (ALGORITHMS §6.2, §6.3): URLs that the increment crew has found and not fetched yet. A small, hot
//! file beside the history crawldb, which remains the complete record of URLs.
//!
//! The contract:
//!
//! - **Added rows are on disk when `add` returns.** The page that has the link is recorded in the history crawldb only
//!   then, so that a power loss never leaves a page that was read and links that are unknown.
//! - **History first, then removal.** A URL leaves this file when the history crawldb has a visit of it, or has queued it
//!   ([`UpdateDb::merge`]). Both can be repeated: history inserts only absent URLs. So a removal needs no durable commit;
//!   a URL that a crash restores is known to history, and is removed again.
//! - **The latest first.** [`UpdateDb::lease_latest`] returns the N found last; those of one page in page order.
//! - **Leases live in memory**, as in the history store: they end with the process, or when a site restarts.
//! - **The file belongs to one history crawldb**, whose host numbers it uses: if another one is found beside it,
//!   [`UpdateDb::pair`] empties it.
//!
//! It knows no HTTP, no rules and no clock. One process holds it, like the history crawldb.

mod row;

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use redb::{Database, ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition};

pub use self::row::UpdateRow;
use super::redb_store::copy::Copy;
use super::redb_store::file::File;
use super::redb_store::file::refuse_newer;
use super::redb_store::open::{Fault, file_factory, never_in_use, reading_factory, schema};
use super::redb_store::tables::{begin, begin_volatile};
use super::redb_store::{BackendFactory, OpenOptions};
use super::{CrawlDb, CrawlDbError, HostId, UrlKey, merge::is_keepable};
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// The schema that this code writes, and the highest that it reads.
const SCHEMA: u64 = 1;

const META: TableDefinition<&str, u64> = TableDefinition::new("update_meta");
const META_SCHEMA: &str = "schema";
/// The history crawldb that assigned the host numbers.
const META_PAIR: &str = "pair";
/// Host and path → row.
const FOUND: TableDefinition<(u32, &str), &[u8]> = TableDefinition::new("found");
/// Host, latest first, then in the order of adding → path.
const LATEST: TableDefinition<(u32, u64, u64), &str> = TableDefinition::new("latest");

/// Site and name of the note that identifies the update crawldb in the history crawldb; no site has an empty name.
const PAIR_NOTE: (&str, &str) = ("", "update");

/// A visit that is being recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visited {
    pub key: UrlKey,
    /// When its request began, and when it ended.
    pub began: UnixMillis,
    pub ended: UnixMillis,
}

/// The result of a merge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Merged {
    /// URLs that history did not know.
    pub added: u64,
    /// Pages that history revisits.
    pub again: u64,
    /// Rows that needed nothing any more.
    pub settled: u64,
}

/// See the module.
pub struct UpdateDb {
    core: Arc<Core>,
    /// Held during pairing; true afterwards.
    paired: tokio::sync::Mutex<bool>,
    /// Sites that were told about the lost file; None if it was not lost.
    told_lost: Mutex<Option<HashSet<Box<str>>>>,
}

struct Core {
    file: File,
    memory: Mutex<Memory>,
}

#[derive(Default)]
struct Memory {
    leased: HashSet<UrlKey>,
    /// Rows of each host.
    waiting: HashMap<HostId, u64>,
    next_seq: u64,
}

impl UpdateDb {
    /// Opens or creates the file, with its folder. With `options.sync` off its calls run on the caller's thread, since
    /// none waits for a disk.
    ///
    /// # Errors
    /// `Held`, `NewerSchema`, `Corrupt` or `Storage`; a file of another kind is not changed.
    pub fn open(path: &Path, options: OpenOptions) -> Result<Self, CrawlDbError> {
        refuse_newer(path, schema_of)?;
        Self::open_with(path, options, file_factory(path, options))
    }

    /// Opens an existing file for reading alone: it does not change.
    ///
    /// # Errors
    /// Same as [`Self::open`].
    pub fn read_only(path: &Path, options: OpenOptions) -> Result<Self, CrawlDbError> {
        Self::open_with(path, options, reading_factory(path))
    }

    /// Like [`Self::open`], over storage that `factory` creates at each opening; `path` is only used in messages.
    ///
    /// # Errors
    /// Same as [`Self::open`].
    pub fn open_with(path: &Path, options: OpenOptions, factory: BackendFactory) -> Result<Self, CrawlDbError> {
        let core = Core { file: File::new(path, options, factory), memory: Mutex::default() };
        core.open()?;
        Ok(Self { core: Arc::new(core), paired: tokio::sync::Mutex::new(false), told_lost: Mutex::default() })
    }

    /// Makes sure that the file belongs to this history crawldb; rows of another one are deleted. Each site calls this
    /// before anything else; only the first call has an effect. Returns how many rows were deleted.
    ///
    /// # Errors
    /// Errors of either file.
    pub async fn pair(&self, history: &dyn CrawlDb, now: UnixMillis) -> Result<u64, CrawlDbError> {
        let mut paired = self.paired.lock().await;
        if *paired {
            return Ok(0);
        }
        let (site, name) = PAIR_NOTE;
        let note = history.note(site, name).await?;
        let noted = note.and_then(|note| note.try_into().ok()).map(u64::from_le_bytes);
        let own =
            self.call(|_, db| Ok(db.begin_read()?.open_table(META)?.get(META_PAIR)?.map(|pair| pair.value()))).await?;
        let pair = noted.unwrap_or(now.0);
        if noted.is_none() {
            history.put_note(site, name, pair.to_le_bytes().to_vec()).await?;
        }
        let mut forgotten = 0;
        if own.is_none() && noted.is_some() {
            *self.told_lost() = Some(HashSet::new());
        }
        if own != Some(pair) {
            forgotten = self
                .call(move |core, db| {
                    // Nothing is added before the first pairing.
                    let txn = begin(db)?;
                    let rows = redb::ReadableTableMetadata::len(&txn.open_table(FOUND)?)?;
                    txn.delete_table(FOUND)?;
                    txn.delete_table(LATEST)?;
                    txn.open_table(FOUND)?;
                    txn.open_table(LATEST)?;
                    txn.open_table(META)?.insert(META_PAIR, pair)?;
                    txn.commit()?;
                    core.memory().waiting.clear();
                    Ok(rows)
                })
                .await?;
        }
        *paired = true;
        Ok(forgotten)
    }

    /// True if the history crawldb had another update file, which was lost: only pages that were already read show its URLs.
    /// Each site is told once.
    #[must_use]
    pub fn was_lost_for(&self, site: &str) -> bool {
        self.told_lost().as_mut().is_some_and(|told| told.insert(site.into()))
    }

    fn told_lost(&self) -> MutexGuard<'_, Option<HashSet<Box<str>>>> {
        // A set is consistent at any moment.
        self.told_lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds absent rows in one durable commit; returns how many. Existing rows keep their time, except for pages that are
    /// requested again: they take the new time. A URL over `limits::URL_BYTES_MAX` is skipped.
    ///
    /// # Errors
    /// Errors of the file; then nothing was added, or, if only the disk's last acknowledgement was lost, all of it.
    pub async fn add(&self, rows: Vec<UpdateRow>) -> Result<u64, CrawlDbError> {
        if rows.is_empty() {
            return Ok(0);
        }
        self.call(move |core, db| {
            let mut added = Vec::new();
            let txn = begin(db)?;
            {
                let (mut found, mut latest) = (txn.open_table(FOUND)?, txn.open_table(LATEST)?);
                for row in rows.iter().filter(|row| is_keepable(&row.key)) {
                    let key = (row.key.host.0, &*row.key.path);
                    let known = found.get(key)?.map(|value| UpdateRow::decode(row.key.clone(), value.value()));
                    match known {
                        None => added.push(row.key.host),
                        Some(None) => return Err(Fault::row("found")),
                        Some(Some((known, seq))) if row.again && known.again && row.found > known.found => {
                            latest.remove((row.key.host.0, !known.found.0, seq))?;
                        }
                        Some(Some(_)) => continue,
                    }
                    let seq = core.next_seq();
                    found.insert(key, row.encode(seq).as_slice())?;
                    latest.insert((row.key.host.0, !row.found.0, seq), &*row.key.path)?;
                }
            }
            txn.commit()?;
            let mut memory = core.memory();
            added.iter().for_each(|host| *memory.waiting.entry(*host).or_default() += 1);
            Ok(added.len() as u64)
        })
        .await
    }

    /// Leases up to `rows_max` rows of a host that were found last and are not leased.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn lease_latest(&self, host: HostId, rows_max: usize) -> Result<Vec<UpdateRow>, CrawlDbError> {
        if self.waiting(host) == 0 {
            return Ok(Vec::new());
        }
        self.call(move |core, db| {
            let txn = db.begin_read()?;
            let (found, latest) = (txn.open_table(FOUND)?, txn.open_table(LATEST)?);
            let mut memory = core.memory();
            let mut rows = Vec::new();
            for entry in latest.range((host.0, 0, 0)..=(host.0, u64::MAX, u64::MAX))? {
                if rows.len() == rows_max {
                    break;
                }
                let key = UrlKey { host, path: entry?.1.value().into() };
                if memory.leased.contains(&key) {
                    continue;
                }
                let value = found.get((host.0, &*key.path))?.ok_or_else(|| Fault::row("latest"))?;
                let (row, _) = UpdateRow::decode(key.clone(), value.value()).ok_or_else(|| Fault::row("found"))?;
                memory.leased.insert(key);
                rows.push(row);
            }
            Ok(rows)
        })
        .await
    }

    /// Sets these rows to found at `now`, if the clock was set back after they were found: otherwise no visit would count as
    /// later until the clock catches up. Rows with a time in the past stay. The commit is not durable: rows restored by a crash
    /// are ahead again.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn bring_back(&self, keys: Vec<UrlKey>, now: UnixMillis) -> Result<(), CrawlDbError> {
        if keys.is_empty() {
            return Ok(());
        }
        self.call(move |core, db| {
            let txn = begin_volatile(db)?;
            {
                let (mut found, mut latest) = (txn.open_table(FOUND)?, txn.open_table(LATEST)?);
                for key in keys {
                    let known = found.get((key.host.0, &*key.path))?;
                    let Some(known) = known.map(|value| UpdateRow::decode(key.clone(), value.value())) else {
                        continue;
                    };
                    let (row, seq) = known.ok_or_else(|| Fault::row("found"))?;
                    if row.found > now {
                        latest.remove((key.host.0, !row.found.0, seq))?;
                        let (row, seq) = (UpdateRow { found: now, ..row }, core.next_seq());
                        found.insert((key.host.0, &*key.path), row.encode(seq).as_slice())?;
                        latest.insert((key.host.0, !now.0, seq), &*key.path)?;
                    }
                }
            }
            txn.commit()?;
            Ok(())
        })
        .await
    }

    /// Returns leases.
    pub fn release(&self, keys: &[UrlKey]) {
        let mut memory = self.core.memory();
        for key in keys {
            memory.leased.remove(key);
        }
    }

    /// Returns all leases of these hosts: their site restarts.
    pub fn release_all(&self, hosts: &HashSet<HostId>) {
        self.core.memory().leased.retain(|key| !hosts.contains(&key.host));
    }

    /// Removes rows and their leases. The commit is not durable; see the module.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn remove(&self, keys: Vec<UrlKey>) -> Result<(), CrawlDbError> {
        let any_time = UnixMillis(u64::MAX);
        let visited = |key| Visited { key, began: any_time, ended: any_time };
        self.remove_visited(keys.into_iter().map(visited).collect()).await.map(drop)
    }

    /// Pages that were requested again during these visits stay requested after they have ended: the results may be
    /// older than the request. Call it before the visits are recorded, so that a kill between the two does not settle them. On
    /// disk when it returns.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn keep_asked_since(&self, visits: &[Visited]) -> Result<(), CrawlDbError> {
        let visits: Vec<Visited> = visits.iter().filter(|visit| self.waiting(visit.key.host) > 0).cloned().collect();
        if visits.is_empty() {
            return Ok(());
        }
        self.call(move |core, db| {
            let found = db.begin_read()?.open_table(FOUND)?;
            let mut asked = Vec::new();
            for Visited { key, began, ended } in visits {
                let Some(value) = found.get((key.host.0, &*key.path))? else { continue };
                let known = UpdateRow::decode(key, value.value()).ok_or_else(|| Fault::row("found"))?;
                if known.0.again && began < known.0.found && known.0.found < ended {
                    asked.push((known, ended));
                }
            }
            if asked.is_empty() {
                return Ok(());
            }
            let txn = begin(db)?;
            {
                let (mut found, mut latest) = (txn.open_table(FOUND)?, txn.open_table(LATEST)?);
                for ((row, seq), ended) in asked {
                    latest.remove((row.key.host.0, !row.found.0, seq))?;
                    let (row, seq) = (UpdateRow { found: ended, ..row }, core.next_seq());
                    found.insert((row.key.host.0, &*row.key.path), row.encode(seq).as_slice())?;
                    latest.insert((row.key.host.0, !row.found.0, seq), &*row.key.path)?;
                }
            }
            txn.commit()?;
            Ok(())
        })
        .await
    }

    /// Like [`Self::remove`] for visited URLs. A URL that was requested again after its visit began stays, and can be leased;
    /// returns how many do.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn remove_visited(&self, visits: Vec<Visited>) -> Result<u64, CrawlDbError> {
        let visits: Vec<Visited> = visits.into_iter().filter(|visit| self.waiting(visit.key.host) > 0).collect();
        if visits.is_empty() {
            return Ok(0);
        }
        self.call(move |core, db| {
            let (mut removed, mut stay) = (Vec::new(), 0);
            let txn = begin_volatile(db)?;
            {
                let (mut found, mut latest) = (txn.open_table(FOUND)?, txn.open_table(LATEST)?);
                for Visited { key, began, .. } in &visits {
                    let known = found.get((key.host.0, &*key.path))?;
                    let Some(known) = known.map(|value| UpdateRow::decode(key.clone(), value.value())) else {
                        continue;
                    };
                    let (row, seq) = known.ok_or_else(|| Fault::row("found"))?;
                    if row.again && row.found > *began {
                        stay += 1;
                        continue;
                    }
                    found.remove((key.host.0, &*key.path))?;
                    latest.remove((key.host.0, !row.found.0, seq))?;
                    removed.push(key.host);
                }
            }
            txn.commit()?;
            let mut memory = core.memory();
            for host in removed {
                if let Some(waiting) = memory.waiting.get_mut(&host) {
                    *waiting = waiting.saturating_sub(1);
                }
            }
            for visit in &visits {
                memory.leased.remove(&visit.key);
            }
            Ok(stay)
        })
        .await
    }

    /// Rows of a host, leased ones included.
    #[must_use]
    pub fn waiting(&self, host: HostId) -> u64 {
        self.core.memory().waiting.get(&host).copied().unwrap_or(0)
    }

    /// When each URL was found; None for one that is not here.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn found_at(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UnixMillis>>, CrawlDbError> {
        if keys.iter().all(|key| self.waiting(key.host) == 0) {
            return Ok(vec![None; keys.len()]);
        }
        self.call(move |_, db| {
            let found = db.begin_read()?.open_table(FOUND)?;
            let time = |key: UrlKey| {
                let Some(value) = found.get((key.host.0, &*key.path))? else { return Ok(None) };
                let (row, _) = UpdateRow::decode(key.clone(), value.value()).ok_or_else(|| Fault::row("found"))?;
                Ok(Some(row.found))
            };
            keys.into_iter().map(time).collect()
        })
        .await
    }

    /// Up to `rows_max` rows of a host after the path `after`, sorted by path.
    ///
    /// # Errors
    /// Errors of the file.
    pub async fn rows(
        &self,
        host: HostId,
        after: Option<Box<str>>,
        rows_max: usize,
    ) -> Result<Vec<UpdateRow>, CrawlDbError> {
        self.call(move |_, db| {
            let found = db.begin_read()?.open_table(FOUND)?;
            let from = match &after {
                Some(after) => std::ops::Bound::Excluded((host.0, &**after)),
                None => std::ops::Bound::Included((host.0, "")),
            };
            let mut rows = Vec::new();
            // A host's paths end where the next host's start; the last number is never assigned.
            let to = std::ops::Bound::Excluded((host.0.saturating_add(1), ""));
            for entry in found.range::<(u32, &str)>((from, to))?.take(rows_max) {
                let (key, value) = entry?;
                let key = UrlKey { host, path: key.value().1.into() };
                rows.push(UpdateRow::decode(key, value.value()).ok_or_else(|| Fault::row("found"))?.0);
            }
            Ok(rows)
        })
        .await
    }

    /// Moves all URLs of a host to history that were found before `before`, or later than `now` by a clock that was set
    /// back since: in steps of `limits::MERGED_URLS_MAX`, in each of them history first. URLs that history knows are not
    /// queued a second time.
    ///
    /// # Errors
    /// Errors of either file; steps done so far stay, and the next merge continues.
    pub async fn merge(
        &self,
        history: &dyn CrawlDb,
        host: HostId,
        before: UnixMillis,
        now: UnixMillis,
    ) -> Result<Merged, CrawlDbError> {
        let mut merged = Merged::default();
        if self.waiting(host) == 0 {
            return Ok(merged);
        }
        let mut after = None;
        loop {
            let rows = self.rows(host, after, limits::MERGED_URLS_MAX).await?;
            let Some(last) = rows.last() else { return Ok(merged) };
            after = Some(last.key.path.clone());
            let rows: Vec<UpdateRow> = rows.into_iter().filter(|row| row.found < before || row.found > now).collect();
            let keys: Vec<UrlKey> = rows.iter().map(|row| row.key.clone()).collect();
            let records = history.url_records(keys.clone()).await?;
            let (mut new, mut looks) = (Vec::new(), Vec::new());
            for (row, record) in rows.into_iter().zip(records) {
                match (row.is_settled(record.as_ref(), now), row.again) {
                    (true, _) => merged.settled += 1,
                    (false, true) => looks.push(row.discovered()),
                    (false, false) => new.push(row.discovered()),
                }
            }
            merged.again += looks.len() as u64;
            merged.added += history.add_discovered(new, now).await?;
            history.make_due(looks, now).await?;
            self.remove(keys).await?;
        }
    }

    /// The file as it is now, for a copy.
    ///
    /// # Errors
    /// Errors of the file.
    pub(super) fn begin_read(&self) -> Result<ReadTransaction, CrawlDbError> {
        self.core.with_file(|_, db| Ok(db.begin_read()?))
    }

    async fn call<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Core, &Database) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, CrawlDbError> {
        if !self.core.file.syncs() {
            return self.core.with_file(work);
        }
        let core = Arc::clone(&self.core);
        let joined = tokio::task::spawn_blocking(move || core.with_file(work)).await;
        joined.unwrap_or_else(|error| Err(self.core.file.cut_short(&error)))
    }
}

impl Core {
    // Its data is changed in steps that do not panic.
    fn memory(&self) -> MutexGuard<'_, Memory> {
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn next_seq(&self) -> u64 {
        let mut memory = self.memory();
        memory.next_seq += 1;
        memory.next_seq
    }

    /// Runs `work` on the open file, opening it first if necessary.
    fn with_file<T>(&self, work: impl FnOnce(&Self, &Database) -> Result<T, Fault>) -> Result<T, CrawlDbError> {
        self.open()?;
        self.file.with(|db| work(self, db))
    }

    /// Opens the file if it is closed, and counts its rows. Leases stay: they belong to the process.
    fn open(&self) -> Result<(), CrawlDbError> {
        self.file.open(read, |(waiting, next_seq)| {
            let mut memory = self.memory();
            (memory.waiting, memory.next_seq) = (waiting, next_seq);
        })
    }
}

/// Copies each table.
pub(super) fn copy_tables(copy: &mut Copy<'_>) -> Result<(), Fault> {
    copy.table(META)?;
    copy.table(FOUND)?;
    copy.table(LATEST)
}

fn schema_of(db: &Database) -> Result<Option<u64>, Fault> {
    schema(db, META, META_SCHEMA, SCHEMA, "an update crawldb")
}

/// Checks the schema of an open file, creates the tables of a new one; returns the rows of each host, and the highest number assigned.
fn read(db: &Database) -> Result<(HashMap<HostId, u64>, u64), Fault> {
    match schema_of(db)? {
        Some(SCHEMA) => {}
        Some(found) => return Err(never_in_use(found)),
        None => {
            let txn = begin(db)?;
            txn.open_table(META)?.insert(META_SCHEMA, SCHEMA)?;
            txn.open_table(FOUND)?;
            txn.open_table(LATEST)?;
            txn.commit()?;
        }
    }
    let latest = db.begin_read()?.open_table(LATEST)?;
    let (mut waiting, mut highest) = (HashMap::new(), 0);
    for entry in latest.iter()? {
        let (host, _, seq) = entry?.0.value();
        *waiting.entry(HostId(host)).or_default() += 1;
        highest = highest.max(seq);
    }
    // There are few rows, so all are checked: damage is reported before it is met.
    for entry in db.begin_read()?.open_table(FOUND)?.iter()? {
        drop(entry?);
    }
    Ok((waiting, highest))
}
