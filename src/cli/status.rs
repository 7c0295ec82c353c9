//! `gleaner status`: asks the process that holds the data folder, or reads the database when there is none.

use std::process::ExitCode;

use clap::Args;
use comfy_table::Table;

use super::hints::Hints;
use super::{Global, block_on};
use crate::app::control::{self, Remote};
use crate::app::sessions;
use crate::app::status::{self, NoSession, SiteStatus, StatusReport, UnclassedShape};
use crate::app::{self, App};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::crawl::progress::{Ended, RuleFault, brief};
use crate::crawldb::Reader;
use crate::frontier::budgets::{Cut, Likeness};
use crate::frontier::parameters::Proposal;
use crate::rules;

/// Shapes of links without a class that are shown of a site; `--json` has them all.
const UNCLASSED_SHOWN: usize = 5;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn status(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let mut report = block_on(async {
        if let Some(remote) = Remote::connect(&config.data_dir).await {
            let report = remote.status().await?;
            return with_holds(report, &remote, config).await;
        }
        if let Err(none) = app::must_exist(&config.data_dir) {
            // Nothing was crawled, perhaps for this.
            eprint!("{}", faults(&rule_faults(config), false));
            return Err(none);
        }
        let app = App::open(&config.into())?;
        let _control = control::serve(&app, None);
        let db = app.reader();
        let report = status::report(db.as_ref(), None, app.clock.now()).await?;
        with_holds(report, db.as_ref(), config).await
    })?;
    for site in &mut report.sites {
        if let Some(without) = &mut site.no_session {
            without.reason = hints.of_site(&without.reason, &site.name);
        }
        if let Some(Ended::NotLoggedIn(why)) = &mut site.ended {
            *why = hints.of_site(why, &site.name);
        }
    }
    if options.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        out!("{}", text(&report, &hints));
    }
    Ok(ExitCode::SUCCESS)
}

/// The report, with what the rule files hold back of sites that nobody crawls right now.
async fn with_holds(mut report: StatusReport, db: &dyn Reader, config: &Config) -> anyhow::Result<StatusReport> {
    let now = SystemClock.now();
    if !report.crawling {
        report.rule_faults = rule_faults(config);
    }
    let rules: Vec<_> = rules::load_dir(&config.rules_dir).into_iter().filter_map(|file| file.site.ok()).collect();
    for site in report.sites.iter_mut().filter(|site| !site.is_crawled) {
        if let Some(rules) = rules.iter().find(|rules| *rules.name == *site.name) {
            site.waiting = status::held(db, rules, now).await?;
            // What root alone may read, others do not see here.
            let tries = rules.login.as_ref().and_then(|_| sessions::tries(&config.data_dir, &site.name).ok());
            let reason = tries.and_then(|tries| tries.trouble());
            site.no_session = reason.map(|reason| NoSession { until: None, reason: reason.to_owned() });
        }
    }
    Ok(report)
}

/// Files of the rules folder that cannot be used. That there is no such folder is no fault here: harvests are told
/// without one.
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

fn text(report: &StatusReport, hints: &Hints) -> String {
    sites(report, hints) + &faults(&report.rule_faults, report.crawling)
}

fn faults(faults: &[RuleFault], is_crawled: bool) -> String {
    let told = |RuleFault { path, first, count }: &RuleFault| {
        let more = if *count > 1 { format!(" (and {} more)", count - 1) } else { String::new() };
        let what = match is_crawled {
            true => "its last good state, if any, stays in force",
            false => "its site cannot be crawled until it is mended",
        };
        format!("{}: {what}{more}:\n  {first}\n", path.display())
    };
    faults.iter().map(told).collect()
}

fn sites(report: &StatusReport, hints: &Hints) -> String {
    if report.sites.is_empty() {
        let hint = match report.rule_faults.is_empty() {
            true => hints.command("crawl"),
            false => hints.command("rules check"),
        };
        return format!("nothing has been crawled yet (hint: {hint})\n");
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["site", "torrents", "magnets", "requests", "known URLs", "queued", "state"]);
    for site in &report.sites {
        table.add_row([
            site.name.clone(),
            site.torrents_seen.to_string(),
            site.magnets.to_string(),
            site.pages.to_string(),
            site.urls_known.to_string(),
            site.urls_queued.to_string(),
            state(site),
        ]);
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    for site in &report.sites {
        let outcomes: Vec<_> = site.outcomes.iter().map(|(name, count)| format!("{name} {count}")).collect();
        text.push_str(&format!("{}: {}\n", site.name, outcomes.join(", ")));
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
        for UnclassedShape { shape, links, example } in site.unclassed.iter().take(UNCLASSED_SHOWN) {
            text.push_str(&format!("{}: no class takes {links} links of {shape}, as {example}\n", site.name));
        }
        if let Some(more) = site.unclassed.len().checked_sub(UNCLASSED_SHOWN).filter(|more| *more > 0) {
            text.push_str(&format!("{}: and links of {more} more shapes (hint: --json lists them)\n", site.name));
        }
        for proposal in &site.proposals {
            let Proposal { class, evidence, example_a, example_b, .. } = proposal;
            text.push_str(&format!(
                "{}: proposed for [parameters]: {} ({}: {evidence} pairs of URLs had the same content, as {example_a} and {example_b})\n",
                site.name,
                proposal.line(),
                class.name(),
            ));
        }
        if let Some(without) = &site.no_session {
            text.push_str(&format!("{}: no session: {}\n", site.name, without.reason));
        }
        for host in &site.blocked_hosts {
            let state = if host.waits { "waits until" } else { "no good answer since its pause until" };
            text.push_str(&format!("{}: {} {state} {}\n", site.name, host.origin, host.until));
            text.push_str(&format!("  {}\n", brief(&host.reason)));
        }
    }
    text
}

/// What a site does, in a few words; why its hosts wait stands below the table.
fn state(site: &SiteStatus) -> String {
    let blocked = || {
        let host = site.blocked_hosts.iter().filter(|host| host.waits).max_by_key(|host| host.until_ms)?;
        Some(format!("paused until {}", host.until))
    };
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
            Some(until) => format!("no session, the next try at {until}"),
            None => "no session: waits for you".to_owned(),
        };
    }
    match &site.waiting {
        Some(waiting) => format!("waiting until {}: {}", waiting.until, brief(&waiting.reason)),
        None if site.under_way > 0 => format!("crawling, {} requests under way", site.under_way),
        None if site.urls_queued > 0 => blocked().unwrap_or_else(|| "crawling, as fast as its rate allows".to_owned()),
        None => blocked().unwrap_or_else(|| "idle".to_owned()),
    }
}
