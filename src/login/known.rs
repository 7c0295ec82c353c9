//! Requests that a page's script posts beside its login. Checks that every value of a body is known and cannot be the
//! password in any encoding.
//!
//! A password may be encrypted, hashed, reversed or spelled out in numbers, so its forms cannot be listed. Instead
//! this lists what is harmless: the user's name, everything the site sent before the password was typed (its fields,
//! `meta`, cookies, scripts), current times, random identifiers, and words that are together too short to hold a
//! password. Anything else in a body may be the login.

use serde_json::Value;

use super::secret::Secret;
use gleaner_base::clock::UnixMillis;

/// The data known of one page before its form is sent.
pub struct KnownValues<'a> {
    pub user: &'a str,
    pub password: &'a Secret,
    /// Everything the site sent before the password was typed: pages, scripts, responses, cookies.
    pub texts: Vec<&'a str>,
    pub now: UnixMillis,
}

/// Headers that contain nothing of the input.
const HEADERS: [&str; 6] = ["accept", "accept-language", "content-type", "x-requested-with", "cache-control", "pragma"];

/// From this length on, a match with text that the site sent earlier is not by chance.
const WORD_BYTES: usize = 4;

/// Letters of a field name.
const NAME_BYTES: usize = 32;

impl KnownValues<'_> {
    /// True if neither the body nor the query nor a header of a POST can contain the password.
    #[must_use]
    pub fn knows(&self, content_type: &str, body: &[u8], url: &str, headers: &[(String, String)]) -> bool {
        let Ok(body) = std::str::from_utf8(body) else { return false };
        let query = url.split_once('?').map_or("", |(_, query)| query);
        let mut values = Vec::new();
        let headers = headers.iter().filter(|(name, _)| !HEADERS.contains(&&*name.to_ascii_lowercase()));
        headers.for_each(|(_, value)| values.push(value.clone()));
        pairs(query, &mut values);
        let is_form =
            content_type.contains("urlencoded") || content_type.starts_with("text/plain") && body.contains('=');
        match serde_json::from_str::<Value>(body) {
            Ok(value) => members(value, &mut values),
            Err(_) if is_form => pairs(body, &mut values),
            Err(_) => values.push(body.to_owned()),
        }
        // All unknown parts together must be shorter than the password.
        let mut length = 0;
        let are_known = values.iter().all(|value| {
            self.is_sure(value) || {
                length += value.chars().count();
                value.bytes().all(|of| of.is_ascii_alphanumeric() || b"_-. ".contains(&of))
            }
        });
        are_known && (length == 0 || length < self.password.reveal().chars().count())
    }

    fn is_sure(&self, value: &str) -> bool {
        let is_user = !self.user.is_empty() && value.to_lowercase() == self.user.to_lowercase();
        let has_letter = value.chars().any(char::is_alphabetic);
        let is_sent = || value.len() >= WORD_BYTES && has_letter && self.texts.iter().any(|text| has_word(text, value));
        let is_plain = matches!(value, "" | "true" | "false" | "null");
        let is_own = value == self.password.reveal() || value == self.password.reveal().trim();
        !is_own && (is_plain || is_user || is_random(value) || self.is_time(value) || is_sent())
    }

    /// A time of the current day, in seconds or milliseconds.
    fn is_time(&self, value: &str) -> bool {
        let Ok(number) = value.parse::<u64>() else { return false };
        let millis = match value.len() {
            10 => number.saturating_mul(1_000),
            13 => number,
            _ => return false,
        };
        millis.abs_diff(self.now.0) < 86_400_000
    }
}

/// A random identifier (RFC 9562, version 4); no cipher output has this shape.
fn is_random(value: &str) -> bool {
    let bytes = value.as_bytes();
    bytes.len() == 36
        && bytes[14] == b'4'
        && b"89abAB".contains(&bytes[19])
        && bytes.iter().enumerate().all(|(at, of)| match at {
            8 | 13 | 18 | 23 => *of == b'-',
            _ => of.is_ascii_hexdigit(),
        })
}

/// True if a text contains this word, with no word characters around it.
fn has_word(text: &str, word: &str) -> bool {
    let is_outside = |of: Option<char>| of.is_none_or(|of| !of.is_alphanumeric());
    memchr::memmem::find_iter(text.as_bytes(), word).any(|at| {
        // The word was found in valid UTF-8, so both ends are character boundaries.
        is_outside(text[..at].chars().next_back()) && is_outside(text[at + word.len()..].chars().next())
    })
}

/// The values of a query or a form. A name counts as a value if it has none, or does not look like a field name.
fn pairs(text: &str, values: &mut Vec<String>) {
    for (name, value) in url::form_urlencoded::parse(text.as_bytes()) {
        if value.is_empty() || !is_name(&name) {
            values.push(name.into_owned());
        }
        values.push(value.into_owned());
    }
}

/// The values of JSON.
fn members(value: Value, values: &mut Vec<String>) {
    let mut rest = vec![value];
    while let Some(next) = rest.pop() {
        match next {
            Value::Object(object) => {
                for (name, value) in object {
                    if !is_name(&name) {
                        values.push(name);
                    }
                    rest.push(value);
                }
            }
            Value::Array(list) => rest.extend(list),
            Value::String(text) => values.push(text),
            other => values.push(other.to_string()),
        }
    }
}

fn is_name(name: &str) -> bool {
    name.len() <= NAME_BYTES && name.bytes().all(|of| of.is_ascii_alphabetic() || b"_-.[]".contains(&of))
}

#[cfg(test)]
mod tests;
