//! Lists as boards: how far a recheck goes, which threads are read again, and what a list without times cannot show.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::site::Site;
use gleaner_store::crawldb::CrawlDb;

use super::web::{Answer, Machine, Web, page};

/// Row of a thread: its number, its title, its replies, its last post as minutes before now, its last page if it has several.
#[derive(Clone, Copy)]
pub struct Thread {
    pub n: u64,
    pub replies: u64,
    /// Seconds since 1970.
    pub last: u64,
    pub last_page: u64,
    pub pinned: bool,
}

pub const START: u64 = 1_700_000_000;

pub fn iso(at: u64) -> String {
    gleaner_base::clock::UnixMillis(at * 1_000).rfc3339()
}

pub fn thread(n: u64, last: u64) -> Thread {
    Thread { n, replies: 3, last, last_page: 1, pinned: false }
}

pub fn board(threads: &[Thread], next: Option<&str>, has_times: bool) -> Answer {
    let mut text = String::from(
        "<html><head><title>Board</title></head><body><h1>Board</h1><table class=topics><tr><th>Topic<th>Replies<th>Last post</tr>",
    );
    for thread in threads {
        let Thread { n, replies, last, last_page, pinned } = thread;
        let time = if has_times {
            format!("<time datetime='{}'>{}</time> by somebody", iso(*last), iso(*last))
        } else {
            "by somebody".to_owned()
        };
        let pages = if *last_page > 1 {
            format!(" [ <a href='/viewtopic?t={n}&amp;page={last_page}'>{last_page}</a> ]")
        } else {
            String::new()
        };
        let class = if *pinned { "row sticky" } else { "row" };
        let _ = write!(
            text,
            "<tr class='{class}'><td><a class=topictitle href='/viewtopic?t={n}'>The talk about matter {n}</a>{pages}</td><td>{}</td><td>{time}</td></tr>",
            if has_times { replies.to_string() } else { String::new() }
        );
    }
    text.push_str("</table>");
    if let Some(next) = next {
        let _ = write!(text, "<p class=pages><a rel=next href={next}>Next</a></p>");
    }
    page(&(text + "</body></html>"))
}

pub const RULES: &str = r"
revisit_minutes = 59
lanes = 4
lane_key = 'xxh3'
[rate]
requests_per_second = 1000000
connections = 4
[classes]
board = ['^/$', '^/board/(?P<page>\d+)$']
thread = ['^/viewtopic']
download = ['^/dl/']
";

pub async fn looks(machine: &Machine, web: &Arc<Web>, more: &str, times: usize) {
    for _ in 0..times {
        let (top, tables) = if more.starts_with("deny") { (more, "") } else { ("", more) };
        let text = format!("start = ['http://sim.example/']\n{top}{RULES}{tables}");
        let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
        machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
        let elapsed = machine.start.elapsed().as_secs();
        tokio::time::sleep(Duration::from_secs(3_600 - elapsed % 3_600)).await;
    }
}

pub fn posts() -> Web {
    Web::new(Duration::from_millis(10))
        .otherwise(|path| path.starts_with("/viewtopic").then(|| page("<h1>Talk</h1><p>words</p>")))
}

pub fn threads(newest: u64, count: u64) -> Vec<Thread> {
    // Thread n was created n · 10 minutes after a day before the start.
    (0..count).map(|back| thread(newest - back, START - 86_400 + (newest - back) * 600)).collect()
}

#[tokio::test(start_paused = true)]
async fn a_thread_with_news_is_read_again_from_its_last_known_page_and_no_other_thread_is() {
    let before = threads(30, 12);
    let mut before: Vec<Thread> = before;
    before[5].last_page = 4;
    let mut after = before.clone();
    let mut woken = after.remove(5);
    (woken.last, woken.replies) = (START + 1_800, 4);
    after.insert(0, woken);
    let web =
        Arc::new(posts().at("/", &[board(&before, None, true), board(&before, None, true), board(&after, None, true)]));
    let machine = Machine::new();
    let n = before[5].n;
    looks(&machine, &web, "", 2).await;
    assert_eq!((web.asked(&format!("/viewtopic?t={n}")), web.asked(&format!("/viewtopic?t={n}&page=4"))), (1, 1));
    looks(&machine, &web, "", 3).await;
    assert_eq!(
        (web.asked(&format!("/viewtopic?t={n}")), web.asked(&format!("/viewtopic?t={n}&page=4"))),
        (1, 2),
        "once, and its last page"
    );
    for other in before.iter().filter(|thread| thread.n != n) {
        assert_eq!(web.asked(&format!("/viewtopic?t={}", other.n)), 1, "thread {}", other.n);
    }
}

#[tokio::test(start_paused = true)]
async fn a_look_goes_on_as_long_as_pages_have_news_and_no_farther() {
    // 15 new threads, of which the front page shows 10: the others are on a page that was read long ago.
    let (old, new) = (threads(50, 40), threads(65, 55));
    let pages = |all: &[Thread]| -> Vec<Vec<Thread>> { all.chunks(10).map(<[Thread]>::to_vec).collect() };
    let mut web = posts();
    let (before, after) = (pages(&old), pages(&new));
    let next = |at: usize, of: usize| (at + 1 < of).then(|| format!("/board/{}", at + 2));
    for at in 0..after.len() {
        let path = if at == 0 { "/".to_owned() } else { format!("/board/{}", at + 1) };
        let answer = |of: &[Vec<Thread>]| {
            let rows = of.get(at).cloned().unwrap_or_default();
            board(&rows, next(at, of.len()).as_deref(), true)
        };
        web = web.at(&path, &[answer(&before), answer(&after)]);
    }
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 1).await;
    assert_eq!(web.asked("/board/4"), 1, "history is read to its end");
    looks(&machine, &web, "", 1).await;
    let asked = [2, 3, 4].map(|at| web.asked(&format!("/board/{at}")));
    assert_eq!(asked, [2, 2, 1], "two pages with news, and the first without any");
    for n in 51..=65 {
        assert_eq!(web.asked(&format!("/viewtopic?t={n}")), 1, "thread {n}");
    }
    looks(&machine, &web, "", 2).await;
    assert_eq!([2, 3, 4].map(|at| web.asked(&format!("/board/{at}"))), asked, "nothing is new");
}

#[tokio::test(start_paused = true)]
async fn a_list_without_times_sees_unknown_urls_alone_and_status_says_so() {
    let web = posts().at(
        "/",
        &[
            board(&threads(30, 12), None, false),
            board(&threads(30, 12), None, false),
            board(&threads(31, 13), None, false),
        ],
    );
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 3).await;
    assert_eq!(web.asked("/viewtopic?t=31"), 1);
    let report = gleaner::app::status::report(machine.db.as_ref(), None, machine.clock().now()).await.unwrap();
    let lists = report.sites[0].lists.clone().unwrap();
    assert_eq!((lists.by_times, lists.by_unknown_urls), (0, 1));
    assert_eq!(lists.untold.as_deref(), Some("http://sim.example/"));
}

#[tokio::test(start_paused = true)]
async fn pinned_rows_lists_in_another_order_empty_boards_and_pages_that_repeat_end_a_look() {
    // The second page repeats the first one forever.
    let mut rows = threads(30, 12);
    rows.insert(0, Thread { pinned: true, ..thread(1, START - 400_000) });
    let mut shuffled = rows.clone();
    shuffled.sort_by_key(|thread| thread.n * 7 % 13);
    let mut woken = shuffled.clone();
    (woken[4].last, woken[4].replies) = (START + 5_000, 9);
    let web = posts()
        .at(
            "/",
            &[
                board(&rows, Some("/board/2"), true),
                board(&shuffled, Some("/board/2"), true),
                board(&woken, Some("/board/2"), true),
            ],
        )
        .at("/board/2", &[board(&rows, Some("/board/3"), true)])
        .at("/board/3", &[board(&[], Some("/board/4"), true)])
        .at("/board/4", &[board(&[], None, true)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 6).await;
    assert!(web.log().len() < 80, "{} requests", web.log().len());
    let n = woken[4].n;
    assert_eq!(web.asked(&format!("/viewtopic?t={n}")), 2, "news count in any order");
}

#[tokio::test(start_paused = true)]
async fn an_operators_selectors_name_the_rows_and_a_wrong_clock_reads_no_thread_twice() {
    // The site's clock is nine hours ahead, and it shows no time zone.
    let text = |threads: &[Thread]| {
        let mut rows = String::new();
        for thread in threads {
            let time = iso(thread.last + 9 * 3_600).replace('T', " ");
            let _ = write!(
                rows,
                "<div class=x><a href='/viewtopic?t={0}'>matter number {0}</a> <i>{1}</i></div>",
                thread.n,
                &time[..16]
            );
        }
        page(&format!("<body><h1>B</h1><div class=all>{rows}</div></body>"))
    };
    let before = threads(30, 9);
    let mut after = before.clone();
    after[3].last = START + 4_000;
    let web = posts().at("/", &[text(&before), text(&before), text(&after)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    let more = "[boards]\nrows = 'div.x'\nrow_link = 'a'\nrow_time = 'i'\nutc_offset = '+09:00'\n";
    looks(&machine, &web, more, 5).await;
    let asked: Vec<usize> = before.iter().map(|thread| web.asked(&format!("/viewtopic?t={}", thread.n))).collect();
    assert_eq!(asked.iter().sum::<usize>(), 10, "{asked:?}");
    assert_eq!(asked[3], 2);
}

#[tokio::test(start_paused = true)]
async fn a_look_goes_on_after_a_restart_in_its_middle() {
    let (old, new) = (threads(50, 40), threads(75, 65));
    let mut web = posts();
    for at in 0..7 {
        let path = if at == 0 { "/".to_owned() } else { format!("/board/{}", at + 1) };
        let answer = |of: &[Thread]| {
            let pages: Vec<&[Thread]> = of.chunks(10).collect();
            let next = (at + 1 < pages.len()).then(|| format!("/board/{}", at + 2));
            board(pages.get(at).copied().unwrap_or_default(), next.as_deref(), true)
        };
        web = web.at(&path, &[answer(&old), answer(&new)]);
    }
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 1).await;
    // It ends after the front page.
    let text = format!("start = ['http://sim.example/']\npages_max = 1\n{RULES}");
    let rules = gleaner_rules::from_text("sim", &text).unwrap();
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
    machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
    assert_eq!((web.asked("/"), web.asked("/board/2")), (2, 1));
    looks(&machine, &web, "", 1).await;
    for n in 51..=75 {
        assert_eq!(web.asked(&format!("/viewtopic?t={n}")), 1, "thread {n}");
    }
}

/// Two lists that the service rechecks for some days; one of them has a new thread at each recheck.
async fn service(boards: &str, days: u64) -> (Arc<Web>, Machine) {
    let busy: Vec<Answer> = (0..900).map(|look| board(&threads(30 + look, 12), None, false)).collect();
    let web = posts()
        .at("/", &[page("<a href=/busy/>busy</a> <a href=/quiet/>quiet</a>")])
        .at("/busy/", &busy)
        .at("/quiet/", &[board(&threads(20, 12), None, false)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    let text = format!(
        "start = ['http://sim.example/']\nrevisit_minutes = 1440\n[rate]\nrequests_per_second = 1000000\n{boards}\n\
         [classes]\npage = ['^/$']\nboard = ['^/busy/$', '^/quiet/$']\nthread = ['^/viewtopic']\n"
    );
    let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_site(site, options, Some(Duration::from_secs(days * 86_400)), None).await.0.unwrap();
    (web, machine)
}

#[tokio::test(start_paused = true)]
async fn the_service_looks_at_a_busy_list_more_often_within_the_looks_of_a_day() {
    let (web, machine) = service("[boards]\nlooks_per_day = 24", 5).await;
    let (busy, quiet) = (web.asked("/busy/"), web.asked("/quiet/"));
    assert!(busy > 3 * quiet && quiet >= 4, "{busy} looks at the busy list, {quiet} at the quiet one");
    assert!((95..=130).contains(&(busy + quiet)), "{} looks in five days of 24", busy + quiet);
    use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
    use gleaner_store::crawldb::Reader as _;
    let note = machine.db.note("sim", SCHEDULE_NOTE).await.unwrap().unwrap();
    let told = StoredTimetable::from_bytes(&note).unwrap().explain(machine.clock().now().0 / 1_000);
    let rate = |url: &str| told.iter().find(|told| told.url.ends_with(url)).unwrap().weight;
    assert!(rate("/busy/") > 5.0 && rate("/quiet/") < 1.0, "{told:?}");
}

#[tokio::test(start_paused = true)]
async fn the_papers_schedules_can_be_chosen() {
    let (web, _) = service("[boards]\nlooks_per_day = 24\nschedule = 'era'", 3).await;
    let (busy, quiet) = (web.asked("/busy/"), web.asked("/quiet/"));
    assert!((33..=40).contains(&busy) && (33..=40).contains(&quiet), "{busy} and {quiet}, twelve a day each");
    let (web, _) = service("[boards]\nlooks_per_day = 24\nschedule = 'bra'", 3).await;
    let (busy, quiet) = (web.asked("/busy/"), web.asked("/quiet/"));
    assert!(busy > 2 * quiet && quiet >= 2, "{busy} and {quiet} by weight");
}

/// How often the fourth of five boards, each linking to the next as to a next page, was requested in `times` rechecks, and whether a
/// thread added to it meanwhile was.
async fn boards_that_lead_to_each_other(start: &str, classes: &str, times: usize) -> (usize, usize) {
    let rows = |number: u64, more: u64| threads(number * 100 + more, 9);
    let text = |number: u64, more: u64| board(&rows(number, more), Some(&format!("/forum/{}/", number % 5 + 1)), true);
    let mut web = posts().at("/", &[page(start)]);
    for number in 1..=5 {
        let grown = text(number, u64::from(number == 4));
        web = web.at(&format!("/forum/{number}/"), &[text(number, 0), text(number, 0), grown]);
    }
    let (web, machine) = (Arc::new(web), Machine::new());
    let rules = format!(
        "start = ['http://sim.example/']\nrevisit_minutes = 59\nlanes = 4\nlane_key = 'xxh3'\n[rate]\n\
         requests_per_second = 1000000\nconnections = 4\n[classes]\n{classes}\nthread = ['^/viewtopic']\n"
    );
    for _ in 0..times {
        let rules = gleaner_rules::from_text("sim", &rules).unwrap_or_else(|faults| panic!("{faults:?}"));
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
        machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
        tokio::time::sleep(Duration::from_secs(3_600)).await;
    }
    (web.asked("/forum/4/"), web.asked("/viewtopic?t=401"))
}

#[tokio::test(start_paused = true)]
async fn boards_that_link_to_the_next_board_as_to_a_next_page_are_looked_at_each_by_itself() {
    let links = |text: fn(u64) -> String| -> String {
        (1..=5).map(|number| format!("<a href=/forum/{number}/>{}</a> ", text(number))).collect()
    };
    let numbers = links(|number| number.to_string());
    let names = links(|number| format!("Matters of the {number}th kind"));
    let latest = "<p><a href='/viewtopic?t=100'>The talk about matter 100</a></p>";
    let (both, page_too) = ("board = ['^/$', '^/forum/\\d+/$']", "page = ['^/$']\nboard = ['^/forum/\\d+/$']");
    let ruled = r"board = ['^/$', '^/forum/\d+/(?:page-(?P<page>\d+))?$']";
    for (start, classes) in [
        (numbers.clone(), both),
        (format!("{names}{latest}"), both),
        (format!("{numbers}{latest}"), page_too),
        (format!("{numbers}{latest}"), ruled),
    ] {
        let (looks, thread) = boards_that_lead_to_each_other(&start, classes, 4).await;
        assert_eq!((looks, thread), (4, 1), "{classes} {start}");
    }
    // A list's own page numbers beside its rows are its pages.
    let (looks, _) = boards_that_lead_to_each_other(&format!("{numbers}{latest}"), both, 4).await;
    assert!(looks < 4, "{looks}");
}

#[tokio::test(start_paused = true)]
async fn boards_that_were_taken_for_pages_are_looked_at_again_once_a_page_names_them() {
    let text = |number: u64, more: u64| {
        let Answer::Status(status, headers, body) =
            board(&threads(number * 100 + more, 9), Some(&format!("/forum/{}/", number % 5 + 1)), true)
        else {
            unreachable!("a page")
        };
        (status, headers, body)
    };
    let with = |number: u64, more: u64, jumps: bool| {
        let (status, headers, body) = text(number, more);
        let jumps = if jumps { "<a href=/forum/3/>Plays</a> <a href=/forum/4/>Films</a>" } else { "" };
        Answer::Status(status, headers, [body.as_ref(), jumps.as_bytes()].concat().into())
    };
    let mut web = posts().at("/", &[page("<a href=/forum/1/>All</a>")]);
    web = web.at("/forum/1/", &[with(1, 0, false), with(1, 1, false), with(1, 1, false), with(1, 2, true)]);
    // The walk around the cycle reads the first one twice.
    for number in 2..=5 {
        web = web.at(&format!("/forum/{number}/"), &[with(number, 0, false)]);
    }
    let (web, machine) = (Arc::new(web), Machine::new());
    let classes = "[classes]\nboard = ['^/$', '^/forum/\\d+/$']\nthread = ['^/viewtopic']\n";
    let more = RULES.split("[classes]").next().unwrap();
    let mut asked = Vec::new();
    for _ in 0..6 {
        let text = format!("start = ['http://sim.example/']\n{more}{classes}");
        let rules = gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let db: Arc<dyn CrawlDb> = machine.db.clone();
        let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
        machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
        asked.push(web.asked("/forum/4/"));
        tokio::time::sleep(Duration::from_secs(3_600)).await;
    }
    assert_eq!(asked[0], 1);
    assert!(asked[5] >= asked[2] + 3, "a look each hour from then on: {asked:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_list_shows_before_its_site_has_it_is_asked_for_once_more() {
    // One replica serves the list, a lagging one its pages; one page is never served.
    let fronts: Vec<Answer> = (0..8).map(|look| board(&threads(30 + look, 12), None, true)).collect();
    let late = [super::web::status(404), page("<h1>Talk</h1><p>words</p>")];
    let web = posts().at("/", &fronts).at("/viewtopic?t=30", &late).at("/viewtopic?t=29", &[super::web::status(404)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 8).await;
    assert_eq!([30, 29, 31].map(|n| web.asked(&format!("/viewtopic?t={n}"))), [2, 2, 1], "once, and no more");
    let log = web.log();
    let times: Vec<u64> = log.iter().filter(|(_, path)| path == "/viewtopic?t=30").map(|(at, _)| *at).collect();
    assert!(times[1] - times[0] >= 3 * 3_600_000, "{times:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_server_in_trouble_did_not_give_is_asked_for_once_more_hours_later() {
    let (fault, tries) = (super::web::status(500), usize::from(gleaner_net::limits::ATTEMPTS_MAX));
    let fronts: Vec<Answer> = (0..8).map(|look| board(&threads(30 + look, 12), None, true)).collect();
    let good = page("<h1>Talk</h1><p>words</p>");
    let mut late = vec![fault.clone(); tries];
    late.push(good);
    let web = posts().at("/", &fronts).at("/viewtopic?t=30", &late).at("/viewtopic?t=29", &[fault]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks(&machine, &web, "", 8).await;
    let asked = [30, 29, 31].map(|n| web.asked(&format!("/viewtopic?t={n}")));
    assert_eq!(asked, [tries + 1, 2 * tries, 1], "once, and no more");
}

#[tokio::test(start_paused = true)]
async fn a_list_that_moved_is_asked_for_ever_more_seldom_and_holds_no_other_up() {
    let fronts: Vec<Answer> = (0..400).map(|look| board(&threads(30 + look, 12), None, true)).collect();
    let to = |path: &str| {
        let headers = gleaner_net::fetch::ResponseHeaders { location: Some(path.to_owned()), ..Default::default() };
        Answer::Status(301, headers, bytes::Bytes::new())
    };
    let mut web =
        posts().at("/", &[page("<a href=/board/1>one</a> <a href=/board/2>two</a> <a href=/board/3>three</a>")]);
    web = web.at("/board/1", &fronts).at("/board/3", &[board(&threads(20, 12), None, true)]);
    // The second one moves after some rechecks.
    let mut second: Vec<Answer> = (0..5).map(|_| board(&threads(900, 12), None, true)).collect();
    second.push(to("/forum/2"));
    web = web.at("/board/2", &second).at("/forum/2", &[board(&threads(900, 12), None, true)]);
    let (web, mut machine) = (Arc::new(web), Machine::new());
    machine.update = Some(super::increment::in_memory());
    let text = "start = ['http://sim.example/']\nrevisit_minutes = 5\n[rate]\nrequests_per_second = 1000\n\
                [classes]\npage = ['^/$']\nboard = ['^/board/\\d+$', '^/forum/\\d+$']\nthread = ['^/viewtopic']\n";
    let rules = gleaner_rules::from_text("sim", text).unwrap_or_else(|faults| panic!("{faults:?}"));
    let db: Arc<dyn CrawlDb> = machine.db.clone();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), db);
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_site(site, options, Some(Duration::from_secs(12 * 3_600)), None).await.0.unwrap();
    let log = web.log();
    let at =
        |path: &str| log.iter().filter(|(_, asked)| asked == path).map(|(at, _)| at / 60_000).collect::<Vec<u64>>();
    let moved = at("/board/2");
    // From five minutes on each wait is twice the one before: twelve hours hold seven of them.
    assert!((9..=23).contains(&moved.len()), "{moved:?}");
    let longest = |path: &str| at(path).windows(2).map(|pair| pair[1] - pair[0]).max();
    assert!(longest("/board/1").is_some_and(|minutes| minutes <= 15), "{:?}", longest("/board/1"));
    assert!(at("/forum/2").len() > 10);
    use gleaner_crawl::fresh::timetable::{SCHEDULE_NOTE, StoredTimetable};
    use gleaner_store::crawldb::Reader as _;
    let note = machine.db.note("sim", SCHEDULE_NOTE).await.unwrap().unwrap();
    let mut lists: Vec<String> =
        StoredTimetable::from_bytes(&note).unwrap().lists.into_iter().map(|list| list.url).collect();
    lists.sort();
    assert_eq!(lists, ["http://sim.example/board/1", "http://sim.example/board/3", "http://sim.example/forum/2"]);
}
