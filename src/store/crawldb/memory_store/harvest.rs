//! The model's torrents, magnets and sources.

use std::collections::BTreeSet;

use super::{Magnet, MemoryTables, Torrent};
use crate::crawldb::labels;
use crate::crawldb::merge::{self, Found};
use crate::crawldb::outcome::Outcome;
use crate::crawldb::record::*;
use gleaner_torrent::Infohashes;

impl MemoryTables {
    pub(super) fn torrent_key(&self, infohashes: &Infohashes) -> Option<Vec<u8>> {
        let by = |matches: &dyn Fn(&Infohashes) -> bool| {
            self.torrents.iter().find(|(_, torrent)| matches(&torrent.facts.infohashes)).map(|(key, _)| key.clone())
        };
        by(&|known| known.v1.is_some() && known.v1 == infohashes.v1)
            .or_else(|| by(&|known| known.v2.is_some() && known.v2 == infohashes.v2))
    }

    /// Stores what a page says of URLs, before its visit is settled.
    pub(super) fn take_labels(&mut self, visit: &Visit) {
        for UrlLabel { key, text, is_own } in &visit.labels {
            let site = self.site(key.host);
            if !labels::is_keepable(text) {
                continue;
            }
            if self.labels.number(&site, text).is_none() {
                let row = self.labels.new_row(&site, text, &[]);
                row.into_iter().for_each(|row| self.labels.add(row));
            }
            let Some(number) = self.labels.number(&site, text) else { continue };
            let before = self.url_labels.get(key).copied();
            if before == Some(number) || before.is_some() && *is_own {
                continue;
            }
            self.url_labels.insert(key.clone(), number);
            let is_visited = self.urls.get(key).is_some_and(|url| url.record.outcome.is_some());
            self.relabelled += u64::from(is_visited);
        }
        let own = self.url_labels.get(&visit.key).copied().filter(|_| visit.outcome == Outcome::Redirected);
        for link in visit.outlinks.iter().filter(|_| own.is_some()) {
            self.url_labels.entry(link.key.clone()).or_insert(own.unwrap_or_default());
        }
    }

    /// The label of a source, else that of the page which has its link.
    pub(super) fn label_of(&self, found: &Found) -> Option<Label> {
        let own = UrlKey { host: found.host, path: found.path.clone() };
        let number = self.url_labels.get(&own).or_else(|| {
            let site = self.site(found.host);
            let via = found.via.as_deref()?;
            let mut hosts = self.hosts.iter().filter(|host| host.site == site);
            let (host, path) = hosts.find_map(|host| Some((host.id, via.strip_prefix(&*host.origin)?)))?;
            self.url_labels.get(&UrlKey { host, path: path.into() })
        });
        number.and_then(|number| Some(Label { number: *number, text: self.labels.text(*number)?.into() }))
    }

    pub(super) fn magnet_row(&self, magnet: &Magnet) -> MagnetRow {
        let number = self.url_labels.get(&magnet.page);
        MagnetRow {
            facts: magnet.facts.clone(),
            site: self.site(magnet.page.host),
            page: self.url_text(magnet.page.host, &magnet.page.path),
            first_seen: magnet.first_seen,
            label: number.and_then(|number| Some(Label { number: *number, text: self.labels.text(*number)?.into() })),
            stored: self.torrent_key(&magnet.facts.infohashes).is_some(),
        }
    }

    pub(super) fn magnet_keys(&self, infohashes: &Infohashes) -> (Option<Vec<u8>>, Option<Vec<u8>>) {
        let by = |matches: &dyn Fn(&Infohashes) -> bool| {
            self.magnets.iter().find(|(_, magnet)| matches(&magnet.facts.infohashes)).map(|(key, _)| key.clone())
        };
        (
            by(&|known| known.v1.is_some() && known.v1 == infohashes.v1),
            by(&|known| known.v2.is_some() && known.v2 == infohashes.v2),
        )
    }

    /// True if it is the first source on its site.
    pub(super) fn add_source(&mut self, key: &[u8], found: Found) -> bool {
        let host = found.host;
        let hosts = &self.hosts;
        let Some(torrent) = self.torrents.get_mut(key) else {
            return false;
        };
        let is_new = merge::add_source(&mut torrent.sources, found, |host| &*hosts[host.0 as usize].site);
        if is_new {
            self.counts(host).torrents_seen += 1;
        }
        is_new
    }

    /// Stores a torrent or counts it as seen; true if it was unknown.
    pub(super) fn take_torrent(&mut self, facts: &TorrentFacts, visit: &Visit) -> bool {
        let known = self.torrent_key(&facts.infohashes);
        let stored = known.is_none();
        if stored {
            self.count_magnets(&facts.infohashes, -1);
        }
        let key = known.unwrap_or_else(|| facts.infohashes.key().to_vec());
        if stored {
            let torrent = Torrent {
                facts: facts.clone(),
                first_host: Some(visit.key.host),
                stored: visit.at,
                seen_count: 0,
                sources: Vec::new(),
            };
            self.torrents.insert(key.clone(), torrent);
            self.counts(visit.key.host).torrents += 1;
        }
        if let Some(torrent) = self.torrents.get_mut(&key) {
            torrent.seen_count = torrent.seen_count.saturating_add(1);
        }
        let is_new = self.add_source(&key, source_of(visit, visit.via.clone()));
        if stored {
            self.add_magnet_pages(&key, &facts.infohashes);
        }
        if is_new || stored {
            self.changes.push(key);
        }
        stored
    }

    /// Adjusts the count of magnets that name a torrent which is not in the database: decreased before that is inserted,
    /// increased after it is removed.
    pub(super) fn count_magnets(&mut self, infohashes: &Infohashes, change: i64) {
        let (by_v1, by_v2) = self.magnet_keys(infohashes);
        let by_v2 = by_v2.filter(|key| by_v1.as_ref() != Some(key));
        for key in [by_v1, by_v2].into_iter().flatten() {
            let magnet = &self.magnets[&key];
            if self.torrent_key(&magnet.facts.infohashes).is_none() {
                let counts = self.counts(magnet.page.host);
                // A count below zero wraps to a huge one, where the other store stops at zero.
                counts.magnets = counts.magnets.wrapping_add_signed(change);
            }
        }
    }

    /// The pages that named this torrent before it was stored become sources of it.
    pub(super) fn add_magnet_pages(&mut self, key: &[u8], infohashes: &Infohashes) {
        let (by_v1, by_v2) = self.magnet_keys(infohashes);
        let by_v2 = by_v2.filter(|key| by_v1.as_ref() != Some(key));
        for magnet_key in [by_v1, by_v2].into_iter().flatten() {
            let magnet = &self.magnets[&magnet_key];
            let (page, at) = (magnet.page.clone(), magnet.first_seen);
            if magnet_key != key {
                self.changes.push(magnet_key);
            }
            self.add_source(key, Found { host: page.host, path: page.path, via: None, first_seen: at, last_seen: at });
        }
    }

    /// True if the magnet names a torrent that was neither stored nor named.
    pub(super) fn take_magnet(&mut self, facts: &MagnetFacts, visit: &Visit) -> bool {
        if let Some(key) = self.torrent_key(&facts.infohashes) {
            if self.add_source(&key, source_of(visit, None)) {
                self.changes.push(key);
            }
            return false;
        }
        match self.magnet_keys(&facts.infohashes) {
            (None, None) => {
                let magnet = Magnet { facts: facts.clone(), page: visit.key.clone(), first_seen: visit.at };
                self.magnets.insert(facts.infohashes.key().to_vec(), magnet);
                self.changes.push(facts.infohashes.key().to_vec());
                self.counts(visit.key.host).magnets += 1;
                true
            }
            (Some(one), Some(two)) if one != two => {
                self.join_magnets(&one, &two);
                false
            }
            (one, two) => {
                if let Some((key, mut magnet)) = one.or(two).and_then(|key| self.magnets.remove_entry(&key)) {
                    let before = magnet.facts.clone();
                    magnet.facts.infohashes = merge::filled(magnet.facts.infohashes, facts.infohashes);
                    magnet.facts.name = magnet.facts.name.or_else(|| facts.name.clone());
                    if magnet.facts != before {
                        let keys = BTreeSet::from([key, magnet.facts.infohashes.key().to_vec()]);
                        self.changes.extend(keys);
                    }
                    self.magnets.insert(magnet.facts.infohashes.key().to_vec(), magnet);
                }
                false
            }
        }
    }

    /// Merges two magnets, one known by its v1 hash and one by its v2 hash, that name the same torrent.
    pub(super) fn join_magnets(&mut self, one: &[u8], two: &[u8]) {
        let (a, b) = (&self.magnets[one], &self.magnets[two]);
        if a.facts.infohashes.v2.is_some() || b.facts.infohashes.v1.is_some() {
            return;
        }
        let (Some(a), Some(b)) = (self.magnets.remove(one), self.magnets.remove(two)) else {
            return;
        };
        let (mut kept, dropped) = if a.first_seen <= b.first_seen { (a, b) } else { (b, a) };
        kept.facts.infohashes = merge::filled(kept.facts.infohashes, dropped.facts.infohashes);
        kept.facts.name = kept.facts.name.or(dropped.facts.name);
        self.counts(dropped.page.host).magnets -= 1;
        self.changes.extend(BTreeSet::from([one.to_vec(), two.to_vec()]));
        self.magnets.insert(kept.facts.infohashes.key().to_vec(), kept);
    }
}

fn source_of(visit: &Visit, via: Option<Box<str>>) -> Found {
    Found { host: visit.key.host, path: visit.key.path.clone(), via, first_seen: visit.at, last_seen: visit.at }
}
