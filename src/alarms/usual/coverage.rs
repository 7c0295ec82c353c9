//! The coverage of a site, an hour each.

use std::collections::VecDeque;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::NEW_USUAL_AFTER;
use crate::limits::COVERAGE_HOURS_MAX;

/// Hours before it is known.
const HOURS: usize = 24;

/// Points below the median that are not usual.
const LESS: f64 = 0.05;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Coverage {
    hours: VecDeque<f64>,
    hour: u64,
    since: Option<UnixMillis>,
}

impl Coverage {
    /// Takes note of the coverage; returns the usual one if this is less.
    pub fn mind(&mut self, ratio: f64, at: UnixMillis) -> Option<f64> {
        let usual = self.median().filter(|_| self.hours.len() >= HOURS);
        if let Some(usual) = usual.filter(|usual| ratio < usual - LESS) {
            let since = *self.since.get_or_insert(at);
            if at.since(since) < NEW_USUAL_AFTER {
                return Some(usual);
            }
            self.hours.clear();
        }
        self.since = None;
        let hour = at.0 / 3_600_000;
        if std::mem::replace(&mut self.hour, hour) != hour {
            self.hours.push_back(ratio);
        }
        if self.hours.len() > COVERAGE_HOURS_MAX {
            self.hours.pop_front();
        }
        None
    }

    fn median(&self) -> Option<f64> {
        let mut hours: Vec<f64> = self.hours.iter().copied().collect();
        hours.sort_by(f64::total_cmp);
        hours.get(hours.len() / 2).copied()
    }
}
