//! The links of the site: tokens that are new at each view, encoded download links, magnets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data_encoding::{BASE32_NOPAD, HEXLOWER};

use super::catalogue::{Item, NEWEST_UNIX};
use super::escape::percent;
use crate::limits::DEMO_TOKEN_BYTES_MAX;
use gleaner_torrent::Infohashes;

/// base64 of `listing|start of the infohash|time`, as in Discuz! attachment links. The time is the
/// number of views so far: no two views give the same link, and every link stays valid.
pub(super) fn token(listing: u32, infohashes: &Infohashes, views: u64) -> String {
    let time = NEWEST_UNIX.unsigned_abs() + views;
    STANDARD.encode(format!("{listing}|{}|{time}", fingerprint(infohashes)))
}

/// The listing that a token (percent-encoding undone) is for, with the start of the infohash to compare.
pub(super) fn read_token(token: &[u8]) -> Option<(u32, String)> {
    if token.len() > DEMO_TOKEN_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(STANDARD.decode(token).ok()?).ok()?;
    let mut parts = text.split('|');
    let (listing, start, time) = (parts.next()?, parts.next()?, parts.next()?);
    time.parse::<u64>().ok()?;
    parts.next().is_none().then_some((listing.parse().ok()?, start.to_owned()))
}

/// The part of the infohash in a token: eight hex digits.
pub(super) fn fingerprint(infohashes: &Infohashes) -> String {
    let mut hex = infohashes.key_hex();
    hex.truncate(8);
    hex
}

/// `thunder://` + base64("AA" + url + "ZZ"); the URL is bytes because it may be GBK (ALGORITHMS §3).
pub(super) fn thunder(url: &[u8]) -> String {
    format!("thunder://{}", STANDARD.encode([b"AA", url, b"ZZ"].concat()))
}

/// `flashget://` + base64("[FLASHGET]" + url + "[FLASHGET]"), with `&tag` if one is given.
pub(super) fn flashget(url: &[u8], tag: Option<&str>) -> String {
    let code = STANDARD.encode([b"[FLASHGET]", url, b"[FLASHGET]"].concat());
    match tag {
        Some(tag) => format!("flashget://{code}&{tag}"),
        None => format!("flashget://{code}"),
    }
}

/// `qqdl://` + base64(url).
pub(super) fn qqdl(url: &[u8]) -> String {
    format!("qqdl://{}", STANDARD.encode(url))
}

/// A magnet link (BEP 9, BEP 52): v1 in hex or, every other time, in base32; v2 as a multihash; hybrids name both.
pub(super) fn magnet(item: &Item, listing: u32) -> String {
    let mut topics = Vec::new();
    if let Some(v1) = item.infohashes.v1 {
        let hash = if listing.is_multiple_of(2) { HEXLOWER.encode(&v1) } else { BASE32_NOPAD.encode(&v1) };
        topics.push(format!("xt=urn:btih:{hash}"));
    }
    if let Some(v2) = item.infohashes.v2 {
        // 0x12 0x20: SHA-256, 32 bytes.
        topics.push(format!("xt=urn:btmh:1220{}", HEXLOWER.encode(&v2)));
    }
    let name = percent(item.blueprint.name.as_bytes());
    format!("magnet:?{}&dn={name}&tr={}", topics.join("&"), percent(b"udp://tracker.example.org:6969/announce"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_read_back_and_differs_between_views() {
        let hashes = Infohashes { v1: Some([0xab; 20]), v2: None };
        let (first, second) = (token(12, &hashes, 1), token(12, &hashes, 2));
        assert_ne!(first, second);
        for text in [first, second] {
            assert_eq!(read_token(text.as_bytes()), Some((12, "abababab".to_owned())));
        }
    }

    #[test]
    fn junk_is_no_token() {
        for junk in ["", "!!", "MTI=", "MTJ8YWI=", "//8=", &"A".repeat(4_000)] {
            assert_eq!(read_token(junk.as_bytes()), None, "{junk}");
        }
    }

    #[test]
    fn encoded_links_are_those_of_the_download_managers() {
        let url = b"http://a.example/x";
        assert_eq!(thunder(url), "thunder://QUFodHRwOi8vYS5leGFtcGxlL3haWg==");
        assert_eq!(qqdl(url), "qqdl://aHR0cDovL2EuZXhhbXBsZS94");
        assert_eq!(flashget(url, Some("77")), "flashget://W0ZMQVNIR0VUXWh0dHA6Ly9hLmV4YW1wbGUveFtGTEFTSEdFVF0=&77");
    }
}
