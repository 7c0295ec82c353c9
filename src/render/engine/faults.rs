//! Requests of a page's scripts that their server had no answer for at the time: until they have been answered, the page is not whole.
//!
//! Only faults of an interface that answers otherwise count: one that never does says nothing of the page's list, and is told elsewhere.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::Xxh3;

use super::net::{Answer, Asker, Request, RequestId};
use crate::limits;

#[derive(Default)]
pub struct Faults {
    under_way: HashMap<RequestId, Asked>,
    /// What was asked in vain, each with the shape of its address.
    failed: HashMap<u64, u64>,
    /// Shapes of addresses that have been answered.
    answered: HashSet<u64>,
    count: u64,
}

#[derive(Clone, Copy)]
struct Asked {
    /// All that was asked: method, address, body.
    whole: u64,
    /// The method and the path, whatever numbers are in it.
    shape: u64,
}

impl Faults {
    pub(super) fn asked(&mut self, id: RequestId, request: &Request) {
        if !matches!(request.asker, Asker::Fetch | Asker::Xhr) || self.under_way.len() >= limits::RENDER_FAULTS_MAX {
            return;
        }
        let path = request.url.split('?').next().unwrap_or_default();
        let path: String = path.chars().filter(|c| !c.is_ascii_digit()).collect();
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
        let is_fault = match answer {
            Ok(response) => matches!(response.status, 408 | 425 | 429 | 500..),
            Err(_) => true,
        };
        if !is_fault {
            self.failed.remove(&asked.whole);
            if self.answered.len() < limits::RENDER_FAULTS_MAX {
                self.answered.insert(asked.shape);
            }
            return;
        }
        self.count += 1;
        if self.failed.len() < limits::RENDER_FAULTS_MAX {
            self.failed.insert(asked.whole, asked.shape);
        }
    }

    /// How often a server had no answer so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether something was asked in vain and has not been answered since.
    pub fn are_open(&self) -> bool {
        !self.failed.is_empty()
    }

    /// Whether something was asked in vain of an interface that answers otherwise, and has not been answered since.
    pub fn are_left(&self) -> bool {
        self.failed.values().any(|shape| self.answered.contains(shape))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::engine::net::Response;

    #[test]
    fn what_was_asked_in_vain_is_left_until_it_is_answered() {
        let mut faults = Faults::default();
        let ask = |faults: &mut Faults, id: RequestId, url: &str, status: u16| {
            let request = Request {
                asker: Asker::Fetch,
                method: "GET".to_owned(),
                url: url.to_owned(),
                headers: Vec::new(),
                credentials: true,
                body: Vec::new(),
            };
            faults.asked(id, &request);
            faults.answered(id, &Ok(Response { status, ..Response::default() }));
        };
        ask(&mut faults, 1, "http://s.test/api/new/1", 503);
        ask(&mut faults, 2, "http://s.test/count", 500);
        assert_eq!((faults.count(), faults.are_left()), (2, false), "neither has ever answered");
        ask(&mut faults, 3, "http://s.test/api/new/2", 200);
        assert!(faults.are_left(), "its neighbour has");
        ask(&mut faults, 4, "http://s.test/api/new/1", 200);
        assert!(!faults.are_left());
        ask(&mut faults, 5, "http://s.test/api/new/3", 404);
        assert!(!faults.are_left(), "what is not there is no fault");
    }
}
