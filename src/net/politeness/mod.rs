//! Host state + now → go, or wait. Politeness applies at three levels: waits that a host asked for are kept by host
//! name ([`Patience`]); rate and connections are capped by registrable domain and by each address ([`Load`]), across
//! all lanes, sites and host names that share them.
//!
//! No I/O, no clock: `now` is an argument.

pub mod backoff;
pub mod robots;

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use crate::limits;
use gleaner_base::clock::UnixMillis;

/// The limits of a site's rule file and the host's own robots.txt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HostPolicy {
    /// Time from the start of one request to the start of the next, in milliseconds; zero for no spacing.
    pub interval_ms: u64,
    /// Concurrent requests plus resting connections; at least 1.
    pub connections_max: u32,
    /// A connection rests this many times the duration of its response, from the end of the response on; zero for no
    /// rest.
    pub rest_factor: f32,
    /// Minimum rest of a connection, in milliseconds: `Crawl-delay`.
    pub rest_ms_min: u64,
}

impl HostPolicy {
    /// How long a connection rests after a response that took this long.
    #[must_use]
    pub fn rest(&self, took: Duration) -> Duration {
        let least = Duration::from_millis(self.rest_ms_min);
        let share = took.as_secs_f64() * f64::from(self.rest_factor.max(0.0));
        let follows = Duration::try_from_secs_f64(share).unwrap_or(limits::REST_MAX);
        follows.min(limits::REST_MAX).max(least)
    }
}

/// The answer to "may I send a request now?".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gate {
    /// Yes.
    Go,
    /// Not before this time.
    WaitUntil(UnixMillis),
    /// Not before a request in progress has ended.
    WaitForConnection,
}

impl Gate {
    /// The stricter of two answers.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Go, other) | (other, Self::Go) => other,
            (Self::WaitUntil(one), Self::WaitUntil(other)) => Self::WaitUntil(one.max(other)),
            // At any time, nothing can start before a connection is free.
            _ => Self::WaitForConnection,
        }
    }
}

/// How a request ended, for politeness.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answered {
    /// The server responded without a complaint.
    Well,
    /// It served a file that servers refuse to no one, such as robots.txt. The host is reachable, but this does not
    /// reset a refused rate.
    Reached,
    /// A server error, or a truncated response: blamed on the URL until several come in a row.
    Faulty,
    /// 429 or 503, with the time of `Retry-After` if there was one.
    Throttled(Option<UnixMillis>),
    /// No connection.
    Unreachable,
}

/// Reason of a pause whose time the server named.
const ASKED: &str = "the server asked for it (Retry-After)";

/// Reason of a pause that the server asked for without a time.
const RATE_REFUSED: &str = "the server refused the rate (429 or 503)";

/// True if the reason of a pause, with any detail after it, means that the server asked for the pause.
#[must_use]
pub fn is_asked_for(reason: &str) -> bool {
    [ASKED, RATE_REFUSED].iter().any(|asked| reason.starts_with(asked))
}

/// True if it means that the server named the time; the length of any other pause is a guess.
#[must_use]
pub fn is_time_named(reason: &str) -> bool {
    reason.starts_with(ASKED)
}

/// A pause imposed by the host, to be stored in the crawl database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    pub until: UnixMillis,
    pub reason: &'static str,
    /// Consecutive pauses, this one included, without a good response between them.
    pub complaints: u32,
}

/// The rate and the connections of one registrable domain, or of one address.
#[derive(Clone, Debug, Default)]
pub struct Load {
    next_start: UnixMillis,
    under_way: u32,
    /// When each resting connection may be used again.
    resting: BinaryHeap<Reverse<UnixMillis>>,
}

impl Load {
    /// May a request start now? Has no visible effect; it only removes rests that are over.
    pub fn ask(&mut self, policy: HostPolicy, now: UnixMillis) -> Gate {
        while self.resting.peek().is_some_and(|Reverse(until)| *until <= now) {
            self.resting.pop();
        }
        let in_time = if self.next_start > now { Gate::WaitUntil(self.next_start) } else { Gate::Go };
        let taken = self.under_way.saturating_add(u32::try_from(self.resting.len()).unwrap_or(u32::MAX));
        let free = match self.resting.peek() {
            _ if taken < policy.connections_max => Gate::Go,
            Some(Reverse(until)) => Gate::WaitUntil(*until),
            None => Gate::WaitForConnection,
        };
        in_time.and(free)
    }

    /// A request starts now. [`Self::ended`] must follow.
    pub fn started(&mut self, policy: HostPolicy, now: UnixMillis) {
        self.under_way += 1;
        self.next_start = self.next_start.max(UnixMillis(now.0.saturating_add(policy.interval_ms)));
    }

    /// A request has ended, and its connection rests until then.
    pub fn ended(&mut self, rests_until: UnixMillis) {
        self.under_way = self.under_way.saturating_sub(1);
        self.resting.push(Reverse(rests_until));
    }

    /// The system clock was set by this many milliseconds.
    pub fn shift(&mut self, set_by_ms: i64) {
        self.next_start = shifted(self.next_start, set_by_ms);
        self.resting = self.resting.drain().map(|Reverse(until)| Reverse(shifted(until, set_by_ms))).collect();
    }

    /// True if this is equivalent to a fresh one.
    #[must_use]
    pub fn is_idle(&self, now: UnixMillis) -> bool {
        self.under_way == 0 && self.next_start <= now && self.resting.iter().all(|Reverse(until)| *until <= now)
    }
}

/// The state of one host's patience.
#[derive(Clone, Debug, Default)]
pub struct Patience {
    blocked_until: UnixMillis,
    complaints: u32,
    /// True if one of the complaints was a refused rate.
    was_refused: bool,
    faults: u32,
}

impl Patience {
    /// Restores a pause that was imposed before this process started; never shortens one.
    pub fn block(&mut self, until: UnixMillis, complaints: u32) {
        self.blocked_until = self.blocked_until.max(until);
        self.complaints = self.complaints.max(complaints);
        // The kind of the complaints is not stored.
        self.was_refused |= complaints > 0;
    }

    /// The system clock was set by this many milliseconds.
    pub fn shift(&mut self, set_by_ms: i64) {
        self.blocked_until = shifted(self.blocked_until, set_by_ms);
    }

    /// May a request start now?
    #[must_use]
    pub fn ask(&self, now: UnixMillis) -> Gate {
        if self.blocked_until > now { Gate::WaitUntil(self.blocked_until) } else { Gate::Go }
    }

    /// Consecutive pauses without a good response.
    #[must_use]
    pub fn complaints(&self) -> u32 {
        self.complaints
    }

    /// A request ended. Returns a pause if the host asked for one, or failed often enough to get one.
    pub fn ended(&mut self, answered: Answered, now: UnixMillis) -> Option<Block> {
        match answered {
            // A response that was in progress when the pause began does not end it.
            Answered::Well | Answered::Reached if self.blocked_until > now => return None,
            Answered::Well | Answered::Reached => {
                if answered == Answered::Well || !self.was_refused {
                    self.complaints = 0;
                    self.was_refused = false;
                }
                self.faults = 0;
                return None;
            }
            Answered::Faulty => {
                self.faults += 1;
                if self.faults < limits::HOST_FAULTS_MAX {
                    return None;
                }
            }
            Answered::Throttled(_) => self.was_refused = true,
            Answered::Unreachable => {}
        }
        // Complaints of concurrent requests count as one, unless a good response among them has reset the count.
        if self.blocked_until <= now || self.complaints == 0 {
            self.complaints = self.complaints.saturating_add(1);
        }
        let (until, reason) = match answered {
            Answered::Throttled(asked) => {
                let own = backoff::throttled_until(self.complaints, now);
                match asked {
                    Some(asked) => (asked.max(own), ASKED),
                    None => (own, RATE_REFUSED),
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

/// A time after the clock was set by this many milliseconds.
#[must_use]
pub fn shifted(at: UnixMillis, by_ms: i64) -> UnixMillis {
    UnixMillis(at.0.saturating_add_signed(by_ms))
}

/// The key of a host's rate: its registrable domain (public suffix list), or the host itself if it has none, such as
/// an address or `localhost`.
#[must_use]
pub fn domain_of(host: &str) -> &str {
    // A host whose last label is a number is an address (WHATWG URL, ends in a number), and so is one in brackets.
    let last = host.rsplit('.').next().unwrap_or_default();
    if host.starts_with('[') || (!last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit())) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

#[cfg(test)]
mod tests;
