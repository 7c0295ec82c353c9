//! Exports: the same state gives the same bytes, everything in an export matches its manifest, and an interrupted export leaves
//! nothing.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use crate::harvest::{Harvest, NOON, torrent};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CrawlDb, Reader};
use gleaner_store::export::{ExportError, ExportFormat, ExportOptions, ExportSummary, Layout, export};
use sha2::{Digest, Sha256};

const HOSTILE: [&str; 12] = [
    "../../etc/passwd",
    "/etc/passwd",
    "CON",
    "nul.txt",
    "trailing dots...",
    "a\0b",
    "..\\..\\boot.ini",
    "manifest.jsonl",
    "same name",
    "Same Name",
    "\u{202e}gpj.exe",
    "中文种子",
];

fn options(dest: PathBuf) -> ExportOptions {
    ExportOptions { dest, ..ExportOptions::default() }
}

async fn run(harvest: &Harvest, options: &ExportOptions) -> Result<ExportSummary, ExportError> {
    export(&harvest.db, &harvest.archive, options, &mut |_| {}).await
}

/// Torrents of three sites over three days: hostile names, one name for all, one torrent with two sources.
async fn three_sites(order: impl Iterator<Item = u64>) -> Harvest {
    let harvest = Harvest::new();
    // Hosts get their numbers in the order of their first use; the export must not depend on it.
    for number in order {
        let site = ["alpha.example", "beta.example", "gamma.example"][number as usize % 3];
        let name = HOSTILE[number as usize % HOSTILE.len()];
        let at = NOON + number % 5 * 86_400_000;
        harvest.store(&torrent(name, number, "http://t/a"), site, &format!("/d/{number}"), at).await;
    }
    harvest.store(&torrent(HOSTILE[0], 0, "http://t/a"), "beta.example", "/again", NOON + 9 * 86_400_000).await;
    harvest.magnet(0xab, Some("only a name"), "alpha.example", NOON).await;
    harvest
}

/// The content of an export, by path.
fn unpack(dest: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    let mut body = Vec::new();
    if dest.extension().is_some_and(|suffix| suffix == "zip") {
        let mut zip = zip::ZipArchive::new(std::fs::File::open(dest).unwrap()).unwrap();
        for at in 0..zip.len() {
            let mut file = zip.by_index(at).unwrap();
            let name = file.name().unwrap().into_owned();
            assert!(file.enclosed_name().is_some(), "{name}");
            file.read_to_end(&mut body).unwrap();
            files.insert(name, std::mem::take(&mut body));
        }
    } else if dest.is_dir() {
        let mut folders = vec![dest.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    let name = path.strip_prefix(dest).unwrap().to_str().unwrap().to_owned();
                    files.insert(name, std::fs::read(path).unwrap());
                }
            }
        }
    } else {
        let mut tar = tar::Archive::new(zstd::Decoder::new(std::fs::File::open(dest).unwrap()).unwrap());
        for entry in tar.entries().unwrap() {
            let mut entry = entry.unwrap();
            let header = entry.header();
            assert_eq!((header.uid().unwrap(), header.gid().unwrap()), (0, 0));
            assert_eq!((header.mode().unwrap(), header.mtime().unwrap()), (0o644, 0));
            entry.read_to_end(&mut body).unwrap();
            let name = entry.path().unwrap().to_str().unwrap().to_owned();
            assert!(files.insert(name, std::mem::take(&mut body)).is_none());
        }
    }
    files
}

fn lines(files: &BTreeMap<String, Vec<u8>>, name: &str) -> Vec<serde_json::Value> {
    let text = std::str::from_utf8(&files[name]).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Every torrent matches the manifest, and nothing else exists. Returns the manifest.
fn check_manifest(files: &BTreeMap<String, Vec<u8>>) -> Vec<serde_json::Value> {
    let manifest = lines(files, "manifest.jsonl");
    for line in &manifest {
        let body = &files[line["path"].as_str().unwrap()];
        assert_eq!(line["sha256"], data_encoding::HEXLOWER.encode(&Sha256::digest(body)));
        assert_eq!(line["metainfo_bytes"], body.len());
        let facts = crate::harvest::facts_of(body);
        assert_eq!(line["infohash_v1"], facts.infohashes.key_hex());
        assert_eq!(line["name"], *facts.name);
    }
    assert_eq!(files.len(), manifest.len() + 2);
    manifest
}

#[tokio::test]
async fn the_same_state_gives_the_same_bytes_whatever_the_order_of_the_harvest() {
    let (up, down) = (three_sites(0..60).await, three_sites((0..60).rev()).await);
    for name in ["x.tar.zst", "x.zip"] {
        let mut all = Vec::new();
        for harvest in [&up, &up, &down] {
            run(harvest, &options(harvest.path(name))).await.unwrap();
            all.push(std::fs::read(harvest.path(name)).unwrap());
        }
        assert!(all[0] == all[1] && all[1] == all[2], "{name}");
    }
    for harvest in [&up, &down] {
        run(harvest, &options(harvest.path("folder"))).await.unwrap();
    }
    assert!(unpack(&up.path("folder")) == unpack(&down.path("folder")));
}

#[tokio::test]
async fn every_form_and_layout_holds_what_its_manifest_says() {
    let harvest = three_sites(0..60).await;
    for layout in [Layout::Flat, Layout::BySite, Layout::ByDate] {
        let mut manifests = Vec::new();
        for name in ["x.tar.zst", "x.zip", "x"] {
            let dest = harvest.path(&format!("{layout:?}{name}"));
            let summary = run(&harvest, &ExportOptions { layout, ..options(dest.clone()) }).await.unwrap();
            let files = unpack(&dest);
            let manifest = check_manifest(&files);
            assert_eq!((summary.torrents, summary.magnets, manifest.len()), (60, 1, 60));
            assert!(summary.is_complete());
            assert_eq!(lines(&files, "magnets.jsonl")[0]["name"], "only a name");
            manifests.push(files["manifest.jsonl"].clone());
        }
        assert!(manifests[0] == manifests[1] && manifests[1] == manifests[2]);
    }
}

#[tokio::test]
async fn the_manifest_tells_every_source() {
    let harvest = three_sites(0..60).await;
    run(&harvest, &options(harvest.path("x.zip"))).await.unwrap();
    let manifest = check_manifest(&unpack(&harvest.path("x.zip")));
    let twice: Vec<_> = manifest.iter().filter(|line| line["sources"].as_array().unwrap().len() == 2).collect();
    assert_eq!(twice.len(), 1);
    assert_eq!(twice[0]["kind"], "v1");
    assert_eq!(twice[0]["site"], "alpha.example");
    assert_eq!(twice[0]["stored"], "2026-11-20T12:00:00Z");
    assert_eq!(twice[0]["private"], false);
    assert_eq!(
        twice[0]["sources"][1],
        serde_json::json!({
            "site": "beta.example", "url": "https://beta.example/again", "via": "https://beta.example/list",
            "first_seen": "2026-11-29T12:00:00Z", "last_seen": "2026-11-29T12:00:00Z",
        })
    );
}

#[tokio::test]
async fn layouts_put_torrents_into_folders_of_sites_and_days() {
    let harvest = three_sites(0..60).await;
    let folders = async |layout, site: Option<&str>| {
        let dest = harvest.path(&format!("{layout:?}{site:?}"));
        let options = ExportOptions { layout, site: site.map(Into::into), ..options(dest.clone()) };
        run(&harvest, &options).await.unwrap();
        let mut folders: Vec<_> =
            unpack(&dest).into_keys().filter_map(|path| Some(path.split_once('/')?.0.to_owned())).collect();
        folders.dedup();
        folders
    };
    assert_eq!(folders(Layout::Flat, None).await, [""; 0]);
    assert_eq!(folders(Layout::BySite, None).await, ["alpha.example", "beta.example", "gamma.example"]);
    assert_eq!(folders(Layout::BySite, Some("beta.example")).await, ["beta.example"]);
    let days = ["2026-11-20", "2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"];
    assert_eq!(folders(Layout::ByDate, None).await, days);
}

#[tokio::test]
async fn since_and_site_select() {
    let harvest = three_sites(0..60).await;
    let dest = harvest.path("x.zip");
    let since = Some(UnixMillis(NOON + 4 * 86_400_000));
    let summary = run(&harvest, &ExportOptions { since, ..options(dest.clone()) }).await.unwrap();
    assert_eq!((summary.torrents, summary.magnets), (12, 0));
    let site = Some("beta.example".to_owned());
    let summary = run(&harvest, &ExportOptions { site, ..options(dest.clone()) }).await.unwrap();
    // Its own twenty, and the one that alpha had as well.
    assert_eq!((summary.torrents, summary.magnets), (21, 0));
    let site = Some("betta.example".to_owned());
    let error = run(&harvest, &ExportOptions { site, ..options(dest) }).await.unwrap_err();
    assert!(error.to_string().contains("known sites: alpha.example, beta.example"), "{error}");
}

#[tokio::test]
async fn lost_and_damaged_torrents_are_left_out_and_named() {
    let harvest = three_sites(0..60).await;
    let rows = harvest.db.torrents(None, 60).await.unwrap();
    let path = |at: usize| harvest.archive.path_of(&rows[at].facts.infohashes);
    std::fs::remove_file(path(7)).unwrap();
    std::fs::write(path(20), b"d4:infode").unwrap();
    for name in ["x.zip", "x.tar.zst", "x"] {
        let summary = run(&harvest, &options(harvest.path(name))).await.unwrap();
        assert_eq!((summary.torrents, summary.left_out.count), (58, 2));
        assert!(!summary.is_complete());
        assert!(summary.left_out.listed[0].reason.contains("lost"));
        assert_eq!(summary.left_out.listed[0].infohash, rows[7].facts.infohashes.key_hex());
        assert!(summary.left_out.listed[1].reason.contains("damaged"));
        assert_eq!(check_manifest(&unpack(&harvest.path(name))).len(), 58);
    }
}

#[tokio::test]
async fn a_folder_is_brought_up_to_date_without_touching_what_is_right() {
    let harvest = three_sites(0..30).await;
    let dest = harvest.path("out");
    run(&harvest, &options(dest.clone())).await.unwrap();
    let rows = harvest.db.torrents(None, 60).await.unwrap();
    let own = dest.join("notes.txt");
    std::fs::write(&own, "mine").unwrap();
    let lines_before = lines(&unpack(&dest), "manifest.jsonl");
    let altered = dest.join(lines_before[3]["path"].as_str().unwrap());
    std::fs::write(&altered, b"altered").unwrap();
    let gone = dest.join(lines_before[5]["path"].as_str().unwrap());
    harvest.db.forget_torrent(rows[5].facts.infohashes, UnixMillis(NOON)).await.unwrap();
    harvest.store(&torrent("new", 1_000, "http://t/a"), "alpha.example", "/d/new", NOON).await;

    let summary = run(&harvest, &options(dest.clone())).await.unwrap();
    assert_eq!((summary.torrents, summary.unchanged, summary.removed), (30, 28, 1));
    assert!(!gone.exists());
    assert_eq!(std::fs::read(&own).unwrap(), b"mine");
    std::fs::remove_file(&own).unwrap();
    assert_eq!(check_manifest(&unpack(&dest)).len(), 30);

    // Another layout: the files of the previous one are removed with their folders.
    let summary = run(&harvest, &ExportOptions { layout: Layout::BySite, ..options(dest.clone()) }).await.unwrap();
    assert_eq!(summary.removed, 30);
    let summary = run(&harvest, &options(dest.clone())).await.unwrap();
    assert_eq!(summary.removed, 30);
    assert_eq!(check_manifest(&unpack(&dest)).len(), 30);
    assert!(!dest.join("alpha.example").exists());
}

#[tokio::test]
async fn a_manifest_that_was_tampered_with_removes_nothing_outside_the_export() {
    let harvest = three_sites(0..3).await;
    let (dest, victim) = (harvest.path("out"), harvest.path("victim [00000000].torrent"));
    run(&harvest, &options(dest.clone())).await.unwrap();
    std::fs::write(&victim, "mine").unwrap();
    std::os::unix::fs::symlink(harvest.dir.path(), dest.join("link")).unwrap();
    let line = |path: &str| serde_json::json!({"infohash_v1": null, "sha256": "", "path": path}).to_string();
    let evil = ["../victim [00000000].torrent", "link/victim [00000000].torrent", "/etc/hostname"].map(line).join("\n");
    std::fs::write(dest.join("manifest.jsonl"), evil).unwrap();
    let summary = run(&harvest, &options(dest)).await.unwrap();
    assert_eq!(summary.removed, 0);
    assert!(victim.exists());
}

#[tokio::test]
async fn a_folder_with_other_things_in_it_is_refused() {
    let harvest = three_sites(0..3).await;
    let dest = harvest.path("home");
    std::fs::create_dir(&dest).unwrap();
    std::fs::write(dest.join("letter.txt"), "dear").unwrap();
    let error = run(&harvest, &options(dest.clone())).await.unwrap_err();
    assert!(matches!(error, ExportError::NotAnExport { .. }) && error.to_string().contains("hint: "), "{error}");
    std::fs::write(dest.join("manifest.jsonl"), "{\"some\": \"other list\"}\n").unwrap();
    assert!(matches!(run(&harvest, &options(dest.clone())).await, Err(ExportError::NotAnExport { .. })));
    assert_eq!(std::fs::read_dir(&dest).unwrap().count(), 2);
}

#[tokio::test]
async fn an_empty_folder_is_filled() {
    let harvest = three_sites(0..3).await;
    let dest = harvest.path("empty");
    std::fs::create_dir(&dest).unwrap();
    run(&harvest, &options(dest.clone())).await.unwrap();
    assert_eq!(check_manifest(&unpack(&dest)).len(), 3);
}

#[tokio::test]
async fn an_export_that_is_dropped_leaves_nothing() {
    let harvest = three_sites(0..300).await;
    std::fs::write(harvest.path("x.zip"), "PK\x03\x04 the former one").unwrap();
    for name in ["x.zip", "x.tar.zst", "x"] {
        let before = listing(harvest.dir.path());
        let options = options(harvest.path(name));
        // The first page has been written when progress is reported; the second is never requested.
        let (told, hear) = tokio::sync::oneshot::channel::<()>();
        let mut told = Some(told);
        let mut progress = |_| drop(told.take());
        tokio::select! {
            biased;
            _ = hear => {}
            _ = export(&harvest.db, &harvest.archive, &options, &mut progress) => panic!("the export was not interrupted"),
        }
        // The writer sees the end of its rows on its own thread.
        for _ in 0..500 {
            if listing(harvest.dir.path()) == before {
                break;
            }
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        assert_eq!(listing(harvest.dir.path()), before, "{name}");
    }
    assert_eq!(std::fs::read(harvest.path("x.zip")).unwrap(), b"PK\x03\x04 the former one");
}

fn listing(dir: &Path) -> Vec<PathBuf> {
    let mut all: Vec<_> = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()).collect();
    all.sort();
    all
}

#[tokio::test]
async fn what_a_killed_export_left_is_taken_over() {
    let harvest = three_sites(0..20).await;
    std::fs::write(harvest.path(".x.zip.gleaner-part"), vec![7; 100_000]).unwrap();
    std::fs::create_dir_all(harvest.path(".x.gleaner-part/old")).unwrap();
    std::fs::write(harvest.path(".x.gleaner-part/old/x [00000000].torrent"), "half").unwrap();
    for name in ["x.zip", "x"] {
        run(&harvest, &options(harvest.path(name))).await.unwrap();
        assert_eq!(check_manifest(&unpack(&harvest.path(name))).len(), 20);
    }
    let left = listing(harvest.dir.path());
    assert!(!left.iter().any(|path| path.to_string_lossy().contains("gleaner-part")), "{left:?}");
}

#[tokio::test]
async fn links_in_the_place_of_what_is_being_written_are_not_followed() {
    let harvest = three_sites(0..20).await;
    let victim = harvest.path("victim");
    std::fs::write(&victim, "mine").unwrap();
    for name in ["x.zip", "x.tar.zst", "x"] {
        let (dest, process) = (harvest.path(name), std::process::id());
        let spools = if name == "x" { dest.clone() } else { harvest.dir.path().to_owned() };
        if name == "x" {
            run(&harvest, &options(dest.clone())).await.unwrap();
        } else {
            std::os::unix::fs::symlink(&victim, harvest.path(&format!(".{name}.gleaner-part"))).unwrap();
        }
        for list in ["manifest.jsonl", "magnets.jsonl"] {
            std::os::unix::fs::symlink(&victim, spools.join(format!(".{list}.{process}.gleaner-part"))).unwrap();
        }
        std::os::unix::fs::symlink(&victim, spools.join(".manifest.jsonl.gleaner-part")).unwrap();
        run(&harvest, &options(dest.clone())).await.unwrap();
        assert_eq!(std::fs::read(&victim).unwrap(), b"mine", "{name}");
        assert!(!std::fs::symlink_metadata(&dest).unwrap().is_symlink());
        let _ = std::fs::remove_file(spools.join(".manifest.jsonl.gleaner-part"));
        // They do not interfere if a spool needs no name.
        for list in ["manifest.jsonl", "magnets.jsonl"] {
            let _ = std::fs::remove_file(spools.join(format!(".{list}.{process}.gleaner-part")));
        }
        assert_eq!(check_manifest(&unpack(&dest)).len(), 20, "{name}");
    }
}

#[tokio::test]
async fn an_update_that_was_killed_leaves_nothing_to_one_with_another_layout() {
    let harvest = three_sites(0..20).await;
    let dest = harvest.path("out");
    run(&harvest, &options(dest.clone())).await.unwrap();
    let flat = unpack(&dest);
    // As left by a kill between the renames and the manifest: the lists are the previous ones.
    run(&harvest, &ExportOptions { layout: Layout::BySite, ..options(dest.clone()) }).await.unwrap();
    let journal: Vec<u8> =
        lines(&unpack(&dest), "manifest.jsonl").iter().flat_map(|l| format!("{l}\n").into_bytes()).collect();
    std::fs::write(dest.join(".update.gleaner-part"), journal).unwrap();
    std::fs::write(dest.join("alpha.example/.torrent.gleaner-part"), "half").unwrap();
    std::fs::write(dest.join("beta.example/notes.txt"), "mine").unwrap();
    for (path, body) in &flat {
        std::fs::write(dest.join(path), body).unwrap();
    }
    let summary = run(&harvest, &options(dest.clone())).await.unwrap();
    assert_eq!((summary.unchanged, summary.removed), (20, 0));
    assert_eq!(listing(&dest.join("beta.example")), [dest.join("beta.example/notes.txt")]);
    std::fs::remove_dir_all(dest.join("beta.example")).unwrap();
    assert_eq!(unpack(&dest), flat);
    assert_eq!(listing(&dest).len(), flat.len(), "{:?}", listing(&dest));
}

#[tokio::test]
async fn an_update_that_is_dropped_leaves_the_former_export() {
    let harvest = three_sites(0..300).await;
    let dest = harvest.path("out");
    run(&harvest, &ExportOptions { site: Some("alpha.example".to_owned()), ..options(dest.clone()) }).await.unwrap();
    let (before, files) = (unpack(&dest), listing(&dest));
    let options = ExportOptions { layout: Layout::BySite, ..options(dest.clone()) };
    let (told, hear) = tokio::sync::oneshot::channel::<()>();
    let mut told = Some(told);
    let mut progress = |_| drop(told.take());
    tokio::select! {
        biased;
        _ = hear => {}
        _ = export(&harvest.db, &harvest.archive, &options, &mut progress) => panic!("the export was not interrupted"),
    }
    for _ in 0..500 {
        if listing(&dest) == files {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    assert_eq!(listing(&dest), files);
    assert_eq!(unpack(&dest), before);
}

#[tokio::test]
async fn two_exports_to_one_place_do_not_mix() {
    let harvest = three_sites(0..3).await;
    for name in ["x.zip", "x"] {
        let part = harvest.path(&format!(".{name}.gleaner-part"));
        if name == "x" {
            std::fs::create_dir(&part).unwrap()
        } else {
            std::fs::write(&part, "").unwrap()
        }
        let held = std::fs::File::open(&part).unwrap();
        rustix::fs::flock(&held, rustix::fs::FlockOperation::LockExclusive).unwrap();
        assert!(matches!(run(&harvest, &options(harvest.path(name))).await, Err(ExportError::Busy { .. })));
        drop(held);
        run(&harvest, &options(harvest.path(name))).await.unwrap();
    }
}

#[tokio::test]
async fn destinations_that_cannot_be_are_refused_with_a_hint() {
    let harvest = three_sites(0..3).await;
    std::fs::create_dir(harvest.path("dir.zip")).unwrap();
    std::fs::write(harvest.path("file"), "").unwrap();
    for (name, expected) in [
        ("x.tar.gz", ".tar.gz files are not supported"),
        ("x.7z", ".7z files are not supported"),
        ("absent/x.zip", "mkdir -p"),
        ("dir.zip", "is a folder"),
        ("file", "is a file"),
    ] {
        let error = run(&harvest, &options(harvest.path(name))).await.unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("\nhint: "), "{error}");
    }
    let by_hand = ExportOptions { format: Some(ExportFormat::Zip), ..options(harvest.path("x.7z")) };
    assert_eq!(run(&harvest, &by_hand).await.unwrap().format, ExportFormat::Zip);
}

#[tokio::test]
async fn an_empty_archive_exports_to_an_empty_manifest() {
    let harvest = Harvest::new();
    for name in ["x.zip", "x.tar.zst", "x"] {
        let summary = run(&harvest, &options(harvest.path(name))).await.unwrap();
        assert_eq!(summary.torrents, 0);
        assert!(check_manifest(&unpack(&harvest.path(name))).is_empty());
    }
}

#[tokio::test]
async fn progress_is_told_up_to_the_last_row() {
    let harvest = three_sites(0..300).await;
    let mut told = Vec::new();
    export(&harvest.db, &harvest.archive, &options(harvest.path("x.zip")), &mut |at| told.push(at)).await.unwrap();
    assert!(told.windows(2).all(|pair| pair[0].rows < pair[1].rows));
    assert_eq!((told.last().unwrap().rows, told.last().unwrap().torrents), (300, 300));
}

/// A thousand torrents with keys planted wherever a file, a source or a magnet can have one.
#[tokio::test]
async fn what_is_shared_says_nothing_of_where_it_is_from_and_is_the_same_torrent() {
    const KEY: &str = "0123456789abcdef0123456789abcdef";
    let harvest = Harvest::new();
    let mut hashes = std::collections::BTreeSet::new();
    for number in 0..1_000_u64 {
        let plain = torrent(&format!("name {number}"), number, &format!("http://t/{KEY}/announce"));
        // Beside the info dictionary, and in its place in the order of keys.
        let at = plain.windows(6).position(|six| six == b"4:info").unwrap();
        let comment = format!("7:comment{}:http://t/{KEY}10:created by{}:{KEY}", KEY.len() + 9, KEY.len());
        let mut body = [&plain[..at], comment.as_bytes(), &plain[at..plain.len() - 1]].concat();
        body.extend(format!("5:nodesll{}:{KEY}i1eee8:url-list{}:http://s/{KEY}e", KEY.len(), KEY.len() + 9).as_bytes());
        let path = format!("/dl/{number}?passkey={KEY}");
        let facts = harvest.store(&body, "tracker.example", &path, NOON).await;
        hashes.insert(facts.infohashes);
    }
    harvest.magnet(0xab, Some(KEY), "tracker.example", NOON).await;
    let announce = Some("http://mine.example/announce".to_owned());
    for (name, announce) in [("out.zip", None), ("out.tar.zst", announce.clone()), ("folder", announce)] {
        let share = Some(gleaner_store::export::Share { announce: announce.clone(), with_private: false });
        let dest = harvest.path(name);
        let summary = run(&harvest, &ExportOptions { share, ..options(dest.clone()) }).await.unwrap();
        assert_eq!((summary.torrents, summary.magnets, summary.private_left_out), (1_000, 0, 0), "{name}");
        let files = unpack(&dest);
        let mut shared = std::collections::BTreeSet::new();
        for (path, bytes) in &files {
            let has = |text: &[u8]| bytes.windows(text.len()).any(|part| part == text);
            assert!(!has(KEY.as_bytes()) && !has(b"tracker.example"), "{name}: {path}");
            if path.ends_with(".torrent") {
                shared.insert(gleaner_torrent::metainfo::parse(bytes).unwrap().infohashes);
                assert_eq!(has(b"8:announce28:http://mine.example/announce"), announce.is_some(), "{name}: {path}");
            }
        }
        assert_eq!(shared, hashes, "{name}: the same torrents");
        let manifest = String::from_utf8(files["manifest.jsonl"].clone()).unwrap();
        for line in manifest.lines().map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap()) {
            let file = &files[line["path"].as_str().unwrap()];
            let sha256 = data_encoding::HEXLOWER.encode(&Sha256::digest(file));
            assert_eq!((&line["sha256"], &line["metainfo_bytes"]), (&sha256.into(), &file.len().into()), "{line}");
        }
    }
}

#[tokio::test]
async fn private_torrents_are_shared_only_when_asked_for() {
    let harvest = Harvest::new();
    let plain = String::from_utf8(torrent("a", 1, "http://t/a")).unwrap();
    let private = plain.replace("xxxxxxxxxxxxxxxxxxxxe", "xxxxxxxxxxxxxxxxxxxx7:privatei1ee");
    harvest.store(plain.as_bytes(), "a.example", "/1", NOON).await;
    assert!(harvest.store(private.as_bytes(), "a.example", "/2", NOON).await.private);
    for (with_private, torrents, left_out) in [(false, 1, 1), (true, 2, 0)] {
        let share = Some(gleaner_store::export::Share { announce: None, with_private });
        let dest = harvest.path(if with_private { "all.zip" } else { "some.zip" });
        let summary = run(&harvest, &ExportOptions { share, ..options(dest) }).await.unwrap();
        assert_eq!((summary.torrents, summary.private_left_out), (torrents, left_out));
    }
}
