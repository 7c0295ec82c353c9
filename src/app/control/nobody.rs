//! What is said where nobody answers for a data folder: no service runs, or this user may not ask it.

use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::net::UnixStream;
use std::path::Path;

use super::socket_path;
use gleaner_base::owner;

/// Nobody answers for a data folder. Where a socket is there that this user may not open, or a folder that keeps it from it, that is the error, with who may.
#[must_use]
pub fn no_service(data_dir: &Path, what: &str, hint: &str) -> anyhow::Error {
    let path = socket_path(data_dir);
    let closed = match UnixStream::connect(&path) {
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            let above = path.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            let closed_folder = above.take_while(|above| std::fs::metadata(above).is_err()).last();
            // The folder above the first that cannot be seen is the one that lets nobody in.
            match std::fs::symlink_metadata(&path) {
                Ok(there) => Some((path.clone(), there)),
                Err(_) => {
                    let folder = closed_folder.and_then(Path::parent).unwrap_or(data_dir);
                    std::fs::metadata(folder).ok().map(|there| (folder.to_owned(), there))
                }
            }
        }
        _ => None,
    };
    let Some((place, there)) = closed else {
        return anyhow::anyhow!("{}: no service runs in this folder{what}\nhint: {hint}", data_dir.display());
    };
    let owner = owner::name_of(there.uid()).unwrap_or_else(|| format!("user {}", there.uid()));
    let group = owner::group_name_of(there.gid()).unwrap_or_else(|| format!("number {}", there.gid()));
    let (place, mode) = (place.display(), there.mode() & 0o777);
    anyhow::anyhow!(
        "{place}: this user may not open it: it belongs to {owner} and the group {group} (mode {mode:04o}), so whether a service runs here is not known\n\
         hint: run the same command with sudo; only to look, your user may join the group: sudo usermod -aG {group} \"$USER\", then log in again"
    )
}
