//! Writes into the watch folder of a client: a file has its name only once it is whole and on the disk.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;

use gleaner_base::place::{self, Place};

use crate::HandoverError;

/// An open folder. Files are reached by its descriptor, and over no symbolic link in it.
#[derive(Debug)]
pub struct WatchFolder {
    path: PathBuf,
    fd: OwnedFd,
}

impl WatchFolder {
    /// Opens a folder that is there.
    ///
    /// # Errors
    /// If it is missing, something else, or closed to this user.
    pub fn open(path: &Path) -> Result<Self, HandoverError> {
        let folder = path.to_owned();
        match Place::of(path) {
            Place::Nothing => return Err(HandoverError::NoFolder { folder }),
            Place::Folder => {}
            _ => return Err(HandoverError::NotAFolder { folder, what: place::told(path) }),
        }
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(path, flags, Mode::empty()) {
            Ok(fd) => Ok(Self { path: folder, fd }),
            Err(error) => Err(fault(path, path, "open", error.into())),
        }
    }

    /// Why nothing can be written here; None if it can, as far as modes tell.
    #[must_use]
    pub fn refusal(&self) -> Option<HandoverError> {
        let wanted = rustix::fs::Access::WRITE_OK | rustix::fs::Access::EXEC_OK;
        let refused = rustix::fs::access(&self.path, wanted).err();
        refused.map(|error| fault(&self.path, &self.path, "write", error.into()))
    }

    /// Writes a file: `NAME.part`, synced, then renamed. On the disk under its name when it returns. One of this name is replaced.
    ///
    /// # Errors
    /// Those of the file system; then nothing of it is left, as far as that can be removed.
    pub fn put(&self, name: &str, bytes: &[u8]) -> Result<(), HandoverError> {
        let part = format!("{name}.part");
        let failed = |action| {
            let path = self.path.join(&part);
            move |error: io::Error| fault(&self.path, &path, action, error)
        };
        // Left by a killed process, or put there by somebody.
        match rustix::fs::unlinkat(&self.fd, &part, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(error) => return Err(failed("remove")(error.into())),
        }
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        // Who else may read it, the umask and the group of the folder say.
        let opened = rustix::fs::openat(&self.fd, &part, flags, Mode::from_raw_mode(0o664));
        let mut file = File::from(opened.map_err(|error| failed("create")(error.into()))?);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).map_err(failed("write"));
        let named = written.and_then(|()| {
            let renamed = rustix::fs::renameat(&self.fd, &part, &self.fd, name);
            renamed.map_err(|error| failed("rename")(error.into()))
        });
        if named.is_err() {
            let _ = rustix::fs::unlinkat(&self.fd, &part, AtFlags::empty());
        }
        named?;
        rustix::fs::fsync(&self.fd).map_err(|error| failed("sync")(error.into()))
    }
}

fn fault(folder: &Path, path: &Path, action: &'static str, error: io::Error) -> HandoverError {
    let folder = folder.to_owned();
    if let Some((what, hint)) = place::used_up(&error) {
        return HandoverError::Full { folder, what, hint };
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            HandoverError::ReadOnly { folder, error }
        }
        io::ErrorKind::NotFound => HandoverError::NoFolder { folder },
        _ => HandoverError::Io { path: path.to_owned(), action, error },
    }
}
