//! Was the crawl polite? Told from the log of requests, the rule files and the simulated robots.txt alone.

use std::collections::BTreeMap;
use std::time::Duration;

use gleaner::clock::UnixMillis;
use gleaner::crawl::robots_txt::KEPT_FOR;
use gleaner::limits;
use gleaner::politeness::backoff;
use gleaner::rules::Robots;

use super::plan::Millis;
use super::store::Event;
use super::wire::{Entry, Served};
use super::world::History;

/// All checks of manners.
pub fn check(history: &History) -> Vec<String> {
    let mut faults = Vec::new();
    let answers = robots_answers(history);
    for requests in by_host(history).values() {
        spacing(history, &answers, requests, &mut faults);
        connections(history, requests, &mut faults);
        pauses(requests, &mut faults);
    }
    kept_pauses(history, &mut faults);
    robots(history, &answers, &mut faults);
    lengths(history, &mut faults);
    faults
}

/// Requests of one life to one host name, in the order of their beginning: what politeness binds.
fn by_host(history: &History) -> BTreeMap<(u64, &str), Vec<&Entry>> {
    let mut hosts = BTreeMap::<_, Vec<&Entry>>::new();
    for entry in &history.log {
        hosts.entry((entry.life, entry.host.as_str())).or_default().push(entry);
    }
    hosts
}

/// The rules of robots.txt that were in force for a request, and when they came.
fn robots_before<'a>(answers: &[&'a Entry], entry: &Entry) -> Option<&'a Entry> {
    let origin = |entry: &Entry| entry.url.len() - entry.path.len();
    answers.iter().rev().copied().find(|robots| {
        (robots.life, robots.site) == (entry.life, entry.site)
            && robots.url[..origin(robots)] == entry.url[..origin(entry)]
            && robots.ended.is_some_and(|(ended, _)| ended <= entry.began)
    })
}

/// Every robots.txt that was answered.
fn robots_answers(history: &History) -> Vec<&Entry> {
    history.log.iter().filter(|entry| entry.is_robots() && matches!(entry.served, Served::Robots(_))).collect()
}

/// Least time between the beginnings of a request and the next one to the host.
fn interval(history: &History, answers: &[&Entry], entry: &Entry) -> Millis {
    let rules = &history.lives[entry.life as usize].rules[entry.site];
    // A delay that robots.txt asks for is known once it has come.
    let asked = match robots_before(answers, entry).map(|robots| &robots.served) {
        Some(Served::Robots(Some(asked))) if rules.robots == Robots::Obey => asked.delay_ms,
        _ => 0,
    };
    asked.max(rules.rate.interval.as_millis() as Millis)
}

/// True when neither the even clock nor the wall clock has come so far: the crawl knows the wall clock only, and a
/// jump of it is not the crawl's fault.
fn too_early(entry: &Entry, from: Millis, from_wall: UnixMillis, wait: Millis) -> bool {
    entry.began - from < wait && entry.began_wall.0 < from_wall.0.saturating_add(wait)
}

fn spacing(history: &History, answers: &[&Entry], requests: &[&Entry], faults: &mut Vec<String>) {
    for pair in requests.windows(2) {
        let wait = interval(history, answers, pair[0]);
        if too_early(pair[1], pair[0].began, pair[0].began_wall, wait) {
            faults.push(format!(
                "spacing: {} ms after another request to the host, {wait} are due\n    {}\n    {}",
                pair[1].began - pair[0].began,
                pair[0].line(),
                pair[1].line()
            ));
        }
    }
}

fn connections(history: &History, requests: &[&Entry], faults: &mut Vec<String>) {
    for (index, entry) in requests.iter().enumerate() {
        let open = requests[..index].iter().filter(|other| other.ended.is_none_or(|(ended, _)| ended > entry.began));
        let open = open.count() + 1;
        let allowed = usize::from(history.lives[entry.life as usize].rules[entry.site].rate.connections);
        if open > allowed {
            faults.push(format!("connections: {open} are open, {allowed} allowed\n    {}", entry.line()));
        }
    }
}

/// No request before the end of a pause that an answer imposed.
fn pauses(requests: &[&Entry], faults: &mut Vec<String>) {
    let mut answers: Vec<&Entry> = requests.iter().copied().filter(|entry| entry.ended.is_some()).collect();
    answers.sort_by_key(|entry| entry.ended);
    let (mut in_row, mut last_end) = (0, None);
    for answer in answers {
        let Some((ended, ended_wall)) = answer.ended else { continue };
        let Served::Busy(_, asked) = &answer.served else {
            let is_good = !matches!(answer.served, Served::Fail(_) | Served::Pending | Served::Status(500..));
            if is_good {
                in_row = 0;
            }
            continue;
        };
        // Answers to requests that were under way together are one complaint.
        if last_end.is_none_or(|last| answer.began > last) {
            in_row += 1;
        }
        last_end = Some(ended);
        let until = backoff::throttled_until(in_row, ended_wall).max(asked.unwrap_or_default());
        let wait = until.since(ended_wall).as_millis() as Millis;
        for entry in requests.iter().filter(|entry| entry.began > ended) {
            if too_early(entry, ended, ended_wall, wait) {
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

/// A pause that is in the database holds for every life.
fn kept_pauses(history: &History, faults: &mut Vec<String>) {
    for told in &history.told {
        let Event::Blocked(host, until) = told.event else { continue };
        let origin = &history.hosts[host.0 as usize].origin;
        let name = origin.split("://").nth(1).and_then(|authority| authority.split(':').next()).unwrap_or_default();
        let wait = until.since(told.wall).as_millis() as Millis;
        let later = history.log.iter().filter(|entry| entry.began > told.at && entry.host == name);
        for entry in later {
            if too_early(entry, told.at, told.wall, wait) {
                let (at, left) = (told.at, wait);
                faults.push(format!("kept pause: at {at} ms a pause of {left} ms was kept\n    {}", entry.line()));
            }
        }
    }
}

/// robots.txt first, and nothing that it closes.
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

/// No transfer without end, none larger than its cap.
fn lengths(history: &History, faults: &mut Vec<String>) {
    let time_max = limits::REQUEST_TIME_MAX.as_millis() as Millis + 30_000;
    // The piece that passes the cap has come already.
    let bytes_max = limits::PAGE_BYTES_MAX as u64 + (512 << 10);
    for entry in &history.log {
        if entry.ended.is_none_or(|(ended, _)| ended - entry.began > time_max) {
            faults.push(format!("length: a transfer without end\n    {}", entry.line()));
        }
        if entry.bytes > bytes_max {
            faults.push(format!("length: {} bytes were taken\n    {}", entry.bytes, entry.line()));
        }
    }
}
