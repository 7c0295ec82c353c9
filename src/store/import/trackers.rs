//! qBittorrent's `BT_backup`: where a torrent file has no trackers, its `.fastresume` has them (older versions took them out).

use gleaner_torrent::bencode::{self, Value};
use gleaner_torrent::limits::TRACKERS_PER_TORRENT_MAX;

/// The torrent with the trackers of its resume file; None if it has its own, or the other has none.
pub fn completed(torrent: &[u8], resume: &[u8]) -> Option<Vec<u8>> {
    let spans = bencode::scan_dictionary(torrent).ok()?;
    let has = |key: &[u8]| spans.find(torrent, key).is_some();
    if has(b"announce") || has(b"announce-list") {
        return None;
    }
    let of_resume = bencode::scan_dictionary(resume).ok()?;
    let value = of_resume.find(resume, b"trackers").and_then(|span| Value::read(resume.get(span)?))?;
    let tiers = value.as_list()?.iter().filter_map(Value::as_list);
    let text = |text: &[u8]| [format!("{}:", text.len()).as_bytes(), text].concat();
    let (mut first, mut list, mut left) = (None, Vec::new(), TRACKERS_PER_TORRENT_MAX);
    for tier in tiers {
        let trackers: Vec<&[u8]> =
            tier.iter().filter_map(Value::as_string).filter(|url| !url.is_empty()).take(left).collect();
        left -= trackers.len();
        if let Some(tracker) = trackers.first() {
            first.get_or_insert(*tracker);
            list.push(b'l');
            list.extend(trackers.into_iter().flat_map(text));
            list.push(b'e');
        }
    }
    let first = text(first?);
    // Bencode's order of keys: these two come before all others that programs write.
    Some([b"d8:announce", &first[..], b"13:announce-listl", &list, b"e", torrent.get(1..)?].concat())
}
