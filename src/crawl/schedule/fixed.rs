//! Parts of plans that repeat every day (ALGORITHMS §10.3–10.4): how many rechecks a board gets, and when. Times are seconds of a
//! day, from 0 to 86,400.

use super::{DAY_S, HOURS};

/// What was learnt about a board.
#[derive(Clone, Debug)]
pub struct Learnt {
    /// WP of ALGORITHMS §10.3, W taken as 1: posts a day, replies counted θ.
    pub weight: f64,
    /// SC of ALGORITHMS §10.4: posts of each hour of the day (UTC), replies counted θ. In any unit.
    pub hours: [f64; HOURS],
}

/// Rechecks of each board a day, as their times.
pub type Plan = Vec<Vec<f64>>;

/// mᵢ = WPᵢ / ΣWP × M with M = `all`, rounded by the largest remainder so that ΣI mᵢ = M. A board gets at least one recheck a
/// day, or its waking up would never be noticed; with fewer rechecks than boards the first ones get them.
#[must_use]
pub fn in_proportion(learnt: &[Learnt], all: usize) -> Vec<usize> {
    let boards = learnt.len();
    let sum: f64 = learnt.iter().map(|board| board.weight).sum();
    if all <= boards || sum <= 0.0 {
        return (0..boards).map(|board| all / boards + usize::from(board < all % boards)).collect();
    }
    let shares: Vec<f64> = learnt.iter().map(|board| board.weight / sum * all as f64).collect();
    let mut counts: Vec<usize> = shares.iter().map(|share| (*share as usize).max(1)).collect();
    let given: usize = counts.iter().sum();
    let mut order: Vec<usize> = (0..learnt.len()).collect();
    let owed = |counts: &[usize], board: usize| shares[board] - counts[board] as f64;
    if given <= all {
        // Fewer rechecks are left than boards: each share lost less than one.
        order.sort_by(|a, b| owed(&counts, *b).total_cmp(&owed(&counts, *a)));
        for board in order.into_iter().take(all - given) {
            counts[board] += 1;
        }
    } else {
        // The quiet boards' first rechecks are taken from the busiest.
        let mut over = given - all;
        order.sort_by_key(|board| std::cmp::Reverse(counts[*board]));
        while over > 0 {
            for board in &order {
                if over > 0 && counts[*board] > 1 {
                    counts[*board] -= 1;
                    over -= 1;
                }
            }
        }
    }
    counts
}

/// `count` rechecks at equal distances, the last at the end of the day.
#[must_use]
pub fn even_times(count: usize) -> Vec<f64> {
    (1..=count).map(|look| DAY_S as f64 * look as f64 / count as f64).collect()
}

/// BRA's times: the area under the profile is cut into `count` + 1 equal parts; the cuts are the rechecks. A profile
/// without any activity counts as even.
#[must_use]
pub fn equal_area_times(hours: &[f64; HOURS], count: usize) -> Vec<f64> {
    let sum: f64 = hours.iter().sum();
    let hours = if sum > 0.0 { *hours } else { [1.0; HOURS] };
    let area: f64 = hours.iter().sum();
    let hour_s = DAY_S as f64 / HOURS as f64;
    let (mut hour, mut before) = (0, 0.0);
    let cut = |look: usize| {
        let wanted = area * look as f64 / (count + 1) as f64;
        while hour + 1 < HOURS && before + hours[hour] < wanted {
            before += hours[hour];
            hour += 1;
        }
        let part = if hours[hour] > 0.0 { ((wanted - before) / hours[hour]).clamp(0.0, 1.0) } else { 0.0 };
        (hour as f64 + part) * hour_s
    };
    (1..=count).map(cut).collect()
}

#[cfg(test)]
mod tests;
