//! Leases. They live in memory only: the embedded store has one process, so they end with it, and neither a lease nor
//! a restart costs a write. For each rank of a host the start of the next queue scan is stored, so that a scan does
//! not pass over the leased rows repeatedly.
//!
//! Invariant: every row of a rank in `queue` before its `scan_from` is leased. Inserting a row before it or ending a lease moves
//! `scan_from` back.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::crawldb::Owner;
use crate::crawldb::record::HostId;
use gleaner_base::clock::UnixMillis;

/// Rank and sequence number: the order of a host's queue.
pub(super) type Position = (u8, u64);

#[derive(Default)]
pub(super) struct Leases {
    hosts: HashMap<HostId, HostLeases>,
}

#[derive(Default)]
pub(super) struct HostLeases {
    /// By rank, the sequence number; 0 for ranks without one.
    scan_from: BTreeMap<u8, u64>,
    held: HashMap<Box<str>, ActiveLease>,
    /// The positions in `held`.
    taken: HashSet<Position>,
    /// No lease ends before this time; may be too early, never too late.
    earliest_end: UnixMillis,
}

struct ActiveLease {
    at: Position,
    owner: Owner,
    deadline: UnixMillis,
}

impl Leases {
    pub(super) fn host(&mut self, host: HostId) -> &mut HostLeases {
        self.hosts.entry(host).or_default()
    }

    /// Scans every row again, after the file was reopened.
    pub(super) fn rescan(&mut self) {
        self.hosts.values_mut().for_each(|host| host.scan_from.clear());
    }

    /// The visit of this URL was recorded, or it was removed from the queue.
    pub(super) fn settle(&mut self, host: HostId, path: &str) {
        if let Some(host) = self.hosts.get_mut(&host) {
            host.settle(path);
        }
    }
}

impl HostLeases {
    /// Where a scan for free rows of a rank starts.
    pub(super) fn scan_from(&self, rank: u8) -> u64 {
        self.scan_from.get(&rank).copied().unwrap_or(0)
    }

    pub(super) fn is_taken(&self, at: Position) -> bool {
        self.taken.contains(&at)
    }

    /// The end of the earliest lease, ignoring those that ended by `now`.
    pub(super) fn next_end(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.held.values().map(|held| held.deadline).filter(|&deadline| deadline > now).min()
    }

    /// Ends the leases with a deadline of `now` or earlier.
    pub(super) fn expire(&mut self, now: UnixMillis) {
        if self.held.is_empty() || now < self.earliest_end {
            return;
        }
        self.keep(|held| held.deadline > now);
        self.earliest_end = self.held.values().map(|held| held.deadline).min().unwrap_or_default();
    }

    /// Ends all others; their rows may still be in the queue.
    fn keep(&mut self, runs: impl Fn(&ActiveLease) -> bool) {
        let (taken, scan_from) = (&mut self.taken, &mut self.scan_from);
        self.held.retain(|_, held| {
            let runs = runs(held);
            if !runs {
                taken.remove(&held.at);
                scan_back(scan_from, held.at);
            }
            runs
        });
    }

    /// Leases the row at `at`, which a scan from [`Self::scan_from`] found free.
    pub(super) fn take(&mut self, at: Position, path: &str, owner: Owner, deadline: UnixMillis) {
        self.earliest_end = if self.held.is_empty() { deadline } else { self.earliest_end.min(deadline) };
        self.taken.insert(at);
        if let Some(before) = self.held.insert(path.into(), ActiveLease { at, owner, deadline })
            && before.at != at
        {
            self.taken.remove(&before.at);
        }
    }

    /// Everything of this rank before `at` was found leased.
    pub(super) fn scanned_to(&mut self, at: Position) {
        self.scan_from.insert(at.0, at.1);
    }

    /// A row was inserted into the queue.
    pub(super) fn inserted(&mut self, at: Position) {
        scan_back(&mut self.scan_from, at);
    }

    /// A URL was queued again; its lease, if any, moves with it.
    pub(super) fn moved(&mut self, path: &str, to: Position) {
        if let Some(held) = self.held.get_mut(path) {
            self.taken.remove(&held.at);
            held.at = to;
            self.taken.insert(to);
        }
    }

    pub(super) fn release(&mut self, owner: Owner, path: &str) {
        if self.held.get(path).is_some_and(|held| held.owner == owner) {
            self.end(path);
        }
    }

    pub(super) fn release_all(&mut self, owner: Owner) {
        self.keep(|held| held.owner != owner);
    }

    /// Ends a lease whose row may still be in the queue.
    pub(super) fn end(&mut self, path: &str) {
        if let Some(held) = self.held.remove(path) {
            self.taken.remove(&held.at);
            self.inserted(held.at);
        }
    }

    fn settle(&mut self, path: &str) {
        if let Some(held) = self.held.remove(path) {
            self.taken.remove(&held.at);
        }
    }
}

/// A row at this position may be free.
fn scan_back(scan_from: &mut BTreeMap<u8, u64>, (rank, seq): Position) {
    if let Some(from) = scan_from.get_mut(&rank) {
        *from = seq.min(*from);
    }
}
