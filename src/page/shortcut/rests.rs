//! Positions where visits with an endpoint ended before the data of their page did, for the next visits to continue.
//! Bounded in number and bytes; discarded with the crawl.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::Endpoint;
use super::call::Slots;
use crate::limits;

/// Bytes per link hash in a set, including its share of empty slots.
const HASH_BYTES: usize = 16;

/// The position where a visit ended before the data of its page did.
#[derive(Clone, Debug)]
pub struct Rest {
    /// The endpoint of the visit: the request is useless to another.
    pub by: Arc<Endpoint>,
    /// The next request.
    pub asks: Slots,
    /// Requests and records so far, over all visits.
    pub requests: usize,
    pub records: usize,
    /// Hashes of the links so far: a list that starts again after its end ends there.
    pub known: HashSet<u64>,
}

impl Rest {
    /// Approximate memory in bytes.
    fn bytes(&self) -> usize {
        let asks: usize =
            self.asks.iter().map(|(name, value)| name.len() + value.len() + size_of::<(String, String)>()).sum();
        asks + self.known.len() * HASH_BYTES
    }
}

/// The positions of one class, by page.
#[derive(Debug, Default)]
pub struct Rests(HashMap<String, Rest>);

impl Rests {
    /// Whether there is room for another position of this page.
    #[must_use]
    pub fn has_room(&self, page: &str, rest: &Rest) -> bool {
        let others = || self.0.iter().filter(|(known, _)| *known != page);
        let held: usize = others().map(|(_, rest)| rest.bytes()).sum();
        others().count() < limits::SHORTCUT_RESTS_MAX && held + rest.bytes() <= limits::SHORTCUT_RESTS_BYTES_MAX
    }

    /// Stores it, if there is room.
    pub fn keep(&mut self, page: &str, rest: Rest) {
        if self.has_room(page, &rest) {
            self.0.insert(page.to_owned(), rest);
        }
    }

    /// Where the previous visit left this page, for an endpoint with the same requests.
    pub fn take(&mut self, page: &str, by: &Endpoint) -> Option<Rest> {
        self.0.remove(page).filter(|rest| rest.by.asks_as(by))
    }

    /// Drops those that none of these endpoints can continue.
    pub fn retain<'e>(&mut self, endpoints: impl Iterator<Item = &'e Arc<Endpoint>> + Clone) {
        self.0.retain(|_, rest| endpoints.clone().any(|endpoint| endpoint.asks_as(&rest.by)));
    }
}
