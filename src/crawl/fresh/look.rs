//! A look at a list: what is new on it, which of its threads are read again, how far the look goes, and what has vanished from it.
//!
//! From what a page was read as to what the loop makes due. Asks the database what is known of the rows; writes nothing there.

use std::collections::{HashMap, HashSet};

use super::arrivals::Sighting;
use super::boards::{self, seconds};
use super::gone::hash;
use super::rows::Vanished;
use crate::boards::Row;
use crate::boards::identity::{page_of_thread, thread_id};
use crate::boards::next::numbers_of;
use crate::boards::walk::{Change, Grounds, Known, Verdict};
use crate::boards::when::{Precision, Time};
use crate::clock::UnixMillis;
use crate::crawl::outlinks::{self, PageFindings};
use crate::crawl::site::{Found, Site};
use crate::crawl::visit::{self, Job};
use crate::crawldb::{CrawlDbError, Discovered, Outcome, UrlRecord};
use crate::frontier::crews::Crew;
use crate::limits::{GONE_CONFIRM_TIME, LOOK_ROWS_MAX, ROW_RECHECKED_AFTER, ROWS_IN_TURN_MAX};
use crate::page::pagination;
use crate::rules::Class;
use crate::schedule::{Kind, Post};
use crate::url::CrawlUrl;

/// Pages before the last one that the last one read is looked for among.
const LAST_PAGES: usize = 8;

/// Rows of which most were there before where those of the last look begin.
const BORDER_ROWS: usize = 6;

/// Seconds that a clock which is not wrong may be ahead of ours.
const CLOCKS_DIFFER_S: i64 = 300;

/// What a look showed.
#[derive(Clone, Debug, Default)]
pub struct Seen {
    /// URLs to be asked for now although they are known.
    pub due: Vec<Discovered>,
    /// The page of the list that comes next, where nobody has read it and an increment is to.
    pub unread: Option<Discovered>,
    /// What was new, for the schedule.
    pub posts: Vec<Post>,
    /// At which list, by the URL of its first page; none where no list was looked at.
    pub list: Option<String>,
    /// The page was that first page.
    pub is_front: bool,
    /// It is a page behind a first one, though its address alone does not tell.
    pub is_behind: bool,
    /// The look at this list before.
    pub last: Option<UnixMillis>,
}

/// A row with what the database knows.
struct Asked {
    found: Found,
    /// Its place among the rows that were mined; none where a page was read by its links.
    row: Option<usize>,
    record: Option<UrlRecord>,
}

/// A URL that was found and not fetched yet.
const UNVISITED: UrlRecord =
    UrlRecord { depth: 0, attempts: 0, outcome: None, first_seen: UnixMillis(0), visited: UnixMillis(0) };

/// Whether a page is one that a look goes over: the front of a list, or the page that a look on its way waits for.
#[must_use]
pub fn is_looked_at(site: &Site, job: &Job, is_front: bool) -> bool {
    job.class.is_listing() && (is_front || site.fresh.boards.awaits(job.url.as_str()).is_some())
}

/// Whether the rows of a page are read: those of a look, and of lists of threads those that history reads. What stands there was told
/// before a thread comes up from it: its replies, and its last post by the site's clock, where nobody knows the zone yet.
#[must_use]
pub fn has_rows(site: &Site, job: &Job, is_front: bool) -> bool {
    is_looked_at(site, job, is_front) || (job.class.is_listing() && site.fresh.boards.may_count())
}

/// Takes in a page of a list that was read.
///
/// # Errors
/// Those of the database.
pub async fn look(
    site: &Site,
    job: &Job,
    read: &PageFindings,
    board: Option<boards::Read>,
    is_front: bool,
    at: UnixMillis,
) -> Result<Seen, CrawlDbError> {
    if read.denied.is_some() {
        return Ok(Seen::default());
    }
    let lists = lists_by_themselves(site, job, read, board.as_ref()).await?;
    if !is_looked_at(site, job, is_front) {
        let mut seen = Seen { due: lists, ..Seen::default() };
        if let Some(board) = board {
            let mut kept = site.fresh.boards.kept();
            board.page.rows.iter().filter(|row| is_thread(site, row)).for_each(|row| kept.count(row, seconds(at)));
        }
        read_on(site, job, read, at, &mut seen).await?;
        return Ok(seen);
    }
    let mut board = board.map(|board| by_links(site, &job.url, board, read));
    if let Some(page) = board.as_mut().map(|board| &mut board.page)
        && let Some(next) = page.next.take_if(|next| site.fresh.boards.is_another_list(job.url.as_str(), next.as_str()))
    {
        tracing::trace!(site = %site.rules.name, url = job.url.as_str(), next = next.as_str(), "the next list is no next page");
    }
    if let Some(next) = board.as_ref().and_then(|board| board.page.next.as_ref())
        && outlinks::judge(site, next.clone()).is_ok_and(|found| found.class.is_listing())
    {
        site.fresh.boards.leads_to(job.url.as_str(), next.as_str());
    }
    let pending = site.fresh.boards.awaits(job.url.as_str());
    // What was taken for a front until its own links told its place.
    let is_front = is_front && (job.lease.depth == 0 || !visit::is_behind_a_front(site, &job.url));
    if !is_front && pending.is_none() {
        return Ok(Seen { is_behind: true, due: lists, ..Seen::default() });
    }
    let (list, last, is_above) = match pending {
        Some(pending) => (pending.board, pending.last, pending.is_above),
        None => (job.url.as_str().to_owned(), last_look(site, job).await?, true),
    };
    let mut seen = Seen { list: Some(list.clone()), is_front, last, due: lists, ..Seen::default() };
    let mut asked = ask(site, job, rows(site, read, board.as_ref())).await?;
    let pinned = |asked: &Asked| {
        let row = asked.row.and_then(|row| board.as_ref()?.page.rows.get(row));
        row.is_some_and(|row| row.pinned.is_some())
    };
    let is_above = match last {
        Some(last) => is_above && heard_since(&mut asked, last, pinned),
        None => false,
    };
    let mut changes: Vec<Change> =
        asked.iter().map(|asked| if asked.record.is_none() { Change::New } else { Change::Same }).collect();
    // The times of a clock that is fast are taken for now at the latest: they would make every delay too short.
    let is_fast = board.as_ref().is_some_and(|board| board.ahead_s() > CLOCKS_DIFFER_S);
    let mined: Vec<Row> = board.as_ref().map(|board| board.page.rows.clone()).unwrap_or_default();
    if let Some(board) = board.filter(|board| !board.page.rows.is_empty()) {
        let next = next_page(site, job, board.page.next.as_ref()).await?;
        let (now, goes_on) = (seconds(at), next.is_some());
        let page = boards::Page { board: &list, url: &job.url, now, last, is_above, goes_on };
        let verdict = walk(site, &page, board, &asked);
        let news = verdict.fetch.len();
        tracing::trace!(list, url = job.url.as_str(), rows = asked.len(), news, is_above, step = ?verdict.step, "a list was looked at");
        match next.filter(|_| verdict.step.is_ok()) {
            Some((next, true)) => seen.due.push(next),
            Some((next, false)) => seen.unread = Some(next),
            None => {}
        }
        for (change, asked) in changes.iter_mut().zip(&asked) {
            *change = asked.row.and_then(|row| verdict.changes.get(row)).copied().unwrap_or(*change);
        }
        reread(site, job, &verdict, &mined, (last, at), &mut seen).await?;
    } else {
        site.fresh.boards.end(job.url.as_str());
    }
    for (asked, change) in asked.iter().zip(&changes) {
        let row = asked.row.and_then(|row| mined.get(row));
        if *change == Change::New {
            let sighting = Sighting {
                shown: row.filter(|_| !is_fast).and_then(|row| shown(asked.found.class, row)),
                last_absent: last,
                first_seen: at,
            };
            site.fresh.arrivals.sighted(hash(asked.found.url.as_str()), sighting);
        }
        if row.is_none_or(|row| row.pinned.is_none()) {
            seen.posts.extend(post(*change, row.and_then(|row| row.last.or(row.created)), last, at));
        }
    }
    ask_once_more(site, job, &asked, at, &mut seen).await?;
    if is_front && !read.truncated {
        let is_free = |asked: &&Asked| asked.row.and_then(|row| mined.get(row)).is_none_or(|row| row.pinned.is_none());
        let urls: Vec<&str> = asked.iter().filter(is_free).map(|asked| asked.found.url.as_str()).collect();
        let vanished = site.fresh.lists.look(&list, &urls, at);
        follow(site, job, vanished, at, &mut seen).await?;
        recheck(site, job, at, &mut seen).await?;
    }
    make_good(site, job, at, &mut seen).await?;
    Ok(seen)
}

/// Lists whose addresses look like pages behind the first of another and are none: those that a page links to which is no list itself,
/// or lists nothing but lists, and those that a page calls by names. Gives the ones that were taken for such pages until now.
async fn lists_by_themselves(
    site: &Site,
    job: &Job,
    read: &PageFindings,
    board: Option<&boards::Read>,
) -> Result<Vec<Discovered>, CrawlDbError> {
    let own: HashSet<String> = numbers_of(job.url.as_str()).into_iter().map(|(form, _)| form).collect();
    let is_directory = !job.class.is_target()
        && job.class != Class::Sitemap
        && !(job.class.is_listing() && read.found.iter().any(|found| found.class.is_target()));
    let mut forms: HashMap<String, HashSet<u64>> = HashMap::new();
    let lists = || read.found.iter().filter(|found| found.class.is_listing());
    if is_directory {
        for (form, number) in lists().flat_map(|found| numbers_of(found.url.as_str())) {
            if !own.contains(&form) {
                forms.entry(form).or_default().insert(number);
            }
        }
        forms.retain(|_, numbers| numbers.len() > 1);
    }
    let is_list = |url: &CrawlUrl| outlinks::judge(site, url.clone()).is_ok_and(|found| found.class.is_listing());
    let named = board.map(|board| board.page.named.as_slice()).unwrap_or_default();
    let named = named.iter().filter(|(_, url)| is_list(url)).map(|(form, _)| form.clone());
    let believed = site.fresh.boards.are_lists(forms.into_keys().chain(named));
    let mut due = Vec::new();
    if believed.is_empty() {
        return Ok(due);
    }
    for found in lists().filter(|found| numbers_of(found.url.as_str()).iter().any(|(form, _)| believed.contains(form)))
    {
        due.extend(site.row(&found.url, found.class, job.lease.depth.saturating_add(1)).await?);
    }
    Ok(due)
}

/// A page of which no row that was mined leads to what the rules take, by its links: rows without times.
fn by_links(site: &Site, read_at: &CrawlUrl, board: boards::Read, read: &PageFindings) -> boards::Read {
    if board.page.rows.iter().any(|row| is_row(site, row)) {
        return board;
    }
    let links: Vec<(Found, Option<usize>)> = rows(site, read, None);
    if !links.is_empty() {
        site.fresh.boards.without_rows(&site.rules.name, read_at.as_str());
    }
    board.with_links(links.iter().map(|(found, _)| &found.url))
}

fn is_thread(site: &Site, row: &Row) -> bool {
    outlinks::judge(site, row.url.clone()).is_ok_and(|found| found.class == Class::Thread)
}

fn is_row(site: &Site, row: &Row) -> bool {
    outlinks::judge(site, row.url.clone()).is_ok_and(|found| found.class.is_target())
}

/// Takes in a page of a list that is as it was.
///
/// # Errors
/// Those of the database.
pub async fn again(site: &Site, job: &Job, is_front: bool, at: UnixMillis) -> Result<Seen, CrawlDbError> {
    if !is_looked_at(site, job, is_front) {
        return Ok(Seen::default());
    }
    site.fresh.boards.end(job.url.as_str());
    let list = job.url.as_str();
    let last = last_look(site, job).await?;
    let mut seen = Seen { list: Some(list.to_owned()), is_front, last, ..Seen::default() };
    if is_front {
        let vanished = site.fresh.lists.again(list, at);
        follow(site, job, vanished, at, &mut seen).await?;
        recheck(site, job, at, &mut seen).await?;
    }
    make_good(site, job, at, &mut seen).await?;
    Ok(seen)
}

/// When this page was last looked at with success. What failed since then, as in a server's trouble, was no look: what comes in such a
/// time is seen late, and counts.
async fn last_look(site: &Site, job: &Job) -> Result<Option<UnixMillis>, CrawlDbError> {
    let is_look = |outcome| matches!(outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
    let record = site.db.url_record(&job.lease.key).await?;
    Ok(match record {
        Some(record) if record.outcome.is_some_and(is_look) => Some(record.visited),
        Some(record) if record.outcome.is_some() => site.fresh.boards.last_look(job.url.as_str()),
        _ => None,
    })
}

/// Where the rows of a page lead, in its order: the rows that were mined, else its links to what a list lists.
fn rows(site: &Site, read: &PageFindings, board: Option<&boards::Read>) -> Vec<(Found, Option<usize>)> {
    let mined = board.map(|board| board.page.rows.as_slice()).unwrap_or_default();
    let judged = |(at, row): (usize, &Row)| {
        let found = outlinks::judge(site, row.url.clone()).ok().filter(|found| found.class.is_target())?;
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

async fn ask(site: &Site, job: &Job, rows: Vec<(Found, Option<usize>)>) -> Result<Vec<Asked>, CrawlDbError> {
    let mut asked = Vec::with_capacity(rows.len());
    for (found, row) in rows {
        let Some(key) = site.row(&found.url, found.class, job.lease.depth).await?.map(|row| row.key) else { continue };
        let record = match site.db.url_record(&key).await? {
            // One that the increment has in hand was seen before, and waits for its first visit.
            None if site.is_news(&key).await? => Some(UNVISITED),
            record => record,
        };
        asked.push(Asked { found, row, record });
    }
    Ok(asked)
}

/// Rows above those that the last look could have shown are new on their list, though history may have heard of them since from other
/// pages: those that nobody has fetched count as unknown. True where the page has none but such. One row that was known before is none
/// of the last look's: it may be pinned, or have come up again.
fn heard_since(asked: &mut [Asked], last: UnixMillis, is_pinned: impl Fn(&Asked) -> bool) -> bool {
    let mut free: Vec<&mut Asked> = asked.iter_mut().filter(|asked| !is_pinned(asked)).collect();
    // One that the increment has in hand tells nothing of the time.
    let was_there = |asked: &&mut Asked| {
        asked.record.is_some_and(|record| record.first_seen <= last && record.first_seen > UNVISITED.first_seen)
    };
    let there: Vec<bool> = free.iter().map(was_there).collect();
    let is_border = |at: &usize| {
        let next = there.iter().skip(*at).take(BORDER_ROWS);
        there[*at] && 2 * next.clone().filter(|there| **there).count() > next.count()
    };
    let border = (0..there.len()).find(is_border);
    for asked in &mut free[..border.unwrap_or(there.len())] {
        if asked.record.is_some_and(|record| record.first_seen > last && record.outcome.is_none()) {
            asked.record = None;
        }
    }
    border.is_none()
}

/// The next page of the list as a URL to ask for, and whether it was read before. One that nobody has read comes by itself where
/// history looks; an increment goes on to some of them, as to any other link.
async fn next_page(
    site: &Site,
    job: &Job,
    next: Option<&CrawlUrl>,
) -> Result<Option<(Discovered, bool)>, CrawlDbError> {
    let Some(next) = next else { return Ok(None) };
    let Some(found) = outlinks::judge(site, next.clone()).ok().filter(|found| found.class.is_listing()) else {
        return Ok(None);
    };
    let depth = job.lease.depth.saturating_add(1);
    let Some(row) = site.row(&found.url, found.class, depth).await? else { return Ok(None) };
    let record = site.db.url_record(&row.key).await?;
    let was_read = record.is_some_and(|record| record.outcome.is_some());
    let goes_on = match job.crew {
        Crew::History => was_read,
        Crew::Increment { level } => was_read || level < site.rules.increment_depth,
    };
    Ok(goes_on.then_some((row, was_read)))
}

/// The last page of a thread that was read, as far as its row links to its pages.
async fn last_read(site: &Site, job: &Job, row: &Row) -> Result<Option<CrawlUrl>, CrawlDbError> {
    let pages = row.last_page.as_ref().map(pages_down_from).unwrap_or_default();
    last_read_of(site, job, pages.into_iter()).await
}

/// The first of these pages of a thread that was read.
async fn last_read_of(
    site: &Site,
    job: &Job,
    pages: impl Iterator<Item = CrawlUrl>,
) -> Result<Option<CrawlUrl>, CrawlDbError> {
    for url in pages {
        let Ok(page) = outlinks::judge(site, url) else { continue };
        let Some(key) = site.row(&page.url, page.class, job.lease.depth).await?.map(|row| row.key) else { continue };
        if site.db.url_record(&key).await?.is_some_and(|record| record.outcome.is_some_and(Outcome::was_fetched)) {
            return Ok(Some(page.url));
        }
    }
    Ok(None)
}

/// A page of a thread that was asked for again for its news leads on to the last one behind it that was read: the news stand there,
/// and a row may link to no page of its thread, or have been seen when there were fewer.
async fn read_on(
    site: &Site,
    job: &Job,
    read: &PageFindings,
    at: UnixMillis,
    seen: &mut Seen,
) -> Result<(), CrawlDbError> {
    if job.class != Class::Thread || !site.fresh.boards.asked_again(job.url.as_str()) {
        return Ok(());
    }
    let number = |url: &CrawlUrl| page_of_thread(url.as_str()).unwrap_or(1);
    let (id, own) = (thread_id(job.url.as_str()), number(&job.url));
    let of_thread = read.found.iter().filter(|found| found.class == Class::Thread);
    let mut behind: Vec<(u64, &CrawlUrl)> = of_thread
        .filter(|found| thread_id(found.url.as_str()) == id)
        .map(|found| (number(&found.url), &found.url))
        .filter(|(number, _)| *number > own)
        .collect();
    behind.sort_by_key(|(number, _)| std::cmp::Reverse(*number));
    let behind = behind.into_iter().map(|(_, url)| url.clone()).take(LAST_PAGES);
    if let Some(page) = last_read_of(site, job, behind).await?
        && let Some(row) = site.row(&page, Class::Thread, job.lease.depth.saturating_add(1)).await?
    {
        seen.due.push(Discovered { due: at, ..row });
        site.fresh.boards.asks_again(page.as_str(), at);
        site.fresh.arrivals.passes_on(hash(job.url.as_str()), hash(page.as_str()));
    }
    Ok(())
}

/// A page of a thread and those before it, as far as their numbers are pages and not offsets.
fn pages_down_from(last: &CrawlUrl) -> Vec<CrawlUrl> {
    let path = last.path();
    let Some(number) = pagination::of(path, None).map(|page| page.number) else { return Vec::new() };
    let digits = number.to_string();
    let Some(at) = path.rfind(&digits) else { return Vec::new() };
    let page = |number: u64| format!("{}{number}{}", &path[..at], &path[at + digits.len()..]);
    let numbers = (2..=number).rev().take(LAST_PAGES);
    numbers.map(|number| CrawlUrl::from_parts(last.origin(), &page(number))).collect()
}

/// The look's verdict on the page. News are unknown rows, and threads with news; what else changes in a row is none.
fn walk(site: &Site, page: &boards::Page<'_>, board: boards::Read, asked: &[Asked]) -> Verdict {
    let records: HashMap<usize, (Class, Option<UrlRecord>)> =
        asked.iter().filter_map(|asked| Some((asked.row?, (asked.found.class, asked.record)))).collect();
    let boards = &site.fresh.boards;
    let mut kept = boards.kept();
    let mut known = HashMap::with_capacity(board.page.rows.len());
    for (at, row) in board.page.rows.iter().enumerate() {
        let as_shown = || Known::fetched(row, page.now);
        let read =
            |record: &UrlRecord| Known { last: None, replies: None, last_page: None, read_at: seconds(record.visited) };
        let of_row = match records.get(&at) {
            Some((_, None)) => continue,
            Some((Class::Thread, Some(record))) if record.outcome.is_some() => {
                let mut known = kept.thread(&row.id).unwrap_or_else(|| read(record));
                if known.read_at > page.now + CLOCKS_DIFFER_S {
                    // That was by a clock which was set back since: nobody knows when.
                    known.read_at = 0;
                }
                known
            }
            // It waits for its first visit, is none that is read again, or is nothing to this crawl.
            _ => as_shown(),
        };
        known.insert(row.id.clone(), of_row);
    }
    let rows = board.page.rows.clone();
    let verdict = kept.page(boards, page, board, &known);
    let is_counted = verdict.grounds == Some(Grounds::Replies);
    for (at, (row, change)) in rows.iter().zip(&verdict.changes).enumerate() {
        if records.get(&at).is_none_or(|(class, _)| *class != Class::Thread) {
            continue;
        }
        match known.get(&row.id) {
            _ if change.is_fetched() => kept.reads(row, page.now),
            Some(before) if is_counted || kept.thread(&row.id).is_some() => {
                let mut before = before.clone();
                before.seen(row, *change);
                kept.keep(&row.id, &before);
            }
            _ => {}
        }
    }
    verdict
}

/// Threads with news are read again from their last known page.
async fn reread(
    site: &Site,
    job: &Job,
    verdict: &Verdict,
    mined: &[Row],
    (last, at): (Option<UnixMillis>, UnixMillis),
    seen: &mut Seen,
) -> Result<(), CrawlDbError> {
    for fetch in verdict.fetch.iter().filter(|fetch| fetch.why != Change::New) {
        let last_read = match mined.get(fetch.row) {
            Some(row) => last_read(site, job, row).await?,
            None => None,
        };
        let from = last_read.unwrap_or_else(|| fetch.from.clone());
        let Some(found) = outlinks::judge(site, from).ok().filter(|found| found.class.is_target()) else {
            continue;
        };
        let depth = job.lease.depth.saturating_add(1);
        let Some(row) = site.row(&found.url, found.class, depth).await? else { continue };
        seen.due.push(Discovered { due: at, ..row });
        site.fresh.boards.asks_again(found.url.as_str(), at);
        let told = mined.get(fetch.row).and_then(|row| row.last).map(interval);
        let sighting = Sighting { shown: told, last_absent: last, first_seen: at };
        site.fresh.arrivals.sighted_anew(hash(found.url.as_str()), sighting);
    }
    Ok(())
}

/// What a list shows and its site did not have when it was met: a list may be served before its pages (replicas, caches). Each is asked for
/// once more, hours later.
async fn ask_once_more(
    site: &Site,
    job: &Job,
    asked: &[Asked],
    at: UnixMillis,
    seen: &mut Seen,
) -> Result<(), CrawlDbError> {
    let is_early = |record: UrlRecord| {
        record.outcome == Some(Outcome::Gone)
            && record.visited.since(record.first_seen) < GONE_CONFIRM_TIME
            && at.since(record.visited) >= GONE_CONFIRM_TIME
    };
    for asked in asked.iter().filter(|asked| asked.record.is_some_and(is_early)) {
        let depth = job.lease.depth.saturating_add(1);
        if let Some(row) = site.row(&asked.found.url, asked.found.class, depth).await? {
            // As of any link to a torrent, the page that has it is known.
            let via = (asked.found.class == Class::Download).then(|| job.url.as_str().into());
            seen.due.push(Discovered { due: at, via, ..row });
        }
    }
    Ok(())
}

/// Pages of threads with news that were asked for and did not come (a server in trouble, a refusal, a kill before the commit) are asked for
/// once more: their lists show nothing new by then.
async fn make_good(site: &Site, job: &Job, at: UnixMillis, seen: &mut Seen) -> Result<(), CrawlDbError> {
    for (page, asked) in site.fresh.boards.overdue(at) {
        let found = CrawlUrl::parse(&page, &site.rules.canonical).ok().and_then(|url| outlinks::judge(site, url).ok());
        let row = match found {
            Some(found) => site.row(&found.url, found.class, job.lease.depth.saturating_add(1)).await?,
            None => None,
        };
        let Some(row) = row else {
            site.fresh.boards.came(&page);
            continue;
        };
        let record = site.db.url_record(&row.key).await?;
        let visited = record.filter(|record| (asked..=at).contains(&record.visited));
        if visited.and_then(|record| record.outcome).is_some_and(is_an_answer) {
            site.fresh.boards.came(&page);
        } else if site.fresh.boards.tries_again(&page, at) {
            seen.due.push(Discovered { due: at, ..row });
        }
    }
    Ok(())
}

/// True where a page came, or will not be there however often it is asked for.
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

/// Pages of rows that vanished are asked for, and those of rows that are back.
async fn follow(
    site: &Site,
    job: &Job,
    vanished: Vanished,
    at: UnixMillis,
    seen: &mut Seen,
) -> Result<(), CrawlDbError> {
    let Vanished { gone, back } = vanished;
    for (url, gone) in &gone {
        site.fresh.gone.unlisted(hash(url), *gone);
    }
    for url in gone.iter().map(|(url, _)| url).chain(&back) {
        let Some(url) = outlinks::resolve(site, &job.url, url) else { continue };
        let Ok(found) = outlinks::judge(site, url) else { continue };
        let depth = job.lease.depth.saturating_add(1);
        if let Some(row) = site.row(&found.url, found.class, depth).await? {
            seen.due.push(Discovered { due: at, ..row });
        }
    }
    Ok(())
}

/// The page of one row that stays is asked for again, in turn: a torrent may be taken away and its row left.
async fn recheck(site: &Site, job: &Job, at: UnixMillis, seen: &mut Seen) -> Result<(), CrawlDbError> {
    let list = job.url.as_str();
    let is_due = |record: UrlRecord| {
        let is_there = matches!(record.outcome, Some(Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified));
        is_there && record.visited <= at && at.since(record.visited) >= ROW_RECHECKED_AFTER
    };
    let mut asked = 0;
    for url in site.fresh.lists.in_turn(list, ROWS_IN_TURN_MAX) {
        asked += 1;
        let Some(url) = outlinks::resolve(site, &job.url, &url) else { continue };
        let is_page = |found: &Found| found.class.is_target() && found.class != Class::Download;
        let Some(found) = outlinks::judge(site, url).ok().filter(is_page) else { continue };
        let depth = job.lease.depth.saturating_add(1);
        let Some(row) = site.row(&found.url, found.class, depth).await? else { continue };
        if site.db.url_record(&row.key).await?.is_some_and(is_due) {
            seen.due.push(Discovered { due: at, ..row });
            break;
        }
    }
    site.fresh.lists.had_turn(list, asked);
    Ok(())
}

/// The time that a row shows for when it came: a torrent's own; of a thread the time of its first post, not of its last.
fn shown(class: Class, row: &Row) -> Option<(UnixMillis, u64)> {
    let time = if class == Class::Thread { row.created } else { row.created.or(row.last) };
    time.filter(|time| time.precision <= Precision::Day).map(interval)
}

fn interval(time: Time) -> (UnixMillis, u64) {
    let ms = |seconds: i64| u64::try_from(seconds).unwrap_or(0).saturating_mul(1_000);
    (UnixMillis(ms(time.earliest)), ms(time.latest.saturating_sub(time.earliest)))
}

/// What the schedule hears of a row. A time that the looks contradict is theirs; without one it is the middle between them.
fn post(change: Change, time: Option<Time>, last: Option<UnixMillis>, at: UnixMillis) -> Option<Post> {
    let kind = match change {
        Change::New => Kind::New,
        Change::Later | Change::MoreReplies => Kind::Reply,
        Change::Unsure | Change::Same | Change::Receded => return None,
    };
    let (now, last) = (at.0 / 1_000, last.map(|last| last.0 / 1_000));
    let told = time.filter(|time| time.precision <= Precision::Hour).map(|time| u64::try_from(time.at()).unwrap_or(0));
    let at = match (told, last) {
        (Some(told), Some(last)) => told.clamp(last.min(now), now),
        (Some(told), None) => told.min(now),
        (None, Some(last)) => last.min(now).midpoint(now),
        // What was there before the first look, nobody knows when.
        (None, None) => return None,
    };
    Some(Post { at, kind })
}
