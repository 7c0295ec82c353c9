//! `gleaner run`: the service.

use std::process::ExitCode;

use clap::Args;

use super::{Global, block_on, chosen, config};
use crate::app::{App, service};
use gleaner_rules::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {}

pub fn run(config: &Config, _: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    chosen::must_have_rules(config)?;
    block_on(async {
        let app = App::open_to_mend(&config.into())?;
        service::run(&app, config, &|| config::read(global)).await?;
        Ok(ExitCode::SUCCESS)
    })
}
