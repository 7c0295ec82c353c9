//! No secret leaks: after successful and failed logins, crawls, exports and faults, all at maximum verbosity, neither
//! output nor log nor any file of the data folder contains a password in any form, a session, or a token that was sent.
//! The files that have to contain them are the control: the same search finds them there.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::http::{HeaderMap, Method, StatusCode, Uri, header};
use axum::response::{IntoResponse, Response};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use gleaner::app::secrets;
use md5::{Digest as _, Md5};

const PASSWORD: &str = "Tr0ub4dor \"&\" ü€";
const WRONG: &str = "C0rrecth0rse<&>\"ß";
const SESSION: &str = "5e551011aabbccdd0123456789abcdef";
const GUEST: &str = "9ue57c00k1e0123456789abcdef01234";
const TOKEN: &str = "70ce4aabbccdd99887766554433221100f";

/// A forum whose pages, URLs and errors are full of confidential data.
async fn forum(method: Method, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let cookies = headers.get(header::COOKIE).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let body = String::from_utf8_lossy(&body).into_owned();
    let html = |text: String| ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], text).into_response();
    let (site, page) = uri.path().trim_start_matches('/').split_once('/').unwrap_or(("", ""));
    let script = if site == "hashed" { "onsubmit='md5hash(password, m, n)'" } else { "" };
    let captcha = if site == "captcha" { "Security code: <input name=captcha><img src=captcha.png>" } else { "" };
    let form = |message: &str| {
        html(format!(
            "{message}<form method=post action='/{site}/in?sid={GUEST}' {script}><input type=hidden name=form_token value={TOKEN}>\
             Username: <input name=username> Password: <input type=password name=password><input type=hidden name=m>\
             <input type=hidden name=n>{captcha}<input type=submit value='Log in'></form>"
        ))
    };
    if cookies.contains(SESSION) {
        return match page {
            "" => html(format!(
                "<a href='/{site}/logout?sid={SESSION}&k={TOKEN}'>Log out</a><a href='/{site}/list/2?sid={SESSION}'>2</a>\
                 <a href='/{site}/dl/1.torrent?sid={SESSION}'>1</a>"
            )),
            "list/2" => html(format!("<a href='/{site}/dl/2.torrent?sid={SESSION}'>2</a><a href=/{site}/broken>x</a>")),
            page if page.starts_with("dl/") => {
                let name = page.replace(['/', '.'], "");
                let torrent = format!(
                    "d4:infod6:lengthi4e4:name{}:{name}12:piece lengthi16384e6:pieces20:aaaaaaaaaaaaaaaaaaaaee",
                    name.len()
                );
                ([(header::CONTENT_TYPE, "application/x-bittorrent")], torrent).into_response()
            }
            // Like a debug page of a framework.
            _ => (StatusCode::NOT_FOUND, format!("{cookies}\n{headers:?}\n{SESSION}")).into_response(),
        };
    }
    match (method, page) {
        (Method::POST, _) if site == "faulty" => {
            (StatusCode::INTERNAL_SERVER_ERROR, format!("{body} {cookies}")).into_response()
        }
        (Method::POST, _) => {
            let form_urlencoded =
                |text: &str| url::form_urlencoded::byte_serialize(text.as_bytes()).collect::<String>();
            let is_right = if site == "hashed" {
                body.contains(&format!("m={}", hex_md5(&references(PASSWORD))))
            } else {
                body.contains(&format!("password={}&", form_urlencoded(PASSWORD)))
            };
            if !(is_right && body.contains(TOKEN) && cookies.contains(GUEST)) {
                return form(&format!("Wrong password. You sent {body}"));
            }
            let cookie = format!("sid={SESSION}; Path=/{site}");
            let start = format!("/{site}/?sid={SESSION}");
            (StatusCode::FOUND, [(header::SET_COOKIE, cookie), (header::LOCATION, start)]).into_response()
        }
        (_, "") => ([(header::SET_COOKIE, format!("guest={GUEST}; Path=/{site}"))], form("")).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

/// vBulletin's encoding of text beyond Latin-1.
fn references(text: &str) -> Vec<u8> {
    let latin = |unit: u16| u8::try_from(unit).map_or_else(|_| format!("&#{unit};").into_bytes(), |byte| vec![byte]);
    text.encode_utf16().flat_map(latin).collect()
}

fn hex_md5(bytes: &[u8]) -> String {
    Md5::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A secret in all forms in which it is stored or sent.
fn forms_of(secret: &str) -> Vec<Vec<u8>> {
    let low_bytes: Vec<u8> = secret.encode_utf16().map(|unit| unit.to_le_bytes()[0]).collect();
    let hashes = [secret.as_bytes(), &references(secret), &low_bytes].map(hex_md5);
    let json = serde_json::to_string(secret).unwrap().trim_matches('"').to_owned();
    let escaped: String =
        secret.chars().map(|of| if of.is_ascii() { of.to_string() } else { of.escape_unicode().to_string() }).collect();
    let mut forms = vec![
        secret.to_owned(),
        url::form_urlencoded::byte_serialize(secret.as_bytes()).collect(),
        percent_encoding::utf8_percent_encode(secret, percent_encoding::NON_ALPHANUMERIC).to_string(),
        STANDARD.encode(secret),
        STANDARD_NO_PAD.encode(secret),
        URL_SAFE_NO_PAD.encode(secret),
        STANDARD.encode(format!("anna:{secret}")),
        json,
        escaped,
        // The first word, however the rest is encoded.
        secret.split([' ', '<']).next().unwrap().to_owned(),
    ];
    forms.extend(hashes.iter().map(|hash| hash.to_ascii_uppercase()));
    forms.extend(hashes);
    let mut forms: Vec<Vec<u8>> = forms.into_iter().map(String::into_bytes).collect();
    forms.push(format!("{:?}", secret.as_bytes()).into_bytes());
    forms
}

/// Forms of secrets found in bytes.
fn found(bytes: &[u8]) -> Vec<String> {
    let secrets = [PASSWORD, WRONG, SESSION, GUEST, TOKEN].iter().flat_map(|secret| forms_of(secret));
    let held = secrets.filter(|form| memchr::memmem::find(bytes, form).is_some());
    held.map(|form| String::from_utf8_lossy(&form).into_owned()).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { files(&path) } else { vec![path] }).collect()
}

struct World {
    folder: tempfile::TempDir,
    faults: Mutex<String>,
    _runtime: tokio::runtime::Runtime,
}

impl World {
    fn start() -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let listener = runtime.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = listener.local_addr().unwrap();
        runtime.spawn(async move { axum::serve(listener, Router::new().fallback(forum)).await.unwrap() });
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("rules")).unwrap();
        for site in ["forum", "hashed", "captcha", "faulty", "down"] {
            let address = if site == "down" { "127.0.0.1:9".to_owned() } else { address.to_string() };
            let rules = format!(
                "start = ['http://{address}/{site}/']\n[login]\nuser = 'anna'\n[classes]\nindex = ['/$', '/list/']\n\
                 download = ['\\.torrent']\npage = ['.']\n[rate]\nrequests_per_second = 1000000\n"
            );
            fs::write(folder.path().join(format!("rules/{site}.toml")), rules).unwrap();
        }
        Self { folder, faults: Mutex::default(), _runtime: runtime }
    }

    fn set_password(&self, site: &str, password: &str, mode: u32) {
        let file = secrets::file_of(&self.folder.path().join("data"), site);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("{password}\n")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
    }

    /// Runs a command, inspects the running process, and collects the secrets in its output.
    fn run(&self, arguments: &[&str], variables: &[(&str, &str)]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(arguments).arg("-vvv").arg("--data").arg(self.folder.path().join("data"));
        command.arg("--rules").arg(self.folder.path().join("rules")).env_remove("CREDENTIALS_DIRECTORY");
        command.envs(variables.iter().copied()).env_remove("GLEANER_CONFIG").current_dir(self.folder.path());
        let child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let process = PathBuf::from(format!("/proc/{}", child.id()));
        // It is inspected until its first lines have run, which may take a while on a busy machine.
        let (mut seen, mut limits, mut may_dump) = (Vec::new(), String::new(), true);
        for _ in 0..250 {
            std::thread::sleep(Duration::from_millis(20));
            // A process that is gone cannot be read; a login takes seconds.
            seen = fs::read(process.join("cmdline")).unwrap_or_default();
            limits = fs::read_to_string(process.join("limits")).unwrap_or_default();
            let core = limits.lines().find_map(|line| line.strip_prefix("Max core file size"));
            may_dump = core.is_some_and(|sizes| !sizes.split_whitespace().take(2).eq(["0", "0"]));
            if !may_dump {
                break;
            }
        }
        let output = child.wait_with_output().unwrap();
        for (what, bytes) in [("cmdline", &seen), ("stdout", &output.stdout), ("stderr", &output.stderr)] {
            for secret in found(bytes) {
                let lines = String::from_utf8_lossy(bytes).into_owned();
                let line = lines.lines().find(|line| line.contains(&secret)).unwrap_or_default();
                self.faults
                    .lock()
                    .unwrap()
                    .push_str(&format!("{arguments:?} {variables:?}: {what} holds {secret}: {line}\n"));
            }
        }
        if may_dump {
            self.faults.lock().unwrap().push_str(&format!("{arguments:?}: core dumps are not off:\n{limits}\n"));
        }
        let text = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8_lossy(&text).into_owned())
    }
}

#[test]
fn no_output_no_file_and_no_argument_holds_a_secret() {
    let world = World::start();
    let trace = [("GLEANER_LOG", "trace")];
    let logs_in = |site: &str, password: &str, is_good: bool, says: &str| {
        world.set_password(site, password, 0o600);
        for variables in [&[][..], &trace] {
            let (was_good, told) = world.run(&["login", site, "--again"], variables);
            assert!(was_good == is_good && told.contains(says), "{site}: {told}");
        }
    };
    // In sequence: all have one host and user, who logs in once at a time.
    logs_in("forum", WRONG, false, "wrong");
    logs_in("forum", PASSWORD, true, "logged in");
    logs_in("hashed", PASSWORD, true, "logged in");
    logs_in("captcha", PASSWORD, false, "CAPTCHA");
    logs_in("faulty", PASSWORD, false, "500");
    logs_in("down", PASSWORD, false, "no connection");
    world.set_password("down", PASSWORD, 0o644);
    let (_, told) = world.run(&["login", "down"], &trace);
    assert!(told.contains("other users may read"), "{told}");
    fs::remove_file(secrets::file_of(&world.folder.path().join("data"), "hashed")).unwrap();
    let (was_good, told) = world.run(&["login", "hashed"], &[("GLEANER_PASSWORD_HASHED", PASSWORD), trace[0]]);
    assert!(was_good, "{told}");

    for (arguments, is_good) in [
        (&["crawl", "forum"][..], true),
        (&["crawl", "hashed", "--log-format", "json"], true),
        (&["status", "--json"], true),
        (&["coverage", "forum"], true),
        (&["rules", "check"], true),
        (&["verify"], true),
        (&["export", "out"], true),
        (&["export", "out.tar.zst"], true),
    ] {
        let (was_good, told) = world.run(arguments, &trace);
        assert_eq!(was_good, is_good, "{arguments:?}: {told}");
    }
    let data = world.folder.path().join("data");
    assert_eq!(files(&data.join("torrents")).iter().filter(|path| path.extension().is_some()).count(), 2);
    let session = data.join("sessions/forum.json");
    fs::write(&session, format!("{{ broken {SESSION}")).unwrap();
    let (was_good, told) = world.run(&["crawl", "forum"], &trace);
    assert!(
        was_good && told.contains("not a valid session file") && told.contains("logged in"),
        "it is told, and the crawl logs in anew: {told}"
    );

    let (kept, open): (Vec<PathBuf>, Vec<PathBuf>) = files(world.folder.path())
        .into_iter()
        .partition(|path| path.starts_with(data.join("secrets")) || path.starts_with(data.join("sessions")));
    for path in open {
        for secret in found(&fs::read(&path).unwrap()) {
            world.faults.lock().unwrap().push_str(&format!("{} holds {secret}\n", path.display()));
        }
    }
    let faults = world.faults.lock().unwrap();
    assert!(faults.is_empty(), "{faults}");
    // The search finds what is there.
    let kept: Vec<u8> = kept.iter().flat_map(|path| fs::read(path).unwrap()).collect();
    assert!([PASSWORD, SESSION].iter().all(|secret| found(&kept).iter().any(|form| form == secret)));
}

/// Marks the restarted process of the test below: it guards itself, and prints what a child sees.
const AGAIN: &str = "GLEANER_TEST_GUARDED";

#[test]
fn a_guarded_process_dumps_no_core_and_hands_no_password_on() {
    if std::env::var_os(AGAIN).is_some() {
        // SAFETY: the harness runs this one test on one thread beside its own, which waits.
        unsafe { secrets::guard_process() };
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(secrets::password(nowhere.path(), "a.site").unwrap().reveal(), PASSWORD);
        assert!(matches!(secrets::password(nowhere.path(), "other"), Err(secrets::SecretError::Absent { .. })));
        let dumpable = rustix::process::dumpable_behavior().unwrap();
        assert_eq!(dumpable, rustix::process::DumpableBehavior::NotDumpable);
        assert_eq!(rustix::process::getrlimit(rustix::process::Resource::Core).maximum, Some(0));
        let inherited = Command::new("env").output().unwrap().stdout;
        let text = String::from_utf8_lossy(&inherited);
        assert!(text.contains(AGAIN) && !text.contains("GLEANER_PASSWORD"), "{text}");
        assert!(found(&inherited).is_empty());
        return;
    }
    let output = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "login_secrets::a_guarded_process_dumps_no_core_and_hands_no_password_on",
            "--test-threads=1",
        ])
        .envs([(AGAIN, "1"), ("GLEANER_PASSWORD_A_SITE", PASSWORD)])
        .env_remove("CREDENTIALS_DIRECTORY")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_unit_lets_no_core_be_dumped() {
    let unit = fs::read_to_string(Path::new(env!("GLEANER_ROOT")).join("systemd/gleaner.service")).unwrap();
    assert!(unit.lines().any(|line| line == "LimitCORE=0"));
}
