//! `gleaner search`: finds torrents of the archive by name, file, infohash and kind.

use std::process::ExitCode;
use std::time::Duration;

use anyhow::bail;
use clap::{Args, ValueEnum};
use comfy_table::{CellAlignment, Table};
use indicatif::{ProgressBar, ProgressStyle};
use serde::Serialize;

use super::block_on;
use crate::app::{archive_path, database::Database};
use gleaner_base::owner;
use gleaner_rules::config::Config;
use gleaner_search::filing::Filing;
use gleaner_search::follow::{FollowError, Follower, contents_of};
use gleaner_search::query::doubt_told;
use gleaner_search::{Order, Query, Search, SearchError, category};
use gleaner_store::crawldb::{MagnetRow, Reader, TorrentRow};
use gleaner_torrent::archive::Archive;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Words, "phrases", -exclusions, beginnings* and filters: site:NAME cat:4020 cat:LABEL ext:iso tracker:HOST size:>1G after:2026-11-01
    /// before:2026-12-01 year:2020..2026 private:no v1:yes v2:yes, and has:magnet for what is known by a magnet link alone; or an infohash, or a magnet link. Without any, the newest torrents. Quote it as a whole: the
    /// shell takes quotes and stars away, and a word with a hyphen is an option
    #[arg(value_name = "QUERY")]
    query: Vec<String>,
    /// Order of the torrents; the default is relevance for words, else newest
    #[arg(long, value_name = "ORDER")]
    order: Option<By>,
    /// Most torrents to show
    #[arg(long, value_name = "COUNT", default_value_t = 20, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Torrents to leave out before the first one shown
    #[arg(long, value_name = "COUNT", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=100_000))]
    skip: u32,
    /// Count the torrents by site, category, year, size, version, and private
    #[arg(long)]
    facets: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum By {
    Newest,
    Relevance,
    Size,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Report {
    /// Torrents that fit, of so many.
    total: usize,
    archived: u64,
    torrents: Vec<Torrent>,
    /// What is known by a magnet link alone, where the query asks for that.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    magnets: Vec<Magnet>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<gleaner_search::find::Facets>,
}

#[derive(Debug, Serialize)]
struct Torrent {
    infohash: String,
    name: Box<str>,
    payload_bytes: u64,
    file_count: u32,
    category: u32,
    site: Box<str>,
    stored: String,
    private: bool,
}

#[derive(Debug, Serialize)]
struct Magnet {
    infohash: String,
    name: Option<Box<str>>,
    category: u32,
    site: Box<str>,
    first_seen: String,
    link: Box<str>,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let report = block_on(find(config, options))?;
    if options.json {
        outln!("{}", serde_json::to_string(&report)?);
    } else {
        out!("{}", text(&report, options));
    }
    Ok(ExitCode::SUCCESS)
}

async fn find(config: &Config, options: &Options) -> anyhow::Result<Report> {
    let database = Database::existing(&config.into()).await?;
    let db = database.reader();
    let search = level(config, &database).await?;
    let query = Query::parse(&options.query.join(" "));
    let order = match options.order {
        Some(By::Newest) => Order::Newest,
        Some(By::Relevance) => Order::Relevance,
        Some(By::Size) => Order::Size,
        None if query.clauses.iter().all(|clause| clause.is_excluded) => Order::Newest,
        None => Order::Relevance,
    };
    for doubt in &query.doubts {
        errln!("note: {}: it is looked for as words (gleaner search --help lists the filters)", doubt_told(doubt));
    }
    let found = search.find(&query, order, options.skip as usize, options.limit as usize)?;
    let keys = found.hits.iter().map(|hit| hit.key.clone()).collect();
    let (rows, links) = match query.wants_magnets() {
        true => (Vec::new(), db.magnets_at(keys).await?),
        false => (db.torrents_at(keys).await?, Vec::new()),
    };
    let magnets = links.into_iter().zip(&found.hits).filter_map(|(row, hit)| Some(Magnet::of(row?, hit.category)));
    let torrents = rows.into_iter().zip(&found.hits).filter_map(|(row, hit)| Some(Torrent::of(row?, hit.category)));
    Ok(Report {
        total: found.total,
        archived: search.torrents(),
        torrents: torrents.collect(),
        magnets: magnets.collect(),
        facets: options.facets.then(|| search.facets(&query).map(|(_, facets)| facets)).transpose()?,
    })
}

/// The index, with everything that the database has: brought up here, unless a service does it, or this user may only read.
pub(super) async fn level(config: &Config, database: &Database) -> anyhow::Result<Search> {
    let (data_dir, db) = (&config.data_dir, database.reader());
    // Root would write files that the service cannot replace.
    let follower = match owner::is_foreign(data_dir) {
        true => None,
        false => match Follower::open(data_dir) {
            Ok(follower) => Some(follower),
            Err(FollowError::Held { .. } | FollowError::Io { .. }) => None,
            Err(FollowError::Search(error)) if !error.is_damage() => None,
            Err(error) => return Err(error.into()),
        },
    };
    if let Some(follower) = follower {
        bring_up(follower, db, config).await?;
    }
    let search = {
        let _owner = owner::act(data_dir);
        match (Search::open(data_dir), database) {
            (Err(SearchError::Missing), Database::Held(_)) => {
                bail!("{}: the search index is being made\nhint: try again in a while", data_dir.display())
            }
            (Err(SearchError::Missing), Database::File(_)) => {
                bail!(
                    "{}: there is no search index, and it cannot be written here\nhint: run `gleaner search{}` as the folder's owner",
                    data_dir.display(),
                    config.given
                )
            }
            (search, _) => search?,
        }
    };
    let change = db.changes(u64::MAX, 0).await?.last;
    for _ in 0..LEVEL_TRIES {
        if search.has_change(change)? {
            search.reload()?;
            return Ok(search);
        }
        tokio::time::sleep(LEVEL_WAIT).await;
    }
    let hint = match database {
        Database::Held(_) => "the process that holds the folder brings it up: try again in a while".to_owned(),
        Database::File(_) => format!("run `gleaner search{}` as the folder's owner", config.given),
    };
    bail!("{}: the search index lacks what was stored last\nhint: {hint}", data_dir.display())
}

/// How long a service may take to bring up the index.
const LEVEL_TRIES: u32 = 40;
const LEVEL_WAIT: Duration = Duration::from_millis(250);

async fn bring_up(mut follower: Follower, db: &dyn Reader, config: &Config) -> anyhow::Result<()> {
    let archive = Archive::open(archive_path(&config.data_dir), true)?;
    let bar = ProgressBar::no_length();
    if let Ok(style) = ProgressStyle::with_template("search index {pos} of {len} torrents {bar:30}") {
        bar.set_style(style);
    }
    let filing = Filing::read(db).await?;
    loop {
        let step = follower.step(db, &|row| contents_of(row, &archive), &filing).await?;
        if let Some((made, all)) = step.made {
            bar.set_length(all);
            bar.set_position(made);
        }
        if step.is_level && follower.is_whole() {
            bar.finish_and_clear();
            return Ok(());
        }
    }
}

impl Torrent {
    fn of(row: TorrentRow, category: u32) -> Self {
        Self {
            infohash: row.facts.infohashes.key_hex(),
            name: row.facts.name,
            payload_bytes: row.facts.payload_bytes,
            file_count: row.facts.file_count,
            category,
            site: row.site,
            stored: row.stored.rfc3339(),
            private: row.facts.private,
        }
    }
}

impl Magnet {
    fn of(row: MagnetRow, category: u32) -> Self {
        Self {
            infohash: row.facts.infohashes.key_hex(),
            name: row.facts.name,
            category,
            site: row.site,
            first_seen: row.first_seen.rfc3339(),
            link: row.facts.link,
        }
    }
}

fn text(report: &Report, options: &Options) -> String {
    if report.torrents.is_empty() && report.magnets.is_empty() {
        let hint = match (report.total, report.archived) {
            (_, 0) => "the archive is empty\nhint: crawl a site first: gleaner crawl",
            (0, _) => "no torrent fits\nhint: fewer words, or beginnings: ubunt*",
            _ => "no more torrents fit",
        };
        return format!("{hint}\n");
    }
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header(["infohash", "size", "stored", "category", "site", "name"]);
    for torrent in &report.torrents {
        table.add_row([
            torrent.infohash.clone(),
            size(torrent.payload_bytes),
            torrent.stored.get(..10).unwrap_or_default().to_owned(),
            category::full_name(torrent.category).unwrap_or_default(),
            torrent.site.to_string(),
            torrent.name.to_string(),
        ]);
    }
    for magnet in &report.magnets {
        table.add_row([
            magnet.infohash.clone(),
            "magnet".to_owned(),
            magnet.first_seen.get(..10).unwrap_or_default().to_owned(),
            category::full_name(magnet.category).unwrap_or_default(),
            magnet.site.to_string(),
            magnet.name.as_deref().unwrap_or_default().to_owned(),
        ]);
    }
    if let Some(column) = table.column_mut(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    let mut text: String = table.lines().map(|line| format!("{}\n", line.trim_end())).collect();
    let (count, what) = match report.magnets.len() {
        0 => (report.torrents.len(), "torrents"),
        magnets => (magnets, "magnet links"),
    };
    let shown = options.skip as usize + count;
    if shown < report.total {
        text += &format!("{count} of {} {what}; the next ones: --skip {shown}\n", report.total);
    }
    for (name, values) in report.facets.iter().flatten() {
        let values: Vec<String> =
            values.iter().map(|(value, count)| format!("{} {count}", named(name, value))).collect();
        text += &format!("{name}: {}\n", values.join(" · "));
    }
    text
}

/// The value of a facet in words.
fn named(facet: &str, value: &str) -> String {
    let number = value.parse().ok();
    match (facet, value) {
        ("category", _) => number.and_then(category::full_name).unwrap_or_else(|| value.to_owned()),
        ("private", "0") => "no".to_owned(),
        ("private", "1") => "yes".to_owned(),
        _ => value.to_owned(),
    }
}

fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["B", "KiB", "MiB", "GiB", "TiB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if unit == 0 { format!("{bytes} B") } else { format!("{value:.1} {}", UNITS[unit]) }
}
