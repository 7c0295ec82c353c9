//! A row of the update crawldb: its content, when it is settled, and its encoding.

use crate::crawldb::{Discovered, UrlKey, UrlRecord};
use gleaner_base::clock::UnixMillis;

/// A URL that the increment has found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UpdateRow {
    pub key: UrlKey,
    pub found: UnixMillis,
    /// Links from the rechecked page.
    pub level: u8,
    /// As in [`Discovered`], for history.
    pub depth: u16,
    pub rank: u8,
    pub via: Option<Box<str>>,
    pub is_target: bool,
    /// True for a page that was fetched before and is to be revisited.
    pub again: bool,
}

impl UpdateRow {
    /// True if it needs no visit any more: a new URL has had one, a revisit has ended after it was requested (for one that
    /// began before see [`super::UpdateDb::keep_asked_since`]). A visit later than `now` was made by a clock that was set back since; its
    /// time means nothing.
    #[must_use]
    pub fn is_settled(&self, record: Option<&UrlRecord>, now: UnixMillis) -> bool {
        match record {
            Some(record) if self.again => {
                record.outcome.is_some() && record.visited > self.found && record.visited <= now
            }
            Some(record) => record.outcome.is_some(),
            None => false,
        }
    }

    pub(super) fn discovered(self) -> Discovered {
        Discovered {
            key: self.key,
            depth: self.depth,
            rank: self.rank,
            due: UnixMillis(0),
            via: self.via,
            is_target: self.is_target,
            found: Some(self.found),
        }
    }

    /// `seq` orders rows found at the same time.
    pub(super) fn encode(&self, seq: u64) -> Vec<u8> {
        let mut value = Vec::with_capacity(32);
        value.extend(self.found.0.to_le_bytes());
        value.extend(seq.to_le_bytes());
        value.extend(self.depth.to_le_bytes());
        value.extend([self.level, self.rank, u8::from(self.is_target) | u8::from(self.again) << 1]);
        if let Some(via) = &self.via {
            value.push(1);
            value.extend(via.as_bytes());
        }
        value
    }

    pub(super) fn decode(key: UrlKey, value: &[u8]) -> Option<(Self, u64)> {
        let (found, rest) = value.split_first_chunk()?;
        let (seq, rest) = rest.split_first_chunk()?;
        let (depth, rest) = rest.split_first_chunk()?;
        let ([level, rank, flags], rest) = rest.split_first_chunk()?;
        let via = match rest.split_first() {
            None => None,
            Some((1, via)) => Some(std::str::from_utf8(via).ok()?.into()),
            Some(_) => return None,
        };
        let row = Self {
            key,
            found: UnixMillis(u64::from_le_bytes(*found)),
            level: *level,
            depth: u16::from_le_bytes(*depth),
            rank: *rank,
            via,
            is_target: flags & 1 != 0,
            again: flags & 2 != 0,
        };
        Some((row, u64::from_le_bytes(*seq)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawldb::HostId;

    #[test]
    fn a_row_is_read_as_it_was_written() {
        let key = UrlKey { host: HostId(7), path: "/详情?id=1".into() };
        for (via, is_target, again) in [(None, true, false), (Some("http://a/x".into()), false, true)] {
            let found = UnixMillis(1_795_132_800_123);
            let row = UpdateRow { key: key.clone(), found, level: 3, depth: 900, rank: 47, via, is_target, again };
            assert_eq!(UpdateRow::decode(key.clone(), &row.encode(9)), Some((row, 9)));
        }
        assert_eq!(UpdateRow::decode(key, &[0; 12]), None);
    }
}
