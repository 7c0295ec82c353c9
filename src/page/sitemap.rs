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
mod tests {
    use std::io::Write;

    use encoding_rs::UTF_8;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(text).unwrap();
        encoder.finish().unwrap()
    }

    fn hrefs(text: &[u8]) -> Vec<String> {
        links(text, UTF_8).links.into_iter().map(|link| link.href.into_owned()).collect()
    }

    const INDEX: &[u8] =
        b"<?xml version='1.0'?><!-- x --><sitemapindex><sitemap><loc>http://a.example/1.xml.gz</loc></sitemap>\
        </sitemapindex>";
    const URLS: &[u8] = b"<urlset><url><loc>http://a.example/?a=1&amp;b=2</loc></url></urlset>";

    #[test]
    fn an_index_is_told_from_a_sitemap() {
        assert!(is_index(INDEX, UTF_8));
        assert!(!is_index(URLS, UTF_8));
        assert!(!is_index(b"http://a.example/sitemapindex", UTF_8));
        assert_eq!(hrefs(INDEX), ["http://a.example/1.xml.gz"]);
        assert_eq!(hrefs(URLS), ["http://a.example/?a=1&b=2"]);
    }

    #[test]
    fn a_gzip_file_is_unpacked_as_far_as_it_is_whole() {
        assert_eq!(&*unpacked(&packed(URLS)), URLS);
        assert_eq!(&*unpacked(&[packed(&URLS[..20]), packed(&URLS[20..])].concat()), URLS, "two members");
        assert_eq!(&*unpacked(URLS), URLS);
        let many: Vec<u8> = (0..5_000).flat_map(|n| format!("http://a.example/{n}\n").into_bytes()).collect();
        let half = packed(&many);
        let text = unpacked(&half[..half.len() / 2]);
        assert!(!text.is_empty() && many.starts_with(&text), "{}", text.len());
    }

    #[test]
    fn a_bomb_is_unpacked_to_its_cap() {
        let bomb = packed(&vec![b' '; SITEMAP_BYTES_MAX + 1]);
        assert_eq!(unpacked(&bomb).len(), SITEMAP_BYTES_MAX);
    }

    #[test]
    fn a_plain_text_gives_its_lines() {
        let text = b"http://a.example/1\r\n  https://a.example/2 \n# no URL\n/relative\n";
        assert_eq!(hrefs(text), ["http://a.example/1", "https://a.example/2"]);
    }
}
