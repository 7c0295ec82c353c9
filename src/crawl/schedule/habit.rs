//! Posts that come at the same time of day on most days, within minutes: nightly builds, programs that post on a schedule.
//!
//! A profile of hours only shows that something comes to such a board between three and four; its posts of weeks show that it comes at
//! 3:10, give or take a minute and a half. A habit is accepted if chance, at the rate around it, would hardly have hit its minutes on as
//! many days, and it is as narrow as the posts are: the spread of their times, with tails as heavy as the logistic distribution's. Its
//! posts are kept out of the forecast, which would expect them at any hour.
//!
//! Pure arithmetic over the last posts of one board; knows no plan and no price.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::profile::is_weekend;
use super::{DAY_S, HOUR_S, HOURS};
use crate::limits::HABIT_POSTS_MAX;

const DAY: f64 = DAY_S as f64;

/// Days that count, and that must have been watched.
const DAYS_LONGEST: f64 = 14.0;
const DAYS_LEAST: f64 = 7.0;

/// Widths of the windows that are searched, in seconds: a habit has nearly all of its posts in one of them.
const WIDTHS_S: [f64; 3] = [300.0, 900.0, 1_800.0];

/// Share of the days on which it must have come.
const HITS_LEAST: f64 = 0.6;

/// How much likelier than chance a habit must make the observed posts, in any window of its width.
const CHANCE: f64 = 1e5;

/// Hours on each side from which the rate of chance is taken.
const AROUND_S: f64 = 2.0 * HOUR_S as f64;

/// Posts within this many seconds of each other are parts of one event.
const ONE_EVENT_S: u64 = 60;

/// Days of assumed uncertainty: what always came may fail to come.
const DOUBT_DAYS: f64 = 0.5;

/// Maximum of habits of one board.
const HABITS_KEPT: usize = 6;

/// Spreads on each side of its middle within which a habit's posts are.
const REACH: f64 = 7.0;

/// The least spread, in seconds: no clock is more precise.
const SPREAD_LEAST_S: f64 = 8.0;

/// A board's posts at fixed times of day.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Habits {
    /// Its last events, by time.
    recent: VecDeque<u64>,
    peaks: Vec<Peak>,
}

/// One habit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Peak {
    /// Second of the day.
    middle: f64,
    /// Scale of the logistic distribution, in seconds.
    spread: f64,
    /// Events on a weekday, on a day of a weekend.
    mass: [f64; 2],
}

/// The remaining part of a habit's current occurrence, and its later ones.
#[derive(Clone, Copy, Debug)]
pub struct Coming {
    peak: Peak,
    /// The middle of the first occurrence that is not over, as a second, and the remaining part of it.
    first: f64,
    left: f64,
}

impl Peak {
    fn reach(&self) -> f64 {
        REACH * self.spread
    }

    fn per_day(&self) -> f64 {
        (5.0 * self.mass[0] + 2.0 * self.mass[1]) / 7.0
    }

    fn mass_at(&self, middle: f64) -> f64 {
        self.mass[usize::from(is_weekend(middle.max(0.0) as u64))]
    }

    /// Share of the posts that come up to `seconds` after the middle.
    fn share(&self, seconds: f64) -> f64 {
        1.0 / (1.0 + (-seconds / self.spread).exp())
    }

    fn has(&self, at: f64) -> bool {
        around(at.rem_euclid(DAY) - self.middle).abs() <= self.reach()
    }
}

/// Difference of two times of day, from minus half a day to plus half a day.
fn around(seconds: f64) -> f64 {
    (seconds + DAY / 2.0).rem_euclid(DAY) - DAY / 2.0
}

impl Habits {
    /// Adds the times of posts, in order, of a board that is watched since `since` and known up to `until`.
    pub fn take(&mut self, posts: impl Iterator<Item = u64>, since: f64, until: f64) {
        // Events in the future came from a clock that was set back since.
        while self.recent.back().is_some_and(|last| *last as f64 > until) {
            self.recent.pop_back();
        }
        let before = self.recent.back().copied();
        for at in posts.take_while(|at| *at as f64 <= until) {
            if self.recent.back().is_none_or(|last| at >= last.saturating_add(ONE_EVENT_S)) {
                self.recent.push_back(at);
            }
        }
        while self.recent.len() > HABIT_POSTS_MAX {
            self.recent.pop_front();
        }
        if self.recent.back().copied() != before || !self.peaks.is_empty() {
            self.learn(since, until);
        }
    }

    /// True for a post that came by habit.
    #[must_use]
    pub fn has(&self, at: u64) -> bool {
        self.peaks.iter().any(|peak| peak.has(at as f64))
    }

    /// Events a day.
    #[must_use]
    pub fn per_day(&self) -> f64 {
        self.peaks.iter().map(Peak::per_day).sum()
    }

    /// Events a day by hour of the day (UTC).
    #[must_use]
    pub fn by_hour(&self) -> [f64; HOURS] {
        let mut hours = [0.0; HOURS];
        for peak in &self.peaks {
            hours[(peak.middle as u64 / HOUR_S) as usize % HOURS] += peak.per_day();
        }
        hours
    }

    /// The expected occurrences after the second `known`, up to which all posts are known.
    #[must_use]
    pub fn coming(&self, known: f64) -> Vec<Coming> {
        let of_peak = |peak: &Peak| {
            // The first occurrence that is not over.
            let last = (known - peak.reach() - peak.middle) / DAY;
            let first = (last.floor() + 1.0) * DAY + peak.middle;
            let came = self.recent.iter().rev().take_while(|at| **at as f64 >= first - peak.reach());
            let came = came.filter(|at| (**at as f64 - first).abs() <= peak.reach()).count() as f64;
            let (mass, over) = (peak.mass_at(first), peak.share(known - first));
            // If a post comes only on some days, each minute of its window that passes without it makes it less likely.
            let left = match came {
                0.0 if mass <= 1.0 => mass * (1.0 - over) / (1.0 - mass * over).max(1e-6),
                _ => (mass - came).max(0.0) * (1.0 - over),
            };
            Coming { peak: *peak, first, left: left / (1.0 - over).max(1e-6) }
        };
        self.peaks.iter().map(of_peak).collect()
    }

    fn learn(&mut self, since: f64, until: f64) {
        self.peaks.clear();
        let from = since.max(until - DAYS_LONGEST * DAY);
        // If more is known than is kept, a shorter time is examined.
        let is_full = self.recent.len() >= HABIT_POSTS_MAX;
        let from = if is_full { from.max(self.recent.front().map_or(from, |first| *first as f64)) } else { from };
        let days = ((until - from) / DAY).floor();
        if days < DAYS_LEAST {
            return;
        }
        let from = until - days * DAY;
        let mut events: Vec<u64> = self.recent.iter().copied().filter(|at| *at as f64 >= from).collect();
        while self.peaks.len() < HABITS_KEPT {
            let Some(peak) = find(&events, from, days) else { break };
            events.retain(|at| !peak.has(*at as f64));
            self.peaks.push(peak);
        }
    }
}

/// The day on which `middle`, a second of the day, is nearest to the given time.
fn day_of(at: f64, middle: f64) -> i64 {
    ((at - middle) / DAY).round() as i64
}

/// The habit that chance explains the least, among those that it does not explain.
fn find(events: &[u64], from: f64, days: f64) -> Option<Peak> {
    if (events.len() as f64) < HITS_LEAST * days {
        return None;
    }
    // Seconds of the day, each with the second.
    let mut times: Vec<(f64, f64)> = events.iter().map(|at| ((*at as f64).rem_euclid(DAY), *at as f64)).collect();
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = times.len();
    let wide: Vec<(f64, f64)> =
        times.iter().copied().chain(times.iter().map(|(of_day, at)| (of_day + DAY, *at))).collect();
    let mut best: Option<(f64, usize, usize)> = None;
    for width in WIDTHS_S {
        let mut end = 0;
        for begin in 0..count {
            end = end.max(begin);
            while end < wide.len() && end < begin + count && wide[end].0 <= wide[begin].0 + width {
                end += 1;
            }
            let inside = end - begin;
            if (inside as f64) < HITS_LEAST * days {
                continue;
            }
            // The nearest occurrence is used, on whatever calendar day.
            let middle = wide[begin].0 + width / 2.0;
            let mut hit: Vec<i64> = wide[begin..end].iter().map(|(_, at)| day_of(*at, middle)).collect();
            hit.sort_unstable();
            hit.dedup();
            let hits = (hit.len() as f64).min(days);
            if hits < HITS_LEAST * days {
                continue;
            }
            let near = times.iter().filter(|(at, _)| around(at - middle).abs() <= AROUND_S + width / 2.0).count();
            let near = near.saturating_sub(inside) as f64 + 0.5;
            let all = (count - inside) as f64 + 0.5;
            let rate = (near / (2.0 * AROUND_S)).max(all / (DAY - width)) / days;
            let by_chance = 1.0 - (-rate * width).exp();
            let share = (hits / days).min(1.0 - 0.5 / days);
            if by_chance >= 0.5 * share {
                continue;
            }
            let score = hits * (share / by_chance).ln() + (days - hits) * ((1.0 - share) / (1.0 - by_chance)).ln();
            // One of this many windows looks like this by chance.
            let score = score - (CHANCE * DAY / width).ln();
            if score > 0.0 && best.is_none_or(|(known, ..)| score > known) {
                best = Some((score, begin, end));
            }
        }
    }
    let (_, begin, end) = best?;
    let inside: Vec<f64> = wide[begin..end].iter().map(|(at, _)| *at).collect();
    let middle = inside[inside.len() / 2].midpoint(inside[(inside.len() - 1) / 2]);
    // In a logistic distribution the mean distance from the middle is 2 ln 2 times its scale; few posts are weak evidence.
    let away = inside.iter().map(|at| (at - middle).abs()).sum::<f64>() / inside.len() as f64;
    let spread =
        (away / (2.0 * std::f64::consts::LN_2) * (1.0 + 1.0 / (inside.len() as f64).sqrt())).max(SPREAD_LEAST_S);
    let is_of_class = |day: i64, weekend: bool| is_weekend((day as f64 * DAY + middle).max(0.0) as u64) == weekend;
    let of_class = |weekend: bool| {
        let first = day_of(from, middle) + 1;
        let watched = (first..first + days as i64).filter(|day| is_of_class(*day, weekend)).count() as f64;
        let came = wide[begin..end].iter().filter(|(_, at)| is_of_class(day_of(*at, middle), weekend)).count() as f64;
        (came, watched)
    };
    let all = inside.len() as f64 / days;
    let mass = [false, true].map(|weekend| {
        let (came, watched) = of_class(weekend);
        (came + all) / (watched + 1.0 + DOUBT_DAYS)
    });
    Some(Peak { middle: middle.rem_euclid(DAY), spread, mass })
}

impl Coming {
    /// Posts that come by habit between two seconds, and the rate at the second of them.
    #[must_use]
    pub fn between(&self, from: f64, to: f64) -> (f64, f64) {
        let (mut posts, mut rate) = (0.0, 0.0);
        let reach = self.peak.reach();
        // A step is shorter than a day: at most one occurrence begins in it and one ends.
        let mut middle = if from - reach <= self.first {
            self.first
        } else {
            self.first + ((from - reach - self.first) / DAY).ceil() * DAY
        };
        while middle - reach <= to {
            let mass = if middle == self.first { self.left } else { self.peak.mass_at(middle) };
            let share = self.peak.share(to - middle);
            posts += mass * (share - self.peak.share(from - middle));
            rate += mass * share * (1.0 - share) / self.peak.spread;
            middle += DAY;
        }
        (posts, rate)
    }

    /// The longest step from `at` on that skips no part of an occurrence, in seconds.
    #[must_use]
    pub fn step_s(&self, at: f64) -> f64 {
        let reach = self.peak.reach();
        let middle = if at <= self.first + reach {
            self.first
        } else {
            self.first + ((at - reach - self.first) / DAY).ceil() * DAY
        };
        let before = middle - reach - at;
        if before > 0.0 { before.max(self.peak.spread / 2.0) } else { self.peak.spread / 2.0 }
    }
}

#[cfg(test)]
mod tests;
