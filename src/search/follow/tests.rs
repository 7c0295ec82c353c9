//! An index beside a database in memory and an archive on disk: what it has after each kind of interruption.

use std::collections::BTreeSet;

use super::*;
use crate::find::Order;
use crate::query::Query;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CATEGORIES_NOTE, CrawlDb, Outcome, TorrentFacts, UrlKey, Visit};
use gleaner_torrent::{Infohashes, metainfo};

/// A data folder with its database.
struct Place {
    folder: tempfile::TempDir,
    db: MemoryStore,
    archive: Archive,
}

impl Place {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open(folder.path().join("torrents"), false).unwrap();
        Self { folder, db: MemoryStore::default(), archive }
    }

    /// Stores a torrent with one file, found on a site.
    async fn store(&self, site: &str, name: &str, file: &str, ms: u64) -> Infohashes {
        let bytes = torrent(name, file);
        let parsed = metainfo::parse(&bytes).unwrap();
        self.archive.store_batch(&[(parsed.infohashes, &bytes)]).unwrap();
        let facts = TorrentFacts {
            infohashes: parsed.infohashes,
            name: parsed.name.as_str().into(),
            payload_bytes: parsed.payload_bytes,
            file_count: parsed.file_count,
            metainfo_bytes: u32::try_from(bytes.len()).unwrap(),
            sha256: parsed.dict_sha256(&bytes),
            created_unix: None,
            private: parsed.private,
        };
        let host = self.db.host_id(site, "http://a").await.unwrap();
        let visit = Visit {
            torrent: Some(facts),
            ..Visit::new(UrlKey { host, path: format!("/{ms}").into() }, UnixMillis(ms), Outcome::TorrentStored)
        };
        self.db.record_visits(vec![visit].into()).await.unwrap();
        parsed.infohashes
    }

    fn follower(&self) -> Follower {
        Follower::open(self.folder.path()).unwrap()
    }

    async fn level(&self, follower: &mut Follower) {
        for _ in 0..50 {
            let step =
                follower.step(&self.db, &|row| contents_of(row, &self.archive), &Filing::default()).await.unwrap();
            if step.is_level && follower.is_whole() {
                return;
            }
        }
        panic!("never level");
    }

    /// The names that a query finds, in their order.
    async fn found(&self, search: &Search, query: &str, order: Order) -> Vec<String> {
        let found = search.find(&Query::parse(query), order, 0, 100).unwrap();
        let rows = self.db.torrents_at(found.hits.iter().map(|hit| hit.key.clone()).collect()).await.unwrap();
        assert_eq!(found.total, rows.len());
        rows.into_iter().map(|row| row.unwrap().facts.name.into()).collect()
    }
}

/// A torrent of a folder with one file.
fn torrent(name: &str, file: &str) -> Vec<u8> {
    let path: String = file.split('/').map(|element| format!("{}:{element}", element.len())).collect();
    let info = format!(
        "d5:filesld6:lengthi5e4:pathl{path}eee4:name{}:{name}12:piece lengthi16384e6:pieces20:01234567890123456789e",
        name.len()
    );
    format!("d4:info{info}e").into_bytes()
}

fn run(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
}

#[test]
fn torrents_are_found_by_name_file_hash_and_kind() {
    run(async {
        let place = Place::new();
        let debian = place.store("linux", "Debian 12.5 netinst", "debian-12.5-amd64.iso", 1_000).await;
        place.store("linux", "Ubuntu Désktop 24.04", "casper/filesystem.squashfs", 2_000).await;
        place.store("films", "Show.S01E02.1080p", "show.mkv", 3_000).await;
        place.store("films", "深海纪录片 Grey's Anatomy", "a.mkv", 4_000).await;
        let mut follower = place.follower();
        place.level(&mut follower).await;
        let search = follower.search();
        let all = ["深海纪录片 Grey's Anatomy", "Show.S01E02.1080p", "Ubuntu Désktop 24.04", "Debian 12.5 netinst"];
        let newest = |query| place.found(&search, query, Order::Newest);
        assert_eq!(newest("").await, all);
        for (query, wanted) in [
            ("DEBIAN", &all[3..]),
            ("netinst debian", &all[3..]),
            ("\"12.5 netinst\"", &all[3..]),
            ("\"netinst 12.5\"", &[]),
            ("12.5", &all[3..]),
            ("desktop", &all[2..3]),
            ("squashfs", &all[2..3]),
            ("ubu*", &all[2..3]),
            ("amd*", &all[3..]),
            ("-debian site:linux", &all[2..3]),
            ("-debian -ubuntu", &all[..2]),
            ("site:films,linux cat:4000", &all[2..]),
            ("cat:5000", &all[..2]),
            ("cat:2045,5040", &all[1..2]),
            ("ext:iso", &all[3..]),
            ("after:1970-01-02", &[]),
            ("size:<1k", &all),
            ("private:no v1:yes v2:no", &all),
            ("private:yes", &[]),
            ("深海", &all[..1]),
            ("海纪 greys", &all[..1]),
            ("\"纪录片 grey's anatomy\"", &all[..1]),
            ("-深海 site:films", &all[1..2]),
            ("录", &all[..1]),
            ("深", &all[..1]),
            ("海录", &[]),
            ("nothing", &[]),
            (&*debian.key_hex().to_uppercase(), &all[3..]),
            (&*format!("magnet:?xt=urn:btih:{}", debian.key_hex()), &all[3..]),
        ] {
            assert_eq!(newest(query).await, wanted, "{query}");
        }
        assert_eq!(place.found(&search, "debian", Order::Relevance).await, all[3..]);
        let skipped = search.find(&Query::default(), Order::Newest, 3, 100).unwrap();
        assert_eq!((skipped.total, skipped.hits.len(), skipped.hits[0].category), (4, 1, 4020));
        let mut episode = Query::default();
        (episode.filters.season, episode.filters.episode) = (Some(1), Some(2));
        assert_eq!(search.find(&episode, Order::Newest, 0, 9).unwrap().total, 1);
        let facets = search.facets(&Query::default()).unwrap();
        let sites: BTreeSet<_> = facets["site"].iter().map(|(site, count)| (site.as_str(), *count)).collect();
        assert_eq!(sites, [("films", 2), ("linux", 2)].into());
        assert!(facets["category"].contains(&("4020".to_owned(), 2)), "{facets:?}");
    });
}

#[test]
fn what_comes_goes_or_is_found_on_another_site_is_taken_in() {
    run(async {
        let place = Place::new();
        let one = place.store("a", "one", "x.iso", 1).await;
        let mut follower = place.follower();
        place.level(&mut follower).await;
        place.store("a", "two", "y.iso", 2).await;
        place.store("b", "one", "x.iso", 3).await;
        place.level(&mut follower).await;
        let search = follower.search();
        assert_eq!(place.found(&search, "", Order::Newest).await, ["two", "one"]);
        assert_eq!(place.found(&search, "site:b", Order::Newest).await, ["one"]);
        place.db.forget_torrent(one, UnixMillis(4)).await.unwrap();
        place.level(&mut follower).await;
        assert_eq!(place.found(&search, "", Order::Newest).await, ["two"]);
    });
}

#[test]
fn what_a_rule_file_says_of_categories_files_old_torrents_again_while_they_are_found() {
    run(async {
        let place = Place::new();
        for nth in 0..1_100 {
            place.store("a", &format!("torrent {nth}"), "x.iso", nth).await;
        }
        let mut follower = place.follower();
        place.level(&mut follower).await;
        let search = follower.search();
        assert_eq!(place.found(&search, "torrent cat:4050", Order::Newest).await.len(), 0);
        let note = br#"{"all": 4050, "map": {}}"#.to_vec();
        place.db.put_note("a", CATEGORIES_NOTE, note).await.unwrap();
        let filing = Filing::read(&place.db).await.unwrap();
        let step = async |follower: &mut Follower| {
            let step = follower.step(&place.db, &|row| contents_of(row, &place.archive), &filing).await.unwrap();
            assert!(follower.is_whole());
            step.is_level
        };
        assert!(!step(&mut follower).await);
        // Killed in the middle: what was not filed again is.
        follower.commit().unwrap();
        drop(follower);
        let mut follower = place.follower();
        let search = follower.search();
        let count = |query: &str| search.find(&Query::parse(query), Order::Newest, 0, 1).unwrap().total;
        assert!((1..1_100).contains(&count("cat:4050")));
        assert_eq!(count(""), 1_100, "nothing is lost meanwhile");
        place.store("a", "new", "y.iso", 5_000).await;
        while !step(&mut follower).await {}
        assert_eq!((count("cat:4050"), count("cat:4020"), search.torrents()), (1_101, 0, 1_101));
        assert!(step(&mut follower).await, "once");
    });
}

#[test]
fn an_index_that_was_left_in_the_middle_goes_on_and_one_that_does_not_fit_is_made_again() {
    run(async {
        let place = Place::new();
        for nth in 0..600 {
            place.store("a", &format!("torrent {nth}"), "x.iso", nth).await;
        }
        let mut follower = place.follower();
        let step = follower.step(&place.db, &|row| contents_of(row, &place.archive), &Filing::default()).await.unwrap();
        assert!(!step.is_level && !follower.is_whole() && step.torrents > 0);
        // Killed before the first commit of torrents, and after one.
        drop(follower);
        let mut follower = place.follower();
        follower.step(&place.db, &|row| contents_of(row, &place.archive), &Filing::default()).await.unwrap();
        follower.commit().unwrap();
        drop(follower);
        let mut follower = place.follower();
        let step = follower.step(&place.db, &|row| contents_of(row, &place.archive), &Filing::default()).await.unwrap();
        assert_eq!(step.torrents, 600 - ROWS_AT_ONCE_MAX, "the rest alone");
        place.level(&mut follower).await;
        assert_eq!(follower.search().torrents(), 600);
        drop(follower);
        // Other databases in its place: of fewer changes, of as many, and of more; their numbers say nothing.
        let mut folder = place.folder;
        let mut archive = place.archive;
        for (nth, count) in [1_u64, 600, 900].into_iter().enumerate() {
            let other = Place { folder, db: MemoryStore::default(), archive };
            for row in 0..count {
                other.store("b", &format!("other {nth} {row}"), "x.iso", 1_000 + row).await;
            }
            let mut follower = other.follower();
            other.level(&mut follower).await;
            let search = follower.search();
            let query = Query::parse(&format!("\"other {nth}\""));
            assert_eq!(
                (search.torrents(), search.find(&query, Order::Newest, 0, 1).unwrap().total as u64),
                (count, count)
            );
            drop(follower);
            (folder, archive) = (other.folder, other.archive);
        }
    });
}

#[test]
fn an_index_that_cannot_be_read_is_put_aside_and_one_that_is_written_is_held() {
    run(async {
        let place = Place::new();
        place.store("a", "one", "x.iso", 1).await;
        let mut follower = place.follower();
        place.level(&mut follower).await;
        assert!(matches!(Follower::open(place.folder.path()), Err(FollowError::Held { .. })));
        assert_eq!(Search::open(place.folder.path()).unwrap().torrents(), 1);
        drop(follower);
        let meta = index_path(place.folder.path()).join("meta.json");
        for damage in [&b"{"[..], b"{}", b""] {
            fs::write(&meta, damage).unwrap();
            assert!(Search::open(place.folder.path()).is_err());
            let mut follower = place.follower();
            place.level(&mut follower).await;
            assert_eq!(place.found(&follower.search(), "one", Order::Newest).await, ["one"]);
            assert!(place.folder.path().join("search.damaged").is_dir());
        }
        // Each of its files emptied, cut off, with another bit, or lost: as after a power loss.
        let files = || {
            let entries = fs::read_dir(index_path(place.folder.path())).unwrap().map(|entry| entry.unwrap().path());
            entries.filter(|path| path.extension().is_some_and(|of| of != "lock" && of != "json")).collect::<Vec<_>>()
        };
        let kinds: BTreeSet<_> = files().iter().map(|path| path.extension().unwrap().to_owned()).collect();
        assert!(kinds.len() >= 6, "{kinds:?}");
        for kind in kinds {
            for damage in [Some(0), Some(1), Some(2), None] {
                for path in files().iter().filter(|path| path.extension() == Some(&kind)) {
                    match damage {
                        Some(2) => {
                            let mut bytes = fs::read(path).unwrap();
                            bytes[0] ^= 1;
                            fs::write(path, &bytes).unwrap();
                        }
                        Some(halves) => {
                            let bytes = fs::read(path).unwrap();
                            fs::write(path, &bytes[..bytes.len() / 2 * halves]).unwrap();
                        }
                        None => fs::remove_file(path).unwrap(),
                    }
                }
                let mut follower = place.follower();
                place.level(&mut follower).await;
                assert_eq!(
                    place.found(&follower.search(), "\"one\"", Order::Newest).await,
                    ["one"],
                    "{kind:?} {damage:?}"
                );
            }
        }
        // Of another version.
        let text = fs::read_to_string(&meta).unwrap().replace(&format!(r#"\"version\":{VERSION}"#), r#"\"version\":0"#);
        fs::write(&meta, text).unwrap();
        assert!(matches!(Search::open(place.folder.path()), Err(SearchError::Missing)));
        let mut follower = place.follower();
        place.level(&mut follower).await;
        assert_eq!(follower.search().torrents(), 1);
    });
}

#[test]
fn a_lost_file_leaves_the_name_to_be_found() {
    run(async {
        let place = Place::new();
        let one = place.store("a", "one", "x.iso", 1).await;
        fs::remove_file(place.archive.path_of(&one)).unwrap();
        let mut follower = place.follower();
        place.level(&mut follower).await;
        assert_eq!(place.found(&follower.search(), "one cat:8010", Order::Newest).await, ["one"]);
    });
}
