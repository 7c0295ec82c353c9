//! Repairs that the service makes by itself: a site whose rules keep their promise no more is learned again by `gleaner rules repair`, in a process
//! of its own, while its crawl pauses, so that both together send no more than the site's rate. Nothing is put in force unless the rule file
//! says `[learn] repair = "apply"`.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Output, Stdio};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use serde::Deserialize;
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;
use tokio::task::{AbortHandle, JoinSet};

use super::secrets;
use super::status::{broken_promises, held};
use crate::limits::{REPAIR_AGAIN_AFTER, REPAIR_TIME_BESIDE, REPAIR_TIME_MAX};
use gleaner_base::clock::UnixMillis;
use gleaner_learn::limits::REQUESTS;
use gleaner_rules::{Repair, SiteRules};
use gleaner_store::crawldb::{CrawlDb, CrawlDbError, Reader};

/// Name of the note of a site that stores when its last repair ended. One that was cut off is none: it is gone on with.
const REPAIR_NOTE: &str = "repair";

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

/// Why the site must not be asked for anything now; None if it may be.
///
/// # Errors
/// Errors of the database.
pub async fn pause(db: &dyn Reader, rules: &SiteRules, now: UnixMillis) -> Result<Option<String>, CrawlDbError> {
    if let Some(wait) = held(db, rules, now).await? {
        return Ok(Some(format!("no request before {}: {}", wait.until, wait.reason)));
    }
    let hosts = db.hosts().await?;
    let is_paused = |host: &&gleaner_store::crawldb::HostRow| {
        *host.site == *rules.name && *host.origin == *rules.primary() && host.blocked_until > now
    };
    let paused = hosts.iter().find(is_paused);
    Ok(paused.map(|host| format!("no request before {}: {}", host.blocked_until.rfc3339(), host.blocked_reason)))
}

/// The repairs of a service.
pub struct Repairs {
    /// The program and its options.
    program: Vec<OsString>,
    /// Sites that are to be repaired as soon as their crawl pauses.
    due: BTreeSet<String>,
    /// Sites that are being repaired.
    waiting: BTreeMap<String, Waiting>,
    running: JoinSet<(String, Result<Told, String>)>,
}

/// A site whose crawl waits for its repair.
struct Waiting {
    /// The crawl goes on with these.
    rules: Arc<SiteRules>,
    repair: AbortHandle,
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
    pub fn new(program: Vec<OsString>) -> Self {
        Self { program, due: BTreeSet::new(), waiting: BTreeMap::new(), running: JoinSet::new() }
    }

    /// Whether a site that is being crawled is to be learned again now: an alarm is younger than the last proposal, the last repair ended a
    /// day ago, and the site may be asked.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn wants(
        &mut self,
        db: &dyn Reader,
        rules: &SiteRules,
        data_dir: &Path,
        now: UnixMillis,
    ) -> Result<bool, CrawlDbError> {
        if rules.repair() == Repair::Off {
            return Ok(false);
        }
        let broken = broken_promises(db, &rules.name, Some(rules)).await?;
        let Some(latest) = broken.iter().map(|of| of.alarm.since).max() else { return Ok(false) };
        let ended = db.note(&rules.name, REPAIR_NOTE).await?;
        let ended: Option<UnixMillis> = ended.and_then(|note| serde_json::from_slice(&note).ok());
        if ended.is_some_and(|at| now.since(at) < REPAIR_AGAIN_AFTER) {
            return Ok(false);
        }
        let proposed = proposal(rules, data_dir).and_then(|(_, at)| at.duration_since(SystemTime::UNIX_EPOCH).ok());
        if proposed.is_some_and(|at| at.as_millis() >= u128::from(latest.0)) || pause(db, rules, now).await?.is_some() {
            return Ok(false);
        }
        self.due.insert(rules.name.to_string());
        Ok(true)
    }

    /// The crawl of a site pauses: begins its repair, if one is due. It goes on with `rules`, or with those that are wanted meanwhile.
    pub fn begin(&mut self, name: &str, rules: &Arc<SiteRules>) -> bool {
        if !self.due.remove(name) || rules.repair() == Repair::Off {
            return false;
        }
        let mut words = self.program.iter();
        let Some(program) = words.next() else { return false };
        let mut command = Command::new(program);
        command.args(["rules", "repair", name, "--json", "--of-service"]).args(words);
        if rules.repair() == Repair::Apply {
            command.arg("--apply");
        }
        tracing::info!(
            site = name,
            "the site is learned again, as its rules keep their promise no more; its crawl pauses"
        );
        let (name, time) = (name.to_owned(), time_of(rules));
        let of_task = name.clone();
        let repair = self.running.spawn(async move {
            let told = match tokio::time::timeout(time, output(command, &of_task)).await {
                Err(_) => Err(format!("it took more than {} s", time.as_secs())),
                Ok(Err(error)) => Err(error.to_string()),
                Ok(Ok(output)) => serde_json::from_slice::<Told>(&output.stdout)
                    .map_err(|_| why_of(&String::from_utf8_lossy(&output.stderr))),
            };
            (of_task, told)
        });
        self.waiting.insert(name, Waiting { rules: Arc::clone(rules), repair });
        true
    }

    /// The rules that the crawl of a site goes on with after its repair, to be replaced; None if it is not being repaired.
    pub fn next(&mut self, name: &str) -> Option<&mut Arc<SiteRules>> {
        self.waiting.get_mut(name).map(|waiting| &mut waiting.rules)
    }

    /// The repair of a site that is not wanted any more ends at once, and its crawl does not go on.
    pub fn retain(&mut self, is_wanted: impl Fn(&str) -> bool, is_bad: impl Fn(&SiteRules) -> bool) {
        self.due.retain(|name| is_wanted(name));
        self.waiting.retain(|name, Waiting { rules, repair }| {
            let is_kept = is_wanted(name) || is_bad(rules);
            if !is_kept {
                repair.abort();
            }
            is_kept
        });
    }

    /// Ends the repair of a site; returns the rules that its crawl would have gone on with.
    pub fn stop(&mut self, name: &str) -> Option<Arc<SiteRules>> {
        self.due.remove(name);
        let Waiting { rules, repair } = self.waiting.remove(name)?;
        repair.abort();
        Some(rules)
    }

    /// True while a site is being repaired.
    #[must_use]
    pub fn are_running(&self) -> bool {
        !self.running.is_empty()
    }

    /// The next repair that has ended, with the rules that its site goes on with; None for one that was ended.
    pub async fn ended(&mut self) -> Option<(String, Arc<SiteRules>)> {
        let (name, told) = match self.running.join_next().await? {
            Ok(ended) => ended,
            // One that was ended is wanted no more; of one that failed in itself the site goes on.
            Err(error) => {
                let of_task = |(_, waiting): &(&String, &Waiting)| waiting.repair.id() == error.id();
                let name = self.waiting.iter().find(of_task).map(|(name, _)| name.clone())?;
                (name, Err(error.to_string()))
            }
        };
        match told {
            Ok(Told { file: Some(file), is_applied: true, .. }) => {
                tracing::warn!(
                    site = name,
                    file,
                    "a repaired rule file is in force (hint: `gleaner rules history SITE`, `gleaner rules revert SITE`)"
                );
            }
            Ok(Told { file: Some(file), objections, .. }) => {
                let objections = objections.join("; ");
                tracing::warn!(
                    site = name,
                    file,
                    objections,
                    "a repaired rule file is proposed (hint: read it, then `gleaner rules repair SITE --apply`)"
                );
            }
            Ok(Told { objections, .. }) => {
                let why = objections.join("; ");
                tracing::warn!(site = name, why, "learning the site again has changed nothing");
            }
            Err(why) => tracing::warn!(site = name, why, "the site could not be learned again"),
        }
        let Waiting { rules, .. } = self.waiting.remove(&name)?;
        Some((name, rules))
    }
}

/// Takes note of a repair that has ended: the next one is a day away, over restarts too.
///
/// # Errors
/// Those of the database.
pub async fn note_ended(db: &dyn CrawlDb, site: &str, now: UnixMillis) -> Result<(), CrawlDbError> {
    db.put_note(site, REPAIR_NOTE, serde_json::to_vec(&now).unwrap_or_default()).await
}

/// The error in what a process has written, without its progress.
fn why_of(text: &str) -> String {
    text.rfind("error: ").map_or(text, |at| &text[at..]).trim().to_owned()
}

/// How long a repair may take: twice what its requests take at the site's rate, and an hour.
fn time_of(rules: &SiteRules) -> Duration {
    rules.rate.interval.saturating_mul(2 * REQUESTS).saturating_add(REPAIR_TIME_BESIDE).min(REPAIR_TIME_MAX)
}

/// Runs the process. It ends with this one, however that ends. A password of this one's environment goes through a pipe: others could read it in
/// the arguments, and each of its own children in the environment.
async fn output(mut command: Command, site: &str) -> std::io::Result<Output> {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    let dies_too = || rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    // SAFETY: a plain system call.
    unsafe { command.pre_exec(move || dies_too().map_err(Into::into)) };
    let mut child = command.spawn()?;
    if let (Some(mut pipe), Some(password)) = (child.stdin.take(), secrets::of_environment(site)) {
        // A process that has ended already says why.
        let _ = pipe.write_all(password.reveal().as_bytes()).await;
    }
    child.wait_with_output().await
}

#[cfg(test)]
mod tests;
