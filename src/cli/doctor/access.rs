//! Who owns, writes and reads the data folder, the rule files and the secrets. Looks at owners and modes, and opens nothing.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Finding, Patient};
use crate::app::folder;
use crate::limits::DOCTOR_FILES_MAX;
use gleaner_base::owner;

/// Bits of a mode.
const OTHERS_READ: u32 = 0o004;
const OTHERS_WRITE: u32 = 0o002;
const OTHERS_ENTER: u32 = 0o001;
const GROUP_AND_OTHERS: u32 = 0o077;

/// What the program writes in a data folder: keys of members, passwords, and what was found.
const WRITTEN: [&str; 11] = [
    "crawl.redb",
    "update.redb",
    "torrents",
    "search",
    "sessions",
    "secrets",
    "handover",
    "exports",
    "alarms",
    "tokens.json",
    "backup-last",
];

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let data_dir = &*of.config.data_dir;
    let mut found = Vec::new();
    if let Ok(there) = fs::metadata(data_dir) {
        found.extend(data_folder(data_dir, &there));
        if let Err(error) = folder::must_be_writable(data_dir) {
            found.push(Finding::of_error("data_not_writable", data_dir.display(), &format!("{error:#}"), "chown"));
        }
    }
    let files = of.files.iter().map(|file| file.path.clone());
    let watched = files.chain(of.config.file.clone()).chain([of.config.rules_dir.clone()]);
    for path in watched.take(DOCTOR_FILES_MAX) {
        if fs::metadata(&path).is_ok_and(|there| is_open(&there)) {
            let fix = format!("chmod o-w {}", path.display());
            found.push(Finding::new("rules_writable", path.display(), "every user of this machine may change it", fix));
        }
    }
    found
}

/// True if every user may change it. A folder with the sticky bit, as /tmp, is watched by the system.
fn is_open(there: &Metadata) -> bool {
    there.mode() & OTHERS_WRITE != 0 && there.mode() & 0o1000 == 0
}

/// True if every user may read a file with this name, or list or enter such a folder; the time of the last backup is no secret.
fn may_be_read(path: &Path) -> bool {
    let bits = |there: &Metadata| if there.is_dir() { OTHERS_READ | OTHERS_ENTER } else { OTHERS_READ };
    let is_open = |there: Metadata| !there.is_symlink() && there.mode() & bits(&there) != 0;
    !path.ends_with("backup-last") && fs::symlink_metadata(path).is_ok_and(is_open)
}

fn data_folder(data_dir: &Path, there: &Metadata) -> Vec<Finding> {
    let mut found = Vec::new();
    let (shown, mode) = (data_dir.display(), there.mode());
    let fix = || format!("chmod o-rwx {shown}");
    if is_open(there) {
        let what = format!("every user of this machine may write in it (mode {:04o})", mode & 0o7777);
        found.push(Finding::new("data_writable", &shown, what, fix()));
    }
    // A folder that others may enter, as a demo's is, is no fault while all in it is closed to them.
    let may_enter = mode & OTHERS_ENTER != 0;
    let open: Vec<&str> = WRITTEN.into_iter().filter(|name| may_enter && may_be_read(&data_dir.join(name))).collect();
    if !open.is_empty() {
        let (open, mode) = (open.join(", "), mode & 0o777);
        let what = format!(
            "every user of this machine may enter it (mode {mode:04o}) and read {open}: torrents and databases hold keys"
        );
        found.push(Finding::new("data_readable", &shown, what, fix()));
    }
    let is_foreign = |path: &PathBuf| fs::symlink_metadata(path).is_ok_and(|of| of.uid() != there.uid());
    let paths = WRITTEN.iter().map(|name| data_dir.join(name));
    for path in paths.filter(is_foreign) {
        let own = owner::name_of(there.uid()).unwrap_or_else(|| there.uid().to_string());
        let what = format!("does not belong to {own}, the owner of the data folder, who cannot write it");
        found.push(Finding::new("owner_differs", path.display(), what, format!("sudo chown -R {own}: {shown}")));
    }
    found
}

/// Passwords, sessions and tokens that others can read.
pub(super) fn secrets(of: &Patient) -> Vec<Finding> {
    let data_dir = &*of.config.data_dir;
    let _owner = owner::act(data_dir);
    let mut found = Vec::new();
    let etc = of.config.file.as_deref().and_then(Path::parent).map(|folder| folder.join("credentials"));
    for folder in [Some(data_dir.join("secrets")), Some(data_dir.join("sessions")), etc].into_iter().flatten() {
        private(&folder, true, &mut found);
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten().take(DOCTOR_FILES_MAX) {
            private(&entry.path(), false, &mut found);
        }
    }
    for name in ["tokens.json", "tokens.used.json", "tokens.revoked.json"] {
        private(&data_dir.join(name), false, &mut found);
    }
    found
}

fn private(path: &Path, is_folder: bool, found: &mut Vec<Finding>) {
    let Ok(there) = fs::symlink_metadata(path) else { return };
    let (shown, mode) = (path.display(), there.mode() & 0o777);
    if mode & GROUP_AND_OTHERS == 0 || there.is_symlink() {
        return;
    }
    let mode_wanted = if is_folder || there.is_dir() { "700" } else { "600" };
    let what = format!("other users may read this secret (mode {mode:04o})");
    found.push(Finding::new("secret_readable", &shown, what, format!("chmod {mode_wanted} {shown}")));
}
