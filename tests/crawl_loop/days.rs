//! Days of few requests: what looks find comes with the next of them, whatever the pace, and looks have what is left.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner::crawl::RunOptions;
use gleaner::crawl::site::Site;
use gleaner::fetch::ResponseHeaders;

use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true };

const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;
/// Virtual time begins at 22:13 of a day.
const BEGINS_S: u64 = 80_000;

const LISTS: u64 = 20;
/// Torrents of a list that were there before, and of one of its pages.
const OLD: u64 = 100;
const ROWS: u64 = 20;
/// A list has a new one this often: forty a day of all.
const EVERY_S: u64 = 12 * HOUR_S;
const BUDGET: usize = 400;

/// When a list's torrent comes; those that were there before are 1 to `OLD`.
fn comes_s(list: u64, number: u64) -> u64 {
    (number - OLD) * EVERY_S - list * EVERY_S / LISTS
}

fn tracker(path: &str, elapsed: Duration) -> Option<Answer> {
    let newest = |list: u64| OLD + (elapsed.as_secs() + list * EVERY_S / LISTS) / EVERY_S;
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

#[tokio::test(start_paused = true)]
async fn what_looks_find_comes_before_further_looks_however_few_requests_a_day_has() {
    for timeout_s in [300, 60] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tracker));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        let text = format!(
            "start = ['http://sim.example/']\nrevisit_minutes = 60\n\
             [rate]\nrequests_per_second = 1\nrequests_per_day = {BUDGET}\ntimeout_seconds = {timeout_s}\n\
             [classes]\nindex = ['^/$', '^/list/']\ndetail = ['^/detail/']\ndownload = ['^/dl/']\n"
        );
        let rules = gleaner::rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
        // Four midnights and an hour.
        let lasts_s = 4 * DAY_S - BEGINS_S + HOUR_S;
        machine.crawl_site(site, SERVICE, Some(Duration::from_secs(lasts_s)), None).await.0.unwrap();
        let log = web.log();
        let first_day_s = DAY_S - BEGINS_S;
        let mut gap_s = 0;
        for day in 0..3 {
            let of_day = |at: &u64| (at / 1_000).wrapping_sub(first_day_s + day * DAY_S) < DAY_S;
            let paths: Vec<&String> = log.iter().filter(|(at, _)| of_day(at)).map(|(_, path)| path).collect();
            let asked = paths.iter().filter(|path| **path != "/robots.txt").count();
            assert_eq!(asked, BUDGET, "all of day {day} is used");
            let looks = paths.iter().filter(|path| path.starts_with("/list/") && !path.contains('?')).count();
            assert!(looks >= 60, "{looks} looks on day {day}");
            gap_s = gap_s.max(DAY_S * LISTS / looks as u64);
        }
        let (mut faults, mut waits) = (Vec::new(), Vec::new());
        // What came within the last time that a list may be left alone for may not have been seen.
        let (from_s, until_s) = (first_day_s, lasts_s - 3 * gap_s - HOUR_S);
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
            if fetched_s.saturating_sub(looked_s) > HOUR_S || looked_s - came_s > 3 * gap_s {
                faults.push(format!(
                    "{list}-{number} came at {came_s} s, was seen {} s later, and came {} s after that",
                    looked_s - came_s,
                    fetched_s.saturating_sub(looked_s)
                ));
            }
        }
        waits.sort_unstable();
        assert!(waits.len() > 60 && waits[waits.len() / 2] < gap_s, "{gap_s} s: {waits:?}");
        assert!(faults.is_empty(), "timeout {timeout_s}: {} of them\n{}", faults.len(), faults.join("\n"));
    }
}
