//! A copy of both databases as they are at one moment, while commits go on: a read transaction of each, whose tables are written to
//! fresh files row by row, in bounded memory, for as long as their disk keeps up.
//!
//! redb keeps the pages of a transaction that is read, so the crawl does not wait for the copy; its file grows by what it
//! writes meanwhile, and uses that room again afterwards.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread;
use std::time::Duration;

use redb::{
    Database, Key, ReadTransaction, ReadableDatabase as _, ReadableTable as _, TableDefinition, TableError, Value,
};

use super::RedbStore;
use super::codec::TorrentKept;
use super::file::guarded;
use super::open::{Boxed, Fault, OpenOptions, file_factory};
use super::tables::{self, *};
use crate::crawldb::record::TorrentFacts;
use crate::crawldb::update::UpdateDb;
use crate::crawldb::{CrawlDbError, update};
use crate::limits;

/// Page cache of the file that is written: rows come in the order of their keys, and no page is written twice.
const CACHE_BYTES: usize = 8 << 20;

/// Between two looks at whether the writing thread has taken what was sent.
const LOOK: Duration = Duration::from_millis(5);

/// Both databases at one moment.
pub struct Snapshot {
    crawl: ReadTransaction,
    update: ReadTransaction,
}

impl RedbStore {
    /// Both databases as they are between two commits of the crawl: then no link is in neither, in the copy as in the originals.
    ///
    /// # Errors
    /// Errors of either file.
    pub fn snapshot(&self, update: &UpdateDb) -> Result<Snapshot, CrawlDbError> {
        self.core.with_file(|core, db| {
            // A URL leaves the update database only after a commit here, which waits until both are read.
            let _turn = core.writer();
            let crawl = db.begin_read()?;
            Ok(update.begin_read().map(|update| Snapshot { crawl, update }))
        })?
    }

    /// Calls `each` with the facts of every torrent, by key, until it fails.
    ///
    /// # Errors
    /// That of `each`, and errors of the file.
    pub fn each_torrent<E: From<CrawlDbError>>(
        &self,
        mut each: impl FnMut(TorrentFacts) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut after: Option<Vec<u8>> = None;
        loop {
            let page = self.core.with_file(|_, db| {
                let table = db.begin_read()?.open_table(TORRENTS)?;
                let rows = table.range::<&[u8]>(super::read::behind(after.as_deref()))?;
                let mut page = Vec::new();
                for row in rows.take(limits::EXPORT_ROWS_MAX) {
                    let kept = TorrentKept::decode(row?.1.value()).ok_or_else(|| Fault::row("torrents"))?;
                    page.push(kept.facts);
                }
                Ok(page)
            })?;
            let Some(last) = page.last() else { return Ok(()) };
            after = Some(last.infohashes.key().to_vec());
            page.into_iter().try_for_each(&mut each)?;
        }
    }
}

/// The schema of crawl databases that this program writes, and the highest that it reads.
pub const CRAWL_SCHEMA: u64 = SCHEMA;

/// Each table of the crawl database.
macro_rules! copy_each {
    ($copy:expr, $($table:ident)*) => { $($copy.table($table)?;)* };
}

/// When a copy is given up: the file of the crawl grows as long as its snapshot lives.
pub struct Bounds<'s> {
    stop: &'s AtomicBool,
    /// Counts the parts that were taken.
    parts: &'s AtomicU64,
    source: PathBuf,
    /// Bytes of the source from which on it has grown too much.
    bytes_max: u64,
    stalled: Duration,
}

impl<'s> Bounds<'s> {
    /// `source` is the file that grows; `stop` ends the copy, and `parts` grows with it.
    #[must_use]
    pub fn new(source: &Path, stop: &'s AtomicBool, parts: &'s AtomicU64) -> Self {
        let bytes = fs::metadata(source).map_or(0, |there| there.len());
        let bytes_max = bytes.saturating_add(bytes.max(limits::BACKUP_GROWTH_SPARE_BYTES));
        Self { stop, parts, source: source.to_owned(), bytes_max, stalled: limits::BACKUP_STALL_TIME_MAX }
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// An error if the copy takes too long. `waited` is the time without progress.
    fn check(&self, waited: Duration) -> Result<(), Fault> {
        let what = if waited >= self.stalled {
            format!("nothing could be written for {} s", self.stalled.as_secs())
        } else if fs::metadata(&self.source).is_ok_and(|there| there.len() > self.bytes_max) {
            format!("this is so slow that {} has grown to twice its size meanwhile", self.source.display())
        } else {
            return Ok(());
        };
        let text = format!("{what}: the backup was given up\nhint: check that disk, or back up to a faster one");
        Err(Fault::Redb(redb::Error::Io(io::Error::new(ErrorKind::TimedOut, text))))
    }
}

impl Snapshot {
    /// Writes the crawl database to a new file, and returns once it is on the disk. False if it was stopped: then the file is not whole.
    ///
    /// # Errors
    /// Errors of either file, and bounds that are exceeded; then a thread may be left that waits for the disk of the new file.
    pub fn copy_crawl(&self, dest: &Path, bounds: &Bounds<'_>) -> Result<bool, CrawlDbError> {
        copied(dest, &self.crawl, bounds, |copy| {
            copy_each!(copy, META HOSTS COUNTS URLS QUEUE LATER PARKED TORRENTS BY_TIME CHANGES LABELS URL_LABELS);
            copy_each!(copy, INFOHASHES MAGNETS MAGNET_HASHES LISTINGS BODIES MEMOS NOTES NOT_WHOLE);
            Ok(())
        })
    }

    /// The same for the update database.
    ///
    /// # Errors
    /// The same.
    pub fn copy_update(&self, dest: &Path, bounds: &Bounds<'_>) -> Result<bool, CrawlDbError> {
        copied(dest, &self.update, bounds, update::copy_tables)
    }
}

/// Rows that the writing thread puts into one table; None after the last.
type Rows = Option<Box<dyn FnOnce(&Database) -> Result<(), Fault> + Send>>;

/// Creates a database, has `read` send its rows, and syncs it once. Another thread writes: one that its disk holds up does not hold the
/// snapshot.
fn copied(
    dest: &Path,
    from: &ReadTransaction,
    bounds: &Bounds<'_>,
    read: impl FnOnce(&mut Copy<'_>) -> Result<(), Fault>,
) -> Result<bool, CrawlDbError> {
    let (to, rows) = sync_channel(1);
    let path = dest.to_owned();
    let started = thread::Builder::new().name("backup".to_owned()).spawn(move || write(&path, &rows));
    let io = |error| Fault::Redb(redb::Error::Io(error));
    let writer = started.map_err(|error| io(error).tell(dest))?;
    let all = guarded(|| {
        let mut copy = Copy { from, to, bounds };
        read(&mut copy)?;
        copy.send(None)?;
        drop(copy);
        let mut waited = Duration::ZERO;
        while !writer.is_finished() && !bounds.is_stopped() {
            bounds.check(waited)?;
            thread::sleep(LOOK);
            waited += LOOK;
        }
        Ok(writer.is_finished())
    });
    if !all.map_err(|fault| fault.tell(dest))? {
        return Ok(false);
    }
    let written = writer.join().unwrap_or_else(|_| Err(Fault::Damaged("the writing thread stopped".to_owned())));
    written.map(|is_whole| is_whole && !bounds.is_stopped()).map_err(|fault| fault.tell(dest))
}

/// Writes what comes. False if the last did not.
fn write(dest: &Path, rows: &Receiver<Rows>) -> Result<bool, Fault> {
    let io = |error| Fault::Redb(redb::Error::Io(error));
    guarded(|| {
        let options = OpenOptions { cache_bytes: CACHE_BYTES, sync: false };
        let backend = file_factory(dest, options)().map_err(io)?;
        let mut builder = Database::builder();
        let db = builder.set_cache_size(CACHE_BYTES).create_with_backend(Boxed(backend))?;
        loop {
            match rows.recv() {
                Ok(Some(put)) => put(&db)?,
                Ok(None) => break,
                // Whoever reads has given up.
                Err(_) => return Ok(false),
            }
        }
        // The last commit lets the file be opened without a look at all of it.
        tables::begin(&db)?.commit()?;
        drop(db);
        fs::File::open(dest).and_then(|file| file.sync_all()).map_err(io)?;
        Ok(true)
    })
}

/// Tables of one transaction that are sent to the writing thread.
pub(in crate::crawldb) struct Copy<'c> {
    from: &'c ReadTransaction,
    to: SyncSender<Rows>,
    bounds: &'c Bounds<'c>,
}

impl Copy<'_> {
    /// Copies a table, if it is there.
    pub(in crate::crawldb) fn table<K: Key + Send + 'static, V: Value + Send + 'static>(
        &mut self,
        table: TableDefinition<'static, K, V>,
    ) -> Result<(), Fault> {
        let from = match self.from.open_table(table) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(()),
            opened => opened?,
        };
        let mut rows = from.iter()?;
        loop {
            let (mut part, mut bytes) = (Vec::new(), 0);
            while part.len() < limits::COPIED_ROWS_MAX && bytes < limits::COPIED_BYTES_MAX {
                let Some(row) = rows.next() else { break };
                let (key, value) = row?;
                let (key, value) =
                    (K::as_bytes(&key.value()).as_ref().to_vec(), V::as_bytes(&value.value()).as_ref().to_vec());
                bytes += key.len() + value.len();
                part.push((key, value));
            }
            let is_last = part.is_empty();
            // An empty table is one, too.
            let put = move |to: &Database| {
                let txn = to.begin_write()?;
                let mut to = txn.open_table(table)?;
                for (key, value) in &part {
                    to.insert(K::from_bytes(key), V::from_bytes(value))?;
                }
                drop(to);
                Ok(txn.commit()?)
            };
            if !self.send(Some(Box::new(put)))? || is_last {
                return Ok(());
            }
        }
    }

    /// False if the copy is stopped, or the writing thread has ended: it says why.
    fn send(&self, mut rows: Rows) -> Result<bool, Fault> {
        let mut waited = Duration::ZERO;
        while !self.bounds.is_stopped() {
            self.bounds.check(waited)?;
            match self.to.try_send(rows) {
                Ok(()) => {
                    self.bounds.parts.fetch_add(1, Ordering::Relaxed);
                    return Ok(true);
                }
                Err(TrySendError::Disconnected(_)) => return Ok(false),
                Err(TrySendError::Full(back)) => rows = back,
            }
            thread::sleep(LOOK);
            waited += LOOK;
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given_up(told: Result<bool, Fault>) -> String {
        match told {
            Err(Fault::Redb(redb::Error::Io(error))) if error.kind() == ErrorKind::TimedOut => error.to_string(),
            _ => panic!("not given up"),
        }
    }

    #[test]
    fn a_copy_that_nobody_takes_and_one_that_lets_its_source_grow_are_given_up() {
        let (here, stop) = (tempfile::tempdir().unwrap(), AtomicBool::new(false));
        let source = here.path().join("crawl.redb");
        let db = Database::create(&source).unwrap();
        let from = db.begin_read().unwrap();
        let parts = AtomicU64::new(0);
        let mut bounds = Bounds::new(&source, &stop, &parts);
        bounds.stalled = LOOK * 3;
        let (to, _rows) = sync_channel(0);
        let copy = Copy { from: &from, to, bounds: &bounds };
        assert!(given_up(copy.send(None)).contains("nothing could be written"));
        bounds.stalled = Duration::MAX;
        bounds.check(Duration::ZERO).unwrap_or_else(|_| panic!("it has not grown"));
        // A hole: it takes no room.
        bounds.source = here.path().join("other");
        fs::File::create(&bounds.source).unwrap().set_len(bounds.bytes_max + 1).unwrap();
        assert!(given_up(bounds.check(Duration::ZERO).map(|()| true)).contains("has grown"));
        stop.store(true, Ordering::Relaxed);
        let copy = Copy { from: &from, to: sync_channel(0).0, bounds: &bounds };
        assert!(copy.send(None).is_ok_and(|sent| !sent), "stopped");
    }
}
