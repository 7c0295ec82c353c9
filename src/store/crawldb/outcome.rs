//! How visits end, and what happens to their URLs after them: plain data, stored with the URL.

use serde::{Deserialize, Serialize};

use gleaner_base::clock::UnixMillis;

/// How a visit ended. Every leased URL ends in one of these, and `status` counts them by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Outcome {
    /// An unknown torrent.
    TorrentStored = 1,
    /// A torrent with a known infohash; its source was added.
    TorrentDuplicate = 2,
    /// A page whose links were read.
    Page = 3,
    /// A page whose body equals another page's of this host; its links were added nevertheless.
    PageDuplicate = 4,
    /// 304, or a page equal to the one seen before.
    NotModified = 5,
    /// A redirect whose target was added to the frontier instead.
    Redirected = 6,
    /// A body that is neither torrent nor page.
    NotForUs = 10,
    /// An HTML page, although the headers promised a torrent.
    HtmlPosingAsTorrent = 11,
    /// It began like a torrent but is malformed.
    MalformedTorrent = 12,
    /// Larger than its cap.
    TooLarge = 13,
    /// Ended before its announced length.
    Truncated = 14,
    /// 404 or 410, or a torrent that the site marks as removed by other signs.
    Gone = 20,
    /// 401 or 403.
    Denied = 21,
    /// Any other 4xx.
    ClientError = 22,
    /// 5xx, after the last attempt.
    ServerError = 23,
    /// 429 or 503 with or without `Retry-After`.
    Throttled = 24,
    /// Disallowed by robots.txt; not fetched.
    RobotsDenied = 30,
    /// Refused by the site's rules, which changed since it was queued; not fetched.
    RulesRefused = 31,
    /// A budget of the site (depth, pages) is used up; not fetched.
    OverBudget = 32,
    /// More redirects than allowed, or a redirect cycle.
    RedirectLoop = 33,
    /// A redirect without a usable target.
    BadRedirect = 34,
    /// A redirect whose target the site's rules refuse.
    RedirectRefused = 35,
    /// A URL shape that yields nothing, or a form that only traps have; not fetched.
    Trapped = 36,
    /// A wall stands before its rule's URLs: others ended alike, one after the other; not fetched.
    Walled = 38,
    /// A detail that shows no more than its row in a list, whose torrent is stored; not fetched.
    LeftOut = 39,
    /// The host has an address that the crawl does not connect to (private, loopback, metadata); not fetched.
    AddressRefused = 37,
    /// The host's name did not resolve.
    DnsFailed = 40,
    /// No connection.
    ConnectFailed = 41,
    /// A certificate or handshake error.
    TlsFailed = 42,
    /// Too slow.
    TimedOut = 43,
    /// The connection broke, or the response was not HTTP.
    ProtocolError = 44,
    /// A response for guests, although the site's account was needed: requested again after the next login.
    LoggedOut = 45,
}

impl Outcome {
    /// Every outcome, in the order of their numbers.
    pub const ALL: [Self; 32] = [
        Self::TorrentStored,
        Self::TorrentDuplicate,
        Self::Page,
        Self::PageDuplicate,
        Self::NotModified,
        Self::Redirected,
        Self::NotForUs,
        Self::HtmlPosingAsTorrent,
        Self::MalformedTorrent,
        Self::TooLarge,
        Self::Truncated,
        Self::Gone,
        Self::Denied,
        Self::ClientError,
        Self::ServerError,
        Self::Throttled,
        Self::RobotsDenied,
        Self::RulesRefused,
        Self::OverBudget,
        Self::RedirectLoop,
        Self::BadRedirect,
        Self::RedirectRefused,
        Self::Trapped,
        Self::AddressRefused,
        Self::Walled,
        Self::LeftOut,
        Self::DnsFailed,
        Self::ConnectFailed,
        Self::TlsFailed,
        Self::TimedOut,
        Self::ProtocolError,
        Self::LoggedOut,
    ];

    /// The number that is stored.
    #[must_use]
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The outcome with this number.
    #[must_use]
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.code() == code)
    }

    /// The name that `status`, logs and metrics use.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::TorrentStored => "torrent_stored",
            Self::TorrentDuplicate => "torrent_duplicate",
            Self::Page => "page",
            Self::PageDuplicate => "page_duplicate",
            Self::NotModified => "not_modified",
            Self::Redirected => "redirected",
            Self::NotForUs => "not_for_us",
            Self::HtmlPosingAsTorrent => "html_posing_as_torrent",
            Self::MalformedTorrent => "malformed_torrent",
            Self::TooLarge => "too_large",
            Self::Truncated => "truncated",
            Self::Gone => "gone",
            Self::Denied => "denied",
            Self::ClientError => "client_error",
            Self::ServerError => "server_error",
            Self::Throttled => "throttled",
            Self::RobotsDenied => "robots_denied",
            Self::RulesRefused => "rules_refused",
            Self::OverBudget => "over_budget",
            Self::RedirectLoop => "redirect_loop",
            Self::BadRedirect => "bad_redirect",
            Self::RedirectRefused => "redirect_refused",
            Self::Trapped => "trapped",
            Self::AddressRefused => "address_refused",
            Self::Walled => "walled",
            Self::LeftOut => "left_out",
            Self::DnsFailed => "dns_failed",
            Self::ConnectFailed => "connect_failed",
            Self::TlsFailed => "tls_failed",
            Self::TimedOut => "timed_out",
            Self::ProtocolError => "protocol_error",
            Self::LoggedOut => "logged_out",
        }
    }

    /// False if the outcome says nothing about the URL itself: it waits for its host, or for a session.
    #[must_use]
    pub fn is_an_end(self) -> bool {
        !matches!(
            self,
            Self::DnsFailed | Self::ConnectFailed | Self::TlsFailed | Self::AddressRefused | Self::LoggedOut
        )
    }

    /// True if the URL gave what its kind gives: a torrent, a page, or a redirect to one.
    #[must_use]
    pub fn was_answered(self) -> bool {
        matches!(
            self,
            Self::TorrentStored
                | Self::TorrentDuplicate
                | Self::Page
                | Self::PageDuplicate
                | Self::NotModified
                | Self::Redirected
        )
    }

    /// True if a request for the URL was sent; false if it was refused before.
    #[must_use]
    pub fn was_fetched(self) -> bool {
        !matches!(
            self,
            Self::RobotsDenied
                | Self::RulesRefused
                | Self::OverBudget
                | Self::Trapped
                | Self::AddressRefused
                | Self::Walled
                | Self::LeftOut
        )
    }
}

/// What happens to a URL after a visit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Finished; not leased again.
    Done,
    /// Retried at this time; counts as a fault.
    RetryAt(UnixMillis),
    /// Retried at this time, because the server asked to wait; counts as a refusal.
    RefusedUntil(UnixMillis),
    /// Retried at this time; attempts stay, since the host was at fault.
    WaitUntil(UnixMillis),
    /// Finished for now, revisited at this time (attempts start at zero).
    RevisitAt(UnixMillis),
    /// Refused (by rules, robots.txt or a budget) under the rules with this token, a hash: not queued until
    /// [`super::CrawlDb::unpark`] is called with another token of its kind, or the URL is made due.
    Park(u64),
}

/// Tokens of parked URLs come in four separate kinds. Those of the site's rules are below this value; those of walls start here.
pub const WALL_TOKENS: u64 = 1 << 61;

/// Tokens of suspected traps start here.
pub const TRAP_TOKENS: u64 = 1 << 62;

/// Tokens of robots.txt start here.
pub const ROBOTS_TOKENS: u64 = 1 << 63;

/// The range of tokens of the same kind.
pub(super) fn token_kind(token: u64) -> std::ops::RangeInclusive<u64> {
    match token {
        ..WALL_TOKENS => 0..=WALL_TOKENS - 1,
        WALL_TOKENS..TRAP_TOKENS => WALL_TOKENS..=TRAP_TOKENS - 1,
        TRAP_TOKENS..ROBOTS_TOKENS => TRAP_TOKENS..=ROBOTS_TOKENS - 1,
        ROBOTS_TOKENS.. => ROBOTS_TOKENS..=u64::MAX,
    }
}

/// The attempts at a URL are two counts in one byte: faults in the lower half, refusals in the upper one. Neither counts
/// beyond this.
const ATTEMPTS_EACH: u8 = 0x0f;

/// One refusal among the attempts.
const REFUSAL: u8 = 0x10;

/// Attempts that failed through a fault of the URL itself.
#[must_use]
pub fn faults(attempts: u8) -> u8 {
    attempts & ATTEMPTS_EACH
}

/// Attempts for which the server asked to wait.
#[must_use]
pub fn refusals(attempts: u8) -> u8 {
    attempts / REFUSAL
}

impl Next {
    /// The attempts to store after a visit that began with `attempts`.
    #[must_use]
    pub(super) fn attempts_after(self, attempts: u8) -> u8 {
        match self {
            Self::Done | Self::WaitUntil(_) => attempts,
            Self::RetryAt(_) if faults(attempts) < ATTEMPTS_EACH => attempts + 1,
            Self::RefusedUntil(_) if refusals(attempts) < ATTEMPTS_EACH => attempts + REFUSAL,
            Self::RetryAt(_) | Self::RefusedUntil(_) => attempts,
            Self::RevisitAt(_) | Self::Park(_) => 0,
        }
    }

    /// The time that the URL is queued for; None if it is not queued.
    #[must_use]
    pub fn due(self) -> Option<UnixMillis> {
        match self {
            Self::Done | Self::Park(_) => None,
            Self::RetryAt(at) | Self::RefusedUntil(at) | Self::WaitUntil(at) | Self::RevisitAt(at) => Some(at),
        }
    }

    /// The token that the URL is parked under.
    #[must_use]
    pub(super) fn token(self) -> Option<u64> {
        match self {
            Self::Park(token) => Some(token),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_documentation_has_a_sentence_for_each_outcome() {
        let docs = include_str!("../../../docs/reference/outcomes.md");
        let rows: Vec<&str> = docs
            .split_once("## Outcomes")
            .and_then(|(_, table)| table.split("\n## ").next())
            .into_iter()
            .flat_map(str::lines)
            .filter(|line| line.starts_with("| `"))
            .collect();
        for outcome in Outcome::ALL {
            let of_it = rows.iter().filter(|row| row.starts_with(&format!("| `{}` | ", outcome.name())));
            assert_eq!(of_it.count(), 1, "{}", outcome.name());
        }
        assert_eq!(rows.len(), Outcome::ALL.len(), "a row of an outcome that is none");
        assert!(rows.iter().all(|row| row.ends_with(". |")), "{rows:#?}");
    }
}
