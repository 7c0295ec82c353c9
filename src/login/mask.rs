//! Masks the secret in text from others: scripts of a page know the password after it is typed, and may write it into
//! an error, an address or a console line.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use md5::Md5;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use zeroize::Zeroizing;

use super::secret::{MASK, Secret};
use crate::limits::CONSOLE_LINE_BYTES_MAX;

/// Characters that `encodeURIComponent` keeps.
const COMPONENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'!')
    .remove(b'~')
    .remove(b'*')
    .remove(b'\'')
    .remove(b'(')
    .remove(b')');

/// The recognised forms of a secret: plain, percent-encoded, as a form field, as JSON, as HTML, in base64 alone or
/// after the user's name, and its MD5, SHA-1 and SHA-256 in hexadecimal. Other forms are not recognised.
pub struct Mask(Vec<Zeroizing<String>>);

impl Mask {
    /// The forms of one account's secret. An empty secret has none.
    #[must_use]
    pub fn of(user: &str, secret: &Secret) -> Self {
        let plain = secret.reveal();
        if plain.is_empty() {
            return Self(Vec::new());
        }
        let pair = Zeroizing::new(format!("{user}:{plain}"));
        let html = Zeroizing::new(plain.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"));
        // Older scripts hash the low byte of each UTF-16 unit.
        let low: Zeroizing<Vec<u8>> = Zeroizing::new(plain.encode_utf16().map(|unit| unit.to_le_bytes()[0]).collect());
        // Serialising a text cannot fail.
        let json = Zeroizing::new(serde_json::to_string(plain).unwrap_or_default());
        let mut forms = vec![
            plain.to_owned(),
            plain.trim().to_owned(),
            // As visible on a page.
            plain.split_whitespace().collect::<Vec<_>>().join(" "),
            url::form_urlencoded::byte_serialize(plain.as_bytes()).collect(),
            utf8_percent_encode(plain, NON_ALPHANUMERIC).to_string(),
            utf8_percent_encode(plain, COMPONENT).to_string(),
            // As encoded by jQuery's `$.param`.
            utf8_percent_encode(plain, COMPONENT).to_string().replace("%20", "+"),
            html.replace('"', "&quot;"),
            html.to_string(),
            json.trim_matches('"').to_owned(),
            STANDARD_NO_PAD.encode(plain),
            URL_SAFE_NO_PAD.encode(plain),
            STANDARD_NO_PAD.encode(pair.as_bytes()),
            URL_SAFE_NO_PAD.encode(pair.as_bytes()),
        ];
        // As PHP and Python write it: slashes escaped, or non-ASCII characters, or both.
        forms.extend([(true, false), (false, true), (true, true)].map(|(slashes, rest)| escaped(plain, slashes, rest)));
        for bytes in [plain.as_bytes(), &low] {
            forms.extend([hex(&Md5::digest(bytes)), hex(&Sha1::digest(bytes)), hex(&Sha256::digest(bytes))]);
        }
        forms.iter_mut().for_each(|form| form.make_ascii_lowercase());
        // The longest first: a form may be a prefix of another.
        forms.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        forms.dedup();
        Self(forms.into_iter().filter(|form| !form.is_empty()).map(Zeroizing::new).collect())
    }

    /// Adds another secret text, such as an answer to a security question. Texts of fewer than three characters are
    /// ignored: they occur everywhere.
    pub fn add(&mut self, text: &str) {
        if text.chars().count() < 3 {
            return;
        }
        self.0.extend(Self::of("", &Secret::new(text)).0);
        self.0.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
        self.0.dedup();
    }

    /// True if a text contains the secret in one of its forms.
    #[must_use]
    pub fn is_in(&self, text: &[u8]) -> bool {
        let lower = Zeroizing::new(text.to_ascii_lowercase());
        self.0.iter().any(|form| memchr::memmem::find(&lower, form.as_bytes()).is_some())
    }

    /// Masks the secret with [`MASK`] in the addresses of one of our own texts. Only there: a weak password may be a
    /// word of ours, and masking that would reveal it.
    #[must_use]
    pub fn hide_in_addresses(&self, text: &str) -> String {
        let hide = |word: &str| if word.contains('/') { self.hide(word) } else { word.to_owned() };
        text.split(' ').map(hide).collect::<Vec<_>>().join(" ")
    }

    /// The text with the secret replaced by [`MASK`], cut to `limits::CONSOLE_LINE_BYTES_MAX` bytes.
    #[must_use]
    pub fn hide(&self, text: &str) -> String {
        let mut hidden = text.to_owned();
        // A secret that is part of the mask cannot be distinguished from it.
        for form in self.0.iter().filter(|form| !MASK.contains(form.as_str())) {
            // Only ASCII letters change case, so offsets stay valid.
            let lower = Zeroizing::new(hidden.to_ascii_lowercase());
            let mut rest = 0;
            let mut out = String::new();
            for (at, found) in lower.match_indices(form.as_str()) {
                out.extend([&hidden[rest..at], MASK]);
                rest = at + found.len();
            }
            if rest > 0 {
                out.push_str(&hidden[rest..]);
                hidden = out;
            }
        }
        hidden.truncate(hidden.floor_char_boundary(CONSOLE_LINE_BYTES_MAX));
        hidden
    }
}

/// Escapes as JSON: slashes, or non-ASCII characters, or both.
fn escaped(plain: &str, slashes: bool, rest: bool) -> String {
    let mut json = serde_json::to_string(plain).unwrap_or_default().trim_matches('"').to_owned();
    if slashes {
        json = json.replace('/', "\\/");
    }
    if rest {
        let unit = |unit: u16| match u8::try_from(unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            _ => format!("\\u{unit:04x}"),
        };
        json = json.encode_utf16().map(unit).collect();
    }
    json
}

fn hex(digest: &[u8]) -> String {
    digest.iter().fold(String::with_capacity(2 * digest.len()), |mut hex, byte| {
        // Writing to a string cannot fail.
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}

#[cfg(test)]
mod tests;
