//! What the loop keeps of how its site changes, and what follows from what visits saw of it.

use super::SiteLoop;
use crate::crawl::CrawlError;

impl SiteLoop {
    /// Takes up what earlier runs knew.
    pub(super) async fn take_up_fresh(&mut self) -> Result<(), CrawlError> {
        let name = &self.site.rules.name;
        Ok(self.site.fresh.take_up(self.site.db.as_ref(), name).await?)
    }

    /// Writes down what has changed of it, in one commit.
    pub(super) async fn keep_fresh(&mut self) -> Result<(), CrawlError> {
        self.fresh_kept = self.site.clock.now();
        let notes = self.site.fresh.notes();
        if !notes.is_empty() {
            self.site.db.put_notes(&self.site.rules.name, notes).await?;
        }
        Ok(())
    }
}
