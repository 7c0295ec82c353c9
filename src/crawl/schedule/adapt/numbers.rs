//! What the numbers of posts tell of boards that were not looked at, and their looks by that.

use super::{Board, BoardNumber, KNOWN_S, Schedule};
use crate::limits;
use crate::schedule::forecast::Ahead;

/// Posts with numbers that every board is taken to have had.
const NUMBERED_WEIGHT: f64 = 2.0;

impl Schedule {
    /// Whether the numbers of posts count those of the whole site, so that what one board shows tells of the others.
    #[must_use]
    pub fn goes_by_numbers(&self) -> bool {
        (2..=limits::NUMBERED_BOARDS_MAX).contains(&self.boards()) && self.state.numbers.counts()
    }

    /// Plans all boards by what numbers tell of those that were not looked at.
    pub(super) fn read_numbers(&mut self) {
        if !self.goes_by_numbers() {
            if !std::mem::take(&mut self.carried).is_empty() {
                self.plan_again();
            }
            return;
        }
        let now = self.state.at;
        // What comes on boards that nobody looks at is counted as of none.
        let is_known = |board: &Board| !board.put_off && now - board.forecast.known_until() < KNOWN_S;
        let share = |board: &Board| (board.numbered + NUMBERED_WEIGHT) / (board.weighed + NUMBERED_WEIGHT);
        let numbered: Vec<Option<f64>> =
            self.state.boards.iter().map(|board| is_known(board).then(|| share(board).min(1.0))).collect();
        let mut carried: Vec<Ahead> = (0..numbered.len()).map(|number| self.ahead_of_known(number)).collect();
        self.state.numbers.carry(&mut carried, &numbered, &self.profiles, &self.state.shares);
        self.carried = carried;
        self.plan_again();
    }

    /// Plans all boards anew but those whose next look stands.
    fn plan_again(&mut self) {
        for number in 0..self.state.boards.len() {
            let board = &self.state.boards[number];
            if !board.put_off && board.held_until as f64 <= self.state.at {
                self.plan(number as BoardNumber);
            }
        }
    }
}
