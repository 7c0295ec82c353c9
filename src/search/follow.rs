//! Keeps the index up with the database: every change in its order, and all torrents where there is no index, or one that has missed
//! changes. The watermark is part of the index's own commit, so that whatever ends the process, the index says what it has.

use data_encoding::HEXLOWER;
use std::fs::{self, DirBuilder, Permissions};
use std::io::{self, ErrorKind, Read as _};
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use gleaner_store::crawldb::{CrawlDbError, MagnetRow, Reader, TorrentRow};
use gleaner_torrent::Infohashes;
use gleaner_torrent::archive::Archive;
use gleaner_torrent::contents::{self, Contents};
use tantivy::directory::MmapDirectory;
use tantivy::directory::error::LockError;
use tantivy::error::DataCorruption;
use tantivy::tokenizer::TextAnalyzer;
use tantivy::{Index, IndexSettings, IndexWriter, TantivyError, Term};

use crate::document::{Fields, VERSION, schema};
use crate::filing::Filing;
use crate::find::{Search, SearchError, Watermark, index_path, open};
use crate::limits::{COMMIT_ROWS_MAX, ROWS_AT_ONCE_MAX, TORRENT_BYTES_MAX, WRITER_BYTES_MAX};
use crate::words::{WORDS, Words};

/// Why the index cannot be kept up.
#[derive(Debug, thiserror::Error)]
pub enum FollowError {
    /// Another process writes it.
    #[error("{}: another process writes this index", folder.display())]
    Held { folder: PathBuf },
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error("{}: {error}", folder.display())]
    Io { folder: PathBuf, error: io::Error },
}

/// Before the archive key of a magnet, where the index is made or torrents are filed again: magnets come behind the torrents.
const MAGNETS: &str = "magnets ";

/// What a step has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Step {
    /// Torrents that were put into the index or removed.
    pub torrents: usize,
    /// The index has everything that the database had when the step began.
    pub is_level: bool,
    /// While the index is made: torrents that it has, of so many.
    pub made: Option<(u64, u64)>,
}

/// What the file of a torrent holds: [`contents_of`] reads it in the archive.
pub type ContentsOf<'c> = dyn Fn(&TorrentRow) -> io::Result<Option<Contents>> + 'c;

/// What an index says of torrents beside their rows.
#[derive(Clone, Copy)]
struct Filed<'f> {
    contents: &'f ContentsOf<'f>,
    filing: &'f Filing,
}

/// The one that writes the index of a data folder.
pub struct Follower {
    writer: IndexWriter,
    fields: Fields,
    search: Arc<Search>,
    watermark: Watermark,
    /// Torrents written since the last commit.
    pending: usize,
}

impl Follower {
    /// Opens the index of a data folder, or begins one: what cannot be read is put aside as `search.damaged`.
    ///
    /// # Errors
    /// If another process writes it, or nothing can be written there.
    pub fn open(data_dir: &Path) -> Result<Self, FollowError> {
        let folder = index_path(data_dir);
        let opened = match open(&folder) {
            Ok((index, fields, watermark)) => {
                whole(&folder, &index).and_then(|()| Self::of(folder.clone(), &index, fields, watermark))
            }
            Err(error) => Err(error.into()),
        };
        match opened {
            // A file that is missing is met when its segment is opened.
            Err(FollowError::Search(error)) if error.is_damage() => {
                put_aside(&folder, &error)?;
                let made = DirBuilder::new().recursive(true).mode(0o750).create(&folder);
                made.map_err(|error| FollowError::Io { folder: folder.clone(), error })?;
                let fault = |error| SearchError::Index(folder.clone(), error);
                let directory = MmapDirectory::open(&folder).map_err(|error| fault(error.into()))?;
                let (schema, fields) = schema();
                let index = Index::create(directory, schema, IndexSettings::default()).map_err(fault)?;
                index.tokenizers().register(WORDS, TextAnalyzer::from(Words));
                Self::of(folder, &index, fields, Watermark::default())
            }
            opened => opened,
        }
    }

    fn of(folder: PathBuf, index: &Index, fields: Fields, watermark: Watermark) -> Result<Self, FollowError> {
        let writer = index.writer_with_num_threads(1, WRITER_BYTES_MAX).map_err(|error| match error {
            TantivyError::LockFailure(LockError::LockBusy, _) => FollowError::Held { folder: folder.clone() },
            error => SearchError::Index(folder.clone(), error).into(),
        })?;
        // Where all of it was its owner's alone, as in an earlier installation.
        admit_group(&folder);
        let files = fs::read_dir(&folder).into_iter().flatten().flatten();
        files.for_each(|file| admit_group(&file.path()));
        let search = Arc::new(Search::of(folder, index, fields.clone())?);
        Ok(Self { writer, fields, search, watermark, pending: 0 })
    }

    /// The index for reading: it has what is committed.
    #[must_use]
    pub fn search(&self) -> Arc<Search> {
        Arc::clone(&self.search)
    }

    /// True once the index has had all torrents.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.watermark.version == VERSION && self.watermark.reading_after.is_none()
    }

    fn fault(&self, error: TantivyError) -> FollowError {
        self.search.fault(error).into()
    }

    /// Takes in what has changed, up to `limits::ROWS_AT_ONCE_MAX` torrents; commits once level, or if much has come together.
    ///
    /// # Errors
    /// Those of the index and of the database: what was not committed is taken in again.
    pub async fn step(
        &mut self,
        db: &dyn Reader,
        contents: &ContentsOf<'_>,
        filing: &Filing,
    ) -> Result<Step, FollowError> {
        if self.watermark.version != VERSION {
            self.begin(db, filing).await?;
        }
        let filed = Filed { contents, filing };
        let step = match self.watermark.reading_after.clone() {
            Some(after) => self.read_all(db, filed, &after).await?,
            None => match self.follow(db, filed).await? {
                step if step.is_level => self.refile(db, filed, step).await?,
                step => step,
            },
        };
        if self.pending > 0 && (step.is_level || self.pending >= COMMIT_ROWS_MAX) {
            self.commit()?;
        }
        Ok(step)
    }

    /// Begins to make the index from all torrents.
    async fn begin(&mut self, db: &dyn Reader, filing: &Filing) -> Result<(), FollowError> {
        self.writer.delete_all_documents().map_err(|error| self.fault(error))?;
        let change = db.changes(u64::MAX, 0).await?.last;
        let last = db.changes(change.saturating_sub(1), 1).await?;
        let key = last.keys.first().map(|(_, key)| HEXLOWER.encode(key)).unwrap_or_default();
        self.watermark = Watermark {
            version: VERSION,
            database: last.database,
            change,
            key,
            reading_after: Some(String::new()),
            filing: filing.digest(),
            relabelled: filing.labels.relabelled,
            refiling_after: None,
        };
        self.commit()
    }

    /// Takes in the next torrents in the order of their keys, and behind the last one the magnets: how many, and where to go on, if there was any.
    async fn put_next(
        &mut self,
        db: &dyn Reader,
        filed: Filed<'_>,
        after: &str,
    ) -> Result<(usize, Option<String>), FollowError> {
        let key = |hex: &str| HEXLOWER.decode(hex.as_bytes()).ok().filter(|key| !key.is_empty());
        if let Some(after) = after.strip_prefix(MAGNETS) {
            let rows = db.magnets(key(after), ROWS_AT_ONCE_MAX).await?;
            for row in &rows {
                self.put_magnet(row, filed)?;
            }
            let last = rows.last().map(|row| format!("{MAGNETS}{}", row.facts.infohashes.key_hex()));
            return Ok((rows.len(), last));
        }
        let rows = db.torrents(key(after), ROWS_AT_ONCE_MAX).await?;
        for row in &rows {
            self.put(row, filed)?;
        }
        let last = rows.last().map_or_else(|| MAGNETS.to_owned(), |row| row.facts.infohashes.key_hex());
        Ok((rows.len(), Some(last)))
    }

    /// Files all torrents again, some at each step, once the sites mean something else by their labels. What is found meanwhile is found.
    async fn refile(&mut self, db: &dyn Reader, filed: Filed<'_>, step: Step) -> Result<Step, FollowError> {
        let (digest, relabelled) = (filed.filing.digest(), filed.filing.labels.relabelled);
        let is_relabelled = filed.filing.with_relabelled && self.watermark.relabelled != relabelled;
        if self.watermark.filing != digest || is_relabelled {
            tracing::info!("what sites say of their torrents has changed: the search index files them again");
            (self.watermark.filing, self.watermark.relabelled) = (digest, relabelled);
            self.watermark.refiling_after = Some(String::new());
        }
        let Some(after) = self.watermark.refiling_after.clone() else { return Ok(step) };
        let (count, last) = self.put_next(db, filed, &after).await?;
        let is_over = last.is_none();
        self.watermark.refiling_after = last;
        if is_over {
            self.commit()?;
        }
        Ok(Step { torrents: step.torrents + count, is_level: is_over, made: None })
    }

    async fn read_all(&mut self, db: &dyn Reader, filed: Filed<'_>, after: &str) -> Result<Step, FollowError> {
        let (count, Some(last)) = self.put_next(db, filed, after).await? else {
            self.watermark.reading_after = None;
            self.commit()?;
            return Ok(Step::default());
        };
        self.watermark.reading_after = Some(last);
        let all = db.changes(u64::MAX, 0).await?.torrents;
        let made = self.search.torrents() + self.pending as u64;
        Ok(Step { torrents: count, is_level: false, made: Some((made, all)) })
    }

    async fn follow(&mut self, db: &dyn Reader, filed: Filed<'_>) -> Result<Step, FollowError> {
        // The change that was taken in last comes first: in another database it is another one.
        let mut changes = db.changes(self.watermark.change.saturating_sub(1), ROWS_AT_ONCE_MAX).await?;
        let is_first = changes.keys.first().is_some_and(|(number, _)| *number == self.watermark.change);
        let known = is_first.then(|| changes.keys.remove(0));
        let is_other = changes.database != self.watermark.database
            || known.is_some_and(|(_, key)| HEXLOWER.encode(&key) != self.watermark.key);
        let has_missed = changes.first > self.watermark.change + 1;
        // Of another database, such as a restored copy.
        let is_ahead = changes.last < self.watermark.change;
        let is_short = changes.keys.is_empty() && self.pending == 0 && self.search.torrents() != changes.torrents;
        if is_other || has_missed || is_ahead || is_short {
            tracing::info!(
                is_other,
                has_missed,
                is_ahead,
                is_short,
                "the search index does not fit the database: it is made again"
            );
            self.watermark = Watermark::default();
            return Ok(Step::default());
        }
        let mut keys: Vec<Vec<u8>> = changes.keys.iter().map(|(_, key)| key.clone()).collect();
        keys.sort_unstable();
        keys.dedup();
        let rows = db.torrents_at(keys.clone()).await?;
        let mut others = Vec::new();
        for (key, row) in keys.into_iter().zip(&rows) {
            match row {
                Some(row) => self.put(row, filed)?,
                None => {
                    self.remove(&key);
                    others.push(key);
                }
            }
        }
        // No torrents, or none any more: they may be known by a magnet link.
        if !others.is_empty() {
            for row in db.magnets_at(others).await?.iter().flatten() {
                self.put_magnet(row, filed)?;
            }
        }
        let is_level = changes.keys.last().is_none_or(|(last, key)| {
            (self.watermark.change, self.watermark.key) = (*last, HEXLOWER.encode(key));
            *last == changes.last
        });
        Ok(Step { torrents: rows.len(), is_level, made: None })
    }

    fn remove(&mut self, key: &[u8]) {
        self.writer.delete_term(Term::from_field_bytes(self.fields.hash, key));
        self.pending += 1;
    }

    fn put(&mut self, row: &TorrentRow, filed: Filed<'_>) -> Result<(), FollowError> {
        // Its magnet goes, too, which may be known by the other hash.
        self.remove_all(&row.facts.infohashes);
        let folder = || self.search.folder().to_path_buf();
        let read = (filed.contents)(row).map_err(|error| FollowError::Io { folder: folder(), error })?;
        let document = self.fields.document(row, read.as_ref(), filed.filing);
        self.writer.add_document(document).map(|_| ()).map_err(|error| self.fault(error))
    }

    /// Takes in what is known by a magnet link alone.
    fn put_magnet(&mut self, row: &MagnetRow, filed: Filed<'_>) -> Result<(), FollowError> {
        if row.stored {
            return Ok(());
        }
        self.remove_all(&row.facts.infohashes);
        let document = self.fields.of_magnet(row, filed.filing);
        self.writer.add_document(document).map(|_| ()).map_err(|error| self.fault(error))
    }

    fn remove_all(&mut self, infohashes: &Infohashes) {
        let (v1, v2) = (infohashes.v1.as_ref().map(|v1| &v1[..]), infohashes.v2.as_ref().map(|v2| &v2[..]));
        [v1, v2].into_iter().flatten().for_each(|hash| self.remove(hash));
    }

    fn commit(&mut self) -> Result<(), FollowError> {
        let payload = serde_json::to_string(&self.watermark).unwrap_or_default();
        let committed = self.writer.prepare_commit().and_then(|mut prepared| {
            prepared.set_payload(&payload);
            prepared.commit()
        });
        committed.map_err(|error| self.fault(error))?;
        for name in ["meta.json", ".managed.json"] {
            admit_group(&self.search.folder().join(name));
        }
        self.pending = 0;
        Ok(self.search.reload()?)
    }
}

/// What the archived file holds; None if it is lost or damaged: then the row alone is searched.
///
/// # Errors
/// Those of reading a file that is there.
pub fn contents_of(row: &TorrentRow, archive: &Archive) -> io::Result<Option<Contents>> {
    Ok(file_of(row, archive)?.and_then(|bytes| contents::read(&bytes)))
}

/// The archived file; None if it is lost. At most `limits::TORRENT_BYTES_MAX` bytes of it.
///
/// # Errors
/// Those of reading a file that is there.
pub fn file_of(row: &TorrentRow, archive: &Archive) -> io::Result<Option<Vec<u8>>> {
    let file = match archive.open_torrent(&row.facts.infohashes) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let mut bytes = Vec::with_capacity(row.facts.metainfo_bytes as usize);
    file.take(TORRENT_BYTES_MAX as u64).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

/// Like the database: whoever is of the folder's group reads what was its owner's alone.
fn admit_group(path: &Path) {
    let mode = fs::symlink_metadata(path).map_or(0, |of| of.permissions().mode() & 0o777);
    let wanted = match mode {
        0o600 => 0o640,
        0o700 => 0o750,
        _ => return,
    };
    // Who reads nothing of it is told so when they try.
    let _ = fs::set_permissions(path, Permissions::from_mode(wanted));
}

/// Fails if a file of the index is lost, cut off or changed: half of that would be met at a query alone, or never. It reads all of them: a quarter
/// of a second for a million torrents.
fn whole(folder: &Path, index: &Index) -> Result<(), FollowError> {
    let fault = |error| FollowError::Search(SearchError::Index(folder.to_path_buf(), error));
    let damaged = index.validate_checksum().map_err(fault)?;
    match damaged.into_iter().min() {
        Some(path) => {
            Err(fault(TantivyError::DataCorruption(DataCorruption::new(path, "its checksum differs".to_owned()))))
        }
        None => Ok(()),
    }
}

/// Moves an index that cannot be read out of the way. One of another version is no loss, and removed.
fn put_aside(folder: &Path, why: &SearchError) -> Result<(), FollowError> {
    let aside = folder.with_extension("damaged");
    let fault = |error| FollowError::Io { folder: folder.to_path_buf(), error };
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(fault(error)),
        _ => Ok(()),
    };
    if let SearchError::Missing = why {
        return gone(fs::remove_dir_all(folder));
    }
    tracing::warn!(index = %folder.display(), error = %why, aside = %aside.display(), "the search index is damaged: it is put aside, and made again");
    gone(fs::remove_dir_all(&aside))?;
    gone(fs::rename(folder, &aside))
}

#[cfg(test)]
mod tests;
