//! `gleaner rules repair`: a site whose rules keep their promise no more is learned again, and a repaired file is proposed beside the old one.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use clap::Args;
use serde::Serialize;
use similar::TextDiff;

use super::{Options as LearnOptions, Ran, Run};
use crate::app::repairs::{proposal, proposals};
use crate::app::{self, database::Database, status};
use crate::cli::hints::{Hints, quoted};
use crate::cli::learned::site_named;
use crate::cli::rules::versions;
use crate::cli::{Global, block_on};
use gleaner_base::console::escaped;
use gleaner_learn::{Estimate, Learned, limits, repaired};
use gleaner_rules::config::Config;
use gleaner_rules::{Class, Robots, SiteRules, from_text};

/// Torrents of the archive that have to be reached again, of a site that has so many.
const KNOWN_AGAIN: usize = 5;

/// The share of the archive's torrents that the site must have by its lists.
const SIZE: f64 = 0.8;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of the site
    site: String,
    /// Requests to send at most, without those for robots.txt and the login
    #[arg(long, value_name = "COUNT", default_value_t = limits::REQUESTS,
          value_parser = clap::value_parser!(u32).range(i64::from(limits::REQUESTS_MIN)..=i64::from(limits::REQUESTS_MAX)))]
    requests: u32,
    /// Put the repaired file in force if all that speaks for it holds; the old one is kept
    #[arg(long)]
    apply: bool,
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
    let Some(site) = site_named(&options.site, config) else {
        bail!("{}: no site of this name has a valid rule file\nhint: {}", options.site, hints.command("rules check"));
    };
    let (broken, archived) = block_on(known(config, &site))?;
    if broken.is_empty() && !options.anyway {
        if options.json {
            let site = site.name.to_string();
            outln!("{}", serde_json::to_string(&Repair { site, ..Repair::default() })?);
        } else {
            outln!(
                "{}: its rules keep their promises: nothing is to be repaired (--anyway learns it again)",
                site.name
            );
        }
        return Ok(ExitCode::SUCCESS);
    }
    let learning = learning(&site, options, proposal(&site, &config.data_dir).is_some())?;
    let start = site.start.first().context("a site without a start page")?;
    let Ran { outcome, start, .. } = Run { config, options: &learning, hints: &hints, global }.run(start)?;
    let learned = outcome.learned.as_ref().map_err(|nothing| {
        anyhow!("{start}: {nothing}, after {} requests\nhint: {}; the old file stays", outcome.requests, nothing.hint())
    })?;
    let old = std::fs::read_to_string(&site.file).with_context(|| site.file.display().to_string())?;
    let text = repaired(&old, &learned.text).map_err(|why| anyhow!("{}: {why}", site.file.display()))?;
    let archive = config.data_dir.join("torrents");
    let is_known =
        |key: &&String| key.get(..2).is_some_and(|shard| archive.join(shard).join(format!("{key}.torrent")).is_file());
    let mut repair = Repair {
        site: site.name.to_string(),
        broken,
        requests: outcome.requests,
        torrents_read: outcome.torrents.len(),
        torrents_known: outcome.torrents.iter().filter(is_known).count(),
        objections: Vec::new(),
        file: None,
        is_applied: false,
        replaced: None,
        diff: diff(&site, &old, &text),
    };
    repair.objections = objections(&site, learned, &text, archived, &repair);
    if old == text {
        repair.objections.push("the site calls for the rules that the file has".to_owned());
    } else if options.apply && repair.objections.is_empty() {
        repair.replaced = Some(versions::replace(&site.file, &text)?);
        repair.is_applied = true;
        repair.file = Some(site.file.to_path_buf());
        for proposal in proposals(&site, &config.data_dir) {
            let _ = std::fs::remove_file(proposal);
        }
    } else {
        repair.file = Some(propose(&site, &config.data_dir, &text)?);
    }
    repair.tell(options, &site, &hints)?;
    let is_well = repair.is_applied || !options.apply && repair.file.is_some();
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Writes the repaired file beside the old one; into the data folder if that cannot be written, as for a service.
fn propose(site: &SiteRules, data_dir: &Path, text: &str) -> anyhow::Result<PathBuf> {
    let [beside, aside] = proposals(site, data_dir);
    if std::fs::write(&beside, text).is_ok() {
        let _ = std::fs::remove_file(aside);
        return Ok(beside);
    }
    let hint = || format!("{}\nhint: run the command as a user who may write to the rules folder", beside.display());
    std::fs::create_dir_all(aside.parent().unwrap_or(data_dir))
        .and_then(|()| std::fs::write(&aside, text))
        .with_context(hint)?;
    Ok(aside)
}

/// The promises that the site's rules keep no more, in words, and its torrents in the archive.
async fn known(config: &Config, site: &SiteRules) -> anyhow::Result<(Vec<String>, u64)> {
    let Some(database) = Database::unless_lost(&config.into()).await? else {
        return Err(app::nothing_there(&config.into()));
    };
    let broken = status::broken_promises(database.reader(), &site.name).await?;
    let counts = database.reader().site_counts(&site.name).await?;
    Ok((broken.iter().map(|of| of.alarm.told(&of.rule, of.is_behind)).collect(), counts.torrents_seen))
}

/// The options of a learning run with what the operator's file says of account, rate and robots.txt.
fn learning(site: &SiteRules, options: &Options, resume: bool) -> anyhow::Result<LearnOptions> {
    let start = site.start.first().context("a site without a start page")?;
    let seconds = site.rate.interval.as_secs_f64();
    Ok(LearnOptions {
        url: start.as_str().to_owned(),
        requests: options.requests,
        rate: if seconds > 0.0 { (1.0 / seconds).clamp(0.001, 1_000.0) } else { 1_000.0 },
        account: site.login.as_ref().map(|login| login.user.to_string()),
        lean: false,
        robots_reason: match &site.robots {
            Robots::Obey => None,
            Robots::Ignore { reason } => Some(reason.to_string()),
        },
        no_family: false,
        output: None,
        resume,
        log: options.log,
        json: options.json,
        name: Some(site.name.to_string()),
    })
}

fn diff(site: &SiteRules, old: &str, new: &str) -> String {
    let name = site.file.file_name().unwrap_or_default().to_string_lossy();
    TextDiff::from_lines(old, new)
        .unified_diff()
        .context_radius(2)
        .header(&name, &format!("{name}.proposed"))
        .to_string()
}

/// What speaks against putting the repaired file in force without a person (LEARNING §15.4).
fn objections(site: &SiteRules, learned: &Learned, text: &str, archived: u64, repair: &Repair) -> Vec<String> {
    let mut against = Vec::new();
    let kind = |class: Class| match class {
        Class::Board => Class::Index,
        Class::Thread => Class::Detail,
        other => other,
    };
    match from_text(&site.name, text) {
        Err(faults) => {
            let first = faults.first().map(ToString::to_string).unwrap_or_default();
            against.push(format!("the repaired file has faults: {first}"));
        }
        Ok(rules) => {
            let has =
                |rules: &SiteRules, class: Class| rules.rules().iter().any(|rule| rule.class.map(kind) == Some(class));
            for class in [Class::Download, Class::Detail, Class::Index] {
                if has(site, class) && !learned.rules.iter().any(|rule| kind(rule.class) == class) {
                    against.push(format!("no {} was found", class.name()));
                }
            }
            if rules.hosts != site.hosts {
                against.push(format!("its hosts are {}, and were {}", rules.hosts.join(", "), site.hosts.join(", ")));
            }
        }
    }
    let (Estimate::About(size) | Estimate::AtLeast(size)) = learned.estimate;
    if (size as f64) < SIZE * archived as f64 {
        against.push(format!("its lists have {size} torrents, and the archive has {archived} of the site"));
    }
    let wanted = KNOWN_AGAIN.min(usize::try_from(archived).unwrap_or(KNOWN_AGAIN));
    if repair.torrents_known < wanted {
        against.push(format!(
            "{} of the {} torrents that were read are in the archive, and {wanted} would show that it is the same site",
            repair.torrents_known, repair.torrents_read
        ));
    }
    against
}

impl Repair {
    fn tell(&self, options: &Options, site: &SiteRules, hints: &Hints) -> anyhow::Result<()> {
        if options.json {
            outln!("{}", serde_json::to_string(self)?);
            return Ok(());
        }
        for broken in &self.broken {
            outln!("{broken}");
        }
        outln!(
            "learned again with {} requests; {} of the {} torrents that were read are in the archive",
            self.requests,
            self.torrents_known,
            self.torrents_read
        );
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
                let (proposed, file) = (quoted(file), quoted(&site.file));
                match self.objections.is_empty() {
                    true => {
                        outln!("next: read it, then: {}", hints.command(&format!("rules repair {} --apply", site.name)))
                    }
                    false => outln!("next: read it, and if it is right: mv {proposed} {file}"),
                }
            }
            (None, _) => outln!("{} stays as it is", site.file.display()),
        }
        Ok(())
    }
}
