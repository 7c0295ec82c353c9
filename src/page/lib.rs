//! Pages: the links of an HTML body, and the position of a URL in a series of pages.
//!
//! Comes between `classify` (this body is a page) and `rules` (which of its links are wanted). `links` is the pass
//! that every page goes through: a byte scanner, because this pass is the CPU budget of a crawl. `tree` gives the
//! same links from html5ever's tree, slowly; the tests compare the two. `feed` parses RSS, Atom, sitemaps and other
//! documents that list; `clicks` makes links of forms and handlers.
//! `encoded_links` finds and decodes magnet, thunder, flashget and qqdl links anywhere; `pagination` parses page
//! numbers in URLs; `noise` detects whether a page has changed.
//!
//! Nothing here does I/O, resolves a URL, or knows of rules, sites or the crawl database.

pub mod boards;
pub mod limits;
pub mod shortcut;

mod clicks;
pub mod encoded_links;
mod entities;
pub mod feed;
pub mod fingerprint;
mod foreign;
mod frames;
pub mod labels;
pub mod links;
mod near;
pub mod noise;
pub mod pagination;
pub mod scripted;
pub mod sitemap;
pub mod stated;
pub mod text;
mod tokens;
pub mod tree;

/// The fingerprint of a body as received (xxh3, 64 bits): equal bodies are the same page (ALGORITHMS §3).
#[must_use]
pub fn fingerprint(body: &[u8]) -> u64 {
    xxhash_rust::xxh3::xxh3_64(body)
}
