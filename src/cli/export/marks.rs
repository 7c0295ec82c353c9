//! What exports of a name have had: `exports/NAME` in the data folder, a line for each torrent and magnet. Times would not do: an import brings
//! old ones, a clock may be wrong, and what was left out or not selected is still owed.

use std::collections::HashSet;
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{BufWriter, ErrorKind, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use data_encoding::HEXLOWER;
use gleaner_base::owner;
use gleaner_store::export::ExportSummary;

/// What was exported: archive keys.
#[derive(Debug, Default)]
pub struct Mark {
    pub torrents: HashSet<Vec<u8>>,
    pub magnets: HashSet<Vec<u8>>,
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
    data_dir.join("exports").join(name)
}

impl Mark {
    /// What exports of a name have had; nothing of a new one. Root reads as the folder's owner.
    pub fn read(data_dir: &Path, name: &str) -> anyhow::Result<Self> {
        let path = place(data_dir, name);
        let read = {
            let _owner = owner::act(data_dir);
            fs::read_to_string(&path)
        };
        let text = match read {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            text => text.with_context(|| format!("{}: cannot be read", path.display()))?,
        };
        let mut mark = Self::default();
        for line in text.lines() {
            let (kind, hex) = line.split_at_checked(2).unwrap_or_default();
            let key = HEXLOWER.decode(hex.as_bytes()).ok().filter(|key| matches!(key.len(), 20 | 32));
            match (kind, key) {
                ("t ", Some(key)) => mark.torrents.insert(key),
                ("m ", Some(key)) => mark.magnets.insert(key),
                _ => bail!(
                    "{}: is no mark of an export\nhint: remove it, and everything is exported once more",
                    path.display()
                ),
            };
        }
        Ok(mark)
    }

    /// Adds what an export had, and replaces the mark of its name in one step. Root writes as the folder's owner, and no link is followed.
    pub fn write(mut self, summary: ExportSummary, data_dir: &Path, name: &str) -> anyhow::Result<()> {
        self.torrents.extend(summary.keys);
        self.magnets.extend(summary.magnet_keys);
        let path = place(data_dir, name);
        let written = || {
            let _owner = owner::act(data_dir);
            DirBuilder::new().recursive(true).mode(0o750).create(path.parent().unwrap_or(data_dir))?;
            let part = path.with_extension("part");
            match fs::remove_file(&part) {
                Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
                _ => {}
            }
            let mut file = BufWriter::new(OpenOptions::new().write(true).create_new(true).mode(0o640).open(&part)?);
            for (kind, keys) in [("t", &self.torrents), ("m", &self.magnets)] {
                for key in keys {
                    writeln!(file, "{kind} {}", HEXLOWER.encode(key))?;
                }
            }
            file.into_inner().map_err(std::io::IntoInnerError::into_error)?.sync_all()?;
            fs::rename(&part, &path)
        };
        let hint = "hint: the export is there; only the next one does not know of it. Run it as the folder's owner";
        written().with_context(|| format!("{}: cannot be written\n{hint}", path.display()))
    }
}
