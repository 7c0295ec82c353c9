//! `gleaner schedule`: when each list of a site is rechecked next, and why.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use comfy_table::Table;

use super::block_on;
use super::learned::database_of;
use crate::app::schedule::{self, news_by, time};
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_crawl::fresh::boards::StoredBoards;
use gleaner_crawl::fresh::timetable::{ListExplanation, StoredTimetable};
use gleaner_crawl::schedule::plot::plot;
use gleaner_rules::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of a site
    site: String,
    /// Number of lists to show, those with the next rechecks first
    #[arg(long, default_value_t = 20)]
    lists: usize,
    /// Number of plots to draw, for the lists with the most posts
    #[arg(long, default_value_t = 3)]
    plots: usize,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let text = block_on(async {
        let db = database_of(config, &options.site).await?;
        let (state, boards) = schedule::stored(db.reader(), &options.site).await?;
        let Some(state) = state else {
            // A crawl of the history reads each list once; only the service rechecks.
            bail!("no list of {} has been rechecked yet: only the service does that\nhint: gleaner run", options.site);
        };
        Ok(tell(&state, &boards, options, SystemClock.now())?)
    })?;
    out!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn tell(
    state: &StoredTimetable,
    boards: &StoredBoards,
    options: &Options,
    now: UnixMillis,
) -> serde_json::Result<String> {
    if options.json {
        return Ok(serde_json::to_string(&schedule::report(&options.site, state, boards, now))? + "\n");
    }
    let told = state.explain(now.0 / 1_000);
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["list", "posts/day", "news by", "last check", "next check", "checks/day", "why"]);
    for ListExplanation { url, weight, looked, next, looks_per_day, why, .. } in told.iter().take(options.lists) {
        table.add_row([
            url.clone(),
            format!("{weight:.2}"),
            news_by(boards, url).to_owned(),
            time(*looked),
            next.first().map_or_else(|| "not within a day".to_owned(), |next| time(*next)),
            format!("{looks_per_day:.0}"),
            why.clone(),
        ]);
    }
    let counted = |lists: usize, more: &str| format!("{lists} {more}list{}", if lists == 1 { "" } else { "s" });
    let (all, policy) = (counted(told.len(), ""), state.policy.name());
    let mut text = format!("{}: {all}, {:.0} checks a day by {policy}\n", options.site, state.per_day);
    if state.goes_by_numbers() {
        text.push_str(
            "the site numbers all its items in one sequence: each list also informs the schedule of the others\n",
        );
    }
    if state.is_full() {
        let interval = "the site's other lists, if any, are checked every revisit_minutes";
        text.push_str(&format!("the schedule is full: {interval}\n"));
    }
    if options.lists > 0 {
        text.extend(table.lines().map(|line| format!("{}\n", line.trim_end())));
        if let Some(left @ 1..) = told.len().checked_sub(options.lists) {
            text.push_str(&format!("and {} (hint: --lists {})\n", counted(left, "more "), told.len()));
        }
    }
    let mut busiest: Vec<&ListExplanation> = told.iter().collect();
    busiest.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    for told in busiest.into_iter().take(options.plots) {
        text.push_str(&format!("\n{}\n{}", told.url, plot(&told.posts_by_hour, &told.next)));
    }
    Ok(text)
}
