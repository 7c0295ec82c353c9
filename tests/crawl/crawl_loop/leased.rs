//! A large forum, at a rate at which history takes batches of minutes: replies in threads with a page in such a batch, or read before the
//! recheck that shows them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;

use super::boards::{START, board, thread};
use super::increment::{in_memory, torrent_of};
use super::web::{Answer, Machine, Web, page};

const BOARDS: u64 = 3;
const THREADS: u64 = 700;
const ROWS: u64 = 250;
/// All lists are read before the first reply; all threads never are.
const FIRST_S: u64 = 150;
const EVERY_S: u64 = 6;
const REPLIES: u64 = 60;
/// From the recheck that shows a reply to its file: some requests at half the rate, and other results of the same rechecks.
const WAIT_MS: u64 = 20_000;

/// The board and the thread of a reply; no thread has two replies.
fn answered(reply: u64) -> (u64, u64) {
    (reply % BOARDS, 1 + reply * 377 % THREADS)
}

fn answered_s(reply: u64) -> u64 {
    FIRST_S + EVERY_S * reply
}

/// Replies that exist by then.
fn replies(elapsed: Duration) -> impl DoubleEndedIterator<Item = u64> {
    (0..REPLIES).filter(move |reply| answered_s(*reply) <= elapsed.as_secs())
}

fn last_page(number: u64) -> u64 {
    1 + number % 3
}

/// The URL of a page of a thread.
fn address((board, number): (u64, u64), at: u64) -> String {
    let thread = format!("/viewtopic?t={}", board * 10_000 + number);
    if at > 1 { format!("{thread}&page={at}") } else { thread }
}

fn forum(path: &str, elapsed: Duration) -> Option<Answer> {
    if path == "/" {
        return Some(page(&(0..BOARDS).map(|n| format!("<a href=/board/{n}>board {n}</a> ")).collect::<String>()));
    }
    if let Some(reply) = path.strip_prefix("/attach/") {
        return Some(torrent_of(reply));
    }
    if let Some(thread) = path.strip_prefix("/viewtopic?t=") {
        let (id, at) = thread.split_once("&page=").unwrap_or((thread, "1"));
        let (id, at) = (id.parse::<u64>().ok()?, at.parse::<u64>().ok()?);
        let thread = (id / 10_000, id % 10_000);
        let pages = (1..=last_page(thread.1)).map(|at| format!("<a href='{}'>{at}</a> ", address(thread, at)));
        let is_here = |reply: &u64| answered(*reply) == thread && at == last_page(thread.1);
        let file = replies(elapsed).find(is_here).map(|reply| format!("<a href=/attach/{reply}>a file</a>"));
        let (file, pages) = (file.unwrap_or_default(), pages.collect::<String>());
        return Some(page(&format!("<h1>Talk {id}</h1><p>Page {at}</p>{file}{pages}")));
    }
    let (number, at) = path.strip_prefix("/board/").map(|path| path.split_once("?page=").unwrap_or((path, "1")))?;
    let (number, at) = (number.parse::<u64>().ok()?, at.parse::<u64>().ok()?);
    let late: BTreeMap<u64, u64> =
        replies(elapsed).filter(|reply| answered(*reply).0 == number).map(|reply| (answered(reply).1, reply)).collect();
    let first = replies(elapsed).rev().map(answered).filter(|(board, _)| *board == number).map(|(_, number)| number);
    let rows = first.chain((1..=THREADS).filter(|n| !late.contains_key(n)));
    let rows = rows.skip(((at - 1) * ROWS) as usize).take(ROWS as usize).map(|n| {
        let mut row = thread(number * 10_000 + n, START - n * 7_200);
        // Some rows link to the last page of their thread.
        row.last_page = if n % 2 == 0 { last_page(n) } else { 1 };
        if let Some(reply) = late.get(&n) {
            (row.last, row.replies) = (START + answered_s(*reply), 4);
        }
        row
    });
    let next = (at * ROWS < THREADS).then(|| format!("/board/{number}?page={}", at + 1));
    Some(board(&rows.collect::<Vec<_>>(), next.as_deref(), true))
}

#[tokio::test(start_paused = true)]
async fn replies_in_threads_that_history_has_in_its_batch_come_with_the_next_look_and_once() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(forum));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let text = "start = ['http://sim.example/']\nrevisit_minutes = 1\nlanes = 2\nlane_key = 'xxh3'\n\
         [rate]\nrequests_per_second = 4\nconnections = 2\n\
         [classes]\nindex = ['^/$']\nboard = ['^/board/']\nthread = ['^/viewtopic']\ndownload = ['^/attach/']\n";
    let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    let lasts = Duration::from_secs(answered_s(REPLIES) + 180);
    machine.crawl_site(site, service, Some(lasts), None).await.0.unwrap();
    let log = web.log();
    let left = machine.stands().crews.unwrap().history_left;
    assert!(left > 500, "{left} pages of history left");
    let (mut told, mut kinds) = (Vec::new(), BTreeMap::<&str, u64>::new());
    for reply in 0..REPLIES {
        let (thread, at_ms) = (answered(reply), answered_s(reply) * 1_000);
        let asked = |path: &str, is_then: &dyn Fn(u64) -> bool| -> Vec<u64> {
            log.iter().filter(|(at, asked)| asked == path && is_then(*at)).map(|(at, _)| *at).collect()
        };
        let was_read = |page: u64| !asked(&address(thread, page), &|at| at < at_ms).is_empty();
        let last = last_page(thread.1);
        let kind = match (was_read(1), was_read(last)) {
            (_, true) => "read to its end",
            (true, false) => "begun",
            (false, false) if last > 1 => "unread, of several pages",
            (false, false) => "unread",
        };
        *kinds.entry(kind).or_default() += 1;
        let look = asked(&format!("/board/{}", thread.0), &|at| at >= at_ms).first().copied().unwrap();
        let times = |path: &str| -> Vec<i64> {
            asked(path, &|at| at >= at_ms).iter().map(|at| (*at as i64 - look as i64) / 100).collect()
        };
        let (file, page) = (times(&format!("/attach/{reply}")), times(&address(thread, last)));
        let is_in_time = file.first().is_some_and(|wait| *wait <= (WAIT_MS / 100) as i64);
        // History may have read the page between the reply and the recheck.
        let is_once = page.iter().filter(|wait| **wait >= 0).count() == 1;
        if !is_in_time || file.len() != 1 || !is_once {
            told.push(format!("{reply} {thread:?} of {last} pages, {kind}: page {page:?}, file {file:?}"));
        }
    }
    assert!(kinds.len() == 4 && kinds.values().all(|count| *count >= 4), "{kinds:?}");
    assert!(told.is_empty(), "{kinds:?}; tenths of a second behind the look: {told:#?}");
}
