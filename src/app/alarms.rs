//! The alarms of a running service, on a thread of their own: it looks each twenty seconds, keeps what it knows, and calls who is to be called. Nothing waits for
//! it, and it waits for no message.

pub mod calling;
pub mod files;
pub mod observe;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use gleaner_alarms::Alarm;
use gleaner_alarms::book::{Event, Settings, What};
use gleaner_alarms::kinds::KINDS;
use gleaner_alarms::outbox::Failed;
use gleaner_alarms::watch::Watch;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_rules::config::alarms::{Channel, Way};
use gleaner_serve::acts::Refused;
use gleaner_serve::alarms::Answer;
use gleaner_serve::metrics::Family;
use gleaner_serve::metrics::Kind::{Counter, Gauge};
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinSet;

use self::calling::{Caller, Sent};
use self::files::Kept;
use self::observe::Observer;
use super::niceness::be_nice;

/// Between two looks at everything, two at what waits for its channel, and two pings.
const LOOK: Duration = Duration::from_secs(20);
const TRY: Duration = Duration::from_secs(5);
const PING: Duration = Duration::from_secs(60);

/// The first look, when the rule files are read.
const FIRST_LOOK: Duration = Duration::from_secs(3);

/// Between two times that what is usual is kept.
const KEEP_USUAL: Duration = Duration::from_secs(600);

/// The loops of the service count as alive for so long after they were seen to be.
const ALIVE_FOR: Duration = Duration::from_secs(60);

/// Answers that wait for the thread.
const ASKED_WAITING: usize = 16;

/// When all loops of the service were last seen to work.
#[derive(Clone, Default)]
pub struct Pulse(Arc<AtomicU64>);

impl Pulse {
    pub fn beat(&self, now: UnixMillis) {
        self.0.store(now.0, Ordering::Relaxed);
    }

    fn is_alive(&self, now: UnixMillis) -> bool {
        now.0.abs_diff(self.0.load(Ordering::Relaxed)) < ALIVE_FOR.as_millis() as u64
    }
}

/// What a person answers to an alarm, and where the thread says what became of it.
struct Asked {
    id: String,
    answer: Answer,
    done: oneshot::Sender<Result<Vec<String>, Refused>>,
}

/// Where others look at the alarms, and answer them.
#[derive(Clone)]
pub struct Desk {
    kept: Arc<Mutex<Kept>>,
    asks: mpsc::Sender<Asked>,
    channels: Arc<Vec<String>>,
    folder: PathBuf,
}

impl Desk {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        // Each change is one call.
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Open ones first, each part the newest first.
    #[must_use]
    pub fn list(&self) -> Vec<Alarm> {
        self.kept().book.list()
    }

    /// Number of open ones, and of those whose cause is away.
    #[must_use]
    pub fn open(&self) -> (usize, usize) {
        counted(&self.list())
    }

    /// Answers an alarm; for a test, `id` is the channel, or empty for all, and those that took it are returned.
    ///
    /// # Errors
    /// No such alarm or channel, or the test has failed.
    pub async fn answer(&self, id: String, answer: Answer) -> Result<Vec<String>, Refused> {
        let ends = || Refused::Failed("it is about to end".to_owned());
        let (done, answered) = oneshot::channel();
        self.asks.send(Asked { id, answer, done }).await.map_err(|_| ends())?;
        answered.await.map_err(|_| ends())?
    }

    /// A saved page with this name.
    #[must_use]
    pub fn page(&self, name: &str) -> Option<String> {
        files::page(&self.folder, name)
    }

    /// The figures for Prometheus. Of a kind without an open alarm there is one series, without a site.
    #[must_use]
    pub fn families(&self) -> Vec<Family> {
        let kept = self.kept();
        let mut open = Family::new("gleaner_alarms", "Open alarms by kind and site.", Gauge);
        let mut fired = Family::new("gleaner_alarms_fired_total", "Alarms that have fired, by kind.", Counter);
        let mut failed = Family::new(
            "gleaner_notifications_failed_total",
            "Tries to call somebody that have failed, by channel; each is repeated for a day.",
            Counter,
        );
        let mut counts: BTreeMap<(&str, &str), u32> = KINDS.iter().map(|row| ((row.name, ""), 0)).collect();
        for (kind, site) in kept.book.open() {
            *counts.entry((kind.name(), site.unwrap_or_default())).or_default() += 1;
        }
        for ((kind, site), count) in counts {
            open.add(vec![("kind", kind.to_owned()), ("site", site.to_owned())], f64::from(count));
        }
        for row in &KINDS {
            let count = kept.book.fired().get(&row.kind).copied().unwrap_or_default();
            fired.add(vec![("kind", row.name.to_owned())], count as f64);
        }
        // Without a channel nothing fails, and that is one series, too.
        let none = [String::new()];
        let channels = if self.channels.is_empty() { &none[..] } else { &self.channels[..] };
        for channel in channels {
            let count = kept.outbox.failures().get(channel).copied().unwrap_or_default();
            failed.add(vec![("channel", channel.clone())], count as f64);
        }
        vec![open, fired, failed]
    }
}

/// The thread. Dropped, it ends: what could not be sent is at the next start.
pub struct Alarming {
    desk: Desk,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// What the thread works with.
pub struct Parts {
    pub data_dir: PathBuf,
    pub clock: Arc<dyn Clock>,
    pub settings: Settings,
    pub channels: Vec<Channel>,
    pub observer: Observer,
    pub caller: Caller,
    pub pulse: Pulse,
}

impl Alarming {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(parts: Parts) -> std::io::Result<Self> {
        let folder = files::folder(&parts.data_dir);
        let kept = Arc::new(Mutex::new(files::read(&folder, parts.clock.now())));
        let (asks, asked) = mpsc::channel(ASKED_WAITING);
        let channels = parts.channels.iter().map(|channel| channel.name.clone()).collect();
        let desk = Desk { kept, asks, channels: Arc::new(channels), folder: folder.clone() };
        let (stop, stopped) = oneshot::channel();
        let work = Work {
            watch: files::read_usual(&folder),
            desk: desk.clone(),
            folder,
            parts,
            sending: JoinSet::new(),
            under_way: BTreeSet::new(),
            told: BTreeMap::new(),
            kept_at: UnixMillis(0),
        };
        let run = move || {
            be_nice();
            match tokio::runtime::Builder::new_current_thread().enable_all().max_blocking_threads(2).build() {
                Ok(runtime) => {
                    runtime.block_on(async {
                        tokio::select! {
                            () = work.serve(asked) => {}
                            _ = stopped => {}
                        }
                    });
                    // A message that is under way is sent at the next start.
                    runtime.shutdown_background();
                }
                Err(error) => tracing::error!(%error, "no runtime for the alarms: nothing is told"),
            }
        };
        let thread = std::thread::Builder::new().name("alarms".to_owned()).spawn(run)?;
        Ok(Self { desk, stop: Some(stop), thread: Some(thread) })
    }

    #[must_use]
    pub fn desk(&self) -> Desk {
        self.desk.clone()
    }
}

impl Drop for Alarming {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct Work {
    parts: Parts,
    watch: Watch,
    desk: Desk,
    folder: PathBuf,
    /// Tries that are under way, and their channels.
    sending: JoinSet<Vec<Sent>>,
    under_way: BTreeSet<String>,
    /// What was logged of the last failure of a channel, or of keeping the state.
    told: BTreeMap<String, String>,
    /// When what is usual was kept last.
    kept_at: UnixMillis,
}

impl Work {
    async fn serve(mut self, mut asked: mpsc::Receiver<Asked>) {
        let mut looks = tokio::time::interval_at(tokio::time::Instant::now() + FIRST_LOOK, LOOK);
        let (mut tries, mut pings) = (tokio::time::interval(TRY), tokio::time::interval(PING));
        for ticks in [&mut looks, &mut tries, &mut pings] {
            ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        }
        loop {
            tokio::select! {
                _ = looks.tick() => self.look().await,
                _ = tries.tick() => self.send(),
                _ = pings.tick() => self.ping(),
                Some(asked) = asked.recv() => self.answer(asked),
                Some(sent) = self.sending.join_next() => self.sent(sent.unwrap_or_default()),
            }
        }
    }

    async fn look(&mut self) {
        let now = self.parts.clock.now();
        let seen = match self.parts.observer.seen(now).await {
            Ok(seen) => seen,
            Err(error) => {
                self.tell_once("look", Err(format!("what is to be watched cannot be read: {error}")));
                return;
            }
        };
        for (name, page) in self.parts.observer.new_pages() {
            if let Err(error) = files::write_page(&self.folder, &name, &page) {
                self.tell_once("page", Err(format!("a page cannot be kept: {error}")));
            }
        }
        let causes = self.watch.look(&seen);
        let rests = seen.sites.iter().filter(|site| site.rests).map(|site| site.name.as_str()).collect();
        let events = self.desk.kept().book.look(&causes, &rests, &self.parts.settings, now);
        for event in &events {
            tell(event);
        }
        let calls: Vec<&Event> = events.iter().filter(|event| event.calls).collect();
        if !calls.is_empty() {
            let names = self.called();
            let mut kept = self.desk.kept();
            for event in calls {
                kept.outbox.add(event.what, &event.alarm, names.iter().map(String::as_str), now);
            }
        }
        // What was told is known before anybody is called.
        if !events.is_empty() {
            self.keep();
            self.send();
        }
        if now.since(self.kept_at) >= KEEP_USUAL || now < self.kept_at {
            self.kept_at = now;
            let written = files::write_usual(&self.folder, &self.watch);
            self.tell_once("usual", written.map_err(|error| format!("what is usual cannot be kept: {error}")));
            self.keep();
        }
    }

    /// The channels that messages go to.
    fn called(&self) -> Vec<String> {
        let is_called = |channel: &&Channel| !matches!(channel.way, Way::Ping(_));
        self.parts.channels.iter().filter(is_called).map(|channel| channel.name.clone()).collect()
    }

    fn keep(&mut self) {
        let text = self.desk.kept().to_json();
        let written = files::write(&self.folder, &text);
        self.tell_once("state", written.map_err(|error| format!("the alarms cannot be kept: {error}")));
    }

    /// Tries what is due.
    fn send(&mut self) {
        let now = self.parts.clock.now();
        let names = self.called();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let due = self.desk.kept().outbox.due(&names, now);
        for message in due {
            let Some(channel) = self.parts.channels.iter().find(|channel| channel.name == message.channel) else {
                continue;
            };
            if !self.under_way.insert(channel.name.clone()) {
                continue;
            }
            let (caller, channel) = (self.parts.caller.clone(), channel.clone());
            self.sending.spawn(async move {
                let result = caller.call(&channel, message.what, &message.alarm).await;
                vec![Sent { channel: channel.name, message: Some(message.id), result }]
            });
        }
    }

    /// Pings whoever waits for a sign of life, while all loops give one.
    fn ping(&mut self) {
        if !self.parts.pulse.is_alive(self.parts.clock.now()) {
            return;
        }
        for channel in &self.parts.channels {
            if matches!(channel.way, Way::Ping(_)) && self.under_way.insert(channel.name.clone()) {
                let (caller, channel) = (self.parts.caller.clone(), channel.clone());
                self.sending.spawn(async move {
                    let result = caller.ping(&channel).await;
                    vec![Sent { channel: channel.name, message: None, result }]
                });
            }
        }
    }

    fn sent(&mut self, all: Vec<Sent>) {
        let now = self.parts.clock.now();
        let mut has_changed = false;
        for Sent { channel, message, result } in all {
            self.under_way.remove(&channel);
            let failed = {
                let outbox = &mut self.desk.kept().outbox;
                match (message, &result) {
                    (Some(id), Ok(())) => outbox.delivered(id),
                    (None, Ok(())) => {}
                    (None, Err(_)) => outbox.count_failure(&channel),
                    (Some(_), Err(_)) => {}
                }
                message.filter(|_| result.is_err()).map(|id| outbox.failed(id, now))
            };
            has_changed |= message.is_some() || result.is_err();
            let told = result.map_err(|error| match failed {
                Some(Failed::Dropped) => format!("{error}; the message is dropped after a day of tries"),
                Some(Failed::Again(_)) => format!("{error}; it is tried again for a day"),
                None => error,
            });
            self.tell_once(&channel, told);
        }
        if has_changed {
            self.keep();
        }
    }

    fn answer(&mut self, Asked { id, answer, done }: Asked) {
        let now = self.parts.clock.now();
        let is_done = match answer {
            Answer::Test => return self.test(&id, done),
            Answer::Silence { minutes } => self.desk.kept().book.silence(&id, minutes, now),
            Answer::Unsilence => self.desk.kept().book.unsilence(&id),
            Answer::Note { text } => self.desk.kept().book.note(&id, &text),
        };
        if is_done {
            self.keep();
        }
        // Whoever asked may be gone.
        let _ = done.send(if is_done { Ok(Vec::new()) } else { Err(Refused::Unknown(id)) });
    }

    /// Tries channels, and says how that ended.
    fn test(&mut self, name: &str, done: oneshot::Sender<Result<Vec<String>, Refused>>) {
        let channels: Vec<Channel> =
            self.parts.channels.iter().filter(|channel| name.is_empty() || channel.name == name).cloned().collect();
        if channels.is_empty() {
            let (what, hint) = match name {
                "" => ("no channel is configured".to_owned(), "write an [[alarm_channel]] into gleaner.toml"),
                name => (format!("no channel is called {name}"), "gleaner config check lists them"),
            };
            let _ = done.send(Err(Refused::NotNow { what, hint: hint.to_owned() }));
            return;
        }
        let (caller, alarm) = (self.parts.caller.clone(), calling::test_alarm(self.parts.clock.now()));
        self.sending.spawn(async move {
            let tries = channels.iter().map(|channel| {
                let (caller, alarm) = (&caller, &alarm);
                async move {
                    let result = match channel.way {
                        Way::Ping(_) => caller.ping(channel).await,
                        _ => caller.call(channel, What::Test, alarm).await,
                    };
                    // One that is under way for an alarm is not this one.
                    (channel.name.clone(), result)
                }
            });
            let tried = futures_util::future::join_all(tries).await;
            let failed: Vec<String> = tried
                .iter()
                .filter_map(|(name, result)| result.as_ref().err().map(|error| format!("{name}: {error}")))
                .collect();
            let took = tried.iter().filter(|(_, result)| result.is_ok()).map(|(name, _)| name.clone());
            let took: Vec<String> = took.collect();
            let hint = "alarms are in the log and in `gleaner alarms` whatever becomes of their messages".to_owned();
            let _ = done.send(match (failed.is_empty(), took.is_empty()) {
                (true, _) => Ok(took),
                (false, true) => Err(Refused::NotNow { what: failed.join("; "), hint }),
                (false, false) => {
                    let what = format!("{}; delivered: {}", failed.join("; "), took.join(", "));
                    Err(Refused::NotNow { what, hint })
                }
            });
            Vec::new()
        });
    }

    /// Logs a failure once, and that it is over.
    fn tell_once(&mut self, what: &str, result: Result<(), String>) {
        match result {
            Ok(()) => {
                if self.told.remove(what).is_some() {
                    tracing::info!(channel = what, "calling works again");
                }
            }
            Err(error) => {
                if self.told.get(what) != Some(&error) {
                    tracing::warn!(
                        channel = what,
                        error,
                        "an alarm's message or record has failed; the alarm itself is in the log"
                    );
                    self.told.insert(what.to_owned(), error);
                }
            }
        }
    }
}

/// An alarm in the log.
fn tell(event: &Event) {
    let Alarm { id, kind, site, title, todo, since_ms, over_ms, .. } = &event.alarm;
    let site = site.as_deref().unwrap_or_default();
    match event.what {
        What::Fired => tracing::error!(alarm = id, kind, site, title, todo, "alarm"),
        What::Over => {
            let lasted = gleaner_alarms::messages::lasted(over_ms.unwrap_or(*since_ms) - since_ms);
            tracing::info!(alarm = id, kind, site, lasted, "the alarm is over");
        }
        What::Test => {}
    }
}

/// Number of open ones, and of those whose cause is away.
#[must_use]
pub fn counted(all: &[Alarm]) -> (usize, usize) {
    let open: Vec<&Alarm> = all.iter().filter(|alarm| alarm.over_ms.is_none()).collect();
    (open.len(), open.iter().filter(|alarm| alarm.away_since_ms.is_some()).count())
}

/// The alarms of a data folder that no service holds.
#[must_use]
pub fn stored(data_dir: &Path) -> Vec<Alarm> {
    files::peek(&files::folder(data_dir)).book.list()
}
