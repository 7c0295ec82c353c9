//! A data folder of another user: read-only commands show its content, writing ones show its owner, and nothing in it
//! changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::Command;

use crate::cli::harness::{BINARY, Ran, Site, folder, run};

/// An unused user id; neither this nor any other of these tests has files with it.
const STRANGER: u32 = 65_534;

/// Runs the command as another user, who does not own `--data`. Only root can become another user.
fn as_stranger(here: &Path, arguments: &[&str]) -> Ran {
    let mut command = Command::new(BINARY);
    command.current_dir(here).args(arguments).uid(STRANGER).gid(STRANGER);
    for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG", "GLEANER_LOG", "CREDENTIALS_DIRECTORY"] {
        command.env_remove(variable);
    }
    Ran::of(&command.output().unwrap())
}

/// The command prefix in a hint for a user without a name: for root, or for another user.
fn as_nameless(uid: u32, is_root: bool) -> String {
    let has_sudo = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|path| path.join("sudo").is_file());
    let set = format!("setpriv --reuid {uid} --regid {uid} --clear-groups gleaner");
    match (has_sudo, is_root) {
        (true, _) => format!("sudo -u '#{uid}' gleaner"),
        (false, true) => set,
        (false, false) => format!("su -c '{set}"),
    }
}

/// The content of a folder: each path with its owner, mode, and bytes.
fn below(folder: &Path) -> BTreeMap<String, (u32, u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let metadata = fs::symlink_metadata(&path).unwrap();
        let bytes = if metadata.is_file() { fs::read(&path).unwrap() } else { Vec::new() };
        found.insert(path.display().to_string(), (metadata.uid(), metadata.mode(), bytes));
        if metadata.is_dir() {
            found.extend(below(&path));
        }
    }
    found
}

/// Gives a folder to another user, who lets everybody read everything except secrets.
fn give(folder: &Path, owner: u32) {
    for path in std::iter::once(folder.display().to_string()).chain(below(folder).into_keys()) {
        chown(&path, Some(owner), Some(owner)).unwrap();
    }
}

#[test]
fn a_folder_of_another_user_is_read_and_not_written() {
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    if !is_root {
        // Without root no folder can be given away: one of root's replaces it.
        let here = folder();
        crate::cli::harness::write_site(here.path(), crate::cli::harness::closed_port());
        let told = run(here.path(), &["crawl", "--rules", "rules", "--data", "/usr"]).ended(1);
        told.says(&["/usr: cannot be written: it belongs to root", "hint: run the same command as its owner: su"]);
        return;
    }
    const OWNER: u32 = 4_321;
    let here = folder();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _site = Site::start(here.path(), 20, 0);
    let folders = ["--data", "data", "--rules", "rules"];
    run(here.path(), &[&["crawl"], &folders[..]].concat()).ended(0);
    // Account files, too, which only their owner can read.
    let rules = here.path().join("rules/demo.toml");
    let text = fs::read_to_string(&rules).unwrap();
    fs::write(&rules, format!("{text}\n[login]\nuser = 'anna'\n")).unwrap();
    let data = here.path().join("data");
    let stranger = |words: &[&str]| as_stranger(here.path(), &[words, &["--data", "data"]].concat());
    for (path, bytes) in [("secrets/demo", "s3cret"), ("sessions/tries/demo.json", r#"{"refused":[]}"#)] {
        let path = data.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
    }
    for path in ["secrets", "sessions", "sessions/tries"] {
        fs::set_permissions(data.join(path), fs::Permissions::from_mode(0o700)).unwrap();
    }
    for path in ["crawl.redb", "update.redb"] {
        fs::set_permissions(data.join(path), fs::Permissions::from_mode(0o644)).unwrap();
    }
    give(&data, OWNER);
    let owns = "it belongs to '#4321' (mode 0";
    // Without access to the folder, the error says so, and not that it is empty.
    let harvest = here.path().join("harvest");
    for words in [&["status"][..], &["coverage"], &["export", harvest.to_str().unwrap()], &["verify"]] {
        stranger(words).ended(1).says(&[
            "data: permission denied: ",
            owns,
            &format!("hint: run the same command as its owner: {}", as_nameless(OWNER, false)),
        ]);
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let before = below(&data);
    let hint = &format!("hint: run the same command as its owner: {}", as_nameless(OWNER, false));
    for words in [&["crawl"][..], &["run"], &["login", "demo"], &["verify", "--repair"]] {
        let ran =
            as_stranger(here.path(), &[words, if words[0] == "verify" { &folders[..2] } else { &folders }].concat());
        assert!(ran.err.contains(owns) && ran.err.contains(hint), "{words:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(1), "{words:?}");
    }
    // The owner could not use files that root creates: the error has a command to run, which works as shown.
    for words in [&["crawl"][..], &["run"], &["verify", "--repair"]] {
        let words = [words, if words[0] == "verify" { &folders[..2] } else { &folders }].concat();
        let command =
            format!("hint: run the same command as its owner: {} {};", as_nameless(OWNER, true), words.join(" "));
        run(here.path(), &words).ended(1).says(&["could not use the files that root creates in it", &command]);
    }
    stranger(&["status", "--rules", "rules"]).ended(0).says(&["demo  20 "]);
    let out = folder();
    fs::set_permissions(out.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let harvest = out.path().join("harvest");
    stranger(&["coverage", "demo"]).ended(0).says(&["demo"]);
    stranger(&["export", harvest.to_str().unwrap()]).ended(0).says(&["20 torrents"]);
    stranger(&["verify"]).ended(0).says(&["archive and database agree"]);
    let after = below(&data);
    assert!(
        after == before,
        "changed: {:?}",
        after.iter().filter(|(path, of)| before.get(*path) != Some(of)).map(|(path, _)| path).collect::<Vec<_>>()
    );
}
