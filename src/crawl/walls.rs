//! Walls: a run of alike refusals is the site's state, not the end of the URLs that met it. A challenge, a daily limit, a notice that a
//! person has to tick: all URLs of the rule wait, one is asked now and then, and once it is answered all go on.
//!
//! A URL that was answered before tells the two apart: if it still is, the refusals were those URLs' own. Until a rule has had an
//! answer, more refusals are needed. Pure: the site loop parks, asks and reads the clock.

use std::collections::BTreeMap;

use gleaner_base::clock::UnixMillis;
use gleaner_net::politeness::backoff;
use gleaner_store::crawldb::{Discovered, UrlKey};

use crate::limits;
use crate::refusal::Said;

/// Walls of one site.
#[derive(Debug, Default)]
pub struct Walls {
    /// By the number of the rule.
    rules: BTreeMap<usize, RuleState>,
    /// Signs of redirects whose targets have led to torrents.
    ways: Vec<u64>,
}

/// What becomes of a visit.
#[derive(Debug, PartialEq, Eq)]
pub enum Fate {
    /// It ends as it did.
    Own,
    /// It met a wall: it is to be parked.
    Parked,
    /// It ends as it did, and these, which ended before, are to be asked for once more.
    Again(Vec<Discovered>),
    /// It proved the wall: it is to be parked, and so are these, which ended before.
    Raised(Vec<Discovered>),
    /// There is no wall any longer: what is parked is to be queued again.
    Fallen,
}

/// A wall that stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing<'a> {
    /// Number of the rule.
    pub rule: usize,
    /// The response that all of them got.
    pub told: &'a str,
    /// URLs that met it.
    pub refused: u64,
    /// One of them: path and query.
    pub example: &'a str,
}

/// A visit, as the walls see it.
#[derive(Clone, Debug)]
pub struct Met {
    /// Queues its URL once more.
    pub row: Discovered,
    /// When its request began.
    pub began: UnixMillis,
}

#[derive(Debug, Default)]
struct RuleState {
    /// URLs that were refused alike, with no answer to a later request.
    run: Vec<Met>,
    sign: u64,
    /// True for a run of redirects whose target may lead on.
    is_led_off: bool,
    told: String,
    refused: u64,
    /// The last URL that was answered.
    answered: Option<Discovered>,
    /// Some of the URLs that wait unasked: while none was answered, another one than those that were refused has to be asked.
    waiting: Vec<Discovered>,
    /// Signs of walls that stood before.
    known: Vec<u64>,
    /// How often runs proved to be the URLs' own ends: each doubles the next run.
    own: u32,
    wall: Option<Wall>,
}

#[derive(Debug)]
struct Wall {
    since: UnixMillis,
    /// False while it is only supposed: the URL that was answered is being asked again.
    is_proven: bool,
    /// Consecutive probes that were refused.
    refusals: u32,
    probe_at: UnixMillis,
    probed: Option<UrlKey>,
    next: usize,
}

impl RuleState {
    /// Refusals in a row that make a wall.
    fn run_min(&self) -> usize {
        match &self.answered {
            Some(_) if self.known.contains(&self.sign) => 1,
            Some(_) => limits::WALL_RUN << self.own.min(10),
            None => limits::WALL_RUN_UNANSWERED,
        }
    }

    /// The same once nothing else is left to ask for.
    fn run_min_at_end(&self) -> usize {
        match &self.answered {
            Some(_) => self.run_min().min(limits::WALL_RUN_AT_END),
            None => limits::WALL_RUN,
        }
    }

    /// True if its wall is to be probed some time, and is not being probed.
    fn is_probed(&self, for_ever: bool) -> bool {
        let Some(wall) = &self.wall else { return false };
        let may_be = for_ever || self.answered.is_some() && wall.refusals < limits::WALL_PROBES;
        may_be && wall.probed.is_none()
    }

    fn raise(&mut self, now: UnixMillis) {
        let is_proven = self.answered.is_none();
        let probe_at = if is_proven { backoff::throttled_until(1, now) } else { now };
        self.wall = Some(Wall { since: now, is_proven, refusals: 0, probe_at, probed: None, next: 0 });
    }

    /// The wall is proven: its run, which is to be parked.
    fn prove(&mut self) -> Vec<Discovered> {
        if !self.known.contains(&self.sign) && self.known.len() < limits::WALL_SIGNS_MAX {
            self.known.push(self.sign);
        }
        self.run.iter().map(|met| met.row.clone()).collect()
    }

    fn answered(&mut self, met: Met) -> Fate {
        let is_first = self.answered.is_none();
        let (later, earlier) = std::mem::take(&mut self.run).into_iter().partition(|other| other.began > met.began);
        self.run = later;
        let wall = self.wall.as_ref();
        let is_probe = wall.is_some_and(|wall| wall.probed.as_ref() == Some(&met.row.key));
        let falls = wall.is_some_and(|wall| is_probe || met.began > wall.since);
        self.answered = Some(met.row);
        if !falls {
            // What was refused before the rule's first answer may have been refused by what has passed since.
            let again: Vec<Discovered> = earlier.into_iter().map(|met: Met| met.row).collect();
            return if is_first && !again.is_empty() { Fate::Again(again) } else { Fate::Own };
        }
        if self.wall.take().is_some_and(|wall| !wall.is_proven) {
            self.own += 1;
        }
        self.run.clear();
        self.waiting.clear();
        Fate::Fallen
    }

    /// A redirect to another page: whether that leads on is known only once it is read, so that a run is looked at when nothing else is
    /// left, unless the rule's URLs were answered before. What stands already is confirmed by it.
    fn led_off(&mut self, sign: u64, told: String, met: Met, now: UnixMillis) -> Fate {
        if self.wall.is_some() || self.known.contains(&sign) || self.answered.is_some() {
            return self.refused(sign, told, met, now);
        }
        self.begin_run(sign, told);
        self.is_led_off = true;
        self.refused += 1;
        if self.run.len() < limits::WALL_RUN_LED_OFF_MAX {
            self.run.push(met);
        }
        Fate::Own
    }

    /// A refusal of another kind begins a run of its own.
    fn begin_run(&mut self, sign: u64, told: String) {
        if sign != self.sign {
            (self.sign, self.told, self.refused) = (sign, told, 0);
            self.run.clear();
        }
    }

    /// A probe that failed, or is gone, tells nothing: another URL has to.
    fn no_word(&mut self, met: &Met, now: UnixMillis) -> Fate {
        let Some(wall) = self.wall.as_mut().filter(|wall| wall.probed.as_ref() == Some(&met.row.key)) else {
            return Fate::Own;
        };
        wall.probed = None;
        wall.refusals += 1;
        wall.probe_at = backoff::throttled_until(wall.refusals, now);
        self.answered = None;
        match std::mem::replace(&mut wall.is_proven, true) {
            true => Fate::Own,
            false => Fate::Raised(self.prove()),
        }
    }

    fn refused(&mut self, sign: u64, told: String, met: Met, now: UnixMillis) -> Fate {
        if let Some(wall) = &mut self.wall {
            let is_probe = wall.probed.as_ref() == Some(&met.row.key);
            if is_probe {
                wall.probed = None;
                wall.refusals += 1;
                wall.probe_at = backoff::throttled_until(wall.refusals, now);
            }
            self.refused += u64::from(!is_probe);
            let was_proven = wall.is_proven;
            wall.is_proven |= is_probe;
            return match was_proven {
                true => Fate::Parked,
                false if is_probe => Fate::Raised(self.prove()),
                false => {
                    self.run.push(met);
                    Fate::Own
                }
            };
        }
        self.begin_run(sign, told);
        self.is_led_off = false;
        self.refused += 1;
        self.run.push(met);
        if self.run.len() < self.run_min() {
            return Fate::Own;
        }
        self.raise(now);
        match self.answered {
            Some(_) => Fate::Own,
            None => Fate::Raised(self.prove()),
        }
    }
}

impl Walls {
    /// Takes note of a visit by the rule with this number.
    pub fn mind(&mut self, rule: usize, said: Said, met: Met, now: UnixMillis) -> Fate {
        let state = self.rules.entry(rule).or_default();
        match said {
            Said::LedOff { sign, .. } if self.ways.contains(&sign) => Fate::Own,
            Said::Answered => state.answered(met),
            Said::Refused { sign, told } => state.refused(sign, told, met, now),
            Said::LedOff { sign, told } => state.led_off(sign, told, met, now),
            Said::Nothing => state.no_word(&met, now),
        }
    }

    /// Nothing else is left to ask for: shorter runs at the end are looked at, too. Returns URLs that are to be parked: of rules that
    /// never had an answer. True if there is more to do.
    pub fn close(&mut self, now: UnixMillis) -> (Vec<Discovered>, bool) {
        let (mut parked, mut more) = (Vec::new(), false);
        let is_open = |state: &&mut RuleState| state.wall.is_none() && state.run.len() >= state.run_min_at_end();
        for state in self.rules.values_mut().filter(is_open) {
            state.raise(now);
            match state.answered {
                Some(_) => more = true,
                None => parked.extend(state.prove()),
            }
        }
        more |= !parked.is_empty();
        (parked, more)
    }

    /// True if redirects wait for what their targets hold.
    #[must_use]
    pub fn have_led_off(&self) -> bool {
        self.rules.values().any(|state| state.is_led_off && !state.run.is_empty())
    }

    /// The target of redirects with this sign leads to torrents: they are no refusals.
    pub fn lead_on(&mut self, sign: u64) {
        if self.ways.len() < limits::WALL_SIGNS_MAX && !self.ways.contains(&sign) {
            self.ways.push(sign);
        }
        let of_it = |state: &&mut RuleState| state.is_led_off && state.sign == sign && state.wall.is_none();
        self.rules.values_mut().filter(of_it).for_each(|state| state.run.clear());
    }

    /// URLs whose refusals were not looked at yet: before a crawl ends that has more to ask for.
    pub fn leave(&mut self, now: UnixMillis) -> Vec<Discovered> {
        let open = self.rules.values_mut().filter(|state| state.wall.is_none());
        // They come after what has not been asked for at all.
        open.flat_map(|state| std::mem::take(&mut state.run)).map(|met| Discovered { due: now, ..met.row }).collect()
    }

    /// A URL that waits unasked in front of its rule's wall.
    pub fn waits(&mut self, rule: usize, row: Discovered) {
        if let Some(state) = self.rules.get_mut(&rule)
            && state.answered.is_none()
            && state.waiting.len() < limits::WALL_WAITING_MAX
        {
            state.waiting.push(row);
        }
    }

    /// True for the URL that is being asked for to see whether its rule's wall still stands.
    #[must_use]
    pub fn is_probe(&self, rule: usize, key: &UrlKey) -> bool {
        let wall = self.rules.get(&rule).and_then(|state| state.wall.as_ref());
        wall.is_some_and(|wall| wall.probed.as_ref() == Some(key))
    }

    /// True for a URL that is not to be asked for: a wall stands before its rule's URLs, and it is no probe.
    #[must_use]
    pub fn stops(&self, rule: usize, key: &UrlKey) -> bool {
        self.rules.get(&rule).is_some_and(|state| state.wall.is_some()) && !self.is_probe(rule, key)
    }

    /// URLs to be asked for now, to see whether their walls still stand. A one-shot crawl (`!for_ever`) asks a few times where there
    /// was an answer before, else not at all.
    pub fn probes(&mut self, now: UnixMillis, for_ever: bool) -> Vec<Discovered> {
        let mut due = Vec::new();
        for state in self.rules.values_mut().filter(|state| state.is_probed(for_ever)) {
            let Some(wall) = state.wall.as_mut().filter(|wall| wall.probe_at <= now) else { continue };
            // By turns one that was refused and one that was not asked for yet.
            let unasked = if wall.next % 2 == 1 { state.waiting.pop() } else { None };
            let refused = || state.run.get(wall.next % state.run.len().max(1)).map(|met| met.row.clone());
            let row = state.answered.clone().or(unasked).or_else(refused);
            let Some(row) = row else { continue };
            wall.next += 1;
            wall.probed = Some(row.key.clone());
            due.push(Discovered { due: UnixMillis(0), ..row });
        }
        due
    }

    /// When the next probe is due; None if none is.
    #[must_use]
    pub fn wake_at(&self, for_ever: bool) -> Option<UnixMillis> {
        let walls = self.rules.values().filter(|state| state.is_probed(for_ever));
        walls.filter_map(|state| state.wall.as_ref()).map(|wall| wall.probe_at).min()
    }

    /// Moves the times with the clock.
    pub fn shift(&mut self, by_ms: i64) {
        for wall in self.rules.values_mut().filter_map(|state| state.wall.as_mut()) {
            wall.probe_at = UnixMillis(wall.probe_at.0.saturating_add_signed(by_ms));
        }
    }

    /// The walls that stand.
    pub fn standing(&self) -> impl Iterator<Item = Standing<'_>> {
        self.rules.iter().filter(|(_, state)| state.wall.as_ref().is_some_and(|wall| wall.is_proven)).map(
            |(&rule, state)| Standing {
                rule,
                told: &state.told,
                refused: state.refused,
                example: state.run.last().map_or("", |met| &met.row.key.path),
            },
        )
    }
}

#[cfg(test)]
mod tests;
