//! Detects values that may grant access to data for one session, by their name or by their look. Such a value is not
//! learned as a constant part of requests if it came from another response, and it is never displayed.

use super::learn::ACTIONS;

/// Minimum bytes of a mix of letters and digits that may be a token.
pub(super) const TOKEN_BYTES: usize = 8;

/// Minimum bytes of a token of letters alone.
const LONG_TOKEN_BYTES: usize = 20;

/// Minimum bytes of a token within a path: shorter segments are names and numbers.
const SEGMENT_BYTES: usize = 16;

/// Parts of token names.
const NAMED: [&str; 13] = [
    "authorization",
    "authenti",
    "token",
    "key",
    "secret",
    "sess",
    "csrf",
    "xsrf",
    "jwt",
    "bearer",
    "passw",
    "signature",
    "nonce",
];

/// The same for words that are also part of other words (`author`, `passage`).
const NAMED_SO: [&str; 6] = ["auth", "sid", "sig", "pass", "pwd", "credential"];

/// Headers that describe the requested data, and not the requester.
const PLAIN_HEADERS: [&str; 4] =
    ["header.accept", "header.accept-language", "header.content-type", "header.x-requested-with"];

/// Names of hashes that identify a request, the same for everyone (persisted queries of GraphQL).
const OF_REQUESTS: [&str; 1] = ["sha256hash"];

/// Whether the name of a request part suggests that it grants access.
#[must_use]
pub fn is_of_access(name: &str) -> bool {
    let low = name.to_ascii_lowercase();
    let words = low.split(|c: char| !c.is_ascii_alphanumeric());
    // A capital letter alone may start a word of a name: `userAuth`.
    let is_own_word = |word: &str| {
        let capital = word.get(..1).map(|first| first.to_ascii_uppercase() + word.get(1..).unwrap_or_default());
        capital.is_some_and(|capital| name.ends_with(&capital))
    };
    NAMED.iter().any(|word| low.contains(word))
        || words.into_iter().any(|word| NAMED_SO.contains(&word))
        || NAMED_SO.iter().any(|word| is_own_word(word))
}

/// Whether a constant value may still be a token: no word, no date, no content type.
pub(super) fn is_token(value: &str) -> bool {
    let has = |what: fn(&u8) -> bool| value.as_bytes().iter().any(what);
    let is_mixed = value.len() >= TOKEN_BYTES && has(u8::is_ascii_digit) && has(u8::is_ascii_alphabetic);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    (is_mixed && !value.contains("://")) || (value.len() >= LONG_TOKEN_BYTES && value.chars().all(is_plain))
}

/// The values in a constant part of a request that may grant access for one session, as in `header.x-auth`: its
/// value, without a word such as `Bearer`, or quoted texts within it.
#[must_use]
pub fn secrets<'t>(part: &str, text: &'t str) -> Vec<&'t str> {
    if !text.contains('"') {
        let core = text.rsplit(' ').next().unwrap_or_default();
        return if is_secret(part, core) { vec![core] } else { Vec::new() };
    }
    let pieces: Vec<&str> = text.split('"').collect();
    let kind = part.split('.').next().unwrap_or_default();
    let found = pieces.iter().enumerate().filter(|(at, piece)| {
        let own = match at.checked_sub(2).and_then(|front| pieces.get(front..*at)) {
            Some([name, colon]) if colon.trim() == ":" => format!("{kind}.{name}"),
            _ => part.to_owned(),
        };
        let is_name = pieces.get(at + 1).is_some_and(|next| next.trim_start().starts_with(':'));
        !is_name && is_secret(&own, piece)
    });
    found.map(|(_, piece)| *piece).collect()
}

/// Whether one value may be a token. If the part's name suggests it, anything but a short word or number. In a path
/// and in parameters, whose values name the requested data, a long run of letters and digits.
fn is_secret(part: &str, value: &str) -> bool {
    let (kind, name) = part.split_once('.').unwrap_or((part, ""));
    let own = name.rsplit(['.', '#']).next().unwrap_or_default();
    let own = own.split('~').next().unwrap_or_default();
    let is_text = value.is_empty() || value.contains(['{', '}', '(', ')', '[', ']', ',', ';', '<', '>', '"', ' ']);
    let low = own.to_ascii_lowercase();
    if is_text || PLAIN_HEADERS.contains(&part) || OF_REQUESTS.contains(&low.as_str()) {
        return false;
    }
    let is_word =
        value.chars().count() < SEGMENT_BYTES && value.chars().all(|c| c.is_alphabetic() || "_-.".contains(c));
    let is_number = value.len() <= 4 && value.bytes().all(|byte| byte.is_ascii_digit());
    if kind != "path" && is_of_access(own) {
        return !is_word && !is_number;
    }
    let runs = || value.split(|c: char| !c.is_ascii_alphanumeric());
    let has = |run: &str, what: fn(&u8) -> bool| run.as_bytes().iter().any(what);
    let is_mixed = |run: &&str| has(run, u8::is_ascii_digit) && has(run, u8::is_ascii_alphabetic);
    match kind {
        "header" => is_token(value),
        "path" => {
            let mixed: usize = runs().filter(|run| run.len() >= 4).filter(is_mixed).map(str::len).sum();
            value.len() >= SEGMENT_BYTES && mixed * 2 >= value.len()
        }
        _ if ACTIONS.contains(&low.as_str()) || value.contains("://") => false,
        _ => runs().any(|run| run.len() >= LONG_TOKEN_BYTES || (run.len() >= TOKEN_BYTES && is_mixed(&run))),
    }
}

#[cfg(test)]
mod tests;
