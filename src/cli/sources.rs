//! `gleaner sources`: hosts that may be new sources of torrents, with why. Nothing is asked of them.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::ExitCode;

use anyhow::bail;
use clap::Args;
use serde::Serialize;

use super::block_on;
use super::hints::told_argument;
use crate::app::database::Database;
use crate::app::sources::{self, Found};
use crate::app::{has_database, is_folder, nothing_there};
use gleaner_learn::sources::{Proposal, host};
use gleaner_rules::config::Config;
use gleaner_rules::fault::nearest;
use gleaner_rules::{load_dir, starter::starter};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Most hosts to show
    #[arg(long, value_name = "COUNT", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    limit: u32,
    /// Remember that this host is no source: it is not proposed again
    #[arg(long, value_name = "HOST", conflicts_with = "forget")]
    refuse: Option<String>,
    /// Forget that this host was refused
    #[arg(long, value_name = "HOST")]
    forget: Option<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn command(config: &Config, options: &Options) -> anyhow::Result<ExitCode> {
    let text = match (&options.refuse, &options.forget) {
        (Some(host), _) => refuse(config, host, options.json)?,
        (None, Some(host)) => forget(config, host, options.json)?,
        (None, None) => {
            let found = find(config)?;
            let told = Told::of(config, &found, options.limit as usize)?;
            if options.json { serde_json::to_string(&told)? + "\n" } else { told.text(&found, &config.given) }
        }
    };
    out!("{text}");
    Ok(ExitCode::SUCCESS)
}

fn find(config: &Config) -> anyhow::Result<Found> {
    let rules: Vec<_> = load_dir(&config.rules_dir).into_iter().filter_map(|file| file.site.ok()).collect();
    block_on(async {
        let database = Database::existing(&config.into()).await?;
        sources::find(database.reader(), &config.data_dir, rules.iter().map(|site| &**site)).await
    })
}

/// The report.
#[derive(Debug, Serialize)]
struct Told<'f> {
    proposals: Vec<ToldProposal<'f>>,
    /// Proposals that `--limit` leaves out.
    proposals_left_out: usize,
    refused: BTreeSet<String>,
    sites: u64,
    torrents_read: u64,
    torrents_unreadable: u64,
    has_more_torrents: bool,
}

#[derive(Debug, Serialize)]
struct ToldProposal<'f> {
    host: &'f str,
    score: f64,
    sites: &'f BTreeSet<String>,
    linking_sites: u64,
    sites_with_words: u64,
    sites_in_rows: u64,
    template_sites: u64,
    pages: u64,
    links: Vec<ToldLink<'f>>,
    announced_torrents: u64,
    named_torrents: u64,
    /// A file of this name that is there, but has faults or names no host: one that is well makes the host a known one.
    rule_file: Option<String>,
    learn: String,
}

#[derive(Debug, Serialize)]
struct ToldLink<'f> {
    site: &'f str,
    page: &'f str,
}

impl<'f> Told<'f> {
    fn of(config: &Config, found: &'f Found, limit: usize) -> anyhow::Result<Self> {
        let refused = sources::refused(&config.data_dir)?;
        let open: Vec<&Proposal> = found.proposals.iter().filter(|of| !refused.contains(&of.host)).collect();
        Ok(Self {
            proposals: open.iter().take(limit).map(|of| ToldProposal::of(of, &config.rules_dir)).collect(),
            proposals_left_out: open.len().saturating_sub(limit),
            refused,
            sites: found.sites,
            torrents_read: found.torrents_read,
            torrents_unreadable: found.torrents_unreadable,
            has_more_torrents: found.has_more_torrents,
        })
    }

    fn text(&self, found: &Found, given: &str) -> String {
        let read = format!("{} and {}", counted(found.sites, "site"), counted(found.torrents_read, "torrent"));
        let mut text = String::new();
        if self.proposals.is_empty() {
            text.push_str(&format!(
                "no host may be a new source, by what {read} name\nhint: links are counted while pages are read: gleaner crawl{given}\n"
            ));
        }
        for proposal in &self.proposals {
            text.push_str(&proposal.text(given));
        }
        if self.proposals_left_out > 0 {
            text.push_str(&format!("{} more: --limit\n", self.proposals_left_out));
        }
        if !self.proposals.is_empty() {
            text.push_str(&format!(
                "by what {read} name; nothing was asked of these hosts\nno source? gleaner sources --refuse HOST{given}\n"
            ));
        }
        if found.has_more_torrents {
            text.push_str("more torrents are in the archive; the ones that were read are a random part of them\n");
        }
        if found.torrents_unreadable > 0 {
            let lost = counted(found.torrents_unreadable, "torrent");
            text.push_str(&format!("{lost} could not be read\nhint: gleaner verify{given}\n"));
        }
        if !self.refused.is_empty() {
            let refused: Vec<&str> = self.refused.iter().map(String::as_str).collect();
            text.push_str(&format!("refused before: {}\n", refused.join(", ")));
        }
        text
    }
}

impl<'f> ToldProposal<'f> {
    fn of(proposal: &'f Proposal, rules_dir: &Path) -> Self {
        let learn = format!("gleaner rules learn https://{}/", proposal.host);
        let file = starter(&format!("https://{}/", proposal.host)).ok().map(|of| rules_dir.join(of.file_name));
        let link = |of: &'f gleaner_learn::sources::Example| ToldLink { site: &of.site, page: &of.page };
        Self {
            host: &proposal.host,
            score: (proposal.score * 1_000.0).round() / 1_000.0,
            sites: &proposal.sites,
            linking_sites: proposal.linking_sites,
            sites_with_words: proposal.sites_with_words,
            sites_in_rows: proposal.sites_in_rows,
            template_sites: proposal.template_sites,
            pages: proposal.pages,
            links: proposal.examples.iter().map(link).collect(),
            announced_torrents: proposal.announced_torrents,
            named_torrents: proposal.named_torrents,
            rule_file: file.filter(|file| file.exists()).map(|file| file.display().to_string()),
            learn,
        }
    }

    fn text(&self, given: &str) -> String {
        let sites: Vec<&str> = self.sites.iter().map(String::as_str).collect();
        let mut text = format!("{}  {:.2}  by {}\n", self.host, self.score, sites.join(", "));
        if self.linking_sites > 0 {
            text.push_str(&format!(
                "  {} of {} link to it; with our words beside the link {}, in rows {}, in the template of {}\n",
                counted(self.pages, "page"),
                counted(self.linking_sites, "site"),
                self.sites_with_words,
                self.sites_in_rows,
                self.template_sites
            ));
        }
        for link in &self.links {
            text.push_str(&format!("    {}  {}\n", link.site, link.page));
        }
        if self.announced_torrents > 0 {
            text.push_str(&format!("  {} announce to it\n", counted(self.announced_torrents, "torrent")));
        }
        if self.named_torrents > 0 {
            text.push_str(&format!(
                "  {} name it in `comment`, `publisher-url` or `source`\n",
                counted(self.named_torrents, "torrent")
            ));
        }
        if let Some(file) = &self.rule_file {
            text.push_str(&format!("  there is a rule file {file}, which has faults or does not name it\n"));
        }
        text.push_str(&format!("  next: {}{given}\n", self.learn));
        text
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

/// The host that an argument names, alone or in a URL.
fn host_of(argument: &str) -> anyhow::Result<String> {
    let text = argument.trim();
    let named = match text.contains("://") {
        true => url::Url::parse(text).ok().and_then(|url| url.domain().map(ToOwned::to_owned)),
        false => Some(text.trim_end_matches('/').to_owned()),
    };
    let Some(host) = named.as_deref().and_then(host::name) else {
        bail!(
            "{}: not the name of a public host\nhint: write it as `gleaner sources` shows it, such as tracker.example",
            told_argument(argument)
        );
    };
    Ok(host)
}

/// An error if no crawl has started in the data folder.
fn must_be_there(config: &Config) -> anyhow::Result<()> {
    is_folder(&config.data_dir)?;
    if !has_database(&config.data_dir)? {
        return Err(nothing_there(&config.into()));
    }
    Ok(())
}

fn refuse(config: &Config, argument: &str, json: bool) -> anyhow::Result<String> {
    let host = host_of(argument)?;
    must_be_there(config)?;
    let mut refused = sources::refused(&config.data_dir)?;
    let is_new = !refused.contains(&host);
    let (mut is_proposed, mut meant) = (false, None);
    if is_new {
        let found = find(config)?;
        is_proposed = found.proposals.iter().any(|of| of.host == host);
        meant = nearest(&host, found.proposals.iter().map(|of| &*of.host)).filter(|_| !is_proposed).map(str::to_owned);
        refused.insert(host.clone());
        sources::save_refused(&config.data_dir, &refused)?;
    }
    if json {
        return Ok(format!("{}\n", serde_json::json!({ "host": host, "is_refused": true, "is_new": is_new })));
    }
    Ok(match (is_new, is_proposed) {
        (false, _) => format!("{host} was refused before\n"),
        (true, true) => format!("{host} is refused: it is not proposed again\n"),
        (true, false) => {
            // It may be refused in advance; it may also be a slip.
            let meant = meant.map(|meant| format!("hint: did you mean {meant}? gleaner sources --forget {host}\n"));
            format!("{host} is refused; nothing has named it so far\n{}", meant.unwrap_or_default())
        }
    })
}

fn forget(config: &Config, argument: &str, json: bool) -> anyhow::Result<String> {
    let host = host_of(argument)?;
    must_be_there(config)?;
    let mut refused = sources::refused(&config.data_dir)?;
    if !refused.remove(&host) {
        let hint = match nearest(&host, refused.iter().map(String::as_str)) {
            Some(meant) => format!("did you mean {meant}?"),
            None if refused.is_empty() => "no host is".to_owned(),
            None => format!("refused hosts: {}", refused.iter().map(String::as_str).collect::<Vec<_>>().join(", ")),
        };
        bail!("{host}: not refused\nhint: {hint}");
    }
    sources::save_refused(&config.data_dir, &refused)?;
    if json {
        return Ok(format!("{}\n", serde_json::json!({ "host": host, "is_refused": false, "is_new": true })));
    }
    Ok(format!("{host} is no longer refused\n"))
}
