//! Crawls through endpoints whose renders show nothing, that fail now and then, or that are on other hosts than the pages: nothing is lost.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::{Value as Json, json};

/// A host's response: for the host, the ports of all, the path, its page number, and how often that path was requested before.
type Answers = dyn Fn(usize, &[u16], &str, usize, usize) -> (u16, String) + Send + Sync;

struct Site {
    log: Arc<Mutex<Vec<(usize, String)>>>,
    ports: Vec<u16>,
    here: tempfile::TempDir,
}

fn torrent(number: usize) -> Vec<u8> {
    let name = format!("file-{number}.iso");
    let info = format!("d6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:{}e", name.len(), "x".repeat(20));
    format!("d8:announce16:http://127.0.0.14:info{info}e").into_bytes()
}

fn serve(
    stream: TcpStream,
    (host, ports): (usize, &[u16]),
    answers: &Answers,
    log: &Mutex<Vec<(usize, String)>>,
) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let asked = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
    let before = {
        let mut log = log.lock().unwrap();
        let before = log.iter().filter(|(of, path)| *of == host && *path == asked).count();
        log.push((host, asked.clone()));
        before
    };
    let path = asked.split('?').next()?;
    let page = asked.split_once("page=").map_or("1", |(_, page)| page.split('&').next().unwrap_or_default());
    let (status, kind, body) = match path.strip_prefix("/dl/").and_then(|name| name.strip_suffix(".torrent")) {
        Some(number) => (200, "application/x-bittorrent", torrent(number.parse().ok()?)),
        None => {
            let (status, body) = answers(host, ports, path, page.parse().ok()?, before);
            let is_data = body.starts_with(['{', '[']);
            (status, if is_data { "application/json" } else { "text/html" }, body.into_bytes())
        }
    };
    write!(
        writer,
        "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\naccess-control-allow-origin: *\r\ncontent-length: {}\r\n\
         connection: close\r\n\r\n",
        body.len()
    )
    .ok()?;
    writer.write_all(&body).ok()
}

impl Site {
    fn new(
        hosts: usize,
        answers: impl Fn(usize, &[u16], &str, usize, usize) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listeners: Vec<TcpListener> = (0..hosts).map(|_| TcpListener::bind("127.0.0.1:0").unwrap()).collect();
        let ports: Vec<u16> = listeners.iter().map(|one| one.local_addr().unwrap().port()).collect();
        let log: Arc<Mutex<Vec<(usize, String)>>> = Arc::default();
        let answers: Arc<Answers> = Arc::new(answers);
        for (host, listener) in listeners.into_iter().enumerate() {
            let (answers, ports, log) = (Arc::clone(&answers), ports.clone(), Arc::clone(&log));
            std::thread::spawn(move || {
                for stream in listener.incoming().flatten() {
                    serve(stream, (host, &ports), &*answers, &log);
                }
            });
        }
        Self { log, ports, here: tempfile::tempdir().unwrap() }
    }

    /// Crawls from `/list` of each of these hosts; returns the number of torrents found, and the output. `H0` in the lines is the
    /// first host.
    fn crawled(&self, starts: &[usize], lines: &str) -> (usize, String) {
        let of = |host: &usize| format!("127.0.0.1:{}", self.ports[*host]);
        let starts: Vec<String> = starts.iter().map(|host| format!("http://{}/list", of(host))).collect();
        let all: Vec<String> = (0..self.ports.len()).map(|host| of(&host)).collect();
        let mut text = format!(
            "start = {starts:?}\nhosts = {all:?}\n[classes]\nindex = ['^/list(\\?page=(?<page>\\d+))?$']\n\
             download = ['\\.torrent$']\n[rate]\nrequests_per_second = 1000\nconnections = 1\nrest_factor = 0\n{lines}"
        );
        for (number, host) in all.iter().enumerate() {
            text = text.replace(&format!("H{number}"), host);
        }
        let rules = self.here.path().join("rules");
        std::fs::create_dir_all(&rules).unwrap();
        std::fs::write(rules.join("s.toml"), text).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(["crawl", "s", "--max-time", "200", "-v", "--rules"]).arg(&rules);
        let output = command.arg("--data").arg(self.here.path().join("data")).output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let line = told.lines().find(|line| line.starts_with("torrents ")).unwrap_or_else(|| panic!("{told}"));
        (line.split_whitespace().nth(1).unwrap().parse().unwrap(), told)
    }

    fn count(&self, host: usize, front: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|(of, path)| *of == host && path.starts_with(front)).count()
    }
}

/// Three records of a page, out of this many pages, with a unique number each.
fn data(page: usize, pages: usize, from: usize) -> Json {
    let ids = if (1..=pages).contains(&page) { 0..3 } else { 0..0 };
    let items: Vec<Json> = ids.map(|at| json!({ "id": from + page * 10 + at })).collect();
    json!({ "page": page, "pages": pages, "items": items })
}

const PIN: &str = "[shortcut.index]\nurl = '/api/list?page={@query.page|1}'\nitems = 'items'\n\
    link = ['/dl/{id}.torrent']\npages = { number = '@query.page', last = 'pages', near = 1 }\n";

#[test]
fn a_pin_is_used_for_all_pages_whether_or_not_renders_of_them_show_anything() {
    for (page_of_list, needs_page) in [
        ("<!doctype html><title>list</title><p>list</p>", false),
        ("<!doctype html><title>list</title><div id=app></div><script>new Worker('/w.js')</script>", false),
        ("<!doctype html><meta name=key content=k7><div id=app></div><script>new Worker('/w.js')</script>", true),
    ] {
        let site = Site::new(1, move |_, _, path, page, _| match path {
            "/list" => (200, page_of_list.to_owned()),
            "/api/list" => (200, data(page, 40, 0).to_string()),
            _ => (404, String::new()),
        });
        let pin = if needs_page { PIN.replace("|1}'", "|1}&key={@meta.key}'") } else { PIN.to_owned() };
        let (torrents, told) = site.crawled(&[0], &pin);
        assert_eq!(torrents, 120, "{page_of_list}: {told}");
        let (shells, data) = (site.count(0, "/list"), site.count(0, "/api"));
        // The tenth, the thirtieth, and those checked at the end.
        assert!(needs_page || (2..=8).contains(&shells), "{shells} pages were asked for themselves: {told}");
        assert!((40..=48).contains(&data), "{data} requests for the data of 40 pages: {told}");
    }
}

#[test]
fn a_pin_that_fails_for_a_page_is_in_use_for_the_others_and_that_page_is_visited_again() {
    for lines in ["", "[render]\nindex = 'never'\n"] {
        for status in [403, 400, 200] {
            let site = Site::new(1, move |_, _, path, page, before| match path {
                "/list" => (200, "<!doctype html><p>list</p>".to_owned()),
                // Pages 3 and 4 fail once, page 20 always.
                "/api/list" if page == 20 || (before == 0 && [3, 4].contains(&page)) => (status, "nothing".to_owned()),
                "/api/list" => (200, data(page, 19, 0).to_string()),
                _ => (404, String::new()),
            });
            let (torrents, told) = site.crawled(&[0], &format!("{lines}{PIN}"));
            assert_eq!(torrents, 57, "{lines} {status}: {told}");
            assert!(told.contains("the pinned endpoint fails for this page"), "{told}");
        }
    }
}

#[test]
fn a_pinned_interface_that_comes_back_is_used_for_what_it_has_missed() {
    // A list whose pages link to each other without scripts, and show no torrent.
    let calls = AtomicUsize::new(0);
    let site = Site::new(1, move |_, _, path, page, _| match path {
        "/list" => (200, format!("<!doctype html><a href='/list?page={}'>next</a>", page % 30 + 1)),
        "/api/list" if (5..=9).contains(&calls.fetch_add(1, Ordering::Relaxed)) => (403, String::new()),
        "/api/list" => (200, data(page, 30, 0).to_string()),
        _ => (404, String::new()),
    });
    let pin = PIN.replace("pages = {", "with_page = true\npages = {");
    let (torrents, told) = site.crawled(&[0], &format!("[render]\nindex = 'never'\n{pin}"));
    assert_eq!(torrents, 90, "{told}");
    assert!(told.contains("the endpoint no longer works") && told.contains("visited again"), "{told}");
}

#[test]
fn what_is_asked_before_at_another_host_needs_no_second_connection() {
    let site = Site::new(2, |host, _, path, page, _| match (host, path) {
        (0, "/list") => (200, "<!doctype html><p>list</p>".to_owned()),
        (1, "/token") => (200, json!({ "token": "t1" }).to_string()),
        (1, "/api/list") => (200, data(page, 4, 0).to_string()),
        _ => (404, String::new()),
    });
    let pin = "[render]\nindex = 'never'\n[shortcut.index]\n\
        url = 'http://H1/api/list?page={@query.page|1}&t={@before.token}'\nbefore = { url = 'http://H1/token' }\n\
        items = 'items'\nlink = ['http://H0/dl/{id}.torrent']\npages = { number = '@query.page', last = 'pages' }\n";
    let (torrents, told) = site.crawled(&[0], pin);
    assert_eq!(torrents, 12, "{told}");
    assert!(!told.contains("time for requests is used up"), "{told}");
    // The first under two URLs, and one after the last.
    assert_eq!((site.count(0, "/list"), site.count(1, "/token"), site.count(1, "/api")), (0, 5, 6), "{told}");
}

#[test]
fn lists_of_two_hosts_are_told_apart() {
    // Each list's API is on a third host, under a name that the pages' URLs do not contain.
    let site = Site::new(3, |host, ports, path, page, _| match path {
        "/list" => {
            let name = ["films", "games"][host.min(1)];
            let script = format!(
                "const own = Number(new URLSearchParams(location.search).get('page') || 1), host = 'http://127.0.0.1:{}';
                 const add = (href) => {{ const a = document.createElement('a'); a.href = href; app.appendChild(a); }};
                 fetch(host + '/{name}?page=' + own).then(r => r.json()).then(d => {{
                     for (const t of d.items) add(host + '/dl/' + t.id + '.torrent');
                     if (own < d.pages) add('/list?page=' + (own + 1)); }});",
                ports[2],
            );
            (200, format!("<!doctype html><div id=app></div><script>{script}</script>"))
        }
        "/films" => (200, data(page, 30, 0).to_string()),
        "/games" => (200, data(page, 30, 5_000).to_string()),
        _ => (404, String::new()),
    });
    let (torrents, told) = site.crawled(&[0, 1], "");
    assert_eq!(torrents, 180, "{told}");
    assert!(told.contains("by its endpoint"), "{told}");
    for host in [0, 1] {
        let shells = site.count(host, "/list");
        assert!(shells <= 12, "{shells} of 30 pages of host {host} were asked for themselves: {told}");
    }
}

#[test]
fn a_list_by_its_records_numbers_is_learned_and_can_be_pinned() {
    let rows = |page: usize| -> Json {
        let ids = (1..=3)
            .filter(|_| (1..=20).contains(&page))
            .map(|at| (format!("{}", 700 + page * 10 + at), json!({ "name": "x" })));
        let all: serde_json::Map<String, Json> = ids.collect();
        // Like PHP's encoding.
        if all.is_empty() { json!([]) } else { Json::Object(all) }
    };
    let script = "const own = Number(new URLSearchParams(location.search).get('page') || 1);
        const add = (href) => { const a = document.createElement('a'); a.href = href; app.appendChild(a); };
        fetch('/api/list?page=' + own).then(r => r.json()).then(d => {
            for (const [id, t] of Object.entries(d.torrents)) add('/dl/' + id + '.torrent');
            if (own < d.pages) add('/list?page=' + (own + 1)); });";
    let site = || {
        Site::new(1, move |_, _, path, page, _| match path {
            "/list" => (200, format!("<!doctype html><div id=app></div><script>{script}</script>")),
            "/api/list" => (200, json!({ "pages": 20, "torrents": rows(page) }).to_string()),
            _ => (404, String::new()),
        })
    };
    let learned = site();
    let (torrents, told) = learned.crawled(&[0], "");
    assert_eq!(torrents, 60, "{told}");
    assert!(told.contains("by its endpoint: 3 records, 1 requests"), "{told}");
    let shells = learned.count(0, "/list");
    assert!(shells <= 9, "{shells} of 20 pages were asked for themselves: {told}");
    let pinned = site();
    let pin = PIN.replace("'items'", "'torrents{*}'").replace("{id}", "{@name}");
    let (torrents, told) = pinned.crawled(&[0], &format!("[render]\nindex = 'never'\n{pin}"));
    assert_eq!((torrents, pinned.count(0, "/list")), (60, 0), "{told}");
}
