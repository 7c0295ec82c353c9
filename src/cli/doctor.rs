//! `gleaner doctor`: everything that gleaner needs, checked in one run; each finding with its fix. It never writes, never posts, and never
//! prints a secret. While a service runs, it asks that.

mod access;
mod alarms;
mod backup;
mod clock;
mod configuration;
mod confinement;
mod disk;
mod handover;
mod index;
mod network;
mod proxy;
mod rule_files;
mod sites;
mod store;
mod web;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use clap::Args;
use futures_util::future::LocalBoxFuture;
use serde::Serialize;
use tokio::sync::OnceCell;

use super::block_on;
use crate::app::database::Database;
use crate::limits::DOCTOR_CHECK_TIME_MAX;
use gleaner_crawl::account::in_one_line;
use gleaner_rules::config::Config;
use gleaner_rules::fault::Fault;
use gleaner_rules::{LoadedFile, SiteRules, load_dir};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Sites whose pages are looked at; without a name, all enabled ones
    sites: Vec<String>,
    /// Send nothing beyond this machine
    #[arg(long)]
    offline: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What is wrong, and what to do.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    /// Constant, for programs: `secret_readable`.
    code: &'static str,
    /// The file, site, address or key.
    subject: String,
    what: String,
    /// The command to run, or the key to set.
    fix: String,
}

impl Finding {
    fn new(
        code: &'static str,
        subject: impl std::fmt::Display,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { code, subject: subject.to_string(), what: what.into(), fix: fix.into() }
    }

    /// An error of the program: its hint is the fix.
    fn of_error(code: &'static str, subject: impl std::fmt::Display, error: &str, otherwise: &str) -> Self {
        let (what, fix) = error.split_once("\nhint: ").unwrap_or((error, otherwise));
        let what = what.strip_prefix(&format!("{subject}: ")).unwrap_or(what);
        Self::new(code, subject, what, fix.replace("\nhint: ", "; "))
    }
}

/// What is examined.
struct Patient {
    config: Config,
    /// All files of the rules folder.
    files: Vec<LoadedFile>,
    /// The sites that are looked at.
    sites: Vec<Arc<SiteRules>>,
    /// Opened, or asked for, once; the text of its error otherwise.
    database: OnceCell<Result<Option<Database>, String>>,
    /// Names of sites that cannot be reached for a reason that is found already.
    unreachable: Mutex<BTreeSet<String>>,
    /// What a check that is under way has found: it is kept if the check does not end.
    found: Mutex<Vec<Finding>>,
    /// What it has left alone, and why.
    left: Mutex<Vec<String>>,
}

impl Patient {
    /// The database; None if it cannot be had, which the check of the store reports.
    async fn database(&self) -> Option<&Database> {
        self.opened().await.as_ref().ok()?.as_ref()
    }

    /// Keeps what was found so far.
    fn tell(&self, found: impl IntoIterator<Item = Finding>) {
        self.found.lock().unwrap_or_else(PoisonError::into_inner).extend(found);
    }

    /// Something was not examined, for a reason that is no fault.
    fn leave(&self, why: String) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).push(why);
    }

    fn left(&self) -> Vec<String> {
        std::mem::take(&mut *self.left.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn told(&self) -> Vec<Finding> {
        std::mem::take(&mut *self.found.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// One cause is one finding.
    fn note_unreachable(&self, site: &SiteRules) {
        self.unreachable.lock().unwrap_or_else(PoisonError::into_inner).insert(site.name.to_string());
    }

    fn is_unreachable(&self, site: &SiteRules) -> bool {
        self.unreachable.lock().unwrap_or_else(PoisonError::into_inner).contains(&*site.name)
    }

    async fn opened(&self) -> &Result<Option<Database>, String> {
        let open = async || Database::unless_lost(&(&self.config).into()).await.map_err(|error| format!("{error:#}"));
        self.database.get_or_init(open).await
    }

    /// A command with the folders that this one was given.
    fn command(&self, words: &str) -> String {
        format!("gleaner {words}{}", self.config.given)
    }
}

/// One check.
struct Check {
    name: &'static str,
    /// It sends something beyond this machine.
    asks_others: bool,
    run: for<'p> fn(&'p Patient) -> LocalBoxFuture<'p, Vec<Finding>>,
}

/// All of them, in their order.
const CHECKS: [Check; 20] = [
    here("configuration", |of| Box::pin(async { configuration::check(of) })),
    here("rule files", |of| Box::pin(async { rule_files::check(of) })),
    here("owner and modes", |of| Box::pin(async { access::check(of) })),
    here("secrets", |of| Box::pin(async { access::secrets(of) })),
    here("disk", |of| Box::pin(async { disk::check(of) })),
    here("clock", |of| Box::pin(clock::check(of))),
    here("database", |of| Box::pin(store::check(of))),
    here("archive", |of| Box::pin(store::archive(of))),
    here("search index", |of| Box::pin(index::check(of))),
    here("backup", |of| Box::pin(backup::check(of))),
    here("handover", |of| Box::pin(async { handover::check(of) })),
    here("confinement of scripts", |of| Box::pin(async { confinement::check(of) })),
    here("HTTP server", |of| Box::pin(web::check(of))),
    here("alarms", |of| Box::pin(alarms::open(of))),
    here("alarm channels", |of| Box::pin(async { alarms::channels(of) })),
    others("public URL", |of| Box::pin(web::public_url(of))),
    others("names and certificates", |of| Box::pin(network::check(of))),
    others("addresses of alarm channels", |of| Box::pin(alarms::addresses(of))),
    others("proxies", |of| Box::pin(proxy::check(of))),
    others("sites", |of| Box::pin(sites::check(of))),
];

type Run = for<'p> fn(&'p Patient) -> LocalBoxFuture<'p, Vec<Finding>>;

const fn here(name: &'static str, run: Run) -> Check {
    Check { name, asks_others: false, run }
}

const fn others(name: &'static str, run: Run) -> Check {
    Check { name, asks_others: true, run }
}

/// How one check ended.
#[derive(Debug, Serialize)]
struct Checked {
    check: &'static str,
    /// `well`, `findings` or `skipped`.
    state: &'static str,
    findings: Vec<Finding>,
    /// What was not examined, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    left_alone: Vec<String>,
}

impl Checked {
    fn new(check: &'static str, findings: Vec<Finding>, left_alone: Vec<String>) -> Self {
        let state = match (findings.is_empty(), left_alone.is_empty()) {
            (false, _) => "findings",
            (true, false) => "skipped",
            (true, true) => "well",
        };
        Self { check, state, findings, left_alone }
    }

    fn skipped(check: &'static str) -> Self {
        Self { check, state: "skipped", findings: Vec::new(), left_alone: Vec::new() }
    }
}

/// Examines. Fails (exit code 1) if anything was found.
pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let files = load_dir(&config.rules_dir);
    let sites: Vec<Arc<SiteRules>> = files.iter().filter_map(|file| file.site.as_ref().ok()).map(Arc::clone).collect();
    if let Some(name) = options.sites.iter().find(|name| !sites.iter().any(|site| *site.name == **name)) {
        anyhow::bail!("{name}: no site of this name has a valid rule file\nhint: gleaner rules check{}", config.given);
    }
    let is_chosen = |site: &Arc<SiteRules>| match options.sites.is_empty() {
        true => site.enabled,
        false => options.sites.iter().any(|name| **name == *site.name),
    };
    let sites = sites.into_iter().filter(is_chosen).collect();
    let patient = Patient {
        config: config.clone(),
        files,
        sites,
        database: OnceCell::new(),
        unreachable: Mutex::default(),
        found: Mutex::default(),
        left: Mutex::default(),
    };
    let checked = block_on(async {
        let mut checked = Vec::new();
        for check in &CHECKS {
            checked.push(examine(check, &patient, options.offline, DOCTOR_CHECK_TIME_MAX).await);
        }
        Ok(checked)
    })?;
    report(&checked, options.json)
}

/// The same with a configuration that cannot be used: without it, nothing else can be examined.
pub fn with_faults(faults: &[Fault], options: &Options) -> anyhow::Result<ExitCode> {
    let findings = faults.iter().map(|fault| {
        let place = format!("{}:{}:{}", fault.path.display(), fault.line, fault.column);
        let fix = fault.hint.clone().unwrap_or_else(|| "correct it: gleaner config check".to_owned());
        Finding::new("config_faulty", place, fault.message.clone(), fix)
    });
    let mut checked = vec![Checked::new(CHECKS[0].name, findings.collect(), Vec::new())];
    checked.extend(CHECKS[1..].iter().map(|check| Checked::skipped(check.name)));
    report(&checked, options.json)
}

async fn examine(check: &Check, patient: &Patient, is_offline: bool, time: Duration) -> Checked {
    if is_offline && check.asks_others {
        return Checked::skipped(check.name);
    }
    let last = match tokio::time::timeout(time, (check.run)(patient)).await {
        Ok(findings) => findings,
        Err(_) => {
            let what =
                format!("this check did not end within {} s: what it had found until then is above", time.as_secs());
            let fix = "name a site, or pass --offline: the rest is examined then";
            vec![Finding::new("check_timed_out", check.name, what, fix)]
        }
    };
    let mut findings = patient.told();
    findings.extend(last);
    Checked::new(check.name, findings, patient.left())
}

fn report(checked: &[Checked], json: bool) -> anyhow::Result<ExitCode> {
    let findings: usize = checked.iter().map(|of| of.findings.len()).sum();
    if json {
        outln!("{}", serde_json::json!({ "findings": findings, "checks": checked }));
    } else {
        for Checked { check, state, findings, left_alone } in checked {
            outln!("{:<9} {check}", if findings.is_empty() { state } else { "FAULT" });
            for Finding { subject, what, fix, .. } in findings {
                outln!("  {}", in_one_line(&format!("{subject}: {what}")));
                outln!("  fix: {}", in_one_line(fix));
            }
            for why in left_alone {
                outln!("  {}", in_one_line(why));
            }
        }
        match findings {
            0 if checked.iter().any(|of| !of.left_alone.is_empty()) => outln!("all that was examined is well"),
            0 => outln!("all is well"),
            1 => outln!("1 finding"),
            _ => outln!("{findings} findings"),
        }
    }
    Ok(if findings == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_rules::config::{Overrides, Surroundings};

    #[tokio::test(start_paused = true)]
    async fn a_check_that_does_not_end_keeps_what_it_has_found() {
        let check = others("sites", |of| {
            Box::pin(async {
                of.tell([Finding::new("no_links", "a", "found", "fix")]);
                std::future::pending().await
            })
        });
        let nowhere = tempfile::tempdir().unwrap();
        let surroundings = Surroundings { root: nowhere.path().to_owned(), ..Surroundings::default() };
        let patient = Patient {
            config: Config::load_in(&surroundings, None, &Overrides::default()).unwrap(),
            files: Vec::new(),
            sites: Vec::new(),
            database: OnceCell::new(),
            unreachable: Mutex::default(),
            found: Mutex::default(),
            left: Mutex::default(),
        };
        let checked = examine(&check, &patient, false, Duration::from_secs(1)).await;
        let codes: Vec<&str> = checked.findings.iter().map(|of| of.code).collect();
        assert_eq!(codes, ["no_links", "check_timed_out"]);
        assert_eq!(examine(&check, &patient, true, Duration::from_secs(1)).await.state, "skipped");
    }
}
