//! A metainfo file without what says where it is from: its info dictionary byte for byte, so that it stays the same torrent, and what belongs to that.

use super::bencode;

/// Keys beside `info` that a client needs, in the order of bencode: what decodes names, and BEP 52's hashes.
const KEPT: [&[u8]; 3] = [b"encoding", b"info", b"piece layers"];

/// The file with these keys alone, and with `announce` in the place of its own trackers. None for bytes that are no metainfo file.
#[must_use]
pub fn without_origin(bytes: &[u8], announce: Option<&str>) -> Option<Vec<u8>> {
    let spans = bencode::scan_dictionary(bytes).ok()?;
    let mut out = Vec::with_capacity(bytes.len());
    out.push(b'd');
    if let Some(announce) = announce {
        out.extend(format!("8:announce{}:{announce}", announce.len()).as_bytes());
    }
    for key in KEPT {
        let Some(span) = spans.find(bytes, key) else {
            if key == b"info" {
                return None;
            }
            continue;
        };
        out.extend(format!("{}:", key.len()).as_bytes());
        out.extend(key);
        out.extend(bytes.get(span)?);
    }
    out.push(b'e');
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metainfo;

    #[test]
    fn nothing_but_the_torrent_itself_is_left() {
        let info = "d6:lengthi7e4:name3:abc12:piece lengthi16384e6:pieces20:01234567890123456789e";
        let bytes = format!(
            "d8:announce21:http://t/KEY0123456/a13:announce-listll21:http://t/KEY0123456/aee7:comment9:KEY012345\
             610:created by3:KEY8:encoding5:UTF-84:info{info}5:nodesll3:KEYi1eee8:url-list12:http://s/KEYe"
        )
        .replace("9:KEY012345610", "9:KEY01234510");
        let whole = metainfo::parse(bytes.as_bytes()).unwrap();
        for announce in [None, Some("http://mine.example/announce")] {
            let shared = without_origin(bytes.as_bytes(), announce).unwrap();
            let text = String::from_utf8(shared.clone()).unwrap();
            assert!(!text.contains("KEY") && text.contains(info) && text.contains("8:encoding5:UTF-8"), "{text}");
            assert_eq!(text.contains("8:announce28:http://mine.example/announce"), announce.is_some(), "{text}");
            assert_eq!(metainfo::parse(&shared).unwrap().infohashes, whole.infohashes);
        }
        for broken in [&b""[..], b"d", b"de", b"d8:announce3:abce", b"<html>"] {
            assert_eq!(without_origin(broken, None), None);
        }
    }
}
