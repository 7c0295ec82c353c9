//! Wrong content codings, and bombs in each of them.

use std::io::Write as _;
use std::sync::LazyLock;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};

use super::{PAGE, bad_torrent, good_torrent, kept, lost};
use crate::hostile::server::{After, Kind, Talk};

/// Bytes that the bombs expand to.
const BOMB_BYTES: usize = 256 << 20;

/// The beginning is text, so that the crawler reads on.
const FRONT: &[u8] = b"<!doctype html><p>";

/// A coding that cannot be decoded, however that is detected.
const UNDONE: &[&str] = &["protocol_error", "truncated", "not_for_us"];

static GZIP: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    fill(&mut out, BOMB_BYTES / 4);
    out.finish().unwrap()
});

/// Concatenated members (RFC 1952 §2.2).
static GZIP_MEMBERS: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let blanks = gzip(&vec![b' '; 16 << 20]);
    [gzip(FRONT), blanks.repeat(BOMB_BYTES >> 24)].concat()
});

static DEFLATE: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    fill(&mut out, BOMB_BYTES / 4);
    out.finish().unwrap()
});

static BROTLI: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = Vec::new();
    let mut writer = brotli::CompressorWriter::new(&mut out, 64 << 10, 1, 22);
    fill(&mut writer, BOMB_BYTES / 4);
    drop(writer);
    out
});

static ZSTD: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = zstd::Encoder::new(Vec::new(), 1).unwrap();
    fill(&mut out, BOMB_BYTES);
    out.finish().unwrap()
});

/// A window of 128 MiB, which a decoder would have to hold (RFC 8878 §3.1.1.1.2 advises to support 8 MiB).
static ZSTD_WINDOW: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = zstd::Encoder::new(Vec::new(), 1).unwrap();
    out.window_log(27).unwrap();
    fill(&mut out, BOMB_BYTES);
    out.finish().unwrap()
});

static GZIP_TORRENT: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(b"d8:announce13:http://a.test4:infod6:lengthi9e4:name1:a12:piece lengthi16384e6:pieces999999999:")
        .unwrap();
    fill(&mut out, BOMB_BYTES);
    out.finish().unwrap()
});

/// Bodies that take long to generate.
pub static MADE: &[&LazyLock<Vec<u8>>] = &[&GZIP, &GZIP_MEMBERS, &DEFLATE, &BROTLI, &ZSTD, &ZSTD_WINDOW, &GZIP_TORRENT];

pub fn kinds() -> Vec<Kind> {
    vec![
        lost("bomb-gzip", PAGE, |talk| coded(talk, "gzip", &GZIP)),
        lost("bomb-gzip-of-members", PAGE, |talk| coded(talk, "gzip", &GZIP_MEMBERS)),
        lost("bomb-deflate", PAGE, |talk| coded(talk, "deflate", &DEFLATE)),
        lost("bomb-brotli", PAGE, |talk| coded(talk, "br", &BROTLI)),
        lost("bomb-zstd", PAGE, |talk| coded(talk, "zstd", &ZSTD)),
        lost("bomb-zstd-window", &["page", "protocol_error"], |talk| coded(talk, "zstd", &ZSTD_WINDOW)),
        lost("bomb-gzip-twice", &["page", "not_for_us", "protocol_error"], |talk| {
            coded(talk, "gzip, gzip", &gzip(&GZIP))
        }),
        lost("bomb-in-four-codings", &["page", "not_for_us", "protocol_error"], |talk| {
            coded(talk, "gzip, gzip, deflate, gzip", &gzip(&zlib(&gzip(&GZIP))))
        }),
        bad_torrent("bomb-torrent", &["too_large", "malformed_torrent"], |talk| coded(talk, "gzip", &GZIP_TORRENT)),
        lost("gzip-that-is-plain", UNDONE, |talk| {
            let page = talk.kind.page();
            coded(talk, "gzip", page.as_bytes())
        }),
        lost("brotli-that-is-gzip", UNDONE, |talk| {
            let page = gzip(talk.kind.page().as_bytes());
            coded(talk, "br", &page)
        }),
        lost("gzip-cut", UNDONE, |talk| {
            let page = gzip(talk.kind.page().as_bytes());
            coded(talk, "gzip", &page[..page.len() / 2])
        }),
        lost("gzip-of-noise", UNDONE, |talk| {
            let mut noise = gzip(talk.kind.page().as_bytes());
            noise[10..].iter_mut().for_each(|byte| *byte ^= 0x5a);
            coded(talk, "gzip", &noise)
        }),
        lost("coding-unknown", &["protocol_error", "not_for_us", "page"], |talk| {
            coded(talk, "rot13", b"<!qbpglcr ugzy>")
        }),
        lost("codings-ten", &["protocol_error", "not_for_us"], |talk| {
            let mut body = talk.kind.page().into_bytes();
            (0..10).for_each(|_| body = gzip(&body));
            coded(talk, &["gzip"; 10].join(", "), &body)
        }),
        kept("coding-x-gzip", PAGE, |talk| {
            let page = gzip(talk.kind.page().as_bytes());
            coded(talk, "x-gzip", &page)
        }),
        kept("gzip-in-two-members", PAGE, |talk| {
            let page = talk.kind.page();
            let (front, back) = page.as_bytes().split_at(30);
            coded(talk, "gzip", &[gzip(front), gzip(back)].concat())
        }),
        kept("gzip-with-garbage-behind", PAGE, |talk| {
            let page = gzip(talk.kind.page().as_bytes());
            coded(talk, "gzip", &[page, b"\r\n<!-- cached -->".to_vec()].concat())
        }),
        kept("coding-identity", PAGE, |talk| {
            let page = talk.kind.page();
            coded(talk, "identity", page.as_bytes())
        }),
        kept("deflate-without-its-head", PAGE, |talk| {
            let mut out = DeflateEncoder::new(Vec::new(), Compression::fast());
            out.write_all(talk.kind.page().as_bytes())?;
            let page = out.finish()?;
            coded(talk, "deflate", &page)
        }),
        kept("codings-two", PAGE, |talk| {
            let page = gzip(&zlib(talk.kind.page().as_bytes()));
            coded(talk, "deflate, gzip", &page)
        }),
        good_torrent("torrent-in-gzip", |talk| {
            let torrent = gzip(&talk.kind.torrent());
            coded(talk, "gzip", &torrent)
        }),
    ]
}

fn coded(talk: &mut Talk<'_>, coding: &str, body: &[u8]) -> std::io::Result<After> {
    talk.answer("200 OK", &format!("Content-Type: text/html\r\nContent-Encoding: {coding}\r\n"), body)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn zlib(bytes: &[u8]) -> Vec<u8> {
    let mut out = ZlibEncoder::new(Vec::new(), Compression::fast());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn fill(out: &mut impl std::io::Write, length: usize) {
    out.write_all(FRONT).unwrap();
    let blanks = vec![b' '; 1 << 20];
    for _ in 0..length >> 20 {
        out.write_all(&blanks).unwrap();
    }
}
