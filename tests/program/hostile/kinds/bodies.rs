//! Endless bodies.

use super::{bad_torrent, lost};
use crate::hostile::server::{Kind, Talk};

/// Read up to the cap of a page, or too slow on a slow machine.
const ENDLESS: &[&str] = &["page", "timed_out"];

pub fn kinds() -> Vec<Kind> {
    vec![
        lost("endless-zeros", &["not_for_us"], |talk| {
            begin(talk, "")?;
            talk.flood(&[0; 16 << 10])
        }),
        lost("endless-blanks", &["not_for_us"], |talk| {
            begin(talk, "")?;
            talk.flood(&[b' '; 16 << 10])
        }),
        lost("endless-text", ENDLESS, |talk| {
            begin(talk, "")?;
            talk.raw("<!doctype html><p>")?;
            talk.flood("and so on ".repeat(1_000).as_bytes())
        }),
        lost("endless-links", ENDLESS, |talk| {
            begin(talk, "")?;
            talk.raw("<!doctype html>")?;
            talk.flood("<a href=/hostile/endless-links/x/>more</a>\n".repeat(300).as_bytes())
        }),
        lost("endless-with-a-length", ENDLESS, |talk| {
            begin(talk, "Content-Length: 1000000000000000\r\n")?;
            talk.raw("<!doctype html><p>")?;
            talk.flood("and so on ".repeat(1_000).as_bytes())
        }),
        lost("endless-chunks", ENDLESS, |talk| {
            begin(talk, "Transfer-Encoding: chunked\r\n")?;
            let piece = format!("2710\r\n{}\r\n", "<!doctype ".repeat(1_000));
            talk.flood(piece.as_bytes())
        }),
        bad_torrent("endless-torrent", &["too_large", "timed_out", "malformed_torrent"], |talk| {
            begin(talk, "")?;
            talk.raw("d8:announce13:http://a.test4:infod6:lengthi9e4:name1:a12:piece lengthi16384e6:pieces999999999:")?;
            talk.flood(&[b'x'; 64 << 10])
        }),
        bad_torrent("endless-torrent-of-lists", &["too_large", "timed_out", "malformed_torrent"], |talk| {
            begin(talk, "")?;
            talk.raw("d8:announce13:http://a.test13:announce-listl")?;
            talk.flood("l13:http://a.teste".repeat(1_000).as_bytes())
        }),
        bad_torrent("torrent-announced-as-a-terabyte", &["too_large"], |talk| {
            begin(talk, "Content-Length: 1000000000000\r\n")?;
            talk.raw("d8:announce13:http://a.test4:infod6:lengthi9e4:name1:a")?;
            talk.flood(&[b'x'; 64 << 10])
        }),
    ]
}

fn begin(talk: &mut Talk<'_>, headers: &str) -> std::io::Result<()> {
    talk.raw(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{headers}\r\n"))
}
