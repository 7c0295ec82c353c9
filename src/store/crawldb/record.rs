//! The records of the crawl database, as plain data. They know no HTTP and no rules: an outcome is a name, a URL is
//! a host number and the text after the host.

use serde::{Deserialize, Serialize};

use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;
use gleaner_torrent::metainfo::Metainfo;

use super::outcome::{Next, Outcome};

/// Number of a (site, origin) pair, assigned by [`super::CrawlDb::host_id`]. The origin is
/// `scheme://host[:port]`; two sites with the same origin have two numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct HostId(pub u32);

/// A URL as a database key: keys of one host are adjacent and sorted by path, so that the links of one page touch
/// few leaves of the tree.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UrlKey {
    pub host: HostId,
    /// Normalised path and query, starting with `/`; at most `limits::URL_BYTES_MAX` bytes.
    pub path: Box<str>,
}

/// A URL to insert if it is absent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Discovered {
    pub key: UrlKey,
    /// Links from a start URL.
    pub depth: u16,
    /// Order of leasing within a host: lower first, then first come first served.
    pub rank: u8,
    /// Not leased before this time; zero means at once.
    pub due: UnixMillis,
    /// The page that has the link, stored for links to torrents as part of their sources.
    pub via: Option<Box<str>>,
    /// True for the crawl's targets: detail pages and torrents. Not stored, only counted: see
    /// [`Receipt::targets_added`].
    pub is_target: bool,
    /// When it was found, if that was before the database is told.
    pub found: Option<UnixMillis>,
}

/// A URL leased to a worker until `deadline`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lease {
    pub key: UrlKey,
    pub depth: u16,
    pub rank: u8,
    /// Visits that ended in a retry so far: see [`faults`] and [`refusals`].
    pub attempts: u8,
    pub via: Option<Box<str>>,
    /// The memo that the last visit of this URL left for this one.
    pub memo: Option<Box<str>>,
    pub deadline: UnixMillis,
    /// When the increment found it, if the history crawldb may not know it.
    pub found: Option<UnixMillis>,
    /// Its place in the line of its host: of two rows the one with the lower number was queued first. 0 for the increment's.
    pub seq: u64,
}

/// Facts of a torrent besides its names; its file is in the archive.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorrentFacts {
    pub infohashes: Infohashes,
    pub name: Box<str>,
    /// Sum of the payload's file lengths, in bytes.
    pub payload_bytes: u64,
    pub file_count: u32,
    /// Length of the archived metainfo file, in bytes.
    pub metainfo_bytes: u32,
    /// SHA-256 of the archived metainfo file.
    pub sha256: [u8; 32],
    /// `creation date` of the metainfo file, seconds since 1970; None if it has none.
    pub created_unix: Option<i64>,
    /// BEP 27.
    pub private: bool,
}

impl TorrentFacts {
    /// The facts of a torrent to archive: of [`Metainfo::dict_bytes`] of what was parsed, without the junk around it.
    #[must_use]
    pub fn of(metainfo: Metainfo, sent: &[u8]) -> Self {
        Self {
            sha256: metainfo.dict_sha256(sent),
            metainfo_bytes: u32::try_from(metainfo.dict.len()).unwrap_or(u32::MAX),
            infohashes: metainfo.infohashes,
            name: metainfo.name.into(),
            payload_bytes: metainfo.payload_bytes,
            file_count: metainfo.file_count,
            created_unix: metainfo.created_unix,
            private: metainfo.private,
        }
    }
}

/// A torrent known only by a magnet link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MagnetFacts {
    pub infohashes: Infohashes,
    /// `dn`, if given.
    pub name: Option<Box<str>>,
    /// The link as found, at most `limits::URL_BYTES_MAX` bytes.
    pub link: Box<str>,
}

/// The links of an index page, for coverage (ALGORITHMS §7).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Listing {
    /// The page's URL with its page number replaced by `{page}`: the pages of one series share it.
    pub series: Box<str>,
    /// This page's number in the series according to its URL (a page number or an offset; 0 if there is none).
    pub page: u64,
    /// The largest page number of this series that the page links to, itself included.
    pub page_max: u64,
    /// Hashes of the detail or download links on the page, deduplicated and sorted.
    pub targets: Vec<u64>,
}

/// One finished visit: everything that is committed together.
#[derive(Clone, Debug)]
pub struct Visit {
    pub key: UrlKey,
    /// From the lease.
    pub depth: u16,
    /// From the lease; a retry or revisit keeps it.
    pub rank: u8,
    /// From the lease.
    pub attempts: u8,
    /// From the lease: of a download the page that has the link, of a detail the torrent that a list links beside it.
    pub via: Option<Box<str>>,
    /// From the lease: when it was found, unless the database has an earlier time.
    pub found: Option<UnixMillis>,
    pub at: UnixMillis,
    pub outcome: Outcome,
    pub next: Next,
    /// Decoded bytes of the body that were read.
    pub body_bytes: u64,
    /// xxh3 of a page's body, if it was read whole; equal bodies of one host are one page. The first URL recorded
    /// with a body owns it, so that a revisit of that URL does not count as a duplicate of its own duplicate.
    pub body_hash: Option<u64>,
    pub outlinks: Vec<Discovered>,
    pub torrent: Option<TorrentFacts>,
    pub magnets: Vec<MagnetFacts>,
    pub listing: Option<Listing>,
    /// A memo for the next visit of this URL, returned by its lease, such as the validators of a conditional request.
    /// The database does not read it. At most `limits::MEMO_BYTES_MAX` bytes; a longer one counts as none. Without one,
    /// the URL's previous memo is deleted, unless the outcome is [`Outcome::NotModified`].
    pub memo: Option<Box<str>>,
    /// What the page says its torrents are.
    pub labels: Vec<UrlLabel>,
    /// Why the page was not read whole, as a sentence without secrets: links may be missing. Stored until a visit reads all of it, or
    /// finds that the page does not exist any more; truncated to `limits::NOT_WHOLE_REASON_BYTES_MAX` bytes.
    pub not_whole: Option<Box<str>>,
}

impl Visit {
    /// A visit that ends its URL and has found nothing.
    #[must_use]
    pub fn new(key: UrlKey, at: UnixMillis, outcome: Outcome) -> Self {
        Self {
            key,
            depth: 0,
            rank: 0,
            attempts: 0,
            via: None,
            found: None,
            at,
            outcome,
            next: Next::Done,
            body_bytes: 0,
            body_hash: None,
            outlinks: Vec::new(),
            torrent: None,
            magnets: Vec::new(),
            listing: None,
            labels: Vec::new(),
            memo: None,
            not_whole: None,
        }
    }
}

/// A site's own word for what is behind one of its URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UrlLabel {
    pub key: UrlKey,
    /// At most `limits::LABEL_BYTES_MAX` bytes, without control characters; others are dropped.
    pub text: Box<str>,
    /// It is the page's word for itself, kept if no list has said anything else.
    pub is_own: bool,
}

/// The result of recording a [`Visit`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The outcome that was counted: the database decides whether a torrent or page is new or a duplicate. For a visit
    /// recorded before, the outcome counted then.
    pub outcome: Outcome,
    /// Outlinks that were unknown.
    pub urls_added: u32,
    /// Those of them that were marked as targets: the value of the page for the crawl.
    pub targets_added: u32,
    /// True if the visit's torrent was unknown before.
    pub torrent_stored: bool,
    /// Magnets that name a torrent unknown before, neither stored nor named.
    pub magnets_added: u32,
}

impl Receipt {
    /// The receipt of a visit that added nothing.
    #[must_use]
    pub fn empty(outcome: Outcome) -> Self {
        Self { outcome, urls_added: 0, targets_added: 0, torrent_stored: false, magnets_added: 0 }
    }
}

/// The record of one URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UrlRecord {
    pub depth: u16,
    pub attempts: u8,
    /// None until the first visit.
    pub outcome: Option<Outcome>,
    pub first_seen: UnixMillis,
    /// Zero until the first visit.
    pub visited: UnixMillis,
}

impl UrlRecord {
    /// True for a URL that, if it is queued for later, only waits for a revisit: its last visit was final, and no
    /// retry of it is planned.
    #[must_use]
    pub fn waits_for_a_look(&self) -> bool {
        self.attempts == 0 && self.outcome.is_some_and(Outcome::is_an_end)
    }
}

/// A stored torrent with its times.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TorrentRow {
    pub facts: TorrentFacts,
    /// The site whose visit stored it first.
    pub site: Box<str>,
    pub stored: UnixMillis,
    /// Visits that returned it, the first included.
    pub seen_count: u32,
    /// At most `limits::SOURCES_PER_TORRENT_MAX`, sorted by URL.
    pub sources: Vec<Source>,
}

/// The place of a torrent in the order of storing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Stored {
    pub at: UnixMillis,
    /// Its archive key.
    pub key: Vec<u8>,
}

impl TorrentRow {
    /// Its place in the order of storing.
    #[must_use]
    pub fn place(&self) -> Stored {
        Stored { at: self.stored, key: self.facts.infohashes.key().to_vec() }
    }
}

/// What has happened to the torrents of a database since a change: each was added or removed, or one more site has it. A magnet that is new, or has become
/// another, or whose torrent has come or gone, is a change of its own key.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Changes {
    /// A number that no other database has.
    pub database: u64,
    /// The oldest change that is still known, and the newest one; 0 if there was none. Whoever has not seen the one before the oldest
    /// has to read all torrents.
    pub first: u64,
    pub last: u64,
    /// Torrents in the database.
    pub torrents: u64,
    /// Numbers in ascending order, and archive keys.
    pub keys: Vec<(u64, Vec<u8>)>,
}

/// Where a torrent was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Source {
    pub site: Box<str>,
    /// The URL that returned the torrent, or the page with the magnet link.
    pub url: Box<str>,
    /// The page that has the link, if known.
    pub via: Option<Box<str>>,
    /// What its site says that it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    pub first_seen: UnixMillis,
    pub last_seen: UnixMillis,
}

/// A site's own word for what a torrent is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Label {
    /// From [`gleaner_base::newznab::OF_SITES`] on; of no other label of any site.
    pub number: u32,
    pub text: Box<str>,
}

/// A label of a site.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LabelRow {
    pub site: Box<str>,
    pub text: Box<str>,
    pub number: u32,
}

/// The labels of all sites.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteLabels {
    pub rows: Vec<LabelRow>,
    /// How often a URL that was visited already has got another label.
    pub relabelled: u64,
}

/// A torrent known only by a magnet link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MagnetRow {
    pub facts: MagnetFacts,
    pub site: Box<str>,
    /// The page that has the link.
    pub page: Box<str>,
    pub first_seen: UnixMillis,
    /// What its site says that it is: the label of that page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Label>,
    /// True once the torrent itself is in the archive.
    pub stored: bool,
}

/// Counts of one site since its first crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteCounts {
    /// Visits by outcome, without zeros, in the order of their codes.
    pub outcomes: Vec<(Outcome, u64)>,
    pub body_bytes: u64,
    pub urls_known: u64,
    /// URLs waiting to be fetched, including those due later.
    pub urls_queued: u64,
    /// Torrents first stored by this site.
    pub torrents: u64,
    /// Torrents known only by a magnet link that a page of this site named first; one that is stored later no longer
    /// counts.
    pub magnets: u64,
    /// Milliseconds during which this site was being crawled.
    pub crawl_ms: u64,
    /// Distinct torrents that have a source on this site, whichever site stored them first.
    pub torrents_seen: u64,
    /// URLs whose last visit ended in [`Outcome::Gone`], however often they were visited.
    pub urls_gone: u64,
    /// Pages that were not read whole: see [`Visit::not_whole`].
    #[serde(default)]
    pub pages_not_whole: u64,
}

impl SiteCounts {
    /// Requests: visits that were fetched (P of ALGORITHMS §7).
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.outcomes.iter().filter(|(outcome, _)| outcome.was_fetched()).map(|(_, count)| count).sum()
    }

    /// Visits with this outcome.
    #[must_use]
    pub fn of(&self, outcome: Outcome) -> u64 {
        self.outcomes.iter().filter(|(other, _)| *other == outcome).map(|(_, count)| count).sum()
    }
}

/// The stored state of a host.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRow {
    pub id: HostId,
    pub site: Box<str>,
    pub origin: Box<str>,
    /// No request before this time; zero means no limit.
    pub blocked_until: UnixMillis,
    /// The reason, as shown by `status`.
    pub blocked_reason: Box<str>,
    /// Consecutive pauses without a good response, so that the back-off escalates over restarts.
    pub complaints: u32,
}

/// A page that was not read whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotWholeRow {
    pub url: Box<str>,
    /// [`Visit::not_whole`].
    pub reason: Box<str>,
    /// When it was read.
    pub at: UnixMillis,
}

/// A listing with the host and time of its visit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ListingRow {
    pub host: HostId,
    pub listing: Listing,
    pub at: UnixMillis,
    /// Targets that revisits of this page found and the first visit did not.
    pub updated: u32,
    /// Targets of earlier visits that the latest did not find any more, sorted.
    pub earlier: Vec<u64>,
}

/// What became of one URL, without its text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLook {
    /// xxh3 of the URL, as in [`Listing::targets`].
    pub hash: u64,
    pub rank: u8,
    pub depth: u16,
    /// None until the first visit.
    pub outcome: Option<Outcome>,
    /// True while it is queued.
    pub is_queued: bool,
    /// Host and path of a URL with the rank 0, which any class may have, and of a torrent or its page with a number in it; None for the others.
    pub path: Option<(HostId, Box<str>)>,
    /// The number of the label of a torrent or its page.
    #[serde(default)]
    pub label: Option<u32>,
}

impl UrlLook {
    /// True for a torrent or its page, or a URL that may be one: each class has sixteen ranks, downloads the first, details the third.
    #[must_use]
    pub fn is_target(rank: u8) -> bool {
        matches!(rank >> 4, 0 | 2)
    }

    /// True for a URL whose path is told: see [`Self::path`].
    #[must_use]
    pub fn has_path(rank: u8, path: &str) -> bool {
        rank == 0 || Self::is_target(rank) && path.bytes().any(|byte| byte.is_ascii_digit())
    }
}

/// A page of a site's URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UrlLooks {
    pub rows: Vec<UrlLook>,
    /// Where the next page begins; None after the last one.
    pub after: Option<(HostId, Box<str>)>,
}
