//! A page's links, and the rows of its list, unless it is unchanged since its last recheck.

use std::sync::Arc;

use tokio::sync::OwnedSemaphorePermit;

use super::body::Page;
use super::ends::is_watched;
use crate::fresh::changed::Reading;
use crate::fresh::look;
use crate::job::Job;
use crate::site::Site;
use crate::version::{self, Print};
use crate::{limits, outlinks};
use gleaner_net::fetch::ResponseHeaders;
use gleaner_rules::Class;

/// Reads a page. A large one is read off the loop's thread, with a permit that the caller drops.
pub(super) async fn read(
    site: &Arc<Site>,
    job: &Job,
    Page { headers, bytes, .. }: &Page,
    again: bool,
) -> (Reading, Option<OwnedSemaphorePermit>) {
    if bytes.len() <= limits::INLINE_PAGE_BYTES_MAX && job.class != Class::Sitemap {
        return (reading(site, job, headers, bytes, again), None);
    }
    let turn = site.memory.parse().await;
    let (site, job, headers, bytes) = (Arc::clone(site), job.clone(), headers.clone(), bytes.clone());
    let reading = tokio::task::spawn_blocking(move || reading(&site, &job, &headers, &bytes, again));
    (reading.await.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic())), turn)
}

/// A page's links, unless it is unchanged since its last recheck.
fn reading(site: &Site, job: &Job, headers: &ResponseHeaders, bytes: &[u8], again: bool) -> Reading {
    let reading = if !again || job.class == Class::Sitemap {
        Reading::Read(Box::new(outlinks::read_page(&site.rules, &site.rows.sitemaps, job, headers, bytes)), None, None)
    } else {
        let memo = job.lease.memo.as_deref().filter(|_| !site.fresh.boards.is_read_whole(job.url.as_str()));
        let last = memo.and_then(|memo| version::print(memo, site.rules_token));
        let of_rules = (&*site.rules, &*site.rows.sitemaps);
        site.fresh.changed.read(of_rules, job, headers, bytes, last.and_then(Print::read))
    };
    match reading {
        Reading::Read(read, print, _) if look::has_rows(&site.fresh, job, is_watched(site, job)) => {
            let board = site.fresh.boards.read(&site.rules, job, headers, bytes, site.clock.now());
            Reading::Read(read, print, board.map(Box::new))
        }
        reading => reading,
    }
}
