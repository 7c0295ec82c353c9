//! The contract for the receipts of a batch of visits, recorded or refused.

use gleaner_store::crawldb::*;

use super::{at, bring, found, key, lease, listing, name, v1, visit};

pub async fn a_receipt_counts_the_targets_that_were_new(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let target = |path| Discovered { is_target: true, ..found(host, path, 0) };
    db.add_discovered(vec![target("/known")], at(1)).await.unwrap();
    let page = |path, ms, outlinks| Visit { outlinks, ..visit(key(host, path), ms, Outcome::Page) };
    let links = vec![target("/known"), target("/1"), found(host, "/2", 0), target("/1"), found(host, "/3", 0)];
    // Of a link that occurs twice the first counts, also across the visits of a batch.
    let batch = vec![page("/a", 2, links.clone()), page("/b", 3, vec![target("/2"), target("/4")])];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    let added = |receipt: &Receipt| (receipt.urls_added, receipt.targets_added);
    assert_eq!(receipts.iter().map(added).collect::<Vec<_>>(), [(3, 1), (1, 1)]);
    let again = db.record_visits(vec![page("/c", 4, links.clone()), page("/a", 2, links)].into()).await.unwrap();
    assert_eq!(again.iter().map(added).collect::<Vec<_>>(), [(0, 0), (0, 0)]);
    assert!(db.queued(host, 9).await.unwrap().iter().all(|row| !row.is_target));
}

pub async fn a_refused_batch_is_as_if_it_had_not_been(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/t", 0)], at(1)).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 1, 9)).await.unwrap().len(), 1);
    let look = listing("/?p={page}", 1, &[1, 2]);
    let page = Visit {
        outlinks: vec![found(host, "/t", 0), Discovered { is_target: true, ..found(host, "/u", 0) }],
        body_hash: Some(5),
        listing: Some(look),
        ..name(host, "/page", 5, v1(2))
    };
    let memo = Some("etag".into());
    let good = vec![Visit { memo, next: Next::RevisitAt(at(9)), ..bring(host, "/t", 5, v1(1)) }, page];
    let stray = Visit { outlinks: vec![found(HostId(9), "/", 0)], ..visit(key(host, "/v"), 5, Outcome::Page) };
    let before = db.site_counts("s").await.unwrap();
    let bad: Vec<Visit> = good.iter().cloned().chain([stray]).collect();
    db.record_visits(bad.into()).await.unwrap_err();

    assert_eq!(db.site_counts("s").await.unwrap(), before);
    assert!(db.url_record(&key(host, "/t")).await.unwrap().unwrap().outcome.is_none());
    for path in ["/page", "/u", "/v"] {
        assert!(db.url_record(&key(host, path)).await.unwrap().is_none(), "{path}");
    }
    assert!(db.torrents(None, 9).await.unwrap().is_empty() && db.magnets(None, 9).await.unwrap().is_empty());
    assert!(db.listings("s", None, 9).await.unwrap().is_empty());
    assert!(db.lease_due(lease(host, 6, 9)).await.unwrap().is_empty(), "the lease stays");

    let receipts = db.record_visits(good.into()).await.unwrap();
    let torrent = Receipt { torrent_stored: true, ..Receipt::empty(Outcome::TorrentStored) };
    let page = Receipt { urls_added: 1, targets_added: 1, magnets_added: 1, ..Receipt::empty(Outcome::Page) };
    assert_eq!(receipts, [torrent, page]);
    let leases = db.lease_due(lease(host, 9, 9)).await.unwrap();
    let told: Vec<_> = leases.iter().map(|lease| (&*lease.key.path, lease.memo.as_deref())).collect();
    assert_eq!(told.len(), 2);
    assert!(told.contains(&("/t", Some("etag"))) && told.contains(&("/u", None)));
}

/// A URL that the increment found is known since then, not since its first visit or since history received it.
pub async fn a_url_is_known_since_it_was_found(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let known = async |path: &str| db.url_record(&key(host, path)).await.unwrap().unwrap().first_seen;
    let early = |path: &str, at_ms| Discovered { found: Some(at(at_ms)), ..found(host, path, 0) };
    let batch = vec![early("/1", 3), early("/ahead", 99), found(host, "/plain", 0)];
    db.add_discovered(batch, at(7)).await.unwrap();
    db.make_due(vec![early("/due", 4), early("/1", 2)], at(7)).await.unwrap();
    let times = [known("/1").await, known("/ahead").await, known("/plain").await, known("/due").await];
    assert_eq!(times, [at(3), at(7), at(7), at(4)], "a time to come is a clock's that was wrong");
    let visit = |path: &str, at_ms: Option<u64>| Visit {
        found: at_ms.map(at),
        next: Next::RetryAt(at(30)),
        ..visit(key(host, path), 20, Outcome::TimedOut)
    };
    let visits = vec![
        visit("/2", Some(3)),
        visit("/3", Some(99)),
        visit("/4", None),
        visit("/plain", Some(5)),
        visit("/1", Some(5)),
    ];
    db.record_visits(visits.into()).await.unwrap();
    let times = [known("/2").await, known("/3").await, known("/4").await, known("/plain").await, known("/1").await];
    assert_eq!(times, [at(3), at(20), at(20), at(5), at(3)]);
}
