//! What a board is about to do: its rate now, from rates that decay at several paces.
//!
//! A post makes another one likelier, for minutes, for the rest of the day, for weeks: five exponentials with fixed
//! weights stand for all of it (a Hawkes process with a sum of exponentials for its kernel; Hawkes 1971). Between
//! looks nobody sees what comes, so the rate is carried forward as its own mean: what is expected excites as what was
//! seen. The rate is multiplied by the profile. Pure arithmetic; knows no plan and no price.
//!
//! Paces and weights are what gave the least delay on the real traces of 2021 and 2022 (`docs/schedule.md`).

use serde::{Deserialize, Serialize};

use super::profile::Profile;
use super::{DAY_S, HOUR_S};

const HOUR: f64 = HOUR_S as f64;
const DAY: f64 = DAY_S as f64;

/// Paces at which the rates decay.
const PACES: usize = 5;

/// Time in which each decays to 1/e, in seconds.
const DECAY_S: [f64; PACES] = [0.4 * HOUR, 2.0 * HOUR, 10.0 * HOUR, 3.0 * DAY, 10.0 * DAY];

/// Share of each in the rate.
const SHARE: [f64; PACES] = [0.25, 0.15, 0.15, 0.29, 0.2];

/// Posts a second of a board that never had any: one in a month or so. A board asleep is looked at for it.
const ASLEEP: f64 = 0.038 / DAY;

/// Posts that come within so many seconds of each other are parts of one event.
const ONE_EVENT_S: f64 = 60.0;

/// How much less a post says about the rate that came when many come: its weight is the profile's rate to this power.
const BUSY_HOUR_POWER: f64 = -0.3;

/// Time whose weight the site's rate has in that of a board just met.
const MET_S: f64 = 0.5 * DAY;

/// What is known of a board's rate at a time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Forecast {
    /// Posts a second, decaying at each pace.
    rates: [f64; PACES],
    /// Second since which the board is watched.
    since: f64,
    /// Second up to which all is known.
    at: f64,
    /// Second of the last post; before 1970 without one.
    last: f64,
}

/// A forecast carried forward from the time up to which all is known.
#[derive(Clone, Debug)]
pub struct Ahead {
    rates: [f64; PACES],
    /// The second that has been reached.
    pub at: f64,
    /// Posts a second there.
    pub rate: f64,
    /// Posts expected since all was known.
    pub posts: f64,
    /// Their delay in seconds, were the look now.
    pub delay_s: f64,
}

impl Forecast {
    /// A board that is watched from `since`, a second.
    #[must_use]
    pub fn new(since: f64) -> Self {
        Self { rates: [0.0; PACES], since, at: since, last: -DAY }
    }

    /// The second up to which all is known.
    #[must_use]
    pub fn known_until(&self) -> f64 {
        self.at
    }

    /// Takes a post with what it counts. One from before what is known counts as if it came then: clocks of sites are
    /// wrong, and rows turn up late.
    pub fn post(&mut self, at: f64, weight: f64, profile: &Profile) {
        let at = at.max(self.at);
        self.pass(at);
        let news = ((at - self.last) / ONE_EVENT_S).min(1.0);
        self.last = at;
        let weight = weight * news * profile.at(at).powf(BUSY_HOUR_POWER);
        for (rate, decay) in self.rates.iter_mut().zip(DECAY_S) {
            *rate += weight / decay;
        }
    }

    /// All is known up to `to`.
    pub fn pass(&mut self, to: f64) {
        let passed = to - self.at;
        if passed > 0.0 {
            for (rate, decay) in self.rates.iter_mut().zip(DECAY_S) {
                *rate *= (-passed / decay).exp();
            }
            self.at = to;
        }
    }

    /// The rates as a board watched for ever would have them: what came before the first look is reckoned with what
    /// came since and, while that is little, with `site_rate`, the posts a second of the site's average board.
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
    pub fn level(&self, site_rate: f64) -> f64 {
        let rates = self.whole(site_rate);
        // What lasts for days; a burst of this hour is no level.
        let slow = (rates[3] * SHARE[3] + rates[4] * SHARE[4]) / (SHARE[3] + SHARE[4]);
        slow * SHARE.iter().sum::<f64>() + ASLEEP
    }

    /// The forecast at the time up to which all is known.
    #[must_use]
    pub fn ahead(&self, site_rate: f64, profile: &Profile) -> Ahead {
        let rates = self.whole(site_rate);
        let rate = excited(&rates) * profile.at(self.at);
        Ahead { rates, at: self.at, rate, posts: 0.0, delay_s: 0.0 }
    }
}

/// Posts a second that the decaying rates make, the profile left out.
fn excited(rates: &[f64; PACES]) -> f64 {
    rates.iter().zip(SHARE).map(|(rate, share)| rate * share).sum::<f64>() + ASLEEP
}

impl Ahead {
    /// Goes on by `step_s` seconds.
    pub fn step(&mut self, step_s: f64, profile: &Profile) {
        let excited_now = excited(&self.rates);
        self.rate = excited_now * profile.at(self.at + step_s / 2.0);
        let came = self.rate * step_s;
        self.delay_s += (self.posts + came / 2.0) * step_s;
        self.posts += came;
        self.at += step_s;
        for (rate, decay) in self.rates.iter_mut().zip(DECAY_S) {
            // The mean goes towards what excites it; exact while that stands still.
            *rate = excited_now + (*rate - excited_now) * (-step_s / decay).exp();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn posts_every(seconds: f64, days: f64) -> Forecast {
        let mut forecast = Forecast::new(0.0);
        let mut at = 0.0;
        while at < days * DAY {
            forecast.post(at, 1.0, &Profile::default());
            at += seconds;
        }
        forecast.pass(days * DAY);
        forecast
    }

    #[test]
    fn a_steady_board_is_expected_to_go_on() {
        let forecast = posts_every(2.0 * HOUR, 30.0);
        let mut ahead = forecast.ahead(0.0, &Profile::default());
        for _ in 0..144 {
            ahead.step(600.0, &Profile::default());
        }
        assert!((10.0..15.0).contains(&ahead.posts), "{}", ahead.posts);
        assert!((ahead.delay_s / ahead.posts / DAY - 0.5).abs() < 0.03);
        let level = forecast.level(0.0) * DAY;
        assert!((11.0..14.0).contains(&level), "{level}");
    }

    #[test]
    fn a_burst_raises_the_rate_and_silence_lets_it_fall() {
        let mut forecast = posts_every(2.0 * HOUR, 30.0);
        let rate = |forecast: &Forecast| forecast.ahead(0.0, &Profile::default()).rate;
        let before = rate(&forecast);
        for post in 0..10 {
            forecast.post(30.0 * DAY + f64::from(post) * 120.0, 1.0, &Profile::default());
        }
        assert!(rate(&forecast) > 5.0 * before);
        forecast.pass(40.0 * DAY);
        assert!(rate(&forecast) < 0.5 * before);
        forecast.pass(400.0 * DAY);
        assert!((rate(&forecast) / ASLEEP - 1.0).abs() < 0.01);
    }

    #[test]
    fn a_flood_in_one_second_is_one_event() {
        let (mut flood, mut one) = (posts_every(HOUR, 2.0), posts_every(HOUR, 2.0));
        for _ in 0..1_000 {
            flood.post(2.0 * DAY, 1.0, &Profile::default());
        }
        one.post(2.0 * DAY, 1.0, &Profile::default());
        assert_eq!(flood, one);
    }

    #[test]
    fn a_board_just_met_is_taken_for_an_average_one() {
        let forecast = Forecast::new(5.0 * DAY);
        let level = forecast.level(3.0 / DAY) * DAY;
        assert!((2.9..3.3).contains(&level), "{level}");
        let mut silent = Forecast::new(0.0);
        silent.pass(20.0 * DAY);
        assert!(silent.level(3.0 / DAY) * DAY < 0.4);
    }

    #[test]
    fn times_that_run_backwards_do_no_harm() {
        let mut forecast = Forecast::new(DAY);
        forecast.pass(3.0 * DAY);
        forecast.post(0.0, 1.0, &Profile::default());
        forecast.pass(DAY);
        assert_eq!(forecast.known_until(), 3.0 * DAY);
        assert!(forecast.ahead(0.0, &Profile::default()).rate.is_finite());
    }
}
