//! One URL, straight down: fetch, classify, and what follows for a torrent, a page, a redirect or a fault. Read
//! this file first.
//!
//! A visit touches neither database nor archive: it returns everything that is to be committed together.

mod ends;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;

use super::errands::{Errands, Tiding, Trouble};
use super::fresh::changed::{self, Print, Reading};
use super::fresh::look::{self, Seen};
use super::fresh::{boards, gone};
use super::not_whole;
use super::outlinks::PageFindings;
use super::shortcut::{self, Gathered, Visited};
use super::site::{Found, Site};
use super::turn::{self, Turn};
use super::worth::Near;
use super::{denial, front, outlinks, rendering, repeats, version};
use crate::freshness::gone::Gone;
use crate::frontier::budgets::LinkTally;
use crate::frontier::crews::Crew;
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::classify::{Classifier, Decision, DiscardReason, HeaderFacts};
use gleaner_net::fetch::body::{self, Read, Want};
use gleaner_net::fetch::{Request, Response, ResponseHeaders};
use gleaner_net::politeness::Answered;
use gleaner_rules::Class;
use gleaner_store::crawldb::update::UpdateRow;
use gleaner_store::crawldb::{CrawlDbError, Discovered, Lease, Next, Outcome, TorrentFacts, Visit, faults};
use gleaner_torrent::metainfo::{self, MetainfoError};

pub use ends::put_aside;
use ends::{asked_again, done, elsewhere, failed, is_worth_watching, kept_back, not_modified, retried, throttled};
pub(super) use ends::{is_behind_a_front, is_front, is_watched};

/// A visit with what the crawl needs beside it.
#[derive(Debug)]
pub struct Finished {
    pub visit: Visit,
    /// When its request began; `visit.at` is when it ended.
    pub began: UnixMillis,
    /// The torrent's file as it goes into the archive.
    pub torrent: Option<Bytes>,
    /// For the host's politeness.
    pub answered: Answered,
    /// What a log line says beyond the outcome's name.
    pub detail: Option<String>,
    pub class: Class,
    /// The place of the rule that took the URL, among the site's.
    pub rule: usize,
    /// First links of a page, for the budget of its shape.
    pub links: LinkTally,
    /// Where the site's account is due: a sign that this was an answer to a guest.
    pub denied: Option<String>,
    /// The session that it was sent with, by its number.
    pub session: u64,
    /// True for a page on which other rules may find what these did not: a list, or a page of a torrent without one.
    pub may_hold_more: bool,
    /// The page's scripts were run.
    pub is_rendered: bool,
    /// Requests that they made, and what hosts had to say of them.
    pub errands: u64,
    pub tidings: Vec<Tiding>,
    /// True for what is looked at again at the site's interval, whatever came of it: start pages, sitemaps, and the first
    /// page of every list.
    pub is_watched: bool,
    pub crew: Crew,
    /// Of the page's links, those that the increment crew follows; the others are `visit.outlinks`.
    pub news: Vec<UpdateRow>,
    /// What the page said, for the next look at it.
    pub print: Option<Print>,
    /// What a look at a list showed.
    pub seen: Seen,
    /// Since when the site has it no more, of a torrent's URL that ended so.
    pub gone: Option<Gone>,
    /// The place in its list of a page that was read.
    pub turn: Option<Turn>,
}

/// A leased URL that the rules still take.
#[derive(Clone, Debug)]
pub struct Job {
    pub lease: Lease,
    pub url: CrawlUrl,
    pub class: Class,
    /// The place of the rule that takes it, among the site's.
    pub rule: usize,
    pub crew: Crew,
}

impl Finished {
    /// Memory that the visit holds until it is committed, in bytes.
    #[must_use]
    pub fn held_bytes(&self) -> usize {
        let link =
            |link: &Discovered| link.key.path.len() + link.via.as_deref().map_or(0, str::len) + size_of_val(link);
        let of_news = |row: &UpdateRow| row.key.path.len() + row.via.as_deref().map_or(0, str::len) + size_of_val(row);
        let links = self.visit.outlinks.iter().map(link).sum::<usize>() + self.news.iter().map(of_news).sum::<usize>();
        self.torrent.as_ref().map_or(0, Bytes::len) + links
    }
}

/// [`visit`], of which a panic ends nothing but the visit: one page that finds a fault of ours takes no other site with it, and not
/// itself again and again at each start.
pub async fn guarded(
    site: &Arc<Site>,
    job: Job,
    mirror: Option<CrawlUrl>,
    errands: Option<&Errands>,
) -> Result<Finished, CrawlDbError> {
    let kept = job.clone();
    // What visits share stays usable behind a panic: each lock of it says so.
    let panic = match AssertUnwindSafe(visit(site, job, mirror, errands)).catch_unwind().await {
        Ok(ended) => {
            let mut finished = ended?;
            let why = errands.and_then(|errands| errands.not_whole.take());
            let why = finished.visit.not_whole.take().or(why);
            finished.visit.not_whole = why.or_else(|| not_whole::of_end(&finished.visit, finished.class));
            return Ok(finished);
        }
        Err(panic) => panic,
    };
    let (name, url, why) = (&site.rules.name, kept.url.as_str(), panic_text(&*panic));
    tracing::error!(site = %name, url, why, "the visit broke down, which is a fault of gleaner's own: the URL is tried again later");
    let mut finished = retried(site, &kept, Outcome::ProtocolError, Some(format!("the visit broke down: {why}")));
    // The server has nothing to do with it.
    finished.answered = Answered::Reached;
    Ok(finished)
}

/// What a panic says.
pub fn panic_text(panic: &(dyn std::any::Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("without a word")
}

/// Visits one URL, at a mirror where one is named. Every end has an outcome; an error is the crawl database's.
///
/// `errands` brings the gate for what the scripts of the page ask; without it none are run.
pub async fn visit(
    site: &Arc<Site>,
    job: Job,
    mirror: Option<CrawlUrl>,
    errands: Option<&Errands>,
) -> Result<Finished, CrawlDbError> {
    // Where it is known which request brings the page's data, that is asked for in its place.
    if let Some(errands) = errands.filter(|_| mirror.is_none()) {
        match shortcut::visit(site, &job, errands, is_watched(site, &job)).await {
            Visited::No => {}
            Visited::Page(gathered) => return by_endpoint(site, &job, *gathered).await,
            Visited::NotModified => return Ok(not_modified(site, &job)),
            Visited::KeptBack(why) => return Ok(kept_back(site, &job, why)),
            Visited::Unanswered(why) => return Ok(retried(site, &job, Outcome::Truncated, Some(why))),
        }
    }
    let url = mirror.as_ref().unwrap_or(&job.url);
    // Versions are a server's own, and links are taken anew where the rules have changed.
    let is_compared = mirror.is_none() && !site.fresh.boards.is_read_whole(job.url.as_str());
    let validators = job.lease.memo.as_deref().filter(|_| is_compared);
    let validators = validators.and_then(|memo| version::read(memo, site.rules_token));
    let response = match site.transport.send(Request { validators: validators.as_ref(), ..url.into() }).await {
        Ok(response) => response,
        Err(failure) => return Ok(failed(site, &job, &failure)),
    };
    let denied = denial::of_answer(site, &job, response.status, response.headers.location.as_deref());
    let mut finished = match response.status {
        200..=299 => {
            let is_asked_again = mirror.is_none() && is_watched(site, &job);
            let headers = is_asked_again.then(|| response.headers.clone());
            let mut finished = answered(site, &job, response, errands, is_asked_again).await?;
            // A body that broke off was not read: its retry must not be told that nothing has changed.
            // Nor was a page that its scripts build: its shell stays the same while its list grows.
            if let Some(headers) = headers {
                let print = finished.print.map(|print| print.line());
                let memo = version::memo(&headers, site.rules_token, print.as_deref());
                finished.visit.memo = memo.filter(|_| finished.answered == Answered::Well && !finished.is_rendered);
            }
            finished
        }
        304 if validators.is_none() => retried(site, &job, Outcome::ProtocolError, Some("304 unasked".to_owned())),
        304 => not_modified(site, &job),
        300..=399 => match redirect_target(site, &job, &response) {
            Hop::Itself | Hop::Refused | Hop::Nowhere if mirror.is_some() => {
                elsewhere(site, &job, Outcome::RedirectRefused)
            }
            Hop::Itself => asked_again(site, &job),
            Hop::To(found) if let Some(gone) = gone::of_redirect(site, &job, &found) => ended_gone(site, &job, gone),
            Hop::To(found) => redirected(site, &job, found, mirror.is_some()).await?,
            Hop::Refused => done(site, &job, Outcome::RedirectRefused),
            Hop::Nowhere => done(site, &job, Outcome::BadRedirect),
        },
        404 | 410 if mirror.is_some() => elsewhere(site, &job, Outcome::Gone),
        401 | 403 if mirror.is_some() => elsewhere(site, &job, Outcome::Denied),
        404 | 410 => {
            let gone = gone::of_status(site, &job, response.status, site.clock.now());
            ended_gone(site, &job, gone)
        }
        401 | 403 => done(site, &job, Outcome::Denied),
        429 | 503 => throttled(site, &job, &response),
        408 => retried(site, &job, Outcome::TimedOut, None),
        400..=499 if mirror.is_some() => elsewhere(site, &job, Outcome::ClientError),
        400..=499 => done(site, &job, Outcome::ClientError),
        500..=599 => retried(site, &job, Outcome::ServerError, None),
        _ => retried(site, &job, Outcome::ProtocolError, None),
    };
    finished.denied = finished.denied.or(denied);
    if finished.visit.outcome == Outcome::NotModified {
        finished.seen = look::again(site, &job, is_watched(site, &job), finished.visit.at).await?;
    }
    Ok(finished)
}

/// A URL that the site has no more.
fn ended_gone(site: &Site, job: &Job, gone: Gone) -> Finished {
    // What waits for this page of a list waits in vain.
    site.fresh.boards.end(job.url.as_str());
    Finished { gone: job.class.is_target().then_some(gone), ..done(site, job, Outcome::Gone) }
}

/// A response whose body is for us to judge, while it arrives. `again` for what is looked at again and again.
async fn answered(
    site: &Arc<Site>,
    job: &Job,
    response: Response,
    errands: Option<&Errands>,
    again: bool,
) -> Result<Finished, CrawlDbError> {
    let Response { headers, body, .. } = response;
    let mut classifier = Classifier::new(HeaderFacts {
        content_type: headers.content_type.as_deref(),
        disposition: headers.content_disposition.as_deref(),
        content_length: headers.content_length,
        accepts_pages: true,
    });
    let mut decision = Decision::NeedMore;
    let read = body::read(body, headers.content_length, &site.memory.bodies, |so_far, complete| {
        if decision == Decision::NeedMore {
            decision = classifier.feed(so_far, complete);
        }
        match decision {
            Decision::NeedMore => Want::UpTo(limits::TORRENT_JUNK_BYTES_MAX.max(limits::SNIFF_BYTES) * 2),
            Decision::Torrent => Want::UpTo(limits::TORRENT_BYTES_MAX),
            Decision::Page(_) | Decision::Discard(_) if job.class == Class::Sitemap => {
                Want::UpTo(limits::SITEMAP_BYTES_MAX)
            }
            Decision::Page(_) => Want::UpTo(limits::PAGE_BYTES_MAX),
            Decision::Discard(_) => Want::Stop,
        }
    })
    .await;
    Ok(match (read, decision) {
        (Read::Failed { failure, .. }, _) => failed(site, job, &failure),
        (Read::Stopped { over_cap: true, .. }, decision) => {
            let mut finished = done(site, job, Outcome::TooLarge);
            if matches!(decision, Decision::Page(_)) && job.class != Class::Download {
                finished.visit.not_whole =
                    Some(not_whole::reason("it is larger than is read of one page: none of its links were taken"));
            }
            finished
        }
        (Read::Whole(bytes), Decision::Torrent) => torrent(site, job, bytes).await,
        (Read::Whole(bytes), _) if job.class == Class::Sitemap => {
            return page(site, job, headers, bytes, None, false).await;
        }
        (Read::Whole(bytes), Decision::Page(_)) => return page(site, job, headers, bytes, errands, again).await,
        (Read::Whole(_) | Read::Stopped { .. }, Decision::Discard(reason)) => {
            let outcome = match reason {
                DiscardReason::HtmlPosingAsTorrent => Outcome::HtmlPosingAsTorrent,
                DiscardReason::TooLarge => Outcome::TooLarge,
                _ => Outcome::NotForUs,
            };
            let denied = denial::of_file(site, job, outcome);
            Finished { detail: Some(reason.name().to_owned()), denied, ..done(site, job, outcome) }
        }
        (Read::Whole(_) | Read::Stopped { .. }, _) => done(site, job, Outcome::NotForUs),
    })
}

/// A body that began like a torrent. A large one is read off the loop's thread.
async fn torrent(site: &Site, job: &Job, bytes: Bytes) -> Finished {
    let body_bytes = bytes.len() as u64;
    let read = if bytes.len() <= limits::INLINE_TORRENT_BYTES_MAX {
        read_torrent(&bytes)
    } else {
        let _turn = site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || read_torrent(&bytes));
        reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    };
    let mut finished = match read {
        Ok((facts, file)) => {
            let mut finished = done(site, job, Outcome::TorrentStored);
            finished.visit.torrent = Some(facts);
            finished.torrent = Some(file);
            finished
        }
        Err(error) => {
            let denied = denial::of_file(site, job, Outcome::MalformedTorrent);
            Finished { detail: Some(error.to_string()), denied, ..done(site, job, Outcome::MalformedTorrent) }
        }
    };
    finished.visit.body_bytes = body_bytes;
    finished
}

/// What a torrent is, and its file as the archive keeps it: without the junk around it.
fn read_torrent(bytes: &Bytes) -> Result<(TorrentFacts, Bytes), MetainfoError> {
    let metainfo = metainfo::parse(bytes)?;
    let sha256 = metainfo.dict_sha256(bytes);
    let file = bytes.slice(metainfo.dict.clone());
    let facts = TorrentFacts {
        infohashes: metainfo.infohashes,
        name: metainfo.name.into(),
        payload_bytes: metainfo.payload_bytes,
        file_count: metainfo.file_count,
        metainfo_bytes: u32::try_from(file.len()).unwrap_or(u32::MAX),
        sha256,
        created_unix: metainfo.created_unix,
        private: metainfo.private,
    };
    Ok((facts, file))
}

/// A page: its links, checked by the rules, and what it lists. A page where a torrent was due is read as well:
/// sites put notices before the first download. A large one is read off the loop's thread. One that is looked at again and is
/// as it was is not read.
async fn page(
    site: &Arc<Site>,
    job: &Job,
    headers: ResponseHeaders,
    bytes: Bytes,
    errands: Option<&Errands>,
    again: bool,
) -> Result<Finished, CrawlDbError> {
    let body_bytes = bytes.len() as u64;
    let markup = errands.is_some().then(|| (headers.clone(), bytes.clone()));
    let of_target = job.class.is_target().then(|| headers.clone());
    // The turn lasts until the links are rows, which the commit counts; a page that is rendered waits without one.
    let (reading, turn) = if bytes.len() <= limits::INLINE_PAGE_BYTES_MAX && job.class != Class::Sitemap {
        (reading(site, job, &headers, &bytes, again), None)
    } else {
        let turn = site.memory.parse().await;
        let (site, job, bytes) = (Arc::clone(site), job.clone(), bytes.clone());
        let reading = tokio::task::spawn_blocking(move || reading(&site, &job, &headers, &bytes, again));
        (reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())), turn)
    };
    let (mut read, print, board) = match reading {
        Reading::Unchanged(print) => {
            let mut finished = not_modified(site, job);
            finished.visit.body_bytes = body_bytes;
            finished.print = Some(print);
            return Ok(finished);
        }
        Reading::Read(read, print, board) => (*read, print, board),
    };
    // Where scripts may make the links, the page says nothing by staying as it was sent.
    let print = print.filter(|_| errands.is_none() || read.found.iter().any(|found| found.class.is_target()));
    let (mut rendered, mut _turn) = (None, turn);
    if let (Some(errands), Some((headers, bytes))) = (errands, markup) {
        if rendering::may_render(site, job) {
            _turn = None;
        }
        let made = match shortcut::beside(site, job, &headers, &bytes, &read, errands).await {
            Some(made) => Some(made),
            None => shortcut::render(site, job, &headers, &bytes, &read, errands).await,
        };
        let has_more = made.as_ref().is_some_and(|made| made.gained);
        match errands.trouble() {
            Trouble::KeptBack => {
                return Ok(kept_back(site, job, "requests of its scripts were kept back".to_owned()));
            }
            Trouble::NoProcess => {
                let mut finished = kept_back(site, job, "no process could be started for its scripts".to_owned());
                finished.visit.next = Next::WaitUntil(finished.visit.at.plus(limits::RENDER_NO_PROCESS_PAUSE));
                return Ok(finished);
            }
            trouble @ (Trouble::Empty | Trouble::Unanswered | Trouble::Died)
                if !has_more && faults(job.lease.attempts) + 1 < limits::ATTEMPTS_MAX =>
            {
                let what = match trouble {
                    Trouble::Died => "its render processes died",
                    Trouble::Empty => "it shows nothing after its scripts, as pages like it do",
                    _ => "requests of its scripts were not answered",
                };
                let mut finished = retried(site, job, Outcome::Truncated, Some(what.to_owned()));
                // The page itself came well.
                finished.answered = Answered::Well;
                return Ok(finished);
            }
            Trouble::Unanswered if !has_more => errands.not_whole.tell("requests of its scripts were not answered"),
            _ => {}
        }
        if let Some(made) = made {
            if let Some(nothing) = made.nothing {
                if let Some(why) = &nothing.why {
                    errands.not_whole.tell(&format!("it shows nothing after its scripts: {why}"));
                }
                rendering::tell_nothing(site, &job.url, nothing);
                // Its scripts may be mended by the next look.
                if again {
                    site.shelf.forget_scripts();
                }
            }
            read = made.read;
            rendered = Some((made.html, made.detail));
        }
    }
    let near = site.worth().look_at(job, rendered.as_ref().map_or(&bytes[..], |(html, _)| html.as_bytes()));
    let is_rendered = rendered.is_some();
    let absence = match of_target.filter(|_| !is_rendered) {
        Some(headers) => gone::of_page(site, job, &read, &headers, &bytes, site.clock.now()),
        None => gone::Look::Nothing,
    };
    // Of a page that its scripts made, the links are its rows.
    let board = board.filter(|_| !is_rendered).map(|board| *board);
    let mut finished = found_on(site, job, read, board, near, rendered.map(|(_, detail)| detail)).await?;
    finished.is_rendered = is_rendered;
    finished.visit.body_bytes = body_bytes;
    finished.print = print;
    gone::apply(absence, &mut finished);
    Ok(finished)
}

/// A page's links, unless it is as the last look left it.
fn reading(site: &Site, job: &Job, headers: &ResponseHeaders, bytes: &[u8], again: bool) -> Reading {
    let reading = if !again || job.class == Class::Sitemap {
        Reading::Read(Box::new(outlinks::read_page(site, job, headers, bytes)), None, None)
    } else {
        let memo = job.lease.memo.as_deref().filter(|_| !site.fresh.boards.is_read_whole(job.url.as_str()));
        let last = memo.and_then(|memo| version::print(memo, site.rules_token));
        changed::read(site, job, headers, bytes, last.and_then(Print::read))
    };
    match reading {
        Reading::Read(read, print, _) if look::has_rows(site, job, is_watched(site, job)) => {
            let board = boards::read(site, job, headers, bytes, site.clock.now());
            Reading::Read(read, print, board.map(Box::new))
        }
        reading => reading,
    }
}

/// A page whose data were asked for in its place.
async fn by_endpoint(site: &Site, job: &Job, gathered: Gathered) -> Result<Finished, CrawlDbError> {
    let Gathered { read, bytes, detail, memo } = gathered;
    let mut finished = found_on(site, job, read, None, None, Some(detail)).await?;
    finished.visit.body_bytes = bytes;
    finished.visit.memo = memo;
    Ok(finished)
}

/// A page as it was found: its links as rows, and what they say of it.
async fn found_on(
    site: &Site,
    job: &Job,
    mut read: PageFindings,
    board: Option<boards::Read>,
    near: Option<Near>,
    detail: Option<String>,
) -> Result<Finished, CrawlDbError> {
    let outcome = if job.class == Class::Download { Outcome::HtmlPosingAsTorrent } else { Outcome::Page };
    let mut finished = done(site, job, outcome);
    let is_end = repeats::end_list(site, job, &mut read);
    finished.turn = turn::of(site, job, &read).await?;
    let is_another_name = front::is_another_name(site, job, read.listing.as_ref()).await?;
    finished.is_watched &= !is_another_name;
    finished.seen = look::look(site, job, &read, board, finished.is_watched, finished.visit.at).await?;
    finished.seen.is_behind |= is_another_name;
    finished.detail = detail;
    if is_end {
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::info!(%site, url, "the list shows the same page again and again: it ends here, and the pages behind are not asked for");
        finished.detail = Some("shows what the pages in front of it do: its list ends here".to_owned());
    }
    finished.visit.body_hash = Some(read.fingerprint);
    finished.visit.magnets = read.magnets;
    finished.is_watched &= is_worth_watching(job, read.listing.as_ref()) && !finished.seen.is_behind;
    finished.visit.listing = read.listing;
    finished.visit.memo = read.said.map(|said| version::memo_of_rows(said, site.rules_token));
    if read.truncated {
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::warn!(%site, url, links = read.found.len(), "page has more links than are taken: the rest is left out");
        finished.detail = Some("more links than are taken".to_owned());
        finished.visit.not_whole = Some(not_whole::reason("it has more links than are taken of one page"));
    }
    finished.denied = read.denied;
    let has_torrent = !finished.visit.magnets.is_empty() || read.found.iter().any(|of| of.class == Class::Download);
    finished.may_hold_more = !(job.class.is_target() && has_torrent);
    finished.links = {
        let mut worth = site.worth();
        worth.left_out(&read.unclassed);
        worth.linked(&read.found)
    };
    if let Some(Near { to, resemblance }) = near {
        // Links of a copy prove nothing.
        finished.links = LinkTally::default();
        finished.detail = Some(format!("resembles {to} ({resemblance:.2})"));
    }
    let links = read.found.len();
    finished.visit.outlinks = site.discovered(job, read.found, job.lease.depth.saturating_add(1)).await?;
    let dropped = links - finished.visit.outlinks.len();
    if dropped > 0 {
        let why = format!("{dropped} of its links lie on more host names than are taken of one site");
        finished.visit.not_whole.get_or_insert_with(|| not_whole::reason(&why));
    }
    Ok(finished)
}

enum Hop {
    Itself,
    To(Found),
    Refused,
    Nowhere,
}

fn redirect_target(site: &Site, job: &Job, response: &Response) -> Hop {
    let Some(location) = &response.headers.location else {
        return Hop::Nowhere;
    };
    match outlinks::resolve(site, &job.url, location) {
        None => Hop::Nowhere,
        Some(url) if site.rules.without_mirror(url.clone()).as_str() == job.url.as_str() => Hop::Itself,
        // A sitemap stays one wherever it lies.
        Some(url) if job.class == Class::Sitemap => site.sitemap(url).map_or(Hop::Refused, Hop::To),
        Some(url) => outlinks::judge(site, url).map_or(Hop::Refused, Hop::To),
    }
}

/// The target takes the URL's place in the frontier: it is leased, checked and counted like any other. That of a
/// start URL is a start page, too. A mirror may send us away for what it lacks, so that the URL is asked for again.
async fn redirected(site: &Site, job: &Job, found: Found, by_mirror: bool) -> Result<Finished, CrawlDbError> {
    let is_start = site.rules.start.iter().any(|start| start.as_str() == job.url.as_str());
    let depth = if is_start { 0 } else { job.lease.depth.saturating_add(1) };
    let end = if by_mirror { elsewhere } else { done };
    let mut finished = end(site, job, Outcome::Redirected);
    // An address of before a site was rebuilt is worth what it leads to.
    finished.links = site.worth().linked(std::slice::from_ref(&found));
    finished.visit.outlinks = site.discovered(job, vec![found], depth).await?;
    Ok(finished)
}
