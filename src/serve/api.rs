//! JSON below `/api/v1`.

mod alarms;
mod archive;
mod events;
pub mod lists;
mod log;
mod openapi;
mod pressing;
pub mod refusals;
mod service;
mod table;

pub use archive::{count, ready};
pub use events::SiteWork;
pub use service::Coverages;
pub use table::{Report, router};

use self::table::Endpoint;
use crate::problem::Problem;

const EVENTS: &str = "What happens, as server-sent events: `torrent` (one is stored, or found on one more site; as in /torrents), `log` (a line, as in /log), \
    `sites` (what each crawl has done and does), `alarm` (as in /alarms: at first each that is open). Last-Event-ID goes on where a stream has ended, and has \
    alarms that were over within the last hour, too";

/// All endpoints.
pub fn endpoints() -> Vec<Endpoint> {
    const NO_INDEX: &str = "the search index is being made";
    const NO_ALARM: &str = "no open alarm has this id";
    const NO_SITE: &str = "no site has this name";
    const NO_TORRENT: &str = "this torrent is not in the archive";
    vec![
        Endpoint::get("/openapi.json", "This document", openapi::openapi),
        Endpoint::get("/summary", "A few figures, flat, for tiles of start pages", archive::summary),
        Endpoint::get("/torrents", "Torrents, the newest first", archive::torrents),
        Endpoint::get("/search", "What a query finds", archive::search).may_be(503, NO_INDEX),
        Endpoint::get("/torrents/{infohash}", "A torrent", archive::torrent).may_be(404, NO_TORRENT),
        Endpoint::get("/torrents/{infohash}/files", "The files of a torrent", archive::files)
            .may_be(404, NO_TORRENT)
            .may_be(410, "the file of this torrent is lost"),
        Endpoint::get("/searches", "The saved searches, with their feeds", archive::searches),
        Endpoint::get("/categories", "All categories with their torrents", archive::categories).may_be(503, NO_INDEX),
        Endpoint::report("/sites", "What `gleaner status --json` prints", |inside| &inside.status, ""),
        Endpoint::report("/sites/{name}", "The part of one site", |inside| &inside.site, service::NOT_CRAWLED),
        Endpoint::get("/sites/{name}/lists", "The lists of a site, with their last and next recheck", lists::lists)
            .may_be(404, NO_SITE),
        Endpoint::get(
            "/sites/{name}/refusals",
            "Links that the rules of a site refused last, with the line that did",
            refusals::refusals,
        )
        .may_be(404, NO_SITE),
        Endpoint::report(
            "/sites/{name}/schedule",
            "What `gleaner schedule --json` prints: which list is rechecked when, and why",
            |inside| &inside.schedule,
            service::NOT_SCHEDULED,
        ),
        Endpoint::get("/coverage", "What `gleaner coverage --json` prints, at most a minute old", service::coverages),
        Endpoint::get("/sites/{name}/coverage", "The part of one site", service::coverage).may_be(404, NO_SITE),
        Endpoint::report(
            "/sites/{name}/delay",
            "What `gleaner delay --json` prints: how late new torrents were stored",
            |inside| &inside.delay,
            service::NO_DELAY,
        ),
        Endpoint::get(
            "/alarms",
            "What is wrong, and what was: open alarms first, each part the newest first",
            alarms::alarms,
        ),
        Endpoint::get("/alarms/{id}/page", "The page as it was saved for an alarm, as text", alarms::page)
            .may_be(404, "no alarm has this id, or no page was saved for it"),
        Endpoint::post(
            "/alarms/{id}/silence",
            "Calls nobody about an open alarm, for some minutes or until it is over",
            alarms::silence,
        )
        .may_be(404, NO_ALARM),
        Endpoint::post("/alarms/{id}/unsilence", "Ends the silence of an open alarm", alarms::unsilence)
            .may_be(404, NO_ALARM),
        Endpoint::post("/alarms/{id}/note", "Writes a note to an alarm", alarms::note).may_be(404, NO_ALARM),
        Endpoint::post("/alarms/test", "Sends a message that says it is a test to the channels", alarms::test)
            .may_be(409, "no such channel is configured, or the test was not delivered"),
        Endpoint::get("/log", "The last lines of the log, the newest first", log::log),
        Endpoint::events("/events", EVENTS, events::events).may_be(503, "too many clients listen already"),
        Endpoint::post(
            "/sites/{name}/pause",
            "Sends no request to a site, for some minutes or until it is resumed; over restarts too",
            pressing::pause,
        ),
        Endpoint::post("/sites/{name}/resume", "Goes on with a paused site", pressing::resume),
        Endpoint::post(
            "/sites/{name}/crawl",
            "Rechecks the start pages and all lists of a site at once, within its rules",
            pressing::crawl,
        ),
    ]
}

fn wrong_cursor() -> Problem {
    Problem::wrong("this cursor was never given", "begin without one, and go on with `next` of the answer")
}

/// Refuses a limit of none, and one above the bound.
fn must_be_within(limit: usize, most: usize) -> Result<(), Problem> {
    let is_within = (1..=most).contains(&limit);
    is_within.then_some(()).ok_or_else(|| {
        Problem::wrong(format!("the limit {limit} is out of bounds"), format!("write a number from 1 to {most}"))
    })
}
