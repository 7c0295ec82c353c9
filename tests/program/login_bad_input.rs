//! Logins at real-world sites: forms in frames, pop-ups and tables, forms of scripts and of other sites, questions that only
//! a person can answer. One server over real sockets has them all, each in its own folder; the differences are data.
//!
//! The server rejects each form that is sent within the second in which its page was served, like phpBB, and accepts a login
//! only if every byte of its body is what a browser would have sent.

mod cases;

use std::collections::HashMap;
use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use cases::{cases, cases_with_a_person};
use gleaner::app::App;
use gleaner_base::clock::SystemClock;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::login::handover::{Question, Wanted};
use gleaner_crawl::login::{Means, Report, log_in, log_in_by_hand};
use gleaner_crawl::site::Site;
use gleaner_login::secret::Secret;
use gleaner_login::verdict::Verdict;
use gleaner_net::fetch::session::Jar;
use gleaner_net::fetch::{self, Body, FetchFailure, Request, Resolution, ResponseHeaders, Transport};
use gleaner_rules as rules;
use gleaner_store::crawldb::memory_store::MemoryStore;
use tokio::time::Instant;

const PASSWORD: &str = "s3cret & grün";

/// A host that belongs to none of these sites; no server listens there.
const ELSEWHERE: &str = "127.0.0.2:9";

/// Time limit for all cases together: some have eight requests, two seconds apart.
const TIME_MAX: Duration = Duration::from_secs(60);

/// One site.
struct Case {
    name: &'static str,
    /// Paths below the site's folder, and the responses for guests: HTML, or `302 ` and a URL, or `png`.
    pages: Vec<(&'static str, String)>,
    /// Bodies that log in, in sequence; all but the last lead to the page `next`.
    accepts: &'static [&'static str],
    /// The cookie that a login sets.
    cookie: &'static str,
    user: &'static str,
    /// More of the rule file's `[login]`.
    rules: &'static str,
    verdict: Verdict,
    /// Text expected in the steps.
    says: &'static str,
    /// Number of forms sent to the site.
    posts: usize,
}

const BODY: &str = "username=anna&password=s3cret+%26+gr%C3%BCn&go=Log+in";
const FIELDS: &str = "Username: <input name=username> Password: <input type=password name=password>\
                      <input type=submit name=go value='Log in'>";

fn form() -> String {
    format!("<form method=post action=in>{FIELDS}</form>")
}

impl Case {
    /// A site with this start page, which accepts `BODY`.
    fn new(name: &'static str, start: impl Into<String>) -> Self {
        Self {
            name,
            pages: vec![("", start.into())],
            accepts: &[BODY],
            cookie: "sid=member; Path=/",
            user: "anna",
            rules: "",
            verdict: Verdict::LoggedIn,
            says: "has a link to log out",
            posts: 1,
        }
    }

    fn page(mut self, path: &'static str, html: impl Into<String>) -> Self {
        self.pages.push((path, html.into()));
        self
    }

    fn accepts(self, accepts: &'static [&'static str]) -> Self {
        Self { accepts, posts: accepts.len(), ..self }
    }

    fn ends(self, verdict: Verdict, says: &'static str, posts: usize) -> Self {
        Self { verdict, says, posts, ..self }
    }
}

/// What the server has received for one site.
#[derive(Default)]
struct Seen {
    served: Option<Instant>,
    posts: usize,
    accepted: usize,
    too_soon: usize,
    paths: Vec<String>,
}

struct World {
    cases: HashMap<&'static str, Case>,
    seen: Mutex<HashMap<&'static str, Seen>>,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n0123";

async fn serve(State(world): State<Arc<World>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let path = uri.path().trim_start_matches('/').to_owned();
    let (name, below) = path.split_once('/').unwrap_or((&path, ""));
    let Some(case) = world.cases.get(name) else { return StatusCode::NOT_FOUND.into_response() };
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let mut all = world.seen.lock().unwrap();
    let seen = all.entry(case.name).or_default();
    seen.paths.push(uri.to_string());
    let page = |wanted: &str| case.pages.iter().find(|(path, _)| *path == wanted).map(|(_, html)| html.as_str());
    if method == Method::POST {
        seen.posts += 1;
        if seen.served.is_none_or(|served| served.elapsed() < Duration::from_secs(1)) {
            seen.too_soon += 1;
            return html("The submitted form was invalid. Try submitting again.");
        }
        if case.accepts.get(seen.accepted).is_some_and(|accepted| **accepted == *String::from_utf8_lossy(&body)) {
            seen.accepted += 1;
            if seen.accepted < case.accepts.len() {
                seen.served = Some(Instant::now());
                return html(page("next").unwrap_or_default());
            }
            let start = format!("/{name}/");
            return (StatusCode::FOUND, [(header::SET_COOKIE, case.cookie), (header::LOCATION, &start)])
                .into_response();
        }
        return html(page("wrong").unwrap_or("Wrong password."));
    }
    seen.served = Some(Instant::now());
    if cookies.contains("sid=member") && below.is_empty() {
        return html("<a href=logout.php?k=0a1b2c3d4e>Log out</a>");
    }
    match page(below) {
        None => StatusCode::NOT_FOUND.into_response(),
        Some(to) if to.starts_with("302 ") => (StatusCode::FOUND, [(header::LOCATION, &to[4..])]).into_response(),
        // The picture of a CAPTCHA belongs to the session of its form.
        Some("png") if cookies.contains("pre=1") => ([(header::CONTENT_TYPE, "image/png")], PNG).into_response(),
        Some("png") => html("no session"),
        Some(text) => ([(header::SET_COOKIE, "pre=1; Path=/")], html(text)).into_response(),
    }
}

/// A page in the charset that it declares.
fn html(text: &str) -> Response {
    let charset = if text.contains("charset=gbk") { encoding_rs::GBK } else { encoding_rs::UTF_8 };
    ([(header::CONTENT_TYPE, "text/html")], charset.encode(text).0.into_owned()).into_response()
}

/// Serves sites; returns the world and its address.
async fn start(cases: Vec<Case>) -> (Arc<World>, String) {
    let cases = cases.into_iter().map(|case| (case.name, case)).collect();
    let world = Arc::new(World { cases, seen: Mutex::default() });
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let app = Router::new().fallback(serve).with_state(Arc::clone(&world));
    tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
    (world, address)
}

fn rule_file(case: &Case, address: &str) -> String {
    let page = if case.pages.iter().any(|(path, _)| *path == "who") {
        format!("page = 'http://{address}/{}/who'\n", case.name)
    } else {
        String::new()
    };
    format!(
        "start = ['http://{address}/{}/']\n[login]\nuser = '{}'\n{page}{}\n[classes]\nindex = ['/$']\npage = ['.']\n\
         [rate]\nrequests_per_second = 1000000\n",
        case.name, case.user, case.rules
    )
}

/// Logs in to one site; `answers` are a person's, if any.
async fn logged_in(case: &Case, address: &str, answers: Option<&[(Wanted, &'static str)]>) -> Report {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join(format!("{}.toml", case.name)), rule_file(case, address)).unwrap();
    let rules = rules::load_dir(folder.path()).remove(0).site.unwrap();
    let (site, jar) = App::site_alone(&gleaner::app::Options::default(), &rules).unwrap();
    let password = Secret::new(PASSWORD);
    let means = Means { rules: rules.login.as_ref().unwrap(), password: &password, jar: &jar };
    let Some(answers) = answers else { return log_in(&site, means).await };
    let left = Mutex::new(answers.iter());
    let person = |question: &Question<'_>| {
        let (wanted, answer) =
            left.lock().unwrap().next().unwrap_or_else(|| panic!("{}: asked {question:?}", case.name));
        assert_eq!(question.wanted, *wanted, "{}", case.name);
        assert_eq!(question.picture.is_some(), *wanted == Wanted::Captcha, "{}", case.name);
        (!answer.is_empty()).then(|| (*answer).into())
    };
    let report = log_in_by_hand(&site, means, &|| Ok(()), Some(&person), &|_| {}).await;
    assert_eq!(left.lock().unwrap().len(), 0, "{}: not everything was asked\n{:#?}", case.name, report.steps);
    report
}

/// All faults of all sites, or none.
fn faults(world: &World, reports: &[(&str, Report)]) -> String {
    let seen = world.seen.lock().unwrap();
    let mut faults = String::new();
    for (name, report) in reports {
        let (case, seen) = (&world.cases[name], &seen[name]);
        let steps = report.steps.join("\n  ");
        let mut holds = |what: &str, holds: bool| {
            if !holds {
                faults.push_str(&format!("{name}: {what}\n  {steps}\n  {} forms, {:?}\n", seen.posts, seen.paths));
            }
        };
        holds(&format!("the verdict is {:?}", case.verdict), report.judged.verdict == case.verdict);
        holds(&format!("a step says {:?}", case.says), steps.contains(case.says));
        holds(&format!("{} forms are sent", case.posts), seen.posts == case.posts);
        holds("no form comes back in the second", seen.too_soon == 0);
        holds(
            "no secret is told",
            !steps.contains("s3cret") && !steps.contains("0a1b2c3d4e") && !steps.contains("Rex"),
        );
        holds("no password is in a URL", seen.paths.iter().all(|path| !path.contains("s3cret")));
        holds("few requests are made", seen.paths.len() <= 8 + gleaner_crawl::limits::LOGIN_HOPS_MAX);
        holds("nobody logs out", seen.paths.iter().all(|path| !path.contains("logout")));
    }
    faults
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_site_is_logged_in_to_or_told_why_not() {
    let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
    let (world, address) = start(cases()).await;
    let all = names.iter().map(|name| {
        let (world, address) = (Arc::clone(&world), address.clone());
        async move { (*name, logged_in(&world.cases[name], &address, None).await) }
    });
    let reports = tokio::time::timeout(TIME_MAX, futures_util::future::join_all(all)).await.unwrap();
    let faults = faults(&world, &reports);
    assert!(faults.is_empty(), "{faults}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_only_a_person_can_answer_is_asked_once_and_sent() {
    let (cases, answers): (Vec<Case>, Vec<_>) = cases_with_a_person().into_iter().unzip();
    let names: Vec<&str> = cases.iter().map(|case| case.name).collect();
    let (world, address) = start(cases).await;
    let all = names.iter().zip(&answers).map(|(name, answers)| {
        let (world, address) = (Arc::clone(&world), address.clone());
        async move { (*name, logged_in(&world.cases[name], &address, Some(answers)).await) }
    });
    let reports = tokio::time::timeout(TIME_MAX, futures_util::future::join_all(all)).await.unwrap();
    let faults = faults(&world, &reports);
    assert!(faults.is_empty(), "{faults}");
}

/// A site without sockets: the pages of some URLs, and the requests, with the bodies that were sent.
struct Pages {
    pages: HashMap<&'static str, (u16, &'static str)>,
    asked: Arc<Mutex<Vec<String>>>,
}

struct Whole(Option<Bytes>);

#[async_trait::async_trait]
impl Body for Whole {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        Ok(self.0.take())
    }
}

#[async_trait::async_trait]
impl Transport for Pages {
    async fn send(&self, request: Request<'_>) -> Result<fetch::Response, FetchFailure> {
        self.asked.lock().unwrap().push(request.url.as_str().to_owned());
        let (status, text) = self.pages.get(request.url.as_str()).copied().unwrap_or((404, ""));
        let mut headers = ResponseHeaders { content_type: Some("text/html".into()), ..ResponseHeaders::default() };
        headers.location = (300..400).contains(&status).then(|| text.to_owned());
        Ok(fetch::Response { status, headers, body: Box::new(Whole(Some(Bytes::from_static(text.as_bytes())))) })
    }

    async fn resolve(&self, _: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        Ok(Resolution::default())
    }
}

#[tokio::test(start_paused = true)]
async fn what_began_over_https_never_goes_on_in_the_clear() {
    const FORM: &str = "<form method=post action=http://s.example/in><input name=username><input type=password name=password>\
                        <input type=submit value='Log in'></form>";
    const SAFE: &str = "<form method=post action=/in><input name=username><input type=password name=password>\
                        <input type=submit value='Log in'></form>";
    const CAPTCHA: &str = "<form method=post action=/in><input name=username><input type=password name=password>\
                           <input name=captcha><img src=http://s.example/captcha.png><input type=submit></form>";
    for (pages, verdict) in [
        (vec![("https://s.example/", (200, FORM))], Verdict::Unknown),
        (vec![("https://s.example/", (200, "<a href=http://s.example/login>Log in</a>"))], Verdict::NoForm),
        (vec![("https://s.example/", (200, "<iframe src=http://s.example/login></iframe>"))], Verdict::NoForm),
        (vec![("https://s.example/", (302, "http://s.example/login"))], Verdict::Unknown),
        (
            vec![("https://s.example/", (200, SAFE)), ("https://s.example/in", (302, "http://s.example/"))],
            Verdict::Unknown,
        ),
        (vec![("https://s.example/", (200, CAPTCHA))], Verdict::Captcha),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let text = "start = ['https://s.example/']\n[login]\nuser = 'anna'\n[classes]\npage = ['.']\n";
        fs::write(folder.path().join("s.toml"), text).unwrap();
        let rules = rules::load_dir(folder.path()).remove(0).site.unwrap();
        let asked = Arc::default();
        let transport = Pages { pages: pages.iter().copied().collect(), asked: Arc::clone(&asked) };
        let db = Arc::new(MemoryStore::default());
        let site = Site::new(Arc::clone(&rules), Arc::new(transport), Arc::new(SystemClock), db);
        let (password, jar) = (Secret::new(PASSWORD), Jar::default());
        let means = Means { rules: rules.login.as_ref().unwrap(), password: &password, jar: &jar };
        let report = log_in_by_hand(&site, means, &|| Ok(()), Some(&|_| Some("x".into())), &|_| {}).await;
        assert_eq!(report.judged.verdict, verdict, "{:#?}", report.steps);
        let asked = asked.lock().unwrap();
        assert!(!asked.is_empty() && asked.iter().all(|url| url.starts_with("https:")), "{asked:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn why_nothing_can_be_written_down_is_told_in_one_line() {
    const FORM: &str = "<form method=post action=/in id=login>Username: <input name=u> Password: <input type=password name=p><button>Log in</form>";
    let folder = tempfile::tempdir().unwrap();
    let text = "start = ['https://s.example/']\n[login]\nuser = 'anna'\n[classes]\npage = ['.']\n";
    fs::write(folder.path().join("s.toml"), text).unwrap();
    let rules = rules::load_dir(folder.path()).remove(0).site.unwrap();
    let transport = Pages { pages: [("https://s.example/", (200, FORM))].into(), asked: Arc::default() };
    let db = Arc::new(MemoryStore::default());
    let site = Site::new(Arc::clone(&rules), Arc::new(transport), Arc::new(SystemClock), db);
    let (password, jar) = (Secret::new(PASSWORD), Jar::default());
    let means = Means { rules: rules.login.as_ref().unwrap(), password: &password, jar: &jar };
    let full = || Err("no space is left\nhint: make room".to_owned());
    let report = log_in_by_hand(&site, means, &full, None, &|_| {}).await;
    let told = "nothing was sent: no space is left (hint: make room)";
    assert!(report.steps.iter().any(|step| step == &format!("evidence: {told}")), "{:#?}", report.steps);
}

/// `gleaner login` for a site whose rules and password are in a folder.
fn login(folder: &Path, name: &str) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.args(["login", name, "--data"]).arg(folder.join("data")).arg("--rules").arg(folder.join("rules"));
    command.env_remove("CREDENTIALS_DIRECTORY");
    command
}

fn prepared(case: &Case, address: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let (rules, secrets) = (folder.path().join("rules"), folder.path().join("data/secrets"));
    fs::create_dir_all(&rules).unwrap();
    fs::create_dir_all(&secrets).unwrap();
    fs::write(rules.join(format!("{}.toml", case.name)), rule_file(case, address)).unwrap();
    fs::write(secrets.join(case.name), PASSWORD).unwrap();
    fs::set_permissions(secrets.join(case.name), fs::Permissions::from_mode(0o600)).unwrap();
    folder
}

#[test]
fn the_terminal_shows_where_the_picture_is_and_takes_the_answer() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (case, _) = cases_with_a_person().remove(0);
    let name = case.name;
    let (world, address) = runtime.block_on(start(vec![case]));
    let folder = prepared(&world.cases[name], &address);

    let nobody = login(folder.path(), name).arg("--interactive").stdin(Stdio::null()).output().unwrap();
    let told = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(!nobody.status.success() && told.contains("is not a terminal"), "{told}");
    assert!(world.seen.lock().unwrap().is_empty(), "nothing is asked of the site");
    let alone = login(folder.path(), name).output().unwrap();
    let told = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(told.contains(&format!("hint: run: gleaner login {name} --interactive --data ")), "{told}");

    // `script` provides a terminal for the command.
    let command = login(folder.path(), name);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.to_str().unwrap()))
        .collect();
    let mut terminal = Command::new("script")
        .args(["-qefc", &format!("{} --interactive", words.join(" ")), "/dev/null"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .env_remove("CREDENTIALS_DIRECTORY")
        .spawn()
        .unwrap();
    let mut out = terminal.stdout.take().unwrap();
    let mut told = Vec::new();
    let mut byte = [0];
    // It ends with its output.
    while !told.ends_with(b"\n> ") && out.read(&mut byte).unwrap() == 1 {
        told.push(byte[0]);
    }
    let text = String::from_utf8(told).unwrap();
    let picture = folder.path().join(format!("data/sessions/{name}.captcha.png"));
    assert!(text.contains("Security code:") && text.contains(picture.to_str().unwrap()), "{text}");
    assert_eq!(fs::metadata(&picture).unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(fs::read(&picture).unwrap(), PNG);
    terminal.stdin.take().unwrap().write_all(b"XKQ7\n").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(terminal.wait().unwrap().success(), "{rest}");
    assert!(rest.contains("verdict: logged in") && !rest.contains("s3cret"), "{rest}");
    assert!(!picture.exists() && folder.path().join(format!("data/sessions/{name}.json")).exists());
}
