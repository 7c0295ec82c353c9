//! NT from the site's own pagination, with the paper's figures, NI and CR from what the listed links brought, and the report if nothing
//! is known.

use std::ops::Range;

use crate::harvest::{Harvest, NOON, torrent};
use gleaner_store::coverage::{self, SiteCoverage};
use gleaner_store::crawldb::{CrawlDb, Listing, Outcome};
use xxhash_rust::xxh3::xxh3_64;

const SITE: &str = "alpha.example";

/// Ranks of the classes.
const DOWNLOAD: u8 = 1;
const LIST: u8 = 1 << 4;
const THREAD: u8 = 2 << 4;

async fn page(harvest: &Harvest, series: &str, page: u64, page_max: u64, links: Range<u64>, at: u64) {
    let listing = Listing { series: series.into(), page, page_max, targets: links.collect() };
    harvest.listing(SITE, &format!("{series}?page={page}"), listing, NOON + at).await;
}

/// A page of the list that links to these threads.
async fn lists(harvest: &Harvest, page: u64, page_max: u64, threads: Range<u64>) {
    let mut targets: Vec<u64> =
        threads.map(|thread| xxh3_64(format!("https://{SITE}/t/{thread}").as_bytes())).collect();
    targets.sort_unstable();
    let listing = Listing { series: "/list".into(), page, page_max, targets };
    harvest.listing(SITE, &format!("/list?page={page}"), listing, NOON + page).await;
}

/// A thread that was read, with its torrent.
async fn thread(harvest: &Harvest, thread: u64, number: u64) {
    let path = format!("/t/{thread}");
    harvest.ranked(SITE, &path, THREAD, Outcome::Page, NOON + thread).await;
    let body = torrent("t", number, "http://t/a");
    harvest.download(&body, SITE, &format!("/dl/{thread}"), &path, NOON + thread).await;
}

async fn of(harvest: &Harvest) -> SiteCoverage {
    coverage::of_site(&harvest.db, SITE).await.unwrap()
}

fn from<'a>(found: &'a SiteCoverage, term: &str) -> &'a str {
    &found.terms.iter().find(|known| known.term == term).unwrap().from
}

#[tokio::test]
async fn the_papers_first_site_has_75_pages_of_100_and_89_updates() {
    let harvest = Harvest::new();
    for number in 1..=75 {
        page(&harvest, "/browse", number, 75, number * 1_000..number * 1_000 + 100, number).await;
    }
    // The first page again, after 89 new torrents: the others are not revisited.
    page(&harvest, "/browse", 1, 75, 911..1_011, 1_000).await;
    let found = of(&harvest).await;
    assert_eq!((found.nt.index_pages, found.nt.torrents_per_page), (75, Some(100.0)));
    assert_eq!((found.nt.updated, found.nt.invalid, found.nt.nt), (89, 0, Some(7_589)));
    assert_eq!(found.cr, Some(0.0));
}

#[tokio::test]
async fn the_papers_second_site_has_two_indexes_updates_and_removals() {
    let harvest = Harvest::new();
    for number in 1..=61 {
        page(&harvest, "/movies", number, 61, number * 1_000..number * 1_000 + 100, number).await;
    }
    for number in 1..=14 {
        let rows = if number == 14 { 80 } else { 100 };
        page(&harvest, "/music", number, 14, number * 1_000 + 500..number * 1_000 + 500 + rows, number).await;
    }
    page(&harvest, "/movies", 1, 61, 936..1_036, 1_000).await;
    for number in 0..4 {
        harvest.outcome(SITE, &format!("/detail/{number}"), Outcome::Gone, NOON + number).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.nt.listed, found.nt.updated, found.nt.invalid), (6_100 + 1_380, 64, 4));
    assert_eq!(found.nt.nt, Some(7_548));
    let adds: Vec<_> = found.series.iter().map(|series| (series.series.as_str(), series.adds)).collect();
    assert_eq!(adds, [("/movies", 6_100), ("/music", 1_380)]);
}

#[tokio::test]
async fn a_url_that_is_gone_is_invalid_once_and_no_longer_when_it_is_back() {
    let harvest = Harvest::new();
    page(&harvest, "/browse", 1, 1, 0..10, 0).await;
    for visit in 0..3 {
        harvest.outcome(SITE, "/detail/1", Outcome::Gone, NOON + visit).await;
    }
    harvest.outcome(SITE, "/detail/2", Outcome::Gone, NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.nt.invalid, found.nt.nt), (2, Some(12)));
    assert!(from(&found, "TorrentsInvalid").contains("each once"));
    harvest.outcome(SITE, "/detail/2", Outcome::Page, NOON + 9).await;
    assert_eq!(of(&harvest).await.nt.invalid, 1);
}

#[tokio::test]
async fn a_young_crawl_says_that_it_is_one() {
    let harvest = Harvest::new();
    for number in 1..=4 {
        page(&harvest, "/browse", number, 10, number * 100..number * 100 + 20, number).await;
    }
    let found = of(&harvest).await;
    assert!(from(&found, "NT").contains("the crawl is young: 4 of 10 pages of the largest series are read"));
    page(&harvest, "/browse", 5, 10, 500..520, 5).await;
    let found = of(&harvest).await;
    assert!(!from(&found, "NT").contains("young"), "half of it is read");
}

#[tokio::test]
async fn rates_come_from_what_was_fetched_and_how_long_it_took() {
    let harvest = Harvest::new();
    page(&harvest, "/browse", 1, 1, 0..10, 0).await;
    for number in 0..8 {
        let at = NOON + number;
        harvest.store(&torrent("t", number, "http://t/a"), SITE, &format!("/d/{number}"), at).await;
    }
    harvest.store(&torrent("t", 0, "http://t/a"), SITE, "/d/again", NOON).await;
    harvest.outcome(SITE, "/closed", Outcome::RobotsDenied, NOON).await;
    harvest.db.add_crawl_time(SITE, 4_000).await.unwrap();
    let found = of(&harvest).await;
    assert_eq!((found.nt.nt, found.ci, found.nt.ci_per_nt), (Some(10), 8, Some(0.8)));
    // Ten requests: the page, eight torrents, one of them again; the disallowed URL was not requested.
    assert_eq!(
        (found.rates.pages, found.rates.hr, found.rates.av, found.rates.atv),
        (10, Some(0.8), Some(2.5), Some(2.0))
    );
    assert_eq!(found.rates.duplicate_visits, 1);
    assert!(from(&found, "CI").contains("1 visits brought a torrent already known"));
}

#[tokio::test]
async fn a_torrent_first_stored_by_another_site_is_covered_here_too() {
    let harvest = Harvest::new();
    page(&harvest, "/browse", 1, 1, 0..1, 0).await;
    harvest.store(&torrent("t", 1, "http://t/a"), "beta.example", "/d/1", NOON).await;
    harvest.store(&torrent("t", 1, "http://t/a"), SITE, "/d/1", NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.ci, found.nt.ci_per_nt), (1, Some(1.0)));
}

#[tokio::test]
async fn a_site_without_index_pages_is_unknown_and_not_zero() {
    let harvest = Harvest::new();
    harvest.store(&torrent("t", 1, "http://t/a"), SITE, "/d/1", NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.nt.nt, found.cr, found.ci), (None, None, 1));
    assert!(from(&found, "NT").contains("no index page of this site has been read"));
    let text = found.to_string();
    assert!(text.contains("unknown") && !text.contains("IndexPageNumber"), "{text}");
    page(&harvest, "/browse", 1, 1, 0..0, 0).await;
    assert!(from(&of(&harvest).await, "NT").contains("list no torrent"));
}

#[tokio::test]
async fn torrents_that_no_list_shows_are_counted_apart_and_the_coverage_is_never_above_one() {
    let harvest = Harvest::new();
    lists(&harvest, 1, 1, 0..2).await;
    thread(&harvest, 0, 0).await;
    thread(&harvest, 1, 1).await;
    for number in 5..8 {
        harvest.store(&torrent("t", number, "http://t/a"), SITE, &format!("/d/{number}"), NOON).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.nt.ci_per_nt, found.ni.ni, found.cr, found.ni.outside_lists), (Some(2.5), Some(2), Some(1.0), 3));
    assert!(from(&found, "CI").contains("3 of them were found outside the lists"));
    // Only the first of four pages is read, and the others are not to be.
    let harvest = Harvest::new();
    lists(&harvest, 1, 4, 0..2).await;
    thread(&harvest, 0, 0).await;
    thread(&harvest, 1, 1).await;
    let found = of(&harvest).await;
    assert_eq!(
        (found.ni.ni, found.ni.ni_low, found.ni.ni_high, found.cr, found.unread.lists_unread),
        (None, Some(2), None, None, 3)
    );
    assert_eq!(from(&found, "CR"), "not known: 3 list pages were not read");
    let text = found.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[tokio::test]
async fn a_site_that_was_read_whole_is_covered_whole() {
    let harvest = Harvest::new();
    // 341 threads: one is an announcement, and one torrent is on two of them.
    for page in 1..=7 {
        lists(&harvest, page, 7, (page - 1) * 50..(page * 50).min(341)).await;
    }
    harvest.ranked(SITE, "/t/0", THREAD, Outcome::Page, NOON).await;
    for number in 1..341 {
        thread(&harvest, number, number.min(339)).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.nt.nt, found.ci, found.ni.listed_links, found.ni.listed_visited), (Some(341), 339, 341, 341));
    assert_eq!(
        (found.ni.ni, found.ni.ni_low, found.ni.ni_high, found.cr),
        (Some(339), Some(339), Some(339), Some(1.0))
    );
    assert_eq!(from(&found, "NI"), "listed torrents, each infohash once: 341 of 341 listed links visited");
    // All sites at once tell the same.
    assert_eq!(coverage::of_all_sites(&harvest.db).await.unwrap(), [found]);
}

#[tokio::test]
async fn threads_not_visited_count_at_the_ratio_of_those_that_were() {
    let harvest = Harvest::new();
    lists(&harvest, 1, 1, 0..100).await;
    for number in 0..50 {
        thread(&harvest, number, number / 2).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.ni.listed_stored, found.ni.ni, found.cr), (25, Some(50), Some(0.5)));
    assert_eq!((found.ni.ni_low, found.ni.ni_high), (Some(43), Some(57)));
    assert!(from(&found, "NI").contains("43 to 57 at 95 %"));
    // Threads that were read, and whose downloads are denied, are no threads without a torrent.
    for number in 50..100 {
        harvest.ranked(SITE, &format!("/t/{number}"), THREAD, Outcome::Page, NOON).await;
        harvest.ranked(SITE, &format!("/dl/{number}"), DOWNLOAD, Outcome::Denied, NOON).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.unread.downloads_unanswered, found.ni.ni, found.cr), (50, Some(50), Some(0.5)));
}

#[tokio::test]
async fn lists_that_were_not_read_leave_the_coverage_unknown_and_closed_ones_make_it_a_bound() {
    let harvest = Harvest::new();
    lists(&harvest, 1, 1, 0..2).await;
    thread(&harvest, 0, 0).await;
    thread(&harvest, 1, 1).await;
    harvest.ranked(SITE, "/board/2", LIST, Outcome::RobotsDenied, NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.cr, found.cr_is_at_most, found.unread.lists_closed), (Some(1.0), true, 1));
    assert!(
        from(&found, "CR").ends_with("an upper bound here: 1 list page is closed by robots.txt, the rules or a budget")
    );
    harvest.ranked(SITE, "/board/3", LIST, Outcome::Denied, NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.cr, found.cr_is_at_most, found.unread.lists_unread), (None, false, 1));
    assert_eq!(from(&found, "CR"), "not known: 1 list page was not read");
    assert!(found.to_string().contains("NI               unknown"), "{found}");
}

#[tokio::test]
async fn lists_of_which_nothing_came_have_no_coverage() {
    let harvest = Harvest::new();
    lists(&harvest, 1, 1, 0..2).await;
    harvest.ranked(SITE, "/t/0", THREAD, Outcome::Page, NOON).await;
    harvest.ranked(SITE, "/t/1", THREAD, Outcome::Gone, NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.ni.ni, found.cr), (Some(0), None));
    assert_eq!(from(&found, "CR"), "not known: no listed link brought a torrent");
}

#[tokio::test]
async fn the_table_says_each_term_and_where_it_came_from() {
    let harvest = Harvest::new();
    for number in 1..=3 {
        page(&harvest, "/browse", number, 5, number * 100..number * 100 + 20, number).await;
    }
    harvest.db.add_crawl_time(SITE, 2_000).await.unwrap();
    insta::assert_snapshot!(of(&harvest).await.to_string());
}

#[tokio::test]
async fn pages_that_were_not_read_whole_make_the_coverage_an_upper_bound_until_they_are() {
    let harvest = Harvest::new();
    lists(&harvest, 1, 1, 0..1).await;
    thread(&harvest, 0, 0).await;
    let text = of(&harvest).await.to_string();
    assert!(text.contains(" 100.00 %") && !text.contains("at most") && !text.contains("read whole"), "{text}");
    for number in 0..7 {
        let path = format!("/list?page={number}&passkey=S3CRET");
        harvest.not_whole(SITE, &path, Some("rows were not opened"), NOON).await;
    }
    let found = of(&harvest).await;
    assert_eq!(
        (found.cr, found.cr_is_at_most, found.unread.pages_not_whole, found.unread.not_whole.len()),
        (Some(1.0), true, 7, 7)
    );
    assert!(from(&found, "CR").contains("an upper bound here: 7 pages were not read whole"));
    let text = found.to_string();
    assert!(text.contains("at most 100.00 %"), "{text}");
    let first = "  https://alpha.example/list?page=0&passkey=••••••: rows were not opened (2026-11-20T12:00:00Z)\n";
    assert!(text.contains("\n7 pages were not read whole: torrents may be missing\n"), "{text}");
    assert!(text.contains(first) && text.ends_with("  and 2 more (hint: --json lists them)\n"), "{text}");
    let json = serde_json::to_value(&found).unwrap();
    assert_eq!((&json["pages_not_whole"], &json["cr_is_at_most"]), (&7.into(), &true.into()));
    assert_eq!(json["not_whole"][6]["reason"], "rows were not opened");
    assert!(!json.to_string().contains("S3CRET"));

    for number in 0..7 {
        harvest.not_whole(SITE, &format!("/list?page={number}&passkey=S3CRET"), None, NOON + 1).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.cr_is_at_most, found.unread.pages_not_whole, found.unread.not_whole.len()), (false, 0, 0));
    let text = found.to_string();
    assert!(!text.contains("at most") && !text.contains("read whole"), "{text}");
}

#[tokio::test]
async fn a_site_of_which_nothing_is_known_tells_its_pages_that_were_not_read_whole_and_no_bound() {
    let harvest = Harvest::new();
    harvest.not_whole(SITE, "/app", Some("its scripts ended early"), NOON).await;
    let found = of(&harvest).await;
    assert_eq!((found.cr, found.cr_is_at_most, found.unread.pages_not_whole), (None, false, 1));
    let text = found.to_string();
    assert!(text.contains("\n1 page was not read whole") && !text.contains("at most"), "{text}");
}

#[tokio::test]
async fn many_listings_are_read_page_by_page_to_the_last() {
    let harvest = Harvest::new();
    for folder in 0..100 {
        let listing = Listing { series: format!("/{folder:03}").into(), page: 0, page_max: 0, targets: vec![folder] };
        harvest.listing(SITE, &format!("/{folder:03}/"), listing, NOON).await;
        let listing = Listing { series: format!("/{folder:03}").into(), page: 0, page_max: 0, targets: vec![folder] };
        harvest.listing("beta.example", &format!("/{folder:03}/"), listing, NOON).await;
    }
    let found = of(&harvest).await;
    assert_eq!((found.nt.index_pages, found.nt.listed, found.series_count, found.series.len()), (100, 100, 100, 20));
    let all = coverage::of_all_sites(&harvest.db).await.unwrap();
    assert_eq!(all.iter().map(|site| site.site.as_str()).collect::<Vec<_>>(), [SITE, "beta.example"]);
}
