//! Whether search stays behind. It always waits for the newest torrents: it is behind if it takes in nothing while some wait, or what was stored
//! hours ago waits yet.

use std::time::Duration;

use gleaner_base::clock::UnixMillis;

/// What waits for so long is late, whatever else is taken in.
const LATE: Duration = Duration::from_secs(2 * 3_600);

/// A gap between two looks, as of a machine that slept, after which nothing is known.
const GAP: Duration = Duration::from_secs(1_800);

/// What is seen of the index.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Index {
    /// Torrents that are stored, and that it does not find.
    pub lag: u64,
    /// Its last change of the database, and the last one there is.
    pub change: u64,
    pub stored: u64,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Behind {
    last: Option<UnixMillis>,
    /// The change that it had, and since when.
    change: u64,
    moved: UnixMillis,
    /// A change that was the last one then, and is to be taken in.
    goal: u64,
    goal_at: UnixMillis,
}

impl Behind {
    /// Since when it is behind.
    pub(crate) fn mind(&mut self, index: &Index, at: UnixMillis) -> Option<UnixMillis> {
        let is_first = self.last.replace(at).is_none_or(|last| last > at || at.since(last) > GAP);
        if is_first || self.change != index.change {
            (self.change, self.moved) = (index.change, at);
        }
        // What it has taken in, and yet does not find, counts as waiting.
        let has_all = index.change >= self.goal && (index.lag == 0 || index.change < index.stored);
        if is_first || has_all {
            (self.goal, self.goal_at) = (index.stored, at);
        }
        if index.lag == 0 {
            return None;
        }
        let stands_since = self.moved.max(self.goal_at);
        let is_late = at.since(self.goal_at) >= LATE;
        if is_late { Some(self.goal_at) } else { Some(stands_since).filter(|since| *since < at) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: u64 = 60_000;

    #[test]
    fn it_is_behind_once_it_takes_in_nothing_or_what_is_hours_old_waits() {
        let mut behind = Behind::default();
        let mut see = |minute: u64, lag, change, stored| {
            let since = behind.mind(&Index { lag, change, stored }, UnixMillis(minute * MINUTE));
            since.map(|since| since.0 / MINUTE)
        };
        // Some wait at each look, and others at the next one.
        assert!((0..300).all(|minute| see(minute, 3, minute, minute + 3).is_none()));
        assert!((0..300).all(|minute| see(300 + minute, 0, 400, 400).is_none()));
        // It stands still.
        assert_eq!(see(600, 1, 400, 401), None);
        assert!((601..660).all(|minute| see(minute, 2, 400, minute - 200) == Some(600)));
        assert_eq!(see(660, 0, 460, 460), None);
        // It goes on too slowly.
        assert_eq!(see(661, 1_000, 460, 1_460), None);
        assert!((662..780).all(|minute| see(minute, 1_000, minute, 9_999).is_none()));
        assert_eq!(see(782, 1_000, 782, 9_999), Some(661));
        // Of what was before a gap nothing is known.
        assert_eq!(see(900, 1_000, 783, 9_999), None);
        // It has everything, and does not find some.
        assert_eq!(see(901, 5, 9_999, 9_999), None);
        assert_eq!(see(902, 5, 9_999, 9_999), Some(901));
    }
}
