//! What the parsers of clients demand of caps and items, read in their sources (Sonarr, Radarr, Lidarr, Readarr, Prowlarr, autobrr, FlexGet, qBittorrent's
//! plugin): a rule each, and a change of a good document that the rule must catch. The clients that run on loopback are in
//! tests/program/clients.

use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{Label, LabelRow, MagnetFacts, MagnetRow, Source, TorrentFacts, TorrentRow};
use gleaner_torrent::Infohashes;

use super::{caps, items};
use crate::links::Links;
use crate::rows::{Item, Magnet, Page};
use crate::tokens::{Scope, Token};

/// Two torrents: an episode with everything in its name that can hurt, and one of BitTorrent v2 alone.
fn page() -> Page {
    let row = |infohashes: Infohashes, name: &str, ms: u64| TorrentRow {
        facts: TorrentFacts {
            infohashes,
            name: name.into(),
            payload_bytes: 5_000_000_000,
            file_count: 3,
            metainfo_bytes: 2_345,
            sha256: [1; 32],
            created_unix: Some(1),
            private: true,
        },
        site: "demo".into(),
        stored: UnixMillis(ms),
        seen_count: 1,
        sources: vec![Source {
            site: "demo".into(),
            url: "http://demo.example/dl?id=1&passkey=0123456789abcdef0123456789abcdef".into(),
            via: Some("http://demo.example/details?id=1&a=<b>".into()),
            label: None,
            first_seen: UnixMillis(ms),
            last_seen: UnixMillis(ms),
        }],
    };
    let evil = "Show & <b>\"Friends\"</b> ]]>&amp;\u{0}\u{1b}[31m\u{ffff}\n.S01E02.1080p";
    Page {
        items: vec![
            Item { row: row(Infohashes { v1: Some([0xab; 20]), v2: None }, evil, 1_796_083_200_000), category: 5040 },
            Item { row: row(Infohashes { v1: None, v2: Some([0xcd; 32]) }, "v2", 1_796_083_100_000), category: 4020 },
        ],
        magnets: Vec::new(),
        total: 2,
    }
}

fn token() -> Token {
    Token { name: "sonarr".to_owned(), scope: Scope::Torznab, sha256: "00".repeat(32), created: UnixMillis(0) }
}

fn feed() -> String {
    items::text(&page(), 0, &Links { base: "http://g.example".to_owned(), token: Some(token()) })
}

/// A document: its text, and its items.
struct Document<'t>(&'t str);

impl<'t> Document<'t> {
    /// Texts between two marks.
    fn all(&self, from: &str, to: &str) -> Vec<&'t str> {
        self.0.split(from).skip(1).map(|part| part.split(to).next().unwrap_or_default()).collect()
    }

    fn items(&self) -> Vec<Document<'t>> {
        self.all("<item>", "</item>").into_iter().map(Document).collect()
    }

    fn attributes(&self, name: &str) -> Vec<&'t str> {
        let mark = format!("<torznab:attr name=\"{name}\" value=\"");
        self.all(&mark, "\"")
    }

    fn each(&self, holds: impl Fn(&Document<'t>) -> bool) -> bool {
        let items = self.items();
        !items.is_empty() && items.iter().all(holds)
    }

    fn is_well_formed(&self) -> bool {
        let mut reader = quick_xml::Reader::from_str(self.0);
        reader.config_mut().check_end_names = true;
        let mut depth = 0_i32;
        loop {
            match reader.read_event() {
                Ok(quick_xml::events::Event::Eof) => return depth == 0,
                Ok(quick_xml::events::Event::Start(_)) => depth += 1,
                Ok(quick_xml::events::Event::End(_)) => depth -= 1,
                Ok(quick_xml::events::Event::DocType(_)) | Err(_) => return false,
                Ok(_) => {}
            }
        }
    }
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|of| of.is_ascii_digit())
}

/// A rule: who demands it, whether a document keeps it, and a change that breaks it.
struct Rule {
    why: &'static str,
    holds: fn(&Document<'_>) -> bool,
    /// The text that is replaced, and by what.
    broken: (&'static str, &'static str),
}

const fn rule(why: &'static str, holds: fn(&Document<'_>) -> bool, broken: (&'static str, &'static str)) -> Rule {
    Rule { why, holds, broken }
}

const OF_ITEMS: &[Rule] = &[
    rule("all: well-formed XML, no DOCTYPE", |of| of.is_well_formed(), ("<channel>", "<channel")),
    rule("all: well-formed XML, no DOCTYPE", |of| of.is_well_formed(), ("<rss ", "<!DOCTYPE rss><rss ")),
    rule(
        "*arr: RSS with a channel",
        |of| of.0.contains("<rss version=\"2.0\"") && of.0.contains("<channel>"),
        ("<rss version=\"2.0\"", "<feed"),
    ),
    rule(
        "*arr: Torznab's namespace",
        |of| of.0.contains("xmlns:torznab=\"http://torznab.com/schemas/2015/feed\""),
        ("2015/feed", "2014/feed"),
    ),
    rule(
        "Prowlarr: how many there are",
        |of| of.0.contains("<newznab:response offset=\"0\" total=\"2\"/>"),
        ("total=\"2\"", ""),
    ),
    rule(
        "all: an item has one title",
        |of| of.each(|item| item.all("<title>", "</title>").len() == 1),
        ("<title>v2</title>", ""),
    ),
    rule(
        "*arr: no control characters",
        |of| !of.0.chars().any(|of| of.is_control() && of != '\n'),
        ("v2</title>", "v\u{7f}2</title>"),
    ),
    rule(
        "*arr: no character that XML forbids",
        |of| !of.0.contains(['\u{fffe}', '\u{ffff}']),
        ("v2</title>", "v\u{ffff}2</title>"),
    ),
    rule(
        "all: markup in names is escaped",
        |of| of.0.contains("Show &amp; &lt;b&gt;") && !of.0.contains("<b>"),
        ("&lt;b&gt;", "<b>"),
    ),
    rule("all: a name ends no section", |of| !of.0.contains("]]>"), ("]]&gt;", "]]>")),
    rule(
        "autobrr: each item has a guid",
        |of| of.each(|item| item.all("<guid isPermaLink=\"false\">", "<").len() == 1),
        ("<guid isPermaLink=\"false\">cd", "<gu>cd"),
    ),
    rule(
        "*arr: guids differ",
        |of| {
            let mut guids = of.all("<guid isPermaLink=\"false\">", "<");
            guids.dedup();
            guids.len() == of.items().len()
        },
        (
            "<guid isPermaLink=\"false\">cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd<",
            "<guid isPermaLink=\"false\">abababababababababababababababababababab<",
        ),
    ),
    rule(
        "all: a guid is no URL",
        |of| of.all("<guid ", ">").iter().all(|guid| guid.contains("isPermaLink=\"false\"")),
        ("isPermaLink=\"false\"", "isPermaLink=\"true\""),
    ),
    rule(
        "*arr: guids stay, in lower case",
        |of| {
            of.all("<guid isPermaLink=\"false\">", "<")
                .iter()
                .all(|guid| guid.bytes().all(|of| matches!(of, b'0'..=b'9' | b'a'..=b'f')))
        },
        (">abab", ">ABAB"),
    ),
    rule(
        "autobrr: a numeric zone",
        |of| of.each(|item| item.all("<pubDate>", "<").iter().all(|date| date.ends_with(" +0000"))),
        ("+0000", "GMT"),
    ),
    rule(
        "autobrr: a day of two digits",
        |of| {
            of.each(|item| {
                item.all("<pubDate>", "<").iter().all(|date| date.len() == "Tue, 01 Dec 2026 00:00:00 +0000".len())
            })
        },
        ("Tue, 01 Dec", "Tue, 1 Dec"),
    ),
    rule(
        "*arr: a time that is that of storing",
        |of| of.0.contains("<pubDate>Tue, 01 Dec 2026 00:00:00 +0000</pubDate>"),
        ("2026 00:00:00", "1970 00:00:01"),
    ),
    rule(
        "*arr: newest first",
        |of| of.all("<pubDate>", "<") == ["Tue, 01 Dec 2026 00:00:00 +0000", "Mon, 30 Nov 2026 23:58:20 +0000"],
        ("Tue, 01 Dec 2026", "Sun, 29 Nov 2026"),
    ),
    rule(
        "autobrr, qBittorrent: a size as an element",
        |of| of.each(|item| item.all("<size>", "<").iter().filter(|size| is_number(size)).count() == 1),
        ("<size>5000000000</size>", ""),
    ),
    rule(
        "autobrr: the size is whole",
        |of| of.each(|item| item.all("<size>", "<").iter().all(|size| is_number(size))),
        ("<size>5000000000", "<size>5.0e9"),
    ),
    rule(
        "*arr: the size as an attribute",
        |of| of.each(|item| item.attributes("size") == ["5000000000"]),
        ("name=\"size\"", "name=\"siz\""),
    ),
    rule(
        "Prowlarr: the number of files",
        |of| of.each(|item| item.all("<files>", "<") == ["3"]),
        ("<files>3</files>", "<files></files>"),
    ),
    rule(
        "autobrr: categories are numbers",
        |of| of.each(|item| item.all("<category>", "<").iter().all(|number| is_number(number))),
        ("<category>5040", "<category>TV"),
    ),
    rule(
        "*arr: a category with its parent",
        |of| of.each(|item| item.all("<category>", "<").iter().any(|number| number.ends_with("000"))),
        ("<category>5000</category>", ""),
    ),
    rule(
        "*arr: categories as attributes",
        |of| of.each(|item| item.attributes("category").len() == 2),
        ("name=\"category\" value=\"5040\"", "name=\"cat\" value=\"5040\""),
    ),
    rule(
        "all: one enclosure",
        |of| of.each(|item| item.all("<enclosure ", "/>").len() == 1),
        ("<enclosure ", "<enclosed "),
    ),
    rule(
        "*arr: the enclosure's type",
        |of| of.each(|item| item.all("<enclosure ", "/>")[0].contains("type=\"application/x-bittorrent\"")),
        ("application/x-bittorrent", "application/octet-stream"),
    ),
    rule(
        "FlexGet: the enclosure's length",
        |of| of.each(|item| item.all("<enclosure ", "/>")[0].contains("length=\"2345\"")),
        (" length=\"2345\"", ""),
    ),
    rule(
        "*arr: the enclosure's URL is absolute",
        |of| of.each(|item| item.all("<enclosure url=\"", "\"")[0].starts_with("http://g.example/torrents/")),
        ("url=\"http://g.example", "url=\""),
    ),
    rule(
        "all: link and enclosure are one",
        |of| of.each(|item| item.all("<link>", "<") == item.all("<enclosure url=\"", "\"")),
        ("<link>http://g.example/torrents/ab", "<link>http://g.example/other/ab"),
    ),
    rule(
        "all: no key in a link",
        |of| !of.0.contains("apikey") && !of.0.contains(&"00".repeat(32)),
        ("?t=", "?apikey="),
    ),
    rule(
        "all: a link has its own code",
        |of| {
            let codes = of.all("?t=", "<");
            codes.len() >= 2 && codes[0] != codes[1] && codes[0].len() == 40
        },
        ("?t=", "?x="),
    ),
    rule(
        "all: no key of the site",
        |of| !of.0.contains("0123456789abcdef0123456789abcdef"),
        ("<comments>", "<comments>0123456789abcdef0123456789abcdef"),
    ),
    rule(
        "*arr, qBittorrent: the page of the torrent",
        |of| of.each(|item| item.all("<comments>", "<")[0].starts_with("http://demo.example/details")),
        ("<comments>http", "<comments>ftp"),
    ),
    rule("all: the page's URL is escaped", |of| of.0.contains("id=1&amp;a=&lt;b&gt;"), ("id=1&amp;a", "id=1&a")),
    rule(
        "*arr: an infohash of 40 digits",
        |of| of.items()[0].attributes("infohash") == ["ab".repeat(20)],
        ("name=\"infohash\" value=\"abab", "name=\"infohash\" value=\"ABAB"),
    ),
    rule(
        "*arr: none for BitTorrent v2 alone",
        |of| of.items()[1].attributes("infohash").is_empty(),
        (
            "<guid isPermaLink=\"false\">cd",
            "<torznab:attr name=\"infohash\" value=\"cd\"/><guid isPermaLink=\"false\">cd",
        ),
    ),
    rule(
        "autobrr: the price of downloading",
        |of| of.each(|item| item.attributes("downloadvolumefactor") == ["1"]),
        ("name=\"downloadvolumefactor\" value=\"1\"", "name=\"x\" value=\"1\""),
    ),
    rule(
        "autobrr: nothing is free by mistake",
        |of| of.each(|item| item.attributes("downloadvolumefactor") != ["0"]),
        ("downloadvolumefactor\" value=\"1", "downloadvolumefactor\" value=\"0"),
    ),
    rule(
        "*arr: the worth of uploading",
        |of| of.each(|item| item.attributes("uploadvolumefactor") == ["1"]),
        ("name=\"uploadvolumefactor\"", "name=\"y\""),
    ),
    rule(
        "Sonarr: no made-up seeders",
        |of| of.0.find("seeders").is_none() && !of.0.contains("name=\"peers\""),
        ("name=\"files\"", "name=\"seeders\" value=\"0\"/><torznab:attr name=\"files\""),
    ),
    rule(
        "Sonarr: no magnet beside a torrent",
        |of| !of.0.contains("magnet"),
        ("name=\"files\"", "name=\"magneturl\" value=\"magnet:?xt=urn:btih:ab\"/><torznab:attr name=\"files\""),
    ),
    rule(
        "Sonarr: season and episode",
        |of| of.items()[0].attributes("season") == ["1"] && of.items()[0].attributes("episode") == ["2"],
        ("name=\"season\"", "name=\"saison\""),
    ),
    rule(
        "Prowlarr: no number of another database",
        |of| !of.0.contains("imdb") && !of.0.contains("tvdb"),
        ("name=\"files\"", "name=\"imdbid\" value=\"1\"/><torznab:attr name=\"files\""),
    ),
];

const OF_CAPS: &[Rule] = &[
    rule("all: well-formed XML, no DOCTYPE", |of| of.is_well_formed(), ("<caps>", "<!DOCTYPE caps><caps>")),
    rule("*arr: both limits", |of| of.0.contains("<limits default=\"100\" max=\"200\"/>"), (" max=\"200\"", "")),
    rule(
        "autobrr: as many as it may, on each poll",
        |of| of.all(" max=\"", "\"")[0].parse::<u32>().is_ok_and(|max| max <= 500),
        ("max=\"200\"", "max=\"10000\""),
    ),
    rule(
        "FlexGet: the server's title",
        |of| of.0.contains("<server ") && of.0.contains(" title=\"gleaner\""),
        (" title=\"gleaner\"", ""),
    ),
    rule(
        "all: searches are available",
        |of| of.all("available=\"", "\"").iter().all(|is| *is == "yes"),
        ("available=\"yes\"", "available=\"true\""),
    ),
    rule(
        "FlexGet: each search names its parameters",
        |of| {
            of.all("supportedParams=\"", "\"").len() == 6
                && of.all("supportedParams=\"", "\"").iter().all(|all| all.starts_with('q'))
        },
        ("supportedParams=\"q\"", "supportedParams=\"\""),
    ),
    rule(
        "Sonarr: season and episode",
        |of| of.0.contains("<tv-search available=\"yes\" supportedParams=\"q,season,ep\""),
        ("q,season,ep", "q"),
    ),
    rule(
        "Radarr: films by words",
        |of| of.0.contains("<movie-search available=\"yes\" supportedParams=\"q"),
        ("<movie-search ", "<film-search "),
    ),
    rule(
        "Lidarr: audio-search",
        |of| of.0.contains("<audio-search available=\"yes\" supportedParams=\"q,artist,album"),
        ("<audio-search ", "<sound-search "),
    ),
    rule(
        "others: music-search",
        |of| of.0.contains("<music-search available=\"yes\""),
        ("<music-search ", "<song-search "),
    ),
    rule(
        "Readarr: books by author and title",
        |of| of.0.contains("<book-search available=\"yes\" supportedParams=\"q,author,title"),
        ("q,author,title", "q"),
    ),
    rule(
        "Sonarr: no number that is not known",
        |of| !["imdbid", "tvdbid", "rid", "tmdbid", "tvmazeid"].iter().any(|id| of.0.contains(id)),
        ("q,season,ep", "q,season,ep,tvdbid"),
    ),
    rule(
        "*arr: no blank between parameters",
        |of| !of.all("supportedParams=\"", "\"").iter().any(|all| all.contains(' ')),
        ("q,season,ep", "q, season, ep"),
    ),
    rule(
        "*arr: titles are sent as they are",
        |of| of.all("searchEngine=\"", "\"").len() == 6,
        (" searchEngine=\"raw\"", ""),
    ),
    rule(
        "*arr: categories have numbers",
        |of| of.all("<category id=\"", "\"").iter().chain(&of.all("<subcat id=\"", "\"")).all(|id| is_number(id)),
        ("<category id=\"5000\"", "<category id=\"TV\""),
    ),
    rule(
        "Prowlarr: parents by their usual names",
        |of| {
            ["Movies", "TV", "Audio", "PC", "Books", "XXX", "Console", "Other"]
                .iter()
                .all(|name| of.0.contains(&format!("name=\"{name}\">")))
        },
        ("name=\"TV\"", "name=\"Television\""),
    ),
    rule(
        "Prowlarr: children without their parent's name",
        |of| of.0.contains("<subcat id=\"5040\" name=\"HD\"/>"),
        ("name=\"HD\"", "name=\"TV/HD\""),
    ),
];

#[track_caller]
fn check(good: &str, rules: &[Rule]) {
    for Rule { why, holds, broken: (from, to) } in rules {
        assert!(holds(&Document(good)), "{why}: not kept by\n{good}");
        assert!(good.contains(from), "{why}: nothing to break in\n{good}");
        let bad = good.replace(from, to);
        assert!(!holds(&Document(&bad)), "{why}: `{from}` → `{to}` passes");
    }
}

#[test]
fn items_are_what_each_client_takes_and_each_change_that_one_would_not_take_is_noticed() {
    check(&feed(), OF_ITEMS);
    const { assert!(OF_ITEMS.len() + OF_CAPS.len() >= 45, "rules of the clients' parsers") }
}

#[test]
fn caps_are_what_each_client_takes_and_each_change_that_one_would_not_take_is_noticed() {
    check(&caps::text(&[], true), OF_CAPS);
    let label = |site: &str, number| LabelRow { site: site.into(), text: "Anime & <co>".into(), number };
    let of_all = caps::text(&[label("nyaa", 100_001), label("other", 100_002)], false);
    check(&of_all, OF_CAPS);
    for name in ["nyaa: Anime &amp; &lt;co&gt;", "other: Anime &amp; &lt;co&gt;"] {
        assert!(of_all.contains(&format!("name=\"{name}\"/>")), "{of_all}");
    }
    assert!(caps::text(&[label("nyaa", 100_001)], true).contains("name=\"Anime &amp; &lt;co&gt;\"/>"));
}

#[test]
fn what_is_known_by_a_magnet_alone_has_its_link_and_no_torrent_file() {
    let link = "magnet:?xt=urn:btih:abababababababababababababababababababab&dn=Show+S01E02&xl=77&tr=udp%3A%2F%2Ft.example%3A80";
    let row = MagnetRow {
        facts: MagnetFacts {
            infohashes: Infohashes { v1: Some([0xab; 20]), v2: None },
            name: Some("Show S01E02 & \u{1b}<co>".into()),
            link: link.into(),
        },
        site: "demo".into(),
        page: "http://demo.example/t?id=1&passkey=0123456789abcdef0123456789abcdef".into(),
        first_seen: UnixMillis(1_796_083_200_000),
        label: Some(Label { number: 100_005, text: "tv".into() }),
        stored: false,
    };
    let page = Page { items: Vec::new(), magnets: vec![Magnet { row, category: 5040 }], total: 1 };
    let text = items::text(&page, 0, &Links { base: "http://g.example".to_owned(), token: Some(token()) });
    let document = Document(&text);
    assert!(
        document.is_well_formed() && !text.contains(".torrent\"") && !text.contains("0123456789abcdef0123"),
        "{text}"
    );
    let escaped = link.replace('&', "&amp;");
    assert_eq!(document.attributes("magneturl"), [&*escaped]);
    assert_eq!(document.all("<enclosure url=\"", "\""), [&*escaped]);
    assert!(text.contains(" length=\"77\" type=\"application/x-bittorrent;x-scheme-handler/magnet\"/>"), "{text}");
    assert_eq!(document.attributes("infohash"), ["ab".repeat(20)]);
    assert_eq!(document.attributes("category"), ["5000", "5040", "100005"]);
    assert_eq!((document.attributes("season"), document.attributes("downloadvolumefactor")), (vec!["1"], vec!["1"]));
}

#[test]
fn an_empty_page_is_an_empty_channel() {
    let text = items::text(&Page::default(), 100, &Links { base: "http://g.example".to_owned(), token: None });
    let document = Document(&text);
    assert!(
        document.is_well_formed() && document.items().is_empty() && text.contains("offset=\"100\" total=\"0\""),
        "{text}"
    );
}
