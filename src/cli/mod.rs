//! The command line: parse, open, run, print. One file per command, without logic of its own.

/// Writes to standard output; if that fails, returns the error from the calling function.
macro_rules! out {
    ($($text:tt)*) => {
        gleaner_base::console::write_out(format_args!($($text)*))?
    };
}

/// [`out!`] with a line break.
macro_rules! outln {
    ($($text:tt)*) => {
        out!("{}\n", format_args!($($text)*))
    };
}

/// Writes a line to standard error, without panicking if the terminal is closed.
macro_rules! errln {
    ($($text:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(gleaner_base::console::err(), $($text)*);
    }};
}

pub mod alarms;
pub mod backup;
pub mod categories;
mod chosen;
pub mod config;
pub mod coverage;
pub mod crawl;
pub mod delay;
pub mod demo;
pub mod doctor;
mod dry_run;
pub mod export;
pub mod findings;
mod fold;
pub mod handover;
mod hints;
pub mod import;
mod known;
mod learned;
pub mod login;
pub mod manual;
mod masked;
pub mod noise;
pub mod pause;
mod pipe;
pub mod progress_bar;
pub mod render;
pub mod restore;
pub mod rules;
pub mod run;
pub mod schedule;
pub mod search;
mod shares;
pub mod sources;
pub mod status;
pub mod summary;
pub mod token;
pub mod top;
mod usage;
pub mod verify;

use std::io::{IsTerminal, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::builder::TypedValueParser as _;
use clap::{Args, Parser, Subcommand};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::pipe::Pipe;
use crate::limits;
use gleaner_base::console;
use gleaner_base::owner::become_owner;
use gleaner_base::telemetry::{self, Terminal};
use gleaner_rules::config::{Config, LogFormat, unexpanded};
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

/// How long a blocking thread may delay the end of the process.
const BLOCKED_TIME: std::time::Duration = std::time::Duration::from_secs(1);

/// Options of every command.
#[derive(Args, Clone, Debug)]
pub struct Global {
    /// Folder of the database and the archive
    #[arg(long, global = true, value_name = "DIR", env = "GLEANER_DATA", value_parser = expanded())]
    data: Option<PathBuf>,
    /// Folder of the site rule files
    #[arg(long, global = true, value_name = "DIR", env = "GLEANER_RULES", value_parser = expanded())]
    rules: Option<PathBuf>,
    /// Configuration file
    #[arg(long, global = true, value_name = "FILE", env = "GLEANER_CONFIG", value_parser = expanded())]
    config: Option<PathBuf>,
    /// Format of log lines
    #[arg(long, global = true, value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Log more: every visit (-v), everything (-vv)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    verbose: u8,
}

/// A path that has nothing left to expand: `--data=~/gl` reaches this process as it was typed.
fn expanded() -> impl clap::builder::TypedValueParser<Value = PathBuf> {
    clap::builder::PathBufValueParser::new().try_map(|path| {
        let home = std::env::var_os("HOME");
        match path.to_str().and_then(|path| unexpanded(path, home.as_deref())) {
            Some((what, hint)) => Err(format!("{what}\nhint: {hint}")),
            None => Ok(path),
        }
    })
}

#[derive(Subcommand)]
enum Command {
    /// Crawl a bundled demo site on loopback into ./gleaner-demo/ and show the harvest
    #[command(after_help = "Example: gleaner demo --torrents 5000")]
    Demo(demo::Options),
    /// Crawl sites until their history is exhausted; an interrupted crawl resumes
    #[command(after_help = "Example: gleaner crawl debian --max-time 3600")]
    Crawl(crawl::Options),
    /// Run the service: crawl all enabled sites and watch for new torrents until stopped
    #[command(
        after_help = "Example: gleaner run --data /var/lib/gleaner --rules /etc/gleaner/rules\n\nSIGHUP reloads the rule files \
        (changes are noticed without it, too) and checks the configuration file; SIGTERM, or closing its terminal, drains and exits."
    )]
    Run(run::Options),
    /// Check, explain and create site rule files
    #[command(subcommand, after_help = "Example: gleaner rules new https://example.org/torrents/")]
    Rules(RulesCommand),
    /// Show what is wrong, and what was: open alarms first, each with what mends it
    #[command(
        after_help = "Example: gleaner alarms mytracker\n\nWho is called is in [[alarm_channel]] entries of gleaner.toml."
    )]
    Alarms(alarms::Options),
    /// Show the harvest and the state of each site, also while the service runs
    #[command(after_help = "Example: gleaner status --json")]
    Status(status::Options),
    /// Show the overview in a terminal, refreshed every few seconds
    #[command(after_help = "Example: gleaner top --once")]
    Top(top::Options),
    /// Find torrents of the archive by name, file, infohash and kind
    #[command(after_help = "Example: gleaner search 'debian netinst -ppc size:<1G'")]
    Search(search::Options),
    /// Show what the torrents are filed under, and what their sites call them
    #[command(after_help = "Example: gleaner categories debian")]
    Categories(categories::Options),
    /// Export the harvest as a folder, a .tar.zst or a .zip with a manifest
    #[command(after_help = "Example: gleaner export harvest.tar.zst --layout by-site --since 2026-11-01")]
    Export(export::Options),
    /// Import torrents and magnet links: files, folders, archives, what clients keep, exports with their manifests
    #[command(
        after_help = "Example: gleaner import harvest.tar.zst ~/.local/share/qBittorrent/BT_backup --dry-run\n\nWhat is there already is \
        left alone: an import that was interrupted is run again. The URLs of a manifest count as visited."
    )]
    Import(import::Options),
    /// Hand torrents that fit a search to the watch folder of a BitTorrent client, each once
    #[command(
        after_help = "Example: gleaner handover seedbox --dry-run\n\nHandovers are [[handover]] entries of gleaner.toml, and \
        `gleaner run` serves them, too."
    )]
    Handover(handover::Options),
    /// Show how much of what each site lists is in the archive
    #[command(after_help = "Example: gleaner coverage debian --svg > coverage.svg")]
    Coverage(coverage::Options),
    /// Show one page as the script engine sees it: links, requests, errors, events
    #[command(after_help = "Example: gleaner render https://example.org/torrents/ --links --act 'click .next'")]
    Render(render::Options),
    /// Show the acquisition delay of a site's torrents: median, p90, p99, and its course over time
    #[command(after_help = "Example: gleaner delay mytracker --json")]
    Delay(delay::Options),
    /// Show when each list of a site is rechecked next, and why
    #[command(after_help = "Example: gleaner schedule mytracker --lists 50")]
    Schedule(schedule::Options),
    /// Leave a site alone for a while: the running service sends it no request, also after a restart
    #[command(after_help = "Example: gleaner pause mytracker --minutes 90")]
    Pause(pause::Pause),
    /// Go on with a site that was paused
    #[command(after_help = "Example: gleaner resume mytracker")]
    Resume(pause::Resume),
    /// Recheck the start pages and all lists of a site now, by the running service
    #[command(after_help = "Example: gleaner recheck mytracker")]
    Recheck(pause::Recheck),
    /// Show one page of a site with its blocks marked: shared template, volatile parts, content
    #[command(after_help = "Example: gleaner noise mytracker https://tracker.example/browse")]
    Noise(noise::Options),
    /// Propose hosts that may be new sources, with why; nothing is asked of them
    #[command(after_help = "Example: gleaner sources --limit 20")]
    Sources(sources::Options),
    /// Make, show and revoke the tokens that admit others to the HTTP server
    #[command(after_help = "Example: gleaner token new prowlarr")]
    Token(token::Options),
    /// Compare archive and database in both directions
    #[command(after_help = "Example: gleaner verify --repair")]
    Verify(verify::Options),
    /// Examine everything that gleaner needs, and say what to do about each fault; nothing is changed or posted
    #[command(after_help = "Example: gleaner doctor --offline")]
    Doctor(doctor::Options),
    /// Back up databases, archive, rule files and configuration, also while the service runs
    #[command(
        after_help = "Example: gleaner backup /srv/gleaner-backup --keep 7\n\nA second backup to the same folder copies only what is new. \
        `[backup]` of gleaner.toml has the service do it by itself."
    )]
    Backup(backup::Options),
    /// Restore a backup to an empty data folder
    #[command(after_help = "Example: gleaner restore /srv/gleaner-backup --data /var/lib/gleaner")]
    Restore(restore::Options),
    /// Log in to a site, show each step and store the session
    #[command(after_help = "Example: gleaner login mytracker --cookies cookies.txt")]
    Login(login::Options),
    /// Check the configuration
    #[command(subcommand, after_help = "Example: gleaner config check --config /etc/gleaner/gleaner.toml")]
    Config(ConfigCommand),
    /// Write a shell completion script to standard output
    #[command(after_help = "Example: gleaner completions bash > /etc/bash_completion.d/gleaner")]
    Completions {
        /// Shell to generate the script for
        shell: clap_complete::Shell,
    },
    /// Write the manual pages to a folder
    #[command(after_help = "Example: gleaner man /usr/local/share/man/man1")]
    Man {
        /// Folder for the manual pages
        dir: PathBuf,
    },
    /// Serve only the demo site, for tests that kill the crawler
    #[command(name = "__demo-site", hide = true)]
    DemoSite(demo::SiteOptions),
    /// Run the scripts of pages read from standard input, in a sandbox; started by the crawl
    #[command(name = "__render", hide = true)]
    RenderChild,
}

#[derive(Subcommand)]
enum RulesCommand {
    /// Check rule files and print all faults at once, each as path:line:column
    #[command(after_help = "Example: gleaner rules check rules/debian.toml")]
    Check {
        /// Files to check; the whole rules folder when none is given
        files: Vec<PathBuf>,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Show how a URL is normalised, which rule accepts or refuses it (file and line), and what was learned for its page
    #[command(
        after_help = "Example: gleaner rules explain 'https://cdimage.debian.org/debian-cd/current/amd64/bt-cd/'"
    )]
    Explain {
        /// URL to explain, or the name of a site to show the shares of its rules and what was learned for its pages
        url: String,
        /// Print what was learned as tables to paste into the site's file
        #[arg(long)]
        pin: bool,
        /// Print the shares of a site's rules as one JSON object
        #[arg(long, conflicts_with = "pin")]
        json: bool,
    },
    /// Begin a site's rule file: read at most 20 of its pages, and write what they show
    #[command(after_help = "Example: gleaner rules new https://example.org/torrents/")]
    New {
        /// URL where the crawl starts
        url: String,
        /// Send no request: write a commented starter file, to be filled in by hand
        #[arg(long)]
        offline: bool,
    },
    /// Enable a site: its own rule file, or one that comes with gleaner
    #[command(after_help = "Example: gleaner rules enable debian")]
    Enable {
        /// Name of the site
        site: String,
    },
    /// Disable a site; what it gave stays
    #[command(after_help = "Example: gleaner rules disable debian")]
    Disable {
        /// Name of the site
        site: String,
    },
    /// Learn a site: read its pages and write the rule file that they call for
    #[command(after_help = "Example: gleaner rules learn https://example.org/torrents/")]
    Learn(rules::learn::Options),
    /// Learn a site again whose rules keep their promise no more, and propose a repaired file
    #[command(after_help = "Example: gleaner rules repair mytracker")]
    Repair(rules::learn::repair::Options),
    /// Show the earlier versions of a site's rule file
    #[command(after_help = "Example: gleaner rules history mytracker")]
    History {
        /// Name of the site
        site: String,
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Go back to an earlier version of a site's rule file
    #[command(after_help = "Example: gleaner rules revert mytracker")]
    Revert {
        /// Name of the site
        site: String,
        /// Time of the version, as `rules history` shows it; the last one if none is given
        version: Option<String>,
    },
    /// Write the JSON Schema of rule files to standard output, for editors
    #[command(after_help = "Example: gleaner rules schema > rules.schema.json")]
    Schema,
}

#[derive(Subcommand)]
enum ConfigCommand {
    /// Check the configuration file and print the values in effect
    #[command(after_help = "Example: gleaner config check --config /etc/gleaner/gleaner.toml")]
    Check,
}

/// True if the reader has closed our output.
fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Parses the arguments of the process, runs the command and returns its exit code: 0 done, 1 failed, 2 wrong usage.
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
            console::write_error(&format!("error: {}", hints::told(&error)));
            ExitCode::FAILURE
        }
    }
}

/// Raises the soft limit on open files, and fails if even then it is too low for this many requests at once: what fails later for want
/// of a file would look like a fault of the host.
fn enough_files(requests_max: u64) -> anyhow::Result<()> {
    let needed = limits::OPEN_FILES_MIN + requests_max;
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = limits::OPEN_FILES_WANTED.max(needed);
    let wanted = maximum.map_or(wanted, |maximum| maximum.min(wanted));
    let raised = Rlimit { current: Some(wanted), maximum };
    let files = match current {
        Some(files) if files < wanted && setrlimit(Resource::Nofile, raised).is_ok() => wanted,
        Some(files) => files,
        None => return Ok(()),
    };
    if files < needed {
        anyhow::bail!(
            "this process may open {files} files, and needs {needed} at least\nhint: ulimit -n {}, or `LimitNOFILE=` of the unit",
            needed.max(1_024)
        );
    }
    Ok(())
}

fn dispatch(cli: Cli) -> anyhow::Result<ExitCode> {
    let Cli { global, command } = cli;
    if matches!(command, Command::RenderChild) {
        return Ok(gleaner_render::child::main());
    }
    enough_files(0)?;
    if let Err(told) = telemetry::check_variable() {
        console::write_error(&format!("error: {told}"));
        return Ok(ExitCode::from(2));
    }
    let terminal = Terminal::default();
    // The demo needs no configuration; all other commands report its faults first.
    let config = match &command {
        Command::Demo(_)
        | Command::DemoSite(_)
        | Command::RenderChild
        | Command::Completions { .. }
        | Command::Man { .. } => None,
        Command::Doctor(options) => match config::read(&global) {
            Ok(config) => Some(config),
            Err(faults) => return doctor::with_faults(&faults, options),
        },
        _ => match config::load(&global) {
            Ok(config) => Some(config),
            Err(code) => return Ok(code),
        },
    };
    if let (Command::Crawl(_) | Command::Run(_), Some(config)) = (&command, &config) {
        enough_files(config.requests_max.into())?;
    }
    // `login` and `demo` become the owner by themselves, once they have read what is root's.
    let writes = |command: &Command| {
        matches!(
            command,
            Command::Backup(_)
                | Command::Categories(_)
                | Command::Crawl(_)
                | Command::Handover(_)
                | Command::Import(_)
                | Command::Restore(_)
                | Command::Run(_)
                | Command::Search(_)
                | Command::Token(_)
                | Command::Verify(_)
        )
    };
    if let Some(config) = config.as_ref().filter(|_| writes(&command)) {
        let data_dir = config.data_dir.display();
        // SAFETY: no second thread runs yet.
        unsafe { become_owner(&config.data_dir) }
            .with_context(|| format!("{data_dir}: root cannot become the owner of this folder"))?;
    }
    let format = config.as_ref().map(|config| config.log_format).or(global.log_format).unwrap_or_default();
    let filter = match (global.verbose, &command, &config) {
        (0, Command::Run(_), Some(config)) => config.log_filter.as_str(),
        (0, ..) => "warn",
        (1, ..) => "gleaner=debug",
        _ => "gleaner=trace",
    };
    let recent = telemetry::start(format == LogFormat::Json, filter, &terminal);
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
        Command::Run(options) => run::run(&config, &options, &global, recent),
        Command::Rules(command) => rules_command(command, &config, &global),
        Command::Alarms(options) => alarms::command(&config, &options),
        Command::Top(options) => top::command(&config, &options, &global),
        Command::Status(options) => status::status(&config, &options, &global),
        Command::Search(options) => search::command(&config, &options),
        Command::Categories(options) => categories::command(&config, &options),
        Command::Export(options) => export::command(&config, &options),
        Command::Handover(options) => handover::command(&config, &options),
        Command::Import(options) => import::command(&config, &options),
        Command::Coverage(options) => coverage::command(&config, &options),
        Command::Delay(options) => delay::command(&config, &options),
        Command::Schedule(options) => schedule::command(&config, &options),
        Command::Pause(options) => pause::pause(&config, &options),
        Command::Resume(options) => pause::resume(&config, &options),
        Command::Recheck(options) => pause::recheck(&config, &options),
        Command::Noise(options) => noise::command(&config, &options, &global),
        Command::Sources(options) => sources::command(&config, &options),
        Command::Token(options) => token::command(&config, &options),
        Command::Verify(options) => verify::command(&config, &options),
        Command::Doctor(options) => doctor::command(&config, &options),
        Command::Backup(options) => backup::command(&config, &options),
        Command::Restore(options) => restore::command(&config, &options),
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

fn rules_command(command: RulesCommand, config: &Config, global: &Global) -> anyhow::Result<ExitCode> {
    let rules_dir = config.rules_dir.as_path();
    let colour = fault::colour_wanted(std::io::stdout().is_terminal());
    let mut out = Pipe::new(console::out_with(colour));
    let well = match command {
        RulesCommand::Check { files, json } => {
            let checked = rules::check::Checked::of(&files, rules_dir);
            match json {
                true => writeln!(out, "{}", serde_json::to_string(&checked)?)?,
                false => checked.tell(&mut out, colour)?,
            }
            checked.is_well()
        }
        RulesCommand::Explain { url, pin, json } => match learned::site_named(&url, config) {
            Some(site) if json => shares::tell_json(config, &site, &mut out)?,
            Some(site) if pin => learned::tell(config, &site, pin, &mut out)?,
            Some(site) => {
                let is_learned = learned::tell(config, &site, pin, &mut out)?;
                shares::tell(config, &site, &mut out)? || is_learned
            }
            None if json => {
                anyhow::bail!("{url}: no site of this name has a valid rule file\n  hint: name the site, not a URL")
            }
            None if pin => {
                anyhow::bail!("{url}: no site of this name has a valid rule file\n  hint: name the site, not a URL")
            }
            None => rules::explain(&url, rules_dir, |site, url| known::of(config, site, url), &mut out)?,
        },
        RulesCommand::New { url, offline: true } => rules::new_file(&url, rules_dir, &mut out).map(|_| true)?,
        RulesCommand::New { url, offline: false } => return rules::learn::first_look(config, &url, global),
        RulesCommand::Enable { site } => {
            rules::enable::switch(&site, true, rules_dir, &hints::Hints::of(global), &mut out).map(|()| true)?
        }
        RulesCommand::Disable { site } => {
            rules::enable::switch(&site, false, rules_dir, &hints::Hints::of(global), &mut out).map(|()| true)?
        }
        RulesCommand::Learn(options) => return rules::learn::command(config, &options, global),
        RulesCommand::Repair(options) => return rules::learn::repair::command(config, &options, global),
        RulesCommand::History { site, json } => {
            let hints = hints::Hints::of(global);
            let Some(site) = learned::site_named(&site, config) else {
                anyhow::bail!(
                    "{site}: no site of this name has a valid rule file\nhint: {}",
                    hints.command("rules check")
                );
            };
            return rules::versions::history(&site, json, &hints);
        }
        RulesCommand::Revert { site, version } => {
            let hints = hints::Hints::of(global);
            return rules::versions::revert(config, &site, version.as_deref(), &hints);
        }
        RulesCommand::Schema => rules::schema(&mut out).map(|()| true)?,
    };
    Ok(if well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// The error if the system starts no thread for this process.
pub(crate) fn no_thread(error: &std::io::Error) -> anyhow::Error {
    anyhow::anyhow!(
        "no thread could be started ({error}); {} are needed at least\nhint: raise the limit on processes: `ulimit -u`, or `TasksMax=` of \
         the unit; or that on memory, `ulimit -v`",
        limits::THREADS_MIN
    )
}

/// Fails if this process may have fewer threads at once than it needs: a runtime that gets none for blocking work panics, and with too few
/// an export would wait for itself.
pub(crate) fn enough_threads() -> anyhow::Result<()> {
    let (release, wait) = std::sync::mpsc::channel::<()>();
    let wait = std::sync::Arc::new(std::sync::Mutex::new(wait));
    let mut threads = Vec::new();
    let mut fault = None;
    for _ in 0..limits::THREADS_MIN {
        let wait = std::sync::Arc::clone(&wait);
        // Each holds the lock or waits for it, until the sender is gone.
        match std::thread::Builder::new().spawn(move || wait.lock().map(|wait| wait.recv().is_ok()).is_ok()) {
            Ok(thread) => threads.push(thread),
            Err(error) => fault = Some(error),
        }
    }
    drop(release);
    for thread in threads {
        let _ = thread.join();
    }
    fault.map_or(Ok(()), |error| Err(no_thread(&error)))
}

/// The exit code of a command whose output cannot be written; a reader that is gone is no failure.
pub(crate) fn not_written(error: &std::io::Error) -> ExitCode {
    if error.kind() == std::io::ErrorKind::BrokenPipe {
        return ExitCode::SUCCESS;
    }
    console::write_error(&format!("error: {}", console::of_output(error)));
    ExitCode::FAILURE
}

/// Runs a command's future on one thread: the crawl is one loop, blocking work has its own threads. A thread still
/// blocked after the future has ended waits for an unresponsive name server; it is abandoned.
pub(crate) fn block_on<T>(future: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    enough_threads()?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .max_blocking_threads(limits::BLOCKING_THREADS_MAX)
        .build()?;
    let result = runtime.block_on(future);
    runtime.shutdown_timeout(BLOCKED_TIME);
    result
}
