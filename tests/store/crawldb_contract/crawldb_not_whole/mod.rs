//! The contract for pages that were not read whole: counted and listed with their reasons until a visit reads all of them.

use gleaner_store::crawldb::*;

use super::{at, found, key, lease, park, visit};

/// A visit that read a part of its page, for this reason, or all of it.
fn reading(host: HostId, path: &str, ms: u64, why: Option<&str>) -> Visit {
    Visit { not_whole: why.map(Into::into), ..visit(key(host, path), ms, Outcome::Page) }
}

/// The number of the site's pages that were not read whole, and the listed ones with reason and time.
async fn told(db: &impl CrawlDb, site: &str) -> (u64, Vec<(String, String, u64)>) {
    let rows = db.not_whole(site).await.unwrap().into_iter();
    let rows = rows.map(|row| (row.url.into(), row.reason.into(), row.at.0)).collect();
    (db.site_counts(site).await.unwrap().pages_not_whole, rows)
}

fn row(url: &str, reason: &str, at: u64) -> (String, String, u64) {
    (url.to_owned(), reason.to_owned(), at)
}

pub async fn a_page_that_was_not_read_whole_is_told_until_it_is_read_whole(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let second = db.host_id("s", "http://b").await.unwrap();
    let other = db.host_id("t", "http://a").await.unwrap();
    assert_eq!(told(db, "s").await, (0, Vec::new()));
    let batch = vec![
        reading(second, "/list", 1, Some("rows were not opened")),
        reading(host, "/list?page=2", 2, Some("its time was over")),
        reading(host, "/list", 3, None),
        reading(other, "/", 4, Some("its time was over")),
    ];
    db.record_visits(batch.into()).await.unwrap();
    let of_host = row("http://a/list?page=2", "its time was over", 2);
    assert_eq!(told(db, "s").await, (2, vec![of_host, row("http://b/list", "rows were not opened", 1)]));
    assert_eq!(told(db, "t").await.0, 1);

    // The same again, for another reason.
    db.record_visits(vec![reading(host, "/list?page=2", 5, Some("it broke down"))].into()).await.unwrap();
    assert_eq!(told(db, "s").await.1[0], row("http://a/list?page=2", "it broke down", 5));
    assert_eq!(told(db, "s").await.0, 2);
    db.record_visits(vec![reading(host, "/list?page=2", 6, None)].into()).await.unwrap();
    assert_eq!(told(db, "s").await, (1, vec![row("http://b/list", "rows were not opened", 1)]));
    db.record_visits(vec![visit(key(second, "/list"), 7, Outcome::Gone)].into()).await.unwrap();
    assert_eq!(told(db, "s").await, (0, Vec::new()));
    assert_eq!(told(db, "t").await.0, 1);
}

pub async fn a_visit_that_could_not_look_leaves_told_what_was_not_read_whole(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    db.record_visits(vec![reading(host, "/1", 1, Some("why"))].into()).await.unwrap();
    let is_told = (1, vec![row("http://a/1", "why", 1)]);
    let looks_in_vain = [
        Outcome::NotModified,
        Outcome::ServerError,
        Outcome::TimedOut,
        Outcome::Truncated,
        Outcome::ConnectFailed,
        Outcome::Throttled,
        Outcome::Denied,
    ];
    for (ms, outcome) in (2..).zip(looks_in_vain) {
        db.record_visits(vec![visit(key(host, "/1"), ms, outcome)].into()).await.unwrap();
        assert_eq!(told(db, "s").await, is_told, "{outcome:?}");
    }
    // A guest's page says nothing about the member's, and parked or queued pages stay as they were.
    let guest = Visit { outcome: Outcome::LoggedOut, ..reading(host, "/1", 20, Some("another")) };
    let parked = Visit { outcome: Outcome::RobotsDenied, ..park(host, "/1", 21, 7) };
    db.record_visits(vec![guest, parked].into()).await.unwrap();
    db.unpark(host, 8, at(22)).await.unwrap();
    db.make_due(vec![found(host, "/1", 0)], at(23)).await.unwrap();
    db.make_due(vec![Discovered { due: at(24), ..found(host, "/1", 0) }], at(23)).await.unwrap();
    db.lease_due(lease(host, 30, 9)).await.unwrap();
    db.bring_forward(host).await.unwrap();
    assert_eq!(told(db, "s").await, is_told);
    for (ms, outcome) in (40..).zip([Outcome::Redirected, Outcome::TorrentStored, Outcome::RulesRefused]) {
        let batch = vec![reading(host, "/1", ms * 2, Some("why")), visit(key(host, "/1"), ms * 2 + 1, outcome)];
        db.record_visits(batch.into()).await.unwrap();
        assert_eq!(told(db, "s").await, (0, Vec::new()), "{outcome:?}");
    }
}

pub async fn what_a_batch_says_of_one_page_counts_in_its_order(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let batch = vec![
        reading(host, "/1", 1, Some("first")),
        reading(host, "/1", 2, None),
        reading(host, "/1", 3, Some("last")),
        visit(key(host, "/1"), 4, Outcome::NotModified),
    ];
    db.record_visits(batch.into()).await.unwrap();
    assert_eq!(told(db, "s").await, (1, vec![row("http://a/1", "last", 3)]));
    // Recorded again it changes nothing.
    db.record_visits(vec![reading(host, "/2", 5, Some("once"))].into()).await.unwrap();
    db.record_visits(vec![reading(host, "/2", 5, None)].into()).await.unwrap();
    assert_eq!(told(db, "s").await.0, 2);
}

pub async fn pages_beyond_the_bound_are_counted_and_reasons_are_cut(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let most = gleaner_store::limits::NOT_WHOLE_PAGES_MAX;
    let pages = (0..most + 5).map(|page| reading(host, &format!("/{page:05}"), 1, Some("why")));
    db.record_visits(pages.collect::<Vec<_>>().into()).await.unwrap();
    let (count, rows) = told(db, "s").await;
    assert_eq!((count, rows.len()), (most as u64 + 5, most));
    // Those beyond it are counted down as well, and when one goes another has room.
    let is_listed = |path: &str| rows.iter().any(|(url, ..)| url.ends_with(path));
    let (listed, beyond) = ("/00000", format!("/{:05}", most + 4));
    assert!(is_listed(listed) && !is_listed(&beyond));
    db.record_visits(vec![reading(host, &beyond, 2, None), reading(host, listed, 2, None)].into()).await.unwrap();
    let (count, rows) = told(db, "s").await;
    assert_eq!((count, rows.len()), (most as u64 + 3, most - 1));
    let long = "é".repeat(gleaner_store::limits::NOT_WHOLE_REASON_BYTES_MAX);
    db.record_visits(vec![reading(host, "/long", 3, Some(&long))].into()).await.unwrap();
    let (count, rows) = told(db, "s").await;
    assert_eq!((count, rows.len()), (most as u64 + 4, most));
    let (_, reason, _) = rows.iter().find(|(url, ..)| url.ends_with("/long")).unwrap();
    assert!(long.starts_with(reason) && reason.len() == gleaner_store::limits::NOT_WHOLE_REASON_BYTES_MAX);
    // The same number of another site have their own room.
    let other = db.host_id("t", "http://a").await.unwrap();
    db.record_visits(vec![reading(other, "/", 4, Some("why"))].into()).await.unwrap();
    assert_eq!(told(db, "t").await.1.len(), 1);
}
