//! The optimal daily plan for a known profile (beyond the paper, ALGORITHMS §10.4 last line).
//!
//! *When*: the day is a circle, cut into half hours. For each half hour as the first recheck, dynamic programming places
//! the others; the minimum over all first rechecks is exact on that grid. The waiting time of the posts in an arc obeys the
//! quadrangle inequality, so a layer is filled by divide and conquer in n log n (Galil and Park 1992).
//! *How often*: rechecks are assigned one by one, each to the board whose delay it lowers most; delay is convex in their
//! number, so that is exact too.
//!
//! `simulate` shows it beside the baselines, as the limit of plans that do not react to recent posts.

use std::cmp::Ordering;
use std::collections::BinaryHeap;

use gleaner_crawl::schedule::fixed::{Learnt, Plan};
use gleaner_crawl::schedule::profile::Profile;
use gleaner_crawl::schedule::{DAY_S, HOURS};

/// Slots for rechecks on the circle: half hours.
const SLOTS: usize = 48;

/// The best times for up to this many rechecks, computed layer by layer on demand.
#[derive(Clone, Debug)]
struct Circle {
    /// Cumulative posts, and posts times their slot, over two rounds; the second round starts at `SLOTS`.
    posts: [f64; 2 * SLOTS + 1],
    moments: [f64; 2 * SLOTS + 1],
    /// For each first recheck: the layers, each with the minimum delay with its last recheck at each slot, and the slot of
    /// the one before.
    layers: Vec<Vec<Layer>>,
    /// Minimum mean delay of a post in seconds with 1, 2, … rechecks, and the first recheck of that plan.
    best: Vec<(f64, usize)>,
}

/// The minimum cost of arcs that end at each slot after the first recheck, and where the last arc starts.
#[derive(Clone, Debug)]
struct Layer {
    costs: [f64; SLOTS + 1],
    from: [u8; SLOTS + 1],
}

impl Circle {
    fn new(hours: &[f64; HOURS]) -> Self {
        let sum: f64 = hours.iter().sum();
        let (mut posts, mut moments) = ([0.0; 2 * SLOTS + 1], [0.0; 2 * SLOTS + 1]);
        for slot in 0..2 * SLOTS {
            let share = if sum > 0.0 { hours[slot % SLOTS * HOURS / SLOTS] / sum } else { 1.0 / HOURS as f64 };
            let share = share * HOURS as f64 / SLOTS as f64;
            posts[slot + 1] = posts[slot] + share;
            moments[slot + 1] = moments[slot] + share * (slot as f64 + 0.5);
        }
        Self { posts, moments, layers: vec![Vec::new(); SLOTS], best: Vec::new() }
    }

    /// The waiting time of the posts from one slot to another for a recheck at the latter, in slots.
    fn arc(&self, from: usize, to: usize) -> f64 {
        to as f64 * (self.posts[to] - self.posts[from]) - (self.moments[to] - self.moments[from])
    }

    /// Minimum mean delay of a post in seconds with `count` rechecks, from 1 to [`SLOTS`].
    fn delay(&mut self, count: usize) -> f64 {
        while self.best.len() < count {
            let mut best = (f64::INFINITY, 0);
            for first in 0..SLOTS {
                self.extend(first);
                let cost = self.layers[first].last().map_or(f64::INFINITY, |layer| layer.costs[SLOTS]);
                if cost < best.0 {
                    best = (cost, first);
                }
            }
            self.best.push((best.0 * DAY_S as f64 / SLOTS as f64, best.1));
        }
        self.best[count - 1].0
    }

    /// Adds a recheck to the plans that start at `first`.
    fn extend(&mut self, first: usize) {
        let mut layer = Layer { costs: [f64::INFINITY; SLOTS + 1], from: [0; SLOTS + 1] };
        match self.layers[first].last() {
            // One recheck: the whole circle is one arc.
            None => {
                for to in 1..=SLOTS {
                    layer.costs[to] = self.arc(first, first + to);
                }
            }
            Some(before) => {
                let looks = self.layers[first].len() + 1;
                self.fill(first, before, &mut layer, (looks, SLOTS), (looks - 1, SLOTS));
            }
        }
        self.layers[first].push(layer);
    }

    /// Fills the slots `to.0..=to.1` of a layer, whose last arcs start within `from.0..=from.1`. At most log₂ 48 deep.
    fn fill(&self, first: usize, before: &Layer, layer: &mut Layer, to: (usize, usize), from: (usize, usize)) {
        if to.0 > to.1 {
            return;
        }
        let middle = usize::midpoint(to.0, to.1);
        let (mut best, mut begins) = (f64::INFINITY, from.0);
        for begin in from.0..=from.1.min(middle - 1) {
            let cost = before.costs[begin] + self.arc(first + begin, first + middle);
            if cost < best {
                (best, begins) = (cost, begin);
            }
        }
        layer.costs[middle] = best;
        layer.from[middle] = begins as u8;
        self.fill(first, before, layer, (to.0, middle - 1), (from.0, begins));
        self.fill(first, before, layer, (middle + 1, to.1), (begins, from.1));
    }

    /// The times of the best plan with `count` rechecks, in seconds of a day.
    fn times(&mut self, count: usize) -> Vec<f64> {
        if count == 0 {
            return Vec::new();
        }
        self.delay(count);
        let first = self.best[count - 1].1;
        let (mut slot, mut times) = (SLOTS, Vec::with_capacity(count));
        for layer in self.layers[first][..count].iter().rev() {
            times.push(((first + slot) % SLOTS) as f64 * DAY_S as f64 / SLOTS as f64);
            slot = usize::from(layer.from[slot]);
        }
        times.sort_by(f64::total_cmp);
        times
    }
}

/// The best times of `count` rechecks for a profile, in seconds of a day; at most one per half hour.
#[must_use]
pub fn times(hours: &[f64; HOURS], count: usize) -> Vec<f64> {
    Circle::new(hours).times(count.min(SLOTS))
}

/// A board that could have one more recheck, ordered by what that saves.
struct Offer {
    saved: f64,
    board: usize,
}

impl PartialEq for Offer {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}
impl Eq for Offer {}
impl PartialOrd for Offer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}
impl Ord for Offer {
    fn cmp(&self, other: &Self) -> Ordering {
        self.saved.total_cmp(&other.saved).then(other.board.cmp(&self.board))
    }
}

/// The best plan for `per_board` rechecks a day on average: each board has one, the others go where they save most.
///
/// No board gets more than 1.5 times its share by the square root of its weight, plus four; that share is the optimum of
/// a uniform day, and the limit avoids computing most of the layers.
#[must_use]
pub fn plan(learnt: &[Learnt], profiles: &[Profile], per_board: usize) -> Plan {
    let looks = per_board * learnt.len();
    let roots: f64 = learnt.iter().map(|board| board.weight.sqrt()).sum();
    let curve = |(board, profile): (&Learnt, &Profile)| {
        let share = board.weight.sqrt() / roots.max(1e-9) * looks as f64;
        let mut circle = Circle::new(&profile.of_day());
        (1..=((1.5 * share) as usize + 4).min(SLOTS)).map(|count| circle.delay(count) * board.weight).collect()
    };
    // Storing the circles would take a quarter megabyte per board: they are computed twice and dropped.
    let curves: Vec<Vec<f64>> = learnt.iter().zip(profiles).map(curve).collect();
    let mut counts = vec![per_board.min(1); curves.len()];
    let offer = |counts: &[usize], board: usize| {
        let (curve, count) = (&curves[board], counts[board]);
        (count < curve.len()).then(|| Offer { saved: curve[count - 1] - curve[count], board })
    };
    let mut offers = BinaryHeap::new();
    if per_board > 1 {
        offers.extend((0..curves.len()).filter_map(|board| offer(&counts, board)));
    }
    for _ in curves.len()..looks {
        let Some(Offer { board, .. }) = offers.pop() else { break };
        counts[board] += 1;
        offers.extend(offer(&counts, board));
    }
    profiles.iter().zip(counts).map(|(profile, count)| times(&profile.of_day(), count)).collect()
}

#[cfg(test)]
mod tests;
