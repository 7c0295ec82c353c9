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

#[test]
fn prefixes_of_elements_do_not_count() {
    let index = "<?xml version='1.0'?><sit:sitemapindex xmlns:sit='x'><sit:sitemap><sit:loc>http://a/1.xml</sit:loc>\
        </sit:sitemap></sit:sitemapindex>";
    let map = "<s:urlset xmlns:s='x'><s:url><s:loc>http://a/2</s:loc></s:url></s:urlset>";
    let atom = "<atom:feed xmlns:atom='x'><atom:entry><atom:link href='/3'/><atom:id>http://a/4</atom:id></atom:entry>";
    for (body, expected) in [(index, &["http://a/1.xml"][..]), (map, &["http://a/2"]), (atom, &["/3", "http://a/4"])] {
        assert!(is_feed(body.as_bytes(), UTF_8), "{body}");
        assert_eq!(hrefs(body), expected);
    }
}

#[test]
fn an_infohash_is_a_magnet_with_the_title_of_its_item() {
    let hash = "e1b03fee3e414f55844d03b95fb15348d3b64f20";
    let base32 = "4GYD73R6IFHVLBCNAO4V7MKTJDJ3MTZA";
    let magnet = |hash: &str, name: &str| format!("magnet:?xt=urn:btih:{hash}{name}");
    for (item, expected) in [
        (
            format!("<title>A &amp; b</title><torrent:infoHash>{hash}</torrent:infoHash>"),
            magnet(hash, "&dn=A%20%26%20b"),
        ),
        (format!("<nyaa:infoHash> {base32} </nyaa:infoHash><title>B</title>"), magnet(base32, "&dn=B")),
        (format!("<torznab:attr name='infohash' value='{hash}'/>"), magnet(hash, "")),
        (format!("<newznab:attr value='{hash}' name='InfoHash'/><title>C</title>"), magnet(hash, "&dn=C")),
        (format!("<infoHash><![CDATA[{hash}]]></infoHash>"), magnet(hash, "")),
    ] {
        let body =
            format!("<rss><channel><title>Site</title><item>{item}</item><item><title>next</title></item></channel>");
        assert_eq!(hrefs(&body), [expected], "{item}");
    }
    let atom = format!("<feed><title>Site</title><entry><title>D</title><x:infohash>{hash}</x:infohash>");
    assert_eq!(hrefs(&atom), [magnet(hash, "&dn=D")]);
    for none in ["", "abc", &hash[1..], "0000", &base32.replace('4', "1")] {
        assert_eq!(hrefs(&format!("<rss><item><infoHash>{none}</infoHash></item></rss>")), [""; 0], "{none}");
    }
    let many = format!("<rss><item>{}</item></rss>", format!("<infoHash>{hash}</infoHash>").repeat(1_000));
    assert_eq!(hrefs(&many).len(), crate::limits::INFOHASHES_PER_ITEM_MAX);
}

#[test]
fn metalinks_name_torrents_beside_files() {
    let four = "<?xml version='1.0'?><metalink xmlns='urn:ietf:params:xml:ns:metalink'><file name='x.iso'>\
        <metaurl mediatype='torrent'>http://a/x.torrent</metaurl><metaurl mediatype='zsync'>http://a/x.zsync</metaurl>\
        <url location='de'>http://m/x.iso</url></file></metalink>";
    let three = "<metalink version='3.0'><files><file name='y.iso'><resources><url type='http'>http://m/y.iso</url>\
        <url type='bittorrent' preference='100'>http://a/y.torrent</url></resources></file></files></metalink>";
    assert_eq!(hrefs(four), ["http://a/x.torrent"]);
    assert_eq!(hrefs(three), ["http://a/y.torrent"]);
    assert!(is_feed(four.as_bytes(), UTF_8) && is_feed(three.as_bytes(), UTF_8));
}

#[test]
fn json_feeds_give_the_links_of_their_items() {
    let feed = r#"{"items":[{"id":"1","url":"http:\/\/a\/t\/1","title":5,"authors":[{"url":"/no"}],
        "attachments":[{"mime_type":"application/x-bittorrent","url":"/dl/a?x=1\u0026y=2"},7,null]},
        {"url":null,"external_url":"/t/2","content_html":"<a href='/t/3?a=1&amp;b=2'>x</a>","tags":["url"]}],
        "next_url":"/list?page=2","icon":"/no.png","version":"https://jsonfeed.org/version/1.1"}"#;
    assert!(is_feed(feed.as_bytes(), UTF_8));
    let found = links(feed.as_bytes(), UTF_8).links;
    let found: Vec<(LinkKind, &str)> = found.iter().map(|link| (link.kind, &*link.href)).collect();
    let anchors = ["http://a/t/1", "/dl/a?x=1&y=2", "/t/2", "/t/3?a=1&b=2"].map(|href| (LinkKind::Anchor, href));
    assert_eq!(found, [&anchors[..], &[(LinkKind::Next, "/list?page=2")]].concat());
    assert_eq!(hrefs(&feed[..feed.len() / 2]), [""; 0], "it does not say yet what it is");
    let broken = r#"{"version":"https://jsonfeed.org/version/1","items":[{"url":"/t/1"},{"url":"/t/2"},{"ur"#;
    assert_eq!(hrefs(broken), ["/t/1", "/t/2"]);
    let deep = format!("{{\"version\":\"https://jsonfeed.org/version/1\",\"items\":{}", "[".repeat(100_000));
    assert_eq!(hrefs(&deep), [""; 0]);
    for other in ["{}", "{\"version\":\"1\"}", "[1]", "[]", "[{\"name\":\"a\",\"type\":\"movie\"}]", "null"] {
        assert!(!is_feed(other.as_bytes(), UTF_8), "{other}");
    }
}

#[test]
fn folders_listed_by_nginx_give_their_names() {
    let json = "[\n{ \"name\":\"a b\", \"type\":\"directory\", \"mtime\":\"x\" },\n\
        { \"name\":\"50%?.torrent\", \"type\":\"file\", \"size\":5 },{\"type\":\"file\",\"name\":\"c:d\"}\n]";
    let xml = "<?xml version=\"1.0\"?>\n<list>\n<directory mtime=\"x\">a b</directory>\n\
        <file mtime=\"x\" size=\"5\">50%?.torrent</file><file>c:d</file><directory></directory>\n</list>";
    for body in [json, xml] {
        assert!(is_feed(body.as_bytes(), UTF_8), "{body}");
        assert_eq!(hrefs(body), ["a%20b/", "50%25%3F.torrent", "./c:d"], "{body}");
    }
    assert!(!is_feed(b"<list><item>x</item></list>", UTF_8));
}

#[test]
fn buckets_give_their_keys_and_the_next_page() {
    let bucket = |rest: &str| {
        format!("<?xml version='1.0'?><ListBucketResult xmlns='x'><Name>b</Name>{rest}</ListBucketResult>")
    };
    for (listing, expected) in [
        (
            "<Prefix></Prefix><IsTruncated>false</IsTruncated><Contents><Key>dl/a &amp; b.torrent</Key><Size>1</Size></Contents>",
            &["dl/a%20&%20b.torrent"][..],
        ),
        (
            "<Prefix>t/</Prefix><IsTruncated>true</IsTruncated><Contents><Key>t/1</Key></Contents><Contents><Key>t/2</Key></Contents>",
            &["t/1", "t/2", "?marker=t/2&prefix=t/"],
        ),
        (
            "<IsTruncated>true</IsTruncated><NextMarker>n m</NextMarker><Contents><Key>1</Key></Contents>",
            &["1", "?marker=n%20m"],
        ),
        (
            "<KeyCount>1</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>a+/=</NextContinuationToken>\
                <Contents><Key>1</Key></Contents>",
            &["1", "?list-type=2&continuation-token=a%2B/%3D"],
        ),
        (
            "<Delimiter>/</Delimiter><EncodingType>url</EncodingType><Contents><Key>a+b%2Bc</Key></Contents>\
                <CommonPrefixes><Prefix>x%20y/</Prefix></CommonPrefixes>",
            &["a%20b+c", "x%20y/", "?prefix=x%20y/&delimiter=/"],
        ),
        ("<CommonPrefixes><Prefix>x/</Prefix></CommonPrefixes>", &["x/"]),
    ] {
        let body = bucket(listing);
        assert!(is_feed(body.as_bytes(), UTF_8), "{body}");
        assert_eq!(hrefs(&body), expected, "{body}");
    }
    let next = links(bucket("<IsTruncated>true</IsTruncated><NextMarker>n</NextMarker>").as_bytes(), UTF_8);
    assert_eq!(next.links[0].kind, LinkKind::Next);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_to_an_end(body: Vec<u8>, soup in "(<[a-z!?/]{0,3}|>|&#?[a-z0-9]{0,3};?|link|loc|\"|'|=|]]>|<!\\[CDATA\\[){0,40}") {
        let _ = (is_feed(&body, UTF_8), links(&body, UTF_8), is_feed(soup.as_bytes(), UTF_8), links(soup.as_bytes(), UTF_8));
    }
}
