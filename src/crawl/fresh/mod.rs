//! What a site's crawl knows of how the site changes: which pages are unchanged, what is gone, the delays of its torrents,
//! what its lists showed, and when each is rechecked next.
//!
//! Connects the pure modules that decide (`page::noise`, `freshness`, `boards`, `schedule`) with the visits that report what they saw.
//! Stored as notes of the site; what a kill loses of them costs rechecks, never a torrent.

pub mod arrivals;
pub mod boards;
pub mod changed;
mod directories;
pub mod gone;
pub mod keys;
pub mod look;
pub mod presence;
mod reread;
pub mod rows;
mod standing;
pub mod timetable;
pub mod walks;

use crate::job::Job;
use crate::limits::NOTE_BYTES_MAX;
use crate::rows::Rows;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::KEYS_NOTE;
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// A recheck of a page: what is known of the site's changes, and the rows of its frontier.
#[derive(Clone, Copy)]
pub struct Looking<'a> {
    pub fresh: &'a Fresh,
    pub rows: &'a Rows,
    pub job: &'a Job,
    /// When the page was read.
    pub at: UnixMillis,
}

/// The state of one site.
pub struct Fresh {
    pub changed: changed::Models,
    pub gone: gone::Missing,
    pub lists: rows::Lists,
    pub arrivals: arrivals::Arrivals,
    pub boards: boards::Boards,
    pub timetable: timetable::Timetable,
    /// Where the addresses of a members' site hold keys.
    pub keys: Option<keys::Keys>,
}

impl Fresh {
    /// Starts without state.
    #[must_use]
    pub fn new(rules: &SiteRules) -> Self {
        Self {
            changed: changed::Models::default(),
            gone: gone::Missing::default(),
            lists: rows::Lists::default(),
            arrivals: arrivals::Arrivals::default(),
            boards: boards::Boards::new(&rules.boards),
            timetable: timetable::Timetable::new(rules),
            keys: rules.login.is_some().then(|| keys::Keys::of(rules)),
        }
    }

    /// Loads the notes of earlier runs. An unreadable one is logged, and its state starts over.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn take_up(&self, db: &(impl Reader + ?Sized), site: &str, now: UnixMillis) -> Result<(), CrawlDbError> {
        self.changed.take_up(db, site).await?;
        self.gone.take_up(site, db.note(site, gone::GONE_NOTE).await?.as_deref());
        self.lists.take_up(site, db.note(site, rows::ROWS_NOTE).await?.as_deref());
        self.boards.take_up(site, db.note(site, boards::BOARDS_NOTE).await?.as_deref());
        self.timetable.take_up(site, db.note(site, timetable::SCHEDULE_NOTE).await?.as_deref(), now);
        if let (Some(keys), Some(note)) = (&self.keys, db.note(site, KEYS_NOTE).await?) {
            keys.take_up(&note);
        }
        let (delays, awaited) =
            (db.note(site, arrivals::DELAY_NOTE).await?, db.note(site, arrivals::AWAITED_NOTE).await?);
        self.arrivals.take_up(site, delays.as_deref(), awaited.as_deref(), now);
        Ok(())
    }

    /// A note for display with its current content.
    #[must_use]
    pub fn note_now(&self, name: &str) -> Option<Vec<u8>> {
        match name {
            gone::GONE_NOTE => Some(self.gone.note_now()),
            boards::BOARDS_NOTE => Some(self.boards.note_now()),
            timetable::SCHEDULE_NOTE => self.timetable.note_now(),
            arrivals::DELAY_NOTE => Some(self.arrivals.delays_now()),
            _ => None,
        }
    }

    /// The state to be stored since the last call, as notes by name. A note that no database would accept is left out and logged:
    /// the former one stays, which costs rechecks at the next start.
    pub fn notes(&self, site: &str) -> Vec<(String, Vec<u8>)> {
        let mut notes = self.changed.notes();
        notes.extend(self.gone.note());
        notes.extend(self.lists.note());
        notes.extend(self.boards.note(site));
        notes.extend(self.timetable.note());
        notes.extend(self.arrivals.notes());
        notes.extend(self.keys.as_ref().and_then(keys::Keys::note));
        notes.retain(|(name, note)| {
            let fits = note.len() <= NOTE_BYTES_MAX;
            if !fits {
                tracing::warn!(%site, name, bytes = note.len(), "a note exceeds its size limit: the previous one is kept");
            }
            fits
        });
        notes
    }
}
