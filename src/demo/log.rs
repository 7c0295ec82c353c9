//! The requests to the demo site, by kind, and whether a correct crawl would have made them.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::limits::DEMO_LOG_PATHS_MAX;

/// Kind of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    Robots,
    /// A page of the main index, of a category, of the archive or of a GBK board.
    Index,
    Detail,
    /// A detail page or download that is listed but answers 404, or has moved to another host.
    Gone,
    /// An address from before the redesign: 301.
    OldAddress,
    /// A download: a torrent, or a fake one.
    Download,
    // From here on: requests that a correct crawl does not make.
    /// Below `/private/`, or a print view: disallowed by robots.txt.
    ClosedByRobots,
    /// Random search results.
    Search,
    Calendar,
    Advert,
    /// Users, login, registration, logout.
    Account,
    /// News, help, feeds: pages without torrents that match no class of the rule file.
    OffTopic,
    /// Text that is no link: in a comment, in a script, in a text area.
    Bait,
    /// A page under a URL with parameters that the rule file removes (`from`, `sort`, `order`, …).
    Uncanonical,
    /// There is nothing at this address: a link was made up or misparsed.
    Unknown,
    /// Neither GET nor HEAD.
    Method,
    /// Anything under another host name that leads to this site, too: the rule file names one host.
    OtherHost,
}

impl Kind {
    /// Every kind, in the order of their numbers.
    pub const ALL: [Self; 17] = [
        Self::Robots,
        Self::Index,
        Self::Detail,
        Self::Gone,
        Self::OldAddress,
        Self::Download,
        Self::ClosedByRobots,
        Self::Search,
        Self::Calendar,
        Self::Advert,
        Self::Account,
        Self::OffTopic,
        Self::Bait,
        Self::Uncanonical,
        Self::Unknown,
        Self::Method,
        Self::OtherHost,
    ];

    /// True if a crawl that obeys robots.txt and the demo's rule file never makes the request.
    #[must_use]
    pub fn is_refused(self) -> bool {
        self >= Self::ClosedByRobots
    }

    /// The kind's name in a report.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Robots => "robots",
            Self::Index => "index",
            Self::Detail => "detail",
            Self::Gone => "gone",
            Self::OldAddress => "old_address",
            Self::Download => "download",
            Self::ClosedByRobots => "closed_by_robots",
            Self::Search => "search",
            Self::Calendar => "calendar",
            Self::Advert => "advert",
            Self::Account => "account",
            Self::OffTopic => "off_topic",
            Self::Bait => "bait",
            Self::Uncanonical => "uncanonical",
            Self::Unknown => "unknown",
            Self::Method => "method",
            Self::OtherHost => "other_host",
        }
    }
}

/// Requests seen so far.
#[derive(Clone, Debug, Default)]
pub struct RequestLog {
    /// Requests by kind, without zeros.
    pub counts: BTreeMap<Kind, u64>,
    /// Requests whose URL contained a session id.
    pub with_session_id: u64,
    /// Requests answered 503 because of `DemoOptions::fail_every`; they are also counted by kind.
    pub failed: u64,
    /// Path and query of each request in the order of arrival, the first `limits::DEMO_LOG_PATHS_MAX` of them.
    pub paths: Vec<String>,
    /// Requests whose path was not recorded.
    pub paths_dropped: u64,
}

impl RequestLog {
    /// Requests of this kind.
    #[must_use]
    pub fn count(&self, kind: Kind) -> u64 {
        self.counts.get(&kind).copied().unwrap_or(0)
    }

    /// All requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.counts.values().sum()
    }

    /// Requests that a correct crawl does not make.
    #[must_use]
    pub fn refused_fetches(&self) -> u64 {
        self.counts.iter().filter(|(kind, _)| kind.is_refused()).map(|(_, count)| count).sum()
    }
}

/// The log while it is written.
#[derive(Default)]
pub(super) struct Recorder {
    counts: [AtomicU64; Kind::ALL.len()],
    with_session_id: AtomicU64,
    failed: AtomicU64,
    paths: Mutex<(Vec<String>, u64)>,
}

impl Recorder {
    pub(super) fn record(&self, kind: Kind, path_and_query: &str, has_session_id: bool, has_failed: bool) {
        // A kind's number is its index in `ALL`, which has the array's length.
        self.counts[kind as usize].fetch_add(1, Ordering::Relaxed);
        self.with_session_id.fetch_add(u64::from(has_session_id), Ordering::Relaxed);
        self.failed.fetch_add(u64::from(has_failed), Ordering::Relaxed);
        let mut paths = self.paths.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if paths.0.len() < DEMO_LOG_PATHS_MAX {
            paths.0.push(path_and_query.to_owned());
        } else {
            paths.1 += 1;
        }
    }

    pub(super) fn refused_fetches(&self) -> u64 {
        Kind::ALL.into_iter().filter(|kind| kind.is_refused()).map(|kind| self.count(kind)).sum()
    }

    pub(super) fn snapshot(&self) -> RequestLog {
        let counts =
            Kind::ALL.into_iter().map(|kind| (kind, self.count(kind))).filter(|(_, count)| *count > 0).collect();
        let (paths, paths_dropped) = self.paths.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone();
        RequestLog {
            counts,
            with_session_id: self.with_session_id.load(Ordering::Relaxed),
            failed: self.failed.load(Ordering::Relaxed),
            paths,
            paths_dropped,
        }
    }

    fn count(&self, kind: Kind) -> u64 {
        self.counts[kind as usize].load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_stands_at_its_number() {
        for (index, kind) in Kind::ALL.into_iter().enumerate() {
            assert_eq!(kind as usize, index);
        }
    }

    #[test]
    fn paths_are_kept_up_to_the_cap_and_counted_beyond_it() {
        let recorder = Recorder::default();
        for _ in 0..DEMO_LOG_PATHS_MAX + 3 {
            recorder.record(Kind::Search, "/search", false, false);
        }
        let log = recorder.snapshot();
        assert_eq!((log.paths.len(), log.paths_dropped), (DEMO_LOG_PATHS_MAX, 3));
        assert_eq!(log.refused_fetches(), log.requests());
        assert_eq!(recorder.refused_fetches(), log.requests());
    }
}
