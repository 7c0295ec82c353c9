//! Shell completions and manual pages, from the same definitions as the parser.

use std::io::Write;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use super::Cli;

/// Writes a completion script to standard output.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gleaner", &mut script);
    std::io::stdout().write_all(&script)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes `gleaner.1`, `gleaner-crawl.1`, … into a folder.
pub fn man_pages(dir: &Path) -> anyhow::Result<ExitCode> {
    std::fs::create_dir_all(dir).with_context(|| format!("{}: cannot be created", dir.display()))?;
    clap_mangen::generate_to(Cli::command(), dir)
        .with_context(|| format!("{}: cannot be written to", dir.display()))?;
    Ok(ExitCode::SUCCESS)
}
