//! The tables of the file. `docs/design/crawldb.md` describes each.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};

use redb::ReadableTable as _;
use redb::{Database, Durability, ReadableDatabase as _, TableDefinition, WriteTransaction};

use super::codec::{BodyKey, LaterKey, QueueKey};
use super::open::Fault;

/// The schema that this code writes, and the highest that it reads.
pub(super) const SCHEMA: u64 = 5;
/// The schema without `labels` and `url_labels`, whose other rows are those of [`SCHEMA`].
pub(super) const SCHEMA_WITHOUT_LABELS: u64 = 4;
/// The schema without `by_time` and `changes` either.
pub(super) const SCHEMA_WITHOUT_TIMES: u64 = 3;
/// The schema without `not_whole` either.
pub(super) const SCHEMA_WITHOUT_NOT_WHOLE: u64 = 2;
/// The schema without `memos` and `notes` either.
pub(super) const SCHEMA_WITHOUT_NOTES: u64 = 1;

pub(super) const META: TableDefinition<&str, u64> = TableDefinition::new("meta");
pub(super) const META_SCHEMA: &str = "schema";
/// A number that no other database has.
pub(super) const META_DATABASE: &str = "database";
/// The next free sequence number of the queue.
pub(super) const META_NEXT_SEQ: &str = "next_seq";
/// How often a visited URL got another label.
pub(super) const META_LABELLED: &str = "labelled";

pub(super) const HOSTS: TableDefinition<u32, &[u8]> = TableDefinition::new("hosts");
/// Site name and counter number → count.
pub(super) const COUNTS: TableDefinition<&[u8], u64> = TableDefinition::new("counts");
pub(super) const URLS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("urls");
/// URLs that can be leased.
pub(super) const QUEUE: TableDefinition<&QueueKey, &[u8]> = TableDefinition::new("queue");
/// URLs that wait for a time; a lease moves due ones to `queue`.
pub(super) const LATER: TableDefinition<&LaterKey, &[u8]> = TableDefinition::new("later");
/// URLs that wait for other rules: host, token and path → as `queue`, without the path.
pub(super) const PARKED: TableDefinition<&[u8], &[u8]> = TableDefinition::new("parked");
pub(super) const TORRENTS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("torrents");
/// When a torrent was stored (milliseconds, big-endian) and its key in `torrents`.
pub(super) const BY_TIME: TableDefinition<&[u8], ()> = TableDefinition::new("by_time");
/// The number of a change → the key in `torrents` of what was added, removed, or found by one more site.
pub(super) const CHANGES: TableDefinition<u64, &[u8]> = TableDefinition::new("changes");
/// The number of a label → its site and text.
pub(super) const LABELS: TableDefinition<u32, (&str, &str)> = TableDefinition::new("labels");
/// Host and hash of a URL's path → the number of its label.
pub(super) const URL_LABELS: TableDefinition<&BodyKey, u32> = TableDefinition::new("url_labels");
/// The other hash of a hybrid → its archive key.
pub(super) const INFOHASHES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("infohashes");
pub(super) const MAGNETS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("magnets");
/// The other hash of a magnet with two → its key in `magnets`.
pub(super) const MAGNET_HASHES: TableDefinition<&[u8], &[u8]> = TableDefinition::new("magnet_hashes");
pub(super) const LISTINGS: TableDefinition<&[u8], &[u8]> = TableDefinition::new("listings");
/// Host and hash of a page's body → hash of the path that had it first.
pub(super) const BODIES: TableDefinition<&BodyKey, u64> = TableDefinition::new("bodies");
/// Key of `urls` → the memo that the URL's last visit left for the next.
pub(super) const MEMOS: TableDefinition<&[u8], &str> = TableDefinition::new("memos");
/// Key of `urls` → why a page was not read whole, and when.
pub(super) const NOT_WHOLE: TableDefinition<&[u8], &[u8]> = TableDefinition::new("not_whole");
/// Site and name → a note of the crawl.
pub(super) const NOTES: TableDefinition<(&str, &str), &[u8]> = TableDefinition::new("notes");

/// Begins a transaction with a durable commit; after a crash, the file opens without a full scan.
pub(in crate::crawldb) fn begin(db: &Database) -> Result<WriteTransaction, Fault> {
    let mut txn = db.begin_write()?;
    txn.set_durability(Durability::Immediate)?;
    txn.set_quick_repair(true);
    Ok(txn)
}

/// Begins a transaction that a crash may undo until a later one is committed durably: for changes that
/// would simply be repeated.
pub(in crate::crawldb) fn begin_volatile(db: &Database) -> Result<WriteTransaction, Fault> {
    let mut txn = db.begin_write()?;
    txn.set_durability(Durability::None)?;
    Ok(txn)
}

/// Opens each table of a transaction, one after the other: redb may stop at a damaged one, and aborts the process if another is open then.
macro_rules! open_each {
    ($txn:expr) => {
        drop($txn.open_table(META)?);
        drop($txn.open_table(HOSTS)?);
        drop($txn.open_table(COUNTS)?);
        drop($txn.open_table(URLS)?);
        drop($txn.open_table(QUEUE)?);
        drop($txn.open_table(LATER)?);
        drop($txn.open_table(PARKED)?);
        drop($txn.open_table(TORRENTS)?);
        drop($txn.open_table(BY_TIME)?);
        drop($txn.open_table(CHANGES)?);
        drop($txn.open_table(LABELS)?);
        drop($txn.open_table(URL_LABELS)?);
        drop($txn.open_table(INFOHASHES)?);
        drop($txn.open_table(MAGNETS)?);
        drop($txn.open_table(MAGNET_HASHES)?);
        drop($txn.open_table(LISTINGS)?);
        drop($txn.open_table(BODIES)?);
        drop($txn.open_table(MEMOS)?);
        drop($txn.open_table(NOTES)?);
        drop($txn.open_table(NOT_WHOLE)?);
    };
}

/// Creates every absent table, so that readers find them, and stores the schema.
pub(super) fn create(db: &Database) -> Result<(), Fault> {
    let txn = begin(db)?;
    {
        let mut meta = txn.open_table(META)?;
        meta.insert(META_SCHEMA, SCHEMA)?;
        if meta.get(META_DATABASE)?.is_none() {
            // The system's randomness, as maps use it.
            meta.insert(META_DATABASE, RandomState::new().build_hasher().finish())?;
        }
    }
    open_each!(txn);
    txn.commit()?;
    Ok(())
}

/// Fails if a table cannot be opened.
pub(super) fn check(db: &Database) -> Result<(), Fault> {
    let txn = db.begin_read()?;
    open_each!(txn);
    Ok(())
}
