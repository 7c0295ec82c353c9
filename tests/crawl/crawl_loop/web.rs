//! A small simulated web, and a machine that crawls it in virtual time with the real loop.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::commit::{self, OnFault};
use gleaner_crawl::progress::{Ended, Progress, SiteProgress};
use gleaner_crawl::site::Site;
use gleaner_crawl::site_loop::{Shared, SiteLoop};
use gleaner_crawl::{CrawlError, Hosts, RunOptions};
use gleaner_net::fetch::{Body, FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use gleaner_rules::SiteRules;
use gleaner_store::crawldb::memory_store::MemoryStore;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_store::crawldb::{CrawlDb, Owner, Reader};
use gleaner_torrent::archive::Archive;
use tokio::sync::{Semaphore, mpsc, watch};

pub const TORRENT: &[u8] = b"d4:infod6:lengthi4e4:name1:a12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee";

/// Tokio's paused clock as the crawl's clock.
struct VirtualClock {
    start: tokio::time::Instant,
    /// After this time it is adjusted by this many milliseconds.
    set: Option<(Duration, i64)>,
}

impl Clock for VirtualClock {
    fn now(&self) -> UnixMillis {
        let now = UnixMillis(1_700_000_000_000).plus(self.start.elapsed());
        match self.set {
            Some((after, by_ms)) if self.start.elapsed() >= after => UnixMillis(now.0.saturating_add_signed(by_ms)),
            _ => now,
        }
    }
}

#[derive(Clone)]
#[allow(clippy::large_enum_variant, reason = "a test has a handful of them")]
pub enum Answer {
    Status(u16, ResponseHeaders, Bytes),
    Fail(FailureKind),
    /// 304 for a request with this ETag, else the page.
    Versioned(&'static str, Bytes),
    /// The same, but the page is truncated.
    Broken(&'static str, Bytes),
}

/// A page; one that shows nothing has a body all the same, since an empty one is asked for again.
pub fn page(body: &str) -> Answer {
    let body = if body.is_empty() { "<p>Nothing here." } else { body };
    let headers = ResponseHeaders { content_type: Some("text/html".to_owned()), ..ResponseHeaders::default() };
    Answer::Status(200, headers, Bytes::copy_from_slice(body.as_bytes()))
}

pub fn status(code: u16) -> Answer {
    Answer::Status(code, ResponseHeaders::default(), Bytes::new())
}

pub fn redirect(to: &str) -> Answer {
    Answer::Status(302, ResponseHeaders { location: Some(to.to_owned()), ..ResponseHeaders::default() }, Bytes::new())
}

pub fn throttled(retry_after: &str) -> Answer {
    let headers = ResponseHeaders { retry_after: Some(retry_after.to_owned()), ..ResponseHeaders::default() };
    Answer::Status(429, headers, Bytes::new())
}

pub fn torrent() -> Answer {
    Answer::Status(200, ResponseHeaders::default(), Bytes::from_static(TORRENT))
}

/// A response by path and time since the start.
type AnswerAt = Box<dyn Fn(&str, Duration) -> Option<Answer> + Send + Sync>;

/// Responses by URL or else by path; the last response of a path repeats. Other URLs return 404.
#[derive(Default)]
pub struct Web {
    answers: Mutex<HashMap<String, Vec<Answer>>>,
    /// The fallback for URLs that `answers` lacks.
    otherwise: Option<fn(&str) -> Option<Answer>>,
    /// The same, this long after the start.
    meanwhile: Option<AnswerAt>,
    /// (milliseconds since the start, path) of each request.
    log: Mutex<Vec<(u64, String)>>,
    /// The same with whole URLs.
    urls: Mutex<Vec<(u64, String)>>,
    pub under_way: Mutex<(u32, u32)>,
    latency: Duration,
    /// Addresses of hosts; other hosts do not resolve.
    addresses: HashMap<&'static str, IpAddr>,
    dead_host: Option<&'static str>,
    /// When it is dead; always if None.
    dead_time: Option<(Duration, Duration)>,
    /// When every request except robots.txt gets a 502.
    outage: Option<(Duration, Duration)>,
}

impl Web {
    pub fn new(latency: Duration) -> Self {
        Self { latency, ..Self::default() }
    }

    /// Adds a path, for every host, or a URL.
    pub fn at(self, path: &str, answers: &[Answer]) -> Self {
        self.answers.lock().unwrap().insert(path.to_owned(), answers.iter().rev().cloned().collect());
        self
    }

    pub fn dead(mut self, host: &'static str) -> Self {
        self.dead_host = Some(host);
        self
    }

    pub fn outage(mut self, from: Duration, until: Duration) -> Self {
        self.outage = Some((from, until));
        self
    }

    pub fn otherwise(mut self, answer: fn(&str) -> Option<Answer>) -> Self {
        self.otherwise = Some(answer);
        self
    }

    pub fn meanwhile(mut self, answer: fn(&str, Duration) -> Option<Answer>) -> Self {
        self.meanwhile = Some(Box::new(answer));
        self
    }

    pub fn answered_by(mut self, answer: impl Fn(&str, Duration) -> Answer + Send + Sync + 'static) -> Self {
        self.meanwhile = Some(Box::new(move |path, at| Some(answer(path, at))));
        self
    }

    pub fn dead_from(mut self, host: &'static str, from: Duration, until: Duration) -> Self {
        self.dead_time = Some((from, until));
        self.dead(host)
    }

    pub fn located(mut self, host: &'static str, address: &str) -> Self {
        self.addresses.insert(host, address.parse().unwrap());
        self
    }

    pub fn transport(self: &Arc<Self>, start: tokio::time::Instant) -> Arc<dyn Transport> {
        Arc::new(SimTransport { web: Arc::clone(self), start })
    }

    /// (milliseconds since the start, URL) of each answered request.
    pub fn urls(&self) -> Vec<(u64, String)> {
        self.urls.lock().unwrap().clone()
    }

    pub fn log(&self) -> Vec<(u64, String)> {
        self.log.lock().unwrap().clone()
    }

    pub fn asked(&self, path: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|(_, asked)| asked == path).count()
    }

    /// How often each path was requested.
    pub fn counts(&self) -> HashMap<String, usize> {
        let mut counts = HashMap::<String, usize>::new();
        for (_, path) in self.log() {
            *counts.entry(path).or_default() += 1;
        }
        counts
    }

    /// When each path was first requested, in milliseconds since the start.
    pub fn firsts(&self) -> HashMap<String, u64> {
        let mut firsts = HashMap::new();
        for (at, path) in self.log() {
            firsts.entry(path).or_insert(at);
        }
        firsts
    }
}

struct SimTransport {
    web: Arc<Web>,
    start: tokio::time::Instant,
}

/// A body in one piece, and whether it is truncated after that.
pub struct Piece(pub Option<Bytes>, pub bool);

#[async_trait::async_trait]
impl Body for Piece {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        match self.0.take().filter(|bytes| !bytes.is_empty()) {
            None if self.1 => Err(FetchFailure { kind: FailureKind::Truncated, detail: "simulated".to_owned() }),
            piece => Ok(piece),
        }
    }
}

#[async_trait::async_trait]
impl Transport for SimTransport {
    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        let addresses = self.web.addresses.get(url.host()).copied().into_iter().collect();
        Ok(Resolution { addresses, ttl: Duration::from_secs(300) })
    }

    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let url = request.url;
        let is_dead_now = self.web.dead_time.is_none_or(|(from, until)| (from..until).contains(&self.start.elapsed()));
        if is_dead_now && self.web.dead_host == Some(url.host()) {
            return Err(FetchFailure { kind: FailureKind::Connect, detail: "simulated".to_owned() });
        }
        let at = u64::try_from(self.start.elapsed().as_millis()).unwrap();
        if self.web.outage.is_some_and(|(from, until)| (from..until).contains(&self.start.elapsed())) {
            let body = Box::new(Piece(None, false));
            return Ok(Response { status: 502, headers: ResponseHeaders::default(), body });
        }
        self.web.log.lock().unwrap().push((at, url.path().to_owned()));
        self.web.urls.lock().unwrap().push((at, url.to_string()));
        {
            let mut under_way = self.web.under_way.lock().unwrap();
            under_way.0 += 1;
            under_way.1 = under_way.1.max(under_way.0);
        }
        tokio::time::sleep(self.web.latency).await;
        self.web.under_way.lock().unwrap().0 -= 1;
        let answer = {
            let mut answers = self.web.answers.lock().unwrap();
            let key = if answers.contains_key(url.as_str()) { url.as_str() } else { url.path() };
            match answers.get_mut(key) {
                None => {
                    let meanwhile =
                        self.web.meanwhile.as_ref().and_then(|answer| answer(url.path(), self.start.elapsed()));
                    let answer = meanwhile.or_else(|| self.web.otherwise.and_then(|answer| answer(url.path())));
                    answer.unwrap_or_else(|| status(404))
                }
                Some(left) if left.len() > 1 => left.pop().unwrap(),
                Some(left) => left[0].clone(),
            }
        };
        let breaks_off = matches!(answer, Answer::Broken(..));
        match answer {
            Answer::Status(status, headers, body) => {
                Ok(Response { status, headers, body: Box::new(Piece(Some(body), false)) })
            }
            Answer::Versioned(version, body) | Answer::Broken(version, body) => {
                let known = request.validators.and_then(|validators| validators.etag.as_deref());
                let headers = ResponseHeaders {
                    content_type: Some("text/html".to_owned()),
                    etag: Some(version.to_owned()),
                    ..ResponseHeaders::default()
                };
                let is_known = known == Some(version);
                let body = Box::new(Piece((!is_known).then_some(body), breaks_off && !is_known));
                Ok(Response { status: if is_known { 304 } else { 200 }, headers, body })
            }
            Answer::Fail(kind) => Err(FetchFailure { kind, detail: "simulated".to_owned() }),
        }
    }
}

/// A machine that crawls: its database and archive survive several crawls.
pub struct Machine {
    pub db: Arc<MemoryStore>,
    /// None, as in most tests: one crew.
    pub update: Option<Arc<UpdateDb>>,
    pub archive: Arc<Archive>,
    /// The reaction to a failed commit: in most tests the end, as in a command.
    pub on_fault: OnFault,
    dir: tempfile::TempDir,
    pub start: tokio::time::Instant,
    clock_set: Mutex<Option<(Duration, i64)>>,
    /// Of the running crawl, or of the last one.
    progress: Mutex<Progress>,
}

impl Machine {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let archive = Arc::new(Archive::open(dir.path().join("torrents"), false).unwrap());
        Self {
            db: Arc::new(MemoryStore::default()),
            update: None,
            archive,
            on_fault: OnFault::Stop,
            dir,
            start: tokio::time::Instant::now(),
            clock_set: Mutex::default(),
            progress: Mutex::default(),
        }
    }

    /// The site's progress in the running crawl, or at the end of the last one.
    pub fn stands(&self) -> SiteProgress {
        self.progress.lock().unwrap().snapshot().remove("sim").unwrap_or_default()
    }

    /// The progress of the running crawl, or of the last one.
    pub fn progress(&self) -> Progress {
        self.progress.lock().unwrap().clone()
    }

    /// A note as the running crawl would write it now.
    pub fn note_now(&self, name: &str) -> Option<Vec<u8>> {
        self.progress.lock().unwrap().note("sim", name)
    }

    pub fn archive_folder(&self) -> std::path::PathBuf {
        self.dir.path().join("torrents")
    }

    /// From now on nothing can be stored: a file blocks the path of the archive's temporary folder. Returns it.
    pub fn block_archive(&self) -> std::path::PathBuf {
        let in_the_way = self.archive_folder().join(".tmp");
        let _ = std::fs::remove_dir_all(&in_the_way);
        std::fs::write(&in_the_way, "").unwrap();
        in_the_way
    }

    /// Why nothing can be stored now.
    pub fn store_fault(&self) -> Option<String> {
        self.progress.lock().unwrap().store_fault()
    }

    pub fn clock(&self) -> Arc<dyn Clock> {
        Arc::new(VirtualClock { start: self.start, set: *self.clock_set.lock().unwrap() })
    }

    /// Adjusts the clock of later crawls by this many milliseconds, this long after the machine started.
    pub fn set_clock(&self, after: Duration, by_ms: i64) {
        *self.clock_set.lock().unwrap() = Some((after, by_ms));
    }

    pub async fn crawl(&self, web: &Arc<Web>, rules: &str, options: RunOptions) -> (Ended, Progress) {
        self.crawl_until(web, rules, options, None).await
    }

    pub async fn crawl_until(
        &self,
        web: &Arc<Web>,
        rules: &str,
        options: RunOptions,
        stop_after: Option<Duration>,
    ) -> (Ended, Progress) {
        let (ended, progress) = self.crawl_while_committing(web, rules, options, stop_after, None).await;
        (ended.unwrap(), progress)
    }

    /// The same with a committer that ends without a reason after a while, if given.
    pub async fn crawl_while_committing(
        &self,
        web: &Arc<Web>,
        rules: &str,
        options: RunOptions,
        stop_after: Option<Duration>,
        committing_for: Option<Duration>,
    ) -> (Result<Ended, CrawlError>, Progress) {
        let rules = site_rules(rules);
        let clock = self.clock();
        let transport = web.transport(self.start);
        let db: Arc<dyn CrawlDb> = self.db.clone();
        self.crawl_site(Site::new(rules, transport, clock, db), options, stop_after, committing_for).await
    }

    /// The same for a site that the caller has assembled.
    pub async fn crawl_site(
        &self,
        site: Site,
        options: RunOptions,
        stop_after: Option<Duration>,
        committing_for: Option<Duration>,
    ) -> (Result<Ended, CrawlError>, Progress) {
        let (db, site) = (Arc::clone(&site.db), Arc::new(site));
        let (commits, messages) = mpsc::channel(64);
        let (stop, stopped) = watch::channel(false);
        let progress = Progress::default();
        *self.progress.lock().unwrap() = progress.clone();
        let committer =
            commit::run(db, self.update.clone(), Arc::clone(&self.archive), messages, self.on_fault, progress.clone());
        let committer = tokio::spawn(async move {
            match committing_for {
                Some(time) => tokio::time::timeout(time, committer).await.unwrap_or(Ok(())),
                None => committer.await,
            }
        });
        let shared = Shared {
            hosts: Hosts::default(),
            progress: progress.clone(),
            commits,
            update: self.update.clone(),
            commit_kib: Arc::new(Semaphore::new(1 << 16)),
            stop: stopped,
            look: tokio::sync::watch::channel(0).1,
            owner: Owner(1),
            requests: Arc::new(Semaphore::new(64)),
            pages: Arc::new(AtomicU64::new(0)),
            alive: Arc::new(AtomicU64::new(0)),
        };
        let site_loop = SiteLoop::new(site, shared, options).await.unwrap();
        let stopper = async {
            match stop_after {
                Some(after) => tokio::time::sleep(after).await,
                None => std::future::pending().await,
            }
            stop.send(true).unwrap();
            std::future::pending::<()>().await;
        };
        let ended = tokio::select! {
            ended = site_loop.run() => ended,
            () = stopper => unreachable!(),
        };
        committer.await.unwrap().unwrap();
        (ended, progress)
    }

    pub async fn outcomes(&self) -> BTreeMap<&'static str, u64> {
        let counts = self.db.site_counts("sim").await.unwrap();
        counts.outcomes.iter().map(|(outcome, count)| (outcome.name(), *count)).collect()
    }
}

/// The simulated site's rule file, with these keys.
pub fn site_rules(rules: &str) -> Arc<SiteRules> {
    let text = format!("start = [\"http://sim.example/\"]\n{rules}\n{CLASSES}");
    gleaner_rules::from_text("sim", &text).unwrap_or_else(|faults| panic!("{faults:?}"))
}

pub const CLASSES: &str = r"
[classes]
index = ['^/$', '^/list/\d+$', '^/board(?:\?page=\d+)?$']
page = ['^/cal', '^/item/', '^/look', '^/list/\d+\?']
detail = ['^/detail/\d+$']
download = ['^/dl/']
";

pub const FAST: &str = "lanes = 4\nlane_key = 'xxh3'\n[rate]\nrequests_per_second = 1000000\nconnections = 4";
