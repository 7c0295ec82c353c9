//! Rule files are replaced whole, and what is replaced is kept: as `history/SITE/TIME-NN.toml` in the rules folder.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use gleaner_base::clock::{Clock as _, SystemClock};

/// Folder of earlier versions in the rules folder.
const FOLDER: &str = "history";

/// A file that was in force.
#[derive(Debug, Serialize)]
pub struct Version {
    /// When it was replaced (UTC).
    pub replaced: String,
    pub file: PathBuf,
    /// Lines that the next version has in addition, and lacks.
    pub lines_added: usize,
    pub lines_removed: usize,
}

/// Puts a text in the place of a rule file, and keeps the old one. Returns where that is. A link stays one, and owner, group and mode as
/// they are.
///
/// # Errors
/// If the folder cannot be written, or the new file cannot belong to the same owner and group; then nothing has changed.
pub fn replace(file: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let hint = || format!("{}\nhint: run the command as a user who may write to the rules folder", file.display());
    let folder = folder_of(file);
    let target = fs::canonicalize(file).with_context(hint)?;
    let (old, of_old) = (fs::read(&target).with_context(hint)?, fs::metadata(&target).with_context(hint)?);
    fs::create_dir_all(&folder).with_context(hint)?;
    let time = SystemClock.now().rfc3339().replace(':', "");
    for kept in (1..100).map(|nth: u32| folder.join(format!("{time}-{nth:02}.toml"))) {
        let written = match File::create_new(&kept) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
            opened => opened.and_then(|version| fill(version, &old, Some(&of_old))),
        };
        if let Err(error) = written.and_then(|()| put(&target, text, Some(&of_old))) {
            let _ = fs::remove_file(&kept);
            return Err(error).with_context(hint);
        }
        return Ok(kept);
    }
    bail!("{}: no name is left for its earlier version", file.display())
}

/// Gives a file this text: at no time is it absent or half written.
///
/// # Errors
/// Those of the file system; then nothing has changed.
pub fn put(path: &Path, text: &str, like: Option<&Metadata>) -> io::Result<()> {
    let draft = path.with_extension(format!("part-{}", std::process::id()));
    // What a killed process of this number has left.
    let _ = fs::remove_file(&draft);
    let written = File::create_new(&draft)
        .and_then(|file| fill(file, text.as_bytes(), like))
        .and_then(|()| fs::rename(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(&draft);
    }
    written
}

/// Writes a file to the disk, with the owner, group and mode of another one.
fn fill(mut file: File, bytes: &[u8], like: Option<&Metadata>) -> io::Result<()> {
    if let Some(like) = like {
        let own = file.metadata()?;
        if (own.uid(), own.gid()) != (like.uid(), like.gid()) {
            fchown(&file, Some(like.uid()), Some(like.gid()))?;
        }
        file.set_permissions(like.permissions())?;
    }
    file.write_all(bytes)?;
    file.sync_all()
}

fn folder_of(file: &Path) -> PathBuf {
    let stem = file.file_stem().unwrap_or_default();
    file.parent().unwrap_or(Path::new("")).join(FOLDER).join(stem)
}

/// The earlier versions of a rule file, the oldest first.
///
/// # Errors
/// If the folder cannot be read.
pub fn versions(file: &Path) -> anyhow::Result<Vec<Version>> {
    let folder = folder_of(file);
    let entries = match fs::read_dir(&folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(error).with_context(|| folder.display().to_string()),
    };
    let is_version = |path: &PathBuf| path.extension().is_some_and(|of| of == "toml") && path.is_file();
    let mut files: Vec<PathBuf> = entries.filter_map(|entry| Some(entry.ok()?.path())).filter(is_version).collect();
    files.sort();
    let next = files.iter().skip(1).map(PathBuf::as_path).chain([file]);
    let of = |(old, new): (&PathBuf, &Path)| -> anyhow::Result<Version> {
        let read = |path: &Path| fs::read_to_string(path).with_context(|| path.display().to_string());
        let (before, after) = (read(old)?, read(new)?);
        let diff = TextDiff::from_lines(&before, &after);
        let count = |tag: ChangeTag| diff.iter_all_changes().filter(|change| change.tag() == tag).count();
        Ok(Version {
            replaced: old.file_stem().unwrap_or_default().to_string_lossy().into_owned(),
            file: old.clone(),
            lines_added: count(ChangeTag::Insert),
            lines_removed: count(ChangeTag::Delete),
        })
    };
    files.iter().zip(next).map(of).collect()
}
