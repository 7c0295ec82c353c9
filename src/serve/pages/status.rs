//! The service's report on its sites, as the pages read it: what state each is in, in words, and what mends it.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_base::clock::UnixMillis;
use maud::{Markup, html};
use serde::Deserialize;

use super::visit::{Visit, part};
use super::words;
use crate::Outlet;
use crate::limits::STATUS_KEPT;
use crate::problem::Problem;

/// What the pages read of `gleaner status --json`.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Status {
    pub sites: Vec<Site>,
    pub rule_faults: Vec<RuleFault>,
    pub store_fault: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct RuleFault {
    pub path: String,
    pub first: String,
    pub count: usize,
}

impl RuleFault {
    /// The name of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or_default();
        file.strip_suffix(".toml").unwrap_or(file)
    }
}

/// One site of it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Site {
    pub name: String,
    pub pages: u64,
    pub pages_not_whole: u64,
    pub torrents: u64,
    pub torrents_seen: u64,
    pub magnets: u64,
    pub urls_known: u64,
    pub urls_queued: u64,
    pub body_bytes: u64,
    pub outcomes: BTreeMap<String, u64>,
    pub is_crawled: bool,
    pub under_way: usize,
    pub waiting: Option<Waiting>,
    pub session: Option<Session>,
    pub no_session: Option<NoSession>,
    pub blocked_hosts: Vec<BlockedHost>,
    pub ended: Option<Ended>,
    pub unclassed: Vec<Shape>,
    pub acting: Vec<Shape>,
    pub crews: Option<Crews>,
    pub delay: Option<Delay>,
    pub gone: Option<Gone>,
    pub troubles: Vec<Trouble>,
    pub broken_promises: Vec<Broken>,
    pub paused: Option<Paused>,
}

#[derive(Debug, Default, Deserialize)]
pub struct Waiting {
    pub until: String,
    pub reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Session {
    pub state: String,
    pub proven: Option<UnixMillis>,
}

#[derive(Debug, Default, Deserialize)]
pub struct NoSession {
    pub until: Option<String>,
    pub reason: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct BlockedHost {
    pub origin: String,
    pub until: String,
    pub reason: String,
    pub waits: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Ended {
    pub end: String,
    pub detail: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Shape {
    pub shape: String,
    pub links: u64,
    pub example: String,
    pub why: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Crews {
    pub why: String,
    pub history_left: u64,
    pub next_round: String,
    pub news_per_hour: f64,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Delay {
    pub median_s: Option<f64>,
    pub p90_s: Option<f64>,
    pub p99_s: Option<f64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Gone {
    pub by: BTreeMap<String, u64>,
    pub last: Vec<GoneUrl>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct GoneUrl {
    pub url: String,
    pub found: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Trouble {
    pub class: String,
    pub outcome: String,
    pub detail: Option<String>,
    pub visits: u64,
    pub example: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Broken {
    pub rule: String,
    pub is_behind: bool,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Paused {
    pub until: Option<UnixMillis>,
    pub by: String,
}

/// How a site is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mood {
    Ok,
    Paused,
    Waits,
    Bad,
}

impl Mood {
    /// Its class in the style.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Paused => "paused",
            Self::Waits => "waits",
            Self::Bad => "bad",
        }
    }
}

/// What mends it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fix {
    /// Words of a command of ours.
    Command(String),
    Resume,
    Crawl,
    /// The page of its rules.
    Rules,
}

/// How a site is, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub mood: Mood,
    pub words: String,
    /// Until when, if it has an end that is known.
    pub until: Option<UnixMillis>,
    pub fixes: Vec<Fix>,
}

impl State {
    fn new(mood: Mood, words: impl Into<String>, until: Option<UnixMillis>, fixes: Vec<Fix>) -> Self {
        Self { mood, words: words.into(), until, fixes }
    }

    /// As it is shown.
    #[must_use]
    pub fn shown(&self, now: UnixMillis) -> Markup {
        html! {
            (words::told(&self.words))
            @if let Some(until) = self.until { " (" (words::when(until, now)) ")" }
        }
    }

    /// Buttons and commands.
    #[must_use]
    pub fn mended(&self, visit: &Visit, site: &str) -> Markup {
        let act = format!("/sites/{}/act", part(site));
        html! {
            @for fix in &self.fixes {
                @match fix {
                    Fix::Command(words) => { (command(&visit.command(words))) }
                    Fix::Resume => {
                        @if visit.may_act() { (visit.button(&act, "resume", &[("act", "resume")])) }
                        @else { (command(&visit.command(&format!("resume {site}")))) }
                    }
                    Fix::Crawl => { (visit.button(&act, "crawl now", &[("act", "crawl")])) }
                    Fix::Rules => { a.button href=(visit.to(&format!("/rules/{}", part(site)))) { "its rules" } }
                }
            }
        }
    }
}

/// A command with a button that copies it.
#[must_use]
pub fn command(text: &str) -> Markup {
    html! { code { (text) } button type="button" data-copy=(text) { "copy" } }
}

/// Characters of a reason in a row; the log has all of it.
const BRIEF_CHARACTERS: usize = 160;

/// The first line of a reason, without the layers of software that passed it on; its hints are of their own.
fn first_line(text: &str) -> String {
    let is_layer = |part: &&str| {
        !matches!(*part, "the server did not answer" | "tcp connect error") && !part.starts_with("client error (")
    };
    let line = text.lines().next().unwrap_or_default();
    let parts: Vec<&str> = line.split(": ").filter(is_layer).collect();
    let brief = parts.join(": ");
    match brief.char_indices().nth(BRIEF_CHARACTERS) {
        Some((at, _)) => format!("{}…", &brief[..at]),
        None => brief,
    }
}

impl Site {
    /// When it is looked at next: the first look of its timetable, or its next round; not before it goes on.
    #[must_use]
    pub fn next_look(&self, scheduled: Option<UnixMillis>) -> Option<UnixMillis> {
        let round = self.crews.as_ref().and_then(|crews| words::parsed(&crews.next_round));
        let next = scheduled.into_iter().chain(round).min()?;
        let paused = self.paused.as_ref().and_then(|paused| paused.until);
        Some(paused.map_or(next, |until| next.max(until)))
    }

    /// How it is. Of several reasons the one that a person can do most about.
    #[must_use]
    pub fn state(&self, faults: &[RuleFault]) -> State {
        let fault = faults.iter().find(|fault| fault.name() == self.name);
        if let Some(paused) = &self.paused {
            let end = if paused.until.is_some() { "paused" } else { "paused until it is resumed" };
            return State::new(Mood::Paused, format!("{end}, by {}", paused.by), paused.until, vec![Fix::Resume]);
        }
        if let Some(fault) = fault {
            let words =
                format!("its rule file has {}: {}", words::many(fault.count as u64, "fault"), first_line(&fault.first));
            return State::new(Mood::Bad, words, None, vec![Fix::Rules, Fix::Command("rules check".to_owned())]);
        }
        if let Some(without) = &self.no_session {
            let words = format!("not logged in: {}", first_line(&without.reason));
            let until = without.until.as_deref().and_then(words::parsed);
            let mood = if without.until.is_some() { Mood::Waits } else { Mood::Bad };
            return State::new(mood, words, until, vec![Fix::Command(format!("login {}", self.name))]);
        }
        if let Some(broken) = self.broken_promises.first() {
            let place = if broken.is_behind { " on the later pages of its lists" } else { "" };
            let words = format!("a rule finds less than it did{place}: {}", broken.rule);
            let repair = Fix::Command(format!("rules repair {}", self.name));
            return State::new(Mood::Bad, words, None, vec![Fix::Rules, repair]);
        }
        if let Some(blocked) = self.blocked_hosts.iter().find(|host| host.waits) {
            let words = format!("{} is left alone for a while: {}", blocked.origin, first_line(&blocked.reason));
            return State::new(Mood::Waits, words, words::parsed(&blocked.until), Vec::new());
        }
        if let Some(ended) = self.ended.as_ref().filter(|_| !self.is_crawled) {
            return self.ended(ended);
        }
        match &self.waiting {
            Some(waiting) => {
                let words = format!("waiting: {}", first_line(&waiting.reason));
                State::new(Mood::Ok, words, words::parsed(&waiting.until), Vec::new())
            }
            None if !self.is_crawled => {
                State::new(Mood::Paused, "no enabled rule file: it is not crawled", None, vec![Fix::Rules])
            }
            None if self.session.as_ref().is_some_and(|of| of.state == "logging_in") => {
                State::new(Mood::Ok, "logging in", None, Vec::new())
            }
            None if self.under_way > 0 => {
                let words = format!("crawling, {} under way", words::many(self.under_way as u64, "request"));
                State::new(Mood::Ok, words, None, Vec::new())
            }
            None if self.urls_queued > 0 => {
                State::new(Mood::Ok, "crawling, as fast as its rate allows", None, Vec::new())
            }
            None => State::new(Mood::Ok, "up to date", None, Vec::new()),
        }
    }

    fn ended(&self, ended: &Ended) -> State {
        let detail = first_line(ended.detail.as_deref().unwrap_or_default());
        let crawl = vec![Fix::Crawl];
        match &*ended.end {
            "exhausted" => State::new(Mood::Ok, "all of it is read", None, crawl),
            "budget" => State::new(Mood::Ok, format!("stopped at {detail}"), None, crawl),
            "stopped" => State::new(Mood::Paused, "stopped", None, crawl),
            "unreachable" => State::new(Mood::Bad, format!("unreachable: {detail}"), None, crawl),
            "refused" => State::new(Mood::Bad, format!("refused: {detail}"), None, vec![Fix::Rules, Fix::Crawl]),
            "not_logged_in" => {
                let login = Fix::Command(format!("login {}", self.name));
                State::new(Mood::Bad, format!("not logged in: {detail}"), None, vec![login])
            }
            other => State::new(Mood::Waits, format!("ended: {other}"), None, crawl),
        }
    }
}

impl Outlet {
    /// The report, not older than [`STATUS_KEPT`].
    ///
    /// # Errors
    /// Errors of the database.
    pub async fn status(&self) -> Result<Arc<Status>, Problem> {
        let mut kept = self.pages.status.lock().await;
        let now = self.clock.now();
        if let Some((at, status)) = &*kept
            && now.since(*at) < STATUS_KEPT
            && now >= *at
        {
            return Ok(Arc::clone(status));
        }
        let made = self.inside.status.make("").await?.unwrap_or_default();
        let status: Status = serde_json::from_value(made).map_err(|error| Problem::ours(&error))?;
        let status = Arc::new(status);
        *kept = Some((now, Arc::clone(&status)));
        Ok(status)
    }

    /// Has the next page ask anew.
    pub async fn forget_status(&self) {
        *self.pages.status.lock().await = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(json: serde_json::Value) -> State {
        let site: Site = serde_json::from_value(json).unwrap();
        site.state(&[RuleFault { path: "rules/bad.toml".into(), first: "a:1:1: x\n  hint: y".into(), count: 2 }])
    }

    #[test]
    fn what_a_person_can_mend_comes_first() {
        use serde_json::json;
        let paused = json!({"name": "bad", "paused": {"since": 1, "until": null, "by": "token x"}});
        assert_eq!((state(paused.clone()).mood, state(paused).fixes), (Mood::Paused, vec![Fix::Resume]));
        let bad = state(json!({"name": "bad", "is_crawled": true}));
        assert!(bad.mood == Mood::Bad && bad.words == "its rule file has 2 faults: a:1:1: x", "{bad:?}");
        let out =
            state(json!({"name": "s", "is_crawled": true, "no_session": {"until": null, "reason": "no form\nhint"}}));
        assert_eq!((out.mood, out.fixes), (Mood::Bad, vec![Fix::Command("login s".into())]));
        let later = state(json!({"name": "s", "no_session": {"until": "2026-12-01T00:00:00Z", "reason": "x"}}));
        assert_eq!((later.mood, later.until), (Mood::Waits, Some(UnixMillis(1_796_083_200_000))));
        let gone = state(json!({"name": "s", "ended": {"end": "unreachable", "detail": "h: refused"}}));
        assert_eq!((gone.mood, &*gone.words), (Mood::Bad, "unreachable: h: refused"));
        let well = state(json!({"name": "s", "is_crawled": true, "urls_queued": 3}));
        assert_eq!((well.mood, well.fixes), (Mood::Ok, Vec::new()));
    }
}
