//! `gleaner render` from the command line: its output for a page on loopback and for a local one, its requests, its exit codes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;

/// Time limit of one command; debug builds take seconds per page.
const COMMAND_TIME_MAX: Duration = Duration::from_secs(120);

const PAGE: &str =
    "<!doctype html><title>List</title><h1>Torrents</h1><div id=app></div><button id=more>Load more</button><div class=fold>About this list</div>
    <script src=/app.js></script>";

const SCRIPT: &str = "let n = 0;
    const load = () => fetch('/api?page=' + n++).then(r => r.json()).then(items => { for (const t of items) {
        const a = document.createElement('a'); a.href = '/d/' + t + '.torrent'; a.textContent = 'torrent ' + t;
        document.getElementById('app').append(a, document.createElement('br')); } });
    document.getElementById('more').addEventListener('click', load);
    setTimeout(() => nothing.there, 20);
    load();
    document.querySelector('.fold').addEventListener('click', () => fetch('/folded'));";

struct Site {
    port: u16,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Site {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (port, asked) = (listener.local_addr().unwrap().port(), Arc::<Mutex<Vec<String>>>::default());
        let all = Arc::clone(&asked);
        std::thread::spawn(move || {
            listener.incoming().flatten().for_each(|stream| answer(stream, &all).unwrap_or_default())
        });
        Self { port, asked }
    }

    fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

fn answer(stream: TcpStream, asked: &Mutex<Vec<String>>) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    lines.map_while(Result::ok).take_while(|line| !line.is_empty()).for_each(drop);
    asked.lock().unwrap().push(path.clone());
    let (status, kind, body) = match path.as_str() {
        "/" => (200, "text/html", PAGE.to_owned()),
        "/robots.txt" => (200, "text/plain", "User-agent: *\nDisallow: /closed".to_owned()),
        "/app.js" => (200, "text/javascript", SCRIPT.to_owned()),
        "/api?page=0" => (200, "application/json", "[1, 2]".to_owned()),
        "/api?page=1" => (200, "application/json", "[3]".to_owned()),
        "/file" => (200, "application/x-bittorrent", "d8:announce0:e".to_owned()),
        _ => (404, "text/plain", String::new()),
    };
    let length = body.len();
    let head =
        format!("HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n");
    write!(writer, "{head}\r\n{body}").ok()
}

struct Ran {
    code: Option<i32>,
    out: String,
    err: String,
}

impl Ran {
    #[track_caller]
    fn ended(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "out:\n{}\nerr:\n{}", self.out, self.err);
        self
    }

    fn lines(&self) -> Vec<&str> {
        self.out.lines().collect()
    }
}

fn render(folder: &Path, arguments: &[&str]) -> Ran {
    let mut command = assert_cmd::Command::new(env!("CARGO_BIN_EXE_gleaner"));
    command.current_dir(folder).arg("render").args(arguments).timeout(COMMAND_TIME_MAX);
    for variable in ["GLEANER_DATA", "GLEANER_RULES", "GLEANER_CONFIG"] {
        command.env_remove(variable);
    }
    let output = command.output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Ran { code: output.status.code(), out: text(output.stdout), err: text(output.stderr) }
}

/// Rules for the site without a rate limit, in their own folder.
fn rules(folder: &Path, site: &Site) -> String {
    let dir = folder.join("rules");
    fs::create_dir_all(&dir).unwrap();
    let text = format!(
        "start = ['{}']\nprivate_addresses = true\ndeny = ['^/denied']\n[classes]\nindex = ['^/$']\n[rate]\nrequests_per_second = 1000000\n",
        site.url("/")
    );
    fs::write(dir.join("site.toml"), text).unwrap();
    dir.display().to_string()
}

#[test]
fn each_view_shows_its_part_of_a_page_and_json_all_of_it() {
    let (folder, site) = (tempfile::tempdir().unwrap(), Site::start());
    let rules = rules(folder.path(), &site);
    let url = site.url("/");
    let seen = |more: &[&str]| render(folder.path(), &[&[url.as_str(), "--rules", &rules], more].concat()).ended(0);
    let link = |n: u32| site.url(&format!("/d/{n}.torrent"));

    assert_eq!(seen(&["--links"]).lines(), [link(1), link(2)]);
    let after = seen(&["--links", "--act", "click #more"]);
    let lines = ["# load".to_owned(), link(1), link(2), "# click #more".to_owned(), link(1), link(2), link(3)];
    assert_eq!(after.lines(), lines);

    let requests = seen(&["--requests"]);
    assert!(
        requests.out.contains(&format!("GET 200 {} {} [script]", SCRIPT.len(), site.url("/app.js"))),
        "{}",
        requests.out
    );
    let by = format!("GET 200 6 {} [fetch, by {}:2:", site.url("/api?page=0"), site.url("/app.js"));
    assert!(requests.out.contains(&by), "{}", requests.out);

    let html = seen(&["--html"]);
    assert!(html.out.contains("<a href=\"/d/2.torrent\">torrent 2</a>"), "{}", html.out);
    assert!(
        html.err.contains(&format!("    at {}:6:", site.url("/app.js"))),
        "an error is told with its place: {}",
        html.err
    );

    let text = seen(&["--screenshot-text"]);
    assert_eq!(text.out, "Torrents\n\ntorrent 1\ntorrent 2\n[Load more]\nAbout this list\n");

    let trace = seen(&["--trace", "--act", "scroll"]);
    let order = [
        "script ",
        "request ",
        "answer ",
        "DOMContentLoaded",
        "complete",
        "timer ",
        "20 ms",
        "error ",
        "act ",
        "scroll",
    ];
    let mut rest = trace.out.as_str();
    for what in ["script ", "request ", "DOMContentLoaded", "timer ", "error ", "act "] {
        let Some((_, behind)) = rest.split_once(what) else { panic!("no `{what}` in its turn:\n{}", trace.out) };
        rest = behind;
    }
    order.iter().for_each(|what| assert!(trace.out.contains(what), "`{what}` in\n{}", trace.out));

    let json: Value = serde_json::from_str(&seen(&["--json", "--explore"]).out).unwrap();
    assert_eq!(json["links"].as_array().unwrap().len(), 3, "{json}");
    assert_eq!((&json["site"], &json["status"]), (&Value::from("site"), &Value::from(200)));
    assert_eq!(json["errors"][0]["line"], 6, "{json}");
    assert_eq!(json["requests"][0]["asker"], "script", "{json}");
}

#[test]
fn a_page_without_rules_is_asked_by_plain_manners() {
    let (folder, site) = (tempfile::tempdir().unwrap(), Site::start());
    let ran = render(folder.path(), &[&site.url("/"), "--links"]).ended(0);
    assert_eq!(ran.lines().len(), 2, "{}", ran.out);
    assert_eq!(site.asked(), ["/robots.txt", "/", "/app.js", "/api?page=0"], "robots.txt before all else, and once");

    let closed = render(folder.path(), &[&site.url("/closed")]).ended(1);
    assert!(closed.err.contains("robots.txt disallows it"), "{}", closed.err);
    assert!(!site.asked().contains(&"/closed".to_owned()));
}

#[test]
fn what_rules_say_of_a_page_and_its_requests_is_kept_to() {
    let (folder, site) = (tempfile::tempdir().unwrap(), Site::start());
    let rules = rules(folder.path(), &site);
    let denied = render(folder.path(), &[&site.url("/denied/x"), "--rules", &rules]).ended(1);
    assert!(denied.err.contains("the rules refuse it"), "{}", denied.err);
    let other = render(folder.path(), &["http://127.0.0.1:9/", "--rules", &rules]).ended(1);
    assert!(other.err.contains("names the host 127.0.0.1:9") && other.err.contains("hint: "), "{}", other.err);
    let torrent = render(folder.path(), &[&site.url("/file"), "--rules", &rules]).ended(1);
    assert!(torrent.err.contains("is not a page: its type is application/x-bittorrent"), "{}", torrent.err);
    assert!(!site.asked().contains(&"/denied/x".to_owned()));
}

#[test]
fn lists_of_a_site_with_an_account_are_turned_and_nothing_else_is_clicked_that_was_not_said() {
    let (folder, site) = (tempfile::tempdir().unwrap(), Site::start());
    let rules = rules(folder.path(), &site);
    let file = Path::new(&rules).join("site.toml");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("{text}[login]\nuser = 'anna'\npage = '{}'\n", site.url("/login"))).unwrap();
    let explore = [&*site.url("/"), "--rules", &rules, "--explore", "--links"];
    let turned = render(folder.path(), &explore).ended(0);
    assert!(turned.out.contains("/d/3.torrent"), "\"Load more\" was pressed: {}", turned.out);
    assert!(!site.asked().iter().any(|path| path == "/folded"), "{:?}", site.asked());
    assert!(
        turned.err.contains("note: ") && turned.err.contains("only scrolling and pagination are used"),
        "{}",
        turned.err
    );
    let say = |acts: &str| {
        let login = format!("[login]\nuser = 'anna'\npage = '{}'\n", site.url("/login"));
        fs::write(&file, format!("{text}[render]\nacts = '{acts}'\n{login}")).unwrap();
    };
    say("none");
    let refused = render(folder.path(), &explore).ended(1);
    assert!(refused.err.contains("has `acts = \"none\"`") && refused.err.contains("hint: --act"), "{}", refused.err);
    say("all");
    render(folder.path(), &explore).ended(0);
    assert!(site.asked().iter().any(|path| path == "/folded"), "{:?}", site.asked());
    say("turns");
    let said = ["--links", "--act", "click #more"];
    let looked = render(folder.path(), &[&[&*site.url("/"), "--rules", &rules], &said[..]].concat()).ended(0);
    assert!(looked.out.contains("/d/3.torrent"), "{}", looked.out);
}

#[test]
fn what_is_too_much_to_be_shown_is_counted() {
    let folder = tempfile::tempdir().unwrap();
    let markup = "<a href=/s>static</a><script>for (let n = 0; n < 13; n++) location.href = '/t/' + n;
        for (let n = 0; n < 12; n++) setTimeout(() => nowhere(n))</script>";
    fs::write(folder.path().join("many.html"), markup).unwrap();
    let shown = render(folder.path(), &["many.html", "--base", "https://example.org/"]).ended(0);
    assert_eq!(shown.out.matches("would navigate to https://example.org/t/").count(), 10, "{}", shown.out);
    assert!(shown.out.contains("… and 3 more navigations: --links lists all"), "{}", shown.out);
    assert!(shown.out.contains("… and 2 more refusals and errors: --json lists all"), "{}", shown.out);
    assert!(shown.out.contains("load: 1 links, 1 distinct URLs"), "{}", shown.out);
    let links = render(folder.path(), &["many.html", "--base", "https://example.org/", "--links"]).ended(0);
    assert_eq!(links.lines().len(), 14, "{}", links.out);
}

#[test]
fn a_file_has_the_scripts_beside_it_and_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page");
    fs::create_dir(&page).unwrap();
    let markup = "<div id=app></div><script src=lib.js></script><script src=../secret.js></script>
        <script src=https://cdn.example/x.js></script>";
    fs::write(page.join("index.html"), markup).unwrap();
    fs::write(page.join("lib.js"), "app.innerHTML = '<a href=d/1>one</a><a href=\"magnet:?x\">two</a>'").unwrap();
    fs::write(folder.path().join("secret.js"), "app.innerHTML = 'secret'").unwrap();
    let file = page.join("index.html").display().to_string();

    let base = "https://example.org/list/index.html";
    let links = render(folder.path(), &[&file, "--base", base, "--links"]).ended(0);
    assert_eq!(links.lines(), ["https://example.org/list/d/1", "magnet:?x"]);
    let nowhere = render(folder.path(), &[&file, "--links"]).ended(0);
    assert_eq!(nowhere.lines(), ["https://file.invalid/d/1", "magnet:?x"]);
    let requests = render(folder.path(), &[&file, "--base", base, "--requests"]).ended(0);
    assert_eq!(requests.lines().len(), 3, "{}", requests.out);
    assert_eq!(requests.out.matches("(refused: not found beside the file").count(), 2, "{}", requests.out);
}

#[test]
fn a_hostile_page_costs_itself_and_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("loop.html");
    let markup =
        "<a href=/kept>kept</a><script>const again = () => { for (;;) { try { again() } catch {} } }; again()</script>";
    fs::write(&file, markup).unwrap();
    let ran = render(folder.path(), &[&file.display().to_string()]);
    let is_told = ran.out.contains("stopped: ") || ran.err.contains("error: ") || ran.out.contains("script error: ");
    assert!(is_told && matches!(ran.code, Some(0 | 1)), "{:?}\n{}\n{}", ran.code, ran.out, ran.err);
}

#[test]
fn wrong_words_are_told_with_what_was_meant() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("p.html"), "<p>x").unwrap();
    for (arguments, code, wanted) in [
        (&["p.html", "--act", "clik a"][..], 2, "did you mean `click`?"),
        (&["p.html", "--link"], 2, "--links"),
        (&["p.html", "--links", "--html"], 2, "cannot be used with"),
        (&[], 2, "<URL|FILE>"),
        (&["p.html", "--viewport", "big"], 2, "not a size"),
        (&["example.org/x"], 1, "https://example.org/x"),
        (&["http://127.0.0.1:9/", "--online"], 1, "--base and --online are only for files"),
        (&["p.html", "--act", "click #none"], 1, "nothing on the page matches `click #none`"),
        (&["p.html", "--base", "file:///x"], 1, "not an http or https URL"),
        (&["."], 1, "not a regular file"),
    ] {
        let ran = render(folder.path(), arguments).ended(code);
        assert!(ran.err.contains(wanted), "{arguments:?}: {}", ran.err);
    }
}
