//! What a backup says of itself: its form, its version, and the checksum of each of its files. The torrents are files named by their
//! own checksums, which the rows of the database have.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Component, Path};

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{Attempt, BackupError, Stepping};
use crate::crawldb::redb_store::CRAWL_SCHEMA;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::regular;

/// Its name in the folder of a state.
pub const MANIFEST: &str = "manifest.json";

/// What begins each manifest of ours.
const KIND: &str = "gleaner backup";

/// The form that this program writes, and the highest that it reads.
const FORM: u32 = 1;

/// The manifest of one state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    kind: String,
    form: u32,
    /// Schema of its crawl database.
    schema: u64,
    /// Of the program that made it.
    pub version: String,
    /// When its state was that of the databases.
    pub made: UnixMillis,
    pub with_secrets: bool,
    /// Rows of the database.
    pub torrents: u64,
    /// SHA-256, in hex, of torrents whose files were lost or damaged before the backup.
    pub left_out: Vec<String>,
    /// All files but the torrents.
    pub files: Vec<Entry>,
}

/// A file of a state.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Below the folder of the state.
    pub path: String,
    pub bytes: u64,
    /// In hex.
    pub sha256: String,
}

/// Reads the form alone: all else of a later one may differ.
#[derive(Deserialize)]
struct Head {
    kind: String,
    form: u32,
    version: String,
}

impl Manifest {
    /// An empty one.
    #[must_use]
    pub fn new(made: UnixMillis, with_secrets: bool) -> Self {
        Self {
            kind: KIND.to_owned(),
            form: FORM,
            schema: CRAWL_SCHEMA,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            made,
            with_secrets,
            torrents: 0,
            left_out: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Reads a manifest. `path` is only used in messages.
    ///
    /// # Errors
    /// `NotABackup`, `Newer`, or `Damaged`, also for paths that lead out of the folder.
    pub fn read(path: &Path, bytes: &[u8]) -> Result<Self, BackupError> {
        let head: Head = serde_json::from_slice(bytes)
            .map_err(|error| BackupError::damaged(path, format!("it cannot be read: {error}")))?;
        if head.kind != KIND {
            return Err(BackupError::NotABackup { from: path.to_owned() });
        }
        let newer = |found, known| BackupError::Newer {
            from: path.to_owned(),
            version: head.version.chars().filter(char::is_ascii_graphic).take(20).collect(),
            found,
            known,
        };
        if head.form > FORM {
            return Err(newer(head.form.into(), FORM.into()));
        }
        let manifest: Self = serde_json::from_slice(bytes)
            .map_err(|error| BackupError::damaged(path, format!("it cannot be read: {error}")))?;
        if manifest.schema > CRAWL_SCHEMA {
            return Err(newer(manifest.schema, CRAWL_SCHEMA));
        }
        let is_ours = |entry: &Entry| is_below(&entry.path);
        match manifest.files.iter().find(|entry| !is_ours(entry)) {
            Some(entry) => Err(BackupError::damaged(path, format!("{:?} is no path of a backup", entry.path))),
            None => Ok(manifest),
        }
    }

    /// The same, from a file.
    ///
    /// # Errors
    /// As [`Self::read`], and those of the file system.
    pub fn open(path: &Path) -> Result<Self, BackupError> {
        let mut bytes = Vec::new();
        let file = regular::open(path).map_err(|error| BackupError::reading(path, error))?;
        let read = file.take(limits::BACKUP_MANIFEST_BYTES_MAX).read_to_end(&mut bytes);
        read.map_err(|error| BackupError::reading(path, error))?;
        Self::read(path, &bytes)
    }
}

/// True for a path of plain names, one `/` between two: no part of it that is cut off leaves another meaning.
pub(super) fn is_below(path: &str) -> bool {
    let is_plain = |name: &str| {
        let mut parts = Path::new(name).components();
        matches!((parts.next(), parts.next()), (Some(Component::Normal(only)), None) if only == name)
    };
    !path.contains('\0') && path.split('/').all(is_plain)
}

/// Length and SHA-256, in hex, of what is read to its end.
pub(super) fn sums(mut from: impl io::Read, mut to: impl io::Write) -> io::Result<(u64, String)> {
    let (mut sha256, mut buffer, mut bytes) = (Sha256::new(), vec![0; 128 << 10], 0);
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok((bytes, HEXLOWER.encode(&sha256.finalize()))),
            Ok(read) => {
                sha256.update(&buffer[..read]);
                to.write_all(&buffer[..read])?;
                bytes += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

/// The entry of a file that is there.
pub(super) fn entry_of(file: &Path, path: &str, attempt: &Attempt) -> io::Result<Entry> {
    let (bytes, sha256) = sums(Stepping(File::open(file)?, attempt), io::sink())?;
    Ok(Entry { path: path.to_owned(), bytes, sha256 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_plain_is_none_of_a_backup() {
        for path in ["crawl.redb", "data/handover/box", "secrets/secrets/demo", "rules/..x.toml"] {
            assert!(is_below(path), "{path}");
        }
        let bad = [
            "",
            "/",
            "/etc/x",
            "..",
            "data/../x",
            "data/./x",
            "./x",
            "data//x",
            "secrets//etc/cron.d/x",
            "data/",
            "a\0b",
        ];
        for path in bad {
            assert!(!is_below(path), "{path}");
        }
    }
}
