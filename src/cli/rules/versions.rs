//! Earlier versions of rule files: each one that `rules repair` or `rules revert` has replaced is kept as `history/SITE/TIME-NN.toml` in the rules
//! folder.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::os::unix::fs::{MetadataExt as _, fchown};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use serde::Serialize;
use similar::{ChangeTag, TextDiff};

use crate::cli::hints::Hints;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_rules::config::Config;
use gleaner_rules::{SiteRules, load_file};

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

/// `rules history`.
pub fn history(site: &SiteRules, json: bool, hints: &Hints) -> anyhow::Result<ExitCode> {
    let versions = versions(&site.file)?;
    if json {
        outln!(
            "{}",
            serde_json::json!({ "site": site.name, "file": site.file.display().to_string(), "versions": versions })
        );
        return Ok(ExitCode::SUCCESS);
    }
    for Version { replaced, file, lines_added, lines_removed } in &versions {
        outln!("{replaced}  {}  the next one has {lines_added} lines more and lacks {lines_removed}", file.display());
    }
    if versions.is_empty() {
        outln!(
            "{}: no earlier version is kept: `rules repair --apply` and `rules revert` keep what they replace",
            site.file.display()
        );
    } else {
        outln!("in force: {}", site.file.display());
        let revert = hints.command(&format!("rules revert {}", site.name));
        outln!("hint: {revert} puts the last one in force again, and keeps this one; it takes a version, too");
    }
    Ok(ExitCode::SUCCESS)
}

/// `rules revert`: the last version, or the one of this time, is in force again; what it replaces is kept like any other. `file` may have faults.
pub fn revert(config: &Config, name: &str, version: Option<&str>, hints: &Hints) -> anyhow::Result<ExitCode> {
    let file = config.rules_dir.join(format!("{name}.toml"));
    let file = match gleaner_rules::load_dir(&config.rules_dir)
        .into_iter()
        .find_map(|of| of.site.ok().filter(|site| *site.name == *name))
    {
        Some(site) => site.file.to_path_buf(),
        None if file.is_file() => file,
        None => bail!("{name}: no site of this name has a rule file\nhint: {}", hints.command("rules check")),
    };
    let versions = versions(&file)?;
    let is_meant = |of: &&Version| version.is_none_or(|version| of.replaced == version);
    let Some(back) = versions.iter().rev().find(is_meant) else {
        let list = hints.command(&format!("rules history {name}"));
        match version {
            Some(version) => bail!("{version}: {name} has no such version\nhint: {list}"),
            None => bail!("{name}: no earlier version is kept\nhint: {list}"),
        }
    };
    let text = fs::read_to_string(&back.file).with_context(|| back.file.display().to_string())?;
    let kept = replace(&file, &text)?;
    outln!("{} is the version of {} again", file.display(), back.replaced);
    outln!("what it replaces is {}", kept.display());
    let faults = load_file(&file).site.err().unwrap_or_default();
    if let Some(first) = faults.first() {
        errln!("warning: that file has faults: {first}");
    }
    Ok(if faults.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
