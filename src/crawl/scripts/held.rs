//! Requests that a server holds: long polls, by which a page listens for news (Socket.IO, SignalR, Discourse's message bus). They have no
//! part in what the page shows, and there is always one more. A request counts as one if no other one for data was sent or answered for a
//! time that is long for this server.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use crate::limits;
use gleaner_base::clock::UnixMillis;

/// A request is held once it has taken this many times as long as the fastest one.
const TIMES_FASTEST: u32 = 100;

/// Times of one page's requests for data.
#[derive(Debug)]
pub struct PagePace {
    /// The page's scripts run: no other request is a long poll.
    runs: AtomicBool,
    /// When a request was last sent or answered, in milliseconds since 1970.
    last: AtomicU64,
    /// The shortest time to an answer, in milliseconds.
    fastest: AtomicU64,
}

impl Default for PagePace {
    fn default() -> Self {
        Self { runs: AtomicBool::new(false), last: AtomicU64::new(0), fastest: AtomicU64::new(u64::MAX) }
    }
}

impl PagePace {
    pub fn runs(&self, runs: bool) {
        self.runs.store(runs, Ordering::Relaxed);
    }

    pub fn sent(&self, now: UnixMillis) {
        self.last.fetch_max(now.0, Ordering::Relaxed);
    }

    pub fn answered(&self, sent: UnixMillis, now: UnixMillis) {
        self.last.fetch_max(now.0, Ordering::Relaxed);
        let took = u64::try_from(now.since(sent).as_millis()).unwrap_or(u64::MAX);
        self.fastest.fetch_min(took, Ordering::Relaxed);
    }

    /// Whether requests that are not answered yet are held. Never before another one was answered.
    #[must_use]
    pub fn is_held(&self, now: UnixMillis) -> bool {
        let fastest = self.fastest.load(Ordering::Relaxed);
        if fastest == u64::MAX || !self.runs.load(Ordering::Relaxed) {
            return false;
        }
        let patience = (Duration::from_millis(fastest) * TIMES_FASTEST).max(limits::RENDER_HELD_TIME);
        now.since(UnixMillis(self.last.load(Ordering::Relaxed))) >= patience
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_held_if_nothing_else_happens_for_long_by_the_pace_of_its_server() {
        let at = |seconds: u64| UnixMillis(1_000_000 + seconds * 1_000);
        let pace = PagePace::default();
        pace.runs(true);
        pace.sent(at(0));
        assert!(!pace.is_held(at(600)), "a slow server, for all that is known");
        pace.answered(at(0), at(0));
        pace.sent(at(2));
        assert!(!pace.is_held(at(11)) && pace.is_held(at(12)));
        pace.sent(at(11));
        assert!(!pace.is_held(at(20)), "the page goes on");
        pace.runs(false);
        assert!(!pace.is_held(at(600)));
        let slow = PagePace::default();
        slow.runs(true);
        slow.answered(at(0), at(1));
        assert!(!slow.is_held(at(100)) && slow.is_held(at(101)));
    }
}
