//! Too many, too long or malformed header fields.

use super::{PAGE, PROTOCOL, good_torrent, kept, lost};
use crate::hostile::server::{After, Kind, Talk};

pub fn kinds() -> Vec<Kind> {
    vec![
        lost("headers-100000", PROTOCOL, |talk| {
            talk.html(&"X-Flood: 1\r\n".repeat(100_000), "<!doctype html>")?;
            Ok(After::Close)
        }),
        lost("headers-for-ever", PROTOCOL, |talk| {
            talk.raw("HTTP/1.1 200 OK\r\n")?;
            talk.flood("X-Flood: and another one\r\n".repeat(500).as_bytes())
        }),
        kept("header-line-of-100-kb", PAGE, |talk| with(talk, &format!("X-Long: {}\r\n", "x".repeat(100_000)))),
        lost("header-line-for-ever", PROTOCOL, |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nX-Long: ")?;
            talk.flood(&[b'x'; 16 << 10])
        }),
        lost("header-with-nul", PROTOCOL, |talk| with(talk, "X-Nul: a\0b\r\n")),
        kept("header-with-control-bytes", PAGE, |talk| with(talk, "X-Bell: \x07\x01\x1b[2J\r\n")),
        kept("header-with-high-bytes", PAGE, |talk| {
            let page = talk.kind.page();
            let head =
                format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\nContent-Type: text/html\r\nX-High: ", page.len());
            talk.raw([head.as_bytes(), &[0xff, 0xfe, 0x80, 0xc3], b"\r\n\r\n", page.as_bytes()].concat())?;
            Ok(After::Keep)
        }),
        kept("header-without-colon", PAGE, |talk| with(talk, "this is no header\r\n")),
        kept("header-folded", PAGE, |talk| with(talk, "X-Folded: a\r\n  and its second line\r\n")),
        kept("header-name-with-space", PAGE, |talk| with(talk, "X Space: 1\r\n")),
        kept("reason-of-60-kb", PAGE, |talk| {
            let page = talk.kind.page();
            talk.answer(&format!("200 {}", "O".repeat(60_000)), "Content-Type: text/html\r\n", page)
        }),
        kept("content-type-of-100-kb", PAGE, |talk| {
            let page = talk.kind.page();
            talk.answer("200 OK", &format!("Content-Type: text/html; charset={}\r\n", "u".repeat(100_000)), page)
        }),
        good_torrent("disposition-of-100-kb", |talk| {
            let torrent = talk.kind.torrent();
            let name = format!("Content-Disposition: attachment; filename=\"{}\"\r\n", "../".repeat(33_000));
            talk.answer("200 OK", &name, torrent)
        }),
        // Cookies.
        lost("cookies-10000", PROTOCOL, |talk| {
            let cookies: String = (0..10_000).map(|number| format!("Set-Cookie: c{number}=1\r\n")).collect();
            with(talk, &cookies)
        }),
        kept("cookies-90-a-page", PAGE, |talk| {
            let cookies: String =
                (0..90).map(|number| format!("Set-Cookie: c{number}={}\r\n", "v".repeat(3000))).collect();
            with(talk, &cookies)
        }),
        kept("cookie-of-100-kb", PAGE, |talk| {
            with(talk, &format!("Set-Cookie: c={}; Path=/\r\n", "v".repeat(100_000)))
        }),
        kept("cookies-for-others", PAGE, |talk| {
            with(
                talk,
                "Set-Cookie: a=1; Domain=example.com\r\nSet-Cookie: b=2; Domain=com\r\nSet-Cookie: c=3; Domain=127.0.0.1\r\n\
                 Set-Cookie: =; ;;;\r\nSet-Cookie: \r\nSet-Cookie: d=4; Max-Age=-99999999999999999999; Expires=never\r\n",
            )
        }),
    ]
}

fn with(talk: &mut Talk<'_>, headers: &str) -> std::io::Result<After> {
    let page = talk.kind.page();
    talk.html(headers, page)
}
