//! What stands at a path where a file or folder was expected, in the words of an error. Opens nothing.

use std::fmt;
use std::fs::{self, FileType};
use std::io;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::limits::SOCKET_PATH_BYTES_MAX;

/// What is at a path, after its symbolic links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Place {
    /// Nothing, or nothing that this user can see.
    Nothing,
    Folder,
    File,
    Device,
    Pipe,
    Socket,
    /// A symbolic link whose target does not exist.
    Dangling(PathBuf),
    /// A symbolic link that leads back to itself.
    Circle,
}

impl Place {
    /// What is at this path.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        match fs::metadata(path) {
            Ok(there) => Self::of_type(there.file_type()),
            Err(error) if error.raw_os_error() == Some(libc::ELOOP) => Self::Circle,
            Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
                fs::read_link(path).map_or(Self::Nothing, Self::Dangling)
            }
            Err(_) => Self::Nothing,
        }
    }

    /// What an open file is.
    #[must_use]
    pub fn of_type(file_type: FileType) -> Self {
        match () {
            () if file_type.is_dir() => Self::Folder,
            () if file_type.is_fifo() => Self::Pipe,
            () if file_type.is_socket() => Self::Socket,
            () if file_type.is_file() => Self::File,
            () => Self::Device,
        }
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Nothing => "nothing",
            Self::Folder => "a folder",
            Self::File => "a file",
            Self::Device => "a device",
            Self::Pipe => "a pipe",
            Self::Socket => "a socket",
            Self::Dangling(target) => return write!(f, "a dangling link: {} does not exist", target.display()),
            Self::Circle => "a link that leads back to itself",
        })
    }
}

/// What is at this path, as a predicate that names the target of a link: `is a link to /dev/null, a device`.
#[must_use]
pub fn told(path: &Path) -> String {
    match (Place::of(path), fs::read_link(path)) {
        (place @ (Place::Dangling(_) | Place::Circle), _) | (place, Err(_)) => format!("is {place}"),
        (place, Ok(target)) => format!("is a link to {}, {place}", target.display()),
    }
}

/// The first part of a path, from its root, that is there and no folder. None if the path is a folder, or one can be created there as far
/// as names decide it.
#[must_use]
pub fn in_the_way(folder: &Path) -> Option<(PathBuf, Place)> {
    let parts: Vec<&Path> = folder.ancestors().filter(|part| !part.as_os_str().is_empty()).collect();
    let of = |part: &Path| (part.to_owned(), Place::of(part));
    parts.into_iter().rev().map(of).find(|(_, place)| !matches!(place, Place::Nothing | Place::Folder))
}

/// The control socket of a data folder, and whether its path is too long for the system.
#[must_use]
pub fn control_socket(data_dir: &Path) -> (PathBuf, bool) {
    let path = data_dir.join("control.sock");
    let is_too_long = path.as_os_str().len() > SOCKET_PATH_BYTES_MAX;
    (path, is_too_long)
}

/// What is used up when a file cannot be written, and how to go on; None for other errors.
#[must_use]
pub fn used_up(error: &io::Error) -> Option<(&'static str, &'static str)> {
    match error.kind() {
        io::ErrorKind::StorageFull => Some(("the disk is full", "make room on the disk (`df` shows what is left)")),
        io::ErrorKind::QuotaExceeded => Some(("the disk quota is used up", "make room, or ask for a larger quota")),
        io::ErrorKind::FileTooLarge => Some((
            "the limit on the size of files is reached",
            "raise it: `ulimit -f unlimited`, or `LimitFSIZE=infinity` of the unit",
        )),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_at_a_path_is_named() {
        let exe = std::env::current_exe().unwrap();
        for (path, expected) in [
            (Path::new("/dev/null"), "is a device"),
            (Path::new("/"), "is a folder"),
            (Path::new("/nonexistent"), "is nothing"),
            (&exe, "is a file"),
            (&exe.join("below"), "is nothing"),
        ] {
            assert_eq!(told(path), expected, "{}", path.display());
        }
        assert_eq!(told(Path::new("/proc/self/exe")), format!("is a link to {}, a file", exe.display()));
    }

    #[test]
    fn the_part_of_a_path_that_is_no_folder_is_found() {
        let exe = std::env::current_exe().unwrap();
        assert_eq!(in_the_way(&exe.join("a/b")), Some((exe.clone(), Place::File)));
        assert_eq!(in_the_way(Path::new("/nonexistent/a")), None);
        assert_eq!(in_the_way(exe.parent().unwrap()), None);
    }
}
