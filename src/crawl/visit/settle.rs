//! Turns the findings of a visit into what is committed: a torrent, a page with its links as rows, or the target of a redirect.

use std::borrow::Cow;
use std::sync::Arc;

use bytes::Bytes;

use super::body::Page;
use super::ends::{done, elsewhere, failed, is_front, is_worth_watching, looking};
use crate::fresh::{boards, look, presence};
use crate::frontier::budgets::LinkTally;
use crate::job::{Finished, Found, Job, PageFindings};
use crate::scripts::page::Gathered;
use crate::site::Site;
use crate::version::{self, Print};
use crate::worth::Near;
use crate::{denial, front, limits, not_whole, refusal, turn, watched};
use gleaner_net::fetch::{FetchFailure, charset};
use gleaner_rules::Class;
use gleaner_store::crawldb::{CrawlDbError, Outcome, TorrentFacts, Visit};
use gleaner_torrent::metainfo::{self, MetainfoError};

/// A body that begins like a torrent. A large one is parsed off the loop's thread. If its transfer failed, it is
/// stored only if its dictionary is complete and nothing follows: the file says itself where it ends.
pub(super) async fn torrent(site: &Site, job: &Job, bytes: Bytes, broke_off: Option<FetchFailure>) -> Finished {
    let body_bytes = bytes.len() as u64;
    let read = if bytes.len() <= limits::INLINE_TORRENT_BYTES_MAX {
        read_torrent(&bytes)
    } else {
        let _turn = site.memory.parse().await;
        let reading = tokio::task::spawn_blocking(move || read_torrent(&bytes));
        reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()))
    };
    let mut finished = match (read, broke_off) {
        (Err(_), Some(failure)) => return failed(site, job, &failure),
        (Ok((_, file)), Some(failure)) if !file.ends_body => return failed(site, job, &failure),
        (Ok((facts, file)), broke_off) => {
            let mut finished = done(site, job, Outcome::TorrentStored);
            finished.visit.torrent = Some(facts);
            if job.class != Class::Download {
                // A detail that is a torrent itself: what stands beside it in a list is no page.
                finished.visit.via = None;
            }
            finished.end.torrent = Some(file.bytes);
            finished.detail = broke_off.map(|failure| format!("the file is whole, but not its transfer: {failure}"));
            finished
        }
        (Err(error), None) => {
            let mut finished = done(site, job, Outcome::MalformedTorrent);
            finished.detail = Some(error.to_string());
            finished.end.denied = denial::of_file(&site.rules, job, Outcome::MalformedTorrent);
            finished
        }
    };
    finished.visit.body_bytes = body_bytes;
    finished
}

/// A torrent's file as the archive stores it: without the junk around it.
struct TorrentFile {
    bytes: Bytes,
    /// Nothing follows it in the body.
    ends_body: bool,
}

/// The facts of a torrent, and its file.
fn read_torrent(body: &Bytes) -> Result<(TorrentFacts, TorrentFile), MetainfoError> {
    let metainfo = metainfo::parse(body)?;
    let ends_body = metainfo.dict.end == body.len();
    let bytes = body.slice(metainfo.dict.clone());
    let facts = TorrentFacts::of(metainfo, body);
    Ok((facts, TorrentFile { bytes, ends_body }))
}

/// Content of a page.
pub(super) struct PageContent {
    pub read: PageFindings,
    pub print: Option<Print>,
    pub board: Option<Box<boards::ParsedBoard>>,
    /// Result of its scripts, or of the data request in their place: the document, and a text for the log.
    pub made: Option<(String, String)>,
}

/// Settles a page that was requested as such.
pub(super) async fn page(site: &Site, job: &Job, sent: &Page, shown: PageContent) -> Result<Finished, CrawlDbError> {
    let PageContent { mut read, print, board, made } = shown;
    // Rows that it does not show may stand behind the cut.
    read.truncated |= sent.is_cut;
    let document = made.as_ref().map_or(&sent.bytes[..], |(html, _)| html.as_bytes());
    // Guesses that miss would teach what the site's pages for missing content are like.
    let near = if job.is_guess { None } else { site.worth().look_at(job, document) };
    let absence = match &made {
        None if !job.is_guess => {
            let sent = (&sent.headers, &sent.bytes[..]);
            presence::of_page(&site.fresh, &site.rules, job, &read, sent, site.clock.now())
        }
        _ => presence::PresenceResult::Nothing,
    };
    let made_text = made.as_ref().map(|(html, _)| html.clone()).filter(|_| may_be_poor(site, job));
    // If its scripts built the page, its links are its rows.
    let board = board.filter(|_| made.is_none()).map(|board| *board);
    let is_rendered = made.is_some();
    let mut finished = found_on(site, job, read, board, near, made.map(|(_, detail)| detail)).await?;
    finished.end.is_rendered = is_rendered;
    finished.visit.body_bytes = sent.bytes.len() as u64;
    if sent.is_cut {
        // Pages that begin alike are not one page.
        finished.visit.body_hash = None;
        finished.visit.not_whole = Some(not_whole::reason("it exceeds the size limit of a page: its end was not read"));
    }
    finished.end.print = print;
    if may_be_poor(site, job) && site.most_rows.is_poor(&job.url, finished.end.shows.targets) {
        let text = made_text.map_or_else(|| text_of(sent), Cow::Owned);
        finished.end.poor_page = Some(Arc::new(watched::poor_page(&job.url, finished.visit.at, &text)));
    }
    if job.class == Class::Download && !finished.end.leads_on {
        let encoding = charset::detect(sent.headers.content_type.as_deref(), &sent.bytes, None);
        let head = &sent.bytes[..sent.bytes.len().min(limits::NOTICE_BYTES_READ)];
        finished.detail = Some(refusal::in_place_of_torrent(&encoding.decode(head).0));
    }
    presence::apply(absence, &mut finished);
    Ok(finished)
}

/// True for the first page of a list, which is kept if it shows too little.
fn may_be_poor(site: &Site, job: &Job) -> bool {
    job.class.is_listing() && is_front(site, &job.url)
}

fn text_of(sent: &Page) -> Cow<'_, str> {
    let bytes = &sent.bytes[..sent.bytes.len().min(2 * limits::WATCHED_PAGE_BYTES_MAX)];
    charset::detect(sent.headers.content_type.as_deref(), &sent.bytes, None).decode(bytes).0
}

/// Settles a page whose data were requested in its place.
pub(super) async fn by_data(site: &Site, job: &Job, gathered: Gathered) -> Result<Finished, CrawlDbError> {
    let Gathered { read, bytes, detail, memo } = gathered;
    let mut finished = found_on(site, job, read, None, None, Some(detail)).await?;
    finished.visit.body_bytes = bytes;
    finished.visit.memo = memo;
    Ok(finished)
}

/// Settles a page as it was found: its links as rows, and what they indicate.
async fn found_on(
    site: &Site,
    job: &Job,
    mut read: PageFindings,
    board: Option<boards::ParsedBoard>,
    near: Option<Near>,
    detail: Option<String>,
) -> Result<Finished, CrawlDbError> {
    let outcome = if job.class == Class::Download { Outcome::HtmlPosingAsTorrent } else { Outcome::Page };
    let mut finished = done(site, job, outcome);
    site.worth().take_out_acting(&site.rules, &mut read);
    if let Some(keys) = &site.fresh.keys {
        keys.learn(read.found.iter().map(|found| found.url.as_str()));
    }
    let is_end = site.repeats.end_list(&site.rules, job, &mut read);
    finished.end.turn = turn::of(&site.rows, job, &read).await?;
    let is_another_name = front::is_another_name(&site.rows, job, read.listing.as_ref()).await?;
    finished.job.is_watched &= !is_another_name;
    let of = looking(site, job, finished.visit.at);
    finished.end.seen = look::look(of, &read, board, finished.job.is_watched).await?;
    finished.end.seen.is_behind |= is_another_name;
    finished.detail = detail;
    if is_end {
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::info!(%site, url, "the list repeats the same page: it ends here, and later pages are not requested");
        finished.detail = Some("shows the same as the pages before it: its list ends here".to_owned());
    }
    finished.visit.body_hash = Some(read.fingerprint);
    finished.visit.magnets = read.magnets;
    finished.job.is_watched &= is_worth_watching(job, read.listing.as_ref()) && !finished.end.seen.is_behind;
    finished.visit.listing = read.listing;
    finished.end.stated = read.stated;
    finished.visit.memo = read.said.map(|said| version::memo_of_rows(said, site.rules_token));
    if read.truncated {
        let (site, url) = (&site.rules.name, job.url.as_str());
        tracing::warn!(%site, url, links = read.found.len(), "page is longer, or has more links, than the limit: the rest is skipped");
        finished.detail = Some("more links than the limit, or longer".to_owned());
        finished.visit.not_whole = Some(not_whole::reason("it has more links than the limit for one page"));
    }
    if read.nofollow {
        let why = not_whole::reason("it asks robots not to follow its links (nofollow): none was taken");
        finished.visit.not_whole.get_or_insert(why);
    }
    if let Some(closed) = &read.closed_pager
        && let Some(rule) = site.rules.rules().get(closed.rule)
    {
        let why = format!("{} {} ({}), as {}", not_whole::CLOSED_PAGER, rule.key(), rule.place(), closed.path);
        finished.visit.not_whole.get_or_insert(not_whole::reason(&why));
    }
    finished.end.denied = read.denied;
    finished.end.refused = read.refused;
    let links = read.found.iter().filter(|found| found.url != job.url);
    finished.end.shows.links = links.clone().count();
    finished.end.shows.targets = links.filter(|found| found.class.is_target()).count();
    let is_other_torrent = |of: &Found| of.class == Class::Download && of.url != job.url;
    finished.end.leads_on = !finished.visit.magnets.is_empty() || read.found.iter().any(is_other_torrent);
    let has_torrent = !finished.visit.magnets.is_empty() || read.found.iter().any(|of| of.class == Class::Download);
    finished.end.may_hold_more = !(job.class.is_target() && has_torrent);
    if job.is_guess {
        let files = read.found.iter().filter(|of| is_other_torrent(of)).map(|of| of.url.as_str().to_owned());
        let magnets = finished.visit.magnets.iter().map(|magnet| magnet.infohashes.key_hex());
        finished.end.offers = files.chain(magnets).collect();
    }
    finished.end.links = {
        let mut worth = site.worth();
        worth.left_out(&read.unclassed);
        read.offsite.iter().for_each(|links| worth.leads_off(&job.url, links));
        worth.linked(&read.found)
    };
    let is_copy = near.is_some();
    if let Some(Near { to, resemblance }) = near {
        // Links of a copy are no evidence.
        finished.end.links = LinkTally::default();
        finished.detail = Some(format!("resembles {to} ({resemblance:.2})"));
    }
    let links = read.found.len();
    finished.visit.labels = site.rows.labels(&job.url, read.labels, finished.visit.at).await?;
    finished.visit.outlinks = site.rows.discovered(job, read.found, job.lease.depth.saturating_add(1)).await?;
    let dropped = links - finished.visit.outlinks.len();
    if dropped > 0 {
        let why = format!("{dropped} of its links exceed the limit of host names for one site");
        finished.visit.not_whole.get_or_insert_with(|| not_whole::reason(&why));
    }
    // While its own torrent is not stored, everything that it shows seems new.
    if finished.visit.not_whole.is_none() && !is_copy && site.rows.has_its_torrent(job).await? {
        finished.end.shows_more = Some(shows_more(site, &finished.visit).await?);
    }
    Ok(finished)
}

/// True for a page with a magnet whose torrent is not stored, or a link that leads to something and that the database does not know.
async fn shows_more(site: &Site, visit: &Visit) -> Result<bool, CrawlDbError> {
    let rows = {
        let worth = site.worth();
        visit.outlinks.iter().filter(|row| worth.leads_on(row.rank)).map(|row| row.key.clone()).collect()
    };
    let infohashes = visit.magnets.iter().map(|magnet| magnet.infohashes).collect();
    let is_known = site.db.url_records(rows).await?.iter().all(Option::is_some);
    Ok(!is_known || site.db.known_torrents(infohashes).await?.iter().any(Option::is_none))
}

/// The target takes the URL's place in the frontier: it is leased, checked and counted like any other. The target of a
/// start URL is a start page, too. A mirror may redirect what it lacks, so that the URL is retried.
pub(super) async fn redirected(
    site: &Site,
    job: &Job,
    found: Found,
    by_mirror: bool,
) -> Result<Finished, CrawlDbError> {
    let is_start = site.rules.start.iter().any(|start| start.as_str() == job.url.as_str());
    let depth = if is_start { 0 } else { job.lease.depth.saturating_add(1) };
    let end = if by_mirror { elsewhere } else { done };
    let mut finished = end(site, job, Outcome::Redirected);
    // An address from before a site was rebuilt is worth as much as its target.
    finished.end.links = site.worth().linked(std::slice::from_ref(&found));
    finished.end.leads_on = found.class == Class::Download;
    finished.end.shows.leads_to = Some(found.class);
    if job.class == Class::Download && !by_mirror {
        finished.detail = Some(refusal::redirect_to(&found.url));
    }
    finished.visit.outlinks = site.rows.discovered(job, vec![found], depth).await?;
    Ok(finished)
}
