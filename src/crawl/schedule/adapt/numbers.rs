//! Uses the numbers of posts to infer new posts on boards that were not rechecked, and plans their rechecks by that.

use super::{Board, BoardNumber, KNOWN_S, Schedule};
use crate::limits;
use crate::schedule::forecast::Ahead;

/// Posts with numbers that every board is assumed to have had.
const NUMBERED_WEIGHT: f64 = 2.0;

impl Schedule {
    /// Whether the numbers of posts count those of the whole site, so that one board's posts indicate those of the others.
    #[must_use]
    pub fn goes_by_numbers(&self) -> bool {
        (2..=limits::NUMBERED_BOARDS_MAX).contains(&self.boards()) && self.state.numbers.counts()
    }

    /// Plans all boards by what numbers indicate about those that were not rechecked.
    pub(super) fn read_numbers(&mut self) {
        if !self.goes_by_numbers() {
            if !std::mem::take(&mut self.carried).is_empty() {
                self.plan_again();
            }
            return;
        }
        let now = self.state.at;
        // Posts on boards that are not rechecked count as belonging to no board.
        let is_known = |board: &Board| !board.put_off && now - board.forecast.known_until() < KNOWN_S;
        let share = |board: &Board| (board.numbered + NUMBERED_WEIGHT) / (board.weighed + NUMBERED_WEIGHT);
        let numbered: Vec<Option<f64>> =
            self.state.boards.iter().map(|board| is_known(board).then(|| share(board).min(1.0))).collect();
        let mut carried: Vec<Ahead> = (0..numbered.len()).map(|number| self.ahead_of_known(number)).collect();
        self.state.numbers.carry(&mut carried, &numbered, &self.profiles, &self.state.shares);
        self.carried = carried;
        self.plan_again();
    }

    /// Replans all boards except those whose next recheck is fixed.
    fn plan_again(&mut self) {
        for number in 0..self.state.boards.len() {
            let board = &self.state.boards[number];
            if !board.put_off && board.held_until as f64 <= self.state.at {
                self.plan(number as BoardNumber);
            }
        }
    }
}
