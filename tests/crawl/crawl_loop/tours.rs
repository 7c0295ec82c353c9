//! Lists that are not sorted by time: rows inserted anywhere are found within some rechecks, even if the front pages are quiet.

use std::sync::Arc;
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::RunOptions;
use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
use gleaner_crawl::site::Site;
use gleaner_store::crawldb::Reader as _;

use super::boards::START;
use super::cases;
use super::increment::{in_memory, torrent_of};
use super::web::{Answer, Machine, Web, page};

/// Torrents that existed before, the interval of new ones in seconds, rows of a page.
const OLD: u64 = 120;
const EVERY_S: u64 = 900;
const ROWS: u64 = 10;
const REVISIT_S: u64 = 600;

/// Sort key: by title, independent of time. New ones appear anywhere except on the front page, which stays the same.
fn key(number: u64) -> u64 {
    let drawn = number * 7_919 % 10_007;
    if number <= OLD { drawn } else { 2_000 + drawn * 8_000 / 10_007 }
}

/// A link to the next page, or numbers of all of them.
#[derive(Clone, Copy, PartialEq)]
enum Pager {
    Next,
    Numbers,
}

fn list(newest: u64, number: u64, has_times: bool, pager: Pager) -> Option<Answer> {
    let mut titles: Vec<(u64, u64)> = (1..=newest).map(|number| (key(number), number)).collect();
    titles.sort_unstable();
    let rows = titles.chunks(ROWS as usize).nth(usize::try_from(number.checked_sub(1)?).ok()?)?;
    let row = |(key, number): &(u64, u64)| {
        let at = if *number > OLD { START + (number - OLD) * EVERY_S } else { START - 86_400 * number };
        let time = if has_times { &UnixMillis(at * 1_000).rfc3339().replace('T', " ")[..16] } else { "" };
        format!("<tr><td><a href=/detail/{number}>Title of the film {key:05}</a></td><td>{time}</td></tr>")
    };
    let rows: String = rows.iter().map(row).collect();
    let pages = newest.div_ceil(ROWS);
    let pager: String = match pager {
        Pager::Next if number < pages => format!("<p><a rel=next href=/board?page={}>next</a></p>", number + 1),
        Pager::Next => String::new(),
        Pager::Numbers => {
            (1..=pages).filter(|other| *other != number).map(|n| format!("<a href=/az/{n}>{n}</a> ")).collect()
        }
    };
    Some(page(&format!("<table><tr><th>Name</th><th>Added</th></tr>{rows}</table>{pager}")))
}

fn site(path: &str, elapsed: Duration, has_times: bool) -> Option<Answer> {
    let newest = OLD + elapsed.as_secs() / EVERY_S;
    let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
    match path {
        "/" => Some(page("<a href=/board>list</a>")),
        "/board" => list(newest, 1, has_times, Pager::Next),
        _ if let Some(number) = number("/board?page=") => list(newest, number, has_times, Pager::Next),
        _ if let Some(number) = number("/az/") => list(newest, number, has_times, Pager::Numbers),
        _ if let Some(number) = number("/detail/") => {
            Some(page(&format!("<h1>{number}</h1><a href=/dl/{number}>get</a>")))
        }
        _ => path.strip_prefix("/dl/").map(torrent_of),
    }
}

fn timed(path: &str, elapsed: Duration) -> Option<Answer> {
    site(path, elapsed, true)
}

fn bare(path: &str, elapsed: Duration) -> Option<Answer> {
    site(path, elapsed, false)
}

/// URLs whose number is a page number only by the rules.
fn numbered(path: &str, elapsed: Duration) -> Option<Answer> {
    if path == "/" { Some(page("<a href=/az/1>list</a>")) } else { site(path, elapsed, true) }
}

fn resting(path: &str) -> Option<Answer> {
    site(path, Duration::ZERO, true)
}

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

fn rules(more: &str) -> String {
    format!(
        "revisit_minutes = {}\nlanes = 2\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 4\nconnections = 2\n{more}",
        REVISIT_S / 60
    )
}

/// For each torrent, the rechecks between its appearance and its fetch.
fn looks_late(web: &Web, until_s: u64) -> Vec<u64> {
    let firsts = web.firsts();
    let late = |number: u64| {
        let came_s = (number - OLD) * EVERY_S;
        let fetched = firsts.get(&format!("/dl/{number}"));
        fetched.map_or(u64::MAX, |at| (at / 1_000 - came_s).div_ceil(REVISIT_S))
    };
    (OLD + 1..=OLD + until_s / EVERY_S).map(late).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_put_anywhere_in_a_list_by_title_comes_within_some_looks() {
    const HOURS: u64 = 12;
    let all = [
        (2, "timed", timed as fn(&str, Duration) -> Option<Answer>, "/board"),
        (2, "bare", bare, "/board"),
        (1, "numbered", numbered, "/az/1"),
        (1, "timed", timed, "/board"),
        (1, "bare", bare, "/board"),
        (2, "numbered", numbered, "/az/1"),
    ];
    for (crews, name, meanwhile, front) in cases(3, all) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(meanwhile));
        let mut machine = Machine::new();
        machine.update = (crews == 2).then(in_memory);
        let text = format!(
            "start = ['http://sim.example/']\n{}\n[classes]\npage = ['^/$']\n\
             index = ['^/board(?:\\?page=\\d+)?$', '^/az/(?P<page>\\d+)$']\ndetail = ['^/detail/']\ndownload = ['^/dl/']\n",
            rules("")
        );
        let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
        machine.crawl_site(site, SERVICE, Some(Duration::from_secs(HOURS * 3_600)), None).await.0.unwrap();
        let late = looks_late(&web, (HOURS - 2) * 3_600);
        let mut sorted = late.clone();
        sorted.sort_unstable();
        assert!(sorted[sorted.len() / 2] <= 4, "{name}, {crews} crews: half within four looks: {late:?}");
        // For a list without times, its order is unknown until something has shown it.
        let (early, later) = late.split_at(late.len() / 4);
        assert!(early.iter().all(|looks| *looks <= 20), "{name}, {crews} crews: {late:?}");
        assert!(later.iter().all(|looks| *looks <= 8), "{name}, {crews} crews: {late:?}");
        let is_behind = |path: &str| path != front && (path.starts_with("/board") || path.starts_with("/az/"));
        let (looks, pages) = (web.asked(front), web.log().iter().filter(|(_, path)| is_behind(path)).count());
        assert!(looks >= 60 && pages <= 6 * looks, "{name}, {crews} crews: {pages} pages at {looks} looks");
        let note = machine.db.note("sim", SCHEDULE_NOTE).await.unwrap().unwrap();
        let told = StoredTimetable::from_bytes(&note).unwrap().explain(machine.clock().now().0 / 1_000);
        assert!((40.0..150.0).contains(&told[0].weight), "{name}, {crews} crews: of 96 a day {:?}", told[0]);
    }
}

#[tokio::test(start_paused = true)]
async fn each_page_of_a_list_by_title_is_read_within_a_day_under_few_requests_a_day() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(resting));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    const LASTS_S: u64 = 60 * 3_600;
    machine.crawl_until(&web, &rules("requests_per_day = 300"), SERVICE, Some(Duration::from_secs(LASTS_S))).await;
    let log = web.log();
    for number in 2..=12 {
        let path = format!("/board?page={number}");
        let mut read: Vec<u64> = log.iter().filter(|(_, asked)| *asked == path).map(|(at, _)| at / 1_000).collect();
        read.push(LASTS_S);
        // History has read all of it by the third day.
        let longest = read.windows(2).filter(|pair| pair[1] > 2 * 86_400).map(|pair| pair[1] - pair[0]).max();
        assert!(longest.is_some_and(|longest| longest <= 86_400), "page {number}: {read:?}");
    }
}

/// A list of ten pages, latest first, with a new row each hour. One row that appears in the second hour is on page 3, like a late
/// approval.
fn approved_late(path: &str, elapsed: Duration, has_times: bool) -> Option<Answer> {
    const LATE: u64 = 9_000;
    let newest = OLD + elapsed.as_secs() / 3_600;
    let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
    let list = |page_number: u64| {
        let mut rows: Vec<(u64, u64)> = (newest - OLD + 1..=newest).rev().map(|number| (number, number)).collect();
        if elapsed.as_secs() > 7_200 {
            let at = rows.len() - 95;
            rows.insert(at, (LATE, rows[at].1));
        }
        let rows = rows.chunks(ROWS as usize + 2).nth(usize::try_from(page_number.checked_sub(1)?).ok()?)?;
        let row = |(number, at): &(u64, u64)| {
            let at = UnixMillis((START + at * 3_600 - OLD * 3_600) * 1_000).rfc3339().replace('T', " ");
            let time = if has_times { &at[..16] } else { "" };
            format!("<tr><td><a href=/detail/{number}>Title of the film {number:05}</a></td><td>{time}</td></tr>")
        };
        let rows: String = rows.iter().map(row).collect();
        let next = format!("<p><a rel=next href=/board?page={}>next</a></p>", page_number + 1);
        let next = if page_number < OLD / (ROWS + 2) { &next } else { "" };
        Some(page(&format!("<table><tr><th>Name</th><th>Added</th></tr>{rows}</table>{next}")))
    };
    match path {
        "/board" => list(1),
        _ if let Some(number) = number("/board?page=") => list(number),
        _ => site(path, Duration::ZERO, has_times),
    }
}

fn late_and_timed(path: &str, elapsed: Duration) -> Option<Answer> {
    approved_late(path, elapsed, true)
}

fn late_and_bare(path: &str, elapsed: Duration) -> Option<Answer> {
    approved_late(path, elapsed, false)
}

#[tokio::test(start_paused = true)]
async fn what_is_put_in_late_behind_the_front_of_a_list_in_order_is_found_within_days() {
    for (name, meanwhile) in
        cases(1, [("timed", late_and_timed as fn(&str, Duration) -> Option<Answer>), ("bare", late_and_bare)])
    {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(meanwhile));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        const DAYS: u64 = 2;
        machine.crawl_until(&web, &rules(""), SERVICE, Some(Duration::from_secs(DAYS * 86_400))).await;
        let log = web.log();
        let fetched = log.iter().find(|(_, path)| path == "/dl/9000").map(|(at, _)| at / 3_600_000);
        assert!(fetched.is_some_and(|hours| hours <= 2 + 44), "{name}: fetched after {fetched:?} hours");
        // Ten pages of history, a page after the front page each hour that has news, and six a day in rotation.
        let deep = log.iter().filter(|(_, path)| path.starts_with("/board?page=") && path != "/board?page=2").count();
        assert!(deep as u64 <= 10 + 8 * DAYS + 12, "{name}: {deep} pages behind the second");
    }
}
