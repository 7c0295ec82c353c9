//! Data in place of renders (ALGORITHMS §5): what was learned of a class's pages, or pinned in the rule file, is asked for through the
//! crawl's gate, and its links are the page's.
//!
//! Between the pure room `shortcut` and the visit. A page is visited by an endpoint where one holds for its address, unless a render is
//! due that checks it; where the endpoint does not hold, the same visit goes on as any other.

mod gather;
mod in_place;
mod learning;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use url::Url;

use super::errands::{Errands, Trouble};
use super::outlinks::{self, PageFindings};
use super::rendering::Made;
use super::site::Site;
use super::visit::Job;
use crate::fetch::{ResponseHeaders, charset};
use crate::limits;
use crate::login::secret::told_url;
use crate::render::engine::net;
use crate::rules::{Class, RenderWhen, SiteRules};
use crate::shortcut::book::KeptBook;
use crate::shortcut::endpoint::Difference;
use crate::shortcut::{Book, Endpoint, Event};
use crate::url::CrawlUrl;
use gather::{Asking, Failed, Found};
pub use in_place::render;
pub use learning::{Recording, lacks_data, observation, observe};

/// The name of the note that keeps what was learned.
pub const SHORTCUTS_NOTE: &str = "shortcuts";

/// Of what [`SHORTCUTS_NOTE`] holds: another is learned anew.
const VERSION: u32 = 3;

/// What is known of the classes of a site's pages.
pub struct Shortcuts(Mutex<Vec<Book>>);

/// What is kept over restarts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Note {
    version: u32,
    /// Under which rules it was learned: others may take other links.
    rules: u64,
    /// By the class's name.
    pub classes: BTreeMap<String, KeptBook>,
}

impl Note {
    /// Reads a note; one of another version, of other rules or that is broken is as none.
    #[must_use]
    pub fn read(note: &[u8], rules: &SiteRules) -> Option<Self> {
        let note: Self = serde_json::from_slice(note).ok()?;
        (note.version == VERSION && note.rules == rules.links_fingerprint()).then_some(note)
    }
}

impl Shortcuts {
    /// Nothing but what the rule file pins.
    #[must_use]
    pub fn new(rules: &SiteRules) -> Self {
        let book = |class: Class| {
            let mut book = if rules.learns_shortcuts(class) { Book::default() } else { Book::closed() };
            rules.shortcuts(class).for_each(|endpoint| book.pin(endpoint));
            book
        };
        Self(Mutex::new(Class::ALL.into_iter().map(book).collect()))
    }

    /// What is known of a class. Not to be held across an await.
    fn book<T>(&self, class: Class, what: impl FnOnce(&mut Book) -> T) -> Option<T> {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.get_mut(class as usize).map(what)
    }

    /// Takes up what was kept.
    pub fn take_up(&self, rules: &SiteRules, note: Option<&[u8]>) {
        let Some(mut note) = note.and_then(|note| Note::read(note, rules)) else { return };
        for class in Class::ALL {
            if let Some(kept) = note.classes.remove(class.name()) {
                self.book(class, |book| book.take_up(kept));
            }
        }
    }

    /// Pages that are to be visited again, as what they were visited by was wrong or may have been.
    #[must_use]
    pub fn again(&self) -> Vec<String> {
        let books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.iter().flat_map(Book::again).cloned().collect()
    }

    /// A crawl has nothing left: what was visited since endpoints were last borne out is checked. True where there is any.
    pub fn close(&self, site: &Site) -> bool {
        let close = |class: &Class| self.book(*class, |book| book.close(may_render(site, *class))) == Some(true);
        // Each of them.
        Class::ALL.iter().filter(|class| close(class)).count() > 0
    }

    /// These wait in the queue now.
    pub fn queued(&self, pages: &[String]) {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.iter_mut().filter(|book| !book.again().is_empty()).for_each(|book| book.queued(pages));
    }

    /// What is to be kept, as a note; `None` where nothing has changed, or where it is longer than notes may be.
    #[must_use]
    pub fn note(&self, rules: &SiteRules) -> Option<Vec<u8>> {
        let (mut is_changed, mut classes) = (false, BTreeMap::new());
        for class in Class::ALL {
            self.book(class, |book| {
                is_changed |= book.take_changed();
                let kept = book.to_keep();
                if kept != KeptBook::default() {
                    classes.insert(class.name().to_owned(), kept);
                }
            });
        }
        let note = Note { version: VERSION, rules: rules.links_fingerprint(), classes };
        let note = serde_json::to_vec(&note).unwrap_or_default();
        (is_changed && note.len() <= limits::NOTE_BYTES_MAX).then_some(note)
    }
}

/// What came of a visit by an endpoint.
pub enum Visited {
    /// There is none, or it does not hold: the page is asked for.
    No,
    /// The data are what they were.
    NotModified,
    Page(Box<Gathered>),
    /// The page keeps its place.
    KeptBack(String),
    /// Its server did not answer.
    Unanswered(String),
}

/// What an endpoint has brought.
pub struct Gathered {
    pub read: PageFindings,
    pub bytes: u64,
    pub detail: String,
    /// What the next visit remembers of the version of the data.
    pub memo: Option<Box<str>>,
}

/// Visits a page by what is known of its class, without asking for the page.
pub async fn visit(site: &Arc<Site>, job: &Job, errands: &Errands, is_watched: bool) -> Visited {
    let Some((endpoint, page)) = plan(site, job, false) else { return Visited::No };
    errands.lend_own(job.url.origin());
    let memo = job.lease.memo.as_deref().filter(|_| is_watched);
    let may_render = may_render(site, job.class);
    let asking = Asking { site, job, errands, endpoint: &endpoint, page: &page, html: "", may_render };
    let failed = match asking.gather(memo).await {
        Ok(found) => {
            errands.give_back(&job.url, site.clock.now());
            worked(site, job, &page, &found);
            let memo = found.memo.clone().filter(|_| is_watched);
            let (bytes, detail) = (found.bytes, found.detail());
            let read = read(site, job, found.links, &ResponseHeaders::default()).await;
            return Visited::Page(Box::new(Gathered { read, bytes, detail, memo }));
        }
        Err(failed) => failed,
    };
    match failed {
        Failed::NotModified => return Visited::NotModified,
        Failed::Trouble(why) if errands.trouble() == Trouble::KeptBack => return Visited::KeptBack(why),
        Failed::Trouble(why) => return Visited::Unanswered(why),
        Failed::Differs(difference) => differs(site, job, &page, difference),
        Failed::Unsure(why) => unsure(site, job, &why),
        Failed::Gone(status) => gone(site, job, &page, status),
    }
    match errands.renew_own(site, &job.url).await {
        Ok(()) => Visited::No,
        Err(why) => Visited::KeptBack(why),
    }
}

/// The same beside a page that was asked for, whose own links count or hold a token. `None` where it is to be rendered, or left as it is.
pub async fn beside(
    site: &Arc<Site>,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
    read_before: &PageFindings,
    errands: &Errands,
) -> Option<Made> {
    if read_before.nofollow {
        return None;
    }
    let (endpoint, page) = plan(site, job, true)?;
    errands.give_back(&job.url, site.clock.now());
    by_data(site, job, (headers, body), read_before, errands, (&endpoint, &page, may_render(site, job.class))).await
}

/// What an endpoint makes of a page that was asked for; `None` where it fails.
async fn by_data(
    site: &Arc<Site>,
    job: &Job,
    (headers, body): (&ResponseHeaders, &[u8]),
    read_before: &PageFindings,
    errands: &Errands,
    (endpoint, page, may_render): (&Endpoint, &Url, bool),
) -> Option<Made> {
    let own_charset = site.rules.charset.map(encoding_rs::Encoding::name);
    let (markup, ..) = charset::detect(headers.content_type.as_deref(), body, own_charset).decode(body);
    let asking = Asking { site, job, errands, endpoint, page, html: &markup, may_render };
    match asking.gather(None).await {
        Ok(found) => {
            worked(site, job, page, &found);
            let detail = found.detail();
            let mut made = read(site, job, found.links, headers).await;
            made.denied = read_before.denied.clone().filter(|_| made.found.is_empty() && made.magnets.is_empty());
            let gained = !made.found.is_empty() || !made.magnets.is_empty();
            made.add(read_before);
            return Some(Made { read: made, html: markup.into_owned(), detail, gained, nothing: None });
        }
        Err(Failed::Differs(difference)) => differs(site, job, page, difference),
        Err(Failed::Unsure(why)) => unsure(site, job, &why),
        Err(Failed::Gone(status)) => gone(site, job, page, status),
        Err(Failed::Trouble(_) | Failed::NotModified) => {}
    }
    None
}

fn plan(site: &Site, job: &Job, needs_page: bool) -> Option<(Arc<Endpoint>, Url)> {
    let page = job.url.to_url().ok()?;
    let may_render = may_render(site, job.class);
    let endpoint = site
        .shortcuts
        .book(job.class, |book| book.plan(&page, needs_page, may_render, site.clock.now().0))
        .flatten()?;
    Some((endpoint, page))
}

/// A render has left a page with more to show. True where what is known of its data goes on in another visit.
#[must_use]
pub fn goes_on(site: &Site, job: &Job) -> bool {
    job.url.to_url().is_ok_and(|page| site.shortcuts.book(job.class, |book| book.goes_on(&page)) == Some(true))
}

fn may_render(site: &Site, class: Class) -> bool {
    site.renderer.is_some() && site.rules.render(class) != RenderWhen::Never
}

fn differs(site: &Site, job: &Job, page: &Url, difference: Difference) {
    let told = told_difference(site, &difference);
    let may_render = may_render(site, job.class);
    let event =
        site.shortcuts.book(job.class, |book| book.differs(page, difference, may_render, site.clock.now().0)).flatten();
    match event {
        Some(Event::Failed(_)) => {
            let (site, class) = (&site.rules.name, job.class.name());
            tracing::warn!(%site, class, url = page.as_str(), why = told, "the pinned endpoint fails for this page: it is visited again once that works");
        }
        _ => tell_difference(site, job.class, page, &told),
    }
}

/// A difference in words; addresses of a member's pages may hold what is the member's alone.
fn told_difference(site: &Site, difference: &Difference) -> String {
    match difference {
        Difference::NotAsked(url) if site.account.is_some() => Difference::NotAsked(told_url(url)).to_string(),
        Difference::Lacks(url) if site.account.is_some() => Difference::Lacks(told_url(url)).to_string(),
        Difference::EndsEarly(url) if site.account.is_some() => Difference::EndsEarly(told_url(url)).to_string(),
        Difference::Invents(url) if site.account.is_some() => Difference::Invents(told_url(url)).to_string(),
        other => other.to_string(),
    }
}

fn tell_difference(site: &Site, class: Class, page: &Url, why: &str) {
    let site = &site.rules.name;
    tracing::warn!(%site, class = class.name(), url = page.as_str(), why, "the endpoint does not hold: pages are rendered again");
}

/// The page itself is to say whether it is gone; where many are, it is the endpoint that has moved.
fn gone(site: &Site, job: &Job, page: &Url, status: u16) {
    if site.shortcuts.book(job.class, |book| book.gone(page)) == Some(true) {
        differs(site, job, page, Difference::Status(status));
    }
}

fn worked(site: &Site, job: &Job, page: &Url, found: &Found) {
    site.shortcuts.book(job.class, |book| book.worked(page, found.is_end, found.began.0));
}

fn unsure(site: &Site, job: &Job, why: &str) {
    tracing::debug!(site = %site.rules.name, url = job.url.as_str(), why, "the data are not enough to go by: the page is asked for");
}

/// The findings of a page that has these links. Many are judged off the loop's thread.
async fn read(site: &Arc<Site>, job: &Job, links: Vec<String>, headers: &ResponseHeaders) -> PageFindings {
    let bytes: usize = links.iter().map(String::len).sum();
    let nothing = ("", encoding_rs::UTF_8);
    let mut read = if bytes <= limits::INLINE_PAGE_BYTES_MAX {
        outlinks::read_rendered(site, job, headers, nothing, &links)
    } else {
        let _turn = site.memory.parse().await;
        let (site, job, headers) = (Arc::clone(site), job.clone(), headers.clone());
        let reading =
            tokio::task::spawn_blocking(move || outlinks::read_rendered(&site, &job, &headers, nothing, &links));
        reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    };
    // There is no page that could show whose it is.
    read.denied = None;
    read
}

/// The text of an answer, in the charset that it names.
fn text_of(response: &net::Response, body: &[u8]) -> String {
    let encoding = charset::detect(response.header("content-type"), body, None);
    // JSON is UTF-8 whatever is said of it (RFC 8259 §8.1).
    match std::str::from_utf8(body) {
        Ok(text) => text.to_owned(),
        Err(_) => encoding.decode(body).0.into_owned(),
    }
}

fn headers_of(response: &net::Response) -> ResponseHeaders {
    let named = |name: &str| {
        let value = response.header(name).filter(|value| value.len() <= limits::VALIDATOR_BYTES_MAX);
        value.map(str::to_owned)
    };
    ResponseHeaders { etag: named("etag"), last_modified: named("last-modified"), ..ResponseHeaders::default() }
}

fn cookies(site: &Site, url: &CrawlUrl) -> Vec<(String, String)> {
    let pairs = site.transport.script_cookies(url).into_iter();
    pairs.filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::time::Duration;

    use bytes::Bytes;
    use tokio::sync::{Semaphore, watch};

    use super::*;
    use crate::clock::{SystemClock, UnixMillis};
    use crate::crawl::errands::{Bounds, Budget};
    use crate::crawl::hosts::{HostKeys, Hosts};
    use crate::crawl::version;
    use crate::crawldb::memory_store::MemoryStore;
    use crate::crawldb::{HostId, Lease, UrlKey};
    use crate::fetch::{Body, FetchFailure, Request, Resolution, Response, Transport};
    use crate::politeness::HostPolicy;
    use crate::url::Canonical;

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
        let rules = crate::rules::from_text("site", rules).unwrap();
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

    #[tokio::test]
    async fn data_of_a_known_version_are_not_sent_again_and_the_visit_has_one_request_by_its_own_connection() {
        let site = site();
        let url = CrawlUrl::parse("http://site.example/list?page=2", &Canonical::default()).unwrap();
        let key = UrlKey { host: HostId(1), path: "/list?page=2".into() };
        let lease =
            Lease { key, depth: 0, rank: 0, attempts: 0, via: None, memo: None, deadline: UnixMillis(0), found: None };
        let mut job = Job { lease, url, class: Class::Index, rule: 0, crew: crate::frontier::crews::Crew::History };
        let first = errands(&site);
        let Visited::Page(gathered) = visit(&site, &job, &first, true).await else { panic!("the data are there") };
        let found: Vec<&str> = gathered.read.found.iter().map(|found| found.url.as_str()).collect();
        assert_eq!(found, ["http://site.example/t/5", "http://site.example/t/6"]);
        assert!(gathered.read.listing.is_some() && first.take_own().is_none());
        assert_eq!(first.sent.load(std::sync::atomic::Ordering::Relaxed), 0, "the visit itself is counted elsewhere");
        job.lease.memo = gathered.memo;
        assert!(matches!(visit(&site, &job, &errands(&site), true).await, Visited::NotModified));
        // The page's own version is none of its data's.
        assert_eq!(version::read(job.lease.memo.as_deref().unwrap(), site.rules_token), None);
        assert!(matches!(visit(&site, &job, &errands(&site), false).await, Visited::Page(_)));
    }

    /// A list of 7 pages of data, of which each takes more than a minute.
    struct Slow {
        now_ms: AtomicU64,
        asked: Mutex<Vec<String>>,
    }

    impl crate::clock::Clock for Arc<Slow> {
        fn now(&self) -> UnixMillis {
            UnixMillis(self.now_ms.load(Ordering::Relaxed))
        }
    }

    #[async_trait::async_trait]
    impl Transport for Arc<Slow> {
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
        let rules = crate::rules::from_text("site", rules).unwrap();
        let slow = Arc::new(Slow { now_ms: AtomicU64::new(1_790_000_000_000), asked: Mutex::default() });
        let clock = Arc::new(Arc::clone(&slow));
        let site = Site::new(rules, Arc::new(Arc::clone(&slow)), clock, Arc::new(MemoryStore::default()));
        let site = Arc::new(site);
        let url = CrawlUrl::parse("http://site.example/list", &Canonical::default()).unwrap();
        let key = UrlKey { host: HostId(1), path: "/list".into() };
        let lease =
            Lease { key, depth: 0, rank: 0, attempts: 0, via: None, memo: None, deadline: UnixMillis(0), found: None };
        let job = Job { lease, url, class: Class::Index, rule: 0, crew: crate::frontier::crews::Crew::History };
        let mut found = Vec::new();
        for visits in 1..=9 {
            let Visited::Page(gathered) = visit(&site, &job, &errands(&site), false).await else { panic!("no data") };
            found.extend(gathered.read.found.iter().map(|found| found.url.as_str().to_owned()));
            let again = site.shortcuts.again();
            if again.is_empty() {
                assert_eq!((visits, found.len()), (4, 18), "two requests each");
                assert_eq!(slow.asked.lock().unwrap().join(" "), "1 2 3 4 5 6 7");
                return;
            }
            assert_eq!(again, ["http://site.example/list"]);
            site.shortcuts.queued(&again);
        }
        panic!("it goes on for ever");
    }
}
