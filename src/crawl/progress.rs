//! What a crawl has done since it began, for the progress line, the summary and `status`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::commit::Committed;
use crate::clock::UnixMillis;
use crate::crawldb::Outcome;

/// Counts of one run. Visits count once they are on the disk.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Requests answered or failed: P of ALGORITHMS §7.
    pub pages: u64,
    /// New torrents: TN.
    pub torrents: u64,
    /// Torrents that were known.
    pub duplicates: u64,
    /// New torrents that are known by a magnet link only.
    pub magnets: u64,
    /// Decoded bytes of bodies.
    pub body_bytes: u64,
    pub outcomes: BTreeMap<Outcome, u64>,
    /// URLs found and not yet visited, retries included.
    pub queued: u64,
}

/// What a site is doing.
#[derive(Clone, Debug, Default)]
pub struct SiteProgress {
    pub counts: Counts,
    /// Why nothing is being fetched, and until when: "waiting until …: Retry-After".
    pub waiting: Option<(UnixMillis, String)>,
    /// Why the site is left alone for want of a session, and until when; None for a time that its operator ends.
    pub no_session: Option<(Option<UnixMillis>, String)>,
    /// Requests under way.
    pub under_way: usize,
    /// How the site's crawl ended; None while it goes on.
    pub ended: Option<Ended>,
}

/// How a site's crawl ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case", tag = "end", content = "detail")]
pub enum Ended {
    /// Nothing is left to fetch.
    Exhausted,
    /// `--max-pages`, `--max-time`, or the site's own budget.
    Budget(String),
    /// A signal.
    Stopped,
    /// The host did not answer; what is queued stays queued.
    Unreachable(String),
    /// The operator's account is not logged in; what is queued stays queued.
    NotLoggedIn(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted => f.write_str("history exhausted"),
            Self::Budget(budget) => write!(f, "stopped at {budget}; crawl again to go on"),
            Self::Stopped => f.write_str("stopped; crawl again to go on"),
            Self::NotLoggedIn(why) => write!(f, "not logged in: {why}; what is queued stays queued"),
            Self::Unreachable(why) => write!(f, "unreachable: {why}; what is queued stays queued"),
        }
    }
}

/// Shared between the crawl, which writes, and whoever shows it.
#[derive(Clone, Default)]
pub struct Progress(Arc<Mutex<BTreeMap<String, SiteProgress>>>);

impl Progress {
    fn sites(&self) -> MutexGuard<'_, BTreeMap<String, SiteProgress>> {
        // Counts stay usable after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes one site's progress.
    pub fn update(&self, site: &str, change: impl FnOnce(&mut SiteProgress)) {
        let mut sites = self.sites();
        match sites.get_mut(site) {
            Some(progress) => change(progress),
            None => change(sites.entry(site.to_owned()).or_default()),
        }
    }

    /// Forgets a site that is no longer crawled.
    pub fn forget(&self, site: &str) {
        self.sites().remove(site);
    }

    /// All sites as they stand.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, SiteProgress> {
        self.sites().clone()
    }

    /// The sum over all sites.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for progress in self.sites().values() {
            let counts = &progress.counts;
            total.pages += counts.pages;
            total.torrents += counts.torrents;
            total.duplicates += counts.duplicates;
            total.magnets += counts.magnets;
            total.body_bytes += counts.body_bytes;
            total.queued += counts.queued;
            for (outcome, count) in &counts.outcomes {
                *total.outcomes.entry(*outcome).or_default() += count;
            }
        }
        total
    }
}

impl Counts {
    /// Adds a committed visit.
    pub fn add(&mut self, committed: &Committed) {
        let Committed { outcome, receipt, body_bytes, queued_again, .. } = *committed;
        self.pages += u64::from(outcome.was_fetched());
        self.torrents += u64::from(receipt.torrent_stored);
        self.duplicates += u64::from(outcome == Outcome::TorrentDuplicate);
        self.magnets += u64::from(receipt.magnets_added);
        self.body_bytes += body_bytes;
        *self.outcomes.entry(outcome).or_default() += 1;
        self.queued += u64::from(receipt.urls_added);
        self.queued = self.queued.saturating_sub(u64::from(!queued_again));
    }
}
