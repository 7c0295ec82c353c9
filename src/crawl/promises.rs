//! A rule keeps its promise, or says so: each visit keeps or breaks what its rule promises ([`breach`]), a sequential test per rule, and one
//! for the later pages of a list, notices when that changes ([`cusum`]), and URLs that kept it before confirm it. A chat board, a purge
//! or an empty new board fails in bursts, and is no drift: the confirming URLs still keep the promise. Pure; kept as a note.

mod breach;
mod cusum;

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use serde::{Deserialize, Serialize};

use crate::limits;
use crate::masked::masked;
use crate::worth::rule_key;
use cusum::{Cusum, KEPT_MIN};
use gleaner_base::clock::UnixMillis;
use gleaner_rules::{Rule, SiteRules};
use gleaner_store::crawldb::{Listing, UrlKey};

pub use breach::{Breach, Verdict, verdict};

/// Name of the note that stores them.
pub const PROMISES_NOTE: &str = "promises";

/// URLs that confirm an alarm.
const CONFIRMING: usize = 3;

/// Different URLs that have to break a promise before an alarm.
const BROKEN_URLS: usize = 3;

/// Visits in a row that keep a promise again and end its alarm.
const KEPT_AGAIN: u32 = 5;

/// Rows of a page from which two pages with the same ones are one page.
const SAME_ROWS: usize = 3;

/// The promises of one site's rules.
#[derive(Debug, Default)]
pub struct Promises {
    records: BTreeMap<Box<str>, Record>,
    /// The last pages of each list: number and a hash of the rows.
    shown: HashMap<Box<str>, VecDeque<(u64, u64)>>,
    has_changed: bool,
}

/// The promise of a rule, or of the later pages that it takes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
struct Record {
    test: Cusum,
    /// The last URLs that kept it, youngest last.
    kept: VecDeque<KnownUrl>,
    /// URLs that broke it when they were read last, and how.
    #[serde(default)]
    failing: BTreeMap<Box<str>, Breach>,
    /// The pages that link to downloads that broke it.
    #[serde(default)]
    parents: BTreeSet<Box<str>>,
    /// Since a suspicion began.
    #[serde(default)]
    suspicion: Suspicion,
    #[serde(default)]
    confirming: Option<Confirming>,
    #[serde(default)]
    alarm: Option<Alarm>,
}

/// A URL of the site, as it is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownUrl {
    pub key: UrlKey,
    pub depth: u16,
}

/// What speaks against a promise.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Suspicion {
    breaches: BTreeMap<Breach, u32>,
    /// The first different URLs, and when the first one broke it.
    urls: Vec<Box<str>>,
    #[serde(default)]
    began: Option<UnixMillis>,
    /// The last URL that broke it, and what the log says of that visit.
    #[serde(default)]
    example: Box<str>,
    #[serde(default)]
    detail: Option<Box<str>>,
    /// Links without a class when it began, by shape.
    #[serde(default)]
    unclassed: BTreeMap<Box<str>, u64>,
}

/// URLs that kept a promise, asked once more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Confirming {
    asked: Vec<UrlKey>,
    #[serde(default)]
    began: UnixMillis,
    kept: u32,
    broken: u32,
}

/// A promise that is kept no more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(rename = "BrokenSince")]
pub struct Alarm {
    pub since: UnixMillis,
    /// How it was broken, and how often until the alarm.
    pub breach: Breach,
    pub broken: u32,
    /// Usual share of broken promises before.
    pub usual: f64,
    /// Path and query of a URL that broke it, and kept it before, and what the log says of that visit; keys and tokens masked.
    pub example: Box<str>,
    pub detail: Option<Box<str>>,
    /// The shape of links without a class that came up meanwhile, and how many.
    pub instead: Option<(Box<str>, u64)>,
    /// Visits in a row that kept it since.
    kept_again: u32,
}

impl Alarm {
    /// In words: `classes.detail `^/t/` keeps its promise no more since …`.
    #[must_use]
    pub fn told(&self, rule: &str, is_behind: bool) -> String {
        let (key, expression) = rule.split_once(' ').unwrap_or((rule, ""));
        let pages = if is_behind { " for later pages" } else { "" };
        let Self { since, breach, broken, usual, example, detail, instead, .. } = self;
        let usual = (usual * 100.0).round();
        let detail = detail.as_deref().map(|detail| format!(" ({detail})")).unwrap_or_default();
        let instead = instead
            .as_ref()
            .map(|(shape, links)| format!("; since then {links} links of the shape {shape} match no class"));
        format!(
            "{key} `{expression}` keeps its promise no more{pages}, since {}: {broken} URLs were {breach}, as {example}{detail}; \
             {usual} % were so before{}",
            since.rfc3339(),
            instead.unwrap_or_default()
        )
    }

    /// What to do about it, besides learning the site again; None if there is nothing more to say.
    #[must_use]
    pub fn advice(&self) -> Option<&'static str> {
        match self.breach {
            Breach::LedOff => Some("if the site has moved, correct `start` and `hosts`"),
            Breach::NoRows => Some("if scripts build its lists now, `render.index = \"always\"`"),
            Breach::NoTorrent | Breach::NotAnswered => Some("open one in a browser: the site may want something first"),
            Breach::Gone | Breach::NoTarget | Breach::SameRows | Breach::NoLink => None,
        }
    }
}

/// A visit, as its promise sees it.
pub struct Seen<'a> {
    /// Key and expression of its rule: another expression has another promise.
    pub rule: &'a str,
    /// True for a later page of a list.
    pub is_behind: bool,
    pub url: KnownUrl,
    pub verdict: Verdict,
    /// Of a download, the page that links to it.
    pub parent: Option<&'a str>,
    pub detail: Option<&'a str>,
    pub at: UnixMillis,
}

/// What is to be done after a visit.
#[derive(Debug, PartialEq)]
pub enum Step {
    Nothing,
    /// These are to be asked once more.
    Confirm(Vec<KnownUrl>),
    /// The confirming URLs keep the promise: no drift.
    Rejected,
    Alarm(Alarm),
    /// It is kept again.
    Over,
}

/// The name of a promise.
fn name(rule: &str, is_behind: bool) -> Box<str> {
    if is_behind { format!("{rule} {BEHIND}").into() } else { rule.into() }
}

/// True for the key and expression of a rule that these have.
#[must_use]
pub fn is_rule_of(rules: &SiteRules, name: &str) -> bool {
    rules.rules().iter().any(|rule| rule_key(rule) == name)
}

/// File and line of the rule with this key and expression.
#[must_use]
pub fn place_of(rules: &SiteRules, name: &str) -> Option<String> {
    rules.rules().iter().find(|rule| rule_key(rule) == name).map(Rule::place)
}

/// True if rules that were repaired still have the rule whose promise is broken, and none that is new takes what its pages lack.
#[must_use]
pub fn is_still_broken(repaired: &SiteRules, before: &SiteRules, rule: &str, breach: &Breach) -> bool {
    let is_new = |rule: &Rule| !is_rule_of(before, &rule_key(rule));
    let takes_what_lacks = |rule: &&Rule| rule.class.is_some_and(|class| breach.lacks(class)) && is_new(rule);
    is_rule_of(repaired, rule) && !repaired.rules().iter().any(|rule| takes_what_lacks(&rule))
}

/// Marks the promise of a rule's later pages.
const BEHIND: &str = "> 1";

impl Promises {
    /// Restores the promises of these rules; those of other expressions are forgotten. An unreadable note counts as a missing one.
    #[must_use]
    pub fn take_up(note: Option<&[u8]>, is_rule: impl Fn(&str) -> bool) -> Self {
        let kept: BTreeMap<Box<str>, Record> =
            note.and_then(|note| serde_json::from_slice(note).ok()).unwrap_or_default();
        let of_rule = |name: &str| is_rule(name.strip_suffix(BEHIND).map_or(name, str::trim_end));
        let count = kept.len();
        let records: BTreeMap<Box<str>, Record> = kept.into_iter().filter(|(name, _)| of_rule(name)).collect();
        // What is forgotten must not be told from the note.
        Self { has_changed: records.len() != count, records, ..Self::default() }
    }

    /// The stored form, if it has changed since the last call.
    pub fn note(&mut self) -> Option<Vec<u8>> {
        std::mem::take(&mut self.has_changed).then(|| serde_json::to_vec(&self.records).unwrap_or_default())
    }

    /// True for a later page of a list that shows the rows of another one. A page that a list repeats at its end is one of many.
    pub fn repeats(&mut self, listing: &Listing) -> bool {
        if listing.targets.len() < SAME_ROWS {
            return false;
        }
        if self.shown.len() >= limits::PROMISE_LISTS_MAX && !self.shown.contains_key(&listing.series) {
            self.shown.clear();
        }
        let rows = listing.targets.iter().fold(0, |hash: u64, target| hash.rotate_left(7) ^ target);
        let pages = self.shown.entry(listing.series.clone()).or_default();
        let is_known = pages.iter().any(|&(page, shown)| page != listing.page && shown == rows);
        pages.retain(|&(page, _)| page != listing.page);
        pages.push_back((listing.page, rows));
        if pages.len() > limits::PROMISE_PAGES_MAX {
            pages.pop_front();
        }
        is_known
    }

    /// URLs that are to be asked once more, of an earlier run.
    pub fn unconfirmed(&self) -> impl Iterator<Item = &KnownUrl> {
        let of = |record: &Record, url: &KnownUrl| {
            record.confirming.as_ref().is_some_and(|confirming| confirming.asked.contains(&url.key))
        };
        self.records.values().flat_map(move |record| record.kept.iter().filter(move |url| of(record, url)))
    }

    /// The pages that link to downloads that are none.
    #[must_use]
    pub fn parents(&self) -> Vec<Box<str>> {
        self.records.values().flat_map(|record| record.parents.iter().cloned()).collect()
    }

    /// These pages are read again.
    pub fn forget_parents(&mut self) {
        for record in self.records.values_mut() {
            self.has_changed |= !record.parents.is_empty();
            record.parents.clear();
        }
    }

    /// The alarms: rule, whether only later pages of its lists break their promise, and what is known.
    pub fn alarms(&self) -> impl Iterator<Item = (&str, bool, &Alarm)> {
        self.records.iter().filter_map(|(name, record)| {
            let alarm = record.alarm.as_ref()?;
            let behind = name.strip_suffix(BEHIND);
            Some((behind.map_or(&**name, str::trim_end), behind.is_some(), alarm))
        })
    }

    /// Takes note of a visit. `unclassed` tells the links without a class so far, by shape.
    pub fn mind(&mut self, seen: Seen<'_>, unclassed: impl Fn() -> BTreeMap<Box<str>, u64>) -> Step {
        let name = name(seen.rule, seen.is_behind);
        if self.records.len() >= limits::PROMISES_MAX && !self.records.contains_key(&name) {
            return Step::Nothing;
        }
        self.has_changed = true;
        self.records.entry(name).or_default().mind(&seen, unclassed)
    }
}

impl Record {
    fn mind(&mut self, seen: &Seen<'_>, unclassed: impl Fn() -> BTreeMap<Box<str>, u64>) -> Step {
        let path = &seen.url.key.path;
        let verdict = match &seen.verdict {
            Verdict::Kept => Some(Ok(())),
            Verdict::Broken(breach) => Some(Err(breach.clone())),
            Verdict::Same => match self.failing.get(path) {
                Some(breach) => Some(Err(breach.clone())),
                // It may be one that there was no room for.
                None => (self.failing.len() < limits::PROMISE_FAILING_MAX).then_some(Ok(())),
            },
            Verdict::None => None,
        };
        if let (Some(Err(_)), Some(parent)) = (&verdict, seen.parent)
            && self.parents.len() < limits::PROMISE_PARENTS_MAX
        {
            self.parents.insert(parent.into());
        }
        match &verdict {
            Some(Err(breach)) if self.failing.len() < limits::PROMISE_FAILING_MAX => {
                self.failing.insert(path.clone(), breach.clone());
            }
            Some(Ok(())) => drop(self.failing.remove(path)),
            _ => {}
        }
        if let Some(mut confirming) = self.confirming.take() {
            let is_late = seen.at.since(confirming.began) >= limits::PROMISE_LONE_TIME;
            if is_late {
                // Parked, or another rule's by now: others are asked in their place.
                self.kept.retain(|url| !confirming.asked.contains(&url.key));
                confirming.asked.clear();
            }
            if !is_late || confirming.kept + confirming.broken > 0 {
                return self.confirms(confirming, seen, verdict, unclassed);
            }
        }
        let Some(verdict) = verdict else { return Step::Nothing };
        if verdict.is_ok() {
            self.kept.retain(|url| url.key != seen.url.key);
            self.kept.push_back(seen.url.clone());
            if self.kept.len() > limits::PROMISE_URLS_MAX {
                self.kept.pop_front();
            }
        }
        if let Some(alarm) = &mut self.alarm {
            return match verdict {
                Ok(()) => {
                    alarm.kept_again += 1;
                    if alarm.kept_again < KEPT_AGAIN { Step::Nothing } else { self.is_over() }
                }
                Err(_) => {
                    alarm.kept_again = 0;
                    Step::Nothing
                }
            };
        }
        let is_over = self.test.add(verdict.is_err());
        match &verdict {
            Ok(()) if self.test.is_calm() => self.suspicion = Suspicion::default(),
            Ok(()) => {}
            Err(breach) => self.suspicion.add(breach, seen, &unclassed),
        }
        // A rule that hardly ever kept it has promised nothing: that it never gave anything is said elsewhere.
        if !is_over || self.test.kept() < KEPT_MIN || !self.suspicion.is_of_many(seen.at) {
            return Step::Nothing;
        }
        if self.kept.is_empty() {
            return self.begins(seen, &unclassed());
        }
        let asked: Vec<KnownUrl> = self.kept.iter().rev().take(CONFIRMING).cloned().collect();
        let keys = asked.iter().map(|url| url.key.clone()).collect();
        self.confirming = Some(Confirming { asked: keys, began: seen.at, kept: 0, broken: 0 });
        Step::Confirm(asked)
    }

    /// Another visit, while URLs that kept the promise are asked once more.
    fn confirms(
        &mut self,
        mut confirming: Confirming,
        seen: &Seen<'_>,
        verdict: Option<Result<(), Breach>>,
        unclassed: impl Fn() -> BTreeMap<Box<str>, u64>,
    ) -> Step {
        if let Some(place) = confirming.asked.iter().position(|key| *key == seen.url.key) {
            confirming.asked.swap_remove(place);
            match verdict {
                Some(Ok(())) => confirming.kept += 1,
                Some(Err(breach)) => {
                    confirming.broken += 1;
                    self.suspicion.add(&breach, seen, &unclassed);
                }
                None => {}
            }
        }
        if !confirming.asked.is_empty() {
            self.confirming = Some(confirming);
            return Step::Nothing;
        }
        if confirming.kept + confirming.broken == 0 {
            // Nobody answered: the next breach asks again.
            return Step::Nothing;
        }
        if confirming.kept >= confirming.broken {
            let suspicion = std::mem::take(&mut self.suspicion);
            self.test.was_usual(suspicion.breaches.values().sum());
            return Step::Rejected;
        }
        self.begins(seen, &unclassed())
    }

    fn begins(&mut self, seen: &Seen<'_>, unclassed: &BTreeMap<Box<str>, u64>) -> Step {
        let alarm = std::mem::take(&mut self.suspicion).alarm(self.test.usual(), seen, unclassed);
        self.alarm = Some(alarm.clone());
        Step::Alarm(alarm)
    }

    fn is_over(&mut self) -> Step {
        self.alarm = None;
        self.test.begin_anew();
        self.suspicion = Suspicion::default();
        Step::Over
    }
}

impl Suspicion {
    fn add(&mut self, breach: &Breach, seen: &Seen<'_>, unclassed: &impl Fn() -> BTreeMap<Box<str>, u64>) {
        if self.breaches.is_empty() {
            self.unclassed = unclassed();
        }
        *self.breaches.entry(breach.clone()).or_default() += 1;
        self.began.get_or_insert(seen.at);
        self.example.clone_from(&seen.url.key.path);
        self.detail = seen.detail.map(Into::into);
        if self.urls.len() < BROKEN_URLS && !self.urls.contains(&seen.url.key.path) {
            self.urls.push(seen.url.key.path.clone());
        }
    }

    /// True if several URLs broke the promise, or for hours: many lists have one first page, and a site may be down for maintenance.
    fn is_of_many(&self, now: UnixMillis) -> bool {
        let lasts = self.began.is_some_and(|began| now.since(began) >= limits::PROMISE_LONE_TIME);
        self.urls.len() >= BROKEN_URLS || lasts
    }

    fn alarm(self, usual: f64, seen: &Seen<'_>, unclassed: &BTreeMap<Box<str>, u64>) -> Alarm {
        let breach = self.breaches.iter().max_by_key(|(_, count)| **count).map(|(breach, _)| breach.clone());
        // Each page links to the same help and members as before, which many pages did; and to what stands in the place of the old links.
        let grown = unclassed.iter().filter_map(|(shape, links)| {
            let before = self.unclassed.get(shape).copied().unwrap_or_default();
            (*links > before * 2).then(|| (links / (before + 1), (shape.clone(), links - before)))
        });
        Alarm {
            since: seen.at,
            breach: breach.unwrap_or(Breach::NotAnswered),
            broken: self.breaches.values().sum(),
            usual,
            // `status --json` shows them as they are.
            example: masked(&self.example).into(),
            detail: self.detail.map(|detail| masked(&detail).into()),
            instead: grown.max_by_key(|(times, (_, links))| (*times, *links)).map(|(_, grown)| grown),
            kept_again: 0,
        }
    }
}

#[cfg(test)]
mod tests;
