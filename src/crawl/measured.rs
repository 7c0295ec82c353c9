//! What a running crawl measures of itself for monitoring: in memory, since the start of its process.

use std::collections::BTreeMap;

use crate::job::Finished;
use gleaner_base::clock::UnixMillis;
use gleaner_base::durations::Durations;
use gleaner_rules::Class;
use gleaner_store::crawldb::Outcome;

/// The measurements of one site.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Measured {
    /// Time from a visit's request to the end of its response.
    pub fetches: Durations,
    /// Lists that were read, by class.
    pub lists: BTreeMap<&'static str, ListsRead>,
    /// Requests of the site's day, if its rules limit them.
    pub day: Option<DayUsed>,
    /// When the next recheck or round is due; None while one is due now, or none is planned.
    pub next_look: Option<UnixMillis>,
}

/// Pages of lists that were read, and the rows that they showed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ListsRead {
    pub pages: u64,
    /// Links to torrents, to pages of torrents, and to threads.
    pub rows: u64,
}

/// The use of `requests_per_day`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DayUsed {
    pub used: u64,
    pub limit: u64,
}

impl Measured {
    /// Counts a visit whose response is final.
    pub fn visited(&mut self, finished: &Finished) {
        if let Some(took) = finished.timing.fetch.filter(|_| !finished.host.was_read) {
            self.fetches.add(took);
        }
        let is_read = matches!(finished.visit.outcome, Outcome::Page | Outcome::PageDuplicate);
        self.listed(finished.job.class, is_read.then_some(finished.end.shows.targets));
    }

    fn listed(&mut self, class: Class, rows: Option<usize>) {
        if let Some(rows) = rows.filter(|_| class.is_listing()) {
            let lists = self.lists.entry(class.name()).or_default();
            lists.pages += 1;
            lists.rows += rows as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_counted_by_the_class_of_their_list() {
        let mut measured = Measured::default();
        for (class, rows) in [
            (Class::Index, Some(50)),
            (Class::Index, Some(0)),
            (Class::Board, Some(7)),
            (Class::Index, None),
            (Class::Detail, Some(1)),
        ] {
            measured.listed(class, rows);
        }
        let lists = [("board", ListsRead { pages: 1, rows: 7 }), ("index", ListsRead { pages: 2, rows: 50 })];
        assert_eq!(measured.lists, BTreeMap::from(lists));
    }
}
