//! `gleaner login` against a members-only site over real sockets: the form is found, filled in, sent and verified; sessions are stored,
//! used by a crawl, and never overwritten by worse ones; no secret leaks.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};

const PASSWORD: &str = "s3cret & grün";
const SESSION: &str = "sid=0f1e2d3c4b5a";

/// Requests to the site: method, path with query, and whether a member sent them.
type Log = Arc<Mutex<Vec<(Method, String, bool)>>>;

/// A forum: everything but its login is for members; guests also get 200 and a page.
async fn forum(State(log): State<Log>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let is_member = cookies.contains(SESSION);
    let path = uri.path_and_query().map(ToString::to_string).unwrap_or_default();
    log.lock().unwrap().push((method.clone(), path.clone(), is_member));
    let html = |text: String| ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
    let form = |message: &str| {
        format!(
            "<title>Login</title><p>{message}</p><form action='/search' method=get><input name=q><input type=submit></form>\
             <form action='/login.php?do=login' method=post><input type=hidden name=token value='t0ken'>\
             Username: <input name=username> Password: <input type=password name=password>\
             <label><input type=checkbox name=remember value=1> Remember me</label><input type=submit name=go value='Log in'></form>"
        )
    };
    match (method, uri.path()) {
        (_, "/robots.txt") => StatusCode::NOT_FOUND.into_response(),
        (Method::GET, "/login.php") => ([(header::SET_COOKIE, "pre=t0ken; HttpOnly")], html(form(""))).into_response(),
        (Method::POST, "/login.php") => {
            let body = String::from_utf8_lossy(&body).into_owned();
            let referer = headers.get(header::REFERER).and_then(|value| value.to_str().ok()).unwrap_or_default();
            let expected = "token=t0ken&username=anna&password=s3cret+%26+gr%C3%BCn&remember=1&go=Log+in";
            if cookies.contains("pre=t0ken") && referer.ends_with("/login.php") && body == expected {
                let cookie = format!("{SESSION}; Path=/; HttpOnly");
                return (StatusCode::FOUND, [(header::SET_COOKIE, cookie.as_str()), (header::LOCATION, "/")])
                    .into_response();
            }
            html(form("Wrong password."))
        }
        (_, "/logout.php") => {
            ([(header::SET_COOKIE, "sid=gone; Max-Age=0; Path=/")], html("bye".to_owned())).into_response()
        }
        (_, path) if is_member && path.ends_with(".torrent") => {
            let name = path.trim_matches('/').replace('/', "-");
            let length = name.len();
            let torrent = format!(
                "d4:infod6:lengthi4e4:name{length}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee"
            );
            ([(header::CONTENT_TYPE, "application/x-bittorrent")], torrent).into_response()
        }
        _ if is_member => html(
            "<a href='/logout.php?k=1'>Logout [ anna ]</a><a href=/dl/1.torrent>one</a><a href=/dl/2.torrent>two</a>"
                .to_owned(),
        ),
        _ => html("You must log in. <a href='/login.php'>Log in</a>".to_owned()),
    }
}

struct Site {
    log: Log,
    folder: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Site {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let log = Log::default();
        let app = Router::new().fallback(forum).with_state(Arc::clone(&log));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rules")).unwrap();
        let rules = format!(
            "start = ['http://{address}/']\n[login]\nuser = 'anna'\n[classes]\nindex = ['^/$']\ndownload = ['\\.torrent$']\n\
             page = ['.']\n[rate]\nrequests_per_second = 1000000\n"
        );
        fs::write(folder.path().join("rules/forum.toml"), rules).unwrap();
        Self { log, folder, _runtime: runtime }
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn run(&self, arguments: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(arguments).arg("--data").arg(self.data()).arg("--rules").arg(self.folder.path().join("rules"));
        command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap()
    }

    fn set_password(&self, password: &str) {
        let folder = self.data().join("secrets");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("forum"), format!("{password}\n")).unwrap();
        fs::set_permissions(folder.join("forum"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn posts(&self) -> usize {
        self.log.lock().unwrap().iter().filter(|(method, ..)| *method == Method::POST).count()
    }
}

fn told(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// All bytes below a folder, except the files that have to contain secrets.
fn bytes_below(folder: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() && !path.ends_with("secrets") && !path.ends_with("sessions") {
            bytes.extend(bytes_below(&path));
        } else if path.is_file() {
            bytes.extend(fs::read(&path).unwrap());
        }
    }
    bytes
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn a_login_is_shown_step_by_step_and_its_session_crawls() {
    let site = Site::start();
    let none = site.run(&["login", "forum"]);
    assert!(!none.status.success() && told(&none).contains("chmod 600"), "{}", told(&none));
    assert_eq!(site.log.lock().unwrap().len(), 0, "nothing is asked without a password");

    site.set_password(PASSWORD);
    let login = site.run(&["login", "forum", "-vv"]);
    let text = told(&login);
    assert!(login.status.success(), "{text}");
    for part in [
        "/login.php, linked from the start page",
        "form 2: a login form",
        "username=anna",
        "password=••••••",
        "proof: ",
        "log out",
    ] {
        assert!(text.contains(part), "{part} is missing in\n{text}");
    }
    let session = site.data().join("sessions/forum.json");
    assert_eq!(fs::metadata(&session).unwrap().mode() & 0o777, 0o600);

    let crawl = site.run(&["crawl", "forum", "-vv"]);
    assert!(crawl.status.success(), "{}", told(&crawl));
    let stored = walk(&site.data().join("torrents"));
    assert_eq!(stored, 2, "{}", told(&crawl));
    let log = site.log.lock().unwrap();
    assert!(!log.iter().any(|(_, path, _)| path.starts_with("/logout")), "{log:?}");

    let everything = [login.stdout, login.stderr, crawl.stdout, crawl.stderr, bytes_below(&site.data())].concat();
    for secret in ["s3cret", "0f1e2d3c4b5a", "t0ken;"] {
        assert!(!holds(&everything, secret), "{secret} has leaked");
    }
}

fn walk(folder: &Path) -> usize {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .map(
            |path| {
                if path.is_dir() {
                    walk(&path)
                } else {
                    usize::from(path.extension().is_some_and(|of| of == "torrent"))
                }
            },
        )
        .sum()
}

#[test]
fn a_wrong_password_is_sent_once_and_spoils_no_good_session() {
    let site = Site::start();
    let cookies = site.folder.path().join("cookies.txt");
    fs::write(&cookies, "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\t0f1e2d3c4b5a\nother.example\tFALSE\t/\tFALSE\t0\ta\tb\n")
        .unwrap();
    let imported = site.run(&["login", "forum", "--cookies", cookies.to_str().unwrap()]);
    assert!(
        imported.status.success() && told(&imported).contains("1 imported, 1 of other sites"),
        "{}",
        told(&imported)
    );
    let session = site.data().join("sessions/forum.json");
    let good = fs::read(&session).unwrap();

    site.set_password("wrong");
    let refused = site.run(&["login", "forum"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(told(&refused).contains("the user name or the password is wrong"), "{}", told(&refused));
    assert_eq!(site.posts(), 1);
    assert_eq!(fs::read(&session).unwrap(), good);

    fs::write(&cookies, "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tstale\n").unwrap();
    let stale = site.run(&["login", "forum", "--cookies", cookies.to_str().unwrap()]);
    assert!(!stale.status.success() && told(&stale).contains("not stored"), "{}", told(&stale));
    assert_eq!(fs::read(&session).unwrap(), good);

    assert!(site.run(&["login", "forum", "--logout"]).status.success());
    assert!(!session.exists());
}

#[test]
fn a_crawl_logs_in_by_itself_keeps_the_session_and_sends_a_wrong_password_once() {
    let site = Site::start();
    let none = site.run(&["crawl", "forum"]);
    assert_eq!(none.status.code(), Some(1), "{}", told(&none));
    assert!(told(&none).contains("not logged in") && told(&none).contains("password"), "{}", told(&none));
    site.set_password("wrong");
    for _ in 0..2 {
        let refused = site.run(&["crawl", "forum"]);
        assert_eq!((refused.status.code(), site.posts()), (Some(1), 1), "{}", told(&refused));
    }
    let again = site.run(&["login", "forum"]);
    assert!(!again.status.success() && told(&again).contains("--again"), "{}", told(&again));
    let status = site.run(&["status"]);
    assert!(told(&status).contains("no session: the user name or the password is wrong"), "{}", told(&status));
    assert_eq!(site.posts(), 1);

    site.set_password(PASSWORD);
    let crawl = site.run(&["crawl", "forum"]);
    assert!(crawl.status.success(), "{}", told(&crawl));
    assert_eq!((walk(&site.data().join("torrents")), site.posts()), (2, 2));
    let session = site.data().join("sessions/forum.json");
    assert_eq!(fs::metadata(session).unwrap().mode() & 0o777, 0o600);
    // The next one continues with it.
    let next = site.run(&["crawl", "forum"]);
    assert!(next.status.success(), "{}", told(&next));
    assert_eq!(site.posts(), 2);
}
