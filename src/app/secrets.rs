//! Where a site's password comes from: a systemd credential, a file in the data folder, or an environment variable, in this order.
//! Never from a rule file or an argument, which other users of the machine could read. Also protects the process: no core
//! dumps, no access to its memory by others, nothing inherited by its children.

use std::collections::BTreeMap;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use rustix::process::{DumpableBehavior, Resource, Rlimit, set_dumpable_behavior, setrlimit};
use zeroize::Zeroizing;

use super::folder;
use crate::limits::SECRET_BYTES_MAX;
use gleaner_base::owner;
use gleaner_login::secret::Secret;

/// The passwords of the environment, moved here so that children cannot inherit them; None for one that is not UTF-8.
static FROM_ENVIRONMENT: OnceLock<BTreeMap<String, Option<Secret>>> = OnceLock::new();

/// The password that the service gave this process by its standard input, out of its own environment.
static GIVEN: OnceLock<Secret> = OnceLock::new();

/// The prefix of all variables with a password.
const VARIABLE: &str = "GLEANER_PASSWORD_";

/// Protects this process and its secrets. The kernel writes no core dump of it and lets only root read its memory or
/// environment; passwords are removed from the environment, so that no child inherits them.
///
/// # Safety
/// No other thread may be running: variables are removed.
pub unsafe fn guard_process() {
    // Both calls are always allowed; if a sandbox denies them nevertheless, there is no alternative.
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    // A file at the limit of its size (`ulimit -f`, `LimitFSIZE=`) is an error of the write, and not the end of the process.
    // SAFETY: no handler is installed, and no other thread runs.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let mut taken = BTreeMap::new();
    for (name, value) in std::env::vars_os() {
        let Some(name) = name.to_str().filter(|name| name.starts_with(VARIABLE)) else { continue };
        // SAFETY: the caller promises that no other thread reads or writes the environment.
        unsafe { std::env::remove_var(name) };
        let value = Zeroizing::new(value.into_encoded_bytes());
        taken.insert(name.to_owned(), std::str::from_utf8(&value).ok().map(Secret::new));
    }
    // A second call finds nothing left.
    let _ = FROM_ENVIRONMENT.set(taken);
}

/// The password that the environment of this process had for a site.
#[must_use]
pub fn of_environment(site: &str) -> Option<&'static Secret> {
    FROM_ENVIRONMENT.get()?.get(&variable_of(site))?.as_ref()
}

/// Reads the password of the one site of this process to the end of its standard input, in place of an environment variable.
///
/// # Errors
/// Those of reading.
pub fn read_given() -> io::Result<()> {
    let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET_BYTES_MAX + 2));
    io::stdin().lock().take(SECRET_BYTES_MAX as u64 + 1).read_to_end(&mut bytes)?;
    if let Some(text) = std::str::from_utf8(&bytes).ok().filter(|text| !text.is_empty()) {
        let _ = GIVEN.set(Secret::new(text));
    }
    Ok(())
}

/// Why there is no password.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    #[error(
        "no password for the site {site}\nhint: write it into {file} (readable only by you: chmod 600), or pass it as the systemd \
         credential `{credential}`, or set {variable}"
    )]
    Absent { site: String, file: String, credential: String, variable: String },
    #[error("{path}: other users may read this password (mode {mode:04o})\nhint: chmod 600 {path}")]
    Readable { path: String, mode: u32 },
    #[error("{path}: this is a folder\nhint: move the folder away, and write the password into a file of this name")]
    Folder { path: String },
    /// With a hint.
    #[error("{0:#}")]
    Io(anyhow::Error),
    #[error(
        "{path}: this is a dangling symbolic link\nhint: remove it, and write the password into a file of this name (chmod 600)"
    )]
    Dangling { path: String },
    #[error("{place}: the password is empty\nhint: write the password into it, on one line")]
    Empty { place: String },
    #[error(
        "{place}: longer than {SECRET_BYTES_MAX} bytes, or not UTF-8\nhint: write only the password into it, in UTF-8"
    )]
    Unreadable { place: String },
    #[error(
        "{place}: the password contains a control character\nhint: write only the password into it, as plain text in UTF-8"
    )]
    Control { place: String },
    #[error("{place}: there is more than one line\nhint: keep only the password in it, on one line")]
    Lines { place: String },
}

/// The file of a site's password in a data folder.
#[must_use]
pub fn file_of(data_dir: &Path, site: &str) -> PathBuf {
    data_dir.join("secrets").join(site)
}

/// Source of a site's password, for people: the first place that has one, or its file.
#[must_use]
pub fn place_of(data_dir: &Path, site: &str) -> String {
    let credentials = std::env::var_os("CREDENTIALS_DIRECTORY");
    let credential = credentials.map(|folder| Path::new(&folder).join(format!("gleaner-{site}")));
    let (file, variable) = (file_of(data_dir, site), variable_of(site));
    if let Some(credential) = credential.filter(|credential| credential.exists()) {
        return credential.display().to_string();
    }
    let has_variable = FROM_ENVIRONMENT.get().is_some_and(|taken| taken.contains_key(&variable));
    if !file.exists() && has_variable { variable } else { file.display().to_string() }
}

/// The environment variable of a site's password.
#[must_use]
pub fn variable_of(site: &str) -> String {
    let name: String =
        site.chars().map(|of| if of.is_ascii_alphanumeric() { of.to_ascii_uppercase() } else { '_' }).collect();
    format!("{VARIABLE}{name}")
}

/// The password of a site.
///
/// # Errors
/// If no place has one, or the first one found cannot be used.
pub fn password(data_dir: &Path, site: &str) -> Result<Secret, SecretError> {
    let credential = format!("gleaner-{site}");
    if let Some(folder) = std::env::var_os("CREDENTIALS_DIRECTORY") {
        // systemd gives it to this service only.
        if let Some(secret) = of_file(&Path::new(&folder).join(&credential), false)? {
            return Ok(secret);
        }
    }
    let file = file_of(data_dir, site);
    let of_folder = {
        // Root follows no link of the owner's: the password of one site is not sent to another.
        let _owner = owner::act(data_dir);
        of_file(&file, true)?
    };
    if let Some(secret) = of_folder {
        return Ok(secret);
    }
    let variable = variable_of(site);
    let taken = FROM_ENVIRONMENT.get().and_then(|taken| taken.get(&variable)).map(Option::as_ref);
    match taken.or(GIVEN.get().map(Some)) {
        Some(secret) => checked(secret.map(Secret::reveal), &variable),
        None => {
            Err(SecretError::Absent { site: site.to_owned(), file: file.display().to_string(), credential, variable })
        }
    }
}

/// What others can read of a site's password: its file, or the names of files in its folder; each with a hint.
#[must_use]
pub fn exposed(data_dir: &Path, site: &str) -> Vec<String> {
    let _owner = owner::act(data_dir);
    let file = file_of(data_dir, site);
    let open_mode = |path: &Path| Some(fs::metadata(path).ok()?.mode() & 0o777).filter(|mode| mode & 0o077 != 0);
    let is_file = file.is_file();
    let folder = file.parent().and_then(|folder| Some((folder.display(), open_mode(folder)?)));
    let folder = folder.map(|(path, mode)| {
        format!("{path}: other users may read this folder of passwords (mode {mode:04o})\nhint: chmod 700 {path}")
    });
    let path = file.display().to_string();
    let file = open_mode(&file).filter(|_| is_file).map(|mode| SecretError::Readable { path, mode }.to_string());
    file.into_iter().chain(folder).collect()
}

/// Writes a file that only its owner can read, replacing an earlier one; creates its folder with the same protection.
///
/// # Errors
/// If the folder or the file cannot be written.
pub fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        private_folder(folder)?;
    }
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?.write_all(bytes)
}

/// Creates a folder that only its owner can read, unless it exists.
///
/// # Errors
/// If it cannot be created.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent().filter(|above| !above.as_os_str().is_empty()) {
        private_folder(above)?;
    }
    match DirBuilder::new().mode(0o700).create(folder) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        made => made,
    }
}

/// The secret in a file; None if there is no file.
fn of_file(path: &Path, must_be_private: bool) -> Result<Option<Secret>, SecretError> {
    let shown = || path.display().to_string();
    let io = |error| SecretError::Io(folder::failed(path, &error));
    let file = match folder::open(path, OpenOptions::new().read(true)) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let is_link = fs::symlink_metadata(path).is_ok();
            return if is_link { Err(SecretError::Dangling { path: shown() }) } else { Ok(None) };
        }
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => return Err(SecretError::Folder { path: shown() }),
        Err(error) => return Err(io(error)),
    };
    let metadata = file.metadata().map_err(io)?;
    if must_be_private && metadata.mode() & 0o077 != 0 {
        return Err(SecretError::Readable { path: shown(), mode: metadata.mode() & 0o777 });
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(SECRET_BYTES_MAX + 2));
    // One extra byte shows that it is too long.
    file.take(SECRET_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).map_err(io)?;
    checked(std::str::from_utf8(&bytes).ok(), &shown()).map(Some)
}

fn checked(text: Option<&str>, place: &str) -> Result<Secret, SecretError> {
    let place = || place.to_owned();
    let text =
        text.filter(|text| text.len() <= SECRET_BYTES_MAX).ok_or_else(|| SecretError::Unreadable { place: place() })?;
    // Editors write a byte order mark; nobody types it.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    // The editor adds the final line break.
    let (first, behind) = text.split_once('\n').map_or((text, ""), |(first, behind)| (first, behind));
    if !behind.trim().is_empty() {
        return Err(SecretError::Lines { place: place() });
    }
    let first = if text.len() > first.len() { first.strip_suffix('\r').unwrap_or(first) } else { first };
    if first.contains('\0') {
        return Err(SecretError::Control { place: place() });
    }
    let secret = Secret::new(first);
    if secret.is_empty() {
        return Err(SecretError::Empty { place: place() });
    }
    if !behind.is_empty() {
        tracing::warn!(path = place(), "empty lines after the password are ignored");
    }
    if first.trim() != first {
        tracing::warn!(path = place(), "the password begins or ends with whitespace, which is sent as part of it");
    }
    Ok(secret)
}

#[cfg(test)]
mod tests;
