//! Clocks that are set while the crawl runs, or between two runs: nothing waits for a time that never comes, and nothing
//! happens early.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_store::crawldb::update::UpdateRow;
use gleaner_store::crawldb::{CrawlDb as _, UrlKey};

use super::increment::in_memory;
use super::lists::{OLD, board, rules};
use super::web::{FAST, Machine, Web, page, throttled};

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

const HOUR: Duration = Duration::from_secs(3_600);
const HOUR_MS: i64 = 3_600_000;
const YEAR_MS: i64 = 365 * 24 * HOUR_MS;

/// When a path was requested, in milliseconds since the start.
fn asked_at(web: &Web, path: &str) -> Vec<u64> {
    web.log().iter().filter(|(_, asked)| asked == path).map(|(at, _)| *at).collect()
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_is_over_does_not_come_back_because_the_clock_was_set_back() {
    let links: String = (0..5).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[throttled("120"), page(&links)])
            .at("/detail/2", &[page("<a href=http://other.example/detail/9>y</a>")]),
    );
    let machine = Machine::new();
    machine.set_clock(Duration::from_millis(123_500), -2 * HOUR_MS);
    // The link to the other host makes the loop reload all host rows after the pause.
    let rules = "hosts = ['sim.example', 'other.example']\n[rate]\nrequests_per_second = 1";
    machine.crawl(&web, rules, RunOptions::default()).await;
    let log = web.log();
    // The recheck of the start page, scheduled by the old clock, happens at once.
    assert!(log.len() == 11 && log.last().unwrap().0 < 200_000, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_asked_for_each_day_whatever_the_clock_says() {
    for set_by in [-30 * 24 * HOUR_MS, 30 * 24 * HOUR_MS] {
        let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("")]));
        let machine = Machine::new();
        machine.set_clock(Duration::from_secs(60), set_by);
        machine.crawl_until(&web, FAST, SERVICE, Some(30 * HOUR)).await;
        let asked = asked_at(&web, "/robots.txt");
        let day = 24 * HOUR_MS as u64;
        assert!(asked.len() == 2 && (day..day + 3 * HOUR_MS as u64).contains(&asked[1]), "set by {set_by}: {asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn the_time_of_a_run_is_no_matter_of_the_clock() {
    for set_by in [-30 * 24 * HOUR_MS, 30 * 24 * HOUR_MS] {
        let links: String = (0..200).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
        let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links)]));
        let machine = Machine::new();
        machine.set_clock(Duration::from_secs(60), set_by);
        let options = RunOptions { time_max: Some(Duration::from_secs(300)), ..RunOptions::default() };
        let (ended, _) = machine.crawl(&web, "[rate]\nrequests_per_second = 0.5", options).await;
        assert!(matches!(&ended, Ended::Budget(why) if why.contains("--max-time")), "set by {set_by}: {ended:?}");
        let took = machine.start.elapsed();
        assert!((300..320).contains(&took.as_secs()), "set by {set_by}: {took:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_round_of_the_service_lasts_as_long_as_the_rules_say_whatever_the_clock_says() {
    for set_by in [-30 * 24 * HOUR_MS, 30 * 24 * HOUR_MS] {
        let links: String = (0..40).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
        let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links)]));
        let machine = Machine::new();
        machine.set_clock(Duration::from_secs(60), set_by);
        let rules = "revisit_minutes = 10\npages_max = 5\n[rate]\nrequests_per_second = 1";
        machine.crawl_until(&web, rules, SERVICE, Some(Duration::from_secs(1_500))).await;
        let pages = |from: u64| {
            let log = web.log();
            log.iter().filter(|(at, path)| path != "/robots.txt" && (from..from + 600_000).contains(at)).count()
        };
        assert_eq!([pages(0), pages(600_000), pages(1_200_000)], [5, 5, 5], "set by {set_by}: {:?}", web.log());
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_a_day_behind_at_each_start_begins_no_days_budget_anew() {
    let links: String = (0..900).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links)]));
    let machine = Machine::new();
    let rules = format!("{FAST}\nrequests_per_day = 60");
    for set_by in [0, 0, -24, 0, -24, 0, -24] {
        machine.set_clock(Duration::ZERO, set_by * HOUR_MS);
        machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(120))).await;
    }
    let asked = web.log().iter().filter(|(_, path)| path != "/robots.txt").count();
    assert_eq!(asked, 120, "each of the two days has its budget once");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_right_by_years_ends_no_looks_at_lists() {
    for set_by in [40 * 24 * HOUR_MS, 5 * YEAR_MS] {
        let rows: String = (0..20).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
        let web = Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/list/1>x</a>")]);
        let web = Arc::new(web.at("/list/1", &[page(&rows)]));
        let machine = Machine::new();
        machine.set_clock(Duration::from_secs(1_500), set_by);
        let rules = format!("revisit_minutes = 2\n{FAST}");
        machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(3_000))).await;
        let looks = asked_at(&web, "/list/1").iter().filter(|at| **at > 1_500_000).count();
        assert!(looks >= 8, "set by {set_by}: {looks} looks in 25 minutes");
    }
}

#[tokio::test(start_paused = true)]
async fn one_look_in_the_future_does_not_end_the_looks() {
    let rules = format!("revisit_minutes = 10\n{FAST}");
    // The clock is corrected between two runs.
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("")]));
    let machine = Machine::new();
    machine.set_clock(Duration::ZERO, 10 * YEAR_MS);
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(60))).await;
    machine.set_clock(Duration::ZERO, 0);
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(1_500))).await;
    assert_eq!(asked_at(&web, "/").len(), 4, "{:?}", web.log());
    // The clock is corrected while the service runs.
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("")]));
    let machine = Machine::new();
    machine.set_clock(Duration::from_secs(60), -10 * YEAR_MS);
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(1_500))).await;
    // It rechecks at once, and at its interval from then on.
    assert_eq!(asked_at(&web, "/").len(), 4, "{:?}", web.log());
}

#[tokio::test(start_paused = true)]
async fn what_was_found_by_a_clock_that_was_ahead_makes_no_look_go_over_a_whole_list() {
    // One new thread a minute.
    let newest = |elapsed: Duration| OLD + elapsed.as_secs() / 60;
    let site = |path: &str, elapsed: Duration| board(path, OLD + elapsed.as_secs() / 60);
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(site));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    machine.set_clock(Duration::ZERO, 30 * 24 * HOUR_MS);
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(300))).await;
    let before = web.log().len();
    machine.set_clock(Duration::ZERO, 0);
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(600))).await;
    let log = web.log().split_off(before);
    let page = |path: &str| path.strip_prefix("/board?page=").and_then(|number| number.parse::<u64>().ok());
    let is_deep = |path: &str| page(path).is_some_and(|number| (5..=29).contains(&number));
    let (looks, deep) = (web.asked("/board"), log.iter().filter(|(_, path)| is_deep(path)).count());
    assert!(looks >= 8, "{looks} looks");
    assert_eq!(deep, 0, "pages far behind the front");
    let last = newest(Duration::from_secs(750));
    let missing: Vec<u64> = (OLD..last).filter(|number| web.asked(&format!("/dl/{number}")) == 0).collect();
    assert_eq!(missing, [0; 0], "and all that is new comes");
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_back_by_less_than_an_hour_ends_no_looks_and_has_no_page_read_over_and_over() {
    let rules = rules(2).replace("revisit_minutes = 1", "revisit_minutes = 2");
    for set_by in [-HOUR_MS / 2, -HOUR_MS + 5_000] {
        // A new thread every 40 seconds: there is always one that was just found.
        let site = |path: &str, elapsed: Duration| board(path, OLD + elapsed.as_secs() / 40);
        let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(site));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        machine.set_clock(Duration::from_secs(2_400), set_by);
        machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(4_200))).await;
        let looks = |from: u64, until: u64| {
            asked_at(&web, "/board").iter().filter(|at| (from..until).contains(&(**at / 1_000))).count()
        };
        let (before, after) = (looks(1_200, 2_400), looks(2_500, 3_700));
        assert!(before >= 5 && after >= before / 2, "set by {set_by}: {before} looks in 20 minutes, then {after}");
    }
}

/// A thread that is read once more before a clock is set back is read once more after it, and then no more.
#[tokio::test(start_paused = true)]
async fn a_page_that_was_to_be_read_again_by_a_clock_that_was_ahead_is_read_once() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(|path, _| board(path, OLD)));
    let mut machine = Machine::new();
    let update = in_memory();
    machine.update = Some(Arc::clone(&update));
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(300))).await;
    let host = machine.db.host_id("sim", "http://sim.example").await.unwrap();
    let key = UrlKey { host, path: "/detail/7".into() };
    let found = machine.clock().now().plus(HOUR / 2);
    let row = UpdateRow { key, found, level: 1, depth: 2, rank: 33, via: None, is_target: true, again: true };
    update.add(vec![row]).await.unwrap();
    let before = web.asked("/detail/7");
    machine.crawl_until(&web, &rules(2), SERVICE, Some(Duration::from_secs(40))).await;
    assert_eq!((web.asked("/detail/7") - before, update.waiting(host)), (1, 0));
}
