//! The watch folders of `[[handover]]`: there, and writable for the owner of the data folder.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use rustix::fs::{Access, access};

use super::{Finding, Patient};
use gleaner_base::owner;

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let mut found = Vec::new();
    for handover in &of.config.handovers {
        let shown = handover.folder.display();
        if !handover.folder.is_dir() {
            let what = format!("the watch folder of the handover {} is missing", handover.name);
            let fix = format!("mkdir -p {shown}, or correct `folder` of its [[handover]] in gleaner.toml");
            found.push(Finding::new("handover_missing", shown, what, fix));
        } else if !may_write(&handover.folder, &of.config.data_dir) {
            let what =
                format!("the owner of the data folder cannot write the watch folder of the handover {}", handover.name);
            let fix = format!(
                "add that user to the client's group, or chmod it; the unit also needs ReadWritePaths={shown} (sudo systemctl edit gleaner)"
            );
            found.push(Finding::new("handover_not_writable", shown, what, fix));
        }
    }
    found
}

/// True if the owner of the data folder may create files in this folder, as far as owner, group and mode decide it.
pub(super) fn may_write(folder: &Path, data_dir: &Path) -> bool {
    let we = owner::of_files();
    let (user, group) = fs::metadata(data_dir).map_or((we, u32::MAX), |of| (of.uid(), of.gid()));
    let is_allowed = access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok();
    if user == we || user == 0 {
        return is_allowed;
    }
    let Ok(there) = fs::metadata(folder) else { return false };
    let bits = match () {
        () if there.uid() == user => 0o300,
        () if there.gid() == group => 0o030,
        () => 0o003,
    };
    there.mode() & bits == bits
}
