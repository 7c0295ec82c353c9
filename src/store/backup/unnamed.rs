//! Removes torrents of a folder of backups that none of its states has: those of states that were removed, and of backups that were killed. The folder is
//! locked meanwhile, so that nothing of it is being written.

use std::collections::HashSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use data_encoding::HEXLOWER_PERMISSIVE;

use super::manifest::MANIFEST;
use super::{Attempt, BackupError, CRAWL, TORRENTS};
use crate::crawldb::CrawlDbError;
use crate::crawldb::redb_store::{OpenOptions, RedbStore};

/// Page cache to read each state's database once, in bytes.
const READ_CACHE_BYTES: usize = 4 << 20;

/// The beginning of a checksum: of two torrents with the same one, both stay.
type Short = u64;

/// Removes them; returns how many. `newest` is the number of torrents that the newest state has, all of which are there: where there are no more, nothing is
/// read.
///
/// # Errors
/// Also those of finding and reading a state: then all of them stay.
pub(super) fn remove(dest: &Path, newest: u64, attempt: &Attempt) -> Result<u64, BackupError> {
    let (pool, mut there) = (dest.join(TORRENTS), 0);
    // Twice, rather than to hold a path for each.
    each_object(&pool, attempt, |_, _| {
        there += 1;
        Ok(())
    })?;
    if there <= newest {
        return Ok(0);
    }
    let mut named: HashSet<Short> = HashSet::new();
    for state in states(dest)? {
        name(&state.join(CRAWL), &mut named, attempt)?;
    }
    let mut removed = 0;
    each_object(&pool, attempt, |short, path| {
        if !named.contains(&short) {
            fs::remove_file(path).map_err(|error| BackupError::io(path, "remove", error))?;
            attempt.step();
            removed += 1;
        }
        Ok(())
    })?;
    Ok(removed)
}

/// Every folder with a manifest, whatever its name: a person may have renamed one to keep it. One of which that cannot be told is an error.
fn states(dest: &Path) -> Result<Vec<PathBuf>, BackupError> {
    let failed = |error| BackupError::io(dest, "read", error);
    let mut found = Vec::new();
    for entry in fs::read_dir(dest).map_err(failed)? {
        let path = entry.map_err(failed)?.path();
        let manifest = path.join(MANIFEST);
        match fs::metadata(&manifest) {
            Ok(_) => found.push(path),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
            Err(error) => return Err(BackupError::io(&manifest, "read", error)),
        }
    }
    Ok(found)
}

/// Calls `each` for the torrents that are there, but for those that have another name than ours.
fn each_object(
    pool: &Path,
    attempt: &Attempt,
    mut each: impl FnMut(Short, &Path) -> Result<(), BackupError>,
) -> Result<(), BackupError> {
    let failed = |error| BackupError::io(pool, "read", error);
    for shard in fs::read_dir(pool).map_err(failed)? {
        let shard = shard.map_err(failed)?;
        if shard.file_name().len() != 2 {
            continue;
        }
        let entries = match fs::read_dir(shard.path()) {
            Err(error) if error.kind() == ErrorKind::NotADirectory => continue,
            entries => entries.map_err(failed)?,
        };
        for entry in entries {
            if attempt.is_stopped() {
                return Err(BackupError::Stopped);
            }
            attempt.step();
            let path = entry.map_err(failed)?.path();
            if let Some(short) = short_of(&path) {
                each(short, &path)?;
            }
        }
    }
    Ok(())
}

fn short_of(path: &Path) -> Option<Short> {
    let hex = path.file_name()?.to_str()?.strip_suffix(".torrent")?;
    let sha256: [u8; 32] = HEXLOWER_PERMISSIVE.decode(hex.as_bytes()).ok()?.try_into().ok()?;
    Some(short(&sha256))
}

fn short(sha256: &[u8; 32]) -> Short {
    let mut first = [0; size_of::<Short>()];
    first.copy_from_slice(&sha256[..size_of::<Short>()]);
    Short::from_be_bytes(first)
}

/// Adds what a state has.
fn name(database: &Path, named: &mut HashSet<Short>, attempt: &Attempt) -> Result<(), BackupError> {
    let options = OpenOptions { cache_bytes: READ_CACHE_BYTES, sync: false };
    let db = RedbStore::read_only(database, options).map_err(|error: CrawlDbError| BackupError::from(error))?;
    db.each_torrent(|facts| {
        if attempt.is_stopped() {
            return Err(BackupError::Stopped);
        }
        attempt.step();
        named.insert(short(&facts.sha256));
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_that_cannot_be_looked_at_keeps_all_torrents() {
        let here = tempfile::tempdir().unwrap();
        let object = here.path().join(TORRENTS).join("00").join(format!("{:064x}.torrent", 1));
        fs::create_dir_all(object.parent().unwrap()).unwrap();
        fs::write(&object, "x").unwrap();
        let kept = here.path().join("kept");
        fs::create_dir(&kept).unwrap();
        // A link to itself: ELOOP, also for root.
        std::os::unix::fs::symlink(MANIFEST, kept.join(MANIFEST)).unwrap();
        let refused = remove(here.path(), 0, &Attempt::default()).unwrap_err().to_string();
        assert!(refused.contains("kept/manifest.json") && object.exists(), "{refused}");
        fs::remove_file(kept.join(MANIFEST)).unwrap();
        assert_eq!(remove(here.path(), 1, &Attempt::default()).unwrap(), 0, "the newest state has as many");
        assert_eq!(remove(here.path(), 0, &Attempt::default()).unwrap(), 1);
        assert!(!object.exists());
    }
}
