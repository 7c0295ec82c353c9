//! The increment crew's work at one host: due rechecks, the URLs they have found, newest first, and the requests in
//! flight. While both wait they take turns: rechecks that find more than is fetched would be worth nothing. If the requests of a day
//! are limited, found URLs go before further rechecks, as long as these have had their share ([`LookTurns`]).
//!
//! Plain state, changed by the site loop; no I/O here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::frontier::crews::Turns;
use crate::job::Job;
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// Newest first (ALGORITHMS §6.3); URLs found at the same time in order of arrival.
type NewsOrder = (Reverse<UnixMillis>, u64);

/// Origin of a request in flight.
#[derive(Clone, Copy)]
enum Slot {
    Found(NewsOrder),
    /// A recheck, by its number in order of arrival.
    Look(u64),
}

/// If the requests of a day are limited: the maximum of requests for found URLs per recheck. A recheck also reads a page after its first
/// one, and with that uses a quarter of the increment's requests; and what it finds, two requests for each, leaves some for older finds.
const FOUND_FOR_A_LOOK: i32 = 6;

/// Decides whose turn it is at a site whose requests are limited by the day: a burst that rechecks have found may take a day, and rechecks
/// of other lists continue meanwhile. What they find goes before the rest of the burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookTurns {
    /// Requests for found URLs by which rechecks are behind their share; negative if they are ahead.
    behind: i32,
}

impl LookTurns {
    /// Counts a request for a recheck or for a found URL.
    pub fn asked(&mut self, is_look: bool) {
        let behind = if is_look { self.behind - FOUND_FOR_A_LOOK } else { self.behind + 1 };
        // Many rechecks made while nothing else waited are no reason to stop them for hours.
        self.behind = behind.clamp(-FOUND_FOR_A_LOOK, FOUND_FOR_A_LOOK);
    }

    /// True if the next request is for a recheck, provided one is due.
    #[must_use]
    pub fn is_looks(self) -> bool {
        self.behind >= FOUND_FOR_A_LOOK
    }
}

/// The increment's share of a host.
#[derive(Default)]
pub struct News {
    queue: BTreeMap<NewsOrder, Job>,
    /// Due rechecks, in order of arrival.
    due: BTreeMap<u64, Job>,
    /// True if the last turn was a recheck's.
    look_was_last: bool,
    /// For each request in flight, its former place in the queues; None for a free slot.
    slots: Vec<Option<Slot>>,
    next: u64,
    /// Earliest end of the leases of waiting jobs; the job may be gone by now.
    first_end: Option<UnixMillis>,
    pub turns: Turns,
    /// True if the update crawldb may have rows that are not leased.
    pub may_lease: bool,
    /// Known times of planned rechecks and retries of the increment.
    looks: BTreeSet<UnixMillis>,
}

impl News {
    /// Queues a URL that was found at the given time.
    pub fn push(&mut self, found: UnixMillis, job: Job) {
        self.next += 1;
        self.ends_with(&job);
        self.queue.insert((Reverse(found), self.next), job);
    }

    /// Queues a due recheck.
    pub fn push_look(&mut self, job: Job) {
        self.next += 1;
        self.ends_with(&job);
        self.due.insert(self.next, job);
    }

    fn ends_with(&mut self, job: &Job) {
        let end = job.lease.deadline;
        self.first_end = Some(self.first_end.map_or(end, |first| first.min(end)));
    }

    /// Removes waiting jobs whose lease ends by the given time, rechecks first. This uses up nobody's turn.
    pub fn take_ended(&mut self, by: UnixMillis) -> Vec<Job> {
        if self.first_end.is_none_or(|end| end > by) {
            return Vec::new();
        }
        let has_ended = |job: &Job| job.lease.deadline <= by;
        let looks = self.due.extract_if(.., |_, job| has_ended(job)).map(|(_, job)| job);
        let mut ended: Vec<Job> = looks.collect();
        ended.extend(self.queue.extract_if(.., |_, job| has_ended(job)).map(|(_, job)| job));
        self.first_end = self.due.values().chain(self.queue.values()).map(|job| job.lease.deadline).min();
        ended
    }

    /// A due recheck, or the newest URL found, and the slot that its request occupies until [`Self::done`]. While both wait they take
    /// turns, or follow `turns`.
    pub fn pop(&mut self, turns: Option<LookTurns>) -> Option<(usize, Job)> {
        let is_looks_turn = turns.map_or(!self.look_was_last, LookTurns::is_looks);
        let is_look = self.queue.is_empty() || !self.due.is_empty() && is_looks_turn;
        let (place, job) = match is_look {
            true => self.due.pop_first().map(|(number, job)| (Slot::Look(number), job))?,
            false => self.queue.pop_first().map(|(place, job)| (Slot::Found(place), job))?,
        };
        self.look_was_last = is_look;
        let free = self.slots.iter().position(Option::is_none);
        let slot = free.unwrap_or_else(|| {
            self.slots.push(None);
            self.slots.len() - 1
        });
        self.slots[slot] = Some(place);
        Some((slot, job))
    }

    /// Takes back what [`Self::pop`] returned; it is the next one again.
    pub fn put_back(&mut self, slot: usize, job: Job) {
        let Some(place) = self.slots[slot].take() else { return };
        self.ends_with(&job);
        self.look_was_last = matches!(place, Slot::Found(_));
        match place {
            Slot::Found(place) => drop(self.queue.insert(place, job)),
            Slot::Look(number) => drop(self.due.insert(number, job)),
        }
    }

    /// True if the request in this slot is a recheck.
    #[must_use]
    pub fn is_look(&self, slot: usize) -> bool {
        matches!(self.slots.get(slot), Some(Some(Slot::Look(_))))
    }

    /// The request in this slot has ended.
    pub fn done(&mut self, slot: usize) {
        self.slots[slot] = None;
    }

    /// Requests in flight.
    #[must_use]
    pub fn running(&self) -> u32 {
        u32::try_from(self.slots.iter().flatten().count()).unwrap_or(u32::MAX)
    }

    /// Number of queued URLs that rechecks have found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.queue.len()
    }

    /// Number of queued rechecks.
    #[must_use]
    pub fn due(&self) -> usize {
        self.due.len()
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.queue.is_empty() && self.due.is_empty()
    }

    /// Takes everything out of the queue.
    pub fn drain(&mut self) -> Vec<Job> {
        let due = std::mem::take(&mut self.due).into_values();
        due.chain(std::mem::take(&mut self.queue).into_values()).collect()
    }

    /// Plans a recheck for this time. Beyond `limits::LOOK_TIMES_MAX` times the latest are dropped: the next round finds what
    /// they would have found.
    pub fn plan_look(&mut self, at: UnixMillis) {
        self.looks.insert(at);
        if self.looks.len() > limits::LOOK_TIMES_MAX {
            self.looks.pop_last();
        }
    }

    /// True when a recheck may be due.
    #[must_use]
    pub fn looks_are_due(&self, now: UnixMillis) -> bool {
        self.looks.first().is_some_and(|at| *at <= now)
    }

    /// Removes the times of due rechecks, which have all been leased.
    pub fn looked(&mut self, now: UnixMillis) {
        self.looks.retain(|at| *at > now);
    }

    /// Time of the next planned recheck after now.
    #[must_use]
    pub fn next_look(&self, now: UnixMillis) -> Option<UnixMillis> {
        self.looks.range(now.plus(std::time::Duration::from_millis(1))..).next().copied()
    }
}

#[cfg(test)]
mod tests;
