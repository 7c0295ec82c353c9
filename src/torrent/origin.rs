//! What a metainfo file says of where it comes from: trackers, comment, publisher, source (BEP 3, BEP 12, and keys that clients and trackers
//! write). Not checked, and not known to be true.

use super::bencode::{self, Value};
use crate::limits::{ORIGIN_TEXT_BYTES_MAX, TRACKERS_PER_TORRENT_MAX};

/// The texts of one metainfo file, as written; broken bytes become U+FFFD.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Origin {
    /// `announce` and `announce-list`, in their order, without repeats; at most `limits::TRACKERS_PER_TORRENT_MAX`.
    pub trackers: Vec<String>,
    /// `comment.utf-8`, else `comment`.
    pub comment: Option<String>,
    /// `publisher-url`.
    pub publisher_url: Option<String>,
    /// `source`, within `info` or beside it.
    pub source: Option<String>,
}

/// Reads an archived file: a dictionary from its first byte on. None for bytes that are none.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Origin> {
    let spans = bencode::scan_dictionary(bytes).ok()?;
    let value = |key: &[u8]| spans.find(bytes, key).and_then(|span| Value::read(bytes.get(span)?));
    let info = value(b"info").and_then(Value::as_dict);
    Some(Origin {
        trackers: trackers(&value),
        comment: value(b"comment.utf-8").and_then(text).or_else(|| value(b"comment").and_then(text)),
        publisher_url: value(b"publisher-url").and_then(text),
        source: info.and_then(|info| info.find(b"source")).or_else(|| value(b"source")).and_then(text),
    })
}

/// `announce` and `announce-list` of a file whose top-level values these are, as [`Origin::trackers`] has them.
pub(crate) fn trackers<'b>(value: &impl Fn(&[u8]) -> Option<Value<'b>>) -> Vec<String> {
    let tiers = value(b"announce-list").and_then(Value::as_list);
    let listed =
        tiers.into_iter().flat_map(|tiers| tiers.iter()).filter_map(Value::as_list).flat_map(|tier| tier.iter());
    let mut trackers = Vec::new();
    for tracker in value(b"announce").into_iter().chain(listed).take(TRACKERS_PER_TORRENT_MAX).filter_map(text) {
        if !trackers.contains(&tracker) {
            trackers.push(tracker);
        }
    }
    trackers
}

fn text(value: Value<'_>) -> Option<String> {
    let text = value.as_string().filter(|text| !text.is_empty())?;
    let text = &text[..text.len().min(ORIGIN_TEXT_BYTES_MAX)];
    Some(String::from_utf8_lossy(text).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_texts_are_found_wherever_clients_write_them() {
        let bytes = b"d8:announce10:http://a/113:announce-listll10:http://a/1el10:udp://b:80i7eee7:comment2:hi\
            4:infod6:lengthi1e6:source3:abce13:publisher-url9:http://c/e";
        let origin = read(bytes).unwrap();
        assert_eq!(origin.trackers, ["http://a/1", "udp://b:80"]);
        let texts = (origin.comment.as_deref(), origin.publisher_url.as_deref(), origin.source.as_deref());
        assert_eq!(texts, (Some("hi"), Some("http://c/"), Some("abc")));
        assert_eq!(read(b"d8:announcei7e13:announce-list3:abc4:info3:abce"), Some(Origin::default()), "other types");
        for broken in [&b""[..], b"d", b"<html>", b"d8:announce99:x"] {
            assert_eq!(read(broken), None);
        }
    }
}
