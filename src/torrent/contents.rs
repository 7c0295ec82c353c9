//! What an archived metainfo file holds, for people: its files by path and length, pieces, web seeds, who made it, what is like it
//! (BEP 3, BEP 19, BEP 38, BEP 39, BEP 52).
//!
//! Paths are text, as written: they are shown and searched, and never name a file on a disk.

use super::bencode::{self, Dict, Value};
use crate::limits::{CONTENTS_BYTES_MAX, ORIGIN_TEXT_BYTES_MAX, PATH_BYTES_MAX, SIMILAR_MAX, WEB_SEEDS_MAX};

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Contents {
    /// In the file's order, without pad files; of a hybrid those of its v2 tree.
    pub files: Vec<ContainedFile>,
    /// True if `files` ends before the last one: their paths would take more than `limits::CONTENTS_BYTES_MAX`.
    pub is_cut: bool,
    /// `piece length`, in bytes.
    pub piece_bytes: u64,
    /// v1 pieces; 0 of a torrent that is v2 alone.
    pub pieces: u64,
    /// As [`crate::origin::Origin::trackers`].
    pub trackers: Vec<String>,
    /// `url-list`, at most `limits::WEB_SEEDS_MAX`.
    pub web_seeds: Vec<String>,
    /// `created by`.
    pub created_by: Option<String>,
    /// `similar` (BEP 38): infohashes of torrents that may share files with this one, at most `limits::SIMILAR_MAX`.
    pub similar: Vec<[u8; 20]>,
    /// `collections` (BEP 38): torrents with one in common may share files. At most `limits::SIMILAR_MAX`.
    pub collections: Vec<String>,
    /// `update-url` (BEP 39): where a newer version may be.
    pub update_url: Option<String>,
}

/// One file of a payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContainedFile {
    /// Below the torrent's own folder, elements joined by `/`; the name itself of a torrent of one file. At most `limits::PATH_BYTES_MAX`
    /// bytes, cut at a character.
    pub path: String,
    pub bytes: u64,
}

/// Reads an archived file: a dictionary from its first byte on. None for bytes that are none.
#[must_use]
pub fn read(bytes: &[u8]) -> Option<Contents> {
    let spans = bencode::scan_dictionary(bytes).ok()?;
    let value = |key: &[u8]| spans.find(bytes, key).and_then(|span| Value::read(bytes.get(span)?));
    let info = value(b"info")?.as_dict()?;
    let mut reader = Reader::default();
    match (info.find(b"file tree").and_then(Value::as_dict), info.find(b"files").and_then(Value::as_list)) {
        (Some(tree), _) => reader.tree(tree),
        (None, Some(files)) => files.iter().filter_map(Value::as_dict).all(|file| reader.listed(file)),
        (None, None) => {
            let name = info.find(b"name.utf-8").or_else(|| info.find(b"name")).and_then(Value::as_string);
            reader.add(&[name.unwrap_or_default()], length(info))
        }
    };
    let text = |value: Value<'_>| {
        let text = value.as_string().filter(|text| !text.is_empty())?;
        Some(String::from_utf8_lossy(&text[..text.len().min(ORIGIN_TEXT_BYTES_MAX)]).into_owned())
    };
    // BEP 38 and 39 stand within `info`, or beside it.
    let either = |key: &[u8]| info.find(key).or_else(|| value(key));
    let list = |key: &[u8]| either(key).and_then(Value::as_list).into_iter().flat_map(|list| list.iter());
    let hashes = list(b"similar").filter_map(Value::as_string).filter_map(|hash| hash.try_into().ok());
    let seeds = value(b"url-list");
    let listed = seeds.and_then(Value::as_list).into_iter().flat_map(|list| list.iter());
    Some(Contents {
        files: reader.files,
        is_cut: reader.is_cut,
        piece_bytes: info
            .find(b"piece length")
            .and_then(Value::as_integer)
            .map_or(0, |bytes| bytes.max(0).cast_unsigned()),
        pieces: info.find(b"pieces").and_then(Value::as_string).map_or(0, |hashes| hashes.len() as u64 / 20),
        trackers: super::origin::trackers(&value),
        web_seeds: seeds.into_iter().chain(listed).filter_map(text).take(WEB_SEEDS_MAX).collect(),
        created_by: value(b"created by").and_then(text),
        similar: hashes.take(SIMILAR_MAX).collect(),
        collections: list(b"collections").filter_map(text).take(SIMILAR_MAX).collect(),
        update_url: either(b"update-url").and_then(text),
    })
}

fn length(file: Dict<'_>) -> u64 {
    file.find(b"length").and_then(Value::as_integer).map_or(0, |bytes| bytes.max(0).cast_unsigned())
}

fn is_pad(file: Dict<'_>) -> bool {
    file.find(b"attr").and_then(Value::as_string).is_some_and(|attributes| attributes.contains(&b'p'))
}

/// Collects files within a bound.
#[derive(Default)]
struct Reader {
    files: Vec<ContainedFile>,
    bytes: usize,
    is_cut: bool,
}

impl Reader {
    /// False once no more fit.
    fn add(&mut self, elements: &[&[u8]], bytes: u64) -> bool {
        let mut path = String::new();
        for element in elements {
            if path.len() >= PATH_BYTES_MAX {
                break;
            }
            if !path.is_empty() {
                path.push('/');
            }
            path.push_str(&String::from_utf8_lossy(&element[..element.len().min(PATH_BYTES_MAX)]));
        }
        path.truncate(path.floor_char_boundary(PATH_BYTES_MAX));
        self.bytes += path.len() + size_of::<ContainedFile>();
        self.is_cut = self.bytes > CONTENTS_BYTES_MAX;
        if !self.is_cut {
            self.files.push(ContainedFile { path, bytes });
        }
        !self.is_cut
    }

    /// An entry of a v1 list.
    fn listed(&mut self, file: Dict<'_>) -> bool {
        let path = file.find(b"path.utf-8").or_else(|| file.find(b"path")).and_then(Value::as_list);
        let elements: Vec<&[u8]> = path.into_iter().flat_map(|path| path.iter()).filter_map(Value::as_string).collect();
        let is_bitcomet_pad = elements.iter().any(|element| element.starts_with(b"_____padding_file_"));
        is_pad(file) || is_bitcomet_pad || self.add(&elements, length(file))
    }

    /// A v2 tree, in one pass at any depth.
    fn tree(&mut self, tree: Dict<'_>) -> bool {
        let mut walk = tree.walk();
        let mut folders: Vec<&[u8]> = Vec::new();
        loop {
            let Some(key) = walk.key() else {
                if !walk.leave() || folders.pop().is_none() {
                    return true;
                }
                continue;
            };
            if !walk.enter() {
                return true;
            }
            folders.push(key);
            let mut ahead = walk.clone();
            if ahead.key() == Some(b"") {
                let file = ahead.value().and_then(Value::as_dict);
                if !file.is_none_or(|file| self.add(&folders, length(file))) {
                    return false;
                }
                folders.pop();
                if !ahead.leave() {
                    return true;
                }
                walk = ahead;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn files(bytes: &[u8]) -> Vec<(String, u64)> {
        read(bytes).unwrap().files.into_iter().map(|file| (file.path, file.bytes)).collect()
    }

    #[test]
    fn files_of_each_kind_of_torrent_are_listed_without_pads() {
        assert_eq!(files(b"d4:infod6:lengthi7e4:name3:abcee"), [("abc".to_owned(), 7)]);
        let list =
            b"d4:infod5:filesld6:lengthi1e4:pathl1:a1:beed4:attr1:p6:lengthi9e4:pathl4:.pad1:9eed6:lengthi2e4:pathl1:c\
            eee4:name1:nee";
        assert_eq!(files(list), [("a/b".to_owned(), 1), ("c".to_owned(), 2)]);
        let tree = b"d4:infod9:file treed1:ad1:bd0:d6:lengthi1eee1:cd0:d6:lengthi2eeee1:dd0:d6:lengthi3eeeeee";
        assert_eq!(files(tree), [("a/b".to_owned(), 1), ("a/c".to_owned(), 2), ("d".to_owned(), 3)]);
    }

    #[test]
    fn what_is_said_of_pieces_seeds_and_the_maker_is_read() {
        let bytes =
            b"d10:created by3:mkt4:infod6:lengthi7e4:name1:a12:piece lengthi16384e6:pieces20:01234567890123456789e\
            8:url-listl8:http://a8:http://bee";
        let Contents { piece_bytes, pieces, web_seeds, created_by, .. } = read(bytes).unwrap();
        assert_eq!((piece_bytes, pieces, created_by.as_deref()), (16_384, 1, Some("mkt")));
        assert_eq!(web_seeds, ["http://a", "http://b"]);
        let like = b"d11:collectionsl1:c1:de4:infod6:lengthi7e7:similarl20:012345678901234567893:abce10:update-url8:http://uee";
        let Contents { similar, collections, update_url, .. } = read(like).unwrap();
        assert_eq!((similar, update_url.as_deref()), (vec![*b"01234567890123456789"], Some("http://u")));
        assert_eq!(collections, ["c", "d"]);
        assert_eq!(read(b"d4:infod6:lengthi7ee8:url-list8:http://ae").unwrap().web_seeds, ["http://a"]);
        for broken in [&b""[..], b"d", b"<html>", b"d4:info3:abce"] {
            assert_eq!(read(broken), None);
        }
    }

    #[test]
    fn folders_with_long_names_take_bounded_memory() {
        let folder = "x".repeat(1 << 20);
        let mut bytes = format!("d4:infod9:file treed{}:{folder}d", folder.len()).into_bytes();
        for file in 10_000..40_000 {
            bytes.extend(format!("5:{file}d0:d6:lengthi1eee").as_bytes());
        }
        bytes.extend(b"eeee");
        let contents = read(&bytes).unwrap();
        let total: usize = contents.files.iter().map(|file| file.path.len()).sum();
        assert!(contents.is_cut && total <= CONTENTS_BYTES_MAX, "{total}");
    }
}
