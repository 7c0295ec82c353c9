//! Two crews on one site (ALGORITHMS §6): history fetches existing content, each page once; the increment rechecks start pages
//! and first pages of lists and follows what is new. Decides how many of the site's lanes each has, how the lanes'
//! requests alternate between them, and how long a round lasts: functions of numbers, no I/O, no clock.
//!
//! A share of the lanes is a share of the requests as well: if a site's rate allows one request at a time, lanes alone
//! would decide nothing. A crew that has nothing to do leaves all of them to the other.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The crew that fetches a URL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crew {
    #[default]
    History,
    /// `level` links away from a rechecked page; the recheck itself is level 0.
    Increment { level: u8 },
}

impl Crew {
    /// True for the increment, whatever the level.
    #[must_use]
    pub fn is_increment(self) -> bool {
        matches!(self, Self::Increment { .. })
    }
}

/// Inputs for computing the shares.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Facts {
    /// Lanes of the site's rule file.
    pub lanes: u32,
    /// URLs that history has yet to fetch, and number of known URLs.
    pub history_left: u64,
    pub known: u64,
    /// Requests that a round of the increment needs, as measured.
    pub wanted: u64,
    /// Requests that the site's rate allows in a round.
    pub possible: u64,
}

/// The reason for the increment's number of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// History has nothing left.
    #[default]
    HistoryDone,
    /// The share of the pages that history has yet to fetch.
    HistoryLeft,
    /// New content needs more than that share.
    NewsNeedsMore,
    /// One lane, which both use alternately.
    InTurns,
}

/// Division of a site's lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Split {
    pub lanes: u32,
    /// Lanes of the increment; the others are history's.
    pub increment: u32,
    pub cause: Cause,
}

/// A round's new pages come at once, with its rechecks: the increment has the lanes to fetch them within this part of the round. It
/// costs history no additional request, since an idle crew leaves its lanes.
const NEED_WITHIN: u128 = 4;

impl Split {
    /// Splits the lanes (ALGORITHMS §6.4): the increment begins with one and gains the others as history is fetched; both
    /// crews keep at least one while history has anything left. A site whose new content needs a larger share gets that.
    #[must_use]
    pub fn of(facts: &Facts) -> Self {
        let lanes = facts.lanes.max(1);
        let split = |increment, cause| Self { lanes, increment, cause };
        if facts.history_left == 0 {
            return split(lanes, Cause::HistoryDone);
        }
        if lanes == 1 {
            return split(1, Cause::InTurns);
        }
        let part = |of: u128, whole: u64| {
            let share = (u128::from(lanes) * of).div_ceil(whole.max(1).into());
            u32::try_from(share).unwrap_or(u32::MAX).clamp(1, lanes - 1)
        };
        let by_history = lanes - part(facts.history_left.into(), facts.known.max(facts.history_left));
        let by_need = match facts.possible {
            0 => 1,
            possible => part(u128::from(facts.wanted) * NEED_WITHIN, possible),
        };
        match by_need > by_history {
            true => split(by_need, Cause::NewsNeedsMore),
            false => split(by_history, Cause::HistoryLeft),
        }
    }

    /// Lanes of history while both crews have something to do.
    #[must_use]
    pub fn history(self) -> u32 {
        if self.cause == Cause::InTurns { 1 } else { self.lanes - self.increment }
    }

    /// The share as a sentence for `status`.
    #[must_use]
    pub fn sentence(self, facts: &Facts) -> String {
        let Self { lanes, increment, cause } = self;
        let Facts { history_left: left, known, wanted, possible, .. } = facts;
        let why = match cause {
            Cause::InTurns => {
                return format!("increment and history take turns at 1 lane: {left} of {known} pages of history left");
            }
            Cause::HistoryDone => "nothing of history left".to_owned(),
            Cause::HistoryLeft => format!("{left} of {known} pages of history left"),
            Cause::NewsNeedsMore => format!(
                "a round of news takes {wanted} of the {possible} requests that its time allows, {left} of {known} pages of history left"
            ),
        };
        format!("increment {increment} of {lanes} lanes: {why}")
    }
}

/// Length of a round: the rule file's interval, and up to twice that while history has more left than the site's
/// rate allows in one; it shortens as the increment gains lanes.
#[must_use]
pub fn interval(revisit: Duration, split: Split, facts: &Facts) -> Duration {
    if facts.history_left <= facts.possible || split.lanes == 0 {
        return revisit;
    }
    match split.cause {
        Cause::HistoryDone => revisit,
        Cause::InTurns => revisit * 3 / 2,
        Cause::HistoryLeft | Cause::NewsNeedsMore => revisit + revisit * split.history() / split.lanes,
    }
}

/// Decides whose turn it is at a host: stride scheduling over the two crews' lanes. An idle crew accumulates no claim.
#[derive(Clone, Copy, Debug, Default)]
pub struct Turns {
    /// Turns taken, each divided by the crew's lanes.
    history: f64,
    increment: f64,
}

/// State of a crew at a host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hands {
    /// Requests in flight.
    pub running: u32,
    /// True if it could begin another one.
    pub has_work: bool,
}

impl Turns {
    /// True if the increment begins the next request, false for history, None for neither.
    pub fn next(&mut self, split: Split, history: Hands, increment: Hands) -> Option<bool> {
        if history.running + increment.running >= split.lanes.max(1) {
            return None;
        }
        let is_increments = match (history.has_work, increment.has_work) {
            (false, false) => return None,
            (true, false) => {
                self.increment = self.increment.max(self.history);
                false
            }
            (false, true) => {
                self.history = self.history.max(self.increment);
                true
            }
            (true, true) if history.running >= split.history().max(1) => true,
            (true, true) if increment.running >= split.increment.max(1) => false,
            (true, true) => self.increment <= self.history,
        };
        self.take(split, is_increments, 1.0);
        Some(is_increments)
    }

    /// The turn was not used: the host pauses.
    pub fn give_back(&mut self, split: Split, is_increments: bool) {
        self.take(split, is_increments, -1.0);
    }

    fn take(&mut self, split: Split, is_increments: bool, turns: f64) {
        match is_increments {
            true => self.increment += turns / f64::from(split.increment.max(1)),
            false => self.history += turns / f64::from(split.history().max(1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    fn facts(lanes: u32, history_left: u64) -> Facts {
        Facts { lanes, history_left, known: 50_000, wanted: 0, possible: 1_000 }
    }

    fn increment(facts: &Facts) -> u32 {
        Split::of(facts).increment
    }

    #[test]
    fn lanes_move_to_the_increment_as_history_is_fetched_and_back_as_it_grows() {
        let shares = [50_000, 40_000, 30_000, 20_000, 10_000, 120, 1, 0].map(|left| increment(&facts(4, left)));
        assert_eq!(shares, [1, 1, 1, 2, 3, 3, 3, 4]);
        // A new board was found.
        let grown = Facts { known: 90_000, ..facts(4, 40_120) };
        assert_eq!(increment(&grown), 2);
        for lanes in 2..50 {
            let shares: Vec<u32> = (0..=50).map(|part| increment(&facts(lanes, part * 1_000))).collect();
            assert!(shares.is_sorted_by(|a, b| a >= b), "{lanes}: {shares:?}");
            assert!(shares[1..].iter().all(|share| (1..lanes).contains(share)), "{lanes}: {shares:?}");
        }
    }

    #[test]
    fn news_that_take_more_than_their_share_get_it_and_history_keeps_a_lane() {
        let busy = Facts { wanted: 120, ..facts(4, 50_000) };
        assert_eq!(Split::of(&busy), Split { lanes: 4, increment: 2, cause: Cause::NewsNeedsMore });
        assert_eq!(increment(&Facts { wanted: 90_000, ..busy }), 3);
        assert_eq!(increment(&Facts { wanted: 90_000, possible: 0, ..busy }), 1, "nothing is known of the rate");
        assert_eq!(increment(&Facts { wanted: u64::MAX, possible: u64::MAX, lanes: u32::MAX, ..busy }), u32::MAX - 1);
    }

    #[test]
    fn the_reason_is_told() {
        let told = |facts: &Facts| Split::of(facts).sentence(facts);
        assert_eq!(told(&facts(4, 120)), "increment 3 of 4 lanes: 120 of 50000 pages of history left");
        assert_eq!(told(&facts(4, 0)), "increment 4 of 4 lanes: nothing of history left");
        assert!(told(&facts(1, 9)).starts_with("increment and history take turns at 1 lane: 9 of 50000"));
        assert!(told(&Facts { wanted: 370, ..facts(4, 50_000) }).contains("takes 370 of the 1000 requests"));
    }

    #[test]
    fn the_interval_shortens_with_history_and_is_never_below_the_rule_files() {
        let long = |facts: &Facts| interval(HOUR, Split::of(facts), facts);
        assert_eq!(long(&facts(4, 50_000)), HOUR * 7 / 4);
        assert_eq!(long(&facts(4, 10_000)), HOUR * 5 / 4);
        assert_eq!(long(&facts(1, 10_000)), HOUR * 3 / 2);
        assert_eq!(long(&facts(4, 1_000)), HOUR, "history is done within a round");
        assert_eq!(long(&facts(4, 0)), HOUR);
        assert_eq!(interval(HOUR, Split::default(), &facts(4, 50_000)), HOUR);
    }

    /// Requests of the increment among so many, one at a time, if both crews always have something to do.
    fn turns(split: Split, requests: u32) -> u32 {
        let mut turns = Turns::default();
        let hands = Hands { running: 0, has_work: true };
        (0..requests).filter(|_| turns.next(split, hands, hands).unwrap()).count().try_into().unwrap()
    }

    #[test]
    fn requests_that_go_one_at_a_time_are_shared_as_the_lanes_are() {
        for (left, of_increment) in [(50_000, 100), (20_000, 200), (120, 300)] {
            assert_eq!(turns(Split::of(&facts(4, left)), 400), of_increment, "{left}");
        }
        assert_eq!(turns(Split::of(&facts(1, 9)), 400), 200);
    }

    #[test]
    fn an_idle_crew_leaves_its_lanes_and_gathers_no_claim() {
        let split = Split::of(&facts(4, 50_000));
        let (idle, busy) = (Hands::default(), Hands { running: 0, has_work: true });
        let mut turns = Turns::default();
        for _ in 0..1_000 {
            assert_eq!(turns.next(split, busy, idle), Some(false));
        }
        assert_eq!(turns.next(split, idle, idle), None);
        let next: Vec<bool> = (0..8).filter_map(|_| turns.next(split, busy, busy)).collect();
        assert_eq!(next.iter().filter(|increments| **increments).count(), 2, "{next:?}");
    }

    #[test]
    fn a_crew_has_no_more_requests_under_way_than_lanes_while_the_other_waits() {
        let split = Split::of(&facts(4, 50_000));
        let mut turns = Turns::default();
        let hands = |running| Hands { running, has_work: true };
        for _ in 0..100 {
            assert_eq!(turns.next(split, hands(3), hands(0)), Some(true));
            assert_eq!(turns.next(split, hands(2), hands(1)), Some(false));
            assert_eq!(turns.next(split, hands(3), hands(1)), None);
        }
    }

    #[test]
    fn a_turn_that_was_given_back_costs_nothing() {
        let split = Split::of(&facts(4, 50_000));
        let mut turns = Turns::default();
        let hands = Hands { running: 0, has_work: true };
        let mut taken = 0;
        for request in 0..800 {
            let is_increments = turns.next(split, hands, hands).unwrap();
            match request % 2 {
                0 => turns.give_back(split, is_increments),
                _ => taken += u32::from(is_increments),
            }
        }
        assert_eq!(taken, 100);
    }
}
