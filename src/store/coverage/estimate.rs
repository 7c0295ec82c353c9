//! IndexPageNumber × TorrentsPerPage and TorrentsUpdated, from the listings of a site's index pages. Pure.
//!
//! Pages that were read are counted link by link, each link once however many pages pin or repeat it. Pages that
//! are only announced are estimated as a full page of their series. Series overlap (a category lists part of the main
//! index): the largest is counted whole, each smaller one only by the links that no larger one lists, and its unread
//! pages in proportion.
//!
//! New links push as many off a page, onto the next page. If that page was read before they came, nothing lists
//! the pushed links now. So links that an earlier visit saw and no page shows any more are counted separately, each
//! link once, and in each series no more of them than its pages got new ones.
//!
//! Memory: 16 bytes per link of each series, earlier links included, and a few words per series.

use crate::crawldb::{HostId, ListingRow};
use crate::limits::LIST_REPEATS;
use gleaner_base::clock::UnixMillis;
use gleaner_page::pagination::page_count;

/// The sums over the index pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// Pages, read or announced, of the series that contribute.
    pub pages: u64,
    /// Those of them that were read.
    pub pages_read: u64,
    /// IndexPageNumber × TorrentsPerPage: the sum of the series' contributions.
    pub listed: u64,
    /// TorrentsUpdated: links pushed onto pages that were read before, so `listed` lacks them.
    pub updated: u64,
    /// New links at revisits, summed over the pages; a link that moves down the pages is counted several times.
    pub links_updated: u64,
    /// The largest first.
    pub series: Vec<Series>,
}

/// One series of index pages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Series {
    /// The common part of its pages' URLs, usually a path.
    pub name: Box<str>,
    /// Pages, read or announced.
    pub pages: u64,
    /// Those of them that were read.
    pub pages_read: u64,
    /// Distinct links to torrents on the pages read.
    pub listed_read: u64,
    /// Links on a full page, pinned ones counted once for all pages; the estimate for an unread page.
    pub per_page: u64,
    /// Links on the last page; None if it was not read.
    pub last_page: Option<u64>,
    /// Links that no larger series lists.
    pub own: u64,
    /// Its contribution to [`Estimate::listed`].
    pub adds: u64,
    /// New links at revisits, summed over its pages.
    updated: u64,
}

impl Series {
    fn reckoned(&self) -> u64 {
        (self.pages - self.pages_read).saturating_mul(self.per_page)
    }

    fn size(&self) -> u64 {
        self.listed_read.saturating_add(self.reckoned())
    }

    /// `part`, scaled by the share of this series' own links, rounded up.
    fn own_share(&self, part: u64) -> u64 {
        let share = u128::from(part) * u128::from(self.own);
        u64::try_from(share.div_ceil(u128::from(self.listed_read.max(1)))).unwrap_or(u64::MAX)
    }
}

/// Collects the listings of one site, in the order of (host, series, page).
#[derive(Debug, Default)]
pub struct Estimator {
    series: Vec<Series>,
    /// Each link of each series once, with the series' index in `series`.
    links: Vec<(u64, u32)>,
    /// The same for links pushed off its pages.
    pushed_off: Vec<(u64, u32)>,
    links_updated: u64,
    open: Option<Open>,
}

/// The series whose pages are being added.
#[derive(Debug)]
struct Open {
    host: HostId,
    name: Box<str>,
    numbers: Vec<u64>,
    page_max: u64,
    /// Links of the pages before `last`, and how many of these list anything.
    before: Vec<u64>,
    full_pages: u64,
    last: Page,
    /// The first page of the current run of pages that mostly repeat their predecessor, and the length of the run.
    same_since: (u64, u64),
    /// Links of the page before that run; None if the run starts the series.
    before_same: Option<Vec<u64>>,
    /// Links that earlier visits saw, with the index in `numbers` of their page.
    earlier: Vec<(u64, u32)>,
    updated: u64,
}

#[derive(Debug)]
struct Page {
    number: u64,
    links: Vec<u64>,
    earlier: Vec<u64>,
    at: UnixMillis,
    updated: u64,
}

impl Estimator {
    /// Adds the next listing.
    pub fn add(&mut self, row: ListingRow) {
        let ListingRow { host, listing, at, updated, earlier } = row;
        self.links_updated = self.links_updated.saturating_add(u64::from(updated));
        let mut links = listing.targets;
        links.sort_unstable();
        links.dedup();
        let page = Page { number: listing.page, links, earlier, at, updated: u64::from(updated) };
        match &mut self.open {
            Some(open) if open.host == host && open.name == listing.series => open.next(page, listing.page_max),
            _ => {
                self.close();
                self.open = Some(Open::new(host, listing.series, page, listing.page_max));
            }
        }
    }

    /// The sums over all listings.
    #[must_use]
    pub fn finish(mut self) -> Estimate {
        self.close();
        let mut order: Vec<usize> = (0..self.series.len()).collect();
        order.sort_by_key(|&at| (std::cmp::Reverse(self.series[at].size()), at));
        let mut rank_of = vec![0_u32; order.len()];
        for (rank, &at) in order.iter().enumerate() {
            rank_of[at] = u32::try_from(rank).unwrap_or(u32::MAX);
        }
        // A link belongs to the largest series that lists it; a link that none lists any more, to the largest that did.
        for links in [&mut self.links, &mut self.pushed_off] {
            links.iter_mut().for_each(|(_, series)| *series = rank_of[*series as usize]);
            links.sort_unstable();
            links.dedup_by_key(|(link, _)| *link);
        }
        for &(_, rank) in &self.links {
            self.series[order[rank as usize]].own += 1;
        }
        let mut pushed_off = vec![0_u64; order.len()];
        for (link, rank) in &self.pushed_off {
            let is_listed = self.links.binary_search_by_key(link, |(listed, _)| *listed).is_ok();
            pushed_off[order[*rank as usize]] += u64::from(!is_listed);
        }
        let mut estimate = Estimate { links_updated: self.links_updated, ..Estimate::default() };
        let mut series: Vec<Option<Series>> = self.series.into_iter().map(Some).collect();
        for at in order {
            let Some(mut series) = series[at].take() else { continue };
            series.adds = series.own.saturating_add(series.own_share(series.reckoned()));
            estimate.updated += pushed_off[at].min(series.updated);
            if series.adds > 0 {
                estimate.pages = estimate.pages.saturating_add(series.pages);
                estimate.pages_read = estimate.pages_read.saturating_add(series.pages_read);
                estimate.listed = estimate.listed.saturating_add(series.adds);
            }
            estimate.series.push(series);
        }
        estimate
    }

    fn close(&mut self) {
        let Some(open) = self.open.take() else { return };
        // More series than 2³² do not fit a database.
        let Ok(place) = u32::try_from(self.series.len()) else {
            return;
        };
        let (series, links, pushed_off) = open.close();
        self.links.extend(links.into_iter().map(|link| (link, place)));
        self.pushed_off.extend(pushed_off.into_iter().map(|link| (link, place)));
        self.series.push(series);
    }
}

impl Open {
    fn new(host: HostId, name: Box<str>, page: Page, page_max: u64) -> Self {
        let mut open = Self {
            host,
            name,
            numbers: vec![page.number],
            page_max: page_max.max(page.number),
            before: Vec::new(),
            full_pages: 0,
            same_since: (page.number, 1),
            before_same: None,
            last: page,
            earlier: Vec::new(),
            updated: 0,
        };
        open.take_earlier();
        open
    }

    /// Adds the links that earlier visits saw on the last page.
    fn take_earlier(&mut self) {
        let place = u32::try_from(self.numbers.len() - 1).unwrap_or(u32::MAX);
        self.earlier.extend(self.last.earlier.iter().map(|link| (*link, place)));
        self.updated = self.updated.saturating_add(self.last.updated);
    }

    fn next(&mut self, page: Page, page_max: u64) {
        let last = std::mem::replace(&mut self.last, page);
        let page = &self.last;
        if self.numbers == [0] && page.number == 1 && is_same_page(&last, page) {
            // The first page under two URLs, with and without its number.
            self.numbers.clear();
            self.same_since = (page.number, 1);
            let shared = last.links.iter().filter(|link| page.links.binary_search(link).is_ok()).count();
            // Two visits of it, between which everything changed, list as much as two pages.
            self.full_pages += u64::from(shared * 2 < last.links.len());
        } else {
            self.full_pages += u64::from(!last.links.is_empty());
            let shared = page.links.iter().filter(|link| last.links.binary_search(link).is_ok()).count();
            if shared * 2 > page.links.len() {
                self.same_since.1 += 1;
            } else {
                self.same_since = (page.number, 1);
                self.before_same = Some(last.links.clone());
            }
        }
        self.before.extend(last.links);
        self.numbers.push(page.number);
        self.page_max = self.page_max.max(page_max).max(page.number);
        self.take_earlier();
    }

    /// Links that earlier visits saw on a page whose successor was read. Those seen by the last of these pages are on pages that
    /// were not read (and are estimated), or on none.
    fn pushed_off(&mut self) -> Vec<u64> {
        // Offsets start at 0.
        let gaps = self.numbers.windows(2).map(|pair| pair[1] - pair[0]);
        let step = if self.numbers.contains(&1) { 1 } else { gaps.min().unwrap_or(0) };
        let is_followed = |place: u32| {
            let next = (place as usize).checked_add(1).and_then(|next| self.numbers.get(next));
            next.is_some_and(|next| {
                let number = self.numbers[place as usize];
                // The first page may have no number.
                next - number <= step || number == 0 && *next == 2
            })
        };
        // A link last seen was on the last of the pages that showed it.
        self.earlier.sort_unstable_by_key(|(link, place)| (*link, std::cmp::Reverse(*place)));
        self.earlier.dedup_by_key(|(link, _)| *link);
        self.earlier.iter().filter(|(_, place)| is_followed(*place)).map(|(link, _)| *link).collect()
    }

    /// If a site repeats its last page under larger numbers, these are no pages. Links that the page before lists as well may be
    /// on every page.
    fn drop_repeats(&mut self) {
        let (since, pages) = self.same_since;
        let links = &self.last.links;
        let is_own = |before: &Vec<u64>| links.iter().filter(|link| before.binary_search(link).is_err()).count();
        let has_rows = self.before_same.as_ref().is_some_and(|before| is_own(before) * 2 > links.len());
        if has_rows && (pages > LIST_REPEATS as u64 || pages > 1 && self.last.number == self.page_max) {
            self.numbers.retain(|number| *number <= since);
            self.full_pages = self.full_pages.saturating_sub(pages - 1);
            (self.last.number, self.page_max) = (since, since);
        }
    }

    /// The series, the links on its pages, and the links pushed off them.
    fn close(mut self) -> (Series, Vec<u64>, Vec<u64>) {
        let pushed_off = self.pushed_off();
        self.drop_repeats();
        let pages_read = self.numbers.len() as u64;
        let rows = self.last.links.len() as u64;
        let pages = pages_of(&self.numbers, self.page_max, rows).max(pages_read);
        let last_is_read = self.last.number == self.page_max;
        let mut links = self.before;
        links.sort_unstable();
        links.dedup();
        let (mut full_links, mut full_pages) = (links.len() as u64, self.full_pages);
        links.extend(self.last.links);
        links.sort_unstable();
        links.dedup();
        // The last page is usually shorter than the others; it only counts as a full one if there is no other.
        if !last_is_read || full_pages == 0 {
            full_pages += u64::from(rows > 0);
            full_links = links.len() as u64;
        }
        let series = Series {
            name: self.name,
            pages,
            pages_read,
            listed_read: links.len() as u64,
            per_page: full_links.div_ceil(full_pages.max(1)),
            last_page: last_is_read.then_some(rows),
            own: 0,
            adds: 0,
            updated: self.updated,
        };
        (series, links, pushed_off)
    }
}

/// True if two listings come from two visits of one page: half of the links that neither visit found new are in both, or the
/// later one showed earlier what the other, visited before, lists.
fn is_same_page(one: &Page, other: &Page) -> bool {
    let is_in = |link: &&u64| one.links.binary_search(link).is_ok();
    let shared = other.links.iter().filter(is_in).count() as u64;
    let showed = |link: &&u64| is_in(link) || one.earlier.binary_search(link).is_ok();
    if other.at < one.at && !other.links.is_empty() {
        return other.links.iter().filter(showed).count() * 2 >= other.links.len();
    }
    let kept = (one.links.len().min(other.links.len()) as u64).saturating_sub(one.updated.max(other.updated));
    (one.links.is_empty() && other.links.is_empty()) || (shared > 0 && shared * 2 >= kept)
}

/// The number of pages of a series, from the numbers of the pages read (in order) and the largest announced. Number 0
/// may mean a URL without one.
fn pages_of(numbers: &[u64], page_max: u64, rows_on_last: u64) -> u64 {
    let mut all = numbers.to_vec();
    all.push(page_max);
    all.dedup();
    match all[..] {
        [0, max] if max > 1 => {
            // One page and the largest number do not distinguish offsets from page numbers, but the page's length does.
            let is_offset = rows_on_last >= 5 && max % rows_on_last == 0;
            if is_offset { page_count(&[0, rows_on_last, max]) } else { max }
        }
        [0, second, ..] if second > 1 => {
            // A first page without a number, before page 2; with offsets it really is number 0.
            let as_zero = page_count(&all);
            all[0] = 1;
            as_zero.min(page_count(&all))
        }
        _ => page_count(&all),
    }
}

#[cfg(test)]
mod tests {
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
        let other = (1..=2)
            .map(|page| row("/x", page, 4, page * 100 + 50..page * 100 + 100).with(page * 9_000..page * 9_000 + 50));
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
            estimate(
                (1..=read).map(|page| row("/b", page, page_max.max(page), page.min(5) * 100..page.min(5) * 100 + 20)),
            )
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
}
