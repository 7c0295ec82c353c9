//! What the pages show beside the reports of the API: what the service keeps in memory or reads from its folders, and the rule files.

use std::collections::BTreeMap;
use std::sync::Arc;

use gleaner_base::clock::UnixMillis;
use gleaner_rules::Fault;
use gleaner_store::coverage::growth::GrowthPoint;
use serde::Deserialize;

use crate::acts::Refused;
pub use crate::api::refusals::RefusedLink;
use crate::{Done, Told};

/// Milliseconds of a half hour.
pub const HALF_HOUR_MS: u64 = 1_800_000;

/// What a site's crawl did in one half hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct HalfHour {
    /// Its number since 1970.
    pub number: u64,
    /// Requests that were answered as wished, and those that were not: asked to wait, refused, failed.
    pub answered: u32,
    pub throttled: u32,
    pub refused: u32,
    pub failed: u32,
    /// Torrents stored.
    pub torrents: u32,
    /// URLs that waited at its end.
    pub queued: u64,
    pub is_paused: bool,
    pub is_crawled: bool,
}

/// What was counted last of how much of a site is in the archive.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Covered {
    /// CR; None while it is not known.
    pub ratio: Option<f64>,
    /// CR is an upper bound.
    pub is_at_most: bool,
    /// How its torrents came.
    pub over_time: Vec<GrowthPoint>,
}

/// What the URLs of a rule have brought.
#[derive(Clone, Debug, PartialEq)]
pub struct Yield {
    /// Such as `classes.index`.
    pub key: String,
    pub pattern: String,
    /// File, line and column.
    pub place: String,
    pub fetched: u64,
    pub torrents: u64,
    /// Requests of the last ones that went to it.
    pub of_last: u64,
}

/// A rule file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleFile {
    /// The name of its file, without `.toml`.
    pub name: String,
    /// None for a file with faults.
    pub is_enabled: Option<bool>,
    pub rules: usize,
    pub faults: usize,
}

/// A mark of the checker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    /// Starts at 1.
    pub line: usize,
    pub column: usize,
    pub message: String,
    pub hint: Option<String>,
    /// Else a warning.
    pub is_fault: bool,
}

impl From<&Fault> for Mark {
    fn from(fault: &Fault) -> Self {
        let Fault { line, column, message, hint, .. } = fault;
        Self { line: *line, column: *column, message: message.clone(), hint: hint.clone(), is_fault: true }
    }
}

/// A rule file with its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RuleText {
    pub path: String,
    /// With secrets blotted out.
    pub text: String,
    /// SHA-256 of the file, in hex: what a form was made of.
    pub sha256: String,
    /// Some were: it is not edited here.
    pub has_secrets: bool,
    pub marks: Vec<Mark>,
    /// Earlier versions, the newest first: when each was replaced, and where it is.
    pub versions: Vec<(String, String)>,
}

/// The verdict of a rule file on a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdict {
    pub is_taken: bool,
    /// `taken as detail`, or why it is refused.
    pub what: String,
    /// The line that decides.
    pub by: Option<String>,
    /// Its number, if it is one of the file itself.
    pub line: Option<usize>,
}

/// Why a rule file was not written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotSaved {
    /// It is another file than the form was made of.
    Changed,
    /// It does not pass the check.
    Faults(Vec<Mark>),
    /// With what to do.
    Refused(String),
}

/// What an export of a name has had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Exported {
    pub name: String,
    /// Of the file that has a line for each torrent and magnet link.
    pub bytes: u64,
    pub at: UnixMillis,
}

/// When the lists of a site are looked at.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Timetable {
    pub site: String,
    pub looks_per_day: f64,
    pub is_full: bool,
    pub lists_total: usize,
    /// Those that come first.
    pub lists: Vec<Due>,
    /// Of all lists in the next day, in order.
    pub looks: Vec<UnixMillis>,
    /// Of the past day, as far as the service has run, in order.
    pub past: Vec<PastLook>,
}

/// A list of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Due {
    pub url: String,
    pub posts_per_day: f64,
    pub looked: UnixMillis,
    pub next: Option<UnixMillis>,
    pub why: String,
}

/// A look at a list that is over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastLook {
    pub at: UnixMillis,
    /// Path and query, keys masked.
    pub path: String,
    pub found: LookFound,
}

/// What it has found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookFound {
    Rows(u32),
    /// What was there before.
    Same,
    /// The list is not there, or something else is.
    Nothing,
}

/// What `gleaner doctor --offline` has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Examined {
    /// When the look began that found it; None before the first one has ended.
    pub at: Option<UnixMillis>,
    pub is_running: bool,
    /// Its last process does not end, although it was killed.
    pub is_hanging: bool,
    pub checks: Vec<Check>,
    /// Why there is no result.
    pub failed: Option<String>,
}

/// One check of it.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Check {
    #[serde(rename = "check")]
    pub name: String,
    /// `well`, `findings` or `skipped`.
    pub state: String,
    pub findings: Vec<Finding>,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Finding {
    pub subject: String,
    pub what: String,
    pub fix: String,
}

/// A question about a site, or something else with a name.
pub type Ask<T> = Box<dyn Fn(String) -> Told<T> + Send + Sync>;

/// The links that the rules of a site have refused.
pub type Refusals = Box<dyn Fn(&str) -> Vec<RefusedLink> + Send + Sync>;

/// The schedules of all sites.
pub type Timetables = Box<dyn Fn() -> Told<Arc<Vec<Timetable>>> + Send + Sync>;

/// A rule file by name, and URLs that it is to judge.
pub type Judge = Box<dyn Fn(String, Vec<String>) -> Told<Vec<Verdict>> + Send + Sync>;

/// A rule file's new text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewText {
    pub name: String,
    pub text: String,
    /// SHA-256 of the file that it replaces, in hex.
    pub of: String,
    /// Who wants it.
    pub by: String,
}

/// Saves a rule file's new text.
pub type Save = Box<dyn Fn(NewText) -> Done<Result<(), NotSaved>> + Send + Sync>;

/// See the module.
pub struct Desk {
    pub started: UnixMillis,
    /// Options that commands repeat, such as ` --data d`.
    pub given: String,
    /// Free and all bytes of the data folder's disk.
    pub disk: Box<dyn Fn() -> Option<(u64, u64)> + Send + Sync>,
    pub covered: Box<dyn Fn() -> BTreeMap<String, Covered> + Send + Sync>,
    /// The half hours of each site since the start of the process, in order.
    pub half_hours: Box<dyn Fn() -> BTreeMap<String, Vec<HalfHour>> + Send + Sync>,
    pub yields: Ask<Vec<Yield>>,
    /// Links that the rules of a site refused last, the newest first.
    pub refusals: Refusals,
    /// Of all sites.
    pub timetables: Timetables,
    /// What was found last.
    pub examined: Box<dyn Fn() -> Examined + Send + Sync>,
    /// Looks for it anew; false if the last look has not ended.
    pub examine: Box<dyn Fn() -> bool + Send + Sync>,
    pub rule_files: Box<dyn Fn() -> Told<Vec<RuleFile>> + Send + Sync>,
    pub rule_file: Ask<Option<RuleText>>,
    pub verdicts: Judge,
    pub save: Save,
    pub exports: Box<dyn Fn() -> Told<Vec<Exported>> + Send + Sync>,
}

/// Of no service.
impl Default for Desk {
    fn default() -> Self {
        Self {
            started: UnixMillis(0),
            given: String::new(),
            disk: Box::new(|| None),
            covered: Box::new(BTreeMap::new),
            half_hours: Box::new(BTreeMap::new),
            yields: Box::new(|_| Box::pin(std::future::ready(Ok(Vec::new())))),
            rule_files: Box::new(|| Box::pin(std::future::ready(Ok(Vec::new())))),
            rule_file: Box::new(|_| Box::pin(std::future::ready(Ok(None)))),
            refusals: Box::new(|_| Vec::new()),
            timetables: Box::new(|| Box::pin(std::future::ready(Ok(Arc::default())))),
            examined: Box::new(Examined::default),
            examine: Box::new(|| false),
            verdicts: Box::new(|_, urls| {
                Box::pin(std::future::ready(Ok(urls.iter().map(|_| Verdict::default()).collect())))
            }),
            save: Box::new(|new| Box::pin(std::future::ready(Err(Refused::Unknown(new.name))))),
            exports: Box::new(|| Box::pin(std::future::ready(Ok(Vec::new())))),
        }
    }
}
