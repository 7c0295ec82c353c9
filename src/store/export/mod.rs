//! Exports the archive: a folder, a `.tar.zst` or a `.zip` of torrents with a manifest of their metadata and sources, or a list without the
//! torrents.
//!
//! ```text
//! database pages ──(rows)──► writer thread: name → check the file → sink ──► manifest.jsonl, magnets.jsonl last
//! ```
//!
//! Reads the archive and the crawl database; writes nothing but the export. The same state gives the same bytes: rows
//! come in key order, dates, owners and modes are fixed, the compressor runs on one thread, and the time of the export is
//! not stored. Memory does not grow with the archive: rows come in pages, files are streamed, and the lists for the end
//! wait in a nameless file.
//!
//! A lost or damaged file is left out and named in the summary; the content of an export matches its manifest byte for
//! byte. A killed export leaves nothing under its name.

pub mod file_name;
mod folder;
pub mod list;
pub mod manifest;
mod sink;
mod table;
pub(crate) mod whole_file;
mod write;
mod zip_file;

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tokio::sync::mpsc;

use crate::crawldb::{CrawlDbError, MagnetRow, Reader, TorrentRow};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::console::lossy;
use gleaner_base::newznab::{MISC, full_name};
use gleaner_base::place::{self, Place};
use gleaner_torrent::archive::Archive;
use gleaner_torrent::contents::ContainedFile;

/// A file without a name on the disk of `folder`, which is gone when it is closed.
///
/// # Errors
/// Those of the file system.
pub(crate) fn nameless(folder: &Path) -> io::Result<std::fs::File> {
    let spool = whole_file::Spool::new(folder, "list").map_err(io::Error::other)?;
    spool.read_back().map(|(file, _)| file).map_err(io::Error::other)
}

/// The form of an export.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ExportFormat {
    Folder,
    #[serde(rename = "tar.zst")]
    TarZst,
    Zip,
    /// Lists without the torrents' files.
    Jsonl,
    Csv,
    Parquet,
    /// One magnet link a line.
    Magnets,
}

impl ExportFormat {
    /// True for a list, without the torrents' files.
    #[must_use]
    pub fn is_list(self) -> bool {
        matches!(self, Self::Jsonl | Self::Csv | Self::Parquet | Self::Magnets)
    }

    /// The format by file name: `.tar.zst` (or `.tzst`), `.zip`, `.jsonl`, `.csv`, `.parquet`, `.magnets`, otherwise a folder.
    ///
    /// # Errors
    /// [`ExportError::UnknownSuffix`] for the suffix of another kind of archive.
    pub fn of_dest(dest: &Path) -> Result<Self, ExportError> {
        const OTHERS: [&str; 26] = [
            ".tar", ".tar.gz", ".tgz", ".tar.xz", ".txz", ".tar.bz2", ".tar.lz4", ".zst", ".gz", ".xz", ".7z", ".rar",
            ".bz2", ".txt", ".json", ".ndjson", ".tsv", ".xml", ".html", ".xlsx", ".ods", ".db", ".sqlite", ".list",
            ".magnet", ".torrent",
        ];
        let name = dest.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        if name.ends_with(".tar.zst") || name.ends_with(".tzst") {
            return Ok(Self::TarZst);
        }
        let by_suffix = [
            (".zip", Self::Zip),
            (".jsonl", Self::Jsonl),
            (".csv", Self::Csv),
            (".parquet", Self::Parquet),
            (".magnets", Self::Magnets),
        ];
        if let Some((_, format)) = by_suffix.into_iter().find(|(suffix, _)| name.ends_with(suffix)) {
            return Ok(format);
        }
        match OTHERS.into_iter().find(|suffix| name.ends_with(suffix)) {
            Some(suffix) => Err(ExportError::UnknownSuffix { dest: dest.to_owned(), suffix }),
            None => Ok(Self::Folder),
        }
    }
}

/// The folders of the torrents in an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Layout {
    /// In none.
    #[default]
    Flat,
    /// One per site: the selected site, or the one that stored the torrent first.
    BySite,
    /// One per day of first storing, `2026-11-21`, UTC.
    ByDate,
    /// One per category, `PC-ISO`.
    ByCategory,
}

/// Tells the category of a torrent with these files: its number and its name.
#[derive(Clone)]
pub struct CategoryOf(pub Arc<TellCategory>);

/// See [`CategoryOf`].
pub type TellCategory = dyn Fn(&TorrentRow, &[ContainedFile]) -> (u32, String) + Send + Sync;

impl Default for CategoryOf {
    fn default() -> Self {
        Self(Arc::new(|_, _| (MISC, full_name(MISC).unwrap_or_default())))
    }
}

impl std::fmt::Debug for CategoryOf {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("CategoryOf")
    }
}

/// What to export, and where. The default is everything, in no category.
#[derive(Clone, Debug, Default)]
pub struct ExportOptions {
    pub dest: PathBuf,
    /// None: by the suffix of `dest`.
    pub format: Option<ExportFormat>,
    pub layout: Layout,
    /// Only torrents first stored, and magnets first seen, at this time or later.
    pub since: Option<UnixMillis>,
    /// Only torrents first stored, and magnets first seen, before this time.
    pub until: Option<UnixMillis>,
    /// Only torrents that have a source on this site, and magnets first seen there.
    pub site: Option<String>,
    /// Only the torrents with these archive keys, and no magnets.
    pub keys: Option<HashSet<Vec<u8>>>,
    /// Without the torrents, and without the magnets, with these archive keys.
    pub without: HashSet<Vec<u8>>,
    pub without_magnets: HashSet<Vec<u8>>,
    /// The summary has the keys of what was exported.
    pub notes_keys: bool,
    /// For others: without what says where torrents are from.
    pub share: Option<Share>,
    pub category: CategoryOf,
}

impl ExportOptions {
    fn selects(&self, row: &TorrentRow) -> bool {
        let key = row.facts.infohashes.key();
        let is_of = |site: &str| *row.site == *site || row.sources.iter().any(|source| *source.site == *site);
        self.since.is_none_or(|since| row.stored >= since)
            && self.until.is_none_or(|until| row.stored < until)
            && self.keys.as_ref().is_none_or(|keys| keys.contains(key))
            && !self.without.contains(key)
            && self.site.as_deref().is_none_or(is_of)
    }

    fn selects_magnet(&self, row: &MagnetRow) -> bool {
        !row.stored
            && !self.without_magnets.contains(row.facts.infohashes.key())
            && self.keys.is_none()
            && self.share.is_none()
            && self.since.is_none_or(|since| row.first_seen >= since)
            && self.until.is_none_or(|until| row.first_seen < until)
            && self.site.as_deref().is_none_or(|site| *row.site == *site)
    }

    /// True for a private torrent that is not shared.
    fn withholds(&self, row: &TorrentRow) -> bool {
        row.facts.private && self.share.as_ref().is_some_and(|share| !share.with_private)
    }
}

/// What leaves with a torrent that is given to others: no tracker, web seed, node, comment or source, and no magnets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Share {
    /// The tracker that is named in the place of its own.
    pub announce: Option<String>,
    /// Private torrents (BEP 27), too.
    pub with_private: bool,
}

/// The progress of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    /// Torrents in the export so far.
    pub torrents: u64,
    /// Bytes of their files.
    pub torrent_bytes: u64,
    /// Rows of the database read, selected or not.
    pub rows: u64,
}

/// The result of an export.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ExportSummary {
    #[serde(serialize_with = "lossy")]
    pub dest: PathBuf,
    pub format: ExportFormat,
    pub layout: Layout,
    pub torrents: u64,
    /// Bytes of the torrent files.
    pub torrent_bytes: u64,
    pub magnets: u64,
    /// Length of the archive file; None for a folder.
    pub dest_bytes: Option<u64>,
    /// Files of a folder that already existed with the right content.
    pub unchanged: u64,
    /// Files of a previous export to the same folder that are no longer part of it.
    pub removed: u64,
    /// Private torrents that are not shared.
    pub private_left_out: u64,
    /// Torrents left out because their file is lost, damaged or unreadable.
    pub left_out: LeftOut,
    /// Archive keys of the torrents, and of the magnets, in the export, if they were asked for.
    #[serde(skip)]
    pub keys: Vec<Vec<u8>>,
    #[serde(skip)]
    pub magnet_keys: Vec<Vec<u8>>,
}

impl ExportSummary {
    /// True if every selected torrent is in the export.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.left_out.count == 0
    }
}

/// Torrents that could not be exported.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LeftOut {
    pub count: u64,
    /// The first `limits::FINDINGS_LISTED_MAX` of them.
    pub listed: Vec<LeftOutTorrent>,
}

/// A torrent that could not be exported, and why.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutTorrent {
    pub infohash: String,
    pub name: String,
    /// Where its file should be.
    #[serde(serialize_with = "lossy")]
    pub file: PathBuf,
    pub reason: String,
}

/// Why there is no export. The second line is the hint.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error("{dest}: {suffix} files are not supported\nhint: name it .tar.zst or .zip, or .jsonl, .csv, .parquet or .magnets for a list, or choose the format", dest = dest.display())]
    UnknownSuffix { dest: PathBuf, suffix: &'static str },
    #[error("site {site} is not in the database\nhint: {}", known_sites(known))]
    UnknownSite { site: String, known: Vec<String> },
    #[error("{dest}: is a folder with other things in it, not an export of gleaner ({detail})\nhint: name a new folder, or an empty one", dest = dest.display())]
    NotAnExport { dest: PathBuf, detail: String },
    #[error("{dest}: is a folder\nhint: name a file in it", dest = dest.display())]
    IsFolder { dest: PathBuf },
    #[error("{dest}: is a file\nhint: name a folder, or end the name in .tar.zst or .zip", dest = dest.display())]
    IsFile { dest: PathBuf },
    /// A device, a pipe, a socket, or a link: renaming a file to its name would replace it.
    #[error("{dest}: {what}\nhint: name a {kind} that gleaner may replace, or a new one", dest = dest.display())]
    NotReplaceable { dest: PathBuf, what: String, kind: &'static str },
    #[error("{dest}: is a file, not an export of gleaner (it is no {kind})\nhint: name a new file", dest = dest.display())]
    Foreign { dest: PathBuf, kind: &'static str },
    #[error("{dest}: {obstacle} is {what}, not a folder\nhint: name another folder", dest = dest.display(), obstacle = obstacle.display())]
    InTheWay { dest: PathBuf, obstacle: PathBuf, what: Place },
    #[error("{dest}: the folder {parent} does not exist\nhint: mkdir -p {parent}", dest = dest.display(), parent = parent.display())]
    NoParent { dest: PathBuf, parent: PathBuf },
    #[error("{dest}: names no file\nhint: end the path in the name of the export", dest = dest.display())]
    NoName { dest: PathBuf },
    #[error("{dest}: another export is writing it\nhint: wait for its end, or export to another place", dest = dest.display())]
    Busy { dest: PathBuf },
    #[error("{path}: {what}; the unfinished export was removed\nhint: {hint}", path = path.display())]
    Full { path: PathBuf, what: &'static str, hint: &'static str },
    #[error("{path}: cannot be written ({detail})\nhint: export to a folder that you may write to", path = path.display())]
    ReadOnly { path: PathBuf, detail: io::Error },
    #[error("{path}: {action}: {detail}\nhint: check the disk, then export again", path = path.display())]
    Io { path: PathBuf, action: &'static str, detail: io::Error },
    /// The caller was dropped before the end.
    #[error("the export was interrupted; nothing of it is left")]
    Interrupted,
}

impl ExportError {
    fn io(path: &Path, action: &'static str, detail: io::Error) -> Self {
        let path = path.to_owned();
        if let Some((what, hint)) = place::used_up(&detail) {
            let is_of_disk = detail.kind() != io::ErrorKind::FileTooLarge;
            let hint = if is_of_disk { "make room on the disk, or export to another one" } else { hint };
            return Self::Full { path, what, hint };
        }
        match detail.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, detail },
            _ => Self::Io { path, action, detail },
        }
    }
}

fn known_sites(known: &[String]) -> String {
    match known {
        [] => "crawl a site first: nothing is in the database yet".to_owned(),
        known => format!("known sites: {}", known.join(", ")),
    }
}

/// The input of the writer.
enum Page {
    Torrents(Vec<TorrentRow>),
    Magnets(Vec<MagnetRow>),
    /// All rows were sent. A channel that closes without it belongs to a caller that was dropped.
    End,
}

/// Exports the archive. `progress` is called after every page of rows.
///
/// Files are written on a separate thread, so that the caller's runtime stays responsive.
///
/// # Errors
/// [`ExportError`]; then nothing of the export is left (an existing folder keeps its content and may have some of
/// the new files).
pub async fn export(
    db: &dyn Reader,
    archive: &Arc<Archive>,
    options: &ExportOptions,
    progress: &mut dyn FnMut(Progress),
) -> Result<ExportSummary, ExportError> {
    // A slash at the end changes what system calls do with a name, and not what is meant.
    let options = &ExportOptions { dest: options.dest.components().collect(), ..options.clone() };
    let format = match options.format {
        Some(format) => format,
        None => ExportFormat::of_dest(&options.dest)?,
    };
    check_site(db, options.site.as_deref()).await?;
    // One page waits while another is written.
    let (pages, inbox) = mpsc::channel(1);
    let (told, mut hear) = mpsc::unbounded_channel();
    let job = write::Job { archive: Arc::clone(archive), options: options.clone(), format, told };
    let mut writer = tokio::task::spawn_blocking(move || write::run(&job, inbox));

    let fed = tokio::select! {
        // A writer that ends before the rows do has failed.
        written = &mut writer => Err(written),
        fed = feed(db, &pages, &mut hear, progress) => Ok(fed),
    };
    drop(pages);
    let written = match fed {
        Err(written) => joined(written),
        Ok(fed) => {
            let written = joined(writer.await);
            // A database error ends the feed early, and so the writer: return the database error.
            fed?;
            written
        }
    };
    while let Ok(at) = hear.try_recv() {
        progress(at);
    }
    written
}

fn joined(
    written: Result<Result<ExportSummary, ExportError>, tokio::task::JoinError>,
) -> Result<ExportSummary, ExportError> {
    match written {
        Ok(written) => written,
        Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
        Err(_) => Err(ExportError::Interrupted),
    }
}

async fn feed(
    db: &dyn Reader,
    pages: &mpsc::Sender<Page>,
    hear: &mut mpsc::UnboundedReceiver<Progress>,
    progress: &mut dyn FnMut(Progress),
) -> Result<(), ExportError> {
    let mut send = async |page| {
        // The caller sees that the writer ended, and why.
        let sent = pages.send(page).await.is_ok();
        while let Ok(at) = hear.try_recv() {
            progress(at);
        }
        sent
    };
    let mut after = None;
    loop {
        let rows = db.torrents(after, limits::EXPORT_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.facts.infohashes.key().to_vec());
        if !send(Page::Torrents(rows)).await {
            return Ok(());
        }
    }
    let mut after = None;
    loop {
        let rows = db.magnets(after, limits::EXPORT_ROWS_MAX).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.facts.infohashes.key().to_vec());
        if !send(Page::Magnets(rows)).await {
            return Ok(());
        }
    }
    send(Page::End).await;
    Ok(())
}

async fn check_site(db: &dyn Reader, site: Option<&str>) -> Result<(), ExportError> {
    let Some(site) = site else { return Ok(()) };
    let mut known: Vec<String> = db.hosts().await?.into_iter().map(|host| host.site.into()).collect();
    known.sort_unstable();
    known.dedup();
    if known.iter().any(|known| known == site) {
        return Ok(());
    }
    Err(ExportError::UnknownSite { site: site.to_owned(), known })
}
