//! An index beside a database in memory and an archive on disk: what it has after each kind of interruption.

use std::collections::BTreeSet;

use super::*;
use crate::find::Order;
use crate::query::Query;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CATEGORIES_NOTE, CrawlDb, MagnetFacts, Outcome, TorrentFacts, UrlKey, UrlLabel, Visit};
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
        self.store_file(site, &torrent(name, file), ms).await
    }

    async fn store_file(&self, site: &str, bytes: &[u8], ms: u64) -> Infohashes {
        let parsed = metainfo::parse(bytes).unwrap();
        let infohashes = parsed.infohashes;
        self.archive.store_batch(&[(infohashes, bytes)]).unwrap();
        let host = self.db.host_id(site, "http://a").await.unwrap();
        let visit = Visit {
            torrent: Some(TorrentFacts::of(parsed, bytes)),
            ..Visit::new(UrlKey { host, path: format!("/{ms}").into() }, UnixMillis(ms), Outcome::TorrentStored)
        };
        self.db.record_visits(vec![visit].into()).await.unwrap();
        infohashes
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
        let (all, facets) = search.facets(&Query::default()).unwrap();
        assert_eq!(all, 4);
        let sites: BTreeSet<_> = facets["site"].iter().map(|(site, count)| (site.as_str(), *count)).collect();
        assert_eq!(sites, [("films", 2), ("linux", 2)].into());
        assert!(facets["category"].contains(&("4020".to_owned(), 2)), "{facets:?}");
        for name in ["size", "version"] {
            assert_eq!(facets[name].iter().map(|(_, count)| count).sum::<u64>(), 4, "{name}: {facets:?}");
            for (value, count) in &facets[name] {
                let filter = match value.as_str() {
                    "hybrid" => "v1:yes v2:yes".to_owned(),
                    "v1" => "v2:no".to_owned(),
                    "v2" => "v1:no".to_owned(),
                    size => format!("size:{size}"),
                };
                let found = search.find(&Query::parse(&filter), Order::Newest, 0, 9).unwrap().total;
                assert_eq!(found as u64, *count, "{filter}");
            }
        }
    });
}

#[test]
fn sizes_are_counted_as_they_are_found_on_their_borders_too() {
    const PIECE: u64 = 16 << 20;
    run(async {
        let place = Place::new();
        let sizes: [u64; 5] = [5, 100 << 20, 1 << 30, (1 << 30) + 1, 100 << 30];
        for (nth, bytes) in sizes.into_iter().enumerate() {
            let torrent = String::from_utf8(torrent(&format!("t{nth}"), "a.iso")).unwrap();
            // Pieces of 16 MiB are large enough, and as many as it takes.
            let pieces = "0123456789abcdefghij".repeat(usize::try_from(bytes.div_ceil(PIECE)).unwrap());
            let whole = torrent
                .replace("lengthi5e", &format!("lengthi{bytes}e"))
                .replace("lengthi16384e", &format!("lengthi{PIECE}e"))
                .replace("20:01234567890123456789", &format!("{}:{pieces}", pieces.len()));
            place.store_file("s", whole.as_bytes(), 1_000 + nth as u64).await;
        }
        let mut follower = place.follower();
        place.level(&mut follower).await;
        let search = follower.search();
        let (all, facets) = search.facets(&Query::default()).unwrap();
        let counted: Vec<_> = facets["size"].iter().map(|(size, count)| (&**size, *count)).collect();
        assert_eq!((all, counted), (5, vec![("<100M", 1), ("100M..1G", 2), ("1G..10G", 2), ("10G..100G", 1)]));
        for (size, count) in &facets["size"] {
            let found = search.find(&Query::parse(&format!("size:{size}")), Order::Newest, 0, 9).unwrap().total;
            assert_eq!(found as u64, *count, "{size}");
        }
    });
}

fn magnets(search: &Search, query: &str) -> Vec<Vec<u8>> {
    let found = search.find(&Query::parse(query), Order::Newest, 0, 100).unwrap();
    assert_eq!(found.total, found.hits.len());
    found.hits.into_iter().map(|hit| hit.key).collect()
}

#[test]
fn what_is_known_by_a_magnet_alone_is_found_where_that_is_asked_for_until_its_torrent_comes() {
    run(async {
        let place = Place::new();
        let one = place.store("a", "one", "x.iso", 5).await;
        let host = place.db.host_id("m", "http://m").await.unwrap();
        let page = |path: &str| UrlKey { host, path: path.into() };
        let (other, v2) = ([7; 20], [8; 32]);
        let facts = |infohashes, name: Option<&str>| MagnetFacts {
            infohashes,
            name: name.map(Into::into),
            link: "magnet:?xt=urn:btih:0707070707070707070707070707070707070707&xl=5000&tr=udp%3A%2F%2Ft.example%3A80"
                .into(),
        };
        let v2_alone = Infohashes { v1: None, v2: Some(v2) };
        let named = Visit {
            magnets: vec![
                facts(Infohashes { v1: Some(other), v2: None }, Some("Show S01E02 1080p")),
                facts(v2_alone, None),
                facts(one, Some("of a torrent")),
            ],
            labels: vec![UrlLabel { key: page("/list"), text: "tv".into(), is_own: false }],
            ..Visit::new(page("/list"), UnixMillis(9), Outcome::Page)
        };
        let filing = br#"{"all": null, "map": {"tv": 5000}}"#.to_vec();
        place.db.put_note("m", CATEGORIES_NOTE, filing).await.unwrap();
        let level = async |follower: &mut Follower| {
            let filing = Filing::read(&place.db).await.unwrap();
            while !follower.step(&place.db, &|row| contents_of(row, &place.archive), &filing).await.unwrap().is_level {}
        };
        // Once the index is there, and once it is made: both find the same.
        let mut follower = place.follower();
        level(&mut follower).await;
        place.db.record_visits(vec![named].into()).await.unwrap();
        level(&mut follower).await;
        let search = follower.search();
        let whole = |search: &Search| {
            assert_eq!((search.torrents(), magnets(search, "")), (1, vec![one.key().to_vec()]));
            assert_eq!(magnets(search, "has:magnet").len(), 2);
            for query in ["has:magnet show", "has:magnet cat:5040", "has:magnet cat:5000 size:5000 after:1970"] {
                assert!(magnets(search, query).contains(&other.to_vec()), "{query}");
            }
            assert_eq!(magnets(search, "has:magnet tracker:t.example site:m").len(), 2);
            assert_eq!(magnets(search, "has:torrent show"), Vec::<Vec<u8>>::new());
            let mut within = Query::parse("has:torrent");
            within.within = Some(Box::new(Query::parse("has:magnet")));
            assert_eq!(
                search.find(&within, Order::Newest, 0, 9).unwrap().total,
                0,
                "no query widens what it is within"
            );
        };
        whole(&search);
        drop((follower, search));
        fs::remove_dir_all(index_path(place.folder.path())).unwrap();
        let mut follower = place.follower();
        place.level(&mut follower).await;
        level(&mut follower).await;
        let search = follower.search();
        whole(&search);

        // The torrent comes, known by its other hash, too; it goes again.
        let hybrid = Infohashes { v1: Some([9; 20]), v2: Some(v2) };
        let row = place.db.torrents(None, 1).await.unwrap().remove(0);
        place.db.adopt_torrent(TorrentFacts { infohashes: hybrid, ..row.facts }, UnixMillis(10)).await.unwrap();
        level(&mut follower).await;
        assert_eq!((search.torrents(), magnets(&search, "has:magnet")), (2, vec![other.to_vec()]));
        place.db.forget_torrent(hybrid, UnixMillis(11)).await.unwrap();
        level(&mut follower).await;
        assert_eq!((search.torrents(), magnets(&search, "has:magnet").len()), (1, 2));
    });
}

#[test]
fn torrents_are_found_by_the_hosts_of_their_trackers() {
    run(async {
        let place = Place::new();
        place.store("a", "without", "x.iso", 1).await;
        let info = "4:infod6:lengthi5e4:name5:other12:piece lengthi16384e6:pieces20:01234567890123456789ee";
        let with = format!("d8:announce38:http://tracker.example.org:80/announce{info}");
        place.store_file("a", with.as_bytes(), 2).await;
        let mut follower = place.follower();
        place.level(&mut follower).await;
        let search = follower.search();
        for query in ["tracker:tracker.example.org", "tracker:Example.org", "tracker:nowhere,example.org"] {
            assert_eq!(place.found(&search, query, Order::Newest).await, ["other"], "{query}");
        }
        assert_eq!(place.found(&search, "tracker:org", Order::Newest).await, [""; 0]);
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
