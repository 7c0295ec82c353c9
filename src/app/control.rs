//! The control socket: the process that holds a data folder answers `status`, `coverage`, `export` and `verify` of other
//! processes over a Unix socket in the folder; they never open the database beside it.
//!
//! One JSON object per line each way: [`Ask`] is the request, `{"ok": …}` or `{"error": "…"}` the response. All
//! requests but [`Ask::Act`], [`Ask::Answer`] and [`Ask::Backup`] are read-only; those are for the folder's owner and root.

mod nobody;

use std::fs::Permissions;
use std::io::ErrorKind;
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD as BASE64;
use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};

use super::App;
use super::alarms::Desk;
use super::backups::{self, Backups};
use super::pauses::Wishes;
use super::queues::{self, HostQueue, KnownUrl};
use super::status::{self, StatusReport};
use crate::limits;
use gleaner_alarms::Alarm;
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::place;
use gleaner_crawl::progress::Progress;
use gleaner_serve::acts::{Act, Acted, Refused};
use gleaner_serve::alarms;
use gleaner_store::backup::Made;
use gleaner_store::crawldb::{
    Changes, CrawlDb, CrawlDbError, HostId, HostRow, ListingRow, MagnetRow, NotWholeRow, Reader, SiteCounts,
    SiteLabels, Stored, TorrentRow, UrlLooks,
};

pub use self::nobody::no_service;

/// Between two looks at whether a backup is over.
const BACKED_UP_LOOK: Duration = Duration::from_millis(20);

/// A request.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "ask")]
pub enum Ask {
    Status,
    Hosts,
    SiteCounts {
        site: String,
    },
    Torrents {
        after: Option<Vec<u8>>,
        rows_max: usize,
    },
    Newest {
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    },
    /// In hex.
    TorrentsAt {
        infohashes: Vec<String>,
    },
    Changes {
        after: u64,
        rows_max: usize,
    },
    Labels,
    Magnets {
        after: Option<Vec<u8>>,
        rows_max: usize,
    },
    /// In hex.
    MagnetsAt {
        infohashes: Vec<String>,
    },
    Listings {
        site: String,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    },
    UrlLooks {
        site: String,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    },
    NotWhole {
        site: String,
    },
    Note {
        site: String,
        name: String,
    },
    Url {
        site: String,
        origin: String,
        path: String,
    },
    Queues {
        site: String,
        urls_max: usize,
    },
    Act(Act),
    /// Of the folder's owner and root, as [`Ask::Act`].
    Backup(backups::Wish),
    /// The alarms of a service.
    Alarms,
    /// Answers one of them.
    Answer {
        id: String,
        answer: alarms::Answer,
    },
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Answer<T> {
    Ok(T),
    Error(String),
}

/// Path of the socket of a data folder.
#[must_use]
pub fn socket_path(data_dir: &Path) -> PathBuf {
    place::control_socket(data_dir).0
}

/// Answers until dropped, which removes the socket.
pub struct Control {
    task: tokio::task::JoinHandle<()>,
    path: PathBuf,
    /// Backups that were asked for and not answered yet.
    backing_up: Arc<AtomicUsize>,
}

impl Control {
    /// Returns once no backup is under way that a command has asked for.
    pub async fn backed_up(&self) {
        while self.backing_up.load(Ordering::Relaxed) > 0 {
            tokio::time::sleep(BACKED_UP_LOOK).await;
        }
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        self.task.abort();
        let _ = std::fs::remove_file(&self.path);
    }
}

/// Starts to answer for an open data folder. If no socket can be created (the path is too long, the file system has no
/// sockets) the crawl runs without one: other processes then report that the folder is held.
pub fn serve(app: &App, progress: Option<Progress>, inside: Option<(Wishes, Desk)>) -> Option<Control> {
    let path = socket_path(&app.data_dir);
    // Left by a killed process: this process holds the folder now.
    let _ = std::fs::remove_file(&path);
    let listener = match UnixListener::bind(&path) {
        Ok(listener) => listener,
        Err(error) => {
            let hint = match place::control_socket(&app.data_dir).1 {
                true => " (hint: pass a shorter --data; the path of a socket has at most 107 bytes)",
                false => "",
            };
            let error = format!("{error}{hint}");
            tracing::warn!(path = %path.display(), error, "no control socket: `status` and `export` only work after this process has \
                ended");
            return None;
        }
    };
    // Whoever may read the folder may ask, whatever the umask.
    if let Err(error) = std::fs::set_permissions(&path, Permissions::from_mode(0o660)) {
        tracing::warn!(path = %path.display(), %error, "the mode of the control socket cannot be set: only this user can ask");
    }
    let (db, backing_up) = (Arc::clone(&app.db), Arc::<AtomicUsize>::default());
    let answering = Answering {
        db,
        progress,
        clock: Arc::clone(&app.clock),
        inside,
        backups: Some((app.backups(), Arc::clone(&backing_up))),
    };
    let task = tokio::spawn(async move {
        loop {
            match listener.accept().await {
                Ok((stream, _)) => {
                    let answering = answering.clone();
                    tokio::spawn(async move {
                        if let Err(error) = converse(stream, answering).await {
                            tracing::debug!(%error, "control connection ended");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "control socket refuses connections");
                    tokio::time::sleep(std::time::Duration::from_secs(1)).await;
                }
            }
        }
    });
    Some(Control { task, path, backing_up })
}

/// What requests are answered from.
#[derive(Clone)]
struct Answering {
    db: Arc<dyn CrawlDb>,
    progress: Option<Progress>,
    clock: Arc<dyn Clock>,
    /// Of a service.
    inside: Option<(Wishes, Desk)>,
    /// With the number of those under way; None in tests.
    backups: Option<(Backups, Arc<AtomicUsize>)>,
}

/// Counts a backup until its answer is written.
struct UnderWay(Arc<AtomicUsize>);

impl UnderWay {
    fn of(count: &Arc<AtomicUsize>) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(Arc::clone(count))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn converse(stream: UnixStream, answering: Answering) -> anyhow::Result<()> {
    let peer = stream.peer_cred()?.uid();
    let (read, mut write) = stream.into_split();
    let mut read = BufReader::new(read);
    loop {
        let mut line = String::new();
        if (&mut read).take(limits::ASK_BYTES_MAX).read_line(&mut line).await? == 0 {
            return Ok(());
        }
        let mut under_way = None;
        let mut answer = match serde_json::from_str(&line) {
            Ok(Ask::Act(act)) => {
                let acted = match service_for(peer, answering.inside.as_ref()) {
                    Ok((wishes, _)) => wishes.ask(act).await,
                    Err(refused) => Err(refused),
                };
                serde_json::to_vec(&Answer::Ok(acted))?
            }
            Ok(Ask::Backup(wish)) => {
                let made = match &answering.backups {
                    Some((backups, count)) if is_allowed(peer) => {
                        under_way = Some(UnderWay::of(count));
                        backups.make_apart(wish).await
                    }
                    _ => Err(format!("{NOT_ALLOWED}\nhint: run it with sudo")),
                };
                serde_json::to_vec(&Answer::Ok(made))?
            }
            Ok(Ask::Answer { id, answer }) => {
                let done = match service_for(peer, answering.inside.as_ref()) {
                    Ok((_, alarms)) => alarms.answer(id, answer).await,
                    Err(refused) => Err(refused),
                };
                serde_json::to_vec(&Answer::Ok(done))?
            }
            Ok(ask) => answer(ask, &answering).await?,
            Err(error) => serde_json::to_vec(&Answer::<()>::Error(format!("not a valid request: {error}")))?,
        };
        answer.push(b'\n');
        write.write_all(&answer).await?;
        drop(under_way);
    }
}

const NOT_ALLOWED: &str = "only the owner of the data folder and root may do that";

/// True for whoever may have this process do something.
fn is_allowed(peer: u32) -> bool {
    peer == 0 || peer == rustix::process::geteuid().as_raw()
}

/// The service, for the folder's owner and root: others of its group may only ask.
fn service_for(peer: u32, inside: Option<&(Wishes, Desk)>) -> Result<&(Wishes, Desk), Refused> {
    let refused = |what: &str, hint: &str| Refused::NotNow { what: what.to_owned(), hint: hint.to_owned() };
    if !is_allowed(peer) {
        return Err(refused(NOT_ALLOWED, "run it with sudo"));
    }
    inside.ok_or_else(|| refused("no service holds this folder, but another command", "end it with Ctrl-C"))
}

/// Infohashes from hex; what is none finds nothing.
fn decoded(infohashes: &[String]) -> Vec<Vec<u8>> {
    infohashes.iter().map(|hash| HEXLOWER.decode(hash.as_bytes()).unwrap_or_default()).collect()
}

async fn answer(ask: Ask, answering: &Answering) -> anyhow::Result<Vec<u8>> {
    fn told<T: Serialize>(result: Result<T, impl std::fmt::Display>) -> anyhow::Result<Vec<u8>> {
        Ok(match result {
            Ok(value) => serde_json::to_vec(&Answer::Ok(value))?,
            Err(error) => serde_json::to_vec(&Answer::<()>::Error(error.to_string()))?,
        })
    }
    let live = Live { db: Arc::clone(&answering.db), progress: answering.progress.clone() };
    let (db, now) = (answering.db.as_ref(), answering.clock.now());
    match ask {
        Ask::Status => {
            let (alarms, alarms_away) = answering.inside.as_ref().map_or((0, 0), |(_, alarms)| alarms.open());
            let backups = answering.backups.as_ref().map(|(backups, _)| backups.status()).unwrap_or_default();
            told(live.report(now).await.map(|report| StatusReport { alarms, alarms_away, backups, ..report }))
        }
        Ask::Hosts => told(db.hosts().await),
        Ask::SiteCounts { site } => told(db.site_counts(&site).await),
        Ask::Torrents { after, rows_max } => told(db.torrents(after, rows_max).await),
        Ask::Newest { before, skip, rows_max } => told(db.newest(before, skip, rows_max).await),
        Ask::TorrentsAt { infohashes } => told(db.torrents_at(decoded(&infohashes)).await),
        Ask::MagnetsAt { infohashes } => told(db.magnets_at(decoded(&infohashes)).await),
        Ask::Labels => told(db.labels().await),
        Ask::Changes { after, rows_max } => told(db.changes(after, rows_max).await),
        Ask::Magnets { after, rows_max } => told(db.magnets(after, rows_max).await),
        Ask::Listings { site, after, rows_max } => told(db.listings(&site, after, rows_max).await),
        Ask::UrlLooks { site, after, rows_max } => told(db.url_looks(&site, after, rows_max).await),
        Ask::NotWhole { site } => told(db.not_whole(&site).await),
        Ask::Note { site, name } => {
            told(live.note(&site, &name).await.map(|note| note.map(|note| BASE64.encode(note))))
        }
        Ask::Url { site, origin, path } => told(queues::known_url(db, &site, &origin, &path).await),
        // Done before.
        Ask::Act(_) | Ask::Answer { .. } | Ask::Backup(_) => told(Err::<(), _>("not here")),
        Ask::Alarms => told(Ok::<_, String>(answering.inside.as_ref().map(|(_, alarms)| alarms.list()))),
        Ask::Queues { site, urls_max } => told(queues::queues(db, &site, urls_max).await),
    }
}

/// The database with the current notes of running sites: those on disk are minutes old.
pub(super) struct Live {
    pub(super) db: Arc<dyn CrawlDb>,
    pub(super) progress: Option<Progress>,
}

impl Live {
    /// The report of `status`, with what the running sites know and the disk does not yet.
    ///
    /// # Errors
    /// Errors of the database.
    pub(super) async fn report(&self, now: UnixMillis) -> Result<StatusReport, CrawlDbError> {
        status::report(self, self.progress.as_ref(), now).await
    }
}

#[async_trait::async_trait]
impl Reader for Live {
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError> {
        self.db.hosts().await
    }

    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError> {
        self.db.site_counts(site).await
    }

    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.db.torrents(after, rows_max).await
    }

    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.db.newest(before, skip, rows_max).await
    }

    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError> {
        self.db.torrents_at(infohashes).await
    }

    async fn labels(&self) -> Result<SiteLabels, CrawlDbError> {
        self.db.labels().await
    }

    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError> {
        self.db.changes(after, rows_max).await
    }

    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError> {
        self.db.magnets(after, rows_max).await
    }

    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError> {
        self.db.magnets_at(infohashes).await
    }

    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError> {
        self.db.listings(site, after, rows_max).await
    }

    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError> {
        self.db.url_looks(site, after, rows_max).await
    }

    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError> {
        self.db.not_whole(site).await
    }

    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError> {
        match self.progress.as_ref().and_then(|progress| progress.note(site, name)) {
            Some(note) => Ok(Some(note)),
            None => self.db.note(site, name).await,
        }
    }
}

/// Reads a data folder that another process holds.
pub struct Remote {
    path: PathBuf,
    stream: tokio::sync::Mutex<BufReader<UnixStream>>,
}

impl Remote {
    /// Connects; None if no process answers for the folder.
    pub async fn connect(data_dir: &Path) -> Option<Self> {
        let path = socket_path(data_dir);
        // No link of the owner's to a socket of somebody else. Not as the owner: one that exists only within its unit cannot get there from here.
        let (socket, folder) = (std::fs::symlink_metadata(&path).ok()?, std::fs::metadata(data_dir).ok()?);
        if !socket.file_type().is_socket() || socket.uid() != folder.uid() {
            return None;
        }
        let stream = UnixStream::connect(&path).await.ok()?;
        Some(Self { path, stream: tokio::sync::Mutex::new(BufReader::new(stream)) })
    }

    /// The live status.
    pub async fn status(&self) -> Result<StatusReport, CrawlDbError> {
        self.ask(&Ask::Status).await
    }

    /// Has the service do something.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn act(&self, act: Act) -> Result<Result<Acted, Refused>, CrawlDbError> {
        self.ask(&Ask::Act(act)).await
    }

    /// Has that process back up the folder, however long it takes.
    ///
    /// # Errors
    /// If it ends before; within, why there is no backup.
    pub async fn back_up(&self, wish: backups::Wish) -> Result<Result<Made, String>, CrawlDbError> {
        self.ask_within(&Ask::Backup(wish), None).await
    }

    /// The alarms of a service; None if another command holds the folder.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn alarms(&self) -> Result<Option<Vec<Alarm>>, CrawlDbError> {
        self.ask(&Ask::Alarms).await
    }

    /// Answers an alarm; within, the channels that took a test.
    ///
    /// # Errors
    /// If it does not answer.
    pub async fn answer(
        &self,
        id: String,
        answer: alarms::Answer,
    ) -> Result<Result<Vec<String>, Refused>, CrawlDbError> {
        self.ask(&Ask::Answer { id, answer }).await
    }

    /// The record of a URL of a site; None if there is none.
    pub(super) async fn known_url(
        &self,
        site: &str,
        origin: &str,
        path: &str,
    ) -> Result<Option<KnownUrl>, CrawlDbError> {
        let (site, origin, path) = (site.to_owned(), origin.to_owned(), path.to_owned());
        self.ask(&Ask::Url { site, origin, path }).await
    }

    /// The queues of a site's hosts, with the first URLs of each.
    pub(super) async fn queues(&self, site: &str, urls_max: usize) -> Result<Vec<HostQueue>, CrawlDbError> {
        self.ask(&Ask::Queues { site: site.to_owned(), urls_max }).await
    }

    async fn ask<T: serde::de::DeserializeOwned>(&self, ask: &Ask) -> Result<T, CrawlDbError> {
        self.ask_within(ask, Some(limits::ANSWER_TIME_MAX)).await
    }

    async fn ask_within<T: serde::de::DeserializeOwned>(
        &self,
        ask: &Ask,
        time_max: Option<Duration>,
    ) -> Result<T, CrawlDbError> {
        let fault = |detail: String| CrawlDbError::Storage { path: self.path.clone(), detail, full: false };
        let has_ended = || CrawlDbError::HolderEnded { path: self.path.clone() };
        let broke = |error: std::io::Error| match error.kind() {
            ErrorKind::BrokenPipe | ErrorKind::ConnectionReset => has_ended(),
            _ => fault(error.to_string()),
        };
        let mut stream = self.stream.lock().await;
        let mut line = serde_json::to_vec(ask).map_err(|error| fault(error.to_string()))?;
        line.push(b'\n');
        let mut answer = String::new();
        let asked = async {
            stream.get_mut().write_all(&line).await?;
            let mut bounded = (&mut *stream).take(limits::ANSWER_BYTES_MAX);
            bounded.read_line(&mut answer).await
        };
        let asked = match time_max {
            Some(time_max) => tokio::time::timeout(time_max, asked).await,
            None => Ok(asked.await),
        };
        let Ok(asked) = asked else {
            return Err(fault(
                "the process that holds the data folder does not answer\nhint: it is stopped, or the disk is very slow: `ps -C gleaner` \
                 shows its state (T: `kill -CONT`)"
                    .to_owned(),
            ));
        };
        asked.map_err(broke)?;
        if answer.is_empty() {
            return Err(has_ended());
        }
        if !answer.ends_with('\n') {
            return Err(fault(
                "the response of the process that holds the data folder is too long or was cut short".to_owned(),
            ));
        }
        match serde_json::from_str(&answer).map_err(|error| fault(error.to_string()))? {
            Answer::Ok(value) => Ok(value),
            Answer::Error(error) => Err(fault(error)),
        }
    }
}

#[async_trait::async_trait]
impl Reader for Remote {
    async fn hosts(&self) -> Result<Vec<HostRow>, CrawlDbError> {
        self.ask(&Ask::Hosts).await
    }

    async fn site_counts(&self, site: &str) -> Result<SiteCounts, CrawlDbError> {
        self.ask(&Ask::SiteCounts { site: site.to_owned() }).await
    }

    async fn torrents(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.ask(&Ask::Torrents { after, rows_max }).await
    }

    async fn newest(
        &self,
        before: Option<Stored>,
        skip: usize,
        rows_max: usize,
    ) -> Result<Vec<TorrentRow>, CrawlDbError> {
        self.ask(&Ask::Newest { before, skip, rows_max }).await
    }

    async fn torrents_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<TorrentRow>>, CrawlDbError> {
        let mut rows = Vec::with_capacity(infohashes.len());
        for part in infohashes.chunks(limits::HASHES_ASKED_MAX) {
            let infohashes = part.iter().map(|hash| HEXLOWER.encode(hash)).collect();
            rows.extend(self.ask::<Vec<_>>(&Ask::TorrentsAt { infohashes }).await?);
        }
        Ok(rows)
    }

    async fn labels(&self) -> Result<SiteLabels, CrawlDbError> {
        self.ask(&Ask::Labels).await
    }

    async fn changes(&self, after: u64, rows_max: usize) -> Result<Changes, CrawlDbError> {
        self.ask(&Ask::Changes { after, rows_max }).await
    }

    async fn magnets(&self, after: Option<Vec<u8>>, rows_max: usize) -> Result<Vec<MagnetRow>, CrawlDbError> {
        self.ask(&Ask::Magnets { after, rows_max }).await
    }

    async fn magnets_at(&self, infohashes: Vec<Vec<u8>>) -> Result<Vec<Option<MagnetRow>>, CrawlDbError> {
        let mut rows = Vec::with_capacity(infohashes.len());
        for part in infohashes.chunks(limits::HASHES_ASKED_MAX) {
            let infohashes = part.iter().map(|hash| HEXLOWER.encode(hash)).collect();
            rows.extend(self.ask::<Vec<_>>(&Ask::MagnetsAt { infohashes }).await?);
        }
        Ok(rows)
    }

    async fn listings(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>, u64)>,
        rows_max: usize,
    ) -> Result<Vec<ListingRow>, CrawlDbError> {
        self.ask(&Ask::Listings { site: site.to_owned(), after, rows_max }).await
    }

    async fn url_looks(
        &self,
        site: &str,
        after: Option<(HostId, Box<str>)>,
        rows_max: usize,
    ) -> Result<UrlLooks, CrawlDbError> {
        self.ask(&Ask::UrlLooks { site: site.to_owned(), after, rows_max }).await
    }

    async fn not_whole(&self, site: &str) -> Result<Vec<NotWholeRow>, CrawlDbError> {
        self.ask(&Ask::NotWhole { site: site.to_owned() }).await
    }

    async fn note(&self, site: &str, name: &str) -> Result<Option<Vec<u8>>, CrawlDbError> {
        let note: Option<String> = self.ask(&Ask::Note { site: site.to_owned(), name: name.to_owned() }).await?;
        let decoded = note.map(|note| BASE64.decode(note)).transpose();
        decoded.map_err(|error| CrawlDbError::Storage {
            path: self.path.clone(),
            detail: error.to_string(),
            full: false,
        })
    }
}

#[cfg(test)]
mod tests;
