//! Lists that continue beyond their last page: every further number shows the same page again, with a link to the next one.
//!
//! A page ends its list if half of what it shows or more is on the preceding page, and of that one on the one before it, and so on for some
//! twenty pages: the list may grow meanwhile, and fewer are alike when a failing server answers every request with one page, or when as many rows
//! were added as a page holds. What they show must be rows: most of its targets, and more than a few, must be missing on the page before
//! them all. Pages without rows of their own (removed, or of a kind that the rules do not accept) are alike because of what every page of
//! the site shows, and others may follow. So a list whose first page is its last is left to the budget of its shape, as are links that are
//! generated anew at each view; and pages that a preceding page announces are read.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use crate::job::{Found, Job, PageFindings};
use crate::limits::{LIST_REPEATS, REPEATS_LISTS_MAX, REPEATS_PAGES_MAX, REPEATS_TARGETS_MAX};
use crate::series::place;
use gleaner_page::pagination;
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::HostId;

/// Content of the most recently read pages of a site's lists.
#[derive(Debug, Default)]
pub struct Repeats {
    lists: Mutex<Lists>,
}

#[derive(Debug, Default)]
struct Lists {
    known: HashMap<(HostId, String), List>,
    /// Number of pages that were read.
    read: u64,
}

#[derive(Debug, Default)]
struct List {
    pages: VecDeque<Page>,
    /// Value of `Lists::read` when one of its pages was last read.
    read_at: u64,
}

/// A page of a list that was read.
#[derive(Debug)]
struct Page {
    /// The first page may also have a URL without a number: it is 1.
    number: u64,
    /// Hashes of its targets, sorted.
    targets: Arc<[u64]>,
    /// The largest page number of its list that it links.
    announces: u64,
    /// Number of directly preceding pages that show the same, and what the page before them shows and announces.
    same: usize,
    other: Option<(Arc<[u64]>, u64)>,
}

impl Repeats {
    /// Adds a page of a list, by its number, its targets and the largest number that it links; true if it ends its list.
    fn is_end(&self, list: (HostId, String), number: u64, targets: &BTreeSet<u64>, announces: u64) -> bool {
        // The state stays usable after a panic elsewhere.
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        let Lists { known, read } = &mut *lists;
        *read += 1;
        if known.len() >= REPEATS_LISTS_MAX && !known.contains_key(&list) {
            let oldest = known.iter().min_by_key(|(_, list)| list.read_at).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| known.remove(&oldest));
        }
        let list = known.entry(list).or_default();
        list.read_at = *read;
        let page = list.place(number.max(1), targets, announces);
        let is_end = page.is_end();
        list.pages.retain(|of| of.number != page.number);
        list.pages.push_back(page);
        list.pages.drain(..list.pages.len().saturating_sub(REPEATS_PAGES_MAX));
        is_end
    }

    /// If a page ends its list, removes its links to later pages; true if it does.
    #[must_use]
    pub fn end_list(&self, rules: &SiteRules, job: &Job, read: &mut PageFindings) -> bool {
        let Some((series, number)) = place(rules, job) else { return false };
        let number_of = |found: &Found| {
            if found.class != job.class || found.url.origin() != job.url.origin() {
                return None;
            }
            let place = pagination::of(found.url.path(), found.page_capture)?;
            (place.series == series).then_some(place.number)
        };
        let targets = read.found.iter().filter(|found| found.class.is_target()).map(|found| found.url.as_str());
        let targets = targets.chain(read.magnets.iter().map(|magnet| &*magnet.link));
        let targets = targets.map(|target| xxh3_64(target.as_bytes())).collect();
        let announces = read.found.iter().filter_map(number_of).max().unwrap_or_default();
        let is_end = self.is_end((job.lease.key.host, series.clone()), number, &targets, announces);
        if is_end {
            read.found.retain(|found| number_of(found).is_none_or(|of| of <= number));
        }
        is_end
    }
}

impl List {
    fn place(&self, number: u64, targets: &BTreeSet<u64>, announces: u64) -> Page {
        let taken = if targets.len() > REPEATS_TARGETS_MAX { 0 } else { targets.len() };
        let targets: Arc<[u64]> = targets.iter().copied().take(taken).collect();
        let in_front = self.pages.iter().filter(|of| of.number < number).max_by_key(|of| of.number);
        let shared = |of: &Page| targets.iter().filter(|target| of.targets.binary_search(target).is_ok()).count();
        let (same, other) = match in_front {
            Some(of) if shared(of) * 2 >= targets.len().max(1) => (of.same + 1, of.other.clone()),
            Some(of) => (0, Some((Arc::clone(&of.targets), of.announces))),
            None => (0, None),
        };
        Page { number, targets, announces, same, other }
    }
}

impl Page {
    fn is_end(&self) -> bool {
        let Some((other, announced)) = self.other.as_ref().filter(|_| self.same >= LIST_REPEATS) else {
            return false;
        };
        let own = self.targets.iter().filter(|target| other.binary_search(target).is_err()).count();
        own * 2 > self.targets.len() && own * 4 >= other.len() && *announced <= self.number
    }
}

#[cfg(test)]
mod tests;
