//! The position of a page in its list: which page follows it, and whether that one was read before.
//!
//! Draws no conclusions: `site_loop::lists` schedules pages to be read again.

use crate::job::{Behind, Job, PageFindings, Turn};
use crate::rows::Rows;
use crate::series::pages_behind;
use crate::version;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CrawlDbError, HostId, Listing, Outcome, UrlKey};

/// The position of a page that was just read; None for pages that are no lists.
///
/// # Errors
/// Those of the database.
pub async fn of(rows: &Rows, job: &Job, read: &PageFindings) -> Result<Option<Turn>, CrawlDbError> {
    let Some(listing) = &read.listing else { return Ok(None) };
    let last_read = last_read(rows, &job.lease.key).await?;
    let has_changed =
        last_read.is_some() && !says_the_same(rows, job, read) && !lists_the_same(rows, job, listing).await?;
    let mut is_front_again = false;
    for first in (0..=1).filter(|_| listing.page <= 1 && last_read.is_none()) {
        is_front_again |= last_listing(rows, job.lease.key.host, &listing.series, first).await?.is_some();
    }
    let next = pages_behind(&rows.rules, job, &read.found).into_iter().next();
    let mut behind = None;
    if let Some((page, found)) = next
        && let Some(row) = rows.behind(job, found).await?
    {
        let last_read = self::last_read(rows, &row.key).await?;
        behind = Some(Behind { row, page, last_read });
    }
    Ok(Some(Turn { series: listing.series.clone(), last_read, has_changed, is_front_again, behind }))
}

/// The last reading of a page. A page that failed and is retried was not read.
async fn last_read(rows: &Rows, key: &UrlKey) -> Result<Option<UnixMillis>, CrawlDbError> {
    let record = rows.db.url_record(key).await?;
    let is_read = |outcome| matches!(outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
    Ok(record.filter(|record| record.outcome.is_some_and(is_read)).map(|record| record.visited))
}

/// Some sites generate all links anew at each view: their rows are compared by content.
fn says_the_same(rows: &Rows, job: &Job, read: &PageFindings) -> bool {
    let last = job.lease.memo.as_deref().and_then(|memo| version::said(memo, rows.rules_token));
    read.said.is_some() && read.said == last
}

async fn lists_the_same(rows: &Rows, job: &Job, listing: &Listing) -> Result<bool, CrawlDbError> {
    let last = last_listing(rows, job.lease.key.host, &listing.series, listing.page).await?;
    Ok(!listing.targets.is_empty() && last.is_some_and(|last| last.targets == listing.targets))
}

/// What a page of a list named at its last reading, if that is on disk.
///
/// # Errors
/// Those of the database.
pub async fn last_listing(rows: &Rows, host: HostId, series: &str, page: u64) -> Result<Option<Listing>, CrawlDbError> {
    let after = match page.checked_sub(1) {
        Some(before) => (host, series.into(), before),
        None => (host, just_before(series), u64::MAX),
    };
    let found = rows.db.listings(&rows.rules.name, Some(after), 1).await?;
    let is_it = |listing: &Listing| &*listing.series == series && listing.page == page;
    Ok(found.into_iter().map(|row| row.listing).find(is_it))
}

/// A name that sorts before this one, with no possible name between them.
fn just_before(series: &str) -> Box<str> {
    let mut characters = series.chars();
    let last = characters.next_back().and_then(|last| char::from_u32(u32::from(last).checked_sub(1)?));
    let rest = characters.as_str();
    last.map_or_else(|| rest.into(), |last| format!("{rest}{last}{}", char::MAX).into())
}
