//! The summary as one JSON object: what concerns one site stands in its entry of `sites`, as in `status --json`.

use serde::Serialize;

use super::{Summary, TooDeep};
use crate::app::status::Waiting;
use crate::cli::findings::Finding;
use gleaner_crawl::guesses::GuessCounts;
use gleaner_crawl::progress::Ended;
use gleaner_crawl::scripts::rendered::Nothing;

#[derive(Serialize)]
pub(super) struct OfSite<'a> {
    name: &'a str,
    #[serde(flatten)]
    ended: &'a Ended,
    /// Until when its rules allow no requests.
    waiting: Option<&'a Waiting>,
    /// URLs that were parked for their depth.
    too_deep: Option<&'a TooDeep>,
    /// Pages that were empty even after their scripts.
    showed_nothing: Option<&'a Nothing>,
    /// What `--enumerate` came to.
    enumerated: Option<&'a GuessCounts>,
    pages_not_whole: u64,
    /// Where it gave less than it should, and why.
    findings: &'a [Finding],
}

pub(super) fn sites(summary: &Summary) -> Vec<OfSite<'_>> {
    let mut sites = Vec::new();
    for (name, ended) in &summary.sites {
        sites.push(OfSite {
            name,
            ended,
            waiting: summary.waiting.get(name),
            too_deep: summary.too_deep.get(name),
            showed_nothing: summary.showed_nothing.get(name),
            enumerated: summary.guesses.get(name),
            pages_not_whole: summary.sites_not_whole.get(name).copied().unwrap_or_default(),
            findings: summary.findings.get(name).map(Vec::as_slice).unwrap_or_default(),
        });
    }
    sites
}
