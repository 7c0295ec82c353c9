//! What the signs are, as expressions over the whole page: the standard that the quicker search is compared with.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use proptest::prelude::*;
use regex::bytes::{Regex, RegexSet};

use super::{DATA, Signs, WAITS, hash, signs};
use crate::limits;

static SCRIPT: LazyLock<Regex> = LazyLock::new(|| Regex::new(r#"(?i-u)<script(?:[\s/][^>]*)?>"#).unwrap());

static WAITS_IN_ASCII: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i-u)>\s*(?:(?:now\s+)?loading|please wait|one moment|wird geladen|chargement|cargando|carregando|caricamento|laden)\b[^<]{0,24}<")
        .unwrap()
});

static HOLLOW: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i-u)<(?:div|span|ul|ol|dl|table|tbody|section|main|article|p|td)\s(?:[^>]*\s)?(?:id|class)\s*=\s*["']?([^"'>]+)[^>]*>\s*(?:<!--[^>]*-->\s*)*</"#,
    )
    .unwrap()
});

static EMPTY_ROOTS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r#"(?i-u)<(?:div|main|section)\b[^>]*\bid\s*=\s*["']?(?:app|root|__next|__nuxt|___gatsby|svelte|application|react-root|vue-app|main-app|mount|ember-app)(?:["'\s][^>]*)?>\s*(?:<!--[^>]*-->\s*)*</"#,
        r#"(?i-u)<app-root\b[^>]*>[^<]{0,200}</app-root"#,
        r#"(?i-u)<(?:tbody|ul|ol)\b[^>]*\bid\s*=[^>]*>\s*</(?:tbody|ul|ol)"#,
        r#"(?is-u)<noscript>.{0,400}?(?:enable|turn on|requires?|need)\s+(?:\w+\s+){0,4}javascript"#,
    ])
    .unwrap()
});

static FRAMEWORKS: LazyLock<RegexSet> = LazyLock::new(|| {
    RegexSet::new([
        r#"(?i-u)\s(?:data-|x-)?ng-(?:app|controller|repeat)\s*="#,
        r#"(?i-u)\s(?:data-)?hx-(?:get|post)\s*="#,
        r#"(?i-u)\sx-(?:data|for|init)\s*="#,
        r#"(?i-u)\sv-(?:for|cloak|bind)\b"#,
        r#"(?i-u)\sdata-(?:controller|bind|reactroot|turbo-frame)\b"#,
        r#"(?i-u)<turbo-frame\b[^>]*\bsrc\s*="#,
    ])
    .unwrap()
});

fn by_expressions(body: &[u8]) -> Signs {
    if !SCRIPT.find_iter(body).any(|tag| !DATA.is_match(tag.as_bytes())) {
        return Signs::default();
    }
    let names: BTreeSet<Vec<u8>> = HOLLOW
        .captures_iter(body)
        .take(limits::HOLLOW_ELEMENTS_MAX)
        .map(|found| found[1].iter().copied().filter(|byte| !byte.is_ascii_digit()).collect())
        .collect();
    Signs {
        scripts: true,
        empty_root: EMPTY_ROOTS.is_match(body),
        framework: FRAMEWORKS.is_match(body),
        waits: WAITS_IN_ASCII.is_match(body)
            || WAITS.iter().any(|word| memchr::memmem::find(body, word.as_bytes()).is_some()),
        hollow: hash(&names),
    }
}

/// Pieces of markup that the expressions know, whole and broken.
const PIECES: &[&str] = &[
    "<",
    ">",
    "</",
    "-->",
    "<!--",
    "<!---->",
    "<!-->",
    "<!--->",
    "<!-- here -->",
    "<!--<p id=a -->",
    "<!--<div id=app -->",
    "<!--<ul id=a -->",
    " ",
    " \t\n ",
    "\n",
    "\x0b",
    "\"",
    "'",
    "=",
    "-",
    "/",
    "x",
    "1",
    "_",
    "<div",
    "<DIV ",
    "<main ",
    "<section",
    "<span ",
    "<p ",
    "<td ",
    "<tbody ",
    "<ul ",
    "<ol",
    "<table ",
    "<article ",
    "<dl ",
    "</ul",
    "</div>",
    "</p>",
    " id",
    "id=",
    " id=app",
    " class=",
    "class='a b'",
    "root",
    "__next",
    "main-app",
    "ember-app\"",
    "<app-root",
    "</app-root",
    "<app-rootx",
    "<noscript>",
    "<NoScript>",
    "enable ",
    "turn on ",
    "requires ",
    "require",
    "need\t",
    "your ",
    "javascript",
    "JavaScript",
    " ng-",
    " data-ng-app",
    " x-ng-repeat =",
    "ng-controller",
    " hx-get",
    " data-hx-post=",
    " x-data=",
    " x-for",
    "x-init =",
    " v-for",
    " v-bind:",
    "v-cloak",
    " data-controller",
    " data-bind",
    "data-reactroot",
    " data-turbo-frame",
    "<turbo-frame",
    " src",
    " src =",
    "srcx=",
    "Loading",
    "loading…",
    "now ",
    "now loading",
    "please wait",
    "one moment",
    "wird geladen",
    "laden",
    "Chargement",
    "é",
    "<script>",
    "<script ",
    "<script/",
    "</script>",
    "<scripts>",
    " type=application/json",
    " type = 'text/template'",
    " type=text/javascript",
    "twelve letters",
    "<aside ",
];

fn pages() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        12 => prop::sample::select([PIECES, &*WAITS].concat()).prop_map(|piece| piece.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>(), 0..4),
        1 => (0..60_usize).prop_map(|length| vec![b'y'; length]),
    ];
    let pages = prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat());
    // Nearly all have a script, without which there is nothing to compare.
    (pages, 0..8_u8).prop_map(|(page, of)| if of == 0 { page } else { [b"<script>1</script>", &page[..]].concat() })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(20_000)))]

    #[test]
    fn the_signs_are_those_of_the_expressions(page in pages()) {
        prop_assert_eq!(signs(&page), by_expressions(&page), "{}", String::from_utf8_lossy(&page));
    }
}

#[test]
fn a_tag_that_only_begins_like_one_hides_none_behind_it() {
    for page in
        ["<app-rootx<app-root<></app-root", "<divx <div id=app></", "<p1 <p id=a></", "<turbo-framex <turbo-frame src="]
    {
        let page = format!("<script>1</script>{page}");
        assert_eq!(signs(page.as_bytes()), by_expressions(page.as_bytes()), "{page}");
        assert_ne!(signs(page.as_bytes()), Signs { scripts: true, ..Signs::default() }, "{page}");
    }
}

#[test]
fn tags_that_no_bracket_ends_are_read_once_each() {
    for piece in
        ["<div ", "<ul id=", "<app-root ", "<turbo-frame ", "<p class=a ", "<noscript>need ", "> ", "<div id=app <!-- "]
    {
        for end in ["", ">", "></", "><!---->"] {
            let page = format!("<script>1</script>{}{end}", piece.repeat(200_000));
            // By tag and up to the end, this would take hours.
            let _ = signs(page.as_bytes());
        }
    }
}

#[test]
fn what_is_behind_tags_is_read_once() {
    let spaces = " ".repeat(4 << 20);
    let many = |piece: &str| piece.repeat((4 << 20) / piece.len());
    for (page, is_root, is_hollow) in [
        (format!("{}>{spaces}", many("<p ")), false, false),
        (format!("{}>{spaces}</", many("<p id=a ")), false, true),
        (format!("<div id=app>{}x", many("<!--<div id=app -->")), false, false),
        (format!("<div id=app>{}</", many("<!--<div id=app -->")), true, true),
        (format!("<div id=app>{spaces}{}{spaces}x", many("<!--<div id=app -->")), false, false),
        (format!("<p id=a>{}x", many("<!--<p id=a -->")), false, false),
        (format!("<p>{}</", many("<!--<p -->")), false, false),
        (format!("<ul id=a>{}</ul", many("<!--<ul id=a -->")), true, true),
        (format!("<p id=a>{}", many("<!--<p id=a ->")), false, false),
        (format!("<p id=a>{}", many("<!--<p id=a ")), false, false),
    ] {
        let signs = signs(format!("<script></script>{page}").as_bytes());
        // By tag and up to the end of the comments, this would take days.
        let found = (signs.empty_root, signs.hollow != 0);
        assert_eq!(found, (is_root, is_hollow), "{:.40}…{}", page, &page[page.len() - 20..]);
    }
}

#[test]
fn comments_behind_a_tag_are_those_of_the_expressions() {
    let ends = ["", " ", "x", "</", "</ul", "<", "<!--", "<!-- </p", "<!--x--></p"];
    let comments = [
        "",
        "<!---->",
        "<!-->",
        "<!--->",
        "<!-- > -->",
        "<!--<p id=a -->",
        " <!--<div id=app -->\n",
        "<!--<ul id=b --> ",
    ];
    for tag in ["<div id=app>", "<p id=a>", "<ul id=b>", "<p>", "<p id=a <p>"] {
        for (first, second, third) in threes(&comments) {
            for end in ends {
                let page = format!("<script></script>{tag}{first}{second}{third}{end}");
                assert_eq!(signs(page.as_bytes()), by_expressions(page.as_bytes()), "{page}");
            }
        }
    }
}

/// All rows of three of them.
fn threes<'a>(of: &'a [&'a str]) -> impl Iterator<Item = (&'a str, &'a str, &'a str)> {
    of.iter()
        .flat_map(move |first| of.iter().flat_map(move |second| of.iter().map(move |third| (*first, *second, *third))))
}
