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
type Place = (Reverse<UnixMillis>, u64);

/// Origin of a request in flight.
#[derive(Clone, Copy)]
enum Slot {
    Found(Place),
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
    queue: BTreeMap<Place, Job>,
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
mod tests {
    use super::*;
    use crate::frontier::crews::Crew;
    use gleaner_base::url::CrawlUrl;
    use gleaner_rules::Class;
    use gleaner_store::crawldb::{HostId, Lease, UrlKey};

    fn job(path: &str) -> Job {
        let (via, memo, deadline) = (None, None, UnixMillis(0));
        let key = UrlKey { host: HostId(0), path: path.into() };
        let lease = Lease { key, depth: 1, rank: 1, attempts: 0, via, memo, deadline, found: None };
        let url = CrawlUrl::from_parts("http://h.example", path);
        Job { lease, url, class: Class::Detail, rule: 0, crew: Crew::Increment { level: 1 } }
    }

    #[test]
    fn the_latest_goes_first_and_rows_of_one_page_in_their_order() {
        let mut news = News::default();
        for (found, path) in [(5, "/old"), (9, "/a"), (9, "/b"), (7, "/middle")] {
            news.push(UnixMillis(found), job(path));
        }
        let (slot, first) = news.pop(None).unwrap();
        assert_eq!((slot, &*first.lease.key.path), (0, "/a"));
        news.put_back(slot, first);
        assert_eq!((news.running(), news.found()), (0, 4));
        let order: Vec<Box<str>> = std::iter::from_fn(|| news.pop(None)).map(|(_, job)| job.lease.key.path).collect();
        assert_eq!(order.iter().map(|path| &**path).collect::<Vec<_>>(), ["/a", "/b", "/middle", "/old"]);
        assert_eq!(news.running(), 4);
        news.done(1);
        news.push(UnixMillis(1), job("/later"));
        assert_eq!(news.pop(None).unwrap().0, 1, "a slot that is free is used again");
    }

    #[test]
    fn looks_take_every_other_turn_while_what_they_found_waits() {
        let mut news = News::default();
        ["/look 1", "/look 2", "/look 3"].into_iter().for_each(|path| news.push_look(job(path)));
        [(5, "/old"), (9, "/new")].into_iter().for_each(|(found, path)| news.push(UnixMillis(found), job(path)));
        let (slot, first) = news.pop(None).unwrap();
        assert_eq!(&*first.lease.key.path, "/look 1");
        news.put_back(slot, first);
        assert_eq!((news.due(), news.found()), (3, 2));
        let order: Vec<Box<str>> = std::iter::from_fn(|| news.pop(None)).map(|(_, job)| job.lease.key.path).collect();
        let order: Vec<&str> = order.iter().map(|path| &**path).collect();
        assert_eq!(order, ["/look 1", "/new", "/look 2", "/old", "/look 3"]);
        assert!(news.is_empty() && news.running() == 5);
    }

    #[test]
    fn where_each_request_counts_what_was_found_goes_first_and_looks_have_their_part_all_the_same() {
        let (mut news, mut turns) = (News::default(), LookTurns::default());
        (1..=3).for_each(|number| news.push_look(job(&format!("/look {number}"))));
        (1..=30).rev().for_each(|found| news.push(UnixMillis(found), job("/found")));
        let mut order = String::new();
        while let Some((slot, _)) = news.pop(Some(turns)) {
            turns.asked(news.is_look(slot));
            order.push(if news.is_look(slot) { 'L' } else { '.' });
        }
        assert_eq!(order, "......L......L......L............", "a burst of thirty, of which each request counts");
        // Rechecks made while nothing waited count, but as no more than one.
        (0..50).for_each(|_| turns.asked(true));
        let found = std::iter::from_fn(|| (!turns.is_looks()).then(|| turns.asked(false))).count();
        assert_eq!(found, 12);
    }

    #[test]
    fn where_looks_are_ahead_they_wait_for_what_was_found() {
        let (mut news, turns) = (News::default(), LookTurns::default());
        ["/look 1", "/look 2"].into_iter().for_each(|path| news.push_look(job(path)));
        [(5, "/old"), (9, "/new")].into_iter().for_each(|(found, path)| news.push(UnixMillis(found), job(path)));
        let order: Vec<Box<str>> =
            std::iter::from_fn(|| news.pop(Some(turns))).map(|(_, job)| job.lease.key.path).collect();
        assert_eq!(order.iter().map(|path| &**path).collect::<Vec<_>>(), ["/new", "/old", "/look 1", "/look 2"]);
    }

    #[test]
    fn a_lease_that_ends_while_it_waits_costs_nobody_a_turn() {
        let ends_at = |path: &str, end: u64| {
            let mut job = job(path);
            job.lease.deadline = UnixMillis(end);
            job
        };
        let mut news = News::default();
        [("/look 1", 90), ("/look 2", 50)].into_iter().for_each(|(path, end)| news.push_look(ends_at(path, end)));
        news.push(UnixMillis(9), ends_at("/new", 50));
        let (slot, first) = news.pop(None).unwrap();
        assert_eq!(&*first.lease.key.path, "/look 1");
        news.done(slot);
        assert!(news.take_ended(UnixMillis(49)).is_empty());
        let ended: Vec<Box<str>> = news.take_ended(UnixMillis(50)).into_iter().map(|job| job.lease.key.path).collect();
        assert_eq!(ended.iter().map(|path| &**path).collect::<Vec<_>>(), ["/look 2", "/new"]);
        assert!(news.is_empty());
        // Both are leased again: it is still the turn of the found URL.
        news.push_look(ends_at("/look 2", 150));
        news.push(UnixMillis(9), ends_at("/new", 150));
        assert_eq!(&*news.pop(None).unwrap().1.lease.key.path, "/new");
    }

    #[test]
    fn a_look_that_is_due_is_told_once() {
        let mut news = News::default();
        [30, 10, 20].into_iter().for_each(|at| news.plan_look(UnixMillis(at)));
        assert!(!news.looks_are_due(UnixMillis(9)) && news.looks_are_due(UnixMillis(25)));
        assert_eq!(news.next_look(UnixMillis(10)), Some(UnixMillis(20)));
        news.looked(UnixMillis(25));
        assert_eq!((news.looks_are_due(UnixMillis(25)), news.next_look(UnixMillis(25))), (false, Some(UnixMillis(30))));
    }

    #[test]
    fn no_more_times_are_kept_than_the_cap() {
        let mut news = News::default();
        (0..limits::LOOK_TIMES_MAX as u64 + 9).for_each(|at| news.plan_look(UnixMillis(at)));
        assert_eq!(news.looks.len(), limits::LOOK_TIMES_MAX);
        assert!(news.looks_are_due(UnixMillis(0)), "the first ones stay");
    }
}
