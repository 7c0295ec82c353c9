//! The contract for labels: what sites say of their URLs, and which torrents it reaches.

use gleaner_store::crawldb::*;

use super::{at, bring, found, key, v1, visit};

fn label(host: HostId, path: &str, text: &str) -> UrlLabel {
    UrlLabel { key: key(host, path), text: text.into(), is_own: false }
}

fn saying(host: HostId, path: &str, ms: u64, labels: Vec<UrlLabel>) -> Visit {
    Visit { labels, ..visit(key(host, path), ms, Outcome::Page) }
}

/// The labels of the sources of the torrent with this byte.
async fn told(db: &impl CrawlDb, byte: u8) -> Vec<Option<String>> {
    let row = db.torrents_at(vec![vec![byte; 20]]).await.unwrap().remove(0).unwrap();
    row.sources.into_iter().map(|source| source.label.map(|label| label.text.into())).collect()
}

pub async fn a_source_has_the_label_of_its_url_or_of_the_page_with_its_link(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let other = db.host_id("t", "http://a").await.unwrap();
    let list = saying(host, "/list", 1, vec![label(host, "/t/1", "401"), label(host, "/d/2", "402")]);
    let behind = Visit { via: Some("http://a/d/2".into()), ..bring(host, "/dl/2", 3, v1(2)) };
    let foreign = bring(other, "/t/1", 4, v1(4));
    db.record_visits(vec![list, bring(host, "/t/1", 2, v1(1)), behind, foreign].into()).await.unwrap();
    assert_eq!(told(db, 1).await, [Some("401".to_owned())]);
    assert_eq!(told(db, 2).await, [Some("402".to_owned())]);
    assert_eq!(told(db, 4).await, [None], "another site's words");
    let labels = db.labels().await.unwrap();
    let mut texts: Vec<_> = labels.rows.iter().map(|row| (&*row.site, &*row.text)).collect();
    texts.sort_unstable();
    assert_eq!((texts, labels.relabelled), (vec![("s", "401"), ("s", "402")], 0));
    assert!(labels.rows.iter().all(|row| row.number >= 100_000));
}

pub async fn a_list_says_more_than_a_page_of_itself_and_the_last_list_most(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let own = |text: &str| vec![UrlLabel { is_own: true, ..label(host, "/d/1", text) }];
    let detail = |ms, text| saying(host, "/d/1", ms, own(text));
    let file = Visit { via: Some("http://a/d/1".into()), ..bring(host, "/dl/1", 2, v1(1)) };
    db.record_visits(vec![detail(1, "own"), file].into()).await.unwrap();
    assert_eq!(told(db, 1).await, [Some("own".to_owned())]);
    db.record_visits(vec![saying(host, "/list", 3, vec![label(host, "/d/1", "listed")])].into()).await.unwrap();
    db.record_visits(vec![detail(4, "own")].into()).await.unwrap();
    assert_eq!(told(db, 1).await, [Some("listed".to_owned())]);
    assert_eq!(db.labels().await.unwrap().relabelled, 1);
    db.record_visits(vec![saying(host, "/list", 5, vec![label(host, "/d/1", "moved")])].into()).await.unwrap();
    assert_eq!((told(db, 1).await, db.labels().await.unwrap().relabelled), (vec![Some("moved".to_owned())], 2));
}

pub async fn a_redirect_hands_its_label_on(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let list = saying(host, "/list", 1, vec![label(host, "/t/1", "401")]);
    let moved =
        Visit { outlinks: vec![found(host, "/t/1/name", 0)], ..visit(key(host, "/t/1"), 2, Outcome::Redirected) };
    db.record_visits(vec![list, moved].into()).await.unwrap();
    db.record_visits(vec![bring(host, "/t/1/name", 3, v1(1))].into()).await.unwrap();
    assert_eq!(told(db, 1).await, [Some("401".to_owned())]);
}

pub async fn a_text_that_is_no_label_is_passed_over(db: &impl CrawlDb) {
    let host = db.host_id("s", "http://a").await.unwrap();
    let texts = ["", "a\nb", &"x".repeat(65)].map(|text| label(host, "/t/1", text));
    let visits = vec![saying(host, "/list", 1, texts.to_vec()), bring(host, "/t/1", 2, v1(1))];
    db.record_visits(visits.into()).await.unwrap();
    assert_eq!((told(db, 1).await, db.labels().await.unwrap()), (vec![None], SiteLabels::default()));
    let stray = saying(host, "/list", 3, vec![label(HostId(99), "/t/1", "401")]);
    assert!(db.record_visits(vec![stray].into()).await.is_err());
    assert_eq!(db.url_record(&key(host, "/list")).await.unwrap().unwrap().visited, at(1), "all or nothing");
}
