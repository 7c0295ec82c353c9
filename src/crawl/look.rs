//! A manual fetch of one page: requested as in a visit, its scripts' requests through the same gate (rules, robots.txt, quiet hours,
//! rate and rest of each host), and nothing of it is stored.
//!
//! The site may be one of the operator's, or one generated for the page's own hosts. Nothing here writes to a database.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};

use crate::host_work::policy_of;
use crate::hosts::{HostKeys, Hosts};
use crate::limits;
use crate::robots_txt::{RobotsAnswer, RobotsLocation};
use crate::scripts::errands::{Answering, Bounds, Budget, Errands, KnownHost};
use crate::scripts::rendering::seeks;
use crate::scripts::shared::Scripts;
use crate::sitemaps::Sitemaps;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::politeness::Answered;
use gleaner_net::politeness::robots::Robots;
use gleaner_render::children::Host;
use gleaner_render::wire::{Answer, Asker, Request, Seeks};
use gleaner_rules::{self as rules, SiteRules};

/// A site that is inspected manually, and the page that is open.
pub struct Inspection {
    scripts: Scripts,
    errands: Errands,
    page: CrawlUrl,
    /// Total of the pauses that hosts have imposed, in milliseconds.
    paused_ms: AtomicU64,
    /// Held so that the receivers do not see a closed channel and stop.
    _stop: watch::Sender<bool>,
}

impl Inspection {
    /// Requests the robots.txt of the host of `page`, unless the rules override it, and obeys it.
    ///
    /// # Errors
    /// Why the host must be treated as disallowed: RFC 9309 §2.3.1.4.
    pub async fn begin(scripts: Scripts, page: CrawlUrl) -> Result<Self, String> {
        let (stop, stopped) = watch::channel(false);
        let hosts = Hosts::default();
        let addresses = scripts.transport.resolve(&page).await.map(|found| found.addresses).unwrap_or_default();
        let keys = HostKeys::new(page.host(), &addresses);
        let usual = policy_of(&scripts.rules, None);
        let mut known = Vec::new();
        // A host outside the rules gets no request for its robots.txt either.
        if scripts.rules.owns_host(page.authority()) && !matches!(scripts.rules.robots, rules::Robots::Ignore { .. }) {
            let slot = hosts.ask(&keys, usual, scripts.clock.now());
            let robots = robots(&scripts, page.origin(), &keys).await?;
            let policy = policy_of(&scripts.rules, robots.crawl_delay);
            if let Ok(slot) = slot {
                // An answer of any kind imposes no pause.
                let _ = slot.finish(Answered::Reached, policy, scripts.clock.now());
            }
            known.push(KnownHost { origin: page.origin().into(), keys, policy, robots: Some(robots) });
        }
        let budget = Arc::new(Budget::default());
        budget.leaves(u64::MAX);
        let bounds = Bounds { pages: Arc::new(AtomicU64::new(0)), pages_max: None, budget, stop: stopped, end: None };
        let requests = Arc::new(Semaphore::new(limits::RENDER_REQUESTS_AT_ONCE_MAX));
        let errands = Errands::new(hosts, requests, known, usual, bounds, None);
        Ok(Self { scripts, errands, page, paused_ms: AtomicU64::new(0), _stop: stop })
    }

    /// Requests a page and makes it the open one. Its URL is the one after redirects.
    ///
    /// # Errors
    /// Why the request was held back, or why there is no response.
    pub async fn open(&mut self, page: CrawlUrl) -> Answer {
        self.page = page;
        self.errands = self.errands.of_next_page();
        let request = Request {
            asker: Asker::Fetch,
            method: "GET".to_owned(),
            url: self.page.as_str().to_owned(),
            headers: Vec::new(),
            credentials: true,
            body: Vec::new(),
        };
        let answer = self.answering().answer(request).await?;
        if let Some(url) = url::Url::parse(&answer.url).ok().and_then(|url| CrawlUrl::exact(&url)) {
            self.page = url;
        }
        Ok(answer)
    }

    /// The same session with other rules: more hosts, which the page itself has named.
    #[must_use]
    pub fn with_rules(self, rules: Arc<SiteRules>) -> Self {
        let Scripts { rules_token, transport, clock, memory, .. } = &self.scripts;
        let mut scripts = Scripts::new(&rules, *rules_token, transport, clock, Arc::<Sitemaps>::default());
        scripts.memory = memory.clone();
        Self { scripts, ..self }
    }

    /// True unless the robots.txt of the first page's host closes a URL of that host.
    #[must_use]
    pub fn allows(&self, url: &CrawlUrl) -> bool {
        let known = self.errands.known.iter().find(|known| *known.origin == *url.origin());
        let robots = known.and_then(|known| known.robots.as_ref());
        robots.is_none_or(|robots| robots.allows(url.path()))
    }

    /// Limits the requests that are still sent, those of scripts included.
    pub fn leaves(&self, requests: u64) {
        self.errands.budget.leaves(requests);
    }

    /// Requests that were sent, those of scripts included.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.errands.budget.unbooked()
    }

    /// How long the host of a URL wants no request.
    #[must_use]
    pub fn paused_for(&self, url: &CrawlUrl) -> Duration {
        let now = self.scripts.clock.now();
        self.errands.hosts.blocked_until(url.host(), now).since(now)
    }

    /// The rules in force.
    #[must_use]
    pub fn rules(&self) -> &SiteRules {
        &self.scripts.rules
    }

    /// What a reader may do with its pages.
    #[must_use]
    pub fn seeks(&self) -> Seeks {
        seeks(&self.scripts.rules)
    }

    /// The cookies that the scripts of the open page may see, as `name=value`.
    #[must_use]
    pub fn script_cookies(&self) -> Vec<String> {
        self.scripts.transport.script_cookies(&self.page)
    }

    /// Milliseconds of pauses that hosts have imposed since the last call (429, 503): a matter of politeness, not of the page.
    pub fn take_paused_ms(&self) -> u64 {
        self.paused_ms.swap(0, Ordering::Relaxed)
    }

    #[must_use]
    pub fn now(&self) -> UnixMillis {
        self.scripts.clock.now()
    }

    /// Milliseconds since 1970.
    #[must_use]
    pub fn now_ms(&self) -> i64 {
        self.scripts.now_ms()
    }

    fn answering(&self) -> Answering<'_> {
        Answering { scripts: &self.scripts, errands: &self.errands, page: &self.page }
    }
}

impl Host for Inspection {
    fn site(&self) -> &str {
        // Pages that no account protects are public: they may follow each other in one child.
        if self.scripts.is_members { &self.scripts.rules.name } else { "" }
    }

    async fn answer(&self, request: Request) -> Answer {
        let answer = self.answering().answer(request).await;
        let now = self.scripts.clock.now();
        for pause in self.errands.take_tidings().into_iter().filter_map(|tiding| tiding.ending.block) {
            let lasts = u64::try_from(pause.until.since(now).as_millis()).unwrap_or(u64::MAX);
            self.paused_ms.fetch_add(lasts, Ordering::Relaxed);
        }
        answer
    }

    fn cookie(&self, text: &str) {
        self.answering().cookie(text);
    }
}

/// The rules of an origin's robots.txt. Redirects are limited by `limits::ROBOTS_REDIRECTS_MAX`, which `ask_robots` enforces.
async fn robots(scripts: &Scripts, origin: &str, keys: &Arc<HostKeys>) -> Result<Arc<Robots>, String> {
    let mut place = RobotsLocation::of(origin, Arc::clone(keys));
    loop {
        match scripts.ask_robots(&place).await {
            Ok(RobotsAnswer::Rules(robots)) => return Ok(Arc::new(robots)),
            Ok(RobotsAnswer::Moved(moved)) => place = *moved,
            Err(fault) => {
                return Err(format!("its robots.txt cannot be fetched, so nothing is allowed: {}", fault.detail));
            }
        }
    }
}
