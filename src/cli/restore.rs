//! `gleaner restore`: a backup to an empty data folder.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Args;

use super::block_on;
use crate::app::{App, folder};
use gleaner_rules::config::Config;
use gleaner_store::backup::{Restored, restore};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of backups (the newest is restored), the folder of one of them, or an archive
    from: PathBuf,
    /// Leave out torrents whose files are damaged in the backup
    #[arg(long)]
    skip_damaged: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Restores to the data folder, which must be empty. Fails (exit code 1) if torrents were left out.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    folder::must_be_writable(&config.data_dir)?;
    let restored = restore(&options.from, &config.data_dir, options.skip_damaged)?;
    // Opened as every command will: whatever that upgrades is upgraded now.
    block_on(async { App::open(&config.into()).map(drop) })?;
    if options.json {
        outln!("{}", serde_json::to_string(&restored)?);
    } else {
        tell(config, &restored)?;
    }
    let is_whole = restored.left_out == 0 && restored.damaged == 0;
    Ok(if is_whole { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn tell(config: &Config, restored: &Restored) -> anyhow::Result<()> {
    let data_dir = config.data_dir.display();
    let (torrents, made) = (restored.torrents, restored.made.rfc3339());
    outln!("{data_dir}: {torrents} torrents, {:.1} MB, as of {made}", restored.torrent_bytes as f64 / 1e6);
    if let Some(beside) = &restored.beside {
        outln!("configuration and rule files are in {}: copy what you want to use", beside.display());
    }
    if !restored.with_secrets {
        outln!("it holds no passwords, sessions and tokens: gleaner login SITE, gleaner token new NAME");
    }
    for (count, why) in
        [(restored.left_out, "were lost before the backup"), (restored.damaged, "are damaged in the backup")]
    {
        if count > 0 {
            outln!(
                "{count} torrents have no file: they {why}\nhint: gleaner verify --repair{} has them fetched again",
                config.given
            );
        }
    }
    Ok(())
}
