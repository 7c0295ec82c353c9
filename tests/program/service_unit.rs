//! The systemd unit and the installer, from the view of systemd and of a package builder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use data_encoding::HEXLOWER;
use sha2::{Digest as _, Sha256};

/// Maximum of systemd's exposure score for the unit, in tenths; a service that needs the network cannot get below 1.0.
const EXPOSURE_TENTHS_MAX: u32 = 12;

fn repository(path: &str) -> PathBuf {
    Path::new(env!("GLEANER_ROOT")).join(path)
}

/// The unit with a binary that exists on this machine, as `systemd-analyze` checks that too.
fn unit_with_this_binary(folder: &Path) -> PathBuf {
    let unit = fs::read_to_string(repository("systemd/gleaner.service")).unwrap();
    assert!(unit.contains("/usr/local/bin/gleaner"), "the unit starts the binary where scripts/install puts it");
    let path = folder.join("gleaner.service");
    fs::write(&path, unit.replace("/usr/local/bin/gleaner", env!("CARGO_BIN_EXE_gleaner"))).unwrap();
    path
}

fn systemd_analyze(arguments: &[&str], unit: &Path) -> Output {
    Command::new("systemd-analyze").args(arguments).arg(unit).output().unwrap_or_else(|error| {
        panic!("systemd-analyze (Debian package systemd): {error}\nhint: scripts/test installs what the tests need")
    })
}

fn assert_succeeded(done: &Output) {
    let (out, err) = (String::from_utf8_lossy(&done.stdout), String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success(), "{}\n{out}\n{err}", done.status);
}

#[test]
fn systemd_finds_no_fault_in_the_unit() {
    let folder = tempfile::tempdir().unwrap();
    let done = systemd_analyze(&["verify", "--man=no"], &unit_with_this_binary(folder.path()));
    assert_succeeded(&done);
    assert_eq!(String::from_utf8_lossy(&done.stderr), "");
}

#[test]
fn the_unit_exposes_no_more_than_a_crawler_needs() {
    let folder = tempfile::tempdir().unwrap();
    let threshold = format!("--threshold={EXPOSURE_TENTHS_MAX}");
    let unit = unit_with_this_binary(folder.path());
    assert_succeeded(&systemd_analyze(&["security", "--offline=true", "--no-pager", &threshold], &unit));
}

/// Installs below `root`, which is named as one in it would.
fn install(root: &Path) -> String {
    let done = Command::new(repository("scripts/install"))
        .current_dir(root)
        .args(["--binary", env!("CARGO_BIN_EXE_gleaner"), "--root", "."])
        .output()
        .unwrap();
    assert_succeeded(&done);
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn an_installation_leaves_the_rules_that_the_operator_wrote_and_takes_those_of_an_earlier_version() {
    let root = tempfile::tempdir().unwrap();
    let rules = root.path().join("etc/gleaner/rules");
    fs::create_dir_all(rules.join("families")).unwrap();
    let sum = |text: &str| HEXLOWER.encode(&Sha256::digest(text));
    fs::write(rules.join("families/nginx.toml"), "# as it came\n").unwrap();
    fs::write(rules.join("debian.toml"), "# changed\n").unwrap();
    fs::write(rules.join("mine.toml"), "# mine\n").unwrap();
    let sums = [("families/nginx.toml", "# as it came\n"), ("debian.toml", "# as it came, too\n"), ("gone.toml", "")];
    let sums: String = sums.iter().map(|(name, text)| format!("{}  {name}\n", sum(text))).collect();
    fs::write(rules.join(".shipped"), sums).unwrap();
    install(root.path());
    for path in ["usr/local/bin/gleaner", "etc/systemd/system/gleaner.service", "usr/local/share/man/man1/gleaner.1"] {
        assert!(root.path().join(path).is_file(), "{path} was not installed");
    }
    assert!(root.path().join("usr/local/share/gleaner/rules/families/nginx.toml").is_file());
    let mut left: Vec<_> = fs::read_dir(&rules).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["debian.toml", "mine.toml"]);
    assert_eq!(fs::read_to_string(rules.join("debian.toml")).unwrap(), "# changed\n");
}

#[test]
fn uninstalling_leaves_the_configuration() {
    let root = tempfile::tempdir().unwrap();
    install(root.path());
    fs::write(root.path().join("etc/gleaner/rules/mine.toml"), "# mine\n").unwrap();
    let done =
        Command::new(repository("scripts/install")).arg("--uninstall").arg("--root").arg(root.path()).output().unwrap();
    assert_succeeded(&done);
    assert!(!root.path().join("usr/local/bin/gleaner").exists());
    assert!(!root.path().join("etc/systemd/system/gleaner.service").exists());
    assert!(!root.path().join("usr/local/share/gleaner").exists());
    for kept in ["gleaner.toml", "rules/mine.toml"] {
        assert!(root.path().join("etc/gleaner").join(kept).is_file(), "{kept}");
    }
}

#[test]
fn the_vendored_crates_are_checked_by_the_releases_that_they_are_made_of() {
    let folder = tempfile::tempdir().unwrap();
    // In the place of cargo-deny: shows the manifest that it is to check.
    let fake = folder.path().join("cargo-deny");
    fs::write(&fake, "#!/bin/sh\ncat \"$3\"\n").unwrap();
    fs::set_permissions(&fake, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("{}:{}", folder.path().display(), std::env::var("PATH").unwrap());
    let done = Command::new(repository("scripts/deny")).env("PATH", path).output().unwrap();
    assert_succeeded(&done);
    let told = String::from_utf8(done.stdout).unwrap();
    for entry in fs::read_dir(repository("vendor")).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.path().join("Cargo.toml").is_file() {
            assert!(told.contains(&format!("{name} = {{ version = \"=")), "{name}: {told}");
        }
    }
}
