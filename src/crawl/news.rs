//! What the increment crew has in hand at one host: looks that are due, what they have found, the latest first, and the requests under
//! way. While both wait they go by turns: looks that find more than is fetched would be worth nothing. Where each request of a day
//! counts, what was found goes before further looks, as long as these have had their part ([`LookTurns`]).
//!
//! Plain state, changed by the site loop; no I/O here.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::frontier::crews::Turns;
use crate::job::Job;
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// Latest first (ALGORITHMS §6.3); what was found at the same time in the order in which it came.
type Place = (Reverse<UnixMillis>, u64);

/// What a request under way was before.
#[derive(Clone, Copy)]
enum Slot {
    Found(Place),
    /// By its number in the order in which looks came.
    Look(u64),
}

/// Where each request of a day counts: so many that were found have a request for each look, at the most. A look reads a page behind its
/// front, too, and with that has a quarter of the increment's requests; and what it finds, two requests for each, leaves some for older finds.
const FOUND_FOR_A_LOOK: i32 = 6;

/// Whose turn it is at a site of which each request of a day counts: a burst that looks have found may take a day, and looks at other
/// lists go on meanwhile. What they find goes before the rest of the burst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LookTurns {
    /// Requests of what was found by which looks are behind their part; less than none where they are ahead.
    behind: i32,
}

impl LookTurns {
    /// A look is asked for, or something that was found.
    pub fn asked(&mut self, is_look: bool) {
        let behind = if is_look { self.behind - FOUND_FOR_A_LOOK } else { self.behind + 1 };
        // That many looks came while nothing else waited is no reason to stop them for hours.
        self.behind = behind.clamp(-FOUND_FOR_A_LOOK, FOUND_FOR_A_LOOK);
    }

    /// True where the next request is a look's, if any is due.
    #[must_use]
    pub fn is_looks(self) -> bool {
        self.behind >= FOUND_FOR_A_LOOK
    }
}

/// The increment's share of a host.
#[derive(Default)]
pub struct News {
    queue: BTreeMap<Place, Job>,
    /// Looks that are due, the first first.
    due: BTreeMap<u64, Job>,
    /// True where the last turn was a look's.
    look_was_last: bool,
    /// Of each request under way, the place that it had; None for a slot that is free.
    slots: Vec<Option<Slot>>,
    next: u64,
    /// When the first lease of those that wait ends; it may have gone since.
    first_end: Option<UnixMillis>,
    pub turns: Turns,
    /// True where the update crawldb may have something that is not leased.
    pub may_lease: bool,
    /// Times for which looks, or second tries of the increment, are planned, as far as they are known.
    looks: BTreeSet<UnixMillis>,
}

impl News {
    /// Queues what was found then.
    pub fn push(&mut self, found: UnixMillis, job: Job) {
        self.next += 1;
        self.ends_with(&job);
        self.queue.insert((Reverse(found), self.next), job);
    }

    /// Queues a look that is due.
    pub fn push_look(&mut self, job: Job) {
        self.next += 1;
        self.ends_with(&job);
        self.due.insert(self.next, job);
    }

    fn ends_with(&mut self, job: &Job) {
        let end = job.lease.deadline;
        self.first_end = Some(self.first_end.map_or(end, |first| first.min(end)));
    }

    /// Takes out what waits with a lease that ends by then, looks first. Nobody's turn is spent by it.
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

    /// A look that is due, or the latest that was found, and the slot that its request takes until [`Self::done`]. While both wait they go
    /// by turns, or as `turns` say.
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

    /// Takes back what [`Self::pop`] gave; it is the next one again.
    pub fn put_back(&mut self, slot: usize, job: Job) {
        let Some(place) = self.slots[slot].take() else { return };
        self.ends_with(&job);
        self.look_was_last = matches!(place, Slot::Found(_));
        match place {
            Slot::Found(place) => drop(self.queue.insert(place, job)),
            Slot::Look(number) => drop(self.due.insert(number, job)),
        }
    }

    /// True where the request in this slot is a look.
    #[must_use]
    pub fn is_look(&self, slot: usize) -> bool {
        matches!(self.slots.get(slot), Some(Some(Slot::Look(_))))
    }

    /// The request in this slot has ended.
    pub fn done(&mut self, slot: usize) {
        self.slots[slot] = None;
    }

    /// Requests under way.
    #[must_use]
    pub fn running(&self) -> u32 {
        u32::try_from(self.slots.iter().flatten().count()).unwrap_or(u32::MAX)
    }

    /// URLs queued that looks have found.
    #[must_use]
    pub fn found(&self) -> usize {
        self.queue.len()
    }

    /// Looks queued.
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

    /// A look is planned for this time. Beyond `limits::LOOK_TIMES_MAX` times the latest are forgotten: a round finds what
    /// it brings.
    pub fn plan_look(&mut self, at: UnixMillis) {
        self.looks.insert(at);
        if self.looks.len() > limits::LOOK_TIMES_MAX {
            self.looks.pop_last();
        }
    }

    /// True when a look may be due.
    #[must_use]
    pub fn looks_are_due(&self, now: UnixMillis) -> bool {
        self.looks.first().is_some_and(|at| *at <= now)
    }

    /// All looks that are due now have been leased.
    pub fn looked(&mut self, now: UnixMillis) {
        self.looks.retain(|at| *at > now);
    }

    /// The next planned look after now.
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
        // Looks that came while nothing waited are looks as well, but no more than one of them.
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
        // Both are leased anew: it is still the turn of what was found.
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
