//! The archive: one file per torrent, named by its infohash, written so that a power loss never loses a stored file.
//!
//! ```text
//! <dir>/ab/abcdef….torrent    one level of 256 folders, by the first byte of the key
//! <dir>/.tmp/                 files being written; swept at the next open
//! ```
//!
//! Comes after `metainfo` and before the database's commit. [`Archive::store_batch`] returns when all files are on
//! the disk under their names: it syncs contents before it renames, and the names before it returns. A crash at any
//! moment leaves at worst files in `.tmp` and whole files that no row of the database names (orphans, which `verify`
//! adopts).
//!
//! It never reads the clock, never interprets a torrent and never writes outside its folder: everything below that is opened by its
//! descriptor and follows no symbolic link, since root may open an archive that belongs to another user. Calls block: callers run them
//! off the runtime's threads.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use gleaner_base::{owner, place};

use super::Infohashes;

/// From this batch size on, two syncs of the whole file system cost less than one sync per file and folder. Measured
/// on ext4, CPU per file of 8 kB: at 1 file 280 µs against 460, at 2 files 240 against 140, at 16 files 230 against
/// 46 (docs/design/recognition.md).
const SYNCFS_FILES_MIN: usize = 2;

/// Tries to get the shared lock of a writer, and the time between them.
const LOCK_TRIES: u32 = 100;
const LOCK_TRY_AFTER: Duration = Duration::from_millis(50);

/// Name of the folder for files being written.
pub const TMP: &str = ".tmp";

/// Errors of the archive. The text names the path and the fix.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// No space, no inodes or no quota left, or a limit on the size of files. Nothing is damaged; the same call works once there is space.
    #[error("{path}: {what}\nhint: {hint}; the archive resumes from here", path = path.display())]
    Full { path: PathBuf, what: &'static str, hint: &'static str },
    /// Not readable for this process.
    #[error("{path}: cannot be read ({detail})\nhint: chmod u+rX {path}, or run the command as its owner", path = path.display())]
    Closed { path: PathBuf, detail: String },
    /// Something else has the name of the folder.
    #[error("{path}: {what}\nhint: move it away: a folder of this name belongs there", path = path.display())]
    InTheWay { path: PathBuf, what: String },
    /// Not writable for this process.
    #[error("{path}: cannot be written ({detail}); make the folder writable for the user that runs gleaner, or name another with --data", path = path.display())]
    ReadOnly { path: PathBuf, detail: io::Error },
    /// An infohash without any hash was given.
    #[error("{path}: a torrent without an infohash cannot be archived", path = path.display())]
    Nameless { path: PathBuf },
    /// Any other fault of the file system.
    #[error("{path}: {action}: {detail}; check the disk (dmesg, fsck), then `gleaner verify`", path = path.display())]
    Io { path: PathBuf, action: &'static str, detail: io::Error },
}

impl ArchiveError {
    fn new(path: PathBuf, action: &'static str, detail: impl Into<io::Error>) -> Self {
        let detail = detail.into();
        if let Some((what, hint)) = place::used_up(&detail) {
            return Self::Full { path, what, hint };
        }
        match detail.kind() {
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path, detail },
            _ => Self::Io { path, action, detail },
        }
    }

    fn closed(path: &Path) -> Self {
        let mode = std::fs::metadata(path).map(|of| format!("mode {:04o}", of.mode() & 0o777));
        Self::Closed { path: path.to_owned(), detail: mode.unwrap_or_else(|_| "permission denied".to_owned()) }
    }

    /// True if the same call may succeed later once there is space.
    #[must_use]
    pub fn is_full(&self) -> bool {
        matches!(self, Self::Full { .. })
    }
}

/// An open archive. Any number of processes may have one open; they all see whole files only.
#[derive(Debug)]
pub struct Archive {
    dir: PathBuf,
    dir_fd: OwnedFd,
    sync: bool,
    /// Opened at the first store, so that an archive on a read-only disk can be read.
    tmp: std::sync::OnceLock<Tmp>,
    /// Serial number of temporary files.
    serial: AtomicU64,
    /// Folders whose entry in `dir` is known to be on the disk.
    shards: [AtomicBool; 256],
}

/// The folder for files being written, with a shared lock that marks an active writer.
#[derive(Debug)]
struct Tmp {
    fd: OwnedFd,
}

/// A file of the batch that is not yet renamed.
struct Pending {
    tmp_name: String,
    name: String,
    shard: u8,
}

impl Archive {
    /// Opens the archive in `dir`, which is created if it is absent, and sweeps what a crash left in `.tmp`, unless
    /// another process has the archive open. Without `sync` nothing is forced to the disk: for tests only.
    ///
    /// # Errors
    /// [`ArchiveError`] when `dir` cannot be created or opened.
    pub fn open(dir: impl Into<PathBuf>, sync: bool) -> Result<Self, ArchiveError> {
        let dir = dir.into();
        let _owner = owner::act(data_dir_of(&dir));
        if !dir.is_dir() {
            if let Some((path, _)) = place::in_the_way(&dir) {
                return Err(ArchiveError::InTheWay { what: place::told(&path), path });
            }
            create_folders(&dir, sync)?;
        }
        let dir_fd = rustix::fs::open(&dir, folder_flags(), Mode::empty()).map_err(|error| match error {
            Errno::ACCESS => ArchiveError::closed(&dir),
            error => ArchiveError::new(dir.clone(), "open", error),
        })?;
        let archive = Self {
            dir,
            dir_fd,
            sync,
            tmp: std::sync::OnceLock::new(),
            serial: AtomicU64::new(0),
            shards: [const { AtomicBool::new(false) }; 256],
        };
        archive.admit_group();
        archive.sweep()?;
        Ok(archive)
    }

    /// Lets the group read what earlier versions kept for the owner alone, once: the mode of the folder itself says that it is done. The data
    /// folder decides whether the group gets there. What cannot be changed stays as it is.
    fn admit_group(&self) {
        let mode = |fd: &OwnedFd| rustix::fs::fstat(fd).map(|of| of.st_mode & 0o777);
        if mode(&self.dir_fd) != Ok(0o700) {
            return;
        }
        for shard in 0..=u8::MAX {
            let Ok(fd) = self.open_shard(shard) else { continue };
            for entry in rustix::fs::Dir::read_from(&fd).into_iter().flatten().flatten() {
                if !matches!(entry.file_name().to_bytes(), b"." | b"..")
                    && let Ok(file) = self.open_file(shard, &entry.file_name().to_string_lossy())
                {
                    let _ = rustix::fs::fchmod(&file, Mode::from_raw_mode(0o640));
                }
            }
            let _ = rustix::fs::fchmod(&fd, Mode::from_raw_mode(0o750));
        }
        if let Ok(tmp) = rustix::fs::openat(&self.dir_fd, TMP, folder_flags() | OFlags::NOFOLLOW, Mode::empty()) {
            let _ = rustix::fs::fchmod(&tmp, Mode::from_raw_mode(0o750));
        }
        let _ = rustix::fs::fchmod(&self.dir_fd, Mode::from_raw_mode(0o750));
    }

    /// The folder that was opened.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Where a torrent's file is, or would be.
    #[must_use]
    pub fn path_of(&self, infohashes: &Infohashes) -> PathBuf {
        self.dir.join(name_of_key(infohashes.key()))
    }

    /// The file of a torrent: a regular one, reached over no symbolic link.
    ///
    /// # Errors
    /// Those of the file system; `NotFound` if there is none.
    pub fn open_torrent(&self, infohashes: &Infohashes) -> io::Result<File> {
        let _owner = owner::act(data_dir_of(&self.dir));
        let shard = infohashes.key().first().copied().ok_or(io::ErrorKind::NotFound)?;
        self.open_file(shard, &file_name_of_key(infohashes.key()))
    }

    /// Stores the files of a batch. `Ok` means that all of them are on the disk, whole and under their names. An
    /// existing file is kept if it is equal and replaced if it is not. If the batch contains the same torrent twice,
    /// the first body counts, as the first visit does in the database.
    ///
    /// # Errors
    /// [`ArchiveError`]. Then some of the files may be stored (whole) and others not, and no temporary file is left.
    pub fn store_batch(&self, batch: &[(Infohashes, &[u8])]) -> Result<(), ArchiveError> {
        if batch.is_empty() {
            return Ok(());
        }
        let tmp = self.tmp()?;
        let mut pending = Vec::with_capacity(batch.len());
        let stored = self.store_pending(tmp, batch, &mut pending);
        if stored.is_err() {
            for file in &pending {
                // Files that were already renamed are not found here.
                let _ = rustix::fs::unlinkat(&tmp.fd, &file.tmp_name, AtFlags::empty());
            }
        }
        stored
    }

    fn store_pending(
        &self,
        tmp: &Tmp,
        batch: &[(Infohashes, &[u8])],
        pending: &mut Vec<Pending>,
    ) -> Result<(), ArchiveError> {
        let whole_file_system = batch.len() >= SYNCFS_FILES_MIN;
        // Folders to sync. Folders of equal files are included: a process that crashed may have renamed the file, and
        // created its folder, without a sync.
        let mut touched = [false; 256];
        let mut seen = HashSet::with_capacity(batch.len());
        for (infohashes, body) in batch {
            let Some(&shard) = infohashes.key().first() else {
                return Err(ArchiveError::Nameless { path: self.dir.clone() });
            };
            touched[usize::from(shard)] = true;
            let name = file_name_of_key(infohashes.key());
            if !seen.insert(infohashes.key()) || self.holds(shard, &name, body) {
                continue;
            }
            let (tmp_name, mut file) = self.create_tmp(tmp)?;
            let tmp_path = self.dir.join(TMP).join(&tmp_name);
            // Before the write, so that a truncated file is removed.
            pending.push(Pending { tmp_name, name, shard });
            file.write_all(body).map_err(|error| ArchiveError::new(tmp_path.clone(), "write", error))?;
            if self.sync && !whole_file_system {
                file.sync_all().map_err(|error| ArchiveError::new(tmp_path, "sync", error))?;
            }
        }
        if self.sync && whole_file_system && !pending.is_empty() {
            self.sync_file_system()?;
        }
        let mut new_shard =
            touched.iter().zip(&self.shards).any(|(touched, known)| *touched && !known.load(Ordering::Relaxed));
        for file in &*pending {
            new_shard |= self.give_name(tmp, file)?;
        }
        if self.sync {
            self.sync_names(&touched, new_shard, whole_file_system)?;
        }
        for (_, known) in touched.iter().zip(&self.shards).filter(|(touched, _)| **touched) {
            known.store(true, Ordering::Relaxed);
        }
        Ok(())
    }

    /// True if the file exists with this body. On any read error it returns false: the file is then rewritten.
    fn holds(&self, shard: u8, name: &str, body: &[u8]) -> bool {
        let Ok(mut file) = self.open_file(shard, name) else { return false };
        if file.metadata().map(|there| there.len()).ok() != Some(body.len() as u64) {
            return false;
        }
        let mut there = Vec::with_capacity(body.len());
        file.read_to_end(&mut there).is_ok() && there == body
    }

    /// A regular file of the archive.
    fn open_file(&self, shard: u8, name: &str) -> io::Result<File> {
        // A pipe would block.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(rustix::fs::openat(self.open_shard(shard)?, name, flags, Mode::empty())?);
        let is_file = file.metadata()?.is_file();
        if is_file { Ok(file) } else { Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")) }
    }

    fn open_shard(&self, shard: u8) -> rustix::io::Result<OwnedFd> {
        rustix::fs::openat(&self.dir_fd, shard_name(shard), folder_flags() | OFlags::NOFOLLOW, Mode::empty())
    }

    /// Creates a file in `.tmp`. Another archive of this process may have taken the name, or a crashed process with
    /// the same PID whose files were not swept; then the next name is tried.
    fn create_tmp(&self, tmp: &Tmp) -> Result<(String, File), ArchiveError> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        loop {
            let serial = self.serial.fetch_add(1, Ordering::Relaxed);
            let name = format!("{}-{serial}", std::process::id());
            match rustix::fs::openat(&tmp.fd, &name, flags, Mode::from_raw_mode(0o640)) {
                Ok(fd) => return Ok((name, File::from(fd))),
                Err(Errno::EXIST) => {}
                Err(error) => return Err(ArchiveError::new(self.dir.join(TMP).join(name), "create", error)),
            }
        }
    }

    /// Renames a file into its place. True if its folder had to be recreated.
    fn give_name(&self, tmp: &Tmp, file: &Pending) -> Result<bool, ArchiveError> {
        let rename = || {
            let shard = self.open_shard(file.shard)?;
            rustix::fs::renameat(&tmp.fd, &file.tmp_name, shard, &file.name)
        };
        self.make_shard(file.shard)?;
        let mut renamed = rename();
        let taken_away = renamed == Err(Errno::NOENT);
        if taken_away {
            // The folder was removed since it was created.
            self.shards[usize::from(file.shard)].store(false, Ordering::Relaxed);
            self.make_shard(file.shard)?;
            renamed = rename();
        }
        renamed.map_err(|error| {
            ArchiveError::new(self.dir.join(shard_name(file.shard)).join(&file.name), "rename", error)
        })?;
        Ok(taken_away)
    }

    /// Creates the folder of a first byte, unless it is known to exist.
    fn make_shard(&self, shard: u8) -> Result<(), ArchiveError> {
        if self.shards[usize::from(shard)].load(Ordering::Relaxed) {
            return Ok(());
        }
        match rustix::fs::mkdirat(&self.dir_fd, shard_name(shard), Mode::from_raw_mode(0o750)) {
            Ok(()) | Err(Errno::EXIST) => Ok(()),
            Err(error) => Err(ArchiveError::new(self.dir.join(shard_name(shard)), "create", error)),
        }
    }

    fn sync_names(&self, touched: &[bool; 256], new_shard: bool, whole: bool) -> Result<(), ArchiveError> {
        if whole {
            return self.sync_file_system();
        }
        for shard in (0..=u8::MAX).filter(|shard| touched[usize::from(*shard)]) {
            self.open_shard(shard)
                .and_then(rustix::fs::fsync)
                .map_err(|error| ArchiveError::new(self.dir.join(shard_name(shard)), "sync", error))?;
        }
        if new_shard {
            rustix::fs::fsync(&self.dir_fd).map_err(|error| ArchiveError::new(self.dir.clone(), "sync", error))?;
        }
        Ok(())
    }

    fn sync_file_system(&self) -> Result<(), ArchiveError> {
        rustix::fs::syncfs(&self.dir_fd).map_err(|error| ArchiveError::new(self.dir.clone(), "sync", error))
    }

    /// True if a file for the torrent exists.
    #[must_use]
    pub fn contains(&self, infohashes: &Infohashes) -> bool {
        self.open_torrent(infohashes).is_ok()
    }

    fn tmp(&self) -> Result<&Tmp, ArchiveError> {
        if let Some(tmp) = self.tmp.get() {
            return Ok(tmp);
        }
        let path = self.dir.join(TMP);
        let fail = |error: Errno| ArchiveError::new(path.clone(), "create", error);
        match rustix::fs::mkdirat(&self.dir_fd, TMP, Mode::from_raw_mode(0o750)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(fail(error)),
        }
        let flags = folder_flags() | OFlags::NOFOLLOW;
        let fd = rustix::fs::openat(&self.dir_fd, TMP, flags, Mode::empty()).map_err(fail)?;
        // Waits while another process sweeps, and not for ever: whoever reads the folder can lock it. On a file system without locks, no other
        // process sweeps either.
        for _ in 0..LOCK_TRIES {
            if rustix::fs::flock(&fd, FlockOperation::NonBlockingLockShared) != Err(Errno::AGAIN) {
                break;
            }
            std::thread::sleep(LOCK_TRY_AFTER);
        }
        Ok(self.tmp.get_or_init(|| Tmp { fd }))
    }

    /// Removes what a crash left behind. If another live process holds a shared lock, nothing is removed.
    fn sweep(&self) -> Result<(), ArchiveError> {
        let path = self.dir.join(TMP);
        let flags = folder_flags() | OFlags::NOFOLLOW;
        let Ok(fd) = rustix::fs::openat(&self.dir_fd, TMP, flags, Mode::empty()) else {
            return Ok(());
        };
        if rustix::fs::flock(&fd, FlockOperation::NonBlockingLockExclusive).is_err() {
            return Ok(());
        }
        let entries =
            rustix::fs::Dir::read_from(&fd).map_err(|error| ArchiveError::new(path.clone(), "read", error))?;
        for entry in entries {
            let entry = entry.map_err(|error| ArchiveError::new(path.clone(), "read", error))?;
            let name = entry.file_name();
            if matches!(name.to_bytes(), b"." | b"..") {
                continue;
            }
            match rustix::fs::unlinkat(&fd, name, AtFlags::empty()) {
                // On a read-only disk the archive can still be read; storing reports the error.
                Ok(()) | Err(Errno::ROFS | Errno::ACCESS | Errno::PERM) => {}
                Err(error) => {
                    let path = path.join(name.to_string_lossy().as_ref());
                    return Err(ArchiveError::new(path, "remove", error));
                }
            }
        }
        Ok(())
    }
}

/// The data folder, whose owner's the archive is: the archive itself may be a link that its owner has made.
fn data_dir_of(dir: &Path) -> &Path {
    dir.parent().filter(|above| *above != Path::new("")).unwrap_or(Path::new("."))
}

/// Creates a folder (0750) and its missing parents. Their entries are on the disk when it returns.
fn create_folders(dir: &Path, sync: bool) -> Result<(), ArchiveError> {
    let absent: Vec<&Path> =
        dir.ancestors().take_while(|folder| *folder != Path::new("") && !folder.is_dir()).collect();
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o750).create(dir);
    made.map_err(|error| ArchiveError::new(dir.to_owned(), "create", error))?;
    for above in absent.into_iter().filter_map(Path::parent).filter(|_| sync) {
        let above = if above == Path::new("") { Path::new(".") } else { above };
        File::open(above)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| ArchiveError::new(above.to_owned(), "sync", error))?;
    }
    Ok(())
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC
}

/// Name of the folder of keys with this first byte.
#[must_use]
pub fn shard_name(shard: u8) -> String {
    format!("{shard:02x}")
}

/// Path within the archive of the file of a key (20 bytes of v1, or 32 of v2).
#[must_use]
pub fn name_of_key(key: &[u8]) -> String {
    let shard = key.first().map_or_else(|| "--".to_owned(), |first| shard_name(*first));
    format!("{shard}/{}", file_name_of_key(key))
}

fn file_name_of_key(key: &[u8]) -> String {
    format!("{}.torrent", data_encoding::HEXLOWER.encode(key))
}

/// The key of a file name in the folder `shard`; None if the archive never makes such a name.
#[must_use]
pub fn key_of_name(name: &str, shard: u8) -> Option<Vec<u8>> {
    let key = data_encoding::HEXLOWER.decode(name.strip_suffix(".torrent")?.as_bytes()).ok()?;
    (matches!(key.len(), 20 | 32) && key.first() == Some(&shard)).then_some(key)
}
