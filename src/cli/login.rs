//! `gleaner login`: logs in to a site and shows each step, asks the person at the terminal if the site requires it, or
//! imports the session of a browser.

pub mod by_hand;
mod ends;
mod holds;
mod next;
mod person;
pub mod steps;

use std::io::{IsTerminal as _, Read as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use clap::Args;
use serde::Serialize;

use self::by_hand::by_hand;
use self::ends::{Ending, Followed};
use self::steps::Steps;
use super::hints::{Hints, quoted, told, without_hint};
use super::{Global, block_on, chosen};
use crate::app::control::Remote;
use crate::app::{self, App, secrets, sessions};
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock, UnixMillis};
use gleaner_base::owner::{self, become_owner};
use gleaner_base::place::Place;
use gleaner_crawl::account::misplaced;
use gleaner_crawl::login::handover::{Person, Question};
use gleaner_crawl::login::{self, Means, Noted, Proof, Report};
use gleaner_crawl::site::Site;
use gleaner_login::secret::Secret;
use gleaner_login::tries::{ByHand, Tries};
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::Jar;
use gleaner_rules::config::Config;
use gleaner_rules::{LoginRules, SiteRules};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of the site; its rule file needs a [login] table
    site: String,
    /// Ask at the terminal for what only a person can answer: the text of a CAPTCHA, a one-time code
    #[arg(long, conflicts_with_all = ["cookies", "logout"])]
    interactive: bool,
    /// Import the session of a browser from a cookies.txt; only cookies of this site are read
    #[arg(long, value_name = "FILE", conflicts_with = "logout")]
    cookies: Option<PathBuf>,
    /// Delete the stored session; refused while another process crawls the site with it
    #[arg(long)]
    logout: bool,
    /// Log in even if the site rejected this password before, locked the account or asked to wait
    #[arg(long)]
    again: bool,
    /// Hide the steps and print one JSON object at the end, even if the login could not start
    #[arg(long)]
    json: bool,
}

/// The result of the command, as printed by `--json`.
#[derive(Debug, Default, Serialize)]
struct LoginResult {
    site: String,
    logged_in: bool,
    /// None if no form had to be sent, or the login was refused before it started.
    verdict: Option<Verdict>,
    /// The result, in words.
    sentence: String,
    /// What to do about it.
    hint: Option<String>,
    /// The evidence for the verdict.
    evidence: Vec<String>,
    /// The steps taken and their results, in order.
    steps: Vec<String>,
    /// Faults in lines of a cookies.txt.
    faults: Vec<String>,
    /// Where the session is stored.
    session: Option<String>,
    /// Whether the command succeeded.
    #[serde(skip)]
    is_well: bool,
}

impl LoginResult {
    /// A command that failed before there was a verdict.
    fn refused(site: &str, error: &anyhow::Error) -> Self {
        let told = told(error);
        let (sentence, hint) = match told.split_once("\nhint: ") {
            Some((sentence, hints)) => (sentence, Some(hints.replace("\nhint: ", "; "))),
            None => (&*told, None),
        };
        Self { site: site.to_owned(), sentence: sentence.to_owned(), hint, ..Self::default() }
    }

    /// Prints the result after the steps.
    fn show(&self) -> anyhow::Result<()> {
        match (&self.session, self.verdict) {
            (Some(path), _) => outln!("the session is stored in {path}"),
            (None, None) if self.is_well => outln!("{}", self.sentence),
            (None, None) => errln!("error: {}", self.sentence),
            // The last step has already printed it.
            (None, Some(_)) => {}
        }
        if let Some(hint) = &self.hint {
            errln!("hint: {hint}");
        }
        Ok(())
    }
}

/// A login and its dependencies.
struct Login<'a> {
    config: &'a Config,
    options: &'a Options,
    hints: &'a Hints,
    rules: &'a Arc<SiteRules>,
    login: &'a LoginRules,
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let ended = run(config, options, &Hints::of(global), global.verbose > 0);
    if options.json {
        let refused = |error: &anyhow::Error| serde_json::to_string(&LoginResult::refused(&options.site, error));
        outln!("{}", ended.as_ref().map_or_else(refused, serde_json::to_string)?);
    }
    let told = ended?;
    if !options.json {
        told.show()?;
    }
    Ok(if told.is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Logs in to a site that is being learned, as `gleaner login` does. With `is_quiet` nothing is printed. Root writes the session as the owner
/// of the data folder, and is root again afterwards: the rule file is written by whoever runs the command.
///
/// # Errors
/// Why it could not begin, or has failed.
pub fn for_learning(
    config: &Config,
    rules: &Arc<SiteRules>,
    hints: &Hints,
    (is_quiet, is_verbose): (bool, bool),
) -> anyhow::Result<()> {
    // A site that is learned for the first time has none to correct.
    let has_file = rules.file.is_file();
    let options = Options {
        site: rules.name.to_string(),
        interactive: false,
        cookies: None,
        logout: false,
        again: false,
        json: false,
    };
    let Some(login) = &rules.login else { bail!("{}: has no account", rules.name) };
    let _owner = owner::act(&config.data_dir);
    app::is_folder(&config.data_dir)?;
    app::folder::must_be_writable(&config.data_dir)?;
    let steps = Steps::new(&rules.name, hints, is_quiet, is_verbose);
    let mut told = Login { config, options: &options, hints, rules, login }.log_in(&steps)?;
    if !told.is_well && !has_file {
        let place = secrets::place_of(&config.data_dir, &rules.name);
        told.hint = Some(format!(
            "check the password in {place}, and the name of the account, then run the same command again"
        ));
    }
    if !is_quiet {
        told.show()?;
    }
    if !told.is_well {
        let hint = told.hint.as_deref().filter(|_| is_quiet).unwrap_or("the steps above say why");
        bail!("{}: {} could not log in: {}\nhint: {hint}", rules.first_authority(), login.user, told.sentence);
    }
    Ok(())
}

fn run(config: &Config, options: &Options, hints: &Hints, is_verbose: bool) -> anyhow::Result<LoginResult> {
    let rules = &chosen::one("login", config, &options.site, hints)?;
    // Root's own file, read by root.
    let cookies = options.cookies.as_deref().map(cookies_of).transpose()?;
    // SAFETY: no second thread runs yet.
    unsafe { become_owner(&config.data_dir) }.with_context(|| config.data_dir.display().to_string())?;
    if options.logout {
        return log_out(config, rules, hints);
    }
    let Some(login) = &rules.login else {
        bail!("{}: has no [login] table\nhint: add one with `user`, see docs/guide/members.md", rules.file.display());
    };
    if options.interactive && !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        let cookies = hints.command(&format!("login {} --cookies cookies.txt", rules.name));
        bail!(
            "--interactive: standard input or standard error is not a terminal\nhint: run it in a terminal, or import a browser's \
             session: {cookies}"
        );
    }
    app::is_folder(&config.data_dir)?;
    app::folder::must_be_writable(&config.data_dir)?;
    sessions::note_rules(&config.data_dir, rules);
    let steps = Steps::new(&rules.name, hints, options.json, is_verbose);
    let login = Login { config, options, hints, rules, login };
    match options.cookies.as_deref().zip(cookies) {
        Some((file, text)) => login.take_over(file, &text, &steps),
        None => login.log_in(&steps),
    }
}

impl Login<'_> {
    /// Imports a browser's session if it is logged in.
    fn take_over(&self, file: &Path, text: &str, steps: &Steps) -> anyhow::Result<LoginResult> {
        let (config, name) = (self.config, &*self.rules.name);
        let (site, jar) = App::site_alone(&config.into(), self.rules)?;
        let owns = |host: &str| self.rules.owns_domain(host);
        let imported = jar.import(text, owns).with_context(|| file.display().to_string())?;
        if self.rules.primary().starts_with("https:") {
            jar.keep_to_tls();
        }
        let mut faults: Vec<String> =
            imported.faults.iter().map(|fault| format!("{}: {fault}", file.display())).collect();
        let more = imported.faulty - imported.faults.len();
        if more > 0 {
            faults.push(format!("{}: and {more} more lines that cannot be used", file.display()));
        }
        steps.show(&format!(
            "cookies: {} imported, {} of other sites skipped, {} expired",
            imported.taken, imported.foreign, imported.expired
        ));
        faults.iter().for_each(|fault| errln!("{fault}"));
        let told = LoginResult { site: name.to_owned(), faults, ..LoginResult::default() };
        if imported.taken == 0 {
            let hosts = self.rules.hosts.join(", ");
            let hint = format!("export the cookies of {hosts} from the browser that is logged in there");
            let sentence = format!("{}: no usable cookie of {hosts}", file.display());
            return Ok(LoginResult { sentence, hint: Some(hint), ..told });
        }
        // No other login runs meanwhile, so the state written at the end is current.
        let _turn = self.turn()?;
        let mut tries = sessions::tries(&config.data_dir, name)?;
        self.may_ask(&tries)?;
        let site = by_hand(site, steps);
        let nothing = Secret::new("");
        let means = Means { rules: self.login, password: &nothing, jar: &jar };
        let Proof { holds, asks_to_wait, steps } = block_on(async {
            Ok(login::prove_by_hand(&site, means, Verdict::Unknown, &|step| steps.tell(step)).await)
        })?;
        let told = LoginResult { steps, ..told };
        let file = file.display();
        Ok(match holds {
            Some(true) => {
                tries.operator_has_logged_in(&self.login.user);
                sessions::save_tries(&config.data_dir, name, &tries)?;
                let session = sessions::save(&config.data_dir, name, &jar)?.display().to_string();
                let sentence = "the browser's session is logged in".to_owned();
                LoginResult { sentence, session: Some(session), logged_in: true, is_well: true, ..told }
            }
            Some(false) => LoginResult {
                sentence: format!("the session of {file} is not logged in: it is not stored"),
                hint: Some(
                    "log in with the browser again, and export the cookies while it is logged in".to_owned()
                        + if self.login.probe.is_none() { NAME_A_PROBE } else { "" },
                ),
                ..told
            },
            None => {
                if let Some(until) = asks_to_wait {
                    tries.wait_as_asked(until, SystemClock.now());
                    sessions::save_tries(&config.data_dir, name, &tries)?;
                }
                let when = asks_to_wait
                    .map_or_else(|| "once the site answers".to_owned(), |at| format!("at {}", at.rfc3339()));
                LoginResult {
                    sentence: format!("the session of {file} cannot be proven now: it is not stored"),
                    hint: Some(format!("run the same command again {when}")),
                    ..told
                }
            }
        })
    }

    /// Fills in and submits the form.
    fn log_in(&self, steps: &Steps) -> anyhow::Result<LoginResult> {
        let (data_dir, name) = (&self.config.data_dir, &*self.rules.name);
        let password = secrets::password(data_dir, name)?;
        if let Some(why) = misplaced(self.rules, self.login, &password) {
            bail!(why);
        }
        secrets::exposed(data_dir, name).iter().for_each(|told| errln!("{told}"));
        let _turn = self.turn()?;
        let mut before = self.tries_before(&password)?;
        self.may_log_in(&before, &password)?;
        let ending = Ending::listen()?;
        let terminal = self.options.interactive.then(|| person::Terminal::new(data_dir, name, &ending));
        let (site, jar) = App::site_alone(&self.config.into(), self.rules)?;
        // It counts as an attempt once the form is sent; one interrupted earlier has not touched the account. Check first
        // that the file can be written.
        sessions::save_tries(data_dir, name, &before)?;
        let is_unproven = sessions::load_unproven(data_dir, name, &self.login.user, &password, &jar)?;
        let site = by_hand(site, steps);
        let means = Means { rules: self.login, password: &password, jar: &jar };
        if is_unproven {
            if let Some(told) = self.prove_last(&site, means, steps, &mut before)? {
                return Ok(told);
            }
            // The last attempt may meanwhile have ended in a way that forbids the next.
            self.may_log_in(&before, &password)?;
        }
        let mut tries = before.clone();
        match self.options.again {
            true => tries.begin_again(&self.login.user, &password),
            false => tries.begin(&self.login.user, &password),
        }
        let files = sessions::Files::new(data_dir, name, &self.login.user);
        let noted = Noted::new(name, &SystemClock, &files, &jar, tries.clone());
        let notes = Followed { noted: &noted, ending: &ending };
        sessions::forget_unproven(data_dir, name)?;
        jar.clear();
        let ask = terminal.as_ref().map(|terminal| move |question: &Question<'_>| terminal.ask(question));
        let person = ask.as_ref().map(|ask| ask as Person<'_>);
        let tell = |step: &str| steps.tell(step);
        let report = block_on(async { Ok(login::log_in_by_hand(&site, means, &notes, person, &tell).await) })?;
        if report.was_sent {
            tries = noted.tries();
        }
        self.ended(report, tries, before, (&password, &jar), steps)
    }
}

impl Login<'_> {
    /// What earlier logins, under any name, imply for this one.
    fn tries_before(&self, password: &Secret) -> anyhow::Result<Tries> {
        let (data_dir, name) = (&self.config.data_dir, &*self.rules.name);
        let mut before = sessions::tries(data_dir, name)?;
        before.meet_table(self.login.mark());
        before.meet_way(self.login.way);
        before.meet_host(self.rules.first_authority());
        let others = sessions::other_tries(data_dir, name);
        others.iter().for_each(|other| before.learn(other, &self.login.user, password));
        // An attempt that was killed after its form was sent, without cookies left to verify, may have been rejected.
        if !sessions::is_unproven(data_dir, name, &self.login.user, password)
            && before.broke_off(&self.login.user, password, SystemClock.now())
        {
            sessions::save_tries(data_dir, name, &before)?;
        }
        Ok(before)
    }

    /// Stores and prints the result of a login.
    fn ended(
        &self,
        mut report: Report,
        mut tries: Tries,
        before: Tries,
        (password, jar): (&Secret, &Jar),
        steps: &Steps,
    ) -> anyhow::Result<LoginResult> {
        let (data_dir, name) = (&self.config.data_dir, &*self.rules.name);
        let now = SystemClock.now();
        match report.trouble {
            Some(_) if !report.was_sent => {
                tries = before;
                if report.asks_to_wait().is_some() {
                    tries.met_trouble(now);
                }
            }
            // It has started, and stays open until a page shows the result.
            _ if report.is_unproven() => {
                tries.await_proof(report.unless, now);
                // Print the result even so.
                if let Err(error) = sessions::save_unproven(data_dir, name, jar) {
                    errln!("{error:#}: the cookies of this unproven login cannot be stored");
                }
            }
            _ => {
                if let Some(why) = report.end(&mut tries, &self.login.user, password, now) {
                    // The verdict printed before no longer holds.
                    steps.show(&format!("evidence: {why}\nverdict: {}", without_hint(report.sentence())));
                }
            }
        }
        report.tell(&mut tries, now);
        let is_in = report.judged.verdict == Verdict::LoggedIn;
        // A bad session never overwrites a good one. The session is written first: a process killed in between loses
        // nothing.
        let session = if is_in { Some(sessions::save(data_dir, name, jar)?.display().to_string()) } else { None };
        sessions::save_tries(data_dir, name, &tries)?;
        if !is_in && !report.is_unproven() {
            // Saved while the proof was pending.
            sessions::forget_unproven(data_dir, name)?;
        }
        let next = self.next_after(&tries, password, now);
        // The final steps repeat the rest of the report.
        let is_end = |step: &String| step.starts_with("evidence: ") || step.starts_with("verdict: ");
        Ok(LoginResult {
            site: name.to_owned(),
            logged_in: is_in,
            verdict: Some(report.judged.verdict),
            sentence: without_hint(report.sentence()).to_owned(),
            hint: next.next(&report),
            steps: report.steps.into_iter().filter(|step| !is_end(step)).collect(),
            evidence: report.judged.evidence,
            faults: Vec::new(),
            session,
            is_well: is_in,
        })
    }

    /// Input for the next-step hint after a login has ended.
    fn next_after(&self, tries: &Tries, password: &Secret, now: UnixMillis) -> next::Login<'_> {
        let hold = tries.hold_by_hand(&self.login.user, password, now);
        let is_held =
            matches!(hold, Some(ByHand::NoEnd | ByHand::Sent(_) | ByHand::CaptchaTwice | ByHand::SecondFactorTwice));
        let further_at = if let Some(ByHand::SentUntil(_, until)) = hold { Some(until) } else { None };
        let (is_guessed, is_asked) = (tries.guessed_until(now).is_some(), tries.asked_until(now).is_some());
        next::Login {
            is_held,
            further_at,
            is_guessed,
            is_asked,
            lock_ends: tries.lock_ends(&self.login.user, password),
            ..self.next(tries.asked_until(now).or_else(|| tries.not_before(now)))
        }
    }

    /// Takes the locks that allow a login.
    fn turn(&self) -> anyhow::Result<(std::fs::File, std::fs::File)> {
        let (data_dir, name) = (&self.config.data_dir, &self.rules.name);
        let of_user = sessions::turn_of_user(data_dir, self.rules.first_authority(), &self.login.user)?;
        let (Some(turn), Some(of_user)) = (sessions::turn(data_dir, name)?, of_user) else {
            bail!(
                "another process is logging in to {name}\nhint: wait until it has finished: {}",
                self.hints.command("status")
            );
        };
        Ok((turn, of_user))
    }

    fn next(&self, not_before: Option<UnixMillis>) -> next::Login<'_> {
        next::Login {
            hints: self.hints,
            data_dir: &self.config.data_dir,
            site: self.rules,
            rules: self.login,
            is_interactive: self.options.interactive,
            cookies: self.options.cookies.as_deref(),
            is_held: false,
            further_at: None,
            is_guessed: false,
            is_asked: false,
            lock_ends: None,
            not_before,
        }
    }

    /// Requests the proof of the last login, whose form was accepted; None if another one has to follow.
    fn prove_last(
        &self,
        site: &Site,
        means: Means<'_>,
        steps: &Steps,
        tries: &mut Tries,
    ) -> anyhow::Result<Option<LoginResult>> {
        let (data_dir, name) = (&self.config.data_dir, &*self.rules.name);
        steps.show("the site accepted the last login: its session is proven first");
        let unless = tries.unless().unwrap_or(Verdict::Unknown);
        let Proof { holds, asks_to_wait, steps: taken } =
            block_on(async { Ok(login::prove_by_hand(site, means, unless, &|step| steps.tell(step)).await) })?;
        let told = LoginResult { site: name.to_owned(), steps: taken, ..LoginResult::default() };
        let now = SystemClock.now();
        let ended = holds.and_then(|holds| tries.proof_came(holds, &self.login.user, means.password, now));
        Ok(match holds {
            Some(true) => {
                // The session first: a process killed in between loses nothing.
                let session = Some(sessions::save(data_dir, name, means.jar)?.display().to_string());
                sessions::save_tries(data_dir, name, tries)?;
                let sentence = Verdict::LoggedIn.sentence().to_owned();
                let verdict = Some(Verdict::LoggedIn);
                Some(LoginResult { verdict, sentence, session, logged_in: true, is_well: true, ..told })
            }
            // The command sends the form again if the last response was inconclusive, but not if it probably
            // rejected the password.
            Some(false) => {
                sessions::save_tries(data_dir, name, tries)?;
                sessions::forget_unproven(data_dir, name)?;
                let is_refused = ended == Some(Verdict::ProbablyRefused) && !self.options.again;
                is_refused.then(|| {
                    let sentence = without_hint(Verdict::ProbablyRefused.sentence()).to_owned();
                    steps.show(&format!("verdict: {sentence}"));
                    LoginResult { verdict: ended, sentence, hint: Some(self.next(None).probably_refused()), ..told }
                })
            }
            None if self.options.again => {
                steps.show("the last login cannot be proven now: its form is sent again because of --again");
                None
            }
            None => {
                if let Some(until) = asks_to_wait {
                    tries.wait_as_asked(until, now);
                    sessions::save_tries(data_dir, name, tries)?;
                }
                Some(LoginResult {
                    sentence: "the last login cannot be proven now: nothing was sent".to_owned(),
                    hint: Some(self.next(tries.not_before(now)).unproven()),
                    ..told
                })
            }
        })
    }
}

const NAME_A_PROBE: &str = "; if it is logged in nevertheless, name a page that only members see as `probe` in [login]";

/// Deletes the session. A process that crawls with it would write it again, so it must be stopped first.
fn log_out(config: &Config, rules: &SiteRules, hints: &Hints) -> anyhow::Result<LoginResult> {
    let (data_dir, name) = (&config.data_dir, &*rules.name);
    let running = block_on(async {
        Ok(match Remote::connect(data_dir).await {
            Some(remote) => Some(remote.status().await?),
            None => None,
        })
    })?;
    let is_crawled =
        running.as_ref().is_some_and(|report| report.sites.iter().any(|site| *site.name == *name && site.is_crawled));
    // An unreadable file counts, too.
    let is_there = !matches!(sessions::load(data_dir, name, &Jar::default()), Ok(0));
    if is_crawled && is_there {
        bail!(
            "the session is not deleted: a running process crawls {name} with it, and would store it again\nhint: end that process, \
             or write `enabled = false` into {}; then run: {}",
            quoted(&rules.file),
            hints.command(&format!("login {name} --logout"))
        );
    }
    // Held until the session is deleted, so that no crawl starts with it meanwhile; a process that does not answer is detected here.
    let is_alone = running.is_none() && app::database_path(data_dir).exists();
    let _held = is_alone.then(|| App::open(&config.into())).transpose().context("the session is not deleted")?;
    let Some(_turn) = sessions::turn(data_dir, name)? else {
        bail!(
            "the session is not deleted: another process is logging in to {name}\nhint: wait until it has finished: {}",
            hints.command("status")
        );
    };
    let was_there = sessions::forget(data_dir, name)?;
    // A login with a pending proof is dropped entirely: it can no longer be verified.
    let mut tries = sessions::tries(data_dir, name)?;
    if tries.forget_unproven() {
        sessions::save_tries(data_dir, name, &tries)?;
    }
    let sentence = match (was_there, is_crawled) {
        (true, _) => "the session is deleted".to_owned(),
        (false, false) => "there was no session".to_owned(),
        (false, true) => format!("there was no session; the running process that crawls {name} may still log in"),
    };
    Ok(LoginResult { site: name.to_owned(), sentence, is_well: true, ..LoginResult::default() })
}

/// The text of a cookies.txt; warns if others can read it.
fn cookies_of(file: &Path) -> anyhow::Result<String> {
    let name = || file.display().to_string();
    // A named pipe without a writer would wait for one; what a shell puts in the place of `<(…)` has one, and no name.
    let how = std::fs::OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(file);
    let opened = how.map_err(|error| {
        let hint = "export the site's cookies from the browser that is logged in there, and name that file";
        anyhow::anyhow!("{}: {error}\nhint: {hint}", file.display())
    })?;
    let metadata = opened.metadata().with_context(name)?;
    if metadata.is_dir() {
        bail!(
            "{}: this is a folder\nhint: name the cookies.txt file that a browser extension exports; the folder of a browser's \
             profile has none",
            file.display()
        );
    }
    if Place::of_type(metadata.file_type()) == Place::Pipe && file.canonicalize().is_ok() {
        bail!("{}: is a pipe\nhint: save its cookies to a file, and name that", file.display());
    }
    rustix::fs::fcntl_setfl(&opened, rustix::fs::OFlags::empty()).with_context(name)?;
    if metadata.is_file() && metadata.mode() & 0o077 != 0 {
        let file = quoted(file);
        errln!(
            "{file}: other users may read this file, and use the session in it\nhint: chmod 600 {file}, and remove it after the import"
        );
    }
    let mut bytes = Vec::new();
    // One extra byte shows that it is too long; the import reports that.
    opened.take(limits::COOKIE_FILE_BYTES_MAX as u64 + 1).read_to_end(&mut bytes).with_context(name)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
