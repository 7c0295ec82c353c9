//! Unit tests of `politeness::robots`.

use super::*;

fn robots(text: &str) -> Robots {
    Robots::parse(text.as_bytes(), "gleaner")
}

/// (robots.txt, allowed paths, disallowed paths): RFC 9309 §2.2 and §5, and the published examples of Google.
const CASES: &[(&str, &[&str], &[&str])] = &[
    ("", &["/", "/a"], &[]),
    ("User-agent: *\nDisallow: /", &["/robots.txt"], &["/", "/a"]),
    ("User-agent: *\nDisallow:", &["/", "/a"], &[]),
    ("User-agent: other\nDisallow: /", &["/a"], &[]),
    ("User-agent: gleaner\nDisallow: /a\n\nUser-agent: *\nDisallow: /", &["/b"], &["/a", "/abc"]),
    ("USER-AGENT: GLEANER/2.1 (x)\nDISALLOW: /a", &["/b"], &["/a"]),
    ("User-agent: gleaners\nDisallow: /a", &["/a"], &[]),
    ("User-agent: a\nUser-agent: gleaner\nDisallow: /x", &["/y"], &["/x"]),
    ("User-agent: gleaner\nDisallow: /x\nUser-agent: b\nDisallow: /y", &["/y"], &["/x"]),
    // Groups of the same token are merged.
    ("User-agent: gleaner\nDisallow: /x\n\nUser-agent: gleaner\nDisallow: /y", &["/z"], &["/x", "/y"]),
    // A group of our own without rules exempts us from the general group.
    ("User-agent: gleaner\nDisallow:\nUser-agent: *\nDisallow: /", &["/x"], &[]),
    // The longest match decides, allow wins between equals.
    ("User-agent: *\nDisallow: /p\nAllow: /page", &["/page", "/page/1"], &["/p", "/px"]),
    ("User-agent: *\nAllow: /p\nDisallow: /p", &["/p"], &[]),
    ("User-agent: *\nAllow: /$\nDisallow: /", &["/"], &["/page.htm"]),
    ("User-agent: *\nAllow: /page\nDisallow: /*.htm", &["/page"], &["/page.htm", "/x.htm"]),
    ("User-agent: *\nDisallow: /*.php$", &["/a.php?x=1", "/a.phps"], &["/a.php", "/d/b.php"]),
    ("User-agent: *\nDisallow: /fish*.php", &["/Fish.php", "/fish"], &["/fish.php", "/fishheads/c.php?p=1"]),
    (
        "User-agent: *\nDisallow: /*/private/*/x$",
        &["/a/private/x", "/a/private/b/xx"],
        &["/a/private/b/x", "/a/private/b/c/x"],
    ),
    ("User-agent: *\nDisallow: *", &[], &["/", "/a"]),
    // Percent-encoding is unified before comparison.
    ("User-agent: *\nDisallow: /foo/bar/ツ", &["/foo/bar/"], &["/foo/bar/%E3%83%84"]),
    ("User-agent: *\nDisallow: /%7ejoe", &[], &["/~joe", "/%7Ejoe"]),
    ("User-agent: *\nDisallow: /a%2fb", &["/a/b"], &["/a%2Fb"]),
    ("User-agent: *\nDisallow: /a b|c", &["/a"], &["/a%20b|c", "/a%20b%7Cc"]),
    // Reserved characters too, in the value of a query; separators of fields have another meaning there.
    (
        "User-agent: *\nDisallow: /foo/bar?baz=https://foo.bar",
        &["/foo/bar?baz=https", "/foo%2Fbar?baz=https://foo.bar", "/foo/bar%3Fbaz=https://foo.bar"],
        &["/foo/bar?baz=https%3A%2F%2Ffoo.bar", "/foo/bar?baz=https%3a//foo.bar", "/foo/bar?baz=https://foo.bar/"],
    ),
    (
        "User-agent: *\nDisallow: /foo/bar?baz=https%3A%2F%2Ffoo.bar",
        &["/foo/bar?baz%3Dhttps://foo.bar"],
        &["/foo/bar?baz=https://foo.bar", "/foo/bar?baz=https%3A%2F%2Ffoo.bar"],
    ),
    ("User-agent: *\nDisallow: /a?b=c%26d", &["/a?b=c&d", "/a%3Fb=c%26d"], &["/a?b=c%26d"]),
    // After a `*` it depends on where the rest is found.
    (
        "User-agent: *\nDisallow: /*http%3A%2F%2F",
        &["/go/http://x", "/go/http:%2F%2F"],
        &["/go/http%3A%2F%2Fx", "/go?u=http://x", "/go?u=http%3a%2f%2fx", "/http://?u=http://"],
    ),
    (
        "User-agent: *\nDisallow: /*http://*/x?y$",
        &["/go?u=http%3A%2F%2F", "/go?u=http%3A%2F%2Fz/x?y&", "/go/http%3A//z/x?y"],
        &["/go/http://z/x?y", "/go?u=http%3A%2F%2Fz%2Fx%3Fy", "/go?u=http://z/x?y"],
    ),
    // Special characters of a pattern are encoded to be literal (RFC 9309 §2.2.3).
    ("User-agent: *\nDisallow: /a-%2A.html", &["/a-b.html"], &["/a-*.html", "/a-%2a.html"]),
    ("User-agent: *\nDisallow: /a-%24", &["/a-"], &["/a-$", "/a-$b", "/a-%24"]),
    ("User-agent: *\nDisallow: /*2", &["/a*", "/a?b=c/"], &["/2"]),
    // Some disallow all escaped characters.
    ("User-agent: *\nDisallow: /*%", &["/a?b=c:d"], &["/a%20b", "/a?b=c%3Ad", "/%2a"]),
    // Comments, spaces, odd line ends, a BOM, other records.
    ("\u{feff}User-agent: * # all\r\nSitemap: http://x/s.xml\r\n  Disallow :  /x  # why\r\rFoo: bar", &["/y"], &["/x"]),
    ("Disallow: /x\nUser-agent: *\nDisallow: /y", &["/x"], &["/y"]),
    ("User-agent: *\nDissallow: /x", &["/y"], &["/x"]),
    // Records outside the RFC do not end a run of user-agent lines.
    ("User-agent: gleaner\nCrawl-delay: 5\nUser-agent: b\nDisallow: /x", &["/y"], &["/x"]),
    // The query is part of the matched text.
    ("User-agent: *\nDisallow: /s?q=", &["/s", "/s?p=1"], &["/s?q=1"]),
    ("<html>not a robots file: at all</html>", &["/"], &[]),
];

#[test]
fn cases_of_the_rfc_and_of_large_crawlers() {
    for (text, allowed, closed) in CASES {
        let robots = robots(text);
        for path in *allowed {
            assert!(robots.allows(path), "{path} must be allowed by {text:?}");
        }
        for path in *closed {
            assert!(!robots.allows(path), "{path} must be closed by {text:?}");
        }
    }
}

#[test]
fn sitemaps_are_everybodys_and_change_no_rule() {
    let text = "Sitemap: https://x.example/a.xml\nUser-agent: other\nDisallow: /\nSITEMAP:/b.xml.gz # b\nsitemap:\n";
    let with = robots(text);
    assert_eq!(with.sitemaps.iter().map(|url| &**url).collect::<Vec<_>>(), ["https://x.example/a.xml", "/b.xml.gz"]);
    assert_eq!(with.fingerprint(), robots("User-agent: other\nDisallow: /").fingerprint());
    let many = robots(&"Sitemap: /x\n".repeat(limits::SITEMAPS_PER_ROBOTS_MAX + 1));
    assert_eq!(many.sitemaps.len(), limits::SITEMAPS_PER_ROBOTS_MAX);
    // A sitemap line belongs to no group, and ends none (RFC 9309 §2.2.4).
    assert!(!robots("User-agent: gleaner\nSitemap: /s\nUser-agent: b\nDisallow: /x").allows("/x"));
}

#[test]
fn x_robots_tag_binds_everybody_or_the_robot_it_names() {
    for tag in [
        "nofollow",
        "noindex, NOFOLLOW",
        "none",
        "gleaner: nofollow",
        "Gleaner: noindex, none",
        "*: nofollow",
        "unavailable_after: 25 Jun 2030 15:00:00 GMT, nofollow",
        "max-snippet:5, nofollow",
    ] {
        assert!(tags_say_nofollow(&[tag], "gleaner"), "{tag}");
    }
    for tag in ["", "noindex", "follow", "otherbot: nofollow", "noarchive: nofollow", "nofollows"] {
        assert!(!tags_say_nofollow(&[tag], "gleaner"), "{tag}");
    }
    assert!(tags_say_nofollow(&["otherbot: all", "nofollow"], "gleaner"));
}

#[test]
fn crawl_delay_is_that_of_our_group_and_never_absurd() {
    assert_eq!(robots("User-agent: *\nCrawl-delay: 2.5").crawl_delay, Some(Duration::from_millis(2_500)));
    assert_eq!(robots("User-agent: *\nCrawl-delay: 9e99").crawl_delay, Some(limits::CRAWL_DELAY_MAX));
    for bad in ["-1", "NaN", "inf", "soon", ""] {
        assert_eq!(robots(&format!("User-agent: *\nCrawl-delay: {bad}")).crawl_delay, None, "{bad}");
    }
    assert_eq!(robots("User-agent: gleaner\nAllow: /\nUser-agent: *\nCrawl-delay: 9").crawl_delay, None);
}

#[test]
fn a_file_beyond_the_cap_is_read_up_to_it() {
    let mut text = String::from("User-agent: *\nDisallow: /x\n");
    text.push_str(&"#".repeat(limits::ROBOTS_BYTES_MAX));
    text.push_str("\nDisallow: /y\n");
    let robots = robots(&text);
    assert!(!robots.allows("/x") && robots.allows("/y"));
}

#[test]
fn many_stars_do_not_take_long() {
    let robots = robots(&format!("User-agent: *\nDisallow: /{}b$", "*a".repeat(2_000)));
    assert!(robots.allows(&format!("/{}", "a".repeat(4_000))));
}
