//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry whose cap is not here has none,
//! and that is a fault.

pub use gleaner_base::limits::{NOTE_BYTES_MAX, URL_BYTES_MAX};
pub use gleaner_page::limits::LINKS_PER_PAGE_MAX;
pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Source URLs kept for one torrent: sites that make a new URL for each view would fill the disk.
pub const SOURCES_PER_TORRENT_MAX: usize = 64;

/// Pages of a list read one behind the other that show the same rows, by which the list is over: fewer may be an answer of a server in
/// trouble, and more are as many requests for nothing in each list of a site that goes on behind the last page.
pub const LIST_REPEATS: usize = 20;

/// Targets kept beyond the first look at one index page: a front page looked at for years would grow its row
/// without end. 64 Ki hashes are 512 kB; `ListingRow::updated` and `earlier` stop growing there.
pub const LISTING_UPDATES_MAX: usize = 65_536;

/// Rows that an export or a verification reads from the database at a time. 128 rows of 64 sources with the
/// longest URLs are 67 MB; usual rows are 1 kB.
pub const EXPORT_ROWS_MAX: usize = 128;

/// Bytes of one exported file name: what Linux allows; Windows counts 255 UTF-16 units, which are never more.
pub const FILE_NAME_BYTES_MAX: usize = 255;

/// Faulty torrents that a report lists by name; the count beside the list is exact.
pub const FINDINGS_LISTED_MAX: usize = 100;

/// Listings that the coverage reads from the database at a time: with the largest pages (10⁵ entries, and what they listed before) 70 MB.
pub const COVERAGE_ROWS_MAX: usize = 32;

/// Series of index pages that the coverage tells one by one; the others are summed up.
pub const COVERAGE_SERIES_LISTED_MAX: usize = 20;

/// Bytes of a former manifest's line that are read: 64 sources with the longest URLs are 0.5 MB, a longer line has
/// been made by somebody else or has an absurd name; its file is then not removed as stale.
pub const MANIFEST_LINE_BYTES_MAX: u64 = 4 << 20;

/// Bytes of the memo that a visit leaves for the next visit of its URL: an entity tag and a date are 100 bytes, the
/// longest tags seen 500; 10⁶ URLs with the longest would be 2 GB.
pub const MEMO_BYTES_MAX: usize = 2 << 10;

/// Pages of a site that were not read whole and are kept with the reason; those beyond are counted. Each is 4 KiB at most, and all of them
/// are told in one answer.
pub const NOT_WHOLE_PAGES_MAX: usize = 1_000;

/// Bytes of the reason that is kept of one: a sentence.
pub const NOT_WHOLE_REASON_BYTES_MAX: usize = 300;

/// Pages that were not read whole which the coverage tells people one by one.
pub const NOT_WHOLE_SHOWN_MAX: usize = 5;

/// Rows that one transaction moves from `later` to `queue`.
pub const PROMOTED_ROWS_MAX: usize = 8_192;

/// Rows that one transaction moves from `parked` to `queue`.
pub const UNPARKED_ROWS_MAX: usize = 50_000;

/// Bytes of the rows, paths included, that one transaction moves from `later` or `parked` to `queue`; one row may pass it
/// alone. Each path is held and written some times over: 50,000 of the longest made 600 MB.
pub const MOVED_BYTES_MAX: usize = 4 << 20;

/// A new file is longer than this at no time.
pub const NEW_FILE_BYTES_MAX: u64 = 16 << 20;

/// Changes to a database that may not be written which are held in memory, in bytes: opening one changes a few pages, a repair behind a
/// crash some more.
pub const UNWRITTEN_BYTES_MAX: u64 = 64 << 20;

/// URLs that one step of a merge moves: one commit of some milliseconds, between which visits are committed.
pub const MERGED_URLS_MAX: usize = 1_000;
