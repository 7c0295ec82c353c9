//! The command line of `gleaner-lab`.

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;

use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::{render, simulate, train};

/// Developer tools for gleaner: train the login form model, measure the schedule, render pages
#[derive(Parser)]
#[command(name = "gleaner-lab", version, after_help = "Start with: gleaner-lab train --json")]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Train the login form model from its table of features and report its accuracy
    #[command(after_help = "Example: gleaner-lab train --json")]
    Train(train::Options),
    /// Replay post times of boards against every recheck policy and compare the delays
    #[command(
        after_help = "Example: gleaner-lab simulate --generate forum.csv && gleaner-lab simulate forum.csv --per-day 6"
    )]
    Simulate(simulate::Options),
    /// Render pages of a server on this machine, all in this process, for a profile of the script engine
    #[command(after_help = "Example: gleaner-lab render http://127.0.0.1:8461/antd/")]
    Render(render::Options),
}

/// The parser. A negative number is a value, which its option rejects with its own message.
fn parser() -> clap::Command {
    let option = |argument: Arg| match !argument.is_positional() && argument.get_action().takes_values() {
        true => argument.allow_negative_numbers(true),
        false => argument,
    };
    Cli::command().mut_subcommands(|command| command.mut_args(option))
}

/// Parses the arguments of the process, runs the command and returns its exit code: 0 done, 1 failed, 2 wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let cli = Cli::from_arg_matches(&parser().get_matches()).unwrap_or_else(|error| error.exit());
    let done = match cli.command {
        Command::Train(options) => train::command(&options),
        Command::Simulate(options) => simulate::command(&options),
        Command::Render(options) => render::command(&options),
    };
    let Err(error) = done else { return ExitCode::SUCCESS };
    // The reader has closed our output.
    if error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    let _ = writeln!(std::io::stderr(), "error: {}", gleaner_base::console::told(&*error));
    ExitCode::FAILURE
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(words: &[&str]) -> Result<(), String> {
        parser().try_get_matches_from(words).map(drop).map_err(|error| error.to_string())
    }

    #[test]
    fn a_number_below_zero_is_refused_as_a_value_and_not_taken_for_a_flag() {
        for option in ["--per-day", "--learn-days", "--posts-min"] {
            let told = parse(&["gleaner-lab", "simulate", "forum.csv", option, "-3"]).err().unwrap_or_default();
            assert!(told.contains(&format!("invalid value '-3' for '{option} ")) && !told.contains("tip"), "{told}");
        }
        assert!(parse(&["gleaner-lab", "simulate", "forum.csv", "--per-day", "3"]).is_ok());
    }

    #[test]
    fn what_making_up_posts_would_not_heed_is_refused() {
        for option in [&["--per-day", "3"][..], &["--learn-days", "3"], &["--posts-min", "3"], &["--midnight-looks"]] {
            let words = [&["gleaner-lab", "simulate", "--generate", "forum.csv"][..], option].concat();
            let told = parse(&words).err().unwrap_or_default();
            assert!(told.contains("cannot be used with") && told.contains(option[0]), "{told}");
        }
        for option in ["--start=2026-11-21", "--days=3", "--paper"] {
            assert!(parse(&["gleaner-lab", "simulate", "--generate", "forum.csv", option]).is_ok());
        }
        assert!(parse(&["gleaner-lab", "simulate", "forum.csv", "--posts-min", "0"]).is_err());
    }
}
