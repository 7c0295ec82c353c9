//! `gleaner demo`: crawls the bundled site into a folder. The folder stores the site's address and size, so that a
//! second demo serves the same site and resumes.

mod ajax;
mod members;

use std::io::{self, Write as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, anyhow, bail};
use clap::Args;
use serde::{Deserialize, Serialize};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;

use super::hints::quoted;
use super::summary::harvest_rate;
use super::{Global, block_on, crawl, enough_threads, no_thread};
use crate::app::{self, App};
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_base::owner::become_owner;
use gleaner_base::telemetry::Terminal;
use gleaner_crawl::RunOptions;
use gleaner_crawl::progress::Ended;
use gleaner_demo::{DemoError, DemoOptions, DemoSite};
use gleaner_rules as rules;
use gleaner_store::coverage;
use gleaner_store::crawldb::Outcome;
use gleaner_torrent::Infohashes;

const TORRENTS: usize = 500;
const ROWS: usize = 1_000;

/// Options of the other demos: clap does not require `--ajax` beside one that excludes it.
const NOT_AJAX: [&str; 3] = ["members", "torrents", "port"];

fn torrents_of_a_demo() -> clap::builder::RangedU64ValueParser<usize> {
    clap::builder::RangedU64ValueParser::new().range(0..=gleaner_demo::limits::DEMO_TORRENTS_MAX as u64)
}

/// Number of attempts to bind the port of an earlier demo: three seconds in all.
const PORT_TRIES: u32 = 30;
const PORT_PAUSE: Duration = Duration::from_millis(100);

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Torrents on the demo site [default: 500, or as in an existing demo folder]
    #[arg(long, value_name = "N", value_parser = torrents_of_a_demo())]
    torrents: Option<usize>,
    /// Port of the demo site [default: a free one, or as in an existing demo folder]
    #[arg(long, value_name = "PORT", conflicts_with_all = ["members", "ajax"], value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Serve a members-only site of this software family instead, log in to it and crawl it
    #[arg(long, value_name = "FAMILY", value_parser = clap::builder::PossibleValuesParser::new(gleaner_demo::members::families()))]
    members: Option<String>,
    /// Serve lists that scripts build instead, and crawl them: raw requests, jQuery, a single-page application, an endless feed, tokens
    #[arg(long, conflicts_with_all = ["members", "torrents"])]
    ajax: bool,
    /// Serve only this list; may be given several times
    #[arg(long, value_name = "SECTION", requires = "ajax", conflicts_with_all = NOT_AJAX, value_parser = clap::builder::PossibleValuesParser::new(gleaner_demo::ajax::Section::ALL.map(|section| section.name())))]
    section: Vec<String>,
    /// Total index pages of those lists [default: 75]
    #[arg(long, value_name = "N", requires = "ajax", conflicts_with_all = NOT_AJAX, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    ajax_pages: Option<u32>,
    /// Torrents on each index page [default: 100]
    #[arg(long, value_name = "N", requires = "ajax", conflicts_with_all = NOT_AJAX, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    per_page: Option<u32>,
    /// Keep the demo site running after the crawl, until Ctrl-C
    #[arg(long)]
    keep_serving: bool,
    /// Print one JSON object and nothing else
    #[arg(long)]
    json: bool,
}

/// What a demo folder stores about its site.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Remembered {
    port: u16,
    torrents: usize,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct DemoSummary {
    /// Torrents that a correct crawl of the site can find.
    site_torrents: usize,
    /// Torrents in the archive.
    stored: usize,
    /// Archived torrents that are not among the site's reachable ones.
    false_torrents: usize,
    /// Visits that returned a known torrent.
    duplicates: u64,
    magnets: u64,
    /// Requests, over all runs in this folder.
    pages: u64,
    /// Requests of this run to URLs that the rules or robots.txt disallow.
    refused_fetches: u64,
    /// Reachable torrents in the archive / reachable torrents.
    coverage: f64,
    /// The result of `gleaner coverage`, from the site's own lists alone.
    coverage_reckoned: Option<f64>,
    harvest_rate: f64,
    bytes: u64,
    /// Of this run.
    seconds: f64,
    archive: String,
    /// The address of the site while it is served.
    site: String,
}

pub fn demo(global: &Global, options: &Options, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    if let Some(family) = &options.members {
        return members::demo(global, options, family, terminal);
    }
    if options.ajax {
        return ajax::demo(global, options, terminal);
    }
    let data_dir = folder(global.data.clone().unwrap_or_else(|| PathBuf::from("gleaner-demo")), "demo.json")?;
    let site = serve(&data_dir, options)?;
    if !options.json {
        errln!(
            "demo site with {} torrents on {}, archive in {}",
            site.site.truth().reachable().count(),
            site.site.origin(),
            data_dir.display()
        );
    }
    let (summary, ended_well) = block_on(crawl_demo(&data_dir, &site.site, terminal))?;
    if options.json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        out!("{}", text(&summary, &data_dir));
    }
    if options.keep_serving {
        keep_serving(&summary.site, &format!("gleaner crawl demo --data {0} --rules {0}/rules", quoted(&data_dir)))?;
    }
    Ok(if ended_well && summary.false_torrents == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// False if a crawl ended by a fault; one that was stopped, as by Ctrl-C, did what it was told. Says how to go on.
fn ended_well(run: &super::summary::Summary) -> bool {
    for ended in run.sites.values().filter(|ended| **ended != Ended::Exhausted) {
        errln!("the crawl did not finish: {ended}\nhint: run the same command to resume it");
    }
    run.sites.values().all(|ended| matches!(ended, Ended::Exhausted | Ended::Stopped))
}

/// Creates the folder; one that already has a crawl must have the demo's note.
fn folder(data_dir: PathBuf, note: &str) -> anyhow::Result<PathBuf> {
    if app::database_path(&data_dir).exists() && !data_dir.join(note).exists() {
        bail!(
            "{} holds a crawl other than this demo\nhint: pass another --data, or unset GLEANER_DATA",
            data_dir.display()
        );
    }
    app::is_folder(&data_dir)?;
    // SAFETY: no second thread runs yet: the site and the crawl begin behind this.
    unsafe { become_owner(&data_dir) }.with_context(|| data_dir.display().to_string())?;
    app::folder::must_be_writable(&data_dir)?;
    std::fs::create_dir_all(&data_dir).map_err(|error| app::folder::failed(&data_dir, &error))?;
    Ok(data_dir)
}

/// Keeps the site running, prints what can be done with it, and waits for a signal.
fn keep_serving(site: &str, command: &str) -> anyhow::Result<()> {
    block_on(async {
        let mut terminate = signal(SignalKind::terminate())?;
        let mut interrupt = signal(SignalKind::interrupt())?;
        // Printed last: a reader may stop the process at once.
        errln!(
            "the demo site is served at {site}/ until you press Ctrl-C: open it in a browser, or run in another terminal: {command}"
        );
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        Ok(())
    })
}

/// A site on its own thread, so that it answers while the crawl computes.
struct Served<S> {
    site: std::sync::Arc<S>,
    end: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl<S> Drop for Served<S> {
    fn drop(&mut self) {
        self.end.take().map(|end| end.send(()));
        self.thread.take().map(std::thread::JoinHandle::join);
    }
}

fn start_site(options: DemoOptions) -> anyhow::Result<Served<DemoSite>> {
    on_a_thread(|| gleaner_demo::start(options))
}

fn on_a_thread<S: Send + Sync + 'static, F: Future<Output = Result<S, DemoError>>>(
    start: impl FnOnce() -> F + Send + 'static,
) -> anyhow::Result<Served<S>> {
    enough_threads()?;
    let (ready, started) = std::sync::mpsc::channel();
    let (end, ended) = oneshot::channel::<()>();
    let thread = std::thread::Builder::new().name("demo-site".to_owned()).spawn(move || {
        let runtime = match tokio::runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime,
            Err(error) => return drop(ready.send(Err(anyhow!(error)))),
        };
        runtime.block_on(async {
            match start().await {
                Ok(site) => {
                    let _ = ready.send(Ok(std::sync::Arc::new(site)));
                    let _ = ended.await;
                }
                Err(error) => drop(ready.send(Err(error.into()))),
            }
        });
    });
    let thread = thread.map_err(|error| no_thread(&error))?;
    let site = started.recv().context("the demo site did not start")??;
    Ok(Served { site, end: Some(end), thread: Some(thread) })
}

/// The infohashes of all torrents that a crawl has stored.
async fn stored(app: &App) -> anyhow::Result<Vec<Infohashes>> {
    let mut stored = Vec::new();
    let mut after = None;
    loop {
        let rows = app.db.torrents(after, ROWS).await?;
        let Some(last) = rows.last() else { break };
        after = Some(last.facts.infohashes.key().to_vec());
        stored.extend(rows.iter().map(|row| row.facts.infohashes));
    }
    Ok(stored)
}

/// Why a site cannot listen on its port.
fn bind_kind(error: &anyhow::Error) -> Option<io::ErrorKind> {
    match error.downcast_ref() {
        Some(DemoError::Bind { source, .. }) => Some(source.kind()),
        _ => None,
    }
}

/// Starts a site. A site that was just killed may keep its port, which the folder stores, or its connections in closing state, a
/// little longer.
fn patiently<S>(
    data_dir: &Path,
    port: u16,
    begin: impl Fn() -> anyhow::Result<Served<S>>,
) -> anyhow::Result<Served<S>> {
    let mut served = begin();
    for _ in 1..if port != 0 { PORT_TRIES } else { 1 } {
        if served.as_ref().err().and_then(bind_kind) != Some(io::ErrorKind::AddrInUse) {
            break;
        }
        std::thread::sleep(PORT_PAUSE);
        served = begin();
    }
    served.map_err(|error| match bind_kind(&error) {
        Some(io::ErrorKind::AddrInUse) if port != 0 => anyhow!(
            "port {port} is in use; the demo in {} needs it\nhint: end the other program, or pass another --data and --port",
            data_dir.display()
        ),
        Some(io::ErrorKind::PermissionDenied) => {
            anyhow!("port {port}: this user may not listen on it: ports below 1024 need root\nhint: use --port 8080")
        }
        _ => error,
    })
}

/// Writes a file atomically: a demo may be killed at any moment, and the next one reads the file.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let new = path.with_extension("new");
    let written = std::fs::write(&new, text).and_then(|()| std::fs::rename(&new, path));
    written.map_err(|error| {
        let _ = std::fs::remove_file(&new);
        app::folder::failed(path, &error)
    })
}

/// Serves the site that the folder describes, or a new one.
fn serve(data_dir: &Path, asked: &Options) -> anyhow::Result<Served<DemoSite>> {
    let path = data_dir.join("demo.json");
    let remembered: Option<Remembered> = match std::fs::read(&path) {
        Ok(text) => Some(serde_json::from_slice(&text).with_context(|| {
            format!(
                "{}: not written by a demo (hint: remove {} or pass another --data)",
                path.display(),
                data_dir.display()
            )
        })?),
        Err(_) => None,
    };
    if let Some(Remembered { port, torrents }) = remembered {
        let here = data_dir.display();
        if let Some(other) = asked.torrents.filter(|asked| *asked != torrents) {
            bail!(
                "{here} holds a demo of {torrents} torrents, not {other}\nhint: leave --torrents out to resume it, or pass another --data"
            );
        }
        if let Some(other) = asked.port.filter(|asked| *asked != port) {
            bail!(
                "{here} holds a demo on port {port}, not {other}\nhint: leave --port out to resume it, or pass another --data"
            );
        }
    }
    let port = remembered.map(|remembered| remembered.port).or(asked.port);
    let options = DemoOptions {
        torrents: remembered.map(|remembered| remembered.torrents).or(asked.torrents).unwrap_or(TORRENTS),
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or(0))),
        ..DemoOptions::default()
    };
    let served = patiently(data_dir, options.bind.port(), || start_site(options.clone()))?;
    let rules_dir = data_dir.join("rules");
    std::fs::create_dir_all(&rules_dir).map_err(|error| app::folder::failed(&rules_dir, &error))?;
    write(&rules_dir.join("demo.toml"), &served.site.rules_text)?;
    let remember = Remembered { port: served.site.address.port(), torrents: options.torrents };
    write(&path, &serde_json::to_string(&remember)?)?;
    Ok(served)
}

async fn crawl_demo(data_dir: &Path, site: &DemoSite, terminal: &Terminal) -> anyhow::Result<(DemoSummary, bool)> {
    let rules = rules::from_text("demo", &site.rules_text)
        .map_err(|faults| anyhow!("{}", rules::fault::render(&faults, false)))?;
    let app = App::open(&app::Options { data_dir: data_dir.to_owned(), ..app::Options::default() })?;
    let run = crawl::run_sites(&app, &[rules], RunOptions::default(), terminal).await?;
    let stored = stored(&app).await?;
    let counts = app.db.site_counts("demo").await?;
    let reckoned = coverage::of_site(app.reader().as_ref(), "demo").await?;
    let score = site.truth().score(stored.iter().copied());
    let pages = counts.pages();
    let ended_well = ended_well(&run);
    let summary = DemoSummary {
        site_torrents: score.reachable,
        stored: stored.len(),
        false_torrents: score.foreign,
        duplicates: counts.of(Outcome::TorrentDuplicate),
        magnets: counts.magnets,
        pages,
        refused_fetches: site.refused_fetches(),
        coverage: score.coverage,
        coverage_reckoned: reckoned.cr,
        harvest_rate: harvest_rate(counts.torrents, pages),
        bytes: counts.body_bytes,
        seconds: run.seconds,
        archive: app::archive_path(data_dir).display().to_string(),
        site: site.origin().to_owned(),
    };
    Ok((summary, ended_well))
}

fn text(summary: &DemoSummary, data_dir: &Path) -> String {
    let data = quoted(data_dir);
    let reckoned = summary.coverage_reckoned.map(|reckoned| format!("; {:.2} % by the site's lists", reckoned * 100.0));
    format!(
        "\
torrents      {stored} stored of {site_torrents} on the site, {false_torrents} false, {duplicates} duplicates, {magnets} by magnet only
pages         {pages} requests, {bytes}; {refused_fetches} that rules or robots.txt forbid
harvest rate  {harvest_rate:.3} new torrents a request
coverage      {coverage:.2} % of what the site can give{reckoned}
time          {seconds:.1} s
archive       {archive}

Try next:
  gleaner status --data {data}
  gleaner coverage demo --data {data}
  gleaner export harvest.tar.zst --data {data}
  gleaner rules explain '{site}/?page=2&sid=00112233445566778899aabbccddeeff' --data {data} --rules {data}/rules
  gleaner rules new https://example.org/torrents/        begin a rule file of your own
",
        stored = summary.stored,
        site_torrents = summary.site_torrents,
        false_torrents = summary.false_torrents,
        duplicates = summary.duplicates,
        magnets = summary.magnets,
        pages = summary.pages,
        bytes = indicatif::HumanBytes(summary.bytes),
        refused_fetches = summary.refused_fetches,
        harvest_rate = summary.harvest_rate,
        coverage = summary.coverage * 100.0,
        reckoned = reckoned.unwrap_or_default(),
        seconds = summary.seconds,
        archive = summary.archive,
        site = summary.site,
    )
}

#[derive(Args, Clone, Debug)]
pub struct SiteOptions {
    /// Torrents on the site
    #[arg(long, value_name = "N", default_value_t = TORRENTS)]
    torrents: usize,
    /// Port on 127.0.0.1; 0 lets the system choose
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// Delay of each response, in milliseconds
    #[arg(long, default_value_t = 0)]
    delay_ms: u64,
    /// File to write the reachable infohashes to, in hex, one per line
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
    /// Folder to write the site's rule file to
    #[arg(long, value_name = "DIR")]
    rules_out: Option<PathBuf>,
    /// New torrents per hour, added one by one to the top of the index
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u32).range(0..=3_600_000))]
    publish_per_hour: u32,
    /// File to log each published torrent to: milliseconds since 1970 and infohash in hex, one per line
    #[arg(long, value_name = "FILE", requires = "publish_per_hour")]
    publish_log: Option<PathBuf>,
}

/// Interval of publishing: torrents that are due are published together.
const PUBLISHED_EVERY: Duration = Duration::from_millis(100);

/// Publishes at a steady rate on its own thread, until the returned value is dropped.
fn publish_over_time(
    site: &std::sync::Arc<DemoSite>,
    options: &SiteOptions,
) -> anyhow::Result<Option<std::sync::mpsc::Sender<()>>> {
    if options.publish_per_hour == 0 {
        return Ok(None);
    }
    let mut log = match &options.publish_log {
        Some(path) => {
            let file = std::fs::File::create(path).with_context(|| format!("{}: cannot be written", path.display()))?;
            Some(file)
        }
        None => None,
    };
    let (ends, ended) = std::sync::mpsc::channel::<()>();
    let (site, per_hour) = (std::sync::Arc::clone(site), u64::from(options.publish_per_hour));
    let began = SystemClock.now();
    std::thread::Builder::new().name("publisher".to_owned()).spawn(move || {
        let mut published = 0;
        while ended.recv_timeout(PUBLISHED_EVERY) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            let elapsed_ms = u64::try_from(SystemClock.now().since(began).as_millis()).unwrap_or(u64::MAX);
            let due = elapsed_ms.saturating_mul(per_hour) / 3_600_000;
            let count = usize::try_from(due.saturating_sub(published)).unwrap_or(usize::MAX);
            published = due;
            // Take the time before the torrents become visible.
            let now = SystemClock.now();
            let lines: String =
                site.publish(count).iter().map(|hashes| format!("{} {}\n", now.0, hashes.key_hex())).collect();
            if let Some(log) = &mut log
                && let Err(error) = log.write_all(lines.as_bytes())
            {
                tracing::error!(%error, "the list of published torrents cannot be stored");
                return;
            }
        }
    })?;
    Ok(Some(ends))
}

/// Serves the site until standard input ends, then prints its request counts as one JSON object.
pub fn serve_site(options: &SiteOptions) -> anyhow::Result<ExitCode> {
    let served = start_site(DemoOptions {
        torrents: options.torrents,
        bind: SocketAddr::from((Ipv4Addr::LOCALHOST, options.port)),
        response_delay: Duration::from_millis(options.delay_ms),
        ..DemoOptions::default()
    })?;
    let site = &served.site;
    if let Some(path) = &options.truth {
        let lines: Vec<String> = site.truth().reachable().map(|torrent| torrent.infohashes.key_hex() + "\n").collect();
        std::fs::write(path, lines.concat()).with_context(|| format!("{}: cannot be written", path.display()))?;
    }
    if let Some(dir) = &options.rules_out {
        std::fs::create_dir_all(dir)?;
        std::fs::write(dir.join("demo.toml"), &site.rules_text)?;
    }
    outln!("{}", serde_json::json!({ "site": site.origin(), "site_torrents": site.truth().reachable().count() }));
    let publishing = publish_over_time(&served.site, options)?;
    io::copy(&mut io::stdin(), &mut io::sink())?;
    drop(publishing);
    let log = site.log();
    let kinds: std::collections::BTreeMap<_, _> = log.counts.iter().map(|(kind, count)| (kind.name(), count)).collect();
    // The parent may have exited, so nobody reads this.
    let _ = writeln!(
        io::stdout(),
        "{}",
        serde_json::json!({
            "refused_fetches": site.refused_fetches(), "kinds": kinds, "requests": log.paths,
            "requests_dropped": log.paths_dropped,
        })
    );
    Ok(ExitCode::SUCCESS)
}
