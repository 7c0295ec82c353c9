//! Pages: what an HTML body points at, and which page of a series a URL is.
//!
//! Stands between `classify` (this body is a page) and `rules` (which of its links are wanted). `links` is the
//! pass that every page goes through: a byte scanner, because this pass is the CPU budget of a crawl. `tree` gives
//! the same answer from html5ever's tree, slowly; the tests hold the scanner to it. `feed` reads RSS, Atom and sitemaps. `encoded_links` finds and opens
//! magnet, thunder, flashget and qqdl links wherever they stand; `pagination` reads page numbers out of URLs; `noise` says whether a page has
//! changed.
//!
//! Nothing here does I/O, resolves a URL, or knows of rules, sites or the crawl database.

pub mod boards;
pub mod limits;
pub mod shortcut;

pub mod encoded_links;
mod entities;
pub mod feed;
pub mod fingerprint;
mod foreign;
mod frames;
pub mod links;
pub mod noise;
pub mod pagination;
pub mod scripted;
pub mod sitemap;
pub mod text;
mod tokens;
pub mod tree;

/// The fingerprint of a body as it came (xxh3, 64 bits): equal bodies are the same page (ALGORITHMS §3).
#[must_use]
pub fn fingerprint(body: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(body)
}
