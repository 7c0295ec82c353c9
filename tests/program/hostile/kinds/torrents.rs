//! Malformed and disguised torrents.

use std::sync::LazyLock;

use super::{PAGE, bad_torrent, good_torrent, kept};
use crate::hostile::server::Kind;

const MALFORMED: &[&str] = &["malformed_torrent"];
const POSES: &[&str] = &["html_posing_as_torrent"];

/// The beginning of a torrent whose info dictionary continues.
const FRONT: &str = "d8:announce13:http://a.test4:infod";

static KEYS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let keys: String = (0..1_000_000).map(|number| format!("7:{number:07}i0e")).collect();
    format!("d{keys}e").into_bytes()
});

static FILES: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let files: String = (0..1_000_000).map(|number| format!("d6:lengthi0e4:pathl7:{number:07}ee")).collect();
    format!("{FRONT}5:filesl{files}e4:name1:a12:piece lengthi16384e6:pieces0:ee").into_bytes()
});

/// Bodies that take long to generate.
pub static MADE: &[&LazyLock<Vec<u8>>] = &[&KEYS, &FILES];

pub fn kinds() -> Vec<Kind> {
    vec![
        bad_torrent("bencode-of-depth-1000000", MALFORMED, |talk| {
            talk.file("d1:a".to_owned() + &"l".repeat(1_000_000))
        }),
        bad_torrent("bencode-of-dictionaries-in-depth", MALFORMED, |talk| {
            talk.file(format!("{FRONT}{}{}", "1:ad".repeat(500_000), "e".repeat(500_002)))
        }),
        bad_torrent("bencode-of-huge-length", MALFORMED, |talk| {
            talk.file(format!("{FRONT}4:name18446744073709551615:x"))
        }),
        bad_torrent("bencode-of-length-with-a-million-digits", MALFORMED, |talk| {
            talk.file(format!("{FRONT}4:name{}:x", "9".repeat(1_000_000)))
        }),
        bad_torrent("bencode-of-integer-with-a-million-digits", MALFORMED, |talk| {
            talk.file(format!("{FRONT}6:lengthi{}e4:name1:aee", "9".repeat(1_000_000)))
        }),
        bad_torrent("bencode-of-a-million-keys", MALFORMED, |talk| talk.file(&*KEYS)),
        // A real torrent could look like this: accepted or rejected by its token count, not by its time.
        bad_torrent("torrent-of-a-million-files", &["torrent_stored", "malformed_torrent", "too_large"], |talk| {
            talk.file(&*FILES)
        }),
        bad_torrent("torrent-of-absurd-sizes", MALFORMED, |talk| {
            talk.file(format!(
                "{FRONT}6:lengthi9223372036854775807e4:name1:a12:piece lengthi1e6:pieces20:aaaaaaaaaaaaaaaaaaaaee"
            ))
        }),
        bad_torrent("torrent-cut", MALFORMED, |talk| {
            let torrent = talk.kind.torrent();
            talk.file(&torrent[..torrent.len() - 9])
        }),
        bad_torrent("torrent-is-html", POSES, |talk| {
            talk.file("<!doctype html><title>Log in</title><p>You must log in")
        }),
        bad_torrent("torrent-is-a-login-form", POSES, |talk| {
            talk.html("", "<!doctype html><form action=/login></form>")
        }),
        bad_torrent("torrent-is-empty", &["not_for_us"], |talk| talk.file("")),
        bad_torrent("torrent-is-an-archive", &["not_for_us"], |talk| {
            talk.file([b"PK\x03\x04".as_slice(), &[0; 5_000]].concat())
        }),
        good_torrent("torrent-with-trailing-garbage", |talk| {
            let torrent = talk.kind.torrent();
            talk.file([&torrent, "\r\n<!-- served in 0.1 s -->".as_bytes()].concat())
        }),
        good_torrent("torrent-behind-warnings", |talk| {
            let torrent = talk.kind.torrent();
            talk.file([b"\n<b>Warning</b>: mysql_connect() in /a.php on line 3<br />\n".as_slice(), &torrent].concat())
        }),
        good_torrent("torrent-as-html", |talk| {
            let torrent = talk.kind.torrent();
            talk.html("", torrent)
        }),
        good_torrent("torrent-as-picture", |talk| {
            let torrent = talk.kind.torrent();
            talk.answer("200 OK", "Content-Type: image/png\r\n", torrent)
        }),
        good_torrent("torrent-as-nonsense", |talk| {
            let torrent = talk.kind.torrent();
            talk.answer("200 OK", "Content-Type: ;;;///=\r\nContent-Type: two/types\r\n", torrent)
        }),
        good_torrent("torrent-as-partial-content", |talk| {
            let torrent = talk.kind.torrent();
            let range = format!("Content-Range: bytes 0-{0}/{1}\r\n", torrent.len() - 1, torrent.len());
            talk.answer("206 Partial Content", &range, torrent)
        }),
        kept("page-as-torrent", &["page", "html_posing_as_torrent"], |talk| {
            let page = talk.kind.page();
            talk.html("Content-Disposition: inline; filename=a.html\r\n", page)
        }),
        kept("page-links-to-itself-as-torrent", PAGE, |talk| {
            let page = talk.kind.page();
            talk.html("", page.replace("<body>", "<body><a href=./#good.torrent>x</a>"))
        }),
    ]
}
