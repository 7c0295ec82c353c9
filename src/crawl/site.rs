//! What a visit knows of its site: rules, transport, clock, and the numbers of its hosts.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::account::Account;
use super::again::Storages;
use super::errands::Shelf;
use super::fresh::Fresh;
use super::rendered::Rendered;
use super::repeats::Repeats;
use super::shortcut::Shortcuts;
use super::turn;
use super::visit::Job;
use super::worth::Worth;
use crate::frontier::priority;
use crate::frontier::weight::{Facts, Weight};
use crate::limits;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::Transport;
use gleaner_net::fetch::body::Allowance;
use gleaner_render::children::Children;
use gleaner_rules::{Class, RenderWhen, SiteRules};
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Discovered, HostId, TRAP_TOKENS, UrlKey, UrlRecord};

/// A URL that the rules take.
#[derive(Clone, Debug)]
pub struct Found {
    pub url: CrawlUrl,
    pub class: Class,
    /// The place of the rule that takes it, among the site's.
    pub rule: usize,
    /// Bytes of the page number within the path, where the rule's regex captures one.
    pub page_capture: Option<(usize, usize)>,
}

/// What large bodies may take of the process's memory, while they are read and while they are parsed. Clones share the
/// same; what is found in them is the commit's to count.
#[derive(Clone, Debug)]
pub struct Memory {
    pub bodies: Allowance,
    parses: Arc<Semaphore>,
}

impl Default for Memory {
    /// As much as `limits` allow one process.
    fn default() -> Self {
        Self { bodies: Allowance::default(), parses: Arc::new(Semaphore::new(limits::PARSES_MAX)) }
    }
}

impl Memory {
    /// Waits for a turn to parse a large body, which ends when it is dropped.
    pub async fn parse(&self) -> Option<OwnedSemaphorePermit> {
        // The semaphore is never closed, so that there always is one.
        Arc::clone(&self.parses).acquire_owned().await.ok()
    }
}

/// One site under crawl. Immutable but for the numbers of hosts, which are learned as they are met.
pub struct Site {
    pub rules: Arc<SiteRules>,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub db: Arc<dyn CrawlDb>,
    pub memory: Memory,
    /// Runs the scripts of pages; `None` where nobody here does.
    pub renderer: Option<Arc<Children>>,
    /// What the requests of scripts have in common.
    pub shelf: Shelf,
    /// What rendering has brought.
    rendered: Mutex<Rendered>,
    /// What scripts keep from page to page.
    pub storages: Storages,
    /// By class, what stands in place of renders.
    pub shortcuts: Shortcuts,
    /// What is known of how the site changes.
    pub fresh: Fresh,
    /// What its increment has found and not fetched yet; unset where there is one crew.
    pub update: OnceLock<Arc<UpdateDb>>,
    /// The operator's account, where the rules name one and whoever crawls can get at it.
    pub account: Option<Account>,
    /// Marks what these rules have refused.
    pub rules_token: u64,
    worth: Mutex<Worth>,
    /// Where lists end though their numbers go on.
    pub repeats: Repeats,
    hosts: Mutex<HashMap<Box<str>, HostId>>,
    /// Sitemaps met in this run.
    sitemaps: Mutex<HashSet<Box<str>>>,
    told_of_origins: AtomicBool,
    /// True when an origin was given a number since [`Self::has_met_hosts`] was last asked.
    met_hosts: AtomicBool,
}

impl Site {
    /// A site; its transport and clock are the caller's choice. It shares its memory with no other site.
    #[must_use]
    pub fn new(
        rules: Arc<SiteRules>,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        db: Arc<dyn CrawlDb>,
    ) -> Self {
        Self {
            rules_token: rules.links_fingerprint() & (TRAP_TOKENS - 1),
            worth: Mutex::new(Worth::new(&rules)),
            repeats: Repeats::default(),
            shortcuts: Shortcuts::new(&rules),
            fresh: Fresh::new(&rules),
            update: OnceLock::new(),
            rules,
            transport,
            clock,
            db,
            memory: Memory::default(),
            renderer: None,
            shelf: Shelf::default(),
            rendered: Mutex::default(),
            storages: Storages::default(),
            account: None,
            hosts: Mutex::default(),
            sitemaps: Mutex::default(),
            told_of_origins: AtomicBool::new(false),
            met_hosts: AtomicBool::new(false),
        }
    }

    /// The site with a memory that it shares with others.
    #[must_use]
    pub fn with_memory(self, memory: Memory) -> Self {
        Self { memory, ..self }
    }

    /// The site with the operator's account.
    #[must_use]
    pub fn with_account(self, account: Account) -> Self {
        Self { account: Some(account), ..self }
    }

    /// The site with children that run the scripts of its pages, shared with other sites.
    #[must_use]
    pub fn with_renderer(self, children: Arc<Children>) -> Self {
        Self { renderer: Some(children), ..self }
    }

    /// Whether visits of a class may ask for more than their page: for its scripts, or for the data that they would ask for.
    #[must_use]
    pub fn runs_errands(&self, class: Class) -> bool {
        let renders = self.renderer.is_some() && self.rules.render(class) != RenderWhen::Never;
        renders || self.rules.shortcuts(class).next().is_some()
    }

    /// What rendering has brought. Not to be held across an await.
    pub fn rendered(&self) -> MutexGuard<'_, Rendered> {
        // Counts stay usable after a panic elsewhere.
        self.rendered.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the site's URLs are worth. Not to be held across an await.
    pub fn worth(&self) -> MutexGuard<'_, Worth> {
        // Accounts stay usable after a panic elsewhere.
        self.worth.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The number of an origin; asks the database at its first use. None beyond `limits::ORIGINS_PER_SITE_MAX`.
    async fn host_id(&self, origin: &str) -> Result<Option<HostId>, CrawlDbError> {
        let known = self.hosts().get(origin).copied();
        if known.is_some() {
            return Ok(known);
        }
        if self.hosts().len() >= limits::ORIGINS_PER_SITE_MAX {
            if !self.told_of_origins.swap(true, Ordering::Relaxed) {
                let (site, origins) = (&self.rules.name, limits::ORIGINS_PER_SITE_MAX);
                tracing::warn!(%site, origins, host = origin, "too many host names: links to more of them are dropped");
            }
            return Ok(None);
        }
        let id = self.db.host_id(&self.rules.name, origin).await?;
        self.hosts().insert(origin.into(), id);
        self.met_hosts.store(true, Ordering::Relaxed);
        Ok(Some(id))
    }

    fn hosts(&self) -> MutexGuard<'_, HashMap<Box<str>, HostId>> {
        // A map of numbers is whole at any time.
        self.hosts.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True when origins were met since the last time this was asked.
    pub fn has_met_hosts(&self) -> bool {
        self.met_hosts.swap(false, Ordering::Relaxed)
    }

    /// What is known of a URL: by history, or, where that hears of it with its first visit alone, since when the increment knows it.
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

    /// URLs found by a visit as rows for the frontier. Those that lie deeper than the site's rules allow are among them:
    /// they are parked, not fetched, and a larger `depth_max` brings them back.
    pub async fn discovered(&self, job: &Job, found: Vec<Found>, depth: u16) -> Result<Vec<Discovered>, CrawlDbError> {
        let mut rows = Vec::with_capacity(found.len());
        let far = turn::leaps(self, job, &found);
        for found in found {
            let Some(mut row) = self.row(&found.url, found.class, depth).await? else { continue };
            row.rank = priority::fine_rank(found.class, &self.worth().weigh(&found, &job.url, row.key.host));
            if far.contains(found.url.as_str()) {
                row.rank = priority::FAR_PAGE;
            }
            // A link to a torrent remembers the page that carries it; a redirect hands that memory on.
            let via = (found.class == Class::Download).then(|| match &job.lease.via {
                Some(via) if job.class == Class::Download => via.clone(),
                _ => job.url.as_str().into(),
            });
            rows.push(Discovered { via, ..row });
        }
        Ok(rows)
    }

    /// A sitemap that robots.txt or a sitemap index names, whatever the rules say of its URL; none on other hosts, and
    /// none beyond `limits::SITEMAPS_PER_SITE_MAX`.
    #[must_use]
    pub fn sitemap(&self, url: CrawlUrl) -> Option<Found> {
        let url = self.rules.without_mirror(url);
        if !self.rules.owns_host(url.authority()) {
            return None;
        }
        let mut known = self.sitemaps.lock().unwrap_or_else(PoisonError::into_inner);
        if !known.contains(url.as_str()) {
            if known.len() > limits::SITEMAPS_PER_SITE_MAX {
                return None;
            }
            known.insert(url.as_str().into());
            if known.len() > limits::SITEMAPS_PER_SITE_MAX {
                let (site, most) = (&self.rules.name, limits::SITEMAPS_PER_SITE_MAX);
                tracing::warn!(%site, url = url.as_str(), most, "too many sitemaps: this one and later ones are left out");
                return None;
            }
        }
        Some(Found { url, class: Class::Sitemap, rule: usize::MAX, page_capture: None })
    }

    /// A robots.txt was read anew: sitemaps count from none again.
    pub fn forget_sitemaps(&self) {
        self.sitemaps.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }

    /// A frontier row that is due at once; None when the site has too many origins already.
    pub async fn row(&self, url: &CrawlUrl, class: Class, depth: u16) -> Result<Option<Discovered>, CrawlDbError> {
        let Some(host) = self.host_id(url.origin()).await? else { return Ok(None) };
        let key = UrlKey { host, path: url.path().into() };
        let is_target = matches!(class, Class::Detail | Class::Thread | Class::Download);
        Ok(Some(Discovered {
            key,
            depth,
            rank: priority::fine_rank(class, &Weight::of(&Facts::default())),
            due: UnixMillis(0),
            via: None,
            is_target,
            found: None,
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn large_bodies_are_parsed_one_at_a_time_over_all_sites() {
        let memory = Memory::default();
        let first = memory.parse().await;
        assert!(first.is_some());
        let of_another_site = memory.clone();
        let second = tokio::spawn(async move { of_another_site.parse().await.is_some() });
        tokio::task::yield_now().await;
        assert!(!second.is_finished(), "the first is still being parsed");
        drop(first);
        assert!(second.await.unwrap());
    }
}
