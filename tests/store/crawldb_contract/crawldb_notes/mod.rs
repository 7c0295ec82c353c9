//! The contract for data that the crawl stores for itself: memos of URLs, notes of sites, complaints about hosts.

use gleaner_store::crawldb::*;

use super::{at, bring, found, hybrid, key, lease, park, paths, v2, visit};

/// A visit that leaves a memo and requests a revisit at once.
fn leaving(host: HostId, path: &str, ms: u64, memo: Option<&str>) -> Visit {
    Visit { memo: memo.map(Into::into), next: Next::RevisitAt(at(0)), ..visit(key(host, path), ms, Outcome::Page) }
}

/// The memo that comes with the lease of the host's only URL.
async fn memo_of(db: &impl CrawlDb, host: HostId, now: u64) -> Option<Box<str>> {
    let mut leases = db.lease_due(lease(host, now, 9)).await.unwrap();
    assert_eq!(leases.len(), 1, "{leases:?}");
    leases.remove(0).memo
}

pub async fn a_memo_comes_with_the_next_lease_whatever_queued_it(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.add_discovered(vec![found(host, "/1", 0)], at(1)).await.unwrap();
    assert_eq!(memo_of(db, host, 1).await, None);
    db.record_visits(vec![leaving(host, "/1", 2, Some("etag é"))].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 3).await.as_deref(), Some("etag é"));

    let wait = |ms, next| Visit { next, ..leaving(host, "/1", ms, Some("etag")) };
    for (ms, next) in [(10, Next::RetryAt(at(20))), (30, Next::WaitUntil(at(40))), (50, Next::RevisitAt(at(60)))] {
        db.record_visits(vec![wait(ms, next)].into()).await.unwrap();
        assert_eq!(memo_of(db, host, ms + 10).await.as_deref(), Some("etag"), "{next:?}");
    }
    db.record_visits(vec![wait(70, Next::Done)].into()).await.unwrap();
    db.add_discovered(vec![found(host, "/1", 0)], at(71)).await.unwrap();
    assert!(db.lease_due(lease(host, 71, 9)).await.unwrap().is_empty());
    db.make_due(vec![Discovered { due: at(80), ..found(host, "/1", 2) }], at(71)).await.unwrap();
    db.make_due(vec![found(host, "/1", 1)], at(71)).await.unwrap();
    assert_eq!(memo_of(db, host, 72).await.as_deref(), Some("etag"));

    let parked = Visit { memo: Some("etag".into()), ..park(host, "/1", 90, 7) };
    db.record_visits(vec![parked].into()).await.unwrap();
    assert_eq!(db.unpark(host, 8, at(91)).await.unwrap(), 1);
    assert_eq!(memo_of(db, host, 91).await.as_deref(), Some("etag"));
}

pub async fn a_visit_without_a_memo_clears_it_unless_nothing_changed(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let unchanged = |ms| Visit { outcome: Outcome::NotModified, ..leaving(host, "/1", ms, None) };
    db.record_visits(vec![unchanged(1)].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 1).await, None);
    db.record_visits(vec![leaving(host, "/1", 2, Some("one"))].into()).await.unwrap();
    db.record_visits(vec![unchanged(3)].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 3).await.as_deref(), Some("one"));
    let renewed = Visit { memo: Some("two".into()), ..unchanged(4) };
    db.record_visits(vec![renewed].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 4).await.as_deref(), Some("two"));
    db.record_visits(vec![leaving(host, "/1", 5, None)].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 5).await, None);

    // Several changes of one URL in a batch are applied in order.
    let batch = vec![leaving(host, "/1", 6, Some("three")), unchanged(7)];
    db.record_visits(batch.into()).await.unwrap();
    assert_eq!(memo_of(db, host, 7).await.as_deref(), Some("three"));
    let batch = vec![leaving(host, "/1", 8, Some("four")), leaving(host, "/1", 9, None), unchanged(10)];
    db.record_visits(batch.into()).await.unwrap();
    assert_eq!(memo_of(db, host, 10).await, None);
}

pub async fn a_memo_that_is_too_long_counts_as_none(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let full = "m".repeat(gleaner_store::limits::MEMO_BYTES_MAX);
    db.record_visits(vec![leaving(host, "/1", 1, Some(&full))].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 1).await.as_deref(), Some(&*full));
    db.record_visits(vec![leaving(host, "/1", 2, Some(&(full + "m")))].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 2).await, None);
}

pub async fn a_visit_recorded_again_leaves_the_memo_alone(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![leaving(host, "/1", 1, Some("one"))].into()).await.unwrap();
    db.record_visits(vec![leaving(host, "/1", 1, None)].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 1).await.as_deref(), Some("one"));
}

pub async fn a_forgotten_torrent_takes_the_memos_of_its_sources_with_it(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let memo = Some("etag".into());
    let done = Visit { memo: memo.clone(), ..bring(host, "/t", 5, hybrid(1, 2)) };
    let queued = Visit { memo: memo.clone(), next: Next::RevisitAt(at(9)), ..bring(host, "/u", 5, hybrid(1, 2)) };
    let other = Visit { memo, next: Next::RevisitAt(at(9)), ..visit(key(host, "/v"), 5, Outcome::Page) };
    db.record_visits(vec![done, queued, other].into()).await.unwrap();
    db.forget_torrent(v2(2), at(9)).await.unwrap();
    let mut leases = db.lease_due(lease(host, 9, 9)).await.unwrap();
    leases.sort_by(|a, b| a.key.cmp(&b.key));
    assert_eq!(paths(&leases), ["/t", "/u", "/v"]);
    let memos: Vec<_> = leases.iter().map(|lease| lease.memo.as_deref()).collect();
    assert_eq!(memos, [None, None, Some("etag")]);
    // A memo left after that counts again.
    db.record_visits(vec![leaving(host, "/t", 10, Some("new"))].into()).await.unwrap();
    assert_eq!(memo_of(db, host, 10).await.as_deref(), Some("new"));
}

pub async fn a_note_is_kept_overwritten_and_taken_away(db: &impl CrawlDb) {
    assert_eq!(db.note("s", "shapes").await.unwrap(), None);
    db.put_note("s", "shapes", b"\0one\xFF".to_vec()).await.unwrap();
    db.put_note("s", "budget", b"two".to_vec()).await.unwrap();
    db.put_note("ss", "hapes", b"three".to_vec()).await.unwrap();
    assert_eq!(db.note("s", "shapes").await.unwrap().as_deref(), Some(&b"\0one\xFF"[..]));
    db.put_note("s", "shapes", b"four".to_vec()).await.unwrap();
    assert_eq!(db.note("s", "shapes").await.unwrap().as_deref(), Some(&b"four"[..]));
    db.put_note("s", "shapes", Vec::new()).await.unwrap();
    db.put_note("s", "none", Vec::new()).await.unwrap();
    assert_eq!(db.note("s", "shapes").await.unwrap(), None);
    assert_eq!(db.note("s", "none").await.unwrap(), None);
    assert_eq!(db.note("s", "budget").await.unwrap().as_deref(), Some(&b"two"[..]));
    assert_eq!(db.note("ss", "hapes").await.unwrap().as_deref(), Some(&b"three"[..]));
    assert_eq!(db.site_counts("s").await.unwrap(), SiteCounts::default());
}

pub async fn a_note_that_is_too_long_is_refused(db: &impl CrawlDb) {
    let full = vec![7; gleaner_store::limits::NOTE_BYTES_MAX];
    db.put_note("s", "n", full.clone()).await.unwrap();
    let longer = vec![8; gleaner_store::limits::NOTE_BYTES_MAX + 1];
    let error = db.put_note("s", "n", longer).await.unwrap_err();
    assert!(
        matches!(&error, CrawlDbError::NoteTooLong { bytes, .. } if *bytes == gleaner_store::limits::NOTE_BYTES_MAX + 1)
    );
    assert_eq!(error.to_string(), "the note `n` of s has 4194305 bytes, more than the limit of 4194304");
    assert!(db.note("s", "n").await.unwrap() == Some(full));
}

pub async fn notes_are_kept_together_or_not_at_all(db: &impl CrawlDb) {
    let notes =
        |changes: &[(&str, Vec<u8>)]| changes.iter().map(|(name, note)| ((*name).to_owned(), note.clone())).collect();
    let kept = async || (db.note("s", "a").await.unwrap(), db.note("s", "b").await.unwrap());
    db.put_notes("s", Vec::new()).await.unwrap();
    db.put_notes("s", notes(&[("a", vec![1]), ("b", vec![2])])).await.unwrap();
    assert_eq!(kept().await, (Some(vec![1]), Some(vec![2])));
    let longer = vec![8; gleaner_store::limits::NOTE_BYTES_MAX + 1];
    let error = db.put_notes("s", notes(&[("a", vec![3]), ("b", longer)])).await.unwrap_err();
    assert!(matches!(&error, CrawlDbError::NoteTooLong { name, .. } if &**name == "b"));
    assert_eq!(kept().await, (Some(vec![1]), Some(vec![2])), "nothing of a batch with a bad one is kept");
    // Of two under one name the later wins.
    db.put_notes("s", notes(&[("a", Vec::new()), ("b", vec![4]), ("b", vec![5])])).await.unwrap();
    assert_eq!(kept().await, (None, Some(vec![5])));
}

pub async fn complaints_are_kept_until_the_host_is_forgiven(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("s", "http://b").await.unwrap();
    db.block_host_until(host, at(9), "429", 3).await.unwrap();
    db.block_host_until(other, at(9), "503", u32::MAX).await.unwrap();
    db.forgive_host(host).await.unwrap();
    db.forgive_host(host).await.unwrap();
    let rows = db.hosts().await.unwrap();
    assert_eq!((rows[0].complaints, rows[0].blocked_until, &*rows[0].blocked_reason), (0, at(0), "429"));
    assert_eq!((rows[1].complaints, rows[1].blocked_until, &*rows[1].blocked_reason), (u32::MAX, at(9), "503"));
}

#[test]
fn every_outcome_has_a_code_and_a_name_of_its_own() {
    let codes: Vec<u8> = Outcome::ALL.iter().map(|outcome| outcome.code()).collect();
    assert!(codes.is_sorted_by(|a, b| a < b) && codes.iter().all(|&code| (1..64).contains(&code)), "{codes:?}");
    let names: std::collections::BTreeSet<_> = Outcome::ALL.iter().map(|outcome| outcome.name()).collect();
    assert_eq!(names.len(), Outcome::ALL.len());
    for outcome in Outcome::ALL {
        assert_eq!(Outcome::from_code(outcome.code()), Some(outcome));
        assert_eq!(serde_json::to_string(&outcome).unwrap(), format!("\"{}\"", outcome.name()));
    }
    let unfetched = Outcome::ALL.into_iter().filter(|outcome| !outcome.was_fetched());
    let names: Vec<_> = unfetched.map(Outcome::name).collect();
    assert_eq!(
        names,
        ["robots_denied", "rules_refused", "over_budget", "trapped", "address_refused", "walled", "left_out"]
    );
}
