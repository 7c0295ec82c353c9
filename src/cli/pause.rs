//! `gleaner pause`, `gleaner resume`, `gleaner recheck`: leaves a site alone for a while, or rechecks its lists now, without touching its rule file.

use std::process::ExitCode;

use clap::Args;

use super::block_on;
use crate::app::control::{self, Remote};
use gleaner_rules::config::Config;
use gleaner_serve::acts::{Act, Acted, Wish};
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

#[derive(Args, Clone, Debug)]
pub struct Recheck {
    /// Name of a site
    site: String,
}

pub fn pause(config: &Config, options: &Pause) -> anyhow::Result<ExitCode> {
    press(config, &options.site, Wish::Pause { minutes: options.minutes })
}

pub fn resume(config: &Config, options: &Resume) -> anyhow::Result<ExitCode> {
    press(config, &options.site, Wish::Resume)
}

pub fn recheck(config: &Config, options: &Recheck) -> anyhow::Result<ExitCode> {
    let acted = asked(config, &options.site, Wish::Crawl)?;
    outln!("{}: the start pages and all lists are rechecked now", acted.site);
    if let Some(note) = acted.note {
        outln!("note: {note}");
    }
    Ok(ExitCode::SUCCESS)
}

fn asked(config: &Config, site: &str, wish: Wish) -> anyhow::Result<Acted> {
    block_on(async {
        let Some(service) = Remote::connect(&config.data_dir).await else {
            let (what, hint) = match wish {
                Wish::Crawl => ("nothing is rechecked", format!("gleaner crawl {site}{}", config.given)),
                _ => (
                    "nothing is requested anyway",
                    "`enabled = false` in a rule file keeps a site out of the service".to_owned(),
                ),
            };
            return Err(control::no_service(&config.data_dir, &format!(": {what}"), &hint));
        };
        let act = Act { site: site.to_owned(), wish, by: "the command line".to_owned() };
        Ok(service.act(act).await??)
    })
}

fn press(config: &Config, site: &str, wish: Wish) -> anyhow::Result<ExitCode> {
    let acted = asked(config, site, wish)?;
    let site = acted.site;
    match (acted.is_paused, acted.until) {
        (true, Some(until)) => outln!("{site} is paused until {until}"),
        (true, None) => outln!("{site} is paused until it is resumed (gleaner resume {site})"),
        (false, _) => outln!("{site} goes on"),
    }
    Ok(ExitCode::SUCCESS)
}
