//! Links that wrap another: `thunder://`, `flashget://` and `qqdl://` (ALGORITHMS §3, after BT §1), and `magnet:?`.
//! They are found anywhere in a page (attributes, text, scripts, handlers) and decoded; magnets also where their signs
//! are escaped ([`escaped`]).
//!
//! Finding is one pass of `memchr` over the colons of the page, and two for the word `magnet`. Decoding is pure; the result is a URL, a magnet link
//! or a link of another scheme, never another wrapped link. Resolves and fetches nothing.

mod escaped;

use std::borrow::Cow;
use std::collections::HashSet;

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use encoding_rs::{Encoding, GB18030};
use percent_encoding::percent_decode_str;

pub use escaped::inside;

use super::entities::decode_attribute;
use crate::limits::{ENCODED_LINK_NESTING_MAX, LINKS_PER_PAGE_MAX, URL_BYTES_MAX};

/// A magnet or encoded link found in a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundLink {
    /// The link, with character references and JSON escapes decoded.
    pub link: String,
    /// Offset of its first byte in the page (in its UTF-8 form if the page is UTF-16 or ISO-2022-JP).
    pub offset: usize,
}

/// The content of an encoded link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Decoded {
    /// An `http`, `https` or `ftp` URL, as it was wrapped.
    Url(String),
    /// A magnet link.
    Magnet(String),
    /// A complete link of another scheme (`ed2k://…`), which gleaner does not follow.
    Other(String),
}

/// Why a link could not be decoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodedLinkError {
    #[error("the link's scheme is not thunder, flashget, qqdl or magnet")]
    Scheme,
    #[error("the link is longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    #[error("what follows the scheme is not base64")]
    Base64,
    #[error("the decoded text lacks its marks (AA…ZZ or [FLASHGET]…[FLASHGET])")]
    Marks,
    #[error("the decoded text is neither UTF-8 nor GB18030")]
    Charset,
    #[error("the decoded text is not a link")]
    NotALink,
    #[error("links are wrapped more than {ENCODED_LINK_NESTING_MAX} deep")]
    Nesting,
}

/// True if [`decode`] handles the scheme.
#[must_use]
pub fn is_encoded(link: &str) -> bool {
    Scheme::of(link).is_some()
}

#[derive(Clone, Copy)]
enum Scheme {
    Magnet,
    Thunder,
    Flashget,
    Qqdl,
}

impl Scheme {
    const ALL: [(Self, &'static str); 4] = [
        (Self::Magnet, "magnet:?"),
        (Self::Thunder, "thunder://"),
        (Self::Flashget, "flashget://"),
        (Self::Qqdl, "qqdl://"),
    ];

    /// The scheme and what follows it.
    #[inline]
    fn of(link: &str) -> Option<(Self, &str)> {
        // Most links of a page are checked here; one byte rejects nearly all.
        if !matches!(link.as_bytes().first()? | 0x20, b'm' | b't' | b'f' | b'q') {
            return None;
        }
        Self::ALL.into_iter().find_map(|(scheme, prefix)| {
            let start = link.get(..prefix.len())?;
            start.eq_ignore_ascii_case(prefix).then(|| (scheme, &link[prefix.len()..]))
        })
    }
}

/// Every magnet, thunder, flashget and qqdl link in `body`, in order, each once, at most [`LINKS_PER_PAGE_MAX`]. A
/// quoted link ends with its quotes, any other at white space or a delimiter. Links longer than [`URL_BYTES_MAX`] are
/// ignored. Linear in `body`.
#[must_use]
pub fn find(body: &[u8], encoding: &'static Encoding) -> Vec<FoundLink> {
    if encoding.is_ascii_compatible() {
        find_in(body, encoding)
    } else {
        find_in(encoding.decode_with_bom_removal(body).0.as_bytes(), encoding_rs::UTF_8)
    }
}

fn find_in(page: &[u8], encoding: &'static Encoding) -> Vec<FoundLink> {
    let mut found = Vec::new();
    let mut seen = HashSet::new();
    let mut free_from = 0;
    for colon in memchr::memchr_iter(b':', page) {
        if colon < free_from {
            continue;
        }
        let Some((start, prefix)) = prefix_around(page, colon) else {
            continue;
        };
        let Some(end) = link_end(page, start, colon) else {
            continue;
        };
        free_from = end;
        let link = clean(&page[start..end], encoding);
        if link.len() > prefix && link.len() <= URL_BYTES_MAX && seen.insert(link.clone()) {
            found.push(FoundLink { link, offset: start });
            if found.len() == LINKS_PER_PAGE_MAX {
                return found;
            }
        }
    }
    let plain = found.len();
    escaped::find(page, encoding, |offset, link| {
        if found.len() < LINKS_PER_PAGE_MAX && link.len() <= URL_BYTES_MAX && seen.insert(link.clone()) {
            found.push(FoundLink { link, offset });
        }
    });
    if found.len() > plain {
        found.sort_by_key(|found| found.offset);
    }
    found
}

/// True if no word goes on before `start`; an escape is no word (`url%3Dmagnet`).
fn stands_alone(page: &[u8], start: usize) -> bool {
    match &page[..start] {
        [.., b'%', a, b] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => true,
        [.., before] => !before.is_ascii_alphanumeric(),
        [] => true,
    }
}

/// The start of one of our schemes with this colon, and the length of `scheme://` or `magnet:?`.
#[inline]
fn prefix_around(page: &[u8], colon: usize) -> Option<(usize, usize)> {
    let after = &page[colon + 1..];
    let names: &[&[u8]] = match after.first()? {
        b'?' => &[b"magnet"],
        // JSON in scripts writes `:\/\/`.
        b'/' | b'\\' if after.starts_with(b"//") || after.starts_with(br"\/\/") => &[b"thunder", b"flashget", b"qqdl"],
        _ => return None,
    };
    names.iter().find_map(|name| {
        let start = colon.checked_sub(name.len())?;
        let prefix = name.len() + if name.len() == 6 { 2 } else { 3 };
        (page[start..colon].eq_ignore_ascii_case(name) && stands_alone(page, start)).then_some((start, prefix))
    })
}

/// The end of the link that starts at `start`; `None` if it is longer than a URL may be, with references counted five
/// bytes to one.
fn link_end(page: &[u8], start: usize, colon: usize) -> Option<usize> {
    let quote = start.checked_sub(1).map(|before| page[before]).filter(|byte| b"\"'`".contains(byte));
    let window = &page[colon..page.len().min(start.saturating_add(URL_BYTES_MAX * 5))];
    let ends = |&byte: &u8| match byte {
        b'<' | b'>' | b'\r' | b'\n' | 0 => true,
        // A quoted magnet name may contain spaces and the other quote.
        b'"' | b'\'' | b'`' => quote.is_none_or(|quote| quote == byte),
        byte if byte <= b' ' => quote.is_none(),
        _ => false,
    };
    match window.iter().position(ends) {
        Some(length) => Some(colon + length),
        None if colon + window.len() == page.len() => Some(page.len()),
        None => None,
    }
}

/// Decodes charset, character references and JSON escapes; cuts at a delimiter that was hidden in a reference.
fn clean(bytes: &[u8], encoding: &'static Encoding) -> String {
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    let text = decode_attribute(&text);
    let text = if text.contains('\\') {
        let plain = text.replace(r"\/", "/").replace(r"\u0026", "&").replace(r"\u003d", "=").replace(r"\u003D", "=");
        Cow::Owned(plain)
    } else {
        text
    };
    let end = text.find(['"', '<', '>', '\\', '`']).unwrap_or(text.len());
    let is_magnet = text.as_bytes().first().is_some_and(|byte| byte | 0x20 == b'm');
    // A quote mark in a reference closes the string of a handler, but may be part of a magnet's name.
    let end = if is_magnet { end } else { text[..end].find(['\'', ' ']).unwrap_or(end) };
    text[..end].trim_end_matches([' ', '\'', ')', ',', ';']).to_owned()
}

/// Decodes a link as far as possible. The text inside may be UTF-8 or GB18030 (which includes GBK); base64 may lack
/// its padding, use the URL alphabet, or be percent-encoded.
///
/// # Errors
/// [`EncodedLinkError`] describes the error. Never panics on any input.
pub fn decode(link: &str) -> Result<Decoded, EncodedLinkError> {
    let mut link = Cow::Borrowed(link.trim_ascii());
    for _ in 0..=ENCODED_LINK_NESTING_MAX {
        if link.len() > URL_BYTES_MAX {
            return Err(EncodedLinkError::TooLong);
        }
        let (scheme, payload) = Scheme::of(&link).ok_or(EncodedLinkError::Scheme)?;
        let inner = match scheme {
            Scheme::Magnet => return Ok(Decoded::Magnet(link.into_owned())),
            Scheme::Thunder => between(base64_text(payload)?, b"AA", b"ZZ")?,
            Scheme::Flashget => between(base64_text(flashget_payload(payload))?, b"[FLASHGET]", b"[FLASHGET]")?,
            Scheme::Qqdl => base64_text(payload)?,
        };
        let inner = to_text(inner)?;
        match plain_link(&inner)? {
            Some(decoded) => return Ok(decoded),
            None => link = Cow::Owned(inner),
        }
    }
    Err(EncodedLinkError::Nesting)
}

/// `None` if the text is itself a magnet or encoded link.
fn plain_link(text: &str) -> Result<Option<Decoded>, EncodedLinkError> {
    if is_encoded(text) {
        return Ok(None);
    }
    let (scheme, rest) = text.split_once(':').ok_or(EncodedLinkError::NotALink)?;
    let is_scheme = scheme.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte));
    if !is_scheme || rest.is_empty() || text.contains(|character: char| character < ' ') {
        return Err(EncodedLinkError::NotALink);
    }
    let is_url = ["http", "https", "ftp"].iter().any(|known| scheme.eq_ignore_ascii_case(known));
    match (is_url, rest.starts_with("//")) {
        (true, true) => Ok(Some(Decoded::Url(text.to_owned()))),
        (true, false) => Err(EncodedLinkError::NotALink),
        (false, _) => Ok(Some(Decoded::Other(text.to_owned()))),
    }
}

/// A flashget link may end in `&tag`, the site's own mark.
fn flashget_payload(payload: &str) -> &str {
    payload.split('&').next().unwrap_or(payload)
}

/// Base64 of either alphabet, padded or not, percent-encoded or not; slashes appended by a browser are dropped.
fn base64_text(payload: &str) -> Result<Vec<u8>, EncodedLinkError> {
    const LENIENT: GeneralPurposeConfig = GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true);
    const ENGINE: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, LENIENT);
    let unescaped: Cow<'_, [u8]> = percent_decode_str(payload).into();
    let mut symbols: Vec<u8> = unescaped
        .iter()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|&byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    // A browser that takes the link for a host appends a `/` after the padding or at an impossible length.
    while symbols.last() == Some(&b'/') && (symbols.contains(&b'=') || symbols.len() % 4 == 1) {
        symbols.pop();
    }
    while symbols.last() == Some(&b'=') {
        symbols.pop();
    }
    if symbols.is_empty() {
        return Err(EncodedLinkError::Base64);
    }
    ENGINE.decode(&symbols).map_err(|_| EncodedLinkError::Base64)
}

fn between(mut text: Vec<u8>, before: &[u8], after: &[u8]) -> Result<Vec<u8>, EncodedLinkError> {
    let end = text.len().checked_sub(after.len()).ok_or(EncodedLinkError::Marks)?;
    if end < before.len() || !text.starts_with(before) || !text.ends_with(after) {
        return Err(EncodedLinkError::Marks);
    }
    text.truncate(end);
    text.drain(..before.len());
    Ok(text)
}

fn to_text(bytes: Vec<u8>) -> Result<String, EncodedLinkError> {
    let text = match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => GB18030
            .decode_without_bom_handling_and_without_replacement(error.as_bytes())
            .ok_or(EncodedLinkError::Charset)?
            .into_owned(),
    };
    Ok(text.trim_ascii().to_owned())
}

#[cfg(test)]
mod tests;
