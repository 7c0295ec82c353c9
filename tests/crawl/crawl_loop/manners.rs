//! Politeness of the crawl to the servers.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_store::crawldb::{CrawlDb, Reader};

use super::web::{Answer, FAST, Machine, Web, page, redirect, status, throttled, torrent};

const SERVICE: RunOptions = RunOptions { pages_max: None, time_max: None, keep_looking: true, enumerate: None };

fn text(body: &str) -> Answer {
    Answer::Status(200, ResponseHeaders::default(), Bytes::copy_from_slice(body.as_bytes()))
}

fn links(paths: impl Iterator<Item = String>) -> String {
    paths.map(|path| format!("<a href='{path}'>x</a>")).collect()
}

/// Times between the starts of consecutive requests, in milliseconds.
fn gaps(web: &Web) -> Vec<u64> {
    web.log().windows(2).map(|pair| pair[1].0 - pair[0].0).collect()
}

#[tokio::test(start_paused = true)]
async fn a_connection_rests_as_long_as_the_server_took_to_answer() {
    let web =
        Arc::new(Web::new(Duration::from_secs(3)).at("/", &[page(&links((0..5).map(|n| format!("/detail/{n}"))))]));
    let rules = "[rate]\nrequests_per_second = 2\nconnections = 1\nrest_factor = 2";
    Machine::new().crawl(&web, rules, RunOptions::default()).await;
    // Three seconds of response time, six of rest.
    assert!(gaps(&web).iter().all(|gap| *gap >= 9_000), "{:?}", gaps(&web));
    assert_eq!(web.log().len(), 7);
}

#[tokio::test(start_paused = true)]
async fn a_crawl_delay_is_counted_from_the_end_of_the_answer_and_leaves_one_connection() {
    let web = Arc::new(
        Web::new(Duration::from_secs(4))
            .at("/robots.txt", &[text("User-agent: *\nCrawl-delay: 5")])
            .at("/", &[page(&links((0..6).map(|n| format!("/detail/{n}"))))]),
    );
    Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert!(gaps(&web)[1..].iter().all(|gap| *gap >= 9_000), "{:?}", gaps(&web));
    assert_eq!(web.under_way.lock().unwrap().1, 1);
}

#[tokio::test(start_paused = true)]
async fn host_names_of_one_domain_and_hosts_at_one_address_share_the_rate() {
    let body = links((0..12).map(|n| {
        let host = ["sim.example", "dl.sim.example", "other.example"][n % 3];
        format!("http://{host}/detail/{n}")
    }));
    let web = Arc::new(
        Web::new(Duration::from_millis(100))
            .at("/", &[page(&body)])
            .located("sim.example", "192.0.2.1")
            .located("dl.sim.example", "192.0.2.2")
            .located("other.example", "192.0.2.2"),
    );
    let rules =
        "hosts = ['sim.example', 'dl.sim.example', 'other.example']\n[rate]\nrequests_per_second = 1\nconnections = 4";
    Machine::new().crawl(&web, rules, RunOptions::default()).await;
    let urls = web.urls();
    assert_eq!(urls.len(), 3 + 1 + 12);
    let of = |hosts: &[&str]| -> Vec<u64> {
        let is_of = |url: &str| hosts.iter().any(|host| url.starts_with(&format!("http://{host}/")));
        urls.iter().filter(|(_, url)| is_of(url)).map(|(at, _)| *at).collect()
    };
    for group in [&["sim.example", "dl.sim.example"], &["dl.sim.example", "other.example"]] {
        for pair in of(group).windows(2) {
            assert!(pair[1] - pair[0] >= 1_000, "{group:?} were asked {} ms apart", pair[1] - pair[0]);
        }
    }
}

/// The simulation starts at 2023-11-14T22:13:20Z.
#[tokio::test(start_paused = true)]
async fn nothing_is_asked_in_quiet_hours_and_the_wait_is_told() {
    let web =
        Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links((0..20).map(|n| format!("/detail/{n}"))))]));
    let rules = "[rate]\nrequests_per_second = 0.1\nquiet_hours = ['06:15-08:00']\nutc_offset = '+08:00'";
    let machine = Machine::new();
    let (ended, progress) =
        machine.crawl_until(&web, rules, RunOptions::default(), Some(Duration::from_secs(600))).await;
    assert_eq!(ended, Ended::Stopped);
    // Quiet from 22:15 UTC, a hundred seconds after the start, until midnight UTC.
    let quiet_from = 100_000;
    assert!(web.log().iter().all(|(at, _)| *at < quiet_from), "{:?}", web.log());
    assert!(web.log().len() > 5);
    assert!(progress.snapshot()["sim"].waiting.is_none(), "a site that has ended waits for nothing");
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let quiet_until = 100_000 + 105 * 60_000;
    assert!(web.log().iter().all(|(at, _)| *at < quiet_from || *at >= quiet_until), "{:?}", web.log());
    assert_eq!(web.asked("/detail/19"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_days_budget_holds_over_restarts_and_the_next_day_goes_on() {
    let web =
        Arc::new(Web::new(Duration::from_millis(10)).at("/", &[page(&links((0..20).map(|n| format!("/detail/{n}"))))]));
    let rules = "[rate]\nrequests_per_second = 1\nrequests_per_day = 7";
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert!(matches!(&ended, Ended::Budget(why) if why.contains("requests_per_day of 7")), "{ended:?}");
    assert_eq!(web.log().len(), 1 + 7, "robots.txt and seven pages");
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert!(matches!(ended, Ended::Budget(_)), "{ended:?}");
    assert_eq!(web.log().len(), 8, "the second run of the day asks for nothing");
    // The service waits for the days that it needs: 22:13 UTC to midnight, and two more.
    machine.crawl_until(&web, rules, SERVICE, Some(Duration::from_secs(50 * 3_600))).await;
    let day = |at: u64| (at + 80_000_000) / 86_400_000;
    for of in 0..4 {
        let pages = web.log().iter().filter(|(at, path)| day(*at) == of && path != "/robots.txt").count();
        assert!(pages <= 7, "{pages} pages on day {of}");
    }
    assert!((0..20).all(|n| web.asked(&format!("/detail/{n}")) == 1), "{:?}", web.log());
}

#[tokio::test(start_paused = true)]
async fn back_off_escalates_over_restarts_and_is_forgiven_by_a_good_answer() {
    let refused = Answer::Status(429, ResponseHeaders::default(), Bytes::new());
    let web = Arc::new(
        Web::new(Duration::from_millis(10)).at("/", &[refused.clone(), refused.clone(), refused.clone(), page("")]),
    );
    let machine = Machine::new();
    let host = machine.db.host_id("sim", "http://sim.example").await.unwrap();
    let complaints = async || machine.db.hosts().await.unwrap().iter().find(|row| row.id == host).unwrap().complaints;
    for wanted in 1..=3 {
        // A pause is 10 s, 20 s, 40 s; each process lives long enough to get one refusal.
        machine.crawl_until(&web, FAST, RunOptions::default(), Some(Duration::from_secs(5))).await;
        assert_eq!(complaints().await, wanted);
        tokio::time::sleep(Duration::from_secs((5 << wanted) - 4)).await;
    }
    let asked: Vec<u64> = web.log().iter().filter(|(_, path)| path == "/").map(|(at, _)| *at).collect();
    assert!(asked[1] - asked[0] >= 10_000 && asked[2] - asked[1] >= 20_000, "{asked:?}");
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(complaints().await, 0);
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_neither_stops_the_crawl_nor_breaks_its_spacing() {
    for set_by in [-7_200_000, 7_200_000] {
        let web = Arc::new(
            Web::new(Duration::from_millis(10)).at("/", &[page(&links((0..20).map(|n| format!("/detail/{n}"))))]),
        );
        let machine = Machine::new();
        machine.set_clock(Duration::from_millis(7_300), set_by);
        let (ended, _) = machine.crawl(&web, "[rate]\nrequests_per_second = 1", RunOptions::default()).await;
        assert_eq!(ended, Ended::Exhausted);
        // Times scheduled by a clock that was ahead are due at once, including the recheck of the start page.
        assert_eq!(web.log().len(), if set_by < 0 { 23 } else { 22 });
        assert!(gaps(&web).iter().all(|gap| (1_000..6_100).contains(gap)), "set by {set_by} ms: {:?}", gaps(&web));
    }
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_set_forward_ends_no_pause() {
    let web = Arc::new(Web::new(Duration::from_millis(10)).at("/", &[throttled("120"), page("")]));
    let machine = Machine::new();
    machine.set_clock(Duration::from_secs(30), 7_200_000);
    machine.crawl(&web, FAST, RunOptions::default()).await;
    let asked: Vec<u64> = web.log().iter().filter(|(_, path)| path == "/").map(|(at, _)| *at).collect();
    assert!((120_000..130_000).contains(&(asked[1] - asked[0])), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn sitemaps_of_robots_txt_are_read_plain_and_packed_and_through_an_index() {
    let packed = |text: &str| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text.as_bytes()).unwrap();
        let headers =
            ResponseHeaders { content_type: Some("application/gzip".to_owned()), ..ResponseHeaders::default() };
        Answer::Status(200, headers, encoder.finish().unwrap().into())
    };
    let robots =
        "Sitemap: http://sim.example/index.xml\nSitemap: /plain.txt\nSitemap: http://elsewhere.example/x.xml\n";
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/robots.txt", &[text(robots)])
            .at("/", &[page("")])
            .at(
                "/index.xml",
                &[text("<sitemapindex><sitemap><loc>http://sim.example/part.xml.gz</loc></sitemap></sitemapindex>")],
            )
            .at(
                "/part.xml.gz",
                &[packed(
                    "<urlset><url><loc>http://sim.example/dl/1</loc></url><url><loc>/private/1</loc></url></urlset>",
                )],
            )
            .at("/plain.txt", &[text("http://sim.example/detail/7\nhttp://sim.example/private/2\n")])
            .at("/detail/7", &[page("<a href=/dl/2>x</a>")])
            .at("/dl/1", &[torrent()]),
    );
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(machine.outcomes().await["torrent_stored"], 1);
    assert_eq!(web.asked("/detail/7"), 1);
    assert!(web.log().iter().all(|(_, path)| !path.starts_with("/private/")), "the rules judge a sitemap's URLs");
    // The next crawl within the revisit interval requests none of them again.
    machine.crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((web.asked("/index.xml"), web.asked("/part.xml.gz"), web.asked("/plain.txt")), (1, 1, 1));
    let off = Machine::new();
    let web = Arc::new(Web::new(Duration::ZERO).at("/robots.txt", &[text(robots)]).at("/", &[page("")]));
    off.crawl(&web, &format!("sitemaps = false\n{FAST}"), RunOptions::default()).await;
    assert_eq!(web.asked("/index.xml"), 0);
}

#[tokio::test(start_paused = true)]
async fn x_robots_tag_closes_the_links_of_its_answer_alone() {
    let headers = ResponseHeaders {
        content_type: Some("text/html".to_owned()),
        robots_tags: vec!["noindex, nofollow".to_owned()],
        ..ResponseHeaders::default()
    };
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[page("<a href=/list/1>x</a><a href=/list/2>x</a>")])
            .at("/list/1", &[Answer::Status(200, headers, Bytes::from_static(b"<a href=/detail/1>x</a>"))])
            .at("/list/2", &[page("<a href=/detail/2>x</a>")]),
    );
    Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!((web.asked("/detail/1"), web.asked("/detail/2")), (0, 1));
}

#[tokio::test(start_paused = true)]
async fn what_has_not_changed_is_not_sent_again_until_the_rules_change() {
    let body = Bytes::from_static(b"<a href=/detail/1>x</a><a href=/detail/x>y</a>");
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("/", &[Answer::Versioned("\"v1\"", body), Answer::Versioned("\"v1\"", Bytes::from_static(b"again"))]),
    );
    let machine = Machine::new();
    let rules = format!("revisit_minutes = 10\n{FAST}");
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(2_100))).await;
    assert_eq!(web.asked("/"), 4);
    let outcomes = machine.outcomes().await;
    assert_eq!(outcomes["not_modified"], 3, "the look after a look without a change is conditional, too: {outcomes:?}");
    // Other rules may accept other links of the same page.
    let rules = format!("revisit_minutes = 10\ndeny = ['never']\n{FAST}");
    machine.crawl_until(&web, &rules, SERVICE, Some(Duration::from_secs(300))).await;
    assert_eq!((web.asked("/"), machine.outcomes().await["not_modified"]), (5, 3));
}

#[tokio::test(start_paused = true)]
async fn a_mirror_answers_while_the_first_host_does_not_and_no_url_is_fetched_twice() {
    let body = links((0..40).map(|n| format!("/detail/{n}"))) + "<a href=http://mirror.example/detail/5>x</a>";
    let web = Arc::new(
        Web::new(Duration::from_millis(100))
            .at("/", &[page(&body)])
            .otherwise(|path| path.starts_with("/detail/").then(|| page("")))
            .dead_from("sim.example", Duration::from_secs(3), Duration::from_secs(3_600)),
    );
    let rules = "mirrors = ['http://mirror.example']\n[rate]\nrequests_per_second = 5\nconnections = 1";
    let (ended, _) = Machine::new().crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let urls = web.urls();
    assert!((0..40).all(|n| web.asked(&format!("/detail/{n}")) == 1), "{urls:?}");
    let at_mirror = urls.iter().filter(|(_, url)| url.starts_with("http://mirror.example/detail/")).count();
    assert!((20..40).contains(&at_mirror), "{at_mirror} were asked at the mirror");
    assert!(urls.iter().any(|(_, url)| url == "http://mirror.example/robots.txt"), "a mirror has its own robots.txt");
}

#[tokio::test(start_paused = true)]
async fn a_host_that_is_back_is_asked_again_itself() {
    let web = Arc::new(
        Web::new(Duration::from_millis(100))
            .at("/", &[page(&links((0..200).map(|n| format!("/detail/{n}"))))])
            .otherwise(|path| path.starts_with("/detail/").then(|| page("")))
            .dead_from("sim.example", Duration::from_secs(3), Duration::from_secs(20)),
    );
    let rules = "mirrors = ['http://mirror.example']\n[rate]\nrequests_per_second = 2\nconnections = 1";
    Machine::new().crawl(&web, rules, RunOptions::default()).await;
    let (_, last) = web.urls().pop().unwrap();
    assert!(last.starts_with("http://sim.example/detail/"), "{last}");
}

#[tokio::test(start_paused = true)]
async fn what_is_closed_at_the_mirror_waits_for_the_first_host() {
    let web = Arc::new(
        Web::new(Duration::from_millis(100))
            .at("/robots.txt", &[status(404), text("User-agent: *\nDisallow: /detail/")])
            .at("/", &[page(&links((0..10).map(|n| format!("/detail/{n}"))))])
            .dead_from("sim.example", Duration::from_millis(1_100), Duration::from_secs(20)),
    );
    let rules = "mirrors = ['http://mirror.example']\n[rate]\nrequests_per_second = 2\nconnections = 1";
    let machine = Machine::new();
    machine.crawl_until(&web, rules, SERVICE, Some(Duration::from_secs(60))).await;
    let at_mirror: Vec<_> = web.urls().into_iter().filter(|(_, url)| url.contains("mirror.example/detail")).collect();
    assert!(at_mirror.is_empty(), "{at_mirror:?}");
    assert!((0..10).all(|n| web.asked(&format!("/detail/{n}")) == 1), "{:?}", web.urls());
}

#[tokio::test(start_paused = true)]
async fn redirects_of_a_robots_txt_keep_the_rate_of_where_they_lead() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("http://sim.example/robots.txt", &[redirect("http://www.sim.example/robots.txt")])
            .at("http://www.sim.example/robots.txt", &[redirect("http://neighbour.example/r.txt")])
            .at("/r.txt", &[text("User-agent: *\nDisallow: /detail/2")])
            .at("/", &[page(&links((0..4).map(|n| format!("/detail/{n}"))))])
            .located("sim.example", "192.0.2.1")
            .located("www.sim.example", "192.0.2.1")
            .located("neighbour.example", "192.0.2.1"),
    );
    let (ended, _) = Machine::new().crawl(&web, "[rate]\nrequests_per_second = 1", RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let paths: Vec<_> = web.log().into_iter().map(|(_, path)| path).collect();
    assert_eq!(paths, ["/robots.txt", "/robots.txt", "/r.txt", "/", "/detail/0", "/detail/1", "/detail/3"]);
    assert!(gaps(&web).iter().all(|gap| *gap >= 1_000), "{:?}", web.urls());
}

#[tokio::test(start_paused = true)]
async fn a_host_that_pauses_is_not_asked_for_anothers_robots_txt() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10))
            .at("http://sim.example/robots.txt", &[redirect("http://other.example/r.txt")])
            .at("/r.txt", &[throttled("600"), text("User-agent: *\nDisallow: /detail/2")])
            .at("/", &[page(&links((0..4).map(|n| format!("/detail/{n}"))))]),
    );
    let (ended, _) = Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let at: Vec<u64> = web.log().iter().filter(|(_, path)| path == "/r.txt").map(|(at, _)| *at).collect();
    assert!(at.len() == 2 && at[1] - at[0] >= 600_000, "{:?}", web.urls());
    assert_eq!((web.asked("/detail/1"), web.asked("/detail/2")), (1, 0));
    let page_at = web.log().iter().find(|(_, path)| path == "/").unwrap().0;
    assert!(page_at > at[1], "nothing is asked for before the rules are known");
}

#[tokio::test(start_paused = true)]
async fn redirects_of_a_robots_txt_that_never_end_leave_no_rules() {
    let web = Arc::new(
        Web::new(Duration::from_millis(10)).at("/robots.txt", &[redirect("/robots.txt")]).at("/", &[page("")]),
    );
    let (ended, _) = Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!((web.asked("/robots.txt"), web.asked("/")), (6, 1));
}

#[tokio::test(start_paused = true)]
async fn a_good_answer_beside_a_refusal_leaves_its_pause_and_its_url() {
    let web = Arc::new(
        Web::new(Duration::from_millis(50))
            .at("/", &[page(&links((0..2).map(|n| format!("/detail/{n}"))))])
            .at("/detail/0", &[throttled("600"), page("")])
            .at("/detail/1", &[page("")]),
    );
    let (ended, _) = Machine::new().crawl(&web, FAST, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let asked: Vec<u64> = web.log().iter().filter(|(_, path)| path == "/detail/0").map(|(at, _)| *at).collect();
    assert!(asked.len() == 2 && asked[1] - asked[0] >= 600_000, "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_retry_outlives_a_clock_that_is_set_back_and_a_kill() {
    let web = Arc::new(
        Web::new(Duration::from_millis(6_500))
            .at("/", &[page("<a href=/detail/0>x</a>")])
            .at("/detail/0", &[status(500), page("")]),
    );
    let machine = Machine::new();
    // Half a second after the response, and half a second before the retry.
    machine.set_clock(Duration::from_secs(20), -5_000_000);
    let rules = "[rate]\nrequests_per_second = 1000000\nrest_factor = 0";
    let life = machine.crawl(&web, rules, RunOptions::default());
    assert!(tokio::time::timeout(Duration::from_millis(20_200), life).await.is_err(), "the crawl waits for the retry");
    assert_eq!(web.asked("/detail/0"), 1);
    let (ended, _) = machine.crawl(&web, rules, RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert_eq!(web.asked("/detail/0"), 2);
}
