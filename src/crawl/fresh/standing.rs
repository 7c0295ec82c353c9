//! Which rows of a list are new: what is known of their targets, and which rows are above those that the last recheck showed.
//!
//! This depends on one time only: when the target of a row was first found, by whichever crew and on whatever page.

use super::{Looking, boards};
use crate::job::{Found, PageFindings};
use crate::judging::judge;
use crate::limits::LOOK_ROWS_MAX;
use gleaner_base::clock::UnixMillis;
use gleaner_page::boards::Row;
use gleaner_rules::{Class, SiteRules};
use gleaner_store::crawldb::{CrawlDbError, UrlRecord};

/// Number of rows, most of which must be older, that mark the beginning of the last recheck's rows.
const BORDER_ROWS: usize = 6;

/// A row with what is known of its target.
pub(super) struct Standing {
    pub found: Found,
    /// Its index among the parsed rows; None if a page was read by its links.
    pub row: Option<usize>,
    pub record: Option<UrlRecord>,
    /// Its position never changes.
    pub is_pinned: bool,
    /// It was never requested, and the last recheck did not show it.
    pub is_new: bool,
}

impl Standing {
    /// True if it was found after `last`, and never requested.
    fn was_heard_of(&self, (last, now): (UnixMillis, UnixMillis)) -> bool {
        self.record.is_some_and(|record| record.outcome.is_none() && !was_known(&record, (last, now)))
    }
}

/// True for targets found by `last`. A time in the future comes from a wrong clock: the real one is unknown, but not after `last`.
fn was_known(record: &UrlRecord, (last, now): (UnixMillis, UnixMillis)) -> bool {
    !(last < record.first_seen && record.first_seen <= now)
}

/// The rows of a page with their state.
pub(super) struct Page {
    pub rows: Vec<Standing>,
    /// Number of parsed rows above those that the last recheck could have shown, including pinned ones.
    pub above: usize,
    /// This applies to all of them: the next page may have more.
    pub is_above: bool,
}

/// Looks up what is known of a page's rows. `since` contains the previous recheck, if no page of this one has reached its rows yet, and
/// this one.
pub(super) async fn ask(
    of: Looking<'_>,
    read: &PageFindings,
    board: Option<&boards::ParsedBoard>,
    since: Option<(UnixMillis, UnixMillis)>,
) -> Result<Page, CrawlDbError> {
    let mined = board.map(|board| board.page.rows.as_slice()).unwrap_or_default();
    let mut rows = Vec::new();
    for (found, row) in rows_of(&of.rows.rules, read, mined) {
        let Some(key) = of.rows.row(&found.url, found.class, of.job.lease.depth).await?.map(|row| row.key) else {
            continue;
        };
        let record = of.rows.record(&key).await?;
        let is_pinned = row.and_then(|row| mined.get(row)).is_some_and(|row| row.pinned.is_some());
        rows.push(Standing { found, row, record, is_pinned, is_new: record.is_none() });
    }
    let Some(since) = since else { return Ok(Page { rows, above: 0, is_above: false }) };
    let border = border(&rows, since);
    // History may have found new entries of this list on other pages: those never requested are new all the same.
    let above = border.unwrap_or(rows.len());
    for row in rows[..above].iter_mut().filter(|row| !row.is_pinned) {
        row.is_new |= row.was_heard_of(since);
    }
    let above = border.map_or(mined.len(), |at| rows[at].row.unwrap_or(0));
    Ok(Page { rows, above, is_above: border.is_none() })
}

/// The first row that the last recheck could have shown; None if the page has only newer ones. A single older row is no border
/// yet: it may have moved up again.
fn border(rows: &[Standing], since: (UnixMillis, UnixMillis)) -> Option<usize> {
    let free: Vec<usize> = (0..rows.len()).filter(|&at| !rows[at].is_pinned).collect();
    let was_there = |at: &usize| rows[*at].record.is_some_and(|record| was_known(&record, since));
    let is_border = |place: &usize| {
        let next = &free[*place..free.len().min(place + BORDER_ROWS)];
        was_there(&free[*place]) && 2 * next.iter().filter(|at| was_there(at)).count() > next.len()
    };
    (0..free.len()).find(is_border).map(|place| free[place])
}

/// Targets of the rows of a page, in order: of the parsed rows, else of its links to what a list lists.
pub(super) fn rows_of(rules: &SiteRules, read: &PageFindings, mined: &[Row]) -> Vec<(Found, Option<usize>)> {
    let judged = |(at, row): (usize, &Row)| {
        let found = judge(rules, row.url.clone()).ok().filter(|found| found.class.is_target())?;
        Some((found, Some(at)))
    };
    let rows: Vec<_> = mined.iter().enumerate().filter_map(judged).take(LOOK_ROWS_MAX).collect();
    if !rows.is_empty() {
        return rows;
    }
    let is_page = |found: &&Found| found.class.is_target() && found.class != Class::Download;
    let has_pages = read.found.iter().any(|found| is_page(&found));
    let is_row = |found: &&Found| found.class.is_target() && has_pages == (found.class != Class::Download);
    read.found.iter().filter(is_row).take(LOOK_ROWS_MAX).map(|found| (found.clone(), None)).collect()
}
