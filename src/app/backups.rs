//! Backups of an open data folder: those that a command asks for over the control socket, and those that the service makes by itself.
//! Each on a thread of its own, one at a time.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, TryLockError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::App;
use super::finding::be_nice;
use crate::limits::{BACKUP_LAST_BYTES_MAX, BACKUP_STOP_TIME_MAX};
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::{place, regular};
use gleaner_rules::config::backup::Backup;
use gleaner_store::backup::{self, Made, Part, Wanted};
use gleaner_store::crawldb::redb_store::RedbStore;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_torrent::archive::Archive;

/// Between two looks at whether a backup is due.
const LOOK: Duration = Duration::from_secs(10);

/// Between two looks at whether the service ends.
const STOP_LOOK: Duration = Duration::from_millis(50);

/// Until a backup that failed is tried again.
const RETRY: Duration = Duration::from_secs(600);

/// Small files of the data folder that are backed up, ...
const OWN: [&str; 6] = ["alarms", "exports", "handover", "proposed", "searches.json", "sources.refused"];

/// ... and those that admit to sites or to this program.
const SECRETS: [&str; 5] = ["secrets", "sessions", "tokens.json", "tokens.used.json", "tokens.revoked.json"];

/// What a command asks for.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Wish {
    /// From the root of the file system.
    pub to: PathBuf,
    pub keep: Option<usize>,
    pub with_secrets: bool,
}

/// Makes backups of an open data folder.
#[derive(Clone)]
pub struct Backups(Arc<Parts>);

struct Parts {
    store: Arc<RedbStore>,
    update: Arc<UpdateDb>,
    archive: Arc<Archive>,
    clock: Arc<dyn Clock>,
    data_dir: PathBuf,
    rules_dir: Option<PathBuf>,
    config_file: Option<PathBuf>,
    /// Held during a backup.
    turn: Mutex<()>,
    /// When this process has finished its last one, whether or not that could be noted.
    last: Mutex<Option<UnixMillis>>,
    /// Ends a backup that is under way.
    stop: AtomicBool,
}

impl App {
    /// Backups of this folder.
    #[must_use]
    pub fn backups(&self) -> Backups {
        self.backups.clone()
    }
}

impl Backups {
    pub(super) fn new(
        (store, update, archive): (Arc<RedbStore>, Arc<UpdateDb>, Arc<Archive>),
        clock: Arc<dyn Clock>,
        options: &super::Options,
    ) -> Self {
        let super::Options { data_dir, rules_dir, config_file, .. } = options.clone();
        let (turn, last, stop) = (Mutex::default(), Mutex::default(), AtomicBool::default());
        Self(Arc::new(Parts { store, update, archive, clock, data_dir, rules_dir, config_file, turn, last, stop }))
    }

    /// Makes one, on this thread, and notes when.
    ///
    /// # Errors
    /// Why there is none, with a hint.
    pub fn make(&self, wish: Wish) -> Result<Made, String> {
        let parts = &*self.0;
        let _turn = match parts.turn.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err("another backup of this folder is under way\nhint: wait for its end".to_owned());
            }
            turn => turn,
        };
        let wanted = Wanted {
            dest: wish.to,
            keep: wish.keep,
            data_dir: parts.data_dir.clone(),
            parts: parts.small(wish.with_secrets),
            with_secrets: wish.with_secrets,
        };
        let now = parts.clock.now();
        let made = backup::backup((&parts.store, &parts.update, &parts.archive), &wanted, now, &parts.stop);
        let made = made.map_err(|error| error.to_string())?;
        let done = parts.clock.now();
        *parts.last.lock().unwrap_or_else(PoisonError::into_inner) = Some(done);
        if let Err(error) = note(&parts.data_dir, done) {
            let path = last_path(&parts.data_dir);
            tracing::warn!(%error, path = %path.display(), "the backup is whole, but its time cannot be noted");
        }
        Ok(made)
    }

    /// Ends the backup that is under way, and all that are asked for from now on.
    pub fn end(&self) {
        self.0.stop.store(true, Ordering::Relaxed);
    }

    /// The same on a thread of its own.
    pub(super) async fn make_apart(&self, wish: Wish) -> Result<Made, String> {
        let (told, heard) = oneshot::channel();
        let backups = self.clone();
        let run = move || {
            be_nice();
            let to = wish.to.display().to_string();
            let made = backups.make(wish);
            match &made {
                Ok(made) => tell(made),
                Err(error) => {
                    let error = error.replace('\n', " · ");
                    tracing::error!(to, error, "the backup that a command asked for failed");
                }
            }
            // Whoever asked may be gone.
            let _ = told.send(made);
        };
        let started = std::thread::Builder::new().name("backup".to_owned()).spawn(run);
        started.map_err(|error| format!("the backup has no thread: {error}"))?;
        heard
            .await
            .unwrap_or_else(|_| Err("the backup stopped at an inconsistency: `gleaner verify` has more".to_owned()))
    }
}

impl Parts {
    /// When the last backup was finished. What this process knows counts more than the file, which may not be writable: a backup that
    /// were due again at once would push all earlier ones out of their folder.
    fn last(&self) -> Option<UnixMillis> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).or_else(|| last(&self.data_dir))
    }

    /// What is backed up beside databases and archive.
    fn small(&self, with_secrets: bool) -> Vec<Part> {
        let own = |name: &&str| Part { from: self.data_dir.join(name), to: format!("data/{name}") };
        let secret = |name: &&str| Part { from: self.data_dir.join(name), to: format!("secrets/{name}") };
        let mut parts: Vec<Part> = OWN.iter().map(own).collect();
        let named = |from: &Option<PathBuf>, to: &str| from.clone().map(|from| Part { from, to: to.to_owned() });
        parts.extend(named(&self.config_file, "config/gleaner.toml"));
        parts.extend(named(&self.rules_dir, "rules"));
        if with_secrets {
            parts.extend(SECRETS.iter().map(secret));
            parts.extend(self.credentials());
        }
        parts
    }

    /// Passwords that systemd gave this process; restored, they are files of the data folder.
    fn credentials(&self) -> Vec<Part> {
        let folder = std::env::var_os("CREDENTIALS_DIRECTORY").map(PathBuf::from);
        let entries = folder.and_then(|folder| std::fs::read_dir(folder).ok()).into_iter().flatten().flatten();
        let part = |entry: std::fs::DirEntry| {
            let name = entry.file_name().to_str()?.strip_prefix("gleaner-")?.to_owned();
            let is_there = self.data_dir.join("secrets").join(&name).exists();
            (!is_there).then(|| Part { from: entry.path(), to: format!("secrets/secrets/{name}") })
        };
        entries.filter_map(part).collect()
    }
}

fn last_path(data_dir: &Path) -> PathBuf {
    data_dir.join("backup-last")
}

/// When the last backup of a data folder was finished; None for never.
#[must_use]
pub fn last(data_dir: &Path) -> Option<UnixMillis> {
    use std::io::Read as _;
    let mut text = String::new();
    let file = regular::open(&last_path(data_dir)).ok()?;
    file.take(BACKUP_LAST_BYTES_MAX).read_to_string(&mut text).ok()?;
    text.trim().parse().ok().map(UnixMillis)
}

fn note(data_dir: &Path, now: UnixMillis) -> std::io::Result<()> {
    let (path, new) = (last_path(data_dir), data_dir.join(".backup-last"));
    std::fs::write(&new, format!("{}\n", now.0))?;
    std::fs::rename(new, path)
}

fn tell(made: &Made) {
    let path = made.path.display();
    tracing::info!(%path, torrents = made.torrents, new = made.new_torrents, bytes = made.bytes_written, "a backup is made");
    if made.left_out > 0 {
        tracing::warn!(
            torrents = made.left_out,
            "torrents are not in the backup, as their files are lost or damaged (hint: gleaner verify --repair)"
        );
    }
}

/// The thread of `[backup]`. Dropped, it ends; what it is writing is removed.
pub struct BackingUp {
    backups: Backups,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl BackingUp {
    /// Starts the thread, if backups are wanted.
    ///
    /// # Errors
    /// If the system gives no thread.
    pub fn start(app: &App, wanted: Option<&Backup>) -> std::io::Result<Self> {
        let (backups, stop) = (app.backups(), Arc::new(AtomicBool::new(false)));
        let mut thread = None;
        if let Some(wanted) = wanted.cloned() {
            let (backups, stop) = (backups.clone(), Arc::clone(&stop));
            let run = move || {
                be_nice();
                keep_up(&backups, &wanted, &stop);
            };
            thread = Some(std::thread::Builder::new().name("backup".to_owned()).spawn(run)?);
        }
        Ok(Self { backups, stop, thread })
    }
}

impl Drop for BackingUp {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        // One that a command has asked for, too.
        self.backups.end();
        let is_over = || {
            self.thread.as_ref().is_none_or(JoinHandle::is_finished)
                && !matches!(self.backups.0.turn.try_lock(), Err(TryLockError::WouldBlock))
        };
        let mut left = BACKUP_STOP_TIME_MAX;
        while !is_over() && !left.is_zero() {
            std::thread::sleep(STOP_LOOK);
            left = left.saturating_sub(STOP_LOOK);
        }
        if !is_over() {
            tracing::warn!("the disk of the backup does not answer: the backup is cut off, earlier ones are whole");
        }
    }
}

/// True if the time of a backup has come; a last one of the future was noted by a clock that was wrong.
fn is_due(last: Option<UnixMillis>, every: Duration, now: UnixMillis) -> bool {
    last.is_none_or(|last| last > now || now.since(last) >= every)
}

fn keep_up(backups: &Backups, wanted: &Backup, stop: &AtomicBool) {
    let mut told = String::new();
    let parts = &*backups.0;
    while !stop.load(Ordering::Relaxed) {
        if !is_due(parts.last(), wanted.every, parts.clock.now()) {
            wait(LOOK, stop);
            continue;
        }
        let Backup { to, keep, with_secrets, .. } = wanted.clone();
        let wish = Wish { to, keep: Some(keep), with_secrets };
        let made = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| backups.make(wish)));
        let error = match made {
            Ok(Ok(made)) => {
                tell(&made);
                told.clear();
                wait(LOOK, stop);
                continue;
            }
            Ok(Err(_)) if stop.load(Ordering::Relaxed) => return,
            Ok(Err(error)) => error.replace('\n', " · "),
            Err(_) => "it stopped at an inconsistency".to_owned(),
        };
        // Once for each error: a disk may be away for days.
        if error != told {
            tracing::error!(error, "no backup is made: it is tried again every {} minutes", RETRY.as_secs() / 60);
            told = error;
        }
        wait(RETRY, stop);
    }
}

fn wait(time: Duration, stop: &AtomicBool) {
    let mut left = time;
    while !left.is_zero() && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(left.min(STOP_LOOK));
        left = left.saturating_sub(STOP_LOOK);
    }
}

/// A destination from the root of the file system, since another process writes it.
///
/// # Errors
/// For an empty one, and for what no backup can be.
pub fn absolute(to: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(to).map_err(|error| anyhow::anyhow!("{}: {error}", to.display()))?;
    if path.file_name().is_none() {
        anyhow::bail!("{}: this cannot be the folder of backups\nhint: name a folder of its own", to.display());
    }
    if backup::is_archive(&path)
        && let Some((above, what)) = path.parent().and_then(place::in_the_way)
    {
        anyhow::bail!("{}: is {what}, not a folder\nhint: name another place", above.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_backup_is_due_after_its_time_and_when_the_clock_was_wrong() {
        let (hour, now) = (Duration::from_secs(3_600), UnixMillis(10_000_000));
        assert!(is_due(None, hour, now));
        assert!(!is_due(Some(now), hour, now));
        assert!(!is_due(Some(UnixMillis(now.0 - 3_599_999)), hour, now));
        assert!(is_due(Some(UnixMillis(now.0 - 3_600_000)), hour, now));
        assert!(is_due(Some(UnixMillis(now.0 + 1)), hour, now), "the clock was set back");
    }

    #[test]
    fn the_time_of_the_last_backup_is_read_back_and_nonsense_is_none() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(last(folder.path()), None);
        note(folder.path(), UnixMillis(1_795_651_200_000)).unwrap();
        assert_eq!(last(folder.path()), Some(UnixMillis(1_795_651_200_000)));
        std::fs::write(last_path(folder.path()), "soon").unwrap();
        assert_eq!(last(folder.path()), None);
    }

    #[test]
    fn a_backup_whose_time_cannot_be_noted_is_not_due_again() {
        let here = tempfile::tempdir().unwrap();
        let data_dir = here.path().join("data");
        // Nothing can be renamed to a folder.
        std::fs::create_dir_all(last_path(&data_dir)).unwrap();
        let app = App::open(&crate::app::Options { data_dir: data_dir.clone(), ..Default::default() }).unwrap();
        let backups = app.backups();
        for name in ["alarms", "exports"] {
            std::fs::create_dir(data_dir.join(name)).unwrap();
            std::fs::write(data_dir.join(name).join("state.json"), "{}").unwrap();
        }
        let made = backups.make(Wish { to: here.path().join("to"), keep: Some(2), with_secrets: false }).unwrap();
        assert_eq!(last(&data_dir), None);
        let parts = &*backups.0;
        assert!(!is_due(parts.last(), Duration::from_secs(600), parts.clock.now()));
        assert!(
            made.path.join("data/alarms/state.json").exists() && made.path.join("data/exports/state.json").exists()
        );
    }
}
