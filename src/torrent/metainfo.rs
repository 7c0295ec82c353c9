//! Metainfo files: bytes from outside → a torrent with its names, or the reason why they are not a torrent.
//!
//! Comes after `classify` and before `archive`. The verdict is libtorrent's (docs/design/recognition.md lists where a
//! harvester must differ, and why): BEP 3, BEP 27, BEP 47, BEP 52, hybrids included. The infohash is taken over the
//! raw bytes of the `info` value as sent.
//!
//! It never re-encodes, never recurses, and allocates only what it returns, plus 24 bytes per file for a hybrid or v2
//! torrent. serde_bencode decodes the values beside `info`, on checked spans. `info` itself is read from the
//! scanner's spans, because the verdict depends on what a typed decoder hides: which of two equal keys counts, that a
//! value of the wrong type counts as absent, and that 10⁵ files are added up and not kept.

use std::ops::Range;

use ring::digest::SHA256;
use serde::de::DeserializeOwned;
use sha1::{Digest, Sha1};

use super::Infohashes;
use super::bencode::{self, BencodeError, DictSpans, Shape, Value};
use super::layout::{self, LayeredFile, Layout, PathHash};
use crate::limits::{BENCODE_TOKENS_MAX, TORRENT_JUNK_BYTES_MAX, TORRENT_PIECES_MAX};

/// Why bytes are not a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MetainfoError {
    #[error("empty")]
    Empty,
    #[error("no bencoded dictionary in the first {} bytes", TORRENT_JUNK_BYTES_MAX)]
    NoDictionary,
    #[error("not bencoded: {0}")]
    Bencode(#[from] BencodeError),
    #[error("the dictionary has no `info` dictionary")]
    NoInfo,
    #[error("`meta version` is set, but `info` is not in canonical form (BEP 52)")]
    NotCanonical,
    #[error("`meta version` is neither 1 nor 2, or contradicts the other keys")]
    MetaVersion,
    #[error("`piece length` is missing or invalid")]
    PieceLength,
    #[error("`name` is missing, empty or nothing but dots and slashes")]
    Name,
    #[error("a `length` is missing or invalid, or there is no payload")]
    Length,
    #[error("an element of `files` is no dictionary")]
    Files,
    #[error("a file's `path` is missing or invalid")]
    Path,
    #[error("`file tree` is missing or malformed")]
    FileTree,
    #[error("a file in `file tree` has no valid `pieces root`")]
    PiecesRoot,
    #[error("no files")]
    NoFiles,
    #[error("the v1 and v2 lists of files differ")]
    HybridMismatch,
    #[error("`pieces` is missing or its length does not fit the payload")]
    Pieces,
    #[error("more than {} pieces", TORRENT_PIECES_MAX)]
    TooManyPieces,
    #[error("`piece layers` is malformed or does not fit a file")]
    PieceLayers,
}

/// The properties of a torrent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Metainfo {
    pub infohashes: Infohashes,
    /// Span of the dictionary within the bytes as sent; everything before and after it is junk.
    pub dict: Range<usize>,
    /// `name.utf-8`, else `name` (decoded by the `encoding` key if it is not UTF-8; broken bytes become U+FFFD).
    pub name: String,
    /// Sum of the file lengths in bytes, pad files excluded.
    pub payload_bytes: u64,
    /// Files, pad files excluded.
    pub file_count: u32,
    /// `piece length` in bytes.
    pub piece_bytes: u64,
    /// BEP 27.
    pub private: bool,
    /// `creation date`, seconds since 1970, if present and not negative.
    pub created_unix: Option<i64>,
}

impl Metainfo {
    /// The bytes to archive: the dictionary alone, without the junk around it. `sent` is the input that was parsed.
    #[must_use]
    pub fn dict_bytes<'a>(&self, sent: &'a [u8]) -> &'a [u8] {
        sent.get(self.dict.clone()).unwrap_or_default()
    }

    /// SHA-256 of [`Self::dict_bytes`].
    #[must_use]
    pub fn dict_sha256(&self, sent: &[u8]) -> [u8; 32] {
        sha256(self.dict_bytes(sent))
    }
}

/// By `ring`, which takes two thirds of `sha2`'s instructions where the processor has none for SHA; with them both are as fast.
fn sha256(bytes: &[u8]) -> [u8; 32] {
    let mut sum = [0; 32];
    sum.copy_from_slice(ring::digest::digest(&SHA256, bytes).as_ref());
    sum
}

/// Parses a metainfo file. Junk before the dictionary (BOM, blank lines, warnings; at most
/// `limits::TORRENT_JUNK_BYTES_MAX` bytes) and any junk after it are allowed.
///
/// # Errors
/// [`MetainfoError`]: the first one found. With junk in front, the error of the likeliest start.
pub fn parse(bytes: &[u8]) -> Result<Metainfo, MetainfoError> {
    let (start, spans) = locate_dictionary(bytes)?;
    let dict = start..start + spans.len;
    let body = &bytes[dict.clone()];
    let info_span = spans.find(body, b"info").ok_or(MetainfoError::NoInfo)?;
    let info_bytes = &body[info_span];
    let checked = check_info(info_bytes)?;
    if checked.infohashes.v2.is_some()
        && let Some(Value::Dict(layers)) = spans.find(body, b"piece layers").and_then(|span| Value::read(&body[span]))
    {
        check_piece_layers(layers, &checked.layered)?;
    }
    let encoding: Option<String> = typed(body, &spans, b"encoding");
    Ok(Metainfo {
        infohashes: checked.infohashes,
        dict,
        name: decode_name(checked.name, encoding.as_deref()),
        payload_bytes: checked.payload_bytes,
        file_count: checked.file_count,
        piece_bytes: checked.piece_bytes,
        private: checked.private,
        created_unix: typed(body, &spans, b"creation date").filter(|seconds: &i64| *seconds >= 0),
    })
}

/// Finds the start of the dictionary and scans it.
///
/// A body that starts like a dictionary (after a BOM and white space) is either one or none. Otherwise every place in
/// the junk that looks like `d<length>:<printable key>` is tried. The attempts share one budget of values, so that a
/// body made of dictionary starts costs no more than two scans.
fn locate_dictionary(bytes: &[u8]) -> Result<(usize, DictSpans), MetainfoError> {
    let start = bytes.len() - bencode::skip_blank(bytes).len();
    if start == bytes.len() {
        return Err(MetainfoError::Empty);
    }
    // An empty dictionary is one only by itself: before a torrent, `de` begins or ends a word.
    let is_dictionary = match &bytes[start..] {
        [b'd', b'0'..=b'9', ..] => true,
        [b'd', b'e', rest @ ..] => bencode::skip_blank(rest).is_empty(),
        _ => false,
    };
    if start <= TORRENT_JUNK_BYTES_MAX && is_dictionary {
        return match bencode::scan_dictionary(&bytes[start..]) {
            Ok(spans) => Ok((start, spans)),
            Err(error) => Err(BencodeError { at: error.at + start, ..error }.into()),
        };
    }
    let mut first_error = MetainfoError::NoDictionary;
    let mut tokens_left = 2 * BENCODE_TOKENS_MAX;
    let junk_end = bytes.len().min(TORRENT_JUNK_BYTES_MAX + 1);
    for start in memchr::memchr_iter(b'd', &bytes[..junk_end]) {
        if bencode::dictionary_shape(&bytes[start..]) != Shape::Dictionary {
            continue;
        }
        match bencode::scan_dictionary_within(&bytes[start..], &mut tokens_left) {
            Ok(spans) => return Ok((start, spans)),
            Err(error) if first_error == MetainfoError::NoDictionary => {
                first_error = BencodeError { at: error.at + start, ..error }.into();
            }
            Err(_) => {}
        }
    }
    Err(first_error)
}

/// The result of [`check_info`].
struct CheckedInfo<'a> {
    infohashes: Infohashes,
    name: &'a [u8],
    payload_bytes: u64,
    file_count: u32,
    piece_bytes: u64,
    private: bool,
    layered: Vec<LayeredFile<'a>>,
}

/// The fields read from the `info` dictionary. The first of repeated keys counts; a value of another type is absent.
#[derive(Default)]
struct InfoFields<'a> {
    meta_version: Option<Value<'a>>,
    piece_length: Option<Value<'a>>,
    name: Option<Value<'a>>,
    name_utf8: Option<Value<'a>>,
    length: Option<Value<'a>>,
    files: Option<Value<'a>>,
    file_tree: Option<Value<'a>>,
    pieces: Option<Value<'a>>,
    private: Option<Value<'a>>,
}

impl<'a> InfoFields<'a> {
    fn read(info: bencode::Dict<'a>) -> Self {
        let mut fields = Self::default();
        for (key, value) in info.entries() {
            let field = match key {
                b"meta version" => &mut fields.meta_version,
                b"piece length" => &mut fields.piece_length,
                b"name" => &mut fields.name,
                b"name.utf-8" => &mut fields.name_utf8,
                b"length" => &mut fields.length,
                b"files" => &mut fields.files,
                b"file tree" => &mut fields.file_tree,
                b"pieces" => &mut fields.pieces,
                b"private" => &mut fields.private,
                _ => continue,
            };
            field.get_or_insert(value);
        }
        fields
    }
}

/// Checks the `info` value in libtorrent's order.
fn check_info(info_bytes: &[u8]) -> Result<CheckedInfo<'_>, MetainfoError> {
    let info = Value::read(info_bytes).and_then(Value::as_dict).ok_or(MetainfoError::NoInfo)?;
    let fields = InfoFields::read(info);
    let is_v2 = check_meta_version(&fields, info_bytes)?;

    let piece_length = fields.piece_length.and_then(Value::as_integer).unwrap_or(-1);
    let piece_bytes = u64::try_from(piece_length).map_err(|_| MetainfoError::PieceLength)?;
    if piece_bytes == 0 || piece_bytes > i32::MAX as u64 / 2 {
        return Err(MetainfoError::PieceLength);
    }
    // BEP 52: a power of two, at least 16 KiB.
    if is_v2 && (piece_bytes < 16_384 || !piece_bytes.is_power_of_two()) {
        return Err(MetainfoError::PieceLength);
    }

    let name = fields.name_utf8.and_then(Value::as_string).or_else(|| fields.name.and_then(Value::as_string));
    let name = name.ok_or(MetainfoError::Name)?;
    let root = PathHash::of_root(name);

    let files = fields.files.and_then(Value::as_list);
    let tree = fields.file_tree.and_then(Value::as_dict);
    let v2 = match tree {
        Some(tree) if is_v2 => Some(layout::file_tree(
            tree,
            root,
            piece_bytes,
            files.is_some(),
            files.is_some() || fields.length.is_some(),
        )?),
        None if is_v2 => return Err(MetainfoError::FileTree),
        Some(_) => return Err(MetainfoError::MetaVersion),
        None => None,
    };
    let v1 = match files {
        Some(files) => Some(layout::file_list(files, root, is_v2)?),
        None if !is_v2 || fields.length.is_some() => Some(layout::single_file(info, name, is_v2)?),
        None => None,
    };
    let pieced = agree(v1.as_ref(), v2.as_ref().map(|(layout, _)| layout), piece_bytes)?;
    check_pieces(fields.pieces, pieced.total_bytes, piece_bytes, is_v2)?;

    let counted = v2.as_ref().map_or(pieced, |(layout, _)| layout);
    Ok(CheckedInfo {
        infohashes: Infohashes {
            v1: v1.is_some().then(|| Sha1::digest(info_bytes).into()),
            v2: is_v2.then(|| sha256(info_bytes)),
        },
        name,
        payload_bytes: counted.payload_bytes,
        file_count: counted.file_count,
        piece_bytes,
        private: fields.private.and_then(Value::as_integer).unwrap_or(0) != 0,
        layered: v2.map(|(_, layered)| layered).unwrap_or_default(),
    })
}

/// Whether `meta version` makes the torrent v2. A positive version requires the canonical form.
fn check_meta_version(fields: &InfoFields<'_>, info_bytes: &[u8]) -> Result<bool, MetainfoError> {
    // libtorrent truncates the number to 32 bits; a torrent that it accepts as v2 must be accepted here.
    #[allow(clippy::cast_possible_truncation)]
    let version = fields.meta_version.and_then(Value::as_integer).unwrap_or(-1) as i32;
    if version <= 0 {
        return Ok(false);
    }
    if !bencode::is_canonical(info_bytes) {
        return Err(MetainfoError::NotCanonical);
    }
    match version {
        1 => Ok(false),
        2 => Ok(true),
        _ => Err(MetainfoError::MetaVersion),
    }
}

/// The layout that the pieces cover, after the two lists of a hybrid were compared.
fn agree<'l>(v1: Option<&'l Layout>, v2: Option<&'l Layout>, piece_bytes: u64) -> Result<&'l Layout, MetainfoError> {
    match (v1, v2) {
        (None, None) => Err(MetainfoError::NoFiles),
        (Some(only), None) | (None, Some(only)) if only.entries == 0 => Err(MetainfoError::NoFiles),
        (Some(only), None) | (None, Some(only)) => Ok(only),
        (Some(_), Some(v2)) if v2.entries == 0 => Err(MetainfoError::NoFiles),
        // With an empty `files` list, only the tree of a hybrid counts.
        (Some(v1), Some(v2)) if v1.entries == 0 => Ok(v2),
        (Some(v1), Some(v2)) if v1.agrees_with(v2, piece_bytes) => Ok(v1),
        (Some(_), Some(_)) => Err(MetainfoError::HybridMismatch),
    }
}

fn check_pieces(
    pieces: Option<Value<'_>>,
    total_bytes: u64,
    piece_bytes: u64,
    is_v2: bool,
) -> Result<(), MetainfoError> {
    if total_bytes == 0 {
        return Err(MetainfoError::Length);
    }
    let count = total_bytes.div_ceil(piece_bytes);
    if count > TORRENT_PIECES_MAX {
        return Err(MetainfoError::TooManyPieces);
    }
    match pieces.and_then(Value::as_string) {
        Some(hashes) if hashes.len() as u64 == count * 20 => Ok(()),
        None if is_v2 => Ok(()),
        _ => Err(MetainfoError::Pieces),
    }
}

/// BEP 52 `piece layers`: every entry is well-formed and, if it belongs to a file, matches that file's size. A layer
/// may be missing: a client gets it from its peers.
fn check_piece_layers(layers: bencode::Dict<'_>, layered: &[LayeredFile<'_>]) -> Result<(), MetainfoError> {
    let mut lengths = std::collections::HashMap::new();
    for (root, layer) in layers.entries() {
        let layer = layer.as_string().filter(|layer| layer.len() % 32 == 0 && root.len() == 32);
        lengths.entry(root).or_insert(layer.ok_or(MetainfoError::PieceLayers)?.len() as u64);
    }
    let fits = |file: &LayeredFile<'_>| lengths.get(file.root).is_none_or(|length| *length == file.pieces * 32);
    if layered.iter().all(fits) { Ok(()) } else { Err(MetainfoError::PieceLayers) }
}

fn decode_name(name: &[u8], encoding: Option<&str>) -> String {
    if let Ok(name) = std::str::from_utf8(name) {
        return name.to_owned();
    }
    match encoding.and_then(|label| encoding_rs::Encoding::for_label(label.as_bytes())) {
        Some(encoding) => encoding.decode_without_bom_handling(name).0.into_owned(),
        None => String::from_utf8_lossy(name).into_owned(),
    }
}

/// Decodes a value beside `info` with serde_bencode on the scanner's span. The scanner has checked its depth, which
/// bounds the recursion of a typed decoder. A value of another type counts as absent.
fn typed<T: DeserializeOwned>(body: &[u8], spans: &DictSpans, key: &[u8]) -> Option<T> {
    serde_bencode::from_bytes(&body[spans.find(body, key)?]).ok()
}
