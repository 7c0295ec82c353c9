//! Visits by an endpoint: versions of data, and lists that take more than one visit.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use tokio::sync::{Semaphore, watch};

use super::*;
use crate::hosts::{HostKeys, Hosts};
use crate::scripts::errands::{Bounds, Budget, Errands};
use crate::site::Site;
use crate::version;
use gleaner_base::clock::{SystemClock, UnixMillis};
use gleaner_base::url::Canonical;
use gleaner_net::fetch::{Body, FetchFailure, Request, Resolution, Response, Transport};
use gleaner_net::politeness::HostPolicy;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::{HostId, Lease, UrlKey};

/// Data of one version.
struct Versioned;

struct Whole(Option<Bytes>);

#[async_trait::async_trait]
impl Body for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        Ok(self.0.take())
    }
}

#[async_trait::async_trait]
impl Transport for Versioned {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        assert_eq!(request.url.as_str(), "http://site.example/api?page=2", "nothing but the data is asked for");
        let headers = request.by_script.map(|script| script.headers).unwrap_or_default();
        let is_known = headers.contains(&("if-none-match".to_owned(), "\"v1\"".to_owned()));
        let body = br#"{"items":[{"id":5},{"id":6}]}"#;
        let body = (!is_known).then(|| Bytes::from_static(body));
        let for_scripts = vec![("etag".to_owned(), "\"v1\"".to_owned())];
        let headers = ResponseHeaders { for_scripts, ..ResponseHeaders::default() };
        Ok(Response { status: if is_known { 304 } else { 200 }, headers, body: Box::new(Whole(body)) })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution { addresses: Vec::new(), ttl: Duration::from_secs(60) })
    }
}

fn site() -> Arc<Site> {
    let rules = "start = ['http://site.example/list?page=1']\nrobots = { obey = false, reason = 'own server' }\n\
        [classes]\nindex = ['^/list']\ndetail = ['^/t/\\d+$']\n[render]\nindex = 'never'\n\
        [shortcut.index]\nurl = '/api?page={@query.page|1}'\nitems = 'items'\nlink = ['/t/{id}']\n";
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    Arc::new(Site::new(rules, Arc::new(Versioned), Arc::new(SystemClock), Arc::new(MemoryStore::default())))
}

fn errands(site: &Site) -> Errands {
    let hosts = Hosts::default();
    let policy = HostPolicy { interval_ms: 0, connections_max: 1, rest_factor: 0.0, rest_ms_min: 0 };
    let slot = hosts.ask(&HostKeys::new("site.example", &[]), policy, site.clock.now()).unwrap();
    let requests = Arc::new(Semaphore::new(1));
    let permit = Arc::clone(&requests).try_acquire_owned().unwrap();
    let (_, stop) = watch::channel(false);
    let budget = Arc::new(Budget::default());
    budget.leaves(u64::MAX);
    let bounds = Bounds { pages: Arc::default(), pages_max: None, budget, stop, end: None };
    Errands::new(hosts, requests, Vec::new(), policy, bounds, Some((slot, permit)))
}

fn of<'a>(site: &'a Site, job: &'a Job, errands: &'a Errands) -> PageVisit<'a> {
    PageVisit { scripts: &site.scripts, job, errands }
}

#[tokio::test]
async fn data_of_a_known_version_are_not_sent_again_and_the_visit_has_one_request_by_its_own_connection() {
    let site = site();
    let url = CrawlUrl::parse("http://site.example/list?page=2", &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: "/list?page=2".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let mut job = Job {
        lease,
        url,
        class: Class::Index,
        rule: 0,
        crew: crate::frontier::crews::Crew::History,
        was_read: false,
        is_guess: false,
    };
    let first = errands(&site);
    let End::Data(gathered) = visit(of(&site, &job, &first), true).await else { panic!("the data are there") };
    let found: Vec<&str> = gathered.read.found.iter().map(|found| found.url.as_str()).collect();
    assert_eq!(found, ["http://site.example/t/5", "http://site.example/t/6"]);
    assert!(gathered.read.listing.is_some() && first.take_own().is_none());
    assert_eq!(first.sent.load(std::sync::atomic::Ordering::Relaxed), 0, "the visit itself is counted elsewhere");
    job.lease.memo = gathered.memo;
    assert!(matches!(visit(of(&site, &job, &errands(&site)), true).await, End::NoPage(NoPage::NotModified)));
    // The page's own version differs from its data's.
    assert_eq!(version::read(job.lease.memo.as_deref().unwrap(), site.rules_token), None);
    assert!(matches!(visit(of(&site, &job, &errands(&site)), false).await, End::Data(_)));
}

/// A list of 7 pages of data, each of which takes more than a minute.
struct Slow {
    now_ms: AtomicU64,
    asked: Mutex<Vec<String>>,
}

impl gleaner_base::clock::Clock for Slow {
    fn now(&self) -> UnixMillis {
        UnixMillis(self.now_ms.load(Ordering::Relaxed))
    }
}

#[async_trait::async_trait]
impl Transport for Slow {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        self.now_ms.fetch_add(70_000, Ordering::Relaxed);
        let page: u32 = request.url.as_str().split("page=").nth(1).unwrap().parse().unwrap();
        self.asked.lock().unwrap().push(page.to_string());
        let items: Vec<String> =
            (0..3).filter(|_| page < 7).map(|at| format!("{{\"id\":{}}}", page * 10 + at)).collect();
        let body = Bytes::from(format!("{{\"items\":[{}]}}", items.join(",")));
        Ok(Response { status: 200, headers: ResponseHeaders::default(), body: Box::new(Whole(Some(body))) })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution { addresses: Vec::new(), ttl: Duration::from_secs(60) })
    }
}

#[tokio::test]
async fn a_list_that_takes_longer_than_a_visit_goes_on_in_the_next_ones() {
    let rules = "start = ['http://site.example/list']\nrobots = { obey = false, reason = 'own server' }\n\
        [classes]\nindex = ['^/list']\ndetail = ['^/t/\\d+$']\n[render]\nindex = 'never'\n\
        [shortcut.index]\nurl = '/api?page=1'\nitems = 'items'\nlink = ['/t/{id}']\npage = { parameter = 'page', step = 1 }\n";
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    let slow = Arc::new(Slow { now_ms: AtomicU64::new(1_790_000_000_000), asked: Mutex::default() });
    let clock = Arc::new(Arc::clone(&slow));
    let site = Site::new(rules, Arc::new(Arc::clone(&slow)), clock, Arc::new(MemoryStore::default()));
    let site = Arc::new(site);
    let url = CrawlUrl::parse("http://site.example/list", &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: "/list".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let job = Job {
        lease,
        url,
        class: Class::Index,
        rule: 0,
        crew: crate::frontier::crews::Crew::History,
        was_read: false,
        is_guess: false,
    };
    let mut found = Vec::new();
    for visits in 1..=9 {
        let End::Data(gathered) = visit(of(&site, &job, &errands(&site)), false).await else { panic!("no data") };
        found.extend(gathered.read.found.iter().map(|found| found.url.as_str().to_owned()));
        let again = site.scripts.shortcuts.again();
        if again.is_empty() {
            assert_eq!((visits, found.len()), (4, 18), "two requests each");
            assert_eq!(slow.asked.lock().unwrap().join(" "), "1 2 3 4 5 6 7");
            return;
        }
        assert_eq!(again, ["http://site.example/list"]);
        site.scripts.shortcuts.queued(&again);
    }
    panic!("it goes on for ever");
}

/// A list of this many pages of data, where some requests fail.
struct Faulty {
    pages: usize,
    fails: fn(usize) -> bool,
    asked: Mutex<Vec<usize>>,
}

#[async_trait::async_trait]
impl Transport for Faulty {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let page: usize = request.url.as_str().split("page=").nth(1).unwrap().parse().unwrap();
        let number = {
            let mut asked = self.asked.lock().unwrap();
            asked.push(page);
            asked.len()
        };
        let items: Vec<String> =
            (0..3).filter(|_| page <= self.pages).map(|at| format!("{{\"id\":{}}}", page * 10 + at)).collect();
        let body = Bytes::from(format!("{{\"items\":[{}]}}", items.join(",")));
        let status = if (self.fails)(number) { 500 } else { 200 };
        Ok(Response { status, headers: ResponseHeaders::default(), body: Box::new(Whole(Some(body))) })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution { addresses: Vec::new(), ttl: Duration::from_secs(60) })
    }
}

/// The result for a list.
struct Came {
    links: Vec<String>,
    asked: Vec<usize>,
    visits: usize,
    /// What the last visit reported as left out.
    not_whole: Option<Box<str>>,
}

/// Visits a list until nothing more of it is queued.
async fn visited_to_the_end(pages: usize, fails: fn(usize) -> bool) -> Came {
    let rules = "start = ['http://site.example/list']\nrobots = { obey = false, reason = 'own server' }\n\
        [classes]\nindex = ['^/list']\ndetail = ['^/t/\\d+$']\n[render]\nindex = 'never'\n\
        [shortcut.index]\nurl = '/api?page=1'\nitems = 'items'\nlink = ['/t/{id}']\npage = { parameter = 'page', step = 1 }\n";
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    let list = Arc::new(Faulty { pages, fails, asked: Mutex::default() });
    let site = Site::new(rules, Arc::new(Arc::clone(&list)), Arc::new(SystemClock), Arc::new(MemoryStore::default()));
    let site = Arc::new(site);
    let url = CrawlUrl::parse("http://site.example/list", &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: "/list".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let mut job = Job {
        lease,
        url,
        class: Class::Index,
        rule: 0,
        crew: crate::frontier::crews::Crew::History,
        was_read: false,
        is_guess: false,
    };
    let mut found = Vec::new();
    for visits in 1..=2_000 {
        let errands = errands(&site);
        let is_retried = match visit(of(&site, &job, &errands), false).await {
            End::Data(gathered) => {
                found.extend(gathered.read.found.iter().map(|found| found.url.as_str().to_owned()));
                job.lease.attempts = 0;
                false
            }
            End::NoPage(NoPage::Unanswered(_)) => {
                job.lease.attempts += 1;
                true
            }
            _ => panic!("the data are neither there nor unanswered"),
        };
        let again = site.scripts.shortcuts.again();
        if again.is_empty() && (!is_retried || job.lease.attempts >= limits::ATTEMPTS_MAX) {
            let (asked, not_whole) = (list.asked.lock().unwrap().clone(), errands.not_whole.take());
            return Came { links: found, asked, visits, not_whole };
        }
        assert_eq!(errands.not_whole.take(), None, "another visit goes on");
        assert_ne!(is_retried, !again.is_empty(), "a page that is tried again is not queued beside that");
        site.scripts.shortcuts.queued(&again);
    }
    panic!("it goes on for ever");
}

#[tokio::test]
async fn a_fault_in_a_long_list_loses_nothing_and_the_next_visit_goes_on_behind_what_came() {
    // The third request fails, and the second of the next visit; then the first two of a visit.
    let came = visited_to_the_end(9, |number| matches!(number, 3 | 5 | 8 | 9)).await;
    assert_eq!(came.asked, [1, 2, 3, 3, 4, 4, 5, 6, 6, 6, 7, 8, 9, 10]);
    assert_eq!((came.links.len(), came.visits, came.not_whole), (9 * 3, 5, None));
    // One that fails whenever it continues is given up after its attempts.
    let came = visited_to_the_end(9, |number| number > 3).await;
    assert_eq!((came.links.len(), came.asked.len()), (3 * 3, 3 + 1 + usize::from(limits::ATTEMPTS_MAX)));
    assert_eq!(came.not_whole.as_deref(), Some("it has more data, but requests for them fail"));
}

#[tokio::test]
async fn a_list_without_end_at_a_site_that_fails_again_and_again_is_asked_for_as_far_as_any_other() {
    let came = visited_to_the_end(usize::MAX, |number| number.is_multiple_of(2)).await;
    assert_eq!((came.links.len(), came.asked.len()), (limits::SHORTCUT_TURNS_MAX / 2 * 3, limits::SHORTCUT_TURNS_MAX));
    assert_eq!(came.not_whole.as_deref(), Some("it has more data than the limit for one page"));
}

/// A list that needs a token, where each new token invalidates the previous one; the third request fails.
struct Guarded(Mutex<(usize, usize, Vec<String>)>);

#[async_trait::async_trait]
impl Transport for Guarded {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let mut guarded = self.0.lock().unwrap();
        let (tokens, requests, asked) = &mut *guarded;
        let url = request.url.as_str();
        let (status, body) = if url.ends_with("/auth") {
            *tokens += 1;
            (200, format!("{{\"access\":\"t{tokens}\"}}"))
        } else {
            let headers = request.by_script.map(|script| script.headers).unwrap_or_default();
            let page: usize = url.split("page=").nth(1).unwrap().parse().unwrap();
            *requests += 1;
            asked.push(format!("{page}{}", headers.iter().find(|(name, _)| name == "x-auth").unwrap().1));
            let items: Vec<String> =
                (0..3).filter(|_| page <= 4).map(|at| format!("{{\"id\":{}}}", page * 10 + at)).collect();
            let is_known = headers.contains(&("x-auth".to_owned(), format!("t{tokens}")));
            let status = if *requests == 3 { 500 } else { 200 };
            (if is_known { status } else { 401 }, format!("{{\"items\":[{}]}}", items.join(",")))
        };
        let body: Box<dyn Body> = Box::new(Whole(Some(Bytes::from(body))));
        Ok(Response { status, headers: ResponseHeaders::default(), body })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution { addresses: Vec::new(), ttl: Duration::from_secs(60) })
    }
}

#[tokio::test]
async fn a_list_goes_on_in_the_next_visit_with_the_token_of_that_visit() {
    let rules = "start = ['http://site.example/list']\nrobots = { obey = false, reason = 'own server' }\n\
        [classes]\nindex = ['^/list']\ndetail = ['^/t/\\d+$']\n[render]\nindex = 'never'\n\
        [shortcut.index]\nurl = '/api?page=1'\nheaders = { x-auth = '{@before.access}' }\nbefore = { url = '/auth' }\n\
        items = 'items'\nlink = ['/t/{id}']\npage = { parameter = 'page', step = 1 }\n";
    let rules = gleaner_rules::from_text("site", rules).unwrap();
    let list = Arc::new(Guarded(Mutex::default()));
    let site = Site::new(rules, Arc::new(Arc::clone(&list)), Arc::new(SystemClock), Arc::new(MemoryStore::default()));
    let site = Arc::new(site);
    let url = CrawlUrl::parse("http://site.example/list", &Canonical::default()).unwrap();
    let key = UrlKey { host: HostId(1), path: "/list".into() };
    let lease = Lease {
        key,
        depth: 0,
        rank: 0,
        attempts: 0,
        via: None,
        memo: None,
        deadline: UnixMillis(0),
        found: None,
        seq: 0,
    };
    let job = Job {
        lease,
        url,
        class: Class::Index,
        rule: 0,
        crew: crate::frontier::crews::Crew::History,
        was_read: false,
        is_guess: false,
    };
    let mut found = 0;
    for _ in 0..2 {
        let End::Data(gathered) = visit(of(&site, &job, &errands(&site)), false).await else { panic!("no data") };
        found += gathered.read.found.len();
        let again = site.scripts.shortcuts.again();
        site.scripts.shortcuts.queued(&again);
    }
    assert_eq!(list.0.lock().unwrap().2.join(" "), "1t1 2t1 3t1 3t2 4t2 5t2");
    assert_eq!(found, 4 * 3);
}
