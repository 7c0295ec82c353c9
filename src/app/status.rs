//! The report of `status`: the counts that the database keeps, and the current work of a running process.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::accounts::AccountStatus;
use super::backups::BackupsStatus;
use super::changes::{self, DelayStatus, GoneStatus, ListsStatus};
use super::pauses::{self, Pause};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::frontier::budgets::{Cut, Shapes};
use gleaner_crawl::frontier::parameters::Proposal;
use gleaner_crawl::frontier::unclassed::{Unclassed, UnclassedLinks};
use gleaner_crawl::progress::{CrewsState, Ended, Progress, RuleFault, SessionState};
use gleaner_crawl::promises::{Alarm, PROMISES_NOTE, Promises, is_rule_of};
use gleaner_crawl::scripts::rendered::{Closed, Nothing, Rendered};
use gleaner_crawl::site_loop::CrewsKept;
use gleaner_crawl::tally::{Cause, TALLY_NOTE, Tally};
use gleaner_crawl::{site_loop, worth};
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{CrawlDbError, Reader};
use gleaner_store::limits::EXPORT_ROWS_MAX;

/// All sites of a data folder.
#[derive(Clone, Debug, Default, Serialize, Deserialize, schemars::JsonSchema)]
pub struct StatusReport {
    /// True if a process is crawling this folder.
    pub crawling: bool,
    pub sites: Vec<SiteStatus>,
    /// Torrents of the archive while no site is known, as after `verify --repair` of a lost database; 0 otherwise.
    #[serde(default)]
    pub torrents_without_site: u64,
    /// Rule files that the crawling process cannot use.
    #[serde(default)]
    pub rule_faults: Vec<RuleFault>,
    /// Why the crawling process cannot store its results, usually a full disk. It resumes by itself.
    #[serde(default)]
    pub store_fault: Option<String>,
    /// The operator's accounts; added by the command that prints the report, which has the rule files.
    #[serde(default)]
    pub accounts: Vec<AccountStatus>,
    /// Open alarms; added by who reports it, and in `gleaner alarms`.
    #[serde(default)]
    pub alarms: usize,
    /// Those of them whose cause is away: they are over once it stays so.
    #[serde(default)]
    pub alarms_away: usize,
    /// Added by who reports it.
    #[serde(default)]
    pub backups: BackupsStatus,
}

/// One site.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SiteStatus {
    pub name: String,
    /// Requests since the site's first crawl, including those of page scripts.
    pub pages: u64,
    #[serde(flatten)]
    pub scripts: ScriptStatus,
    /// Pages that were not read whole: no other figure includes what they list beyond. `gleaner coverage` shows which, and why.
    #[serde(default)]
    pub pages_not_whole: u64,
    #[serde(flatten)]
    pub counts: SiteFigures,
    /// True while a process crawls this site.
    #[serde(default)]
    pub is_crawled: bool,
    /// Requests in flight; zero if nothing is crawling.
    pub under_way: usize,
    /// Why nothing is being fetched, and until when (UTC); for a site that is not being crawled, until when its rules
    /// would allow no requests.
    pub waiting: Option<Waiting>,
    /// The session of its account, as known by the process that crawls it.
    #[serde(default)]
    pub session: Option<SessionState>,
    /// Why it is left alone without a session.
    #[serde(default)]
    pub no_session: Option<NoSession>,
    /// Hosts with a pause that is not over, or without a good response since.
    pub blocked_hosts: Vec<BlockedHost>,
    /// How the running process ended the crawl of this site.
    pub ended: Option<Ended>,
    /// URL shapes that were dropped because they yield nothing, and forms that only traps have, most frequent first; up to
    /// half a minute old.
    pub cuts: Vec<Cut>,
    /// Links to the site's own hosts without a class in its rule file, most frequent first.
    #[serde(default)]
    pub unclassed: Vec<UnclassedShape>,
    /// Links of a site with an account that are not followed, as they would act in its name, most frequent first.
    #[serde(default)]
    pub acting: Vec<UnclassedShape>,
    /// How history and increment share the site; for one that is not being crawled, how they did.
    #[serde(default)]
    pub crews: Option<CrewsState>,
    /// Parameters that seem not to change the content: suggested lines for the site's rule file.
    pub proposals: Vec<Proposal>,
    /// The acquisition delay of its torrents; like the next fields, up to some minutes old.
    #[serde(default)]
    pub delay: Option<DelayStatus>,
    /// What is gone.
    #[serde(default)]
    pub gone: Option<GoneStatus>,
    /// How its lists are read.
    #[serde(default)]
    pub lists: Option<ListsStatus>,
    /// Visits that gave nothing, by class, outcome and cause, the most frequent first; up to half a minute old.
    #[serde(default)]
    pub troubles: Vec<Cause>,
    /// Rules that keep their promise no more.
    #[serde(default)]
    pub broken_promises: Vec<BrokenPromise>,
    /// A repaired rule file that waits for a person; added by the command that prints the report, which has the rule files.
    #[serde(default)]
    pub proposed: Option<String>,
    /// Why nobody crawls it: a person has paused it.
    #[serde(default)]
    pub paused: Option<Pause>,
    /// Its rule file keeps it out of the service; added by the command that prints the report, which has the rule files. None where nobody has looked: over
    /// HTTP, and where the rule file is missing or faulty.
    #[serde(default)]
    pub is_disabled: Option<bool>,
}

/// Activity of the scripts of its pages; up to half a minute old.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct ScriptStatus {
    /// Requests that they sent.
    #[serde(default)]
    pub script_requests: u64,
    /// Hosts that they requested in vain in the last crawl.
    #[serde(default)]
    pub closed_to_scripts: Vec<Closed>,
    /// Pages that were empty even after their scripts, in the last crawl that rendered any.
    #[serde(default)]
    pub showed_nothing: Option<Nothing>,
}

/// A rule that keeps its promise no more: the site may have changed.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BrokenPromise {
    /// Key and expression of the rule.
    pub rule: String,
    /// True if that is so for the later pages of its lists alone.
    pub is_behind: bool,
    #[serde(flatten)]
    pub alarm: Alarm,
}

/// Counts of a site in the database.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct SiteFigures {
    /// Torrents that this site provided first.
    pub torrents: u64,
    /// Distinct torrents that have a source on this site.
    pub torrents_seen: u64,
    /// Torrents known only by a magnet link.
    pub magnets: u64,
    pub urls_known: u64,
    pub urls_queued: u64,
    pub body_bytes: u64,
    /// Visits by outcome.
    pub outcomes: BTreeMap<String, u64>,
}

/// The operator's account is not logged in.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct NoSession {
    /// When the crawl tries again by itself (UTC); None if the operator has to act.
    pub until: Option<String>,
    pub reason: String,
}

/// Links of one shape that no class matches.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct UnclassedShape {
    pub shape: String,
    pub links: u64,
    /// Path and query of one of them.
    pub example: String,
    /// Why they are not followed, where that is not that no class matches.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
}

/// A pause.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct Waiting {
    pub until: String,
    pub reason: String,
}

/// A host that asked for a pause.
#[derive(Clone, Debug, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BlockedHost {
    pub origin: String,
    pub until: String,
    pub until_ms: UnixMillis,
    pub reason: String,
    /// Consecutive pauses without a good response.
    pub complaints: u32,
    /// True while the pause lasts.
    pub waits: bool,
}

/// Builds the report. `progress` is that of the crawl in this process, if there is one.
pub async fn report(
    db: &dyn Reader,
    progress: Option<&Progress>,
    now: UnixMillis,
) -> Result<StatusReport, CrawlDbError> {
    let live = progress.map(Progress::snapshot).unwrap_or_default();
    let hosts = db.hosts().await?;
    let names: BTreeSet<&str> = hosts.iter().map(|host| &*host.site).chain(live.keys().map(String::as_str)).collect();
    let mut sites = Vec::new();
    for name in names {
        let counts = db.site_counts(name).await?;
        let rendered = Rendered::take_up(db, name).await?;
        let script_requests = rendered.requests;
        let doing = live.get(name).cloned().unwrap_or_default();
        let no_session = doing.no_session();
        let no_session = no_session
            .map(|(until, reason)| NoSession { until: until.map(UnixMillis::rfc3339), reason: reason.to_owned() });
        let blocked_hosts = hosts
            .iter()
            .filter(|host| &*host.site == name && (host.blocked_until > now || host.complaints > 0))
            .map(|host| BlockedHost {
                origin: host.origin.to_string(),
                until: host.blocked_until.rfc3339(),
                until_ms: host.blocked_until,
                reason: host.blocked_reason.to_string(),
                complaints: host.complaints,
                waits: host.blocked_until > now,
            })
            .collect();
        sites.push(SiteStatus {
            name: name.to_owned(),
            pages: counts.pages() + script_requests,
            scripts: ScriptStatus {
                script_requests,
                closed_to_scripts: rendered.closed().to_vec(),
                showed_nothing: rendered.nothing().cloned(),
            },
            pages_not_whole: counts.pages_not_whole,
            counts: SiteFigures {
                torrents: counts.torrents,
                torrents_seen: counts.torrents_seen,
                magnets: counts.magnets,
                urls_known: counts.urls_known,
                urls_queued: counts.urls_queued,
                body_bytes: counts.body_bytes,
                outcomes: counts.outcomes.iter().map(|(outcome, count)| (outcome.name().to_owned(), *count)).collect(),
            },
            is_crawled: live.get(name).is_some_and(|doing| doing.ended.is_none()),
            under_way: doing.under_way,
            waiting: doing.waiting.map(|(until, reason)| Waiting { until: until.rfc3339(), reason }),
            no_session,
            session: doing.session,
            blocked_hosts,
            ended: doing.ended,
            cuts: cuts(db, name).await?,
            unclassed: unclassed(db, name).await?,
            acting: acting(db, name).await?,
            crews: match doing.crews {
                Some(crews) => Some(crews),
                None => CrewsKept::read(db, name).await?.state,
            },
            proposals: proposals(db, name).await?,
            delay: changes::delay(db, name).await?,
            gone: changes::gone(db, name).await?,
            lists: changes::lists(db, name).await?,
            troubles: troubles(db, name).await?,
            broken_promises: broken_promises(db, name, None).await?,
            proposed: None,
            paused: pauses::of(db, name, now).await?,
            is_disabled: None,
        });
    }
    let rule_faults = progress.map(Progress::rule_faults).unwrap_or_default();
    let store_fault = progress.and_then(Progress::store_fault);
    Ok(StatusReport {
        crawling: progress.is_some(),
        torrents_without_site: if sites.is_empty() { torrents(db).await? } else { 0 },
        sites,
        rule_faults,
        store_fault,
        accounts: Vec::new(),
        alarms: 0,
        alarms_away: 0,
        backups: BackupsStatus::default(),
    })
}

/// Counts all torrents.
async fn torrents(db: &dyn Reader) -> Result<u64, CrawlDbError> {
    let (mut count, mut after) = (0, None);
    loop {
        let rows = db.torrents(after, EXPORT_ROWS_MAX).await?;
        let Some(last) = rows.last() else { return Ok(count) };
        after = Some(last.facts.infohashes.key().to_vec());
        count += rows.len() as u64;
    }
}

/// Until when a site's rules allow no requests, and which rule; None if they allow them. The loop of a site that is
/// being crawled reports its waits itself.
pub async fn held(db: &dyn Reader, rules: &SiteRules, now: UnixMillis) -> Result<Option<Waiting>, CrawlDbError> {
    let wait = |until: UnixMillis, reason: &str| Some(Waiting { until: until.rfc3339(), reason: reason.to_owned() });
    if let Some(until) = rules.hours.quiet_until(now) {
        return Ok(wait(until, "quiet_hours of the rule file"));
    }
    let is_used_up = left_today(db, rules, now).await? == Some(0);
    let reason = "requests_per_day of the rule file is used up";
    Ok(is_used_up.then(|| wait(rules.hours.next_day(now), reason)).flatten())
}

/// Requests that a site's rules still allow today; None if they name no number.
///
/// # Errors
/// Errors of the database.
pub async fn left_today(db: &dyn Reader, rules: &SiteRules, now: UnixMillis) -> Result<Option<u64>, CrawlDbError> {
    let Some(most) = rules.quota.requests_per_day else { return Ok(None) };
    let note = db.note(&rules.name, site_loop::DAY_NOTE).await?;
    let pages = db.site_counts(&rules.name).await?.pages();
    let today = note.and_then(|note| site_loop::requests_of_day(&note, rules.hours.day(now), pages));
    Ok(Some(most.saturating_sub(today.unwrap_or(0))))
}

/// What was dropped from a site, most frequent first; up to half a minute old while it is being crawled.
pub async fn cuts(db: &dyn Reader, site: &str) -> Result<Vec<Cut>, CrawlDbError> {
    let note = db.note(site, worth::SHAPES_NOTE).await?;
    Ok(note.map(|note| Shapes::from_bytes(&note, limits::SHAPE_PAGES).0.cuts()).unwrap_or_default())
}

async fn troubles(db: &dyn Reader, site: &str) -> Result<Vec<Cause>, CrawlDbError> {
    let note = db.note(site, TALLY_NOTE).await?;
    let tally = note.map(|note| Tally::from_bytes(&note)).unwrap_or_default();
    Ok(tally.troubles().into_iter().cloned().collect())
}

/// Rules of a site that keep their promise no more, as far as they are still in its rule file, if that is known.
///
/// # Errors
/// Errors of the database.
pub async fn broken_promises(
    db: &(impl Reader + ?Sized),
    site: &str,
    rules: Option<&SiteRules>,
) -> Result<Vec<BrokenPromise>, CrawlDbError> {
    let note = db.note(site, PROMISES_NOTE).await?;
    let promises = Promises::take_up(note.as_deref(), |name| rules.is_none_or(|rules| is_rule_of(rules, name)));
    let told = |(rule, is_behind, alarm): (&str, bool, &Alarm)| BrokenPromise {
        rule: rule.to_owned(),
        is_behind,
        alarm: alarm.clone(),
    };
    Ok(promises.alarms().map(told).collect())
}

async fn proposals(db: &dyn Reader, site: &str) -> Result<Vec<Proposal>, CrawlDbError> {
    let note = db.note(site, worth::PROPOSALS_NOTE).await?;
    Ok(note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default())
}

/// URLs of a site that no class matches, by shape.
///
/// # Errors
/// Errors of the database.
pub async fn unclassed(db: &(impl Reader + ?Sized), site: &str) -> Result<Vec<UnclassedShape>, CrawlDbError> {
    by_shape(db, site, worth::UNCLASSED_NOTE).await
}

/// URLs of a site that would act in its account's name, by shape.
///
/// # Errors
/// Errors of the database.
pub async fn acting(db: &(impl Reader + ?Sized), site: &str) -> Result<Vec<UnclassedShape>, CrawlDbError> {
    by_shape(db, site, worth::ACTING_NOTE).await
}

async fn by_shape(db: &(impl Reader + ?Sized), site: &str, note: &str) -> Result<Vec<UnclassedShape>, CrawlDbError> {
    let note = db.note(site, note).await?;
    let links = note.and_then(|note| UnclassedLinks::from_bytes(&note)).unwrap_or_default();
    let told = |(shape, of): (&str, &Unclassed)| UnclassedShape {
        shape: shape.to_owned(),
        links: of.links,
        example: of.example.to_string(),
        why: of.why.to_string(),
    };
    Ok(links.most().into_iter().map(told).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_site_is_one_flat_object_in_the_order_of_before() {
        let site = r#"{"name":"s","pages":9,"script_requests":2,"closed_to_scripts":[],"showed_nothing":null,"pages_not_whole":1,"torrents":3,"torrents_seen":4,"magnets":5,"urls_known":6,"urls_queued":7,"body_bytes":8,"outcomes":{"page":9},"is_crawled":true,"under_way":1,"waiting":null,"session":null,"no_session":null,"blocked_hosts":[],"ended":null,"cuts":[],"unclassed":[],"acting":[],"crews":null,"proposals":[],"delay":null,"gone":null,"lists":null,"troubles":[],"broken_promises":[],"proposed":null,"paused":null,"is_disabled":null}"#;
        let read: SiteStatus = serde_json::from_str(site).unwrap();
        assert_eq!(serde_json::to_string(&read).unwrap(), site);
    }
}
