//! What happens, as it happens, as server-sent events (HTML, §9.2). A stream has no queue: it reads on from where it is whenever its client takes more, so that
//! one who takes nothing costs nothing, until the connection is let go.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse as _, Response};
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;

use super::archive::Torrent;
use super::table::{Call, Nothing};
use crate::Outlet;
use crate::alarms::Alarm;
use crate::limits::{ALARMS_OVER_TOLD, EVENT_LOOK, EVENT_STREAMS_MAX, EVENTS_AT_ONCE};
use crate::links::Links;
use crate::problem::Problem;

/// What a crawl does at the moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SiteWork {
    pub site: String,
    /// Since the start of the process: requests, and torrents stored.
    pub requests: u64,
    pub torrents: u64,
    /// URLs that wait to be fetched.
    pub queued: u64,
    /// Requests in flight.
    pub under_way: usize,
    /// Until when nothing is fetched (UTC), and why.
    pub waiting: Option<(String, String)>,
}

/// Kinds of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Torrent,
    Log,
    Sites,
    Alarm,
}

const KINDS: [(&str, Kind); 4] =
    [("torrent", Kind::Torrent), ("log", Kind::Log), ("sites", Kind::Sites), ("alarm", Kind::Alarm)];

/// Which events are wanted.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EventsAsked {
    /// Kinds, separated by commas: `torrent`, `log`, `sites`, `alarm`. All unless asked otherwise.
    #[schemars(regex(pattern = "^(torrent|log|sites|alarm)(,(torrent|log|sites|alarm))*$"))]
    kinds: Option<String>,
    /// Only that something has happened: of each kind one event a second at most, without data of it. Pages ask so.
    #[serde(default)]
    brief: bool,
}

impl EventsAsked {
    fn kinds(&self) -> Result<BTreeSet<Kind>, Problem> {
        let Some(text) = &self.kinds else { return Ok(KINDS.iter().map(|(_, kind)| *kind).collect()) };
        let known = |name: &str| KINDS.iter().find(|(own, _)| *own == name).map(|(_, kind)| *kind);
        let wrong = || {
            Problem::wrong(
                "kinds names something else",
                "write some of torrent, log, sites, alarm, separated by commas",
            )
        };
        text.split(',').map(|name| known(name).ok_or_else(wrong)).collect()
    }
}

/// How far a client has read: the last change of the database, and the last line of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Read {
    change: u64,
    line: u64,
}

impl Read {
    fn of_id(id: &str) -> Option<Self> {
        let (change, line) = id.split_once('-')?;
        Some(Self { change: change.parse().ok()?, line: line.parse().ok()? })
    }

    fn id(self) -> String {
        format!("{}-{}", self.change, self.line)
    }
}

/// The alarms that a client knows to be open, by id, without what changes at each look.
#[derive(Default)]
struct KnownAlarms(BTreeMap<String, AlarmState>);

type AlarmState = (bool, Option<i64>, Option<String>);

impl KnownAlarms {
    /// Of a client that was away: what was over since then may have been open when it was there.
    fn of_resumed(list: &[Alarm], since_ms: i64) -> Self {
        let over = list.iter().filter(|of| of.over_ms.is_some_and(|over| over >= since_ms));
        Self(over.map(|of| (of.id.clone(), AlarmState::default())).collect())
    }

    /// At first those that are open, then those that have fired, are over, or were answered.
    fn news<'a>(&mut self, list: &'a [Alarm]) -> Vec<&'a Alarm> {
        let state = |of: &Alarm| (of.away_since_ms.is_some(), of.silenced_until_ms, of.note.clone());
        let is_open = |of: &Alarm| of.over_ms.is_none();
        let open = list.iter().filter(|of| is_open(of)).map(|of| (of.id.clone(), state(of))).collect();
        let before = std::mem::replace(&mut self.0, open);
        let is_news = |of: &Alarm| match (is_open(of), before.get(&of.id)) {
            (true, known) => known != Some(&state(of)),
            (false, known) => known.is_some(),
        };
        list.iter().filter(|of| is_news(of)).collect()
    }
}

struct Stream {
    outlet: Arc<Outlet>,
    links: Links,
    /// The session that it was asked for in.
    session: Option<String>,
    kinds: BTreeSet<Kind>,
    is_brief: bool,
    read: Read,
    works: Arc<Vec<SiteWork>>,
    alarms: Arc<Vec<Alarm>>,
    known: KnownAlarms,
    ready: VecDeque<Event>,
    /// What was ready before is taken: there is nothing new for a moment.
    is_idle: bool,
    _place: OwnedSemaphorePermit,
}

/// The stream: it ends when the token is revoked that it was asked for with, and with its session.
pub async fn events(call: Call<Nothing, EventsAsked>) -> Result<Response, Problem> {
    let kinds = call.query.kinds()?;
    let outlet = call.outlet;
    let place = Arc::clone(&outlet.streams).try_acquire_owned().map_err(|_| {
        let title = format!("{EVENT_STREAMS_MAX} clients listen already");
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, title, "close one of the streams, or ask again later")
    })?;
    let now = outlet.seen().await?;
    let end = Read { change: now.change, line: now.line };
    let seen = call.headers.get("last-event-id").and_then(|id| id.to_str().ok()).and_then(Read::of_id);
    // An earlier process counted its lines anew.
    let read = seen.map_or(end, |seen| Read { change: seen.change.min(end.change), line: seen.line.min(end.line) });
    let (links, session) = (call.caller.links, call.caller.session);
    let is_brief = call.query.brief;
    let works = if is_brief { now.works } else { Arc::default() };
    let (mut known, mut alarms) = (KnownAlarms::default(), Arc::default());
    // A page has been made of what is open, and is made anew whenever its stream begins.
    if is_brief {
        known.news(&now.alarms);
        alarms = now.alarms;
    } else if seen.is_some() {
        let since = outlet.clock.now().0.saturating_sub(ALARMS_OVER_TOLD.as_secs() * 1_000);
        known = KnownAlarms::of_resumed(&now.alarms, i64::try_from(since).unwrap_or(i64::MAX));
    }
    let ready = VecDeque::from([Event::default().comment("gleaner")]);
    let is_idle = false;
    let stream =
        Stream { outlet, links, session, kinds, is_brief, read, works, alarms, known, ready, is_idle, _place: place };
    let events = stream::unfold(stream, |mut stream| async move {
        let event = stream.next().await?;
        Some((Ok::<_, Infallible>(event), stream))
    });
    let mut response = Sse::new(events).keep_alive(KeepAlive::default()).into_response();
    // A proxy that collects what it passes on would hold it back.
    response.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    Ok(response)
}

impl Stream {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some(event);
            }
            if self.is_idle {
                tokio::time::sleep(EVENT_LOOK).await;
            }
            if !self.is_admitted() {
                return None;
            }
            if let Err(why) = self.look().await {
                tracing::debug!(why = why.title, "a stream of events ends");
                return None;
            }
            self.is_idle = self.ready.is_empty();
        }
    }

    /// False once its token is revoked, or its session is over.
    fn is_admitted(&self) -> bool {
        let Outlet { tokens, sessions, clock, .. } = &*self.outlet;
        let is_there = |session: &String| sessions.find(tokens, session, clock.now()).is_some();
        self.links.token.as_ref().is_none_or(|token| tokens.has(token)) && self.session.as_ref().is_none_or(is_there)
    }

    /// Makes ready what has happened since.
    async fn look(&mut self) -> Result<(), Problem> {
        let seen = self.outlet.seen().await?;
        if self.kinds.contains(&Kind::Torrent) && seen.change > self.read.change {
            if self.is_brief {
                self.read.change = seen.change;
                self.tell("torrent", &());
            } else {
                self.look_at_torrents().await?;
            }
        }
        if self.kinds.contains(&Kind::Log) && seen.line > self.read.line {
            if self.is_brief {
                self.read.line = seen.line;
                self.tell("log", &());
            } else {
                for line in self.outlet.inside.log.after(self.read.line, EVENTS_AT_ONCE) {
                    self.read.line = line.number;
                    self.tell("log", &line);
                }
            }
        }
        if self.kinds.contains(&Kind::Sites) && !Arc::ptr_eq(&self.works, &seen.works) {
            let before = std::mem::replace(&mut self.works, seen.works);
            if self.is_brief {
                self.tell("sites", &());
            } else {
                let changed = self.works.iter().filter(|work| !before.contains(work));
                let changed: Vec<SiteWork> = changed.cloned().collect();
                if !changed.is_empty() {
                    self.tell("sites", &changed);
                }
            }
        }
        if self.kinds.contains(&Kind::Alarm) && !Arc::ptr_eq(&self.alarms, &seen.alarms) {
            let list = Arc::clone(&seen.alarms);
            self.alarms = seen.alarms;
            let news = self.known.news(&list);
            if self.is_brief && !news.is_empty() {
                self.tell("alarm", &());
            } else {
                news.into_iter().for_each(|alarm| self.tell("alarm", alarm));
            }
        }
        Ok(())
    }

    async fn look_at_torrents(&mut self) -> Result<(), Problem> {
        let db = Arc::clone(&self.outlet.db);
        let changes = db.changes(self.read.change, EVENTS_AT_ONCE).await.map_err(|error| Problem::ours(&error))?;
        let Some((last, _)) = changes.keys.last() else {
            self.read.change = changes.last.max(self.read.change);
            return Ok(());
        };
        let last = *last;
        let mut keys: Vec<Vec<u8>> = Vec::new();
        for (_, key) in changes.keys {
            if !keys.contains(&key) {
                keys.push(key);
            }
        }
        // One that is removed is no news.
        let items = self.outlet.at(keys).await?.items;
        // What is told of one is told of all of them: a client that goes on in the middle would miss the rest.
        let (before, count) = (self.read, items.len());
        for (nth, item) in items.into_iter().enumerate() {
            self.read.change = if nth + 1 == count { last } else { before.change };
            let torrent = Torrent::of(item, &self.links);
            self.tell("torrent", &torrent);
        }
        self.read.change = last;
        Ok(())
    }

    fn tell(&mut self, kind: &str, what: &impl Serialize) {
        let event = Event::default().event(kind).id(self.read.id());
        match event.json_data(what) {
            Ok(event) => self.ready.push_back(event),
            Err(error) => tracing::debug!(%error, "an event cannot be written"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn where_a_client_is_survives_being_written() {
        let read = Read { change: 17, line: 4 };
        assert_eq!(Read::of_id(&read.id()), Some(read));
        for wrong in ["", "17", "17-", "-4", "a-b", "99999999999999999999-1"] {
            assert_eq!(Read::of_id(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn an_alarm_is_news_when_it_fires_is_answered_or_away_and_over_and_once_each() {
        let alarm = |over_ms: Option<i64>, away_since_ms: Option<i64>, now: f64| {
            let alarm = serde_json::json!({
                "id": "refused-1", "kind": "refused", "site": "s", "title": "t", "since_ms": 1, "todo": "", "over_ms": over_ms,
                "away_since_ms": away_since_ms, "figures": { "of": "visits", "before": 0.0, "now": now }
            });
            serde_json::from_value::<Alarm>(alarm).unwrap()
        };
        let mut seen = KnownAlarms::default();
        assert!(seen.news(&[alarm(Some(9), None, 0.0)]).is_empty(), "history is no news");
        let mut count = |alarm: Alarm| seen.news(&[alarm]).len();
        assert_eq!(count(alarm(None, None, 0.5)), 1);
        assert_eq!(count(alarm(None, None, 0.6)), 0, "its figures alone");
        assert_eq!(count(alarm(None, Some(5), 0.6)), 1);
        assert_eq!(count(Alarm { note: Some("mine".to_owned()), ..alarm(None, Some(5), 0.6) }), 1);
        assert_eq!(count(alarm(Some(9), None, 0.6)), 1);
        assert_eq!(count(alarm(Some(9), None, 0.6)), 0);

        let mut resumed = KnownAlarms::of_resumed(&[alarm(Some(9), None, 0.6)], 9);
        let mut count = |alarm: Alarm| resumed.news(&[alarm]).len();
        assert_eq!(count(alarm(Some(9), None, 0.6)), 1, "it was over while the client was away");
        assert_eq!(count(alarm(Some(9), None, 0.6)), 0);
        let mut long_over = KnownAlarms::of_resumed(&[alarm(Some(9), None, 0.6)], 10);
        assert!(long_over.news(&[alarm(Some(9), None, 0.6)]).is_empty(), "history is no news");
    }

    #[test]
    fn kinds_are_some_of_those_that_there_are() {
        let kinds = |text: &str| EventsAsked { kinds: Some(text.to_owned()), brief: false }.kinds().ok();
        assert_eq!(kinds("log,torrent"), Some(BTreeSet::from([Kind::Torrent, Kind::Log])));
        assert_eq!(EventsAsked { kinds: None, brief: false }.kinds().unwrap().len(), 4);
        assert_eq!([kinds(""), kinds("log,"), kinds("all")], [None, None, None]);
    }
}
