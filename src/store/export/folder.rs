//! An export as a folder: created beside its name and renamed when complete, or updated in place.
//!
//! In place, each file is complete under its name at any moment, correct files are not touched, and the manifest comes
//! last. Files that only the previous manifest names are removed before it is replaced, so that the next update finishes a
//! killed one. Each file is named in a journal before it is created: files of a killed update that no manifest names are
//! removed by the next, whatever that one exports. Nothing else in the folder is ever removed.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::ExportError;
use super::file_name;
use super::manifest::{self, MAGNETS, MANIFEST};
use super::sink::{Checked, Written};
use super::whole_file::{WholeFile, lock, parent, part_name, sync_folder};
use super::write::sums;
use crate::limits::MANIFEST_LINE_BYTES_MAX;
use gleaner_base::regular;

/// Suffix of a file before it gets its name.
const PART: &str = ".torrent.gleaner-part";

/// Name of an update's journal; it exists only while one is running, or was killed.
const JOURNAL: &str = ".update.gleaner-part";

/// A folder being written.
pub(super) struct Folder {
    dest: PathBuf,
    /// Where files are written: `dest` itself, or a folder beside it that will be renamed.
    base: PathBuf,
    in_place: bool,
    finished: bool,
    unchanged: u64,
    /// The files that this update adds, from the first on.
    journal: Option<File>,
    /// The file that is being written.
    part: Option<PathBuf>,
    /// Excludes other exports.
    _lock: File,
}

impl Folder {
    /// Begins an export to `dest`: absent, empty, or a previous export.
    pub fn begin(dest: &Path) -> Result<Self, ExportError> {
        let in_place = match std::fs::metadata(dest) {
            Ok(there) if there.is_dir() => true,
            Ok(_) => return Err(ExportError::IsFile { dest: dest.to_owned() }),
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(error) => return Err(ExportError::io(dest, "read", error)),
        };
        let (base, lock) = if in_place {
            let folder = File::open(dest).map_err(|error| ExportError::io(dest, "open", error))?;
            lock(&folder, dest)?;
            claim(dest)?;
            take_back(dest)?;
            (dest.to_owned(), folder)
        } else {
            fresh(dest)?
        };
        Ok(Self {
            dest: dest.to_owned(),
            base,
            in_place,
            finished: false,
            unchanged: 0,
            journal: None,
            part: None,
            _lock: lock,
        })
    }

    /// Where files are written.
    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Writes a torrent under its path, unless it exists.
    pub fn put(&mut self, path: &str, torrent: &mut Checked) -> Result<(), ExportError> {
        let target = self.base.join(path);
        if let Some((folder, _)) = path.split_once('/') {
            make_folder(&self.base.join(folder))?;
        }
        if self.in_place {
            if is_there(&target, torrent) {
                self.unchanged += 1;
                return Ok(());
            }
            self.note(path, torrent)?;
            let part = parent(&target).join(PART);
            // Left by a killed export.
            let _ = std::fs::remove_file(&part);
            copy(torrent, self.part.insert(part.clone()))?;
            std::fs::rename(&part, &target).map_err(|error| ExportError::io(&target, "rename", error))?;
            self.part = None;
            return Ok(());
        }
        copy(torrent, &target)
    }

    /// Names a file in the journal before it is created. Not synced: it is for a killed process, and after a power loss
    /// a file that no list names is at worst left over.
    fn note(&mut self, path: &str, torrent: &Checked) -> Result<(), ExportError> {
        let name = self.base.join(JOURNAL);
        let failed = |error| ExportError::io(&name, "write", error);
        let journal = match &mut self.journal {
            Some(journal) => journal,
            none => none.insert(File::create_new(&name).map_err(failed)?),
        };
        // In one call, so that a killed process leaves whole lines.
        journal.write_all((manifest::journal_line(path, &torrent.sha256) + "\n").as_bytes()).map_err(failed)
    }

    /// Removes what is no longer part of the export, writes the lists and gives the folder its name.
    pub fn finish(mut self, mut torrents: File, magnets: File) -> Result<Written, ExportError> {
        let failed = |error| ExportError::io(&self.base, "finish", error);
        let folder = File::open(&self.base).map_err(failed)?;
        // One sync for all files; they have their names, but the manifest does not list them yet.
        rustix::fs::syncfs(&folder).map_err(|error| failed(error.into()))?;
        let mut removed = 0;
        if self.in_place {
            let former = File::open(self.base.join(MANIFEST)).map_err(failed)?;
            removed = remove_stale(&self.base, former, &mut torrents)?;
        }
        put_list(&self.base.join(MAGNETS), magnets)?;
        put_list(&self.base.join(MANIFEST), torrents)?;
        if !self.in_place {
            std::fs::rename(&self.base, &self.dest).map_err(|error| ExportError::io(&self.dest, "rename", error))?;
            sync_folder(parent(&self.dest))?;
        }
        self.finished = true;
        if self.journal.is_some() {
            std::fs::remove_file(self.base.join(JOURNAL)).map_err(failed)?;
        }
        Ok(Written { dest_bytes: None, unchanged: self.unchanged, removed })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        if self.finished {
            return;
        }
        // Best effort: the next export to this path removes it.
        if !self.in_place {
            let _ = std::fs::remove_dir_all(&self.base);
        } else {
            if let Some(part) = &self.part {
                let _ = std::fs::remove_file(part);
            }
            let _ = take_back(&self.base);
        }
    }
}

/// Claims an existing folder: a previous export, or an empty one, which is marked as an export at once, so that a
/// killed one can be resumed.
fn claim(dest: &Path) -> Result<(), ExportError> {
    let not_an_export = |detail: &str| ExportError::NotAnExport { dest: dest.to_owned(), detail: detail.to_owned() };
    let manifest = dest.join(MANIFEST);
    match regular::open(&manifest) {
        Ok(file) => match Lines::new(file).next() {
            Some(line) if manifest::path_of_line(&line).is_none() => {
                Err(not_an_export("its manifest.jsonl was not written by gleaner"))
            }
            _ => Ok(()),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let mut entries = std::fs::read_dir(dest).map_err(|error| ExportError::io(dest, "read", error))?;
            if entries.next().is_some() {
                return Err(not_an_export("no manifest.jsonl"));
            }
            File::create_new(&manifest).map(drop).map_err(|error| ExportError::io(&manifest, "create", error))
        }
        Err(error) => Err(ExportError::io(&manifest, "read", error)),
    }
}

/// An empty folder beside `dest`, locked; leftovers of a killed export are removed.
fn fresh(dest: &Path) -> Result<(PathBuf, File), ExportError> {
    let base = part_name(dest);
    let failed = |action| {
        let base = base.clone();
        move |error| ExportError::io(&base, action, error)
    };
    loop {
        match std::fs::create_dir(&base) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(failed("create")(error)),
        }
        let Ok(folder) = File::open(&base) else { continue };
        lock(&folder, dest)?;
        // Between opening and locking, another export may have finished and renamed this very folder.
        let ours = folder.metadata().map_err(failed("read"))?;
        match std::fs::metadata(&base) {
            Ok(there) if (there.dev(), there.ino()) == (ours.dev(), ours.ino()) => {}
            _ => continue,
        }
        for entry in std::fs::read_dir(&base).map_err(failed("read"))? {
            let entry = entry.map_err(failed("read"))?;
            let is_folder = entry.file_type().map_err(failed("read"))?.is_dir();
            let path = entry.path();
            let cleared = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
            cleared.map_err(failed("clear"))?;
        }
        return Ok((base, folder));
    }
}

/// Creates a folder of the export. A symbolic link at its path would lead out of the export.
fn make_folder(path: &Path) -> Result<(), ExportError> {
    match std::fs::create_dir(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && is_real_folder(path) => Ok(()),
        Err(error) => Err(ExportError::io(path, "create", error)),
    }
}

fn is_real_folder(path: &Path) -> bool {
    std::fs::symlink_metadata(path).is_ok_and(|there| there.is_dir())
}

/// True if the file exists with these bytes.
fn is_there(target: &Path, torrent: &Checked) -> bool {
    std::fs::symlink_metadata(target).is_ok_and(|there| there.is_file() && there.len() == torrent.bytes)
        && File::open(target).and_then(|mut file| sums(&mut file)).is_ok_and(|(_, sha256, _)| sha256 == torrent.sha256)
}

fn copy(torrent: &mut Checked, target: &Path) -> Result<(), ExportError> {
    let failed = |error| ExportError::io(target, "write", error);
    let mut out = OpenOptions::new().write(true).create_new(true).open(target).map_err(failed)?;
    let written = io::copy(&mut (&mut torrent.file).take(torrent.bytes), &mut out).map_err(failed)?;
    if written == torrent.bytes {
        return Ok(());
    }
    Err(failed(io::Error::new(io::ErrorKind::UnexpectedEof, "the torrent's file changed while it was read")))
}

fn put_list(target: &Path, mut lines: File) -> Result<(), ExportError> {
    let mut file = WholeFile::begin(target)?;
    io::copy(&mut lines, &mut file)
        .and_then(|_| file.flush())
        .map_err(|error| ExportError::io(target, "write", error))?;
    file.finish().map(drop)
}

/// Removes the files that an interrupted update added, and its journal.
fn take_back(base: &Path) -> Result<(), ExportError> {
    let name = base.join(JOURNAL);
    let failed = |action| move |error| ExportError::io(base, action, error);
    if std::fs::symlink_metadata(&name).is_ok_and(|there| there.is_file()) {
        for path in paths(File::open(&name).map_err(failed("read"))?) {
            let part = parent(Path::new(&path)).join(PART);
            remove(base, &part).map_err(failed("clear"))?;
        }
        let mut manifest = File::open(base.join(MANIFEST)).map_err(failed("read"))?;
        remove_stale(base, File::open(&name).map_err(failed("read"))?, &mut manifest)?;
    }
    match std::fs::remove_file(&name) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed("clear")(error)),
        _ => Ok(()),
    }
}

/// Removes the files that the `former` list names and the new one does not; rewinds `torrents`.
///
/// Both lists are sorted by infohash, whose beginning is part of the paths: they are read in parallel, and only paths
/// with the same beginning are held at a time.
fn remove_stale(base: &Path, former: File, torrents: &mut File) -> Result<u64, ExportError> {
    let failed = |action| move |error| ExportError::io(base, action, error);
    let mut new = paths(torrents.try_clone().map_err(failed("read"))?).peekable();
    let (mut group_of, mut group) = (String::new(), HashSet::new());
    let mut removed = 0;
    for path in paths(former) {
        let beginning = hash_beginning(&path);
        if beginning < group_of.as_str() {
            // Not sorted by hash: somebody changed the list, so it must not be used for removal.
            break;
        }
        if beginning != group_of {
            group.clear();
            beginning.clone_into(&mut group_of);
            while new.next_if(|path| hash_beginning(path) < group_of.as_str()).is_some() {}
            while let Some(path) = new.next_if(|path| hash_beginning(path) == group_of) {
                group.insert(path);
            }
        }
        if !group.contains(&path) && remove(base, Path::new(&path)).map_err(failed("remove"))? {
            removed += 1;
        }
    }
    torrents.rewind().map_err(failed("read"))?;
    Ok(removed)
}

/// Removes a file of the export, and its folder if that is then empty.
fn remove(base: &Path, path: &Path) -> io::Result<bool> {
    let folder = path.parent().filter(|folder| *folder != Path::new("")).map(|folder| base.join(folder));
    if folder.as_deref().is_some_and(|folder| !is_real_folder(folder)) {
        return Ok(false);
    }
    let file = base.join(path);
    if !std::fs::symlink_metadata(&file).is_ok_and(|there| there.is_file()) {
        return Ok(false);
    }
    std::fs::remove_file(&file)?;
    if let Some(folder) = folder {
        // The system refuses while it is not empty.
        let _ = std::fs::remove_dir(folder);
    }
    Ok(true)
}

/// The paths in a manifest, without those that no export writes.
fn paths(manifest: File) -> impl Iterator<Item = String> {
    Lines::new(manifest).filter_map(|line| manifest::path_of_line(&line)).filter(|path| file_name::is_ours(path))
}

/// The eight hex digits after the bracket of a path that [`file_name::is_ours`].
fn hash_beginning(path: &str) -> &str {
    path.rsplit_once(" [").and_then(|(_, tag)| tag.get(..8)).unwrap_or_default()
}

/// Lines of a file, at most `limits::MANIFEST_LINE_BYTES_MAX` bytes each; ends at the first error.
struct Lines(BufReader<File>);

impl Lines {
    fn new(file: File) -> Self {
        Self(BufReader::new(file))
    }
}

impl Iterator for Lines {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut line = Vec::new();
        let read = (&mut self.0).take(MANIFEST_LINE_BYTES_MAX).read_until(b'\n', &mut line).ok()?;
        (read > 0).then(|| String::from_utf8_lossy(&line).into_owned())
    }
}
