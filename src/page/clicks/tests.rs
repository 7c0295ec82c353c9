//! Unit tests of `clicks`: the links of pages, by the scanner and by the tree.

use encoding_rs::{GBK, UTF_8};

use crate::links::{LinkKind, scan};
use crate::tree;

/// The links of a page, which the tree must give too.
fn links(page: &str) -> Vec<(LinkKind, String)> {
    let plain = |links: Vec<crate::links::Link<'_>>| {
        links.into_iter().map(|link| (link.kind, link.href.into_owned())).collect::<Vec<_>>()
    };
    let found = plain(scan(page.as_bytes(), UTF_8).links);
    assert_eq!(found, plain(tree::links(page).unwrap().links), "{page}");
    found
}

fn hrefs(page: &str) -> Vec<String> {
    links(page).into_iter().map(|(_, href)| href).collect()
}

#[test]
fn a_form_of_hidden_fields_and_buttons_is_the_link_that_it_asks_for() {
    for (form, expected) in [
        (
            "<form action='/dl/get' method='get'><input type='hidden' name='id' value='7'><input type=submit value=Get>",
            &["/dl/get?id=7"][..],
        ),
        ("<FORM ACTION=/t/3><BUTTON>Three</BUTTON></FORM>", &["/t/3"]),
        ("<form action='/t?old=1#top' method=GET><input type=HIDDEN name=a value=1><button>x</button>", &["/t?a=1"]),
        (
            "<form action=/t method=''><input type=hidden name=a value='b c&amp;d=ü+'><button>",
            &["/t?a=b+c%26d%3D%C3%BC%2B"],
        ),
        (
            "<form action=/t><input type=hidden name=a value=1><input type=submit name=do value='Get it'>",
            &["/t?a=1&do=Get+it"],
        ),
        (
            "<form action=/t><button name=q value=hd>HD</button><input type=hidden name=id value=1><button name=q value=sd>SD</button>",
            &["/t?q=hd&id=1", "/t?id=1&q=sd"],
        ),
        ("<form action=/t><input type=hidden name=id value=1><button formaction=/x>x</button>", &["/x?id=1"]),
        (
            "<form action=/t><input type=hidden name=id value=1><button type=button onclick='this.form.submit()'>",
            &["/t?id=1"],
        ),
        ("<form action=/t><input type=hidden name=id><input type=image name=i>", &["/t?id=&i.x=0&i.y=0"]),
        ("<form action=/t><input type=hidden name=a value=1 disabled><input type=hidden value=2><button>", &["/t"]),
        ("<form action=/t><input type=hidden name=a value=1><button name=b value=2 formmethod=post>", &["/t?a=1"]),
        ("<form><input type=hidden name=page value=2><button>Next</button></form>", &["?page=2"]),
    ] {
        assert_eq!(hrefs(form), expected, "{form}");
        assert!(links(form).iter().all(|(kind, _)| *kind == LinkKind::Click), "{form}");
    }
}

#[test]
fn a_form_that_posts_or_asks_is_no_link() {
    for form in [
        "<form action=/t method=post><input type=hidden name=id value=1><button>x</button>",
        "<form action=/t method=POST><button>x",
        "<form action=/t method=dialog><button>x",
        "<form action=/t><input name=q><button>x",
        "<form action=/t><input type=search name=q><input type=submit>",
        "<form action=/t><input type=password name=p><input type=submit>",
        "<form action=/t><input type=checkbox name=c value=1><button>",
        "<form action=/t><input type=file name=f><button>",
        "<form action=/t><select name=s><option>1</select><button>",
        "<form action=/t><textarea name=t></textarea><button>",
        "<form action=javascript:go()><button>x",
        "<form action=/t></form>",
        "<form><button>x</button></form>",
        "<input type=hidden name=a value=1><button>x</button>",
        "<form action=/t></form><button>x</button>",
    ] {
        assert_eq!(hrefs(form), [""; 0], "{form}");
    }
}

#[test]
fn the_links_of_a_form_stand_where_it_begins() {
    let page =
        "<a href=1>1</a><form action=2><a href=3>3</a><button>x</button></form><a href=4>4</a><form action=5><button>y";
    assert_eq!(hrefs(page), ["1", "2", "3", "4", "5"]);
    let table =
        "<table><tr><form action=/t><td><input type=hidden name=id value=1><button>x</button></td></form></tr></table>";
    assert_eq!(
        scan(table.as_bytes(), UTF_8).links[0].href,
        "/t?id=1",
        "the tree moves it, and its fields stay its own"
    );
}

#[test]
fn a_form_sends_in_the_charset_of_its_page() {
    let (page, ..) = GBK.encode("<form action='/种'><input type=hidden name=n value=种><button>x</button></form>");
    assert_eq!(scan(&page, GBK).links[0].href, "/种?n=%D6%D6");
}

#[test]
fn hostile_forms_are_bounded() {
    let fields = "<input type=hidden name=a value=1>".repeat(1_000);
    assert!(scan(format!("<form action=/t>{fields}<button>").as_bytes(), UTF_8).links.is_empty());
    let long = "x".repeat(1 << 20);
    assert!(scan(format!("<form action='/{long}'><button>").as_bytes(), UTF_8).links.is_empty());
    assert!(scan(format!("<form><input type=hidden name=a value={long}><button>").as_bytes(), UTF_8).links.is_empty());
    let handlers: String = (0..1_000).map(|n| format!(" on{}=\"location='/x'\"", "a".repeat(n + 2))).collect();
    assert!(scan(format!("<p{handlers}>").as_bytes(), UTF_8).links.len() <= crate::limits::HANDLERS_PER_TAG_MAX);
    let goes = "location='/x';".repeat(1_000);
    assert!(
        scan(format!("<p onclick=\"{goes}\">").as_bytes(), UTF_8).links.len() <= crate::limits::TARGETS_PER_HANDLER_MAX
    );
}

#[test]
fn handlers_that_go_to_a_literal_address_are_links() {
    for (code, expected) in [
        ("window.location='/t/1'", "/t/1"),
        ("location.href='/t/2'", "/t/2"),
        ("location = &quot;/t/3&quot;; return false", "/t/3"),
        ("window.location.href = '/t/4?a=1&amp;b=2';", "/t/4?a=1&b=2"),
        ("document.location=`/t/5`", "/t/5"),
        ("location.assign('/t/6')", "/t/6"),
        ("top.location.replace( '/t/7' )", "/t/7"),
        ("window.open('/t/8', '_blank')", "/t/8"),
        ("setTimeout(&quot;location.href='/t/9'&quot;, 3000)", "/t/9"),
        (r"location='\/t\/10'", "/t/10"),
        ("if (go) { self.location.href='/t/11' }", "/t/11"),
        ("location&#46;href&#61;&#39;/t/12&#39;", "/t/12"),
    ] {
        for page in [format!("<div onclick=\"{code}\">x</div>"), format!("<svg><g ONCLICK=\"{code}\"></g></svg>")] {
            assert_eq!(links(&page), [(LinkKind::Click, expected.to_owned())], "{page}");
        }
        let script = format!("<a href=\"javascript:{code}\">x</a>");
        assert_eq!(hrefs(&script).last().map(String::as_str), Some(expected), "{script}");
    }
}

#[test]
fn handlers_that_go_elsewhere_are_none() {
    for code in [
        "location='/t/'+id",
        "location=url",
        "location=='/x'",
        "location.hash='/x'",
        "location.href.replace('/x')",
        "mylocation='/x'",
        "location_='/x'",
        "location='/x",
        "location=''",
        "location=`/t/${id}`",
        "location='\\u002fx'",
        "window.opened('/x')",
        "window.open(url)",
        "open",
        "location",
        "",
    ] {
        assert_eq!(hrefs(&format!("<p onclick=\"{code}\">x</p>")), [""; 0], "{code}");
    }
    for page in ["<p on=\"location='/x'\">", "<p title=\"location='/x'\">", "<!-- <p onclick=\"location='/x'\"> -->"] {
        assert_eq!(hrefs(page), [""; 0], "{page}");
    }
}

#[test]
fn handlers_count_once_in_the_order_of_their_names() {
    let page = "<p onclick=\"location='/b'\" onBLUR=\"location='/a'\" ONCLICK=\"location='/c'\">x</p>";
    assert_eq!(hrefs(page), ["/a", "/b"]);
    assert_eq!(hrefs("<body onload=\"location='/x'\"><a href=y>y</a>"), ["/x", "y"]);
    assert_eq!(hrefs("<a href=/t onclick=\"window.open('/u')\">x</a>"), ["/t", "/u"]);
}

#[test]
fn data_of_an_element_that_is_no_link_is_one() {
    let page = "<table><tr data-href='/t/5'><td data-url=/no DATA-HREF=/t/6>x</table><a href=/t/7 data-href=/no>x</a>\
        <a href='#' data-href=/t/8>x</a><p data-href=''>x</p>";
    let clicked: Vec<String> =
        links(page).into_iter().filter(|(kind, _)| *kind == LinkKind::Click).map(|(_, href)| href).collect();
    assert_eq!(clicked[0], "/t/5");
    assert_eq!(clicked.last().map(String::as_str), Some("/t/8"));
    assert_eq!(clicked.len(), 3);
}

#[test]
fn magnets_that_a_click_brings_are_magnets() {
    let page = "<p onclick=\"location.href='magnet:?xt=urn:btih:aa'\"><i data-url='magnet:?xt=urn:btih:bb'></i></p>";
    assert!(links(page).iter().all(|(kind, _)| *kind == LinkKind::Encoded));
    assert_eq!(hrefs(page).len(), 2);
}

#[test]
fn pages_within_the_page_and_other_places_of_links_are_read() {
    for (page, expected) in [
        (
            "<iframe srcdoc=\"<a href='/t/1'>x</a><a rel=next href=/t/2>y</a>\"></iframe><a href=z>",
            vec![(LinkKind::Anchor, "/t/1"), (LinkKind::Anchor, "/t/2"), (LinkKind::Anchor, "z")],
        ),
        (
            "<iframe src=/f srcdoc='&lt;a href=/t?a=1&amp;amp;b=2>'></iframe>",
            vec![(LinkKind::Frame, "/f"), (LinkKind::Anchor, "/t?a=1&b=2")],
        ),
        (
            "<svg><a xlink:href='/t/1'><text>x</text></a><A xlink:href=/no href=/t/2>y</A></svg>",
            vec![(LinkKind::Anchor, "/t/1"), (LinkKind::Anchor, "/t/2")],
        ),
        ("<a xlink:href=/no>x</a>", vec![]),
        (
            "<link rel=alternate type='application/x-bittorrent' href=/a.torrent>",
            vec![(LinkKind::Anchor, "/a.torrent")],
        ),
        ("<link rel=alternate type='application/metalink4+xml' href=/a.meta4>", vec![(LinkKind::Feed, "/a.meta4")]),
        ("<link rel=alternate type='text/html' href=/de>", vec![]),
        (
            "<meta http-equiv=refresh content='0;url=magnet&colon;?xt=urn:btih:aa&amp;dn=b'>",
            vec![(LinkKind::Encoded, "magnet:?xt=urn:btih:aa&dn=b")],
        ),
    ] {
        let found = links(page);
        let found: Vec<(LinkKind, &str)> = found.iter().map(|(kind, href)| (*kind, &**href)).collect();
        assert_eq!(found, expected, "{page}");
    }
}

#[test]
fn pages_within_pages_are_read_to_a_depth() {
    let mut page = "<a href=/deep>x</a>".to_owned();
    for depth in 1..=crate::limits::SRCDOC_DEPTH_MAX + 1 {
        page = format!("<iframe srcdoc=\"{}\"></iframe>", page.replace('&', "&amp;").replace('"', "&quot;"));
        assert_eq!(hrefs(&page).len(), usize::from(depth <= crate::limits::SRCDOC_DEPTH_MAX), "{depth}");
    }
}
