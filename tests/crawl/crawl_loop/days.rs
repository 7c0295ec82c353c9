//! Daily request budgets: news found by rechecks are fetched first, and rechecks get the rest of the budget.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;
use gleaner_net::fetch::ResponseHeaders;

use super::cases;
use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;
/// Virtual time starts at 22:13.
const BEGINS_S: u64 = 80_000;

const LISTS: u64 = 20;
/// Torrents of a list that existed before, and of one of its pages.
const OLD: u64 = 100;
const ROWS: u64 = 20;
/// Interval of new torrents per list: forty a day over all lists.
const EVERY_S: u64 = 12 * HOUR_S;
const BUDGET: usize = 400;
/// Maximum time between rechecks of a list: three times that of sixty rechecks a day.
const LEFT_ALONE_S: u64 = 24 * HOUR_S;

/// When a torrent of a list appears; those that existed before are 1 to `OLD`.
fn comes_s(list: u64, number: u64) -> u64 {
    (number - OLD) * EVERY_S - list * EVERY_S / LISTS
}

/// Every other list gets this many at once at this time: those of one list keep the increment busy for half a day.
const BURST: u64 = 60;
const BURST_AT_S: u64 = 8 * HOUR_S;

fn bursts(list: u64) -> bool {
    list % 2 == 1
}

fn newest_of(list: u64, elapsed: Duration) -> u64 {
    OLD + (elapsed.as_secs() + list * EVERY_S / LISTS) / EVERY_S
}

fn tracker(path: &str, elapsed: Duration) -> Option<Answer> {
    site(path, |list| newest_of(list, elapsed))
}

fn with_bursts(path: &str, elapsed: Duration) -> Option<Answer> {
    let more = |list: u64| if bursts(list) && elapsed.as_secs() >= BURST_AT_S { BURST } else { 0 };
    site(path, |list| newest_of(list, elapsed) + more(list))
}

/// Torrents of a list on a site that shows some of them at random: five on its start page, two on every other page.
const PICKED_FROM: u64 = 3_000;

fn with_picks(path: &str, elapsed: Duration) -> Option<Answer> {
    let newest = |list: u64| PICKED_FROM - OLD + newest_of(list, elapsed);
    let pick = |number: u64| {
        let drawn = number.wrapping_mul(6_364_136_223_846_793_005) >> 33;
        format!("<p><a href=/detail/{}-{}>Another film</a>", drawn % LISTS, drawn / LISTS % PICKED_FROM + 1)
    };
    let seed = match path.strip_prefix("/detail/").map(|name| name.split_once('-')) {
        Some(name) => {
            let (list, number) = name?;
            list.parse::<u64>().ok()? * 1_000_003 + number.parse::<u64>().ok()? * 101
        }
        None if path == "/" => elapsed.as_secs() * 7,
        None => return site(path, newest),
    };
    let picks = if path == "/" { 5 } else { 2 };
    let Answer::Status(status, headers, body) = site(path, newest)? else { return None };
    let picks: String = (seed + 1..=seed + picks).map(pick).collect();
    Some(Answer::Status(status, headers, Bytes::from([&body[..], picks.as_bytes()].concat())))
}

/// A torrent's page links to its file through a second page.
fn in_two_steps(path: &str, elapsed: Duration) -> Option<Answer> {
    let name = path.strip_prefix("/detail/").filter(|name| !name.ends_with("/get"));
    match (name, path.strip_suffix("/get")) {
        (Some(name), _) => tracker(path, elapsed).map(|_| page(&format!("<a href=/detail/{name}/get>Files</a>"))),
        (None, Some(path)) => tracker(path, elapsed),
        (None, None) => tracker(path, elapsed),
    }
}

/// The start page shows the latest two torrents of each list.
fn with_the_latest(path: &str, elapsed: Duration) -> Option<Answer> {
    let Answer::Status(status, headers, body) = tracker(path, elapsed)? else { return None };
    let latest = |list: u64| {
        let newest = newest_of(list, elapsed);
        format!("<p><a href=/detail/{list}-{newest}>A</a><p><a href=/detail/{list}-{}>B</a>", newest - 1)
    };
    let latest: String = if path == "/" { (0..LISTS).map(latest).collect() } else { String::new() };
    Some(Answer::Status(status, headers, Bytes::from([&body[..], latest.as_bytes()].concat())))
}

fn site(path: &str, newest: impl Fn(u64) -> u64) -> Option<Answer> {
    if path == "/" {
        return Some(page(&(0..LISTS).map(|list| format!("<a href=/list/{list}>{list}</a> ")).collect::<String>()));
    }
    if let Some(list) = path.strip_prefix("/list/") {
        let (list, number) = list.split_once("?page=").unwrap_or((list, "1"));
        let (list, number) = (list.parse::<u64>().ok()?, number.parse::<u64>().ok()?);
        let first = newest(list).checked_sub(ROWS * (number - 1)).filter(|first| *first > 0)?;
        let rows = (first.saturating_sub(ROWS) + 1..=first).rev();
        let rows: String = rows.map(|row| format!("<li><a href=/detail/{list}-{row}>Film {list} {row}</a>")).collect();
        let next = format!("<a rel=next href=/list/{list}?page={}>next</a>", number + 1);
        return Some(page(&format!("{rows}{}", if first > ROWS { &next } else { "" })));
    }
    let name = path.strip_prefix("/detail/").or_else(|| path.strip_prefix("/dl/"))?;
    let (list, number) = name.split_once('-')?;
    let is_there = number.parse::<u64>().ok()? <= newest(list.parse().ok()?);
    let text = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    let file = || Answer::Status(200, ResponseHeaders::default(), Bytes::from(text));
    let is_page = path.starts_with("/detail/");
    is_there.then(|| if is_page { page(&format!("<h1>{name}</h1><a href=/dl/{name}>get</a>")) } else { file() })
}

fn made(machine: &Machine, web: &Arc<Web>, timeout_s: u64, start: &str) -> Site {
    let text = format!(
        "start = ['http://sim.example/']\nrevisit_minutes = 60\n\
         [rate]\nrequests_per_second = 1\nrequests_per_day = {BUDGET}\ntimeout_seconds = {timeout_s}\n\
         [classes]\n{start}\ndetail = ['^/detail/']\ndownload = ['^/dl/']\n"
    );
    let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
    Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone())
}

const LISTED: &str = "index = ['^/$', '^/list/']";
/// The start page is no list.
const APART: &str = "page = ['^/$']\nindex = ['^/list/']";

fn is_front(path: &str) -> bool {
    path.starts_with("/list/") && !path.contains('?')
}

#[tokio::test(start_paused = true)]
async fn what_looks_find_comes_before_further_looks_however_few_requests_a_day_has() {
    for timeout_s in cases(1, [300, 60]) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tracker));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        let site = made(&machine, &web, timeout_s, LISTED);
        // Three midnights and an hour.
        let lasts_s = 3 * DAY_S - BEGINS_S + HOUR_S;
        machine.crawl_site(site, SERVICE, Some(Duration::from_secs(lasts_s)), None).await.0.unwrap();
        let log = web.log();
        let first_day_s = DAY_S - BEGINS_S;
        for day in 0..2 {
            let of_day = |at: &u64| (at / 1_000).wrapping_sub(first_day_s + day * DAY_S) < DAY_S;
            let paths: Vec<&String> = log.iter().filter(|(at, _)| of_day(at)).map(|(_, path)| path).collect();
            let asked = paths.iter().filter(|path| **path != "/robots.txt").count();
            assert_eq!(asked, BUDGET, "all of day {day} is used");
            let looks = paths.iter().filter(|path| is_front(path)).count();
            assert!(looks >= 60, "{looks} looks on day {day}");
        }
        let (mut faults, mut waits) = (Vec::new(), Vec::new());
        // Torrents of the last interval between rechecks may not have been seen.
        let (from_s, until_s) = (first_day_s, lasts_s - LEFT_ALONE_S - HOUR_S);
        for (list, number) in (0..LISTS).flat_map(|list| (OLD + 1..OLD + 20).map(move |number| (list, number))) {
            let came_s = comes_s(list, number);
            if !(from_s..until_s).contains(&came_s) {
                continue;
            }
            let first_asked = |path: String| {
                let mut later = log.iter().filter(|(at, _)| *at > came_s * 1_000);
                later.find(|(_, asked)| *asked == path).map(|(at, _)| at / 1_000)
            };
            let looked_s = first_asked(format!("/list/{list}"));
            let fetched_s = first_asked(format!("/dl/{list}-{number}"));
            let (Some(looked_s), Some(fetched_s)) = (looked_s, fetched_s) else {
                faults
                    .push(format!("{list}-{number} came at {came_s} s, looked at {looked_s:?}, fetched {fetched_s:?}"));
                continue;
            };
            waits.push(looked_s - came_s);
            if fetched_s.saturating_sub(looked_s) > HOUR_S || looked_s - came_s > LEFT_ALONE_S {
                faults.push(format!(
                    "{list}-{number} came at {came_s} s, was seen {} s later, and came {} s after that",
                    looked_s - came_s,
                    fetched_s.saturating_sub(looked_s)
                ));
            }
        }
        waits.sort_unstable();
        // Forty come in a day.
        assert!(waits.len() > 30 && waits[waits.len() / 2] < 8 * HOUR_S, "{waits:?}");
        assert!(faults.is_empty(), "timeout {timeout_s}: {} of them\n{}", faults.len(), faults.join("\n"));
    }
}

#[tokio::test(start_paused = true)]
async fn bursts_end_no_looks_and_what_other_lists_show_comes_before_the_rest_of_them() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(with_bursts));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let site = made(&machine, &web, 60, LISTED);
    let lasts_s = BURST_AT_S + 24 * HOUR_S;
    machine.crawl_site(site, SERVICE, Some(Duration::from_secs(lasts_s)), None).await.0.unwrap();
    let log = web.log();
    let list_of = |path: &str| path.strip_prefix("/list/").and_then(|list| list.parse::<u64>().ok());
    let looks: Vec<(u64, u64)> = log.iter().filter_map(|(at, path)| Some((at / 1_000, list_of(path)?))).collect();
    let is_burst = |(at, list): &&(u64, u64)| *at > BURST_AT_S && bursts(*list);
    let begins_s = looks.iter().find(is_burst).map(|(at, _)| *at).unwrap_or_else(|| panic!("no burst is seen"));
    let times: Vec<u64> = looks.iter().map(|(at, _)| *at).filter(|at| *at >= begins_s).chain([lasts_s]).collect();
    let gap_s = times.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(u64::MAX);
    let hours = (lasts_s - begins_s) / HOUR_S;
    assert!(gap_s < 3 * HOUR_S && times.len() as u64 >= hours * 2 / 3, "{gap_s} s, {hours} h: {times:?}");
    let mut late = Vec::new();
    let quiet = (0..LISTS).filter(|list| !bursts(*list));
    for (list, number) in quiet.flat_map(|list| (OLD + 1..OLD + 9).map(move |number| (list, number))) {
        let came_ms = comes_s(list, number) * 1_000;
        let asked = |path: String| log.iter().find(|(at, asked)| *at > came_ms && *asked == path).map(|(at, _)| *at);
        let looked = asked(format!("/list/{list}")).map(|at| at / 1_000);
        let Some(looked_s) = looked.filter(|at| *at > begins_s && at + 4 * HOUR_S < lasts_s) else { continue };
        late.push(asked(format!("/dl/{list}-{number}")).map_or(u64::MAX, |at| at / 1_000 - looked_s));
    }
    late.sort_unstable();
    assert!(late.len() >= 8 && late[late.len() / 2] <= HOUR_S && late[late.len() * 3 / 4] <= 4 * HOUR_S, "{late:?}");
}

#[tokio::test(start_paused = true)]
async fn links_to_old_torrents_on_start_page_and_details_take_no_looks() {
    for start in cases(1, [LISTED, APART]) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(with_picks));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        let site = made(&machine, &web, 60, start);
        let first_day_s = DAY_S - BEGINS_S;
        let lasts_s = first_day_s + 2 * DAY_S;
        machine.crawl_site(site, SERVICE, Some(Duration::from_secs(lasts_s)), None).await.0.unwrap();
        let log = web.log();
        let of_day = |at: &u64| (at / 1_000).wrapping_sub(first_day_s + DAY_S) < DAY_S;
        let count = |is: fn(&str) -> bool| log.iter().filter(|(at, path)| of_day(at) && is(path)).count();
        let (looks, starts) = (count(is_front), count(|path| path == "/"));
        assert!(looks >= 55 && starts <= 8, "{start}: {looks} looks on the second day, {starts} at the start page");
        // New torrents are fetched after the recheck that shows them.
        let (mut late, mut seen) = (0, 0);
        for (list, number) in (0..LISTS).flat_map(|list| (OLD + 1..OLD + 9).map(move |number| (list, number))) {
            let came_ms = comes_s(list, number) * 1_000;
            let asked =
                |path: String| log.iter().find(|(at, asked)| *at > came_ms && *asked == path).map(|(at, _)| *at);
            let looked = asked(format!("/list/{list}")).filter(|at| at / 1_000 + HOUR_S < lasts_s);
            let Some(looked) = looked.filter(|_| came_ms > first_day_s * 1_000) else { continue };
            let fetched = asked(format!("/dl/{list}-{}", PICKED_FROM - OLD + number));
            seen += 1;
            late += usize::from(fetched.is_none_or(|fetched| fetched > looked + HOUR_S * 1_000));
        }
        // Of the eighty that come in two days.
        assert!(seen > 40 && late == 0, "{start}: {late} of {seen}");
    }
}

/// For torrents that appeared on the second day: the time until their file was requested.
async fn waits(web: Arc<Web>, start: &str) -> Vec<u64> {
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let site = made(&machine, &web, 60, start);
    let (from_s, until_s) = (DAY_S - BEGINS_S, 2 * DAY_S - BEGINS_S);
    machine.crawl_site(site, SERVICE, Some(Duration::from_secs(until_s + 12 * HOUR_S)), None).await.0.unwrap();
    let log = web.log();
    let all = (0..LISTS).flat_map(|list| (OLD + 1..OLD + 9).map(move |number| (list, number)));
    let wait = |(list, number): (u64, u64)| {
        let path = format!("/dl/{list}-{number}");
        let asked = log.iter().find(|(_, asked)| *asked == path).map(|(at, _)| at / 1_000);
        asked.map_or(u64::MAX, |at| at - comes_s(list, number))
    };
    let mut waits: Vec<u64> =
        all.filter(|(list, number)| (from_s..until_s).contains(&comes_s(*list, *number))).map(wait).collect();
    waits.sort_unstable();
    waits
}

#[tokio::test(start_paused = true)]
async fn a_new_torrent_whose_page_leads_to_its_file_by_a_second_one_comes_all_the_same() {
    let waits = waits(Arc::new(Web::new(Duration::from_millis(10)).meanwhile(in_two_steps)), LISTED).await;
    assert!(waits.len() >= 35 && waits[waits.len() * 3 / 4] < 24 * HOUR_S, "{waits:?}");
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_shows_the_latest_is_looked_at_at_its_own_pace_and_its_rows_are_news() {
    for start in cases(1, [APART, LISTED]) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(with_the_latest));
        let waits = waits(web, start).await;
        let bound_s = if start == APART { 2 } else { 6 } * HOUR_S;
        assert!(waits.len() >= 35 && waits[waits.len() / 2] < bound_s, "{start}: {waits:?}");
    }
}
