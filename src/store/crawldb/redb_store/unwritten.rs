//! A database file opened where it must not be written: what redb writes on opening a file (the open flag, a repair after a
//! crash) stays in memory and is discarded at the end.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};

use redb::{BackendError, StorageBackend};
use rustix::fs::{FlockOperation, fcntl_lock};

use super::open::Bounds;
use crate::limits;

/// Bytes of one part of the file that is held in memory.
const PART_BYTES: u64 = 4_096;

/// The file, and the changes to it.
#[derive(Debug)]
pub(super) struct Unwritten {
    file: File,
    /// False if another process holds the file for writing.
    is_ours: bool,
    changed: Mutex<Changed>,
}

#[derive(Debug)]
struct Changed {
    parts: BTreeMap<u64, Box<[u8]>>,
    len: u64,
    /// Bytes of the file that are valid, from its start: fewer than it has if it was truncated.
    file_bytes: u64,
}

impl Unwritten {
    /// Opens an existing file.
    ///
    /// # Errors
    /// Those of the file system.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        // A writer locks the file; on a file system without locks there can be no such writer.
        let is_ours = !matches!(
            fcntl_lock(&file, FlockOperation::NonBlockingLockShared),
            Err(rustix::io::Errno::ACCESS | rustix::io::Errno::AGAIN)
        );
        let file_bytes = file.metadata()?.len();
        let changed = Mutex::new(Changed { parts: BTreeMap::new(), len: file_bytes, file_bytes });
        Ok(Self { file, is_ours, changed })
    }

    fn changed(&self) -> MutexGuard<'_, Changed> {
        // A part is consistent at any moment.
        self.changed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A part as it is in the file, zeros after its end.
    fn part(&self, number: u64, file_bytes: u64) -> io::Result<Box<[u8]>> {
        let mut part = vec![0; PART_BYTES as usize];
        let start = number * PART_BYTES;
        let there = file_bytes.saturating_sub(start).min(PART_BYTES) as usize;
        self.file.read_exact_at(&mut part[..there], start)?;
        Ok(part.into())
    }
}

/// Splits a byte range by part: its number, the start of the piece in it, and its length.
fn pieces(offset: u64, len: usize) -> impl Iterator<Item = (u64, usize, usize)> {
    let mut at = offset;
    let end = offset.saturating_add(len as u64);
    std::iter::from_fn(move || {
        let left = end.checked_sub(at).filter(|left| *left > 0)?;
        let (number, within) = (at / PART_BYTES, at % PART_BYTES);
        let bytes = left.min(PART_BYTES - within);
        at += bytes;
        Some((number, within as usize, bytes as usize))
    })
}

impl StorageBackend for Unwritten {
    fn len(&self) -> io::Result<u64> {
        Ok(self.changed().len)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let changed = self.changed();
        if offset.saturating_add(out.len() as u64) > changed.len {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        let mut rest = out;
        for (number, within, bytes) in pieces(offset, rest.len()) {
            let (piece, behind) = rest.split_at_mut(bytes);
            match changed.parts.get(&number) {
                Some(part) => piece.copy_from_slice(&part[within..within + bytes]),
                None => {
                    let at = number * PART_BYTES + within as u64;
                    let there = changed.file_bytes.saturating_sub(at).min(bytes as u64) as usize;
                    self.file.read_exact_at(&mut piece[..there], at)?;
                    piece[there..].fill(0);
                }
            }
            rest = behind;
        }
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut changed = self.changed();
        // A regrown region is zero.
        changed.file_bytes = changed.file_bytes.min(len);
        changed.parts.retain(|number, _| number * PART_BYTES < len);
        if let Some(part) = changed.parts.get_mut(&(len / PART_BYTES)) {
            part[(len % PART_BYTES) as usize..].fill(0);
        }
        changed.len = len;
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut changed = self.changed();
        let mut rest = data;
        for (number, within, bytes) in pieces(offset, data.len()) {
            let (piece, behind) = rest.split_at(bytes);
            if !changed.parts.contains_key(&number) {
                if changed.parts.len() as u64 * PART_BYTES >= limits::UNWRITTEN_BYTES_MAX {
                    let why = "it needs a repair that does not fit in memory; open it once on a writable file system";
                    return Err(io::Error::other(why));
                }
                let part = self.part(number, changed.file_bytes)?;
                changed.parts.insert(number, part);
            }
            if let Some(part) = changed.parts.get_mut(&number) {
                part[within..within + bytes].copy_from_slice(piece);
            }
            rest = behind;
        }
        changed.len = changed.len.max(offset.saturating_add(data.len() as u64));
        Ok(())
    }

    // The lock taken on opening covers everything: only this process sees its writes.
    fn try_lock_range(&self, _: Bounds, _: Bounds) -> Result<bool, BackendError> {
        Ok(self.is_ours)
    }

    fn try_lock_shared_range(&self, _: Bounds, _: Bounds) -> Result<bool, BackendError> {
        Ok(self.is_ours)
    }

    fn lock_range(&self, _: Bounds, _: Bounds) -> Result<(), BackendError> {
        Ok(())
    }

    fn lock_shared_range(&self, _: Bounds, _: Bounds) -> Result<(), BackendError> {
        Ok(())
    }

    fn unlock_range(&self, _: Bounds, _: Bounds) -> Result<(), BackendError> {
        Ok(())
    }

    fn query_lock_range(&self, _: Bounds, _: Bounds) -> Result<bool, BackendError> {
        Ok(!self.is_ours)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_and_never_in_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f");
        let before: Vec<u8> = (0..10_000_u32).map(|at| at as u8).collect();
        std::fs::write(&path, &before).unwrap();
        let backend = Unwritten::open(&path).unwrap();
        let (mut model, mut seed) = (before.clone(), 7_u64);
        for _ in 0..500 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let (at, len) = ((seed >> 40) as usize % 20_000, (seed >> 20) as usize % 9_000);
            if model.len() < at + len {
                model.resize(at + len, 0);
                backend.set_len((at + len) as u64).unwrap();
            }
            if seed % 5 == 0 {
                model.truncate(at);
                backend.set_len(model.len() as u64).unwrap();
                model.resize(at + len, 0);
                backend.set_len(model.len() as u64).unwrap();
            }
            let data: Vec<u8> = (0..len).map(|of| (of as u64 ^ seed) as u8).collect();
            backend.write(at as u64, &data).unwrap();
            model[at..at + len].copy_from_slice(&data);
            let mut whole = vec![0; model.len()];
            backend.read(0, &mut whole).unwrap();
            assert!(whole == model && backend.len().unwrap() == model.len() as u64);
        }
        assert!(backend.read(model.len() as u64, &mut [0]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), before);
    }
}
