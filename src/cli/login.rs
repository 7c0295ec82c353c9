//! `gleaner login`: logs in to a site and shows each step, or takes over the session of a browser.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use clap::Args;

use super::block_on;
use crate::app::{App, secrets, sessions};
use crate::config::Config;
use crate::crawl::login::{self, Means};
use crate::limits;
use crate::login::secret::Secret;
use crate::login::verdict::Verdict;
use crate::rules;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of the site; its rule file has a [login] table
    site: String,
    /// Take over the session of a browser: a cookies.txt, of which only this site's cookies are read
    #[arg(long, value_name = "FILE", conflicts_with = "logout")]
    cookies: Option<PathBuf>,
    /// Forget the session
    #[arg(long)]
    logout: bool,
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
        let means = Means { rules: login, password: &nothing, jar: &jar, typed: &[] };
        let (holds, steps) = block_on(async { Ok(login::session_holds(&crawled, means).await) })?;
        steps.iter().try_for_each(|step| -> anyhow::Result<()> {
            outln!("{step}");
            Ok(())
        })?;
        if holds != Some(true) {
            bail!("the session of {} is not one of a member: it is not kept", file.display());
        }
    } else {
        let password = secrets::password(&config.data_dir, site)?;
        jar.clear();
        let means = Means { rules: login, password: &password, jar: &jar, typed: &[] };
        let report = block_on(async { Ok(login::log_in(&crawled, means).await) })?;
        for step in &report.steps {
            outln!("{step}");
        }
        if report.judged.verdict != Verdict::LoggedIn {
            // A session that is good is never overwritten by one that is not.
            return Ok(ExitCode::FAILURE);
        }
    }
    let path = sessions::save(&config.data_dir, site, &jar)?;
    outln!("the session is kept in {}", path.display());
    Ok(ExitCode::SUCCESS)
}
