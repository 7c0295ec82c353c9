//! The contract for a site's URLs as the coverage reads them: page by page, each with what became of it.

use gleaner_store::crawldb::*;
use xxhash_rust::xxh3::xxh3_64;

use super::{at, found, key, visit};

/// All pages of a site's URLs, of `rows_max` each.
async fn looks(db: &impl CrawlDb, site: &str, rows_max: usize) -> Vec<UrlLook> {
    let (mut rows, mut after) = (Vec::new(), None);
    loop {
        let page = db.url_looks(site, after, rows_max).await.unwrap();
        assert!(page.rows.len() <= rows_max);
        assert!(page.after.is_none() || page.rows.len() == rows_max, "{page:?}");
        rows.extend(page.rows);
        after = page.after;
        if after.is_none() {
            return rows;
        }
    }
}

pub async fn urls_are_told_page_by_page_with_what_became_of_them(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://a").await.unwrap();
    let second = db.host_id("s", "http://b").await.unwrap();
    assert!(looks(db, "s", 3).await.is_empty() && looks(db, "nothing", 3).await.is_empty());
    let queued = vec![found(host, "/1", 17), found(host, "/2", 33), found(other, "/3", 1), found(second, "/4?a=1", 0)];
    db.add_discovered(queued, at(1)).await.unwrap();
    let read = Visit { rank: 17, ..visit(key(host, "/1"), 2, Outcome::Page) };
    let parked = Visit { rank: 33, next: Next::Park(7), ..visit(key(host, "/2"), 2, Outcome::RulesRefused) };
    let again = Visit { rank: 1, next: Next::RetryAt(at(9)), ..visit(key(host, "/5"), 2, Outcome::TimedOut) };
    db.record_visits(vec![read, parked, again].into()).await.unwrap();
    let look = |url: &str, rank, outcome, is_queued| UrlLook {
        hash: xxh3_64(url.as_bytes()),
        rank,
        depth: 1,
        outcome,
        is_queued,
        path: None,
        label: None,
    };
    let expected = [
        look("http://a/1", 17, Some(Outcome::Page), false),
        UrlLook { path: Some((host, "/2".into())), ..look("http://a/2", 33, Some(Outcome::RulesRefused), false) },
        UrlLook { path: Some((host, "/5".into())), ..look("http://a/5", 1, Some(Outcome::TimedOut), true) },
        UrlLook { path: Some((second, "/4?a=1".into())), ..look("http://b/4?a=1", 0, None, true) },
    ];
    for rows_max in 1..=5 {
        assert_eq!(looks(db, "s", rows_max).await, expected, "{rows_max} at a time");
    }
    let third = UrlLook { path: Some((other, "/3".into())), ..look("http://a/3", 1, None, true) };
    assert_eq!(looks(db, "t", 9).await, [third]);
}
