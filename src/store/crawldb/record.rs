//! The records of the crawl database, as plain data. They know no HTTP and no rules: an outcome is a name, a URL is
//! a host number and the text after the host.

use serde::{Deserialize, Serialize};

use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// Number of a (site, origin) pair, assigned by [`super::CrawlDb::host_id`]. The origin is
/// `scheme://host[:port]`; two sites with the same origin have two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostId(pub u32);

/// A URL as a database key: keys of one host are adjacent and sorted by path, so that the links of one page touch
/// few leaves of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct UrlKey {
    pub host: HostId,
    /// Normalised path and query, starting with `/`; at most `limits::URL_BYTES_MAX` bytes.
    pub path: Box<str>,
}

/// A URL to insert if it is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    pub key: UrlKey,
    /// Links from a start URL.
    pub depth: u16,
    /// Order of leasing within a host: lower first, then first come first served.
    pub rank: u8,
    /// Not leased before this time; zero means at once.
    pub due: UnixMillis,
    /// The page that has the link, stored for links to torrents as part of their sources.
    pub via: Option<Box<str>>,
    /// True for the crawl's targets: detail pages and torrents. Not stored, only counted: see
    /// [`Receipt::targets_added`].
    pub is_target: bool,
    /// When it was found, if that was before the database is told.
    pub found: Option<UnixMillis>,
}

/// A URL leased to a worker until `deadline`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub key: UrlKey,
    pub depth: u16,
    pub rank: u8,
    /// Visits that ended in a retry so far: see [`faults`] and [`refusals`].
    pub attempts: u8,
    pub via: Option<Box<str>>,
    /// The memo that the last visit of this URL left for this one.
    pub memo: Option<Box<str>>,
    pub deadline: UnixMillis,
    /// When the increment found it, if the history crawldb may not know it.
    pub found: Option<UnixMillis>,
}

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
    pub const ALL: [Self; 31] = [
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

/// Facts of a torrent besides its names; its file is in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorrentFacts {
    pub infohashes: Infohashes,
    pub name: Box<str>,
    /// Sum of the payload's file lengths, in bytes.
    pub payload_bytes: u64,
    pub file_count: u32,
    /// Length of the archived metainfo file, in bytes.
    pub metainfo_bytes: u32,
    /// SHA-256 of the archived metainfo file.
    pub sha256: [u8; 32],
    /// `creation date` of the metainfo file, seconds since 1970; None if it has none.
    pub created_unix: Option<i64>,
    /// BEP 27.
    pub private: bool,
}

/// A torrent known only by a magnet link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MagnetFacts {
    pub infohashes: Infohashes,
    /// `dn`, if given.
    pub name: Option<Box<str>>,
    /// The link as found, at most `limits::URL_BYTES_MAX` bytes.
    pub link: Box<str>,
}

/// The links of an index page, for coverage (ALGORITHMS §7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The page's URL with its page number replaced by `{page}`: the pages of one series share it.
    pub series: Box<str>,
    /// This page's number in the series according to its URL (a page number or an offset; 0 if there is none).
    pub page: u64,
    /// The largest page number of this series that the page links to, itself included.
    pub page_max: u64,
    /// Hashes of the detail or download links on the page, deduplicated and sorted.
    pub targets: Vec<u64>,
}

/// One finished visit: everything that is committed together.
#[derive(Clone, Debug)]
pub struct Visit {
    pub key: UrlKey,
    /// From the lease.
    pub depth: u16,
    /// From the lease; a retry or revisit keeps it.
    pub rank: u8,
    /// From the lease.
    pub attempts: u8,
    /// From the lease: the page that has the link.
    pub via: Option<Box<str>>,
    /// From the lease: when it was found, unless the database has an earlier time.
    pub found: Option<UnixMillis>,
    pub at: UnixMillis,
    pub outcome: Outcome,
    pub next: Next,
    /// Decoded bytes of the body that were read.
    pub body_bytes: u64,
    /// xxh3 of a page's body, if it was read whole; equal bodies of one host are one page. The first URL recorded
    /// with a body owns it, so that a revisit of that URL does not count as a duplicate of its own duplicate.
    pub body_hash: Option<u64>,
    pub outlinks: Vec<Discovered>,
    pub torrent: Option<TorrentFacts>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// A memo for the next visit of this URL, returned by its lease, such as the validators of a conditional request.
    /// The database does not read it. At most `limits::MEMO_BYTES_MAX` bytes; a longer one counts as none. Without one,
    /// the URL's previous memo is deleted, unless the outcome is [`Outcome::NotModified`].
    pub memo: Option<Box<str>>,
    /// Why the page was not read whole, as a sentence without secrets: links may be missing. Stored until a visit reads all of it, or
    /// finds that the page does not exist any more; truncated to `limits::NOT_WHOLE_REASON_BYTES_MAX` bytes.
    pub not_whole: Option<Box<str>>,
}

/// The result of recording a [`Visit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The outcome that was counted: the database decides whether a torrent or page is new or a duplicate. For a visit
    /// recorded before, the outcome counted then.
    pub outcome: Outcome,
    /// Outlinks that were unknown.
    pub urls_added: u32,
    /// Those of them that were marked as targets: the value of the page for the crawl.
    pub targets_added: u32,
    /// True if the visit's torrent was unknown before.
    pub torrent_stored: bool,
    /// Magnets that name a torrent unknown before, neither stored nor named.
    pub magnets_added: u32,
}

impl Receipt {
    /// The receipt of a visit that added nothing.
    #[must_use]
    pub fn empty(outcome: Outcome) -> Self {
        Self { outcome, urls_added: 0, targets_added: 0, torrent_stored: false, magnets_added: 0 }
    }
}

/// The record of one URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlRecord {
    pub depth: u16,
    pub attempts: u8,
    /// None until the first visit.
    pub outcome: Option<Outcome>,
    pub first_seen: UnixMillis,
    /// Zero until the first visit.
    pub visited: UnixMillis,
}

impl UrlRecord {
    /// True for a URL that, if it is queued for later, only waits for a revisit: its last visit was final, and no
    /// retry of it is planned.
    #[must_use]
    pub fn waits_for_a_look(&self) -> bool {
        self.attempts == 0 && self.outcome.is_some_and(Outcome::is_an_end)
    }
}

/// A stored torrent with its times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorrentRow {
    pub facts: TorrentFacts,
    /// The site whose visit stored it first.
    pub site: Box<str>,
    pub stored: UnixMillis,
    /// Visits that returned it, the first included.
    pub seen_count: u32,
    /// At most `limits::SOURCES_PER_TORRENT_MAX`, sorted by URL.
    pub sources: Vec<Source>,
}

/// Where a torrent was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub site: Box<str>,
    /// The URL that returned the torrent, or the page with the magnet link.
    pub url: Box<str>,
    /// The page that has the link, if known.
    pub via: Option<Box<str>>,
    pub first_seen: UnixMillis,
    pub last_seen: UnixMillis,
}

/// A torrent known only by a magnet link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MagnetRow {
    pub facts: MagnetFacts,
    pub site: Box<str>,
    /// The page that has the link.
    pub page: Box<str>,
    pub first_seen: UnixMillis,
    /// True once the torrent itself is in the archive.
    pub stored: bool,
}

/// Counts of one site since its first crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    /// Visits by outcome, without zeros, in the order of their codes.
    pub outcomes: Vec<(Outcome, u64)>,
    pub body_bytes: u64,
    pub urls_known: u64,
    /// URLs waiting to be fetched, including those due later.
    pub urls_queued: u64,
    /// Torrents first stored by this site.
    pub torrents: u64,
    /// Torrents known only by a magnet link that a page of this site named first; one that is stored later no longer
    /// counts.
    pub magnets: u64,
    /// Milliseconds during which this site was being crawled.
    pub crawl_ms: u64,
    /// Distinct torrents that have a source on this site, whichever site stored them first.
    pub torrents_seen: u64,
    /// URLs whose last visit ended in [`Outcome::Gone`], however often they were visited.
    pub urls_gone: u64,
    /// Pages that were not read whole: see [`Visit::not_whole`].
    #[serde(default)]
    pub pages_not_whole: u64,
}

impl SiteCounts {
    /// Requests: visits that were fetched (P of ALGORITHMS §7).
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.outcomes.iter().filter(|(outcome, _)| outcome.was_fetched()).map(|(_, count)| count).sum()
    }

    /// Visits with this outcome.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.iter().filter(|(other, _)| *other == outcome).map(|(_, count)| count).sum()
    }
}

/// The stored state of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    pub id: HostId,
    pub site: Box<str>,
    pub origin: Box<str>,
    /// No request before this time; zero means no limit.
    pub blocked_until: UnixMillis,
    /// The reason, as shown by `status`.
    pub blocked_reason: Box<str>,
    /// Consecutive pauses without a good response, so that the back-off escalates over restarts.
    pub complaints: u32,
}

/// A page that was not read whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotWholeRow {
    pub url: Box<str>,
    /// [`Visit::not_whole`].
    pub reason: Box<str>,
    /// When it was read.
    pub at: UnixMillis,
}

/// A listing with the host and time of its visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingRow {
    pub host: HostId,
    pub listing: Listing,
    pub at: UnixMillis,
    /// Targets that revisits of this page found and the first visit did not.
    pub updated: u32,
    /// Targets of earlier visits that the latest did not find any more, sorted.
    pub earlier: Vec<u64>,
}

/// What became of one URL, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLook {
    /// xxh3 of the URL, as in [`Listing::targets`].
    pub hash: u64,
    pub rank: u8,
    pub depth: u16,
    /// None until the first visit.
    pub outcome: Option<Outcome>,
    /// True while it is queued.
    pub is_queued: bool,
    /// Host and path of a URL with the rank 0, which any class may have; None for the others.
    pub path: Option<(HostId, Box<str>)>,
}

/// A page of a site's URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLooks {
    pub rows: Vec<UrlLook>,
    /// Where the next page begins; None after the last one.
    pub after: Option<(HostId, Box<str>)>,
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
