//! Lists: what the archive knows of its torrents, without their files. One record for each, as a line of JSON or CSV, a row of Parquet, or a magnet
//! link.

use std::fmt::Write as _;
use std::io::{BufWriter, Write as _};
use std::path::Path;

use data_encoding::HEXLOWER;
use schemars::JsonSchema;
use serde::Serialize;
use url::form_urlencoded::byte_serialize;

use super::manifest::{SourceLine, created, source_line};
use super::table::Table;
use super::whole_file::WholeFile;
use super::{ExportError, ExportFormat};
use crate::crawldb::{MagnetRow, TorrentRow};
use gleaner_base::url::{MASK, tracker_without_keys, without_keys_in};
use gleaner_torrent::contents::Contents;
use gleaner_torrent::origin::Origin;

/// What is known of a torrent. Hashes are lower-case hex, times RFC 3339 in UTC, keys of members masked.
#[derive(Clone, Debug, Serialize)]
pub struct Record<'a> {
    pub infohash_v1: Option<String>,
    pub infohash_v2: Option<String>,
    /// `v1`, `v2` or `hybrid`.
    pub kind: &'static str,
    pub name: &'a str,
    /// Sum of the payload's file lengths.
    pub payload_bytes: u64,
    pub file_count: u32,
    /// Number and name of Newznab's category.
    pub category: u32,
    pub category_name: String,
    /// BEP 27.
    pub private: bool,
    pub piece_bytes: u64,
    /// v1 pieces.
    pub pieces: u64,
    /// `creation date` of the torrent file.
    pub created: Option<String>,
    pub created_by: Option<String>,
    pub comment: Option<String>,
    pub trackers: Vec<String>,
    /// BEP 19.
    pub web_seeds: Vec<String>,
    /// BEP 38: infohashes of torrents that share files with it, and names of collections.
    pub similar: Vec<String>,
    pub collections: Vec<String>,
    /// BEP 39.
    pub update_url: Option<String>,
    /// Length and digest of the torrent file.
    pub metainfo_bytes: u32,
    pub sha256: String,
    /// When it was added to the archive, and the site that stored it first.
    pub stored: Option<String>,
    pub site: Option<&'a str>,
    pub sources: Vec<SourceLine<'a>>,
    pub files: Vec<FileRecord<'a>>,
}

/// A file of a payload.
#[derive(Clone, Debug, Serialize)]
pub struct FileRecord<'a> {
    pub path: &'a str,
    pub bytes: u64,
}

/// What a torrent file says beside names and lengths, keys of members masked.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct FileFacts {
    pub piece_bytes: u64,
    /// v1 pieces.
    pub pieces: u64,
    pub created_by: Option<String>,
    pub comment: Option<String>,
    pub trackers: Vec<String>,
    /// BEP 19.
    pub web_seeds: Vec<String>,
    /// BEP 38: infohashes of torrents that share files with it, and names of collections.
    pub similar: Vec<String>,
    pub collections: Vec<String>,
    /// BEP 39.
    pub update_url: Option<String>,
}

impl FileFacts {
    /// Of the parts that were read of a file.
    #[must_use]
    pub fn of(contents: &Contents, origin: &Origin) -> Self {
        let masked = |texts: &[String]| texts.iter().map(|text| tracker_without_keys(text)).collect();
        let text = |text: &Option<String>| text.as_deref().map(|text| without_keys_in(text).into_owned());
        Self {
            piece_bytes: contents.piece_bytes,
            pieces: contents.pieces,
            created_by: text(&contents.created_by),
            comment: text(&origin.comment),
            trackers: masked(&origin.trackers),
            web_seeds: masked(&contents.web_seeds),
            similar: contents.similar.iter().map(|hash| HEXLOWER.encode(hash)).collect(),
            collections: contents.collections.clone(),
            update_url: text(&contents.update_url),
        }
    }
}

/// What a torrent file says, and what it is filed under.
pub(super) struct Told {
    pub contents: Contents,
    pub origin: Origin,
    pub category: (u32, String),
}

impl<'a> Record<'a> {
    pub(super) fn of(row: &'a TorrentRow, told: &'a Told) -> Self {
        let (facts, Told { contents, origin, category }) = (&row.facts, told);
        let said = FileFacts::of(contents, origin);
        Self {
            infohash_v1: facts.infohashes.v1.map(|hash| HEXLOWER.encode(&hash)),
            infohash_v2: facts.infohashes.v2.map(|hash| HEXLOWER.encode(&hash)),
            kind: facts.infohashes.kind(),
            name: &facts.name,
            payload_bytes: facts.payload_bytes,
            file_count: facts.file_count,
            category: category.0,
            category_name: category.1.clone(),
            private: facts.private,
            piece_bytes: said.piece_bytes,
            pieces: said.pieces,
            created: facts.created_unix.and_then(created),
            created_by: said.created_by,
            comment: said.comment,
            trackers: said.trackers,
            web_seeds: said.web_seeds,
            similar: said.similar,
            collections: said.collections,
            update_url: said.update_url,
            metainfo_bytes: facts.metainfo_bytes,
            sha256: HEXLOWER.encode(&facts.sha256),
            stored: Some(row.stored.rfc3339()),
            site: Some(&*row.site).filter(|site| !site.is_empty()),
            sources: row.sources.iter().map(source_line).collect(),
            files: contents.files.iter().map(|file| FileRecord { path: &file.path, bytes: file.bytes }).collect(),
        }
    }

    /// Without what says where it is from.
    pub(super) fn shared(self, announce: Option<&str>) -> Self {
        Self {
            created: None,
            comment: None,
            created_by: None,
            stored: None,
            trackers: announce.map(str::to_owned).into_iter().collect(),
            web_seeds: Vec::new(),
            update_url: None,
            site: None,
            sources: Vec::new(),
            ..self
        }
    }
}

/// A list being written; nothing exists under its name until [`ListFile::finish`].
pub(super) enum ListFile {
    Jsonl(BufWriter<WholeFile>),
    Csv(BufWriter<WholeFile>),
    Magnets(BufWriter<WholeFile>),
    Parquet(Box<Table>),
}

impl ListFile {
    pub fn begin(format: ExportFormat, dest: &Path) -> Result<Self, ExportError> {
        let file = BufWriter::new(WholeFile::begin(dest)?);
        Ok(match format {
            ExportFormat::Csv => {
                let mut file = file;
                write(&mut file, dest, &CSV_HEAD.join(","))?;
                Self::Csv(file)
            }
            ExportFormat::Magnets => Self::Magnets(file),
            ExportFormat::Parquet => Self::Parquet(Box::new(Table::begin(file, dest)?)),
            _ => Self::Jsonl(file),
        })
    }

    pub fn put(&mut self, record: &Record<'_>, dest: &Path) -> Result<(), ExportError> {
        match self {
            // Strings, numbers and lists of them: serde_json cannot fail on these.
            Self::Jsonl(file) => write(file, dest, &serde_json::to_string(record).unwrap_or_default()),
            Self::Csv(file) => write(file, dest, &csv_line(record)),
            Self::Magnets(file) => write(file, dest, &magnet_of(record)),
            Self::Parquet(table) => table.put(record, dest),
        }
    }

    /// Adds a torrent that is known by its magnet link alone; true if the list has such.
    pub fn put_magnet(&mut self, row: &MagnetRow, dest: &Path) -> Result<bool, ExportError> {
        match self {
            Self::Magnets(file) => write(file, dest, &row.facts.link).map(|()| true),
            _ => Ok(false),
        }
    }

    /// Its length in bytes.
    pub fn finish(self, dest: &Path) -> Result<u64, ExportError> {
        let file = match self {
            Self::Parquet(table) => table.finish(dest)?,
            Self::Jsonl(file) | Self::Csv(file) | Self::Magnets(file) => file,
        };
        let whole = file.into_inner().map_err(|error| ExportError::io(dest, "write", error.into_error()))?;
        whole.finish()
    }
}

fn write(file: &mut BufWriter<WholeFile>, dest: &Path, line: &str) -> Result<(), ExportError> {
    let written = file.write_all(line.as_bytes()).and_then(|()| file.write_all(b"\n"));
    written.map_err(|error| ExportError::io(dest, "write", error))
}

/// Columns of a CSV list: what fits in one cell. Lists have one element a line.
const CSV_HEAD: [&str; 20] = [
    "infohash_v1",
    "infohash_v2",
    "kind",
    "name",
    "payload_bytes",
    "file_count",
    "category",
    "category_name",
    "private",
    "piece_bytes",
    "pieces",
    "created",
    "created_by",
    "comment",
    "trackers",
    "web_seeds",
    "metainfo_bytes",
    "sha256",
    "stored",
    "site",
];

fn csv_line(record: &Record<'_>) -> String {
    let text = |text: &Option<String>| text.clone().unwrap_or_default();
    let cells: [String; CSV_HEAD.len()] = [
        text(&record.infohash_v1),
        text(&record.infohash_v2),
        record.kind.to_owned(),
        record.name.to_owned(),
        record.payload_bytes.to_string(),
        record.file_count.to_string(),
        record.category.to_string(),
        record.category_name.clone(),
        record.private.to_string(),
        record.piece_bytes.to_string(),
        record.pieces.to_string(),
        text(&record.created),
        text(&record.created_by),
        text(&record.comment),
        record.trackers.join("\n"),
        record.web_seeds.join("\n"),
        record.metainfo_bytes.to_string(),
        record.sha256.clone(),
        text(&record.stored),
        record.site.unwrap_or_default().to_owned(),
    ];
    cells.map(|cell| csv_cell(&cell)).join(",")
}

/// A cell (RFC 4180). What a spreadsheet would take for a formula begins with an apostrophe; NUL is left out.
fn csv_cell(text: &str) -> String {
    let text = text.replace('\0', "");
    let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
    let text = if is_formula { format!("'{text}") } else { text };
    if text.contains([',', '"', '\n', '\r']) { format!("\"{}\"", text.replace('"', "\"\"")) } else { text }
}

/// Its magnet link (BEP 9, BEP 52); trackers with a key of a member are left out.
fn magnet_of(record: &Record<'_>) -> String {
    let mut link = "magnet:?".to_owned();
    let mut and = "";
    if let Some(v1) = &record.infohash_v1 {
        link += &format!("xt=urn:btih:{v1}");
        and = "&";
    }
    if let Some(v2) = &record.infohash_v2 {
        link += &format!("{and}xt=urn:btmh:1220{v2}");
    }
    let escaped = |text: &str| byte_serialize(text.as_bytes()).collect::<String>();
    let _ = write!(link, "&dn={}&xl={}", escaped(record.name), record.payload_bytes);
    for tracker in record.trackers.iter().filter(|tracker| !record.private && !tracker.contains(MASK)) {
        let _ = write!(link, "&tr={}", escaped(tracker));
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_quoted_and_never_a_formula() {
        assert_eq!(csv_cell("a"), "a");
        assert_eq!(csv_cell("a,\"b\"\nc"), "\"a,\"\"b\"\"\nc\"");
        for formula in ["=1+1", "+1", "-1", "@x", "\tx", "\rx"] {
            assert!(csv_cell(formula).trim_start_matches('"').starts_with('\''), "{formula}");
        }
        assert_eq!(csv_cell("=cmd|' /C calc'!A0,x"), "\"'=cmd|' /C calc'!A0,x\"");
        assert_eq!(csv_cell("a\0b"), "ab");
    }
}
