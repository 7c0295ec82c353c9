//! Handover: torrents that fit a search go to the watch folder of a BitTorrent client, each once, in the order of their storing.
//!
//! ```text
//! changes of the database ──► fit the search? ──► handed over before? ──► NAME.torrent.part, sync, rename, sync ──► note
//! ```
//!
//! A torrent is noted after its file has its name: a process that dies between the two hands it over once more, under the same name. What the
//! client does with a file afterwards (rename, delete, keep) is never looked at.
//!
//! `watch_folder` writes files, `memory` notes what was handed over, `waiting` finds what comes next. It reads the database, the index and the archive, and
//! writes none of them.

pub mod limits;

pub mod memory;
mod waiting;
pub mod watch_folder;

use std::collections::{BTreeSet, VecDeque};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use gleaner_base::clock::UnixMillis;
use gleaner_rules::config::handover::{Handover as Wanted, Since};
use gleaner_search::{Query, Search, SearchError};
use gleaner_store::crawldb::{CrawlDbError, Reader, Stored, TorrentRow};
use gleaner_store::export::file_name;
use gleaner_torrent::archive::Archive;

use crate::limits::{
    ASIDE_FOR, ASIDE_MAX, CHANGES_AT_ONCE_MAX, HANDED_AT_ONCE_MAX, LEFT_OUT_LISTED_MAX, OF_FUTURE_MAX,
    TORRENT_BYTES_MAX,
};
use crate::memory::Memory;
use crate::watch_folder::WatchFolder;

/// Why nothing can be handed over. The next try goes on where this one stopped.
#[derive(Debug, thiserror::Error)]
pub enum HandoverError {
    #[error(transparent)]
    Database(#[from] CrawlDbError),
    #[error(transparent)]
    Search(#[from] SearchError),
    #[error("{}: there is no such folder\nhint: create it, or set another `folder` of [[handover]] in gleaner.toml", folder.display())]
    NoFolder { folder: PathBuf },
    #[error("{}: {what}\nhint: set the watch folder of a client as `folder` of [[handover]] in gleaner.toml", folder.display())]
    NotAFolder { folder: PathBuf, what: String },
    #[error(
        "{}: cannot be written ({error})\nhint: let the user that runs gleaner write there; the systemd unit also needs \
         `ReadWritePaths={}` (systemctl edit gleaner)",
        folder.display(), folder.display()
    )]
    ReadOnly { folder: PathBuf, error: io::Error },
    #[error("{}: {what}\nhint: {hint}; it goes on from here", folder.display())]
    Full { folder: PathBuf, what: &'static str, hint: &'static str },
    #[error("{}: {action}: {error}", path.display())]
    Io { path: PathBuf, action: &'static str, error: io::Error },
    #[error(
        "{}: what was handed over is not known: the file is damaged\nhint: restore a copy of it, or remove it to begin anew",
        path.display()
    )]
    Damaged { path: PathBuf },
    #[error("{}: another process hands over right now\nhint: try again in a while", path.display())]
    Busy { path: PathBuf },
}

impl HandoverError {
    /// True if a file cannot be written in a folder that takes others, as far as that can be told.
    fn is_of_a_file(&self, folder: &WatchFolder) -> bool {
        matches!(self, Self::Io { .. } | Self::ReadOnly { .. }) && folder.refusal().is_none()
    }
}

/// What is read.
#[derive(Clone, Copy)]
pub struct Sources<'s> {
    pub db: &'s dyn Reader,
    pub search: &'s Search,
    pub archive: &'s Archive,
}

/// What a round has done.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Round {
    /// Names of the files that were handed over.
    pub handed: Vec<String>,
    /// Torrents whose file in the archive is lost or damaged.
    pub left_out: Vec<LeftOut>,
    /// Files that cannot be written in a folder that takes others, each told once: tried again after `limits::ASIDE_FOR`.
    pub aside: Vec<String>,
    /// Nothing waits any more, of what the index had when the round began.
    pub is_level: bool,
}

/// A torrent that cannot be handed over: its archived file is lost or damaged. It is, once it is stored again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    pub infohash: String,
    pub name: String,
    pub reason: &'static str,
}

/// What waits to be handed over.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// All of it.
    pub count: u64,
    /// The first ones, in their order, at most as many as were asked for.
    pub first: Vec<TorrentRow>,
}

/// One `[[handover]]` at work.
pub struct Handover {
    wanted: Wanted,
    query: Query,
    memory: Memory,
    /// Archive keys that come next, in their order.
    backlog: VecDeque<Vec<u8>>,
    /// The last change of the database that is in the backlog, or behind it; None before the whole archive was gone through.
    followed: Option<Followed>,
    /// What torrents were filed by in the index when the archive was gone through.
    filed_by: Option<(u64, u64)>,
    aside: Aside,
}

/// Torrents whose files cannot be written while others can.
#[derive(Default)]
struct Aside {
    /// By archive key.
    keys: BTreeSet<Vec<u8>>,
    told: BTreeSet<Vec<u8>>,
    /// When they are tried again.
    next: UnixMillis,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Followed {
    database: u64,
    change: u64,
}

impl Handover {
    /// Begins with what is remembered of earlier runs.
    ///
    /// # Errors
    /// If that cannot be read.
    pub fn open(data_dir: &Path, wanted: Wanted) -> Result<Self, HandoverError> {
        let memory = Memory::open(data_dir, &wanted.name)?;
        let query = Query::parse(&wanted.search);
        let (backlog, aside) = (VecDeque::new(), Aside::default());
        Ok(Self { wanted, query, memory, backlog, followed: None, filed_by: None, aside })
    }

    /// As configured.
    #[must_use]
    pub fn wanted(&self) -> &Wanted {
        &self.wanted
    }

    /// What looks like a filter of the search and is none.
    #[must_use]
    pub fn doubts(&self) -> &[String] {
        &self.query.doubts
    }

    /// Torrents that were handed over, ever.
    #[must_use]
    pub fn handed(&self) -> usize {
        self.memory.len()
    }

    /// What waits, without changing anything.
    ///
    /// # Errors
    /// Those of the sources.
    pub async fn waiting(
        &self,
        sources: Sources<'_>,
        now: UnixMillis,
        first_max: usize,
    ) -> Result<Waiting, HandoverError> {
        let begun = match (self.wanted.since, self.memory.begun()) {
            (Since::All, _) => None,
            (Since::New, Some(begun)) => Some(begun.clone()),
            (Since::New, None) => Some(beginning(sources.db, now).await?),
        };
        let mut found =
            waiting::in_archive(sources, &self.query, &self.memory, begun.as_ref(), first_max.max(1)).await?;
        found.oldest.truncate(first_max);
        let rows = sources.db.torrents_at(found.oldest.into_iter().map(|place| place.key).collect()).await?;
        Ok(Waiting { count: found.count, first: rows.into_iter().flatten().collect() })
    }

    /// Hands over what comes next, at most `limits::HANDED_AT_ONCE_MAX` torrents. Call it until it is level.
    ///
    /// # Errors
    /// Those of the sources and of the watch folder: what was not handed over comes next again.
    pub async fn round(&mut self, sources: Sources<'_>, now: UnixMillis) -> Result<Round, HandoverError> {
        if self.memory.begun().is_none_or(|begun| begun.at > now) {
            let begun = beginning(sources.db, now).await?;
            if self.memory.begun().is_none_or(|known| begun < *known) {
                self.memory.turn()?.begin(begun)?;
            }
        }
        let mut round = Round::default();
        if !self.aside.keys.is_empty() && self.aside.next <= now {
            self.backlog.extend(std::mem::take(&mut self.aside.keys));
        }
        if self.backlog.is_empty() {
            round.is_level = self.fill(sources).await?;
        }
        let next: Vec<Vec<u8>> = self.backlog.iter().take(HANDED_AT_ONCE_MAX).cloned().collect();
        if next.is_empty() {
            return Ok(round);
        }
        round.is_level &= next.len() == self.backlog.len();
        let folder = WatchFolder::open(&self.wanted.folder)?;
        let rows = sources.db.torrents_at(next).await?;
        // Nothing waits for anything until the end of the turn.
        let mut turn = self.memory.turn()?;
        if !turn.has_begun() {
            // The file was removed meanwhile: begin anew.
            (self.backlog, self.followed) = (VecDeque::new(), None);
            return Ok(Round::default());
        }
        for row in rows {
            // Another process may have handed it over meanwhile, or it was forgotten.
            if let Some(row) = row.filter(|row| !turn.has(row.facts.infohashes.key())) {
                match read(sources.archive, &row)? {
                    Ok(bytes) => {
                        let name = file_name::alone(&row.facts.name, &row.facts.infohashes);
                        let key = row.facts.infohashes.key();
                        match folder.put(&name, &bytes) {
                            Ok(()) => {
                                turn.note(key)?;
                                self.aside.told.remove(key);
                                round.handed.push(name);
                            }
                            // Where nothing can be written, or as good as nothing, everything waits.
                            Err(error) if !error.is_of_a_file(&folder) || self.aside.keys.len() >= ASIDE_MAX => {
                                return Err(error);
                            }
                            Err(error) => {
                                self.aside.next = now.plus(ASIDE_FOR);
                                self.aside.keys.insert(key.to_vec());
                                if self.aside.told.insert(key.to_vec()) {
                                    round.aside.push(error.to_string());
                                }
                            }
                        }
                    }
                    Err(reason) if round.left_out.len() < LEFT_OUT_LISTED_MAX => round.left_out.push(LeftOut {
                        infohash: row.facts.infohashes.key_hex(),
                        name: row.facts.name.into(),
                        reason,
                    }),
                    Err(_) => {}
                }
            }
            self.backlog.pop_front();
        }
        turn.settle()?;
        Ok(round)
    }

    /// Finds what comes next. True if that is all of it.
    async fn fill(&mut self, sources: Sources<'_>) -> Result<bool, HandoverError> {
        let Sources { db, search, .. } = sources;
        // What sites mean by their labels has changed: what fits is another, and no change of the database says so.
        let filed_by = search.filed_by()?;
        if filed_by.is_some() && self.filed_by.is_some() && filed_by != self.filed_by {
            self.followed = None;
        }
        let after = self.followed.map_or(u64::MAX, |followed| followed.change);
        let changes = db.changes(after, CHANGES_AT_ONCE_MAX).await?;
        let is_followed = self.followed.is_some_and(|followed| {
            followed.database == changes.database
                && followed.change <= changes.last
                && changes.first <= after.saturating_add(1)
        });
        if is_followed && changes.keys.is_empty() {
            return Ok(true);
        }
        let change = match changes.keys.last() {
            Some((last, _)) if is_followed => *last,
            _ => changes.last,
        };
        if !search.has_change(change)? {
            // The index comes up to it in a moment.
            return Ok(false);
        }
        search.reload()?;
        self.filed_by = filed_by.or(self.filed_by);
        let begun = self.memory.begun().filter(|_| self.wanted.since == Since::New).cloned();
        let is_all = if is_followed {
            let keys = changes.keys.into_iter().map(|(_, key)| key).collect();
            self.backlog = waiting::of_changes(sources, &self.query, &self.memory, begun.as_ref(), keys).await?;
            change == changes.last
        } else {
            let limit = limits::WAITING_MAX;
            let found = waiting::in_archive(sources, &self.query, &self.memory, begun.as_ref(), limit).await?;
            let is_all = found.count == found.oldest.len() as u64;
            self.backlog = found.oldest.into_iter().map(|place| place.key).collect();
            is_all
        };
        // An archive of which more waits is gone through again.
        let is_through = is_followed || is_all;
        self.followed = is_through.then_some(Followed { database: changes.database, change });
        Ok(is_all)
    }
}

/// The place behind which everything is new: that of the newest torrent. Not in the future, where a clock that was ahead has left some; if there
/// are many, the clock is behind now, and they are no news.
async fn beginning(db: &dyn Reader, now: UnixMillis) -> Result<Stored, CrawlDbError> {
    let Some(newest) = db.newest(None, 0, 1).await?.first().map(TorrentRow::place) else {
        return Ok(Stored { at: UnixMillis(0), key: Vec::new() });
    };
    let is_behind = db.newest(None, OF_FUTURE_MAX, 1).await?.first().is_some_and(|row| row.stored > now);
    Ok(if is_behind { newest } else { newest.min(Stored { at: now, key: Vec::new() }) })
}

/// The archived file of a row, or why there is none that is whole.
fn read(archive: &Archive, row: &TorrentRow) -> Result<Result<Vec<u8>, &'static str>, HandoverError> {
    let path = || archive.path_of(&row.facts.infohashes);
    let fault = |error| HandoverError::Io { path: path(), action: "read", error };
    let file = match archive.open_torrent(&row.facts.infohashes) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Err("its file is lost")),
        Err(error) => return Err(fault(error)),
    };
    let mut bytes = Vec::with_capacity(row.facts.metainfo_bytes as usize);
    file.take(TORRENT_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(fault)?;
    let is_whole = Sha256::digest(&bytes)[..] == row.facts.sha256;
    Ok(if is_whole { Ok(bytes) } else { Err("its file is damaged") })
}

#[cfg(test)]
mod tests;
