//! `gleaner demo --ajax`: lists that scripts build, crawled into a folder with the script engine.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::{Options, Served, block_on, folder, keep_serving, on_a_thread, patiently, write};
use crate::app::{self, App};
use crate::cli::hints::quoted;
use crate::cli::{Global, crawl};
use gleaner_base::telemetry::Terminal;
use gleaner_crawl::RunOptions;
use gleaner_demo::ajax::{AjaxLog, AjaxOptions, AjaxSite, Section, start};
use gleaner_rules as rules;

/// File with what the folder stores about its site; also marks the folder as one of this demo.
const NOTE: &str = "demo-ajax.json";

/// Name of the site, in the rules folder and in the database.
const SITE: &str = "ajax";

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    port: u16,
    sections: Vec<String>,
    pages: usize,
    per_page: usize,
}

impl Remembered {
    /// Compares sites regardless of their address.
    fn is_same_site(&self, other: &Self) -> bool {
        (&self.sections, self.pages, self.per_page) == (&other.sections, other.pages, other.per_page)
    }
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Summary {
    sections: Vec<String>,
    /// Number of index pages, and of torrents on each.
    index_pages: usize,
    per_page: usize,
    site_torrents: usize,
    /// Torrents in the archive, and those of them that are not the site's, over all runs in this folder.
    stored: usize,
    false_torrents: usize,
    coverage: f64,
    /// Requests of this run as counted by the site: pages, scripts, data requests of scripts, and downloads.
    requests: u64,
    page_requests: u64,
    script_requests: u64,
    data_requests: u64,
    download_requests: u64,
    /// Requests that no script of the site makes, or for URLs that do not exist.
    refused_fetches: u64,
    /// Of this run.
    seconds: f64,
    archive: String,
    /// The address of the site while it is served.
    site: String,
}

pub(super) fn demo(global: &Global, options: &Options, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let data_dir = folder(global.data.clone().unwrap_or_else(|| PathBuf::from("gleaner-demo-ajax")), NOTE)?;
    let (served, was) = serve(&data_dir, options)?;
    let site = &served.site;
    if !options.json {
        errln!(
            "demo site with {} torrents on {} pages that scripts build ({}) on {}, archive in {}",
            site.truth().torrents.len(),
            was.pages,
            was.sections.join(", "),
            site.origin(),
            data_dir.display()
        );
    }
    let (summary, is_well) = block_on(run(&data_dir, site, was, terminal))?;
    if options.json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        out!("{}", text(&summary, &data_dir));
    }
    if options.keep_serving {
        keep_serving(site.origin(), &format!("gleaner crawl {SITE} --data {0} --rules {0}/rules", quoted(&data_dir)))?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Serves the site that the folder describes, or a new one, and writes its rule file.
fn serve(data_dir: &Path, options: &Options) -> anyhow::Result<(Served<AjaxSite>, Remembered)> {
    let usual = AjaxOptions::default();
    let note = data_dir.join(NOTE);
    let was: Option<Remembered> = match std::fs::read(&note) {
        Ok(text) => Some(
            serde_json::from_slice(&text)
                .with_context(|| format!("{}: not written by a demo (hint: pass another --data)", note.display()))?,
        ),
        Err(_) => None,
    };
    let chosen: Vec<Section> = options.section.iter().filter_map(|name| Section::named(name)).collect();
    let sections = if chosen.is_empty() { usual.sections.clone() } else { chosen };
    let asked = Remembered {
        port: 0,
        sections: sections.iter().map(|section| section.name().to_owned()).collect(),
        pages: options.ajax_pages.map_or(usual.pages, |pages| pages as usize),
        per_page: options.per_page.map_or(usual.per_page, |rows| rows as usize),
    };
    let is_asked = !options.section.is_empty() || options.ajax_pages.is_some() || options.per_page.is_some();
    let mut remembered = match was {
        Some(was) if is_asked && !was.is_same_site(&asked) => {
            bail!(
                "{} holds a demo of another site\nhint: leave --section, --ajax-pages and --per-page out to resume it, or pass \
                 another --data",
                data_dir.display()
            );
        }
        Some(was) => was,
        None => asked,
    };
    let port = remembered.port;
    let options = AjaxOptions {
        sections: remembered.sections.iter().filter_map(|name| Section::named(name)).collect(),
        pages: remembered.pages,
        per_page: remembered.per_page,
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, port)),
        ..usual
    };
    let served = patiently(data_dir, port, || {
        let options = options.clone();
        on_a_thread(move || start(options))
    })?;
    let rules_dir = data_dir.join("rules");
    std::fs::create_dir_all(&rules_dir).map_err(|error| app::folder::failed(&rules_dir, &error))?;
    write(&rules_dir.join(format!("{SITE}.toml")), &served.site.rules_text)?;
    remembered.port = served.site.address.port();
    write(&note, &serde_json::to_string(&remembered)?)?;
    Ok((served, remembered))
}

async fn run(
    data_dir: &Path,
    site: &AjaxSite,
    was: Remembered,
    terminal: &Terminal,
) -> anyhow::Result<(Summary, bool)> {
    let rules = rules::from_text(SITE, &site.rules_text)
        .map_err(|faults| anyhow!("{}", rules::fault::render(&faults, false)))?;
    let app = App::open(&app::Options { data_dir: data_dir.to_owned(), ..app::Options::default() })?;
    let run = crawl::run_sites(&app, &[rules], RunOptions::default(), terminal).await?;
    let stored = super::stored(&app).await?;
    let score = site.truth().score(stored.iter().copied());
    let AjaxLog { pages, scripts, data, downloads, refused, requests } = site.log();
    let is_well = super::ended_well(&run) && score.foreign == 0;
    let summary = Summary {
        sections: was.sections,
        index_pages: was.pages,
        per_page: was.per_page,
        site_torrents: score.reachable,
        stored: stored.len(),
        false_torrents: score.foreign,
        coverage: score.coverage,
        requests,
        page_requests: pages,
        script_requests: scripts,
        data_requests: data,
        download_requests: downloads,
        refused_fetches: refused,
        seconds: run.seconds,
        archive: app::archive_path(data_dir).display().to_string(),
        site: site.origin().to_owned(),
    };
    Ok((summary, is_well))
}

fn text(summary: &Summary, data_dir: &Path) -> String {
    let data = quoted(data_dir);
    format!(
        "torrents      {} stored of {} on {} pages that scripts build, {} false
coverage      {:.2} %
requests      {}: {} pages, {} scripts, {} of their data, {} downloads; {} refused
time          {:.1} s
archive       {}

Try next:
  gleaner status --data {data}
  gleaner coverage {SITE} --data {data}
  gleaner demo --ajax --data {data} --keep-serving        keeps serving the site: open it in a browser
",
        summary.stored,
        summary.site_torrents,
        summary.index_pages,
        summary.false_torrents,
        summary.coverage * 100.0,
        summary.requests,
        summary.page_requests,
        summary.script_requests,
        summary.data_requests,
        summary.download_requests,
        summary.refused_fetches,
        summary.seconds,
        summary.archive,
    )
}
