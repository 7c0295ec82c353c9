//! Metainfo files of the demo site: v1 (BEP 3), v2 (BEP 52) and hybrid, built from a number.
//!
//! The infohashes are computed here, over the `info` bytes as written, by this file's own bencode writer: the
//! site's truth is independent of the crawler's parser. No payload exists; piece hashes are random bytes, v2
//! roots and layers are consistent.

use sha1::{Digest as _, Sha1};
use sha2::Sha256;

use super::random::Random;
use gleaner_torrent::Infohashes;

/// Bytes of a leaf block of a v2 merkle tree (BEP 52).
const BLOCK_BYTES: u64 = 16 << 10;

/// Which metainfo version a torrent has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Version {
    V1,
    V2,
    Hybrid,
}

/// The first key of a metainfo file's dictionary. Keys are sorted (BEP 3), so it determines which ones are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum FirstKey {
    Announce,
    AnnounceList,
    CreatedBy,
    Info,
}

/// Input for generating a torrent; its bytes are generated again for each request and are always the same.
#[derive(Clone, Debug)]
pub(super) struct Blueprint {
    pub seed: u64,
    pub name: String,
    pub version: Version,
    /// One file named like the torrent, or a folder of files.
    pub single_file: bool,
}

/// One payload file, as the metainfo file and the detail page list it.
pub(super) struct PayloadFile {
    pub path: Vec<String>,
    pub bytes: u64,
}

/// Payload of a torrent, without hashes: cheap enough for each row of an index page.
pub(super) struct Payload {
    pub piece_bytes: u64,
    pub files: Vec<PayloadFile>,
}

impl Payload {
    pub(super) fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.bytes).sum()
    }
}

/// The `info` value and, for v2, the layers outside of it.
struct Info {
    bytes: Vec<u8>,
    /// Root and hashes, sorted by root as bencode requires.
    layers: Vec<([u8; 32], Vec<u8>)>,
}

/// Everything around the `info` value: sites rewrite it at will, the infohash stays.
pub(super) struct Wrapping<'a> {
    pub first_key: FirstKey,
    pub origin: &'a str,
    pub listing: u32,
    pub created: i64,
}

impl Blueprint {
    /// Files and piece length. A metainfo file of 20 to 400 pieces has 1 to 13 kB, as most have.
    pub(super) fn payload(&self) -> Payload {
        let mut random = Random::new(self.seed);
        let piece_bytes = 1 << random.between(18, 22);
        let pieces = random.between(20, 120) + if random.below(8) == 0 { random.below(280) } else { 0 };
        if self.single_file {
            let bytes = piece_bytes * pieces - random.below(piece_bytes);
            return Payload { piece_bytes, files: vec![PayloadFile { path: vec![self.name.clone()], bytes }] };
        }
        let count = random.between(2, 24);
        let nested = self.version == Version::V1 && random.below(2) == 0;
        let ending = *random.pick(&["flac", "ogg", "webm", "epub", "iso", "mp3", "tar.xz"]);
        let files = (1..=count)
            .map(|number| {
                let name = format!("{number:02} - {}.{ending}", random.pick(PARTS));
                let path = if nested { vec![format!("Disc {}", 1 + number / 13), name] } else { vec![name] };
                let share = (pieces * piece_bytes / count).max(2);
                PayloadFile { path, bytes: share / 2 + random.below(share) + 1 }
            })
            .collect();
        Payload { piece_bytes, files }
    }

    /// The infohashes of the torrent: SHA-1 and SHA-256 of the `info` value, by version.
    pub(super) fn infohashes(&self) -> Infohashes {
        let info = self.info().bytes;
        let v1 = || Some(Sha1::digest(&info).into());
        let v2 = || Some(Sha256::digest(&info).into());
        match self.version {
            Version::V1 => Infohashes { v1: v1(), v2: None },
            Version::V2 => Infohashes { v1: None, v2: v2() },
            Version::Hybrid => Infohashes { v1: v1(), v2: v2() },
        }
    }

    /// The complete metainfo file, keys sorted.
    pub(super) fn metainfo(&self, wrapping: &Wrapping<'_>) -> Vec<u8> {
        let info = self.info();
        let mut out = Vec::with_capacity(info.bytes.len() + 1_024);
        let tracker = format!("{}/announce", wrapping.origin);
        out.push(b'd');
        if wrapping.first_key == FirstKey::Announce {
            put(&mut out, "announce");
            put(&mut out, &tracker);
        }
        if matches!(wrapping.first_key, FirstKey::Announce | FirstKey::AnnounceList) {
            put(&mut out, "announce-list");
            out.extend_from_slice(b"ll");
            put(&mut out, &tracker);
            out.extend_from_slice(b"el");
            put(&mut out, "udp://tracker.example.org:6969/announce");
            out.extend_from_slice(b"ee");
            put(&mut out, "comment");
            put(&mut out, &format!("{}/details/{}", wrapping.origin, wrapping.listing));
        }
        if wrapping.first_key != FirstKey::Info {
            put(&mut out, "created by");
            put(&mut out, "demo/1.4");
            put(&mut out, "creation date");
            put_number(&mut out, wrapping.created.unsigned_abs());
        }
        put(&mut out, "info");
        out.extend_from_slice(&info.bytes);
        if self.version != Version::V1 {
            put(&mut out, "piece layers");
            out.push(b'd');
            for (root, hashes) in &info.layers {
                put_bytes(&mut out, root);
                put_bytes(&mut out, hashes);
            }
            out.push(b'e');
        }
        if wrapping.first_key == FirstKey::Info {
            put(&mut out, "url-list");
            put(&mut out, "http://mirror.example.org/pub/");
        }
        out.push(b'e');
        out
    }

    fn info(&self) -> Info {
        let payload = self.payload();
        // A separate stream from the payload's: sizes must not depend on how many hashes were drawn.
        let mut random = Random::new(self.seed ^ 0x5eed_4a5e);
        let mut out = Vec::with_capacity(8 << 10);
        let mut layers = Vec::new();
        out.push(b'd');
        if self.version != Version::V1 {
            self.put_file_tree(&mut out, &payload, &mut layers, &mut random);
        }
        if self.version != Version::V2 {
            self.put_v1_files(&mut out, &payload);
        }
        if self.version != Version::V1 {
            put(&mut out, "meta version");
            put_number(&mut out, 2);
        }
        put(&mut out, "name");
        put(&mut out, &self.name);
        put(&mut out, "piece length");
        put_number(&mut out, payload.piece_bytes);
        if self.version != Version::V2 {
            put(&mut out, "pieces");
            let pieces: u64 = match self.version {
                Version::V1 => payload.total_bytes().div_ceil(payload.piece_bytes),
                _ => payload.files.iter().map(|file| file.bytes.div_ceil(payload.piece_bytes)).sum(),
            };
            // At most a few hundred pieces: see `payload`.
            put_bytes(&mut out, &random.bytes(pieces as usize * 20));
        }
        out.push(b'e');
        layers.sort_unstable();
        Info { bytes: out, layers }
    }

    /// `file tree` of BEP 52: names in order, each file with its length and the root of its merkle tree.
    fn put_file_tree(
        &self,
        out: &mut Vec<u8>,
        payload: &Payload,
        layers: &mut Vec<([u8; 32], Vec<u8>)>,
        random: &mut Random,
    ) {
        put(out, "file tree");
        out.push(b'd');
        for file in &payload.files {
            let pieces = file.bytes.div_ceil(payload.piece_bytes) as usize;
            let hashes = random.bytes(pieces.max(1) * 32);
            let root = merkle_root(&hashes, payload.piece_bytes);
            if pieces > 1 {
                layers.push((root, hashes));
            }
            // Only v1 torrents have nested folders here: the path of a v2 file is its name.
            put(out, &file.path.join("/"));
            out.extend_from_slice(b"d0:d6:length");
            put_number(out, file.bytes);
            put(out, "pieces root");
            put_bytes(out, &root);
            out.extend_from_slice(b"ee");
        }
        out.push(b'e');
    }

    /// `files` or `length` of BEP 3; in a hybrid, padding brings each file to a piece boundary (BEP 47, BEP 52).
    fn put_v1_files(&self, out: &mut Vec<u8>, payload: &Payload) {
        if self.single_file {
            put(out, "length");
            put_number(out, payload.total_bytes());
            return;
        }
        put(out, "files");
        out.push(b'l');
        for (index, file) in payload.files.iter().enumerate() {
            out.extend_from_slice(b"d6:length");
            put_number(out, file.bytes);
            out.extend_from_slice(b"4:pathl");
            for part in &file.path {
                put(out, part);
            }
            out.extend_from_slice(b"ee");
            let over = file.bytes % payload.piece_bytes;
            if self.version == Version::Hybrid && over != 0 && index + 1 < payload.files.len() {
                let padding = payload.piece_bytes - over;
                out.extend_from_slice(b"d4:attr1:p6:length");
                put_number(out, padding);
                out.extend_from_slice(b"4:pathl4:.pad");
                put(out, &padding.to_string());
                out.extend_from_slice(b"ee");
            }
        }
        out.push(b'e');
    }
}

/// Words for the names of files in a folder.
const PARTS: &[&str] = &[
    "Introduction",
    "The harbour at night",
    "Second movement",
    "Chapter & verse",
    "Первая часть",
    "第一章",
    "はじめに",
    "Release notes",
    "Field recording",
    "Encore",
    "Étude no. 5",
    "Appendix",
];

/// Root of the merkle tree over piece hashes of 32 bytes each, padded with the root of a tree of zero blocks.
fn merkle_root(hashes: &[u8], piece_bytes: u64) -> [u8; 32] {
    let pair = |left: &[u8; 32], right: &[u8; 32]| -> [u8; 32] {
        Sha256::new().chain_update(left).chain_update(right).finalize().into()
    };
    let mut padding = [0_u8; 32];
    let mut blocks = piece_bytes / BLOCK_BYTES;
    while blocks > 1 {
        padding = pair(&padding, &padding);
        blocks /= 2;
    }
    let mut level: Vec<[u8; 32]> = hashes
        .chunks_exact(32)
        .map(|chunk| {
            let mut hash = [0; 32];
            hash.copy_from_slice(chunk);
            hash
        })
        .collect();
    level.resize(level.len().next_power_of_two(), padding);
    while level.len() > 1 {
        level = level.chunks_exact(2).map(|two| pair(&two[0], &two[1])).collect();
    }
    level.first().copied().unwrap_or(padding)
}

fn put(out: &mut Vec<u8>, text: &str) {
    put_bytes(out, text.as_bytes());
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    out.extend_from_slice(bytes.len().to_string().as_bytes());
    out.push(b':');
    out.extend_from_slice(bytes);
}

fn put_number(out: &mut Vec<u8>, number: u64) {
    out.push(b'i');
    out.extend_from_slice(number.to_string().as_bytes());
    out.push(b'e');
}

#[cfg(test)]
mod tests;
