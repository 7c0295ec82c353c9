//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a
//! bug.

pub use gleaner_base::limits::URL_BYTES_MAX;

/// Bytes of one metainfo file. libtorrent refuses more than 10 MB by default (`load_torrent_limits`), so that a
/// larger one serves few clients. Pieces of a 4 TB torrent take 5 MB, and 16 MiB name about 150,000 files.
pub const TORRENT_BYTES_MAX: usize = 16 << 20;

/// Nesting of lists and dictionaries in a metainfo file; libtorrent's limit is 100.
pub const BENCODE_DEPTH_MAX: usize = 100;

/// Values in one metainfo file; libtorrent's default limit is 3 million tokens.
pub const BENCODE_TOKENS_MAX: usize = 3_000_000;

/// Keys of a metainfo file's outermost dictionary. Their spans are kept while it is read: 12 bytes each.
pub const DICTIONARY_KEYS_MAX: usize = 65_536;

/// Junk (BOM, blank lines, PHP warnings) allowed before the dictionary of a metainfo file, in bytes.
pub const TORRENT_JUNK_BYTES_MAX: usize = 4_096;

/// Pieces of one torrent; libtorrent's default limit.
pub const TORRENT_PIECES_MAX: u64 = 0x20_0000;

/// Tracker URLs read from one metainfo file or magnet link; the longest public lists have about 100.
pub const TRACKERS_PER_TORRENT_MAX: usize = 128;

/// Bytes of one file's path that are read for people: the limit of Linux.
pub const PATH_BYTES_MAX: usize = 4_096;

/// Bytes of all paths of one torrent that are read for people: as much as the largest metainfo file has.
pub const CONTENTS_BYTES_MAX: usize = TORRENT_BYTES_MAX;

/// Web seeds read from one metainfo file.
pub const WEB_SEEDS_MAX: usize = 128;

/// Bytes of a tracker's URL, a comment or another text of a metainfo file that are read for where it is from.
pub const ORIGIN_TEXT_BYTES_MAX: usize = 2_048;

/// Infohashes of like torrents, and names of collections, that are read of one file.
pub const SIMILAR_MAX: usize = 100;
