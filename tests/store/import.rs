//! Imports: whatever a torrent comes in, it is in the archive once, with where it is from; what is broken, too large or a lie is told, and nothing of it is done.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::harvest::{Harvest, NOON, facts_of, torrent};
use gleaner_base::clock::UnixMillis;
use gleaner_store::crawldb::{CrawlDb, Reader};
use gleaner_store::export::{ExportOptions, Layout, Share, export};
use gleaner_store::import::{Job, Judged, Summary, import};
use gleaner_torrent::{metainfo, origin};

const NOW: u64 = NOON + 40 * 86_400_000;

/// The rules of a house where a site's only host has its name.
fn judge(site: &str, url: &str) -> Judged {
    match url.strip_prefix("https://").and_then(|rest| rest.split_once('/')) {
        Some((host, path)) if host == site => {
            let is_detail = path.starts_with("about");
            Judged::Known { origin: format!("https://{host}"), path: format!("/{path}"), rank: 15, is_detail }
        }
        _ => Judged::Lie("a manifest lies: a URL is none of its site's hosts"),
    }
}

async fn run(harvest: &Harvest, paths: &[&Path], dry: bool) -> Summary {
    let job = Job {
        paths: paths.iter().map(|path| path.to_path_buf()).collect(),
        source: "import".to_owned(),
        now: UnixMillis(NOW),
        judge: Arc::new(judge),
        spool: harvest.dir.path().to_owned(),
    };
    let archive = (!dry).then(|| Arc::clone(&harvest.archive));
    import(&harvest.db, archive, job, &mut |_| {}).await.unwrap()
}

async fn hashes(harvest: &Harvest) -> BTreeSet<String> {
    let rows = harvest.db.torrents(None, 10_000).await.unwrap();
    rows.into_iter().map(|row| row.facts.infohashes.key_hex()).collect()
}

fn refused(summary: &Summary) -> Vec<(&str, u64)> {
    summary.refused.0.iter().map(|(reason, group)| (*reason, group.count)).collect()
}

fn body(number: u64) -> Vec<u8> {
    torrent(&format!("torrent {number}"), number, "http://t/a")
}

/// Members of an archive: (path, bytes).
type Members = Vec<(String, Vec<u8>)>;

fn tarred(members: &Members) -> Vec<u8> {
    let mut tar = tar::Builder::new(Vec::new());
    for (path, bytes) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(bytes.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, &bytes[..]).unwrap();
    }
    tar.into_inner().unwrap()
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut gz = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    gz.write_all(bytes).unwrap();
    gz.finish().unwrap()
}

fn zipped(members: &Members, method: zip::CompressionMethod) -> Vec<u8> {
    let mut out = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (path, bytes) in members {
        out.start_file(path.as_str(), zip::write::SimpleFileOptions::default().compression_method(method)).unwrap();
        out.write_all(bytes).unwrap();
    }
    out.finish().unwrap().into_inner()
}

#[tokio::test]
async fn whatever_torrents_come_in_they_are_archived_once_with_a_source_and_a_second_run_adds_nothing() {
    let harvest = Harvest::new();
    let here = harvest.path("in");
    fs::create_dir_all(here.join("folder/deep/er")).unwrap();
    let of = |numbers: std::ops::Range<u64>, name: &str| -> Members {
        numbers.map(|number| (format!("{name}/{number}.torrent"), body(number))).collect()
    };
    let long = format!("{}/x.torrent", "long name ".repeat(30).trim());
    let mut members = of(10..13, "tar");
    members.push((long, body(13)));
    members.push(("tar/read.me".to_owned(), b"nothing".to_vec()));
    for (name, bytes) in [
        ("folder/1.torrent", body(1)),
        ("folder/deep/er/no suffix", body(2)),
        ("folder/deep/again.TORRENT", body(1)),
        ("folder/junk.torrent", [b"\xef\xbb\xbf\n", &body(3)[..], b"\n\n"].concat()),
        ("folder/read.me", b"nothing".to_vec()),
        ("folder/in.zip", zipped(&of(4..6, "z"), zip::CompressionMethod::Stored)),
        ("a.tar", tarred(&members)),
        ("b.tar.zst", zstd::encode_all(&tarred(&of(14..16, "./zst"))[..], 3).unwrap()),
        ("c.tgz", gzipped(&tarred(&of(16..18, "gz")))),
        ("d.zip", zipped(&of(18..20, "../../z"), zip::CompressionMethod::Deflated)),
        ("e.torrent.gz", gzipped(&body(20))),
        ("f.torrent", body(21)),
    ] {
        fs::write(here.join(name), bytes).unwrap();
    }
    let list = "# mine\n\nmagnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567&dn=a\r\nmagnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567\n";
    fs::write(here.join("list.txt"), format!("{list}magnet:?xt=urn:btih:{}\n", facts_of(&body(1)).infohashes)).unwrap();
    let paths: Vec<PathBuf> =
        ["folder", "a.tar", "b.tar.zst", "c.tgz", "d.zip", "e.torrent.gz", "f.torrent", "list.txt"]
            .map(|name| here.join(name))
            .into();
    let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();

    let dry = run(&harvest, &paths, true).await;
    assert_eq!((dry.torrents, dry.known, dry.other, hashes(&harvest).await.len()), (17, 1, 2, 0), "{dry:?}");
    let summary = run(&harvest, &paths, false).await;
    assert_eq!((summary.torrents, summary.known, summary.other, summary.urls), (17, 1, 2, 0), "{summary:?}");
    assert_eq!((summary.magnets, summary.magnets_known, refused(&summary)), (1, 2, vec![]), "{summary:?}");
    let numbers = [1, 2, 3, 4, 5].into_iter().chain(10..22);
    let wanted: BTreeSet<String> = numbers.map(|number| facts_of(&body(number)).infohashes.key_hex()).collect();
    assert_eq!(hashes(&harvest).await, wanted);
    for row in harvest.db.torrents(None, 100).await.unwrap() {
        let file = fs::read(harvest.archive.path_of(&row.facts.infohashes)).unwrap();
        assert_eq!((facts_of(&file), &*row.site, row.stored), (row.facts.clone(), "import", UnixMillis(NOW)));
        let source = &row.sources[0];
        assert!(
            source.url.starts_with("import://files/") && !source.url.contains(&*here.to_string_lossy()),
            "{source:?}"
        );
    }
    assert!(!here.parent().unwrap().join("z").exists(), "nothing is extracted");

    let (before, counts) =
        (harvest.db.torrents(None, 100).await.unwrap(), harvest.db.site_counts("import").await.unwrap());
    let again = run(&harvest, &paths, false).await;
    assert_eq!((again.torrents, again.known, again.magnets, again.magnets_known), (0, 18, 0, 3), "{again:?}");
    assert_eq!(harvest.db.torrents(None, 100).await.unwrap(), before);
    assert_eq!(harvest.db.site_counts("import").await.unwrap(), counts);
}

#[tokio::test]
async fn what_is_broken_too_large_nested_or_no_file_is_told_with_its_place_and_the_rest_is_imported() {
    let harvest = Harvest::new();
    let here = harvest.path("in");
    fs::create_dir(&here).unwrap();
    let mut tar = tar::Builder::new(Vec::new());
    for (kind, name) in [
        (tar::EntryType::Symlink, "link.torrent"),
        (tar::EntryType::Link, "hard.torrent"),
        (tar::EntryType::Char, "device.torrent"),
        (tar::EntryType::Fifo, "pipe"),
        (tar::EntryType::Directory, "folder"),
    ] {
        let mut header = tar::Header::new_gnu();
        header.set_entry_type(kind);
        header.set_size(0);
        if matches!(kind, tar::EntryType::Symlink | tar::EntryType::Link) {
            header.set_link_name("/etc/passwd").unwrap();
        }
        tar.append_data(&mut header, name, std::io::empty()).unwrap();
    }
    let good = |number| (format!("good {number}.torrent"), body(number));
    let links = [tar.into_inner().unwrap()[..5 * 512].to_vec(), tarred(&vec![good(1)])].concat();
    let large = vec![b'0'; (16 << 20) + 1];
    let cut = {
        let mut torrent = body(9);
        torrent.truncate(60);
        torrent
    };
    let mut damaged_zip = zipped(&vec![good(2), good(3)], zip::CompressionMethod::Stored);
    let at = damaged_zip.windows(9).position(|window| window == b"torrent 2").unwrap();
    damaged_zip[at] ^= 1;
    let nested = zipped(
        &vec![("in.zip".into(), zipped(&vec![good(8)], zip::CompressionMethod::Stored)), good(4)],
        zip::CompressionMethod::Stored,
    );
    let mut cut_tar = tarred(&vec![good(5), good(6), good(7)]);
    let mut cut_tgz = gzipped(&cut_tar);
    cut_tgz.truncate(cut_tgz.len() - 40);
    // In the middle of the third.
    cut_tar.truncate(4 * 512 + 512 + 50);
    for (name, bytes, wanted) in [
        (
            "links.tar",
            links,
            vec![
                ("devices and pipes are not read", "links.tar!/device.torrent"),
                ("links are not followed", "links.tar!/link.torrent"),
            ],
        ),
        ("large.torrent", large.clone(), vec![("larger than a torrent file may be", "large.torrent")]),
        (
            "large.tar",
            tarred(&vec![("a.torrent".into(), large), good(10)]),
            vec![("larger than a torrent file may be", "large.tar!/a.torrent")],
        ),
        ("cut.torrent", cut, vec![("not bencoded", "cut.torrent: not bencoded: ")]),
        ("page.torrent", b"<html>".to_vec(), vec![("no torrent, or a malformed one", "page.torrent: ")]),
        ("empty.torrent", Vec::new(), vec![("empty", "empty.torrent")]),
        ("named.bin", b"\0\0\0".to_vec(), vec![("no torrent, or a malformed one", "named.bin: ")]),
        ("no.torrent", b"d4:infod4:name1:xee".to_vec(), vec![("no torrent, or a malformed one", "no.torrent: ")]),
        (
            "damaged.zip",
            damaged_zip,
            vec![(
                "cannot be read",
                "damaged.zip!/good 2.torrent: the archive is damaged: the checksum of a member differs",
            )],
        ),
        ("nested.zip", nested, vec![("archives within archives are not read (unpack it first)", "nested.zip!/in.zip")]),
        ("cut.tgz", cut_tgz, vec![("an archive cannot be read to its end", "cut.tgz: ")]),
        (
            "cut.tar",
            cut_tar,
            vec![
                ("an archive cannot be read to its end", "cut.tar: the archive is damaged: it ends within a member"),
                ("not bencoded", "cut.tar!/good 7.torrent: "),
            ],
        ),
        (
            "nothing.zip",
            b"PK\x03\x04nothing".to_vec(),
            vec![("an archive cannot be read to its end", "nothing.zip: the archive is damaged: it has no directory")],
        ),
        (
            "nothing.zst",
            b"\x28\xb5\x2f\xfdnothing".to_vec(),
            vec![("an archive cannot be read to its end", "nothing.zst: ")],
        ),
        (
            "list.txt",
            b"magnet:?xt=urn:btih:0123456789abcdef0123456789abcdef01234567\nmagnet:?dn=x\n\x1b[31m\n".to_vec(),
            vec![("no magnet link", "list.txt:2: ")],
        ),
    ] {
        let path = here.join(name);
        fs::write(&path, bytes).unwrap();
        let summary = run(&harvest, &[&path], false).await;
        for (reason, place) in &wanted {
            let group = summary.refused.0.get(reason).unwrap_or_else(|| panic!("{name}: {summary:?}"));
            assert!(group.first[0].starts_with(place), "{name}: {group:?}");
        }
        assert_eq!(summary.refused.0.len(), wanted.len(), "{name}: {summary:?}");
    }
    let found = hashes(&harvest).await;
    for number in [1, 3, 4, 5, 10] {
        assert!(found.contains(&facts_of(&body(number)).infohashes.key_hex()), "{number} is not imported");
    }
    assert!(
        !found.contains(&facts_of(&body(2)).infohashes.key_hex())
            && !found.contains(&facts_of(&body(8)).infohashes.key_hex())
    );

    // A folder with what is no file, and a path that is none.
    symlink("/etc/passwd", here.join("x.torrent")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        here.join("pipe.torrent"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let summary = run(&harvest, &[&here, &here.join("nowhere"), &here.join("pipe.torrent")], false).await;
    let of = |reason: &str| summary.refused.0.get(reason).map_or(0, |group| group.count);
    // In the archives, too.
    assert_eq!((of("links are not followed"), of("devices and pipes are not read")), (3, 2), "{summary:?}");
    assert!(of("cannot be read") == 3, "{summary:?}");
}

#[tokio::test]
async fn bombs_end_where_they_grow_beyond_reason() {
    let harvest = Harvest::new();
    let zeros = vec![0_u8; 16 << 20];
    // 2 GB of zeros, as one member and as many.
    let mut bomb = zstd::Encoder::new(Vec::new(), 3).unwrap();
    let mut header = tar::Header::new_gnu();
    header.set_size(2 << 30);
    header.set_path("zeros").unwrap();
    header.set_cksum();
    bomb.write_all(header.as_bytes()).unwrap();
    for _ in 0..128 {
        bomb.write_all(&zeros).unwrap();
    }
    let mut members: Members = (0..40).map(|at| (format!("{at}.torrent"), zeros.clone())).collect();
    members.insert(0, ("good.torrent".into(), body(1)));
    for (name, bytes) in [
        ("bomb.tar.zst", bomb.finish().unwrap()),
        ("bomb.zip", zipped(&members, zip::CompressionMethod::Deflated)),
        ("bomb.gz", gzipped(&vec![b'd'; 200 << 20])),
    ] {
        let path = harvest.path(name);
        fs::write(&path, &bytes).unwrap();
        let summary = run(&harvest, &[&path], false).await;
        let told = format!("{summary:?}");
        assert!(
            told.contains("it grows more than 100-fold: the rest is not read") || name == "bomb.gz",
            "{name}: {told}"
        );
        assert!(summary.refused.count() >= 1, "{name}: {told}");
    }
    assert_eq!(hashes(&harvest).await.len(), 1, "what came before is imported");
    // Names without end.
    let mut header = tar::Header::new_gnu();
    header.set_entry_type(tar::EntryType::GNULongName);
    header.set_size(1 << 30);
    header.set_path("././@LongLink").unwrap();
    header.set_cksum();
    let path = harvest.path("name.tar");
    fs::write(&path, header.as_bytes()).unwrap();
    let summary = run(&harvest, &[&path], false).await;
    assert!(format!("{summary:?}").contains("a name is absurdly long"), "{summary:?}");
}

#[tokio::test]
async fn torrents_of_a_bt_backup_get_the_trackers_of_their_resume_files() {
    let harvest = Harvest::new();
    let backup = harvest.path("BT_backup");
    fs::create_dir(&backup).unwrap();
    let with = body(1);
    let info = &body(2)[body(2).windows(6).position(|window| window == b"4:info").unwrap()..];
    let without = [b"d13:creation datei7e", info].concat();
    let resume = "d8:trackersll12:http://one/a12:http://two/ael11:udp://tre/aeee".to_owned();
    for (name, bytes) in [
        ("aa.torrent", with.clone()),
        ("aa.fastresume", resume.clone().into_bytes()),
        ("bb.torrent", without.clone()),
        ("bb.fastresume", resume.into_bytes()),
        ("queue", b"aa\nbb\n".to_vec()),
    ] {
        fs::write(backup.join(name), bytes).unwrap();
    }
    let summary = run(&harvest, &[&backup], false).await;
    assert_eq!(
        (summary.torrents, summary.completed, summary.other, refused(&summary)),
        (2, 1, 3, vec![]),
        "{summary:?}"
    );
    let file = |bytes: &[u8]| fs::read(harvest.archive.path_of(&metainfo::parse(bytes).unwrap().infohashes)).unwrap();
    assert_eq!(file(&with), with);
    let completed = file(&without);
    assert_eq!(origin::read(&completed).unwrap().trackers, ["http://one/a", "http://two/a", "udp://tre/a"]);
    let parsed = metainfo::parse(&completed).unwrap();
    assert_eq!((parsed.infohashes, parsed.created_unix), (metainfo::parse(&without).unwrap().infohashes, Some(7)));
}

/// An archive of two sites, exported; the first torrent is of both.
async fn exported(harvest: &Harvest, name: &str, share: Option<Share>) -> PathBuf {
    for number in 0..6 {
        let site = ["alpha.example", "beta.example"][number as usize % 2];
        harvest.store(&body(number), site, &format!("/d/{number}"), NOON + number * 1_000).await;
    }
    harvest.store(&body(0), "beta.example", "/again", NOON + 90_000).await;
    harvest.magnet(0xab, Some("only a name"), "alpha.example", NOON).await;
    let options = ExportOptions { dest: harvest.path(name), layout: Layout::BySite, share, ..ExportOptions::default() };
    export(&harvest.db, &harvest.archive, &options, &mut |_| {}).await.unwrap();
    options.dest
}

#[tokio::test]
async fn an_export_comes_back_as_it_was_and_its_urls_count_as_visited() {
    for name in ["out", "out.tar.zst", "out.zip"] {
        let from = Harvest::new();
        let dest = exported(&from, name, None).await;
        let to = Harvest::new();
        // One URL waits there to be fetched, and one has been.
        to.store(&body(3), "beta.example", "/d/3", NOON + 5).await;
        let before = to.db.site_counts("beta.example").await.unwrap();
        let summary = run(&to, &[&dest], false).await;
        assert_eq!(
            (summary.torrents, summary.known, summary.urls, refused(&summary)),
            (5, 1, 6, vec![]),
            "{name}: {summary:?}"
        );
        assert_eq!((summary.magnets, summary.other), (1, 0), "{name}");
        let (was, is) = (from.db.torrents(None, 100).await.unwrap(), to.db.torrents(None, 100).await.unwrap());
        for (was, is) in was.iter().zip(&is).filter(|(was, _)| *was.facts.name != *"torrent 3") {
            assert_eq!((&was.facts, &was.site, was.stored), (&is.facts, &is.site, is.stored), "{name}");
            let urls = |row: &gleaner_store::crawldb::TorrentRow| {
                row.sources.iter().map(|of| (of.url.clone(), of.via.clone(), of.first_seen)).collect::<Vec<_>>()
            };
            assert_eq!(urls(was), urls(is), "{name}");
        }
        for (site, path) in [("alpha.example", "/d/0"), ("beta.example", "/again"), ("beta.example", "/d/5")] {
            let host = to.db.host_id(site, &format!("https://{site}")).await.unwrap();
            let key = gleaner_store::crawldb::UrlKey { host, path: path.into() };
            assert!(to.db.url_record(&key).await.unwrap().unwrap().outcome.is_some(), "{name} {path}");
        }
        let magnet = &to.db.magnets(None, 10).await.unwrap()[0];
        assert_eq!((&*magnet.site, magnet.facts.name.as_deref()), ("alpha.example", Some("only a name")));
        let counts = to.db.site_counts("beta.example").await.unwrap();
        assert_eq!((before.torrents, counts.torrents, counts.urls_queued), (1, 3, 0), "{name}");
        let again = run(&to, &[&dest], false).await;
        assert_eq!((again.torrents, again.known, again.urls), (0, 6, 0), "{name}: {again:?}");
        assert_eq!(to.db.site_counts("beta.example").await.unwrap(), counts);
        // What is shared says nothing of where it is from.
        let dest = exported(&from, &format!("shared-{name}"), Some(Share::default())).await;
        let other = Harvest::new();
        let summary = run(&other, &[&dest], false).await;
        assert_eq!((summary.torrents, summary.urls, refused(&summary)), (6, 0, vec![]), "{name}: {summary:?}");
    }
}

#[tokio::test]
async fn a_manifest_that_lies_is_told_and_the_file_decides() {
    let from = Harvest::new();
    let dest = exported(&from, "out", None).await;
    let manifest = dest.join("manifest.jsonl");
    let text = fs::read_to_string(&manifest).unwrap();
    let key = facts_of(&body(2)).infohashes.key_hex();
    let other = facts_of(&body(4)).infohashes.key_hex();
    let of_torrent = |change: &dyn Fn(&str) -> String| -> String {
        text.lines().map(|line| if line.contains(&format!("\"infohash_v1\":\"{key}\"")) { change(line) } else { line.to_owned() } + "\n").collect()
    };
    let infohash = "a manifest lies: the file has another infohash (imported without what it says)";
    let url = "a manifest lies: a URL is none of its site's hosts";
    let time = "a manifest lies: a time is in the future, or none (now is taken)";
    for (changed, reason, site, is_url) in [
        (
            of_torrent(&|line| {
                line.replace(&format!("\"infohash_v1\":\"{key}\""), &format!("\"infohash_v1\":\"{other}\""))
            }),
            infohash,
            "import",
            false,
        ),
        (
            of_torrent(&|line| {
                line.replace("\"infohash_v2\":null", &format!("\"infohash_v2\":\"{}\"", "ab".repeat(32)))
            }),
            infohash,
            "import",
            false,
        ),
        (
            of_torrent(&|line| line.replace("\"sha256\":\"", "\"sha256\":\"00")),
            "a manifest lies: the file has another sha256 (imported without what it says)",
            "import",
            false,
        ),
        (of_torrent(&|line| line.replace("https://alpha.example/d/", "https://beta.example/d/")), url, "import", false),
        (of_torrent(&|line| line.replace("https://alpha.example/d/", "file:///etc/")), url, "import", false),
        (of_torrent(&|line| line.replace("\"stored\":\"2026-", "\"stored\":\"9026-")), time, "alpha.example", true),
        (of_torrent(&|line| line.replace("\"stored\":\"2026-", "\"stored\":\"never-")), time, "alpha.example", true),
        (
            of_torrent(&|line| line.replace("\"site\":\"alpha.example\"", "\"site\":\"../../x\"")),
            "a manifest has a site's name that cannot be one",
            "import",
            false,
        ),
        (of_torrent(&|_| "not a line".to_owned()), "a manifest has lines that are none", "import", false),
        (
            text.clone() + &text.lines().next().unwrap().replace(".torrent\"}", "x.torrent\"}") + "\n",
            "a manifest names files that are not there",
            "alpha.example",
            true,
        ),
    ] {
        fs::write(&manifest, &changed).unwrap();
        let to = Harvest::new();
        let summary = run(&to, &[&dest], false).await;
        assert_eq!((summary.torrents, refused(&summary)), (6, vec![(reason, 1)]), "{reason}: {summary:?}");
        let row =
            to.db.torrents_at(vec![facts_of(&body(2)).infohashes.key().to_vec()]).await.unwrap().remove(0).unwrap();
        assert_eq!((&*row.site, row.sources[0].url.starts_with("https://")), (site, is_url), "{reason}");
        assert!(row.stored <= UnixMillis(NOW), "{reason}");
    }
    // One of another program, and one that is none.
    for text in ["{\"path\":\"x\"}\n", "hello\n", ""] {
        fs::write(&manifest, text).unwrap();
        let summary = run(&Harvest::new(), &[&dest], false).await;
        assert_eq!((summary.torrents, summary.urls), (6, 0), "{summary:?}");
    }
}

#[tokio::test]
async fn urls_without_the_keys_of_a_member_keep_their_site_and_are_asked_for_again() {
    let from = Harvest::new();
    from.store(&body(1), "members.example", "/dl?id=1&passkey=0123", NOON).await;
    let options = ExportOptions { dest: from.path("out"), ..ExportOptions::default() };
    export(&from.db, &from.archive, &options, &mut |_| {}).await.unwrap();
    let to = Harvest::new();
    let summary = run(&to, &[&options.dest], false).await;
    assert_eq!(
        (summary.torrents, summary.urls, summary.urls_masked, refused(&summary)),
        (1, 0, 1, vec![]),
        "{summary:?}"
    );
    let row = &to.db.torrents(None, 10).await.unwrap()[0];
    assert_eq!((&*row.site, row.stored), ("members.example", UnixMillis(NOON)));
    assert!(row.sources[0].url.starts_with("import://files/"), "{row:?}");
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(300))]
    #[test]
    fn no_bytes_break_an_archive_reader(cut in 0_usize..4_000, at in 0_usize..4_000, byte in 0_u8.., which in 0_usize..3) {
        let members: Members = (0..3).map(|number| (format!("n/{number}.torrent"), body(number))).collect();
        let mut bytes = match which {
            0 => tarred(&members),
            1 => zipped(&members, zip::CompressionMethod::Deflated),
            _ => zstd::encode_all(&tarred(&members)[..], 3).unwrap(),
        };
        let length = bytes.len();
        bytes[at % length] = byte;
        if cut % 2 == 0 {
            bytes.truncate(cut % length);
        }
        let harvest = Harvest::new();
        let path = harvest.path("x");
        File::create(&path).unwrap().write_all(&bytes).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let summary = runtime.block_on(run(&harvest, &[&path], false));
        // A changed byte of a tar archive's member makes another torrent, or none.
        proptest::prop_assert!(summary.torrents <= 3);
    }
}

#[tokio::test]
async fn an_archive_whose_checksum_differs_brings_nothing() {
    let from = Harvest::new();
    for number in 0..20 {
        from.store(&body(number), "a.example", &format!("/d/{number}"), NOON).await;
    }
    let options = ExportOptions { dest: from.path("out.tar.zst"), ..ExportOptions::default() };
    export(&from.db, &from.archive, &options, &mut |_| {}).await.unwrap();
    let mut bytes = std::fs::read(&options.dest).unwrap();
    // The checksum of the frame is its last four bytes.
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(&options.dest, bytes).unwrap();
    let to = Harvest::new();
    let summary = run(&to, &[&options.dest], false).await;
    assert_eq!((summary.torrents, to.db.torrents(None, 9).await.unwrap().len()), (0, 0));
    let told = serde_json::to_string(&summary.refused).unwrap();
    assert!(told.contains("checksum"), "{told}");
}
