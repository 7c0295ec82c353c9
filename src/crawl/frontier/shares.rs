//! Shares: which kind of URLs gets history's next request (LEARNING §16). A kind, or arm, is the URLs of one rule and one shape.
//!
//! Crawling a site is a branching bandit: opening a URL of an arm costs a request, brings torrents and shows new URLs. [`Shares::fetched`]
//! counts both over the last fetches of each arm, [`index::indices`] computes from them what a URL leads to per request, and
//! [`Shares::order`] is the order of the arms' ranks, in which the crawl database is asked for work. An arm is a rank of the queue, so that
//! what is queued follows an order that changes. [`Floor`] gives every twentieth request to the URL that has waited longest, whatever its arm:
//! an arm that is put last is deferred, never lost.
//!
//! Pure and deterministic: the same calls in the same order give the same order.

pub mod index;
mod note;
mod told;

use std::collections::{BTreeMap, HashMap, VecDeque};

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

pub use self::told::{RuleShare, is_useless};
use crate::limits::{SHARE_ARMS_MAX, SHARE_SHAPES_MAX};
use crate::parts::is_program;
use crate::prior::prior;
use crate::priority::{self, FAR_PAGE, URGENT};
use crate::shape::Shape;
use gleaner_rules::Class;

/// Fetches over which an arm's yield is measured: an arm that is exhausted falls within as many.
const WINDOW: usize = 40;

/// Arms whose new URLs are counted of each fetch: those with the most.
const OPENED: usize = 8;

/// Fetches that an arm is supposed to have had before the first, with the yield that its words promise.
const SUPPOSED: f64 = 3.0;

/// Torrents per fetch that the words of an arm promise, per probability of [`prior`].
const PROMISED: f64 = 0.3;

/// New URLs of one kind that a page shows, in the mean, at most.
const LINKS: f64 = 50.0;

/// How much an arm that was fetched seldom is preferred.
const CURIOSITY: f64 = 0.35;

/// Fetches between two computations of the order, once there were [`FIRST`].
const EVERY: u64 = 8;
const FIRST: u64 = 30;

/// Fetches without anything after which an arm is barren.
const BARREN_FETCHES: u64 = 20;

/// Requests of which the share of each rule is reported.
const RECENT: usize = 200;

/// One of this many requests goes to the URL that has waited longest.
pub const FLOOR: u32 = 20;

/// Shapes that differ in their words only, from which on all further ones are one: folders and titles, no programs.
const ALIKE: u8 = 6;

/// The URLs of one rule and one shape.
#[derive(Clone, Debug, PartialEq)]
struct Arm {
    /// Of its URLs in the queue.
    rank: u8,
    class: Class,
    /// Index among the site's rules; [`NO_RULE`] for the rest of a class.
    rule: usize,
    shape: Box<str>,
    prior: f64,
    fetched: u64,
    torrents: u64,
    /// The last fetches, and the torrents that they brought.
    window: VecDeque<Fetch>,
    recent: u64,
    /// New URLs shown, by the rank of their arms: by the last fetches, and by all.
    links: BTreeMap<u8, (u64, u64)>,
}

/// One fetch: its torrents, and the new URLs that it showed by the ranks of their arms.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Fetch(u32, Vec<(u8, u32)>);

/// No rule of the file.
const NO_RULE: usize = usize::MAX;

/// The arms of one site.
#[derive(Clone, Debug)]
pub struct Shares {
    /// First the rest of each class.
    arms: Vec<Arm>,
    /// The rank of a shape of a rule, by hash.
    ranks: HashMap<u64, u8>,
    /// How many shapes have been seen that differ in their words only, by hash.
    alike: HashMap<u64, u8>,
    fetched: u64,
    /// Arms of the last requests.
    recent: VecDeque<u8>,
    /// As last computed; empty if it has to be.
    order: Vec<u8>,
}

/// A class of each rank that has arms.
const CLASSES: [Class; 4] = [Class::Download, Class::Index, Class::Detail, Class::Page];

/// Ranks of a class, in the order in which they are given to arms. Pages have more: everything that a rule file does not name better.
fn ranks_of(class: Class) -> impl Iterator<Item = u8> {
    let first = priority::rank(class) << 4;
    let more = if first == 3 << 4 { 96..141 } else { 0..0 };
    (first + 1..first + 15).chain(more)
}

fn rest_of(class: Class) -> u8 {
    priority::of_class(class)
}

impl Arm {
    fn new(rank: u8, class: Class, rule: usize, shape: &str, prior: f64) -> Self {
        let (window, links) = (VecDeque::new(), BTreeMap::new());
        Self { rank, class, rule, shape: shape.into(), prior, fetched: 0, torrents: 0, window, recent: 0, links }
    }

    fn rest(class: Class) -> Self {
        Self::new(rest_of(class), class, NO_RULE, "…", promise(class, ""))
    }

    /// Adds a fetch to the last ones; the first of them leaves the window.
    fn enter(&mut self, fetch: Fetch) {
        self.recent += u64::from(fetch.0);
        for (to, count) in &fetch.1 {
            self.links.entry(*to).or_default().0 += u64::from(*count);
        }
        self.window.push_back(fetch);
        let Some(Fetch(torrents, opened)) = self.left() else { return };
        self.recent = self.recent.saturating_sub(torrents.into());
        for (to, count) in opened {
            let (recent, _) = self.links.entry(to).or_default();
            *recent = recent.saturating_sub(count.into());
        }
    }

    /// The fetch that is too old.
    fn left(&mut self) -> Option<Fetch> {
        if self.window.len() > WINDOW { self.window.pop_front() } else { None }
    }

    /// Torrents per fetch, those supposed before the first included.
    fn mean(&self, sum: f64) -> f64 {
        sum / (real(self.window.len() as u64) + SUPPOSED)
    }
}

#[allow(clippy::cast_precision_loss, reason = "counts stay far below 2^53")]
fn real(count: u64) -> f64 {
    count as f64
}

/// How likely a URL leads to torrents: by its class where the rule file names one that says so, else by its words.
fn promise(class: Class, path: &str) -> f64 {
    match class {
        Class::Download => 0.95,
        Class::Detail | Class::Thread => 0.55,
        Class::Index | Class::Board | Class::Page | Class::Login | Class::Sitemap => prior(path, ""),
    }
}

impl Default for Shares {
    fn default() -> Self {
        Self {
            arms: CLASSES.into_iter().map(Arm::rest).collect(),
            ranks: HashMap::new(),
            alike: HashMap::new(),
            fetched: 0,
            recent: VecDeque::new(),
            order: Vec::new(),
        }
    }
}

impl Shares {
    /// The rank of a URL's arm. `path` is its path and query, or for a list that of all its pages. The first [`SHARE_ARMS_MAX`] arms have
    /// ranks of their own, up to 14 of a class that is not `page`.
    pub fn rank(&mut self, class: Class, rule: usize, path: &str) -> u8 {
        if class == Class::Sitemap || rule == NO_RULE {
            return rest_of(class);
        }
        let shape = Shape::of(path);
        let key = key_of(class, rule, shape.as_str());
        if let Some(rank) = self.ranks.get(&key) {
            return *rank;
        }
        let rank = self.place(class, rule, &shape, path);
        if self.ranks.len() < SHARE_SHAPES_MAX {
            self.ranks.insert(key, rank);
        }
        rank
    }

    /// The rank of a shape that has none yet.
    fn place(&mut self, class: Class, rule: usize, shape: &Shape, path: &str) -> u8 {
        // Programs and their queries are as many as their author wrote.
        let is_program = shape.template().rsplit_once('.').is_some_and(|(_, extension)| is_program(extension));
        if shape.parameters() > 0 || is_program {
            return self.begin(class, rule, shape.as_str(), path);
        }
        let skeleton = format!("~{}", shape.skeleton());
        let key = key_of(class, rule, &skeleton);
        if let Some(rank) = self.ranks.get(&key) {
            return *rank;
        }
        if self.alike.len() >= SHARE_SHAPES_MAX {
            return rest_of(class);
        }
        let seen = self.alike.entry(key).or_default();
        *seen += 1;
        if *seen <= ALIKE {
            return self.begin(class, rule, shape.as_str(), path);
        }
        self.begin(class, rule, &skeleton, path)
    }

    /// A new arm, or the rest of the class.
    fn begin(&mut self, class: Class, rule: usize, shape: &str, path: &str) -> u8 {
        if self.arms.len() >= SHARE_ARMS_MAX + CLASSES.len() {
            return rest_of(class);
        }
        let Some(rank) = ranks_of(class).find(|rank| self.arm(*rank).is_none()) else { return rest_of(class) };
        self.arms.push(Arm::new(rank, class, rule, shape, promise(class, path)));
        self.ranks.insert(key_of(class, rule, shape), rank);
        self.order.clear();
        rank
    }

    /// True for the rank of an arm of this class.
    #[must_use]
    pub fn has(&self, rank: u8, class: Class) -> bool {
        self.arm(rank).is_some_and(|arm| rest_of(arm.class) == rest_of(class))
    }

    /// True for an arm that has had some fetches, none of which brought a torrent or showed a URL of another class than `page`.
    #[must_use]
    pub fn is_barren(&self, rank: u8) -> bool {
        let leads_on = |(to, (_, all)): (&u8, &(u64, u64))| *all > 0 && !ranks_of(Class::Page).any(|page| page == *to);
        self.arm(rank)
            .is_some_and(|arm| arm.fetched >= BARREN_FETCHES && arm.torrents == 0 && !arm.links.iter().any(leads_on))
    }

    fn arm(&self, rank: u8) -> Option<&Arm> {
        self.arms.iter().find(|arm| arm.rank == rank)
    }

    fn arm_mut(&mut self, rank: u8) -> Option<&mut Arm> {
        self.arms.iter_mut().find(|arm| arm.rank == rank)
    }

    /// Counts a fetch of an arm: the new torrents that it brought, by infohash, and the arms of the new URLs that its page shows.
    pub fn fetched(&mut self, rank: u8, torrents: u32, opened: &[(u8, u32)]) {
        let Some(arm) = self.arm_mut(rank) else { return };
        arm.fetched = arm.fetched.saturating_add(1);
        arm.torrents = arm.torrents.saturating_add(torrents.into());
        for (to, count) in opened {
            let (_, all) = arm.links.entry(*to).or_default();
            *all = all.saturating_add((*count).into());
        }
        let mut opened = opened.to_vec();
        opened.sort_unstable_by_key(|(_, count)| std::cmp::Reverse(*count));
        opened.truncate(OPENED);
        arm.enter(Fetch(torrents, opened));
        self.fetched = self.fetched.saturating_add(1);
        self.recent.push_back(rank);
        if self.recent.len() > RECENT {
            self.recent.pop_front();
        }
        if self.fetched < FIRST || self.fetched.is_multiple_of(EVERY) {
            self.order.clear();
        }
    }

    /// A URL that a page of `from` had shown gave a known torrent: it was not new, whatever its address, as on sites that invent
    /// addresses for each view.
    pub fn was_known(&mut self, from: u8, rank: u8) {
        let Some(arm) = self.arm_mut(from) else { return };
        let shown = arm.window.iter_mut().rev().flat_map(|fetch| fetch.1.iter_mut());
        let Some((_, count)) = shown.into_iter().find(|(to, count)| *to == rank && *count > 0) else { return };
        *count -= 1;
        if let Some((recent, all)) = arm.links.get_mut(&rank) {
            *recent = recent.saturating_sub(1);
            *all = all.saturating_sub(1);
        }
    }

    /// The ranks in the order in which they are leased: what is urgent, the arms with all other ranks of their classes, sitemaps. Far pages of
    /// lists are not in it.
    pub fn order(&mut self) -> &[u8] {
        if self.order.is_empty() {
            self.order = self.ordered();
        }
        &self.order
    }

    fn ordered(&self) -> Vec<u8> {
        let values = self.values();
        let kinds: Vec<(Class, f64)> = self.arms.iter().zip(&values).map(|(arm, value)| (arm.class, *value)).collect();
        let mut order = vec![URGENT];
        let mut is_named = [false; 16];
        for at in index::ordered(&kinds) {
            let arm = &self.arms[at];
            order.push(arm.rank);
            // Rows of earlier versions, and lists that are read again: with the first of their class.
            if !std::mem::replace(&mut is_named[usize::from(priority::rank(arm.class))], true) {
                let first = priority::rank(arm.class) << 4;
                let all = std::iter::once(first.max(URGENT + 1)).chain(ranks_of(arm.class));
                order.extend(all.filter(|rank| self.arm(*rank).is_none()));
            }
        }
        let sitemaps = priority::rank(Class::Sitemap) << 4;
        order.extend(sitemaps..FAR_PAGE);
        order
    }

    /// What decides: the index, and what is not known yet.
    fn values(&self) -> Vec<f64> {
        let index = self.indices();
        let log = real(self.fetched.saturating_add(2)).ln();
        let value = |(arm, index): (&Arm, f64)| {
            index + CURIOSITY * (log / (real(arm.fetched) + 1.0)).sqrt() * (0.25 + arm.prior)
        };
        self.arms.iter().zip(index).map(value).collect()
    }

    fn indices(&self) -> Vec<f64> {
        let place: HashMap<u8, usize> = self.arms.iter().enumerate().map(|(at, arm)| (arm.rank, at)).collect();
        let promised = |arm: &Arm| SUPPOSED * PROMISED * arm.prior;
        let torrents = self.arms.iter().map(|arm| arm.mean(real(arm.recent) + promised(arm)));
        let torrents: Vec<f64> = torrents.collect();
        let links = |arm: &Arm| {
            let links = arm.links.iter().filter_map(|(to, (recent, _))| Some((*place.get(to)?, real(*recent))));
            links.map(|(to, recent)| (to, arm.mean(recent).min(LINKS))).collect()
        };
        index::indices(&torrents, &self.arms.iter().map(links).collect::<Vec<_>>())
    }
}

fn key_of(class: Class, rule: usize, shape: &str) -> u64 {
    xxh3_64_with_seed(shape.as_bytes(), (rule as u64) << 8 | u64::from(priority::rank(class)))
}

/// Counts the requests of one queue until the URL that has waited longest has its turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Floor {
    since: u32,
}

impl Floor {
    /// A request begins.
    pub fn asked(&mut self) {
        self.since = self.since.saturating_add(1);
    }

    /// True if the next request is for the URL that has waited longest.
    #[must_use]
    pub fn is_due(self) -> bool {
        self.since + 1 >= FLOOR
    }

    /// That URL is next, or there is none.
    pub fn given(&mut self) {
        self.since = 0;
    }
}

#[cfg(test)]
mod tests;
