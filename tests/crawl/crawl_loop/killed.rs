//! The effect of a kill between two notes of a service: threads that were first seen since the last note, on boards whose times have
//! no zone.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;

use super::boards::{START, iso};
use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

/// Rechecks are 7 minutes apart, notes are written at 5.2 and at 10.2: the thread is seen before the kill, and is in no note.
const BORN_AFTER_S: u64 = 440;
const KILLED_AFTER_S: u64 = 600;
const BEGUN_AGAIN_AFTER_S: u64 = 1_200;

/// The boards by name: whether the rows count replies, the offset of the site's clock from UTC, and when the new thread is answered
/// (before the service is back, or long after its first recheck).
const BOARDS: [(&str, bool, i64, u64); 6] = [
    ("plain-early", false, 0, 1_000),
    ("plain-late", false, 0, 4_000),
    ("ahead-late", false, 2, 4_000),
    ("behind-late", false, -8, 4_000),
    ("counted-early", true, 0, 1_000),
    ("counted-late", true, -8, 4_000),
];

fn site(path: &str, elapsed: Duration) -> Option<Answer> {
    let elapsed = elapsed.as_secs();
    if path == "/" {
        return Some(page(&BOARDS.map(|(name, ..)| format!("<a href=/board/{name}>{name}</a>")).concat()));
    }
    if path.starts_with("/viewtopic") {
        return Some(page("<h1>Talk</h1><p>words</p>"));
    }
    let at = BOARDS.iter().position(|(name, ..)| path.strip_prefix("/board/") == Some(name))?;
    let (_, is_counted, hours, answered) = BOARDS[at];
    let row = |n: usize, replies: u64, last: u64| {
        let time = iso(last.saturating_add_signed(hours * 3_600)).replace('T', " ");
        let count = if is_counted { format!("<td>{replies}</td>") } else { String::new() };
        let n = 100 * (at + 1) + n;
        format!(
            "<tr class=row><td><a href='/viewtopic?t={n}'>The talk about matter {n}</a></td>{count}<td>{}</td></tr>",
            &time[..16]
        )
    };
    let born = (elapsed >= BORN_AFTER_S).then(|| {
        let is_answered = elapsed >= answered;
        row(NEW, u64::from(is_answered), START + if is_answered { answered } else { BORN_AFTER_S - 60 })
    });
    // One of the old ones is answered at the same time.
    let woken = (elapsed >= answered).then(|| row(OLD, 4, START + answered));
    let old = (1..=12).rev().filter(|n| *n != OLD || woken.is_none());
    let old: Vec<String> = old.map(|n| row(n, 3, START - 86_400 + n as u64 * 3_600)).collect();
    let head = if is_counted { "<th>Replies" } else { "" };
    let rows: String = woken.into_iter().chain(born).chain(old).collect();
    Some(page(&format!(
        "<body><h1>Board</h1><table class=topics><tr><th>Topic{head}<th>Last post</tr>{rows}</table></body>"
    )))
}

/// A thread of the initial history, and the one that is created later.
const OLD: usize = 3;
const NEW: usize = 99;

#[tokio::test(start_paused = true)]
async fn replies_in_threads_that_no_note_knows_are_read_where_no_zone_is_told() {
    // Before the first note, and after the second one, which has the old threads but not the new one.
    for killed_after in [5, KILLED_AFTER_S] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(site));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        let crawl = async |seconds: u64, killed: Option<u64>| {
            let text = "start = ['http://sim.example/']\nrevisit_minutes = 7\n[rate]\nrequests_per_second = 1000000\n\
                        [classes]\npage = ['^/$']\nboard = ['^/board/']\nthread = ['^/viewtopic']\n";
            let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
            let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
            let service = RunOptions { keep_looking: true, ..RunOptions::default() };
            machine
                .crawl_site(site, service, Some(Duration::from_secs(seconds)), killed.map(Duration::from_secs))
                .await
                .0
        };
        let asked = |board: usize, n: usize| web.asked(&format!("/viewtopic?t={}", 100 * (board + 1) + n));
        assert!(crawl(killed_after + 300, Some(killed_after)).await.is_err());
        for (at, (name, ..)) in BOARDS.iter().enumerate() {
            assert_eq!([asked(at, OLD), asked(at, NEW)], [1, usize::from(killed_after > BORN_AFTER_S)], "{name}");
        }
        tokio::time::sleep_until(machine.start + Duration::from_secs(BEGUN_AGAIN_AFTER_S)).await;
        crawl(2_400, None).await.unwrap();
        let all = || (0..BOARDS.len()).map(|at| [asked(at, OLD), asked(at, NEW)]).collect::<Vec<_>>();
        let between = all();
        crawl(6_000, None).await.unwrap();
        for (at, (name, _, _, answered)) in BOARDS.iter().enumerate() {
            let told = format!("{name}, killed after {killed_after} s: {:?}, then {:?}", between[at], all()[at]);
            let is_early = *answered < BEGUN_AGAIN_AFTER_S;
            let before = if is_early { [1, usize::from(killed_after > BORN_AFTER_S)] } else { between[at] };
            assert!(asked(at, OLD) > before[0] && asked(at, NEW) > before[1], "{told}");
            assert!(asked(at, OLD) <= 3 && asked(at, NEW) <= 3, "{told}");
            let others: Vec<usize> = (1..=12).filter(|n| *n != OLD && asked(at, *n) > 2).collect();
            assert!(others.is_empty(), "{told}: {others:?} without news");
        }
    }
}

/// Where the thread is that is first seen before the kill.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    /// On a list sorted by title, where it stays.
    Title,
    /// The same, on its second page.
    SecondByTitle,
    /// On the second page of a list sorted by activity: each time, enough others are answered to fill the first one.
    Second,
}

/// The boards by name: the position of the thread, whether the rows count replies, and when it is answered.
const PLACES: [(&str, Place, bool, u64); 7] = [
    ("title-early", Place::Title, false, 1_000),
    ("title-late", Place::Title, false, 4_000),
    ("title-counted", Place::Title, true, 1_000),
    ("title-2-early", Place::SecondByTitle, false, 1_000),
    ("title-2-late", Place::SecondByTitle, false, 4_000),
    ("title-2-counted", Place::SecondByTitle, true, 1_000),
    // One that is answered before the service is back waits for its page in the rotation.
    ("second-late", Place::Second, false, 4_000),
];

/// Rows of a page.
const ROWS: usize = 12;

fn places(path: &str, elapsed: Duration) -> Option<Answer> {
    let elapsed = elapsed.as_secs();
    if path == "/" {
        return Some(page(&PLACES.map(|(name, ..)| format!("<a href=/board/{name}>{name}</a>")).concat()));
    }
    if path.starts_with("/viewtopic") {
        return Some(page("<h1>Talk</h1><p>words</p>"));
    }
    let (name, number) = path.strip_prefix("/board/").map(|path| path.split_once("?page=").unwrap_or((path, "1")))?;
    let at = PLACES.iter().position(|(other, ..)| name == *other)?;
    let (_, place, is_counted, answered) = PLACES[at];
    let times = [BORN_AFTER_S - 60, answered].into_iter().filter(|at| elapsed >= *at).count() as u64;
    let last_of = |replies: u64| START + [0, BORN_AFTER_S - 60, answered][replies as usize];
    // By title, or the latest replies first.
    let mut rows: Vec<(u64, u64, usize)> = (1..=2 * ROWS)
        .map(|n| {
            let old = START - 86_400 + (n as u64 * 7 % 23) * 3_600;
            let is_busy = place == Place::Second && n <= ROWS && times > 0;
            (if is_busy { last_of(times) + 1 } else { old }, 3, n)
        })
        .collect();
    if times > 0 {
        rows.push((last_of(times), times - 1, NEW));
    }
    match place {
        Place::Second => rows.sort_by_key(|(last, _, n)| std::cmp::Reverse((*last, *n))),
        Place::Title => rows.sort_by_key(|(.., n)| if *n == NEW { 2 * (ROWS / 2) + 1 } else { 2 * n }),
        Place::SecondByTitle => rows.sort_by_key(|(.., n)| if *n == NEW { 2 * (2 * ROWS - 4) + 1 } else { 2 * n }),
    }
    let number = number.parse::<usize>().ok()?;
    let row = |(last, replies, n): &(u64, u64, usize)| {
        let time = iso(*last).replace('T', " ");
        let count = if is_counted { format!("<td>{replies}</td>") } else { String::new() };
        let n = 100 * (at + 1) + n;
        format!(
            "<tr class=row><td><a href='/viewtopic?t={n}'>{n} is the matter of this talk</a></td>{count}<td>{}</td></tr>",
            &time[..16]
        )
    };
    let head = if is_counted { "<th>Replies" } else { "" };
    let shown: String = rows.chunks(ROWS).nth(number - 1)?.iter().map(row).collect();
    let next = if rows.len() > ROWS * number {
        format!("<p class=pages><a rel=next href='/board/{name}?page={}'>Next</a></p>", number + 1)
    } else {
        String::new()
    };
    Some(page(&format!(
        "<body><h1>Board</h1><table class=topics><tr><th>Topic{head}<th>Last post</tr>{shown}</table>{next}</body>"
    )))
}

#[tokio::test(start_paused = true)]
async fn so_they_are_on_lists_by_title_and_on_second_pages() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(places));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let asked = |board: usize, n: usize| web.asked(&format!("/viewtopic?t={}", 100 * (board + 1) + n));
    let seen = || (0..PLACES.len()).map(|at| asked(at, NEW)).collect::<Vec<_>>();
    let crawl = async |seconds: u64, killed: Option<u64>| {
        let text = "start = ['http://sim.example/']\nrevisit_minutes = 2\n[rate]\nrequests_per_second = 1000000\n\
                    [classes]\npage = ['^/$']\nboard = ['^/board/']\nthread = ['^/viewtopic']\n";
        let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
        let service = RunOptions { keep_looking: true, ..RunOptions::default() };
        machine.crawl_site(site, service, Some(Duration::from_secs(seconds)), killed.map(Duration::from_secs)).await.0
    };
    assert!(crawl(KILLED_AFTER_S + 300, Some(KILLED_AFTER_S)).await.is_err());
    assert_eq!(seen(), [1; PLACES.len()], "all were read in front of the kill");
    tokio::time::sleep_until(machine.start + Duration::from_secs(BEGUN_AGAIN_AFTER_S)).await;
    crawl(4_200, None).await.unwrap();
    let log = web.log();
    for (at, (name, place, _, answered)) in PLACES.iter().enumerate() {
        let path = format!("/viewtopic?t={}", 100 * (at + 1) + NEW);
        let read: Vec<u64> = log.iter().filter(|(_, asked)| *asked == path).map(|(at, _)| at / 1_000).collect();
        // For a thread read within the hour, a page after the front page proves nothing if times have no zone.
        let is_in_doubt = *place == Place::SecondByTitle && *answered < BEGUN_AGAIN_AFTER_S;
        let (from, soon) = (answered.max(&BEGUN_AGAIN_AFTER_S), if is_in_doubt { 3_600 } else { 600 });
        assert!(read.len() == 2 && (*from..from + soon).contains(&read[1]), "{name}: {read:?}");
        let others: Vec<usize> = (1..=2 * ROWS).map(|n| asked(at, n)).collect();
        assert!(others.iter().all(|times| *times <= 3), "{name}: {others:?}");
    }
}
