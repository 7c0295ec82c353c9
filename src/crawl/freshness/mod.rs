//! Freshness of the archive: the delay from a torrent's appearance to its arrival, and which torrents a site no longer has.
//!
//! `delay` measures the acquisition delay (BT §4, Fig. 7), `histogram` stores the delays, `plot` draws them.
//! `gone` decides from responses and lists that something has vanished; `rows` follows the lists.
//!
//! The crawl passes it the results of rechecks, and `coverage` uses what is gone as TorrentsInvalid
//! (ALGORITHMS §7). It only decides and measures: it fetches nothing, stores nothing on disk, and never reads the clock.

pub mod delay;
pub mod gone;
pub mod histogram;
pub mod plot;
pub mod rows;

use serde::{Deserialize, Serialize};

use gleaner_base::clock::UnixMillis;

/// A moment known to lie between two others, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    pub from: UnixMillis,
    pub until: UnixMillis,
}

impl Between {
    /// The intersection of both, if they overlap.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self { from: self.from.max(other.from), until: self.until.min(other.until) };
        (both.from <= both.until).then_some(both)
    }

    /// The interval extended by this many milliseconds at both ends.
    #[must_use]
    pub fn widened(self, by_ms: u64) -> Self {
        Self {
            from: UnixMillis(self.from.0.saturating_sub(by_ms)),
            until: UnixMillis(self.until.0.saturating_add(by_ms)),
        }
    }

    /// Its middle.
    #[must_use]
    pub fn middle(self) -> UnixMillis {
        UnixMillis(self.from.0 + self.until.0.saturating_sub(self.from.0) / 2)
    }
}
