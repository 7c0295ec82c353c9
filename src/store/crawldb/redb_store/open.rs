//! The storage below a database file, what is loaded when it is opened, and its errors.

use std::fs;
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt as _};
use std::path::Path;

use redb::backends::FileBackend;
use redb::{
    BackendError, CommitError, CursorError, Database, DatabaseError, ReadableDatabase, SetDurabilityError,
    StorageBackend, StorageError, TableDefinition, TableError, TransactionError,
};

use super::known::CachedTables;
use super::tables::{
    self, META, META_SCHEMA, SCHEMA, SCHEMA_WITHOUT_LABELS, SCHEMA_WITHOUT_NOT_WHOLE, SCHEMA_WITHOUT_NOTES,
    SCHEMA_WITHOUT_TIMES,
};
use super::times;
use super::unwritten::Unwritten;
use crate::crawldb::CrawlDbError;
use crate::crawldb::record::HostId;
use crate::limits;
use gleaner_base::{owner, place};

/// How a database file is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenOptions {
    /// Memory for pages of the file, in bytes.
    pub cache_bytes: usize,
    /// False disables every fsync: commits survive the death of the process, but not of the machine. For
    /// tests and demos.
    pub sync: bool,
}

impl Default for OpenOptions {
    fn default() -> Self {
        Self { cache_bytes: 64 << 20, sync: true }
    }
}

/// Creates the storage below the database at each opening; tests inject errors here.
pub type BackendFactory = Box<dyn Fn() -> io::Result<Box<dyn StorageBackend>> + Send + Sync>;

/// Internal errors of the store; [`Fault::tell`] adds the path.
#[derive(Debug)]
pub(in crate::crawldb) enum Fault {
    Redb(redb::Error),
    /// An invalid row.
    Damaged(String),
    NewerSchema {
        found: u64,
        known: u64,
    },
    UnknownHost(HostId),
}

macro_rules! from_redb {
    ($($error:ty),*) => {
        $(impl From<$error> for Fault {
            fn from(error: $error) -> Self {
                Self::Redb(error.into())
            }
        })*
    };
}
from_redb!(CommitError, CursorError, DatabaseError, SetDurabilityError, StorageError, TableError, TransactionError);

impl Fault {
    /// A value of `table` that cannot be decoded.
    pub(in crate::crawldb) fn row(table: &str) -> Self {
        Self::Damaged(format!("a row of table `{table}` cannot be read"))
    }

    /// True if the file has to be reopened before its next use.
    pub(in crate::crawldb) fn breaks_file(&self) -> bool {
        match self {
            Self::Redb(redb::Error::TableDoesNotExist(_) | redb::Error::TableTypeMismatch { .. })
            | Self::NewerSchema { .. }
            | Self::UnknownHost(_) => false,
            Self::Redb(_) | Self::Damaged(_) => true,
        }
    }

    /// The error of the interface.
    pub(in crate::crawldb) fn tell(self, path: &Path) -> CrawlDbError {
        let path = path.to_path_buf();
        let corrupt = |detail| CrawlDbError::Corrupt { path: path.clone(), detail };
        match self {
            Self::UnknownHost(host) => CrawlDbError::UnknownHost { host },
            Self::NewerSchema { found, known } => CrawlDbError::NewerSchema { path, found, known },
            Self::Damaged(detail) => corrupt(detail),
            Self::Redb(error) => match error {
                redb::Error::DatabaseAlreadyOpen => CrawlDbError::Held { path },
                redb::Error::Io(error) => io_error(&path, &error),
                redb::Error::PreviousIo => CrawlDbError::Storage {
                    path,
                    detail: "an earlier write failed; the file is opened again at the next call".into(),
                    full: false,
                },
                redb::Error::Corrupted(detail) => corrupt(detail),
                error @ (redb::Error::UpgradeRequired(_)
                | redb::Error::RepairAborted
                | redb::Error::TableDoesNotExist(_)
                | redb::Error::TableTypeMismatch { .. }
                | redb::Error::TypeDefinitionChanged { .. }) => corrupt(error.to_string()),
                error => CrawlDbError::Storage { path, detail: error.to_string(), full: false },
            },
        }
    }
}

fn io_error(path: &Path, error: &io::Error) -> CrawlDbError {
    let path = path.to_path_buf();
    match error.kind() {
        // redb's errors for a file that is not its own, and for one that is too short.
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof => {
            CrawlDbError::Corrupt { path, detail: error.to_string() }
        }
        kind => {
            let detail = match (kind, place::used_up(error)) {
                (io::ErrorKind::FileTooLarge, Some((what, hint))) => format!("{what}\nhint: {hint}"),
                _ => error.to_string(),
            };
            CrawlDbError::Storage { path, detail, full: place::used_up(error).is_some() }
        }
    }
}

/// The factory for a plain file: its folder is created (0700) if it is absent, the file with mode 0640. The names of
/// both are durable before the first commit is.
pub(in crate::crawldb) fn file_factory(path: &Path, options: OpenOptions) -> BackendFactory {
    let path = path.to_path_buf();
    Box::new(move || {
        let folder = folder_of(&path);
        let unnamed: Vec<&Path> = folder.ancestors().take_while(|folder| !folder.exists()).collect();
        fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let file =
            fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o640).open(&path)?;
        // Earlier versions kept it for the owner alone. The folder decides who gets there.
        if file.metadata()?.permissions().mode() & 0o777 == 0o600 {
            let _ = file.set_permissions(fs::Permissions::from_mode(0o640));
        }
        if options.sync {
            // At each opening: the process that created the file may have been killed in between.
            sync_folder(folder)?;
            unnamed.into_iter().try_for_each(|made| sync_folder(folder_of(made)))?;
        }
        let file = FileBackend::new(file).map_err(io::Error::other)?;
        Ok(if options.sync { Box::new(file) } else { Box::new(WithoutSync(file)) })
    })
}

/// The factory for an existing file that must not be written.
pub(in crate::crawldb) fn reading_factory(path: &Path) -> BackendFactory {
    let path = path.to_path_buf();
    Box::new(move || {
        // Root follows no link of the owner's.
        let _owner = owner::act(folder_of(&path));
        Ok(Box::new(Unwritten::open(&path)?))
    })
}

/// The folder of `path`.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Makes the names in a folder durable.
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

/// Checks the schema of an open file, creates the tables of a new one, and loads the state for memory.
pub(super) fn read(db: &Database) -> Result<CachedTables, Fault> {
    match schema_of(db)? {
        Some(SCHEMA) => {}
        None | Some(SCHEMA_WITHOUT_LABELS) => tables::create(db)?,
        Some(SCHEMA_WITHOUT_NOTES | SCHEMA_WITHOUT_NOT_WHOLE | SCHEMA_WITHOUT_TIMES) => {
            times::fill(db)?;
            tables::create(db)?;
        }
        Some(found) => return Err(never_in_use(found)),
    }
    tables::check(db)?;
    CachedTables::load(db)
}

/// See [`schema`].
pub(super) fn schema_of(db: &Database) -> Result<Option<u64>, Fault> {
    schema(db, META, META_SCHEMA, SCHEMA, "a crawl database")
}

/// The fault for a schema that no version has written.
pub(in crate::crawldb) fn never_in_use(schema: u64) -> Fault {
    Fault::Damaged(format!("schema {schema} was never in use"))
}

/// Bytes of redb's header.
const HEADER_BYTES: usize = 320;
/// Offset of the end of redb's magic number, where its page size follows.
const MAGIC_BYTES: usize = 9;
const PAGE_SIZE_AT: std::ops::Range<usize> = 12..16;
/// Empties a file whose creation was interrupted. redb writes its magic number last, so a file without one was never
/// a database; a longer file, or one with another beginning, is something else and left alone.
pub(super) fn clear_unfinished(backend: &dyn StorageBackend) -> io::Result<()> {
    use std::ops::Bound::Unbounded;
    // Another process may be creating it right now: then it holds the lock, and redb reports that.
    let locked = match backend.try_lock_range(Unbounded, Unbounded) {
        Ok(false) => return Ok(()),
        Ok(true) => true,
        Err(BackendError::Unsupported) => false,
        Err(error) => return Err(error.into()),
    };
    if (HEADER_BYTES as u64..=limits::NEW_FILE_BYTES_MAX).contains(&backend.len()?) {
        let mut header = [0; HEADER_BYTES];
        backend.read(0, &mut header)?;
        let empty = header.iter().all(|&byte| byte == 0);
        let begun = header[PAGE_SIZE_AT] == 4_096_u32.to_le_bytes();
        if header[..MAGIC_BYTES] == [0; MAGIC_BYTES] && (empty || begun) {
            backend.set_len(0)?;
        }
    }
    if locked {
        backend.unlock_range(Unbounded, Unbounded)?;
    }
    Ok(())
}

/// The schema of the file, stored in `head` under `name`; None for an empty file. One above `known` is a fault.
pub(in crate::crawldb) fn schema(
    db: &Database,
    head: TableDefinition<'_, &str, u64>,
    name: &str,
    known: u64,
    what: &str,
) -> Result<Option<u64>, Fault> {
    let txn = db.begin_read()?;
    let head = match txn.open_table(head) {
        Ok(head) => head,
        Err(TableError::TableDoesNotExist(_)) if txn.list_tables()?.next().is_none() => return Ok(None),
        Err(TableError::TableDoesNotExist(_) | TableError::TableTypeMismatch { .. }) => {
            return Err(Fault::Damaged(format!("this redb file is not {what}")));
        }
        Err(error) => return Err(error.into()),
    };
    match head.get(name)?.map(|schema| schema.value()) {
        Some(found) if found > known => Err(Fault::NewerSchema { found, known }),
        Some(found) => Ok(Some(found)),
        None => Err(Fault::Damaged("the file names no schema".into())),
    }
}

/// A boxed backend as a backend.
#[derive(Debug)]
pub(super) struct Boxed(pub(super) Box<dyn StorageBackend>);

/// A file that is never synced.
#[derive(Debug)]
struct WithoutSync(FileBackend);

pub(super) type Bounds = std::ops::Bound<u64>;

// redb locks byte ranges through the backend; every lock method has to be forwarded, or there is no lock.
macro_rules! delegate {
    ($wrapper:ty, $sync:expr) => {
        impl StorageBackend for $wrapper {
            fn len(&self) -> io::Result<u64> {
                self.0.len()
            }
            fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
                self.0.read(offset, out)
            }
            fn set_len(&self, len: u64) -> io::Result<()> {
                self.0.set_len(len)
            }
            fn sync_data(&self) -> io::Result<()> {
                let sync: fn(&Self) -> io::Result<()> = $sync;
                sync(self)
            }
            fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
                self.0.write(offset, data)
            }
            fn close(&self) -> io::Result<()> {
                self.0.close()
            }
            fn try_lock_range(&self, start: Bounds, end: Bounds) -> Result<bool, BackendError> {
                self.0.try_lock_range(start, end)
            }
            fn try_lock_shared_range(&self, start: Bounds, end: Bounds) -> Result<bool, BackendError> {
                self.0.try_lock_shared_range(start, end)
            }
            fn lock_range(&self, start: Bounds, end: Bounds) -> Result<(), BackendError> {
                self.0.lock_range(start, end)
            }
            fn lock_shared_range(&self, start: Bounds, end: Bounds) -> Result<(), BackendError> {
                self.0.lock_shared_range(start, end)
            }
            fn unlock_range(&self, start: Bounds, end: Bounds) -> Result<(), BackendError> {
                self.0.unlock_range(start, end)
            }
            fn query_lock_range(&self, start: Bounds, end: Bounds) -> Result<bool, BackendError> {
                self.0.query_lock_range(start, end)
            }
        }
    };
}
delegate!(Boxed, |this| this.0.sync_data());
delegate!(WithoutSync, |_| Ok(()));
