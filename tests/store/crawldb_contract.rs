//! The contract of the crawl database, checked for every implementation; `crawldb_histories` checks it with random
//! histories.

mod crawldb_batches;
mod crawldb_histories;
mod crawldb_labels;
mod crawldb_leases;
mod crawldb_not_whole;
mod crawldb_notes;
mod crawldb_torrents;
mod crawldb_urls;

use std::path::Path;

use crawldb_batches::*;
use crawldb_labels::*;
use crawldb_leases::*;
use crawldb_not_whole::*;
use crawldb_notes::*;
use crawldb_torrents::*;
use crawldb_urls::*;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::*;
use gleaner_torrent::Infohashes;

const OWNER: Owner = Owner(7);

fn at(ms: u64) -> UnixMillis {
    UnixMillis(ms)
}

fn key(host: HostId, path: &str) -> UrlKey {
    UrlKey { host, path: path.into() }
}

fn found(host: HostId, path: &str, rank: u8) -> Discovered {
    Discovered { key: key(host, path), depth: 1, rank, due: at(0), via: None, is_target: false, found: None }
}

fn visit(key: UrlKey, ms: u64, outcome: Outcome) -> Visit {
    Visit { depth: 1, body_bytes: 10, ..Visit::new(key, at(ms), outcome) }
}

fn v1(byte: u8) -> Infohashes {
    Infohashes { v1: Some([byte; 20]), v2: None }
}

fn v2(byte: u8) -> Infohashes {
    Infohashes { v1: None, v2: Some([byte; 32]) }
}

fn hybrid(one: u8, two: u8) -> Infohashes {
    Infohashes { v1: Some([one; 20]), v2: Some([two; 32]) }
}

fn facts(infohashes: Infohashes) -> TorrentFacts {
    TorrentFacts {
        infohashes,
        name: "名前 name".into(),
        payload_bytes: 1 << 40,
        file_count: 3,
        metainfo_bytes: 8_192,
        sha256: [9; 32],
        created_unix: Some(-1),
        private: true,
    }
}

fn magnet(infohashes: Infohashes) -> MagnetFacts {
    MagnetFacts { infohashes, name: None, link: format!("magnet:?xt={infohashes}").into() }
}

fn lease(host: HostId, now: u64, urls_max: usize) -> LeaseRequest {
    LeaseRequest {
        host,
        owner: OWNER,
        now: at(now),
        deadline: at(now + 100),
        urls_max,
        rank_max: u8::MAX,
        order: LeaseOrder::ByRank,
    }
}

fn paths(leases: &[Lease]) -> Vec<&str> {
    leases.iter().map(|lease| &*lease.key.path).collect()
}

/// A visit that returns a torrent.
fn bring(host: HostId, path: &str, ms: u64, hashes: Infohashes) -> Visit {
    Visit { torrent: Some(facts(hashes)), ..visit(key(host, path), ms, Outcome::TorrentStored) }
}

/// A visit to a page that names a torrent.
fn name(host: HostId, path: &str, ms: u64, hashes: Infohashes) -> Visit {
    Visit { magnets: vec![magnet(hashes)], ..visit(key(host, path), ms, Outcome::Page) }
}

fn listing(series: &str, page: u64, targets: &[u64]) -> Listing {
    Listing { series: series.into(), page, page_max: 75, targets: targets.to_vec() }
}

fn source_urls(row: &TorrentRow) -> Vec<&str> {
    row.sources.iter().map(|source| &*source.url).collect()
}

/// Runs a test of the contract on its own runtime.
fn run<F: Future<Output = ()>>(test: F) {
    tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap().block_on(test);
}

fn redb(folder: &Path) -> RedbStore {
    RedbStore::open(&folder.join("crawl.redb"), OpenOptions { cache_bytes: 8 << 20, sync: false }).unwrap()
}

/// Each function of the list, once for each implementation.
macro_rules! contract {
    ($($name:ident),* $(,)?) => {
        mod memory {
            $(#[test] fn $name() { super::run(async { super::$name(&super::MemoryStore::new()).await }) })*
        }
        mod redb {
            $(#[test] fn $name() {
                let folder = tempfile::tempdir().unwrap();
                super::run(async { super::$name(&super::redb(folder.path())).await })
            })*
        }
    };
}

contract!(
    host_numbers_are_given_once_and_for_ever,
    a_known_url_is_not_queued_again_by_discovery,
    leases_go_by_rank_then_discovery,
    leases_go_by_an_order_that_the_caller_gives,
    a_lease_ends_at_its_deadline_its_visit_or_its_release,
    only_the_owner_releases_a_lease,
    a_site_that_starts_again_gives_back_its_owners_leases_alone,
    a_url_due_later_is_not_leased_before,
    a_retry_keeps_its_attempts_and_a_revisit_starts_anew,
    a_wait_keeps_its_attempts,
    faults_and_refusals_are_counted_apart,
    a_parked_url_waits_for_another_token,
    what_waits_for_a_time_is_brought_forward_for_one_host,
    tokens_of_rules_of_traps_and_of_robots_txt_do_not_touch_each_other,
    a_parked_url_made_due_is_no_longer_parked,
    host_due_tells_now_later_leased_and_exhausted,
    recording_a_visit_twice_changes_nothing_more,
    two_visits_with_one_torrent_store_it_once,
    a_hybrid_known_by_either_hash_is_one_torrent,
    sources_are_kept_up_to_their_cap,
    a_magnet_of_a_stored_torrent_is_a_source,
    a_magnet_becomes_stored_with_its_page_as_source,
    magnets_by_either_hash_join,
    a_magnet_counts_while_its_torrent_is_not_stored,
    a_url_is_counted_as_gone_once_while_it_is,
    listings_keep_the_latest_look_and_count_what_came_later,
    listings_and_torrents_are_paged,
    torrents_are_told_from_the_newest_on_and_by_either_hash,
    changes_are_told_in_their_order,
    urls_are_told_page_by_page_with_what_became_of_them,
    the_first_url_with_a_body_owns_it,
    a_visit_recorded_again_ends_its_lease_and_stays_queued,
    blocks_and_crawl_time_are_kept,
    make_due_queues_again_but_not_later,
    a_leased_url_made_due_stays_leased,
    a_forgotten_torrent_has_its_sources_due,
    an_adopted_torrent_is_known_without_sources,
    an_unknown_host_refuses_the_batch,
    what_is_too_long_or_nameless_is_passed_over,
    a_url_visited_in_a_batch_is_not_queued_by_its_outlinks,
    a_receipt_counts_the_targets_that_were_new,
    a_refused_batch_is_as_if_it_had_not_been,
    a_memo_comes_with_the_next_lease_whatever_queued_it,
    a_visit_without_a_memo_clears_it_unless_nothing_changed,
    a_memo_that_is_too_long_counts_as_none,
    a_visit_recorded_again_leaves_the_memo_alone,
    a_forgotten_torrent_takes_the_memos_of_its_sources_with_it,
    a_note_is_kept_overwritten_and_taken_away,
    a_note_that_is_too_long_is_refused,
    notes_are_kept_together_or_not_at_all,
    complaints_are_kept_until_the_host_is_forgiven,
    a_url_is_known_since_it_was_found,
    a_page_that_was_not_read_whole_is_told_until_it_is_read_whole,
    a_visit_that_could_not_look_leaves_told_what_was_not_read_whole,
    what_a_batch_says_of_one_page_counts_in_its_order,
    pages_beyond_the_bound_are_counted_and_reasons_are_cut,
    a_source_has_the_label_of_its_url_or_of_the_page_with_its_link,
    a_list_says_more_than_a_page_of_itself_and_the_last_list_most,
    a_redirect_hands_its_label_on,
    a_text_that_is_no_label_is_passed_over,
);

async fn host_numbers_are_given_once_and_for_ever(db: &impl CrawlDb) {
    let a = db.host_id("s", "http://a").await.unwrap();
    let b = db.host_id("t", "http://a").await.unwrap();
    assert_ne!(a, b);
    assert_eq!(db.host_id("s", "http://a").await.unwrap(), a);
    let hosts = db.hosts().await.unwrap();
    assert_eq!(hosts.iter().map(|host| (host.id, &*host.site)).collect::<Vec<_>>(), [(a, "s"), (b, "t")]);
}

async fn a_known_url_is_not_queued_again_by_discovery(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let batch = vec![found(host, "/1", 0), found(host, "/2", 0), found(host, "/1", 0)];
    assert_eq!(db.add_discovered(batch, at(1)).await.unwrap(), 2);
    assert_eq!(db.add_discovered(vec![found(host, "/2", 0)], at(2)).await.unwrap(), 0);
    db.record_visits(vec![visit(key(host, "/1"), 3, Outcome::Page)].into()).await.unwrap();
    assert_eq!(db.add_discovered(vec![found(host, "/1", 0)], at(4)).await.unwrap(), 0);
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.urls_known, counts.urls_queued), (2, 1));
    let record = db.url_record(&key(host, "/1")).await.unwrap().unwrap();
    assert_eq!((record.first_seen, record.visited, record.outcome), (at(1), at(3), Some(Outcome::Page)));
}

async fn host_due_tells_now_later_leased_and_exhausted(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    assert_eq!(db.host_due(host, at(1)).await.unwrap(), HostDue::Exhausted);
    db.add_discovered(vec![found(host, "/1", 0)], at(1)).await.unwrap();
    assert_eq!(db.host_due(host, at(1)).await.unwrap(), HostDue::Now);
    db.lease_due(lease(host, 1, 1)).await.unwrap();
    assert_eq!(db.host_due(host, at(2)).await.unwrap(), HostDue::Leased);
    assert_eq!(db.host_due(host, at(101)).await.unwrap(), HostDue::Now);
    let retry = Visit { next: Next::RetryAt(at(500)), ..visit(key(host, "/1"), 110, Outcome::TimedOut) };
    db.record_visits(vec![retry].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(111)).await.unwrap(), HostDue::At(at(500)));
    assert_eq!(db.host_due(host, at(500)).await.unwrap(), HostDue::Now);
    db.record_visits(vec![visit(key(host, "/1"), 501, Outcome::Page)].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(502)).await.unwrap(), HostDue::Exhausted);
}

async fn recording_a_visit_twice_changes_nothing_more(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let first =
        Visit { outlinks: vec![found(host, "/next", 0)], magnets: vec![magnet(v1(2))], ..bring(host, "/t", 5, v1(1)) };
    let receipts = db.record_visits(vec![first.clone(), first.clone()].into()).await.unwrap();
    let outcome = Outcome::TorrentStored;
    let receipt = Receipt { urls_added: 1, torrent_stored: true, magnets_added: 1, ..Receipt::empty(outcome) };
    assert_eq!(receipts[0], receipt);
    assert_eq!(receipts[1], Receipt::empty(outcome));
    let before = (db.site_counts("s").await.unwrap(), db.torrents(None, 9).await.unwrap());
    assert_eq!(db.record_visits(vec![first].into()).await.unwrap(), [Receipt::empty(outcome)]);
    assert_eq!((db.site_counts("s").await.unwrap(), db.torrents(None, 9).await.unwrap()), before);
    assert_eq!(before.0.outcomes, [(Outcome::TorrentStored, 1)]);
    assert_eq!(before.1[0].seen_count, 1);
}

async fn a_url_is_counted_as_gone_once_while_it_is(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let gone = |path, ms| visit(key(host, path), ms, Outcome::Gone);
    db.record_visits(vec![gone("/1", 1), gone("/1", 2), gone("/2", 1)].into()).await.unwrap();
    db.record_visits(vec![gone("/1", 3)].into()).await.unwrap();
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.urls_gone, counts.of(Outcome::Gone)), (2, 4));
    db.record_visits(vec![visit(key(host, "/1"), 4, Outcome::Page)].into()).await.unwrap();
    assert_eq!(db.site_counts("s").await.unwrap().urls_gone, 1);
}

async fn listings_keep_the_latest_look_and_count_what_came_later(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let look = |ms, targets: &[u64]| Visit {
        listing: Some(listing("/?p={page}", 1, targets)),
        ..visit(key(host, "/?p=1"), ms, Outcome::Page)
    };
    db.record_visits(vec![look(1, &[3, 1, 2]), look(2, &[4, 3, 1])].into()).await.unwrap();
    db.record_visits(vec![look(3, &[5, 4, 2])].into()).await.unwrap();
    let row = db.listings("s", None, 9).await.unwrap().remove(0);
    assert_eq!((row.listing.targets, row.updated, row.at), (vec![2, 4, 5], 2, at(3)));
    assert_eq!(row.earlier, [1, 3]);
    assert!(db.listings("t", None, 9).await.unwrap().is_empty());
}

async fn listings_and_torrents_are_paged(db: &impl CrawlDb) {
    let mut visits = Vec::new();
    for (nth, (site, origin)) in (0_u8..).zip([("s", "http://a"), ("t", "http://a"), ("s", "http://b")]) {
        let host = db.host_id(site, origin).await.unwrap();
        for page in 0..5_u8 {
            let byte = page * 10 + nth;
            let hashes = if page % 2 == 0 { v1(byte) } else { v2(byte) };
            let series = if page % 2 == 0 { "/b?{page}" } else { "/a?{page}" };
            visits.push(Visit {
                listing: Some(listing(series, page.into(), &[1])),
                ..bring(host, &format!("/{page}"), 1, hashes)
            });
        }
    }
    db.record_visits(visits.into()).await.unwrap();
    let mut rows = Vec::new();
    loop {
        let after = rows.last().map(|row: &ListingRow| (row.host, row.listing.series.clone(), row.listing.page));
        let page = db.listings("s", after, 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        rows.extend(page);
    }
    let keys: Vec<_> = rows.iter().map(|row| (row.host, row.listing.series.clone(), row.listing.page)).collect();
    assert!(keys.is_sorted() && keys.len() == 10, "{keys:?}");
    let mut torrents: Vec<TorrentRow> = Vec::new();
    loop {
        let after = torrents.last().map(|row| row.facts.infohashes.key().to_vec());
        let page = db.torrents(after, 4).await.unwrap();
        if page.is_empty() {
            break;
        }
        torrents.extend(page);
    }
    assert_eq!(torrents.len(), 15);
    assert!(torrents.is_sorted_by_key(|row| row.facts.infohashes.key().to_vec()));
}

async fn the_first_url_with_a_body_owns_it(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("s", "http://b").await.unwrap();
    let page = |host, path: &str, ms| Visit {
        body_hash: Some(42),
        outlinks: vec![found(host, &format!("/of{path}"), 0)],
        ..visit(key(host, path), ms, Outcome::Page)
    };
    let batch = vec![page(host, "/2", 1), page(host, "/1", 1), page(host, "/1", 1), page(other, "/1", 1)];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    let (first, copy) = (Outcome::Page, Outcome::PageDuplicate);
    assert_eq!(receipts.iter().map(|receipt| receipt.outcome).collect::<Vec<_>>(), [first, copy, copy, first]);
    assert_eq!(receipts.iter().map(|receipt| receipt.urls_added).collect::<Vec<_>>(), [1, 1, 0, 1]);

    let claimed = Visit { outcome: copy, ..page(host, "/2", 2) };
    let receipts = db.record_visits(vec![claimed, page(host, "/1", 1), page(host, "/3", 2)].into()).await.unwrap();
    assert_eq!(receipts.iter().map(|receipt| receipt.outcome).collect::<Vec<_>>(), [first, copy, copy]);
    assert_eq!(db.site_counts("s").await.unwrap().outcomes, [(first, 3), (copy, 2)]);
    assert_eq!(db.url_record(&key(host, "/1")).await.unwrap().unwrap().outcome, Some(copy));
}

async fn blocks_and_crawl_time_are_kept(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.block_host_until(host, at(9), "429", 2).await.unwrap();
    let row = db.hosts().await.unwrap().remove(0);
    assert_eq!((row.blocked_until, &*row.blocked_reason, &*row.origin), (at(9), "429", "http://a"));
    assert_eq!(row.complaints, 2);
    db.add_crawl_time("s", 5).await.unwrap();
    db.add_crawl_time("s", 6).await.unwrap();
    db.add_crawl_time("unknown", 1).await.unwrap();
    assert_eq!(db.site_counts("s").await.unwrap().crawl_ms, 11);
    assert_eq!(db.site_counts("none").await.unwrap(), SiteCounts::default());
}

async fn an_unknown_host_refuses_the_batch(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let stray = HostId(9);
    let refused = |error: CrawlDbError| matches!(error, CrawlDbError::UnknownHost { host } if host == stray);
    let batch = vec![found(host, "/1", 0), found(stray, "/1", 0)];
    assert!(refused(db.add_discovered(batch.clone(), at(1)).await.unwrap_err()));
    assert!(refused(db.make_due(batch.clone(), at(1)).await.unwrap_err()));
    let linking = Visit { outlinks: batch, ..visit(key(host, "/2"), 1, Outcome::Page) };
    assert!(refused(db.record_visits(vec![linking].into()).await.unwrap_err()));
    assert!(refused(db.lease_due(lease(stray, 1, 1)).await.unwrap_err()));
    assert!(refused(db.unpark(stray, 1, at(1)).await.unwrap_err()));
    assert!(refused(db.bring_forward(stray).await.unwrap_err()));
    assert!(refused(db.host_due(stray, at(1)).await.unwrap_err()));
    assert!(refused(db.block_host_until(stray, at(1), "", 0).await.unwrap_err()));
    assert!(refused(db.forgive_host(stray).await.unwrap_err()));
    assert_eq!(db.site_counts("s").await.unwrap(), SiteCounts::default());
}

async fn what_is_too_long_or_nameless_is_passed_over(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let long = "/".repeat(gleaner_base::limits::URL_BYTES_MAX + 1);
    assert_eq!(db.add_discovered(vec![found(host, &long, 0)], at(1)).await.unwrap(), 0);
    db.make_due(vec![found(host, &long, 0)], at(1)).await.unwrap();
    let nameless = Infohashes { v1: None, v2: None };
    let odd = Visit {
        torrent: Some(facts(nameless)),
        magnets: vec![magnet(nameless), MagnetFacts { link: long.clone().into(), ..magnet(v1(1)) }],
        listing: Some(listing(&long, 1, &[1])),
        ..visit(key(host, "/1"), 1, Outcome::Page)
    };
    let receipts = db.record_visits(vec![odd, visit(key(host, &long), 1, Outcome::Page)].into()).await.unwrap();
    assert_eq!(receipts, [Receipt::empty(Outcome::Page); 2]);
    assert_eq!(db.known_torrents(vec![nameless]).await.unwrap(), [None]);
    db.adopt_torrent(facts(nameless), at(1)).await.unwrap();
    assert!(db.torrents(None, 9).await.unwrap().is_empty() && db.magnets(None, 9).await.unwrap().is_empty());
    assert!(db.listings("s", None, 9).await.unwrap().is_empty());
    let full = "/".repeat(gleaner_base::limits::URL_BYTES_MAX);
    db.add_discovered(vec![found(host, &full, 0)], at(1)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 1, 9)).await.unwrap()), [&full]);
}

async fn a_url_visited_in_a_batch_is_not_queued_by_its_outlinks(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let linking = Visit {
        outlinks: vec![found(host, "/2", 0), found(host, "/3", 0), found(host, "/3", 0)],
        ..visit(key(host, "/1"), 1, Outcome::Page)
    };
    let receipts = db.record_visits(vec![linking, visit(key(host, "/2"), 2, Outcome::Page)].into()).await.unwrap();
    assert_eq!((receipts[0].urls_added, receipts[1].urls_added), (1, 0));
    assert_eq!(paths(&db.lease_due(lease(host, 3, 9)).await.unwrap()), ["/3"]);
}
