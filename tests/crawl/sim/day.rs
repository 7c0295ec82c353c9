//! A simulated day: the service over many sites that publish torrents during the crawl. Measures the acquisition delay
//! of new torrents (ALGORITHMS §7).

use std::collections::BTreeMap;
use std::time::Instant;

use super::plan::{CLASSES, End, HOUR, Latency, Life, MINUTE, Plan};
use super::web::{self, Oddities};
use super::{check, number, world};

const REVISIT: u64 = HOUR;

/// A plan of `sites` healthy sites that publish torrents at different rates, over `hours`.
fn plan(sites: usize, hours: u64) -> Plan {
    let mut plan = Plan::of(0);
    let mut drawn = Vec::new();
    for number in 0..sites {
        let mut site = Plan::of(8 * number as u64).sites.swap_remove(0);
        site.web.name = format!("d{number}");
        site.web.seed = number as u64 + 1;
        site.web.hosts = vec![format!("www.day{number}.example")];
        site.web.oddities = Oddities { entity_tags: number % 2 == 0, feed: number % 3 == 0, ..Oddities::default() };
        site.robots.truncate(1);
        // The first page shows everything published between two rechecks.
        site.web.per_page = 12;
        site.torrents = 10 + number as u64 % 20;
        site.torrent_every = Some((10 + 7 * (number as u64 % 13)) * MINUTE);
        let revisit = REVISIT / MINUTE;
        let rate = "[rate]\nrequests_per_second = 1\nconnections = 2\n";
        site.rules = format!("start = ['http://{}/']\nrevisit_minutes = {revisit}\n{rate}{CLASSES}", site.web.hosts[0]);
        site.rules_later = None;
        drawn.push(site);
    }
    plan.sites = drawn;
    plan.latency = Latency { low: 20, high: 400, slow_share: 1, slow: 5_000 };
    plan.lives = vec![Life { end: End::Stopped(hours * HOUR), is_service: true }];
    plan
}

/// `GLEANER_SIM_SITES` sites over `GLEANER_SIM_HOURS`: the full day has 50 and 24.
#[test]
fn new_torrents_of_a_day_are_found_within_two_looks() {
    let (sites, hours) = (number("GLEANER_SIM_SITES", 6) as usize, number("GLEANER_SIM_HOURS", 12));
    let plan = plan(sites, hours);
    #[allow(clippy::disallowed_methods, reason = "the real time that a simulated day takes")]
    let began = Instant::now();
    let history = world::run(plan.clone());
    let took = began.elapsed();
    let faults = check(&history);
    assert!(faults.is_empty(), "{} faults:\n{}", faults.len(), faults[..faults.len().min(20)].join("\n"));

    let stored: BTreeMap<[u8; 20], u64> =
        history.torrents.iter().filter_map(|row| Some((row.facts.infohashes.v1?, row.stored.0))).collect();
    let mut delays = Vec::new();
    for site in &plan.sites {
        let every = site.torrent_every.unwrap();
        // Torrents published during the last two intervals may wait for the next day.
        let until = site.torrents_at((hours * HOUR).saturating_sub(2 * REVISIT));
        for id in site.torrents..until {
            if web::original(site.web.seed, id) != id {
                continue;
            }
            let out_at = (id + 1 - site.torrents) * every;
            let hash = web::torrent_file(site.web.seed, id).1;
            let found = stored.get(&hash).unwrap_or_else(|| panic!("torrent {id} of {} was not found", site.web.name));
            delays.push((found - super::wire::DAWN).saturating_sub(out_at));
        }
    }
    delays.sort_unstable();
    let mean = delays.iter().sum::<u64>() / delays.len().max(1) as u64;
    let longest = delays.last().copied().unwrap_or_default();
    println!(
        "{sites} sites, {hours} h: {} requests, {} torrents, {} new ones with a mean delay of {} s, {} s at most; took {took:?}",
        history.log.len(),
        history.torrents.len(),
        delays.len(),
        mean / 1_000,
        longest / 1_000
    );
    assert!(!delays.is_empty());
    // A recheck each hour of the average list, more where they pay and fewer elsewhere, and the round that follows it.
    assert!(mean <= REVISIT * 3 / 4 && longest <= 5 * REVISIT / 2, "mean {mean} ms, longest {longest} ms");
}
