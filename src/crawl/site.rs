//! What a visit knows of its site: rules, transport, clock, and the numbers of its hosts.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use super::visit::Job;
use crate::clock::{Clock, UnixMillis};
use crate::crawldb::{CrawlDb, CrawlDbError, Discovered, HostId, UrlKey};
use crate::fetch::Transport;
use crate::frontier::priority;
use crate::rules::{Class, SiteRules};
use crate::url::CrawlUrl;

/// A URL that the rules take.
#[derive(Clone, Debug)]
pub struct Found {
    pub url: CrawlUrl,
    pub class: Class,
    /// Bytes of the page number within the path, where the rule's regex captures one.
    pub page_capture: Option<(usize, usize)>,
}

/// One site under crawl. Immutable but for the numbers of hosts, which are learned as they are met.
pub struct Site {
    pub rules: Arc<SiteRules>,
    pub transport: Arc<dyn Transport>,
    pub clock: Arc<dyn Clock>,
    pub db: Arc<dyn CrawlDb>,
    hosts: Mutex<HashMap<Box<str>, HostId>>,
    /// True when an origin was given a number since [`Self::has_met_hosts`] was last asked.
    met_hosts: AtomicBool,
}

impl Site {
    #[must_use]
    pub fn new(
        rules: Arc<SiteRules>,
        transport: Arc<dyn Transport>,
        clock: Arc<dyn Clock>,
        db: Arc<dyn CrawlDb>,
    ) -> Self {
        Self { rules, transport, clock, db, hosts: Mutex::new(HashMap::new()), met_hosts: AtomicBool::new(false) }
    }

    /// The number of an origin; asks the database at its first use.
    pub async fn host_id(&self, origin: &str) -> Result<HostId, CrawlDbError> {
        let known = self.hosts.lock().ok().and_then(|hosts| hosts.get(origin).copied());
        if let Some(id) = known {
            return Ok(id);
        }
        let id = self.db.host_id(&self.rules.name, origin).await?;
        if let Ok(mut hosts) = self.hosts.lock() {
            hosts.insert(origin.into(), id);
        }
        self.met_hosts.store(true, Ordering::Relaxed);
        Ok(id)
    }

    /// True when origins were met since the last time this was asked.
    pub fn has_met_hosts(&self) -> bool {
        self.met_hosts.swap(false, Ordering::Relaxed)
    }

    /// Links found by a visit as rows for the frontier, one link deeper; those beyond the site's depth are left
    /// out.
    pub async fn discovered(&self, job: &Job, found: Vec<Found>) -> Result<Vec<Discovered>, CrawlDbError> {
        let depth = job.lease.depth.saturating_add(1);
        if depth > self.rules.depth_max {
            return Ok(Vec::new());
        }
        let mut rows = Vec::with_capacity(found.len());
        for found in found {
            // A link to a torrent remembers the page that carries it; a redirect hands that memory on.
            let via = (found.class == Class::Download).then(|| match &job.lease.via {
                Some(via) if job.class == Class::Download => via.clone(),
                _ => job.url.as_str().into(),
            });
            rows.push(Discovered { via, ..self.row(&found.url, found.class, depth).await? });
        }
        Ok(rows)
    }

    /// A frontier row that is due at once.
    pub async fn row(&self, url: &CrawlUrl, class: Class, depth: u16) -> Result<Discovered, CrawlDbError> {
        let key = UrlKey { host: self.host_id(url.origin()).await?, path: url.path().into() };
        Ok(Discovered { key, depth, rank: priority::rank(class), due: UnixMillis(0), via: None })
    }
}
