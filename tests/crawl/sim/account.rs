//! Checks that every URL is accounted for: each link on a recorded page is known, each known URL was fetched, waits for a named
//! reason or was refused by name, each response has the matching outcome, and none was fetched twice without cause.

use std::collections::{BTreeMap, HashSet};

use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::progress::Ended;
use gleaner_net::fetch::FailureKind;
use gleaner_rules::{Class, SiteRules, Verdict};
use gleaner_store::crawldb::{self, Next, Outcome, UrlKey, Visit};

use super::plan::{End, Millis};
use super::store::{Event, Told};
use super::wire::{self, Entry, Served};
use super::world::History;

/// All checks of the account.
pub fn check(history: &History) -> Vec<String> {
    let mut faults = history.troubles.clone();
    let requests = by_url(history);
    outcomes(history, &requests, &mut faults);
    fetched_with_cause(history, &requests, &mut faults);
    links_known(history, &requests, &mut faults);
    nothing_left(history, &mut faults);
    budgets(history, &mut faults);
    faults
}

type Requests<'a> = BTreeMap<(usize, String), Vec<&'a Entry>>;

/// The URL of a request, independent of the host: a mirror replaces the first host.
pub fn asked_for(history: &History, entry: &Entry) -> String {
    let rules = &history.lives[entry.life as usize].rules[entry.site];
    let origin = &entry.url[..entry.url.len() - entry.path.len()];
    let is_mirror = rules.mirrors.iter().any(|mirror| **mirror == *origin) && !entry.is_robots();
    if is_mirror { format!("{}{}", rules.primary(), entry.path) } else { entry.url.clone() }
}

fn by_url(history: &History) -> Requests<'_> {
    let mut urls = Requests::new();
    for entry in &history.log {
        urls.entry((entry.site, asked_for(history, entry))).or_default().push(entry);
    }
    urls
}

/// The request of a committed visit.
fn request_of<'a>(history: &History, requests: &Requests<'a>, told: &Told, visit: &Visit) -> Option<&'a Entry> {
    let url = history.url(&visit.key);
    let entries = requests.get(&(history.site(&visit.key), url))?;
    let before = |entry: &&&Entry| entry.life == told.life && entry.ended.is_some_and(|(ended, _)| ended <= told.at);
    entries.iter().rev().find(before).copied()
}

/// The outcomes that match what was served.
fn names(served: &Served) -> &'static [Outcome] {
    use Outcome::*;
    match served {
        Served::Pending => &[],
        Served::Page(_) => &[Page, PageDuplicate, NotModified, HtmlPosingAsTorrent],
        Served::NotModified => &[NotModified],
        Served::Blank => &[Page, PageDuplicate, NotModified, HtmlPosingAsTorrent],
        Served::Torrent(..) => &[TorrentStored, TorrentDuplicate],
        Served::Robots(_) => &[],
        Served::Status(404 | 410) => &[Gone],
        Served::Status(401 | 403) => &[Denied],
        Served::Status(408) => &[TimedOut],
        Served::Status(400..=499) => &[ClientError],
        Served::Status(_) => &[ServerError],
        Served::Busy(..) => &[Throttled],
        Served::Redirect(_) => &[Redirected, RedirectLoop, BadRedirect, RedirectRefused],
        Served::Fail(FailureKind::Dns) => &[DnsFailed],
        Served::Fail(FailureKind::Connect | FailureKind::AddressRefused) => &[ConnectFailed],
        Served::Fail(FailureKind::Tls) => &[TlsFailed],
        Served::Fail(FailureKind::TimedOut) => &[TimedOut],
        Served::Fail(FailureKind::Truncated) => &[Truncated],
        Served::Fail(FailureKind::Protocol) => &[ProtocolError],
        Served::Fake => &[HtmlPosingAsTorrent, Page, PageDuplicate],
        Served::Malformed => &[MalformedTorrent],
        Served::Binary => &[NotForUs],
        Served::Flood => &[TooLarge, TimedOut, NotForUs, Page, PageDuplicate],
    }
}

fn visits(history: &History) -> impl Iterator<Item = (&Told, &Visit, Outcome)> {
    history.told.iter().filter_map(|told| match &told.event {
        Event::Visited { visit, outcome } => Some((told, &**visit, *outcome)),
        _ => None,
    })
}

/// Recorded outcomes match what was served, and a good response is final.
fn outcomes(history: &History, requests: &Requests<'_>, faults: &mut Vec<String>) {
    for (told, visit, outcome) in visits(history) {
        if !outcome.was_fetched() {
            continue;
        }
        let url = history.url(&visit.key);
        let Some(entry) = request_of(history, requests, told, visit) else {
            faults.push(format!("outcome: {url} is recorded as {} and was never asked for", outcome.name()));
            continue;
        };
        if !names(&entry.served).contains(&outcome) {
            faults.push(format!("outcome: recorded as {}\n    {}", outcome.name(), entry.line()));
        }
        // A page is parked until other rules may accept more of it; a torrent is final.
        let is_final = match entry.served {
            Served::Page(_) => matches!(visit.next, Next::Done | Next::RevisitAt(_) | Next::Park(_)),
            Served::Torrent(..) => visit.next == Next::Done,
            _ => true,
        };
        if !is_final {
            faults.push(format!("outcome: a good answer leads to {:?}\n    {}", visit.next, entry.line()));
        }
        let (failed, refused) = (crawldb::faults(visit.attempts), crawldb::refusals(visit.attempts));
        if failed >= gleaner_net::limits::ATTEMPTS_MAX || refused >= gleaner_crawl::limits::THROTTLED_ATTEMPTS_MAX {
            faults.push(format!("outcome: after {failed} faults and {refused} refusals\n    {}", entry.line()));
        }
    }
}

/// The state of one URL during the replay of its events.
#[derive(Clone, Copy, Debug)]
enum State {
    /// May be fetched from this time on.
    Due(Millis, UnixMillis, UnixMillis),
    Asked {
        life: u64,
        broken_off: bool,
    },
    Done,
    Parked,
}

/// Every request has a cause: the URL is new or was queued again, and its due time has passed.
fn fetched_with_cause(history: &History, requests: &Requests<'_>, faults: &mut Vec<String>) {
    let mut stories = BTreeMap::<(usize, String), Vec<&Told>>::new();
    for told in &history.told {
        let key = match &told.event {
            Event::Visited { visit, .. } => &visit.key,
            Event::MadeDue(key, _) => key,
            _ => continue,
        };
        stories.entry((history.site(key), history.url(key))).or_default().push(told);
    }
    let of_hosts: Vec<(&Told, &str, usize)> = history
        .told
        .iter()
        .filter_map(|told| match told.event {
            Event::Unparked(host) | Event::BroughtForward(host) => {
                let row = &history.hosts[host.0 as usize];
                let site = history.site(&UrlKey { host, path: "/".into() });
                Some((told, &*row.origin, site))
            }
            _ => None,
        })
        .collect();
    for ((site, url), entries) in requests {
        if entries[0].is_robots() {
            continue;
        }
        let origin = &url[..url.len() - entries[0].path.len()];
        let mut story: Vec<&Told> = stories.get(&(*site, url.clone())).cloned().unwrap_or_default();
        story.extend(of_hosts.iter().filter(|(_, of, at)| *of == origin && at == site).map(|(told, _, _)| *told));
        story.sort_by_key(|told| told.at);
        // After the clock was set back, it may show the exact time of an earlier visit: the database takes the later visit for a repeat,
        // and its URL stays queued.
        let times: Vec<(Millis, UnixMillis)> = story
            .iter()
            .filter_map(|told| match &told.event {
                Event::Visited { visit, .. } => Some((told.at, visit.at)),
                _ => None,
            })
            .collect();
        let is_twin = |entry: &Entry| {
            times.iter().any(|(told, at)| {
                *told < entry.began && entry.ended.is_some_and(|(_, ended)| (entry.began_wall..=ended).contains(at))
            })
        };
        let mut story = story.into_iter().peekable();
        let mut before: Option<&Entry> = None;
        let mut state = State::Due(0, UnixMillis(0), UnixMillis(0));
        for entry in entries {
            while let Some(told) = story.next_if(|told| told.at <= entry.began) {
                state = told_of(told, state);
            }
            let broke_off = history.lives[entry.life as usize].ends.iter().any(|(at, end)| at == site && end.is_err());
            let fault = match state {
                State::Due(since, since_wall, due) => {
                    let wait = due.since(since_wall).as_millis() as Millis;
                    // Due times use the wall clock, and a URL marked due by a clock that was ahead stays due.
                    let latest = wire::latest_wall(&history.plan, since, entry.began);
                    let early = entry.began - since < wait && latest < due;
                    early.then(|| format!("{} ms before it is due", wait - (entry.began - since)))
                }
                State::Asked { life, broken_off } => {
                    let lost = life != entry.life || broken_off || broke_off || before.is_some_and(is_twin);
                    (!lost).then(|| "while an earlier answer is not recorded".to_owned())
                }
                State::Done => Some("though it is done".to_owned()),
                State::Parked => Some("though it is parked".to_owned()),
            };
            if let Some(fault) = fault {
                faults.push(format!("cause: asked {fault}\n    {}", entry.line()));
            }
            state = State::Asked { life: entry.life, broken_off: matches!(entry.served, Served::Pending) };
            before = Some(entry);
        }
    }
}

fn told_of(told: &Told, state: State) -> State {
    match &told.event {
        Event::Visited { visit, .. } => match visit.next {
            Next::Done => State::Done,
            Next::Park(_) => State::Parked,
            Next::RetryAt(at) | Next::RefusedUntil(at) | Next::WaitUntil(at) | Next::RevisitAt(at) => {
                State::Due(told.at, told.wall, at)
            }
        },
        Event::MadeDue(_, at) => match state {
            State::Due(since, wall, earlier) if earlier <= *at => State::Due(since, wall, earlier),
            // Until its response is recorded, the URL stays queued for the time of the request.
            State::Asked { .. } => state,
            _ => State::Due(told.at, told.wall, *at),
        },
        Event::BroughtForward(_) if matches!(state, State::Due(..)) => State::Due(told.at, told.wall, UnixMillis(0)),
        Event::Unparked(_) if matches!(state, State::Parked) => State::Due(told.at, told.wall, UnixMillis(0)),
        _ => state,
    }
}

/// A URL as the rules of a site normalise it; None if they refuse it.
pub fn taken(rules: &SiteRules, base: &str, link: &str) -> Option<CrawlUrl> {
    let base = url::Url::parse(base).ok()?;
    let url = rules.without_mirror(CrawlUrl::join(&base, link, None, &rules.canonical).ok()?);
    matches!(rules.judge(&url), Verdict::Take { class, .. } if class != Class::Login).then_some(url)
}

/// Every link of a recorded page, and every target of a redirect, is known to the database.
fn links_known(history: &History, requests: &Requests<'_>, faults: &mut Vec<String>) {
    let hosts: BTreeMap<(&str, &str), _> =
        history.hosts.iter().map(|host| ((&*host.site, &*host.origin), host.id)).collect();
    let mut checked = HashSet::<(u64, usize, &str)>::new();
    // One that was parked without a request says nothing of an earlier one, whose own visit may be lost.
    for (told, visit, outcome) in visits(history).filter(|(_, _, outcome)| outcome.was_fetched()) {
        let Some(entry) = request_of(history, requests, told, visit) else { continue };
        let rules = &history.lives[told.life as usize].rules[entry.site];
        let links: &[String] = match &entry.served {
            Served::Page(links) => links,
            Served::Redirect(to) if outcome == Outcome::Redirected && *to != entry.url => std::slice::from_ref(to),
            _ => continue,
        };
        if visit.depth >= rules.depth_max {
            continue;
        }
        for link in links {
            // Under the rules of one life an absolute link means the same on every page.
            if link.contains("://") && !checked.insert((told.life, entry.site, link.as_str())) {
                continue;
            }
            let Some(url) = taken(rules, &entry.url, link) else { continue };
            let host = hosts.get(&(&*rules.name, url.origin()));
            let key = host.map(|host| UrlKey { host: *host, path: url.path().into() });
            if key.and_then(|key| history.records.get(&key).copied().flatten()).is_none() {
                faults.push(format!("account: the link to {url} is lost\n    {}", entry.line()));
            }
        }
    }
}

/// At the end every known URL has been fetched or refused by name, unless a budget explains why not.
fn nothing_left(history: &History, faults: &mut Vec<String>) {
    let Some(last) = history.lives.last() else { return };
    for (site, ended) in &last.ends {
        match ended {
            Ok(Ended::Exhausted) => {}
            // URLs beyond a budget of the rule file stay in the queue for the next crawl.
            Ok(Ended::Budget(_)) => continue,
            other => {
                faults.push(format!("end: site {site} of a healed world ends with {other:?}"));
                continue;
            }
        }
        for (key, record) in history.records.iter().filter(|(key, _)| history.site(key) == *site) {
            let url = history.url(key);
            match record {
                // A link that was not committed, because its visit was lost, is found again or not at all.
                None => {}
                Some(record) if record.outcome.is_none() => {
                    faults.push(format!("end: {url} is known, was never fetched, and the crawl has ended"));
                }
                Some(record) if history.queued.contains(key) && !is_planned(history, key) => {
                    faults.push(format!("end: {url} is queued ({record:?}), and the crawl has ended"));
                }
                Some(_) => {}
            }
        }
    }
    if last.ends.len() != history.plan.sites.len() {
        faults.push(format!("end: {} of {} sites have ended", last.ends.len(), history.plan.sites.len()));
    }
}

/// Queued for a recheck that the service or the revisit interval has scheduled.
fn is_planned(history: &History, key: &UrlKey) -> bool {
    let last = history.told.iter().rev().find_map(|told| match &told.event {
        Event::Visited { visit, .. } if visit.key == *key => Some(matches!(visit.next, Next::RevisitAt(_))),
        Event::MadeDue(of, _) if of == key => Some(true),
        _ => None,
    });
    last == Some(true)
}

/// No more requests than the rule file allows.
fn budgets(history: &History, faults: &mut Vec<String>) {
    for (number, lived) in history.lives.iter().enumerate() {
        for (site, rules) in lived.rules.iter().enumerate() {
            let Some(pages_max) = rules.quota.pages_max else { continue };
            let asked = history
                .log
                .iter()
                .filter(|entry| entry.life == number as u64 && entry.site == site && !entry.is_robots());
            let asked = asked.count() as u64;
            // A site whose crawl fails is restarted with a new round; so is one whose round is over, which may happen at each
            // jump of the clock.
            let broken = lived.ends.iter().filter(|(at, end)| *at == site && end.is_err()).count() as u64;
            let rounds = (lived.until - lived.from) / (rules.revisit.as_millis() as Millis).max(1);
            let jumps = history.plan.clock_jumps.len() as u64;
            let rounds = 1 + broken + if lived.life.is_service { rounds + jumps } else { 0 };
            if asked > pages_max * rounds {
                faults.push(format!("budget: site {site}, life {number}: {asked} requests, {pages_max} allowed"));
            }
        }
        let too_long = match lived.life.end {
            End::Done => false,
            End::Killed(after) => lived.until - lived.from > after,
            // Twice: running visits end, then their commit.
            End::Stopped(after) => {
                lived.until - lived.from
                    > after + 2 * gleaner_crawl::limits::DRAIN_TIME_MAX.as_millis() as Millis + 2_000
            }
        };
        if too_long {
            faults.push(format!("end: life {number} ({:?}) took {} ms", lived.life, lived.until - lived.from));
        }
    }
}
