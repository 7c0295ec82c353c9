//! `gleaner crawl`: crawls sites until their history is exhausted.

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use tokio::signal::unix::SignalKind;
use tokio::sync::watch;

use super::chosen::{Chosen, chosen};
use super::findings::{Known, findings, nothing_answered};
use super::fold::fold;
use super::hints::Hints;
use super::summary::{Summary, TooDeep};
use super::{Global, block_on, dry_run, progress_bar, summary};
use crate::app::signals::Signals;
use crate::app::{self, App, control, status};
use gleaner_base::telemetry::Terminal;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::{Ended, Progress, SiteProgress};
use gleaner_crawl::scripts::rendered::Rendered;
use gleaner_rules::config::Config;
use gleaner_rules::{self as rules, SiteRules};
use gleaner_store::crawldb::Outcome;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Sites to crawl, by name; all enabled sites when none is given
    #[arg(value_name = "SITE")]
    sites: Vec<String>,
    /// Stop after N requests, over all sites
    #[arg(long, value_name = "N", value_parser = from_one)]
    max_pages: Option<u64>,
    /// Stop after SECONDS
    #[arg(long, value_name = "SECONDS", value_parser = from_one)]
    max_time: Option<u64>,
    /// Once nothing else is left, ask each SITE for at most N numbers between the known ones of its torrents, to estimate how many no list shows
    #[arg(long, value_name = "N", requires = "sites", conflicts_with = "dry_run", value_parser = from_one)]
    enumerate: Option<u64>,
    /// Show what would be fetched, and change nothing; before a site's first crawl its robots.txt and start pages are requested
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// A bound of a crawl; the range that clap would name says nothing to people.
fn from_one(text: &str) -> Result<u64, String> {
    match text.trim().parse() {
        Ok(0) => Err("this would ask for nothing: write a number from 1 on, or leave the option out".to_owned()),
        Ok(number) => Ok(number),
        Err(_) => Err("this is no whole number: write one from 1 on".to_owned()),
    }
}

pub fn crawl(config: &Config, options: &Options, global: &Global, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let Chosen { sites, bad_files } = chosen("crawl", config, &options.sites, &hints)?;
    if options.dry_run {
        return block_on(dry_run::tell(config, &sites, options.json));
    }
    for site in &sites {
        if let rules::Robots::Ignore { reason } = &site.robots {
            tracing::warn!(site = %site.name, reason, "robots.txt is ignored, as the site's rule file says");
        }
    }
    let run_options = RunOptions {
        pages_max: options.max_pages,
        time_max: options.max_time.map(Duration::from_secs),
        keep_looking: false,
        enumerate: options.enumerate,
    };
    let mut summary = block_on(async {
        let app = App::open_to_mend(&config.into())?;
        let mut summary = run_sites(&app, &sites, run_options, terminal).await?;
        name_causes(&mut summary, &app, &sites, &hints).await?;
        anyhow::Ok(summary)
    })?;
    summary.name_commands(&hints, &config.data_dir, &sites);
    if options.json {
        outln!("{}", summary.json()?);
    } else {
        out!("{}", fold(&summary.text(&hints), summary::LABEL_COLUMNS));
    }
    Ok(if summary.ended_well() && bad_files == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Adds why sites gave less than they should.
async fn name_causes(summary: &mut Summary, app: &App, sites: &[Arc<SiteRules>], hints: &Hints) -> anyhow::Result<()> {
    for rules in sites {
        let ended = summary.sites.get(&*rules.name);
        // A crawl that ended in front of a wall has named its cause.
        let is_over = matches!(ended, Some(Ended::Exhausted));
        let known = Known::of_site(app.db.as_ref(), rules).await?;
        let mut found = findings(&known, rules, is_over, hints);
        if matches!(ended, Some(Ended::Budget(_))) && app.db.site_counts(&rules.name).await?.outcomes.is_empty() {
            found.push(nothing_answered());
        }
        if !found.is_empty() {
            summary.findings.insert(rules.name.to_string(), found);
        }
    }
    Ok(())
}

/// Crawls and shows progress, until the end or a signal.
pub async fn run_sites(
    app: &App,
    sites: &[Arc<SiteRules>],
    options: RunOptions,
    terminal: &Terminal,
) -> anyhow::Result<Summary> {
    let progress = Progress::default();
    let control = control::serve(app, Some(progress.clone()), None);
    let (stop, stopped) = watch::channel(false);
    let mut signals = Signals::listen()?;
    let (started, mut told) = (app.clock.now(), app::Ends::default());
    let mut stops = |signal: SignalKind| {
        stop.send_replace(true);
        told.told(signal, app.clock.now());
    };
    let crawl = app::crawl(app, sites, options, progress.clone(), stopped);
    tokio::pin!(crawl);
    let ends = {
        let showing = progress_bar::show(&progress, terminal);
        tokio::pin!(showing);
        loop {
            tokio::select! {
                ends = &mut crawl => break ends?,
                signal = signals.next() => stops(signal),
                never = &mut showing => match never {},
            }
        }
    };
    if let Some(control) = &control {
        // Whoever has asked for a backup gets it, unless a signal ends that, too.
        loop {
            tokio::select! {
                () = control.backed_up() => break,
                signal = signals.next() => {
                    app.backups().end();
                    stops(signal);
                }
            }
        }
    }
    let now = app.clock.now();
    let mut summary = Summary::new(&progress.total(), now.since(started), ends, &app::archive_path(&app.data_dir));
    let mut done = progress.snapshot();
    summary.magnets = 0;
    for rules in sites {
        let name = rules.name.to_string();
        if let Some(waiting) = status::held(app.db.as_ref(), rules, now).await? {
            summary.waiting.insert(name.clone(), waiting);
        }
        if let Some(nothing) = Rendered::take_up(app.db.as_ref(), &name).await?.nothing() {
            summary.showed_nothing.insert(name.clone(), nothing.clone());
        }
        let in_all = app.db.site_counts(&name).await?;
        summary.not_whole(&name, in_all.pages_not_whole);
        let SiteProgress { counts, deepest, guesses, .. } = done.remove(&name).unwrap_or_default();
        summary.guesses.extend(guesses.map(|guesses| (name.clone(), guesses)));
        // Of most magnets that were found the torrent was stored later.
        summary.magnets += counts.magnets.min(in_all.magnets);
        if let Some(&urls) = counts.outcomes.get(&Outcome::OverBudget) {
            let deepest = deepest.map(|(_, url)| url);
            summary.too_deep.insert(name, TooDeep { urls, depth_max: rules.depth_max, deepest });
        }
    }
    Ok(summary)
}
