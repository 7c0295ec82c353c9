//! Sitemaps (sitemaps.org): unpacked, and distinguished from sitemap indexes and from plain lists of URLs. `feed`
//! reads their links.
//!
//! Never fails: a broken file yields everything before the error.

use std::borrow::Cow;
use std::io::Read;

use encoding_rs::Encoding;

use super::feed;
use super::links::{Link, LinkKind, PageLinks};
use crate::limits::{LINKS_PER_PAGE_MAX, SITEMAP_BYTES_MAX};

/// The sitemap itself, if the body is a gzip file; at most [`SITEMAP_BYTES_MAX`] bytes.
#[must_use]
pub fn unpacked(body: &[u8]) -> Cow<'_, [u8]> {
    if !is_packed(body) {
        return Cow::Borrowed(&body[..body.len().min(SITEMAP_BYTES_MAX)]);
    }
    let mut text = Vec::new();
    // A truncated file yields the URLs up to there.
    let _ = flate2::read::MultiGzDecoder::new(body).take(SITEMAP_BYTES_MAX as u64).read_to_end(&mut text);
    Cow::Owned(text)
}

/// True for the start of a gzip file (RFC 1952 §2.3.1).
#[must_use]
pub fn is_packed(body: &[u8]) -> bool {
    body.starts_with(&[0x1F, 0x8B, 8])
}

/// True for a list of sitemaps.
#[must_use]
pub fn is_index(text: &[u8], encoding: &'static Encoding) -> bool {
    feed::has_root(text, encoding, &[b"sitemapindex"])
}

/// The URLs of a sitemap: of XML, or of a plain text with one URL per line.
#[must_use]
pub fn links(text: &[u8], encoding: &'static Encoding) -> PageLinks<'static> {
    if feed::is_feed(text, encoding) {
        return feed::links(text, encoding);
    }
    let (text, _) = encoding.decode_with_bom_removal(text);
    let mut found = PageLinks::default();
    for line in text.lines().map(str::trim).filter(|line| line.starts_with("http://") || line.starts_with("https://")) {
        if found.links.len() >= LINKS_PER_PAGE_MAX {
            found.truncated = true;
            break;
        }
        found.links.push(Link { href: Cow::Owned(line.to_owned()), kind: LinkKind::Anchor });
    }
    found
}

#[cfg(test)]
mod tests;
