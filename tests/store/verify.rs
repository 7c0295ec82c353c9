//! Archive and database compared: each planted fault is found, and repaired without losing anything.

use std::path::PathBuf;

use crate::harvest::{Harvest, NOON, facts_of, torrent};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CrawlDb, HostDue, Reader, TorrentRow};
use gleaner_store::verify::{self, Repaired, Verdict};

const NOW: UnixMillis = UnixMillis(NOON + 1_000_000);

async fn look(harvest: &Harvest) -> Verdict {
    verify::verify(&harvest.db, &harvest.archive).await.unwrap()
}

async fn repair(harvest: &Harvest) -> Verdict {
    verify::repair(&harvest.db, &harvest.archive, NOW).await.unwrap()
}

async fn harvest_of(torrents: u64) -> (Harvest, Vec<TorrentRow>) {
    let harvest = Harvest::new();
    for number in 0..torrents {
        harvest.store(&torrent("t", number, "http://t/a"), "alpha.example", &format!("/d/{number}"), NOON).await;
    }
    let mut rows = Vec::new();
    while rows.len() < torrents as usize {
        let after = rows.last().map(|row: &TorrentRow| row.facts.infohashes.key().to_vec());
        rows.extend(harvest.db.torrents(after, 1_000).await.unwrap());
    }
    (harvest, rows)
}

fn path(harvest: &Harvest, row: &TorrentRow) -> PathBuf {
    harvest.archive.path_of(&row.facts.infohashes)
}

/// After a repair nothing is wrong, and a second repair has nothing to do.
async fn assert_sound(harvest: &Harvest, torrents: u64) {
    let verdict = look(harvest).await;
    assert_eq!((verdict.faults(), verdict.torrents, verdict.whole), (0, torrents, torrents), "{verdict:?}");
    assert_eq!(repair(harvest).await.repaired, Some(Repaired::default()));
}

#[tokio::test]
async fn a_sound_archive_has_no_findings() {
    let (harvest, _) = harvest_of(700).await;
    let verdict = look(&harvest).await;
    assert_eq!((verdict.torrents, verdict.files, verdict.whole, verdict.faults()), (700, 700, 700, 0));
    assert!(verdict.is_sound());
    assert_sound(&harvest, 700).await;
}

#[tokio::test]
async fn a_lost_file_is_found_and_its_sources_become_due() {
    let (harvest, rows) = harvest_of(300).await;
    let host = harvest.db.hosts().await.unwrap()[0].id;
    assert_eq!(harvest.db.host_due(host, NOW).await.unwrap(), HostDue::Exhausted);
    for row in [&rows[0], &rows[150], &rows[299]] {
        std::fs::remove_file(path(&harvest, row)).unwrap();
    }
    let verdict = look(&harvest).await;
    assert_eq!((verdict.missing.count, verdict.whole, verdict.faults()), (3, 297, 3));
    assert_eq!(verdict.missing.listed[1].path, path(&harvest, &rows[150]));
    assert!(!verdict.is_sound());

    let repaired = repair(&harvest).await.repaired.unwrap();
    assert_eq!((repaired.forgotten, repaired.without_source, repaired.sources_due), (3, 0, 3));
    assert_eq!(harvest.db.queued(host, 10).await.unwrap().len(), 3);
    assert_eq!(harvest.db.host_due(host, NOW).await.unwrap(), HostDue::Now);
    assert_sound(&harvest, 297).await;
}

#[tokio::test]
async fn a_damaged_file_is_kept_aside_and_fetched_again() {
    let (harvest, rows) = harvest_of(20).await;
    let body = std::fs::read(path(&harvest, &rows[4])).unwrap();
    let cut = &body[..body.len() - 1];
    std::fs::write(path(&harvest, &rows[4]), cut).unwrap();
    // One flipped bit in a piece hash: still a torrent, but another one.
    let mut flipped = std::fs::read(path(&harvest, &rows[9])).unwrap();
    let at = flipped.len() - 10;
    flipped[at] ^= 1;
    std::fs::write(path(&harvest, &rows[9]), &flipped).unwrap();

    let verdict = look(&harvest).await;
    assert_eq!((verdict.damaged.count, verdict.whole, verdict.faults()), (2, 18, 2));
    assert!(verdict.damaged.listed[0].detail.contains("not a torrent"), "{verdict:?}");
    assert!(verdict.damaged.listed[1].detail.contains("another torrent"), "{verdict:?}");

    let repaired = repair(&harvest).await.repaired.unwrap();
    assert_eq!((repaired.set_aside, repaired.forgotten, repaired.sources_due), (2, 2, 2));
    let aside = harvest.archive.dir().join("damaged").join(path(&harvest, &rows[4]).file_name().unwrap());
    assert_eq!(std::fs::read(&aside).unwrap(), cut);
    assert_sound(&harvest, 18).await;

    // Stored again and damaged again: the first damaged file still exists.
    harvest.store(&body, "alpha.example", "/d/x", NOON + 5).await;
    std::fs::write(path(&harvest, &rows[4]), b"").unwrap();
    repair(&harvest).await;
    assert_eq!(std::fs::read(&aside).unwrap(), cut);
    assert_eq!(std::fs::read(format!("{}.1", aside.display())).unwrap(), b"");
    assert_sound(&harvest, 18).await;
}

#[tokio::test]
async fn the_same_torrent_with_other_bytes_is_taken_as_it_is() {
    let (harvest, rows) = harvest_of(5).await;
    let number = rows[2].facts.payload_bytes - 1;
    let other = torrent("t", number, "http://another/announce");
    assert_eq!(facts_of(&other).infohashes, rows[2].facts.infohashes);
    std::fs::write(path(&harvest, &rows[2]), &other).unwrap();
    let verdict = look(&harvest).await;
    assert_eq!((verdict.damaged.count, verdict.faults()), (1, 1));
    let repaired = repair(&harvest).await.repaired.unwrap();
    assert_eq!((repaired.adopted, repaired.forgotten, repaired.sources_due), (1, 0, 1));
    assert_eq!(std::fs::read(path(&harvest, &rows[2])).unwrap(), other);
    assert_sound(&harvest, 5).await;
}

#[tokio::test]
async fn files_without_rows_are_taken_in() {
    let (harvest, _) = harvest_of(300).await;
    // Keys before, between and after those of the rows, and of a page of rows.
    let orphans: Vec<_> = (1_000..1_400).map(|number| torrent("o", number, "http://t/a")).collect();
    let files: Vec<_> = orphans.iter().map(|body| (facts_of(body).infohashes, &body[..])).collect();
    harvest.archive.store_batch(&files).unwrap();
    let verdict = look(&harvest).await;
    assert_eq!((verdict.orphans.count, verdict.orphans.listed.len(), verdict.whole), (400, 100, 300));
    assert_eq!(repair(&harvest).await.repaired.unwrap().adopted, 400);
    let known = harvest.db.known_torrents(vec![facts_of(&orphans[7]).infohashes]).await.unwrap();
    assert!(known[0].is_some());
    assert_sound(&harvest, 700).await;
}

#[tokio::test]
async fn misplaced_torrents_are_put_where_they_belong() {
    let (harvest, rows) = harvest_of(50).await;
    let dir = harvest.archive.dir();
    // A known one under a wrong name; a known one in a wrong folder; an unknown one at the top; a second copy; an
    // unknown one under another's name.
    std::fs::rename(path(&harvest, &rows[0]), dir.join("00 renamed.torrent")).unwrap();
    let wrong_folder = dir.join(if rows[1].facts.infohashes.key()[0] == 0xfe { "fd" } else { "fe" });
    std::fs::create_dir_all(&wrong_folder).unwrap();
    std::fs::rename(path(&harvest, &rows[1]), wrong_folder.join(path(&harvest, &rows[1]).file_name().unwrap()))
        .unwrap();
    let unknown = torrent("u", 5_000, "http://t/a");
    std::fs::write(dir.join("upload.torrent"), &unknown).unwrap();
    std::fs::copy(path(&harvest, &rows[2]), dir.join("copy.torrent")).unwrap();
    let posing = torrent("p", 6_000, "http://t/a");
    std::fs::create_dir_all(dir.join("77")).unwrap();
    std::fs::write(dir.join("77").join(format!("{}.torrent", "77".repeat(20))), &posing).unwrap();

    let verdict = look(&harvest).await;
    assert_eq!((verdict.misplaced.count, verdict.missing.count, verdict.files), (5, 2, 53));
    let repaired = repair(&harvest).await.repaired.unwrap();
    assert_eq!((repaired.moved, repaired.adopted, repaired.set_aside, repaired.forgotten), (4, 2, 1, 0));
    assert_eq!(std::fs::read(harvest.archive.path_of(&facts_of(&unknown).infohashes)).unwrap(), unknown);
    assert_eq!(std::fs::read(harvest.archive.path_of(&facts_of(&posing).infohashes)).unwrap(), posing);
    assert_sound(&harvest, 52).await;
}

#[tokio::test]
async fn a_misplaced_torrent_takes_the_place_of_a_damaged_one() {
    let (harvest, rows) = harvest_of(5).await;
    std::fs::rename(path(&harvest, &rows[0]), harvest.archive.dir().join("saved.torrent")).unwrap();
    std::fs::write(path(&harvest, &rows[0]), b"garbage").unwrap();
    let repaired = repair(&harvest).await.repaired.unwrap();
    assert_eq!((repaired.moved, repaired.forgotten), (1, 0));
    assert_sound(&harvest, 5).await;
}

#[tokio::test]
async fn what_is_no_torrent_is_listed_and_left_alone() {
    let (harvest, _) = harvest_of(5).await;
    let dir = harvest.archive.dir();
    std::fs::write(dir.join("README"), "mine").unwrap();
    std::os::unix::fs::symlink("/etc/passwd", dir.join("link.torrent")).unwrap();
    std::fs::create_dir_all(dir.join("77/folder")).unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, dir.join("pipe"), rustix::fs::Mode::RUSR).unwrap();
    let verdict = repair(&harvest).await;
    assert_eq!((verdict.foreign.count, verdict.faults(), verdict.files), (4, 0, 6));
    assert_eq!(verdict.repaired, Some(Repaired::default()));
    assert!(dir.join("README").exists() && dir.join("link.torrent").is_symlink() && dir.join("77/folder").is_dir());
}

#[tokio::test]
async fn junk_under_a_torrents_name_is_set_aside() {
    let (harvest, _) = harvest_of(5).await;
    let name = format!("77/{}.torrent", "77".repeat(20));
    std::fs::create_dir_all(harvest.archive.dir().join("77")).unwrap();
    std::fs::write(harvest.archive.dir().join(&name), "<html>").unwrap();
    let verdict = repair(&harvest).await;
    assert_eq!((verdict.damaged.count, verdict.repaired.unwrap().set_aside), (1, 1));
    assert!(harvest.archive.dir().join("damaged").join(format!("{}.torrent", "77".repeat(20))).exists());
    assert_sound(&harvest, 5).await;
}

#[tokio::test]
async fn what_a_dead_process_was_writing_is_swept_and_what_a_live_one_writes_is_counted() {
    let (harvest, _) = harvest_of(5).await;
    let left = harvest.archive.dir().join(".tmp/4242-0");
    std::fs::create_dir_all(harvest.archive.dir().join(".tmp")).unwrap();
    std::fs::write(&left, "half").unwrap();
    // This archive has stored files, and so holds the writers' lock.
    let verdict = look(&harvest).await;
    assert_eq!((verdict.temporary, verdict.is_sound()), (1, true));
    let Harvest { dir, db, archive } = harvest;
    drop(archive);
    let archive = gleaner_torrent::archive::Archive::open(dir.path().join("archive"), false).unwrap();
    assert_eq!(verify::verify(&db, &archive).await.unwrap().temporary, 0);
    assert!(!left.exists());
}

#[tokio::test]
async fn every_fault_at_once_is_repaired_in_one_run() {
    let (harvest, rows) = harvest_of(400).await;
    let mut expected = 400;
    for (at, row) in rows.iter().enumerate() {
        let file = path(&harvest, row);
        match at % 8 {
            1 => {
                std::fs::remove_file(file).unwrap();
                expected -= 1;
            }
            2 => {
                std::fs::write(file, b"d").unwrap();
                expected -= 1;
            }
            3 => std::fs::rename(file, harvest.archive.dir().join(format!("{at}.torrent"))).unwrap(),
            4 => {
                let body = torrent("o", 10_000 + at as u64, "http://t/a");
                harvest.archive.store_batch(&[(facts_of(&body).infohashes, &body)]).unwrap();
                expected += 1;
            }
            _ => {}
        }
    }
    let verdict = repair(&harvest).await;
    assert_eq!(verdict.missing.count, 50);
    assert_eq!(verdict.damaged.count, 50);
    assert_eq!(verdict.misplaced.count, 50);
    assert_eq!(verdict.orphans.count, 50);
    assert_sound(&harvest, expected).await;
}
