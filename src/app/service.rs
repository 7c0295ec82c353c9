//! The service: crawls all enabled sites until stopped. Rule files are reloaded when they change and on SIGHUP; if
//! a file becomes bad, its last good version stays in effect. SIGTERM and SIGINT drain.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::Context;
use notify::{RecursiveMode, Watcher};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use super::alarms::calling::Caller;
use super::alarms::observe::Observer;
use super::alarms::{Alarming, Desk, Parts, Pulse};
use super::backups::BackingUp;
use super::figures::Counting;
use super::finding::Finding;
use super::handover::HandingOver;
use super::milestones::{Line, Milestones};
use super::pauses::{Asked, Complaints, Pauses, Wishes};
use super::repairs::{self, Repairs};
use super::web::Server;
use super::{App, Crew, Reins, control};
use gleaner_base::clock::UnixMillis;
use gleaner_base::recent::Recent;
use gleaner_crawl::commit::OnFault;
use gleaner_crawl::progress::{Ended, Progress, RuleFault};
use gleaner_crawl::{CrawlError, RunOptions};
use gleaner_rules::config::Config;
use gleaner_rules::fault::Fault;
use gleaner_rules::{self as rules, SiteRules};
use gleaner_store::crawldb::Reader;

mod acting;

/// Editors write a file in several steps: it is read after this long without changes.
const RULES_QUIET: Duration = Duration::from_millis(300);

/// Maximum wait for a rules folder that keeps changing.
const RULES_UNQUIET: Duration = Duration::from_secs(2);

/// Interval of checks whether the terminal still exists. Its closing is signalled much sooner.
const TERMINAL_LOOK: Duration = Duration::from_secs(3);

/// Interval of checks whether a line on a site is due.
const MILESTONES_LOOK: Duration = Duration::from_secs(60);

/// Interval of measurements of how late the loop is.
const LAG_LOOK: Duration = Duration::from_secs(1);

/// Delay before a site whose crawl failed is restarted.
const SITE_RETRY: Duration = Duration::from_secs(5);

/// Retry interval of a failed commit: people have to free a full disk.
const COMMIT_RETRY: Duration = Duration::from_secs(1);

/// A site that has not asked for work for this long is stuck; must be well above the loop's idle time.
const STUCK_AFTER: Duration = Duration::from_secs(60);

struct Running {
    rules: Arc<SiteRules>,
    reins: Reins,
    alive: Arc<AtomicU64>,
}

struct Service<'a> {
    app: &'a App,
    rules_dir: &'a Path,
    crew: Crew,
    progress: Progress,
    running: BTreeMap<String, Running>,
    /// Sites that were stopped and have not ended yet; a changed site restarts when its old crawl has ended.
    ending: BTreeMap<String, Option<Arc<SiteRules>>>,
    /// Files that could not be used at the last reload.
    bad: BTreeSet<PathBuf>,
    repairs: Repairs,
    pauses: Pauses,
    /// Of pauses whose end cannot be noted.
    complaints: Complaints,
    alarms: Desk,
    pulse: Pulse,
}

/// Runs until SIGTERM or SIGINT, or until its terminal is closed. `program` is this program with the options of the service: it repairs rule
/// files. `log` has the last lines of the log.
pub async fn run(
    app: &App,
    config: &Config,
    reread: &dyn Fn() -> Result<Config, Vec<Fault>>,
    program: Vec<OsString>,
    log: Recent,
) -> anyhow::Result<()> {
    let rules_dir = &*config.rules_dir;
    let mut terminal = super::signals::Terminal::new();
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hang_up = signal(SignalKind::hangup())?;
    let (mut changes, _watcher) = watch_rules(rules_dir)?;

    let progress = Progress::default();
    let (wishes, mut wished) = Wishes::channel();
    let finding = Finding::start(&app.data_dir, Arc::clone(&app.db) as Arc<dyn Reader>, Arc::clone(&app.archive))
        .context("the search index has no thread")?;
    let _handing_over =
        HandingOver::start(app, &config.handovers, finding.finder()).context("the handover has no thread")?;
    let _backing_up = BackingUp::start(app, config.backup.as_ref()).context("the backup has no thread")?;
    let counting = Counting::start(app.reader(), Arc::clone(&app.clock)).context("what is counted has no thread")?;
    let pulse = Pulse::default();
    let alarming = start_alarms(app, config, &progress, &finding, &counting, &pulse)?;
    let inside = (wishes, alarming.desk());
    let _control = control::serve(app, Some(progress.clone()), Some(inside.clone()));
    let _server = Server::start(app, config, finding.finder(), &progress, (log, inside, counting.figures()))?;
    tokio::spawn(measure_lag(progress.clone()));
    let options = RunOptions { keep_looking: true, ..RunOptions::default() };
    let crew = app.crew(options, OnFault::TryAgain(COMMIT_RETRY), progress.clone());
    let (running, ending) = (BTreeMap::new(), BTreeMap::new());
    let repairs = Repairs::new(program);
    let pauses = Pauses::take_up(app.db.as_ref(), app.clock.now()).await?;
    let mut service = Service {
        app,
        rules_dir,
        crew,
        progress,
        running,
        ending,
        bad: BTreeSet::new(),
        repairs,
        pauses,
        complaints: Complaints::default(),
        alarms: alarming.desk(),
        pulse,
    };
    service.read_rules();
    if service.running.is_empty() && service.pauses.are_none() {
        tracing::warn!(rules = %rules_dir.display(), "no enabled site: waiting for a rule file (hint: gleaner rules new URL)");
    }
    notify_systemd(&[sd_notify::NotifyState::Ready, sd_notify::NotifyState::Status(&service.summary())]);
    tracing::info!(rules = %rules_dir.display(), "watching rule files: they are reloaded when they change, and on SIGHUP");
    tracing::info!(sites = service.running.len(), data = %app.data_dir.display(), "service is up");

    let (mut watchdog, mut ends) = (tokio::time::interval(watchdog_interval()), super::Ends::default());
    let mut looks = tokio::time::interval(TERMINAL_LOOK);
    let (mut minutes, mut milestones) = (tokio::time::interval(MILESTONES_LOOK), Milestones::new(app.clock.now()));
    loop {
        tokio::select! {
            _ = terminate.recv() => break ends.told(SignalKind::terminate(), app.clock.now()),
            _ = interrupt.recv() => break ends.told(SignalKind::interrupt(), app.clock.now()),
            _ = hang_up.recv() => {
                if terminal.is_closed() {
                    break ends.told(SignalKind::hangup(), app.clock.now());
                }
                tracing::info!("SIGHUP: reloading rule files");
                check_config(config, reread());
                service.reload();
            }
            Some(()) = changes.recv() => {
                // More writes of the same change follow; wait for them.
                let quiet = async { while let Ok(Some(())) = tokio::time::timeout(RULES_QUIET, changes.recv()).await {} };
                // Read a folder that never settles, too.
                let _ = tokio::time::timeout(RULES_UNQUIET, quiet).await;
                tracing::info!("rule files changed: reloading them");
                service.reload();
            }
            ended = service.crew.ended(), if !service.running.is_empty() || !service.ending.is_empty() => {
                if let Some((name, result)) = ended? {
                    service.site_ended(&name, result);
                }
            }
            _ = looks.tick() => {
                if terminal.look() {
                    tracing::info!("the terminal of the service is closed: SIGHUP now reloads the rule files");
                }
                service.end_pauses().await;
            }
            Some(Asked { act, answer }) = wished.recv() => {
                // Whoever asked may be gone.
                let _ = answer.send(service.act(act).await);
            }
            _ = minutes.tick() => {
                milestones.due(app.clock.now(), &service.progress.snapshot()).iter().for_each(tell);
                service.look_at_promises().await;
                notify_systemd(&[sd_notify::NotifyState::Status(&service.summary())]);
            }
            Some((name, rules)) = service.repairs.ended(), if service.repairs.are_running() => {
                if let Err(error) = repairs::note_ended(app.db.as_ref(), &name, app.clock.now()).await {
                    tracing::error!(site = name, %error, "the end of the repair is not noted: the next start may try again");
                }
                service.start(rules, Duration::ZERO);
            }
            _ = watchdog.tick() => {
                // Notify systemd's watchdog only while every loop works.
                if service.all_alive() {
                    service.pulse.beat(app.clock.now());
                    notify_systemd(&[sd_notify::NotifyState::Watchdog]);
                }
            }
        }
    }
    tracing::info!("stopping: finishing what is under way");
    notify_systemd(&[sd_notify::NotifyState::Stopping]);
    let stopped = service.stop_all();
    tokio::pin!(stopped);
    loop {
        tokio::select! {
            ended = &mut stopped => return ended,
            _ = terminate.recv() => ends.told(SignalKind::terminate(), app.clock.now()),
            _ = interrupt.recv() => ends.told(SignalKind::interrupt(), app.clock.now()),
        }
    }
}

fn start_alarms(
    app: &App,
    config: &Config,
    progress: &Progress,
    finding: &Finding,
    counting: &Counting,
    pulse: &Pulse,
) -> anyhow::Result<Alarming> {
    let observer = Observer::new(app.reader(), progress.clone(), app.data_dir.clone(), config.rules_dir.clone());
    let (figures, finder) = (Some(counting.figures()), Some(finding.finder()));
    let (backup, backups) = (config.backup.clone(), Some(app.backups()));
    let parts = Parts {
        data_dir: app.data_dir.clone(),
        clock: Arc::clone(&app.clock),
        settings: config.alarms.settings.clone(),
        channels: config.alarms.channels.clone(),
        observer: Observer { figures, finder, backup, backups, ..observer },
        caller: Caller::new(app.data_dir.clone(), &config.user_agent(), app.tls.clone()),
        pulse: pulse.clone(),
    };
    Alarming::start(parts).context("the alarms have no thread")
}

/// Measures how late the loop comes to what is due.
async fn measure_lag(progress: Progress) {
    let mut ticks = tokio::time::interval(LAG_LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let due = ticks.tick().await;
        progress.measure(|measured| measured.lag.add(due.elapsed()));
    }
}

/// What the service has read of the configuration file stays in force until it ends: logs what a restart would change.
fn check_config(config: &Config, now: Result<Config, Vec<Fault>>) {
    match now {
        Err(faults) => {
            for fault in &faults {
                tracing::error!(error = %fault, "the configuration file has faults: the service could not start with it");
            }
        }
        Ok(now) => {
            let keys = config.changed_keys(&now).join(", ");
            if !keys.is_empty() {
                tracing::warn!(keys, "the configuration file has changed; these keys need a restart of the service");
            }
        }
    }
}

fn tell(line: &Line) {
    match line {
        Line::Site { site, torrents, requests, queued } => {
            tracing::info!(site, torrents, requests, queued, "the crawl goes on");
        }
        Line::Day { sites, torrents, requests, queued } => {
            tracing::info!(sites, torrents, requests, queued, "the day's crawl");
        }
    }
}

impl Service<'_> {
    /// Starts new sites, restarts changed ones, stops those whose file is gone or disabled. A bad file changes
    /// nothing, and an unreadable folder counts as a bad file for all sites.
    fn read_rules(&mut self) {
        let (mut wanted, mut bad, mut told) = (Vec::new(), BTreeSet::new(), Vec::new());
        for file in rules::load_dir(self.rules_dir) {
            if file.site.is_ok() && self.bad.contains(&file.path) {
                tracing::info!(path = %file.path.display(), "rule file is valid again");
            }
            match file.site {
                Ok(site) if site.enabled => wanted.push(site),
                Ok(_) => {}
                Err(faults) => {
                    for fault in &faults {
                        tracing::error!(error = %fault, "rule file has faults; its last valid version, if any, stays in force");
                    }
                    let first = faults.first().map(ToString::to_string).unwrap_or_default();
                    told.push(RuleFault { path: file.path.clone(), first, count: faults.len() });
                    bad.insert(file.path);
                }
            }
        }
        self.progress.tell_rule_faults(told);
        let rules_dir = self.rules_dir;
        let is_wanted = |name: &str| wanted.iter().any(|site| *site.name == *name);
        let is_bad = |site: &SiteRules| bad.iter().any(|path| **path == *site.file || path == rules_dir);
        let unwanted =
            |(name, running): (&String, &Running)| (!is_wanted(name) && !is_bad(&running.rules)).then(|| name.clone());
        for name in self.running.iter().filter_map(unwanted).collect::<Vec<_>>() {
            tracing::info!(site = name, "site is no longer enabled");
            self.end(&name, None);
        }
        for (_, next) in self.ending.iter_mut().filter(|(name, _)| !is_wanted(name)) {
            if next.as_ref().is_some_and(|site| !is_bad(site)) {
                *next = None;
            }
        }
        self.repairs.retain(is_wanted, is_bad);
        self.pauses.retain(is_wanted, is_bad);
        for site in wanted {
            self.want(site);
        }
        self.bad = bad;
    }

    fn reload(&mut self) {
        notify_systemd(&[sd_notify::NotifyState::Reloading]);
        self.read_rules();
        notify_systemd(&[sd_notify::NotifyState::Ready, sd_notify::NotifyState::Status(&self.summary())]);
    }

    fn want(&mut self, site: Arc<SiteRules>) {
        if self.pauses.holds(&site) {
            return;
        }
        let name = site.name.to_string();
        if let Some(next) = self.repairs.next(&name) {
            *next = site;
            return;
        }
        if let Some(next) = self.ending.get_mut(&name) {
            *next = Some(site);
            return;
        }
        match self.running.get(&name) {
            None => self.start(site, Duration::ZERO),
            Some(running) if running.rules.fingerprint() != site.fingerprint() => {
                tracing::info!(site = name, "site's rules changed");
                self.end(&name, Some(site));
            }
            Some(_) => {}
        }
    }

    fn start(&mut self, rules: Arc<SiteRules>, after: Duration) {
        if let rules::Robots::Ignore { reason } = &rules.robots {
            tracing::warn!(site = %rules.name, reason, "robots.txt is ignored, as the site's rule file says");
        }
        match self.app.site(&rules) {
            Ok(site) => {
                tracing::info!(site = %rules.name, file = %rules.file.display(), "site is being crawled");
                let (reins, alive) = self.crew.add(site, after);
                self.running.insert(rules.name.to_string(), Running { rules, reins, alive });
            }
            Err(error) => tracing::error!(site = %rules.name, error = format!("{error:#}"), "site cannot start"),
        }
    }

    fn end(&mut self, name: &str, next: Option<Arc<SiteRules>>) {
        if let Some(running) = self.running.remove(name) {
            let _ = running.reins.stop.send(true);
            self.ending.insert(name.to_owned(), next);
        }
    }

    /// A site ends because it was stopped, or because the store failed: then it is retried, like a commit.
    fn site_ended(&mut self, name: &str, result: Result<Ended, CrawlError>) {
        if let Err(error) = &result {
            tracing::error!(site = name, %error, "site's crawl failed");
        }
        match self.ending.remove(name) {
            Some(Some(site)) if self.repairs.begin(name, &site) => {}
            Some(Some(site)) => self.start(site, Duration::ZERO),
            Some(None) => self.progress.forget(name),
            None => {
                if let Some(running) = self.running.remove(name) {
                    self.start(running.rules, SITE_RETRY);
                }
            }
        }
    }

    /// Pauses the crawl of sites whose rules keep their promise no more: they are learned again.
    async fn look_at_promises(&mut self) {
        let now = self.app.clock.now();
        let sites: Vec<Arc<SiteRules>> = self.running.values().map(|running| Arc::clone(&running.rules)).collect();
        for rules in sites {
            match self.repairs.wants(self.app.db.as_ref(), &rules, &self.app.data_dir, now).await {
                Ok(true) => self.end(&rules.name, Some(Arc::clone(&rules))),
                Ok(false) => {}
                Err(error) => {
                    tracing::error!(site = %rules.name, %error, "it is not known whether its rules keep their promise")
                }
            }
        }
    }

    fn all_alive(&self) -> bool {
        let now = self.app.clock.now();
        self.running.values().all(|running| {
            now.since(UnixMillis(running.alive.load(Ordering::Relaxed))) < STUCK_AFTER || self.crew.commit_is_failing()
        })
    }

    fn summary(&self) -> String {
        match self.alarms.open().0 {
            0 => format!("{} sites", self.running.len()),
            1 => format!("{} sites, 1 alarm (gleaner alarms)", self.running.len()),
            alarms => format!("{} sites, {alarms} alarms (gleaner alarms)", self.running.len()),
        }
    }

    async fn stop_all(mut self) -> anyhow::Result<()> {
        for running in self.running.values() {
            let _ = running.reins.stop.send(true);
        }
        while let Some((name, result)) = self.crew.ended().await? {
            if let Err(error) = result {
                tracing::error!(site = name, %error, "site ended with an error");
            }
        }
        self.crew.finish().await
    }
}

/// Reports changes in the rules folder. Watches the folder, not the files: editors rename.
fn watch_rules(rules_dir: &Path) -> anyhow::Result<(mpsc::Receiver<()>, notify::RecommendedWatcher)> {
    let (sender, changes) = mpsc::channel(1);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // A full channel already means a change.
            let _ = sender.try_send(());
        }
    })
    .context("cannot watch for changes of rule files")?;
    watcher.watch(rules_dir, RecursiveMode::Recursive).with_context(|| {
        format!("{}: cannot be watched (hint: create the folder, or pass --rules DIR)", rules_dir.display())
    })?;
    Ok((changes, watcher))
}

fn notify_systemd(states: &[sd_notify::NotifyState<'_>]) {
    // Without systemd there is nobody to notify.
    let _ = sd_notify::notify(states);
}

/// A third of systemd's watchdog interval; ten seconds without one.
fn watchdog_interval() -> Duration {
    sd_notify::watchdog_enabled().map_or(Duration::from_secs(10), |period| period / 3)
}
