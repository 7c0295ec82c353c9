//! Pages and feeds: any bytes in any charset give bounded links, and the scanner's links equal the tree's.

use std::borrow::Cow;
use std::collections::HashSet;

use encoding_rs::{Encoding, UTF_8};
use gleaner_base::limits::SITEMAP_BYTES_MAX;
use gleaner_net::fetch::charset;
use gleaner_page::fingerprint::{Sketch, containment, resemblance};
use gleaner_page::limits::LINKS_PER_PAGE_MAX;
use gleaner_page::links::{LinkKind, PageLinks, scan};
use gleaner_page::{feed as feeds, sitemap as maps, tree};

/// Labels as in headers and rule files, good and bad.
const LABELS: [Option<&str>; 10] = [
    None,
    Some("utf-8"),
    Some("GBK"),
    Some("big5"),
    Some("shift_jis"),
    Some("iso-2022-jp"),
    Some("utf-16le"),
    Some("replacement"),
    Some("x-user-defined"),
    Some("nonsense"),
];

/// Any bytes, with any header and override: the encoding follows the standard's order, and the links are bounded.
pub fn page(input: &[u8]) {
    let mut body = input;
    let choice = super::choice(&mut body);
    let named = LABELS[usize::from(choice & 15) % LABELS.len()];
    let overriding = LABELS[usize::from(choice >> 4) % LABELS.len()];
    let header = named.map(|label| format!("text/html; charset=\"{label}\"; x=y"));
    let encoding = charset::detect(header.as_deref(), body, overriding);
    let known = |label: Option<&str>| label.and_then(|label| Encoding::for_label(label.as_bytes()));
    let expected =
        Encoding::for_bom(body).map(|(encoding, _)| encoding).or_else(|| known(overriding)).or_else(|| known(named));
    assert!(expected.is_none_or(|expected| expected == encoding), "{expected:?} was named, {encoding:?} taken");
    // A header made from the page's own bytes.
    let line = super::text(body.split(|&byte| byte == b'\n').next().unwrap_or_default());
    let _ = charset::detect(Some(&line), body, None);

    let found = scan(body, encoding);
    assert_bounded(&found, body.len());
    let all: usize = found.links.iter().map(|link| link.href.len()).sum();
    // Decoding triples a byte at most (a lone byte becomes U+FFFD), and turns the five of `&nGt;` into six.
    assert!(all <= 4 * body.len() + 16, "{all} bytes of links in a page of {}", body.len());
    assert_eq!(scan(body, encoding), found, "a second look sees the same");
}

/// Checks bounds and form of a page's links.
fn assert_bounded(found: &PageLinks<'_>, body_bytes: usize) {
    assert!(found.links.len() <= LINKS_PER_PAGE_MAX && found.links.len() <= body_bytes);
    for href in found.links.iter().map(|link| &link.href).chain(&found.base) {
        assert!(!href.contains(['\t', '\n', '\r']), "{href:?} is not prepared as the URL standard does");
        assert!(!href.starts_with(|first| first <= ' ') && !href.ends_with(|last| last <= ' '), "{href:?}");
    }
}

/// Feeds and sitemaps.
pub fn feed(input: &[u8]) {
    let mut body = input;
    let encoding = super::encoding(super::choice(&mut body));
    let _ = feeds::is_feed(body, encoding);
    let found = feeds::links(body, encoding);
    // A description is scanned a second time, so a byte of it may be in one more link.
    assert_bounded(&found, 2 * body.len());
    assert!(found.links.iter().all(|link| !link.href.is_empty()));
    let plain = |text: &str| feeds::is_feed(text.as_bytes(), UTF_8);
    let text = super::text(body);
    if unmarked(&text).trim_start().starts_with(['{', '[']) {
        return;
    }
    assert_eq!(plain(&text), plain(&format!("\u{feff}<?xml version='1.0'?>\n<!-- <rss> -->{}", unmarked(&text))));
}

/// Sitemaps, packed or not.
pub fn sitemap(input: &[u8]) {
    let mut body = input;
    let encoding = super::encoding(super::choice(&mut body));
    let text = maps::unpacked(body);
    assert!(text.len() <= SITEMAP_BYTES_MAX && (maps::is_packed(body) || *text == *body));
    assert!(!maps::is_index(&text, encoding) || feeds::is_feed(&text, encoding));
    let found = maps::links(&text, encoding);
    assert!(found.links.len() <= LINKS_PER_PAGE_MAX && found.links.iter().all(|link| !link.href.is_empty()));
}

/// Near-duplicate pages, separated by a zero byte: estimates are between 0 and 1, a page is similar to itself, and similarity
/// is symmetric.
pub fn sketch(input: &[u8]) {
    let (left, right) = input.split_at(input.iter().position(|&byte| byte == 0).unwrap_or(input.len()));
    let (a, b) = (Sketch::of(left), Sketch::of(right));
    assert_eq!(resemblance(&a, &a), 1.0);
    assert_eq!(resemblance(&a, &b), resemblance(&b, &a));
    for estimate in [resemblance(&a, &b), containment(&a, &b), containment(&b, &a)] {
        assert!((0.0..=1.0).contains(&estimate), "{estimate}");
    }
    assert!(a.shingles() >= 0.0 && a.is_empty() == (a.shingles() == 0.0));
}

/// Removes a byte order mark.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// A page assembled from markup pieces: the scanner's links equal those of html5ever's tree, as `tests/page/links.rs`
/// guarantees for such pages. Each byte of the input selects a piece or the content of its gap.
pub fn html_tree(input: &[u8]) {
    let mut picks = input;
    let page = match super::choice(&mut picks) % 4 {
        0 | 1 => soup(&mut picks),
        2 => foreign(&mut picks),
        _ => frameset(&mut picks),
    };
    let Ok(expected) = tree::links(&page) else { return };
    assert_eq!(summary(&scan(page.as_bytes(), UTF_8)), summary(&expected), "{page}");
}

/// A page's links, each only at its first position (the tree copies formatting elements that are still open), its base and
/// its robots directives.
type Summary = (Vec<(LinkKind, String)>, Option<String>, bool, bool);

fn summary(page: &PageLinks<'_>) -> Summary {
    let mut seen = HashSet::new();
    let links = page.links.iter().map(|link| (link.kind, link.href.to_string()));
    let links = links.filter(|link| seen.insert(link.clone())).collect();
    (links, page.base.as_ref().map(Cow::to_string), page.robots_nofollow, page.robots_noindex)
}

/// Joins pieces of a page while the input lasts.
fn joined(picks: &mut &[u8], mut piece: impl FnMut(&mut &[u8]) -> String) -> String {
    let mut page = String::new();
    while !picks.is_empty() {
        page += &piece(picks);
    }
    page
}

fn one_of<'a>(picks: &mut &[u8], from: &[&'a str]) -> &'a str {
    from[usize::from(super::choice(picks)) % from.len()]
}

/// Up to `most` bytes of the input as printable ASCII without `without`.
fn printable(picks: &mut &[u8], most: usize, without: &str) -> String {
    let length = usize::from(super::choice(picks)) % (most + 1);
    let printable = (0..length).map(|_| char::from(b' ' + super::choice(picks) % 95));
    printable.filter(|character| !without.contains(*character)).collect()
}

const TAGS: [&str; 20] = [
    "a", "area", "iframe", "frame", "link", "base", "div", "p", "b", "table", "tr", "td", "li", "select", "option",
    "form", "h1", "A", "noscript", "template",
];
const RAW: [&str; 9] = ["script", "title", "style", "textarea", "xmp", "iframe", "noembed", "noframes", "noscript"];

/// A mix of everything that affects the scanner, and the tree's handling of it.
fn soup(picks: &mut &[u8]) -> String {
    joined(picks, |picks| match super::choice(picks) % 12 {
        0..4 => {
            let tag = TAGS[usize::from(super::choice(picks)) % (TAGS.len() - 2)];
            let attribute = one_of(picks, &["", " href=a", " href=b", " src='c'", " rel=next", " href=a rel=prev"]);
            format!("<{tag}{attribute}{}>", one_of(picks, &["", "", "/", " "]))
        }
        4 => format!("</{}>", one_of(picks, &TAGS)),
        5 => format!("</{}>", one_of(picks, &RAW)),
        6 => format!("<{}>", one_of(picks, &RAW)),
        7 => {
            let (tag, gap) = (one_of(picks, &["a", "area", "iframe"]), one_of(picks, &[" ", "/", "\n", "\t"]));
            let name = one_of(picks, &["hRef", "href", "src", "HREF", "x"]);
            let value = printable(picks, 3, "'\"<>`= ");
            let value = match super::choice(picks) % 4 {
                0 => format!("=\"{value}&amp;\""),
                1 => format!("= '{value}'"),
                2 => format!("={value}"),
                _ => " ".to_owned(),
            };
            format!("<{tag}{gap}{name}{value}{}>", one_of(picks, &["", "/", " x", " /"]))
        }
        8 => one_of(
            picks,
            &[
                "<!--",
                "-->",
                "--!>",
                "<!-->",
                "<!--->",
                "-",
                ">",
                "<",
                "<!",
                "<?",
                "</",
                "</>",
                "<!doctype x>",
                "<![CDATA[",
                "]]>",
            ],
        )
        .to_owned(),
        9 => one_of(picks, &["<!-- <script>", "</script ", "</script/", "<script ", "<script>", "<!-- ", "<!--/"])
            .to_owned(),
        10 => one_of(
            picks,
            &[
                "&amp;",
                "&copy",
                "&copy=",
                "&#65",
                "&#x80;",
                "\"",
                "'",
                "=",
                "/",
                " ",
                "\n",
                "text",
                "\0",
                "é",
                "中",
                "<meta name=robots content=nofollow>",
                "<meta http-equiv=refresh content='0;url=a'>",
            ],
        )
        .to_owned(),
        _ if super::choice(picks) < 128 => format!("<a {}>", printable(picks, 12, "")),
        _ => format!("<a href='{}'>", printable(picks, 12, "'")),
    })
}

/// Well-nested foreign content: an unclosed `svg` needs the tree.
fn foreign(picks: &mut &[u8]) -> String {
    const SVG: [&str; 9] = [
        "<a href=s>x</a>",
        "<style><a href=t></a></style>",
        "<title><a href=u>x</a></title>",
        "<title/><script/><a href=v />",
        "<![CDATA[<a href=w>]]>",
        "<foreignObject><div><style><a href=n></style><a href=d>x</a></div></foreignObject>",
        "<desc><iframe src=i></iframe><p>x</p></desc>",
        "<g><path d='>'/></g>",
        "<image href=j /><iframe src=k></iframe>",
    ];
    const MATH: [&str; 4] = [
        "<mi><a href=m>x</a></mi>",
        "<annotation-xml><style><a href=o></a></style></annotation-xml>",
        "<![CDATA[<a href=w>]]>",
        "<mtext><mglyph><style><a href=q></a></style></mglyph></mtext>",
    ];
    const WHOLE: [&str; 4] = [
        "<svg><g><p>out</p><style><a href=n></style>",
        "<svg><font><style><a href=n></a></style></font></svg>",
        "<svg><font color=red><style><a href=n></style></font></svg>",
        "<svg/><style><a href=n></style><math/><style><a href=n></style>",
    ];
    let pieces = joined(picks, |picks| {
        let count = super::choice(picks) % 5;
        let several = |picks: &mut &[u8], from| (0..count).map(|_| one_of(picks, from)).collect::<String>();
        let piece = match super::choice(picks) % 3 {
            0 => format!("<svg>{}</svg>", several(picks, &SVG)),
            1 => format!("<math>{}</math>", several(picks, &MATH)),
            _ => one_of(picks, &WHOLE).to_owned(),
        };
        format!("{piece}<a href=between>x</a>")
    });
    format!("<!doctype html><p>x</p>{pieces}<a href=end>x</a>")
}

/// Framesets, which drop everything else.
fn frameset(picks: &mut &[u8]) -> String {
    const PIECES: [&str; 27] = [
        "<frameset>",
        "</frameset>",
        "<frame src=a>",
        "<frame src=b>",
        "<noframes><a href=n></noframes>",
        "<a href=a>",
        "<a href=b>",
        "<div>",
        "<p>",
        "<br>",
        "</br>",
        "<input>",
        "<input type=hidden>",
        "<input type=HIDDEN>",
        "<body>",
        "<html>",
        "<title>x</title>",
        " ",
        "\n",
        "t",
        "<!-- t -->",
        "<iframe src=i>",
        "<",
        "&lt;",
        "<script>x</script>",
        "<link rel=next href=c>",
        "<base href=d>",
    ];
    joined(picks, |picks| one_of(picks, &PIECES).to_owned())
}
