//! Renders pages of a server on loopback in this process, and prints how many links each shows.
//!
//! ```text
//! cargo run -p gleaner-render --example site -- http://127.0.0.1:8461/NAME/ …
//! ```
//!
//! `gleaner render` does the same in confined children, which can write no profile: `scripts/profiled` runs this one.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use gleaner_render::wire::{Answer, Reach, Request, RequestId, Response};
use gleaner_render::{Net, Start, Window};
use url::Url;

/// Answers in the order of the requests, one at a time.
#[derive(Default)]
struct Loopback(VecDeque<(RequestId, Request)>);

impl Net for Loopback {
    fn start(&mut self, id: RequestId, request: Request) {
        self.0.push_back((id, request));
    }

    fn wait(&mut self) -> (RequestId, Answer) {
        let Some((id, request)) = self.0.pop_front() else { return (0, Err("nothing was asked".to_owned())) };
        let Request { method, url, headers, body, .. } = request;
        (id, ask(&method, &url, &headers, &body).map_err(|error| error.to_string()))
    }
}

/// HTTP/1.0 (RFC 1945): the connection ends with the body.
fn ask(
    method: &str,
    url: &str,
    headers: &[(String, String)],
    body: &[u8],
) -> Result<Response, Box<dyn std::error::Error>> {
    let url = Url::parse(url)?;
    let (host, port) = (url.host_str().unwrap_or_default(), url.port_or_known_default().unwrap_or(80));
    let mut stream = TcpStream::connect((host, port))?;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    write!(stream, "{method} {path} HTTP/1.0\r\nhost: {host}:{port}\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "content-length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").ok_or("no end of the head")?;
    let head = std::str::from_utf8(&answer[..end])?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).ok_or("no status")?.parse()?;
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Ok(Response { url: url.into(), status, headers, body: answer[end + 4..].to_vec(), ..Response::default() })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    for url in std::env::args().skip(1) {
        let url = Url::parse(&url)?;
        let markup = ask("GET", url.as_str(), &[], &[])?.body;
        let mut window = Window::open(&Start::at(url.clone()), Box::new(Loopback::default()))?;
        window.load(&String::from_utf8_lossy(&markup), Reach::default());
        println!("{url}\t{}", window.links().len());
    }
    Ok(())
}
