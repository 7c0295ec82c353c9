//! The link scanner gives the links of html5ever's tree, on every page we have and on soup.
//!
//! The tree copies formatting elements that are still open (`<p><a href=x><p>` has two `a`), so both sides are
//! compared with each (kind, href) at its first place only.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8};
use gleaner_net::fetch::charset;
use gleaner_page::links::{LinkKind, PageLinks, scan};
use gleaner_page::tree;
use proptest::prelude::*;

/// A page's links without repetitions, its base and what it tells robots.
type Summary = (Vec<(LinkKind, String)>, Option<String>, bool, bool);

fn summary(page: &PageLinks<'_>) -> Summary {
    let mut seen = HashSet::new();
    let links = page.links.iter().map(|link| (link.kind, link.href.to_string()));
    let links = links.filter(|link| seen.insert(link.clone())).collect();
    (links, page.base.as_ref().map(ToString::to_string), page.robots_nofollow, page.robots_noindex)
}

fn assert_equal_to_tree(body: &[u8], encoding: &'static Encoding, what: &str) {
    let (html, _) = encoding.decode_with_bom_removal(body);
    let expected = summary(&tree::links(&html).unwrap());
    let found = summary(&scan(body, encoding));
    assert_eq!(found, expected, "{what} ({})", encoding.name());
}

/// Files under `folder` with this extension, in a fixed order.
fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        for entry in entries {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|found| found == extension) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

fn compare_folder(folder: &Path, pages_min: usize) {
    let pages = files(folder, "html");
    assert!(pages.len() >= pages_min, "{} holds {} pages, not {pages_min}", folder.display(), pages.len());
    let mut links = 0;
    for path in pages {
        let body = fs::read(&path).unwrap();
        let encoding = charset::detect(None, &body, None);
        assert_equal_to_tree(&body, encoding, &path.display().to_string());
        links += scan(&body, encoding).links.len();
    }
    assert!(links > pages_min, "pages without links prove nothing");
}

fn shared(folder: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(folder);
    assert!(path.is_dir(), "the shared data are not there: {}", path.display());
    path
}

#[test]
fn scanner_equals_tree_on_every_fixture() {
    compare_folder(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pages"), 6);
}

#[test]
fn fixtures_hold_the_links_written_beside_them() {
    for path in files(&Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/pages"), "html") {
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
    // The standard's rule, which scraper's tree does not know (its sink has no such flag), so that it is no reference.
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
    ] {
        let found = scan(page.as_bytes(), UTF_8);
        // 4 MB in a debug build take a fraction of a second; quadratic time would be hours, and the harness would
        // show it. What can be asserted without a clock is that the cap holds.
        assert!(found.links.len() <= gleaner_page::limits::LINKS_PER_PAGE_MAX);
        let _ = gleaner_page::encoded_links::find(page.as_bytes(), UTF_8);
    }
    let many = "<a href=x>".repeat(gleaner_page::limits::LINKS_PER_PAGE_MAX + 1);
    let found = scan(many.as_bytes(), UTF_8);
    assert!(found.truncated && found.links.len() == gleaner_page::limits::LINKS_PER_PAGE_MAX);
}

#[test]
fn scanner_equals_tree_on_the_pages_of_real_programs() {
    compare_folder(&shared("pages"), 20);
}

#[test]
fn scanner_equals_tree_on_the_pages_of_real_sites() {
    compare_folder(&shared("pagination"), 100);
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

/// Soup of all that the scanner decides by, and of what the tree does with it.
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

/// Foreign content, well nested: what an unclosed `svg` does needs the tree.
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

/// Framesets, which drop all else.
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
