//! Invalid robots.txt files (RFC 9309 §2.3).

use super::{given_up, kind};
use crate::hostile::server::{After, Ends, Kind, Place, Serve};

pub fn kinds() -> Vec<Kind> {
    vec![
        open("robots-endless", |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\nUser-agent: *\nAllow: /\n")?;
            talk.flood("Disallow: /no\n".repeat(1_000).as_bytes())
        }),
        open("robots-of-10-mb", |talk| {
            talk.answer(
                "200 OK",
                "Content-Type: text/plain\r\n",
                "User-agent: *\nDisallow: /no/*/no$\n".repeat(300_000),
            )
        }),
        open("robots-of-one-line-for-ever", |talk| {
            talk.raw("HTTP/1.1 200 OK\r\n\r\nUser-agent: ")?;
            talk.flood(&[b'*'; 16 << 10])
        }),
        open("robots-of-stars", |talk| {
            let pattern = format!("/{}x$", "*a".repeat(100_000));
            talk.answer("200 OK", "", format!("User-agent: *\nDisallow: {pattern}\n"))
        }),
        open("robots-in-a-circle", |talk| talk.answer("301 Moved", "Location: /robots.txt\r\n", "")),
        open("robots-is-html", |talk| talk.html("", "<!doctype html><p>Disallow: /")),
        open("robots-is-noise", |talk| talk.answer("200 OK", "", [0xfe_u8; 5_000])),
        open("robots-with-absurd-delay", |talk| {
            talk.answer("200 OK", "", "User-agent: *\nCrawl-delay: -1e999\nSitemap: javascript:alert(1)\n")
        }),
        given_up("robots-never-comes", Place::Robots, &["robots.txt: timed out"], |talk| talk.silence()),
        given_up("robots-a-byte-a-second", Place::Robots, &["robots.txt: timed out"], |talk| {
            talk.raw("HTTP/1.1 200 OK\r\n\r\n")?;
            talk.drip("User-agent: *\nDisallow:\n".repeat(100))
        }),
        given_up("robots-is-broken", Place::Robots, &["robots.txt: status 500"], |talk| {
            talk.answer("500 Oops", "", "")
        }),
        given_up("robots-is-no-http", Place::Robots, &["robots.txt: protocol error"], |talk| {
            talk.raw("User-agent: *\nDisallow: /\n\n")?;
            Ok(After::Close)
        }),
    ]
}

/// One that disallows nothing: page and torrent are fetched.
fn open(name: &'static str, serve: Serve) -> Kind {
    kind(name, Place::Robots, Ends::As(&["page", "torrent_stored"]), true, serve)
}
