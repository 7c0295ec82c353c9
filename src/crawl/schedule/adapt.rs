//! The crawl's own schedule: which board is rechecked next, and when (beyond the paper, ALGORITHMS §10.3–10.4).
//!
//! A recheck has a price, in seconds of delay; the price is such that the rechecks of a day are just used up. A board is due
//! when its forecast posts are worth that price. With N posts waiting and a rate ρ, the wait that
//! leaves no regret is the one after which N² / 2ρ reaches the price: the cost of the next moment, N, is then that
//! of the best plan from here on, √(2 · price · ρ) (Whittle's index of a board whose state a recheck resets; Whittle 1988).
//! A steady board is thus rechecked by the square root of its rate; one whose rate falls is rechecked once more before
//! its night; one with a burst again within minutes; a dormant one rarely, but for ever.
//!
//! Input: the results of rechecks, in any order of boards. Output: the next recheck. It stores no posts: a few hundred
//! bytes a board. It never reads the clock and never uses the future.

mod explain;
mod numbers;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use serde::{Deserialize, Serialize};

use super::forecast::{Ahead, Forecast, Shares, Step};
use super::habit::Habits;
use super::odometer::Odometer;
use super::profile::{Counts, Profile};
use super::{DAY_S, HOUR_S, HOURS, Post};
use crate::limits;

pub use self::explain::Reason;

const DAY: f64 = DAY_S as f64;

/// Minimum time between two rechecks of a board, in seconds: the first step of a search for the due time.
const PAUSE_S: f64 = 60.0;

/// Minimum step after that: a list whose turn comes every minute and a quarter must not wait for two.
const STEP_S: f64 = 15.0;

/// Maximum step: profiles change by the hour.
const STEP_LONGEST_S: f64 = 1_800.0;

/// Steps of a search before they reach the maximum.
const STEPS: usize = 160;

/// Steps grow with the time since the last recheck by this share of it.
const STEP_SHARE: f64 = 0.04;

/// Maximum time between two rechecks of a board, whatever the price: a year's archive shows boards that wake up after years.
const GAP_S: f64 = 30.0 * DAY;

/// How many rechecks may be saved for busier times, in days of them.
const SAVED_DAYS: f64 = 1.0;

/// How many rechecks may be borrowed from the following days, in days of them: a burst in a lean hour must not wait
/// for the clock. A busy morning's worth; what is borrowed once is all that a span of days may have in addition to its own.
const BORROWED_DAYS: f64 = 0.3;

/// How the price reacts when more or less is saved than aimed at: this power of e for each day. Weekends save and
/// weekdays borrow most of a day between them, and the price should hardly change for it.
const ANSWER: f64 = 1.2;

/// How fast that becomes lasting, per day: a week, so that weekends have no effect.
const LEARN: f64 = 0.15;

/// Ratio of the rechecks that boards really get to those that their levels alone would buy: bursts are cheaper than a steady rate.
const BURSTINESS: f64 = 0.87;

/// Rechecks that an event which comes by habit gets in the end: while it is likely, more than one.
const LOOKS_A_HABIT: f64 = 1.5;

/// Share of a habit's mean rate that counts between its times: nothing comes then, but a recheck that waits for the next time saves one.
const BETWEEN_TIMES: f64 = 0.5;

/// Minimum share of the rechecks assumed for posts that come at any time, however many come by habit.
const LEFT_LEAST: f64 = 0.1;

/// Seconds between two rechecks within which a post's time is known well enough even if the site does not show it.
const UNTOLD_S: f64 = 1_800.0;

/// Assumed average board of a site before anything is known, in posts a second: one a day.
const SITE_RATE: f64 = 1.0 / DAY;

/// Weight of that assumption, in posts.
const SITE_RATE_WEIGHT: f64 = 3.0;

/// How often the sum of the levels of all boards is recomputed, in seconds.
const LEVELS_S: f64 = 6.0 * 3_600.0;

/// Boards whose last recheck is older than this do not help to decide which numbers belong to no board, in seconds.
const KNOWN_S: f64 = 2.0 * DAY;

/// Posts after which the count of a board's numbered posts fades.
const NUMBERED_MEMORY: f64 = 200.0;

/// Before any time, in seconds; a finite number, as notes cannot contain infinite ones.
const NEVER: f64 = -1e18;

/// A board's number in its schedule: boards are numbered as they are added.
pub type BoardNumber = u32;

/// A due recheck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DueRecheck {
    /// The board.
    pub board: BoardNumber,
    /// Earliest time, in seconds since 1970-01-01 UTC.
    pub at: f64,
}

/// The schedule of one site's boards. Serialised with serde.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "Stored", into = "Stored")]
pub struct Schedule {
    state: Stored,
    profiles: Vec<Profile>,
    site_profile: Profile,
    /// Steps of a search for a due time, which are the same for all boards; after these, all equal the last.
    steps: Vec<Step>,
    /// Due times, the earliest first; an entry of a board that was replanned since is skipped.
    queue: BinaryHeap<Reverse<(u64, BoardNumber)>>,
    /// Forecast of each board from the last number seen on, where it was computed.
    carried: Vec<Ahead>,
}

/// The stored part of a schedule; profiles and the queue follow from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Stored {
    per_day: f64,
    boards: Vec<Board>,
    /// Active hours of all boards.
    counts: Counts,
    shares: Shares,
    /// Time of a recheck of all boards that takes place anyway and costs nothing, in seconds.
    free_look: Option<f64>,
    /// Posts seen on all boards, bursts counted as in the profiles; days watched, summed over the boards.
    posts: f64,
    watched_s: f64,
    /// Rechecks saved, negative if borrowed, and the second up to which they are counted.
    saved: f64,
    at: f64,
    /// The price's lasting correction, as a power of e.
    correction: f64,
    /// Σ √(level / 2) over the boards, and the time of its computation.
    roots: f64,
    roots_at: f64,
    /// Events a day that come by habit: each is worth a separate recheck.
    #[serde(default)]
    by_habit: f64,
    #[serde(default)]
    roots_by_habit: f64,
    /// Rechecks that should be saved, by hour of the day, in days of them.
    aims: [f64; HOURS],
    #[serde(default)]
    numbers: Odometer,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Board {
    forecast: Forecast,
    /// Its posts at fixed times of day, which the forecast does not contain.
    #[serde(default)]
    habits: Habits,
    counts: Counts,
    /// W of ALGORITHMS §10.3.
    weight: f64,
    /// When its next recheck is due, as a second.
    due: u64,
    /// True while it cannot be rechecked.
    #[serde(default)]
    put_off: bool,
    /// Until this second its next recheck stays as planned: the last one failed.
    #[serde(default)]
    held_until: u64,
    /// Posts that had a number, and the weight of all.
    #[serde(default)]
    numbered: f64,
    #[serde(default)]
    weighed: f64,
}

impl From<Schedule> for Stored {
    fn from(schedule: Schedule) -> Self {
        schedule.state
    }
}

impl From<Stored> for Schedule {
    fn from(state: Stored) -> Self {
        let site_profile = Profile::of_site(&state.counts);
        let profiles = state.boards.iter().map(|board| Profile::of_board(&board.counts, &site_profile)).collect();
        let queue = state.boards.iter().zip(0..).map(|(board, number)| Reverse((board.due, number))).collect();
        let mut passed = 0.0;
        let steps = (0..STEPS).map(|_| {
            let least = if passed > 0.0 { STEP_S } else { PAUSE_S };
            let step = Step::new((STEP_SHARE * passed).clamp(least, STEP_LONGEST_S));
            passed += step.seconds;
            step
        });
        Self { state, profiles, site_profile, steps: steps.collect(), queue, carried: Vec::new() }
    }
}

impl Stored {
    /// Rechecks saved beyond the aim, in days of them, at most a day either way: a process that slept for a
    /// month has learnt nothing about the price.
    fn over(&self) -> f64 {
        let hour = (self.at / HOUR_S as f64) as usize % HOURS;
        (self.saved / self.per_day.max(1e-9) - self.aims[hour]).clamp(-1.0, 1.0)
    }
}

/// Rechecks that should be saved at the middle of each hour of the day, in days of them: what is left over at night
/// is used by day, by the square root of the activity. The smallest value is zero.
fn aims(site: &Profile) -> [f64; HOURS] {
    let roots = site.of_day().map(f64::sqrt);
    let mean = roots.iter().sum::<f64>() / HOURS as f64;
    let mut saved = 0.0;
    let aims = roots.map(|root| {
        let more = (1.0 - root / mean) / HOURS as f64;
        saved += more;
        saved - more / 2.0
    });
    let least = aims.iter().copied().fold(f64::INFINITY, f64::min);
    aims.map(|aim| aim - least)
}

impl Schedule {
    /// A schedule without boards, for `looks_per_day` rechecks a day in all, from the second `now` on.
    #[must_use]
    pub fn new(looks_per_day: f64, now: u64) -> Self {
        Self::from(Stored {
            per_day: looks_per_day.max(0.0),
            boards: Vec::new(),
            counts: Counts::default(),
            shares: Shares::default(),
            free_look: None,
            posts: 0.0,
            watched_s: 0.0,
            saved: 0.0,
            at: now as f64,
            correction: 0.0,
            roots: 0.0,
            by_habit: 0.0,
            roots_by_habit: 0.0,
            roots_at: NEVER,
            aims: [0.0; HOURS],
            numbers: Odometer::default(),
        })
    }

    /// Changes the number of rechecks a day from `now` on. Over any number of days there are at most so many, plus one day's that were
    /// saved before and the 0.3 days' that may be borrowed from the following days.
    pub fn set_looks_per_day(&mut self, looks_per_day: f64, now: u64) {
        self.accrue(now as f64);
        self.state.per_day = looks_per_day.max(0.0);
        // What was borrowed from a high number of rechecks a day is not paid back from a low one.
        self.state.saved = self.state.saved.max(-BORROWED_DAYS * self.state.per_day);
    }

    /// Announces that all boards are rechecked at the second `at` anyway, one after another, at no cost. Until then,
    /// boards are not rechecked for what it will show soon enough.
    pub fn set_free_look(&mut self, at: Option<u64>) {
        self.state.free_look = at.map(|at| at as f64);
    }

    /// When a board is due by current knowledge, as a second; its turn may come later, and another recheck may change it. None for an
    /// unknown board.
    #[must_use]
    pub fn due_at(&self, number: BoardNumber) -> Option<u64> {
        self.state.boards.get(number as usize).map(|board| board.due)
    }

    /// The clock was set back by this many seconds: all computed times move back by as much. Habits keep their times of
    /// the day, and profiles their hours.
    pub fn set_back(&mut self, seconds: u64) {
        let by = seconds as f64;
        let state = &mut self.state;
        (state.at, state.roots_at) = (state.at - by, state.roots_at - by);
        state.free_look = state.free_look.map(|at| at - by);
        state.counts.set_back(seconds);
        state.numbers.set_back(seconds);
        self.carried.clear();
        for board in &mut state.boards {
            board.forecast.set_back(by);
            board.counts.set_back(seconds);
            board.due = board.due.saturating_sub(seconds);
        }
        self.queue = state.boards.iter().zip(0..).map(|(board, number)| Reverse((board.due, number))).collect();
    }

    /// Adds a board that is watched from the second `since` on, with a weight (W of ALGORITHMS §10.3; 1 is usual). It
    /// is due at once.
    pub fn add_board(&mut self, weight: f64, since: u64) -> BoardNumber {
        let number = BoardNumber::try_from(self.state.boards.len()).unwrap_or(BoardNumber::MAX);
        self.state.boards.push(Board {
            forecast: Forecast::new(since as f64),
            habits: Habits::default(),
            counts: Counts::default(),
            weight: if weight.is_finite() { weight.max(1e-6) } else { 1.0 },
            due: since,
            put_off: false,
            held_until: 0,
            numbered: 0.0,
            weighed: 0.0,
        });
        self.profiles.push(self.site_profile.clone());
        self.queue.push(Reverse((since, number)));
        self.state.roots_at = NEVER;
        number
    }

    /// Number of boards.
    #[must_use]
    pub fn boards(&self) -> usize {
        self.state.boards.len()
    }

    /// Adds what is known of a board up to the second `until` without a recheck of this schedule: its history.
    /// Posts may come in any order; those after `until`, from a wrong clock, count as if they came then.
    pub fn learn(&mut self, board: BoardNumber, posts: &[Post], until: u64) {
        self.take(board, posts, until);
        self.plan(board);
    }

    /// The same at the first recheck of a board, at the second `now`: the value of rechecks over all boards is recomputed.
    pub fn begin(&mut self, board: BoardNumber, posts: &[Post], now: u64) {
        self.take(board, posts, now);
        self.state.roots_at = NEVER;
        self.accrue(now as f64);
        self.plan(board);
    }

    /// Adds the new posts that a recheck at the second `now` showed, and plans the board's next one. Uses up one
    /// recheck of the day's.
    pub fn looked(&mut self, board: BoardNumber, now: u64, posts: &[Post]) {
        self.accrue(now as f64);
        self.state.saved -= 1.0;
        self.take(board, posts, now);
        self.plan(board);
        if posts.iter().any(|post| post.number.is_some()) {
            self.read_numbers();
        }
    }

    /// A recheck at the second `now` failed: it is used up and teaches nothing, neither posts nor silence. The next one is due
    /// after `wait_s` seconds.
    pub fn failed(&mut self, number: BoardNumber, now: u64, wait_s: u64) {
        self.accrue(now as f64);
        self.state.saved -= 1.0;
        if let Some(board) = self.state.boards.get_mut(number as usize) {
            board.due = now.saturating_add(wait_s.max(PAUSE_S as u64));
            board.held_until = board.due;
            self.queue.push(Reverse((board.due, number)));
        }
    }

    /// A recheck arrives that was given up: it was charged then.
    pub fn came_late(&mut self) {
        self.state.saved += 1.0;
    }

    /// Removes a board. The last one gets its number.
    pub fn remove(&mut self, number: BoardNumber) {
        if (number as usize) < self.state.boards.len() {
            self.state.boards.swap_remove(number as usize);
            self.profiles.swap_remove(number as usize);
            self.carried.clear();
            self.queue =
                self.state.boards.iter().zip(0..).map(|(board, number)| Reverse((board.due, number))).collect();
            self.state.roots_at = NEVER;
        }
    }

    /// Delays a board that cannot be rechecked: its next recheck is planned for the longest wait of any board from the second `now` on.
    /// Costs none.
    pub fn put_off(&mut self, board: BoardNumber, now: u64) {
        if let Some(put_off) = self.state.boards.get_mut(board as usize) {
            (put_off.due, put_off.put_off) = (now + GAP_S as u64, true);
            self.queue.push(Reverse((put_off.due, board)));
            // The other boards get its rechecks.
            self.state.roots_at = NEVER;
        }
    }

    /// Learns what the boards have in common, and replans all of them: called after histories were learnt.
    pub fn settle(&mut self, now: u64) {
        self.accrue(now as f64);
        self.sum_up(now as f64);
        for number in 0..self.state.boards.len() {
            self.profiles[number] = Profile::of_board(&self.state.boards[number].counts, &self.site_profile);
            self.plan(number as BoardNumber);
        }
        self.read_numbers();
    }

    fn take(&mut self, number: BoardNumber, posts: &[Post], until: u64) {
        let site_rate = self.site_rate();
        let is_numbered = self.state.boards.len() <= limits::NUMBERED_BOARDS_MAX;
        let Some(board) = self.state.boards.get_mut(number as usize) else { return };
        let profile = &mut self.profiles[number as usize];
        let from = board.forecast.known_until();
        let until_s = (until as f64).max(from);
        let mut sorted: Vec<&Post> = posts.iter().collect();
        sorted.sort_by_key(|post| post.at);
        // A post exactly in the middle between two rechecks has no known time.
        let middle = (until_s - from > UNTOLD_S).then(|| (from as u64).midpoint(until));
        let told = sorted.iter().map(|post| post.at.min(until)).filter(|at| Some(*at) != middle);
        board.habits.take(told, board.forecast.since(), until_s);
        let habits = &board.habits;
        sorted.retain(|post| !habits.has(post.at));
        let stream = sorted.iter().map(|post| (post.at as f64, post.kind.weight()));
        board.forecast.take(stream, until_s, site_rate, profile, &mut self.state.shares);
        for post in &sorted {
            let at = post.at.min(until);
            if board.counts.post(at) {
                self.state.counts.active_hour(at);
            }
            self.state.posts += post.kind.weight();
        }
        for post in posts {
            board.weighed += post.kind.weight();
            board.numbered += f64::from(u8::from(post.number.is_some()));
        }
        let kept = (NUMBERED_MEMORY / board.weighed.max(1.0)).min(1.0);
        (board.weighed, board.numbered) = (board.weighed * kept, board.numbered * kept);
        for post in posts.iter().filter(|_| is_numbered) {
            if let Some(number) = post.number {
                self.state.numbers.take(number.get(), post.at.min(until));
            }
        }
        board.counts.watch(from as u64, until);
        self.state.counts.watch(from as u64, until);
        self.state.watched_s += until_s - from;
        *profile = Profile::of_board(&board.counts, &self.site_profile);
    }

    /// Posts a second of the site's average board.
    fn site_rate(&self) -> f64 {
        (self.state.posts + SITE_RATE_WEIGHT) / (self.state.watched_s + SITE_RATE_WEIGHT / SITE_RATE)
    }

    /// Updates the saved rechecks up to `now`, and what the price learns from them.
    fn accrue(&mut self, now: f64) {
        if now - self.state.roots_at >= LEVELS_S {
            self.sum_up(now);
        }
        let state = &mut self.state;
        let days = (now - state.at) / DAY;
        if days <= 0.0 {
            return;
        }
        state.at = now;
        state.saved = (state.saved + days * state.per_day).min(SAVED_DAYS * state.per_day);
        let over = state.over();
        state.correction = (state.correction - LEARN * over * days.min(0.25)).clamp(-5.0, 5.0);
    }

    /// Sums up the levels of all boards, and recomputes the site's profile.
    fn sum_up(&mut self, now: f64) {
        self.site_profile = Profile::of_site(&self.state.counts);
        let site_rate = self.site_rate();
        let root = |board: &Board| (board.weight * board.forecast.level(site_rate, &self.state.shares) / 2.0).sqrt();
        let in_turn = || self.state.boards.iter().filter(|board| !board.put_off);
        self.state.roots = in_turn().map(root).sum();
        let by_habit = |board: &Board| board.habits.per_day();
        self.state.by_habit = in_turn().map(by_habit).sum();
        self.state.roots_by_habit = in_turn().map(|board| (board.weight * by_habit(board) / DAY / 2.0).sqrt()).sum();
        self.state.roots_at = now;
        self.state.aims = aims(&self.site_profile);
        // A board that waits for longer than this has hardly any.
        let known = in_turn().map(|board| board.forecast.known_until()).filter(|known| now - known < KNOWN_S);
        let since = in_turn().map(|board| board.forecast.since()).fold(NEVER, f64::max);
        let known = known.fold(now, f64::min);
        self.state.numbers.count_others(since, known);
    }

    /// The delay in seconds that a recheck has to be worth.
    ///
    /// Boards of steady rates ρ need Σ √(ρ / 2 price) rechecks a second: that gives the initial price. It is corrected by the effect of
    /// bursts, and by what was saved or overdrawn.
    fn price(&self) -> f64 {
        let state = &self.state;
        // Each event by habit gets a separate recheck if there are enough, and the others share the rest; otherwise
        // it is treated like any other event.
        let per_second = |looks: f64| (looks / DAY).max(1e-12);
        let of_left = BURSTINESS * state.roots
            / per_second((state.per_day - LOOKS_A_HABIT * state.by_habit).max(LEFT_LEAST * state.per_day));
        let of_all = BURSTINESS * (state.roots + state.roots_by_habit) / per_second(state.per_day);
        let steady = of_left.min(of_all).powi(2);
        let over = state.over();
        (steady * (state.correction - ANSWER * over).exp()).max(1e-3)
    }

    /// When the board is due after the moment that `ahead` has reached. Ends after [`GAP_S`] at the latest.
    fn due_after(&self, number: BoardNumber, mut ahead: Ahead, price: f64) -> f64 {
        let (weight, profile) = (self.state.boards[number as usize].weight, &self.profiles[number as usize]);
        let until = ahead.at + GAP_S;
        // Between its times nothing comes by habit, but soon something will.
        let by_habit = BETWEEN_TIMES * self.state.boards[number as usize].habits.per_day() / DAY;
        let mut steps = self.steps.iter();
        let mut usual = Step::new(PAUSE_S);
        loop {
            usual = steps.next().copied().unwrap_or(usual);
            let step = ahead.step_over(&usual, PAUSE_S.min(usual.seconds));
            ahead.step(&step, profile, &self.state.shares);
            let mut waiting = ahead.posts;
            if let Some(free) = self.state.free_look.filter(|free| *free > ahead.at - step.seconds) {
                if ahead.at >= free {
                    // Everything is seen then; later posts start a new wait.
                    (ahead.posts, ahead.by_habit, waiting) = (0.0, 0.0, 0.0);
                } else if weight * waiting * (free - ahead.at) < price {
                    continue;
                }
            }
            let index = weight * waiting * waiting
                / (2.0 * (ahead.rate + by_habit * (ahead.by_habit / waiting.max(1e-12)).min(1.0)).max(1e-12));
            if index >= price || ahead.at >= until {
                return ahead.at;
            }
        }
    }

    /// When the board is due by current knowledge and the current price.
    fn due(&self, number: BoardNumber) -> u64 {
        let ahead = self.ahead(number as usize);
        self.due_after(number, ahead, self.price()).ceil() as u64
    }

    /// The forecast of a board, from its last recheck on, or from the last number after it.
    fn ahead(&self, number: usize) -> Ahead {
        let known_until = self.state.boards[number].forecast.known_until();
        match self.carried.get(number) {
            Some(carried) if carried.at > known_until => carried.clone(),
            _ => self.ahead_of_known(number),
        }
    }

    /// The same from the time up to which everything is known.
    fn ahead_of_known(&self, number: usize) -> Ahead {
        let Board { forecast, habits, .. } = &self.state.boards[number];
        let mut ahead = forecast.ahead(self.site_rate(), &self.profiles[number], &self.state.shares);
        ahead.coming = habits.coming(ahead.at);
        ahead
    }

    fn plan(&mut self, number: BoardNumber) {
        if number as usize >= self.state.boards.len() {
            return;
        }
        let due = self.due(number);
        let board = &mut self.state.boards[number as usize];
        if (board.due, board.put_off) == (due, false) {
            return;
        }
        (board.due, board.put_off) = (due, false);
        self.queue.push(Reverse((due, number)));
    }

    /// The next recheck; None without boards or without rechecks. It stays the next one until it is completed
    /// ([`Schedule::looked`]); what is learnt in the meantime may change it.
    pub fn next_look(&mut self) -> Option<DueRecheck> {
        self.next_look_beside(&[])
    }

    /// The same while rechecks of these boards are in flight: they are used up, and not yet completed.
    pub fn next_look_beside(&mut self, under_way: &[BoardNumber]) -> Option<DueRecheck> {
        if self.state.per_day <= 0.0 {
            return None;
        }
        let mut passed = Vec::new();
        let next = loop {
            let Some(&Reverse((due, board))) = self.queue.peek() else { break None };
            if self.state.boards[board as usize].due == due && !under_way.contains(&board) {
                break Some((due, board));
            }
            let is_under_way = self.state.boards[board as usize].due == due;
            passed.extend(self.queue.pop().filter(|_| is_under_way));
        };
        self.queue.extend(passed);
        let (due, board) = next?;
        let least = 1.0 - BORROWED_DAYS * self.state.per_day;
        let saved = self.state.saved - under_way.len() as f64;
        let wait_s = (least - saved).max(0.0) / self.state.per_day * DAY;
        Some(DueRecheck { board, at: (due as f64).max((self.state.at + wait_s).ceil()) })
    }
}
