//! The account of each site on the disk: its cookies in `sessions/<site>.json` of the data folder, what its logins forbid in
//! `sessions/tries/<site>.json`; readable by their owner alone, written whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::secrets;
use crate::clock::UnixMillis;
use crate::crawl::account::{Keeper, Turn};
use crate::fetch::session::Jar;
use crate::login::secret::Secret;
use crate::login::tries::Tries;

fn file_of(data_dir: &Path, site: &str) -> PathBuf {
    data_dir.join("sessions").join(format!("{site}.json"))
}

/// Takes up a site's cookies; none where there is no file.
///
/// # Errors
/// Where the file cannot be read, or is no list of cookies.
pub fn load(data_dir: &Path, site: &str, jar: &Jar) -> anyhow::Result<usize> {
    let path = file_of(data_dir, site);
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(0),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let hint = || format!("{}\nhint: remove the file and log in again: gleaner login {site}", path.display());
    jar.take_up(&bytes).with_context(hint)
}

/// Writes a site's cookies down, in place of those before.
///
/// # Errors
/// Where the folder or the file cannot be written; the file before is then still there.
pub fn save(data_dir: &Path, site: &str, jar: &Jar) -> anyhow::Result<PathBuf> {
    write(&data_dir.join("sessions"), site, &jar.to_bytes())
}

/// What earlier logins of a site forbid; nothing where there is no file.
///
/// # Errors
/// Where the file cannot be read, or is none of ours: no login may go on that guess.
pub fn tries(data_dir: &Path, site: &str) -> anyhow::Result<Tries> {
    let path = tries_folder(data_dir).join(format!("{site}.json"));
    let bytes = match fs::read(&path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Tries::default()),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    serde_json::from_slice(&bytes).with_context(|| {
        format!("{}: unreadable\nhint: see that the account is not locked, then remove the file", path.display())
    })
}

/// Writes down what the logins of a site forbid.
///
/// # Errors
/// As [`save`].
pub fn save_tries(data_dir: &Path, site: &str, tries: &Tries) -> anyhow::Result<()> {
    write(&tries_folder(data_dir), site, &serde_json::to_vec(tries)?).map(|_| ())
}

/// The right to log in to a site, which one process has at a time; None while another has it.
///
/// # Errors
/// Where its file cannot be made.
pub fn turn(data_dir: &Path, site: &str) -> anyhow::Result<Option<File>> {
    let folder = tries_folder(data_dir);
    secrets::private_folder(&folder).with_context(|| folder.display().to_string())?;
    let path = folder.join(format!("{site}.lock"));
    let open = OpenOptions::new().write(true).create(true).truncate(false).mode(0o600).open(&path);
    let opened = open.and_then(|file| secrets::belongs_to_its_folder(&path).map(|()| file));
    let file = opened.with_context(|| path.display().to_string())?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// True while a process has the right to log in to a site; asks without taking it from anybody.
#[must_use]
pub fn is_logging_in(data_dir: &Path, site: &str) -> bool {
    let lock = File::open(tries_folder(data_dir).join(format!("{site}.lock")));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// When the session that is kept was last proven: it is written down again whenever it is. None where none is kept.
///
/// # Errors
/// Where that is not for whoever asks.
pub fn kept_at(data_dir: &Path, site: &str) -> anyhow::Result<Option<UnixMillis>> {
    let path = file_of(data_dir, site);
    match written_at(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        written => written.map(Some).with_context(|| path.display().to_string()),
    }
}

/// When a login of the site last began or ended; None where that is not known.
#[must_use]
pub fn tried_at(data_dir: &Path, site: &str) -> Option<UnixMillis> {
    written_at(&tries_folder(data_dir).join(format!("{site}.json"))).ok()
}

/// True where a login or an import of cookies has left something of a site.
#[must_use]
pub fn was_touched(data_dir: &Path, site: &str) -> bool {
    tried_at(data_dir, site).is_some() || matches!(kept_at(data_dir, site), Ok(Some(_)))
}

fn written_at(path: &Path) -> io::Result<UnixMillis> {
    let metadata = fs::metadata(path)?;
    let seconds = u64::try_from(metadata.mtime()).unwrap_or(0);
    let millis = u64::try_from(metadata.mtime_nsec() / 1_000_000).unwrap_or(0);
    Ok(UnixMillis(seconds.saturating_mul(1_000).saturating_add(millis)))
}

/// Beside the sessions, and not among them: a site may have any name.
fn tries_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("sessions").join("tries")
}

/// Writes `<site>.json` in a folder, whole or not at all, for its owner alone.
fn write(folder: &Path, site: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    let path = folder.join(format!("{site}.json"));
    secrets::private_folder(folder).with_context(|| folder.display().to_string())?;
    let new = folder.join(format!(".{site}.json.{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        secrets::belongs_to_its_folder(&new)?;
        fs::rename(&new, &path)?;
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.with_context(|| path.display().to_string())?;
    Ok(path)
}

/// Removes a site's cookies from the disk. True where there were some.
///
/// # Errors
/// Where the file cannot be removed.
pub fn forget(data_dir: &Path, site: &str) -> anyhow::Result<bool> {
    let path = file_of(data_dir, site);
    match fs::remove_file(&path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error).with_context(|| path.display().to_string()),
    }
}

/// The account of one site, in the files of a data folder.
pub struct Files {
    data_dir: PathBuf,
    site: Box<str>,
}

impl Files {
    #[must_use]
    pub fn new(data_dir: &Path, site: &str) -> Self {
        Self { data_dir: data_dir.to_path_buf(), site: site.into() }
    }
}

impl Keeper for Files {
    fn password(&self) -> Result<Secret, String> {
        secrets::password(&self.data_dir, &self.site).map_err(|error| error.to_string())
    }

    fn keep(&self, jar: &Jar) -> Result<(), String> {
        save(&self.data_dir, &self.site, jar).map(|_| ()).map_err(|error| format!("{error:#}"))
    }

    fn take_up(&self, jar: &Jar) -> Result<bool, String> {
        load(&self.data_dir, &self.site, jar).map(|cookies| cookies > 0).map_err(|error| format!("{error:#}"))
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        let turn = turn(&self.data_dir, &self.site).map_err(|error| format!("{error:#}"))?;
        Ok(turn.map(|turn| Box::new(turn) as Turn))
    }

    fn tries(&self) -> Result<Tries, String> {
        tries(&self.data_dir, &self.site).map_err(|error| format!("{error:#}"))
    }

    fn keep_tries(&self, tries: &Tries) -> Result<(), String> {
        save_tries(&self.data_dir, &self.site, tries).map_err(|error| format!("{error:#}"))
    }

    fn stamp(&self) -> u64 {
        let places = [file_of(&self.data_dir, &self.site), secrets::file_of(&self.data_dir, &self.site)];
        let mut hasher = DefaultHasher::new();
        for place in places {
            let metadata = fs::metadata(place).ok();
            // What the hints of errors ask for counts as well: chmod changes the mode and ctime alone.
            metadata.map(|of| (of.ino(), of.ctime(), of.ctime_nsec(), of.mode(), of.len())).hash(&mut hasher);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::login::tries::Ended;
    use crate::login::verdict::Verdict;

    #[test]
    fn one_process_logs_in_at_a_time_and_what_it_learned_outlives_it() {
        let folder = tempfile::tempdir().unwrap();
        let first = turn(folder.path(), "s").unwrap();
        assert!(first.is_some() && turn(folder.path(), "s").unwrap().is_none());
        assert!(turn(folder.path(), "other").unwrap().is_some());
        drop(first);
        assert!(turn(folder.path(), "s").unwrap().is_some());

        let mut refused = tries(folder.path(), "s").unwrap();
        let password = Secret::new("wrong");
        let ended = Ended { verdict: Verdict::WrongPassword, was_sent: true, was_answered: true };
        refused.ended(ended, "anna", &password, UnixMillis(1));
        save_tries(folder.path(), "s", &refused).unwrap();
        assert!(tries(folder.path(), "s").unwrap().has_refused("anna", &password));
        fs::write(tries_folder(folder.path()).join("s.json"), "{").unwrap();
        assert!(tries(folder.path(), "s").unwrap_err().to_string().contains("not locked"));
    }

    #[test]
    fn a_session_comes_back_from_a_file_that_nobody_else_may_read() {
        let folder = tempfile::tempdir().unwrap();
        let jar = Jar::default();
        jar.import("h.example\tFALSE\t/\tFALSE\t0\tsid\tabc\n", |_| true).unwrap();
        assert_eq!(load(folder.path(), "s", &Jar::default()).unwrap(), 0);
        let path = save(folder.path(), "s", &jar).unwrap();
        let metadata = fs::metadata(&path).unwrap();
        assert_eq!(
            (metadata.mode() & 0o777, fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777),
            (0o600, 0o700)
        );
        let again = Jar::default();
        assert_eq!(load(folder.path(), "s", &again).unwrap(), 1);
        assert_eq!(again.to_bytes(), jar.to_bytes());
        fs::write(&path, "{").unwrap();
        assert!(load(folder.path(), "s", &again).unwrap_err().to_string().contains("gleaner login s"));
        assert!(forget(folder.path(), "s").unwrap() && !forget(folder.path(), "s").unwrap());
    }
}
