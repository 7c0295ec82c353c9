//! The request of a visit, and the meaning of its status.

use super::ends::{asked_again, done, elsewhere, ended_gone, failed, not_modified, retried, throttled};
use crate::fresh::presence;
use crate::job::{Finished, Found, Job};
use crate::judging::{judge, resolve};
use crate::site::Site;
use crate::version;
use crate::{denial, limits, outlinks, refusal};
use encoding_rs::Encoding;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::body::{self, Read, Want};
use gleaner_net::fetch::{Request, Response, charset};
use gleaner_rules::{Class, Verdict};
use gleaner_store::crawldb::{MagnetFacts, Outcome};

/// The response to a visit's request.
pub(super) enum Answer {
    /// It has a body to be classified.
    Body(Box<Response>),
    /// The URL has moved there.
    Moved(Found),
    /// The visit ends with it.
    End(Box<Finished>),
}

/// Requests the URL, at a mirror if one is given. Returns the answer, and the sign that it was served to a guest, if any.
pub(super) async fn ask(site: &Site, job: &Job, mirror: Option<&CrawlUrl>) -> (Answer, Option<String>) {
    // Validators are specific to a server, and links are taken again if the rules have changed.
    let is_compared = mirror.is_none() && !site.fresh.boards.is_read_whole(job.url.as_str());
    let validators = job.lease.memo.as_deref().filter(|_| is_compared);
    let validators = validators.and_then(|memo| version::read(memo, site.rules_token));
    let url = mirror.unwrap_or(&job.url);
    let page = linked_from(site, job, url);
    let request = Request { validators: validators.as_ref(), referer: page.as_ref(), ..url.into() };
    let answer = match site.read_before.as_ref().filter(|_| job.was_read) {
        Some(answers) => answers.answer(url).await,
        None => site.transport.send(request).await,
    };
    let response = match answer {
        Ok(response) => response,
        Err(failure) => return (Answer::End(Box::new(failed(site, job, &failure))), None),
    };
    let denied = denial::of_answer(&site.rules, job, response.status, response.headers.location.as_deref());
    let finished = match response.status {
        200..=299 => return (Answer::Body(Box::new(response)), denied),
        304 if validators.is_none() => retried(site, job, Outcome::ProtocolError, Some("304 unasked".to_owned())),
        304 => not_modified(site, job),
        300..=399 if let Some(magnet) = response.headers.location.as_deref().and_then(magnet_in) => {
            let mut finished = done(site, job, Outcome::Redirected);
            finished.visit.magnets = vec![magnet];
            finished
        }
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
        401 | 403 => refused(site, job, Outcome::Denied, response).await,
        429 | 503 => throttled(site, job, &response),
        408 => retried(site, job, Outcome::TimedOut, None),
        400..=499 if mirror.is_some() => elsewhere(site, job, Outcome::ClientError),
        400..=499 => refused(site, job, Outcome::ClientError, response).await,
        500..=599 => retried(site, job, Outcome::ServerError, None),
        _ => retried(site, job, Outcome::ProtocolError, None),
    };
    (Answer::End(Box::new(finished)), denied)
}

/// A status that refuses the URL for good, and what its page says to people.
async fn refused(site: &Site, job: &Job, outcome: Outcome, response: Response) -> Finished {
    let Response { status, headers, body } = response;
    let enough = |_: &[u8], _| Want::UpTo(limits::NOTICE_BYTES_READ);
    let read = body::read(body, headers.content_length, &site.memory.bodies, enough).await;
    let (Read::Whole(bytes) | Read::Stopped { bytes, .. } | Read::Failed { bytes, .. }) = read;
    let charset = site.rules.charset.map(Encoding::name);
    let encoding = charset::detect(headers.content_type.as_deref(), &bytes, charset);
    let words = refusal::first_words(&encoding.decode(&bytes).0);
    let mut finished = done(site, job, outcome);
    finished.detail = Some(refusal::by_status(status, &words));
    finished
}

/// The page that links to the job's URL, if it is known and one of the site's; at a mirror, the mirror's.
fn linked_from(site: &Site, job: &Job, asked: &CrawlUrl) -> Option<CrawlUrl> {
    let via = job.lease.via.as_deref().filter(|_| job.class == Class::Download)?;
    let page = CrawlUrl::parse(via, &site.rules.canonical).ok()?;
    // A sitemap is no page that anybody clicks in.
    let is_page = matches!(site.rules.judge(&page), Verdict::Take { .. });
    let is_mirrored = page.origin() == job.url.origin() && asked.origin() != job.url.origin();
    is_page.then(|| if is_mirrored { CrawlUrl::from_parts(asked.origin(), page.path()) } else { page })
}

/// The magnet link that a redirect leads to.
fn magnet_in(location: &str) -> Option<MagnetFacts> {
    let is_magnet = location.get(..7).is_some_and(|scheme| scheme.eq_ignore_ascii_case("magnet:"));
    is_magnet.then(|| outlinks::magnet_facts(location)).flatten()
}

/// The target of a redirect, if it may be followed.
fn redirected(site: &Site, job: &Job, response: &Response, by_mirror: bool) -> Result<Found, Box<Finished>> {
    Err(Box::new(match redirect_target(site, job, response) {
        Hop::Itself | Hop::Refused | Hop::Nowhere if by_mirror => elsewhere(site, job, Outcome::RedirectRefused),
        Hop::Itself => asked_again(site, job),
        Hop::To(found) => match presence::of_redirect(&site.fresh, &site.rules, job, &found) {
            Some(gone) => ended_gone(site, job, gone),
            None => return Ok(found),
        },
        Hop::Refused => {
            let mut finished = done(site, job, Outcome::RedirectRefused);
            let target = response.headers.location.as_deref().and_then(|to| resolve(&site.rules, &job.url, to));
            finished.detail = target.map(|target| refusal::redirect_to(&target));
            finished
        }
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
        // A sitemap stays one wherever it is moved.
        Some(url) if job.class == Class::Sitemap => {
            site.rows.sitemaps.take(&site.rules, url).map_or(Hop::Refused, Hop::To)
        }
        Some(url) => match judge(&site.rules, url) {
            Ok(found) if site.worth().acts_by_token(&site.rules, &found.url, found.class) => Hop::Refused,
            judged => judged.map_or(Hop::Refused, Hop::To),
        },
    }
}
