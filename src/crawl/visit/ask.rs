//! The request of a visit, and what its status says.

use super::ends::{asked_again, done, elsewhere, ended_gone, failed, not_modified, retried, throttled};
use crate::denial;
use crate::fresh::presence;
use crate::job::{Finished, Found, Job};
use crate::judging::{judge, resolve};
use crate::site::Site;
use crate::version;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::{Request, Response};
use gleaner_rules::Class;
use gleaner_store::crawldb::Outcome;

/// How a request was answered.
pub(super) enum Answer {
    /// With a body that is for us to judge.
    Body(Response),
    /// The URL lies there now.
    Moved(Found),
    /// The visit ends with it.
    End(Box<Finished>),
}

/// Asks for the URL, at a mirror where one is named. Gives the answer, and the sign that it was one to a guest.
pub(super) async fn ask(site: &Site, job: &Job, mirror: Option<&CrawlUrl>) -> (Answer, Option<String>) {
    // Versions are a server's own, and links are taken anew where the rules have changed.
    let is_compared = mirror.is_none() && !site.fresh.boards.is_read_whole(job.url.as_str());
    let validators = job.lease.memo.as_deref().filter(|_| is_compared);
    let validators = validators.and_then(|memo| version::read(memo, site.rules_token));
    let url = mirror.unwrap_or(&job.url);
    let response = match site.transport.send(Request { validators: validators.as_ref(), ..url.into() }).await {
        Ok(response) => response,
        Err(failure) => return (Answer::End(Box::new(failed(site, job, &failure))), None),
    };
    let denied = denial::of_answer(&site.rules, job, response.status, response.headers.location.as_deref());
    let finished = match response.status {
        200..=299 => return (Answer::Body(response), denied),
        304 if validators.is_none() => retried(site, job, Outcome::ProtocolError, Some("304 unasked".to_owned())),
        304 => not_modified(site, job),
        300..=399 => match redirected(site, job, &response, mirror.is_some()) {
            Ok(found) => return (Answer::Moved(found), denied),
            Err(finished) => *finished,
        },
        404 | 410 if mirror.is_some() => elsewhere(site, job, Outcome::Gone),
        401 | 403 if mirror.is_some() => elsewhere(site, job, Outcome::Denied),
        404 | 410 => {
            let gone = presence::of_status(&site.fresh, job, response.status, site.clock.now());
            ended_gone(site, job, gone)
        }
        401 | 403 => done(site, job, Outcome::Denied),
        429 | 503 => throttled(site, job, &response),
        408 => retried(site, job, Outcome::TimedOut, None),
        400..=499 if mirror.is_some() => elsewhere(site, job, Outcome::ClientError),
        400..=499 => done(site, job, Outcome::ClientError),
        500..=599 => retried(site, job, Outcome::ServerError, None),
        _ => retried(site, job, Outcome::ProtocolError, None),
    };
    (Answer::End(Box::new(finished)), denied)
}

/// Where a redirect leads, if it may be followed.
fn redirected(site: &Site, job: &Job, response: &Response, by_mirror: bool) -> Result<Found, Box<Finished>> {
    Err(Box::new(match redirect_target(site, job, response) {
        Hop::Itself | Hop::Refused | Hop::Nowhere if by_mirror => elsewhere(site, job, Outcome::RedirectRefused),
        Hop::Itself => asked_again(site, job),
        Hop::To(found) => match presence::of_redirect(&site.fresh, &site.rules, job, &found) {
            Some(gone) => ended_gone(site, job, gone),
            None => return Ok(found),
        },
        Hop::Refused => done(site, job, Outcome::RedirectRefused),
        Hop::Nowhere => done(site, job, Outcome::BadRedirect),
    }))
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
    match resolve(&site.rules, &job.url, location) {
        None => Hop::Nowhere,
        Some(url) if site.rules.without_mirror(url.clone()).as_str() == job.url.as_str() => Hop::Itself,
        // A sitemap stays one wherever it lies.
        Some(url) if job.class == Class::Sitemap => {
            site.rows.sitemaps.take(&site.rules, url).map_or(Hop::Refused, Hop::To)
        }
        Some(url) => judge(&site.rules, url).map_or(Hop::Refused, Hop::To),
    }
}
