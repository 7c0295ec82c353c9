//! The parts of a URL's path and query, and the form of each: `viewtopic.php?f={n}&t={n}` (LEARNING §14.3).
//!
//! Unlike [`super::shape`], values that are words are kept: a rule must tell `action=download` from `action=logout`.

/// A URL's path and query, split.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Parts<'a> {
    /// Segments of the path, as stem and extension (with its dot).
    pub segments: Vec<(&'a str, &'a str)>,
    /// Parameters; one without `=` is a value without a name.
    pub pairs: Vec<(&'a str, &'a str)>,
    /// `;` separates the parameters.
    pub by_semicolons: bool,
}

impl<'a> Parts<'a> {
    /// Splits what stands behind the origin.
    #[must_use]
    pub fn of(path_and_query: &'a str) -> Self {
        let (path, query) = path_and_query.split_once('?').unwrap_or((path_and_query, ""));
        let by_semicolons = query.contains(';') && !query.contains('&');
        let pairs = query.split(['&', ';']).filter(|pair| !pair.is_empty());
        let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or(("", pair)));
        let segments = path.strip_prefix('/').unwrap_or(path).split('/').map(split_extension);
        Self { segments: segments.collect(), pairs: pairs.collect(), by_semicolons }
    }

    /// The value of a parameter.
    #[must_use]
    pub fn value(&self, key: &str) -> Option<&'a str> {
        self.pairs.iter().find(|(own, _)| *own == key).map(|(_, value)| *value)
    }

    /// Path and query again.
    #[must_use]
    pub fn join(&self) -> String {
        let mut out = String::new();
        for (stem, extension) in &self.segments {
            out.extend(["/", stem, extension]);
        }
        for (index, (key, value)) in self.pairs.iter().enumerate() {
            out.push(match (index, self.by_semicolons) {
                (0, _) => '?',
                (_, true) => ';',
                (_, false) => '&',
            });
            if !key.is_empty() {
                out.extend([key, "="]);
            }
            out.push_str(value);
        }
        out
    }

    /// The same without a parameter.
    #[must_use]
    pub fn without(mut self, dropped: impl Fn(&str) -> bool) -> String {
        self.pairs.retain(|(key, _)| !dropped(key));
        self.join()
    }

    /// The same with another value of a parameter.
    #[must_use]
    pub fn with(mut self, key: &str, value: &'a str) -> String {
        self.pairs.iter_mut().filter(|(own, _)| *own == key).for_each(|(_, of)| *of = value);
        self.join()
    }
}

/// `index.php` as `index` and `.php`. An extension begins with a letter.
fn split_extension(segment: &str) -> (&str, &str) {
    let dot = segment.rfind('.').filter(|dot| *dot > 0);
    let is_extension = |text: &str| {
        let bytes = text.as_bytes();
        matches!(bytes.len(), 2..=9)
            && bytes[1].is_ascii_alphabetic()
            && bytes[1..].iter().all(u8::is_ascii_alphanumeric)
    };
    match dot {
        Some(dot) if is_extension(&segment[dot..]) => segment.split_at(dot),
        _ => (segment, ""),
    }
}

/// True for the extension of a program: its name is never one word like another.
#[must_use]
pub fn is_program(extension: &str) -> bool {
    let name = extension.strip_prefix('.').unwrap_or(extension).to_ascii_lowercase();
    matches!(
        name.trim_end_matches(|of: char| of.is_ascii_digit()),
        "php" | "phtml" | "asp" | "aspx" | "ashx" | "jsp" | "do" | "cgi" | "pl" | "py"
    )
}

/// Signs for what varies within a form.
pub const SIGNS: [&str; 6] = ["{n}", "{h}", "{x}", "{s}", "{w}", "{date}"];

const SEPARATORS: [char; 11] = ['-', '_', '.', ',', ';', ':', '~', '!', '@', '(', ')'];

/// Bytes from which on a text of several words is a title.
const TITLE_BYTES: usize = 32;

/// The form of a stem or a value: digits are `{n}`, hexadecimal identifiers `{h}`, other random ones `{x}`, titles `{s}`, dates `{date}`; words
/// are kept.
#[must_use]
pub fn form(text: &str) -> String {
    let bytes = text.as_bytes();
    if text.is_empty() {
        return String::new();
    }
    if bytes.iter().all(u8::is_ascii_digit) {
        return "{n}".to_owned();
    }
    if is_date(bytes) {
        return "{date}".to_owned();
    }
    if is_word(text) {
        return text.to_owned();
    }
    if is_encoded(text) {
        return "{x}".to_owned();
    }
    if text.contains(['%', '+', ' ']) || !text.is_ascii() {
        return "{s}".to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut words = 0;
    let mut rest = text;
    loop {
        let end = rest.find(SEPARATORS).unwrap_or(rest.len());
        let (piece, behind) = rest.split_at(end);
        words += usize::from(piece.bytes().any(|of| of.is_ascii_alphabetic()));
        piece_form(&mut out, piece);
        let Some(separator) = behind.chars().next() else { break };
        out.push(separator);
        rest = &behind[separator.len_utf8()..];
    }
    let is_hex = out == "{h}";
    let is_plain = || is_only_signs(&out);
    if !is_hex && (words >= 3 || text.len() > TITLE_BYTES && !is_plain()) { "{s}".to_owned() } else { out }
}

/// The form of a piece between separators.
fn piece_form(out: &mut String, piece: &str) {
    let bytes = piece.as_bytes();
    let has_digit = bytes.iter().any(u8::is_ascii_digit);
    let has_letter = bytes.iter().any(u8::is_ascii_alphabetic);
    let letters = bytes.iter().take_while(|of| of.is_ascii_alphabetic()).count();
    if !piece.is_empty() && has_digit && !has_letter && bytes.iter().all(u8::is_ascii_digit) {
        out.push_str("{n}");
    } else if bytes.len() >= 8 && has_digit && has_letter && bytes.iter().all(u8::is_ascii_hexdigit) {
        out.push_str("{h}");
    } else if bytes.len() >= 10 && has_digit && has_letter && bytes.iter().all(u8::is_ascii_alphanumeric) {
        out.push_str("{x}");
    } else if letters >= 3 && letters < bytes.len() && bytes[letters..].iter().all(u8::is_ascii_digit) {
        // `forum12`
        out.extend([&piece[..letters], "{n}"]);
    } else {
        out.push_str(piece);
    }
}

/// True for `{n}`, `{h}`, `{x}` with separators and short prefixes in lower case alone.
fn is_only_signs(form: &str) -> bool {
    let mut rest = form;
    while let Some(at) = rest.find('{') {
        let (front, behind) = rest.split_at(at);
        let Some(sign) = ["{n}", "{h}", "{x}"].into_iter().find(|sign| behind.starts_with(sign)) else { return false };
        if !front.bytes().all(|of| of.is_ascii_lowercase() || matches!(of, b'-' | b'_' | b'.')) {
            return false;
        }
        rest = &behind[sign.len()..];
    }
    rest.bytes().all(|of| matches!(of, b'-' | b'_' | b'.'))
}

/// Letters in up to three parts.
fn is_word(text: &str) -> bool {
    let parts = text.split(['-', '_']);
    text.len() <= 24
        && parts.clone().count() <= 3
        && parts.clone().all(|part| !part.is_empty() && part.bytes().all(|of| of.is_ascii_alphabetic()))
}

fn is_date(bytes: &[u8]) -> bool {
    let mut numbers = bytes.split(|of| *of == b'-');
    let is_number = |part: Option<&[u8]>, digits: std::ops::RangeInclusive<usize>| {
        part.is_some_and(|part| digits.contains(&part.len()) && part.iter().all(u8::is_ascii_digit))
    };
    let is_month = is_number(numbers.next(), 4..=4) && is_number(numbers.next(), 1..=2);
    let day = numbers.next();
    is_month && (day.is_none() || is_number(day, 1..=2)) && numbers.next().is_none()
}

/// Sixteen bytes and more of both cases and digits, as base64 has, without words.
fn is_encoded(text: &str) -> bool {
    let bytes = text.as_bytes();
    let body = text.trim_end_matches("%3D").trim_end_matches("%3d").trim_end_matches('=');
    let is_base64 = |of: u8| of.is_ascii_alphanumeric() || matches!(of, b'_' | b'+' | b'/' | b'-');
    // A percent code within stands for one of `+/=`.
    let plain = body.replace("%2B", "+").replace("%2F", "/").replace("%2b", "+").replace("%2f", "/");
    bytes.len() >= 16
        && plain.bytes().all(is_base64)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_lowercase)
        && bytes.iter().any(u8::is_ascii_uppercase)
        && !has_words(text)
}

/// Five small letters in front of a separator are a word.
fn has_words(text: &str) -> bool {
    let mut run = 0;
    for of in text.bytes() {
        match of {
            b'a'..=b'z' => run += 1,
            b'-' | b'_' if run >= 5 => return true,
            _ => run = 0,
        }
    }
    false
}

/// What stands in a text at each sign of its form, in order: the sign and the text.
#[must_use]
pub fn values<'f, 'a>(form: &'f str, text: &'a str) -> Vec<(&'f str, &'a str)> {
    let mut found = Vec::new();
    let (mut form, mut text) = (form, text);
    while let Some(at) = form.find('{') {
        let Some(sign) = SIGNS.into_iter().find(|sign| form[at..].starts_with(sign)) else { break };
        let Some(behind) = text.strip_prefix(&form[..at]) else { break };
        let rest = &form[at + sign.len()..];
        let end = match (rest.chars().next(), sign) {
            (None, _) => behind.len(),
            (Some('{'), _) | (_, "{n}") => behind.find(|of: char| !of.is_ascii_digit()).unwrap_or(behind.len()),
            (Some(next), _) => behind.find(next).unwrap_or(behind.len()),
        };
        found.push((&form[at..at + sign.len()], &behind[..end]));
        (form, text) = (rest, &behind[end..]);
    }
    found
}

/// True for a form with at least one letter that is no sign: a word that may be one of many.
#[must_use]
pub fn has_letters(form: &str) -> bool {
    let mut is_sign = false;
    form.chars().any(|of| {
        is_sign = of == '{' || is_sign && of != '}';
        !is_sign && of.is_ascii_alphabetic()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_what_sites_write() {
        for (text, expected) in [
            ("12", "{n}"),
            ("2024-05-01", "{date}"),
            ("viewtopic", "viewtopic"),
            ("mark-as-read", "mark-as-read"),
            ("forum12", "forum{n}"),
            ("thread-12-1-3", "thread-{n}-{n}-{n}"),
            ("10-debian", "{n}-debian"),
            ("debian-12.5-amd64-netinst", "{s}"),
            ("0123456789abcdef0123456789abcdef01234567", "{h}"),
            ("MTIzfGFiY2R8MTc5MDAwfDJ8NDU%3D", "{x}"),
            ("%E4%B8%AD", "{s}"),
            ("1.20", "{n}.{n}"),
            ("", ""),
        ] {
            assert_eq!(form(text), expected, "{text}");
        }
    }

    #[test]
    fn values_stand_at_their_signs() {
        assert_eq!(values("thread-{n}-{n}", "thread-12-3"), [("{n}", "12"), ("{n}", "3")]);
        assert_eq!(values("{h}.{n}", "ab12cd34.7"), [("{h}", "ab12cd34"), ("{n}", "7")]);
        assert_eq!(values("forum{n}", "forum9"), [("{n}", "9")]);
        assert_eq!(values("{w}", "any-thing"), [("{w}", "any-thing")]);
        assert_eq!(values("plain", "plain"), []);
    }

    #[test]
    fn parts_are_split_and_joined() {
        for path in ["/", "/a/b.php?x=1&y=", "/index.php?action=dlattach;attach=5", "/t/5/?new", "/a.b/c"] {
            assert_eq!(Parts::of(path).join(), path);
        }
        assert_eq!(Parts::of("/l?a=1&b=2&c=3").without(|key| key == "b"), "/l?a=1&c=3");
        assert_eq!(Parts::of("/l?a=1&b=2").with("b", "9"), "/l?a=1&b=9");
    }
}
