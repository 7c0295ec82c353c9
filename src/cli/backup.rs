//! `gleaner backup`: by the process that holds the data folder, or by this one.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::block_on;
use crate::app::backups::{Wish, absolute};
use crate::app::control::{self, Remote};
use crate::app::{self, App, database};
use gleaner_rules::config::Config;
use gleaner_rules::config::alarms::SECRET;
use gleaner_store::backup::{Made, is_archive};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Folder of backups, or an archive that ends in .tar.zst; without it, the folder of [backup] in gleaner.toml
    dest: Option<PathBuf>,
    /// Backups that stay in the folder; older ones are removed
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1_000), value_name = "N")]
    keep: Option<u16>,
    /// Include passwords, sessions and tokens
    #[arg(long)]
    with_secrets: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Backs up, also while the service runs. Fails (exit code 1) if torrents had to be left out, though the backup is made.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let timed = config.backup.as_ref();
    let Some(to) = options.dest.clone().or_else(|| timed.map(|timed| timed.to.clone())) else {
        bail!(
            "no destination\nhint: gleaner backup /srv/gleaner-backup{}, or set `to` of [backup] in gleaner.toml",
            config.given
        );
    };
    let of_timed = timed.filter(|timed| timed.to == to);
    let keep = options.keep.map(usize::from).or_else(|| of_timed.map(|timed| timed.keep));
    let to = absolute(&to)?;
    if is_archive(&to) && options.keep.is_some() {
        bail!("{}: an archive holds one backup\nhint: leave out --keep, or name a folder", to.display());
    }
    let with_secrets = options.with_secrets || of_timed.is_some_and(|timed| timed.with_secrets);
    let made = block_on(back_up(config, Wish { to, keep, with_secrets }))?;
    if options.json {
        outln!("{}", serde_json::to_string(&made)?);
    } else {
        tell(config, &made)?;
    }
    Ok(if made.left_out == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn back_up(config: &Config, wish: Wish) -> anyhow::Result<Made> {
    let made = match Remote::connect(&config.data_dir).await {
        Some(remote) => remote.back_up(wish).await?,
        None => {
            if !app::has_database(&config.data_dir)? || database::is_lost(&config.data_dir).is_some() {
                return Err(app::nothing_there(&config.into()));
            }
            let app = App::open(&config.into())?;
            // Others that read the folder ask this process meanwhile.
            let _control = control::serve(&app, None, None);
            let backups = app.backups();
            tokio::task::spawn_blocking(move || backups.make(wish)).await?
        }
    };
    made.map_err(anyhow::Error::msg)
}

fn tell(config: &Config, made: &Made) -> anyhow::Result<()> {
    let Made { torrents, new_torrents, linked, left_out, .. } = *made;
    outln!("{}: {torrents} torrents, {new_torrents} of them new, {linked} as links", made.path.display());
    outln!(
        "{:.1} MB written{}",
        made.bytes_written as f64 / 1e6,
        match made.removed {
            0 => String::new(),
            removed => format!("; {removed} older backups removed"),
        }
    );
    if made.removed_torrents > 0 {
        outln!("{} torrents removed that no backup in this folder has", made.removed_torrents);
    }
    if let Some(note) = &made.note {
        outln!("note: {note}");
    }
    if !made.with_secrets {
        outln!("passwords, sessions and tokens are not in it (--with-secrets)");
    }
    let told: Vec<&str> =
        config.alarms.channels.iter().filter(|of| of.has_open_address()).map(|of| &*of.name).collect();
    if !told.is_empty() && config.file.is_some() {
        outln!("gleaner.toml is in it, with the addresses of alarm channels: {}", told.join(", "));
        outln!(
            "hint: write {SECRET} for the part of an address that is secret: that part is then kept in the file secrets/alarm-NAME"
        );
    }
    if left_out > 0 {
        outln!("{left_out} torrents are not in it: their files are lost or damaged");
        outln!("hint: gleaner verify --repair has them fetched again");
    }
    Ok(())
}
