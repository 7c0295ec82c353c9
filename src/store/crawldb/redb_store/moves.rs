//! Moves URLs into the queue: those that have become due, and those that other rules may accept.

use redb::{Database, ReadableDatabase, ReadableTable};

use super::codec::{self, QueueRow};
use super::open::Fault;
use super::tables::{self, LATER, PARKED};
use super::{Core, read};
use crate::crawldb::record::{HostId, UrlKey};
use crate::limits;
use gleaner_base::clock::UnixMillis;

impl Core {
    /// Moves due URLs from `later` to `queue`. The commit is not durable: moves undone by a crash are repeated.
    pub(super) fn promote(&self, db: &Database, host: HostId, now: UnixMillis) -> Result<(), Fault> {
        self.known().host(host)?;
        let due = || codec::later_key(host, UnixMillis(0), 0)..=codec::later_key(host, now, u64::MAX);
        loop {
            let rows_due = {
                let later = db.begin_read()?.open_table(LATER)?;
                let range = due();
                later.range::<&codec::LaterKey>(range.start()..=range.end())?.next().is_some()
            };
            if !rows_due {
                return Ok(());
            }
            let mut seen = self.writer();
            self.write_in(tables::begin_volatile(db)?, &mut seen, |txn, writes| {
                let later = txn.open_table(LATER)?;
                let range = due();
                let mut room = read::Room::new(limits::PROMOTED_ROWS_MAX);
                for row in later.range::<&codec::LaterKey>(range.start()..=range.end())? {
                    let (key, value) = row?;
                    if !room.take(value.value().len()) {
                        break;
                    }
                    let (due, seq) = codec::later_position(key.value());
                    let row = QueueRow::decode(value.value()).ok_or_else(|| Fault::row("later"))?;
                    writes.changes.queue.promote(host, due, seq, row.rank, value.value());
                    writes.promoted(&UrlKey { host, path: row.path.into() })?;
                }
                Ok(())
            })?;
        }
    }

    /// Moves URLs parked under another token to `queue`, in bounded transactions.
    pub(super) fn unpark(&self, db: &Database, host: HostId, token: u64, now: UnixMillis) -> Result<u64, Fault> {
        self.known().host(host)?;
        let mut unparked = 0;
        loop {
            if read::parked_elsewhere(&db.begin_read()?.open_table(PARKED)?, host, token, 1)?.is_empty() {
                return Ok(unparked);
            }
            unparked += self.write(db, |txn, writes| {
                let rows = read::parked_elsewhere(&txn.open_table(PARKED)?, host, token, limits::UNPARKED_ROWS_MAX)?;
                for (key, value) in &rows {
                    let (token, path) = codec::parked_position(key).ok_or_else(|| Fault::row("parked"))?;
                    writes.unpark(&UrlKey { host, path: path.into() }, token, value, now)?;
                }
                Ok(rows.len() as u64)
            })?;
        }
    }
}
