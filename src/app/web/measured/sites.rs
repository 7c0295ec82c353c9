//! The families with a series for each site.

use std::collections::BTreeMap;

use gleaner_base::clock::UnixMillis;
use gleaner_crawl::freshness::histogram;
use gleaner_crawl::measured::ListsRead;
use gleaner_crawl::progress::{Ended, SessionState, SiteProgress};
use gleaner_rules::Class;
use gleaner_serve::metrics::Kind::{Counter, Gauge, Histogram, Summary};
use gleaner_serve::metrics::{Family, Kind, Label};
use gleaner_store::crawldb::{Outcome, SiteCounts};

use super::seconds;
use crate::app::figures::Counted;

/// What is known of a site.
pub(super) struct Measures {
    pub name: String,
    /// This process crawls it.
    pub is_enabled: bool,
    pub doing: SiteProgress,
    pub counts: SiteCounts,
    /// Requests of its pages' scripts.
    pub script_requests: u64,
    /// Acquisition delays.
    pub delays: histogram::Histogram,
    pub last_success: Option<UnixMillis>,
    pub last_find: Option<UnixMillis>,
    pub broken_rules: usize,
    pub rule_faults: usize,
    pub hosts_paused: usize,
}

/// What a site is doing: one of these is 1.
const STATES: [&str; 7] = ["crawling", "idle", "waiting", "unreachable", "refused", "not_logged_in", "stopped"];

/// Outcomes that have a series before the first visit ends so.
const ALWAYS: [Outcome; 4] = [Outcome::Page, Outcome::TorrentStored, Outcome::TorrentDuplicate, Outcome::ServerError];

/// Upper ends of the classes of the acquisition delay, in seconds: a minute to a week.
const DELAYS_S: [f64; 11] =
    [60.0, 300.0, 900.0, 1_800.0, 3_600.0, 7_200.0, 21_600.0, 43_200.0, 86_400.0, 259_200.0, 604_800.0];

impl Measures {
    fn label(&self) -> Label {
        ("site", self.name.clone())
    }

    /// The label of the site and another one.
    fn labels(&self, name: &'static str, value: &str) -> Vec<Label> {
        vec![self.label(), (name, value.to_owned())]
    }

    fn state(&self) -> &'static str {
        match &self.doing.ended {
            Some(Ended::Unreachable(_)) => "unreachable",
            Some(Ended::Refused(_)) => "refused",
            Some(Ended::NotLoggedIn(_)) => "not_logged_in",
            Some(Ended::Stopped | Ended::Budget(_)) => "stopped",
            Some(Ended::Exhausted) => "idle",
            None if !self.is_enabled => "stopped",
            None if self.doing.no_session().is_some() => "not_logged_in",
            None if self.doing.waiting.is_some() || self.hosts_paused > 0 => "waiting",
            None if self.doing.under_way > 0 => "crawling",
            None => "idle",
        }
    }

    fn waiting_until(&self) -> f64 {
        self.doing.waiting.as_ref().map_or(0.0, |(until, _)| seconds(*until))
    }

    fn session_is_valid(&self) -> bool {
        matches!(self.doing.session, None | Some(SessionState::Good { .. }))
    }
}

/// A name, what it is, and its value for a site.
type OfSite = (&'static str, &'static str, Kind, fn(&Measures) -> f64);

const OF_SITES: [OfSite; 18] = [
    ("gleaner_site_enabled", "1 for a site that this process crawls.", Gauge, |of| of.is_enabled.into()),
    (
        "gleaner_site_last_success_timestamp_seconds",
        "When a visit last gave what its kind gives: a torrent, a page, a redirect to one; 0 for never. Half a minute old at most.",
        Gauge,
        |of| time(of.last_success),
    ),
    (
        "gleaner_site_last_find_timestamp_seconds",
        "When a torrent or magnet last came that was new; 0 for never. Half a minute old at most.",
        Gauge,
        |of| time(of.last_find),
    ),
    (
        "gleaner_site_next_look_timestamp_seconds",
        "When the next recheck of a list or round is planned; 0 while one is due, or none is planned.",
        Gauge,
        |of| time(of.doing.measured.next_look),
    ),
    (
        "gleaner_site_waiting_until_timestamp_seconds",
        "Until when nothing is requested; 0 while the site does not wait.",
        Gauge,
        Measures::waiting_until,
    ),
    ("gleaner_site_session_valid", "0 while the site's account is not logged in; 1 without an account.", Gauge, |of| {
        of.session_is_valid().into()
    }),
    ("gleaner_requests_under_way", "Requests in flight.", Gauge, |of| of.doing.under_way as f64),
    ("gleaner_response_bytes_total", "Decoded bytes of response bodies.", Counter, |of| of.counts.body_bytes as f64),
    ("gleaner_torrents", "Distinct torrents with a source on the site.", Gauge, |of| of.counts.torrents_seen as f64),
    ("gleaner_torrents_stored_total", "Torrents that the site gave first.", Counter, |of| of.counts.torrents as f64),
    ("gleaner_torrents_duplicate_total", "Visits that returned a known torrent.", Counter, |of| {
        of.counts.of(Outcome::TorrentDuplicate) as f64
    }),
    ("gleaner_magnets", "Torrents known by a magnet link alone.", Gauge, |of| of.counts.magnets as f64),
    ("gleaner_urls_known", "URLs that are known.", Gauge, |of| of.counts.urls_known as f64),
    ("gleaner_urls_gone", "URLs that were gone at their last visit.", Gauge, |of| of.counts.urls_gone as f64),
    ("gleaner_pages_not_whole", "Pages that were not read whole.", Gauge, |of| of.counts.pages_not_whole as f64),
    ("gleaner_hosts_paused", "Hosts of the site that asked for a pause which lasts.", Gauge, |of| {
        of.hosts_paused as f64
    }),
    ("gleaner_rule_faults", "Faults of the site's rule file, which cannot be used.", Gauge, |of| of.rule_faults as f64),
    ("gleaner_rules_broken", "Rules that keep their promise no more: the site may have changed.", Gauge, |of| {
        of.broken_rules as f64
    }),
];

fn time(at: Option<UnixMillis>) -> f64 {
    at.map_or(0.0, seconds)
}

/// All of them.
pub(super) fn families(sites: &[Measures], counted: &Counted) -> Vec<Family> {
    let mut families: Vec<Family> = OF_SITES
        .iter()
        .map(|(name, help, kind, value)| {
            let mut family = Family::new(name, help, *kind);
            sites.iter().for_each(|site| family.add(vec![site.label()], value(site)));
            family
        })
        .collect();
    families.extend(of_state_and_visits(sites));
    families.extend(of_requests(sites));
    families.extend(of_lists(sites));
    families.extend(of_coverage(sites, counted));
    families
}

fn of_state_and_visits(sites: &[Measures]) -> Vec<Family> {
    let mut states = Family::new("gleaner_site_state", "1 for the state that the site is in.", Gauge);
    let mut visits = Family::new("gleaner_visits_total", "Visits by outcome.", Counter);
    let mut queued = Family::new(
        "gleaner_urls_queued",
        "URLs that wait to be fetched: of history, and of what rechecks have found.",
        Gauge,
    );
    for site in sites {
        for state in STATES {
            states.add(site.labels("state", state), f64::from(u8::from(site.state() == state)));
        }
        let mut outcomes: BTreeMap<&str, u64> = ALWAYS.iter().map(|outcome| (outcome.name(), 0)).collect();
        outcomes.extend(site.counts.outcomes.iter().map(|(outcome, count)| (outcome.name(), *count)));
        for (outcome, count) in outcomes {
            visits.add(site.labels("outcome", outcome), count as f64);
        }
        let news = site.doing.crews.as_ref().map_or(0, |crews| crews.waiting);
        queued.add(site.labels("crew", "history"), site.counts.urls_queued as f64);
        queued.add(site.labels("crew", "increment"), news as f64);
    }
    vec![states, visits, queued]
}

fn of_requests(sites: &[Measures]) -> Vec<Family> {
    let mut requests =
        Family::new("gleaner_requests_total", "Requests to the site: of visits, and of scripts of its pages.", Counter);
    let mut fetches = Family::new(
        "gleaner_fetch_duration_seconds",
        "Time from a visit's request to the end of its response, since the start.",
        Histogram,
    );
    let mut used = Family::new(
        "gleaner_requests_day_used",
        "Requests of the site's day; only where its rules have `requests_per_day`.",
        Gauge,
    );
    let mut limit = Family::new("gleaner_requests_day_limit", "The site's `requests_per_day`, if it has one.", Gauge);
    for site in sites {
        requests.add(site.labels("kind", "script"), site.script_requests as f64);
        requests.add(site.labels("kind", "visit"), site.counts.pages() as f64);
        fetches.durations(&[site.label()], &site.doing.measured.fetches);
        if let Some(day) = site.doing.measured.day {
            used.add(vec![site.label()], day.used as f64);
            limit.add(vec![site.label()], day.limit as f64);
        }
    }
    vec![requests, fetches, used, limit]
}

fn of_lists(sites: &[Measures]) -> Vec<Family> {
    let mut rows = Family::new(
        "gleaner_listing_rows",
        "Rows of the pages of lists that were read since the start, by class: a sum of rows and a count of pages.",
        Summary,
    );
    let mut delays = Family::new(
        "gleaner_acquisition_delay_seconds",
        "How late new torrents were stored after they appeared, since the site's first crawl; within 2.5 %.",
        Histogram,
    );
    for site in sites {
        for class in Class::ALL.iter().filter(|class| class.is_listing()) {
            let ListsRead { pages, rows: sum } =
                site.doing.measured.lists.get(class.name()).copied().unwrap_or_default();
            rows.summary(&site.labels("class", class.name()), pages, sum as f64);
        }
        let classes = DELAYS_S.iter().map(|end| (*end, site.delays.at_most(*end)));
        delays.histogram(&[site.label()], classes, site.delays.count(), site.delays.sum_s());
    }
    vec![rows, delays]
}

fn of_coverage(sites: &[Measures], counted: &Counted) -> Vec<Family> {
    let mut ratio = Family::new(
        "gleaner_coverage_ratio",
        "Share of the listed torrents that is in the archive (CR), at most 1; absent while it is not known.",
        Gauge,
    );
    let mut listed = Family::new(
        "gleaner_coverage_listed_torrents",
        "Torrents that the site lists, estimated from above (NT); 0 while no list was read.",
        Gauge,
    );
    for site in sites {
        let covered = counted.sites.get(&site.name).cloned().unwrap_or_default();
        if let Some(share) = covered.ratio {
            ratio.add(vec![site.label()], share);
        }
        listed.add(vec![site.label()], covered.listed as f64);
    }
    let at = Family::of(
        "gleaner_coverage_timestamp_seconds",
        "When the coverage was counted, which is done every ten seconds at most; 0 before the first time.",
        Gauge,
        time(counted.at),
    );
    vec![ratio, listed, at]
}

#[cfg(test)]
mod tests;
