//! The alarms: which are open, which are over, and which causes may become one. One alarm a cause; it fires when its cause has lasted, and is over when that has
//! been away for a while. What it holds is kept, so that nothing is told again after a restart.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

use crate::Alarm;
use crate::kinds::Kind;
use crate::limits::{HISTORY_MAX, NOTE_CHARACTERS_MAX, OPEN_MAX, SILENCES_MAX, TITLE_CHARACTERS_MAX};
use crate::watch::Cause;

/// A gap between two looks, as of a restart, after which a cause has to last anew.
const GAP: Duration = Duration::from_secs(1_800);

/// The end of a silence that lasts until its alarm is over: the last second of the year 9999.
pub const UNTIL_OVER_MS: i64 = 253_402_300_799_000;

/// What the operator wants.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Kinds that are not told.
    pub off: BTreeSet<Kind>,
    /// How long causes of a kind have to last, where that is not its own default.
    pub after: BTreeMap<Kind, Duration>,
}

impl Settings {
    fn after(&self, cause: &Cause) -> Duration {
        self.after.get(&cause.kind).copied().or(cause.after).unwrap_or_else(|| cause.kind.after())
    }
}

/// What has become of an alarm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum What {
    Fired,
    Over,
    /// Nothing: somebody tries a channel.
    Test,
}

/// An alarm that has changed, and whether somebody is to be called.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    pub what: What,
    pub alarm: Alarm,
    pub calls: bool,
}

/// What tells causes apart.
type Key = (Kind, String, String);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Open {
    key: Key,
    alarm: Alarm,
    /// Since when its cause is away.
    away: Option<UnixMillis>,
    /// It fired while it was silenced: nobody was called.
    #[serde(default)]
    is_untold: bool,
}

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Book {
    next: u64,
    open: Vec<Open>,
    /// Causes that have not lasted long enough, and since when they do.
    pending: Vec<(Key, UnixMillis)>,
    /// Causes about which nobody is called before then.
    silences: Vec<(Key, i64)>,
    /// The oldest first.
    over: VecDeque<Alarm>,
    fired: BTreeMap<Kind, u64>,
    last: Option<UnixMillis>,
}

fn key(cause: &Cause) -> Key {
    (cause.kind, cause.site.clone().unwrap_or_default(), cause.about.clone())
}

/// As alarms have times.
fn ms(at: UnixMillis) -> i64 {
    i64::try_from(at.0).unwrap_or(i64::MAX)
}

impl Book {
    /// Takes note of the causes that stand now; returns what has become of alarms. `rests` are sites of which nothing is known now.
    pub fn look(
        &mut self,
        causes: &[Cause],
        rests: &BTreeSet<&str>,
        settings: &Settings,
        now: UnixMillis,
    ) -> Vec<Event> {
        if self.last.replace(now).is_none_or(|last| now.since(last) > GAP || last > now) {
            self.pending.clear();
        }
        self.silences.retain(|(_, until)| *until > ms(now));
        for open in &mut self.open {
            open.alarm.silenced_until_ms.take_if(|until| *until <= ms(now));
        }
        let mut pending = Vec::new();
        let mut events = Vec::new();
        let stands: BTreeSet<Key> = causes.iter().map(key).collect();
        for cause in causes.iter().filter(|cause| !settings.off.contains(&cause.kind)) {
            let key = key(cause);
            if let Some(open) = self.open.iter_mut().find(|open| open.key == key) {
                open.away = None;
                open.alarm.figures.clone_from(&cause.figures);
                open.alarm.rule = cause.rule.clone().or(open.alarm.rule.take());
                open.alarm.page = cause.page.clone().or(open.alarm.page.take());
                if open.alarm.silenced_until_ms.is_none() && std::mem::take(&mut open.is_untold) {
                    // Its silence has ended, and it has not.
                    events.push(Event { what: What::Fired, alarm: open.alarm.clone(), calls: true });
                }
                continue;
            }
            if self.is_explained(cause, causes) {
                continue;
            }
            let began = self.pending.iter().find(|(of, _)| *of == key).map_or(now, |(_, since)| *since);
            let since = cause.since.map_or(began, |since| since.min(began));
            if now.since(since) >= settings.after(cause) {
                events.extend(self.fires(key, cause, since));
            } else if pending.len() < OPEN_MAX {
                pending.push((key, began));
            }
        }
        self.pending = pending;
        events.extend(self.ends(&stands, causes, rests, settings, now));
        events
    }

    fn fires(&mut self, key: Key, cause: &Cause, since: UnixMillis) -> Option<Event> {
        if self.open.len() >= OPEN_MAX {
            return None;
        }
        self.next += 1;
        let silenced = self.silences.iter().find(|(of, _)| *of == key).map(|(_, until)| *until);
        let alarm = Alarm {
            id: format!("{}-{}", cause.kind.name(), self.next),
            kind: cause.kind.name().to_owned(),
            site: cause.site.clone(),
            title: plain(&cause.title, TITLE_CHARACTERS_MAX),
            since_ms: ms(since),
            away_since_ms: None,
            over_ms: None,
            figures: cause.figures.clone(),
            rule: cause.rule.clone(),
            page: cause.page.clone(),
            todo: cause.todo.clone(),
            silenced_until_ms: silenced,
            note: None,
        };
        *self.fired.entry(cause.kind).or_default() += 1;
        self.open.push(Open { key, alarm: alarm.clone(), away: None, is_untold: silenced.is_some() });
        Some(Event { what: What::Fired, alarm, calls: silenced.is_none() })
    }

    fn ends(
        &mut self,
        stands: &BTreeSet<Key>,
        causes: &[Cause],
        rests: &BTreeSet<&str>,
        settings: &Settings,
        now: UnixMillis,
    ) -> Vec<Event> {
        let mut over = Vec::new();
        // While a site rests, or what explains an alarm lasts, nothing is known of the cause.
        let is_unknown = |(kind, site, _): &Key| {
            let of_site = |cause: &&Cause| cause.site.as_deref().is_none_or(|of| of == site);
            rests.contains(site.as_str()) || causes.iter().filter(of_site).any(|cause| kind.is_explained_by(cause.kind))
        };
        for open in &mut self.open {
            if stands.contains(&open.key) && !settings.off.contains(&open.key.0) {
                continue;
            }
            if is_unknown(&open.key) {
                open.away = None;
                continue;
            }
            let away = *open.away.get_or_insert(now);
            if now.since(away) >= open.key.0.calm() {
                over.push(open.alarm.id.clone());
            }
        }
        over.into_iter().filter_map(|id| self.is_over(&id, now)).collect()
    }

    fn is_over(&mut self, id: &str, now: UnixMillis) -> Option<Event> {
        let at = self.open.iter().position(|open| open.alarm.id == id)?;
        let Open { key, mut alarm, away, is_untold } = self.open.remove(at);
        // It was away from then on.
        alarm.over_ms = Some(ms(away.unwrap_or(now)).max(alarm.since_ms));
        let is_silenced = alarm.silenced_until_ms.is_some_and(|until| until > ms(now));
        self.silences.retain(|(of, until)| *of != key || *until < UNTIL_OVER_MS);
        self.over.push_back(alarm.clone());
        if self.over.len() > HISTORY_MAX {
            self.over.pop_front();
        }
        // Who was not called about it is not called about its end.
        Some(Event { what: What::Over, alarm, calls: !is_silenced && !is_untold })
    }

    /// True if another cause is the cause of this one. Of two that explain each other it is the one that is told already, or else the one that is named
    /// first in the table.
    fn is_explained(&self, cause: &Cause, causes: &[Cause]) -> bool {
        let is_open = |other: &Cause| self.open.iter().any(|open| open.key == key(other));
        causes.iter().any(|other| {
            let is_of_it = other.site.is_none() || other.site == cause.site;
            is_of_it
                && cause.kind.is_explained_by(other.kind)
                && (!other.kind.is_explained_by(cause.kind) || is_open(other) || other.kind < cause.kind)
        })
    }

    /// The alarms, open ones first, each part the newest first.
    #[must_use]
    pub fn list(&self) -> Vec<Alarm> {
        let told = |open: &Open| Alarm { away_since_ms: open.away.map(ms), ..open.alarm.clone() };
        let mut open: Vec<Alarm> = self.open.iter().map(told).collect();
        open.sort_by_key(|alarm| std::cmp::Reverse(alarm.since_ms));
        open.extend(self.over.iter().rev().cloned());
        open
    }

    /// The open ones by kind and site.
    #[must_use]
    pub fn open(&self) -> Vec<(Kind, Option<&str>)> {
        self.open.iter().map(|open| (open.key.0, open.alarm.site.as_deref())).collect()
    }

    /// How many of each kind have fired, since the state began.
    #[must_use]
    pub fn fired(&self) -> &BTreeMap<Kind, u64> {
        &self.fired
    }

    /// Calls nobody about this cause before then; without a time, before it is over. False if no open alarm has this id.
    pub fn silence(&mut self, id: &str, minutes: Option<u32>, now: UnixMillis) -> bool {
        let until = minutes.map_or(UNTIL_OVER_MS, |minutes| ms(now) + 60_000 * i64::from(minutes));
        let Some(open) = self.open.iter_mut().find(|open| open.alarm.id == id) else { return false };
        open.alarm.silenced_until_ms = Some(until);
        self.silences.retain(|(of, _)| *of != open.key);
        if self.silences.len() < SILENCES_MAX {
            self.silences.push((open.key.clone(), until));
        }
        true
    }

    /// Ends the silence of an alarm: if nobody was called about it yet, somebody is at the next look. False if no open alarm has this id.
    pub fn unsilence(&mut self, id: &str) -> bool {
        let Some(open) = self.open.iter_mut().find(|open| open.alarm.id == id) else { return false };
        open.alarm.silenced_until_ms = None;
        self.silences.retain(|(of, _)| *of != open.key);
        true
    }

    /// Writes a note to an alarm. False if none has this id.
    pub fn note(&mut self, id: &str, text: &str) -> bool {
        let text = plain(text, NOTE_CHARACTERS_MAX);
        let open = self.open.iter_mut().map(|open| &mut open.alarm);
        let Some(alarm) = open.chain(self.over.iter_mut()).find(|alarm| alarm.id == id) else { return false };
        alarm.note = Some(text).filter(|text| !text.is_empty());
        true
    }
}

/// A text of at most so many characters in one line, without controls and marks of direction: others have written some of it.
fn plain(text: &str, most: usize) -> String {
    let is_bad = |of: char| {
        of.is_control()
            || matches!(of, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    let text: String = text.chars().map(|of| if is_bad(of) { ' ' } else { of }).take(most).collect();
    text.trim().to_owned()
}

#[cfg(test)]
mod tests;
