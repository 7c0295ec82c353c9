//! The place of a page in its list: which page comes behind it, whether that one was read before, and which pages lie farther on
//! than reading has come.
//!
//! Draws no conclusions: `site_loop::lists` has pages read again, [`crate::frontier::priority`] has the far ones wait.

use std::collections::HashSet;

use super::outlinks::{self, PageFindings};
use super::site::{Found, Site};
use super::version;
use super::visit::Job;
use gleaner_base::clock::UnixMillis;
use gleaner_page::pagination;
use gleaner_store::crawldb::{CrawlDbError, Discovered, HostId, Listing, Outcome, UrlKey};

/// A page of a list that was read.
#[derive(Debug)]
pub struct Turn {
    pub series: Box<str>,
    /// When it was read last; None at its first reading.
    pub last_read: Option<UnixMillis>,
    /// It has other rows than when it was read last, or nothing by which that could be told.
    pub has_changed: bool,
    /// It is the first of its list, which was read before by another name: with a number, or without.
    pub is_front_again: bool,
    /// The page that comes next, as far as this one's links tell.
    pub behind: Option<Behind>,
}

/// The page behind another one.
#[derive(Debug)]
pub struct Behind {
    pub row: Discovered,
    pub page: u64,
    /// When it was read last, as far as the database knows.
    pub last_read: Option<UnixMillis>,
}

/// Where a page stands that was just read; None for what is no list.
///
/// # Errors
/// Those of the database.
pub async fn of(site: &Site, job: &Job, read: &PageFindings) -> Result<Option<Turn>, CrawlDbError> {
    let Some(listing) = &read.listing else { return Ok(None) };
    let last_read = last_read(site, &job.lease.key).await?;
    let has_changed =
        last_read.is_some() && !says_the_same(site, job, read) && !lists_the_same(site, job, listing).await?;
    let mut is_front_again = false;
    for first in (0..=1).filter(|_| listing.page <= 1 && last_read.is_none()) {
        is_front_again |= last_listing(site, job.lease.key.host, &listing.series, first).await?.is_some();
    }
    let next = pages_behind(site, job, &read.found).into_iter().next();
    let mut behind = None;
    if let Some((page, found)) = next
        && let Some(row) = site.row(&found.url, found.class, job.lease.depth.saturating_add(1)).await?
    {
        let last_read = self::last_read(site, &row.key).await?;
        behind = Some(Behind { row, page, last_read });
    }
    Ok(Some(Turn { series: listing.series.clone(), last_read, has_changed, is_front_again, behind }))
}

/// A page that failed and is tried again was not read.
async fn last_read(site: &Site, key: &UrlKey) -> Result<Option<UnixMillis>, CrawlDbError> {
    let record = site.db.url_record(key).await?;
    let is_read = |outcome| matches!(outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
    Ok(record.filter(|record| record.outcome.is_some_and(is_read)).map(|record| record.visited))
}

/// Some sites name all links anew at each view: their rows are told by what they say.
fn says_the_same(site: &Site, job: &Job, read: &PageFindings) -> bool {
    let last = job.lease.memo.as_deref().and_then(|memo| version::said(memo, site.rules_token));
    read.said.is_some() && read.said == last
}

async fn lists_the_same(site: &Site, job: &Job, listing: &Listing) -> Result<bool, CrawlDbError> {
    let last = last_listing(site, job.lease.key.host, &listing.series, listing.page).await?;
    Ok(!listing.targets.is_empty() && last.is_some_and(|last| last.targets == listing.targets))
}

/// What a page of a list named when it was read last, as far as that is on the disk.
///
/// # Errors
/// Those of the database.
pub async fn last_listing(site: &Site, host: HostId, series: &str, page: u64) -> Result<Option<Listing>, CrawlDbError> {
    let after = match page.checked_sub(1) {
        Some(before) => (host, series.into(), before),
        None => (host, just_before(series), u64::MAX),
    };
    let rows = site.db.listings(&site.rules.name, Some(after), 1).await?;
    let is_it = |listing: &Listing| &*listing.series == series && listing.page == page;
    Ok(rows.into_iter().map(|row| row.listing).find(is_it))
}

/// A name that comes before this one, with none between that an address could have.
fn just_before(series: &str) -> Box<str> {
    let mut characters = series.chars();
    let last = characters.next_back().and_then(|last| char::from_u32(u32::from(last).checked_sub(1)?));
    let rest = characters.as_str();
    last.map_or_else(|| rest.into(), |last| format!("{rest}{last}{}", char::MAX).into())
}

/// The links of a page of a list to pages of the same list that lie farther on than the pages beside it: read at
/// once, they would be read before the ones between.
#[must_use]
pub fn leaps(site: &Site, job: &Job, found: &[Found]) -> HashSet<Box<str>> {
    let Some((_, own)) = outlinks::place(&site.rules, job) else { return HashSet::new() };
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
    let Some((series, own)) = outlinks::place(&site.rules, job) else { return Vec::new() };
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
