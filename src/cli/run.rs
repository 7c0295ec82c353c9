//! `gleaner run`: the service.

use std::process::ExitCode;

use clap::Args;

use super::block_on;
use crate::app::{App, service};
use crate::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {}

pub fn run(config: &Config, _: &Options) -> anyhow::Result<ExitCode> {
    block_on(async {
        let app = App::open(&config.into())?;
        service::run(&app, &config.rules_dir).await?;
        Ok(ExitCode::SUCCESS)
    })
}
