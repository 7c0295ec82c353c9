//! URLs in one transaction: discovery inserts absent ones, a visit settles leased ones, a due time queues them
//! again. Rows are looked up and written in key order.

use std::ops::Bound;

use redb::{CursorError, ReadableTable, Table, WriteTransaction};

use super::codec::{self, QueuePosition, QueueRow, UrlRow};
use super::known::{BODY_BYTES, CachedTables, Tally, URLS_GONE, URLS_KNOWN, URLS_QUEUED};
use super::labels::LabelChanges;
use super::not_whole::{NotWholeChanges, NotWholeSettled};
use super::notes::MemoChanges;
use super::open::Fault;
use super::queue::QueueChanges;
use super::seen::{Mark, UrlFingerprints};
use super::tables::URLS;
use crate::crawldb::merge::{self, MemoChange};
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::{Discovered, HostId, UrlKey, Visit};
use gleaner_base::clock::UnixMillis;

pub(super) type UrlTable<'t> = Table<'t, &'static [u8], &'static [u8]>;

/// One write transaction's view of the URLs.
pub(super) struct UrlWrites<'w> {
    urls: UrlTable<'w>,
    known: &'w CachedTables,
    seen: &'w UrlFingerprints,
    pub(super) changes: UrlChanges,
    key: Vec<u8>,
}

/// The changes that [`UrlWrites`] collected, for the rest of the transaction and for after its commit.
#[derive(Default)]
pub(super) struct UrlChanges {
    pub queue: QueueChanges,
    pub memos: MemoChanges,
    pub not_whole: NotWholeChanges,
    pub labels: LabelChanges,
    pub tally: Tally,
    pub next_seq: u64,
    /// URLs that are certainly known once this transaction is committed.
    pub fresh: Vec<Mark>,
}

impl UrlChanges {
    /// Queues and counts an absent URL.
    fn enqueue_new(&mut self, known: &CachedTables, found: &Discovered, seq: u64) -> Result<QueuePosition, Fault> {
        let site = known.site_of(found.key.host)?;
        self.tally.add(site, URLS_KNOWN, 1);
        self.tally.add(site, URLS_QUEUED, 1);
        self.next_seq = self.next_seq.max(seq + 1);
        let row = QueueRow {
            rank: found.rank,
            attempts: 0,
            depth: found.depth,
            due: found.due,
            path: &found.key.path,
            via: found.via.as_deref(),
            memo: false,
        };
        Ok(self.queue.put(found.key.host, seq, &row))
    }
}

impl UrlRow {
    /// The row of an absent URL.
    fn new(found: &Discovered, place: Option<QueuePosition>, now: UnixMillis) -> Self {
        Self {
            place,
            parked: None,
            outcome: None,
            rank: found.rank,
            attempts: 0,
            depth: found.depth,
            first_seen: merge::first_seen(None, found.found, now),
            visited: UnixMillis(0),
            memo: false,
            not_whole: false,
        }
    }
}

/// A URL that discovery may have to insert.
struct Candidate {
    /// The position of its key in the arena.
    start: usize,
    end: usize,
    /// Its index in the batch.
    item: usize,
    mark: Mark,
}

impl<'w> UrlWrites<'w> {
    pub(super) fn open(
        txn: &'w WriteTransaction,
        known: &'w CachedTables,
        seen: &'w UrlFingerprints,
    ) -> Result<Self, Fault> {
        Ok(Self {
            urls: txn.open_table(URLS)?,
            known,
            seen,
            changes: UrlChanges { next_seq: known.next_seq, ..UrlChanges::default() },
            key: Vec::new(),
        })
    }

    /// Closes the tables and returns the collected changes.
    pub(super) fn finish(self) -> UrlChanges {
        self.changes
    }

    pub(super) fn known(&self) -> &'w CachedTables {
        self.known
    }

    fn set_key(&mut self, host: HostId, path: &str) {
        self.key.clear();
        codec::put_url_key(&mut self.key, host, path);
    }

    pub(super) fn row(&mut self, key: &UrlKey) -> Result<Option<UrlRow>, Fault> {
        self.set_key(key.host, &key.path);
        decoded(self.urls.get(self.key.as_slice())?.map(|value| UrlRow::decode(value.value())))
    }

    fn write(&mut self, key: &UrlKey, row: &UrlRow) -> Result<(), Fault> {
        self.set_key(key.host, &key.path);
        self.urls.insert(self.key.as_slice(), row.encode().as_slice())?;
        Ok(())
    }

    /// Inserts absent URLs and queues them in batch order; `added` is called with the batch index of each. Each item has
    /// the time of its discovery.
    pub(super) fn insert_absent(
        &mut self,
        batch: &[(&Discovered, UnixMillis)],
        mut added: impl FnMut(usize),
    ) -> Result<(), Fault> {
        let mut arena = Vec::new();
        let candidates = self.candidates(batch, &mut arena);
        let base = self.changes.next_seq;
        let mut rest = candidates.iter().peekable();
        while let Some(&first) = rest.peek() {
            let key = &arena[first.start..first.end];
            if self.urls.get(key)?.is_some() {
                self.changes.fresh.push(first.mark);
                while rest.next_if(|next| arena[next.start..next.end] == *key).is_some() {}
                continue;
            }
            // After an absent URL is inserted, its absent neighbours follow without another lookup. An existing key, or one
            // after an existing key, ends the run.
            let mut cursor = self.urls.lower_bound_mut(Bound::Included(key))?;
            while let Some(&next) = rest.peek() {
                let key = &arena[next.start..next.end];
                let (found, now) = batch[next.item];
                let seq = base + next.item as u64;
                let row = UrlRow::new(found, Some(QueuePosition::of(seq, found.due)), now);
                match cursor.insert_before(key, row.encode().as_slice()) {
                    Ok(()) => {}
                    Err(CursorError::UnorderedKey) => break,
                    Err(error) => return Err(error.into()),
                }
                self.changes.fresh.push(next.mark);
                self.changes.enqueue_new(self.known, found, seq)?;
                added(next.item);
                while rest.next_if(|next| arena[next.start..next.end] == *key).is_some() {}
            }
            cursor.close()?;
        }
        Ok(())
    }

    /// Candidates for absent URLs, in key order; among equal keys the first of the batch comes first.
    fn candidates(&self, batch: &[(&Discovered, UnixMillis)], arena: &mut Vec<u8>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (item, (found, _)) in batch.iter().enumerate() {
            if !merge::is_keepable(&found.key) {
                continue;
            }
            let mark = self.seen.mark(found.key.host, &found.key.path);
            if self.seen.contains(mark) {
                continue;
            }
            let start = arena.len();
            codec::put_url_key(arena, found.key.host, &found.key.path);
            candidates.push(Candidate { start, end: arena.len(), item, mark });
        }
        candidates.sort_unstable_by(|a, b| {
            arena[a.start..a.end].cmp(&arena[b.start..b.end]).then_with(|| a.item.cmp(&b.item))
        });
        candidates
    }

    /// Queues known URLs again for an earlier time than they are queued for, and inserts unknown ones. If
    /// `keep_shape` is set, depth and rank of known ones stay.
    pub(super) fn make_due(&mut self, batch: &[Discovered], now: UnixMillis, keep_shape: bool) -> Result<(), Fault> {
        let base = self.changes.next_seq;
        self.changes.next_seq += batch.len() as u64;
        let mut order: Vec<usize> = (0..batch.len()).filter(|&item| merge::is_keepable(&batch[item].key)).collect();
        order.sort_by(|&a, &b| batch[a].key.cmp(&batch[b].key));
        for group in order.chunk_by(|&a, &b| batch[a].key == batch[b].key) {
            let before = self.row(&batch[group[0]].key)?;
            let mut latest: Option<(usize, UnixMillis)> = None;
            for &item in group {
                let queued_for = match latest {
                    Some((_, due)) => Some(due),
                    None => before.and_then(|row| row.place).map(|place| place.due),
                };
                if queued_for.is_none_or(|due| due > batch[item].due) {
                    latest = Some((item, batch[item].due));
                }
            }
            if let Some((item, _)) = latest {
                let mut found = batch[item].clone();
                match before {
                    Some(row) if keep_shape => (found.depth, found.rank) = (row.depth, row.rank),
                    Some(_) => {}
                    // It is known from the first item that names it, whichever is due earliest.
                    None => found.found = batch[group[0]].found,
                }
                self.queue_again(&found, before, base + item as u64, now)?;
            }
        }
        Ok(())
    }

    fn queue_again(
        &mut self,
        found: &Discovered,
        before: Option<UrlRow>,
        seq: u64,
        now: UnixMillis,
    ) -> Result<(), Fault> {
        let Some(before) = before else {
            let place = self.changes.enqueue_new(self.known, found, seq)?;
            return self.write(&found.key, &UrlRow::new(found, Some(place), now));
        };
        let host = found.key.host;
        match before.place {
            Some(place) => self.changes.queue.take_out(host, before.rank, place),
            None => self.changes.tally.add(self.known.site_of(host)?, URLS_QUEUED, 1),
        }
        if let Some(token) = before.parked {
            self.changes.queue.unpark(host, token, &found.key.path);
        }
        let row = QueueRow {
            rank: found.rank,
            attempts: 0,
            depth: found.depth,
            due: found.due,
            path: &found.key.path,
            via: found.via.as_deref(),
            memo: before.memo,
        };
        let place = self.changes.queue.put(host, seq, &row);
        self.changes.queue.moved(host, &found.key.path, (found.rank, seq));
        let (rank, depth) = (found.rank, found.depth);
        let row = UrlRow { place: Some(place), parked: None, rank, attempts: 0, depth, ..before };
        self.write(&found.key, &row)
    }

    /// Queues a URL that is parked under `token`, due at `now`; `value` is its row in `parked`.
    pub(super) fn unpark(&mut self, key: &UrlKey, token: u64, value: &[u8], now: UnixMillis) -> Result<(), Fault> {
        let before = self.row(key)?.filter(|row| row.parked == Some(token)).ok_or_else(|| Fault::row("parked"))?;
        let row = QueueRow::decode(value).ok_or_else(|| Fault::row("parked"))?;
        // It is already due, so it does not go through `later`.
        let place = QueuePosition { seq: self.changes.next_seq, due: now, later: false };
        self.changes.next_seq += 1;
        let UrlRow { rank, depth, memo, .. } = before;
        let row = QueueRow { rank, attempts: 0, depth, due: now, path: &key.path, via: row.via, memo };
        self.changes.queue.put_at(key.host, place, &row);
        self.changes.queue.unpark(key.host, token, &key.path);
        self.changes.tally.add(self.known.site_of(key.host)?, URLS_QUEUED, 1);
        self.write(key, &UrlRow { place: Some(place), parked: None, attempts: 0, ..before })
    }

    /// Settles visits of one URL, in order: the record keeps the last one, the queue what it asked for.
    pub(super) fn settle<'v>(
        &mut self,
        before: Option<UrlRow>,
        visits: impl Iterator<Item = (u64, &'v Visit, Outcome)>,
    ) -> Result<(), Fault> {
        let mut last = None;
        let mut memo_change = MemoChange::Stays;
        let mut not_whole = NotWholeSettled::of(before);
        let mut first_seen = before.map(|row| row.first_seen);
        for (seq, visit, outcome) in visits {
            first_seen = Some(merge::first_seen(first_seen, visit.found, visit.at));
            let site = self.known.site_of(visit.key.host)?;
            self.changes.tally.add(site, outcome.code(), 1);
            self.changes.tally.add_size(site, BODY_BYTES, visit.body_bytes);
            match merge::memo_change(visit) {
                MemoChange::Stays => {}
                change => memo_change = change,
            }
            not_whole.visited(visit);
            last = Some((seq, visit, outcome, site));
        }
        let Some((seq, visit, outcome, site)) = last else {
            return Ok(());
        };
        let attempts = visit.next.attempts_after(visit.attempts);
        let host = visit.key.host;
        let memo = self.settle_memo(&visit.key, before.is_some_and(|row| row.memo), memo_change);
        let place_before = before.and_then(|row| row.place);
        if let (Some(place), Some(before)) = (place_before, before) {
            self.changes.queue.take_out(host, before.rank, place);
        }
        self.changes.queue.settle(host, &visit.key.path);
        if let Some(token) = before.and_then(|row| row.parked) {
            self.changes.queue.unpark(host, token, &visit.key.path);
        }
        let queue_row = QueueRow {
            rank: visit.rank,
            attempts,
            depth: visit.depth,
            due: visit.next.due().unwrap_or_default(),
            path: &visit.key.path,
            via: visit.via.as_deref(),
            memo,
        };
        let place = visit.next.due().map(|_| self.changes.queue.put(host, seq, &queue_row));
        let parked = visit.next.token();
        if let Some(token) = parked {
            self.changes.queue.park(host, token, &queue_row);
        }
        if before.is_none() {
            self.changes.tally.add(site, URLS_KNOWN, 1);
        }
        let gone_change = merge::gone_change(before.and_then(|row| row.outcome), outcome);
        if gone_change != 0 {
            self.changes.tally.add(site, URLS_GONE, gone_change);
        }
        let queued_change = i64::from(place.is_some()) - i64::from(place_before.is_some());
        if queued_change != 0 {
            self.changes.tally.add(site, URLS_QUEUED, queued_change);
        }
        self.set_key(host, &visit.key.path);
        let not_whole = not_whole.settle(&self.key, site, &mut self.changes);
        let row = UrlRow {
            place,
            parked,
            outcome: Some(outcome),
            rank: visit.rank,
            attempts,
            depth: visit.depth,
            first_seen: first_seen.unwrap_or(visit.at),
            visited: visit.at,
            memo,
            not_whole,
        };
        self.write(&visit.key, &row)
    }

    /// Collects the change of a URL's memo; true if it has one afterwards.
    fn settle_memo(&mut self, key: &UrlKey, had_one: bool, change: MemoChange<'_>) -> bool {
        match change {
            MemoChange::Stays => had_one,
            MemoChange::Goes => {
                if had_one {
                    self.forget_memo(key);
                }
                false
            }
            MemoChange::Becomes(memo) => {
                self.set_key(key.host, &key.path);
                self.changes.memos.put(&self.key, memo);
                true
            }
        }
    }

    /// Deletes a URL's memo. Its record and its queue row may still say that it could have one.
    pub(super) fn forget_memo(&mut self, key: &UrlKey) {
        self.set_key(key.host, &key.path);
        self.changes.memos.remove(&self.key);
    }

    /// Marks rows that a lease moved to `queue`.
    pub(super) fn promoted(&mut self, key: &UrlKey) -> Result<(), Fault> {
        let Some(mut row) = self.row(key)? else {
            return Err(Fault::row("later"));
        };
        if let Some(place) = &mut row.place {
            place.later = false;
        }
        self.write(key, &row)
    }
}

/// A row that could not be decoded is damage.
pub(super) fn decoded(row: Option<Option<UrlRow>>) -> Result<Option<UrlRow>, Fault> {
    match row {
        Some(None) => Err(Fault::row("urls")),
        Some(row) => Ok(row),
        None => Ok(None),
    }
}
