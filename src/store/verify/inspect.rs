//! One file of the archive: identifies and moves it.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::VerifyError;
use super::walk::DAMAGED;
use crate::crawldb::TorrentFacts;
use crate::limits::TORRENT_BYTES_MAX;
use gleaner_torrent::archive::Archive;
use gleaner_torrent::{Infohashes, metainfo};

/// The content of a file.
pub(super) enum Content {
    /// A torrent without bytes before or after it.
    Torrent(TorrentFacts),
    /// Something else; the text says what is wrong.
    Other(String),
}

/// The content of the file at `path`, computed from its bytes; None if there is none.
pub(super) fn content(path: &Path) -> Result<Option<Content>, VerifyError> {
    Ok(match read(path) {
        Ok(Some(body)) => Some(judge(&body)),
        Ok(None) => None,
        // A bad sector is a damaged file, not a reason to stop.
        Err(error) => Some(Content::Other(format!("cannot be read: {error}"))),
    })
}

fn judge(body: &[u8]) -> Content {
    if body.len() > TORRENT_BYTES_MAX {
        return Content::Other(format!("larger than {TORRENT_BYTES_MAX} bytes"));
    }
    match metainfo::parse(body) {
        Err(error) => Content::Other(format!("not a torrent: {error}")),
        Ok(metainfo) if metainfo.dict != (0..body.len()) => Content::Other("junk around the torrent".to_owned()),
        Ok(metainfo) => Content::Torrent(TorrentFacts::of(metainfo, body)),
    }
}

/// The bytes of a regular file, at most one more than a torrent may have; None if there is none.
fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    match std::fs::symlink_metadata(path) {
        // Checked before opening: opening a named pipe blocks forever.
        Ok(there) if !there.is_file() => return Err(io::Error::other("it is not a regular file")),
        Ok(_) => {}
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    }
    let mut body = Vec::new();
    File::open(path)?.take(TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut body)?;
    Ok(Some(body))
}

/// Moves a torrent to its path in the archive; on disk when it returns.
pub(super) fn move_home(archive: &Archive, from: &Path, infohashes: Infohashes) -> Result<(), VerifyError> {
    let home = archive.path_of(&infohashes);
    if std::fs::symlink_metadata(&home).is_ok() {
        // It is another torrent, or it would have been a second copy.
        set_aside(archive.dir(), &home)?;
    }
    let body = read(from).map_err(|error| VerifyError::io(from, "read", error))?.unwrap_or_default();
    archive.store_batch(&[(infohashes, &body)])?;
    std::fs::remove_file(from).map_err(|error| VerifyError::io(from, "remove", error))
}

/// Moves a file to `damaged/`, under its own name or with a number appended.
pub(super) fn set_aside(archive: &Path, path: &Path) -> Result<(), VerifyError> {
    let folder = archive.join(DAMAGED);
    std::fs::create_dir_all(&folder).map_err(|error| VerifyError::io(&folder, "create", error))?;
    let target = free_name(&folder, path)?;
    std::fs::rename(path, &target).map_err(|error| VerifyError::io(path, "move to damaged/", error))?;
    for changed in [Some(folder.as_path()), path.parent()].into_iter().flatten() {
        File::open(changed)
            .and_then(|folder| folder.sync_all())
            .map_err(|error| VerifyError::io(changed, "sync", error))?;
    }
    Ok(())
}

fn free_name(folder: &Path, path: &Path) -> Result<PathBuf, VerifyError> {
    let name = path.file_name().unwrap_or_default();
    let mut target = folder.join(name);
    for number in 1_u32.. {
        match std::fs::symlink_metadata(&target) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(target),
            Err(error) => return Err(VerifyError::io(&target, "read", error)),
            Ok(_) => {
                let mut numbered = name.to_owned();
                numbered.push(format!(".{number}"));
                target = folder.join(numbered);
            }
        }
    }
    Err(VerifyError::io(folder, "name a file in", io::Error::other("all names are taken")))
}
