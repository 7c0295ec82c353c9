//! The cost of faulty responses: a URL is only given up for its own faults, and never for one that a retry would have fixed.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::FailureKind;
use gleaner_store::crawldb::Reader;

use super::web::{Answer, FAST, Machine, Web, page, redirect, status, throttled, torrent};

#[tokio::test(start_paused = true)]
async fn a_start_page_that_broke_off_is_read_whole_before_it_is_asked_whether_it_changed() {
    let body = Bytes::from_static(b"<a href=/dl/1>x</a>");
    let broken = Answer::Broken("v1", body.slice(..5));
    let web = Arc::new(
        Web::new(Duration::from_millis(10)).at("/", &[broken, Answer::Versioned("v1", body)]).at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let outcomes = machine.outcomes().await;
    assert_eq!(outcomes.get("torrent_stored"), Some(&1), "{outcomes:?}");
}

#[tokio::test(start_paused = true)]
async fn what_a_mirror_sends_elsewhere_or_cannot_read_is_asked_of_the_first_host() {
    for answer in [redirect("/"), status(405)] {
        let web = Arc::new(
            Web::new(Duration::from_millis(10))
                .at("/", &[page("<a href=/dl/1>x</a>")])
                .at("http://mirror.example/dl/1", &[answer])
                .at("/dl/1", &[torrent()])
                .dead_from("sim.example", Duration::from_millis(1_500), Duration::from_secs(60)),
        );
        let rules = "mirrors = ['http://mirror.example']\n[rate]\nrequests_per_second = 1\nconnections = 1";
        let machine = Machine::new();
        let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
        assert_eq!(ended, Ended::Exhausted);
        let urls = web.urls();
        assert!(urls.iter().any(|(_, url)| url == "http://mirror.example/dl/1"), "{urls:?}");
        let outcomes = machine.outcomes().await;
        assert_eq!(outcomes.get("torrent_stored"), Some(&1), "{outcomes:?} {urls:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_pause_outlives_the_good_answer_that_was_under_way_when_it_began() {
    let links: String = (0..4).map(|n| format!("<a href=/detail/{n}>x</a>")).collect();
    let web = Arc::new(
        Web::new(Duration::from_secs(3))
            .at("/", &[page(&format!("<a href=/dl/1>x</a>{links}"))])
            .at("/dl/1", &[throttled("600"), torrent()])
            .otherwise(|path| path.starts_with("/detail/").then(|| page(""))),
    );
    let machine = Machine::new();
    // The second link is requested a second after the first, and answered a second after the pause began.
    let rules = "lanes = 8\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1\nconnections = 2\nrest_factor = 0";
    let options = RunOptions { pages_max: Some(3), ..RunOptions::default() };
    machine.crawl(&web, rules, options).await;
    let log = web.log();
    assert!(log[2].1 == "/dl/1" && log.len() == 4 && log[3].0 < log[2].0 + 3_000, "{log:?}");
    let host = machine.db.hosts().await.unwrap().remove(0);
    assert_eq!(host.complaints, 1, "the late answer has forgiven the refusal");
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(web.asked("/dl/1"), 2, "{:?}", web.log());
    assert_eq!(machine.outcomes().await.get("torrent_stored"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn a_crawl_waits_for_a_refused_url_though_a_late_answer_was_good_and_nothing_else_is_left() {
    let web = Arc::new(
        Web::new(Duration::from_secs(3))
            .at("/", &[page("<a href=/dl/1>x</a><a href=/detail/1>y</a>")])
            .at("/dl/1", &[throttled("600"), torrent()])
            .at("/detail/1", &[page("")]),
    );
    let machine = Machine::new();
    let rules = "lanes = 64\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1\nconnections = 2\nrest_factor = 0";
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    let log = web.log();
    assert!(log[3].0 < log[2].0 + 3_000, "{log:?}");
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(web.asked("/dl/1"), 2, "{log:?}");
}

#[tokio::test(start_paused = true)]
async fn a_refused_rate_takes_none_of_a_urls_attempts() {
    let refused = throttled("1");
    let fault = Answer::Fail(FailureKind::Truncated);
    let answers = [refused.clone(), refused.clone(), refused.clone(), fault.clone(), refused, fault, torrent()];
    let web =
        Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page("<a href=/dl/1>x</a>")]).at("/dl/1", &answers));
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(web.asked("/dl/1"), 7, "{:?}", web.log());
    assert_eq!(machine.outcomes().await.get("torrent_stored"), Some(&1));
}

#[tokio::test(start_paused = true)]
async fn an_address_that_is_refused_is_recorded_as_such() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[Answer::Fail(FailureKind::AddressRefused)]));
    let machine = Machine::new();
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let outcomes = machine.outcomes().await;
    assert!(outcomes.contains_key("address_refused") && !outcomes.contains_key("connect_failed"), "{outcomes:?}");
}
