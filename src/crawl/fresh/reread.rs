//! Re-reading threads with new posts: from which page, on to the last read page that follows it, and once more if that one did not arrive.

use super::Looking;
use super::arrivals::Sighting;
use super::boards::interval;
use super::gone::hash;
use crate::job::{PageFindings, RecheckResult};
use crate::judging::judge;
use gleaner_base::url::CrawlUrl;
use gleaner_page::boards::Row;
use gleaner_page::boards::identity::{page_of_thread, thread_id};
use gleaner_page::boards::walk::{Change, Verdict};
use gleaner_page::pagination;
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Discovered, Outcome};

/// Number of last pages of a thread that are searched for the last one that was read.
const LAST_PAGES: usize = 8;

/// Makes threads with new posts due again from their last known page.
pub(super) async fn reread(
    of: Looking<'_>,
    verdict: &Verdict,
    mined: &[Row],
    seen: &mut RecheckResult,
) -> Result<(), CrawlDbError> {
    for fetch in &verdict.fetch {
        let (row, is_new) = (mined.get(fetch.row), fetch.why == Change::New);
        let last_read = match row {
            Some(row) if is_unread(of, &row.url).await? => row.last_page.clone(),
            Some(row) if !is_new => last_read(of, row).await?,
            _ => None,
        };
        let from = match is_new {
            // Its new links are followed. If history found it since the last recheck, its last page is not among them.
            true => [last_read, None, None],
            // No class may match a link to the last post (phpBB's `viewtopic.php?f=&t=&p=`): then the thread's own pages are used.
            false => [last_read, Some(fetch.from.clone()), row.map(|row| row.url.clone())],
        };
        let mut judged = from.into_iter().flatten().filter_map(|from| judge(&of.rows.rules, from).ok());
        let Some(found) = judged.find(|found| found.class.is_target()) else { continue };
        let Some(row) = of.rows.behind(of.job, &found).await? else { continue };
        seen.due.push(Discovered { due: of.at, ..row });
        of.fresh.boards.asks_again(found.url.as_str(), of.at);
        let told = mined.get(fetch.row).and_then(|row| row.last).map(interval);
        let sighting = Sighting { shown: told, last_absent: seen.last, first_seen: of.at };
        of.fresh.arrivals.sighted_anew(hash(found.url.as_str()), sighting);
    }
    Ok(())
}

/// True for a known page that was never read: new posts of an unread thread are on its last page, whichever one that was before.
async fn is_unread(of: Looking<'_>, page: &CrawlUrl) -> Result<bool, CrawlDbError> {
    let Ok(page) = judge(&of.rows.rules, page.clone()) else { return Ok(false) };
    let Some(key) = of.rows.row(&page.url, page.class, of.job.lease.depth).await?.map(|row| row.key) else {
        return Ok(false);
    };
    Ok(of.rows.db.url_record(&key).await?.is_some_and(|record| record.outcome.is_none()))
}

/// The last page of a thread that was read, among those that its row links.
async fn last_read(of: Looking<'_>, row: &Row) -> Result<Option<CrawlUrl>, CrawlDbError> {
    let pages = row.last_page.as_ref().map(pages_down_from).unwrap_or_default();
    last_read_of(of, pages.into_iter()).await
}

/// The first of these pages of a thread that was read.
async fn last_read_of(
    of: Looking<'_>,
    pages: impl Iterator<Item = CrawlUrl>,
) -> Result<Option<CrawlUrl>, CrawlDbError> {
    for url in pages {
        let Ok(page) = judge(&of.rows.rules, url) else { continue };
        let Some(key) = of.rows.row(&page.url, page.class, of.job.lease.depth).await?.map(|row| row.key) else {
            continue;
        };
        if of.rows.db.url_record(&key).await?.is_some_and(|record| record.outcome.is_some_and(Outcome::was_fetched)) {
            return Ok(Some(page.url));
        }
    }
    Ok(None)
}

/// From a page of a thread that was requested again, goes on to the last read page after it: the new posts are there,
/// and a row may link no page of its thread, or may have been seen when there were fewer.
pub(super) async fn read_on(
    of: Looking<'_>,
    read: &PageFindings,
    seen: &mut RecheckResult,
) -> Result<(), CrawlDbError> {
    if of.job.class != Class::Thread || !of.fresh.boards.asked_again(of.job.url.as_str()) {
        return Ok(());
    }
    let number = |url: &CrawlUrl| page_of_thread(url.as_str()).unwrap_or(1);
    let (id, own) = (thread_id(of.job.url.as_str()), number(&of.job.url));
    let of_thread = read.found.iter().filter(|found| found.class == Class::Thread);
    let mut behind: Vec<(u64, &CrawlUrl)> = of_thread
        .filter(|found| thread_id(found.url.as_str()) == id)
        .map(|found| (number(&found.url), &found.url))
        .filter(|(number, _)| *number > own)
        .collect();
    behind.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let behind: Vec<CrawlUrl> = behind.into_iter().map(|(_, url)| url.clone()).take(LAST_PAGES).collect();
    // Its last page waits in history if that has listed the thread and not read it to its end.
    let last = match behind.first() {
        Some(last) if is_unread(of, last).await? => Some(last.clone()),
        _ => None,
    };
    let read = last_read_of(of, behind.into_iter()).await?;
    for page in last.into_iter().chain(read) {
        let Some(row) = of.rows.row(&page, Class::Thread, of.job.lease.depth.saturating_add(1)).await? else {
            continue;
        };
        seen.due.push(Discovered { due: of.at, ..row });
        of.fresh.boards.asks_again(page.as_str(), of.at);
        of.fresh.arrivals.passes_on(hash(of.job.url.as_str()), hash(page.as_str()));
    }
    Ok(())
}

/// A page of a thread and those before it, if their numbers are pages and not offsets.
fn pages_down_from(last: &CrawlUrl) -> Vec<CrawlUrl> {
    let path = last.path();
    let Some(number) = pagination::of(path, None).map(|page| page.number) else { return Vec::new() };
    let digits = number.to_string();
    let Some(at) = path.rfind(&digits) else { return Vec::new() };
    let page = |number: u64| format!("{}{number}{}", &path[..at], &path[at + digits.len()..]);
    let numbers = (2..=number).rev().take(LAST_PAGES);
    numbers.map(|number| CrawlUrl::from_parts(last.origin(), &page(number))).collect()
}

/// Requests once more pages of threads that were requested for new posts and did not arrive (a server in trouble, a refusal, a kill before
/// the commit): their lists show nothing new by then.
pub(super) async fn make_good(of: Looking<'_>, seen: &mut RecheckResult) -> Result<(), CrawlDbError> {
    for (page, asked) in of.fresh.boards.overdue(of.at) {
        let found =
            CrawlUrl::parse(&page, &of.rows.rules.canonical).ok().and_then(|url| judge(&of.rows.rules, url).ok());
        let row = match found {
            Some(found) => of.rows.behind(of.job, &found).await?,
            None => None,
        };
        let Some(row) = row else {
            of.fresh.boards.came(&page);
            continue;
        };
        let record = of.rows.db.url_record(&row.key).await?;
        let visited = record.filter(|record| record.visited > asked && record.visited <= of.at);
        if visited.and_then(|record| record.outcome).is_some_and(is_an_answer) {
            of.fresh.boards.came(&page);
        } else if of.fresh.boards.tries_again(&page, of.at) {
            seen.due.push(Discovered { due: of.at, ..row });
        }
    }
    Ok(())
}

/// True if a page arrived, or will never exist however often it is requested.
fn is_an_answer(outcome: Outcome) -> bool {
    !matches!(
        outcome,
        Outcome::Denied
            | Outcome::ClientError
            | Outcome::ServerError
            | Outcome::TimedOut
            | Outcome::Truncated
            | Outcome::ProtocolError
            | Outcome::Throttled
            | Outcome::DnsFailed
            | Outcome::ConnectFailed
            | Outcome::TlsFailed
            | Outcome::LoggedOut
    )
}
