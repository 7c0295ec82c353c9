//! Magnet links (BEP 9): text that names a torrent without being one.
//!
//! The link pass finds them on pages; the torrent is then recorded as known by name only. Sites write these links by
//! hand, so parsing is tolerant: any case, `&amp;` left from HTML, parameters in any order, several or numbered `xt`.
//! It never fetches and never guesses: a hash of the wrong length is an error.

use super::Infohashes;
use crate::limits::{TRACKERS_PER_TORRENT_MAX, URL_BYTES_MAX};

/// Why a text is not a magnet link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MagnetError {
    #[error("does not begin with `magnet:?`")]
    NotMagnet,
    #[error("longer than {} bytes", URL_BYTES_MAX)]
    TooLong,
    #[error("has no `xt` of urn:btih or urn:btmh")]
    NoTopic,
    #[error("its `xt` is no infohash: 40 hex or 32 base32 characters (btih), or a SHA-256 multihash (btmh)")]
    BadTopic,
    #[error("its `xt`s name different torrents")]
    SeveralTorrents,
}

/// A magnet link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Magnet {
    pub infohashes: Infohashes,
    /// `dn`, decoded; bytes that are neither UTF-8 nor GBK become U+FFFD.
    pub name: Option<String>,
    /// `xl`: length of the payload in bytes, if it says one.
    pub payload_bytes: Option<u64>,
    /// `tr`, decoded, in their order, without repeats; at most `limits::TRACKERS_PER_TORRENT_MAX`.
    pub trackers: Vec<String>,
}

/// Parses a magnet link. White space around it is allowed.
///
/// # Errors
/// [`MagnetError`]. If there are both valid and invalid `xt` parameters, the valid one counts.
pub fn parse(text: &str) -> Result<Magnet, MagnetError> {
    let text = text.trim();
    if text.len() > URL_BYTES_MAX {
        return Err(MagnetError::TooLong);
    }
    let query = match text.get(..7) {
        Some(scheme) if scheme.eq_ignore_ascii_case("magnet:") => text[7..].trim_start_matches('/'),
        _ => return Err(MagnetError::NotMagnet),
    };
    let query = query.strip_prefix('?').ok_or(MagnetError::NotMagnet)?;
    let query = &query[..fragment_start(query)];

    let mut infohashes = Infohashes { v1: None, v2: None };
    let mut bad_topic = false;
    let (mut name, mut payload_bytes) = (None, None);
    let mut trackers: Vec<String> = Vec::new();
    for (key, value) in parameters(query) {
        match base_key(key).to_ascii_lowercase().as_str() {
            "xt" => match topic(&decode(value)) {
                Topic::V1(hash) => add_hash(&mut infohashes.v1, hash)?,
                Topic::V2(hash) => add_hash(&mut infohashes.v2, hash)?,
                Topic::Bad => bad_topic = true,
                Topic::Other => {}
            },
            "xl" if payload_bytes.is_none() => payload_bytes = decode(value).parse().ok().filter(|bytes| *bytes > 0),
            "dn" if name.is_none() => name = Some(decode(value)).filter(|name| !name.is_empty()),
            "tr" if trackers.len() < TRACKERS_PER_TORRENT_MAX => {
                let tracker = decode(value);
                if !tracker.is_empty() && !trackers.contains(&tracker) {
                    trackers.push(tracker);
                }
            }
            _ => {}
        }
    }
    match (infohashes.key().is_empty(), bad_topic) {
        (false, _) => Ok(Magnet { infohashes, name, payload_bytes, trackers }),
        (true, true) => Err(MagnetError::BadTopic),
        (true, false) => Err(MagnetError::NoTopic),
    }
}

/// Start of the fragment. The `#` of `&#38;` does not start one: that is a separator left from HTML.
fn fragment_start(query: &str) -> usize {
    let begins = |at: &usize| !query[..*at].ends_with('&');
    query.match_indices('#').map(|(at, _)| at).find(begins).unwrap_or(query.len())
}

/// `key=value` pairs. `&amp;`, escaped once or twice, separates like `&`, so `amp;` is dropped from the front of a
/// key.
fn parameters(query: &str) -> impl Iterator<Item = (&str, &str)> {
    query.split('&').filter_map(|pair| {
        let mut pair = pair;
        while let Some(rest) = strip_ignoring_case(pair, "amp;").or_else(|| strip_ignoring_case(pair, "#38;")) {
            pair = rest;
        }
        pair.split_once('=')
    })
}

fn strip_ignoring_case<'t>(text: &'t str, prefix: &str) -> Option<&'t str> {
    text.get(..prefix.len()).filter(|front| front.eq_ignore_ascii_case(prefix)).map(|_| &text[prefix.len()..])
}

/// `xt.1` → `xt`.
fn base_key(key: &str) -> &str {
    match key.split_once('.') {
        Some((base, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => base,
        _ => key,
    }
}

enum Topic {
    V1([u8; 20]),
    V2([u8; 32]),
    /// A BitTorrent topic with an invalid hash.
    Bad,
    /// A topic of another network: ed2k, tiger tree, …
    Other,
}

fn topic(urn: &str) -> Topic {
    let urn = urn.trim();
    if let Some(hash) = strip_ignoring_case(urn, "urn:btih:") {
        let upper = hash.to_ascii_uppercase();
        let bytes = match upper.len() {
            40 => data_encoding::HEXUPPER.decode(upper.as_bytes()),
            32 => data_encoding::BASE32.decode(upper.as_bytes()),
            _ => return Topic::Bad,
        };
        return bytes.ok().and_then(|bytes| bytes.try_into().ok()).map_or(Topic::Bad, Topic::V1);
    }
    if let Some(hash) = strip_ignoring_case(urn, "urn:btmh:") {
        // A multihash: 0x12 means SHA-256, 0x20 means that 32 bytes follow.
        let digest = strip_ignoring_case(hash, "1220").filter(|digest| digest.len() == 64);
        let bytes = digest.and_then(|digest| data_encoding::HEXLOWER_PERMISSIVE.decode(digest.as_bytes()).ok());
        return bytes.and_then(|bytes| bytes.try_into().ok()).map_or(Topic::Bad, Topic::V2);
    }
    Topic::Other
}

fn add_hash<const N: usize>(known: &mut Option<[u8; N]>, hash: [u8; N]) -> Result<(), MagnetError> {
    match known {
        Some(known) if *known != hash => Err(MagnetError::SeveralTorrents),
        _ => {
            *known = Some(hash);
            Ok(())
        }
    }
}

/// Percent and plus decoding. Bytes that are not UTF-8 are tried as GBK, which Chinese sites use.
fn decode(value: &str) -> String {
    let spaced = value.replace('+', " ");
    let bytes: Vec<u8> = percent_encoding::percent_decode_str(&spaced).collect();
    match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => {
            let bytes = error.into_bytes();
            match encoding_rs::GBK.decode_without_bom_handling_and_without_replacement(&bytes) {
                Some(text) => text.into_owned(),
                None => String::from_utf8_lossy(&bytes).into_owned(),
            }
        }
    }
}

#[cfg(test)]
mod tests;
