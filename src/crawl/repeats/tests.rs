//! Unit tests of `repeats`.

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
    // The last page is a short one, and holds twice as many rows from the twelfth repeat on.
    let repeats = Repeats::default();
    assert!(!read(&repeats, 1, 10_010..10_020));
    let ended = (2..60).find(|page| read(&repeats, *page, if *page < 12 { 8..10 } else { 6..10 }));
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
        list.pages.len() <= REPEATS_PAGES_MAX && list.pages.iter().all(|page| page.targets.len() <= REPEATS_TARGETS_MAX)
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
            seq: 0,
        };
        let headers = ResponseHeaders { content_type: Some("text/html".to_owned()), ..ResponseHeaders::default() };
        let next = page + 1;
        let body = format!(
            "{}<a href='/board?page={next}'>next</a><a href='/board?page={next}&amp;sort=name'>by name</a>",
            rows(*page)
        );
        let job =
            Job { lease, url, class: Class::Index, rule: 0, crew: Crew::History, was_read: false, is_guess: false };
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
