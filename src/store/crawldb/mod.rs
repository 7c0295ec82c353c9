//! The crawl database: what is known, what is due, what was harvested.
//!
//! The contract, held by one suite for every implementation (`tests/store/crawldb_contract.rs`):
//!
//! - **One call, one durable commit.** When `add_discovered`, `record_visits` or `put_notes` returns, all of its
//!   input is on disk, or none of it and an error is returned. Callers batch. If only the disk's last acknowledgement was
//!   lost, all of it may be there despite the error: visits recorded again then get their original receipts and change
//!   nothing more, so a caller can simply retry.
//! - **Insert if absent.** Discovery never queues a known URL a second time.
//! - **A parked URL waits for other rules.** It is neither leased nor counted as queued, and discovery leaves it
//!   parked, until `unpark` is called with another token or `make_due` queues it.
//! - **Leases have an owner and a deadline.** A leased URL is not leased again before its deadline has passed, its
//!   visit was recorded or its owner released it. A process that died owns nothing: its leases end at the next open.
//! - **Idempotent.** Recording the same visit twice (same URL, same time, same outcome) only ends a lease of its URL;
//!   the second receipt has only the outcome.
//! - **The database decides about duplicates.** A visit that returns a torrent is counted as `TorrentStored` or
//!   `TorrentDuplicate` by what the database knew, whichever of the two the caller named; one with a page body as
//!   `Page`, or as `PageDuplicate` if another URL of the host owns the body. The outlinks of a duplicate are added
//!   nevertheless.
//! - **A batch of visits is settled before its outlinks**, so that it does not queue a URL visited in it.
//! - **A memo goes from visit to visit.** The memo of a URL's last visit comes with its next lease, whatever queued the
//!   URL again; a visit without one clears it, unless it ended in `NotModified`. Forgetting a torrent deletes the memos
//!   of its sources, so that they are fetched unconditionally.
//! - **Pages that were not read whole are remembered.** A page with [`Visit::not_whole`] is counted, and listed with the
//!   reason as long as its site has no more than `limits::NOT_WHOLE_PAGES_MAX` listed, until a visit reads it whole or
//!   finds no page there. A visit that could not read the page does not change this.
//! - **A label stays with its URL.** What a list says of a URL replaces what was said before, what a page says of itself does not; a
//!   redirect hands its label on. A torrent's source has the label of its URL, else that of the page with its link.
//! - **Bad input changes nothing.** URLs and magnet links over `limits::URL_BYTES_MAX` and facts without an
//!   infohash are skipped, memos over `limits::MEMO_BYTES_MAX` count as none; an unknown host number rejects the
//!   batch.
//! - **No iterator and no transaction crosses this interface**, so that a remote engine can implement it: listings
//!   are pages, continued from the last key.
//!
//! The database knows no HTTP, no rules and no clock: `now` is an argument.

mod labels;
pub mod memory_store;
mod merge;
mod order;
pub mod outcome;
pub mod record;
pub mod redb_store;
pub mod update;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;

pub use order::{LeaseOrder, RankOrder};
pub use outcome::*;
pub use record::*;

use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::place;
use gleaner_torrent::Infohashes;

/// Errors of a crawl database.
#[derive(Debug, thiserror::Error)]
pub enum CrawlDbError {
    #[error(
        "{path}: another gleaner process holds the database{hint}",
        path = path.display(), hint = hint_of_holder(path)
    )]
    Held { path: PathBuf },
    /// The process that held the folder and answered for it has ended: the folder can be opened, or soon will be.
    #[error("{path}: the process that holds the data folder has ended; run the command again", path = path.display())]
    HolderEnded { path: PathBuf },
    #[error(
        "{path}: the database has schema {found}, but this gleaner supports at most {known}\nhint: a newer gleaner wrote it: \
         update this one, or pass another --data",
        path = path.display()
    )]
    NewerSchema { path: PathBuf, found: u64, known: u64 },
    #[error("{path}: the database is damaged: {detail}{hint}", path = path.display(), hint = hint_of_damage(path))]
    Corrupt { path: PathBuf, detail: String },
    #[error("{path}: {detail}{hint}", path = path.display(), hint = hint(*full, detail))]
    Storage { path: PathBuf, detail: String, full: bool },
    /// A host number that [`CrawlDb::host_id`] never returned; nothing of the batch was written.
    #[error("this database never assigned the host number {number}", number = host.0)]
    UnknownHost { host: HostId },
    /// A note over `limits::NOTE_BYTES_MAX`; the previous one stays.
    #[error("the note `{name}` of {site} has {bytes} bytes, more than the limit of {max}", max = limits::NOTE_BYTES_MAX)]
    NoteTooLong { site: Box<str>, name: Box<str>, bytes: usize },
}

/// Fails if one of the notes is too long.
fn check_notes(site: &str, notes: &[(String, Vec<u8>)]) -> Result<(), CrawlDbError> {
    notes.iter().find(|(_, note)| note.len() > limits::NOTE_BYTES_MAX).map_or(Ok(()), |(name, note)| {
        Err(CrawlDbError::NoteTooLong { site: site.into(), name: name.as_str().into(), bytes: note.len() })
    })
}

/// Name of the note that says what a site's rule file means by its labels: `{"all": 4020, "map": {"1_2": 5070}}`.
pub const CATEGORIES_NOTE: &str = "categories";

/// File name of the update crawldb; if the file is lost, lists are read whole again to find its URLs.
pub const UPDATE_FILE: &str = "update.redb";

fn hint_of_holder(path: &std::path::Path) -> &'static str {
    if path.parent().is_some_and(|folder| place::control_socket(folder).1) {
        return ", and cannot be asked: the path of its control socket is too long\nhint: wait for its end, or stop it; a shorter --data \
            lets it be asked";
    }
    "\nhint: `gleaner status` shows what a crawl does; stop it first, or wait for a command that reads, such as `export`; or pass another \
     --data"
}

fn hint_of_damage(path: &std::path::Path) -> &'static str {
    if path.file_name().is_some_and(|name| name == UPDATE_FILE) {
        return "\nhint: it only holds links that lists show again: `gleaner crawl`, `gleaner run` and `gleaner verify --repair` move \
            it aside and start a new one";
    }
    "\nhint: restore a copy of it; without one, move it away and crawl again: the archive's files stay, and `gleaner verify --repair` \
     adds them to the new database"
}

/// The hint of a full disk, unless the error has its own.
fn hint(full: bool, detail: &str) -> &'static str {
    if full && !detail.contains("\nhint: ") {
        return "\nhint: make room on the disk, then run the command again; nothing that was stored is lost";
    }
    ""
}

/// The owner of a lease: unique per process and crew.
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
    /// Only URLs with a rank up to this.
    pub rank_max: u8,
    pub order: LeaseOrder,
}

/// When a host's next URL is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostDue {
    /// At least one URL can be leased now.
    Now,
    /// Nothing can be leased before this time.
    At(UnixMillis),
    /// Everything queued is leased; running visits may add more.
    Leased,
    /// Nothing is queued: this host's history is exhausted.
    Exhausted,
}

/// Read access to a crawl: the database itself, or a process that holds it and answers over a socket.
#[async_trait]
pub trait Reader: Send + Sync + 'static {
    /// All hosts, in the order of their numbers.
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError>;

    /// Counts of one site.
    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError>;

    /// Stored torrents in the order of their archive keys (bytes), starting after `after`.
    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError>;

    /// Stored torrents, the newest first: those stored before `before`, without the first `skip` of them.
    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError>;

    /// The torrents with these infohashes (20 or 32 bytes each, either one of a hybrid), in their order.
    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError>;

    /// Changes of stored torrents, and of magnets, in their order, starting after the one with the number `after`.
    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError>;

    /// The labels of all sites, in the order of their numbers.
    async fn labels(&self) -> Result<SiteLabels, CrawlDbError>;

    /// Magnets in the order of their keys (bytes), starting after `after`.
    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError>;

    /// The magnets with these infohashes (20 or 32 bytes each, either one of a hybrid), in their order.
    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError>;

    /// Listings of one site in the order of (host, series, page), starting after `after`.
    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError>;

    /// What became of the URLs of one site, in the order of (host, path), starting after `after`.
    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError>;

    /// Pages of one site that were not read whole, in the order of (host, path): the listed ones, at most
    /// `limits::NOT_WHOLE_PAGES_MAX`. [`SiteCounts::pages_not_whole`] counts all.
    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError>;

    /// The last note that [`CrawlDb::put_notes`] stored under this name for a site.
    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError>;
}

/// The crawl database's interface. See the module for the contract.
#[async_trait]
pub trait CrawlDb: Reader {
    /// The number of (site, origin), assigned at first use and permanent.
    async fn host_id(&self, site: &str, origin: &str) -> Result<HostId, CrawlDbError>;

    /// Inserts the URLs that are absent; returns how many were.
    async fn add_discovered(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<u64, CrawlDbError>;

    /// Makes a known URL due at `due` again (attempts start at zero; a parked URL is unparked), or inserts
    /// it. Does nothing if the URL is already queued for that time or earlier.
    async fn make_due(&self, batch: Vec<Discovered>, now: UnixMillis) -> Result<(), CrawlDbError>;

    /// Queues the host's URLs that are parked under a token other than `token` but of the same kind (below [`WALL_TOKENS`], below
    /// [`TRAP_TOKENS`], below [`ROBOTS_TOKENS`] or not), due at `now` and with no attempts, in the order of (token, path); returns how many. URLs
    /// parked under `token` cost nothing. Many URLs take several commits: one that fails leaves the rest parked for the next call.
    async fn unpark(&self, host: HostId, token: u64, now: UnixMillis) -> Result<u64, CrawlDbError>;

    /// Makes everything of the host due at once that waits for a later time, for a clock that was set back: scheduled
    /// times may be as far in the future as the clock was ahead. Survives a crash from the next durable commit on.
    async fn bring_forward(&self, host: HostId) -> Result<(), CrawlDbError>;

    /// Up to `urls_max` due URLs of one host with a rank up to `rank_max`: in `order`, and within a rank in the order in which they were
    /// queued (a URL queued again by a retry or a revisit comes after those queued before it). The caller has to know whether the
    /// host is blocked.
    async fn lease_due(&self, request: LeaseRequest) -> Result<Vec<Lease>, CrawlDbError>;

    /// When the host's next URL is due. `At` includes the end of the earliest running lease.
    async fn host_due(&self, host: HostId, now: UnixMillis) -> Result<HostDue, CrawlDbError>;

    /// Returns leases unvisited.
    async fn release(&self, owner: Owner, keys: Vec<UrlKey>) -> Result<(), CrawlDbError>;

    /// Returns all of its leases of these hosts: their site starts again.
    async fn release_all(&self, owner: Owner, hosts: &HashSet<HostId>) -> Result<(), CrawlDbError>;

    /// Commits visits: status, outlinks, torrents with sources, magnets, listings, counts, next due time. The
    /// receipts are in the order of the visits. The batch is shared, so that a caller can retry it.
    async fn record_visits(&self, visits: Arc<Vec<Visit>>) -> Result<Vec<Receipt>, CrawlDbError>;

    /// For each, the archive key of a torrent already stored under either hash.
    async fn known_torrents(&self, infohashes: Vec<Infohashes>) -> Result<Vec<Option<Infohashes>>, CrawlDbError>;

    /// No request to the host before `until`, with the reason that `status` shows and the number of consecutive pauses
    /// without a good response; kept over restarts.
    async fn block_host_until(
        &self,
        host: HostId,
        until: UnixMillis,
        reason: &str,
        complaints: u32,
    ) -> Result<(), CrawlDbError>;

    /// The host responded well: clears its complaints and its pause; the last reason stays. Costs nothing if there are
    /// none, so that every good response may call it.
    async fn forgive_host(&self, host: HostId) -> Result<(), CrawlDbError>;

    /// Stores records that only the crawl reads (statistics of URL shapes, a day's budget) under names of a site, each
    /// replacing the previous one; an empty one deletes it. If one is longer than `limits::NOTE_BYTES_MAX` bytes, all are
    /// rejected with `NoteTooLong`.
    async fn put_notes(&self, site: &str, notes: Vec<(String, Vec<u8>)>) -> Result<(), CrawlDbError>;

    /// [`Self::put_notes`] for one.
    async fn put_note(&self, site: &str, name: &str, note: Vec<u8>) -> Result<(), CrawlDbError> {
        self.put_notes(site, vec![(name.to_owned(), note)]).await
    }

    /// Adds to the crawl time of a site, in milliseconds.
    async fn add_crawl_time(&self, site: &str, crawl_ms: u64) -> Result<(), CrawlDbError>;

    /// The record of one URL.
    async fn url_record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError>;

    /// The records of many URLs, in the order of the keys.
    async fn url_records(&self, keys: Vec<UrlKey>) -> Result<Vec<Option<UrlRecord>>, CrawlDbError>;

    /// URLs of one host waiting to be fetched, leased ones included: first those due at once and those that a
    /// lease marked due, in the order of leasing, then the others by time; for `crawl --dry-run` and `status`.
    async fn queued(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError>;

    /// The same, but only those that wait for a later time.
    async fn planned(&self, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, CrawlDbError>;

    /// Removes a torrent whose file is lost, so that its sources are fetched again; used by
    /// `verify --repair`. Its sources' URLs become due at `now`.
    async fn forget_torrent(&self, infohashes: Infohashes, now: UnixMillis) -> Result<(), CrawlDbError>;

    /// Adds a torrent whose file is in the archive but not in the database (an orphan).
    async fn adopt_torrent(&self, facts: TorrentFacts, now: UnixMillis) -> Result<(), CrawlDbError>;
}
