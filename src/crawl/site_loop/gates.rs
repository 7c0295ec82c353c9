//! Gates: a page redirects to another URL, which sets a cookie and redirects back. The page is known by then, but all that it has given
//! is a redirect, so it is asked for once more.

use std::collections::HashSet;

use super::SiteLoop;
use super::visits::mark;
use crate::job::Finished;
use crate::{CrawlError, limits};
use gleaner_store::crawldb::Outcome;

/// URLs of this run, as marks.
#[derive(Debug, Default)]
pub(super) struct Gates {
    /// Those that ended as a redirect; a visit may not be committed yet.
    redirected: HashSet<u64>,
    /// Those that were asked for once more. Two URLs that redirect to each other for good end here.
    passed: HashSet<u64>,
}

impl SiteLoop {
    /// Queues the target of a redirect once more if that has only been a redirect so far.
    pub(super) async fn pass_gate(&mut self, finished: &Finished) -> Result<(), CrawlError> {
        let visit = &finished.visit;
        if visit.outcome != Outcome::Redirected || self.gates.redirected.len() >= limits::GATES_MAX {
            return Ok(());
        }
        self.gates.redirected.insert(mark(&visit.key));
        for target in &visit.outlinks {
            let key = mark(&target.key);
            let was_redirected = self.gates.redirected.contains(&key)
                || self
                    .site
                    .db
                    .url_record(&target.key)
                    .await?
                    .is_some_and(|known| known.outcome == Some(Outcome::Redirected));
            if was_redirected && self.gates.passed.insert(key) {
                self.walls.ask_again(target.clone());
            }
        }
        Ok(())
    }
}
