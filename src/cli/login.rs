//! `gleaner login`: logs in to a site and shows each step, asks the person at the terminal where the site wants one, or
//! takes over the session of a browser.

use std::io::{BufRead as _, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;

use super::block_on;
use crate::app::{App, secrets, sessions};
use crate::clock::{Clock as _, SystemClock};
use crate::config::Config;
use crate::crawl::login::handover::{Picture, Question, Wanted};
use crate::crawl::login::{self, Means};
use crate::limits;
use crate::login::secret::Secret;
use crate::login::verdict::Verdict;
use crate::rules;

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
    /// Forget the session
    #[arg(long)]
    logout: bool,
    /// Log in although the site has refused this password before
    #[arg(long)]
    again: bool,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let site = &options.site;
    let mut files = rules::load_dir(&config.rules_dir).into_iter().filter_map(|file| file.site.ok());
    let Some(rules) = files.find(|rules| *rules.name == **site) else {
        bail!("{}: no valid rule file of a site `{site}`\nhint: gleaner rules check", config.rules_dir.display());
    };
    if options.logout {
        let was_there = sessions::forget(&config.data_dir, site)?;
        outln!("{}", if was_there { "the session is forgotten" } else { "there was no session" });
        return Ok(ExitCode::SUCCESS);
    }
    let Some(login) = &rules.login else {
        bail!("{}: has no [login] table\nhint: add one with `user`, see docs/login.md", rules.file.display());
    };
    if options.interactive && !(std::io::stdin().is_terminal() && std::io::stderr().is_terminal()) {
        bail!("--interactive: standard input or standard error is no terminal, so that nobody can be asked");
    }
    let (crawled, jar) = App::site_alone(&config.into(), &rules)?;
    if let Some(file) = &options.cookies {
        let text = std::fs::read(file).with_context(|| file.display().to_string())?;
        if text.len() > limits::COOKIE_FILE_BYTES_MAX {
            bail!("{}: longer than {} bytes", file.display(), limits::COOKIE_FILE_BYTES_MAX);
        }
        jar.clear();
        let owns = |host: &str| rules.owns_domain(host);
        let imported = jar.import(&String::from_utf8_lossy(&text), owns).with_context(|| file.display().to_string())?;
        outln!(
            "cookies: {} taken, {} of other sites left out, {} expired, broken lines: {:?}",
            imported.taken,
            imported.foreign,
            imported.expired,
            imported.broken
        );
        if imported.taken == 0 {
            bail!("{}: no cookie of {}", file.display(), rules.hosts.join(", "));
        }
        let nothing = Secret::new("");
        let means = Means { rules: login, password: &nothing, jar: &jar };
        let (holds, steps) = block_on(async { Ok(login::session_holds(&crawled, means).await) })?;
        steps.iter().try_for_each(|step| -> anyhow::Result<()> {
            outln!("{step}");
            Ok(())
        })?;
        if holds != Some(true) {
            bail!("the session of {} is not one of a member: it is not kept", file.display());
        }
        let mut tries = sessions::tries(&config.data_dir, site)?;
        tries.operator_has_logged_in();
        sessions::save_tries(&config.data_dir, site, &tries)?;
    } else {
        let password = secrets::password(&config.data_dir, site)?;
        let Some(_turn) = sessions::turn(&config.data_dir, site)? else {
            bail!(
                "another process logs in to {site} at this moment\nhint: wait until it has, or has not: gleaner status"
            );
        };
        let mut tries = sessions::tries(&config.data_dir, site)?;
        // Whoever runs this command says that a locked account may be touched; a refused password is refused all the same.
        if tries.has_refused(&login.user, &password) && !options.again {
            bail!(
                "the site has refused this user and password before\nhint: correct them; --again sends the same once more"
            );
        }
        tries.begin(&login.user, &password);
        sessions::save_tries(&config.data_dir, site, &tries)?;
        jar.clear();
        let means = Means { rules: login, password: &password, jar: &jar };
        let person = |question: &Question<'_>| asked(question, &config.data_dir, site);
        let report = block_on(async {
            Ok(match options.interactive {
                true => login::log_in_asking(&crawled, means, &person).await,
                false => login::log_in(&crawled, means).await,
            })
        })?;
        for step in &report.steps {
            outln!("{step}");
        }
        tries.ended(report.ended(), &login.user, &password, SystemClock.now());
        sessions::save_tries(&config.data_dir, site, &tries)?;
        if report.judged.verdict != Verdict::LoggedIn {
            // A session that is good is never overwritten by one that is not.
            return Ok(ExitCode::FAILURE);
        }
    }
    let path = sessions::save(&config.data_dir, site, &jar)?;
    outln!("the session is kept in {}", path.display());
    Ok(ExitCode::SUCCESS)
}

/// Asks the person at the terminal; None where nothing was typed. A picture is there as long as the question.
fn asked(question: &Question<'_>, data_dir: &Path, site: &str) -> Option<Box<str>> {
    let wants = match question.wanted {
        Wanted::Captcha => "the site asks to read a CAPTCHA",
        Wanted::Choice => "the site asks which security question is yours",
        Wanted::Answer => "the site asks a security question",
        Wanted::Code => "the site asks for a one-time code",
        Wanted::CodeIfAny => "the site takes a one-time code; leave it empty if your account has none",
    };
    // Sites write what they like; nothing of it may steer the terminal.
    let plain = |text: &str| text.replace(char::is_control, " ");
    let mut text = format!("{wants}: {}\n", plain(question.text));
    for (place, option) in question.options.iter().enumerate() {
        text.push_str(&format!("  {}: {}\n", place + 1, plain(option)));
    }
    let shown = question.picture.as_ref().map(|picture| Shown::new(picture, data_dir, site));
    match &shown {
        Some(Ok(shown)) => text.push_str(&format!("its picture is in {}\n", shown.path.display())),
        Some(Err(error)) => text.push_str(&format!("its picture cannot be written: {error:#}\n")),
        None if question.wanted == Wanted::Captcha => {
            text.push_str("the page has no picture of it: a script may show it\n")
        }
        None => {}
    }
    let mut terminal = std::io::stderr().lock();
    write!(terminal, "{text}> ").and_then(|()| terminal.flush()).ok()?;
    let mut line = String::new();
    std::io::stdin().lock().take(limits::ANSWER_TYPED_BYTES_MAX as u64).read_line(&mut line).ok()?;
    let answer = line.trim();
    (!answer.is_empty()).then(|| answer.into())
}

/// A picture in a file, which is removed when it has been answered.
struct Shown {
    path: PathBuf,
}

impl Shown {
    fn new(picture: &Picture, data_dir: &Path, site: &str) -> anyhow::Result<Self> {
        let path = data_dir.join("sessions").join(format!("{site}.captcha.{}", picture.extension));
        secrets::write_private(&path, &picture.bytes).with_context(|| path.display().to_string())?;
        Ok(Self { path })
    }
}

impl Drop for Shown {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
