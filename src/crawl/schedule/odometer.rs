//! Numbers that count all posts of a site, as forums and trackers assign them to threads and torrents (`/torrent/4711`).
//!
//! Each number on a rechecked page shows how many posts the whole site had by then. Numbers missing between two seen ones belong to posts
//! on boards not yet rechecked, or to no watched board: they are distributed by what was expected of each board since its last recheck, and
//! of all others. So a recheck of one board informs about the others, too. Whether numbers count, and count the whole site, is tested by
//! their times: if more than a few are out of order, numbers are not used.
//!
//! Pure arithmetic over the last posts of one site; knows no plan and no price.

use serde::{Deserialize, Serialize};

use super::forecast::{Ahead, Shares, Step};
use super::profile::Profile;
use super::{DAY_S, HOUR_S, HOURS};
use crate::limits;

const DAY: f64 = DAY_S as f64;

/// How long posts are kept, in seconds: longer than any board except a dormant one waits for a recheck.
const KEPT_S: u64 = 10 * DAY_S;

/// Two times that differ by less may be in any order: rows show minutes.
const SLACK_S: u64 = 120;

/// Numbers that must have been in the order of their times, and the maximum share of exceptions.
const FITS_LEAST: f64 = 30.0;
const MISFITS_MOST: f64 = 0.05;

/// Numbers after which old results fade as fast as new ones are learnt.
const FITS_MEMORY: f64 = 200.0;

/// Number of consecutive contradictions of one number that show it to be wrong: it belongs to something else and came between.
const CONTRADICTIONS: u32 = 3;

/// Excess of misfits over fits from which the first numbers seen count as wrong.
const MISFITS_ALONE: f64 = 8.0;

/// Days after which the rate of the others forgets as fast as it learns, and seconds whose weight their mean has in that of an hour.
const OTHERS_MEMORY_DAYS: f64 = 20.0;
const OTHERS_MEAN_S: f64 = 20.0 * HOUR_S as f64;

/// Posts for which no forecast counts as wrong: if hardly any is expected, one is no surprise.
const DOUBT: f64 = 0.2;

/// Expected others in a window, weight of chance in windows, and the bounds of what is learnt from them.
const WINDOW: f64 = 5.0;
const WINDOWS_LEAST: f64 = 10.0;
const UNEVEN: [f64; 2] = [0.2, 10.0];

/// Maximum ratio of a stretch's posts to what was expected.
const FACTOR_MOST: f64 = 20.0;

/// Longest step of a forecast between two numbers, in seconds.
const STEP_S: f64 = 900.0;

/// A stretch between two posts: its seconds, and the number of its posts that were not seen.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Stretch {
    from: f64,
    to: f64,
    unseen: f64,
}

/// State derived from the numbers of a site.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Odometer {
    /// Numbers seen and their seconds, by number.
    seen: Vec<(u64, u64)>,
    fits: f64,
    misfits: f64,
    /// The number that the last misfits contradicted, and how many there were.
    blamed: (u64, u32),
    /// Numbers that belong to no board, and the seconds in which they came, by hour of the day (UTC).
    others: [f64; HOURS],
    watched_s: [f64; HOURS],
    /// Second up to which these are counted.
    counted: f64,
    /// Deviation of their numbers in windows of time from the expectation: squares by expected, and windows.
    squares: f64,
    windows: f64,
}

impl Odometer {
    /// Adds a number that a recheck showed, and the second at which its post came.
    pub fn take(&mut self, number: u64, at: u64) {
        let kept = 1.0 - 1.0 / FITS_MEMORY;
        (self.fits, self.misfits) = (self.fits * kept, self.misfits * kept);
        let place = self.seen.partition_point(|(known, _)| *known < number);
        if let Some((_, known)) = self.seen.get(place).filter(|(known, _)| *known == number) {
            // The same torrent in two lists counts once; another one cannot have this number.
            self.misfits += f64::from(u8::from(known.abs_diff(at) > SLACK_S));
            return;
        }
        let before = place.checked_sub(1).filter(|before| self.seen[*before].1 > at.saturating_add(SLACK_S));
        let after =
            Some(place).filter(|after| self.seen.get(*after).is_some_and(|(_, of)| at > of.saturating_add(SLACK_S)));
        let wrong = before.or(after).filter(|wrong| self.is_contradicted(*wrong));
        if let Some(wrong) = wrong {
            self.seen.remove(wrong);
        }
        if before.or(after).is_none() {
            self.seen.insert(place, (number, at));
            self.fits += 1.0;
            if self.seen.len() > 2 * limits::NUMBERS_SEEN_MAX {
                self.forget();
            }
        } else {
            self.misfits += 1.0;
        }
        if self.misfits > self.fits + MISFITS_ALONE {
            *self = Self::default();
        }
    }

    /// Whether a stored number is wrong, because several others in a row contradict it.
    fn is_contradicted(&mut self, place: usize) -> bool {
        let number = self.seen[place].0;
        self.blamed = (number, if self.blamed.0 == number { self.blamed.1 + 1 } else { 1 });
        self.blamed.1 >= CONTRADICTIONS
    }

    /// Drops what is too old, and everything beyond the maximum.
    pub fn forget(&mut self) {
        let newest = self.seen.iter().map(|(_, at)| *at).max().unwrap_or(0);
        let too_many = self.seen.len().saturating_sub(limits::NUMBERS_SEEN_MAX);
        let old = self.seen.partition_point(|(_, at)| at.saturating_add(KEPT_S) < newest);
        self.seen.drain(..old.max(too_many));
    }

    /// The clock was set back by this many seconds.
    pub fn set_back(&mut self, seconds: u64) {
        self.seen.iter_mut().for_each(|(_, at)| *at = at.saturating_sub(seconds));
        self.counted -= seconds as f64;
    }

    /// Whether the numbers are in the order of their times, and it is known how many belong to no board.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.fits >= FITS_LEAST
            && self.misfits <= MISFITS_MOST * (self.fits + self.misfits)
            && self.watched_s.iter().sum::<f64>() >= DAY
    }

    /// Counts the numbers that belong to no board, from the second `since` on, since which all boards are watched, up to `until`, up
    /// to which everything on them is known.
    pub fn count_others(&mut self, since: f64, until: f64) {
        self.forget();
        let from = self.counted.max(since);
        let passed: Vec<Stretch> =
            self.stretches(from).filter(|stretch| stretch.from >= from && stretch.to <= until).collect();
        let Some(last) = passed.last() else { return };
        let kept = (-(last.to - passed[0].from) / (OTHERS_MEMORY_DAYS * DAY)).exp();
        self.others.iter_mut().chain(&mut self.watched_s).for_each(|of| *of *= kept);
        for stretch in &passed {
            let hour = hour((stretch.from + stretch.to) / 2.0);
            self.others[hour] += stretch.unseen;
            self.watched_s[hour] += stretch.to - stretch.from;
        }
        self.squares *= kept;
        self.windows *= kept;
        let (mut came, mut expected) = (0.0, 0.0);
        for stretch in &passed {
            came += stretch.unseen;
            expected += self.of_others((stretch.from + stretch.to) / 2.0) * (stretch.to - stretch.from);
            if expected >= WINDOW {
                self.squares += (came - expected) * (came - expected) / expected;
                self.windows += 1.0;
                (came, expected) = (0.0, 0.0);
            }
        }
        self.counted = last.to;
    }

    /// How evenly the others come, as the ratio of their variance to their mean: 1 by chance, less on a schedule, more in bursts.
    fn unevenness(&self) -> f64 {
        ((self.squares + WINDOWS_LEAST) / (self.windows + WINDOWS_LEAST)).clamp(UNEVEN[0], UNEVEN[1])
    }

    /// Numbers a second that belong to no board, at a second.
    fn of_others(&self, at: f64) -> f64 {
        let mean = self.others.iter().sum::<f64>() / self.watched_s.iter().sum::<f64>().max(1.0);
        let hour = hour(at);
        (self.others[hour] + OTHERS_MEAN_S * mean) / (self.watched_s[hour] + OTHERS_MEAN_S)
    }

    /// Stretches that end after a second, by time. Posts of one second, or whose times contradict their numbers, form one stretch.
    fn stretches(&self, after: f64) -> impl Iterator<Item = Stretch> {
        let mut seen = self.seen.iter().map(|(number, at)| (*number, *at as f64));
        let mut start = seen.next();
        let mut within = 0.0;
        let stretches = std::iter::from_fn(move || {
            for (number, at) in seen.by_ref() {
                let (first, from) = start?;
                if at > from {
                    let unseen = (number - first - 1) as f64 - within;
                    (start, within) = (Some((number, at)), 0.0);
                    return Some(Stretch { from, to: at, unseen });
                }
                within += 1.0;
            }
            None
        });
        stretches.filter(move |stretch| stretch.to > after)
    }

    /// Carries the forecast of each board forward to the last number, with its share of the unseen posts. `numbered` gives for each
    /// the share of its posts that have a number, as replies have none; a board with `None` is left out.
    pub fn carry(&self, boards: &mut [Ahead], numbered: &[Option<f64>], profiles: &[Profile], shares: &Shares) {
        let taking_part = boards.iter().zip(numbered).filter(|(_, numbered)| numbered.is_some());
        let after = taking_part.map(|(ahead, _)| ahead.at).fold(f64::INFINITY, f64::min);
        for stretch in self.stretches(after) {
            let others = self.of_others((stretch.from + stretch.to) / 2.0) * (stretch.to - stretch.from);
            let mut expected = others;
            let (mut taking, mut usual) = (Vec::new(), Steps::of(stretch.to - stretch.from));
            for ((ahead, profile), numbered) in boards.iter_mut().zip(profiles).zip(numbered) {
                let Some(numbered) = numbered.filter(|_| ahead.at < stretch.to) else { continue };
                // Nothing more is known of the time before the first number.
                ahead.go_to(stretch.from, profile, shares);
                let left = stretch.to - ahead.at;
                if left != usual.seconds {
                    usual = Steps::of(left);
                }
                let mut plain = ahead.clone();
                usual.go(&mut plain, profile, shares, 1.0);
                let comes = plain.posts - ahead.posts;
                expected += comes * numbered;
                taking.push((ahead, profile, usual, comes));
            }
            // The deviation is distributed by how uncertain each forecast was.
            let uncertain = expected - others + self.unevenness() * others + DOUBT;
            let factor = (1.0 + (stretch.unseen - expected) / uncertain).clamp(0.0, FACTOR_MOST);
            for (ahead, profile, steps, comes) in taking {
                let before = ahead.posts;
                steps.go(ahead, profile, shares, factor);
                // No more posts can have come than the stretch contains, however many its first ones would have caused.
                (ahead.at, ahead.posts) = (stretch.to, before + comes * factor);
            }
        }
    }
}

fn hour(at: f64) -> usize {
    (at / HOUR_S as f64) as usize % HOURS
}

/// Divides a time into equal steps of limited length.
#[derive(Clone, Copy)]
struct Steps {
    seconds: f64,
    count: usize,
    each: Step,
}

impl Steps {
    fn of(seconds: f64) -> Self {
        let count = (seconds / STEP_S).ceil().max(1.0);
        Self { seconds, count: count as usize, each: Step::new(seconds / count) }
    }

    fn go(&self, ahead: &mut Ahead, profile: &Profile, shares: &Shares, factor: f64) {
        (0..self.count).for_each(|_| ahead.step_by(&self.each, profile, shares, factor));
    }
}

#[cfg(test)]
mod tests;
