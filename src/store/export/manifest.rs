//! The lines of `manifest.jsonl` and `magnets.jsonl`: the metadata of each exported torrent. Pure.

use std::borrow::Cow;

use data_encoding::HEXLOWER;
use serde::Serialize;

use crate::crawldb::{MagnetRow, Source, TorrentRow};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::without_keys;
use gleaner_torrent::Infohashes;

/// Name of the list of torrents, at the root of every export.
pub const MANIFEST: &str = "manifest.jsonl";

/// Name of the list of torrents known only by a magnet link.
pub const MAGNETS: &str = "magnets.jsonl";

/// One line of the manifest. Hashes are lower-case hex, times RFC 3339 in UTC.
#[derive(Debug, Serialize)]
pub struct TorrentLine<'a> {
    pub infohash_v1: Option<String>,
    pub infohash_v2: Option<String>,
    /// `v1`, `v2` or `hybrid`.
    pub kind: &'static str,
    /// Of the torrent file.
    pub sha256: String,
    pub name: &'a str,
    /// Sum of the payload's file lengths.
    pub payload_bytes: u64,
    pub file_count: u32,
    /// Length of the torrent file.
    pub metainfo_bytes: u32,
    /// BEP 27.
    pub private: bool,
    /// `creation date` of the torrent file.
    pub created: Option<String>,
    /// When it was added to the archive; None of one that is given to others.
    pub stored: Option<String>,
    /// The site that stored it first; None for a file adopted by `verify --repair`.
    pub site: Option<&'a str>,
    pub sources: Vec<SourceLine<'a>>,
    /// Of the torrent file, within the export, with `/`.
    pub path: &'a str,
}

#[derive(Debug, Serialize)]
struct JournalLine<'a> {
    infohash_v1: Option<String>,
    sha256: String,
    path: &'a str,
}

/// Where a torrent was found.
#[derive(Clone, Debug, Serialize)]
pub struct SourceLine<'a> {
    pub site: &'a str,
    pub url: Cow<'a, str>,
    pub via: Option<Cow<'a, str>>,
    /// The site's own word for what it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    pub first_seen: String,
    pub last_seen: String,
}

/// One line of the list of magnets.
#[derive(Debug, Serialize)]
pub struct MagnetLine<'a> {
    pub infohash_v1: Option<String>,
    pub infohash_v2: Option<String>,
    pub kind: &'static str,
    pub name: Option<&'a str>,
    /// As found.
    pub link: &'a str,
    pub site: &'a str,
    /// The page that has the link, without keys of a member.
    pub page: Cow<'a, str>,
    pub first_seen: String,
}

/// The manifest line of a torrent, without line feed.
#[must_use]
pub fn torrent_line(row: &TorrentRow, path: &str) -> String {
    json(&line(row, path))
}

/// The line of one that is given to others: with the digest and length of what they get, and without where it is from.
#[must_use]
pub fn shared_line(row: &TorrentRow, path: &str, sha256: &[u8; 32], bytes: u64) -> String {
    let metainfo_bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    json(&TorrentLine {
        sha256: HEXLOWER.encode(sha256),
        metainfo_bytes,
        created: None,
        stored: None,
        site: None,
        sources: Vec::new(),
        ..line(row, path)
    })
}

fn line<'a>(row: &'a TorrentRow, path: &'a str) -> TorrentLine<'a> {
    let facts = &row.facts;
    let (infohash_v1, infohash_v2) = hex(&facts.infohashes);
    TorrentLine {
        infohash_v1,
        infohash_v2,
        kind: facts.infohashes.kind(),
        sha256: HEXLOWER.encode(&facts.sha256),
        name: &facts.name,
        payload_bytes: facts.payload_bytes,
        file_count: facts.file_count,
        metainfo_bytes: facts.metainfo_bytes,
        private: facts.private,
        created: facts.created_unix.and_then(created),
        stored: Some(row.stored.rfc3339()),
        site: Some(&*row.site).filter(|site| !site.is_empty()),
        sources: row.sources.iter().map(source_line).collect(),
        path,
    }
}

/// The journal line of a file that is about to be added to a folder: only what [`path_of_line`] reads.
#[must_use]
pub fn journal_line(path: &str, sha256: &[u8; 32]) -> String {
    json(&JournalLine { infohash_v1: None, sha256: HEXLOWER.encode(sha256), path })
}

/// The line of a magnet, without line feed.
#[must_use]
pub fn magnet_line(row: &MagnetRow) -> String {
    let (infohash_v1, infohash_v2) = hex(&row.facts.infohashes);
    json(&MagnetLine {
        infohash_v1,
        infohash_v2,
        kind: row.facts.infohashes.kind(),
        name: row.facts.name.as_deref(),
        link: &row.facts.link,
        site: &row.site,
        page: without_keys(&row.page),
        first_seen: row.first_seen.rfc3339(),
    })
}

/// The day of a time, `2026-11-21`, in UTC.
#[must_use]
pub fn day(at: UnixMillis) -> String {
    let text = at.rfc3339();
    text.split_once('T').map_or_else(|| text.clone(), |(day, _)| day.to_owned())
}

/// The path in a manifest line; None for any other line.
#[must_use]
pub fn path_of_line(line: &str) -> Option<String> {
    #[derive(serde::Deserialize)]
    struct Path {
        path: String,
        // Required, so that another program's list is not taken for ours.
        #[serde(rename = "infohash_v1")]
        _infohash_v1: Option<String>,
        #[serde(rename = "sha256")]
        _sha256: String,
    }
    serde_json::from_str::<Path>(line).ok().map(|line| line.path)
}

pub(super) fn source_line(source: &Source) -> SourceLine<'_> {
    SourceLine {
        site: &source.site,
        url: without_keys(&source.url),
        via: source.via.as_deref().map(without_keys),
        label: source.label.as_ref().map(|label| &*label.text),
        first_seen: source.first_seen.rfc3339(),
        last_seen: source.last_seen.rfc3339(),
    }
}

fn hex(infohashes: &Infohashes) -> (Option<String>, Option<String>) {
    (infohashes.v1.map(|hash| HEXLOWER.encode(&hash)), infohashes.v2.map(|hash| HEXLOWER.encode(&hash)))
}

/// A `creation date` is any 64-bit number; years beyond 9999 are no date.
pub(super) fn created(seconds: i64) -> Option<String> {
    let at = time::OffsetDateTime::from_unix_timestamp(seconds).ok()?;
    at.format(&time::format_description::well_known::Rfc3339).ok()
}

fn json(line: &impl Serialize) -> String {
    // Strings, numbers and lists of them: serde_json cannot fail on these.
    serde_json::to_string(line).unwrap_or_default()
}
