//! URLs that end the session with which they are requested: a logout link that neither its address nor its text reveals.
//!
//! Every URL that was requested when a session ended is suspected; with several in flight it is unknown which one ended it. After a session
//! that ended soon, or if a URL was involved for the second time, visits go one at a time until the suspects have been answered: the one
//! whose visit ends a session alone, again, is closed for good, and reported by its address.

use std::collections::{HashMap, HashSet};

use super::{Session, SiteLoop};
use crate::job::Finished;
use crate::limits;
use crate::site_loop::visits::mark;
use crate::{CrawlError, judging};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_login::secret::told_url;
use gleaner_store::crawldb::UrlKey;

/// Name of the note that stores the closed URLs: complete, as a JSON list.
const ENDINGS_NOTE: &str = "ends_session";

/// What is known of the ends of this site's sessions.
#[derive(Default)]
pub(super) struct Endings {
    /// By URL, the ends of young sessions during its requests since its last answer.
    deaths: HashMap<u64, Deaths>,
    /// Ends of young sessions.
    ends: u64,
    /// Number of responses before the last of them.
    answers: Option<u64>,
    /// URLs that are requested one at a time after the next login.
    suspects: HashSet<u64>,
    closed: HashSet<String>,
}

#[derive(Default)]
struct Deaths {
    all: u8,
    /// Those during which it was the only request.
    alone: u8,
    /// Value of `Endings::ends` before the first of them.
    since: u64,
}

impl Endings {
    /// True while each visit waits for the previous one.
    fn go_alone(&self, answers: u64) -> bool {
        !self.suspects.is_empty() && answers < limits::SUSPECTS_ANSWERS_MAX
    }

    /// A URL was answered, and the session holds.
    fn clear(&mut self, mark: u64) {
        self.deaths.remove(&mark);
        self.suspects.remove(&mark);
    }

    /// A young session has ended during these requests, after this many responses to its member; returns the URL that has ended it, if
    /// known.
    fn end(&mut self, marks: &[u64], answers: u64) -> Option<u64> {
        // If a site ends each session after a fixed number of responses, no URL is to blame.
        let is_counted =
            answers >= limits::SESSION_ANSWERS_MIN && self.answers.is_some_and(|before| before.abs_diff(answers) <= 1);
        self.answers = Some(answers);
        let is_alone = marks.len() == 1 && !is_counted;
        let is_short = answers < limits::SESSION_ANSWERS_MIN;
        if self.deaths.len() > limits::ENDINGS_COUNTED_MAX {
            self.deaths.clear();
        }
        let mut found = None;
        self.ends += 1;
        for mark in marks {
            let deaths = self.deaths.entry(*mark).or_insert(Deaths { since: self.ends - 1, ..Deaths::default() });
            (deaths.all, deaths.alone) =
                (deaths.all.saturating_add(1), deaths.alone.saturating_add(u8::from(is_alone)));
            let &mut Deaths { all, alone, since } = deaths;
            // Sessions that end after a number of requests, or a time, also end at others.
            let is_each = self.ends - since == u64::from(all) || all >= limits::ENDINGS_OF_ONE_MAX;
            // Once may be chance, even after more ends with others in flight: the last remaining URL may be unlucky.
            let is_it = is_alone && alone >= 2 && is_each;
            if is_it {
                found = Some(*mark);
            } else if is_short || all >= 2 {
                self.suspects.insert(*mark);
            }
        }
        if found.is_some() {
            // The others were in flight with it.
            (self.deaths, self.suspects) = Default::default();
        }
        found
    }
}

impl Session {
    /// True if a visit waits for those in flight, so that it is known which of them ends a session.
    pub(in crate::site_loop) fn goes_alone(&self) -> bool {
        self.endings.go_alone(self.answers)
    }

    /// True for a URL that has ended sessions: it is no longer requested.
    pub(in crate::site_loop) fn was_ended_by(&self, url: &CrawlUrl) -> bool {
        let closed = &self.endings.closed;
        !closed.is_empty() && closed.contains(url.as_str())
    }

    /// Restores what earlier runs have closed; URLs closed under other rules are requested again.
    pub(in crate::site_loop) async fn take_up_endings(&mut self, has_other_rules: bool) -> Result<(), CrawlError> {
        let site = &self.site;
        if site.account.is_none() {
            return Ok(());
        }
        let name = &site.rules.name;
        let note = site.db.note(name, ENDINGS_NOTE).await?.unwrap_or_default();
        let closed: HashSet<String> = serde_json::from_slice(&note).unwrap_or_default();
        if has_other_rules && !closed.is_empty() {
            site.db.put_note(name, ENDINGS_NOTE, b"[]".to_vec()).await?;
            let mut due = Vec::new();
            let urls = closed.iter().filter_map(|url| CrawlUrl::parse(url, &Canonical::default()).ok());
            for found in urls.filter_map(|url| judging::judge(&site.rules, url).ok()) {
                due.extend(site.rows.row(&found.url, found.class, 1).await?);
            }
            site.db.make_due(due, site.clock.now()).await?;
        } else {
            self.endings.closed = closed;
        }
        Ok(())
    }

    pub(super) fn outlived(&mut self, key: &UrlKey) {
        self.endings.clear(mark(key));
    }

    /// The session has ended; returns the visits that it was denied, and the mark of the one that has ended it, if known.
    fn bury(&mut self) -> (Vec<Finished>, Option<u64>) {
        let now = self.site.clock.now();
        let is_young = now.since(self.began) < limits::SHORT_SESSION_TIME && self.generation > 0;
        let is_short = is_young && self.answers < limits::SESSION_ANSWERS_MIN;
        self.short_ones = if is_short { self.short_ones + 1 } else { 0 };
        let held = self.take_held();
        let marks: Vec<u64> = held.iter().map(|finished| mark(&finished.visit.key)).collect();
        let guilty = if is_young { self.endings.end(&marks, self.answers) } else { None };
        if guilty.is_some() {
            // The reason why it was short is known; if the next one is short as well, the reason is another.
            self.short_ones = self.short_ones.min(limits::SHORT_SESSIONS_MAX - 1);
        }
        (held, guilty)
    }

    /// Closes a URL for this run and later ones.
    async fn close(&mut self, url: &CrawlUrl) -> Result<(), CrawlError> {
        let site = &self.site.rules.name;
        tracing::warn!(%site, url = told_url(url.as_str()), "each session ends at this URL: it is no longer requested");
        let closed = &mut self.endings.closed;
        if closed.len() < limits::ENDINGS_CLOSED_MAX {
            closed.insert(url.as_str().to_owned());
        }
        let note = serde_json::to_vec(closed).unwrap_or_default();
        Ok(self.site.db.put_note(site, ENDINGS_NOTE, note).await?)
    }
}

impl SiteLoop {
    /// The session has ended: denied visits are requested again, except for the URL that has ended it.
    pub(super) async fn bury(&mut self) -> Result<(), CrawlError> {
        let (held, guilty) = self.session.bury();
        for mut finished in held {
            if guilty == Some(mark(&finished.visit.key)) {
                if let Some(url) = self.hosts.url(&finished.visit.key) {
                    self.session.close(&url).await?;
                }
                finished.detail = Some("every session ends there".to_owned());
                self.go_on(Box::new(finished)).await?;
            } else {
                self.ask_again(Box::new(finished)).await?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
