//! Lists the archive's folder: names only, one of its 256 folders at a time.

use std::path::{Path, PathBuf};

use super::VerifyError;
use crate::limits;
use gleaner_torrent::archive::{TMP, key_of_name, name_of_key, shard_name};

/// Folder for damaged files; its content is ignored.
pub(super) const DAMAGED: &str = "damaged";

/// The key in a well-formed file name: 20 bytes of v1 or 32 of v2.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key(Vec<u8>);

impl Key {
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// Path of the file in the archive.
    pub fn path(&self, archive: &Path) -> PathBuf {
        archive.join(name_of_key(&self.0))
    }
}

/// The keys of the well-named files in one folder, sorted.
pub(super) fn keys(archive: &Path, shard: u8) -> Result<Vec<Key>, VerifyError> {
    let mut keys: Vec<Key> = entries(&archive.join(shard_name(shard)))?
        .into_iter()
        .filter(|entry| !entry.is_folder && entry.is_file)
        .filter_map(|entry| key_of_name(entry.path.file_name()?.to_str()?, shard).map(Key))
        .collect();
    keys.sort_unstable();
    Ok(keys)
}

/// Something at a path that the archive does not use for torrents.
pub(super) enum Stray {
    File(PathBuf),
    /// A link, a pipe, a folder within a folder.
    NoFile(PathBuf),
    Temporary,
}

/// Walks the archive for strays, a page at a time.
#[derive(Debug)]
pub(super) struct Strays {
    archive: PathBuf,
    /// The folder itself, its temporary folder, then the 256.
    next: u16,
    found: std::vec::IntoIter<StrayEntry>,
}

#[derive(Debug)]
struct StrayEntry {
    entry: Entry,
    temporary: bool,
}

impl Strays {
    pub fn new(archive: &Path) -> Self {
        Self { archive: archive.to_owned(), next: 0, found: Vec::new().into_iter() }
    }

    /// The next strays; none at the end.
    pub fn next_page(mut self) -> Result<(Self, Vec<Stray>), VerifyError> {
        while self.found.as_slice().is_empty() && self.next < 258 {
            self.found = self.read(self.next)?.into_iter();
            self.next += 1;
        }
        let page = self.found.by_ref().take(limits::EXPORT_ROWS_MAX).map(|stray| match stray.entry {
            _ if stray.temporary => Stray::Temporary,
            Entry { is_file: true, path, .. } => Stray::File(path),
            Entry { path, .. } => Stray::NoFile(path),
        });
        let page = page.collect();
        Ok((self, page))
    }

    fn read(&self, place: u16) -> Result<Vec<StrayEntry>, VerifyError> {
        let all = |entries: Vec<Entry>, temporary| {
            entries.into_iter().map(|entry| StrayEntry { entry, temporary }).collect::<Vec<_>>()
        };
        match place.checked_sub(2).map(u8::try_from) {
            None if place == 0 => {
                let mut entries = entries(&self.archive)?;
                entries.retain(|entry| !entry.is_folder || !is_own_folder(&entry.path));
                Ok(all(entries, false))
            }
            None => Ok(all(entries(&self.archive.join(TMP))?, true)),
            Some(Ok(shard)) => {
                let mut entries = entries(&self.archive.join(shard_name(shard)))?;
                entries.retain(|entry| {
                    let name = entry.path.file_name().and_then(|name| name.to_str());
                    !entry.is_file || name.and_then(|name| key_of_name(name, shard)).is_none()
                });
                Ok(all(entries, false))
            }
            Some(Err(_)) => Ok(Vec::new()),
        }
    }
}

fn is_own_folder(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_shard = name.len() == 2 && name.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    is_shard || name == DAMAGED || name == TMP
}

#[derive(Debug)]
struct Entry {
    path: PathBuf,
    is_file: bool,
    is_folder: bool,
}

/// The entries of a folder, by name; none if there is no such folder.
fn entries(folder: &Path) -> Result<Vec<Entry>, VerifyError> {
    let failed = |error| VerifyError::io(folder, "read", error);
    let listing = match std::fs::read_dir(folder) {
        Ok(listing) => listing,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        // A file in place of a folder is a stray of the parent folder.
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Ok(Vec::new()),
        Err(error) => return Err(failed(error)),
    };
    let mut found = Vec::new();
    for entry in listing {
        let entry = entry.map_err(failed)?;
        // For a symbolic link this is the link's own type: its target does not belong to the archive.
        let kind = entry.file_type().map_err(failed)?;
        found.push(Entry { path: entry.path(), is_file: kind.is_file(), is_folder: kind.is_dir() });
    }
    found.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}
