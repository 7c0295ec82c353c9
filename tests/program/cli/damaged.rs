//! Damaged database files: one whose content can be found again is renamed and replaced; for the other, the error has a hint.

use std::fs;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};

use super::harness::{Ran, Site, archived, folder, run, truth};

fn cut_in_half(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    file.set_len(file.metadata().unwrap().len() / 2).unwrap();
}

/// Overwrites everything except the header.
fn zero(path: &Path) {
    let file = fs::OpenOptions::new().write(true).open(path).unwrap();
    let len = usize::try_from(file.metadata().unwrap().len()).unwrap();
    file.write_all_at(&vec![0; len - 4_096], 4_096).unwrap();
}

fn put_aside(data: &Path) -> Vec<PathBuf> {
    let files = fs::read_dir(data).unwrap().map(|file| file.unwrap().path());
    files.filter(|path| path.to_string_lossy().contains("update.redb.damaged-")).collect()
}

fn no_trace(ran: Ran) -> Ran {
    assert!(!ran.err.contains("panicked") && !ran.err.contains("backtrace"), "{}", ran.err);
    ran
}

#[test]
fn a_broken_update_crawldb_is_put_aside_and_begun_anew_and_who_only_reads_needs_it_not() {
    let here = folder();
    let _site = Site::start(here.path(), 30, 0);
    let data = here.path().join("gleaner-data");
    run(here.path(), &["crawl"]).ended(0);
    let harvest = archived(&data);
    assert_eq!(harvest, truth(here.path()));
    let update = data.join("update.redb");
    for (times, (damage, mends)) in
        (1..).zip([(cut_in_half as fn(&Path), &["crawl"][..]), (zero, &["verify", "--repair"]), (zero, &["crawl"])])
    {
        damage(&update);
        for reads in ["status", "verify", "coverage"] {
            run(here.path(), &[reads]).ended(0);
        }
        no_trace(run(here.path(), mends).ended(0)).says(&["was moved aside"]);
        assert_eq!(put_aside(&data).len(), times, "{mends:?}");
        for reads in ["status", "verify", "coverage"] {
            run(here.path(), &[reads]).ended(0);
        }
    }
    assert_eq!(archived(&data), harvest);
}

#[test]
fn a_broken_crawl_database_is_told_with_what_brings_the_archive_back() {
    let here = folder();
    let _site = Site::start(here.path(), 30, 0);
    let data = here.path().join("gleaner-data");
    run(here.path(), &["crawl"]).ended(0);
    let harvest = archived(&data);
    let crawl = data.join("crawl.redb");
    cut_in_half(&crawl);
    for command in [&["crawl"][..], &["status"], &["verify"], &["verify", "--repair"]] {
        let told = no_trace(run(here.path(), command).ended(1));
        told.says(&["crawl.redb: the database is damaged", "hint: restore a copy of it; without one, move it away"]);
    }
    fs::rename(&crawl, data.join("crawl.redb.old")).unwrap();
    run(here.path(), &["crawl", "--max-pages", "1"]);
    run(here.path(), &["verify", "--repair"]).ended(0);
    run(here.path(), &["verify"]).ended(0).says(&["archive and database agree"]);
    assert_eq!(archived(&data), harvest);
}

#[test]
fn an_archive_without_its_database_is_told_and_repaired_from_its_files() {
    let here = folder();
    let _site = Site::start(here.path(), 30, 0);
    let data = here.path().join("gleaner-data");
    run(here.path(), &["crawl"]).ended(0);
    let harvest = archived(&data);
    let crawl = data.join("crawl.redb");
    for (how, lose) in [
        ("missing", (|path: &Path| fs::remove_file(path).unwrap()) as fn(&Path)),
        ("empty", |path| drop(fs::File::create(path).unwrap())),
    ] {
        lose(&crawl);
        for command in [&["status"][..], &["export", "out"], &["verify"], &["coverage"]] {
            let said = format!(
                "crawl.redb: is {how}, but gleaner-data/torrents has files\nhint: restore a copy of it, or run `gleaner"
            );
            run(here.path(), command).ended(1).says(&[&said]);
        }
        run(here.path(), &["verify", "--repair"]).ended(0).says(&[&format!("{} rows added", harvest.len())]);
        run(here.path(), &["verify"]).ended(0).says(&["archive and database agree"]);
        run(here.path(), &["status"])
            .ended(0)
            .says(&[&format!("{} torrents are in the archive, and no site", harvest.len())]);
        assert_eq!(run(here.path(), &["status", "--json"]).ended(0).json()["torrents_without_site"], harvest.len());
        let exported = run(here.path(), &["export", "out", "--json"]).ended(0).json();
        assert_eq!(exported["torrents"], harvest.len(), "{exported}");
    }
    assert_eq!(archived(&data), harvest);
}
