//! The crawl database: what is known, what is due, what was harvested.
//!
//! The contract, held by one suite for every implementation (`tests/store/crawldb_contract.rs`):
//!
//! - **One call, one durable commit.** When `add_discovered`, `record_visits` or `put_notes` returns, everything it was
//!   given is on the disk, or nothing of it is and an error is returned. Callers batch. Where only the disk's last
//!   answer was lost, all of it may be there in spite of the error: visits recorded again then get the receipts
//!   that they would have had, and change nothing more, so that a caller tries again and need not know.
//! - **Insert if absent.** A URL that is known is never queued a second time by discovery.
//! - **A parked URL waits for other rules.** It is neither leased nor counted as queued, and discovery leaves it
//!   parked, until `unpark` is called with another token or `make_due` queues it.
//! - **Leases have an owner and a deadline.** A URL leased is not leased again before its deadline passed, its
//!   visit was recorded or its owner let go. A process that died owns nothing: its leases end at the next open.
//! - **Idempotent.** Recording the same visit twice (same URL, same time, same outcome) changes nothing more but
//!   ends a lease of its URL; the receipt of the second tells the outcome only.
//! - **The database has the last word on duplicates.** A visit that brings a torrent is counted as
//!   `TorrentStored` or `TorrentDuplicate` by what the database knew, whichever of the two the caller named; one
//!   with the body of a page as `Page`, or as `PageDuplicate` where another URL of the host owns the body. The
//!   outlinks of a duplicate are taken all the same.
//! - **A batch of visits is settled before its outlinks**, so that a URL visited in it is not queued by it.
//! - **A memo goes from visit to visit.** The memo of a URL's last visit comes with its next lease, whatever queued the
//!   URL again; a visit without one clears it, unless it ended in `NotModified`. A torrent that is forgotten takes
//!   the memos of its sources with it, so that they are fetched and not asked whether they changed.
//! - **What was not read whole is remembered.** A page whose visit says so ([`Visit::not_whole`]) is counted, and listed with the reason as
//!   long as its site has no more than `limits::NOT_WHOLE_PAGES_MAX` listed, until a visit reads it whole or finds no page there. A visit
//!   that could not look changes nothing of that.
//! - **Bad input changes nothing.** URLs and magnet links over `limits::URL_BYTES_MAX` and facts without any
//!   infohash are passed over, memos over `limits::MEMO_BYTES_MAX` count as none; a host number never given out
//!   refuses the batch.
//! - **No iterator and no transaction crosses this interface**, so that a remote engine fits behind it: listings
//!   are pages, continued from the last key.
//!
//! The database knows no HTTP, no rules and no clock: `now` is an argument.

pub mod memory_store;
mod merge;
pub mod record;
pub mod redb_store;
pub mod update;

use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

pub use record::*;

use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// What can go wrong in a crawl database.
#[derive(Debug, thiserror::Error)]
pub enum CrawlDbError {
    #[error(
        "{path}: another gleaner process holds the database\nhint: `gleaner status` asks it what it does; stop it first, or pass another --data",
        path = path.display()
    )]
    Held { path: PathBuf },
    #[error("{path}: the database has schema {found}, this gleaner knows up to {known}", path = path.display())]
    NewerSchema { path: PathBuf, found: u64, known: u64 },
    #[error("{path}: the database is damaged: {detail}{hint}", path = path.display(), hint = hint_of_damage(path))]
    Corrupt { path: PathBuf, detail: String },
    #[error("{path}: {detail}{hint}", path = path.display(), hint = hint(*full))]
    Storage { path: PathBuf, detail: String, full: bool },
    /// A host number that [`CrawlDb::host_id`] never gave out; nothing of the batch was written.
    #[error("host number {number} was never given out by this database", number = host.0)]
    UnknownHost { host: HostId },
    /// A note over `limits::NOTE_BYTES_MAX`; the former one stays.
    #[error("the note `{name}` of {site} has {bytes} bytes, more than the {max} that are kept", max = limits::NOTE_BYTES_MAX)]
    NoteTooLong { site: Box<str>, name: Box<str>, bytes: usize },
}

/// Fails for notes of which one is too long to keep.
fn check_notes(site: &str, notes: &[(String, Vec<u8>)]) -> Result<(), CrawlDbError> {
    notes.iter().find(|(_, note)| note.len() > limits::NOTE_BYTES_MAX).map_or(Ok(()), |(name, note)| {
        Err(CrawlDbError::NoteTooLong { site: site.into(), name: name.as_str().into(), bytes: note.len() })
    })
}

/// The name of the file of the update crawldb; where it is lost, lists are read whole again to find what it held.
pub const UPDATE_FILE: &str = "update.redb";

fn hint_of_damage(path: &std::path::Path) -> &'static str {
    if path.file_name().is_some_and(|name| name == UPDATE_FILE) {
        return "\nhint: it holds links that lists show again: `gleaner crawl`, `gleaner run` and `gleaner verify --repair` put it aside \
            and begin it anew";
    }
    "\nhint: put a copy of it back; without one, move it away and crawl again: the archive's files stay, and `gleaner verify --repair` \
     takes them into the new database"
}

fn hint(full: bool) -> &'static str {
    if full { "\nhint: make room on the disk, then run the command again; nothing that was stored is lost" } else { "" }
}

/// Who holds a lease: unique per process and crew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Owner(pub u64);

/// A request for work.
#[derive(Clone, Copy, Debug)]
pub struct LeaseRequest {
    pub host: HostId,
    pub owner: Owner,
    pub now: UnixMillis,
    pub deadline: UnixMillis,
    pub urls_max: usize,
    /// No URL of a higher rank.
    pub rank_max: u8,
}

/// When a host's next URL is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDue {
    /// At least one URL can be leased now.
    Now,
    /// Nothing can be leased before this time.
    At(UnixMillis),
    /// Everything queued is leased; more may come from running visits.
    Leased,
    /// Nothing is queued: this host's history is exhausted.
    Exhausted,
}

/// What can be read of a crawl by whoever hands it on: the database itself, or a process that holds it and answers
/// over a socket.
#[async_trait]
pub trait Reader: Send + Sync + 'static {
    /// All hosts, in the order of their numbers.
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError>;

    /// Counts of one site.
    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError>;

    /// Stored torrents in the order of their archive keys (bytes), from the one behind `after`.
    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError>;

    /// Magnets in the order of their keys (bytes), from the one behind `after`.
    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError>;

    /// Listings of one site in the order of (host, series, page), from the one behind `after`.
    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError>;

    /// Pages of one site that were not read whole, in the order of (host, path): all that are listed, at most
    /// `limits::NOT_WHOLE_PAGES_MAX`. How many there are is [`SiteCounts::pages_not_whole`].
    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError>;

    /// What [`CrawlDb::put_notes`] kept last under this name of a site.
    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError>;
}

/// The crawl database's interface. See the module for the contract.
#[async_trait]
pub trait CrawlDb: Reader {
    /// The number of (site, origin), given out at first use and kept for ever.
    async fn host_id(&self, site: &str, origin: &str) -> Result<HostId, CrawlDbError>;

    /// Inserts the URLs that are absent; returns how many were.
    async fn add_discovered(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<u64, CrawlDbError>;

    /// Makes a known URL due at `due` again (attempts start at zero; a parked URL is no longer parked), or inserts
    /// it. Does nothing while the URL is already queued for that time or earlier.
    async fn make_due(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<(), CrawlDbError>;

    /// Queues the host's URLs that are parked under another token of the same kind (below [`TRAP_TOKENS`], below
    /// [`ROBOTS_TOKENS`] or not) than `token`, due at `now` and with no attempts, in the order of (token, path); returns how many. What is parked under `token` costs nothing. Many URLs are
    /// several commits: one that fails leaves the rest parked for the next call.
    async fn unpark(&self, host: HostId, token: u64, now: UnixMillis) -> Result<u64, CrawlDbError>;

    /// Makes everything of the host due at once that waits for a later time, for a clock that was set back: times that
    /// it had planned may be as far away as it was ahead. Survives a crash from the next durable commit on.
    async fn bring_forward(&self, host: HostId) -> Result<(), CrawlDbError>;

    /// Up to `urls_max` URLs of one host that are due and have a rank up to `rank_max`: by rank, then in the order in which they were queued (a
    /// URL queued again by a retry or a revisit stands behind those queued before it). That the host is blocked
    /// is the caller's to know.
    async fn lease_due(&self, request: LeaseRequest) -> Result<Vec<Lease>, CrawlDbError>;

    /// When the host's next URL is due. `At` counts the end of the earliest running lease as well.
    async fn host_due(&self, host: HostId, now: UnixMillis) -> Result<HostDue, CrawlDbError>;

    /// Gives leases back unvisited.
    async fn release(&self, owner: Owner, keys: Vec<UrlKey>) -> Result<(), CrawlDbError>;

    /// Commits visits: status, outlinks, torrents with sources, magnets, listings, counts, next due time. The
    /// receipts stand in the order of the visits. The batch is shared, so that a caller can try it again.
    async fn record_visits(&self, visits: Arc<Vec<Visit>>) -> Result<Vec<Receipt>, CrawlDbError>;

    /// For each, the archive key of a torrent already stored under either hash.
    async fn known_torrents(&self, infohashes: Vec<Infohashes>) -> Result<Vec<Option<Infohashes>>, CrawlDbError>;

    /// No request to the host before `until`, with the reason that `status` shows and the pauses in a row that it has
    /// now had without a good answer; kept over restarts.
    async fn block_host_until(
        &self,
        host: HostId,
        until: UnixMillis,
        reason: &str,
        complaints: u32,
    ) -> Result<(), CrawlDbError>;

    /// The host answered well: it has neither complaints nor a pause any more; the last reason stays. Costs nothing where
    /// it has none, so that every good answer may call it.
    async fn forgive_host(&self, host: HostId) -> Result<(), CrawlDbError>;

    /// Keeps records that only the crawl reads (statistics of URL shapes, a day's budget) under names of a site, each in
    /// place of the one before; an empty one takes it away. Each has at most `limits::NOTE_BYTES_MAX` bytes, or all are
    /// refused with `NoteTooLong`.
    async fn put_notes(&self, site: &str, notes: Vec<(String, Vec<u8>)>) -> Result<(), CrawlDbError>;

    /// [`Self::put_notes`] for one.
    async fn put_note(&self, site: &str, name: &str, note: Vec<u8>) -> Result<(), CrawlDbError> {
        self.put_notes(site, vec![(name.to_owned(), note)]).await
    }

    /// Adds to the time during which a site was being crawled, in milliseconds.
    async fn add_crawl_time(&self, site: &str, crawl_ms: u64) -> Result<(), CrawlDbError>;

    /// What is known of one URL.
    async fn url_record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError>;

    /// What is known of each of many URLs: their records in the order of the keys.
    async fn url_records(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UrlRecord>>, CrawlDbError>;

    /// URLs of one host waiting to be fetched, leased ones included: first those due at once and those that a
    /// lease found due, in the order of leasing, then the others by their time; for `crawl --dry-run`, `status`.
    async fn queued(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError>;

    /// The same of those alone that wait for a later time.
    async fn planned(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError>;

    /// Takes a torrent whose file is lost out of the database, so that its sources are fetched again; used by
    /// `verify --repair`. Its sources' URLs become due at `now`.
    async fn forget_torrent(&self, infohashes: Infohashes, now: UnixMillis) -> Result<(), CrawlDbError>;

    /// Puts a torrent whose file is in the archive but not in the database (an orphan) into the database.
    async fn adopt_torrent(&self, facts: TorrentFacts, now: UnixMillis) -> Result<(), CrawlDbError>;
}
