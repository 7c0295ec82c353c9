//! One learning run: requests within a budget, each with its reason, and what they showed.

use crate::evidence::{Asker, Evidence, pick};
use crate::guard::Refused;
use crate::limits::FAILURES_MAX;
use crate::map::{Map, Page, UrlId};
use crate::reading::{Answer, Home, Kind, Reading};
use gleaner_base::url::{Canonical, CrawlUrl};

/// What sends the requests of a learning run: the crawl's gate, or a site in memory.
#[allow(async_fn_in_trait, reason = "learning runs on one thread")]
pub trait Ask {
    /// Sends a GET and follows redirects. `why` is for the log.
    ///
    /// # Errors
    /// Why there is no answer.
    async fn ask(&mut self, url: &CrawlUrl, why: &str) -> Result<Answer, String>;

    /// True unless robots.txt closes the URL.
    fn allows(&self, url: &CrawlUrl) -> bool;

    /// What is understood so far, after each request.
    fn progress(&mut self, _: &Progress) {}

    /// True once nothing more is to be asked: the operator has stopped the run, or the site wants a pause.
    fn is_over(&self) -> bool {
        false
    }
}

/// What is understood so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Progress {
    pub requests: u32,
    pub budget: u32,
    pub pages: usize,
    pub torrents: usize,
    pub urls: usize,
    pub shapes: usize,
    pub stage: &'static str,
}

/// One request of the run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Path and query.
    pub path: Box<str>,
    pub why: String,
    pub what: Kind,
}

/// A learning run.
pub struct Learner<'a, A> {
    pub asker: &'a mut A,
    pub map: Map,
    pub canonical: Canonical,
    /// Requests of the whole run.
    pub budget: u32,
    pub used: u32,
    pub log: Vec<Asked>,
    /// Why there was no answer, of the last request that had none.
    pub failure: Option<String>,
    pub who: Asker,
    /// The folder that links must be below.
    pub below: Option<String>,
    pub stage: &'static str,
}

impl<'a, A: Ask> Learner<'a, A> {
    /// A run that has asked nothing yet.
    pub fn new(asker: &'a mut A, home: Home, budget: u32) -> Self {
        Self {
            asker,
            map: Map::new(home),
            canonical: Canonical::default(),
            budget,
            used: 0,
            log: Vec::new(),
            failure: None,
            who: Asker::default(),
            below: None,
            stage: "exploring",
        }
    }

    /// Requests that are left.
    #[must_use]
    pub fn left(&self) -> u32 {
        if self.asker.is_over() || self.is_broken() { 0 } else { self.budget.saturating_sub(self.used) }
    }

    fn is_broken(&self) -> bool {
        let last = self.log.iter().rev().take(FAILURES_MAX);
        self.log.len() >= FAILURES_MAX && last.clone().all(|asked| asked.what == Kind::Failed(0))
    }

    /// True for a URL that may be asked for.
    pub fn may_ask(&mut self, id: UrlId) -> bool {
        if self.map.refuse(id).is_some() {
            return false;
        }
        let url = self.map.home.url(self.map.path(id));
        if !self.asker.allows(&url) {
            self.map.refuse_as(id, Refused::Robots);
            return false;
        }
        if self.below.as_ref().is_some_and(|folder| !self.map.path(id).starts_with(folder.as_str())) {
            self.map.refuse_as(id, Refused::Outside);
            return false;
        }
        true
    }

    /// Asks for a URL unless it was read. None if the budget is used up, or the URL must not be asked for.
    pub async fn fetch(&mut self, id: UrlId, why: &str) -> Option<&Page> {
        if self.map.page(id).is_none() {
            if self.left() == 0 || !self.may_ask(id) {
                return None;
            }
            let (reading, moved_to) = self.send(id, why).await;
            let order = self.used;
            self.map.read(id, reading, moved_to, order);
            self.tell();
        }
        self.map.page(id)
    }

    /// The same by path and query.
    pub async fn fetch_path(&mut self, path: &str, why: &str) -> Option<UrlId> {
        let id = self.map.url_id(path)?;
        self.fetch(id, why).await.is_some().then_some(id)
    }

    /// Asks for a URL once more, and takes nothing of it in.
    pub async fn again(&mut self, id: UrlId, why: &str) -> Option<Reading> {
        if self.left() == 0 || !self.may_ask(id) {
            return None;
        }
        let (reading, _) = self.send(id, why).await;
        self.tell();
        Some(reading)
    }

    async fn send(&mut self, id: UrlId, why: &str) -> (Reading, Option<UrlId>) {
        let url = self.map.home.url(self.map.path(id));
        self.used += 1;
        let answer = self.asker.ask(&url, why).await;
        let (mut reading, end) = match answer {
            Ok(answer) => {
                let reading = Reading::of(&answer, &self.map.home, &self.canonical);
                (reading, CrawlUrl::parse(&answer.url, &self.canonical).ok())
            }
            Err(failure) => {
                self.failure = Some(failure);
                (Reading { kind: Kind::Failed(0), ..Reading::default() }, None)
            }
        };
        let mut moved_to = None;
        if let Some(end) = end.filter(|end| end.as_str() != url.as_str()) {
            if self.map.home.owns(end.authority()) {
                moved_to = self.map.url_id(end.path()).filter(|end| *end != id);
            } else if !matches!(reading.kind, Kind::Torrent(_)) {
                reading = Reading { kind: Kind::Other, ..Reading::default() };
            }
        }
        self.log.push(Asked { path: self.map.path(id).into(), why: why.to_owned(), what: reading.kind.clone() });
        (reading, moved_to)
    }

    fn tell(&mut self) {
        let torrents = self.map.pages().filter(|(_, page)| page.is_torrent()).count();
        let progress = Progress {
            requests: self.used,
            budget: self.budget,
            pages: self.map.pages_read(),
            torrents,
            urls: self.map.urls().count(),
            shapes: self.map.shapes().count(),
            stage: self.stage,
        };
        self.asker.progress(&progress);
    }

    /// Asks for what is most worth it, until so many requests are used or nothing is left.
    pub async fn explore(&mut self, up_to: u32) {
        /// At first, every page may show what words are many; later every fourth.
        const REGROUP_EACH: u32 = 20;
        while self.used < up_to && self.left() > 0 {
            if self.used < REGROUP_EACH || self.used.is_multiple_of(4) {
                self.map.regroup();
            }
            let evidence = Evidence::of(&self.map);
            let (home, below, asker) = (self.map.home.clone(), self.below.clone(), &*self.asker);
            let robots = |path: &str| {
                below.as_ref().is_none_or(|folder| path.starts_with(folder.as_str())) && asker.allows(&home.url(path))
            };
            let Some(pick) = pick(&mut self.map, &evidence, &self.who, &robots) else { break };
            let why = format!("explore {:.2}", pick.score);
            self.fetch(pick.url, &why).await;
        }
    }
}
