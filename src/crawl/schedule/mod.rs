//! How often and when boards are rechecked (ALGORITHMS §10.2–10.4; Board).
//!
//! ```text
//! posts seen → adapt (profile + forecast → price of a recheck) → next recheck of each board
//! ```
//!
//! The crawl passes it the results of rechecks and asks when each board is due. The
//! crawl uses `adapt`: it follows bursts and silence as they come, and uses the numbers of posts to infer new posts on boards that were not
//! rechecked (`odometer`). `fixed` contains the parts of the paper's plans. `gleaner-lab` replays post times against all of them.
//!
//! The module opens no file and no socket, never waits and never reads the clock: times are arguments, in UTC.

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

/// θ of ALGORITHMS §10.2: weight of a reply's delay, where that of a new thread is 1.
pub const REPLY_WEIGHT: f64 = 0.5;

/// Kind of a new entry on a board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A thread, or a torrent.
    New,
    /// A reply in a known thread.
    Reply,
}

impl Kind {
    /// Weight of its delay: 1, or θ.
    #[must_use]
    pub fn weight(self) -> f64 {
        match self {
            Self::New => 1.0,
            Self::Reply => REPLY_WEIGHT,
        }
    }
}

/// A post of a board: when it appeared, in seconds since 1970-01-01 UTC, and its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Post {
    /// Seconds since 1970-01-01 UTC.
    pub at: u64,
    /// What it is.
    pub kind: Kind,
    /// Its number, if it is a thread or a torrent that has one (`/torrent/4711`); the site may number all of its posts in one sequence.
    pub number: Option<NonZeroU64>,
}
