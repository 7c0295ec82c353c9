//! Rows that vanish from a list while their neighbours stay (ALGORITHMS §7).
//!
//! A row that is pushed off its page is not gone, and neither is one that moved. So a row counts as missing only if the page was read
//! completely, the rows before and after it are still there (at the head of a list only those after it), and the list keeps its order: rows
//! that stayed are in the same order, except for those that moved to the top. Two rechecks decide whether a missing row is gone
//! ([`Presence`]).
//!
//! For each list the rows of its last recheck are kept, and missing ones until they are decided.

use std::collections::{HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::gone::{Gone, Presence, Sign, Turn, Why};
use crate::limits::{GONE_MISSED_ROWS_MAX, GONE_ROWS_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_page::noise::longest_rising;

/// Below this share of rows that kept their order, a list is sorted by something that changes, and no row counts as missing.
const IN_ORDER: f64 = 0.8;

/// Rows before the first one that stayed that count as missing like those between, and rows that must have stayed, at least three times as
/// many: a head that changes as a whole is a separate list (the best of the hour).
const HEAD_ROWS: usize = 5;
const HEAD_STAYED_MIN: usize = 5;

/// One page of a list, or several in a row, as a recheck found it.
#[derive(Clone, Copy, Debug)]
pub struct Listed<'a> {
    /// Hashes of the targets of rows, in the order of the list; without pinned rows.
    pub rows: &'a [u64],
    /// Hashes of all targets that the page links to: a row that is a plain link now has not vanished, only its markup has changed.
    pub linked: &'a HashSet<u64>,
    /// The page was complete, and a member's if the site has an account.
    pub is_whole: bool,
    pub at: UnixMillis,
}

/// A row that was present.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Row {
    target: u64,
    presence: Presence,
}

/// The history of one list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct List {
    /// Rows of the last recheck, in order, with missing ones at their former position.
    rows: Vec<Row>,
}

/// Result of a recheck.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Vanished {
    /// Rows that are gone, by target.
    pub gone: Vec<(u64, Gone)>,
    /// Rows that are back.
    pub back: Vec<u64>,
    /// Missing rows that are not decided: their pages show more.
    pub missed: usize,
}

impl List {
    /// Processes a recheck of the list. Rows that cannot be judged are left out.
    pub fn look(&mut self, listed: &Listed<'_>) -> Vanished {
        let mut vanished = Vanished::default();
        if !listed.is_whole || listed.rows.is_empty() {
            return vanished;
        }
        let shown = &listed.rows[..listed.rows.len().min(GONE_ROWS_MAX)];
        let places: HashMap<u64, usize> =
            shown.iter().rev().enumerate().map(|(at, row)| (*row, shown.len() - 1 - at)).collect();
        let stayed = self.stayed(&places);
        let mut known: HashMap<u64, Presence> = HashMap::with_capacity(shown.len());
        let mut missed: Vec<(Option<u64>, Row, Sign)> = Vec::new();
        let mut before = None;
        for (at, row) in std::mem::take(&mut self.rows).into_iter().enumerate() {
            if places.contains_key(&row.target) {
                known.insert(row.target, row.presence);
                before = Some(row.target);
            } else if listed.linked.contains(&row.target) {
                missed.push((before, row, Sign::Present));
            } else if stayed.as_ref().is_some_and(|stayed| (stayed.first < at || stayed.is_head) && at < stayed.last) {
                missed.push((before, row, Sign::Absent(Why::Unlisted)));
            }
            // Rows after the last one that stayed may be on another page now, and so may the head of a list of which few rows stayed.
        }
        let mut seen = HashSet::with_capacity(shown.len());
        for target in shown.iter().filter(|target| seen.insert(**target)) {
            let mut presence = known.get(target).copied().unwrap_or_default();
            if presence.look(Sign::Present, listed.at) == Turn::Back {
                vanished.back.push(*target);
            }
            self.rows.push(Row { target: *target, presence });
        }
        self.keep_missed(missed, listed.at, &mut vanished);
        vanished
    }

    /// True for a row of the last recheck, and for a missing one.
    #[must_use]
    pub fn follows(&self, target: u64) -> bool {
        self.rows.iter().any(|row| row.target == target)
    }

    /// The rows of the last recheck that are still there and in order; None if there are too few to judge by.
    fn stayed(&self, places: &HashMap<u64, usize>) -> Option<Stayed> {
        let still: Vec<(usize, usize)> = self
            .rows
            .iter()
            .enumerate()
            .filter_map(|(at, row)| places.get(&row.target).map(|place| (at, *place)))
            .collect();
        let in_order = longest_rising(&still);
        let is_ordered = ratio(in_order.len(), still.len()) >= IN_ORDER;
        let (first, last) = (in_order.first()?.0, in_order.last()?.0);
        let is_head = first <= HEAD_ROWS && in_order.len() >= HEAD_STAYED_MIN.max(3 * first);
        (is_ordered && first < last).then_some(Stayed { first, last, is_head })
    }

    /// Inserts the missing rows, and those that are plain links now, at their former position, after the row `before` them, and checks whether they
    /// are gone.
    fn keep_missed(&mut self, missed: Vec<(Option<u64>, Row, Sign)>, now: UnixMillis, vanished: &mut Vanished) {
        let mut behind: HashMap<Option<u64>, Vec<Row>> = HashMap::new();
        for (before, mut row, sign) in missed.into_iter().take(GONE_MISSED_ROWS_MAX) {
            match row.presence.look(sign, now) {
                Turn::Gone(gone) => vanished.gone.push((row.target, gone)),
                Turn::Back => vanished.back.push(row.target),
                _ => {}
            }
            vanished.missed += usize::from(sign != Sign::Present && !row.presence.is_gone());
            behind.entry(before).or_default().push(row);
        }
        if behind.is_empty() {
            return;
        }
        let mut rows = behind.remove(&None).unwrap_or_default();
        for row in std::mem::take(&mut self.rows) {
            rows.push(row);
            rows.extend(behind.remove(&Some(row.target)).unwrap_or_default());
        }
        self.rows = rows;
    }
}

/// The outermost rows that stayed in order, by their positions at the last recheck.
struct Stayed {
    first: usize,
    last: usize,
    /// Rows before them count as missing, too: rows of a list in order of time only leave its head by being removed.
    is_head: bool,
}

#[allow(clippy::cast_precision_loss)] // a share of at most some thousand
fn ratio(part: usize, all: usize) -> f64 {
    if all == 0 { 0.0 } else { part as f64 / all as f64 }
}

#[cfg(test)]
mod tests;
