//! `gleaner run`: the service.

use std::ffi::OsString;
use std::process::ExitCode;
use std::time::Duration;

use clap::Args;

use super::{Global, block_on, chosen, config};
use crate::app::control::Remote;
use crate::app::{App, service};
use crate::limits;
use gleaner_base::recent::Recent;
use gleaner_rules::config::Config;
use gleaner_store::crawldb::CrawlDbError;

#[derive(Args, Clone, Debug)]
pub struct Options {}

/// Waits for commands that read the folder, such as a long export: systemd would give up after five starts.
async fn opened(config: &Config) -> anyhow::Result<App> {
    let mut is_told = false;
    for _ in 0..limits::READERS_WAIT_MAX.as_secs() {
        match App::open_to_mend(&config.into()) {
            Err(error)
                if matches!(error.downcast_ref(), Some(CrawlDbError::Held { .. }))
                    && Remote::connect(&config.data_dir).await.is_none() =>
            {
                if !std::mem::replace(&mut is_told, true) {
                    tracing::warn!("a command reads the database: the service starts when it has ended");
                }
                let a_minute = sd_notify::NotifyState::ExtendTimeoutUsec(60_000_000);
                // Without systemd there is nobody to notify.
                let _ = sd_notify::notify(&[a_minute]);
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
            opened => return opened,
        }
    }
    App::open_to_mend(&config.into())
}

pub fn run(config: &Config, _: &Options, global: &Global, log: Recent) -> anyhow::Result<ExitCode> {
    chosen::must_have_rules(config)?;
    for told in config::unknown_variables() {
        tracing::warn!("{told}");
    }
    block_on(async {
        let app = opened(config).await?;
        service::run(&app, config, &|| config::read(global), itself(config, global)?, log).await?;
        Ok(ExitCode::SUCCESS)
    })
}

/// This program with the options that it was given.
fn itself(config: &Config, global: &Global) -> anyhow::Result<Vec<OsString>> {
    let mut words = vec![std::env::current_exe()?.into_os_string()];
    let folders = [
        ("--data", Some(&config.data_dir)),
        ("--rules", Some(&config.rules_dir)),
        ("--config", global.config.as_ref()),
    ];
    for (name, path) in folders.into_iter().filter_map(|(name, path)| Some((name, path?))) {
        words.extend([name.into(), path.clone().into_os_string()]);
    }
    Ok(words)
}
