//! Second run of a page that showed nothing, in the same visit: if it set a cookie and wanted to be reloaded (age
//! gates, browser checks), or if other pages of its origin have left data in their storages that it may need.
//!
//! Pages are run with empty storages first, like a reader's first visit, until a page has shown something with data that others left.

use std::collections::HashSet;

use super::page::PageVisit;
use crate::job::PageFindings;
use crate::judging::judge;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_net::fetch::charset;
use gleaner_page::encoded_links::{self, Decoded};
use gleaner_render::children::Host as _;
use gleaner_render::wire::{Asker, Outcome, Page, Request, Stored};

/// The page as it is to be run once more; `None` if it has shown something, or would be the same again.
pub async fn page(
    of: PageVisit<'_>,
    ran: &Page,
    (outcome, was_refused): (&Outcome, bool),
    read: &PageFindings,
) -> Option<Page> {
    let PageVisit { scripts, job, .. } = of;
    let origin = job.url.origin();
    let all = scripts.storages.leave(origin, &outcome.stored);
    if shows_more(of, outcome, read) {
        return None;
    }
    let cookies = scripts.transport.script_cookies(&job.url);
    let has_changed = cookies != ran.cookies || outcome.stored != ran.stored;
    if has_changed && outcome.navigations.iter().any(|one| one.method == "GET" && is_own(&one.url, &job.url)) {
        let markup = fetched_again(of).await?;
        return Some(Page { cookies, stored: all, ..ran.clone() }.with_markup(&markup));
    }
    // What was left may be an expired session.
    if !ran.stored.is_empty() && was_refused {
        scripts.storages.forget(origin);
        return Some(Page { cookies, stored: Stored::default(), ..ran.clone() });
    }
    (ran.stored.is_empty() && !all.is_empty() && all != outcome.stored).then(|| Page {
        cookies,
        stored: all,
        ..ran.clone()
    })
}

/// The page was run once more.
pub fn worked(of: PageVisit<'_>, ran: &Page, outcome: &Outcome, read: &PageFindings) {
    let (storages, origin) = (&of.scripts.storages, of.job.url.origin());
    storages.leave(origin, &outcome.stored);
    if !ran.stored.is_empty() && shows_more(of, outcome, read) {
        storages.pays(origin);
    }
}

/// Whether scripts have made a link that the page had not.
fn shows_more(of: PageVisit<'_>, outcome: &Outcome, read: &PageFindings) -> bool {
    let known: HashSet<&str> = read.found.iter().map(|found| found.url.as_str()).collect();
    let is_new = |address: &String| {
        let url = CrawlUrl::parse(address, &of.scripts.rules.canonical).ok();
        let found = url.and_then(|url| judge(&of.scripts.rules, url).ok());
        found.map_or_else(|| address.starts_with("magnet:"), |found| !known.contains(found.url.as_str()))
    };
    addresses(outcome).iter().filter(|address| !is_own(address, &of.job.url)).any(is_new)
}

/// Whether an address is the page's own, even if written with an empty query.
pub(super) fn is_own(address: &str, page: &CrawlUrl) -> bool {
    let bare = |address: &str| address.split('#').next().unwrap_or_default().trim_end_matches('?').to_owned();
    let parsed = CrawlUrl::parse(address, &Canonical::default());
    parsed.is_ok_and(|url| bare(url.as_str()) == bare(page.as_str()))
}

/// The page as its server sends it now, as text.
async fn fetched_again(of: PageVisit<'_>) -> Option<String> {
    let request = Request {
        asker: Asker::Fetch,
        method: "GET".to_owned(),
        url: of.job.url.as_str().to_owned(),
        headers: vec![("accept".to_owned(), "text/html,application/xhtml+xml,*/*;q=0.8".to_owned())],
        credentials: true,
        body: Vec::new(),
    };
    let answer = of.answering().answer(request).await.ok()?;
    if answer.status != 200 {
        return None;
    }
    let own_charset = of.scripts.rules.charset.map(encoding_rs::Encoding::name);
    let encoding = charset::detect(answer.header("content-type"), &answer.body, own_charset);
    Some(encoding.decode(&answer.body).0.into_owned())
}

/// Addresses that the document's markup does not contain: links of earlier states and of shadow trees, and targets of clicks.
pub(super) fn addresses(outcome: &Outcome) -> Vec<String> {
    let links = outcome.states.iter().flat_map(|state| state.links.iter().map(|link| link.url.clone()));
    let found =
        outcome.states.iter().flat_map(|state| &state.found).filter_map(|link| match encoded_links::decode(link) {
            Ok(Decoded::Url(url)) => Some(url),
            Ok(Decoded::Magnet(link)) => Some(link),
            Ok(Decoded::Other(_)) | Err(_) => None,
        });
    let gone = outcome.navigations.iter().filter(|one| one.method == "GET").map(|one| one.url.clone());
    links.chain(found).chain(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

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
