//! What start pages show from recheck to recheck: the newest entries, most of which are still there next time, or random picks.
//!
//! In memory only: the first recheck after a start has no comparison, and the page counts as one of the newest entries.

use std::collections::{HashMap, HashSet};

use crate::limits::FRONTS_COMPARED_MAX;

/// Rechecks in a row that each showed less than half of the previous one, until a page counts as random picks: a burst does that once.
const DRAWN_LOOKS: u32 = 2;

/// Rechecks in a row without anything new, until a page counts as quiet.
const QUIET_LOOKS: u32 = 6;

/// Start pages and other pages that are no lists, by the marks of their URLs.
#[derive(Default)]
pub(in crate::site_loop) struct Fronts(HashMap<u64, Front>);

#[derive(Default)]
struct Front {
    /// The torrents that its last recheck showed.
    shown: HashSet<u64>,
    drawn: u32,
    quiet: u32,
}

impl Fronts {
    /// Records that a page was rechecked and links to these torrents; None for one that has not changed.
    pub fn looked(&mut self, page: u64, shown: Option<HashSet<u64>>) {
        let has_room = self.0.len() < FRONTS_COMPARED_MAX || self.0.contains_key(&page);
        if !has_room {
            return;
        }
        let front = self.0.entry(page).or_default();
        let shown = shown.unwrap_or_else(|| front.shown.clone());
        let kept = front.shown.intersection(&shown).count();
        let is_drawn = 2 * kept < front.shown.len();
        front.drawn = if is_drawn { front.drawn.saturating_add(1) } else { 0 };
        front.quiet = if kept < shown.len() { 0 } else { front.quiet.saturating_add(1) };
        front.shown = shown;
    }

    /// True for a page of random picks.
    pub fn is_drawn(&self, page: u64) -> bool {
        self.0.get(&page).is_some_and(|front| front.drawn >= DRAWN_LOOKS)
    }

    /// True for a page whose rechecks may show new entries.
    pub fn has_news(&self, page: u64) -> bool {
        self.0.get(&page).is_none_or(|front| front.drawn < DRAWN_LOOKS && front.quiet < QUIET_LOOKS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn picks_are_told_from_the_latest_by_what_is_still_there() {
        let mut fronts = Fronts::default();
        let mut look = |page: u64, shown: std::ops::Range<u64>| {
            fronts.looked(page, Some(shown.collect()));
            (fronts.is_drawn(page), fronts.has_news(page))
        };
        for n in 0..20 {
            assert_eq!(look(1, n * 3..n * 3 + 10), (false, true), "a feed of ten with three new ones each time");
            assert_eq!(look(2, n * 10..n * 10 + 10), (n >= 2, n < 2), "picks");
            let burst = if n < 5 { 0 } else { 50 };
            assert_eq!(look(3, n + burst..n + burst + 10), (false, true), "a burst between two looks");
            assert_eq!(look(4, 0..10), (false, n < 6), "nothing new ever");
        }
        assert_eq!(look(2, 190..200), (false, true), "the same as at its last look");
        fronts.looked(1, None);
        assert!(!fronts.is_drawn(1) && fronts.has_news(1));
        for page in 0..2 * FRONTS_COMPARED_MAX as u64 {
            fronts.looked(page, Some(HashSet::new()));
        }
        assert_eq!(fronts.0.len(), FRONTS_COMPARED_MAX);
    }
}
