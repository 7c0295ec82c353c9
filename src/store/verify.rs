//! Compares archive and database in both directions: every row has its file, intact and under its name, and every file
//! has its row.
//!
//! Reads both in key order, side by side: memory holds a page of rows, the names of one of the archive's 256
//! folders and one file. With `repair`, nothing is deleted and nothing is lost:
//!
//! | found | repaired by |
//! | --- | --- |
//! | a row whose file is lost | forgetting the row: its sources are fetched again |
//! | a row whose file is no longer that torrent | moving the file to `damaged/` and forgetting the row |
//! | a file of the same torrent with other bytes (another announce list) | adopting it as it is; its sources are fetched again |
//! | an intact file without a row (a crash between file and commit) | adopting it |
//! | an intact file under a wrong name or in a wrong folder | moving it to its place, adopting it if it has no row |
//! | a file named as a torrent that is not one | moving it to `damaged/` |
//! | any other file | leaving it alone; it is listed |
//!
//! While the service runs, a torrent that is being committed may look like a file without a row for the length of
//! a commit window. A repair needs exclusive access to the database.

mod inspect;
mod walk;

use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;

use crate::crawldb::{CrawlDb, CrawlDbError, Reader, TorrentFacts, TorrentRow};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::{Archive, ArchiveError};
use inspect::Content;
use walk::{Key, Stray};

/// Why a verification could not be completed.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{path}: {action}: {detail}\nhint: check the disk and the folder's permissions, then verify again", path = path.display())]
    Io { path: PathBuf, action: &'static str, detail: std::io::Error },
}

impl VerifyError {
    fn io(path: &Path, action: &'static str, detail: std::io::Error) -> Self {
        Self::Io { path: path.to_owned(), action, detail }
    }
}

/// What a verification found, and what it repaired.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Rows of the database.
    pub torrents: u64,
    /// Files of the archive, whatever they are, without `damaged/` and the temporary ones.
    pub files: u64,
    /// Rows with an intact file: sha256 and infohash recomputed.
    pub whole: u64,
    /// Rows without a file.
    pub missing: Findings,
    /// Files that do not match their name, or differ from what was stored.
    pub damaged: Findings,
    /// Whole files without a row.
    pub orphans: Findings,
    /// Torrents under a wrong name or in a wrong folder.
    pub misplaced: Findings,
    /// Files that are no torrents and not named as one; they are left alone.
    pub foreign: Findings,
    /// Files being written, or left by a process that died; the next start removes those.
    pub temporary: u64,
    /// The repairs; None unless requested.
    pub repaired: Option<Repaired>,
}

impl Verdict {
    /// True if nothing is lost or misplaced, or everything was repaired. A file without a row is left by an interrupted
    /// crawl (a full disk, a kill), and the next run adopts it; foreign and temporary files do not belong to the
    /// archive.
    #[must_use]
    pub fn is_sound(&self) -> bool {
        self.repaired.is_some() || self.faults() == self.orphans.count
    }

    /// Disagreements found.
    #[must_use]
    pub fn faults(&self) -> u64 {
        self.missing.count + self.damaged.count + self.orphans.count + self.misplaced.count
    }
}

/// Findings of one kind.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Findings {
    /// All of them.
    pub count: u64,
    /// The first `limits::FINDINGS_LISTED_MAX` of them.
    pub listed: Vec<Finding>,
}

impl Findings {
    fn push(&mut self, path: &Path, infohash: Option<&Infohashes>, detail: impl Into<String>) {
        self.count += 1;
        if self.listed.len() < limits::FINDINGS_LISTED_MAX {
            let infohash = infohash.map(Infohashes::key_hex);
            self.listed.push(Finding { path: path.to_owned(), infohash, detail: detail.into() });
        }
    }
}

/// A file, or the path where one should be, and what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The file, or where it should be.
    pub path: PathBuf,
    /// The key in hex, if known.
    pub infohash: Option<String>,
    /// What is wrong; may quote a hostile name.
    pub detail: String,
}

/// What a repair did.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Repaired {
    /// Files that were added to the database.
    pub adopted: u64,
    /// Rows that were forgotten because their file is lost.
    pub forgotten: u64,
    /// Those of them that have no source to fetch them from again.
    pub without_source: u64,
    /// URLs that are due again.
    pub sources_due: u64,
    /// Files that were moved to their place.
    pub moved: u64,
    /// Files that were moved to `damaged/`.
    pub set_aside: u64,
}

/// Compares the archive with the database without changing anything; also while the service runs.
///
/// Files are read on separate threads. Memory does not grow with the archive; a file may have
/// `limits::TORRENT_BYTES_MAX`.
///
/// # Errors
/// [`VerifyError`].
pub async fn verify(db: &dyn Reader, archive: &Archive) -> Result<Verdict, VerifyError> {
    // A separate handle for the reading threads; opening it removes what a dead process left unfinished.
    let archive = Arc::new(Archive::open(archive.dir(), true)?);
    Run { db, repair: None, archive, verdict: Verdict::default() }.run().await
}

/// Compares the archive with the database and repairs differences; URLs of lost torrents become due at `now`.
///
/// # Errors
/// [`VerifyError`]. Repairs made before it stay; the next run continues.
pub async fn repair(db: &dyn CrawlDb, archive: &Archive, now: UnixMillis) -> Result<Verdict, VerifyError> {
    let archive = Arc::new(Archive::open(archive.dir(), true)?);
    let verdict = Verdict { repaired: Some(Repaired::default()), ..Verdict::default() };
    Run { db, repair: Some((db, now)), archive, verdict }.run().await
}

struct Run<'a> {
    db: &'a dyn Reader,
    /// The database for repairs, and the current time.
    repair: Option<(&'a dyn CrawlDb, UnixMillis)>,
    archive: Arc<Archive>,
    verdict: Verdict,
}

/// Rows in key order, a page at a time.
struct Rows<'a> {
    db: &'a dyn Reader,
    page: std::vec::IntoIter<TorrentRow>,
    after: Option<Vec<u8>>,
    ended: bool,
}

impl Rows<'_> {
    async fn peek(&mut self) -> Result<Option<&TorrentRow>, CrawlDbError> {
        if self.page.as_slice().is_empty() && !self.ended {
            let rows = self.db.torrents(self.after.take(), limits::EXPORT_ROWS_MAX).await?;
            self.after = rows.last().map(|row| row.facts.infohashes.key().to_vec());
            self.ended = rows.is_empty();
            self.page = rows.into_iter();
        }
        Ok(self.page.as_slice().first())
    }
}

impl Run<'_> {
    async fn run(mut self) -> Result<Verdict, VerifyError> {
        // First, so that a row whose file is only misplaced is intact when its turn comes.
        self.strays().await?;
        self.rows_and_files().await?;
        Ok(self.verdict)
    }

    async fn rows_and_files(&mut self) -> Result<(), VerifyError> {
        let mut rows = Rows { db: self.db, page: Vec::new().into_iter(), after: None, ended: false };
        for shard in 0..=u8::MAX {
            let archive = Arc::clone(&self.archive);
            let mut keys = blocking(move || walk::keys(archive.dir(), shard)).await?.into_iter().peekable();
            loop {
                let row = rows.peek().await?.filter(|row| row.facts.infohashes.key().first() == Some(&shard));
                match pair(row, &mut keys) {
                    Some(Pair::File(key)) => self.file_without_row(&key).await?,
                    Some(Pair::Both | Pair::Row) => {
                        // Peeked above.
                        let Some(row) = rows.page.next() else { break };
                        self.row(&row).await?;
                    }
                    None => break,
                }
            }
        }
        Ok(())
    }

    /// A row, with or without its file.
    async fn row(&mut self, row: &TorrentRow) -> Result<(), VerifyError> {
        self.verdict.torrents += 1;
        let infohashes = row.facts.infohashes;
        let path = self.archive.path_of(&infohashes);
        match self.inspect(&path).await? {
            None => {
                self.verdict.missing.push(&path, Some(&infohashes), format!("lost: {}", row.facts.name));
                self.forget(row).await
            }
            Some(content) => {
                self.verdict.files += 1;
                match content {
                    Content::Torrent(facts) if facts.infohashes == infohashes && facts.sha256 == row.facts.sha256 => {
                        self.verdict.whole += 1;
                        Ok(())
                    }
                    Content::Torrent(facts) if facts.infohashes == infohashes => {
                        let detail = "the same torrent with other bytes than were stored (sha256 differs)";
                        self.verdict.damaged.push(&path, Some(&infohashes), detail);
                        self.take_as_it_is(row, facts).await
                    }
                    Content::Torrent(facts) => {
                        let detail = format!("holds another torrent, {}", facts.infohashes);
                        self.verdict.damaged.push(&path, Some(&infohashes), detail);
                        self.replace_lost(row, &path).await
                    }
                    Content::Other(fault) => {
                        self.verdict.damaged.push(&path, Some(&infohashes), fault);
                        self.replace_lost(row, &path).await
                    }
                }
            }
        }
    }

    /// A well-named file whose key no row has.
    async fn file_without_row(&mut self, key: &Key) -> Result<(), VerifyError> {
        self.verdict.files += 1;
        let path = key.path(self.archive.dir());
        match self.inspect(&path).await? {
            // Removed since the folder was read.
            None => self.verdict.files -= 1,
            Some(Content::Other(fault)) => {
                self.verdict.damaged.push(&path, None, format!("{fault}; no row names it"));
                self.set_aside(&path).await?;
            }
            Some(Content::Torrent(facts)) if facts.infohashes.key() == key.bytes() => {
                // A row with it may have been committed since.
                if self.row_of(&facts.infohashes).await?.is_none() {
                    self.verdict.orphans.push(&path, Some(&facts.infohashes), format!("no row: {}", facts.name));
                    self.adopt(facts).await?;
                }
            }
            Some(Content::Torrent(facts)) => self.misplaced(&path, facts).await?,
        }
        Ok(())
    }

    /// Files at paths that the archive does not use.
    async fn strays(&mut self) -> Result<(), VerifyError> {
        let archive = Arc::clone(&self.archive);
        let mut walk = walk::Strays::new(archive.dir());
        loop {
            let page;
            (walk, page) = blocking(move || walk.next_page()).await?;
            if page.is_empty() {
                return Ok(());
            }
            for stray in page {
                match stray {
                    Stray::Temporary => self.verdict.temporary += 1,
                    Stray::NoFile(path) => {
                        self.verdict.foreign.push(&path, None, "neither a file nor a folder of the archive");
                    }
                    Stray::File(path) => match self.inspect(&path).await? {
                        None => {}
                        Some(Content::Torrent(facts)) => {
                            self.verdict.files += 1;
                            self.misplaced(&path, facts).await?;
                        }
                        Some(Content::Other(fault)) => {
                            self.verdict.files += 1;
                            self.verdict.foreign.push(&path, None, fault);
                        }
                    },
                }
            }
        }
    }

    /// A torrent that is not where it belongs.
    async fn misplaced(&mut self, path: &Path, facts: TorrentFacts) -> Result<(), VerifyError> {
        let row = self.row_of(&facts.infohashes).await?;
        let home = self.archive.path_of(row.as_ref().unwrap_or(&facts.infohashes));
        self.verdict.misplaced.push(path, Some(&facts.infohashes), format!("belongs at {}", home.display()));
        if self.verdict.repaired.is_none() {
            return Ok(());
        }
        if matches!(self.inspect(&home).await?, Some(Content::Torrent(there)) if there.infohashes == facts.infohashes) {
            // A second copy.
            return self.set_aside(path).await;
        }
        if row.is_some_and(|row| row != facts.infohashes) {
            // One half of a hybrid that is known whole, or the reverse: no file for that row.
            return self.set_aside(path).await;
        }
        let (archive, from) = (Arc::clone(&self.archive), path.to_owned());
        let infohashes = facts.infohashes;
        blocking(move || inspect::move_home(&archive, &from, infohashes)).await?;
        if let Some(done) = &mut self.verdict.repaired {
            done.moved += 1;
        }
        if row.is_none() { self.adopt(facts).await } else { Ok(()) }
    }

    /// The infohashes of the row whose key is that of `infohashes`.
    async fn row_of(&self, infohashes: &Infohashes) -> Result<Option<Infohashes>, VerifyError> {
        let rows = self.db.torrents(Some(just_before(infohashes.key())), 1).await?;
        let found = rows.first().map(|row| row.facts.infohashes);
        Ok(found.filter(|found| found.key() == infohashes.key()))
    }

    async fn inspect(&self, path: &Path) -> Result<Option<Content>, VerifyError> {
        let path = path.to_owned();
        blocking(move || inspect::content(&path)).await
    }

    async fn adopt(&mut self, facts: TorrentFacts) -> Result<(), VerifyError> {
        if let (Some((db, now)), Some(done)) = (self.repair, &mut self.verdict.repaired) {
            db.adopt_torrent(facts, now).await?;
            done.adopted += 1;
        }
        Ok(())
    }

    async fn forget(&mut self, row: &TorrentRow) -> Result<(), VerifyError> {
        if let (Some((db, now)), Some(done)) = (self.repair, &mut self.verdict.repaired) {
            db.forget_torrent(row.facts.infohashes, now).await?;
            done.forgotten += 1;
            done.without_source += u64::from(row.sources.is_empty());
            done.sources_due += row.sources.len() as u64;
        }
        Ok(())
    }

    /// The file first: the next run repairs a row without its file, but not a file that blocks the path of a new one.
    async fn replace_lost(&mut self, row: &TorrentRow, path: &Path) -> Result<(), VerifyError> {
        self.set_aside(path).await?;
        self.forget(row).await
    }

    async fn take_as_it_is(&mut self, row: &TorrentRow, facts: TorrentFacts) -> Result<(), VerifyError> {
        if let (Some((db, now)), Some(done)) = (self.repair, &mut self.verdict.repaired) {
            db.forget_torrent(row.facts.infohashes, now).await?;
            db.adopt_torrent(facts, now).await?;
            done.adopted += 1;
            done.sources_due += row.sources.len() as u64;
        }
        Ok(())
    }

    async fn set_aside(&mut self, path: &Path) -> Result<(), VerifyError> {
        if let Some(done) = &mut self.verdict.repaired {
            let (archive, path) = (Arc::clone(&self.archive), path.to_owned());
            blocking(move || inspect::set_aside(archive.dir(), &path)).await?;
            done.set_aside += 1;
        }
        Ok(())
    }
}

/// The largest possible key before `key`: keys have 20 or 32 bytes.
fn just_before(key: &[u8]) -> Vec<u8> {
    let mut before = key.to_vec();
    let zeros = before.iter().rev().take_while(|byte| **byte == 0).count();
    before.truncate(before.len() - zeros);
    if let Some(last) = before.last_mut() {
        *last -= 1;
        // After every key with this beginning.
        before.resize(64, 0xff);
    }
    before
}

/// The next of rows and files, by key.
enum Pair {
    Row,
    Both,
    File(Key),
}

fn pair(row: Option<&TorrentRow>, keys: &mut Peekable<std::vec::IntoIter<Key>>) -> Option<Pair> {
    let row_key = row.map(|row| row.facts.infohashes.key());
    match (row_key, keys.peek()) {
        (None, None) => None,
        (Some(_), None) => Some(Pair::Row),
        (None, Some(_)) => keys.next().map(Pair::File),
        (Some(row), Some(key)) => match row.cmp(key.bytes()) {
            std::cmp::Ordering::Less => Some(Pair::Row),
            std::cmp::Ordering::Equal => {
                keys.next();
                Some(Pair::Both)
            }
            std::cmp::Ordering::Greater => keys.next().map(Pair::File),
        },
    }
}

async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, VerifyError> + Send + 'static,
) -> Result<T, VerifyError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => std::panic::resume_unwind(error.into_panic()),
    }
}
