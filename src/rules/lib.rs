//! Site rule files: which URLs of a site are fetched, and as what (ALGORITHMS §2).
//!
//! ```text
//! rules/*.toml ─ syntax, schema (shape) → file (as written) → check (meaning: patterns, places, families) → trials
//!                    └──────────── fault: every fault of a file at once, located ───────────┘                 │
//!                                                                                  judge::SiteRules (compiled)
//! ```
//!
//! A bad file disables only its own site; the caller keeps the last good rules of a running service. Only the loading
//! functions of this file and `families` read the disk; judging is pure. This room never fetches, never writes and
//! never sees a secret.

pub mod config;
pub mod limits;

mod account;
mod acting;
mod categories;
mod check;
mod class;
pub mod families;
pub mod fault;
pub mod file;
mod judge;
mod log_out;
mod patterns;
mod places;
pub mod schema;
mod secrets;
pub mod shadows;
pub mod shipped;
pub mod starter;
mod syntax;
mod trials;

use std::collections::HashMap;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use acting::{ActSign, action_of, acts, gives_torrent, is_router, is_token, names_token, parameters};
pub use categories::CategoryRules;
pub use class::Class;
pub use families::Families;
pub use fault::Fault;
pub use file::Policy;
pub use judge::{
    AllowedActions, BoardRules, BudgetRules, ClientRules, JsonLogin, LaneKey, Lanes, LoginRules, PrivateAddresses,
    Quota, Rate, Refusal, RenderActs, RenderWhen, Repair, Robots, Rule, SiteRules, Verdict,
};
pub use log_out::ends_session;

use fault::Faults;

use crate::limits::RULE_FILE_BYTES_MAX;
use gleaner_base::{place, regular};

/// A file of the rules folder and its content.
#[derive(Clone, Debug)]
pub struct LoadedFile {
    pub path: PathBuf,
    /// The site, or all faults of its file in text order.
    pub site: Result<Arc<SiteRules>, Vec<Fault>>,
}

/// Loads every `*.toml` directly in `dir`, sorted by name; hidden files (editors' drafts) are skipped.
/// If two files define the same site name, the later one gets a fault. An unreadable folder is one faulty entry.
#[must_use]
pub fn load_dir(dir: &Path) -> Vec<LoadedFile> {
    let paths = match site_paths(dir) {
        Ok(paths) => paths,
        Err(error) => {
            let fault = match place::in_the_way(dir) {
                Some((there, _)) => whole_file(
                    &there,
                    format!("{}, not a folder", place::told(&there)),
                    "pass another folder as --rules",
                ),
                None => unreadable(dir, &error, "pass the folder as --rules, or create it"),
            };
            return vec![LoadedFile { path: dir.to_owned(), site: Err(vec![*fault]) }];
        }
    };
    let mut names: HashMap<Box<str>, PathBuf> = HashMap::new();
    let mut loaded: Vec<LoadedFile> = paths.into_iter().map(|path| load_file(&path)).collect();
    for file in &mut loaded {
        let Ok(site) = &file.site else { continue };
        match names.get(&site.name) {
            Some(first) => file.site = Err(vec![same_name(&file.path, site, first)]),
            None => {
                names.insert(site.name.clone(), file.path.clone());
            }
        }
    }
    loaded
}

/// Loads one site file; its families are searched in the folder `families` beside it, then among the built-in ones.
#[must_use]
pub fn load_file(path: &Path) -> LoadedFile {
    let site = match read_text(path) {
        Ok(text) => from_text_at(path, &text),
        Err(fault) if path.is_dir() => {
            let hint =
                format!("name a file; for all files of this folder: gleaner rules check --rules {}", path.display());
            Err(vec![Fault { hint: Some(hint), ..*fault }])
        }
        Err(fault) => Err(vec![*fault]),
    };
    LoadedFile { path: path.to_owned(), site }
}

/// Rules from a text, as if it were the site file at this path.
pub fn from_text_at(path: &Path, text: &str) -> Result<Arc<SiteRules>, Vec<Fault>> {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    check::site_text(path, text, &stem, &Families::new(path.parent()))
}

/// Rules from a text, with the built-in families; used by the demo site.
pub fn from_text(name: &str, text: &str) -> Result<Arc<SiteRules>, Vec<Fault>> {
    check::site_text(Path::new(&format!("<{name}>")), text, name, &Families::new(None))
}

/// What a folder of rule files has that is not read, sorted by name: files of other names, hidden ones too, and folders other than
/// `families`.
#[must_use]
pub fn skipped_paths(dir: &Path) -> Vec<PathBuf> {
    let read = site_paths(dir).unwrap_or_default();
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_known = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default();
        read.contains(path) || name == "families" && path.is_dir()
    };
    let mut skipped: Vec<PathBuf> = entries.filter(|path| !is_known(path)).collect();
    skipped.sort();
    skipped
}

/// The site files of a folder, sorted by name.
pub fn site_paths(dir: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        let is_hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        if !is_hidden && path.extension().is_some_and(|extension| extension == "toml") {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths)
}

/// Reads a rule or configuration file as UTF-8, with a size limit.
pub fn read_text(path: &Path) -> Result<String, Box<Fault>> {
    let mut bytes = Vec::new();
    let file = regular::open(path).and_then(|file| file.take(RULE_FILE_BYTES_MAX + 1).read_to_end(&mut bytes));
    if let Err(error) = file {
        let hint = match error.kind() {
            std::io::ErrorKind::NotFound => "check the path",
            std::io::ErrorKind::InvalidInput => "name a file; a folder or a pipe is none",
            _ => "make the file readable for gleaner",
        };
        return Err(unreadable(path, &error, hint));
    }
    if bytes.len() as u64 > RULE_FILE_BYTES_MAX {
        return Err(whole_file(path, format!("larger than {RULE_FILE_BYTES_MAX} bytes"), "split it"));
    }
    String::from_utf8(bytes).map_err(|error| {
        let valid = error.utf8_error().valid_up_to();
        let lossy = String::from_utf8_lossy(error.as_bytes()).into_owned();
        let mut faults = Faults::new(path, &lossy);
        // Up to the first bad byte, the lossy text has the same bytes.
        faults.add(valid..valid + 3, "", "the file is not UTF-8", Some("save it as UTF-8".to_owned()));
        Box::new(faults.into_sorted().remove(0))
    })
}

fn unreadable(path: &Path, error: &std::io::Error, hint: &str) -> Box<Fault> {
    whole_file(path, format!("cannot be read: {error}"), hint)
}

fn whole_file(path: &Path, message: String, hint: &str) -> Box<Fault> {
    Box::new(Fault {
        path: path.to_owned(),
        line: 1,
        column: 1,
        span: 0..0,
        key: String::new(),
        message,
        hint: Some(hint.to_owned()),
        source: "".into(),
        hidden: Arc::default(),
    })
}

fn same_name(path: &Path, site: &SiteRules, first: &Path) -> Fault {
    let message = format!("the site name `{}` is already used by {}", site.name, first.display());
    let text = read_text(path).unwrap_or_default();
    let mut faults = Faults::new(path, &text);
    let read = schema::read::<file::SiteFile>(&mut faults);
    let span = read.spans.value("name");
    let mut faults = Faults::new(path, &text);
    faults.add(span, "name", message, Some("give one of them another `name`".to_owned()));
    faults.into_sorted().remove(0)
}
