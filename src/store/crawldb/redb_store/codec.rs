//! Hand-written encoding of the rows: keys with the sort order that the design needs, small values.
//! `docs/design/crawldb.md` describes each. Decoding never panics: an invalid row is `None`, and the caller reports damage.
//!
//! Times are 48 bits of milliseconds (until the year 10889), as are sequence numbers (10⁹ pages of 10⁵ links);
//! larger values saturate.

use crate::crawldb::merge::{Found, Looks};
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::{HostId, HostRow, MagnetFacts, TorrentFacts};
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;

/// Bytes of a time or sequence number.
pub(super) const U48: usize = 6;
const U48_LAST: u64 = (1 << 48) - 1;

pub(super) type QueueKey = [u8; 4 + 1 + U48];
pub(super) type LaterKey = [u8; 4 + U48 + U48];
pub(super) type BodyKey = [u8; 4 + 8];

/// Reads fields from the front of a value; `None` once it is too short.
struct FieldReader<'b>(&'b [u8]);

impl<'b> FieldReader<'b> {
    fn bytes(&mut self, length: usize) -> Option<&'b [u8]> {
        let (front, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(front)
    }

    fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (front, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*front)
    }

    fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    fn u48(&mut self) -> Option<u64> {
        self.array().map(u48_from)
    }

    fn time(&mut self) -> Option<UnixMillis> {
        self.u48().map(UnixMillis)
    }

    fn text(&mut self, length: usize) -> Option<&'b str> {
        std::str::from_utf8(self.bytes(length)?).ok()
    }

    /// A length-prefixed text.
    fn counted_text(&mut self) -> Option<&'b str> {
        let length = self.u32()?;
        self.text(length as usize)
    }

    fn optional_text(&mut self) -> Option<Option<Box<str>>> {
        match self.u8()? {
            0 => Some(None),
            _ => Some(Some(self.counted_text()?.into())),
        }
    }

    fn hashes(&mut self) -> Option<Infohashes> {
        let flags = self.u8()?;
        let v1 = if flags & 1 != 0 { Some(self.array()?) } else { None };
        let v2 = if flags & 2 != 0 { Some(self.array()?) } else { None };
        Some(Infohashes { v1, v2 })
    }
}

pub(super) fn u48_bytes(value: u64) -> [u8; U48] {
    let [b0, b1, b2, b3, b4, b5, _, _] = value.min(U48_LAST).to_le_bytes();
    [b0, b1, b2, b3, b4, b5]
}

pub(super) fn u48_from(bytes: [u8; U48]) -> u64 {
    let [b0, b1, b2, b3, b4, b5] = bytes;
    u64::from_le_bytes([b0, b1, b2, b3, b4, b5, 0, 0])
}

/// Big-endian, so that keys sort by value.
fn u48_key(value: u64) -> [u8; U48] {
    let mut bytes = u48_bytes(value);
    bytes.reverse();
    bytes
}

fn put_counted(out: &mut Vec<u8>, text: &str) {
    out.extend_from_slice(&u32::try_from(text.len()).unwrap_or(u32::MAX).to_le_bytes());
    out.extend_from_slice(text.as_bytes());
}

fn put_optional(out: &mut Vec<u8>, text: Option<&str>) {
    out.push(u8::from(text.is_some()));
    if let Some(text) = text {
        put_counted(out, text);
    }
}

fn put_hashes(out: &mut Vec<u8>, hashes: &Infohashes) {
    out.push(u8::from(hashes.v1.is_some()) | u8::from(hashes.v2.is_some()) << 1);
    out.extend(hashes.v1.iter().flatten());
    out.extend(hashes.v2.iter().flatten());
}

/// `urls` key: host, then the path as it is.
pub(super) fn put_url_key(out: &mut Vec<u8>, host: HostId, path: &str) {
    out.extend_from_slice(&host.0.to_be_bytes());
    out.extend_from_slice(path.as_bytes());
}

/// `queue` key: host, rank, sequence number.
pub(super) fn queue_key(host: HostId, rank: u8, seq: u64) -> QueueKey {
    let mut key = [0; 4 + 1 + U48];
    key[..4].copy_from_slice(&host.0.to_be_bytes());
    key[4] = rank;
    key[5..].copy_from_slice(&u48_key(seq));
    key
}

/// Rank and sequence number of a `queue` key.
pub(super) fn queue_position(key: &QueueKey) -> (u8, u64) {
    let [_, _, _, _, rank, seq @ ..] = *key;
    let mut seq: [u8; U48] = seq;
    seq.reverse();
    (rank, u48_from(seq))
}

/// `later` key: host, due time, sequence number.
pub(super) fn later_key(host: HostId, due: UnixMillis, seq: u64) -> LaterKey {
    let mut key = [0; 4 + U48 + U48];
    key[..4].copy_from_slice(&host.0.to_be_bytes());
    key[4..4 + U48].copy_from_slice(&u48_key(due.0));
    key[4 + U48..].copy_from_slice(&u48_key(seq));
    key
}

/// Due time and sequence number of a `later` key.
pub(super) fn later_position(key: &LaterKey) -> (UnixMillis, u64) {
    let mut due = [0; U48];
    let mut seq = [0; U48];
    due.copy_from_slice(&key[4..4 + U48]);
    seq.copy_from_slice(&key[4 + U48..]);
    due.reverse();
    seq.reverse();
    (UnixMillis(u48_from(due)), u48_from(seq))
}

/// Appends a `parked` key: host, token, path.
pub(super) fn put_parked_key(out: &mut Vec<u8>, host: HostId, token: u64, path: &str) {
    out.extend_from_slice(&host.0.to_be_bytes());
    out.extend_from_slice(&token.to_be_bytes());
    out.extend_from_slice(path.as_bytes());
}

/// Token and path of a `parked` key.
pub(super) fn parked_position(key: &[u8]) -> Option<(u64, &str)> {
    let (token, path) = key.get(4..)?.split_first_chunk()?;
    Some((u64::from_be_bytes(*token), std::str::from_utf8(path).ok()?))
}

/// `bodies` key: host, hash of the body.
pub(super) fn body_key(host: HostId, body_hash: u64) -> BodyKey {
    let mut key = [0; 4 + 8];
    key[..4].copy_from_slice(&host.0.to_be_bytes());
    key[4..].copy_from_slice(&body_hash.to_be_bytes());
    key
}

/// `listings` key: host, series, page. A zero byte in the series is doubled as `00 FF` and the series ends with
/// `00 00`, so that keys sort as the triples do.
pub(super) fn listing_key(host: HostId, series: &str, page: u64) -> Vec<u8> {
    let mut key = Vec::with_capacity(4 + series.len() + 2 + 8);
    key.extend_from_slice(&host.0.to_be_bytes());
    for &byte in series.as_bytes() {
        key.push(byte);
        if byte == 0 {
            key.push(0xFF);
        }
    }
    key.extend_from_slice(&[0, 0]);
    key.extend_from_slice(&page.to_be_bytes());
    key
}

/// Series and page of a `listings` key.
pub(super) fn listing_position(key: &[u8]) -> Option<(Box<str>, u64)> {
    let (body, page) = key.get(4..)?.split_last_chunk::<8>()?;
    let series = body.strip_suffix(&[0, 0])?;
    let mut text = Vec::with_capacity(series.len());
    let mut bytes = series.iter();
    while let Some(&byte) = bytes.next() {
        text.push(byte);
        if byte == 0 && bytes.next() != Some(&0xFF) {
            return None;
        }
    }
    Some((String::from_utf8(text).ok()?.into(), u64::from_be_bytes(*page)))
}

/// The position of a URL in the queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueuePosition {
    pub seq: u64,
    /// The time it was queued for; zero means at once.
    pub due: UnixMillis,
    /// True while it is in `later`, false while it is in `queue`.
    pub later: bool,
}

impl QueuePosition {
    /// The position for a URL queued for `due`.
    pub(super) fn of(seq: u64, due: UnixMillis) -> Self {
        Self { seq, due, later: due.0 != 0 }
    }
}

/// A `urls` value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct UrlRow {
    pub place: Option<QueuePosition>,
    /// The token that it is parked under; None while it is queued.
    pub parked: Option<u64>,
    pub outcome: Option<Outcome>,
    pub rank: u8,
    pub attempts: u8,
    pub depth: u16,
    pub first_seen: UnixMillis,
    pub visited: UnixMillis,
    /// True if `memos` may have a row for it.
    pub memo: bool,
    /// True for a page that was not read whole, whether or not `not_whole` has a row for it.
    pub not_whole: bool,
}

const QUEUED: u8 = 1;
const LATER: u8 = 2;
const VISITED: u8 = 4;
const DUE: u8 = 8;
const PARKED: u8 = 16;
const MEMO: u8 = 32;
const NOT_WHOLE: u8 = 64;

/// A `urls` value as bytes: 18 for a queued or finished URL, so that a first visit rewrites the value in place; up
/// to 30 for one that waits for a retry, 26 for a parked one.
pub(super) struct UrlBytes {
    bytes: [u8; 30],
    length: usize,
}

impl UrlBytes {
    pub(super) fn as_slice(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

impl UrlRow {
    pub(super) fn encode(&self) -> UrlBytes {
        let mut flags = if self.memo { MEMO } else { 0 } | if self.not_whole { NOT_WHOLE } else { 0 };
        let mut bytes = [0; 30];
        let mut length = 18;
        let mut slot = self.visited.0;
        let visited = self.outcome.is_some();
        if visited {
            flags |= VISITED;
        }
        if let Some(place) = self.place {
            flags |= QUEUED | if place.later { LATER } else { 0 };
            slot = place.seq;
            if visited {
                bytes[length..length + U48].copy_from_slice(&u48_bytes(self.visited.0));
                length += U48;
            }
            if place.due.0 != 0 {
                flags |= DUE;
                bytes[length..length + U48].copy_from_slice(&u48_bytes(place.due.0));
                length += U48;
            }
        } else if let Some(token) = self.parked {
            flags |= PARKED;
            bytes[length..length + 8].copy_from_slice(&token.to_le_bytes());
            length += 8;
        }
        bytes[0] = flags;
        bytes[1] = self.outcome.map_or(0, Outcome::code);
        bytes[2] = self.rank;
        bytes[3] = self.attempts;
        bytes[4..6].copy_from_slice(&self.depth.to_le_bytes());
        bytes[6..12].copy_from_slice(&u48_bytes(self.first_seen.0));
        bytes[12..18].copy_from_slice(&u48_bytes(slot));
        UrlBytes { bytes, length }
    }

    /// Bytes after the fields announced by the flags belong to a later version and are skipped.
    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = FieldReader(value);
        let flags = reader.u8()?;
        let outcome = Outcome::from_code(reader.u8()?);
        let (rank, attempts, depth) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let first_seen = reader.time()?;
        let slot = reader.u48()?;
        let mut visited = UnixMillis(0);
        let mut place = None;
        if flags & QUEUED != 0 {
            if flags & VISITED != 0 {
                visited = reader.time()?;
            }
            let due = if flags & DUE != 0 { reader.time()? } else { UnixMillis(0) };
            place = Some(QueuePosition { seq: slot, due, later: flags & LATER != 0 });
        } else if flags & VISITED != 0 {
            visited = UnixMillis(slot);
        }
        let parked = if flags & (QUEUED | PARKED) == PARKED { Some(reader.u64()?) } else { None };
        let (memo, not_whole) = (flags & MEMO != 0, flags & NOT_WHOLE != 0);
        Some(Self { place, parked, outcome, rank, attempts, depth, first_seen, visited, memo, not_whole })
    }
}

/// A value of `queue` or `later`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct QueueRow<'b> {
    pub rank: u8,
    pub attempts: u8,
    pub depth: u16,
    pub due: UnixMillis,
    pub path: &'b str,
    pub via: Option<&'b str>,
    /// True if `memos` may have a row for it.
    pub memo: bool,
}

const HAS_VIA: u8 = 1;
const HAS_DUE: u8 = 2;
const HAS_MEMO: u8 = 4;

impl<'b> QueueRow<'b> {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let has_due = self.due.0 != 0;
        out.push(
            if self.via.is_some() { HAS_VIA } else { 0 }
                | if has_due { HAS_DUE } else { 0 }
                | if self.memo { HAS_MEMO } else { 0 },
        );
        out.extend_from_slice(&[self.rank, self.attempts]);
        out.extend_from_slice(&self.depth.to_le_bytes());
        if has_due {
            out.extend_from_slice(&u48_bytes(self.due.0));
        }
        // Paths are at most limits::URL_BYTES_MAX bytes, which fits.
        out.extend_from_slice(&u16::try_from(self.path.len()).unwrap_or(u16::MAX).to_le_bytes());
        out.extend_from_slice(self.path.as_bytes());
        out.extend_from_slice(self.via.unwrap_or_default().as_bytes());
    }

    pub(super) fn decode(value: &'b [u8]) -> Option<Self> {
        let mut reader = FieldReader(value);
        let flags = reader.u8()?;
        let (rank, attempts, depth) = (reader.u8()?, reader.u8()?, reader.u16()?);
        let due = if flags & HAS_DUE != 0 { reader.time()? } else { UnixMillis(0) };
        let length = reader.u16()?;
        let path = reader.text(usize::from(length))?;
        let via = if flags & HAS_VIA != 0 { Some(std::str::from_utf8(reader.0).ok()?) } else { None };
        Some(Self { rank, attempts, depth, due, path, via, memo: flags & HAS_MEMO != 0 })
    }
}

/// A `torrents` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TorrentKept {
    pub facts: TorrentFacts,
    /// None for an adopted orphan.
    pub first_host: Option<HostId>,
    pub stored: UnixMillis,
    pub seen_count: u32,
    pub sources: Vec<Found>,
}

impl TorrentKept {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        let facts = &self.facts;
        put_hashes(out, &facts.infohashes);
        out.push(u8::from(facts.private) | u8::from(facts.created_unix.is_some()) << 1);
        if let Some(created) = facts.created_unix {
            out.extend_from_slice(&created.to_le_bytes());
        }
        out.extend_from_slice(&facts.payload_bytes.to_le_bytes());
        out.extend_from_slice(&facts.file_count.to_le_bytes());
        out.extend_from_slice(&facts.metainfo_bytes.to_le_bytes());
        out.extend_from_slice(&facts.sha256);
        out.extend_from_slice(&self.first_host.map_or(u32::MAX, |host| host.0).to_le_bytes());
        out.extend_from_slice(&u48_bytes(self.stored.0));
        out.extend_from_slice(&self.seen_count.to_le_bytes());
        put_counted(out, &facts.name);
        for found in &self.sources {
            out.extend_from_slice(&found.host.0.to_le_bytes());
            out.extend_from_slice(&u48_bytes(found.first_seen.0));
            out.extend_from_slice(&u48_bytes(found.last_seen.0));
            put_counted(out, &found.path);
            put_optional(out, found.via.as_deref());
        }
    }

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = FieldReader(value);
        let infohashes = reader.hashes()?;
        let flags = reader.u8()?;
        let created_unix = if flags & 2 != 0 { Some(i64::from_le_bytes(reader.array()?)) } else { None };
        let (payload_bytes, file_count, metainfo_bytes) = (reader.u64()?, reader.u32()?, reader.u32()?);
        let sha256 = reader.array()?;
        let first_host = Some(reader.u32()?).filter(|&host| host != u32::MAX).map(HostId);
        let (stored, seen_count) = (reader.time()?, reader.u32()?);
        let name = reader.counted_text()?.into();
        let mut sources = Vec::new();
        while !reader.0.is_empty() {
            let host = HostId(reader.u32()?);
            let (first_seen, last_seen) = (reader.time()?, reader.time()?);
            let path = reader.counted_text()?.into();
            let via = reader.optional_text()?;
            sources.push(Found { host, path, via, first_seen, last_seen });
        }
        let private = flags & 1 != 0;
        let facts =
            TorrentFacts { infohashes, name, payload_bytes, file_count, metainfo_bytes, sha256, created_unix, private };
        Some(Self { facts, first_host, stored, seen_count, sources })
    }
}

/// The infohashes at the start of a `torrents` or `magnets` value.
pub(super) fn leading_hashes(value: &[u8]) -> Option<Infohashes> {
    FieldReader(value).hashes()
}

/// A `magnets` value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct MagnetKept {
    pub facts: MagnetFacts,
    pub host: HostId,
    pub path: Box<str>,
    pub first_seen: UnixMillis,
}

impl MagnetKept {
    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        put_hashes(out, &self.facts.infohashes);
        out.extend_from_slice(&self.host.0.to_le_bytes());
        out.extend_from_slice(&u48_bytes(self.first_seen.0));
        put_counted(out, &self.path);
        put_optional(out, self.facts.name.as_deref());
        put_counted(out, &self.facts.link);
    }

    pub(super) fn decode(value: &[u8]) -> Option<Self> {
        let mut reader = FieldReader(value);
        let infohashes = reader.hashes()?;
        let host = HostId(reader.u32()?);
        let first_seen = reader.time()?;
        let path = reader.counted_text()?.into();
        let name = reader.optional_text()?;
        let link = reader.counted_text()?.into();
        Some(Self { facts: MagnetFacts { infohashes, name, link }, host, path, first_seen })
    }
}

/// `listings` value: the three sets of targets, the latest only if it differs from the first.
pub(super) fn put_looks(out: &mut Vec<u8>, looks: &Looks) {
    let same = looks.latest == looks.first;
    out.extend_from_slice(&looks.page_max.to_le_bytes());
    out.extend_from_slice(&u48_bytes(looks.at.0));
    out.push(u8::from(same));
    for set in [&looks.first, &looks.later, &looks.latest].into_iter().take(if same { 2 } else { 3 }) {
        out.extend_from_slice(&u32::try_from(set.len()).unwrap_or(u32::MAX).to_le_bytes());
        out.extend(set.iter().flat_map(|target| target.to_le_bytes()));
    }
}

/// The inverse of [`put_looks`].
pub(super) fn looks_from(value: &[u8]) -> Option<Looks> {
    let mut reader = FieldReader(value);
    let (page_max, at, same) = (reader.u64()?, reader.time()?, reader.u8()? != 0);
    let mut set = || {
        let count = reader.u32()? as usize;
        let bytes = reader.bytes(count.checked_mul(8)?)?;
        Some(bytes.as_chunks::<8>().0.iter().map(|chunk| u64::from_le_bytes(*chunk)).collect::<Vec<u64>>())
    };
    let (first, later) = (set()?, set()?);
    let latest = if same { first.clone() } else { set()? };
    Some(Looks { page_max, at, first, later, latest })
}

/// `hosts` value. A host without complaints has the same value as in schema 1.
pub(super) fn put_host(out: &mut Vec<u8>, host: &HostRow) {
    out.extend_from_slice(&u48_bytes(host.blocked_until.0));
    put_counted(out, &host.site);
    put_counted(out, &host.origin);
    put_counted(out, &host.blocked_reason);
    if host.complaints != 0 {
        out.extend_from_slice(&host.complaints.to_le_bytes());
    }
}

/// The inverse of [`put_host`].
pub(super) fn host_from(id: HostId, value: &[u8]) -> Option<HostRow> {
    let mut reader = FieldReader(value);
    let blocked_until = reader.time()?;
    let site = reader.counted_text()?.into();
    let origin = reader.counted_text()?.into();
    let blocked_reason = reader.counted_text()?.into();
    let complaints = if reader.0.is_empty() { 0 } else { reader.u32()? };
    Some(HostRow { id, site, origin, blocked_until, blocked_reason, complaints })
}

#[cfg(test)]
mod tests;
