//! Changes of the queue in one transaction: collected first, then applied in key order, so that each leaf of the
//! tree is touched once.

use std::ops::{Bound, Range};

use redb::{CursorError, Table, WriteTransaction};

use super::codec::{self, LaterKey, QueueKey, QueuePosition, QueueRow};
use super::leases::{Leases, Position};
use super::open::Fault;
use super::tables::{LATER, PARKED, QUEUE};
use crate::crawldb::record::HostId;
use gleaner_base::clock::UnixMillis;

#[derive(Default)]
pub(super) struct QueueChanges {
    queue_out: Vec<QueueKey>,
    later_out: Vec<LaterKey>,
    queue_in: Vec<(QueueKey, Range<usize>)>,
    later_in: Vec<(LaterKey, Range<usize>)>,
    parked_out: Vec<Box<[u8]>>,
    parked_in: Vec<(Box<[u8]>, Range<usize>)>,
    /// The values of the inserted rows.
    values: Vec<u8>,
    /// URLs whose visit was recorded: their leases end with the commit.
    settled: Vec<(HostId, Box<str>)>,
    /// URLs whose visit had been recorded before: their leases end, their positions in the queue stay.
    ended: Vec<(HostId, Box<str>)>,
    /// URLs queued again that may be leased: the lease moves with them.
    moved: Vec<(HostId, Box<str>, Position)>,
}

impl QueueChanges {
    /// Inserts a URL, due at once or later.
    pub(super) fn put(&mut self, host: HostId, seq: u64, row: &QueueRow<'_>) -> QueuePosition {
        let place = QueuePosition::of(seq, row.due);
        self.put_at(host, place, row);
        place
    }

    /// Inserts a URL at this position.
    pub(super) fn put_at(&mut self, host: HostId, place: QueuePosition, row: &QueueRow<'_>) {
        let QueuePosition { seq, .. } = place;
        let value = self.value(row);
        if place.later {
            self.later_in.push((codec::later_key(host, row.due, seq), value));
        } else {
            self.queue_in.push((codec::queue_key(host, row.rank, seq), value));
        }
    }

    fn value(&mut self, row: &QueueRow<'_>) -> Range<usize> {
        let start = self.values.len();
        row.encode(&mut self.values);
        start..self.values.len()
    }

    /// Parks a URL under a token.
    pub(super) fn park(&mut self, host: HostId, token: u64, row: &QueueRow<'_>) {
        let value = self.value(&QueueRow { path: "", ..*row });
        self.parked_in.push((parked_key(host, token, row.path), value));
    }

    /// Removes a URL from those parked under a token.
    pub(super) fn unpark(&mut self, host: HostId, token: u64, path: &str) {
        self.parked_out.push(parked_key(host, token, path));
    }

    /// Removes a URL from the position in its record.
    pub(super) fn take_out(&mut self, host: HostId, rank: u8, place: QueuePosition) {
        if place.later {
            self.later_out.push(codec::later_key(host, place.due, place.seq));
        } else {
            self.queue_out.push(codec::queue_key(host, rank, place.seq));
        }
    }

    pub(super) fn settle(&mut self, host: HostId, path: &str) {
        self.settled.push((host, path.into()));
    }

    pub(super) fn end_lease(&mut self, host: HostId, path: &str) {
        self.ended.push((host, path.into()));
    }

    pub(super) fn moved(&mut self, host: HostId, path: &str, to: Position) {
        self.moved.push((host, path.into(), to));
    }

    /// Writes the changes.
    pub(super) fn apply(&mut self, txn: &WriteTransaction) -> Result<(), Fault> {
        if !(self.queue_in.is_empty() && self.queue_out.is_empty()) {
            let mut queue = txn.open_table(QUEUE)?;
            self.queue_out.sort_unstable();
            remove_runs(&mut queue, &self.queue_out)?;
            self.queue_in.sort_unstable_by_key(|(key, _)| *key);
            insert_runs(&mut queue, &self.queue_in, &self.values)?;
        }
        if !(self.later_in.is_empty() && self.later_out.is_empty()) {
            let mut later = txn.open_table(LATER)?;
            self.later_out.sort_unstable();
            for key in &self.later_out {
                later.remove(key)?;
            }
            self.later_in.sort_unstable_by_key(|(key, _)| *key);
            for (key, value) in &self.later_in {
                later.insert(key, &self.values[value.clone()])?;
            }
        }
        if !(self.parked_in.is_empty() && self.parked_out.is_empty()) {
            let mut parked = txn.open_table(PARKED)?;
            self.parked_out.sort_unstable();
            for key in &self.parked_out {
                parked.remove(&**key)?;
            }
            self.parked_in.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
            for (key, value) in &self.parked_in {
                parked.insert(&**key, &self.values[value.clone()])?;
            }
        }
        Ok(())
    }

    /// Applies the committed changes to the leases.
    pub(super) fn tell(self, leases: &mut Leases) {
        for (host, path) in &self.settled {
            leases.settle(*host, path);
        }
        for (host, path) in &self.ended {
            leases.host(*host).end(path);
        }
        for (host, path, to) in &self.moved {
            leases.host(*host).moved(path, *to);
        }
        let mut last_rank = None;
        for (key, _) in &self.queue_in {
            // Sorted by host, then position: the first row of a host's rank is its lowest.
            let rank = &key[..5];
            if last_rank != Some(rank) {
                last_rank = Some(rank);
                leases.host(host_of(key)).inserted(codec::queue_position(key));
            }
        }
    }

    /// Inserts a row of `later` into `queue`.
    pub(super) fn promote(&mut self, host: HostId, due: UnixMillis, seq: u64, rank: u8, value: &[u8]) {
        let start = self.values.len();
        self.values.extend_from_slice(value);
        self.later_out.push(codec::later_key(host, due, seq));
        self.queue_in.push((codec::queue_key(host, rank, seq), start..self.values.len()));
    }
}

fn parked_key(host: HostId, token: u64, path: &str) -> Box<[u8]> {
    let mut key = Vec::with_capacity(4 + 8 + path.len());
    codec::put_parked_key(&mut key, host, token, path);
    key.into()
}

fn host_of(key: &QueueKey) -> HostId {
    let [a, b, c, d, ..] = *key;
    HostId(u32::from_be_bytes([a, b, c, d]))
}

/// Average gap of sequence numbers in a run up to which scanning the rows that stay is cheaper than looking up each
/// row that goes.
const RUN_SPREAD: u64 = 32;

/// Removes rows with ascending keys. Rows leased together are mostly adjacent and are removed leaf by leaf.
fn remove_runs(queue: &mut Table<'_, &'static QueueKey, &'static [u8]>, keys: &[QueueKey]) -> Result<(), Fault> {
    for run in keys.chunk_by(|a, b| a[..5] == b[..5]) {
        let (first, last) = (&run[0], &run[run.len() - 1]);
        let spread = codec::queue_position(last).1.saturating_sub(codec::queue_position(first).1);
        if run.len() > 2 && spread < RUN_SPREAD * run.len() as u64 {
            queue.retain_in::<&QueueKey, _>(first..=last, |key, _| run.binary_search(key).is_err())?;
        } else {
            for key in run {
                queue.remove(key)?;
            }
        }
    }
    Ok(())
}

/// Inserts rows with ascending keys that are not in the table. New rows of a host usually follow all of its
/// others: a cursor inserts such a run leaf by leaf.
fn insert_runs(
    queue: &mut Table<'_, &'static QueueKey, &'static [u8]>,
    rows: &[(QueueKey, Range<usize>)],
    values: &[u8],
) -> Result<(), Fault> {
    let mut rows = rows.iter().map(|(key, value)| (key, &values[value.clone()])).peekable();
    while let Some((key, value)) = rows.next() {
        let mut cursor = queue.lower_bound_mut(Bound::Included(key))?;
        let first = cursor.insert_before(key, value);
        let more = first.is_ok();
        while let Some(&(key, value)) = rows.peek().filter(|_| more) {
            match cursor.insert_before(key, value) {
                Ok(()) => rows.next(),
                Err(CursorError::UnorderedKey) => break,
                Err(error) => return Err(error.into()),
            };
        }
        cursor.close()?;
        match first {
            // The row already exists, which should be impossible with sequence numbers; the new value wins.
            Err(CursorError::UnorderedKey) => drop(queue.insert(key, value)?),
            first => first?,
        }
    }
    Ok(())
}
