//! A file that is either whole under its name or not there at all: written beside it, synced, renamed.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::FlockOperation;

use super::ExportError;

/// A file on its way to its name. Dropped before [`WholeFile::finish`], it is removed.
#[derive(Debug)]
pub struct WholeFile {
    file: File,
    part: PathBuf,
    dest: PathBuf,
    finished: bool,
}

impl WholeFile {
    /// Begins the file. What a killed process left of an earlier try is overwritten.
    ///
    /// # Errors
    /// [`ExportError::Busy`] while another process writes the same file.
    pub fn begin(dest: &Path) -> Result<Self, ExportError> {
        let part = part_name(dest);
        let failed = |error| ExportError::io(&part, "create", error);
        loop {
            let file =
                OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&part).map_err(failed)?;
            lock(&file, dest)?;
            // Between the opening and the lock another process may have finished and renamed this very file.
            let ours = file.metadata().map_err(failed)?;
            match std::fs::metadata(&part) {
                Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {}
                Ok(_) => continue,
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(failed(error)),
            }
            file.set_len(0).map_err(failed)?;
            return Ok(Self { file, part, dest: dest.to_owned(), finished: false });
        }
    }

    /// Gives the file its name, in place of what had it; on the disk when it returns. Returns its length in bytes.
    ///
    /// # Errors
    /// [`ExportError`]; then whatever had the name still has it.
    pub fn finish(mut self) -> Result<u64, ExportError> {
        self.file.sync_all().map_err(|error| ExportError::io(&self.part, "sync", error))?;
        let bytes = self.file.metadata().map_err(|error| ExportError::io(&self.part, "read", error))?.len();
        std::fs::rename(&self.part, &self.dest).map_err(|error| ExportError::io(&self.dest, "rename", error))?;
        self.finished = true;
        sync_folder(parent(&self.dest))?;
        Ok(bytes)
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
            // Best effort: the next export to this place overwrites it.
            let _ = std::fs::remove_file(&self.part);
        }
    }
}

/// Takes the exclusive lock of a file or folder that is being written on behalf of `dest`.
pub fn lock(file: &File, dest: &Path) -> Result<(), ExportError> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(rustix::io::Errno::WOULDBLOCK) => Err(ExportError::Busy { dest: dest.to_owned() }),
        // A file system without locks: two exports to one place at one time are then the caller's to avoid.
        _ => Ok(()),
    }
}

/// The name under which `dest` is written: hidden, in the same folder.
#[must_use]
pub fn part_name(dest: &Path) -> PathBuf {
    let mut name = std::ffi::OsString::from(".");
    name.push(dest.file_name().unwrap_or_default());
    name.push(".gleaner-part");
    dest.with_file_name(name)
}

/// The folder in which a path lies.
#[must_use]
pub fn parent(path: &Path) -> &Path {
    match path.parent() {
        Some(parent) if parent != Path::new("") => parent,
        _ => Path::new("."),
    }
}

/// Forces the names in a folder to the disk.
pub fn sync_folder(path: &Path) -> Result<(), ExportError> {
    File::open(path).and_then(|folder| folder.sync_all()).map_err(|error| ExportError::io(path, "sync", error))
}

/// Lines on their way into an export, whose number is not known before the last: a file without a name, so that
/// nothing of it is left however the process ends.
#[derive(Debug)]
pub struct Spool {
    lines: io::BufWriter<File>,
    path: PathBuf,
}

impl Spool {
    /// An empty spool on the disk of `folder`.
    pub fn new(folder: &Path, name: &str) -> Result<Self, ExportError> {
        let path = folder.join(format!(".{name}.{}.gleaner-part", std::process::id()));
        let failed = |error| ExportError::io(&path, "create", error);
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(true).open(&path).map_err(failed)?;
        std::fs::remove_file(&path).map_err(failed)?;
        Ok(Self { lines: io::BufWriter::new(file), path })
    }

    /// Adds a line.
    pub fn push(&mut self, line: &str) -> Result<(), ExportError> {
        self.write(line.as_bytes()).and_then(|()| self.write(b"\n")).map_err(|error| self.failed(error))
    }

    /// The lines from the first on, with their length in bytes.
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
