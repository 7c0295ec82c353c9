//! `gleaner run`: the service.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::block_on;
use super::hints::quoted;
use crate::app::{App, service};
use gleaner_rules::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {}

pub fn run(config: &Config, _: &Options) -> anyhow::Result<ExitCode> {
    if !config.rules_dir.is_dir() {
        let dir = config.rules_dir.display();
        let hint = "pass the right --rules, or start one there: gleaner rules new URL --rules";
        bail!("{dir}: there is no such folder of rule files\nhint: {hint} {}", quoted(&config.rules_dir));
    }
    block_on(async {
        let app = App::open_to_mend(&config.into())?;
        service::run(&app, &config.rules_dir).await?;
        Ok(ExitCode::SUCCESS)
    })
}
