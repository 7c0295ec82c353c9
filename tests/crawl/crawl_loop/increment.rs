//! Two crews: new URLs are fetched during a long history, work shifts, and nothing is lost between the two files.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner::app::status;
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::{CrewsState, Ended};
use gleaner_net::fetch::ResponseHeaders;
use gleaner_store::crawldb::redb_store::OpenOptions;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{CrawlDb, Reader};
use redb::backends::InMemoryBackend;

use super::web::{Answer, FAST, Machine, Web, page, status as answer_status, throttled, torrent};

/// Torrents that existed before.
const OLD: u64 = 1_200;
/// The same on a small tracker.
const FEW: u64 = 500;
/// Rows of a list.
const ROWS: u64 = 50;
/// Interval of new torrents.
const EVERY: Duration = Duration::from_secs(60);

const REVISIT: Duration = Duration::from_secs(300);
const RULES: &str =
    "revisit_minutes = 5\nlanes = 2\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1\nconnections = 2";

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

pub fn torrent_of(name: &str) -> Answer {
    let text = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    Answer::Status(200, ResponseHeaders::default(), Bytes::from(text))
}

/// A tracker whose lists are newest first; each row has its own page.
fn tracker(path: &str, elapsed: Duration) -> Option<Answer> {
    tracker_of(OLD, path, elapsed)
}

fn small_tracker(path: &str, elapsed: Duration) -> Option<Answer> {
    tracker_of(FEW, path, elapsed)
}

fn tracker_of(old: u64, path: &str, elapsed: Duration) -> Option<Answer> {
    let newest = old + elapsed.as_secs() / EVERY.as_secs();
    let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
    let list = |number: u64| {
        let first = newest.checked_sub(ROWS * (number - 1))?;
        let rows = (first.saturating_sub(ROWS)..first).rev();
        let rows: String = rows.map(|row| format!("<li><a href=/detail/{}>{}</a>", row + 1, row + 1)).collect();
        Some(page(&format!("<a href=/list/1>1</a>{rows}<a href=/list/{}>next</a>", number + 1)))
    };
    if path == "/" {
        return list(1);
    }
    if let Some(number) = number("/list/") {
        return list(number).filter(|_| ROWS * (number - 1) < newest);
    }
    if let Some(number) = number("/detail/") {
        return (number <= newest).then(|| page(&format!("<h1>{number}</h1><a href=/dl/{number}>get</a>")));
    }
    let number = number("/dl/").filter(|number| *number <= newest)?;
    Some(torrent_of(&number.to_string()))
}

pub fn in_memory() -> Arc<UpdateDb> {
    let options = OpenOptions { cache_bytes: 1 << 20, sync: false };
    let factory = Box::new(|| Ok(Box::new(InMemoryBackend::new()) as _));
    Arc::new(UpdateDb::open_with(Path::new("update"), options, factory).unwrap())
}

fn with_two_crews() -> Machine {
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    machine
}

/// For each torrent published in the first `seconds` beside the old ones: the seconds until it was fetched.
fn delays(web: &Web, old: u64, seconds: u64) -> Vec<u64> {
    let firsts = web.firsts();
    let new = 1..=seconds / EVERY.as_secs();
    let delay = |number: u64| {
        let fetched = firsts.get(&format!("/dl/{}", old + number));
        fetched.map_or(u64::MAX, |at| at / 1_000 - number * EVERY.as_secs())
    };
    let mut delays: Vec<u64> = new.map(delay).collect();
    delays.sort_unstable();
    delays
}

/// The tracker as crawled by the service for two hours.
async fn two_hours(machine: &Machine) -> Arc<Web> {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tracker));
    let (ended, _) = machine.crawl_until(&web, RULES, SERVICE, Some(Duration::from_secs(7_200))).await;
    assert_eq!(ended, Ended::Stopped);
    web
}

#[tokio::test(start_paused = true)]
async fn what_history_heard_of_first_is_new_all_the_same_when_a_look_shows_it() {
    // Four come right after the first recheck. Pages of torrents link to them at once, too deep for the increment, and a long
    // archive precedes them in history.
    fn site(path: &str, elapsed: Duration) -> Option<Answer> {
        let newest = if elapsed > Duration::from_millis(1_500) { 54 } else { 50 };
        let rows =
            |first: u64| (first..=newest).rev().map(|number| format!("<li><a href=/detail/{number}>{number}</a>"));
        match path {
            "/" => {
                let rows: String = rows(newest - 49).collect();
                Some(page(&format!("{rows}<a href=/board>archive</a>")))
            }
            "/board" => {
                Some(page(&(1_000..2_200).map(|file| format!("<a href=/dl/{file}>file</a>")).collect::<String>()))
            }
            _ if path.starts_with("/detail/") => Some(page(&rows(51).collect::<String>())),
            _ => tracker(path, elapsed),
        }
    }
    let machine = with_two_crews();
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(site));
    let rules = format!("increment_depth = 1\n{RULES}");
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(900))).await;
    let log = web.log();
    let asked =
        |number: u64| log.iter().find(|(_, path)| *path == format!("/detail/{number}")).map(|(at, _)| at / 1_000);
    let new: Vec<Option<u64>> = (51..=54).map(asked).collect();
    assert!(asked(50).is_some_and(|at| at < 60), "the page that names them was read");
    assert!(new.iter().all(|at| at.is_some_and(|at| (200..600).contains(&at))), "{new:?}");
}

#[tokio::test(start_paused = true)]
async fn what_the_increment_fetches_is_known_since_the_look_that_showed_it() {
    let machine = with_two_crews();
    let began = machine.clock().now();
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tracker));
    machine.crawl_until(&web, RULES, SERVICE, Some(Duration::from_secs(3_600))).await;
    let log = web.log();
    let host = machine.db.host_id("sim", "http://sim.example").await.unwrap();
    let (mut known, mut waited) = (0, 0);
    for number in OLD + 1..=OLD + 40 {
        let key = gleaner_store::crawldb::UrlKey { host, path: format!("/detail/{number}").into() };
        let Some(record) = machine.db.url_record(&key).await.unwrap() else { continue };
        let found_ms = record.first_seen.0 - began.0;
        let is_look = |(at, path): &(u64, String)| {
            (path == "/" || path.starts_with("/list/")) && found_ms.saturating_sub(*at) < 1_000 && *at <= found_ms
        };
        assert!(log.iter().any(is_look), "{number}: found at {found_ms} ms");
        known += 1;
        waited += u32::from(record.visited.since(record.first_seen) >= Duration::from_secs(1));
    }
    assert!(known > 30 && waited > 30, "{known} were found, {waited} of them before their visit");
}

fn asked_twice(web: &Web) -> Vec<String> {
    let mut targets: Vec<String> = web.log().into_iter().map(|(_, path)| path).collect();
    targets.retain(|path| path.starts_with("/detail/") || path.starts_with("/dl/"));
    targets.sort();
    targets.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0].clone()).collect()
}

#[tokio::test(start_paused = true)]
async fn what_is_new_is_fetched_within_two_intervals_while_a_long_history_goes_on_and_completes() {
    let machine = with_two_crews();
    let web = two_hours(&machine).await;
    let delays = self::delays(&web, OLD, 100 * 60);
    // While history is long, a round of two lanes takes one and a half intervals of the rule file.
    let interval = (REVISIT * 3 / 2).as_secs();
    assert!(delays.iter().all(|delay| *delay <= 2 * interval), "{delays:?}");
    let counts = web.counts();
    let old = (1..=OLD).filter(|number| counts.get(&format!("/dl/{number}")) != Some(&1)).count();
    assert_eq!(old, 0, "history completes, and fetches nothing twice");
    assert_eq!(asked_twice(&web), [""; 0]);

    // Those that came while the old ones waited.
    let early = self::delays(&web, OLD, 30 * 60);
    let without = Machine::new();
    let web = two_hours(&without).await;
    let early_without = self::delays(&web, OLD, 30 * 60);
    let median = |delays: &[u64]| delays[delays.len() / 2];
    let worst = |delays: &[u64]| delays[delays.len() - 1];
    assert!(median(&early_without) > 5 * median(&early), "{early_without:?} {early:?}");
    // Less than the four intervals of the old worst case with one crew: even in one queue, pages of torrents come before the lists of
    // older ones, so that no new one waits for all of history. The remaining delay is that of rechecks and their results in the queue.
    assert!(2 * worst(&early_without) > 3 * worst(&early), "{early_without:?} {early:?}");
}

#[tokio::test(start_paused = true)]
async fn lanes_move_as_history_is_fetched_and_status_says_why() {
    let machine = with_two_crews();
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(tracker));
    let stands = async |until: u64| -> CrewsState {
        machine
            .crawl_until(&web, &RULES.replace("lanes = 2", "lanes = 4"), SERVICE, Some(Duration::from_secs(until)))
            .await;
        machine.stands().crews.unwrap()
    };
    // Parts of history that no page has linked to yet are unknown: pages of torrents come before lists, so the known
    // remainder is only a part.
    let early = stands(30).await;
    assert!(early.split.increment <= 2 && early.split.lanes == 4, "{}", early.why);
    assert!(early.why.starts_with("increment ") && early.why.ends_with(" pages of history left"), "{}", early.why);
    let later = stands(1_500).await;
    assert!((2..=3).contains(&later.split.increment), "{}", later.why);
    let done = stands(3_600).await;
    assert_eq!(done.why, "increment 4 of 4 lanes: nothing of history left");
    assert_eq!(done.interval_s, REVISIT.as_secs());
    assert!(later.interval_s >= done.interval_s && done.rounds > 5, "{early:?} {later:?} {done:?}");
    // The same is reported for a site that is no longer being crawled.
    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    assert_eq!(report.sites[0].crews.as_ref().unwrap().why, done.why);
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_behind_its_first_page_while_most_of_it_is_new() {
    // Two hundred rows appear at once, fifty per page, and later one every ten minutes.
    fn burst(path: &str, elapsed: Duration) -> Option<Answer> {
        let new = match elapsed.as_secs() {
            ..=1_000 => 0,
            later => 200 + later.saturating_sub(1_600) / 600,
        };
        tracker(path, Duration::from_secs(new * EVERY.as_secs()))
    }
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(burst));
    let machine = with_two_crews();
    let rules = RULES.replace("requests_per_second = 1\n", "requests_per_second = 50\n");
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(5_000))).await;
    let missed: Vec<u64> = (1..=204).filter(|new| web.asked(&format!("/dl/{}", OLD + new)) != 1).collect();
    assert_eq!(missed, [0; 0]);
    assert!([2, 5].into_iter().all(|number| web.asked(&format!("/list/{number}")) > 1));
    let log = web.log();
    let asked = |seconds: std::ops::Range<u64>, is: &dyn Fn(&str) -> bool| {
        log.iter().filter(|(at, path)| seconds.contains(&(at / 1_000)) && is(path)).count()
    };
    let is_front = |path: &str| path == "/" || path == "/list/1";
    let is_from = |first: u64| {
        move |path: &str| path.strip_prefix("/list/").and_then(|n| n.parse().ok()).is_some_and(|n: u64| n >= first)
    };
    // After the burst, each recheck of a list reads one page in rotation, until news have shown the order of that list.
    let (looks, far) = (asked(1_001..1_600, &is_front), asked(1_001..1_600, &is_from(6)));
    assert!(far <= looks, "{far} pages behind the burst at {looks} looks");
    // After that, the first page without news is the last one: the one after the front page, at a recheck that finds any.
    let (looks, second) = (asked(3_000..5_000, &is_front), asked(3_000..5_000, &|path| path == "/list/2"));
    assert_eq!(asked(3_000..5_000, &is_from(3)), 0);
    assert!((1..=looks).contains(&second), "{second} pages at {looks} looks");
}

#[tokio::test(start_paused = true)]
async fn what_lies_deeper_than_the_increment_goes_arrives_through_history() {
    for depth in [0, 1, 2, 4] {
        let machine = with_two_crews();
        let rules = format!("revisit_minutes = 10\nincrement_depth = {depth}\n{FAST}");
        let web = Arc::new(
            Web::new(Duration::from_millis(10))
                .at("/", &[page(""), page("<a href=/detail/1>new</a>")])
                .at("/detail/1", &[page("<a href=/detail/2>more</a>")])
                .at("/detail/2", &[page("<a href=/dl/1>get</a>")])
                .at("/dl/1", &[torrent()]),
        );
        machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(1_500))).await;
        assert_eq!(web.asked("/dl/1"), 1, "depth {depth}");
        assert_eq!(machine.stands().crews.is_some(), depth > 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_site_without_news_is_asked_for_its_looks_and_nothing_else() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("")]));
    let machine = with_two_crews();
    let rules = format!("revisit_minutes = 60\n{FAST}");
    let (ended, _) = machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(86_400 - 60))).await;
    assert_eq!(ended, Ended::Stopped);
    let looks = web.asked("/");
    assert!((20..=26).contains(&looks), "{looks} looks in a day at one an hour");
    assert_eq!(web.asked("/robots.txt"), 1, "and that is kept for a day");
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_is_to_end_takes_over_what_the_service_had_found() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page(""), page("<a href=/detail/1>new</a>")])
            .at("/detail/1", &[throttled("3000"), page("<a href=/dl/1>get</a>")])
            .at("/detail/2", &[page("")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = with_two_crews();
    let rules = format!("revisit_minutes = 10\n{FAST}");
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(1_300))).await;
    // Found at that recheck; the host asked for a pause before it could be fetched.
    let host = machine.db.host_id("sim", "http://sim.example").await.unwrap();
    let update = machine.update.as_ref().unwrap();
    let key = gleaner_store::crawldb::UrlKey { host, path: "/detail/2".into() };
    let (found, via) = (machine.clock().now(), None);
    let row = gleaner_store::crawldb::update::UpdateRow {
        key,
        found,
        level: 1,
        depth: 1,
        rank: 32,
        via,
        is_target: true,
        again: false,
    };
    update.add(vec![row]).await.unwrap();
    let (ended, _) = machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(["/detail/1", "/detail/2", "/dl/1"].map(|path| web.asked(path)), [2, 1, 1]);
    assert_eq!(update.waiting(host), 0);
    assert!(machine.stands().crews.is_none(), "one crew");
}

#[tokio::test(start_paused = true)]
async fn a_second_try_of_the_increment_does_not_go_behind_history() {
    // The first request for each new page gets an error.
    let mut web = Web::new(Duration::from_millis(10)).meanwhile(tracker);
    for number in OLD + 1..OLD + 60 {
        let good = page(&format!("<a href=/dl/{number}>get</a>"));
        web = web.at(&format!("/detail/{number}"), &[answer_status(500), good]);
    }
    let web = Arc::new(web);
    let machine = with_two_crews();
    machine.crawl_until(&web, RULES, SERVICE, Some(Duration::from_secs(3_600))).await;
    let delays = delays(&web, OLD, 2_400);
    assert!(delays.iter().all(|delay| *delay <= 2 * (REVISIT * 3 / 2).as_secs()), "{delays:?}");
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_stopped_again_and_again_loses_nothing_and_fetches_nothing_twice() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(small_tracker));
    let machine = with_two_crews();
    // In the first half of them history is under way.
    for life in 0..30_u64 {
        let lasts = Duration::from_secs(17 + life * 37 % 101);
        machine.crawl_until(&web, RULES, SERVICE, Some(lasts)).await;
    }
    machine.crawl_until(&web, RULES, SERVICE, Some(Duration::from_secs(1_800))).await;
    let published = machine.start.elapsed().as_secs().saturating_sub(1_200);
    let delays = delays(&web, FEW, published);
    assert!(delays.iter().all(|delay| *delay < u64::MAX), "{delays:?}");
    assert_eq!(asked_twice(&web), [""; 0]);
    let stored = machine.db.site_counts("sim").await.unwrap().torrents;
    assert!(stored >= FEW + published / EVERY.as_secs(), "{stored}");
}

#[tokio::test(start_paused = true)]
async fn a_finished_site_has_no_history_left_after_a_restart_while_its_lists_sleep() {
    let links: String = (0..30).map(|list| format!("<a href=/list{list}/>list</a>")).collect();
    let lists = |path: &str| {
        let list = path.strip_prefix("/list")?.strip_suffix('/')?.parse::<u64>().ok()?;
        Some(page(&format!("<h1>List {list}</h1><a href=/detail/{list}>one</a>")))
    };
    let web = Web::new(Duration::from_millis(10)).at("/", &[page(&links)]).otherwise(lists);
    let web = Arc::new((0..30).fold(web, |web, list| web.at(&format!("/detail/{list}"), &[page("<h1>one</h1>")])));
    let machine = with_two_crews();
    let rules = format!(
        "revisit_minutes = 10\n{FAST}\n[boards]\nlooks_per_day = 10\n[classes]\nindex = ['^/$', '^/list\\d+/$']\ndetail = ['^/detail/']"
    );
    let rules = move || gleaner_rules::from_text("sim", &format!("start = ['http://sim.example/']\n{rules}")).unwrap();
    let run = async |hours: u64| {
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let site = gleaner_crawl::site::Site::new(rules(), web.transport(machine.start), machine.clock(), db);
        machine.crawl_site(site, SERVICE, Some(Duration::from_secs(hours * 3_600)), None).await.0.unwrap();
        machine.stands().crews.unwrap()
    };
    let before = run(24).await;
    assert!(before.history_left == 0 && web.asked("/detail/29") > 0, "{}", before.why);
    // Some rounds without rechecks of most lists.
    let after = run(2).await;
    assert_eq!((after.history_left, after.split.cause), (0, before.split.cause), "{}", after.why);
}
