//! `gleaner-lab render`: renders pages in this process.
//!
//! `gleaner render` does so in confined children, which can write no profile: `scripts/profiled` runs this command.

use std::collections::VecDeque;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use anyhow::{Context as _, ensure};
use clap::Args;
use gleaner_render::wire::{Answer, Reach, Request, RequestId, Response};
use gleaner_render::{Net, Start, Window};
use url::Url;

use crate::limits::{RESPONSE_BYTES_MAX, SILENCE_MAX};

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
    stream.set_read_timeout(Some(SILENCE_MAX))?;
    let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
    let mut request = format!("{method} {path} HTTP/1.0\r\nhost: {place}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        request += &format!("{name}: {value}\r\n");
    }
    stream.write_all(&[request.as_bytes(), b"\r\n", body].concat())?;
    let mut answer = Vec::new();
    stream
        .take(RESPONSE_BYTES_MAX + 1)
        .read_to_end(&mut answer)
        .with_context(|| format!("no whole answer for {url}"))?;
    ensure!(
        answer.len() as u64 <= RESPONSE_BYTES_MAX,
        "the answer for {url} is longer than {RESPONSE_BYTES_MAX} bytes"
    );
    let end = answer.windows(4).position(|four| four == b"\r\n\r\n").context("no end of the head")?;
    let head = std::str::from_utf8(&answer[..end])?;
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).context("no status")?.parse()?;
    let headers = lines.filter_map(|line| line.split_once(": "));
    let headers = headers.map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned())).collect();
    Ok(Response { url: url.to_string(), status, headers, body: answer[end + 4..].to_vec(), ..Response::default() })
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    /// Answers one request, and gives its head.
    fn answered(answer: &'static [u8]) -> (anyhow::Result<Response>, String) {
        let server = TcpListener::bind(("127.0.0.1", 0)).expect("loopback has free ports");
        let url = format!("http://{}/a?b#c", server.local_addr().expect("it is bound"));
        let asked = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().expect("the request comes");
            let mut head = [0; 1024];
            let length = stream.read(&mut head).expect("it is there");
            stream.write_all(answer).expect("it is read");
            String::from_utf8_lossy(&head[..length]).into_owned()
        });
        let response = ask("GET", &Url::parse(&url).expect("it is one"), &[("a".to_owned(), "b".to_owned())], &[]);
        (response, asked.join().expect("the server ends"))
    }

    #[test]
    fn a_response_is_what_the_server_said() {
        let (response, asked) = answered(b"HTTP/1.0 404 No\r\nContent-Type: text/html\r\n\r\n<a href=b>");
        let response = response.expect("it is whole");
        assert_eq!((response.status, &response.body[..]), (404, &b"<a href=b>"[..]));
        assert_eq!(response.headers, [("content-type".to_owned(), "text/html".to_owned())]);
        assert!(asked.starts_with("GET /a?b HTTP/1.0\r\n") && asked.contains("\r\na: b\r\n"), "{asked}");
    }

    #[test]
    fn what_is_no_response_or_not_on_this_machine_is_an_error() {
        assert!(answered(b"HTTP/1.0 200 OK\r\n").0.is_err());
        let elsewhere = Url::parse("http://192.0.2.1/").expect("it is one");
        let told = ask("GET", &elsewhere, &[], &[]).err().map(|error| error.to_string());
        assert_eq!(told.as_deref(), Some("http://192.0.2.1/ is not on this machine"));
    }
}
