//! Backup of a data folder while it is written, and its restore.
//!
//! ```text
//! DEST/GLEANER-BACKUP                 marks the folder
//! DEST/20261128T221542Z/              a state: it has its name once it is whole and on the disk
//!     manifest.json                   checksums of the files below
//!     crawl.redb, update.redb         both at one moment
//!     data/ config/ rules/ secrets/   small files; the last with secrets only
//! DEST/torrents/ab/SHA256.torrent     files of the archive, of all states: they never change, and go with the last state that has them
//! ```
//!
//! A torrent's file is on the disk before its row is committed, so the files that the copied rows name are there: the databases are
//! copied first. Files of the archive are links where the file system allows it. A process that is killed leaves a folder
//! `.part-…`, which the next backup removes, and whole torrents. An archive (`.tar.zst`) holds one state with its torrents.
//!
//! It never asks a site, never changes the data folder, and never reads the clock.

mod make;
mod manifest;
mod packed;
mod pool;
mod restore;
mod unnamed;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

pub use self::make::{Part, Wanted, backup};
pub use self::manifest::{MANIFEST, Manifest};
pub use self::pool::read_torrent;
pub use self::restore::{Restored, is_unfinished, restore};
use crate::crawldb::CrawlDbError;
use crate::export::ExportError;
use gleaner_base::clock::UnixMillis;
use gleaner_base::console::lossy;
use gleaner_base::place::{self, Place};
use gleaner_torrent::archive::ArchiveError;

/// Marks a folder of backups.
pub const MARK: &str = "GLEANER-BACKUP";

/// Names of the databases in a state and in a data folder.
const CRAWL: &str = "crawl.redb";
const UPDATE: &str = "update.redb";

/// Folder of the archive's files in a backup and in a data folder.
const TORRENTS: &str = "torrents";

/// A backup that is being made, as others see it.
#[derive(Debug, Default)]
pub struct Attempt {
    /// Ends it before it is whole.
    pub stop: AtomicBool,
    /// Grows with each part of a database, each file, and each block that is hashed or packed: while it stands still, a disk is waited for.
    pub steps: AtomicU64,
}

impl Attempt {
    fn step(&self) {
        self.steps.fetch_add(1, Ordering::Relaxed);
    }

    fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Counts what is read of a file as steps.
struct Stepping<'a, R>(R, &'a Attempt);

impl<R: io::Read> io::Read for Stepping<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.1.step();
        self.0.read(to)
    }
}

/// A finished backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Made {
    /// The folder of its state, or the archive.
    #[serde(serialize_with = "lossy")]
    pub path: PathBuf,
    /// When its state was that of the databases.
    pub made: UnixMillis,
    /// Torrents in it.
    pub torrents: u64,
    /// Those whose files earlier backups had not.
    pub new_torrents: u64,
    /// Those of them that are links, which take no room.
    pub linked: u64,
    /// Bytes of the databases and of the new files that are no links.
    pub bytes_written: u64,
    /// Torrents whose files are lost or damaged.
    pub left_out: u64,
    pub with_secrets: bool,
    /// Earlier states that were removed, and torrents that none of the others has.
    pub removed: u64,
    #[serde(default)]
    pub removed_torrents: u64,
    /// What a person should know beside.
    #[serde(default)]
    pub note: Option<String>,
}

/// Why there is no backup, or no restore.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{dest}: lies in {folder}, which is backed up itself\nhint: name a place outside of it, best on another disk", dest = dest.display(), folder = folder.display())]
    Inside { dest: PathBuf, folder: PathBuf },
    #[error("{dest}: is a folder with other things in it, not one of backups\nhint: name a new folder, or an empty one; for an archive, a name that ends in .tar.zst", dest = dest.display())]
    Foreign { dest: PathBuf },
    #[error("{dest}: {what}, not a folder\nhint: name a folder, or a file that ends in .tar.zst", dest = dest.display())]
    InTheWay { dest: PathBuf, what: String },
    #[error("{dest}: its name is that of an archive of another kind\nhint: name a file that ends in .tar.zst, or a folder", dest = dest.display())]
    OtherArchive { dest: PathBuf },
    #[error("{from}: there is no such file or folder\nhint: name a folder of backups, the folder of one of them, or an archive that ends in .tar.zst", from = from.display())]
    Nowhere { from: PathBuf },
    #[error("{dest}: another backup is writing there, or a restore reads it\nhint: wait for its end, or back up to another place", dest = dest.display())]
    Busy { dest: PathBuf },
    #[error("{from}: a backup is writing there, which may remove earlier ones\nhint: wait for its end, then run the same command again", from = from.display())]
    Writing { from: PathBuf },
    #[error("{path}: {what}; earlier backups are whole\nhint: {hint}", path = path.display())]
    Full { path: PathBuf, what: &'static str, hint: &'static str },
    #[error("{path}: cannot be written ({detail})\nhint: name a place that this user may write to; of the service, `sudo systemctl edit gleaner` with ReadWritePaths=DIR allows it", path = path.display())]
    ReadOnly { path: PathBuf, detail: io::Error },
    #[error("{path}: {action}: {detail}\nhint: check the disk, then run the same command again", path = path.display())]
    Io { path: PathBuf, action: &'static str, detail: io::Error },
    /// Nothing of it is left.
    #[error("the backup was ended before it was whole; earlier ones are")]
    Stopped,
    #[error("{from}: this is no backup of gleaner\nhint: name a folder or an archive that `gleaner backup` has made; an export is read by `gleaner import`", from = from.display())]
    NotABackup { from: PathBuf },
    #[error("{from}: was made by a newer gleaner ({version}; its form is {found}, this one reads at most {known})\nhint: update gleaner, then restore", from = from.display())]
    Newer { from: PathBuf, version: String, found: u64, known: u64 },
    #[error("{path}: is damaged: {what}\nhint: {hint}", path = path.display())]
    Damaged { path: PathBuf, what: String, hint: &'static str },
    #[error("{data_dir}: is not empty\nhint: a restore needs an empty folder: move this one away, or pass another --data", data_dir = data_dir.display())]
    NotEmpty { data_dir: PathBuf },
    #[error("{data_dir}: a restore to this folder is under way, or another process holds it\nhint: wait for its end, or pass another --data", data_dir = data_dir.display())]
    Restoring { data_dir: PathBuf },
    #[error("{path}: {what}: the backup would lack it\nhint: move it out of its folder, then run the same command again", path = path.display())]
    TooMuch { path: PathBuf, what: String },
}

/// What to do about a backup that is damaged.
const OTHER: &str = "restore another state of the folder, by its name, or another backup";

impl BackupError {
    fn io(path: &Path, action: &'static str, detail: io::Error) -> Self {
        let path = path.to_owned();
        if let Some((what, hint)) = place::used_up(&detail) {
            return Self::Full { path, what, hint };
        }
        match detail.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, detail },
            _ => Self::Io { path, action, detail },
        }
    }

    /// An error of reading a backup: what is missing, or cut off, is damage.
    fn reading(path: &Path, detail: io::Error) -> Self {
        match detail.kind() {
            io::ErrorKind::NotFound => Self::damaged(path, "it is missing".to_owned()),
            io::ErrorKind::UnexpectedEof | io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => {
                Self::damaged(path, detail.to_string())
            }
            _ => Self::Io { path: path.to_owned(), action: "read", detail },
        }
    }

    fn damaged(path: &Path, what: String) -> Self {
        Self::Damaged { path: path.to_owned(), what, hint: OTHER }
    }
}

impl From<ExportError> for BackupError {
    fn from(error: ExportError) -> Self {
        match error {
            ExportError::Busy { dest } => Self::Busy { dest },
            ExportError::Full { path, what, hint } => Self::Full { path, what, hint },
            ExportError::ReadOnly { path, detail } => Self::ReadOnly { path, detail },
            ExportError::Io { path, action, detail } => Self::io(&path, action, detail),
            other => Self::Io { path: PathBuf::new(), action: "write", detail: io::Error::other(other.to_string()) },
        }
    }
}

/// True if the destination is an archive, by its name.
#[must_use]
pub fn is_archive(dest: &Path) -> bool {
    dest.to_string_lossy().ends_with(".tar.zst")
}

/// Ends of archives that are none of ours: whoever names one wants no folder of this name.
const OTHER_ARCHIVES: [&str; 14] =
    [".zip", ".tar", ".gz", ".tgz", ".bz2", ".tbz2", ".xz", ".txz", ".zst", ".tzst", ".7z", ".rar", ".lz4", ".cpio"];

/// An error for a name of an archive that is not written here, unless it is that of a folder of backups already.
///
/// # Errors
/// `OtherArchive`.
pub fn must_not_be_other_archive(dest: &Path) -> Result<(), BackupError> {
    let name = dest.to_string_lossy().to_lowercase();
    let is_other = !is_archive(dest) && OTHER_ARCHIVES.iter().any(|end| name.ends_with(end));
    if is_other && !dest.is_dir() {
        return Err(BackupError::OtherArchive { dest: dest.to_owned() });
    }
    Ok(())
}

/// An error if something else than a folder has this name or one above it.
fn must_be_folder(dest: &Path) -> Result<(), BackupError> {
    match place::in_the_way(dest) {
        None => Ok(()),
        Some((path, Place::File)) => Err(BackupError::InTheWay { dest: path, what: "is a file".to_owned() }),
        Some((path, _)) => Err(BackupError::InTheWay { what: place::told(&path), dest: path }),
    }
}
