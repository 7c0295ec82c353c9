//! How long a site goes without a new torrent, while it is read: its own nights and weekends.

use std::collections::VecDeque;
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use super::day;
use crate::limits::FIND_DAYS_MAX;

/// Days before a site is known: a week with its whole weekend.
const DAYS: u32 = 10;

/// Days with a find without which nothing is usual.
const DAYS_WITH_FINDS: usize = 5;

/// Days with a find, from which the longest gap may be an outage that nobody has noticed: the longest but one counts.
const DAYS_OF_MANY: usize = 24;

/// What is not usual, at least; and for a site that is not known.
const AT_LEAST: Duration = Duration::from_secs(36 * 3_600);
const OF_UNKNOWN: Duration = Duration::from_secs(4 * 86_400);

/// Times the mean gap: if torrents come by chance, each 20,000th gap is longer.
const MEANS: u64 = 10;

/// Finds after which older ones count half.
const FINDS_KEPT: u64 = 1_000;

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Finds {
    /// So far.
    known: Option<u64>,
    began: Option<u32>,
    /// Time that was read since the last one.
    idle_ms: u64,
    /// Time that was read, and times of finds in it; both are halved now and then.
    #[serde(default)]
    read_ms: u64,
    #[serde(default)]
    finds: u64,
    /// Day, and its longest gap.
    days: VecDeque<(u32, u64)>,
}

/// Times without a find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stopped {
    pub before: Duration,
    pub now: Duration,
}

impl Finds {
    /// Takes note of the finds so far, and of the time that the site was read since the last call.
    pub fn mind(&mut self, finds: u64, read_ms: u64, at: UnixMillis) -> Option<Stopped> {
        let today = day(at);
        let began = *self.began.get_or_insert(today);
        (self.idle_ms, self.read_ms) = (self.idle_ms + read_ms, self.read_ms + read_ms);
        if self.known.replace(finds).is_none_or(|known| known != finds) {
            self.finds += 1;
            if self.finds > FINDS_KEPT {
                (self.finds, self.read_ms) = (self.finds / 2, self.read_ms / 2);
            }
            let gap = std::mem::take(&mut self.idle_ms);
            match self.days.back_mut().filter(|(of, _)| *of == today) {
                Some((_, longest)) => *longest = gap.max(*longest),
                None => self.days.push_back((today, gap)),
            }
            if self.days.len() > FIND_DAYS_MAX {
                self.days.pop_front();
            }
        }
        let mut gaps: Vec<u64> = self.days.iter().map(|(_, gap)| *gap).collect();
        gaps.sort_unstable();
        let longest = gaps.len().checked_sub(1 + usize::from(gaps.len() >= DAYS_OF_MANY)).map_or(0, |at| gaps[at]);
        let least = if today.saturating_sub(began) >= DAYS { AT_LEAST } else { OF_UNKNOWN };
        let mean = self.read_ms / self.finds.max(1);
        let usual = (longest * 5 / 2).max(mean * MEANS).max(least.as_millis() as u64);
        let is_over = gaps.len() >= DAYS_WITH_FINDS && self.idle_ms > usual;
        is_over.then(|| Stopped { before: Duration::from_millis(longest), now: Duration::from_millis(self.idle_ms) })
    }
}
