//! Handover of an archive whose database is in memory, into a folder: what is there, and what is noted, after each kind of interruption.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;

use super::*;
use gleaner_search::filing::Filing;
use gleaner_search::follow::{Follower, contents_of};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{CATEGORIES_NOTE, CrawlDb, Outcome, TorrentFacts, UrlKey, Visit};
use gleaner_torrent::metainfo;

const NOW: UnixMillis = UnixMillis(1_000_000);

/// A data folder, its index, and a watch folder.
struct Place {
    here: tempfile::TempDir,
    db: MemoryStore,
    archive: Archive,
    follower: Follower,
}

impl Place {
    fn new() -> Self {
        let here = tempfile::tempdir().unwrap();
        fs::create_dir(here.path().join("watch")).unwrap();
        let archive = Archive::open(here.path().join("torrents"), false).unwrap();
        let follower = Follower::open(here.path()).unwrap();
        Self { here, db: MemoryStore::default(), archive, follower }
    }

    fn watch(&self) -> PathBuf {
        self.here.path().join("watch")
    }

    async fn store(&mut self, name: &str, ms: u64) -> Vec<u8> {
        let info =
            format!("d6:lengthi5e4:name{}:{name}12:piece lengthi16384e6:pieces20:01234567890123456789e", name.len());
        let bytes = format!("d4:info{info}e").into_bytes();
        let metainfo = metainfo::parse(&bytes).unwrap();
        let key = metainfo.infohashes.key().to_vec();
        self.archive.store_batch(&[(metainfo.infohashes, &bytes)]).unwrap();
        let host = self.db.host_id("site", "http://a").await.unwrap();
        let visit = Visit {
            torrent: Some(TorrentFacts::of(metainfo, &bytes)),
            ..Visit::new(UrlKey { host, path: format!("/{name}").into() }, UnixMillis(ms), Outcome::TorrentStored)
        };
        self.db.record_visits(Arc::new(vec![visit])).await.unwrap();
        self.level().await;
        key
    }

    async fn level(&mut self) {
        for _ in 0..50 {
            let step =
                self.follower.step(&self.db, &|row| contents_of(row, &self.archive), &Filing::default()).await.unwrap();
            if step.is_level && self.follower.is_whole() {
                return;
            }
        }
        panic!("never level");
    }

    fn open(&self, search: &str, since: Since) -> Handover {
        let wanted = Wanted { name: "box".to_owned(), folder: self.watch(), search: search.to_owned(), since };
        Handover::open(self.here.path(), wanted).unwrap()
    }

    async fn round(&self, handover: &mut Handover) -> Result<Round, HandoverError> {
        let search = self.follower.search();
        handover.round(Sources { db: &self.db, search: &search, archive: &self.archive }, NOW).await
    }

    /// Names that one run hands over, without their tags.
    async fn run(&self, handover: &mut Handover) -> Vec<String> {
        let mut names = Vec::new();
        loop {
            let round = self.round(handover).await.unwrap();
            names.extend(round.handed.iter().map(|name| name.split(" [").next().unwrap().to_owned()));
            if round.is_level {
                return names;
            }
        }
    }

    async fn waiting(&self, handover: &Handover) -> (u64, Vec<String>) {
        let search = self.follower.search();
        let sources = Sources { db: &self.db, search: &search, archive: &self.archive };
        let waiting = handover.waiting(sources, NOW, 100).await.unwrap();
        (waiting.count, waiting.first.into_iter().map(|row| row.facts.name.into()).collect())
    }

    fn files(&self) -> BTreeSet<String> {
        let entries = fs::read_dir(self.watch()).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }
}

fn test(test: impl Future<Output = ()>) {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(test);
}

#[test]
fn torrents_that_fit_go_out_once_in_the_order_of_their_storing_whatever_the_client_does_with_them() {
    test(async {
        let mut place = Place::new();
        let mut keys = Vec::new();
        for (name, ms) in [("debian c", 30), ("debian a", 10), ("other", 15), ("debian b", 20)] {
            keys.push(place.store(name, ms).await);
        }
        let mut handover = place.open("debian", Since::All);
        assert_eq!(place.waiting(&handover).await, (3, vec!["debian a".into(), "debian b".into(), "debian c".into()]));
        assert!(!memory::path_of(place.here.path(), "box").exists(), "a look changes nothing");
        assert_eq!(place.run(&mut handover).await, ["debian a", "debian b", "debian c"]);
        let hex = data_encoding::HEXLOWER.encode(&keys[0]);
        let path = place.watch().join(format!("debian c [{hex}].torrent"));
        assert_eq!(metainfo::parse(&fs::read(&path).unwrap()).unwrap().infohashes.key(), keys[0]);
        assert_eq!(place.files().len(), 3, "no part is left: {:?}", place.files());

        // A client renames one, deletes another: neither goes out again, now or after a restart.
        fs::rename(&path, path.with_extension("torrent.added")).unwrap();
        let other = place.files().into_iter().find(|name| name.starts_with("debian a")).unwrap();
        fs::remove_file(place.watch().join(other)).unwrap();
        let before = place.files();
        assert_eq!(place.run(&mut handover).await, [""; 0]);
        let mut again = place.open("debian", Since::All);
        assert_eq!((place.run(&mut again).await, again.handed()), (vec![], 3));
        assert_eq!(place.files(), before);

        // One that is forgotten and stored again does not, either; what comes next does, to whoever comes first.
        place.store("debian d", 40).await;
        place.store("other two", 41).await;
        assert_eq!(place.run(&mut again).await, ["debian d"]);
        assert_eq!(place.run(&mut handover).await, [""; 0], "another process has handed it over");
        let row = place.db.torrents_at(vec![keys[0].clone()]).await.unwrap().remove(0).unwrap();
        place.db.forget_torrent(row.facts.infohashes, NOW).await.unwrap();
        place.db.adopt_torrent(row.facts, NOW).await.unwrap();
        place.level().await;
        assert_eq!(place.run(&mut again).await, [""; 0]);
        // A wider search hands over what it adds.
        let mut wide = place.open("", Since::All);
        assert_eq!(place.run(&mut wide).await, ["other", "other two"]);
    });
}

#[test]
fn new_is_what_is_stored_from_the_first_run_on() {
    test(async {
        let mut place = Place::new();
        place.store("old", 10).await;
        let mut handover = place.open("", Since::New);
        assert_eq!(place.waiting(&handover).await.0, 0);
        assert_eq!(place.run(&mut handover).await, [""; 0]);
        place.store("new", 20).await;
        assert_eq!(place.waiting(&handover).await, (1, vec!["new".into()]));
        // After a restart, too, which goes through the archive.
        assert_eq!(place.run(&mut place.open("", Since::New)).await, ["new"]);
        assert_eq!(place.run(&mut handover).await, [""; 0]);
        assert_eq!(place.run(&mut place.open("", Since::All)).await, ["old"]);
    });
}

#[test]
fn a_clock_that_was_ahead_at_the_first_run_hides_nothing() {
    test(async {
        let mut place = Place::new();
        place.store("of the future", NOW.0 * 9).await;
        let mut handover = place.open("", Since::New);
        let search = place.follower.search();
        let sources = Sources { db: &place.db, search: &search, archive: &place.archive };
        assert_eq!(handover.round(sources, UnixMillis(NOW.0 * 10)).await.unwrap().handed, [""; 0]);
        place.run(&mut handover).await;
        place.store("of today", NOW.0 + 5).await;
        assert_eq!(place.run(&mut handover).await.last().unwrap(), "of today");
    });
}

#[test]
fn a_clock_that_is_behind_hands_over_nothing_old() {
    test(async {
        let mut place = Place::new();
        for nth in 0..limits::OF_FUTURE_MAX as u64 + 5 {
            place.store(&format!("old {nth}"), NOW.0 - 1_000 + nth).await;
        }
        let mut handover = place.open("", Since::New);
        assert_eq!(place.run(&mut handover).await, [""; 0]);
        let search = place.follower.search();
        let sources = Sources { db: &place.db, search: &search, archive: &place.archive };
        let mut again = place.open("", Since::New);
        for handover in [&mut handover, &mut again] {
            assert_eq!(handover.round(sources, UnixMillis(5)).await.unwrap().handed, [""; 0]);
        }
        let mut first =
            Handover::open(place.here.path(), Wanted { name: "other".into(), ..again.wanted().clone() }).unwrap();
        assert_eq!(first.round(sources, UnixMillis(5)).await.unwrap().handed, [""; 0], "at its first run, too");
    });
}

#[test]
fn a_folder_that_cannot_be_written_is_told_and_nothing_is_lost_or_noted() {
    test(async {
        let mut place = Place::new();
        place.store("one", 10).await;
        let mut handover = place.open("", Since::All);
        fs::remove_dir(place.watch()).unwrap();
        let error = place.round(&mut handover).await.unwrap_err();
        assert!(matches!(error, HandoverError::NoFolder { .. }) && error.to_string().contains("hint: "), "{error}");
        fs::write(place.watch(), "").unwrap();
        assert!(matches!(place.round(&mut handover).await.unwrap_err(), HandoverError::NotAFolder { .. }));
        fs::remove_file(place.watch()).unwrap();
        fs::create_dir(place.watch()).unwrap();
        let hex = {
            let rows = place.db.newest(None, 0, 1).await.unwrap();
            rows[0].facts.infohashes.key_hex()
        };
        // A folder has the name: nothing is written over it. It is told once, and what comes behind it goes out.
        let blocked = place.watch().join(format!("one [{hex}].torrent"));
        fs::create_dir(&blocked).unwrap();
        place.store("two", 20).await;
        let round = place.round(&mut handover).await.unwrap();
        assert!(round.aside.len() == 1 && round.aside[0].contains("rename"), "{round:?}");
        assert_eq!((place.run(&mut handover).await, handover.handed()), (vec!["two".to_owned()], 1));
        let two = place.files().into_iter().find(|name| name.starts_with("two")).unwrap();
        fs::remove_file(place.watch().join(two)).unwrap();
        let search = place.follower.search();
        let sources = Sources { db: &place.db, search: &search, archive: &place.archive };
        let later = NOW.plus(limits::ASIDE_FOR);
        let again = handover.round(sources, later).await.unwrap();
        assert_eq!((again.handed.len(), again.aside.len()), (0, 0), "{again:?}");
        fs::remove_dir(&blocked).unwrap();
        let at_last = handover.round(sources, later.plus(limits::ASIDE_FOR)).await.unwrap();
        assert_eq!((at_last.handed.len(), handover.handed()), (1, 2));
        fs::remove_file(&blocked).unwrap();
        fs::remove_file(memory::path_of(place.here.path(), "box")).unwrap();
        let mut handover = place.open("one", Since::All);
        // A part of a killed process, and a link in its place, are replaced.
        let part = place.watch().join(format!("one [{hex}].torrent.part"));
        std::os::unix::fs::symlink("/nonexistent/x", &part).unwrap();
        assert_eq!(place.run(&mut handover).await, ["one"]);
        assert!(fs::symlink_metadata(&blocked).unwrap().is_file() && place.files().len() == 1);
        assert_eq!(fs::metadata(&blocked).unwrap().permissions().mode() & 0o002, 0, "others cannot change it");
    });
}

#[test]
fn what_a_newly_mapped_label_makes_fit_goes_out_without_a_restart() {
    test(async {
        let mut place = Place::new();
        place.store("one", 10).await;
        let mut handover = place.open("cat:7030", Since::All);
        assert_eq!(place.run(&mut handover).await, [""; 0]);
        place.db.put_note("site", CATEGORIES_NOTE, br#"{"all": 7030, "map": {}}"#.to_vec()).await.unwrap();
        let filing = Filing::read(&place.db).await.unwrap();
        while !place.follower.step(&place.db, &|row| contents_of(row, &place.archive), &filing).await.unwrap().is_level
        {
        }
        assert_eq!(place.run(&mut handover).await, ["one"]);
    });
}

#[test]
fn where_most_files_cannot_be_written_everything_waits() {
    test(async {
        let mut place = Place::new();
        for nth in 0..=limits::ASIDE_MAX as u64 {
            let key = place.store(&format!("n{nth:02}"), 10 + nth).await;
            let hex = data_encoding::HEXLOWER.encode(&key);
            fs::create_dir(place.watch().join(format!("n{nth:02} [{hex}].torrent"))).unwrap();
        }
        let mut handover = place.open("", Since::All);
        let error = place.round(&mut handover).await.unwrap_err();
        assert!(matches!(error, HandoverError::Io { .. }), "{error}");
        assert_eq!(handover.handed(), 0);
    });
}

#[test]
fn what_a_killed_process_had_not_noted_goes_out_again_under_the_same_name() {
    test(async {
        let mut place = Place::new();
        for (name, ms) in [("one", 10), ("two", 20), ("three", 30)] {
            place.store(name, ms).await;
        }
        place.run(&mut place.open("", Since::All)).await;
        let (files, path) = (place.files(), memory::path_of(place.here.path(), "box"));
        let whole = fs::read(&path).unwrap();
        let begin = whole.iter().position(|byte| *byte == b'\n').unwrap() + 1;
        for cut in 0..whole.len() {
            fs::write(&path, &whole[..cut]).unwrap();
            for file in place.files() {
                fs::remove_file(place.watch().join(file)).unwrap();
            }
            let mut handover = place.open("", Since::All);
            let handed = place.run(&mut handover).await;
            let noted = if cut < begin { 0 } else { (cut - begin) / 41 };
            assert_eq!(handed, ["one", "two", "three"][noted..], "{cut}");
            assert!(place.files().is_subset(&files) && place.files().len() == 3 - noted, "{cut}");
            let noted: BTreeSet<Vec<u8>> =
                fs::read(&path).unwrap().split(|of| *of == b'\n').map(<[u8]>::to_vec).collect();
            assert_eq!(noted, whole.split(|of| *of == b'\n').map(<[u8]>::to_vec).collect(), "{cut}");
        }
        // A damaged line costs one torrent again; a file that is none is told.
        let mut damaged = whole.clone();
        damaged[begin + 3] = b'x';
        fs::write(&path, &damaged).unwrap();
        assert_eq!(place.run(&mut place.open("", Since::All)).await, ["one"]);
        fs::write(&path, "what is this\n").unwrap();
        let wanted = Wanted { name: "box".into(), folder: place.watch(), search: String::new(), since: Since::All };
        let error = Handover::open(place.here.path(), wanted).err().unwrap();
        assert!(matches!(error, HandoverError::Damaged { .. }), "{error}");
        // Removed while it is at work: it begins anew.
        fs::write(&path, &whole).unwrap();
        let mut handover = place.open("", Since::All);
        place.run(&mut handover).await;
        fs::remove_file(&path).unwrap();
        place.store("four", 40).await;
        assert_eq!(place.run(&mut handover).await, ["one", "two", "three", "four"]);
        assert_eq!(place.run(&mut place.open("", Since::All)).await, [""; 0]);
    });
}

#[test]
fn a_lost_or_damaged_file_of_the_archive_is_left_out_until_it_is_stored_again() {
    test(async {
        let mut place = Place::new();
        let key = place.store("one", 10).await;
        place.store("two", 20).await;
        let row = place.db.torrents_at(vec![key]).await.unwrap().remove(0).unwrap();
        let path = place.archive.path_of(&row.facts.infohashes);
        let whole = fs::read(&path).unwrap();
        fs::write(&path, "damaged").unwrap();
        let mut handover = place.open("", Since::All);
        let round = place.round(&mut handover).await.unwrap();
        assert_eq!((round.handed.len(), round.left_out.len(), handover.handed()), (1, 1, 1));
        assert_eq!((&*round.left_out[0].name, round.left_out[0].reason), ("one", "its file is damaged"));
        fs::remove_file(&path).unwrap();
        assert_eq!(place.round(&mut place.open("", Since::All)).await.unwrap().left_out[0].reason, "its file is lost");
        fs::write(&path, whole).unwrap();
        place.db.forget_torrent(row.facts.infohashes, NOW).await.unwrap();
        place.db.adopt_torrent(row.facts, NOW).await.unwrap();
        place.level().await;
        assert_eq!(place.run(&mut handover).await, ["one"]);
    });
}

#[test]
fn a_backlog_beyond_one_round_goes_out_in_order_and_two_processes_share_it() {
    test(async {
        let mut place = Place::new();
        let names: Vec<String> = (0..2 * HANDED_AT_ONCE_MAX + 5).map(|number| format!("n{number:04}")).collect();
        for (at, name) in names.iter().enumerate() {
            place.store(name, 10 + at as u64).await;
        }
        let (mut one, mut other) = (place.open("", Since::All), place.open("", Since::All));
        let mut handed = Vec::new();
        loop {
            let (first, second) = (place.round(&mut one).await.unwrap(), place.round(&mut other).await.unwrap());
            handed.extend(first.handed.into_iter().chain(second.handed));
            if first.is_level && second.is_level {
                break;
            }
        }
        let handed: Vec<&str> = handed.iter().map(|name| name.split(" [").next().unwrap()).collect();
        assert_eq!(handed, names);
    });
}
