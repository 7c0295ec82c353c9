//! The requests of a login started by the operator: each at the pace that its host asks for (`Crawl-delay` of its
//! robots.txt, which disallows no page for a login), with a notice when a form is sent.
//!
//! Wraps the site's transport, so that all requests of the login pass here: pages, forms, pictures, proofs. The pauses of
//! the login itself come first, and count. Logins of a crawl do not pass here: the gate of their host limits them
//! (`crawl::login::pace`).

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use tokio::time::Instant;

use super::steps::Steps;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::hosts::HostKeys;
use gleaner_crawl::robots_txt::{RobotsAnswer, RobotsLocation};
use gleaner_crawl::site::Site;
use gleaner_net::fetch::{FetchFailure, Request, Resolution, Response, Transport};
use gleaner_rules::Robots;

/// The site's transport for a login by hand.
#[must_use]
pub fn by_hand(site: Site, steps: &Steps) -> Site {
    steps.hear_requests();
    let (rules, clock, db) = (Arc::clone(&site.rules), Arc::clone(&site.clock), Arc::clone(&site.db));
    let (memory, renderer) = (site.memory.clone(), site.scripts.renderer.clone());
    let by_hand = ByHand { site, steps: steps.clone(), origins: Mutex::default() };
    let site = Site::new(rules, Arc::new(by_hand), clock, db).with_memory(memory);
    match renderer {
        Some(children) => site.with_renderer(children),
        None => site,
    }
}

struct ByHand {
    /// The wrapped site, with its own transport.
    site: Site,
    steps: Steps,
    /// Origins requested so far; their number is limited by the requests of a login.
    origins: Mutex<HashMap<Box<str>, Origin>>,
}

#[derive(Clone, Copy)]
struct Origin {
    /// The delay that its robots.txt asks for between a response and the next request.
    delay: Duration,
    answered: Instant,
}

impl ByHand {
    fn origins(&self) -> MutexGuard<'_, HashMap<Box<str>, Origin>> {
        // An entry is two times, consistent at any moment.
        self.origins.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the origin may be requested.
    async fn pass(&self, url: &CrawlUrl) {
        if matches!(self.site.rules.robots, Robots::Ignore { .. }) {
            return;
        }
        let known = self.origins().get(url.origin()).copied();
        let Origin { delay, answered } = match known {
            Some(known) => known,
            None => {
                let delay = self.delay(url).await;
                let known = Origin { delay, answered: Instant::now() };
                self.origins().insert(url.origin().into(), known);
                known
            }
        };
        let wait = delay.saturating_sub(answered.elapsed());
        if wait.is_zero() {
            return;
        }
        let (host, seconds) = (url.authority(), delay.as_secs_f32());
        self.steps.show(&format!("waiting: {host} asks for {seconds} s between two requests (Crawl-delay)"));
        tokio::time::sleep(wait).await;
    }

    /// The delay that the origin's robots.txt asks for; none if it cannot be fetched: the login's own request will show
    /// whether the origin responds at all.
    async fn delay(&self, url: &CrawlUrl) -> Duration {
        let mut place = RobotsLocation::of(url.origin(), HostKeys::new(url.host(), &[]));
        // The redirect limit `limits::ROBOTS_REDIRECTS_MAX` bounds this loop.
        loop {
            match self.site.scripts.ask_robots(&place).await {
                Ok(RobotsAnswer::Rules(robots)) => return robots.crawl_delay.unwrap_or_default(),
                Ok(RobotsAnswer::Moved(moved)) => place = *moved,
                Err(fault) => {
                    tracing::debug!(host = url.authority(), error = fault.detail, "no robots.txt for the login");
                    return Duration::ZERO;
                }
            }
        }
    }
}

#[async_trait]
impl Transport for ByHand {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        self.pass(request.url).await;
        self.steps.leaves(request.post.map(|_| request.url.as_str()));
        let answer = self.site.transport.send(request).await;
        if let Some(origin) = self.origins().get_mut(request.url.origin()) {
            origin.answered = Instant::now();
        }
        answer
    }

    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        self.site.transport.resolve(url).await
    }

    fn script_cookies(&self, url: &CrawlUrl) -> Vec<String> {
        self.site.transport.script_cookies(url)
    }

    fn set_script_cookie(&self, url: &CrawlUrl, text: &str) {
        self.site.transport.set_script_cookie(url, text);
    }
}
