//! `gleaner-lab render`: renders pages in this process.
//!
//! `gleaner render` does so in confined children, which can write no profile: `scripts/profiled` runs this command.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::Context as _;
use clap::Args;
use gleaner_render::wire::{Answer, Reach, Request, RequestId, Response};
use gleaner_render::{Net, Start, Window};
use url::Url;

use crate::limits::RESPONSE_BYTES_MAX;

#[derive(Args, Clone, Debug)]
pub struct Options {
    /// Pages on this machine: http://127.0.0.1:PORT/…
    #[arg(required = true, value_name = "URL")]
    urls: Vec<Url>,
}

/// Renders one page after the other, and prints how many links each shows.
pub fn command(options: &Options) -> anyhow::Result<()> {
    for url in &options.urls {
        let markup = ask("GET", url, &[], &[])?.body;
        let mut window = Window::open(&Start::at(url.clone()), Box::new(Loopback::default()))?;
        window.load(&String::from_utf8_lossy(&markup), Reach::default());
        outln!("{url}\t{}", window.links().len());
    }
    Ok(())
}

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
        let answer = Url::parse(&url).map_err(anyhow::Error::from).and_then(|url| ask(&method, &url, &headers, &body));
        (id, answer.map_err(|error| error.to_string()))
    }
}

/// HTTP/1.0 (RFC 1945): the connection ends with the body.
fn ask(method: &str, url: &Url, headers: &[(String, String)], body: &[u8]) -> anyhow::Result<Response> {
    let places = url.socket_addrs(|| None)?;
    let place = places.iter().find(|place| place.ip().is_loopback());
    let place = place.with_context(|| format!("{url} is not on this machine"))?;
    let mut stream = TcpStream::connect(place).with_context(|| format!("no connection to {place}"))?;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    write!(stream, "{method} {path} HTTP/1.0\r\nhost: {place}\r\n")?;
    for (name, value) in headers {
        write!(stream, "{name}: {value}\r\n")?;
    }
    write!(stream, "content-length: {}\r\n\r\n", body.len())?;
    stream.write_all(body)?;
    let mut answer = Vec::new();
    stream.take(RESPONSE_BYTES_MAX).read_to_end(&mut answer)?;
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").context("no end of the head")?;
    let head = std::str::from_utf8(&answer[..end])?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?.parse()?;
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Ok(Response { url: url.to_string(), status, headers, body: answer[end + 4..].to_vec(), ..Response::default() })
}
