//! Counting: each file once, the coverage after visits alone.

use super::*;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CrawlDb, Outcome, TorrentFacts, UrlKey, Visit};
use gleaner_torrent::Infohashes;

const NOW: UnixMillis = UnixMillis(1_795_651_200_000);

async fn store(db: &MemoryStore, number: u8, at: UnixMillis) {
    let host = db.host_id("site", "https://h.example").await.unwrap();
    let torrent = TorrentFacts {
        infohashes: Infohashes { v1: Some([number; 20]), v2: None },
        name: "name".into(),
        payload_bytes: 1,
        file_count: 1,
        metainfo_bytes: 1_000 + u32::from(number),
        sha256: [number; 32],
        created_unix: None,
        private: false,
    };
    let visit = Visit {
        depth: 1,
        body_bytes: 10,
        torrent: Some(torrent),
        ..Visit::new(UrlKey { host, path: format!("/{number}").into() }, at, Outcome::TorrentStored)
    };
    db.record_visits(Arc::new(vec![visit])).await.unwrap();
}

fn after(seconds: u64) -> UnixMillis {
    NOW.plus(Duration::from_secs(seconds))
}

#[tokio::test]
async fn each_file_of_the_archive_is_counted_once_when_it_is_settled() {
    let db = MemoryStore::new();
    let (mut counter, figures) = (Counter::default(), Figures::default());
    counter.count(&db, NOW, &figures).await.unwrap();
    assert_eq!(figures.counted().archive_bytes, 0);
    for number in 0..200 {
        store(&db, number, after(number.into())).await;
    }
    let sum = |numbers: std::ops::Range<u64>| numbers.map(|number| 1_000 + number).sum::<u64>();
    // Stored in the last ten seconds are 91 to 100.
    for (at, counted) in [(100, 0..90), (100, 0..90), (110, 0..100), (1_000, 0..200), (2_000, 0..200)] {
        counter.count(&db, after(at), &figures).await.unwrap();
        assert_eq!(figures.counted().archive_bytes, sum(counted), "at {at} s");
    }
}

#[tokio::test]
async fn the_coverage_is_counted_again_after_visits_alone() {
    let db = MemoryStore::new();
    let (mut counter, figures) = (Counter::default(), Figures::default());
    store(&db, 1, NOW).await;
    counter.count(&db, after(1), &figures).await.unwrap();
    counter.count(&db, after(2), &figures).await.unwrap();
    let counted = figures.counted();
    assert_eq!((counted.at, counted.sites.get("site").cloned()), (Some(after(1)), Some(Covered::default())));
    store(&db, 2, after(2)).await;
    counter.count(&db, after(3), &figures).await.unwrap();
    assert_eq!(figures.counted().at, Some(after(3)));
}
