//! `gleaner pause`, `gleaner resume`: leaves a site alone for a while, without touching its rule file.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::block_on;
use crate::app::control::Remote;
use gleaner_rules::config::Config;
use gleaner_serve::acts::{Act, Wish};
use gleaner_serve::limits::PAUSE_MINUTES_MAX;

#[derive(Args, Clone, Debug)]
pub struct Pause {
    /// Name of a site
    site: String,
    /// Resume by itself after this many minutes; without it, when `gleaner resume` says so
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=i64::from(PAUSE_MINUTES_MAX)))]
    minutes: Option<u32>,
}

#[derive(Args, Clone, Debug)]
pub struct Resume {
    /// Name of a site
    site: String,
}

pub fn pause(config: &Config, options: &Pause) -> anyhow::Result<ExitCode> {
    press(config, &options.site, Wish::Pause { minutes: options.minutes })
}

pub fn resume(config: &Config, options: &Resume) -> anyhow::Result<ExitCode> {
    press(config, &options.site, Wish::Resume)
}

fn press(config: &Config, site: &str, wish: Wish) -> anyhow::Result<ExitCode> {
    let acted = block_on(async {
        let Some(service) = Remote::connect(&config.data_dir).await else {
            bail!(
                "{}: no service runs in this folder: nothing is requested anyway\nhint: `enabled = false` in a rule file keeps a site out of the service",
                config.data_dir.display()
            );
        };
        let act = Act { site: site.to_owned(), wish, by: "the command line".to_owned() };
        Ok(service.act(act).await??)
    })?;
    let site = acted.site;
    match (acted.is_paused, acted.until) {
        (true, Some(until)) => outln!("{site} is paused until {until}"),
        (true, None) => outln!("{site} is paused until it is resumed (gleaner resume {site})"),
        (false, _) => outln!("{site} goes on"),
    }
    Ok(ExitCode::SUCCESS)
}
