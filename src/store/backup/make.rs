//! Makes a backup: small files, databases, torrents, manifest, name.

use std::collections::HashSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER;

use super::manifest::{self, MANIFEST, Manifest};
use super::packed::{self, Packing};
use super::pool::{Pool, make_folder, sync_all};
use super::unnamed;
use super::{
    Attempt, BackupError, CRAWL, MARK, Made, Stepping, TORRENTS, UPDATE, is_archive, must_be_folder,
    must_not_be_other_archive,
};
use crate::crawldb::redb_store::{Bounds, OpenOptions as DbOptions, RedbStore};
use crate::crawldb::update::UpdateDb;
use crate::export::whole_file::{lock, parent, sync_folder};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::archive::Archive;

/// Names of states that are not whole begin with this.
const UNFINISHED: &str = ".part-";

/// Page cache to read the copy of the database once, in bytes.
const READ_CACHE_BYTES: usize = 4 << 20;

/// What the folder says to people.
const MARK_TEXT: &str = "Backups of gleaner. Restore the newest: gleaner restore FOLDER --data EMPTY-FOLDER\n";

/// A small file or folder, with all that is in it.
#[derive(Clone, Debug)]
pub struct Part {
    pub from: PathBuf,
    /// Below the folder of the state.
    pub to: String,
}

/// What is to be backed up, and where.
#[derive(Clone, Debug)]
pub struct Wanted {
    /// A folder, or a file that ends in `.tar.zst`.
    pub dest: PathBuf,
    /// States that stay in the folder, this one among them; None for all.
    pub keep: Option<usize>,
    pub data_dir: PathBuf,
    /// Files beside databases and torrents; those that are not there are left out.
    pub parts: Vec<Part>,
    pub with_secrets: bool,
}

/// Backs up one state. `attempt` may end it before; then, and after errors, nothing of it is left, and earlier backups are as they were.
///
/// # Errors
/// [`BackupError`].
pub fn backup(
    (db, update, archive): (&RedbStore, &UpdateDb, &Archive),
    wanted: &Wanted,
    now: UnixMillis,
    attempt: &Attempt,
) -> Result<Made, BackupError> {
    must_not_be_other_archive(&wanted.dest)?;
    let folders = wanted.parts.iter().map(|part| &*part.from).filter(|from| from.is_dir());
    folders.chain([&*wanted.data_dir]).try_for_each(|folder| must_be_outside(&wanted.dest, folder))?;
    let run = Run { db, update, archive, wanted, now, attempt };
    if is_archive(&wanted.dest) { run.to_archive() } else { run.to_folder() }
}

/// An error if a backup would be made of itself.
fn must_be_outside(dest: &Path, folder: &Path) -> Result<(), BackupError> {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let there = dest.ancestors().find_map(|path| {
        let real = fs::canonicalize(if path.as_os_str().is_empty() { Path::new(".") } else { path }).ok()?;
        Some(real.join(dest.strip_prefix(path).ok()?))
    });
    let there = there.unwrap_or_else(|| dest.to_owned());
    if there.starts_with(&folder) {
        return Err(BackupError::Inside { dest: dest.to_owned(), folder });
    }
    Ok(())
}

struct Run<'a> {
    db: &'a RedbStore,
    update: &'a UpdateDb,
    archive: &'a Archive,
    wanted: &'a Wanted,
    now: UnixMillis,
    attempt: &'a Attempt,
}

/// A folder that is removed unless it gets another name.
pub(super) struct Unfinished(pub PathBuf);

impl Drop for Unfinished {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

impl Run<'_> {
    fn to_folder(&self) -> Result<Made, BackupError> {
        let dest = &*self.wanted.dest;
        let (_lock, is_left) = begin(dest)?;
        let name = free_name(dest, self.now);
        let part = Unfinished(dest.join(format!("{UNFINISHED}{name}")));
        make_folder(&part.0)?;
        let mut manifest = self.small_and_databases(&part.0)?;
        let mut pool = Pool::open(dest.join(TORRENTS), self.attempt)?;
        self.each_torrent(&part.0, &mut manifest, |facts| pool.take(self.archive, facts))?;
        pool.settle()?;
        self.must_go_on()?;
        pool.note_checked()?;
        let databases = write_manifest(&part.0, &manifest)?;
        sync_all(dest)?;
        // Who waits for it has given it up while the disk did not answer: it may not turn up later.
        self.must_go_on()?;
        let path = dest.join(&name);
        fs::rename(&part.0, &path).map_err(|error| BackupError::io(&path, "rename", error))?;
        sync_folder(dest)?;
        let made = Made {
            new_torrents: pool.new,
            linked: pool.linked,
            bytes_written: databases + pool.bytes_written,
            ..self.made(path, &manifest)
        };
        Ok(self.tidied(&name, made, is_left))
    }

    /// Removes what is too old, once there is a new state. That is whole whatever becomes of this. Torrents can only be of no state any more where one was
    /// removed, or a killed process has left something.
    fn tidied(&self, name: &str, mut made: Made, is_left: bool) -> Made {
        let (Some(keep), dest) = (self.wanted.keep, &*self.wanted.dest) else { return made };
        let stay = |what: &str, error: BackupError| {
            let error = error.to_string().replace('\n', "; ");
            Some(format!("{what} stay in {}: {error}", dest.display()))
        };
        if let Err(error) = remove_old(dest, keep, name, self.attempt, &mut made.removed) {
            made.note = stay("backups that are too old", error);
            return made;
        }
        if made.removed == 0 && !is_left {
            return made;
        }
        match unnamed::remove(dest, made.torrents, self.attempt) {
            Ok(count) => made.removed_torrents = count,
            Err(error) => made.note = stay("torrents that no backup needs", error),
        }
        made
    }

    fn to_archive(&self) -> Result<Made, BackupError> {
        let dest = &*self.wanted.dest;
        let mut packing = Packing::begin(dest, self.attempt)?;
        let part = Unfinished(packed::folder_beside(dest));
        let _ = fs::remove_dir_all(&part.0);
        make_folder(&part.0)?;
        let mut manifest = self.small_and_databases(&part.0)?;
        // The rows twice: the manifest comes first, and counts them.
        let mut lost = HashSet::new();
        self.each_torrent(&part.0, &mut manifest, |facts| {
            let is_there = super::pool::read_torrent(self.archive, facts)
                .map_err(|error| BackupError::io(&self.archive.path_of(&facts.infohashes), "read", error))?
                .is_some();
            if !is_there {
                lost.insert(facts.sha256);
            }
            Ok(is_there)
        })?;
        write_manifest(&part.0, &manifest)?;
        packing.state(&part.0, &manifest)?;
        let mut copied = Manifest::new(self.now, false);
        self.each_torrent(&part.0, &mut copied, |facts| match lost.contains(&facts.sha256) {
            true => Ok(false),
            false => packing.torrent(self.archive, facts),
        })?;
        let bytes_written = packing.finish()?;
        let new_torrents = manifest.torrents - manifest.left_out.len() as u64;
        Ok(Made { new_torrents, bytes_written, ..self.made(dest.to_owned(), &manifest) })
    }

    fn must_go_on(&self) -> Result<(), BackupError> {
        if self.attempt.is_stopped() { Err(BackupError::Stopped) } else { Ok(()) }
    }

    fn made(&self, path: PathBuf, manifest: &Manifest) -> Made {
        let left_out = manifest.left_out.len() as u64;
        Made {
            path,
            made: self.now,
            torrents: manifest.torrents - left_out,
            new_torrents: 0,
            linked: 0,
            bytes_written: 0,
            left_out,
            with_secrets: self.wanted.with_secrets,
            removed: 0,
            removed_torrents: 0,
            note: None,
        }
    }

    /// Small files first: what was handed over, for example, may not be ahead of the database.
    fn small_and_databases(&self, part: &Path) -> Result<Manifest, BackupError> {
        let mut manifest = Manifest::new(self.now, self.wanted.with_secrets);
        for small in &self.wanted.parts {
            copy_part(&small.from, part, &small.to, 0, &mut manifest, self.attempt)?;
        }
        let snapshot = self.db.snapshot(self.update)?;
        let bounds = Bounds::new(&self.wanted.data_dir.join(CRAWL), &self.attempt.stop, &self.attempt.steps);
        let is_whole =
            snapshot.copy_crawl(&part.join(CRAWL), &bounds)? && snapshot.copy_update(&part.join(UPDATE), &bounds)?;
        // The crawl's file grows while the snapshot lives.
        drop(snapshot);
        if !is_whole {
            return Err(BackupError::Stopped);
        }
        for name in [CRAWL, UPDATE] {
            let path = part.join(name);
            let entry =
                manifest::entry_of(&path, name, self.attempt).map_err(|error| BackupError::io(&path, "read", error))?;
            manifest.files.push(entry);
        }
        Ok(manifest)
    }

    /// Calls `take` for each row of the copied database; those that it returns false for are noted.
    fn each_torrent(
        &self,
        part: &Path,
        manifest: &mut Manifest,
        mut take: impl FnMut(&crate::crawldb::TorrentFacts) -> Result<bool, BackupError>,
    ) -> Result<(), BackupError> {
        let options = DbOptions { cache_bytes: READ_CACHE_BYTES, sync: false };
        let copy = RedbStore::read_only(&part.join(CRAWL), options)?;
        copy.each_torrent(|facts| {
            self.must_go_on()?;
            self.attempt.step();
            manifest.torrents += 1;
            if !take(&facts)? {
                manifest.left_out.push(HEXLOWER.encode(&facts.sha256));
            }
            Ok(())
        })
    }
}

/// Takes a folder of backups for this process, creates a new one, and removes what a killed process has left. True if there was any.
fn begin(dest: &Path) -> Result<(File, bool), BackupError> {
    must_be_folder(dest)?;
    make_folder(dest)?;
    let failed = |error| BackupError::io(dest, "open", error);
    let folder = File::open(dest).map_err(failed)?;
    lock(&folder, dest)?;
    let mut names = Vec::new();
    for entry in fs::read_dir(dest).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    if !names.iter().any(|name| name == MARK) {
        if names.iter().any(|name| name != "lost+found") {
            return Err(BackupError::Foreign { dest: dest.to_owned() });
        }
        fs::write(dest.join(MARK), MARK_TEXT).map_err(|error| BackupError::io(dest, "write", error))?;
    }
    let mut is_left = false;
    for name in names.iter().filter(|name| name.starts_with(UNFINISHED)) {
        is_left = true;
        let path = dest.join(name);
        fs::remove_dir_all(&path).map_err(|error| BackupError::io(&path, "clear", error))?;
    }
    Ok((folder, is_left))
}

/// The name of a state: its time, as `20261128T221542Z`.
fn free_name(dest: &Path, now: UnixMillis) -> String {
    let time: String = now.rfc3339().chars().filter(|of| !matches!(of, '-' | ':')).collect();
    let named = |number: u32| if number == 0 { time.clone() } else { format!("{time}-{number}") };
    // As many as can be made in a second, and far more.
    (0..1_000_000).map(named).find(|name| !dest.join(name).exists()).unwrap_or(time.clone())
}

/// The states of a folder, the oldest first.
pub(super) fn states(dest: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(dest)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        let is_time = name.len() >= 16 && name.is_char_boundary(16) && {
            let (date, rest) = name.split_at(8);
            date.bytes().all(|of| of.is_ascii_digit()) && rest.starts_with('T')
        };
        if is_time && dest.join(&name).join(MANIFEST).is_file() {
            names.push(name);
        }
    }
    // `…Z`, `…Z-1`, …, `…Z-10`
    let key = |name: &String| (name[..16].to_owned(), name.get(17..).and_then(|of| of.parse().ok()).unwrap_or(0_u32));
    names.sort_by_key(key);
    Ok(names)
}

/// Removes the oldest states beyond `keep`, never the one of this name. Each loses its manifest's folder name first, so that none is taken
/// for whole half-way. Counts them; a backup that was given up removes none.
fn remove_old(dest: &Path, keep: usize, made: &str, attempt: &Attempt, removed: &mut u64) -> Result<(), BackupError> {
    let all = states(dest).map_err(|error| BackupError::io(dest, "read", error))?;
    let beyond = all.len().saturating_sub(keep.max(1));
    for name in all.iter().filter(|name| *name != made).take(beyond) {
        if attempt.is_stopped() {
            return Err(BackupError::Stopped);
        }
        let (path, gone) = (dest.join(name), dest.join(format!("{UNFINISHED}{name}")));
        let cleared = fs::rename(&path, &gone).and_then(|()| fs::remove_dir_all(&gone));
        cleared.map_err(|error| BackupError::io(&path, "remove", error))?;
        attempt.step();
        *removed += 1;
    }
    Ok(())
}

/// Copies a small file or folder. What is neither is left out, and so is what was removed since.
fn copy_part(
    from: &Path,
    state: &Path,
    to: &str,
    depth: usize,
    manifest: &mut Manifest,
    attempt: &Attempt,
) -> Result<(), BackupError> {
    attempt.step();
    let failed = |error| BackupError::io(from, "read", error);
    let there = match fs::metadata(from) {
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        there => there.map_err(failed)?,
    };
    let too_much = |what: String| Err(BackupError::TooMuch { path: from.to_owned(), what });
    if there.is_dir() {
        if depth >= limits::BACKUP_DEPTH_MAX {
            return too_much(format!("lies more than {} folders deep", limits::BACKUP_DEPTH_MAX));
        }
        for entry in fs::read_dir(from).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            // A name that is no text is none of ours.
            let Some(name) = entry.file_name().to_str().map(str::to_owned) else { continue };
            copy_part(&entry.path(), state, &format!("{to}/{name}"), depth + 1, manifest, attempt)?;
        }
    }
    if !there.is_file() {
        return Ok(());
    }
    if manifest.files.len() >= limits::BACKUP_FILES_MAX {
        return too_much(format!("comes after {} others", limits::BACKUP_FILES_MAX));
    }
    let path = state.join(to);
    make_folder(parent(&path))?;
    let file = gleaner_base::regular::open(from).map_err(failed)?;
    let new = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&path);
    let new = new.map_err(|error| BackupError::io(&path, "create", error))?;
    let copied = manifest::sums(Stepping(file.take(limits::BACKUP_FILE_BYTES_MAX + 1), attempt), new);
    let (bytes, sha256) = copied.map_err(|error| BackupError::io(&path, "write", error))?;
    if bytes > limits::BACKUP_FILE_BYTES_MAX {
        return too_much(format!("has more than {} MiB", limits::BACKUP_FILE_BYTES_MAX >> 20));
    }
    manifest.files.push(manifest::Entry { path: to.to_owned(), bytes, sha256 });
    Ok(())
}

/// Writes the manifest; returns the bytes of the files that it names.
fn write_manifest(state: &Path, manifest: &Manifest) -> Result<u64, BackupError> {
    let path = state.join(MANIFEST);
    let failed = |error| BackupError::io(&path, "write", error);
    let text = serde_json::to_vec_pretty(manifest).map_err(|error| failed(error.into()))?;
    fs::write(&path, text).map_err(failed)?;
    Ok(manifest.files.iter().map(|file| file.bytes).sum())
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::Ordering;

    use super::*;

    #[test]
    fn a_file_that_the_backup_would_cut_or_lack_is_an_error_that_names_it() {
        let (from, state) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let attempt = Attempt::default();
        let copied = |manifest: &mut Manifest| copy_part(from.path(), state.path(), "data/own", 0, manifest, &attempt);
        let file = from.path().join("long");
        // A hole: it takes no room.
        File::create(&file).unwrap().set_len(limits::BACKUP_FILE_BYTES_MAX + 1).unwrap();
        let told = copied(&mut Manifest::new(UnixMillis(0), false)).unwrap_err().to_string();
        assert!(told.contains(&file.display().to_string()), "{told}");
        assert!(told.contains("more than 256 MiB"), "{told}");
        assert!(attempt.steps.load(Ordering::Relaxed) > 1_000, "each block is a step");
        fs::write(&file, "x").unwrap();
        let _ = fs::remove_dir_all(state.path().join("data"));
        let mut full = Manifest::new(UnixMillis(0), false);
        let entry = manifest::Entry { path: String::new(), bytes: 0, sha256: String::new() };
        full.files = vec![entry; limits::BACKUP_FILES_MAX];
        let told = copied(&mut full).unwrap_err().to_string();
        assert!(told.contains("long: comes after 100000 others"), "{told}");
    }

    #[test]
    fn a_backup_that_was_given_up_removes_no_other() {
        let here = tempfile::tempdir().unwrap();
        for hour in 10..13 {
            let state = here.path().join(format!("20261128T{hour}0000Z"));
            fs::create_dir(&state).unwrap();
            fs::write(state.join(MANIFEST), "{}").unwrap();
        }
        let (attempt, mut removed) = (Attempt::default(), 0);
        attempt.stop.store(true, Ordering::Relaxed);
        let refused = remove_old(here.path(), 1, "20261128T120000Z", &attempt, &mut removed);
        assert!(matches!(refused, Err(BackupError::Stopped)) && states(here.path()).unwrap().len() == 3);
        attempt.stop.store(false, Ordering::Relaxed);
        remove_old(here.path(), 1, "20261128T120000Z", &attempt, &mut removed).unwrap();
        assert_eq!((removed, states(here.path()).unwrap()), (2, vec!["20261128T120000Z".to_owned()]));
    }

    #[test]
    fn an_archive_that_was_given_up_does_not_replace_the_former() {
        let here = tempfile::tempdir().unwrap();
        let dest = here.path().join("a.tar.zst");
        let attempt = Attempt::default();
        fs::write(&dest, "").unwrap();
        attempt.stop.store(true, Ordering::Relaxed);
        let refused = Packing::begin(&dest, &attempt).and_then(Packing::finish);
        assert!(matches!(refused, Err(BackupError::Stopped)) && fs::read(&dest).unwrap().is_empty());
        attempt.stop.store(false, Ordering::Relaxed);
        assert!(Packing::begin(&dest, &attempt).and_then(Packing::finish).unwrap() > 0);
    }
}
