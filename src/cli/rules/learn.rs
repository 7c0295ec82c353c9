//! `gleaner rules learn`: writes a site's rule file from what its pages show. Requests pass the crawl's own gate: robots.txt, rate,
//! addresses, redirects; nothing is asked for that acts in an account's name.

mod gate;
mod member;
pub mod repair;
mod scripts;
mod told;

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;

use self::gate::{Asker, Closed, Gate};
use self::told::Told;
use crate::app::answers::{self, Answers};
use crate::app::secrets;
use crate::app::signals::Signals;
use crate::cli::hints::{Hints, quoted, told_argument};
use crate::cli::{Global, block_on, login};
use crate::limits::{LEARNED_KEPT_TIME, LEARNED_LOGINS_MAX, REPAIR_KEPT_TIME};
use gleaner_base::console::{self, escaped};
use gleaner_base::place;
use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_learn::{self as learn, LoginPlaces, Nothing, Outcome, limits};
use gleaner_rules::config::Config;
use gleaner_rules::starter::{site_name, toml_string, typed_url};
use gleaner_rules::{SiteRules, from_text, from_text_at};

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
    /// Go on with what an earlier run of this site has read: the site is asked only for what is new
    #[arg(long)]
    resume: bool,
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
    let typed = typed(&options.url)?;
    let output = Output::of(config, options, &typed)?;
    let Ran { outcome, start, reused, .. } = Run { config, options, hints: &hints, global, own: None }.run(&typed)?;
    let told = Told { outcome: &outcome, start: &start, file: output.path(), reused };
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

/// `rules new`: the first requests of learning, and the file that they call for; a starter file where they show no torrent.
pub fn first_look(config: &Config, url: &str, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    let typed = typed(url)?;
    let options = Options {
        url: url.to_owned(),
        requests: limits::FIRST_REQUESTS,
        rate: 1.0,
        account: None,
        lean: false,
        robots_reason: None,
        no_family: false,
        output: None,
        resume: false,
        log: false,
        json: false,
    };
    let output = Output::of(config, &options, &typed)?;
    let offline = hints.command("rules new --offline URL");
    let Ran { outcome, start, reused, .. } =
        Run { config, options: &options, hints: &hints, global, own: None }.run(&typed).map_err(|error| {
            let text = format!("{error:#}");
            let (what, hint) = text.split_once("\nhint: ").unwrap_or((&text, "check the URL"));
            anyhow!("{what}\nhint: {hint}, or write the file by hand, without a request: {offline}")
        })?;
    match &outcome.learned {
        Ok(learned) => {
            output.write(&learned.text)?;
            Told { outcome: &outcome, start: &start, file: output.path(), reused }.show(&hints)?;
            outln!("this is what {} requests show; `rules learn` sends up to {}", outcome.requests, limits::REQUESTS);
        }
        Err(nothing @ Nothing::NoStart(_)) => {
            bail!(
                "{start}: {nothing}\nhint: {}, or write the file by hand, without a request: {offline}",
                nothing.hint()
            )
        }
        Err(nothing) => {
            outln!("{start}: {nothing}, after {} requests: this file is to be filled in by hand", outcome.requests);
            super::new_file(start.as_str(), &config.rules_dir, &mut console::out())?;
            outln!("hint: {}", next(nothing, &start, &hints));
        }
    }
    Ok(ExitCode::SUCCESS)
}

fn typed(url: &str) -> anyhow::Result<CrawlUrl> {
    typed_url(url).map_err(|fault| {
        anyhow!("{}: {fault}\nhint: write the site's address, as https://example.org/", told_argument(url))
    })
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
        if let Some((there, _)) = place::in_the_way(folder).filter(|_| options.output.is_none()) {
            bail!("{}: {}, not a folder\nhint: pass another --rules", there.display(), place::told(&there));
        }
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

/// What a run came to.
struct Ran {
    outcome: Outcome,
    start: CrawlUrl,
    /// Of its requests, those that an earlier run had sent.
    reused: u32,
    /// The site wants no more requests for now: more could be learned.
    is_over: bool,
    /// What is kept of them. No other process learns the site while this is held.
    answers: Option<Answers>,
}

struct Run<'a> {
    config: &'a Config,
    options: &'a Options,
    hints: &'a Hints,
    global: &'a Global,
    /// Of a site that is learned again.
    own: Option<&'a Own>,
}

/// The rule file of a site.
struct Own {
    site: Arc<SiteRules>,
    text: String,
}

impl Run<'_> {
    /// Learns as a guest, then as a member if there is an account.
    fn run(&self, typed: &CrawlUrl) -> anyhow::Result<Ran> {
        let Self { config, options, .. } = *self;
        let guest = self.rules(typed, None, None)?;
        let share = if options.account.is_some() {
            (options.requests / GUESTS_SHARE).max(limits::REQUESTS_MIN)
        } else {
            options.requests
        };
        if options.account.is_some() {
            secrets::password(&config.data_dir, &guest.name)?;
        }
        let own = self.own.map(|own| Arc::clone(&own.site));
        let asker = Asker { requests: share, user: None, answers: self.answers(typed)?, logs: options.log, own };
        let (outcome, start, closed) = block_on(self.unless_stopped(typed, async {
            let mut gate = Gate::open(config, &guest, typed, asker).await?;
            let start = gate.start().clone();
            let outcome = learn::learn(&mut gate, &self.what(&start, share, (None, None), &[])).await;
            Ok((outcome, start, gate.close().await))
        }))?;
        match &options.account {
            None => {
                let Closed { answers, reused, is_over, .. } = closed;
                Ok(Ran { outcome, start, reused, is_over, answers })
            }
            // A member would not be welcome now either.
            Some(_) if closed.is_over => {
                let how = if self.own.is_some() { "" } else { ", with --resume" };
                bail!("{start}: the site wants no more requests for now\nhint: run the command again later{how}")
            }
            Some(user) => self.as_member(user, start, outcome, closed),
        }
    }

    /// The rules of its requests: those of the operator's file where there is one.
    fn rules(
        &self,
        start: &CrawlUrl,
        user: Option<&str>,
        places: Option<&LoginPlaces>,
    ) -> anyhow::Result<Arc<SiteRules>> {
        let Some(Own { site, text }) = self.own else { return made_up(start, self.options, user, places) };
        let faulty = |why: String| anyhow!("{}: {why}", site.file.display());
        let text = learn::for_learning(text, user.is_none()).map_err(faulty)?;
        from_text_at(&site.file, &text)
            .map_err(|faults| faulty(faults.first().map(ToString::to_string).unwrap_or_default()))
    }

    /// What is kept of the site's answers; None, with a warning, if nothing can be. Two processes that learn the same site again would put their
    /// files in the place of each other's.
    fn answers(&self, typed: &CrawlUrl) -> anyhow::Result<Option<Answers>> {
        let (name, kept_for) = match self.own {
            Some(own) => (answers::of_repair(&own.site.name), REPAIR_KEPT_TIME),
            None if self.options.resume => (site_name(typed.authority()), LEARNED_KEPT_TIME),
            None => (site_name(typed.authority()), Duration::ZERO),
        };
        match Answers::open(&self.config.data_dir, &name, kept_for) {
            Ok(answers) => Ok(Some(answers)),
            Err(error) if self.options.resume || self.own.is_some() => Err(error),
            Err(error) => {
                errln!("warning: the answers are not kept: {}", escaped(&format!("{error:#}")));
                Ok(None)
            }
        }
    }

    /// The member's pass. If the session ends in it, what was read since it last held is asked for again.
    fn as_member(&self, user: &str, start: CrawlUrl, guest: Outcome, closed: Closed) -> anyhow::Result<Ran> {
        let Self { config, options, hints, global, .. } = *self;
        let member = self.rules(&start, Some(user), guest.login.as_ref())?;
        let left = options.requests.saturating_sub(guest.requests).max(limits::REQUESTS_MIN);
        let (mut answers, mut reused) = (closed.answers, closed.reused);
        for _ in 0..=LEARNED_LOGINS_MAX {
            login::for_learning(config, &member, hints, (options.json, global.verbose > 0))?;
            let own = self.own.map(|own| Arc::clone(&own.site));
            let asker = Asker { requests: left, user: Some(user), answers, logs: options.log, own };
            let (mut outcome, mut closed) = block_on(self.unless_stopped(&start, async {
                let mut gate = Gate::open(config, &member, &start, asker).await?;
                let places = (Some(user), guest.login.clone());
                let outcome = learn::learn(&mut gate, &self.what(&start, left, places, &guest.barren)).await;
                Ok((outcome, gate.close().await))
            }))?;
            let Some(end) = closed.lost_from else {
                outcome.requests += guest.requests;
                reused += closed.reused;
                return Ok(Ran { outcome, start, reused, is_over: closed.is_over, answers: closed.answers });
            };
            errln!("the session has ended: logging in again");
            if let Some(answers) = &mut closed.answers {
                answers.forget_from(end)?;
            }
            answers = closed.answers;
        }
        bail!(
            "{}: the session of {user} ends again and again\nhint: look in a browser what ends it, then run the command again with --resume",
            start.authority()
        )
    }

    /// A pass, unless a signal ends it: what was read is kept.
    async fn unless_stopped<T>(
        &self,
        start: &CrawlUrl,
        pass: impl Future<Output = anyhow::Result<T>>,
    ) -> anyhow::Result<T> {
        let mut signals = Signals::listen()?;
        tokio::select! {
            done = pass => done,
            _ = signals.next() => {
                let account = self.options.account.as_ref().filter(|_| self.own.is_none());
                let account = account.map(|user| format!(" --account {}", quoted(Path::new(user)))).unwrap_or_default();
                let again = match self.own {
                    Some(own) => format!("rules repair {}", own.site.name),
                    None => format!("rules learn {}{account} --resume", quoted(Path::new(start.as_str()))),
                };
                bail!("stopped; what was read is kept\nhint: to go on: {}", self.hints.command(&again))
            }
        }
    }

    /// What one pass is to learn.
    fn what(
        &self,
        start: &CrawlUrl,
        requests: u32,
        (user, login): (Option<&str>, Option<LoginPlaces>),
        barren: &[String],
    ) -> learn::Options {
        let options = self.options;
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
            // `keep` would hide a parameter that is new.
            canonical: self
                .own
                .map_or_else(Canonical::default, |own| Canonical { keep: Vec::new(), ..own.site.canonical.clone() }),
        }
    }
}

/// One of so many requests is a guest's where there is an account.
const GUESTS_SHARE: u32 = 6;

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
    from_text(&site_name(start.authority()), &text).map_err(|faults| {
        let told = faults.first().map(|fault| format!("{}: {}", fault.key, fault.message)).unwrap_or_default();
        let hint = faults.first().and_then(|fault| fault.hint.clone()).unwrap_or_else(|| "check the URL".to_owned());
        anyhow!("{}: {told}\nhint: {hint}", told_argument(start.as_str()))
    })
}

/// What a person types next.
fn next(nothing: &Nothing, start: &CrawlUrl, hints: &Hints) -> String {
    let Some(options) = nothing.options() else { return nothing.hint().to_owned() };
    let again = hints.command(&format!("rules learn {} {options}", quoted(Path::new(start.as_str()))));
    format!("{}: {again}", nothing.hint())
}
