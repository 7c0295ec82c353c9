//! Fetching an origin's robots.txt (RFC 9309 §2.3): the meaning of each response, and how long it is valid.

use std::sync::Arc;
use std::time::Duration;

use crate::hosts::HostKeys;
use crate::judging::resolve;
use crate::limits;
use gleaner_base::clock::Clock;
use gleaner_base::url::CrawlUrl;
use gleaner_net::fetch::body::{self, Allowance, Read, Want};
use gleaner_net::fetch::{FetchFailure, Transport};
use gleaner_net::politeness::robots::Robots;
use gleaner_net::politeness::{Answered, backoff};
use gleaner_rules::SiteRules;

/// The name by which robots.txt groups and the `User-Agent` header identify us.
pub const PRODUCT_TOKEN: &str = "gleaner";

/// A file is used for at most a day (§2.4).
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);

/// Why an origin must be treated as disallowed until it answers (§2.3.1.4).
pub struct RobotsFault {
    /// For the host's politeness.
    pub answered: Answered,
    pub detail: String,
}

/// Where a robots.txt is requested.
#[derive(Clone)]
pub struct RobotsLocation {
    pub url: CrawlUrl,
    /// Politeness keys of that host.
    pub keys: Arc<HostKeys>,
    /// Number of redirects that led there.
    pub hops: usize,
}

impl RobotsLocation {
    /// The initial place of an origin's robots.txt.
    #[must_use]
    pub fn of(origin: &str, keys: Arc<HostKeys>) -> Self {
        Self { url: CrawlUrl::from_parts(origin, "/robots.txt"), keys, hops: 0 }
    }

    /// Its name in a reason.
    fn name(&self) -> String {
        if self.hops == 0 { "robots.txt".to_owned() } else { format!("robots.txt at {}", self.url) }
    }
}

/// The response of a place.
pub enum RobotsAnswer {
    Rules(Robots),
    /// The file has moved there: another request, which has to pass the gate like any other.
    Moved(Box<RobotsLocation>),
}

/// Requests an origin's rules from one place. A server error, a refused rate or no response at all is a fault, and the origin is
/// disallowed.
pub async fn fetch(
    place: &RobotsLocation,
    rules: &SiteRules,
    transport: &dyn Transport,
    clock: &dyn Clock,
    bodies: &Allowance,
) -> Result<RobotsAnswer, RobotsFault> {
    let RobotsLocation { url, .. } = place;
    let response = transport.send(url.into()).await.map_err(|failure| unanswered(place, &failure))?;
    let closed = |answered| {
        let detail = format!("{}: status {}", place.name(), response.status);
        RobotsFault { answered, detail }
    };
    Ok(RobotsAnswer::Rules(match response.status {
        200..=299 => {
            let length = response.headers.content_length;
            let read = body::read(response.body, length, bodies, |_, _| Want::UpTo(limits::ROBOTS_BYTES_MAX));
            match read.await {
                Read::Whole(bytes) | Read::Stopped { bytes, .. } => Robots::parse(&bytes, PRODUCT_TOKEN),
                Read::Failed { failure, .. } => return Err(unanswered(place, &failure)),
            }
        }
        300..=399 if place.hops < limits::ROBOTS_REDIRECTS_MAX => {
            let target = response.headers.location.as_deref().and_then(|to| resolve(rules, url, to));
            // Redirects to other hosts are followed, too (§2.3.1.2); one without a valid target means that there are no rules.
            match target {
                Some(url) => return Ok(RobotsAnswer::Moved(Box::new(moved(transport, place, url).await))),
                None => Robots::allow_all(),
            }
        }
        429 | 503 => {
            let now = clock.now();
            let asked = response.headers.retry_after.as_deref().and_then(|value| backoff::retry_after(value, now));
            return Err(closed(Answered::Throttled(asked)));
        }
        500..=599 => return Err(closed(Answered::Unreachable)),
        _ => Robots::allow_all(),
    }))
}

/// The next place. Its address is resolved because the address has a rate, too.
async fn moved(transport: &dyn Transport, from: &RobotsLocation, url: CrawlUrl) -> RobotsLocation {
    let keys = if url.host() == &*from.keys.name {
        Arc::clone(&from.keys)
    } else {
        // If the lookup fails, the request will report why.
        let addresses = transport.resolve(&url).await.map_or_else(|_| Vec::new(), |found| found.addresses);
        HostKeys::new(url.host(), &addresses)
    };
    RobotsLocation { url, keys, hops: from.hops + 1 }
}

fn unanswered(place: &RobotsLocation, failure: &FetchFailure) -> RobotsFault {
    RobotsFault { answered: Answered::Unreachable, detail: format!("{}: {failure}", place.name()) }
}
