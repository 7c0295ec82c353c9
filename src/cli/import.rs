//! `gleaner import`: brings torrents and magnet links of elsewhere into the archive.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use indicatif::ProgressBar;

use super::block_on;
use crate::app::database::Database;
use crate::app::{self, App, control, importing};
use crate::limits::IMPORT_CACHE_BYTES_MAX;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_rules::config::Config;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::import::{self, Job, Progress, Summary};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Torrent files, folders (with all below them), .tar, .tar.zst, .tar.gz and .zip archives, lists of magnet links, exports of gleaner,
    /// qBittorrent's BT_backup, Transmission's torrents folder
    #[arg(required = true, value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Name of the site that the torrents are shown with, where no manifest names another
    #[arg(long, value_name = "NAME", default_value = "import", value_parser = source)]
    source: String,
    /// Tell what would be imported, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

/// A name that a site may have.
fn source(text: &str) -> anyhow::Result<String> {
    let is_plain = |of: u8| of.is_ascii_alphanumeric() || b"-_.".contains(&of);
    if text.is_empty() || text.len() > 64 || text.starts_with('.') || !text.bytes().all(is_plain) {
        bail!("a name has 1 to 64 letters, digits, `-`, `_` or `.`");
    }
    Ok(text.to_owned())
}

/// Imports. Fails (exit code 1) if something was refused that claims to be a torrent.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let summary = block_on(run(config, options))?;
    if options.json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        tell(&summary, options)?;
    }
    Ok(if summary.refused.0.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run(config: &Config, options: &Options) -> anyhow::Result<Summary> {
    // Only draws on a terminal.
    let bar = ProgressBar::new_spinner();
    let mut progress = |at: Progress| {
        bar.set_message(format!("{} torrents are new, {} known", at.torrents, at.known));
        bar.tick();
    };
    let job = |spool: PathBuf| Job {
        paths: options.paths.clone(),
        source: options.source.clone(),
        now: SystemClock.now(),
        judge: importing::judge(&config.rules_dir),
        spool,
    };
    // Before anything is made: a path that is mistyped makes no data folder.
    if let Some(missing) = options.paths.first().filter(|_| !options.paths.iter().any(|path| path.exists())) {
        bail!("{}: there is no such file or folder\nhint: name what is to be imported; nothing was", missing.display());
    }
    let database = Database::unless_lost(&config.into()).await?;
    if let Some(Database::Held(_)) = database {
        bail!(
            "{}: another gleaner process uses this folder\nhint: stop it (`systemctl stop gleaner`), import, and start it again",
            config.data_dir.display()
        );
    }
    let summary = if options.dry_run {
        let job = job(std::env::temp_dir());
        match &database {
            Some(Database::File(db)) => import::import(db.as_ref(), None, job, &mut progress).await?,
            _ => import::import(&MemoryStore::default(), None, job, &mut progress).await?,
        }
    } else {
        drop(database);
        let options = app::Options::from(config);
        let cache_bytes = options.cache_bytes.min(IMPORT_CACHE_BYTES_MAX);
        let app = App::open(&app::Options { cache_bytes, ..options })?;
        // Others that read the folder ask this process meanwhile.
        let _control = control::serve(&app, None, None);
        let job = job(config.data_dir.clone());
        let summary = import::import(app.db.as_ref(), Some(Arc::clone(&app.archive)), job, &mut progress).await?;
        importing::note_categories(app.db.as_ref(), &config.rules_dir).await?;
        summary
    };
    bar.finish_and_clear();
    Ok(summary)
}

fn tell(summary: &Summary, options: &Options) -> anyhow::Result<()> {
    let would = if options.dry_run { "would be new" } else { "are new" };
    outln!("{} torrents {would}, {} were there already", summary.torrents, summary.known);
    if summary.magnets + summary.magnets_known > 0 {
        outln!("{} magnet links {would}, {} were there already", summary.magnets, summary.magnets_known);
    }
    if summary.urls > 0 {
        outln!("{} URLs of sites count as visited from now on", summary.urls);
    }
    if summary.urls_masked > 0 {
        outln!(
            "{} URLs lack the key of a member, as exports do: a crawl of their sites asks for them again",
            summary.urls_masked
        );
    }
    if summary.completed > 0 {
        outln!("{} torrents got their trackers from the .fastresume beside them", summary.completed);
    }
    if summary.other > 0 {
        outln!("{} other files were left alone", summary.other);
    }
    let refused = summary.refused.count();
    if refused > 0 {
        outln!("refused: {refused}");
    }
    for (reason, group) in &summary.refused.0 {
        outln!("  {reason}: {}", group.count);
        for place in &group.first {
            outln!("    {place}");
        }
        match group.count.saturating_sub(group.first.len() as u64) {
            0 => {}
            more => outln!("    … and {more} more"),
        }
    }
    if !options.dry_run && summary.torrents > 0 {
        outln!("next: gleaner search, gleaner status; `gleaner verify` compares files and database");
    }
    Ok(())
}
