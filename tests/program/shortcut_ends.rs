//! The end of a list, and visits through an endpoint that proved wrong: nothing is lost through a response member that only looks like a
//! count, an API that moves a part of its records, a wrong pin, or an error page in place of the data.

use std::collections::{BTreeMap, HashMap};
use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use gleaner_page::shortcut::book::KeptBook;
use gleaner_page::shortcut::endpoint::{Difference, Endpoint};
use gleaner_page::shortcut::written::Written;
use gleaner_page::shortcut::{ClassShortcuts, Event, Exchange, Link, Observation, learn};
use serde_json::{Value as Json, json};
use url::Url;

type Api = dyn Fn(&HashMap<String, usize>, &str, usize) -> (u16, String) + Send + Sync;

/// A site whose lists are built by a script from an API.
struct Site {
    log: Arc<Mutex<Vec<String>>>,
    port: u16,
    here: tempfile::TempDir,
}

fn serve(stream: TcpStream, script: &str, api: &Api, log: &Mutex<Vec<String>>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let _: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let calls = {
        let mut log = log.lock().unwrap();
        log.push(path.clone());
        log.iter().filter(|path| path.starts_with("/api")).count()
    };
    let (address, query) = path.split_once('?').unwrap_or((&path, ""));
    let number = address.strip_prefix("/d/").and_then(|name| name.strip_suffix(".torrent")?.parse::<u32>().ok());
    let (status, kind, body) = match (address, number) {
        (_, Some(number)) => {
            let name = format!("file-{number}.iso");
            let pieces = "x".repeat(20);
            let info = format!("d6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:{pieces}e", name.len());
            (200, "application/x-bittorrent", format!("d8:announce16:http://127.0.0.14:info{info}e"))
        }
        ("/app.js", _) => (200, "text/javascript", script.to_owned()),
        (address, _) if address.starts_with("/api") => {
            let pairs = query.split('&').filter_map(|pair| {
                let (name, value) = pair.split_once('=')?;
                Some((name.to_owned(), value.parse().ok()?))
            });
            let (status, body) = api(&pairs.collect(), address, calls);
            (status, if body.starts_with('<') { "text/html" } else { "application/json" }, body)
        }
        (address, _) if address.starts_with("/list") => {
            (200, "text/html", "<!doctype html><div id=app></div><script src=/app.js></script>".to_owned())
        }
        _ => (404, "text/plain", String::new()),
    };
    let length = body.len();
    write!(
        writer,
        "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .ok()
}

impl Site {
    fn new(
        script: String,
        api: impl Fn(&HashMap<String, usize>, &str, usize) -> (u16, String) + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let log: Arc<Mutex<Vec<String>>> = Arc::default();
        let of_server = Arc::clone(&log);
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| {
                serve(stream, &script, &api, &of_server);
            });
        });
        Self { log, port, here: tempfile::tempdir().unwrap() }
    }

    fn gleaner(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        command.args(arguments);
        for (option, folder) in [("--rules", "rules"), ("--data", "data")] {
            command.arg(option).arg(self.here.path().join(folder));
        }
        let output = command.output().unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
    }

    fn write_rules(&self, lines: &str) {
        let rules = self.here.path().join("rules");
        std::fs::create_dir_all(&rules).unwrap();
        let text = format!(
            "start = ['http://127.0.0.1:{}/list']\n[classes]\nindex = ['^/list(-[ab])?(\\?\\w+=(?<page>\\d+))?$']\n\
             download = ['\\.torrent$']\n[rate]\nrequests_per_second = 1000\nconnections = 1\nrest_factor = 0\n{lines}",
            self.port
        );
        std::fs::write(rules.join("s.toml"), text).unwrap();
    }

    /// Runs the service until it has this many torrents, or until the time limit; returns how many it has, and its output.
    fn served(&self, torrents: usize) -> (usize, String) {
        self.write_rules("");
        let told = self.here.path().join("told");
        let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
        for (option, folder) in [("--rules", "rules"), ("--data", "data")] {
            command.arg(option).arg(self.here.path().join(folder));
        }
        let log = std::fs::File::create(&told).unwrap();
        let mut service = command.args(["run", "-v"]).stderr(log).stdout(Stdio::null()).spawn().unwrap();
        let mut stored = 0;
        for _ in 0..240 {
            std::thread::sleep(Duration::from_millis(500));
            let status = self.gleaner(&["status", "--json"]);
            let status: Json = serde_json::from_str(status.lines().next().unwrap_or_default()).unwrap_or_default();
            stored = status["sites"][0]["torrents"].as_u64().unwrap_or(0) as usize;
            if stored >= torrents || service.try_wait().unwrap().is_some() {
                break;
            }
        }
        let _ = service.kill();
        service.wait().unwrap();
        (stored, std::fs::read_to_string(told).unwrap())
    }

    /// Crawls with these lines in the rule file; returns how many torrents it has stored, and its output.
    fn crawled(&self, lines: &str) -> (usize, String) {
        self.write_rules(lines);
        let told = self.gleaner(&["crawl", "s", "--max-time", "300", "-v"]);
        let line = told.lines().find(|line| line.starts_with("torrents ")).unwrap_or_else(|| panic!("{told}"));
        (line.split_whitespace().nth(1).unwrap().parse().unwrap(), told)
    }

    fn count(&self, front: &str) -> usize {
        self.log.lock().unwrap().iter().filter(|path| path.starts_with(front)).count()
    }
}

/// Rows from a record on, newest first: their numbers descend to 1.
fn rows(total: usize, from: usize, size: usize) -> Vec<Json> {
    (from..total.min(from + size)).map(|at| json!({ "id": total - at, "name": format!("No {at}") })).collect()
}

/// A script that shows the rows of `/api` and links the previous and the next page, while `has_next` holds.
fn next_only(parameter: &str, first: usize, step: usize, has_next: &str) -> String {
    format!(
        "const own = Number(new URLSearchParams(location.search).get('{parameter}') || {first});
         const link = (href) => {{ const a = document.createElement('a'); a.href = href;
             document.getElementById('app').appendChild(a); }};
         fetch('/api?{parameter}=' + own).then(r => r.json()).then(d => {{
             for (const t of (d.rows || []).concat(d.moved ? d.moved.list : [])) link('/d/' + t.id + '.torrent');
             if (own > {first}) link('/list?{parameter}=' + (own - {step}));
             if ({has_next}) link('/list?{parameter}=' + (own + {step})); }});"
    )
}

#[test]
fn a_number_of_the_last_record_is_no_total_and_a_list_without_one_is_read_to_its_end() {
    const TOTAL: usize = 205;
    let shapes: [(&str, usize, usize, &str, bool); 3] = [
        // Half of the list would be lost at the point where the descending number of the last record meets the page's ascending one.
        ("start", 0, 10, "own + 10 < d.total", true),
        ("start", 0, 10, "d.rows.length == 10", false),
        ("page", 1, 1, "d.rows.length == 10", false),
    ];
    for (parameter, first, step, has_next, has_total) in shapes {
        let site = Site::new(next_only(parameter, first, step, has_next), move |query, _, _| {
            let rows = rows(TOTAL, (query[parameter] - first) * 10 / step, 10);
            (200, if has_total { json!({ "rows": rows, "total": TOTAL }) } else { json!({ "rows": rows }) }.to_string())
        });
        let (torrents, told) = site.crawled("");
        assert_eq!(torrents, TOTAL, "{parameter} {has_total}: {told}");
        let shells = site.count("/list");
        assert!(shells <= 10, "{shells} of 21 pages were asked for themselves: {told}");
    }
}

#[test]
fn a_count_that_was_none_is_found_out_where_it_ends_the_list_and_what_it_cost_is_read_again() {
    // `page_views` is steady and named like a number of pages, and no other member has one.
    let site = Site::new(next_only("page", 1, 1, "d.rows.length == 10"), |query, _, _| {
        (200, json!({ "page_views": 17, "rows": rows(245, (query["page"] - 1) * 10, 10) }).to_string())
    });
    let (torrents, told) = site.crawled("");
    assert_eq!(torrents, 245, "{told}");
    assert!(told.contains("is after the end that the answer gives"), "{told}");
}

#[test]
fn a_pin_that_ends_a_list_too_early_loses_nothing() {
    let site = Site::new(next_only("page", 1, 1, "d.rows.length == 10"), |query, _, _| {
        (200, json!({ "views": 4, "rows": rows(95, (query["page"] - 1) * 10, 10) }).to_string())
    });
    let pin = "[render]\nindex = 'never'\n[shortcut.index]\nurl = '/api?page={@query.page|1}'\nitems = 'rows'\n\
        link = ['/d/{id}.torrent']\npages = { number = '@query.page', last = 'views' }\n";
    let (torrents, told) = site.crawled(pin);
    assert_eq!(torrents, 95, "{told}");
    assert!(told.contains("the data continue after the page that the endpoint takes for the last"), "{told}");
    assert_eq!(site.count("/list"), 0);
    let explained = site.gleaner(&["rules", "explain", "s"]);
    assert!(explained.contains("by no render, as pages of the class are never rendered; "), "{explained}");
}

#[test]
fn what_a_wrong_pin_has_visited_is_visited_again_once_it_is_corrected_and_only_then() {
    let site = Site::new(next_only("page", 1, 1, "own < d.pages"), |query, _, _| {
        (200, json!({ "pages": 8, "rows": rows(80, (query["page"] - 1) * 10, 10) }).to_string())
    });
    let pin = |member: &str| {
        format!(
            "[render]\nindex = 'never'\n[shortcut.index]\nurl = '/api?page={{@query.page|1}}'\nitems = 'rows'\n\
             link = ['/d/{{{member}}}.torrent']\npages = {{ number = '@query.page', last = 'pages' }}\n"
        )
    };
    // Names are no numbers: there is no torrent at such URLs.
    let (torrents, told) = site.crawled(&pin("name %"));
    let asked = site.count("/api");
    assert!(torrents == 0 && asked >= 8, "{told}");
    let (torrents, told) = site.crawled(&pin("name %"));
    assert_eq!((torrents, site.count("/api")), (0, asked), "nothing was corrected: {told}");
    let (torrents, told) = site.crawled(&pin("id"));
    assert_eq!(torrents, 80, "{told}");
    assert!(site.count("/api") >= asked + 8, "{told}");
}

#[test]
fn pages_that_were_visited_since_the_last_proof_are_visited_again_when_a_part_of_the_records_has_moved() {
    const PAGES: usize = 45;
    // After the second change no check is due before the list ends: the end of the crawl triggers one.
    for changes_at in [18, 38] {
        let site = Site::new(next_only("page", 1, 1, "own < d.pages"), move |query, _, call| {
            let mut rows = rows(PAGES * 10, (query["page"] - 1) * 10, 10);
            let moved = if call > changes_at && !rows.is_empty() { rows.split_off(1) } else { Vec::new() };
            (200, json!({ "pages": PAGES, "rows": rows, "moved": { "list": moved } }).to_string())
        });
        let (torrents, told) = site.crawled("");
        assert_eq!(torrents, PAGES * 10, "{told}");
        assert!(told.contains("the endpoint no longer works") && told.contains("visited again"), "{told}");
    }
}

#[test]
fn the_service_checks_what_was_visited_since_the_last_proof_when_its_history_is_done() {
    const PAGES: usize = 45;
    // No check is due between the change and the end of the list.
    let site = Site::new(next_only("page", 1, 1, "own < d.pages"), move |query, _, call| {
        let mut rows = rows(PAGES * 10, (query["page"] - 1) * 10, 10);
        let moved = if call > 38 && !rows.is_empty() { rows.split_off(1) } else { Vec::new() };
        (200, json!({ "pages": PAGES, "rows": rows, "moved": { "list": moved } }).to_string())
    });
    let (torrents, told) = site.served(PAGES * 10);
    assert_eq!(torrents, PAGES * 10, "{told}");
    assert!(told.contains("the endpoint no longer works") && told.contains("visited again"), "{told}");
}

#[test]
fn a_page_whose_data_were_answered_with_an_errors_page_is_visited_again() {
    for at in [1, 2] {
        let site = Site::new(next_only("page", 1, 1, "own < d.pages"), move |query, _, call| match call {
            call if call == at => (200, "<html><h1>Database error</h1></html>".to_owned()),
            _ => (200, json!({ "pages": 6, "rows": rows(60, (query["page"] - 1) * 10, 10) }).to_string()),
        });
        let (torrents, told) = site.crawled("");
        assert_eq!(torrents, 60, "request {at}: {told}");
    }
    // A page that always responds like this is given up.
    let site = Site::new(next_only("page", 1, 1, "own < d.pages"), |_, _, _| (200, "<h1>Gone</h1>".to_owned()));
    let (torrents, told) = site.crawled("");
    assert_eq!(torrents, 0, "{told}");
    assert!(site.count("/list") <= 6, "{told}");
}

#[test]
fn nothing_is_learned_where_the_rules_say_always_or_forbid_it() {
    for (lines, by_endpoint) in
        [("", true), ("[render]\nindex = 'always'\n", false), ("[render]\nshortcut = false\n", false)]
    {
        let site = Site::new(next_only("page", 1, 1, "own < d.pages"), |query, _, _| {
            (200, json!({ "pages": 9, "rows": rows(90, (query["page"] - 1) * 10, 10) }).to_string())
        });
        let (torrents, told) = site.crawled(lines);
        assert_eq!(torrents, 90, "{told}");
        assert_eq!(told.contains("learned which request"), by_endpoint, "{lines}: {told}");
        assert_eq!(site.count("/list") >= 9, !by_endpoint, "{lines}: {told}");
    }
}

/// Two lists of one class, each with its own API.
const TWO_LISTS: &str = "const [, list] = location.pathname.split('-');
    const own = Number(new URLSearchParams(location.search).get('page') || 1);
    const link = (href) => { const a = document.createElement('a'); a.href = href;
        document.getElementById('app').appendChild(a); };
    if (!list) { link('/list-a?page=1'); link('/list-b?page=1'); }
    else fetch('/api-' + list + '?page=' + own).then(r => r.json()).then(d => {
        for (const t of d[list].rows) link('/d/' + t.id + '.torrent');
        if (own > 1) link('/list-' + list + '?page=' + (own - 1));
        if (own < d.pages) link('/list-' + list + '?page=' + (own + 1)); });";

#[test]
fn all_endpoints_of_a_class_are_printed_and_can_be_pinned() {
    let site = || {
        Site::new(TWO_LISTS.to_owned(), |query, address, _| {
            let list = address.trim_start_matches("/api-");
            let mut rows = rows(120, (query["page"] - 1) * 10, 10);
            for row in &mut rows {
                row["id"] = json!(row["id"].as_u64().unwrap() + if list == "a" { 1_000 } else { 5_000 });
            }
            let mut answer = json!({ "pages": 12 });
            answer[list] = json!({ "rows": rows });
            (200, answer.to_string())
        })
    };
    let learned = site();
    let (torrents, told) = learned.crawled("");
    assert_eq!(torrents, 240, "{told}");
    let tables = learned.gleaner(&["rules", "explain", "s", "--pin"]);
    assert_eq!(tables.matches("[[shortcut.index]]").count(), 2, "{tables}");
    let pinned = site();
    let lines = format!(
        "[render]\nindex = 'never'\n{}",
        tables.replace(&format!(":{}", learned.port), &format!(":{}", pinned.port))
    );
    // Without scripts the first page shows no list: these are the links that it would generate.
    let starts = format!("'http://127.0.0.1:{0}/list-a?page=1', 'http://127.0.0.1:{0}/list-b?page=1'", pinned.port);
    let rules = pinned.here.path().join("rules");
    let (_, told) = pinned.crawled(&lines);
    let text = std::fs::read_to_string(rules.join("s.toml")).unwrap();
    std::fs::write(rules.join("s.toml"), text.replacen("/list']", &format!("/list', {starts}]"), 1)).unwrap();
    let told = told + &pinned.gleaner(&["crawl", "s", "--max-time", "300"]);
    assert!(told.contains("240 stored"), "{told}");
    assert_eq!(pinned.count("/app"), 0, "{told}");
}

#[test]
fn faults_of_one_of_many_tables_are_told_where_they_stand() {
    let head = "start = ['https://h.example/list']\nclasses.index = ['^/list']\n";
    let faults = |table: &str| {
        let faults = gleaner_rules::from_text("site", &format!("{head}{table}")).err().unwrap_or_default();
        faults.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
    };
    let one = "[[shortcut.index]]\nurl = '/api'\nlink = ['/t/{id}']\n";
    assert_eq!(faults(&one.repeat(2)), "");
    assert_eq!(faults("[render]\nshortcut = false\nindex = 'never'\n"), "");
    let told = faults(&format!("{one}[[shortcut.index]]\nurl = '/api'\nlink = ['/t/{{id']\n"));
    assert!(told.contains(":8:") && told.contains("brace"), "{told}");
    let told = faults(&format!("{one}[[shortcut.index]]\nurl = '/api'\nlnk = ['/t/{{id}}']\n"));
    assert!(
        told.contains(":8:") && told.contains("did you mean `link`?") || told.contains("unknown key `lnk`"),
        "{told}"
    );
    let told = faults("[render]\nshortcut = 'never'\n");
    assert!(told.contains("`render.shortcut` must be true or false"), "{told}");
}

/// Start of the first render.
const NOW_MS: i64 = 1_790_000_000_000;

fn normal(base: &Url, text: &str) -> Option<String> {
    Some(base.join(text).ok()?.to_string())
}

/// A render of `/list?page=N` that links the next page while there is one.
fn render(page: usize, pages: usize, answer: &Json) -> Observation {
    let address = Url::parse(&format!("https://h.example/list?page={page}")).unwrap();
    let rows = answer["rows"].as_array().unwrap();
    let link = |path: String| {
        let key = format!("https://h.example{path}");
        Link { text: key.clone(), key }
    };
    let torrents = rows.iter().map(|row| link(format!("/t/{}", row["id"])));
    let around = [page.wrapping_sub(1), page + 1].into_iter().filter(|other| (1..=pages).contains(other));
    let links = torrents.chain(around.map(|other| link(format!("/list?page={other}")))).collect();
    let exchange = Exchange {
        method: "GET".into(),
        url: format!("https://h.example/api?page={page}"),
        headers: Vec::new(),
        body: String::new(),
        status: 200,
        answer: answer.to_string(),
    };
    Observation {
        page: address,
        html: String::new(),
        cookies: Vec::new(),
        now_ms: NOW_MS + 1_000 * i64::try_from(page).unwrap(),
        exchanges: vec![exchange],
        unread: BTreeMap::new(),
        shell: Vec::new(),
        links,
    }
}

fn learned(pages: usize, answer: impl Fn(usize) -> Json) -> Option<Endpoint> {
    let renders: Vec<Observation> = (1..=3).map(|page| render(page, pages, &answer(page))).collect();
    learn(&renders.iter().collect::<Vec<_>>(), &normal)
}

#[test]
fn the_end_of_a_list_is_learned_from_what_is_called_so_and_stays_the_same_or_from_the_records_alone() {
    let rows = |page: usize| {
        let row = |at: usize| json!({ "id": 9_000 - (page * 10 + at), "seeders": 40 - page, "pages": 80 - page });
        (0..10).map(row).collect::<Vec<_>>()
    };
    let shapes: [(&str, &dyn Fn(usize) -> Json); 9] = [
        ("total = \"total\"", &|_| json!({ "ads": 30, "total": 605 })),
        ("last = \"pages\"", &|_| json!({ "generated": 1_790_000_000, "pages": 61, "zone": 7 })),
        (
            "last = \"meta.last_page\"",
            &|page| json!({ "meta": { "from": page * 10, "last_page": 61, "per_page": 10 } }),
        ),
        // It grows while the list is read.
        ("total = \"total\"", &|page| json!({ "least_id": 8_990 - page * 10, "total": 600 + page })),
        ("size = 10", &|_| json!({})),
        ("size = 10", &|page| json!({ "last_id": 8_991 - page * 10, "took_ms": 30 + page * 17 })),
        ("size = 10", &|_| json!({ "users": 70, "success": true })),
        ("size = 10", &|_| json!({ "page_size": 10 })),
        ("size = 10", &|page| json!({ "page": page })),
    ];
    for (end, members) in shapes {
        let answer = |page: usize| {
            let mut answer = members(page);
            answer["rows"] = json!(rows(page));
            answer
        };
        let endpoint = learned(61, answer).unwrap_or_else(|| panic!("{end}: nothing is learned"));
        let text = toml::to_string(&Written::of(&endpoint)).unwrap();
        assert!(text.contains(end), "{end}: {text}");
        assert!(!text.contains("[-1]"), "{end}: {text}");
    }
}

#[test]
fn a_list_may_end_with_a_full_page_without_a_difference() {
    let answer = |page: usize| json!({ "rows": (0..10).map(|at| json!({ "id": 9_000 - (page * 10 + at) })).collect::<Vec<_>>() });
    let endpoint = learned(61, answer).unwrap();
    assert_eq!(endpoint.explains(&render(61, 61, &answer(61)), &normal), Ok(()));
    // A page that is not full and links a next one is a different case.
    let mut short = answer(7);
    short["rows"].as_array_mut().unwrap().truncate(8);
    let told = endpoint.explains(&render(7, 61, &short), &normal);
    assert_eq!(told, Err(Difference::EndsEarly("https://h.example/list?page=8".into())));
}

#[test]
fn a_book_asks_for_what_was_visited_since_the_last_proof_and_for_all_ends_where_one_was_false() {
    let answer = |page: usize| json!({ "pages": 61, "rows": (0..10).map(|at| json!({ "id": 9_000 - (page * 10 + at) })).collect::<Vec<_>>() });
    let of = |page: usize| Arc::new(render(page, 61, &answer(page)));
    let filled = || {
        let mut book = ClassShortcuts::default();
        let sets = (1..=3).map(|page| book.add(of(page))).last().unwrap();
        let learned = sets.iter().find_map(|set| learn(&set.iter().map(AsRef::as_ref).collect::<Vec<_>>(), &normal));
        assert_eq!(book.learned(learned, 5), Some(Event::Learned));
        for page in [4, 5, 6, 7] {
            book.worked(&of(page).page, page == 4, NOW_MS as u64 + 1_000 * page as u64);
        }
        // A render that started when two had been visited.
        assert_eq!(book.checked(of(6), Ok(()), 9), Some(Event::Proven));
        book
    };
    let address = |page: usize| of(page).page.to_string();
    let mut book = filled();
    book.differs(&of(8).page, Difference::NoData, true, 10);
    assert_eq!(book.again(), [address(6), address(7)]);
    let kept: KeptBook = serde_json::from_slice(&serde_json::to_vec(&book.to_keep()).unwrap()).unwrap();
    book.queued(&[address(6)]);
    assert_eq!(book.again(), [address(7)]);
    let mut taken_up = ClassShortcuts::default();
    taken_up.take_up(kept);
    assert_eq!(taken_up.again(), [address(6), address(7)]);

    let mut book = filled();
    book.differs(&of(7).page, Difference::EndsEarly("x".into()), true, 10);
    assert_eq!(book.again(), [address(6), address(4)], "the page that showed it is rendered in this visit");

    // A pin for these pages replaces what was learned; the same pin does not.
    let kept = filled().to_keep();
    let same = kept.endpoints[0].endpoint.endpoint().unwrap();
    let mut other = kept.endpoints[0].endpoint.clone();
    other.link.clear();
    other.html = vec!["rows[*].cell".to_owned()];
    for (pin, again) in [(same, 0), (other.endpoint().unwrap(), 3)] {
        let mut book = ClassShortcuts::default();
        book.pin(&pin);
        book.take_up(kept.clone());
        assert_eq!(book.again().len(), again);
    }
}
