//! Reads pages of rows from a snapshot.

use std::ops::Bound;

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase, ReadableTable};
use xxhash_rust::xxh3::xxh3_64;

use super::Core;
use super::codec::{self, MagnetKept, QueueRow, TorrentKept, UrlRow};
use super::harvest::{find_key, find_torrent};
use super::known::CachedTables;
use super::labels::RowReader;
use super::leases::{HostLeases, Position};
use super::open::Fault;
use super::tables::{INFOHASHES, LATER, LISTINGS, MAGNET_HASHES, MAGNETS, QUEUE, TORRENTS, URLS};
use super::urls;
use crate::crawldb::outcome::token_kind;
use crate::crawldb::record::*;
use crate::crawldb::{HostDue, LeaseOrder, LeaseRequest};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// The queue in a snapshot.
type Queue = ReadOnlyTable<&'static codec::QueueKey, &'static [u8]>;

pub(super) fn url_record(db: &Database, key: &UrlKey) -> Result<Option<UrlRecord>, Fault> {
    Ok(url_records(db, std::slice::from_ref(key))?.pop().flatten())
}

/// In key order, over one snapshot.
pub(super) fn url_records(db: &Database, keys: &[UrlKey]) -> Result<Vec<Option<UrlRecord>>, Fault> {
    let urls = db.begin_read()?.open_table(URLS)?;
    let mut records = Vec::with_capacity(keys.len());
    let mut bytes = Vec::new();
    for key in keys {
        bytes.clear();
        codec::put_url_key(&mut bytes, key.host, &key.path);
        let row = urls::decoded(urls.get(bytes.as_slice())?.map(|value| UrlRow::decode(value.value())))?;
        records.push(row.map(|row| UrlRecord {
            depth: row.depth,
            attempts: row.attempts,
            outcome: row.outcome,
            first_seen: row.first_seen,
            visited: row.visited,
        }));
    }
    Ok(records)
}

pub(super) fn known_torrents(db: &Database, batch: &[Infohashes]) -> Result<Vec<Option<Infohashes>>, Fault> {
    let txn = db.begin_read()?;
    let (torrents, others) = (txn.open_table(TORRENTS)?, txn.open_table(INFOHASHES)?);
    let mut known = Vec::with_capacity(batch.len());
    for hashes in batch {
        known.push(match find_torrent(&torrents, &others, hashes)? {
            Some(key) => {
                let hashes = torrents.get(&*key)?.and_then(|value| codec::leading_hashes(value.value()));
                Some(hashes.ok_or_else(|| Fault::row("torrents"))?)
            }
            None => None,
        });
    }
    Ok(known)
}

/// A key with its value.
pub(super) type Bytes = (Box<[u8]>, Box<[u8]>);

/// The remaining budget of one transaction: rows, and `limits::MOVED_BYTES_MAX` bytes, which a single row may exceed.
pub(super) struct Room {
    rows: usize,
    bytes: usize,
}

impl Room {
    pub(super) fn new(rows: usize) -> Self {
        Self { rows, bytes: limits::MOVED_BYTES_MAX }
    }

    /// True if another row fits; reserves its space.
    pub(super) fn take(&mut self, bytes: usize) -> bool {
        let has_room = self.rows > 0 && self.bytes > 0;
        self.rows = self.rows.saturating_sub(1);
        self.bytes = self.bytes.saturating_sub(bytes);
        has_room
    }
}

/// Up to `rows_max` rows of a host that are parked under another token, in key order.
pub(super) fn parked_elsewhere(
    parked: &impl ReadableTable<&'static [u8], &'static [u8]>,
    host: HostId,
    token: u64,
    rows_max: usize,
) -> Result<Vec<Bytes>, Fault> {
    let key = |token| {
        let mut key = Vec::with_capacity(4 + 8);
        codec::put_parked_key(&mut key, host, token, "");
        key
    };
    let (first, last) = token_kind(token).into_inner();
    let below = parked.range::<&[u8]>(key(first).as_slice()..key(token).as_slice())?;
    // The last token of a kind is followed by the first of the next kind, or by the next host.
    let end = match last.checked_add(1) {
        Some(next) => Some(key(next)),
        None => host.0.checked_add(1).map(|host| host.to_be_bytes().to_vec()),
    };
    let end = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(end.as_slice()));
    let start = (token < last).then(|| key(token + 1));
    let above = match &start {
        Some(start) => Some(parked.range::<&[u8]>((Bound::Included(start.as_slice()), end))?),
        None => None,
    };
    let (mut rows, mut room) = (Vec::new(), Room::new(rows_max));
    for row in below.chain(above.into_iter().flatten()) {
        let (key, value) = row?;
        if !room.take(key.value().len() + value.value().len()) {
            break;
        }
        rows.push((key.value().into(), value.value().into()));
    }
    Ok(rows)
}

/// When a host's next URL is due; `leases` are the host's, without expired ones.
pub(super) fn host_due(db: &Database, host: HostId, leases: &HostLeases, now: UnixMillis) -> Result<HostDue, Fault> {
    let txn = db.begin_read()?;
    let queue = txn.open_table(QUEUE)?;
    let ranks = ranks_queued(&queue, host, u8::MAX)?;
    for rank in ranks {
        if first_free(&queue, host, rank, leases)?.is_some() {
            return Ok(HostDue::Now);
        }
    }
    let end = leases.next_end(now);
    let later = txn.open_table(LATER)?;
    for row in later.range::<&codec::LaterKey>(&codec::later_key(host, UnixMillis(0), 0)..=&later_end(host))? {
        let (key, value) = row?;
        let (due, seq) = codec::later_position(key.value());
        let row = QueueRow::decode(value.value()).ok_or_else(|| Fault::row("later"))?;
        if !leases.is_taken((row.rank, seq)) {
            let at = end.map_or(due, |end| end.min(due));
            return Ok(if due <= now { HostDue::Now } else { HostDue::At(at) });
        }
    }
    Ok(if end.is_some() { HostDue::Leased } else { HostDue::Exhausted })
}

/// The ranks up to `rank_max` of which the host has rows in its queue, in ascending order: one lookup for each.
pub(super) fn ranks_queued(queue: &Queue, host: HostId, rank_max: u8) -> Result<Vec<u8>, Fault> {
    let end = codec::queue_key(host, rank_max, u64::MAX);
    let (mut ranks, mut from) = (Vec::new(), Some(0));
    while let Some(rank) = from {
        let Some(row) = queue.range::<&codec::QueueKey>(&codec::queue_key(host, rank, 0)..=&end)?.next() else { break };
        let (rank, _) = codec::queue_position(row?.0.value());
        ranks.push(rank);
        from = rank.checked_add(1).filter(|next| *next <= rank_max);
    }
    Ok(ranks)
}

/// The first row of a rank that is not leased.
fn first_free(queue: &Queue, host: HostId, rank: u8, leases: &HostLeases) -> Result<Option<Position>, Fault> {
    for row in rows_of(queue, host, rank, leases)? {
        let at = codec::queue_position(row?.0.value());
        if !leases.is_taken(at) {
            return Ok(Some(at));
        }
    }
    Ok(None)
}

fn rows_of<'a>(
    queue: &'a Queue,
    host: HostId,
    rank: u8,
    leases: &HostLeases,
) -> Result<redb::Range<'a, &'static codec::QueueKey, &'static [u8]>, Fault> {
    let (from, to) = (codec::queue_key(host, rank, leases.scan_from(rank)), codec::queue_key(host, rank, u64::MAX));
    Ok(queue.range::<&codec::QueueKey>(&from..=&to)?)
}

/// Gives up to `urls_max` free rows of a host to `take`, in the order of a lease; what it takes is leased when it returns.
pub(super) fn free_rows(
    queue: &Queue,
    held: &mut HostLeases,
    request: &LeaseRequest,
    mut take: impl FnMut(&mut HostLeases, Position, &[u8]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let mut ranks = ranks_queued(queue, request.host, request.rank_max)?;
    ranks.retain(|rank| request.order.place(*rank).is_some());
    ranks.sort_by_key(|rank| request.order.place(*rank));
    let mut left = request.urls_max;
    if matches!(request.order, LeaseOrder::Oldest(_)) {
        while left > 0 {
            let mut oldest = None;
            for rank in &ranks {
                let free = first_free(queue, request.host, *rank, held)?;
                oldest = [oldest, free].into_iter().flatten().min_by_key(|(_, seq)| *seq);
            }
            let Some((rank, seq)) = oldest else { break };
            let row = queue.get(&codec::queue_key(request.host, rank, seq))?.ok_or_else(|| Fault::row("queue"))?;
            take(held, (rank, seq), row.value())?;
            left -= 1;
        }
        return Ok(());
    }
    for rank in ranks {
        for row in rows_of(queue, request.host, rank, held)? {
            if left == 0 {
                return Ok(());
            }
            let (key, value) = row?;
            let at = codec::queue_position(key.value());
            if !held.is_taken(at) {
                take(held, at, value.value())?;
                held.scanned_to((at.0, at.1 + 1));
                left -= 1;
            }
        }
    }
    Ok(())
}

/// The last possible `later` key of a host.
pub(super) fn later_end(host: HostId) -> codec::LaterKey {
    codec::later_key(host, UnixMillis(u64::MAX), u64::MAX)
}

pub(super) fn queued(db: &Database, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, Fault> {
    let txn = db.begin_read()?;
    let mut rows = Vec::new();
    let queue = txn.open_table(QUEUE)?;
    for row in queue
        .range::<&codec::QueueKey>(&codec::queue_key(host, 0, 0)..=&codec::queue_key(host, u8::MAX, u64::MAX))?
        .take(rows_max)
    {
        rows.push(discovered(host, row?.1.value(), "queue")?);
    }
    let room = rows_max.saturating_sub(rows.len());
    rows.extend(planned_in(&txn, host, room)?);
    Ok(rows)
}

pub(super) fn planned(db: &Database, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, Fault> {
    planned_in(&db.begin_read()?, host, rows_max)
}

fn planned_in(txn: &ReadTransaction, host: HostId, rows_max: usize) -> Result<Vec<Discovered>, Fault> {
    let later = txn.open_table(LATER)?;
    let rows = later.range::<&codec::LaterKey>(&codec::later_key(host, UnixMillis(0), 0)..=&later_end(host))?;
    rows.take(rows_max).map(|row| discovered(host, row?.1.value(), "later")).collect()
}

fn discovered(host: HostId, value: &[u8], table: &str) -> Result<Discovered, Fault> {
    let row = QueueRow::decode(value).ok_or_else(|| Fault::row(table))?;
    Ok(Discovered {
        key: UrlKey { host, path: row.path.into() },
        depth: row.depth,
        rank: row.rank,
        due: row.due,
        via: row.via.map(Into::into),
        is_target: false,
        found: None,
    })
}

/// Everything after `after`.
pub(super) fn behind(after: Option<&[u8]>) -> (Bound<&[u8]>, Bound<&[u8]>) {
    (after.map_or(Bound::Unbounded, Bound::Excluded), Bound::Unbounded)
}

pub(super) fn torrents(
    core: &Core,
    db: &Database,
    after: Option<&[u8]>,
    rows_max: usize,
) -> Result<Vec<TorrentRow>, Fault> {
    let known = core.known();
    let txn = db.begin_read()?;
    let (table, reader) = (txn.open_table(TORRENTS)?, RowReader::of(&known, &txn)?);
    let mut rows = Vec::new();
    for row in table.range::<&[u8]>(behind(after))?.take(rows_max) {
        let kept = TorrentKept::decode(row?.1.value()).ok_or_else(|| Fault::row("torrents"))?;
        rows.push(reader.row(kept)?);
    }
    Ok(rows)
}

pub(super) fn magnets(
    core: &Core,
    db: &Database,
    after: Option<&[u8]>,
    rows_max: usize,
) -> Result<Vec<MagnetRow>, Fault> {
    let known = core.known();
    let txn = db.begin_read()?;
    let (table, reader) = (txn.open_table(MAGNETS)?, MagnetReader::of(&known, &txn)?);
    let rows = table.range::<&[u8]>(behind(after))?.take(rows_max);
    rows.map(|row| reader.row(row?.1.value())).collect()
}

/// The magnets with these hashes, in their order.
pub(super) fn magnets_at(core: &Core, db: &Database, hashes: &[Vec<u8>]) -> Result<Vec<Option<MagnetRow>>, Fault> {
    let known = core.known();
    let txn = db.begin_read()?;
    let (table, others) = (txn.open_table(MAGNETS)?, txn.open_table(MAGNET_HASHES)?);
    let reader = MagnetReader::of(&known, &txn)?;
    let row = |hash: &Vec<u8>| {
        let Some(key) = find_key(&table, &others, Some(hash))? else { return Ok(None) };
        let kept = table.get(&*key)?.ok_or_else(|| Fault::row("magnets"))?;
        reader.row(kept.value()).map(Some)
    };
    hashes.iter().map(row).collect()
}

/// Makes rows of magnets.
struct MagnetReader<'k> {
    known: &'k CachedTables,
    torrents: ReadOnlyTable<&'static [u8], &'static [u8]>,
    others: ReadOnlyTable<&'static [u8], &'static [u8]>,
    labels: RowReader<'k>,
}

impl<'k> MagnetReader<'k> {
    fn of(known: &'k CachedTables, txn: &ReadTransaction) -> Result<Self, Fault> {
        let (torrents, others) = (txn.open_table(TORRENTS)?, txn.open_table(INFOHASHES)?);
        Ok(Self { known, torrents, others, labels: RowReader::of(known, txn)? })
    }

    fn row(&self, kept: &[u8]) -> Result<MagnetRow, Fault> {
        let kept = MagnetKept::decode(kept).ok_or_else(|| Fault::row("magnets"))?;
        Ok(MagnetRow {
            stored: find_torrent(&self.torrents, &self.others, &kept.facts.infohashes)?.is_some(),
            site: self.known.site_name(kept.host).into(),
            page: self.known.url_text(kept.host, &kept.path),
            label: self.labels.label(kept.host, &kept.path)?,
            first_seen: kept.first_seen,
            facts: kept.facts,
        })
    }
}

pub(super) fn listings(
    core: &Core,
    db: &Database,
    site: &str,
    after: Option<(HostId, Box<str>, u64)>,
    rows_max: usize,
) -> Result<Vec<ListingRow>, Fault> {
    let known = core.known();
    let table = db.begin_read()?.open_table(LISTINGS)?;
    let mut rows = Vec::new();
    let first = after.as_ref().map_or(0, |(host, _, _)| host.0 as usize);
    for host in known.hosts.iter().skip(first).filter(|host| &*host.site == site) {
        let start = match &after {
            Some((last, series, page)) if *last == host.id => Bound::Excluded(codec::listing_key(*last, series, *page)),
            _ => Bound::Included(host.id.0.to_be_bytes().to_vec()),
        };
        let end = host.id.0.checked_add(1).map(|next| next.to_be_bytes());
        let range =
            (start.as_ref().map(Vec::as_slice), end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..])));
        for row in table.range::<&[u8]>(range)?.take(rows_max - rows.len()) {
            let (key, value) = row?;
            rows.push(listing_row(host.id, key.value(), value.value()).ok_or_else(|| Fault::row("listings"))?);
        }
        if rows.len() == rows_max {
            break;
        }
    }
    Ok(rows)
}

/// What became of the URLs of a site.
pub(super) fn url_looks(
    core: &Core,
    db: &Database,
    site: &str,
    after: Option<(HostId, Box<str>)>,
    rows_max: usize,
) -> Result<UrlLooks, Fault> {
    let known = core.known();
    let txn = db.begin_read()?;
    let (table, labels) = (txn.open_table(URLS)?, RowReader::of(&known, &txn)?);
    let mut looks = UrlLooks::default();
    let mut text = String::new();
    let first = after.as_ref().map_or(0, |(host, _)| host.0 as usize);
    for host in known.hosts.iter().skip(first).filter(|host| &*host.site == site) {
        let mut start = Vec::new();
        match &after {
            Some((last, path)) if *last == host.id => codec::put_url_key(&mut start, *last, path),
            _ => codec::put_url_key(&mut start, host.id, ""),
        }
        let end = host.id.0.checked_add(1).map(u32::to_be_bytes);
        let end = end.as_ref().map_or(Bound::Unbounded, |end| Bound::Excluded(&end[..]));
        // No path is empty.
        for row in table.range::<&[u8]>((Bound::Excluded(start.as_slice()), end))? {
            if looks.rows.len() == rows_max {
                return Ok(looks);
            }
            let (key, value) = row?;
            let path = key.value().get(4..).and_then(|path| std::str::from_utf8(path).ok());
            let (path, row) = path.zip(UrlRow::decode(value.value())).ok_or_else(|| Fault::row("urls"))?;
            text.clear();
            text.push_str(&host.origin);
            text.push_str(path);
            looks.rows.push(UrlLook {
                hash: xxh3_64(text.as_bytes()),
                rank: row.rank,
                depth: row.depth,
                outcome: row.outcome,
                is_queued: row.place.is_some(),
                path: UrlLook::has_path(row.rank, path).then(|| (host.id, path.into())),
                label: if UrlLook::is_target(row.rank) { labels.number(host.id, path)? } else { None },
            });
            if looks.rows.len() == rows_max {
                looks.after = Some((host.id, path.into()));
            }
        }
    }
    looks.after = None;
    Ok(looks)
}

fn listing_row(host: HostId, key: &[u8], value: &[u8]) -> Option<ListingRow> {
    let (series, page) = codec::listing_position(key)?;
    let looks = codec::looks_from(value)?;
    let (updated, earlier) = (looks.updated(), looks.earlier());
    let listing = Listing { series, page, page_max: looks.page_max, targets: looks.latest };
    Some(ListingRow { host, listing, at: looks.at, updated, earlier })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transaction_has_room_for_many_short_rows_or_few_long_ones() {
        let taken = |rows, bytes| {
            let mut room = Room::new(rows);
            (0..).take_while(|_| room.take(bytes)).count()
        };
        assert_eq!(taken(3, 10), 3);
        assert_eq!(taken(50_000, 4_096), limits::MOVED_BYTES_MAX / 4_096);
        assert_eq!(taken(50_000, usize::MAX), 1, "one row may pass it alone, or it would never be moved");
        assert_eq!(taken(0, 1), 0);
    }
}
