//! Runs a plan: the real loop, committer, hosts and rules over the simulated web, life after life, in virtual time.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use gleaner_base::clock::Clock;
use gleaner_crawl::commit::{self, Message, OnFault};
use gleaner_crawl::progress::{Ended, Progress};
use gleaner_crawl::site::Site;
use gleaner_crawl::site_loop::{Shared, SiteLoop};
use gleaner_crawl::{Hosts, RunOptions};
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::{CrawlDb, HostRow, Owner, TorrentRow, UrlKey, UrlRecord};
use gleaner_torrent::archive::{self, Archive};
use tokio::sync::{Semaphore, mpsc, watch};
use tokio::task::JoinSet;

use super::plan::{End, Life, Millis, Plan};
use super::plug::Plug;
use super::store::{self, Disk, FileInMemory, Record, Told, Watched};
use super::wire::{Entry, Net, SimClock, Wire};

/// Maximum polls of one site's loop in one life; a spinning loop reaches it within seconds.
const POLLS_MAX: u64 = 3_000_000;

/// Maximum virtual time for a life to end by itself.
const LIFE_MAX: Duration = Duration::from_secs(40 * 24 * 3_600);

/// Maximum lives in a world without new faults, until everything must be done.
const HEALED_LIVES_MAX: usize = 4;

/// Delay before the service restarts a failed site and retries a commit.
const SITE_RETRY: Duration = Duration::from_secs(5);
const COMMIT_RETRY: Duration = Duration::from_secs(1);

/// The record of one life of the process.
#[derive(Clone, Debug)]
pub struct Lived {
    pub from: Millis,
    pub until: Millis,
    pub life: Life,
    pub healed: bool,
    pub rules: Vec<Arc<SiteRules>>,
    /// How each site's crawl ended; an error as its text.
    pub ends: Vec<(usize, Result<Ended, String>)>,
}

/// Everything that a checker can inspect.
pub struct History {
    pub plan: Arc<Plan>,
    pub log: Vec<Entry>,
    pub told: Vec<Told>,
    pub lives: Vec<Lived>,
    pub hosts: Vec<HostRow>,
    /// Every URL that the database was ever given.
    pub records: BTreeMap<UrlKey, Option<UrlRecord>>,
    pub queued: BTreeSet<UrlKey>,
    pub torrents: Vec<TorrentRow>,
    /// Path below the archive's folder, and content.
    pub files: BTreeMap<String, Vec<u8>>,
    /// The visible content of the database, one line each.
    pub dump: Vec<String>,
    /// Faults found by the simulation itself: a stuck loop, a committer that ended without a reason.
    pub troubles: Vec<String>,
}

impl History {
    /// The URL of a key.
    pub fn url(&self, key: &UrlKey) -> String {
        format!("{}{}", self.hosts[key.host.0 as usize].origin, key.path)
    }

    /// The site of a URL.
    pub fn site(&self, key: &UrlKey) -> usize {
        let name = &*self.hosts[key.host.0 as usize].site;
        self.plan.sites.iter().position(|site| site.web.name == name).unwrap()
    }
}

/// Runs a plan from start to end.
pub fn run(plan: Plan) -> History {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .max_blocking_threads(1)
        // Tasks woken by the blocking thread run when nothing else can, whenever in real time they were woken.
        .global_queue_interval(u32::MAX)
        .build()
        .unwrap();
    // The clock starts inside the runtime, whose time is paused.
    runtime.block_on(async { World::new(plan).run().await })
}

struct World {
    plan: Arc<Plan>,
    clock: Arc<SimClock>,
    net: Arc<Net>,
    record: Arc<Record>,
    disk: Disk,
    /// The update crawldb, beside it.
    update: FileInMemory,
    folder: tempfile::TempDir,
    lives: Vec<Lived>,
    troubles: Vec<String>,
}

impl World {
    fn new(plan: Plan) -> Self {
        let clock = Arc::new(SimClock::new(plan.clock_jumps.clone()));
        let record = Arc::new(Record::new(Arc::clone(&clock), plan.seed, plan.store_faults.clone()));
        let disk = Disk::new(plan.store);
        let plan = Arc::new(plan);
        let net = Arc::new(Net::new(Arc::clone(&plan), Arc::clone(&clock)));
        let folder = tempfile::tempdir().unwrap();
        let update = FileInMemory::default();
        Self { plan, clock, net, record, disk, update, folder, lives: Vec::new(), troubles: Vec::new() }
    }

    async fn run(mut self) -> History {
        for life in self.plan.lives.clone() {
            self.live(life).await;
        }
        self.net.healed.store(true, Ordering::Relaxed);
        self.record.healed.store(true, Ordering::Relaxed);
        mend(&self.archive_dir());
        for life in 1.. {
            self.live(Life { end: End::Done, is_service: false }).await;
            let ends = &self.lives.last().unwrap().ends;
            let waits = ends.iter().any(|(_, ended)| matches!(ended, Ok(Ended::Unreachable(_))));
            if ends.iter().all(|(_, ended)| ended == &Ok(Ended::Exhausted)) || life > HEALED_LIVES_MAX {
                break;
            }
            // A crawl does not wait for a pause of hours: its next life starts after the pause, and counts.
            if waits {
                tokio::time::sleep(gleaner_base::limits::RETRY_AFTER_MAX).await;
            } else if life == HEALED_LIVES_MAX {
                break;
            }
        }
        let db = self.disk.open();
        let names: Vec<&str> = self.plan.sites.iter().map(|site| site.web.name.as_str()).collect();
        let keys = self.record.keys();
        let mut records = BTreeMap::new();
        for key in &keys {
            records.insert(key.clone(), db.url_record(key).await.unwrap());
        }
        let hosts = db.hosts().await.unwrap();
        let mut queued = BTreeSet::new();
        for host in &hosts {
            queued.extend(db.queued(host.id, usize::MAX).await.unwrap().into_iter().map(|found| found.key));
        }
        History {
            log: self.net.log(),
            told: self.record.told(),
            lives: self.lives,
            hosts,
            records,
            queued,
            torrents: db.torrents(None, usize::MAX).await.unwrap(),
            files: files_below(&self.folder.path().join("torrents")),
            dump: store::dump(&*db, &keys, &names).await,
            troubles: self.troubles,
            plan: self.plan,
        }
    }

    fn archive_dir(&self) -> PathBuf {
        self.folder.path().join("torrents")
    }

    fn rules(&self) -> Vec<Arc<SiteRules>> {
        let is_later = !self.lives.is_empty();
        let text = |site: &super::plan::SitePlan| {
            let text = site.rules_later.as_ref().filter(|_| is_later).unwrap_or(&site.rules).clone();
            gleaner_rules::from_text(&site.web.name, &text).unwrap_or_else(|faults| panic!("{faults:?}\n{text}"))
        };
        self.plan.sites.iter().map(text).collect()
    }

    async fn live(&mut self, life: Life) {
        let number = self.lives.len() as u64;
        self.net.life.store(number, Ordering::Relaxed);
        self.record.life.store(number, Ordering::Relaxed);
        let from = self.clock.elapsed();
        let healed = self.net.healed.load(Ordering::Relaxed);
        let rules = self.rules();
        let db = self.disk.open();
        if number > 0 {
            // A process that died owns nothing.
            db.release(Owner(number - 1), self.record.keys().into_iter().collect()).await.unwrap();
        }
        let db: Arc<dyn CrawlDb> = Arc::new(Watched { db, record: Arc::clone(&self.record) });
        let update = self.update.open_update();
        let archive = Arc::new(Archive::open(self.archive_dir(), false).unwrap());

        let (commits, sent) = mpsc::channel(gleaner_crawl::limits::COMMIT_VISITS_MAX);
        let (pass_on, messages) = mpsc::channel(gleaner_crawl::limits::COMMIT_VISITS_MAX);
        let (stop, stopped) = watch::channel(false);
        let stop = Arc::new(stop);
        let on_fault = if life.is_service { OnFault::TryAgain(COMMIT_RETRY) } else { OnFault::Stop };
        let mut tasks = JoinSet::new();
        let committer_ended = Arc::new(Mutex::new(None));
        {
            let (db, update, told) = (Arc::clone(&db), Some(Arc::clone(&update)), Arc::clone(&committer_ended));
            let committer = async move {
                let ended = commit::run(db, update, archive, messages, on_fault, Progress::default()).await;
                *told.lock().unwrap() = Some(ended.map_err(|error| error.to_string()));
            };
            tasks.spawn(Counted { inner: Box::pin(committer), polls: 0, plugs: true });
        }
        tasks.spawn(overhear(sent, pass_on, Arc::clone(&self.record)));
        let shared = Shared {
            hosts: Hosts::default(),
            progress: Progress::default(),
            commits,
            update: Some(update),
            commit_kib: Arc::new(Semaphore::new(gleaner_crawl::limits::COMMIT_BYTES_MAX / 1_024)),
            stop: stopped,
            look: tokio::sync::watch::channel(0).1,
            owner: Owner(number),
            requests: Arc::new(Semaphore::new(if self.plan.seed.is_multiple_of(3) { 3 } else { 64 })),
            pages: Arc::new(AtomicU64::new(0)),
            alive: Arc::new(AtomicU64::new(0)),
        };
        let ends = Ends::default();
        for (index, rules) in rules.iter().enumerate() {
            let wire = Arc::new(Wire { net: Arc::clone(&self.net), site: index });
            let clock = Arc::clone(&self.clock) as Arc<dyn Clock>;
            let site = Arc::new(Site::new(Arc::clone(rules), wire, clock, Arc::clone(&db)));
            let crawl = crawl_site(index, site, shared.clone(), life.is_service, Arc::clone(&stop), Arc::clone(&ends));
            tasks.spawn(Counted { inner: Box::pin(crawl), polls: 0, plugs: self.plan.parses_on_a_thread() });
        }
        drop((shared, db));
        let weather = self.plan.archive_fault.filter(|_| !healed);
        let weather = archive_weather(self.archive_dir(), weather, Arc::clone(&self.clock));
        let signal = async {
            match life.end {
                End::Killed(after) => tokio::time::sleep(Duration::from_millis(after)).await,
                End::Stopped(after) => {
                    tokio::time::sleep(Duration::from_millis(after)).await;
                    let _ = stop.send(true);
                    std::future::pending().await
                }
                End::Done => tokio::time::sleep(LIFE_MAX).await,
            }
        };
        let joined = async {
            while let Some(joined) = tasks.join_next().await {
                joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic.into_panic()));
            }
        };
        let by_itself = tokio::select! {
            biased;
            () = joined => true,
            () = signal => false,
            () = weather => unreachable!(),
        };
        if !by_itself && life.end == End::Done {
            self.troubles
                .push(format!("life {number} has not ended after {} virtual days", LIFE_MAX.as_secs() / 86_400));
        }
        if !by_itself && matches!(life.end, End::Killed(_)) && self.plan.seed % 2 == 1 {
            self.disk.power_off();
            self.update.power_off();
        }
        tasks.shutdown().await;
        // When the only blocking thread has run this, its work for the archive is done.
        tokio::task::spawn_blocking(|| ()).await.unwrap();
        let ends = std::mem::take(&mut *ends.lock().unwrap());
        if by_itself && let Some(Err(error)) = &*committer_ended.lock().unwrap() {
            let excused =
                !healed && (self.record.failed.load(Ordering::Relaxed) > 0 || self.plan.archive_fault.is_some());
            if !excused {
                self.troubles.push(format!("life {number}: the committer failed without a planned fault: {error}"));
            }
        }
        let until = self.clock.elapsed();
        self.lives.push(Lived { from, until, life, healed, rules, ends });
    }
}

/// One site, run like the service, or like `gleaner crawl`: there the first fault stops all sites.
async fn crawl_site(
    index: usize,
    site: Arc<Site>,
    shared: Shared,
    is_service: bool,
    stop: Arc<watch::Sender<bool>>,
    ends: Ends,
) {
    loop {
        let options = RunOptions { keep_looking: is_service, ..RunOptions::default() };
        let ended = match SiteLoop::new(Arc::clone(&site), shared.clone(), options).await {
            Ok(site_loop) => site_loop.run().await,
            Err(error) => Err(error),
        };
        let is_over = ended.is_ok() || !is_service || *shared.stop.borrow();
        let is_fault = ended.is_err();
        ends.lock().unwrap().push((index, ended.map_err(|error| error.to_string())));
        if is_over {
            if is_fault {
                let _ = stop.send(true);
            }
            return;
        }
        tokio::time::sleep(SITE_RETRY).await;
    }
}

/// Passes messages on to the committer, and records the pages that the increment is to request again: they are in its own database, which
/// nothing watches.
async fn overhear(mut sent: mpsc::Receiver<Message>, pass_on: mpsc::Sender<Message>, record: Arc<Record>) {
    loop {
        let message = tokio::select! {
            biased;
            () = pass_on.closed() => return,
            message = sent.recv() => message,
        };
        let Some(message) = message else { return };
        if let Message::Visit { finished, .. } = &message {
            record.asks_again(&finished.end.news);
        }
        if pass_on.send(message).await.is_err() {
            return;
        }
    }
}

/// Panics if its future is polled endlessly.
struct Counted {
    inner: Pin<Box<dyn Future<Output = ()> + Send>>,
    polls: u64,
    /// True if it may give work to the blocking thread.
    plugs: bool,
}

impl Future for Counted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        self.polls += 1;
        assert!(self.polls < POLLS_MAX, "the loop spins: {POLLS_MAX} polls");
        let _until_polled = self.plugs.then(Plug::set);
        self.inner.as_mut().poll(context)
    }
}

/// During this interval the archive cannot create a folder: plain files occupy the paths of its folders.
async fn archive_weather(dir: PathBuf, fault: Option<(Millis, Millis)>, clock: Arc<SimClock>) {
    if let Some((from, until)) = fault {
        let now = clock.elapsed();
        tokio::time::sleep(Duration::from_millis(from.saturating_sub(now))).await;
        if clock.elapsed() < until {
            for shard in 0..=255 {
                let _ = std::fs::File::create_new(dir.join(archive::shard_name(shard)));
            }
            tokio::time::sleep(Duration::from_millis(until.saturating_sub(clock.elapsed()))).await;
        }
        mend(&dir);
    }
    std::future::pending().await
}

fn mend(dir: &Path) {
    for shard in 0..=255 {
        let path = dir.join(archive::shard_name(shard));
        if path.is_file() {
            std::fs::remove_file(path).unwrap();
        }
    }
}

/// How each site's crawl ended, in report form.
type Ends = Arc<Mutex<Vec<(usize, Result<Ended, String>)>>>;

/// Files of the archive by relative path.
fn files_below(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut files = BTreeMap::new();
    for folder in std::fs::read_dir(dir).into_iter().flatten().flatten() {
        for file in std::fs::read_dir(folder.path()).into_iter().flatten().flatten() {
            let name = format!("{}/{}", folder.file_name().to_string_lossy(), file.file_name().to_string_lossy());
            files.insert(name, std::fs::read(file.path()).unwrap());
        }
    }
    files
}
