//! A file that is either complete under its name or absent: written beside it, synced, renamed.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, Mode, OFlags};
use rustix::io::Errno;

use super::ExportError;

/// A file before it gets its name. If dropped before [`WholeFile::finish`], it is removed.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    part: PathBuf,
    dest: PathBuf,
    finished: bool,
}

impl WholeFile {
    /// Begins the file. Leftovers of a killed process are removed; a link at its path is never followed.
    ///
    /// # Errors
    /// [`ExportError::Busy`] while another process writes the same file.
    pub fn begin(dest: &Path) -> Result<Self, ExportError> {
        Self::begin_with_mode(dest, 0o666)
    }

    /// The same for a file with these permissions, less those of the umask.
    ///
    /// # Errors
    /// As of [`Self::begin`].
    pub fn begin_with_mode(dest: &Path, mode: u32) -> Result<Self, ExportError> {
        let part = part_name(dest);
        let failed = |error| ExportError::io(&part, "create", error);
        loop {
            match OpenOptions::new().read(true).write(true).create_new(true).mode(mode).open(&part) {
                Ok(file) => {
                    lock(&file, dest)?;
                    // Between creation and locking, another process may have taken it for a leftover.
                    if is_at(&file, &part).map_err(failed)? {
                        return Ok(Self { file, part, dest: dest.to_owned(), finished: false });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => remove_left(&part, dest)?,
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Gives the file its name, replacing an existing one; on disk when it returns. Returns its length in bytes.
    ///
    /// # Errors
    /// [`ExportError`]; then an existing file of that name is unchanged.
    pub fn finish(self) -> Result<u64, ExportError> {
        // Nothing ends it.
        Ok(self.finish_unless(|| false)?.unwrap_or_default())
    }

    /// The same, unless it is stopped: that is asked once all else is on the disk, which may have taken long. None if it was.
    ///
    /// # Errors
    /// As of [`Self::finish`].
    pub fn finish_unless(mut self, is_stopped: impl FnOnce() -> bool) -> Result<Option<u64>, ExportError> {
        self.file.sync_all().map_err(|error| ExportError::io(&self.part, "sync", error))?;
        let bytes = self.file.metadata().map_err(|error| ExportError::io(&self.part, "read", error))?.len();
        if is_stopped() {
            return Ok(None);
        }
        std::fs::rename(&self.part, &self.dest).map_err(|error| ExportError::io(&self.dest, "rename", error))?;
        self.finished = true;
        sync_folder(parent(&self.dest))?;
        Ok(Some(bytes))
    }
}

impl Write for WholeFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for WholeFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

impl Drop for WholeFile {
    fn drop(&mut self) {
        if !self.finished {
            // Best effort: the next export to this path overwrites it.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Removes the part file of a dead process, or a link that somebody put there.
fn remove_left(part: &Path, dest: &Path) -> Result<(), ExportError> {
    let failed = |error| ExportError::io(part, "clear", error);
    // Non-blocking, in case it is a pipe.
    let flags = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match rustix::fs::open(part, flags, Mode::empty()).map(File::from) {
        Ok(left) => {
            lock(&left, dest)?;
            // Between opening and locking, its writer may have finished, and another may have begun.
            if !is_at(&left, part).map_err(failed)? {
                return Ok(());
            }
        }
        Err(Errno::LOOP) => {}
        Err(Errno::NOENT) => return Ok(()),
        Err(error) => return Err(failed(error.into())),
    }
    std::fs::remove_file(part).map_err(failed)
}

/// True if the open file is the one at `path`.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    let ours = file.metadata()?;
    match std::fs::symlink_metadata(path) {
        Ok(there) => Ok((there.dev(), there.ino()) == (ours.dev(), ours.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Takes the exclusive lock of a file or folder that is being written on behalf of `dest`.
pub fn lock(file: &File, dest: &Path) -> Result<(), ExportError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(ExportError::Busy { dest: dest.to_owned() }),
        // On a file system without locks, the caller has to avoid two exports to one path at a time.
        _ => Ok(()),
    }
}

/// Takes the shared lock of a folder that is read: nothing that [`lock`] guards is written meanwhile. False if something is.
#[must_use]
pub fn lock_shared(folder: &File) -> bool {
    rustix::fs::flock(folder, FlockOperation::NonBlockingLockShared) != Err(rustix::io::Errno::WOULDBLOCK)
}

/// The temporary name of `dest`: hidden, in the same folder.
#[must_use]
pub fn part_name(dest: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(dest.file_name().unwrap_or_default());
    name.push(".gleaner-part");
    dest.with_file_name(name)
}

/// The folder of a path.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Makes the names in a folder durable.
pub fn sync_folder(path: &Path) -> Result<(), ExportError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| ExportError::io(path, "sync", error))
}

/// Lines for an export whose number is only known at the end: a nameless file, so that nothing is left however the
/// process ends.
#[derive(Debug)]
pub struct Spool {
    lines: io::BufWriter<File>,
    path: PathBuf,
}

impl Spool {
    /// An empty spool on the disk of `folder`.
    pub fn new(folder: &Path, name: &str) -> Result<Self, ExportError> {
        let path = folder.join(format!(".{name}.{}.gleaner-part", std::process::id()));
        let nameless = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(file) = rustix::fs::open(folder, nameless, Mode::RUSR | Mode::WUSR) {
            return Ok(Self { lines: io::BufWriter::new(File::from(file)), path });
        }
        // A file system without nameless files: a named one, which a kill right here would leave.
        let failed = |error| ExportError::io(&path, "create", error);
        loop {
            let made = OpenOptions::new().read(true).write(true).create_new(true).open(&path);
            // Left by a dead process with the same id, or by somebody with a link.
            match std::fs::remove_file(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(failed(error)),
            }
            match made {
                Ok(file) => return Ok(Self { lines: io::BufWriter::new(file), path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(failed(error)),
            }
        }
    }

    /// Adds a line.
    pub fn push(&mut self, line: &str) -> Result<(), ExportError> {
        self.write(line.as_bytes()).and_then(|()| self.write(b"\n")).map_err(|error| self.failed(error))
    }

    /// The lines from the start, with their length in bytes.
    pub fn read_back(self) -> Result<(File, u64), ExportError> {
        let path = self.path;
        let failed = |error| ExportError::io(&path, "write", error);
        let mut file = self.lines.into_inner().map_err(|error| failed(error.into_error()))?;
        let bytes = file.stream_position().map_err(failed)?;
        file.seek(SeekFrom::Start(0)).map_err(failed)?;
        Ok((file, bytes))
    }

    /// Adds bytes as they are.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.lines.write_all(bytes)
    }

    fn failed(&self, error: io::Error) -> ExportError {
        ExportError::io(&self.path, "write", error)
    }
}
