//! Torrents: each once by its infohashes, with its sources; magnets become torrents.

use super::*;

pub async fn two_visits_with_one_torrent_store_it_once(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://b").await.unwrap();
    let batch = vec![bring(host, "/2", 5, v1(1)), bring(host, "/1", 5, v1(1)), bring(other, "/3", 5, v1(1))];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    assert_eq!(receipts.iter().map(|receipt| receipt.torrent_stored).collect::<Vec<_>>(), [true, false, false]);
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!(counts.outcomes, [(Outcome::TorrentStored, 1), (Outcome::TorrentDuplicate, 1)]);
    assert_eq!((counts.torrents, counts.torrents_seen), (1, 1));
    let counts = db.site_counts("t").await.unwrap();
    assert_eq!((counts.torrents, counts.torrents_seen), (0, 1));
    let row = db.torrents(None, 9).await.unwrap().remove(0);
    assert_eq!(source_urls(&row), ["http://a/1", "http://a/2", "http://b/3"]);
    assert_eq!((row.facts, row.seen_count, &*row.site), (facts(v1(1)), 3, "s"));
}

pub async fn a_hybrid_known_by_either_hash_is_one_torrent(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let hashes = [hybrid(1, 2), v1(1), v2(2), v2(3)];
    let batch: Vec<_> =
        hashes.iter().enumerate().map(|(at, hashes)| bring(host, &format!("/{at}"), 5, *hashes)).collect();
    let receipts = db.record_visits(batch.into()).await.unwrap();
    assert_eq!(receipts.iter().filter(|receipt| receipt.torrent_stored).count(), 2);
    let known = db.known_torrents(vec![v1(1), v2(2), v2(3), v1(3), hybrid(9, 2)]).await.unwrap();
    let one = Some(hybrid(1, 2));
    assert_eq!(known, [one, one, Some(v2(3)), None, one]);
    assert_eq!(db.torrents(None, 9).await.unwrap().len(), 2);
}

pub async fn sources_are_kept_up_to_their_cap(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://b").await.unwrap();
    let views = gleaner_store::limits::SOURCES_PER_TORRENT_MAX + 20;
    let mut batch: Vec<_> = (0..views).map(|view| bring(host, &format!("/view/{view:04}"), 5, v1(1))).collect();
    batch.push(bring(other, "/other", 5, v1(1)));
    db.record_visits(batch.into()).await.unwrap();
    let row = db.torrents(None, 1).await.unwrap().remove(0);
    assert_eq!(row.sources.len(), gleaner_store::limits::SOURCES_PER_TORRENT_MAX);
    assert!(row.sources.iter().any(|source| &*source.site == "t"));
    assert_eq!(row.seen_count as usize, views + 1);
}

pub async fn a_magnet_of_a_stored_torrent_is_a_source(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://b").await.unwrap();
    let batch = vec![bring(host, "/t", 5, hybrid(1, 2)), name(other, "/page", 6, v2(2))];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    assert_eq!(receipts[1].magnets_added, 0);
    assert!(db.magnets(None, 9).await.unwrap().is_empty());
    assert_eq!(db.torrents(None, 9).await.unwrap()[0].sources.len(), 2);
    assert_eq!(db.site_counts("t").await.unwrap().torrents_seen, 1);
}

pub async fn a_magnet_becomes_stored_with_its_page_as_source(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let twice = Visit { magnets: vec![magnet(v2(2)), magnet(v2(2))], ..name(host, "/page", 5, v2(2)) };
    assert_eq!(db.record_visits(vec![twice].into()).await.unwrap()[0].magnets_added, 1);
    assert!(!db.magnets(None, 9).await.unwrap()[0].stored);
    assert!(db.record_visits(vec![bring(host, "/t", 6, hybrid(1, 2))].into()).await.unwrap()[0].torrent_stored);
    assert!(db.magnets(None, 9).await.unwrap()[0].stored);
    let row = db.torrents(None, 9).await.unwrap().remove(0);
    assert_eq!(source_urls(&row), ["http://a/page", "http://a/t"]);
    assert_eq!(db.site_counts("s").await.unwrap().torrents_seen, 1);
}

pub async fn magnets_by_either_hash_join(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let batch = vec![
        name(host, "/1", 5, v1(1)),
        name(host, "/2", 4, v2(2)),
        name(host, "/3", 6, hybrid(1, 2)),
        name(host, "/4", 7, v2(2)),
    ];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    assert_eq!(receipts.iter().map(|receipt| receipt.magnets_added).collect::<Vec<_>>(), [1, 1, 0, 0]);
    let rows = db.magnets(None, 9).await.unwrap();
    assert_eq!(rows.len(), 1);
    let at = db.magnets_at(vec![vec![2; 32], vec![1; 20], vec![3; 20]]).await.unwrap();
    assert_eq!(at, [Some(rows[0].clone()), Some(rows[0].clone()), None]);
    // An index learns of each magnet that has come or become another; of the last visit nothing.
    let changes: Vec<Vec<u8>> = db.changes(0, 99).await.unwrap().keys.into_iter().map(|(_, key)| key).collect();
    assert_eq!(changes, [vec![1; 20], vec![2; 32], vec![1; 20], vec![2; 32]]);
    assert_eq!((rows[0].facts.infohashes, &*rows[0].page), (hybrid(1, 2), "http://a/2"));
    assert_eq!(db.site_counts("s").await.unwrap().magnets, 1);
}

pub async fn a_magnet_counts_while_its_torrent_is_not_stored(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://b").await.unwrap();
    let magnets = async || {
        let count = async |site| db.site_counts(site).await.unwrap().magnets;
        (count("s").await, count("t").await)
    };
    let named = vec![name(host, "/1", 1, hybrid(1, 2)), name(other, "/2", 1, v1(3)), name(other, "/3", 1, v1(1))];
    db.record_visits(named.into()).await.unwrap();
    assert_eq!(magnets().await, (1, 1));
    // The torrents of both hashes are two: the magnet counts again when neither is stored.
    db.record_visits(vec![bring(other, "/t1", 2, v1(1)), bring(other, "/t2", 2, v2(2))].into()).await.unwrap();
    assert_eq!(magnets().await, (0, 1));
    db.forget_torrent(v1(1), at(3)).await.unwrap();
    assert_eq!(magnets().await, (0, 1));
    db.forget_torrent(v2(2), at(3)).await.unwrap();
    assert_eq!(magnets().await, (1, 1));
    db.adopt_torrent(facts(v1(3)), at(4)).await.unwrap();
    assert_eq!(magnets().await, (1, 0));

    let after = vec![bring(host, "/t9", 5, v1(9)), name(other, "/9", 5, v1(9))];
    db.record_visits(after.into()).await.unwrap();
    assert_eq!(magnets().await, (1, 0));
}

pub async fn torrents_are_told_from_the_newest_on_and_by_either_hash(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let bring = |path: &str, ms, hashes| bring(host, path, ms, hashes);
    // Recorded in another order than they were found, and two at one time.
    let visits =
        vec![bring("/1", 5, v1(1)), bring("/2", 3, hybrid(2, 3)), bring("/3", 5, v1(4)), bring("/4", 9, v2(5))];
    db.record_visits(visits.into()).await.unwrap();
    db.record_visits(vec![bring("/5", 20, v1(2))].into()).await.unwrap();
    db.adopt_torrent(facts(v1(6)), at(7)).await.unwrap();
    let rows = db.newest(None, 0, 9).await.unwrap();
    let hashes = |rows: &[TorrentRow]| rows.iter().map(|row| row.facts.infohashes).collect::<Vec<_>>();
    assert_eq!(hashes(&rows), [v2(5), v1(6), v1(4), v1(1), hybrid(2, 3)]);
    for skip in 0..7 {
        let some = db.newest(None, skip, 2).await.unwrap();
        assert_eq!(some, rows.iter().skip(skip).take(2).cloned().collect::<Vec<_>>(), "{skip}");
        if let Some(row) = rows.get(skip) {
            let behind = db.newest(Some(row.place()), 0, 9).await.unwrap();
            assert_eq!(behind, rows[skip + 1..], "{skip}");
        }
    }
    let at = |hashes: Infohashes| hashes.key().to_vec();
    let wanted = vec![at(v2(3)), at(v1(9)), at(v1(2)), at(v2(5)), vec![1, 2]];
    let found = db.torrents_at(wanted).await.unwrap();
    let found: Vec<_> = found.into_iter().map(|row| row.map(|row| row.facts.infohashes)).collect();
    assert_eq!(found, [Some(hybrid(2, 3)), None, Some(hybrid(2, 3)), Some(v2(5)), None]);
    db.forget_torrent(v1(2), UnixMillis(30)).await.unwrap();
    assert_eq!(hashes(&db.newest(None, 3, 9).await.unwrap()), [v1(1)]);
}

pub async fn changes_are_told_in_their_order(db: &impl CrawlDb) {
    assert_eq!(Changes { database: 0, ..db.changes(0, 9).await.unwrap() }, Changes::default());
    let (one, two) = (db.host_id("s", "http://a").await.unwrap(), db.host_id("t", "http://a").await.unwrap());
    db.record_visits(vec![bring(one, "/1", 1, v1(1)), bring(one, "/2", 2, v1(2))].into()).await.unwrap();
    // The same once more on its site is none; on another site it is, and so is a magnet of a third.
    db.record_visits(vec![bring(one, "/3", 3, v1(1)), bring(two, "/1", 3, v1(1))].into()).await.unwrap();
    db.record_visits(vec![name(two, "/2", 4, v1(2)), name(two, "/3", 5, v1(2))].into()).await.unwrap();
    db.adopt_torrent(facts(v1(3)), at(6)).await.unwrap();
    db.forget_torrent(v1(1), at(7)).await.unwrap();
    let told = |changes: Changes| changes.keys.iter().map(|(number, key)| (*number, key[0])).collect::<Vec<_>>();
    let changes = db.changes(0, 9).await.unwrap();
    assert_eq!((changes.first, changes.last, changes.torrents), (1, 6, 2));
    assert_eq!(told(changes), [(1, 1), (2, 2), (3, 1), (4, 2), (5, 3), (6, 1)]);
    assert_eq!(told(db.changes(3, 2).await.unwrap()), [(4, 2), (5, 3)]);
    assert_eq!(told(db.changes(6, 2).await.unwrap()), []);
}

pub async fn a_forgotten_torrent_has_its_sources_due(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![bring(host, "/t", 5, hybrid(1, 2))].into()).await.unwrap();
    db.forget_torrent(v2(2), at(9)).await.unwrap();
    db.forget_torrent(v2(2), at(9)).await.unwrap();
    assert_eq!(db.known_torrents(vec![v1(1), v2(2)]).await.unwrap(), [None, None]);
    assert_eq!(paths(&db.lease_due(lease(host, 9, 9)).await.unwrap()), ["/t"]);
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.torrents, counts.torrents_seen, counts.urls_queued), (0, 0, 1));
}

pub async fn an_adopted_torrent_is_known_without_sources(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.adopt_torrent(facts(hybrid(1, 2)), at(3)).await.unwrap();
    db.adopt_torrent(facts(v2(2)), at(4)).await.unwrap();
    let rows = db.torrents(None, 9).await.unwrap();
    assert_eq!((rows.len(), rows[0].stored, &*rows[0].site, rows[0].seen_count), (1, at(3), "", 0));
    assert!(!db.record_visits(vec![bring(host, "/t", 5, v1(1))].into()).await.unwrap()[0].torrent_stored);
    assert_eq!(db.torrents(None, 9).await.unwrap()[0].sources.len(), 1);
    assert_eq!(db.site_counts("s").await.unwrap().outcomes, [(Outcome::TorrentDuplicate, 1)]);
}
