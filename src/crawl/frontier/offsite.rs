//! Hosts that a site's pages link to and that are not its own: what `gleaner sources` proposes new sites from (LEARNING §17).
//!
//! Counted while pages are read anyway. Nothing is ever asked of these hosts, and no decision of a crawl depends on the counts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits::{OFFSITE_EXAMPLE_BYTES_MAX, OFFSITE_EXAMPLES_MAX, OFFSITE_HOSTS_MAX};

/// The share of a site's pages from which on a link is the template's, and not content.
const TEMPLATE_SHARE: f64 = 0.4;

/// With fewer pages, a link on each of them may still be content.
const TEMPLATE_PAGES: u64 = 5;

/// Links to that many different hosts are rows, ...
const ROW_HOSTS: usize = 4;

/// ... if each is at most so many links behind the one before it.
const ROW_GAP: usize = 2;

/// A link of a page that leads off the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OffsiteLink {
    pub host: Box<str>,
    /// Its place among all links of the page.
    pub place: usize,
    /// Words such as "torrent" or "tracker" are beside it.
    pub has_words: bool,
}

/// The pages of a site that link to one host.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffsiteHost {
    pub pages: u64,
    /// Of these, pages on which it is one of several hosts in a list.
    pub row_pages: u64,
    /// Of these, pages with our words beside the link.
    pub word_pages: u64,
    /// Number of the last page.
    last: u64,
    /// Pages with their evidence (2: in rows, 1: with words), the first ones with the most.
    examples: Vec<(u8, Box<str>)>,
}

impl OffsiteHost {
    /// Up to `limits::OFFSITE_EXAMPLES_MAX` URLs of pages with a link to it.
    pub fn examples(&self) -> impl Iterator<Item = &str> {
        self.examples.iter().map(|(_, page)| &**page)
    }

    fn add_example(&mut self, evidence: u8, page: &str) {
        if page.len() > OFFSITE_EXAMPLE_BYTES_MAX || self.examples.iter().any(|(_, known)| **known == *page) {
            return;
        }
        if self.examples.len() < OFFSITE_EXAMPLES_MAX {
            return self.examples.push((evidence, page.into()));
        }
        if let Some(weakest) = self.examples.iter_mut().min_by_key(|(known, _)| *known).filter(|of| of.0 < evidence) {
            *weakest = (evidence, page.into());
        }
    }
}

/// The counts of one site; at most `limits::OFFSITE_HOSTS_MAX` hosts. A new host takes the place of the one with the fewest pages.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OffsiteHosts {
    /// Pages of the site that were read, with or without such links.
    pub pages: u64,
    hosts: BTreeMap<Box<str>, OffsiteHost>,
}

impl OffsiteHosts {
    /// Counts a page and its links, which are in document order. `shown` is called for a page with links: its URL without secrets.
    pub fn add(&mut self, links: &[OffsiteLink], shown: impl FnOnce() -> String) {
        self.pages += 1;
        if links.is_empty() {
            return;
        }
        let page = shown();
        let rows = self.rows(links);
        let mut counted: Vec<(&str, bool, bool)> = Vec::new();
        for (link, is_row) in links.iter().zip(rows) {
            match counted.iter_mut().find(|(host, ..)| *host == &*link.host) {
                Some((_, in_rows, has_words)) => {
                    *in_rows |= is_row;
                    *has_words |= link.has_words;
                }
                None => counted.push((&link.host, is_row, link.has_words)),
            }
        }
        for (host, in_rows, has_words) in counted {
            let number = self.pages;
            let of = self.entry(host);
            of.pages += 1;
            of.row_pages += u64::from(in_rows);
            of.word_pages += u64::from(has_words);
            of.last = number;
            of.add_example(2 * u8::from(in_rows) + u8::from(has_words), &page);
        }
    }

    /// Which links stand in rows: among neighbours that lead to several hosts. Those of the template count for nothing there.
    fn rows(&self, links: &[OffsiteLink]) -> Vec<bool> {
        let mut rows = vec![false; links.len()];
        let content: Vec<usize> = (0..links.len()).filter(|at| !self.is_template(&links[*at].host)).collect();
        for run in content.chunk_by(|one, next| links[*next].place - links[*one].place <= ROW_GAP + 1) {
            let mut hosts: Vec<&str> = run.iter().map(|at| &*links[*at].host).collect();
            hosts.sort_unstable();
            hosts.dedup();
            if hosts.len() >= ROW_HOSTS {
                run.iter().for_each(|at| rows[*at] = true);
            }
        }
        rows
    }

    fn entry(&mut self, host: &str) -> &mut OffsiteHost {
        if self.hosts.len() >= OFFSITE_HOSTS_MAX && !self.hosts.contains_key(host) {
            let weight = |of: &OffsiteHost| (of.pages, of.row_pages + of.word_pages, of.last);
            let least = self.hosts.iter().min_by_key(|(_, of)| weight(of)).map(|(host, _)| host.clone());
            least.and_then(|least| self.hosts.remove(&least));
        }
        self.hosts.entry(host.into()).or_default()
    }

    /// True for a host that the site's template links to.
    #[must_use]
    pub fn is_template(&self, host: &str) -> bool {
        let pages = self.hosts.get(host).map_or(0, |of| of.pages);
        self.pages >= TEMPLATE_PAGES && pages as f64 >= TEMPLATE_SHARE * self.pages as f64
    }

    /// The hosts, by name.
    pub fn hosts(&self) -> impl Iterator<Item = (&str, &OffsiteHost)> {
        self.hosts.iter().map(|(host, of)| (&**host, of))
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// None for bytes that were not written by [`Self::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn links(of: &[(&str, usize, bool)]) -> Vec<OffsiteLink> {
        let link =
            |&(host, place, has_words): &(&str, usize, bool)| OffsiteLink { host: host.into(), place, has_words };
        of.iter().map(link).collect()
    }

    fn told(hosts: &OffsiteHosts, host: &str) -> (u64, u64, u64) {
        hosts.hosts.get(host).map_or((0, 0, 0), |of| (of.pages, of.row_pages, of.word_pages))
    }

    #[test]
    fn a_host_counts_once_a_page_with_its_words_and_rows() {
        let mut hosts = OffsiteHosts::default();
        let row = [("a", 10, false), ("b", 11, true), ("c", 13, false), ("d", 16, false)];
        hosts.add(&links(&row), || "http://s/links".into());
        hosts.add(&links(&[("a", 1, false), ("a", 2, true), ("b", 9, false)]), || "http://s/1".into());
        hosts.add(&[], || panic!("a page without links is not shown"));
        assert_eq!((hosts.pages, told(&hosts, "a"), told(&hosts, "b")), (3, (2, 1, 1), (2, 1, 1)));
        assert_eq!(hosts.hosts["a"].examples().collect::<Vec<_>>(), ["http://s/links", "http://s/1"]);
        let far = [("e", 0, false), ("f", 4, false), ("g", 8, false), ("h", 12, false)];
        hosts.add(&links(&far), || "http://s/2".into());
        assert_eq!(told(&hosts, "e"), (1, 0, 0), "other links between them");
        assert_eq!(OffsiteHosts::from_bytes(&hosts.to_bytes()), Some(hosts));
        assert_eq!(OffsiteHosts::from_bytes(b"{"), None);
    }

    #[test]
    fn a_link_on_most_pages_is_the_templates_and_makes_no_row() {
        let mut hosts = OffsiteHosts::default();
        let mut page = vec![("ad1", 90, false), ("ad2", 91, false), ("ad3", 92, false)];
        (0..6).for_each(|_| hosts.add(&links(&page), || "p".into()));
        page.insert(0, ("image", 89, false));
        hosts.add(&links(&page), || "p".into());
        assert!(hosts.is_template("ad1") && !hosts.is_template("image") && !hosts.is_template("unknown"));
        assert_eq!(told(&hosts, "image"), (1, 0, 0));
    }

    #[test]
    fn the_best_pages_are_examples_and_long_addresses_are_none() {
        let mut host = OffsiteHost::default();
        for (evidence, page) in [(0, "0"), (0, "1"), (1, "2"), (3, "3"), (0, "4"), (3, "3")] {
            host.add_example(evidence, page);
        }
        host.add_example(3, &"x".repeat(OFFSITE_EXAMPLE_BYTES_MAX + 1));
        assert_eq!(host.examples().collect::<Vec<_>>(), ["3", "1", "2"]);
    }

    #[test]
    fn hosts_without_end_leave_those_with_many_pages() {
        let mut hosts = OffsiteHosts::default();
        for n in 0..OFFSITE_HOSTS_MAX * 3 {
            let once = format!("h{n}.example");
            hosts.add(&links(&[("friend", 1, false), (&once, 40, false)]), || format!("http://s/{n}"));
        }
        assert_eq!(hosts.hosts.len(), OFFSITE_HOSTS_MAX);
        assert_eq!(told(&hosts, "friend").0, OFFSITE_HOSTS_MAX as u64 * 3);
        assert!(hosts.to_bytes().len() < 200 * OFFSITE_HOSTS_MAX);
    }
}
