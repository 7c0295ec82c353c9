//! Checks the crawl's politeness, using only the log of requests, the rule files and the simulated robots.txt.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::time::Duration;

use gleaner_crawl::robots_txt::KEPT_FOR;
use gleaner_net::politeness::backoff;
use gleaner_rules::Robots;

use super::plan::Millis;
use super::store::Event;
use super::wire::{self, Entry, Served};
use super::world::History;

/// All checks of manners.
pub fn check(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let answers = robots_answers(history);
    for (key, requests) in &by_key(history) {
        if let Key::Host(_) = key.1 {
            pauses(history, requests, &mut faults);
        } else {
            spacing(history, &answers, requests, &mut faults);
            connections(history, &answers, requests, &mut faults);
        }
    }
    kept_pauses(history, &mut faults);
    robots(history, &answers, &mut faults);
    hours(history, &mut faults);
    lengths(history, &mut faults);
    faults
}

/// The scope of a limit: pauses apply to the host name, rate and connections to its registrable domain and its address.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    Host(String),
    Domain(String),
    Address(IpAddr),
}

/// Requests of one life under one key, in the order of their start.
fn by_key(history: &History) -> BTreeMap<(u64, Key), Vec<&Entry>> {
    let mut keys = BTreeMap::<_, Vec<&Entry>>::new();
    for entry in &history.log {
        let domain = psl::domain_str(&entry.host).unwrap_or(&entry.host);
        let address = wire::address(history.plan.seed, &entry.host);
        for key in [Key::Host(entry.host.clone()), Key::Domain(domain.to_owned()), Key::Address(address)] {
            keys.entry((entry.life, key)).or_default().push(entry);
        }
    }
    keys
}

/// The robots.txt rules in effect for a request, and when they were received.
fn robots_before<'a>(answers: &[&'a Entry], entry: &Entry) -> Option<&'a Entry> {
    let origin = |entry: &Entry| entry.url.len() - entry.path.len();
    answers.iter().rev().copied().find(|robots| {
        (robots.life, robots.site) == (entry.life, entry.site)
            && robots.url[..origin(robots)] == entry.url[..origin(entry)]
            && robots.ended.is_some_and(|(ended, _)| ended <= entry.began)
    })
}

/// Every robots.txt response.
fn robots_answers(history: &History) -> Vec<&Entry> {
    history.log.iter().filter(|entry| entry.is_robots() && matches!(entry.served, Served::Robots(_))).collect()
}

/// The limits for a request, by the rule text and the robots.txt received before it started.
struct Manners {
    interval: Millis,
    connections: usize,
    rest_factor: f64,
    rest_min: Millis,
}

fn manners(history: &History, answers: &[&Entry], entry: &Entry) -> Manners {
    let rules = &history.lives[entry.life as usize].rules[entry.site];
    // A site whose crawl failed restarts in the same process, and knows of no delay until its robots.txt arrives again; the log does
    // not have its restart.
    let lived = &history.lives[entry.life as usize];
    let begins_anew = || lived.ends.iter().any(|(site, ended)| *site == entry.site && ended.is_err());
    let asked = match robots_before(answers, entry).map(|robots| &robots.served) {
        Some(Served::Robots(Some(asked))) if rules.robots == Robots::Obey && !(entry.is_robots() && begins_anew()) => {
            asked.delay_ms
        }
        _ => 0,
    };
    Manners {
        interval: asked.max(rules.rate.interval.as_millis() as Millis),
        connections: if asked > 0 { 1 } else { rules.rate.connections.into() },
        rest_factor: rules.rate.rest_factor.into(),
        rest_min: asked,
    }
}

/// The delay that this very response asks for.
fn own_delay(history: &History, entry: &Entry) -> Millis {
    match &entry.served {
        Served::Robots(Some(asked)) if history.lives[entry.life as usize].rules[entry.site].robots == Robots::Obey => {
            asked.delay_ms
        }
        _ => 0,
    }
}

/// True if a request came less than `wait` after `from`, by the monotonic clock: a process detects jumps of the wall clock, unless
/// they are too short to distinguish from a slew.
fn too_early(history: &History, entry: &Entry, from: Millis, wait: Millis) -> bool {
    let jumps = history.plan.clock_jumps.iter().filter(|(at, _)| (from..=entry.began).contains(at));
    let unseen =
        jumps.filter_map(|(_, by)| u64::try_from(*by).ok()).filter(|by| *by < gleaner_crawl::limits::CLOCK_SET_MS_MIN);
    entry.began - from + unseen.sum::<u64>() < wait
}

fn spacing(history: &History, answers: &[&Entry], requests: &[&Entry], faults: &mut Vec<String>) {
    for pair in requests.windows(2) {
        let wait = manners(history, answers, pair[0]).interval;
        if too_early(history, pair[1], pair[0].began, wait) {
            faults.push(format!(
                "spacing: {} ms after another request, {wait} are due\n    {}\n    {}",
                pair[1].began - pair[0].began,
                pair[0].line(),
                pair[1].line()
            ));
        }
    }
}

/// Connections in use or resting, counted from the end of their responses, never exceed the limit.
fn connections(history: &History, answers: &[&Entry], requests: &[&Entry], faults: &mut Vec<String>) {
    let mut taken: Vec<(Millis, &Entry)> = Vec::new();
    for entry in requests {
        taken.retain(|(until, _)| *until > entry.began);
        let own = manners(history, answers, entry);
        let open = taken.len() + 1;
        if open > own.connections {
            let other = taken[0].1.line();
            faults.push(format!(
                "connections: {open} are open or rest, {} allowed\n    {other}\n    {}",
                own.connections,
                entry.line()
            ));
        }
        let until = match entry.ended {
            None => Millis::MAX,
            Some((ended, _)) => {
                let follows = (ended - entry.began) as f64 * own.rest_factor;
                let rest =
                    (follows as Millis).min(gleaner_net::limits::REST_MAX.as_millis() as Millis).max(own.rest_min);
                // The delay from a robots.txt applies after its own response, too.
                ended + rest.max(own_delay(history, entry))
            }
        };
        taken.push((until, entry));
    }
}

/// No request before the end of a pause that a response imposed.
fn pauses(history: &History, requests: &[&Entry], faults: &mut Vec<String>) {
    let mut answers: Vec<&Entry> = requests.iter().copied().filter(|entry| entry.ended.is_some()).collect();
    answers.sort_by_key(|entry| entry.ended);
    let (mut in_row, mut last_end) = (0, None);
    for answer in answers {
        let Some((ended, ended_wall)) = answer.ended else { continue };
        let Served::Busy(asked) = &answer.served else {
            let is_good =
                !matches!(answer.served, Served::Fail(_) | Served::Pending | Served::Status(500..) | Served::Robots(_));
            if is_good {
                in_row = 0;
            }
            continue;
        };
        // Responses to concurrent requests are one complaint.
        if last_end.is_none_or(|last| answer.began > last) {
            in_row += 1;
        }
        last_end = Some(ended);
        let until = backoff::throttled_until(in_row, ended_wall).max(asked.unwrap_or_default());
        let wait = until.since(ended_wall).as_millis() as Millis;
        for entry in requests.iter().filter(|entry| entry.began > ended) {
            if too_early(history, entry, ended, wait) {
                faults.push(format!(
                    "pause: a request {} ms after complaint {in_row} of the host, {wait} ms are due\n    {}\n    {}",
                    entry.began - ended,
                    answer.line(),
                    entry.line()
                ));
            }
        }
    }
}

/// A pause in the database holds for every life.
fn kept_pauses(history: &History, faults: &mut Vec<String>) {
    for told in &history.told {
        let Event::Blocked(host, until) = told.event else { continue };
        let origin = &history.hosts[host.0 as usize].origin;
        let name = origin.split("://").nth(1).and_then(|authority| authority.split(':').next()).unwrap_or_default();
        let wait = until.since(told.wall).as_millis() as Millis;
        let later = history.log.iter().filter(|entry| entry.began > told.at && entry.host == name);
        for entry in later {
            let early = if entry.life == told.life {
                too_early(history, entry, told.at, wait)
            } else {
                // Only the wall clock outlives a process: a pause that is over when the next one starts is over.
                let latest = wire::latest_wall(&history.plan, history.lives[entry.life as usize].from, entry.began);
                entry.began - told.at < wait && latest < until
            };
            if early {
                let (at, left) = (told.at, wait);
                faults.push(format!("kept pause: at {at} ms a pause of {left} ms was kept\n    {}", entry.line()));
            }
        }
    }
}

/// robots.txt first, and no request that it disallows.
fn robots(history: &History, answers: &[&Entry], faults: &mut Vec<String>) {
    for entry in history.log.iter().filter(|entry| !entry.is_robots()) {
        if history.lives[entry.life as usize].rules[entry.site].robots != Robots::Obey {
            continue;
        }
        let Some(robots) = robots_before(answers, entry) else {
            faults.push(format!("robots: asked before the robots.txt of its origin\n    {}", entry.line()));
            continue;
        };
        let (ended, ended_wall) = robots.ended.unwrap_or_default();
        let kept = Duration::from_millis(entry.began - ended).min(entry.began_wall.since(ended_wall));
        if kept > KEPT_FOR {
            faults.push(format!("robots: the robots.txt is {} s old\n    {}", kept.as_secs(), entry.line()));
        }
        if let Served::Robots(Some(rules)) = &robots.served
            && rules.closes(&entry.path)
        {
            faults.push(format!("robots: a closed path\n    {}", entry.line()));
        }
    }
}

/// Quiet hours have no requests, and no day has more than its rules allow.
fn hours(history: &History, faults: &mut Vec<String>) {
    let mut days = BTreeMap::<(usize, u64), u64>::new();
    for entry in &history.log {
        let rules = &history.lives[entry.life as usize].rules[entry.site];
        if rules.hours.quiet_until(entry.began_wall).is_some() {
            faults.push(format!("hours: a request in quiet hours\n    {}", entry.line()));
        }
        if !entry.is_robots() {
            *days.entry((entry.site, rules.hours.day(entry.began_wall))).or_default() += 1;
        }
    }
    // Requests of visits lost to a kill are not counted: the count covers visits in the database.
    let recorded = |site: usize| {
        history.told.iter().filter(move |told| match &told.event {
            Event::Visited { visit, outcome } => outcome.was_fetched() && history.site(&visit.key) == site,
            _ => false,
        })
    };
    for ((site, day), asked) in days {
        let all = history.log.iter().filter(|entry| entry.site == site && !entry.is_robots()).count();
        let lost = (all - recorded(site).count().min(all)) as u64;
        let allowed = history.lives.iter().map(|lived| lived.rules[site].quota.requests_per_day).max().flatten();
        if let Some(allowed) = allowed
            && history.lives.iter().all(|lived| lived.rules[site].quota.requests_per_day.is_some())
            && asked > allowed + lost
        {
            faults.push(format!("hours: {asked} requests of site {site} on day {day}, {allowed} allowed"));
        }
    }
}

/// No endless transfer, none larger than its cap.
fn lengths(history: &History, faults: &mut Vec<String>) {
    let time_max = gleaner_net::limits::REQUEST_TIME_MAX.as_millis() as Millis + 30_000;
    // The piece that exceeds the cap has already arrived.
    let bytes_max = gleaner_base::limits::PAGE_BYTES_MAX as u64 + (512 << 10);
    for entry in &history.log {
        if entry.ended.is_none_or(|(ended, _)| ended - entry.began > time_max) {
            faults.push(format!("length: a transfer without end\n    {}", entry.line()));
        }
        if entry.bytes > bytes_max {
            faults.push(format!("length: {} bytes were taken\n    {}", entry.bytes, entry.line()));
        }
    }
}
