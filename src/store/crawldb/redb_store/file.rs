//! A redb file that survives errors: a disk error (full, broken, damaged) fails the call that met it and closes the
//! file; the next call reopens it, without a repair step.
//!
//! Each database of this room is one of these, with the state that it loads at each opening.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Once, PoisonError, RwLock};

use redb::Database;

use super::open::{BackendFactory, Boxed, Fault, OpenOptions, clear_unfinished};
use super::unwritten::Unwritten;
use crate::crawldb::CrawlDbError;

/// Page cache for a look at one row.
const PEEK_CACHE_BYTES: usize = 1 << 20;

/// See the module.
pub(in crate::crawldb) struct File {
    path: PathBuf,
    options: OpenOptions,
    factory: BackendFactory,
    /// None while the file cannot be opened.
    db: RwLock<Option<Database>>,
    /// Set by a fault: the file is opened again before its next use.
    is_broken: AtomicBool,
}

impl File {
    /// A file over storage that `factory` creates at each opening; not opened yet. `path` is only used in messages.
    pub(in crate::crawldb) fn new(path: &Path, options: OpenOptions, factory: BackendFactory) -> Self {
        let path = path.to_path_buf();
        Self { path, options, factory, db: RwLock::new(None), is_broken: AtomicBool::new(true) }
    }

    /// False disables every fsync.
    pub(in crate::crawldb) fn syncs(&self) -> bool {
        self.options.sync
    }

    /// Closes and reopens the file if it was never opened or an error broke it: `read` checks it and loads the state for
    /// memory, which `keep` stores before anybody else sees the file.
    ///
    /// # Errors
    /// `Held`, `NewerSchema`, `Corrupt` or `Storage`; the next call tries again.
    pub(in crate::crawldb) fn open<K>(
        &self,
        read: impl FnOnce(&Database) -> Result<K, Fault>,
        keep: impl FnOnce(K),
    ) -> Result<(), CrawlDbError> {
        if !self.is_broken.load(Ordering::Acquire) {
            return Ok(());
        }
        let mut file = self.db.write().unwrap_or_else(PoisonError::into_inner);
        if !self.is_broken.load(Ordering::Acquire) {
            return Ok(());
        }
        let (db, kept) = guarded(|| {
            *file = None;
            let io = |error| Fault::Redb(redb::Error::Io(error));
            let backend = (self.factory)().map_err(io)?;
            clear_unfinished(&*backend).map_err(io)?;
            let builder = &mut Database::builder();
            let db = builder.set_cache_size(self.options.cache_bytes).create_with_backend(Boxed(backend))?;
            let kept = read(&db)?;
            Ok((db, kept))
        })
        .map_err(|fault| fault.tell(&self.path))?;
        keep(kept);
        *file = Some(db);
        self.is_broken.store(false, Ordering::Release);
        Ok(())
    }

    /// Runs `work` on the open file.
    ///
    /// # Errors
    /// Errors of `work`; after a disk error the file is reopened.
    pub(in crate::crawldb) fn with<T>(
        &self,
        work: impl FnOnce(&Database) -> Result<T, Fault>,
    ) -> Result<T, CrawlDbError> {
        let file = self.db.read().unwrap_or_else(PoisonError::into_inner);
        let Some(db) = file.as_ref() else {
            let detail = "the file could not be opened again".into();
            return Err(CrawlDbError::Storage { path: self.path.clone(), detail, full: false });
        };
        guarded(|| work(db)).map_err(|fault| {
            if fault.breaks_file() {
                self.is_broken.store(true, Ordering::Release);
            }
            fault.tell(&self.path)
        })
    }

    /// The error of a call whose thread panicked.
    pub(in crate::crawldb) fn cut_short(&self, error: &tokio::task::JoinError) -> CrawlDbError {
        let detail = format!("the runtime ended in the middle of a call: {error}");
        CrawlDbError::Storage { path: self.path.clone(), detail, full: false }
    }
}

impl Drop for File {
    /// Closing writes to the file, and redb may panic on an inconsistency in a damaged one.
    fn drop(&mut self) {
        let file = self.db.get_mut().unwrap_or_else(PoisonError::into_inner);
        drop(guarded(|| {
            *file = None;
            Ok(())
        }));
    }
}

thread_local! {
    /// True while a panic of this thread is converted to an error and must not be printed.
    static IS_GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Fails if a newer gleaner wrote the file, which stays as it is: to open a file is to write it. All else is found by opening it.
///
/// # Errors
/// `NewerSchema`.
pub(in crate::crawldb) fn refuse_newer(
    path: &Path,
    schema: impl FnOnce(&Database) -> Result<Option<u64>, Fault>,
) -> Result<(), CrawlDbError> {
    let Ok(backend) = Unwritten::open(path) else { return Ok(()) };
    let found = guarded(|| {
        let builder = &mut Database::builder();
        schema(&builder.set_cache_size(PEEK_CACHE_BYTES).create_with_backend(backend)?)
    });
    match found {
        Err(fault @ Fault::NewerSchema { .. }) => Err(fault.tell(path)),
        _ => Ok(()),
    }
}

/// redb asserts invariants of the file; in a damaged file that may fail, which must neither end the crawl nor print to the terminal.
pub(in crate::crawldb) fn guarded<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let told = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_GUARDED.get() {
                told(info);
            }
        }));
    });
    let was_guarded = IS_GUARDED.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_GUARDED.set(was_guarded);
    done.unwrap_or_else(|_| Err(Fault::Damaged("the engine stopped at an inconsistency".into())))
}
