//! Detects the charset of a page as the HTML standard does (§13.2.3.2): byte order mark, the site's override, the
//! HTTP header, the page's own `meta` in its first 1024 bytes, and finally its content.
//!
//! Reads bytes and labels only, decodes nothing and never fails: every page has an encoding.

use chardetng::{EncodingDetector, Iso2022JpDetection, Utf8Detection};
use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252, X_USER_DEFINED};

/// Bytes searched for a `meta` (HTML §13.2.3.2: 1024).
const PRESCAN_BYTES: usize = 1_024;

/// Bytes used to guess the charset when nothing names it. Guessing runs at about 100 MB/s, and more than 64 kB would
/// not help.
const GUESS_BYTES: usize = 64 << 10;

/// The encoding of `body`. `content_type` is the value of the HTTP header, `override_label` comes from the site file.
/// Labels that name no encoding are skipped.
#[must_use]
pub fn detect(content_type: Option<&str>, body: &[u8], override_label: Option<&str>) -> &'static Encoding {
    if let Some((encoding, _)) = Encoding::for_bom(body) {
        return encoding;
    }
    let labelled = |label: &str| Encoding::for_label(label.as_bytes());
    override_label
        .and_then(labelled)
        .or_else(|| content_type.and_then(charset_parameter).and_then(labelled))
        .or_else(|| prescan(&body[..body.len().min(PRESCAN_BYTES)]))
        .unwrap_or_else(|| guess(body))
}

/// The `charset` parameter of a Content-Type, however malformed the header is (real servers send
/// `text/html; charset=utf-8; Cache-control:private`).
fn charset_parameter(content_type: &str) -> Option<&str> {
    content_type.split(';').skip(1).find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        let value = value.trim().trim_matches(['"', '\'']).trim();
        (name.trim().eq_ignore_ascii_case("charset") && !value.is_empty()).then_some(value)
    })
}

/// Guesses from the content: UTF-8 if it is valid, else the result of chardetng. Never UTF-16 or ISO-2022-JP, which
/// let a page hide its markup.
fn guess(body: &[u8]) -> &'static Encoding {
    let sample = &body[..body.len().min(GUESS_BYTES)];
    match std::str::from_utf8(sample) {
        Ok(_) => return UTF_8,
        // We cut the sample within a character, not the page.
        Err(error) if error.error_len().is_none() && sample.len() < body.len() => return UTF_8,
        Err(_) => {}
    }
    let mut detector = EncodingDetector::new(Iso2022JpDetection::Deny);
    detector.feed(sample, sample.len() == body.len());
    // The top-level domain would help a little, but `guess` panics on most forms of it.
    detector.guess(None, Utf8Detection::Allow)
}

/// "Prescan a byte stream to determine its encoding" (HTML §13.2.3.2). `None` if no `meta` names one.
fn prescan(head: &[u8]) -> Option<&'static Encoding> {
    if head.starts_with(b"<\0?\0x\0") {
        return Some(UTF_16LE);
    }
    if head.starts_with(b"\0<\0?\0x") {
        return Some(UTF_16BE);
    }
    let mut at = 0;
    loop {
        at += memchr::memchr(b'<', &head[at..])?;
        let rest = &head[at..];
        if rest.starts_with(b"<!--") {
            // The closing dashes may be the opening ones.
            at += 2 + memchr::memmem::find(&rest[2..], b"-->")? + 3;
        } else if is_meta(rest) {
            let (encoding, after) = meta_encoding(head, at + 5)?;
            if encoding.is_some() {
                return encoding;
            }
            at = after;
        } else if is_tag(rest) {
            at += 1 + rest[1..].iter().position(|byte| b"\t\n\x0c\r >".contains(byte))?;
            while let Some((_, after)) = attribute(head, at)? {
                at = after;
            }
            // At the `>`; the loop continues from there.
        } else if matches!(rest.get(1), Some(b'!' | b'/' | b'?')) {
            at += memchr::memchr(b'>', rest)? + 1;
        } else {
            at += 1;
        }
    }
}

fn is_meta(rest: &[u8]) -> bool {
    rest.len() > 5 && rest[1..5].eq_ignore_ascii_case(b"meta") && b"\t\n\x0c\r /".contains(&rest[5])
}

fn is_tag(rest: &[u8]) -> bool {
    match rest.get(1) {
        Some(b'/') => rest.get(2).is_some_and(u8::is_ascii_alphabetic),
        first => first.is_some_and(|byte| byte.is_ascii_alphabetic()),
    }
}

/// The encoding named by the `meta` whose attributes start at `at`, and the position after them. `None` if the bytes
/// end first.
fn meta_encoding(head: &[u8], mut at: usize) -> Option<(Option<&'static Encoding>, usize)> {
    let mut seen: Vec<Vec<u8>> = Vec::new();
    let mut got_pragma = false;
    let mut need_pragma = None;
    let mut charset = None;
    while let Some(((name, value), after)) = attribute(head, at)? {
        at = after;
        if seen.contains(&name) {
            continue;
        }
        match name.as_slice() {
            b"http-equiv" => got_pragma |= value == b"content-type",
            b"content" if charset.is_none() => {
                if let Some(encoding) = charset_in_content(&value) {
                    charset = Some(encoding);
                    need_pragma = Some(true);
                }
            }
            b"charset" => {
                charset = Encoding::for_label(&value);
                need_pragma = Some(false);
            }
            _ => {}
        }
        seen.push(name);
    }
    let named = match need_pragma {
        Some(true) if !got_pragma => None,
        Some(_) => charset,
        None => None,
    };
    // A page whose `meta` could be read is not in UTF-16.
    let named = named.map(|encoding| match encoding {
        encoding if encoding == UTF_16LE || encoding == UTF_16BE => UTF_8,
        encoding if encoding == X_USER_DEFINED => WINDOWS_1252,
        encoding => encoding,
    });
    Some((named, at))
}

/// "Extract a character encoding from a meta element" (HTML §2.6.5), on a value in lower case.
fn charset_in_content(content: &[u8]) -> Option<&'static Encoding> {
    let mut rest = content;
    loop {
        rest = &rest[memchr::memmem::find(rest, b"charset")? + b"charset".len()..];
        if let Some(after) = rest.trim_ascii_start().strip_prefix(b"=") {
            let value = after.trim_ascii_start();
            let label = match value.first()? {
                &quote @ (b'"' | b'\'') => &value[1..1 + memchr::memchr(quote, &value[1..])?],
                _ => value.split(|byte| *byte == b';' || byte.is_ascii_whitespace()).next()?,
            };
            return Encoding::for_label(label);
        }
    }
}

type Attribute = (Vec<u8>, Vec<u8>);

/// "Get an attribute" (HTML §13.2.3.2): name and value in lower case, and the position after them. `Some(None)` at
/// the tag's `>`, `None` if the bytes end first.
fn attribute(head: &[u8], mut at: usize) -> Option<Option<(Attribute, usize)>> {
    let space = |byte: u8| b"\t\n\x0c\r ".contains(&byte);
    while space(*head.get(at)?) || head[at] == b'/' {
        at += 1;
    }
    if head[at] == b'>' {
        return Some(None);
    }
    let start = at;
    while !space(*head.get(at)?) && !matches!(head[at], b'/' | b'>') && (head[at] != b'=' || at == start) {
        at += 1;
    }
    let name = head[start..at].to_ascii_lowercase();
    while space(*head.get(at)?) {
        at += 1;
    }
    if head[at] != b'=' {
        return Some(Some(((name, Vec::new()), at)));
    }
    at += 1;
    while space(*head.get(at)?) {
        at += 1;
    }
    let (value, after) = match head[at] {
        quote @ (b'"' | b'\'') => {
            let end = at + 1 + memchr::memchr(quote, &head[at + 1..])?;
            (&head[at + 1..end], end + 1)
        }
        _ => {
            let start = at;
            while !space(*head.get(at)?) && head[at] != b'>' {
                at += 1;
            }
            (&head[start..at], at)
        }
    };
    Some(Some(((name, value.to_ascii_lowercase()), after)))
}

#[cfg(test)]
mod tests;
