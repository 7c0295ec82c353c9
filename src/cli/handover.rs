//! `gleaner handover`: hands torrents to the watch folder of a client, and shows what was handed over.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::Args;
use comfy_table::Table;
use indicatif::ProgressBar;
use serde::Serialize;

use super::{block_on, search};
use crate::app::{archive_path, database::Database};
use crate::limits::{HANDOVER_LISTED_MAX, HANDOVER_LOOKS_MAX};
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_handover::watch_folder::WatchFolder;
use gleaner_handover::{Handover, HandoverError, LeftOut, Sources, memory};
use gleaner_rules::config::Config;
use gleaner_rules::config::handover::Handover as Wanted;
use gleaner_search::query::doubt_told;
use gleaner_torrent::archive::Archive;

/// Between two looks at whether the index has what was stored meanwhile.
const LOOK: Duration = Duration::from_millis(250);

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of a [[handover]] in gleaner.toml; without one, all are listed
    name: Option<String>,
    /// Show what would be handed over, and change nothing
    #[arg(long, requires = "name")]
    dry_run: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// A row of the list.
#[derive(Debug, Serialize)]
struct Listed {
    name: String,
    folder: String,
    search: String,
    since: &'static str,
    /// Torrents that were handed over, ever.
    handed: usize,
    /// Torrents that wait.
    waiting: u64,
    /// When the last one was handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    last: Option<String>,
    /// Why nothing can be handed over.
    #[serde(skip_serializing_if = "Option::is_none")]
    fault: Option<String>,
}

/// What one run has done, or would do.
#[derive(Debug, Default, Serialize)]
struct Done {
    handed: u64,
    /// Torrents that wait, of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    waiting: Option<u64>,
    /// The first of them: names of their files, or of the torrents.
    torrents: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_out: Vec<String>,
    /// Files that could not be written while others could, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    aside: Vec<String>,
}

/// Hands over, or lists. Fails (exit code 1) if torrents had to be left out, or files could not be written.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let Some(name) = &options.name else { return list(config, options.json) };
    let Some(wanted) = config.handovers.iter().find(|handover| handover.name == *name) else {
        let known: Vec<&str> = config.handovers.iter().map(|handover| &*handover.name).collect();
        match known.is_empty() {
            true => bail!("{name}: gleaner.toml has no [[handover]]\nhint: {}", how_to_begin(name)),
            false => bail!("{name}: no [[handover]] has this name\nhint: known names: {}", known.join(", ")),
        }
    };
    let done = block_on(run(config, wanted.clone(), options.dry_run))?;
    if options.json {
        outln!("{}", serde_json::to_string(&done)?);
    } else {
        tell(&done, wanted)?;
    }
    Ok(if done.left_out.is_empty() && done.aside.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn how_to_begin(name: &str) -> String {
    format!("add [[handover]] with name = \"{name}\", folder = \"/srv/watch\" and search = \"…\"")
}

async fn run(config: &Config, wanted: Wanted, dry_run: bool) -> anyhow::Result<Done> {
    let database = Database::existing(&config.into()).await?;
    let archive = Archive::open(archive_path(&config.data_dir), true)?;
    let search = search::level(config, &database).await?;
    let sources = Sources { db: database.reader(), search: &search, archive: &archive };
    let mut handover = Handover::open(&config.data_dir, wanted)?;
    for doubt in handover.doubts() {
        errln!("note: {}: it is looked for as words (gleaner search --help lists the filters)", doubt_told(doubt));
    }
    if dry_run {
        let waiting = handover.waiting(sources, SystemClock.now(), HANDOVER_LISTED_MAX).await?;
        let torrents = waiting.first.into_iter().map(|row| row.facts.name.into()).collect();
        return Ok(Done { waiting: Some(waiting.count), torrents, ..Done::default() });
    }
    let (mut done, mut looks) = (Done::default(), 0);
    let bar = ProgressBar::new_spinner();
    loop {
        let round = handover.round(sources, SystemClock.now()).await?;
        done.handed += round.handed.len() as u64;
        bar.set_message(format!("{} torrents", done.handed));
        bar.tick();
        let (is_idle, room) = (round.handed.is_empty(), HANDOVER_LISTED_MAX - done.torrents.len());
        done.torrents.extend(round.handed.into_iter().take(room));
        let room = HANDOVER_LISTED_MAX - done.aside.len();
        done.aside.extend(round.aside.into_iter().take(room));
        let told = |LeftOut { infohash, name, reason }: LeftOut| format!("{infohash} {name}: {reason}");
        let room = HANDOVER_LISTED_MAX - done.left_out.len();
        done.left_out.extend(round.left_out.into_iter().take(room).map(told));
        if round.is_level {
            bar.finish_and_clear();
            return Ok(done);
        }
        if is_idle {
            looks += 1;
            if looks >= HANDOVER_LOOKS_MAX {
                bail!(
                    "{}: the search index lacks what was stored last\nhint: try again in a while",
                    config.data_dir.display()
                );
            }
            tokio::time::sleep(LOOK).await;
        }
    }
}

fn tell(done: &Done, wanted: &Wanted) -> anyhow::Result<()> {
    let folder = wanted.folder.display();
    let count = match done.waiting {
        Some(waiting) => {
            outln!("{folder}: {waiting} torrents would be handed over");
            waiting
        }
        None => {
            outln!("{folder}: {} torrents were handed over", done.handed);
            done.handed
        }
    };
    for name in &done.torrents {
        outln!("  {name}");
    }
    match count.saturating_sub(done.torrents.len() as u64) {
        0 => {}
        more => outln!("  … and {more} more"),
    }
    if !done.left_out.is_empty() {
        outln!("left out, because the archive lacks their file:");
        for torrent in &done.left_out {
            outln!("  {torrent}");
        }
        outln!("hint: gleaner verify --repair has them fetched again");
    }
    if !done.aside.is_empty() {
        outln!("not written, and tried again at the next run:");
        for error in &done.aside {
            outln!("  {}", error.replace('\n', " · "));
        }
    }
    Ok(())
}

fn list(config: &Config, json: bool) -> anyhow::Result<ExitCode> {
    if config.handovers.is_empty() {
        if json {
            outln!("{}", serde_json::json!({ "handovers": [] }));
        } else {
            outln!("no handovers\nhint: in gleaner.toml, {}", how_to_begin("seedbox"));
        }
        return Ok(ExitCode::SUCCESS);
    }
    let rows = block_on(listed(config))?;
    if json {
        outln!("{}", serde_json::json!({ "handovers": rows }));
        return Ok(ExitCode::SUCCESS);
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["name", "handed over", "waiting", "last", "since", "folder", "search"]);
    for row in &rows {
        let last = row.last.clone().unwrap_or_else(|| "never".to_owned());
        let (handed, waiting) = (row.handed.to_string(), row.waiting.to_string());
        table.add_row([&row.name, &handed, &waiting, &last, row.since, &row.folder, &row.search]);
    }
    out!("{}", table.lines().map(|line| format!("{}\n", line.trim_end())).collect::<String>());
    for row in &rows {
        if let Some(fault) = &row.fault {
            outln!("{}: {fault}", row.name);
        }
    }
    Ok(ExitCode::SUCCESS)
}

async fn listed(config: &Config) -> anyhow::Result<Vec<Listed>> {
    let database = Database::existing(&config.into()).await?;
    let archive = Archive::open(archive_path(&config.data_dir), true)?;
    let search = search::level(config, &database).await?;
    let sources = Sources { db: database.reader(), search: &search, archive: &archive };
    let mut rows = Vec::new();
    for wanted in &config.handovers {
        let handover = Handover::open(&config.data_dir, wanted.clone())?;
        let waiting = handover.waiting(sources, SystemClock.now(), 0).await?.count;
        let fault = WatchFolder::open(&wanted.folder).map_or_else(Some, |folder| folder.refusal());
        let last = memory::last_written(&config.data_dir, &wanted.name).filter(|_| handover.handed() > 0);
        rows.push(Listed {
            name: wanted.name.clone(),
            folder: wanted.folder.display().to_string(),
            search: wanted.search.clone(),
            since: wanted.since.name(),
            handed: handover.handed(),
            waiting,
            last: last.map(|at| UnixMillis(at).rfc3339()),
            fault: fault.map(|fault: HandoverError| fault.to_string()),
        });
    }
    Ok(rows)
}
