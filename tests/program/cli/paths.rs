//! Paths that cannot be used: each error names the path, what stands there, and what to do; nothing that stands there is lost.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use rustix::fs::{CWD, FileType, Mode, makedev, mkfifoat, mknodat};

use crate::cli::harness::{BINARY, Ran, Site, folder, run};

const READ_WRITE: Mode = Mode::RUSR.union(Mode::WUSR);

/// A user without a name; no other test has files of it.
const OWNER: u32 = 65_532;

fn pipe(path: &Path) {
    mkfifoat(CWD, path, READ_WRITE).unwrap();
}

fn is_root() -> bool {
    fs::metadata("/proc/self").unwrap().uid() == 0
}

/// A folder with the crawl of a small demo site in `data`.
fn harvested() -> tempfile::TempDir {
    let here = folder();
    let _site = Site::start(here.path(), 5, 0);
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(0);
    here
}

fn export(here: &Path, dest: &str) -> Ran {
    run(here, &["export", dest, "--data", "data"])
}

#[test]
fn no_device_pipe_socket_or_link_is_replaced_by_an_export() {
    let here = harvested();
    let here = here.path();
    export(here, "file.zip").ended(0);
    pipe(&here.join("pipe.zip"));
    let _socket = UnixListener::bind(here.join("socket.zip")).unwrap();
    let link = |name: &str, target: &str| symlink(target, here.join(name)).unwrap();
    link("to-pipe.zip", "pipe.zip");
    link("to-file.zip", "file.zip");
    link("nowhere.zip", "absent.zip");
    link("circle.zip", "circle.zip");
    link("nowhere", "absent");
    let mut cases = vec![
        ("pipe.zip", "is a pipe\nhint: name a file"),
        ("socket.zip", "is a socket\nhint: name a file"),
        ("to-pipe.zip", "is a link to pipe.zip, a pipe\nhint: name a file"),
        ("to-file.zip", "is a link to file.zip, a file\nhint: name a file"),
        ("nowhere.zip", "is a dangling link: absent.zip does not exist\nhint: "),
        ("circle.zip", "is a link that leads back to itself\nhint: "),
        ("nowhere", "is a dangling link: absent does not exist\nhint: name a folder"),
    ];
    if is_root() {
        // The null device, under a private name.
        mknodat(CWD, here.join("device.zip"), FileType::CharacterDevice, READ_WRITE, makedev(1, 3)).unwrap();
        link("to-device.zip", "device.zip");
        cases.push(("device.zip", "is a device\nhint: name a file"));
        cases.push(("to-device.zip", "is a link to device.zip, a device\nhint: name a file"));
    }
    for (name, said) in cases {
        let there = || fs::symlink_metadata(here.join(name)).map(|of| (of.ino(), of.mode())).unwrap();
        let before = there();
        export(here, name).ended(1).says(&[&format!("error: {name}: {said}")]);
        assert_eq!(there(), before, "{name}");
    }
    assert!(!here.join("absent.zip").exists() && !here.join("absent").exists());
}

#[test]
fn a_slash_at_the_end_of_an_export_changes_nothing() {
    let here = harvested();
    let here = here.path();
    export(here, "new/").ended(0).says(&["new: 5 torrents"]);
    export(here, "new.zip/").ended(0).says(&["new.zip: 5 torrents"]);
    symlink("absent", here.join("nowhere")).unwrap();
    symlink("new.zip", here.join("to-file")).unwrap();
    export(here, "nowhere/")
        .ended(1)
        .says(&["nowhere: is a dangling link: absent does not exist\nhint: name a folder"]);
    export(here, "to-file/").ended(1).says(&["to-file: is a file\nhint: name a folder"]);
}

#[test]
fn a_file_in_the_place_of_a_folder_and_a_foreign_file_are_told_by_an_export() {
    let here = harvested();
    let here = here.path();
    fs::write(here.join("file"), "mine").unwrap();
    symlink("absent", here.join("nowhere")).unwrap();
    export(here, "file/x.zip").ended(1).says(&["file/x.zip: file is a file, not a folder\nhint: name another folder"]);
    export(here, "nowhere/x")
        .ended(1)
        .says(&["nowhere is a dangling link: absent does not exist, not a folder\nhint: "]);
    fs::write(here.join("foreign.zip"), "my notes").unwrap();
    export(here, "foreign.zip")
        .ended(1)
        .says(&["is a file, not an export of gleaner (it is no zip archive)\nhint: name a new file"]);
    assert_eq!(fs::read(here.join("foreign.zip")).unwrap(), b"my notes");
}

#[test]
fn what_stands_in_the_place_of_the_archive_is_told() {
    let here = harvested();
    let here = here.path();
    let torrents = here.join("data/torrents");
    fs::rename(&torrents, here.join("kept")).unwrap();
    let everywhere = |said: &str| {
        export(here, "out").ended(1).says(&[said]);
        run(here, &["verify", "--data", "data"]).ended(1).says(&[said]);
        run(here, &["crawl", "--data", "data", "--rules", "rules"]).ended(1).says(&[said]);
    };
    fs::write(&torrents, "").unwrap();
    everywhere("data/torrents: is a file\nhint: move it away: a folder of this name belongs there");
    fs::remove_file(&torrents).unwrap();
    symlink("absent", &torrents).unwrap();
    everywhere("data/torrents: is a dangling link: absent does not exist\nhint: move it away");
}

#[test]
fn an_archive_or_a_database_that_cannot_be_read_is_told_with_its_mode() {
    let here = harvested();
    let here = here.path();
    let reads = |words: &[&str]| {
        let mut command = Command::new(BINARY);
        // Root may read everything.
        if is_root() {
            command.uid(OWNER).gid(OWNER);
        }
        Ran::of(&command.args(words).args(["--data", "data"]).current_dir(here).output().unwrap())
    };
    let open = |path: &str, mode: u32| fs::set_permissions(here.join(path), fs::Permissions::from_mode(mode)).unwrap();
    if is_root() {
        let owner = format!("{OWNER}:{OWNER}");
        assert!(Command::new("chown").args(["-R", &owner]).arg(here).status().unwrap().success());
    }
    open("data/torrents", 0);
    for words in [&["export", "out"][..], &["verify"]] {
        reads(words).ended(1).says(&["data/torrents: cannot be read (mode 0000)\nhint: chmod u+rX data/torrents"]);
    }
    open("data/torrents", 0o750);
    open("data/crawl.redb", 0);
    for words in [&["export", "out"][..], &["status"]] {
        reads(words)
            .ended(1)
            .says(&["data/crawl.redb: permission denied (mode 0000)\nhint: chmod u+rwX data/crawl.redb"]);
    }
}

#[test]
fn a_data_folder_that_cannot_be_one_is_named_with_its_cause_by_every_command() {
    let here = folder();
    let here = here.path();
    crate::cli::harness::write_site(here, crate::cli::harness::closed_port());
    fs::write(here.join("afile"), "").unwrap();
    symlink("absent", here.join("nowhere")).unwrap();
    symlink("circle", here.join("circle")).unwrap();
    for (data, said) in [
        ("afile/sub", "afile: is a file, not a folder\nhint: move it away, or pass another --data"),
        ("nowhere", "nowhere: is a dangling link: absent does not exist, not a folder\nhint: "),
        ("nowhere/sub", "nowhere: is a dangling link: absent does not exist, not a folder\nhint: "),
        ("circle", "circle: is a link that leads back to itself, not a folder\nhint: "),
    ] {
        for words in [&["crawl", "--rules", "rules"][..], &["status"], &["export", "out"], &["verify"], &["demo"]] {
            run(here, &[words, &["--data", data]].concat()).ended(1).says(&[&format!("error: {said}")]);
        }
    }
    run(here, &["crawl", "--rules", "rules", "--data", "/proc/gl"])
        .ended(1)
        .says(&["error: /proc/gl: this folder cannot be created: ", "\nhint: pass another --data"]);
}

#[test]
fn cookies_are_read_from_a_file_or_a_shells_pipe_and_a_named_pipe_is_refused_at_once() {
    let here = folder();
    let here = here.path();
    crate::cli::harness::write_site(here, crate::cli::harness::closed_port());
    let text = fs::read_to_string(here.join("rules/site.toml")).unwrap();
    fs::write(here.join("rules/site.toml"), format!("{text}\n[login]\nuser = 'anna'\n")).unwrap();
    pipe(&here.join("fifo"));
    run(here, &["login", "site", "--cookies", "fifo", "--data", "data", "--rules", "rules"])
        .ended(1)
        .says(&["fifo: is a pipe\nhint: save its cookies to a file"]);
    let line = "\"$0\" login site --data data --rules rules --cookies <(sleep 0.2; printf '127.0.0.1\\tFALSE\\t/\\tFALSE\\t0\\tsid\\tx\\n')";
    let ran = Ran::of(&Command::new("bash").args(["-c", line, BINARY]).current_dir(here).output().unwrap());
    ran.says(&["cookies: 1 imported"]);
}

#[test]
fn a_folder_of_rule_files_that_cannot_be_one_is_named_with_its_cause() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("file"), "").unwrap();
    symlink("absent", here.join("nowhere")).unwrap();
    for (rules, said) in [
        ("file/sub", "is a file, not a folder"),
        ("nowhere", "is a dangling link: absent does not exist, not a folder"),
    ] {
        for words in [&["crawl"][..], &["rules", "check"], &["rules", "new", "example.org"], &["run"], &["login", "x"]]
        {
            let ran = run(here, &[words, &["--rules", rules]].concat()).ended(1).says(&[said]);
            assert!(
                format!("{}{}", ran.out, ran.err).contains("hint: pass another"),
                "{words:?}: {}{}",
                ran.out,
                ran.err
            );
        }
    }
    // A folder in the place of the configuration has nothing to do with rule files.
    let ran = run(here, &["status", "--config", "."]).ended(1).says(&["name a file; a folder or a pipe is none"]);
    assert!(!ran.err.contains("--rules"), "{}", ran.err);
}

#[test]
fn what_stands_in_the_place_of_a_database_is_told_at_once() {
    let here = harvested();
    let here = here.path();
    for (name, reads) in [("crawl.redb", true), ("update.redb", false)] {
        let path = here.join("data").join(name);
        fs::rename(&path, here.join("kept")).unwrap();
        let everywhere = |said: &str| {
            run(here, &["crawl", "--data", "data", "--rules", "rules"]).ended(1).says(&[said]);
            run(here, &["verify", "--repair", "--data", "data"]).ended(1).says(&[said]);
            if reads {
                export(here, "out").ended(1).says(&[said]);
                run(here, &["status", "--data", "data"]).ended(1).says(&[said]);
            }
        };
        pipe(&path);
        everywhere(&format!("data/{name}: is a pipe\nhint: move it away: a file of this name belongs there"));
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        everywhere(&format!("data/{name}: is a folder\nhint: move it away"));
        fs::remove_dir(&path).unwrap();
        // Many keep the database on another disk.
        symlink("../kept", &path).unwrap();
        run(here, &["verify", "--data", "data"]).ended(0);
        fs::remove_file(&path).unwrap();
        fs::rename(here.join("kept"), &path).unwrap();
    }
}
