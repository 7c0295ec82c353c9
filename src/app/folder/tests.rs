//! Unit tests of `folder`.

use super::*;

#[test]
fn a_folder_that_is_not_ours_is_told_with_its_owner_and_what_to_run() {
    let folder = tempfile::tempdir().unwrap();
    let metadata = fs::metadata(folder.path()).unwrap();
    let (owner, mode) = (name_of(metadata.uid()), metadata.mode() & 0o777);
    let told = not_ours(folder.path(), &metadata, 4_000_000_000);
    for part in [
        &*format!("{}: cannot be written: it belongs to {owner} (mode {mode:04o})", folder.path().display()),
        "this runs as '#4000000000'",
        &*format!("\nhint: run the same command as its owner: {}", as_user(&owner, &this_command())),
    ] {
        assert!(told.contains(part), "{part}: {told}");
    }
    let crawl = "gleaner crawl --data d";
    let nameless = "setpriv --reuid 4321 --regid 4321 --clear-groups gleaner crawl --data d";
    for (owner, has_sudo, is_root, expected) in [
        ("root", true, false, format!("sudo {crawl}")),
        ("'#4321'", true, false, format!("sudo -u '#4321' {crawl}")),
        ("root", false, false, format!("su -c '{crawl}'")),
        ("anna", false, true, format!("runuser -u anna -- {crawl}")),
        ("anna", false, false, format!("su -s /bin/sh anna -c '{crawl}'")),
        ("'#4321'", false, true, nameless.to_owned()),
        ("'#4321'", false, false, format!("su -c '{nameless}'")),
    ] {
        assert_eq!(as_user_by(owner, crawl, has_sudo, is_root), expected);
    }
    let nested = as_user_by("anna", "gleaner login 'a b'", false, false);
    assert_eq!(nested, r"su -s /bin/sh anna -c 'gleaner login '\''a b'\'''");
    assert!(must_be_writable(&folder.path().join("not/there")).is_ok());
    let told = not_ours(folder.path(), &metadata, metadata.uid());
    assert!(
        told.ends_with(&format!("hint: chmod u+rwX {}; or pass another --data", folder.path().display())),
        "{told}"
    );
}

#[test]
fn what_others_may_read_or_write_is_mended() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("s.json");
    fs::write(&file, "{}").unwrap();
    for (path, open, wanted) in
        [(folder.path(), 0o755, 0o700), (folder.path(), 0o730, 0o700), (&*file, 0o644, 0o600), (&*file, 0o620, 0o600)]
    {
        fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
        keep_private(path).unwrap();
        assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, wanted, "{open:o}");
    }
    assert!(keep_private(&folder.path().join("absent")).is_ok());
}

#[test]
fn an_error_of_a_file_tells_what_stands_in_its_way_and_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let (file, pipe) = (folder.path().join("file"), folder.path().join("pipe"));
    fs::write(&file, "").unwrap();
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR).unwrap();
    let told = |path: &Path, how: &mut OpenOptions| failed(path, &open(path, how).unwrap_err()).to_string();
    for (path, expected) in [
        (&pipe, "pipe: this is not a regular file\nhint: move it away"),
        (&folder.path().to_path_buf(), ": this is a folder\nhint: move it away"),
        (&file.join("x"), "/file: this is a file\nhint: move it away: a folder"),
    ] {
        for how in [OpenOptions::new().read(true), OpenOptions::new().write(true)] {
            let told = told(path, how);
            assert!(told.contains(expected), "{told}");
        }
    }
    for (kind, expected) in [
        (io::ErrorKind::StorageFull, "hint: make room (`df "),
        (io::ErrorKind::ReadOnlyFilesystem, "hint: mount it writable"),
    ] {
        let told = failed(&file, &kind.into()).to_string();
        assert!(told.contains(expected), "{told}");
    }
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    assert!(keep_folder_private(&file).is_err());
    assert_eq!(fs::metadata(&file).unwrap().mode() & 0o777, 0o644, "a file in the place of a folder is left alone");
    fs::set_permissions(&file, Permissions::from_mode(0o400)).unwrap();
    let told = failed(&file, &io::ErrorKind::PermissionDenied.into()).to_string();
    assert!(told.contains("permission denied (mode 0400)\nhint: chmod u+rwX "), "{told}");
    if owner::of_files() == 0 {
        std::os::unix::fs::chown(&file, Some(4_321), None).unwrap();
        let told = failed(&file, &io::ErrorKind::PermissionDenied.into()).to_string();
        let command = as_user("'#4321'", &this_command());
        let expected = format!(
            "it belongs to '#4321' (mode 0400), and this runs as root\nhint: run the same command as its owner: {command}"
        );
        let expected = &*expected;
        assert!(told.contains(expected), "{told}");
    }
}
