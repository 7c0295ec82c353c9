//! Lists that move while they are read: no row is lost at the ends of their pages.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner::crawl::RunOptions;
use gleaner::crawl::progress::Ended;
use gleaner::fetch::ResponseHeaders;

use super::increment::in_memory;
use super::web::{Answer, Machine, Web, page};

/// Threads that were there before.
const OLD: u64 = 300;
/// Rows of a page.
const ROWS: u64 = 10;
/// A new thread comes this often.
const EVERY_S: u64 = 5;
/// Pages on each side that a page links to, beside the first and the last.
const WINDOW: u64 = 3;

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true };

fn rules(lanes: u32) -> String {
    format!(
        "revisit_minutes = 1\nlanes = {lanes}\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 10\nconnections = {lanes}"
    )
}

/// A list of so many rows, the newest first, with a pager as forums have it.
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

fn board(path: &str, newest: u64) -> Option<Answer> {
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

/// Old ones that were not fetched once.
fn lost(web: &Web) -> Vec<u64> {
    let log = web.log();
    let asked = |number: &u64| log.iter().filter(|(_, path)| *path == format!("/dl/{number}")).count();
    (1..=OLD).filter(|number| asked(number) != 1).collect()
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

fn numbers(web: &Web) -> Vec<u64> {
    web.log().iter().filter_map(|(_, path)| path.strip_prefix("/board?page=")?.parse().ok()).collect()
}

/// The page that fails for a while, so that those behind it are read before it.
const FAILS: u64 = 5;

/// A list at rest that names all links anew at each view, with what changes about its rows beside them.
fn tokens(path: &str, elapsed: Duration) -> Option<Answer> {
    tokens_of(OLD, path, elapsed)
}

fn tokens_of(newest: u64, path: &str, elapsed: Duration) -> Option<Answer> {
    let view = elapsed.as_millis();
    if path == format!("/board?page={FAILS}") && view < 5_000 {
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

/// The same list with pages that are counted from 0: page 1 is its second.
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

/// Requests of a day that a history of 630 does not get by with.
const DAYS_BUDGET: usize = 300;
const HOUR_S: u64 = 3_600;

/// A new thread every two hours.
fn grows_slowly(path: &str, elapsed: Duration) -> Option<Answer> {
    board(path, OLD + elapsed.as_secs() / (2 * HOUR_S))
}

#[tokio::test(start_paused = true)]
async fn history_leaves_looks_a_part_of_the_days_budget() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(grows_slowly));
    let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 60");
    let rules = format!("{rules}\nrequests_per_day = {DAYS_BUDGET}");
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let mut told = Vec::new();
    let crawl = machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(16 * HOUR_S)));
    let looks_on = async {
        for _ in 0..10 {
            tokio::time::sleep(Duration::from_secs(HOUR_S)).await;
            told.extend(machine.stands().waiting.map(|(_, why)| why));
        }
    };
    tokio::join!(crawl, looks_on);
    assert!(told.iter().any(|why| why.contains("requests_per_day is kept for looks")), "{told:?}");
    let log = web.log();
    let hour = |at: u64| at / 1_000 / HOUR_S;
    // It is 22:13 when it begins.
    let day = |at: u64| (at + 80_000_000) / 86_400_000;
    for of in 0..2 {
        let asked = log.iter().filter(|(at, path)| day(*at) == of && path != "/robots.txt").count();
        assert!(asked <= DAYS_BUDGET, "{asked} requests on day {of}");
        assert!(
            of == 1 || asked + 20 > DAYS_BUDGET,
            "{asked}: what is left of the first day is short, and so is what is kept of it"
        );
    }
    let looks: Vec<u64> = log.iter().filter(|(_, path)| path == "/board").map(|(at, _)| hour(*at)).collect();
    assert!((3..8).all(|of| looks.contains(&of)), "hours of looks: {looks:?}");
    let news = (OLD + 1..OLD + 4).filter(|number| web.asked(&format!("/dl/{number}")) == 1).count();
    assert!(news >= 2, "{news} of the first three new ones came");
}
