//! `gleaner rules check`: all faults of rule files at once, warnings, and what is skipped, as text or JSON.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use gleaner_base::console::lossy;
use gleaner_rules::fault::render;
use gleaner_rules::shadows::shadows;
use gleaner_rules::{Fault, LoadedFile, SiteRules, families, load_dir, load_file, site_paths, skipped_paths};

/// The result for a set of files.
#[derive(Debug, Serialize)]
pub struct Checked {
    files: Vec<CheckedFile>,
    /// What the folder has that is not read.
    skipped: Vec<String>,
}

#[derive(Debug, Serialize)]
struct CheckedFile {
    #[serde(serialize_with = "lossy")]
    path: PathBuf,
    /// A part that sites extend, and no site.
    is_family: bool,
    /// Name of the site; None for a family and for a file with faults.
    site: Option<String>,
    enabled: Option<bool>,
    /// Rules, those of its families included; None for a file with faults.
    rules: Option<usize>,
    faults: Vec<Fault>,
    warnings: Vec<Warning>,
}

/// What works, and most likely not as it was meant.
#[derive(Debug, Serialize)]
struct Warning {
    line: usize,
    column: usize,
    message: String,
    hint: String,
}

impl Checked {
    /// Checks files, or without any all site files of `rules_dir` and its families.
    #[must_use]
    pub fn of(files: &[PathBuf], rules_dir: &Path) -> Self {
        let is_folder = files.is_empty();
        let loaded = if is_folder { load_dir(rules_dir) } else { Vec::new() };
        let families = if is_folder { site_paths(&rules_dir.join("families")).unwrap_or_default() } else { Vec::new() };
        let skipped = if is_folder { skipped_paths(rules_dir) } else { Vec::new() };
        let named = files.iter().chain(&families).map(|path| match is_family(path) {
            true => CheckedFile::of_family(path),
            false => CheckedFile::of_site(load_file(path)),
        });
        Self {
            files: loaded.into_iter().map(CheckedFile::of_site).chain(named).collect(),
            skipped: skipped.iter().map(|path| path.display().to_string()).collect(),
        }
    }

    /// True if no file has a fault.
    #[must_use]
    pub fn is_well(&self) -> bool {
        self.files.iter().all(|file| file.faults.is_empty())
    }

    /// Writes it for people.
    ///
    /// # Errors
    /// Those of the output.
    pub fn tell(&self, out: &mut impl Write, colour: bool) -> io::Result<()> {
        for file in &self.files {
            let (path, rules) = (file.path.display(), file.rules.unwrap_or_default());
            match (&file.site, file.is_family, file.faults.is_empty()) {
                (Some(site), ..) => {
                    let state = if file.enabled == Some(true) { "enabled" } else { "not enabled" };
                    writeln!(out, "ok {path}: site {site}, {state}, {rules} rules, those of its families included")?;
                }
                (None, true, true) => {
                    writeln!(out, "ok {path}: family, {rules} rules, those of its families included")?;
                }
                _ => {}
            }
            for Warning { line, column, message, hint } in &file.warnings {
                writeln!(out, "{path}:{line}:{column}: warning: {message}\n  hint: {hint}")?;
            }
        }
        for path in &self.skipped {
            writeln!(out, "skipped {}: a site file is a file called NAME.toml", path)?;
        }
        let faults: Vec<Fault> = self.files.iter().flat_map(|file| file.faults.clone()).collect();
        out.write_all(render(&faults, colour).as_bytes())?;
        let families = self.files.iter().filter(|file| file.is_family).count();
        let (all, bad) = (self.files.len(), self.files.iter().filter(|file| !file.faults.is_empty()).count());
        match bad {
            0 => writeln!(out, "no faults; site files: {}, families: {families}", all - families),
            _ => writeln!(out, "faults: {}; files with faults: {bad} of {all}", faults.len()),
        }
    }
}

impl CheckedFile {
    fn of_site(LoadedFile { path, site }: LoadedFile) -> Self {
        match site {
            Ok(site) => Self {
                path,
                is_family: false,
                site: Some(site.name.to_string()),
                enabled: Some(site.enabled),
                rules: Some(site.rules().len()),
                faults: Vec::new(),
                warnings: warnings(&site),
            },
            Err(faults) => Self::faulty(path, false, faults),
        }
    }

    fn of_family(path: &Path) -> Self {
        match families::check_file(path) {
            Ok(rules) => Self { rules: Some(rules), ..Self::faulty(path.to_owned(), true, Vec::new()) },
            Err(faults) => Self::faulty(path.to_owned(), true, faults),
        }
    }

    fn faulty(path: PathBuf, is_family: bool, faults: Vec<Fault>) -> Self {
        Self { path, is_family, site: None, enabled: None, rules: None, faults, warnings: Vec::new() }
    }
}

/// Rules that get no URL.
fn warnings(site: &SiteRules) -> Vec<Warning> {
    let warn = |shadow: gleaner_rules::shadows::Shadow| {
        let (rule, by) = (&site.rules()[shadow.rule], &site.rules()[shadow.by]);
        let (key, by_key, by_line) = (rule.key(), by.key(), by.line);
        Warning {
            line: rule.line,
            column: rule.column,
            message: format!(
                "`{}` ({key}) seems to get no URL: `{}` ({by_key}, line {by_line}) takes what it matches",
                rule.pattern, by.pattern
            ),
            hint: format!(
                "make the one of {by_key} narrower: `deny` comes first, then the classes in the order of docs/reference/rules.md"
            ),
        }
    };
    shadows(site).into_iter().map(warn).collect()
}

fn is_family(path: &Path) -> bool {
    path.parent().and_then(Path::file_name).is_some_and(|folder| folder == "families")
}
