//! What a site's crawl knows of how it changes: which of its pages are as they were, what it has no more, how late its torrents
//! came, and when each of its lists is looked at next.
//!
//! Between the pure rooms that decide it (`page::noise`, `freshness`, `boards`, `schedule`) and the visits that tell them what
//! they saw. Kept as notes of the site; what a kill loses of them costs looks, never a torrent.

pub mod changed;

use crate::crawldb::{CrawlDbError, Reader};

/// All of it, of one site.
#[derive(Default)]
pub struct Fresh {
    pub changed: changed::Models,
}

impl Fresh {
    /// Takes up the notes of earlier runs. One that cannot be read is told, and what it held begins anew.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn take_up(&self, db: &(impl Reader + ?Sized), site: &str) -> Result<(), CrawlDbError> {
        self.changed.take_up(db, site).await
    }

    /// What has to be kept since this was last asked, as notes by their names.
    pub fn notes(&self) -> Vec<(String, Vec<u8>)> {
        self.changed.notes()
    }
}
