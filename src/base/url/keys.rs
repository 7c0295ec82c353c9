//! Member keys in URLs: anyone who has such a key can download as that member.
//!
//! On public sites a list of names knows them. Of members' sites the crawl learns where they stand ([`MembersKeys`]).

mod members;

use std::borrow::Cow;

pub use members::{KEYS_NOTE, MembersKeys};

/// Replaces a secret in output.
pub const MASK: &str = "••••••";

/// Parameters by which trackers identify the member who downloads.
const KEYS_OF_MEMBERS: &[&str] = &[
    "passkey",
    "torrent_pass",
    "authkey",
    "auth_key",
    "rsskey",
    "rss_key",
    "apikey",
    "api_key",
    "access_token",
    "download_token",
    "downhash",
];

/// Digits of a key in a path: an MD5, or as many random hex digits.
const KEY_DIGITS: usize = 32;

/// Masks member keys in a URL or a URL reference for output. Numbers and names stay readable, so that the target can
/// still be found. Keys are the values of parameters with known names, path segments after a number that look
/// like a key (`/torrent/download/7.KEY`), and what is taken for one on the members' sites that this process watches. Keys in the
/// trackers of a magnet link are masked, too.
#[must_use]
pub fn without_keys(url: &str) -> Cow<'_, str> {
    let keys = members::keys_in(url);
    if keys.is_empty() {
        return without_named(url);
    }
    let mut masked = url.to_owned();
    for key in keys.into_iter().rev() {
        masked.replace_range(key, MASK);
    }
    Cow::Owned(without_named(&masked).into_owned())
}

/// A text whose URLs are masked, magnet links included. Paths alone are left: those of files look alike.
#[must_use]
pub fn without_keys_in(text: &str) -> Cow<'_, str> {
    const STARTS: [&str; 3] = ["http://", "https://", "magnet:?"];
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = STARTS.iter().filter_map(|start| rest.find(start)).min() {
        let is_end = |of: char| {
            of.is_whitespace() || of.is_control() || matches!(of, '"' | '\'' | '<' | '>' | '`' | '\\' | '“' | '”')
        };
        let url = &rest[at..];
        let url = &url[..url.find(is_end).unwrap_or(url.len())];
        let url = url.trim_end_matches([']', '}', ')', ',', '.', ';', ':']);
        out.push_str(&rest[..at]);
        out.push_str(&without_keys(url));
        rest = &rest[at + url.len()..];
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn without_named(url: &str) -> Cow<'_, str> {
    if !url.contains('?') && !url.split(['/', '.']).any(|part| part.len() == KEY_DIGITS) {
        return Cow::Borrowed(url);
    }
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let told_address = in_path(address);
    let pair = |pair: &str| match pair.split_once('=') {
        Some((name, _)) if is_key_name(name) => format!("{name}={MASK}"),
        Some(("tr", tracker)) => format!("tr={}", tracker_without_keys(tracker)),
        _ => pair.to_owned(),
    };
    let told_query = query.map(|query| query.split('&').map(pair).collect::<Vec<_>>().join("&"));
    if told_address == address && told_query.as_deref() == query {
        return Cow::Borrowed(url);
    }
    Cow::Owned(told_query.map_or_else(|| told_address.clone(), |query| format!("{told_address}?{query}")))
}

/// Ten letters and digits or more without a dot, some of each: in a tracker's URL that is a member's key, whatever its alphabet.
fn is_mixed(part: &str) -> bool {
    const KEY_MIN: usize = 10;
    let has = |of: fn(&u8) -> bool| part.bytes().any(|byte| of(&byte));
    part.len() >= KEY_MIN
        && part.bytes().all(|of| of.is_ascii_alphanumeric() || matches!(of, b'-' | b'_'))
        && has(u8::is_ascii_digit)
        && has(u8::is_ascii_alphabetic)
}

fn is_key_name(name: &str) -> bool {
    KEYS_OF_MEMBERS.iter().any(|key| name.eq_ignore_ascii_case(key))
}

fn is_key(part: &str) -> bool {
    part.len() == KEY_DIGITS && part.bytes().all(|of| of.is_ascii_hexdigit())
}

/// Masks keys in a path, or an address, in which a number identifies the torrent.
fn in_path(address: &str) -> String {
    let mut has_number = false;
    let part = |part: &str| {
        let is_number = !part.is_empty() && part.bytes().all(|of| of.is_ascii_digit()) && !is_key(part);
        let told = if has_number && is_key(part) { MASK } else { part };
        has_number |= is_number;
        told.to_owned()
    };
    // A port or an IP address is not a torrent number.
    let from =
        address.find("://").map_or(0, |at| address[at + 3..].find('/').map_or(address.len(), |end| at + 3 + end));
    let (origin, path) = address.split_at(from);
    let mut told = origin.to_owned();
    told.push_str(&parts(path, &['/', '.'], part));
    told
}

/// Masks keys in the announce URL of a tracker, percent-encoded or not. Anything that looks like a key is one there.
#[must_use]
pub fn tracker_without_keys(tracker: &str) -> String {
    let Ok(plain) = percent_encoding::percent_decode_str(tracker).decode_utf8() else { return MASK.to_owned() };
    let mut is_value = false;
    let told = parts(&plain, &['/', '?', '&', '='], |part| {
        let told = if is_key(part) || is_mixed(part) || is_value && !part.is_empty() { MASK } else { part };
        is_value = is_key_name(part) || part == "uk" || part == "credential";
        told.to_owned()
    });
    if told == *plain { tracker.to_owned() } else { told }
}

/// Splits a text at these characters and replaces each part by the result of `told`.
fn parts(text: &str, between: &[char], mut told: impl FnMut(&str) -> String) -> String {
    let part = |piece: &str| {
        let end = piece.strip_suffix(between).map_or(piece.len(), str::len);
        format!("{}{}", told(&piece[..end]), &piece[end..])
    };
    text.split_inclusive(between).map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_of_members_are_masked_and_the_rest_stands() {
        let url = "http://a/torrents.php?action=download&id=123456&authkey=0f0f&torrent_pass=S3CRET";
        let told = format!("http://a/torrents.php?action=download&id=123456&authkey={MASK}&torrent_pass={MASK}");
        assert_eq!(without_keys(url), told);
        for same in [
            "http://a/0123456789abcdef0123456789abcdef01234567.torrent",
            "/t?id=7&sid=x&passkeys=1",
            "/t?passkey",
            "http://127.0.0.1:8080/get/0123456789abcdef0123456789abcdef.torrent",
            "magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&tr=http%3A%2F%2Ft.example%2Fannounce",
            "",
        ] {
            assert_eq!(without_keys(same), same);
        }
    }

    #[test]
    fn keys_in_a_path_behind_a_number_and_of_a_magnets_trackers_are_masked() {
        const KEY: &str = "0123456789abcdef0123456789ABCDEF";
        for (url, told) in [
            ("https://u.example/torrent/download/7.KEY", "https://u.example/torrent/download/7.MASK"),
            ("/download/7/KEY/name.torrent?x=1", "/download/7/MASK/name.torrent?x=1"),
            (
                "magnet:?xt=urn:btih:KEY&tr=https%3A%2F%2Ft.example%2FKEY%2Fannounce&dn=x",
                "magnet:?xt=urn:btih:KEY&tr=https://t.example/MASK/announce&dn=x",
            ),
            (
                "magnet:?tr=http%3A%2F%2Ft.example%2Fannounce%3Fpasskey%3Dabc&dn=x",
                "magnet:?tr=http://t.example/announce?passkey=MASK&dn=x",
            ),
        ] {
            assert_eq!(without_keys(&url.replace("KEY", KEY)), told.replace("KEY", KEY).replace("MASK", MASK));
        }
    }
}
