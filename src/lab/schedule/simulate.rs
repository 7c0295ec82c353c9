//! Replays post times against every policy in virtual time, for `gleaner-lab simulate`.
//!
//! Policies learn from the first days of a span and are tested on the days after it. A recheck of a board shows every
//! post since the last recheck, with its time. The fixed plans know only the learning days; the crawl's own schedule
//! also learns from its own rechecks, and from nothing else: it never sees a post before the recheck that finds it. All
//! policies have the same number of rechecks; posts that no recheck finds wait until the last second.

use std::collections::BTreeMap;

use serde::Serialize;

use gleaner_crawl::schedule::adapt::Schedule;
use gleaner_crawl::schedule::fixed::{Learnt, Plan};
use gleaner_crawl::schedule::profile::{Counts, Profile};
use gleaner_crawl::schedule::{DAY_S, HOUR_S, HOURS, Post};

use super::trace::Trace;
use super::{ScheduleError, baselines, optimum};
use crate::limits;

/// Options of a replay.
#[derive(Clone, Debug)]
pub struct Options {
    /// First second of the learning days.
    pub start: u64,
    /// Days to learn from; the paper requires at least 20.
    pub learn_days: u64,
    /// Days to test on, after them.
    pub test_days: u64,
    /// Average rechecks per board and day.
    pub per_day: usize,
    /// Boards with fewer posts in the learning days are excluded.
    pub posts_min: usize,
    /// The paper's formula (ALGORITHMS §10.4, c₀ and c_{m+1}): each midnight, every policy also rechecks every board,
    /// which is not counted.
    pub midnight_looks: bool,
}

/// The result of a policy.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Outcome {
    /// Σ of the posts' delays in seconds; a reply's delay is weighted by θ.
    pub delay_s: f64,
    /// Mean delay of a post in seconds, with the same weights.
    pub delay_mean_s: f64,
    /// Ratio of `delay_s` to ERA's; None if that is 0.
    pub to_era: Option<f64>,
    /// Number of rechecks.
    pub fetches: u64,
    /// Share of the posts that were seen before the test ended.
    pub recall: f64,
    /// Share of the rechecks that found anything.
    pub precision: f64,
}

/// The result of a replay.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// Boards with enough posts to learn from.
    pub boards: usize,
    /// Boards of the trace without enough posts.
    pub boards_left_out: usize,
    /// Posts of the learning days.
    pub posts_learnt: usize,
    /// Posts of the test days.
    pub posts: usize,
    /// Rechecks available to each policy.
    pub fetches_max: u64,
    /// By name: ERA, WRA, LRA, BRA, optimum, gleaner; if the trace's threads have numbers, `unnumbered` is ours without them.
    pub policies: BTreeMap<&'static str, Outcome>,
}

/// The span of a replay with the participating boards.
struct Replay<'a> {
    options: &'a Options,
    /// First second of the test.
    from: u64,
    /// The second after its last.
    to: u64,
    boards: Vec<Span<'a>>,
}

/// A board's posts in the learning days and in the test days.
struct Span<'a> {
    learn: &'a [Post],
    test: &'a [Post],
}

/// A board's posts as in [`Span`], owned.
type Bare = (Vec<Post>, Vec<Post>);

/// Sums of one policy.
#[derive(Default)]
struct Sums {
    delay_s: f64,
    weight: f64,
    seen: usize,
    fetches: u64,
    fetches_with_news: u64,
}

/// Replays a trace against every policy.
///
/// # Errors
/// Numbers out of bounds, or no board with enough posts.
pub fn simulate(trace: &Trace, options: &Options) -> Result<Report, ScheduleError> {
    let replay = Replay::new(trace, options)?;
    let learnt: Vec<Learnt> = replay.boards.iter().map(|board| board.learnt(options.learn_days)).collect();
    let profiles = replay.profiles();
    let per_day = options.per_day;
    let plans: [(&'static str, Plan); 5] = [
        ("ERA", baselines::era(&learnt, per_day)),
        ("WRA", baselines::wra(&learnt, per_day)),
        ("LRA", baselines::lra(&learnt, per_day)),
        ("BRA", baselines::bra(&learnt, per_day)),
        ("optimum", optimum::plan(&learnt, &profiles, per_day)),
    ];
    let mut sums: BTreeMap<&'static str, Sums> =
        plans.iter().map(|(name, plan)| (*name, replay.repeat(plan))).collect();
    sums.insert("gleaner", replay.adapt());
    let bare = replay.without_numbers();
    if let Some(bare) = &bare {
        let boards = bare.iter().map(|(learn, test)| Span { learn, test }).collect();
        sums.insert("unnumbered", Replay { boards, ..replay }.adapt());
    }
    let era = sums["ERA"].delay_s;
    let posts = replay.boards.iter().map(|board| board.test.len()).sum();
    let outcome = |sums: &Sums| Outcome {
        delay_s: sums.delay_s,
        delay_mean_s: sums.delay_s / sums.weight.max(1e-9),
        to_era: (era > 0.0).then_some(sums.delay_s / era),
        fetches: sums.fetches,
        recall: if posts == 0 { 1.0 } else { sums.seen as f64 / posts as f64 },
        precision: sums.fetches_with_news as f64 / (sums.fetches as f64).max(1.0),
    };
    Ok(Report {
        boards: replay.boards.len(),
        boards_left_out: trace.boards.len() - replay.boards.len(),
        posts_learnt: replay.boards.iter().map(|board| board.learn.len()).sum(),
        posts,
        fetches_max: replay.fetches_max(),
        policies: sums.iter().map(|(name, sums)| (*name, outcome(sums))).collect(),
    })
}

impl<'a> Replay<'a> {
    fn new(trace: &'a Trace, options: &'a Options) -> Result<Self, ScheduleError> {
        let &Options { start, learn_days, test_days, per_day, posts_min, .. } = options;
        let days_max = limits::TRACE_DAYS_MAX;
        if learn_days == 0 || test_days == 0 || learn_days > days_max || test_days > days_max {
            return Err(ScheduleError::Option(format!("days to learn and to test on are 1 to {days_max} each")));
        }
        if per_day == 0 || per_day > limits::LOOKS_PER_DAY_MAX {
            return Err(ScheduleError::Option(format!("looks a day are 1 to {}", limits::LOOKS_PER_DAY_MAX)));
        }
        let from = start.saturating_add(learn_days * DAY_S);
        let to = from.saturating_add(test_days * DAY_S);
        let mut boards: Vec<Span<'_>> = Vec::new();
        for board in &trace.boards {
            let place = |at: u64| board.posts.partition_point(|post| post.at < at);
            let (begin, turn, end) = (place(start), place(from), place(to));
            if turn - begin >= posts_min.max(1) {
                boards.push(Span { learn: &board.posts[begin..turn], test: &board.posts[turn..end] });
            }
        }
        if boards.is_empty() {
            return Err(ScheduleError::Nothing(format!(
                "no board has {} posts in the {learn_days} days to learn from\nhint: choose another --start, or fewer --posts-min",
                posts_min.max(1)
            )));
        }
        if boards.len() as u64 * per_day as u64 * test_days > limits::SIMULATED_LOOKS_MAX {
            let max = limits::SIMULATED_LOOKS_MAX;
            return Err(ScheduleError::TooMany { what: "looks to simulate", max: max as usize });
        }
        Ok(Self { options, from, to, boards })
    }

    /// The same posts without their numbers; None if no post has one.
    fn without_numbers(&self) -> Option<Vec<Bare>> {
        let has_number = |posts: &[Post]| posts.iter().any(|post| post.number.is_some());
        let bare = |posts: &[Post]| posts.iter().map(|post| Post { number: None, ..*post }).collect();
        let is_numbered = self.boards.iter().any(|board| has_number(board.learn) || has_number(board.test));
        is_numbered.then(|| self.boards.iter().map(|board| (bare(board.learn), bare(board.test))).collect())
    }

    /// The number of ERA's rechecks.
    fn fetches_max(&self) -> u64 {
        self.boards.len() as u64 * self.options.per_day as u64 * self.options.test_days
    }

    /// Activity profiles of the boards, from the learning days.
    fn profiles(&self) -> Vec<Profile> {
        let mut site = Counts::default();
        let of_board = |board: &Span<'_>| {
            let mut counts = Counts::default();
            for post in board.learn {
                if counts.post(post.at) {
                    site.active_hour(post.at);
                }
            }
            counts.watch(self.options.start, self.from);
            site.watch(self.options.start, self.from);
            counts
        };
        let counts: Vec<Counts> = self.boards.iter().map(of_board).collect();
        let site = Profile::of_site(&site);
        counts.iter().map(|counts| Profile::of_board(counts, &site)).collect()
    }

    /// Runs a plan that repeats every day.
    fn repeat(&self, plan: &Plan) -> Sums {
        let mut sums = Sums::default();
        for (board, times) in self.boards.iter().zip(plan) {
            let mut seen = 0;
            for day in (self.from..self.to).step_by(DAY_S as usize) {
                for time in times {
                    self.look(&mut sums, board, &mut seen, day as f64 + time);
                }
                if self.options.midnight_looks {
                    self.midnight(&mut sums, board, &mut seen, day + DAY_S);
                }
            }
            self.end(&mut sums, board, seen);
        }
        sums
    }

    /// Runs the crawl's own schedule.
    fn adapt(&self) -> Sums {
        let per_day = (self.boards.len() * self.options.per_day) as f64;
        let mut schedule = Schedule::new(per_day, self.from);
        for board in &self.boards {
            let number = schedule.add_board(1.0, self.options.start);
            schedule.learn(number, board.learn, self.from);
        }
        let mut midnight = self.from + DAY_S;
        schedule.set_free_look(self.options.midnight_looks.then_some(midnight));
        schedule.settle(self.from);
        let mut sums = Sums::default();
        let mut seen = vec![0; self.boards.len()];
        while let Some(look) = schedule.next_look() {
            if self.options.midnight_looks && look.at >= midnight as f64 && midnight <= self.to {
                schedule.set_free_look(Some(midnight + DAY_S));
                for (number, board) in (0..).zip(&self.boards) {
                    let news = self.midnight(&mut sums, board, &mut seen[number as usize], midnight);
                    schedule.learn(number, news, midnight);
                }
                midnight += DAY_S;
                continue;
            }
            // It must not borrow from the days after the test.
            if look.at > self.to as f64 || sums.fetches == self.fetches_max() {
                break;
            }
            let number = look.board as usize;
            let news = self.look(&mut sums, &self.boards[number], &mut seen[number], look.at);
            schedule.looked(look.board, look.at as u64, news);
        }
        for (board, seen) in self.boards.iter().zip(seen) {
            self.end(&mut sums, board, seen);
        }
        sums
    }

    /// One recheck: returns the posts found.
    fn look<'b>(&self, sums: &mut Sums, board: &Span<'b>, seen: &mut usize, at: f64) -> &'b [Post] {
        let found = self.find(sums, board, seen, at);
        sums.fetches += 1;
        sums.fetches_with_news += u64::from(!found.is_empty());
        found
    }

    /// A recheck that is not counted.
    fn midnight<'b>(&self, sums: &mut Sums, board: &Span<'b>, seen: &mut usize, at: u64) -> &'b [Post] {
        self.find(sums, board, seen, at as f64)
    }

    fn find<'b>(&self, sums: &mut Sums, board: &Span<'b>, seen: &mut usize, at: f64) -> &'b [Post] {
        let found = &board.test[*seen..];
        let found = &found[..found.partition_point(|post| post.at as f64 <= at)];
        *seen += found.len();
        sums.seen += found.len();
        charge(sums, found, at);
        found
    }

    /// Unseen posts wait until the last second.
    fn end(&self, sums: &mut Sums, board: &Span<'_>, seen: usize) {
        charge(sums, &board.test[seen..], self.to as f64);
    }
}

fn charge(sums: &mut Sums, posts: &[Post], seen_at: f64) {
    for post in posts {
        sums.delay_s += post.kind.weight() * (seen_at - post.at as f64);
        sums.weight += post.kind.weight();
    }
}

impl Span<'_> {
    fn learnt(&self, days: u64) -> Learnt {
        let (mut weight, mut hours) = (0.0, [0.0; HOURS]);
        for post in self.learn {
            weight += post.kind.weight() / days as f64;
            hours[(post.at / HOUR_S) as usize % HOURS] += post.kind.weight();
        }
        Learnt { weight, hours }
    }
}
