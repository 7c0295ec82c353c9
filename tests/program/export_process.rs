//! `gleaner export` as a process: killed at any moment, out of disk space, and read by other programs.

#[path = "../store/harvest/mod.rs"]
mod harvest;

use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use gleaner::app;
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb, Outcome, UrlKey, Visit};
use gleaner_torrent::archive::Archive;
use harvest::{NOON, facts_of, torrent};
use tempfile::TempDir;

/// A data folder with this many torrents, as `gleaner crawl` leaves it.
async fn data_folder(torrents: u64) -> TempDir {
    let dir = TempDir::new().unwrap();
    let data = dir.path().join("data");
    std::fs::create_dir(&data).unwrap();
    let db = RedbStore::open(&app::database_path(&data), OpenOptions::default()).unwrap();
    let archive = Archive::open(app::archive_path(&data), false).unwrap();
    let host = db.host_id("alpha.example", "https://alpha.example").await.unwrap();
    let bodies: Vec<_> =
        (0..torrents).map(|number| torrent(&format!("torrent {number}"), number, "http://t/a")).collect();
    let files: Vec<_> = bodies.iter().map(|body| (facts_of(body).infohashes, &body[..])).collect();
    archive.store_batch(&files).unwrap();
    let visits = bodies.iter().enumerate().map(|(number, body)| Visit {
        depth: 1,
        body_bytes: body.len() as u64,
        torrent: Some(facts_of(body)),
        ..Visit::new(UrlKey { host, path: format!("/d/{number}").into() }, UnixMillis(NOON), Outcome::TorrentStored)
    });
    db.record_visits(visits.collect::<Vec<_>>().into()).await.unwrap();
    dir
}

fn gleaner(dir: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.args(arguments).arg("--data").arg(dir.join("data")).current_dir(dir);
    command
}

fn run(dir: &Path, arguments: &[&str]) -> Output {
    gleaner(dir, arguments).output().unwrap()
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

#[tokio::test]
async fn sigkill_at_any_moment_leaves_the_former_export_or_the_new_one() {
    let dir = data_folder(1_500).await;
    let dir = dir.path();
    let whole = run(dir, &["export", "whole.zip", "--json"]);
    assert!(whole.status.success(), "{}", text(&whole));
    let whole = std::fs::read(dir.join("whole.zip")).unwrap();
    for (name, millis) in ["x.zip", "x.tar.zst", "x"].into_iter().zip([0, 20, 7].into_iter().cycle()) {
        let dest = dir.join(name);
        let mut killed = 0;
        for kill in 0..8 {
            let mut child =
                gleaner(dir, &["export", name]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
            std::thread::sleep(Duration::from_millis(millis + kill * 25));
            child.kill().unwrap();
            killed += u32::from(!child.wait().unwrap().success());
            if dest.is_dir() {
                // Complete: the manifest is the last file written to a folder before it gets its name.
                let manifest = std::fs::read_to_string(dest.join("manifest.jsonl")).unwrap();
                assert_eq!(manifest.lines().count(), 1_500);
                assert_eq!(std::fs::read_dir(&dest).unwrap().count(), 1_502);
                std::fs::remove_dir_all(&dest).unwrap();
            } else if dest.exists() {
                let bytes = std::fs::read(&dest).unwrap();
                assert!(name != "x.zip" || bytes == whole, "{name}");
                std::fs::remove_file(&dest).unwrap();
            }
        }
        assert!(killed > 0, "every export ended before it was killed");
        // Leftovers of killed exports do not interfere, and are gone afterwards.
        let last = run(dir, &["export", name]);
        assert!(last.status.success(), "{}", text(&last));
    }
    assert!(std::fs::read(dir.join("x.zip")).unwrap() == whole);
    let left: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert!(!left.iter().any(|name| name.to_string_lossy().contains("gleaner-part")), "{left:?}");
}

#[tokio::test]
async fn status_is_answered_while_an_export_reads_the_data_folder() {
    let dir = data_folder(1_500).await;
    let dir = dir.path();
    let has_begun = || {
        let mut names = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name());
        names.any(|name| name.to_string_lossy().contains("gleaner-part"))
    };
    let mut answered = 0;
    for _ in 0..20 {
        let mut export =
            gleaner(dir, &["export", "x.zip"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while !has_begun() && export.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(1));
        }
        let status = gleaner(dir, &["status", "--json"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let status = status.wait_with_output().unwrap();
        answered += u32::from(export.try_wait().unwrap().is_none() && status.status.success());
        assert!(export.wait().unwrap().success());
        if answered > 0 {
            return;
        }
    }
    panic!("no status was answered while an export ran");
}

#[tokio::test]
async fn an_export_that_runs_out_of_room_says_so_and_takes_itself_away() {
    let dir = data_folder(500).await;
    let dir = dir.path();
    std::fs::write(dir.join("x.zip"), "PK\x03\x04 the former one").unwrap();
    let data = dir.join("data");
    for name in ["x.zip", "x.tar.zst"] {
        // Files of at most 20 blocks of 512 or 1,024 bytes; the signal is ignored, so that writing fails.
        let script = format!("trap '' XFSZ; ulimit -f 20; exec \"$0\" export {name} --data \"$1\"");
        let gleaner = env!("CARGO_BIN_EXE_gleaner");
        let output = Command::new("sh").args(["-c", &script, gleaner]).arg(&data).current_dir(dir).output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", text(&output));
        let said =
            "the limit on the size of files is reached; the unfinished export was removed\nhint: raise it: `ulimit -f";
        assert!(text(&output).contains(said), "{}", text(&output));
        let left: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(left.len(), 2, "{left:?}");
    }
    assert_eq!(std::fs::read(dir.join("x.zip")).unwrap(), b"PK\x03\x04 the former one");
}

#[tokio::test]
async fn export_verify_and_coverage_work_on_a_real_store() {
    let dir = data_folder(300).await;
    let dir = dir.path();
    let infohashes = facts_of(&torrent("torrent 7", 7, "http://t/a")).infohashes;
    let lost = Archive::open(app::archive_path(&dir.join("data")), false).unwrap().path_of(&infohashes);
    std::fs::remove_file(&lost).unwrap();

    let exported = run(dir, &["export", "out", "--layout", "by-site", "--since", "2026-11-01", "--json"]);
    assert_eq!(exported.status.code(), Some(1));
    let summary: serde_json::Value = serde_json::from_slice(&exported.stdout).unwrap();
    assert_eq!((&summary["torrents"], &summary["left_out"]["count"]), (&299.into(), &1.into()));

    let verified = run(dir, &["verify"]);
    assert_eq!(verified.status.code(), Some(1));
    assert!(text(&verified).contains("missing: 1") && text(&verified).contains("hint: gleaner verify --repair"));
    let repaired = run(dir, &["verify", "--repair", "--json"]);
    assert!(repaired.status.success());
    let verdict: serde_json::Value = serde_json::from_slice(&repaired.stdout).unwrap();
    assert_eq!((&verdict["missing"]["count"], &verdict["repaired"]["forgotten"]), (&1.into(), &1.into()));
    assert!(text(&run(dir, &["verify"])).contains("archive and database agree"));
    assert!(run(dir, &["export", "out", "--layout", "by-site"]).status.success());

    let coverage = run(dir, &["coverage", "alpha.example", "--json"]);
    let coverage: serde_json::Value = serde_json::from_slice(&coverage.stdout).unwrap();
    let coverage = &coverage["sites"][0];
    assert_eq!((&coverage["ci"], &coverage["nt"]), (&299.into(), &serde_json::Value::Null));
    let misspelt = run(dir, &["coverage", "alpa.example"]);
    assert_eq!(misspelt.status.code(), Some(1));
    assert!(text(&misspelt).contains("did you mean alpha.example?"), "{}", text(&misspelt));
}
