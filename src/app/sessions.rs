//! The account files of each site: its cookies in `sessions/<site>.json` of the data folder, the restrictions by its logins in
//! `sessions/tries/<site>.json`, and beside it the path of its rule file in `<site>.rules`, and the cookies of a login whose
//! proof is pending in `<site>.unproven`; readable only by their owner, written atomically.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::{self, Read as _, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{anyhow, bail};

use super::{folder, secrets};
use crate::limits;
use gleaner_base::clock::UnixMillis;
use gleaner_base::owner;
use gleaner_crawl::account::{Keeper, Turn, in_one_line};
use gleaner_login::challenge::basic_token;
use gleaner_login::names;
use gleaner_login::secret::Secret;
use gleaner_login::tries::Tries;
use gleaner_net::fetch::session::Jar;
use gleaner_rules::SiteRules;

fn file_of(data_dir: &Path, site: &str) -> PathBuf {
    data_dir.join("sessions").join(format!("{site}.json"))
}

/// Loads a site's cookies; none if there is no file.
///
/// # Errors
/// If the file cannot be read, or is not a list of cookies.
pub fn load(data_dir: &Path, site: &str, jar: &Jar) -> anyhow::Result<usize> {
    let path = file_of(data_dir, site);
    let Some(bytes) = read(data_dir, &path)? else { return Ok(0) };
    jar.take_up(&bytes).map_err(|error| {
        let path = path.display();
        anyhow!("{path}: not a valid session file ({error})\nhint: remove the file, then run `gleaner login {site}`")
    })
}

/// Loads a site's cookies if they belong to this user: the rule file may name another one by now. True if there are
/// some.
///
/// # Errors
/// Same as [`load`].
pub fn load_of(data_dir: &Path, site: &str, user: &str, jar: &Jar) -> anyhow::Result<bool> {
    let member = tries(data_dir, site).ok().and_then(|tries| tries.member().map(ToOwned::to_owned));
    match member.filter(|member| member != user) {
        Some(member) => {
            tracing::info!(site, member, user, "the stored session belongs to another user: it is not used");
            Ok(false)
        }
        None => {
            let is_there = load(data_dir, site, jar)? > 0;
            if let Some(password) = accepted_password(data_dir, site, user, jar) {
                arm(jar, user, &password);
            }
            Ok(is_there)
        }
    }
}

/// The password of a session by HTTP Basic, if it is the one that the site accepted: another one is sent only by a login,
/// which counts as an attempt.
fn accepted_password(data_dir: &Path, site: &str, user: &str, jar: &Jar) -> Option<Secret> {
    jar.basic_page()?;
    let password = secrets::password(data_dir, site).ok()?;
    tries(data_dir, site).ok()?.was_let_in(user, &password).then_some(password)
}

/// Sets the credentials of HTTP Basic, which no file of a session has.
fn arm(jar: &Jar, user: &str, password: &Secret) {
    if let Some(token) = basic_token(user, password) {
        jar.arm_basic(&token);
    }
}

/// The bytes of an account file; None if there is none.
fn read(data_dir: &Path, path: &Path) -> anyhow::Result<Option<Vec<u8>>> {
    let _owner = owner::act(data_dir);
    path.parent().map_or(Ok(()), folder::keep_folder_private)?;
    let mut bytes = Vec::new();
    let opened = folder::open(path, OpenOptions::new().read(true));
    // Files that are not ours stay unchanged.
    if opened.is_ok() {
        folder::keep_private(path)?;
    }
    let read = opened.and_then(|file| file.take(limits::ACCOUNT_FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    if bytes.len() as u64 > limits::ACCOUNT_FILE_BYTES_MAX {
        let (path, max) = (path.display(), limits::ACCOUNT_FILE_BYTES_MAX);
        bail!("{path}: longer than {max} bytes: no file of an account is\nhint: move it away, then log in again");
    }
    match read {
        Ok(_) => Ok(Some(bytes)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(folder::failed(path, &error)),
    }
}

/// Stores a site's cookies, replacing earlier ones.
///
/// # Errors
/// If the folder or the file cannot be written; the earlier file is then kept.
pub fn save(data_dir: &Path, site: &str, jar: &Jar) -> anyhow::Result<PathBuf> {
    let path = write(data_dir, &data_dir.join("sessions"), &format!("{site}.json"), &jar.to_bytes())?;
    // This session replaces a pending one.
    forget_unproven(data_dir, site)?;
    Ok(path)
}

fn unproven_file(data_dir: &Path, site: &str) -> PathBuf {
    tries_folder(data_dir).join(format!("{site}.unproven"))
}

/// Stores the cookies of a login whose form was accepted, but which no page has verified yet.
///
/// # Errors
/// Same as [`save`].
pub fn save_unproven(data_dir: &Path, site: &str, jar: &Jar) -> anyhow::Result<()> {
    write(data_dir, &tries_folder(data_dir), &format!("{site}.unproven"), &jar.to_bytes()).map(|_| ())
}

/// Loads the cookies of a login whose proof is pending, if it was for this user and password; true if there
/// is one.
///
/// # Errors
/// If a file cannot be read, or is not ours.
pub fn load_unproven(data_dir: &Path, site: &str, user: &str, password: &Secret, jar: &Jar) -> anyhow::Result<bool> {
    // A successful login loses its session if its process is killed before that is stored.
    let tries = tries(data_dir, site)?;
    if !tries.has_begun(user, password) && !tries.was_let_in(user, password) {
        return Ok(false);
    }
    let path = unproven_file(data_dir, site);
    let Some(bytes) = read(data_dir, &path)? else { return Ok(false) };
    let taken = jar.take_up(&bytes);
    taken.map_err(|error| anyhow!("{}: not a valid session file ({error})\nhint: remove the file", path.display()))?;
    arm(jar, user, password);
    // A site that set no cookie is queried nevertheless: its response to a guest shows how the login ended.
    Ok(true)
}

/// True if the proof of a login with this password is pending.
#[must_use]
pub fn is_unproven(data_dir: &Path, site: &str, user: &str, password: &Secret) -> bool {
    load_unproven(data_dir, site, user, password, &Jar::default()).unwrap_or(false)
}

/// Deletes the cookies of a login whose proof is pending. True if there were some.
///
/// # Errors
/// If the file cannot be removed.
pub fn forget_unproven(data_dir: &Path, site: &str) -> anyhow::Result<bool> {
    removed(data_dir, &unproven_file(data_dir, site))
}

fn removed(data_dir: &Path, path: &Path) -> anyhow::Result<bool> {
    let _owner = owner::act(data_dir);
    match fs::remove_file(path) {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(folder::failed(path, &error)),
    }
}

/// The restrictions by earlier logins of a site; none if there is no file.
///
/// # Errors
/// If the file cannot be read, or is not ours: no login may proceed on a guess.
pub fn tries(data_dir: &Path, site: &str) -> anyhow::Result<Tries> {
    let path = tries_folder(data_dir).join(format!("{site}.json"));
    let Some(bytes) = read(data_dir, &path)? else { return Ok(Tries::default()) };
    tries_of(&bytes).map_err(|error| {
        let path = path.display();
        anyhow!(
            "{path}: the record of earlier logins is unreadable ({error})\nhint: check in a browser that the account is not locked, \
             then remove the file; if a newer gleaner wrote it, run that version"
        )
    })
}

/// The restrictions by logins under other names, from the readable files: `Tries::learn` decides which belong to the same account.
#[must_use]
pub fn other_tries(data_dir: &Path, site: &str) -> Vec<Tries> {
    let names = {
        let _owner = owner::act(data_dir);
        let entries = fs::read_dir(tries_folder(data_dir)).into_iter().flatten();
        let names =
            entries.filter_map(|entry| Some(entry.ok()?.file_name().to_str()?.strip_suffix(".json")?.to_owned()));
        names.filter(|name| name != site && !name.starts_with('.')).collect::<Vec<_>>()
    };
    names.iter().filter_map(|name| tries(data_dir, name).ok()).collect()
}

/// Parses an attempts file of ours. A missing key was unknown when the file was written; a file with none of our keys, or with other ones,
/// is of unknown origin, and an empty default would send a rejected password again.
fn tries_of(bytes: &[u8]) -> Result<Tries, String> {
    let mut file: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(bytes).map_err(|error| error.to_string())?;
    for key in Tries::RETIRED {
        file.remove(key);
    }
    let ours = serde_json::to_value(Tries::default()).map_err(|error| error.to_string())?;
    if let Some(key) = file.keys().find(|key| ours.get(key.as_str()).is_none()) {
        return Err(format!("this version does not know the key `{key}`"));
    }
    if !file.contains_key("refused") {
        return Err("the key `refused` is missing".to_owned());
    }
    serde_json::from_value(file.into()).map_err(|error| error.to_string())
}

/// Stores the restrictions by the logins of a site.
///
/// # Errors
/// Same as [`save`].
pub fn save_tries(data_dir: &Path, site: &str, tries: &Tries) -> anyhow::Result<()> {
    write(data_dir, &tries_folder(data_dir), &format!("{site}.json"), &serde_json::to_vec(tries)?).map(|_| ())
}

/// Stores which rule file a site with an account is crawled with, for queries about the account without it. A failure
/// does not stop the crawl.
pub fn note_rules(data_dir: &Path, rules: &SiteRules) {
    // Rules without a file are always available to their user.
    let Ok(file) = fs::canonicalize(&rules.file) else { return };
    let (folder, name) = (tries_folder(data_dir), format!("{}.rules", rules.name));
    let bytes = file.as_os_str().as_bytes();
    if noted_in(&folder.join(&name)).is_ok_and(|noted| noted == bytes) {
        return;
    }
    if let Err(error) = write(data_dir, &folder, &name, bytes) {
        let error = in_one_line(&format!("{error:#}"));
        tracing::warn!(site = %rules.name, error, "the path of the rule file cannot be stored");
    }
}

/// The rule files that sites with an account were last crawled with, or logged in with, with the names of the sites.
#[must_use]
pub fn noted_rules(data_dir: &Path) -> Vec<(String, PathBuf)> {
    let _owner = owner::act(data_dir);
    let Ok(entries) = fs::read_dir(tries_folder(data_dir)) else { return Vec::new() };
    let noted = entries.filter_map(|entry| {
        let path = entry.ok()?.path();
        let site = path.file_name()?.to_str()?.strip_suffix(".rules")?.to_owned();
        Some((site, PathBuf::from(OsString::from_vec(noted_in(&path).ok()?))))
    });
    let mut noted: Vec<_> = noted.collect();
    noted.sort();
    noted
}

/// The path in a note.
fn noted_in(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // No path is longer than the system's own limit.
    folder::open(path, OpenOptions::new().read(true))?.take(4_096).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The lock to log in to a site, held by one process at a time; None while another holds it.
///
/// # Errors
/// If its file cannot be created.
pub fn turn(data_dir: &Path, site: &str) -> anyhow::Result<Option<File>> {
    lock(data_dir, &format!("{site}.lock"))
}

/// The lock to log in to a host as this user, shared by all rule files with this host and user.
///
/// # Errors
/// Same as [`turn`].
pub fn turn_of_user(data_dir: &Path, host: &str, user: &str) -> anyhow::Result<Option<File>> {
    // No site name starts with `@`.
    lock(data_dir, &format!("@{host}.{:016x}.lock", xxhash_rust::xxh3::xxh3_64(user.as_bytes())))
}

fn lock(data_dir: &Path, name: &str) -> anyhow::Result<Option<File>> {
    let _owner = owner::act(data_dir);
    let folder = tries_folder(data_dir);
    private_folder(&folder)?;
    // Do not start a login whose session could not be stored.
    if let Some(sessions) = folder.parent() {
        folder::must_be_writable(sessions)?;
    }
    let path = folder.join(name);
    let open = folder::open(&path, OpenOptions::new().write(true).create(true).truncate(false).mode(0o600));
    let file = open.map_err(|error| folder::failed(&path, &error))?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(folder::failed(&path, &error)),
    }
}

/// True while a process holds the lock to log in to a site; checks without taking it.
#[must_use]
pub fn is_logging_in(data_dir: &Path, site: &str) -> bool {
    let _owner = owner::act(data_dir);
    let lock = folder::open(&tries_folder(data_dir).join(format!("{site}.lock")), OpenOptions::new().read(true));
    lock.is_ok_and(|lock| matches!(lock.try_lock_shared(), Err(TryLockError::WouldBlock)))
}

/// When the stored session was last verified: each verification stores it again. None if none is stored, or all
/// of its cookies have expired.
///
/// # Errors
/// If this user may not read it, and if the file is broken.
pub fn kept_at(data_dir: &Path, site: &str) -> anyhow::Result<Option<UnixMillis>> {
    match load(data_dir, site, &Jar::default())? {
        0 => Ok(None),
        _ => Ok(written_at(&file_of(data_dir, site)).ok()),
    }
}

/// When a login of the site last started or ended; None if unknown.
#[must_use]
pub fn tried_at(data_dir: &Path, site: &str) -> Option<UnixMillis> {
    written_at(&tries_folder(data_dir).join(format!("{site}.json"))).ok()
}

fn written_at(path: &Path) -> io::Result<UnixMillis> {
    let metadata = fs::metadata(path)?;
    let seconds = u64::try_from(metadata.mtime()).unwrap_or(0);
    let millis = u64::try_from(metadata.mtime_nsec() / 1_000_000).unwrap_or(0);
    Ok(UnixMillis(seconds.saturating_mul(1_000).saturating_add(millis)))
}

/// Beside the sessions, not among them: a site may have any name.
fn tries_folder(data_dir: &Path) -> PathBuf {
    data_dir.join("sessions").join("tries")
}

/// Creates a folder for accounts if there is none, and checks the access of an existing one.
fn private_folder(path: &Path) -> anyhow::Result<()> {
    secrets::private_folder(path).map_err(|error| folder::failed(path, &error))?;
    folder::keep_folder_private(path)
}

/// Writes a file atomically, readable only by its owner.
fn write(data_dir: &Path, folder: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<PathBuf> {
    let _owner = owner::act(data_dir);
    let path = folder.join(name);
    private_folder(folder)?;
    let new = folder.join(format!(".{name}.{}", std::process::id()));
    let written = (|| {
        // Left by an earlier process with this id.
        match fs::remove_file(&new) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(folder)?.sync_all()
    })();
    if written.is_err() {
        let _ = fs::remove_file(&new);
    }
    written.map_err(|error| folder::failed(&path, &error))?;
    Ok(path)
}

/// Deletes a site's stored cookies, including those of a login whose proof is pending. True if there were some.
///
/// # Errors
/// If the file cannot be removed.
pub fn forget(data_dir: &Path, site: &str) -> anyhow::Result<bool> {
    let was_unproven = forget_unproven(data_dir, site)?;
    Ok(removed(data_dir, &file_of(data_dir, site))? || was_unproven)
}

/// The account of one site, in the files of a data folder.
pub struct Files {
    data_dir: PathBuf,
    site: Box<str>,
    user: Box<str>,
    host: Option<Box<str>>,
    rules: Option<Box<str>>,
    options: Box<str>,
}

impl Files {
    /// The files of a site's user.
    #[must_use]
    pub fn new(data_dir: &Path, site: &str, user: &str) -> Self {
        let (data_dir, site, user) = (data_dir.to_path_buf(), site.into(), user.into());
        Self { data_dir, site, user, host: None, rules: None, options: "".into() }
    }

    /// The same with a host, which other rule files may share.
    #[must_use]
    pub fn at(self, host: &str) -> Self {
        Self { host: Some(host.into()), ..self }
    }

    /// The same with the rule file and the repeated options, for commands in the log.
    #[must_use]
    pub fn told_with(self, rules: &Path, options: &str) -> Self {
        Self { rules: Some(rules.display().to_string().into()), options: options.into(), ..self }
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
        load_of(&self.data_dir, &self.site, &self.user, jar).map_err(|error| format!("{error:#}"))
    }

    fn turn(&self) -> Result<Option<Turn>, String> {
        let told = |error: anyhow::Error| format!("{error:#}");
        let Some(turn) = turn(&self.data_dir, &self.site).map_err(told)? else { return Ok(None) };
        let of_user = match &self.host {
            Some(host) => match turn_of_user(&self.data_dir, host, &self.user).map_err(told)? {
                Some(of_user) => Some(of_user),
                None => return Ok(None),
            },
            None => None,
        };
        Ok(Some(Box::new((turn, of_user)) as Turn))
    }

    fn other_tries(&self) -> Vec<Tries> {
        other_tries(&self.data_dir, &self.site)
    }

    fn tries(&self) -> Result<Tries, String> {
        tries(&self.data_dir, &self.site).map_err(|error| format!("{error:#}"))
    }

    fn keep_tries(&self, tries: &Tries) -> Result<(), String> {
        save_tries(&self.data_dir, &self.site, tries).map_err(|error| format!("{error:#}"))
    }

    fn keep_unproven(&self, jar: &Jar) -> Result<(), String> {
        save_unproven(&self.data_dir, &self.site, jar).map_err(|error| format!("{error:#}"))
    }

    fn take_up_unproven(&self, jar: &Jar) -> Result<bool, String> {
        // Without a password, it cannot be a login with this password.
        let Ok(password) = secrets::password(&self.data_dir, &self.site) else { return Ok(false) };
        let taken = load_unproven(&self.data_dir, &self.site, &self.user, &password, jar);
        taken.map_err(|error| format!("{error:#}"))
    }

    fn forget_unproven(&self) -> Result<(), String> {
        forget_unproven(&self.data_dir, &self.site).map(|_| ()).map_err(|error| format!("{error:#}"))
    }

    fn told(&self, sentence: &str) -> String {
        let place = secrets::place_of(&self.data_dir, &self.site);
        names::with_options(&names::with_places(sentence, &place, self.rules.as_deref()), &self.site, &self.options)
    }

    fn stamp(&self) -> u64 {
        let places = [file_of(&self.data_dir, &self.site), secrets::file_of(&self.data_dir, &self.site)];
        let mut hasher = DefaultHasher::new();
        for place in places {
            let metadata = fs::metadata(place).ok();
            // Fixes from the hints of errors count as well: chmod changes only the mode and ctime.
            metadata.map(|of| (of.ino(), of.ctime(), of.ctime_nsec(), of.mode(), of.len())).hash(&mut hasher);
        }
        hasher.finish()
    }
}

#[cfg(test)]
mod tests;
