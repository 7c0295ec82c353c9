//! Every software family against a members-only site of its kind, over real sockets: with a rule file that has only
//! family, start and user, the login works, its session stores every torrent, and a wrong password is sent once.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use gleaner::app::{self, App, secrets, sessions};
use gleaner_crawl::RunOptions;
use gleaner_crawl::login::{Means, Report, log_in};
use gleaner_crawl::progress::{Ended, Progress};
use gleaner_demo::members::{MembersLog, MembersOptions, MembersSite, families, start};
use gleaner_login::secret::Secret;
use gleaner_login::verdict::Verdict;
use gleaner_rules::{self as rules, SiteRules};
use gleaner_store::crawldb::TorrentRow;
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
        let text = site.rules_text.clone();
        Self::by(site, &text)
    }

    fn by(site: MembersSite, rules_text: &str) -> Self {
        let rules = rules::from_text("members", rules_text).unwrap_or_else(|faults| panic!("{faults:?}"));
        let folder = tempfile::tempdir().unwrap();
        let options =
            app::Options { data_dir: folder.path().to_owned(), cache_bytes: 1 << 20, ..app::Options::default() };
        Self { site, rules, options, _folder: folder }
    }

    /// One login; a valid session is stored.
    async fn log_in(&self, password: &str) -> Report {
        let (crawled, jar) = App::site_alone(&self.options, &self.rules).unwrap();
        let password = Secret::new(password);
        let rules = self.rules.login.as_ref().unwrap();
        let report = log_in(&crawled, Means { rules, password: &password, jar: &jar }).await;
        if report.judged.verdict == Verdict::LoggedIn {
            sessions::save(&self.options.data_dir, "members", &jar).unwrap();
        }
        report
    }

    /// Crawls to the end; returns the share of the members' torrents that was stored, the number of other torrents, and of those that have another
    /// label than the site gives them.
    async fn crawl(&self) -> (f64, usize, usize) {
        let app = App::open(&self.options).unwrap();
        let (_stop, stopped) = watch::channel(false);
        let sites = [Arc::clone(&self.rules)];
        let ends = app::crawl(&app, &sites, RunOptions::default(), Progress::default(), stopped).await.unwrap();
        assert!(ends.values().all(|ended| *ended == Ended::Exhausted), "{ends:?}");
        let rows = app.db.torrents(None, 10 * TORRENTS).await.unwrap();
        let score = self.site.truth().score(rows.iter().map(|row| row.facts.infohashes));
        let labels = |row: &TorrentRow| {
            row.sources.iter().filter_map(|source| source.label.as_ref()).map(|label| label.text.to_string()).collect()
        };
        let is_wrong = |row: &&TorrentRow| {
            let labels: BTreeSet<String> = labels(row);
            !labels.iter().map(String::as_str).eq(self.site.label(&row.facts.infohashes))
        };
        (score.coverage, score.foreign, rows.iter().filter(is_wrong).count())
    }
}

/// The faults of a family, in words; empty if everything is right.
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
    let (coverage, foreign, mislabelled) = stage.crawl().await;
    let log = stage.site.log();
    due(&format!("{mislabelled} torrents have another label"), mislabelled == 0, &log);
    due(&format!("coverage is {coverage}, {foreign} foreign"), coverage == 1.0 && foreign == 0, &log);
    due("the crawl is denied something", log.denials == 0, &log);
    due("the crawl asks for what is not there", log.unknown == 0, &log);
    due("the crawl logs out, or in again", (log.logouts, log.logins_sent(), log.bans) == (0, 1, 0), &log);
    faults
}

/// The session ends repeatedly during sixteen visits: one login each time, and every torrent is stored.
async fn faults_of_expiries(family: &'static str) -> Vec<String> {
    let options = MembersOptions {
        family: family.to_owned(),
        torrents: TORRENTS,
        // Torrust's API needs half as many requests.
        expire_every: if family == "torrust" { 25 } else { 50 },
        response_delay: Duration::from_millis(5),
        ..MembersOptions::default()
    };
    let site = start(options).await.unwrap();
    let text = format!("lanes = 16\nlane_key = 'xxh3'\n{}rest_factor = 0\n", site.rules_text);
    let stage = Stage::by(site, &text);
    secrets::write_private(
        &secrets::file_of(&stage.options.data_dir, "members"),
        MembersOptions::default().password.as_bytes(),
    )
    .unwrap();
    let (coverage, foreign, _) = stage.crawl().await;
    let log = stage.site.log();
    let expected = (1.0, 0, log.expiries + 1, log.expiries + 1, 0, 0);
    let got = (coverage, foreign, log.logins_ok, log.logins_sent(), log.bans, log.logouts);
    if got == expected && log.expiries >= 2 {
        return Vec::new();
    }
    vec![format!("{family}: {} expiries: {got:?}, not {expected:?}\n  {}", log.expiries, log.requests.join("\n  "))]
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

/// Three wrong attempts lock the account; the message is then not "wrong password", so that nobody tries again.
async fn faults_of_locked_account(family: &'static str) -> Vec<String> {
    let stage = Stage::new(family).await;
    for _ in 0..3 {
        stage.log_in("not the password").await;
    }
    let report = stage.log_in(&MembersOptions::default().password).await;
    let log = stage.site.log();
    let mut faults = Vec::new();
    // vBulletin reports the right password of a locked account as wrong, with the end of the lock: `--again` overrides that.
    let is_told_when = || report.judged.evidence.iter().any(|evidence| evidence.contains("asks to wait until"));
    let is_told = match report.judged.verdict {
        Verdict::Locked | Verdict::RateLimited => true,
        Verdict::WrongPassword => family == "vbulletin" && is_told_when(),
        _ => false,
    };
    if !is_told {
        faults.push(format!("{family}: {:?}\n  {}", report.judged, report.steps.join("\n  ")));
    }
    if (log.logins_wrong, log.logins_locked, log.bans) != (3, 1, 1) {
        faults.push(format!("{family}: {log:?}"));
    }
    faults
}

/// Without the family's settings, the form is found from the start page.
async fn faults_without_a_family(family: &'static str) -> Vec<String> {
    // Torrust's pages do not show where its API is.
    if family == "torrust" {
        return Vec::new();
    }
    let options = MembersOptions { family: family.to_owned(), torrents: TORRENTS, ..MembersOptions::default() };
    let site = start(options).await.unwrap();
    let family_line = site.rules_text.lines().find(|line| line.starts_with("extends")).unwrap();
    let text = format!("{}[classes]\npage = ['.']\n", site.rules_text.replace(family_line, ""));
    let stage = Stage::by(site, &text);
    let report = stage.log_in(&MembersOptions::default().password).await;
    let log = stage.site.log();
    if report.judged.verdict == Verdict::LoggedIn && log.logins_sent() == 1 {
        return Vec::new();
    }
    vec![format!("{family}: {:?}\n  {}\n{log:?}", report.judged, report.steps.join("\n  "))]
}

#[tokio::test]
async fn the_form_is_found_without_a_family_too() {
    over_families(faults_without_a_family).await;
}

/// Runs all families concurrently: each mostly waits between its requests.
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
async fn each_expiry_in_the_middle_costs_one_login_and_no_torrent() {
    over_families(faults_of_expiries).await;
}

#[tokio::test]
async fn a_wrong_password_is_told_as_such_and_sent_once() {
    over_families(faults_of_wrong_password).await;
}

#[tokio::test]
async fn a_locked_account_is_told_from_a_wrong_password() {
    over_families(faults_of_locked_account).await;
}

/// Responses of an API to a login without a token, and their verdicts.
const WITHOUT_TOKEN: &[(u16, &str, Verdict)] = &[
    (200, r#"{"data":{"username":"anna"}}"#, Verdict::ProbablyRefused),
    (200, r#"{"data":{"token":17}}"#, Verdict::ProbablyRefused),
    (200, r#"{"data":{"token":"two\nlines"}}"#, Verdict::Unknown),
    (200, "<html>You have successfully logged in</html>", Verdict::ProbablyRefused),
    (200, r#"{"status":"nope"}"#, Verdict::ProbablyRefused),
    (404, "", Verdict::ProbablyRefused),
    (500, r#"{"data":{"token":"abc"}}"#, Verdict::Unknown),
    (200, "", Verdict::ProbablyRefused),
    (403, r#"{"error":"Invalid username/email or password"}"#, Verdict::WrongPassword),
    (401, "{}", Verdict::WrongPassword),
    (429, "{}", Verdict::RateLimited),
    (403, r#"{"error":"Your account has been locked"}"#, Verdict::Locked),
];

#[tokio::test]
async fn an_answer_without_a_token_is_no_login_whatever_pages_show() {
    for (status, answer, verdict) in WITHOUT_TOKEN {
        let asked = Arc::new(std::sync::Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let app = axum::Router::new().fallback(move |method: axum::http::Method, body: String| async move {
            log.lock().unwrap().push((method.clone(), body));
            let status = if method == axum::http::Method::POST { *status } else { 200 };
            (axum::http::StatusCode::from_u16(status).unwrap(), *answer)
        });
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let server = tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        let text =
            format!("start = ['http://{address}/torrents']\nextends = 'families/torrust'\n[login]\nuser = 'anna'\n");
        let rules = rules::from_text("api", &text).unwrap();
        let (site, jar) = App::site_alone(&app::Options::default(), &rules).unwrap();
        let (password, login) = (Secret::new("s3cret \"quoted\""), rules.login.as_ref().unwrap());
        let report = log_in(&site, Means { rules: login, password: &password, jar: &jar }).await;
        assert_eq!(report.judged.verdict, *verdict, "{status} {answer}: {report:?}");
        assert!(jar.is_empty() && report.was_sent);
        let asked = asked.lock().unwrap();
        let sent: serde_json::Value = serde_json::from_str(&asked[0].1).unwrap();
        assert_eq!(sent, serde_json::json!({ "login": "anna", "password": "s3cret \"quoted\"" }));
        assert_eq!(asked.len(), 1, "one try, and no page that could say otherwise");
        assert!(!format!("{report:?}").contains("s3cret"));
        server.abort();
    }
}

/// All bytes below a folder, except the files that have to contain secrets.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if path.is_dir() && !path.ends_with("secrets") && !path.ends_with("sessions") {
            bytes.extend(bytes_below(&path));
        } else if path.is_file() {
            bytes.extend(fs::read(&path).unwrap());
        }
    }
    bytes
}

/// `gleaner demo --members` at maximum verbosity: credentials are only in the two files that store them.
#[test]
fn no_password_token_or_session_leaks_from_the_demo_of_any_family() {
    // phpBB has the session in URLs and forms, nyaa in a redirect, Torrust in a header; vBulletin hashes the password.
    for family in ["phpbb", "nyaa", "torrust", "vbulletin"] {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(["demo", "--members", family, "--torrents", "8", "--json", "-vvv", "--data"]).arg(folder.path());
        let output = command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
        let told: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(
            (&told["coverage"], &told["logins_ok"], &told["bans"]),
            (&1.0.into(), &1.into(), &0.into()),
            "{told}"
        );

        let session = folder.path().join("sessions/members.json");
        for file in [&session, &folder.path().join("secrets/members")] {
            assert_eq!(fs::metadata(file).unwrap().mode() & 0o777, 0o600, "{}", file.display());
        }
        let kept: serde_json::Value = serde_json::from_slice(&fs::read(session).unwrap()).unwrap();
        let cookies = kept.as_array().or_else(|| kept["cookies"].as_array()).unwrap();
        let cookies = cookies.iter().filter_map(|cookie| cookie["value"].as_str());
        let mut secrets: Vec<&str> =
            cookies.chain(kept["bearer"]["token"].as_str()).filter(|value| value.len() >= 16).collect();
        assert!(!secrets.is_empty(), "{family}: {kept}");
        // The password, plain and encoded, and its MD5.
        secrets.extend(["7 staples", "7+staples", "7%20staples", "bc23edf2d7d043fe199a62f3cab57a10"]);
        let everything = [output.stdout, output.stderr, bytes_below(folder.path())].concat();
        for secret in secrets {
            let leaked = everything.windows(secret.len()).any(|window| window == secret.as_bytes());
            assert!(!leaked, "{family}: {secret} has leaked");
        }
    }
}
