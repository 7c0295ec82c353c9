//! `gleaner login` as its operator meets it: steps while they happen, hints that can be copied, names that are mistyped,
//! passwords and cookies in files that are not as they should be, and a session that a running service holds.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use gleaner::app::sessions;
use gleaner::clock::{Clock as _, SystemClock};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{BINARY, Ran, Service, closed_port, folder, gleaner, now, run, wait_for};

const PASSWORD: &str = "s3cret";

#[derive(Clone, Default)]
struct Seen {
    /// Forms that were sent.
    posts: Arc<AtomicUsize>,
    bodies: Arc<Mutex<Vec<String>>>,
    /// When each request came.
    at: Arc<Mutex<Vec<(String, Instant)>>>,
    robots: Arc<Mutex<String>>,
    /// Times that /flaky is still answered by a server in trouble.
    trouble: Arc<AtomicUsize>,
}

/// A forum whose start page has the form. Below /captcha/ it has a CAPTCHA, below /widget/ one of another site's script;
/// forms that are sent to /broken are answered by a server in trouble, those of /sso are another site's.
async fn forum(State(seen): State<Seen>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let html = |text: &str| ([(header::CONTENT_TYPE, "text/html")], text.to_owned()).into_response();
    seen.at.lock().unwrap().push((format!("{method} {}", uri.path()), now()));
    if uri.path() == "/robots.txt" {
        return seen.robots.lock().unwrap().clone().into_response();
    }
    if uri.path().ends_with(".png") {
        return ([(header::CONTENT_TYPE, "image/png")], &b"\x89PNG\r\n\x1a\n"[..]).into_response();
    }
    if method == Method::POST {
        seen.posts.fetch_add(1, Ordering::SeqCst);
        let body = String::from_utf8_lossy(&body).into_owned();
        let is_right = body.contains(&format!("password={PASSWORD}&"));
        seen.bodies.lock().unwrap().push(body);
        if uri.path() == "/broken" {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        if uri.path() == "/dumb" {
            return html("Hello.");
        }
        if uri.path() == "/back" {
            return html(&format!("<p class=error>Sorry, no match.</p>{}", form_to("/back", "")));
        }
        if let (Some(path), true) = (["/shown", "/taken-away"].into_iter().find(|path| *path == uri.path()), is_right) {
            return (StatusCode::FOUND, [(header::SET_COOKIE, "sid=abc; Path=/"), (header::LOCATION, path)])
                .into_response();
        }
        if let Some(seconds) = uri.path().strip_prefix("/limited/") {
            return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_owned())]).into_response();
        }
        if uri.path() == "/letter" {
            return html("A letter is on its way to you.");
        }
        if is_right {
            return (StatusCode::FOUND, [(header::SET_COOKIE, "sid=abc; Path=/"), (header::LOCATION, "/")])
                .into_response();
        }
        return html("Wrong password.");
    }
    match (uri.path(), cookies.contains("sid=abc")) {
        ("/", true) => html("<a href='/logout'>Log out</a> anna"),
        ("/nothing", _) => html("Nothing here."),
        ("/flaky", _) if seen.trouble.load(Ordering::SeqCst) > 0 => {
            seen.trouble.fetch_sub(1, Ordering::SeqCst);
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        ("/patience", _) => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7200")]).into_response(),
        // To members as to guests: the second until its scripts have run.
        ("/shown", _) => html(&form_to("/shown", "")),
        ("/taken-away", _) => html(&format!("{}<script>{TAKEN_AWAY}</script>", form_to("/taken-away", ""))),
        ("/flaky", true) => html("<a href='/logout'>Log out</a> anna"),
        (path, _) if path.starts_with("/to/") => html(&form_to(&path[3..], "")),
        ("/name/login", _) => html(
            "<form method=post action=/letter id=login>Username: <input name=username autocomplete=username>\
             <input type=submit value=Next></form>",
        ),
        ("/sso", _) => (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.2:9/login")]).into_response(),
        ("/", false) | ("/captcha/" | "/widget/", _) => {
            let captcha = match uri.path() {
                "/captcha/" => "Security code: <input name=captcha><img src=/c.png>",
                "/widget/" => "<div class='g-recaptcha' data-sitekey='x'></div>",
                _ => "",
            };
            html(&form_to("/in", captcha))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

const TAKEN_AWAY: &str = "if (document.cookie.includes('sid=abc')) { document.getElementById('login').remove(); \
                          document.body.insertAdjacentHTML('beforeend', '<a href=/logout>Log out</a>') }";

fn form_to(action: &str, captcha: &str) -> String {
    format!(
        "<title>Login</title><form method=post action='{action}' id=login>Username: <input name=username> Password: \
         <input type=password name=password>{captcha}<input type=submit name=go value='Log in'></form>"
    )
}

struct Forum {
    here: tempfile::TempDir,
    seen: Seen,
    port: u16,
    _runtime: tokio::runtime::Runtime,
}

const FOLDERS: [&str; 4] = ["--data", "data", "--rules", "rules"];

impl Forum {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let seen = Seen::default();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        let app = Router::new().fallback(forum).with_state(seen.clone());
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let forum = Self { here: folder(), seen, port, _runtime: runtime };
        fs::create_dir(forum.path().join("rules")).unwrap();
        forum.rules("");
        forum.password(&format!("{PASSWORD}\n"));
        forum
    }

    fn path(&self) -> &Path {
        self.here.path()
    }

    /// Writes the site's file, with more keys of its [login].
    fn rules(&self, login: &str) {
        let text = format!(
            "enabled = true\nstart = ['http://127.0.0.1:{}/']\n[login]\nuser = 'anna'\n{login}\n[classes]\nindex = ['^/$']\n\
             [rate]\nrequests_per_second = 1000000\n",
            self.port
        );
        fs::write(self.path().join("rules/forum.toml"), text).unwrap();
    }

    fn password(&self, text: &str) {
        let secrets = self.path().join("data/secrets");
        fs::create_dir_all(&secrets).unwrap();
        fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(secrets.join("forum"), text).unwrap();
        fs::set_permissions(secrets.join("forum"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn login(&self, more: &[&str]) -> Ran {
        let mut command = gleaner(self.path(), &[&["login", "forum"], &FOLDERS[..], more].concat());
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap())
    }

    fn command(&self, more: &[&str]) -> Command {
        let mut command = Command::new(BINARY);
        command.current_dir(self.path()).args(["login", "forum"]).args(FOLDERS).args(more);
        command.env_remove("CREDENTIALS_DIRECTORY").env_remove("GLEANER_LOG").env_remove("GLEANER_CONFIG");
        command
    }

    /// The mark of a try that has begun and not ended, as it is written down.
    fn begun(&self) -> serde_json::Value {
        let tries = fs::read(self.path().join("data/sessions/tries/forum.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&tries).unwrap()["begun"].clone()
    }

    fn posts(&self) -> usize {
        self.seen.posts.load(Ordering::SeqCst)
    }
}

#[test]
fn steps_are_shown_while_they_happen_and_what_decides_alone() {
    let forum = Forum::start();
    let mut child = forum.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    out.read_line(&mut first).unwrap();
    // A login pauses for two seconds before it sends.
    assert_eq!(forum.posts(), 0, "{first}");
    assert!(first.starts_with("page of the form: "), "{first}");
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    assert_eq!((rest.matches("asked ").count(), rest.matches("trees asked").count()), (1, 1), "{rest}");
    let at = |wanted: &str| rest.find(wanted).unwrap_or_else(|| panic!("`{wanted}` is missing in {rest}"));
    assert!(at("waiting 2 s before sending, as a person would\n") < at("sent to http://"), "{rest}");
    assert_eq!(rest.matches("sent to ").count(), 1, "{rest}");
    assert!(rest.contains("proof: ") && !rest.contains("evidence: ") && rest.contains("verdict: logged in"), "{rest}");

    let told = forum.login(&["--json"]).ended(0).json();
    assert_eq!((&told["logged_in"], &told["verdict"]), (&true.into(), &"logged_in".into()), "{told}");
    assert!(told["session"].as_str().unwrap().ends_with("sessions/forum.json"), "{told}");
    let steps = told["steps"].as_array().unwrap();
    assert!(steps.iter().filter(|step| step.as_str().unwrap().contains("asked ")).count() > 2, "{told}");
    let all = forum.login(&["-v"]).ended(0).out;
    assert!(all.matches("; asked ").count() > 2 && !all.contains("asked 1 times"), "{all}");
}

#[test]
fn a_form_is_told_as_sent_only_once_it_is_and_no_try_is_one_before() {
    let forum = Forum::start();
    let mut child = forum.command(&[]).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut told = String::new();
    while !told.contains("waiting ") {
        assert!(out.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(!told.contains("sent to ") && forum.posts() == 0, "{told}");
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    child.wait().unwrap();
    assert_eq!((forum.posts(), forum.begun()), (0, serde_json::Value::Null), "nothing was sent: nothing was tried");
}

#[test]
fn a_login_by_hand_keeps_the_delay_that_robots_txt_asks_for() {
    let forum = Forum::start();
    "User-agent: *\nDisallow: /\nCrawl-delay: 3\n".clone_into(&mut forum.seen.robots.lock().unwrap());
    let told = forum.login(&[]).ended(0);
    assert!(told.out.contains(" asks for 3 s between two requests (Crawl-delay)\n"), "{}", told.out);
    let asked = forum.seen.at.lock().unwrap();
    assert_eq!(asked[0].0, "GET /robots.txt");
    assert!(asked.iter().filter(|(what, _)| what == "GET /robots.txt").count() == 1 && asked.len() > 3, "{asked:?}");
    for pair in asked.windows(2) {
        let apart = pair[1].1 - pair[0].1;
        assert!(apart >= Duration::from_secs(3), "{apart:?}: {asked:?}");
    }
}

/// What `--json` prints, of which there is always one.
#[test]
fn json_tells_the_reason_of_whatever_was_refused_before_it_began() {
    let forum = Forum::start();
    let json = |arguments: &[&str], code: i32, sentence: &str, hint: &str| {
        let mut command = gleaner(forum.path(), &[arguments, &FOLDERS, &["--json"]].concat());
        let ran = Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()).ended(code);
        let told = ran.json();
        assert_eq!((&told["site"], &told["logged_in"]), (&arguments[1].into(), &false.into()), "{told}");
        assert!(told["verdict"].is_null() && told["session"].is_null(), "{told}");
        assert!(told["sentence"].as_str().unwrap().contains(sentence), "{sentence}: {told}");
        assert!(told["hint"].as_str().unwrap_or_default().contains(hint), "{hint}: {told}");
        assert!(!ran.out.contains(PASSWORD), "{told}");
    };
    let login = &["login", "forum"];
    json(&["login", "forun"], 1, "no usable rule file for site `forun`", "did you mean `forum`?");
    fs::remove_file(forum.path().join("data/secrets/forum")).unwrap();
    json(login, 1, "no password for the site forum", "write it into data/secrets/forum");
    forum.password("");
    json(login, 1, "the password is empty", "write the password into it, in one line");
    forum.password("s3cret");
    json(&["login", "forum", "--cookies", "none.txt"], 1, "none.txt: No such file", "");
    json(&["login", "forum", "--interactive"], 1, "no terminal", "gleaner login forum --cookies cookies.txt");
    json(&["login", "forum", "--logout"], 0, "there was no session", "");
    {
        let _held = sessions::turn(&forum.path().join("data"), "forum").unwrap().unwrap();
        json(login, 1, "another process logs in to forum", "gleaner status --data data --rules rules");
        json(&["login", "forum", "--logout"], 1, "the session is not forgotten", "wait until it has");
    }
    forum.password("wrong");
    let told = forum.login(&["--json"]).ended(1).json();
    assert_eq!((&told["verdict"], &told["logged_in"]), (&"wrong_password".into(), &false.into()), "{told}");
    assert_eq!(told["sentence"], "the user name or the password is wrong", "{told}");
    json(login, 1, "has refused this user and password before", "correct the password in data/secrets/forum");
    forum.rules("pasword = 's3cret'");
    json(login, 1, "no usable rule file for site `forum`", "gleaner rules check rules/forum.toml");
    assert_eq!(forum.posts(), 1);
}

#[test]
fn each_end_of_a_login_tells_the_next_step() {
    let forum = Forum::start();
    let again = "then run: gleaner login forum --data data --rules rules";
    let cookies = "then run: gleaner login forum --cookies cookies.txt --data data --rules rules";
    let next = |login: &str, verdict: &str, hint: &str| {
        forum.rules(login);
        let told = forum.login(&["--again"]).ended(1);
        let last = told.out.lines().last().unwrap();
        assert!(last.starts_with("verdict: ") && last.contains(verdict) && !last.contains("hint"), "{last}");
        let hints: Vec<&str> = told.err.lines().filter(|line| line.starts_with("hint: ")).collect();
        assert!(hints.len() == 1 && hints[0].contains(hint), "{login}: {hint}: {}", told.err);
        hints[0].to_owned()
    };
    let broken = next("page = 'to/broken'", "only that it is in trouble", "that the account is not locked");
    assert!(broken.ends_with(again), "{broken}");
    let none = next(
        "page = '/nothing'",
        "the page that [login] names has no login form",
        "see with a browser which page has the form",
    );
    assert!(none.ends_with("correct `page` in [login] of rules/forum.toml"), "{none}");
    let unknown = next("page = '/to/dumb'", "does not tell whether it worked", "name a page that only members see");
    assert!(unknown.contains("as `probe` in [login] of rules/forum.toml") && unknown.ends_with(again), "{unknown}");
    let unproven =
        next("page = '/to/dumb'\nprobe = '/nothing/'", "does not tell", "check the password in data/secrets/forum");
    assert!(unproven.ends_with("run: gleaner login forum --again --data data --rules rules"), "{unproven}");
    assert!(next("page = '/widget/'", "CAPTCHA", "log in with a browser").ends_with(cookies));
    let letter = next("page = '/name/login'", "the site asks for a second factor", "log in with a browser");
    assert!(letter.ends_with(cookies), "{letter}");
    assert!(next("page = '/sso'", "another site is to log in", "log in with a browser").ends_with(cookies));
    let captcha = next("page = '/captcha/'", "CAPTCHA", "run: gleaner login forum --interactive");
    assert!(captcha.ends_with("--interactive --data data --rules rules"), "{captcha}");
    forum.password("wrong");
    let wrong = next("", "the password is wrong", "correct the password in data/secrets/forum");
    assert!(wrong.contains("or `user` in [login] of rules/forum.toml") && wrong.ends_with(again), "{wrong}");

    // What a crawl says of the same has the command as it is to be typed, and its log no name that stands for one. What forms
    // were answered above outlasts a new table, so that this one begins anew.
    let forum = Forum::start();
    forum.rules("page = '/captcha/'");
    forum.password("s3cret");
    let crawled = run(forum.path(), &[&["crawl", "forum", "-vv"], &FOLDERS[..]].concat()).ended(1);
    assert!(!crawled.err.contains("SITE") && !crawled.out.contains("SITE"), "{}{}", crawled.out, crawled.err);
    crawled.says(&["`gleaner login forum --data data --rules rules --interactive`"]);
}

#[test]
fn a_form_that_comes_back_in_unknown_words_keeps_its_password_from_being_sent_again() {
    let forum = Forum::start();
    forum.rules("page = '/to/back'");
    let told = forum.login(&[]).ended(1).says(&[
        "has probably refused the user name or the password",
        "the page says “Sorry, no match.”",
        "hint: check the password in data/secrets/forum, and `user` in [login] of rules/forum.toml, then run: gleaner login \
         forum --data data --rules rules; where both are surely right, name a page that only members see as `probe` in [login] of \
         rules/forum.toml and run the same, or run: gleaner login forum --again --data data --rules rules",
    ]);
    assert!(!told.err.contains(PASSWORD) && !told.out.contains(PASSWORD), "{}", told.err);
    forum.login(&[]).ended(1).says(&[
        "the site has probably refused this user and password before",
        " --again` sends",
        "name a page that only members see as `probe` in [login] of rules/forum.toml, then run the same",
    ]);
    // Neither a crawl nor the service nor a mended table sends it.
    for login in ["page = '/to/back'", "page = '/to/back'\nform = 1"] {
        forum.rules(login);
        let crawled = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
        crawled.says(&["probably refused", "`gleaner login forum --data data --rules rules --again`"]);
        run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["probably refused", "--again`"]);
    }
    let service = Service::start(forum.path());
    wait_for("the service tells why it waits", || service.logged("no session: the site waits for its operator").pop());
    assert_eq!(service.stop().code(), Some(0));
    assert_eq!(forum.posts(), 1);
    // What the hint says leads out: the same again where it is told to, and another one at once.
    forum.login(&["--again"]).ended(1);
    assert_eq!(forum.posts(), 2);
    forum.password("another");
    forum.login(&[]).ended(1);
    assert_eq!(forum.posts(), 3);
    forum.rules("");
    forum.password(PASSWORD);
    forum.login(&["--again"]).ended(0);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 5, "it was let in: nothing is refused any more");
}

/// What a site asks to wait is one time wherever it is told.
#[test]
fn a_site_that_asks_to_wait_is_told_with_the_same_time_everywhere() {
    let forum = Forum::start();
    forum.rules("page = '/to/limited/7200'");
    for nth in 1..=2 {
        let before = SystemClock.now();
        let told = forum.login(&[]).ended(1).says(&["the site asks to wait before another try"]);
        let (_, hint) = told.err.split_once("hint: wait until ").unwrap_or_else(|| panic!("{}", told.err));
        let time = hint.split_once(", then run: gleaner login forum").unwrap().0.to_owned();
        let [least, most] = [before, SystemClock.now()].map(|at| at.plus(Duration::from_secs(7_200)).rfc3339());
        assert!((least..=most).contains(&time), "{nth}: {time}");
        for command in ["crawl", "status", "crawl"] {
            let words: &[&str] = if command == "crawl" { &["crawl", "forum"] } else { &["status"] };
            let ran = run(forum.path(), &[words, &FOLDERS[..]].concat()).ended(i32::from(command == "crawl"));
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(&time), "{nth}, {command}: {time} is missing in {said}");
        }
        assert_eq!(forum.posts(), nth, "no crawl has sent it");
    }
    let forum = Forum::start();
    forum.rules("page = '/to/limited/99999999'");
    forum.login(&[]).ended(1).says(&["and for longer than the 24 h that are waited", "hint: wait until "]);
}

#[test]
fn a_password_in_the_rule_file_is_never_sent() {
    let forum = Forum::start();
    let file = forum.path().join("rules/forum.toml");
    for (login, user, key) in [
        ("fields = { extra = 's3cret' }", "anna", "`login.fields.extra` holds the password"),
        ("fields = { extra = 'x-s3cret-y' }", "anna", "`login.fields.extra` holds the password"),
        ("probe = '/in?k=s3cret'", "anna", "`login.probe` holds the password"),
        ("", "anna:s3cret", "`login.user` holds the password"),
    ] {
        forum.rules(login);
        let text = fs::read_to_string(&file).unwrap().replace("user = 'anna'", &format!("user = '{user}'"));
        fs::write(&file, text).unwrap();
        let crawl = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
        for told in [forum.login(&[]).ended(1), crawl] {
            let told = told.says(&["rules/forum.toml: ", key, "nothing is sent", "change the password"]);
            assert!(!told.err.contains("s3cret") && !told.out.contains("s3cret"), "{}", told.err);
        }
    }
    assert!(forum.seen.at.lock().unwrap().iter().all(|(what, _)| what == "GET /robots.txt"), "no page, no form");
    for name in ["pw", "kennwort", "mot_de_passe", "senha"] {
        forum.rules(&format!("fields = {{ {name} = 'whatever-3' }}"));
        let check = run(forum.path(), &["rules", "check", "rules/forum.toml"]).ended(1);
        let said = format!("{}{}", check.out, check.err);
        assert!(said.contains(&format!("the field `{name}` looks like a password's")), "{said}");
        assert!(said.contains("secrets/forum") && !said.contains("whatever-3"), "{said}");
    }
}

#[test]
fn a_login_that_could_not_be_proven_is_proven_by_the_next_one_and_not_sent_again() {
    let forum = Forum::start();
    forum.rules("probe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["then run, which asks for the proof first: gleaner login forum"]);
    let kept = forum.path().join("data/sessions/tries/forum.unproven");
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["is still to be proven"]);
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&[
        "cannot be proven now: nothing was sent",
        "once the site answers again, run: ",
        "`probe` in [login]",
        "--cookies",
        "--logout",
        "login forum --again",
    ]);
    forum.seen.trouble.store(0, Ordering::SeqCst);
    forum.login(&[]).ended(0).says(&["its proof is asked for first"]);
    assert_eq!((forum.posts(), forum.begun()), (1, serde_json::Value::Null));
    assert!(!kept.exists() && forum.path().join("data/sessions/forum.json").exists());
}

#[test]
fn a_login_whose_proof_never_comes_is_sent_again_or_forgotten_where_its_operator_says_so() {
    let forum = Forum::start();
    forum.rules("probe = '/flaky'");
    forum.seen.trouble.store(100, Ordering::SeqCst);
    forum.login(&[]).ended(1);
    forum.login(&["--again"]).ended(1).says(&["its form is sent again"]);
    assert_eq!(forum.posts(), 2);
    assert_ne!(forum.begun(), serde_json::Value::Null);
    forum.login(&["--logout"]).ended(0);
    assert_eq!(forum.begun(), serde_json::Value::Null, "there is nothing left to prove");
}

#[test]
fn a_form_that_came_back_is_refused_by_its_proof_alone() {
    let forum = Forum::start();
    // Of one page that members see and one that shows the form to all, the first does not come at once.
    forum.rules("page = '/shown'\nprobe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["which asks for the proof first"]);
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 1);
    // The same with a wrong password: the proof that comes late says no, and nobody sends it again.
    forum.password("wrong");
    forum.rules("page = '/to/back'\nprobe = '/flaky'");
    forum.seen.trouble.store(2, Ordering::SeqCst);
    forum.login(&[]).ended(1).says(&["which asks for the proof first"]);
    let told = forum.login(&[]).ended(1).says(&["its proof is asked for first", "check the password in data/secrets"]);
    assert!(told.out.contains("verdict: ") && told.out.contains("probably refused"), "{}", told.out);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn another_page_that_proves_has_a_good_password_tried_once_more() {
    let forum = Forum::start();
    forum.rules("page = '/shown'\nprobe = '/shown'");
    forum.login(&[]).ended(1).says(&["has probably refused"]);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    forum.rules("page = '/shown'\nprobe = '/flaky'");
    forum.login(&[]).ended(0);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_form_that_scripts_take_away_from_members_is_no_sign_of_a_guest() {
    let forum = Forum::start();
    forum.rules("page = '/taken-away'\nprobe = '/taken-away'");
    forum.login(&[]).ended(0).says(&["shows a login form without its scripts: rendered", "has a link to log out"]);
    assert_eq!(forum.posts(), 1);
}

#[test]
fn an_answer_that_tells_nothing_twice_is_not_asked_for_a_third_time() {
    let forum = Forum::start();
    forum.rules("page = '/to/dumb'");
    forum.login(&[]).ended(1).says(&["name a page that only members see as `probe`"]);
    forum.login(&[]).ended(1).says(&["check the password in data/secrets/forum"]);
    forum.login(&[]).ended(1).says(&["has probably refused this user and password before"]);
    assert_eq!(forum.posts(), 2);
}

#[test]
fn a_proof_that_asks_for_patience_gets_it_and_everybody_tells_until_when() {
    let forum = Forum::start();
    forum.rules("probe = '/patience'");
    let before = SystemClock.now();
    let told = forum.login(&[]).ended(1);
    let (_, hint) = told.err.split_once("hint: wait until ").unwrap_or_else(|| panic!("{}", told.err));
    let time = hint.split_once(", then run: ").unwrap().0.to_owned();
    assert!(time >= before.plus(Duration::from_secs(7_200)).rfc3339(), "{time}");
    run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0).says(&["is still to be proven", &*time]);
    let crawled = run(forum.path(), &[&["crawl", "forum"], &FOLDERS[..]].concat()).ended(1);
    assert!(format!("{}{}", crawled.out, crawled.err).contains(&time), "{time}: {}{}", crawled.out, crawled.err);
    let asked = forum.seen.at.lock().unwrap().iter().filter(|(what, _)| what == "GET /patience").count();
    assert_eq!((asked, forum.posts()), (1, 1));
}

#[test]
fn hints_name_the_site_repeat_the_folders_and_tell_what_is_there() {
    let forum = Forum::start();
    forum.rules("form = 3");
    forum.login(&[]).ended(1).says(&[
        "the rule file names form 3, the page has 1",
        "verdict: the form that [login] names is none to log in by",
        "hint: correct `form` in [login] of rules/forum.toml; the page has form 1, a login form, with the fields username, password, go",
    ]);
    forum.rules("user_field = 'nick'");
    forum.login(&[]).ended(1).says(&[
        "has no field `nick`",
        "correct `user_field` in",
        "with the fields username, password, go",
    ]);
    forum.rules("page = '/captcha/'");
    let told = forum.login(&[]).ended(1);
    assert!(told.err.contains("run: gleaner login forum --interactive --data data --rules rules\n"), "{}", told.err);
    assert_eq!(forum.posts(), 0);

    forum.rules("");
    forum.password("wrong");
    forum.login(&[]).ended(1).says(&["the user name or the password is wrong"]);
    forum.login(&[]).ended(1).says(&[
        "hint: correct the password in data/secrets/forum; `gleaner login forum --data data --rules rules --again`",
    ]);
    assert_eq!(forum.posts(), 1);
    fs::write(forum.path().join("data/sessions/forum.json"), "{").unwrap();
    fs::write(forum.path().join("data/sessions/tries/forum.json"), "{").unwrap();
    let told = forum.login(&[]).ended(1);
    assert!(told.err.trim_end().lines().last().unwrap().starts_with("hint: "), "the hint is the end: {}", told.err);
}

#[test]
fn a_mistyped_site_is_told_with_the_nearest_and_a_bad_file_with_its_faults() {
    let forum = Forum::start();
    let login = |name: &str| run(forum.path(), &[&["login", name], &FOLDERS[..]].concat()).ended(1);
    login("form").says(&["no usable rule file for site `form`", "hint: did you mean `forum`?"]);
    forum.rules("pasword = 's3cret'");
    for told in [login("forum"), run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(0)] {
        assert!(!told.err.contains("s3cret") && !told.out.contains("s3cret"), "{}", told.err);
        told.says(&[
            "rules/forum.toml:5:1",
            "secrets do not belong in rule files",
            "`secrets/forum`",
            "`gleaner-forum`",
        ]);
    }
    login("forum").says(&["mend its file, then run: gleaner rules check rules/forum.toml --data data --rules rules"]);
    login("forun").says(&["did you mean `forum`? Its file has faults: "]);

    // A crawl of another site leaves a database: that nothing of this one was crawled has a reason.
    let port = closed_port();
    fs::write(
        forum.path().join("rules/other.toml"),
        format!("start = ['http://127.0.0.1:{port}/']\nclasses.page = ['.']\n"),
    )
    .unwrap();
    run(forum.path(), &[&["crawl", "other"], &FOLDERS[..]].concat()).ended(1);
    let status = [&["status"], &FOLDERS[..]].concat();
    run(forum.path(), &status).ended(0).says(&[
        "rules/forum.toml: its site cannot be crawled until it is mended",
        "secrets do not belong in rule files",
    ]);
    let told = run(forum.path(), &[&status[..], &["--json"]].concat()).ended(0);
    assert!(!told.out.contains("s3cret"), "{}", told.out);
    assert_eq!(told.json()["rule_faults"][0]["count"], 1);
}

#[test]
fn a_password_file_is_one_line_and_blanks_around_it_are_told() {
    let forum = Forum::start();
    forum.password(&format!("{PASSWORD}\nother-secret\n"));
    let told = forum.login(&[]).ended(1).says(&["data/secrets/forum: there is more than one line\nhint: "]);
    assert!(!told.err.contains("other-secret"), "{}", told.err);
    assert_eq!(forum.posts(), 0);
    forum.password(&format!("{PASSWORD}\r\n\n"));
    let told = forum.login(&[]).ended(0).says(&["empty lines stand behind the password", "data/secrets/forum"]);
    assert!(!told.err.contains(PASSWORD), "{}", told.err);
    forum.password(&format!("{PASSWORD} \n"));
    let told = forum.login(&[]).ended(1).says(&["begins or ends with blanks", "data/secrets/forum"]);
    assert!(!told.err.contains(PASSWORD), "{}", told.err);
    assert!(forum.seen.bodies.lock().unwrap()[1].contains(&format!("password={PASSWORD}+&")));
}

#[test]
fn each_fault_of_a_cookies_file_is_told_with_its_line() {
    let forum = Forum::start();
    let import = |bytes: &[u8], mode: u32| {
        let file = forum.path().join("cookies.txt");
        fs::write(&file, bytes).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
        forum.login(&["--cookies", "cookies.txt"])
    };
    let good = "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tabc\n";
    let old = "127.0.0.1\tFALSE\t/\tFALSE\t1000\told\tabc\n";
    let told = import(format!("{good}{old}127.0.0.1 FALSE / FALSE 0 a b\n").as_bytes(), 0o600).ended(0);
    assert!(!told.err.contains("others may read"), "{}", told.err);
    told.says(&[
        "cookies: 1 taken, 0 of other sites left out, 1 expired",
        "cookies.txt: line 2: this cookie expired on 1970-01-01",
        "cookies.txt: line 3: its fields are separated by blanks",
    ]);
    import(good.as_bytes(), 0o644).ended(0).says(&["others may read this file", "hint: chmod 600 cookies.txt"]);
    import(old.as_bytes(), 0o600).ended(1).says(&["line 1: this cookie expired", "no cookie of 127.0.0.1"]);
    import(b"", 0o600).ended(1).says(&["cookies.txt: line 1: the file has no cookie in it\nhint: "]);
    import(b"SQLite format 3\0\x10\x00", 0o600).ended(1).says(&["cookies.txt: line 1: this is a browser's database"]);
    import(b"# x\n\xff\0\0", 0o600).ended(1).says(&["cookies.txt: line 2: the file is no text\nhint: "]);
    import(good.replace("abc", "stale").as_bytes(), 0o600)
        .ended(1)
        .says(&["not one of a member: it is not kept\nhint: "]);
    assert_eq!(forum.posts(), 0);
}

#[test]
fn a_session_that_a_running_service_holds_is_not_forgotten_behind_its_back() {
    let forum = Forum::start();
    let session = forum.path().join("data/sessions/forum.json");
    let service = Service::start(forum.path());
    wait_for("the service has logged in", || session.exists().then_some(()));
    let refused = forum.login(&["--logout"]).ended(1);
    refused.says(&["a running process crawls forum with it", "hint: end that process, or write `enabled = false`"]);
    assert!(session.exists());
    let text = fs::read_to_string(forum.path().join("rules/forum.toml")).unwrap();
    fs::write(forum.path().join("rules/forum.toml"), text.replace("enabled = true", "enabled = false")).unwrap();
    wait_for("the service has left the site", || service.logged("site is no longer enabled").pop());
    wait_for("the session is forgotten", || (forum.login(&["--logout"]).code == Some(0)).then_some(()));
    assert!(!session.exists());
    assert_eq!(service.stop().code(), Some(0));
    assert!(!session.exists(), "nothing has brought it back");
    forum.login(&["--logout"]).ended(0).says(&["there was no session"]);
}

#[test]
fn no_session_is_no_session_beside_a_running_service_too() {
    let forum = Forum::start();
    forum.password("wrong");
    let service = Service::start(forum.path());
    wait_for("the service was refused", || (forum.posts() > 0).then_some(()));
    wait_for("the login is over", || {
        let ran = forum.login(&["--logout", "--json"]);
        let told = ran.json();
        // While it logs in, that is what is told.
        let is_over = !told["sentence"].as_str().unwrap().contains("another process logs in");
        is_over.then(|| {
            assert_eq!(ran.code, Some(0), "{told}");
            let sentence = "there was no session; the running process that crawls forum may still log in";
            assert_eq!(told["sentence"], sentence, "{told}");
        })
    });
    assert_eq!(service.stop().code(), Some(0));
}

#[test]
fn the_picture_goes_with_the_process_when_it_is_interrupted() {
    let forum = Forum::start();
    forum.rules("page = '/captcha/'");
    // `script` gives the command a terminal.
    let command = format!("exec '{BINARY}' login forum {} --interactive", FOLDERS.join(" "));
    let mut terminal = Command::new("script")
        .args(["-qefc", &command, "/dev/null"])
        .current_dir(forum.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .env_remove("CREDENTIALS_DIRECTORY")
        .spawn()
        .unwrap();
    let picture = forum.path().join("data/sessions/forum.captcha.png");
    let child = wait_for("the picture is shown", || {
        let children = format!("/proc/{0}/task/{0}/children", terminal.id());
        let child = fs::read_to_string(children).unwrap().split_whitespace().next()?.parse().ok()?;
        picture.exists().then_some(child)
    });
    kill_process(Pid::from_raw(child).unwrap(), Signal::INT).unwrap();
    assert_eq!(terminal.wait().unwrap().code(), Some(130));
    assert!(!picture.exists());
    assert_eq!((forum.posts(), forum.begun()), (0, serde_json::Value::Null), "nothing was sent: nothing was tried");
}

#[test]
fn a_demo_that_is_kept_open_tells_its_address_what_to_run_and_how_to_end_it() {
    let here = folder();
    let mut demo = Command::new(BINARY)
        .current_dir(here.path())
        .args(["demo", "--torrents", "5", "--data", "my demo", "--keep-serving", "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut err = BufReader::new(demo.stderr.take().unwrap());
    let mut told = String::new();
    while !told.ends_with('\n') || !told.contains("Ctrl-C") {
        assert!(err.read_line(&mut told).unwrap() > 0, "{told}");
    }
    assert!(told.contains("the demo site is open at http://127.0.0.1:"), "{told}");
    let command = told.trim_end().rsplit_once("gleaner ").unwrap().1;
    assert_eq!(command, "crawl demo --data 'my demo' --rules 'my demo'/rules");
    run(here.path(), &["crawl", "demo", "--data", "my demo", "--rules", "my demo/rules"]).ended(0);
    kill_process(Pid::from_child(&demo), Signal::INT).unwrap();
    assert_eq!(demo.wait().unwrap().code(), Some(0));
}

#[test]
fn a_members_demo_resumes_and_tells_why_where_it_cannot() {
    let here = folder();
    let demo = |more: &[&str]| run(here.path(), &[&["demo", "--data", "d", "--json"], more].concat());
    for _ in 0..2 {
        let told = demo(&["--members", "nyaa"]).ended(0).json();
        assert_eq!((told["coverage"].as_f64(), told["logins_wrong"].as_u64()), (Some(1.0), Some(0)), "{told}");
    }
    demo(&["--members", "mybb"]).ended(1).says(&["d holds a demo of nyaa, not of mybb\nhint: write --members nyaa"]);
    demo(&["--members", "nyaa", "--torrents", "3"]).ended(1).says(&[" torrents, not 3\nhint: leave --torrents out"]);
    let note: serde_json::Value =
        serde_json::from_slice(&fs::read(here.path().join("d/demo-members.json")).unwrap()).unwrap();
    let port = u16::try_from(note["port"].as_u64().unwrap()).unwrap();
    let held = std::net::TcpListener::bind(("127.0.0.1", port)).unwrap();
    demo(&["--members", "nyaa"]).ended(1).says(&[&format!("port {port}, which is in use\nhint: ")]);
    drop(held);
}
