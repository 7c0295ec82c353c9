//! EIC, the baseline that the paper holds BIC against: nothing is read from the board's list but addresses; when a thread
//! changes next, and when a board has a new one, is estimated from the mean interval of the changes seen (Board §4.1, §5.2.1).

/// The changes of a thread, or the new threads of a board, as seen so far. Times are seconds since 1970-01-01 UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Intervals {
    first: i64,
    last: i64,
    changes: u32,
    looked: i64,
}

impl Intervals {
    /// Seen first at `now`.
    #[must_use]
    pub fn new(now: i64) -> Self {
        Self { first: now, last: now, changes: 0, looked: now }
    }

    /// A look at `now`, and whether it found a change. The time of the change, `at`, is told by the thread itself.
    pub fn looked(&mut self, now: i64, at: Option<i64>) {
        self.looked = now;
        if let Some(at) = at {
            self.last = at.max(self.first);
            self.changes += 1;
        }
    }

    /// The mean interval between changes, in seconds; while none was seen, `board` is taken, the mean of all threads.
    #[must_use]
    pub fn mean_s(&self, board: i64) -> i64 {
        if self.changes == 0 { board } else { ((self.last - self.first) / i64::from(self.changes)).max(1) }
    }

    /// True where the next change is expected to have come by `now`: a mean interval after the last change, or after the last
    /// look that found none.
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
