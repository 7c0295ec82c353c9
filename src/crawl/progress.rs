//! What a crawl has done since its start, for the progress line, the summary and `status`.

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crate::fresh::Fresh;
use crate::freshness::histogram::Histogram;
use crate::frontier::crews::Split;
use crate::guesses::GuessCounts;
use crate::job::Committed;
use crate::measured::Measured;
use crate::refused::RefusedLink;
use crate::watched::{ListLook, Watched};
use gleaner_base::clock::UnixMillis;
use gleaner_base::durations::Durations;
use gleaner_base::url::CrawlUrl;
use gleaner_store::crawldb::Outcome;

/// What is waited for where nothing but time keeps a site from its next request.
pub const NEXT_LOOK: &str = "the next recheck or retry";

/// Counts of one run. Visits count once they are on disk.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Requests answered or failed, except those of scripts: P of ALGORITHMS §7.
    pub pages: u64,
    /// Requests that the scripts of pages made.
    pub script_requests: u64,
    /// Of `pages`, those whose answers were at hand: `rules learn` had read them.
    pub read_before: u64,
    /// New torrents: TN.
    pub torrents: u64,
    /// Torrents that were already known.
    pub duplicates: u64,
    /// New torrents that are known only by a magnet link.
    pub magnets: u64,
    /// Decoded bytes of response bodies.
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
    /// The session of the operator's account; None if the site has none.
    pub session: Option<SessionState>,
    /// Requests in flight.
    pub under_way: usize,
    /// How the site's crawl ended; None while it runs.
    pub ended: Option<Ended>,
    /// The deepest URL among those parked for their depth in this run: number of links from a start URL, and the URL.
    pub deepest: Option<(u16, String)>,
    /// How history and increment share the site; None if there is one crew.
    pub crews: Option<CrewsState>,
    pub measured: Measured,
    /// What guesses came to, if they were asked for.
    pub guesses: Option<GuessCounts>,
}

/// State of the crews, for `status`.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct CrewsState {
    pub split: Split,
    /// The split as a sentence, with its reason.
    pub why: String,
    /// Pages of history left, and URLs known.
    pub history_left: u64,
    pub known: u64,
    /// Duration of a round in seconds.
    pub interval_s: u64,
    /// When the current round began and the next one begins (UTC).
    pub last_round: String,
    pub next_round: String,
    /// Rounds measured since the first.
    pub rounds: u64,
    /// New pages an hour on start pages and first pages of lists.
    pub news_per_hour: f64,
    /// URLs found by the increment and not fetched yet.
    pub waiting: u64,
    /// New pages of the last round that its caps left to history.
    pub left_to_history: u64,
}

/// The session of a site's account, as its crawl uses it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "state")]
pub enum SessionState {
    /// It must be proven, or a login must begin, before any other request.
    Due,
    /// The page that proves it is being requested.
    Proving,
    /// A login is in progress.
    LoggingIn,
    Good {
        /// When it was last proven.
        proven: UnixMillis,
    },
    /// There is none, and the site is left alone.
    Missing {
        /// When the crawl retries by itself; None if the operator has to act.
        until: Option<UnixMillis>,
        why: String,
        /// When the next check for a change by the operator is due.
        #[serde(default)]
        next_look: Option<UnixMillis>,
    },
}

impl SiteProgress {
    /// Why the site is left alone for lack of a session, and until when; None as the time if the operator has to act.
    #[must_use]
    pub fn no_session(&self) -> Option<(Option<UnixMillis>, &str)> {
        match &self.session {
            Some(SessionState::Missing { until, why, .. }) => Some((*until, why)),
            _ => None,
        }
    }
}

/// An invalid rule file, while its last valid state, if any, stays in force.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
pub struct RuleFault {
    pub path: PathBuf,
    /// The first fault, with its position and its hint.
    pub first: String,
    /// Number of faults.
    pub count: usize,
}

/// Prefix of the reason why a stored session was not used.
pub const SESSION_WAITS: &str = "the stored session is not proven yet";

/// How a site's crawl ended.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case", tag = "end", content = "detail")]
pub enum Ended {
    /// Nothing is left to fetch.
    Exhausted,
    /// `--max-pages`, `--max-time`, or the site's own budget.
    Budget(String),
    /// A signal.
    Stopped,
    /// The host did not answer; queued URLs stay queued.
    Unreachable(String),
    /// Nothing is left to fetch but URLs of rules whose URLs were refused alike: a line on each rule, one with an example. They are asked
    /// for again by the next crawl.
    Refused(String),
    /// The operator's account is not logged in; queued URLs stay queued.
    NotLoggedIn(String),
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exhausted => f.write_str("history exhausted"),
            Self::Budget(budget) => write!(f, "stopped at {budget}; crawl again to go on"),
            Self::Stopped => f.write_str("stopped; crawl again to go on"),
            // The lines that follow contain the instructions.
            Self::NotLoggedIn(why) if why.starts_with(SESSION_WAITS) => {
                f.write_str(why.lines().next().unwrap_or_default())
            }
            Self::NotLoggedIn(why) => write!(f, "not logged in: {}", why.lines().next().unwrap_or_default()),
            Self::Refused(why) => write!(f, "refused: {}", why.lines().next().unwrap_or_default()),
            Self::Unreachable(why) => write!(f, "unreachable: {}", brief(why)),
        }
    }
}

/// Length in characters of a reason in a line for people; `--json` and the log contain all of it.
const BRIEF_CHARACTERS: usize = 87;

/// A short form of a reason: without the software layers that passed it on, and cut if it is long.
#[must_use]
pub fn brief(reason: &str) -> String {
    let is_layer = |part: &str| {
        part == "the server did not answer" || part == "tcp connect error" || part.starts_with("client error (")
    };
    let line = reason.lines().next().unwrap_or_default();
    let parts: Vec<&str> = line.split(": ").filter(|part| !is_layer(part)).collect();
    let mut text = parts.join(": ");
    if let Some((words, _)) = text.rsplit_once(" (os error ") {
        text.truncate(words.len());
    }
    if let Some((cut, _)) =
        text.char_indices().nth(BRIEF_CHARACTERS - 1).filter(|_| text.chars().count() > BRIEF_CHARACTERS)
    {
        text.truncate(cut);
        text.push('…');
    }
    text
}

/// Shared between the crawl, which writes it, and the views that show it.
#[derive(Clone, Default)]
pub struct Progress(Arc<Mutex<CrawlProgress>>);

#[derive(Default)]
struct CrawlProgress {
    sites: BTreeMap<String, SiteProgress>,
    rule_faults: Vec<RuleFault>,
    store_fault: Option<String>,
    loops: LoopMeasured,
    /// The sites under crawl, for state that they have not stored yet.
    crawled: BTreeMap<String, Weak<Fresh>>,
    /// What is shown to those who look after the sites.
    watched: BTreeMap<String, Watched>,
}

/// What is measured of all sites together, since the start of the process.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoopMeasured {
    /// Durable commits.
    pub commits: Durations,
    /// How late the loop's timers were: what waits that long waits for the processor.
    pub lag: Durations,
}

impl Progress {
    fn state(&self) -> MutexGuard<'_, CrawlProgress> {
        // Counts stay usable after a panic elsewhere.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes one site's progress.
    pub fn update(&self, site: &str, change: impl FnOnce(&mut SiteProgress)) {
        let sites = &mut self.state().sites;
        match sites.get_mut(site) {
            Some(progress) => change(progress),
            None => change(sites.entry(site.to_owned()).or_default()),
        }
    }

    /// Removes a site that is no longer crawled.
    pub fn forget(&self, site: &str) {
        let mut state = self.state();
        state.sites.remove(site);
        state.watched.remove(site);
    }

    /// Changes what is shown to those who look after a site.
    pub fn watch(&self, site: &str, change: impl FnOnce(&mut Watched)) {
        let watched = &mut self.state().watched;
        match watched.get_mut(site) {
            Some(watched) => change(watched),
            None => change(watched.entry(site.to_owned()).or_default()),
        }
    }

    /// What is shown to those who look after a site; its looks are taken.
    #[must_use]
    pub fn take_watched(&self, site: &str) -> Watched {
        let mut state = self.state();
        let Some(watched) = state.watched.get_mut(site) else { return Watched::default() };
        Watched {
            looks: std::mem::take(&mut watched.looks),
            hosts: watched.hosts.clone(),
            walls: watched.walls.clone(),
            poor_page: watched.poor_page.clone(),
            rules: watched.rules,
            ..Watched::default()
        }
    }

    /// The looks at a site's lists that are remembered, the oldest first.
    #[must_use]
    pub fn past_looks(&self, site: &str) -> Vec<ListLook> {
        self.state().watched.get(site).map(|watched| watched.past.iter().cloned().collect()).unwrap_or_default()
    }

    /// The links that a site's rules refused last, the newest first.
    #[must_use]
    pub fn refused(&self, site: &str) -> Vec<RefusedLink> {
        self.state().watched.get(site).map(|watched| watched.refused.links().cloned().collect()).unwrap_or_default()
    }

    /// Registers a site under crawl, whose current state replaces its stored notes.
    pub fn crawls(&self, site: &str, fresh: &Arc<Fresh>) {
        self.state().crawled.insert(site.to_owned(), Arc::downgrade(fresh));
    }

    /// A note of a site as its running crawl would write it now; `None` if no crawl is running, or it keeps that note elsewhere.
    #[must_use]
    pub fn note(&self, site: &str, name: &str) -> Option<Vec<u8>> {
        let fresh = self.state().crawled.get(site).and_then(Weak::upgrade)?;
        fresh.note_now(name)
    }

    /// The acquisition delays of a site as its running crawl knows them; `None` if no crawl is running.
    #[must_use]
    pub fn delays(&self, site: &str) -> Option<Histogram> {
        let fresh = self.state().crawled.get(site).and_then(Weak::upgrade)?;
        Some(fresh.arrivals.measured())
    }

    /// Changes what is measured of all sites.
    pub fn measure(&self, change: impl FnOnce(&mut LoopMeasured)) {
        change(&mut self.state().loops);
    }

    /// What is measured of all sites.
    #[must_use]
    pub fn measured(&self) -> LoopMeasured {
        self.state().loops
    }

    /// Records a URL that was parked because it is deeper than the site's rules allow.
    pub fn too_deep(&self, site: &str, depth: u16, url: &CrawlUrl) {
        self.update(site, |progress| {
            if progress.deepest.as_ref().is_none_or(|(deepest, _)| *deepest < depth) {
                progress.deepest = Some((depth, url.as_str().to_owned()));
            }
        });
    }

    /// Replaces the list of invalid rule files.
    pub fn tell_rule_faults(&self, faults: Vec<RuleFault>) {
        self.state().rule_faults = faults;
    }

    /// The rule files that are invalid now.
    #[must_use]
    pub fn rule_faults(&self) -> Vec<RuleFault> {
        self.state().rule_faults.clone()
    }

    /// Sets why results cannot be stored; None once they can.
    pub fn tell_store_fault(&self, fault: Option<String>) {
        self.state().store_fault = fault;
    }

    /// Why results cannot be stored: most often a full disk.
    #[must_use]
    pub fn store_fault(&self) -> Option<String> {
        self.state().store_fault.clone()
    }

    /// Current progress of all sites.
    #[must_use]
    pub fn snapshot(&self) -> BTreeMap<String, SiteProgress> {
        self.state().sites.clone()
    }

    /// The sum over all sites.
    #[must_use]
    pub fn total(&self) -> Counts {
        let mut total = Counts::default();
        for progress in self.state().sites.values() {
            let counts = &progress.counts;
            total.pages += counts.pages;
            total.script_requests += counts.script_requests;
            total.read_before += counts.read_before;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_in_short_names_the_cause_once() {
        let refused = "http://127.0.0.1:9, 5 times in a row: the server did not answer: robots.txt: no connection: \
            client error (Connect): tcp connect error: Connection refused (os error 111)";
        assert_eq!(
            brief(refused),
            "http://127.0.0.1:9, 5 times in a row: robots.txt: no connection: Connection refused"
        );
        assert_eq!(brief("the server asked for it (Retry-After)"), "the server asked for it (Retry-After)");
        let long = brief(&"ü".repeat(200));
        assert!(long.chars().count() == BRIEF_CHARACTERS && long.ends_with("ü…"), "{long}");
        let ended = Ended::Unreachable(format!("https://{}.example: {refused}", "a".repeat(63))).to_string();
        assert!(ended.chars().count() <= 100, "{ended}");
    }

    #[test]
    fn the_deepest_url_is_kept() {
        let progress = Progress::default();
        let url = |path: &str| CrawlUrl::from_parts("http://h.example", path);
        for (depth, path) in [(4, "/a"), (6, "/b"), (6, "/c"), (5, "/d")] {
            progress.too_deep("s", depth, &url(path));
        }
        assert_eq!(progress.snapshot()["s"].deepest, Some((6, "http://h.example/b".to_owned())));
    }
}
