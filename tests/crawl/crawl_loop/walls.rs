//! Runs of alike refusals: the crawl waits in front of a wall and takes everything up again; refusals of single URLs stay theirs.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::ResponseHeaders;

use super::web::{Answer, FAST, Machine, Web, page, redirect, status};

const FILES: usize = 60;

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

/// When the walls of these sites stand.
const FROM: Duration = Duration::from_secs(10);
const UNTIL: Duration = Duration::from_secs(3 * 3_600);

/// A torrent of its own for each download.
fn file(path: &str) -> Option<Answer> {
    let name = path.strip_prefix("/dl/")?;
    let info = format!("d6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae", name.len());
    Some(Answer::Status(200, ResponseHeaders::default(), Bytes::from(format!("d4:info{info}e"))))
}

/// A site of slow downloads, each linked from the start page.
fn web() -> Web {
    let links: String = (0..FILES).map(|n| format!("<a href=/dl/{n}>x</a>")).collect();
    Web::new(Duration::from_secs(2)).at("/", &[page(&links)]).at("/notice", &[page("Read this before you download")])
}

/// This answer stands before the downloads.
fn behind(wall: fn() -> Answer) -> impl Fn(&str, Duration) -> Option<Answer> {
    move |path, at| if (FROM..UNTIL).contains(&at) && path.starts_with("/dl/") { Some(wall()) } else { file(path) }
}

fn forbidden(path: &str, at: Duration) -> Option<Answer> {
    behind(|| status(403))(path, at)
}

fn limit(path: &str, at: Duration) -> Option<Answer> {
    behind(|| page("<title>Limit</title>You have had your 20 downloads of today"))(path, at)
}

fn empty(path: &str, at: Duration) -> Option<Answer> {
    let nothing = || Answer::Status(200, ResponseHeaders::default(), Bytes::new());
    behind(nothing)(path, at)
}

fn notice(path: &str, at: Duration) -> Option<Answer> {
    behind(|| redirect("/notice"))(path, at)
}

#[tokio::test(start_paused = true)]
async fn the_service_waits_for_a_wall_to_fall_and_then_takes_everything() {
    for (name, wall) in [("403", forbidden as fn(&str, Duration) -> _), ("limit", limit), ("notice", notice)] {
        let (web, machine) = (Arc::new(web().meanwhile(wall)), Machine::new());
        let stop = Some(UNTIL + Duration::from_secs(2 * 3_600));
        let (_, progress) = machine.crawl_until(&web, FAST, SERVICE, stop).await;
        assert_eq!(progress.total().torrents, FILES as u64, "{name}: {:?}", machine.outcomes().await);
        let standing = FROM.as_millis() as u64 + 4_000..UNTIL.as_millis() as u64;
        let asked = web.log().iter().filter(|(at, path)| standing.contains(at) && path.starts_with("/dl/")).count();
        assert!((3..40).contains(&asked), "{name}: {asked} requests in front of the wall");
    }
}

#[tokio::test(start_paused = true)]
async fn a_crawl_ends_in_front_of_a_wall_and_the_next_one_takes_up_what_is_left() {
    for (name, wall) in
        [("403", forbidden as fn(&str, Duration) -> _), ("limit", limit), ("empty", empty), ("notice", notice)]
    {
        let machine = Machine::new();
        let web = Arc::new(web().meanwhile(wall));
        let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
        let before = progress.total().torrents;
        let Ended::Refused(told) = &ended else { panic!("{name}: {ended:?}") };
        assert!(told.contains("URLs of classes.download got the same answer: "), "{name}: {told}");
        assert!(before > 0 && before < FILES as u64, "{name}: {before}");
        tokio::time::sleep(UNTIL).await;
        let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
        assert_eq!((ended, before + progress.total().torrents), (Ended::Exhausted, FILES as u64), "{name}");
    }
}

#[tokio::test(start_paused = true)]
async fn downloads_that_were_never_given_come_once_a_person_has_acted() {
    fn ticked_later(path: &str, at: Duration) -> Option<Answer> {
        if at < UNTIL && path.starts_with("/dl/") { Some(redirect("/notice")) } else { file(path) }
    }
    let (web, machine) = (Arc::new(web().meanwhile(ticked_later)), Machine::new());
    let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert!(matches!(&ended, Ended::Refused(told) if told.contains("/notice")), "{ended:?}");
    assert_eq!(progress.total().torrents, 0);
    tokio::time::sleep(UNTIL).await;
    let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((ended, progress.total().torrents), (Ended::Exhausted, FILES as u64));
}

#[tokio::test(start_paused = true)]
async fn refusals_of_single_urls_stay_theirs() {
    fn some(path: &str) -> Option<Answer> {
        let number: usize = path.strip_prefix("/dl/")?.parse().ok()?;
        if number.is_multiple_of(6) { Some(status(403)) } else { file(path) }
    }
    let (web, machine) = (Arc::new(web().otherwise(some)), Machine::new());
    let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((ended, progress.total().torrents), (Ended::Exhausted, FILES as u64 * 5 / 6));
    let outcomes = machine.outcomes().await;
    assert!(!outcomes.contains_key("walled") && outcomes["denied"] >= FILES as u64 / 6, "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn attachments_that_are_no_torrents_are_no_wall() {
    fn attachment(path: &str) -> Option<Answer> {
        let number: usize = path.strip_prefix("/dl/")?.parse().ok()?;
        let picture = Bytes::from_static(b"\x89PNG\r\n\x1a\n0000000000000000");
        if number < 40 { Some(Answer::Status(200, ResponseHeaders::default(), picture)) } else { file(path) }
    }
    let (web, machine) = (Arc::new(web().otherwise(attachment)), Machine::new());
    let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((ended, progress.total().torrents), (Ended::Exhausted, FILES as u64 - 40));
}

#[tokio::test(start_paused = true)]
async fn a_notice_page_that_the_rules_accept_is_a_wall_for_the_service_too() {
    fn noticed(path: &str, at: Duration) -> Option<Answer> {
        match path.strip_prefix("/dl/") {
            Some(_) if at < UNTIL => Some(redirect("/look/notice")),
            _ => file(path),
        }
    }
    let web = web().at("/look/notice", &[page("Read this before you download")]).meanwhile(noticed);
    let (web, machine) = (Arc::new(web), Machine::new());
    let stop = Some(UNTIL + Duration::from_secs(2 * 3_600));
    let (_, progress) = machine.crawl_until(&web, FAST, SERVICE, stop).await;
    assert_eq!(progress.total().torrents, FILES as u64, "{:?}", machine.outcomes().await);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_is_stopped_amid_refusals_leaves_them_to_the_next() {
    let machine = Machine::new();
    let web = Arc::new(web().meanwhile(forbidden));
    let few = RunOptions { pages_max: Some(20), ..RunOptions::default() };
    let (ended, progress) = machine.crawl(&web, FAST, few).await;
    assert!(matches!(ended, Ended::Budget(_)), "{ended:?}");
    let before = progress.total().torrents;
    tokio::time::sleep(UNTIL).await;
    let (ended, progress) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((ended, before + progress.total().torrents), (Ended::Exhausted, FILES as u64));
}
