//! How pages ended so far, for monitoring.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

/// The end of a page that was rendered.
pub(super) const RENDERED: &str = "rendered";

/// All ends: [`RENDERED`], and the names of [`ChildError`](super::children::ChildError).
const ENDS: [&str; 7] = [RENDERED, "not_started", "died", "timed_out", "silent", "unconfined", "protocol_error"];

/// Pages by how they ended.
#[derive(Default)]
pub(super) struct PageEnds(Mutex<BTreeMap<&'static str, u64>>);

impl PageEnds {
    pub(super) fn count(&self, end: &'static str) {
        // Counts stay usable after a panic elsewhere.
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(end).or_default() += 1;
    }

    /// Every end, with zero for one that no page had.
    pub(super) fn all(&self) -> Vec<(&'static str, u64)> {
        let counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        ENDS.iter().map(|end| (*end, counts.get(end).copied().unwrap_or_default())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_end_that_no_page_had_is_there_with_zero() {
        let ends = PageEnds::default();
        ends.count(RENDERED);
        ends.count("died");
        ends.count("died");
        let counts = ends.all();
        assert_eq!((counts.len(), counts[0], counts[2], counts[3]), (7, (RENDERED, 1), ("died", 2), ("timed_out", 0)));
    }
}
