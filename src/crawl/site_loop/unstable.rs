//! Lists whose order is not stable: rows of one minute change places at each view, so that a row can be on page 4 when page 5 is
//! read, and on page 5 when page 4 is. It was never seen; another one was seen twice. So pages that share a row are read again once
//! history is done, until as many rows came as were seen twice, or passes bring nothing new. Ids that are missing among their rows
//! even then are requested, as far as the rules accept their URLs.
//!
//! A list that grows while it is read shows rows twice as well, and hides none: its first page is read again before anything else, and
//! each row that is new there explains one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::{Deserialize, Serialize};

use super::visits;
use crate::frontier::priority;
use crate::job::{Committed, Finished};
use crate::site::Site;
use crate::{CrawlError, gaps, judging, limits};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::Class;
use gleaner_store::coverage::listed::{Kind, kind};
use gleaner_store::crawldb::{Discovered, HostId, Outcome, UrlKey};

/// Name of the note that stores which pages are to be read again.
const UNSTABLE_NOTE: &str = "lists_unstable";

/// Passes in a row without a new row that end the passes of a list.
const EMPTY_PASSES: u8 = 2;

/// A list: its host and its series.
type List = (HostId, Box<str>);

/// A page's path, and how far it is from the start pages.
type PagePath = (Box<str>, u16);

/// Lists of which pages are to be read again.
#[derive(Default)]
pub(super) struct UnstableLists {
    lists: BTreeMap<List, Unstable>,
    /// The last pages of each list that were read for the first time.
    read: HashMap<List, ReadPages>,
    /// The pages of passes, by their marks.
    in_pass: HashMap<u64, List>,
    /// URLs that were requested for their ids alone, in this run.
    ids_asked: usize,
}

/// Pages of one list that share rows.
#[derive(Default, Serialize, Deserialize)]
struct Unstable {
    /// By path: how far each is from the start pages.
    pages: BTreeMap<Box<str>, u16>,
    /// The first page that was read, until it was read again.
    front: Option<PagePath>,
    /// Rows that were seen twice, less those found since.
    hidden: u32,
    passes: u8,
    /// Passes in a row that found nothing.
    empty: u8,
    /// Rows found in this pass.
    #[serde(skip)]
    found: BTreeSet<UrlKey>,
    /// A page of this pass was read.
    was_read: bool,
    /// Paths of the rows of these pages, downloads excepted.
    #[serde(skip)]
    rows: BTreeSet<Box<str>>,
}

/// Pages of one list, to be compared.
#[derive(Default)]
struct ReadPages {
    front: Option<PagePath>,
    /// The page before all others, which was compared with the first of them.
    before: Option<ReadPage>,
    /// By number.
    pages: BTreeMap<u64, ReadPage>,
}

/// A page after its first reading.
struct ReadPage {
    path: Box<str>,
    depth: u16,
    /// As in `Listing`: sorted.
    targets: Vec<u64>,
}

/// The rows that two adjacent pages share, and neither the page before them nor the page after them has: those are pinned, or stand
/// beside the list. None where no third page tells that, and where it is more than half of a page: the end of a list that repeats.
fn shared(before: Option<&ReadPage>, [first, second]: [&ReadPage; 2], after: Option<&ReadPage>) -> u32 {
    if before.is_none() && after.is_none() {
        return 0;
    }
    let has = |page: &ReadPage, target: &u64| page.targets.binary_search(target).is_ok();
    let is_aside = |target: &&u64| [before, after].into_iter().flatten().any(|page| has(page, target));
    let shared = first.targets.iter().filter(|target| has(second, target) && !is_aside(target)).count();
    let shorter = first.targets.len().min(second.targets.len());
    if shared * 2 > shorter { 0 } else { u32::try_from(shared).unwrap_or(u32::MAX) }
}

impl ReadPages {
    /// Compares the first two pages with each other, and keeps the first one as the page before the rest. None if fewer are left.
    fn next_pair(&mut self) -> Option<(u32, [PagePath; 2])> {
        let mut pages = self.pages.values();
        let (first, second, after) = (pages.next()?, pages.next()?, pages.next());
        let shared = shared(self.before.as_ref(), [first, second], after);
        let pair = [first, second].map(|page| (page.path.clone(), page.depth));
        self.before = self.pages.pop_first().map(|(_, page)| page);
        Some((shared, pair))
    }
}

impl UnstableLists {
    /// Restores what an earlier run has left.
    pub(super) async fn take_up(site: &Site) -> Result<Self, CrawlError> {
        let note = site.db.note(&site.rules.name, UNSTABLE_NOTE).await?.unwrap_or_default();
        // An unreadable note counts as a missing one.
        let stored = serde_json::from_slice::<Vec<(List, Unstable)>>(&note).unwrap_or_default();
        Ok(Self { lists: stored.into_iter().collect(), ..Self::default() })
    }

    async fn keep(&self, site: &Site) -> Result<(), CrawlError> {
        let stored: Vec<(&List, &Unstable)> = self.lists.iter().collect();
        let note = if stored.is_empty() { Vec::new() } else { serde_json::to_vec(&stored).unwrap_or_default() };
        if note.len() <= limits::NOTE_BYTES_MAX {
            site.db.put_note(&site.rules.name, UNSTABLE_NOTE, note).await?;
        }
        Ok(())
    }

    /// True if no list has pages to be compared or read again.
    pub(super) fn is_empty(&self) -> bool {
        self.lists.is_empty() && self.read.is_empty()
    }

    /// Keeps a page that was read for the first time, to be compared with others; takes in one that was read again.
    pub(super) async fn mind(&mut self, site: &Site, finished: &Finished) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        if let Some(list) = self.in_pass.get(&visits::mark(&visit.key)).and_then(|list| self.lists.get_mut(list)) {
            return list.read_again(site, finished).await;
        }
        let (Some(turn), Some(listing)) = (&finished.end.turn, &visit.listing) else { return Ok(()) };
        let is_list = !listing.targets.is_empty() && listing.targets.len() <= limits::COMPARED_ROWS_MAX;
        if turn.last_read.is_some() || turn.is_front_again || !is_list {
            return Ok(());
        }
        let list = (visit.key.host, listing.series.clone());
        if self.read.len() >= limits::LISTS_COMPARED_MAX && !self.read.contains_key(&list) {
            self.compare_rest();
        }
        let url = (visit.key.path.clone(), visit.depth);
        let read = self.read.entry(list.clone()).or_default();
        read.front.get_or_insert_with(|| url.clone());
        let (path, depth) = url;
        read.pages.insert(listing.page, ReadPage { path, depth, targets: listing.targets.clone() });
        if read.pages.len() > limits::LIST_PAGES_COMPARED_MAX
            && compare_next(&mut self.lists, &list, read) == Some(true)
        {
            self.keep(site).await?;
        }
        Ok(())
    }

    /// Compares what is left of each list.
    fn compare_rest(&mut self) {
        for (list, mut read) in std::mem::take(&mut self.read) {
            while compare_next(&mut self.lists, &list, &mut read).is_some() {}
        }
    }

    /// A visit is on disk.
    pub(super) fn committed(&mut self, committed: &Committed) {
        let was_read = matches!(committed.outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
        // A retry is still to come.
        if committed.queued_again && !was_read {
            return;
        }
        if let Some(list) = self.in_pass.remove(&committed.mark).and_then(|list| self.lists.get_mut(&list)) {
            list.was_read |= was_read;
        }
    }

    /// Makes the pages of the next passes due; then what is missing even then. True if there is something.
    pub(super) async fn close(&mut self, site: &Site) -> Result<bool, CrawlError> {
        self.compare_rest();
        if self.lists.is_empty() || !self.in_pass.is_empty() {
            return Ok(false);
        }
        let (mut due, mut ended) = (Vec::new(), Vec::new());
        for (list, unstable) in &mut self.lists {
            let Some(pages) = unstable.next_pass() else {
                ended.push(list.clone());
                continue;
            };
            for (path, depth) in pages {
                let key = UrlKey { host: list.0, path };
                self.in_pass.insert(visits::mark(&key), list.clone());
                due.push(row(key, depth));
            }
        }
        for list in ended {
            if let Some(unstable) = self.lists.remove(&list) {
                let missing = unstable.missing(site, &list, limits::ID_GAPS_MAX - self.ids_asked).await?;
                self.ids_asked += missing.len();
                due.extend(missing);
            }
        }
        let is_due = !due.is_empty();
        if is_due {
            site.db.make_due(due, site.clock.now()).await?;
        }
        self.keep(site).await?;
        Ok(is_due)
    }
}

/// A page that is read again.
fn row(key: UrlKey, depth: u16) -> Discovered {
    let rank = priority::LIST_AGAIN;
    Discovered { depth, key, rank, due: UnixMillis(0), via: None, is_target: false, found: None }
}

/// Compares the next two pages of a list. Whether they share rows; None if there are no two.
fn compare_next(lists: &mut BTreeMap<List, Unstable>, list: &List, read: &mut ReadPages) -> Option<bool> {
    let (shared, pair) = read.next_pair()?;
    let has_room = lists.values().map(|list| list.pages.len()).sum::<usize>() < limits::LIST_PAGES_AGAIN_MAX;
    if shared == 0 || !has_room {
        return Some(false);
    }
    let unstable = lists.entry(list.clone()).or_default();
    unstable.hidden += shared;
    unstable.pages.extend(pair);
    if unstable.passes == 0 {
        unstable.front = read.front.clone();
    }
    Some(true)
}

impl Unstable {
    /// A page of a pass was read: counts its rows that nothing has named yet, and collects their paths.
    async fn read_again(&mut self, site: &Site, finished: &Finished) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        let details = visit.outlinks.iter().filter(|row| kind(row.rank) == Kind::Detail);
        let rows: Vec<UrlKey> = details.map(|row| row.key.clone()).collect();
        let known = site.db.url_records(rows.clone()).await?;
        // Two pages of a pass may both show it.
        self.found.extend(rows.iter().zip(known).filter(|(_, record)| record.is_none()).map(|(key, _)| key.clone()));
        let paths = rows.into_iter().filter(|key| key.host == visit.key.host).map(|key| key.path);
        self.rows.extend(paths.take(limits::COMPARED_ROWS_MAX));
        Ok(())
    }

    /// Ends a pass. The pages of the next one; None if there is to be none.
    fn next_pass(&mut self) -> Option<Vec<PagePath>> {
        let (found, was_read) = (std::mem::take(&mut self.found).len(), std::mem::take(&mut self.was_read));
        self.hidden = self.hidden.saturating_sub(u32::try_from(found).unwrap_or(u32::MAX));
        if self.passes > 0 && was_read {
            self.empty = if found == 0 { self.empty + 1 } else { 0 };
        }
        if self.hidden == 0 || self.empty >= EMPTY_PASSES || self.passes >= limits::LIST_PASSES_MAX {
            return None;
        }
        if let Some(front) = self.front.take() {
            return Some(vec![front]);
        }
        self.passes += 1;
        Some(self.pages.iter().map(|(path, depth)| (path.clone(), *depth)).collect())
    }

    /// URLs of rows that were never seen, by their ids: at most so many, which the rules accept and nothing has named yet.
    async fn missing(self, site: &Site, (host, series): &List, most: usize) -> Result<Vec<Discovered>, CrawlError> {
        let (name, passes) = (&site.rules.name, self.passes);
        tracing::info!(site = %name, list = %series, pages = self.pages.len(), passes, "pages of a list shared rows and were read again");
        let gaps_max = most.min(self.hidden as usize * 2);
        let Some(origin) = site.rows.numbers.origin(*host) else { return Ok(Vec::new()) };
        let mut missing = Vec::new();
        for path in gaps::between(self.rows.iter().map(|path| &**path), gaps_max) {
            let judged = judging::judge(&site.rules, CrawlUrl::from_parts(&origin, &path));
            let is_page = |found: &crate::job::Found| matches!(found.class, Class::Detail | Class::Thread);
            let Some(found) = judged.ok().filter(is_page) else { continue };
            let depth = self.pages.values().min().map_or(0, |depth| depth.saturating_add(1));
            let Some(row) = site.rows.row(&found.url, found.class, depth).await? else { continue };
            if site.rows.record(&row.key).await?.is_none() {
                tracing::info!(site = %name, url = %found.url.as_str(), "an id is missing among the rows of a list: it is requested");
                missing.push(row);
            }
        }
        Ok(missing)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(number: u64, targets: &[u64]) -> ReadPage {
        ReadPage { path: format!("/board?page={number}").into(), depth: 1, targets: targets.to_vec() }
    }

    #[test]
    fn rows_of_two_adjacent_pages_are_shared_pinned_ones_and_repeated_pages_are_not() {
        let (first, second) = (read(1, &[1, 5, 6, 7, 8]), read(2, &[1, 8, 9, 10, 11]));
        assert_eq!(shared(None, [&first, &second], Some(&read(3, &[1, 12, 13]))), 1);
        assert_eq!(
            shared(Some(&read(0, &[8])), [&first, &second], None),
            1,
            "row 1, and no page shows that it is pinned"
        );
        assert_eq!(shared(None, [&first, &second], None), 0, "two pages do not tell what is pinned");
        assert_eq!(
            shared(Some(&read(0, &[])), [&first, &read(2, &[1, 5, 6])], None),
            0,
            "the end of a list that repeats"
        );
        assert_eq!(shared(None, [&first, &read(2, &[12, 13])], Some(&read(3, &[]))), 0);
    }

    #[test]
    fn pages_are_compared_in_the_order_of_their_numbers() {
        let mut pages = ReadPages::default();
        for number in [1, 3, 2, 4] {
            pages.pages.insert(number, read(number, &[number * 10, number * 10 + 1, (number + 1) * 10]));
        }
        let shared: Vec<u32> = std::iter::from_fn(|| pages.next_pair()).map(|(shared, _)| shared).collect();
        assert_eq!(shared, [1, 1, 1]);
    }

    fn rows(count: u32) -> BTreeSet<UrlKey> {
        (0..count).map(|row| UrlKey { host: HostId(1), path: format!("/t/{row}").into() }).collect()
    }

    #[test]
    fn passes_end_with_all_rows_or_after_two_that_found_nothing_or_after_many() {
        let ends = |hidden: u32, found: &[u32]| {
            let mut list = Unstable { hidden, ..Unstable::default() };
            let mut found = found.iter().copied().chain(std::iter::repeat(0));
            let mut passes = 0;
            while list.next_pass().is_some() {
                passes += 1;
                (list.found, list.was_read) = (rows(found.next().unwrap_or(0)), true);
            }
            passes
        };
        assert_eq!(ends(2, &[1, 1]), 2);
        assert_eq!(ends(2, &[2]), 1);
        assert_eq!(ends(1, &[]), 2);
        assert_eq!(ends(3, &[1, 0, 1]), 5);
        assert_eq!(ends(99, &[1; 99]), u32::from(limits::LIST_PASSES_MAX));
        // Its growth explains all rows that were seen twice.
        let mut grown = Unstable { hidden: 2, front: Some(("/board".into(), 1)), ..Unstable::default() };
        assert_eq!(grown.next_pass().unwrap().len(), 1);
        (grown.found, grown.was_read) = (rows(2), true);
        assert_eq!(grown.next_pass(), None);
    }
}
