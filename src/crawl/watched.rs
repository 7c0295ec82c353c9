//! What a running crawl shows of its site to those who look after it: the rows of lists as they are rechecked, hosts that pause, walls, and the last
//! list page that showed too little. In memory.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::job::Finished;
pub use crate::job::PoorPage;
use crate::limits::{
    LOOKS_REMEMBERED_MAX, WATCHED_HOSTS_MAX, WATCHED_LISTS_MAX, WATCHED_LOOKS_MAX, WATCHED_PAGE_BYTES_MAX,
};
use crate::masked::masked_path;
use crate::refused::Refused;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::{Block, is_asked_for};
use gleaner_rules::Class;
use gleaner_store::crawldb::Outcome;

/// Why a site waits in its quiet hours.
pub const QUIET_HOURS: &str = "quiet_hours of the rule file";

/// What is shown of one site.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// Looks at first pages of lists since the last time that they were taken, the oldest first.
    pub looks: VecDeque<ListLook>,
    /// Hosts without a good answer since their first pause, by origin.
    pub hosts: BTreeMap<String, HostPaused>,
    /// What stands before all URLs of some rules: a line each, with an example.
    pub walls: Option<String>,
    pub poor_page: Option<Arc<PoorPage>>,
    /// Tells the rules of the crawl from others.
    pub rules: Option<u64>,
    /// The same looks, as long as there is room for them, whoever takes them.
    pub past: VecDeque<ListLook>,
    /// Links that its rules refuse.
    pub refused: Refused,
}

/// A look at the first page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListLook {
    /// A hash of its URL.
    pub list: u64,
    pub class: Class,
    pub at: UnixMillis,
    pub shown: ListShown,
    /// Path and query, keys masked.
    pub path: Box<str>,
}

/// What it has shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ListShown {
    /// Links to torrents, to pages of torrents, and to threads.
    Rows(u32),
    /// The same as before.
    Same,
    /// It is not there, or something else is.
    Nothing,
}

/// A host that imposes pauses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostPaused {
    pub kind: PauseKind,
    /// When the first of them began.
    pub since: UnixMillis,
    pub in_a_row: u32,
    pub reason: String,
}

/// Why a host pauses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PauseKind {
    /// It does not answer, or with errors of the server.
    Away,
    /// Its certificate, or the handshake.
    Tls,
    /// It refuses the rate.
    Throttles,
}

impl Watched {
    /// A crawl begins, by these rules and at these hosts: what another one has shown is over. A host that pauses goes on to.
    pub(crate) fn begins(&mut self, rules: u64, has_host: impl Fn(&str) -> bool) {
        let mut hosts = std::mem::take(&mut self.hosts);
        hosts.retain(|origin, _| has_host(origin));
        let past = std::mem::take(&mut self.past);
        let refused = if self.rules == Some(rules) { std::mem::take(&mut self.refused) } else { Refused::default() };
        *self = Self { hosts, past, refused, rules: Some(rules), ..Self::default() };
    }

    pub(crate) fn looked(&mut self, look: ListLook) {
        for (looks, most) in [(&mut self.looks, WATCHED_LOOKS_MAX), (&mut self.past, LOOKS_REMEMBERED_MAX)] {
            if looks.len() >= most {
                looks.pop_front();
            }
            looks.push_back(look.clone());
        }
    }

    /// A host pauses for this reason.
    pub(crate) fn pauses(&mut self, origin: &str, block: &Block, reason: &str, now: UnixMillis) {
        if self.hosts.len() >= WATCHED_HOSTS_MAX && !self.hosts.contains_key(origin) {
            return;
        }
        let kind = match reason {
            _ if is_asked_for(block.reason) => PauseKind::Throttles,
            // As the transport names it: `FailureKind::Tls`, `Outcome::TlsFailed`.
            _ if reason.contains("TLS failed") || reason.contains("certificate") => PauseKind::Tls,
            _ => PauseKind::Away,
        };
        let since = self.hosts.get(origin).map_or(now, |paused| paused.since);
        let paused = HostPaused { kind, since, in_a_row: block.complaints, reason: reason.to_owned() };
        self.hosts.insert(origin.to_owned(), paused);
    }
}

/// The look that a visit to the first page of a list was; None if it says nothing of the list.
pub(crate) fn look(finished: &Finished, url: &CrawlUrl) -> Option<ListLook> {
    let shown = match finished.visit.outcome {
        Outcome::Page | Outcome::PageDuplicate => {
            ListShown::Rows(u32::try_from(finished.end.shows.targets).unwrap_or(u32::MAX))
        }
        Outcome::NotModified => ListShown::Same,
        Outcome::Gone
        | Outcome::Denied
        | Outcome::ClientError
        | Outcome::NotForUs
        | Outcome::RedirectRefused
        | Outcome::RedirectLoop
        | Outcome::BadRedirect => ListShown::Nothing,
        _ => return None,
    };
    let (at, class) = (finished.visit.at, finished.job.class);
    Some(ListLook { list: hash(url), class, at, shown, path: masked_path(url).into() })
}

fn hash(url: &CrawlUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

/// The rows that lists showed at most, lately: tells which page shows too little.
#[derive(Debug, Default)]
pub struct MostRows(Mutex<HashMap<u64, u32>>);

impl MostRows {
    /// Takes note of the rows of a list; true if they are none, or less than 60 % of what it showed.
    pub(crate) fn is_poor(&self, url: &CrawlUrl, rows: usize) -> bool {
        let mut lists = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= WATCHED_LISTS_MAX && !lists.contains_key(&hash(url)) {
            return rows == 0;
        }
        let rows = u32::try_from(rows).unwrap_or(u32::MAX);
        let most = lists.entry(hash(url)).or_default();
        let is_poor = rows == 0 || u64::from(rows) * 10 < u64::from(*most) * 6;
        // What stays poor is usual in the end.
        *most = rows.max(*most - most.div_ceil(64).min(*most));
        is_poor
    }
}

/// As much of a page as is kept.
pub(crate) fn poor_page(url: &CrawlUrl, at: UnixMillis, text: &str) -> PoorPage {
    let end = text.floor_char_boundary(WATCHED_PAGE_BYTES_MAX);
    PoorPage { at, url: crate::masked::masked(url.as_str()).into(), text: text[..end].into() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_net::politeness::{Answered, Patience};

    #[test]
    fn a_page_without_rows_is_poor_and_one_with_few() {
        let lists = MostRows::default();
        let url = CrawlUrl::from_parts("http://h.example", "/list");
        assert!(
            !lists.is_poor(&url, 50) && !lists.is_poor(&url, 40) && lists.is_poor(&url, 20) && lists.is_poor(&url, 0)
        );
        assert!((0..200).any(|_| !lists.is_poor(&url, 20)), "it is usual in the end");
        assert!(lists.is_poor(&CrawlUrl::from_parts("http://h.example", "/new"), 0));
    }

    #[test]
    fn pauses_are_told_by_their_kind_since_the_first_one() {
        let mut watched = Watched::default();
        let mut patience = Patience::default();
        let mut pause = |answered, reason: &str, at: u64| {
            let block = patience.ended(answered, UnixMillis(at)).expect("a pause");
            watched.pauses("http://h.example", &block, reason, UnixMillis(at));
            watched.hosts["http://h.example"].clone()
        };
        let first = pause(Answered::Unreachable, "no connection", 1_000);
        assert_eq!((first.kind, first.in_a_row), (PauseKind::Away, 1));
        let second = pause(Answered::Unreachable, "robots.txt: TLS failed: expired", 90_000_000);
        assert_eq!((second.kind, second.since, second.in_a_row), (PauseKind::Tls, UnixMillis(1_000), 2));
        let third = pause(Answered::Throttled(None), "429", 900_000_000);
        assert_eq!(third.kind, PauseKind::Throttles);
    }

    #[test]
    fn of_a_crawl_that_has_ended_only_the_pauses_of_hosts_stay() {
        let (mut watched, block) =
            (Watched::default(), Patience::default().ended(Answered::Unreachable, UnixMillis(1)));
        for origin in ["http://old.example", "http://h.example"] {
            watched.pauses(origin, block.as_ref().unwrap(), "no connection", UnixMillis(1));
        }
        watched.walls = Some("all URLs of a rule".to_owned());
        let page = poor_page(&CrawlUrl::from_parts("http://h.example", "/list"), UnixMillis(0), "");
        watched.poor_page = Some(Arc::new(page));
        watched.begins(7, |origin| origin == "http://h.example");
        assert_eq!((&watched.walls, &watched.poor_page, watched.rules), (&None, &None, Some(7)));
        assert_eq!(watched.hosts.keys().collect::<Vec<_>>(), ["http://h.example"]);
    }

    #[test]
    fn looks_are_bounded_and_a_page_is_cut() {
        let mut watched = Watched::default();
        let look =
            |list| ListLook { list, class: Class::Index, at: UnixMillis(0), shown: ListShown::Same, path: "".into() };
        (0..2_000).for_each(|list| watched.looked(look(list)));
        assert_eq!((watched.looks.len(), watched.looks.back().unwrap().list), (WATCHED_LOOKS_MAX, 1_999));
        assert_eq!((watched.past.len(), watched.past.back().unwrap().list), (LOOKS_REMEMBERED_MAX, 1_999));
        let url = CrawlUrl::from_parts("http://h.example", "/list");
        let page = poor_page(&url, UnixMillis(0), &"ä".repeat(WATCHED_PAGE_BYTES_MAX));
        assert!(page.text.len() <= WATCHED_PAGE_BYTES_MAX && page.text.len() > WATCHED_PAGE_BYTES_MAX - 4);
    }
}
