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
    under_way: HashMap<RequestId, Asked>,
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
struct Asked {
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
        self.under_way.insert(id, Asked { whole, shape: hash(&[method, path.as_bytes()]) });
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
mod tests {
    use super::*;
    use crate::wire::Response;

    fn request(url: &str) -> Request {
        let method = "GET".to_owned();
        let (url, headers, body) = (url.to_owned(), Vec::new(), Vec::new());
        Request { asker: Asker::Fetch, method, url, headers, credentials: true, body }
    }

    #[test]
    fn what_was_asked_in_vain_is_left_until_it_is_answered() {
        let mut faults = Faults::default();
        let ask = |faults: &mut Faults, id: RequestId, url: &str, status: u16| {
            faults.asked(id, &request(url));
            faults.answered(id, &Ok(Response { status, ..Response::default() }));
        };
        ask(&mut faults, 1, "http://s.test/api/new/1", 500);
        ask(&mut faults, 2, "http://s.test/count", 500);
        assert_eq!((faults.count(), faults.are_left()), (2, false), "neither has ever answered");
        ask(&mut faults, 3, "http://s.test/api/new/2", 200);
        assert!(faults.are_left(), "its neighbour has");
        ask(&mut faults, 4, "http://s.test/api/new/1", 200);
        assert!(!faults.are_left());
        ask(&mut faults, 5, "http://s.test/api/new/3", 404);
        assert!(!faults.are_left(), "what is not there is no fault");
        for (nth, id) in (7_u32..).step_by(2).zip(["feedbeef", "big-buck-bunny", "0a9f"]) {
            ask(&mut faults, nth, &format!("http://s.test/api/one/{id}"), 200);
            ask(&mut faults, nth + 1, "http://s.test/api/one/1b8e", 500);
            assert!(faults.are_left(), "{id} was answered");
            ask(&mut faults, nth + 1, "http://s.test/api/one/1b8e", 200);
            faults.answered.clear();
        }
        ask(&mut faults, 20, "http://s.test/api/list", 200);
        ask(&mut faults, 21, "http://s.test/api/stats", 500);
        assert!(!faults.are_left() && !faults.has_paused(), "another interface, which has never answered");
        ask(&mut faults, 22, "http://s.test/api/list", 503);
        assert!(faults.has_paused() && faults.is_paused());
        ask(&mut faults, 24, "http://s.test/api/list", 200);
        assert!(faults.has_paused() && !faults.is_paused());
        let count = faults.count();
        faults.asked(23, &request("http://other.test/x"));
        faults.answered(23, &Err("the rules refuse it".to_owned()));
        assert_eq!(faults.count(), count, "nobody was asked");
        ask(&mut faults, 25, "http://s.test/api/list", 429);
        ask(&mut faults, 26, "http://s.test/api/list", 200);
        assert!(faults.is_paused());
    }
}
