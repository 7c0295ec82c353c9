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
mod tests {
    use super::*;

    fn take(forecast: &mut Forecast, posts: &[f64], until: f64) {
        let posts = posts.iter().map(|at| (*at, 1.0));
        forecast.take(posts, until, 0.0, &Profile::default(), &mut Shares::default());
    }

    fn posts_every(seconds: f64, days: f64) -> Forecast {
        let mut forecast = Forecast::new(0.0);
        let posts: Vec<f64> = (0..(days * DAY / seconds) as u32).map(|post| f64::from(post) * seconds).collect();
        take(&mut forecast, &posts, days * DAY);
        forecast
    }

    fn rate(forecast: &Forecast) -> f64 {
        forecast.ahead(0.0, &Profile::default(), &Shares::default()).rate
    }

    #[test]
    fn a_steady_board_is_expected_to_go_on() {
        let forecast = posts_every(2.0 * HOUR, 30.0);
        let mut ahead = forecast.ahead(0.0, &Profile::default(), &Shares::default());
        ahead.go_to(31.0 * DAY, &Profile::default(), &Shares::default());
        assert!((10.0..15.0).contains(&ahead.posts), "{}", ahead.posts);
        let level = forecast.level(0.0, &Shares::default()) * DAY;
        assert!((11.0..14.0).contains(&level), "{level}");
    }

    #[test]
    fn a_burst_raises_the_rate_and_silence_lets_it_fall() {
        let mut forecast = posts_every(2.0 * HOUR, 30.0);
        let before = rate(&forecast);
        let burst: Vec<f64> = (0..10).map(|post| 30.0 * DAY + f64::from(post) * 120.0).collect();
        take(&mut forecast, &burst, 30.0 * DAY + 1_200.0);
        assert!(rate(&forecast) > 5.0 * before);
        take(&mut forecast, &[], 40.0 * DAY);
        assert!(rate(&forecast) < 0.5 * before);
        take(&mut forecast, &[], 40_000.0 * DAY);
        assert!((rate(&forecast) / ASLEEP - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_flood_in_one_second_is_one_event() {
        let (mut flood, mut one) = (posts_every(HOUR, 2.0), posts_every(HOUR, 2.0));
        take(&mut flood, &[2.0 * DAY; 1_000], 2.0 * DAY);
        take(&mut one, &[2.0 * DAY], 2.0 * DAY);
        assert_eq!(flood, one);
    }

    #[test]
    fn a_board_just_met_is_taken_for_an_average_one() {
        let level = |forecast: &Forecast| forecast.level(3.0 / DAY, &Shares::default()) * DAY;
        assert!((2.9..3.3).contains(&level(&Forecast::new(5.0 * DAY))));
        let mut silent = Forecast::new(0.0);
        take(&mut silent, &[], 20.0 * DAY);
        assert!(level(&silent) < 0.4);
    }

    #[test]
    fn a_site_without_bursts_unlearns_them_and_one_of_bursts_does_not() {
        let shares_of = |burst: u32| {
            let (mut shares, mut forecast) = (Shares::default(), Forecast::new(0.0));
            let mut posts = Vec::new();
            // Some ten a day, at times that repeat no pattern.
            for event in 0..(1_500 / burst) {
                let at = f64::from(event * burst) * 0.1 * DAY + f64::from(event * 7_919 % 9_001);
                posts.extend((0..burst).map(|post| (at + f64::from(post) * 300.0, 1.0)));
            }
            posts.sort_by(|a, b| a.0.total_cmp(&b.0));
            // Recheck by recheck, as in a crawl.
            for day in 0..150 {
                let (from, to) = (f64::from(day) * DAY, f64::from(day + 1) * DAY);
                let of_day = posts.iter().copied().filter(|(at, _)| (from..to).contains(at));
                forecast.take(of_day, to, 10.0 / DAY, &Profile::default(), &mut shares);
            }
            shares.shares
        };
        assert!(shares_of(1)[0] < 0.1, "{:?}", shares_of(1));
        assert!(shares_of(10)[0] > 0.2, "{:?}", shares_of(10));
    }

    #[test]
    fn times_that_run_backwards_do_no_harm() {
        let mut forecast = Forecast::new(DAY);
        take(&mut forecast, &[], 3.0 * DAY);
        take(&mut forecast, &[0.0, 1e12], DAY);
        assert_eq!(forecast.known_until(), 3.0 * DAY);
        assert!(rate(&forecast).is_finite());
    }
}
