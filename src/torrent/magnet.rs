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
    let mut name = None;
    let mut trackers: Vec<String> = Vec::new();
    for (key, value) in parameters(query) {
        match base_key(key).to_ascii_lowercase().as_str() {
            "xt" => match topic(&decode(value)) {
                Topic::V1(hash) => add_hash(&mut infohashes.v1, hash)?,
                Topic::V2(hash) => add_hash(&mut infohashes.v2, hash)?,
                Topic::Bad => bad_topic = true,
                Topic::Other => {}
            },
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
        (false, _) => Ok(Magnet { infohashes, name, trackers }),
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HEX: &str = "c0fda1edafdbdbb96443424e0b3899af7159d10e";
    const V2: &str = "108ac2c3718ce722e6896edc56c4afa98f1d711ecaace7aad74fca418ebd03de";

    fn v1() -> Option<[u8; 20]> {
        data_encoding::HEXLOWER.decode(HEX.as_bytes()).unwrap().try_into().ok()
    }

    fn v2() -> Option<[u8; 32]> {
        data_encoding::HEXLOWER.decode(V2.as_bytes()).unwrap().try_into().ok()
    }

    #[test]
    fn hex_and_base32_name_the_same_torrent() {
        let base32 = data_encoding::BASE32.encode(&v1().unwrap());
        for hash in [HEX.to_owned(), HEX.to_uppercase(), base32.clone(), base32.to_lowercase()] {
            let magnet = parse(&format!("magnet:?xt=urn:btih:{hash}")).unwrap();
            assert_eq!(magnet.infohashes, Infohashes { v1: v1(), v2: None }, "{hash}");
        }
    }

    #[test]
    fn hybrids_carry_both_hashes_in_numbered_or_repeated_topics() {
        let both = Infohashes { v1: v1(), v2: v2() };
        let links = [
            format!("magnet:?xt=urn:btih:{HEX}&xt=urn:btmh:1220{V2}"),
            format!(
                "magnet:?xt.1=urn:btmh:1220{V2}&xt.2=urn:btih:{HEX}&xt.3=urn:ed2k:31D6CFE0D16AE931B73C59D7E0C089C0"
            ),
            format!("MAGNET:?dn=x&XT=URN:BTIH:{HEX}&xt=urn%3Abtmh%3A1220{V2}"),
        ];
        for link in links {
            assert_eq!(parse(&link).unwrap().infohashes, both, "{link}");
        }
        assert_eq!(parse(&format!("magnet:?xt=urn:btmh:1220{V2}")).unwrap().infohashes.key_hex(), V2);
    }

    #[test]
    fn names_and_trackers_are_decoded_and_html_leftovers_tolerated() {
        let link = format!(
            " magnet:?xt=urn:btih:{HEX}&amp;dn=A+b%20%26%20c&amp;amp;tr=http%3A%2F%2Ft.example%2Fannounce&#38;tr=udp://u.example:1&tr=udp://u.example:1#top\n"
        );
        let magnet = parse(&link).unwrap();
        assert_eq!(magnet.name.as_deref(), Some("A b & c"));
        assert_eq!(magnet.trackers, ["http://t.example/announce", "udp://u.example:1"]);
        let gbk = parse(&format!("magnet:?xt=urn:btih:{HEX}&dn=%D6%D6%D7%D3")).unwrap();
        assert_eq!(gbk.name.as_deref(), Some("种子"));
    }

    #[test]
    fn what_names_no_torrent_is_refused_with_the_reason() {
        let cases = [
            ("", MagnetError::NotMagnet),
            ("http://example.com/?xt=urn:btih:", MagnetError::NotMagnet),
            ("magnet:xt=urn:btih:", MagnetError::NotMagnet),
            ("magnet:?", MagnetError::NoTopic),
            ("magnet:?dn=only+a+name", MagnetError::NoTopic),
            ("magnet:?xt=urn:ed2k:31D6CFE0D16AE931B73C59D7E0C089C0", MagnetError::NoTopic),
            ("magnet:?xt=urn:btih:abc", MagnetError::BadTopic),
            ("magnet:?xt=urn:btih:zzfda1edafdbdbb96443424e0b3899af7159d10e", MagnetError::BadTopic),
            ("magnet:?xt=urn:btih:11111111111111111111111111111111", MagnetError::BadTopic),
            ("magnet:?xt=urn:btmh:1114c0fda1edafdbdbb96443424e0b3899af7159d10e", MagnetError::BadTopic),
        ];
        for (link, error) in cases {
            assert_eq!(parse(link), Err(error), "{link}");
        }
        let two = format!("magnet:?xt=urn:btih:{HEX}&xt=urn:btih:{}", "a".repeat(40));
        assert_eq!(parse(&two), Err(MagnetError::SeveralTorrents));
        assert_eq!(parse(&format!("magnet:?xt=urn:btih:{}", "a".repeat(5_000))), Err(MagnetError::TooLong));
    }

    proptest! {
        #[test]
        fn no_text_panics(text in "(magnet:\\?)?\\PC{0,80}", tail in "(&?(xt|dn|tr)(\\.[0-9])?=(urn:bt[im]h:)?[0-9a-f%+é]{0,50}){0,4}") {
            let _ = parse(&text);
            let _ = parse(&format!("magnet:?{text}{tail}"));
        }
    }
}
