//! `--enumerate`: numbers between the known ones of a site's torrents are asked for at its end, within its rules, and leave no trace where nothing is.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_store::coverage::{self, SiteCoverage};
use gleaner_store::crawldb::{Outcome, Reader};

use super::web::{Answer, FAST, Machine, Web, page, status};

const SITE: &str = "sim";

/// A torrent of its own for each number.
fn file(number: u64) -> Answer {
    let info = format!("d6:lengthi{number}e4:name1:a12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaae");
    Answer::Status(200, ResponseHeaders::default(), Bytes::from(format!("d4:info{info}e")))
}

/// Of the numbers up to 300 a third is listed, another third is there and on no list, and the last was deleted.
fn answer(path: &str) -> Option<Answer> {
    let number: u64 = path.strip_prefix("/dl/")?.parse().ok()?;
    Some(if number % 3 < 2 && number <= 300 { file(number) } else { status(404) })
}

/// A list that is capped, and states its size.
fn web() -> Web {
    let rows: String = (1..=300)
        .filter(|id: &u64| id.is_multiple_of(3) || *id == 1)
        .map(|id| format!("<a href=/dl/{id}>x</a>"))
        .collect();
    let list = format!("<p>Displaying results 1-101 out of 200 results.</p>{rows}");
    Web::new(Duration::from_millis(10)).at("/", &[page(&list)]).otherwise(answer)
}

fn enumerate(asks: u64) -> RunOptions {
    RunOptions { enumerate: Some(asks), ..RunOptions::default() }
}

async fn told(machine: &Machine) -> SiteCoverage {
    coverage::of_site(machine.db.as_ref(), SITE).await.unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_sample_of_the_gaps_estimates_what_no_list_shows() {
    let (web, machine) = (Arc::new(web()), Machine::new());
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let before = told(&machine).await;
    assert_eq!((before.stated.stated, before.ni.listed_links), (Some(200), 101), "{:?}", before.stated);
    assert!(before.stated.stated_is_more && before.cr == Some(1.0), "what is stated is told beside");
    let gaps = &before.ids[0];
    assert_eq!((gaps.known, gaps.first, gaps.last, gaps.unknown), (101, 1, 300, 199));
    assert_eq!((gaps.torrents, gaps.torrents_low, gaps.torrents_high), (None, 0, 199));
    let asked = web.log().len();

    let (ended, _) = machine.crawl(&web, FAST, enumerate(60)).await;
    assert_eq!(ended, Ended::Exhausted);
    let after = told(&machine).await;
    let gaps = &after.ids[0];
    assert!((50..=60).contains(&gaps.asked) && gaps.answered > 10, "{gaps:?}");
    assert!(gaps.known == 101 + gaps.answered && after.ci == gaps.known, "what is found is harvested: {gaps:?}");
    let left = 99 - gaps.answered;
    assert!((gaps.torrents_low..=gaps.torrents_high).contains(&left), "{left} are left: {gaps:?}");
    assert_eq!((after.nt.invalid, after.cr, after.ni.listed_stored), (0, Some(1.0), 101), "no list has lost anything");
    let counts = machine.db.site_counts(SITE).await.unwrap();
    assert_eq!((counts.urls_gone, counts.of(Outcome::Gone)), (0, 0));
    let log: Vec<String> = web.log().into_iter().skip(asked).map(|(_, path)| path).collect();
    assert!(log.len() as u64 <= 7 + 60 && log.iter().all(|path| web.asked(path) <= 2), "{log:?}");

    // All that is left: what was asked for in vain is not asked for again.
    machine.crawl(&web, FAST, enumerate(10_000)).await;
    let all = told(&machine).await;
    assert_eq!((all.ids[0].known, all.ids[0].torrents_high, all.ci), (200, 0, 200), "{:?}", all.ids[0]);
    let vain = (1..=300_u64).filter(|id| id % 3 == 2).map(|id| web.asked(&format!("/dl/{id}")));
    assert!(vain.clone().all(|asked| asked <= 1), "{:?}", vain.collect::<Vec<_>>());
}

/// Pages of torrents: a third is listed, a third is there and on no list; the others are answered with 200, "no such torrent", and three torrents
/// drawn at random, which every page has.
fn softly(path: &str) -> Option<Answer> {
    if let Some(number) = path.strip_prefix("/dl/") {
        return number.parse().ok().map(file);
    }
    let number: u64 = path.strip_prefix("/detail/")?.parse().ok()?;
    let beside: String =
        (0..3).map(|nth| format!("<a href=/dl/{}>x</a>", 1_000 + (number * 7 + nth * 131) % 997)).collect();
    let own = if number % 3 < 2 && number <= 300 {
        format!("<a href=/dl/{number}>get</a>")
    } else {
        "No such torrent".to_owned()
    };
    Some(page(&format!("{own}{beside}")))
}

#[tokio::test(start_paused = true)]
async fn a_page_for_what_is_missing_with_torrents_at_random_is_none() {
    let rows: String =
        (1..=300).filter(|id: &u64| id.is_multiple_of(3)).map(|id| format!("<a href=/detail/{id}>x</a>")).collect();
    let (web, machine) =
        (Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&rows)]).otherwise(softly)), Machine::new());
    machine.crawl(&web, FAST, RunOptions::default()).await;
    machine.crawl(&web, FAST, enumerate(60)).await;
    let guesses = machine.stands().guesses.unwrap();
    let of_shape = guesses.shape.as_deref().unwrap_or_default();
    assert!(of_shape.ends_with("/detail/{id}"), "{guesses:?}");
    let there = (1..=300_u64).filter(|id| id % 3 == 1 && web.asked(&format!("/detail/{id}")) > 0).count() as u64;
    assert!(there > 10 && guesses.nothing > 10, "{there} of {guesses:?}");
    assert_eq!(guesses.torrents, there, "{guesses:?}");
}

#[tokio::test(start_paused = true)]
async fn guesses_keep_to_the_rules_and_never_act_for_an_account() {
    let robots = Answer::Status(
        200,
        ResponseHeaders::default(),
        Bytes::from_static(b"User-agent: *\nDisallow: /dl/11$\nDisallow: /dl/13$\n"),
    );
    let (web, machine) = (Arc::new(web().at("/robots.txt", &[robots])), Machine::new());
    let rules = format!("{FAST}\nrequests_per_day = 150");
    machine.crawl(&web, &rules, enumerate(300)).await;
    let of_day = web.log().iter().filter(|(at, _)| *at < 3_600_000).count();
    assert!((110..=151).contains(&of_day), "{of_day} requests of a budget of 150");
    assert_eq!((web.asked("/dl/11"), web.asked("/dl/13")), (0, 0));
    assert_eq!(machine.outcomes().await.get("robots_denied"), None);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_guessed_in_the_name_of_an_account() {
    let (web, machine) = (Arc::new(web()), Machine::new());
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let asked = web.log().len();
    let login = format!("login = {{ user = 'u', page = 'http://sim.example/login' }}\n{FAST}");
    let (_, _) = machine.crawl_until(&web, &login, enumerate(50), Some(Duration::from_secs(3_600))).await;
    let guessed = web.log().into_iter().skip(asked).filter(|(_, path)| path.starts_with("/dl/")).count();
    assert_eq!(guessed, 0);
    let guesses = machine.stands().guesses.unwrap();
    assert!(guesses.asked == 0 && guesses.why.is_some(), "{guesses:?}");
}

#[tokio::test(start_paused = true)]
async fn a_site_that_refuses_guesses_is_not_asked_for_more() {
    let refuses = |path: &str| {
        let number: u64 = path.strip_prefix("/dl/")?.parse().ok()?;
        Some(if number.is_multiple_of(3) || number == 1 { file(number) } else { status(403) })
    };
    let (web, machine) = (Arc::new(web().otherwise(refuses)), Machine::new());
    let (ended, _) = machine.crawl(&web, FAST, enumerate(100)).await;
    assert_eq!(ended, Ended::Exhausted);
    let guesses = machine.stands().guesses.unwrap();
    assert!((5..20).contains(&guesses.asked) && guesses.asked == guesses.unanswered, "{guesses:?}");
    assert!(guesses.why.is_some());
    let found = told(&machine).await;
    assert_eq!((found.ids[0].asked, found.cr), (0, Some(1.0)), "a refusal says nothing");
    assert_eq!(machine.outcomes().await.get("denied"), None);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_ends_before_says_that_nothing_was_guessed() {
    let (web, machine) = (Arc::new(web()), Machine::new());
    let options = RunOptions { pages_max: Some(20), ..enumerate(5) };
    machine.crawl(&web, FAST, options).await;
    let guesses = machine.stands().guesses.unwrap();
    assert!(guesses.asked == 0 && guesses.why.is_some_and(|why| why.contains("ended before")));
}
