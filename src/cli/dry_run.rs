//! `gleaner crawl --dry-run`: shows what a crawl would start with, and changes nothing. Queries the process that holds the data folder, if
//! there is one; of a site that was never crawled it requests robots.txt and the start pages.

pub(super) mod ahead;

use std::process::ExitCode;
use std::sync::Arc;

use serde::Serialize;

use self::ahead::Ahead;
use crate::app::database::Database;
use crate::app::queues::{HostQueue, KnownUrl, Queued, when};
use crate::app::status::{self, Waiting};
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_crawl::progress::brief;
use gleaner_rules::config::Config;
use gleaner_rules::{Robots, SiteRules, Verdict};
use gleaner_store::crawldb::Outcome;

/// Queued URLs shown per host.
const URLS_SHOWN: usize = 20;

/// Hosts shown individually.
const HOSTS_SHOWN: usize = 20;

/// The plan for one site.
#[derive(Debug, Serialize)]
struct Plan {
    site: String,
    urls_queued: u64,
    interval_ms: u64,
    connections: u16,
    /// Why robots.txt is not obeyed; None if it is.
    robots_ignored: Option<String>,
    /// Visits of URLs that a robots.txt disallowed.
    robots_denied: u64,
    /// Until when the rules allow no requests.
    waiting: Option<Waiting>,
    /// The URLs of `start_pages`, and those of all `hosts` that would be fetched first.
    start: Vec<String>,
    next: Vec<String>,
    start_pages: Vec<Start>,
    hosts: Vec<Host>,
}

#[derive(Debug, Serialize)]
struct Start {
    #[serde(flatten)]
    url: Judged,
    /// Time and outcome of the last visit.
    visited: Option<String>,
    outcome: Option<Outcome>,
    /// Earliest time of the fetch: `now`, or a time.
    due: String,
    /// What it leads to, if no crawl has visited the site.
    ahead: Option<Ahead>,
}

#[derive(Debug, Serialize)]
struct Host {
    origin: String,
    queued: usize,
    /// True if there are more than were counted.
    is_longer: bool,
    due: Option<String>,
    paused_until: Option<String>,
    paused_because: Option<String>,
    /// What would be fetched first, in queue order.
    next: Vec<Judged>,
}

/// A URL and its verdict under the current rules.
#[derive(Debug, Serialize)]
struct Judged {
    url: String,
    /// The class; None if the rules refuse it.
    class: Option<&'static str>,
    /// The rule that accepts it, with its position; otherwise the reason of the refusal.
    by: String,
}

/// Prints the plans of sites.
pub(super) async fn tell(config: &Config, sites: &[Arc<SiteRules>], json: bool) -> anyhow::Result<ExitCode> {
    let db = Database::of(&config.into()).await?;
    let mut plans = Vec::new();
    for site in sites {
        let mut plan = plan(db.as_ref(), site).await?;
        let is_known = plan.start_pages.iter().any(|start| start.visited.is_some()) || !plan.hosts.is_empty();
        if !is_known && plan.waiting.is_none() {
            for (start, ahead) in plan.start_pages.iter_mut().zip(ahead::of(config, site).await) {
                start.ahead = Some(ahead);
            }
        }
        plans.push(plan);
    }
    if json {
        outln!("{}", serde_json::json!({ "dry_run": true, "sites": plans }));
    } else {
        out!("{}", plans.iter().map(text).collect::<Vec<_>>().join("\n"));
    }
    let starts = || plans.iter().flat_map(|plan| &plan.start_pages);
    let is_well = starts().all(|start| start.ahead.as_ref().is_none_or(Ahead::is_well));
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn plan(db: Option<&Database>, site: &SiteRules) -> anyhow::Result<Plan> {
    let now = SystemClock.now();
    let mut plan = Plan {
        site: site.name.to_string(),
        urls_queued: 0,
        interval_ms: u64::try_from(site.rate.interval.as_millis())?,
        connections: site.rate.connections,
        robots_ignored: match &site.robots {
            Robots::Obey => None,
            Robots::Ignore { reason } => Some(reason.to_string()),
        },
        robots_denied: 0,
        waiting: None,
        start: site.start.iter().map(|url| url.as_str().to_owned()).collect(),
        next: Vec::new(),
        start_pages: Vec::new(),
        hosts: Vec::new(),
    };
    if let Some(db) = db {
        let counts = db.reader().site_counts(&site.name).await?;
        (plan.urls_queued, plan.robots_denied) = (counts.urls_queued, counts.of(Outcome::RobotsDenied));
        plan.waiting = status::held(db.reader(), site, now).await?;
        let queues = db.queues(&site.name, URLS_SHOWN).await?;
        plan.hosts = queues.into_iter().map(|queue| host(site, queue, now)).collect();
        plan.next = plan.hosts.iter().flat_map(|host| &host.next).map(|next| next.url.clone()).collect();
    }
    for url in &site.start {
        let url = site.without_mirror(url.clone());
        let known = match db {
            Some(db) => db.known_url(&site.name, url.origin(), url.path()).await?,
            None => None,
        };
        plan.start_pages.push(start(site, &url, known.as_ref()));
    }
    Ok(plan)
}

/// A crawl fetches a start page if its last visit is older than the site's revisit interval.
fn start(site: &SiteRules, url: &CrawlUrl, known: Option<&KnownUrl>) -> Start {
    let last = known.and_then(|known| known.last);
    let fetched = last.filter(|(outcome, _)| outcome.was_fetched());
    let again = fetched.map_or(UnixMillis(0), |(_, at)| at.plus(site.revisit));
    let queued = known.and_then(|known| match known.queued {
        Queued::Behind { due, .. } => Some(due),
        Queued::No | Queued::Unknown { .. } => None,
    });
    Start {
        url: judged(site, url),
        visited: last.map(|(_, at)| at.rfc3339()),
        outcome: last.map(|(outcome, _)| outcome),
        due: when(queued.map_or(again, |due| due.min(again))),
        ahead: None,
    }
}

fn host(site: &SiteRules, queue: HostQueue, now: UnixMillis) -> Host {
    let HostQueue { origin, queued, is_longer, due, blocked_until, blocked_reason, first } = queue;
    let is_paused = blocked_until > now;
    Host {
        queued,
        is_longer,
        due: due.map(|due| when(due.max(blocked_until))),
        paused_until: is_paused.then(|| blocked_until.rfc3339()),
        paused_because: is_paused.then_some(blocked_reason),
        next: first.iter().map(|path| judged(site, &CrawlUrl::from_parts(&origin, path))).collect(),
        origin,
    }
}

fn judged(site: &SiteRules, url: &CrawlUrl) -> Judged {
    let (class, by) = match site.judge(url) {
        Verdict::Take { class, rule, .. } => {
            (Some(class.name()), format!("{}: {} '{}'", rule.place(), rule.key(), rule.pattern))
        }
        Verdict::Refuse { reason } => (None, format!("parked, not fetched: {}", reason.name())),
    };
    Judged { url: without_keys(url.as_str()).into_owned(), class, by }
}

fn text(plan: &Plan) -> String {
    let mut lines = vec![format!(
        "{}: {} URLs queued on {} hosts; a request every {} ms at most, {} connections",
        plan.site,
        plan.urls_queued,
        plan.hosts.len(),
        plan.interval_ms,
        plan.connections
    )];
    lines.push(match &plan.robots_ignored {
        Some(reason) => format!("  robots.txt is ignored: {reason}"),
        None if plan.robots_denied > 0 => format!(
            "  robots.txt is fetched before anything else of its host; it disallowed {} URLs that were tried",
            plan.robots_denied
        ),
        None => "  robots.txt is fetched before anything else of its host".to_owned(),
    });
    if let Some(Waiting { until, reason }) = &plan.waiting {
        lines.push(format!("  may ask again at {until}: {reason}"));
    }
    for Start { url, visited, outcome, due, ahead } in &plan.start_pages {
        lines.push(format!("  start {}", told(url)));
        let last = match (visited, outcome) {
            (Some(at), Some(outcome)) => format!("last visit {at}: {}", outcome.name()),
            _ => "not visited yet".to_owned(),
        };
        lines.push(format!("        due {due}; {last}"));
        lines.extend(ahead.iter().flat_map(ahead::lines));
    }
    for Host { origin, queued, is_longer, due, paused_until, paused_because, next } in
        plan.hosts.iter().take(HOSTS_SHOWN)
    {
        let count = format!("{queued}{}", if *is_longer { " or more" } else { "" });
        let due = due.as_ref().map(|due| format!(", the first due {due}")).unwrap_or_default();
        lines.push(format!("  {origin}: {count} queued{due}"));
        if let (Some(until), Some(why)) = (paused_until, paused_because) {
            lines.push(format!("        paused until {until}: {}", brief(why)));
        }
        lines.extend(next.iter().map(|url| format!("  next  {}", told(url))));
    }
    if plan.hosts.len() > HOSTS_SHOWN {
        lines.push(format!("  … and {} more hosts", plan.hosts.len() - HOSTS_SHOWN));
    }
    lines.join("\n") + "\n"
}

fn told(Judged { url, class, by }: &Judged) -> String {
    format!("{url}\n        {}{by}", class.map(|class| format!("{class}, by ")).unwrap_or_default())
}
