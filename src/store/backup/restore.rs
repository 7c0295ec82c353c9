//! Restores a state to an empty data folder. All of it is checked, and made beside, before the folder has a database.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;
use rustix::fs::{CWD, RenameFlags};
use rustix::io::Errno;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::make::{Unfinished, states};
use super::manifest::{self, MANIFEST, Manifest};
use super::packed;
use super::pool::{make_folder, name_of, sync_all};
use super::{BackupError, CRAWL, MARK, TORRENTS, UPDATE, must_be_folder};
use crate::crawldb::redb_store::{OpenOptions as DbOptions, RedbStore};
use crate::crawldb::update::UpdateDb;
use crate::crawldb::{CrawlDbError, TorrentFacts};
use crate::export::ExportError;
use crate::export::whole_file::{self, parent, sync_folder};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::console::lossy;
use gleaner_base::regular;
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::Archive;

/// Folder, in the data folder, of a restore that has not ended.
const UNFINISHED: &str = ".restore";

/// A file in it: only a folder with this is ours.
const OURS: &str = "GLEANER-RESTORE";

/// Where the configuration and the rule files are put, in the data folder.
const BESIDE: &str = "restored";

/// Page cache while the copied database is opened and read, in bytes.
const CACHE_BYTES: usize = 8 << 20;

/// A finished restore.
#[derive(Clone, Debug, Serialize)]
pub struct Restored {
    /// The state that was restored.
    #[serde(serialize_with = "lossy")]
    pub from: PathBuf,
    pub made: UnixMillis,
    /// Of the program that made it.
    pub version: String,
    pub torrents: u64,
    pub torrent_bytes: u64,
    /// Rows whose files were lost before the backup.
    pub left_out: u64,
    /// Rows whose files are damaged in the backup.
    pub damaged: u64,
    pub with_secrets: bool,
    /// Folder with the configuration and the rule files, if there are any.
    pub beside: Option<PathBuf>,
}

/// Restores the newest state of a folder, the state of which this is the folder, or an archive. With `skip_damaged`, torrents whose
/// files are damaged in the backup are left out: `verify --repair` has them fetched again.
///
/// # Errors
/// [`BackupError`]; then the folder is as empty as it was.
pub fn restore(from: &Path, data_dir: &Path, skip_damaged: bool) -> Result<Restored, BackupError> {
    let found = find(from)?;
    let manifest = match &found {
        Found::Folder { state, .. } => Some(Manifest::open(&state.join(MANIFEST))?),
        Found::Archive(_) => None,
    };
    must_be_folder(data_dir)?;
    make_folder(data_dir)?;
    let _lock = lock(data_dir)?;
    clear(data_dir)?;
    let made = Unfinished(data_dir.join(UNFINISHED));
    make_folder(&made.0)?;
    let mark = made.0.join(OURS);
    fs::write(&mark, "A restore of gleaner writes here.\n").map_err(|error| BackupError::io(&mark, "write", error))?;
    let (state, pool, manifest, _source) = match (found, manifest) {
        (Found::Folder { state, pool, held }, Some(manifest)) => (state, pool, manifest, held),
        (Found::Folder { state, .. } | Found::Archive(state), _) => {
            let unpacked = made.0.join("unpacked");
            make_folder(&unpacked)?;
            let manifest = packed::unpack(&state, &unpacked)?;
            (unpacked.clone(), unpacked.join(TORRENTS), manifest, None)
        }
    };
    let new = made.0.join("new");
    make_folder(&new)?;
    for file in &manifest.files {
        copy(&state, file, &new)?;
    }
    let run = Run { manifest: &manifest, pool, skip_damaged };
    let counts = run.databases_and_torrents(&new, from)?;
    sync_all(&new)?;
    // The database comes last: without it, no command takes the folder for a crawl's.
    let mut names: Vec<_> = names_of(&new)?;
    names.sort_by_key(|name| name == CRAWL);
    move_all(&names, &new, data_dir)?;
    // Before all else of it, which takes time: from here on the folder is whole.
    let _ = fs::remove_file(&mark);
    drop(made);
    sync_folder(data_dir)?;
    let beside = names.iter().any(|name| name == BESIDE).then(|| data_dir.join(BESIDE));
    Ok(Restored {
        from: from.to_owned(),
        made: manifest.made,
        version: manifest.version.clone(),
        torrents: counts.torrents,
        torrent_bytes: counts.bytes,
        left_out: counts.left_out,
        damaged: counts.damaged,
        with_secrets: manifest.with_secrets,
        beside,
    })
}

enum Found {
    /// `held` keeps backups from removing the state meanwhile.
    Folder {
        state: PathBuf,
        pool: PathBuf,
        held: Option<File>,
    },
    Archive(PathBuf),
}

fn find(from: &Path) -> Result<Found, BackupError> {
    let not = || BackupError::NotABackup { from: from.to_owned() };
    let there = fs::metadata(from).map_err(|error| match error.kind() {
        ErrorKind::NotFound | ErrorKind::NotADirectory => BackupError::Nowhere { from: from.to_owned() },
        _ => BackupError::Io { path: from.to_owned(), action: "open", detail: error },
    })?;
    if !there.is_dir() {
        return Ok(Found::Archive(from.to_owned()));
    }
    let failed = |error| BackupError::Io { path: from.to_owned(), action: "read", detail: error };
    if from.join(MARK).is_file() {
        let held = hold(from)?;
        let newest = states(from).map_err(failed)?.pop();
        let newest = newest.ok_or_else(|| BackupError::damaged(from, "it has no finished backup".to_owned()))?;
        return Ok(Found::Folder { state: from.join(newest), pool: from.join(TORRENTS), held });
    }
    let folder = fs::canonicalize(from).map_err(failed)?;
    match folder.parent() {
        Some(above) if folder.join(MANIFEST).is_file() => {
            let (pool, held) = (above.join(TORRENTS), hold(above)?);
            // A backup may have removed it before.
            if !folder.join(MANIFEST).is_file() {
                return Err(BackupError::Nowhere { from: from.to_owned() });
            }
            Ok(Found::Folder { state: folder, pool, held })
        }
        _ => Err(not()),
    }
}

/// Takes a folder of backups for reading. None if this user may not open it, or for a folder of another kind around a state.
///
/// # Errors
/// `Writing`.
fn hold(folder: &Path) -> Result<Option<File>, BackupError> {
    let Ok(held) = File::open(folder) else { return Ok(None) };
    if !whole_file::lock_shared(&held) {
        return Err(BackupError::Writing { from: folder.to_owned() });
    }
    Ok(Some(held))
}

fn names_of(folder: &Path) -> Result<Vec<String>, BackupError> {
    let failed = |error| BackupError::Io { path: folder.to_owned(), action: "read", detail: error };
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    Ok(names)
}

/// Takes a data folder for this process: two restores would clear each other's files.
fn lock(data_dir: &Path) -> Result<File, BackupError> {
    let folder = File::open(data_dir).map_err(|error| BackupError::io(data_dir, "open", error))?;
    match whole_file::lock(&folder, data_dir) {
        Err(ExportError::Busy { .. }) => Err(BackupError::Restoring { data_dir: data_dir.to_owned() }),
        locked => Ok(locked.map(|()| folder)?),
    }
}

/// Gives all files their names in the data folder, and takes them back if one of them is there by now: another process has begun there.
fn move_all(names: &[String], new: &Path, data_dir: &Path) -> Result<(), BackupError> {
    for (done, name) in names.iter().enumerate() {
        let to = data_dir.join(name);
        let Err(error) = rename_new(&new.join(name), &to) else { continue };
        for moved in &names[..done] {
            // They are removed with the folder of the restore.
            let _ = fs::rename(data_dir.join(moved), new.join(moved));
        }
        return Err(match error.kind() {
            ErrorKind::AlreadyExists => BackupError::NotEmpty { data_dir: data_dir.to_owned() },
            _ => BackupError::io(&to, "rename", error),
        });
    }
    Ok(())
}

/// A rename that replaces nothing.
fn rename_new(from: &Path, to: &Path) -> io::Result<()> {
    match rustix::fs::renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        // A file system without this kind of rename.
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) if fs::symlink_metadata(to).is_ok() => {
            Err(Errno::EXIST.into())
        }
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => fs::rename(from, to),
        renamed => renamed.map_err(Into::into),
    }
}

/// True if a restore to this folder is under way, or was cut off: what is there is not whole.
#[must_use]
pub fn is_unfinished(data_dir: &Path) -> bool {
    data_dir.join(UNFINISHED).join(OURS).exists() && !data_dir.join(CRAWL).exists()
}

/// An error if the data folder is not empty. The folder of an interrupted restore is removed, if nothing else is there.
fn clear(data_dir: &Path) -> Result<(), BackupError> {
    let names = names_of(data_dir)?;
    let path = data_dir.join(UNFINISHED);
    let is_cut_off = fs::symlink_metadata(&path).is_ok_and(|there| there.is_dir());
    let others = names.iter().any(|name| name != "lost+found" && !(is_cut_off && name == UNFINISHED));
    if others {
        return Err(BackupError::NotEmpty { data_dir: data_dir.to_owned() });
    }
    if !is_cut_off {
        return Ok(());
    }
    // One that was cut off before its mark was written is empty.
    let removed = if path.join(OURS).is_file() { fs::remove_dir_all(&path) } else { fs::remove_dir(&path) };
    removed.map_err(|error| match error.kind() {
        ErrorKind::DirectoryNotEmpty => BackupError::NotEmpty { data_dir: data_dir.to_owned() },
        _ => BackupError::io(&path, "clear", error),
    })
}

/// Where a file of a state belongs, below the data folder; None if that were elsewhere.
fn place_of(path: &str) -> Option<PathBuf> {
    let own = path.strip_prefix("secrets/").or_else(|| path.strip_prefix("data/"));
    let place = match own {
        Some(own) => own.to_owned(),
        None if matches!(path, CRAWL | UPDATE) => path.to_owned(),
        None => format!("{BESIDE}/{path}"),
    };
    manifest::is_below(&place).then(|| PathBuf::from(place))
}

/// Copies a file of the manifest, whose checksum must be the one there.
fn copy(state: &Path, file: &manifest::Entry, new: &Path) -> Result<(), BackupError> {
    let path = state.join(&file.path);
    let place = place_of(&file.path)
        .ok_or_else(|| BackupError::damaged(&path, "it has no place in a data folder".to_owned()))?;
    let to = new.join(place);
    make_folder(parent(&to))?;
    let from = regular::open(&path).map_err(|error| BackupError::reading(&path, error))?;
    let mode = if matches!(&*file.path, CRAWL | UPDATE) { 0o640 } else { 0o600 };
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&to)
        .map_err(|error| BackupError::io(&to, "create", error))?;
    let (bytes, sha256) = manifest::sums(from.take(file.bytes + 1), &mut written)
        .map_err(|error| BackupError::io(&to, "write", error))?;
    written.flush().map_err(|error| BackupError::io(&to, "write", error))?;
    if bytes != file.bytes || sha256 != file.sha256 {
        return Err(BackupError::damaged(&path, "its checksum differs from that of the manifest".to_owned()));
    }
    Ok(())
}

#[derive(Default)]
struct Counts {
    torrents: u64,
    bytes: u64,
    left_out: u64,
    damaged: u64,
}

struct Run<'a> {
    manifest: &'a Manifest,
    pool: PathBuf,
    skip_damaged: bool,
}

/// Torrents that get their names together.
#[derive(Default)]
struct Batch {
    files: Vec<(Infohashes, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    fn store(&mut self, archive: &Archive) -> Result<(), BackupError> {
        let files: Vec<(Infohashes, &[u8])> = self.files.iter().map(|(of, bytes)| (*of, &**bytes)).collect();
        archive.store_batch(&files)?;
        *self = Self::default();
        Ok(())
    }
}

impl Run<'_> {
    /// Opens the databases, by which those of an older version are upgraded, and takes the torrents that they name.
    fn databases_and_torrents(&self, new: &Path, from: &Path) -> Result<Counts, BackupError> {
        let options = DbOptions { cache_bytes: CACHE_BYTES, sync: false };
        let of_backup = |error| match error {
            CrawlDbError::NewerSchema { found, known, .. } => {
                BackupError::Newer { from: from.to_owned(), version: self.manifest.version.clone(), found, known }
            }
            CrawlDbError::Corrupt { detail, .. } => BackupError::damaged(from, detail),
            error => error.into(),
        };
        let has = |name: &str| self.manifest.files.iter().any(|file| file.path == name);
        if !has(CRAWL) || !has(UPDATE) {
            return Err(BackupError::damaged(from, "its manifest names no database".to_owned()));
        }
        drop(UpdateDb::open(&new.join(UPDATE), options).map_err(of_backup)?);
        let db = RedbStore::open(&new.join(CRAWL), options).map_err(of_backup)?;
        let archive = Archive::open(new.join(TORRENTS), false)?;
        let (mut counts, mut batch) = (Counts::default(), Batch::default());
        let left_out: std::collections::HashSet<&str> = self.manifest.left_out.iter().map(|hex| &**hex).collect();
        db.each_torrent(|facts| {
            if left_out.contains(&*HEXLOWER.encode(&facts.sha256)) {
                counts.left_out += 1;
                return Ok(());
            }
            let bytes = match self.torrent(&facts) {
                Err(BackupError::Damaged { .. }) if self.skip_damaged => {
                    counts.damaged += 1;
                    return Ok(());
                }
                read => read?,
            };
            counts.torrents += 1;
            counts.bytes += bytes.len() as u64;
            batch.bytes += bytes.len();
            batch.files.push((facts.infohashes, bytes));
            match batch.files.len() >= limits::RESTORED_AT_ONCE_MAX || batch.bytes >= limits::RESTORED_BYTES_MAX {
                true => batch.store(&archive),
                false => Ok(()),
            }
        })?;
        batch.store(&archive)?;
        match counts.torrents + counts.left_out + counts.damaged {
            rows if rows == self.manifest.torrents => Ok(counts),
            rows => {
                let what = format!("its database has {rows} torrents, and its manifest {}", self.manifest.torrents);
                Err(BackupError::damaged(from, what))
            }
        }
    }

    /// The file of a torrent, which must be what its row says.
    fn torrent(&self, facts: &TorrentFacts) -> Result<Vec<u8>, BackupError> {
        let path = self.pool.join(name_of(&facts.sha256));
        let mut bytes = Vec::with_capacity(facts.metainfo_bytes as usize);
        let opened = regular::open(&path);
        let read = opened
            .and_then(|file: File| file.take(limits::TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map(|_| ()));
        read.map_err(|error: io::Error| BackupError::reading(&path, error)).map_err(with_skip_hint)?;
        if <[u8; 32]>::from(Sha256::digest(&bytes)) != facts.sha256 {
            return Err(with_skip_hint(BackupError::damaged(&path, "its content is not that of its name".to_owned())));
        }
        Ok(bytes)
    }
}

/// A torrent alone can be had elsewhere.
fn with_skip_hint(error: BackupError) -> BackupError {
    match error {
        BackupError::Damaged { path, what, .. } => {
            let hint = "restore another backup; or restore this one with --skip-damaged, then `gleaner verify --repair` has such torrents fetched again";
            BackupError::Damaged { path, what, hint }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_has_its_place_below_the_data_folder() {
        assert_eq!(place_of("crawl.redb"), Some(PathBuf::from("crawl.redb")));
        assert_eq!(place_of("secrets/secrets/demo"), Some(PathBuf::from("secrets/demo")));
        assert_eq!(place_of("rules/demo.toml"), Some(PathBuf::from("restored/rules/demo.toml")));
        for path in ["secrets//etc/cron.d/x", "data//etc/cron.d/x", "data/", "data/../x"] {
            assert_eq!(place_of(path), None, "{path}");
        }
    }

    /// A folder with these files.
    fn folder_with(paths: &[&str]) -> tempfile::TempDir {
        let here = tempfile::tempdir().unwrap();
        for path in paths {
            let path = here.path().join(path);
            fs::create_dir_all(parent(&path)).unwrap();
            fs::write(path, "x").unwrap();
        }
        here
    }

    #[test]
    fn only_what_an_interrupted_restore_has_left_alone_is_cleared() {
        let left = folder_with(&[".restore/GLEANER-RESTORE", ".restore/new/crawl.redb", "lost+found/x"]);
        assert!(is_unfinished(left.path()));
        clear(left.path()).unwrap();
        assert_eq!(names_of(left.path()).unwrap(), ["lost+found"]);
        for paths in [
            &[".restore/GLEANER-RESTORE", "torrents/ab/x"][..],
            &[".restore/GLEANER-RESTORE", "crawl.redb"],
            &[".restore/my-only-copy"],
            &[".restore"],
            &["other"],
        ] {
            let here = folder_with(paths);
            let refused = clear(here.path()).unwrap_err();
            assert!(matches!(refused, BackupError::NotEmpty { .. }), "{paths:?}: {refused}");
            assert!(paths.iter().all(|path| here.path().join(path).exists()), "{paths:?}");
        }
    }

    #[test]
    fn two_restores_to_one_folder_exclude_each_other() {
        let here = tempfile::tempdir().unwrap();
        let held = lock(here.path()).unwrap();
        assert!(matches!(lock(here.path()), Err(BackupError::Restoring { .. })));
        drop(held);
        lock(here.path()).unwrap();
    }

    #[test]
    fn what_a_backup_writes_to_is_not_restored_and_restores_do_not_exclude_each_other() {
        let here = folder_with(&[MARK, "20261128T221542Z/manifest.json"]);
        let state = here.path().join("20261128T221542Z");
        let writing = File::open(here.path()).unwrap();
        whole_file::lock(&writing, here.path()).unwrap();
        for from in [here.path(), &state] {
            assert!(matches!(find(from), Err(BackupError::Writing { .. })));
        }
        drop(writing);
        let (newest, same) = (find(here.path()).ok(), find(&state).ok());
        assert!(newest.is_some() && same.is_some());
        let backup = File::open(here.path()).unwrap();
        assert!(matches!(whole_file::lock(&backup, here.path()), Err(ExportError::Busy { .. })));
    }

    #[test]
    fn a_database_that_another_process_has_begun_meanwhile_is_not_replaced() {
        let (new, data) = (folder_with(&["handover/box", "crawl.redb"]), folder_with(&[]));
        fs::write(data.path().join("crawl.redb"), "begun meanwhile").unwrap();
        let names = ["handover".to_owned(), "crawl.redb".to_owned()];
        let refused = move_all(&names, new.path(), data.path()).unwrap_err();
        assert!(matches!(refused, BackupError::NotEmpty { .. }), "{refused}");
        assert_eq!(fs::read_to_string(data.path().join("crawl.redb")).unwrap(), "begun meanwhile");
        assert_eq!(names_of(data.path()).unwrap(), ["crawl.redb"], "the rest is taken back");
    }
}
