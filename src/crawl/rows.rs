//! A site's URLs as frontier rows: the numbers of their hosts, what is known of them, and their rank.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use foldhash::HashMap;

use crate::frontier::priority;
use crate::job::{Found, Job, PageLabel};
use crate::labelled::Labelled;
use crate::limits;
use crate::series;
use crate::sitemaps::Sitemaps;
use crate::worth::Worth;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{Class, SiteRules};
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Discovered, HostId, Outcome, UrlKey, UrlLabel, UrlRecord};

/// Creates frontier rows for one site's URLs.
pub struct Rows {
    pub rules: Arc<SiteRules>,
    /// Marks URLs that these rules have refused.
    pub rules_token: u64,
    pub db: Arc<dyn CrawlDb>,
    /// URLs that the increment has found and not fetched yet; unset if there is only one crew.
    pub update: OnceLock<Arc<UpdateDb>>,
    pub numbers: Numbers,
    pub sitemaps: Arc<Sitemaps>,
    worth: Mutex<Worth>,
    labelled: Mutex<Labelled>,
}

/// The numbers of the site's origins, assigned at their first use.
#[derive(Default)]
pub struct Numbers {
    known: Mutex<HashMap<Box<str>, HostId>>,
    has_told: AtomicBool,
    /// True when an origin was assigned a number since the last call of [`Self::has_met_hosts`].
    has_met: AtomicBool,
}

impl Numbers {
    fn known(&self) -> MutexGuard<'_, HashMap<Box<str>, HostId>> {
        // A map of numbers is consistent at any time.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when new origins were found since the last call.
    pub fn has_met_hosts(&self) -> bool {
        self.has_met.swap(false, Ordering::Relaxed)
    }

    /// The origin with this number, if it was used in this run.
    #[must_use]
    pub fn origin(&self, host: HostId) -> Option<Box<str>> {
        self.known().iter().find(|(_, id)| **id == host).map(|(origin, _)| origin.clone())
    }

    /// The number of an origin; the database is asked at its first use. None beyond `limits::ORIGINS_PER_SITE_MAX`.
    async fn of(&self, db: &dyn CrawlDb, site: &str, origin: &str) -> Result<Option<HostId>, CrawlDbError> {
        let known = self.known().get(origin).copied();
        if known.is_some() {
            return Ok(known);
        }
        let origins = limits::ORIGINS_PER_SITE_MAX;
        if self.known().len() >= origins {
            if !self.has_told.swap(true, Ordering::Relaxed) {
                tracing::warn!(%site, origins, host = origin, "too many host names: links to more of them are dropped");
            }
            return Ok(None);
        }
        let id = db.host_id(site, origin).await?;
        self.known().insert(origin.into(), id);
        self.has_met.store(true, Ordering::Relaxed);
        Ok(Some(id))
    }
}

impl Rows {
    /// Starts without known origins.
    #[must_use]
    pub fn new(rules: Arc<SiteRules>, rules_token: u64, db: Arc<dyn CrawlDb>, sitemaps: Arc<Sitemaps>) -> Self {
        let worth = Mutex::new(Worth::new(&rules));
        let (update, numbers, labelled) = Default::default();
        Self { rules, rules_token, db, update, numbers, sitemaps, worth, labelled }
    }

    /// Value estimates for the site's URLs. Do not hold the guard across an await.
    pub fn worth(&self) -> MutexGuard<'_, Worth> {
        // Budgets stay usable after a panic elsewhere.
        self.worth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A frontier row that is due at once; None when the site has too many origins already.
    pub async fn row(&self, url: &CrawlUrl, class: Class, depth: u16) -> Result<Option<Discovered>, CrawlDbError> {
        let number = self.numbers.of(&*self.db, &self.rules.name, url.origin()).await?;
        Ok(number.map(|host| row_on(host, url, class, depth)))
    }

    /// The row of a link on a job's page.
    pub async fn behind(&self, job: &Job, found: &Found) -> Result<Option<Discovered>, CrawlDbError> {
        self.row(&found.url, found.class, job.lease.depth.saturating_add(1)).await
    }

    /// What a page says of URLs, as far as it counts, by their rows.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn labels(
        &self,
        page: &CrawlUrl,
        labels: Vec<PageLabel>,
        at: UnixMillis,
    ) -> Result<Vec<UrlLabel>, CrawlDbError> {
        let labels = self.labelled.lock().unwrap_or_else(PoisonError::into_inner).kept(page, labels, at);
        let mut rows = Vec::with_capacity(labels.len());
        for PageLabel { url, text, is_own } in labels {
            let host = self.numbers.of(&*self.db, &self.rules.name, url.origin()).await?;
            rows.extend(host.map(|host| UrlLabel { key: UrlKey { host, path: url.path().into() }, text, is_own }));
        }
        Ok(rows)
    }

    /// True for a detail if the torrent that a list links beside it is stored.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn has_its_torrent(&self, job: &Job) -> Result<bool, CrawlDbError> {
        let is_detail = matches!(job.class, Class::Detail | Class::Thread);
        let beside = job.lease.via.as_deref().filter(|_| is_detail);
        let Some(url) = beside.and_then(|url| CrawlUrl::parse(url, &self.rules.canonical).ok()) else {
            return Ok(false);
        };
        let Some(row) = self.row(&url, Class::Download, 0).await? else { return Ok(false) };
        let outcome = self.db.url_record(&row.key).await?.and_then(|record| record.outcome);
        Ok(matches!(outcome, Some(Outcome::TorrentStored | Outcome::TorrentDuplicate)))
    }

    /// The record of a URL: history's, or, if history learns of it only at its first visit, when the increment found it.
    ///
    /// # Errors
    /// Those of either crawldb.
    pub async fn record(&self, key: &UrlKey) -> Result<Option<UrlRecord>, CrawlDbError> {
        let record = self.db.url_record(key).await?;
        let Some(update) = self.update.get().filter(|_| record.is_none()) else { return Ok(record) };
        let found = update.found_at(vec![key.clone()]).await?.into_iter().flatten().next();
        Ok(found.map(|first_seen| UrlRecord {
            depth: 0,
            attempts: 0,
            outcome: None,
            first_seen,
            visited: UnixMillis(0),
        }))
    }

    /// URLs found by a visit as rows for the frontier. Those deeper than the site's rules allow are included:
    /// they are parked, not fetched, and a larger `depth_max` restores them.
    pub async fn discovered(&self, job: &Job, found: Vec<Found>, depth: u16) -> Result<Vec<Discovered>, CrawlDbError> {
        let far = series::leaps(&self.rules, job, &found);
        let mut placed: Vec<(HostId, Found)> = Vec::with_capacity(found.len());
        for found in found {
            // Most links of a page are of one origin.
            let host = match placed.last() {
                Some((host, last)) if last.url.origin() == found.url.origin() => Some(*host),
                _ => self.numbers.of(&*self.db, &self.rules.name, found.url.origin()).await?,
            };
            placed.extend(host.map(|host| (host, found)));
        }
        let mut worth = self.worth();
        let parent_degree = worth.in_degree(&job.url);
        let rows = placed.into_iter().map(|(host, found)| {
            let rank = worth.rank(&found, parent_degree, host);
            let rank = if far.contains(found.url.as_str()) { priority::FAR_PAGE } else { rank };
            let row = row_on(host, &found.url, found.class, depth);
            // A link to a torrent records the page that contains it; a redirect passes that on. A detail records the torrent beside it.
            let via = match &job.lease.via {
                _ if found.class != Class::Download => found.beside,
                Some(via) if job.class == Class::Download => Some(via.clone()),
                _ => Some(job.url.as_str().into()),
            };
            Discovered { rank, via, ..row }
        });
        Ok(rows.collect())
    }
}

/// A frontier row that is due at once.
fn row_on(host: HostId, url: &CrawlUrl, class: Class, depth: u16) -> Discovered {
    Discovered {
        key: UrlKey { host, path: url.path().into() },
        depth,
        rank: priority::of_class(class),
        due: UnixMillis(0),
        via: None,
        is_target: matches!(class, Class::Detail | Class::Thread | Class::Download),
        found: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontier::shares::Shares;
    use gleaner_store::coverage::listed::{Kind, kind};

    #[test]
    fn the_coverage_tells_the_class_of_a_url_by_its_rank() {
        let mut shares = Shares::default();
        for class in Class::ALL {
            let expected = match class {
                Class::Download => Kind::Download,
                Class::Index | Class::Board => Kind::List,
                Class::Detail | Class::Thread => Kind::Detail,
                Class::Page | Class::Login | Class::Sitemap => Kind::Other,
            };
            for shape in 0..60 {
                let rank = shares.rank(class, 0, &format!("/x?{}=1", "k".repeat(shape + 1)));
                assert_eq!(kind(rank), expected, "{class:?} {rank}");
            }
            assert_eq!(kind(priority::of_class(class)), expected, "{class:?}");
        }
        assert_eq!(kind(priority::FAR_PAGE), Kind::List);
        assert_eq!(kind(priority::LIST_AGAIN), Kind::List);
        assert_eq!(kind(priority::URGENT), Kind::Other);
    }
}
