//! The classifier on bodies with wrong headers of every kind.

use proptest::prelude::*;

use super::*;

const TORRENT: &[u8] = b"d8:announce31:http://tracker.example/announce4:infod6:lengthi1e";
const WARNING: &[u8] = b"<br />\n<b>Warning</b>:  Undefined array key in <b>/srv/d.php</b> on line <b>8</b><br />\n";
const HTML: &[u8] = b"<!DOCTYPE html>\n<html><head><title>Login</title></head><body><a href='/'>d8:announce0:</a>";

fn facts(content_type: Option<&str>) -> HeaderFacts<'_> {
    HeaderFacts { content_type, accepts_pages: true, ..HeaderFacts::default() }
}

fn whole(content_type: Option<&str>, body: &[u8]) -> Decision {
    Classifier::new(facts(content_type)).feed(body, true)
}

/// The decision on a slow body, and the number of bytes it took.
fn slowly(content_type: Option<&str>, body: &[u8]) -> (Decision, usize) {
    let mut classifier = Classifier::new(facts(content_type));
    for length in 0..=body.len() {
        let decision = classifier.feed(&body[..length], length == body.len());
        if decision != Decision::NeedMore {
            return (decision, length);
        }
    }
    panic!("no decision on a complete body");
}

#[test]
fn a_document_with_zero_bytes_in_it_is_a_page() {
    let body = [HTML, b"\0\0<a href=/x.torrent>x</a>"].concat();
    for content_type in [None, Some("text/html"), Some("application/json")] {
        assert_eq!(whole(content_type, &body), Decision::Page(PageKind::Html), "{content_type:?}");
    }
    let noise = b"noise \0\x01 and no document at all, though it is called one";
    assert_eq!(whole(Some("text/html"), noise), Decision::Discard(DiscardReason::Binary(BinaryKind::Unknown)));
}

const TYPES: [Option<&str>; 12] = [
    None,
    Some(""),
    Some("application/x-bittorrent"),
    Some("Application/X-BitTorrent; name=\"x.torrent\""),
    Some("text/plain"),
    Some("text/plain; charset=utf-8"),
    Some("application/octet-stream"),
    Some("application/force-download"),
    Some("text/html; charset=utf-8; Cache-control:private"),
    Some("image/png"),
    Some("application/xml"),
    Some("garbage"),
];

#[test]
fn no_header_hides_a_torrent() {
    for content_type in TYPES {
        for junk in [
            &b""[..],
            b"\xef\xbb\xbf",
            b"\r\n\r\n",
            b"\xef\xbb\xbf\n",
            WARNING,
            b"\nNotice: Undefined index: d in /srv/d8.php\n",
        ] {
            let body = [junk, TORRENT, &vec![b'x'; 9_000]].concat();
            assert_eq!(whole(content_type, &body), Decision::Torrent, "{content_type:?} {}", junk.escape_ascii());
            assert_eq!(slowly(content_type, &body).0, Decision::Torrent, "{content_type:?} {}", junk.escape_ascii());
        }
    }
}

#[test]
fn every_first_key_is_recognised_in_its_first_bytes() {
    let firsts: [&[u8]; 8] = [
        b"d4:infod4:name",
        b"d13:announce-listll",
        b"d7:comment3:abc",
        b"d10:created by3:abc",
        b"d13:creation datei1700000000e",
        b"d5:nodesll",
        b"d8:url-listl",
        b"d18:azureus_propertiesd",
    ];
    for first in firsts {
        let (decision, at) = slowly(Some("text/plain"), first);
        assert_eq!(decision, Decision::Torrent, "{}", first.escape_ascii());
        assert!(at <= 30, "{at} bytes for {}", first.escape_ascii());
    }
}

#[test]
fn large_binaries_are_stopped_in_their_first_bytes() {
    use BinaryKind::{Archive, Audio, DiskImage, Document, Image, Program, Video};
    let mut boot = vec![0x33, 0xed];
    boot.resize(510, 0);
    boot.extend([0x55, 0xaa]);
    let mut tar = b"debian.iso".to_vec();
    tar.resize(257, 0);
    tar.extend(b"ustar");
    let cases: [(&[u8], BinaryKind); 11] = [
        (b"PK\x03\x04", Archive),
        (b"\x1f\x8b\x08", Archive),
        (&tar, Archive),
        (b"\x89PNG\r\n\x1a\n", Image),
        (b"\xff\xd8\xff\xe0", Image),
        (b"\0\0\0\x20ftypisom", Video),
        (b"\x1a\x45\xdf\xa3", Video),
        (b"ID3\x04", Audio),
        (b"%PDF-1.7", Document),
        (b"MZ\x90\0", Program),
        (&boot, DiskImage),
    ];
    for (front, kind) in cases {
        let body = [front, &[7, 0, 9].repeat(600)].concat();
        for content_type in
            [None, Some("application/x-bittorrent"), Some("application/octet-stream"), Some("text/html")]
        {
            let (decision, at) = slowly(content_type, &body);
            // A tar archive or a boot sector is recognised late; before that it is binary in any case.
            let expected = [
                Decision::Discard(DiscardReason::Binary(kind)),
                Decision::Discard(DiscardReason::Binary(BinaryKind::Unknown)),
            ];
            assert!(expected.contains(&decision), "{kind:?} {decision:?}");
            assert_eq!(whole(content_type, &body), expected[0]);
            assert!(at <= SNIFF_BYTES, "{kind:?} after {at} bytes");
        }
    }
    assert_eq!(slowly(None, &[0; 40_000]), (Decision::Discard(DiscardReason::Binary(DiskImage)), SNIFF_BYTES));
}

#[test]
fn html_where_a_file_was_promised_is_named_so() {
    let posing = Decision::Discard(DiscardReason::HtmlPosingAsTorrent);
    for content_type in
        ["application/x-bittorrent", "application/octet-stream", "application/force-download", "text/plain"]
    {
        assert_eq!(whole(Some(content_type), &HTML.replace_quote()), posing, "{content_type}");
    }
    let disposition = |disposition| {
        let facts = HeaderFacts { disposition: Some(disposition), ..facts(Some("text/html")) };
        Classifier::new(facts).feed(&HTML.replace_quote(), true)
    };
    assert_eq!(disposition("attachment; filename=\"x.torrent\""), posing);
    assert_eq!(disposition("attachment; filename*=UTF-8''%E7%A7%8D.torrent"), posing);
    assert_eq!(disposition("attachment; filename=x"), posing);
    assert_eq!(disposition("inline"), Decision::Page(PageKind::Html));
    assert_eq!(disposition("inline; filename=\"index.html\""), Decision::Page(PageKind::Html));
}

trait ReplaceQuote {
    fn replace_quote(&self) -> Vec<u8>;
}

impl ReplaceQuote for [u8] {
    /// The page without the torrent that it quotes.
    fn replace_quote(&self) -> Vec<u8> {
        self.iter().map(|byte| if *byte == b':' { b'.' } else { *byte }).collect()
    }
}

#[test]
fn pages_are_pages_even_when_they_quote_a_torrent() {
    for content_type in [None, Some("text/html"), Some("application/xhtml+xml"), Some("image/png")] {
        assert_eq!(whole(content_type, HTML), Decision::Page(PageKind::Html), "{content_type:?}");
    }
    assert_eq!(whole(Some("text/html"), b"Plain words with a <a href=x>link</a>"), Decision::Page(PageKind::Html));
    assert_eq!(whole(None, b"Plain words with a <A HREF=x>link</a>"), Decision::Page(PageKind::Html));
    assert_eq!(whole(Some("text/html"), b"<table><tr><td>d1:a"), Decision::Page(PageKind::Html));
    let unwanted = HeaderFacts { accepts_pages: false, ..facts(Some("text/html")) };
    assert_eq!(Classifier::new(unwanted).feed(HTML, true), Decision::Discard(DiscardReason::PageNotWanted));
}

#[test]
fn pages_in_utf_16_and_behind_marks_are_pages() {
    let wide = |big: bool| -> Vec<u8> {
        "\u{feff}<html><body>种子</body></html>"
            .encode_utf16()
            .flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() })
            .collect()
    };
    for body in [wide(true), wide(false), wide(true)[2..].to_vec(), wide(false)[2..].to_vec()] {
        assert_eq!(slowly(Some("text/html"), &body).0, Decision::Page(PageKind::Html));
        assert_eq!(slowly(None, &body).0, Decision::Page(PageKind::Html));
    }
    assert_eq!(whole(None, b"\xef\xbb\xbf\n<html>"), Decision::Page(PageKind::Html));
}

#[test]
fn feeds_and_sitemaps_are_pages_of_their_kind() {
    let feeds: [&[u8]; 5] = [
        b"<?xml version=\"1.0\"?>\n<!-- c --><?xml-stylesheet href='x'?><rss version=\"2.0\">",
        b"<rss version=\"2.0\"><channel>",
        b"<?xml version='1.0'?><feed xmlns='http://www.w3.org/2005/Atom'>",
        b"<?xml version='1.0'?><rdf:RDF>",
        b"<?xml version='1.0'?><urlset>",
    ];
    for feed in feeds {
        for content_type in [None, Some("application/rss+xml"), Some("text/xml"), Some("text/html")] {
            assert_eq!(
                whole(content_type, feed),
                Decision::Page(PageKind::Feed),
                "{content_type:?} {}",
                feed.escape_ascii()
            );
        }
    }
    assert_eq!(whole(None, b"<?xml version='1.0'?><!DOCTYPE html><html>"), Decision::Page(PageKind::Html));
    assert_eq!(whole(Some("text/xml"), b"<?xml version='1.0'?><svg>"), Decision::Discard(DiscardReason::Text));
}

#[test]
fn roots_count_whatever_prefix_their_namespace_has() {
    for feed in [
        "<?xml version='1.0'?>\n<sit:sitemapindex xmlns:sit='x'><sit:sitemap>",
        "<?xml version='1.0'?>\n<s:urlset xmlns:s='x'><s:url>",
        "<atom:feed xmlns:atom='http://www.w3.org/2005/Atom'><atom:entry>",
        "<r:RDF xmlns:r='x'><item></item></r:RDF>",
    ] {
        for content_type in [None, Some("application/xml"), Some("text/html")] {
            assert_eq!(whole(content_type, feed.as_bytes()), Decision::Page(PageKind::Feed), "{feed}");
            assert_eq!(slowly(content_type, feed.as_bytes()).0, Decision::Page(PageKind::Feed), "{feed}");
        }
    }
}

#[test]
fn a_page_may_declare_xml_and_leave_its_root_out() {
    let strict =
        "<!DOCTYPE html PUBLIC '-//W3C//DTD XHTML 1.0 Strict//EN' 'http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd'>";
    for start in ["<head><title>x</title></head>", &format!("{strict}\n<title>x</title>"), "<center>", "<!-- x --><p>x"]
    {
        let page = format!("<?xml version='1.0' encoding='utf-8'?>\n{start}<a href=x>x</a>");
        for content_type in ["text/html", "application/xhtml+xml; charset=utf-8"] {
            assert_eq!(slowly(Some(content_type), page.as_bytes()).0, Decision::Page(PageKind::Html), "{page}");
        }
    }
    let typed = format!("<?xml version='1.0'?>{strict}<title>x</title>");
    assert_eq!(whole(Some("application/xml"), typed.as_bytes()), Decision::Page(PageKind::Html));
    assert_eq!(whole(Some("text/xml"), b"<?xml version='1.0'?><torrents/>"), Decision::Discard(DiscardReason::Text));
}

#[test]
fn listings_in_xml_and_json_are_pages_and_other_json_is_none() {
    let feed = Decision::Page(PageKind::Feed);
    for (content_type, body) in [
        ("application/feed+json", "{\"title\":\"x\",\"items\":[]}"),
        ("application/json", "{ \"version\": \"https://jsonfeed.org/version/1.1\" }"),
        ("text/plain", "{\"version\":\"https:\\/\\/jsonfeed.org\\/version\\/1\",\"items\":[]}"),
        ("application/json", "[\n{ \"name\":\"a\", \"type\":\"directory\", \"mtime\":\"Tue\" },\n"),
        ("application/json", "[{\"type\": \"file\", \"size\": 1, \"name\": \"b}.torrent\"}]"),
        ("text/xml", "<?xml version=\"1.0\"?>\n<list>\n<directory mtime=\"2026\">a</directory>\n</list>"),
        ("application/xml", "<?xml version='1.0'?><ListBucketResult xmlns='http://s3.amazonaws.com/doc/2006-03-01/'>"),
        ("application/metalink4+xml", "<metalink xmlns='urn:ietf:params:xml:ns:metalink'><file>"),
    ] {
        assert_eq!(whole(Some(content_type), body.as_bytes()), feed, "{body}");
        assert_eq!(slowly(Some(content_type), body.as_bytes()).0, feed, "{body}");
    }
    for body in [
        "{\"version\":\"1.0\",\"items\":[]}",
        "[{\"name\":\"a\",\"type\":\"movie\"}]",
        "[{\"name\":\"a\"}]",
        "[1,2]",
        "[]",
        "<?xml version='1.0'?><list><item>x</item></list>",
        "<?xml version='1.0'?><list/>",
    ] {
        for content_type in ["application/json", "text/xml"] {
            let text = Decision::Discard(DiscardReason::Text);
            assert_eq!(whole(Some(content_type), body.as_bytes()), text, "{body}");
            assert_eq!(slowly(Some(content_type), body.as_bytes()).0, text, "{body}");
        }
    }
}

#[test]
fn a_document_with_zero_bytes_is_a_page_however_it_comes() {
    let body = [b"<html><body>".as_slice(), &[0; 64], b"<a href=x>"].concat();
    assert_eq!(whole(None, &body), Decision::Page(PageKind::Html));
    assert_eq!(slowly(None, &body).0, Decision::Page(PageKind::Html));
}

#[test]
fn a_feed_in_utf_16_is_a_feed_however_slowly_it_comes() {
    let text = "<?xml version='1.0' encoding='utf-16'?><rss><channel>".to_owned() + &"<item/>".repeat(200);
    let body: Vec<u8> = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
    assert_eq!(whole(None, &body), Decision::Page(PageKind::Feed));
    assert_eq!(slowly(None, &body).0, Decision::Page(PageKind::Feed));
}

#[test]
fn text_that_is_no_torrent_is_discarded() {
    let text = Decision::Discard(DiscardReason::Text);
    for content_type in [None, Some("text/plain"), Some("application/x-bittorrent"), Some("application/json")] {
        assert_eq!(whole(content_type, b"d8:announcement of the new release"), text);
        assert_eq!(whole(content_type, b"{\"error\":\"log in\"}"), text);
        assert_eq!(whole(content_type, b"d"), text);
    }
    assert_eq!(slowly(Some("text/plain"), &b"word ".repeat(3_000)), (text, TORRENT_JUNK_BYTES_MAX + SNIFF_BYTES));
    let empty = Decision::Discard(DiscardReason::Empty);
    assert_eq!((whole(None, b""), whole(None, b"\xef\xbb\xbf \n")), (empty, empty));
}

#[test]
fn torrents_announced_too_large_are_not_begun() {
    let facts = HeaderFacts { content_length: Some(TORRENT_BYTES_MAX as u64 + 1), ..facts(None) };
    assert_eq!(Classifier::new(facts).feed(TORRENT, false), Decision::Discard(DiscardReason::TooLarge));
}

#[test]
fn fixtures_that_are_torrents_are_never_stopped() {
    let folder = concat!(env!("GLEANER_ROOT"), "/fixtures/torrents");
    let expected = std::fs::read_to_string(format!("{folder}/expected.jsonl")).unwrap();
    let mut torrents = 0;
    for line in expected.lines() {
        let line: serde_json::Value = serde_json::from_str(line).unwrap();
        let body = std::fs::read(format!("{folder}/{}", line["file"].as_str().unwrap())).unwrap();
        for content_type in TYPES {
            let decision = slowly(content_type, &body).0;
            if line["torrent"].as_bool().unwrap() {
                torrents += 1;
                // The parser skips 4096 leading bytes of letters, but they look like text to the classifier.
                assert_eq!(decision, Decision::Torrent, "{line} as {content_type:?}");
            }
        }
    }
    assert!(torrents > 500);
}

proptest! {
    #[test]
    fn a_decision_falls_on_every_body_and_stays(body in prop::collection::vec(any::<u8>(), 0..700), kind in prop::sample::select(&TYPES[..])) {
        let (first, at) = slowly(kind, &body);
        let mut classifier = Classifier::new(facts(kind));
        prop_assert_eq!(classifier.feed(&body[..at], at == body.len()), first);
        prop_assert_eq!(classifier.feed(&body, true), first);
    }

    #[test]
    fn markup_like_bodies_never_panic(body in "(<[!?/]?[a-z-]{0,6}[ >]?|d[0-9]{0,3}:|[a-z]{0,5}|-->){0,30}", kind in prop::sample::select(&TYPES[..])) {
        slowly(kind, body.as_bytes());
    }
}

/// The piece hashes of a small torrent contain zero bytes within the first bytes of the body.
#[test]
fn a_small_torrent_behind_a_warning_is_no_binary() {
    let mut body = b"<br />\n<b>Warning</b>:  headers already sent in <b>/d.php</b> on line <b>31</b><br />\n".to_vec();
    body.extend_from_slice(b"d4:infod6:lengthi4e4:name1:a12:piece lengthi16384e6:pieces20:");
    body.extend_from_slice(&[0; 20]);
    body.extend_from_slice(b"ee");
    for content_type in TYPES {
        assert_eq!(whole(content_type, &body), Decision::Torrent, "{content_type:?}");
    }
}
