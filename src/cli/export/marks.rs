//! Where the last export of a name has ended: `exports/NAME.json` in the data folder.

use std::collections::HashSet;
use std::fs::{self, DirBuilder};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use data_encoding::HEXLOWER;
use gleaner_base::clock::UnixMillis;
use serde::{Deserialize, Serialize};

/// How much later than its visit a torrent may be committed: an export looks back so far, and leaves out what it had.
const OVERLAP_MS: u64 = 60 * 60 * 1_000;

/// What an export left for the next one.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Mark {
    /// Torrents stored before this time were exported.
    pub since: UnixMillis,
    /// Of those stored later, the exported ones: archive keys in hex.
    had: Vec<String>,
}

/// A name that may be a file's.
pub fn name(text: &str) -> anyhow::Result<String> {
    let is_plain = |of: char| of.is_ascii_alphanumeric() || matches!(of, '-' | '_');
    if (1..=64).contains(&text.len()) && text.chars().all(is_plain) {
        return Ok(text.to_owned());
    }
    bail!("use letters, digits, `-` and `_`, at most 64")
}

fn place(data_dir: &Path, name: &str) -> PathBuf {
    data_dir.join("exports").join(format!("{name}.json"))
}

impl Mark {
    pub fn of(since: UnixMillis, keys: &[Vec<u8>]) -> Self {
        Self { since, had: keys.iter().map(|key| HEXLOWER.encode(key)).collect() }
    }

    /// From when on the next export looks, if one begins now.
    pub fn next_since(now: UnixMillis) -> UnixMillis {
        UnixMillis(now.0.saturating_sub(OVERLAP_MS))
    }

    pub fn had(&self) -> HashSet<Vec<u8>> {
        self.had.iter().filter_map(|key| HEXLOWER.decode(key.as_bytes()).ok()).collect()
    }

    /// The mark of a name; that of a new one lets everything through.
    pub fn read(data_dir: &Path, name: &str) -> anyhow::Result<Self> {
        let path = place(data_dir, name);
        let text = match fs::read_to_string(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let hint = "hint: remove it, and everything is exported once more";
        serde_json::from_str(&text).with_context(|| format!("{}: is no mark of an export\n{hint}", path.display()))
    }

    /// Replaces the mark of a name, in one step.
    pub fn write(&self, data_dir: &Path, name: &str) -> anyhow::Result<()> {
        let path = place(data_dir, name);
        let written = || {
            DirBuilder::new().recursive(true).mode(0o750).create(path.parent().unwrap_or(data_dir))?;
            let part = path.with_extension("part");
            let mut file = fs::File::create(&part)?;
            file.write_all(serde_json::to_string(self).unwrap_or_default().as_bytes())?;
            file.sync_all()?;
            fs::rename(&part, &path)
        };
        let hint = "hint: the export is there; only the next one does not know of it. Run it as the folder's owner";
        written().with_context(|| format!("{}: cannot be written\n{hint}", path.display()))
    }
}
