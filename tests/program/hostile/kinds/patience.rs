//! Servers that ask to wait: pauses too long for a crawl are reported, and the URLs stay queued.

use super::{CONNECTIONS, kind};
use crate::hostile::server::{After, Ends, Kind, Place, Serve, Talk};

pub fn kinds() -> Vec<Kind> {
    vec![
        waits("429-for-ever", |talk| talk.answer("429 Too Many Requests", "", "")),
        waits("503-for-ever", |talk| talk.answer("503 Service Unavailable", "", "")),
        waits("retry-after-a-century", |talk| retry_after(talk, "3153600000")),
        waits("retry-after-beyond-64-bits", |talk| retry_after(talk, "99999999999999999999999999999999")),
        waits("retry-after-the-year-9999", |talk| retry_after(talk, "Fri, 31 Dec 9999 23:59:59 GMT")),
        waits("retry-after-yesterday", |talk| retry_after(talk, "Thu, 01 Jan 1970 00:00:00 GMT")),
        waits("retry-after-nonsense", |talk| retry_after(talk, "soon; maybe")),
        kind("429-once", Place::Torrent, Ends::As(&["throttled", "torrent_stored"]), true, |talk| {
            if talk.connection == 1 {
                talk.answer("429 Too Many Requests", "Retry-After: 1\r\nConnection: close\r\n", "")?;
                return Ok(After::Close);
            }
            talk.good_torrent()
        }),
    ]
}

fn waits(name: &'static str, serve: Serve) -> Kind {
    Kind { connections_max: CONNECTIONS, ..kind(name, Place::Page, Ends::As(&["throttled"]), false, serve) }
}

fn retry_after(talk: &mut Talk<'_>, value: &str) -> std::io::Result<After> {
    talk.answer("503 Service Unavailable", &format!("Retry-After: {value}\r\n"), "")
}
