//! One visit of a URL: `ask → body → read → scripts → settle`. Read this file first.
//!
//! A visit touches neither database nor archive: it returns everything that is to be committed together.

mod ask;
mod body;
mod ends;
mod read;
mod settle;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt as _;
use tokio::time::Instant;

use crate::fresh::changed::Reading;
use crate::fresh::look;
use crate::job::{Finished, Job, PageFindings};
use crate::not_whole;
use crate::scripts::errands::Errands;
use crate::scripts::{self, End, PageVisit, SentPage};
use crate::site::Site;
use crate::version;
use ask::Answer;
use body::{Body, Page};
use ends::{looking, not_modified, retried, without_page};
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::Response;
use gleaner_net::politeness::Answered;
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Outcome};
use settle::PageContent;

pub use ends::put_aside;
pub(super) use ends::{is_front, is_watched};

/// [`visit`], with its panics caught: a bug that one page triggers ends neither other sites nor the process, and does not recur at
/// each start.
pub async fn guarded(
    site: &Arc<Site>,
    job: Job,
    mirror: Option<CrawlUrl>,
    errands: Option<&Errands>,
) -> Result<Finished, CrawlDbError> {
    let kept = job.clone();
    // Pinned on the heap, where it is moved no more: it holds kilobytes. State that visits share stays usable after a panic: each of its
    // locks ignores poisoning.
    let visit = Box::pin(visit(site, job, mirror, errands));
    let panic = match AssertUnwindSafe(visit).catch_unwind().await {
        Ok(ended) => {
            let mut finished = ended?;
            let why = errands.and_then(|errands| errands.not_whole.take());
            let why = finished.visit.not_whole.take().or(why);
            finished.visit.not_whole =
                why.or_else(|| not_whole::of_end(&finished.visit, finished.job.class, finished.detail.as_deref()));
            return Ok(finished);
        }
        Err(panic) => panic,
    };
    let (name, url, why) = (&site.rules.name, kept.url.as_str(), panic_text(&*panic));
    tracing::error!(site = %name, url, why, "the visit failed through a bug in gleaner: the URL is retried later");
    let mut finished =
        retried(site, &kept, Outcome::ProtocolError, Some(format!("the visit failed through a bug in gleaner: {why}")));
    // The panic is not the server's fault.
    finished.host.answered = Answered::Reached;
    Ok(finished)
}

/// The message of a panic.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a message")
}

/// Visits one URL, at a mirror if one is given. Every visit ends with an outcome; errors come from the crawl database only.
///
/// `errands` sends the requests of the page's scripts through the politeness gate; without it no scripts are run.
pub async fn visit(
    site: &Arc<Site>,
    job: Job,
    mirror: Option<CrawlUrl>,
    errands: Option<&Errands>,
) -> Result<Finished, CrawlDbError> {
    // If the request that returns the page's data is known, it is sent in place of the page's own.
    if let Some(errands) = errands.filter(|_| mirror.is_none() && !job.was_read) {
        let of = PageVisit { scripts: &site.scripts, job: &job, errands };
        match scripts::in_place_of(of, is_watched(site, &job)).await {
            End::AsSent | End::Made(_) => {}
            End::Data(gathered) => return settle::by_data(site, &job, *gathered).await,
            End::NoPage(why) => return Ok(without_page(site, &job, why)),
        }
    }
    let began = Instant::now();
    let (answer, denied) = ask::ask(site, &job, mirror.as_ref()).await;
    let answered_in = began.elapsed();
    let is_watched = is_watched(site, &job);
    let mut finished = match answer {
        Answer::End(finished) => *finished,
        Answer::Moved(found) => settle::redirected(site, &job, found, mirror.is_some()).await?,
        Answer::Body(response) => {
            answered(site, &job, (*response, began), errands, is_watched && mirror.is_none()).await?
        }
    };
    finished.timing.fetch.get_or_insert(answered_in);
    finished.end.denied = finished.end.denied.or(denied);
    if finished.visit.outcome == Outcome::NotModified {
        finished.end.seen = look::again(looking(site, &job, finished.visit.at), is_watched).await?;
    }
    Ok(finished)
}

/// A response with a body, to a request that began then. `again` is true for a recheck.
async fn answered(
    site: &Arc<Site>,
    job: &Job,
    (response, began): (Response, Instant),
    errands: Option<&Errands>,
    again: bool,
) -> Result<Finished, CrawlDbError> {
    let headers = again.then(|| response.headers.clone());
    let body = body::read(site, job, response).await;
    let fetch = began.elapsed();
    let mut finished = match body {
        Body::End(finished) => *finished,
        Body::Torrent(bytes, broke_off) => settle::torrent(site, job, bytes, broke_off).await,
        Body::Page(sent) if job.class == Class::Sitemap => page(site, job, *sent, None, false).await?,
        Body::Page(sent) => page(site, job, *sent, errands, again).await?,
    };
    finished.timing.fetch = Some(fetch);
    // A truncated body was not read, so its retry must not be answered with 304 Not Modified.
    // Nor may a page that its scripts build: its shell stays the same while its list grows.
    if let Some(headers) = headers {
        let print = finished.end.print.map(|print| print.line());
        let memo = version::memo(&headers, site.rules_token, print.as_deref());
        finished.visit.memo = memo.filter(|_| finished.host.answered == Answered::Well && !finished.end.is_rendered);
    }
    Ok(finished)
}

/// Reads a page: its links, checked by the rules, and what it lists. A page in place of a torrent is read as well: sites put notices
/// before the first download. A rechecked page that has not changed is not read.
async fn page(
    site: &Arc<Site>,
    job: &Job,
    sent: Page,
    errands: Option<&Errands>,
    again: bool,
) -> Result<Finished, CrawlDbError> {
    // The permit lasts until the links are rows, which the commit counts; a page that is rendered waits without one.
    let (reading, mut _turn) = read::read(site, job, &sent, again).await;
    let (read, print, board) = match reading {
        Reading::Unchanged(print) => {
            let mut finished = not_modified(site, job);
            finished.visit.body_bytes = sent.bytes.len() as u64;
            finished.end.print = Some(print);
            return Ok(finished);
        }
        Reading::Read(read, print, board) => (*read, print, board),
    };
    // Scripts of a page that breaks off see half of it.
    let Some(errands) = errands.filter(|_| !sent.is_cut) else {
        return settle::page(site, job, &sent, PageContent { read, print, board, made: None }).await;
    };
    // An unchanged shell proves nothing: its scripts may still load new links.
    let print = print.filter(|_| read.found.iter().any(|found| found.class.is_target()));
    if site.scripts.may_render(job.class) {
        _turn = None;
    }
    let shown = match with_scripts(site, job, &sent, &read, errands, again).await {
        End::Made(made) => {
            let made = *made;
            PageContent { read: made.read, print, board, made: Some((made.html, made.detail)) }
        }
        End::AsSent | End::Data(_) => PageContent { read, print, board, made: None },
        End::NoPage(why) => return Ok(without_page(site, job, why)),
    };
    settle::page(site, job, &sent, shown).await
}

async fn with_scripts(site: &Site, job: &Job, sent: &Page, read: &PageFindings, errands: &Errands, again: bool) -> End {
    let of = PageVisit { scripts: &site.scripts, job, errands };
    scripts::run(of, SentPage { headers: &sent.headers, body: &sent.bytes, read }, again).await
}

#[cfg(test)]
mod tests;
