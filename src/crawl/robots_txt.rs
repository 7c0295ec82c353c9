//! Fetching an origin's robots.txt (RFC 9309 §2.3): what each answer means, and for how long.

use std::time::Duration;

use super::outlinks;
use super::site::Site;
use crate::fetch::FetchFailure;
use crate::fetch::body::{self, Read, Want};
use crate::limits;
use crate::politeness::robots::Robots;
use crate::politeness::{Answered, backoff};
use crate::url::CrawlUrl;

/// The name that robots.txt groups and the `User-Agent` header know us by.
pub const PRODUCT_TOKEN: &str = "gleaner";

/// A file is used for no longer than a day (§2.4).
pub const KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);

/// Why an origin must be taken as closed until it answers (§2.3.1.4).
pub struct RobotsFault {
    /// For the host's politeness.
    pub answered: Answered,
    pub detail: String,
}

/// Asks an origin for its rules. A server error, a refused rate or no answer at all is a fault, and the origin closed.
pub async fn fetch(site: &Site, origin: &str) -> Result<Robots, RobotsFault> {
    let mut url = CrawlUrl::from_parts(origin, "/robots.txt");
    for _ in 0..=limits::ROBOTS_REDIRECTS_MAX {
        let response = site.transport.get((&url).into()).await.map_err(|failure| unanswered(&failure))?;
        let closed = |answered| RobotsFault { answered, detail: format!("robots.txt: status {}", response.status) };
        match response.status {
            200..=299 => {
                let (length, bodies) = (response.headers.content_length, &site.memory.bodies);
                let read = body::read(response.body, length, bodies, |_, _| Want::UpTo(limits::ROBOTS_BYTES_MAX));
                return match read.await {
                    Read::Whole(bytes) | Read::Stopped { bytes, .. } => Ok(Robots::parse(&bytes, PRODUCT_TOKEN)),
                    Read::Failed { failure, .. } => Err(unanswered(&failure)),
                };
            }
            300..=399 => {
                let target = response.headers.location.as_deref().and_then(|to| outlinks::resolve(site, &url, to));
                // Followed to other hosts, too (§2.3.1.2); where it leads nowhere there are no rules.
                match target {
                    Some(target) => url = target,
                    None => return Ok(Robots::allow_all()),
                }
            }
            429 | 503 => {
                let now = site.clock.now();
                let asked = response.headers.retry_after.as_deref().and_then(|value| backoff::retry_after(value, now));
                return Err(closed(Answered::Throttled(asked)));
            }
            500..=599 => return Err(closed(Answered::Unreachable)),
            _ => return Ok(Robots::allow_all()),
        }
    }
    Ok(Robots::allow_all())
}

fn unanswered(failure: &FetchFailure) -> RobotsFault {
    RobotsFault { answered: Answered::Unreachable, detail: format!("robots.txt: {failure}") }
}
