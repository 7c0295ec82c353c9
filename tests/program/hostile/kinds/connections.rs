//! Connections that fail, break, or answer out of turn; failing TLS, names and proxies.

use std::time::Duration;

use super::{PAGE, TIMED_OUT, TRUNCATED, given_up, kept, kind, lost};
use crate::hostile::server::{After, Ends, Kind, Place, behave};

const NO_CONNECTION: &[&str] = &["no connection"];
const NO_TLS: &[&str] = &["TLS failed", "no connection"];

pub fn kinds() -> Vec<Kind> {
    vec![
        given_up("connections-refused", Place::Nowhere, NO_CONNECTION, |_| Ok(After::Close)),
        given_up("dns-unknown", Place::Nowhere, &["name not resolved", "timed out"], |_| Ok(After::Close)),
        given_up("closed-at-once", Place::Accept, &["ended early", "protocol error", "no connection"], |_| {
            Ok(After::Close)
        }),
        given_up("reset-at-once", Place::Accept, &["ended early", "protocol error", "no connection"], |_| {
            Ok(After::Reset)
        }),
        given_up("never-answers", Place::Accept, &["timed out"], |talk| {
            talk.read_request()?;
            talk.silence()
        }),
        given_up("never-reads", Place::Accept, &["timed out"], |talk| talk.silence()),
        given_up("speaks-ssh", Place::Accept, &["protocol error"], |talk| {
            talk.raw("SSH-2.0-OpenSSH_9.6\r\n")?;
            talk.silence()
        }),
        given_up("speaks-noise", Place::Accept, &["protocol error"], |talk| {
            talk.raw([0x8f_u8; 4096])?;
            Ok(After::Close)
        }),
        lost("reset-before-the-answer", TRUNCATED, |_| Ok(After::Reset)),
        lost("closed-before-the-answer", TRUNCATED, |_| Ok(After::Close)),
        lost("silence-before-the-head", TIMED_OUT, |talk| talk.silence()),
        lost("silence-behind-the-head", TIMED_OUT, |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 100\r\n\r\n")?;
            talk.silence()
        }),
        lost("silence-in-the-body", TIMED_OUT, |talk| {
            talk.raw(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1000\r\n\r\n<!doctype html><p>wait",
            )?;
            talk.silence()
        }),
        lost("a-byte-a-second-in-the-head", TIMED_OUT, |talk| {
            talk.drip("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
        }),
        lost("a-byte-a-second-in-the-body", TIMED_OUT, |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<!doctype html>")?;
            let page = talk.kind.page();
            talk.drip(page)
        }),
        lost("reset-half-way", TRUNCATED, |talk| {
            half_a_page(talk)?;
            // The data sent must arrive before the reset.
            talk.pause(Duration::from_millis(100))?;
            Ok(After::Reset)
        }),
        lost("closed-half-way", TRUNCATED, |talk| {
            half_a_page(talk)?;
            Ok(After::Close)
        }),
        // The first attempt is cut off, the second complete.
        kind("reset-half-way-once", Place::Torrent, Ends::As(&["truncated", "torrent_stored"]), true, |talk| {
            if talk.connection == 1 {
                let torrent = talk.kind.torrent();
                talk.raw(format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", torrent.len()))?;
                talk.raw(&torrent[..40])?;
                talk.pause(Duration::from_millis(100))?;
                return Ok(After::Reset);
            }
            talk.good_torrent()
        }),
        // The server closes idle connections just when the next request arrives: that one may be cut off, and is sent again.
        kept("closes-between-requests", &["page", "truncated"], |talk| {
            talk.good_page()?;
            talk.pause(Duration::from_millis(1))?;
            Ok(After::Close)
        }),
        kind("resets-the-second-request", Place::Torrent, Ends::As(&["truncated", "torrent_stored"]), true, |talk| {
            if talk.requests > 1 { Ok(After::Reset) } else { talk.good_torrent() }
        }),
        kept("answers-twice", PAGE, |talk| {
            talk.good_page()?;
            talk.html("", "<!doctype html><p>and once more")
        }),
        kept("garbage-behind-the-body", PAGE, |talk| {
            talk.good_page()?;
            talk.raw([0xff_u8; 3000])?;
            Ok(After::Keep)
        }),
        kind("answers-before-it-is-asked", Place::Accept, Ends::Somehow, false, |talk| {
            talk.answer("404 Not Found", "", "")?;
            behave(talk)
        }),
        // TLS. The good one proves that the others fail for the intended reasons.
        kind("tls-good", Place::Tls, Ends::As(PAGE), true, |talk| {
            let config = talk.certificates.good(talk.address.ip());
            talk.tls(&config)?;
            behave(talk)
        }),
        given_up("tls-expired", Place::Tls, NO_TLS, |talk| {
            let config = talk.certificates.expired(talk.address.ip());
            talk.tls(&config)?;
            behave(talk)
        }),
        given_up("tls-wrong-host", Place::Tls, NO_TLS, |talk| {
            let config = talk.certificates.wrong_host();
            talk.tls(&config)?;
            behave(talk)
        }),
        given_up("tls-self-signed", Place::Tls, NO_TLS, |talk| {
            let config = talk.certificates.self_signed(talk.address.ip());
            talk.tls(&config)?;
            behave(talk)
        }),
        given_up("tls-garbage", Place::Tls, NO_TLS, |talk| {
            talk.raw([0x17_u8, 3, 3, 0xff, 0xff, 0, 0, 0, 0, 0])?;
            talk.raw([0x55_u8; 70_000])?;
            talk.silence()
        }),
        given_up("tls-is-plain-http", Place::Tls, NO_TLS, |talk| {
            talk.raw("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")?;
            talk.silence()
        }),
        given_up("tls-closed-in-the-handshake", Place::Tls, NO_TLS, |talk| {
            talk.raw([0x16_u8, 3, 3, 0, 100, 2])?;
            Ok(After::Close)
        }),
        given_up("tls-silent", Place::Tls, &["no connection"], |talk| talk.silence()),
        // Proxies.
        given_up("proxy-closes", Place::Proxy, &["ended early", "protocol error", "no connection"], |_| {
            Ok(After::Close)
        }),
        given_up("proxy-is-a-bad-gateway", Place::Proxy, &["status 502"], |talk| {
            talk.converse(
                |talk| talk.answer("502 Bad Gateway", "", "no"),
                |talk| talk.answer("502 Bad Gateway", "", "no"),
                |talk| talk.answer("502 Bad Gateway", "", "no"),
            )
        }),
        given_up("proxy-speaks-noise", Place::Proxy, &["protocol error"], |talk| {
            talk.raw([0x8f_u8; 4096])?;
            Ok(After::Close)
        }),
        // Dies after robots.txt, and is back for the third attempt.
        kind(
            "proxy-dies-and-comes-back",
            Place::Proxy,
            Ends::As(&["truncated", "page", "torrent_stored"]),
            true,
            |talk| {
                if (2..4).contains(&talk.connection) {
                    talk.read_request()?;
                    return Ok(After::Reset);
                }
                talk.converse(
                    |talk| {
                        talk.answer("404 Not Found", "Connection: close\r\n", "")?;
                        Ok(After::Close)
                    },
                    |talk| talk.good_page(),
                    |talk| talk.good_torrent(),
                )
            },
        ),
    ]
}

fn half_a_page(talk: &mut crate::hostile::server::Talk<'_>) -> std::io::Result<()> {
    let page = talk.kind.page();
    talk.raw(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n", page.len()))?;
    talk.raw(&page.as_bytes()[..page.len() / 2])
}
