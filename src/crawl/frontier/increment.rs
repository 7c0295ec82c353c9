//! One round of the increment (ALGORITHMS §6.1): how many pages of each level it takes, from the measured rate of new
//! pages on the site. No I/O, no clock.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::limits;

/// Levels of a round: the rechecks, and the links after them.
pub const LEVELS: usize = limits::INCREMENT_DEPTH_MAX as usize + 1;

/// Share of the newest round in a measured rate: a handful of rounds determine the rate, one burst does not.
const NEWEST_SHARE: f64 = 0.3;

/// Pages allowed per page expected by the rate: new pages come in bursts.
const MARGIN: f64 = 2.0;

/// Rates and counts of the rounds so far; stored in a note over restarts.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rounds {
    /// New pages an hour, by level.
    rates: Vec<f64>,
    /// The rates of the last round alone.
    #[serde(default)]
    newest: Vec<f64>,
    /// Requests per round.
    wanted: f64,
    /// Rounds that were measured.
    pub measured: u64,
}

/// Counts of the current round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// New pages found, by level, including those beyond the caps.
    found: [u64; LEVELS],
    /// New pages that were taken.
    taken: [u64; LEVELS],
    /// Pages that are read again.
    again: u64,
    /// Requests of the increment.
    pub requests: u64,
}

#[allow(clippy::cast_precision_loss, reason = "counts of one round stay far below 2^53")]
fn number(count: u64) -> f64 {
    count as f64
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "clamped to what fits before")]
fn whole(value: f64) -> u64 {
    // NaN, from a note edited by hand, counts as zero.
    if value.is_finite() { value.ceil().clamp(0.0, 9e15) as u64 } else { 0 }
}

impl Rounds {
    /// Adds a round of this length that left `waiting` pages unfetched. A round without a recheck has measured nothing.
    pub fn observe(&mut self, round: &Round, lasted: Duration, waiting: u64) {
        let hours = lasted.as_secs_f64() / 3_600.0;
        if hours <= 0.0 || round.requests == 0 {
            return;
        }
        self.newest = round.found.iter().map(|found| number(*found) / hours).collect();
        self.rates.resize(LEVELS, 0.0);
        let share = if self.measured == 0 { 1.0 } else { NEWEST_SHARE };
        let mix = |old: f64, new: f64| if old.is_finite() { old + share * (new - old) } else { new };
        for (rate, found) in self.rates.iter_mut().zip(round.found) {
            *rate = mix(*rate, number(found) / hours);
        }
        self.wanted = mix(self.wanted, number(round.requests.saturating_add(waiting)));
        self.measured = self.measured.saturating_add(1);
    }

    /// Pages of a level that a round of this length may take, of the `possible` requests that the site's rate allows in one: by the
    /// recently measured rate, or that of the last round if it was higher; and at least half of what is
    /// possible for the first level, and half as many for each further one. A round may begin while a recheck goes from page to page, and
    /// then measures next to nothing; what its successor would therefore leave to history would be fetched only when history is done.
    #[must_use]
    pub fn cap(&self, level: u8, interval: Duration, possible: u64) -> u64 {
        let of_level = |rates: &[f64]| rates.get(usize::from(level)).copied().unwrap_or(0.0);
        let rate = of_level(&self.rates).max(of_level(&self.newest));
        let expected = whole(rate * interval.as_secs_f64() / 3_600.0 * MARGIN);
        let always = possible.checked_shr(level.into()).unwrap_or(0);
        expected.max(always).clamp(limits::INCREMENT_PAGES_MIN, limits::INCREMENT_PAGES_MAX)
    }

    /// Requests that a round needs.
    #[must_use]
    pub fn wanted(&self) -> u64 {
        whole(self.wanted)
    }

    /// New pages a day of all levels.
    #[must_use]
    pub fn news_a_day(&self) -> u64 {
        whole(self.rates.iter().skip(1).filter(|rate| rate.is_finite()).sum::<f64>() * 24.0)
    }

    /// New pages an hour of the first level: what the site publishes, as seen on its first pages.
    #[must_use]
    pub fn per_hour(&self) -> f64 {
        self.rates.get(1).copied().filter(|rate| rate.is_finite()).unwrap_or(0.0)
    }
}

impl Round {
    /// How many of `found` new pages of a level the round takes, at most `cap` of a level in all.
    pub fn take(&mut self, level: u8, found: usize, cap: u64) -> usize {
        let Some(level) = (usize::from(level) < LEVELS).then_some(usize::from(level)) else { return 0 };
        let found = found as u64;
        let taken = cap.saturating_sub(self.taken[level]).min(found);
        self.found[level] = self.found[level].saturating_add(found);
        self.taken[level] += taken;
        usize::try_from(taken).unwrap_or(usize::MAX)
    }

    /// How many of `found` known pages the round reads again, at most `cap` in all.
    pub fn take_again(&mut self, found: usize, cap: u64) -> usize {
        let taken = cap.saturating_sub(self.again).min(found as u64);
        self.again += taken;
        usize::try_from(taken).unwrap_or(usize::MAX)
    }

    /// New pages that were left to history.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.found.iter().zip(self.taken).map(|(found, taken)| found.saturating_sub(taken)).sum()
    }
}

#[cfg(test)]
mod tests;
