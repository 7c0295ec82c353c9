//! `gleaner delay`: the acquisition delay of a site's torrents over time.

use std::process::ExitCode;

use anyhow::bail;
use clap::Args;

use super::block_on;
use super::learned::database_of;
use crate::app::changes;
use gleaner_crawl::freshness::plot::{duration, plot};
use gleaner_rules::config::Config;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of a site
    site: String,
    /// Width of the plot, in columns
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u16).range(20..=400))]
    width: u16,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let text = block_on(async {
        let db = database_of(config, &options.site).await?;
        let Some(report) = changes::delays(db.reader(), &options.site).await? else {
            bail!(
                "no delay has been measured for {} yet: only torrents that appear between two checks of a list count\nhint: gleaner run",
                options.site
            );
        };
        if options.json {
            return Ok(serde_json::to_string(&report)? + "\n");
        }
        let told = |seconds: Option<f64>| seconds.map_or_else(|| "unknown".to_owned(), duration);
        let mut text = format!(
            "{}: {} torrents appeared since the crawl began, {} were there before\n",
            options.site, report.torrents, report.history
        );
        for (name, quantile) in [("median", report.median), ("p90", report.p90), ("p99", report.p99)] {
            if report.torrents > 0 {
                let (least, middle, most) = (told(quantile.least_s), told(quantile.middle_s), told(quantile.most_s));
                text.push_str(&format!("{name:>6}  {middle}, between {least} and {most}\n"));
            }
        }
        if report.contradicted > 0 {
            text.push_str(&format!(
                "the site's times contradict what its lists showed for {} of them: its clock or zone is wrong (boards.utc_offset)\n",
                report.contradicted
            ));
        }
        Ok(text + &plot(&report, options.width.into()))
    })?;
    out!("{text}");
    Ok(ExitCode::SUCCESS)
}
