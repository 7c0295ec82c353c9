//! `gleaner backup` and `gleaner restore`: while a crawl writes, over kills, and with backups that are not what they should be.
//!
//! `GLEANER_BACKUPS` sets the number of backups, `GLEANER_BACKUP_KILLS` that of those that are killed, `GLEANER_KILL_SEED` makes the
//! times reproducible.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::cli::harness::{
    BINARY, Ran, Service, Site, archived, folder, run, truth, wait_for, with_default_signals, with_own_mounts,
};

/// Backups in one run of the tests, and those of them that are killed.
const BACKUPS: u64 = 5;
const KILLS: u64 = 2;

/// Torrents of the demo site: a crawl at full speed takes some seconds.
const TORRENTS: usize = 1_500;

/// Longest life of a process that makes a backup: some hit its start, some the databases, some the torrents.
const LIFE_MAX_US: u64 = 400_000;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable)
        .map_or(default, |text| text.parse().unwrap_or_else(|error| panic!("{variable}={text}: {error}")))
}

fn backup(here: &Path, more: &[&str]) -> Ran {
    run(here, &[&["backup", "--data", "data", "--rules", "rules"], more].concat())
}

/// Names of the finished states, the oldest first.
fn states(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| name.starts_with("20")).collect();
    names.sort_by_key(|name| (name[..16].to_owned(), name.get(17..).map_or(0, |of| of.parse::<u32>().unwrap())));
    names
}

/// Restores to a new folder; what is there is whole for `verify`, and `search` finds all of it. Returns its torrents.
#[track_caller]
fn restored(here: &Path, from: &str) -> BTreeSet<String> {
    let there = folder();
    let data = there.path().join("data");
    let data_text = data.to_str().unwrap();
    let told = run(here, &["restore", from, "--data", data_text, "--json"]).ended(0).json();
    let verdict = run(here, &["verify", "--data", data_text, "--json"]).ended(0).json();
    let torrents = verdict["torrents"].as_u64().unwrap();
    assert_eq!(verdict["whole"], torrents, "{verdict}");
    assert_eq!(told["torrents"], torrents, "{told}");
    for kind in ["missing", "damaged", "orphans", "misplaced", "foreign"] {
        assert_eq!(verdict[kind]["count"], 0, "{kind}: {verdict}");
    }
    let found = run(here, &["search", "--data", data_text, "--json", "--limit", "1"]).ended(0).json();
    assert_eq!((&found["total"], &found["archived"]), (&verdict["torrents"], &verdict["torrents"]), "{found}");
    archived(&data)
}

/// A crawl that serves its folder, and is killed with its test.
struct Crawl(Child);

impl Crawl {
    fn start(here: &Path) -> Self {
        let child = with_default_signals(BINARY)
            .current_dir(here)
            .args(["crawl", "demo", "--data", "data", "--rules", "rules", "--json"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        Self(child)
    }

    fn is_over(&mut self) -> bool {
        self.0.try_wait().unwrap().is_some()
    }
}

impl Drop for Crawl {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A small reproducible generator (splitmix64).
fn below(state: &mut u64, max: u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut mixed = *state;
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    (mixed ^ (mixed >> 31)) % max
}

#[test]
fn each_finished_backup_of_a_crawl_at_full_speed_restores_whole_and_a_killed_one_leaves_the_former() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, TORRENTS, 0);
    let (wanted, kills) = (number("GLEANER_BACKUPS", BACKUPS), number("GLEANER_BACKUP_KILLS", KILLS));
    let mut seed = number("GLEANER_KILL_SEED", 1);
    let (mut crawl, mut killed, mut during) = (Crawl::start(here), 0, 0);
    for round in 0..wanted {
        wait_for("the crawl serves its folder", || {
            if crawl.is_over() {
                // From the beginning: a backup of a folder that rests would prove less.
                fs::remove_dir_all(here.join("data")).unwrap();
                crawl = Crawl::start(here);
            }
            here.join("data/control.sock").exists().then_some(())
        });
        let former = states(&here.join("backups"));
        if killed < kills && round % 5 % 2 == 1 {
            let mut asking = Command::new(BINARY)
                .current_dir(here)
                .args(["backup", "backups", "--data", "data", "--rules", "rules"])
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            std::thread::sleep(Duration::from_micros(below(&mut seed, LIFE_MAX_US)));
            let _ = asking.kill();
            drop(crawl);
            asking.wait().unwrap();
            killed += 1;
            let now = states(&here.join("backups"));
            assert!(former.iter().all(|name| now.contains(name)), "{former:?}, then {now:?}");
            crawl = Crawl::start(here);
        } else {
            during += u64::from(!crawl.is_over());
            backup(here, &["backups"]).ended(0);
            assert_eq!(states(&here.join("backups")).len(), former.len() + 1, "{former:?}");
        }
        if let Some(newest) = states(&here.join("backups")).last() {
            restored(here, &format!("backups/{newest}"));
        }
    }
    assert!(during > 0 && killed == kills, "{during} backups while crawling, {killed} of {kills} killed");
    // The last one has all, and costs what is new.
    wait_for("the crawl is over", || crawl.is_over().then_some(()));
    let last = backup(here, &["backups", "--keep", "2", "--json"]).ended(0).json();
    assert_eq!(restored(here, "backups"), truth(here));
    assert_eq!(states(&here.join("backups")).len(), 2, "{last}");
    assert!(!here.join("backups").join(".part").exists());
    let leftovers: Vec<_> = fs::read_dir(here.join("backups/torrents/.tmp")).unwrap().collect();
    assert!(leftovers.is_empty(), "{leftovers:?}");
    let again = backup(here, &["backups", "--json"]).ended(0).json();
    assert_eq!((&again["new_torrents"], &again["torrents"]), (&0.into(), &last["torrents"]), "{again}");
}

/// A crawled folder `data` with rule files.
fn crawled(here: &Path, torrents: usize) {
    let _site = Site::start(here, torrents, 0);
    run(here, &["crawl", "demo", "--data", "data", "--rules", "rules"]).ended(0);
}

/// The one file below a folder that ends so.
fn file_below(folder: &Path, end: &str) -> PathBuf {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.to_string_lossy().ends_with(end) {
                return path;
            }
        }
    }
    panic!("{}: no {end}", folder.display())
}

#[test]
fn an_archive_and_a_folder_hold_the_same_and_secrets_only_on_demand() {
    let here = folder();
    let here = here.path();
    crawled(here, 60);
    for (path, text) in [("secrets/demo", "geheim"), ("sessions/demo.json", "[]"), ("handover/box", "x\n")] {
        fs::create_dir_all(here.join("data").join(path).parent().unwrap()).unwrap();
        fs::write(here.join("data").join(path), text).unwrap();
    }
    fs::write(here.join("gleaner.toml"), "contact = \"a@b.example\"\n").unwrap();
    let told = backup(here, &["plain"]).ended(0).says(&["60 torrents, 60 of them new, 60 as links", "--with-secrets"]);
    assert!(!told.out.contains("geheim"), "{}", told.out);
    backup(here, &["whole.tar.zst", "--with-secrets"]).ended(0);
    let mode = fs::metadata(here.join("whole.tar.zst")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600, "it holds secrets");
    // Once more, in the place of the former.
    backup(here, &["whole.tar.zst", "--with-secrets"]).ended(0);
    assert_eq!(restored(here, "plain"), restored(here, "whole.tar.zst"));

    // Links, and not copies.
    let name = fs::read_dir(here.join("plain/torrents")).unwrap().count();
    assert!(name > 1);
    assert_eq!(fs::metadata(file_below(&here.join("plain/torrents"), ".torrent")).unwrap().nlink(), 2);

    run(here, &["restore", "plain", "--data", "a"]).ended(0).says(&["a/restored", "no passwords"]);
    // All that was known of the site, and not its torrents alone.
    for words in [["status", "--json"], ["coverage", "--json"]] {
        let [before, after] =
            ["data", "a"].map(|data| run(here, &[&words[..], &["--data", data]].concat()).ended(0).json());
        assert!(before["sites"].as_array().is_some_and(|sites| !sites.is_empty()), "{before}");
        assert_eq!(before["sites"], after["sites"]);
    }
    assert!(!here.join("a/secrets").exists() && !here.join("a/sessions").exists());
    assert_eq!(fs::read_to_string(here.join("a/handover/box")).unwrap(), "x\n");
    let rules = [here.join("a/restored/rules/demo.toml"), here.join("rules/demo.toml")];
    assert_eq!(fs::read_to_string(&rules[0]).unwrap(), fs::read_to_string(&rules[1]).unwrap());
    assert!(fs::read_to_string(here.join("a/restored/config/gleaner.toml")).unwrap().contains("a@b.example"));
    run(here, &["restore", "whole.tar.zst", "--data", "b"]).ended(0);
    let secret = here.join("b/secrets/demo");
    assert_eq!(fs::read_to_string(&secret).unwrap(), "geheim");
    assert_eq!(fs::metadata(&secret).unwrap().mode() & 0o777, 0o600);
    assert!(here.join("b/sessions/demo.json").exists());
    let last = fs::read_to_string(here.join("data/backup-last")).unwrap();
    let first = last.lines().next().unwrap().split(' ').next().unwrap();
    assert!(first.parse::<u64>().unwrap() > 1_700_000_000_000, "{last}");

    // A lost file is told, and the rest is backed up.
    fs::remove_file(file_below(&here.join("data/torrents"), ".torrent")).unwrap();
    backup(here, &["less"]).ended(1).says(&["59 torrents", "1 torrents are not in it", "gleaner verify --repair"]);
    run(here, &["restore", "less", "--data", "c"]).ended(1).says(&["1 torrents have no file", "verify --repair"]);
}

#[test]
fn a_restore_refuses_what_is_damaged_newer_foreign_or_cut_off_and_leaves_the_folder_empty() {
    let here = folder();
    let here = here.path();
    crawled(here, 40);
    backup(here, &["backups"]).ended(0);
    backup(here, &["packed.tar.zst"]).ended(0);
    let state = here.join("backups").join(&states(&here.join("backups"))[0]);
    let refused = |from: &str, told: &[&str]| {
        run(here, &["restore", from, "--data", "new"]).ended(1).says(told).says(&["hint: "]);
        assert!(!here.join("new").exists() || fs::read_dir(here.join("new")).unwrap().next().is_none(), "{from}");
    };
    // Each fault, undone again.
    let faults: [(&str, &str, &[&str]); 4] = [
        ("crawl.redb", "", &["crawl.redb: is damaged: its checksum differs"]),
        ("manifest.json", "\"form\": 1→\"form\": 99", &["was made by a newer gleaner", "update gleaner"]),
        ("manifest.json", "\"schema\": →\"schema\": 9", &["was made by a newer gleaner", "update gleaner"]),
        ("manifest.json", "\"path\": \"update.redb\"→\"path\": \"../update.redb\"", &["is no path of a backup"]),
    ];
    for (name, change, told) in faults {
        let whole = fs::read(state.join(name)).unwrap();
        let changed = match change.split_once('→') {
            Some((from, to)) => String::from_utf8(whole.clone()).unwrap().replace(from, to).into_bytes(),
            None => [&whole[..5_000], &[!whole[5_000]], &whole[5_001..]].concat(),
        };
        assert_ne!(whole, changed, "{change}");
        fs::write(state.join(name), changed).unwrap();
        refused("backups", told);
        fs::write(state.join(name), &whole[..whole.len() / 2]).unwrap();
        refused("backups", &["is damaged"]);
        fs::write(state.join(name), whole).unwrap();
    }
    let torrent = file_below(&here.join("backups/torrents"), ".torrent");
    let whole = fs::read(&torrent).unwrap();
    fs::remove_file(&torrent).unwrap();
    refused("backups", &["is damaged: it is missing", "--skip-damaged"]);
    fs::write(&torrent, [b"x", &whole[1..]].concat()).unwrap();
    refused("backups", &["its content is not that of its name", "--skip-damaged"]);
    let told = run(here, &["restore", "backups", "--data", "less", "--skip-damaged"]).ended(1);
    told.says(&["39 torrents", "1 torrents have no file: they are damaged in the backup"]);
    fs::write(&torrent, whole).unwrap();

    let packed = fs::read(here.join("packed.tar.zst")).unwrap();
    for bytes in [packed.len() / 3, packed.len() * 9 / 10, packed.len() - 1] {
        fs::write(here.join("cut.tar.zst"), &packed[..bytes]).unwrap();
        refused("cut.tar.zst", &["is damaged"]);
    }
    let mut changed = packed.clone();
    changed[packed.len() / 2] ^= 1;
    fs::write(here.join("cut.tar.zst"), changed).unwrap();
    refused("cut.tar.zst", &["is damaged"]);

    run(here, &["export", "export.tar.zst", "--data", "data"]).ended(0);
    fs::create_dir(here.join("empty")).unwrap();
    for foreign in ["export.tar.zst", "rules/demo.toml", "data", "empty", "rules"] {
        refused(foreign, &["this is no backup of gleaner"]);
    }
    for nowhere in ["nothing", "nothing.tar.zst", "rules/demo.toml/x"] {
        refused(nowhere, &[&format!("{nowhere}: there is no such file or folder")]);
    }
    run(here, &["restore", "backups", "--data", "data"]).ended(1).says(&["is not empty", "pass another --data"]);
    assert_eq!(restored(here, "backups").len(), 40, "all was undone");
    assert_eq!(restored(here, "packed.tar.zst").len(), 40);
}

#[test]
fn a_torrent_that_is_damaged_in_the_backup_is_written_again_when_its_turn_comes() {
    let here = folder();
    let here = here.path();
    crawled(here, 20);
    backup(here, &["backups"]).ended(0);
    let torrent = file_below(&here.join("backups/torrents"), ".torrent");
    let whole = fs::read(&torrent).unwrap();
    // Another file of the same length: the one that is there is a link to the archive's.
    fs::remove_file(&torrent).unwrap();
    fs::write(&torrent, [b"x", &whole[1..]].concat()).unwrap();
    let first = torrent.file_name().unwrap().to_str().unwrap()[..2].to_owned();
    let share = u8::from_str_radix(&first, 16).unwrap();
    for (last, is_whole) in [(share, false), (share.wrapping_sub(1), true)] {
        fs::write(here.join("backups/torrents/.checked"), last.to_string()).unwrap();
        backup(here, &["backups"]).ended(0);
        assert_eq!(fs::read(&torrent).unwrap() == whole, is_whole, "{last}");
    }
    assert_eq!(restored(here, "backups").len(), 20);
}

#[test]
fn a_destination_that_cannot_take_a_backup_is_named_with_the_fix() {
    let here = folder();
    let here = here.path();
    crawled(here, 20);
    fs::create_dir(here.join("other")).unwrap();
    fs::write(here.join("other/file"), "x").unwrap();
    fs::write(here.join("text.tar.zst"), "my only thesis").unwrap();
    fs::create_dir(here.join("folder.tar.zst")).unwrap();
    std::os::unix::fs::symlink("data", here.join("link")).unwrap();
    for (to, told) in [
        ("data/backups", "which is backed up itself"),
        ("link/backups", "which is backed up itself"),
        ("data", "which is backed up itself"),
        ("data/b.tar.zst", "which is backed up itself"),
        ("rules/below", "which is backed up itself"),
        ("other", "is a folder with other things in it"),
        ("other/file", "is a file"),
        ("other/file/below", "is a file"),
        ("text.tar.zst", "this is no backup of gleaner"),
        ("folder.tar.zst", "is a folder"),
        ("/sys/backups", "cannot be written"),
        ("/", "this cannot be the folder of backups"),
        ("x.zip", "its name is that of an archive of another kind"),
        ("x.tar.gz", "its name is that of an archive of another kind"),
        ("X.TAR.ZST", "its name is that of an archive of another kind"),
    ] {
        let ran = backup(here, &[to]);
        assert_eq!(ran.code, Some(1), "{to}: {} {}", ran.out, ran.err);
        assert!(ran.err.contains(told) && ran.err.contains("hint: "), "{to}: {}", ran.err);
    }
    assert_eq!(fs::read_to_string(here.join("text.tar.zst")).unwrap(), "my only thesis");
    assert!(!here.join("x.zip").exists());
    run(here, &["backup", "--data", "none"]).ended(1).says(&["no destination", "hint: gleaner backup /srv"]);
    run(here, &["backup", "x", "--data", "none"]).ended(1).says(&["there is no such folder"]);
    backup(here, &["x", "--keep", "0"]).ended(2);
    // While another process writes there.
    backup(here, &["busy"]).ended(0);
    let held = fs::File::open(here.join("busy")).unwrap();
    held.lock().unwrap();
    backup(here, &["busy"]).ended(1).says(&["another backup is writing there", "wait for its end"]);
    run(here, &["restore", "busy", "--data", "new"]).ended(1).says(&["a backup is writing there", "wait for its end"]);
    drop(held);
    backup(here, &["busy"]).ended(0);
    assert_eq!(states(&here.join("busy")).len(), 2);
}

#[test]
fn the_pool_loses_what_no_backup_that_stays_has() {
    let here = folder();
    let here = here.path();
    crawled(here, 20);
    backup(here, &["backups"]).ended(0);
    // Renamed by a person, who wants to keep it: its torrents stay, too.
    let first = states(&here.join("backups"))[0].clone();
    // Half of the torrents are lost for good, and others come.
    let mut lost = BTreeSet::new();
    for shard in fs::read_dir(here.join("data/torrents")).unwrap().map(|entry| entry.unwrap().path()) {
        if shard.file_name().unwrap().len() == 2 && lost.len() < 10 {
            let file = fs::read_dir(&shard).unwrap().next().unwrap().unwrap().path();
            lost.insert(file.file_stem().unwrap().to_str().unwrap().to_owned());
            fs::remove_file(file).unwrap();
        }
    }
    run(here, &["verify", "--repair", "--data", "data", "--rules", "rules"]);
    let pool = || {
        let shards = fs::read_dir(here.join("backups/torrents")).unwrap().map(|entry| entry.unwrap().path());
        let shards = shards.filter(|path| path.file_name().unwrap().len() == 2);
        shards.map(|path| fs::read_dir(path).unwrap().count()).sum::<usize>()
    };
    let told = backup(here, &["backups", "--keep", "2", "--json"]).ended(0).json();
    assert_eq!((&told["torrents"], &told["removed_torrents"], pool()), (&10.into(), &0.into(), 20), "{told}");
    // A killed one has left a torrent that no backup has, and a person a file.
    let name = format!("{:064x}.torrent", 1);
    fs::create_dir_all(here.join("backups/torrents/00")).unwrap();
    fs::write(here.join("backups/torrents/00").join(&name), "x").unwrap();
    fs::write(here.join("backups/torrents/00/read.me"), "x").unwrap();
    fs::rename(here.join("backups").join(&first), here.join("backups/mine")).unwrap();
    let told = backup(here, &["backups", "--keep", "1", "--json"]).ended(0).json();
    assert_eq!((&told["removed"], &told["removed_torrents"], pool()), (&1.into(), &1.into(), 21), "{told}");
    assert_eq!(restored(here, "backups/mine").len(), 20);
    // One that cannot be read keeps all of them.
    let database = here.join("backups/mine/crawl.redb");
    let whole = fs::read(&database).unwrap();
    fs::write(&database, "no database").unwrap();
    backup(here, &["backups", "--keep", "1"]).ended(0).says(&["torrents that no backup needs stay in "]);
    assert_eq!(pool(), 21);
    fs::write(&database, whole).unwrap();
    fs::remove_dir_all(here.join("backups/mine")).unwrap();
    backup(here, &["backups", "--keep", "1"]).ended(0).says(&["10 torrents removed that no backup in this folder has"]);
    assert!(pool() == 11 && here.join("backups/torrents/00/read.me").exists());
    assert_eq!(restored(here, "backups").len(), 10);
}

#[test]
fn a_backup_of_each_older_schema_is_restored_and_upgraded() {
    let here = folder();
    let here = here.path();
    crawled(here, 20);
    for schema in [4_u64, 3, 2] {
        let name = format!("of-{schema}");
        backup(here, &[&name]).ended(0);
        let state = here.join(&name).join(&states(&here.join(&name))[0]);
        // Only what that schema had.
        let db = redb::Database::open(state.join("crawl.redb")).unwrap();
        let txn = db.begin_write().unwrap();
        txn.open_table(redb::TableDefinition::<&str, u64>::new("meta")).unwrap().insert("schema", schema).unwrap();
        txn.delete_table(redb::TableDefinition::<u32, (&str, &str)>::new("labels")).unwrap();
        txn.delete_table(redb::TableDefinition::<&[u8; 12], u32>::new("url_labels")).unwrap();
        if schema < 4 {
            txn.delete_table(redb::TableDefinition::<&[u8], ()>::new("by_time")).unwrap();
            txn.delete_table(redb::TableDefinition::<u64, &[u8]>::new("changes")).unwrap();
        }
        if schema < 3 {
            txn.delete_table(redb::TableDefinition::<&[u8], &[u8]>::new("not_whole")).unwrap();
        }
        txn.commit().unwrap();
        drop(db);
        let bytes = fs::read(state.join("crawl.redb")).unwrap();
        let sha256 = data_encoding::HEXLOWER.encode(&<sha2::Sha256 as sha2::Digest>::digest(&bytes));
        let path = state.join("manifest.json");
        let mut manifest: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        manifest["schema"] = schema.into();
        for file in manifest["files"].as_array_mut().unwrap().iter_mut().filter(|file| file["path"] == "crawl.redb") {
            (file["bytes"], file["sha256"]) = (bytes.len().into(), sha256.clone().into());
        }
        fs::write(&path, serde_json::to_vec(&manifest).unwrap()).unwrap();
        assert_eq!(restored(here, &name), truth(here), "schema {schema}");
        let to = format!("new-{schema}");
        run(here, &["restore", &name, "--data", &to]).ended(0);
        let db = redb::Database::open(here.join(&to).join("crawl.redb")).unwrap();
        let read = redb::ReadableDatabase::begin_read(&db).unwrap();
        let meta = read.open_table(redb::TableDefinition::<&str, u64>::new("meta")).unwrap();
        let now = redb::ReadableTable::get(&meta, "schema").unwrap().unwrap().value();
        assert!(now > 4, "it is upgraded: {now}");
    }
}

#[test]
fn a_full_disk_leaves_the_former_backup_and_nothing_of_the_new_one() {
    const INSIDE: &str = "GLEANER_TEST_BACKUP_DISK";
    if let Some(here) = std::env::var_os(INSIDE) {
        return on_a_small_disk(Path::new(&here));
    }
    with_own_mounts("backup::a_full_disk_leaves_the_former_backup_and_nothing_of_the_new_one", INSIDE);
}

fn on_a_small_disk(here: &Path) {
    let mount = |options: &str| {
        let status =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "gleaner"]).arg(here.join("disk")).status();
        assert!(status.expect("apt-get install mount").success(), "mount -o {options}");
    };
    crawled(here, 30);
    fs::create_dir(here.join("disk")).unwrap();
    mount("size=64m,mode=755");
    // Another disk: copies.
    backup(here, &["disk/backups"]).ended(0).says(&["30 of them new, 0 as links"]);
    let used = rustix::fs::statvfs(here.join("disk")).unwrap();
    let used = (used.f_blocks - used.f_bfree) * used.f_frsize;
    mount(&format!("remount,size={}", used + (64 << 10)));
    for to in ["disk/backups", "disk/new.tar.zst"] {
        let ran = backup(here, &[to]).ended(1);
        assert!(ran.err.contains("o space left") || ran.err.contains("the disk is full"), "{to}: {}", ran.err);
        assert!(ran.err.contains("hint: make room"), "{to}: {}", ran.err);
    }
    let names: BTreeSet<String> = fs::read_dir(here.join("disk"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    assert_eq!(names, BTreeSet::from(["backups".to_owned()]), "nothing is left");
    assert_eq!(restored(here, "disk/backups").len(), 30);
    let told = run(here, &["restore", "disk/backups", "--data", "disk/data"]).ended(1);
    assert!(told.err.contains("disk is full") || told.err.contains("o space left"), "{}", told.err);
    assert!(fs::read_dir(here.join("disk/data")).is_ok_and(|mut entries| entries.next().is_none()));
    mount("remount,ro");
    let ran = backup(here, &["disk/backups"]).ended(1);
    assert!(ran.err.contains("cannot be written") && ran.err.contains("ReadWritePaths"), "{}", ran.err);
    assert_eq!(restored(here, "disk/backups").len(), 30);
}

#[test]
fn the_service_backs_up_by_itself_and_when_a_command_asks() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 200, 0);
    fs::write(here.join("gleaner.toml"), "[backup]\nto = \"timed\"\nkeep = 3\n").unwrap();
    let mut service = Service::start(here);
    wait_for("the service makes a backup", || service.logged("a backup is made").pop());
    assert!(service.site().is_some() || states(&here.join("timed")).len() == 1);
    wait_for("history is done", || service.logged("history is done: every known URL was requested").pop());
    let told = backup(here, &["asked", "--json"]).ended(0).json();
    assert_eq!(told["torrents"], 200, "{told}");
    assert_eq!(restored(here, "asked"), truth(here));
    // Without a destination, that of gleaner.toml.
    backup(here, &[]).ended(0).says(&["timed/20"]);
    assert_eq!(states(&here.join("timed")).len(), 2);
    // Each place has its time: one elsewhere puts off none.
    let last = fs::read_to_string(here.join("data/backup-last")).unwrap();
    let at = |end: &str| {
        last.lines().find(|line| line.ends_with(end)).unwrap().split_once(' ').unwrap().0.parse::<u64>().unwrap()
    };
    assert!(at("/asked") > 1_700_000_000_000 && at("/timed") >= at("/asked"), "{last}");
    let told = run(here, &["status", "--data", "data", "--json"]).ended(0).json();
    assert_eq!(told["backups"]["last"].as_object().unwrap().len(), 2, "{told}");
    backup(here, &["rules"]).ended(1).says(&["which is backed up itself"]);
    assert_eq!(service.stop().code(), Some(0));
}
