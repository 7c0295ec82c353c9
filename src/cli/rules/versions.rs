//! Earlier versions of rule files, as commands: `rules history` and `rules revert`.

use std::fs;
use std::process::ExitCode;

use anyhow::{Context as _, bail};

use crate::app::versions::{Version, replace, versions};
use crate::cli::hints::Hints;
use gleaner_rules::config::Config;
use gleaner_rules::{SiteRules, load_file};

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
