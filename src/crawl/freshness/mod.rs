//! How fresh the archive is: how long after its appearance a torrent is here, and which torrents a site has no more.
//!
//! `delay` measures the acquisition delay (BT §4, Fig. 7), `histogram` is what it keeps the delays in, `plot` draws them.
//! `gone` decides that something has vanished, from answers and from lists; `rows` follows the lists.
//!
//! Stands behind the crawl, which tells it what looks showed, and before `coverage`, which needs what is gone as TorrentsInvalid
//! (ALGORITHMS §7). It decides and measures only: it fetches nothing, keeps nothing on a disk, and never reads the time.

pub mod delay;
pub mod gone;
pub mod histogram;
pub mod plot;
pub mod rows;

use serde::{Deserialize, Serialize};

use gleaner_base::clock::UnixMillis;

/// A moment that is known to lie between two others, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Between {
    pub from: UnixMillis,
    pub until: UnixMillis,
}

impl Between {
    /// The part of both, where they meet.
    #[must_use]
    pub fn and(self, other: Self) -> Option<Self> {
        let both = Self { from: self.from.max(other.from), until: self.until.min(other.until) };
        (both.from <= both.until).then_some(both)
    }

    /// It with so many milliseconds more at both ends.
    #[must_use]
    pub fn widened(self, by_ms: u64) -> Self {
        Self {
            from: UnixMillis(self.from.0.saturating_sub(by_ms)),
            until: UnixMillis(self.until.0.saturating_add(by_ms)),
        }
    }

    /// The middle of it.
    #[must_use]
    pub fn middle(self) -> UnixMillis {
        UnixMillis(self.from.0 + self.until.0.saturating_sub(self.from.0) / 2)
    }
}
