//! A large forum, whose threads history lists within minutes and reads for hours: a reply in a thread that it has not read yet is
//! news nevertheless.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;

use super::boards::{START, board, thread};
use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

const REVISIT_S: u64 = 900;
/// Pages of a board, and rows of a page.
const PAGES: u64 = 4;
const ROWS: u64 = 25;
/// The thread of a board that gets a reply; until then it is on the last page.
const ANSWERED: u64 = 90;

/// When the reply appears: in every eighth board, once all are listed and few of them are read.
fn answered_s(board: u64) -> Option<u64> {
    (board % 8 == 7).then(|| 2_000 + board * 8)
}

/// All threads of a board, the one with the latest post first.
fn rows(board: u64, elapsed_s: u64) -> Vec<u64> {
    let is_answered = answered_s(board).is_some_and(|at| elapsed_s >= at);
    let others = (1..=PAGES * ROWS).filter(|n| !is_answered || *n != ANSWERED);
    is_answered.then_some(ANSWERED).into_iter().chain(others).collect()
}

fn forum<const BOARDS: u64>(path: &str, elapsed: Duration) -> Option<Answer> {
    let elapsed_s = elapsed.as_secs();
    if path == "/" {
        return Some(page(&(0..BOARDS).map(|n| format!("<a href=/board/{n}>board {n}</a> ")).collect::<String>()));
    }
    if let Some(thread) = path.strip_prefix("/viewtopic?t=") {
        let number = thread.split('&').next()?.parse::<u64>().ok()?;
        return Some(page(&format!(
            "<h1>Talk {number}</h1><a href='magnet:?xt=urn:btih:{number:040x}'>file {number}</a>"
        )));
    }
    let (number, at) = path.strip_prefix("/board/").map(|path| path.split_once("?page=").unwrap_or((path, "1")))?;
    let (number, at) = (number.parse::<u64>().ok()?, at.parse::<u64>().ok()?);
    let threads = rows(number, elapsed_s).into_iter().skip(((at - 1) * ROWS) as usize).take(ROWS as usize).map(|n| {
        let mut thread = thread(number * 1_000 + n, START - n * 7_200);
        thread.last_page = 3;
        if let Some(answered_s) = answered_s(number).filter(|at| n == ANSWERED && elapsed_s >= *at) {
            (thread.last, thread.replies) = (START + answered_s, 4);
        }
        thread
    });
    let next = (at < PAGES).then(|| format!("/board/{number}?page={}", at + 1));
    Some(board(&threads.collect::<Vec<_>>(), next.as_deref(), true))
}

async fn crawl(machine: &Machine, web: &Arc<Web>, seconds: u64, killed: Option<u64>) {
    let text = format!(
        "start = ['http://sim.example/']\nrevisit_minutes = {}\nlanes = 4\nlane_key = 'xxh3'\n\
         [rate]\nrequests_per_second = 0.5\nconnections = 4\nrest_factor = 0\n\
         [classes]\npage = ['^/$']\nboard = ['^/board/']\nthread = ['^/viewtopic']\ndownload = ['^/file/']\n",
        REVISIT_S / 60
    );
    let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    let (lasts, killed) = (Some(Duration::from_secs(seconds)), killed.map(Duration::from_secs));
    assert_eq!(machine.crawl_site(site, service, lasts, killed).await.0.is_err(), killed.is_some());
}

/// For boards with a reply in a thread that history had listed but not read: the seconds until its last page was requested.
fn waits(web: &Web, boards: u64) -> Vec<(u64, u64)> {
    let log = web.log();
    let wait = |board: u64| {
        let at_ms = answered_s(board)? * 1_000;
        let thread = format!("/viewtopic?t={}", board * 1_000 + ANSWERED);
        let is_before = |(at, path): &&(u64, String)| *at < at_ms && path.starts_with(&thread);
        let is_list = |(at, path): &(u64, String)| *at < at_ms && *path == format!("/board/{board}?page={PAGES}");
        if log.iter().any(|asked| is_before(&asked)) || !log.iter().any(is_list) {
            return None;
        }
        let last_page = format!("{thread}&page=3");
        let asked = log.iter().find(|(_, path)| *path == last_page);
        Some((board, asked.map_or(u64::MAX, |(at, _)| (at - at_ms) / 1_000)))
    };
    (0..boards).filter_map(wait).collect()
}

async fn replies_come<const BOARDS: u64>() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(forum::<BOARDS>));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    crawl(&machine, &web, 4_500, None).await;
    let waits = waits(&web, BOARDS);
    let left = machine.stands().crews.unwrap().history_left;
    assert!(waits.len() >= 5 && left > 60 * BOARDS, "{} answered, {left} pages of history left", waits.len());
    // A round takes longer than that while history is long.
    assert!(waits.iter().all(|(_, wait)| *wait <= REVISIT_S), "seconds by board: {waits:?}");
    // Later rechecks show no change, and history no longer has it.
    let asked = |path: String| web.log().iter().filter(|(_, asked)| *asked == path).count();
    let often = waits.iter().map(|(board, _)| asked(format!("/viewtopic?t={}&page=3", board * 1_000 + ANSWERED)));
    assert_eq!(often.max(), Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_reply_in_a_thread_that_history_has_listed_and_not_read_comes_with_the_next_look() {
    replies_come::<50>().await;
}

#[tokio::test(start_paused = true)]
async fn so_it_does_in_a_forum_with_more_threads_than_are_remembered() {
    // At most 6,000 are.
    replies_come::<80>().await;
}

#[tokio::test(start_paused = true)]
async fn so_does_one_that_came_while_nobody_looked_in_a_thread_that_was_listed_in_front_of_a_kill() {
    const BOARDS: u64 = 40;
    /// The last pages of all boards are listed after the last note, which is written at 5.2 minutes.
    const KILLED_AFTER_S: u64 = 450;
    const BEGUN_AGAIN_AFTER_S: u64 = 2_400;
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(forum::<BOARDS>));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    crawl(&machine, &web, KILLED_AFTER_S + 300, Some(KILLED_AFTER_S)).await;
    tokio::time::sleep_until(machine.start + Duration::from_secs(BEGUN_AGAIN_AFTER_S)).await;
    crawl(&machine, &web, 1_500, None).await;
    let late = |(board, wait): &(u64, u64)| answered_s(*board).map(|at| (*board, at.saturating_add(*wait)));
    let read: Vec<(u64, u64)> = waits(&web, BOARDS).iter().filter_map(late).collect();
    assert!(read.len() >= 2 && read.iter().all(|(_, at)| *at <= BEGUN_AGAIN_AFTER_S + REVISIT_S), "{read:?}");
}

/// The thread of a board with a reply in `forum_of_pages`: by then history has read its first page, and none after it.
const BEGUN: u64 = 20;

/// Like `forum`; a row links only to the first page of its thread, which links to the others once there is a reply, with a file on the last one.
fn forum_of_pages(path: &str, elapsed: Duration) -> Option<Answer> {
    let elapsed_s = elapsed.as_secs();
    let is_answered = |board: u64| answered_s(board).is_some_and(|at| elapsed_s >= at);
    if let Some(thread) = path.strip_prefix("/viewtopic?t=") {
        let (number, at) = thread.split_once("&page=").unwrap_or((thread, "1"));
        let number = number.parse::<u64>().ok()?;
        let has_reply = number % 1_000 == BEGUN && is_answered(number / 1_000);
        let last = if has_reply { 3 } else { 1 };
        let pages: String = (2..=last).map(|n| format!("<a href='/viewtopic?t={number}&page={n}'>{n}</a> ")).collect();
        let reply =
            if has_reply && at == "3" { format!("<a href='/file/{number}.torrent'>a file</a>") } else { String::new() };
        return Some(page(&format!("<h1>Talk {number}</h1><p>Page {at}</p>{reply}{pages}")));
    }
    let Some((number, at)) = path.strip_prefix("/board/").map(|path| path.split_once("?page=").unwrap_or((path, "1")))
    else {
        return if path == "/" { forum::<16>(path, elapsed) } else { None };
    };
    let (number, at) = (number.parse::<u64>().ok()?, at.parse::<u64>().ok()?);
    let others = (1..=PAGES * ROWS).filter(|n| *n != BEGUN || !is_answered(number));
    let rows = is_answered(number).then_some(BEGUN).into_iter().chain(others);
    let threads = rows.skip(((at - 1) * ROWS) as usize).take(ROWS as usize).map(|n| {
        let mut thread = thread(number * 1_000 + n, START - n * 7_200);
        if let Some(answered_s) = answered_s(number).filter(|_| n == BEGUN && is_answered(number)) {
            (thread.last, thread.replies) = (START + answered_s, 4);
        }
        thread
    });
    let next = (at < PAGES).then(|| format!("/board/{number}?page={}", at + 1));
    Some(board(&threads.collect::<Vec<_>>(), next.as_deref(), true))
}

#[tokio::test(start_paused = true)]
async fn so_does_one_on_the_last_page_of_a_thread_of_which_history_has_read_the_first() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(forum_of_pages));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    // An interval after the second reply.
    crawl(&machine, &web, 3_100, None).await;
    let log = web.log();
    for board in [7, 15] {
        let thread = format!("/viewtopic?t={}", board * 1_000 + BEGUN);
        let answered_ms = answered_s(board).unwrap() * 1_000;
        let before: Vec<&str> = log
            .iter()
            .filter(|(at, path)| *at < answered_ms && path.starts_with(&thread))
            .map(|(_, path)| &**path)
            .collect();
        assert_eq!(before, [&*thread]);
        let file = format!("/file/{}.torrent", board * 1_000 + BEGUN);
        let wait = |path: &str| {
            log.iter().find(|(at, asked)| *at >= answered_ms && asked == path).map(|(at, _)| (at - answered_ms) / 1_000)
        };
        let (page, file) = (wait(&format!("{thread}&page=3")), wait(&file));
        assert!(
            file.is_some_and(|wait| wait <= REVISIT_S),
            "board {board}: page after {page:?} s, file after {file:?} s"
        );
    }
}
