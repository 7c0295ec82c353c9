//! Data that the crawl stores for itself: a memo of a URL for its next visit, a named note of a site. The store does
//! not interpret them. Most URLs have no memo: those that have one are flagged in `urls` and in the queue, and only
//! for them the table is read.

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, WriteTransaction};

use super::codec;
use super::open::Fault;
use super::tables::{MEMOS, NOTES};
use crate::crawldb::record::HostId;

/// Changes of memos in one transaction, in the order in which they are made.
#[derive(Default)]
pub(super) struct MemoChanges {
    changes: Vec<MemoOf>,
}

struct MemoOf {
    url_key: Box<[u8]>,
    /// None to delete it.
    memo: Option<Box<str>>,
}

impl MemoChanges {
    pub(super) fn put(&mut self, url_key: &[u8], memo: &str) {
        self.changes.push(MemoOf { url_key: url_key.into(), memo: Some(memo.into()) });
    }

    pub(super) fn remove(&mut self, url_key: &[u8]) {
        self.changes.push(MemoOf { url_key: url_key.into(), memo: None });
    }

    /// Writes the changes.
    pub(super) fn apply(&self, txn: &WriteTransaction) -> Result<(), Fault> {
        if self.changes.is_empty() {
            return Ok(());
        }
        let mut memos = txn.open_table(MEMOS)?;
        for MemoOf { url_key, memo } in &self.changes {
            match memo {
                Some(memo) => memos.insert(&**url_key, &**memo)?,
                None => memos.remove(&**url_key)?,
            };
        }
        Ok(())
    }
}

/// The memos of a snapshot; the table is opened at the first lookup.
pub(super) struct Memos<'t> {
    txn: &'t ReadTransaction,
    table: Option<ReadOnlyTable<&'static [u8], &'static str>>,
    key: Vec<u8>,
}

impl<'t> Memos<'t> {
    pub(super) fn of(txn: &'t ReadTransaction) -> Self {
        Self { txn, table: None, key: Vec::new() }
    }

    pub(super) fn get(&mut self, host: HostId, path: &str) -> Result<Option<Box<str>>, Fault> {
        let table = match &mut self.table {
            Some(table) => table,
            table => table.insert(self.txn.open_table(MEMOS)?),
        };
        self.key.clear();
        codec::put_url_key(&mut self.key, host, path);
        Ok(table.get(self.key.as_slice())?.map(|memo| memo.value().into()))
    }
}

pub(super) fn note(db: &Database, site: &str, name: &str) -> Result<Option<Vec<u8>>, Fault> {
    let notes = db.begin_read()?.open_table(NOTES)?;
    Ok(notes.get((site, name))?.map(|note| note.value().to_vec()))
}

/// Stores notes, deletes empty ones, and commits.
pub(super) fn put_notes(txn: WriteTransaction, site: &str, changes: &[(String, Vec<u8>)]) -> Result<(), Fault> {
    let mut notes = txn.open_table(NOTES)?;
    for (name, note) in changes {
        if note.is_empty() {
            notes.remove((site, name.as_str()))?;
        } else {
            notes.insert((site, name.as_str()), note.as_slice())?;
        }
    }
    drop(notes);
    txn.commit()?;
    Ok(())
}
