//! EIC, the paper's baseline for BIC: it reads only addresses from the board's list. When a thread changes next, and
//! when a board has a new one, is estimated from the mean interval of the observed changes (Board §4.1, §5.2.1).

/// The observed changes of a thread, or new threads of a board. Times are seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    first: i64,
    last: i64,
    changes: u32,
    looked: i64,
}

impl Intervals {
    /// First seen at `now`.
    #[must_use]
    pub fn new(now: i64) -> Self {
        Self { first: now, last: now, changes: 0, looked: now }
    }

    /// Records a recheck at `now`. `at` is the time of the change found, if any, as shown by the thread itself.
    pub fn looked(&mut self, now: i64, at: Option<i64>) {
        self.looked = now;
        if let Some(at) = at {
            self.last = at.max(self.first);
            self.changes += 1;
        }
    }

    /// The mean interval between changes, in seconds; before the first change, `board`, the mean of all threads.
    #[must_use]
    pub fn mean_s(&self, board: i64) -> i64 {
        if self.changes == 0 { board } else { ((self.last - self.first) / i64::from(self.changes)).max(1) }
    }

    /// True if the next change is expected by `now`: a mean interval after the last change, or after the last recheck
    /// without one.
    #[must_use]
    pub fn is_due(&self, now: i64, board: i64) -> bool {
        now >= self.last.max(self.looked).saturating_add(self.mean_s(board))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_due_a_mean_interval_after_its_last_change() {
        let mut thread = Intervals::new(0);
        assert!(!thread.is_due(99, 100) && thread.is_due(100, 100), "the board's mean until one was seen");
        thread.looked(1_000, Some(600));
        thread.looked(2_000, Some(1_800));
        assert_eq!(thread.mean_s(100), 900);
        assert!(!thread.is_due(2_899, 100) && thread.is_due(2_900, 100));
        thread.looked(3_000, None);
        assert!(!thread.is_due(3_899, 100) && thread.is_due(3_900, 100));
        assert_eq!(Intervals::new(i64::MAX).mean_s(1), 1);
    }
}
