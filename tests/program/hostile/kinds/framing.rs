//! Wrong status lines, lengths, chunks and interim responses (RFC 9112, RFC 9110 §15).

use super::{PAGE, PROTOCOL, STORED, TIMED_OUT, TRUNCATED, good_torrent, kept, kind, lost};
use crate::hostile::server::{After, Ends, Kind, Place, Talk};

pub fn kinds() -> Vec<Kind> {
    vec![
        lost("no-status-line", PROTOCOL, |talk| whole(talk, "Content-Type: text/html\r\n\r\n<p>hello")),
        lost("http-0-9", PROTOCOL, |talk| {
            let page = talk.kind.page();
            whole(talk, &page)
        }),
        lost("http-2-preface", PROTOCOL, |talk| {
            talk.raw("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0")?;
            Ok(After::Close)
        }),
        lost("http-9-9", PROTOCOL, |talk| whole(talk, "HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n")),
        lost("status-0", PROTOCOL, |talk| whole(talk, "HTTP/1.1 0 Zero\r\nContent-Length: 0\r\n\r\n")),
        lost("status-000", PROTOCOL, |talk| whole(talk, "HTTP/1.1 000 Zero\r\nContent-Length: 0\r\n\r\n")),
        lost("status-99", PROTOCOL, |talk| whole(talk, "HTTP/1.1 99 Low\r\nContent-Length: 0\r\n\r\n")),
        lost("status-999", PROTOCOL, |talk| talk.answer("999 Denied", "", "no")),
        lost("status-1000", PROTOCOL, |talk| whole(talk, "HTTP/1.1 1000 High\r\nContent-Length: 0\r\n\r\n")),
        lost("status-is-text", PROTOCOL, |talk| whole(talk, "HTTP/1.1 fine OK\r\nContent-Length: 0\r\n\r\n")),
        // Interim responses.
        lost("interim-answers-for-ever", TIMED_OUT, |talk| {
            while talk.raw("HTTP/1.1 100 Continue\r\n\r\n").is_ok() {
                talk.pause(std::time::Duration::from_millis(5))?;
            }
            Ok(After::Close)
        }),
        kept("interim-answers-a-thousand", PAGE, |talk| {
            talk.raw("HTTP/1.1 102 Processing\r\n\r\n".repeat(1000))?;
            talk.good_page()
        }),
        kept("early-hints", PAGE, |talk| {
            talk.raw("HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload; as=style\r\n\r\n".repeat(3))?;
            talk.good_page()
        }),
        good_torrent("early-hints-before-the-torrent", |talk| {
            talk.raw("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n")?;
            talk.good_torrent()
        }),
        lost("switches-protocols", PROTOCOL, |talk| {
            talk.raw(
                "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n\u{81}\x05hello",
            )?;
            talk.silence()
        }),
        lost("no-content-with-a-body", &["not_for_us"], |talk| {
            let page = talk.kind.page();
            talk.answer("204 No Content", "Content-Type: text/html\r\n", page)
        }),
        lost("not-modified-with-a-body", PROTOCOL, |talk| {
            let page = talk.kind.page();
            talk.answer("304 Not Modified", "Content-Type: text/html\r\n", page)
        }),
        // Lengths.
        kept("length-too-short-by-garbage", PAGE, |talk| {
            talk.good_page()?;
            talk.raw("<p>and this is more than was announced</p>\r\n\r\n")?;
            Ok(After::Close)
        }),
        lost("length-too-long", TRUNCATED, |talk| {
            let page = talk.kind.page();
            talk.raw(format!(
                "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {}\r\n\r\n{page}",
                page.len() + 9
            ))?;
            Ok(After::Close)
        }),
        lost("length-negative", PROTOCOL, |talk| with_lengths(talk, "Content-Length: -5\r\n")),
        lost("length-two-of-them", PROTOCOL, |talk| with_lengths(talk, "Content-Length: 10\r\nContent-Length: 20\r\n")),
        lost("length-two-in-one", PROTOCOL, |talk| with_lengths(talk, "Content-Length: 10, 20\r\n")),
        lost("length-beyond-64-bits", PROTOCOL, |talk| {
            with_lengths(talk, "Content-Length: 99999999999999999999999999\r\n")
        }),
        lost("length-is-text", PROTOCOL, |talk| with_lengths(talk, "Content-Length: many\r\n")),
        lost("length-of-exabytes", TRUNCATED, |talk| with_lengths(talk, "Content-Length: 9000000000000000000\r\n")),
        kind("length-and-chunks", Place::Torrent, Ends::As(&["torrent_stored", "protocol_error"]), false, |talk| {
            let torrent = talk.kind.torrent();
            let head = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n";
            talk.raw([head.as_bytes(), &chunked(&[&torrent])].concat())?;
            Ok(After::Close)
        }),
        // Chunks.
        lost("chunk-size-is-text", PROTOCOL, |talk| chunks(talk, b"zz\r\nhello\r\n0\r\n\r\n")),
        lost("chunk-size-beyond-64-bits", PROTOCOL, |talk| chunks(talk, b"fffffffffffffffffff\r\nhello")),
        lost("chunk-size-negative", PROTOCOL, |talk| chunks(talk, b"-1\r\nhello\r\n0\r\n\r\n")),
        lost("chunk-size-of-exabytes", TRUNCATED, |talk| chunks(talk, b"7fffffffffffffff\r\nhello")),
        lost("chunk-without-line-end", PROTOCOL, |talk| chunks(talk, b"5\r\nhello5\r\nhello0\r\n\r\n")),
        lost("chunks-without-an-end", TRUNCATED, |talk| {
            let page = talk.kind.page();
            let all = chunked(&[page.as_bytes()]);
            chunks(talk, &all[..all.len() - 5])
        }),
        lost("chunk-extension-for-ever", &["protocol_error", "truncated"], |talk| {
            chunks(talk, b"5;a=")?;
            talk.flood(&[b'x'; 16 << 10])
        }),
        lost("chunk-trailers-for-ever", &["protocol_error", "truncated", "timed_out"], |talk| {
            let page = talk.kind.page();
            let all = chunked(&[page.as_bytes()]);
            chunks(talk, &all[..all.len() - 2])?;
            talk.flood(b"X-Trailer: and another one, and another one\r\n".repeat(300).as_slice())
        }),
        kept("chunks-of-one-byte", PAGE, |talk| {
            let page = talk.kind.page();
            let bytes: Vec<&[u8]> = page.as_bytes().chunks(1).collect();
            let all = chunked(&bytes);
            talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")?;
            talk.raw(all)?;
            Ok(After::Keep)
        }),
        lost("transfer-coding-unknown", &["protocol_error", "truncated", "not_for_us", "page"], |talk| {
            talk.raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: rot13\r\n\r\nhello")?;
            Ok(After::Close)
        }),
        kind("length-none-and-closed", Place::Torrent, Ends::As(STORED), true, |talk| {
            let torrent = talk.kind.torrent();
            talk.raw([b"HTTP/1.0 200 OK\n\n".as_slice(), &torrent].concat())?;
            Ok(After::Close)
        }),
    ]
}

fn whole(talk: &mut Talk<'_>, answer: &str) -> std::io::Result<After> {
    talk.raw(answer)?;
    Ok(After::Close)
}

fn with_lengths(talk: &mut Talk<'_>, lengths: &str) -> std::io::Result<After> {
    let page = talk.kind.page();
    talk.raw(format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n{lengths}\r\n{page}"))?;
    Ok(After::Close)
}

fn chunks(talk: &mut Talk<'_>, body: &[u8]) -> std::io::Result<After> {
    talk.raw("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nTransfer-Encoding: chunked\r\n\r\n")?;
    talk.raw(body)?;
    Ok(After::Close)
}

/// The pieces in the chunked coding, with its end.
fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut all: Vec<u8> = Vec::new();
    for piece in pieces {
        all.extend(format!("{:x}\r\n", piece.len()).bytes());
        all.extend(*piece);
        all.extend(b"\r\n");
    }
    all.extend(b"0\r\n\r\n");
    all
}
