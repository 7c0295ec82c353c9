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

impl Estimate {
    /// Links on the pages that were not read, as they are estimated.
    #[must_use]
    pub fn links_unread(&self) -> u64 {
        let read: u64 = self.series.iter().map(|series| series.own).sum();
        self.listed.saturating_sub(read)
    }
}

/// One series of index pages.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
    open: Option<OpenSeries>,
}

/// The series whose pages are being added.
#[derive(Debug)]
struct OpenSeries {
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
                self.open = Some(OpenSeries::new(host, listing.series, page, listing.page_max));
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

impl OpenSeries {
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
mod tests;
