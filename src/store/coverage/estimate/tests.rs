//! Unit tests of `coverage::estimate`.

use std::collections::BTreeSet;
use std::ops::Range;

use super::*;
use crate::crawldb::Listing;

/// A listing of the links `links` on page `page` of `series`.
fn row(series: &str, page: u64, page_max: u64, links: impl IntoIterator<Item = u64>) -> ListingRow {
    ListingRow {
        host: HostId(0),
        listing: Listing { series: series.into(), page, page_max, targets: links.into_iter().collect() },
        at: UnixMillis(page),
        updated: 0,
        earlier: Vec::new(),
    }
}

/// The same after several visits in sequence.
fn looks(series: &str, page: u64, page_max: u64, looks: &[Range<u64>]) -> ListingRow {
    let seen: BTreeSet<u64> = looks.iter().cloned().flatten().collect();
    let [first, latest] = [looks.first(), looks.last()].map(|look| look.unwrap().clone());
    ListingRow {
        at: UnixMillis(looks.len() as u64),
        updated: u32::try_from(seen.iter().filter(|link| !first.contains(link)).count()).unwrap(),
        earlier: seen.into_iter().filter(|link| !latest.contains(link)).collect(),
        ..row(series, page, page_max, latest)
    }
}

fn estimate(rows: impl IntoIterator<Item = ListingRow>) -> Estimate {
    let mut estimator = Estimator::default();
    for row in rows {
        estimator.add(row);
    }
    estimator.finish()
}

#[test]
fn a_whole_series_is_counted_link_by_link_with_its_short_last_page() {
    let found = estimate((1..=75).map(|page| {
        let rows = if page == 75 { 12 } else { 100 };
        row("/browse", page, 75, page * 1_000..page * 1_000 + rows)
    }));
    assert_eq!((found.pages, found.pages_read, found.listed), (75, 75, 7_412));
    assert_eq!((found.series[0].per_page, found.series[0].last_page), (100, Some(12)));
}

#[test]
fn announced_pages_are_reckoned_at_a_full_page() {
    let found = estimate((1..=10).map(|page| row("/browse", page, 75, page * 1_000..page * 1_000 + 100)));
    assert_eq!((found.pages, found.pages_read, found.listed), (75, 10, 7_500));
    assert_eq!(found.series[0].last_page, None);
}

#[test]
fn a_last_page_that_was_read_sharpens_the_pages_between() {
    let mut rows: Vec<_> = (1..=4).map(|page| row("/b", page, 10, page * 1_000..page * 1_000 + 100)).collect();
    rows.push(row("/b", 10, 10, 10_000..10_007));
    assert_eq!(estimate(rows).listed, 9 * 100 + 7);
}

#[test]
fn pinned_rows_count_once() {
    let found = estimate((1..=5).map(|page| row("/b", page, 5, (0..10).chain(page * 1_000..page * 1_000 + 90))));
    assert_eq!(found.listed, 10 + 5 * 90);
}

#[test]
fn a_category_within_the_main_index_adds_nothing() {
    let main = (1..=10).map(|page| row("/", page, 10, page * 100..page * 100 + 100));
    let category = (1..=3).map(|page| row("/c", page, 3, (page * 100..page * 100 + 100).step_by(2)));
    let found = estimate(main.chain(category));
    assert_eq!((found.listed, found.pages, found.series.len()), (1_000, 10, 2));
    assert_eq!(found.series[1].own, 0);
}

#[test]
fn a_series_that_overlaps_adds_its_own_part_also_of_its_unread_pages() {
    let main = (1..=10).map(|page| row("/", page, 10, page * 100..page * 100 + 100));
    // Half of its read links are in the main index; 2 of 4 pages were read.
    let other =
        (1..=2).map(|page| row("/x", page, 4, page * 100 + 50..page * 100 + 100).with(page * 9_000..page * 9_000 + 50));
    let found = estimate(main.chain(other));
    assert_eq!(found.listed, 1_000 + 100 + 100);
    assert_eq!((found.series[1].own, found.series[1].adds), (100, 200));
}

impl ListingRow {
    fn with(mut self, links: impl IntoIterator<Item = u64>) -> Self {
        self.listing.targets.extend(links);
        self
    }
}

#[test]
fn the_first_page_is_one_page_with_or_without_its_number() {
    let pages = |first: &[u64]| {
        let mut rows: Vec<_> = first.iter().map(|&number| row("/b", number, 5, 100..200)).collect();
        rows.extend((2..=5).map(|page| row("/b", page, 5, page * 100..page * 100 + 100)));
        let found = estimate(rows);
        (found.pages, found.listed)
    };
    assert_eq!(pages(&[0]), (5, 500));
    assert_eq!(pages(&[1]), (5, 500));
    assert_eq!(pages(&[0, 1]), (5, 500));
    let found = estimate([0, 1].map(|number| row("/b", number, 1, 100..200)));
    assert_eq!((found.pages, found.pages_read, found.listed), (1, 1, 100), "the only one");
}

#[test]
fn pages_from_zero_of_which_the_first_is_looked_at_again_are_no_more() {
    // Page 0 showed 1000..1010 at first, and 990..1000 later; page 1 was read in between, and has the links pushed onto it.
    let first = looks("/b", 0, 99, &[1_000..1_010, 990..1_000]);
    let rest = (1..=9).map(|page| row("/b", page, 99, 990 + page * 10..1_000 + page * 10));
    let rest = rest.map(|row| ListingRow { at: UnixMillis(1), ..row });
    assert_eq!(estimate([first].into_iter().chain(rest)).listed, 1_000);
}

#[test]
fn pages_numbered_from_zero_are_one_more_than_the_last_number() {
    let found = estimate((0..=4).map(|page| row("/b", page, 4, page * 100..page * 100 + 100)));
    assert_eq!((found.pages, found.listed), (5, 500));
}

#[test]
fn offsets_are_no_page_numbers() {
    let read = [0, 50, 100].map(|start| row("/b", start, 3_700, start..start + 50));
    assert_eq!((estimate(read.clone()).pages, estimate(read).listed), (75, 3_750));
    let first_only = [row("/b", 0, 3_700, 0..50)];
    assert_eq!(estimate(first_only).pages, 75);
    let first_of_numbers = [row("/b", 0, 75, 0..40)];
    assert_eq!(estimate(first_of_numbers).pages, 75);
}

#[test]
fn folders_of_a_directory_listing_are_series_of_one_page() {
    let found = estimate((0..50).map(|folder| row(&format!("/{folder:02}/"), 0, 0, folder * 10..folder * 10 + 7)));
    assert_eq!((found.pages, found.listed), (50, 350));
}

#[test]
fn new_links_that_push_others_off_are_added_once() {
    // Links move down as numbers fall: page 1 was 10..20, page 2 20..30, page 3 30..35; then 3 came.
    let once = |page: u64, links: Range<u64>| looks("/b", page, 3, std::slice::from_ref(&links));
    let stale = [once(2, 20..30), once(3, 30..35)];
    let found = estimate([looks("/b", 1, 3, &[10..20, 7..17])].into_iter().chain(stale));
    assert_eq!((found.listed, found.updated), (25, 3));
    let all_again = [
        looks("/b", 1, 3, &[10..20, 7..17]),
        looks("/b", 2, 3, &[20..30, 17..27]),
        looks("/b", 3, 3, &[30..35, 27..35]),
    ];
    let found = estimate(all_again);
    assert_eq!((found.listed, found.updated, found.links_updated), (28, 0, 9));
    // Unread pages are estimated.
    let found = estimate([looks("/b", 1, 3, &[10..20, 7..17]), once(3, 30..35)]);
    assert_eq!((found.listed, found.updated), (25, 0));
    assert_eq!(estimate([looks("/dir/", 0, 0, &[3..13, 0..10])]).updated, 0);
}

#[test]
fn a_hundred_new_links_are_a_hundred_however_often_the_first_pages_are_looked_at() {
    let pushed = |page: u64, by: u64| (1_000 + page * 10 - by)..(1_010 + page * 10 - by);
    let hot = |page: u64, number: u64| {
        let all: Vec<_> = (0..=100).step_by(5).map(|by| pushed(page, by)).collect();
        looks("/list", number, 9, &all)
    };
    let stale = |page: u64, number: u64| looks("/list", number, 9, &[pushed(page, 0)]);
    let rest: Vec<ListingRow> = (3..=9).map(|number| stale(number - 1, number)).collect();
    for front in [
        vec![hot(0, 0), hot(1, 2)],
        // The first page also under its number, by which it was read once.
        vec![hot(0, 0), stale(0, 1), hot(1, 2)],
        vec![hot(0, 0), stale(1, 2)],
        vec![hot(0, 1), hot(1, 2)],
    ] {
        let numbers: Vec<u64> = front.iter().map(|row| row.listing.page).collect();
        let found = estimate(front.into_iter().chain(rest.clone()));
        assert_eq!((found.listed + found.updated, found.pages), (190, 9), "{numbers:?}");
    }
    // As many as each visit finds at once, over several pages.
    let many = |page: u64| {
        let all: Vec<_> = (0..=300).step_by(30).map(|by| pushed(page, by)).collect();
        looks("/list", page + 1, 9, &all)
    };
    let found = estimate((0..3).map(many).chain((3..9).map(|page| stale(page, page + 1))));
    assert_eq!((found.listed, found.updated), (90, 300));
    // A removed row is not a new one.
    let mut without: Vec<ListingRow> = (0..9).map(|page| stale(page, page + 1)).collect();
    without[4].earlier = vec![1];
    assert_eq!(estimate(without).updated, 0);
}

#[test]
fn pages_that_repeat_beyond_the_last_are_none() {
    let pages = |read: u64, page_max: u64| {
        estimate((1..=read).map(|page| row("/b", page, page_max.max(page), page.min(5) * 100..page.min(5) * 100 + 20)))
    };
    let same = |found: Estimate| (found.pages, found.pages_read, found.listed);
    let many = 5 + LIST_REPEATS as u64;
    assert_eq!(same(pages(many, many + 1)), (5, 5, 100));
    assert_eq!(same(pages(6, 6)), (5, 5, 100));
    assert_eq!(same(pages(6, 9)), (9, 6, 151), "some may be an answer of a server in trouble");
    // Each page pins link 7, and pages 4 to 6 list nothing else.
    let found = estimate((1..=6).map(|page| {
        let own = if page < 4 { page * 100..page * 100 + 20 } else { 0..0 };
        row("/b", page, 100, own.chain([7]))
    }));
    assert_eq!((found.pages, found.pages_read), (100, 6));
}

#[test]
fn absurd_page_numbers_neither_overflow_nor_take_time() {
    let found = estimate([row("/b", 1, u64::MAX, 0..100), row("/c", u64::MAX, u64::MAX, 0..100)]);
    assert_eq!(found.listed, u64::MAX);
}

#[test]
fn the_sum_is_never_below_the_links_that_were_seen() {
    use proptest::prelude::*;
    let page = (0_u64..4, 0_u64..12, 0_u64..40, proptest::collection::vec(0_u64..200, 0..30), 0_u64..9, 0_u32..9);
    proptest!(|(pages in proptest::collection::vec(page, 0..30))| {
        let mut rows: Vec<_> = pages.into_iter().map(|(series, page, max, links, at, updated)| ListingRow {
            at: UnixMillis(at),
            updated,
            earlier: (at * 10..at * 10 + u64::from(updated)).collect(),
            ..row(&format!("/{series}"), page, max.max(page), links)
        }).collect();
        rows.sort_by(|a, b| (&a.listing.series, a.listing.page).cmp(&(&b.listing.series, b.listing.page)));
        rows.dedup_by(|a, b| (&a.listing.series, a.listing.page) == (&b.listing.series, b.listing.page));
        let seen: std::collections::HashSet<u64> = rows.iter().flat_map(|row| row.listing.targets.clone()).collect();
        let found = estimate(rows);
        prop_assert!(found.listed >= seen.len() as u64);
        prop_assert_eq!(found.series.iter().map(|series| series.own).sum::<u64>(), seen.len() as u64);
        prop_assert!(found.pages >= found.pages_read);
        prop_assert!(found.updated <= found.links_updated);
    });
}
