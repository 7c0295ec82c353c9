//! The activity profile of a board (SC of ALGORITHMS §10.4): distribution of its posts over the day and the week.
//!
//! Learned from the times of posts; used by the forecast and the plans. An hour in which a board was active
//! counts once, however many posts a burst had in it: a profile of posts would memorise yesterday's burst. Few hours
//! are weak evidence, so a board's profile is shrunk towards the one of its site, and that one towards an even day. Weekends
//! are distinguished from weekdays; single weekdays are not, because a month contains four of each. Knows no plan and no price.

use serde::{Deserialize, Serialize};

use super::{DAY_S, HOUR_S, HOURS};

/// Weight of the site's profile in a board's, in active hours.
const SITE_WEIGHT: f64 = 10.0;

/// Weight of an even day in a site's profile, in active hours.
const EVEN_WEIGHT: f64 = 100.0;

/// Weight of the site's weekend in a board's, in active hours.
const WEEKEND_WEIGHT: f64 = 20.0;

/// Hours by which the counts of neighbouring hours are smoothed: the standard deviation of a Gaussian.
const SMOOTHING_HOURS: f64 = 0.8;

/// The least rate of an hour, where the mean is 1: it is never certain that nothing comes at night.
const RATE_MIN: f64 = 0.03;

/// Active hours, and how long they were watched.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    /// By hour of the day (UTC).
    hours: [f64; HOURS],
    /// Of weekdays, of weekends.
    days: [f64; 2],
    /// Days watched: weekdays, weekends.
    watched: [f64; 2],
    /// The last hour that was counted, since 1970.
    last: u64,
}

impl Counts {
    /// Adds a post; posts must come by time. True if it made its hour active.
    pub fn post(&mut self, at: u64) -> bool {
        let hour = at / HOUR_S;
        if hour <= self.last {
            return false;
        }
        self.last = hour;
        self.active_hour(at);
        true
    }

    /// The clock was set back by this many seconds: the hours from now on count again, although they were counted by the other clock.
    pub fn set_back(&mut self, seconds: u64) {
        self.last = self.last.saturating_sub(seconds.div_ceil(HOUR_S));
    }

    /// Counts an hour as active, though another board's may have been counted: sums up the boards of a site.
    pub fn active_hour(&mut self, at: u64) {
        self.hours[(at / HOUR_S) as usize % HOURS] += 1.0;
        self.days[usize::from(is_weekend(at))] += 1.0;
    }

    /// Adds the time from `from` to `to`, in seconds, as watched.
    pub fn watch(&mut self, from: u64, to: u64) {
        let (mut at, mut watched) = (from, [0; 2]);
        // Whole weeks are alike; the rest has at most eight days.
        let weeks = to.saturating_sub(from) / (7 * DAY_S);
        at += weeks * 7 * DAY_S;
        while at < to {
            let next = ((at / DAY_S + 1) * DAY_S).min(to);
            watched[usize::from(is_weekend(at))] += next - at;
            at = next;
        }
        for (class, days_of_week) in [5, 2].into_iter().enumerate() {
            self.watched[class] += (weeks * days_of_week) as f64 + watched[class] as f64 / DAY_S as f64;
        }
    }
}

/// Rates over the day, for weekdays and weekends. Their mean over a week is 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    /// Weekdays, then weekends.
    rates: [[f32; HOURS]; 2],
}

impl Default for Profile {
    fn default() -> Self {
        Self { rates: [[1.0; HOURS]; 2] }
    }
}

impl Profile {
    /// The profile of a site: all boards' hours, shrunk towards an even day.
    #[must_use]
    pub fn of_site(counts: &Counts) -> Self {
        Self::drawn(counts, &Self::default(), EVEN_WEIGHT, WEEKEND_WEIGHT)
    }

    /// The profile of a board, shrunk towards its site's.
    #[must_use]
    pub fn of_board(counts: &Counts, site: &Self) -> Self {
        Self::drawn(counts, site, SITE_WEIGHT, WEEKEND_WEIGHT)
    }

    fn drawn(counts: &Counts, towards: &Self, weight: f64, weekend_weight: f64) -> Self {
        let smooth = smoothed(&counts.hours);
        let of_towards = towards.of_day();
        let mut hours = [0.0; HOURS];
        for hour in 0..HOURS {
            hours[hour] = smooth[hour] + weight * of_towards[hour] / HOURS as f64;
        }
        let mean = hours.iter().sum::<f64>() / HOURS as f64;
        // A class's rate: ratio of observed to expected active hours, both shrunk towards the other profile.
        let watched: f64 = counts.watched.iter().sum();
        let per_day = counts.days.iter().sum::<f64>() / watched.max(1e-9);
        let class_of = |class: usize| {
            let expected = counts.watched[class] * per_day;
            (counts.days[class] + weekend_weight * towards.of_class(class)) / (expected + weekend_weight)
        };
        let (weekday, weekend) = (class_of(0), class_of(1));
        let of_week = (5.0 * weekday + 2.0 * weekend) / 7.0;
        let mut rates = [[0.0_f64; HOURS]; 2];
        let mut sum = 0.0;
        for (class, (factor, days)) in [(weekday, 5.0), (weekend, 2.0)].into_iter().enumerate() {
            for hour in 0..HOURS {
                rates[class][hour] = (hours[hour] / mean * factor / of_week).max(RATE_MIN);
                sum += rates[class][hour] * days;
            }
        }
        let mean = sum / (7 * HOURS) as f64;
        Self { rates: rates.map(|class| class.map(|rate| (rate / mean) as f32)) }
    }

    /// The rate at a second since 1970, where the mean over a week is 1.
    #[must_use]
    pub fn at(&self, second: f64) -> f64 {
        // A time is never negative; a second beyond u64 does not occur, and would only pick another hour.
        let second = second as u64;
        f64::from(self.rates[usize::from(is_weekend(second))][(second / HOUR_S) as usize % HOURS])
    }

    /// The rates over a day of the week's average.
    #[must_use]
    pub fn of_day(&self) -> [f64; HOURS] {
        std::array::from_fn(|hour| (5.0 * f64::from(self.rates[0][hour]) + 2.0 * f64::from(self.rates[1][hour])) / 7.0)
    }

    /// The mean rate of weekdays (0) or weekends (1).
    fn of_class(&self, class: usize) -> f64 {
        self.rates[class].iter().map(|rate| f64::from(*rate)).sum::<f64>() / HOURS as f64
    }
}

/// The counts smoothed over neighbouring hours, the day treated as a circle.
fn smoothed(counts: &[f64; HOURS]) -> [f64; HOURS] {
    let kernel: [f64; HOURS] = std::array::from_fn(|hours| {
        let away = hours.min(HOURS - hours) as f64 / SMOOTHING_HOURS;
        (-0.5 * away * away).exp()
    });
    let sum: f64 = kernel.iter().sum();
    std::array::from_fn(|hour| {
        let around = |(other, count): (usize, &f64)| count * kernel[(hour + HOURS - other) % HOURS];
        counts.iter().enumerate().map(around).sum::<f64>() / sum
    })
}

/// Saturday or Sunday (UTC): 1970-01-01 was a Thursday.
#[must_use]
pub fn is_weekend(at: u64) -> bool {
    matches!(at / DAY_S % 7, 2 | 3)
}

#[cfg(test)]
mod tests;
