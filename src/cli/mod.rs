//! The command line: parse, open, run, print. One file per command, no logic of its own.

/// Writes to standard output; a failed write returns from the caller with the error.
macro_rules! out {
    ($($text:tt)*) => {
        gleaner_base::console::write_out(format_args!($($text)*))?
    };
}

/// [`out!`] with an end of line.
macro_rules! outln {
    ($($text:tt)*) => {
        out!("{}\n", format_args!($($text)*))
    };
}

/// A line on standard error; where nobody can read it any more, because the terminal was closed, that is no reason to panic.
macro_rules! errln {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($text)*);
    }};
}

mod chosen;
pub mod config;
pub mod coverage;
pub mod crawl;
pub mod delay;
pub mod demo;
mod dry_run;
pub mod export;
pub mod hints;
mod known;
mod learned;
pub mod login;
pub mod manual;
mod masked;
pub mod noise;
mod pipe;
pub mod progress_bar;
pub mod render;
pub mod rules;
pub mod run;
pub mod schedule;
pub mod status;
pub mod summary;
mod usage;
pub mod verify;

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};

use self::pipe::Pipe;
use crate::limits;
use gleaner_base::telemetry::{self, Terminal};
use gleaner_rules::config::{Config, LogFormat};
use gleaner_rules::fault;

/// A focused crawler that harvests BitTorrent metainfo files from the sites its operator is entitled to use.
#[derive(Parser)]
#[command(name = "gleaner", version, after_help = "Start with: gleaner demo")]
pub struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

/// How long a thread that blocks may hold up the end of the process.
const BLOCKED_TIME: std::time::Duration = std::time::Duration::from_secs(1);

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Folder of the database and the archive
    #[arg(long, global = true, value_name = "DIR", env = "GLEANER_DATA")]
    data: Option<PathBuf>,
    /// Folder of the site rule files
    #[arg(long, global = true, value_name = "DIR", env = "GLEANER_RULES")]
    rules: Option<PathBuf>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE", env = "GLEANER_CONFIG")]
    config: Option<PathBuf>,
    /// How log lines look
    #[arg(long, global = true, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Tell more: every visit (-v), everything (-vv)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

#[derive(Subcommand)]
enum Command {
    /// Crawl a bundled demo site on loopback into ./gleaner-demo/ and tell what was harvested
    #[command(after_help = "Example: gleaner demo --torrents 5000")]
    Demo(demo::Options),
    /// Crawl sites until their history is exhausted; resumes where it stopped, whatever stopped it
    #[command(after_help = "Example: gleaner crawl debian --max-time 3600")]
    Crawl(crawl::Options),
    /// The service: crawl all enabled sites and look for new torrents until told to stop
    #[command(after_help = "Example: gleaner run --data /var/lib/gleaner --rules /etc/gleaner/rules\n\n\
        SIGHUP reads the rule files again (changes are noticed without it too); SIGTERM, and the closing of its terminal, drains and exits.")]
    Run(run::Options),
    /// Check, explain and begin site rule files
    #[command(subcommand, after_help = "Example: gleaner rules new https://example.org/torrents/")]
    Rules(RulesCommand),
    /// What each site has given, and what it waits for; also while the service runs
    #[command(after_help = "Example: gleaner status --json")]
    Status(status::Options),
    /// Hand the harvest on: a folder, a .tar.zst or a .zip with a manifest
    #[command(after_help = "Example: gleaner export harvest.tar.zst --layout by-site --since 2026-11-01")]
    Export(export::Options),
    /// How much of each site is in the archive, by the NT formula
    #[command(after_help = "Example: gleaner coverage debian --json")]
    Coverage(coverage::Options),
    /// Show one page as the engine that runs scripts sees it: links, requests, errors, what happened
    #[command(after_help = "Example: gleaner render https://example.org/torrents/ --links --act 'click .next'")]
    Render(render::Options),
    /// How late the torrents of a site come: median, p90, p99, and the delay over time
    #[command(after_help = "Example: gleaner delay mytracker --json")]
    Delay(delay::Options),
    /// When each list of a site is looked at next, and why
    #[command(after_help = "Example: gleaner schedule mytracker --lists 50")]
    Schedule(schedule::Options),
    /// Show one page of a site with its blocks marked: what all pages share, what changes at each look, what counts
    #[command(after_help = "Example: gleaner noise mytracker https://tracker.example/browse")]
    Noise(noise::Options),
    /// Compare archive and database, both ways
    #[command(after_help = "Example: gleaner verify --repair")]
    Verify(verify::Options),
    /// Log in to a site, each step shown, and keep the session
    #[command(after_help = "Example: gleaner login mytracker --cookies cookies.txt")]
    Login(login::Options),
    /// Check the configuration
    #[command(subcommand, after_help = "Example: gleaner config check --config /etc/gleaner/gleaner.toml")]
    Config(ConfigCommand),
    /// Write a shell's completion script to standard output
    #[command(after_help = "Example: gleaner completions bash > /etc/bash_completion.d/gleaner")]
    Completions {
        /// Shell to complete for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages into a folder
    #[command(after_help = "Example: gleaner man /usr/local/share/man/man1")]
    Man {
        /// Folder for the pages
        dir: PathBuf,
    },
    /// Serve the demo site alone, for tests that kill the crawler
    #[command(name = "__demo-site", hide = true)]
    DemoSite(demo::SiteOptions),
    /// Run the scripts of pages that come over standard input, confined; the crawl starts it
    #[command(name = "__render", hide = true)]
    RenderChild,
}

#[derive(Subcommand)]
enum RulesCommand {
    /// Check rule files; all faults at once, each as path:line:column
    #[command(after_help = "Example: gleaner rules check rules/debian.toml")]
    Check {
        /// Files to check; all of the rules folder when none is given
        files: Vec<PathBuf>,
    },
    /// Tell which rule of which file, at which line, takes or refuses a URL, how the URL was normalised, and what was learned of its page
    #[command(
        after_help = "Example: gleaner rules explain 'https://cdimage.debian.org/debian-cd/current/amd64/bt-cd/'"
    )]
    Explain {
        /// URL to explain, or the name of a site: what was learned of its pages
        url: String,
        /// Print what was learned as tables to paste into the site's file
        #[arg(long)]
        pin: bool,
    },
    /// Write a commented starter file for a site
    #[command(after_help = "Example: gleaner rules new https://example.org/torrents/")]
    New {
        /// URL where the crawl is to begin
        url: String,
    },
    /// Write the JSON Schema of rule files to standard output, for editors
    #[command(after_help = "Example: gleaner rules schema > rules.schema.json")]
    Schema,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Check the configuration file and tell the values in force
    #[command(after_help = "Example: gleaner config check --config /etc/gleaner/gleaner.toml")]
    Check,
}

/// True when whoever read our output has read enough of it.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Parses the arguments of the process, runs the command and gives its exit code: 0 done, 1 failed, 2 wrong usage.
#[must_use]
pub fn main() -> ExitCode {
    let cli = match usage::parse(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) => return usage::refused(&error),
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            errln!("error: {}", hints::told(&error));
            ExitCode::FAILURE
        }
    }
}

/// Refuses to begin where the system would leave no room for what a runtime alone opens.
fn enough_files() -> anyhow::Result<()> {
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    match files {
        Some(files) if files < limits::OPEN_FILES_MIN => anyhow::bail!(
            "this process may open {files} files, and needs {} at least\nhint: ulimit -n 1024, or `LimitNOFILE=` of the unit",
            limits::OPEN_FILES_MIN
        ),
        _ => Ok(()),
    }
}

fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { global, command } = cli;
    if matches!(command, Command::RenderChild) {
        return Ok(gleaner_render::child::main());
    }
    enough_files()?;
    let terminal = Terminal::default();
    // The demo needs no configuration; everything else tells its faults before it starts.
    let config = match &command {
        Command::Demo(_)
        | Command::DemoSite(_)
        | Command::RenderChild
        | Command::Completions { .. }
        | Command::Man { .. } => None,
        _ => match config::load(&global) {
            Ok(config) => Some(config),
            Err(code) => return Ok(code),
        },
    };
    let format = config.as_ref().map(|config| config.log_format).or(global.log_format).unwrap_or_default();
    let filter = match (global.verbose, &command, &config) {
        (0, Command::Run(_), Some(config)) => config.log_filter.as_str(),
        (0, ..) => "warn",
        (1, ..) => "gleaner=debug",
        _ => "gleaner=trace",
    };
    telemetry::start(format == LogFormat::Json, filter, &terminal);
    let Some(config) = config else {
        return match command {
            Command::Demo(options) => demo::demo(&global, &options, &terminal),
            Command::DemoSite(options) => demo::serve_site(&options),
            Command::Completions { shell } => manual::completions(shell),
            Command::Man { dir } => manual::man_pages(&dir),
            _ => unreachable!("all other commands load the configuration"),
        };
    };
    match command {
        Command::Crawl(options) => crawl::crawl(&config, &options, &global, &terminal),
        Command::Run(options) => run::run(&config, &options),
        Command::Rules(command) => rules_command(command, &config),
        Command::Status(options) => status::status(&config, &options, &global),
        Command::Export(options) => export::command(&config, &options),
        Command::Coverage(options) => coverage::command(&config, &options),
        Command::Delay(options) => delay::command(&config, &options),
        Command::Schedule(options) => schedule::command(&config, &options),
        Command::Noise(options) => noise::command(&config, &options),
        Command::Verify(options) => verify::command(&config, &options),
        Command::Login(options) => login::command(&config, &options, &global),
        Command::Render(options) => render::command(&config, &options, &global),
        Command::Config(ConfigCommand::Check) => config::check(&config),
        Command::Demo(_)
        | Command::DemoSite(_)
        | Command::RenderChild
        | Command::Completions { .. }
        | Command::Man { .. } => {
            unreachable!("handled without a configuration")
        }
    }
}

fn rules_command(command: RulesCommand, config: &Config) -> anyhow::Result<ExitCode> {
    let rules_dir = config.rules_dir.as_path();
    let out = std::io::stdout().lock();
    let colour = fault::colour_wanted(out.is_terminal());
    let mut out = Pipe::new(out);
    let well = match command {
        RulesCommand::Check { files } => rules::check(&files, rules_dir, &mut out, colour)?,
        RulesCommand::Explain { url, pin } => match learned::site_named(&url, config) {
            Some(site) => learned::tell(config, &site, pin, &mut out)?,
            None if pin => {
                anyhow::bail!("{url}: no site of this name has a file without faults\n  hint: name the site, not a URL")
            }
            None => rules::explain(&url, rules_dir, |site, url| known::of(config, site, url), &mut out)?,
        },
        RulesCommand::New { url } => rules::new_file(&url, rules_dir, &mut out).map(|_| true)?,
        RulesCommand::Schema => rules::schema(&mut out).map(|()| true)?,
    };
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Runs a command's future on one thread: the crawl is one loop, blocking work has threads of its own. What blocks
/// when the future has ended is a name server that does not answer; nobody waits for it any more.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits::BLOCKING_THREADS_MAX)
        .build()?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(BLOCKED_TIME);
    result
}
