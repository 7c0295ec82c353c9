//! What the visits of a site came to: for each class and outcome how many, with an example. Kept over restarts; a crawl that got less than
//! it should names its causes from it.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::job::Finished;
use crate::limits;
use crate::masked::{masked, masked_path};
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::{CrawlUrl, without_keys};
use gleaner_rules::{Class, SiteRules};
use gleaner_store::crawldb::Outcome;

/// Name of the note in the database.
pub const TALLY_NOTE: &str = "tally";

/// All visits of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    causes: Vec<Cause>,
    /// The last visit of each start URL.
    #[serde(default)]
    starts: BTreeMap<Box<str>, Start>,
    /// Pages of a torrent, and threads, that named one.
    pub targets_with_torrent: u64,
    /// URLs that an earlier rule took, and a rule of a target's class would have taken.
    pub shadowed: Option<Shadowed>,
    /// When a visit last ended as wished.
    #[serde(default)]
    pub last_success: Option<UnixMillis>,
    /// When a torrent or magnet last came that was new.
    #[serde(default)]
    pub last_find: Option<UnixMillis>,
    #[serde(skip)]
    has_changed: bool,
}

/// How a start URL was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Start {
    /// Name of the outcome.
    pub outcome: Box<str>,
    pub detail: Option<Box<str>>,
}

impl Start {
    /// True if the visit ended so.
    #[must_use]
    pub fn is(&self, outcome: Outcome) -> bool {
        *self.outcome == *outcome.name()
    }

    /// True if the page was read, or led on.
    #[must_use]
    pub fn was_answered(&self) -> bool {
        Outcome::ALL.iter().any(|outcome| outcome.was_answered() && self.is(*outcome))
    }
}

/// Visits of one class that ended alike.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "Trouble")]
pub struct Cause {
    pub class: Class,
    /// Name of the outcome.
    pub outcome: Box<str>,
    /// What the log adds to the outcome, where it is the same for many: a status, a redirect's target, a notice.
    pub detail: Option<Box<str>>,
    pub visits: u64,
    /// The last of these URLs.
    pub example: Box<str>,
}

/// See [`Tally::shadowed`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shadowed {
    /// Number of the rule that took them, and of the one that would have.
    pub by: usize,
    pub rule: usize,
    pub urls: u64,
    pub example: Box<str>,
}

impl Tally {
    /// The stored form's content; the default for one of another version.
    #[must_use]
    pub fn from_bytes(note: &[u8]) -> Self {
        serde_json::from_slice(note).unwrap_or_default()
    }

    /// The stored form, if it has changed since the last call.
    pub fn note(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_changed).then(|| serde_json::to_vec(self).unwrap_or_default())
    }

    /// Counts a visit that has ended.
    pub fn count(&mut self, rules: &SiteRules, url: &CrawlUrl, finished: &Finished) {
        let (class, outcome) = (finished.job.class, finished.visit.outcome);
        if outcome.was_answered() {
            self.last_success = Some(finished.visit.at);
        }
        if matches!(outcome, Outcome::Page | Outcome::PageDuplicate) {
            self.targets_with_torrent += u64::from(class.is_target() && !finished.end.may_hold_more);
            self.shadows(rules, url, finished.job.rule);
        }
        self.start(rules, url, outcome, finished.detail.as_deref());
        let is_common = matches!(
            outcome,
            Outcome::Denied
                | Outcome::ClientError
                | Outcome::Gone
                | Outcome::RedirectRefused
                | Outcome::NotForUs
                | Outcome::HtmlPosingAsTorrent
                | Outcome::Redirected
        );
        let detail = finished.detail.as_deref().filter(|_| is_common).map(without_keys);
        self.add(class, outcome, detail.as_deref(), url);
    }

    /// A torrent or magnet has come that is new.
    pub fn found(&mut self, at: UnixMillis) {
        (self.last_find, self.has_changed) = (Some(at), true);
    }

    /// Counts a URL that is parked without a request.
    pub fn parked(&mut self, rules: &SiteRules, class: Class, outcome: Outcome, url: &CrawlUrl) {
        self.start(rules, url, outcome, None);
        self.add(class, outcome, None, url);
    }

    fn start(&mut self, rules: &SiteRules, url: &CrawlUrl, outcome: Outcome, detail: Option<&str>) {
        if rules.start.contains(url) {
            let detail = detail.map(|detail| without_keys(detail).into());
            self.starts.insert(url.as_str().into(), Start { outcome: outcome.name().into(), detail });
        }
    }

    /// Start URLs of these rules that were visited, and were not read.
    pub fn unread_starts<'a>(&'a self, rules: &'a SiteRules) -> impl Iterator<Item = (&'a str, &'a Start)> {
        let of_rules = move |url: &str| rules.start.iter().any(|start| start.as_str() == url);
        self.starts
            .iter()
            .filter(move |(url, start)| of_rules(url) && !start.was_answered())
            .map(|(url, start)| (&**url, start))
    }

    fn add(&mut self, class: Class, outcome: Outcome, detail: Option<&str>, url: &CrawlUrl) {
        self.has_changed = true;
        let example = masked(url.as_str()).into();
        let mut of_kind =
            self.causes.iter_mut().filter(|cause| cause.class == class && *cause.outcome == *outcome.name());
        let mut met = 0;
        // Many different details are none: the rest share the entry of the last.
        let cause = of_kind.find(|cause| {
            met += 1;
            cause.detail.as_deref() == detail || met >= limits::TALLY_DETAILS_MAX
        });
        match cause {
            Some(cause) => {
                cause.visits += 1;
                cause.example = example;
            }
            None => self.causes.push(Cause {
                class,
                outcome: outcome.name().into(),
                detail: detail.map(Into::into),
                visits: 1,
                example,
            }),
        }
    }

    /// Visits of a class that were refused alike are made once more: they have not come to anything yet.
    pub fn take_back(&mut self, class: Class, visits: usize) {
        // What walls are made of: see `refusal`.
        let kinds = [
            Outcome::Denied,
            Outcome::ClientError,
            Outcome::NotForUs,
            Outcome::HtmlPosingAsTorrent,
            Outcome::Redirected,
            Outcome::RedirectRefused,
        ];
        let is_refusal = |cause: &Cause| kinds.iter().any(|kind| *cause.outcome == *kind.name()) && cause.is_trouble();
        let refused = self.causes.iter_mut().filter(|cause| cause.class == class && is_refusal(cause));
        if let Some(cause) = refused.max_by_key(|cause| cause.visits) {
            cause.visits = cause.visits.saturating_sub(visits as u64);
        }
        self.causes.retain(|cause| cause.visits > 0);
        self.has_changed = true;
    }

    /// What ended so is asked for again.
    pub fn forget(&mut self, outcome: Outcome) {
        self.causes.retain(|cause| *cause.outcome != *outcome.name());
        self.has_changed = true;
    }

    /// Notes a URL that a rule has taken from a rule of a target's class behind it.
    fn shadows(&mut self, rules: &SiteRules, url: &CrawlUrl, by: usize) {
        let Some(rule) = rules.shadowed(url, by) else { return };
        let first = || Shadowed { by, rule, urls: 0, example: masked_path(url).into() };
        let shadowed = self.shadowed.get_or_insert_with(first);
        shadowed.urls += u64::from((shadowed.by, shadowed.rule) == (by, rule));
    }

    /// Visits of these classes and outcomes.
    #[must_use]
    pub fn visits(&self, is_of: impl Fn(&Cause) -> bool) -> u64 {
        self.causes.iter().filter(|cause| is_of(cause)).map(|cause| cause.visits).sum()
    }

    /// What did not end as wished, the most frequent first.
    #[must_use]
    pub fn troubles(&self) -> Vec<&Cause> {
        let mut troubles: Vec<&Cause> = self.causes.iter().filter(|cause| cause.is_trouble()).collect();
        troubles.sort_by(|a, b| b.visits.cmp(&a.visits).then_with(|| a.outcome.cmp(&b.outcome)));
        troubles
    }
}

impl Cause {
    /// True for a URL that gave nothing.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        let is_fine = Outcome::ALL.iter().any(|outcome| outcome.was_answered() && outcome.name() == &*self.outcome);
        !is_fine || self.detail.is_some()
    }

    /// In words: `451 download URLs: robots_denied`.
    #[must_use]
    pub fn told(&self) -> String {
        let detail = self.detail.as_deref().filter(|detail| *detail != &*self.outcome);
        let detail = detail.map(|detail| format!(" ({detail})")).unwrap_or_default();
        format!("{} {}: {}{detail}", self.visits, self.class.name(), self.outcome)
    }
}

#[cfg(test)]
mod tests;
