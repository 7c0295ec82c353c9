//! What faulty answers cost: a URL is given up for its own faults alone, and for nothing that a retry would have mended.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner::crawl::RunOptions;
use gleaner::crawl::progress::Ended;

use super::web::{Answer, FAST, Machine, Web, page, redirect, status, torrent};

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
