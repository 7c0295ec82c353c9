//! Counts of durations in buckets of equal ratio: quantiles with a stated error in bounded memory.
//!
//! Bucket k holds the seconds from 1.05^k to 1.05^(k+1); its middle is reported, so that a quantile is off by 2.5 % at most. Durations
//! below a second are one bucket, those beyond a hundred years the last one. Histograms can be added in any order.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Ratio of a bucket's bounds.
const RATIO: f64 = 1.05;

/// The largest relative error of a quantile.
pub const ERROR: f64 = 0.025;

/// The bucket of a hundred years.
const LAST: u16 = 449;

/// Durations in seconds, counted.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Histogram {
    /// Bucket 0 is below a second, bucket k + 1 begins at 1.05^k seconds.
    buckets: BTreeMap<u16, u64>,
}

impl Histogram {
    /// Counts one duration; negative ones and NaN count as zero.
    pub fn add(&mut self, seconds: f64) {
        let count = self.buckets.entry(bucket(seconds)).or_default();
        *count = count.saturating_add(1);
    }

    /// Adds another histogram.
    pub fn merge(&mut self, other: &Self) {
        for (bucket, count) in &other.buckets {
            let own = self.buckets.entry((*bucket).min(LAST)).or_default();
            *own = own.saturating_add(*count);
        }
    }

    /// Number of counted durations.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.buckets.values().fold(0, |sum, count| sum.saturating_add(*count))
    }

    /// Number of durations up to these seconds, within [`ERROR`].
    #[must_use]
    pub fn at_most(&self, seconds: f64) -> u64 {
        let up_to = self.buckets.iter().filter(|(bucket, _)| middle(**bucket) <= seconds);
        up_to.fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// Sum of the durations in seconds, within [`ERROR`].
    #[must_use]
    #[allow(clippy::cast_precision_loss)] // a count
    pub fn sum_s(&self) -> f64 {
        self.buckets.iter().map(|(bucket, count)| middle(*bucket) * *count as f64).sum()
    }

    /// The duration in seconds that this share of them, between 0 and 1, does not exceed; None if there are none.
    #[must_use]
    #[allow(clippy::cast_precision_loss, clippy::cast_possible_truncation, clippy::cast_sign_loss)] // a rank
    pub fn quantile(&self, share: f64) -> Option<f64> {
        let count = self.count();
        let rank = ((count as f64 * share.clamp(0.0, 1.0)).ceil() as u64).clamp(1, count.max(1));
        let mut seen = 0_u64;
        for (bucket, count) in &self.buckets {
            seen = seen.saturating_add(*count);
            if seen >= rank {
                return Some(middle(*bucket));
            }
        }
        None
    }
}

#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // within 0 and LAST
fn bucket(seconds: f64) -> u16 {
    if seconds >= 1.0 { ((seconds.ln() / RATIO.ln()).floor() as u16).saturating_add(1).min(LAST) } else { 0 }
}

fn middle(bucket: u16) -> f64 {
    match bucket {
        0 => 0.0,
        // A note may contain buckets that do not exist.
        _ => RATIO.powi(i32::from(bucket.min(LAST)) - 1) * (1.0 + RATIO) / 2.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_keep_to_their_error() {
        for scale in [1.0, 60.0, 86_400.0] {
            let mut histogram = Histogram::default();
            (1..=10_000).for_each(|n| histogram.add(f64::from(n) * scale));
            for (share, exact) in [(0.5, 5_000.0), (0.9, 9_000.0), (0.99, 9_900.0), (1.0, 10_000.0), (0.0, 1.0)] {
                let found = histogram.quantile(share).expect("there are some");
                let error = (found / (exact * scale) - 1.0).abs();
                assert!(error <= ERROR + 1e-9, "{share} of {scale}: {found}, off by {error}");
            }
        }
    }

    #[test]
    fn parts_add_up_to_the_whole() {
        let (mut whole, mut one, mut other) = (Histogram::default(), Histogram::default(), Histogram::default());
        for n in 0..1_000 {
            let seconds = f64::from(n * n);
            whole.add(seconds);
            if n % 3 == 0 { one.add(seconds) } else { other.add(seconds) }
        }
        one.merge(&other);
        assert_eq!((one.count(), &one), (1_000, &whole));
    }

    #[test]
    fn counts_up_to_a_duration_and_the_sum_keep_to_the_error() {
        let mut histogram = Histogram::default();
        assert_eq!((histogram.at_most(60.0), histogram.sum_s()), (0, 0.0));
        (1..=1_000).for_each(|minutes| histogram.add(f64::from(minutes) * 60.0));
        assert!(histogram.at_most(30.0) == 0 && histogram.at_most(1e9) == 1_000);
        let (half, sum) = (histogram.at_most(30_000.0), histogram.sum_s() / (500_500.0 * 60.0));
        assert!((487..=513).contains(&half) && (sum - 1.0).abs() <= ERROR, "{half}, {sum}");
    }

    #[test]
    fn strange_numbers_have_a_bucket() {
        let mut histogram = Histogram::default();
        assert_eq!(histogram.quantile(0.5), None);
        for seconds in [f64::NAN, -1.0, 0.0, f64::INFINITY, 1e300, f64::MIN_POSITIVE] {
            histogram.add(seconds);
        }
        assert_eq!(histogram.count(), 6);
        assert!(histogram.quantile(1.0).is_some_and(f64::is_finite));
        assert_eq!(histogram.quantile(f64::NAN), Some(0.0));
    }
}
