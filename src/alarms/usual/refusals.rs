//! Which share of the visits is refused: banned, throttled, or any other 4xx but those of what is gone.

use std::collections::VecDeque;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::limits::REFUSAL_BUCKETS_MAX;

const BUCKET_MS: u64 = 600_000;

/// Buckets that are now: the current one and two before.
const NOW: usize = 3;

/// Visits without which nothing is said.
const VISITS: u64 = 4;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Refusals {
    /// All visits so far, and those refused.
    known: Option<(u64, u64)>,
    /// Number of ten minutes, visits, and those refused.
    buckets: VecDeque<(u64, u64, u64)>,
}

/// Shares of refused visits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Grew {
    pub before: f64,
    pub now: f64,
}

impl Refusals {
    /// Takes note of the visits so far; tells whether half of what was answered before is refused now.
    pub fn mind(&mut self, visits: u64, refused: u64, at: UnixMillis) -> Option<Grew> {
        let known = self.known.replace((visits, refused)).unwrap_or((visits, refused));
        let (visits, refused) = (visits.saturating_sub(known.0), refused.saturating_sub(known.1));
        let bucket = at.0 / BUCKET_MS;
        match self.buckets.back_mut().filter(|(of, ..)| *of >= bucket) {
            Some((_, all, bad)) => (*all, *bad) = (*all + visits, *bad + refused),
            None => self.buckets.push_back((bucket, visits, refused)),
        }
        if self.buckets.len() > REFUSAL_BUCKETS_MAX {
            self.buckets.pop_front();
        }
        let is_now = |of: u64| of + NOW as u64 > bucket;
        let (all, bad) = self.sum(is_now);
        let (all_before, bad_before) = self.sum(|of| !is_now(of));
        let before = if all_before < VISITS { 0.0 } else { bad_before as f64 / all_before as f64 };
        let now = bad as f64 / all.max(1) as f64;
        (all >= VISITS && now >= before + (1.0 - before) / 2.0).then_some(Grew { before, now })
    }

    fn sum(&self, is_of: impl Fn(u64) -> bool) -> (u64, u64) {
        let of = self.buckets.iter().filter(|(of, ..)| is_of(*of));
        of.fold((0, 0), |(all, bad), (_, visits, refused)| (all + visits, bad + refused))
    }
}
