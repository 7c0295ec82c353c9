//! Servers with every known kind of misbehaviour, beside the demo site, against the built binary: none of them may
//! cost a torrent of the healthy site, a crash, unbounded memory or an endless crawl, and each ends as `status`
//! reports.
//!
//! Loopback only; each server has its own address, because politeness applies per address.

#![allow(clippy::disallowed_methods)] // real servers and a real process take real time

mod kinds;
mod run;
mod server;
mod tls;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use gleaner_demo::{DemoOptions, DemoSite};
use gleaner_store::crawldb::Outcome;
use run::{Crawl, Ran};
use server::{Ends, Hostile, Kind, Place};
use tls::Certificates;

/// Required number of kinds.
const KINDS_WANTED: usize = 60;

/// Peak memory limit of the crawling process (VmHWM), in MB of 10⁶ bytes, whatever the servers do: that of a build without
/// optimisation, of which its code alone takes a third; `benches/hostile/run` holds a release to 150.
const RSS_MB_MAX: u64 = 195;

/// Torrents of the healthy site; `benches/hostile/run` sets a larger number by `GLEANER_HOSTILE_TORRENTS`.
const TORRENTS: usize = 300;

/// Two cores and two crawls with timeouts of seconds: one after the other.
static ALONE: Mutex<()> = Mutex::new(());

/// The page that links to all hostile ones.
static LINKS: OnceLock<String> = OnceLock::new();

const HUB: Kind = Kind {
    name: "hub",
    at: Place::Page,
    ends: Ends::As(&["page"]),
    keeps: true,
    connections_max: 4,
    serve: |talk| {
        let page = talk.kind.page() + LINKS.get().map_or("", String::as_str);
        talk.html("", page)
    },
};

/// All servers of one test, starting at the `first` address; `GLEANER_HOSTILE=bomb` restricts them to the kinds whose
/// names contain the word, for debugging.
fn servers(kinds: Vec<Kind>, first: usize, certificates: &Arc<Certificates>) -> Vec<Hostile> {
    kinds::make_bodies();
    let word = std::env::var("GLEANER_HOSTILE").unwrap_or_default();
    let kinds = kinds.into_iter().filter(|kind| kind.name.contains(&word));
    kinds.enumerate().map(|(number, kind)| Hostile::start(kind, first + number, certificates)).collect()
}

/// A demo site on its own runtime, which lives as long as the site.
fn demo_site(torrents: usize) -> (tokio::runtime::Runtime, DemoSite) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let site = runtime.block_on(gleaner_demo::start(DemoOptions { torrents, ..DemoOptions::default() }));
    (runtime, site.unwrap())
}

/// Checks that hold for every crawl.
fn check_process(ran: &Ran, site: &DemoSite, faults: &mut Vec<String>) {
    let mut fact = |holds: bool, told: String| {
        if !holds {
            faults.push(told);
        }
    };
    fact(!ran.stderr.contains("panicked"), format!("panicked:\n{}", ran.stderr));
    fact(ran.ended_by_itself, format!("did not end within {} s", run::CRAWL_TIME_MAX.as_secs()));
    // Zero means that the process could not be measured.
    fact((1..=RSS_MB_MAX).contains(&ran.rss_mb()), format!("VmHWM {} MB", ran.rss_mb()));
    let score = site.truth().score(ran.stored.iter().copied());
    fact(score.found == score.reachable, format!("{} of {} healthy torrents", score.found, score.reachable));
    fact(site.refused_fetches() == 0, format!("{} forbidden requests", site.refused_fetches()));
}

/// Checks that hold for every server: its good torrent is not lost, and it gets no more requests at the end.
fn check_servers(ran: &Ran, servers: &[Hostile], faults: &mut Vec<String>) {
    for server in servers {
        if server.kind.keeps && !ran.has(&server.kind) {
            faults.push(format!("{}: lost its torrent", server.kind.name));
        }
        let connections = server.connections.load(Ordering::Relaxed);
        if connections > server.kind.connections_max {
            faults.push(format!("{}: {connections} connections", server.kind.name));
        }
    }
}

#[test]
fn there_are_as_many_kinds_as_asked_and_no_name_twice() {
    let all: Vec<Kind> = [kinds::all(), kinds::patient()].concat();
    let names: BTreeSet<&str> = all.iter().map(|kind| kind.name).collect();
    assert_eq!(names.len(), all.len(), "a name stands twice");
    assert!(names.len() >= KINDS_WANTED, "{} kinds", names.len());
    let kept = all.iter().filter(|kind| kind.keeps).count();
    assert!(kept >= KINDS_WANTED / 2, "{kept} kinds offer a torrent that must be harvested");
}

#[test]
fn hostile_hosts_of_a_site_cost_it_no_torrent() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let certificates = Arc::new(Certificates::new());
    // A proxy belongs to a site, not to a host.
    let kinds = kinds::all().into_iter().filter(|kind| kind.at != Place::Proxy).collect();
    let servers = servers(kinds, 1, &certificates);
    let hub = Hostile::start(HUB, 250, &certificates);
    let links: String = servers.iter().map(|server| format!("<a href=\"{}\">x</a>\n", server.page_url())).collect();
    LINKS.set(links).unwrap();

    let (_runtime, site) = demo_site(TORRENTS);
    let mut crawl = Crawl::new(&certificates);
    crawl.write_rules_of_one_site(&site, &hub, &servers);
    let ran = crawl.run();
    println!("{}", ran.told());

    let mut faults = Vec::new();
    check_process(&ran, &site, &mut faults);
    check_servers(&ran, &servers, &mut faults);
    // Each ended as its kind requires, by its own URL's record, and queued URLs belong to hosts that were given up.
    let paused: BTreeMap<&str, &String> = ran.paused.iter().map(|(origin, why)| (origin.as_str(), why)).collect();
    for (server, end) in servers.iter().zip(crawl.ends(&servers)) {
        let end = match end {
            // It was asked once more, to confirm that its rule keeps its promise where so many others break it.
            Some(Outcome::TorrentDuplicate) => Outcome::TorrentStored.name(),
            end => end.map_or("never visited", Outcome::name),
        };
        match server.kind.ends {
            Ends::As(outcomes) if !outcomes.contains(&end) => {
                faults.push(format!("{}: {end}, not {outcomes:?}", server.kind.name));
            }
            Ends::GivenUp(reasons) => match paused.get(server.origin().as_str()) {
                Some(why) if reasons.iter().any(|reason| why.contains(reason)) => {}
                why => faults.push(format!("{}: status said {why:?}, not {reasons:?}", server.kind.name)),
            },
            Ends::As(_) | Ends::Somehow => {}
        }
    }
    check_queued(&ran, &servers, &mut faults);
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), ran.told());
}

#[test]
fn hostile_sites_beside_a_healthy_one_cost_it_nothing_and_end_as_status_tells() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let certificates = Arc::new(Certificates::new());
    let servers = servers(kinds::all(), 256, &certificates);
    let (_runtime, site) = demo_site(TORRENTS);
    let mut crawl = Crawl::new(&certificates);
    crawl.write_rules_of_many_sites(&site, &servers);
    let ran = crawl.run();
    println!("{}", ran.told());

    let mut faults = Vec::new();
    check_process(&ran, &site, &mut faults);
    check_servers(&ran, &servers, &mut faults);
    for server in &servers {
        check_end(&ran, server, &mut faults);
    }
    check_queued(&ran, &servers, &mut faults);
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), ran.told());
}

/// Default timeouts: a server that hangs does so for as long as the healthy site takes.
#[test]
fn a_healthy_site_is_exhausted_while_hostile_ones_hang() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let certificates = Arc::new(Certificates::new());
    let torrents = std::env::var("GLEANER_HOSTILE_TORRENTS").map_or(TORRENTS, |number| number.parse().unwrap());
    let mut faults = Vec::new();
    let mut exhausted = |servers: &[Hostile]| {
        let (_runtime, site) = demo_site(torrents);
        let mut crawl = Crawl::new(&certificates);
        crawl.until = &["demo"];
        crawl.write_rules_of_many_sites(&site, servers);
        let ran = crawl.run();
        check_process(&ran, &site, &mut faults);
        (ran, crawl)
    };
    // Neither folder is deleted before both are measured: for a minute after many files were deleted, ext4 creates new ones at
    // half its speed.
    let (alone, _folder) = exhausted(&[]);
    let servers = servers(kinds::all(), 768, &certificates);
    let (beside, _folder_too) = exhausted(&servers);
    let figures = serde_json::json!({
        "torrents": torrents, "kinds": servers.len(), "alone_s": alone.healthy_seconds, "beside_s": beside.healthy_seconds,
        "alone_rss_mb": alone.rss_mb(), "beside_rss_mb": beside.rss_mb(),
        "status_s_max": beside.status_seconds_max,
    });
    println!("\n{figures}");
    assert!(alone.healthy_seconds.is_some() && beside.healthy_seconds.is_some(), "{}", beside.told());
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), beside.told());
}

#[test]
fn servers_that_ask_for_patience_are_waited_for_and_what_waits_is_told() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let certificates = Arc::new(Certificates::new());
    let servers = servers(kinds::patient(), 512, &certificates);
    let (_runtime, site) = demo_site(TORRENTS);
    let mut crawl = Crawl::new(&certificates);
    // The one that asks once is waited for; the others would take forever.
    crawl.until = &["demo", "429-once"];
    crawl.write_rules_of_many_sites(&site, &servers);
    let ran = crawl.run();

    let mut faults = Vec::new();
    check_process(&ran, &site, &mut faults);
    check_servers(&ran, &servers, &mut faults);
    for server in &servers {
        check_end(&ran, server, &mut faults);
        if !server.kind.keeps && !ran.paused.contains_key(&server.origin()) {
            faults.push(format!("{}: status did not say that it is waited for", server.kind.name));
        }
    }
    assert!(faults.is_empty(), "{}\n{}", faults.join("\n"), ran.told());
}

/// Queued URLs are exactly those of hosts that were given up.
fn check_queued(ran: &Ran, servers: &[Hostile], faults: &mut Vec<String>) {
    let given_up = servers.iter().filter(|server| matches!(server.kind.ends, Ends::GivenUp(_)));
    let wanted: BTreeSet<String> = given_up.map(Hostile::page_url).collect();
    let open = servers.iter().filter(|server| matches!(server.kind.ends, Ends::Somehow)).map(Hostile::page_url);
    let queued: BTreeSet<String> = ran.queued.difference(&open.collect()).cloned().collect();
    if queued != wanted {
        let (more, less) = (queued.difference(&wanted), wanted.difference(&queued));
        faults.push(format!("stay queued: {:?}; and should: {:?}", more.collect::<Vec<_>>(), less.collect::<Vec<_>>()));
    }
}

/// Checks that a separate site ended as its kind requires.
fn check_end(ran: &Ran, server: &Hostile, faults: &mut Vec<String>) {
    let kind = &server.kind;
    let name = kind.name;
    let (counted, ended) = (ran.outcomes(name), ran.ended(name));
    match kind.ends {
        Ends::As(outcomes) => {
            // The outcomes that the good part of the server leads to.
            let beside: &[&str] = match kind.at {
                Place::Torrent => &["page"],
                _ if kind.keeps => &["page", "torrent_stored"],
                _ => &[],
            };
            let others: Vec<_> = counted
                .keys()
                .filter(|name| !outcomes.contains(&name.as_str()) && !beside.contains(&name.as_str()))
                .collect();
            let is_as_told = outcomes.iter().any(|outcome| counted.contains_key(*outcome));
            if !others.is_empty() || !is_as_told {
                faults.push(format!("{name}: {counted:?}, not {outcomes:?}; ended {ended}"));
            }
        }
        Ends::Somehow => {
            if counted.is_empty() && !ended.contains("unreachable") {
                faults.push(format!("{name}: ended {ended}, and nothing was counted"));
            }
        }
        Ends::GivenUp(reasons) => {
            if !reasons.iter().any(|reason| ended.contains(reason)) || !counted.is_empty() {
                faults.push(format!("{name}: ended {ended}, not for {reasons:?}; {counted:?}"));
            }
        }
    }
}
