//! A copy of both databases as they are at one moment, while commits go on: a read transaction of each, whose tables are written to
//! fresh files row by row, in bounded memory.
//!
//! redb keeps the pages of a transaction that is read, so the crawl does not wait for the copy; its file grows by what it
//! writes meanwhile, and uses that room again afterwards.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

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

impl Snapshot {
    /// Writes the crawl database to a new file, and returns once it is on the disk. False if `stop` was set: then the file is not whole.
    ///
    /// # Errors
    /// Errors of either file.
    pub fn copy_crawl(&self, dest: &Path, stop: &AtomicBool) -> Result<bool, CrawlDbError> {
        copied(dest, |to| {
            let mut copy = Copy { from: &self.crawl, to, stop };
            copy_each!(copy, META HOSTS COUNTS URLS QUEUE LATER PARKED TORRENTS BY_TIME CHANGES LABELS URL_LABELS);
            copy_each!(copy, INFOHASHES MAGNETS MAGNET_HASHES LISTINGS BODIES MEMOS NOTES NOT_WHOLE);
            Ok(())
        })
        .map(|()| !stop.load(Ordering::Relaxed))
    }

    /// The same for the update database.
    ///
    /// # Errors
    /// Errors of either file.
    pub fn copy_update(&self, dest: &Path, stop: &AtomicBool) -> Result<bool, CrawlDbError> {
        copied(dest, |to| update::copy_tables(&mut Copy { from: &self.update, to, stop }))
            .map(|()| !stop.load(Ordering::Relaxed))
    }
}

/// Creates a database, has `fill` fill it, and syncs it once.
fn copied(dest: &Path, fill: impl FnOnce(&Database) -> Result<(), Fault>) -> Result<(), CrawlDbError> {
    let io = |error| Fault::Redb(redb::Error::Io(error));
    guarded(|| {
        let options = OpenOptions { cache_bytes: CACHE_BYTES, sync: false };
        let backend = file_factory(dest, options)().map_err(io)?;
        let mut builder = Database::builder();
        let db = builder.set_cache_size(CACHE_BYTES).create_with_backend(Boxed(backend))?;
        fill(&db)?;
        // The last commit lets the file be opened without a look at all of it.
        tables::begin(&db)?.commit()?;
        drop(db);
        std::fs::File::open(dest).and_then(|file| file.sync_all()).map_err(io)
    })
    .map_err(|fault| fault.tell(dest))
}

/// Tables of one transaction that are written to a file.
pub(in crate::crawldb) struct Copy<'c> {
    from: &'c ReadTransaction,
    to: &'c Database,
    stop: &'c AtomicBool,
}

impl Copy<'_> {
    /// Copies a table, if it is there.
    pub(in crate::crawldb) fn table<K: Key + 'static, V: Value + 'static>(
        &mut self,
        table: TableDefinition<'_, K, V>,
    ) -> Result<(), Fault> {
        let from = match self.from.open_table(table) {
            Err(TableError::TableDoesNotExist(_)) => return Ok(()),
            opened => opened?,
        };
        let mut rows = from.iter()?;
        while !self.stop.load(Ordering::Relaxed) {
            let txn = self.to.begin_write()?;
            let mut copied = 0;
            let mut to = txn.open_table(table)?;
            for row in rows.by_ref().take(limits::COPIED_ROWS_MAX) {
                let (key, value) = row?;
                to.insert(key.value(), value.value())?;
                copied += 1;
            }
            drop(to);
            txn.commit()?;
            if copied < limits::COPIED_ROWS_MAX {
                break;
            }
        }
        Ok(())
    }
}
