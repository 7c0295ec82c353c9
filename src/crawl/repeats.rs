//! Lists that go on beyond their last page: behind it each number shows the same page again, with a link to the next one.
//!
//! A page ends its list where it links what each of the two pages read in front of it links, pages of the list apart: one alone may
//! have been read just before as many rows came as a page holds. What it shows must have rows among it: a target that the page in front of
//! the three does not show. Pages without rows of their own (taken out, or of a kind that the rules do not take) are alike by what stands on
//! every page, and others may follow. So a list whose first page is its last is left to the budget of its shape, as are links that
//! are made anew at each view.

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
/// Of so many different ones the targets are remembered, where they are no more than so many. 8 bytes each.
const SHOWN_MAX: usize = 4;
const TARGETS_MAX: usize = 400;
/// Lists of which pages are remembered; all are forgotten behind so many, and begin anew.
const LISTS_MAX: usize = 1_024;

/// What the pages of a site's lists linked that were read last.
#[derive(Debug, Default)]
pub struct Repeats {
    lists: Mutex<HashMap<(HostId, String), List>>,
}

#[derive(Debug, Default)]
struct List {
    /// Numbers of pages, and what each linked, as one number.
    pages: VecDeque<(u64, u64)>,
    /// By that number, the targets among it, sorted.
    shown: VecDeque<(u64, Box<[u64]>)>,
}

impl Repeats {
    /// Takes in what a page links, as one number, and the targets among it; true where it ends its list.
    fn is_end(&self, list: (HostId, String), page: u64, links: u64, targets: &BTreeSet<u64>) -> bool {
        // What is remembered stays usable after a panic elsewhere.
        let mut lists = self.lists.lock().unwrap_or_else(PoisonError::into_inner);
        if lists.len() >= LISTS_MAX && !lists.contains_key(&list) {
            lists.clear();
        }
        let list = lists.entry(list).or_default();
        // The first page may be known by a name without a number as well.
        let page = page.max(1);
        let is_end = list.ends_at(page, links, targets);
        list.pages.retain(|(of, _)| *of != page);
        list.pages.push_back((page, links));
        list.pages.drain(..list.pages.len().saturating_sub(PAGES_MAX));
        if targets.len() <= TARGETS_MAX && list.shown.iter().all(|(of, _)| *of != links) {
            list.shown.push_back((links, targets.iter().copied().collect()));
            list.shown.drain(..list.shown.len().saturating_sub(SHOWN_MAX));
        }
        is_end
    }
}

impl List {
    fn ends_at(&self, page: u64, links: u64, targets: &BTreeSet<u64>) -> bool {
        let mut in_front: Vec<(u64, u64)> = self.pages.iter().copied().filter(|(of, _)| *of < page).collect();
        in_front.sort_unstable();
        let mut in_front = in_front.iter().rev().map(|(_, of)| *of).skip_while(|of| *of == links);
        let same = self.pages.iter().filter(|(of, _)| *of < page).count() - in_front.clone().count();
        let other = in_front.next().and_then(|other| self.shown.iter().find(|(of, _)| *of == other));
        let has_rows = |(_, before): &(u64, Box<[u64]>)| targets.iter().any(|of| before.binary_search(of).is_err());
        same >= SAME_PAGES && other.is_some_and(has_rows)
    }
}

/// Takes out the links of a page that ends its list to pages behind it; true where it does.
pub fn end_list(site: &Site, job: &Job, read: &mut PageFindings) -> bool {
    let Some((series, page)) = outlinks::place(&site.rules, job) else { return false };
    let place_of = |found: &Found| pagination::of(found.url.path(), found.page_capture);
    let path_of = |path: &str| path.split('?').next().unwrap_or_default().to_owned();
    let own_path = path_of(job.url.path());
    // The pager, and that of the same list in another order, move with the page; rows may be lists with a number in their names.
    let is_pager = |found: &Found| {
        found.class.is_listing()
            && place_of(found).is_some_and(|place| place.series == series || path_of(found.url.path()) == own_path)
    };
    let named = |found: &Found| xxh3_64(if is_pager(found) { b"pager" } else { found.url.as_str().as_bytes() });
    let magnets = read.magnets.iter().map(|magnet| xxh3_64(magnet.link.as_bytes()));
    let is_target = |found: &&Found| found.class.is_target();
    let targets: BTreeSet<u64> = read.found.iter().filter(is_target).map(named).chain(magnets).collect();
    let unclassed = read.unclassed.iter().map(|path| xxh3_64(path.as_bytes()));
    let links: BTreeSet<u64> = read.found.iter().map(named).chain(targets.iter().copied()).chain(unclassed).collect();
    let links = xxh3_64(&links.iter().flat_map(|link| link.to_le_bytes()).collect::<Vec<u8>>());
    let is_end = site.repeats.is_end((job.lease.key.host, series.clone()), page, links, &targets);
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
    use std::sync::Arc;

    use super::*;
    use crate::clock::{SystemClock, UnixMillis};
    use crate::crawldb::memory_store::MemoryStore;
    use crate::crawldb::{Lease, UrlKey};
    use crate::fetch::{FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
    use crate::frontier::crews::Crew;
    use crate::rules::Class;
    use crate::url::{Canonical, CrawlUrl};

    #[test]
    fn a_list_ends_at_the_third_page_that_shows_the_same_rows() {
        let (repeats, list) = (Repeats::default(), || (HostId(0), "/board?page={page}".to_owned()));
        // Each shows a target by its own number.
        let read = |page, links| repeats.is_end(list(), page, links, &BTreeSet::from([links]));
        assert!(!read(1, 7) && !read(2, 8) && !read(3, 9));
        // Page 4 shows what page 3 does, which may have been read before rows came; read again, it is itself.
        assert!(!read(4, 9) && !read(4, 9) && read(5, 9) && read(6, 9));
        assert!(!repeats.is_end((HostId(1), list().1), 7, 9, &BTreeSet::from([9])) && read(7, 9));
        // The pages in front count, and none behind.
        assert!(!read(4, 9) && !read(8, 1) && !read(9, 9) && !read(10, 9) && read(11, 9));
        // Without a target that the page in front of them lacks.
        let bare = |page| repeats.is_end(list(), page, 5, &BTreeSet::from([9]));
        assert!(!bare(12) && !bare(13) && !bare(14) && !bare(15));
    }

    #[test]
    fn the_first_page_under_two_names_is_one() {
        let (repeats, list) = (Repeats::default(), || (HostId(0), "/board".to_owned()));
        let read = |page, links| repeats.is_end(list(), page, links, &BTreeSet::from([links]));
        assert!(!read(0, 7) && !read(1, 7) && !read(2, 7) && !read(3, 7), "nor is anything in front of them");
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let repeats = Repeats::default();
        for number in 0..3 * LISTS_MAX as u64 {
            let targets = (0..number).collect();
            repeats.is_end((HostId(0), format!("/{number}")), 1, 1, &targets);
            repeats.is_end((HostId(0), "/board".to_owned()), number, number, &targets);
        }
        let lists = repeats.lists.lock().unwrap();
        let is_bounded = |list: &List| {
            let targets = list.shown.iter().map(|(_, targets)| targets.len()).sum::<usize>();
            list.pages.len() <= PAGES_MAX && list.shown.len() <= SHOWN_MAX && targets <= SHOWN_MAX * TARGETS_MAX
        };
        assert!(lists.len() <= LISTS_MAX && lists.values().all(is_bounded));
    }

    struct NoTransport;

    #[async_trait::async_trait]
    impl Transport for NoTransport {
        async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
            panic!("{}", request.url)
        }

        async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
            panic!("{url}")
        }
    }

    /// Which of nine pages end their list.
    fn ends(index: &str, rows: impl Fn(u64) -> String) -> Vec<u64> {
        let rules = format!(
            "start = ['http://site.example/']\n[classes]\nindex = ['^/$', {index}]\ndetail = ['^/detail/']\ndownload = ['\\.torrent$']\n"
        );
        let rules = crate::rules::from_text("site", &rules).unwrap_or_else(|faults| panic!("{faults:?}"));
        let site = Site::new(rules, Arc::new(NoTransport), Arc::new(SystemClock), Arc::new(MemoryStore::default()));
        let is_end = |page: &u64| {
            let path = format!("/board?page={page}");
            let url = CrawlUrl::parse(&format!("http://site.example{path}"), &Canonical::default()).unwrap();
            let lease = Lease {
                key: UrlKey { host: HostId(1), path: path.into() },
                depth: 0,
                rank: 0,
                attempts: 0,
                via: None,
                memo: None,
                deadline: UnixMillis(0),
                found: None,
            };
            let headers = ResponseHeaders { content_type: Some("text/html".to_owned()), ..ResponseHeaders::default() };
            let next = page + 1;
            let body = format!(
                "{}<a href='/board?page={next}'>next</a><a href='/board?page={next}&amp;sort=name'>by name</a>",
                rows(*page)
            );
            let job = Job { lease, url, class: Class::Index, rule: 0, crew: Crew::History };
            let mut read = outlinks::read_page(&site, &job, &headers, body.as_bytes());
            assert!(!read.found.is_empty(), "{body}");
            let is_end = end_list(&site, &job, &mut read);
            assert_eq!(is_end, read.found.iter().all(|found| found.url.path() != format!("/board?page={next}")));
            is_end
        };
        (1..=9).filter(is_end).collect()
    }

    fn featured(rows: impl Iterator<Item = String>) -> String {
        format!("<aside><a href=/detail/featured>f</a></aside>{}", rows.collect::<String>())
    }

    #[test]
    fn rows_are_told_from_what_stands_on_every_page() {
        let row = |of: &str, row: u64| format!("<li><a href=/{of}{row}>p</a>");
        let details = |page: u64| featured((0..10).map(|at| row("detail/", page * 10 + at)));
        assert_eq!(ends("'^/board'", |page| details(page.min(5))), [7, 8, 9]);
        assert_eq!(ends("'^/board'", |page| details(if page > 5 { 1 } else { page })), [8, 9], "the first one again");
        // Pages 3 to 5 hold rows of a kind that the operator does not take, or none.
        let others = |page: u64| match page {
            3..=5 => featured((0..10).map(|at| row("music/", page * 10 + at))),
            _ => details(page),
        };
        assert_eq!(ends("'^/board'", others), [0; 0]);
        let none = |page: u64| if (3..=6).contains(&page) { featured(std::iter::empty()) } else { details(page) };
        assert_eq!(ends("'^/board'", none), [0; 0]);
        // Rows that are lists with a number in their names.
        let packs = |page: u64| featured((0..10).map(|at| row("pack-", page * 10 + at).replace(">p", ".html>p")));
        assert_eq!(ends(r"'^/board', '^/pack-\d+\.html$'", packs), [0; 0]);
    }
}
