//! `gleaner rules learn` on a site that throttles, logs out, changes or sees the program killed; and the crawl that takes in what was read.

use std::collections::BTreeSet;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde_json::Value;

use crate::cli::harness::{BINARY, Ran, archived, folder, now, run, unfolded, wait_for};

const ROWS: usize = 10;
const PAGES: usize = 5;

/// What the site does at its requests, robots.txt and its login not counted.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plan {
    /// From here on nothing is answered.
    pub stops_at: Option<usize>,
    /// At these it throttles, with this `Retry-After`.
    pub throttles: (usize, usize, u32),
    /// Here it ends all sessions.
    pub logs_out_at: Option<usize>,
    /// From here on its details have other URLs, and the old ones are gone.
    pub changes_at: Option<usize>,
    /// Only members see more than the form.
    pub is_private: bool,
}

#[derive(Default)]
struct Seen {
    plan: Plan,
    asked: Vec<(String, Instant)>,
    logins: usize,
    session: usize,
}

/// A tracker: a list of five pages, details, torrents.
pub struct Tracker {
    pub origin: String,
    seen: Arc<Mutex<Seen>>,
}

impl Tracker {
    pub fn start(plan: Plan) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        let seen = Arc::new(Mutex::new(Seen { plan, ..Seen::default() }));
        let of_thread = Arc::clone(&seen);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let seen = Arc::clone(&of_thread);
                std::thread::spawn(move || answer(stream, &seen));
            }
        });
        Self { origin, seen }
    }

    fn url(&self) -> String {
        format!("{}/", self.origin)
    }

    /// How much was asked since then.
    pub fn count(&self) -> usize {
        self.seen.lock().unwrap().asked.len()
    }

    /// What was asked since the last call; the plan is another from now on.
    pub fn take(&self, plan: Plan) -> Vec<String> {
        let mut seen = self.seen.lock().unwrap();
        seen.plan = plan;
        std::mem::take(&mut seen.asked).into_iter().map(|(path, _)| path).collect()
    }
}

/// One request, one connection.
fn answer(mut stream: TcpStream, seen: &Mutex<Seen>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line == "\r\n" {
            break;
        }
        lines.push(line);
    }
    let Some(first) = lines.first() else { return };
    let (method, path) = first.split_once(' ').unwrap();
    let path = path.split(' ').next().unwrap().to_owned();
    let header = |name: &str| {
        let found =
            lines.iter().find_map(|line| line.to_lowercase().strip_prefix(&format!("{name}: ")).map(str::to_owned));
        found.unwrap_or_default().trim().to_owned()
    };
    let mut body = vec![0; header("content-length").parse().unwrap_or(0)];
    let _ = reader.read_exact(&mut body);
    let (cookie, is_post) = (header("cookie"), method == "POST");
    let Some((status, headers, body)) = page(&mut seen.lock().unwrap(), &path, &cookie, is_post) else {
        // The client is killed while it waits.
        let _ = reader.read_to_end(&mut Vec::new());
        return;
    };
    let head = format!("HTTP/1.1 {status} x\r\nconnection: close\r\ncontent-length: {}\r\n{headers}\r\n", body.len());
    let _ = stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body));
}

type Page = (u16, String, Vec<u8>);

fn page(seen: &mut Seen, path: &str, cookie: &str, is_post: bool) -> Option<Page> {
    let html = |body: String| (200, "content-type: text/html\r\n".to_owned(), body.into_bytes());
    if path == "/robots.txt" {
        return Some((404, String::new(), Vec::new()));
    }
    if is_post {
        seen.logins += 1;
        seen.session += 1;
        let headers = format!("set-cookie: sid={}; Path=/\r\nlocation: /\r\n", seen.session);
        return Some((302, headers, Vec::new()));
    }
    seen.asked.push((path.to_owned(), now()));
    let (plan, count) = (seen.plan, seen.asked.len());
    if plan.stops_at.is_some_and(|at| count >= at) {
        return None;
    }
    if (plan.throttles.0..plan.throttles.1).contains(&count) {
        return Some((503, format!("retry-after: {}\r\n", plan.throttles.2), Vec::new()));
    }
    if plan.logs_out_at == Some(count) {
        seen.session += 1;
    }
    let is_member = seen.session > 0 && cookie.contains(&format!("sid={}", seen.session));
    if plan.is_private && !is_member {
        return Some(html("<title>t</title><form method=post action=/login><input name=user><input type=password name=pass><input type=submit value='Log in'></form>".to_owned()));
    }
    let menu = format!(
        "<title>{path}</title><a href=/>home</a> <a href=/faq>faq</a>{}",
        if is_member { " <a href=/logout>Log out</a>" } else { "" }
    );
    let has_changed = plan.changes_at.is_some_and(|at| count >= at);
    let detail = if has_changed { "/topic/" } else { "/details/" };
    let number = |text: &str| text.parse::<usize>().ok().filter(|number| *number < ROWS * PAGES);
    let list = path.strip_prefix("/?page=").and_then(|text| text.parse().ok()).or_else(|| (path == "/").then_some(1));
    Some(match path {
        _ if list.is_some_and(|list: usize| (1..=PAGES).contains(&list)) => {
            let list: usize = list.unwrap_or(1);
            let rows: String = (0..ROWS)
                .map(|row| (list - 1) * ROWS + row)
                .map(|id| format!("<tr><td><a href={detail}{id}>Some distribution {id}</a></td></tr>"))
                .collect();
            let pager: String = (1..=PAGES).map(|to| format!("<a href='/?page={to}'>{to}</a> ")).collect();
            html(format!("{menu}<table>{rows}</table>{pager}"))
        }
        _ if path.strip_prefix(detail).and_then(number).is_some() => {
            let id = &path[detail.len()..];
            html(format!("{menu}<h1>Some distribution {id}</h1><a href=/dl/{id}.torrent>Download</a>"))
        }
        _ if path.strip_prefix("/dl/").and_then(|rest| number(rest.strip_suffix(".torrent")?)).is_some() => {
            let (kind, name) = ("content-type: application/x-bittorrent\r\n".to_owned(), &path[4..]);
            let mut torrent =
                format!("d4:infod6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:", name.len()).into_bytes();
            torrent.extend([7; 20]);
            torrent.extend(b"ee");
            (200, kind, torrent)
        }
        "/faq" => html(format!("{menu}<p>questions")),
        _ => (404, "content-type: text/html\r\n".to_owned(), b"<p>gone".to_vec()),
    })
}

fn learn(here: &Path, site: &Tracker, out: &str, more: &[&str]) -> Ran {
    let url = site.url();
    let common = ["rules", "learn", &url, "--rate", "300", "--data", "data", "--rules", "rules", "-o", out, "--json"];
    run(here, &[&common, more].concat())
}

/// A learned file without the lines that count requests.
fn text(here: &Path, file: &str) -> String {
    fs::read_to_string(here.join(file)).unwrap()
}

fn password(here: &Path, site: &Tracker) {
    let name = site.origin.trim_start_matches("http://").replace(':', "-");
    fs::create_dir_all(here.join("data/secrets")).unwrap();
    let file = here.join("data/secrets").join(name);
    fs::write(&file, "s3cretPass\n").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
}

#[test]
fn a_run_that_was_killed_goes_on_and_ends_with_the_same_file() {
    let here = folder();
    let site = Tracker::start(Plan::default());
    learn(here.path(), &site, "whole.toml", &[]).ended(0);
    let whole = site.take(Plan { stops_at: Some(15), ..Plan::default() });
    assert!(whole.len() > 20, "{whole:?}");
    let mut child = Command::new(BINARY)
        .current_dir(here.path())
        .args(["rules", "learn", &site.url(), "--rate", "300", "--data", "data", "-o", "killed.toml"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    wait_for("it waits for an answer", || (site.seen.lock().unwrap().asked.len() >= 15).then_some(()));
    child.kill().unwrap();
    child.wait().unwrap();
    let before = site.take(Plan::default());
    assert!(!here.path().join("killed.toml").exists());
    let told = learn(here.path(), &site, "killed.toml", &["--resume"]).ended(0).json();
    let after = site.take(Plan::default());
    assert_eq!(told["reused"], 14, "{told}");
    assert_eq!([&before[..14], &after[..]].concat(), whole, "the same requests, none twice");
    assert_eq!(text(here.path(), "killed.toml"), text(here.path(), "whole.toml"));
    // Once more with more requests: only what is new.
    let told = learn(here.path(), &site, "more.toml", &["--resume", "--requests", "400"]).ended(0).json();
    let again = site.take(Plan::default());
    assert!(told["reused"].as_u64().unwrap() as usize >= whole.len() * 9 / 10, "{told}");
    let (again, whole): (BTreeSet<_>, BTreeSet<_>) = (again.into_iter().collect(), whole.into_iter().collect());
    assert!(again.is_disjoint(&whole), "{:?}", again.intersection(&whole).collect::<Vec<_>>());
    // Without --resume nothing of it counts.
    learn(here.path(), &site, "anew.toml", &[]).ended(0);
    assert!(site.take(Plan::default()).len() >= whole.len());
    assert_eq!(text(here.path(), "anew.toml"), text(here.path(), "whole.toml"));
}

/// Crawls by the learned file into a data folder; returns the summary and what was asked for.
fn crawl(here: &Path, site: &Tracker, name: &str, data: &str) -> (Value, Vec<String>) {
    site.take(Plan::default());
    let ran = run(here, &["crawl", name, "--rules", "rules", "--data", data, "--json"]).ended(0);
    let summary = ran.json();
    (summary, site.take(Plan::default()))
}

#[test]
fn what_learning_has_read_is_not_asked_for_by_the_first_crawl() {
    let here = folder();
    let site = Tracker::start(Plan::default());
    fs::create_dir(here.path().join("rules")).unwrap();
    learn(here.path(), &site, "rules/t.toml", &[]).ended(0);
    let read: BTreeSet<String> = site.take(Plan::default()).into_iter().collect();
    let kept = here.path().join(format!("data/learned/{}.answers", site.origin[7..].replace(':', "-")));
    assert_eq!(fs::metadata(&kept).unwrap().permissions().mode() & 0o777, 0o600);
    let (told, asked) = crawl(here.path(), &site, "t", "data");
    let (usual, all) = crawl(here.path(), &site, "t", "other");
    let asked: BTreeSet<String> = asked.into_iter().collect();
    assert!(asked.is_disjoint(&read), "{asked:?}");
    let count = told["read_before"].as_u64().unwrap();
    assert!(count > 10 && usual["read_before"] == 0, "{told}");
    assert_eq!(told["pages"].as_u64().unwrap() + count, usual["pages"].as_u64().unwrap(), "{told}\n{usual}");
    assert_eq!(
        (&told["outcomes"], told["stored"].as_u64()),
        (&usual["outcomes"], Some((ROWS * PAGES) as u64)),
        "{all:?}"
    );
    assert_eq!(archived(&here.path().join("data")), archived(&here.path().join("other")));
    let counts = |data: &str| {
        let told = run(here.path(), &["coverage", "t", "--rules", "rules", "--data", data, "--json"]).ended(0).json();
        (told["sites"][0]["cr"].clone(), told["sites"][0]["listed"].clone())
    };
    assert_eq!(counts("data"), counts("other"));
    assert!(!kept.exists(), "used up");
    run(here.path(), &["verify", "--rules", "rules", "--data", "data"]).ended(0);
}

#[test]
fn what_is_old_or_of_another_account_is_asked_for_again() {
    let here = folder();
    let site = Tracker::start(Plan::default());
    fs::create_dir(here.path().join("rules")).unwrap();
    learn(here.path(), &site, "rules/t.toml", &[]).ended(0);
    let kept = here.path().join(format!("data/learned/{}.answers", site.origin[7..].replace(':', "-")));
    // The time of each answer is the first field of its head.
    let bytes = fs::read(&kept).unwrap();
    fs::create_dir_all(here.path().join("broken/learned")).unwrap();
    fs::write(here.path().join("broken/learned").join(kept.file_name().unwrap()), &bytes[40..]).unwrap();
    let (told, _) = crawl(here.path(), &site, "t", "broken");
    assert_eq!((told["read_before"].as_u64(), told["stored"].as_u64()), (Some(0), Some((ROWS * PAGES) as u64)));
    // A member sees other pages than the guest who was answered.
    let rules = text(here.path(), "rules/t.toml") + "[login]\nuser = 'anna'\n";
    fs::write(here.path().join("rules/t.toml"), rules).unwrap();
    let (name, secret) = (site.origin[7..].replace(':', "-"), "data/secrets/t");
    password(here.path(), &site);
    fs::rename(here.path().join("data/secrets").join(name), here.path().join(secret)).unwrap();
    let ran = run(here.path(), &["crawl", "t", "--rules", "rules", "--data", "data", "--json"]);
    assert_eq!(ran.json()["read_before"], 0, "{}", ran.err);
}

#[test]
fn a_site_that_throttles_is_asked_again_after_the_pause_that_it_wants() {
    let here = folder();
    let site = Tracker::start(Plan::default());
    learn(here.path(), &site, "usual.toml", &[]).ended(0);
    site.take(Plan { throttles: (12, 13, 1), ..Plan::default() });
    learn(here.path(), &site, "throttled.toml", &[]).ended(0);
    assert_eq!(text(here.path(), "throttled.toml"), text(here.path(), "usual.toml"));
    let seen = std::mem::take(&mut site.seen.lock().unwrap().asked);
    assert_eq!(seen[11].0, seen[12].0, "the same page");
    assert!((seen[12].1 - seen[11].1).as_millis() >= 950, "{:?}", &seen[11..13]);
    // One that wants a day is left alone.
    site.take(Plan { throttles: (12, usize::MAX, 86_400), ..Plan::default() });
    learn(here.path(), &site, "closed.toml", &[]);
    assert_eq!(site.take(Plan::default()).len(), 12);
}

#[test]
fn a_session_that_ends_midway_is_renewed_and_the_pages_since_are_asked_for_again() {
    let here = folder();
    let private = Plan { is_private: true, ..Plan::default() };
    let site = Tracker::start(private);
    password(here.path(), &site);
    let account = ["--account", "anna"];
    learn(here.path(), &site, "usual.toml", &account).ended(0);
    let usual = site.take(Plan { logs_out_at: Some(20), ..private });
    assert!(usual.len() > 22, "{usual:?}");
    let logins = site.seen.lock().unwrap().logins;
    let ran = learn(here.path(), &site, "lost.toml", &account).ended(0);
    assert!(unfolded(&ran.err).contains("the session has ended: logging in again"), "{}", ran.err);
    assert_eq!(text(here.path(), "lost.toml"), text(here.path(), "usual.toml"));
    assert!(site.seen.lock().unwrap().logins > logins);
    let lost = site.take(private);
    assert!(
        lost.len() < usual.len() + 20,
        "what was read before is not asked for again: {} {}",
        usual.len(),
        lost.len()
    );
    for file in fs::read_dir(here.path().join("data/learned")).unwrap() {
        let kept = fs::read(file.unwrap().path()).unwrap();
        for secret in ["s3cretPass", "sid="] {
            assert!(!kept.windows(secret.len()).any(|of| of == secret.as_bytes()), "{secret}");
        }
    }
}

#[test]
fn a_site_that_changes_while_it_is_learned_costs_no_more_and_its_file_is_valid() {
    let here = folder();
    for at in [8, 15, 25] {
        let site = Tracker::start(Plan { changes_at: Some(at), ..Plan::default() });
        let file = format!("changed{at}.toml");
        let told = learn(here.path(), &site, &file, &[]);
        assert!(site.take(Plan::default()).len() <= 151);
        if told.code == Some(0) {
            run(here.path(), &["rules", "check", &file]).ended(0);
        } else {
            assert!(!here.path().join(&file).exists() && told.out.contains("\"why\""), "{}", told.out);
        }
    }
}

#[test]
fn new_looks_first_and_writes_what_it_knows_and_offline_sends_nothing() {
    let here = folder();
    let site = Tracker::start(Plan::default());
    let new = |url: &str, rules: &str, more: &[&str]| {
        run(here.path(), &[&["rules", "new", url, "--rules", rules, "--data", "data"], more].concat())
    };
    let ran = new(&site.url(), "a", &[]).ended(0);
    assert!(ran.out.contains("detail") && ran.out.contains("this is what"), "{}", ran.out);
    assert!(site.take(Plan::default()).len() <= 21);
    let file = format!("a/{}.toml", site.origin[7..].replace(':', "-"));
    run(here.path(), &["rules", "check", &file]).ended(0);
    new(&site.url(), "b", &["--offline"]).ended(0);
    assert!(site.take(Plan::default()).is_empty());
    // No torrent is seen, but the site is there: a file to fill in.
    let closed = Tracker::start(Plan { is_private: true, ..Plan::default() });
    new(&closed.url(), "c", &[]).ended(0).says(&["the site asks for a login", "wrote c/127.0.0.1-", "--account USER"]);
    let ran = new(&format!("http://127.0.0.1:{}/", crate::cli::harness::closed_port()), "d", &[]).ended(1);
    assert!(unfolded(&ran.err).contains("rules new --offline"), "{}", ran.err);
    assert_eq!(fs::read_dir(here.path().join("d")).unwrap().count(), 0);
}
