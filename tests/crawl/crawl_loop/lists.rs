//! Lists that shift while they are read: no row is lost at page boundaries.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::ResponseHeaders;

use super::cases;
use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

/// Threads that existed before.
pub const OLD: u64 = 300;
/// Rows of a page.
const ROWS: u64 = 10;
/// Interval of new threads.
const EVERY_S: u64 = 5;
/// Pages on each side that a page links to, besides the first and the last.
const WINDOW: u64 = 3;

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

pub fn rules(lanes: u32) -> String {
    format!(
        "revisit_minutes = 1\nlanes = {lanes}\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 10\nconnections = {lanes}"
    )
}

/// A list of this many rows, newest first, with a pager as in forums.
fn list(newest: u64, number: u64) -> Option<Answer> {
    let pages = newest.div_ceil(ROWS);
    let first = newest.checked_sub(ROWS * (number - 1)).filter(|first| *first > 0)?;
    let rows: String = (first.saturating_sub(ROWS)..first)
        .rev()
        .fold(String::new(), |rows, row| rows + &format!("<li><a href=/detail/{0}>{0}</a>", row + 1));
    let is_linked = |other: &u64| *other == 1 || *other == pages || other.abs_diff(number) <= WINDOW;
    let pager: String =
        (1..=pages).filter(is_linked).map(|other| format!("<a href=/board?page={other}>{other}</a>")).collect();
    Some(page(&format!("{rows}{pager}")))
}

pub fn board(path: &str, newest: u64) -> Option<Answer> {
    let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
    if path == "/" {
        return Some(page("<a href=/board>list</a>"));
    }
    if path == "/board" {
        return list(newest, 1);
    }
    if let Some(number) = number("/board?page=") {
        return list(newest, number);
    }
    if let Some(number) = number("/detail/") {
        return (number <= newest).then(|| page(&format!("<h1>{number}</h1><a href=/dl/{number}>get</a>")));
    }
    let name = number("/dl/").filter(|number| *number <= newest)?.to_string();
    let text = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    Some(Answer::Status(200, ResponseHeaders::default(), Bytes::from(text)))
}

fn grows(path: &str, elapsed: Duration) -> Option<Answer> {
    board(path, OLD + elapsed.as_secs() / EVERY_S)
}

fn rests(path: &str) -> Option<Answer> {
    board(path, OLD)
}

/// Old threads that were never fetched.
fn lost(web: &Web) -> Vec<u64> {
    let counts = web.counts();
    (1..=OLD).filter(|number| counts.get(&format!("/dl/{number}")) != Some(&1)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_that_grows_while_it_is_read_loses_no_row() {
    for lanes in [1, 2, 4] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows));
        let machine = Machine::new();
        let (ended, _) = machine.crawl(&web, &rules(lanes), RunOptions::default()).await;
        assert_eq!(ended, Ended::Exhausted);
        assert_eq!(lost(&web), [0; 0], "{lanes} lanes");
    }
}

#[tokio::test(start_paused = true)]
async fn the_service_loses_no_row_of_a_list_that_grows_and_goes_on_without_end_at_no_list() {
    for lanes in [1, 2] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        machine.crawl_until(&web, &rules(lanes), SERVICE, Some(Duration::from_secs(900))).await;
        assert_eq!(lost(&web), [0; 0], "{lanes} lanes");
        let late = web.log().iter().filter(|(at, path)| *at > 600_000 && path == "/board?page=2").count();
        let pages = (OLD + 900 / EVERY_S).div_ceil(ROWS);
        let behind = |path: &str| path.strip_prefix("/board?page=").and_then(|page| page.parse::<u64>().ok()) > Some(5);
        let late_behind = web.log().iter().filter(|(at, path)| *at > 600_000 && behind(path)).count();
        assert!(late_behind as u64 <= pages / 2, "{late_behind} looks behind the front, {late} at page 2");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_is_stopped_again_and_again_loses_no_row_of_a_list_that_grows() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows));
    let machine = Machine::new();
    for run in 1..200 {
        let stop_after = Some(Duration::from_secs(7));
        let (ended, _) = machine.crawl_until(&web, &rules(2), RunOptions::default(), stop_after).await;
        if ended == Ended::Exhausted && run > 5 {
            break;
        }
    }
    assert_eq!(lost(&web), [0; 0]);
}

#[tokio::test(start_paused = true)]
async fn of_a_list_that_rests_no_page_is_read_twice() {
    for lanes in [1, 2, 4, 16] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(rests));
        let rules = rules(lanes).replace("revisit_minutes = 1", "revisit_minutes = 600");
        let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!((ended, lost(&web)), (Ended::Exhausted, vec![]));
        assert_eq!(numbers(&web), (1..=OLD.div_ceil(ROWS)).collect::<Vec<u64>>(), "each once, in ascending order");
    }
}

/// Rows of a tie, which a view shows in any order.
const TIE: u64 = 4;

/// A list that rests, of which each view orders the rows of one minute anew.
fn ties(path: &str, elapsed: Duration) -> Option<Answer> {
    let number: u64 = match path {
        "/board" => 1,
        _ => match path.strip_prefix("/board?page=").and_then(|number| number.parse().ok()) {
            Some(number) => number,
            None => return rests(path),
        },
    };
    let view = xxhash_rust::xxh3::xxh3_64(format!("{number} {}", elapsed.as_micros()).as_bytes());
    let order = |row: &u64| (row / TIE, xxhash_rust::xxh3::xxh3_64_with_seed(&row.to_le_bytes(), view));
    let mut rows: Vec<u64> = (1..=OLD).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(order(row)));
    let rows = rows.chunks(ROWS as usize).nth(number as usize - 1)?;
    let rows: String = rows.iter().map(|row| format!("<li><a href=/detail/{row}>{row}</a>")).collect();
    let next = number + 1;
    Some(page(&format!("{rows}<a href=/board?page=1>1</a><a href=/board?page={next}>next</a>")))
}

#[tokio::test(start_paused = true)]
async fn a_list_whose_ties_are_ordered_anew_at_each_view_is_walked_until_it_brings_nothing_new() {
    let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 600");
    let mut service = Machine::new();
    service.update = Some(in_memory());
    for (machine, options) in [(Machine::new(), RunOptions::default()), (service, SERVICE)] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(ties));
        machine.crawl_until(&web, &rules, options, Some(Duration::from_secs(600))).await;
        assert_eq!(lost(&web), [0; 0]);
        let (pages, asked) = (OLD.div_ceil(ROWS), numbers(&web).len() as u64);
        assert!((pages + 2..=pages * 6).contains(&asked), "{asked} of {pages} pages");
        // Another crawl finds nothing to compare.
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(ties));
        machine.crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!(numbers(&web), [0; 0]);
    }
}

/// A row that no view shows, as another one is on two pages.
const HIDDEN: u64 = 255;

fn hides(path: &str) -> Option<Answer> {
    let Answer::Status(status, headers, body) = board(path, OLD)? else { return None };
    let text =
        String::from_utf8_lossy(&body).replace(&format!("/detail/{HIDDEN}>"), &format!("/detail/{}>", HIDDEN + 6));
    Some(Answer::Status(status, headers, Bytes::from(text)))
}

/// The same with the file beside each row.
fn hides_beside_files(path: &str) -> Option<Answer> {
    let Answer::Status(status, headers, body) = hides(path)? else { return None };
    if !path.starts_with("/board") {
        return Some(Answer::Status(status, headers, body));
    }
    let text = String::from_utf8_lossy(&body).into_owned();
    let rows =
        text.split("<li>").map(|row| match row.strip_prefix("<a href=/detail/").and_then(|row| row.split_once('>')) {
            Some((id, rest)) => format!("<a href=/detail/{id}>{} <a href=/dl/{id}>file</a>", rest),
            None => row.to_owned(),
        });
    Some(Answer::Status(status, headers, Bytes::from(rows.collect::<Vec<String>>().join("<li>"))))
}

#[tokio::test(start_paused = true)]
async fn an_id_that_is_missing_among_the_rows_of_an_unstable_list_is_requested() {
    for site in [hides, hides_beside_files] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(site));
        let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 600");
        let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!((ended, lost(&web)), (Ended::Exhausted, vec![]));
        assert_eq!(web.asked(&format!("/detail/{HIDDEN}")), 1);
        assert_eq!(numbers(&web).len() as u64, OLD.div_ceil(ROWS) + 4, "the front and two passes over two pages");
    }
}

fn numbers(web: &Web) -> Vec<u64> {
    web.log().iter().filter_map(|(_, path)| path.strip_prefix("/board?page=")?.parse().ok()).collect()
}

/// The page that fails for a while, so that later pages are read before it.
const FAILS: u64 = 5;

/// A static list that generates new link URLs at each view, with changing content beside its rows.
fn tokens(path: &str, elapsed: Duration) -> Option<Answer> {
    tokens_of(OLD, path, elapsed)
}

fn tokens_of(newest: u64, path: &str, elapsed: Duration) -> Option<Answer> {
    let view = elapsed.as_millis();
    if path == format!("/board?page={FAILS}") && view < 20_000 {
        return Some(Answer::Status(500, ResponseHeaders::default(), Bytes::new()));
    }
    if let Some(name) = path.strip_prefix("/dl/") {
        return board(&format!("/dl/{}", name.split('-').next()?), newest);
    }
    let Some(Answer::Status(status, headers, body)) = board(path, newest) else { return board(path, newest) };
    let text = String::from_utf8(body.to_vec()).ok()?;
    let rows = text.split("<li>").map(|row| match row.strip_prefix("<a href=/detail/") {
        None => row.to_owned(),
        Some(row) => {
            let (id, rest) = row.split_once('>').unwrap_or_default();
            let pager = rest.split_once("</a>").map(|(_, pager)| pager).unwrap_or_default();
            format!(
                "<a href=/dl/{id}-{view}>Film No {id}</a> <i>{} minutes ago</i> <b>{view}</b>{pager}",
                view / 60_000
            )
        }
    });
    Some(Answer::Status(status, headers, Bytes::from(rows.collect::<Vec<String>>().join("<li>"))))
}

fn tokens_that_grow(path: &str, elapsed: Duration) -> Option<Answer> {
    tokens_of(OLD + elapsed.as_secs() / EVERY_S, path, elapsed)
}

#[tokio::test(start_paused = true)]
async fn one_page_tells_that_a_list_rests_whose_links_have_other_names_at_each_view() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tokens));
    let rules = rules(4).replace("revisit_minutes = 1", "revisit_minutes = 600");
    let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let (pages, numbers) = (OLD.div_ceil(ROWS), numbers(&web));
    let times = |page: u64| numbers.iter().filter(|number| **number == page).count();
    let again: Vec<u64> = (1..=pages).filter(|page| *page != FAILS && times(*page) > 1).collect();
    assert_eq!(again, [FAILS + 1], "{numbers:?}");
    let downloads = web.log().iter().filter(|(_, path)| path.starts_with("/dl/")).count();
    assert!((OLD..=OLD + 2 * ROWS).contains(&(downloads as u64)), "{downloads}");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_grows_loses_no_row_where_its_links_have_other_names_at_each_view() {
    for lanes in [1, 4] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tokens_that_grow));
        let rules = rules(lanes).replace("revisit_minutes = 1", "revisit_minutes = 600");
        let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!(ended, Ended::Exhausted);
        let log = web.log();
        let was_fetched = |number: &u64| log.iter().any(|(_, path)| path.starts_with(&format!("/dl/{number}-")));
        let lost: Vec<u64> = (1..=OLD).filter(|number| !was_fetched(number)).collect();
        assert_eq!(lost, [0; 0], "{lanes} lanes");
    }
}

/// The same list, with pages after the last one: each repeats it and links on.
fn repeats(path: &str, newest: u64) -> Option<Answer> {
    let Some(number) = path.strip_prefix("/board?page=") else { return board(path, newest) };
    let number: u64 = number.parse().ok()?;
    let Answer::Status(_, _, rows) = list(newest, number.min(newest.div_ceil(ROWS)))? else { return None };
    let next: String = (1..=WINDOW).map(|by| format!("<a href=/board?page={}>next</a>", number + by)).collect();
    Some(page(&format!("{}{next}", String::from_utf8_lossy(&rows))))
}

#[tokio::test(start_paused = true)]
async fn pages_that_repeat_beyond_the_last_end_the_list() {
    let pages = OLD.div_ceil(ROWS);
    for lanes in cases(1, [4, 1, 2]) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(|path| repeats(path, OLD)));
        let machine = Machine::new();
        let rules = rules(lanes).replace("revisit_minutes = 1", "revisit_minutes = 600");
        let (ended, _) = machine.crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!((ended, lost(&web)), (Ended::Exhausted, vec![]));
        let last = numbers(&web).into_iter().max().unwrap();
        assert!(
            last <= pages + gleaner_store::limits::LIST_REPEATS as u64 + 3 * WINDOW,
            "{lanes} lanes: page {last} was read"
        );
        let found = gleaner_store::coverage::of_site(&*machine.db, "sim").await.unwrap();
        assert_eq!((found.nt.index_pages, found.nt.listed), (pages, OLD), "{lanes} lanes");
        let web = Arc::new(
            Web::new(Duration::from_millis(10))
                .meanwhile(|path, elapsed| repeats(path, OLD + elapsed.as_secs() / EVERY_S)),
        );
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        machine.crawl_until(&web, &self::rules(lanes), SERVICE, Some(Duration::from_secs(900))).await;
        assert_eq!(lost(&web), [0; 0], "{lanes} lanes");
        let (last, pages) = (numbers(&web).into_iter().max().unwrap(), (OLD + 900 / EVERY_S).div_ceil(ROWS));
        assert!(
            last <= pages + gleaner_store::limits::LIST_REPEATS as u64 + 3 * WINDOW,
            "{lanes} lanes: page {last} was read"
        );
    }
}

/// A page of the list without its pager.
fn rows_of(newest: u64, number: u64) -> Option<String> {
    let Answer::Status(_, _, page) = list(newest, number)? else { return None };
    let text = String::from_utf8_lossy(&page).into_owned();
    text.split("<a href=/board").next().map(str::to_owned)
}

const HOLES: std::ops::RangeInclusive<u64> = 3..=28;

/// Rows of many pages were removed; each page shows a featured one.
fn holes(path: &str) -> Option<Answer> {
    let number = path.strip_prefix("/board?page=").or((path == "/board").then_some("1"));
    let Some(number) = number.and_then(|number| number.parse().ok()) else { return rests(path) };
    let rows = if HOLES.contains(&number) { String::new() } else { rows_of(OLD, number)? };
    let next = number + 1;
    Some(page(&format!("<p><a href=/detail/300>featured</a></p>{rows}<a href=/board?page={next}>next</a>")))
}

#[tokio::test(start_paused = true)]
async fn pages_without_rows_of_their_own_end_no_list() {
    let (first, last) = (HOLES.start() - 1, *HOLES.end());
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(holes));
    let rules = rules(1).replace("revisit_minutes = 1", "revisit_minutes = 600");
    let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!((ended, lost(&web)), (Ended::Exhausted, (OLD - last * ROWS + 1..=OLD - first * ROWS).collect()));
}

/// The first page is read under both of its URLs; then as many rows as a page has are added at once.
fn comes_between(path: &str) -> Option<Answer> {
    let number = path.strip_prefix("/board?page=").or((path == "/board").then_some("1"));
    let Some(number) = number.and_then(|number| number.parse().ok()) else { return board(path, OLD + ROWS) };
    let rows = rows_of(if number == 1 { OLD } else { OLD + ROWS }, number)?;
    let next = number + 1;
    Some(page(&format!("{rows}<a href=/board?page=1>first</a><a href=/board?page={next}>next</a>")))
}

#[tokio::test(start_paused = true)]
async fn a_page_of_rows_that_come_between_the_first_page_and_the_second_ends_no_list() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(comes_between));
    let rules = rules(1).replace("revisit_minutes = 1", "revisit_minutes = 600");
    let (ended, _) = Machine::new().crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!((ended, lost(&web)), (Ended::Exhausted, vec![]));
}

/// A list of one page, whose pager names it.
fn short(path: &str) -> Option<Answer> {
    match path {
        "/board" | "/board?page=1" => Some(page(&format!("{}<a href=/board?page=1>1</a>", rows_of(ROWS - 2, 1)?))),
        _ => rests(path),
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_of_one_page_under_two_names_is_counted_once() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(short));
    let machine = Machine::new();
    let rules = rules(1).replace("revisit_minutes = 1", "revisit_minutes = 600");
    machine.crawl(&web, &rules, RunOptions::default()).await;
    let found = gleaner_store::coverage::of_site(&*machine.db, "sim").await.unwrap();
    assert_eq!((numbers(&web), found.nt.index_pages, found.nt.listed), (vec![1], 1, ROWS - 2));
}

/// The same list with pages counted from 0: page 1 is its second.
fn from_zero(path: &str) -> Option<Answer> {
    let Some(number) = path.strip_prefix("/board?page=") else { return rests(path) };
    list(OLD, number.parse::<u64>().ok()? + 1)
}

#[tokio::test(start_paused = true)]
async fn a_first_page_that_its_pager_calls_by_a_number_is_no_list_of_its_own() {
    for (site, has_two) in [(rests as fn(&str) -> Option<Answer>, false), (from_zero, true)] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(site));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(1_200))).await;
        assert_eq!(lost(&web), [0; 0]);
        let (front, numbered) = (web.asked("/board"), web.asked("/board?page=1"));
        assert!(front >= 5, "{front} looks");
        assert_eq!(numbered > 1, has_two, "{numbered} looks at page 1");
    }
}

#[tokio::test(start_paused = true)]
async fn a_second_name_of_a_front_that_an_earlier_run_kept_as_a_list_leaves_the_schedule() {
    use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
    use gleaner_store::crawldb::Reader as _;
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let scheduled = async |machine: &Machine| {
        let note = machine.db.note("sim", SCHEDULE_NOTE).await.unwrap().unwrap();
        StoredTimetable::from_bytes(&note).unwrap().lists.iter().any(|list| list.url.ends_with("page=1"))
    };
    // For that run it was another page, as for versions that treated all of them as lists.
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(from_zero));
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(1_200))).await;
    assert!(scheduled(&machine).await);
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(rests));
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(3_600))).await;
    assert!(!scheduled(&machine).await);
    let numbered = web.asked("/board?page=1");
    assert!(numbered <= 2 && web.asked("/board") > 20, "{numbered} looks at page 1");
}

/// Daily requests; a history of 630 takes several days with them.
const DAYS_BUDGET: usize = 250;
const HOUR_S: u64 = 3_600;
const DAY_S: u64 = 24 * HOUR_S;
/// Virtual time starts at 22:13.
const BEGINS_S: u64 = 80_000;

/// A new thread every two hours.
fn grows_slowly(path: &str, elapsed: Duration) -> Option<Answer> {
    board(path, OLD + elapsed.as_secs() / (2 * HOUR_S))
}

/// The requests of each day, except robots.txt: second of the day and path. The first day starts late.
fn by_day(web: &Web) -> Vec<Vec<(u64, String)>> {
    let mut days: Vec<Vec<(u64, String)>> = Vec::new();
    for (at, path) in web.log().into_iter().filter(|(_, path)| path != "/robots.txt") {
        let at = at / 1_000 + BEGINS_S;
        days.resize(days.len().max((at / DAY_S) as usize + 1), Vec::new());
        days[(at / DAY_S) as usize].push((at % DAY_S, path));
    }
    days
}

#[tokio::test(start_paused = true)]
async fn history_leaves_looks_their_part_of_the_days_budget_and_takes_all_the_rest() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows_slowly));
    let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 60");
    let rules = format!("{rules}\nrequests_per_day = {DAYS_BUDGET}");
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let mut told = Vec::new();
    // Two midnights and an hour.
    let lasts_s = 2 * DAY_S - BEGINS_S + HOUR_S;
    let crawl = machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(lasts_s)));
    let looks_on = async {
        for _ in 0..lasts_s / HOUR_S {
            tokio::time::sleep(Duration::from_secs(HOUR_S)).await;
            told.extend(machine.stands().waiting.map(|(_, why)| why));
        }
    };
    tokio::join!(crawl, looks_on);
    assert!(told.iter().any(|why| why.contains("requests_per_day is reserved for rechecks")), "{told:?}");
    assert!(told.iter().any(|why| why.contains("history gets what they leave; rechecks wait until 20")), "{told:?}");
    let days = by_day(&web);
    assert_eq!(days[..2].iter().map(Vec::len).collect::<Vec<_>>(), [DAYS_BUDGET; 2], "history takes all that is left");
    let looks = days[1].iter().filter(|(_, path)| path == "/board").map(|(at, _)| at / HOUR_S);
    let hours: BTreeSet<u64> = looks.collect();
    assert!(hours.into_iter().eq(0..24), "each hour of the whole day has its look, the last ones too");
    let firsts = web.firsts();
    let late = |number: &u64| {
        let came_s = (number - OLD) * 2 * HOUR_S;
        let fetched = firsts.get(&format!("/dl/{number}"));
        fetched.is_none_or(|at| at / 1_000 > came_s + 2 * HOUR_S)
    };
    let late: Vec<u64> = (OLD + 1..=OLD + (lasts_s - 2 * HOUR_S) / (2 * HOUR_S)).filter(late).collect();
    assert_eq!(late, [0; 0], "of what is new all comes within two intervals");
}

#[tokio::test(start_paused = true)]
async fn history_leaves_half_of_the_first_day_to_a_site_of_which_nothing_is_measured() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows_slowly));
    let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 60");
    let rules = format!("{rules}\nrequests_per_day = {DAYS_BUDGET}");
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(600))).await;
    let asked = by_day(&web)[0].len();
    assert!((DAYS_BUDGET / 2 - 5..DAYS_BUDGET * 6 / 10).contains(&asked), "{asked} of {DAYS_BUDGET} in ten minutes");
}

#[tokio::test(start_paused = true)]
async fn a_day_on_which_nobody_wants_a_look_is_historys_whatever_its_hours() {
    for quiet in cases(1, ["['12:00-22:00', '23:00-24:00']", "[]"]) {
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows_slowly));
        let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 43200");
        let rules = format!("{rules}\nrequests_per_day = {DAYS_BUDGET}\nquiet_hours = {quiet}");
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(2 * DAY_S - BEGINS_S))).await;
        let days = by_day(&web);
        assert_eq!(days[..2].iter().map(Vec::len).collect::<Vec<_>>(), [DAYS_BUDGET; 2], "{quiet}");
    }
}
