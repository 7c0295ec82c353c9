//! `gleaner rules repair`: a site whose rules keep their promise no more is learned again, and a repaired file is proposed beside the old one.

mod objections;
mod proposal;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use serde::Serialize;
use similar::TextDiff;

use self::objections::{Torrents, objections};
use super::{Options as LearnOptions, Own, Ran, Run};
use crate::app::database::Database;
use crate::app::status::{self, BrokenPromise};
use crate::app::versions;
use crate::app::{self, answers, repairs, secrets};
use crate::cli::hints::{Hints, told};
use crate::cli::learned::site_named;
use crate::cli::{Global, block_on};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::console::escaped;
use gleaner_base::url::CrawlUrl;
use gleaner_learn::{Outcome, has_family, has_rule, limits, repaired};
use gleaner_rules::config::Config;
use gleaner_rules::starter::site_name;
use gleaner_rules::{Robots, SiteRules, Verdict, from_text, from_text_at};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of the site
    site: String,
    /// Requests to send at most, without those for robots.txt and the login
    #[arg(long, value_name = "COUNT", default_value_t = limits::REQUESTS,
          value_parser = clap::value_parser!(u32).range(i64::from(limits::REQUESTS_MIN)..=i64::from(limits::REQUESTS_MAX)))]
    requests: u32,
    /// Put the proposed file in force, as it was edited; without one, learn the site again, and do so if all that speaks for it holds
    #[arg(long)]
    apply: bool,
    /// The service runs this while the site's crawl pauses: learn anew, with the password on standard input.
    #[arg(long, hide = true)]
    of_service: bool,
    /// Learn the site again although its rules keep their promises
    #[arg(long)]
    anyway: bool,
    /// Show each request and its reason
    #[arg(long)]
    log: bool,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// What a repair came to.
#[derive(Debug, Default, Serialize)]
struct Repair {
    site: String,
    /// What the rules promised and do not keep.
    broken: Vec<String>,
    requests: u32,
    /// Torrents that were read, and those of them that the archive has.
    torrents_read: usize,
    torrents_known: usize,
    /// Why the repaired file is not put in force by itself.
    objections: Vec<String>,
    /// Where it is, and whether it is in force.
    file: Option<PathBuf>,
    is_applied: bool,
    /// The old file, if it is.
    replaced: Option<PathBuf>,
    #[serde(skip)]
    diff: String,
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let hints = Hints::of(global);
    if options.of_service {
        secrets::read_given()?;
    }
    let Some(site) = site_named(&options.site, config) else {
        bail!("{}: no site of this name has a valid rule file\nhint: {}", options.site, hints.command("rules check"));
    };
    let text = std::fs::read_to_string(&site.file).with_context(|| site.file.display().to_string())?;
    let own = Own { site, text };
    let proposed = match options.apply && !options.of_service {
        true => proposal::ready(&own.site, &config.data_dir, &own.text, options.anyway)?,
        false => None,
    };
    let repair = match proposed {
        Some(text) => Repair::of_proposal(config, &own, &text)?,
        None => {
            let known = block_on(known(config, &own.site))?;
            if known.broken.is_empty() && !options.anyway {
                return nothing_broken(&own.site, options.json);
            }
            let requests = block_on(may_ask(config, &own.site, options, &hints))?;
            learned_again(config, options, global, &own, (known, requests))?
        }
    };
    repair.tell(options, &own.site, &hints)?;
    let is_well = repair.is_applied || !options.apply && repair.file.is_some();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn nothing_broken(site: &SiteRules, json: bool) -> anyhow::Result<ExitCode> {
    let name = &site.name;
    if json {
        outln!("{}", serde_json::to_string(&Repair { site: name.to_string(), ..Repair::default() })?);
    } else {
        outln!("{name}: its rules keep their promises: nothing is to be repaired (--anyway learns it again)");
    }
    Ok(ExitCode::SUCCESS)
}

/// Learns the site again.
fn learned_again(
    config: &Config,
    options: &Options,
    global: &Global,
    own: &Own,
    (known, requests): (Known, u32),
) -> anyhow::Result<Repair> {
    let site = &own.site;
    let start = site.start.first().context("a site without a start page")?;
    let learning = learning(own, options, requests, &known.broken);
    let run = Run { config, options: &learning, hints: &Hints::of(global), global, own: Some(own) };
    // Held to the end: another process would put its file in the place of this one's.
    let Ran { outcome, start, is_over, answers: _held, .. } = run.run(start)?;
    if is_over {
        bail!(
            "{start}: the site wants no more requests for now\nhint: run the command again later: it goes on with what was read, for two days"
        );
    }
    let settled = settled(config, options.apply, own, &known, (&outcome, &start));
    let host = outcome.learned.is_ok().then(|| site_name(start.authority()));
    answers::repair_ended(&config.data_dir, &site.name, host.as_deref());
    settled
}

/// Applies or proposes what was learned.
fn settled(
    config: &Config,
    applies: bool,
    own: &Own,
    known: &Known,
    (outcome, start): (&Outcome, &CrawlUrl),
) -> anyhow::Result<Repair> {
    let site = &own.site;
    let learned = outcome.learned.as_ref().map_err(|nothing| {
        anyhow!("{start}: {nothing}, after {} requests\nhint: {}; the old file stays", outcome.requests, nothing.hint())
    })?;
    let text = repaired(&own.text, &learned.text, has_moved(site, &learned.text));
    let text = text.map_err(|why| anyhow!("{}: {why}", site.file.display()))?;
    let rules = from_text_at(&site.file, &text);
    let torrents = block_on(Torrents::of(config, site, &outcome.torrents, known.archived))?;
    let against = objections(site, learned, rules.as_deref().map_err(Vec::as_slice), &known.broken, &torrents);
    let mut repair = Repair {
        site: site.name.to_string(),
        broken: known.broken.iter().map(|of| of.alarm.told(&of.rule, of.is_behind)).collect(),
        requests: outcome.requests,
        torrents_read: torrents.read,
        torrents_known: torrents.known,
        objections: against.clone(),
        file: None,
        is_applied: false,
        replaced: None,
        diff: diff(site, &own.text, &text),
    };
    // Comments with other numbers are no reason for another version.
    if rules.is_ok_and(|rules| rules.links_fingerprint() == site.links_fingerprint()) {
        repair.objections.push("the site calls for the rules that the file has".to_owned());
        return Ok(repair);
    }
    if applies && against.is_empty() {
        // A service may not write there, but propose.
        if let Err(error) = repair.apply(config, own, &text) {
            let why = told(&error);
            let why = why.split("\nhint: ").next().unwrap_or_default();
            repair.objections.push(format!("it cannot be put in force: {why}"));
        }
    }
    if !repair.is_applied {
        repair.file = Some(proposal::write(site, &config.data_dir, (&own.text, &text), &against)?);
    }
    Ok(repair)
}

/// True if the first start page is at another URL of the site now, and the learned rules do not take the old one.
fn has_moved(site: &SiteRules, learned: &str) -> bool {
    let Ok(learned) = from_text(&site.name, learned) else { return false };
    let first = site.start.first().and_then(|start| CrawlUrl::parse(start.as_str(), &learned.canonical).ok());
    first.zip(learned.start.first()).is_some_and(|(old, new)| {
        old != *new && site.owns_host(new.authority()) && matches!(learned.judge(&old), Verdict::Refuse { .. })
    })
}

/// What is known of a site before it is learned again.
struct Known {
    broken: Vec<BrokenPromise>,
    /// Its torrents in the archive.
    archived: u64,
}

async fn known(config: &Config, site: &SiteRules) -> anyhow::Result<Known> {
    let Some(database) = Database::unless_lost(&config.into()).await? else {
        return Err(app::nothing_there(&config.into()));
    };
    let broken = status::broken_promises(database.reader(), &site.name, Some(site)).await?;
    let archived = database.reader().site_counts(&site.name).await?.torrents_seen;
    Ok(Known { broken, archived })
}

/// How many requests may be sent now.
///
/// # Errors
/// If none may: another process sends its own, or the site wants none.
async fn may_ask(config: &Config, site: &SiteRules, options: &Options, hints: &Hints) -> anyhow::Result<u32> {
    let database = Database::existing(&config.into()).await?;
    if let Database::Held(remote) = &database
        && !options.of_service
        && remote.status().await?.sites.iter().any(|of| *of.name == *site.name && of.is_crawled)
    {
        bail!(
            "{}: another process crawls it now, and both would ask for more than its rate\nhint: the service learns such a site by itself, unless \
             `[learn] repair = \"off\"`, and `{}` says what it proposes; else end that process first",
            site.name,
            hints.command("status")
        );
    }
    let now = SystemClock.now();
    if let Some(why) = repairs::pause(database.reader(), site, now).await? {
        bail!("{}: {why}\nhint: run the same command again then", site.name);
    }
    let left = status::left_today(database.reader(), site, now).await?;
    let requests = left.map_or(options.requests, |left| options.requests.min(u32::try_from(left).unwrap_or(u32::MAX)));
    if requests < limits::REQUESTS_MIN {
        bail!(
            "{}: requests_per_day leaves {requests} requests today\nhint: run the same command again tomorrow",
            site.name
        );
    }
    Ok(requests)
}

/// The options of a learning run with what the operator's file says of account, rate and robots.txt.
fn learning(own: &Own, options: &Options, requests: u32, broken: &[BrokenPromise]) -> LearnOptions {
    let site = &own.site;
    let seconds = site.rate.interval.as_secs_f64();
    LearnOptions {
        url: site.start.first().map(ToString::to_string).unwrap_or_default(),
        requests,
        rate: if seconds > 0.0 { (1.0 / seconds).clamp(0.001, 1_000.0) } else { 1_000.0 },
        account: site.login.as_ref().map(|login| login.user.to_string()),
        lean: false,
        robots_reason: match &site.robots {
            Robots::Obey => None,
            Robots::Ignore { reason } => Some(reason.to_string()),
        },
        // A family brings rules that this file did without and may refuse, or the rule that is broken.
        no_family: !has_family(&own.text) || broken.iter().any(|of| !has_rule(&own.text, &of.rule)),
        output: None,
        resume: false,
        log: options.log,
        json: options.json,
    }
}

fn diff(site: &SiteRules, old: &str, new: &str) -> String {
    let name = site.file.file_name().unwrap_or_default().to_string_lossy();
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(2)
        .header(&name, &format!("{name}.proposed"))
        .to_string()
}

impl Repair {
    /// Puts the proposal in force that a person has read.
    fn of_proposal(config: &Config, own: &Own, text: &str) -> anyhow::Result<Self> {
        let site = own.site.name.to_string();
        let mut repair = Self { site, diff: diff(&own.site, &own.text, text), ..Self::default() };
        repair.apply(config, own, text)?;
        Ok(repair)
    }

    fn apply(&mut self, config: &Config, own: &Own, text: &str) -> anyhow::Result<()> {
        let file = &own.site.file;
        if std::fs::read_to_string(file).is_ok_and(|now| now != own.text) {
            bail!("{}: was changed meanwhile\nhint: run the same command again", file.display());
        }
        self.replaced = Some(versions::replace(file, text)?);
        self.is_applied = true;
        self.file = Some(file.to_path_buf());
        proposal::put_aside(&own.site, &config.data_dir);
        Ok(())
    }

    fn tell(&self, options: &Options, site: &SiteRules, hints: &Hints) -> anyhow::Result<()> {
        if options.json {
            outln!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        for broken in &self.broken {
            outln!("{broken}");
        }
        if self.requests > 0 {
            outln!(
                "learned again with {} requests; {} of the {} torrents that were read are in the archive",
                self.requests,
                self.torrents_known,
                self.torrents_read
            );
        }
        for line in self.diff.lines() {
            outln!("{}", escaped(line));
        }
        for why in &self.objections {
            outln!("- {why}");
        }
        match (&self.file, &self.replaced) {
            (Some(file), Some(old)) => {
                outln!("{} is in force; the old one is {}", file.display(), old.display());
                outln!("hint: to go back: {}", hints.command(&format!("rules revert {}", site.name)));
            }
            (Some(file), None) => {
                outln!("wrote {}", file.display());
                let apply = hints.command(&format!("rules repair {} --apply", site.name));
                match self.objections.is_empty() {
                    true => outln!("next: read it, then: {apply}"),
                    false => outln!(
                        "next: read it; if it is right, remove the lines at its top that begin with `# - `, then: {apply}"
                    ),
                }
            }
            (None, _) => outln!("{} stays as it is", site.file.display()),
        }
        Ok(())
    }
}
