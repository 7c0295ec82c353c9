//! A database and an archive with torrents in them, as left by a crawl.

#![allow(dead_code)] // each test binary uses its part

use std::path::PathBuf;
use std::sync::Arc;

use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CrawlDb, Listing, MagnetFacts, Next, Outcome, TorrentFacts, UrlKey, UrlLabel, Visit};
use gleaner_torrent::archive::Archive;
use gleaner_torrent::{Infohashes, metainfo};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

/// 2026-11-20 12:00:00 UTC.
pub const NOON: u64 = 1_795_176_000_000;

pub struct Harvest {
    pub dir: TempDir,
    pub db: MemoryStore,
    pub archive: Arc<Archive>,
}

impl Harvest {
    pub fn new() -> Self {
        let dir = TempDir::new().unwrap();
        let archive = Arc::new(Archive::open(dir.path().join("archive"), false).unwrap());
        Self { dir, db: MemoryStore::new(), archive }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    /// A torrent that `site` returned for `path`, stored at `at`.
    pub async fn store(&self, body: &[u8], site: &str, path: &str, at: u64) -> TorrentFacts {
        let facts = facts_of(body);
        let known = self.db.known_torrents(vec![facts.infohashes]).await.unwrap()[0].is_some();
        if !known {
            self.archive.store_batch(&[(facts.infohashes, body)]).unwrap();
        }
        let mut visit = self.visit(site, path, Outcome::TorrentStored, at).await;
        visit.torrent = Some(facts.clone());
        visit.via = Some(format!("https://{site}/list").into());
        self.db.record_visits(vec![visit].into()).await.unwrap();
        facts
    }

    /// A torrent that `site` returned for `path`, to which the page `via` links.
    pub async fn download(&self, body: &[u8], site: &str, path: &str, via: &str, at: u64) {
        let mut visit = self.visit(site, path, Outcome::TorrentStored, at).await;
        visit.rank = 1;
        visit.torrent = Some(facts_of(body));
        visit.via = Some(format!("https://{site}{via}").into());
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    /// A URL of the class that has this rank.
    pub async fn ranked(&self, site: &str, path: &str, rank: u8, outcome: Outcome, at: u64) {
        let mut visit = self.visit(site, path, outcome, at).await;
        visit.rank = rank;
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    pub async fn magnet(&self, byte: u8, name: Option<&str>, site: &str, at: u64) {
        let mut visit = self.visit(site, &format!("/page/{byte}"), Outcome::Page, at).await;
        visit.magnets = vec![MagnetFacts {
            infohashes: Infohashes { v1: Some([byte; 20]), v2: None },
            name: name.map(Into::into),
            link: format!("magnet:?xt=urn:btih:{}", format!("{byte:02x}").repeat(20)).into(),
        }];
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    /// A page that says what is behind URLs.
    pub async fn labels(&self, site: &str, path: &str, labels: Vec<UrlLabel>, at: u64) {
        let visit = self.visit(site, path, Outcome::Page, at).await;
        self.db.record_visits(vec![Visit { labels, ..visit }].into()).await.unwrap();
    }

    pub async fn listing(&self, site: &str, path: &str, listing: Listing, at: u64) {
        let mut visit = self.visit(site, path, Outcome::Page, at).await;
        visit.listing = Some(listing);
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    pub async fn outcome(&self, site: &str, path: &str, outcome: Outcome, at: u64) {
        let visit = self.visit(site, path, outcome, at).await;
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    /// A page that was read in part, for this reason, or whole.
    pub async fn not_whole(&self, site: &str, path: &str, why: Option<&str>, at: u64) {
        let mut visit = self.visit(site, path, Outcome::Page, at).await;
        visit.not_whole = why.map(Into::into);
        self.db.record_visits(vec![visit].into()).await.unwrap();
    }

    async fn visit(&self, site: &str, path: &str, outcome: Outcome, at: u64) -> Visit {
        let host = self.db.host_id(site, &format!("https://{site}")).await.unwrap();
        Visit {
            key: UrlKey { host, path: path.into() },
            depth: 1,
            rank: 0,
            attempts: 0,
            via: None,
            found: None,
            at: UnixMillis(at),
            outcome,
            next: Next::Done,
            body_bytes: 100,
            body_hash: None,
            outlinks: Vec::new(),
            torrent: None,
            magnets: Vec::new(),
            listing: None,
            memo: None,
            labels: Vec::new(),
            not_whole: None,
        }
    }
}

/// The facts that the crawl would store for these bytes.
pub fn facts_of(body: &[u8]) -> TorrentFacts {
    let metainfo = metainfo::parse(body).unwrap();
    assert_eq!(metainfo.dict, 0..body.len());
    TorrentFacts {
        infohashes: metainfo.infohashes,
        name: metainfo.name.into(),
        payload_bytes: metainfo.payload_bytes,
        file_count: metainfo.file_count,
        metainfo_bytes: u32::try_from(body.len()).unwrap(),
        sha256: Sha256::digest(body).into(),
        created_unix: metainfo.created_unix,
        private: metainfo.private,
    }
}

/// A v1 torrent of one file. Equal names and numbers give the same torrent, whatever the tracker.
pub fn torrent(name: &str, number: u64, tracker: &str) -> Vec<u8> {
    let mut body = format!("d8:announce{}:{tracker}4:infod6:lengthi{}e", tracker.len(), number + 1).into_bytes();
    body.extend(format!("4:name{}:", name.len()).into_bytes());
    body.extend(name.as_bytes());
    body.extend(b"12:piece lengthi1048576e6:pieces");
    let pieces: Vec<u8> = (0..(number + 1).div_ceil(1 << 20)).flat_map(|_| [b'x'; 20]).collect();
    body.extend(format!("{}:", pieces.len()).into_bytes());
    body.extend(pieces);
    body.extend(b"ee");
    body
}
