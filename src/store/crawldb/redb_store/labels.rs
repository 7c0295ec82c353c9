//! Labels of URLs in one transaction, and of sources when torrents are read.

use redb::{Database, ReadOnlyTable, ReadTransaction, ReadableDatabase as _, ReadableTable as _, WriteTransaction};
use xxhash_rust::xxh3::xxh3_64;

use super::codec::{self, BodyKey, TorrentKept};
use super::known::CachedTables;
use super::open::Fault;
use super::tables::{LABELS, META, META_LABELLED, URL_LABELS};
use super::urls::UrlWrites;
use crate::crawldb::labels;
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::{HostId, Label, LabelRow, SiteLabels, Source, TorrentRow, UrlLabel, Visit};

/// Labels given in one transaction.
#[derive(Default)]
pub(super) struct LabelChanges {
    /// Those that were unknown.
    pub fresh: Vec<LabelRow>,
    /// URLs that were visited before they got another label.
    relabelled: u64,
}

impl LabelChanges {
    /// Writes new labels and the count of changed ones.
    pub(super) fn apply(&self, txn: &WriteTransaction) -> Result<(), Fault> {
        if !self.fresh.is_empty() {
            let mut labels = txn.open_table(LABELS)?;
            for LabelRow { site, text, number } in &self.fresh {
                labels.insert(number, (&**site, &**text))?;
            }
        }
        if self.relabelled > 0 {
            let mut meta = txn.open_table(META)?;
            let before = meta.get(META_LABELLED)?.map_or(0, |count| count.value());
            meta.insert(META_LABELLED, before + self.relabelled)?;
        }
        Ok(())
    }
}

fn url_key(host: HostId, path: &str) -> BodyKey {
    codec::body_key(host, xxh3_64(path.as_bytes()))
}

/// Stores the labels that pages give to URLs, in batch order, before their visits are settled. A redirect hands its own on.
pub(super) fn take<'v>(
    txn: &WriteTransaction,
    writes: &mut UrlWrites<'_>,
    visits: impl Iterator<Item = &'v Visit>,
) -> Result<(), Fault> {
    let known = writes.known();
    let mut opened = None;
    for visit in visits {
        let has_labels = !known.labels.is_empty() || !writes.changes.labels.fresh.is_empty();
        let hands_on = visit.outcome == Outcome::Redirected && has_labels;
        if visit.labels.is_empty() && !hands_on {
            continue;
        }
        let table = match &mut opened {
            Some(table) => table,
            None => opened.insert(txn.open_table(URL_LABELS)?),
        };
        for UrlLabel { key, text, is_own } in &visit.labels {
            let Some(number) = number(writes, key.host, text)? else { continue };
            let at = url_key(key.host, &key.path);
            let before = table.get(&at)?.map(|number| number.value());
            if before == Some(number) || before.is_some() && *is_own {
                continue;
            }
            table.insert(&at, number)?;
            let is_visited = writes.row(key)?.is_some_and(|row| row.outcome.is_some());
            writes.changes.labels.relabelled += u64::from(is_visited);
        }
        let own =
            if hands_on { table.get(&url_key(visit.key.host, &visit.key.path))?.map(|own| own.value()) } else { None };
        if let Some(own) = own {
            for link in &visit.outlinks {
                let at = url_key(link.key.host, &link.key.path);
                if table.get(&at)?.is_none() {
                    table.insert(&at, own)?;
                }
            }
        }
    }
    Ok(())
}

/// The number of a label, given at its first use.
fn number(writes: &mut UrlWrites<'_>, host: HostId, text: &str) -> Result<Option<u32>, Fault> {
    let known = writes.known();
    let site = known.host(host)?.site.clone();
    let fresh = &mut writes.changes.labels.fresh;
    let staged = fresh.iter().find(|row| row.site == site && &*row.text == text).map(|row| row.number);
    if let Some(number) = known.labels.number(&site, text).or(staged) {
        return Ok(Some(number));
    }
    let row = labels::is_keepable(text).then(|| known.labels.new_row(&site, text, fresh)).flatten();
    fresh.extend(row.clone());
    Ok(row.map(|row| row.number))
}

/// All labels.
pub(super) fn rows(known: &CachedTables, db: &Database) -> Result<SiteLabels, Fault> {
    let relabelled = db.begin_read()?.open_table(META)?.get(META_LABELLED)?.map_or(0, |count| count.value());
    Ok(SiteLabels { rows: known.labels.rows().collect(), relabelled })
}

/// Makes rows of torrents: names of sites, texts of URLs, labels.
pub(super) struct RowReader<'k> {
    known: &'k CachedTables,
    /// None while no site has a label.
    labels: Option<ReadOnlyTable<&'static BodyKey, u32>>,
}

impl<'k> RowReader<'k> {
    pub(super) fn of(known: &'k CachedTables, txn: &ReadTransaction) -> Result<Self, Fault> {
        let labels = if known.labels.is_empty() { None } else { Some(txn.open_table(URL_LABELS)?) };
        Ok(Self { known, labels })
    }

    /// The number of a URL's label.
    pub(super) fn number(&self, host: HostId, path: &str) -> Result<Option<u32>, Fault> {
        let Some(labels) = &self.labels else { return Ok(None) };
        Ok(labels.get(&url_key(host, path))?.map(|number| number.value()))
    }

    /// The label of a URL.
    pub(super) fn label(&self, host: HostId, path: &str) -> Result<Option<Label>, Fault> {
        let number = self.number(host, path)?;
        Ok(number.and_then(|number| Some(Label { number, text: self.known.labels.text(number)?.into() })))
    }

    /// The label of a source, else that of the page which has its link.
    fn label_of(&self, host: HostId, path: &str, via: Option<&str>) -> Result<Option<Label>, Fault> {
        if self.labels.is_none() {
            return Ok(None);
        }
        if let Some(own) = self.label(host, path)? {
            return Ok(Some(own));
        }
        let of_page = via.and_then(|via| {
            let origin = via.find("://").and_then(|at| via[at + 3..].find('/').map(|end| at + 3 + end))?;
            let (origin, path) = via.split_at(origin);
            Some((self.known.host_id(self.known.site_name(host), origin)?, path))
        });
        of_page.map_or(Ok(None), |(host, path)| self.label(host, path))
    }

    pub(super) fn row(&self, kept: TorrentKept) -> Result<TorrentRow, Fault> {
        let known = self.known;
        let mut sources = Vec::with_capacity(kept.sources.len());
        for found in kept.sources {
            sources.push(Source {
                site: known.site_name(found.host).into(),
                url: known.url_text(found.host, &found.path),
                label: self.label_of(found.host, &found.path, found.via.as_deref())?,
                via: found.via,
                first_seen: found.first_seen,
                last_seen: found.last_seen,
            });
        }
        sources.sort_by(|a, b| (&a.url, &a.site).cmp(&(&b.url, &b.site)));
        Ok(TorrentRow {
            facts: kept.facts,
            site: kept.first_host.map_or("", |host| known.site_name(host)).into(),
            stored: kept.stored,
            seen_count: kept.seen_count,
            sources,
        })
    }
}
