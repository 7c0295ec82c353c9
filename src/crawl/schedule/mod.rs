//! How often and when boards are looked at (ALGORITHMS §10.2–10.4; Board).
//!
//! ```text
//! posts seen → adapt (profile + forecast → price of a look) → when next for each board
//! trace ─┬─ learn ─→ fixed (ERA, WRA, LRA, BRA, optimum) ─┐
//!        └─ test ──→ simulate ←───────────────────────────┴─ adapt
//! ```
//!
//! Stands behind the crawl, which tells it what looks at boards showed and asks when each is due. `fixed` holds the
//! paper's plans, which are the baselines, and the exact optimum of a day that repeats; `adapt` is what the crawl
//! uses: it follows bursts and silence as they come, and what the numbers of posts tell of boards that nobody looked at
//! (`odometer`). `trace` reads post times, `generate` makes them up, `simulate`
//! replays them against every policy.
//!
//! The room opens no file and no socket, never waits and never reads the time: times are arguments, in UTC.

pub mod adapt;
pub mod fixed;
pub mod forecast;
pub mod generate;
pub mod habit;
pub mod odometer;
pub mod optimum;
pub mod plot;
pub mod profile;
pub mod simulate;
pub mod trace;

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

/// What is wrong with a trace or with what is asked of it.
#[derive(Debug, thiserror::Error)]
pub enum ScheduleError {
    /// Lines that are no posts, each as `line N: what is wrong`.
    #[error("{}", lines.join("\n"))]
    Lines {
        /// The first of them, and how many more there are.
        lines: Vec<String>,
    },
    /// More than fits.
    #[error("the trace has more than {max} {what}\nhint: cut it by time or by board")]
    TooMany {
        /// Posts, or boards.
        what: &'static str,
        /// How many may be.
        max: usize,
    },
    /// Nothing to learn from or to test on.
    #[error("{0}")]
    Nothing(String),
    /// A number that makes no sense.
    #[error("{0}")]
    Option(String),
    /// The trace cannot be read or written.
    #[error("the trace: {0}")]
    Io(#[from] std::io::Error),
}
