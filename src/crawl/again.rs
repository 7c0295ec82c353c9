//! One more reading of a page that showed nothing, in the same visit: where it wanted to be loaded anew behind a cookie that it set (age
//! gates, checks of a browser), and where other pages of its origin have left something in their storages that it may want.
//!
//! Pages are run with empty storages first, as a reader's first visit is, until a page has shown something by what others left. What they
//! leave stays in memory, is never written down or logged, and ends with the crawl.

use std::collections::{BTreeMap, HashSet};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::errands::{Answering, Errands};
use super::outlinks::{self, PageFindings};
use super::rendering::addresses;
use super::site::Site;
use super::visit::Job;
use crate::limits;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::charset;
use gleaner_render::children::Host as _;
use gleaner_render::wire::{Asker, Outcome, Page, Request, Stored};

/// What scripts of a site keep, by origin.
#[derive(Default)]
pub struct Storages(Mutex<BTreeMap<String, Kept>>);

#[derive(Default)]
struct Kept {
    stored: Stored,
    /// A page has shown something by it.
    pays: bool,
}

impl Storages {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Kept>> {
        // Each entry is whole between calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What a page of the origin begins with.
    #[must_use]
    pub fn given(&self, origin: &str) -> Stored {
        self.all().get(origin).filter(|kept| kept.pays).map(|kept| kept.stored.clone()).unwrap_or_default()
    }

    /// Adds what a page has left. Gives all of it.
    fn leave(&self, origin: &str, left: &Stored) -> Stored {
        let mut all = self.all();
        let has_room = all.contains_key(origin) || all.len() < limits::RENDER_STORED_ORIGINS_MAX;
        if !has_room || left.is_empty() {
            return all.get(origin).map(|kept| kept.stored.clone()).unwrap_or_default();
        }
        let kept = all.entry(origin.to_owned()).or_default();
        let mut stored = kept.stored.clone();
        put_all(&mut stored.local, &left.local);
        put_all(&mut stored.session, &left.session);
        if stored.bytes() > 2 * limits::RENDER_STORED_BYTES_MAX {
            stored = left.clone();
        }
        // A child tells no more than that.
        if stored.bytes() <= 2 * limits::RENDER_STORED_BYTES_MAX {
            kept.stored = stored;
        }
        kept.stored.clone()
    }

    /// What was left is of no use any more.
    fn forget(&self, origin: &str) {
        self.all().remove(origin);
    }

    fn pays(&self, origin: &str) {
        if let Some(kept) = self.all().get_mut(origin) {
            kept.pays = true;
        }
    }
}

fn put_all(pairs: &mut Vec<(String, String)>, more: &[(String, String)]) {
    for (key, value) in more {
        match pairs.iter_mut().find(|(known, _)| known == key) {
            Some(pair) => pair.1.clone_from(value),
            None => pairs.push((key.clone(), value.clone())),
        }
    }
}

/// The page as it is to be run once more; `None` where it has shown something, or would be the same again.
pub async fn page(
    site: &Site,
    job: &Job,
    errands: &Errands,
    ran: &Page,
    (outcome, was_refused): (&Outcome, bool),
    read: &PageFindings,
) -> Option<Page> {
    let origin = job.url.origin();
    let all = site.storages.leave(origin, &outcome.stored);
    if shows_more(site, job, outcome, read) {
        return None;
    }
    let cookies = site.transport.script_cookies(&job.url);
    let has_changed = cookies != ran.cookies || outcome.stored != ran.stored;
    if has_changed && outcome.navigations.iter().any(|one| one.method == "GET" && is_own(&one.url, &job.url)) {
        let markup = fetched_again(site, job, errands).await?;
        return Some(Page { cookies, stored: all, ..ran.clone() }.with_markup(&markup));
    }
    // What was left may be a session that is over.
    if !ran.stored.is_empty() && was_refused {
        site.storages.forget(origin);
        return Some(Page { cookies, stored: Stored::default(), ..ran.clone() });
    }
    (ran.stored.is_empty() && !all.is_empty() && all != outcome.stored).then(|| Page {
        cookies,
        stored: all,
        ..ran.clone()
    })
}

/// The page was run once more.
pub fn worked(site: &Site, job: &Job, ran: &Page, outcome: &Outcome, read: &PageFindings) {
    let origin = job.url.origin();
    site.storages.leave(origin, &outcome.stored);
    if !ran.stored.is_empty() && shows_more(site, job, outcome, read) {
        site.storages.pays(origin);
    }
}

/// Whether scripts have made a link that the page had not.
fn shows_more(site: &Site, job: &Job, outcome: &Outcome, read: &PageFindings) -> bool {
    let known: HashSet<&str> = read.found.iter().map(|found| found.url.as_str()).collect();
    let is_new = |address: &String| {
        let url = CrawlUrl::parse(address, &site.rules.canonical).ok();
        let found = url.and_then(|url| outlinks::judge(site, url).ok());
        found.map_or_else(|| address.starts_with("magnet:"), |found| !known.contains(found.url.as_str()))
    };
    addresses(outcome).iter().filter(|address| !is_own(address, &job.url)).any(is_new)
}

/// Whether an address is the page's own, be it written with an empty query.
pub(super) fn is_own(address: &str, page: &CrawlUrl) -> bool {
    let bare = |address: &str| address.split('#').next().unwrap_or_default().trim_end_matches('?').to_owned();
    let parsed = CrawlUrl::parse(address, &Canonical::default());
    parsed.is_ok_and(|url| bare(url.as_str()) == bare(page.as_str()))
}

/// The page as its server sends it now, as text.
async fn fetched_again(site: &Site, job: &Job, errands: &Errands) -> Option<String> {
    let request = Request {
        asker: Asker::Fetch,
        method: "GET".to_owned(),
        url: job.url.as_str().to_owned(),
        headers: vec![("accept".to_owned(), "text/html,application/xhtml+xml,*/*;q=0.8".to_owned())],
        credentials: true,
        body: Vec::new(),
    };
    let answer = Answering { site, errands, page: &job.url }.answer(request).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    let own_charset = site.rules.charset.map(encoding_rs::Encoding::name);
    let encoding = charset::detect(answer.header("content-type"), &answer.body, own_charset);
    Some(encoding.decode(&answer.body).0.into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(key: &str, bytes: usize) -> Stored {
        Stored { local: vec![(key.to_owned(), "x".repeat(bytes))], session: Vec::new() }
    }

    #[test]
    fn what_pages_leave_is_added_up_bounded_and_given_only_once_it_has_paid() {
        let storages = Storages::default();
        storages.leave("https://a.example", &stored("one", 3));
        assert_eq!(storages.leave("https://a.example", &stored("two", 3)).local.len(), 2);
        assert!(storages.given("https://a.example").is_empty());
        storages.pays("https://a.example");
        assert_eq!(storages.given("https://a.example").local.len(), 2);
        assert_eq!(
            storages.leave("https://a.example", &stored("much", 3 * limits::RENDER_STORED_BYTES_MAX)).local.len(),
            2
        );
        for number in 0..limits::RENDER_STORED_ORIGINS_MAX + 9 {
            storages.leave(&format!("https://{number}.example"), &stored("one", 1));
        }
        assert_eq!(storages.all().len(), limits::RENDER_STORED_ORIGINS_MAX);
        assert!(!format!("{:?}", stored("token", 9)).contains("token"), "it may be a secret");
        storages.forget("https://a.example");
        assert!(storages.given("https://a.example").is_empty());
    }

    #[test]
    fn an_address_is_the_pages_own_with_an_empty_query_or_a_fragment() {
        let page = CrawlUrl::parse("http://site.example/", &Canonical::default()).unwrap();
        assert!(
            ["http://site.example/?", "http://site.example/#a", "http://site.example"]
                .iter()
                .all(|url| is_own(url, &page))
        );
        assert!(["http://site.example/?page=1", "http://other.example/"].iter().all(|url| !is_own(url, &page)));
    }
}
