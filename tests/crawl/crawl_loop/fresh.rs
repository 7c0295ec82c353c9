//! Revisited pages that have not changed are not read again; new content is never delayed.

use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::fresh::changed::{model, note_name};
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDb as _, Reader};

use super::web::{Answer, FAST, Machine, Web, page, torrent};

/// Parts that change with each visit and mean nothing.
fn noise(look: u64) -> String {
    format!(
        "<div id=foot><p class=online>{} members online</p><p class=load>made in 0.{:03} s</p><p><a href=/ads/{look}>buy</a></p></div>",
        20 + look * 7 % 31,
        100 + look * 37 % 899
    )
}

fn rows(numbers: impl Iterator<Item = u64>) -> String {
    let row = |n| format!("<tr><td><a href=/detail/{n}>Release number {n}</a></td><td>{n}.5 MB</td></tr>");
    format!("<table id=list>{}</table>", numbers.map(row).collect::<String>())
}

fn front(look: u64, head: &str, body: &str) -> Answer {
    page(&format!(
        "<html><head><title>All releases</title>{head}</head><body><h1>Releases</h1>{body}{}</body></html>",
        noise(look)
    ))
}

/// Visits the start page as often as it has responses.
async fn looks(machine: &Machine, web: &Arc<Web>, rules: &str, times: usize) {
    for _ in 0..times {
        machine.crawl(web, rules, RunOptions::default()).await;
        tokio::time::sleep(Duration::from_secs(601)).await;
    }
}

fn every_ten_minutes() -> String {
    format!("revisit_minutes = 10\n{FAST}")
}

#[tokio::test(start_paused = true)]
async fn a_page_of_which_only_its_noise_changed_is_not_read_again() {
    let answers: Vec<Answer> = (0..30).map(|look| front(look, "", &rows(1..20))).collect();
    let last = front(30, "", &rows(1..21));
    let web = Web::new(Duration::from_millis(10)).at("/", &[answers.clone(), vec![last]].concat());
    let web = Arc::new(
        web.otherwise(|path| path.starts_with("/detail/").then(|| page("<a href=/dl/1>x</a>")))
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    looks(&machine, &web, &every_ten_minutes(), 30).await;
    assert_eq!(web.asked("/"), 30);
    let skipped = machine.outcomes().await.get("not_modified").copied().unwrap_or_default();
    assert!(skipped >= 20, "{skipped} of 29 looks at an unchanged page were not read");
    assert_eq!(web.asked("/detail/20"), 0);
    looks(&machine, &web, &every_ten_minutes(), 1).await;
    assert_eq!(web.asked("/detail/20"), 1, "a new row among noise that is known");
    let note = machine.db.note("sim", &note_name(Class::Index)).await.unwrap().unwrap();
    assert!(model(Class::Index, Some(&note)).unwrap().has_learned(), "the model is kept over restarts");
}

#[tokio::test(start_paused = true)]
async fn a_model_that_cannot_be_read_is_learned_anew() {
    let answers: Vec<Answer> = (0..12).map(|look| front(look, "", &rows(1..20))).collect();
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &answers));
    let machine = Machine::new();
    machine.db.put_note("sim", &note_name(Class::Index), b"{\"version\":".to_vec()).await.unwrap();
    looks(&machine, &web, &every_ten_minutes(), 12).await;
    let skipped = machine.outcomes().await.get("not_modified").copied().unwrap_or_default();
    assert!(skipped >= 4, "{skipped} of 11");
}

/// Every kind of lead on a page.
fn lead(kind: u64, n: u64) -> (String, String) {
    let head = |text: String| (text, String::new());
    let body = |text: String| (String::new(), text);
    match kind {
        0 => head(format!("<link rel=next href=/list/{n}>")),
        1 => head(format!("<meta http-equiv=refresh content='900; url=/list/{n}'>")),
        2 => body(format!("<div id=foot><p class=online><a href=/list/{n}>{n} members</a></p></div>")),
        3 => body(format!("<iframe src=/list/{n}></iframe>")),
        4 => body(format!("<div id=hot><a href=/list/{n}>the best of today</a></div>")),
        5 => body(format!("<form><textarea>thunder://{}</textarea></form>", thunder(n))),
        6 => body(format!("<p class=load><script>var u='thunder:\\/\\/{}';</script></p>", thunder(n))),
        7 => body(format!("<svg><a href=/list/{n}></a></svg>")),
        _ => body(rows([n].into_iter())),
    }
}

fn thunder(n: u64) -> String {
    data_encoding::BASE64.encode(format!("AAhttp://sim.example/list/{n}ZZ").as_bytes())
}

#[tokio::test(start_paused = true)]
async fn a_page_with_a_new_link_is_never_skipped_whatever_its_noise_and_wherever_the_link() {
    for seed in 1..=6_u64 {
        let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut next = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        let (mut answers, mut expected) = (Vec::new(), Vec::new());
        let (mut head, mut body) = (String::new(), String::new());
        for look in 0..60 {
            if next() % 4 == 0 || look == 0 {
                // A position whose link differs at each visit would train the model to treat it as noise.
                let kind = if next() % 2 == 0 { 4 } else { next() % 9 };
                let n = 1_000 + look;
                (head, body) = lead(kind, n);
                expected.push((look, if kind == 8 { format!("/detail/{n}") } else { format!("/list/{n}") }, kind));
            }
            answers.push(front(look, &head, &format!("{}{body}", rows(1..8))));
        }
        let web = Web::new(Duration::from_millis(5)).at("/", &answers);
        let web = Arc::new(web.otherwise(|path| path.starts_with("/list/").then(|| page("<p>nothing</p>"))));
        let machine = Machine::new();
        let mut expected = expected.into_iter().peekable();
        for look in 0..60 {
            looks(&machine, &web, &every_ten_minutes(), 1).await;
            while let Some((_, path, kind)) = expected.next_if(|(at, ..)| *at == look) {
                assert!(web.asked(&path) > 0, "seed {seed}, look {look}: {path} (a link of kind {kind}) was skipped");
            }
        }
    }
}

/// A distinct torrent for each number.
fn torrent_of(n: u64) -> Answer {
    let name = format!("release-{n:04}");
    let text = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    Answer::Status(200, gleaner_net::fetch::ResponseHeaders::default(), text.into_bytes().into())
}

fn detail(n: u64) -> Answer {
    page(&format!(
        "<title>Release {n}</title><h1>Release {n}</h1><p>About release {n}, at some length.</p><a href=/dl/{n}>download</a>"
    ))
}

/// A site of releases, whose pages exist unless overridden.
fn releases() -> Web {
    Web::new(Duration::from_millis(10)).otherwise(|path| {
        let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<u64>().ok();
        number("/detail/").map(detail).or_else(|| number("/dl/").map(torrent_of))
    })
}

async fn looks_apart(machine: &Machine, web: &Arc<Web>, minutes: u64, times: usize) {
    let rules = format!("revisit_minutes = {}\n{FAST}", minutes - 1);
    for _ in 0..times {
        machine.crawl(web, &rules, RunOptions::default()).await;
        tokio::time::sleep(Duration::from_secs(minutes * 60)).await;
    }
}

async fn urls_gone(machine: &Machine) -> u64 {
    machine.db.site_counts("sim").await.unwrap().urls_gone
}

async fn status(machine: &Machine) -> gleaner::app::status::SiteStatus {
    let report = gleaner::app::status::report(machine.db.as_ref(), None, machine.clock().now()).await.unwrap();
    report.sites.into_iter().next().unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_page_that_says_twice_that_its_torrent_is_gone_is_gone_and_one_that_says_so_once_is_not() {
    let deleted = page("<title>Error</title><p>This torrent has been deleted.</p>");
    let web = releases()
        .at("/", &[front(0, "", &rows(1..7))])
        .at("/detail/2", std::slice::from_ref(&deleted))
        .at("/detail/3", &[deleted.clone(), detail(3)])
        .at("/detail/4", &[super::web::status(410)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 190, 1).await;
    assert_eq!(urls_gone(&machine).await, 1, "410 is believed at once, a page's word is not");
    looks_apart(&machine, &web, 190, 3).await;
    assert_eq!((web.asked("/detail/2"), web.asked("/detail/3"), web.asked("/detail/4")), (2, 2, 1));
    assert_eq!(urls_gone(&machine).await, 2);
    assert_eq!(web.asked("/dl/3"), 1, "what was only away for a while is fetched");
    let gone = status(&machine).await.gone.unwrap();
    assert_eq!(gone.by["said to be gone"], 1);
    assert_eq!(gone.by["status 410"], 1);
    assert!(gone.last.iter().any(|told| told.url.ends_with("/detail/2") && told.found > told.until));
    let invalid = gleaner_store::coverage::of_site(machine.db.as_ref(), "sim").await.unwrap().nt.invalid;
    assert_eq!(invalid, 2, "TorrentsInvalid");
}

#[tokio::test(start_paused = true)]
async fn a_page_that_the_site_sends_for_whatever_it_has_not_is_learned_from_pages_without_a_torrent() {
    let lost = page(
        "<title>Oops</title><h1>Nothing here</h1><p>Whatever stood at this place must have gone for a walk some time ago.</p>",
    );
    let web = releases()
        .at("/", &[front(0, "", &rows(1..12))])
        .at("/detail/9", std::slice::from_ref(&lost))
        .at("/detail/10", std::slice::from_ref(&lost));
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 190, 3).await;
    assert!(urls_gone(&machine).await >= 1, "{:?}", machine.outcomes().await);
    assert_eq!(machine.outcomes().await["torrent_stored"], 9);
}

#[tokio::test(start_paused = true)]
async fn a_row_that_vanishes_while_its_neighbours_stay_has_its_page_asked_for() {
    let all = || rows(1..16);
    let fewer = || rows((1..16).filter(|n| ![6, 9, 11].contains(n)));
    let web = releases()
        .at("/", &[front(0, "", &all()), front(1, "", &fewer()), front(2, "", &fewer()), front(3, "", &fewer())])
        // One is gone, one has lost its torrent, one has only left the list.
        .at("/detail/6", &[detail(6), super::web::status(404)])
        .at("/detail/9", &[detail(9), page("<title>Release 9</title><p>no file</p>")]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 190, 5).await;
    assert_eq!([6, 9, 11, 7].map(|n| web.asked(&format!("/detail/{n}"))), [2, 2, 2, 1]);
    assert_eq!(urls_gone(&machine).await, 2);
    let gone = status(&machine).await.gone.unwrap();
    let told = gone.last.iter().find(|told| told.url.ends_with("/detail/6")).unwrap();
    assert!(told.from < told.until && told.until < told.found, "{told:?}");
    let torrents = machine.db.torrents(None, 100).await.unwrap();
    assert_eq!(torrents.len(), 15, "nothing leaves the archive");
}

#[tokio::test(start_paused = true)]
async fn what_goes_and_comes_back_counts_as_gone_no_more() {
    let without = || rows((1..16).filter(|n| *n != 6));
    let web = releases()
        .at(
            "/",
            &[
                front(0, "", &rows(1..16)),
                front(1, "", &without()),
                front(2, "", &without()),
                front(3, "", &rows(1..16)),
            ],
        )
        .at("/detail/6", &[detail(6), super::web::status(404), detail(6)]);
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 190, 3).await;
    assert_eq!(urls_gone(&machine).await, 1);
    looks_apart(&machine, &web, 190, 2).await;
    assert_eq!((urls_gone(&machine).await, web.asked("/detail/6")), (0, 3));
}

#[tokio::test(start_paused = true)]
async fn the_delay_of_what_appears_is_measured_over_restarts_and_history_is_apart() {
    let web = releases().at(
        "/",
        &[front(0, "", &rows(1..6)), front(1, "", &rows(1..6)), front(2, "", &rows(1..8)), front(3, "", &rows(1..9))],
    );
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 60, 5).await;
    let delay = status(&machine).await.delay.unwrap();
    assert_eq!((delay.torrents, delay.history, delay.contradicted), (3, 5, 0));
    let (median, most) = (delay.median_s.unwrap(), delay.median_most_s.unwrap());
    assert!((1_600.0..2_100.0).contains(&median), "half of the hour between two looks: {median} s");
    assert!((3_400.0..3_800.0).contains(&most), "{most} s");
    let report = gleaner::app::changes::delays(machine.db.as_ref(), "sim").await.unwrap().unwrap();
    assert_eq!(report.over_time.iter().map(|point| point.torrents).sum::<u64>(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_kill_loses_no_delay_that_was_measured_more_than_half_a_minute_before() {
    // The list has something new at each recheck, ten minutes apart; by then other notes are written every five minutes.
    let fronts: Vec<Answer> = (0..9).map(|look| front(look, "", &rows(1..6 + look))).collect();
    let (web, machine) = (Arc::new(releases().at("/", &fronts)), Machine::new());
    let rules = format!("revisit_minutes = 10\n{FAST}");
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    let (killed, later) = (Duration::from_secs(3_000 + 40), Duration::from_secs(3_100));
    let (ended, _) = machine.crawl_while_committing(&web, &rules, service, Some(later), Some(killed)).await;
    assert!(ended.is_err(), "{ended:?}");
    let report = gleaner::app::changes::delays(machine.db.as_ref(), "sim").await.unwrap().unwrap();
    let fetched = machine.outcomes().await["torrent_stored"];
    assert_eq!((report.torrents + report.history, report.history), (fetched, 5), "{report:?}");
}

#[tokio::test(start_paused = true)]
async fn a_time_that_the_site_shows_narrows_the_delay_and_one_that_cannot_be_is_not_believed() {
    // The virtual clock starts at 2023-11-14 22:13:20 UTC; rechecks are an hour apart.
    let row = |n: u64, time: &str| {
        format!(
            "<tr><td><a href=/detail/{n}>Release number {n}</a></td><td><time datetime={time}Z>{time}</time></td><td>{n}.5 MB</td></tr>"
        )
    };
    let list = |rows: &[(u64, &str)]| {
        let rows: String = rows.iter().map(|(n, time)| row(*n, time)).collect();
        front(0, "", &format!("<table id=list><tr><th>Name<th>Added<th>Size</tr>{rows}</table>"))
    };
    let old = [
        (5, "2023-11-14T20:00:00"),
        (4, "2023-11-14T19:00:00"),
        (3, "2023-11-13T10:00:00"),
        (2, "2023-11-12T10:00:00"),
    ];
    let new = [vec![(6, "2023-11-14T23:03:20")], old.to_vec()].concat();
    // Before the recheck at which it was absent; and two days in the future.
    let slow = [vec![(7, "2023-11-14T22:40:00")], new.clone()].concat();
    let fast = [vec![(8, "2023-11-17T00:40:00")], slow.clone()].concat();
    let web = Arc::new(releases().at("/", &[list(&old), list(&new), list(&slow), list(&fast)]));
    let machine = Machine::new();
    let told = async || gleaner::app::changes::delays(machine.db.as_ref(), "sim").await.unwrap().unwrap();
    looks_apart(&machine, &web, 60, 2).await;
    let report = told().await;
    assert_eq!((report.shown, report.looks, report.contradicted, report.history), (1, 0, 0, 4), "{report:?}");
    // 23:03:20 is ten minutes before the recheck at 23:13:20.
    assert!((560.0..640.0).contains(&report.median.middle_s.unwrap()), "{report:?}");
    looks_apart(&machine, &web, 60, 1).await;
    let report = told().await;
    assert_eq!((report.shown, report.looks, report.contradicted), (1, 0, 1), "{report:?}");
    looks_apart(&machine, &web, 60, 1).await;
    let report = told().await;
    assert_eq!(report.torrents, 3);
    assert!(report.median.middle_s.unwrap() > 500.0, "a fast clock makes no delay short: {report:?}");
    let lists = status(&machine).await.lists.unwrap();
    assert_eq!((lists.by_times, lists.by_unknown_urls), (1, 0));
}

#[tokio::test(start_paused = true)]
async fn what_was_taken_away_is_found_at_the_head_of_a_list_behind_a_row_that_stays_and_in_a_thread_that_lost_it() {
    let talk = |n: u64, link: &str| {
        page(&format!("<title>Talk {n}</title><h1>Talk {n}</h1><p>{}</p>{link}", "words about it. ".repeat(400)))
    };
    let rows = |numbers: &mut dyn Iterator<Item = u64>| {
        let row = |n| format!("<tr><td><a href=/talk/{n}>The talk about matter {n}</a></td><td>{n}.5 MB</td></tr>");
        format!("<table id=list>{}</table>", numbers.map(row).collect::<String>())
    };
    let all = rows(&mut (1..16).rev());
    // The first one is removed; 7 leaves the list with its torrent, 9 without; 4 and 5 stay as rows.
    let fewer = rows(&mut (1..15).rev().filter(|n| ![7, 9].contains(n)));
    let mut answers = vec![front(0, "", &all)];
    answers.extend((1..60).map(|look| front(look, "", &fewer)));
    let mut web = releases().at("/", &answers);
    for n in 1..16 {
        let with = talk(n, &format!("<a href=/dl/{n}>download</a>"));
        let later = match n {
            15 | 4 => super::web::status(404),
            9 => talk(n, ""),
            5 => page("<title>Notice</title><p>This torrent has been deleted.</p>"),
            _ => with.clone(),
        };
        web = web.at(&format!("/talk/{n}"), &[with, later]);
    }
    let (web, machine) = (Arc::new(web), Machine::new());
    let rules = "revisit_minutes = 189\n[rate]\nrequests_per_second = 1000\n[classes]\nindex = ['^/$']\nthread = ['^/talk/']\ndownload = ['^/dl/']\n";
    let rules = format!("start = ['http://sim.example/']\n{rules}");
    let looks = async |times: usize| {
        for _ in 0..times {
            let db: Arc<dyn gleaner_store::crawldb::CrawlDb> = machine.db.clone();
            let rules = gleaner_rules::from_text("sim", &rules).unwrap_or_else(|faults| panic!("{faults:?}"));
            let site = gleaner_crawl::site::Site::new(rules, web.transport(machine.start), machine.clock(), db);
            machine.crawl_site(site, RunOptions::default(), None, None).await.0.unwrap();
            tokio::time::sleep(Duration::from_secs(190 * 60)).await;
        }
    };
    looks(4).await;
    let gone = status(&machine).await.gone.unwrap();
    let mut urls: Vec<String> = gone.last.iter().map(|gone| gone.url.replace("http://sim.example", "")).collect();
    urls.sort();
    assert_eq!(urls, ["/talk/15", "/talk/9"], "{gone:?}");
    assert!(gone.last.iter().all(|gone| gone.from < gone.until && gone.until < gone.found), "{gone:?}");
    looks(36).await;
    let gone = status(&machine).await.gone.unwrap();
    let mut urls: Vec<String> = gone.last.iter().map(|gone| gone.url.replace("http://sim.example", "")).collect();
    urls.sort();
    assert_eq!(urls, ["/talk/15", "/talk/4", "/talk/5", "/talk/9"], "rows that stay, in turn");
    assert_eq!(urls_gone(&machine).await, 4);
    let talks = web.log().iter().filter(|(_, path)| path.starts_with("/talk/")).count();
    assert!(talks < 15 + 40 + 6, "{talks} requests in 40 looks");
    assert_eq!(machine.db.torrents(None, 100).await.unwrap().len(), 15, "nothing leaves the archive");
}

#[tokio::test(start_paused = true)]
async fn what_came_while_a_site_was_in_trouble_is_the_latest_of_all_and_counts() {
    let broken = super::web::status(403);
    let web = releases().at(
        "/",
        &[
            front(0, "", &rows(1..6)),
            front(1, "", &rows(1..6)),
            broken.clone(),
            broken.clone(),
            broken,
            front(2, "", &rows(1..9)),
        ],
    );
    let (web, machine) = (Arc::new(web), Machine::new());
    looks_apart(&machine, &web, 60, 6).await;
    assert_eq!(web.asked("/"), 6);
    let delay = status(&machine).await.delay.unwrap();
    assert_eq!((delay.torrents, delay.history), (3, 5));
    let (median, most) = (delay.median_s.unwrap(), delay.median_most_s.unwrap());
    assert!((6_800.0..7_600.0).contains(&median), "half of the four hours between two looks: {median} s");
    assert!((14_000.0..15_200.0).contains(&most), "{most} s");
}
