//! Repairs that the service makes by itself: a site whose rules keep their promise no more is learned again by `gleaner rules repair`, in a process
//! of its own, while its crawl pauses, so that both together send no more than the site's rate. Nothing is put in force unless the rule file
//! says `[learn] repair = "apply"`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::time::SystemTime;

use serde::Deserialize;
use tokio::process::Command;
use tokio::task::JoinSet;

use super::status::broken_promises;
use crate::limits::{REPAIR_AGAIN_AFTER, REPAIR_TIME_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_crawl::CrawlError;
use gleaner_rules::{Repair, SiteRules};
use gleaner_store::crawldb::Reader;

/// Where a repaired file is proposed: beside the rule file, or in the data folder if that of the rules cannot be written.
#[must_use]
pub fn proposals(rules: &SiteRules, data_dir: &Path) -> [PathBuf; 2] {
    let name = format!("{}.toml.proposed", rules.name);
    [rules.file.with_extension("toml.proposed"), data_dir.join("proposed").join(name)]
}

/// The last one, if there is one.
#[must_use]
pub fn proposal(rules: &SiteRules, data_dir: &Path) -> Option<(PathBuf, SystemTime)> {
    let written = |path: PathBuf| Some((path.clone(), path.metadata().ok()?.modified().ok()?));
    proposals(rules, data_dir).into_iter().filter_map(written).max_by_key(|(_, at)| *at)
}

/// The repairs of a service.
pub struct Repairs {
    /// The program and its options.
    program: Vec<std::ffi::OsString>,
    /// When each site was last learned again.
    tried: BTreeMap<String, UnixMillis>,
    /// Sites that are to be repaired as soon as their crawl pauses.
    due: BTreeMap<String, Repair>,
    /// Sites that are being repaired: their crawl goes on with these rules.
    waiting: BTreeMap<String, Arc<SiteRules>>,
    running: JoinSet<(String, Result<Told, String>)>,
}

/// What the process says.
#[derive(Debug, Deserialize)]
pub struct Told {
    pub objections: Vec<String>,
    pub file: Option<String>,
    pub is_applied: bool,
}

impl Repairs {
    #[must_use]
    pub fn new(program: Vec<std::ffi::OsString>) -> Self {
        Self {
            program,
            tried: BTreeMap::new(),
            due: BTreeMap::new(),
            waiting: BTreeMap::new(),
            running: JoinSet::new(),
        }
    }

    /// Whether a site is to be learned again now: an alarm is younger than the last proposal, and the last try is a day ago.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn wants(
        &mut self,
        db: &dyn Reader,
        rules: &SiteRules,
        data_dir: &Path,
        now: UnixMillis,
    ) -> Result<bool, CrawlError> {
        let name = &*rules.name;
        let is_tried = self.tried.get(name).is_some_and(|at| now.since(*at) < REPAIR_AGAIN_AFTER);
        if rules.repair() == Repair::Off || is_tried || self.due.contains_key(name) || self.waiting.contains_key(name) {
            return Ok(false);
        }
        let Some(latest) = broken_promises(db, name).await?.iter().map(|of| of.alarm.since).max() else {
            return Ok(false);
        };
        let proposed = proposal(rules, data_dir).and_then(|(_, at)| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        if proposed.is_some_and(|at| at.as_millis() >= u128::from(latest.0)) {
            return Ok(false);
        }
        self.tried.insert(name.to_owned(), now);
        self.due.insert(name.to_owned(), rules.repair());
        Ok(true)
    }

    /// The crawl of a site pauses: begins its repair, if one is due. It goes on with `rules`, or with those that are wanted meanwhile.
    pub fn begin(&mut self, name: &str, rules: &Arc<SiteRules>) -> bool {
        let Some(how) = self.due.remove(name) else { return false };
        let mut words = self.program.iter();
        let Some(program) = words.next() else { return false };
        let mut command = Command::new(program);
        command.args(["rules", "repair", name, "--json"]).args(words);
        if how == Repair::Apply {
            command.arg("--apply");
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        tracing::info!(
            site = name,
            "the site is learned again, as its rules keep their promise no more; its crawl pauses"
        );
        let name = name.to_owned();
        self.waiting.insert(name.clone(), Arc::clone(rules));
        self.running.spawn(async move {
            let ran = tokio::time::timeout(REPAIR_TIME_MAX, command.output()).await;
            let told = match ran {
                Err(_) => Err(format!("it took more than {} s", REPAIR_TIME_MAX.as_secs())),
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(output)) => serde_json::from_slice::<Told>(&output.stdout)
                    .map_err(|_| String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            };
            (name, told)
        });
        true
    }

    /// The rules that the crawl of a site goes on with after its repair, to be replaced; None if it is not being repaired.
    pub fn next(&mut self, name: &str) -> Option<&mut Arc<SiteRules>> {
        self.waiting.get_mut(name)
    }

    /// Sites that are not wanted any more do not go on.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool) {
        self.waiting.retain(|name, _| is_wanted(name));
    }

    /// True while a site is being repaired.
    #[must_use]
    pub fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// The next repair that has ended, with the rules that its site goes on with.
    pub async fn ended(&mut self) -> Option<(String, Option<Arc<SiteRules>>)> {
        let (name, told) = self.running.join_next().await?.ok()?;
        match told {
            Ok(Told { file: Some(file), is_applied: true, .. }) => {
                tracing::warn!(
                    site = name,
                    file,
                    "a repaired rule file is in force (hint: gleaner rules history, gleaner rules revert)"
                );
            }
            Ok(Told { file: Some(file), objections, .. }) => {
                let objections = objections.join("; ");
                tracing::warn!(
                    site = name,
                    file,
                    objections,
                    "a repaired rule file is proposed (hint: read it, then `gleaner rules repair --apply`)"
                );
            }
            Ok(Told { objections, .. }) => {
                let why = objections.join("; ");
                tracing::warn!(site = name, why, "learning the site again has changed nothing");
            }
            Err(why) => tracing::warn!(site = name, why, "the site could not be learned again"),
        }
        let rules = self.waiting.remove(&name);
        Some((name, rules))
    }
}
