//! Selects the sites of a command: the named ones, or all enabled ones. A bad file disables only its own site; its
//! faults are printed where the file would have been used.

use std::path::Path;
use std::sync::Arc;

use anyhow::bail;

use super::config::show_faults;
use super::hints::{Hints, quoted, told_argument};
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_base::{owner, place};
use gleaner_rules::config::Config;
use gleaner_rules::{self as rules, SiteRules, fault};

/// The sites of a command.
pub struct Chosen {
    pub sites: Vec<Arc<SiteRules>>,
    /// Number of faulty files that would have been used; their faults are printed here.
    pub bad_files: usize,
}

/// Fails if there is no folder of rule files.
pub fn must_have_rules(config: &Config) -> anyhow::Result<()> {
    if let Err(error) = std::fs::read_dir(&config.rules_dir)
        && error.kind() == std::io::ErrorKind::PermissionDenied
    {
        let (dir, we) = (config.rules_dir.display(), owner::of_files());
        let who = owner::name_of(we).unwrap_or_else(|| format!("user {we}"));
        bail!(
            "{dir}: {who} may not read this folder of rule files\nhint: chmod -R a+rX {dir}, or pass another --rules"
        );
    }
    if config.rules_dir.is_file() {
        let dir = config.rules_dir.display();
        let above = config.rules_dir.parent().filter(|above| !above.as_os_str().is_empty()).unwrap_or(Path::new("."));
        bail!("{dir}: this is a file\nhint: pass its folder: --rules {}", quoted(above));
    }
    if let Some((there, _)) = place::in_the_way(&config.rules_dir) {
        bail!("{}: {}, not a folder\nhint: pass another --rules", there.display(), place::told(&there));
    }
    if !config.rules_dir.is_dir() {
        let dir = config.rules_dir.display();
        let hint = "pass the right --rules, or start one there: gleaner rules new URL --rules";
        bail!("{dir}: there is no such folder of rule files\nhint: {hint} {}", quoted(&config.rules_dir));
    }
    Ok(())
}

/// The named sites, or all enabled ones; `command` is the command that they are for.
///
/// # Errors
/// If there is no folder of rule files, for a name that no site has, with the most similar one as a hint, and if there is no site at all.
pub fn chosen(command: &str, config: &Config, names: &[String], hints: &Hints) -> anyhow::Result<Chosen> {
    must_have_rules(config)?;
    let mut chosen = Chosen { sites: Vec::new(), bad_files: 0 };
    // All sites, and the names of files whose site name cannot be determined.
    let (mut all, mut bad) = (Vec::new(), Vec::new());
    for file in rules::load_dir(&config.rules_dir) {
        match file.site {
            Ok(site) => {
                let is_named = names.iter().any(|name| **name == *site.name);
                all.push(Arc::clone(&site));
                if is_named || (names.is_empty() && site.enabled) {
                    chosen.sites.push(site);
                }
            }
            Err(faults) => {
                let stem = file.path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
                if names.is_empty() || names.contains(&stem) {
                    chosen.bad_files += 1;
                    show_faults(&faults);
                }
                bad.push((stem, file.path));
            }
        }
    }
    let dir = config.rules_dir.display();
    let known: Vec<String> = all.iter().map(|site| site.name.to_string()).collect();
    if let Some(name) = names.iter().find(|name| !known.contains(name)) {
        if let Some(told) = no_name(name, command, &all, hints) {
            bail!("{told}");
        }
        let hint = hint_for(name, &known, &bad, hints);
        let sites = if known.is_empty() { String::new() } else { format!("; there are {}", known.join(", ")) };
        let name = told_argument(name);
        bail!("no usable rule file for site `{name}` in {dir}{sites}\nhint: {hint}");
    }
    if chosen.sites.is_empty() {
        let why = if chosen.bad_files > 0 { "no usable" } else { "no enabled" };
        let new = hints.command("rules new URL");
        bail!("{why} site in {dir}\nhint: `{new}` creates one; `enabled = true` in a file enables it");
    }
    Ok(chosen)
}

/// The one site of this name.
///
/// # Errors
/// Same as [`chosen`].
pub fn one(command: &str, config: &Config, name: &str, hints: &Hints) -> anyhow::Result<Arc<SiteRules>> {
    let mut chosen = chosen(command, config, &[name.to_owned()], hints)?;
    // Site names are unique, so the requested site is in the list.
    match chosen.sites.pop() {
        Some(site) => Ok(site),
        None => bail!("no site `{name}`"),
    }
}

/// The message for a URL or a file in the place of a name, with the command that was most likely meant.
fn no_name(given: &str, command: &str, all: &[Arc<SiteRules>], hints: &Hints) -> Option<String> {
    let shown = told_argument(given);
    let of_site = |site: &Arc<SiteRules>| hints.command(&format!("{command} {}", site.name));
    if given.contains("://") {
        let url = CrawlUrl::parse(given, &Canonical::default()).ok();
        let owner = url.and_then(|url| all.iter().find(|site| site.owns_host(url.authority())));
        let hint = owner.map_or_else(|| hints.command(&format!("rules new {}", quoted(Path::new(&shown)))), of_site);
        return Some(format!("{shown}: this is a URL, not the name of a site\nhint: {hint}"));
    }
    let path = Path::new(given);
    if !path.is_file() {
        return None;
    }
    let is_it = |site: &&Arc<SiteRules>| site.file.canonicalize().ok() == path.canonicalize().ok();
    let check = || hints.command(&format!("rules check {}", quoted(path)));
    let hint = all.iter().find(is_it).map_or_else(check, of_site);
    Some(format!("{shown}: this is a file, not the name of a site\nhint: {hint}"))
}

/// The hint for a name that no usable file has.
fn hint_for(name: &str, known: &[String], bad: &[(String, std::path::PathBuf)], hints: &Hints) -> String {
    let check = |path: &Path| hints.command(&format!("rules check {}", quoted(path)));
    if let Some((_, path)) = bad.iter().find(|(stem, _)| stem == name) {
        return format!("fix its file, then run: {}", check(path));
    }
    let names = known.iter().chain(bad.iter().map(|(stem, _)| stem)).map(String::as_str);
    match fault::nearest(name, names) {
        Some(site) if known.iter().any(|name| name == site) => format!("did you mean `{site}`?"),
        Some(site) => {
            let path = bad.iter().find(|(stem, _)| stem == site).map_or(Path::new(""), |(_, path)| path);
            format!("did you mean `{site}`? Its file has faults: {}", check(path))
        }
        None if known.is_empty() => format!("`{}` creates one", hints.command("rules new URL")),
        None => "name one of these".to_owned(),
    }
}
