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
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_hidden_in_each_of_its_forms_and_nothing_else_is() {
        let mask = Mask::of("anna", &Secret::new("s3c ret&<ü>"));
        for form in [
            "s3c ret&<ü>",
            "S3C RET&<ü>",
            "s3c+ret%26%3C%C3%BC%3E",
            "s3c%20ret%26%3c%c3%bc%3e",
            "s3c ret&amp;&lt;ü&gt;",
            "czNjIHJldCY8w7w+",
            "YW5uYTpzM2MgcmV0JjzDvD4",
        ] {
            let text = format!("Error: x={form}; y");
            assert_eq!(mask.hide(&text), format!("Error: x={MASK}; y"), "{form}");
            assert!(mask.is_in(text.as_bytes()));
        }
        let md5 = hex(&Md5::digest("s3c ret&<ü>".as_bytes()));
        assert_eq!(mask.hide(&md5.to_ascii_uppercase()), MASK);
        assert_eq!(mask.hide("nothing here"), "nothing here");
        assert!(!mask.is_in(b"nothing here"));
    }

    #[test]
    fn a_secret_is_hidden_as_each_language_writes_json() {
        let mask = Mask::of("anna", &Secret::new("ab/Grä9"));
        for form in [r"ab\/Grä9", r"ab/Gr\u00e49", r"ab\/Gr\u00E49", "ab/Grä9"] {
            assert_eq!(mask.hide(&format!("x {form} y")), format!("x {MASK} y"), "{form}");
        }
    }

    #[test]
    fn a_long_text_full_of_the_secret_is_hidden_in_one_pass_and_cut() {
        let hidden = Mask::of("anna", &Secret::new("s3cret")).hide(&"S3cret&".repeat(200_000));
        assert!(hidden.len() <= CONSOLE_LINE_BYTES_MAX && hidden.starts_with(&format!("{MASK}&{MASK}&")));
    }

    #[test]
    fn answers_are_hidden_beside_the_password_and_short_ones_are_not() {
        let mut mask = Mask::of("anna", &Secret::new("rex"));
        ["Rex the dog", "1", "on", ""].into_iter().for_each(|answer| mask.add(answer));
        assert_eq!(mask.hide("1 on rex+the+dog, rex"), format!("1 on {MASK}, {MASK}"));
    }

    #[test]
    fn a_password_that_is_a_word_of_ours_is_hidden_in_addresses_alone() {
        let mask = Mask::of("anna", &Secret::new("wrong"));
        let told = mask.hide_in_addresses("the password is wrong: https://h.example/in?p=wrong answers 401");
        assert_eq!(told, format!("the password is wrong: https://h.example/in?p={MASK} answers 401"));
    }

    #[test]
    fn an_empty_secret_hides_nothing_and_one_of_bullets_ends() {
        let empty = Mask::of("anna", &Secret::new(""));
        assert_eq!((empty.hide("anna:"), empty.is_in(b"")), ("anna:".to_owned(), false));
        assert_eq!(Mask::of("anna", &Secret::new("•")).hide("a•"), "a•");
    }
}
