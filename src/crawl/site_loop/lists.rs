//! Pages of a list that are read again, because they were read before the page in front of them.
//!
//! A list that grows at its head pushes rows over the ends of its pages while it is read. Read in ascending order it shows some rows
//! twice and hides none. A row that stood on page 20 when page 21 was read, and on page 21 when page 20 was, nobody has seen: so
//! page 21 is read again once history is done, and, where it has changed meanwhile, page 22 behind it, and so on to the end of the
//! list. Looks of the increment at pages that were read before change nothing here: they go on until nothing is new.
//!
//! What waits is written down before the visit that tells of it is, and forgotten behind the visit that settles it. Rows that a list
//! loses while it is read move the other way, and are no matter of this file.

use std::collections::{BTreeMap, HashSet};

use serde::{Deserialize, Serialize};

use super::{SiteLoop, visits};
use crate::clock::UnixMillis;
use crate::crawl::CrawlError;
use crate::crawl::visit::Finished;
use crate::crawldb::{Discovered, HostId, UrlKey};
use crate::frontier::priority;
use crate::limits;

/// The note that keeps what is to be read again.
const LISTS_NOTE: &str = "lists_again";

/// The first page has a name with a number and one without, and is read before it leads to this one.
const SECOND_PAGE: u64 = 2;

/// A list: its host and its series.
type List = (HostId, Box<str>);

/// What is to be read again.
#[derive(Default)]
pub(super) struct Lists {
    /// Pages by their numbers.
    waits: BTreeMap<List, BTreeMap<u64, Page>>,
    /// Pages of lists that were read in this run; the database knows of the earlier ones, and forgets none.
    read: HashSet<u64>,
    /// True once it was told that not all of them find room.
    is_full: bool,
}

struct Page {
    path: Box<str>,
    depth: u16,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waits,
    /// It was made due.
    Due,
    /// It was visited; it goes once that is on the disk.
    Visited,
}

/// A page as the note keeps it.
#[derive(Serialize, Deserialize)]
struct Kept {
    host: HostId,
    series: Box<str>,
    page: u64,
    path: Box<str>,
    depth: u16,
}

impl Lists {
    fn len(&self) -> usize {
        self.waits.values().map(BTreeMap::len).sum()
    }

    fn note(&self) -> Vec<u8> {
        let kept = self.waits.iter().flat_map(|((host, series), pages)| {
            pages.iter().map(|(page, Page { path, depth, .. })| Kept {
                host: *host,
                series: series.clone(),
                page: *page,
                path: path.clone(),
                depth: *depth,
            })
        });
        serde_json::to_vec(&kept.collect::<Vec<Kept>>()).unwrap_or_default()
    }

    fn from_note(note: &[u8]) -> Self {
        let mut lists = Self::default();
        // One that cannot be read is as one that was not written.
        for Kept { host, series, page, path, depth } in serde_json::from_slice::<Vec<Kept>>(note).unwrap_or_default() {
            let pages = lists.waits.entry((host, series)).or_default();
            pages.insert(page, Page { path, depth, state: State::Waits });
        }
        lists
    }

    /// True for a page that was made due to be read again; from now on it was.
    fn visited(&mut self, key: &UrlKey) -> bool {
        let of_host = self.waits.iter_mut().filter(|((host, _), _)| *host == key.host);
        let mut pages = of_host.flat_map(|(_, pages)| pages.values_mut());
        let page = pages.find(|page| page.state == State::Due && page.path == key.path);
        page.map(|page| page.state = State::Visited).is_some()
    }

    /// The first page of each list that waits, where none of the list is under way.
    fn next(&mut self) -> Vec<UrlKey> {
        let first = |((host, _), pages): (&List, &mut BTreeMap<u64, Page>)| {
            let page = pages.values_mut().next().filter(|page| page.state == State::Waits)?;
            page.state = State::Due;
            Some(UrlKey { host: *host, path: page.path.clone() })
        };
        self.waits.iter_mut().filter_map(first).collect()
    }

    fn depth_of(&self, key: &UrlKey) -> u16 {
        let mut pages = self.waits.values().flat_map(BTreeMap::values);
        pages.find(|page| page.path == key.path).map_or(1, |page| page.depth)
    }

    /// What was visited is on the disk.
    fn forget_visited(&mut self) {
        self.waits.values_mut().for_each(|pages| pages.retain(|_, page| page.state != State::Visited));
        self.waits.retain(|_, pages| !pages.is_empty());
    }
}

impl SiteLoop {
    /// Takes up what an earlier run has left.
    pub(super) async fn take_up_lists(&mut self) -> Result<(), CrawlError> {
        if let Some(note) = self.site.db.note(&self.site.rules.name, LISTS_NOTE).await? {
            self.lists = Lists::from_note(&note);
        }
        Ok(())
    }

    /// Notes the page behind one that was read, where it was read before it: at the first reading, and where a page that is read again
    /// has changed.
    pub(super) async fn mind_lists(&mut self, finished: &mut Finished) -> Result<(), CrawlError> {
        let key = &finished.visit.key;
        let was_due = !self.lists.waits.is_empty() && finished.visit.next.due().is_none() && self.lists.visited(key);
        let Some(turn) = finished.turn.take() else { return Ok(()) };
        if self.lists.read.len() < limits::LIST_PAGES_MARKED_MAX {
            self.lists.read.insert(visits::mark(key));
        }
        let Some(behind) = turn.behind.filter(|_| turn.is_first || (was_due && turn.has_changed)) else {
            return Ok(());
        };
        // Who knows of a second page has read the first, be it by another name than this one.
        if behind.page <= SECOND_PAGE {
            return Ok(());
        }
        // One that is under way may be answered as it was before this one.
        let is_overtaken = behind.was_read
            || self.lists.read.contains(&visits::mark(&behind.row.key))
            || self.running_keys.values().any(|key| *key == behind.row.key);
        if !is_overtaken {
            return Ok(());
        }
        if self.lists.len() >= limits::LIST_PAGES_AGAIN_MAX {
            if !std::mem::replace(&mut self.lists.is_full, true) {
                let (site, most) = (&self.site.rules.name, limits::LIST_PAGES_AGAIN_MAX);
                tracing::warn!(%site, most, "more pages of lists were read out of order than are read again");
            }
            return Ok(());
        }
        let UrlKey { host, path } = behind.row.key;
        let page = Page { path, depth: behind.row.depth, state: State::Waits };
        // One that is due already is read after this one in any case.
        let pages = self.lists.waits.entry((host, turn.series)).or_default();
        if pages.get(&behind.page).is_none_or(|known| known.state == State::Visited) {
            pages.insert(behind.page, page);
            let note = self.lists.note();
            if note.len() <= limits::NOTE_BYTES_MAX {
                self.site.db.put_note(&self.site.rules.name, LISTS_NOTE, note).await?;
            }
        }
        Ok(())
    }

    /// Makes pages due that are to be read again, now that history has nothing else. True where there were some.
    pub(super) async fn close_lists(&mut self, idle: bool) -> Result<bool, CrawlError> {
        if self.lists.waits.is_empty() {
            return Ok(false);
        }
        let is_done = match self.crews.history_is_done() {
            Some(is_done) => is_done,
            None => idle && self.only_looks_left().await?,
        };
        if !is_done || self.uncommitted > 0 {
            return Ok(false);
        }
        self.lists.forget_visited();
        let keys = self.lists.next();
        if keys.is_empty() && self.lists.waits.is_empty() {
            self.site.db.put_note(&self.site.rules.name, LISTS_NOTE, Vec::new()).await?;
        }
        if keys.is_empty() {
            return Ok(false);
        }
        let row = |key: UrlKey| Discovered {
            depth: self.lists.depth_of(&key),
            key,
            rank: priority::LIST_AGAIN,
            due: UnixMillis(0),
            via: None,
            is_target: false,
        };
        let rows = keys.into_iter().map(row).collect();
        self.site.db.make_due(rows, self.site.clock.now()).await?;
        self.lease_soon();
        Ok(true)
    }
}
