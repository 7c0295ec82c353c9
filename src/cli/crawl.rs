//! `gleaner crawl`: sites until their history is exhausted.

use std::io::IsTerminal;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;

use super::summary::Summary;
use super::{block_on, progress_bar};
use crate::app::{self, App, control};
use crate::config::Config;
use crate::crawl::RunOptions;
use crate::crawl::progress::Progress;
use crate::rules::{self, SiteRules};
use crate::telemetry::Terminal;

/// Queued URLs that a dry run shows for each host.
const DRY_RUN_URLS: usize = 20;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Sites to crawl, by name; all enabled ones when none is given
    #[arg(value_name = "SITE")]
    sites: Vec<String>,
    /// Stop after this many requests, over all sites
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    max_pages: Option<u64>,
    /// Stop after this many seconds
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u64).range(1..))]
    max_time: Option<u64>,
    /// Tell what would be fetched; fetch and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

pub fn crawl(config: &Config, options: &Options, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let Chosen { sites, bad_files } = chosen(config, &options.sites)?;
    if options.dry_run {
        return block_on(dry_run(config, &sites, options.json));
    }
    for site in &sites {
        if let rules::Robots::Ignore { reason } = &site.robots {
            tracing::warn!(site = %site.name, reason, "robots.txt is not obeyed: the site's rule file says so");
        }
    }
    let run_options = RunOptions {
        pages_max: options.max_pages,
        time_max: options.max_time.map(Duration::from_secs),
        keep_looking: false,
    };
    let summary = block_on(async {
        let app = App::open(&config.into())?;
        run_sites(&app, &sites, run_options, terminal).await
    })?;
    if options.json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        out!("{}", summary.text());
    }
    Ok(if summary.ended_well() && bad_files == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Crawls with progress shown, until the end or a signal.
pub async fn run_sites(
    app: &App,
    sites: &[Arc<SiteRules>],
    options: RunOptions,
    terminal: &Terminal,
) -> anyhow::Result<Summary> {
    let progress = Progress::default();
    let _control = control::serve(app, Some(progress.clone()));
    let (stop, stopped) = watch::channel(false);
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let started = app.clock.now();
    let crawl = app::crawl(app, sites, options, progress.clone(), stopped);
    tokio::pin!(crawl);
    let ends = {
        let showing = progress_bar::show(&progress, terminal);
        tokio::pin!(showing);
        loop {
            tokio::select! {
                ends = &mut crawl => break ends?,
                _ = terminate.recv() => { let _ = stop.send(true); }
                _ = interrupt.recv() => { let _ = stop.send(true); }
                never = &mut showing => match never {},
            }
        }
    };
    let took = app.clock.now().since(started);
    Ok(Summary::new(&progress.total(), took, ends, &app::archive_path(&app.data_dir)))
}

/// The sites of a run.
struct Chosen {
    sites: Vec<Arc<SiteRules>>,
    /// Files that would have been crawled and are at fault; their faults are told here.
    bad_files: usize,
}

/// The named sites, or all enabled ones. A bad file stops its own site alone.
fn chosen(config: &Config, names: &[String]) -> anyhow::Result<Chosen> {
    let mut chosen = Chosen { sites: Vec::new(), bad_files: 0 };
    let mut known = Vec::new();
    for file in rules::load_dir(&config.rules_dir) {
        match file.site {
            Ok(site) => {
                let is_named = names.iter().any(|name| **name == *site.name);
                known.push(site.name.to_string());
                if is_named || (names.is_empty() && site.enabled) {
                    chosen.sites.push(site);
                }
            }
            Err(faults) => {
                let is_named = |name: &String| file.path.file_stem().is_some_and(|stem| stem == name.as_str());
                if names.is_empty() || names.iter().any(is_named) {
                    chosen.bad_files += 1;
                    let colour = rules::fault::colour_wanted(std::io::stderr().is_terminal());
                    eprint!("{}", rules::fault::render(&faults, colour));
                }
            }
        }
    }
    let dir = config.rules_dir.display();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        let nearest = rules::fault::nearest(name, known.iter().map(String::as_str));
        let hint = nearest.map(|site| format!("\nhint: did you mean `{site}`?")).unwrap_or_default();
        bail!("no usable rule file for site `{name}` in {dir}{hint}");
    }
    if chosen.sites.is_empty() {
        let why = if chosen.bad_files > 0 { "no usable" } else { "no enabled" };
        bail!("{why} site in {dir}\nhint: `gleaner rules new URL` begins one; `enabled = true` in a file enables it");
    }
    Ok(chosen)
}

/// What a crawl would begin with. Opens the database only when it is there.
async fn dry_run(config: &Config, sites: &[Arc<SiteRules>], json: bool) -> anyhow::Result<ExitCode> {
    let db = if app::database_path(&config.data_dir).exists() { Some(App::open(&config.into())?.db) } else { None };
    let mut plans = Vec::new();
    for site in sites {
        let mut queued = Vec::new();
        let mut waiting = 0;
        if let Some(db) = &db {
            waiting = db.site_counts(&site.name).await?.urls_queued;
            for host in db.hosts().await?.into_iter().filter(|host| *host.site == *site.name) {
                let rows = db.queued(host.id, DRY_RUN_URLS).await.context("reading the frontier")?;
                queued.extend(rows.into_iter().map(|row| format!("{}{}", host.origin, row.key.path)));
            }
        }
        let start: Vec<_> = site.start.iter().map(|url| url.as_str().to_owned()).collect();
        plans.push(serde_json::json!({
            "site": &*site.name, "start": start, "urls_queued": waiting, "next": queued,
            "interval_ms": u64::try_from(site.rate.interval.as_millis())?, "connections": site.rate.connections,
        }));
    }
    if json {
        outln!("{}", serde_json::to_string(&serde_json::json!({ "dry_run": true, "sites": plans }))?);
        return Ok(ExitCode::SUCCESS);
    }
    for plan in plans {
        outln!("{}: {} URLs queued", plan["site"].as_str().unwrap_or_default(), plan["urls_queued"]);
        for (what, urls) in [("start", &plan["start"]), ("next", &plan["next"])] {
            for url in urls.as_array().into_iter().flatten() {
                outln!("  {what:<6}{}", url.as_str().unwrap_or_default());
            }
        }
    }
    Ok(ExitCode::SUCCESS)
}
