//! Lists that go on beyond their last page: behind it each number shows the same page again, with a link to the next one.
//!
//! A page ends its list where it links what each of the two pages read in front of it links, page for page of the list apart: one alone may
//! have been read just before as many rows came as a page holds. Links that are made anew at each view tell nothing, and are left to the
//! budget of their shape.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Mutex, PoisonError};

use xxhash_rust::xxh3::xxh3_64;

use super::outlinks::{self, PageFindings};
use super::site::{Found, Site};
use super::visit::Job;
use crate::crawldb::HostId;
use crate::page::pagination;

/// Pages read in front of one that show the same, by which it ends its list.
const SAME_PAGES: usize = 2;
/// Pages of a list that are remembered: more than are under way at a time. 16 bytes each.
const PAGES_MAX: usize = 64;
/// Lists of which pages are remembered; all are forgotten behind so many, and begin anew.
const LISTS_MAX: usize = 1_024;

/// What the pages of a site's lists linked that were read last.
#[derive(Debug, Default)]
pub struct Repeats {
    lists: Mutex<HashMap<(HostId, String), VecDeque<(u64, u64)>>>,
}

impl Repeats {
    /// Takes in what a page links, as one number; true where it ends its list.
    fn is_end(&self, list: (HostId, String), page: u64, links: u64) -> bool {
        // What is remembered stays usable after a panic elsewhere.
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= LISTS_MAX && !lists.contains_key(&list) {
            lists.clear();
        }
        let pages = lists.entry(list).or_default();
        pages.retain(|(of, _)| *of != page);
        let mut in_front: Vec<(u64, u64)> = pages.iter().copied().filter(|(of, _)| *of < page).collect();
        in_front.sort_unstable();
        let nearest = in_front.iter().rev().take(SAME_PAGES);
        let same = nearest.filter(|(_, of)| *of == links).count();
        if pages.len() == PAGES_MAX {
            pages.pop_front();
        }
        pages.push_back((page, links));
        same == SAME_PAGES
    }
}

/// Takes out the links of a page that ends its list to pages behind it; true where it does.
pub fn end_list(site: &Site, job: &Job, read: &mut PageFindings) -> bool {
    let Some((series, page)) = outlinks::place(&site.rules, job) else { return false };
    let place_of = |found: &Found| pagination::of(found.url.path(), found.page_capture);
    // Pagers of this and of other lists, as those of another order, move with the page.
    let named = |found: &Found| match place_of(found).filter(|_| found.class.is_listing()) {
        Some(place) => xxh3_64(place.series.as_bytes()),
        None => xxh3_64(found.url.as_str().as_bytes()),
    };
    let magnets = read.magnets.iter().map(|magnet| xxh3_64(magnet.link.as_bytes()));
    let links: BTreeSet<u64> = read.found.iter().map(named).chain(magnets).collect();
    let links = xxh3_64(&links.iter().flat_map(|link| link.to_le_bytes()).collect::<Vec<u8>>());
    let has_rows = !read.magnets.is_empty() || read.found.iter().any(|found| found.class.is_target());
    let is_end = has_rows && site.repeats.is_end((job.lease.key.host, series.clone()), page, links);
    if is_end {
        let is_behind = |found: &Found| {
            found.class == job.class
                && found.url.origin() == job.url.origin()
                && place_of(found).is_some_and(|place| place.series == series && place.number > page)
        };
        read.found.retain(|found| !is_behind(found));
    }
    is_end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_ends_at_the_third_page_that_shows_the_same() {
        let (repeats, list) = (Repeats::default(), || (HostId(0), "/board?page={page}".to_owned()));
        let read = |page, links| repeats.is_end(list(), page, links);
        assert!(!read(1, 7) && !read(2, 8) && !read(3, 9));
        // Page 4 shows what page 3 does, which may have been read before rows came; read again, it is itself.
        assert!(!read(4, 9) && !read(4, 9) && read(5, 9) && read(6, 9));
        assert!(!repeats.is_end((HostId(1), list().1), 7, 9) && read(7, 9));
        // The pages in front count, and none behind.
        assert!(!read(4, 9) && !read(8, 1) && !read(9, 9) && !read(10, 9) && read(11, 9));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let repeats = Repeats::default();
        for number in 0..3 * LISTS_MAX as u64 {
            repeats.is_end((HostId(0), format!("/{number}")), 1, 1);
            repeats.is_end((HostId(0), "/board".to_owned()), number, number);
        }
        let lists = repeats.lists.lock().unwrap();
        assert!(lists.len() <= LISTS_MAX && lists.values().all(|pages| pages.len() <= PAGES_MAX));
    }
}
