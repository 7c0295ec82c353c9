//! Cached answers by name, with their expiry. `now` is an argument.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use tokio::time::Instant;

use super::servers::Found;
use super::{DnsError, Located};
use crate::limits;

/// Answers by name; bounded by its cap.
pub struct Cache {
    rows: HashMap<Box<str>, Row>,
    names_max: usize,
}

struct Row {
    answer: Result<Arc<[IpAddr]>, DnsError>,
    /// Until then no server is queried.
    fresh_until: Instant,
    /// Until then the addresses are served stale while the servers fail (RFC 8767).
    stale_until: Instant,
}

impl Cache {
    pub fn new(names_max: usize) -> Self {
        Self { rows: HashMap::new(), names_max }
    }

    /// The answer for a name, while it is valid.
    pub fn get(&self, name: &str, now: Instant) -> Option<Result<Located, DnsError>> {
        self.rows.get(name).filter(|row| now < row.fresh_until).map(|row| row.tell(now))
    }

    /// True if a failing lookup would do no harm because a stale answer exists.
    pub fn has_stale(&self, name: &str, now: Instant) -> bool {
        self.rows.get(name).is_some_and(|row| row.answer.is_ok() && now < row.stale_until)
    }

    /// Stores an answer of the servers and returns the effective one: if no server answered, the stale answer.
    pub fn put(&mut self, name: &str, found: Found, now: Instant) -> Result<Located, DnsError> {
        let Found { addresses: answer, ttl } = found;
        if matches!(answer, Err(DnsError::NoAnswer { .. }))
            && let Some(row) = self.rows.get_mut(name).filter(|row| row.answer.is_ok() && now < row.stale_until)
        {
            row.fresh_until = now + limits::DNS_FAILURE_TIME;
            return row.tell(now);
        }
        let (fresh, stale) = match &answer {
            Ok(_) => (ttl.clamp(limits::DNS_TTL_LEAST, limits::DNS_TTL_MAX), limits::DNS_STALE_TIME_MAX),
            Err(DnsError::NoAnswer { .. }) => (limits::DNS_FAILURE_TIME, std::time::Duration::ZERO),
            Err(_) => (ttl.clamp(limits::DNS_TTL_LEAST, limits::DNS_NEGATIVE_TTL_MAX), std::time::Duration::ZERO),
        };
        let row = Row { answer, fresh_until: now + fresh, stale_until: now + fresh + stale };
        let told = row.tell(now);
        if self.rows.len() >= self.names_max && !self.rows.contains_key(name) {
            self.make_room(now);
        }
        self.rows.insert(name.into(), row);
        told
    }

    /// Removes expired entries; if there are few, the quarter that expires first.
    fn make_room(&mut self, now: Instant) {
        self.rows.retain(|_, row| now < row.fresh_until);
        let quarter = self.names_max / 4;
        if self.rows.len() > self.names_max - quarter.max(1) {
            let mut ends: Vec<Instant> = self.rows.values().map(|row| row.fresh_until).collect();
            let (_, end, _) = ends.select_nth_unstable(quarter);
            let (end, mut to_drop) = (*end, quarter.max(1));
            self.rows.retain(|_, row| {
                let goes = row.fresh_until <= end && to_drop > 0;
                to_drop -= usize::from(goes);
                !goes
            });
        }
    }

    #[cfg(test)]
    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

impl Row {
    fn tell(&self, now: Instant) -> Result<Located, DnsError> {
        let ttl = self.fresh_until.saturating_duration_since(now);
        self.answer.clone().map(|addresses| Located { addresses, ttl })
    }
}
