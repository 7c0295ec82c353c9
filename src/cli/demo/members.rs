//! `gleaner demo --members FAMILY`: serves a members-only site of a family, logs in and crawls it into a folder. The
//! password is stored in the folder the way an operator would store it.

use std::io::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::{Context as _, anyhow, bail};
use serde::{Deserialize, Serialize};

use super::{Options, Served, block_on, folder, keep_serving, on_a_thread, patiently};
use crate::app::{self, App, secrets, sessions};
use crate::cli::hints::{Hints, quoted, without_hint};
use crate::cli::login::by_hand::by_hand;
use crate::cli::login::steps::Steps;
use crate::cli::{Global, crawl};
use gleaner_base::telemetry::Terminal;
use gleaner_crawl::RunOptions;
use gleaner_crawl::login::{Means, log_in_by_hand};
use gleaner_demo::members::{MembersLog, MembersOptions, MembersSite, start};
use gleaner_login::verdict::Verdict;
use gleaner_rules::{self as rules, SiteRules};

/// File with what the folder stores about its site; also marks the folder as one of this demo.
const NOTE: &str = "demo-members.json";

/// Name of the site, in the rules folder and in the database.
const SITE: &str = "members";

#[derive(Debug, Serialize, Deserialize)]
struct Remembered {
    family: String,
    port: u16,
    torrents: usize,
}

/// What `--json` prints.
#[derive(Debug, Serialize)]
struct Summary {
    family: String,
    /// The result of the login, in words.
    verdict: String,
    /// Torrents that members can download.
    site_torrents: usize,
    /// Those of them in the archive, over all runs in this folder.
    stored: usize,
    false_torrents: usize,
    coverage: f64,
    /// Of this run, as counted by the site.
    logins_ok: u64,
    logins_wrong: u64,
    bans: u64,
    logouts: u64,
    member_requests: u64,
    denials: u64,
    /// Of the crawl.
    seconds: f64,
    archive: String,
}

pub(super) fn demo(global: &Global, options: &Options, family: &str, terminal: &Terminal) -> anyhow::Result<ExitCode> {
    let data_dir = global.data.clone().unwrap_or_else(|| PathBuf::from(format!("gleaner-demo-{family}")));
    let data_dir = folder(data_dir, NOTE)?;
    let served = serve(&data_dir, family, options.torrents)?;
    if !options.json {
        let (count, origin) = (served.site.truth().torrents.len(), served.site.origin());
        errln!(
            "members-only demo site ({family}) with {count} torrents on {origin}, archive in {}",
            data_dir.display()
        );
    }
    let rules = rules::load_file(&rule_file(&data_dir))
        .site
        .map_err(|faults| anyhow!("{}", rules::fault::render(&faults, false)))?;
    let app_options = app::Options { data_dir: data_dir.clone(), ..app::Options::default() };
    let (crawled, jar) = App::site_alone(&app_options, &rules)?;
    let password = secrets::password(&data_dir, SITE)?;
    let login = rules.login.as_ref().context("the demo's rule file has a login")?;
    let steps = Steps::new(SITE, &Hints::of(global), options.json, global.verbose > 0);
    let crawled = by_hand(crawled, &steps);
    let means = Means { rules: login, password: &password, jar: &jar };
    let tell = |step: &str| steps.tell(step);
    // The demo's own password is right, and may be sent again after any result.
    let begins = &|| Ok(());
    let report = block_on(async { Ok(log_in_by_hand(&crawled, means, begins, None, &tell).await) })?;
    if report.judged.verdict == Verdict::LoggedIn {
        sessions::save(&data_dir, SITE, &jar)?;
    }
    let (summary, is_well) =
        block_on(run(&app_options, &served.site, family, &rules, report.judged.verdict, terminal))?;
    if options.json {
        outln!("{}", serde_json::to_string(&summary)?);
    } else {
        out!("{}", text(&summary, &data_dir));
    }
    if options.keep_serving {
        let command = format!("gleaner login {SITE} --data {0} --rules {0}/rules", quoted(&data_dir));
        keep_serving(served.site.origin(), &command)?;
    }
    Ok(if is_well { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

fn rule_file(data_dir: &Path) -> PathBuf {
    data_dir.join("rules").join(format!("{SITE}.toml"))
}

/// Serves the site that the folder describes, or a new one, and writes the files that a crawl of it needs.
fn serve(data_dir: &Path, family: &str, torrents: Option<usize>) -> anyhow::Result<Served<MembersSite>> {
    let note = data_dir.join(NOTE);
    let mut options = MembersOptions { family: family.to_owned(), ..MembersOptions::default() };
    options.torrents = torrents.unwrap_or(options.torrents);
    if let Ok(text) = std::fs::read(&note) {
        let hint = || format!("{}: not written by a demo (hint: pass another --data)", note.display());
        let was: Remembered = serde_json::from_slice(&text).with_context(hint)?;
        if was.family != family {
            bail!(
                "{} holds a demo of {}, not of {family}\nhint: write --members {} to resume it, or pass another --data",
                data_dir.display(),
                was.family,
                was.family
            );
        }
        if let Some(torrents) = torrents.filter(|torrents| *torrents != was.torrents) {
            bail!(
                "{} holds a demo of {} torrents, not {torrents}\nhint: leave --torrents out to resume it, or pass another \
                 --data",
                data_dir.display(),
                was.torrents
            );
        }
        options.torrents = was.torrents;
        options.bind = SocketAddr::from((Ipv4Addr::LOCALHOST, was.port));
    }
    let (torrents, password, port) = (options.torrents, options.password.clone(), options.bind.port());
    let begin = || {
        let options = options.clone();
        on_a_thread(move || start(options))
    };
    let served = patiently(data_dir, port, begin)?;
    write(&rule_file(data_dir), &served.site.rules_text)?;
    write(&secrets::file_of(data_dir, SITE), &format!("{password}\n"))?;
    let was = Remembered { family: family.to_owned(), port: served.site.address.port(), torrents };
    write(&note, &serde_json::to_string(&was)?)?;
    Ok(served)
}

/// Writes a file that only its owner can read, in a folder with the same mode.
fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let written = || -> std::io::Result<()> {
        path.parent().map_or(Ok(()), |folder| std::fs::DirBuilder::new().recursive(true).mode(0o700).create(folder))?;
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?;
        file.write_all(text.as_bytes())
    };
    written().with_context(|| format!("{}: cannot be written", path.display()))
}

async fn run(
    options: &app::Options,
    site: &MembersSite,
    family: &str,
    rules: &Arc<SiteRules>,
    verdict: Verdict,
    terminal: &Terminal,
) -> anyhow::Result<(Summary, bool)> {
    let is_in = verdict == Verdict::LoggedIn;
    let app = App::open(options)?;
    let (mut seconds, mut is_well) = (0.0, is_in);
    if is_in {
        let run = crawl::run_sites(&app, &[Arc::clone(rules)], RunOptions::default(), terminal).await?;
        seconds = run.seconds;
        is_well = super::ended_well(&run);
    }
    let stored = super::stored(&app).await?;
    let score = site.truth().score(stored.iter().copied());
    let MembersLog { logins_ok, logins_wrong, bans, logouts, member_requests, denials, .. } = site.log();
    let summary = Summary {
        family: family.to_owned(),
        verdict: without_hint(verdict.sentence()).to_owned(),
        site_torrents: score.reachable,
        stored: score.found,
        false_torrents: score.foreign,
        coverage: score.coverage,
        logins_ok,
        logins_wrong,
        bans,
        logouts,
        member_requests,
        denials,
        seconds,
        archive: app::archive_path(&options.data_dir).display().to_string(),
    };
    is_well &= summary.false_torrents == 0;
    Ok((summary, is_well))
}

fn text(summary: &Summary, data_dir: &Path) -> String {
    let data = quoted(data_dir);
    format!(
        "\
login         {}; {} right, {} wrong, {} bans, {} logouts
torrents      {} stored of {} that members see, {} false
coverage      {:.2} %
requests      {} as a member, {} denied
time          {:.1} s
archive       {}

Try next:
  gleaner login {SITE} --data {data} --rules {data}/rules      # while the site is served: --keep-serving
  gleaner status --data {data}
",
        summary.verdict,
        summary.logins_ok,
        summary.logins_wrong,
        summary.bans,
        summary.logouts,
        summary.stored,
        summary.site_torrents,
        summary.false_torrents,
        summary.coverage * 100.0,
        summary.member_requests,
        summary.denials,
        summary.seconds,
        summary.archive,
    )
}
