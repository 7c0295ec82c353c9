//! Host state + now → go, or wait. Politeness binds the host: its rate, its connections and what it asked us to
//! wait, however many lanes and sites work on it.
//!
//! No I/O, no clock: `now` is an argument.

pub mod backoff;
pub mod robots;

use crate::clock::UnixMillis;
use crate::limits;

/// What a site's rule file allows on one host.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPolicy {
    /// Time from the start of one request to the start of the next, in milliseconds; zero for no spacing.
    pub interval_ms: u64,
    /// Requests under way at once; at least 1.
    pub connections_max: u32,
}

/// The answer to "may I send a request now?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Yes; the request counts as sent now and must be followed by [`HostState::finished`].
    Go,
    /// Not before this time.
    WaitUntil(UnixMillis),
    /// Not before a request under way has ended.
    WaitForConnection,
}

/// How a request ended, as far as manners go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The server answered and did not complain.
    Well,
    /// A server error, or an answer that broke off: the URL's fault until several follow each other.
    Faulty,
    /// 429 or 503; the time that `Retry-After` asked for, where it did.
    Throttled(Option<UnixMillis>),
    /// No connection.
    Unreachable,
}

/// A pause that the host imposed, to be kept in the crawl database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub until: UnixMillis,
    pub reason: &'static str,
    /// Pauses in a row, this one included, without a good answer between them.
    pub complaints: u32,
}

/// What is known of one host's patience.
#[derive(Clone, Debug, Default)]
pub struct HostState {
    next_start: UnixMillis,
    under_way: u32,
    blocked_until: UnixMillis,
    complaints: u32,
    faults: u32,
}

impl HostState {
    /// A pause that was imposed before this process began; never shortens one.
    pub fn block(&mut self, until: UnixMillis) {
        self.blocked_until = self.blocked_until.max(until);
    }

    /// Asks for a request now.
    pub fn ask(&mut self, policy: HostPolicy, now: UnixMillis) -> Gate {
        if self.under_way >= policy.connections_max {
            return Gate::WaitForConnection;
        }
        let earliest = self.next_start.max(self.blocked_until);
        if earliest > now {
            return Gate::WaitUntil(earliest);
        }
        self.under_way += 1;
        self.next_start = UnixMillis(now.0 + policy.interval_ms);
        Gate::Go
    }

    /// A request under way was broken off by us.
    pub fn broken_off(&mut self) {
        self.under_way = self.under_way.saturating_sub(1);
    }

    /// A request ended. Returns a pause when the host asked for one, or failed often enough to get one.
    pub fn finished(&mut self, answered: Answered, now: UnixMillis) -> Option<Block> {
        self.under_way = self.under_way.saturating_sub(1);
        match answered {
            Answered::Well => {
                self.complaints = 0;
                self.faults = 0;
                return None;
            }
            Answered::Faulty => {
                self.faults += 1;
                if self.faults < limits::HOST_FAULTS_MAX {
                    return None;
                }
            }
            Answered::Throttled(_) | Answered::Unreachable => {}
        }
        // Answers to requests that were under way together are one complaint.
        if self.blocked_until <= now {
            self.complaints += 1;
        }
        let (until, reason) = match answered {
            Answered::Throttled(asked) => {
                let own = backoff::throttled_until(self.complaints, now);
                match asked {
                    Some(asked) => (asked.max(own), "the server asked for it (Retry-After)"),
                    None => (own, "the server refused the rate (429 or 503)"),
                }
            }
            Answered::Faulty => (backoff::unreachable_until(self.complaints, now), "the server failed several times"),
            _ => (backoff::unreachable_until(self.complaints, now), "the server did not answer"),
        };
        if until <= self.blocked_until {
            return None;
        }
        self.blocked_until = until;
        Some(Block { until, reason, complaints: self.complaints })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const POLICY: HostPolicy = HostPolicy { interval_ms: 500, connections_max: 2 };

    fn at(ms: u64) -> UnixMillis {
        UnixMillis(ms)
    }

    #[test]
    fn starts_are_spaced_by_the_interval() {
        let mut host = HostState::default();
        assert_eq!(host.ask(POLICY, at(1_000)), Gate::Go);
        assert_eq!(host.ask(POLICY, at(1_100)), Gate::WaitUntil(at(1_500)));
        assert_eq!(host.ask(POLICY, at(1_500)), Gate::Go);
    }

    #[test]
    fn no_more_connections_than_allowed() {
        let mut host = HostState::default();
        let policy = HostPolicy { interval_ms: 0, connections_max: 2 };
        assert_eq!(host.ask(policy, at(1)), Gate::Go);
        assert_eq!(host.ask(policy, at(1)), Gate::Go);
        assert_eq!(host.ask(policy, at(1)), Gate::WaitForConnection);
        assert_eq!(host.finished(Answered::Well, at(2)), None);
        assert_eq!(host.ask(policy, at(2)), Gate::Go);
    }

    #[test]
    fn retry_after_is_kept_even_when_other_answers_are_well() {
        let mut host = HostState::default();
        host.ask(POLICY, at(0));
        let block = host.finished(Answered::Throttled(Some(at(60_000))), at(10)).expect("a pause");
        assert_eq!(block.until, at(60_000));
        assert_eq!(host.finished(Answered::Well, at(20)), None);
        assert_eq!(host.ask(POLICY, at(59_999)), Gate::WaitUntil(at(60_000)));
        assert_eq!(host.ask(POLICY, at(60_000)), Gate::Go);
    }

    #[test]
    fn complaints_escalate_and_an_answer_forgives() {
        let mut host = HostState::default();
        let mut now = at(0);
        let mut pauses = Vec::new();
        for _ in 0..3 {
            assert_eq!(host.ask(POLICY, now), Gate::Go);
            let block = host.finished(Answered::Throttled(None), now).expect("a pause");
            pauses.push(block.until.since(now).as_millis());
            now = block.until;
        }
        assert!(pauses[0] < pauses[1] && pauses[1] < pauses[2], "{pauses:?}");
        host.ask(POLICY, now);
        assert_eq!(host.finished(Answered::Well, now), None);
        now = at(now.0 + 1_000);
        host.ask(POLICY, now);
        let block = host.finished(Answered::Throttled(None), now).expect("a pause");
        assert_eq!(block.until.since(now).as_millis(), pauses[0]);
    }

    #[test]
    fn answers_that_were_under_way_together_are_one_complaint() {
        let mut host = HostState::default();
        let policy = HostPolicy { interval_ms: 0, connections_max: 8 };
        for _ in 0..8 {
            host.ask(policy, at(0));
        }
        let first = host.finished(Answered::Throttled(None), at(5)).expect("a pause");
        for _ in 0..7 {
            host.finished(Answered::Throttled(None), at(5));
        }
        assert_eq!(host.ask(policy, at(6)), Gate::WaitUntil(first.until));
    }

    #[test]
    fn faults_in_a_row_pause_the_host_and_a_single_one_does_not() {
        let mut host = HostState::default();
        let policy = HostPolicy { interval_ms: 0, connections_max: 1 };
        for fault in 1..=limits::HOST_FAULTS_MAX {
            assert_eq!(host.ask(policy, at(0)), Gate::Go, "fault {fault}");
            let block = host.finished(Answered::Faulty, at(0));
            assert_eq!(block.is_some(), fault == limits::HOST_FAULTS_MAX, "fault {fault}");
        }
        assert!(matches!(host.ask(policy, at(0)), Gate::WaitUntil(_)));
    }

    #[test]
    fn a_request_that_was_broken_off_gives_its_connection_back() {
        let mut host = HostState::default();
        let policy = HostPolicy { interval_ms: 0, connections_max: 1 };
        assert_eq!(host.ask(policy, at(0)), Gate::Go);
        host.broken_off();
        assert_eq!(host.ask(policy, at(0)), Gate::Go);
    }
}
