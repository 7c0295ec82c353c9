//! Value estimates for a site's URLs: the budgets of their shapes, which starve traps, the shares of their kinds, the order within a kind,
//! pages that resemble each other, and parameters that seem to change nothing.
//!
//! Connects the frontier's pure modules with the site loop. The budgets are kept in the database as notes; a kill loses
//! half a minute of counts.

mod arms;

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use self::arms::Arms;
use crate::frontier::budgets::{Budget, LinkTally, Reason, Shapes, Yield};
use crate::frontier::degrees::{InDegrees, Mirrors, ParentDegrees};
use crate::frontier::lean::Lean;
use crate::frontier::offsite::{OffsiteHosts, OffsiteLink};
use crate::frontier::parameters::{Parameters, Proposal};
use crate::frontier::shape::Shape;
use crate::frontier::shares::Shares;
use crate::frontier::tokens::Tokens;
use crate::frontier::unclassed::UnclassedLinks;
use crate::frontier::weight::{Facts, RuleYield, Weight, folder_depth};
use crate::job::{Finished, Found, Job, PageFindings};
use crate::limits;
use crate::masked::masked;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_page::fingerprint::{Sketch, resemblance};
use gleaner_rules::{ActSign, BudgetRules, Class, Rule, SiteRules, Verdict, parameters};
use gleaner_store::coverage::listed::{Kind, kind};
use gleaner_store::crawldb::{CrawlDbError, HostId, Next, Outcome, RankOrder, Reader, TRAP_TOKENS, Visit};
use gleaner_torrent::Infohashes;

/// Name of the note that stores the budgets.
pub const SHAPES_NOTE: &str = "shapes";

/// Name of the note that stores the links that match no class.
pub const UNCLASSED_NOTE: &str = "unclassed";

/// Name of the note that stores the links that would act in the account's name.
pub const ACTING_NOTE: &str = "acting";

/// Name of the note that stores which details are left out.
const LEAN_NOTE: &str = "lean";

/// Name of the note that stores the hosts that pages link to.
pub const OFFSITE_NOTE: &str = "offsite";

/// Name of the note that stores the proposals to the operator.
pub const PROPOSALS_NOTE: &str = "proposals";

/// Name of the note that stores what the URLs of each rule have yielded, by the rule's key and pattern: other rules
/// of the file may change meanwhile.
const YIELDS_NOTE: &str = "yields";

/// Name of the note that stores the shares of the rules' URLs, by shape.
const SHARES_NOTE: &str = "shares";

/// Of the paths with a query, one in this many is watched for parameters that change nothing: each of its pages costs a
/// sketch.
const PATHS_WATCHED_OF: u64 = 4;

/// Resemblance from which a page of a suspicious shape counts as a copy (Book 3.4.5): two standard errors below 1.
const NEAR: f64 = 0.95;

/// Sketches kept per suspicious shape.
const SKETCHES_KEPT: usize = 8;

/// Recently seen hashes: when full, only the younger half is kept. Forgetting makes an old link count as new again, which
/// errs on the side of fetching.
#[derive(Default)]
struct Recent {
    young: HashSet<u64>,
    old: HashSet<u64>,
}

impl Recent {
    /// True at the first occurrence.
    fn is_new(&mut self, hash: u64) -> bool {
        if self.old.contains(&hash) || !self.young.insert(hash) {
            return false;
        }
        if self.young.len() >= limits::RECENT_LINKS_MAX {
            self.old = std::mem::take(&mut self.young);
        }
        true
    }
}

/// Value estimates for one site's URLs.
pub struct Worth {
    budget: BudgetRules,
    /// The fingerprint of the site's rules.
    rules: u64,
    canonical: Canonical,
    shapes: Shapes,
    /// Token under which the URLs that were cut are parked.
    token: u64,
    links: Recent,
    /// Infohashes of files, separate from those of magnets: a page that names a torrent by both must not
    /// make its file count as nothing new.
    files: Recent,
    magnets: Recent,
    /// First pages of lists that were visited.
    fronts: Recent,
    in_degrees: InDegrees,
    parents: ParentDegrees,
    mirrors: Mirrors,
    /// True for a site of several hosts, where the same path may be seen on more than one.
    has_mirrors: bool,
    /// Indexed like the site's rules.
    rule_keys: Vec<String>,
    yields: HashMap<usize, RuleYield>,
    arms: Arms,
    /// The last pages of each starved shape, by the hash of the shape.
    suspects: HashMap<u64, VecDeque<(Box<str>, Sketch)>>,
    parameters: Parameters,
    /// Stored proposals, including those of earlier runs.
    proposed: Vec<Proposal>,
    /// Links that match no class.
    unclassed: UnclassedLinks,
    /// Links that would act in the account's name.
    acting: UnclassedLinks,
    offsite: OffsiteHosts,
    lean: Lean,
    tokens: Tokens,
    /// True when something was counted since the last call of `notes`.
    is_changed: bool,
}

/// A page that resembles another of its shape.
#[derive(Clone, Debug, PartialEq)]
pub struct Near {
    /// Path and query of the other page.
    pub to: Box<str>,
    /// The estimate, between 0 and 1.
    pub resemblance: f64,
}

/// The name of a rule in notes: another expression is another rule.
pub(crate) fn rule_key(rule: &Rule) -> String {
    format!("{} {}", rule.key(), rule.pattern)
}

fn rule_keys(rules: &SiteRules) -> Vec<String> {
    rules.rules().iter().map(rule_key).collect()
}

/// The shares of a site's rules in the crawls of a database.
///
/// # Errors
/// Those of the database.
pub async fn shares(db: &(impl Reader + ?Sized), rules: &SiteRules) -> Result<Shares, CrawlDbError> {
    let note = db.note(&rules.name, SHARES_NOTE).await?;
    Ok(note.map_or_else(Shares::default, |note| Shares::from_bytes(&note, &rule_keys(rules))))
}

/// What the URLs of each rule have yielded in the crawls of a database, by the index of the rule.
///
/// # Errors
/// Those of the database.
pub async fn yields(db: &(impl Reader + ?Sized), rules: &SiteRules) -> Result<HashMap<usize, RuleYield>, CrawlDbError> {
    let note = db.note(&rules.name, YIELDS_NOTE).await?;
    // An unreadable note counts as a missing one: the counts start over.
    let kept: BTreeMap<String, (u64, u64)> =
        note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default();
    let of_rule = |(number, rule): (usize, &Rule)| {
        kept.get(&rule_key(rule)).map(|&(fetched, torrents)| (number, RuleYield { fetched, torrents }))
    };
    Ok(rules.rules().iter().enumerate().filter_map(of_rule).collect())
}

impl Worth {
    /// Starts without counts.
    #[must_use]
    pub fn new(rules: &SiteRules) -> Self {
        Self::with(rules, Shapes::new(rules.budget.shape_pages), HashMap::new())
    }

    /// Loads the notes of earlier runs; returns the reason if one is unusable.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn take_up(
        db: &(impl Reader + ?Sized),
        rules: &SiteRules,
    ) -> Result<(Self, Option<String>), CrawlDbError> {
        let (shapes, fault) = match db.note(&rules.name, SHAPES_NOTE).await? {
            Some(note) => Shapes::from_bytes(&note, rules.budget.shape_pages),
            None => (Shapes::new(rules.budget.shape_pages), None),
        };
        let mut worth = Self::with(rules, shapes, yields(db, rules).await?);
        worth.arms.shares = shares(db, rules).await?;
        let note = db.note(&rules.name, PROPOSALS_NOTE).await?;
        worth.proposed = note.and_then(|note| serde_json::from_slice(&note).ok()).unwrap_or_default();
        worth.is_changed |= !worth.proposed.is_empty();
        let note = db.note(&rules.name, UNCLASSED_NOTE).await?;
        worth.unclassed = UnclassedLinks::take_up(rules.links_fingerprint(), note.as_deref());
        let note = db.note(&rules.name, ACTING_NOTE).await?;
        worth.acting = UnclassedLinks::take_up(rules.links_fingerprint(), note.as_deref());
        let note = db.note(&rules.name, OFFSITE_NOTE).await?;
        worth.offsite = note.and_then(|note| OffsiteHosts::from_bytes(&note)).unwrap_or_default();
        let note = db.note(&rules.name, LEAN_NOTE).await?;
        worth.lean = Lean::from_bytes(&note.unwrap_or_default(), rules.links_fingerprint(), &worth.rule_keys);
        worth.token = worth.token_now();
        Ok((worth, fault))
    }

    fn with(rules: &SiteRules, shapes: Shapes, yields: HashMap<usize, RuleYield>) -> Self {
        let mut worth = Self {
            budget: rules.budget,
            rules: rules.fingerprint(),
            canonical: rules.canonical.clone(),
            shapes,
            token: 0,
            links: Recent::default(),
            files: Recent::default(),
            magnets: Recent::default(),
            fronts: Recent::default(),
            in_degrees: InDegrees::default(),
            parents: ParentDegrees::default(),
            mirrors: Mirrors::default(),
            has_mirrors: rules.hosts.len() > 1 || rules.hosts.iter().any(|host| host.starts_with('*')),
            rule_keys: rule_keys(rules),
            yields,
            arms: Arms::default(),
            suspects: HashMap::new(),
            parameters: Parameters::default(),
            proposed: Vec::new(),
            unclassed: UnclassedLinks::new(rules.links_fingerprint()),
            acting: UnclassedLinks::new(rules.links_fingerprint()),
            offsite: OffsiteHosts::default(),
            lean: Lean::new(rules.links_fingerprint()),
            tokens: Tokens::default(),
            is_changed: !rules.budget.traps,
        };
        worth.token = worth.token_now();
        worth
    }

    /// The state to be stored, as notes by name; none if nothing has changed.
    pub fn notes(&mut self) -> Vec<(&'static str, Vec<u8>)> {
        if !std::mem::take(&mut self.is_changed) {
            return Vec::new();
        }
        let mut notes = Vec::new();
        // If traps are not cut, what was cut before is no longer reported.
        notes.push((SHAPES_NOTE, if self.budget.traps { self.shapes.to_bytes() } else { Vec::new() }));
        let yields = self.yields.iter().filter_map(|(rule, counts)| {
            self.rule_keys.get(*rule).map(|key| (key.as_str(), (counts.fetched, counts.torrents)))
        });
        let yields: BTreeMap<&str, (u64, u64)> = yields.collect();
        notes.push((YIELDS_NOTE, serde_json::to_vec(&yields).unwrap_or_default()));
        notes.push((LEAN_NOTE, self.lean.to_bytes(&self.rule_keys)));
        notes.push((SHARES_NOTE, self.arms.shares.to_bytes(&self.rule_keys)));
        notes.push((UNCLASSED_NOTE, self.unclassed.to_bytes()));
        notes.push((ACTING_NOTE, self.acting.to_bytes()));
        if self.offsite.pages > 0 {
            notes.push((OFFSITE_NOTE, self.offsite.to_bytes()));
        }
        let proposals = self.proposals();
        if proposals != self.proposed {
            let none_left = proposals.is_empty();
            let note = if none_left { Vec::new() } else { serde_json::to_vec(&proposals).unwrap_or_default() };
            notes.push((PROPOSALS_NOTE, note));
            self.proposed = proposals;
        }
        notes
    }

    /// What was learned in this run, and in earlier ones if nothing contradicts it since; parameters that the rules drop by
    /// now are no longer proposed.
    fn proposals(&self) -> Vec<Proposal> {
        let mut proposals = self.parameters.proposals();
        let place = |proposal: &Proposal| (proposal.class, proposal.parameter.clone());
        let learned: HashSet<(Class, String)> = proposals.iter().map(place).collect();
        let earlier = self.proposed.iter().filter(|old| !learned.contains(&place(old)));
        let stands = |old: &&Proposal| !self.parameters.is_refuted(old.class, &old.parameter);
        proposals.extend(earlier.filter(stands).take(limits::LEARNED_PARAMETERS_MAX).cloned());
        proposals.retain(|proposal| self.canonical.dropped(&proposal.parameter).is_none());
        proposals.sort_by_key(place);
        proposals
    }

    /// Whether this URL may be fetched. Start pages, sitemaps and retries are always allowed.
    pub fn ask(&mut self, job: &Job) -> Result<(), Reason> {
        let is_exempt = job.lease.depth == 0 || job.lease.attempts > 0 || job.class == Class::Sitemap;
        if !self.budget.traps || is_exempt {
            return Ok(());
        }
        self.is_changed = true;
        match self.shapes.ask(job.url.path(), job.class) {
            Budget::Go => Ok(()),
            Budget::Trickle => {
                if self.suspects.len() < limits::SUSPECT_SHAPES_MAX {
                    self.suspects.entry(shape_hash(job.url.path())).or_default();
                }
                Ok(())
            }
            Budget::Cut(reason) => Err(reason),
        }
    }

    /// Token under which URLs of starved shapes are parked, and details that were left out: other rules, or a shape that recovers, or a
    /// detail that showed something, restore them.
    #[must_use]
    pub fn token(&self) -> u64 {
        self.token
    }

    /// The new token, if a shape has recovered since the last call: what was cut may be requested again.
    pub fn recovered(&mut self) -> Option<u64> {
        let now = self.token_now();
        (std::mem::replace(&mut self.token, now) != now).then_some(now)
    }

    fn token_now(&self) -> u64 {
        let generation = [self.shapes.generation(), self.lean.generation()].map(u64::to_be_bytes);
        xxh3_64_with_seed(generation.as_flattened(), self.rules) & (TRAP_TOKENS - 1) | TRAP_TOKENS
    }

    /// True if this detail, by the number of its rule and its path, may be left out if its torrent is stored, the one that a list links
    /// beside it.
    #[must_use]
    pub fn may_leave_out(&self, rule: usize, path: &str) -> bool {
        self.budget.lean && self.lean.may_leave_out(rule, path)
    }

    /// True for a new link of this rank that leads to something: to a torrent, detail or list, or to other pages, unless such pages never did.
    #[must_use]
    pub fn leads_on(&self, rank: u8) -> bool {
        kind(rank) != Kind::Other || !self.arms.shares.is_barren(rank)
    }

    /// Adds links of a page that match no class, as path and query, or whose host is not one of the site's, as URLs.
    pub fn left_out(&mut self, links: &[Box<str>]) {
        for link in links {
            let why = if link.starts_with('/') { "" } else { "its host is not in `hosts`" };
            self.unclassed.add(link, why, masked);
        }
    }

    /// Links that match no class.
    #[must_use]
    pub fn unclassed(&self) -> &UnclassedLinks {
        &self.unclassed
    }

    /// Counts the links of a page that lead off the site.
    pub fn leads_off(&mut self, page: &CrawlUrl, links: &[OffsiteLink]) {
        self.offsite.add(links, || masked(page.as_str()).into_owned());
        self.is_changed = true;
    }

    /// Counts a link, as path and query, that would act in the account's name.
    pub fn acts(&mut self, path: &str, sign: ActSign) {
        self.acting.add(&without_tokens(path), sign.sentence(), Cow::Borrowed);
        self.is_changed = true;
    }

    /// True if a link carries a token that pages of this run have shown, and may not.
    #[must_use]
    pub fn acts_by_token(&self, rules: &SiteRules, url: &CrawlUrl, class: Class) -> bool {
        class != Class::Download && self.tokens.are_in(url.path()) && !rules.may_act(url)
    }

    /// Learns tokens from the links of a page of a site with an account, takes out those that carry one, and counts all that would act.
    pub fn take_out_acting(&mut self, rules: &SiteRules, read: &mut PageFindings) {
        if !rules.is_guarded() {
            return;
        }
        let found = read.found.iter().filter(|found| found.class != Class::Download).map(|found| found.url.path());
        let acting = read.acting.iter().map(|(path, _)| &**path);
        self.tokens.read(found.chain(acting).chain(read.unclassed.iter().map(|path| &**path)));
        read.found.retain(|found| {
            let acts = self.acts_by_token(rules, &found.url, found.class);
            if acts {
                read.acting.push((found.url.path().into(), ActSign::Token));
            }
            !acts
        });
        read.acting.iter().for_each(|(path, sign)| self.acts(path, *sign));
    }

    /// Counts links of a page: their in-degree grows, and first links are credited to the page that contains them.
    pub fn linked(&mut self, found: &[Found]) -> LinkTally {
        let mut tally = LinkTally::default();
        for found in found {
            self.in_degrees.add(found.url.path());
            if self.links.is_new(xxh3_64(found.url.as_str().as_bytes())) {
                tally.opens(self.arms.rank(found.class, found.rule, found.url.path()));
                if self.budget.traps {
                    tally.add(found.url.path(), found.class);
                }
            }
        }
        tally
    }

    /// Compares a page whose shape has starved, or whose parameters are watched; returns the page that it copies, if any.
    pub fn look_at(&mut self, job: &Job, body: &[u8]) -> Option<Near> {
        let path = job.url.path();
        let is_watched =
            path.split_once('?').is_some_and(|(folder, _)| xxh3_64(folder.as_bytes()).is_multiple_of(PATHS_WATCHED_OF));
        let has_suspects = self.budget.traps && !self.suspects.is_empty();
        let of_shape = has_suspects.then(|| self.suspects.get_mut(&shape_hash(path))).flatten();
        if (!is_watched && of_shape.is_none()) || body.len() > limits::INLINE_PAGE_BYTES_MAX {
            return None;
        }
        let sketch = Sketch::of(body);
        if sketch.is_empty() {
            return None;
        }
        if is_watched {
            self.parameters.observe(job.class, path, sketch.digest());
        }
        let kept = of_shape?;
        let near = kept
            .iter()
            .filter(|(to, _)| **to != *path)
            .map(|(to, other)| (to, resemblance(&sketch, other)))
            .max_by(|(_, one), (_, other)| one.total_cmp(other))
            .filter(|(_, estimate)| *estimate >= NEAR)
            .map(|(to, resemblance)| Near { to: to.clone(), resemblance });
        if let Some(near) = &near {
            self.shapes.resembled(path, job.class, &near.to, near.resemblance);
        } else {
            kept.truncate(SKETCHES_KEPT - 1);
            kept.push_front((path.into(), sketch));
        }
        near
    }

    /// The estimated number of links to a URL.
    #[must_use]
    pub fn in_degree(&self, url: &CrawlUrl) -> u32 {
        self.in_degrees.of(url.path())
    }

    /// The rank of a link to this host, on a page with this in-degree.
    pub fn rank(&mut self, found: &Found, parent_degree: u32, host: HostId) -> u8 {
        let path = found.url.path();
        if self.has_mirrors {
            self.mirrors.add(path, host.0 as usize);
        }
        self.parents.add(path, parent_degree);
        self.arms.rank(found.class, found.rule, path)
    }

    /// The order in which ranks are leased now.
    pub fn order(&mut self) -> RankOrder {
        RankOrder::of(self.arms.shares.order())
    }

    /// The weight of a leased URL.
    #[must_use]
    pub fn weigh(&self, job: &Job) -> f64 {
        let path = job.url.path();
        let facts = Facts {
            in_degree: self.in_degrees.of(path),
            parent_in_degree: self.parents.of(path),
            mirrors: if self.has_mirrors { self.mirrors.of(path) } else { 1 },
            folder_depth: folder_depth(path),
            rule: self.yields.get(&job.rule).copied().unwrap_or_default(),
        };
        Weight::of(&facts).value()
    }

    /// Counts a final result. Visits of start pages and sitemaps cost their shape nothing, nor does a recheck of
    /// the first page of a list: its first visit does, or a site of nothing but first pages would be fetched without end.
    pub fn answered(&mut self, finished: &mut Finished, rules: &SiteRules) {
        self.is_changed = true;
        let links = std::mem::take(&mut finished.end.links);
        let visit = &finished.visit;
        let is_final =
            matches!(visit.next, Next::Done | Next::RevisitAt(_) | Next::Park(_)) && visit.outcome.was_fetched();
        let is_exempt = visit.depth == 0 || finished.job.class == Class::Sitemap;
        if !is_final || is_exempt || (finished.job.is_watched && !self.is_first_look(visit)) {
            return;
        }
        // A torrent that another site stored first also counts as new here.
        let brings_torrent = matches!(visit.outcome, Outcome::TorrentStored | Outcome::TorrentDuplicate);
        let torrent = visit.torrent.as_ref().filter(|_| brings_torrent);
        let torrents = u32::from(torrent.is_some_and(|facts| self.files.is_new(hash(&facts.infohashes))));
        let magnets = visit.magnets.iter().filter(|magnet| self.magnets.is_new(hash(&magnet.infohashes))).count();
        let magnets = u32::try_from(magnets).unwrap_or(u32::MAX);
        let own = self.yields.entry(finished.job.rule).or_default();
        own.fetched += 1;
        own.torrents += u64::from(torrents) + u64::from(magnets);
        // What was queued under a rank is counted for it, so that a rank whose URLs are others than its name says finds its place.
        let arm = match self.arms.shares.has(visit.rank, finished.job.class) {
            true => visit.rank,
            false => self.arms.rank(finished.job.class, finished.job.rule, &visit.key.path),
        };
        self.arms.shares.fetched(arm, torrents.saturating_add(magnets), links.arms());
        // Of a detail it is the torrent beside it.
        let is_detail = matches!(finished.job.class, Class::Detail | Class::Thread);
        if let Some(shows_more) = finished.end.shows_more {
            self.lean.read(finished.job.rule, shows_more);
        }
        let via = visit.via.as_deref().filter(|_| !is_detail && (torrents > 0 || torrent.is_some()));
        let via = via.and_then(|via| CrawlUrl::parse(via, &rules.canonical).ok());
        let via = via.and_then(|url| match rules.judge(&url) {
            Verdict::Take { class, number, .. } if torrents > 0 => {
                self.yields.entry(number).or_default().torrents += u64::from(torrents);
                Some((url, class))
            }
            Verdict::Take { class, number, .. } => {
                let from = self.arms.rank(class, number, url.path());
                self.arms.shares.was_known(from, arm);
                None
            }
            Verdict::Refuse { .. } => None,
        });
        if self.budget.traps {
            let via = via.as_ref().map(|(url, class)| (url.path(), *class));
            self.shapes.fetched(&visit.key.path, finished.job.class, &Yield { torrents, magnets, links }, via);
        }
    }

    /// False if the first page of a list was already visited in this run, or has not changed since an earlier one.
    fn is_first_look(&mut self, visit: &Visit) -> bool {
        let mark = xxh3_64_with_seed(visit.key.path.as_bytes(), visit.key.host.0.into());
        self.fronts.is_new(mark) && visit.outcome != Outcome::NotModified
    }
}

/// A path and query without long values that may be a token: reports show them.
fn without_tokens(path: &str) -> String {
    let (path, query) = path.split_once('?').unwrap_or((path, ""));
    let shown = parameters(query).map(|(name, value)| match value {
        Some(value) if value.len() > limits::SHOWN_VALUE_BYTES_MAX && value.bytes().any(|of| of.is_ascii_digit()) => {
            format!("{name}=…")
        }
        Some(value) => format!("{name}={value}"),
        None => name,
    });
    let shown: Vec<String> = shown.collect();
    if shown.is_empty() { path.to_owned() } else { format!("{path}?{}", shown.join("&")) }
}

fn shape_hash(path: &str) -> u64 {
    xxh3_64(Shape::of(path).as_str().as_bytes())
}

fn hash(infohashes: &Infohashes) -> u64 {
    let mut bytes = [0; 52];
    bytes[..20].copy_from_slice(&infohashes.v1.unwrap_or_default());
    bytes[20..].copy_from_slice(&infohashes.v2.unwrap_or_default());
    xxh3_64(&bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_show_no_tokens() {
        for (path, shown) in [
            ("/a.php?tid=5&my_post_key=0a1b2c3d4e5f6071", "/a.php?tid=5&my_post_key=…"),
            ("/index.php?action=markasread;b5effd7a0=94689e0a1b2c", "/index.php?action=markasread&b5effd7a0=…"),
            ("/viewforum.php?mark=topics&delete", "/viewforum.php?mark=topics&delete"),
            ("/threads/x.17/watch", "/threads/x.17/watch"),
        ] {
            assert_eq!(without_tokens(path), shown);
        }
    }
}
