//! Forecast of a board's posts: its current rate, from rates that decay at several paces.
//!
//! A post makes another one likelier, for minutes, for the rest of the day, for weeks: five exponentials
//! model all of it (a Hawkes process with a sum of exponentials for its kernel; Hawkes 1971). Between
//! rechecks nothing is observed, so the rate is carried forward as its own mean: expected posts excite it like
//! observed ones. The rate is multiplied by the profile. Pure arithmetic; knows no plan and no price.
//!
//! The paces, and the initial shares, are those with the least delay on the real traces of 2021 and 2022 (`docs/design/schedule.md`).

use serde::{Deserialize, Serialize};

use super::habit::Coming;
use super::profile::Profile;
use super::{DAY_S, HOUR_S};

const HOUR: f64 = HOUR_S as f64;
const DAY: f64 = DAY_S as f64;

/// Paces at which the rates decay.
const PACES: usize = 5;

/// Time in which each decays to 1/e, in seconds.
const DECAY_S: [f64; PACES] = [0.4 * HOUR, 2.0 * HOUR, 10.0 * HOUR, 3.0 * DAY, 10.0 * DAY];

/// Share of each in the rate before a site's own are learned.
const SHARES: [f64; PACES] = [0.25, 0.15, 0.15, 0.29, 0.2];

/// Weight of these in a site's shares, in posts.
const SHARES_WEIGHT: f64 = 100.0;

/// Posts after which a site's shares forget as fast as they learn.
const SHARES_MEMORY: f64 = 1_000.0;

/// Maximum of posts that one post may cause in all.
const SHARES_SUM_LARGEST: f64 = 1.1;

/// Longest time over which the shares treat a rate as constant, in seconds: while a burst may go on, and later.
const BIN_S: [f64; 2] = [900.0, 7_200.0];

/// Posts a second of a board that never had any: one in a month or so. A dormant board is rechecked because of it.
const ASLEEP: f64 = 0.038 / DAY;

/// Posts within this many seconds of each other are parts of one event.
const ONE_EVENT_S: f64 = 60.0;

/// How much less a post indicates about the rate if it came in a busy hour: its weight is the profile's rate to this power.
const BUSY_HOUR_POWER: f64 = -0.3;

/// Time whose weight the site's rate has in that of a new board.
const MET_S: f64 = 0.5 * DAY;

/// What is known of a board's rate at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Posts a second, decaying at each pace.
    rates: [f64; PACES],
    /// Second since which the board is watched.
    since: f64,
    /// Second up to which everything is known.
    at: f64,
    /// Second of the last post; before 1970 without one.
    last: f64,
}

/// Shares of the paces in the rate: how much the last minutes, the day, the weeks say of future posts. Learned
/// from all boards of a site by expectation maximisation, one step per stretch of time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Shares {
    shares: [f64; PACES],
    /// Posts attributed to each pace, and those that it would have caused alone.
    made: [f64; PACES],
    alone: [f64; PACES],
}

impl Default for Shares {
    fn default() -> Self {
        Self { shares: SHARES, made: SHARES.map(|share| share * SHARES_WEIGHT), alone: [SHARES_WEIGHT; PACES] }
    }
}

impl Shares {
    /// Posts a second caused by the decaying rates, without the profile.
    fn excited(&self, rates: &[f64; PACES]) -> f64 {
        rates.iter().zip(self.shares).map(|(rate, share)| rate * share).sum::<f64>() + ASLEEP
    }

    /// Learns that `posts` came in `seconds` in which the rates, times `profile`, were constant.
    fn learn(&mut self, rates: &[f64; PACES], profile: f64, seconds: f64, posts: f64) {
        let excited = self.excited(rates);
        for (pace, rate) in rates.iter().enumerate() {
            self.alone[pace] += rate * profile * seconds;
            self.made[pace] += posts * rate * self.shares[pace] / excited;
        }
    }

    /// Applies what was learnt.
    fn settle(&mut self) {
        let made: f64 = self.made.iter().sum();
        let kept = (SHARES_MEMORY / made.max(1e-9)).min(1.0);
        for pace in 0..PACES {
            self.made[pace] *= kept;
            self.alone[pace] *= kept;
            self.shares[pace] = self.made[pace] / self.alone[pace].max(1e-9);
        }
        // More than one post for each post would make the rate diverge.
        let sum: f64 = self.shares.iter().sum();
        if sum > SHARES_SUM_LARGEST {
            self.shares = self.shares.map(|share| share * SHARES_SUM_LARGEST / sum);
        }
    }
}

/// A forecast carried forward from the time up to which everything is known.
#[derive(Clone, Debug)]
pub struct Ahead {
    rates: [f64; PACES],
    /// The second that has been reached.
    pub at: f64,
    /// Posts a second there.
    pub rate: f64,
    /// Posts expected since that time.
    pub posts: f64,
    /// Those of them that come by habit.
    pub by_habit: f64,
    /// What comes by habit in addition to the rest.
    pub coming: Vec<Coming>,
}

impl Forecast {
    /// A board that is watched from `since`, a second.
    #[must_use]
    pub fn new(since: f64) -> Self {
        Self { rates: [0.0; PACES], since, at: since, last: -DAY }
    }

    /// The second since which the board is watched.
    #[must_use]
    pub fn since(&self) -> f64 {
        self.since
    }

    /// The second up to which everything is known.
    #[must_use]
    pub fn known_until(&self) -> f64 {
        self.at
    }

    /// The clock was set back by this many seconds: all times move back.
    pub fn set_back(&mut self, seconds: f64) {
        for at in [&mut self.since, &mut self.at, &mut self.last] {
            *at -= seconds;
        }
    }

    /// Adds the posts, by time, from the known time up to `until`, and trains `shares` with them. Posts
    /// outside this stretch count as if they came at its ends: clocks of sites are wrong, and rows appear late.
    pub fn take(
        &mut self,
        posts: impl Iterator<Item = (f64, f64)>,
        until: f64,
        site_rate: f64,
        profile: &Profile,
        shares: &mut Shares,
    ) {
        let until = until.max(self.at);
        for (at, weight) in posts {
            let at = at.clamp(self.at, until);
            self.wait(at, site_rate, profile, shares);
            let news = ((at - self.last) / ONE_EVENT_S).clamp(0.0, 1.0) * weight;
            self.last = at;
            shares.learn(&self.whole(site_rate), profile.at(at), 0.0, news);
            let weight = news * profile.at(at).powf(BUSY_HOUR_POWER);
            for (rate, decay) in self.rates.iter_mut().zip(DECAY_S) {
                *rate += weight / decay;
            }
        }
        self.wait(until, site_rate, profile, shares);
        shares.settle();
    }

    /// Adds a silence up to `to`.
    fn wait(&mut self, to: f64, site_rate: f64, profile: &Profile, shares: &mut Shares) {
        // A long silence teaches nothing more: what is older than the memory of the slowest pace is not taught.
        let far = to - 3.0 * DECAY_S[PACES - 1];
        if self.at < far {
            self.decay(far);
        }
        while self.at < to {
            let bin = BIN_S[usize::from(self.at - self.last > BIN_S[1])];
            let step = bin.min(to - self.at);
            let start = self.at;
            self.decay(start + step / 2.0);
            shares.learn(&self.whole(site_rate), profile.at(self.at), step, 0.0);
            self.decay(start + step);
        }
    }

    fn decay(&mut self, to: f64) {
        let passed = to - self.at;
        for (rate, decay) in self.rates.iter_mut().zip(DECAY_S) {
            *rate *= (-passed / decay).exp();
        }
        self.at = to;
    }

    /// The rates as if the board had always been watched: posts before the first recheck are estimated from those
    /// since and, while these are few, from `site_rate`, the posts a second of the site's average board.
    fn whole(&self, site_rate: f64) -> [f64; PACES] {
        let watched = (self.at - self.since).max(0.0);
        std::array::from_fn(|pace| {
            let decay = DECAY_S[pace];
            let unseen = (-watched / decay).exp();
            let prior = MET_S.min(decay) * unseen;
            (self.rates[pace] * decay + prior * site_rate) / (decay * (1.0 - unseen) + prior)
        })
    }

    /// Posts a second over the next days, whatever the hour.
    #[must_use]
    pub fn level(&self, site_rate: f64, shares: &Shares) -> f64 {
        let rates = self.whole(site_rate);
        // Only what lasts for days; a burst of this hour is no level.
        let Shares { shares, .. } = shares;
        let slow = (rates[3] * shares[3] + rates[4] * shares[4]) / (shares[3] + shares[4]).max(1e-9);
        slow * shares.iter().sum::<f64>() + ASLEEP
    }

    /// The forecast at the time up to which everything is known.
    #[must_use]
    pub fn ahead(&self, site_rate: f64, profile: &Profile, shares: &Shares) -> Ahead {
        let rates = self.whole(site_rate);
        let rate = shares.excited(&rates) * profile.at(self.at);
        Ahead { rates, at: self.at, rate, posts: 0.0, by_habit: 0.0, coming: Vec::new() }
    }
}

/// A step of a forecast: its length in seconds, and what each pace retains over it.
#[derive(Clone, Copy, Debug)]
pub struct Step {
    /// Seconds.
    pub seconds: f64,
    keeps: [f64; PACES],
}

impl Step {
    /// A step of this many seconds.
    #[must_use]
    pub fn new(seconds: f64) -> Self {
        Self { seconds, keeps: DECAY_S.map(|decay| (-seconds / decay).exp()) }
    }
}

impl Ahead {
    /// Advances by a step.
    pub fn step(&mut self, step: &Step, profile: &Profile, shares: &Shares) {
        self.step_by(step, profile, shares, 1.0);
    }

    /// Advances by a step in which the actual posts were `factor` times the expected ones.
    pub fn step_by(&mut self, step: &Step, profile: &Profile, shares: &Shares, factor: f64) {
        let excited = shares.excited(&self.rates) * factor;
        self.rate = excited * profile.at(self.at + step.seconds / 2.0);
        self.posts += self.rate * step.seconds;
        for coming in &self.coming {
            let (posts, rate) = coming.between(self.at, self.at + step.seconds);
            let (posts, rate) = (posts * factor, rate * factor);
            self.posts += posts;
            self.by_habit += posts;
            self.rate += rate;
        }
        self.at += step.seconds;
        for (rate, keeps) in self.rates.iter_mut().zip(step.keeps) {
            // The mean approaches what excites it; exact while that is constant.
            *rate = excited + (*rate - excited) * keeps;
        }
    }

    /// The usual step, or a shorter one if it would skip a habit's time; never shorter than `least` seconds.
    #[must_use]
    pub fn step_over(&self, usual: &Step, least: f64) -> Step {
        let longest = self.coming.iter().map(|coming| coming.step_s(self.at)).fold(f64::INFINITY, f64::min);
        if longest >= usual.seconds { *usual } else { Step::new(longest.max(least)) }
    }

    /// Advances to `to`, in steps of half an hour.
    pub fn go_to(&mut self, to: f64, profile: &Profile, shares: &Shares) {
        while self.at < to {
            self.step(&Step::new((to - self.at).min(1_800.0)), profile, shares);
        }
    }
}

#[cfg(test)]
mod tests;
