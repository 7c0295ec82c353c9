//! A password on its way from the operator's file to the form. It cannot be printed: it has no `Display`, its `Debug`
//! hides it, and its memory is overwritten on drop.

use std::fmt;

use zeroize::Zeroizing;

use crate::limits::CONTROL_TEXT_BYTES_MAX;
pub use gleaner_base::url::MASK;

/// A password or another secret.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(Zeroizing<Box<str>>);

impl Secret {
    /// Makes a secret from file content: one trailing line end, added by editors, is removed.
    #[must_use]
    pub fn new(text: &str) -> Self {
        let line = text.strip_suffix('\n').map_or(text, |line| line.strip_suffix('\r').unwrap_or(line));
        Self(Zeroizing::new(line.into()))
    }

    /// The secret itself. Only for what is sent.
    #[must_use]
    pub fn reveal(&self) -> &str {
        &self.0
    }

    /// True if it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// 32 bits of a salted hash: enough to recognise the same secret again, too few to find out which one it is.
    #[must_use]
    pub fn mark(&self, salt: &[u8]) -> u32 {
        use sha2::{Digest, Sha256};
        let digest = Sha256::new().chain_update(salt).chain_update(self.0.as_bytes()).finalize();
        u32::from_be_bytes([digest[0], digest[1], digest[2], digest[3]])
    }
}

/// A field's value or a part of a URL for output: a word or a short number unchanged, anything that may be a token or
/// a session masked.
#[must_use]
pub fn told(value: &str) -> &str {
    // A token of 16 letters without a digit would be rare, and shorter ones are guesses.
    let is_word = value.chars().count() < 16 && value.chars().all(|of| of.is_alphabetic() || " _-.".contains(of));
    let is_number = value.len() <= 4 && value.bytes().all(|of| of.is_ascii_digit());
    if is_word || is_number { value } else { MASK }
}

/// A URL, or a reference, for output: forums write the session into the query of their links (`sid=`), and tokens
/// into their paths.
#[must_use]
pub fn told_url(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let mut out = String::with_capacity(url.len());
    let host_at = if address.contains("://") { Some(2) } else { None };
    for (at, segment) in address.split('/').enumerate() {
        out.push_str(if at > 0 { "/" } else { "" });
        if host_at == Some(at) {
            out.push_str(segment);
            continue;
        }
        // Parameters come after a semicolon (`;jsessionid=…`).
        for (at, piece) in segment.split(';').enumerate() {
            out.push_str(if at > 0 { ";" } else { "" });
            match piece.split_once('=').filter(|_| at > 0) {
                Some((name, value)) => out.extend([name, "=", told(value)]),
                None => out.push_str(if is_token(piece) { MASK } else { piece }),
            }
        }
    }
    for (at, pair) in query.into_iter().flat_map(|query| query.split('&')).enumerate() {
        out.push(if at > 0 { '&' } else { '?' });
        match pair.split_once('=') {
            Some((name, value)) => out.extend([name, "=", told(value)]),
            None => out.push_str(told(pair)),
        }
    }
    out
}

/// A site's own words for output, with possible tokens and sessions masked.
#[must_use]
pub fn told_words(text: &str) -> String {
    let told = |word: &str| {
        let bare = word.trim_matches(|of: char| !of.is_alphanumeric());
        if is_token(bare) { word.replace(bare, MASK) } else { told_url_in(word) }
    };
    text.split(' ').map(told).collect::<Vec<_>>().join(" ")
}

/// A site's message without secrets, cut to `limits::CONTROL_TEXT_BYTES_MAX` bytes.
#[must_use]
pub fn quoted(text: &str) -> String {
    // Text-direction marks would disguise the line.
    let text = text.replace(
        |of| matches!(of, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'),
        "\u{fffd}",
    );
    let end = text.floor_char_boundary(CONTROL_TEXT_BYTES_MAX);
    format!("“{}{}”", &text[..end], if end < text.len() { "…" } else { "" })
}

/// A word for output, possibly an address.
fn told_url_in(word: &str) -> String {
    if word.contains('/') || word.contains('?') && word.contains('=') { told_url(word) } else { word.to_owned() }
}

/// A token within a path: a UUID, hexadecimal, base64, a JWT. A title has words between its dashes, without digits
/// among their letters.
fn is_token(segment: &str) -> bool {
    let is_mixed = |piece: &str| {
        let digits = piece.bytes().filter(u8::is_ascii_digit).count();
        digits > 0 && digits < piece.len() && piece.len() >= 4
    };
    let has_form = segment.bytes().all(|of| of.is_ascii_alphanumeric() || b"-_~=.%+".contains(&of));
    let is_one = segment.bytes().all(|of| of.is_ascii_alphanumeric() || of == b'=');
    let mixed: usize = segment.split(['-', '_', '.', '~']).filter(|piece| is_mixed(piece)).map(str::len).sum();
    segment.len() >= 16
        && has_form
        && (is_one && segment.bytes().any(|of| of.is_ascii_digit()) || mixed * 2 >= segment.len())
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_one_line_and_does_not_show() {
        let secret = Secret::new("päss word \r\n");
        assert_eq!(secret.reveal(), "päss word ");
        assert_eq!(format!("{secret:?}"), "Secret(…)");
        assert_eq!(secret.mark(b"salt"), Secret::new("päss word ").mark(b"salt"));
        assert_ne!(secret.mark(b"salt"), secret.mark(b"other"));
        assert!(Secret::new("\n").is_empty() && Secret::new("\n\n").reveal() == "\n");
    }

    #[test]
    fn tokens_and_sessions_are_masked_and_words_are_told() {
        for (url, expected) in [
            (
                "https://h.example:8080/ucp.php?mode=login&sid=0a1b2c",
                "https://h.example:8080/ucp.php?mode=login&sid=••••••",
            ),
            ("logout.php?k=1&formhash=a1b2c3d4", "logout.php?k=1&formhash=••••••"),
            ("/logout/0123456789abcdef0", "/logout/••••••"),
            ("/login.jsp;jsessionid=1A2B3C4D?x=1", "/login.jsp;jsessionid=••••••?x=1"),
            ("/u/550e8400-e29b-41d4-a716-446655440000/x", "/u/••••••/x"),
            ("/t/eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.dozjgNryP4J3jVmNHl0w5N_X", "/t/••••••"),
            (
                "https://a1b2c3d4e5f6a7b8c9.example/2026-11-21-debian-13-amd64.iso",
                "https://a1b2c3d4e5f6a7b8c9.example/2026-11-21-debian-13-amd64.iso",
            ),
            ("/a?0a1b2c&redirect=%2F", "/a?••••••&redirect=••••••"),
            ("member.php?mod=logging&action=login", "member.php?mod=logging&action=login"),
        ] {
            assert_eq!(told_url(url), expected);
        }
        assert_eq!((told("Log in"), told("123456"), told("")), ("Log in", MASK, ""));
        let words = "Sorry, no match. (Request 0123456789abcdef0, see /help?sid=0a1b2c) Why?";
        let expected = "Sorry, no match. (Request ••••••, see /help?sid=•••••• Why?";
        assert_eq!(told_words(words), expected);
    }
}
