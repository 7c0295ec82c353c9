//! Ends of visits without results: refused, failed, postponed, or not modified; and which URLs are rechecked.

use crate::fresh::Looking;
use crate::fresh::gone::why_name;
use crate::freshness::gone::Gone;
use crate::frontier::crews::Crew;
use crate::frontier::priority;
use crate::job::{End, Finished, HostReport, Job, JobKind, Timing};
use crate::scripts::NoPage;
use crate::site::Site;
use crate::{front, limits};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{FailureKind, FetchFailure, Response};
use gleaner_net::politeness::{Answered, backoff};
use gleaner_rules::Class;
use gleaner_store::crawldb::{Lease, Listing, Next, Outcome, Visit, faults, refusals};

/// A server that sets a cookie and redirects to the same URL gets a second request, through the gate.
pub(super) fn asked_again(site: &Site, job: &Job) -> Finished {
    let mut finished = done(site, job, Outcome::Redirected);
    if faults(job.lease.attempts) + 1 < limits::ATTEMPTS_MAX {
        finished.visit.next = Next::RetryAt(finished.visit.at);
    } else {
        finished.visit.outcome = Outcome::RedirectLoop;
    }
    finished
}

/// The page has not changed.
pub(super) fn not_modified(site: &Site, job: &Job) -> Finished {
    let mut finished = done(site, job, Outcome::NotModified);
    finished.end.may_hold_more = true;
    finished.visit.memo.clone_from(&job.lease.memo);
    finished
}

/// Ends a visit for which scripts, or the data request in their place, returned no page.
pub(super) fn without_page(site: &Site, job: &Job, why: NoPage) -> Finished {
    match why {
        NoPage::NotModified => not_modified(site, job),
        NoPage::KeptBack { why, pause } => {
            let mut finished = done(site, job, Outcome::Truncated);
            finished.visit.next = Next::WaitUntil(finished.visit.at.plus(pause));
            finished.detail = Some(why);
            finished
        }
        NoPage::Unanswered(why) => retried(site, job, Outcome::Truncated, Some(why)),
        NoPage::Again(why) => {
            let mut finished = retried(site, job, Outcome::Truncated, Some(why.to_owned()));
            // The request for the page itself succeeded.
            finished.host.answered = Answered::Well;
            finished
        }
    }
}

/// A URL that the site no longer has.
pub(super) fn ended_gone(site: &Site, job: &Job, gone: Gone) -> Finished {
    // No recheck waits for this page of a list any longer.
    site.fresh.boards.end(job.url.as_str());
    let mut finished = done(site, job, Outcome::Gone);
    finished.detail = Some(why_name(gone.why));
    finished.end.gone = job.class.is_target().then_some(gone);
    finished
}

/// No response, or an incomplete one. An unreachable host is not the URLs' fault: they keep their
/// place and their attempts, however long it lasts.
pub(super) fn failed(site: &Site, job: &Job, failure: &FetchFailure) -> Finished {
    let (outcome, host_is_down) = match failure.kind {
        FailureKind::Dns => (Outcome::DnsFailed, true),
        FailureKind::AddressRefused => (Outcome::AddressRefused, true),
        FailureKind::Connect => (Outcome::ConnectFailed, true),
        FailureKind::Tls => (Outcome::TlsFailed, true),
        FailureKind::TimedOut => (Outcome::TimedOut, false),
        FailureKind::Truncated => (Outcome::Truncated, false),
        FailureKind::Protocol => (Outcome::ProtocolError, false),
    };
    let mut finished = retried(site, job, outcome, Some(failure.detail.clone()));
    if host_is_down {
        finished.host.answered = Answered::Unreachable;
        finished.visit.next = Next::WaitUntil(finished.visit.at);
    }
    finished
}

/// A mirror that lacks the URL, or redirects it, does not speak for the site: the URL is retried over some five
/// minutes, by when the first host may answer.
pub(super) fn elsewhere(site: &Site, job: &Job, outcome: Outcome) -> Finished {
    let mut finished = done(site, job, outcome);
    let at = backoff::retry_at(faults(job.lease.attempts) + 1, finished.visit.at);
    if let Some(wait) = at.map(|at| at.since(finished.visit.at)) {
        finished.visit.next = Next::RetryAt(finished.visit.at.plus(wait * limits::MIRROR_PATIENCE));
    }
    finished.detail = Some("by a mirror".to_owned());
    finished
}

/// The server throttles: the URL keeps its place and waits with its host. A URL that is refused again and
/// again while its host answers other requests is given up in the end. Refusals do not count as its attempts.
pub(super) fn throttled(site: &Site, job: &Job, response: &Response) -> Finished {
    let mut finished = done(site, job, Outcome::Throttled);
    let now = finished.visit.at;
    let asked = response.headers.retry_after.as_deref().and_then(|value| backoff::retry_after(value, now));
    finished.host.answered = Answered::Throttled(asked);
    if refusals(job.lease.attempts) + 1 < limits::THROTTLED_ATTEMPTS_MAX {
        // The pause applies to the host that imposed it: a mirror may be requested at once.
        finished.visit.next = Next::RefusedUntil(now);
    }
    finished
}

/// A failure that another attempt may fix; final after the last attempt.
pub(super) fn retried(site: &Site, job: &Job, outcome: Outcome, detail: Option<String>) -> Finished {
    let mut finished = done(site, job, outcome);
    finished.host.answered = Answered::Faulty;
    if let Some(at) = backoff::retry_at(faults(job.lease.attempts) + 1, finished.visit.at) {
        finished.visit.next = Next::RetryAt(at);
    }
    finished.detail = detail;
    finished
}

/// A final result, with nothing found yet.
pub(super) fn done(site: &Site, job: &Job, outcome: Outcome) -> Finished {
    let is_watched = is_watched(site, job);
    let job_kind = JobKind { class: job.class, rule: job.rule, crew: job.crew, is_watched, is_guess: job.is_guess };
    Finished { job: job_kind, ..put_aside(&job.lease, outcome, site.clock.now()) }
}

/// True for what is rechecked, whatever its outcome; an empty list may be exempt.
pub(crate) fn is_watched(site: &Site, job: &Job) -> bool {
    is_watched_anyway(&job.lease) || (job.class.is_listing() && is_front(site, &job.url))
}

/// False for later pages of a list.
pub(crate) fn is_front(site: &Site, url: &CrawlUrl) -> bool {
    front::is_front(&site.rules, &site.fresh.boards, url)
}

/// A recheck of a page that was read.
pub(super) fn looking<'a>(site: &'a Site, job: &'a Job, at: UnixMillis) -> Looking<'a> {
    Looking { fresh: &site.fresh, rows: &site.rows, job, at }
}

fn is_watched_anyway(lease: &Lease) -> bool {
    lease.depth == 0 || priority::is_sitemap(lease.rank)
}

/// False for an empty list far from the start pages: more likely one of a calendar's days than the first page of a
/// board.
pub(super) fn is_worth_watching(job: &Job, listing: Option<&Listing>) -> bool {
    is_watched_anyway(&job.lease)
        || job.lease.depth <= limits::EMPTY_LIST_DEPTH_MAX
        || listing.is_some_and(|listing| !listing.targets.is_empty())
}

/// A lease that ends without a request.
#[must_use]
pub fn put_aside(lease: &Lease, outcome: Outcome, at: UnixMillis) -> Finished {
    let is_watched = is_watched_anyway(lease);
    Finished {
        job: JobKind { class: Class::Page, rule: usize::MAX, crew: Crew::History, is_watched, is_guess: false },
        visit: unvisited(lease, outcome, at),
        timing: Timing { began: at, fetch: None },
        host: HostReport { answered: Answered::Well, session: 0, was_read: false, errands: 0, tidings: Vec::new() },
        detail: None,
        end: End::default(),
    }
}

/// The record of a lease that ends with this outcome and nothing found.
fn unvisited(lease: &Lease, outcome: Outcome, at: UnixMillis) -> Visit {
    Visit {
        depth: lease.depth,
        rank: lease.rank,
        attempts: lease.attempts,
        via: lease.via.clone(),
        found: lease.found,
        ..Visit::new(lease.key.clone(), at, outcome)
    }
}
