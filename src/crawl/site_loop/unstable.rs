//! Lists whose order is not stable: rows of one minute change places at each view, so that a row can be on page 4 when page 5 is
//! read, and on page 5 when page 4 is. It was never seen; another one was seen twice. So pages that share a row are read again once
//! history is done, until as many rows came as were seen twice, or passes bring nothing new. Ids that are missing among their rows
//! even then are requested, as far as the rules accept their URLs.
//!
//! A list that grows while it is read shows rows twice as well, and hides none: passes that bring nothing end it.

use std::collections::{BTreeMap, HashMap};

use serde::{Deserialize, Serialize};

use super::{SiteLoop, visits};
use crate::frontier::priority;
use crate::job::{Committed, Finished};
use crate::site::Site;
use crate::{CrawlError, gaps, judging, limits};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_store::crawldb::{Discovered, HostId, Outcome, UrlKey};

/// Name of the note that stores which pages are to be read again.
const UNSTABLE_NOTE: &str = "lists_unstable";

/// Passes in a row without a new row that end the passes of a list.
const EMPTY_PASSES: u8 = 2;

/// A list: its host and its series.
type List = (HostId, Box<str>);

/// Lists of which pages are to be read again.
#[derive(Default)]
pub(super) struct UnstableLists {
    lists: BTreeMap<List, Unstable>,
    /// The last pages of each list, in the order of their first readings.
    read: HashMap<List, Vec<ReadPage>>,
    /// The pages of passes, by their marks.
    in_pass: HashMap<u64, List>,
}

/// Pages of one list that share rows.
#[derive(Default, Serialize, Deserialize)]
struct Unstable {
    /// By path: how far each is from the start pages.
    pages: BTreeMap<Box<str>, u16>,
    /// Rows that were seen twice, less those found since.
    hidden: u32,
    passes: u8,
    /// Passes in a row that found nothing.
    empty: u8,
    /// Rows found in this pass.
    found: u32,
    /// Paths of the rows of these pages, as of the last pass.
    #[serde(skip)]
    rows: Vec<Box<str>>,
}

/// A page after its first reading.
struct ReadPage {
    path: Box<str>,
    depth: u16,
    /// As in `Listing`: sorted.
    targets: Vec<u64>,
}

/// The rows that two adjacent pages share, and neither the page before them nor the page after them has: those are pinned, or stand
/// beside the list. None where it is more than half of a page: the end of a list that repeats.
fn shared(before: Option<&ReadPage>, [first, second]: [&ReadPage; 2], after: Option<&ReadPage>) -> u32 {
    let has = |page: &ReadPage, target: &u64| page.targets.binary_search(target).is_ok();
    let is_aside = |target: &&u64| [before, after].into_iter().flatten().any(|page| has(page, target));
    let shared = first.targets.iter().filter(|target| has(second, target) && !is_aside(target)).count();
    let shorter = first.targets.len().min(second.targets.len());
    if shared * 2 > shorter { 0 } else { u32::try_from(shared).unwrap_or(u32::MAX) }
}

impl UnstableLists {
    /// Restores what an earlier run has left.
    pub(super) async fn take_up(site: &Site) -> Result<Self, CrawlError> {
        let note = site.db.note(&site.rules.name, UNSTABLE_NOTE).await?.unwrap_or_default();
        // An unreadable note counts as a missing one.
        let stored = serde_json::from_slice::<Vec<(List, Unstable)>>(&note).unwrap_or_default();
        let anew = |(list, unstable)| (list, Unstable { passes: 0, found: 0, ..unstable });
        Ok(Self { lists: stored.into_iter().map(anew).collect(), ..Self::default() })
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

    /// Compares a page that was read for the first time with those before it, and collects the rows of a page that was read again.
    pub(super) async fn mind(&mut self, site: &Site, finished: &Finished) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        if let Some(list) = self.in_pass.get(&visits::mark(&visit.key)).and_then(|list| self.lists.get_mut(list)) {
            let targets = visit.outlinks.iter().filter(|row| row.is_target && row.key.host == visit.key.host);
            list.rows.extend(targets.map(|row| row.key.path.clone()));
            return Ok(());
        }
        let (Some(turn), Some(listing)) = (&finished.end.turn, &visit.listing) else { return Ok(()) };
        if turn.last_read.is_some() || turn.is_front_again || listing.targets.is_empty() {
            return Ok(());
        }
        let list = (visit.key.host, listing.series.clone());
        if self.read.len() >= limits::LISTS_COMPARED_MAX && !self.read.contains_key(&list) {
            self.compare_rest();
        }
        let pages = self.read.entry(list.clone()).or_default();
        pages.push(ReadPage { path: visit.key.path.clone(), depth: visit.depth, targets: listing.targets.clone() });
        let is_unstable = match &pages[..] {
            [first, second, after] => compare(&mut self.lists, list, None, [first, second], Some(after)),
            [before, first, second, after] => {
                let is_unstable = compare(&mut self.lists, list, Some(before), [first, second], Some(after));
                pages.remove(0);
                is_unstable
            }
            _ => false,
        };
        if is_unstable { self.keep(site).await } else { Ok(()) }
    }

    /// Compares the last two pages of each list.
    fn compare_rest(&mut self) {
        for (list, pages) in std::mem::take(&mut self.read) {
            let mut from_last = pages.iter().rev();
            if let (Some(second), Some(first)) = (from_last.next(), from_last.next()) {
                compare(&mut self.lists, list, from_last.next(), [first, second], None);
            }
        }
    }

    /// A visit is on disk: counts the rows that a page of a pass has brought.
    pub(super) fn committed(&mut self, committed: &Committed) {
        let was_read = matches!(committed.outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
        // A retry is still to come.
        if committed.queued_again && !was_read {
            return;
        }
        if let Some(list) = self.in_pass.remove(&committed.mark).and_then(|list| self.lists.get_mut(&list)) {
            list.found += committed.receipt.targets_added;
        }
    }

    /// Makes the pages of the next passes due; then what is missing even then. True if there is something.
    pub(super) async fn close(&mut self, site: &Site) -> Result<bool, CrawlError> {
        self.compare_rest();
        if self.lists.is_empty() || !self.in_pass.is_empty() {
            return Ok(false);
        }
        let mut due = Vec::new();
        let mut ended = Vec::new();
        for (list, unstable) in &mut self.lists {
            if unstable.is_ended() {
                ended.push(list.clone());
                continue;
            }
            for (path, depth) in &unstable.pages {
                let key = UrlKey { host: list.0, path: path.clone() };
                self.in_pass.insert(visits::mark(&key), list.clone());
                due.push(row(key, *depth));
            }
        }
        for list in ended {
            if let Some(unstable) = self.lists.remove(&list) {
                due.extend(unstable.missing(site, &list).await?);
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

/// Adds two adjacent pages of a list if they share rows. True if they do.
fn compare(
    lists: &mut BTreeMap<List, Unstable>,
    list: List,
    before: Option<&ReadPage>,
    pair: [&ReadPage; 2],
    after: Option<&ReadPage>,
) -> bool {
    let shared = shared(before, pair, after);
    if shared == 0 || lists.values().map(|list| list.pages.len()).sum::<usize>() >= limits::LIST_PAGES_AGAIN_MAX {
        return false;
    }
    let unstable = lists.entry(list).or_default();
    unstable.hidden += shared;
    unstable.pages.extend(pair.map(|page| (page.path.clone(), page.depth)));
    true
}

impl Unstable {
    /// Ends a pass, or begins the first one. True if there is to be none.
    fn is_ended(&mut self) -> bool {
        if self.passes > 0 {
            self.empty = if self.found == 0 { self.empty + 1 } else { 0 };
            self.hidden = self.hidden.saturating_sub(self.found);
        }
        let is_ended = self.hidden == 0 || self.empty >= EMPTY_PASSES || self.passes >= limits::LIST_PASSES_MAX;
        self.found = 0;
        self.passes += 1;
        if !is_ended {
            self.rows.clear();
        }
        is_ended
    }

    /// URLs of rows that were never seen, by their ids: those that the rules accept and nothing has named yet.
    async fn missing(self, site: &Site, (host, series): &List) -> Result<Vec<Discovered>, CrawlError> {
        let (name, passes) = (&site.rules.name, self.passes - 1);
        tracing::info!(site = %name, list = %series, pages = self.pages.len(), passes, "pages of a list shared rows and were read again");
        let gaps_max = limits::ID_GAPS_MAX.min(self.hidden as usize * 2);
        let Some(origin) = site.rows.numbers.origin(*host) else { return Ok(Vec::new()) };
        let mut missing = Vec::new();
        for path in gaps::between(self.rows.iter().map(|path| &**path), gaps_max) {
            let judged = judging::judge(&site.rules, CrawlUrl::from_parts(&origin, &path));
            let Some(found) = judged.ok().filter(|found| found.class.is_target()) else { continue };
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

impl SiteLoop {
    /// Makes pages of unstable lists due, once history has nothing else. True if there were some.
    pub(super) async fn close_unstable(&mut self, idle: bool) -> Result<bool, CrawlError> {
        if self.unstable.is_empty() || !self.history_is_done(idle).await? || !self.commits.are_all_in() {
            return Ok(false);
        }
        let are_due = self.unstable.close(&self.site).await?;
        if are_due {
            self.hosts.lease_soon();
        }
        Ok(are_due)
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
        assert_eq!(shared(None, [&first, &read(2, &[1, 5, 6])], None), 0, "the end of a list that repeats");
        assert_eq!(shared(None, [&first, &read(2, &[12, 13])], None), 0);
    }

    #[test]
    fn passes_end_with_all_rows_or_after_two_that_found_nothing_or_after_many() {
        let ends = |hidden: u32, found: &[u32]| {
            let mut list = Unstable { hidden, ..Unstable::default() };
            let mut found = found.iter().copied().chain(std::iter::repeat(0));
            let mut passes = 0;
            while !list.is_ended() {
                passes += 1;
                list.found = found.next().unwrap_or(0);
            }
            passes
        };
        assert_eq!(ends(2, &[1, 1]), 2);
        assert_eq!(ends(2, &[2]), 1);
        assert_eq!(ends(1, &[]), 2);
        assert_eq!(ends(3, &[1, 0, 1]), 5);
        assert_eq!(ends(99, &[1; 99]), u32::from(limits::LIST_PASSES_MAX));
    }
}
