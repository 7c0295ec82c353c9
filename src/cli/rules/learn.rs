//! `gleaner rules learn`: writes a site's rule file from what its pages show. Requests pass the crawl's own gate: robots.txt, rate,
//! addresses, redirects; nothing is asked for that acts in an account's name.

mod gate;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;

use self::gate::Gate;
use self::told::Told;
use crate::app::secrets;
use crate::cli::hints::{Hints, quoted, told_argument};
use crate::cli::{Global, block_on, login};
use gleaner_base::url::CrawlUrl;
use gleaner_learn::{self as learn, LoginPlaces, Nothing, Outcome, limits};
use gleaner_rules::config::Config;
use gleaner_rules::starter::{site_name, toml_string, typed_url};
use gleaner_rules::{SiteRules, from_text};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// URL where the crawl will start: a list of torrents, or the site's first page
    url: String,
    /// Requests to send at most, without those for robots.txt and the login
    #[arg(long, value_name = "COUNT", default_value_t = limits::REQUESTS,
          value_parser = clap::value_parser!(u32).range(i64::from(limits::REQUESTS_MIN)..=i64::from(limits::REQUESTS_MAX)))]
    requests: u32,
    /// Requests per second
    #[arg(long, value_name = "NUMBER", default_value_t = 1.0, value_parser = rate)]
    rate: f64,
    /// Look as a guest first, then log in with this account; its password is in secrets/SITE of the data folder
    #[arg(long, value_name = "USER")]
    account: Option<String>,
    /// Leave out the pages of torrents where lists link to the torrents themselves
    #[arg(long)]
    lean: bool,
    /// Do not obey the site's robots.txt, for this reason, which is written into the file
    #[arg(long, value_name = "REASON")]
    robots_reason: Option<String>,
    /// Write all rules themselves, although a shipped family fits
    #[arg(long)]
    no_family: bool,
    /// File to write; the default is SITE.toml in the rules folder. `-` writes to standard output
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show each request and its reason
    #[arg(long)]
    log: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// Parses a rate as rule files have it.
fn rate(text: &str) -> Result<f64, String> {
    let rate: f64 = text.parse().map_err(|_| "not a number".to_owned())?;
    if (0.001..=1_000.0).contains(&rate) { Ok(rate) } else { Err("write a number from 0.001 to 1000".to_owned()) }
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let typed = typed_url(&options.url).map_err(|fault| {
        anyhow!("{}: {fault}\nhint: write the site's address, as https://example.org/", told_argument(&options.url))
    })?;
    let output = Output::of(config, options, &typed)?;
    let (outcome, start) = run(config, options, &hints, global, &typed)?;
    let told = Told { outcome: &outcome, start: &start, file: output.path() };
    if let Ok(learned) = &outcome.learned {
        output.write(&learned.text)?;
    }
    if options.json {
        outln!("{}", serde_json::to_string(&told.json())?);
    } else if !matches!(output, Output::Standard) || outcome.learned.is_err() {
        told.show(&hints)?;
    }
    Ok(if outcome.learned.is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Where the file goes.
enum Output {
    Standard,
    File(PathBuf),
}

impl Output {
    /// Fails before the first request if the file exists: nothing is overwritten.
    fn of(config: &Config, options: &Options, start: &CrawlUrl) -> anyhow::Result<Self> {
        if options.output.as_deref() == Some(Path::new("-")) {
            if options.json {
                bail!("--json and --output - both write to standard output\nhint: name a file with --output");
            }
            return Ok(Self::Standard);
        }
        let usual = || config.rules_dir.join(format!("{}.toml", site_name(start.authority())));
        let path = options.output.clone().unwrap_or_else(usual);
        if path.symlink_metadata().is_ok() {
            bail!("{}: exists already\nhint: move it away, or name another file with --output", path.display());
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let hint =
            || format!("{}\nhint: name a file in a folder that you may write to, with --output", folder.display());
        std::fs::create_dir_all(folder).with_context(hint)?;
        // Before two minutes of requests, and not after them.
        let draft = path.with_extension("toml.part");
        std::fs::write(&draft, "").and_then(|()| std::fs::remove_file(&draft)).with_context(hint)?;
        Ok(Self::File(path))
    }

    fn path(&self) -> Option<&Path> {
        match self {
            Self::Standard => None,
            Self::File(path) => Some(path),
        }
    }

    /// The whole file or none of it.
    fn write(&self, text: &str) -> anyhow::Result<()> {
        let Self::File(path) = self else {
            out!("{text}");
            return Ok(());
        };
        let draft = path.with_extension("toml.part");
        let written = std::fs::write(&draft, text).and_then(|()| std::fs::hard_link(&draft, path));
        let _ = std::fs::remove_file(&draft);
        written.with_context(|| format!("{}\nhint: make room, or name another file with --output", path.display()))
    }
}

/// Learns as a guest, then as a member if there is an account.
fn run(
    config: &Config,
    options: &Options,
    hints: &Hints,
    global: &Global,
    typed: &CrawlUrl,
) -> anyhow::Result<(Outcome, CrawlUrl)> {
    let guest = made_up(typed, options, None, None)?;
    let share = if options.account.is_some() {
        (options.requests / GUESTS_SHARE).max(limits::REQUESTS_MIN)
    } else {
        options.requests
    };
    if options.account.is_some() {
        secrets::password(&config.data_dir, &site_name(typed.authority()))?;
    }
    let (outcome, start) = block_on(async {
        let mut gate = Gate::open(config, &guest, typed, options.log, None).await?;
        let start = gate.start().clone();
        let outcome = learn::learn(&mut gate, &learn_options(options, &start, share, (None, None), &[])).await;
        gate.close();
        Ok((outcome, start))
    })?;
    let Some(user) = &options.account else { return Ok((outcome, start)) };
    let member = made_up(&start, options, Some(user), outcome.login.as_ref())?;
    if !login::for_learning(config, &member, hints, global.verbose > 0)? {
        bail!("{}: {user} could not log in\nhint: the steps above say why", start.authority());
    }
    let barren = outcome.barren.clone();
    let places = outcome.login.clone();
    let used = outcome.requests;
    let mut outcome = block_on(async {
        let mut gate = Gate::open(config, &member, &start, options.log, Some(user)).await?;
        let left = options.requests.saturating_sub(used).max(limits::REQUESTS_MIN);
        let outcome =
            learn::learn(&mut gate, &learn_options(options, &start, left, (Some(user), places), &barren)).await;
        gate.close();
        Ok(outcome)
    })?;
    outcome.requests += used;
    Ok((outcome, start))
}

/// One of so many requests is a guest's where there is an account.
const GUESTS_SHARE: u32 = 6;

fn learn_options(
    options: &Options,
    start: &CrawlUrl,
    requests: u32,
    (user, login): (Option<&str>, Option<LoginPlaces>),
    barren: &[String],
) -> learn::Options {
    learn::Options {
        start: start.clone(),
        requests,
        user: user.map(str::to_owned),
        barren: barren.to_vec(),
        lean: options.lean,
        robots_reason: options.robots_reason.clone(),
        rate: options.rate,
        families: !options.no_family,
        login,
    }
}

/// Rules for learning: all URLs of the host, guarded.
fn made_up(
    start: &CrawlUrl,
    options: &Options,
    user: Option<&str>,
    places: Option<&LoginPlaces>,
) -> anyhow::Result<Arc<SiteRules>> {
    let host = start.authority();
    let twin = host.strip_prefix("www.").map_or_else(|| format!("www.{host}"), str::to_owned);
    let is_name = !start.host().starts_with('[') && start.host().parse::<std::net::IpAddr>().is_err();
    let hosts: Vec<String> =
        [host.to_owned(), twin].into_iter().take(if is_name { 2 } else { 1 }).map(|host| toml_string(&host)).collect();
    let mut text = format!(
        "start = [{}]\nhosts = [{}]\nlearned = true\n[classes]\npage = ['.']\n[rate]\nrequests_per_second = {:?}\n",
        toml_string(start.as_str()),
        hosts.join(", "),
        options.rate
    );
    if let Some(reason) = &options.robots_reason {
        let reason: String = reason.chars().filter(|of| !of.is_control()).collect();
        text += &format!("[robots]\nobey = false\nreason = {}\n", toml_string(&reason));
    }
    if let Some(user) = user {
        let user: String = user.chars().filter(|of| !of.is_control()).collect();
        text += &format!("[login]\nuser = {}\n", toml_string(&user));
        let named = |places: &LoginPlaces| [("page", Some(places.page.clone())), ("probe", places.probe.clone())];
        for (key, url) in places.into_iter().flat_map(named) {
            text += &url.map_or_else(String::new, |url| format!("{key} = {}\n", toml_string(&url)));
        }
    }
    from_text(&site_name(host), &text).map_err(|faults| {
        let told = faults.first().map(|fault| format!("{}: {}", fault.key, fault.message)).unwrap_or_default();
        let hint = faults.first().and_then(|fault| fault.hint.clone()).unwrap_or_else(|| "check the URL".to_owned());
        anyhow!("{}: {told}\nhint: {hint}", told_argument(start.as_str()))
    })
}

/// What a person types next.
fn next(nothing: &Nothing, start: &CrawlUrl, hints: &Hints) -> String {
    let again = hints.command(&format!("rules learn {}", quoted(Path::new(start.as_str()))));
    format!("{}: {again}", nothing.hint())
}
