//! A disk in memory that tests can break: at a sync, when it is full, or by a power loss.

#![allow(dead_code, reason = "each test binary uses its part")]

use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gleaner_store::crawldb::redb_store::BackendFactory;
use redb::StorageBackend;

/// Which of the unsynced writes survive a power cut.
pub const SURVIVORS: [fn(usize) -> bool; 4] = [|_| false, |_| true, |number| number % 2 == 0, |number| number % 3 == 1];

/// A disk that tests can break. `power_off` may lose what was written since the last sync.
#[derive(Default)]
pub struct Disk {
    pub now: Vec<u8>,
    /// The state after the last sync.
    pub synced: Vec<u8>,
    /// Writes since then, in order.
    pub pending: Vec<Write>,
    pub syncs: usize,
    /// No sync and no write succeeds from this sync on.
    pub dies_at_sync: Option<usize>,
    /// The disk does not grow beyond this.
    pub bytes_max: Option<usize>,
    /// Duration of one sync.
    pub sync_time: Duration,
}

#[derive(Clone)]
pub enum Write {
    Length(usize),
    Bytes(usize, Vec<u8>),
}

impl Write {
    fn apply(&self, to: &mut Vec<u8>) {
        match self {
            Self::Length(length) => to.resize(*length, 0),
            Self::Bytes(at, bytes) => {
                let end = at + bytes.len();
                if to.len() < end {
                    to.resize(end, 0);
                }
                to[*at..end].copy_from_slice(bytes);
            }
        }
    }
}

impl Disk {
    fn dead(&self) -> io::Result<()> {
        match self.dies_at_sync {
            Some(at) if self.syncs >= at => Err(io::Error::other("the disk is gone")),
            _ => Ok(()),
        }
    }

    fn write(&mut self, write: Write) -> io::Result<()> {
        self.dead()?;
        let end = match &write {
            Write::Length(length) => *length,
            Write::Bytes(at, bytes) => at + bytes.len(),
        };
        if self.bytes_max.is_some_and(|max| end > max) {
            return Err(io::Error::from(io::ErrorKind::StorageFull));
        }
        write.apply(&mut self.now);
        self.pending.push(write);
        Ok(())
    }

    /// Power loss: of the writes since the last sync, those survive that `survives` selects.
    pub fn power_off(&mut self, survives: impl Fn(usize) -> bool) {
        let mut after = self.synced.clone();
        for (number, write) in self.pending.iter().enumerate() {
            if survives(number) {
                write.apply(&mut after);
            }
        }
        *self = Self { now: after.clone(), synced: after, ..Self::default() };
    }
}

#[derive(Clone, Default)]
pub struct Shared(pub Arc<Mutex<Disk>>);

impl Shared {
    /// The disk as the storage of a file.
    pub fn factory(&self) -> BackendFactory {
        let disk = self.clone();
        Box::new(move || Ok(Box::new(disk.clone())))
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

impl StorageBackend for Shared {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().now.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let disk = self.0.lock().unwrap();
        let at = offset as usize;
        let bytes = disk.now.get(at..at + out.len()).ok_or(io::ErrorKind::UnexpectedEof)?;
        out.copy_from_slice(bytes);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.0.lock().unwrap().write(Write::Length(len as usize))
    }

    fn sync_data(&self) -> io::Result<()> {
        let sync_time = self.0.lock().unwrap().sync_time;
        std::thread::sleep(sync_time);
        let mut disk = self.0.lock().unwrap();
        disk.dead()?;
        disk.syncs += 1;
        disk.dead()?;
        disk.synced = disk.now.clone();
        disk.pending.clear();
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().write(Write::Bytes(offset as usize, data.to_vec()))
    }
}
