//! Replays a trace with every policy.

use gleaner_lab::schedule::simulate::{self, Options, Report};
use gleaner_lab::schedule::trace::Trace;

pub fn options(start: u64, per_day: usize) -> Options {
    Options { start, learn_days: 20, test_days: 10, per_day, posts_min: 20, midnight_looks: false }
}

/// Replays, and checks that no policy had more rechecks than ERA.
pub fn replay(trace: &Trace, options: &Options) -> Report {
    let report = simulate::simulate(trace, options).unwrap();
    let all = report.boards as u64 * options.per_day as u64 * options.test_days;
    assert_eq!(report.fetches_max, all);
    for (name, outcome) in &report.policies {
        assert!(outcome.fetches <= all, "{name} had {} looks of {all}", outcome.fetches);
        assert!((0.0..=1.0).contains(&outcome.recall) && (0.0..=1.0).contains(&outcome.precision), "{name}");
    }
    assert_eq!(report.policies["ERA"].fetches, all);
    report
}

pub fn to_era(report: &Report, name: &str) -> f64 {
    report.policies[name].to_era.unwrap()
}
