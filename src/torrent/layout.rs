//! The files of an `info` dictionary, added up and checked: BEP 3 `length`/`files`, BEP 47 attributes, BEP 52
//! `file tree`, and whether the two lists of a hybrid torrent describe the same payload.
//!
//! Part of [`super::metainfo`]; reads checked spans only. Validity follows libtorrent. It never makes file names for
//! a disk: paths are cleaned as in libtorrent, but only to be compared. It never builds a whole path: each element is
//! cleaned and hashed once, and a file's path is its folder's hash plus one element. So the work is linear in the
//! bytes, for any name length and depth.

use memchr::memmem;

use super::bencode::{Dict, List, Value};
use super::metainfo::MetainfoError;

/// Bytes of a payload, pad files included; libtorrent's limit.
const PAYLOAD_BYTES_MAX: u64 = (1 << 48) - 1;

/// Bytes of one file; libtorrent counts 16 kB blocks in 30 bits.
const FILE_BYTES_MAX: i64 = (i32::MAX as i64 / 2) * 16_384 - 1;

/// BitComet's name for pad files, from before there was an attribute for them.
const BITCOMET_PAD: &[u8] = b"_____padding_file_";

/// The payload of one list of files.
#[derive(Debug, Default)]
pub(super) struct Layout {
    /// Number of files, pad files excluded.
    pub file_count: u32,
    /// Bytes of these files.
    pub payload_bytes: u64,
    /// Bytes covered by the pieces: pad files included, except the one that fills a v2 torrent's last piece.
    pub total_bytes: u64,
    /// Number of files, pad files included, except that last one. Zero means that the list was empty.
    pub entries: u64,
    /// What must be equal in the lists of a hybrid torrent. Filled only on demand.
    placed: Option<Vec<Placed>>,
}

/// A cleaned path as the chained hash of its elements: 10⁵ files may share a folder whose name takes megabytes.
/// Elements contain no separator and are never empty, so that equal chains mean equal paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PathHash(u64);

impl PathHash {
    /// The path of a torrent's own folder.
    pub(super) fn of_root(name: &[u8]) -> Self {
        let mut clean = Vec::new();
        // libtorrent uses the infohash if nothing is left of a name. Any name works here, because it is only
        // compared.
        let name = if clean_element(&mut clean, name) { clean.as_slice() } else { b"_" };
        Self::default().join(name)
    }

    fn join(self, clean: &[u8]) -> Self {
        Self(xxhash_rust::xxh3::xxh3_64_with_seed(clean, self.0))
    }
}

/// A file with content, and its place in the payload.
#[derive(Debug, PartialEq, Eq)]
struct Placed {
    /// Number in the list, pad files counted.
    index: u64,
    path: PathHash,
    offset: u64,
    bytes: u64,
}

impl Layout {
    fn new(compare: bool) -> Self {
        Self { placed: compare.then(Vec::new), ..Self::default() }
    }

    fn add(&mut self, path: PathHash, bytes: u64, pad: bool) -> Result<(), MetainfoError> {
        let (index, offset) = (self.entries, self.total_bytes);
        self.advance(bytes)?;
        self.entries += 1;
        if pad {
            return Ok(());
        }
        // Bounded by the scanner's cap on values.
        self.file_count = self.file_count.saturating_add(1);
        self.payload_bytes += bytes;
        if let Some(placed) = &mut self.placed
            && bytes > 0
        {
            placed.push(Placed { index, path, offset, bytes });
        }
        Ok(())
    }

    fn advance(&mut self, bytes: u64) -> Result<(), MetainfoError> {
        self.total_bytes =
            self.total_bytes.checked_add(bytes).filter(|sum| *sum <= PAYLOAD_BYTES_MAX).ok_or(MetainfoError::Length)?;
        Ok(())
    }

    /// BEP 52: every file of a v2 torrent starts at a piece boundary, as if a pad file came before it.
    fn align(&mut self, piece_bytes: u64) -> Result<(), MetainfoError> {
        let pad_bytes = self.total_bytes.next_multiple_of(piece_bytes) - self.total_bytes;
        if pad_bytes > 0 {
            self.advance(pad_bytes)?;
            self.entries += 1;
        }
        Ok(())
    }

    /// True if the v1 list (`self`) and the v2 tree describe the same files at the same places. The names and places
    /// of pad files, empty files and links may differ, but not their number. A pad file may or may not fill the last
    /// piece.
    pub(super) fn agrees_with(&self, v2: &Self, piece_bytes: u64) -> bool {
        let bare = (v2.entries, v2.total_bytes);
        let filled_bytes = v2.total_bytes.next_multiple_of(piece_bytes);
        let filled = (v2.entries + u64::from(filled_bytes > v2.total_bytes), filled_bytes);
        let extent = (self.entries, self.total_bytes);
        (extent == bare || extent == filled) && self.placed == v2.placed
    }
}

/// A v1 torrent of one file, described in the `info` dictionary itself.
pub(super) fn single_file(info: Dict<'_>, name: &[u8], compare: bool) -> Result<Layout, MetainfoError> {
    let file = FileFields::read(info);
    let bytes = file.bytes()?;
    let mut clean = Vec::new();
    if name.is_empty() || !clean_element(&mut clean, name) {
        return Err(MetainfoError::Name);
    }
    file.check_symlink()?;
    let mut layout = Layout::new(compare);
    layout.add(PathHash::default().join(&clean), bytes, file.has_attribute(b'p') || contains_bitcomet_pad(name))?;
    Ok(layout)
}

/// The `files` list of a v1 torrent. `root` is the torrent's folder.
pub(super) fn file_list(files: List<'_>, root: PathHash, compare: bool) -> Result<Layout, MetainfoError> {
    let mut layout = Layout::new(compare);
    let mut clean = Vec::new();
    for file in files.iter() {
        let file = FileFields::read(file.as_dict().ok_or(MetainfoError::Files)?);
        let bytes = file.bytes()?;
        let mut pad = file.has_attribute(b'p');
        let mut path = root;
        match file.path() {
            Some(elements) if elements.iter().next().is_some() => {
                let mut named = false;
                for element in elements.iter() {
                    let element = element.as_string().ok_or(MetainfoError::Path)?;
                    pad |= contains_bitcomet_pad(element);
                    if compare && clean_element(&mut clean, element) {
                        path = path.join(&clean);
                        named = true;
                    }
                }
                if !named {
                    path = path.join(b"_");
                }
            }
            // A pad file needs no name.
            _ if pad => {}
            _ => return Err(MetainfoError::Path),
        }
        file.check_symlink()?;
        layout.add(path, bytes, pad)?;
    }
    Ok(layout)
}

/// A v2 file that is larger than a piece and so may have an entry in `piece layers`.
pub(super) struct LayeredFile<'a> {
    pub root: &'a [u8],
    pub pieces: u64,
}

/// The `file tree` of a v2 torrent, walked in one pass at any depth. `has_list` means that the torrent has a `files`
/// list too, so that a single file is in a folder.
pub(super) fn file_tree<'a>(
    tree: Dict<'a>,
    root: PathHash,
    piece_bytes: u64,
    has_list: bool,
    compare: bool,
) -> Result<(Layout, Vec<LayeredFile<'a>>), MetainfoError> {
    let mut layout = Layout::new(compare);
    let mut layered = Vec::new();
    let mut path = root;
    // The folders outside `path`; the scanner's cap on depth bounds them.
    let mut folders = Vec::new();
    let mut clean = Vec::new();
    let mut walk = tree.walk();
    let mut first_key = true;
    loop {
        let Some(key) = walk.key() else {
            if !walk.leave() {
                return Err(MetainfoError::FileTree);
            }
            match folders.pop() {
                Some(outside) => path = outside,
                None => return Ok((layout, layered)),
            }
            continue;
        };
        if key.is_empty() || !walk.enter() {
            return Err(MetainfoError::FileTree);
        }
        // Unlike in a `path`, "/" leaves an empty name here and not a missing one.
        let name = &key[key.iter().take_while(|byte| **byte == b'/').count()..];
        let named = clean_element(&mut clean, name);
        let mut ahead = walk.clone();
        if ahead.key() == Some(b"") {
            // A file: a dictionary whose only key is empty.
            let file = ahead.value().and_then(Value::as_dict).ok_or(MetainfoError::FileTree)?;
            if !ahead.leave() {
                return Err(MetainfoError::FileTree);
            }
            walk = ahead;
            let alone = first_key && folders.is_empty() && walk.at_end() && !has_list;
            if alone && !named {
                return Err(MetainfoError::Name);
            }
            let folder = if alone { PathHash::default() } else { path };
            let place = if named { folder.join(&clean) } else { folder };
            layered.extend(add_tree_file(&mut layout, FileFields::read(file), place, piece_bytes)?);
        } else {
            folders.push(path);
            if named {
                path = path.join(&clean);
            }
        }
        first_key = false;
    }
}

fn add_tree_file<'a>(
    layout: &mut Layout,
    file: FileFields<'a>,
    path: PathHash,
    piece_bytes: u64,
) -> Result<Option<LayeredFile<'a>>, MetainfoError> {
    if file.has_attribute(b'p') {
        return Err(MetainfoError::FileTree);
    }
    let bytes = file.bytes()?;
    file.check_symlink()?;
    let root = file.pieces_root.and_then(Value::as_string).filter(|root| root.len() == 32);
    if bytes > 0 && root.is_none_or(|root| root.iter().all(|byte| *byte == 0)) {
        return Err(MetainfoError::PiecesRoot);
    }
    if bytes > 0 {
        layout.align(piece_bytes)?;
    }
    layout.add(path, bytes, false)?;
    let pieces = bytes.div_ceil(piece_bytes);
    Ok(root.filter(|_| bytes > piece_bytes).map(|root| LayeredFile { root, pieces }))
}

/// The fields read from one file, v1 or v2. The first of repeated keys counts.
#[derive(Default)]
struct FileFields<'a> {
    length: Option<Value<'a>>,
    path: Option<Value<'a>>,
    path_utf8: Option<Value<'a>>,
    attr: Option<Value<'a>>,
    symlink_path: Option<Value<'a>>,
    pieces_root: Option<Value<'a>>,
}

impl<'a> FileFields<'a> {
    fn read(file: Dict<'a>) -> Self {
        let mut fields = Self::default();
        for (key, value) in file.entries() {
            let field = match key {
                b"length" => &mut fields.length,
                b"path" => &mut fields.path,
                b"path.utf-8" => &mut fields.path_utf8,
                b"attr" => &mut fields.attr,
                b"symlink path" => &mut fields.symlink_path,
                b"pieces root" => &mut fields.pieces_root,
                _ => continue,
            };
            field.get_or_insert(value);
        }
        fields
    }

    fn has_attribute(&self, attribute: u8) -> bool {
        self.attr.and_then(Value::as_string).is_some_and(|attributes| attributes.contains(&attribute))
    }

    /// A link has no content, whatever its length field contains (BEP 47).
    fn bytes(&self) -> Result<u64, MetainfoError> {
        if self.has_attribute(b'l') {
            return Ok(0);
        }
        let length = self.length.and_then(Value::as_integer).ok_or(MetainfoError::Length)?;
        if length > FILE_BYTES_MAX {
            return Err(MetainfoError::Length);
        }
        u64::try_from(length).map_err(|_| MetainfoError::Length)
    }

    fn path(&self) -> Option<List<'a>> {
        self.path_utf8.and_then(Value::as_list).or_else(|| self.path.and_then(Value::as_list))
    }

    fn check_symlink(&self) -> Result<(), MetainfoError> {
        match self.symlink_path {
            Some(Value::List(target)) if self.has_attribute(b'l') => {
                let all_strings = target.iter().all(|element| element.as_string().is_some());
                if all_strings { Ok(()) } else { Err(MetainfoError::Path) }
            }
            _ => Ok(()),
        }
    }
}

fn contains_bitcomet_pad(element: &[u8]) -> bool {
    element.len() >= BITCOMET_PAD.len() && memmem::find(element, BITCOMET_PAD).is_some()
}

/// Writes a path element to `clean` under libtorrent's naming rules: separators, NUL and text-direction marks are
/// dropped; control characters and broken UTF-8 become `_`; an empty element becomes `_` too. False if nothing or only
/// one or two dots remain: the path skips the element.
fn clean_element(clean: &mut Vec<u8>, element: &[u8]) -> bool {
    clean.clear();
    if element.is_empty() {
        clean.push(b'_');
        return true;
    }
    for chunk in element.utf8_chunks() {
        for character in chunk.valid().chars() {
            match character {
                '\0' | '/' | '\\' | '\u{202a}'..='\u{202e}' | '\u{200e}' | '\u{200f}' => {}
                '\u{1}'..='\u{1f}' => clean.push(b'_'),
                _ => clean.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            }
        }
        if !chunk.invalid().is_empty() {
            clean.push(b'_');
        }
    }
    !matches!(clean.as_slice(), b"" | b"." | b"..")
}
