//! What is asked of a running service: pause, resume, crawl now; and who may not.

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

use crate::cli::harness::{Service, Site, folder, run, wait_for};
use crate::cli::web::{Answer, get, port_of, send};

/// POSTs a body.
pub fn post(port: u16, target: &str, headers: &[(&str, &str)], body: &str) -> Answer {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
    let lines: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let text = format!(
        "POST {target} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: {length}\r\n{lines}Connection: close\r\n\r\n{body}"
    );
    let _ = stream.write_all(text.as_bytes());
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    Answer::of(&bytes)
}

pub const JSON: (&str, &str) = ("Content-Type", "application/json");

fn site(port: u16) -> Value {
    get(port, "/api/v1/sites/demo").json()
}

/// Requests that were sent to the site.
fn requests(port: u16) -> u64 {
    site(port)["pages"].as_u64().unwrap_or_default()
}

#[test]
fn a_paused_site_is_left_alone_over_restarts_until_it_is_resumed() {
    let here = folder();
    let here = here.path();
    // More than a slow machine has read when the pause comes: what is left is what the resumed crawl asks for.
    let _site = Site::start(here, 400, 50);
    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("it is crawled", || (requests(port) > 3).then_some(()));
    let answer = post(port, "/api/v1/sites/demo/pause", &[JSON], "{}");
    assert_eq!(
        (answer.status, &answer.json()["is_paused"], &answer.json()["until"]),
        (200, &true.into(), &Value::Null)
    );
    wait_for("its crawl has ended", || (site(port)["is_crawled"] == false).then_some(()));
    let before = requests(port);
    assert_eq!(site(port)["paused"]["by"], "this machine");
    run(here, &["status", "--data", "data"]).ended(0).says(&["paused until it is resumed: by this machine since "]);
    let refused = post(port, "/api/v1/sites/demo/crawl", &[JSON], "{}");
    assert_eq!((refused.status, refused.json()["detail"].as_str()), (409, Some("resume it first")));
    assert_eq!(service.logged("site is paused").len(), 1);
    assert!(service.stop().success());

    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("it is up", || (!service.logged("service is up").is_empty()).then_some(()));
    assert_eq!(service.logged("site is paused").len(), 1, "the next process knows it");
    assert!(service.logged("site is being crawled").is_empty());
    // A rule file that changes meanwhile does not begin it.
    let path = here.join("rules/demo.toml");
    let path =
        if path.exists() { path } else { fs::read_dir(here.join("rules")).unwrap().next().unwrap().unwrap().path() };
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, format!("# changed\n{text}")).unwrap();
    wait_for("it is read again", || (!service.logged("rule files changed: reloading them").is_empty()).then_some(()));
    assert_eq!(requests(port), before);
    // For other commands than the service's own, too: the owner's.
    run(here, &["pause", "demo", "--minutes", "60", "--data", "data"]).ended(0).says(&["demo is paused until 20"]);
    run(here, &["pause", "nosite", "--data", "data"]).ended(1).says(&["no site is called nosite"]);
    run(here, &["resume", "demo", "--data", "data"]).ended(0).says(&["demo goes on"]);
    wait_for("it is crawled", || (requests(port) > before).then_some(()));
    let rechecked = "demo: the start pages and all lists are rechecked now";
    run(here, &["recheck", "demo", "--data", "data"]).ended(0).says(&[rechecked]);
    run(here, &["recheck", "nosite", "--data", "data"]).ended(1).says(&["no site is called nosite"]);
    assert_eq!(service.logged("a recheck of all lists is asked for").len(), 1);
    assert_eq!(site(port)["paused"], Value::Null);
    let again = post(port, "/api/v1/sites/demo/resume", &[JSON], "{}");
    assert_eq!((again.status, again.json()["note"].as_str()), (200, Some("it was not paused")));
    assert!(service.stop().success());
    run(here, &["pause", "demo", "--data", "data"]).ended(1).says(&["no service runs in this folder", "hint: "]);
}

#[test]
fn crawl_now_rechecks_the_lists_of_a_site_that_rests() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 0);
    run(here, &["crawl", "--data", "data", "--rules", "rules", "--json"]).ended(0);
    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("it is crawled", || (site(port)["is_crawled"] == true).then_some(()));
    let mut before = requests(port);
    wait_for("it rests", || {
        std::thread::sleep(Duration::from_secs(2));
        let now = requests(port);
        (std::mem::replace(&mut before, now) == now).then_some(())
    });
    let answer = post(port, "/api/v1/sites/demo/crawl", &[JSON], "{}");
    assert_eq!((answer.status, &answer.json()["is_paused"]), (200, &false.into()), "{}", answer.text());
    wait_for("its lists are read again", || (requests(port) > before).then_some(()));
    assert_eq!(service.logged("a recheck of all lists is asked for")[0]["by"], "this machine");
    assert!(service.stop().success());
}

#[test]
fn nothing_is_pressed_from_other_sites_by_other_methods_or_without_the_scope() {
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 50);
    run(here, &["crawl", "--max-pages", "3", "--data", "data", "--rules", "rules", "--json"]);
    let token = |name: &str, scope: &str| {
        let made = run(here, &["token", "new", name, "--scope", scope, "--data", "data", "--rules", "rules"]).ended(0);
        format!("Bearer {}", made.out.trim())
    };
    let (read, admin) = (token("page", "read"), token("boss", "admin"));
    let service = Service::start(here);
    let port = port_of(&service);
    wait_for("it is crawled", || (site(port)["is_crawled"] == true).then_some(()));
    const PAUSE: &str = "/api/v1/sites/demo/pause";
    let own = format!("http://127.0.0.1:{port}");
    for (headers, body, status) in [
        (&[JSON, ("Origin", "http://evil.example")][..], "{}", 403),
        (&[JSON, ("Origin", "null")], "{}", 403),
        (&[JSON, ("Sec-Fetch-Site", "cross-site")], "{}", 403),
        (&[("Content-Type", "application/x-www-form-urlencoded")], "minutes=5", 415),
        (&[("Content-Type", "text/plain")], "{}", 415),
        (&[], "{}", 415),
        (&[JSON], "", 400),
        (&[JSON], "[]", 400),
        (&[JSON], "{\"minutes\":0}", 400),
        (&[JSON], "{\"minutes\":525601}", 400),
        (&[JSON], "{\"minutes\":1.5}", 400),
        (&[JSON], "{\"hours\":1}", 400),
        (&[JSON, ("X-Forwarded-For", "127.0.0.1")], "{}", 401),
        (&[JSON, ("X-Forwarded-For", "127.0.0.1"), ("Authorization", &read)], "{}", 403),
    ] {
        let answer = post(port, PAUSE, headers, body);
        assert_eq!(answer.status, status, "{headers:?} {body}: {}", answer.text());
        assert_eq!(answer.json()["status"], status);
    }
    assert_eq!(post(port, PAUSE, &[JSON], &" ".repeat(20_000)).status, 413);
    assert_eq!(post(port, "/api/v1/sites/nosite/pause", &[JSON], "{}").status, 404);
    let read_only = get(port, PAUSE);
    assert_eq!((read_only.status, read_only.header("allow")), (405, Some("POST")));
    assert_eq!(site(port)["paused"], Value::Null, "none of these did anything");

    let headers = [JSON, ("Authorization", &*admin), ("Origin", &own), ("Sec-Fetch-Site", "same-origin")];
    let answer = post(port, PAUSE, &headers, "{\"minutes\":90}");
    assert!(answer.status == 200 && answer.json()["until"].is_string(), "{}", answer.text());
    assert_eq!(service.logged("site is paused")[0]["by"], "token boss");
    assert!(service.stop().success());
}

#[test]
fn a_browser_has_a_session_for_a_token_until_it_is_ended_or_revoked() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    fs::create_dir(here.join("data")).unwrap();
    let made = run(here, &["token", "new", "page", "--scope", "read", "--data", "data", "--rules", "rules"]).ended(0);
    let token = made.out.trim();
    let variables = [
        ("GLEANER_WEB_AUTH", "all"),
        ("GLEANER_WEB_BASE_PATH", "/g"),
        ("GLEANER_WEB_TRUSTED_PROXIES", "127.0.0.1"),
        ("GLEANER_WEB_HOSTS", "gleaner.example"),
    ];
    let service = Service::with(here, &variables);
    let port = port_of(&service);
    const FORM: (&str, &str) = ("Content-Type", "application/x-www-form-urlencoded");
    let passed_on = |address: &'static str| ("X-Forwarded-For", address);
    let proxied = [passed_on("10.0.0.1"), ("X-Forwarded-Host", "gleaner.example"), ("X-Forwarded-Proto", "https")];
    let begun = post(port, "/g/session", &[&proxied[..], &[FORM]].concat(), &format!("token={token}"));
    assert_eq!((begun.status, begun.header("location")), (303, Some("https://gleaner.example/g/")), "{}", begun.text());
    let cookie = begun.header("set-cookie").unwrap().to_owned();
    for part in ["; Path=/g;", "; HttpOnly", "; SameSite=Strict", "; Secure", "; Max-Age=2592000"] {
        assert!(cookie.contains(part), "{part}: {cookie}");
    }
    assert!(!cookie.contains(token));
    let pair = cookie.split(';').next().unwrap();
    let summary = |pair: &str| send(port, "GET", "/g/api/v1/summary", &[("Cookie", pair)]).status;
    assert_eq!((summary(pair), summary("gleaner_session=x.1.y"), summary("a=b")), (200, 401, 401));
    let links = send(port, "GET", "/g/api/v1/searches", &[&proxied[..], &[("Cookie", pair)]].concat());
    assert_eq!(links.status, 200);

    // As JSON; from no other site; five tries a minute and address.
    let body = serde_json::json!({ "token": token }).to_string();
    let second = post(port, "/g/session", &[JSON, passed_on("10.0.0.2")], &body);
    assert_eq!((second.status, &second.json()["scope"]), (200, &"read".into()));
    let second = second.header("set-cookie").unwrap().split(';').next().unwrap().to_owned();
    let other = post(port, "/g/session", &[JSON, ("Origin", "http://evil.example"), passed_on("10.0.0.3")], &body);
    assert_eq!(other.status, 403);
    let tries = (0..6).map(|_| post(port, "/g/session", &[FORM, passed_on("10.0.0.4")], "token=wrong").status);
    assert_eq!(tries.collect::<Vec<_>>(), [403, 403, 403, 403, 403, 429]);
    assert_eq!(post(port, "/g/session", &[FORM, passed_on("10.0.0.5")], "token=wrong").status, 403, "another address");
    for (kind, body, status) in [(JSON, "{}", 400), (FORM, "name=x", 400), (("Content-Type", "text/plain"), "x", 415)] {
        assert_eq!(post(port, "/g/session", &[kind, passed_on("10.0.0.6")], body).status, status, "{body}");
    }

    let ended = send(port, "DELETE", "/g/session", &[("Cookie", pair)]);
    assert_eq!((ended.status, summary(pair), summary(&second)), (204, 401, 200));
    assert!(ended.header("set-cookie").unwrap().contains("Max-Age=0"), "{:?}", ended.header("set-cookie"));
    run(here, &["token", "revoke", "page", "--data", "data"]).ended(0);
    assert_eq!(summary(&second), 401, "it dies with its token");
    let log = fs::read_to_string(here.join("log")).unwrap();
    assert!(!log.contains(token) && !log.contains(pair.split('=').nth(1).unwrap()), "{log}");
    assert!(service.stop().success());
}

#[test]
fn the_base_url_tells_programs_what_there_is() {
    let here = folder();
    let here = here.path();
    fs::create_dir(here.join("rules")).unwrap();
    let service = Service::with(here, &[("GLEANER_WEB_BASE_PATH", "/g")]);
    let port = port_of(&service);
    for path in ["/g?t=caps", "/g/?t=caps", "/g", "/g/", "/g/?apikey=any"] {
        let answer = get(port, path);
        assert!(answer.status == 200 && answer.text().contains("<caps>"), "{path}: {}", answer.text());
    }
    assert!(get(port, "/g/?t=nonsense").text().contains("<error code=\"202\""));
    let page = send(port, "GET", "/g/", &[("Accept", "text/html,application/xhtml+xml,*/*;q=0.8")]);
    assert!(page.status == 200 && page.text().contains("href=\"/g/torrents\""), "{}", page.text());
    for path in ["/?t=caps", "/", "/gx?t=caps", "/api?t=caps"] {
        assert_eq!(get(port, path).status, 404, "{path} is not below the base path");
    }
    assert!(service.stop().success());
}

#[test]
fn ten_thousand_silent_connections_and_slow_readers_keep_nobody_out() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    const SILENT: usize = 10_000;
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum }).unwrap();
    let here = folder();
    let here = here.path();
    let _site = Site::start(here, 60, 20);
    let service = Service::start(here);
    let port = port_of(&service);
    // These ask for much, and read nothing of it.
    let ask = format!("GET /api/v1/openapi.json HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n");
    let slow: Vec<TcpStream> = (0..30)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            stream.write_all(ask.repeat(8).as_bytes()).unwrap();
            stream
        })
        .collect();
    let mut silent = Vec::with_capacity(SILENT);
    let mut answers = 0;
    for nth in 0..SILENT {
        silent.push(TcpStream::connect(("127.0.0.1", port)).unwrap());
        if nth % 500 == 0 {
            assert_eq!(get(port, "/healthz").status, 200, "beside {nth}");
            answers += 1;
        }
    }
    assert_eq!((silent.len(), answers), (SILENT, 20));
    assert_eq!(get(port, "/api?t=caps").status, 200);
    wait_for("the crawl goes on", || (get(port, "/api/v1/summary").json()["torrents"] == 60).then_some(()));
    drop((silent, slow));
    assert!(service.stop().success());
}
