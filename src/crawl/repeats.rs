//! Lists that continue beyond their last page: every further number shows the same page again, with a link to the next one.
//!
//! A page ends its list if it shows most of what the preceding page shows, as that one does of the one before it, and so on for some twenty
//! pages: the list may grow meanwhile, and fewer are alike when a failing server answers every request with one page, or when as many rows
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
            let is_beside = found.class == job.class && found.url.origin() == job.url.origin();
            let place = pagination::of(found.url.path(), found.page_capture).filter(|_| is_beside)?;
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
            Some(of) if shared(of) * 2 > targets.len() => (of.same + 1, of.other.clone()),
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
mod tests {
    use super::*;
    use crate::frontier::crews::Crew;
    use crate::outlinks::read_page;
    use crate::sitemaps::Sitemaps;
    use gleaner_base::clock::UnixMillis;
    use gleaner_base::url::{Canonical, CrawlUrl};
    use gleaner_net::fetch::ResponseHeaders;
    use gleaner_rules::Class;
    use gleaner_store::crawldb::{Lease, UrlKey};

    const REPEATS: u64 = LIST_REPEATS as u64;

    fn list(host: u32) -> (HostId, String) {
        (HostId(host), "/board?page={page}".to_owned())
    }

    /// Adds a page that announces the next one.
    fn read(repeats: &Repeats, number: u64, targets: std::ops::Range<u64>) -> bool {
        repeats.is_end(list(0), number, &targets.collect(), number + 1)
    }

    #[test]
    fn a_list_ends_where_many_pages_show_the_same_rows() {
        let repeats = Repeats::default();
        assert!((1..=3).all(|page| !read(&repeats, page, page * 10..page * 10 + 10)));
        // Page 3 is the last; a page that is read again is equal to itself.
        let again = |page| read(&repeats, page, 30..40);
        assert!((4..3 + REPEATS).all(|page| !again(page) && !again(page)) && again(3 + REPEATS));
        assert!(!repeats.is_end(list(1), 4 + REPEATS, &(30..40).collect(), 0) && again(4 + REPEATS));
        assert!(!read(&repeats, 5 + REPEATS, 40..50), "another page");
    }

    #[test]
    fn a_list_that_grows_meanwhile_ends_all_the_same() {
        let repeats = Repeats::default();
        assert!(!read(&repeats, 1, 10_010..10_020));
        // One row is pushed onto the last page and one off it between two visits.
        let ended = (2..60).find(|page| read(&repeats, *page, 9_000 - page..9_010 - page));
        assert_eq!(ended, Some(2 + REPEATS));
    }

    #[test]
    fn what_a_page_in_front_shows_or_announces_ends_no_list() {
        let pages = || 2..3 * REPEATS;
        let repeats = Repeats::default();
        read(&repeats, 1, 0..12);
        assert!(pages().all(|page| !read(&repeats, page, 10..12)), "what stands on every page");
        let repeats = Repeats::default();
        repeats.is_end(list(0), 1, &(0..10).collect(), 1_000);
        assert!(pages().all(|page| !read(&repeats, page, 10..20)), "an outage in the middle");
        let repeats = Repeats::default();
        assert!((0..3 * REPEATS).all(|page| !read(&repeats, page, 10..20)), "nothing is in front of them");
        // A news box that changes, beside rows of another kind.
        let repeats = Repeats::default();
        read(&repeats, 1, 0..50);
        assert!(pages().all(|page| !read(&repeats, page, 100 + page..105 + page)));
    }

    #[test]
    fn what_is_remembered_is_bounded_and_of_the_lists_read_last() {
        let repeats = Repeats::default();
        for number in 0..3 * REPEATS_LISTS_MAX as u64 {
            let targets = (0..number).collect();
            repeats.is_end((HostId(0), format!("/{number}")), 1, &targets, 2);
            repeats.is_end(list(0), number, &targets, number + 1);
        }
        let lists = repeats.lists.lock().unwrap();
        let is_bounded = |list: &List| {
            list.pages.len() <= REPEATS_PAGES_MAX
                && list.pages.iter().all(|page| page.targets.len() <= REPEATS_TARGETS_MAX)
        };
        assert!(lists.known.len() <= REPEATS_LISTS_MAX && lists.known.values().all(is_bounded));
        assert_eq!(lists.known[&list(0)].pages.len(), REPEATS_PAGES_MAX);
    }

    /// Which of forty pages end their list.
    fn ends(index: &str, rows: impl Fn(u64) -> String) -> Vec<u64> {
        let rules = format!(
            "start = ['http://site.example/']\n[classes]\nindex = ['^/$', {index}]\ndetail = ['^/detail/']\ndownload = ['\\.torrent$']\n"
        );
        let rules = gleaner_rules::from_text("site", &rules).unwrap_or_else(|faults| panic!("{faults:?}"));
        let repeats = Repeats::default();
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
            let mut read = read_page(&rules, &Sitemaps::default(), &job, &headers, body.as_bytes());
            assert!(!read.found.is_empty(), "{body}");
            let is_end = repeats.end_list(&rules, &job, &mut read);
            assert_eq!(is_end, read.found.iter().all(|found| found.url.path() != format!("/board?page={next}")));
            is_end
        };
        (1..=40).filter(is_end).collect()
    }

    fn featured(rows: impl Iterator<Item = String>) -> String {
        format!("<aside><a href=/detail/featured>f</a></aside>{}", rows.collect::<String>())
    }

    #[test]
    fn rows_are_told_from_what_stands_on_every_page() {
        let row = |of: &str, row: u64| format!("<li><a href=/{of}{row}>p</a>");
        let details = |page: u64| featured((0..10).map(|at| row("detail/", page * 10 + at)));
        assert_eq!(ends("'^/board'", |page| details(page.min(5))), (5 + REPEATS..=40).collect::<Vec<_>>());
        let first = ends("'^/board'", |page| details(if page > 5 { 1 } else { page }));
        assert_eq!(first, (6 + REPEATS..=40).collect::<Vec<_>>(), "the first one again");
        // Pages 3 to 30 contain rows of a kind that the operator does not accept, or none.
        let others = |page: u64| match page {
            3..=30 => featured((0..10).map(|at| row("music/", page * 10 + at))),
            _ => details(page),
        };
        assert_eq!(ends("'^/board'", others), [0; 0]);
        let none = |page: u64| if (3..=30).contains(&page) { featured(std::iter::empty()) } else { details(page) };
        assert_eq!(ends("'^/board'", none), [0; 0]);
        // Rows that are lists with a number in their names.
        let packs = |page: u64| featured((0..10).map(|at| row("pack-", page * 10 + at).replace(">p", ".html>p")));
        assert_eq!(ends(r"'^/board', '^/pack-\d+\.html$'", packs), [0; 0]);
    }
}
