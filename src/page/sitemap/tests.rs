//! Unit tests of `sitemap`.

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
    let prefixed = String::from_utf8_lossy(INDEX).replace("<s", "<m:s").replace("<loc", "<m:loc");
    let prefixed = prefixed.replace("</s", "</m:s").replace("</loc", "</m:loc");
    assert!(is_index(prefixed.as_bytes(), UTF_8));
    assert_eq!(hrefs(prefixed.as_bytes()), hrefs(INDEX));
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
