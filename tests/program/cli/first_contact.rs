//! Misconfigured and unlucky sites: each crawl that gets less than it should names the cause, and ends with the exit code of a failure.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;
use std::thread;

use crate::cli::harness::{closed_port, folder, run, unfolded};

/// Torrents of the site.
const TORRENTS: usize = 12;

/// Crawls at the same time.
const AT_ONCE: usize = 8;

const RULES: &str = "\
start = ['http://SITE/']
[rate]
requests_per_second = 50
connections = 4
[classes]
index = ['^/$', '^/list']
detail = ['^/t/']
download = ['^/dl/']
";

struct Answer {
    status: u16,
    /// Lines with their ends.
    headers: String,
    body: String,
}

impl Answer {
    fn with(mut self, header: &str) -> Self {
        self.headers += &format!("{header}\r\n");
        self
    }
}

fn html(status: u16, body: &str) -> Answer {
    Answer { status, headers: String::new(), body: body.to_owned() }.with("Content-Type: text/html")
}

fn redirect(to: &str) -> Answer {
    html(302, "").with(&format!("Location: {to}"))
}

fn torrent(name: &str) -> Answer {
    let info = format!("6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:{name:->20}", name.len());
    Answer { body: format!("d4:infod{info}ee"), ..html(200, "") }
}

/// The start page, which lists all; with something before that.
fn list(before: &str) -> Answer {
    let rows: String = (1..=TORRENTS).map(|of| format!("<p><a href=/t/{of}>Item {of}</a>")).collect();
    html(200, &format!("{before}{rows}"))
}

/// A start page with eight links that begin so.
fn links(to: &str) -> Answer {
    html(200, &(1..9).map(|of| format!("<a href={to}{of}>x</a>")).collect::<String>())
}

/// The site as it should be.
fn in_order(path: &str) -> Answer {
    if let Some(of) = path.strip_prefix("/t/").filter(|of| !of.starts_with("gone")) {
        return html(200, &format!("<title>Item {of}</title><a href=/dl/{of}.torrent>download</a>"));
    }
    match path.strip_prefix("/dl/") {
        Some(of) => torrent(of),
        None if path == "/" => list(""),
        None => html(404, "<title>Not found</title>"),
    }
}

/// What is wrong.
enum Trouble {
    Nothing,
    /// The start page is answered with this.
    Start(fn() -> Answer),
    /// Downloads are; the argument is the path.
    Downloads(fn(&str) -> Answer),
    Robots(u16, &'static str),
    /// Nobody listens.
    Closed,
}

impl Trouble {
    fn answer(&self, path: &str) -> Answer {
        match self {
            Self::Start(answer) if path == "/" => answer(),
            Self::Downloads(answer) if path.starts_with("/dl/") => answer(path),
            Self::Robots(status, text) if path == "/robots.txt" => html(*status, text),
            _ => in_order(path),
        }
    }
}

struct Case {
    trouble: Trouble,
    /// What the rule file has in place of what.
    rules: (&'static str, &'static str),
    /// What the summary says.
    says: &'static str,
    code: i32,
}

/// A failure by what the site answers.
fn failure(trouble: Trouble, says: &'static str) -> Case {
    Case { trouble, rules: ("", ""), says, code: 1 }
}

fn start(answer: fn() -> Answer, says: &'static str) -> Case {
    failure(Trouble::Start(answer), says)
}

fn downloads(answer: fn(&str) -> Answer, says: &'static str) -> Case {
    failure(Trouble::Downloads(answer), says)
}

/// What the rule file makes of a site in order.
fn rules(from: &'static str, to: &'static str, says: &'static str, code: i32) -> Case {
    Case { trouble: Trouble::Nothing, rules: (from, to), says, code }
}

fn cases() -> Vec<Case> {
    vec![
        start(|| html(404, "<title>Nope</title>"), "was not read: status 404"),
        start(|| html(403, "<title>Members only</title>"), "was not read: status 403: “Members only”"),
        start(|| html(451, ""), "was not read: status 451"),
        start(|| html(403, "<title>Just a moment...</title>").with("cf-mitigated: challenge"), "“Just a moment...”"),
        start(|| html(401, "").with("WWW-Authenticate: Basic realm=x"), "add a `[login]`"),
        start(|| html(200, ""), "was not read: an empty response"),
        start(
            || Answer { headers: "Content-Type: application/json\r\n".into(), ..html(200, "{\"ok\":true}") },
            "start URL",
        ),
        start(
            || Answer { headers: "Content-Type: image/png\r\n".into(), ..html(200, "\u{89}PNG\r\n\u{1a}\n00") },
            "start URL",
        ),
        start(|| redirect("http://other.invalid/"), "a redirect to http://other.invalid/"),
        start(
            || html(200, "<div id=root></div><script src=/missing.js></script>"),
            "showed nothing after their scripts",
        ),
        start(|| links("/x/"), "most links without a class: 8 of /x/{n}"),
        start(
            || links("http://files.invalid/dl/"),
            "hint: if you may fetch from there, `hosts = [\"SITE\", \"files.invalid\"]`",
        ),
        start(|| list("<meta name=robots content=nofollow>"), "(nofollow)"),
        start(
            || html(200, "<a href=/t/gone/1>x</a>"),
            "none of 1 pages of torrents and threads was read; most: 1 detail: gone (status 404)",
        ),
        downloads(|_| redirect("/notice"), "a redirect to http://SITE/notice"),
        downloads(|_| redirect("/login.php"), "a redirect to http://SITE/login.php"),
        downloads(|path| redirect(&format!("http://cdn.invalid{path}")), "http://cdn.invalid"),
        downloads(
            |_| html(403, "<title>Members only</title>"),
            "12 URLs of classes.download got the same answer: status 403: “Members only”",
        ),
        downloads(|_| html(200, "<title>Daily limit</title>Come back tomorrow"), "Daily limit"),
        downloads(|_| html(200, ""), "empty"),
        downloads(|_| html(404, ""), "ended alike: status 404"),
        failure(Trouble::Robots(200, "User-agent: *\nDisallow: /"), "was not read: robots.txt closes it"),
        failure(Trouble::Robots(200, "User-agent: *\nDisallow: /dl/"), "robots.txt closes 12 download URLs"),
        failure(Trouble::Robots(500, ""), "robots.txt"),
        failure(Trouble::Closed, "refused"),
        rules("^/dl/", "^/get/", "none has a link of classes.download", 1),
        rules("http:", "https:", "TLS", 1),
        rules("SITE", "no-such-host.invalid", "no-such-host.invalid", 1),
        rules(
            "[rate]",
            "private_addresses = false\n[rate]",
            "hint: if it may be crawled, write `private_addresses = true`",
            1,
        ),
        rules(
            "[rate]",
            "render.index = 'never'\nshortcut.index = { url = '/api', items = 'rows', link = ['/dl/{id}'] }\n[rate]",
            "the request that brings its data failed: ",
            // The page itself gave all.
            0,
        ),
        // Perhaps all that it has.
        Case { code: 0, ..start(|| html(200, "<p>Coming soon"), "no link of the 1 page read leads to a torrent") },
        // Everything came, and the rules are still wrong.
        rules("'^/$', '^/list'", "'^/'", "were taken by classes.index `^/`", 0),
        Case {
            trouble: Trouble::Start(|| list("<a href='/list?page=2'>2</a><a href='/list?page=3'>3</a>")),
            rules: ("[rate]", "deny = ['page=']\n[rate]"),
            says: "its later pages are closed by deny",
            code: 1,
        },
    ]
}

fn serve(mut client: TcpStream, trouble: &Trouble) -> std::io::Result<()> {
    let mut requests = BufReader::new(client.try_clone()?);
    loop {
        let mut line = String::new();
        if requests.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let path = line.split(' ').nth(1).unwrap_or("/").to_owned();
        while requests.read_line(&mut line)? > 2 {}
        let Answer { status, headers, body } = trouble.answer(&path);
        write!(client, "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\n\r\n{body}", body.len())?;
    }
}

/// What a crawl said that did not end as the case wants; None if it did.
fn fault(case: Case) -> Option<String> {
    let Case { trouble, rules: (from, to), says, code } = case;
    let address = if matches!(trouble, Trouble::Closed) {
        format!("127.0.0.1:{}", closed_port())
    } else {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        // Ends with the process; no request comes after the crawl.
        thread::spawn(move || {
            let trouble = &trouble;
            thread::scope(|scope| {
                for client in listener.incoming().flatten() {
                    scope.spawn(move || serve(client, trouble));
                }
            });
        });
        address
    };
    let here = folder();
    fs::create_dir(here.path().join("rules")).unwrap();
    let text = RULES.replacen(from, to, usize::from(!from.is_empty())).replace("SITE", &address);
    fs::write(here.path().join("rules/s.toml"), text).unwrap();
    let ran = run(here.path(), &["crawl", "--data", "data", "--rules", "rules", "--max-time", "60"]);
    let is_said = unfolded(&ran.out).contains(&says.replace("SITE", &address));
    (ran.code != Some(code) || !is_said).then(|| format!("{says:?}, {code}: {:?}\n{}{}", ran.code, ran.out, ran.err))
}

#[test]
fn a_crawl_that_got_less_than_it_should_names_the_cause() {
    let cases = Mutex::new(cases());
    let faults = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                while let Some(case) = { cases.lock().unwrap().pop() } {
                    let found = fault(case);
                    faults.lock().unwrap().extend(found);
                }
            });
        }
    });
    let faults = faults.into_inner().unwrap();
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
}
