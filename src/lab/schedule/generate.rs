//! Generates post times from a seed: a rhythm of hours and weekdays, bursts, boards that die and boards that wake.
//!
//! Input for `simulate` if no real trace is available; the same seed gives the same trace. Board rates are spread
//! evenly on a logarithmic scale. Reads no input.

use std::num::NonZeroU64;

use gleaner_crawl::schedule::profile::is_weekend;
use gleaner_crawl::schedule::{DAY_S, HOUR_S, HOURS, Kind, Post};

use super::ScheduleError;
use super::trace::{Board, Trace};
use crate::limits;

/// What to generate.
#[derive(Clone, Debug)]
pub struct Forum {
    /// Boards.
    pub boards: usize,
    /// Days.
    pub days: u64,
    /// First second; rounded down to the start of its day (UTC).
    pub start: u64,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Average posts per day and board.
    pub posts_per_day: f64,
    /// Ratio of the busiest board's rate to the quietest's.
    pub spread: f64,
    /// Rate of each hour of the day (UTC), in any unit.
    pub hours: [f64; HOURS],
    /// Ratio of the rate on a Saturday or Sunday to that on other days.
    pub weekend: f64,
    /// Average posts per burst; 1 means no bursts.
    pub burst: f64,
    /// Share of the boards that fall silent or wake during these days, half of them each.
    pub turning: f64,
    /// Share of the posts that are replies.
    pub replies: f64,
}

impl Default for Forum {
    /// A forum with all of it: evenings busier than mornings, quiet nights and weekends, bursts of three, every
    /// tenth board turning.
    fn default() -> Self {
        let mut hours = [1.0; HOURS];
        hours[..8].fill(0.1);
        hours[18..].fill(2.0);
        Self {
            boards: 40,
            days: 60,
            start: 1_609_459_200,
            seed: 1,
            posts_per_day: 8.0,
            spread: 30.0,
            hours,
            weekend: 0.5,
            burst: 3.0,
            turning: 0.1,
            replies: 0.5,
        }
    }
}

/// Numbers the threads of a forum by time, as forums do.
fn number(boards: &mut [Board]) {
    let mut posts: Vec<&mut Post> = boards.iter_mut().flat_map(|board| &mut board.posts).collect();
    posts.sort_by_key(|post| post.at);
    for (number, post) in (1..).zip(posts.into_iter().filter(|post| post.kind == Kind::New)) {
        post.number = NonZeroU64::new(number);
    }
}

impl Forum {
    /// The rhythm of the paper's forum (Board, fig. of the activity over a day): busy from 8 to 24 h, all but quiet
    /// from 0 to 8 h, boards unequal, nothing else.
    #[must_use]
    pub fn of_the_paper() -> Self {
        let mut hours = [1.0; HOURS];
        hours[..8].fill(0.12);
        Self {
            hours,
            posts_per_day: 30.0,
            spread: 50.0,
            weekend: 1.0,
            burst: 1.0,
            turning: 0.0,
            replies: 0.0,
            ..Self::default()
        }
    }

    /// Generates the posts.
    ///
    /// # Errors
    /// Invalid rates or shares, and more posts or boards than [`limits::TRACE_POSTS_MAX`] and
    /// [`limits::BOARDS_MAX`].
    pub fn trace(&self) -> Result<Trace, ScheduleError> {
        self.check()?;
        let mut random = Random(self.seed);
        let start = self.start / DAY_S * DAY_S;
        let rates: Vec<f64> =
            (0..self.boards).map(|board| self.spread.powf(-(board as f64) / (self.boards.max(2) - 1) as f64)).collect();
        let mean = rates.iter().sum::<f64>() / self.boards as f64;
        let width = self.boards.to_string().len();
        let boards = rates.iter().enumerate().map(|(number, rate)| Board {
            name: format!("board-{number:0width$}").into(),
            posts: self.posts(start, rate / mean * self.posts_per_day, &mut random),
        });
        let mut boards: Vec<Board> = boards.collect();
        number(&mut boards);
        Ok(Trace { boards })
    }

    fn check(&self) -> Result<(), ScheduleError> {
        let fault = |what: &str| Err(ScheduleError::Option(what.to_owned()));
        if self.boards == 0 || self.days == 0 {
            return fault("a forum has at least one board and one day");
        }
        if self.boards > limits::BOARDS_MAX {
            return Err(ScheduleError::TooMany { what: "boards", max: limits::BOARDS_MAX });
        }
        if self.days > limits::TRACE_DAYS_MAX || self.start > limits::TRACE_DAYS_MAX * DAY_S {
            return fault("a forum has at most 100 years, and begins within 100 years of 1970");
        }
        let rates = [self.posts_per_day, self.weekend].into_iter().chain(self.hours);
        if !rates.into_iter().all(|rate| rate.is_finite() && rate >= 0.0) || self.hours.iter().sum::<f64>() <= 0.0 {
            return fault("posts a day and the rates of hours and weekends are numbers from 0 on");
        }
        if self.posts_per_day == 0.0 {
            return fault("a forum has more than 0 posts a day");
        }
        if !(self.spread >= 1.0 && self.spread <= 1e6 && self.burst >= 1.0 && self.burst <= 1e4) {
            return fault("the spread of the boards is 1 to 1000000, the size of bursts 1 to 10000");
        }
        if ![self.turning, self.replies].into_iter().all(|share| (0.0..=1.0).contains(&share)) {
            return fault("the shares of turning boards and of replies are 0 to 1");
        }
        if self.boards as f64 * self.days as f64 * self.posts_per_day > limits::TRACE_POSTS_MAX as f64 * 0.8 {
            return Err(ScheduleError::TooMany { what: "posts", max: limits::TRACE_POSTS_MAX });
        }
        Ok(())
    }

    /// The posts of one board: bursts start as a Poisson process with the rate of their hour; within one, posts
    /// follow each other by ten minutes on average, and its size is geometric.
    fn posts(&self, start: u64, per_day: f64, random: &mut Random) -> Vec<Post> {
        let end = start + self.days * DAY_S;
        let (alive_from, alive_until) = self.life(start, end, random);
        let mean_hour = self.hours.iter().sum::<f64>() / HOURS as f64;
        let mean_day = (5.0 + 2.0 * self.weekend) / 7.0;
        let mut posts = Vec::new();
        for hour_at in (start..end).step_by(HOUR_S as usize) {
            let day = if is_weekend(hour_at) { self.weekend } else { 1.0 } / mean_day.max(1e-9);
            let hour = self.hours[(hour_at / HOUR_S) as usize % HOURS] / mean_hour;
            let mut at = hour_at as f64;
            let rate = per_day / DAY_S as f64 * hour * day / self.burst;
            loop {
                at += random.wait(rate);
                if at >= (hour_at + HOUR_S) as f64 {
                    break;
                }
                let mut of_burst = at;
                loop {
                    let second = of_burst as u64;
                    if (alive_from..alive_until).contains(&second) {
                        let kind = if random.unit() < self.replies { Kind::Reply } else { Kind::New };
                        posts.push(Post { at: second, kind, number: None });
                    }
                    if random.unit() >= 1.0 - 1.0 / self.burst {
                        break;
                    }
                    of_burst += random.wait(1.0 / 600.0);
                }
            }
        }
        posts.sort_by_key(|post| post.at);
        posts
    }

    /// The time span in which a board has posts.
    fn life(&self, start: u64, end: u64, random: &mut Random) -> (u64, u64) {
        let turn = start + (random.unit() * (end - start) as f64) as u64;
        match random.unit() {
            fate if fate < self.turning / 2.0 => (start, turn),
            fate if fate < self.turning => (turn, end),
            _ => (start, end),
        }
    }
}

/// A SplitMix64 stream (Steele, Lea and Flood 2014).
struct Random(u64);

impl Random {
    /// From 0 to below 1.
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// The time to the next event of a Poisson process; infinite for a rate of 0.
    fn wait(&mut self, rate: f64) -> f64 {
        -(1.0 - self.unit()).ln() / rate
    }
}

#[cfg(test)]
mod tests;
