//! Endless sites: shapes that yield nothing are cut off, productive ones are not, and both are reported.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gleaner::app::status;
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::RunOptions;
use gleaner_crawl::frontier::weight::RuleYield;
use gleaner_crawl::progress::Ended;
use gleaner_crawl::worth;
use gleaner_net::fetch::ResponseHeaders;

use super::web::{Answer, FAST, Machine, Web, page, redirect, site_rules};

/// A distinct torrent for each number.
fn torrent(number: u64) -> Answer {
    let name = number.to_string();
    let body = format!(
        "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
        name.len()
    );
    Answer::Status(200, ResponseHeaders::default(), Bytes::from(body))
}

fn number(path: &str) -> u64 {
    path.rsplit(['/', '=']).next().and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// The infohash of the info dictionary of [`torrent`], as in a magnet link.
fn magnet(number: u64) -> String {
    let Answer::Status(_, _, file) = torrent(number) else { unreachable!() };
    let facts = gleaner_torrent::metainfo::parse(&file).unwrap();
    let hash: String = facts.infohashes.v1.unwrap().iter().map(|byte| format!("{byte:02x}")).collect();
    format!("magnet:?xt=urn:btih:{hash}")
}

/// Forty lists of fifty torrents, an endless calendar, and items that link to generated items.
fn endless(path: &str) -> Option<Answer> {
    if path.starts_with("/dl/") {
        return Some(torrent(number(path)));
    }
    if path.starts_with("/list/") {
        let list = number(path);
        let details: String = (0..50).map(|n| format!("<a href='/detail/{}'>x</a>", list * 50 + n)).collect();
        let next = if list < 40 { format!("<a href='/list/{}'>next</a>", list + 1) } else { String::new() };
        return Some(page(&format!(
            "{details}{next}<a href='/cal?day=2026-01-01&n=0'>calendar</a><a href='/item/7'>item</a>"
        )));
    }
    if path.starts_with("/detail/") {
        return Some(page(&format!("<a href='/dl/{}'>torrent</a>", number(path))));
    }
    if path.starts_with("/cal") {
        let n = number(path);
        let link = |n: u64| {
            format!("<a href='/cal?day=20{:02}-{:02}-{:02}&n={n}'>x</a>", n / 336 % 100, n / 28 % 12 + 1, n % 28 + 1)
        };
        return Some(page(&format!("Events of the day. {}{}", link(n + 1), link(n + 2))));
    }
    if path.starts_with("/item/") {
        let seed = number(path);
        let made_up = |n: u64| (seed ^ (n << 50)).wrapping_mul(6_364_136_223_846_793_005) >> 20;
        let links: String = (1..4).map(|n| format!("<a href='/item/{}'>x</a>", made_up(n))).collect();
        return Some(page(&links));
    }
    None
}

#[tokio::test(start_paused = true)]
async fn traps_starve_and_every_torrent_beside_them_is_found() {
    let web =
        Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page("<a href='/list/0'>x</a>")]).otherwise(endless));
    let machine = Machine::new();
    let options = RunOptions { pages_max: Some(12_000), ..RunOptions::default() };
    let (ended, _) = machine.crawl(&web, FAST, options).await;
    let stored = machine.outcomes().await["torrent_stored"];
    assert_eq!(stored, 2_050, "{ended:?}");
    let asked = |front: &str| web.log().iter().filter(|(_, path)| path.starts_with(front)).count();
    assert!(asked("/cal") < 400, "{} pages of a calendar without end", asked("/cal"));
    assert!(asked("/item/") < 1_600, "{} made-up items", asked("/item/"));

    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    let cuts = &report.sites[0].cuts;
    assert!(cuts.iter().any(|cut| cut.shape.starts_with("/cal") && cut.cut > 0 && !cut.reason.is_empty()), "{cuts:?}");
    assert!(cuts.iter().any(|cut| cut.shape.starts_with("/item/")), "{cuts:?}");
    let likeness = cuts.iter().find(|cut| cut.shape.starts_with("/item/")).and_then(|cut| cut.likeness.clone());
    let likeness = likeness.unwrap_or_else(|| panic!("made-up items resemble each other: {cuts:#?}"));
    assert!(likeness.percent >= 95 && likeness.page.starts_with("/item/") && likeness.page != likeness.other);
    assert!(!cuts.iter().any(|cut| cut.shape.starts_with("/detail") || cut.shape.starts_with("/dl")), "{cuts:?}");
}

#[tokio::test(start_paused = true)]
async fn addresses_of_before_a_site_was_rebuilt_are_worth_what_they_redirect_to() {
    fn rebuilt(path: &str) -> Option<Answer> {
        match path.strip_prefix("/item/") {
            Some(number) => Some(redirect(&format!("/detail/{number}"))),
            None => endless(path).filter(|_| path.starts_with("/detail/") || path.starts_with("/dl/")),
        }
    }
    let links: String = (0..400).map(|n| format!("<a href='/item/{n}'>x</a>")).collect();
    let web = Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page(&links)]).otherwise(rebuilt));
    let machine = Machine::new();
    let rules = format!("budget.shape_pages = 20\n{FAST}");
    let (ended, _) = machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!((ended, machine.outcomes().await["torrent_stored"]), (Ended::Exhausted, 400));
}

#[tokio::test(start_paused = true)]
async fn a_trap_ends_the_crawl_and_a_larger_budget_takes_it_up_again() {
    let web =
        Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page("<a href='/look?n=0'>x</a>")]).otherwise(|path| {
            path.starts_with("/look").then(|| page(&format!("<a href='/look?n={}'>next</a>", number(path) + 1)))
        }));
    let machine = Machine::new();
    let rules = |shape_pages: u32| format!("budget.shape_pages = {shape_pages}\n{FAST}");
    let (ended, _) = machine.crawl(&web, &rules(20), RunOptions::default()).await;
    assert_eq!(ended, Ended::Exhausted);
    let first = web.log().len();
    assert!((20..60).contains(&first), "{first}");
    assert!(machine.outcomes().await["trapped"] >= 1);
    // The statistics outlive the process: the same budget fetches nothing more.
    machine.crawl(&web, &rules(20), RunOptions::default()).await;
    assert!(web.log().len() <= first + 2, "{} after {first}", web.log().len());
    machine.crawl(&web, &rules(2_000), RunOptions::default()).await;
    assert!(web.log().len() > first + 500, "{} after {first}", web.log().len());
}

#[tokio::test(start_paused = true)]
async fn lists_without_a_page_number_starve_like_others() {
    // A calendar, or endless folders: each page is the front page of its own list.
    let web =
        Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page("<a href='/list/0'>x</a>")]).otherwise(|path| {
            path.starts_with("/list/").then(|| page(&format!("<a href='/list/{}'>next</a>", number(path) + 1)))
        }));
    let machine = Machine::new();
    let rules = format!("budget.shape_pages = 20\n{FAST}");
    let options = || RunOptions { pages_max: Some(500), ..RunOptions::default() };
    let (ended, _) = machine.crawl(&web, &rules, options()).await;
    assert_eq!(ended, Ended::Exhausted);
    assert!((20..60).contains(&web.log().len()), "{}", web.log().len());
}

#[tokio::test(start_paused = true)]
async fn a_front_that_is_looked_at_again_and_again_costs_its_shape_one_page() {
    let links: String = (0..15).map(|n| format!("<a href='/list/{n}'>x</a>")).collect();
    let web = Arc::new(
        Web::new(Duration::from_millis(1))
            .at("/", &[page(&links)])
            .otherwise(|path| path.starts_with("/list/").then(|| page("nothing new"))),
    );
    let machine = Machine::new();
    let rules = format!("budget.shape_pages = 20\nrevisit_minutes = 1\n{FAST}");
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    machine.crawl_until(&web, &rules, options, Some(Duration::from_secs(3_600))).await;
    // The schedule never rechecks a list within a minute of the last recheck.
    assert!(web.asked("/list/3") > 50, "{} looks in an hour", web.asked("/list/3"));
    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    assert_eq!(report.sites[0].cuts, []);
}

#[tokio::test(start_paused = true)]
async fn links_deeper_than_allowed_are_known_and_a_larger_depth_brings_them_back() {
    let web =
        Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page("<a href='/list/1'>x</a>")]).otherwise(|path| {
            path.starts_with("/list/").then(|| page(&format!("<a href='/list/{}'>next</a>", number(path) + 1)))
        }));
    let machine = Machine::new();
    let rules = |depth: u16| format!("depth_max = {depth}\n{FAST}");
    machine.crawl(&web, &rules(3), RunOptions::default()).await;
    assert_eq!((web.asked("/list/3"), web.asked("/list/4")), (1, 0));
    assert_eq!(machine.outcomes().await["over_budget"], 1, "the first beyond is told, and leads no further");
    machine.crawl(&web, &rules(2_000), RunOptions { pages_max: Some(6), ..RunOptions::default() }).await;
    assert_eq!((web.asked("/list/4"), web.asked("/list/3")), (1, 2), "lists are read again by other rules");
}

#[tokio::test(start_paused = true)]
async fn other_rules_bring_back_what_was_cut() {
    let web =
        Arc::new(Web::new(Duration::from_millis(1)).at("/", &[page("<a href='/item/1'>x</a>")]).otherwise(|path| {
            let links = |n: u64| format!("<a href='/item/{}'>x</a><a href='/item/{}'>y</a>", 2 * n, 2 * n + 1);
            path.starts_with("/item/").then(|| page(&links(number(path))))
        }));
    let machine = Machine::new();
    let rules = |depth: u16| format!("budget.shape_pages = 20\ndepth_max = {depth}\n{FAST}");
    let trapped = async || machine.outcomes().await.get("trapped").copied().unwrap_or(0);
    machine.crawl(&web, &rules(10), RunOptions::default()).await;
    let first = trapped().await;
    assert!(first > 10, "{first}");
    machine.crawl(&web, &rules(10), RunOptions::default()).await;
    assert_eq!(trapped().await, first, "the same rules ask for nothing again");
    machine.crawl(&web, &rules(11), RunOptions::default()).await;
    assert!(trapped().await > first, "each was asked for again");
}

#[tokio::test(start_paused = true)]
async fn a_form_that_only_traps_have_is_not_asked_for_again_when_a_shape_recovers() {
    // Twenty items without torrents use up the budget; the twenty-first that passes has the torrent that restores it.
    let web = Arc::new(
        Web::new(Duration::from_millis(1))
            .at("/", &[page("<a href='/item/aa/bb/aa/bb/aa/bb'>x</a><a href='/list/0'>y</a>")])
            .otherwise(|path| match path {
                "/list/0" => Some(page(&(0..80).map(|n| format!("<a href='/item/{n}'>x</a>")).collect::<String>())),
                _ if path.starts_with("/item/") && number(path) < 20 => Some(page("nothing")),
                _ if path.starts_with("/item/") => Some(page(&format!("<a href='{}'>x</a>", magnet(number(path))))),
                _ => None,
            }),
    );
    let machine = Machine::new();
    let rules = format!("budget.shape_pages = 20\n{FAST}");
    machine.crawl(&web, &rules, RunOptions::default()).await;
    assert_eq!(web.asked("/item/79"), 1, "the shape has recovered");
    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    let cuts: Vec<_> = report.sites[0].cuts.iter().map(|cut| (cut.shape.as_str(), cut.cut)).collect();
    assert_eq!(cuts, [("repeated_folders", 1)]);
    // Once nothing is cut any more, nothing is reported.
    machine.crawl(&web, &format!("budget.traps = false\n{FAST}"), RunOptions::default()).await;
    assert_eq!(web.asked("/item/aa/bb/aa/bb/aa/bb"), 1);
    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    assert_eq!(report.sites[0].cuts, []);
}

#[tokio::test(start_paused = true)]
async fn nothing_is_cut_where_the_rules_say_so() {
    let web = Arc::new(
        Web::new(Duration::from_millis(1))
            .at("/", &[page("<a href='/item/1/ab/cd/ab/cd/ab/cd/ab/cd'>x</a>")])
            .otherwise(|path| path.starts_with("/item").then(|| page(""))),
    );
    for (traps, asked) in [("true", 0), ("false", 1)] {
        let rules = format!("budget.traps = {traps}\n{FAST}");
        Machine::new().crawl(&web, &rules, RunOptions::default()).await;
        assert_eq!(web.asked("/item/1/ab/cd/ab/cd/ab/cd/ab/cd"), asked, "traps = {traps}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_parameter_that_changes_nothing_is_proposed() {
    let web = Arc::new(
        Web::new(Duration::from_millis(1))
            .at(
                "/",
                &[page(
                    &(0..400)
                        .map(|n| format!("<a href='/list/{n}?from=a'>x</a><a href='/list/{n}?from=b'>x</a>"))
                        .collect::<String>(),
                )],
            )
            .otherwise(|path| {
                let n = path.strip_prefix("/list/")?.split('?').next()?;
                let words: String = (0..60).map(|word| format!("word{n}{word}x ")).collect();
                Some(page(&words))
            }),
    );
    let machine = Machine::new();
    let rate = "[rate]\nrequests_per_second = 1000000";
    let proposed = async || {
        let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
        report.sites[0].proposals.clone()
    };
    machine.crawl(&web, rate, RunOptions::default()).await;
    let proposals = proposed().await;
    assert_eq!(proposals.len(), 1, "{proposals:?}");
    assert_eq!(proposals[0].line(), "drop = [\"from\"]");
    assert!(proposals[0].evidence >= 20);
    // A run that learns nothing new forgets nothing; a proposal that the operator has adopted is no longer proposed.
    machine.crawl(&web, rate, RunOptions::default()).await;
    assert_eq!(proposed().await, proposals);
    let adopted = format!("parameters.drop = ['from']\n{rate}");
    machine.crawl(&web, &adopted, RunOptions::default()).await;
    assert_eq!(proposed().await, []);
}

#[tokio::test(start_paused = true)]
async fn what_the_urls_of_a_rule_have_brought_is_known_to_the_next_run() {
    let web = Arc::new(
        Web::new(Duration::from_millis(1))
            .at("/", &[page("<a href='/dl/1'>x</a><a href='/dl/2'>x</a>")])
            .otherwise(|path| path.starts_with("/dl/").then(|| torrent(number(path)))),
    );
    let machine = Machine::new();
    let rules = site_rules(FAST);
    for run in 1..=2 {
        machine.crawl(&web, FAST, RunOptions::default()).await;
        let yields = worth::yields(machine.db.as_ref(), &rules).await.unwrap();
        let brought: Vec<RuleYield> =
            yields.into_values().filter(|counts| counts.fetched > 0 && counts.torrents > 0).collect();
        // The second run has nothing new to fetch.
        assert_eq!(brought, [RuleYield { fetched: 2, torrents: 2 }], "run {run}");
    }
}

#[tokio::test(start_paused = true)]
async fn files_behind_pages_with_their_magnets_are_no_trap() {
    const DETAILS: u64 = 1_500;
    let web = Arc::new(Web::new(Duration::from_millis(1)).otherwise(|path| match path {
        "/" => Some(page(&(0..DETAILS).map(|n| format!("<a href='/detail/{n}'>x</a>")).collect::<String>())),
        _ if path.starts_with("/detail/") => {
            let n = number(path);
            Some(page(&format!("<a href='{}'>magnet</a><a href='/dl/{n}'>torrent</a>", magnet(n))))
        }
        _ => path.starts_with("/dl/").then(|| torrent(number(path))),
    }));
    let machine = Machine::new();
    let (ended, _) = machine.crawl(&web, FAST, RunOptions::default()).await;
    let outcomes = machine.outcomes().await;
    assert_eq!(
        (ended, outcomes.get("torrent_stored"), outcomes.get("trapped")),
        (Ended::Exhausted, Some(&DETAILS), None)
    );
}

#[tokio::test(start_paused = true)]
async fn many_short_boards_are_all_read_soon_though_they_come_before_the_threads_that_show_their_worth() {
    fn boards(path: &str) -> Option<Answer> {
        let of = number(path);
        match path {
            "/" => Some(page(&(0..600).map(|n| format!("<a href=/list/{n}>x</a>")).collect::<String>())),
            _ if path.starts_with("/list/") => {
                // Each has titles of its own, or they would be taken for copies of one page.
                let titles: String = (0..12).map(|at| format!("title{of}of{at} ")).collect();
                Some(page(&format!("{titles}<a href=/detail/{}>x</a><a href=/detail/{}>y</a>", 2 * of, 2 * of + 1)))
            }
            _ if path.starts_with("/detail/") => Some(page(&format!("<a href=/dl/{of}>torrent</a>"))),
            _ => path.starts_with("/dl/").then(|| torrent(of)),
        }
    }
    let web = Arc::new(Web::new(Duration::from_millis(10)).otherwise(boards));
    let machine = Machine::new();
    let rules = format!("{FAST}\n[budget]\nshape_pages = 50\n");
    let service = RunOptions { keep_looking: true, ..RunOptions::default() };
    let (ended, _) = machine.crawl_until(&web, &rules, service, Some(Duration::from_secs(300))).await;
    assert_eq!(ended, Ended::Stopped);
    let missed = (0..1_200).filter(|number| web.asked(&format!("/dl/{number}")) != 1).count();
    assert_eq!(missed, 0);
    let report = status::report(machine.db.as_ref(), None, UnixMillis(0)).await.unwrap();
    assert!(report.sites[0].cuts.is_empty(), "nothing is cut any more, and nothing is told as cut");
}
