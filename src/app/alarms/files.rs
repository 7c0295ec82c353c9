//! The folder `alarms` of a data folder: `state.json` (alarms, and messages that wait), `usual.json` (what is usual of each site), and `SITE.txt`, the last list
//! page of a site that showed too little. Each file is written beside itself, synced and renamed, so that none is ever half.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use gleaner_alarms::book::Book;
use gleaner_alarms::outbox::Outbox;
use gleaner_alarms::watch::Watch;
use gleaner_base::clock::UnixMillis;
use gleaner_base::owner;
use serde::{Deserialize, Serialize};

use crate::app::secrets::private_folder;
use crate::limits::{ALARM_FILE_BYTES_MAX, ALARM_PAGE_BYTES_MAX};

const STATE: &str = "state.json";
const USUAL: &str = "usual.json";

/// What survives a restart.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Kept {
    pub book: Book,
    pub outbox: Outbox,
}

impl Kept {
    #[must_use]
    pub fn to_json(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The folder of a data folder.
#[must_use]
pub fn folder(data_dir: &Path) -> PathBuf {
    data_dir.join("alarms")
}

/// The state. One that cannot be read is moved aside, and begun anew: what is open is told once more.
#[must_use]
pub fn read(folder: &Path, now: UnixMillis) -> Kept {
    let path = folder.join(STATE);
    match load(&path) {
        Ok(kept) => kept.unwrap_or_default(),
        Err(error) => {
            let aside = folder.join(format!("{STATE}.damaged-{}", now.0 / 1_000));
            let _ = fs::rename(&path, &aside);
            let (path, kept) = (path.display(), aside.display());
            tracing::error!(%path, %kept, error, "the state of the alarms cannot be read: it was moved aside, and what is open is told once more");
            Kept::default()
        }
    }
}

/// The state, for reading; one that cannot be read counts as none.
#[must_use]
pub fn peek(folder: &Path) -> Kept {
    let _owner = folder.parent().map(owner::act);
    load(&folder.join(STATE)).ok().flatten().unwrap_or_default()
}

/// What is usual; what cannot be read is learned anew.
#[must_use]
pub fn read_usual(folder: &Path) -> Watch {
    match load(&folder.join(USUAL)) {
        Ok(watch) => watch.unwrap_or_default(),
        Err(error) => {
            tracing::warn!(error, "what is usual of the sites cannot be read: it is learned anew");
            Watch::default()
        }
    }
}

fn load<T: serde::de::DeserializeOwned>(path: &Path) -> Result<Option<T>, String> {
    let file = match File::open(path) {
        Ok(file) => file,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error.to_string()),
    };
    let mut bytes = Vec::new();
    file.take(ALARM_FILE_BYTES_MAX).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map(Some).map_err(|error| error.to_string())
}

/// Keeps the state.
///
/// # Errors
/// Those of the disk: then the former one stays.
pub fn write(folder: &Path, json: &str) -> io::Result<()> {
    put(folder, STATE, json.as_bytes())
}

/// Keeps what is usual.
///
/// # Errors
/// As for [`write`].
pub fn write_usual(folder: &Path, watch: &Watch) -> io::Result<()> {
    put(folder, USUAL, &serde_json::to_vec(watch)?)
}

/// Keeps a page of a site.
///
/// # Errors
/// As for [`write`].
pub fn write_page(folder: &Path, name: &str, text: &str) -> io::Result<()> {
    if !is_page(name) {
        return Err(io::Error::new(ErrorKind::InvalidInput, "this is no name of a page"));
    }
    put(folder, name, text.as_bytes())
}

/// A page as it was kept.
#[must_use]
pub fn page(folder: &Path, name: &str) -> Option<String> {
    let file = is_page(name).then(|| File::open(folder.join(name)).ok())??;
    let mut bytes = Vec::new();
    file.take(ALARM_PAGE_BYTES_MAX).read_to_end(&mut bytes).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

/// A name within the folder, of nothing else in it.
fn is_page(name: &str) -> bool {
    name.ends_with(".txt") && !name.starts_with('.') && !name.contains(['/', '\\', '\0'])
}

fn put(folder: &Path, name: &str, bytes: &[u8]) -> io::Result<()> {
    private_folder(folder)?;
    let (beside, path) = (folder.join(format!(".{name}.new")), folder.join(name));
    let written = || -> io::Result<()> {
        let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&beside)?;
        file.write_all(bytes)?;
        file.sync_all()?;
        fs::rename(&beside, &path)
    };
    written().inspect_err(|_| drop(fs::remove_file(&beside)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_alarms::book::Settings;
    use gleaner_alarms::watch::{Machine, Seen};

    fn kept() -> Kept {
        let (mut kept, mut watch) = (Kept::default(), Watch::default());
        let machine = Machine { clock_set_by_ms: 90_000, ..Machine::default() };
        let seen = Seen { at: UnixMillis(1_000_000), machine, ..Seen::default() };
        let events = kept.book.look(&watch.look(&seen), &Default::default(), &Settings::default(), seen.at);
        kept.outbox.add(events[0].what, &events[0].alarm, ["phone"], seen.at);
        kept
    }

    #[test]
    fn a_state_that_is_cut_off_is_moved_aside_and_begun_anew() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        let json = kept().to_json();
        write(&folder, &json).unwrap();
        assert_eq!(read(&folder, UnixMillis(5_000)), kept());
        for end in [0, 1, json.len() / 2, json.len() - 1] {
            fs::write(folder.join(STATE), &json[..end]).unwrap();
            assert!(peek(&folder).book.list().is_empty());
            assert_eq!(read(&folder, UnixMillis(7_000)), Kept::default(), "{end}");
            assert!(folder.join("state.json.damaged-7").exists() && !folder.join(STATE).exists());
        }
        fs::write(folder.join(STATE), "[1]").unwrap();
        assert_eq!(read(&folder, UnixMillis(8_000)), Kept::default());
        write(&folder, &json).unwrap();
        assert_eq!(read(&folder, UnixMillis(9_000)), kept());
    }

    #[test]
    fn pages_are_named_within_their_folder() {
        let dir = tempfile::tempdir().unwrap();
        let folder = folder(dir.path());
        write_page(&folder, "site.txt", "<b>&").unwrap();
        assert_eq!(page(&folder, "site.txt").as_deref(), Some("<b>&"));
        fs::write(dir.path().join("x.txt"), "secret").unwrap();
        for name in ["../x.txt", "state.json", ".site.txt", "a/../site.txt", "", "none.txt"] {
            assert_eq!(page(&folder, name), None, "{name}");
        }
        assert!(write_page(&folder, "../y.txt", "").is_err());
    }
}
