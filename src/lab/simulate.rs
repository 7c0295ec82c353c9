//! `gleaner-lab simulate`: replays post times against every recheck policy, or generates post times.

use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use clap::Args;
use clap::builder::RangedU64ValueParser;
use comfy_table::{CellAlignment, Table, presets};
use flate2::read::MultiGzDecoder;

use gleaner_crawl::schedule::DAY_S;

use crate::limits;
use crate::schedule::generate::Forum;
use crate::schedule::simulate::{self, Report};
use crate::schedule::trace::Trace;

/// The first bytes of a gzip member (RFC 1952 §2.3.1).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Rows of the table, in the paper's order.
const POLICIES: [&str; 7] = ["ERA", "WRA", "LRA", "BRA", "optimum", "unnumbered", "gleaner"];

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// CSV file of board,thread,kind,unix_time, plain or gzipped; with --generate the file to write, `-` for standard output
    #[arg(value_name = "TRACE")]
    trace: PathBuf,
    /// Print JSON
    #[arg(long, conflicts_with = "generate")]
    json: bool,
    /// Number of days to learn from
    #[arg(long, value_name = "DAYS", default_value_t = 20, conflicts_with = "generate", value_parser = number::<u64>(limits::TRACE_DAYS_MAX))]
    learn_days: u64,
    /// Number of days to test on, after the learning days
    #[arg(long, value_name = "DAYS", default_value_t = 10, conflicts_with = "generate", value_parser = number::<u64>(limits::TRACE_DAYS_MAX))]
    test_days: u64,
    /// First day to learn from (UTC); the day of the first post when not given
    #[arg(long, value_name = "YYYY-MM-DD", value_parser = day)]
    start: Option<u64>,
    /// Average rechecks per board and day; all policies have the same total
    #[arg(long, value_name = "LOOKS", default_value_t = 4, conflicts_with = "generate", value_parser = number::<usize>(limits::LOOKS_PER_DAY_MAX as u64))]
    per_day: usize,
    /// Exclude boards with fewer posts in the days to learn from
    #[arg(long, value_name = "POSTS", default_value_t = 20, conflicts_with = "generate", value_parser = number::<usize>(limits::TRACE_POSTS_MAX as u64))]
    posts_min: usize,
    /// Also recheck every board each midnight, uncounted, as the paper's formula does
    #[arg(long, conflicts_with = "generate")]
    midnight_looks: bool,
    /// Generate post times instead: weekly rhythm, bursts, boards that die or wake
    #[arg(long)]
    generate: bool,
    #[command(flatten)]
    forum: ForumOptions,
}

#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "With --generate")]
struct ForumOptions {
    /// Generate the forum of the paper: busy from 8 to 24 h, almost quiet before, nothing else
    #[arg(long, requires = "generate")]
    paper: bool,
    /// Number of boards
    #[arg(long, value_name = "BOARDS", requires = "generate", default_value_t = Forum::default().boards, value_parser = number::<usize>(limits::BOARDS_MAX as u64))]
    boards: usize,
    /// Number of days
    #[arg(long, value_name = "DAYS", requires = "generate", default_value_t = Forum::default().days, value_parser = number::<u64>(limits::TRACE_DAYS_MAX))]
    days: u64,
    /// Average posts per board and day
    #[arg(long, value_name = "POSTS", requires = "generate", default_value_t = Forum::default().posts_per_day, value_parser = rate)]
    posts_per_day: f64,
    /// Seed of the random numbers
    #[arg(long, value_name = "NUMBER", requires = "generate", default_value_t = Forum::default().seed)]
    seed: u64,
}

/// A positive number with a maximum.
fn number<T: TryFrom<u64> + Clone + Send + Sync + 'static>(max: u64) -> RangedU64ValueParser<T>
where
    <T as TryFrom<u64>>::Error: Send + Sync + 'static + std::error::Error,
{
    RangedU64ValueParser::new().range(1..=max)
}

/// A positive rate.
fn rate(text: &str) -> Result<f64, String> {
    let rate = text.parse::<f64>().map_err(|_| "not a number like 2.5".to_owned())?;
    if rate.is_finite() && rate > 0.0 { Ok(rate) } else { Err("not above 0".to_owned()) }
}

/// Midnight (UTC) of a date, in seconds since 1970.
fn day(text: &str) -> Result<u64, String> {
    let format = time::macros::format_description!("[year]-[month]-[day]");
    let date = time::Date::parse(text, &format).map_err(|_| "not a date like 2026-11-21".to_owned())?;
    u64::try_from(date.midnight().assume_utc().unix_timestamp()).map_err(|_| "before 1970".to_owned())
}

/// Replays or generates a trace, according to the options.
pub fn command(options: &Options) -> anyhow::Result<()> {
    if options.generate {
        return generate(options);
    }
    let trace = read(&options.trace)?;
    let Some(first) = trace.first() else {
        bail!(
            "{}: no posts in it\nhint: gleaner-lab simulate --generate forum.csv makes some up",
            options.trace.display()
        );
    };
    let report = simulate::simulate(
        &trace,
        &simulate::Options {
            start: options.start.unwrap_or(first / DAY_S * DAY_S),
            learn_days: options.learn_days,
            test_days: options.test_days,
            per_day: options.per_day,
            posts_min: options.posts_min,
            midnight_looks: options.midnight_looks,
        },
    )?;
    if options.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        out!("{}", text(&report));
    }
    Ok(())
}

fn read(path: &Path) -> anyhow::Result<Trace> {
    let told = || path.display().to_string();
    let mut file = BufReader::new(File::open(path).with_context(told)?);
    let is_gzip = file.fill_buf().with_context(told)?.starts_with(&GZIP);
    let bytes: Box<dyn Read> = if is_gzip { Box::new(MultiGzDecoder::new(file)) } else { Box::new(file) };
    Trace::read(BufReader::new(bytes)).with_context(told)
}

fn generate(options: &Options) -> anyhow::Result<()> {
    let &ForumOptions { paper, boards, days, posts_per_day, seed } = &options.forum;
    let kind = if paper { Forum::of_the_paper() } else { Forum::default() };
    let start = options.start.unwrap_or(kind.start);
    let trace = Forum { boards, days, posts_per_day, seed, start, ..kind }.trace()?;
    if options.trace.as_os_str() == "-" {
        trace.write(BufWriter::new(std::io::stdout().lock()))?;
        return Ok(());
    }
    let told = || options.trace.display().to_string();
    let mut file = BufWriter::new(File::create_new(&options.trace).with_context(told)?);
    trace.write(&mut file).with_context(told)?;
    file.flush().with_context(told)?;
    let posts: usize = trace.boards.iter().map(|board| board.posts.len()).sum();
    outln!("{}: {posts} posts of {boards} boards over {days} days", options.trace.display());
    Ok(())
}

fn text(report: &Report) -> String {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(["policy", "mean delay", "to ERA", "looks", "recall", "precision"]);
    for name in POLICIES {
        let Some(outcome) = report.policies.get(name) else { continue };
        table.add_row([
            name.to_owned(),
            format!("{:.2} h", outcome.delay_mean_s / 3_600.0),
            outcome.to_era.map_or("-".to_owned(), |ratio| format!("{ratio:.3}")),
            outcome.fetches.to_string(),
            format!("{:.1} %", outcome.recall * 100.0),
            format!("{:.1} %", outcome.precision * 100.0),
        ]);
    }
    for column in 1..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    format!(
        "{} boards ({} left out: too few posts to learn from), {} posts to learn from, {} to find\n{table}\n",
        report.boards, report.boards_left_out, report.posts_learnt, report.posts
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_begins_at_midnight_utc() {
        assert_eq!(day("2021-01-01"), Ok(1_609_459_200));
        assert!(day("2021-02-30").is_err() && day("1969-12-31").is_err() && day("yesterday").is_err());
    }
}
