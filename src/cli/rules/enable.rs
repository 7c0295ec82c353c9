//! `gleaner rules enable SITE` and `rules disable SITE`: one key of one file.

use std::fs;
use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use gleaner_base::regular;
use gleaner_rules::fault::nearest;
use gleaner_rules::shipped::SHIPPED;
use gleaner_rules::{from_text_at, load_dir};
use toml_edit::{Document, Item};

use crate::app::versions::put;
use crate::cli::hints::Hints;

/// Enables or disables a site: its file in the rules folder, or else, to enable it, the one that comes with gleaner, which is written there. Says what is in
/// force afterwards.
///
/// # Errors
/// A name that no file has, a file with faults, and a folder that cannot be written.
pub fn switch(name: &str, on: bool, rules_dir: &Path, hints: &Hints, out: &mut impl Write) -> anyhow::Result<()> {
    let state = if on { "enabled" } else { "disabled" };
    let (path, text, is_new) = match own(name, rules_dir) {
        Some(path) => {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            (path, text, false)
        }
        None => match SHIPPED.iter().find(|(known, _)| *known == name) {
            Some((_, text)) if on => (rules_dir.join(format!("{name}.toml")), (*text).to_owned(), true),
            _ => bail!("{}", unknown(name, on, rules_dir, hints)),
        },
    };
    let document = match (from_text_at(&path, &text), Document::parse(&*text)) {
        (Ok(_), Ok(document)) => document,
        (read, _) => {
            let first = read.err().and_then(|faults| faults.first().map(ToString::to_string)).unwrap_or_default();
            let or = if on { String::new() } else { format!("; or {}", hints.command(&format!("pause {name}"))) };
            bail!("{first}\nhint: mend the file first: {}{or}", hints.command("rules check"));
        }
    };
    let key = document.get("enabled");
    let was_on = key.and_then(Item::as_bool).unwrap_or(true);
    if was_on == on && !is_new {
        writeln!(out, "{name} is {state} already: {}", path.display())?;
        return Ok(());
    }
    let text = with_key(&text, key.and_then(Item::span), on);
    let hint = || format!("{}\nhint: run the command as a user who may write to the rules folder", path.display());
    if is_new {
        fs::create_dir_all(rules_dir).with_context(hint)?;
        regular::create(&path, text.as_bytes()).with_context(hint)?;
    } else {
        let target = fs::canonicalize(&path).with_context(hint)?;
        let like = fs::metadata(&target).with_context(hint)?;
        put(&target, &text, Some(&like)).with_context(hint)?;
    }
    writeln!(out, "{name} is {state}: {}", path.display())?;
    if on {
        writeln!(out, "next: look at what would be fetched: {}", hints.command(&format!("crawl {name} --dry-run")))?;
        writeln!(out, "      a running service takes it up by itself")?;
    }
    Ok(())
}

/// The text with this value in the place of the one there; all else stays as it was written. Without one, the key comes first.
fn with_key(text: &str, value: Option<Range<usize>>, on: bool) -> String {
    let Some((before, after)) = value.and_then(|at| Some((text.get(..at.start)?, text.get(at.end..)?))) else {
        return format!("enabled = {on}\n{text}");
    };
    format!("{before}{on}{after}")
}

/// The file of a site in the rules folder. One with faults has the name of its file.
fn own(name: &str, rules_dir: &Path) -> Option<PathBuf> {
    let is_named = |path: &Path| path.file_stem().is_some_and(|stem| stem == name);
    load_dir(rules_dir).into_iter().find_map(|file| {
        let is_it = match &file.site {
            Ok(site) => &*site.name == name,
            Err(_) => file.path != rules_dir && is_named(&file.path),
        };
        is_it.then_some(file.path)
    })
}

fn unknown(name: &str, on: bool, rules_dir: &Path, hints: &Hints) -> String {
    let loaded = load_dir(rules_dir);
    let own = loaded.iter().filter_map(|file| file.site.as_ref().ok().map(|site| &*site.name));
    let shipped = SHIPPED.iter().map(|(name, _)| *name).filter(|_| on);
    let mut known: Vec<&str> = own.chain(shipped).collect();
    known.sort_unstable();
    known.dedup();
    let hint = match nearest(name, known.iter().copied()) {
        Some(meant) => format!("did you mean `{meant}`?"),
        None if known.is_empty() => hints.command("rules learn URL"),
        None => format!("write one of {}, or begin a file: {}", known.join(", "), hints.command("rules learn URL")),
    };
    format!("{name}: no site has this name\nhint: {hint}")
}
