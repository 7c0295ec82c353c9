//! Votes of torrents for hosts: trackers, and URLs in `comment`, `publisher-url` and `source`.
//!
//! A torrent that announces to twenty public trackers comes from none of them, and one that announces to a single one most likely comes from
//! its site: each has 1/n of the torrent's word. A site's vote is the mean of that over its torrents that name the host, times
//! n / (n + 2) for n torrents, so that a few odd ones decide nothing.

use std::collections::{BTreeMap, BTreeSet};

use gleaner_torrent::origin::Origin;
use url::Url;

use super::host;
use crate::limits::{COMMENT_URLS_MAX, NAMED_HOSTS_A_SITE_MAX, NAMED_HOSTS_MAX};

/// Torrents beside which one counts a third.
const DOUBT: f64 = 2.0;

/// What counts of a torrent's `source`, which is often no host.
const SOURCE: f64 = 0.5;

/// What counts of a tracker that is reached over UDP alone: such ones belong to no site as a rule.
const UDP: f64 = 0.5;

/// A host that torrents of one site name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Counts {
    announced: f64,
    announced_torrents: u64,
    named: f64,
    named_torrents: u64,
}

/// What the torrents of all sites name; at most `limits::NAMED_HOSTS_MAX` hosts of sites.
#[derive(Clone, Debug, Default)]
pub struct TorrentVotes {
    /// By site and host.
    counts: BTreeMap<(String, String), Counts>,
    /// How many of them each site has: torrents with invented trackers take no other site's room.
    hosts: BTreeMap<String, usize>,
}

/// The vote of one site's torrents for a host, each from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vote<'v> {
    pub site: &'v str,
    pub host: &'v str,
    pub announced: f64,
    pub announced_torrents: u64,
    pub named: f64,
    pub named_torrents: u64,
}

impl TorrentVotes {
    /// Adds a torrent that was found on these sites.
    pub fn add<'s>(&mut self, sites: impl Iterator<Item = &'s str>, origin: &Origin) {
        let (trackers, named) = (trackers(origin), named(origin));
        let share = 1.0 / trackers.len().max(1) as f64;
        for site in sites {
            for (host, weight) in &trackers {
                if let Some(of) = self.counts_of(site, host) {
                    of.announced += share * weight;
                    of.announced_torrents += 1;
                }
            }
            for (host, weight) in &named {
                if let Some(of) = self.counts_of(site, host) {
                    of.named += weight;
                    of.named_torrents += 1;
                }
            }
        }
    }

    fn counts_of(&mut self, site: &str, host: &str) -> Option<&mut Counts> {
        let key = (site.to_owned(), host.to_owned());
        if !self.counts.contains_key(&key) {
            let of_site = self.hosts.entry(site.to_owned()).or_default();
            if *of_site >= NAMED_HOSTS_A_SITE_MAX || self.counts.len() >= NAMED_HOSTS_MAX {
                return None;
            }
            *of_site += 1;
        }
        Some(self.counts.entry(key).or_default())
    }

    /// The votes, by site and host.
    pub fn votes(&self) -> impl Iterator<Item = Vote<'_>> {
        let vote = |sum: f64, torrents: u64| if torrents == 0 { 0.0 } else { sum / (torrents as f64 + DOUBT) };
        self.counts.iter().map(move |((site, host), of)| Vote {
            site,
            host,
            announced: vote(of.announced, of.announced_torrents),
            announced_torrents: of.announced_torrents,
            named: vote(of.named, of.named_torrents),
            named_torrents: of.named_torrents,
        })
    }
}

/// The names of a torrent's trackers, each with its weight.
fn trackers(origin: &Origin) -> BTreeMap<String, f64> {
    let mut trackers = BTreeMap::new();
    for tracker in &origin.trackers {
        let Ok(url) = Url::parse(tracker.trim()) else { continue };
        let weight = match url.scheme() {
            "http" | "https" | "ws" | "wss" => 1.0,
            "udp" => UDP,
            _ => continue,
        };
        if let Some(host) = url.host_str().and_then(host::name) {
            let known = trackers.entry(host).or_insert(weight);
            *known = weight.max(*known);
        }
    }
    trackers
}

/// The hosts that a torrent names otherwise, each with its weight.
fn named(origin: &Origin) -> BTreeMap<String, f64> {
    let mut named = BTreeMap::new();
    let mut add = |host: Option<String>, weight: f64| {
        if let Some(host) = host {
            let known = named.entry(host).or_insert(weight);
            *known = weight.max(*known);
        }
    };
    let comment = origin.comment.as_deref().unwrap_or_default();
    urls(comment).take(COMMENT_URLS_MAX).for_each(|host| add(Some(host), 1.0));
    origin.publisher_url.iter().for_each(|text| add(urls(text).next().or_else(|| bare(text)), 1.0));
    origin.source.iter().for_each(|text| add(urls(text).next().or_else(|| bare(text)), SOURCE));
    named
}

/// The hosts of the http(s) URLs in a text, each once.
fn urls(text: &str) -> impl Iterator<Item = String> {
    let words = text.split(|of: char| of.is_whitespace() || "<>\"'()[]{}|,;".contains(of));
    let mut seen = BTreeSet::new();
    let hosts = words.filter_map(|word| {
        let at = word.find("http://").or_else(|| word.find("https://"));
        let address = at
            .map(|at| word[at..].to_owned())
            .or_else(|| word.starts_with("www.").then(|| format!("http://{word}")))?;
        host::name(Url::parse(&address).ok()?.host_str()?)
    });
    hosts.filter(move |host| seen.insert(host.clone())).collect::<Vec<_>>().into_iter()
}

/// A text that is the name of a host, below a suffix that exists.
fn bare(text: &str) -> Option<String> {
    let text = text.trim().trim_matches(['[', ']']).to_ascii_lowercase();
    let is_known = psl::suffix(text.as_bytes()).is_some_and(|suffix| suffix.is_known());
    is_known.then(|| host::name(&text)).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn votes(origins: &[Origin]) -> Vec<(String, f64, f64)> {
        let mut votes = TorrentVotes::default();
        origins.iter().for_each(|origin| votes.add(["s"].into_iter(), origin));
        let round = |vote: f64| (vote * 100.0).round() / 100.0;
        votes.votes().map(|vote| (vote.host.to_owned(), round(vote.announced), round(vote.named))).collect()
    }

    #[test]
    fn one_tracker_is_a_source_and_one_of_many_is_none() {
        let one = Origin { trackers: vec!["https://tracker.one.example/KEY/announce".into()], ..Origin::default() };
        let many =
            ["http://a.example/a", "udp://b.example:80", "udp://10.0.0.1:80", "wss://c.example", "dht://d.example"];
        let many = Origin { trackers: many.map(String::from).to_vec(), ..Origin::default() };
        let told = votes(&[vec![one; 4], vec![many; 4]].concat());
        let expected = [("a.example", 0.22), ("b.example", 0.11), ("c.example", 0.22), ("one.example", 0.67)];
        assert_eq!(told, expected.map(|(host, vote)| (host.to_owned(), vote, 0.0)));
    }

    #[test]
    fn hosts_are_read_from_comments_publishers_and_sources() {
        let origin = |comment: &str, publisher: &str, source: &str| Origin {
            comment: Some(comment.into()),
            publisher_url: Some(publisher.into()),
            source: Some(source.into()),
            ..Origin::default()
        };
        let hosts = |of: Origin| named(&of).into_keys().collect::<Vec<_>>();
        let of_all = origin(
            "From (https://a.example/t/1) or www.b.example, see http://A.example/",
            "https://c.example",
            "[d.org]",
        );
        assert_eq!(hosts(of_all), ["a.example", "b.example", "c.example", "d.org"]);
        assert_eq!(hosts(origin("no address: v1.2 http://10.0.0.1/ http://", "name", "PTP")), <[String; 0]>::default());
        assert_eq!(hosts(origin("", "", "file.name")), ["file.name"], "a name that exists");
        assert_eq!(hosts(origin(&"http://x.example ".repeat(500), "", "v1.2")).len(), 1);
    }

    #[test]
    fn names_without_end_are_counted_up_to_the_cap() {
        let mut votes = TorrentVotes::default();
        for n in 0..NAMED_HOSTS_A_SITE_MAX + 10 {
            let origin = Origin { publisher_url: Some(format!("http://h{n}.example/")), ..Origin::default() };
            votes.add(["s"].into_iter(), &origin);
        }
        let origin = Origin { publisher_url: Some("http://h.example/".to_owned()), ..Origin::default() };
        votes.add(["other"].into_iter(), &origin);
        assert_eq!(votes.votes().count(), NAMED_HOSTS_A_SITE_MAX + 1, "another site has room");
    }
}
