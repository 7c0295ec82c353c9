//! One URL, straight down: fetch, classify, and what follows for a torrent, a page, a redirect or a fault. Read
//! this file first.
//!
//! A visit touches neither database nor archive: it returns everything that is to be committed together.

use bytes::Bytes;

use super::outlinks;
use super::site::{Found, Site};
use crate::classify::{Classifier, Decision, DiscardReason, HeaderFacts};
use crate::clock::UnixMillis;
use crate::crawldb::{Lease, Next, Outcome, TorrentFacts, Visit};
use crate::fetch::body::{self, Read, Want};
use crate::fetch::{FailureKind, FetchFailure, Response};
use crate::limits;
use crate::politeness::{Answered, backoff};
use crate::rules::Class;
use crate::torrent::metainfo;
use crate::url::CrawlUrl;

/// A visit with what the crawl needs beside it.
#[derive(Debug)]
pub struct Finished {
    pub visit: Visit,
    /// The torrent's file as it goes into the archive.
    pub torrent: Option<Bytes>,
    /// For the host's politeness.
    pub answered: Answered,
    /// What a log line says beyond the outcome's name.
    pub detail: Option<String>,
}

/// A leased URL that the rules still take.
#[derive(Clone, Debug)]
pub struct Job {
    pub lease: Lease,
    pub url: CrawlUrl,
    pub class: Class,
}

/// Visits one URL. Never fails: every end has an outcome.
pub async fn visit(site: &Site, job: Job) -> Finished {
    let mut same_url_hops = 0;
    loop {
        let response = match site.transport.get(&job.url).await {
            Ok(response) => response,
            Err(failure) => return failed(site, &job, &failure),
        };
        return match response.status {
            200..=299 => answered(site, &job, response).await,
            304 => done(site, &job, Outcome::NotModified),
            300..=399 => match redirect_target(site, &job, &response) {
                // A server that sets a cookie and sends us back to the same URL is asked again, not queued.
                Hop::Itself if same_url_hops < limits::REDIRECTS_MAX => {
                    same_url_hops += 1;
                    continue;
                }
                Hop::Itself => done(site, &job, Outcome::RedirectLoop),
                Hop::To(found) => redirected(site, &job, found).await,
                Hop::Refused => done(site, &job, Outcome::RulesRefused),
                Hop::Nowhere => done(site, &job, Outcome::BadRedirect),
            },
            404 | 410 => done(site, &job, Outcome::Gone),
            401 | 403 => done(site, &job, Outcome::Denied),
            429 | 503 => throttled(site, &job, &response),
            408 => retried(site, &job, Outcome::TimedOut, None),
            400..=499 => done(site, &job, Outcome::ClientError),
            500..=599 => retried(site, &job, Outcome::ServerError, None),
            _ => retried(site, &job, Outcome::ProtocolError, None),
        };
    }
}

/// A response whose body is for us to judge, while it arrives.
async fn answered(site: &Site, job: &Job, response: Response) -> Finished {
    let Response { headers, body, .. } = response;
    let mut classifier = Classifier::new(HeaderFacts {
        content_type: headers.content_type.as_deref(),
        disposition: headers.content_disposition.as_deref(),
        content_length: headers.content_length,
        accepts_pages: true,
    });
    let mut decision = Decision::NeedMore;
    let read = body::read(body, |so_far, complete| {
        if decision == Decision::NeedMore {
            decision = classifier.feed(so_far, complete);
        }
        match decision {
            Decision::NeedMore => Want::UpTo(limits::TORRENT_JUNK_BYTES_MAX.max(limits::SNIFF_BYTES) * 2),
            Decision::Torrent => Want::UpTo(limits::TORRENT_BYTES_MAX),
            Decision::Page(_) => Want::UpTo(limits::PAGE_BYTES_MAX),
            Decision::Discard(_) => Want::Stop,
        }
    })
    .await;
    match (read, decision) {
        (Read::Failed { failure, .. }, _) => failed(site, job, &failure),
        (Read::Stopped { over_cap: true, .. }, _) => done(site, job, Outcome::TooLarge),
        (Read::Whole(bytes), Decision::Torrent) => torrent(site, job, &bytes),
        (Read::Whole(bytes), Decision::Page(_)) => page(site, job, headers.content_type.as_deref(), &bytes).await,
        (Read::Whole(_) | Read::Stopped { .. }, Decision::Discard(reason)) => {
            let outcome = match reason {
                DiscardReason::HtmlPosingAsTorrent => Outcome::HtmlPosingAsTorrent,
                DiscardReason::TooLarge => Outcome::TooLarge,
                _ => Outcome::NotForUs,
            };
            Finished { detail: Some(reason.name().to_owned()), ..done(site, job, outcome) }
        }
        (Read::Whole(_) | Read::Stopped { .. }, _) => done(site, job, Outcome::NotForUs),
    }
}

/// A body that began like a torrent.
fn torrent(site: &Site, job: &Job, bytes: &Bytes) -> Finished {
    let metainfo = match metainfo::parse(bytes) {
        Ok(metainfo) => metainfo,
        Err(error) => {
            let mut finished = done(site, job, Outcome::MalformedTorrent);
            finished.visit.body_bytes = bytes.len() as u64;
            finished.detail = Some(error.to_string());
            return finished;
        }
    };
    let file = bytes.slice(metainfo.dict.clone());
    let sha256 = metainfo.dict_sha256(bytes);
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
    let mut finished = done(site, job, Outcome::TorrentStored);
    finished.visit.body_bytes = bytes.len() as u64;
    finished.visit.torrent = Some(facts);
    finished.torrent = Some(file);
    finished
}

/// A page: its links, checked by the rules, and what it lists. A page where a torrent was due is read as well:
/// sites put notices before the first download.
async fn page(site: &Site, job: &Job, content_type: Option<&str>, bytes: &Bytes) -> Finished {
    let read = outlinks::read_page(site, job, content_type, bytes);
    let outcome = if job.class == Class::Download { Outcome::HtmlPosingAsTorrent } else { Outcome::Page };
    let mut finished = done(site, job, outcome);
    finished.visit.body_bytes = bytes.len() as u64;
    finished.visit.body_hash = Some(read.fingerprint);
    finished.visit.magnets = read.magnets;
    finished.visit.listing = read.listing;
    match site.discovered(job, read.found).await {
        Ok(outlinks) => finished.visit.outlinks = outlinks,
        Err(error) => return retried(site, job, Outcome::ProtocolError, Some(error.to_string())),
    }
    finished
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
        Some(url) if url.as_str() == job.url.as_str() => Hop::Itself,
        Some(url) => outlinks::judge(site, url).map_or(Hop::Refused, Hop::To),
    }
}

/// The target takes the URL's place in the frontier: it is leased, checked and counted like any other.
async fn redirected(site: &Site, job: &Job, found: Found) -> Finished {
    let mut finished = done(site, job, Outcome::Redirected);
    match site.discovered(job, vec![found]).await {
        Ok(outlinks) => finished.visit.outlinks = outlinks,
        Err(error) => return retried(site, job, Outcome::ProtocolError, Some(error.to_string())),
    }
    finished
}

/// No response, or not the whole of it. A host that cannot be reached is the host's fault: its URLs keep their
/// place, however long it lasts.
fn failed(site: &Site, job: &Job, failure: &FetchFailure) -> Finished {
    let (outcome, host_is_down) = match failure.kind {
        FailureKind::Dns => (Outcome::DnsFailed, true),
        FailureKind::Connect | FailureKind::AddressRefused => (Outcome::ConnectFailed, true),
        FailureKind::Tls => (Outcome::TlsFailed, true),
        FailureKind::TimedOut => (Outcome::TimedOut, false),
        FailureKind::Truncated => (Outcome::Truncated, false),
        FailureKind::Protocol => (Outcome::ProtocolError, false),
    };
    let mut finished = retried(site, job, outcome, Some(failure.detail.clone()));
    if host_is_down {
        finished.answered = Answered::Unreachable;
        finished.visit.next = Next::RetryAt(backoff::unreachable_until(1, finished.visit.at));
    }
    finished
}

/// The server asks for patience: the URL keeps its place and waits with its host.
fn throttled(site: &Site, job: &Job, response: &Response) -> Finished {
    let mut finished = done(site, job, Outcome::Throttled);
    let now = finished.visit.at;
    let asked = response.headers.retry_after.as_deref().and_then(|value| backoff::retry_after(value, now));
    finished.answered = Answered::Throttled(asked);
    finished.visit.next = Next::RetryAt(asked.unwrap_or(now));
    finished
}

/// An end that another attempt may better; final after the last one.
fn retried(site: &Site, job: &Job, outcome: Outcome, detail: Option<String>) -> Finished {
    let mut finished = done(site, job, outcome);
    if let Some(at) = backoff::retry_at(job.lease.attempts.saturating_add(1), finished.visit.at) {
        finished.visit.next = Next::RetryAt(at);
    }
    finished.detail = detail;
    finished
}

/// A final end, with nothing found yet.
fn done(site: &Site, job: &Job, outcome: Outcome) -> Finished {
    Finished {
        visit: unvisited(&job.lease, outcome, site.clock.now()),
        torrent: None,
        answered: Answered::Well,
        detail: None,
    }
}

/// The record of a lease that ends with this outcome and nothing found.
#[must_use]
pub fn unvisited(lease: &Lease, outcome: Outcome, at: UnixMillis) -> Visit {
    Visit {
        key: lease.key.clone(),
        depth: lease.depth,
        rank: lease.rank,
        attempts: lease.attempts,
        via: lease.via.clone(),
        at,
        outcome,
        next: Next::Done,
        body_bytes: 0,
        body_hash: None,
        outlinks: Vec::new(),
        torrent: None,
        magnets: Vec::new(),
        listing: None,
    }
}
