//! Every family of software against a members-only site of its shape, over real sockets: from a rule file that names
//! family, start and user only, the login works, its session brings home every torrent, and a wrong password is sent once.

use std::sync::Arc;

use gleaner::app::{self, App, sessions};
use gleaner::crawl::RunOptions;
use gleaner::crawl::login::{Means, Report, log_in};
use gleaner::crawl::progress::{Ended, Progress};
use gleaner::demo::members::{MembersLog, MembersOptions, MembersSite, families, start};
use gleaner::login::secret::Secret;
use gleaner::login::verdict::Verdict;
use gleaner::rules::{self, SiteRules};
use tokio::sync::watch;

const TORRENTS: usize = 60;

/// A site of a family, its rules, and a data folder.
struct Stage {
    site: MembersSite,
    rules: Arc<SiteRules>,
    options: app::Options,
    _folder: tempfile::TempDir,
}

impl Stage {
    async fn new(family: &str) -> Self {
        let options = MembersOptions { family: family.to_owned(), torrents: TORRENTS, ..MembersOptions::default() };
        let site = start(options).await.unwrap();
        let rules = rules::from_text("members", &site.rules_text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let folder = tempfile::tempdir().unwrap();
        let options =
            app::Options { data_dir: folder.path().to_owned(), cache_bytes: 1 << 20, ..app::Options::default() };
        Self { site, rules, options, _folder: folder }
    }

    /// One login; its session is kept where it is good.
    async fn log_in(&self, password: &str) -> Report {
        let (crawled, jar) = App::site_alone(&self.options, &self.rules).unwrap();
        let password = Secret::new(password);
        let rules = self.rules.login.as_ref().unwrap();
        let report = log_in(&crawled, Means { rules, password: &password, jar: &jar, typed: &[] }).await;
        if report.judged.verdict == Verdict::LoggedIn {
            sessions::save(&self.options.data_dir, "members", &jar).unwrap();
        }
        report
    }

    /// Crawls to the end; the share of the members' torrents that was stored, and how many others were.
    async fn crawl(&self) -> (f64, usize) {
        let app = App::open(&self.options).unwrap();
        let (_stop, stopped) = watch::channel(false);
        let sites = [Arc::clone(&self.rules)];
        let ends = app::crawl(&app, &sites, RunOptions::default(), Progress::default(), stopped).await.unwrap();
        assert!(ends.values().all(|ended| *ended == Ended::Exhausted), "{ends:?}");
        let rows = app.db.torrents(None, 10 * TORRENTS).await.unwrap();
        let score = self.site.truth().score(rows.iter().map(|row| row.facts.infohashes));
        (score.coverage, score.foreign)
    }
}

/// What a family gets wrong, in words; nothing where all is right.
async fn faults_of_right_password(family: &'static str) -> Vec<String> {
    let stage = Stage::new(family).await;
    let report = stage.log_in(&MembersOptions::default().password).await;
    let mut faults = Vec::new();
    let mut due = |what: &str, is_so: bool, log: &MembersLog| {
        if !is_so {
            let (asked, steps) = (log.requests.join("\n  "), report.steps.join("\n  "));
            faults.push(format!(
                "{family}: {what}\n  {steps}\n asked:\n  {asked}\n{:?}",
                (log.logins_ok, log.torrents, log.denials)
            ));
        }
    };
    let log = stage.site.log();
    due("the login does not succeed", report.judged.verdict == Verdict::LoggedIn, &log);
    due("the login takes more than one form", log.logins_sent() == 1 && log.logins_ok == 1, &log);
    if report.judged.verdict != Verdict::LoggedIn {
        return faults;
    }
    let (coverage, foreign) = stage.crawl().await;
    let log = stage.site.log();
    due(&format!("coverage is {coverage}, {foreign} foreign"), coverage == 1.0 && foreign == 0, &log);
    due("the crawl is denied something", log.denials == 0, &log);
    due("the crawl asks for what is not there", log.unknown == 0, &log);
    due("the crawl logs out, or in again", (log.logouts, log.logins_sent(), log.bans) == (0, 1, 0), &log);
    faults
}

async fn faults_of_wrong_password(family: &'static str) -> Vec<String> {
    let stage = Stage::new(family).await;
    let report = stage.log_in("not the password").await;
    let log = stage.site.log();
    let mut faults = Vec::new();
    if report.judged.verdict != Verdict::WrongPassword {
        faults.push(format!("{family}: {:?}\n  {}", report.judged, report.steps.join("\n  ")));
    }
    if (log.logins_wrong, log.logins_sent(), log.bans) != (1, 1, 0) {
        faults.push(format!("{family}: {log:?}"));
    }
    faults
}

/// Three wrong tries lock the account; what is said then is no "wrong password", so that nobody tries on.
async fn faults_of_locked_account(family: &'static str) -> Vec<String> {
    let stage = Stage::new(family).await;
    for _ in 0..3 {
        stage.log_in("not the password").await;
    }
    let report = stage.log_in(&MembersOptions::default().password).await;
    let log = stage.site.log();
    let mut faults = Vec::new();
    if !matches!(report.judged.verdict, Verdict::Locked | Verdict::RateLimited) {
        faults.push(format!("{family}: {:?}\n  {}", report.judged, report.steps.join("\n  ")));
    }
    if (log.logins_wrong, log.logins_locked, log.bans) != (3, 1, 1) {
        faults.push(format!("{family}: {log:?}"));
    }
    faults
}

/// Runs all families side by side: each waits between its requests most of the time.
async fn over_families<F: Future<Output = Vec<String>>>(faults_of: impl Fn(&'static str) -> F) {
    let all = futures_util::future::join_all(families().map(faults_of)).await;
    assert!(all.len() >= 14, "{} families", all.len());
    let faults: Vec<String> = all.into_iter().flatten().collect();
    assert!(faults.is_empty(), "{} faults\n{}", faults.len(), faults.join("\n\n"));
}

#[tokio::test]
async fn a_user_and_a_family_are_enough_to_log_in_and_bring_home_every_torrent() {
    over_families(faults_of_right_password).await;
}

#[tokio::test]
async fn a_wrong_password_is_told_as_such_and_sent_once() {
    over_families(faults_of_wrong_password).await;
}

#[tokio::test]
async fn a_locked_account_is_told_from_a_wrong_password() {
    over_families(faults_of_locked_account).await;
}
