//! The requests to a members-only site, and their results.

use crate::limits::DEMO_LOG_PATHS_MAX;

/// The counts so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MembersLog {
    pub logins_ok: u64,
    pub logins_wrong: u64,
    /// Forms that were sent back too early, with another's token, or with fields that no browser sends: they do not count as attempts.
    pub logins_malformed: u64,
    /// Attempts while the account was locked.
    pub logins_locked: u64,
    /// Accounts locked.
    pub bans: u64,
    pub logouts: u64,
    /// Sessions that expired.
    pub expiries: u64,
    /// Requests that were answered as a member's.
    pub member_requests: u64,
    /// Requests that were refused, or got a reduced response, for lack of a login.
    pub denials: u64,
    /// Torrents served.
    pub torrents: u64,
    /// Requests for missing addresses.
    pub unknown: u64,
    /// Method, path and query of each request in the order of arrival, the first `limits::DEMO_LOG_PATHS_MAX` of them.
    pub requests: Vec<String>,
}

impl MembersLog {
    pub(super) fn request(&mut self, method: &str, target: &str) {
        if self.requests.len() < DEMO_LOG_PATHS_MAX {
            self.requests.push(format!("{method} {target}"));
        }
    }

    /// Logins that were sent, whatever their result.
    #[must_use]
    pub fn logins_sent(&self) -> u64 {
        self.logins_ok + self.logins_wrong + self.logins_malformed + self.logins_locked
    }
}
