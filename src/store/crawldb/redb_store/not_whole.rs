//! Pages that were not read whole: a flag in `urls` for each, and a row with the reason for up to
//! `limits::NOT_WHOLE_PAGES_MAX` per site. Both are written with the visit.

use redb::{Database, ReadableDatabase, ReadableTable, WriteTransaction};

use super::codec::{self, UrlRow};
use super::known::{CachedTables, NOT_WHOLE_ROWS, PAGES_NOT_WHOLE, SiteNumber, Tally};
use super::open::Fault;
use super::tables::NOT_WHOLE;
use super::urls::UrlChanges;
use crate::crawldb::merge::{self, NotWholeChange};
use crate::crawldb::record::{NotWholeRow, Visit};
use crate::limits;
use gleaner_base::clock::UnixMillis;

/// The result of the visits of one URL in a batch: that of the last one that read the page.
pub(super) struct NotWholeSettled<'v> {
    was: bool,
    change: NotWholeChange<'v>,
    at: UnixMillis,
}

impl<'v> NotWholeSettled<'v> {
    pub(super) fn of(before: Option<UrlRow>) -> Self {
        let was = before.is_some_and(|row| row.not_whole);
        Self { was, change: NotWholeChange::Stays, at: UnixMillis(0) }
    }

    pub(super) fn visited(&mut self, visit: &'v Visit) {
        match merge::not_whole_change(visit) {
            NotWholeChange::Stays => {}
            change => (self.change, self.at) = (change, visit.at),
        }
    }

    /// Collects the change of the page's row; true if it was not read whole.
    pub(super) fn settle(self, url_key: &[u8], site: SiteNumber, changes: &mut UrlChanges) -> bool {
        let row = match self.change {
            NotWholeChange::Stays => return self.was,
            NotWholeChange::Goes if !self.was => return false,
            NotWholeChange::Goes => None,
            NotWholeChange::Becomes(reason) => Some((reason.into(), self.at)),
        };
        let is_now = row.is_some();
        if is_now != self.was {
            changes.tally.add(site, PAGES_NOT_WHOLE, if is_now { 1 } else { -1 });
        }
        changes.not_whole.0.push(RowOf { url_key: url_key.into(), site, row });
        is_now
    }
}

/// Changes of rows in one transaction.
#[derive(Default)]
pub(super) struct NotWholeChanges(Vec<RowOf>);

struct RowOf {
    url_key: Box<[u8]>,
    site: SiteNumber,
    /// Reason and time; None to delete it.
    row: Option<(Box<str>, UnixMillis)>,
}

impl NotWholeChanges {
    /// Writes the changes and counts the rows.
    pub(super) fn apply(&self, txn: &WriteTransaction, known: &CachedTables, tally: &mut Tally) -> Result<(), Fault> {
        if self.0.is_empty() {
            return Ok(());
        }
        let mut rows = txn.open_table(NOT_WHOLE)?;
        let mut value = Vec::new();
        for RowOf { url_key, site, row } in &self.0 {
            let Some((reason, at)) = row else {
                if rows.remove(&**url_key)?.is_some() {
                    tally.add(*site, NOT_WHOLE_ROWS, -1);
                }
                continue;
            };
            let is_listed = rows.get(&**url_key)?.is_some();
            let has_room = known.count_with(tally, *site, NOT_WHOLE_ROWS) < limits::NOT_WHOLE_PAGES_MAX as u64;
            if is_listed || has_room {
                value.clear();
                put_value(&mut value, reason, *at);
                rows.insert(&**url_key, value.as_slice())?;
                tally.add(*site, NOT_WHOLE_ROWS, i64::from(!is_listed));
            }
        }
        Ok(())
    }
}

/// Appends a value: time, length of the reason, reason.
fn put_value(out: &mut Vec<u8>, reason: &str, at: UnixMillis) {
    out.extend_from_slice(&codec::u48_bytes(at.0));
    // A reason has at most limits::NOT_WHOLE_REASON_BYTES_MAX bytes, which fits.
    out.extend_from_slice(&u16::try_from(reason.len()).unwrap_or(u16::MAX).to_le_bytes());
    out.extend_from_slice(reason.as_bytes());
}

/// Reason and time of a value; None for an invalid value.
pub(super) fn from_value(value: &[u8]) -> Option<(Box<str>, UnixMillis)> {
    let (at, rest) = value.split_first_chunk::<{ codec::U48 }>()?;
    let (length, rest) = rest.split_first_chunk()?;
    let reason = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
    Some((std::str::from_utf8(reason).ok()?.into(), UnixMillis(codec::u48_from(*at))))
}

/// The rows of a site, in the order of (host, path).
pub(super) fn rows(known: &CachedTables, db: &Database, site: &str) -> Result<Vec<NotWholeRow>, Fault> {
    let table = db.begin_read()?.open_table(NOT_WHOLE)?;
    let mut rows = Vec::new();
    for host in known.hosts.iter().filter(|host| &*host.site == site) {
        // No host has the last number.
        let (first, behind) = (host.id.0.to_be_bytes(), host.id.0.saturating_add(1).to_be_bytes());
        for row in table.range::<&[u8]>(&first[..]..&behind[..])? {
            let (key, value) = row?;
            let path = key.value().get(4..).and_then(|path| std::str::from_utf8(path).ok());
            let (path, (reason, at)) = path.zip(from_value(value.value())).ok_or_else(|| Fault::row("not_whole"))?;
            rows.push(NotWholeRow { url: known.url_text(host.id, path), reason, at });
        }
    }
    Ok(rows)
}
