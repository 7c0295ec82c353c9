//! Logs: one constant sentence and the fields `site, host, url, outcome, attempt, error`, on standard error.

use std::io::{IsTerminal as _, Write};
use std::sync::Arc;

use indicatif::MultiProgress;
use tracing::{Level, Metadata};
use tracing_subscriber::filter::filter_fn;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

use crate::journal::{Journal, Noting};
use crate::recent::Recent;
use crate::url::without_keys_in;
use crate::{console, journal};

/// Standard error shared with progress bars: the bars are suspended while a line is written.
#[derive(Clone)]
pub struct Terminal {
    pub bars: MultiProgress,
    /// True if standard error was a terminal when the process started.
    was_terminal: bool,
    /// True if the journal reads it.
    is_journal: bool,
    /// Its socket, which takes fields, too.
    journal: Option<Arc<Journal>>,
    /// Lines are coloured.
    colours: bool,
    /// The level of the line that is written next, for the journal.
    of_journal: Option<Level>,
}

impl Default for Terminal {
    fn default() -> Self {
        let is_journal = journal::reads_stderr();
        Self {
            bars: MultiProgress::default(),
            was_terminal: std::io::stderr().is_terminal(),
            is_journal,
            journal: is_journal.then(Journal::connect).flatten().map(Arc::new),
            colours: colours_wanted(),
            of_journal: None,
        }
    }
}

impl Write for Terminal {
    /// Writes a line, or drops it if the terminal has been closed. Progress bars panic on a closed terminal, and so
    /// does code that reports a lost line; the work in progress must be able to finish.
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let text = String::from_utf8_lossy(bytes);
        if let (Some(level), Some(journal)) = (self.of_journal, &self.journal)
            && journal.send(level, &text).is_ok()
        {
            return Ok(bytes.len());
        }
        if !self.was_terminal || std::io::stderr().is_terminal() {
            let text = self.of_journal.map_or_else(|| text.to_string(), |level| journal::line(level, &text) + "\n");
            let _ = self.bars.suspend(|| console::err_with(self.colours).write_all(without_keys_in(&text).as_bytes()));
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        std::io::stderr().flush()
    }
}

impl<'a> MakeWriter<'a> for Terminal {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        self.clone()
    }

    fn make_writer_for(&'a self, line: &Metadata<'_>) -> Self {
        Self { of_journal: self.is_journal.then(|| *line.level()), ..self.clone() }
    }
}

/// Starts logging, as text or as JSON. `filter` is used unless `GLEANER_LOG` holds a filter such as `gleaner=debug`.
/// Colours are used on a terminal, unless `NO_COLOR` is set. Returns the last lines, as they come.
pub fn start(json: bool, filter: &str, terminal: &Terminal) -> Recent {
    // Certificate errors are logged with the visit; the verifier would log them again for each attempt. html5ever
    // logs parse errors that no operator can fix.
    let quiet = || EnvFilter::new(format!("{filter},rustls_platform_verifier=off,html5ever=off"));
    let given = given_filter().filter(|given| check_filter(given).is_ok());
    let filter = given.and_then(|given| EnvFilter::try_new(given).ok()).unwrap_or_else(quiet);
    let lines = tracing_subscriber::fmt::layer().with_writer(terminal.clone()).with_target(false);
    let lines = match (json, terminal.is_journal) {
        (true, _) => lines.json().flatten_event(true).boxed(),
        (false, true) => lines.with_ansi(false).without_time().with_level(false).boxed(),
        (false, false) => lines.with_ansi(terminal.colours).boxed(),
    };
    let recent = Recent::default();
    let noting = terminal.journal.is_some().then_some(Noting);
    let subscriber = tracing_subscriber::registry().with(filter).with(filter_fn(is_fit_to_be_told));
    // An event is noted before its line is written.
    let subscriber = subscriber.with(noting).with(lines);
    // Fails only if logging was already started, by a test in the same process.
    let _ = subscriber.with(recent.clone()).try_init();
    recent
}

/// The filter in `GLEANER_LOG`, unless that is empty.
fn given_filter() -> Option<String> {
    let given = std::env::var_os("GLEANER_LOG")?;
    Some(given.to_string_lossy().into_owned()).filter(|given| !given.is_empty())
}

/// Checks the filter in `GLEANER_LOG`.
///
/// # Errors
/// What is wrong, with a hint.
pub fn check_variable() -> Result<(), String> {
    let checked = given_filter().map_or(Ok(()), |given| check_filter(&given));
    checked.map_err(|why| format!("GLEANER_LOG: {why}\nhint: {FILTER_HINT}"))
}

/// How to write a filter.
pub const FILTER_HINT: &str = "write error, warn, info, debug or trace, or directives as info,gleaner_net::fetch=debug";

/// Checks a filter of log lines. The library takes any word for the name of a module, and then logs nothing.
///
/// # Errors
/// What is wrong.
pub fn check_filter(filter: &str) -> Result<(), String> {
    EnvFilter::try_new(filter).map_err(|error| format!("bad filter: {error}"))?;
    const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];
    let is_level = |word: &str| {
        LEVELS.iter().any(|level| word.eq_ignore_ascii_case(level)) || matches!(word.parse(), Ok(0..=5_u8))
    };
    for directive in filter.split(',').map(str::trim).filter(|directive| !directive.is_empty()) {
        let (target, level) =
            directive.rsplit_once('=').map_or((directive, None), |(target, level)| (target, Some(level)));
        match level {
            Some(level) if !is_level(level) => return Err(format!("bad filter: `{level}` is no level")),
            None if !is_level(target) && !is_ours(target) && !target.contains(['[', ':']) => {
                return Err(format!("bad filter: `{target}` is neither a level nor a module of gleaner"));
            }
            _ => {}
        }
    }
    Ok(())
}

fn colours_wanted() -> bool {
    std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Debug lines of libraries contain the data that passes through them: html5ever logs each attribute of a page, hyper
/// and h2 log what they send. So theirs are logged at `info` and above only, whatever `GLEANER_LOG` asks for. Our own
/// lines contain no secrets.
fn is_fit_to_be_told(line: &Metadata<'_>) -> bool {
    *line.level() <= Level::INFO || is_ours(line.target())
}

/// Whether a log line comes from the program or one of its members: `gleaner::cli`, `gleaner_crawl::visit`.
fn is_ours(target: &str) -> bool {
    let name = target.split("::").next().unwrap_or_default();
    name == "gleaner" || name.starts_with("gleaner_")
}

#[cfg(test)]
mod tests {
    use super::is_ours;

    #[test]
    fn lines_of_every_member_are_ours_and_those_of_libraries_are_not() {
        assert!(is_ours(module_path!()) && is_ours("gleaner") && is_ours("gleaner_crawl::visit"));
        assert!(!is_ours("html5ever::tokenizer") && !is_ours("gleanerlike::x") && !is_ours(""));
    }
}
