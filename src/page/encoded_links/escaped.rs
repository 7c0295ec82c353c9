//! Magnet links whose signs are escaped: as character references (`magnet&#58;?xt=…`), or percent-encoded within another
//! URL, a redirector's (`/away?to=magnet%3A%3Fxt%3D…`).
//!
//! A page without the word has no such link, and costs two searches for it.

use std::sync::LazyLock;

use encoding_rs::Encoding;
use memchr::memmem::Finder;

use super::{clean, link_end, stands_alone};
use crate::limits::{ENCODED_LINK_NESTING_MAX, MAGNETS_PER_URL_TRIED, URL_BYTES_MAX};

const MAGNET: &str = "magnet:?";
const WORD: usize = "magnet".len();

/// The word without its first letter, which may be in either case: links are written `magnet`, `Magnet` or `MAGNET`.
const WORDS: [&[u8]; 2] = [b"agnet", b"AGNET"];

/// Searches for the words, built once.
static FINDERS: LazyLock<[Finder<'static>; 2]> = LazyLock::new(|| WORDS.map(Finder::new));

/// The places of the word in a text.
fn words(text: &[u8], word: usize) -> impl Iterator<Item = usize> {
    FINDERS[word]
        .find_iter(text)
        .filter_map(|at| at.checked_sub(1))
        .filter(|&start| text[start] | 0x20 == b'm' && stands_alone(text, start))
}

/// Gives every such link of a page with its offset. Linear in `page`.
pub(super) fn find(page: &[u8], encoding: &'static Encoding, mut each: impl FnMut(usize, String)) {
    for word in 0..WORDS.len() {
        let mut free_from = 0;
        for start in words(page, word) {
            if start < free_from || !is_escaped(&page[start + WORD..]) || is_own_url(page, start) {
                continue;
            }
            let Some(end) = link_end(page, start, start) else {
                free_from = start + URL_BYTES_MAX;
                continue;
            };
            free_from = end;
            if let Some(link) = opened(&clean(&page[start..end], encoding)) {
                each(start, link);
            }
        }
    }
}

/// `"magnet:%3F…"` is a URL itself, of a scheme whose URLs have no such path: no browser's client opens it.
fn is_own_url(page: &[u8], start: usize) -> bool {
    let is_quoted = start.checked_sub(1).is_none_or(|before| matches!(page[before], b'"' | b'\''));
    is_quoted && page[start + WORD..].starts_with(b":%")
}

/// True if an escape stands for the colon or the question mark.
fn is_escaped(signs: &[u8]) -> bool {
    matches!(signs, [b'%' | b'&', ..] | [b':', b'%' | b'&', ..])
}

/// The magnet link within another URL, plain or percent-encoded.
#[must_use]
pub fn inside(url: &str) -> Option<String> {
    if url.len() > 3 * URL_BYTES_MAX {
        return None;
    }
    // Nearly all links of a page are asked; most lack the letter.
    memchr::memchr2(b'g', b'G', url.as_bytes())?;
    let places = (0..WORDS.len()).flat_map(|word| words(url.as_bytes(), word));
    places.filter(|&start| start > 0).take(MAGNETS_PER_URL_TRIED).find_map(|start| opened(url.get(start..)?))
}

/// The link that starts as a magnet's does, its signs escaped or not. In a query it ends where the next parameter begins.
fn opened(text: &str) -> Option<String> {
    if is_magnet(text) {
        return Some(text.to_owned());
    }
    let mut link = text.split(['&', '#']).next()?.to_owned();
    for _ in 0..ENCODED_LINK_NESTING_MAX {
        link = unescaped(&link);
        if is_magnet(&link) {
            return Some(link);
        }
    }
    None
}

fn is_magnet(text: &str) -> bool {
    text.get(..MAGNET.len()).is_some_and(|start| start.eq_ignore_ascii_case(MAGNET))
}

/// One layer of percent-encoding less, of visible ASCII and spaces only: a magnet's own text is percent-encoded UTF-8.
fn unescaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut pieces = text.split('%');
    out.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let code = piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match code.filter(|code| (0x20..0x7F).contains(code)) {
            Some(code) => {
                out.push(char::from(code));
                out.push_str(&piece[2..]);
            }
            None => {
                out.push('%');
                out.push_str(piece);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use encoding_rs::UTF_8;

    use super::*;

    const HASH: &str = "c12fe1c06bba254a9dc9f519b335aa7c1367a88a";

    fn found(page: &str) -> Vec<String> {
        super::super::find(page.as_bytes(), UTF_8).into_iter().map(|found| found.link).collect()
    }

    #[test]
    fn signs_written_as_references_are_signs() {
        let plain = format!("magnet:?xt=urn:btih:{HASH}&dn=Two words");
        let strict: String = plain
            .chars()
            .map(|sign| if sign.is_alphanumeric() { sign.to_string() } else { format!("&#x{:X};", u32::from(sign)) })
            .collect();
        let amp = plain.replace('&', "&amp;");
        for written in [
            strict,
            amp.replace(':', "&#58;"),
            amp.replace('?', "&#63;"),
            amp.replace(':', "&colon;").replace('=', "&equals;"),
            amp.replace('?', "&quest;").replace(' ', "&#32;"),
            amp.replace("magnet:", "MAGNET&#0058"),
        ] {
            for page in [format!("<a href=\"{written}\">"), format!("<a data-link='{written}'>")] {
                let links = found(&page);
                assert_eq!(links.len(), 1, "{page}");
                assert_eq!(links[0].replace("MAGNET", "magnet"), plain, "{page}");
            }
        }
    }

    #[test]
    fn magnets_are_found_within_other_urls() {
        let link = format!("magnet:?xt=urn:btih:{HASH}&dn=a%20b&tr=udp://t.example:1/x");
        let encode = |text: &str| -> String {
            text.bytes()
                .map(|byte| match byte {
                    byte if byte.is_ascii_alphanumeric() => char::from(byte).to_string(),
                    byte => format!("%{byte:02X}"),
                })
                .collect()
        };
        let (once, twice) = (encode(&link), encode(&encode(&link)));
        for url in [
            format!("https://out.example/?url={once}&amp;from=x"),
            format!("/away.php?to={}#top", once.to_lowercase()),
            format!("https://share.example/k/{once}"),
            format!("/a?u=%2Fb%3Fto%3D{twice}"),
            format!("/a?u={}", once.replacen("%3A", ":", 1)),
            format!("/a?u={link}"),
        ] {
            let same = |found: &str| assert_eq!(found.to_lowercase(), link.to_lowercase(), "{url}");
            let href = url.replace("&amp;", "&");
            same(&inside(&href).unwrap_or_default());
            let links = found(&format!("<a href='{url}'>x</a> <p>text"));
            assert_eq!(links.len(), 1, "{url}");
            same(&links[0]);
        }
    }

    #[test]
    fn what_only_names_magnets_holds_none() {
        for url in [
            "/magnets",
            "/magnet%20list",
            "/electromagnet%3A%3Fxt",
            "magnet:?xt=urn:btih:x",
            "/a?u=magnet%3Axt",
            "/magnet%",
            "/magnet%3",
            "/x&magnet",
            "/magnet%2525252525253A%3F",
        ] {
            assert_eq!(inside(url), None, "{url}");
        }
        assert!(found(&format!("<a href='magnet:%3Fxt=urn:btih:{HASH}'>")).is_empty());
        assert!(found("<a href='/magnet&amp;x'>magnet &colon; magnet%3A magnet&#58; magnet").is_empty());
    }
}
