//! Files that must be regular ones: opening a named pipe waits for its other end, which may never come. And files that are whole or absent.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

/// Opens a regular file for reading.
///
/// # Errors
/// Those of the file system; and for anything else than a regular file, with a text that says so.
pub fn open(path: &Path) -> io::Result<File> {
    let irregular = || io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file");
    // Opening a device may do something.
    if !std::fs::metadata(path)?.is_file() {
        return Err(irregular());
    }
    // What has taken its place since, and files of the kernel that are regular by name alone (/proc/kmsg), would wait, too.
    let file = File::options().read(true).custom_flags(libc::O_NONBLOCK).open(path)?;
    if file.metadata()?.is_file() { Ok(file) } else { Err(irregular()) }
}

/// Creates a file with these bytes; if that fails, nothing of it is left.
///
/// # Errors
/// Those of the file system; `AlreadyExists` if there is one, which is not changed.
pub fn create(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = File::create_new(path)?;
    let written = file.write_all(bytes);
    if written.is_err() {
        let _ = std::fs::remove_file(path);
    }
    written
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_regular_file_is_not_opened() {
        let error = open(Path::new("/dev/zero")).unwrap_err();
        assert_eq!(error.to_string(), "it is not a regular file");
        assert_eq!(open(Path::new("/")).unwrap_err().kind(), io::ErrorKind::InvalidInput);
        assert_eq!(open(Path::new("/nonexistent")).unwrap_err().kind(), io::ErrorKind::NotFound);
        let file = open(&std::env::current_exe().unwrap()).unwrap();
        // SAFETY: a plain system call on an open descriptor.
        let flags = unsafe { libc::fcntl(std::os::fd::AsRawFd::as_raw_fd(&file), libc::F_GETFL) };
        assert_ne!(flags & libc::O_NONBLOCK, 0, "no file of the kernel makes a reader wait");
    }
}
