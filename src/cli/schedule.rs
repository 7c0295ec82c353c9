//! `gleaner schedule`: when each list of a site is rechecked next, and why.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use comfy_table::Table;
use serde_json::json;

use super::block_on;
use super::learned::database_of;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_crawl::fresh::boards::{self, BOARDS_NOTE, ChangeBasis};
use gleaner_crawl::fresh::timetable::{ListExplanation, SCHEDULE_NOTE, StoredTimetable};
use gleaner_crawl::schedule::plot::plot;
use gleaner_rules::config::Config;

/// Upcoming rechecks per list in the JSON; a separate field has their number per day.
const NEXT_TOLD: usize = 24;

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
        let note = db.reader().note(&options.site, SCHEDULE_NOTE).await?;
        let Some(state) = note.and_then(|note| StoredTimetable::from_bytes(&note)) else {
            // A crawl of the history reads each list once; only the service rechecks.
            bail!("no list of {} has been rechecked yet: only the service does that\nhint: gleaner run", options.site);
        };
        let boards = db.reader().note(&options.site, BOARDS_NOTE).await?;
        let boards = boards.and_then(|note| boards::StoredBoards::from_bytes(&note)).unwrap_or_default();
        Ok(tell(&state, &boards, options, SystemClock.now())?)
    })?;
    out!("{text}");
    Ok(ExitCode::SUCCESS)
}

/// How a list's rows reveal its news.
fn told_by(boards: &boards::StoredBoards, url: &str) -> &'static str {
    match boards.boards.get(url).and_then(|board| board.grounds) {
        Some(ChangeBasis::Times) => "times",
        Some(ChangeBasis::Created) => "times of appearance",
        Some(ChangeBasis::Replies) => "replies",
        Some(ChangeBasis::UnknownUrls) => "unknown URLs alone",
        None => "links",
    }
}

fn time(seconds: u64) -> String {
    UnixMillis(seconds * 1_000).rfc3339()
}

fn of_list(told: &ListExplanation, news_by: &str) -> serde_json::Value {
    json!({
        "url": told.url,
        "news_by": news_by,
        "posts_per_day": told.weight,
        "posts_per_day_now": told.posts_per_day_now,
        "posts_per_day_by_hour": told.posts_by_hour,
        "posts_waiting": told.posts_waiting,
        "looked": time(told.looked),
        "looks": told.looks,
        "looks_per_day": told.looks_per_day,
        "next": told.next.iter().take(NEXT_TOLD).map(|next| time(*next)).collect::<Vec<_>>(),
        "why": told.why,
    })
}

fn tell(
    state: &StoredTimetable,
    boards: &boards::StoredBoards,
    options: &Options,
    now: UnixMillis,
) -> serde_json::Result<String> {
    let told = state.explain(now.0 / 1_000);
    if options.json {
        let lists: Vec<_> = told.iter().map(|told| of_list(told, told_by(boards, &told.url))).collect();
        let all = json!({
            "site": options.site,
            "policy": state.policy.name(),
            "looks_per_day": state.per_day,
            "is_full": state.is_full(),
            "by_numbers": state.goes_by_numbers(),
            "lists": lists,
        });
        return Ok(all.to_string() + "\n");
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["list", "posts/day", "news by", "last check", "next check", "checks/day", "why"]);
    for ListExplanation { url, weight, looked, next, looks_per_day, why, .. } in told.iter().take(options.lists) {
        table.add_row([
            url.clone(),
            format!("{weight:.2}"),
            told_by(boards, url).to_owned(),
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
