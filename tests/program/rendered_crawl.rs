//! Crawls of sites whose lists are built by scripts: from an API with a header, page by page with a button; with rows without
//! URLs; on pages of which only some in a class need scripts; with a process that dies, and with an API that is disallowed; with APIs
//! that fail for a while, with broken scripts, and with scripts that fetch the torrents themselves.

use std::io::{BufRead, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use crate::cli::harness::unfolded;

const TORRENTS: usize = 30;
const PER_PAGE: usize = 10;

const SCRIPT: &str = "let n = 0; const more = document.getElementById('more');
    const load = () => fetch('/api?page=' + n++, { headers: { 'X-Token': 'abc' } }).then(r => r.json()).then(d => {
        for (const t of d.items) { const a = document.createElement('a'); a.href = '/d/' + t + '.torrent';
            document.getElementById('app').appendChild(a); }
        if (!d.more) more.remove(); });
    more.addEventListener('click', load); load();";

/// The type of a truncated response.
const CUT: &str = "text/x-cut";

/// Status, type and body of a response.
type Answer = (u16, &'static str, String);

/// A site's response to a path, and whether the request had the token.
type Site = Arc<dyn Fn(&str, bool) -> Answer + Send + Sync>;

fn answer(path: &str, has_token: bool) -> Answer {
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
    torrent(path).unwrap_or(none)
}

/// What `/d/NUMBER.torrent` is.
fn torrent(path: &str) -> Option<Answer> {
    let number = path.strip_prefix("/d/").and_then(|name| name.strip_suffix(".torrent"))?;
    let name = format!("file-{number}.iso");
    let info =
        format!("d6:lengthi1000e4:name{}:{name}12:piece lengthi16384e6:pieces20:{}e", name.len(), "x".repeat(20));
    Some((200, "application/x-bittorrent", format!("d8:announce16:http://127.0.0.14:info{info}e")))
}

fn serve(stream: TcpStream, site: &Site) -> Option<()> {
    let mut writer = stream.try_clone().ok()?;
    let mut lines = BufReader::new(stream.take(64 << 10)).lines();
    let path = lines.next()?.ok()?.split(' ').nth(1)?.to_owned();
    let head: Vec<String> = lines.map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let has_token = head.iter().any(|line| line.eq_ignore_ascii_case("x-token: abc"));
    let (status, kind, body) = site(&path, has_token);
    // A truncated one has promised more.
    let length = if kind == CUT { body.len() + 100 } else { body.len() };
    write!(
        writer,
        "HTTP/1.1 {status} -\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .ok()
}

/// Serves a site on a free port.
fn listen(site: Site) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let site = Arc::clone(&site);
            std::thread::spawn(move || serve(stream, &site));
        }
    });
    port
}

/// The number of torrents in the archive after a crawl with these lines in the rules, the crawl's whole output, and that of `status`
/// afterwards. `started` gets the process before it has done anything.
fn crawl(site: Site, lines: &str, started: impl FnOnce(&Child)) -> (usize, String, String) {
    crawl_by(Path::new(env!("CARGO_BIN_EXE_gleaner")), site, lines, started)
}

/// The same with this program.
fn crawl_by(program: &Path, site: Site, lines: &str, started: impl FnOnce(&Child)) -> (usize, String, String) {
    let folder = Folder::of(site, lines);
    let (torrents, told) = folder.crawl_by(program, started);
    (torrents, told, folder.tells(&["status"]))
}

/// Rules and data of a site that is being served.
struct Folder(tempfile::TempDir);

impl Folder {
    fn of(site: Site, lines: &str) -> Self {
        let port = listen(site);
        let here = tempfile::tempdir().unwrap();
        let rules = here.path().join("rules");
        std::fs::create_dir(&rules).unwrap();
        let text = format!(
            "start = ['http://127.0.0.1:{port}/']\n[classes]\nindex = ['^/$', '^/list/']\ndetail = ['^/t/']\ndownload = ['\\.torrent$']\n\
             [rate]\nrequests_per_second = 100\nconnections = 1\nrest_factor = 0\n{lines}"
        );
        std::fs::write(rules.join("spa.toml"), text).unwrap();
        Self(here)
    }

    fn command(&self, program: &Path, arguments: &[&str]) -> Command {
        let program = if program.exists() { program } else { Path::new(env!("CARGO_BIN_EXE_gleaner")) };
        let mut command = Command::new(program);
        let (rules, data) = (self.0.path().join("rules"), self.0.path().join("data"));
        command.args(arguments).arg("--rules").arg(rules).arg("--data").arg(data);
        command
    }

    /// Torrents in the summary, and the crawl's whole output.
    fn crawl_by(&self, program: &Path, started: impl FnOnce(&Child)) -> (usize, String) {
        let mut command = self.command(program, &["crawl", "spa", "--max-time", "90"]);
        let process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        started(&process);
        let output = process.wait_with_output().unwrap();
        let told = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let line = told.lines().find(|line| line.starts_with("torrents ")).unwrap_or_else(|| panic!("{told}"));
        (line.split_whitespace().nth(1).unwrap().parse().unwrap(), told)
    }

    /// The output of a command.
    fn tells(&self, arguments: &[&str]) -> String {
        let output = self.command(Path::new(env!("CARGO_BIN_EXE_gleaner")), arguments).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    }

    fn json(&self, arguments: &[&str]) -> serde_json::Value {
        serde_json::from_str(&self.tells(arguments)).unwrap()
    }
}

fn crawled(lines: &str) -> usize {
    crawl(Arc::new(answer), lines, |_| {}).0
}

/// A site of pages, and of torrents.
fn pages(page: impl Fn(&str) -> Option<Answer> + Send + Sync + 'static) -> Site {
    Arc::new(move |path, _| page(path).or_else(|| torrent(path)).unwrap_or((404, "text/plain", String::new())))
}

fn html(text: impl Into<String>) -> Option<Answer> {
    Some((200, "text/html", format!("<!doctype html><title>x</title>{}", text.into())))
}

#[test]
fn a_list_that_a_script_builds_is_harvested_over_one_connection_and_not_where_the_rules_say_never() {
    assert_eq!(crawled(""), TORRENTS);
    assert_eq!(crawled("[render]\nindex = 'never'\n"), 0);
}

#[test]
fn rows_without_addresses_are_harvested_from_every_page_of_their_list() {
    let site = pages(|path| match path.strip_prefix("/api/") {
        _ if path == "/" => html(
            "<table><tbody id=rows></tbody></table><button id=next>Next page</button><script>let page = 0;
            const show = async () => { const ids = await (await fetch('/api/' + page)).json(); rows.innerHTML = '';
                for (const id of ids) { const row = rows.insertRow(); row.textContent = 'Image ' + id;
                    row.onclick = () => { location.href = '/d/' + id + '.torrent' } } };
            next.onclick = () => { if (page < 5) { page++; show() } }; show()</script>",
        ),
        Some(page) => {
            let page: usize = page.parse().ok()?;
            let ids: Vec<usize> = (page * 10..page * 10 + 10).collect();
            Some((200, "application/json", format!("{ids:?}")))
        }
        None => None,
    });
    assert_eq!(crawl(site, "", |_| {}).0, 60);
}

#[test]
fn pages_that_wait_for_their_scripts_are_rendered_whatever_others_of_their_class_are_like() {
    let nav = "<a href=/>Home</a><a href=/list/1>A</a><script>window.stats = 1</script>";
    let site = pages(move |path| {
        let number = |prefix: &str| path.strip_prefix(prefix)?.parse::<usize>().ok();
        if path == "/" {
            let lists: String = (1..=12).map(|n| format!("<a href=/list/{n}>{n}</a>")).collect();
            return html(format!("{nav}{lists}"));
        }
        if let Some(list) = number("/list/") {
            // The first lists need no scripts and lead to pages that mostly do.
            let details: String = (1..=5).map(|n| format!("<a href=/t/{}>t</a>", list * 10 + n)).collect();
            return html(match list {
                1..=4 => format!("{nav}{details}"),
                _ => format!(
                    "{nav}<table><tbody id=rows><tr><td>Loading…</td></tr></tbody></table><script>
                    rows.innerHTML = '<tr><td><a href=\"/t/{}\">t</a></td></tr>'</script>",
                    list * 10
                ),
            });
        }
        let detail = number("/t/")?;
        let link = format!("<a href=/d/{detail}.torrent>get</a>");
        html(match detail {
            ..30 => format!("{nav}<h1>Image</h1>{link}"),
            _ => format!("{nav}<h1>Image</h1><div id=link></div><script>link.innerHTML = '{link}'</script>"),
        })
    });
    assert_eq!(crawl(site, "", |_| {}).0, 4 * 5 + 8);
}

/// Render processes that this process has started.
fn render_processes(parent: u32) -> Vec<i32> {
    let of = |entry: std::fs::DirEntry| {
        let id: i32 = entry.file_name().to_str()?.parse().ok()?;
        let status = std::fs::read_to_string(entry.path().join("status")).ok()?;
        let line = std::fs::read(entry.path().join("cmdline")).ok()?;
        let is_child = status.lines().any(|line| line == format!("PPid:\t{parent}"));
        (is_child && line.windows(8).any(|word| word == b"__render")).then_some(id)
    };
    std::fs::read_dir("/proc").unwrap().flatten().filter_map(of).collect()
}

#[test]
fn a_page_whose_process_is_killed_is_run_again_and_its_list_goes_on() {
    let crawler = Arc::new(Mutex::new(None));
    let killed = Arc::new(Mutex::new(false));
    let (of_site, of_kill) = (Arc::clone(&crawler), Arc::clone(&killed));
    let site = pages(move |path| {
        if let Some(list) = shell(path) {
            return Some(list);
        }
        let page: usize = path.strip_prefix("/api/")?.parse().ok()?;
        if page == 1 && !std::mem::replace(&mut *of_kill.lock().unwrap(), true) {
            for id in render_processes(of_site.lock().unwrap().unwrap()) {
                // SAFETY: a signal to a process that the crawl of this test has started.
                unsafe { libc::kill(id, libc::SIGKILL) };
            }
        }
        let rows: String = (0..5).map(|row| format!("<a href=/d/{}.torrent>x</a>", page * 5 + row)).collect();
        let next = if page < 4 { format!("<a href=/list/{}>next</a>", page + 1) } else { String::new() };
        html(format!("{rows}{next}"))
    });
    let (torrents, told, _) =
        crawl(site, "[render]\nindex = 'always'\n", |process| *crawler.lock().unwrap() = Some(process.id()));
    assert!(*killed.lock().unwrap());
    assert_eq!(torrents, 25, "{told}");
    assert!(told.contains("is rendered again in another one"), "{told}");
}

/// The page `/list/N`, or the start page for the first, which requests its rows from an API.
fn shell(path: &str) -> Option<Answer> {
    let page = if path == "/" { "0" } else { path.strip_prefix("/list/")? };
    html(format!(
        "<div id=app></div><script>fetch('/api/{page}').then(answer => answer.text()).then(text => app.innerHTML = text)</script>"
    ))
}

/// Lists whose rows come from an API, five per page, four pages.
fn lists(path: &str) -> Option<Answer> {
    if let Some(list) = shell(path) {
        return Some(list);
    }
    let page: usize = path.strip_prefix("/api/")?.parse().ok()?;
    let rows: String = (0..5).map(|row| format!("<a href=/d/{}.torrent>x</a>", page * 5 + row)).collect();
    let next = if page < 3 { format!("<a href=/list/{}>next</a>", page + 1) } else { String::new() };
    html(format!("{rows}{next}"))
}

#[test]
fn a_list_whose_answer_breaks_off_is_asked_again_and_goes_on() {
    let cut = Arc::new(Mutex::new(0));
    let of_site = Arc::clone(&cut);
    let site = pages(move |path| match path {
        "/api/1" if std::mem::replace(&mut *of_site.lock().unwrap(), 1) == 0 => {
            Some((200, CUT, "<a href=/d/5.torr".to_owned()))
        }
        _ => lists(path),
    });
    let (torrents, told, _) = crawl(site, "[render]\nindex = 'always'\n", |_| {});
    assert_eq!((torrents, *cut.lock().unwrap()), (20, 1), "{told}");
}

#[test]
fn a_program_that_was_taken_away_by_an_upgrade_runs_on_and_renders() {
    let program = Path::new(env!("CARGO_BIN_EXE_gleaner"));
    let folder = tempfile::tempdir_in(program.parent().unwrap()).unwrap();
    let link = folder.path().join("gleaner");
    std::fs::hard_link(program, &link).unwrap();
    let taken = link.clone();
    let site = pages(move |path| {
        // The crawl is running, and has rendered nothing yet.
        if path == "/" {
            let _ = std::fs::remove_file(&taken);
        }
        lists(path)
    });
    let (torrents, told, _) = crawl_by(&link, site, "[render]\nindex = 'always'\n", |_| {});
    assert!(!link.exists());
    assert_eq!(torrents, 20, "{told}");
}

#[test]
fn an_interface_that_the_rules_or_robots_txt_close_is_told_once() {
    let other = listen(pages(|_| Some((200, "application/json", "[]".to_owned()))));
    let elsewhere = format!("http://127.0.0.1:{other}/api/");
    for (address, why) in
        [(elsewhere.as_str(), "not one of the rule file's hosts"), ("/api/", "robots.txt disallows it")]
    {
        let address = address.to_owned();
        let site = pages(move |path| match path {
            "/robots.txt" => Some((200, "text/plain", "User-agent: *\nDisallow: /api/\n".to_owned())),
            "/" => html("<a href=/list/1>1</a><a href=/list/2>2</a><a href=/list/3>3</a>"),
            _ if path.starts_with("/list/") => html(format!(
                "<div id=app></div><script>fetch('{address}' + location.pathname.slice(6)).then(answer => answer.json())</script>"
            )),
            _ => None,
        });
        let (_, told, status) = crawl(site, "", |_| {});
        let status = unfolded(&status);
        assert_eq!(told.matches(why).count(), 1, "{told}");
        assert_eq!(status.matches(why).count(), 1, "{status}");
        assert!(status.contains("requests of scripts to 127.0.0.1 are refused"), "{status}");
        assert!(
            why.starts_with("robots") || told.contains(&format!("127.0.0.1:{other} is not one")),
            "it names the port: {told}"
        );
    }
}

#[test]
fn a_page_that_is_not_read_whole_is_told_by_summary_status_and_coverage_until_it_is() {
    let is_mended = Arc::new(Mutex::new(false));
    let of_site = Arc::clone(&is_mended);
    // After the first rows of the list its API fails.
    let site: Site = Arc::new(move |path, has_token| match path {
        "/api?page=1" if !*of_site.lock().unwrap() => (500, "text/plain", String::new()),
        _ => answer(path, has_token),
    });
    let folder = Folder::of(site, "");
    let program = Path::new(env!("CARGO_BIN_EXE_gleaner"));
    let (torrents, told) = folder.crawl_by(program, |_| {});
    assert_eq!(torrents, TORRENTS - PER_PAGE, "{told}");
    let sentence = "1 page was not read whole: torrents may be missing (hint: gleaner coverage spa ";
    let (status, coverage) = (folder.tells(&["status"]), folder.tells(&["coverage", "spa"]));
    let (told, why) = (unfolded(&told), "spa 1 page was not read whole: it had more to show: ");
    assert!(told.contains(why) && told.contains("hint: gleaner coverage spa "), "{told}");
    assert_eq!(told.matches("not read whole").count(), 1, "{told}");
    assert!(unfolded(&status).contains(&format!(" spa: {sentence}")), "{status}");
    assert!(coverage.contains("at most 100.00 %") && coverage.contains("/: it had more to show: "), "{coverage}");
    let coverage = folder.json(&["coverage", "spa", "--json"])["sites"][0].take();
    assert_eq!((&coverage["pages_not_whole"], &coverage["cr_is_at_most"]), (&1.into(), &true.into()), "{coverage}");
    assert_eq!(folder.json(&["status", "--json"])["sites"][0]["pages_not_whole"], 1);
    // A later crawl that does not see it whole either still reports it.
    assert_eq!(folder.json(&["crawl", "spa", "--json"])["pages_not_whole"], 1);

    *is_mended.lock().unwrap() = true;
    let (torrents, told) = folder.crawl_by(program, |_| {});
    assert_eq!(torrents, PER_PAGE, "{told}");
    let (status, coverage) = (folder.tells(&["status"]), folder.tells(&["coverage", "spa"]));
    for text in [&told, &status, &coverage] {
        assert!(!text.contains("read whole") && !text.contains("at most"), "{text}");
    }
    assert_eq!(folder.json(&["coverage", "spa", "--json"])["sites"][0]["pages_not_whole"], 0);
    assert_eq!(folder.json(&["status", "--json"])["sites"][0]["pages_not_whole"], 0);
    assert_eq!(folder.json(&["crawl", "spa", "--json"])["pages_not_whole"], 0);
}

#[test]
fn pages_without_scripts_that_are_not_read_whole_are_told_as_well() {
    let many = "<a href=/none>n</a>".repeat(gleaner_page::limits::LINKS_PER_PAGE_MAX);
    let long = "x".repeat(gleaner_base::limits::PAGE_BYTES_MAX + 1);
    let site = pages(move |path| match path {
        "/" => html("<a href=/list/1>1</a><a href=/list/2>2</a><a href=/d/1.torrent>t</a>"),
        "/list/1" => html(format!("{many}<a href=/d/2.torrent>t</a>")),
        "/list/2" => html(format!("<a href=/d/3.torrent>t</a>{long}")),
        _ => None,
    });
    let folder = Folder::of(site, "");
    let (torrents, told) = folder.crawl_by(Path::new(env!("CARGO_BIN_EXE_gleaner")), |_| {});
    // What stands before the limit of bytes is taken.
    assert_eq!(torrents, 2, "{told}");
    assert_eq!(told.matches("1 page was not read whole: it ").count(), 2, "{told}");
    let coverage = folder.tells(&["coverage", "spa"]);
    for reason in
        ["/list/1: it has more links than the limit for one page", "/list/2: it exceeds the size limit of a page"]
    {
        assert!(coverage.contains(reason), "{coverage}");
    }
}

/// A list over `count` pages of ten rows, each of which requests its own from the API. `api` may override the response to a call,
/// by its number.
fn pages_of_lists(count: usize, api: impl Fn(usize) -> Option<Answer> + Send + Sync + 'static) -> Site {
    let calls = std::sync::atomic::AtomicUsize::new(0);
    pages(move |path| {
        if path == "/" || path.starts_with("/list/") {
            return html(
                "<div id=app></div><script>const n = +(location.pathname.split('/')[2] || 0);
                fetch('/api/' + n).then(r => { if (!r.ok) throw new Error('HTTP ' + r.status); return r.json() }).then(d => {
                    app.innerHTML = d.items.map(i => `<a href=/d/${i}.torrent>x</a>`).join('') +
                        (d.more ? `<a href=/list/${n + 1}>next</a>` : '') }).catch(() => { app.innerHTML = '<p>Something went wrong.</p>' })
                </script>",
            );
        }
        let page: usize = path.strip_prefix("/api/")?.parse().ok()?;
        let call = calls.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        let items: Vec<usize> = (page * 10..page * 10 + 10).collect();
        let list = format!("{{\"items\":{items:?},\"more\":{}}}", page + 1 < count);
        api(call).or(Some((200, "application/json", list)))
    })
}

#[test]
fn a_list_whose_interface_refuses_or_fails_for_a_while_goes_on() {
    let refused = |call: usize| matches!(call, 2 | 7 | 8).then(|| (401, "application/json", "{}".to_owned()));
    let (torrents, told, status) = crawl(pages_of_lists(12, refused), "", |_| {});
    assert_eq!(torrents, 120, "{told}");
    assert!(!told.contains("showed nothing") && !status.contains("showed nothing"), "{told}\n{status}");
    let failed = |call: usize| {
        let answer = "{\"error\":\"database is locked\",\"items\":[]}";
        (call == 3).then(|| (200, "application/json", answer.to_owned()))
    };
    let (torrents, told, _) = crawl(pages_of_lists(6, failed), "", |_| {});
    assert_eq!(torrents, 60, "{told}");
}

#[test]
fn an_interface_that_always_refuses_ends_and_is_told_with_its_page() {
    let site = pages_of_lists(2, |_| Some((403, "application/json", "{}".to_owned())));
    let (torrents, told, status) = crawl(site, "", |_| {});
    assert_eq!(torrents, 0);
    for text in [&told, &status] {
        assert!(
            text.contains("1 page showed nothing after their scripts") && text.contains("was answered 403"),
            "{text}"
        );
        assert!(text.contains("1 page was not read whole"), "{text}");
    }
}

#[test]
fn pages_that_show_nothing_are_warned_of_once_and_told_with_the_first_error() {
    let site = pages(|path| match path {
        "/" => html("<a href=/list/1>1</a><a href=/list/2>2</a><a href=/list/3>3</a>"),
        "/app.js" => Some((200, "text/javascript", "function start() {\n  missing.call();\n}\nstart()".to_owned())),
        _ if path.starts_with("/list/") => html("<div id=app></div><script src=/app.js></script>"),
        _ => None,
    });
    let (torrents, told, status) = crawl(site, "", |_| {});
    assert_eq!(torrents, 0);
    assert_eq!(told.matches("a page shows nothing after its scripts").count(), 1, "{told}");
    for text in [&told, &status] {
        assert!(text.contains("3 pages showed nothing after their scripts"), "{text}");
        assert!(text.contains("/list/") && text.contains("missing") && text.contains("/app.js"), "{text}");
    }
}

#[test]
fn a_page_that_waits_for_what_is_missing_names_it_and_is_not_read_whole() {
    let site = pages(|path| match path {
        "/" => html("<a href=/list/1>1</a>"),
        "/list/1" => html(
            "<div id=app></div><script>new WebSocket(`ws://${location.host}/live`).onmessage = e => { app.innerHTML = e.data }</script>",
        ),
        _ => None,
    });
    let (torrents, told, status) = crawl(site, "", |_| {});
    assert_eq!(torrents, 0);
    for text in [&told, &status] {
        assert!(text.contains("1 page showed nothing after their scripts") && text.contains("WebSocket"), "{text}");
        assert!(text.contains("1 page was not read whole"), "{text}");
    }
}

#[test]
fn a_list_that_has_no_height_here_is_told() {
    let site = pages(|path| match path {
        "/" => html("<a href=/list/1>1</a>"),
        "/list/1" => html(
            "<a href=/t/1>1</a><div style='display: grid'><div id=rows style='height: 100%'></div></div>
             <script>rows.onscroll = () => {}; if (rows.offsetHeight) rows.innerHTML = '<a href=/t/2>2</a>'</script>",
        ),
        _ => None,
    });
    let (_, told, status) = crawl(site, "", |_| {});
    let told = unfolded(&told);
    assert!(told.contains("a list may have more to show: its scripts measured 1 box without a height"), "{told}");
    assert!(status.contains("1 page was not read whole"), "{status}");
}

#[test]
fn torrents_that_scripts_fetch_to_save_them_are_links() {
    let site = pages(|path| {
        if path == "/" {
            return html((0..5).map(|n| format!("<a href=/t/{n}>t</a>")).collect::<String>());
        }
        let number = path.strip_prefix("/t/")?;
        html(format!(
            "<h1>Image</h1><div id=app></div><button id=b>Download</button><script>b.onclick = async () => {{
            const blob = await (await fetch('/d/{number}.torrent')).blob(); const a = document.createElement('a');
            a.href = URL.createObjectURL(blob); a.download = 'x.torrent'; a.click() }}</script>"
        ))
    });
    let (torrents, told, _) = crawl(site, "", |_| {});
    assert_eq!(torrents, 5, "{told}");
}

#[test]
fn what_scripts_store_is_there_on_the_next_page_and_a_page_that_reloads_itself_is_read_again_once() {
    let list = "app.innerHTML = [0, 1, 2].map(n => `<a href=/d/${n}.torrent>x</a>`).join('')";
    // Through storage from page to page.
    for storage in ["localStorage", "sessionStorage"] {
        let site = pages(move |path| {
            let script = match path {
                "/" => format!("{storage}.seen = 'v7'; app.innerHTML = '<a href=/list/1>list</a>'"),
                "/list/1" => format!("if ({storage}.seen == 'v7') {list}"),
                _ => return None,
            };
            html(format!("<div id=app></div><script>{script}</script>"))
        });
        let (torrents, told, _) = crawl(site, "", |_| {});
        assert_eq!(torrents, 3, "{storage}: {told}");
    }
    // By reloading, with a storage or a cookie.
    for script in [
        "if (!localStorage.ok) { localStorage.ok = 1; location.reload() } else LIST",
        "if (!document.cookie.includes('ok=1')) { document.cookie = 'ok=1'; location.href = '/?' } else LIST",
        "if (!document.cookie.includes('ok=1')) { document.cookie = 'ok=1'; setTimeout(() => location.reload(), 500) } else LIST",
        "LIST; location.reload()",
    ] {
        let script = script.replace("LIST", list);
        let site =
            pages(move |path| (path == "/").then(|| html(format!("<div id=app></div><script>{script}</script>")))?);
        let (torrents, told, _) = crawl(site, "", |_| {});
        assert_eq!(torrents, 3, "{told}");
    }
}
