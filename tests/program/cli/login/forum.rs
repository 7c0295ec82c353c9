//! The forum for tests of `gleaner login`, and a folder with its rule file and its password.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use rustix::process::{Pid, Signal, kill_process};

use crate::cli::harness::{BINARY, Ran, folder, gleaner, now, run, wait_for, with_default_signals};

pub const PASSWORD: &str = "s3cret";

#[derive(Clone, Default)]
pub struct Seen {
    /// Number of submitted forms.
    pub posts: Arc<AtomicUsize>,
    pub bodies: Arc<Mutex<Vec<String>>>,
    /// The time of each request.
    pub at: Arc<Mutex<Vec<(String, Instant)>>>,
    pub robots: Arc<Mutex<String>>,
    /// Number of remaining error responses of /flaky.
    pub trouble: Arc<AtomicUsize>,
    /// /hanging does not respond yet.
    pub hangs: Arc<AtomicBool>,
    /// The site has lost its sessions, until the next login.
    pub forgets: Arc<AtomicBool>,
    /// Its member has another password now.
    pub changed: Arc<AtomicBool>,
}

/// A forum whose start page has the form. Below /captcha/ it has a CAPTCHA, below /widget/ one of another site's script;
/// forms sent to /broken get a server error, those of /sso belong to another site.
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
        let is_right = body.contains(&format!("password={PASSWORD}&")) && !seen.changed.load(Ordering::SeqCst);
        let captcha = body.split('&').any(|pair| pair == "captcha=XK42");
        seen.bodies.lock().unwrap().push(body);
        if uri.path() == "/broken" {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        }
        match uri.path() {
            "/dumb" => return html("Hello."),
            "/empty" => return html(""),
            "/lost" => return StatusCode::NOT_FOUND.into_response(),
            "/welcome" => return html("Welcome back, anna"),
            "/locked" => return html("Your account has been banned."),
            "/locked/hour" => {
                let text = "<p class=error>Account locked.</p><p>It opens again in 1 hour.</p>";
                return html(&format!("{text}{}", form_to("/locked/hour", "")));
            }
            "/counting" => {
                let text = "<p class=error>Wrong password.</p><p>You have 1 attempts remaining.</p>";
                return html(&format!("{text}{}", form_to("/counting", "")));
            }
            "/hang" => return redirect("/hanging"),
            "/refused" => return redirect("/refusal"),
            "/offsite" => {
                return (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.2:9/sso?error=1")]).into_response();
            }
            "/secure" => {
                let location = [(header::SET_COOKIE, "sid=abc; Path=/"), (header::LOCATION, "https://127.0.0.1/home")];
                return (StatusCode::FOUND, location).into_response();
            }
            "/expired" => return html("<p>Your password has expired. Please choose a new one.</p>"),
            "/old-one" if is_right => return redirect("/old"),
            "/again" => return (StatusCode::PERMANENT_REDIRECT, [(header::LOCATION, "/again#here")]).into_response(),
            "/busy-api" => {
                let json = [(header::CONTENT_TYPE, "application/json")];
                let text = r#"{"message":"Too many attempts","retry_after":7200}"#;
                return (StatusCode::TOO_MANY_REQUESTS, json, text).into_response();
            }
            "/gated/nav" => {
                let text =
                    "<a href=/>Home</a> <a href=/login>Login</a> <a href=/pw>I forgot my password</a><h1>403</h1>";
                return (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "text/html")], text).into_response();
            }
            // Browsers do not store this cookie either.
            "/in-the-clear" if is_right => return redirect_with("sid=abc; Path=/; Secure"),
            "/narrow" if is_right => return redirect_with("sid=abc; Path=/forum/"),
            "/log" => return StatusCode::NO_CONTENT.into_response(),
            "/told" => return redirect_to("/to/mute?error=invalid_password"),
            "/quota" => {
                let text =
                    "<p>Invalid username or password. Too many failed attempts, please try again in 15 minutes.</p>";
                return html(&format!("{text}{}", form_to("/quota", "")));
            }
            "/mute" => return html(&form_to("/mute", "")),
            "/unconfirmed" => return html("Your account is not activated yet."),
            "/code" => {
                return html(
                    "<form method=post>Authentication code <input name=otp autocomplete=one-time-code></form>",
                );
            }
            // A truncated response.
            "/part" => {
                let parts = [Ok("<html>"), Err(std::io::Error::other("broken off"))];
                return axum::body::Body::from_stream(futures_util::stream::iter(parts)).into_response();
            }
            "/stuck" => {
                while seen.hangs.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
                return html("Wrong password.");
            }
            "/slow" => {
                while seen.hangs.load(Ordering::SeqCst) {
                    tokio::time::sleep(Duration::from_millis(10)).await;
                }
            }
            "/moody" if seen.trouble.load(Ordering::SeqCst) > 0 => {
                seen.trouble.fetch_sub(1, Ordering::SeqCst);
                return html("<h1>Database error</h1><p>Could not connect to the database.</p>");
            }
            "/failing" => {
                let form = [(header::CONTENT_TYPE, "text/html")];
                return (StatusCode::INTERNAL_SERVER_ERROR, form, form_to("/failing", "")).into_response();
            }
            // A gateway in front of the site blocks it.
            "/gated" if seen.trouble.load(Ordering::SeqCst) > 0 => {
                seen.trouble.fetch_sub(1, Ordering::SeqCst);
                return (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "text/html")], "<h1>403 Forbidden</h1>nginx")
                    .into_response();
            }
            "/overrun" if seen.trouble.load(Ordering::SeqCst) > 0 => {
                seen.trouble.fetch_sub(1, Ordering::SeqCst);
                let form = [(header::CONTENT_TYPE, "text/html")];
                return (StatusCode::SERVICE_UNAVAILABLE, form, form_to("/overrun", "")).into_response();
            }
            "/misread" => {
                let form = [(header::CONTENT_TYPE, "text/html")];
                let text = format!("<p>Wrong captcha.</p>{}", form_to("/misread", CAPTCHA));
                return (StatusCode::INTERNAL_SERVER_ERROR, form, text).into_response();
            }
            "/somehow" if !is_right => return html(&format!("<p>Login failed.</p>{}", form_to("/somehow", ""))),
            "/limited" => return StatusCode::TOO_MANY_REQUESTS.into_response(),
            "/patient" => return (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "90")]).into_response(),
            // It asks for a CAPTCHA after the form was sent, with an unknown text or a known one.
            "/zorb" => return html(&format!("<p>Computer says zorb.</p>{}", form_to("/zorb", CAPTCHA))),
            "/step" if !captcha => {
                return html(&format!("<p>Bitte den Sicherheitscode eingeben.</p>{}", form_to("/step", CAPTCHA)));
            }
            "/api" => {
                return ([(header::CONTENT_TYPE, "application/json")], r#"{"status":"nope","data":{"key":"t0k"}}"#)
                    .into_response();
            }
            _ => {}
        }
        if uri.path() == "/back" {
            return html(&format!("<p class=error>Sorry, no match.</p>{}", form_to("/back", "")));
        }
        if let (Some(path), true) = (["/shown", "/taken-away"].into_iter().find(|path| *path == uri.path()), is_right) {
            return redirect(path);
        }
        if let Some(seconds) = uri.path().strip_prefix("/limited/") {
            return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds.to_owned())]).into_response();
        }
        if uri.path() == "/letter" {
            return html("A letter is on its way to you.");
        }
        if is_right {
            seen.forgets.store(false, Ordering::SeqCst);
            return redirect("/");
        }
        return html("Wrong password.");
    }
    while uri.path() == "/hanging" && seen.hangs.load(Ordering::SeqCst) {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    match (uri.path(), cookies.contains("sid=abc") && !seen.forgets.load(Ordering::SeqCst)) {
        ("/hanging", true) => html("<a href='/logout'>Log out</a> anna"),
        ("/hanging", false) => html(&form_to("/in", "")),
        ("/refusal", _) => html(&format!("<p>Wrong password.</p>{}", form_to("/refused", ""))),
        ("/", true) => html("<a href='/logout'>Log out</a> anna"),
        ("/old", true) => html("<h1>Hello</h1><p>You must change your password every year.</p>"),
        ("/cookies", true) => html("<form action=/find><input name=q></form><p>This site uses cookies.</p>"),
        ("/cookies/button", true) => {
            html("<form action=/menu><button>Menu</button></form><p>This site uses cookies.</p>")
        }
        ("/guarded/front", false) => {
            let page = [(header::CONTENT_TYPE, "text/html")];
            (StatusCode::FORBIDDEN, page, "<h1>Firewall Forum</h1><p>Authorization required.</p>").into_response()
        }
        ("/guarded" | "/guarded/front" | "/guarded/away", true) => html("<p>The members of this forum.</p>"),
        ("/guarded", false) => {
            let page = [(header::CONTENT_TYPE, "text/html")];
            (StatusCode::FORBIDDEN, page, "<h1>Firewall Forum</h1><p>Request blocked.</p>").into_response()
        }
        ("/guarded/away", false) => {
            let page = [(header::CONTENT_TYPE, "text/html")];
            (StatusCode::NOT_FOUND, page, "<h1>Not found</h1><p>Cloudflare</p>").into_response()
        }
        ("/old" | "/cookies" | "/cookies/button", false) => redirect_to("/"),
        ("/nothing", _) => html("Nothing here."),
        ("/flaky", _) if seen.trouble.load(Ordering::SeqCst) > 0 => {
            seen.trouble.fetch_sub(1, Ordering::SeqCst);
            StatusCode::SERVICE_UNAVAILABLE.into_response()
        }
        // A gateway in front of the site, for everybody.
        ("/walled", _) => {
            let text = "<title>Just a moment...</title><p>Enable JavaScript and cookies to continue</p>";
            (StatusCode::FORBIDDEN, [(header::CONTENT_TYPE, "text/html")], text).into_response()
        }
        ("/consent", _) => {
            html("<h1>We value your privacy</h1><form action=/consent method=post><button>Accept all</button></form>")
        }
        ("/banned", _) => {
            let page = [(header::CONTENT_TYPE, "text/html")];
            (StatusCode::FORBIDDEN, page, "<p>Your network is not welcome.").into_response()
        }
        ("/counted", _) => html(&format!(
            "{}<script>const form = document.getElementById('login'); form.setAttribute('onsubmit', 'count()'); function count() {{ const x = \
             new XMLHttpRequest(); x.open('POST', '/log'); x.send('user=' + form.elements.username.value) }}</script>",
            form_to("/in", "")
        )),
        ("/scripted", _) => html(&format!("{}<script>{SENDS}</script>", form_to("/slow", ""))),
        ("/nowhere", _) => html(&form_to("http://[::1/x", "")),
        ("/busy", _) => (StatusCode::SERVICE_UNAVAILABLE, [(header::RETRY_AFTER, "7200")]).into_response(),
        ("/circle", _) => (StatusCode::FOUND, [(header::LOCATION, "/circle")]).into_response(),
        ("/get", _) => html(&form_to("/in", "").replace("method=post", "method=get")),
        // Members of the API, by the token in their session.
        ("/me", _) => match headers.get(header::AUTHORIZATION).is_some_and(|token| token == "Bearer t0k") {
            true => html("anna"),
            false => StatusCode::FORBIDDEN.into_response(),
        },
        ("/patience", _) => (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "7200")]).into_response(),
        // The same for members and guests: the second one until its scripts have run.
        ("/shown", _) => html(&form_to("/shown", "")),
        ("/taken-away", _) => html(&format!("{}<script>{TAKEN_AWAY}</script>", form_to("/taken-away", ""))),
        ("/flaky", true) => html("<a href='/logout'>Log out</a> anna"),
        ("/to/pin" | "/to/pin/somehow", _) => {
            let action = if uri.path() == "/to/pin" { "/in" } else { "/somehow" };
            html(&form_to(action, "").replace("Password:", "Pin: <input type=password name=pin> Password:"))
        }
        (path, _) if path.starts_with("/to/") => html(&form_to(&path[3..], "")),
        ("/name/login", _) => html(
            "<form method=post action=/letter id=login>Username: <input name=username autocomplete=username>\
             <input type=submit value=Next></form>",
        ),
        ("/sso", _) => (StatusCode::FOUND, [(header::LOCATION, "http://127.0.0.2:9/login")]).into_response(),
        ("/", false) | ("/captcha/" | "/widget/", _) => {
            let captcha = match uri.path() {
                "/captcha/" => CAPTCHA,
                "/widget/" => "<div class='g-recaptcha' data-sitekey='x'></div>",
                _ => "",
            };
            html(&form_to("/in", captcha))
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

const CAPTCHA: &str = "Security code: <input name=captcha><img src=/c.png>";

fn redirect_to(path: &'static str) -> Response {
    (StatusCode::FOUND, [(header::LOCATION, path)]).into_response()
}

fn redirect_with(cookie: &'static str) -> Response {
    (StatusCode::FOUND, [(header::SET_COOKIE, cookie), (header::LOCATION, "/")]).into_response()
}

/// Sets a member's cookie and redirects.
fn redirect(path: &'static str) -> Response {
    (StatusCode::FOUND, [(header::SET_COOKIE, "sid=abc; Path=/"), (header::LOCATION, path)]).into_response()
}

const TAKEN_AWAY: &str = "if (document.cookie.includes('sid=abc')) { document.getElementById('login').remove(); \
                          document.body.insertAdjacentHTML('beforeend', '<a href=/logout>Log out</a>') }";

/// Sends the form by a script request, and goes to the members' page.
const SENDS: &str = "const form = document.getElementById('login'); form.addEventListener('submit', event => { event.preventDefault(); \
                     const of = name => encodeURIComponent(form.elements[name].value); fetch('/slow', {method: 'POST', headers: \
                     {'Content-Type': 'application/x-www-form-urlencoded'}, body: `username=${of('username')}&password=${of('password')}&go=1`})\
                     .then(answer => { if (answer.ok) location.href = '/' }) })";

fn form_to(action: &str, captcha: &str) -> String {
    format!(
        "<title>Login</title><form method=post action='{action}' id=login>Username: <input name=username> Password: \
         <input type=password name=password>{captcha}<input type=submit name=go value='Log in'></form>"
    )
}

pub struct Forum {
    pub here: tempfile::TempDir,
    pub seen: Seen,
    pub port: u16,
    _runtime: tokio::runtime::Runtime,
}

pub const FOLDERS: [&str; 4] = ["--data", "data", "--rules", "rules"];

impl Forum {
    pub fn start() -> Self {
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

    pub fn path(&self) -> &Path {
        self.here.path()
    }

    /// Writes the site's rule file, with additional keys of its [login].
    pub fn rules(&self, login: &str) {
        let text = format!(
            "enabled = true\nstart = ['http://127.0.0.1:{}/']\n[login]\nuser = 'anna'\n{login}\n[classes]\nindex = ['^/$']\n\
             [rate]\nrequests_per_second = 1000000\n",
            self.port
        );
        fs::write(self.path().join("rules/forum.toml"), text).unwrap();
    }

    pub fn password(&self, text: &str) {
        let secrets = self.path().join("data/secrets");
        fs::create_dir_all(&secrets).unwrap();
        fs::set_permissions(&secrets, fs::Permissions::from_mode(0o700)).unwrap();
        fs::write(secrets.join("forum"), text).unwrap();
        fs::set_permissions(secrets.join("forum"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    pub fn login(&self, more: &[&str]) -> Ran {
        let mut command = gleaner(self.path(), &[&["login", "forum"], &FOLDERS[..], more].concat());
        Ran::of(&command.env_remove("CREDENTIALS_DIRECTORY").output().unwrap())
    }

    pub fn command(&self, more: &[&str]) -> Command {
        self.command_of(&[&["login", "forum"], more].concat())
    }

    /// Another command about the site, to be started and observed.
    pub fn command_of(&self, words: &[&str]) -> Command {
        let mut command = with_default_signals(BINARY);
        command.current_dir(self.path()).args(words).args(FOLDERS);
        command.env_remove("CREDENTIALS_DIRECTORY").env_remove("GLEANER_LOG").env_remove("GLEANER_CONFIG");
        command
    }

    /// The mark of an unfinished attempt, as stored.
    pub fn begun(&self) -> serde_json::Value {
        let tries = fs::read(self.path().join("data/sessions/tries/forum.json")).unwrap();
        serde_json::from_slice::<serde_json::Value>(&tries).unwrap()["begun"].clone()
    }

    /// Waits until something is requested, such as `GET /`.
    pub fn wait_for(&self, what: &str) {
        wait_for(what, || self.seen.at.lock().unwrap().iter().any(|(asked, _)| asked == what).then_some(()));
    }

    /// A login with a person at a terminal, who types this.
    pub fn interactive(&self, typed: &str) -> Ran {
        self.interactive_with(typed, "")
    }

    /// The same with another option.
    pub fn interactive_with(&self, typed: &str, more: &str) -> Ran {
        let command = format!("exec '{BINARY}' login forum {} --interactive {more}", FOLDERS.join(" "));
        // `script` provides a terminal for the command.
        let mut terminal = assert_cmd::Command::new("script");
        terminal.args(["-qefc", &command, "/dev/null"]).current_dir(self.path()).env_remove("CREDENTIALS_DIRECTORY");
        Ran::of(&terminal.write_stdin(typed).output().unwrap())
    }

    /// Starts one, and interrupts it at the question about a picture; returns the picture's path.
    pub fn interrupted_at_picture(&self) -> PathBuf {
        let command = format!("exec '{BINARY}' login forum {} --interactive", FOLDERS.join(" "));
        let mut terminal = with_default_signals("script")
            .args(["-qefc", &command, "/dev/null"])
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .env_remove("CREDENTIALS_DIRECTORY")
            .spawn()
            .unwrap();
        let picture = self.path().join("data/sessions/forum.captcha.png");
        let child = wait_for("the picture is shown", || {
            let children = format!("/proc/{0}/task/{0}/children", terminal.id());
            let child = fs::read_to_string(children).unwrap().split_whitespace().next()?.parse().ok()?;
            picture.exists().then_some(child)
        });
        kill_process(Pid::from_raw(child).unwrap(), Signal::INT).unwrap();
        assert_eq!(terminal.wait().unwrap().code(), Some(130));
        picture
    }

    /// Number of requests so far.
    pub fn asked(&self) -> usize {
        self.seen.at.lock().unwrap().len()
    }

    /// The output of another command about the site.
    pub fn run(&self, words: &[&str]) -> Ran {
        run(self.path(), &[words, &FOLDERS].concat())
    }

    pub fn posts(&self) -> usize {
        self.seen.posts.load(Ordering::SeqCst)
    }
}
