//! `gleaner coverage`: how much of each site has been harvested, with the origin of each term.

mod by_category;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;

use super::block_on;
use super::learned::site_named;
use crate::app::database::Database;
use crate::app::status;
use gleaner_rules::SiteRules;
use gleaner_rules::config::Config;
use gleaner_store::coverage::{self, SiteCoverage, plot};
use gleaner_store::crawldb::Reader;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Site to report; all crawled sites when none is given
    #[arg(value_name = "SITE")]
    site: Option<String>,
    /// Print how each site's torrents came, instead of its terms
    #[arg(long)]
    over_time: bool,
    /// Print what is listed and had of each of a site's labels, or else categories
    #[arg(long, conflicts_with_all = ["over_time", "csv", "svg"])]
    by_category: bool,
    #[command(flatten)]
    form: Form,
}

/// How it is printed; a table for people otherwise.
#[derive(Args, Clone, Copy, Debug, Default)]
#[group(multiple = false)]
struct Form {
    /// Print one JSON object, with the course of time
    #[arg(long)]
    json: bool,
    /// Print a line for each site, for spreadsheets; with --over-time, for each time
    #[arg(long)]
    csv: bool,
    /// Print a picture (SVG) of the coverage over time
    #[arg(long)]
    svg: bool,
}

/// Times of a site that are shown to people.
const POINTS_SHOWN: usize = 48;

/// The rules of a site by name.
type RulesOf<'a> = &'a (dyn Fn(&str) -> Option<Arc<SiteRules>> + Sync);

/// Prints the coverage, from the service that holds the data folder or from the folder itself.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let text = block_on(async {
        let database = Database::existing(&config.into()).await?;
        if options.by_category {
            let sites = of_wanted(database.reader(), options).await?;
            let sites = by_category::of_sites(config, &database, sites).await?;
            return Ok(match options.form.json {
                true => format!("{}\n", serde_json::json!({ "sites": sites })),
                false => by_category::text(&sites),
            });
        }
        text(database.reader(), options, &|site| site_named(site, config)).await
    })?;
    out!("{text}");
    Ok(ExitCode::SUCCESS)
}

async fn text(db: &dyn Reader, options: &Options, rules: RulesOf<'_>) -> anyhow::Result<String> {
    let found = of_wanted(db, options).await?;
    if let Some(text) = printed(&found, options) {
        return Ok(text);
    }
    if found.is_empty() {
        return Ok("nothing has been crawled yet (hint: gleaner crawl)\n".to_owned());
    }
    let mut tables = Vec::with_capacity(found.len());
    for site in &found {
        tables.push(told(db, site, rules).await?);
    }
    Ok(tables.join("\n"))
}

/// The coverage of the site that was asked for, or of all.
async fn of_wanted(db: &dyn Reader, options: &Options) -> anyhow::Result<Vec<SiteCoverage>> {
    let Some(site) = &options.site else { return Ok(coverage::of_all_sites(db).await?) };
    let known = coverage::sites(db).await?;
    if !known.contains(site) {
        bail!("site `{site}` is not in the database\nhint: {}", hint(site, &known));
    }
    Ok(vec![coverage::of_site(db, site).await?])
}

/// The sites in the form that was asked for; None for the table of terms.
fn printed(sites: &[SiteCoverage], options: &Options) -> Option<String> {
    match options.form {
        Form { json: true, .. } => Some(format!("{}\n", serde_json::json!({ "sites": sites }))),
        Form { svg: true, .. } => Some(plot::growth_svg(sites)),
        Form { csv: true, .. } if options.over_time => Some(plot::growth_csv(sites)),
        Form { csv: true, .. } => Some(plot::terms_csv(sites)),
        Form { .. } => options.over_time.then(|| sites.iter().map(over_time).collect()),
    }
}

/// How a site's torrents came, for people: the most recent times last.
fn over_time(site: &SiteCoverage) -> String {
    let mut text = format!("{}\n", site.site);
    let skipped = site.over_time.len().saturating_sub(POINTS_SHOWN);
    if site.over_time.is_empty() {
        text += "  no list was read: the course of time is not known\n";
    } else if skipped > 0 {
        text += &format!("  {skipped} earlier times (hint: --csv has all)\n");
    }
    for point in &site.over_time[skipped..] {
        let share = point.cr.map_or_else(|| "unknown".to_owned(), |cr| format!("{:.2} %", cr * 100.0));
        text += &format!("  {}  {:>9} torrents  {share:>9}\n", point.until.rfc3339(), point.ci);
    }
    text
}

/// The table of a site, and what it cannot count.
async fn told(db: &dyn Reader, site: &SiteCoverage, rules: RulesOf<'_>) -> anyhow::Result<String> {
    let mut text = site.to_string();
    for of in status::broken_promises(db, &site.site, rules(&site.site).as_deref()).await? {
        text += &format!(
            "  `{}` keeps its promise no more: what it led to is missing here, and CR is too high (hint: gleaner status)\n",
            of.rule
        );
    }
    Ok(text)
}

pub(super) fn hint(site: &str, known: &BTreeSet<String>) -> String {
    let likeness = |known: &str| strsim::jaro_winkler(known, site);
    match known.iter().max_by(|a, b| likeness(a).total_cmp(&likeness(b))) {
        None => "crawl it first: gleaner crawl".to_owned(),
        Some(nearest) if likeness(nearest) > 0.8 => format!("did you mean {nearest}?"),
        Some(_) => format!("known sites: {}", known.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_store::crawldb::CrawlDb;
    use gleaner_store::crawldb::memory_store::MemoryStore;

    #[tokio::test]
    async fn a_misspelt_site_is_told_the_nearest_name() {
        let db = MemoryStore::new();
        let ask = async |site: Option<&str>, json| {
            let options = Options {
                site: site.map(Into::into),
                over_time: false,
                by_category: false,
                form: Form { json, ..Form::default() },
            };
            text(&db, &options, &|_| None).await.map_err(|error| error.to_string())
        };
        assert!(ask(None, false).await.unwrap().contains("hint: gleaner crawl"));
        assert_eq!(ask(None, true).await.unwrap(), "{\"sites\":[]}\n");
        assert!(ask(Some("debian"), false).await.unwrap_err().contains("hint: crawl it first"));
        db.host_id("debian", "https://debian.org").await.unwrap();
        assert!(ask(Some("debain"), false).await.unwrap_err().contains("did you mean debian?"));
        assert!(ask(Some("x"), false).await.unwrap_err().contains("known sites: debian"));
        assert!(ask(Some("debian"), false).await.unwrap().starts_with("debian\n"));
        let forms = [
            (Form { csv: true, ..Form::default() }, false, "site,cr,cr_is_at_most,"),
            (Form { csv: true, ..Form::default() }, true, "site,until,cr,"),
            (Form { svg: true, ..Form::default() }, false, "<svg "),
            (Form::default(), true, "debian\n  no list was read"),
        ];
        for (form, over_time, start) in forms {
            let printed =
                text(&db, &Options { site: None, over_time, by_category: false, form }, &|_| None).await.unwrap();
            assert!(printed.starts_with(start), "{printed}");
        }
        let json: serde_json::Value = serde_json::from_str(&ask(Some("debian"), true).await.unwrap()).unwrap();
        let json = &json["sites"][0];
        assert_eq!((&json["site"], &json["nt"], &json["ci"]), (&"debian".into(), &serde_json::Value::Null, &0.into()));
    }
}
