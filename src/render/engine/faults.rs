//! Requests of a page's scripts that the server failed to answer: until they are answered, the page is incomplete.
//!
//! Only failures of an endpoint that otherwise answers count. One that never answers is no evidence about the page's list, and is
//! reported elsewhere.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::Xxh3;

use crate::limits;
use crate::wire::{Answer, Asker, Request, RequestId};

#[derive(Default)]
pub struct Faults {
    under_way: HashMap<RequestId, RequestHashes>,
    /// Failed requests, each with the shape of its URL.
    failed: HashMap<u64, u64>,
    /// URL shapes that were answered.
    answered: HashSet<u64>,
    count: u64,
    has_paused: bool,
    has_refused_rate: bool,
    is_paused: bool,
}

#[derive(Clone, Copy)]
struct RequestHashes {
    /// The hash of the whole request: method, URL, body.
    whole: u64,
    /// The method and the path without record names ([`is_of_record`]).
    shape: u64,
}

impl Faults {
    pub(super) fn asked(&mut self, id: RequestId, request: &Request) {
        if !matches!(request.asker, Asker::Fetch | Asker::Xhr) || self.under_way.len() >= limits::RENDER_FAULTS_MAX {
            return;
        }
        let path = request.url.split('?').next().unwrap_or_default();
        // The first three parts are the scheme, an empty string, and the host, which separates servers.
        let shape =
            path.split('/').enumerate().map(|(nth, part)| if nth > 2 && is_of_record(part) { "*" } else { part });
        let path = shape.collect::<Vec<_>>().join("/");
        let hash = |parts: &[&[u8]]| {
            let mut hash = Xxh3::new();
            for part in parts {
                hash.update(part);
                hash.update(&[0]);
            }
            hash.digest()
        };
        let method = request.method.as_bytes();
        let whole = hash(&[method, request.url.as_bytes(), &request.body]);
        self.under_way.insert(id, RequestHashes { whole, shape: hash(&[method, path.as_bytes()]) });
    }

    pub(super) fn answered(&mut self, id: RequestId, answer: &Answer) {
        let Some(asked) = self.under_way.remove(&id) else { return };
        let status = answer.as_ref().map(|response| response.status).ok();
        if status.is_some_and(|status| !matches!(status, 408 | 425 | 429 | 500..)) {
            self.failed.remove(&asked.whole);
            self.is_paused &= self.has_refused_rate;
            if self.answered.len() < limits::RENDER_FAULTS_MAX {
                self.answered.insert(asked.shape);
            }
            return;
        }
        // A second click does not retry a request that the crawl did not send or that broke off.
        self.count += u64::from(status.is_some());
        self.has_paused |= matches!(status, Some(429 | 503));
        self.has_refused_rate |= status == Some(429);
        self.is_paused |= matches!(status, Some(429 | 503));
        if self.failed.len() < limits::RENDER_FAULTS_MAX {
            self.failed.insert(asked.whole, asked.shape);
        }
    }

    /// Number of failed requests with a response.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether a server asked to be left alone for a while (429, 503).
    pub fn has_paused(&self) -> bool {
        self.has_paused
    }

    /// Whether that still holds. A server that has answered since was only busy for a moment; after a 429 it wants fewer requests of any
    /// kind.
    pub fn is_paused(&self) -> bool {
        self.is_paused
    }

    /// Whether a request to an endpoint that otherwise answers has failed and is still unanswered.
    pub fn are_left(&self) -> bool {
        self.failed.values().any(|shape| self.answered.contains(shape))
    }
}

/// Path segments of at least this many characters are titles or keys.
const SLUG_CHARACTERS: usize = 20;

/// Whether a path segment names a record: it has a digit, is a hexadecimal number, or has the length or word count of a title.
fn is_of_record(part: &str) -> bool {
    let is_hex = part.len() >= 6 && part.bytes().all(|c| c.is_ascii_hexdigit());
    let words = part.split(['-', '_', '+', '.']).count();
    is_hex || words > 2 || part.len() >= SLUG_CHARACTERS || part.contains(|c: char| c.is_ascii_digit())
}

#[cfg(test)]
mod tests;
