//! Who owns, writes and reads the data folder, the rule files and the secrets. Looks at owners and modes, and opens nothing.

use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::{Finding, Patient};
use crate::app::folder;
use crate::limits::DOCTOR_FILES_MAX;
use gleaner_base::owner;

/// Bits of a mode.
const OTHERS_WRITE: u32 = 0o002;
const GROUP_AND_OTHERS: u32 = 0o077;

/// What the program writes in a data folder.
const WRITTEN: [&str; 9] = [
    "crawl.redb",
    "update.redb",
    "torrents",
    "search",
    "sessions",
    "secrets",
    "handover",
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
        // A folder with the sticky bit, as /tmp, is watched by the system.
        let is_open = |there: &Metadata| there.mode() & OTHERS_WRITE != 0 && there.mode() & 0o1000 == 0;
        if fs::metadata(&path).is_ok_and(|there| is_open(&there)) {
            let fix = format!("chmod o-w {}", path.display());
            found.push(Finding::new("rules_writable", path.display(), "every user of this machine may change it", fix));
        }
    }
    found
}

fn data_folder(data_dir: &Path, there: &Metadata) -> Vec<Finding> {
    let mut found = Vec::new();
    let shown = data_dir.display();
    if there.mode() & 0o007 != 0 {
        let what =
            format!("every user of this machine may enter it (mode {:04o}): torrents hold keys", there.mode() & 0o777);
        found.push(Finding::new("data_readable", &shown, what, format!("chmod o-rwx {shown}")));
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
