//! The short way: links that the URL standard would copy byte by byte skip its parser, and with it the one for internationalised host
//! names. Nearly all links of a page go this way.
//!
//! None means: use the standard's parser. Both give the same result, which a property test and the fuzz target `url` check.

use url::{Position, Url};

use super::{Canonical, CrawlUrl, UrlFault, finish};
use crate::limits::URL_BYTES_MAX;

/// Bytes that the URL standard copies unchanged, in a path (1) and in a query (2) of an http URL.
const VERBATIM: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0x21;
    while byte < 0x7F {
        let in_path = !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'?' | b'`' | b'{' | b'}' | b'\\' | b'^');
        let in_query = !matches!(byte, b'"' | b'#' | b'<' | b'>' | b'\'');
        table[byte as usize] = in_path as u8 | (in_query as u8) << 1;
        byte += 1;
    }
    table
};

/// An absolute URL of harmless characters only, with a path without dot segments.
pub(super) fn parse(text: &str, canonical: &Canonical) -> Option<Result<CrawlUrl, UrlFault>> {
    if text.len() > URL_BYTES_MAX {
        return None;
    }
    absolute(text, scheme_end(text)?, canonical)
}

/// A link that is absolute in that way, or without dot segments on the host of the base.
pub(super) fn join(base: &Url, href: &str, canonical: &Canonical) -> Option<Result<CrawlUrl, UrlFault>> {
    if !matches!(base.scheme(), "http" | "https") || href.len() > URL_BYTES_MAX {
        return None;
    }
    let origin = &base[..Position::BeforePath];
    if origin.contains('@') {
        return None;
    }
    if let Some(path) = href.strip_prefix(origin).filter(|path| path.starts_with('/')) {
        return whole(origin, path, canonical);
    }
    if let Some(end) = scheme_end(href) {
        return absolute(href, end, canonical);
    }
    if href.starts_with('/') {
        return if href.starts_with("//") { None } else { whole(origin, href, canonical) };
    }
    let (path, query) = split(href)?;
    if path.is_empty() {
        // A query keeps the base's path, a fragment, or nothing, the query as well.
        return Some(finish(origin, base.path(), query.or(base.query()), canonical));
    }
    if path.contains(':') || path.starts_with('.') || has_dot_segment(path) {
        return None;
    }
    let folder_end = base.path().rfind('/')? + 1;
    let path = [&base.path()[..folder_end], path].concat();
    Some(finish(origin, &path, query, canonical))
}

/// The position of the colon behind a scheme.
fn scheme_end(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let end = bytes.iter().position(|byte| !byte.is_ascii_alphanumeric() && !b"+-.".contains(byte))?;
    (bytes[end] == b':' && bytes[0].is_ascii_alphabetic()).then_some(end)
}

fn absolute(text: &str, scheme_end: usize, canonical: &Canonical) -> Option<Result<CrawlUrl, UrlFault>> {
    let (scheme, rest) = (&text[..scheme_end], &text[scheme_end + 1..]);
    if matches!(scheme, "http" | "https") {
        let rest = rest.strip_prefix("//")?;
        let end = rest.find(['/', '?', '#', '\\'])?;
        let origin = &text[..text.len() - rest.len() + end];
        return if is_plain(scheme, &rest[..end]) { whole(origin, &rest[end..], canonical) } else { None };
    }
    // What is not special, and has no host, may go on with anything.
    let is_special = ["http", "https", "ftp", "file", "ws", "wss"].iter().any(|of| scheme.eq_ignore_ascii_case(of));
    let is_opaque = !is_special && !rest.starts_with(['/', '\\']) && is_printable(text);
    is_opaque.then(|| Err(UrlFault::Scheme(scheme.chars().take(32).map(|of| of.to_ascii_lowercase()).collect())))
}

/// A path with its query, if it begins with a slash.
fn whole(origin: &str, path: &str, canonical: &Canonical) -> Option<Result<CrawlUrl, UrlFault>> {
    let (path, query) = split(path)?;
    (path.starts_with('/') && !has_dot_segment(path)).then(|| finish(origin, path, query, canonical))
}

/// Path and query of a reference of harmless characters only.
fn split(reference: &str) -> Option<(&str, Option<&str>)> {
    let bytes = reference.as_bytes();
    let path_end = bytes.iter().position(|&byte| VERBATIM[usize::from(byte)] & 1 == 0).unwrap_or(bytes.len());
    let query_end = match bytes.get(path_end) {
        Some(b'?') => {
            let query = &bytes[path_end + 1..];
            path_end + 1 + query.iter().position(|&byte| VERBATIM[usize::from(byte)] & 2 == 0).unwrap_or(query.len())
        }
        _ => path_end,
    };
    // Everything after `#` is dropped, but characters that no URL may hold are still checked.
    match bytes.get(query_end) {
        None => {}
        Some(b'#') if is_printable(&reference[query_end..]) => {}
        Some(_) => return None,
    }
    Some((&reference[..path_end], reference.get(path_end + 1..query_end)))
}

fn is_printable(text: &str) -> bool {
    text.bytes().all(|byte| (0x20..0x7F).contains(&byte))
}

/// True if a segment after a `/` may be `.` or `..`, written plainly or as `%2e`. False positives are allowed.
fn has_dot_segment(path: &str) -> bool {
    let bytes = path.as_bytes();
    memchr::memchr_iter(b'.', bytes).any(|at| at > 0 && bytes[at - 1] == b'/')
        || memchr::memchr_iter(b'%', bytes).any(|at| bytes.get(at + 1) == Some(&b'2'))
}

/// True for a host, with a port or without, that the standard would copy: small letters, digits and single hyphens in labels that are not
/// empty, or an IPv4 address as it is always written.
fn is_plain(scheme: &str, authority: &str) -> bool {
    let (host, port) = authority.split_once(':').map_or((authority, None), |(host, port)| (host, Some(port)));
    let default = if scheme == "http" { "80" } else { "443" };
    let is_port = |port: &str| port != default && !port.starts_with(['0', '+']) && port.parse::<u16>().is_ok();
    if !port.is_none_or(is_port) {
        return false;
    }
    let is_label = |label: &str| {
        let is_host = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty() && !label.contains("--") && label.bytes().all(is_host)
    };
    let is_name =
        host.rsplit('.').next().is_some_and(|last| last.starts_with(|first: char| first.is_ascii_lowercase()));
    if is_name { host.split('.').all(is_label) } else { is_ipv4(host) }
}

/// True for four numbers as they are always written.
fn is_ipv4(host: &str) -> bool {
    let is_byte = |part: &str| (part == "0" || !part.starts_with(['0', '+'])) && part.parse::<u8>().is_ok();
    host.split('.').count() == 4 && host.split('.').all(is_byte)
}
