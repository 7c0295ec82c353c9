//! Durations, counted in classes with fixed ends: what Prometheus calls a histogram.

use std::time::Duration;

/// Upper ends of the classes, in seconds: from a read of memory to a page that takes its whole timeout.
pub const ENDS_S: [f64; 12] = [0.001, 0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// Counted durations.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Durations {
    /// Each class includes those below it.
    classes: [u64; ENDS_S.len()],
    count: u64,
    sum_s: f64,
}

impl Durations {
    /// Counts one.
    pub fn add(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        for (class, end) in self.classes.iter_mut().zip(ENDS_S) {
            *class += u64::from(seconds <= end);
        }
        self.sum_s += seconds;
        self.count += 1;
    }

    /// The end of each class in seconds, and how many were no longer than it.
    pub fn classes(&self) -> impl Iterator<Item = (f64, u64)> {
        ENDS_S.into_iter().zip(self.classes)
    }

    /// All of them.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Their sum in seconds.
    #[must_use]
    pub fn sum_s(&self) -> f64 {
        self.sum_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_includes_those_below_it_and_its_end() {
        let mut durations = Durations::default();
        [3, 5, 9_000].into_iter().for_each(|ms| durations.add(Duration::from_millis(ms)));
        let counts: Vec<u64> = durations.classes().map(|(_, count)| count).collect();
        assert_eq!(counts, [0, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3]);
        assert_eq!((durations.count(), durations.sum_s()), (3, 9.008));
        durations.add(Duration::from_secs(3_600));
        assert_eq!(
            (durations.classes().last(), durations.count()),
            (Some((30.0, 3)), 4),
            "the longest are in no class"
        );
    }
}
