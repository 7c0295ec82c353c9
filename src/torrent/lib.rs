//! Torrents: recognition of bodies, names and infohashes, and storage on the disk.
//!
//! `bencode` finds the spans, `metainfo` reads them, `layout` adds up the files, `magnet` parses links that only name a torrent, `origin` reads where one says it is from,
//! `contents` what it holds, `shared` leaves out where it is from, `archive`
//! keeps one file per infohash. Nothing here knows of HTTP, of rules or of the crawl database.

pub mod limits;

pub mod archive;
pub mod bencode;
pub mod contents;
mod layout;
pub mod magnet;
pub mod metainfo;
pub mod origin;
pub mod shared;

use std::fmt;

/// The names of one torrent: SHA-1 (v1, BEP 3) and SHA-256 (v2, BEP 52) of the raw bytes of its `info` value.
/// At least one of them is set; a hybrid torrent has both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Infohashes {
    /// SHA-1 of the `info` dictionary (BEP 3).
    pub v1: Option<[u8; 20]>,
    /// SHA-256 of the `info` dictionary (BEP 52).
    pub v2: Option<[u8; 32]>,
}

impl Infohashes {
    /// The hash that names the torrent in the archive and in the database, in lower-case hex: v1 if there is one (40
    /// characters), else v2 (64 characters).
    #[must_use]
    pub fn key_hex(&self) -> String {
        data_encoding::HEXLOWER.encode(self.key())
    }

    /// The bytes of [`Self::key_hex`]: 20 or 32. Empty only for the invalid value without any hash.
    #[must_use]
    pub fn key(&self) -> &[u8] {
        match (&self.v1, &self.v2) {
            (Some(v1), _) => v1,
            (None, Some(v2)) => v2,
            (None, None) => &[],
        }
    }

    /// `v1`, `v2` or `hybrid`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match (self.v1.is_some(), self.v2.is_some()) {
            (true, true) => "hybrid",
            (false, true) => "v2",
            _ => "v1",
        }
    }
}

impl fmt::Display for Infohashes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.key_hex())
    }
}
