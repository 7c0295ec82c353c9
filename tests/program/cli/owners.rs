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

/// The command prefix in a hint for a user without a name.
fn as_nameless(uid: u32) -> String {
    let has_sudo = std::env::split_paths(&std::env::var_os("PATH").unwrap()).any(|path| path.join("sudo").is_file());
    let set = format!("setpriv --reuid {uid} --regid {uid} --clear-groups gleaner");
    if has_sudo { format!("sudo -u '#{uid}' gleaner") } else { format!("su -c '{set}") }
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
pub fn give(folder: &Path, owner: u32) {
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
    for path in below(&data).into_keys().filter(|path| path.ends_with(".redb") || path.contains("/torrents")) {
        let mode = if Path::new(&path).is_dir() { 0o755 } else { 0o644 };
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    give(&data, OWNER);
    let owns = "it belongs to '#4321' (mode 0";
    // Without access to the folder, the error says so, and not that it is empty.
    let harvest = here.path().join("harvest");
    for words in [&["status"][..], &["coverage"], &["export", harvest.to_str().unwrap()], &["verify"]] {
        stranger(words).ended(1).says(&[
            "data: permission denied: ",
            owns,
            &format!("hint: run the same command as its owner: {}", as_nameless(OWNER)),
        ]);
    }
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let before = below(&data);
    let hint = &format!("hint: run the same command as its owner: {}", as_nameless(OWNER));
    for words in [&["crawl"][..], &["run"], &["login", "demo"], &["verify", "--repair"]] {
        let ran =
            as_stranger(here.path(), &[words, if words[0] == "verify" { &folders[..2] } else { &folders }].concat());
        assert!(ran.err.contains(owns) && ran.err.contains(hint), "{words:?}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, Some(1), "{words:?}");
    }
    stranger(&["status", "--rules", "rules"]).ended(0).says(&["demo  20 "]);
    let out = folder();
    fs::set_permissions(out.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let harvest = out.path().join("harvest");
    stranger(&["coverage", "demo"]).ended(0).says(&["demo"]);
    stranger(&["export", harvest.to_str().unwrap()]).ended(0).says(&["20 torrents"]);
    stranger(&["verify"]).ended(0).says(&["archive and database agree"]);
    // Root reads as the owner, and writes its own export.
    let roots = here.path().join("roots");
    fs::set_permissions(&data, fs::Permissions::from_mode(0o700)).unwrap();
    run(here.path(), &[&["status"], &folders[..]].concat()).ended(0).says(&["demo  20 "]);
    run(here.path(), &["export", roots.to_str().unwrap(), "--data", "data"]).ended(0).says(&["20 torrents"]);
    assert_eq!(fs::metadata(&roots).unwrap().uid(), 0);
    fs::set_permissions(&data, fs::Permissions::from_mode(0o755)).unwrap();
    let after = below(&data);
    assert!(
        after == before,
        "changed: {:?}",
        after.iter().filter(|(path, of)| before.get(*path) != Some(of)).map(|(path, _)| path).collect::<Vec<_>>()
    );
    // Root that writes becomes the owner, who can use what it left.
    let torrents = data.join("torrents");
    let lost = below(&torrents).into_keys().find(|path| path.ends_with(".torrent")).unwrap();
    fs::remove_file(&lost).unwrap();
    fs::write(&rules, text).unwrap();
    run(here.path(), &["verify", "--repair", "--data", "data"]).ended(0).says(&["1 rows dropped"]);
    run(here.path(), &[&["crawl"], &folders[..]].concat());
    assert!(fs::exists(&lost).unwrap(), "it is fetched again");
    let roots: Vec<String> = below(&data).into_iter().filter(|(_, of)| of.0 != OWNER).map(|(path, _)| path).collect();
    assert_eq!(roots, Vec::<String>::new(), "root's");
}

/// The service's user may have been taken over: what it links to is not root's to read or to empty.
#[test]
fn root_follows_no_link_of_the_owner() {
    const OWNER: u32 = 4_322;
    // Without root all files are this user's own: then the links alone are tested.
    let is_root = fs::metadata("/proc/self").unwrap().uid() == 0;
    let here = folder();
    fs::set_permissions(here.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _site = Site::start(here.path(), 20, 0);
    let data = here.path().join("data");
    run(here.path(), &["crawl", "--data", "data", "--rules", "rules"]).ended(0);
    if is_root {
        give(&data, OWNER);
    }
    let roots = here.path().join("roots");
    fs::create_dir(&roots).unwrap();
    fs::set_permissions(&roots, fs::Permissions::from_mode(0o700)).unwrap();
    let torrents = data.join("torrents");
    let file = below(&torrents).into_keys().find(|path| path.ends_with(".torrent")).unwrap();
    let secret = roots.join("secret.torrent");
    fs::rename(&file, &secret).unwrap();
    if is_root {
        chown(&secret, Some(0), Some(0)).unwrap();
    }
    fs::set_permissions(&secret, fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&secret, &file).unwrap();
    let _ = fs::remove_dir(torrents.join(".tmp"));
    std::os::unix::fs::symlink(&roots, torrents.join(".tmp")).unwrap();
    let out = run(here.path(), &["export", "out", "--data", "data"]).ended(1);
    out.says(&["19 torrents", "left out: 1"]);
    // A hard link has no target to follow: its owner says that it is not the service's.
    fs::remove_file(&file).unwrap();
    fs::hard_link(&secret, &file).unwrap();
    if is_root {
        run(here.path(), &["export", "out", "--data", "data"]).ended(1).says(&["left out: 1", "Permission denied"]);
    }
    run(here.path(), &["verify", "--data", "data"]).ended(i32::from(is_root));
    assert!(secret.exists());
    let folder = fs::metadata(&roots).unwrap();
    assert_eq!(folder.mode() & 0o777, 0o700);
    assert!(!is_root || folder.uid() == 0);
}
