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
    /// Lanes of a host, and those of them that the increment has at least.
    pub lanes: u32,
    pub increment_min: u32,
    /// URLs that history has yet to fetch, and number of known URLs.
    pub history_left: u64,
    pub known: u64,
    /// Requests that a round of the increment needs, as measured.
    pub wanted: u64,
    /// Requests that the site's rate allows in a round.
    pub possible: u64,
}

/// The reason for the increment's number of lanes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(rename = "SplitCause")]
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
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
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
    /// Splits the lanes (ALGORITHMS §6.4): the increment begins with its least number and gains the others as history is fetched; both
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
        let by_history = by_history.max(facts.increment_min.min(lanes - 1));
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
mod tests;
