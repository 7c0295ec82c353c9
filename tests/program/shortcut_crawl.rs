//! Crawls of a list of twenty pages that a script builds from an API: rendered a few times, then read through the learned endpoint;
//! rendered again once the API changes or moves; together with the page if that has a token; and without an engine at all if
//! the endpoint is pinned.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

const PAGES: usize = 20;
const PER_PAGE: usize = 10;

const SCRIPT: &str = "const app = document.getElementById('app');
    const own = Number(new URLSearchParams(location.search).get('page') || 1);
    const link = (href) => { const a = document.createElement('a'); a.href = href; app.appendChild(a); };
    const token = document.querySelector('meta[name=csrf]');
    const headers = { 'X-Requested-With': 'app', ...(token && { 'X-CSRF': token.content }) };
    const data = (path, tries = 3) => fetch(path + '?page=' + own, { headers }).then(r => r.status == 500 && tries ? data(path, tries - 1) : r);
    data('/api/list').then(r => r.status == 404 ? data('/v2/list') : r).then(r => r.json()).then(d => {
        for (const t of d.items || d.torrents.list) link('/d/' + (t.id || t.number) + '.torrent');
        const last = Math.ceil(d.total / 10);
        for (const n of [own - 1, own + 1, 1, last]) if (n >= 1 && n <= last && n != own) link('/list?page=' + n); });";

/// Requests to the site.
#[derive(Default)]
struct Log {
    paths: Mutex<Vec<String>>,
    api: AtomicUsize,
    change: Change,
    /// From this request on, the API is different.
    changes_at: usize,
}

/// What happens to the API.
#[derive(Clone, Copy, Default, PartialEq)]
enum Change {
    #[default]
    Shape,
    /// It moves, and its old URL is gone.
    Moves,
    /// From the first request on it requires a token from the page's own markup, different for each page.
    WantsToken,
    /// Of the first requests every other one fails.
    Stumbles,
}

impl Log {
    fn count(&self, front: &str) -> usize {
        self.paths.lock().unwrap().iter().filter(|path| path.starts_with(front)).count()
    }
}

fn token(page: usize) -> String {
    format!("t{:08x}", page * 0x9e37_79b1 % 0x1_0000_0000)
}

fn answer(path: &str, head: &[String], log: &Log) -> (u16, &'static str, String) {
    let has = |line: &str| head.iter().any(|other| other.eq_ignore_ascii_case(line));
    if let Some(page) = path.strip_prefix("/list?page=").and_then(|page| page.parse::<usize>().ok()) {
        let meta = format!("<meta name=csrf content={}>", token(page));
        let meta = if log.change == Change::WantsToken { meta } else { String::new() };
        return (200, "text/html", format!("<!doctype html>{meta}<div id=app></div><script src=/app.js></script>"));
    }
    if path == "/app.js" {
        return (200, "text/javascript", SCRIPT.to_owned());
    }
    let (is_old, is_new) = (path.starts_with("/api/list?"), path.starts_with("/v2/list?"));
    let page = path.split_once("?page=").and_then(|(_, page)| page.parse::<usize>().ok());
    if let Some(page) = page.filter(|_| is_old || is_new) {
        let has_token = log.change != Change::WantsToken || has(&format!("x-csrf: {}", token(page)));
        if !has("x-requested-with: app") || !has_token {
            return (403, "text/plain", String::new());
        }
        let ids = if (1..=PAGES).contains(&page) { (page - 1) * PER_PAGE..page * PER_PAGE } else { 0..0 };
        let number = log.api.fetch_add(1, Ordering::Relaxed);
        if log.change == Change::Stumbles && number < log.changes_at && number.is_multiple_of(2) {
            return (500, "text/plain", String::new());
        }
        let is_another = number >= log.changes_at;
        if log.change == Change::Moves && is_another == is_old {
            return (404, "text/plain", String::new());
        }
        let is_changed = log.change == Change::Shape && is_another;
        let rows: Vec<String> = ids
            .map(|id| {
                format!("{{\"{}\":{},\"title\":\"No {id}\"}}", if is_changed { "number" } else { "id" }, id + 7_000)
            })
            .collect();
        let (total, rows) = (PAGES * PER_PAGE, rows.join(","));
        let body = match is_changed {
            false => format!("{{\"total\":{total},\"items\":[{rows}]}}"),
            true => format!("{{\"total\":{total},\"torrents\":{{\"list\":[{rows}]}}}}"),
        };
        return (200, "application/json", body);
    }
    let number = path.strip_prefix("/d/").and_then(|name| name.strip_suffix(".torrent"));
    number.map_or((404, "text/plain", String::new()), |number| {
        let name = format!("file-{number}.iso");
        let info =
            format!("d6:lengthi1000e4:name{}:{name}12:piece lengthi16384e6:pieces20:{}e", name.len(), "x".repeat(20));
        (200, "application/x-bittorrent", format!("d8:announce16:http://127.0.0.14:info{info}e"))
    })
}

fn serve(stream: TcpStream, log: &Log) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    log.paths.lock().unwrap().push(path.clone());
    let (status, kind, body) = answer(&path, &head, log);
    let length = body.len();
    write!(
        writer,
        "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .ok()
}

struct Site {
    log: Arc<Log>,
    port: u16,
    here: tempfile::TempDir,
}

impl Site {
    fn new(change: Change, changes_at: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let log = Arc::new(Log { change, changes_at, ..Log::default() });
        let of_server = Arc::clone(&log);
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| {
                serve(stream, &of_server);
            });
        });
        Self { log, port, here: tempfile::tempdir().unwrap() }
    }

    fn gleaner(&self, arguments: &[&str]) -> (bool, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        let folders = [("--rules", "rules"), ("--data", "data")];
        command.args(arguments);
        for (option, folder) in folders {
            command.arg(option).arg(self.here.path().join(folder));
        }
        let output = command.output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        (output.status.success(), told)
    }

    /// Crawls with these lines in the rule file; returns the number of torrents in the archive.
    fn crawled(&self, lines: &str, arguments: &[&str]) -> (usize, String) {
        self.crawled_from(&[], lines, arguments)
    }

    /// The same with more start URLs.
    fn crawled_from(&self, starts: &[String], lines: &str, arguments: &[&str]) -> (usize, String) {
        let rules = self.here.path().join("rules");
        std::fs::create_dir_all(&rules).unwrap();
        let text = format!(
            "start = ['http://127.0.0.1:{}/list?page=1',{}]\n[classes]\nindex = ['^/list\\?page=(?<page>\\d+)$']\n\
             download = ['\\.torrent$']\n[rate]\nrequests_per_second = 1000\nconnections = 1\nrest_factor = 0\n{lines}",
            self.port,
            starts.join(",")
        );
        write(&rules.join("spa.toml"), &text);
        let (_, told) = self.gleaner(&[&["crawl", "spa", "--max-time", "100"], arguments].concat());
        let line = told.lines().find(|line| line.starts_with("torrents ")).unwrap_or_else(|| panic!("{told}"));
        (line.split_whitespace().nth(1).unwrap().parse().unwrap(), told)
    }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).unwrap();
}

#[test]
fn a_list_that_a_script_builds_is_rendered_a_few_times_and_then_read_from_its_endpoint_which_can_be_pinned() {
    let site = Site::new(Change::Shape, usize::MAX);
    // Stopped midway, so that another process resumes with what was learned.
    let (before, _) = site.crawled("", &["--max-pages", "60"]);
    let (torrents, told) = site.crawled("", &["-v"]);
    assert_eq!(before + torrents, PAGES * PER_PAGE, "{told}");
    let (shells, data) = (site.log.count("/list"), site.log.count("/api"));
    // Three for learning, one or two for checks, one each for visits that the end of the first process interrupted.
    assert!((3..=8).contains(&shells), "{shells} of {PAGES} pages were asked for themselves\n{told}");
    assert!((PAGES..=PAGES + 6).contains(&data), "{data} requests for the data of {PAGES} pages");
    assert!(told.contains("by its endpoint: 10 records, 1 requests"), "{told}");

    let page = format!("http://127.0.0.1:{}/list?page=9", site.port);
    let (_, told) = site.gleaner(&["rules", "explain", &page]);
    for wanted in [
        "endpoint    GET /api/list?page={@query.page} (learned)",
        "records     items",
        "link        /d/{id}.torrent",
        "pages visited",
    ] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    let (_, told) = site.gleaner(&["rules", "explain", "spa"]);
    assert!(told.contains("index\n  endpoint    GET /api/list?page={@query.page} (learned)"), "{told}");

    let (is_well, table) = site.gleaner(&["rules", "explain", "spa", "--pin"]);
    assert!(is_well && table.contains("[shortcut.index]"), "{table}");
    let pinned = Site::new(Change::Shape, usize::MAX);
    let table = table.replace(&site.port.to_string(), &pinned.port.to_string());
    let (torrents, told) = pinned.crawled(&format!("[render]\nindex = 'never'\n{table}"), &[]);
    assert_eq!(torrents, PAGES * PER_PAGE, "{table}\n{told}");
    let (shells, data) = (pinned.log.count("/list"), pinned.log.count("/api"));
    // And one after the last, to see that it is the last: both once more where others were read after it.
    assert_eq!((shells, pinned.log.count("/app")), (0, 0), "no page itself");
    assert!([PAGES + 1, PAGES + 3].contains(&data), "{data} requests for the data of {PAGES} pages");
}

#[test]
fn an_interface_that_changes_its_shape_is_rendered_again_and_nothing_is_lost() {
    let site = Site::new(Change::Shape, 12);
    let (torrents, told) = site.crawled("", &["-v"]);
    assert_eq!(torrents, PAGES * PER_PAGE, "{told}");
    assert!(told.contains("the endpoint no longer works"), "{told}");
    assert!(told.contains("by its endpoint"), "{told}");
    let (_, told) = site.gleaner(&["rules", "explain", "spa"]);
    assert!(told.contains("differed"), "{told}");
}

#[test]
fn a_token_of_the_pages_own_markup_is_read_from_it_and_the_data_are_asked_for_beside_the_page() {
    let site = Site::new(Change::WantsToken, 0);
    let (torrents, told) = site.crawled("", &["-v"]);
    assert_eq!(torrents, PAGES * PER_PAGE, "{told}");
    let (shells, data) = (site.log.count("/list"), site.log.count("/api"));
    // A render of the last page confirms that the list ends there, as its data did, and verifies the endpoint: once more where
    // others were read after it.
    let counts = [(PAGES, PAGES + 1), (PAGES + 1, PAGES + 3)];
    assert!(counts.contains(&(shells, data)), "{shells} pages, {data} requests for data: {told}");
    assert!(told.matches("by its endpoint").count() >= PAGES / 2, "{told}");
    let (_, explained) = site.gleaner(&["rules", "explain", "spa"]);
    assert!(explained.contains("{@meta.csrf}"), "{explained}");
}

#[test]
fn an_interface_that_moves_is_found_again_and_nothing_is_lost() {
    let site = Site::new(Change::Moves, 12);
    let (torrents, told) = site.crawled("", &["-v"]);
    assert_eq!(torrents, PAGES * PER_PAGE, "{told}");
    assert!(told.contains("the endpoint no longer works"), "{told}");
    let (_, explained) = site.gleaner(&["rules", "explain", "spa"]);
    assert!(explained.contains("GET /v2/list?page={@query.page} (learned)"), "{explained}");
}

#[test]
fn an_interface_that_fails_at_times_is_learned_from_pages_whose_scripts_ask_again() {
    let site = Site::new(Change::Stumbles, 12);
    let (torrents, told) = site.crawled("", &["-v"]);
    assert_eq!(torrents, PAGES * PER_PAGE, "{told}");
    let (shells, fails) = (site.log.count("/list"), 6);
    assert!((3..=10).contains(&shells), "{shells} of {PAGES} pages were asked for themselves\n{told}");
    assert!(told.contains("by its endpoint"), "{told}");
    assert!(site.log.count("/api") <= PAGES + 6 + fails, "{told}");
}

#[test]
fn a_pinned_interface_that_is_gone_is_not_asked_for_ever() {
    let site = Site::new(Change::Moves, 0);
    let pin = "[render]\nindex = 'never'\n[shortcut.index]\nurl = '/api/list?page={@query.page}'\nitems = 'items'\n\
        link = ['/d/{id}.torrent']\nheaders = { x-requested-with = 'app' }\n";
    let starts: Vec<String> =
        (2..=PAGES).map(|page| format!("'http://127.0.0.1:{}/list?page={page}'", site.port)).collect();
    let (torrents, told) = site.crawled_from(&starts, pin, &["-v"]);
    assert_eq!(torrents, 0, "{told}");
    // Three in a row, then one in ten; and once more at the end.
    let (shells, data) = (site.log.count("/list"), site.log.count("/api"));
    assert!(
        shells == PAGES + 1 && (3..=7).contains(&data),
        "{data} requests for data that are gone, {shells} pages: {told}"
    );
    assert!(told.contains("the endpoint no longer works"), "{told}");
}
