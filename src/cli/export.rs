//! `gleaner export`: exports the harvest with a manifest of its content, or a list of it.

mod marks;

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{anyhow, bail};
use clap::{Args, ValueEnum};
use indicatif::ProgressBar;

use self::marks::Mark;
use super::{block_on, search};
use crate::app::{self, database::Database};
use gleaner_base::clock::UnixMillis;
use gleaner_base::console;
use gleaner_rules::config::Config;
use gleaner_search::Query;
use gleaner_search::category::full_name;
use gleaner_search::filing::Filing;
use gleaner_search::query::doubt_told;
use gleaner_store::crawldb::{Reader, TorrentRow};
use gleaner_store::export::{self, CategoryOf, ExportFormat, ExportOptions, ExportSummary, Layout, Share};
use gleaner_torrent::archive::Archive;
use gleaner_torrent::contents::ContainedFile;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Destination: a folder, a .tar.zst or a .zip file; or a list of all that is known of the torrents: .jsonl, .csv, .parquet, .magnets
    dest: PathBuf,
    /// Format to write, whatever the extension of DEST
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
    /// Folder layout of the torrents in the export
    #[arg(long, value_name = "LAYOUT", default_value = "flat")]
    layout: Folders,
    /// Only export what was first stored at this time or later: 2026-11-21 or 2026-11-21T08:30:00Z
    #[arg(long, value_name = "DATE", value_parser = since)]
    since: Option<UnixMillis>,
    /// Only export what was first stored before this time
    #[arg(long, value_name = "DATE", value_parser = since)]
    until: Option<UnixMillis>,
    /// Only export what no earlier export with this --since-last NAME has had
    #[arg(long, value_name = "NAME", value_parser = marks::name)]
    since_last: Option<String>,
    /// Only export torrents found on this site
    #[arg(long, value_name = "SITE")]
    site: Option<String>,
    /// Only export the torrents that `gleaner search` finds by this query, and no magnets: 'debian cat:4020 private:no'
    #[arg(long, value_name = "QUERY")]
    search: Option<String>,
    /// For others: leave out trackers, web seeds, nodes, comments, sources, magnets, and private torrents; the torrents stay the same
    #[arg(long)]
    share: bool,
    /// Name this tracker in the place of a torrent's own
    #[arg(long, value_name = "URL", requires = "share", value_parser = tracker)]
    announce: Option<String>,
    /// Share private torrents, too
    #[arg(long, requires = "share")]
    private: bool,
    /// Print the summary as one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Folder,
    #[value(name = "tar.zst")]
    TarZst,
    Zip,
    /// A list: one JSON object a line
    Jsonl,
    /// A list for spreadsheets
    Csv,
    /// A list as columns
    Parquet,
    /// A list of magnet links
    Magnets,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Folders {
    /// All in one folder
    Flat,
    /// One folder per site
    BySite,
    /// One folder per day of first storing, UTC
    ByDate,
    /// One folder per category
    ByCategory,
}

impl Options {
    fn export_format(&self) -> Option<ExportFormat> {
        self.format.map(|format| match format {
            Format::Folder => ExportFormat::Folder,
            Format::TarZst => ExportFormat::TarZst,
            Format::Zip => ExportFormat::Zip,
            Format::Jsonl => ExportFormat::Jsonl,
            Format::Csv => ExportFormat::Csv,
            Format::Parquet => ExportFormat::Parquet,
            Format::Magnets => ExportFormat::Magnets,
        })
    }

    fn export_options(&self, keys: Option<HashSet<Vec<u8>>>, mark: Option<&Mark>, filing: Filing) -> ExportOptions {
        let category = move |row: &TorrentRow, files: &[ContainedFile]| {
            let (number, _) = filing.category(row, files);
            (number, full_name(number).unwrap_or_default())
        };
        ExportOptions {
            dest: self.dest.clone(),
            format: self.export_format(),
            layout: match self.layout {
                Folders::Flat => Layout::Flat,
                Folders::BySite => Layout::BySite,
                Folders::ByDate => Layout::ByDate,
                Folders::ByCategory => Layout::ByCategory,
            },
            since: self.since,
            until: self.until,
            site: self.site.clone(),
            keys,
            notes_keys: mark.is_some(),
            without: mark.map(|mark| mark.torrents.clone()).unwrap_or_default(),
            without_magnets: mark.map(|mark| mark.magnets.clone()).unwrap_or_default(),
            category: CategoryOf(Arc::new(category)),
            share: self.share.then(|| Share { announce: self.announce.clone(), with_private: self.private }),
        }
    }
}

/// A tracker's URL.
fn tracker(text: &str) -> anyhow::Result<String> {
    let is_one = url::Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https" | "udp" | "ws" | "wss"));
    if is_one { Ok(text.to_owned()) } else { bail!("not a tracker; write http://tracker.example/announce") }
}

/// Parses a date, or an RFC 3339 time.
fn since(text: &str) -> anyhow::Result<UnixMillis> {
    use time::format_description::well_known::Rfc3339;
    let whole = if text.len() == 10 { format!("{text}T00:00:00Z") } else { text.to_owned() };
    let at = time::OffsetDateTime::parse(&whole, &Rfc3339)
        .map_err(|_| anyhow!("not a date; write 2026-11-21 or 2026-11-21T08:30:00Z"))?;
    match u64::try_from(at.unix_timestamp()) {
        Ok(seconds) => Ok(UnixMillis(seconds.saturating_mul(1_000))),
        Err(_) => bail!("before 1970, when torrents did not exist"),
    }
}

/// Exports from the service that holds the data folder, or from the folder itself. Fails (exit code 1) if
/// torrents had to be left out; the rest is exported nevertheless.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let format = options.export_format().map_or_else(|| ExportFormat::of_dest(&options.dest), Ok)?;
    if format.is_list() && !matches!(options.layout, Folders::Flat) {
        bail!(
            "{}: a list has no folders\nhint: leave --layout out, or export to a folder, a .tar.zst or a .zip",
            options.dest.display()
        );
    }
    let summary = block_on(async {
        let database = Database::existing(&config.into()).await?;
        let archive = Arc::new(Archive::open(app::archive_path(&config.data_dir), true)?);
        let keys = match &options.search {
            Some(query) => {
                let query = Query::parse(query);
                if query.wants_magnets() {
                    bail!(
                        "has:magnet finds what has no torrent file\nhint: `gleaner export all.magnets` has the links, beside those of torrents"
                    );
                }
                for doubt in &query.doubts {
                    errln!(
                        "note: {}: it is looked for as words (gleaner search --help lists the filters)",
                        doubt_told(doubt)
                    );
                }
                Some(search::level(config, &database).await?.keys(&query)?)
            }
            None => None,
        };
        let mark = options.since_last.as_deref().map(|name| Mark::read(&config.data_dir, name)).transpose()?;
        let filing = Filing::read(database.reader()).await?;
        let export = options.export_options(keys, mark.as_ref(), filing);
        let summary = run(database.reader(), &archive, &export).await?;
        if let (Some(name), Some(mark)) = (&options.since_last, mark) {
            mark.write(summary.clone(), &config.data_dir, name)?;
        }
        anyhow::Ok(summary)
    })?;
    let mut out = console::out();
    if options.json {
        writeln!(out, "{}", serde_json::to_string(&summary)?)?;
    } else {
        tell(&summary, &mut out)?;
    }
    Ok(if summary.is_complete() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

async fn run(db: &dyn Reader, archive: &Arc<Archive>, options: &ExportOptions) -> anyhow::Result<ExportSummary> {
    // Only draws on a terminal.
    let bar = ProgressBar::new_spinner();
    let mut progress = |at: export::Progress| {
        bar.set_message(format!("{} torrents, {} bytes", at.torrents, at.torrent_bytes));
        bar.tick();
    };
    let summary = export::export(db, archive, options, &mut progress).await;
    bar.finish_and_clear();
    Ok(summary?)
}

fn tell(summary: &ExportSummary, out: &mut impl Write) -> io::Result<()> {
    let dest = summary.dest.display();
    write!(
        out,
        "{dest}: {} torrents ({} bytes), {} magnets",
        summary.torrents, summary.torrent_bytes, summary.magnets
    )?;
    if let Some(bytes) = summary.dest_bytes {
        write!(out, "; {bytes} bytes in all")?;
    }
    if summary.unchanged + summary.removed > 0 {
        write!(out, "; {} were there already, {} removed", summary.unchanged, summary.removed)?;
    }
    writeln!(out)?;
    if summary.private_left_out > 0 {
        writeln!(
            out,
            "private torrents that are not shared: {}; --private shares them, too",
            summary.private_left_out
        )?;
    }
    if summary.is_complete() {
        return Ok(());
    }
    let left_out = &summary.left_out;
    writeln!(out, "left out: {}", left_out.count)?;
    for torrent in &left_out.listed {
        // Quoted: names of torrents may contain terminal control sequences.
        writeln!(out, "  {} {:?}: {}", torrent.infohash, torrent.name, torrent.reason)?;
    }
    super::verify::more(left_out.count, left_out.listed.len(), out)?;
    writeln!(out, "hint: gleaner verify --repair has them fetched again; then export again")
}

#[cfg(test)]
mod tests;
