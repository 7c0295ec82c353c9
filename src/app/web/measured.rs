//! The figures of a running service for Prometheus, from the report that `status` prints.

use std::collections::BTreeMap;
use std::path::Path;

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::progress::{Ended, SessionState};
use gleaner_serve::metrics::Kind::{Counter, Gauge};
use gleaner_serve::metrics::{Family, Kind};
use gleaner_store::crawldb::Outcome;

use crate::app::status::{SiteStatus, StatusReport};

/// What a site is doing: one of these is 1.
const STATES: [&str; 7] = ["crawling", "idle", "waiting", "unreachable", "refused", "not_logged_in", "stopped"];

/// Outcomes that have a series before the first visit ends so.
const ALWAYS: [Outcome; 4] = [Outcome::Page, Outcome::TorrentStored, Outcome::TorrentDuplicate, Outcome::ServerError];

fn state(site: &SiteStatus) -> &'static str {
    match &site.ended {
        Some(Ended::Unreachable(_)) => "unreachable",
        Some(Ended::Refused(_)) => "refused",
        Some(Ended::NotLoggedIn(_)) => "not_logged_in",
        Some(Ended::Stopped | Ended::Budget(_)) => "stopped",
        Some(Ended::Exhausted) => "idle",
        None if !site.is_crawled => "stopped",
        None if site.no_session.is_some() => "not_logged_in",
        None if site.waiting.is_some() || site.blocked_hosts.iter().any(|host| host.waits) => "waiting",
        None if site.under_way > 0 => "crawling",
        None => "idle",
    }
}

/// A name, what it is, and its value for a site.
type OfSite = (&'static str, &'static str, Kind, fn(&SiteStatus) -> u64);

const OF_SITES: [OfSite; 14] = [
    ("gleaner_site_crawled", "1 for a site that this process crawls.", Gauge, |site| site.is_crawled.into()),
    ("gleaner_requests_total", "Requests to the site, those of page scripts included.", Counter, |site| site.pages),
    ("gleaner_script_requests_total", "Requests that scripts of its pages sent.", Counter, |site| {
        site.scripts.script_requests
    }),
    ("gleaner_requests_under_way", "Requests in flight.", Gauge, |site| site.under_way as u64),
    ("gleaner_response_bytes_total", "Decoded bytes of response bodies.", Counter, |site| site.counts.body_bytes),
    ("gleaner_torrents", "Distinct torrents with a source on the site.", Gauge, |site| site.counts.torrents_seen),
    ("gleaner_torrents_stored", "Torrents that the site gave first.", Gauge, |site| site.counts.torrents),
    ("gleaner_magnets", "Torrents known by a magnet link alone.", Gauge, |site| site.counts.magnets),
    ("gleaner_urls_known", "URLs that are known.", Gauge, |site| site.counts.urls_known),
    ("gleaner_urls_queued", "URLs that wait to be fetched.", Gauge, |site| site.counts.urls_queued),
    ("gleaner_pages_not_whole", "Pages that were not read whole.", Gauge, |site| site.pages_not_whole),
    ("gleaner_broken_rules", "Rules that keep their promise no more: the site may have changed.", Gauge, |site| {
        site.broken_promises.len() as u64
    }),
    ("gleaner_hosts_paused", "Hosts of the site that asked for a pause which lasts.", Gauge, |site| {
        site.blocked_hosts.iter().filter(|host| host.waits).count() as u64
    }),
    ("gleaner_site_session_missing", "1 for an account that is not logged in.", Gauge, |site| {
        (site.no_session.is_some() || matches!(site.session, Some(SessionState::Missing { .. }))).into()
    }),
];

/// All families of a report.
pub(super) fn families(report: &StatusReport, data_dir: &Path, started: UnixMillis) -> Vec<Family> {
    let label = |site: &SiteStatus| vec![("site", site.name.clone())];
    let mut info = Family::new("gleaner_build_info", "The version.", Gauge);
    info.add(vec![("version", env!("CARGO_PKG_VERSION").to_owned())], 1.0);
    let mut families = vec![
        info,
        Family::of("gleaner_start_time_seconds", "When this process started.", Gauge, started.0 as f64 / 1_000.0),
        Family::of("gleaner_rule_faults", "Faults of rule files that cannot be used.", Gauge, faults(report)),
        Family::of(
            "gleaner_store_fault",
            "1 while results cannot be stored, as on a full disk.",
            Gauge,
            f64::from(u8::from(report.store_fault.is_some())),
        ),
    ];
    for (name, help, kind, value) in OF_SITES {
        let mut family = Family::new(name, help, kind);
        report.sites.iter().for_each(|site| family.add(label(site), value(site) as f64));
        families.push(family);
    }
    let mut states = Family::new("gleaner_site_state", "1 for the state that the site is in.", Gauge);
    let mut visits = Family::new("gleaner_visits_total", "Visits by outcome.", Counter);
    let mut delay = Family::new(
        "gleaner_acquisition_delay_seconds",
        "How late new torrents were stored, by quantile; absent before the first.",
        Gauge,
    );
    for site in &report.sites {
        for name in STATES {
            let is_in = f64::from(u8::from(state(site) == name));
            states.add([label(site), vec![("state", name.to_owned())]].concat(), is_in);
        }
        let mut outcomes: BTreeMap<&str, u64> = ALWAYS.iter().map(|outcome| (outcome.name(), 0)).collect();
        outcomes.extend(site.counts.outcomes.iter().map(|(outcome, count)| (outcome.as_str(), *count)));
        for (outcome, count) in outcomes {
            visits.add([label(site), vec![("outcome", outcome.to_owned())]].concat(), count as f64);
        }
        let figures = site.delay.as_ref();
        for (quantile, value) in [
            ("0.5", figures.and_then(|of| of.median_s)),
            ("0.9", figures.and_then(|of| of.p90_s)),
            ("0.99", figures.and_then(|of| of.p99_s)),
        ] {
            if let Some(value) = value {
                delay.add([label(site), vec![("quantile", quantile.to_owned())]].concat(), value);
            }
        }
    }
    families.extend([states, visits, delay]);
    families.extend(of_the_machine(data_dir));
    families
}

fn faults(report: &StatusReport) -> f64 {
    report.rule_faults.iter().map(|fault| fault.count).sum::<usize>() as f64
}

/// Disk, memory, processor time and files.
fn of_the_machine(data_dir: &Path) -> Vec<Family> {
    let mut families = Vec::new();
    if let Ok(disk) = rustix::fs::statvfs(data_dir) {
        let free = disk.f_bavail.saturating_mul(disk.f_frsize) as f64;
        families.push(Family::of("gleaner_disk_free_bytes", "Free bytes of the data folder's disk.", Gauge, free));
    }
    let mut store = Family::new("gleaner_store_bytes", "Bytes of the databases and of the search index.", Gauge);
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |of| of.len());
    store.add(vec![("part", "crawldb".to_owned())], size(&data_dir.join("crawl.redb")) as f64);
    store.add(vec![("part", "update".to_owned())], size(&data_dir.join("update.redb")) as f64);
    let index = std::fs::read_dir(data_dir.join("search")).into_iter().flatten().flatten();
    store.add(vec![("part", "search".to_owned())], index.map(|entry| size(&entry.path())).sum::<u64>() as f64);
    families.push(store);
    let own = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let pages = own("/proc/self/statm").split(' ').nth(1).and_then(|pages| pages.parse::<f64>().ok());
    if let Some(pages) = pages {
        let bytes = pages * rustix::param::page_size() as f64;
        families.push(Family::of("process_resident_memory_bytes", "Resident memory.", Gauge, bytes));
    }
    // Behind the name of the program, which may hold anything: user and system time, in ticks.
    let stat = own("/proc/self/stat");
    let fields: Vec<&str> = stat.rsplit(") ").next().unwrap_or_default().split(' ').collect();
    let ticks = |at: usize| fields.get(at).and_then(|ticks| ticks.parse::<f64>().ok());
    if let (Some(user), Some(system)) = (ticks(11), ticks(12)) {
        let seconds = (user + system) / rustix::param::clock_ticks_per_second() as f64;
        families.push(Family::of("process_cpu_seconds_total", "Processor time.", Counter, seconds));
    }
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    families.push(Family::of("process_open_fds", "Open files.", Gauge, files as f64));
    families
}
