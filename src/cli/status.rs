//! `gleaner status`: queries the process that holds the data folder, or reads the database if there is none.

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use comfy_table::Table;

use super::fold::fold;
use super::hints::Hints;
use super::{Global, block_on};
use crate::app::accounts::{self, AccountState, AccountStatus};
use crate::app::backups::{self, BackupUnderWay, BackupsStatus};
use crate::app::changes::{DelayStatus, GoneStatus, GoneTold, ListsStatus};
use crate::app::database::Database;
use crate::app::pauses;
use crate::app::status::{self, BrokenPromise, SiteStatus, StatusReport, UnclassedShape};
use crate::app::{alarms, nothing_there, repairs, sessions};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::console;
use gleaner_crawl::freshness::plot::duration;
use gleaner_crawl::frontier::budgets::{Cut, Likeness};
use gleaner_crawl::frontier::parameters::Proposal;
use gleaner_crawl::progress::{CrewsState, Ended, RuleFault, SessionState, brief};
use gleaner_crawl::promises::is_rule_of;
use gleaner_crawl::scripts::rendered::Closed;
use gleaner_rules::config::Config;
use gleaner_rules::fault::nearest;
use gleaner_rules::{self as rules, SiteRules};
use gleaner_store::coverage::not_whole_told;
use gleaner_store::crawldb::Reader;

/// Shapes of links without a class shown per site; `--json` has them all.
const UNCLASSED_SHOWN: usize = 5;

/// Shapes of links that would act in the account's name shown per site; `--json` has them all.
const ACTING_SHOWN: usize = 5;

/// Causes of visits that gave nothing shown per site; `--json` has them all.
const TROUBLES_SHOWN: usize = 8;

/// Gone URLs shown per site, latest first; `--json` has a hundred.
const GONE_SHOWN: usize = 5;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Site to report; all sites when none is given
    site: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn status(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let mut report = block_on(async {
        let Some(database) = Database::unless_lost(&config.into()).await? else {
            let (rule_faults, accounts) = (rule_faults(config), accounts(&[], None, config).await?);
            let is_known = |site: &String| accounts.iter().any(|of| of.site == *site);
            let is_bare = accounts.is_empty() || !config.data_dir.exists();
            if is_bare && options.site.as_ref().is_some_and(|site| !is_known(site)) {
                return Err(nothing_there(&config.into()));
            }
            return Ok(StatusReport { rule_faults, accounts, ..StatusReport::default() });
        };
        with_holds(database.status().await?, database.reader(), config).await
    })?;
    if let Some(site) = &options.site {
        keep_one(&mut report, site, &hints)?;
    }
    name_commands(&mut report, config, &hints);
    if options.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        let now = SystemClock.now().rfc3339();
        out!("{}", fold(&text(&report, &config.data_dir, &of_folder(config, &hints), &now), 2));
    }
    // A mistyped folder is no site that is well.
    let is_nothing = !config.data_dir.exists() && report.accounts.is_empty() && report.rule_faults.is_empty();
    if is_nothing && options.json {
        console::write_error(&format!("error: {}", nothing_there(&config.into())));
    }
    Ok(if is_nothing { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Hints for commands about a whole folder: with the rule files that its sites were last crawled with, if none are available.
fn of_folder(config: &Config, hints: &Hints) -> Hints {
    let noted = sessions::noted_rules(&config.data_dir);
    let folder = noted.iter().filter_map(|(_, file)| file.parent()).find(|folder| folder.is_dir());
    folder.filter(|_| !config.rules_dir.is_dir()).map_or_else(|| hints.clone(), |folder| hints.with_rules(folder))
}

/// Hints for commands about one site, with the location of its rule file.
fn of_site(site: &str, noted: &[(String, PathBuf)], config: &Config, hints: &Hints) -> Hints {
    let file = noted.iter().find(|(name, _)| name == site).map(|(_, file)| file).filter(|file| file.is_file());
    let is_here = rules::load_dir(&config.rules_dir)
        .iter()
        .any(|of| of.path.file_stem().is_some_and(|stem| stem.to_str() == Some(site)));
    match file.and_then(|file| file.parent()).filter(|_| !is_here) {
        Some(folder) => hints.with_rules(folder),
        None => hints.clone(),
    }
}

/// When something is due, or since when: a time in the past is no waiting time.
fn due(at: &str, now: &str) -> String {
    if at <= now { format!("due since {at}") } else { format!("at {at}") }
}

/// Reduces the report to one site.
fn keep_one(report: &mut StatusReport, site: &str, hints: &Hints) -> anyhow::Result<()> {
    let StatusReport { sites, accounts, .. } = report;
    if !sites.iter().any(|told| *told.name == *site) && !accounts.iter().any(|told| *told.site == *site) {
        let names: Vec<&str> = sites.iter().map(|told| &*told.name).collect();
        let known =
            if names.is_empty() { "it has none yet".to_owned() } else { format!("it has {}", names.join(", ")) };
        let hint = match nearest(site, names.iter().copied().chain(accounts.iter().map(|of| &*of.site))) {
            Some(name) => format!("did you mean `{name}`? {}", hints.command(&format!("status {name}"))),
            None => hints.command("status"),
        };
        anyhow::bail!("{site}: no site of this folder: {known}\nhint: {hint}");
    }
    sites.retain(|told| *told.name == *site);
    accounts.retain(|told| *told.site == *site);
    Ok(())
}

/// Adds the commands to the reasons: site names and repeated options.
fn name_commands(report: &mut StatusReport, config: &Config, hints: &Hints) {
    let noted = sessions::noted_rules(&config.data_dir);
    let at_hand = rules_at_hand(config);
    let named = |text: &mut String, site: &str| {
        let file = at_hand.iter().find(|rules| *rules.name == *site).map(|rules| &*rules.file);
        *text = of_site(site, &noted, config, hints).of_account(text, site, &config.data_dir, file);
    };
    for AccountStatus { site, reason, last_login, exposed, .. } in &mut report.accounts {
        reason.iter_mut().chain(last_login).chain(exposed).for_each(|text| named(text, site));
    }
    for site in report.sites.iter_mut().filter(|site| site.no_session.is_some() || site.ended.is_some()) {
        if let Some(without) = &mut site.no_session {
            named(&mut without.reason, &site.name);
        }
        if let Some(Ended::NotLoggedIn(why)) = &mut site.ended {
            named(why, &site.name);
        }
    }
}

/// The report, with the waiting times from rule files of sites that nobody crawls right now, and with the accounts.
pub(super) async fn with_holds(
    mut report: StatusReport,
    db: &dyn Reader,
    config: &Config,
) -> anyhow::Result<StatusReport> {
    let now = SystemClock.now();
    if !report.crawling {
        report.rule_faults = rule_faults(config);
        (report.alarms, report.alarms_away) = alarms::counted(&alarms::stored(&config.data_dir));
        report.backups.last = backups::times::all(&config.data_dir);
    }
    let rules = rules_at_hand(config);
    for site in &mut report.sites {
        let Some(rules) = rules.iter().find(|rules| *rules.name == *site.name) else { continue };
        site.broken_promises.retain(|of| is_rule_of(rules, &of.rule));
        site.proposed = repairs::proposal(rules, &config.data_dir).map(|(path, _)| path.display().to_string());
        site.is_disabled = Some(!rules.enabled);
        if !site.is_crawled {
            site.waiting = status::held(db, rules, now).await?;
        }
    }
    report.accounts = accounts(&report.sites, Some(db), config).await?;
    Ok(report)
}

/// The state of the accounts of all sites that can log in, and of those that a running process reports but whose rule file is
/// not available here.
async fn accounts(
    sites: &[SiteStatus],
    db: Option<&dyn Reader>,
    config: &Config,
) -> anyhow::Result<Vec<AccountStatus>> {
    let now = SystemClock.now();
    let mut told = Vec::new();
    let at_hand = rules_at_hand(config);
    for rules in &at_hand {
        let site = sites.iter().find(|site| *site.name == *rules.name);
        let live = site.filter(|site| site.is_crawled).and_then(|site| site.session.as_ref());
        let account = accounts::account(&config.data_dir, rules, live, db, now).await?;
        // The account of a site that is neither enabled nor known is only planned.
        told.extend(account.filter(|account| rules.enabled || site.is_some() || !account.is_untouched()));
    }
    for (site, file) in sessions::noted_rules(&config.data_dir) {
        if at_hand.iter().any(|rules| *rules.name == *site) {
            continue;
        }
        told.extend(accounts::without_rules(&config.data_dir, &site, &file));
    }
    for site in sites.iter().filter(|site| site.is_crawled) {
        if let Some(session) = site.session.as_ref().filter(|_| told.iter().all(|of| of.site != site.name)) {
            told.push(AccountStatus::live(&site.name, None, session));
        }
    }
    Ok(told)
}

/// The rules of the folder, and those that sites with an account were last crawled with if the folder lacks them: a data
/// folder can be queried without its rules folder, too.
fn rules_at_hand(config: &Config) -> Vec<Arc<SiteRules>> {
    let files = rules::load_dir(&config.rules_dir);
    let stems: Vec<_> = files.iter().filter_map(|file| file.path.file_stem().map(ToOwned::to_owned)).collect();
    let mut all: Vec<Arc<SiteRules>> = files.into_iter().filter_map(|file| file.site.ok()).collect();
    for (site, file) in sessions::noted_rules(&config.data_dir) {
        let is_here = all.iter().any(|rules| *rules.name == *site) || stems.iter().any(|stem| **stem == *site);
        if !is_here && file.is_file() {
            all.extend(rules::load_file(&file).site.ok().filter(|rules| *rules.name == *site));
        }
    }
    all
}

/// Files of the rules folder that cannot be used. A missing folder is no fault here: the harvest can be reported
/// without it.
fn rule_faults(config: &Config) -> Vec<RuleFault> {
    let files = rules::load_dir(&config.rules_dir).into_iter().filter(|file| file.path != config.rules_dir);
    files
        .filter_map(|file| {
            let faults = file.site.err()?;
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            Some(RuleFault { path: file.path, first, count: faults.len() })
        })
        .collect()
}

fn text(report: &StatusReport, data_dir: &Path, hints: &Hints, now: &str) -> String {
    let is_shown = |account: &&AccountStatus| report.sites.iter().any(|site| site.name == account.site);
    let others = report.accounts.iter().filter(|of| !is_shown(of));
    let others: String = others.map(|of| account(of, now)).collect();
    let store_fault = report.store_fault.as_ref().map(|fault| {
        format!(
            "nothing can be stored: {}\n  hint: free disk space, raise the limit, or make the folder writable; the crawl resumes by itself\n",
            fault
        )
    });
    let away = match report.alarms_away {
        0 => "",
        count if count == report.alarms => ", and about to be over",
        _ => ", some of them about to be over",
    };
    let alarms = match report.alarms {
        0 => String::new(),
        1 => format!("1 alarm is open{away}\n  hint: {}\n", hints.command("alarms")),
        count => format!("{count} alarms are open{away}\n  hint: {}\n", hints.command("alarms")),
    };
    sites(report, data_dir, hints, now)
        + &others
        + &faults(&report.rule_faults, report.crawling)
        + &store_fault.unwrap_or_default()
        + &alarms
        + &backups_told(&report.backups)
}

/// What a person should know of backups: what is under way, and what fails.
fn backups_told(of: &BackupsStatus) -> String {
    let mut text = String::new();
    if let Some(BackupUnderWay { to, since }) = &of.under_way {
        text += &format!("a backup to {to} is under way since {since}\n");
    }
    for BackupUnderWay { to, since } in &of.hung {
        text += &format!(
            "the backup to {to} of {since} was given up: its disk does not answer\n  hint: check that disk, or name another place\n"
        );
    }
    if let Some(fault) = &of.fault {
        let (what, hint) = fault.split_once(" · hint: ").unwrap_or((fault, "gleaner backup says more"));
        text += &format!("no backup is made: {what}\n  hint: {hint}\n");
    }
    text
}

/// The account of a site, in one or two lines, with a hint.
fn account(of: &AccountStatus, now: &str) -> String {
    let AccountStatus { site, user, state, proven, until, reason, last_login, next_look, exposed } = of;
    let proven = proven.as_ref().map(|at| format!(", last proven at {at}")).unwrap_or_default();
    let reason = reason.as_deref().unwrap_or_default();
    let stands = match (state, until) {
        (AccountState::LoggedIn, _) => format!("logged in{proven}"),
        (AccountState::Kept, _) if !reason.is_empty() => {
            format!("a session is stored{proven}, and must be proven again: {reason}")
        }
        (AccountState::Kept, _) => format!("a session is stored{proven}"),
        (AccountState::Due, _) => "about to log in, or to prove its session".to_owned(),
        (AccountState::Proving, _) => "proving its session".to_owned(),
        (AccountState::LoggingIn, _) => "logging in".to_owned(),
        (AccountState::NoSession, Some(until)) => format!("no session, the next try {}: {reason}", due(until, now)),
        (AccountState::NoSession, None) => format!("no session: {reason}"),
        (AccountState::Unreadable, _) => reason.to_owned(),
    };
    let user = user.as_ref().map(|user| format!(" {user}")).unwrap_or_default();
    let last = last_login.as_ref().map(|last| format!("\nthe last login: {last}")).unwrap_or_default();
    let line = |line: &str| match line.strip_prefix("hint: ") {
        Some(hint) => format!("  hint: {hint}\n"),
        None => format!("{site}: account{user}: {line}\n"),
    };
    let look = next_look.as_ref().map(|at| match &**at <= now {
        true => "\nchecks each minute whether you have changed something".to_owned(),
        false => format!("\nchecks at {at}, and then each minute, whether you have changed something"),
    });
    let exposed: String = exposed.iter().map(|told| format!("\n{told}")).collect();
    (stands + &last + &look.unwrap_or_default() + &exposed).lines().map(line).collect()
}

fn faults(faults: &[RuleFault], is_crawled: bool) -> String {
    let told = |RuleFault { path, first, count }: &RuleFault| {
        let more = if *count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        let what = match is_crawled {
            true => "its last valid version, if any, stays in force",
            false => "its site cannot be crawled until it is fixed",
        };
        format!("{}: {what}{more}:\n  {first}\n", path.display())
    };
    faults.iter().map(told).collect()
}

fn sites(report: &StatusReport, data_dir: &Path, hints: &Hints, now: &str) -> String {
    if report.sites.is_empty() {
        let hint = match report.rule_faults.is_empty() {
            true => hints.command("crawl"),
            false => hints.command("rules check"),
        };
        let data = data_dir.display();
        return match data_dir.exists() {
            true if report.torrents_without_site > 0 => format!(
                "{data}: {} torrents are in the archive, and no site: nothing has been crawled with this database (hint: {hint})\n",
                report.torrents_without_site
            ),
            true => format!("{data}: nothing has been crawled in this folder yet (hint: {hint})\n"),
            false => format!("{data}: there is no such folder (hint: pass the right --data, or start with: {hint})\n"),
        };
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["site", "torrents", "magnets", "requests", "URLs", "queued", "state"]);
    let state = |site: &SiteStatus| match &report.store_fault {
        Some(_) if site.is_crawled => "waiting: nothing can be stored".to_owned(),
        _ => state(site, now),
    };
    for site in &report.sites {
        table.add_row([
            site.name.clone(),
            site.counts.torrents_seen.to_string(),
            site.counts.magnets.to_string(),
            site.pages.to_string(),
            site.counts.urls_known.to_string(),
            site.counts.urls_queued.to_string(),
            in_short(&state(site)).to_owned(),
        ]);
    }
    let table: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let details = report.sites.iter().map(|site| {
        let state = state(site);
        let state = if in_short(&state) == state { String::new() } else { format!("{}: {state}\n", site.name) };
        state + &details(site, report, hints, now)
    });
    details.fold(table, |text, details| text + &details)
}

/// The first words of a state: the table has no room for reasons and times.
fn in_short(state: &str) -> &str {
    let ends = [": ", ", ", "; ", " until ", " at "].into_iter().filter_map(|end| state.find(end));
    &state[..ends.min().unwrap_or(state.len())]
}

/// Details of a site besides its row: what waits for the operator, what the crawl did not get, and what it did.
fn details(site: &SiteStatus, report: &StatusReport, hints: &Hints, now: &str) -> String {
    let mut text = String::new();
    text.extend(report.accounts.iter().filter(|of| of.site == site.name).map(|of| account(of, now)));
    for host in &site.blocked_hosts {
        let state = if host.waits { "is paused until" } else { "has not answered well since its pause until" };
        text.push_str(&format!("{}: {} {state} {}\n", site.name, host.origin, host.until));
        text.push_str(&format!("  {}\n", brief(&host.reason)));
    }
    if let Some(proposed) = &site.proposed {
        let hint = hints.command(&format!("rules repair {} --apply", site.name));
        text.push_str(&format!(
            "{}: a repaired rule file is proposed: {proposed}\n  hint: read it, then: {hint}\n",
            site.name
        ));
    }
    for BrokenPromise { rule, is_behind, alarm } in &site.broken_promises {
        let mut hint = hints.command(&format!("rules repair {}", site.name));
        hint.extend(alarm.advice().map(|advice| format!("; {advice}")));
        text.push_str(&format!("{}: {}\n  hint: {hint}\n", site.name, alarm.told(rule, *is_behind)));
    }
    for cause in site.troubles.iter().take(TROUBLES_SHOWN) {
        text.push_str(&format!("{}: {}, as {}\n", site.name, cause.told(), cause.example));
    }
    for Closed { host, why, page } in &site.scripts.closed_to_scripts {
        text.push_str(&format!("{}: requests of scripts to {host} are refused, as on {page}: {why}\n", site.name));
    }
    if let Some(nothing) = &site.scripts.showed_nothing {
        text.push_str(&format!("{}: {nothing}\n", site.name));
    }
    if site.pages_not_whole > 0 {
        let which = hints.command(&format!("coverage {}", site.name));
        text.push_str(&format!("{}: {} (hint: {which})\n", site.name, not_whole_told(site.pages_not_whole)));
    }
    let outcomes: Vec<_> = site.counts.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
    if !outcomes.is_empty() {
        text.push_str(&format!("{}: {}\n", site.name, outcomes.join(", ")));
    }
    if site.scripts.script_requests > 0 {
        text.push_str(&format!("{}: {} requests by scripts of its pages\n", site.name, site.scripts.script_requests));
    }
    text.extend(site.crews.as_ref().map(|state| crews(site, state)));
    for cut in &site.cuts {
        let Cut { shape, class, fetched, yielded, cut, example, reason, likeness } = cut;
        let class = class.name();
        text.push_str(&format!(
            "{}: cut {cut} times {shape} ({class}, {fetched} fetched, {yielded} torrents): {reason}; as {example}\n",
            site.name
        ));
        if let Some(Likeness { pages, page, other, percent }) = likeness {
            text.push_str(&format!(
                "{}: {pages} pages of {shape} resemble others of it, the last {page} {other} by {percent} %\n",
                site.name
            ));
        }
    }
    for UnclassedShape { shape, links, example, why } in site.unclassed.iter().take(UNCLASSED_SHOWN) {
        let why = if why.is_empty() { String::new() } else { format!(" ({why})") };
        text.push_str(&format!("{}: no class matches {links} links of {shape}{why}, as {example}\n", site.name));
    }
    if let Some(more) = site.unclassed.len().checked_sub(UNCLASSED_SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("{}: and links of {more} more shapes (hint: --json lists them)\n", site.name));
    }
    text.push_str(&acting(site, hints));
    for proposal in &site.proposals {
        let Proposal { class, evidence, example_a, example_b, .. } = proposal;
        text.push_str(&format!(
            "{}: proposed for [parameters]: {} ({}: {evidence} pairs of URLs had the same content, as {example_a} and {example_b})\n",
            site.name,
            proposal.line(),
            class.name(),
        ));
    }
    text.push_str(&changes(site));
    text
}

/// Links that are not followed because they would act in the account's name.
fn acting(site: &SiteStatus, hints: &Hints) -> String {
    let name = &site.name;
    let mut text: String = site
        .acting
        .iter()
        .take(ACTING_SHOWN)
        .map(|UnclassedShape { shape, links, example, why }| {
            format!("{name}: {links} links of {shape} would act in the account's name ({why}) and are refused, as {example}\n")
        })
        .collect();
    if let Some(more) = site.acting.len().checked_sub(ACTING_SHOWN).filter(|more| *more > 0) {
        text.push_str(&format!("{name}: and links of {more} more such shapes (hint: --json lists them)\n"));
    }
    if !site.acting.is_empty() {
        let explain = hints.command("rules explain URL");
        text.push_str(&format!(
            "  hint: `allow_actions` of the rule file allows those that change nothing; each is explained by {explain}\n"
        ));
    }
    text
}

/// How history and increment share a site, and when it is checked for news.
fn crews(site: &SiteStatus, crews: &CrewsState) -> String {
    let CrewsState { why, interval_s, last_round, next_round, waiting, left_to_history, .. } = crews;
    let every = indicatif::HumanDuration(Duration::from_secs(*interval_s));
    let next = match site.is_crawled {
        true => format!(", next {next_round}"),
        false => String::new(),
    };
    let left = match left_to_history {
        0 => String::new(),
        left => format!(", {left} of the last round left to history"),
    };
    format!(
        "{0}: {why}\n{0}: a round of rechecks every {every}, the last began {last_round}{next}; {waiting} found and not fetched{left}\n",
        site.name
    )
}

/// The acquisition delay, what is gone, and what the lists do not reveal.
fn changes(site: &SiteStatus) -> String {
    let mut text = String::new();
    let name = &site.name;
    if let Some(DelayStatus { torrents: torrents @ 1.., median_s, p90_s, p99_s, .. }) = site.delay {
        let told = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), duration);
        text.push_str(&format!(
            "{name}: acquisition delay of {torrents} new torrents: median {}, p90 {}, p99 {}\n",
            told(median_s),
            told(p90_s),
            told(p99_s)
        ));
    }
    if let Some(GoneStatus { by, last }) = &site.gone {
        let signs: Vec<String> = by.iter().map(|(sign, count)| format!("{sign} {count}")).collect();
        text.push_str(&format!("{name}: gone from the site: {}; the last:\n", signs.join(", ")));
        for GoneTold { url, from, until, found } in last.iter().rev().take(GONE_SHOWN) {
            // Without an earlier visit, the start time is unknown.
            let since = if from == until { String::new() } else { format!("between {from} and {until}, ") };
            text.push_str(&format!("{name}:   {url}: {since}found {found}\n"));
        }
    }
    if let Some(ListsStatus { by_replies, by_unknown_urls: lists @ 1.., untold, .. }) = &site.lists {
        let example = untold.as_deref().unwrap_or_default();
        let also =
            if *by_replies > 0 { format!("; {by_replies} more show replies but no times") } else { String::new() };
        text.push_str(&format!(
            "{name}: lists that show no times: {lists}; only new URLs are noticed on them, as on {example}{also}\n"
        ));
    }
    text
}

/// The state of a site, with its reason.
pub(super) fn state(site: &SiteStatus, now: &str) -> String {
    let blocked = || {
        let host = site.blocked_hosts.iter().filter(|host| host.waits).max_by_key(|host| host.until_ms)?;
        Some(format!("paused until {}", host.until))
    };
    if let Some(pause) = site.paused.as_ref().filter(|_| !site.is_crawled) {
        let until = pauses::until_told(pause);
        return format!("paused until {until}: by {} since {}", pause.by, pause.since.rfc3339());
    }
    if site.is_disabled == Some(true) && !site.is_crawled {
        return "disabled: its rule file keeps it out of the service (gleaner rules enable, or enabled = true)"
            .to_owned();
    }
    if !site.is_crawled {
        let held = site.waiting.as_ref().map(|held| format!("may ask again at {}: {}", held.until, held.reason));
        let ended = || site.ended.as_ref().filter(|ended| !matches!(ended, Ended::Unreachable(_)));
        return held
            .or_else(|| ended().map(ToString::to_string))
            .or_else(blocked)
            .unwrap_or_else(|| "not being crawled".to_owned());
    }
    if let Some(without) = &site.no_session {
        return match &without.until {
            Some(until) => format!("no session, the next try {}", due(until, now)),
            None => "no session: needs your action".to_owned(),
        };
    }
    match &site.waiting {
        Some(waiting) if *waiting.until <= *now => {
            format!("about to resume, due since {}: {}", waiting.until, brief(&waiting.reason))
        }
        Some(waiting) => format!("waiting until {}: {}", waiting.until, brief(&waiting.reason)),
        None if site.session == Some(SessionState::LoggingIn) => "logging in".to_owned(),
        None if site.session == Some(SessionState::Proving) => "proving its session".to_owned(),
        None if site.under_way > 0 => format!("crawling, {} requests under way", site.under_way),
        None if site.counts.urls_queued > 0 => {
            blocked().unwrap_or_else(|| "crawling, as fast as its rate allows".to_owned())
        }
        None => blocked().unwrap_or_else(|| "idle".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_that_has_passed_is_told_as_such() {
        let of = AccountStatus {
            site: "forum".to_owned(),
            user: None,
            state: AccountState::NoSession,
            proven: None,
            until: Some("2026-11-22T08:12:00Z".to_owned()),
            reason: Some("no form".to_owned()),
            last_login: None,
            next_look: Some("2026-11-22T08:13:00Z".to_owned()),
            exposed: Vec::new(),
        };
        let early = account(&of, "2026-11-22T08:00:00Z");
        assert!(
            early.contains("the next try at 2026-11-22T08:12:00Z: no form") && early.contains("checks at 2026"),
            "{early}"
        );
        let late = account(&of, "2026-11-22T09:00:00Z");
        assert!(late.contains("the next try due since 2026-11-22T08:12:00Z: no form"), "{late}");
        assert!(late.contains("checks each minute") && !late.contains(" at 2026"), "{late}");
    }
}
