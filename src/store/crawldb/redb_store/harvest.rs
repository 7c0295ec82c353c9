//! The results of visits, in one transaction: torrents and their sources, magnets, listings, bodies.

use std::collections::BTreeSet;

use redb::{ReadableTable, ReadableTableMetadata, Table, WriteTransaction};
use xxhash_rust::xxh3::xxh3_64;

use super::codec::{self, MagnetKept, TorrentKept};
use super::known::{CachedTables, MAGNETS_ONLY, TORRENT_ROWS, TORRENTS_SEEN, Tally};
use super::open::Fault;
use super::tables::{BODIES, INFOHASHES, LISTINGS, MAGNET_HASHES, MAGNETS, TORRENTS};
use super::times::Times;
use crate::crawldb::merge::{self, Found, Looks};
use crate::crawldb::record::{Listing, MagnetFacts, TorrentFacts, UrlKey, Visit};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

type Bytes = &'static [u8];

pub(super) struct Harvest<'w> {
    torrents: Table<'w, Bytes, Bytes>,
    infohashes: Table<'w, Bytes, Bytes>,
    magnets: Table<'w, Bytes, Bytes>,
    magnet_hashes: Table<'w, Bytes, Bytes>,
    times: Times<'w>,
    txn: &'w WriteTransaction,
    known: &'w CachedTables,
    value: Vec<u8>,
}

/// A row's key with its row.
type Row<T> = (Box<[u8]>, T);
type MagnetRow = Option<Row<MagnetKept>>;

/// The row of `rows` with either hash, v1 first, looked up directly or through `others`.
pub(super) fn find_key<T>(rows: &T, others: &T, hash: Option<&[u8]>) -> Result<Option<Box<[u8]>>, Fault>
where
    T: ReadableTable<Bytes, Bytes> + ReadableTableMetadata,
{
    let Some(hash) = hash else { return Ok(None) };
    if rows.get(hash)?.is_some() {
        return Ok(Some(hash.into()));
    }
    if others.is_empty()? {
        return Ok(None);
    }
    Ok(others.get(hash)?.map(|key| key.value().into()))
}

/// The key of the torrent with either hash.
pub(super) fn find_torrent<T>(rows: &T, others: &T, hashes: &Infohashes) -> Result<Option<Box<[u8]>>, Fault>
where
    T: ReadableTable<Bytes, Bytes> + ReadableTableMetadata,
{
    match find_key(rows, others, hashes.v1.as_ref().map(|v1| &v1[..]))? {
        Some(key) => Ok(Some(key)),
        None => find_key(rows, others, hashes.v2.as_ref().map(|v2| &v2[..])),
    }
}

/// The hash of a hybrid that is not its key.
fn other_hash(hashes: &Infohashes) -> Option<&[u8; 32]> {
    hashes.v1.and(hashes.v2.as_ref())
}

fn source_of(visit: &Visit, via: Option<Box<str>>) -> Found {
    Found { host: visit.key.host, path: visit.key.path.clone(), via, first_seen: visit.at, last_seen: visit.at }
}

impl<'w> Harvest<'w> {
    pub(super) fn open(txn: &'w WriteTransaction, known: &'w CachedTables) -> Result<Self, Fault> {
        Ok(Self {
            torrents: txn.open_table(TORRENTS)?,
            infohashes: txn.open_table(INFOHASHES)?,
            magnets: txn.open_table(MAGNETS)?,
            magnet_hashes: txn.open_table(MAGNET_HASHES)?,
            times: Times::open(txn)?,
            txn,
            known,
            value: Vec::new(),
        })
    }

    fn torrent(&self, key: &[u8]) -> Result<TorrentKept, Fault> {
        let row = self.torrents.get(key)?;
        row.and_then(|value| TorrentKept::decode(value.value())).ok_or_else(|| Fault::row("torrents"))
    }

    fn put_torrent(&mut self, key: &[u8], torrent: &TorrentKept) -> Result<(), Fault> {
        self.value.clear();
        torrent.encode(&mut self.value);
        self.torrents.insert(key, self.value.as_slice())?;
        Ok(())
    }

    /// True if it is the first source on its site.
    fn add_source(&self, torrent: &mut TorrentKept, found: Found, tally: &mut Tally) -> Result<bool, Fault> {
        let site = self.known.site_of(found.host)?;
        let is_new = merge::add_source(&mut torrent.sources, found, |host| self.known.site_name(host));
        if is_new {
            tally.add(site, TORRENTS_SEEN, 1);
        }
        Ok(is_new)
    }

    /// Adds a source to a stored torrent.
    fn add_source_of(
        &mut self,
        key: &[u8],
        mut torrent: TorrentKept,
        found: Found,
        tally: &mut Tally,
    ) -> Result<(), Fault> {
        if self.add_source(&mut torrent, found, tally)? {
            self.times.changed(key)?;
        }
        self.put_torrent(key, &torrent)
    }

    /// The pages that named this torrent before it was stored become its sources, and its magnets no longer count. Call
    /// it before the torrent is inserted.
    fn add_magnet_pages(&mut self, torrent: &mut TorrentKept, tally: &mut Tally) -> Result<(), Fault> {
        if self.magnets.is_empty()? {
            return Ok(());
        }
        let (one, two) = self.magnet_rows(&torrent.facts.infohashes)?;
        for (key, magnet) in [one, two].into_iter().flatten() {
            self.count_magnet(&magnet, tally, -1)?;
            // The change of the torrent's own key says it of this one.
            if *key != *torrent.facts.infohashes.key() {
                self.times.changed(&key)?;
            }
            let at = magnet.first_seen;
            let page = Found { host: magnet.host, path: magnet.path, via: None, first_seen: at, last_seen: at };
            self.add_source(torrent, page, tally)?;
        }
        Ok(())
    }

    /// Counts a magnet whose torrent is not stored: decreased before that is inserted, increased after it is removed.
    fn count_magnet(&self, magnet: &MagnetKept, tally: &mut Tally, change: i64) -> Result<(), Fault> {
        if find_torrent(&self.torrents, &self.infohashes, &magnet.facts.infohashes)?.is_none() {
            tally.add(self.known.site_of(magnet.host)?, MAGNETS_ONLY, change);
        }
        Ok(())
    }

    fn insert_torrent(&mut self, torrent: &TorrentKept) -> Result<(), Fault> {
        let hashes = &torrent.facts.infohashes;
        self.put_torrent(hashes.key(), torrent)?;
        self.times.added(torrent.stored, hashes.key())?;
        if let Some(other) = other_hash(hashes) {
            self.infohashes.insert(&other[..], hashes.key())?;
        }
        Ok(())
    }

    /// Stores a visit's torrent or counts it as seen; true if it was unknown.
    pub(super) fn take_torrent(
        &mut self,
        facts: &TorrentFacts,
        visit: &Visit,
        tally: &mut Tally,
    ) -> Result<bool, Fault> {
        let source = source_of(visit, visit.via.clone());
        if let Some(key) = find_torrent(&self.torrents, &self.infohashes, &facts.infohashes)? {
            let mut torrent = self.torrent(&key)?;
            torrent.seen_count = torrent.seen_count.saturating_add(1);
            self.add_source_of(&key, torrent, source, tally)?;
            return Ok(false);
        }
        let mut torrent = TorrentKept {
            facts: facts.clone(),
            first_host: Some(visit.key.host),
            stored: visit.at,
            seen_count: 1,
            sources: Vec::with_capacity(1),
        };
        tally.add(self.known.site_of(visit.key.host)?, TORRENT_ROWS, 1);
        self.add_source(&mut torrent, source, tally)?;
        self.add_magnet_pages(&mut torrent, tally)?;
        self.insert_torrent(&torrent)?;
        Ok(true)
    }

    /// Inserts an orphan, unless its torrent is known.
    pub(super) fn adopt(&mut self, facts: TorrentFacts, now: UnixMillis, tally: &mut Tally) -> Result<(), Fault> {
        if find_torrent(&self.torrents, &self.infohashes, &facts.infohashes)?.is_some() {
            return Ok(());
        }
        let mut torrent = TorrentKept { facts, first_host: None, stored: now, seen_count: 0, sources: Vec::new() };
        self.add_magnet_pages(&mut torrent, tally)?;
        self.insert_torrent(&torrent)
    }

    /// Removes a torrent; returns its sources.
    pub(super) fn forget(&mut self, hashes: &Infohashes, tally: &mut Tally) -> Result<Vec<Found>, Fault> {
        let Some(key) = find_torrent(&self.torrents, &self.infohashes, hashes)? else {
            return Ok(Vec::new());
        };
        let torrent = self.torrent(&key)?;
        self.torrents.remove(&*key)?;
        self.times.removed(torrent.stored, &key)?;
        if let Some(other) = other_hash(&torrent.facts.infohashes) {
            self.infohashes.remove(&other[..])?;
        }
        if let Some(host) = torrent.first_host {
            tally.add(self.known.site_of(host)?, TORRENT_ROWS, -1);
        }
        let (one, two) = self.magnet_rows(&torrent.facts.infohashes)?;
        for (magnet_key, magnet) in [one, two].into_iter().flatten() {
            self.count_magnet(&magnet, tally, 1)?;
            if magnet_key != key {
                self.times.changed(&magnet_key)?;
            }
        }
        let mut sites = Vec::new();
        for found in &torrent.sources {
            sites.push(self.known.site_of(found.host)?);
        }
        sites.sort_unstable();
        sites.dedup();
        sites.into_iter().for_each(|site| tally.add(site, TORRENTS_SEEN, -1));
        Ok(torrent.sources)
    }

    fn magnet_row(&self, hash: Option<&[u8]>) -> Result<MagnetRow, Fault> {
        let Some(key) = find_key(&self.magnets, &self.magnet_hashes, hash)? else {
            return Ok(None);
        };
        let row = self.magnets.get(&*key)?.and_then(|value| MagnetKept::decode(value.value()));
        row.map(|row| Some((key, row))).ok_or_else(|| Fault::row("magnets"))
    }

    /// The rows of the v1 and the v2 hash; the second only if it differs.
    fn magnet_rows(&self, hashes: &Infohashes) -> Result<(MagnetRow, MagnetRow), Fault> {
        let one = self.magnet_row(hashes.v1.as_ref().map(|v1| &v1[..]))?;
        let two = self.magnet_row(hashes.v2.as_ref().map(|v2| &v2[..]))?;
        let two = two.filter(|(key, _)| one.as_ref().is_none_or(|(first, _)| first != key));
        Ok((one, two))
    }

    fn put_magnet(&mut self, magnet: &MagnetKept) -> Result<(), Fault> {
        let hashes = magnet.facts.infohashes;
        self.value.clear();
        magnet.encode(&mut self.value);
        self.magnets.insert(hashes.key(), self.value.as_slice())?;
        if let Some(other) = other_hash(&hashes) {
            self.magnet_hashes.insert(&other[..], hashes.key())?;
        }
        Ok(())
    }

    /// True if the magnet names a torrent that was neither stored nor named.
    pub(super) fn take_magnet(&mut self, facts: &MagnetFacts, visit: &Visit, tally: &mut Tally) -> Result<bool, Fault> {
        if let Some(key) = find_torrent(&self.torrents, &self.infohashes, &facts.infohashes)? {
            let torrent = self.torrent(&key)?;
            self.add_source_of(&key, torrent, source_of(visit, None), tally)?;
            return Ok(false);
        }
        match self.magnet_rows(&facts.infohashes)? {
            (None, None) => {
                let UrlKey { host, path } = visit.key.clone();
                self.put_magnet(&MagnetKept { facts: facts.clone(), host, path, first_seen: visit.at })?;
                self.times.changed(facts.infohashes.key())?;
                tally.add(self.known.site_of(host)?, MAGNETS_ONLY, 1);
                Ok(true)
            }
            (Some(one), Some(two)) => self.join_magnets(one, two, tally).map(|()| false),
            (one, two) => {
                if let Some((key, mut magnet)) = one.or(two) {
                    let before = magnet.facts.clone();
                    magnet.facts.infohashes = merge::filled(magnet.facts.infohashes, facts.infohashes);
                    magnet.facts.name = magnet.facts.name.or_else(|| facts.name.clone());
                    if magnet.facts != before {
                        self.magnets.remove(&*key)?;
                        self.put_magnet(&magnet)?;
                        self.magnets_changed(&[&key, magnet.facts.infohashes.key()])?;
                    }
                }
                Ok(false)
            }
        }
    }

    /// Merges two magnets, one known by its v1 hash and one by its v2 hash, that name the same torrent.
    fn join_magnets(&mut self, one: Row<MagnetKept>, two: Row<MagnetKept>, tally: &mut Tally) -> Result<(), Fault> {
        let ((one_key, one), (two_key, two)) = (one, two);
        if one.facts.infohashes.v2.is_some() || two.facts.infohashes.v1.is_some() {
            return Ok(());
        }
        let (mut kept, dropped) = if one.first_seen <= two.first_seen { (one, two) } else { (two, one) };
        kept.facts.infohashes = merge::filled(kept.facts.infohashes, dropped.facts.infohashes);
        kept.facts.name = kept.facts.name.or(dropped.facts.name);
        tally.add(self.known.site_of(dropped.host)?, MAGNETS_ONLY, -1);
        self.magnets.remove(&*one_key)?;
        self.magnets.remove(&*two_key)?;
        self.put_magnet(&kept)?;
        self.magnets_changed(&[&one_key, &two_key])
    }

    /// Appends magnets to the line of changes, each once.
    fn magnets_changed(&mut self, keys: &[&[u8]]) -> Result<(), Fault> {
        let keys: BTreeSet<&[u8]> = keys.iter().copied().collect();
        keys.into_iter().try_for_each(|key| self.times.changed(key))
    }

    /// Stores the listing of an index page.
    pub(super) fn take_listing(&mut self, listing: &Listing, visit: &Visit) -> Result<(), Fault> {
        if listing.series.len() > limits::URL_BYTES_MAX {
            return Ok(());
        }
        let mut listings = self.txn.open_table(LISTINGS)?;
        let key = codec::listing_key(visit.key.host, &listing.series, listing.page);
        let kept = listings.get(key.as_slice())?.map(|value| codec::looks_from(value.value()));
        let looks = match kept {
            Some(Some(mut looks)) => {
                looks.again(listing, visit.at);
                looks
            }
            Some(None) => return Err(Fault::row("listings")),
            None => Looks::first(listing, visit.at),
        };
        self.value.clear();
        codec::put_looks(&mut self.value, &looks);
        listings.insert(key.as_slice(), self.value.as_slice())?;
        Ok(())
    }

    /// Stores page bodies with their visits, in batch order: the first URL recorded with a body owns it. `told` is called
    /// with whether the visit's URL is the owner.
    pub(super) fn take_bodies(
        &mut self,
        mut bodies: Vec<(codec::BodyKey, &UrlKey, usize)>,
        mut told: impl FnMut(usize, bool),
    ) -> Result<(), Fault> {
        if bodies.is_empty() {
            return Ok(());
        }
        bodies.sort_by_key(|(key, _, _)| *key);
        let mut table = self.txn.open_table(BODIES)?;
        for same in bodies.chunk_by(|(a, _, _), (b, _, _)| a == b) {
            let (key, first, _) = &same[0];
            let kept = table.get(key)?.map(|owner| owner.value());
            let owner = kept.unwrap_or_else(|| path_hash(&first.path));
            if kept.is_none() {
                table.insert(key, owner)?;
            }
            for (_, url, visit) in same {
                told(*visit, path_hash(&url.path) == owner);
            }
        }
        Ok(())
    }
}

/// The hash of a path in `bodies`.
fn path_hash(path: &str) -> u64 {
    xxh3_64(path.as_bytes())
}
