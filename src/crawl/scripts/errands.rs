//! Requests of a page's scripts, each sent through the crawl's gate: rules, robots.txt, quiet hours, budgets, rate, rest and pauses of
//! its host, and the process's limit of concurrent requests, as for any visit.
//!
//! A page that is being rendered holds no connection: the one that fetched it is given back first, so that a site with one
//! connection can serve its scripts.

use std::collections::HashSet;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, watch};
use xxhash_rust::xxh3::xxh3_64;

use super::live::is_live;
use super::rendered::Closed;
use super::shared::Scripts;
use super::stream::{self, Brief, Errand};
use crate::host_work::policy_of;
use crate::hosts::{Ending, HostKeys, Hosts, Slot};
use crate::job::Tiding;
use crate::limits::{self, CONNECTION_POLL};
use crate::not_whole::NotWhole;
use crate::robots_txt::{self, RobotsAnswer, RobotsLocation};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::body::{self, Allowance, Read, Want};
use gleaner_net::fetch::{Body, ByScript, Post, Request};
use gleaner_net::politeness::robots::Robots;
use gleaner_net::politeness::{Answered, Gate, HostPolicy, backoff};
use gleaner_render::children::{Host, Reply};
use gleaner_render::wire::{self as net, Answer, Asker};
use gleaner_rules::{ActSign, Refusal};

/// Maximum sleep of a request before it checks again whether it may still be sent.
const STEP: Duration = Duration::from_secs(1);

/// Reasons for refusals that the operator may want to know.
const NO_HOST: &str = "is not one of the rule file's hosts";
const CLOSED: &str = "robots.txt disallows it";
const TOKEN: &str = "it carries a token of the session";

/// Why a request by which a page only listens is not sent.
const LIVE: &str = "it is a live channel, which shows nothing of the page";

const LATE: &str = "the page can do without it, and it takes too long";

/// What is known of one of the site's hosts.
#[derive(Clone)]
pub struct KnownHost {
    pub origin: Box<str>,
    pub keys: Arc<HostKeys>,
    pub policy: HostPolicy,
    pub robots: Option<Arc<Robots>>,
}

/// Why a page is not what its scripts would have made of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trouble {
    #[default]
    None,
    /// The page shows nothing, while pages like it do, or the site has refused its data.
    Empty,
    /// A server did not return what a script requested: the page may show more another time.
    Unanswered,
    /// The page, or something else, has ended the processes that ran it.
    Died,
    /// No process could be started for it, for which it is not responsible: the page keeps its place.
    NoProcess,
    /// The site's own hours and budgets, or the end of its crawl, held requests back: the page keeps its place.
    KeptBack,
}

/// What a site's own budgets leave to the scripts of all its pages in progress: each request counts where it is sent.
#[derive(Debug, Default)]
pub struct Budget {
    /// Requests that the budgets left at the site loop's last update, which does not include script requests in flight.
    left: AtomicU64,
    /// Script requests sent that the loop has not counted yet.
    unbooked: AtomicU64,
}

impl Budget {
    /// Called after the loop's update; it first counts the requests that were reported to it.
    pub fn leaves(&self, requests: u64) {
        self.left.store(requests, Ordering::Relaxed);
    }

    /// The loop has counted this many script requests.
    pub fn booked(&self, errands: u64) {
        let less = |unbooked: u64| Some(unbooked.saturating_sub(errands));
        let _ = self.unbooked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    }

    #[must_use]
    pub fn unbooked(&self) -> u64 {
        self.unbooked.load(Ordering::Relaxed)
    }

    fn is_used_up(&self) -> bool {
        self.unbooked() >= self.left.load(Ordering::Relaxed)
    }
}

/// The script requests of one visit's page.
pub struct Errands {
    pub hosts: Hosts,
    /// One permit per request in flight, over all sites.
    pub requests: Arc<Semaphore>,
    pub known: Vec<KnownHost>,
    /// Policy of the visit's own host.
    pub own_policy: HostPolicy,
    /// Requests of the whole run so far, and their maximum.
    pub pages: Arc<AtomicU64>,
    pub pages_max: Option<u64>,
    /// What the site's own budgets leave.
    pub budget: Arc<Budget>,
    /// True once the site's crawl is to end.
    pub stop: watch::Receiver<bool>,
    /// When the crawl's own time limit ends.
    pub end: Option<UnixMillis>,
    /// Requests that were sent.
    pub sent: AtomicU64,
    /// Memory allowance that larger responses to the page's scripts share until its child has taken them. Each page has its own: one whose
    /// child takes none delays no other.
    answers: Allowance,
    /// Time of the page's first request.
    began: OnceLock<UnixMillis>,
    /// It wanted to send more requests when its time was over.
    out_of_time: AtomicBool,
    /// Something that it can do without has taken too long: nothing of that kind is requested any more.
    is_bare: AtomicBool,
    /// Hosts of scripts that were refused, and why.
    closed: Mutex<Vec<(String, String)>>,
    trouble: Mutex<Trouble>,
    /// Why the page was not read completely, if so.
    pub not_whole: NotWhole,
    /// Hashes of requests that servers have not answered, even when they were repeated.
    unanswered: Mutex<HashSet<u64>>,
    /// Reports of hosts on these requests.
    tidings: Mutex<Vec<Tiding>>,
    /// The slot and permit of the visit itself.
    own: Mutex<Option<(Slot, OwnedSemaphorePermit)>>,
    /// The origin whose next request uses them.
    lent_to: Mutex<Option<Box<str>>>,
}

/// What a visit of a class whose pages may be rendered provides.
pub struct Bounds {
    pub pages: Arc<AtomicU64>,
    pub pages_max: Option<u64>,
    pub budget: Arc<Budget>,
    pub stop: watch::Receiver<bool>,
    pub end: Option<UnixMillis>,
}

impl Errands {
    /// The script requests of a page; with the visit's connection if it belongs to a visit.
    #[must_use]
    pub fn new(
        hosts: Hosts,
        requests: Arc<Semaphore>,
        known: Vec<KnownHost>,
        own_policy: HostPolicy,
        bounds: Bounds,
        own: Option<(Slot, OwnedSemaphorePermit)>,
    ) -> Self {
        let Bounds { pages, pages_max, budget, stop, end } = bounds;
        Self {
            hosts,
            requests,
            known,
            own_policy,
            pages,
            pages_max,
            budget,
            stop,
            end,
            sent: AtomicU64::new(0),
            answers: Allowance::new(limits::RENDER_ANSWERS_BYTES_MAX),
            began: OnceLock::new(),
            out_of_time: AtomicBool::new(false),
            is_bare: AtomicBool::new(false),
            closed: Mutex::default(),
            trouble: Mutex::default(),
            not_whole: NotWhole::default(),
            unanswered: Mutex::default(),
            tidings: Mutex::default(),
            own: Mutex::new(own),
            lent_to: Mutex::default(),
        }
    }

    /// The script requests of the next page of the same run, which has its own time.
    #[must_use]
    pub fn of_next_page(&self) -> Self {
        let bounds = Bounds {
            pages: Arc::clone(&self.pages),
            pages_max: self.pages_max,
            budget: Arc::clone(&self.budget),
            stop: self.stop.clone(),
            end: self.end,
        };
        let (hosts, requests) = (self.hosts.clone(), Arc::clone(&self.requests));
        Self::new(hosts, requests, self.known.clone(), self.own_policy, bounds, None)
    }

    /// The worst problem with the requests so far.
    pub fn trouble(&self) -> Trouble {
        *self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the page wanted to send more requests when its time was over.
    pub fn is_out_of_time(&self) -> bool {
        self.out_of_time.load(Ordering::Relaxed)
    }

    /// Logs the hosts of the page's own scripts that may not be requested: for a page that shows nothing without them.
    pub fn tell_closed(&self, scripts: &Scripts, page: &CrawlUrl) {
        let closed = std::mem::take(&mut *self.closed.lock().unwrap_or_else(PoisonError::into_inner));
        for (host, why) in closed {
            tell_closed(scripts, page, host, &why);
        }
    }

    fn keep_closed(&self, host: String, why: &str) {
        let mut closed = self.closed.lock().unwrap_or_else(PoisonError::into_inner);
        if closed.len() < limits::ORIGINS_PER_SITE_MAX {
            closed.push((host, why.to_owned()));
        }
    }

    /// Records a problem.
    pub(super) fn troubled(&self, trouble: Trouble) {
        let mut worst = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        *worst = trouble.max(*worst);
    }

    /// Pauses that hosts have imposed and others that are forgiven, to be recorded.
    pub fn take_tidings(&self) -> Vec<Tiding> {
        std::mem::take(&mut self.tidings.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, host: &str, answered: Answered, ending: Ending) {
        if ending.block.is_some() || ending.forgiven {
            let mut tidings = self.tidings.lock().unwrap_or_else(PoisonError::into_inner);
            tidings.push(Tiding { host: host.into(), answered, ending });
        }
    }

    /// Whether all requests were answered, if only when they were repeated.
    pub fn is_whole(&self) -> bool {
        match self.trouble() {
            Trouble::None => true,
            Trouble::Unanswered => self.unanswered.lock().unwrap_or_else(PoisonError::into_inner).is_empty(),
            _ => false,
        }
    }

    /// Records the end of a request, given by its hash if the page needs it.
    fn finish(
        &self,
        what: Option<u64>,
        (slot, policy): (Slot, HostPolicy),
        url: &CrawlUrl,
        answered: Answered,
        now: UnixMillis,
    ) {
        if let Some(what) = what {
            let mut unanswered = self.unanswered.lock().unwrap_or_else(PoisonError::into_inner);
            if answered != Answered::Well && answered != Answered::Reached {
                unanswered.insert(what);
                self.troubled(Trouble::Unanswered);
            } else {
                unanswered.remove(&what);
            }
        }
        self.tell(url.host(), answered, slot.finish(answered, policy, now));
    }

    fn own(&self) -> MutexGuard<'_, Option<(Slot, OwnedSemaphorePermit)>> {
        self.own.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The visit's connection, unless it was given back.
    pub fn take_own(&self) -> Option<Slot> {
        self.own().take().map(|(slot, _)| slot)
    }

    /// Gives the visit's connection back: its response was read completely.
    pub fn give_back(&self, page: &CrawlUrl, now: UnixMillis) {
        if let Some((slot, _)) = self.own().take() {
            self.tell(page.host(), Answered::Well, slot.finish(Answered::Well, self.own_policy, now));
        }
    }

    /// The next request to this origin uses the visit's own connection, in place of the page's own request: it has passed the gate.
    pub fn lend_own(&self, origin: &str) {
        *self.lent_to.lock().unwrap_or_else(PoisonError::into_inner) = Some(origin.into());
    }

    fn take_lent(&self, origin: &str) -> Option<(Slot, OwnedSemaphorePermit)> {
        let mut lent_to = self.lent_to.lock().unwrap_or_else(PoisonError::into_inner);
        lent_to.take_if(|to| **to == *origin)?;
        self.own().take()
    }

    /// Waits for a connection for the page itself, if its own was used for something else.
    ///
    /// # Errors
    /// Why none is available now.
    pub async fn renew_own(&self, scripts: &Scripts, url: &CrawlUrl) -> Result<(), String> {
        *self.lent_to.lock().unwrap_or_else(PoisonError::into_inner) = None;
        if self.own().is_none() {
            let (slot, _, permit) = self.pass(scripts, url, true).await?;
            *self.own() = Some((slot, permit));
        }
        Ok(())
    }

    fn of_origin(&self, origin: &str) -> Option<&KnownHost> {
        self.known.iter().find(|known| *known.origin == *origin)
    }

    /// Waits until a request for this URL may be sent, and counts it. If the page needs it, what withholds it is recorded.
    async fn pass(
        &self,
        scripts: &Scripts,
        url: &CrawlUrl,
        is_needed: bool,
    ) -> Result<(Slot, HostPolicy, OwnedSemaphorePermit), String> {
        let known = self.of_origin(url.origin());
        if let Some((slot, permit)) = self.take_lent(url.origin()) {
            return Ok((slot, known.map_or(self.own_policy, |known| known.policy), permit));
        }
        let (keys, policy) = match known {
            Some(known) => (Arc::clone(&known.keys), known.policy),
            None => {
                let addresses = scripts.transport.resolve(url).await.map(|found| found.addresses).unwrap_or_default();
                let robots = scripts.shelf.robots(url.origin(), scripts.clock.now());
                let delay = robots.and_then(|robots| robots.crawl_delay);
                (HostKeys::new(url.host(), &addresses), policy_of(&scripts.rules, delay))
            }
        };
        loop {
            // The semaphore is never closed.
            let permit = Arc::clone(&self.requests).acquire_owned().await.map_err(|error| error.to_string())?;
            let now = scripts.clock.now();
            let withheld = if is_needed { Trouble::KeptBack } else { Trouble::None };
            if let Some(why) = self.keeps_back(scripts, now) {
                self.troubled(withheld);
                return Err(why);
            }
            // A page that still sends requests when its time ends would be lost with everything it has shown.
            let closes = self.began.get_or_init(|| now).plus(limits::RENDER_ASKING_TIME);
            if now >= closes {
                self.out_of_time.fetch_or(is_needed, Ordering::Relaxed);
                return Err("the page's time for requests is used up".to_owned());
            }
            let wait = match self.hosts.ask(&keys, policy, now) {
                Ok(slot) => {
                    self.sent.fetch_add(1, Ordering::Relaxed);
                    self.budget.unbooked.fetch_add(1, Ordering::Relaxed);
                    self.pages.fetch_add(1, Ordering::Relaxed);
                    return Ok((slot, policy, permit));
                }
                Err(Gate::WaitUntil(at)) => at.since(now),
                Err(_) => CONNECTION_POLL,
            };
            drop(permit);
            if wait > limits::RENDER_WALL_TIME {
                self.troubled(withheld);
                return Err(format!("{} pauses", url.host()));
            }
            // In short steps, so that the end of the crawl is noticed.
            tokio::time::sleep(wait.clamp(Duration::from_millis(1), STEP)).await;
        }
    }

    /// Checks the limits of the site's rules and the run for a request now.
    fn keeps_back(&self, scripts: &Scripts, now: UnixMillis) -> Option<String> {
        if *self.stop.borrow() || self.end.is_some_and(|end| end <= now) {
            return Some("the crawl of the site is stopping".to_owned());
        }
        if let Some(until) = scripts.rules.hours.quiet_until(now) {
            return Some(format!("quiet_hours of the rule file last until {}", until.rfc3339()));
        }
        let run_is_over = self.pages_max.is_some_and(|max| self.pages.load(Ordering::Relaxed) >= max);
        (run_is_over || self.budget.is_used_up())
            .then(|| "requests_per_day, pages_max or --max-pages is used up".to_owned())
    }

    /// The rules of an origin's robots.txt; requested if they are not known yet.
    async fn robots(&self, scripts: &Scripts, url: &CrawlUrl, is_needed: bool) -> Result<Arc<Robots>, String> {
        if matches!(scripts.rules.robots, gleaner_rules::Robots::Ignore { .. }) {
            return Ok(Arc::new(Robots::allow_all()));
        }
        let here = self.of_origin(url.origin()).and_then(|known| known.robots.clone());
        let now = scripts.clock.now();
        if let Some(robots) = here.or_else(|| scripts.shelf.robots(url.origin(), now)) {
            return Ok(robots);
        }
        let addresses = scripts.transport.resolve(url).await.map(|found| found.addresses).unwrap_or_default();
        let mut place = RobotsLocation::of(url.origin(), HostKeys::new(url.host(), &addresses));
        let robots = loop {
            let (slot, policy, permit) = self.pass(scripts, &place.url, is_needed).await?;
            let answer = scripts.ask_robots(&place).await;
            drop(permit);
            let answered = answer.as_ref().map_or_else(|fault| fault.answered, |_| Answered::Reached);
            // Its delay begins after its own response, if it was requested at its own place.
            let policy = match &answer {
                Ok(RobotsAnswer::Rules(robots)) if place.hops == 0 => policy_of(&scripts.rules, robots.crawl_delay),
                _ => policy,
            };
            let what = is_needed.then(|| xxh3_64(place.url.as_str().as_bytes()));
            self.finish(what, (slot, policy), &place.url, answered, scripts.clock.now());
            match answer {
                Ok(RobotsAnswer::Rules(robots)) => break Arc::new(robots),
                Ok(RobotsAnswer::Moved(next)) => place = *next,
                Err(fault) => return Err(fault.detail),
            }
        };
        scripts.shelf.keep_robots(url.origin(), now.plus(robots_txt::KEPT_FOR), &robots);
        Ok(robots)
    }
}

/// Answers the requests of one page.
pub struct Answering<'a> {
    pub scripts: &'a Scripts,
    pub errands: &'a Errands,
    /// The page's address.
    pub page: &'a CrawlUrl,
}

impl Host for Answering<'_> {
    fn site(&self) -> &str {
        &self.scripts.rules.name
    }

    async fn answer(&self, request: net::Request) -> Answer {
        self.reply_within(request, &self.scripts.memory.bodies).await.into_answer()
    }

    async fn reply(&self, request: net::Request) -> Reply {
        self.reply_within(request, &self.errands.answers).await
    }

    fn cookie(&self, text: &str) {
        self.scripts.transport.set_script_cookie(self.page, text);
    }
}

/// The response to one request, which may be a redirect.
struct Hop {
    status: u16,
    headers: Vec<(String, String)>,
    location: Option<String>,
    read: Read,
    /// The body is a stream that was cut.
    ongoing: bool,
}

impl Hop {
    /// A stream that has sent nothing in its time, not even a head.
    fn silent() -> Self {
        Self { status: 0, headers: Vec::new(), location: None, read: Read::Whole(Bytes::new()), ongoing: true }
    }
}

/// Logs once what a site's scripts may not request under the current rule file and robots.txt.
fn tell_closed(scripts: &Scripts, page: &CrawlUrl, host: String, why: &str) {
    if scripts.rendered().close(Closed { host, why: why.to_owned(), page: page.as_str().to_owned() }) {
        let hint = match why {
            CLOSED => "its data is not seen",
            TOKEN => "if it only reads, `allow_actions` of the rule file allows it",
            _ => "if the site's data is there, add it to `hosts` of the rule file",
        };
        let (site, page) = (&scripts.rules.name, page.as_str());
        tracing::warn!(%site, page, why, "requests of scripts are refused, here and from now on: {hint}");
    }
}

impl Answering<'_> {
    /// The response; its body holds its share of the memory allowance as long as it exists.
    async fn reply_within(&self, request: net::Request, bodies: &Allowance) -> Reply {
        let why = match self.ask(&request, bodies).await {
            Ok((response, body)) => return Reply { answer: Ok(response), body: Some(body) },
            Err(why) => why,
        };
        let (site, page) = (&self.scripts.rules.name, self.page.as_str());
        // Without its query, which may contain tokens.
        let url = request.url.split(['?', '#']).next().unwrap_or_default();
        tracing::debug!(%site, page, url, why, "a request of a page's script is refused");
        let host = url::Url::parse(&request.url).ok().and_then(|url| Some(url.host_str()?.to_owned()));
        if let Some(host) = host.filter(|_| why.contains(NO_HOST) || why == CLOSED || why == TOKEN) {
            match request.asker {
                Asker::Fetch | Asker::Xhr => tell_closed(self.scripts, self.page, host, &why),
                // What a page can do without says nothing of its data.
                asker if asker.is_decoration() => {}
                // Many refused scripts are advertisements.
                _ => self.errands.keep_closed(host, &why),
            }
        }
        Reply::from(Err(why))
    }

    /// The response to a request, with its body separate.
    async fn ask(&self, request: &net::Request, bodies: &Allowance) -> Result<(net::Response, Bytes), String> {
        if let Some(kept) = self.scripts.shelf.kept(request, self.scripts.clock.now()) {
            return Ok(kept);
        }
        let mut url = CrawlUrl::parse(&request.url, &Canonical::default()).map_err(|error| error.to_string())?;
        let mut post = self.posted(request)?;
        let kind = request.headers.iter().find(|(name, _)| name.eq_ignore_ascii_case("content-type"));
        let content_type = kind.map_or("text/plain;charset=UTF-8", |(_, value)| value);
        // Redirect requests count as part of the original request.
        let what = xxh3_64(format!("{} {}", request.method, request.url).as_bytes()) ^ xxh3_64(&request.body);
        let errand = Errand::new(what, request.asker);
        let from_tls = url.as_str().starts_with("https:");
        let mut headers_of_script = request.headers.as_slice();
        for hop in 0..=limits::SCRIPT_REDIRECTS_MAX {
            if (from_tls || self.page.as_str().starts_with("https:")) && !url.as_str().starts_with("https:") {
                return Err("it would downgrade https to http".to_owned());
            }
            let post_of = post.map(|body| Post { content_type, body, referer: self.page });
            let by_script = ByScript { headers: headers_of_script, credentials: request.credentials };
            let sent = Request { post: post_of, by_script: Some(by_script), ..(&url).into() };
            let Hop { status, headers, location, read, ongoing } = self.send(&errand, sent, bodies).await?;
            if let Some(location) = location {
                let base = url.to_url().map_err(|error| error.to_string())?;
                let next =
                    CrawlUrl::join(&base, &location, None, &Canonical::default()).map_err(|error| error.to_string())?;
                let is_elsewhere = next.origin() != url.origin();
                if !matches!(status, 307 | 308) || is_elsewhere {
                    post = None;
                }
                // What a script sends to one origin is not meant for another.
                if is_elsewhere {
                    headers_of_script = &[];
                }
                url = next;
                continue;
            }
            let body = match read {
                Read::Whole(bytes) => bytes,
                Read::Stopped { .. } => return Err("the answer is too long".to_owned()),
                Read::Failed { failure, .. } => return Err(failure.to_string()),
            };
            let answer = net::Response {
                url: url.as_str().to_owned(),
                redirected: hop > 0,
                status,
                status_text: String::new(),
                headers,
                ongoing,
                body: Vec::new(),
            };
            self.scripts.shelf.keep(request, &answer, &body, self.scripts.clock.now());
            return Ok((answer, body));
        }
        Err("too many redirects".to_owned())
    }

    /// The body that a request posts, if it does.
    fn posted<'r>(&self, request: &'r net::Request) -> Result<Option<&'r [u8]>, String> {
        match request.method.as_str() {
            "GET" | "HEAD" => Ok(None),
            // A member's POST may change things; for guests, some lists are requested this way.
            "POST" if self.scripts.is_members => Err("no POST is sent from a member's page".to_owned()),
            "POST" => Ok(Some(request.body.as_slice())),
            other => Err(format!("{other} requests are not sent: a crawl changes nothing")),
        }
    }

    /// Waits until a request may be sent: not long if the page can do without it.
    async fn gate(&self, errand: &Errand, url: &CrawlUrl) -> Result<(Slot, HostPolicy, OwnedSemaphorePermit), String> {
        let is_needed = !errand.asker.is_decoration();
        let gate = async {
            self.may_ask(url, is_needed).await?;
            self.errands.pass(self.scripts, url, is_needed).await
        };
        if is_needed {
            return gate.await;
        }
        if self.errands.is_bare.load(Ordering::Relaxed) {
            return Err(LATE.to_owned());
        }
        tokio::time::timeout(limits::RENDER_DECORATION_GATE_TIME, gate).await.unwrap_or_else(|_| Err(self.late()))
    }

    /// Something took too long that the page can do without: it does without, from now on.
    fn late(&self) -> String {
        self.errands.is_bare.store(true, Ordering::Relaxed);
        LATE.to_owned()
    }

    /// Sends one request through the gate and reports its result to its host. Of what a page can do without, only a response says
    /// something about its host.
    async fn send(&self, errand: &Errand, request: Request<'_>, bodies: &Allowance) -> Result<Hop, String> {
        let (scripts, url) = (self.scripts, request.url);
        let (slot, policy, permit) = self.gate(errand, url).await?;
        let (ends, is_stream) = (errand.ends(), errand.asker == Asker::Events);
        let finish = |answered| {
            self.errands.finish(errand.blamed(), (slot, policy), url, answered, scripts.clock.now());
        };
        let response = match stream::by(ends, scripts.transport.send(request)).await {
            Some(Ok(response)) => response,
            // Many servers send their first byte with the first event.
            None if is_stream => return Ok(Hop::silent()),
            None => return Err(self.late()),
            Some(Err(failure)) => {
                if !is_stream {
                    finish(Answered::Faulty);
                }
                return Err(failure.to_string());
            }
        };
        let location = response.headers.location.clone().filter(|_| (300..400).contains(&response.status));
        let (status, headers) = (response.status, response.headers.for_scripts);
        let length = response.headers.content_length;
        let (sent, is_cut) = match ends.filter(|_| is_stream) {
            Some(ends) => {
                let (brief, is_cut) = Brief::new(response.body, ends);
                (Box::new(brief) as Box<dyn Body>, Some(is_cut))
            }
            None => (response.body, None),
        };
        let read = match errand.asker {
            // Of an image only the status counts.
            Asker::Image => Read::Whole(Bytes::new()),
            _ => {
                let reading = body::read(sent, length, bodies, |_, _| Want::UpTo(limits::RENDER_BODY_BYTES_MAX));
                // A stream ends by itself.
                let Some(read) = stream::by(ends.filter(|_| !is_stream), reading).await else {
                    return Err(self.late());
                };
                read
            }
        };
        let ongoing = is_cut.is_some_and(|is_cut| is_cut.load(Ordering::Relaxed));
        drop(permit);
        let broke_off = matches!(read, Read::Failed { .. }) && location.is_none();
        finish(match status {
            429 | 503 => {
                let asked = response.headers.retry_after.as_deref();
                Answered::Throttled(asked.and_then(|value| backoff::retry_after(value, scripts.clock.now())))
            }
            500..=599 => Answered::Faulty,
            // A truncated response counts as none: its content is missing from the page.
            _ if broke_off => Answered::Faulty,
            _ => Answered::Well,
        });
        Ok(Hop { status, headers, location, read, ongoing })
    }

    /// Applies the site's rules and robots.txt to a script's request. It needs no class: rule files do not list a site's APIs.
    async fn may_ask(&self, url: &CrawlUrl, is_needed: bool) -> Result<(), String> {
        if is_live(url.path()) {
            return Err(LIVE.to_owned());
        }
        match self.scripts.rules.forbids(url) {
            None => {}
            Some(Refusal::WrongHost) => return Err(format!("{} {NO_HOST}", url.authority())),
            Some(Refusal::ActsForAccount(ActSign::Token)) => return Err(TOKEN.to_owned()),
            Some(reason) => return Err(format!("the rules refuse it: {}", reason.name())),
        }
        let robots = self.errands.robots(self.scripts, url, is_needed).await?;
        if robots.allows(url.path()) { Ok(()) } else { Err(CLOSED.to_owned()) }
    }
}

#[cfg(test)]
mod tests;
