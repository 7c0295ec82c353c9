//! Where visits by an endpoint have ended before the data of their page did, for the next visits to go on from. Bounded in number and bytes;
//! they end with the crawl.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Endpoint;
use super::call::Slots;
use crate::limits;

/// Bytes that a hash of a link takes in a set of them, its share of what stands empty included.
const HASH_BYTES: usize = 16;

/// Where a visit has ended before the data of its page did.
#[derive(Clone, Debug)]
pub struct Rest {
    /// What it was visited by: to another the request would be none.
    pub by: Arc<Endpoint>,
    /// The next request.
    pub asks: Slots,
    /// Requests and records so far, over all visits.
    pub requests: usize,
    pub records: usize,
    /// Hashes of the links so far: a list that begins anew behind its end ends there.
    pub known: HashSet<u64>,
}

impl Rest {
    /// Memory that it takes, in bytes, roughly.
    fn bytes(&self) -> usize {
        let asks: usize =
            self.asks.iter().map(|(name, value)| name.len() + value.len() + size_of::<(String, String)>()).sum();
        asks + self.known.len() * HASH_BYTES
    }
}

/// The rests of one class, by their pages.
#[derive(Debug, Default)]
pub struct Rests(HashMap<String, Rest>);

impl Rests {
    /// Whether there is room for another one of this page.
    #[must_use]
    pub fn has_room(&self, page: &str, rest: &Rest) -> bool {
        let others = || self.0.iter().filter(|(known, _)| *known != page);
        let held: usize = others().map(|(_, rest)| rest.bytes()).sum();
        others().count() < limits::SHORTCUT_RESTS_MAX && held + rest.bytes() <= limits::SHORTCUT_RESTS_BYTES_MAX
    }

    /// Keeps it, where there is room.
    pub fn keep(&mut self, page: &str, rest: Rest) {
        if self.has_room(page, &rest) {
            self.0.insert(page.to_owned(), rest);
        }
    }

    /// Where the visit before has left this page, for an endpoint that asks as that one did.
    pub fn take(&mut self, page: &str, by: &Endpoint) -> Option<Rest> {
        self.0.remove(page).filter(|rest| rest.by.asks_as(by))
    }

    /// Drops those that none of these endpoints can go on with.
    pub fn retain<'e>(&mut self, endpoints: impl Iterator<Item = &'e Arc<Endpoint>> + Clone) {
        self.0.retain(|_, rest| endpoints.clone().any(|endpoint| endpoint.asks_as(&rest.by)));
    }
}
