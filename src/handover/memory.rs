//! What was handed over, in a file of the data folder that only grows: `handover/NAME`.
//!
//! ```text
//! {"version":1,"begun":{"at":1795651200000,"key":[…]}}    where it began; the last such line counts
//! 0123456789abcdef0123456789abcdef01234567                archive keys in hex, one a line
//! ```
//!
//! A line is written after its torrent's file is on the disk under its name. What a lost tail of this file has forgotten is handed over once
//! more, under the same name; nothing is lost. Processes take turns by a lock on the file.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, ErrorKind, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};

use gleaner_base::place;
use gleaner_store::crawldb::Stored;

use crate::HandoverError;
use crate::limits::{TURN_TRIES, TURN_TRY_AFTER_MS};

/// Of the form of the file.
const VERSION: u32 = 1;

/// Bytes of a key that are kept in memory: nobody makes two keys that share them.
const KEPT: usize = 16;

#[derive(Serialize, Deserialize)]
struct Head {
    version: u32,
    begun: Stored,
}

/// The file, as far as it was read.
#[derive(Debug)]
pub struct Memory {
    path: PathBuf,
    handed: HashSet<[u8; KEPT]>,
    begun: Option<Stored>,
    /// The file that was read, and how far: up to the end of a line.
    file: Option<(u64, u64)>,
    bytes: u64,
}

/// The turn of this process: nobody else hands over under this name until it is dropped.
pub struct Turn<'m> {
    memory: &'m mut Memory,
    file: File,
}

/// The file of a handover in a data folder.
#[must_use]
pub fn path_of(data_dir: &Path, name: &str) -> PathBuf {
    data_dir.join("handover").join(name)
}

fn kept(key: &[u8]) -> [u8; KEPT] {
    let mut kept = [0; KEPT];
    kept.iter_mut().zip(key).for_each(|(to, from)| *to = *from);
    kept
}

impl Memory {
    /// Reads what is there; nothing is created.
    ///
    /// # Errors
    /// If it cannot be read, or does not begin as such a file.
    pub fn open(data_dir: &Path, name: &str) -> Result<Self, HandoverError> {
        let path = path_of(data_dir, name);
        let mut memory = Self { path, handed: HashSet::new(), begun: None, file: None, bytes: 0 };
        match File::open(&memory.path) {
            Ok(file) => memory.catch_up(&file)?,
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            Err(error) => return Err(memory.fault("open", error)),
        }
        Ok(memory)
    }

    /// Behind which place everything is new; None before the first run.
    #[must_use]
    pub fn begun(&self) -> Option<&Stored> {
        self.begun.as_ref()
    }

    /// True if this torrent was handed over.
    #[must_use]
    pub fn has(&self, key: &[u8]) -> bool {
        self.handed.contains(&kept(key))
    }

    /// Torrents that were handed over.
    #[must_use]
    pub fn len(&self) -> usize {
        self.handed.len()
    }

    /// True if none was.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.handed.is_empty()
    }

    /// Waits for the turn, and reads what other processes have noted.
    ///
    /// # Errors
    /// If another process keeps it, and errors of the file.
    pub fn turn(&mut self) -> Result<Turn<'_>, HandoverError> {
        let file = self.open_to_write()?;
        for _ in 1..TURN_TRIES {
            if file.try_lock().is_ok() {
                return self.locked(file);
            }
            std::thread::sleep(Duration::from_millis(TURN_TRY_AFTER_MS));
        }
        Err(HandoverError::Busy { path: self.path.clone() })
    }

    fn locked(&mut self, file: File) -> Result<Turn<'_>, HandoverError> {
        self.catch_up(&file)?;
        // A line that its process did not finish.
        let length = file.metadata().map_err(|error| self.fault("read", error))?.len();
        if length > self.bytes {
            file.set_len(self.bytes).map_err(|error| self.fault("truncate", error))?;
        }
        Ok(Turn { memory: self, file })
    }

    fn open_to_write(&self) -> Result<File, HandoverError> {
        let mut how = OpenOptions::new();
        how.read(true)
            .append(true)
            .create(true)
            .mode(0o640)
            .custom_flags(rustix::fs::OFlags::NOFOLLOW.bits().cast_signed());
        match how.open(&self.path) {
            Err(error) if error.kind() == ErrorKind::NotFound => {}
            opened => return opened.map_err(|error| self.fault("open", error)),
        }
        let folder = self.path.parent().unwrap_or(Path::new("."));
        let made = DirBuilder::new().mode(0o750).create(folder);
        match made {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(self.fault("create", error)),
            _ => {}
        }
        let above = folder.parent().unwrap_or(Path::new("."));
        let opened = how.open(&self.path).and_then(|file| {
            [folder, above].iter().try_for_each(|folder| File::open(folder)?.sync_all())?;
            Ok(file)
        });
        opened.map_err(|error| self.fault("create", error))
    }

    /// Reads the whole lines that are new.
    fn catch_up(&mut self, file: &File) -> Result<(), HandoverError> {
        let there = file.metadata().map_err(|error| self.fault("read", error))?;
        let this = (there.dev(), there.ino());
        if self.file != Some(this) || there.len() < self.bytes {
            // Another file, such as a restored copy.
            (self.handed, self.begun, self.bytes) = (HashSet::new(), None, 0);
            self.file = Some(this);
        }
        let read = self.read_lines(file);
        read.map_err(|error| self.fault("read", error))?;
        match self.begun {
            None if self.bytes > 0 => Err(HandoverError::Damaged { path: self.path.clone() }),
            _ => Ok(()),
        }
    }

    fn read_lines(&mut self, mut file: &File) -> io::Result<()> {
        file.seek(SeekFrom::Start(self.bytes))?;
        let (mut lines, mut line) = (BufReader::new(file), Vec::new());
        loop {
            line.clear();
            let read = lines.read_until(b'\n', &mut line)?;
            if line.pop() != Some(b'\n') {
                return Ok(());
            }
            self.bytes += read as u64;
            if let Ok(head) = serde_json::from_slice::<Head>(&line) {
                self.begun = Some(head.begun).filter(|_| head.version == VERSION);
            } else if let Some(key) = HEXLOWER.decode(&line).ok().filter(|key| matches!(key.len(), 20 | 32)) {
                self.handed.insert(kept(&key));
            } else {
                tracing::warn!(path = %self.path.display(), at = self.bytes, "a line is damaged: its torrent is handed over once more");
            }
        }
    }

    fn fault(&self, action: &'static str, error: io::Error) -> HandoverError {
        let folder = self.path.clone();
        match place::used_up(&error) {
            Some((what, hint)) => HandoverError::Full { folder, what, hint },
            None => HandoverError::Io { path: folder, action, error },
        }
    }
}

impl Turn<'_> {
    /// True if this torrent was handed over.
    #[must_use]
    pub fn has(&self, key: &[u8]) -> bool {
        self.memory.has(key)
    }

    /// True if it is noted where it begins.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.memory.begun.is_some()
    }

    /// Notes where it begins; on the disk when it returns.
    ///
    /// # Errors
    /// Those of the file.
    pub fn begin(&mut self, begun: Stored) -> Result<(), HandoverError> {
        // Another process may have begun it.
        if self.memory.begun.as_ref().is_some_and(|there| *there <= begun) {
            return Ok(());
        }
        let text = serde_json::to_string(&Head { version: VERSION, begun: begun.clone() }).unwrap_or_default();
        self.append(&text)?;
        self.memory.begun = Some(begun);
        self.settle()
    }

    /// Notes that a torrent was handed over: a process that dies now has noted it.
    ///
    /// # Errors
    /// Those of the file.
    pub fn note(&mut self, key: &[u8]) -> Result<(), HandoverError> {
        self.append(&HEXLOWER.encode(key))?;
        self.memory.handed.insert(kept(key));
        Ok(())
    }

    /// Survives a power loss from now on.
    ///
    /// # Errors
    /// Those of the file.
    pub fn settle(&self) -> Result<(), HandoverError> {
        self.file.sync_data().map_err(|error| self.memory.fault("sync", error))
    }

    fn append(&mut self, text: &str) -> Result<(), HandoverError> {
        let line = format!("{text}\n");
        if let Err(error) = self.file.write_all(line.as_bytes()) {
            // Half a line would spoil the next one.
            let _ = self.file.set_len(self.memory.bytes);
            return Err(self.memory.fault("write", error));
        }
        self.memory.bytes += line.len() as u64;
        Ok(())
    }
}

/// When the last torrent was handed over, in milliseconds since 1970; None if none was.
#[must_use]
pub fn last_written(data_dir: &Path, name: &str) -> Option<u64> {
    let there = fs::metadata(path_of(data_dir, name)).ok()?;
    u64::try_from(there.mtime()).ok().map(|seconds| seconds.saturating_mul(1_000))
}
