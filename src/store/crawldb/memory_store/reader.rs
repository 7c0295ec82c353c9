//! The read-only interface of the model.

use std::ops::Bound;

use async_trait::async_trait;
use xxhash_rust::xxh3::xxh3_64;

use super::{Magnet, MemoryStore, MemoryTables, Torrent};
use crate::crawldb::merge::Found;
use crate::crawldb::record::*;
use crate::crawldb::{CrawlDbError, Reader};
use gleaner_torrent::Infohashes;

impl MemoryTables {
    fn torrent_row(&self, torrent: &Torrent) -> TorrentRow {
        let of = |found: &Found| Source {
            site: self.site(found.host),
            url: self.url_text(found.host, &found.path),
            label: self.label_of(found),
            via: found.via.clone(),
            first_seen: found.first_seen,
            last_seen: found.last_seen,
        };
        let mut sources: Vec<Source> = torrent.sources.iter().map(of).collect();
        sources.sort_by(|a, b| (&a.url, &a.site).cmp(&(&b.url, &b.site)));
        TorrentRow {
            facts: torrent.facts.clone(),
            site: torrent.first_host.map_or_else(|| "".into(), |host| self.site(host)),
            stored: torrent.stored,
            seen_count: torrent.seen_count,
            sources,
        }
    }
}

#[async_trait]
impl Reader for MemoryStore {
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError> {
        Ok(self.state().hosts.clone())
    }

    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError> {
        Ok(self.state().counts.get(site).cloned().unwrap_or_default())
    }

    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError> {
        let state = self.state();
        let behind = |key: &Vec<u8>| after.as_ref().is_none_or(|after| key > after);
        let rows = state.torrents.iter().filter(|(key, _)| behind(key)).take(rows_max);
        Ok(rows.map(|(_, torrent)| state.torrent_row(torrent)).collect())
    }

    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError> {
        let state = self.state();
        let mut rows: Vec<TorrentRow> = state.torrents.values().map(|torrent| state.torrent_row(torrent)).collect();
        rows.retain(|row| before.as_ref().is_none_or(|before| row.place() < *before));
        rows.sort_by_key(|row| std::cmp::Reverse(row.place()));
        Ok(rows.into_iter().skip(skip).take(rows_max).collect())
    }

    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError> {
        let state = self.state();
        let row = |hash: &Vec<u8>| {
            let has = |torrent: &&Torrent| {
                let Infohashes { v1, v2 } = &torrent.facts.infohashes;
                v1.is_some_and(|v1| v1[..] == hash[..]) || v2.is_some_and(|v2| v2[..] == hash[..])
            };
            state.torrents.values().find(has).map(|torrent| state.torrent_row(torrent))
        };
        Ok(infohashes.iter().map(row).collect())
    }

    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError> {
        let state = self.state();
        let last = state.changes.len() as u64;
        let keys = (1..).zip(state.changes.iter().cloned()).filter(|(number, _)| *number > after).take(rows_max);
        Ok(Changes {
            database: 0,
            first: last.min(1),
            last,
            torrents: state.torrents.len() as u64,
            keys: keys.collect(),
        })
    }

    async fn labels(&self) -> Result<SiteLabels, CrawlDbError> {
        let state = self.state();
        Ok(SiteLabels { rows: state.labels.rows().collect(), relabelled: state.relabelled })
    }

    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError> {
        let state = self.state();
        let behind = |key: &Vec<u8>| after.as_ref().is_none_or(|after| key > after);
        let rows = state.magnets.iter().filter(|(key, _)| behind(key)).take(rows_max);
        Ok(rows.map(|(_, magnet)| state.magnet_row(magnet)).collect())
    }

    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError> {
        let state = self.state();
        let row = |hash: &Vec<u8>| {
            let has = |magnet: &&Magnet| {
                let Infohashes { v1, v2 } = &magnet.facts.infohashes;
                v1.is_some_and(|v1| v1[..] == hash[..]) || v2.is_some_and(|v2| v2[..] == hash[..])
            };
            state.magnets.values().find(has).map(|magnet| state.magnet_row(magnet))
        };
        Ok(infohashes.iter().map(row).collect())
    }

    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError> {
        let state = self.state();
        let rows = state.listings.iter().filter(|(key, _)| after.as_ref().is_none_or(|after| *key > after));
        let rows = rows.filter(|((host, _, _), _)| &*state.hosts[host.0 as usize].site == site).take(rows_max);
        Ok(rows
            .map(|((host, series, page), looks)| ListingRow {
                host: *host,
                listing: Listing {
                    series: series.clone(),
                    page: *page,
                    page_max: looks.page_max,
                    targets: looks.latest.clone(),
                },
                at: looks.at,
                updated: looks.updated(),
                earlier: looks.earlier(),
            })
            .collect())
    }

    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError> {
        let state = self.state();
        let start = match after {
            Some((host, path)) => Bound::Excluded(UrlKey { host, path }),
            None => Bound::Unbounded,
        };
        let urls = state.urls.range((start, Bound::Unbounded));
        let mut urls = urls.filter(|(key, _)| &*state.hosts[key.host.0 as usize].site == site).peekable();
        let mut looks = UrlLooks::default();
        for (key, url) in urls.by_ref().take(rows_max) {
            looks.rows.push(UrlLook {
                hash: xxh3_64(state.url_text(key.host, &key.path).as_bytes()),
                rank: url.rank,
                depth: url.record.depth,
                outcome: url.record.outcome,
                is_queued: url.queued.is_some(),
                path: UrlLook::has_path(url.rank, &key.path).then(|| (key.host, key.path.clone())),
                label: state.url_labels.get(key).copied().filter(|_| UrlLook::is_target(url.rank)),
            });
            looks.after = Some((key.host, key.path.clone()));
        }
        looks.after.take_if(|_| urls.peek().is_none());
        Ok(looks)
    }

    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError> {
        let state = self.state();
        let of_site = state.not_whole.iter().filter(|(key, _)| &*state.hosts[key.host.0 as usize].site == site);
        Ok(of_site
            .map(|(key, (reason, at))| NotWholeRow {
                url: state.url_text(key.host, &key.path),
                reason: reason.clone(),
                at: *at,
            })
            .collect())
    }

    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError> {
        Ok(self.state().notes.get(&(site.into(), name.into())).cloned())
    }
}
