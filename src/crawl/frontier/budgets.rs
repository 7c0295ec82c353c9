//! Budgets per URL shape: they grow with what a shape yields and starve without it (Book 3.4.6, ALGORITHMS §11).
//!
//! [`Shapes::ask`] is called before a fetch, [`Shapes::fetched`] after it. A shape has an account of pages: it opens with
//! B₀ of them, each fetch costs one, each new torrent and each link to what yields torrents earns some, and no account
//! holds more than [`BALANCE_PAGES`]·B₀, so that a shape which has yielded for years and then turns barren is detected
//! as well. An empty account starves: one of [`TRICKLE`] requests is let through, so that the shape can recover, and
//! the others are cut and counted, with one example. A cut is a delay: the URL should be parked under
//! [`Shapes::generation`], which changes when a starved shape recovers.
//!
//! Two groups of shapes share an account, which their barren fetches are charged to: those that differ only in the query
//! (faceted search makes a shape for each set of parameters), and those that differ only in words (a site that
//! invents its folders). A shape that earns what it spends is not limited by its group.
//!
//! **Bounds.** With B₀ pages, a shape that yields nothing is fetched B₀ times, a calendar or a search by
//! [`FACET_PARAMETERS`] parameters B₀/10 times, then B₀/4 (B₀/40) of the next ten times as many, then at every hundredth
//! request. First links to unproven shapes earn up to [`UNPROVEN_PAGES`]·B₀ pages, so a
//! shape that only ever leads to barren ones is fetched 5·B₀ times at most. All facets of one search: 4·B₀ barren
//! pages. All invented folders of one depth: 16·B₀. A shape that has yielded and turned barren: 5·B₀ more.
//!
//! Pure and deterministic: the same calls in the same order give the same answers and the same bytes.

mod account;
mod cuts;
mod note;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use self::account::Account;
use self::cuts::shortened;
pub use self::cuts::{Cut, Likeness};
use super::shape::Shape;
use super::traps::{TrapForm, trap_form};
use crate::limits::{LINKED_SHAPES_PER_PAGE_MAX, SHAPE_POOLS_MAX, SHAPES_MAX, UNPROVEN_TARGETS_MAX};
use gleaner_rules::Class;

/// Accounts are kept in tenths of a page.
const PAGE: i64 = 10;

/// Pages that a new torrent or magnet earns for the shape of the page that led to it. A board on which one thread of
/// 200 has a torrent earns two and a half times what it spends.
const TORRENT_PAGES: i64 = 500;

/// Pages earned by a first link to a shape of which at least every twentieth URL yields a torrent; less, if that yields
/// less.
const LINK_PAGES: i64 = 5;

/// Maximum of pages that all links of one page earn.
const LINKS_PAGES: i64 = 50;

/// Maximum of an account, in B₀.
const BALANCE_PAGES: i64 = 5;

/// Pages that first links to unproven shapes can earn, in B₀. Ten such links earn one page.
const UNPROVEN_PAGES: i64 = 4;

/// URLs that may wait in a shape, in B₀, before further links to it earn nothing: they might never be fetched.
const BACKLOG_PAGES: u64 = 200;

/// B₀s that shapes of one path share.
const TEMPLATE_PAGES: i64 = 4;

/// B₀s that shapes of one skeleton share.
const SKELETON_PAGES: i64 = 16;

/// Number of parameters from which a list counts as a faceted search.
pub const FACET_PARAMETERS: u8 = 3;

/// Downloads of one shape of which one must yield a new torrent. If most torrents are known from elsewhere, the few
/// others are what the crawl is looking for.
const DOWNLOADS_PER_TORRENT: u64 = 1_000;

/// One of this many requests of a starved shape is let through.
pub const TRICKLE: u64 = 100;

/// The same while a shape has been starved for less than a quarter of its first budget.
const FIRST_TRICKLE: u64 = 10;

/// Version of the bytes; other versions are rejected.
const VERSION: u32 = 1;

/// Whether a URL may be fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Budget {
    /// Yes.
    Go,
    /// Its shape is starved, but this URL is let through so that the shape can recover.
    Trickle,
    /// No, and it was counted.
    Cut(Reason),
}

/// Why a URL was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// Its form occurs only in traps.
    Form(TrapForm),
    /// Its shape has yielded too little for what was fetched.
    Shape,
    /// The shapes of this path, which differ in their parameters, have together.
    Template,
    /// The shapes that differ from this one only in words have together.
    Skeleton,
}

impl Reason {
    /// A sentence for people.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Form(form) => form.sentence(),
            Self::Shape => "pages of this shape have led to too few torrents for their number",
            Self::Template => {
                "pages of this path with ever new parameters have led to too few torrents for their number"
            }
            Self::Skeleton => "pages of paths built like this one have led to too few torrents for their number",
        }
    }
}

/// First links of one page, counted by shape.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LinkTally {
    shapes: Vec<(AccountKey, u32)>,
    /// By the rank of their arm, for [`super::shares`].
    arms: Vec<(u8, u32)>,
}

/// A class and a shape: the key of an account.
#[derive(Clone, Debug, PartialEq, Eq)]
struct AccountKey {
    key: String,
    /// A calendar, or a list by many parameters: its account opens with a tenth.
    is_suspicious: bool,
}

impl AccountKey {
    fn of(shape: &Shape, class: Class) -> Self {
        let is_list = matches!(class, Class::Index | Class::Board | Class::Page);
        let is_facet = matches!(class, Class::Index | Class::Page) && shape.parameters() >= FACET_PARAMETERS;
        let key = [class.name(), " ", shape.as_str()].concat();
        Self { key, is_suspicious: is_facet || (is_list && shape.is_calendar()) }
    }
}

impl LinkTally {
    /// Counts a link to a URL that had no link before. The first [`LINKED_SHAPES_PER_PAGE_MAX`] shapes count.
    pub fn add(&mut self, path: &str, class: Class) {
        let place = AccountKey::of(&Shape::of(path), class);
        if let Some((_, count)) = self.shapes.iter_mut().find(|(known, _)| *known == place) {
            *count = count.saturating_add(1);
        } else if self.shapes.len() < LINKED_SHAPES_PER_PAGE_MAX {
            self.shapes.push((place, 1));
        }
    }

    /// Counts a link to a URL of an arm that had no link before.
    pub fn opens(&mut self, arm: u8) {
        match self.arms.iter_mut().find(|(known, _)| *known == arm) {
            Some((_, count)) => *count = count.saturating_add(1),
            None => self.arms.push((arm, 1)),
        }
    }

    /// First links by the rank of their arm.
    #[must_use]
    pub fn arms(&self) -> &[(u8, u32)] {
        &self.arms
    }
}

/// The results of one response.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Yield {
    /// Torrents with new infohashes.
    pub torrents: u32,
    /// Magnet links with new infohashes.
    pub magnets: u32,
    /// Links to new URLs.
    pub links: LinkTally,
}

/// The accounts of one site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shapes {
    version: u32,
    /// B₀.
    shape_pages: u32,
    /// By class and shape.
    accounts: BTreeMap<String, Account>,
    /// By class and the common part of the shapes of a group.
    pools: BTreeMap<String, Pool>,
    forms: BTreeMap<TrapForm, FormCuts>,
    /// Number of fetches counted: the age of accounts.
    turn: u64,
    /// Accounts were merged for lack of room.
    has_merged: bool,
    generation: u64,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Pool {
    balance: i64,
    last: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FormCuts {
    class: Class,
    cut: u64,
    example: Box<str>,
}

/// The class and the shape of a [`AccountKey::key`].
fn parts_of(key: &str) -> Option<(Class, &str)> {
    let (name, shape) = key.split_once(' ')?;
    Class::ALL.into_iter().find(|class| class.name() == name).map(|class| (class, shape))
}

/// The key without the query.
fn template_of(key: &str) -> &str {
    key.split_once('?').map_or(key, |(template, _)| template)
}

/// The account into which a shape is merged if there is no room for its own: the path with any query, then the folder
/// with anything in it, up to the root. None at the root.
fn parent_of(key: &str) -> Option<String> {
    let (class, shape) = key.split_once(' ')?;
    let inner = shape.strip_suffix('*').unwrap_or(shape);
    let parent = match inner.split_once('?') {
        Some((template, query)) if !(query.is_empty() && shape.ends_with('*')) => format!("{template}?*"),
        with_query => {
            let path = with_query.map_or(inner, |(template, _)| template);
            let folder = path.strip_suffix('/').unwrap_or(path);
            if folder.is_empty() && shape == "/*" {
                return None;
            }
            format!("{}/*", folder.rsplit_once('/').map_or("", |(front, _)| front))
        }
    };
    (parent != shape).then(|| format!("{class} {parent}"))
}

impl Shapes {
    /// No accounts yet; each will open with `shape_pages` (B₀, at least 10).
    #[must_use]
    pub fn new(shape_pages: u32) -> Self {
        Self {
            version: VERSION,
            shape_pages: shape_pages.max(10),
            accounts: BTreeMap::new(),
            pools: BTreeMap::new(),
            forms: BTreeMap::new(),
            turn: 0,
            has_merged: false,
            generation: 0,
        }
    }

    /// Whether this URL may be fetched. Counts a cut.
    pub fn ask(&mut self, path: &str, class: Class) -> Budget {
        if class == Class::Login {
            return Budget::Go;
        }
        if let Some(form) = trap_form(path) {
            let cuts = self.forms.entry(form).or_insert_with(|| FormCuts { class, cut: 0, example: shortened(path) });
            cuts.cut = cuts.cut.saturating_add(1);
            return Budget::Cut(Reason::Form(form));
        }
        let shape = Shape::of(path);
        let key = self.resolve(&AccountKey::of(&shape, class));
        let starvation = self.starvation(&key, &shape, class);
        let Some(account) = self.accounts.get_mut(&key) else {
            return Budget::Go;
        };
        let Some(reason) = starvation else {
            // A shape that has recovered, or that a larger budget lets through, is no longer cut.
            (account.cut, account.reason, account.example) = (0, None, None);
            return Budget::Go;
        };
        account.asked = account.asked.saturating_add(1);
        let one_in = if reason == Reason::Shape && account.balance > account.floor() { FIRST_TRICKLE } else { TRICKLE };
        if account.asked.is_multiple_of(one_in) {
            return Budget::Trickle;
        }
        account.cut = account.cut.saturating_add(1);
        account.reason = Some(reason);
        account.example.get_or_insert_with(|| shortened(path));
        Budget::Cut(reason)
    }

    /// Counts a response. `via` is the page that contained its link, which shares in the credit for torrents.
    pub fn fetched(&mut self, path: &str, class: Class, gain: &Yield, via: Option<(&str, Class)>) {
        self.turn += 1;
        let shape = Shape::of(path);
        let key = self.resolve(&AccountKey::of(&shape, class));
        let found = u64::from(gain.torrents) + u64::from(gain.magnets);
        let by_links = self.links_credit(&key, &gain.links);
        self.spend(&key, &shape, class);
        self.earn(&key, &shape, class, by_links);
        self.torrents_found(&key, &shape, class, found);
        if let Some((path, class)) = via.filter(|_| found > 0) {
            let shape = Shape::of(path);
            let via = self.resolve(&AccountKey::of(&shape, class));
            if via != key {
                self.torrents_found(&via, &shape, class, found);
            }
        }
    }

    /// Changes whenever a starved shape recovers: what was cut under another generation may be requested again.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Number of open accounts; at most [`SHAPES_MAX`].
    #[must_use]
    pub fn len(&self) -> usize {
        self.accounts.len()
    }

    /// True if nothing was requested yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.accounts.is_empty()
    }

    fn pages(&self, count: i64) -> i64 {
        count * i64::from(self.shape_pages) * PAGE
    }

    /// Why the account is starved; None if it is not.
    fn starvation(&self, key: &str, shape: &Shape, class: Class) -> Option<Reason> {
        let account = self.accounts.get(key)?;
        if class == Class::Download && account.fetched <= account.yielded.saturating_mul(DOWNLOADS_PER_TORRENT) {
            return None;
        }
        if account.is_starved {
            return Some(Reason::Shape);
        }
        if account.sustains_itself() {
            return None;
        }
        let is_empty = |(pool, _): &(String, i64)| self.pools.get(pool).is_some_and(|pool| pool.balance <= 0);
        let [template, skeleton] = self.groups(shape, class);
        if is_empty(&template) {
            Some(Reason::Template)
        } else if is_empty(&skeleton) {
            Some(Reason::Skeleton)
        } else {
            None
        }
    }

    /// The names of the two groups of a shape, and the opening balances of their accounts.
    fn groups(&self, shape: &Shape, class: Class) -> [(String, i64); 2] {
        [
            ([class.name(), " ", shape.template(), "?"].concat(), self.pages(TEMPLATE_PAGES)),
            ([class.name(), " ~", &shape.skeleton()].concat(), self.pages(SKELETON_PAGES)),
        ]
    }

    fn spend(&mut self, key: &str, shape: &Shape, class: Class) {
        let turn = self.turn;
        if let Some(account) = self.accounts.get_mut(key) {
            account.fetched = account.fetched.saturating_add(1);
            account.last = turn;
            account.balance = account.balance.saturating_sub(PAGE).max(account.floor());
            account.is_starved |= account.balance <= 0;
        }
        self.move_pools(shape, class, -PAGE);
    }

    fn earn(&mut self, key: &str, shape: &Shape, class: Class, credit: i64) {
        if credit == 0 {
            return;
        }
        let cap = self.pages(BALANCE_PAGES);
        if let Some(account) = self.accounts.get_mut(key) {
            account.earned = account.earned.saturating_add(credit);
            account.balance = account.balance.saturating_add(credit).min(cap);
            if account.is_starved && account.balance > 0 {
                (account.is_starved, account.asked) = (false, 0);
                self.generation += 1;
            }
        }
        self.move_pools(shape, class, credit);
    }

    fn move_pools(&mut self, shape: &Shape, class: Class, credit: i64) {
        if self.pools.len() + 2 > SHAPE_POOLS_MAX {
            self.drop_old_pools();
        }
        for (name, opening) in self.groups(shape, class) {
            let last = self.turn;
            let pool = self.pools.entry(name).or_insert(Pool { balance: opening, last });
            let was_empty = pool.balance <= 0;
            pool.balance = pool.balance.saturating_add(credit).clamp(0, 2 * opening);
            pool.last = last;
            self.generation += u64::from(was_empty && pool.balance > 0);
        }
    }

    fn torrents_found(&mut self, key: &str, shape: &Shape, class: Class, found: u64) {
        if found == 0 {
            return;
        }
        let is_first = self.accounts.get_mut(key).is_some_and(|account| {
            account.yielded = account.yielded.saturating_add(found);
            account.yielded == found
        });
        let credit = i64::try_from(found.min(1_000)).unwrap_or(1_000) * TORRENT_PAGES * PAGE;
        self.earn(key, shape, class, credit);
        if is_first {
            self.proven(key);
        }
    }

    /// A shape has yielded its first torrent: the links that led to it while it was unproven count now.
    fn proven(&mut self, key: &str) {
        let (hash, cap) = (xxh3_64(key.as_bytes()), self.pages(BALANCE_PAGES));
        for account in self.accounts.values_mut() {
            let Some(at) = account.targets.iter().position(|(target, _)| *target == hash) else {
                continue;
            };
            let (_, links) = account.targets.swap_remove(at);
            let credit = i64::from(links) * LINK_PAGES * PAGE;
            account.by_links = account.by_links.saturating_add(credit);
            account.earned = account.earned.saturating_add(credit);
            account.balance = account.balance.saturating_add(credit).min(cap);
            if account.is_starved && account.balance > 0 {
                (account.is_starved, account.asked) = (false, 0);
                self.generation += 1;
            }
        }
    }

    /// What the first links of a page earn for its shape. Links to its own shape, and to others of its class and path,
    /// earn nothing: every trap has those.
    fn links_credit(&mut self, key: &str, links: &LinkTally) -> i64 {
        let (mut credit, mut by_links, mut unproven) = (0_i64, 0_i64, 0_i64);
        let mut waiting = Vec::new();
        let backlog = BACKLOG_PAGES * u64::from(self.shape_pages);
        for (target, count) in &links.shapes {
            let target = self.resolve(target);
            if target == key || template_of(&target) == template_of(key) {
                continue;
            }
            let links = i64::from(*count);
            let Some(account) = self.accounts.get_mut(&target) else {
                continue;
            };
            account.linked = account.linked.saturating_add(u64::from(*count));
            if account.is_starved {
                continue;
            }
            let (direct, indirect) = (account.direct(), account.indirect());
            if direct == 0 && indirect == 0 {
                unproven = unproven.saturating_add(links);
                waiting.push((xxh3_64(target.as_bytes()), *count));
            } else if account.linked.saturating_sub(account.fetched) <= backlog {
                let from_direct = links * LINK_PAGES * PAGE * direct / 1_000;
                by_links = by_links.saturating_add(from_direct);
                credit = credit.saturating_add(from_direct.max(links * LINK_PAGES * PAGE * indirect / 2_000));
            }
        }
        let free = self.pages(UNPROVEN_PAGES);
        let Some(account) = self.accounts.get_mut(key) else {
            return 0;
        };
        let unproven = unproven.min(PAGE).min(free.saturating_sub(account.unproven)).max(0);
        account.unproven += unproven;
        account.by_links = account.by_links.saturating_add(by_links.min(LINKS_PAGES * PAGE));
        for (hash, count) in waiting {
            if let Some((_, sum)) = account.targets.iter_mut().find(|(target, _)| *target == hash) {
                *sum = sum.saturating_add(count);
            } else if account.targets.len() < UNPROVEN_TARGETS_MAX {
                account.targets.push((hash, count));
            }
        }
        (credit + unproven).min(LINKS_PAGES * PAGE)
    }

    /// The key of a shape's account, which is opened if there is none.
    fn resolve(&mut self, place: &AccountKey) -> String {
        if self.accounts.contains_key(&place.key) {
            return place.key.clone();
        }
        if self.has_merged {
            let mut parent = parent_of(&place.key);
            while let Some(key) = parent {
                if self.accounts.contains_key(&key) {
                    return key;
                }
                parent = parent_of(&key);
            }
        }
        if self.accounts.len() >= SHAPES_MAX {
            self.make_room();
            return self.resolve(place);
        }
        let opening = if place.is_suspicious { self.pages(1) / 10 } else { self.pages(1) };
        let account = Account { opening, balance: opening, last: self.turn, ..Account::default() };
        self.accounts.insert(place.key.clone(), account);
        place.key.clone()
    }

    /// Merges the accounts that have yielded least, the oldest of them first, with their parents' until an
    /// eighth of them is gone.
    fn make_room(&mut self) {
        let wanted = self.accounts.len() - self.accounts.len() / 8 - 1;
        let mut order: Vec<(u64, u64, String)> =
            self.accounts.iter().map(|(key, account)| (account.yielded, account.last, key.clone())).collect();
        order.sort_unstable();
        self.has_merged = true;
        for (_, _, key) in order {
            if self.accounts.len() <= wanted {
                return;
            }
            if let Some(parent) = parent_of(&key)
                && let Some(account) = self.accounts.remove(&key)
            {
                self.merge(account, parent);
            }
        }
        // Every account is merged into its folder's by now; the next round merges those into their parents'.
    }

    fn merge(&mut self, account: Account, parent: String) {
        let change = account.balance.saturating_sub(account.opening);
        let (cap, opening) = (self.pages(BALANCE_PAGES), self.pages(1));
        let into = self.accounts.entry(parent).or_insert(Account { opening, balance: opening, ..Account::default() });
        into.fetched = into.fetched.saturating_add(account.fetched);
        into.yielded = into.yielded.saturating_add(account.yielded);
        into.balance = into.balance.saturating_add(change).min(cap).max(into.floor());
        into.earned = into.earned.saturating_add(account.earned);
        into.unproven = into.unproven.saturating_add(account.unproven);
        into.by_links = into.by_links.saturating_add(account.by_links);
        into.linked = into.linked.saturating_add(account.linked);
        into.cut = into.cut.saturating_add(account.cut);
        into.reason = into.reason.or(account.reason);
        into.example = into.example.take().or(account.example);
        into.last = into.last.max(account.last);
        into.is_starved = into.balance <= 0;
    }

    fn drop_old_pools(&mut self) {
        let mut ages: Vec<u64> = self.pools.values().map(|pool| pool.last).collect();
        ages.sort_unstable();
        let Some(&oldest_kept) = ages.get(ages.len() / 4) else {
            return;
        };
        // Pools as old as the oldest one kept go, too: at least a quarter is dropped, possibly all.
        self.pools.retain(|_, pool| pool.last > oldest_kept);
    }
}

#[cfg(test)]
mod tests;
