//! Composition root: the real clock, store, archive and transports, assembled for one process.

pub mod accounts;
pub mod alarms;
pub mod answers;
pub mod backups;
pub mod changes;
pub mod control;
pub mod database;
mod figures;
pub mod finding;
pub mod folder;
pub mod handover;
pub mod importing;
mod milestones;
mod niceness;
pub mod pauses;
pub mod queues;
pub mod read_before;
pub mod repairs;
pub mod schedule;
pub mod secrets;
pub mod service;
pub mod sessions;
pub mod signals;
pub mod sources;
pub mod status;
pub mod versions;
pub mod web;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use futures_util::FutureExt as _;
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use self::read_before::LearnedPages;
use crate::limits;
use gleaner_base::clock::{Clock, SystemClock, UnixMillis};
use gleaner_base::place::{self, Place};
use gleaner_crawl::account::{Account, in_one_line};
use gleaner_crawl::commit::{self, OnFault};
use gleaner_crawl::memory::Memory;
use gleaner_crawl::progress::{Ended, Progress};
use gleaner_crawl::site::Site;
use gleaner_crawl::site_loop::{Shared, SiteLoop};
use gleaner_crawl::visit::panic_text;
use gleaner_crawl::{CrawlError, Hosts, RunOptions};
use gleaner_net::fetch::dns::Dns;
use gleaner_net::fetch::http::{ClientOptions, HttpTransport};
use gleaner_net::fetch::resolve::AddressPolicy;
use gleaner_net::fetch::session::Jar;
use gleaner_net::fetch::tls::Tls;
use gleaner_render::children::{Bounds, Children};
use gleaner_rules::config::Config;
use gleaner_rules::{PrivateAddresses, SiteRules};
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::redb_store::{OpenOptions, RedbStore};
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Owner, Reader, UPDATE_FILE};
use gleaner_torrent::archive::Archive;

/// The signals that ended a process.
#[derive(Debug, Default)]
pub struct Ends {
    first: Option<UnixMillis>,
}

impl Ends {
    /// Handles a signal. A second one ends the process at once, as if killed, with the exit code that a shell reports for
    /// it. A signal together with the first counts as one: a wrapper forwards what its whole process group received.
    pub fn told(&mut self, signal: tokio::signal::unix::SignalKind, now: UnixMillis) {
        if self.is_second(now) {
            tracing::warn!("second signal: aborting what is under way");
            std::process::exit(128 + signal.as_raw_value())
        }
    }

    /// When the first one came.
    #[must_use]
    pub fn first(&self) -> Option<UnixMillis> {
        self.first
    }

    fn is_second(&mut self, now: UnixMillis) -> bool {
        now.since(*self.first.get_or_insert(now)) >= limits::SECOND_SIGNAL_AFTER
    }
}

/// Page cache of the update crawldb: the rows of the rounds of some hundred sites.
const UPDATE_CACHE_BYTES: usize = 4 << 20;

/// Options to open a data folder and to crawl.
#[derive(Clone, Debug)]
pub struct Options {
    pub data_dir: PathBuf,
    /// Rule files and configuration, for a backup; None for what has none.
    pub rules_dir: Option<PathBuf>,
    pub config_file: Option<PathBuf>,
    pub cache_bytes: usize,
    pub user_agent: String,
    /// Maximum concurrent requests, over all sites.
    pub requests_max: usize,
    /// Run no script in a process that the kernel does not confine.
    pub must_be_confined: bool,
    /// Options of this process that commands in its log repeat, such as ` --data d`.
    pub given: String,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_dir: PathBuf::from("gleaner-data"),
            rules_dir: None,
            config_file: None,
            cache_bytes: 32 << 20,
            user_agent: concat!("gleaner/", env!("CARGO_PKG_VERSION")).to_owned(),
            requests_max: 64,
            must_be_confined: true,
            given: String::new(),
        }
    }
}

impl From<&Config> for Options {
    fn from(config: &Config) -> Self {
        Self {
            data_dir: config.data_dir.clone(),
            rules_dir: Some(config.rules_dir.clone()),
            config_file: config.file.clone(),
            cache_bytes: (config.cache_mb as usize) << 20,
            user_agent: config.user_agent(),
            requests_max: config.requests_max.into(),
            must_be_confined: config.require_confinement,
            given: config.given.clone(),
        }
    }
}

/// An open data folder: only this process writes to it.
pub struct App {
    pub data_dir: PathBuf,
    pub db: Arc<dyn CrawlDb>,
    backups: backups::Backups,
    /// URLs that increments have found and not fetched yet.
    pub update: Arc<UpdateDb>,
    pub archive: Arc<Archive>,
    pub clock: Arc<dyn Clock>,
    options: Options,
    dns: Dns,
    tls: Tls,
    memory: Memory,
    /// Child processes that run page scripts, shared by all sites.
    children: Arc<Children>,
    /// What the handovers have done.
    handed: handover::Handed,
}

impl App {
    /// Opens or creates a data folder.
    ///
    /// # Errors
    /// A folder that cannot be written, and errors of the databases, including a damaged one.
    pub fn open(options: &Options) -> anyhow::Result<Self> {
        Self::open_with(options, |path, options| UpdateDb::open(path, options).map_err(Into::into))
    }

    /// The same for fetching or repair: a damaged update crawldb is renamed and replaced by an empty one; the lists show its URLs again.
    ///
    /// # Errors
    /// Same as [`Self::open`], except for that.
    pub fn open_to_mend(options: &Options) -> anyhow::Result<Self> {
        Self::open_with(options, |path, options| match UpdateDb::open(path, options) {
            Err(CrawlDbError::Corrupt { detail, .. }) => {
                let aside = aside_of(path, SystemClock.now());
                std::fs::rename(path, &aside).map_err(|error| folder::failed(path, &error))?;
                let (path_shown, aside) = (path.display(), aside.display());
                tracing::warn!(path = %path_shown, kept = %aside, detail, "the update database is damaged: it was moved aside, and \
                    lists are read again to find what it held");
                UpdateDb::open(path, options).map_err(Into::into)
            }
            opened => opened.map_err(Into::into),
        })
    }

    fn open_with(
        options: &Options,
        open_update: impl FnOnce(&Path, OpenOptions) -> anyhow::Result<UpdateDb>,
    ) -> anyhow::Result<Self> {
        let data_dir = &options.data_dir;
        is_folder(data_dir)?;
        folder::must_be_writable(data_dir)?;
        if gleaner_store::backup::is_unfinished(data_dir) {
            bail!(
                "{}: a restore to this folder is under way, or was cut off\nhint: wait for its end; one that was cut off is run again, with an \
                 empty folder",
                data_dir.display()
            );
        }
        [database_path(data_dir), update_path(data_dir)].iter().try_for_each(|path| folder::must_be_file(path))?;
        let cache_bytes = options.cache_bytes;
        let options_of_db = OpenOptions { cache_bytes, ..OpenOptions::default() };
        let db = open_database(&database_path(data_dir), options_of_db).map_err(|error| match error {
            // Not the database is at fault: there are file systems without new folders, such as /proc.
            CrawlDbError::Storage { detail, full: false, .. } if !data_dir.exists() => {
                let data_dir = data_dir.display();
                anyhow!("{data_dir}: this folder cannot be created: {detail}\nhint: pass another --data")
            }
            error => error.into(),
        })?;
        // The holder of one holds the other: this one is opened second.
        let options_of_update = OpenOptions { cache_bytes: UPDATE_CACHE_BYTES, ..OpenOptions::default() };
        let update = open_update(&update_path(data_dir), options_of_update)?;
        let archive = Arc::new(Archive::open(archive_path(data_dir), true)?);
        let (store, update, clock) = (Arc::new(db), Arc::new(update), Arc::new(SystemClock));
        let parts = (Arc::clone(&store), Arc::clone(&update), Arc::clone(&archive));
        Ok(Self {
            data_dir: data_dir.clone(),
            backups: backups::Backups::new(parts, Arc::clone(&clock) as Arc<dyn Clock>, options),
            db: store,
            update,
            archive,
            clock,
            options: options.clone(),
            dns: Dns::default(),
            tls: Tls::default(),
            memory: Memory::default(),
            children: children(options)?,
            handed: handover::Handed::default(),
        })
    }

    /// Read access to the harvest.
    #[must_use]
    pub fn reader(&self) -> Arc<dyn Reader> {
        Arc::clone(&self.db) as Arc<dyn Reader>
    }

    /// A site with its own HTTP client.
    pub fn site(&self, rules: &Arc<SiteRules>) -> anyhow::Result<Arc<Site>> {
        let jar = Arc::new(Jar::default());
        if let Some(login) = &rules.login {
            sessions::note_rules(&self.data_dir, rules);
            // A broken file of one site must not stop the others: this site logs in again.
            if let Err(error) = sessions::load_of(&self.data_dir, &rules.name, &login.user, &jar) {
                let error = in_one_line(&format!("{error:#}"));
                tracing::error!(site = %rules.name, error, "the stored session cannot be used");
            }
        }
        let transport = transport(&self.options, rules, Arc::clone(&jar), self.dns.clone(), self.tls.clone())?;
        let site = Site::new(Arc::clone(rules), Arc::new(transport), Arc::clone(&self.clock), Arc::clone(&self.db));
        let mut site = site.with_memory(self.memory.clone()).with_renderer(Arc::clone(&self.children));
        if let Some(learned) = LearnedPages::open(&self.data_dir, rules, self.clock.now()) {
            site = site.with_read_before(Arc::new(learned));
        }
        Ok(Arc::new(match &rules.login {
            None => site,
            Some(login) => {
                let files = sessions::Files::new(&self.data_dir, &rules.name, &login.user).at(rules.first_authority());
                let keeper = Arc::new(files.told_with(&rules.file, &self.options.given));
                site.with_account(Account { jar, keeper })
            }
        }))
    }

    /// A site for a login alone, with its cookies: another process may hold the data folder, so it is not opened.
    pub fn site_alone(options: &Options, rules: &Arc<SiteRules>) -> anyhow::Result<(Site, Arc<Jar>)> {
        let jar = Arc::new(Jar::default());
        let transport = transport(options, rules, Arc::clone(&jar), Dns::default(), Tls::default())?;
        let db = Arc::new(MemoryStore::default());
        let site = Site::new(Arc::clone(rules), Arc::new(transport), Arc::new(SystemClock), db);
        Ok((site.with_renderer(children(options)?), jar))
    }

    /// The same with the session that is stored for its account, to look at its pages by hand.
    pub fn site_with_session(options: &Options, rules: &Arc<SiteRules>) -> anyhow::Result<Site> {
        let (site, jar) = Self::site_alone(options, rules)?;
        let Some(login) = &rules.login else { return Ok(site) };
        sessions::load_of(&options.data_dir, &rules.name, &login.user, &jar)?;
        let keeper = Arc::new(sessions::Files::new(&options.data_dir, &rules.name, &login.user));
        Ok(site.with_account(Account { jar, keeper }))
    }

    /// A crew without sites yet, and its running committer.
    #[must_use]
    pub fn crew(&self, options: RunOptions, on_fault: OnFault, progress: Progress) -> Crew {
        let (commits, messages) = mpsc::channel(limits::COMMIT_VISITS_MAX);
        let (stop, stopped) = watch::channel(false);
        let committer = tokio::spawn(commit::run(
            Arc::clone(&self.db),
            Some(Arc::clone(&self.update)),
            Arc::clone(&self.archive),
            messages,
            on_fault,
            progress.clone(),
        ));
        let shared = Shared {
            hosts: Hosts::default(),
            progress,
            commits,
            update: Some(Arc::clone(&self.update)),
            commit_kib: Arc::new(Semaphore::new(limits::COMMIT_BYTES_MAX / 1_024)),
            stop: stopped,
            look: watch::channel(0).1,
            owner: Owner(u64::from(std::process::id())),
            requests: Arc::new(Semaphore::new(self.options.requests_max)),
            pages: Arc::new(AtomicU64::new(0)),
            alive: Arc::new(AtomicU64::new(0)),
        };
        Crew { shared, options, _stop: stop, committer, loops: JoinSet::new() }
    }
}

/// The unique new name of a damaged file.
fn aside_of(path: &Path, now: UnixMillis) -> PathBuf {
    let named = |number: u32| {
        let mut name = path.as_os_str().to_owned();
        name.push(format!(".damaged-{}", now.0 / 1_000));
        if number > 0 {
            name.push(format!("-{number}"));
        }
        PathBuf::from(name)
    };
    (0..1_000).map(named).find(|path| !path.exists()).unwrap_or_else(|| named(1_000))
}

/// The children that run page scripts; none is started before a page needs it.
fn children(options: &Options) -> anyhow::Result<Arc<Children>> {
    let bounds = Bounds { must_be_confined: options.must_be_confined, ..Bounds::default() };
    Ok(Arc::new(Children::of_this_program(bounds).context("the path of this program's executable is unknown")?))
}

/// A site's HTTP client.
fn transport(
    options: &Options,
    rules: &SiteRules,
    cookies: Arc<Jar>,
    dns: Dns,
    tls: Tls,
) -> anyhow::Result<HttpTransport> {
    HttpTransport::new(&ClientOptions {
        user_agent: &options.user_agent,
        headers: &rules.client.headers,
        proxy: rules.client.proxy.as_ref(),
        addresses: match &rules.client.private_addresses {
            PrivateAddresses::All(false) => AddressPolicy::Public,
            PrivateAddresses::All(true) => AddressPolicy::Any,
            PrivateAddresses::Of(networks) => AddressPolicy::with_networks(networks)?,
        },
        dns,
        tls,
        cookies,
        connections_max: rules.rate.connections.into(),
        timeout: rules.rate.timeout,
    })
    .with_context(|| format!("site {}", rules.name))
}

/// Opens the database; waits if a short command such as `status` holds it right now.
fn open_database(path: &Path, options: OpenOptions) -> Result<RedbStore, CrawlDbError> {
    const TRIES: u32 = 10;
    for _ in 1..TRIES {
        match RedbStore::open(path, options) {
            Err(CrawlDbError::Held { .. }) => std::thread::sleep(Duration::from_millis(100)),
            opened => return opened,
        }
    }
    RedbStore::open(path, options)
}

/// An error if something else than a folder is at the path of the data folder, or above it; a missing folder is fine.
pub fn is_folder(data_dir: &Path) -> anyhow::Result<()> {
    match place::in_the_way(data_dir) {
        None => Ok(()),
        Some((path, Place::File)) if path == data_dir => bail!(
            "{}: this is a file\nhint: pass the folder of the database and the archive as --data",
            data_dir.display()
        ),
        Some((path, _)) => {
            bail!(
                "{}: {}, not a folder\nhint: move it away, or pass another --data",
                path.display(),
                place::told(&path)
            )
        }
    }
}

/// The error of a folder in which no crawl was started: reading must not create one.
#[must_use]
pub fn nothing_there(Options { data_dir, given, .. }: &Options) -> anyhow::Error {
    let what = if data_dir.exists() { "no crawl was started in this folder" } else { "there is no such folder" };
    anyhow!("{}: {what}\nhint: pass the right --data, or start with `gleaner crawl{given}`", data_dir.display())
}

/// Whether a crawl has started in a data folder; an error with the owner if this process cannot access it.
///
/// # Errors
/// As described.
pub fn has_database(data_dir: &Path) -> anyhow::Result<bool> {
    let database = database_path(data_dir);
    database.try_exists().map_err(|error| folder::failed(&database, &error))
}

/// Path of the crawl database of a data folder.
#[must_use]
pub fn database_path(data_dir: &Path) -> PathBuf {
    data_dir.join("crawl.redb")
}

/// Path of the update crawldb of a data folder.
#[must_use]
pub fn update_path(data_dir: &Path) -> PathBuf {
    data_dir.join(UPDATE_FILE)
}

/// Path of the archive of a data folder.
#[must_use]
pub fn archive_path(data_dir: &Path) -> PathBuf {
    data_dir.join("torrents")
}

/// How the crawl of one site is told what to do.
pub struct Reins {
    /// True ends it.
    pub stop: watch::Sender<bool>,
    /// A greater number has all its lists rechecked now.
    pub look: watch::Sender<u64>,
}

/// Sites that are crawled concurrently, with one committer.
pub struct Crew {
    shared: Shared,
    options: RunOptions,
    /// Kept so that the crew's own receiver never ends.
    _stop: watch::Sender<bool>,
    committer: tokio::task::JoinHandle<Result<(), commit::CommitError>>,
    loops: JoinSet<(String, Result<Ended, CrawlError>)>,
}

impl Crew {
    /// Starts a site, after a delay. Returns how it is told what to do, and the time of its last activity.
    pub fn add(&mut self, site: Arc<Site>, after: Duration) -> (Reins, Arc<AtomicU64>) {
        let (stop, stopped) = watch::channel(false);
        let (look, looked) = watch::channel(0);
        let alive = Arc::new(AtomicU64::new(site.clock.now().0));
        let shared = Shared { stop: stopped, look: looked, alive: Arc::clone(&alive), ..self.shared.clone() };
        let options = self.options.clone();
        self.loops.spawn(async move {
            let name = site.rules.name.to_string();
            let told_to_stop = async { shared.stop.clone().wait_for(|stop| *stop).await.is_ok() };
            let _ = tokio::time::timeout(after, told_to_stop).await;
            // A panic in one site's loop does not affect the others.
            let ended = AssertUnwindSafe(async { SiteLoop::new(site, shared, options).await?.run().await });
            let ended = ended.catch_unwind().await;
            let broken =
                |panic: Box<dyn std::any::Any + Send>| Err(CrawlError::Panicked(panic_text(&*panic).to_owned()));
            (name, ended.unwrap_or_else(broken))
        });
        (Reins { stop, look }, alive)
    }

    /// The next site that ends; None when none is left.
    pub async fn ended(&mut self) -> anyhow::Result<Option<(String, Result<Ended, CrawlError>)>> {
        match self.loops.join_next().await {
            None => Ok(None),
            Some(joined) => Ok(Some(joined.context("a site's crawl panicked or was aborted")?)),
        }
    }

    /// True while the last commit has failed and is retried, usually because of a full disk.
    #[must_use]
    pub fn commit_is_failing(&self) -> bool {
        self.shared.progress.store_fault().is_some()
    }

    /// Waits for the last commit. Call it when no site is left.
    pub async fn finish(self) -> anyhow::Result<()> {
        let Self { shared, committer, .. } = self;
        // The committer ends when its last sender is dropped.
        drop(shared);
        committer.await.context("the committer panicked or was aborted")??;
        Ok(())
    }
}

/// Crawls sites to their end, or until `stop` is set; returns how each ended. The first error of the store ends
/// all of them.
pub async fn crawl(
    app: &App,
    sites: &[Arc<SiteRules>],
    options: RunOptions,
    progress: Progress,
    mut stop: watch::Receiver<bool>,
) -> anyhow::Result<BTreeMap<String, Ended>> {
    let mut crew = app.crew(options, OnFault::Stop, progress);
    let mut stops = Vec::new();
    for rules in sites {
        stops.push(crew.add(app.site(rules)?, Duration::ZERO).0.stop);
    }
    let mut ends = BTreeMap::new();
    let mut fault = None;
    loop {
        tokio::select! {
            ended = crew.ended() => match ended? {
                None => break,
                Some((name, Ok(ended))) => { ends.insert(name, ended); }
                // If the committer has ended, its own error is the cause.
                Some((_, Err(error))) => {
                    for stop in &stops {
                        let _ = stop.send(true);
                    }
                    if !matches!(error, CrawlError::CommitterGone) {
                        fault.get_or_insert(error);
                    }
                }
            },
            Ok(()) = stop.changed() => {
                for stop in &stops {
                    let _ = stop.send(true);
                }
            }
        }
    }
    crew.finish().await?;
    fault.map_or(Ok(ends), |fault| Err(fault.into()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_that_comes_with_the_first_is_no_second_one() {
        let mut ends = Ends::default();
        let at = |millis: u64| UnixMillis(1_000_000 + millis);
        let told = [0, 0, 5, 499, 500].map(|millis| ends.is_second(at(millis)));
        assert_eq!(told, [false, false, false, false, true]);
    }
}
