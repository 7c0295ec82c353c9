//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Bytes of a query that are read: the rest names nothing more that helps.
pub const QUERY_BYTES_MAX: usize = 4_096;

/// Words and phrases of a query; each is looked up in two fields.
pub const CLAUSES_MAX: usize = 32;

/// Words of a query, those of phrases included: each is read in two fields of every segment.
pub const WORDS_MAX: usize = 64;

/// Parts of a query that are told to be no filters.
pub const DOUBTS_MAX: usize = 8;

/// Values of one filter.
pub const FILTER_VALUES_MAX: usize = 128;

/// Words that a beginning stands for, in the order of the dictionary, in a segment: alone, and at the end of a phrase, where the places of each
/// are compared.
pub const EXPANSIONS_MAX: u32 = 1 << 16;
pub const EXPANSIONS_OF_PHRASE_MAX: u32 = 256;

/// Bytes of one word in the index; a longer one is cut. Base64 and hashes are longer, and nobody types them.
pub const WORD_BYTES_MAX: usize = 64;

/// Bytes of names and paths of one torrent that are indexed: a torrent of 100,000 files shall not cost seconds.
pub const TEXT_BYTES_MAX: usize = 1 << 20;

/// File extensions of one torrent that are indexed.
pub const EXTENSIONS_MAX: usize = 64;

/// Names by which one tracker's host is known: it, and domains above it.
pub const DOMAINS_MAX: usize = 8;

/// Episodes that one name may stand for: `S01E01-E99`.
pub const EPISODES_MAX: u32 = 200;

/// Hits that one search skips and returns: the heap of the best ones has 16 bytes for each.
pub const HITS_MAX: usize = 200_000;

/// Memory of the index's writer, in bytes.
pub const WRITER_BYTES_MAX: usize = 32 << 20;

/// Changes and torrents that are read from the database at a time.
pub const ROWS_AT_ONCE_MAX: usize = 512;

/// Torrents that are indexed before a commit while the index is made: each commit is a segment, and a sync.
pub const COMMIT_ROWS_MAX: usize = 20_000;

/// Numbers of categories and labels that are counted: a site may have two thousand labels.
pub const CATEGORIES_COUNTED_MAX: u32 = 20_000;

/// Values of another facet that are counted.
pub const FACET_VALUES_MAX: u32 = 1_000;

/// Files of a torrent whose names are searched for words that say what it is: they are alike.
pub const NAMES_READ_MAX: usize = 8;
