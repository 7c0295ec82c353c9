//! How often and when boards are looked at (ALGORITHMS §10.2–10.4; Board).
//!
//! ```text
//! posts seen → adapt (profile + forecast → price of a look) → when next for each board
//! ```
//!
//! Stands behind the crawl, which tells it what looks at boards showed and asks when each is due. `adapt` is what the
//! crawl uses: it follows bursts and silence as they come, and what the numbers of posts tell of boards that nobody
//! looked at (`odometer`). `fixed` holds the parts of the paper's plans. `gleaner-lab` replays post times against all of them.
//!
//! The room opens no file and no socket, never waits and never reads the time: times are arguments, in UTC.

pub mod adapt;
pub mod fixed;
pub mod forecast;
pub mod habit;
pub mod odometer;
pub mod plot;
pub mod profile;

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// Seconds of an hour and of a day.
pub const HOUR_S: u64 = 3_600;
/// See [`HOUR_S`].
pub const DAY_S: u64 = 86_400;

/// Hours of a day: the bins K of the activity profile (ALGORITHMS §10.4).
pub const HOURS: usize = 24;

/// θ of ALGORITHMS §10.2: what the delay of a reply counts, where that of a new thread counts 1.
pub const REPLY_WEIGHT: f64 = 0.5;

/// What appeared on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A thread, or a torrent.
    New,
    /// A reply in a known thread.
    Reply,
}

impl Kind {
    /// What its delay counts: 1, or θ.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::New => 1.0,
            Self::Reply => REPLY_WEIGHT,
        }
    }
}

/// A post of a board: when it appeared, in seconds since 1970-01-01 UTC, and what it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Seconds since 1970-01-01 UTC.
    pub at: u64,
    /// What it is.
    pub kind: Kind,
    /// Its number, where it is a thread or a torrent that has one (`/torrent/4711`); the site may count all of its posts by them.
    pub number: Option<NonZeroU64>,
}
