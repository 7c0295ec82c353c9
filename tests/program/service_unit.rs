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
fn a_second_installation_keeps_the_rule_file_that_the_operator_changed() {
    let root = tempfile::tempdir().unwrap();
    install(root.path());
    for path in ["usr/local/bin/gleaner", "etc/systemd/system/gleaner.service", "etc/gleaner/rules/families/nginx.toml"]
    {
        assert!(root.path().join(path).is_file(), "{path} was not installed");
    }
    assert!(root.path().join("usr/local/share/man/man1/gleaner.1").is_file(), "no manual page");

    let rule = root.path().join("etc/gleaner/rules/families/nginx.toml");
    fs::write(&rule, "# ours\n").unwrap();
    let told = install(root.path());
    assert_eq!(fs::read_to_string(&rule).unwrap(), "# ours\n");
    assert!(rule.with_extension("toml.new").is_file(), "the shipped file lies beside");
    assert!(told.contains("that were kept: 1;"), "{told}");
}

#[test]
fn a_second_installation_replaces_the_rule_file_of_an_earlier_version() {
    let root = tempfile::tempdir().unwrap();
    install(root.path());
    let rules = root.path().join("etc/gleaner/rules");
    let (rule, sums) = (rules.join("families/nginx.toml"), rules.join(".shipped"));
    let (now, listed) = (fs::read_to_string(&rule).unwrap(), fs::read_to_string(&sums).unwrap());
    let sum = |text: &str| HEXLOWER.encode(&Sha256::digest(text));
    let earlier = "# as an earlier version had it\n";
    fs::write(&rule, earlier).unwrap();
    assert!(listed.contains(&sum(&now)), "{listed}");
    fs::write(&sums, listed.replace(&sum(&now), &sum(earlier))).unwrap();
    install(root.path());
    assert_eq!((fs::read_to_string(&rule).unwrap(), fs::read_to_string(&sums).unwrap()), (now, listed));
}

#[test]
fn uninstalling_leaves_the_rules() {
    let root = tempfile::tempdir().unwrap();
    install(root.path());
    let done =
        Command::new(repository("scripts/install")).arg("--uninstall").arg("--root").arg(root.path()).output().unwrap();
    assert_succeeded(&done);
    assert!(!root.path().join("usr/local/bin/gleaner").exists());
    assert!(!root.path().join("etc/systemd/system/gleaner.service").exists());
    assert!(root.path().join("etc/gleaner/rules/families/nginx.toml").is_file());
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
