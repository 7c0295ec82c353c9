//! Data in place of renders (ALGORITHMS §5): what was learned of a class's pages, or pinned in the rule file, is asked for through the
//! crawl's gate, and its links are the page's.
//!
//! Between the pure room `shortcut` and the visit. A page is visited by an endpoint where one holds for its address, unless a render is
//! due that checks it; where the endpoint does not hold, the same visit goes on as any other.

mod gather;
mod in_place;
mod learning;
mod recorded;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use url::Url;

use super::errands::{Errands, Trouble};
use super::outlinks::{self, PageFindings};
use super::rendering::Made;
use super::site::Site;
use super::visit::Job;
use crate::limits;
use gather::{Asking, Failed, Found};
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::told_url;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::shortcut::book::KeptBook;
use gleaner_page::shortcut::endpoint::Difference;
use gleaner_page::shortcut::{Book, Endpoint, Event};
use gleaner_render::wire as net;
use gleaner_rules::{Class, RenderWhen, SiteRules};
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
    let asking = Asking { site, job, errands, endpoint: &endpoint, page: &page, html: "", may_render, is_alone: true };
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
    (endpoint, page, may_render): (&Arc<Endpoint>, &Url, bool),
) -> Option<Made> {
    let own_charset = site.rules.charset.map(encoding_rs::Encoding::name);
    let (markup, ..) = charset::detect(headers.content_type.as_deref(), body, own_charset).decode(body);
    let asking = Asking { site, job, errands, endpoint, page, html: &markup, may_render, is_alone: false };
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
mod tests;
