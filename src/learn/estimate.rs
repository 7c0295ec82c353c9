//! How many torrents a site has, by what its lists announce (LEARNING §14.12; NT of ALGORITHMS §7).

use crate::limits::ERROR_MAX;
use std::collections::BTreeSet;

use crate::choose::{Choice, List};
use crate::map::{Map, Page, UrlId};
use crate::things::Thing;

/// The size of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimate {
    /// About so many.
    About(u64),
    /// The lists do not say how many pages they have.
    AtLeast(u64),
}

/// Estimates the size of a site.
#[must_use]
pub fn estimate(map: &Map, choice: &Choice) -> Estimate {
    let seen = seen(map, choice);
    let mut total = 0.0;
    let mut known: BTreeSet<Thing> = BTreeSet::new();
    let mut counted = BTreeSet::new();
    let mut is_sure = choice.unreached == 0 && !map.is_full && choice.things.are_told_apart();
    for list in &choice.lists {
        let own = own(choice, list);
        // What other lists show is counted once.
        let new = own.difference(&known).count() as f64 / own.len().max(1) as f64;
        let (rows, is_whole) = rows_of(map, choice, list, &mut counted);
        is_sure &= is_whole;
        total += rows * new * torrents_per_row(map, choice, list);
        known.extend(own);
    }
    if choice.lists.is_empty() {
        // Hubs alone lead to the torrents' pages.
        let per_row = PerRow::of(map, choice);
        total = per_row.rows * per_row.mean;
        is_sure &= !choice.hubs.is_empty() && per_row.read > 0 && per_row.error <= ERROR_MAX;
    }
    // Behind hubs that were not read may be more lists.
    let is_read = |shape: &crate::map::ShapeId| {
        let is_known = |url: UrlId| map.page(url).is_some_and(Page::is_answered) || map.url(url).refused.is_some();
        map.urls_of(*shape).iter().all(|url| is_known(*url))
    };
    is_sure &= choice.hubs.iter().all(is_read);
    is_sure &=
        choice.lists.iter().all(|list| counts_torrents(choice, list)) || PerRow::of(map, choice).error <= ERROR_MAX;
    let total = (total.round() as u64).max(seen);
    if is_sure { Estimate::About(total) } else { Estimate::AtLeast(seen.max(in_rows(map, choice, &known))) }
}

/// Torrents of the rows that were seen, where details were read that all have as many.
fn in_rows(map: &Map, choice: &Choice, rows: &BTreeSet<Thing>) -> u64 {
    const READ_MIN: usize = 5;
    let per_row = PerRow::of(map, choice);
    let are_alike = per_row.read >= READ_MIN && per_row.error == 0.0 && per_row.mean >= 1.0;
    let mut details = choice.things.details.iter().flat_map(|shape| map.pages_of(*shape));
    let is_known = are_alike
        && details.all(|(_, page)| page.is_page())
        && !choice.lists.iter().any(|list| counts_torrents(choice, list));
    if is_known { rows.len() as u64 } else { 0 }
}

/// A list that links to the torrents themselves is counted by them, others by their rows.
fn counts_torrents(choice: &Choice, list: &List) -> bool {
    list.rows.is_empty() || choice.lean.is_some() && !list.torrents.is_empty()
}

fn own<'l>(choice: &Choice, list: &'l List) -> &'l BTreeSet<Thing> {
    if counts_torrents(choice, list) { &list.torrents } else { &list.rows }
}

/// Torrents that were seen on pages.
fn seen(map: &Map, choice: &Choice) -> u64 {
    let pages = map.pages().filter(|(_, page)| page.is_page());
    let shown = pages.map(|(id, page)| choice.things.torrents(map, id, page));
    if choice.things.are_told_apart() {
        return shown.flatten().collect::<BTreeSet<Thing>>().len() as u64;
    }
    // Each page may show the same ones.
    shown.map(|torrents| torrents.len() as u64).max().unwrap_or(0)
}

/// A list by its path, and by what it has beside its page number.
type Series = (String, Vec<(crate::shape::Place, String)>);

/// Rows of all pages of a list, and whether the number of its pages is known. Pages that were read count by their rows, each row once, as what is
/// pinned stands on all of them; others by what a page adds in the mean, the last one of a series by half of that.
/// Series that were counted with another list are not counted again: its first page may have another form than the others.
fn rows_of(map: &Map, choice: &Choice, list: &List, counted: &mut BTreeSet<Series>) -> (f64, bool) {
    let shown = |id: UrlId| {
        let page = map.page(id).filter(|page| page.is_answered())?;
        let of_torrents = counts_torrents(choice, list);
        Some(if of_torrents { choice.things.torrents(map, id, page) } else { choice.things.rows(map, id, page) })
    };
    let mut series: std::collections::BTreeMap<_, (u64, Vec<(u64, UrlId)>)> = std::collections::BTreeMap::new();
    for shape in &list.shapes {
        let field = choice.fields.get(shape);
        for url in map.urls_of(*shape).iter().filter(|url| choice.is_in_order(map.path(**url))) {
            let number = field.and_then(|field| map.shape(*shape).field(map.path(*url), &field.place)?.number());
            let page = field.zip(number).map_or(0, |(field, number)| field.pages_to(number)).max(1);
            let mut others: Vec<(crate::shape::Place, String)> = map
                .shape(*shape)
                .fields(map.path(*url))
                .into_iter()
                .filter(|of| field.is_none_or(|field| field.place != of.place))
                .filter(|of| !matches!(&of.place, crate::shape::Place::Query(key, _) if choice.dropped.contains(key)))
                .map(|of| (of.place, of.value.to_owned()))
                .collect();
            others.sort();
            let of = (map.shape(*shape).path.clone(), others);
            let entry = series.entry(of).or_insert((1, Vec::new()));
            entry.0 = entry.0.max(page);
            entry.1.push((page, *url));
        }
    }
    let is_open = list.shapes.iter().filter_map(|shape| choice.fields.get(shape)).any(|field| field.is_open);
    let full = list.pages.iter().filter_map(|id| Some(shown(*id)?.len() as f64)).fold(0.0, f64::max);
    let mut total = 0.0;
    let mut is_whole = true;
    // Of the series before: the pages that were read, and what they show. Another order or choice of the same rows is no second list.
    let (mut pages_known, mut rows_known) = (BTreeSet::new(), BTreeSet::new());
    for (of, (last, urls)) in series {
        if !counted.insert(of) {
            continue;
        }
        let (mut rows, mut pages) = (BTreeSet::new(), BTreeSet::new());
        for (page, url) in urls.iter().filter(|(page, _)| *page < last) {
            if let Some(shown) = shown(*url) {
                rows.extend(shown);
                pages.insert(*page);
            }
        }
        let read = pages.len() as f64;
        let mean = if pages.is_empty() { full } else { rows.len() as f64 / read };
        let of_last = urls.iter().filter(|(page, _)| *page == last).find_map(|(_, url)| shown(*url));
        // A lone "next" does not say how many pages follow.
        is_whole &= of_last.is_some() || last > 1 && !is_open;
        let behind = if of_last.is_some() { 0.0 } else { mean / 2.0 };
        rows.extend(of_last.into_iter().flatten());
        let size = rows.len() as f64 + (last as f64 - 1.0 - read).max(0.0) * mean + behind;
        let beside = urls.iter().filter(|(page, _)| pages_known.contains(page));
        let beside: BTreeSet<Thing> = beside.filter_map(|(_, url)| shown(*url)).flatten().collect();
        let new = beside.difference(&rows_known).count() as f64 / beside.len() as f64;
        total += if beside.is_empty() { size } else { size * new };
        pages_known.extend(urls.iter().filter(|(_, url)| map.page(*url).is_some()).map(|(page, _)| *page));
        rows_known.extend(rows);
    }
    (total, is_whole)
}

/// Torrents of a row: 1 where lists link to torrents themselves, else the mean over the details that were
/// read.
fn torrents_per_row(map: &Map, choice: &Choice, list: &List) -> f64 {
    if counts_torrents(choice, list) {
        return 1.0;
    }
    let per_row = PerRow::of(map, choice);
    if per_row.read == 0 { 1.0 } else { per_row.mean }
}

/// Torrents of a detail, over those that were read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PerRow {
    pub read: usize,
    /// URLs of details that are no later page of one.
    pub rows: f64,
    /// Those of later pages included, as far as there are any.
    pub mean: f64,
    /// Standard error of the mean, as a share of it.
    pub error: f64,
}

impl PerRow {
    /// Counts the details that were read. Later pages of a thread are read more often than they are: they count by their number.
    #[must_use]
    pub fn of(map: &Map, choice: &Choice) -> Self {
        let Some(first) = choice.things.details.first().map(|shape| map.shape(*shape)) else {
            return Self { read: 0, rows: 0.0, mean: 1.0, error: 0.0 };
        };
        let (mut counts, mut rows, mut later) = (Vec::new(), 0.0, 0.0);
        for shape in &choice.things.details {
            let form = map.shape(*shape);
            let is_later = form.path == first.path && form.query.len() > first.query.len();
            let of_shape: Vec<f64> = map
                .pages_of(*shape)
                .filter(|(_, page)| page.is_page())
                .map(|(id, page)| choice.things.torrents(map, id, page).len() as f64)
                .collect();
            let urls = map.urls_of(*shape).len() as f64;
            if is_later {
                later += urls * of_shape.iter().sum::<f64>() / (of_shape.len() as f64).max(1.0);
            } else {
                rows += urls;
                counts.extend(of_shape);
            }
        }
        let read = counts.len();
        let mean = counts.iter().sum::<f64>() / (read as f64).max(1.0);
        let variance = counts.iter().map(|of| (of - mean).powi(2)).sum::<f64>() / (read as f64 - 1.0).max(1.0);
        // Where all of them were read, nothing is uncertain.
        let unread = (1.0 - read as f64 / f64::max(rows, 1.0)).max(0.0);
        let error = if mean > 0.0 { (unread * variance / (read as f64).max(1.0)).sqrt() / mean } else { 1.0 };
        Self { read, rows, mean: mean + later / f64::max(rows, 1.0), error }
    }
}
