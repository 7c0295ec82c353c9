//! Runs a page of this machine in the engine, does what its manifest says, and prints the links of each state as JSON:
//! `{"load": […], "states": [[…], …], "navigations": […], "errors": […]}`.
//!
//! `render_page http://127.0.0.1:8461/NAME/ [pages/NAME/page.json]`. It talks to 127.0.0.1 and nobody else.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use gleaner::render::engine::Start;
use gleaner::render::engine::jobs::Reach;
use gleaner::render::engine::net::{Answer, Net, Request, RequestId, Response};
use gleaner::render::web::load::{Setting, Window};
use gleaner::render::web::window::Viewport;
use url::Url;

/// Bytes of one answer, and redirects on the way to it.
const BODY_BYTES: u64 = 32 << 20;
const REDIRECTS: usize = 5;

/// A network that is this machine: one connection a request, one request at a time.
#[derive(Default)]
struct Loopback {
    waiting: VecDeque<(RequestId, Request)>,
    cookies: BTreeMap<String, String>,
}

impl Net for Loopback {
    fn start(&mut self, id: RequestId, request: Request) {
        self.waiting.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        match self.waiting.pop_front() {
            Some((id, request)) => (id, self.ask(&request)),
            None => (0, Err("nothing was asked".to_owned())),
        }
    }

    fn cookie(&mut self, text: &str) {
        self.keep(text);
    }
}

impl Loopback {
    fn keep(&mut self, text: &str) {
        if let Some((name, value)) = text.split(';').next().and_then(|pair| pair.split_once('=')) {
            self.cookies.insert(name.trim().to_owned(), value.trim().to_owned());
        }
    }

    fn ask(&mut self, request: &Request) -> Answer {
        let mut request = request.clone();
        for hop in 0..=REDIRECTS {
            let mut response = self.ask_once(&request).map_err(|error| error.to_string())?;
            let location = response.header("location").map(str::to_owned);
            let Some(location) = location.filter(|_| (300..400).contains(&response.status)) else {
                response.redirected = hop > 0;
                return Ok(response);
            };
            let next =
                Url::parse(&request.url).and_then(|url| url.join(&location)).map_err(|error| error.to_string())?;
            request.url = next.to_string();
            if response.status != 307 && response.status != 308 {
                request.method = "GET".to_owned();
                request.body.clear();
            }
        }
        Err("too many redirects".to_owned())
    }

    fn ask_once(&mut self, request: &Request) -> std::io::Result<Response> {
        let refuse = |why: &str| std::io::Error::other(why.to_owned());
        let url = Url::parse(&request.url).map_err(|_| refuse("no address"))?;
        if url.host_str() != Some("127.0.0.1") || url.scheme() != "http" {
            return Err(refuse("not this machine"));
        }
        let port = url.port().unwrap_or(80);
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(10)))?;
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let mut head = format!("{} {path} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\nconnection: close\r\n", request.method);
        for (name, value) in &request.headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        if request.credentials && !self.cookies.is_empty() {
            let cookies: Vec<String> = self.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect();
            head.push_str(&format!("cookie: {}\r\n", cookies.join("; ")));
        }
        if !request.body.is_empty() || request.method == "POST" {
            head.push_str(&format!("content-length: {}\r\n", request.body.len()));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes())?;
        stream.write_all(&request.body)?;
        let mut bytes = Vec::new();
        stream.take(BODY_BYTES).read_to_end(&mut bytes)?;
        let response = read(&bytes, &request.url).ok_or_else(|| refuse("no HTTP"))?;
        let set: Vec<String> =
            response.headers.iter().filter(|(name, _)| name == "set-cookie").map(|(_, v)| v.clone()).collect();
        set.iter().for_each(|text| self.keep(text));
        Ok(response)
    }
}

/// An answer as it came, to the end of the connection.
fn read(bytes: &[u8], url: &str) -> Option<Response> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let mut lines = head.split("\r\n");
    let mut status = lines.next()?.splitn(3, ' ').skip(1);
    let (code, text) = (status.next()?.parse().ok()?, status.next().unwrap_or_default().to_owned());
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    let mut body = bytes[end + 4..].to_vec();
    if headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked") {
        body = chunks(&body)?;
    }
    Some(Response { url: url.to_owned(), redirected: false, status: code, status_text: text, headers, body })
}

fn chunks(mut rest: &[u8]) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let end = rest.windows(2).position(|two| two == b"\r\n")?;
        let size = usize::from_str_radix(std::str::from_utf8(&rest[..end]).ok()?.split(';').next()?.trim(), 16).ok()?;
        if size == 0 {
            return Some(body);
        }
        body.extend_from_slice(rest.get(end + 2..end + 2 + size)?);
        rest = rest.get(end + 4 + size..)?;
    }
}

fn links(window: &mut Window) -> Vec<String> {
    let set: BTreeSet<String> = window.links().into_iter().map(|link| link.url).collect();
    set.into_iter().collect()
}

fn run(address: &str, manifest: &serde_json::Value) -> serde_json::Value {
    let url = Url::parse(address).expect("the first argument is an address");
    let mut net = Loopback::default();
    let request = Request {
        asker: gleaner::render::engine::net::Asker::Fetch,
        method: "GET".to_owned(),
        url: address.to_owned(),
        headers: Vec::new(),
        credentials: true,
        body: Vec::new(),
    };
    let page = net.ask(&request).expect("the page is there");
    let height = if manifest["viewport"] == "tall" { 12_000.0 } else { 800.0 };
    let setting = Setting {
        viewport: Viewport { height, ..Viewport::default() },
        cookies: net.cookies.iter().map(|(name, value)| format!("{name}={value}")).collect(),
        ..Setting::default()
    };
    let start = Start { now_ms: 1_790_000_000_000, ..Start::at(url) };
    let mut window = Window::open_with(&start, &setting, Box::new(net)).expect("the engine starts");
    let end = window.load(&String::from_utf8_lossy(&page.body), Reach::default());
    let load = links(&mut window);
    let mut states = Vec::new();
    let mut faults = vec![format!("{end:?}")];
    for act in manifest["interactions"].as_array().cloned().unwrap_or_default() {
        if let Some(selectors) = act["click"].as_str() {
            if !window.click(selectors) {
                faults.push(format!("nothing to click: {selectors}"));
            }
        } else if act["scroll"] == "bottom" {
            window.scroll_to_bottom();
        } else if let Some(address) = act["goto"].as_str() {
            window.go_to(address);
        } else if act["back"] == true {
            window.back();
        } else {
            faults.push(format!("not an act: {act}"));
        }
        faults.push(format!("{:?}", window.engine.run(Reach::default())));
        states.push(links(&mut window));
    }
    let navigations: BTreeSet<String> = window.navigations().into_iter().map(|one| one.url).collect();
    if std::env::var_os("RENDER_HTML").is_some() {
        eprintln!("{}", window.html());
    }
    let page = window.engine.page().borrow();
    let errors: Vec<String> =
        page.errors.iter().map(|one| format!("{} ({}:{}:{})", one.message, one.source, one.line, one.column)).collect();
    let console: Vec<String> = page.console.iter().map(|line| format!("{}: {}", line.level, line.text)).collect();
    serde_json::json!({
        "load": load, "states": states, "navigations": navigations, "errors": errors, "console": console,
        "ends": faults, "spent": page.spent().map(|spent| spent.to_string()),
    })
}

fn main() {
    let mut args = std::env::args().skip(1);
    let address = args.next().expect("render_page URL [page.json]");
    let manifest = args.next().map_or(serde_json::Value::Null, |path| {
        let text = std::fs::read_to_string(&path).expect("the manifest is there");
        serde_json::from_str(&text).expect("the manifest is JSON")
    });
    let thread = std::thread::Builder::new().stack_size(256 << 20);
    let page = thread.spawn(move || run(&address, &manifest)).expect("a thread starts");
    println!("{}", page.join().expect("the page ends"));
}
