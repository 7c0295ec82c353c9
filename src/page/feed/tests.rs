//! Unit tests of `feed`.

use super::*;

fn hrefs(body: &str) -> Vec<String> {
    links(body.as_bytes(), UTF_8).links.into_iter().map(|link| link.href.into_owned()).collect()
}

#[test]
fn roots_are_found_behind_whatever_may_stand_before_them() {
    for feed in [
        "<rss>",
        "\u{feff}\n<?xml version='1.0'?>\n<!-- <html> --><?xml-stylesheet href='a>b'?><rss version='2.0'>",
        "<!DOCTYPE rss><RSS>",
        "<feed xmlns='http://www.w3.org/2005/Atom'>",
        "<rdf:RDF\n>",
        "<urlset/>",
        "<sitemapindex",
    ] {
        assert!(is_feed(feed.as_bytes(), UTF_8), "{feed}");
    }
    for other in ["", "<", "<html><rss>", "<!-- <rss>", "<?xml", "<rssx>", "rss", "<feedback>", "text <rss>"] {
        assert!(!is_feed(other.as_bytes(), UTF_8), "{other}");
    }
    let utf16: Vec<u8> = "\u{feff}<?xml version='1.0'?><rss>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(is_feed(&utf16, encoding_rs::UTF_16LE));
}

#[test]
fn a_document_type_with_entities_stands_before_a_root_as_well() {
    let front = "<?xml version='1.0'?><!DOCTYPE rss [<!ENTITY a 'b'><!ENTITY c SYSTEM 'file:///etc/passwd'>]>";
    let body = format!("{front}<rss><title>&a;&c;</title><enclosure url='/x.torrent'/></rss>");
    assert!(is_feed(body.as_bytes(), UTF_8));
    assert_eq!(hrefs(&body), ["/x.torrent"]);
    let page = format!("{front}<html><a href=/>");
    assert!(!is_feed(page.as_bytes(), UTF_8));
}

#[test]
fn entities_of_a_dtd_are_not_expanded() {
    let mut bomb = String::from("<!DOCTYPE rss [<!ENTITY a0 'lol'>");
    for level in 1..30 {
        bomb.push_str(&format!("<!ENTITY a{level} '&a{0};&a{0};&a{0};&a{0};'>", level - 1));
    }
    bomb.push_str("<!ENTITY f SYSTEM 'file:///etc/passwd'>]><rss><link>http://a/&a29;&f;&amp;&#x41;</link></rss>");
    assert_eq!(hrefs(&bomb), ["http://a/&a29;&f;&A"]);
}

#[test]
fn a_fault_keeps_what_stood_before_it() {
    let good = "<rss><item><link>http://a/1</link></item><item>";
    for fault in
        ["<link>http://a/cut", "<link", "<!-- never closed", "<![CDATA[ never closed", "</rss></rss>", "<>", "\0"]
    {
        assert_eq!(hrefs(&format!("{good}{fault}")), ["http://a/1"], "{fault:?}");
    }
    assert_eq!(
        hrefs("<rss><link>http://a/1</wrong></link><link>http://a/2?x=1&y=2</link>"),
        ["http://a/1", "http://a/2?x=1&y=2"]
    );
}

#[test]
fn links_are_capped() {
    let body = format!("<urlset>{}</urlset>", "<loc>a</loc>".repeat(LINKS_PER_PAGE_MAX + 1));
    let page = links(body.as_bytes(), UTF_8);
    assert_eq!((page.links.len(), page.truncated), (LINKS_PER_PAGE_MAX, true));
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_to_an_end(body: Vec<u8>, soup in "(<[a-z!?/]{0,3}|>|&#?[a-z0-9]{0,3};?|link|loc|\"|'|=|]]>|<!\\[CDATA\\[){0,40}") {
        let _ = (is_feed(&body, UTF_8), links(&body, UTF_8), is_feed(soup.as_bytes(), UTF_8), links(soup.as_bytes(), UTF_8));
    }
}
