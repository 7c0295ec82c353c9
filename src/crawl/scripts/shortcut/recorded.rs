//! Recorded requests and responses of a page's scripts: the first of them, and of the rest the kind of the requests.

use std::collections::{BTreeMap, HashSet};

use url::Url;

use crate::limits;
use gleaner_page::shortcut::{Exchange, kind_of};

/// Exchanges of one page, in the order of the responses.
#[derive(Debug, Default)]
pub struct Recorded {
    pub exchanges: Vec<Exchange>,
    /// Number of responses that were not recorded, by the kind of their requests.
    pub unread: BTreeMap<String, usize>,
    /// Memory of the exchanges, in bytes.
    held: usize,
    /// Nothing more is recorded: with a gap the recording would not be a prefix.
    is_full: bool,
    /// Hashes of the responses.
    answers: HashSet<u64>,
}

impl Recorded {
    /// Records a request and its response.
    pub fn add(&mut self, page: &Url, exchange: Exchange) {
        let hash = xxhash_rust::xxh3::xxh3_64(exchange.answer.as_bytes());
        let bytes = exchange.bytes();
        self.is_full |= self.exchanges.len() >= limits::SHORTCUT_EXCHANGES_MAX
            || self.held + bytes > limits::SHORTCUT_OBSERVED_BYTES_MAX;
        if !self.is_full {
            self.held += bytes;
            self.answers.insert(hash);
            self.exchanges.push(exchange);
        } else if !self.answers.contains(&hash) {
            // A repeated response contains nothing new.
            self.pass(page, &exchange);
        }
    }

    /// The same for a response that is too large to be recorded.
    pub fn pass(&mut self, page: &Url, exchange: &Exchange) {
        if exchange.status == 200 {
            // With too many kinds, a request counts as of no kind.
            let has_room =
                |kind: &String| self.unread.contains_key(kind) || self.unread.len() < limits::SHORTCUT_KINDS_UNREAD_MAX;
            let kind = kind_of(page, exchange).filter(has_room);
            *self.unread.entry(kind.unwrap_or_default()).or_default() += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_of_what_a_page_gets_is_remembered_without_a_gap_and_of_the_rest_its_kinds() {
        let page = Url::parse("https://h.example/list").unwrap();
        let exchange = |url: &str, body: usize, answer: usize| Exchange {
            method: "POST".into(),
            url: format!("https://h.example{url}"),
            headers: Vec::new(),
            body: "b".repeat(body),
            status: 200,
            answer: format!("{url}{}", "a".repeat(answer)),
        };
        let mut recorded = Recorded::default();
        let third = limits::SHORTCUT_OBSERVED_BYTES_MAX / 12;
        recorded.add(&page, exchange("/ping", 0, 0));
        recorded.pass(&page, &exchange("/large", 0, 0));
        // A posted body counts like a response.
        (0..20).for_each(|number| recorded.add(&page, exchange(&format!("/api?p={number}"), third, third)));
        recorded.add(&page, exchange("/ping", 0, 0));
        recorded.add(&page, exchange("/small", 0, 1));
        assert_eq!(recorded.exchanges.len(), 1 + 5);
        assert!(recorded.exchanges.iter().map(Exchange::bytes).sum::<usize>() <= limits::SHORTCUT_OBSERVED_BYTES_MAX);
        let told: Vec<bool> = ["/large", "/api?p=7", "/small", "/ping"]
            .iter()
            .map(|url| recorded.unread.contains_key(&kind_of(&page, &exchange(url, 0, 0)).unwrap()))
            .collect();
        assert_eq!((told.as_slice(), recorded.unread.len()), ([true, true, true, false].as_slice(), 3));
        (0..100).for_each(|number| recorded.add(&page, exchange(&format!("/kind{}z", "k".repeat(number)), 0, number)));
        assert!(recorded.unread.contains_key("") && recorded.unread.len() <= limits::SHORTCUT_KINDS_UNREAD_MAX + 1);
    }
}
