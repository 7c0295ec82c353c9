//! Revisits: front pages of lists at their interval, whichever crew visited them last, and lists and empty pages once the
//! rules accept other links.

use std::cell::Cell;
use std::sync::Arc;
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::RunOptions;
use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;
use gleaner_store::crawldb::Reader as _;

use super::boards::{START, board, thread};
use super::increment::in_memory;
use super::web::{Answer, FAST, Machine, Web, page, torrent};

#[tokio::test(start_paused = true)]
async fn the_next_crawl_looks_at_the_fronts_of_all_lists_again() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/list/1>x</a>")])
            .at("/list/1", &[page("<a href=/detail/1>old</a>"), page("<a href=/dl/1>new</a>")])
            .at("/detail/1", &[page("")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let rules = format!("revisit_minutes = 10\n{FAST}");
    let (ended, _) = machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!((ended, web.asked("/list/1")), (Ended::Exhausted, 1));
    machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(web.asked("/list/1"), 1, "not before its interval is over");
    tokio::time::sleep(Duration::from_secs(601)).await;
    machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!((web.asked("/list/1"), web.asked("/detail/1"), web.asked("/dl/1")), (2, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_does_not_wait_for_looks_however_many_are_planned_for_the_next_minutes() {
    // Each is a first page.
    let lists: String = (1..60).map(|zeros| format!("<a href=/list/{:0zeros$}>x</a>", 1)).collect();
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page(&lists)])
            .otherwise(|path| path.starts_with("/list/").then(|| page(""))),
    );
    let machine = Machine::new();
    // Each is due again a second after the previous one, five minutes later.
    let rules = "revisit_minutes = 5\n[rate]\nrequests_per_second = 1";
    let (ended, _) = machine.crawl_until(&web, rules, RunOptions::default(), Some(Duration::from_secs(3_600))).await;
    assert_eq!(ended, Ended::Exhausted);
    assert!(web.log().len() < 70, "{} requests", web.log().len());
}

#[tokio::test(start_paused = true)]
async fn wider_rules_read_lists_and_pages_without_a_torrent_again_and_no_others() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href='/list/2'>2</a>")])
            .at("/list/2", &[page("<a href=/detail/1>x</a><a href=/detail/2>y</a><a href=/forgotten/1>z</a>")])
            .at("/detail/1", &[page("<a href=/dl/1>x</a>")])
            .at("/detail/2", &[page("<a href=/attachment/2>y</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let asked = |path: &str| web.asked(path);
    machine.crawl(&web, FAST, RunOptions::default()).await;
    machine.crawl(&web, &format!("# nothing new\n\n{FAST}"), RunOptions::default()).await;
    let first = ["/list/2", "/detail/1", "/detail/2", "/dl/1"].map(asked);
    assert_eq!(first, [1, 1, 1, 1], "a comment is no other rule");
    let report = gleaner::app::status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    let told: Vec<(&str, u64, &str)> =
        report.sites[0].unclassed.iter().map(|of| (&*of.shape, of.links, &*of.example)).collect();
    assert_eq!(told, [("/attachment/{n}", 1, "/attachment/2"), ("/forgotten/{n}", 1, "/forgotten/1")]);

    let wider = format!("deny = ['^/never']\n{FAST}");
    machine.crawl(&web, &wider, RunOptions::default()).await;
    let again = ["/list/2", "/detail/1", "/detail/2", "/dl/1"].map(asked);
    assert_eq!(again, [2, 1, 2, 1], "a page whose torrent is had need not be read again");
}

/// A list of twenty pages without torrents.
fn one_list() -> Arc<Web> {
    let list: String = (0..20).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web =
        Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/list/1>x</a>")]).at("/list/1", &[page(&list)]);
    Arc::new(web.otherwise(|path| path.starts_with("/detail/").then(|| page(""))))
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_killed_early_looks_at_its_lists_no_later_than_one_that_was_not() {
    // Killed before its first notes, and after them; the minutes until the next one rechecks a list.
    for (killed_after, soon) in [(5, 1), (60, 70)] {
        let web = one_list();
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        let rules = format!("revisit_minutes = 60\n{FAST}");
        let service = || RunOptions { keep_looking: true, ..RunOptions::default() };
        let killed = Some(Duration::from_secs(killed_after));
        let later = Some(Duration::from_secs(killed_after + 20));
        let (ended, _) = machine.crawl_while_committing(&web, &rules, service(), later, killed).await;
        assert!(ended.is_err(), "{ended:?}");
        let looks = web.asked("/list/1");
        machine.crawl_until(&web, &rules, service(), Some(Duration::from_secs(60 * soon))).await;
        assert!(web.asked("/list/1") > looks, "killed after {killed_after} s, not looked at within {soon} minutes");
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_was_found_since_the_last_note_is_looked_at_at_once_after_a_kill() {
    // The start page is rechecked at 7 and at 14 minutes, notes are written at 10.2 and at 15.2.
    const FOUND_AFTER_S: u64 = 800;
    fn site(path: &str, elapsed: Duration) -> Option<Answer> {
        let row = |n: u64| format!("<a href=/detail/{n}>x</a>");
        match path {
            "/" if elapsed.as_secs() < FOUND_AFTER_S => Some(page("<a href=/list/1>x</a>")),
            "/" => Some(page("<a href=/list/1>x</a><a href=/list/2>y</a>")),
            "/list/1" => Some(page(&(0..20).map(row).collect::<String>())),
            "/list/2" => Some(page(&(30..50).map(row).collect::<String>())),
            _ => path.starts_with("/detail/").then(|| page("")),
        }
    }
    let web = Arc::new(Web::new(Duration::from_millis(10)).meanwhile(site));
    let mut machine = Machine::new();
    machine.update = Some(in_memory());
    let crawl = async |seconds: u64, killed: Option<Duration>| {
        let text = "start = ['http://sim.example/']\nrevisit_minutes = 7\n[rate]\nrequests_per_second = 1000000\n\
                    [classes]\npage = ['^/$']\nindex = ['^/list/']\ndetail = ['^/detail/']\n";
        let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
        let service = RunOptions { keep_looking: true, ..RunOptions::default() };
        machine.crawl_site(site, service, Some(Duration::from_secs(seconds)), killed).await.0
    };
    assert!(crawl(900, Some(Duration::from_secs(880))).await.is_err());
    assert_eq!(web.asked("/list/2"), 1);
    let scheduled =
        StoredTimetable::from_bytes(&machine.db.note("sim", SCHEDULE_NOTE).await.unwrap().unwrap()).unwrap();
    assert!(scheduled.lists.iter().all(|list| !list.url.ends_with("/list/2")), "no note knows it");
    crawl(60, None).await.unwrap();
    assert_eq!(web.asked("/list/2"), 2);
    crawl(60, None).await.unwrap();
    assert_eq!(web.asked("/list/2"), 2, "from then on the schedule knows it");
}

#[tokio::test(start_paused = true)]
async fn a_crawl_under_way_tells_what_it_knows_and_not_what_it_wrote_down_minutes_ago() {
    let web = one_list();
    let machine = Machine::new();
    let rules = format!("revisit_minutes = 1\n{FAST}");
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    let looked = |note: Option<Vec<u8>>| {
        let state = StoredTimetable::from_bytes(&note?)?;
        state.lists.iter().map(|list| list.looked).max()
    };
    let ask = async {
        let (mut live, mut kept) = (Vec::new(), Vec::new());
        assert!(machine.note_now(SCHEDULE_NOTE).is_none(), "nothing is crawled yet");
        for _ in 0..60 {
            tokio::time::sleep(Duration::from_secs(60)).await;
            let now = machine.clock().now().0 / 1_000;
            live.push(now - looked(machine.note_now(SCHEDULE_NOTE)).unwrap());
            kept.push(now - looked(machine.db.note("sim", SCHEDULE_NOTE).await.unwrap()).unwrap());
            for name in ["gone", "boards", "delay"] {
                assert!(machine.note_now(name).is_some_and(|note| note.starts_with(b"{")), "{name}");
            }
        }
        (live.into_iter().max(), kept.into_iter().max())
    };
    let crawl = machine.crawl_until(&web, &rules, service, Some(Duration::from_secs(3_700)));
    let (_, (live, kept)) = tokio::join!(crawl, ask);
    assert!(live < Some(150) && kept > Some(250), "{live:?} s old and {kept:?} s");
    assert!(machine.note_now(SCHEDULE_NOTE).is_none(), "no crawl is under way");
}

/// Seconds of delay of a response; a page of a thread shows its state at the request.
const SLOW_S: u64 = 20;
/// Seconds between the two replies of a thread, each with a torrent, and when the first one appears.
const REPLY_AFTER_S: u64 = 12;
thread_local! {
    static FIRST_REPLY_S: Cell<u64> = const { Cell::new(0) };
}

/// Two lists show a thread, the second one while the thread is fetched for what the first one showed.
fn replies(path: &str, elapsed: Duration) -> Option<Answer> {
    let first = FIRST_REPLY_S.get();
    let replies_by = |seconds: u64| u64::from(seconds >= first) + u64::from(seconds >= first + REPLY_AFTER_S);
    let now = elapsed.as_secs();
    match path {
        "/" => Some(page("<a href=/board/1>one</a> <a href=/board/2>two</a>")),
        "/board/1" | "/board/2" => {
            let mut threads: Vec<_> = (1..8).map(|n| thread(n, START - n * 3_600)).collect();
            let replies = replies_by(now);
            if replies > 0 {
                threads[0].replies += replies;
                threads[0].last = START + first + (replies - 1) * REPLY_AFTER_S;
            }
            Some(board(&threads, None, true))
        }
        "/viewtopic?t=1" => {
            let links = (1..=replies_by(now - SLOW_S)).map(|n| format!("<p>more <a href=/dl/{n}>file {n}</a></p>"));
            Some(page(&format!("<h1>Talk</h1>{}", links.collect::<String>())))
        }
        _ if path.starts_with("/viewtopic") => Some(page("<h1>Talk</h1>")),
        _ => path.starts_with("/dl/").then(torrent),
    }
}

/// Runs the service on that site for this long.
async fn two_boards(machine: &Machine, web: &Arc<Web>, seconds: u64) {
    let text = "start = ['http://sim.example/']\nrevisit_minutes = 1\nlanes = 8\nlane_key = 'xxh3'\n\
                [rate]\nrequests_per_second = 0.2\nconnections = 8\nrest_factor = 0\n\
                [classes]\npage = ['^/$']\nboard = ['^/board/']\nthread = ['^/viewtopic']\ndownload = ['^/dl/']\n";
    let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_site(site, service, Some(Duration::from_secs(seconds)), None).await.0.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_seen_while_its_thread_is_under_way_outlives_a_stop() {
    // Whenever the stop comes, and however the process continues.
    let mut stopped_between = 0;
    for stop_after in (608..700).step_by(3) {
        FIRST_REPLY_S.set(612);
        let web = Arc::new(Web::new(Duration::from_secs(SLOW_S)).meanwhile(replies));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        two_boards(&machine, &web, stop_after).await;
        stopped_between += usize::from(web.asked("/dl/2") == 0);
        two_boards(&machine, &web, 400).await;
        let asked: Vec<usize> = (1..=2).map(|n| web.asked(&format!("/dl/{n}"))).collect();
        // A file whose response takes longer than a stop may take is requested again.
        assert!(asked.iter().all(|times| (1..=2).contains(times)), "stopped after {stop_after} s: {asked:?}");
    }
    assert!(stopped_between > 10, "{stopped_between}");
}

#[tokio::test(start_paused = true)]
async fn a_reply_that_is_seen_while_its_thread_is_under_way_has_the_thread_read_once_more() {
    // At any time within a round.
    for first in (600..680).step_by(4) {
        FIRST_REPLY_S.set(first);
        let web = Arc::new(Web::new(Duration::from_secs(SLOW_S)).meanwhile(replies));
        let mut machine = Machine::new();
        machine.update = Some(in_memory());
        two_boards(&machine, &web, 1_200).await;
        let asked: Vec<usize> = (1..=2).map(|n| web.asked(&format!("/dl/{n}"))).collect();
        assert!(asked.iter().all(|times| *times == 1), "first at {first} s: {asked:?}");
    }
}
