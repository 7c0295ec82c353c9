//! Broad rules: kinds of URLs that lead to torrents are asked first, and no other is lost.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner_crawl::RunOptions;
use gleaner_crawl::frontier::shares::RuleShare;
use gleaner_crawl::progress::Ended;
use gleaner_crawl::site::Site;
use gleaner_crawl::worth;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_rules::SiteRules;

use super::web::{Answer, Machine, Web, page};

/// Everything on the host.
fn broad(more: &str) -> Arc<SiteRules> {
    let text = format!(
        "start = ['http://sim.example/']\n{more}\n[rate]\nrequests_per_second = 10\nconnections = 1\n[classes]\ndownload = ['^/dl/']\npage = ['^/']\n"
    );
    gleaner_rules::from_text("sim", &text).unwrap()
}

async fn crawl(machine: &Machine, web: &Arc<Web>, rules: &Arc<SiteRules>, pages_max: Option<u64>) -> Ended {
    let transport = web.transport(machine.start);
    let site = Site::new(Arc::clone(rules), transport, machine.clock(), machine.db.clone());
    let options = RunOptions { pages_max, ..RunOptions::default() };
    machine.crawl_site(site, options, None, None).await.0.unwrap()
}

const THINGS: u64 = 200;

pub(super) fn torrent(number: u64) -> Answer {
    let name = number.to_string();
    let body = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    Answer::Status(200, ResponseHeaders::default(), Bytes::from(body))
}

pub(super) fn number(path: &str) -> u64 {
    let digits: String = path.chars().filter(char::is_ascii_digit).collect();
    digits.parse().unwrap_or(0)
}

/// Lists of twenty things, each with a file, other views of itself, persons, and tags that lead to the same things; pages about the site.
fn board(path: &str) -> Option<Answer> {
    let about: String = (0..40).map(|at| format!("<a href='/about?topic={at}'>about</a>")).collect();
    let thing = |at: u64| format!("<a href='/thing/{at}'>thing</a>");
    Some(if path == "/" {
        page(&format!("{about}<a href='/list?page=1'>all</a><a href='/people?page=1'>people</a>"))
    } else if path.starts_with("/dl/") {
        torrent(number(path))
    } else if path.starts_with("/list?") {
        let own = number(path);
        let things: String = (0..20).map(|at| thing((own - 1) * 20 + at)).collect();
        let next = if own < THINGS / 20 { format!("<a href='/list?page={}'>next</a>", own + 1) } else { String::new() };
        page(&format!("{things}{next}"))
    } else if path.starts_with("/thing/") && !path.contains('?') {
        let own = number(path);
        let views: String = (0..2).map(|at| format!("<a href='/thing/{own}?view=v{at}'>view</a>")).collect();
        page(&format!("<a href='/dl/{own}'>file</a>{views}<a href='/person?id={}'>person</a>", own * 7 % 90))
    } else if path.starts_with("/thing/") {
        page(&format!("<a href='/dl/{}'>file</a>", number(path.split('?').next()?)))
    } else if path.starts_with("/person?") {
        let own = number(path);
        page(&(1..4).map(|at| format!("<a href='/person?id={}'>friend</a>", (own * 3 + at) % 300)).collect::<String>())
    } else if path.starts_with("/people?") {
        page(&(0..30).map(|at| format!("<a href='/person?id={at}'>person</a>")).collect::<String>())
    } else {
        page("words")
    })
}

#[tokio::test(start_paused = true)]
async fn torrents_come_before_persons_and_other_views_and_everything_is_asked() {
    let web = Arc::new(Web::new(Duration::from_millis(20)).otherwise(board));
    let machine = Machine::new();
    let rules = broad("");
    assert_eq!(crawl(&machine, &web, &rules, None).await, Ended::Exhausted);
    let log: Vec<String> = web.log().into_iter().map(|(_, path)| path).collect();
    let torrents = log.iter().filter(|path| path.starts_with("/dl/")).count();
    assert_eq!(torrents as u64, THINGS, "all of them");
    assert_eq!(log.iter().filter(|path| path.contains("?view=")).count() as u64, 2 * THINGS, "nothing is left out");
    assert!(log.iter().filter(|path| path.starts_with("/about?")).count() == 40);
    let mut left = THINGS * 95 / 100;
    let until = log.iter().position(|path| {
        left -= u64::from(path.starts_with("/dl/"));
        left == 0
    });
    let relevant = |path: &&String| {
        path.starts_with("/dl/") || path.starts_with("/list?") || path.starts_with("/thing/") && !path.contains('?')
    };
    let until = until.unwrap() + 1;
    let irrelevant = until - log[..until].iter().filter(relevant).count();
    assert!(irrelevant < 120, "{irrelevant} of {until} requests");

    let shares = worth::shares(machine.db.as_ref(), &rules).await.unwrap();
    let (told, of_last) = shares.by_rule();
    assert_eq!(of_last, 200);
    assert_eq!(told.iter().map(|share| share.torrents).sum::<u64>(), THINGS);
    assert_eq!(
        told.iter().map(|share| share.fetched).sum::<u64>(),
        log.len() as u64 - 2,
        "robots.txt and the start page"
    );
}

/// A list without end, each page of which has things, and a hundred pages about the site on the start page.
fn rich(path: &str) -> Option<Answer> {
    let own = number(path);
    Some(if path == "/" {
        let about: String = (0..100).map(|at| format!("<a href='/help?topic={at}'>about</a>")).collect();
        page(&format!("{about}<a href='/list?page=1'>all</a>"))
    } else if path.starts_with("/dl/") {
        torrent(own)
    } else if path.starts_with("/list?") {
        let things: String = (0..20).map(|at| format!("<a href='/dl/{}'>thing</a>", own * 20 + at)).collect();
        page(&format!("{things}<a href='/list?page={}'>next</a>", own + 1))
    } else {
        page("words")
    })
}

#[tokio::test(start_paused = true)]
async fn a_url_is_asked_within_twenty_times_its_place_in_the_line_whatever_its_kind() {
    let web = Arc::new(Web::new(Duration::from_millis(20)).otherwise(rich));
    crawl(&Machine::new(), &web, &broad("budget = { traps = false }"), Some(2_600)).await;
    let log: Vec<String> = web.log().into_iter().map(|(_, path)| path).collect();
    let at: HashMap<&str, usize> = log.iter().enumerate().map(|(at, path)| (path.as_str(), at)).collect();
    let start = at["/"];
    let mut late = 0;
    for place in 0..100 {
        let asked =
            at.get(format!("/help?topic={place}").as_str()).unwrap_or_else(|| panic!("{place} was never asked"));
        // What is in the lanes goes before it.
        assert!(asked - start <= 20 * (place + 1) + 20, "{place} at {asked}");
        late = late.max(*asked);
    }
    assert!(late > 400, "they are deferred: the last at {late}");
}

#[tokio::test(start_paused = true)]
async fn shares_outlive_the_process() {
    let web = Arc::new(Web::new(Duration::from_millis(20)).otherwise(board));
    let machine = Machine::new();
    let rules = broad("");
    crawl(&machine, &web, &rules, Some(150)).await;
    let first = worth::shares(machine.db.as_ref(), &rules).await.unwrap().by_rule().0;
    crawl(&machine, &web, &rules, Some(150)).await;
    let second = worth::shares(machine.db.as_ref(), &rules).await.unwrap().by_rule().0;
    let fetched = |told: &[RuleShare]| told.iter().map(|share| share.fetched).sum::<u64>();
    assert!(fetched(&first) > 140 && fetched(&second) > fetched(&first) + 140, "{first:?} {second:?}");
}
