//! `gleaner top`: the overview in a terminal: of the process that holds the folder, else of its database.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::status::{state, with_holds};
use super::{Global, block_on};
use crate::app::database::Database;
use crate::app::nothing_there;
use crate::app::status::{SiteStatus, StatusReport};
use crate::limits::TOP_SECONDS_MAX;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::console::{escaped, of_output};
use gleaner_base::url::without_keys_in;
use gleaner_crawl::freshness::plot::duration;
use gleaner_crawl::progress::Ended;
use gleaner_rules::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Print it once and end; without a terminal that is what happens anyway
    #[arg(long)]
    once: bool,
    /// Seconds between two refreshes
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u64).range(1..=TOP_SECONDS_MAX))]
    interval: u64,
}

/// Columns of names and states where the terminal says nothing of its own.
const COLUMNS: usize = 100;

/// Moves to the top left corner, and clears what is below.
const HOME: &str = "\u{1b}[H\u{1b}[J";
const BOLD: &str = "\u{1b}[1m";
const RED: &str = "\u{1b}[31m";
const YELLOW: &str = "\u{1b}[33m";
const GREEN: &str = "\u{1b}[32m";
const PLAIN: &str = "\u{1b}[0m";

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let is_once = options.once || !io::stdout().is_terminal();
    let hints = super::hints::Hints::of(global);
    let columns = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok()).unwrap_or(COLUMNS);
    let mut before: Option<StatusReport> = None;
    loop {
        let report = block_on(async {
            let Some(database) = Database::unless_lost(&config.into()).await? else {
                return Err(nothing_there(&config.into()));
            };
            with_holds(database.status().await?, database.reader(), config).await
        })?;
        let rate = |site: &SiteStatus| {
            let earlier = before.as_ref()?.sites.iter().find(|of| of.name == site.name)?;
            Some(site.pages.saturating_sub(earlier.pages) as f64 / options.interval as f64)
        };
        let now = SystemClock.now().rfc3339();
        let text = screen(&report, rate, &now, &|words| hints.command(words), columns, !is_once);
        let shown = if is_once { text } else { format!("{HOME}{text}") };
        let mut out = io::stdout().lock();
        let written = out.write_all(shown.as_bytes()).and_then(|()| out.flush());
        drop(out);
        written.map_err(|error| anyhow::anyhow!(of_output(&error)))?;
        if is_once {
            return Ok(ExitCode::SUCCESS);
        }
        before = Some(report);
        std::thread::sleep(Duration::from_secs(options.interval));
    }
}

/// How a site is: 0 well, 1 it waits, 2 it needs somebody.
fn worry(site: &SiteStatus) -> u8 {
    let is_ended_badly = matches!(site.ended, Some(Ended::Unreachable(_) | Ended::Refused(_) | Ended::NotLoggedIn(_)));
    let needs_login = site.no_session.as_ref().is_some_and(|of| of.until.is_none());
    match () {
        () if site.paused.is_some() => 0,
        () if needs_login || is_ended_badly && !site.is_crawled => 2,
        () if site.no_session.is_some() || !site.broken_promises.is_empty() => 1,
        () if site.blocked_hosts.iter().any(|host| host.waits) => 1,
        () => 0,
    }
}

/// One screen. Texts of others are escaped, and keys in them masked, before the colours are added.
fn screen(
    report: &StatusReport,
    rate: impl Fn(&SiteStatus) -> Option<f64>,
    now: &str,
    command: &dyn Fn(&str) -> String,
    columns: usize,
    has_colours: bool,
) -> String {
    let colour = |code: &'static str| if has_colours { code } else { "" };
    let worst = report.sites.iter().map(worry).max().unwrap_or(0);
    let needy = report.sites.iter().filter(|site| worry(site) > 0).count();
    let all = report.sites.len();
    let (sentence, tone) = match (&report.store_fault, report.rule_faults.len(), needy) {
        (Some(_), ..) => ("Nothing can be stored: make room on the disk.".to_owned(), RED),
        (None, 0, 0) if !report.crawling && report.alarms == 0 => {
            (format!("Nothing is crawled: no service runs in this folder; sites: {all}."), YELLOW)
        }
        (None, 0, _) if report.alarms > 0 => (format!("Open alarms: {}: {}", report.alarms, command("alarms")), RED),
        (None, 0, 0) => (format!("All is well; sites: {all}."), GREEN),
        (None, 0, needy) => {
            let verb = if needy == 1 { "needs" } else { "need" };
            (format!("{needy} of {all} sites {verb} you: {}", command("status")), if worst > 1 { RED } else { YELLOW })
        }
        (None, 1, _) => (format!("1 rule file has faults: {}", command("rules check")), RED),
        (None, faults, _) => (format!("{faults} rule files have faults: {}", command("rules check")), RED),
    };
    let torrents: u64 = report.sites.iter().map(|site| site.counts.torrents).sum();
    let mut text = format!("{}{}{sentence}{}\n", colour(BOLD), colour(tone), colour(PLAIN));
    text.push_str(&format!("{torrents} torrents · {now}\n\n"));
    let name_width = report.sites.iter().map(|site| shown(&site.name).chars().count()).max().unwrap_or(4).clamp(4, 24);
    text.push_str(&format!(
        "{:<name_width$}  {:>9}  {:>9}  {:>7}  {:>8}  state\n",
        "site", "torrents", "queued", "req/s", "delay"
    ));
    let state_width = columns.saturating_sub(name_width + 45).max(20);
    let mut sites: Vec<&SiteStatus> = report.sites.iter().collect();
    sites.sort_by_key(|site| (std::cmp::Reverse(worry(site)), site.name.clone()));
    for site in sites {
        let tone = [GREEN, YELLOW, RED][usize::from(worry(site))];
        let rate = rate(site).map_or_else(|| "–".to_owned(), |rate| format!("{rate:.1}"));
        let delay = site.delay.and_then(|delay| delay.median_s).map_or_else(|| "–".to_owned(), duration);
        let state = cut(&shown(&state(site, now)), state_width);
        text.push_str(&format!(
            "{:<name_width$}  {:>9}  {:>9}  {rate:>7}  {delay:>8}  {}{state}{}\n",
            cut(&shown(&site.name), name_width),
            site.counts.torrents_seen,
            site.counts.urls_queued,
            colour(tone),
            colour(PLAIN)
        ));
    }
    for fault in &report.rule_faults {
        let first = fault.first.lines().next().unwrap_or_default();
        text.push_str(&format!("\n{}{}{}\n", colour(RED), cut(&shown(first), columns), colour(PLAIN)));
    }
    text
}

fn shown(text: &str) -> String {
    escaped(&without_keys_in(text)).replace(['\n', '\t'], " ")
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_sites_say_moves_nothing_on_the_terminal_and_the_needy_come_first() {
        let site = |name: &str, ended: serde_json::Value| {
            serde_json::json!({"name": name, "pages": 9, "script_requests": 0, "torrents": 3, "torrents_seen": 4, "magnets": 0, "urls_known": 6,
                "urls_queued": 7, "body_bytes": 8, "outcomes": {}, "is_crawled": false, "under_way": 0, "waiting": null, "blocked_hosts": [],
                "ended": ended, "cuts": [], "proposals": []})
        };
        let evil = serde_json::json!({"end": "unreachable", "detail": "h\u{1b}[2J\u{202e}x"});
        let report = serde_json::json!({"crawling": true, "sites": [site("a", serde_json::Value::Null), site("z\u{1b}[31m", evil)]});
        let report: StatusReport = serde_json::from_value(report).unwrap();
        let text = screen(&report, |_| None, "2026-12-01T00:00:00Z", &|words| format!("gleaner {words}"), 100, false);
        assert!(text.starts_with("1 of 2 sites needs you: gleaner status"), "{text}");
        assert!(!text.contains(['\u{1b}', '\u{202e}']) && text.contains("\\u001b"), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[4].starts_with("z\\u001b") && lines[5].starts_with("a "), "{text}");
        for crawling in [true, false] {
            let report = StatusReport { alarms: 2, crawling, sites: Vec::new(), ..report.clone() };
            let text = screen(&report, |_| None, "x", &|words| format!("gleaner {words}"), 100, false);
            assert!(text.starts_with("Open alarms: 2: gleaner alarms"), "{text}");
        }
    }
}
