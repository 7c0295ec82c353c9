//! The database of a data folder for reading: from the process that holds it, or from its file. Changes nothing, and never creates a
//! data folder. Root reads the file as its owner.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;

use super::control::Remote;
use super::queues::{self, HostQueue, KnownUrl};
use super::status::{self, StatusReport};
use super::{Options, archive_path, database_path, folder, has_database, is_folder, nothing_there};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::owner;
use gleaner_base::url::{KEYS_NOTE, MembersKeys};
use gleaner_store::coverage;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Reader};

/// Tries to reach a process that opens or closes the folder right now.
const TRIES: u32 = 10;

/// Time between them.
const TRY_AFTER: Duration = Duration::from_millis(100);

/// See the module.
pub enum Database {
    /// No process writes it.
    File(Arc<dyn CrawlDb>),
    /// Another process holds it, and answers for it.
    Held(Remote),
}

impl Database {
    /// The database of a data folder; None if no crawl has started there.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub async fn of(options: &Options) -> anyhow::Result<Option<Self>> {
        for _ in 1..TRIES {
            match Self::try_of(options).await {
                // A process that was killed may leave a child that it was about to start: for a moment the child has its lock and its socket.
                Err(error)
                    if matches!(
                        error.downcast_ref(),
                        Some(CrawlDbError::Held { .. } | CrawlDbError::HolderEnded { .. })
                    ) =>
                {
                    tokio::time::sleep(TRY_AFTER).await;
                }
                tried => return tried,
            }
        }
        Self::try_of(options).await
    }

    async fn try_of(options: &Options) -> anyhow::Result<Option<Self>> {
        let data_dir = &options.data_dir;
        let database = match Remote::connect(data_dir).await {
            Some(remote) => Self::Held(remote),
            None => {
                is_folder(data_dir)?;
                if !has_database(data_dir)? {
                    return Ok(None);
                }
                Self::File(open(data_dir, options.cache_bytes)?)
            }
        };
        watch_keys(database.reader()).await?;
        Ok(Some(database))
    }

    /// The same, where a crawl must have started.
    ///
    /// # Errors
    /// If none has, with a hint, and errors of opening it.
    pub async fn existing(options: &Options) -> anyhow::Result<Self> {
        Self::unless_lost(options).await?.ok_or_else(|| nothing_there(options))
    }

    /// The same, where an archive without its database is an error: to report it as empty would hide the loss.
    ///
    /// # Errors
    /// As described, and errors of opening it.
    pub async fn unless_lost(options: &Options) -> anyhow::Result<Option<Self>> {
        let found = Self::of(options).await?;
        match is_lost(&options.data_dir) {
            Some(how) if !matches!(found, Some(Self::Held(_))) => bail!(
                "{}: is {how}, but {} has files\nhint: restore a copy of it, or run `gleaner verify --repair{}`, which adds the files to \
                 a new one",
                database_path(&options.data_dir).display(),
                archive_path(&options.data_dir).display(),
                options.given
            ),
            _ => Ok(found),
        }
    }

    /// Read access to the harvest.
    #[must_use]
    pub fn reader(&self) -> &dyn Reader {
        match self {
            Self::File(db) => db.as_ref(),
            Self::Held(remote) => remote,
        }
    }

    /// The state of each site.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn status(&self) -> Result<StatusReport, CrawlDbError> {
        match self {
            Self::File(db) => status::report(db.as_ref(), None, SystemClock.now()).await,
            Self::Held(remote) => remote.status().await,
        }
    }

    /// The record of a URL of a site; None if there is none.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn known_url(&self, site: &str, origin: &str, path: &str) -> Result<Option<KnownUrl>, CrawlDbError> {
        match self {
            Self::File(db) => queues::known_url(db.as_ref(), site, origin, path).await,
            Self::Held(remote) => remote.known_url(site, origin, path).await,
        }
    }

    /// The queues of a site's hosts, with the first URLs of each.
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn queues(&self, site: &str, urls_max: usize) -> Result<Vec<HostQueue>, CrawlDbError> {
        match self {
            Self::File(db) => queues::queues(db.as_ref(), site, urls_max).await,
            Self::Held(remote) => remote.queues(site, urls_max).await,
        }
    }
}

/// What this process prints of members' sites has no keys of theirs.
async fn watch_keys(db: &dyn Reader) -> Result<(), CrawlDbError> {
    for site in coverage::sites(db).await? {
        if let Some(keys) = db.note(&site, KEYS_NOTE).await?.and_then(|note| MembersKeys::read(&note)) {
            MembersKeys::watch(Arc::new(keys));
        }
    }
    Ok(())
}

fn open(data_dir: &Path, cache_bytes: usize) -> anyhow::Result<Arc<dyn CrawlDb>> {
    let (path, options) = (database_path(data_dir), OpenOptions { cache_bytes, ..OpenOptions::default() });
    may_be_read(data_dir, &path)?;
    Ok(Arc::new(RedbStore::read_only(&path, options)?))
}

/// How the database of an archive was lost; None if it was not, or there are no files.
#[must_use]
pub fn is_lost(data_dir: &Path) -> Option<&'static str> {
    let _owner = owner::act(data_dir);
    let how = match fs::metadata(database_path(data_dir)) {
        Ok(there) if there.len() == 0 => "empty",
        Err(error) if error.kind() == ErrorKind::NotFound => "missing",
        _ => return None,
    };
    let is_hidden = |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
    let entries = |path: &Path| fs::read_dir(path).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut folders = entries(&archive_path(data_dir)).filter(|path| !is_hidden(path));
    folders.any(|folder| entries(&folder).next().is_some()).then_some(how)
}

/// An error if the database is no file, or with its owner and mode if this user, or as root its owner, may not read it.
fn may_be_read(data_dir: &Path, path: &Path) -> anyhow::Result<()> {
    let _owner = owner::act(data_dir);
    folder::must_be_file(path)?;
    match File::open(path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => Err(folder::failed(path, &error)),
        _ => Ok(()),
    }
}
