//! Small state that every call needs: hosts and counts. Held in memory, loaded when the file is opened, changed
//! only after the commit that made the change durable.

use std::collections::{BTreeMap, HashMap};

use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::codec;
use super::open::Fault;
use super::tables::{COUNTS, HOSTS, LABELS, META, META_NEXT_SEQ};
use crate::crawldb::labels::Labels;
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::{HostId, HostRow, LabelRow, SiteCounts};

/// Numbers of counters that are no outcomes; outcomes count under their codes, which stay below 64.
pub(super) const BODY_BYTES: u8 = 64;
pub(super) const URLS_KNOWN: u8 = 65;
pub(super) const URLS_QUEUED: u8 = 66;
pub(super) const TORRENT_ROWS: u8 = 67;
/// Rows of `magnets` whose torrent is not stored.
pub(super) const MAGNETS_ONLY: u8 = 68;
pub(super) const CRAWL_MS: u8 = 69;
pub(super) const TORRENTS_SEEN: u8 = 70;
pub(super) const URLS_GONE: u8 = 71;
pub(super) const PAGES_NOT_WHOLE: u8 = 72;
/// Those of them that have a row in `not_whole`.
pub(super) const NOT_WHOLE_ROWS: u8 = 73;

/// Number of a site within this process.
pub(super) type SiteNumber = u32;

#[derive(Default)]
pub(super) struct CachedTables {
    pub hosts: Vec<HostRow>,
    ids: HashMap<Box<str>, HashMap<Box<str>, HostId>>,
    host_sites: Vec<SiteNumber>,
    site_numbers: HashMap<Box<str>, SiteNumber>,
    site_names: Vec<Box<str>>,
    counts: Vec<BTreeMap<u8, u64>>,
    pub labels: Labels,
    pub next_seq: u64,
}

/// Changes of counts, gathered while a transaction is written.
#[derive(Default)]
pub(super) struct Tally {
    changes: BTreeMap<(SiteNumber, u8), i64>,
}

impl Tally {
    pub(super) fn add(&mut self, site: SiteNumber, counter: u8, change: i64) {
        *self.changes.entry((site, counter)).or_default() += change;
    }

    pub(super) fn add_size(&mut self, site: SiteNumber, counter: u8, size: u64) {
        self.add(site, counter, i64::try_from(size).unwrap_or(i64::MAX));
    }
}

impl CachedTables {
    pub(super) fn load(db: &Database) -> Result<Self, Fault> {
        let mut known = Self::default();
        let txn = db.begin_read()?;
        for row in txn.open_table(HOSTS)?.iter()? {
            let (id, value) = row?;
            let id = HostId(id.value());
            let host = codec::host_from(id, value.value()).ok_or_else(|| Fault::row("hosts"))?;
            if id.0 as usize != known.hosts.len() {
                return Err(Fault::Damaged("the numbers of the hosts have a gap".into()));
            }
            known.add_host(host);
        }
        for row in txn.open_table(COUNTS)?.iter()? {
            let (key, count) = row?;
            let (counter, site) = key.value().split_last().ok_or_else(|| Fault::row("counts"))?;
            let site = std::str::from_utf8(site).map_err(|_| Fault::row("counts"))?;
            let number = known.site_number(site);
            known.counts[number as usize].insert(*counter, count.value());
        }
        for row in txn.open_table(LABELS)?.iter()? {
            let (number, value) = row?;
            let (site, text) = value.value();
            known.labels.add(LabelRow { site: site.into(), text: text.into(), number: number.value() });
        }
        known.next_seq = txn.open_table(META)?.get(META_NEXT_SEQ)?.map_or(0, |seq| seq.value());
        Ok(known)
    }

    pub(super) fn host_id(&self, site: &str, origin: &str) -> Option<HostId> {
        self.ids.get(site)?.get(origin).copied()
    }

    pub(super) fn host(&self, host: HostId) -> Result<&HostRow, Fault> {
        self.hosts.get(host.0 as usize).ok_or(Fault::UnknownHost(host))
    }

    /// The site of a host that [`Self::host`] knows.
    pub(super) fn site_of(&self, host: HostId) -> Result<SiteNumber, Fault> {
        self.host_sites.get(host.0 as usize).copied().ok_or(Fault::UnknownHost(host))
    }

    /// The name of a host's site; empty for one that is unknown.
    pub(super) fn site_name(&self, host: HostId) -> &str {
        self.hosts.get(host.0 as usize).map_or("", |host| &host.site)
    }

    /// The text of a URL.
    pub(super) fn url_text(&self, host: HostId, path: &str) -> Box<str> {
        let origin = self.hosts.get(host.0 as usize).map_or("", |host| &host.origin);
        format!("{origin}{path}").into()
    }

    pub(super) fn add_host(&mut self, host: HostRow) {
        let site = self.site_number(&host.site);
        self.host_sites.push(site);
        self.ids.entry(host.site.clone()).or_default().insert(host.origin.clone(), host.id);
        self.hosts.push(host);
    }

    /// The number of a site, assigned at first use.
    pub(super) fn site_number(&mut self, site: &str) -> SiteNumber {
        if let Some(&number) = self.site_numbers.get(site) {
            return number;
        }
        let number = SiteNumber::try_from(self.site_names.len()).unwrap_or(SiteNumber::MAX);
        self.site_numbers.insert(site.into(), number);
        self.site_names.push(site.into());
        self.counts.push(BTreeMap::new());
        number
    }

    fn changed(&self, site: SiteNumber, counter: u8, change: i64) -> u64 {
        let before = self.counts.get(site as usize).and_then(|counts| counts.get(&counter)).copied().unwrap_or(0);
        before.saturating_add_signed(change)
    }

    /// The value of a count once these changes are written.
    pub(super) fn count_with(&self, tally: &Tally, site: SiteNumber, counter: u8) -> u64 {
        self.changed(site, counter, tally.changes.get(&(site, counter)).copied().unwrap_or(0))
    }

    /// Writes the changed counts and the next sequence number.
    pub(super) fn write(&self, txn: &WriteTransaction, tally: &Tally, next_seq: u64) -> Result<(), Fault> {
        let mut table = txn.open_table(COUNTS)?;
        let mut key = Vec::new();
        for (&(site, counter), &change) in &tally.changes {
            key.clear();
            key.extend_from_slice(self.site_names[site as usize].as_bytes());
            key.push(counter);
            table.insert(key.as_slice(), self.changed(site, counter, change))?;
        }
        if next_seq != self.next_seq {
            txn.open_table(META)?.insert(META_NEXT_SEQ, next_seq)?;
        }
        Ok(())
    }

    /// Applies what [`Self::write`] wrote, after the commit.
    pub(super) fn apply(&mut self, tally: &Tally, labels: Vec<LabelRow>, next_seq: u64) {
        labels.into_iter().for_each(|row| self.labels.add(row));
        for (&(site, counter), &change) in &tally.changes {
            let count = self.changed(site, counter, change);
            self.counts[site as usize].insert(counter, count);
        }
        self.next_seq = next_seq;
    }

    pub(super) fn site_counts(&self, site: &str) -> SiteCounts {
        let Some(counts) = self.site_numbers.get(site).and_then(|&number| self.counts.get(number as usize)) else {
            return SiteCounts::default();
        };
        let count = |counter| counts.get(&counter).copied().unwrap_or(0);
        SiteCounts {
            outcomes: Outcome::ALL
                .into_iter()
                .map(|outcome| (outcome, count(outcome.code())))
                .filter(|&(_, count)| count > 0)
                .collect(),
            body_bytes: count(BODY_BYTES),
            urls_known: count(URLS_KNOWN),
            urls_queued: count(URLS_QUEUED),
            torrents: count(TORRENT_ROWS),
            magnets: count(MAGNETS_ONLY),
            crawl_ms: count(CRAWL_MS),
            torrents_seen: count(TORRENTS_SEEN),
            urls_gone: count(URLS_GONE),
            pages_not_whole: count(PAGES_NOT_WHOLE),
        }
    }
}
