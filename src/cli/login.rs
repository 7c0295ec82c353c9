//! `gleaner login`: logs in to a site and shows each step, asks the person at the terminal where the site wants one, or
//! takes over the session of a browser.

mod person;
pub mod steps;

use std::io::{IsTerminal as _, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use self::steps::Steps;
use super::hints::{Hints, quoted};
use super::{Global, block_on, chosen};
use crate::app::control::Remote;
use crate::app::{self, App, secrets, sessions};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::crawl::login::handover::Question;
use crate::crawl::login::{self, Means, Report};
use crate::crawl::site::Site;
use crate::fetch::session::Jar;
use crate::limits;
use crate::login::secret::Secret;
use crate::login::verdict::Verdict;
use crate::rules::{LoginRules, SiteRules};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of the site; its rule file has a [login] table
    site: String,
    /// Ask at the terminal for what only a person can answer: the text of a CAPTCHA, a one-time code
    #[arg(long, conflicts_with_all = ["cookies", "logout"])]
    interactive: bool,
    /// Take over the session of a browser: a cookies.txt, of which only this site's cookies are read
    #[arg(long, value_name = "FILE", conflicts_with = "logout")]
    cookies: Option<PathBuf>,
    /// Forget the session; refused while another process crawls the site with it
    #[arg(long)]
    logout: bool,
    /// Log in although the site has refused this password before
    #[arg(long)]
    again: bool,
    /// Show no steps while it runs, and print one JSON object at the end
    #[arg(long, conflicts_with = "logout")]
    json: bool,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Told<'a> {
    site: &'a str,
    logged_in: bool,
    /// None where cookies were taken over and nothing was sent.
    verdict: Option<Verdict>,
    /// The verdict in words.
    sentence: String,
    /// What speaks for it.
    evidence: &'a [String],
    /// What was done and seen, in order.
    steps: &'a [String],
    /// What is wrong with lines of a cookies.txt.
    faults: &'a [String],
    /// Where the session is kept.
    session: Option<String>,
}

/// A login and what it needs.
struct Login<'a> {
    config: &'a Config,
    options: &'a Options,
    hints: &'a Hints,
    rules: &'a Arc<SiteRules>,
    login: &'a LoginRules,
    steps: Steps,
    site: Site,
    jar: Arc<Jar>,
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = &Hints::of(global);
    let rules = &chosen::one(config, &options.site, hints)?;
    if options.logout {
        return log_out(config, rules, hints);
    }
    let Some(login) = &rules.login else {
        bail!("{}: has no [login] table\nhint: add one with `user`, see docs/login.md", rules.file.display());
    };
    if options.interactive && !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        bail!("--interactive: standard input or standard error is no terminal, so that nobody can be asked");
    }
    let (site, jar) = App::site_alone(&config.into(), rules)?;
    let steps = Steps::new(&rules.name, hints, options.json, global.verbose > 0);
    let login = Login { config, options, hints, rules, login, steps, site, jar };
    match &options.cookies {
        Some(file) => login.take_over(file),
        None => login.log_in(),
    }
}

impl Login<'_> {
    /// Takes over a browser's session, where it is a member's.
    fn take_over(&self, file: &Path) -> anyhow::Result<ExitCode> {
        let (config, name, json) = (self.config, &*self.rules.name, self.options.json);
        let text = cookies_of(file)?;
        let owns = |host: &str| self.rules.owns_domain(host);
        let imported = self.jar.import(&text, owns).with_context(|| file.display().to_string())?;
        if self.rules.primary().starts_with("https:") {
            self.jar.keep_to_tls();
        }
        let mut faults: Vec<String> =
            imported.faults.iter().map(|fault| format!("{}: {fault}", file.display())).collect();
        let more = imported.faulty - imported.faults.len();
        if more > 0 {
            faults.push(format!("{}: and {more} more lines of no use", file.display()));
        }
        if !json {
            outln!(
                "cookies: {} taken, {} of other sites left out, {} expired",
                imported.taken,
                imported.foreign,
                imported.expired
            );
        }
        faults.iter().for_each(|fault| eprintln!("{fault}"));
        if imported.taken == 0 {
            bail!("{}: no cookie of {} that is any use", file.display(), self.rules.hosts.join(", "));
        }
        let nothing = Secret::new("");
        let means = Means { rules: self.login, password: &nothing, jar: &self.jar };
        let run = || block_on(async { Ok(login::session_holds(&self.site, means).await) });
        let (holds, steps) = self.steps.during(run)?;
        self.steps.complete(&steps);
        let is_in = holds == Some(true);
        let session = if is_in {
            let mut tries = sessions::tries(&config.data_dir, name)?;
            tries.operator_has_logged_in();
            sessions::save_tries(&config.data_dir, name, &tries)?;
            Some(sessions::save(&config.data_dir, name, &self.jar)?)
        } else {
            None
        };
        let why = match holds {
            Some(true) => "the browser's session is a member's".to_owned(),
            Some(false) => format!(
                "the session of {} is not one of a member: it is not kept\nhint: log in with the browser again, and export \
                 the cookies while it is logged in",
                file.display()
            ),
            None => format!("the session of {} cannot be proven now: it is not kept", file.display()),
        };
        if json {
            self.tell(None, &why, &[], &steps, &faults, session.as_deref())?;
        } else if let Some(path) = &session {
            outln!("the session is kept in {}", path.display());
        }
        if is_in { Ok(ExitCode::SUCCESS) } else { bail!("{why}") }
    }

    /// Fills in the form.
    fn log_in(&self) -> anyhow::Result<ExitCode> {
        let (data_dir, name) = (&self.config.data_dir, &*self.rules.name);
        let password = secrets::password(data_dir, name)?;
        let Some(_turn) = sessions::turn(data_dir, name)? else {
            bail!(
                "another process logs in to {name} at this moment\nhint: wait until it has, or has not: {}",
                self.hints.command("status")
            );
        };
        let mut tries = sessions::tries(data_dir, name)?;
        // Whoever runs this command says that a locked account may be touched; a refused password is refused all the same.
        if tries.has_refused(&self.login.user, &password) && !self.options.again {
            bail!(
                "the site has refused this user and password before\nhint: correct the password in {}; `{} --again` sends \
                 the same once more",
                secrets::place_of(data_dir, name),
                self.hints.command(&format!("login {name}"))
            );
        }
        let terminal = self.options.interactive.then(|| person::Terminal::new(data_dir, name)).transpose()?;
        tries.begin(&self.login.user, &password);
        sessions::save_tries(data_dir, name, &tries)?;
        let means = Means { rules: self.login, password: &password, jar: &self.jar };
        let report: Report = self.steps.during(|| {
            block_on(async {
                Ok(match &terminal {
                    Some(terminal) => {
                        let ask = |question: &Question<'_>| terminal.ask(question);
                        login::log_in_asking(&self.site, means, &ask).await
                    }
                    None => login::log_in(&self.site, means).await,
                })
            })
        })?;
        self.steps.complete(&report.steps);
        match report.trouble {
            Some(_) if !report.was_sent => tries.came_to_nothing(),
            _ => tries.ended(report.ended(), &self.login.user, &password, SystemClock.now()),
        }
        sessions::save_tries(data_dir, name, &tries)?;
        let is_in = report.judged.verdict == Verdict::LoggedIn;
        // A session that is good is never overwritten by one that is not.
        let session = if is_in { Some(sessions::save(data_dir, name, &self.jar)?) } else { None };
        if self.options.json {
            let sentence = self.hints.of_site(report.sentence(), name);
            let judged = &report.judged;
            self.tell(Some(judged.verdict), &sentence, &judged.evidence, &report.steps, &[], session.as_deref())?;
        } else if let Some(path) = &session {
            outln!("the session is kept in {}", path.display());
        }
        if let Some(hint) = self.pinned_elsewhere(&report) {
            eprintln!("hint: {hint}");
        }
        Ok(if is_in { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    /// What to do where the rule file names a form or a field that the page has not.
    fn pinned_elsewhere(&self, report: &Report) -> Option<String> {
        let LoginRules { form, user_field, password_field, .. } = self.login;
        let is_pinned = form.is_some() || user_field.is_some() || password_field.is_some();
        let seen =
            steps::forms_seen(&report.steps).filter(|_| is_pinned && report.judged.verdict == Verdict::NoForm)?;
        Some(format!("correct [login] of {}; the page has {seen}", quoted(&self.rules.file)))
    }

    fn tell(
        &self,
        verdict: Option<Verdict>,
        sentence: &str,
        evidence: &[String],
        steps: &[String],
        faults: &[String],
        session: Option<&Path>,
    ) -> anyhow::Result<()> {
        // The end of the steps says the same.
        let is_end = |step: &&String| step.starts_with("evidence: ") || step.starts_with("verdict: ");
        let steps: Vec<String> = steps.iter().filter(|step| !is_end(step)).cloned().collect();
        let told = Told {
            site: &self.rules.name,
            logged_in: session.is_some(),
            verdict,
            sentence: sentence.to_owned(),
            evidence,
            steps: &steps,
            faults,
            session: session.map(|path| path.display().to_string()),
        };
        outln!("{}", serde_json::to_string(&told)?);
        Ok(())
    }
}

/// Forgets the session. A process that crawls with it would write it down again, and is to be ended first.
fn log_out(config: &Config, rules: &SiteRules, hints: &Hints) -> anyhow::Result<ExitCode> {
    let (data_dir, name) = (&config.data_dir, &*rules.name);
    let running = block_on(async {
        Ok(match Remote::connect(data_dir).await {
            Some(remote) => Some(remote.status().await?),
            None => None,
        })
    })?;
    if running.as_ref().is_some_and(|report| report.sites.iter().any(|site| *site.name == *name && site.is_crawled)) {
        bail!(
            "the session is not forgotten: a running process crawls {name} with it, and would write it down again\nhint: \
             end that process, or write `enabled = false` into {}; then run: {}",
            quoted(&rules.file),
            hints.command(&format!("login {name} --logout"))
        );
    }
    // Held until the session is gone, so that no crawl begins with it meanwhile; one that answers nobody is told here.
    let is_alone = running.is_none() && app::database_path(data_dir).exists();
    let _held = is_alone.then(|| App::open(&config.into())).transpose().context("the session is not forgotten")?;
    let Some(_turn) = sessions::turn(data_dir, name)? else {
        bail!(
            "the session is not forgotten: another process logs in to {name} at this moment\nhint: wait until it has: {}",
            hints.command("status")
        );
    };
    let was_there = sessions::forget(data_dir, name)?;
    outln!("{}", if was_there { "the session is forgotten" } else { "there was no session" });
    Ok(ExitCode::SUCCESS)
}

/// The text of a cookies.txt; that others may read it is told.
fn cookies_of(file: &Path) -> anyhow::Result<String> {
    let name = || file.display().to_string();
    let opened = std::fs::File::open(file).with_context(name)?;
    let metadata = opened.metadata().with_context(name)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        let file = quoted(file);
        eprintln!(
            "{file}: others may read this file, and use the session in it\nhint: chmod 600 {file}, and remove it when it is \
             taken over"
        );
    }
    let mut bytes = Vec::new();
    // One byte more shows that it is too long, which the import tells.
    opened.take(limits::COOKIE_FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).with_context(name)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
