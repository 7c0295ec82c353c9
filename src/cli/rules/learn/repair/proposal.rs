//! A proposed rule file: the text, below lines that say which file it was drawn from and what speaks against it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, bail};
use xxhash_rust::xxh3::xxh3_64;

use crate::app::repairs::{proposal, proposals};
use crate::app::versions::put;
use crate::cli::hints::quoted;
use gleaner_base::console::escaped;
use gleaner_base::owner;
use gleaner_rules::{SiteRules, from_text_at};

/// The first line; the checksum is xxh3's.
const OF: &str = "# Proposed by `gleaner rules repair` in the place of the file with the checksum ";

/// A reason not to put it in force.
const AGAINST: &str = "# - ";

fn first_line(old: &str) -> String {
    format!("{OF}{:016x}.", xxh3_64(old.as_bytes()))
}

/// Writes a proposal beside the rule file; into the data folder if that cannot be written, as for a service. An earlier one, which a person may
/// have changed, stays beside it.
///
/// # Errors
/// If neither can be written.
pub(super) fn write(
    site: &SiteRules,
    data_dir: &Path,
    (old, text): (&str, &str),
    objections: &[String],
) -> anyhow::Result<PathBuf> {
    let [beside, aside] = proposals(site, data_dir);
    let mut whole = first_line(old) + "\n";
    objections.iter().for_each(|why| whole += &format!("{AGAINST}{}\n", escaped(why).replace(['\n', '\r'], " ")));
    whole += text;
    let written = |path: &Path| {
        if path.exists() {
            fs::rename(path, path.with_extension("proposed.before"))?;
        }
        put(path, &whole, None)?;
        // Nobody reads it who may not read the file that it is drawn from.
        let mode = fs::metadata(&site.file)?.permissions().mode() & 0o666;
        fs::set_permissions(path, fs::Permissions::from_mode(mode))
    };
    if written(&beside).is_ok() {
        let _owner = owner::act(data_dir);
        let _ = fs::remove_file(aside);
        return Ok(beside);
    }
    let hint = || format!("{}\nhint: run the command as a user who may write to the rules folder", beside.display());
    let _owner = owner::act(data_dir);
    fs::create_dir_all(aside.parent().unwrap_or(data_dir)).and_then(|()| written(&aside)).with_context(hint)?;
    Ok(aside)
}

/// The text of the last proposal, as a person may have changed it, if it is one for the file that is in force. None if something speaks against
/// it and the site is learned `anyway`.
///
/// # Errors
/// If it has faults, or something speaks against it: who has read that removes the lines that say so.
pub(super) fn ready(site: &SiteRules, data_dir: &Path, old: &str, anyway: bool) -> anyhow::Result<Option<String>> {
    let _owner = owner::act(data_dir);
    let Some((path, _)) = proposal(site, data_dir) else { return Ok(None) };
    let whole = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
    let Some(text) = whole.strip_prefix(&first_line(old)).and_then(|rest| rest.strip_prefix('\n')) else {
        return Ok(None);
    };
    let against: Vec<&str> = text.lines().map_while(|line| line.strip_prefix(AGAINST)).collect();
    if let [first, ..] = against[..] {
        if anyway {
            return Ok(None);
        }
        bail!(
            "{}: {first}\nhint: read it; if it is right, remove the lines at its top that begin with `{AGAINST}`, and run the command again; --anyway \
             learns the site again",
            path.display()
        );
    }
    from_text_at(&site.file, text).map_err(|faults| {
        let first = faults.first().map(ToString::to_string).unwrap_or_default();
        anyhow!(
            "{}: the proposal has faults: {first}\nhint: correct it; or remove it to learn the site again: rm {}",
            path.display(),
            quoted(&path)
        )
    })?;
    Ok(Some(text.to_owned()))
}

/// Puts aside what was proposed before a file was put in force: a person may have been at work on it.
pub(super) fn put_aside(site: &SiteRules, data_dir: &Path) {
    let [beside, aside] = proposals(site, data_dir);
    let put_aside = |path: &Path| drop(fs::rename(path, path.with_extension("proposed.before")));
    put_aside(&beside);
    let _owner = owner::act(data_dir);
    put_aside(&aside);
}
