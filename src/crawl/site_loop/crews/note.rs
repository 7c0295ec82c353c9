//! The stored state of the crews, and what `status` reports of them.

use serde::{Deserialize, Serialize};

use super::Crews;
use crate::CrawlError;
use crate::frontier::increment::Rounds;
use crate::progress::CrewsState;
use gleaner_store::crawldb::{CrawlDbError, Reader};

/// Name of the note that stores the measured rates and the last state.
pub const CREWS_NOTE: &str = "crews";

/// The state that is kept over restarts.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CrewsKept {
    pub(super) rounds: Rounds,
    /// Number of watched URLs.
    pub(super) watched: usize,
    /// The last state.
    pub state: Option<CrewsState>,
}

impl CrewsKept {
    /// Reads the note of a site; an unreadable one counts as none, and the rates are measured again.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn read(db: &(impl Reader + ?Sized), site: &str) -> Result<Self, CrawlDbError> {
        let note = db.note(site, CREWS_NOTE).await?;
        Ok(note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default())
    }
}

impl Crews {
    pub(super) fn state(&self) -> CrewsState {
        CrewsState {
            split: self.split,
            why: self.split.sentence(&self.facts),
            history_left: self.facts.history_left,
            known: self.facts.known,
            interval_s: self.interval.as_secs(),
            last_round: self.round_began.rfc3339(),
            next_round: self.next_round.rfc3339(),
            rounds: self.rounds.measured,
            news_per_hour: self.rounds.per_hour(),
            waiting: self.waiting,
            left_to_history: self.left_to_history,
        }
    }
    /// Stores the rates and the state.
    pub(in crate::site_loop) async fn keep(&mut self) -> Result<(), CrawlError> {
        if !self.are_two() || !std::mem::take(&mut self.is_changed) {
            return Ok(());
        }
        let kept = CrewsKept {
            rounds: self.rounds.clone(),
            watched: self.watched.len().max(self.watched_before),
            state: Some(self.state()),
        };
        let note = serde_json::to_vec(&kept).unwrap_or_default();
        Ok(self.site.db.put_note(&self.site.rules.name, CREWS_NOTE, note).await?)
    }
}
