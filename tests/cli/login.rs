//! `gleaner login` as its operator meets it: steps while they happen, hints that can be copied, names that are mistyped,
//! passwords and cookies in files that are not as they should be, and a session that a running service holds.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rustix::process::{Pid, Signal, kill_process};

use crate::harness::{BINARY, Ran, Service, closed_port, folder, gleaner, run, wait_for};

const PASSWORD: &str = "s3cret";

#[derive(Clone, Default)]
struct Seen {
    /// Forms that were sent.
    posts: Arc<AtomicUsize>,
    bodies: Arc<Mutex<Vec<String>>>,
}

/// A forum whose start page has the form, with a CAPTCHA below /captcha/.
async fn forum(State(seen): State<Seen>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let html = |text: &str| ([(header::CONTENT_TYPE, "text/html")], text.to_owned()).into_response();
    if uri.path().ends_with(".png") {
        return ([(header::CONTENT_TYPE, "image/png")], &b"\x89PNG\r\n\x1a\n"[..]).into_response();
    }
    if method == Method::POST {
        seen.posts.fetch_add(1, Ordering::SeqCst);
        let body = String::from_utf8_lossy(&body).into_owned();
        let is_right = body.contains(&format!("password={PASSWORD}&"));
        seen.bodies.lock().unwrap().push(body);
        if is_right {
            return (StatusCode::FOUND, [(header::SET_COOKIE, "sid=abc; Path=/"), (header::LOCATION, "/")])
                .into_response();
        }
        return html("Wrong password.");
    }
    match (uri.path(), cookies.contains("sid=abc")) {
        ("/", true) => html("<a href='/logout'>Log out</a> anna"),
        ("/", false) | ("/captcha/", _) => {
            let captcha = if uri.path() == "/" { "" } else { "Security code: <input name=captcha><img src=/c.png>" };
            html(&format!(
                "<title>Login</title><form method=post action='/in' id=login>Username: <input name=username> Password: \
                 <input type=password name=password>{captcha}<input type=submit name=go value='Log in'></form>"
            ))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
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
        fs::write(secrets.join("forum"), text).unwrap();
        fs::set_permissions(secrets.join("forum"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn login(&self, more: &[&str]) -> Ran {
        let mut command = gleaner(self.path(), &[&["login", "forum"], &FOLDERS[..], more].concat());
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap())
    }

    fn posts(&self) -> usize {
        self.seen.posts.load(Ordering::SeqCst)
    }
}

#[test]
fn steps_are_shown_while_they_happen_and_what_decides_alone() {
    let forum = Forum::start();
    let mut child = Command::new(BINARY)
        .current_dir(forum.path())
        .args(["login", "forum"])
        .args(FOLDERS)
        .env_remove("CREDENTIALS_DIRECTORY")
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
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
fn hints_name_the_site_repeat_the_folders_and_tell_what_is_there() {
    let forum = Forum::start();
    forum.rules("form = 3");
    forum.login(&[]).ended(1).says(&[
        "the rule file names form 3, the page has 1",
        "hint: correct [login] of rules/forum.toml; the page has form 1, a login form, with the fields username, password, go",
    ]);
    forum.rules("user_field = 'nick'");
    forum.login(&[]).ended(1).says(&["has no field `nick`", "with the fields username, password, go"]);
    forum.rules("page = '/captcha/'");
    let told = forum.login(&[]).ended(1);
    assert!(told.out.contains("`gleaner login forum --data data --rules rules --interactive`"), "{}", told.out);
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
    for told in [login("forum"), run(forum.path(), &[&["status"], &FOLDERS[..]].concat()).ended(1)] {
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
    assert_eq!(forum.posts(), 0);
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
