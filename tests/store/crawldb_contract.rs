//! The contract of the crawl database, checked for every implementation; `crawldb_histories` checks it with random
//! histories.

mod crawldb_batches;
mod crawldb_histories;
mod crawldb_labels;
mod crawldb_not_whole;
mod crawldb_notes;
mod crawldb_urls;

use std::path::Path;

use crawldb_batches::*;
use crawldb_labels::*;
use crawldb_not_whole::*;
use crawldb_notes::*;
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

async fn leases_go_by_rank_then_discovery(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("s", "http://b").await.unwrap();
    let batch = vec![found(host, "/z", 2), found(host, "/y", 1), found(other, "/o", 0), found(host, "/x", 2)];
    db.add_discovered(batch, at(1)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 1, 2)).await.unwrap()), ["/y", "/z"]);
    db.add_discovered(vec![found(host, "/w", 0)], at(2)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 2, 9)).await.unwrap()), ["/w", "/x"]);
    assert!(db.lease_due(lease(host, 3, 9)).await.unwrap().is_empty());
    let queued = db.queued(host, 3).await.unwrap();
    assert_eq!(queued.iter().map(|url| &*url.key.path).collect::<Vec<_>>(), ["/w", "/y", "/z"]);
}

async fn leases_go_by_an_order_that_the_caller_gives(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let batch = ["/3", "/1", "/2", "/200", "/3b", "/1b"].map(|path| {
        let rank = path[1..].trim_end_matches('b').parse().unwrap();
        found(host, path, rank)
    });
    db.add_discovered(batch.into(), at(1)).await.unwrap();
    let ranks = RankOrder::of(&[200, 3, 1]);
    let ranked = |now, urls_max| LeaseRequest { order: LeaseOrder::Ranked(ranks), ..lease(host, now, urls_max) };
    let oldest = |now, urls_max| LeaseRequest { order: LeaseOrder::Oldest(ranks), ..lease(host, now, urls_max) };
    assert_eq!(paths(&db.lease_due(ranked(1, 2)).await.unwrap()), ["/200", "/3"]);
    assert_eq!(paths(&db.lease_due(oldest(2, 1)).await.unwrap()), ["/1"], "the first of those that are left");
    assert_eq!(paths(&db.lease_due(ranked(3, 9)).await.unwrap()), ["/3b", "/1b"], "2 is not in the order");
    assert_eq!(db.host_due(host, at(4)).await.unwrap(), HostDue::Now);
    assert_eq!(paths(&db.lease_due(lease(host, 4, 9)).await.unwrap()), ["/2"]);
    db.release(OWNER, vec![key(host, "/3"), key(host, "/1"), key(host, "/200")]).await.unwrap();
    let below = LeaseRequest { rank_max: 2, ..ranked(5, 9) };
    assert_eq!(paths(&db.lease_due(below).await.unwrap()), ["/1"]);
    assert_eq!(paths(&db.lease_due(oldest(6, 9)).await.unwrap()), ["/3", "/200"]);
}

async fn a_lease_ends_at_its_deadline_its_visit_or_its_release(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/1", 0), found(host, "/2", 0), found(host, "/3", 0)], at(1)).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 0, 9)).await.unwrap().len(), 3);
    db.release(OWNER, vec![key(host, "/2")]).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 50, 9)).await.unwrap()), ["/2"]);
    db.record_visits(vec![visit(key(host, "/1"), 60, Outcome::Gone)].into()).await.unwrap();
    assert!(db.lease_due(lease(host, 99, 9)).await.unwrap().is_empty());
    assert_eq!(paths(&db.lease_due(lease(host, 100, 9)).await.unwrap()), ["/3"]);
    assert_eq!(paths(&db.lease_due(lease(host, 150, 9)).await.unwrap()), ["/2"]);
}

async fn only_the_owner_releases_a_lease(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/1", 0)], at(1)).await.unwrap();
    db.lease_due(lease(host, 1, 9)).await.unwrap();
    db.release(Owner(8), vec![key(host, "/1"), key(host, "/none")]).await.unwrap();
    assert!(db.lease_due(lease(host, 2, 9)).await.unwrap().is_empty());
}

async fn a_url_due_later_is_not_leased_before(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let due = |path, ms| Discovered { due: at(ms), ..found(host, path, 0) };
    db.add_discovered(vec![due("/b", 20), due("/a", 10), found(host, "/0", 3)], at(1)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 9, 9)).await.unwrap()), ["/0"]);
    assert_eq!(paths(&db.lease_due(lease(host, 10, 9)).await.unwrap()), ["/a"]);
    assert_eq!(db.host_due(host, at(11)).await.unwrap(), HostDue::At(at(20)));
    assert_eq!(paths(&db.lease_due(lease(host, 20, 9)).await.unwrap()), ["/b"]);
}

async fn a_retry_keeps_its_attempts_and_a_revisit_starts_anew(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/1", 5)], at(1)).await.unwrap();
    let leased = db.lease_due(lease(host, 1, 1)).await.unwrap().remove(0);
    let retry = Visit {
        rank: leased.rank,
        attempts: leased.attempts,
        next: Next::RetryAt(at(30)),
        ..visit(leased.key.clone(), 2, Outcome::TimedOut)
    };
    db.record_visits(vec![retry.clone()].into()).await.unwrap();
    assert!(db.lease_due(lease(host, 29, 1)).await.unwrap().is_empty());
    let again = db.lease_due(lease(host, 30, 1)).await.unwrap().remove(0);
    assert_eq!((again.attempts, again.rank), (1, 5));
    let revisit = Visit { at: at(31), attempts: 1, next: Next::RevisitAt(at(90)), outcome: Outcome::Page, ..retry };
    db.record_visits(vec![revisit].into()).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 90, 1)).await.unwrap()[0].attempts, 0);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 1);
}

async fn a_wait_keeps_its_attempts(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let wait = Visit { attempts: 2, next: Next::WaitUntil(at(30)), ..visit(key(host, "/1"), 2, Outcome::Throttled) };
    db.record_visits(vec![wait].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(3)).await.unwrap(), HostDue::At(at(30)));
    assert_eq!(db.lease_due(lease(host, 30, 1)).await.unwrap()[0].attempts, 2);
}

async fn faults_and_refusals_are_counted_apart(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let mut attempts = 0;
    for ms in 1..40 {
        let next = if ms % 2 == 0 { Next::RetryAt(at(ms)) } else { Next::RefusedUntil(at(ms)) };
        let visit = Visit { attempts, next, ..visit(key(host, "/1"), ms, Outcome::Throttled) };
        db.record_visits(vec![visit].into()).await.unwrap();
        attempts = db.lease_due(lease(host, ms, 1)).await.unwrap()[0].attempts;
        let (faults, refusals) = (ms / 2, ms.div_ceil(2));
        let told = (
            u64::from(gleaner_store::crawldb::faults(attempts)),
            u64::from(gleaner_store::crawldb::refusals(attempts)),
        );
        assert_eq!(told, (faults.min(15), refusals.min(15)), "after {ms} visits");
    }
}

/// A visit that was refused under the rules of `token`.
fn park(host: HostId, path: &str, ms: u64, token: u64) -> Visit {
    let via = Some("http://a/list".into());
    Visit { attempts: 1, rank: 3, via, next: Next::Park(token), ..visit(key(host, path), ms, Outcome::RulesRefused) }
}

async fn a_parked_url_waits_for_another_token(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("s", "http://b").await.unwrap();
    db.add_discovered(vec![found(host, "/2", 3), found(host, "/1", 3)], at(1)).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 1, 9)).await.unwrap().len(), 2);
    let parked =
        [park(host, "/2", 2, 7), park(host, "/1", 2, 7), park(host, "/3", 2, WALL_TOKENS - 1), park(other, "/4", 2, 7)];
    db.record_visits(parked.to_vec().into()).await.unwrap();
    assert_eq!(db.add_discovered(vec![found(host, "/1", 0)], at(3)).await.unwrap(), 0);
    assert_eq!(db.unpark(other, 7, at(3)).await.unwrap(), 0);
    assert!(db.queued(host, 9).await.unwrap().is_empty());
    assert_eq!(db.host_due(host, at(900)).await.unwrap(), HostDue::Exhausted);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 0);

    assert_eq!(db.unpark(host, WALL_TOKENS - 1, at(900)).await.unwrap(), 2);
    assert_eq!(db.unpark(host, WALL_TOKENS - 1, at(900)).await.unwrap(), 0);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 2);
    let leased = db.lease_due(lease(host, 900, 9)).await.unwrap();
    assert_eq!(paths(&leased), ["/1", "/2"]);
    assert_eq!((leased[0].attempts, leased[0].rank, leased[0].via.as_deref()), (0, 3, Some("http://a/list")));
    assert_eq!(db.unpark(host, 8, at(901)).await.unwrap(), 1);
    assert_eq!(paths(&db.lease_due(lease(host, 901, 9)).await.unwrap()), ["/3"]);
    assert_eq!(db.host_due(other, at(902)).await.unwrap(), HostDue::Exhausted);
}

async fn what_waits_for_a_time_is_brought_forward_for_one_host(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("s", "http://b").await.unwrap();
    let planned = |host, path: &str, due| Discovered { due: at(due), ..found(host, path, 3) };
    let batch = vec![planned(host, "/later", 900), planned(host, "/sooner", 500), found(host, "/now", 3)];
    db.add_discovered(batch, at(1)).await.unwrap();
    db.add_discovered(vec![planned(other, "/elsewhere", 900)], at(1)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 1, 9)).await.unwrap()), ["/now"]);
    db.bring_forward(host).await.unwrap();
    let mut leased = db.lease_due(lease(host, 2, 9)).await.unwrap();
    leased.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(paths(&leased), ["/later", "/sooner"], "a lease stays one");
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 4);
    assert_eq!(db.host_due(other, at(2)).await.unwrap(), HostDue::At(at(900)));
}

async fn tokens_of_rules_of_traps_and_of_robots_txt_do_not_touch_each_other(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let parked = [
        park(host, "/1", 2, 7),
        park(host, "/2", 2, ROBOTS_TOKENS | 7),
        park(host, "/3", 2, u64::MAX),
        park(host, "/4", 2, TRAP_TOKENS | 7),
        park(host, "/5", 2, ROBOTS_TOKENS - 1),
    ];
    db.record_visits(parked.to_vec().into()).await.unwrap();
    assert_eq!(db.unpark(host, 7, at(3)).await.unwrap(), 0);
    assert_eq!(db.unpark(host, u64::MAX, at(3)).await.unwrap(), 1);
    assert_eq!(db.unpark(host, ROBOTS_TOKENS, at(3)).await.unwrap(), 1);
    assert_eq!(paths(&db.lease_due(lease(host, 4, 9)).await.unwrap()), ["/2", "/3"]);
    assert_eq!(db.unpark(host, ROBOTS_TOKENS - 1, at(5)).await.unwrap(), 1);
    assert_eq!(db.unpark(host, TRAP_TOKENS, at(5)).await.unwrap(), 1);
    assert_eq!(paths(&db.lease_due(lease(host, 6, 9)).await.unwrap()), ["/4", "/5"]);
    assert_eq!(db.unpark(host, 8, at(7)).await.unwrap(), 1);
}

async fn a_parked_url_made_due_is_no_longer_parked(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![park(host, "/1", 2, 7), park(host, "/2", 2, 7)].into()).await.unwrap();
    db.make_due(vec![found(host, "/1", 0)], at(3)).await.unwrap();
    db.record_visits(vec![visit(key(host, "/2"), 4, Outcome::Page)].into()).await.unwrap();
    assert_eq!(db.unpark(host, 8, at(5)).await.unwrap(), 0);
    assert_eq!(paths(&db.lease_due(lease(host, 5, 9)).await.unwrap()), ["/1"]);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 1);
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

async fn two_visits_with_one_torrent_store_it_once(db: &impl CrawlDb) {
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

async fn a_hybrid_known_by_either_hash_is_one_torrent(db: &impl CrawlDb) {
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

async fn sources_are_kept_up_to_their_cap(db: &impl CrawlDb) {
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

async fn a_magnet_of_a_stored_torrent_is_a_source(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://b").await.unwrap();
    let batch = vec![bring(host, "/t", 5, hybrid(1, 2)), name(other, "/page", 6, v2(2))];
    let receipts = db.record_visits(batch.into()).await.unwrap();
    assert_eq!(receipts[1].magnets_added, 0);
    assert!(db.magnets(None, 9).await.unwrap().is_empty());
    assert_eq!(db.torrents(None, 9).await.unwrap()[0].sources.len(), 2);
    assert_eq!(db.site_counts("t").await.unwrap().torrents_seen, 1);
}

async fn a_magnet_becomes_stored_with_its_page_as_source(db: &impl CrawlDb) {
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

async fn magnets_by_either_hash_join(db: &impl CrawlDb) {
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

async fn a_magnet_counts_while_its_torrent_is_not_stored(db: &impl CrawlDb) {
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

async fn torrents_are_told_from_the_newest_on_and_by_either_hash(db: &impl CrawlDb) {
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

async fn changes_are_told_in_their_order(db: &impl CrawlDb) {
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

async fn a_visit_recorded_again_ends_its_lease_and_stays_queued(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let retry = Visit { next: Next::RetryAt(at(30)), ..visit(key(host, "/1"), 2, Outcome::TimedOut) };
    db.record_visits(vec![retry.clone()].into()).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 30, 9)).await.unwrap().len(), 1);
    db.record_visits(vec![retry].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(31)).await.unwrap(), HostDue::Now);
    assert_eq!(paths(&db.lease_due(lease(host, 31, 9)).await.unwrap()), ["/1"]);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 1);
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

async fn make_due_queues_again_but_not_later(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![visit(key(host, "/1"), 1, Outcome::Page)].into()).await.unwrap();
    let due = |path, ms| Discovered { due: at(ms), ..found(host, path, 0) };
    db.make_due(vec![due("/1", 50), due("/new", 60)], at(2)).await.unwrap();
    db.make_due(vec![due("/1", 70)], at(2)).await.unwrap();
    assert_eq!(db.host_due(host, at(3)).await.unwrap(), HostDue::At(at(50)));
    db.make_due(vec![due("/1", 40), due("/1", 45)], at(2)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 40, 9)).await.unwrap()), ["/1"]);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 2);
    assert_eq!(db.queued(host, 9).await.unwrap().iter().map(|url| url.due).collect::<Vec<_>>(), [at(40), at(60)]);
    let planned = db.planned(host, 9).await.unwrap();
    assert_eq!(planned.iter().map(|url| (&*url.key.path, url.due)).collect::<Vec<_>>(), [("/new", at(60))]);
    assert!(db.planned(host, 0).await.unwrap().is_empty());
}

async fn a_leased_url_made_due_stays_leased(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let due = |ms| Discovered { due: at(ms), ..found(host, "/1", 0) };
    db.add_discovered(vec![due(50)], at(1)).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 50, 9)).await.unwrap().len(), 1);
    db.make_due(vec![due(0)], at(51)).await.unwrap();
    assert!(db.lease_due(lease(host, 60, 9)).await.unwrap().is_empty());
    db.record_visits(vec![visit(key(host, "/1"), 61, Outcome::Page)].into()).await.unwrap();
    assert!(db.lease_due(lease(host, 900, 9)).await.unwrap().is_empty());
}

async fn a_forgotten_torrent_has_its_sources_due(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![bring(host, "/t", 5, hybrid(1, 2))].into()).await.unwrap();
    db.forget_torrent(v2(2), at(9)).await.unwrap();
    db.forget_torrent(v2(2), at(9)).await.unwrap();
    assert_eq!(db.known_torrents(vec![v1(1), v2(2)]).await.unwrap(), [None, None]);
    assert_eq!(paths(&db.lease_due(lease(host, 9, 9)).await.unwrap()), ["/t"]);
    let counts = db.site_counts("s").await.unwrap();
    assert_eq!((counts.torrents, counts.torrents_seen, counts.urls_queued), (0, 0, 1));
}

async fn an_adopted_torrent_is_known_without_sources(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.adopt_torrent(facts(hybrid(1, 2)), at(3)).await.unwrap();
    db.adopt_torrent(facts(v2(2)), at(4)).await.unwrap();
    let rows = db.torrents(None, 9).await.unwrap();
    assert_eq!((rows.len(), rows[0].stored, &*rows[0].site, rows[0].seen_count), (1, at(3), "", 0));
    assert!(!db.record_visits(vec![bring(host, "/t", 5, v1(1))].into()).await.unwrap()[0].torrent_stored);
    assert_eq!(db.torrents(None, 9).await.unwrap()[0].sources.len(), 1);
    assert_eq!(db.site_counts("s").await.unwrap().outcomes, [(Outcome::TorrentDuplicate, 1)]);
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
