//! The real loop over a small simulated web, in virtual time: politeness, resumption and the result of each response.

mod alarms;
mod boards;
mod clocks;
mod days;
mod drift;
mod faults;
mod forum;
mod fresh;
mod guesses;
mod guests;
mod increment;
mod killed;
mod lean;
mod leased;
mod lists;
mod logins;
mod looks;
mod manners;
mod members;
mod shares;
mod threads;
mod told;
mod tours;
mod traps;
mod unread;
mod walls;
mod web;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::commit::OnFault;
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;
use gleaner_crawl::{CrawlError, RunOptions};
use gleaner_net::fetch::{FailureKind, ResponseHeaders};
use gleaner_store::crawldb::{CrawlDb, Outcome, Reader};

use crate::sim::plan::StoreFault;
use crate::sim::store::{Record, Watched};
use crate::sim::wire::SimClock;
use web::{Answer, FAST, Machine, TORRENT, Web, page, redirect, site_rules, status, throttled, torrent};

/// The cases of a test that crawls for hours or days with each: the `usual` first ones, or `GLEANER_CRAWL_CASES` if that is more.
fn cases<T>(usual: u64, all: impl IntoIterator<Item = T>) -> impl Iterator<Item = T> {
    all.into_iter().take(usual.max(crate::number("GLEANER_CRAWL_CASES", 0)) as usize)
}

#[tokio::test(start_paused = true)]
async fn requests_keep_the_interval_and_the_connections_of_the_rule_file() {
    let links: String = (0..20).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_millis(900)).at("/", &[page(&links)]));
    let rules = "lanes = 8\nlane_key = 'elf'\n[rate]\nrequests_per_second = 4\nconnections = 3";
    let (ended, _) = Machine::new().crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let log = web.log();
    assert_eq!(log.len(), 22, "robots.txt, the start page and 20 links");
    for pair in log.windows(2) {
        assert!(pair[1].0 - pair[0].0 >= 250, "{pair:?} are closer than 250 ms");
    }
    assert!(web.under_way.lock().unwrap().1 <= 3, "more than 3 connections");
}

#[tokio::test(start_paused = true)]
async fn connections_that_a_rule_file_allows_are_used() {
    let links: String = (0..40).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_millis(900)).at("/", &[page(&links)]));
    let rules = "[rate]\nrequests_per_second = 1000000\nconnections = 4";
    let (ended, _) = Machine::new().crawl(&web, rules, RunOptions::default()).await;
    assert_eq!((ended, web.under_way.lock().unwrap().1), (Ended::Exhausted, 4));
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_asked_first_and_what_it_closes_is_not_fetched() {
    let robots = Answer::Status(
        200,
        ResponseHeaders::default(),
        Bytes::from_static(b"User-agent: gleaner\nDisallow: /detail/\nCrawl-delay: 2\n"),
    );
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/robots.txt", &[robots])
            .at("/", &[page("<a href=/detail/1>x</a><a href=/dl/1>y</a><a href=/dl/2>z</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let log = web.log();
    assert_eq!(log[0].1, "/robots.txt");
    assert_eq!(web.asked("/detail/1"), 0);
    assert!(log[2].0 - log[1].0 >= 2_000, "the crawl delay is not kept: {log:?}");
    assert_eq!(machine.outcomes().await["robots_denied"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_robots_txt_that_fails_closes_the_site_until_it_answers() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/robots.txt", &[status(500), Answer::Fail(FailureKind::TimedOut), status(404)])
            .at("/", &[page("")]),
    );
    let (ended, _) = Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let paths: Vec<_> = web.log().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["/robots.txt", "/robots.txt", "/robots.txt", "/"]);
}

#[tokio::test(start_paused = true)]
async fn robots_txt_is_overridden_only_with_a_reason() {
    let closed = Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(b"User-agent: *\nDisallow: /\n"));
    let web = Arc::new(Web::new(Duration::ZERO).at("/robots.txt", &[closed]).at("/", &[page("")]));
    let rules = format!("robots = {{ obey = false, reason = 'own server' }}\n{FAST}");
    Machine::new().crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(web.asked("/"), 1);
    assert_eq!(web.asked("/robots.txt"), 0);
}

#[tokio::test(start_paused = true)]
async fn retry_after_silences_the_whole_host_and_the_url_is_asked_again() {
    for connections in [1, 4] {
        let links: String = (0..10).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
        let web = Arc::new(
            Web::new(Duration::from_millis(250))
                .at("/", &[page(&links)])
                .at("/detail/0", &[throttled("120"), page("")])
                .at("/detail/9", &[page("")]),
        );
        let rules = format!("[rate]\nrequests_per_second = 10\nconnections = {connections}");
        let machine = Machine::new();
        let (ended, _) = machine.crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!(ended, Ended::Exhausted);
        let log = web.log();
        let told_at = log.iter().find(|(_, path)| path == "/detail/0").unwrap().0 + 250;
        let next = log.iter().find(|(at, _)| *at > told_at).unwrap().0;
        assert!(next >= told_at + 120_000, "{connections} connections: {next} ms, told to wait 120 s at {told_at} ms");
        assert_eq!(web.asked("/detail/0"), 2);
        assert_eq!(machine.outcomes().await["throttled"], 1);
        assert_eq!(web.asked("/detail/9"), 1);
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_outlives_the_process() {
    let web = Arc::new(
        Web::new(Duration::from_millis(50))
            .at("/", &[throttled("600"), page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl_until(&web, FAST, RunOptions::default(), Some(Duration::from_secs(5))).await;
    assert_eq!(ended, Ended::Stopped);
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let again = web.log().iter().filter(|(_, path)| path == "/").nth(1).unwrap().0;
    assert!(again >= 600_000, "asked again after {again} ms");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_does_not_answer_ends_the_crawl_and_loses_nothing() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/detail/1>x</a>")])
            .at("/detail/1", &[Answer::Fail(FailureKind::Connect)]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert!(matches!(ended, Ended::Unreachable(_)), "{ended:?}");
    assert_eq!(machine.db.site_counts("sim").await.unwrap().urls_queued, 2, "it, and the next look at the start page");
    // The host is back: the next crawl fetches what was queued.
    let web = Arc::new(
        Web::new(Duration::from_millis(10)).at("/detail/1", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &[torrent()]),
    );
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_fault_of_the_server_is_tried_again_four_times_in_all() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/detail/1>x</a><a href=/detail/2>y</a>")])
            .at("/detail/1", &[status(500)])
            .at("/detail/2", &[status(502), page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(web.asked("/detail/1"), 4);
    assert_eq!(web.asked("/detail/2"), 2);
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_budget_ends_the_run_and_the_next_run_goes_on_without_asking_twice() {
    let links: String = (0..30).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links)]));
    let machine = Machine::new();
    let options = RunOptions { pages_max: Some(8), ..RunOptions::default() };
    let (ended, _) = machine.crawl(&web, FAST, options).await;
    assert!(matches!(ended, Ended::Budget(_)), "{ended:?}");
    assert_eq!(web.log().iter().filter(|(_, path)| path != "/robots.txt").count(), 8);
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    for n in 0..30 {
        assert_eq!(web.asked(&format!("/detail/{n}")), 1, "/detail/{n}");
    }
    assert_eq!(web.asked("/"), 1, "the start page is fresh");
}

/// The minutes at which the service looked at a start page in the 25 after its start, whose second view had the first link.
async fn minutes_of_looks(policy: &str) -> Vec<u64> {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page(""), page("<a href=/dl/1>new</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let rules = format!("revisit_minutes = 10\nboards.schedule = '{policy}'\n{FAST}");
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let (ended, progress) = machine.crawl_until(&web, &rules, options, Some(Duration::from_secs(1_500))).await;
    assert_eq!(ended, Ended::Stopped);
    assert_eq!((web.asked("/dl/1"), progress.total().torrents), (1, 1));
    web.log().into_iter().filter(|(_, path)| path == "/").map(|(at, _)| at / 60_000).collect()
}

#[tokio::test(start_paused = true)]
async fn the_service_looks_at_start_pages_again_and_finds_what_is_new() {
    let even = minutes_of_looks("era").await;
    assert!(even.len() == 3 && even[1] <= 10 && even[2] == even[1] + 10, "{even:?}");
    // What has just brought a link is looked at more often, by visits borrowed from the days that follow.
    let looks = minutes_of_looks("gleaner").await;
    assert!(looks[0] == 0 && looks[1] <= 10 && (3..=12).contains(&looks.len()), "{looks:?}");
}

#[tokio::test(start_paused = true)]
async fn every_answer_ends_as_the_outcome_that_names_it() {
    let html_as_torrent = Answer::Status(
        200,
        ResponseHeaders { content_type: Some("application/x-bittorrent".to_owned()), ..ResponseHeaders::default() },
        Bytes::from_static(b"<html><body>please log in</body></html>"),
    );
    let binary =
        Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(b"\x89PNG\r\n\x1a\n0000000000000000"));
    let cases: [(&str, Answer, Outcome); 15] = [
        ("/dl/torrent", torrent(), Outcome::TorrentStored),
        ("/dl/again", torrent(), Outcome::TorrentDuplicate),
        ("/dl/html", html_as_torrent, Outcome::HtmlPosingAsTorrent),
        ("/dl/binary", binary, Outcome::NotForUs),
        ("/dl/empty", status(200), Outcome::NotForUs),
        (
            "/dl/cut",
            Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(&TORRENT[..50])),
            Outcome::MalformedTorrent,
        ),
        ("/dl/gone", status(410), Outcome::Gone),
        ("/dl/denied", status(403), Outcome::Denied),
        ("/dl/teapot", status(418), Outcome::ClientError),
        ("/dl/unchanged", status(304), Outcome::ProtocolError),
        ("/dl/moved", redirect("/dl/torrent"), Outcome::Redirected),
        ("/dl/away", redirect("http://other.example/dl/1"), Outcome::RedirectRefused),
        ("/dl/nowhere", redirect("http://"), Outcome::BadRedirect),
        ("/dl/circle", redirect("/dl/circle"), Outcome::RedirectLoop),
        ("/dl/tls", Answer::Fail(FailureKind::Protocol), Outcome::ProtocolError),
    ];
    let links: String = cases.iter().map(|(path, ..)| format!("<a href='{path}'>x</a>")).collect();
    let mut web = Web::new(Duration::from_millis(10)).at("/", &[page(&links)]);
    for (path, answer, _) in &cases {
        web = web.at(path, std::slice::from_ref(answer));
    }
    let machine = Machine::new();
    // One lane: visits follow the order of the links.
    let (ended, _) =
        machine.crawl(&Arc::new(web), "[rate]\nrequests_per_second = 1000000", RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let host = machine.db.host_id("sim", "http://sim.example").await.unwrap();
    for (path, _, outcome) in cases {
        let key = gleaner_store::crawldb::UrlKey { host, path: path.into() };
        let record = machine.db.url_record(&key).await.unwrap().unwrap();
        assert_eq!(record.outcome, Some(outcome), "{path}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_cookie_check_that_leads_back_to_the_same_url_is_followed() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[redirect("/"), page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn every_source_of_a_torrent_is_kept() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/detail/1>x</a><a href=/dl/2>y</a>")])
            .at("/detail/1", &[page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()])
            .at("/dl/2", &[torrent()]),
    );
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let rows = machine.db.torrents(None, 10).await.unwrap();
    assert_eq!(rows.len(), 1);
    let sources: Vec<_> = rows[0].sources.iter().map(|source| (&*source.url, source.via.as_deref().unwrap())).collect();
    let expected = [
        ("http://sim.example/dl/1", "http://sim.example/detail/1"),
        ("http://sim.example/dl/2", "http://sim.example/"),
    ];
    assert_eq!(sources, expected);
    assert!(machine.archive.contains(&rows[0].facts.infohashes));
}

#[tokio::test(start_paused = true)]
async fn what_the_rules_refused_is_fetched_once_they_take_it() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/detail/1>x</a><a href=/detail/2>y</a>")])
            .at("/detail/1", &[page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let options = RunOptions { pages_max: Some(1), ..RunOptions::default() };
    machine.crawl(&web, FAST, options).await;
    // The links are queued; now a mistake in the rules refuses them.
    let denying = format!("deny = ['^/detail/']\n{FAST}");
    let (ended, _) = machine.crawl(&web, &denying, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(machine.outcomes().await["rules_refused"], 2);
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn what_robots_txt_closed_is_fetched_once_it_opens() {
    let robots =
        |text: &'static str| Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(text.as_bytes()));
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/robots.txt", &[robots("User-agent: *\nDisallow: /"), robots("User-agent: *\nDisallow:")])
            .at("/", &[page("<a href=/dl/1>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(web.asked("/"), 0);
    assert_eq!(machine.outcomes().await["robots_denied"], 1);
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_dead_host_does_not_end_the_crawl_of_the_others() {
    let links: String = (0..50).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let body = format!("<a href=http://dead.example/detail/1>x</a>{links}");
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&body)]).dead("dead.example"));
    let machine = Machine::new();
    let rules = "hosts = ['sim.example', 'dead.example']\n[rate]\nrequests_per_second = 0.2";
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert!(matches!(&ended, Ended::Unreachable(why) if why.contains("dead.example")), "{ended:?}");
    for n in 0..50 {
        assert_eq!(web.asked(&format!("/detail/{n}")), 1, "/detail/{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_url_that_is_refused_for_ever_does_not_keep_the_crawl_for_ever() {
    let links: String = (0..5).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page(&format!("<a href=/detail/99>y</a>{links}"))])
            .at("/detail/99", &[status(503)]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, "[rate]\nrequests_per_second = 10", RunOptions::default()).await;
    assert!(matches!(ended, Ended::Unreachable(_) | Ended::Exhausted), "{ended:?}");
    assert_eq!(web.asked("/detail/4"), 1, "the others are fetched");
    assert!(web.asked("/detail/99") <= 12);
}

#[tokio::test(start_paused = true)]
async fn an_outage_costs_no_url() {
    let links: String = (0..40).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Web::new(Duration::from_millis(10)).at("/", &[page(&links)]);
    let web = Arc::new(web.outage(Duration::from_secs(3), Duration::from_secs(12)));
    let machine = Machine::new();
    let rules = "[rate]\nrequests_per_second = 10\nconnections = 1";
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let outcomes = machine.outcomes().await;
    assert_eq!(outcomes["gone"], 40, "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn no_url_is_fetched_twice_while_its_host_pauses_longer_than_a_lease_lasts() {
    let links: String = (0..30).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(
        Web::new(Duration::from_millis(10)).at("/", &[page(&links)]).at("/detail/3", &[throttled("1800"), status(404)]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, "[rate]\nrequests_per_second = 10", RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    for n in 0..30 {
        assert_eq!(web.asked(&format!("/detail/{n}")), 1 + usize::from(n == 3), "/detail/{n}");
    }
}

#[tokio::test(start_paused = true)]
async fn visits_broken_off_by_a_stop_give_their_connections_and_leases_back() {
    let web =
        Arc::new(Web::new(Duration::from_secs(60)).at("/", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &[torrent()]));
    let machine = Machine::new();
    let (ended, _) = machine.crawl_until(&web, FAST, RunOptions::default(), Some(Duration::from_secs(90))).await;
    assert_eq!(ended, Ended::Stopped);
    let before = tokio::time::Instant::now();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert!(before.elapsed() < Duration::from_secs(300), "the lease of the broken visit was waited for");
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_that_is_cut_off_leaves_no_lease_to_the_next_of_its_process() {
    let links: String = (0..20).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_secs(1)).at("/", &[page(&links)]));
    let machine = Machine::new();
    let rules = "[rate]\nrequests_per_second = 1";
    let life = machine.crawl(&web, rules, RunOptions::default());
    assert!(tokio::time::timeout(Duration::from_secs(10), life).await.is_err());
    let before = tokio::time::Instant::now();
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert!(before.elapsed() < Duration::from_secs(300), "the leases of the first crawl were waited for");
    assert_eq!(machine.outcomes().await["gone"], 20);
}

#[tokio::test(start_paused = true)]
async fn a_site_whose_store_fails_ends_once_all_it_has_sent_is_on_disk() {
    let links: String = (0..20).map(|n| format!("<a href=/dl/{n}>x</a>")).collect();
    let web = Web::new(Duration::from_secs(1)).at("/", &[page(&links)]).at("/dl/0", &[torrent()]);
    let (web, mut machine) = (Arc::new(web), Machine::new());
    machine.on_fault = OnFault::TryAgain(Duration::from_secs(1));
    let in_the_way = machine.block_archive();
    let fault = StoreFault { call: "lease_due", nth: 3, times: 1, behind: false };
    let record = Arc::new(Record::new(Arc::new(SimClock::new(Vec::new())), 0, vec![fault]));
    let site = || {
        let db = Watched { db: machine.db.clone(), record: Arc::clone(&record) };
        let rules = site_rules("[rate]\nrequests_per_second = 1");
        Site::new(rules, web.transport(machine.start), machine.clock(), Arc::new(db))
    };
    let mends = async {
        tokio::time::sleep(Duration::from_secs(100)).await;
        assert!(machine.store_fault().is_some());
        std::fs::remove_file(&in_the_way).unwrap();
        web.log().len()
    };
    let ((ended, _), asked) = tokio::join!(machine.crawl_site(site(), RunOptions::default(), None, None), mends);
    assert!(matches!(ended, Err(CrawlError::Database(_))), "{ended:?}");
    assert_eq!(record.failed.load(Ordering::Relaxed), 1);
    assert_eq!(web.log().len(), asked, "{:?}", web.log());
    let before = tokio::time::Instant::now();
    let (ended, _) = machine.crawl_site(site(), RunOptions::default(), None, None).await;
    assert_eq!(ended.unwrap(), Ended::Exhausted);
    assert!(before.elapsed() < Duration::from_secs(300), "the leases of the first crawl were waited for");
    assert_eq!((web.asked("/"), web.asked("/dl/0"), web.asked("/dl/19")), (1, 1, 1));
}

#[tokio::test(start_paused = true)]
async fn a_start_page_that_redirects_is_looked_at_again_where_it_is() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[redirect("/list/1")])
            .at("/list/1", &[page(""), page("<a href=/dl/1>new</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let rules = format!("revisit_minutes = 10\n{FAST}");
    machine.crawl(&web, &rules, RunOptions::default()).await;
    tokio::time::sleep(Duration::from_secs(700)).await;
    machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_does_not_wait_for_the_looks_that_the_service_has_planned() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/detail/1>x</a>")]));
    let machine = Machine::new();
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_until(&web, FAST, service, Some(Duration::from_secs(5))).await;
    let begun = tokio::time::Instant::now();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!(web.asked("/"), 1);
}

#[tokio::test(start_paused = true)]
async fn what_is_told_as_queued_at_the_end_is_what_the_next_crawl_finds_queued() {
    let robots =
        |text: &'static str| Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(text.as_bytes()));
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/robots.txt", &[robots("User-agent: *\nDisallow: /"), robots("User-agent: *\nDisallow:")])
            .at("/", &[page("<a href=/dl/1>x</a><a href=/dl/2>y</a>")]),
    );
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let options = RunOptions { pages_max: Some(1), ..RunOptions::default() };
    let (_, progress) = machine.crawl(&web, FAST, options).await;
    assert_eq!(machine.db.site_counts("sim").await.unwrap().urls_queued, 3, "and the next look");
    assert_eq!(progress.total().queued, 3);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_whose_committer_has_ended_ends_though_it_waits_for_a_host() {
    let links: String = (0..10).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_secs(1)).at("/", &[page(&links)]).at("/detail/0", &[throttled("7200")]));
    // One second each for robots.txt, the start page and the refusal, whose commit would start a fifth of a second later.
    let rules = "[rate]\nrequests_per_second = 1000000\nconnections = 1\nrest_factor = 0";
    let (options, committing) = (RunOptions::default(), Some(Duration::from_millis(3_100)));
    let machine = Machine::new();
    let crawl = machine.crawl_while_committing(&web, rules, options, None, committing);
    let (ended, _) = tokio::time::timeout(Duration::from_secs(60), crawl).await.expect("it ends");
    assert!(matches!(ended, Err(CrawlError::CommitterGone)), "{ended:?}");
    assert_eq!(web.asked("/detail/0"), 1);
}

#[tokio::test(start_paused = true)]
async fn other_rules_have_the_start_page_read_again_at_once() {
    let web =
        Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &[page("")]));
    let machine = Machine::new();
    let narrow = format!("deny = ['^/dl']\n{FAST}");
    machine.crawl(&web, &narrow, RunOptions::default()).await;
    machine.crawl(&web, &narrow, RunOptions::default()).await;
    assert_eq!((web.asked("/"), web.asked("/dl/1")), (1, 0), "it is looked at again at its interval");
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((web.asked("/"), web.asked("/dl/1")), (2, 1));
}
