//! The paper's own plan and its baselines (ALGORITHMS §10.3–10.4), for comparison with the crawl's schedule in `simulate`.
//!
//! | plan | rechecks per board | times |
//! | --- | --- | --- |
//! | ERA | equal | evenly spaced |
//! | WRA | by weight | evenly spaced |
//! | LRA | equal | by profile |
//! | BRA | by weight | by profile |

use gleaner_crawl::schedule::fixed::{Learnt, Plan, equal_area_times, even_times, in_proportion};
use gleaner_crawl::schedule::{DAY_S, HOURS};

/// Equal counts, evenly spaced: `per_board` rechecks a day.
#[must_use]
pub fn era(learnt: &[Learnt], per_board: usize) -> Plan {
    learnt.iter().map(|_| even_times(per_board)).collect()
}

/// Counts by weight, evenly spaced.
#[must_use]
pub fn wra(learnt: &[Learnt], per_board: usize) -> Plan {
    in_proportion(learnt, per_board * learnt.len()).into_iter().map(even_times).collect()
}

/// Equal counts, times by profile.
#[must_use]
pub fn lra(learnt: &[Learnt], per_board: usize) -> Plan {
    learnt.iter().map(|board| equal_area_times(&board.hours, per_board)).collect()
}

/// Counts by weight, times by profile.
#[must_use]
pub fn bra(learnt: &[Learnt], per_board: usize) -> Plan {
    let counts = in_proportion(learnt, per_board * learnt.len());
    learnt.iter().zip(counts).map(|(board, count)| equal_area_times(&board.hours, count)).collect()
}

/// The paper's formula: Σ ∫ SC(t)·(cᵢ₊₁ − t) dt with c₀ = 0 and c_{m+1} = 24 h, the mean delay of a post in seconds.
/// Posts after the last recheck count as seen at midnight, by a recheck that is not counted.
#[must_use]
pub fn delay_of_day(hours: &[f64; HOURS], times: &[f64]) -> f64 {
    delay(hours, times, DAY_S as f64)
}

/// The mean delay of a post in seconds if the day is cyclic: posts after the last recheck wait for the first one of
/// the next day. With a plan without rechecks, posts wait for a day.
#[must_use]
pub fn delay_of_circle(hours: &[f64; HOURS], times: &[f64]) -> f64 {
    let first = times.iter().copied().fold(f64::INFINITY, f64::min);
    delay(hours, times, DAY_S as f64 + if first.is_finite() { first } else { 0.0 })
}

/// The mean delay of a post if posts after the last recheck are seen at `last`.
fn delay(hours: &[f64; HOURS], times: &[f64], last: f64) -> f64 {
    let hour_s = DAY_S as f64 / HOURS as f64;
    let mut sorted: Vec<f64> = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    let (mut sum, mut look) = (0.0, 0);
    for (hour, posts) in hours.iter().enumerate() {
        let (mut from, to) = (hour as f64 * hour_s, (hour + 1) as f64 * hour_s);
        while from < to {
            while look < sorted.len() && sorted[look] <= from {
                look += 1;
            }
            let seen = sorted.get(look).copied().unwrap_or(last);
            let until = seen.min(to);
            // Posts are evenly distributed within an hour.
            sum += posts * (until - from) / hour_s * (seen - (from + until) / 2.0);
            from = until;
        }
    }
    let posts: f64 = hours.iter().sum();
    if posts > 0.0 { sum / posts } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: f64 = 3_600.0;

    /// The paper's rhythm, simplified: nothing before 8 h, the same rate in each hour after it.
    fn busy_from_eight() -> [f64; HOURS] {
        std::array::from_fn(|hour| f64::from(u8::from(hour >= 8)))
    }

    #[test]
    fn by_the_papers_account_bra_saves_two_fifths_of_the_delay_of_era() {
        let hours = busy_from_eight();
        let saved = |count| {
            1.0 - delay_of_day(&hours, &equal_area_times(&hours, count)) / delay_of_day(&hours, &even_times(count))
        };
        assert!((saved(4) - 0.42).abs() < 0.005, "{}", saved(4));
        assert!((4..=11).all(|count| (0.35..0.45).contains(&saved(count))));
    }

    #[test]
    fn on_the_circle_the_last_part_waits_for_the_morning_and_bra_loses() {
        let hours = busy_from_eight();
        let bra = delay_of_circle(&hours, &equal_area_times(&hours, 4));
        // Four fifths wait 1.6 h on average, the last one from 22.4 h to 35.2 h.
        assert!((bra / HOUR - (0.8 * 1.6 + 0.2 * 12.8)).abs() < 0.01, "{bra}");
        assert!(bra > delay_of_circle(&hours, &even_times(4)));
        assert!((delay_of_circle(&[1.0; HOURS], &even_times(4)) / HOUR - 3.0).abs() < 1e-6);
    }
}
