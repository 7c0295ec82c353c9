//! Pages of a list that are read again, because they were read before the preceding page.
//!
//! A list that grows at its head pushes rows over the ends of its pages while it is read. Read in ascending order it shows some rows
//! twice and hides none. A row that was on page 20 when page 21 was read, and on page 21 when page 20 was, was never seen: so
//! page 21 is read again once history is done, and, if it has changed meanwhile, the following page 22, and so on to the end of the
//! list. The increment's rechecks of known pages are not affected: they go on until nothing is new.
//!
//! One page shows whether a list has not moved: of all waiting pages, the one that was read the longest time ago is read first. If its
//! content is the same as then, nothing was added before it since, and none of the waiting pages of its list are read again.
//!
//! Waiting pages are stored before the visit that reports them, and removed after the visit that settles them. Rows that a list
//! loses while it is read move the other way, and are not handled here.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::visits;
use crate::CrawlError;
use crate::frontier::priority;
use crate::job::{Finished, Turn};
use crate::limits;
use crate::site::Site;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{Discovered, HostId, UrlKey};

/// Name of the note that stores what is to be read again.
const LISTS_NOTE: &str = "lists_again";

/// The first page has a URL with a number and one without, and is read before it leads to this one.
const SECOND_PAGE: u64 = 2;

/// A list: its host and its series.
type List = (HostId, Box<str>);

/// Pages to be read again.
#[derive(Default)]
pub(super) struct Lists {
    waits: BTreeMap<List, Waiting>,
    /// Pages of lists that were read in this run; the database knows the earlier ones, all of them.
    read: HashSet<u64>,
    /// True once it was logged that not all of them have room.
    is_full: bool,
}

/// Waiting pages of one list.
#[derive(Default)]
struct Waiting {
    /// By page number.
    pages: BTreeMap<u64, Page>,
    /// A page of it has changed: all of them are read again, in ascending order.
    has_moved: bool,
}

struct Page {
    path: Box<str>,
    depth: u16,
    /// When it was read, before the preceding page was.
    read_at: UnixMillis,
    state: RevisitState,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RevisitState {
    Waits,
    /// It was made due.
    Due,
    /// It was visited, or need not be; it is removed once that is on disk.
    Settled,
}

/// The stored form of a page.
#[derive(Serialize, Deserialize)]
struct StoredPage {
    host: HostId,
    series: Box<str>,
    page: u64,
    path: Box<str>,
    depth: u16,
    /// Zero in older notes: such a page counts as changed.
    #[serde(default)]
    read_at: UnixMillis,
}

/// Result of visiting a page that was made due.
struct VisitResult {
    /// Time of the previous reading.
    last_read: Option<UnixMillis>,
    has_changed: bool,
}

impl Lists {
    fn len(&self) -> usize {
        self.waits.values().map(|list| list.pages.len()).sum()
    }

    fn note(&self) -> Vec<u8> {
        let kept = self.waits.iter().flat_map(|((host, series), list)| {
            list.pages.iter().map(|(page, Page { path, depth, read_at, .. })| StoredPage {
                host: *host,
                series: series.clone(),
                page: *page,
                path: path.clone(),
                depth: *depth,
                read_at: *read_at,
            })
        });
        match self.waits.is_empty() {
            true => Vec::new(),
            false => serde_json::to_vec(&kept.collect::<Vec<StoredPage>>()).unwrap_or_default(),
        }
    }

    fn from_note(note: &[u8]) -> Self {
        let mut lists = Self::default();
        // An unreadable note counts as a missing one.
        for StoredPage { host, series, page, path, depth, read_at } in
            serde_json::from_slice::<Vec<StoredPage>>(note).unwrap_or_default()
        {
            let list = lists.waits.entry((host, series)).or_default();
            list.pages.insert(page, Page { path, depth, read_at, state: RevisitState::Waits });
        }
        lists
    }

    /// True for a page that was made due to be read again; it counts as read from now on. If it has not changed, and was not read since,
    /// its list has not moved: none of its pages wait any more.
    fn visited(&mut self, key: &UrlKey, shown: Option<VisitResult>) -> bool {
        let of_host = self.waits.iter_mut().filter(|((host, _), _)| *host == key.host);
        for list in of_host.map(|(_, list)| list) {
            let due = list.pages.values_mut().find(|page| page.state == RevisitState::Due && page.path == key.path);
            let Some(page) = due else { continue };
            page.state = RevisitState::Settled;
            let rests = shown.is_some_and(|VisitResult { last_read, has_changed }| {
                !has_changed && last_read.is_some_and(|last| last <= page.read_at)
            });
            if rests && !list.has_moved {
                list.pages.values_mut().for_each(|page| page.state = RevisitState::Settled);
            }
            list.has_moved |= !rests;
            return true;
        }
        false
    }

    /// The next page of each list without one in flight: the one that was read the longest time ago, or the first one if the list is
    /// known to have moved.
    fn next(&mut self) -> Vec<(UrlKey, u16)> {
        let next = |((host, _), list): (&List, &mut Waiting)| {
            let mut pages = list.pages.values_mut();
            let page = match list.has_moved {
                true => pages.next(),
                false => pages.min_by_key(|page| page.read_at),
            };
            let page = page.filter(|page| page.state == RevisitState::Waits)?;
            page.state = RevisitState::Due;
            Some((UrlKey { host: *host, path: page.path.clone() }, page.depth))
        };
        let is_free = |list: &Waiting| list.pages.values().all(|page| page.state != RevisitState::Due);
        self.waits.iter_mut().filter(|(_, list)| is_free(list)).filter_map(next).collect()
    }

    /// Removes settled pages that are on disk. True if there were any.
    fn forget_settled(&mut self) -> bool {
        let before = self.len();
        self.waits.values_mut().for_each(|list| list.pages.retain(|_, page| page.state != RevisitState::Settled));
        self.waits.retain(|_, list| !list.pages.is_empty());
        self.len() < before
    }

    /// Restores what an earlier run has left.
    pub(super) async fn take_up(site: &Site) -> Result<Self, CrawlError> {
        let note = site.db.note(&site.rules.name, LISTS_NOTE).await?;
        Ok(note.map(|note| Self::from_note(&note)).unwrap_or_default())
    }

    /// Records the page after the given one if it was read earlier: at the first reading of the given page, and if a page that is read
    /// again has changed. `is_under_way` if a visit of that following page is in flight.
    pub(super) async fn mind(
        &mut self,
        site: &Site,
        finished: &mut Finished,
        is_under_way: bool,
    ) -> Result<(), CrawlError> {
        let turn = finished.end.turn.take();
        let key = &finished.visit.key;
        let shown = turn.as_ref().map(|Turn { last_read, has_changed, .. }| VisitResult {
            last_read: *last_read,
            has_changed: *has_changed,
        });
        let was_due = !self.waits.is_empty() && finished.visit.next.due().is_none() && self.visited(key, shown);
        let Some(turn) = turn else { return Ok(()) };
        if self.read.len() < limits::LIST_PAGES_MARKED_MAX {
            self.read.insert(visits::mark(key));
        }
        let is_first = turn.last_read.is_none();
        let Some(behind) = turn.behind.filter(|_| is_first || (was_due && turn.has_changed)) else {
            return Ok(());
        };
        // A page that links the second one was reached from the first, if under another URL than this one.
        if turn.is_front_again || behind.page <= SECOND_PAGE {
            return Ok(());
        }
        // One in flight may get a response older than this page; one that the database does not know yet has been read by now.
        let is_in_hand = self.read.contains(&visits::mark(&behind.row.key)) || is_under_way;
        let Some(read_at) = behind.last_read.or(is_in_hand.then(|| site.clock.now())) else { return Ok(()) };
        if self.len() >= limits::LIST_PAGES_AGAIN_MAX {
            if !std::mem::replace(&mut self.is_full, true) {
                let (site, most) = (&site.rules.name, limits::LIST_PAGES_AGAIN_MAX);
                tracing::warn!(%site, most, "too many list pages were read out of order: some are not read again");
            }
            return Ok(());
        }
        let UrlKey { host, path } = behind.row.key;
        let page = Page { path, depth: behind.row.depth, read_at, state: RevisitState::Waits };
        // A page that is due already is read after this one in any case.
        let list = self.waits.entry((host, turn.series)).or_default();
        list.has_moved |= was_due;
        if list.pages.get(&behind.page).is_none_or(|known| known.state == RevisitState::Settled) {
            list.pages.insert(behind.page, page);
            self.keep(site).await?;
        }
        Ok(())
    }

    async fn keep(&self, site: &Site) -> Result<(), CrawlError> {
        let note = self.note();
        if note.len() <= limits::NOTE_BYTES_MAX {
            site.db.put_note(&site.rules.name, LISTS_NOTE, note).await?;
        }
        Ok(())
    }

    pub(super) fn is_empty(&self) -> bool {
        self.waits.is_empty()
    }

    /// Makes pages due that are to be read again. True if there were some.
    pub(super) async fn close(&mut self, site: &Site) -> Result<bool, CrawlError> {
        if self.forget_settled() {
            self.keep(site).await?;
        }
        let row = |(key, depth): (UrlKey, u16)| Discovered {
            depth,
            key,
            rank: priority::LIST_AGAIN,
            due: UnixMillis(0),
            via: None,
            is_target: false,
            found: None,
        };
        let rows: Vec<Discovered> = self.next().into_iter().map(row).collect();
        if rows.is_empty() {
            return Ok(false);
        }
        site.db.make_due(rows, site.clock.now()).await?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests;
