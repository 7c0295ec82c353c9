//! Recheck of a list: what is new, which threads are read again, how far the recheck goes, and which rows have vanished.
//!
//! From a parsed page to what the loop makes due. Asks the database for the records of the rows; writes nothing there.

use std::collections::HashMap;
use std::num::NonZeroU64;

use super::arrivals::Sighting;
use super::boards::{self, Boards, interval, seconds};
use super::directories::lists_by_themselves;
use super::gone::hash;
use super::reread::{make_good, read_on, reread};
use super::rows::Vanished;
use super::standing::{self, Standing, rows_of};
use super::{Fresh, Looking, walks};
use crate::front::is_behind_a_front;
use crate::frontier::crews::Crew;
use crate::job::{Found, Job, PageFindings, RecheckResult};
use crate::judging::{judge, resolve};
use crate::limits::{GONE_CONFIRM_TIME, ROW_RECHECKED_AFTER, ROWS_IN_TURN_MAX};
use crate::schedule::{Kind, Post};
use crate::series::next_by_rules;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_page::boards::Row;
use gleaner_page::boards::walk::{Change, Grounds, KnownThread, Verdict};
use gleaner_page::boards::when::{Against, Precision, Time};
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Discovered, Outcome, UrlRecord};

/// Seconds by which a correct clock may be ahead of ours.
const CLOCKS_DIFFER_S: i64 = 300;

/// Whether a page belongs to a recheck: the first page of a list, or the page that a recheck in progress waits for.
#[must_use]
pub fn is_looked_at(fresh: &Fresh, job: &Job, is_front: bool) -> bool {
    job.class.is_listing() && (is_front || fresh.boards.awaits(job.url.as_str()).is_some())
}

/// Whether the rows of a page are read: those of rechecks, and on lists of threads those of pages that history reads. The latter show the
/// state of a thread before it moves up: its replies, and its last post by the site's clock, while the zone is still unknown.
#[must_use]
pub fn has_rows(fresh: &Fresh, job: &Job, is_front: bool) -> bool {
    is_looked_at(fresh, job, is_front) || (job.class.is_listing() && fresh.boards.may_count())
}

/// Processes a page of a list that was read.
///
/// # Errors
/// Those of the database.
pub async fn look(
    of: Looking<'_>,
    read: &PageFindings,
    board: Option<boards::ParsedBoard>,
    is_front: bool,
) -> Result<RecheckResult, CrawlDbError> {
    let Looking { fresh, rows, job, at } = of;
    if read.denied.is_some() {
        return Ok(RecheckResult::default());
    }
    let due = lists_by_themselves(of, read, board.as_ref()).await?;
    if !is_looked_at(fresh, job, is_front) {
        let mut seen = RecheckResult { due, ..RecheckResult::default() };
        count_threads(of, board);
        read_on(of, read, &mut seen).await?;
        return Ok(seen);
    }
    let board = board.map(|board| with_next(of, by_links(of, board, read), read));
    let pending = fresh.boards.awaits(job.url.as_str());
    // A page may count as a first page until its own links show its position.
    let is_front = is_front && (job.lease.depth == 0 || !is_behind_a_front(&rows.rules, &fresh.boards, &job.url));
    if !is_front && pending.is_none() {
        return Ok(RecheckResult { is_behind: true, due, ..RecheckResult::default() });
    }
    let is_turn = pending.as_ref().is_some_and(|pending| pending.tours);
    let (list, last, is_above) = match pending {
        // The previous recheck did not show it.
        Some(pending) if pending.tours => (pending.board, last_look(of).await?, false),
        Some(pending) => (pending.board, pending.last, pending.is_above),
        None => (job.url.as_str().to_owned(), last_look(of).await?, true),
    };
    let mut seen = RecheckResult { list: Some(list.clone()), is_front, last, due, ..RecheckResult::default() };
    let since = last.map(|last| (last, at));
    let standing = standing::ask(of, read, board.as_ref(), since.filter(|_| is_above)).await?;
    let is_out_of_order = is_turn && fresh.boards.is_in_another_order(&list);
    seen.rows = standing.rows.iter().map(|asked| hash(asked.found.url.as_str())).collect();
    // Times of a fast clock are limited to now: they would make every delay too short.
    let is_fast = board.as_ref().is_some_and(|board| board.ahead_s() > CLOCKS_DIFFER_S);
    let mined: Vec<Row> = board.as_ref().map(|board| board.page.rows.clone()).unwrap_or_default();
    let changes = changes(of, board, &standing, (&list, &mined), &mut seen).await?;
    for (asked, change) in standing.rows.iter().zip(changes) {
        let row = asked.row.and_then(|row| mined.get(row));
        sight(of, (asked, row, change), (is_fast, is_out_of_order), &mut seen);
    }
    if last.is_none() && fresh.boards.is_in_another_order(&list) {
        // Some of the earlier rows say nothing of how many were added since.
        seen.posts.clear();
    }
    ask_once_more(of, &standing.rows, &mut seen).await?;
    if is_front && !read.truncated {
        let free = standing.rows.iter().filter(|asked| !asked.is_pinned);
        let urls: Vec<&str> = free.map(|asked| asked.found.url.as_str()).collect();
        let vanished =
            fresh.lists.look(&list, &urls, &read.found.iter().map(|found| hash(found.url.as_str())).collect(), at);
        follow(of, vanished, &mut seen).await?;
        recheck(of, &mut seen).await?;
    }
    make_good(of, &mut seen).await?;
    Ok(seen)
}

/// Records the threads of a page outside a recheck.
fn count_threads(of: Looking<'_>, board: Option<boards::ParsedBoard>) {
    let Some(board) = board else { return };
    let mut kept = of.fresh.boards.kept();
    let is_thread = |row: &&Row| judge(&of.rows.rules, row.url.clone()).is_ok_and(|found| found.class == Class::Thread);
    board.page.rows.iter().filter(is_thread).for_each(|row| kept.count(row, seconds(of.at)));
}

/// The page with its next page, as its links and the rules give it.
fn with_next(of: Looking<'_>, mut board: boards::ParsedBoard, read: &PageFindings) -> boards::ParsedBoard {
    let (boards, rules, job) = (&of.fresh.boards, &of.rows.rules, of.job);
    let page = &mut board.page;
    if page.next.is_none() {
        // Links with numbers only, to addresses whose page number only the rules show.
        page.next = next_by_rules(rules, job, &read.found);
    }
    if let Some(next) = page.next.take_if(|next| boards.is_another_list(job.url.as_str(), next.as_str())) {
        tracing::trace!(site = %rules.name, url = job.url.as_str(), next = next.as_str(), "the next link leads to another list");
    }
    if let Some(next) = &page.next
        && judge(rules, next.clone()).is_ok_and(|found| found.class.is_listing())
    {
        boards.leads_to(job.url.as_str(), next.as_str());
    }
    board
}

/// Change of each row, by the recheck's verdict on the page; what it requires is made due.
async fn changes(
    of: Looking<'_>,
    board: Option<boards::ParsedBoard>,
    standing: &standing::Page,
    (list, mined): (&str, &[Row]),
    seen: &mut RecheckResult,
) -> Result<Vec<Change>, CrawlDbError> {
    let Looking { fresh, job, at, .. } = of;
    let of_record = |asked: &Standing| if asked.is_new { Change::New } else { Change::Same };
    let mut changes: Vec<Change> = standing.rows.iter().map(of_record).collect();
    let Some(board) = board.filter(|board| !board.page.rows.is_empty()) else {
        fresh.boards.end(job.url.as_str());
        fresh.boards.has_no_pages(job.url.as_str());
        return Ok(changes);
    };
    let (now, last, room) = (seconds(at), seen.last, fresh.timetable.room_beside_looks());
    let (above, is_above, is_first_read) = (standing.above, standing.is_above, last_look(of).await?.is_none());
    let page = walks::Page { board: list, url: &job.url, now, last, above, is_above, is_first_read, room };
    let verdict = walk(&fresh.boards, &page, board, &standing.rows);
    let (rows, news) = (standing.rows.len(), verdict.fetch.len());
    tracing::trace!(list, url = job.url.as_str(), rows, news, is_above, step = ?verdict.step, "a list was checked");
    if let Ok(next) = &verdict.step {
        go_on(of, next, seen).await?;
    }
    for (change, asked) in changes.iter_mut().zip(&standing.rows) {
        *change = asked.row.and_then(|row| verdict.changes.get(row)).copied().unwrap_or(*change);
    }
    reread(of, &verdict, mined, seen).await?;
    Ok(changes)
}

/// Reports a row to arrivals and the schedule.
fn sight(
    of: Looking<'_>,
    (asked, row, change): (&Standing, Option<&Row>, Change),
    (is_fast, is_out_of_order): (bool, bool),
    seen: &mut RecheckResult,
) {
    let (found, at, last) = (&asked.found, of.at, seen.last);
    if change == Change::New {
        let shown = row.filter(|_| !is_fast).and_then(|row| shown(found.class, row));
        // In a list that is not ordered by time it may have been on the preceding page when this one was checked.
        let last_absent = last.filter(|_| !is_out_of_order || shown.is_none());
        let sighting = Sighting { shown, last_absent, first_seen: at };
        of.fresh.arrivals.sighted(hash(found.url.as_str()), sighting);
    }
    if !asked.is_pinned {
        // If a thread has replies, the row shows the time of the last one.
        let is_of_first = |row: &Row| row.created.is_some() && row.last.is_none_or(|last| Some(last) == row.created);
        let is_dated = found.class != Class::Thread || row.is_some_and(is_of_first);
        let number = found.url.number().filter(|_| !is_fast && is_dated);
        seen.posts.extend(post(change, row.and_then(|row| row.last.or(row.created)), (last, at), number));
    }
}

/// For a page without a row whose link the rules accept: rows made from its links, without times.
fn by_links(of: Looking<'_>, board: boards::ParsedBoard, read: &PageFindings) -> boards::ParsedBoard {
    let (boards, rules) = (&of.fresh.boards, &of.rows.rules);
    let is_row = |row: &Row| judge(rules, row.url.clone()).is_ok_and(|found| found.class.is_target());
    if board.page.rows.iter().any(is_row) {
        return board;
    }
    let links: Vec<(Found, Option<usize>)> = rows_of(rules, read, &[]);
    if !links.is_empty() {
        boards.without_rows(&rules.name, of.job.url.as_str());
    }
    board.with_links(links.iter().map(|(found, _)| &found.url))
}

/// Processes an unchanged page of a list.
///
/// # Errors
/// Those of the database.
pub async fn again(of: Looking<'_>, is_front: bool) -> Result<RecheckResult, CrawlDbError> {
    if !is_looked_at(of.fresh, of.job, is_front) {
        return Ok(RecheckResult::default());
    }
    of.fresh.boards.end(of.job.url.as_str());
    let list = of.job.url.as_str();
    let last = last_look(of).await?;
    let mut seen = RecheckResult { list: Some(list.to_owned()), is_front, last, ..RecheckResult::default() };
    if is_front {
        // New rows may be on later pages.
        let room = of.fresh.timetable.room_beside_looks();
        if let Some(next) = of.fresh.boards.unchanged(list, of.at, last, room) {
            go_on(of, &next, &mut seen).await?;
        }
        let vanished = of.fresh.lists.again(list, of.at);
        follow(of, vanished, &mut seen).await?;
        recheck(of, &mut seen).await?;
    }
    make_good(of, &mut seen).await?;
    Ok(seen)
}

/// Time of the last successful recheck of this page. A failure since then, as during a server's trouble, is no recheck: content added in
/// that time is seen late, and counts.
async fn last_look(of: Looking<'_>) -> Result<Option<UnixMillis>, CrawlDbError> {
    let is_look = |outcome| matches!(outcome, Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified);
    let record = of.rows.db.url_record(&of.job.lease.key).await?;
    Ok(match record {
        Some(record) if record.outcome.is_some_and(is_look) => Some(record.visited),
        Some(record) if record.outcome.is_some() => of.fresh.boards.last_look(of.job.url.as_str()),
        _ => None,
    })
}

/// Requests the next page of a recheck, or ends the recheck. An unread page comes by itself with history's rechecks; an increment follows
/// some of them, like any other link, unless the page is only read in rotation.
async fn go_on(of: Looking<'_>, next: &CrawlUrl, seen: &mut RecheckResult) -> Result<(), CrawlDbError> {
    let found = judge(&of.rows.rules, next.clone()).ok().filter(|found| found.class.is_listing());
    let row = match found {
        Some(found) => of.rows.behind(of.job, &found).await?,
        None => None,
    };
    let record = match &row {
        Some(row) => of.rows.db.url_record(&row.key).await?,
        None => None,
    };
    let was_read = record.is_some_and(|record| record.outcome.is_some());
    let is_turn = of.fresh.boards.awaits(next.as_str()).is_some_and(|pending| pending.tours);
    match (row, of.job.crew) {
        (Some(row), _) if was_read => seen.due.push(row),
        (Some(row), Crew::Increment { level }) if !is_turn && level < of.rows.rules.increment_depth => {
            seen.unread = Some(row)
        }
        _ => of.fresh.boards.end(next.as_str()),
    }
    Ok(())
}

/// The recheck's verdict on the page. Unknown rows and threads with new posts count as new; other changes of a row do not.
fn walk(boards: &Boards, page: &walks::Page<'_>, board: boards::ParsedBoard, asked: &[Standing]) -> Verdict {
    let records: HashMap<usize, &Standing> = asked.iter().filter_map(|asked| Some((asked.row?, asked))).collect();
    let mut kept = boards.kept();
    let mut known = HashMap::with_capacity(board.page.rows.len());
    for (at, row) in board.page.rows.iter().enumerate() {
        let as_shown = || KnownThread::fetched(row, page.now);
        let read = |record: &UrlRecord| KnownThread {
            last: None,
            replies: None,
            last_page: None,
            read_at: seconds(record.visited),
        };
        let of_row = match records.get(&at) {
            Some(asked) if asked.is_new => continue,
            Some(Standing { found: Found { class: Class::Thread, .. }, record: Some(record), .. })
                if record.outcome.is_some() =>
            {
                let mut known = kept.thread(&row.id).unwrap_or_else(|| read(record));
                if known.read_at > page.now + CLOCKS_DIFFER_S {
                    // The time is from a clock that was set back since: it is unknown.
                    known.read_at = 0;
                }
                known
            }
            Some(Standing { found: Found { class: Class::Thread, .. }, record: Some(record), .. }) => {
                // A thread without state counts as present when it was found, and at the previous recheck: otherwise a board with more
                // threads than are kept would have them read again at each recheck.
                let looked = page.last.map_or(i64::MIN, |last| seconds(last).saturating_sub(CLOCKS_DIFFER_S));
                let heard_of = || KnownThread { read_at: seconds(record.first_seen).max(looked), ..read(record) };
                let before = kept.thread(&row.id).unwrap_or_else(heard_of);
                kept.count(row, page.now);
                // Unless it certainly shows something later, the thread waits for its first visit, like all of its content.
                Some(before).filter(|before| tells_later(row, before, page.now)).unwrap_or_else(as_shown)
            }
            // It is never read again, or is not part of this crawl.
            _ => as_shown(),
        };
        known.insert(row.id.clone(), of_row);
    }
    let rows = board.page.rows.clone();
    let verdict = kept.page(boards, page, board, &known);
    let is_counted = verdict.grounds == Some(Grounds::Replies);
    for (at, (row, change)) in rows.iter().zip(&verdict.changes).enumerate() {
        if records.get(&at).is_none_or(|asked| asked.found.class != Class::Thread) {
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

/// True if a row shows a reply that it did not show before. A time ahead of `now` may move with it, and proves nothing alone.
fn tells_later(row: &Row, before: &KnownThread, now: i64) -> bool {
    let is_later = |time: Time| match before.last {
        Some(last) => time.against(&last) == Against::Later,
        None => time.earliest > before.read_at && time.earliest <= now.saturating_add(CLOCKS_DIFFER_S),
    };
    row.last.is_some_and(is_later) || row.replies.zip(before.replies).is_some_and(|(replies, before)| replies > before)
}

/// Handles listed pages that the site did not have when they were visited, or answered with errors until they were given up: a list may be
/// served before its pages (replicas, caches), and a server may be in trouble for minutes. Each is requested once more, hours later.
async fn ask_once_more(of: Looking<'_>, asked: &[Standing], seen: &mut RecheckResult) -> Result<(), CrawlDbError> {
    let is_early = |record: UrlRecord| {
        record.outcome.is_some_and(came_to_nothing)
            && record.visited.since(record.first_seen) < GONE_CONFIRM_TIME
            && of.at.since(record.visited) >= GONE_CONFIRM_TIME
    };
    for asked in asked.iter().filter(|asked| asked.record.is_some_and(is_early)) {
        if let Some(row) = of.rows.behind(of.job, &asked.found).await? {
            // As for any link to a torrent, the page that contains it is known.
            let via = (asked.found.class == Class::Download).then(|| of.job.url.as_str().into());
            seen.due.push(Discovered { due: of.at, via, ..row });
        }
    }
    Ok(())
}

fn came_to_nothing(outcome: Outcome) -> bool {
    matches!(
        outcome,
        Outcome::Gone
            | Outcome::ServerError
            | Outcome::Throttled
            | Outcome::TimedOut
            | Outcome::Truncated
            | Outcome::ProtocolError
    )
}

/// Requests the pages of rows that vanished, and of rows that are back.
async fn follow(of: Looking<'_>, vanished: Vanished, seen: &mut RecheckResult) -> Result<(), CrawlDbError> {
    let Vanished { gone, back } = vanished;
    for (url, gone) in &gone {
        of.fresh.gone.unlisted(hash(url), *gone);
    }
    for url in gone.iter().map(|(url, _)| url).chain(&back) {
        let Some(url) = resolve(&of.rows.rules, &of.job.url, url) else { continue };
        let Ok(found) = judge(&of.rows.rules, url) else { continue };
        if let Some(row) = of.rows.behind(of.job, &found).await? {
            seen.due.push(Discovered { due: of.at, ..row });
        }
    }
    Ok(())
}

/// Requests the page of one row that stays, in rotation: a torrent may be removed while its row stays.
async fn recheck(of: Looking<'_>, seen: &mut RecheckResult) -> Result<(), CrawlDbError> {
    let list = of.job.url.as_str();
    let is_due = |record: UrlRecord| {
        let is_there = matches!(record.outcome, Some(Outcome::Page | Outcome::PageDuplicate | Outcome::NotModified));
        is_there && record.visited <= of.at && of.at.since(record.visited) >= ROW_RECHECKED_AFTER
    };
    let mut asked = 0;
    for url in of.fresh.lists.in_turn(list, ROWS_IN_TURN_MAX) {
        asked += 1;
        let Some(url) = resolve(&of.rows.rules, &of.job.url, &url) else { continue };
        let is_page = |found: &Found| found.class.is_target() && found.class != Class::Download;
        let Some(found) = judge(&of.rows.rules, url).ok().filter(is_page) else { continue };
        let Some(row) = of.rows.behind(of.job, &found).await? else { continue };
        if of.rows.db.url_record(&row.key).await?.is_some_and(is_due) {
            seen.due.push(Discovered { due: of.at, ..row });
            break;
        }
    }
    of.fresh.lists.had_turn(list, asked);
    Ok(())
}

/// The time that a row shows for its appearance, and the milliseconds within which it may lie: a torrent's own; for a thread the time of
/// its first post, not of its last.
fn shown(class: Class, row: &Row) -> Option<(UnixMillis, u64)> {
    let time = if class == Class::Thread { row.created } else { row.created.or(row.last) };
    time.filter(|time| time.precision <= Precision::Day).map(interval)
}

/// Precision from which the appearance of a row counts as known to the minute.
const MINUTE_S: i64 = 61;

/// The schedule's entry for a row. If the rechecks contradict its time, theirs is used; without a time it is the middle between them. A
/// number is used if the appearance of its row is known to the minute.
fn post(
    change: Change,
    time: Option<Time>,
    (last, at): (Option<UnixMillis>, UnixMillis),
    number: Option<NonZeroU64>,
) -> Option<Post> {
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
        // The age of rows present before the first recheck is unknown.
        (None, None) => return None,
    };
    let is_known = |time: Time| time.latest.saturating_sub(time.earliest) < MINUTE_S;
    let is_exact = kind == Kind::New && told == Some(at) && time.is_some_and(is_known);
    Some(Post { at, kind, number: number.filter(|_| is_exact) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_page::boards::when::How;

    #[test]
    fn a_number_counts_where_its_row_tells_the_minute() {
        let time = |earliest: i64, seconds: i64| {
            let (latest, how) = (earliest + seconds - 1, How::Epoch);
            Some(Time { earliest, latest, told: None, precision: Precision::Minute, how })
        };
        let (last, at) = (Some(UnixMillis(1_790_000_000_000)), UnixMillis(1_790_003_600_000));
        let number = NonZeroU64::new(4711);
        let of = |change, time| post(change, time, (last, at), number).and_then(|post| post.number);
        assert_eq!(of(Change::New, time(1_790_000_100, 60)), number);
        assert_eq!(of(Change::Later, time(1_790_000_100, 60)), None, "a reply's thread is older");
        assert_eq!(of(Change::New, time(1_790_000_100, 7_200)), None, "within two hours");
        assert_eq!(of(Change::New, time(1_780_000_000, 60)), None, "the looks contradict it");
        assert_eq!(of(Change::New, None), None);
    }
}
