//! Ownership and access of a data folder and its private files: if one cannot be written, or others can read it, the error
//! contains the command that fixes it. Never changes an owner, and never the mode of another user's file ([`gleaner_base::owner`]).

use std::fs::{self, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::database_path;
use gleaner_base::owner;
use gleaner_base::place::{self, Place};

/// An error with the owner of a data folder and the command to run, if this process cannot write it. A folder that does not
/// exist yet is checked by its nearest existing ancestor.
///
/// # Errors
/// As described.
pub fn must_be_writable(data_dir: &Path) -> anyhow::Result<()> {
    let Some((path, errno)) = refusal(data_dir) else { return Ok(()) };
    if errno == Errno::ROFS {
        let path = path.display();
        bail!(
            "{path}: cannot be written: its file system is read-only\nhint: mount it writable (`findmnt -T {path}` names it), or pass \
             another --data"
        );
    }
    let metadata = fs::metadata(&path).with_context(|| path.display().to_string())?;
    bail!("{}", not_ours(&path, &metadata, geteuid().as_raw()))
}

/// The running command, quoted for a shell.
fn this_command() -> String {
    let words = std::env::args_os().skip(1).map(|word| quoted(word.to_string_lossy().into_owned()));
    std::iter::once("gleaner".to_owned()).chain(words).collect::<Vec<_>>().join(" ")
}

/// The part of a data folder that this process cannot write, itself or its database, and why.
fn refusal(data_dir: &Path) -> Option<(PathBuf, Errno)> {
    let there = data_dir.ancestors().map(|path| if path.as_os_str().is_empty() { Path::new(".") } else { path });
    let there = there.into_iter().find(|path| path.exists())?;
    if !there.is_dir() {
        return None;
    }
    let refused = |path: &Path, wanted: Access| {
        let is_refused = |error: &Errno| matches!(*error, Errno::ACCESS | Errno::PERM | Errno::ROFS);
        access(path, wanted).err().filter(is_refused)
    };
    if let Some(error) = refused(there, Access::WRITE_OK | Access::EXEC_OK) {
        return Some((there.to_path_buf(), error));
    }
    let database = database_path(there);
    refused(&database, Access::WRITE_OK).map(|error| (database, error))
}

/// The owner of a folder or file that this user cannot write, and the command to run.
fn not_ours(path: &Path, metadata: &Metadata, we: u32) -> String {
    if metadata.uid() == we {
        let (path, mode) = (path.display(), metadata.mode() & 0o777);
        return format!(
            "{path}: cannot be written (mode {mode:04o})\nhint: chmod u+rwX {path}; or pass another --data"
        );
    }
    let (owner, we) = (name_of(metadata.uid()), name_of(we));
    let (path, mode) = (path.display(), metadata.mode() & 0o777);
    if owner::was_root() {
        return format!(
            "{path}: cannot be written: it belongs to {owner} (mode {mode:04o}), and root works here as {we}, the owner of the data \
             folder\nhint: give it to that user (chown {we} {path}), or let that user enter it (chmod o+x {path})"
        );
    }
    format!(
        "{path}: cannot be written: it belongs to {owner} (mode {mode:04o}), and this runs as {we}\nhint: run the same command as its \
         owner: {}; or pass another --data",
        as_user(&owner, &this_command())
    )
}

/// A word, quoted for a shell.
fn quoted(word: String) -> String {
    let plain = |of: char| of.is_ascii_alphanumeric() || "-_./=:,@%+".contains(of);
    match !word.is_empty() && word.chars().all(plain) {
        true => word,
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// The command line to run a command as this user, on this machine and as the current user.
fn as_user(owner: &str, command: &str) -> String {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let has_sudo = std::env::split_paths(&path).any(|folder| folder.join("sudo").is_file());
    as_user_by(owner, command, has_sudo, geteuid().is_root())
}

/// The same with sudo if installed, else with a standard tool.
fn as_user_by(owner: &str, command: &str, has_sudo: bool, is_root: bool) -> String {
    let number = owner.strip_prefix("'#").and_then(|number| number.strip_suffix('\''));
    match (has_sudo, number) {
        (true, _) if owner == "root" => format!("sudo {command}"),
        (true, _) => format!("sudo -u {owner} {command}"),
        (false, Some(number)) => {
            // Only root can become a user without a name.
            let command = format!("setpriv --reuid {number} --regid {number} --clear-groups {command}");
            if is_root { command } else { format!("su -c {}", quoted(command)) }
        }
        (false, None) if owner == "root" => format!("su -c {}", quoted(command.to_owned())),
        (false, None) if is_root => format!("runuser -u {owner} -- {command}"),
        (false, None) => format!("su -s /bin/sh {owner} -c {}", quoted(command.to_owned())),
    }
}

/// A user's name, or its number as `sudo -u` accepts it.
fn name_of(user: u32) -> String {
    owner::name_of(user).unwrap_or_else(|| format!("'#{user}'"))
}

/// Opens a file of an account without blocking: opening a pipe would wait for its other end. Anything but a regular file is
/// an error.
///
/// # Errors
/// As described, and those of open(2).
pub fn open(path: &Path, how: &mut OpenOptions) -> io::Result<File> {
    let file = how.custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)?;
    let metadata = file.metadata()?;
    match () {
        () if metadata.is_dir() => Err(io::Error::new(io::ErrorKind::IsADirectory, "this is a folder, not a file")),
        () if !metadata.is_file() => Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_REGULAR)),
        () => Ok(file),
    }
}

const NOT_REGULAR: &str = "this is not a regular file";

/// An error if something else has the name of a database file: opening a pipe would wait for its other end.
///
/// # Errors
/// As described.
pub fn must_be_file(path: &Path) -> anyhow::Result<()> {
    match Place::of(path) {
        Place::File | Place::Nothing | Place::Dangling(_) => Ok(()),
        _ => bail!("{}: {}\nhint: move it away: a file of this name belongs there", path.display(), place::told(path)),
    }
}

/// An I/O error on a file or folder of an account, with its owner and the command to run, if there is one.
#[must_use]
pub fn failed(path: &Path, error: &io::Error) -> anyhow::Error {
    let shown = path.display();
    // open(2) already fails for a pipe or socket without a reader.
    let is_other = |metadata: Metadata| !metadata.is_file() && !metadata.is_dir();
    if error.kind() == io::ErrorKind::InvalidInput || fs::metadata(path).is_ok_and(is_other) {
        return anyhow!("{shown}: {NOT_REGULAR}\nhint: move it away: a file of this name belongs there");
    }
    match error.kind() {
        io::ErrorKind::PermissionDenied => not_for_us(path).unwrap_or_else(|| anyhow!("{shown}: {error}")),
        io::ErrorKind::IsADirectory => {
            anyhow!("{shown}: this is a folder\nhint: move it away: a file of this name belongs there")
        }
        io::ErrorKind::NotADirectory => {
            let file = path.ancestors().find(|above| fs::metadata(above).is_ok_and(|of| !of.is_dir()));
            let file = file.unwrap_or(path).display();
            anyhow!("{file}: this is a file\nhint: move it away: a folder of this name belongs there")
        }
        io::ErrorKind::FileTooLarge => {
            let (what, hint) = place::used_up(error).unwrap_or_default();
            anyhow!("{shown}: {what}\nhint: {hint}")
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            let folder = path.parent().unwrap_or(path).display();
            anyhow!(
                "{shown}: {error}\nhint: make room (`df {folder}` shows what is left), then run the same command again"
            )
        }
        io::ErrorKind::ReadOnlyFilesystem => {
            anyhow!("{shown}: {error}\nhint: mount it writable (`findmnt -T {shown}` names it), or pass another --data")
        }
        _ => anyhow!("{shown}: {error}"),
    }
}

/// The owner of the nearest file or folder that this user cannot access (another user's, or closed to its owner), and the command to run.
fn not_for_us(path: &Path) -> Option<anyhow::Error> {
    let we = owner::of_files();
    // The data folder, `sessions`, `tries`, the file: folders above are not ours.
    path.ancestors().take(4).find_map(|path| {
        let metadata = fs::metadata(path).ok()?;
        let (needed, mode) = (if metadata.is_dir() { 0o300 } else { 0o600 }, metadata.mode() & 0o777);
        let shown = path.display();
        if metadata.uid() != we {
            let (owner, we) = (name_of(metadata.uid()), name_of(we));
            return Some(anyhow!(
                "{shown}: permission denied: it belongs to {owner} (mode {mode:04o}), and this runs as {we}\nhint: run the same \
                 command as its owner: {}; or pass another --data",
                as_user(&owner, &this_command())
            ));
        }
        (mode & needed != needed)
            .then(|| anyhow!("{shown}: permission denied (mode {mode:04o})\nhint: chmod u+rwX {shown}"))
    })
}

/// Like [`keep_private`], for a folder.
///
/// # Errors
/// Same, and if the path is a file, whose mode is not changed.
pub fn keep_folder_private(path: &Path) -> anyhow::Result<()> {
    if fs::metadata(path).is_ok_and(|metadata| !metadata.is_dir()) {
        return Err(failed(path, &io::ErrorKind::NotADirectory.into()));
    }
    keep_private(path)
}

/// Makes sure that only its owner can read or write a file or folder of an account. Too open a mode of an own file is
/// fixed and logged; a missing file is ignored.
///
/// # Errors
/// If it belongs to another user, or its mode cannot be changed: then its content is not trustworthy and not used.
pub fn keep_private(path: &Path) -> anyhow::Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(failed(path, &error)),
    };
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
    let we = owner::of_files();
    let shown = path.display();
    let told = format!("other users may read or write it (mode {mode:04o})");
    if we != 0 && we != metadata.uid() {
        let owner = name_of(metadata.uid());
        let mend = as_user(&owner, &format!("chmod {wanted:o} {shown}"));
        bail!("{shown}: {told}, and it belongs to {owner}\nhint: {mend}");
    }
    match fs::set_permissions(path, Permissions::from_mode(wanted)) {
        Ok(()) => {
            tracing::warn!(path = %shown, "other users could read or write this file (mode {mode:04o}): changed to {wanted:04o}")
        }
        // On a read-only file system nobody can write it, and who could read it already has.
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            tracing::warn!(path = %shown, "{told}, on a read-only file system (hint: chmod {wanted:o} it once the file system is \
                                           writable)");
        }
        Err(error) => bail!("{shown}: {told}, and its mode cannot be changed: {error}\nhint: chmod {wanted:o} {shown}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests;
