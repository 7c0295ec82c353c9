//! JSON within one parameter of a request, such as `variables={"offset":20}` of a GraphQL query by GET: its scalar
//! values are read and changed in place, and the rest of the text stays as the page's scripts wrote it.
//!
//! A value within a slot is named by the slot, `#` and the value's place: `query.variables#offset`.

use std::borrow::Cow;
use std::ops::Range;

use serde_json::Value as Json;

use super::place::scalar;
use crate::limits;

/// A scalar value in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Leaf {
    /// Names of members and indexes of elements from the outside in, separated by dots.
    pub place: String,
    /// Its range in the text, including the quotes of a string.
    pub at: Range<usize>,
}

impl Leaf {
    /// The raw text of the value; for a string without its quotes.
    #[must_use]
    pub fn raw<'t>(&self, text: &'t str) -> &'t str {
        let raw = text.get(self.at.clone()).unwrap_or_default();
        raw.strip_prefix('"').and_then(|inner| inner.strip_suffix('"')).unwrap_or(raw)
    }

    /// The value; a string without its quotes and escapes.
    #[must_use]
    pub fn value<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let raw = self.raw(text);
        let has_escapes = self.is_text(text) && raw.contains('\\');
        let read = || serde_json::from_str::<String>(text.get(self.at.clone())?).ok();
        has_escapes.then(read).flatten().map_or(Cow::Borrowed(raw), Cow::Owned)
    }

    /// Whether it is a string.
    #[must_use]
    pub fn is_text(&self, text: &str) -> bool {
        text.get(self.at.clone()).is_some_and(|raw| raw.starts_with('"'))
    }
}

/// The values of a text that is a JSON object or list; `None` for any other.
#[must_use]
pub fn leaves(text: &str) -> Option<Vec<Leaf>> {
    // Each value is stored with the names on its path, which would take too much memory for a long text.
    if !text.starts_with(['{', '[']) || text.len() > limits::SHORTCUT_JSON_BYTES_MAX {
        return None;
    }
    // The reader below needs well-formed JSON of limited depth; the parser checks both.
    serde_json::from_str::<Json>(text).ok()?;
    let mut reader = LeafScanner { text, at: 0, leaves: Vec::new() };
    reader.value("");
    (reader.leaves.len() <= limits::SHORTCUT_SLOTS_MAX).then_some(reader.leaves)
}

/// The text around its values, including the quotes of strings.
#[must_use]
pub fn around<'t>(text: &'t str, leaves: &[Leaf]) -> Vec<&'t str> {
    let mut from = 0;
    let mut around = Vec::new();
    for leaf in leaves {
        let quote = usize::from(leaf.is_text(text));
        around.push(text.get(from..leaf.at.start + quote).unwrap_or_default());
        from = leaf.at.end - quote;
    }
    around.push(text.get(from..).unwrap_or_default());
    around
}

/// The value at a place.
#[must_use]
pub fn get<'t>(text: &'t str, place: &str) -> Option<Cow<'t, str>> {
    leaves(text)?.iter().find(|leaf| leaf.place == place).map(|leaf| leaf.value(text))
}

/// The same as JSON.
#[must_use]
pub fn json(text: &str, place: &str) -> Option<Json> {
    let leaf = leaves(text)?.into_iter().find(|leaf| leaf.place == place)?;
    serde_json::from_str(text.get(leaf.at)?).ok()
}

/// The text with another value at a place. The previous value determines whether it is written as a string; if that
/// was neither string nor number, the new value does.
#[must_use]
pub fn put(text: &str, place: &str, value: &Json) -> Option<String> {
    let leaf = leaves(text)?.into_iter().find(|leaf| leaf.place == place)?;
    let written = match value {
        Json::String(digits) if !leaf.is_text(text) && is_number(leaf.raw(text)) && is_number(digits) => digits.clone(),
        Json::String(_) => value.to_string(),
        other if leaf.is_text(text) => Json::from(scalar(other)?).to_string(),
        other => other.to_string(),
    };
    let (front, back) = (text.get(..leaf.at.start)?, text.get(leaf.at.end..)?);
    Some([front, &written, back].concat())
}

/// Whether a text is a JSON number: without a plus or a leading zero.
#[must_use]
pub fn is_number(text: &str) -> bool {
    text.starts_with(|c: char| c == '-' || c.is_ascii_digit())
        && serde_json::from_str::<serde_json::Number>(text).is_ok()
}

/// A text escaped for the inside of a JSON string.
#[must_use]
pub fn escaped(text: &str) -> String {
    let quoted = Json::from(text).to_string();
    quoted.get(1..quoted.len() - 1).unwrap_or_default().to_owned()
}

/// The only place whose value differs between two otherwise equal texts.
#[must_use]
pub fn changed(one: &str, other: &str) -> Option<String> {
    let (own, its) = (leaves(one)?, leaves(other)?);
    let bare = |text: &str, leaves: &[Leaf]| -> String {
        around(text, leaves).iter().map(|part| part.trim_matches('"')).collect::<Vec<_>>().join("\0")
    };
    if own.len() != its.len() || bare(one, &own) != bare(other, &its) {
        return None;
    }
    let mut differ = own.iter().zip(&its).filter(|(own, its)| one.get(own.at.clone()) != other.get(its.at.clone()));
    let (first, _) = differ.next()?;
    differ.next().is_none().then(|| first.place.clone())
}

struct LeafScanner<'t> {
    text: &'t str,
    at: usize,
    leaves: Vec<Leaf>,
}

impl LeafScanner<'_> {
    fn byte(&self) -> u8 {
        self.text.as_bytes().get(self.at).copied().unwrap_or(b'}')
    }

    fn blanks(&mut self) {
        while self.byte().is_ascii_whitespace() {
            self.at += 1;
        }
    }

    /// Skips a string; returns the range between its quotes.
    fn string(&mut self) -> Range<usize> {
        let start = self.at + 1;
        self.at = start;
        while self.at < self.text.len() && self.byte() != b'"' {
            self.at += 1 + usize::from(self.byte() == b'\\');
        }
        let end = self.at.min(self.text.len());
        self.at += 1;
        start..end
    }

    fn value(&mut self, place: &str) {
        self.blanks();
        let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
        let start = self.at;
        match self.byte() {
            open @ (b'{' | b'[') => {
                self.at += 1;
                let mut number = 0;
                loop {
                    self.blanks();
                    match self.byte() {
                        b'}' | b']' => break,
                        b',' => self.at += 1,
                        _ if open == b'{' => {
                            let name = self.string();
                            let name = within(self.text.get(name).unwrap_or_default());
                            self.blanks();
                            // The colon.
                            self.at += 1;
                            self.value(&name);
                        }
                        _ => {
                            self.value(&within(&number.to_string()));
                            number += 1;
                        }
                    }
                }
                self.at += 1;
            }
            b'"' => {
                self.string();
                self.leaves.push(Leaf { place: place.to_owned(), at: start..self.at });
            }
            _ => {
                while !matches!(self.byte(), b',' | b'}' | b']') && !self.byte().is_ascii_whitespace() {
                    self.at += 1;
                }
                self.leaves.push(Leaf { place: place.to_owned(), at: start..self.at });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_found_and_changed_where_they_stand() {
        let text = "{\"first\": 20,\"after\":null, \"by\":[\"a \\\"b\\\"\",{\"x\":true}],\"none\":[],\"é\":\"ü\"}";
        let places: Vec<String> = leaves(text).unwrap().into_iter().map(|leaf| leaf.place).collect();
        assert_eq!(places, ["first", "after", "by.0", "by.1.x", "é"]);
        let got: Vec<_> = ["first", "by.0", "by.1.x", "é"].iter().map(|place| get(text, place).unwrap()).collect();
        assert_eq!(got, ["20", "a \"b\"", "true", "ü"]);
        let text_of = |value: &str| Json::from(value);
        for (place, value, wanted) in [
            ("first", Json::from(40), "{\"first\": 40,"),
            ("first", text_of("40"), "{\"first\": 40,"),
            ("first", text_of("007"), "{\"first\": \"007\","),
            ("first", text_of("+5"), "{\"first\": \"+5\","),
            ("after", text_of("c\"7"), "\"after\":\"c\\\"7\","),
            ("after", text_of("7"), "\"after\":\"7\","),
            ("after", Json::from(7), "\"after\":7,"),
            ("by.0", text_of("b\\c"), "[\"b\\\\c\","),
            ("by.1.x", Json::Bool(false), "{\"x\":false}"),
            ("é", Json::from(7), "\"é\":\"7\"}"),
        ] {
            let put = put(text, place, &value).unwrap();
            assert!(put.contains(wanted), "{put}");
            assert!(serde_json::from_str::<Json>(&put).is_ok());
            assert_eq!(changed(text, &put).as_deref(), Some(place));
            assert_eq!(get(&put, place).unwrap(), scalar(&value).unwrap_or_else(|| value.to_string().into()));
        }
        assert_eq!(changed(text, text), None);
        for other in ["7", "\"a\"", "{", "{\"a\":1", "a{}", ""] {
            assert_eq!(leaves(other), None, "{other}");
        }
        assert_eq!(leaves("{}"), Some(Vec::new()));
        let long = format!("{{\"{}\":[{}1]}}", "n".repeat(4_000), "1,".repeat(4_000));
        assert!(serde_json::from_str::<Json>(&long).is_ok() && leaves(&long).is_none());
        assert_eq!(changed("{\"a\":1,\"b\":2}", "{\"a\":2,\"b\":1}"), None, "two have");
    }
}
