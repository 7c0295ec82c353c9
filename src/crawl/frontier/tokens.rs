//! Tokens of an account's session in links, by what they do, whatever their name is: the same value under the same name, on page after
//! page, in links of different actions. SMF calls its own `b5effd7a0`, anew for each session.
//!
//! A link with such a token acts in the account's name, since nothing else needs one. Ids are told apart: a page has several of one name.
//! So is the id of a session that most links of a page carry. In memory alone, as the next session has other tokens. Bounded: 200 kB a
//! site. Deterministic and pure.

use std::collections::{HashMap, HashSet};

use xxhash_rust::xxh3::xxh3_64;

use crate::limits::TOKEN_PAIRS_MAX;
use gleaner_rules::{action_of, gives_torrent, parameters};

/// Pages that a token has been on.
const PAGES_MIN: u32 = 3;

/// Pages after which a pair that was on one of them alone is forgotten if there are too many.
const KEPT_FOR_PAGES: u64 = 16;

/// Shorter values name things.
const VALUE_BYTES_MIN: usize = 8;

/// One name with one value.
#[derive(Clone, Copy, Debug)]
struct Pair {
    /// Pages that had it.
    pages: u32,
    /// The first and the last of them.
    first: u64,
    last: u64,
    /// Hashes of two actions whose links carried it; 0 if there is none yet.
    actions: [u64; 2],
}

/// What was seen of names and values in the links of one site in this run.
#[derive(Debug, Default)]
pub struct Tokens {
    pairs: HashMap<u64, Pair>,
    /// Pages that were read.
    pages: u64,
}

impl Tokens {
    /// Takes in the links of a page, as path and query.
    pub fn read<'a>(&mut self, links: impl Iterator<Item = &'a str>) {
        self.pages += 1;
        let mut on_page: HashMap<u64, (HashSet<u64>, Vec<u64>, usize)> = HashMap::new();
        let mut count = 0_usize;
        for link in links {
            count += 1;
            if gives_torrent(link) {
                continue;
            }
            for (name, pair) in pairs_of(link) {
                let (values, actions, links) = on_page.entry(name).or_default();
                *links += 1;
                values.insert(pair);
                let action = xxh3_64(action_of(link).as_bytes()).max(1);
                if actions.len() < 2 && !actions.contains(&action) {
                    actions.push(action);
                }
            }
        }
        for (values, actions, links) in on_page.into_values().filter(|(values, ..)| values.len() == 1) {
            let is_session = links * 2 > count;
            values.into_iter().filter(|_| !is_session).for_each(|pair| self.count(pair, &actions));
        }
    }

    fn count(&mut self, pair: u64, actions: &[u64]) {
        let page = self.pages;
        if self.pairs.len() >= TOKEN_PAIRS_MAX {
            self.pairs.retain(|_, kept| {
                kept.pages >= PAGES_MIN && is_frequent(kept, page) || page - kept.last < KEPT_FOR_PAGES
            });
        }
        if self.pairs.len() >= TOKEN_PAIRS_MAX && !self.pairs.contains_key(&pair) {
            return;
        }
        let kept = self.pairs.entry(pair).or_insert(Pair { pages: 0, first: page, last: page, actions: [0; 2] });
        (kept.pages, kept.last) = (kept.pages.saturating_add(1), page);
        for action in actions {
            if !kept.actions.contains(action)
                && let Some(free) = kept.actions.iter_mut().find(|free| **free == 0)
            {
                *free = *action;
            }
        }
    }

    /// True for a link, as path and query, that carries a token and gives no torrent.
    #[must_use]
    pub fn are_in(&self, link: &str) -> bool {
        !self.pairs.is_empty() && pairs_of(link).any(|(_, pair)| self.is_token(pair)) && !gives_torrent(link)
    }

    fn is_token(&self, pair: u64) -> bool {
        self.pairs.get(&pair).is_some_and(|pair| {
            pair.pages >= PAGES_MIN && pair.actions.iter().all(|action| *action != 0) && is_frequent(pair, self.pages)
        })
    }
}

/// True if it was on at least half of the pages since it was first seen.
fn is_frequent(pair: &Pair, pages: u64) -> bool {
    u64::from(pair.pages) * 2 > pages.saturating_sub(pair.first)
}

/// Hashes of the names of a link's random values, and of both together.
fn pairs_of(link: &str) -> impl Iterator<Item = (u64, u64)> {
    let query = link.split_once('?').map_or("", |(_, query)| query);
    let random = parameters(query).filter_map(|(name, value)| Some((name, value.filter(|of| is_random(of))?)));
    random.map(|(name, value)| (xxh3_64(name.as_bytes()), xxh3_64(format!("{name}={value}").as_bytes())))
}

fn is_random(value: &str) -> bool {
    value.len() >= VALUE_BYTES_MIN
        && value.bytes().all(|of| of.is_ascii_alphanumeric() || b"_-,|".contains(&of))
        && value.bytes().any(|of| of.is_ascii_digit())
        && value.bytes().any(|of| of.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "/index.php?action=collapse;c=2;b5effd7a0=94689e0a1b2c";
    const PICK: &str = "/index.php?action=theme;th=2;b5effd7a0=94689e0a1b2c";

    fn after(pages: usize, links: &[&str]) -> Tokens {
        let mut tokens = Tokens::default();
        for page in 0..pages {
            let topics: Vec<String> = (0..9).map(|n| format!("/index.php?topic={}.0", page * 9 + n)).collect();
            tokens.read(topics.iter().map(String::as_str).chain(links.iter().copied()));
        }
        tokens
    }

    #[test]
    fn what_is_on_page_after_page_in_links_of_two_actions_is_a_token() {
        assert!(!after(2, &[MARK, PICK]).are_in(MARK), "two pages");
        assert!(after(3, &[MARK, PICK]).are_in(MARK));
        assert!(after(3, &[MARK, PICK]).are_in("/index.php?topic=5.0;b5effd7a0=94689e0a1b2c"));
        assert!(!after(3, &[MARK, PICK]).are_in("/index.php?topic=5.0;b5effd7a0=00689e0a1b2c"), "another value");
        assert!(!after(3, &[MARK, PICK]).are_in("/index.php?action=dlattach;attach=5;b5effd7a0=94689e0a1b2c"));
        assert!(!after(9, &[MARK]).are_in(MARK), "one action");
    }

    #[test]
    fn what_is_rare_or_an_id_or_on_every_link_is_no_token() {
        let mut rare = after(3, &[MARK, PICK]);
        (0..9).for_each(|_| rare.read(["/index.php"].into_iter()));
        assert!(!rare.are_in(MARK));
        let ids = ["/browse?cat=a1b2c3d4", "/stats?cat=a1b2c3d4", "/browse?cat=b2c3d4e5"];
        assert!(!after(9, &ids).are_in(ids[0]), "categories");
        let mut session = Tokens::default();
        let links = ["/a?sess=a1b2c3d4", "/b?sess=a1b2c3d4", "/c?sess=a1b2c3d4", "/d"];
        (0..9).for_each(|_| session.read(links.into_iter()));
        assert!(!session.are_in(links[0]), "the session's id");
        let words = ["/browse?sort=downloads", "/stats?sort=downloads", "/u?uid=12345678", "/v?uid=12345678"];
        assert!(words.iter().all(|link| !after(9, &words).are_in(link)), "words and numbers");
    }

    #[test]
    fn pairs_without_end_are_kept_up_to_the_cap() {
        let mut tokens = Tokens::default();
        for page in 0..TOKEN_PAIRS_MAX {
            let links = [
                format!("/a?id{page}=a1b2c3d4"),
                format!("/b?x{page}=a1b2c3d4"),
                "/c".into(),
                "/d".into(),
                "/e".into(),
            ];
            tokens.read(links.iter().map(String::as_str));
        }
        assert!(tokens.pairs.len() <= TOKEN_PAIRS_MAX);
    }
}
