//! Shell completions and manual pages, from the same definitions as the parser.

use std::io::{self, Write as _};
use std::path::Path;
use std::process::ExitCode;

use anyhow::{anyhow, bail};
use clap::CommandFactory;

use super::Cli;
use gleaner_base::console::of_output;
use gleaner_base::place;

/// Writes a completion script to standard output.
pub fn completions(shell: clap_complete::Shell) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "gleaner", &mut script);
    let mut out = io::stdout().lock();
    out.write_all(&script)
        .and_then(|()| out.flush())
        .map_err(|error| io::Error::new(error.kind(), of_output(&error)))?;
    Ok(ExitCode::SUCCESS)
}

/// Writes `gleaner.1`, `gleaner-crawl.1`, … into a folder.
pub fn man_pages(dir: &Path) -> anyhow::Result<ExitCode> {
    if let Some((there, _)) = place::in_the_way(dir) {
        bail!("{}: {}, not a folder\nhint: name a folder", there.display(), place::told(&there));
    }
    std::fs::create_dir_all(dir).map_err(|error| not_written(dir, &error))?;
    let mut command = Cli::command().disable_help_subcommand(true);
    command.build();
    pages(command, dir)?;
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of the commands below it.
fn pages(command: clap::Command, dir: &Path) -> anyhow::Result<()> {
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()).cloned() {
        pages(below, dir)?;
    }
    let (page, mut text) = (clap_mangen::Man::new(command), Vec::new());
    page.render(&mut text)?;
    let path = dir.join(page.get_filename());
    std::fs::write(&path, text).map_err(|error| {
        // Part of a page, or none: the page of an earlier version is lost either way.
        let _ = std::fs::remove_file(&path);
        not_written(&path, &error)
    })
}

fn not_written(path: &Path, error: &io::Error) -> anyhow::Error {
    let hint = place::used_up(error).map_or("name a folder that you may write to", |(_, hint)| hint);
    anyhow!("{}: {error}\nhint: {hint}", path.display())
}
