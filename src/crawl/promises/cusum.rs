//! A sequential test of one promise: CUSUM of kept and broken visits (Page 1954; Lorden 1971). Pure.

use serde::{Deserialize, Serialize};

/// Log-likelihood at which a promise counts as broken: for independent visits, a false alarm in e¹² of them. They are not independent,
/// so that an alarm is confirmed first ([`super::Promises`]).
pub const ALARM: f64 = 12.0;

/// From this quarter of [`ALARM`] on nothing is learned: a slow failure must not become the norm. Until [`KEPT_MIN`] visits have kept the promise
/// there is no norm yet, and all are learned from.
const SUSPECT: f64 = ALARM / 4.0;

/// Visits that have kept a promise before it counts as one.
pub const KEPT_MIN: f64 = 8.0;

/// Visits after which older ones count half.
const VISITS_KEPT: f64 = 2_000.0;

/// Bounds of the usual share of broken promises.
const SHARES: (f64, f64) = (0.02, 0.9);

/// A visit that broke the promise, and one that kept it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Cusum {
    /// Visits that the usual share is learned from.
    visits: f64,
    broken: f64,
    /// 0 to [`ALARM`]: a long failure must not take as long to forget.
    sum: f64,
    /// Visits since the sum was last zero.
    since: u32,
}

impl Cusum {
    /// Share of broken promises while all is well, from 0.02 to 0.9.
    #[must_use]
    pub fn usual(&self) -> f64 {
        self.share().clamp(SHARES.0, SHARES.1)
    }

    fn share(&self) -> f64 {
        (self.broken + 0.5) / (self.visits + 8.0)
    }

    /// Counts a visit. True once the sum has reached [`ALARM`].
    pub fn add(&mut self, is_broken: bool) -> bool {
        let usual = self.usual();
        let failing = f64::midpoint(1.0, usual);
        let ratio = if is_broken { failing / usual } else { (1.0 - failing) / (1.0 - usual) };
        self.sum = (self.sum + ratio.ln()).clamp(0.0, ALARM);
        // A rule that is broken more often than that has promised nothing.
        if self.share() > SHARES.1 {
            self.sum = 0.0;
        }
        self.since = if self.is_calm() { 0 } else { self.since + 1 };
        if self.sum < SUSPECT || self.kept() < KEPT_MIN {
            self.visits += 1.0;
            self.broken += f64::from(u8::from(is_broken));
        }
        if self.visits > VISITS_KEPT {
            (self.visits, self.broken) = (self.visits / 2.0, self.broken / 2.0);
        }
        self.sum >= ALARM
    }

    /// Visits that kept the promise, so far as they are remembered.
    #[must_use]
    pub fn kept(&self) -> f64 {
        self.visits - self.broken
    }

    /// True while nothing is suspected.
    #[must_use]
    pub fn is_calm(&self) -> bool {
        self.sum <= 0.0
    }

    /// The suspicion was wrong: what has failed since it began, so many of its visits, is usual.
    pub fn was_usual(&mut self, broken: u32) {
        self.visits += f64::from(self.since.max(broken));
        self.broken += f64::from(broken);
        self.begin_anew();
    }

    /// Forgets the suspicion.
    pub fn begin_anew(&mut self) {
        (self.sum, self.since) = (0.0, 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Visits until the alarm after so many of which some were broken, if all are broken from then on.
    fn delay(kept: u32, broken_of_ten: u32) -> u32 {
        let mut cusum = Cusum::default();
        for visit in 0..kept {
            cusum.add(visit % 10 < broken_of_ten);
        }
        cusum.begin_anew();
        (1..).find(|_| cusum.add(true)).unwrap()
    }

    #[test]
    fn a_promise_that_is_always_broken_is_noticed_within_a_few_visits() {
        assert_eq!(delay(400, 0), 4, "a share of 2 %");
        assert_eq!(delay(8, 0), 7, "and of a rule with as little past as counts");
        assert!((8..=14).contains(&delay(400, 2)), "{}", delay(400, 2));
    }

    #[test]
    fn a_promise_that_is_seldom_kept_is_none() {
        let mut cusum = Cusum::default();
        for visit in 0..300 {
            cusum.add(visit % 33 != 0);
        }
        assert!(!(0..3_000).any(|visit| cusum.add(visit % 33 != 0)));
        assert!(cusum.kept() >= KEPT_MIN && cusum.is_calm());
    }

    #[test]
    fn what_was_usual_is_no_alarm_any_more() {
        let mut cusum = Cusum::default();
        assert!(!(0..100).any(|_| cusum.add(false)));
        let first = (1..).find(|_| cusum.add(true)).unwrap();
        cusum.was_usual(first);
        assert!(cusum.is_calm() && cusum.usual() > 0.04);
        assert!((1..).find(|_| cusum.add(true)).unwrap() > first);
    }

    /// A stream of numbers below 100.
    fn percents(mut random: u64) -> impl FnMut() -> u64 {
        move || {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            random % 100
        }
    }

    #[test]
    fn a_rule_that_fails_often_from_its_first_visit_is_watched_all_the_same() {
        for (share, delay_max) in [(40, 40), (50, 50), (60, 80), (80, 200)] {
            for seed in 1..=500_u64 {
                let mut percent = percents(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15));
                let (mut cusum, mut broken) = (Cusum::default(), 0);
                for _ in 0..1_000 {
                    let is_broken = percent() < share;
                    broken += u32::from(is_broken);
                    // Its confirming URLs keep the promise.
                    if cusum.add(is_broken) {
                        cusum.was_usual(broken);
                    }
                    broken = if cusum.is_calm() { 0 } else { broken };
                }
                assert!(cusum.kept() >= KEPT_MIN, "{share} %, seed {seed}: {cusum:?}");
                assert!((cusum.usual() - share as f64 / 100.0).abs() < 0.3, "{share} %, seed {seed}: {cusum:?}");
                let delay = (1..).find(|_| cusum.add(true)).unwrap();
                assert!(delay <= delay_max, "{share} %, seed {seed}: {delay}");
                // However long it fails, it is forgotten soon.
                (0..1_000).for_each(|_| _ = cusum.add(true));
                assert!((1..).find(|_| !cusum.add(false) && cusum.is_calm()).unwrap() < 60);
            }
        }
    }

    #[test]
    fn healthy_visits_that_fail_by_chance_do_not_alarm() {
        let mut percent = percents(0x9E37_79B9_7F4A_7C15);
        for share in [1, 5, 30] {
            let mut cusum = Cusum::default();
            for _ in 0..100_000 {
                assert!(!cusum.add(percent() < share), "{share} %");
            }
        }
    }
}
