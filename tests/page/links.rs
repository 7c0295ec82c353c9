//! The link scanner returns the links of html5ever's tree, on every page we have, on html5lib's documents and on random markup. The
//! pages of real programs and sites are in `tests/corpora`.

use std::fs;
use std::path::Path;

use encoding_rs::{Encoding, UTF_8};
use gleaner_net::fetch::charset;
use gleaner_page::links::{LinkKind, scan};
use proptest::prelude::*;

#[path = "links/compare.rs"]
mod compare;
#[path = "../render/wpt/domino.rs"]
mod domino;

use compare::{assert_equal_to_tree, compare_documents, compare_folder, files};

#[test]
fn scanner_equals_tree_on_every_fixture() {
    compare_folder(&Path::new(env!("GLEANER_ROOT")).join("fixtures/pages"), 6);
}

#[test]
fn scanner_equals_tree_on_html5libs_documents() {
    let documents = domino::documents().into_values().flatten();
    compare_documents(documents.map(|document| document["data"].as_str().unwrap().to_owned()), 1_500);
}

#[test]
fn fixtures_hold_the_links_written_beside_them() {
    for path in files(&Path::new(env!("GLEANER_ROOT")).join("fixtures/pages"), "html") {
        let body = fs::read(&path).unwrap();
        let page = scan(&body, charset::detect(None, &body, None));
        let mut lines = Vec::new();
        lines.extend(page.base.map(|base| format!("base {base}")));
        lines.extend(page.robots_noindex.then(|| "robots noindex".to_owned()));
        lines.extend(page.robots_nofollow.then(|| "robots nofollow".to_owned()));
        let kind = |kind: LinkKind| format!("{kind:?}").to_lowercase();
        lines.extend(page.links.iter().map(|link| format!("{} {}", kind(link.kind), link.href)));
        let expected = fs::read_to_string(path.with_extension("links")).unwrap();
        assert_eq!(lines, expected.lines().collect::<Vec<_>>(), "{}", path.display());
    }
}

#[test]
fn mathml_annotations_in_html_are_html() {
    // The standard's rule, which scraper's tree does not implement (its sink has no such flag), so that it is no reference.
    let page =
        b"<math><annotation-xml encoding='Text/HTML'><style><a href=n></style></annotation-xml></math><a href=x>";
    let links: Vec<_> = scan(page, UTF_8).links.into_iter().map(|link| link.href.into_owned()).collect();
    assert_eq!(links, ["x"]);
}

#[test]
fn hostile_pages_take_linear_time() {
    let long = |start: &str, piece: &str, end: &str| [start, &piece.repeat((4 << 20) / piece.len()), end].concat();
    for page in [
        long("", "<", ""),
        long("", "<a", ""),
        long("", "</", ""),
        long("<a href='", "x", ""),
        long("<a href='", "&amp;", "'>"),
        long("<a href='", "&", "'>"),
        long("<a ", "b ", ">"),
        long("<a ", "href=1 ", ">"),
        long("<!--", "<!--", ""),
        long("<!--", "->", ""),
        long("<!--", "-->", ""),
        long("", "<!--", ""),
        long("<script>", "<!--", ""),
        long("<script>", "<!--<script>", ""),
        long("<script><!--", "<script></script", ""),
        long("", "<title>", ""),
        long("", "<title></titl", ""),
        long("", "<svg>", ""),
        long("<svg>", "<g></b>", ""),
        long("<svg><desc>", "<x></y>", ""),
        long("<svg>", "<![CDATA[", ""),
        long("", "<div>", ""),
        long("", "<a href=magnet:?>", ""),
        long("", "magnet%", ""),
        long("<a href='/", "magnet%3A", "'>"),
    ] {
        let found = scan(page.as_bytes(), UTF_8);
        // 4 MB in a debug build take a fraction of a second; quadratic time would be hours, and the harness would
        // show it. Without a clock, we can assert that the cap holds.
        assert!(found.links.len() <= gleaner_page::limits::LINKS_PER_PAGE_MAX);
        let _ = gleaner_page::encoded_links::find(page.as_bytes(), UTF_8);
    }
    let many = "<a href=x>".repeat(gleaner_page::limits::LINKS_PER_PAGE_MAX + 1);
    let found = scan(many.as_bytes(), UTF_8);
    assert!(found.truncated && found.links.len() == gleaner_page::limits::LINKS_PER_PAGE_MAX);
}

#[test]
fn scanner_equals_tree_in_every_charset() {
    let html = "<base href='/基/'><a href='/下载?名=&#31181;&amp;x=1' title=\"it's <b>\">种子</a><a href=次へ>次</a>";
    for label in ["utf-8", "gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "iso-2022-jp", "windows-1251"] {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        let (body, used, _) = encoding.encode(html);
        assert_equal_to_tree(&body, used, label);
    }
    for (label, mark) in [("utf-16le", [0xFF, 0xFE]), ("utf-16be", [0xFE, 0xFF])] {
        let unit = |unit: u16| {
            if label == "utf-16le" { unit.to_le_bytes() } else { unit.to_be_bytes() }
        };
        let body: Vec<u8> = mark.into_iter().chain(html.encode_utf16().flat_map(unit)).collect();
        let encoding = charset::detect(None, &body, None);
        assert_eq!(encoding.name().to_ascii_lowercase(), label);
        assert_equal_to_tree(&body, encoding, label);
        assert_eq!(scan(&body, encoding).links.len(), 2);
    }
}

#[test]
fn broken_multibyte_text_hides_no_delimiter() {
    let pages =
        ["<a href=\"/x~\">y~</a><a href='~'>~<a href=~>~<a title=~ href=z>", "<a~ href=1><~a href=2><a ~href=3>"];
    for label in ["gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "utf-8", "windows-1252"] {
        let encoding = Encoding::for_label(label.as_bytes()).unwrap();
        for lead in [&b"\x81"[..], b"\xfe", b"\xe4\xb8", b"\x81\x30", b"\x81\x30\x81", b"\x8f\xa1"] {
            for page in pages {
                let bytes = page.bytes().map(|byte| if byte == b'~' { lead.to_vec() } else { vec![byte] });
                assert_equal_to_tree(&bytes.collect::<Vec<_>>().concat(), encoding, page);
            }
        }
    }
}

/// A strategy for the strings of a regular expression.
fn matching(regex: &str) -> BoxedStrategy<String> {
    proptest::string::string_regex(regex).unwrap().boxed()
}

/// A mix of everything that affects the scanner, and the tree's handling of it.
fn soup() -> impl Strategy<Value = String> {
    let tags = "area|iframe|frame|link|base|div|p|b|table|tr|td|li|select|option|form|h1|a|A";
    let raw = "script|title|style|textarea|xmp|iframe|noembed|noframes|noscript|template";
    let piece = prop_oneof![
        8 => matching(&format!("<({tags})( href=[a-c]| src='[a-c]'| rel=next)?/?>")),
        4 => matching(&format!("</({tags}|{raw})>")),
        3 => matching(&format!("<({raw})>")),
        2 => matching(concat!(
            "<(a|area|iframe)( |/|\n|\t)(hRef|href|src|HREF|x)( |=|= ?)",
            "(\"[a-c&;= >]{0,3}\"|'[a-c<]{0,3}'|[a-c'\"=]{0,3})(/| |x)*>"
        )),
        2 => matching(r"(<!--|-->|--!>|<!-->|<!--->|-|>|<|<!|<\?|</|</>|<!doctype x>|<!\[CDATA\[|\]\]>)"),
        1 => matching("(<!-- <script>|</script|<script|<!--)( |/|>)"),
        2 => matching("(&amp;|&copy|&copy=|&#65|&#x80;|\"|'|=|/| |\n|text|\0|é|中)"),
        1 => matching("<meta (name=robots content=nofollow|http-equiv=refresh content='0;url=[a-c]')>"),
        1 => matching("<a [ -~]{0,12}>"),
        1 => matching("<a href='[ -~&&[^']]{0,12}'>"),
    ];
    proptest::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

/// Well-nested foreign content: an unclosed `svg` needs the tree.
fn foreign() -> impl Strategy<Value = String> {
    let svg = proptest::sample::select(vec![
        "<a href=s>x</a>",
        "<style><a href=t></a></style>",
        "<title><a href=u>x</a></title>",
        "<title/><script/><a href=v />",
        "<![CDATA[<a href=w>]]>",
        "<foreignObject><div><style><a href=n></style><a href=d>x</a></div></foreignObject>",
        "<desc><iframe src=i></iframe><p>x</p></desc>",
        "<g><path d='>'/></g>",
        "<image href=j /><iframe src=k></iframe>",
    ]);
    let math = proptest::sample::select(vec![
        "<mi><a href=m>x</a></mi>",
        "<annotation-xml><style><a href=o></a></style></annotation-xml>",
        "<![CDATA[<a href=w>]]>",
        "<mtext><mglyph><style><a href=q></a></style></mglyph></mtext>",
    ]);
    let whole = proptest::sample::select(vec![
        "<svg><g><p>out</p><style><a href=n></style>",
        "<svg><font><style><a href=n></a></style></font></svg>",
        "<svg><font color=red><style><a href=n></style></font></svg>",
        "<svg/><style><a href=n></style><math/><style><a href=n></style>",
    ]);
    prop_oneof![
        proptest::collection::vec(svg, 0..5).prop_map(|inner| format!("<svg>{}</svg>", inner.concat())),
        proptest::collection::vec(math, 0..4).prop_map(|inner| format!("<math>{}</math>", inner.concat())),
        whole.prop_map(str::to_owned),
    ]
}

/// Framesets, which drop everything else.
fn frameset() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        matching("<frameset>|</frameset>|<frame src=[a-c]>|<noframes><a href=n></noframes>|<a href=[a-c]>"),
        matching("<div>|<p>|<br>|</br>|<input>|<input type=hidden>|<input type=HIDDEN>|<body>|<html>"),
        matching("<title>x</title>| |\n|t|<!-- t -->|<iframe src=i>|<|&lt;|<script>x</script>"),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn scanner_equals_tree_on_soup(page in soup()) {
        assert_equal_to_tree(page.as_bytes(), UTF_8, &page);
    }

    #[test]
    fn scanner_equals_tree_on_foreign_content(pieces in proptest::collection::vec(foreign(), 1..4)) {
        let page = format!("<!doctype html><p>x</p>{}<a href=end>x</a>", pieces.join("<a href=between>x</a>"));
        assert_equal_to_tree(page.as_bytes(), UTF_8, &page);
    }

    #[test]
    fn scanner_equals_tree_on_framesets(page in frameset()) {
        assert_equal_to_tree(page.as_bytes(), UTF_8, &page);
    }

    #[test]
    fn any_bytes_are_scanned_in_any_charset(body in proptest::collection::vec(any::<u8>(), 0..400)) {
        for label in ["utf-8", "gbk", "shift_jis", "iso-2022-jp", "utf-16le", "replacement"] {
            let _ = scan(&body, Encoding::for_label(label.as_bytes()).unwrap());
        }
    }
}
