//! Metainfo files: the scanner agrees with a plain recursive parser, and the archive has the torrent that was sent.

use gleaner_torrent::bencode::{self, Value};
use gleaner_torrent::limits::{BENCODE_DEPTH_MAX, TORRENT_JUNK_BYTES_MAX};
use gleaner_torrent::metainfo as read;
use sha1::{Digest as _, Sha1};

/// The reference also parses inputs up to this length; its recursion is additionally bounded by `BENCODE_DEPTH_MAX`.
const REFERENCE_BYTES: usize = 1 << 16;

pub fn metainfo(input: &[u8]) {
    if input.len() <= REFERENCE_BYTES {
        scanner_agrees_with_the_reference(input);
    }
    let Ok(found) = read::parse(input) else { return };
    assert!(found.dict.start <= TORRENT_JUNK_BYTES_MAX && found.dict.end <= input.len(), "{:?}", found.dict);
    let kept = found.dict_bytes(input);
    assert!(kept.starts_with(b"d") && kept.ends_with(b"e") && kept.len() == found.dict.len());

    // The archive stores only the dictionary: parsed again, it is the same torrent.
    let again = read::parse(kept).expect("the kept dictionary is a torrent");
    assert_eq!(again.dict, 0..kept.len());
    assert_eq!(read::Metainfo { dict: found.dict.clone(), ..again }, found);

    if kept.len() <= REFERENCE_BYTES {
        let (Item::Dict(entries), _) = item(kept, 0, 0).expect("the reference reads it") else { unreachable!() };
        let info = entries.iter().find(|entry| entry.key == b"info").expect("it has an info dictionary");
        let sha1: [u8; 20] = Sha1::digest(&kept[info.start..info.end]).into();
        assert!(found.infohashes.v1.is_none_or(|v1| v1 == sha1));
        assert!(found.infohashes.v1.is_some() || found.infohashes.v2.is_some());
    }
}

fn scanner_agrees_with_the_reference(input: &[u8]) {
    let reference = item(input, 0, 0).filter(|(item, _)| matches!(item, Item::Dict(_)));
    let scanned = bencode::scan_dictionary(input);
    let (Some((Item::Dict(entries), end)), Ok(spans)) = (&reference, &scanned) else {
        assert!(reference.is_none() && scanned.is_err(), "reference {reference:?}, scanner {scanned:?}");
        if let Err(error) = scanned {
            assert!(error.at <= input.len());
        }
        return;
    };
    assert_eq!(spans.len, *end);
    assert_eq!(spans.entries().len(), entries.len());
    for (entry, (key, value)) in entries.iter().zip(spans.entries()) {
        assert_eq!((entry.key, entry.start..entry.end), (&input[key], value.clone()));
        let read = Value::read(&input[value]).expect("a checked span holds a value");
        assert!(entry.item.equals(read), "{:?} is not {read:?}", entry.item);
    }
    let whole = Item::Dict(reference.map(|(item, _)| item.into_entries()).unwrap_or_default());
    let mut canonical = Vec::new();
    whole.write(&mut canonical);
    let is_canonical = canonical == input[..spans.len];
    // libtorrent checks for leading zeros only before a sign, so that `i-0e` passes; and the reference writes 64-bit
    // numbers.
    if !input[..spans.len].windows(3).any(|bytes| bytes == b"i-0") && !whole.has_huge_integer() {
        assert_eq!(bencode::is_canonical(&input[..spans.len]), is_canonical);
    }
}

/// A value of the reference parser.
#[derive(Debug)]
enum Item<'a> {
    Integer(&'a [u8]),
    String(&'a [u8]),
    List(Vec<Item<'a>>),
    Dict(Vec<Entry<'a>>),
}

#[derive(Debug)]
struct Entry<'a> {
    key: &'a [u8],
    start: usize,
    end: usize,
    item: Item<'a>,
}

impl<'a> Item<'a> {
    fn into_entries(self) -> Vec<Entry<'a>> {
        if let Self::Dict(entries) = self { entries } else { Vec::new() }
    }

    fn equals(&self, read: Value<'_>) -> bool {
        match (self, read) {
            // A number beyond 64 bits is zero, as in libtorrent.
            (Self::Integer(digits), Value::Integer(integer)) => {
                let text = std::str::from_utf8(digits).expect("digits and a sign");
                integer.get() == text.parse::<i64>().unwrap_or(0)
            }
            (Self::String(text), Value::String(read)) => *text == read,
            (Self::List(items), Value::List(list)) => {
                let mut read = list.iter();
                items.iter().all(|item| read.next().is_some_and(|value| item.equals(value))) && read.next().is_none()
            }
            (Self::Dict(entries), Value::Dict(dict)) => {
                let mut read = dict.entries();
                let same = |entry: &Entry<'_>| {
                    read.next().is_some_and(|(key, value)| key == entry.key && entry.item.equals(value))
                };
                entries.iter().all(same) && read.next().is_none()
            }
            _ => false,
        }
    }

    fn has_huge_integer(&self) -> bool {
        match self {
            Self::Integer(digits) => std::str::from_utf8(digits).is_ok_and(|text| text.parse::<i64>().is_err()),
            Self::String(_) => false,
            Self::List(items) => items.iter().any(Self::has_huge_integer),
            Self::Dict(entries) => entries.iter().any(|entry| entry.item.has_huge_integer()),
        }
    }

    /// The canonical form: sorted keys, each once, no leading zeros.
    fn write(&self, out: &mut Vec<u8>) {
        let string = |text: &[u8], out: &mut Vec<u8>| {
            out.extend(format!("{}:", text.len()).bytes());
            out.extend(text);
        };
        match self {
            Self::Integer(digits) => {
                let number: i64 = std::str::from_utf8(digits).ok().and_then(|text| text.parse().ok()).unwrap_or(0);
                out.extend(format!("i{number}e").bytes());
            }
            Self::String(text) => string(text, out),
            Self::List(items) => {
                out.push(b'l');
                items.iter().for_each(|item| item.write(out));
                out.push(b'e');
            }
            Self::Dict(entries) => {
                let sorted: std::collections::BTreeMap<_, _> =
                    entries.iter().rev().map(|entry| (entry.key, &entry.item)).collect();
                out.push(b'd');
                for (key, item) in sorted {
                    string(key, out);
                    item.write(out);
                }
                out.push(b'e');
            }
        }
    }
}

/// The value at `at`, inside `depth` containers, and where it ends.
fn item(bytes: &[u8], at: usize, depth: usize) -> Option<(Item<'_>, usize)> {
    match bytes.get(at)? {
        b'i' => {
            let (sign, start) = if bytes.get(at + 1) == Some(&b'-') { (1, at + 2) } else { (0, at + 1) };
            let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_number = (1..=20).contains(&digits) && bytes.get(start + digits) == Some(&b'e');
            is_number.then(|| (Item::Integer(&bytes[start - sign..start + digits]), start + digits + 1))
        }
        b'0'..=b'9' => string(bytes, at).map(|(text, end)| (Item::String(text), end)),
        b'l' => {
            let (mut items, mut at) = (Vec::new(), inside(at, depth)?);
            while bytes.get(at)? != &b'e' {
                let (item, end) = item(bytes, at, depth + 1)?;
                items.push(item);
                at = end;
            }
            Some((Item::List(items), at + 1))
        }
        b'd' => {
            let (mut entries, mut at) = (Vec::new(), inside(at, depth)?);
            while bytes.get(at)? != &b'e' {
                let (key, start) = string(bytes, at)?;
                let (item, end) = item(bytes, start, depth + 1)?;
                entries.push(Entry { key, start, end, item });
                at = end;
            }
            Some((Item::Dict(entries), at + 1))
        }
        _ => None,
    }
}

fn inside(at: usize, depth: usize) -> Option<usize> {
    (depth + 1 < BENCODE_DEPTH_MAX).then_some(at + 1)
}

fn string(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let digits = bytes[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    if !(1..=16).contains(&digits) || bytes.get(at + digits) != Some(&b':') {
        return None;
    }
    let length: usize = std::str::from_utf8(&bytes[at..at + digits]).ok()?.parse().ok()?;
    let start = at + digits + 1;
    let end = start.checked_add(length)?;
    bytes.get(start..end).map(|text| (text, end))
}
