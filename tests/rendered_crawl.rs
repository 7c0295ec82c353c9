//! A crawl of a site whose list is built by a script: fetched from an interface with a header, page by page behind a button.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

const TORRENTS: usize = 30;
const PER_PAGE: usize = 10;

const SCRIPT: &str = "let n = 0; const more = document.getElementById('more');
    const load = () => fetch('/api?page=' + n++, { headers: { 'X-Token': 'abc' } }).then(r => r.json()).then(d => {
        for (const t of d.items) { const a = document.createElement('a'); a.href = '/d/' + t + '.torrent';
            document.getElementById('app').appendChild(a); }
        if (!d.more) more.remove(); });
    more.addEventListener('click', load); load();";

/// Status, type and body of an answer.
fn answer(path: &str, has_token: bool) -> (u16, &'static str, String) {
    let none = (404, "text/plain", String::new());
    if path == "/" {
        let page = "<!doctype html><div id=app></div><button id=more>Load more</button><script src=/app.js></script>";
        return (200, "text/html", page.to_owned());
    }
    if path == "/app.js" {
        return (200, "text/javascript", SCRIPT.to_owned());
    }
    if let Some(page) = path.strip_prefix("/api?page=").and_then(|page| page.parse::<usize>().ok()) {
        let from = page * PER_PAGE;
        let items: Vec<usize> = (from..(from + PER_PAGE).min(TORRENTS)).collect();
        let list = format!("{{\"items\":{items:?},\"more\":{}}}", from + PER_PAGE < TORRENTS);
        return if has_token { (200, "application/json", list) } else { (403, "text/plain", String::new()) };
    }
    let number = path.strip_prefix("/d/").and_then(|name| name.strip_suffix(".torrent"));
    number.map_or(none, |number| {
        let name = format!("file-{number}.iso");
        let info =
            format!("d6:lengthi1000e4:name{}:{name}12:piece lengthi16384e6:pieces20:{}e", name.len(), "x".repeat(20));
        (200, "application/x-bittorrent", format!("d8:announce16:http://127.0.0.14:info{info}e"))
    })
}

fn serve(stream: TcpStream) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let has_token = head.iter().any(|line| line.eq_ignore_ascii_case("x-token: abc"));
    let (status, kind, body) = answer(&path, has_token);
    let length = body.len();
    write!(
        writer,
        "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .ok()
}

/// Crawls the site with these lines in its rule file; gives how many torrents are in the archive.
fn crawled(lines: &str) -> usize {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        listener.incoming().flatten().for_each(|stream| {
            serve(stream);
        })
    });
    let here = tempfile::tempdir().unwrap();
    let rules = here.path().join("rules");
    std::fs::create_dir(&rules).unwrap();
    let text = format!(
        "start = ['http://127.0.0.1:{port}/']\n[classes]\nindex = ['^/$']\ndownload = ['\\.torrent$']\n\
         [rate]\nrequests_per_second = 100\nconnections = 1\nrest_factor = 0\n{lines}"
    );
    std::fs::write(rules.join("spa.toml"), text).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_gleaner"));
    let command = command
        .args(["crawl", "spa", "--max-time", "60", "--rules"])
        .arg(&rules)
        .arg("--data")
        .arg(here.path().join("data"));
    let output = command.output().unwrap();
    let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let line = told.lines().find(|line| line.starts_with("torrents ")).unwrap_or_else(|| panic!("{told}"));
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn a_list_that_a_script_builds_is_harvested_over_one_connection_and_not_where_the_rules_say_never() {
    assert_eq!(crawled(""), TORRENTS);
    assert_eq!(crawled("[render]\nindex = 'never'\n"), 0);
}
