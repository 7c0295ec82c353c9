//! Normalisation by table (RFC 3986, WHATWG, GBK) and by property.

use proptest::prelude::*;

use super::*;

fn parsed(text: &str) -> String {
    match CrawlUrl::parse(text, &Canonical::default()) {
        Ok(url) => url.as_str().to_owned(),
        Err(fault) => format!("! {fault}"),
    }
}

fn names(list: &[&str]) -> Vec<NamePattern> {
    list.iter().map(|name| NamePattern::new(name)).collect()
}

#[test]
fn identity_follows_rfc_3986_and_whatwg() {
    let table = [
        // RFC 3986 §6.2.2.1 case, §6.2.2.2 percent-encoding, §6.2.2.3 dot segments
        ("HTTP://www.EXAMPLE.com/", "http://www.example.com/"),
        ("eXAMPLE://a/", "! the scheme is `example`, only http and https are crawled"),
        ("http://h/%7Euser/%7euser", "http://h/~user/~user"),
        ("http://h/%c3%a9%2f%3f", "http://h/%C3%A9%2F%3F"),
        ("http://h/a/./b/../c", "http://h/a/c"),
        ("http://h/a/%2e%2E/c", "http://h/c"),
        ("http://h/../../x", "http://h/x"),
        // §6.2.3 scheme-based
        ("http://h", "http://h/"),
        ("http://h:80/", "http://h/"),
        ("https://h:443/", "https://h/"),
        ("http://h:/", "http://h/"),
        ("https://h:80/", "https://h:80/"),
        ("http://h./x", "http://h/x"),
        ("http://h.:8080/x", "http://h:8080/x"),
        ("http://127.0.0.1../", "! the host name ends in empty labels"),
        // §3.5
        ("http://h/a#b", "http://h/a"),
        ("http://h/a?#b", "http://h/a"),
        ("http://h/a?&&", "http://h/a"),
        ("http://h/a?x&&y=", "http://h/a?x&y="),
        // WHATWG
        ("  http://h/a b\t\nc ", "http://h/a%20bc"),
        ("http:\\\\h\\a\\b", "http://h/a/b"),
        ("http://0x7f.1/", "http://127.0.0.1/"),
        ("http://2130706433/", "http://127.0.0.1/"),
        ("http://[::FFFF:127.0.0.1]:81/", "http://[::ffff:7f00:1]:81/"),
        ("http://bücher.example/ü", "http://xn--bcher-kva.example/%C3%BC"),
        ("http://h/%", "http://h/%"),
        ("http://h/%zz%4", "http://h/%zz%4"),
        ("http://h/%2541", "http://h/%2541"),
        // a decoded digit must not complete the escape of a lone `%`
        ("http://h/%%34%31", "http://h/%%341"),
        ("http://h/%4%31", "http://h/%4%31"),
        // GBK percent-bytes stay as they are
        ("http://h/s?q=%d6%d0%ce%c4&p=1", "http://h/s?q=%D6%D0%CE%C4&p=1"),
        ("http://h/s?q=%81A%81%41", "http://h/s?q=%81A%81A"),
        // refused
        ("http://user@h/", "! the URL contains a user name or password"),
        ("http://u:p@h/", "! the URL contains a user name or password"),
        ("http://h/\u{1}", "! the URL contains a control character"),
        ("ftp://h/", "! the scheme is `ftp`, only http and https are crawled"),
        ("magnet:?xt=urn:btih:00", "! the scheme is `magnet`, only http and https are crawled"),
        ("/path", "! not a URL: relative URL without a base"),
        ("http://", "! not a URL: empty host"),
    ];
    for (input, expected) in table {
        assert_eq!(parsed(input), expected, "{input:?}");
    }
}

#[test]
fn session_and_tracking_parameters_are_dropped_by_default() {
    let hash = "0123456789abcdef0123456789ABCDEF";
    let table = [
        ("http://h/v?t=1&PHPSESSID=abc", "http://h/v?t=1"),
        ("http://h/v?phpsessid=abc", "http://h/v"),
        ("http://h/v?ASPSESSIONIDABCDEFGH=x&a", "http://h/v?a"),
        ("http://h/v;jsessionid=1A2B?x=1", "http://h/v?x=1"),
        ("http://h/a;JSESSIONID=1/b;v=2;jsessionid=3", "http://h/a/b;v=2"),
        ("http://h/..;jsessionid=1/b", "http://h/..;jsessionid=1/b"),
        ("http://h/a;jsessionid=1.torrent", "http://h/a;jsessionid=1.torrent"),
        ("http://h/v?utm_source=a&id=7&utm_medium=b&fbclid=c", "http://h/v?id=7"),
        ("http://h/v?sid=42&s=linux", "http://h/v?sid=42&s=linux"),
    ];
    for (input, expected) in table {
        assert_eq!(parsed(input), expected, "{input:?}");
    }
    assert_eq!(parsed(&format!("http://h/v.php?sid={hash}&t=9")), "http://h/v.php?t=9");
    assert_eq!(parsed(&format!("http://h/v.php?t=9&s={hash}")), "http://h/v.php?t=9");
    assert_eq!(parsed(&format!("http://h/v.php?h={hash}")), format!("http://h/v.php?h={hash}"));
}

#[test]
fn parameters_of_the_rule_file_drop_keep_sort_and_name_sessions() {
    let parse = |text: &str, canonical: &Canonical| CrawlUrl::parse(text, canonical).unwrap().as_str().to_owned();
    let drop = Canonical { drop: names(&["search_id", "ref*"]), ..Canonical::default() };
    assert_eq!(parse("http://h/?a=1&search_id=9&referer=x&ref&id=2", &drop), "http://h/?a=1&id=2");
    let keep = Canonical { keep: names(&["id", "page"]), ..Canonical::default() };
    assert_eq!(parse("http://h/?page=2&x=1&id=3&utm_id=1", &keep), "http://h/?page=2&id=3");
    let keep_all = Canonical { keep: names(&["*"]), ..Canonical::default() };
    assert_eq!(parse("http://h/?utm_id=1&PHPSESSID=2", &keep_all), "http://h/?utm_id=1&PHPSESSID=2");
    let sort = Canonical { sort: true, ..Canonical::default() };
    assert_eq!(parse("http://h/?b=2&a[]=2&a[]=1&c", &sort), "http://h/?a[]=2&a[]=1&b=2&c");
    let session = Canonical { session: names(&["token"]), ..Canonical::default() };
    assert_eq!(parse("http://h/x;token=1/y?token=2&z=3", &session), "http://h/x/y?z=3");
}

#[test]
fn tracking_parameters_go_and_what_sites_use_themselves_stays() {
    for name in [
        "utm_source",
        "utm_anything",
        "fbclid",
        "gclid",
        "gclsrc",
        "gbraid",
        "wbraid",
        "dclid",
        "msclkid",
        "yclid",
        "ysclid",
        "igshid",
        "igsh",
        "mc_cid",
        "mc_eid",
        "_ga",
        "_gl",
        "_hsenc",
        "_hsmi",
        "__hstc",
        "hsCtaTracking",
        "vero_id",
        "twclid",
        "ttclid",
        "li_fat_id",
        "_openstat",
        "srsltid",
        "mkt_tok",
        "pk_campaign",
        "mtm_source",
        "wickedid",
    ] {
        assert_eq!(parsed(&format!("http://h/v?id=7&{name}=x")), "http://h/v?id=7", "{name}");
    }
    for name in ["ref", "from", "spm", "source", "utm", "gcl", "ga", "s", "sid", "cid", "campaign", "openstat", "_s"] {
        assert_eq!(parsed(&format!("http://h/v?id=7&{name}=x")), format!("http://h/v?id=7&{name}=x"));
    }
}

#[test]
fn session_ids_go_in_every_form_that_is_surely_one() {
    let hash = "0123456789abcdef0123456789abcdef";
    let ids = Canonical { session: names(&["sid"]), ..Canonical::default() };
    let folders = Canonical { path_sessions: true, ..Canonical::default() };
    let table = [
        ("http://h/v?osCsid=a1&t=1".to_owned(), "http://h/v?t=1", Canonical::default()),
        (format!("http://h/v?t=1&s={hash}"), "http://h/v?t=1", Canonical::default()),
        ("http://h/v?CFID=1&CFTOKEN=2".into(), "http://h/v", Canonical::default()),
        ("http://h/v?zenid=abc".into(), "http://h/v", Canonical::default()),
        // Discuz session IDs have six letters and digits, which only a rule can distinguish from a section of the
        // site.
        ("http://h/forum.php?fid=2&sid=Ab3dEf".into(), "http://h/forum.php?fid=2&sid=Ab3dEf", Canonical::default()),
        ("http://h/forum.php?fid=2&sid=Ab3dEf".into(), "http://h/forum.php?fid=2", ids),
        // folders stay unless the rules say otherwise
        (
            "http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx".into(),
            "http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx",
            Canonical::default(),
        ),
        ("http://h/(S(lit3py55t21z5v55vlm25s55))/a.aspx".into(), "http://h/a.aspx", folders.clone()),
        ("http://h/app/(A(x-_1)S(lit3)F(9))/a".into(), "http://h/app/a", folders.clone()),
        ("http://h/(lit3py55t21z5v55vlm25s55)".into(), "http://h/", folders.clone()),
        (format!("http://h/sid-{hash}/list/"), "http://h/list/", folders.clone()),
        (format!("http://h/a/PHPSESSID={hash}"), "http://h/a", folders.clone()),
        (
            "http://h/(disambiguation)/(S)/(S())/(B(x))/sid-12/()".into(),
            "http://h/(disambiguation)/(S)/(S())/(B(x))/sid-12/()",
            folders,
        ),
    ];
    for (text, expected, canonical) in table {
        assert_eq!(
            CrawlUrl::parse(&text, &canonical).map(|url| url.as_str().to_owned()).as_deref(),
            Ok(expected),
            "{text}"
        );
    }
}

#[test]
fn default_documents_and_double_slashes_are_unified_by_rule_only() {
    let rules = Canonical {
        default_documents: vec!["index.html".into(), "index.php".into(), "Default.asp".into()],
        merge_slashes: true,
        ..Canonical::default()
    };
    let table = [
        ("http://h/index.html", "http://h/"),
        ("http://h/a/index.php", "http://h/a/"),
        ("http://h/a/index.php?utm_source=x", "http://h/a/"),
        ("http://h/a/index.php?page=2", "http://h/a/index.php?page=2"),
        ("http://h/a/index.html#top", "http://h/a/"),
        ("http://h/Default.asp", "http://h/"),
        ("http://h/default.asp", "http://h/default.asp"),
        ("http://h/myindex.html", "http://h/myindex.html"),
        ("http://h/index.html/", "http://h/index.html/"),
        ("http://h//a///b//", "http://h/a/b/"),
        ("http://h/a//index.html", "http://h/a/"),
        ("http://h/r?u=http://x//y", "http://h/r?u=http://x//y"),
    ];
    for (text, expected) in table {
        assert_eq!(CrawlUrl::parse(text, &rules).unwrap().as_str(), expected, "{text}");
    }
    assert_eq!(parsed("http://h/index.html"), "http://h/index.html");
    assert_eq!(parsed("http://h//a///b"), "http://h//a///b");
}

#[test]
fn links_resolve_against_the_page_in_its_charset() {
    let base = Url::parse("http://h:8080/dir/page.php?x=1#f").unwrap();
    let gbk = Some(encoding_rs::GBK);
    let table = [
        ("a.torrent", "http://h:8080/dir/a.torrent"),
        ("../up", "http://h:8080/up"),
        ("./", "http://h:8080/dir/"),
        ("?page=2", "http://h:8080/dir/page.php?page=2"),
        ("#top", "http://h:8080/dir/page.php?x=1"),
        ("", "http://h:8080/dir/page.php?x=1"),
        ("//other/x", "http://other/x"),
        ("http://h:8080/abs#x", "http://h:8080/abs"),
        ("http:rel", "http://h:8080/dir/rel"),
        ("a:b", "! the scheme is `a`, only http and https are crawled"),
        ("javascript:void(0)", "! the scheme is `javascript`, only http and https are crawled"),
        ("/s?q=中文", "http://h:8080/s?q=%D6%D0%CE%C4"),
        ("/中?q=é", "http://h:8080/%E4%B8%AD?q=%A8%A6"),
        ("/s?q=\u{1F600}&a=1", "http://h:8080/s?q=%26%23128512%3B&a=1"),
    ];
    for (href, expected) in table {
        let joined = CrawlUrl::join(&base, href, gbk, &Canonical::default());
        let joined = joined.map_or_else(|fault| format!("! {fault}"), |url| url.as_str().to_owned());
        assert_eq!(joined, expected, "{href:?}");
    }
}

#[test]
fn slashes_before_a_host_count_as_two_however_many_they_are() {
    let base = Url::parse("https://site.example/a/b?c").unwrap();
    let canonical = Canonical::default();
    let joined = |href: &str| CrawlUrl::join(&base, href, None, &canonical).map(|url| url.as_str().to_owned());
    for (href, expected) in [
        ("//h.example/p", "https://h.example/p"),
        ("///h.example/p", "https://h.example/p"),
        ("////h.example/p?q", "https://h.example/p?q"),
        (" \t/\n//h.example/p", "https://h.example/p"),
        (r"/\/h.example/p", "https://h.example/p"),
        (r"\\\\\h.example\p", "https://h.example/p"),
        ("http:////h.example/p", "http://h.example/p"),
        ("http:///h.example/p", "http://h.example/p"),
        ("https:////h.example/p", "https://h.example/p"),
        ("/p///q", "https://site.example/p///q"),
    ] {
        assert_eq!(joined(href).as_deref(), Ok(expected), "{href:?}");
        assert_eq!(resolve(&base, href).map(String::from).as_deref(), Some(expected), "{href:?}");
    }
    for nothing in ["//", "///", "////"] {
        assert!(joined(nothing).is_err(), "{nothing:?}");
    }
}

#[test]
fn parts_are_what_the_database_keeps() {
    let url = CrawlUrl::parse("https://[::1]:8443/a/b?c=d", &Canonical::default()).unwrap();
    assert_eq!((url.scheme(), url.host(), url.authority()), ("https", "[::1]", "[::1]:8443"));
    assert_eq!((url.origin(), url.path()), ("https://[::1]:8443", "/a/b?c=d"));
    assert_eq!(CrawlUrl::from_parts(url.origin(), url.path()), url);
    let plain = CrawlUrl::parse("http://[::1]/", &Canonical::default()).unwrap();
    assert_eq!((plain.host(), plain.authority()), ("[::1]", "[::1]"));
}

#[test]
fn urls_beyond_the_cap_are_refused() {
    let long = format!("http://h/{}", "a".repeat(URL_BYTES_MAX));
    assert_eq!(CrawlUrl::parse(&long, &Canonical::default()), Err(UrlFault::TooLong));
    let just = format!("http://h/{}", "a".repeat(URL_BYTES_MAX - "http://h/".len()));
    assert_eq!(CrawlUrl::parse(&just, &Canonical::default()).unwrap().as_str().len(), URL_BYTES_MAX);
    let shrinks = format!("http://h/{}", "%41".repeat(URL_BYTES_MAX - 10));
    assert!(CrawlUrl::parse(&shrinks, &Canonical::default()).is_ok());
}

#[test]
fn explanation_ends_at_the_identity() {
    let canonical = Canonical { sort: true, drop: names(&["x"]), ..Canonical::default() };
    let text = "HTTP://H.:80/%7ea;jsessionid=1?z=1&x=2&utm_id=3&a=%c4#frag";
    let (url, steps) = explain(text, &canonical).unwrap();
    assert_eq!(url.as_str(), "http://h/~a?a=%C4&z=1");
    assert_eq!(steps.last().unwrap().url, url.as_str());
    let told: Vec<&str> = steps.iter().map(|step| step.what.as_str()).collect();
    assert_eq!(told.len(), 8, "{told:#?}");
    assert!(told.contains(&"parameter `utm_id=3` dropped: tracking parameter"), "{told:#?}");
}

fn url_like() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("http://h"),
        Just("https://H.example.:443"),
        Just("/"),
        Just("//"),
        Just("."),
        Just(".."),
        Just("%2e"),
        Just("%2E"),
        Just("%"),
        Just("%4"),
        Just("%41"),
        Just("%25"),
        Just("%d6%d0"),
        Just("?"),
        Just("&"),
        Just("="),
        Just("#"),
        Just(";jsessionid=1"),
        Just(";"),
        Just(":"),
        Just("@"),
        Just("\\"),
        Just("'"),
        Just("^"),
        Just("`"),
        Just("{"),
        Just("|"),
        Just("["),
        Just(" "),
        Just("\t"),
        Just("\u{7f}"),
        Just("é"),
        Just("中"),
        Just("1"),
        Just("a"),
        Just("f"),
        Just("utm_a=1"),
        Just("PHPSESSID=2"),
        Just("b=2"),
        Just("http:"),
        Just("127.0.0.1"),
        Just("/index.html"),
        Just("/(S(a1))"),
        Just("/(S(a1))/"),
    ];
    proptest::collection::vec(piece, 0..14).prop_map(|pieces| pieces.concat())
}

fn hosts() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        "a",
        "b-c",
        "-",
        "--",
        "xn--",
        "xn--mnchen-3ya",
        ".",
        "1",
        "0x7f",
        "127.0.0.1",
        "127.1",
        "255.255.255.255",
        "256.1.1.1",
        "01.2.3.4",
        ":",
        ":80",
        ":443",
        ":8080",
        ":0",
        ":080",
        ":+8",
        ":65535",
        ":65536",
        "@",
        "_",
        "%41",
        "[::1]",
        "H",
        "é",
        "\u{ad}",
        "mailto:",
        "JavaScript:",
        "data:",
        "ftp:",
        "file:",
        "ws:",
        "blob:http:",
        "a+b.c-d:",
        "1a:",
        "//",
        "/",
        "\\",
        " ",
        "\t",
        "localhost",
        "example.org",
        "com.",
        "\u{7f}",
        "magnet:?xt=",
        "tel:+1",
        "void(0)",
    ]);
    proptest::collection::vec(piece, 0..6).prop_map(|pieces| pieces.concat())
}

fn canonicals() -> impl Strategy<Value = Canonical> {
    (any::<bool>(), any::<bool>(), any::<bool>(), any::<[bool; 4]>()).prop_map(|(sort, drop, keep, path)| Canonical {
        sort,
        drop: if drop { names(&["b", "a*"]) } else { Vec::new() },
        keep: if keep { names(&["b", "f*"]) } else { Vec::new() },
        session: if drop { names(&["f"]) } else { Vec::new() },
        default_documents: if path[0] { vec!["index.html".into(), "a".into()] } else { Vec::new() },
        path_sessions: path[1],
        merge_slashes: path[2],
        form_values: path[3],
    })
}

#[test]
fn odd_links_are_what_the_standard_makes_of_them() {
    let canonical = Canonical::default();
    let odd = [
        "",
        "?",
        "#",
        "?#",
        "#top",
        "#é",
        "# ",
        "?a=1#b",
        "/",
        "//",
        "///",
        "/.",
        "/..",
        "/./a",
        "/a/../b",
        "../a",
        "./a",
        "a/./b",
        "%2e/a",
        "/%2E%2e/b",
        "a%2fb",
        "/a%",
        "/a%4",
        "a\tb",
        "/a\nb",
        "\r\n/a",
        " /a ",
        "/a b",
        "http://u@h/a",
        "http://u:p@h/a",
        "//u@h/a",
        "http://h:80/a",
        "http://h:8080/a",
        "https://h:443/a",
        "https://h:80/a",
        "http://h:/a",
        "http://h:99999/a",
        "HTTP://H/a",
        "http://H/a",
        "http:a",
        "http:/a",
        "http:///a",
        "http://h",
        "http://h?a",
        "http://h#a",
        "http://h/?a#b",
        "http://h\\a",
        "\\a",
        "/a\\b",
        "\\\\h/a",
        "//h/a",
        "///h/a",
        "http://xn--mnchen-3ya.example/",
        "http://m\u{fc}nchen.example/",
        "http://1.2.3/a",
        "http://1.2.3.4/a",
        "http://01.2.3.4/a",
        "http://1.2.3.4.5/a",
        "http://0x7f.1/a",
        "http://[::1]/a",
        "http://a..b/",
        "http://a./x",
        "http://a_b/x",
        "mailto:a@b",
        "javascript:void(0)",
        "JAVASCRIPT:x",
        "tel:+1",
        "data:,x",
        "magnet:?xt=urn:btih:0",
        "ftp://h/a",
        "file:///a",
        "ws://h/a",
        "foo:/a",
        "foo://h:99999/",
        "foo:",
        "a:b",
        "1a:b",
        "+a:b",
        ":a",
        "/a:b",
        "a?b:c",
        "about:blank",
        "blob:http://h/a",
    ];
    // So long that they just fit with an origin and a folder, or by themselves, or are read at all.
    let lengths = (URL_BYTES_MAX - 24..=URL_BYTES_MAX + 1).chain(3 * URL_BYTES_MAX - 1..=3 * URL_BYTES_MAX + 1);
    let long: Vec<String> = lengths
        .flat_map(|length| {
            let begun =
                ["a", "/", "/..", "?a=b", "#", "/a#", "%41", "http://h/", "https://h.example:8443/?", "mailto:"];
            let unit = |begin: &str| if matches!(begin, "/.." | "%41") { begin.to_owned() } else { "a".to_owned() };
            begun.map(|begin| {
                let text = begin.to_owned() + &unit(begin).repeat(length);
                text[..length].to_owned()
            })
        })
        .collect();
    for base in [
        "http://h/a/b?c=d#e",
        "https://h.example:8443/",
        "http://h/a/../b/?x",
        "http://127.0.0.1:1/x/y",
        "mailto:a@b",
        "http://u:p@h/a",
    ] {
        let base = Url::parse(base).unwrap();
        for href in odd.into_iter().chain(long.iter().map(String::as_str)) {
            let standard = join_by_standard(&base, href, None, &canonical);
            assert_eq!(CrawlUrl::join(&base, href, None, &canonical), standard, "{href:.99} on {base}");
            assert_eq!(CrawlUrl::parse(href, &canonical), parse_by_standard(href, &canonical), "{href:.99}");
        }
    }
}

#[test]
fn the_number_of_a_thing_is_the_largest_whole_one() {
    for (path, expected) in [
        ("/torrent/4711", 4711),
        ("/viewtopic.php?f=2&t=4711", 4711),
        ("/thread-4711-1-1.html", 4711),
        ("/threads/some-title.4711/", 4711),
        ("/t/4711.html", 4711),
        ("/download/4711.torrent", 4711),
        ("/index.php?topic=4711.0", 4711),
        ("/showthread.php?4711-title-2019", 4711),
        ("/torrents/show/12/Some.Title.2019", 12),
        ("/0123456789abcdef0123456789abcdef01234567", 0),
        ("/1790000000000000/x", 0),
        ("/", 0),
        ("/t/0", 0),
    ] {
        let url = CrawlUrl::from_parts("http://h", path);
        assert_eq!(url.number().map_or(0, std::num::NonZeroU64::get), expected, "{path}");
    }
}

proptest! {
    // More with PROPTEST_CASES.
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases.max(4_000)))]

    #[test]
    fn normalising_twice_changes_nothing(text in url_like(), canonical in canonicals()) {
        if let Ok(once) = CrawlUrl::parse(&format!("http://h/{text}"), &canonical) {
            let twice = CrawlUrl::parse(once.as_str(), &canonical);
            prop_assert_eq!(twice.as_ref(), Ok(&once));
            prop_assert!(once.path().starts_with('/'));
        }
        if let Ok(once) = CrawlUrl::parse(&text, &canonical) {
            prop_assert_eq!(CrawlUrl::parse(once.as_str(), &canonical), Ok(once));
        }
    }

    #[test]
    fn the_short_way_and_the_standard_agree(
        base in url_like(),
        href in prop_oneof![4 => url_like(), 1 => hosts(), 1 => (hosts(), url_like()).prop_map(|(host, path)| format!("http://{host}/{path}"))],
        canonical in canonicals(),
        is_gbk in any::<bool>(),
    ) {
        let base = Url::parse(&format!("http://h/{base}")).unwrap();
        let encoding = is_gbk.then_some(encoding_rs::GBK);
        if let Some(short) = plain::join(&base, &href, &canonical) {
            prop_assert_eq!(short, join_by_standard(&base, &href, encoding, &canonical), "{} on {}", href, base);
        }
    }

    #[test]
    fn absolute_urls_and_the_standard_agree(text in url_like(), host in hosts(), canonical in canonicals()) {
        for text in [text.clone(), host.clone(), format!("http://{host}/{text}"), format!("https://{host}{text}"), host + &text] {
            if let Some(short) = plain::parse(&text, &canonical) {
                prop_assert_eq!(short, parse_by_standard(&text, &canonical), "{}", text);
            }
        }
    }

    #[test]
    fn no_text_panics(text in any::<String>(), href in any::<String>()) {
        let canonical = Canonical::default();
        let _ = CrawlUrl::parse(&text, &canonical);
        let base = Url::parse("http://h/a/b?c").unwrap();
        let _ = CrawlUrl::join(&base, &href, Some(encoding_rs::ISO_2022_JP), &canonical);
    }

    #[test]
    fn explanation_agrees_with_parse(text in url_like(), canonical in canonicals()) {
        let text = format!("http://h/{text}");
        if let Ok((url, steps)) = explain(&text, &canonical) {
            prop_assert_eq!(CrawlUrl::parse(&text, &canonical), Ok(url.clone()));
            let last = steps.last().map_or(text.as_str(), |step| step.url.as_str());
            prop_assert_eq!(last, url.as_str());
        }
    }
}
