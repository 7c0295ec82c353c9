//! Backups of an open data folder: those that a command asks for over the control socket, and those that the service makes by itself.
//! Each on a thread of its own, one at a time; one whose disk does not answer is given up, and holds up no other.

pub mod times;

use std::collections::BTreeMap;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::App;
use super::niceness::be_nice;
use crate::limits::{BACKUP_HANG_TIME_MAX, BACKUP_STOP_TIME_MAX};
use gleaner_base::clock::{Clock, UnixMillis};
use gleaner_base::place;
use gleaner_rules::config::backup::Backup;
use gleaner_store::backup::{self, Attempt, BackupError, Made, Part, Wanted};
use gleaner_store::crawldb::redb_store::RedbStore;
use gleaner_store::crawldb::update::UpdateDb;
use gleaner_torrent::archive::Archive;

/// Between two looks at whether a backup is due.
const LOOK: Duration = Duration::from_secs(10);

/// Between two looks at whether the service ends.
const STOP_LOOK: Duration = Duration::from_millis(50);

const INCONSISTENT: &str = "the backup stopped at an inconsistency: `gleaner verify` has more";

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
    turn: Mutex<Turn>,
    /// When this process has finished its last ones, by their places, whether or not that could be noted.
    last: Mutex<BTreeMap<PathBuf, UnixMillis>>,
}

/// What is being made.
#[derive(Default)]
struct Turn {
    under_way: Option<UnderWay>,
    /// Those that were given up, and whose threads wait for their disks.
    hung: Vec<UnderWay>,
    /// Where to, and why the last one that the service wanted by itself was not made.
    fault: Option<(PathBuf, String)>,
    is_over: bool,
}

/// Why there is no backup.
#[derive(Debug)]
struct NotMade {
    told: String,
    /// Another one is under way, which is no fault.
    is_busy: bool,
}

impl From<String> for NotMade {
    fn from(told: String) -> Self {
        Self { told, is_busy: false }
    }
}

#[derive(Clone)]
struct UnderWay {
    attempt: Arc<Attempt>,
    to: PathBuf,
    since: UnixMillis,
}

/// How it stands with the backups of a data folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(default)]
pub struct BackupsStatus {
    /// When the last one was finished at each place, in milliseconds since 1970.
    pub last: BTreeMap<String, UnixMillis>,
    /// The one that is being made.
    pub under_way: Option<BackupUnderWay>,
    /// Those that were given up, as their disks do not answer.
    pub hung: Vec<BackupUnderWay>,
    /// Why the last one that the service wanted by itself was not made; it is tried again.
    pub fault: Option<String>,
}

/// A backup that is not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
pub struct BackupUnderWay {
    pub to: String,
    /// Since when (UTC).
    pub since: String,
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
        let (turn, last) = (Mutex::default(), Mutex::default());
        Self(Arc::new(Parts { store, update, archive, clock, data_dir, rules_dir, config_file, turn, last }))
    }

    /// Makes one, and notes when. Returns once it is whole, or stands still for too long: then a thread is left that waits for its disk.
    ///
    /// # Errors
    /// Why there is none, with a hint.
    pub fn make(&self, wish: Wish) -> Result<Made, String> {
        self.make_within(wish, BACKUP_HANG_TIME_MAX).map_err(|error| error.told)
    }

    /// The same with another time for which it may stand still.
    fn make_within(&self, wish: Wish, hang: Duration) -> Result<Made, NotMade> {
        let (parts, place) = (&*self.0, wish.to.clone());
        let attempt = parts.begin(&place)?;
        let (told, heard) = mpsc::sync_channel(1);
        let (of_thread, mine) = (Arc::clone(&self.0), Arc::clone(&attempt));
        // Threads that this one starts have its priority.
        let started = std::thread::Builder::new().name("backup".to_owned()).spawn(move || {
            let made = std::panic::catch_unwind(AssertUnwindSafe(|| {
                let to = wish.to.clone();
                // Noted here: it is also whole if it was given up while it got its name.
                of_thread.write(wish, &mine).inspect(|_| of_thread.note(&to))
            }));
            of_thread.end(&mine);
            let _ = told.send(made.unwrap_or_else(|_| Err(INCONSISTENT.to_owned().into())));
        });
        if let Err(error) = started {
            parts.end(&attempt);
            return Err(format!("the backup has no thread: {error}").into());
        }
        let (mut steps, mut waited) = (0, Duration::ZERO);
        loop {
            match heard.recv_timeout(STOP_LOOK) {
                Ok(made) => return made,
                Err(RecvTimeoutError::Disconnected) => return Err(INCONSISTENT.to_owned().into()),
                Err(RecvTimeoutError::Timeout) => {}
            }
            let now = attempt.steps.load(Ordering::Relaxed);
            waited = if now == steps { waited + STOP_LOOK } else { Duration::ZERO };
            steps = now;
            if waited >= hang {
                parts.give_up(&attempt);
                return Err(hangs(&place, waited).into());
            }
        }
    }

    /// Ends the backup that is under way, and all that are asked for from now on.
    pub fn end(&self) {
        let mut turn = self.0.turn();
        turn.is_over = true;
        let all = turn.under_way.iter().chain(&turn.hung);
        all.for_each(|of| of.attempt.stop.store(true, Ordering::Relaxed));
    }

    /// Why the service has no new backup, in a line.
    #[must_use]
    pub fn fault(&self) -> Option<String> {
        self.0.turn().fault.as_ref().map(|(_, fault)| fault.split(" · ").next().unwrap_or_default().to_owned())
    }

    /// How it stands.
    #[must_use]
    pub fn status(&self) -> BackupsStatus {
        let told = |of: &UnderWay| BackupUnderWay { to: of.to.display().to_string(), since: of.since.rfc3339() };
        // The disk before the lock, for which those who make backups wait.
        let mut last = times::all(&self.0.data_dir);
        last.extend(self.0.known().iter().map(|(to, at)| (times::named(to), *at)));
        let turn = self.0.turn();
        BackupsStatus {
            last,
            under_way: turn.under_way.as_ref().map(told),
            hung: turn.hung.iter().map(told).collect(),
            fault: turn.fault.as_ref().map(|(_, fault)| fault.clone()),
        }
    }

    /// When the last one was finished at a place, or anywhere; None for never.
    #[must_use]
    pub fn last(&self, to: Option<&Path>) -> Option<UnixMillis> {
        match to {
            Some(to) => self.0.last(to),
            None => self.0.known().values().copied().max().max(times::last(&self.0.data_dir, None)),
        }
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
        heard.await.unwrap_or_else(|_| Err(INCONSISTENT.to_owned()))
    }
}

impl Parts {
    fn turn(&self) -> MutexGuard<'_, Turn> {
        // Each change is one assignment.
        self.turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the turn.
    fn begin(&self, to: &Path) -> Result<Arc<Attempt>, NotMade> {
        let mut turn = self.turn();
        if let Some(hung) = turn.hung.iter().find(|of| of.to == to) {
            let since = hung.since.rfc3339();
            return Err(format!(
                "{}: the backup of {since} still waits for this disk\nhint: check the disk, or back up to another place",
                to.display()
            )
            .into());
        }
        match turn.under_way {
            _ if turn.is_over => Err("the service is about to end\nhint: run the same command again".to_owned().into()),
            Some(_) => {
                let told = "another backup of this folder is under way\nhint: wait for its end".to_owned();
                Err(NotMade { told, is_busy: true })
            }
            None => {
                let attempt = Arc::<Attempt>::default();
                let under_way = UnderWay { attempt: Arc::clone(&attempt), to: to.to_owned(), since: self.clock.now() };
                turn.under_way = Some(under_way);
                Ok(attempt)
            }
        }
    }

    /// Its thread has ended.
    fn end(&self, attempt: &Arc<Attempt>) {
        let mut turn = self.turn();
        turn.under_way.take_if(|of| Arc::ptr_eq(&of.attempt, attempt));
        turn.hung.retain(|of| !Arc::ptr_eq(&of.attempt, attempt));
    }

    /// Lets the next one begin, though its thread has not ended.
    fn give_up(&self, attempt: &Arc<Attempt>) {
        attempt.stop.store(true, Ordering::Relaxed);
        let mut turn = self.turn();
        let hung = turn.under_way.take_if(|of| Arc::ptr_eq(&of.attempt, attempt));
        turn.hung.extend(hung);
    }

    fn write(&self, wish: Wish, attempt: &Attempt) -> Result<Made, NotMade> {
        let wanted = Wanted {
            dest: wish.to,
            keep: wish.keep,
            data_dir: self.data_dir.clone(),
            parts: self.small(wish.with_secrets),
            with_secrets: wish.with_secrets,
        };
        let made = backup::backup((&self.store, &self.update, &self.archive), &wanted, self.clock.now(), attempt);
        made.map_err(|error| NotMade { is_busy: matches!(error, BackupError::Busy { .. }), told: error.to_string() })
    }

    /// One is finished at a place.
    fn note(&self, to: &Path) {
        let done = self.clock.now();
        self.known().insert(to.to_owned(), done);
        // Whoever has made it.
        self.turn().fault.take_if(|(of, _)| of == to);
        if let Err(error) = times::note(&self.data_dir, to, done) {
            let path = self.data_dir.join("backup-last");
            tracing::warn!(%error, path = %path.display(), "the backup is whole, but its time cannot be noted");
        }
    }

    /// When the last backup was finished at a place. What this process knows counts more than the file, which may not be writable: a backup that
    /// were due again at once would push all earlier ones out of their folder.
    fn last(&self, to: &Path) -> Option<UnixMillis> {
        let to = std::path::absolute(to).unwrap_or_else(|_| to.to_owned());
        let known = self.known().get(&to).copied();
        known.or_else(|| times::last(&self.data_dir, Some(&to)))
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<PathBuf, UnixMillis>> {
        self.last.lock().unwrap_or_else(PoisonError::into_inner)
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

/// One that stands still.
fn hangs(to: &Path, waited: Duration) -> String {
    format!(
        "{}: the backup has stood still for {} minutes: this disk does not answer, or is far too slow; the backup is given up\nhint: check the disk, or name another place",
        to.display(),
        waited.as_secs() / 60
    )
}

fn tell(made: &Made) {
    let path = made.path.display();
    tracing::info!(%path, torrents = made.torrents, new = made.new_torrents, bytes = made.bytes_written, "a backup is made");
    if let Some(note) = &made.note {
        tracing::warn!(note, "the backup is whole, but its folder is not tidy");
    }
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
        let is_over =
            || self.thread.as_ref().is_none_or(JoinHandle::is_finished) && self.backups.0.turn().under_way.is_none();
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
    let to = std::path::absolute(&wanted.to).unwrap_or_else(|_| wanted.to.clone());
    while !stop.load(Ordering::Relaxed) {
        if !is_due(parts.last(&to), wanted.every, parts.clock.now()) {
            if parts.turn().fault.is_none() {
                told.clear();
            }
            wait(LOOK, stop);
            continue;
        }
        let wish = Wish { to: to.clone(), keep: Some(wanted.keep), with_secrets: wanted.with_secrets };
        let error = match backups.make_within(wish, BACKUP_HANG_TIME_MAX) {
            Ok(made) => {
                tell(&made);
                told.clear();
                wait(LOOK, stop);
                continue;
            }
            Err(_) if stop.load(Ordering::Relaxed) => return,
            Err(NotMade { is_busy: true, told }) => {
                tracing::debug!(why = told, "the backup waits");
                wait(LOOK, stop);
                continue;
            }
            Err(error) => error.told.replace('\n', " · "),
        };
        parts.turn().fault = Some((to.clone(), error.clone()));
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
    backup::must_not_be_other_archive(&path)?;
    if backup::is_archive(&path)
        && let Some((above, what)) = path.parent().and_then(place::in_the_way)
    {
        anyhow::bail!("{}: is {what}, not a folder\nhint: name another place", above.display());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

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
    fn a_backup_whose_time_cannot_be_noted_is_not_due_again() {
        let here = tempfile::tempdir().unwrap();
        let data_dir = here.path().join("data");
        // Nothing can be renamed to a folder.
        std::fs::create_dir_all(data_dir.join("backup-last")).unwrap();
        let app = App::open(&crate::app::Options { data_dir: data_dir.clone(), ..Default::default() }).unwrap();
        let backups = app.backups();
        for name in ["alarms", "exports"] {
            std::fs::create_dir(data_dir.join(name)).unwrap();
            std::fs::write(data_dir.join(name).join("state.json"), "{}").unwrap();
        }
        let to = here.path().join("to");
        let made = backups.make(Wish { to: to.clone(), keep: Some(2), with_secrets: false }).unwrap();
        assert_eq!(times::last(&data_dir, None), None);
        let parts = &*backups.0;
        // One elsewhere is another one.
        assert!(is_due(parts.last(&here.path().join("other")), Duration::from_secs(600), parts.clock.now()));
        assert!(!is_due(parts.last(&to), Duration::from_secs(600), parts.clock.now()));
        assert!(
            made.path.join("data/alarms/state.json").exists() && made.path.join("data/exports/state.json").exists()
        );
    }

    #[test]
    fn a_disk_that_does_not_answer_holds_up_no_backup_to_another() {
        let here = tempfile::tempdir().unwrap();
        let data_dir = here.path().join("data");
        let app = App::open(&crate::app::Options { data_dir, ..Default::default() }).unwrap();
        let backups = app.backups();
        let wish = |name: &str| Wish { to: here.path().join(name), keep: None, with_secrets: false };
        backups.make(wish("slow")).unwrap();
        // Whoever reads more of this pipe than its one byte waits, as for a disk that does not answer.
        let pipe = here.path().join("slow/torrents/.checked");
        std::fs::remove_file(&pipe).unwrap();
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        let mut disk = std::fs::OpenOptions::new().read(true).write(true).open(&pipe).unwrap();
        disk.write_all(b"0").unwrap();
        // On a machine that stands still itself, the backup may be given up before it comes to the pipe.
        let mut hang = STOP_LOOK * 4;
        while rustix::io::ioctl_fionread(&disk).unwrap() > 0 {
            let told = backups.make_within(wish("slow"), hang).unwrap_err().told;
            assert!(told.contains("this disk does not answer"), "{told}");
            let has_come = || backups.status().hung.is_empty() || rustix::io::ioctl_fionread(&disk).unwrap() == 0;
            assert!((0..1_000).any(|_| {
                std::thread::sleep(STOP_LOOK);
                has_come()
            }));
            hang *= 2;
        }
        let told = backups.make(wish("slow")).unwrap_err();
        assert!(told.contains("still waits for this disk"), "{told}");
        let noted = backups.last(Some(&wish("slow").to));
        backups.make(wish("other")).unwrap();
        let status = backups.status();
        assert_eq!((status.hung.len(), status.under_way), (1, None));
        assert!(status.hung[0].to.ends_with("/slow"), "{:?}", status.hung);
        // It answers again.
        drop(disk);
        let ends = (0..1_000).any(|_| {
            std::thread::sleep(STOP_LOOK);
            backups.status().hung.is_empty()
        });
        assert!(ends, "{:?}", backups.status().hung);
        let states = || {
            let names = std::fs::read_dir(here.path().join("slow")).unwrap().map(|entry| entry.unwrap().file_name());
            names.filter(|name| name.to_string_lossy().starts_with("20")).count()
        };
        assert_eq!((states(), backups.last(Some(&wish("slow").to))), (1, noted), "what was given up does not turn up");
        std::fs::remove_file(&pipe).unwrap();
        backups.make(wish("slow")).unwrap();
        assert_eq!(states(), 2);
    }

    #[test]
    fn a_backup_by_hand_to_the_same_place_ends_the_fault_and_a_busy_place_is_none() {
        let here = tempfile::tempdir().unwrap();
        let data_dir = here.path().join("data");
        let app = App::open(&crate::app::Options { data_dir, ..Default::default() }).unwrap();
        let backups = app.backups();
        let wish = |name: &str| Wish { to: here.path().join(name), keep: None, with_secrets: false };
        backups.0.turn().fault = Some((wish("own").to, "no room · hint: more".to_owned()));
        backups.make(wish("other")).unwrap();
        assert_eq!(backups.fault().as_deref(), Some("no room"));
        backups.make(wish("own")).unwrap();
        assert_eq!((backups.fault(), backups.status().fault), (None, None));
        assert_eq!(backups.last(None), backups.last(Some(&wish("own").to)));
        let held = std::fs::File::open(wish("own").to).unwrap();
        held.lock().unwrap();
        assert!(backups.make_within(wish("own"), BACKUP_HANG_TIME_MAX).unwrap_err().is_busy);
        drop(held);
        let attempt = backups.0.begin(&wish("own").to).unwrap();
        assert!(backups.0.begin(&wish("other").to).unwrap_err().is_busy);
        backups.0.end(&attempt);
    }
}
