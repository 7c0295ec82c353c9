//! What lists state of their own size, beside what they have shown. It is told, and never a term of NT, NI or CR: sites count what they have deleted,
//! and what they show to members only. Pure; the crawl keeps it as a note.

use serde::{Deserialize, Serialize};

use super::estimate::Estimate;
use crate::crawldb::HostId;
use crate::limits::{COVERAGE_SERIES_LISTED_MAX, STATED_LISTS_MAX, STATED_SERIES_BYTES_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys;
use gleaner_page::limits::STATED_TOTAL_MAX;
use gleaner_page::stated::Stated;

/// Name of the note that stores it.
pub const STATED_NOTE: &str = "stated";

/// What was last read of each list, as the note has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedLists {
    lists: Vec<StatedList>,
    #[serde(skip)]
    has_changed: bool,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct StatedList {
    host: HostId,
    series: Box<str>,
    /// Rows of its first page.
    rows: u64,
    #[serde(flatten)]
    stated: Stated,
    at: UnixMillis,
}

impl StatedList {
    /// The size that it states: what is nearest to the list counts first.
    fn size(&self) -> (u64, SizeSign) {
        let Stated { range, count, pages } = self.stated;
        let of_pages = pages.map(|pages| pages.saturating_mul(self.rows)).filter(|total| *total <= STATED_TOTAL_MAX);
        let range = range.map(|total| (total, SizeSign::Range));
        let count = count.map(|total| (total, SizeSign::Count));
        range.or(count).or(of_pages.map(|total| (total, SizeSign::Pages))).unwrap_or((0, SizeSign::Count))
    }
}

impl StatedLists {
    /// The content of a note; empty for one of another version.
    #[must_use]
    pub fn from_bytes(note: Option<&[u8]>) -> Self {
        note.and_then(|note| serde_json::from_slice(note).ok()).unwrap_or_default()
    }

    /// The stored form, if it has changed since the last call.
    pub fn note(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_changed).then(|| serde_json::to_vec(self).unwrap_or_default())
    }

    /// Takes what the first page of a list, with that many rows, says now. Beyond `STATED_LISTS_MAX` lists the smallest is forgotten.
    pub fn take(&mut self, (host, series): (HostId, &str), rows: u64, stated: Stated, at: UnixMillis) {
        if series.len() > STATED_SERIES_BYTES_MAX {
            return;
        }
        let new = StatedList { host, series: series.into(), rows, stated, at };
        self.has_changed = true;
        if let Some(known) = self.lists.iter_mut().find(|known| known.host == host && *known.series == *series) {
            *known = new;
            return;
        }
        self.lists.push(new);
        if self.lists.len() > STATED_LISTS_MAX {
            let smallest = (0..self.lists.len()).min_by_key(|at| self.lists[*at].size().0);
            smallest.map(|at| self.lists.swap_remove(at));
        }
    }
}

/// How a list states its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SizeSign {
    /// `1-50 of 3,700`.
    Range,
    /// `12,345 torrents`: perhaps of the whole site.
    Count,
    /// `page 3 of 75`, times the rows of its first page.
    Pages,
    /// The largest page that it links to, times the rows of a full page.
    Pager,
}

/// The size that a list states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct ListSize {
    /// The common part of its pages' URLs, usually a path; keys of members masked.
    pub list: String,
    pub total: u64,
    pub by: SizeSign,
    /// Distinct links to torrents that it has shown so far.
    pub shown: u64,
    /// When it was read (UTC); None for its pager, of which all pages count.
    pub at: Option<String>,
}

/// What the lists of a site state of their sizes. No other term is made of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, schemars::JsonSchema)]
pub struct StatedTotals {
    /// The largest size that a list states.
    pub stated: Option<u64>,
    /// It exceeds NT by more than a tenth: lists are capped, pages are not reached, or the site counts what it does not list.
    pub stated_is_more: bool,
    /// The lists with the largest ones, at most `limits::COVERAGE_SERIES_LISTED_MAX`.
    pub stated_lists: Vec<ListSize>,
}

/// What is beyond chance and pinned rows.
const MORE_MIN: u64 = 20;

/// Compares the sizes with what the lists have shown.
#[must_use]
pub fn totals(lists: &StatedLists, estimate: &Estimate, nt: Option<u64>) -> StatedTotals {
    let shown = |series: &str| estimate.series.iter().find(|of| *of.name == *series).map_or(0, |of| of.listed_read);
    // A last page may have a single row.
    let mut least = 0;
    let mut sizes: Vec<ListSize> = lists
        .lists
        .iter()
        .map(|list| {
            let (total, by) = list.size();
            least = least.max(if by == SizeSign::Pages { total.saturating_sub(list.rows) } else { total });
            let at = Some(list.at.rfc3339());
            ListSize { list: without_keys(&list.series).into_owned(), total, by, shown: shown(&list.series), at }
        })
        .collect();
    let has_size = |series: &str| lists.lists.iter().any(|list| *list.series == *series);
    let unread = estimate.series.iter().filter(|series| series.pages_read < series.pages && !has_size(&series.name));
    sizes.extend(unread.map(|series| {
        let total = series.pages.saturating_mul(series.per_page);
        if total <= STATED_TOTAL_MAX {
            least = least.max(total.saturating_sub(series.per_page));
        }
        let list = without_keys(&series.name).into_owned();
        ListSize { list, total, by: SizeSign::Pager, shown: series.listed_read, at: None }
    }));
    sizes.retain(|size| (1..=STATED_TOTAL_MAX).contains(&size.total));
    sizes.sort_by(|a, b| b.total.cmp(&a.total).then_with(|| a.list.cmp(&b.list)));
    sizes.truncate(COVERAGE_SERIES_LISTED_MAX);
    let stated = sizes.first().map(|size| size.total);
    let listed: u64 = nt.unwrap_or_default();
    let stated_is_more = least > listed.saturating_add((listed / 10).max(MORE_MIN));
    StatedTotals { stated, stated_is_more, stated_lists: sizes }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coverage::estimate::Series;

    fn said(range: Option<u64>, count: Option<u64>, pages: Option<u64>) -> Stated {
        Stated { range, count, pages }
    }

    fn of(lists: &[(&str, u64, Stated)]) -> StatedLists {
        let mut kept = StatedLists::default();
        lists.iter().for_each(|(series, rows, said)| kept.take((HostId(0), series), *rows, *said, UnixMillis(1)));
        kept
    }

    #[test]
    fn the_range_of_a_list_says_more_of_it_than_the_sites_count_and_pages_the_least() {
        let lists = of(&[
            ("/a", 50, said(Some(700), Some(9_000), Some(3))),
            ("/b", 50, said(None, Some(9_000), Some(3))),
            ("/c", 50, said(None, None, Some(3))),
        ]);
        let found = totals(&lists, &Estimate::default(), Some(8_900));
        let sizes: Vec<_> = found.stated_lists.iter().map(|size| (&*size.list, size.total, size.by)).collect();
        let expected = [("/b", 9_000, SizeSign::Count), ("/a", 700, SizeSign::Range), ("/c", 150, SizeSign::Pages)];
        assert_eq!(sizes, expected);
        assert!(!found.stated_is_more, "within a tenth");
        assert!(totals(&lists, &Estimate::default(), Some(8_000)).stated_is_more);
        assert!(!totals(&of(&[]), &Estimate::default(), None).stated_is_more);
        // 451 threads on ten pages of 50: the last one has a single row.
        let pages = of(&[("/f", 50, said(None, None, Some(10)))]);
        assert!(!totals(&pages, &Estimate::default(), Some(445)).stated_is_more);
        assert!(totals(&pages, &Estimate::default(), Some(400)).stated_is_more);
    }

    #[test]
    fn the_last_reading_of_a_list_counts_and_the_number_of_lists_is_bounded() {
        let mut lists = of(&[("/a", 50, said(Some(700), None, None)), ("/a", 50, said(Some(600), None, None))]);
        assert_eq!(totals(&lists, &Estimate::default(), None).stated, Some(600));
        for number in 0..2 * STATED_LISTS_MAX as u64 {
            lists.take((HostId(0), &format!("/{number}")), 1, said(Some(number + 1), None, None), UnixMillis(2));
        }
        assert_eq!(lists.lists.len(), STATED_LISTS_MAX);
        let note = lists.note().unwrap();
        assert!(lists.note().is_none(), "unchanged");
        assert_eq!(StatedLists::from_bytes(Some(&note)).lists, lists.lists);
        assert_eq!(StatedLists::from_bytes(Some(b"{")), StatedLists::default());
        lists.take((HostId(0), &"x".repeat(9_000)), 1, said(Some(9), None, None), UnixMillis(2));
        assert!(lists.note().is_none(), "an address without end is no list");
    }

    #[test]
    fn a_pager_announces_pages_that_were_not_read() {
        let mut series = Series::default();
        (series.name, series.pages, series.pages_read) = ("/list".into(), 75, 10);
        (series.listed_read, series.per_page) = (1_000, 100);
        let estimate = Estimate { series: vec![series], ..Estimate::default() };
        let found = totals(&StatedLists::default(), &estimate, Some(7_400));
        assert_eq!((found.stated, found.stated_is_more), (Some(7_500), false));
        assert_eq!((found.stated_lists[0].shown, found.stated_lists[0].by), (1_000, SizeSign::Pager));
        let endless = of(&[("/x", u64::MAX, said(None, None, Some(9_000_000)))]);
        assert_eq!(totals(&endless, &Estimate::default(), None).stated, None);
    }
}
