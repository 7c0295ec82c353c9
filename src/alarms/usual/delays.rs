//! How late new torrents come: the p90 of each quarter of a day.

use std::collections::VecDeque;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::limits::DELAY_BUCKETS_MAX;

const BUCKET_MS: u64 = 6 * 3_600_000;

/// Upper ends of the classes of delays, in seconds: a minute to a week.
pub const CLASSES_S: [f64; 11] =
    [60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0];

/// Delays no greater than the end of each class so far; the last number is that of all.
pub type Counts = [u64; CLASSES_S.len() + 1];

/// Torrents of a quarter of a day, without which nothing is said of it.
const TORRENTS: u64 = 10;

/// Quarters of days before it is known.
const BUCKETS: usize = 12;

/// Times as late, and seconds, that are not usual.
const TIMES: f64 = 3.0;
const SECONDS: f64 = 900.0;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    known: Option<Counts>,
    buckets: VecDeque<(u64, Counts)>,
}

/// The p90 in seconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grew {
    pub before: f64,
    pub now: f64,
}

impl Delays {
    /// Takes note of the delays so far; tells whether the last ones are much later than those of any other quarter of a day but one.
    pub fn mind(&mut self, counts: Counts, at: UnixMillis) -> Option<Grew> {
        let known = self.known.replace(counts).unwrap_or(counts);
        let bucket = at.0 / BUCKET_MS;
        if self.buckets.back().is_none_or(|(of, _)| *of < bucket) {
            self.buckets.push_back((bucket, Counts::default()));
        }
        if let Some((_, own)) = self.buckets.back_mut() {
            own.iter_mut()
                .zip(counts.iter().zip(known))
                .for_each(|(own, (now, then))| *own += now.saturating_sub(then));
        }
        if self.buckets.len() > DELAY_BUCKETS_MAX {
            self.buckets.pop_front();
        }
        let is_enough = |own: &Counts| own[CLASSES_S.len()] >= TORRENTS;
        let mut told: Vec<(u64, f64)> =
            self.buckets.iter().filter(|(_, own)| is_enough(own)).map(|(of, own)| (*of, p90(own))).collect();
        // What was late once says nothing of now.
        let (_, now) = told.pop().filter(|(of, _)| of + 1 >= bucket)?;
        let mut told: Vec<f64> = told.into_iter().map(|(_, p90)| p90).collect();
        told.sort_by(f64::total_cmp);
        let before = told.len().checked_sub(2).filter(|_| told.len() >= BUCKETS).map(|second| told[second])?;
        (now >= SECONDS && now >= before * TIMES).then_some(Grew { before, now })
    }
}

/// Within its class, in proportion.
fn p90(counts: &Counts) -> f64 {
    let wanted = counts[CLASSES_S.len()] as f64 * 0.9;
    let (mut below, mut from) = (0.0, 0.0);
    for (end, count) in CLASSES_S.iter().zip(counts) {
        let count = *count as f64;
        if count >= wanted {
            return from + (end - from) * (wanted - below) / (count - below).max(1.0);
        }
        (below, from) = (count, *end);
    }
    from
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_late_once_is_forgotten_when_too_little_comes() {
        let (mut delays, mut counts) = (Delays::default(), Counts::default());
        let mut comes = |quarter: u64, torrents: u64, class: usize| {
            counts[class..].iter_mut().for_each(|count| *count += torrents);
            delays.mind(counts, UnixMillis(quarter * BUCKET_MS))
        };
        comes(0, 0, 0);
        assert!((1..=14).all(|quarter| comes(quarter, 20, 1).is_none()));
        assert!(comes(15, 20, 6).is_some());
        assert!(comes(16, TORRENTS - 1, 1).is_some(), "the quarter before says it");
        assert_eq!(comes(17, TORRENTS - 1, 1), None);
        assert_eq!(comes(40, 0, 1), None);
        assert!(comes(41, 20, 6).is_some());
    }
}
