//! What the service knows of its sites, and how much of each is in the archive.

use std::collections::HashMap;
use std::sync::Arc;

use gleaner_base::clock::UnixMillis;
use gleaner_store::coverage::{self, SiteCoverage};
use schemars::JsonSchema;
use serde::Serialize;
use tokio::runtime::Handle;
use tokio::sync::Mutex;

use super::table::{Call, Nothing, OfSite};
use crate::Outlet;
use crate::limits::{COVERAGE_KEPT, COVERAGES_KEPT_MAX};
use crate::problem::Problem;

/// Why there is no report of a site.
pub const NOT_CRAWLED: &str = "the service begins to crawl it";
pub const NOT_SCHEDULED: &str = "no list of it has been rechecked yet";
pub const NO_DELAY: &str = "only torrents that appear between two checks of a list count";

/// Coverages by site, and when each was reckoned: that reads all that is known of the site.
pub type Coverages = Arc<Mutex<HashMap<String, (UnixMillis, SiteCoverage)>>>;

impl Outlet {
    /// Refuses a name that no site of the database has.
    pub async fn must_know(&self, site: &str) -> Result<(), Problem> {
        if self.sites().await?.contains(site) {
            return Ok(());
        }
        Err(Problem::not_found(format!("no site is called {site}"), "/api/v1/sites lists the sites"))
    }

    /// The coverage of a site, not older than [`COVERAGE_KEPT`]. One is reckoned at a time, on a thread of its own, and to its end: a client that
    /// waits no longer finds it there when he asks again.
    async fn coverage_of(&self, site: String) -> Result<SiteCoverage, Problem> {
        let mut kept = Arc::clone(&self.coverages).lock_owned().await;
        let now = self.clock.now();
        if let Some((at, known)) = kept.get(&site)
            && now.since(*at) < COVERAGE_KEPT
        {
            return Ok(known.clone());
        }
        if kept.len() >= COVERAGES_KEPT_MAX {
            kept.clear();
        }
        let (db, runtime) = (Arc::clone(&self.db), Handle::current());
        let reckoned = tokio::task::spawn_blocking(move || {
            let found = runtime.block_on(coverage::of_site(db.as_ref(), &site))?;
            kept.insert(site, (now, found.clone()));
            Ok(found)
        });
        let found: Result<_, gleaner_store::crawldb::CrawlDbError> =
            reckoned.await.map_err(|error| Problem::ours(&error))?;
        found.map_err(|error| Problem::ours(&error))
    }
}

pub async fn coverage(call: Call<OfSite, Nothing>) -> Result<SiteCoverage, Problem> {
    call.outlet.must_know(&call.path.name).await?;
    call.outlet.coverage_of(call.path.name).await
}

/// The coverage of all sites.
#[derive(Debug, Serialize, JsonSchema)]
pub struct AllCoverages {
    sites: Vec<SiteCoverage>,
}

pub async fn coverages(call: Call<Nothing, Nothing>) -> Result<AllCoverages, Problem> {
    let mut sites = Vec::new();
    for site in call.outlet.sites().await? {
        sites.push(call.outlet.coverage_of(site).await?);
    }
    Ok(AllCoverages { sites })
}
