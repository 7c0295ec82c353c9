//! What the service knows of its sites.

use crate::Outlet;
use crate::problem::Problem;

/// A site of a rule file that no request was sent to yet.
pub const NOT_CRAWLED: &str = "the service begins to crawl it";

impl Outlet {
    /// Refuses a name that no site of the database has.
    pub async fn must_know(&self, site: &str) -> Result<(), Problem> {
        if self.sites().await?.contains(site) {
            return Ok(());
        }
        Err(Problem::not_found(format!("no site is called {site}"), "/api/v1/sites lists the sites"))
    }
}
