//! Data in place of renders (ALGORITHMS §5): the data of a class's pages are requested through the crawl's gate, as learned or as pinned in
//! the rule file, and their links are the page's.
//!
//! Connects the pure module `shortcut` with the visit. A page is visited by an endpoint if one matches its address, unless a render is
//! due that checks it; if the endpoint fails, the same visit continues like any other.

mod gather;
mod learning;
mod recorded;

use std::sync::Arc;

use url::Url;

use super::errands::Trouble;
use super::page::{End, Gathered, Made, NoPage, PageVisit, SentPage};
use super::shared::Scripts;
use crate::job::{Job, PageFindings};
use crate::limits;
use gather::{Asking, Failed, Found};
use gleaner_base::url::CrawlUrl;
use gleaner_login::secret::told_url;
use gleaner_net::fetch::{ResponseHeaders, charset};
use gleaner_page::shortcut::endpoint::Difference;
use gleaner_page::shortcut::{Endpoint, Event};
use gleaner_render::wire as net;
use gleaner_rules::Class;
pub use learning::{Recording, lacks_data, teach};
pub use recorded::Recorded;

/// Visits a page by what is known of its class, without requesting the page. The server's validators for the data are used
/// if it `is_watched`.
pub async fn visit(of: PageVisit<'_>, is_watched: bool) -> End {
    let PageVisit { scripts, job, errands } = of;
    let Some((endpoint, page)) = plan(scripts, job, false) else {
        let is_pinned = |page: Url| scripts.rules.shortcuts(job.class).any(|endpoint| endpoint.covers(&page));
        if !scripts.may_render(job.class) && job.url.to_url().is_ok_and(is_pinned) {
            errands.not_whole.tell("the request that brings its data has failed for pages like it");
        }
        return End::AsSent;
    };
    errands.lend_own(job.url.origin());
    let memo = job.lease.memo.as_deref().filter(|_| is_watched);
    let may_render = scripts.may_render(job.class);
    let asking = Asking { of, endpoint: &endpoint, page: &page, html: "", may_render, is_alone: true };
    match asking.gather(memo).await {
        Ok(found) => {
            errands.give_back(&job.url, scripts.clock.now());
            worked(scripts, job, &page, &found);
            let memo = found.memo.clone().filter(|_| is_watched);
            let (bytes, detail) = (found.bytes, found.detail());
            let read = read(scripts, job, found.links, &ResponseHeaders::default()).await;
            return End::Data(Box::new(Gathered { read, bytes, detail, memo }));
        }
        Err(Failed::NotModified) => return End::NoPage(NoPage::NotModified),
        Err(Failed::Trouble(why)) if errands.trouble() == Trouble::KeptBack => return End::kept_back(why),
        Err(Failed::Trouble(why)) => return End::NoPage(NoPage::Unanswered(why)),
        Err(failed) => {
            // The page itself is what is left, and no script will fill it.
            let is_gone = matches!(failed, Failed::Gone(_)) && job.class.is_target();
            if !may_render && !is_gone {
                errands
                    .not_whole
                    .tell(&format!("the request that brings its data failed: {}", told_failed(scripts, &failed)));
            }
            does_not_hold(scripts, job, &page, failed);
        }
    }
    match errands.renew_own(scripts, &job.url).await {
        Ok(()) => End::AsSent,
        Err(why) => End::kept_back(why),
    }
}

/// The same in addition to a fetched page, whose own links count or contain a token. `None` if it is to be rendered, or left as it is.
pub async fn beside(of: PageVisit<'_>, sent: SentPage<'_>) -> Option<Made> {
    let PageVisit { scripts, job, errands } = of;
    if sent.read.nofollow {
        return None;
    }
    let (endpoint, page) = plan(scripts, job, true)?;
    errands.give_back(&job.url, scripts.clock.now());
    by_data(of, sent, (&endpoint, &page, scripts.may_render(job.class))).await
}

/// The result of an endpoint for a fetched page; `None` if it fails.
pub async fn by_data(
    of: PageVisit<'_>,
    SentPage { headers, body, read: read_before }: SentPage<'_>,
    (endpoint, page, may_render): (&Arc<Endpoint>, &Url, bool),
) -> Option<Made> {
    let PageVisit { scripts, job, .. } = of;
    let own_charset = scripts.rules.charset.map(encoding_rs::Encoding::name);
    let (markup, ..) = charset::detect(headers.content_type.as_deref(), body, own_charset).decode(body);
    let asking = Asking { of, endpoint, page, html: &markup, may_render, is_alone: false };
    match asking.gather(None).await {
        Ok(found) => {
            worked(scripts, job, page, &found);
            let detail = found.detail();
            let mut made = read(scripts, job, found.links, headers).await;
            made.denied = read_before.denied.clone().filter(|_| made.found.is_empty() && made.magnets.is_empty());
            let gained = !made.found.is_empty() || !made.magnets.is_empty();
            made.add(read_before);
            return Some(Made { read: made, html: markup.into_owned(), detail, gained, nothing: None });
        }
        Err(failed) => does_not_hold(scripts, job, page, failed),
    }
    None
}

/// Records that an endpoint does not match a page. Network trouble says nothing of it.
fn does_not_hold(scripts: &Scripts, job: &Job, page: &Url, failed: Failed) {
    match failed {
        Failed::Differs(difference) => differs(scripts, job, page, difference),
        Failed::Unsure(why) => {
            let (site, url) = (&scripts.rules.name, job.url.as_str());
            tracing::debug!(%site, url, why, "the data are not sufficient: the page is requested");
        }
        // The page itself must show whether it is gone; if many are, the endpoint has moved.
        Failed::Gone(status) if scripts.shortcuts.book(job.class, |book| book.gone(page)) == Some(true) => {
            differs(scripts, job, page, Difference::Status(status));
        }
        Failed::Gone(_) | Failed::Trouble(_) | Failed::NotModified => {}
    }
}

fn told_failed(scripts: &Scripts, failed: &Failed) -> String {
    match failed {
        Failed::Differs(difference) => told_difference(scripts, difference),
        Failed::Unsure(why) | Failed::Trouble(why) => why.to_string(),
        Failed::Gone(status) => format!("status {status}"),
        Failed::NotModified => "not modified".to_owned(),
    }
}

/// False if no endpoint is known for the class: most sites have none.
pub(super) fn has_any(scripts: &Scripts, job: &Job) -> bool {
    scripts.shortcuts.book(job.class, |book| !book.is_empty()) == Some(true)
}

fn plan(scripts: &Scripts, job: &Job, needs_page: bool) -> Option<(Arc<Endpoint>, Url)> {
    if !has_any(scripts, job) {
        return None;
    }
    let page = job.url.to_url().ok()?;
    let may_render = scripts.may_render(job.class);
    let endpoint = scripts
        .shortcuts
        .book(job.class, |book| book.plan(&page, needs_page, may_render, scripts.clock.now().0))
        .flatten()?;
    Some((endpoint, page))
}

/// A render has left a page with more to show. True if what is known of its data continues in another visit.
#[must_use]
pub fn goes_on(scripts: &Scripts, job: &Job) -> bool {
    job.url.to_url().is_ok_and(|page| scripts.shortcuts.book(job.class, |book| book.goes_on(&page)) == Some(true))
}

fn differs(scripts: &Scripts, job: &Job, page: &Url, difference: Difference) {
    let told = told_difference(scripts, &difference);
    let may_render = scripts.may_render(job.class);
    let event = scripts
        .shortcuts
        .book(job.class, |book| book.differs(page, difference, may_render, scripts.clock.now().0))
        .flatten();
    match event {
        Some(Event::Failed(_)) => {
            let (site, class) = (&scripts.rules.name, job.class.name());
            tracing::warn!(%site, class, url = page.as_str(), why = told, "the pinned endpoint fails for this page: it is visited \
                again once the endpoint works");
        }
        _ => tell_difference(scripts, job.class, page, &told),
    }
}

/// A difference in words; addresses of a member's pages may contain the member's secrets.
fn told_difference(scripts: &Scripts, difference: &Difference) -> String {
    match difference {
        Difference::NotAsked(url) if scripts.is_members => Difference::NotAsked(told_url(url)).to_string(),
        Difference::Lacks(url) if scripts.is_members => Difference::Lacks(told_url(url)).to_string(),
        Difference::EndsEarly(url) if scripts.is_members => Difference::EndsEarly(told_url(url)).to_string(),
        Difference::Invents(url) if scripts.is_members => Difference::Invents(told_url(url)).to_string(),
        other => other.to_string(),
    }
}

fn tell_difference(scripts: &Scripts, class: Class, page: &Url, why: &str) {
    let site = &scripts.rules.name;
    tracing::warn!(%site, class = class.name(), url = page.as_str(), why, "the endpoint no longer works: pages are rendered again");
}

fn worked(scripts: &Scripts, job: &Job, page: &Url, found: &Found) {
    scripts.shortcuts.book(job.class, |book| book.worked(page, found.is_end, found.began.0));
}

/// The findings of a page with these links.
async fn read(scripts: &Scripts, job: &Job, links: Vec<String>, headers: &ResponseHeaders) -> PageFindings {
    let (mut read, _) = scripts.read_document(job, headers, (String::new(), encoding_rs::UTF_8), links).await;
    // There is no page that could show whose it is.
    read.denied = None;
    read
}

/// The text of a response, in the charset that it names.
fn text_of(response: &net::Response, body: &[u8]) -> String {
    let encoding = charset::detect(response.header("content-type"), body, None);
    // JSON is UTF-8, whatever its header says (RFC 8259 §8.1).
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

fn cookies(scripts: &Scripts, url: &CrawlUrl) -> Vec<(String, String)> {
    let pairs = scripts.transport.script_cookies(url).into_iter();
    pairs.filter_map(|pair| pair.split_once('=').map(|(name, value)| (name.to_owned(), value.to_owned()))).collect()
}

#[cfg(test)]
mod tests;
