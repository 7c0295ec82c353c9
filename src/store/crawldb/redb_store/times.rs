//! Torrents by the time of their storing, and the line of their changes: what is newest, and what an index has not seen yet.

use redb::{
    Database, ReadableDatabase, ReadableTable, ReadableTableMetadata as _, Table, TableError, WriteTransaction,
};

use super::Core;
use super::codec::TorrentKept;
use super::labels::RowReader;
use super::open::Fault;
use super::tables::{self, BY_TIME, CHANGES, INFOHASHES, META, META_DATABASE, TORRENTS};
use crate::crawldb::record::{Changes, Stored, TorrentRow};
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// Bytes of the time before the key.
const TIME_BYTES: usize = 8;

/// The row of a torrent in `by_time`: rows in the order of their bytes are in the order of their times.
fn time_key(stored: UnixMillis, key: &[u8]) -> Vec<u8> {
    [&stored.0.to_be_bytes(), key].concat()
}

/// What is written of torrents that come and go.
pub(super) struct Times<'w> {
    by_time: Table<'w, &'static [u8], ()>,
    changes: Table<'w, u64, &'static [u8]>,
}

impl<'w> Times<'w> {
    pub(super) fn open(txn: &'w WriteTransaction) -> Result<Self, Fault> {
        Ok(Self { by_time: txn.open_table(BY_TIME)?, changes: txn.open_table(CHANGES)? })
    }

    pub(super) fn added(&mut self, stored: UnixMillis, key: &[u8]) -> Result<(), Fault> {
        self.by_time.insert(time_key(stored, key).as_slice(), ())?;
        self.changed(key)
    }

    pub(super) fn removed(&mut self, stored: UnixMillis, key: &[u8]) -> Result<(), Fault> {
        self.by_time.remove(time_key(stored, key).as_slice())?;
        self.changed(key)
    }

    /// Appends to the line of changes, and drops what is too old.
    pub(super) fn changed(&mut self, key: &[u8]) -> Result<(), Fault> {
        let last = self.changes.last()?.map_or(0, |(number, _)| number.value());
        let next = last + 1;
        self.changes.insert(next, key)?;
        let first = self.changes.first()?.map_or(next, |(number, _)| number.value());
        for too_old in first..=next.saturating_sub(limits::CHANGES_MAX) {
            self.changes.remove(too_old)?;
        }
        Ok(())
    }
}

/// Fills `by_time` from `torrents`, for a file of an earlier schema. What an interrupted attempt wrote is dropped first: an earlier
/// version may have removed torrents since.
pub(super) fn fill(db: &Database) -> Result<(), Fault> {
    let txn = tables::begin(db)?;
    txn.delete_table(BY_TIME)?;
    txn.open_table(BY_TIME)?;
    txn.commit()?;
    let mut after: Option<Vec<u8>> = None;
    loop {
        let mut rows = times_of(db, after.as_deref())?;
        after = rows.last().map(|(_, key)| key.clone());
        if after.is_none() {
            return Ok(());
        }
        // In the order of the table: its pages are filled one after the other.
        rows.sort_unstable();
        let txn = tables::begin(db)?;
        let mut by_time = txn.open_table(BY_TIME)?;
        for (stored, key) in &rows {
            by_time.insert(time_key(*stored, key).as_slice(), ())?;
        }
        drop(by_time);
        txn.commit()?;
    }
}

/// The times and keys of the next torrents.
fn times_of(db: &Database, after: Option<&[u8]>) -> Result<Vec<(UnixMillis, Vec<u8>)>, Fault> {
    let torrents = match db.begin_read()?.open_table(TORRENTS) {
        Ok(torrents) => torrents,
        Err(TableError::TableDoesNotExist(_)) => return Ok(Vec::new()),
        Err(error) => return Err(error.into()),
    };
    let mut rows = Vec::new();
    for row in torrents.range::<&[u8]>(super::read::behind(after))?.take(limits::TIMES_AT_ONCE_MAX) {
        let (key, value) = row?;
        let kept = TorrentKept::decode(value.value()).ok_or_else(|| Fault::row("torrents"))?;
        rows.push((kept.stored, key.value().to_vec()));
    }
    Ok(rows)
}

/// Torrents from the newest on.
pub(super) fn newest(
    core: &Core,
    db: &Database,
    before: Option<&Stored>,
    skip: usize,
    rows_max: usize,
) -> Result<Vec<TorrentRow>, Fault> {
    use std::ops::Bound::{Excluded, Unbounded};
    let known = core.known();
    let txn = db.begin_read()?;
    let (by_time, torrents) = (txn.open_table(BY_TIME)?, txn.open_table(TORRENTS)?);
    let reader = RowReader::of(&known, &txn)?;
    let end = before.map(|before| time_key(before.at, &before.key));
    let end = end.as_ref().map_or(Unbounded, |end| Excluded(end.as_slice()));
    let mut rows = Vec::new();
    for row in by_time.range::<&[u8]>((Unbounded, end))?.rev().skip(skip).take(rows_max) {
        let (time, _) = row?;
        let key = time.value().get(TIME_BYTES..).ok_or_else(|| Fault::row("by_time"))?;
        let kept = torrents.get(key)?.and_then(|value| TorrentKept::decode(value.value()));
        rows.push(reader.row(kept.ok_or_else(|| Fault::row("torrents"))?)?);
    }
    Ok(rows)
}

/// The torrents with these hashes, in their order.
pub(super) fn torrents_at(core: &Core, db: &Database, hashes: &[Vec<u8>]) -> Result<Vec<Option<TorrentRow>>, Fault> {
    let known = core.known();
    let txn = db.begin_read()?;
    let (torrents, others) = (txn.open_table(TORRENTS)?, txn.open_table(INFOHASHES)?);
    let reader = RowReader::of(&known, &txn)?;
    let row = |hash: &Vec<u8>| {
        let Some(key) = super::harvest::find_key(&torrents, &others, Some(hash))? else { return Ok(None) };
        let kept = torrents.get(&*key)?.and_then(|value| TorrentKept::decode(value.value()));
        reader.row(kept.ok_or_else(|| Fault::row("torrents"))?).map(Some)
    };
    hashes.iter().map(row).collect()
}

/// The changes after this one.
pub(super) fn changes(db: &Database, after: u64, rows_max: usize) -> Result<Changes, Fault> {
    let txn = db.begin_read()?;
    let (table, torrents) = (txn.open_table(CHANGES)?, txn.open_table(TORRENTS)?.len()?);
    let database = txn.open_table(META)?.get(META_DATABASE)?.map_or(0, |number| number.value());
    let number = |row: Option<(redb::AccessGuard<'_, u64>, redb::AccessGuard<'_, &'static [u8]>)>| {
        row.map_or(0, |(number, _)| number.value())
    };
    let (first, last) = (number(table.first()?), number(table.last()?));
    let mut keys = Vec::new();
    for row in table.range(after.saturating_add(1)..)?.take(rows_max) {
        let (number, key) = row?;
        keys.push((number.value(), key.value().to_vec()));
    }
    Ok(Changes { database, first, last, torrents, keys })
}
