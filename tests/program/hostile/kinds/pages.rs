//! Pages, feeds and sitemaps that are heavy, malformed or mislabelled.

use std::io::Write as _;
use std::sync::LazyLock;

use super::{PAGE, kept, lost};
use crate::hostile::server::{After, Kind, Talk};

static LINKS: LazyLock<Vec<u8>> =
    LazyLock::new(|| (0..300_000).flat_map(|number| format!("<a href=/n/{number}>{number}").into_bytes()).collect());

static SITEMAP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    out.write_all(b"<?xml version=\"1.0\"?><urlset>").unwrap();
    let rows = "<url><loc>http://a.test/</loc></url>".repeat(30_000);
    for _ in 0..100 {
        out.write_all(rows.as_bytes()).unwrap();
    }
    out.finish().unwrap()
});

/// Bodies that take long to generate.
pub static MADE: &[&LazyLock<Vec<u8>>] = &[&LINKS, &SITEMAP];

pub fn kinds() -> Vec<Kind> {
    vec![
        kept("page-of-nested-blocks", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", "<div>".repeat(40_000) + &page)
        }),
        kept("page-of-unclosed-formatting", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", "<b><i><a><font><p><table><tr><td>".repeat(6_000) + &page)
        }),
        lost("page-with-50-mb-of-one-attribute", PAGE, |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html><a title=\"")?;
            for _ in 0..50 {
                talk.raw(vec![b'x'; 1 << 20])?;
            }
            talk.raw("\" href=/>")?;
            Ok(After::Close)
        }),
        kept("page-with-7-mb-of-one-attribute", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", format!("{page}<a title=\"{}\" href=/hostile/nowhere>", "x".repeat(7 << 20)))
        }),
        kept("page-with-7-mb-of-open-tags", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", page + &"<".repeat(7 << 20))
        }),
        kept("page-with-7-mb-of-open-comment", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", page + "<!--" + &"-- >".repeat(7 << 18))
        }),
        kept("page-with-cyclic-base", PAGE, |talk| {
            let page = talk.kind.page();
            let base = "<base href=\"../page-with-cyclic-base/\"><base href=\"./\"><base href=\"#\">";
            talk.html("", page.replace("<body>", &format!("{base}<a href=\"../page-with-cyclic-base/./\">again</a>")))
        }),
        kept("page-with-base-of-1-mb", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", format!("<base href=\"/{}/\">{page}{}", "d".repeat(1 << 20), "<a href=x>".repeat(1_000)))
        }),
        kept("page-with-base-elsewhere", PAGE, |talk| {
            let good = format!("http://{}/hostile/{}/good.torrent", talk.address, talk.kind.name);
            talk.html("", format!("<base href=\"javascript:alert(1)\"><a href=\"{good}\">good</a>"))
        }),
        kept("page-with-url-of-7-mb", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", format!("{page}<a href=\"/hostile/{}\">long</a>", "u".repeat(7 << 20)))
        }),
        kept("page-with-url-of-10-mb", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", format!("{page}<a href=\"/hostile/{}\">long</a>", "u".repeat(10 << 20)))
        }),
        kept("page-with-other-schemes", PAGE, |talk| {
            let page = talk.kind.page();
            let schemes = [
                "javascript:void(0)",
                "data:text/html,<a href=/>",
                "file:///etc/passwd",
                "ftp://a.test/x.torrent",
                "mailto:a@a.test",
                "blob:x",
                "about:blank",
                "http:///",
                "http://",
                "//",
                "\u{0}\u{1}",
                "http://[::1",
                "http://a.test:99999/",
                "http://user:secret@127.0.0.1/x.torrent",
                "http://1.1.1.1.1/",
                "\\\\server\\x",
                "magnet:?xt=urn:btih:zz",
                "thunder://!!!",
            ];
            talk.html("", page + &schemes.map(|url| format!("<a href=\"{url}\">x</a>\n")).concat())
        }),
        kept("page-with-300000-links", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", [page.as_bytes(), &LINKS].concat())
        }),
        kept("page-with-nul-and-invalid-utf-8", PAGE, |talk| {
            let page = talk.kind.page();
            let noise = [
                b"<!doctype html><p>".as_slice(),
                &[0xff, 0xc3, 0x28, 0xed, 0xa0, 0x80, 0xf8].repeat(1_000),
                &[0; 1_000],
            ];
            talk.html("", [&noise.concat(), page.as_bytes()].concat())
        }),
        // `+ADw-a href…`: decoding it would reveal a false link.
        kept("page-in-utf-7", PAGE, |talk| {
            let page = talk.kind.page();
            let hidden = "+ADw-a href=+ACI-/hostile/page-in-utf-7/hidden.torrent+ACIAPg-";
            talk.answer("200 OK", "Content-Type: text/html; charset=utf-7\r\n", page + hidden)
        }),
        kept("page-in-utf-16-with-mark", PAGE, |talk| {
            let page: Vec<u8> =
                format!("\u{feff}{}", talk.kind.page()).encode_utf16().flat_map(u16::to_le_bytes).collect();
            talk.answer("200 OK", "Content-Type: text/html\r\n", page)
        }),
        kept("page-in-utf-16-without-mark", PAGE, |talk| {
            let page: Vec<u8> = talk.kind.page().encode_utf16().flat_map(u16::to_be_bytes).collect();
            talk.answer("200 OK", "Content-Type: text/html; charset=utf-16be\r\n", page)
        }),
        kept("page-with-wrong-charset", PAGE, |talk| {
            let page = talk.kind.page().replace("<body>", "<meta charset=utf-16><p>\u{e9}\u{4e2d}");
            talk.answer("200 OK", "Content-Type: text/html; charset=klingon\r\n", page)
        }),
        kept("page-as-json", &["page", "html_posing_as_torrent"], |talk| {
            let page = talk.kind.page();
            talk.answer("200 OK", "Content-Type: application/json\r\n", page)
        }),
        kept("feed-of-entity-bombs", PAGE, |talk| {
            let entities: String = (1..20)
                .map(|level| format!("<!ENTITY l{level} \"{}\">", format!("&l{};", level - 1).repeat(10)))
                .collect();
            let good = format!("<enclosure url=\"/hostile/{}/good.torrent\"/>", talk.kind.name);
            let feed = format!(
                "<?xml version=\"1.0\"?><!DOCTYPE rss [<!ENTITY l0 \"lol\">{entities}]>\
                 <rss><channel><item><title>&l19;</title>{good}</item></channel></rss>"
            );
            talk.answer("200 OK", "Content-Type: application/rss+xml\r\n", feed)
        }),
        kept("feed-of-outer-entities", PAGE, |talk| {
            let good = format!("<enclosure url=\"/hostile/{}/good.torrent\"/>", talk.kind.name);
            let feed = format!(
                "<?xml version=\"1.0\"?><!DOCTYPE rss [<!ENTITY x SYSTEM \"file:///etc/passwd\">\
                 <!ENTITY % y SYSTEM \"http://127.0.0.1:1/y\"> %y;]><rss><channel><item><link>&x;</link>{good}</item></channel></rss>"
            );
            talk.answer("200 OK", "Content-Type: application/rss+xml\r\n", feed)
        }),
        kept("feed-of-nested-elements", PAGE, |talk| {
            let good =
                format!("<rss><channel><item><enclosure url=\"/hostile/{}/good.torrent\"/></item>", talk.kind.name);
            talk.answer("200 OK", "Content-Type: text/xml\r\n", good + &"<item>".repeat(500_000))
        }),
        lost("sitemap-bomb", &["not_for_us", "too_large"], |talk| {
            talk.answer("200 OK", "Content-Type: application/x-gzip\r\n", &*SITEMAP)
        }),
        lost("page-is-empty", &["not_for_us"], |talk| talk.html("", "")),
        lost("page-is-a-login-wall", &["page"], |talk| {
            talk.html("", "<!doctype html><form action=/login method=post><input name=user><input name=password type=password></form>")
        }),
        kept("page-that-reloads-itself", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("Refresh: 0\r\n", page.replace("<body>", "<meta http-equiv=refresh content=0>"))
        }),
        Kind { connections_max: 100, ..kept("page-with-ever-deeper-links", &["page", "trapped"], deeper) },
    ]
}

/// Each page has fifty links to one below it.
fn deeper(talk: &mut Talk<'_>) -> std::io::Result<After> {
    let page = talk.kind.page();
    let depth = talk.path.matches("/x").count();
    if depth >= 50 {
        return talk.html("", page);
    }
    let path = talk.path.trim_end_matches('/').to_owned();
    talk.html("", format!("{page}<a href=\"{path}/x/\">deeper {depth}</a>"))
}
