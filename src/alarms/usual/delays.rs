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
        let mut told: Vec<f64> =
            self.buckets.iter().filter(|(_, own)| own[CLASSES_S.len()] >= TORRENTS).map(|(_, own)| p90(own)).collect();
        let now = told.pop()?;
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
