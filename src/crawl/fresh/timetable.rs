//! When each list of the site is rechecked next (ALGORITHMS §10.3, §10.4): the schedule, fed with the results of rechecks.
//!
//! With `gleaner`, the default, a list is due when its expected new posts justify a recheck; the loop keeps asking for the next one,
//! and the number of rechecks a day is fixed. The paper's plans set the times of a day for each list in advance, from its weight and its
//! profile. Lists beyond a limit are rechecked at their interval.

mod told;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits::{
    LIST_FORGOTTEN_TIME, LIST_ROOM_SOUGHT_EVERY, LOOK_INTERVAL_MIN, LOOKS_LEASED_MAX, RATE_SPAN_MIN,
    SCHEDULE_LISTS_MAX, SCHEDULE_PATIENCE, SCHEDULE_PLANNED_EVERY,
};
use crate::schedule::adapt::{BoardNumber, Schedule};
use crate::schedule::fixed::{self, Learnt};
use crate::schedule::{DAY_S, HOUR_S, HOURS, Post};
use gleaner_base::clock::UnixMillis;
use gleaner_rules::{Policy, SiteRules};
pub use told::ListExplanation;

/// Name of the note that stores the schedule.
pub const SCHEDULE_NOTE: &str = "schedule";

const VERSION: u32 = 1;

/// Seconds by which a recheck may be earlier than the last one: more means a clock that was set back, and everything starts over.
const SET_BACK_S: u64 = 3_600;

/// The weight of a list is that of its last 20 days (ALGORITHMS §10.3), or of up to 30, after which its counts are dropped.
const WEIGHED_S: u64 = 20 * DAY_S;
const WEIGHED_LONGEST_S: u64 = 30 * DAY_S;

/// Rechecks in a row of a list that is gone or moved, each after twice the time, before it leaves the schedule.
const AWAY_LOOKS: u32 = 5;

/// Change of the rechecks a day below which they stay.
const RATE_NOISE: f64 = 0.1;

/// The schedule of one site.
pub struct Timetable {
    policy: Policy,
    /// Rechecks a day of all lists; `None` for one of each per interval.
    per_day: Option<u32>,
    /// The rule file names no interval: busy lists are rechecked as often as they change.
    follows_rate: bool,
    interval_s: u64,
    /// Maximum of concurrent rechecks: a site that answers slowly gets others meanwhile.
    at_once: usize,
    kept: Mutex<LoadedTimetable>,
}

#[derive(Default)]
struct LoadedTimetable {
    state: Option<StoredTimetable>,
    numbers: HashMap<String, BoardNumber>,
    is_changed: bool,
    /// The latest recheck of any list, in seconds.
    latest: u64,
    /// Last time when no list could be dropped to make room, in seconds.
    is_full: Option<u64>,
    /// Rechecks that were requested and have not arrived yet, and when they were requested.
    asked: BTreeMap<BoardNumber, UnixMillis>,
    /// URLs of those that did not arrive in time, and still may: their rechecks are used up.
    late: HashSet<String>,
    /// Capacity of a day; None before it is known.
    room: Option<Allowed>,
    /// The plans of the day, and when they were made.
    plan: Option<(u64, fixed::Plan)>,
}

/// Requests of a day for first and later pages of lists, and those for first pages alone.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Allowed {
    all: f64,
    looks: f64,
}

/// The stored form.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct StoredTimetable {
    version: u32,
    pub policy: Policy,
    pub per_day: f64,
    schedule: Schedule,
    /// Indexed by their numbers.
    pub lists: Vec<List>,
}

/// State of a list in addition to the schedule's own.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct List {
    pub url: String,
    /// Seconds since 1970: beginning of the count of its posts, and its last recheck.
    pub since: u64,
    pub looked: u64,
    pub looks: u64,
    /// Posts by hour of the day (UTC), replies counted as half.
    hours: [f64; HOURS],
    /// Failed rechecks since the last successful one.
    #[serde(default)]
    failed: u32,
}

/// Requests a day for pages of lists that are read in rotation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Room {
    /// What rechecks leave of their half of the day's requests: nothing if the day has too few for them.
    pub spare: f64,
    /// Part of that half that is reserved, whatever rechecks leave.
    pub least: f64,
}

impl StoredTimetable {
    /// Parses a note; `None` if it is broken or of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Option<Self> {
        let state = serde_json::from_slice::<Self>(note).ok()?;
        (state.version == VERSION && state.schedule.boards() == state.lists.len()).then_some(state)
    }

    /// True if it has reached the maximum of lists: any others are rechecked at their interval.
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.lists.len() >= SCHEDULE_LISTS_MAX
    }

    /// True if post numbers of some lists indicate posts on the others.
    #[must_use]
    pub fn goes_by_numbers(&self) -> bool {
        self.policy == Policy::Gleaner && self.schedule.goes_by_numbers()
    }

    /// The list with the oldest recheck, if that is so old that the list is no longer rechecked.
    fn longest_ago(&self, now: u64) -> Option<BoardNumber> {
        let (list, number) = self.lists.iter().zip(0..).min_by_key(|(list, _)| list.looked)?;
        (now.saturating_sub(list.looked) > LIST_FORGOTTEN_TIME.as_secs()).then_some(number)
    }

    fn learnt(&self, now: u64) -> Vec<Learnt> {
        self.lists.iter().map(|list| Learnt { weight: list.weight(now), hours: list.hours }).collect()
    }

    /// With fewer rechecks a day than lists, all lists get equally many, in rotation: returns the next one of a list.
    fn round(&self, number: BoardNumber, now: u64) -> Option<u64> {
        let lists = self.lists.len() as f64;
        if self.policy == Policy::Gleaner || self.per_day >= lists {
            return None;
        }
        let round_s = (lists / self.per_day.max(1e-3) * DAY_S as f64) as u64;
        let place_s = (f64::from(number) / lists * round_s as f64) as u64;
        let begun = now.saturating_sub(place_s) / round_s * round_s + place_s;
        Some(if begun > now { begun } else { begun + round_s })
    }

    /// The rechecks of a day with at least one per list.
    fn plan(&self, now: u64) -> fixed::Plan {
        let learnt = self.learnt(now);
        let (all, lists) = (self.per_day.floor().max(0.0) as usize, learnt.len());
        let by_weight = matches!(self.policy, Policy::Wra | Policy::Bra);
        let counts: Vec<usize> = match by_weight {
            true => fixed::in_proportion(&learnt, all),
            // The remainder goes to the first ones.
            false => (0..lists).map(|list| all / lists + usize::from(list < all % lists)).collect(),
        };
        let by_profile = matches!(self.policy, Policy::Lra | Policy::Bra);
        let times = |(list, count): (&Learnt, usize)| {
            if by_profile { fixed::equal_area_times(&list.hours, count) } else { fixed::even_times(count) }
        };
        learnt.iter().zip(counts).map(times).collect()
    }
}

/// Seconds until a missing list is rechecked, after this number of rechecks: at first an interval, in the end a day.
pub fn away_s(interval_s: u64, looks: u32) -> u64 {
    let longer = interval_s.saturating_mul(1 << looks.saturating_sub(1).min(16));
    longer.min(DAY_S.max(interval_s))
}

/// Removes a list. The last one gets its number.
fn remove(
    state: &mut StoredTimetable,
    numbers: &mut HashMap<String, BoardNumber>,
    asked: &mut BTreeMap<BoardNumber, UnixMillis>,
    number: BoardNumber,
) {
    state.schedule.remove(number);
    let removed = state.lists.swap_remove(number as usize);
    numbers.remove(&removed.url);
    asked.remove(&number);
    if let (Some(moved), Ok(before)) = (state.lists.get(number as usize), BoardNumber::try_from(state.lists.len())) {
        numbers.insert(moved.url.clone(), number);
        if let Some(since) = asked.remove(&before) {
            asked.insert(number, since);
        }
    }
}

/// The times of a day that fall within the next 24 hours, in order.
fn times_of_day(times: &[f64], now: u64) -> Vec<u64> {
    let midnight = now / DAY_S * DAY_S;
    let mut next: Vec<u64> = times
        .iter()
        .map(|time| midnight + (*time as u64).min(DAY_S))
        .map(|at| if at > now { at } else { at + DAY_S })
        .collect();
    next.sort_unstable();
    next
}

impl List {
    /// Posts a day of the last 20 to 30 days, or since it is watched.
    fn weight(&self, now: u64) -> f64 {
        let days = now.saturating_sub(self.since).max(DAY_S) as f64 / DAY_S as f64;
        self.hours.iter().sum::<f64>() / days
    }

    /// The same from the first hours on: a page of rows that show their times tells the rate of the hours that it spans.
    fn rate(&self, now: u64) -> f64 {
        let seconds = now.saturating_sub(self.since).max(RATE_SPAN_MIN.as_secs());
        self.hours.iter().sum::<f64>() * DAY_S as f64 / seconds as f64
    }

    fn count(&mut self, posts: &[Post], now: u64) {
        let span = now.saturating_sub(self.since);
        if span > WEIGHED_LONGEST_S {
            self.hours = self.hours.map(|posts| posts * WEIGHED_S as f64 / span as f64);
            self.since = now - WEIGHED_S;
        }
        for post in posts.iter().filter(|post| post.at >= self.since) {
            self.hours[(post.at / HOUR_S) as usize % HOURS] += post.kind.weight();
        }
    }
}

impl Timetable {
    /// Starts without state.
    #[must_use]
    pub fn new(rules: &SiteRules) -> Self {
        Self {
            policy: rules.boards.policy,
            per_day: rules.boards.looks_per_day,
            follows_rate: rules.boards.follows_rate,
            interval_s: rules.revisit.as_secs().max(60),
            // If the requests of a day are limited, results of one recheck are fetched before the next recheck.
            at_once: match rules.quota.requests_per_day {
                Some(_) => 1,
                None => usize::from(rules.rate.connections).min(rules.lanes.count.into()).max(1),
            },
            kept: Mutex::default(),
        }
    }

    /// Loads the note of earlier runs; logs a warning if it is unusable. The number of rechecks a day follows the current rules.
    pub fn take_up(&self, site: &str, note: Option<&[u8]>, at: UnixMillis) {
        let Some(note) = note else { return };
        let Some(mut state) = StoredTimetable::from_bytes(note) else {
            tracing::warn!(%site, "the stored schedule cannot be read: it is learned anew");
            return;
        };
        state.policy = self.policy;
        let mut kept = self.kept();
        state.per_day = self.looks_per_day(&state.lists, kept.room, at.0 / 1_000);
        state.schedule.set_looks_per_day(state.per_day, at.0 / 1_000);
        kept.numbers = state.lists.iter().zip(0..).map(|(list, number)| (list.url.clone(), number)).collect();
        kept.latest = state.lists.iter().map(|list| list.looked).max().unwrap_or(0);
        kept.state = Some(state);
    }

    /// The note, if something has changed.
    pub fn note(&self) -> Option<(String, Vec<u8>)> {
        let mut kept = self.kept();
        if !std::mem::take(&mut kept.is_changed) {
            return None;
        }
        drop(kept);
        Some((SCHEDULE_NOTE.to_owned(), self.note_now()?))
    }

    pub(super) fn note_now(&self) -> Option<Vec<u8>> {
        serde_json::to_vec(self.kept().state.as_ref()?).ok()
    }

    fn kept(&self) -> MutexGuard<'_, LoadedTimetable> {
        // A schedule is consistent between calls.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Rechecks a day for these lists: as the rules set it, else one per interval, or per new entry where the rules set no interval, if there is
    /// room.
    fn looks_per_day(&self, lists: &[List], room: Option<Allowed>, now: u64) -> f64 {
        let at_least = DAY_S as f64 / self.interval_s as f64;
        let most = (DAY_S / LOOK_INTERVAL_MIN.as_secs()) as f64;
        let of =
            |list: &List| if self.follows_rate { list.rate(now).clamp(at_least, most.max(at_least)) } else { at_least };
        let by_interval: f64 = lists.iter().map(of).sum();
        let room = room.map_or(f64::INFINITY, |room| room.looks);
        self.per_day.map_or(by_interval.min(room), f64::from)
    }

    /// Handles a clock that was set forward so far that what was learned no longer counts, and the time between was not watched: all lists
    /// are learned again, and are due at once.
    pub fn begin_anew(&self, at: UnixMillis) {
        let now = at.0 / 1_000;
        let mut kept = self.kept();
        let kept = &mut *kept;
        let Some(state) = kept.state.as_mut() else { return };
        state.schedule = Schedule::new(state.per_day, now);
        for list in &mut state.lists {
            state.schedule.add_board(1.0, now);
            *list = List { since: now, looked: now, looks: 0, hours: [0.0; HOURS], failed: 0, ..list.clone() };
        }
        kept.asked.clear();
        (kept.plan, kept.is_full, kept.latest, kept.is_changed) = (None, None, now, true);
    }

    /// Handles a clock that was set back by this much, to `at`: rechecks continue as if it had shown that time before. Times farther ahead
    /// were recorded after the time from which the step is known.
    pub fn set_back(&self, by: Duration, at: UnixMillis) {
        let mut kept = self.kept();
        let kept = &mut *kept;
        let Some(state) = kept.state.as_mut() else { return };
        let by_s = by.as_secs().max(kept.latest.saturating_sub(at.0 / 1_000));
        state.schedule.set_back(by_s);
        for list in &mut state.lists {
            for at in [&mut list.since, &mut list.looked] {
                *at = at.saturating_sub(by_s);
            }
        }
        kept.latest = kept.latest.saturating_sub(by_s);
        kept.asked.clear();
        (kept.plan, kept.is_full, kept.is_changed) = (None, None, true);
    }

    /// Sets the capacity for rechecks a day. Of those of lists that are not ordered by time, which are this share of all, half go
    /// to later pages: new entries are as likely there.
    pub fn allows(&self, looks_per_day: f64, in_another_order: f64, at: UnixMillis) {
        let all = looks_per_day.max(1.0);
        let room = Allowed { all, looks: all * (1.0 - in_another_order.clamp(0.0, 1.0) / 2.0) };
        let mut kept = self.kept();
        let kept = &mut *kept;
        if kept.room == Some(room) {
            return;
        }
        kept.room = Some(room);
        if let Some(state) = kept.state.as_mut() {
            let per_day = self.looks_per_day(&state.lists, kept.room, at.0 / 1_000);
            if (per_day - state.per_day).abs() > 1e-6 {
                state.per_day = per_day;
                state.schedule.set_looks_per_day(per_day, at.0 / 1_000);
                kept.is_changed = true;
            }
        }
    }

    /// Requests a day for pages of lists that are read in rotation. Unlimited if requests are not counted.
    pub fn room_beside_looks(&self) -> Room {
        let kept = self.kept();
        let planned = kept.state.as_ref().map_or(0.0, |state| state.per_day);
        let room = kept.room.map_or(f64::INFINITY, |room| room.all);
        Room { spare: (room - planned).max(0.0), least: room / 8.0 }
    }

    /// Rechecks a day of all lists, as planned now; none before a list is known.
    pub fn looks_a_day(&self) -> f64 {
        self.kept().state.as_ref().map_or(0.0, |state| state.per_day)
    }

    /// Mean time between two rechecks of a list; zero without lists.
    pub fn mean_wait(&self) -> Duration {
        let kept = self.kept();
        let days = kept.state.as_ref().map_or(0.0, |state| state.lists.len() as f64 / state.per_day.max(1e-3));
        Duration::from_secs((days.min(60.0) * DAY_S as f64) as u64)
    }

    /// Records the new posts that a recheck of a list showed. From the rows of the first recheck the schedule learns about the
    /// time before.
    pub fn looked(&self, url: &str, at: UnixMillis, posts: &[Post]) {
        let now = at.0 / 1_000;
        let mut kept = self.kept();
        let kept = &mut *kept;
        if kept.latest > now + SET_BACK_S {
            // Plans in the future, made by a wrong clock.
            *kept = LoadedTimetable { room: kept.room, ..LoadedTimetable::default() };
        }
        let state = kept.state.get_or_insert_with(|| StoredTimetable {
            version: VERSION,
            policy: self.policy,
            per_day: 0.0,
            schedule: Schedule::new(0.0, now),
            lists: Vec::new(),
        });
        let number = match kept.numbers.get(url) {
            Some(number) => *number,
            None => {
                if state.lists.len() >= SCHEDULE_LISTS_MAX {
                    let is_sought =
                        kept.is_full.is_none_or(|at| now.saturating_sub(at) >= LIST_ROOM_SOUGHT_EVERY.as_secs());
                    let Some(oldest) = is_sought.then(|| state.longest_ago(now)).flatten() else {
                        if is_sought {
                            kept.is_full = Some(now);
                        }
                        return;
                    };
                    remove(state, &mut kept.numbers, &mut kept.asked, oldest);
                }
                let since = posts.iter().map(|post| post.at).min().unwrap_or(now);
                let since = since.clamp(now.saturating_sub(WEIGHED_S), now);
                let number = state.schedule.add_board(1.0, since);
                kept.numbers.insert(url.to_owned(), number);
                let url = url.to_owned();
                state.lists.push(List { url, since, looked: now, looks: 0, hours: [0.0; HOURS], failed: 0 });
                state.per_day = self.looks_per_day(&state.lists, kept.room, now);
                state.schedule.set_looks_per_day(state.per_day, now);
                number
            }
        };
        kept.is_changed = true;
        let list = &mut state.lists[number as usize];
        list.count(posts, now);
        list.looks += 1;
        (list.looked, list.failed) = (now, 0);
        if self.follows_rate {
            let per_day = self.looks_per_day(&state.lists, kept.room, now);
            // The rate is an estimate: the plan follows what is more than noise.
            if (per_day - state.per_day).abs() > state.per_day * RATE_NOISE {
                state.per_day = per_day;
                state.schedule.set_looks_per_day(per_day, now);
            }
        }
        let list = &state.lists[number as usize];
        kept.latest = kept.latest.max(now);
        if list.looks == 1 {
            state.schedule.begin(number, posts, now);
        } else {
            if kept.late.remove(url) {
                state.schedule.came_late();
            }
            state.schedule.looked(number, now, posts);
        }
        kept.asked.remove(&number);
    }

    /// A list was visited without a result: it failed, or is none. If it was requested, the next one has its turn. Nothing
    /// is learned, not even silence. One that `is_away`, gone or moved, is requested ever more rarely and in the end removed.
    pub fn came(&self, url: &str, at: UnixMillis, is_away: bool) {
        let mut kept = self.kept();
        let kept = &mut *kept;
        let (Some(&number), Some(state)) = (kept.numbers.get(url), kept.state.as_mut()) else { return };
        let was_asked = kept.asked.remove(&number).is_some();
        kept.late.remove(url);
        let list = &mut state.lists[number as usize];
        if was_asked || is_away {
            list.failed = list.failed.saturating_add(1);
            kept.is_changed = true;
        }
        if was_asked {
            let wait_s = if is_away { away_s(self.interval_s, list.failed) } else { self.interval_s };
            state.schedule.failed(number, at.0 / 1_000, wait_s);
        }
        if is_away && state.lists[number as usize].failed >= AWAY_LOOKS {
            remove(state, &mut kept.numbers, &mut kept.asked, number);
            state.per_day = self.looks_per_day(&state.lists, kept.room, at.0 / 1_000);
            state.schedule.set_looks_per_day(state.per_day, at.0 / 1_000);
        }
    }

    /// Removes a scheduled list that turned out to be none.
    pub fn leaves(&self, url: &str, at: UnixMillis) {
        let mut kept = self.kept();
        let kept = &mut *kept;
        let (Some(&number), Some(state)) = (kept.numbers.get(url), kept.state.as_mut()) else { return };
        remove(state, &mut kept.numbers, &mut kept.asked, number);
        state.per_day = self.looks_per_day(&state.lists, kept.room, at.0 / 1_000);
        state.schedule.set_looks_per_day(state.per_day, at.0 / 1_000);
        kept.is_changed = true;
    }

    /// A requested list is no longer one by the current rules: no recheck was used up, and none of the others waits for it.
    pub fn refused(&self, url: &str, at: UnixMillis) {
        let mut kept = self.kept();
        let kept = &mut *kept;
        let Some(&number) = kept.numbers.get(url).filter(|number| kept.asked.contains_key(number)) else { return };
        kept.asked.remove(&number);
        if let Some(state) = kept.state.as_mut() {
            state.schedule.put_off(number, at.0 / 1_000);
            kept.is_changed = true;
        }
    }

    /// Records what later pages of a list showed in the same recheck.
    pub fn learned(&self, url: &str, at: UnixMillis, posts: &[Post]) {
        let mut kept = self.kept();
        let kept = &mut *kept;
        let (Some(number), Some(state)) = (kept.numbers.get(url), kept.state.as_mut()) else { return };
        if !posts.is_empty() {
            state.lists[*number as usize].count(posts, at.0 / 1_000);
            state.schedule.learn(*number, posts, at.0 / 1_000);
            kept.is_changed = true;
        }
    }

    /// True for a list outside the schedule although there is room for it.
    #[must_use]
    pub fn lacks(&self, url: &str) -> bool {
        let kept = self.kept();
        kept.state.as_ref().is_some_and(|state| !state.is_full()) && !kept.numbers.contains_key(url)
    }

    /// True if lists other than this one are rechecked.
    #[must_use]
    pub fn has_lists_beside(&self, list: Option<&str>) -> bool {
        let kept = self.kept();
        let own = list.is_some_and(|list| kept.numbers.contains_key(list));
        kept.numbers.len() > usize::from(own)
    }

    /// A list to be rechecked now, by its URL; `None` while none is due, or while the maximum of concurrent ones is in flight. It counts as
    /// requested until it was rechecked, or for [`SCHEDULE_PATIENCE`].
    pub fn due(&self, at: UnixMillis) -> Option<String> {
        if self.policy != Policy::Gleaner {
            return None;
        }
        let mut kept = self.kept();
        let kept = &mut *kept;
        let state = kept.state.as_mut()?;
        let is_over = |since: &UnixMillis| at.since(*since) >= SCHEDULE_PATIENCE || at < *since;
        for (number, _) in kept.asked.extract_if(.., |_, since| is_over(since)) {
            // It did not arrive: its turn is over.
            state.schedule.failed(number, at.0 / 1_000, self.interval_s);
            if kept.late.len() >= SCHEDULE_LISTS_MAX {
                // Entries of removed lists are never taken out.
                kept.late.clear();
            }
            kept.late.extend(state.lists.get(number as usize).map(|list| list.url.clone()));
        }
        if kept.asked.len() >= self.at_once {
            return None;
        }
        let asked: Vec<BoardNumber> = kept.asked.keys().copied().collect();
        let look = state.schedule.next_look_beside(&asked)?;
        if look.at > (at.0 / 1_000) as f64 {
            return None;
        }
        kept.asked.insert(look.board, at);
        state.lists.get(look.board as usize).map(|list| list.url.clone())
    }

    /// The lists of the schedule, at most those that can be leased at once.
    #[must_use]
    pub fn urls(&self) -> Vec<String> {
        let kept = self.kept();
        let lists = kept.state.iter().flat_map(|state| &state.lists);
        lists.take(LOOKS_LEASED_MAX).map(|list| list.url.clone()).collect()
    }

    /// Lists without a recheck since `since` that are expected to have one or more new posts by now, the fullest first: a round rechecks
    /// them whatever other rechecks could find. None if the rule file sets the number or the times of rechecks.
    #[must_use]
    pub fn overdue(&self, since: UnixMillis, at: UnixMillis) -> Vec<String> {
        let kept = self.kept();
        let (Policy::Gleaner, None, Some(state)) = (self.policy, self.per_day, kept.state.as_ref()) else {
            return Vec::new();
        };
        let (since, now) = (since.0 / 1_000, at.0 / 1_000);
        let lists = state.lists.iter().zip(0..).filter(|(list, _)| list.looked < since && list.failed == 0);
        let mut full: Vec<(f64, &str)> = lists
            .map(|(list, number)| (state.schedule.posts_waiting(number, now), list.url.as_str()))
            .filter(|(posts, _)| *posts >= 1.0)
            .collect();
        full.sort_by(|(one, _), (other, _)| other.total_cmp(one));
        full.into_iter().take(LOOKS_LEASED_MAX).map(|(_, url)| url.to_owned()).collect()
    }

    /// Time at which a list that was just rechecked is queued again; `None` if the interval decides. With `gleaner` that is later than
    /// its turn will come: a fallback in case the schedule is lost.
    pub fn again(&self, url: &str, at: UnixMillis) -> Option<UnixMillis> {
        let now = at.0 / 1_000;
        let mut kept = self.kept();
        let kept = &mut *kept;
        let number = *kept.numbers.get(url)?;
        let state = kept.state.as_ref()?;
        if self.policy == Policy::Gleaner {
            let due = state.schedule.due_at(number)?;
            let wait_s = due.saturating_sub(now).saturating_add(self.interval_s).saturating_mul(2);
            return Some(at.plus(Duration::from_secs(wait_s.min(60 * DAY_S))));
        }
        if let Some(next) = state.round(number, now) {
            return Some(at.plus(Duration::from_secs(next - now)));
        }
        let is_old = kept.plan.as_ref().is_none_or(|(made, plan)| {
            now >= made + SCHEDULE_PLANNED_EVERY.as_secs() || now < *made || plan.len() != state.lists.len()
        });
        if is_old {
            kept.plan = Some((now, state.plan(now)));
        }
        let times = kept.plan.as_ref().and_then(|(_, plan)| plan.get(number as usize))?;
        let next = times_of_day(times, now).first().copied()?;
        Some(at.plus(Duration::from_secs(next - now)))
    }
}

#[cfg(test)]
mod tests;
