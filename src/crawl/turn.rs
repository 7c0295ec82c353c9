//! The place of a page in its list: which page comes behind it, whether that one was read before, and which pages lie farther on
//! than reading has come.
//!
//! Draws no conclusions: `site_loop::lists` has pages read again, [`crate::frontier::priority`] has the far ones wait.

use std::collections::HashSet;

use super::outlinks::{self, PageFindings};
use super::site::{Found, Site};
use super::visit::Job;
use crate::crawldb::{CrawlDbError, Discovered, Outcome};
use crate::page::pagination;

/// A page of a list that was read.
#[derive(Debug)]
pub struct Turn {
    pub series: Box<str>,
    /// It was never read before.
    pub is_first: bool,
    /// It lists other targets than when it was read last, or none by which that could be told.
    pub has_changed: bool,
    /// The page that comes next, as far as this one's links tell.
    pub behind: Option<Behind>,
}

/// The page behind another one.
#[derive(Debug)]
pub struct Behind {
    pub row: Discovered,
    pub page: u64,
    /// The database has a reading of it.
    pub was_read: bool,
}

/// Where a page stands that was just read; None for what is no list.
///
/// # Errors
/// Those of the database.
pub async fn of(site: &Site, job: &Job, read: &PageFindings) -> Result<Option<Turn>, CrawlDbError> {
    let Some(listing) = &read.listing else { return Ok(None) };
    let is_read = |outcome: Option<Outcome>| outcome.is_some_and(Outcome::was_fetched);
    let record = site.db.url_record(&job.lease.key).await?;
    let is_first = !record.is_some_and(|record| is_read(record.outcome));
    let has_changed = match listing.page.checked_sub(1).filter(|_| !is_first) {
        None => false,
        Some(before) => {
            let after = Some((job.lease.key.host, listing.series.clone(), before));
            let last = site.db.listings(&site.rules.name, after, 1).await?;
            let last = last.first().map(|row| &row.listing).filter(|last| {
                (&last.series, last.page) == (&listing.series, listing.page) && !listing.targets.is_empty()
            });
            last.is_none_or(|last| last.targets != listing.targets)
        }
    };
    let next = pages_behind(site, job, &read.found).into_iter().next();
    let mut behind = None;
    if let Some((page, found)) = next
        && let Some(row) = site.row(&found.url, found.class, job.lease.depth.saturating_add(1)).await?
    {
        let record = site.db.url_record(&row.key).await?;
        behind = Some(Behind { row, page, was_read: record.is_some_and(|record| is_read(record.outcome)) });
    }
    Ok(Some(Turn { series: listing.series.clone(), is_first, has_changed, behind }))
}

/// The links of a page of a list to pages of the same list that lie farther on than the pages beside it: read at
/// once, they would be read before the ones between.
#[must_use]
pub fn leaps(site: &Site, job: &Job, found: &[Found]) -> HashSet<Box<str>> {
    let Some((_, own)) = outlinks::place(site, job) else { return HashSet::new() };
    let behind = pages_behind(site, job, found);
    let numbers = || std::iter::once(own).chain(behind.iter().map(|(page, _)| *page));
    // The step from page to page: 1, or the items of a page where the number is an offset.
    let Some(step) = numbers().zip(numbers().skip(1)).map(|(one, next)| next - one).min() else {
        return HashSet::new();
    };
    let beside = numbers().zip(numbers().skip(1)).skip(1).take_while(|(one, next)| next - one <= step).count();
    behind.iter().skip(beside + 1).map(|(_, found)| found.url.as_str().into()).collect()
}

/// The links of a page of a list to pages of the same list behind it, each once, in their order.
fn pages_behind<'a>(site: &Site, job: &Job, found: &'a [Found]) -> Vec<(u64, &'a Found)> {
    let Some((series, own)) = outlinks::place(site, job) else { return Vec::new() };
    let of_list = found.iter().filter(|found| found.class == job.class && found.url.origin() == job.url.origin());
    let mut pages: Vec<(u64, &Found)> = of_list
        .filter_map(|found| Some((pagination::of(found.url.path(), found.page_capture)?, found)))
        .filter(|(page, _)| *page.series == *series && page.number > own)
        .map(|(page, found)| (page.number, found))
        .collect();
    pages.sort_by_key(|(page, _)| *page);
    pages.dedup_by_key(|(page, _)| *page);
    pages
}
