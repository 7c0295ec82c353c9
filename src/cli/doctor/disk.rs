//! Room for bytes and for files on the disk of the data folder.

use std::path::Path;

use rustix::fs::{StatVfsMountFlags, statvfs};

use super::{Finding, Patient};
use crate::limits::{DOCTOR_DISK_BYTES_MIN, DOCTOR_INODES_MIN};

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let data_dir = &*of.config.data_dir;
    // A folder that is not there yet is made on the disk of the one above.
    let there = data_dir.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let Some(disk) = there.into_iter().find_map(|path| statvfs(path).ok()) else { return Vec::new() };
    let (shown, mut found) = (data_dir.display(), Vec::new());
    if disk.f_flag.contains(StatVfsMountFlags::RDONLY) {
        let fix = format!("mount it writable (`findmnt -T {shown}` names it), or pass another --data");
        found.push(Finding::new("disk_read_only", shown, "its file system is read-only", fix));
        return found;
    }
    let free = disk.f_bavail.saturating_mul(disk.f_frsize);
    if free < DOCTOR_DISK_BYTES_MIN {
        let what = format!("{} MB are free on its disk", free / 1_000_000);
        found.push(Finding::new("disk_low", &shown, what, format!("make room: `df {shown}` shows what is left")));
    }
    // Some file systems count no inodes.
    if disk.f_files > 0 && disk.f_favail < DOCTOR_INODES_MIN {
        let what = format!("its disk has room for {} more files (inodes), and each torrent is one", disk.f_favail);
        let fix = format!("remove small files: `df -i {shown}` shows what is left; or move the data folder (--data)");
        found.push(Finding::new("inodes_low", shown, what, fix));
    }
    found
}
