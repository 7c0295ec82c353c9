//! Explains the times of rechecks, for `gleaner schedule`.

use serde::Serialize;

use super::{BoardNumber, DAY, Schedule};
use crate::schedule::HOURS;

/// Maximum of predicted rechecks of a board.
const LOOKS_TOLD: usize = 1_440;

/// The reasons for the times of a board's rechecks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reason {
    /// Posts a day by hour of the day (UTC), as the board has them on average over a week.
    pub posts_by_hour: [f64; HOURS],
    /// Expected posts a day at this moment of the day and the week.
    pub posts_per_day_now: f64,
    /// Posts expected to wait unseen.
    pub posts_waiting: f64,
    /// Delay in seconds that a recheck has to be worth.
    pub price_s: f64,
    /// The rechecks that follow if everything goes as expected, in seconds since 1970.
    pub looks: Vec<u64>,
}

impl Schedule {
    /// Posts expected to wait unseen on a board at the second `now`; zero for an unknown board.
    #[must_use]
    pub fn posts_waiting(&self, number: BoardNumber, now: u64) -> f64 {
        let Some(profile) = self.profiles.get(number as usize) else { return 0.0 };
        let mut ahead = self.ahead(number as usize);
        ahead.go_to(now as f64, profile, &self.state.shares);
        ahead.posts
    }

    /// The reasons for the times of a board's rechecks, and the rechecks of the `days` after `now` if everything goes as expected; at most
    /// one a minute of a day. None for an unknown board.
    #[must_use]
    pub fn explain(&self, number: BoardNumber, now: u64, days: f64) -> Option<Reason> {
        let board = self.state.boards.get(number as usize)?;
        let profile = &self.profiles[number as usize];
        let (site_rate, price) = (self.site_rate(), self.price());
        let mut ahead = self.ahead(number as usize);
        ahead.go_to(now as f64, profile, &self.state.shares);
        let level = board.forecast.level(site_rate, &self.state.shares) * DAY;
        let by_habit = board.habits.by_hour();
        let mut reason = Reason {
            posts_by_hour: std::array::from_fn(|hour| profile.of_day()[hour] * level / HOURS as f64 + by_habit[hour]),
            posts_per_day_now: ahead.rate * DAY,
            posts_waiting: ahead.posts,
            price_s: price,
            looks: Vec::new(),
        };
        let mut look = board.due.max(now) as f64;
        let end = now as f64 + days * DAY;
        while look <= end && reason.looks.len() < LOOKS_TOLD {
            reason.looks.push(look as u64);
            ahead.go_to(look, profile, &self.state.shares);
            (ahead.posts, ahead.by_habit) = (0.0, 0.0);
            look = self.due_after(number, ahead.clone(), price);
        }
        Some(reason)
    }
}
