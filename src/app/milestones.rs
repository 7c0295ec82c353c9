//! What a running service says of its sites unasked: a line each thousand torrents, one an hour if anything was requested, and one a day
//! on all. Pure: it is given the time and the counts.

use std::collections::BTreeMap;

use crate::limits::{MILESTONE_TIME, MILESTONE_TORRENTS, SUMMARY_TIME};
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::progress::SiteProgress;

/// A line of the log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Line {
    /// What one site has given since its last line.
    Site { site: String, torrents: u64, requests: u64, queued: u64 },
    /// What all sites together have given since the last summary.
    Day { sites: usize, torrents: u64, requests: u64, queued: u64 },
}

/// What was said last.
#[derive(Debug)]
pub struct Milestones {
    sites: BTreeMap<String, Said>,
    /// When the last summary was due, and what has been given since, by sites that were started again, too.
    day: UnixMillis,
    torrents: u64,
    requests: u64,
}

#[derive(Clone, Copy, Debug)]
struct Said {
    at: UnixMillis,
    torrents: u64,
    requests: u64,
    /// The counts at the last call.
    seen: (u64, u64),
}

impl Milestones {
    #[must_use]
    pub fn new(now: UnixMillis) -> Self {
        Self { sites: BTreeMap::new(), day: now, torrents: 0, requests: 0 }
    }

    /// The lines that are due. A site's counts start from zero when it is started again.
    pub fn due(&mut self, now: UnixMillis, progress: &BTreeMap<String, SiteProgress>) -> Vec<Line> {
        let mut lines = Vec::new();
        self.sites.retain(|site, _| progress.contains_key(site));
        for (site, SiteProgress { counts, .. }) in progress {
            let new = Said { at: now, torrents: 0, requests: 0, seen: (0, 0) };
            let said = self.sites.entry(site.clone()).or_insert(new);
            let is_new_run = counts.torrents < said.seen.0 || counts.pages < said.seen.1;
            let before = if is_new_run { (0, 0) } else { said.seen };
            let (torrents, requests) = (counts.torrents - before.0, counts.pages - before.1);
            said.seen = (counts.torrents, counts.pages);
            said.torrents += torrents;
            said.requests += requests;
            self.torrents += torrents;
            self.requests += requests;
            let is_hour = now.since(said.at) >= MILESTONE_TIME;
            if said.torrents >= MILESTONE_TORRENTS || (is_hour && said.requests > 0) {
                let (torrents, requests) = (said.torrents, said.requests);
                lines.push(Line::Site { site: site.clone(), torrents, requests, queued: counts.queued });
                *said = Said { at: now, torrents: 0, requests: 0, seen: said.seen };
            } else if is_hour {
                said.at = now;
            }
        }
        if now.since(self.day) >= SUMMARY_TIME {
            let queued = progress.values().map(|site| site.counts.queued).sum();
            let (torrents, requests) = (self.torrents, self.requests);
            lines.push(Line::Day { sites: progress.len(), torrents, requests, queued });
            (self.day, self.torrents, self.requests) = (now, 0, 0);
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_crawl::progress::Counts;

    fn sites(counts: &[(&str, u64, u64)]) -> BTreeMap<String, SiteProgress> {
        let site = |&(site, torrents, pages): &(&str, u64, u64)| {
            let counts = Counts { torrents, pages, queued: 5, ..Counts::default() };
            (site.to_owned(), SiteProgress { counts, ..SiteProgress::default() })
        };
        counts.iter().map(site).collect()
    }

    fn line(site: &str, torrents: u64, requests: u64) -> Line {
        Line::Site { site: site.to_owned(), torrents, requests, queued: 5 }
    }

    #[test]
    fn a_site_is_told_each_hour_and_each_thousand_torrents_and_all_of_them_each_day() {
        let start = UnixMillis(1_700_000_000_000);
        let after = |hours: u64, more: u64| {
            start.plus(MILESTONE_TIME * hours as u32).plus(std::time::Duration::from_secs(more))
        };
        let mut told = Milestones::new(start);
        assert_eq!(told.due(start, &sites(&[("a", 0, 0), ("b", 0, 0)])), []);
        assert_eq!(told.due(after(0, 60), &sites(&[("a", 999, 1_200), ("b", 0, 0)])), []);
        assert_eq!(told.due(after(0, 61), &sites(&[("a", 1_001, 1_300), ("b", 0, 0)])), [line("a", 1_001, 1_300)]);
        // Nothing was requested of b; of a something, but not for an hour yet.
        assert_eq!(told.due(after(1, 0), &sites(&[("a", 1_002, 1_310), ("b", 0, 0)])), []);
        assert_eq!(told.due(after(1, 61), &sites(&[("a", 1_002, 1_310), ("b", 0, 0)])), [line("a", 1, 10)]);
        // Started again.
        assert_eq!(told.due(after(3, 0), &sites(&[("a", 2, 7), ("b", 0, 0)])), [line("a", 2, 7)]);
        let day = Line::Day { sites: 2, torrents: 1_004, requests: 1_320, queued: 10 };
        assert_eq!(
            told.due(after(24, 0), &sites(&[("a", 2, 8), ("b", 0, 2)])),
            [line("a", 0, 1), line("b", 0, 2), day]
        );
        assert_eq!(told.due(after(24, 1), &sites(&[("a", 2, 8), ("b", 0, 2)])), []);
    }
}
