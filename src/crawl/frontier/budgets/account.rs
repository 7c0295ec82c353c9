//! The account of one URL shape: what its fetches have cost and earned.

use serde::{Deserialize, Serialize};

use super::{LINK_PAGES, Likeness, PAGE, Reason};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Account {
    pub(super) fetched: u64,
    /// Torrents and magnets.
    pub(super) yielded: u64,
    /// Tenths of a page.
    pub(super) opening: i64,
    pub(super) balance: i64,
    pub(super) earned: i64,
    /// Earned by links to unproven shapes.
    pub(super) unproven: i64,
    /// Earned by links to shapes with torrents of their own.
    pub(super) by_links: i64,
    /// First links to URLs of this shape.
    pub(super) linked: u64,
    /// Links to shapes that had not yielded yet, by the hash of their key.
    pub(super) targets: Vec<(u64, u32)>,
    pub(super) is_starved: bool,
    /// Requests since it starves.
    pub(super) asked: u64,
    pub(super) cut: u64,
    pub(super) reason: Option<Reason>,
    pub(super) example: Option<Box<str>>,
    pub(super) likeness: Option<Likeness>,
    pub(super) last: u64,
}

impl Account {
    /// Minimum balance of a starved account.
    pub(super) fn floor(&self) -> i64 {
        -(self.opening / 4)
    }

    /// Torrents per fetch in thousandths of one in twenty: 1,000 is that or more.
    pub(super) fn direct(&self) -> i64 {
        let (yielded, fetched) = (self.yielded.min(1 << 40), self.fetched.clamp(20, 1 << 40));
        i64::try_from(20_000 * yielded / fetched).unwrap_or(i64::MAX).min(1_000)
    }

    /// What the links of one page earn, in thousandths of a link to a yielding shape.
    pub(super) fn indirect(&self) -> i64 {
        let fetched = i64::try_from(self.fetched.clamp(20, 1 << 40)).unwrap_or(i64::MAX);
        (self.by_links.clamp(0, 1 << 50) * 1_000 / (LINK_PAGES * PAGE) / fetched).min(1_000)
    }

    /// True if it earns what it spends.
    pub(super) fn sustains_itself(&self) -> bool {
        let spent = i64::try_from(self.fetched).unwrap_or(i64::MAX).saturating_mul(PAGE);
        self.earned > 0 && self.earned >= spent
    }
}
