//! Leases: their order, their end, and the URLs that wait for a time or a token.

use super::*;

pub async fn leases_go_by_rank_then_discovery(db: &impl CrawlDb) {
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

pub async fn leases_go_by_an_order_that_the_caller_gives(db: &impl CrawlDb) {
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

pub async fn a_lease_ends_at_its_deadline_its_visit_or_its_release(db: &impl CrawlDb) {
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

pub async fn only_the_owner_releases_a_lease(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/1", 0)], at(1)).await.unwrap();
    db.lease_due(lease(host, 1, 9)).await.unwrap();
    db.release(Owner(8), vec![key(host, "/1"), key(host, "/none")]).await.unwrap();
    assert!(db.lease_due(lease(host, 2, 9)).await.unwrap().is_empty());
}

pub async fn a_site_that_starts_again_gives_back_its_owners_leases_alone(db: &impl CrawlDb) {
    let (host, other) = (db.host_id("s", "http://a").await.unwrap(), db.host_id("t", "http://a").await.unwrap());
    db.add_discovered(vec![found(host, "/1", 0), found(host, "/2", 0), found(other, "/1", 0)], at(1)).await.unwrap();
    db.lease_due(LeaseRequest { owner: Owner(8), ..lease(host, 1, 1) }).await.unwrap();
    db.lease_due(lease(host, 1, 9)).await.unwrap();
    db.lease_due(lease(other, 1, 9)).await.unwrap();
    db.release_all(OWNER, &[host].into()).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 2, 9)).await.unwrap()), ["/2"]);
    assert!(db.lease_due(lease(other, 2, 9)).await.unwrap().is_empty());
}

pub async fn a_url_due_later_is_not_leased_before(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let due = |path, ms| Discovered { due: at(ms), ..found(host, path, 0) };
    db.add_discovered(vec![due("/b", 20), due("/a", 10), found(host, "/0", 3)], at(1)).await.unwrap();
    assert_eq!(paths(&db.lease_due(lease(host, 9, 9)).await.unwrap()), ["/0"]);
    assert_eq!(paths(&db.lease_due(lease(host, 10, 9)).await.unwrap()), ["/a"]);
    assert_eq!(db.host_due(host, at(11)).await.unwrap(), HostDue::At(at(20)));
    assert_eq!(paths(&db.lease_due(lease(host, 20, 9)).await.unwrap()), ["/b"]);
}

pub async fn a_retry_keeps_its_attempts_and_a_revisit_starts_anew(db: &impl CrawlDb) {
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

pub async fn a_wait_keeps_its_attempts(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let wait = Visit { attempts: 2, next: Next::WaitUntil(at(30)), ..visit(key(host, "/1"), 2, Outcome::Throttled) };
    db.record_visits(vec![wait].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(3)).await.unwrap(), HostDue::At(at(30)));
    assert_eq!(db.lease_due(lease(host, 30, 1)).await.unwrap()[0].attempts, 2);
}

pub async fn faults_and_refusals_are_counted_apart(db: &impl CrawlDb) {
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
pub fn park(host: HostId, path: &str, ms: u64, token: u64) -> Visit {
    let via = Some("http://a/list".into());
    Visit { attempts: 1, rank: 3, via, next: Next::Park(token), ..visit(key(host, path), ms, Outcome::RulesRefused) }
}

pub async fn a_parked_url_waits_for_another_token(db: &impl CrawlDb) {
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

pub async fn what_waits_for_a_time_is_brought_forward_for_one_host(db: &impl CrawlDb) {
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

pub async fn tokens_of_rules_of_traps_and_of_robots_txt_do_not_touch_each_other(db: &impl CrawlDb) {
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

pub async fn a_parked_url_made_due_is_no_longer_parked(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![park(host, "/1", 2, 7), park(host, "/2", 2, 7)].into()).await.unwrap();
    db.make_due(vec![found(host, "/1", 0)], at(3)).await.unwrap();
    db.record_visits(vec![visit(key(host, "/2"), 4, Outcome::Page)].into()).await.unwrap();
    assert_eq!(db.unpark(host, 8, at(5)).await.unwrap(), 0);
    assert_eq!(paths(&db.lease_due(lease(host, 5, 9)).await.unwrap()), ["/1"]);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 1);
}

pub async fn a_visit_recorded_again_ends_its_lease_and_stays_queued(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let retry = Visit { next: Next::RetryAt(at(30)), ..visit(key(host, "/1"), 2, Outcome::TimedOut) };
    db.record_visits(vec![retry.clone()].into()).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 30, 9)).await.unwrap().len(), 1);
    db.record_visits(vec![retry].into()).await.unwrap();
    assert_eq!(db.host_due(host, at(31)).await.unwrap(), HostDue::Now);
    assert_eq!(paths(&db.lease_due(lease(host, 31, 9)).await.unwrap()), ["/1"]);
    assert_eq!(db.site_counts("s").await.unwrap().urls_queued, 1);
}

pub async fn make_due_queues_again_but_not_later(db: &impl CrawlDb) {
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

pub async fn a_leased_url_made_due_stays_leased(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let due = |ms| Discovered { due: at(ms), ..found(host, "/1", 0) };
    db.add_discovered(vec![due(50)], at(1)).await.unwrap();
    assert_eq!(db.lease_due(lease(host, 50, 9)).await.unwrap().len(), 1);
    db.make_due(vec![due(0)], at(51)).await.unwrap();
    assert!(db.lease_due(lease(host, 60, 9)).await.unwrap().is_empty());
    db.record_visits(vec![visit(key(host, "/1"), 61, Outcome::Page)].into()).await.unwrap();
    assert!(db.lease_due(lease(host, 900, 9)).await.unwrap().is_empty());
}
