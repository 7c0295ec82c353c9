//! Renders that show nothing to compare an endpoint with: a page without scripts, or one that the engine cannot run. There its data stand
//! in for the render in the same visit.

use std::sync::Arc;

use super::{by_data, may_render};
use crate::errands::{Errands, Trouble};
use crate::limits;
use crate::outlinks::PageFindings;
use crate::rendering::{self, Made};
use crate::site::Site;
use crate::visit::Job;
use gleaner_net::fetch::ResponseHeaders;
use gleaner_store::crawldb::faults;

/// Runs a page's scripts where that is wanted. What its endpoint gives is taken beside that where nothing came of it, or nothing that
/// the endpoint was compared with.
pub async fn render(
    site: &Arc<Site>,
    job: &Job,
    headers: &ResponseHeaders,
    body: &[u8],
    read_before: &PageFindings,
    errands: &Errands,
) -> Option<Made> {
    let made = rendering::render(site, job, headers, body, read_before, errands).await;
    // Without renders an endpoint has had its say already.
    if !may_render(site, job.class) {
        return made;
    }
    let gained = made.as_ref().is_some_and(|made| made.gained);
    let Ok(page) = job.url.to_url() else { return made };
    let is_compared = gained && site.shortcuts.book(job.class, |book| book.is_due(&page)) != Some(true);
    // What a guest sees is no page of the site's, and says nothing of its data.
    let is_closed = read_before.nofollow
        || read_before.denied.is_some()
        || made.as_ref().is_some_and(|made| made.read.denied.is_some());
    let trouble = errands.trouble();
    if is_compared || is_closed || trouble == Trouble::KeptBack {
        return made;
    }
    site.shortcuts.book(job.class, |book| book.defer(&page));
    // It is visited again, and then by its data.
    if trouble == Trouble::Unanswered && !gained && faults(job.lease.attempts) + 1 < limits::ATTEMPTS_MAX {
        return made;
    }
    let Some(endpoint) = site.shortcuts.book(job.class, |book| book.in_place_of_render(&page)).flatten() else {
        return made;
    };
    errands.give_back(&job.url, site.clock.now());
    let left_out = errands.not_whole.take();
    let by_data = by_data(site, job, (headers, body), read_before, errands, (&endpoint, &page, false)).await;
    // Where scripts have shown nothing, data that are all there make up for what they were to show.
    if let Some(why) = left_out.filter(|_| gained || !by_data.as_ref().is_some_and(|made| made.gained)) {
        errands.not_whole.tell(&why);
    }
    match (by_data, made) {
        (Some(mut by_data), Some(made)) => {
            by_data.detail = format!("{}; {}", by_data.detail, made.detail);
            by_data.read.add(&made.read);
            Some(Made { html: made.html, gained: by_data.gained || made.gained, ..by_data })
        }
        (by_data, made) => by_data.or(made),
    }
}
