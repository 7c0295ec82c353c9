//! `gleaner categories`: what the torrents of the archive are filed under, and why.

use std::collections::BTreeMap;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use comfy_table::{CellAlignment, Table};
use serde::Serialize;

use super::{block_on, search};
use crate::app::database::Database;
use gleaner_rules::config::Config;
use gleaner_search::category::{CATEGORIES, full_name, parent};
use gleaner_search::filing::Filing;
use gleaner_search::{Query, Search};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of a site: its labels, and what they are mapped to; without it, the categories of the whole archive
    #[arg(value_name = "SITE")]
    site: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    /// Of all torrents, unless a label says more: `category` in the rule file.
    #[serde(skip_serializing_if = "Option::is_none")]
    site_category: Option<u32>,
    categories: Vec<CategoryRow>,
    labels: Vec<LabelRow>,
}

#[derive(Debug, Serialize)]
struct CategoryRow {
    number: u32,
    name: String,
    /// A parent's are its children's, too.
    torrents: u64,
}

/// A site's own word for some of its torrents.
#[derive(Debug, Serialize)]
struct LabelRow {
    site: Box<str>,
    label: Box<str>,
    /// By which clients ask for it.
    number: u32,
    torrents: u64,
    /// What `categories.map` says that it is; null where the payload decides.
    category: Option<u32>,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let report = block_on(read(config, options))?;
    if options.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        out!("{}", text(&report, options.site.as_deref()));
    }
    Ok(ExitCode::SUCCESS)
}

async fn read(config: &Config, options: &Options) -> anyhow::Result<Report> {
    let database = Database::existing(&config.into()).await?;
    let db = database.reader();
    let site = options.site.as_deref();
    if let Some(site) = site {
        let hosts = db.hosts().await?;
        if hosts.iter().all(|host| &*host.site != site) {
            bail!("no site is called {site}\nhint: gleaner status{} lists the sites", config.given);
        }
    }
    let search = search::level(config, &database).await?;
    let filing = Filing::read(db).await?;
    let counts = counts(&search, site)?;
    let count = |number: u32| counts.get(&number).copied().unwrap_or_default();
    let labels = filing.labels.rows.iter().filter(|row| site.is_none_or(|site| &*row.site == site));
    let labels = labels.map(|row| LabelRow {
        site: row.site.clone(),
        label: row.text.clone(),
        number: row.number,
        torrents: count(row.number),
        category: filing.of_label(row),
    });
    let categories = CATEGORIES.iter().map(|of| CategoryRow {
        number: of.number,
        name: full_name(of.number).unwrap_or_default(),
        torrents: count(of.number),
    });
    Ok(Report {
        site_category: site.and_then(|site| filing.sites.get(site)?.all),
        categories: categories.filter(|row| site.is_none() || row.torrents > 0).collect(),
        labels: labels.collect(),
    })
}

/// Torrents by category and label.
pub(super) fn counts(search: &Search, site: Option<&str>) -> anyhow::Result<BTreeMap<u32, u64>> {
    let mut query = Query::default();
    query.filters.sites.extend(site.map(str::to_owned));
    let (_, facets) = search.facets(&query)?;
    let values = facets.get("category").into_iter().flatten();
    Ok(values.filter_map(|(number, count)| Some((number.parse().ok()?, *count))).collect())
}

fn text(report: &Report, site: Option<&str>) -> String {
    let mut text = table(
        ["number", "category", "torrents"],
        report.categories.iter().map(|row| {
            let indent = if parent(row.number) == row.number { "" } else { "  " };
            [row.number.to_string(), format!("{indent}{}", row.name), row.torrents.to_string()]
        }),
    );
    if let Some(all) = report.site_category {
        text += &format!(
            "\nits rule file says category = {all} ({}) of all torrents whose label says nothing else\n",
            full_name(all).unwrap_or_default()
        );
    }
    if report.labels.is_empty() {
        if site.is_some() {
            text += "\nno page has said what its torrents are: the payload decides\nhint: `[categories]` in the rule file says where the site's \
                     labels stand; its lists are then read again\n";
        }
        return text;
    }
    let category = |row: &LabelRow| match row.category {
        Some(number) => format!("{number} {}", full_name(number).unwrap_or_default()),
        None => "by its payload".to_owned(),
    };
    text += "\n";
    text += &table(
        ["site", "label", "number", "torrents", "category"],
        report.labels.iter().map(|row| {
            [
                row.site.to_string(),
                row.label.to_string(),
                row.number.to_string(),
                row.torrents.to_string(),
                category(row),
            ]
        }),
    );
    if report.labels.iter().any(|row| row.category.is_none()) {
        text += "hint: `categories.map` in the rule file gives a label its category; it is added to that of the family which the file extends, and wins\n";
    }
    text
}

pub(super) fn table<const N: usize>(head: [&str; N], rows: impl Iterator<Item = [String; N]>) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(head);
    for row in rows {
        table.add_row(row);
    }
    for (at, _) in head.iter().enumerate().filter(|(_, name)| ["torrents", "listed", "had", "CR"].contains(name)) {
        table.column_mut(at).into_iter().for_each(|column| column.set_cell_alignment(CellAlignment::Right));
    }
    table.lines().map(|line| format!("{}\n", line.trim_end())).collect()
}
