//! `gleaner noise`: shows one page of a site with its blocks marked as the crawl sees them: template, volatile, content.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::bail;
use clap::Args;
use serde_json::json;

use super::hints::Hints;
use super::{Global, block_on, chosen};
use crate::app::App;
use crate::app::database::Database;
use crate::limits::PAGE_BYTES_MAX;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::fresh::changed::{self, note_name};
use gleaner_crawl::look::Inspection;
use gleaner_rules::config::Config;
use gleaner_rules::{Class, SiteRules, Verdict};

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Name of a site
    site: String,
    /// URL of one of its pages; the first start URL when none is given
    url: Option<String>,
    /// Read the page from this file instead of fetching it (the database keeps no pages)
    #[arg(long, value_name = "PATH")]
    file: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub fn command(config: &Config, options: &Options, global: &Global) -> anyhow::Result<ExitCode> {
    let rules = chosen::one("noise", config, &options.site, &Hints::of(global))?;
    let page = match &options.url {
        Some(url) => CrawlUrl::parse(url, &rules.canonical).map_err(|fault| {
            anyhow::anyhow!("{url} cannot be requested: {fault}\nhint: write the whole URL, as https://…")
        })?,
        None => match rules.start.first() {
            Some(start) => start.clone(),
            None => bail!("{}: has no start URL\nhint: name a page after the site", rules.name),
        },
    };
    let class = match rules.judge(&rules.without_mirror(page.clone())) {
        Verdict::Take { class, .. } if class.is_page() && class != Class::Sitemap => class,
        Verdict::Take { class, .. } => {
            bail!(
                "{}: is of the class {}, whose pages have no noise model\nhint: name a page",
                page.as_str(),
                class.name()
            )
        }
        Verdict::Refuse { .. } => {
            bail!(
                "{}: no rule of {} accepts it\nhint: gleaner rules explain {}",
                page.as_str(),
                rules.name,
                page.as_str()
            )
        }
    };
    block_on(async {
        let note = match Database::of(&config.into()).await? {
            Some(db) => db.reader().note(&rules.name, &note_name(class)).await?,
            None => None,
        };
        let model = changed::model(class, note.as_deref())?;
        let (content_type, body) = match &options.file {
            Some(path) => (None, read(path)?),
            None => asked_for(config, &rules, &page).await?,
        };
        let explained = changed::explain(&rules, &page, &model, content_type.as_deref(), &body);
        if options.json {
            let told = json!({
                "site": &*rules.name,
                "url": page.as_str(),
                "class": class.name(),
                "epoch": model.epoch(),
                "has_learned": model.has_learned(),
                "page": explained,
            });
            outln!("{told}");
            return Ok(());
        }
        let learned = match (note.is_some(), model.has_learned()) {
            (false, _) => "the crawl has stored no model yet: everything is content except relative times",
            (true, false) => "nothing is known as noise yet",
            (true, true) => "",
        };
        outln!(
            "{}  class {}, model {} (relearned {} times)",
            page.as_str(),
            class.name(),
            model.epoch(),
            explained.relearned
        );
        if !learned.is_empty() {
            outln!("{learned}");
        }
        out!("{explained}");
        outln!("= template  ~ volatile    content");
        Ok(())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The page as the site sends it now: its type and its bytes.
async fn asked_for(
    config: &Config,
    rules: &Arc<SiteRules>,
    page: &CrawlUrl,
) -> anyhow::Result<(Option<String>, Vec<u8>)> {
    let site = App::site_with_session(&config.into(), rules)?;
    let (name, url) = (&rules.name, page.as_str());
    let unanswered = |why: String| {
        anyhow::anyhow!(
            "{url}: {why}\nhint: a crawl stores the noise model, not the pages: if the site is gone, save a page of it and run \
             gleaner noise {name} {url} --file PAGE"
        )
    };
    let mut look = Inspection::begin(site.scripts, page.clone()).await.map_err(unanswered)?;
    let answer = look.open(page.clone()).await.map_err(unanswered)?;
    if !(200..300).contains(&answer.status) {
        bail!("{url}: answered with status {}\nhint: name a page that exists", answer.status);
    }
    Ok((answer.header("content-type").map(str::to_owned), answer.body.to_vec()))
}

/// Reads a saved page.
fn read(path: &Path) -> anyhow::Result<Vec<u8>> {
    let told = |fault: std::io::Error| anyhow::anyhow!("{}: {fault}\nhint: name a saved page", path.display());
    let meta = std::fs::metadata(path).map_err(told)?;
    if !meta.is_file() {
        bail!("{}: is not a file\nhint: name a saved page", path.display());
    }
    let mut body = Vec::new();
    let file = std::fs::File::open(path).map_err(told)?;
    file.take(PAGE_BYTES_MAX as u64 + 1).read_to_end(&mut body).map_err(told)?;
    if body.len() > PAGE_BYTES_MAX {
        bail!("{}: is longer than {PAGE_BYTES_MAX} bytes, the most that a crawl reads of a page", path.display());
    }
    Ok(body)
}
