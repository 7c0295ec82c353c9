//! Every cap of this room, with its unit and its reason. A queue, body, depth, loop or retry without a cap here is a bug.

pub use gleaner_base::limits::{NOTE_BYTES_MAX, URL_BYTES_MAX};
pub use gleaner_page::limits::LINKS_PER_PAGE_MAX;
pub use gleaner_torrent::limits::TORRENT_BYTES_MAX;

/// Source URLs stored per torrent: sites that generate a new URL for each view would fill the disk.
pub const SOURCES_PER_TORRENT_MAX: usize = 64;

/// Consecutive pages of a list with the same rows after which the list is over: fewer may come from a server in trouble,
/// more would be wasted requests in each list of a site that continues after the last page.
pub const LIST_REPEATS: usize = 20;

/// Targets stored beyond the first visit of one index page: the row of a front page visited for years would grow
/// without end. 64 Ki hashes are 512 kB; `ListingRow::updated` and `earlier` stop growing there.
pub const LISTING_UPDATES_MAX: usize = 65_536;

/// Changes of torrents that the database remembers for an index that follows them: one that is further behind reads all torrents. 40
/// bytes each.
pub const CHANGES_MAX: u64 = 100_000;

/// Bytes of a site's word for what a torrent is: numbers, slugs, short names.
pub const LABEL_BYTES_MAX: usize = 64;

/// Labels that one import may bring: an invented manifest does not use up the numbers of all.
pub const IMPORT_LABELS_MAX: usize = 5_000;

/// Labels of one site: forums have hundreds of boards; a rule that takes each torrent's own number for its label would name millions.
pub const LABELS_PER_SITE_MAX: usize = 2_000;

/// Torrents whose times are written at once when a database of an earlier schema is opened: 60 bytes each.
pub const TIMES_AT_ONCE_MAX: usize = 200_000;

/// Rows that an export or a verification reads from the database at a time. 128 rows of 64 sources with the
/// longest URLs are 67 MB; typical rows are 1 kB.
pub const EXPORT_ROWS_MAX: usize = 128;

/// Bytes of one exported file name: the limit of Linux; Windows allows 255 UTF-16 units, which are never more.
pub const FILE_NAME_BYTES_MAX: usize = 255;

/// Bytes of a file name that an export leaves to clients, which append `.added`, `.imported` or `.invalid` to what they have taken.
pub const CLIENT_SUFFIX_BYTES: usize = 16;

/// Faulty torrents that a report lists by name; the count beside the list is exact.
pub const FINDINGS_LISTED_MAX: usize = 100;

/// Listings that the coverage reads from the database at a time: with the largest pages (10⁵ entries, and their earlier ones) 70 MB.
pub const COVERAGE_ROWS_MAX: usize = 32;

/// URLs that the coverage reads from the database at a time: 40 bytes each; with the longest paths, of which it needs few, 34 MB.
pub const COVERAGE_URLS_MAX: usize = 8_192;

/// Listed links of the sites whose torrents are read together: all torrents are read once for so many links, and 4 Mi take 40 MB. A
/// single site may exceed it.
pub const COVERAGE_LINKS_AT_ONCE_MAX: usize = 4 << 20;

/// Listed links that are collected before repeated ones are dropped: 8 MB.
pub const COVERAGE_LINKS_SORTED_MIN: usize = 1 << 20;

/// Points of a site's coverage over time; beyond, each stands for twice the time.
pub const COVERAGE_BINS_MAX: usize = 512;

/// Series of index pages that the coverage lists one by one; the others are summed up.
pub const COVERAGE_SERIES_LISTED_MAX: usize = 20;

/// Bytes of a previous manifest's line that are read: 64 sources with the longest URLs are 0.5 MB; a longer line has
/// been made by somebody else or has an absurd name; its file is then not removed as stale.
pub const MANIFEST_LINE_BYTES_MAX: u64 = 4 << 20;

/// Bytes of the memo that a visit leaves for the next visit of its URL: an entity tag and a date are 100 bytes, the
/// longest tags seen 500; 10⁶ URLs with the longest would be 2 GB.
pub const MEMO_BYTES_MAX: usize = 2 << 10;

/// Pages per site that were not read whole and are stored with the reason; those beyond are only counted. Each is 4 KiB at most, and
/// all of them are sent in one response.
pub const NOT_WHOLE_PAGES_MAX: usize = 1_000;

/// Bytes of the stored reason: one sentence.
pub const NOT_WHOLE_REASON_BYTES_MAX: usize = 300;

/// Pages that were not read whole which the coverage prints one by one.
pub const NOT_WHOLE_SHOWN_MAX: usize = 5;

/// Rows that one transaction moves from `later` to `queue`.
pub const PROMOTED_ROWS_MAX: usize = 8_192;

/// Rows that one transaction moves from `parked` to `queue`.
pub const UNPARKED_ROWS_MAX: usize = 50_000;

/// Bytes of the rows, paths included, that one transaction moves from `later` or `parked` to `queue`; a single row may
/// exceed it. Each path is held and written several times: 50,000 of the longest took 600 MB.
pub const MOVED_BYTES_MAX: usize = 4 << 20;

/// A new file is never longer than this.
pub const NEW_FILE_BYTES_MAX: u64 = 16 << 20;

/// Changes held in memory for a database that must not be written, in bytes: opening one changes a few pages, a repair after a
/// crash some more.
pub const UNWRITTEN_BYTES_MAX: u64 = 64 << 20;

/// URLs that one step of a merge moves: one commit of some milliseconds; visits are committed in between.
pub const MERGED_URLS_MAX: usize = 1_000;

/// Rows of a Parquet list that are held until they are written together, column by column.
pub const TABLE_ROWS_MAX: usize = 20_000;

/// Bytes that their values take: a torrent of 100,000 files has 16 MB.
pub const TABLE_BYTES_MAX: usize = 32 << 20;

/// Torrents and magnets of an import that are committed together: some syncs for all of them. Each changes some pages of the database, which
/// are in memory until then: 4,096 of them took 80 MB.
pub const IMPORT_ROWS_MAX: usize = 2_048;

/// Bytes of their files. Three such batches are in memory: one is read, one waits, one is written.
pub const IMPORT_BATCH_BYTES_MAX: usize = 4 << 20;

/// Places of one reason that an import names.
pub const IMPORT_PLACES_LISTED_MAX: usize = 5;

/// Lines of a manifest that are remembered, 40 bytes each: those beyond count as broken.
pub const IMPORT_LINES_MAX: usize = 4_000_000;

/// Folders within folders that an import goes into; each is open meanwhile.
pub const IMPORT_DEPTH_MAX: usize = 64;

/// Bytes by which what comes out of an archive may exceed what went in, and how many times as much may come out beyond that. Torrents shrink to
/// a third at best, tar archives of small ones to a fifteenth, manifests to a tenth.
pub const IMPORT_GROWTH_SPARE_BYTES: u64 = 64 << 20;
pub const IMPORT_GROWTH_MAX: u64 = 100;

/// Bytes of a member's name in a tar archive, and of its extended header.
pub const IMPORT_NAME_BYTES_MAX: usize = 64 << 10;
pub const IMPORT_PAX_BYTES_MAX: usize = 1 << 20;

/// Bytes of a line of a list of magnet links.
pub const IMPORT_LINE_BYTES_MAX: usize = 64 << 10;

/// Origins that an import assigns numbers to: a manifest of many sites has some hundred.
pub const IMPORT_ORIGINS_MAX: usize = 10_000;

/// Bytes of the name of a site in a manifest: that of a rule file.
pub const IMPORT_SITE_BYTES_MAX: usize = 200;

/// Lists of one site whose stated sizes are kept: 100 bytes each. Of more, those with the largest sizes.
pub const STATED_LISTS_MAX: usize = 256;

/// Bytes of the address of such a list.
pub const STATED_SERIES_BYTES_MAX: usize = 1_024;

/// Shapes of URLs with numbers that are told apart while the URLs of a site are read: those with the fewest numbers are dropped.
pub const ID_SHAPES_MAX: usize = 64;

/// Numbers that are held while the URLs of a site are read, 8 bytes each; of a site with more, no gaps are told.
pub const IDS_MAX: usize = 8 << 20;

/// Shapes of a site's numbers that the coverage lists.
pub const ID_SHAPES_LISTED_MAX: usize = 8;

/// Shapes of a site of which samples are kept.
pub const SAMPLED_SHAPES_MAX: usize = 16;

/// Numbers of a shape that were asked for in vain and are not asked for again: 10 bytes each in the note. Beyond, the oldest may be.
pub const SAMPLED_VACANT_MAX: usize = 20_000;

/// Rows of a table that a copy of the database commits at once.
pub const COPIED_ROWS_MAX: usize = 8_192;

/// Bytes of these rows; a single one may exceed it. Two such parts wait, and one is written.
pub const COPIED_BYTES_MAX: usize = 4 << 20;

/// How long a copy of the databases waits for a disk that takes nothing: a sync of all that a machine holds in memory takes minutes.
pub const BACKUP_STALL_TIME_MAX: std::time::Duration = std::time::Duration::from_secs(900);

/// Bytes by which the crawl's file may grow meanwhile, beside its own size: that of a new crawl grows by steps.
pub const BACKUP_GROWTH_SPARE_BYTES: u64 = 256 << 20;

/// Bytes of a file of a backup beside databases and torrents (rule files, sessions, what was handed over), ...
pub const BACKUP_FILE_BYTES_MAX: u64 = 256 << 20;

/// ... how many of them, ...
pub const BACKUP_FILES_MAX: usize = 100_000;

/// ... and folders within folders.
pub const BACKUP_DEPTH_MAX: usize = 8;

/// Bytes of the manifest of a backup: 200 a file, and 67 for each torrent whose file was lost.
pub const BACKUP_MANIFEST_BYTES_MAX: u64 = 256 << 20;

/// Torrents that a restore gives their names together: two syncs for all of them.
pub const RESTORED_AT_ONCE_MAX: usize = 256;

/// Bytes of their files.
pub const RESTORED_BYTES_MAX: usize = 16 << 20;
