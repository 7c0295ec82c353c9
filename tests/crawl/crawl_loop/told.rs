//! Unsolicited log lines: each is logged once, and again only after a while.

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::commit::OnFault;
use gleaner_crawl::progress::Ended;
use tracing::subscriber::DefaultGuard;

use super::web::{Answer, FAST, Machine, Web, page, redirect, status, torrent};

/// The log of this thread from INFO on.
#[derive(Clone, Default)]
struct Log(Arc<Mutex<Vec<u8>>>);

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Log {
    fn begin() -> (Self, DefaultGuard) {
        let log = Self::default();
        let writer = log.clone();
        let lines = tracing_subscriber::fmt().with_ansi(false).with_writer(move || writer.clone()).finish();
        (log, tracing::subscriber::set_default(lines))
    }

    fn lines(&self, of: &str) -> Vec<String> {
        let text = String::from_utf8(self.0.lock().unwrap().clone()).unwrap();
        text.lines().filter(|line| line.contains(of)).map(str::to_owned).collect()
    }
}

/// A list of releases, each with a page and a torrent.
fn releases(newest: u64) -> Answer {
    let row = |n: u64| format!("<tr><td><a href=/detail/{n}>Release number {n}</a></td><td>{n}.5 MB</td></tr>");
    page(&format!("<h1>Releases</h1><table>{}</table>", (1..=newest).rev().map(row).collect::<String>()))
}

fn details(path: &str) -> Option<Answer> {
    let number = path.strip_prefix("/detail/")?.parse::<u64>().ok()?;
    Some(page(&format!("<h1>Release {number}</h1><a href=/dl/{number}>get</a>")))
}

async fn looks_apart(machine: &Machine, web: &Arc<Web>, more: &str, times: usize) {
    let rules = format!("revisit_minutes = 189\n{FAST}\n{more}");
    for _ in 0..times {
        machine.crawl(web, &rules, RunOptions::default()).await;
        tokio::time::sleep(Duration::from_secs(190 * 60)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_list_that_moves_and_a_torrent_that_goes_are_a_line_each() {
    let (log, _guard) = Log::begin();
    let web = Web::new(Duration::from_millis(10))
        .at("/", &[page("<a href=/list/1>list</a>")])
        .at("/list/1", &[releases(20), releases(20), redirect("/list/2")])
        .at("/list/2", &[releases(21)])
        .at("/detail/7", &[page("<h1>Release 7</h1><a href=/dl/7>get</a>"), status(404)])
        .otherwise(|path| if path.starts_with("/dl/") { Some(torrent()) } else { details(path) });
    let (web, machine) = (Arc::new(web), Machine::new());
    // The page of a row that stays is requested in its turn.
    looks_apart(&machine, &web, "", 200).await;
    let moved = log.lines("a list has moved");
    assert_eq!(moved.len(), 1, "{moved:?}");
    assert!(moved[0].contains("/list/1") && moved[0].contains("/list/2"), "{moved:?}");
    let gone = log.lines("the site has removed a torrent's page");
    assert!(web.asked("/detail/7") > 1, "{}", web.asked("/detail/7"));
    assert_eq!(gone.len(), 1, "{gone:?}");
    assert!(gone[0].contains("/detail/7") && gone[0].contains("status 404"), "{gone:?}");
}

#[tokio::test(start_paused = true)]
async fn lists_that_move_all_at_once_are_no_more_lines_than_a_minute_has() {
    let (log, _guard) = Log::begin();
    let fronts: String = (1..=30).map(|n| format!("<a href=/list/{n}>list {n}</a>")).collect();
    let mut web = Web::new(Duration::from_millis(10)).at("/", &[page(&fronts)]);
    for n in 1..=30 {
        web = web.at(&format!("/list/{n}"), &[releases(20), redirect(&format!("/list/{}", n + 100))]);
        web = web.at(&format!("/list/{}", n + 100), &[releases(20)]);
    }
    let (web, machine) = (Arc::new(web.otherwise(details)), Machine::new());
    looks_apart(&machine, &web, "", 2).await;
    assert_eq!(log.lines("a list has moved").len(), 20);
}

#[tokio::test(start_paused = true)]
async fn history_is_told_to_be_done_only_once_what_its_pages_led_to_is_on_the_disk() {
    for latency_ms in (500..8_000).step_by(500) {
        let (log, _guard) = Log::begin();
        let links = "<a href=/detail/1>a</a><a href=/detail/2>b</a>";
        let web = Web::new(Duration::from_millis(latency_ms)).at("/", &[page(links)]);
        let (web, mut machine) = (Arc::new(web.otherwise(details)), Machine::new());
        machine.update = Some(super::increment::in_memory());
        let service = RunOptions { keep_looking: true, ..RunOptions::default() };
        machine.crawl_until(&web, FAST, service, Some(Duration::from_secs(120))).await;
        let done = log.lines("history is done");
        assert!(done.len() == 1 && !done[0].contains("known=1"), "{latency_ms} ms: {done:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_selector_of_rows_that_matches_nothing_is_a_warning_once_and_none_where_it_matches() {
    for (rows, warnings) in [("div.nosuch", 1), ("tr", 0)] {
        let (log, _guard) = Log::begin();
        let web = Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/list/1>one</a> <a href=/list/2>two</a>")])
            .at("/list/1", &[releases(10), releases(11)])
            .at("/list/2", &[releases(10)])
            .otherwise(|path| if path.starts_with("/dl/") { Some(torrent()) } else { details(path) });
        let (web, machine) = (Arc::new(web), Machine::new());
        looks_apart(&machine, &web, &format!("[boards]\nrows = '{rows}'"), 1).await;
        let told = log.lines("matches nothing on a list");
        assert_eq!(told.len(), warnings, "{rows}: {told:?}");
        assert!(told.iter().all(|line| line.contains("WARN")), "{told:?}");
        assert_eq!(
            log.lines("hint: correct the selector").iter().filter(|line| line.contains("/list/")).count(),
            warnings
        );
        assert_eq!(web.asked("/detail/10"), 1, "{rows}: its links are taken all the same");
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_a_line_when_it_begins_and_one_when_it_ends() {
    let (log, _guard) = Log::begin();
    let fronts: String = (1..=30).map(|n| format!("<a href=/list/{n}>list {n}</a>")).collect();
    let mut web = Web::new(Duration::from_millis(10)).at("/", &[page(&fronts)]);
    for n in 1..=30 {
        web = web.at(&format!("/list/{n}"), &[releases(20)]);
    }
    let (from, until) = (Duration::from_secs(3_600), Duration::from_secs(3 * 3_600));
    let (web, machine) = (Arc::new(web.otherwise(details).outage(from, until)), Machine::new());
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_until(&web, &format!("revisit_minutes = 5\n{FAST}"), service, Some(2 * until)).await;
    let paused = log.lines("host is paused");
    assert!(paused.len() == 1 && paused[0].contains("WARN"), "{paused:?}");
    let again = log.lines("host answers again");
    assert!(again.len() == 1 && again[0].contains("lasted_s="), "{again:?}");
}

#[tokio::test(start_paused = true)]
async fn that_nothing_can_be_stored_is_told_at_once_and_once_a_minute_and_so_is_its_end() {
    let (log, _guard) = Log::begin();
    let mut machine = Machine::new();
    machine.on_fault = OnFault::TryAgain(Duration::from_secs(1));
    let web = Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &[torrent()]);
    let web = Arc::new(web);
    let in_the_way = machine.block_archive();
    let mends = async {
        tokio::time::sleep(Duration::from_secs(150)).await;
        std::fs::remove_file(&in_the_way).unwrap();
        machine.store_fault()
    };
    let crawl = machine.crawl(&web, FAST, RunOptions::default());
    let ((ended, progress), told) = tokio::join!(crawl, mends);
    assert_eq!(ended, Ended::Exhausted);
    assert!(told.is_some() && progress.store_fault().is_none(), "{told:?}");
    assert_eq!(log.lines("nothing can be stored: retrying until it works").len(), 3, "at 0, 60 and 120 s");
    assert_eq!(log.lines("storing works again").len(), 1);
    assert_eq!(machine.outcomes().await.get("torrent_stored"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn that_the_file_of_what_was_found_is_another_one_is_a_warning_once() {
    let (log, _guard) = Log::begin();
    let web = Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &[torrent()]);
    let (web, mut machine) = (Arc::new(web), Machine::new());
    let told = || log.lines("update.redb was replaced, or is empty").len();
    machine.update = Some(super::increment::in_memory());
    machine.crawl(&web, FAST, RunOptions::default()).await;
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(told(), 0, "nothing was lost");
    machine.update = Some(super::increment::in_memory());
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(told(), 1);
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(told(), 1, "not again when the site begins anew in this process");
}
