//! The torrents of a folder of backups: each file has the name of its SHA-256, so it never changes, and no state needs another's.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use super::{Attempt, BackupError};
use crate::crawldb::TorrentFacts;
use crate::limits;
use gleaner_torrent::archive::Archive;

/// Folder for files that are being written.
const TMP: &str = ".tmp";

/// File with the first byte of the checksums that the last backup has verified.
const CHECKED: &str = ".checked";

/// See the module.
pub(super) struct Pool<'a> {
    attempt: &'a Attempt,
    dir: PathBuf,
    /// False once the file system has refused a link.
    can_link: bool,
    /// Files that were written, and get their names once they are on the disk.
    pending: Vec<PathBuf>,
    /// Files whose checksums begin with this byte are read, and written again if they are damaged: after 256 backups, each was read.
    checked: u8,
    pub new: u64,
    pub linked: u64,
    pub bytes_written: u64,
}

/// The file of a torrent, read whole; None if there is none, or it is not what its row says.
///
/// # Errors
/// Those of reading it.
pub fn read_torrent(archive: &Archive, facts: &TorrentFacts) -> io::Result<Option<(File, Vec<u8>)>> {
    let mut file = match archive.open_torrent(&facts.infohashes) {
        Ok(file) => file,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidInput) => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(facts.metainfo_bytes as usize);
    (&mut file).take(limits::TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    let is_whole = <[u8; 32]>::from(Sha256::digest(&bytes)) == facts.sha256;
    Ok(is_whole.then_some((file, bytes)))
}

/// Where the file with this checksum is, below the folder of the torrents.
pub(super) fn name_of(sha256: &[u8; 32]) -> String {
    let hex = HEXLOWER.encode(sha256);
    format!("{}/{hex}.torrent", &hex[..2])
}

impl<'a> Pool<'a> {
    /// Opens or creates the folder, and removes what a killed process has left.
    pub fn open(dir: PathBuf, attempt: &'a Attempt) -> Result<Self, BackupError> {
        let tmp = dir.join(TMP);
        match fs::remove_dir_all(&tmp) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(BackupError::io(&tmp, "clear", error)),
            _ => {}
        }
        make_folder(&tmp)?;
        // One that is lost or nonsense begins again.
        let last = fs::read_to_string(dir.join(CHECKED)).ok().and_then(|text| text.trim().parse::<u8>().ok());
        let checked = last.map_or(0, |last| last.wrapping_add(1));
        let pending = Vec::new();
        Ok(Self { attempt, dir, can_link: true, pending, checked, new: 0, linked: 0, bytes_written: 0 })
    }

    /// Takes the file of a torrent, unless it is there. False if it is lost or damaged.
    pub fn take(&mut self, archive: &Archive, facts: &TorrentFacts) -> Result<bool, BackupError> {
        let path = self.dir.join(name_of(&facts.sha256));
        let is_there = fs::metadata(&path).is_ok_and(|there| there.len() == u64::from(facts.metainfo_bytes));
        if is_there && (facts.sha256[0] != self.checked || is_whole(&path, &facts.sha256)) {
            return Ok(true);
        }
        let source = archive.path_of(&facts.infohashes);
        let read = read_torrent(archive, facts).map_err(|error| BackupError::io(&source, "read", error))?;
        let Some((file, bytes)) = read else { return Ok(false) };
        make_folder(path.parent().unwrap_or(&self.dir))?;
        self.new += 1;
        if self.can_link && self.link(&source, &file, &path) {
            self.linked += 1;
            return Ok(true);
        }
        self.write(&path, &bytes)?;
        Ok(true)
    }

    /// A second name of the file that was read. False if there is none: then it is copied.
    fn link(&mut self, source: &Path, read: &File, path: &Path) -> bool {
        let tmp = self.tmp(path);
        if let Err(error) = fs::hard_link(source, &tmp) {
            // A file with too many names; all others are on another file system, or one without links.
            self.can_link = error.raw_os_error() == Some(Errno::MLINK.raw_os_error());
            return false;
        }
        let id = |of: fs::Metadata| (of.dev(), of.ino());
        // Another process may have replaced the file since it was read.
        let is_same = fs::symlink_metadata(&tmp).ok().map(id) == read.metadata().ok().map(id);
        let linked = is_same && fs::rename(&tmp, path).is_ok();
        if !linked {
            let _ = fs::remove_file(&tmp);
        }
        linked
    }

    fn write(&mut self, path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
        let tmp = self.tmp(path);
        let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o640).open(&tmp);
        let mut file = opened.map_err(|error| BackupError::io(&tmp, "create", error))?;
        file.write_all(bytes).map_err(|error| BackupError::io(&tmp, "write", error))?;
        self.bytes_written += bytes.len() as u64;
        self.pending.push(path.to_owned());
        if self.pending.len() >= limits::RESTORED_AT_ONCE_MAX { self.settle() } else { Ok(()) }
    }

    /// Gives their names to the files that were written: from then on they are on the disk whenever they are there.
    pub fn settle(&mut self) -> Result<(), BackupError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        sync_all(&self.dir)?;
        for path in std::mem::take(&mut self.pending) {
            self.attempt.step();
            fs::rename(self.tmp(&path), &path).map_err(|error| BackupError::io(&path, "rename", error))?;
        }
        Ok(())
    }

    /// The next backup goes on with the next share.
    pub fn note_checked(&self) -> Result<(), BackupError> {
        let path = self.dir.join(CHECKED);
        fs::write(&path, format!("{}\n", self.checked)).map_err(|error| BackupError::io(&path, "write", error))
    }

    fn tmp(&self, path: &Path) -> PathBuf {
        self.dir.join(TMP).join(path.file_name().unwrap_or_default())
    }
}

/// True if the content is what the name says; what cannot be read is not.
fn is_whole(path: &Path, sha256: &[u8; 32]) -> bool {
    let mut bytes = Vec::new();
    let file = gleaner_base::regular::open(path);
    let read = file.and_then(|file| file.take(limits::TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes));
    read.is_ok() && <[u8; 32]>::from(Sha256::digest(&bytes)) == *sha256
}

/// Puts all of the file system with this folder on the disk.
pub(super) fn sync_all(folder: &Path) -> Result<(), BackupError> {
    let synced = File::open(folder).and_then(|folder| rustix::fs::syncfs(&folder).map_err(io::Error::from));
    synced.map_err(|error| BackupError::io(folder, "sync", error))
}

/// A folder for the owner alone, and those above it.
pub(super) fn make_folder(path: &Path) -> Result<(), BackupError> {
    let made = fs::DirBuilder::new().recursive(true).mode(0o700).create(path);
    made.map_err(|error| BackupError::io(path, "create", error))
}
