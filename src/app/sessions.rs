//! The cookies of each site on the disk: `sessions/<site>.json` in the data folder, readable by its owner alone, written
//! whole or not at all.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::fetch::session::Jar;

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
    let path = file_of(data_dir, site);
    let folder = data_dir.join("sessions");
    DirBuilder::new().recursive(true).mode(0o700).create(&folder).with_context(|| folder.display().to_string())?;
    let new = folder.join(format!(".{site}.json.{}", std::process::id()));
    let written = (|| {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&new)?;
        file.write_all(&jar.to_bytes())?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(&folder)?.sync_all()
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

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt as _;

    use super::*;

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
