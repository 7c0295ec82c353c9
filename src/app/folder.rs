//! Whose a data folder is, and who may look into its private files: what cannot be written, or may be read by others, is told with
//! the command that mends it. Never changes an owner, and the mode of nobody else's file, whoever runs it ([`super::owner`]).

use std::fs::{self, Metadata, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rustix::fs::{Access, access};
use rustix::io::Errno;
use rustix::process::geteuid;

use super::{database_path, owner};

/// True where this process may not write a data folder that is there, or its database.
#[must_use]
pub fn is_read_only(data_dir: &Path) -> bool {
    refusal(data_dir).is_some()
}

/// An error that tells whose a data folder is and what to run, where this process may not write it. One that is not there yet is to
/// be made in the nearest folder that is.
///
/// # Errors
/// As said.
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

/// What this process may not write of a data folder, itself or its database, and why.
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

/// Who a folder or a file belongs to that this user may not write, and what to run.
fn not_ours(path: &Path, metadata: &Metadata, we: u32) -> String {
    if metadata.uid() == we {
        let (path, mode) = (path.display(), metadata.mode() & 0o777);
        return format!(
            "{path}: cannot be written (mode {mode:04o})\nhint: chmod u+rwX {path}; or pass another --data"
        );
    }
    let (owner, we) = (name_of(metadata.uid()), name_of(we));
    let (path, mode) = (path.display(), metadata.mode() & 0o777);
    format!(
        "{path}: cannot be written: it belongs to {owner} (mode {mode:04o}), and this runs as {we}\nhint: run the same as its owner: \
         sudo -u {owner} gleaner …; or pass another --data"
    )
}

/// A user's name, or its number as `sudo -u` takes it.
fn name_of(uid: u32) -> String {
    let users = fs::read_to_string("/etc/passwd").unwrap_or_default();
    let name = users.lines().find_map(|line| {
        let mut fields = line.split(':');
        let name = fields.next()?;
        (fields.nth(1)?.parse() == Ok(uid)).then(|| name.to_owned())
    });
    name.unwrap_or_else(|| format!("'#{uid}'"))
}

/// Sees that nobody but its owner may read or write a file of an account, or a folder of such. Where others may, and it is ours, that is
/// mended and told; one that is not there is nobody's.
///
/// # Errors
/// Where it is another user's, or its mode cannot be changed: what is in it may be anybody's, and is not used.
pub fn keep_private(path: &Path) -> anyhow::Result<()> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| path.display().to_string()),
    };
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 == 0 {
        return Ok(());
    }
    let wanted = if metadata.is_dir() { 0o700 } else { 0o600 };
    let we = owner::of_files();
    let shown = path.display();
    let told = format!("others may read or write it (mode {mode:04o})");
    if we != 0 && we != metadata.uid() {
        let owner = name_of(metadata.uid());
        bail!("{shown}: {told}, and it belongs to {owner}\nhint: sudo -u {owner} chmod {wanted:o} {shown}");
    }
    match fs::set_permissions(path, Permissions::from_mode(wanted)) {
        Ok(()) => {
            tracing::warn!(path = %shown, "others could read or write it (mode {mode:04o}): its mode is {wanted:04o} now")
        }
        // Nobody can write it there, and whoever could read it has.
        Err(error) if error.kind() == io::ErrorKind::ReadOnlyFilesystem => {
            tracing::warn!(path = %shown, "{told}, on a read-only file system (hint: chmod {wanted:o} it once it can be written)");
        }
        Err(error) => bail!("{shown}: {told}, which cannot be mended: {error}\nhint: chmod {wanted:o} {shown}"),
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_ours_is_told_with_its_owner_and_what_to_run() {
        let folder = tempfile::tempdir().unwrap();
        let metadata = fs::metadata(folder.path()).unwrap();
        let (owner, mode) = (name_of(metadata.uid()), metadata.mode() & 0o777);
        let told = not_ours(folder.path(), &metadata, 4_000_000_000);
        for part in [
            &*format!("{}: cannot be written: it belongs to {owner} (mode {mode:04o})", folder.path().display()),
            "this runs as '#4000000000'",
            &*format!("\nhint: run the same as its owner: sudo -u {owner} gleaner"),
        ] {
            assert!(told.contains(part), "{part}: {told}");
        }
        assert!(must_be_writable(&folder.path().join("not/there")).is_ok() && !is_read_only(folder.path()));
        let told = not_ours(folder.path(), &metadata, metadata.uid());
        assert!(
            told.ends_with(&format!("hint: chmod u+rwX {}; or pass another --data", folder.path().display())),
            "{told}"
        );
    }

    #[test]
    fn what_others_may_read_or_write_is_mended() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("s.json");
        fs::write(&file, "{}").unwrap();
        for (path, open, wanted) in [
            (folder.path(), 0o755, 0o700),
            (folder.path(), 0o730, 0o700),
            (&*file, 0o644, 0o600),
            (&*file, 0o620, 0o600),
        ] {
            fs::set_permissions(path, Permissions::from_mode(open)).unwrap();
            keep_private(path).unwrap();
            assert_eq!(fs::metadata(path).unwrap().mode() & 0o777, wanted, "{open:o}");
        }
        assert!(keep_private(&folder.path().join("absent")).is_ok());
    }
}
