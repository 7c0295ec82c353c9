//! Details that show no more than the rows of their lists are left out, and asked after all once one shows more.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;

use super::shares::{number, torrent};
use super::web::{Answer, Machine, Web, page, status};

const ROWS: u64 = 20;
const LISTS: u64 = 15;
const THINGS: u64 = ROWS * LISTS;

/// From here on each detail links a second torrent, which no list shows.
const RICH_FROM: u64 = 200;

/// Lists whose rows link a thing and its torrent. The torrent of every 50th thing does not exist.
fn plain(path: &str) -> Option<Answer> {
    site(path, false)
}

fn rich(path: &str) -> Option<Answer> {
    site(path, true)
}

/// As `plain`, but every tenth thing is closed, with its torrent.
fn closed(path: &str) -> Option<Answer> {
    let is_closed = number(path) % 10 == 3 && (path.starts_with("/dl/") || path.starts_with("/thing/"));
    if is_closed { Some(status(403)) } else { site(path, false) }
}

fn site(path: &str, rich: bool) -> Option<Answer> {
    let own = number(path);
    Some(if path == "/" || path.starts_with("/list?") {
        let own = own.max(1);
        let row = |at: u64| format!("<a href='/thing/{at}'>thing</a> <a href='/dl/{at}'>file</a><br>");
        let rows: String = ((own - 1) * ROWS..own * ROWS).map(row).collect();
        let next = if own < LISTS { format!("<a href='/list?page={}'>next</a>", own + 1) } else { String::new() };
        page(&format!("{rows}{next}"))
    } else if path.starts_with("/dl/") && own % 50 != 7 {
        torrent(own)
    } else if path.starts_with("/thing/") {
        let more = format!("<a href='/dl/{}'>more</a>", own + 10_000);
        let more = if rich && own >= RICH_FROM { more } else { String::new() };
        page(&format!("<h1>{own}</h1><a href='/dl/{own}'>file</a>{more}"))
    } else {
        return None;
    })
}

/// Requests of details, outcomes and torrents of a crawl.
async fn crawl(site: fn(&str) -> Option<Answer>, more: &str) -> (u64, BTreeMap<&'static str, u64>, u64) {
    let text = format!(
        "start = ['http://sim.example/']\n[rate]\nrequests_per_second = 20\nconnections = 1\n[budget]\ntraps = true\n{more}\n[classes]\ndownload = ['^/dl/']\nindex = ['^/$', '^/list[?]']\ndetail = ['^/thing/']\n"
    );
    let rules = gleaner_rules::from_text("sim", &text).unwrap();
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(site));
    let machine = Machine::new();
    let site = Site::new(rules, web.transport(machine.start), machine.clock(), machine.db.clone());
    let (ended, progress) = machine.crawl_site(site, RunOptions::default(), None, None).await;
    assert_eq!(ended.unwrap(), Ended::Exhausted);
    let details = web.log().iter().filter(|(_, path)| path.starts_with("/thing/")).count() as u64;
    (details, machine.outcomes().await, progress.total().torrents)
}

#[tokio::test(start_paused = true)]
async fn details_of_stored_torrents_are_left_out_once_enough_showed_nothing() {
    let (details, outcomes, torrents) = crawl(plain, "").await;
    assert_eq!(torrents, THINGS - THINGS / 50);
    // Forty, one of ten, and those whose torrent is gone.
    assert!((THINGS / 10..=THINGS / 3).contains(&details), "{details}: {outcomes:?}");
    assert_eq!(outcomes["left_out"], THINGS - details, "{outcomes:?}");

    let (details, outcomes, _) = crawl(plain, "lean = false").await;
    assert_eq!((details, outcomes.get("left_out")), (THINGS, None));
}

#[tokio::test(start_paused = true)]
async fn what_was_left_out_is_asked_once_a_detail_shows_more() {
    let (details, outcomes, torrents) = crawl(rich, "").await;
    let (lists, more) = (THINGS - THINGS / 50, (THINGS - RICH_FROM) * 49 / 50);
    assert_eq!(torrents, lists + more, "{details}: {outcomes:?}");
}

/// The URL that tells a wall from refusals of single URLs is a detail that would be left out.
#[tokio::test(start_paused = true)]
async fn refused_details_among_those_left_out_are_no_wall() {
    let (_, outcomes, torrents) = crawl(closed, "").await;
    assert_eq!(torrents, THINGS - THINGS / 50 - THINGS / 10, "{outcomes:?}");
    assert!(outcomes["left_out"] > 100 && outcomes["denied"] >= 2 * THINGS / 10, "{outcomes:?}");
}
