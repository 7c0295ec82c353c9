//! Writes what was read: files first, then one durable commit of their visits, as the crawl does.

use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use xxhash_rust::xxh3::Xxh3Default;

use super::{Batch, ImportError, Magnet, SourceAt, Summary, Torrent};
use crate::crawldb::{CrawlDb, HostId, Outcome, TorrentFacts, UrlKey, UrlLabel, Visit};
use crate::limits::{IMPORT_LABELS_MAX, IMPORT_ORIGINS_MAX, URL_BYTES_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::Archive;

/// The origin of what was not found at a URL.
const FILES: &str = "import://files";

/// Rank of a download, which is never queued here.
const RANK: u8 = 15;

pub struct Writing<'w> {
    pub db: &'w dyn CrawlDb,
    /// None: nothing is written.
    pub archive: Option<Arc<Archive>>,
    pub source: &'w str,
    pub now: UnixMillis,
    pub hosts: HashMap<(String, String), HostId>,
    /// Labels of this import, by site.
    pub labels: HashMap<String, HashSet<Box<str>>>,
    /// Pages of this batch.
    pub pages: HashSet<UrlKey>,
    /// Of a run that writes nothing: what it would have written.
    pub seen: HashSet<u128>,
    pub summary: Summary,
}

/// A visit that an import records, with the file of its torrent if that is new.
struct Recorded {
    visit: Visit,
    /// The site's URL counts as visited from now on.
    is_url: bool,
}

impl Writing<'_> {
    /// Writes a batch, or counts what would be written.
    pub async fn batch(&mut self, batch: Batch) -> Result<(), ImportError> {
        let hashes: Vec<Infohashes> = batch.torrents.iter().map(|torrent| torrent.facts.infohashes).collect();
        let known = self.db.known_torrents(hashes).await?;
        self.summary.completed += batch.completed;
        let Some(archive) = self.archive.clone() else {
            for (torrent, known) in batch.torrents.iter().zip(known) {
                let is_new = known.is_none() & self.is_unseen(torrent.facts.infohashes.key());
                *(if is_new { &mut self.summary.torrents } else { &mut self.summary.known }) += 1;
            }
            for magnet in &batch.magnets {
                let is_new = self.is_unseen(magnet.facts.infohashes.key());
                *(if is_new { &mut self.summary.magnets } else { &mut self.summary.magnets_known }) += 1;
            }
            return Ok(());
        };
        let (mut visits, mut files, mut named) = (Vec::new(), Vec::new(), HashSet::new());
        self.pages.clear();
        for (torrent, known) in batch.torrents.into_iter().zip(known) {
            let Torrent { facts, file, place, sources } = torrent;
            let hashes = facts.infohashes;
            let is_v1_new = hashes.v1.is_none_or(|v1| named.insert(v1.to_vec()));
            let is_v2_new = hashes.v2.is_none_or(|v2| named.insert(v2.to_vec()));
            let is_new = known.is_none() && is_v1_new && is_v2_new;
            let recorded = self.visits(facts, sources, &place, is_new).await?;
            if is_new {
                files.push((hashes, file));
            }
            visits.extend(recorded);
            *(if is_new { &mut self.summary.torrents } else { &mut self.summary.known }) += 1;
        }
        if !files.is_empty() {
            let stored = tokio::task::spawn_blocking(move || {
                let files: Vec<_> = files.iter().map(|(infohashes, file)| (*infohashes, &file[..])).collect();
                archive.store_batch(&files)
            });
            stored.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))?;
        }
        self.summary.urls += visits.iter().filter(|recorded| recorded.is_url).count() as u64;
        let magnets = batch.magnets.len() as u64;
        let mut visits: Vec<Visit> = visits.into_iter().map(|recorded| recorded.visit).collect();
        visits.extend(self.magnets(batch.magnets).await?);
        let receipts = self.db.record_visits(Arc::new(visits)).await?;
        let added: u64 = receipts.iter().map(|receipt| u64::from(receipt.magnets_added)).sum();
        self.summary.magnets += added;
        self.summary.magnets_known += magnets - added.min(magnets);
        Ok(())
    }

    fn is_unseen(&mut self, key: &[u8]) -> bool {
        let kept = key.iter().take(16).fold(0, |kept: u128, byte| kept << 8 | u128::from(*byte));
        self.seen.insert(kept)
    }

    /// The visits that bring a torrent: one for each URL that was not visited yet, and one at least where it is new.
    async fn visits(
        &mut self,
        facts: TorrentFacts,
        sources: Vec<SourceAt>,
        place: &str,
        is_new: bool,
    ) -> Result<Vec<Recorded>, ImportError> {
        if sources.is_empty() && !is_new {
            return Ok(Vec::new());
        }
        let of_file =
            |site: &str, at| SourceAt { site: site.to_owned(), url: None, via: None, detail: None, label: None, at };
        let is_plain = sources.is_empty();
        let sources = if is_plain { vec![of_file(self.source, self.now)] } else { sources };
        let mut recorded = Vec::with_capacity(sources.len());
        let mut details = Vec::new();
        for SourceAt { site, url, via, detail, label, at } in sources {
            if let Some((origin, path, rank)) = detail
                && let Some(host) = self.host(site.clone(), origin).await?
            {
                let visit = visit(UrlKey { host, path: path.into() }, at, rank, Outcome::Page);
                details.push(Recorded { visit, is_url: true });
            }
            let is_url = url.is_some();
            let (origin, path, rank) =
                url.unwrap_or_else(|| (FILES.to_owned(), path_of(place, &facts.infohashes), RANK));
            let label = label.filter(|label| self.may_have(&site, label));
            let Some(host) = self.host(site, origin).await? else { continue };
            // A page with a magnet link of it.
            let outcome = if rank > RANK { Outcome::Page } else { Outcome::TorrentStored };
            let mut visit = visit(UrlKey { host, path: path.into() }, at, rank, outcome);
            let labels = label.map(|text| UrlLabel { key: visit.key.clone(), text, is_own: false });
            visit.labels = labels.into_iter().collect();
            let body_bytes = u64::from(facts.metainfo_bytes);
            recorded.push(Recorded { visit: Visit { via, body_bytes, torrent: Some(facts.clone()), ..visit }, is_url });
        }
        if is_plain {
            return Ok(recorded);
        }
        let mut is_needed = is_new;
        // Torrents first: one of them may be needed. Of several that one page shows, the first brings the page.
        details.retain(|detail| self.pages.insert(detail.visit.key.clone()));
        recorded.extend(details);
        let keys = recorded.iter().map(|recorded| recorded.visit.key.clone()).collect();
        let records = self.db.url_records(keys).await?;
        let mut visited = records.iter().map(|record| record.is_some_and(|record| record.outcome.is_some()));
        // A torrent that is new needs one visit, whatever became of its URLs.
        recorded.retain(|_| !visited.next().unwrap_or_default() | std::mem::take(&mut is_needed));
        Ok(recorded)
    }

    /// The visits that bring magnets: one for each site. A list that was imported before brings none.
    async fn magnets(&mut self, magnets: Vec<Magnet>) -> Result<Vec<Visit>, ImportError> {
        let mut by_site: HashMap<String, Vec<Magnet>> = HashMap::new();
        for magnet in magnets {
            by_site.entry(magnet.site.clone()).or_default().push(magnet);
        }
        let mut visits = Vec::new();
        for (site, magnets) in by_site {
            let mut digest = Xxh3Default::new();
            magnets.iter().for_each(|magnet| digest.update(magnet.facts.link.as_bytes()));
            let Some(host) = self.host(site, FILES.to_owned()).await? else { continue };
            let path = format!("/magnets/{:032x}", digest.digest128());
            let at = magnets.iter().map(|magnet| magnet.at).min().unwrap_or(self.now);
            let key = UrlKey { host, path: path.into() };
            let record = self.db.url_record(&key).await?;
            if record.is_none_or(|record| record.outcome.is_none()) {
                let magnets = magnets.into_iter().map(|magnet| magnet.facts).collect();
                visits.push(Visit { magnets, ..visit(key, at, RANK, Outcome::Page) });
            }
        }
        Ok(visits)
    }

    /// False for a label beyond the cap.
    fn may_have(&mut self, site: &str, label: &str) -> bool {
        if self.labels.get(site).is_some_and(|known| known.contains(label)) {
            return true;
        }
        if self.labels.values().map(HashSet::len).sum::<usize>() >= IMPORT_LABELS_MAX {
            self.summary.refused.push("a manifest names too many labels (imported without them)", site, "");
            return false;
        }
        self.labels.entry(site.to_owned()).or_default().insert(label.into())
    }

    /// The number of an origin; None beyond the cap.
    async fn host(&mut self, site: String, origin: String) -> Result<Option<HostId>, ImportError> {
        if let Some(host) = self.hosts.get(&(site.clone(), origin.clone())) {
            return Ok(Some(*host));
        }
        if self.hosts.len() >= IMPORT_ORIGINS_MAX {
            self.summary.refused.push("a manifest names too many sites and hosts", &site, &origin);
            return Ok(None);
        }
        let host = self.db.host_id(&site, &origin).await?;
        self.hosts.insert((site, origin), host);
        Ok(Some(host))
    }
}

/// A visit that brings nothing yet.
fn visit(key: UrlKey, at: UnixMillis, rank: u8, outcome: Outcome) -> Visit {
    Visit { rank, ..Visit::new(key, at, outcome) }
}

/// The place of a file as the path of a URL; its infohash where that is too long.
fn path_of(place: &str, infohashes: &Infohashes) -> String {
    let mut path = "/".to_owned();
    for of in place.chars() {
        match of {
            ' ' | '"' | '<' | '>' | '`' | '{' | '}' | '%' | '?' | '#' | '\\' | '^' | '|' => {
                let _ = write!(path, "%{:02X}", u32::from(of));
            }
            of if of.is_control() => path.push('_'),
            of => path.push(of),
        }
    }
    if path.len() <= URL_BYTES_MAX / 2 { path } else { format!("/{infohashes}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::crawldb::memory_store::MemoryStore;

    #[test]
    fn an_invented_manifest_does_not_use_up_the_numbers_of_labels() {
        let db = MemoryStore::new();
        let mut writing = Writing {
            db: &db,
            archive: None,
            source: "import",
            now: UnixMillis(1),
            hosts: HashMap::new(),
            labels: HashMap::new(),
            pages: HashSet::new(),
            seen: HashSet::new(),
            summary: Summary::default(),
        };
        let may = |writing: &mut Writing<'_>, nth: usize| writing.may_have(&format!("s{}", nth % 7), &nth.to_string());
        assert!((0..IMPORT_LABELS_MAX).all(|nth| may(&mut writing, nth)));
        assert!(!may(&mut writing, IMPORT_LABELS_MAX) && may(&mut writing, 5), "known ones go on");
        assert_eq!(writing.summary.refused.count(), 1);
    }
}
