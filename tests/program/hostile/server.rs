//! Misbehaving servers over raw sockets: each has its own loopback address and one thread per connection.
//!
//! Outside a kind's misbehaviour (the path to it, and the rest of its site) the server responds correctly. Endless
//! behaviour ends with the client, with [`Hostile`], or after [`CONNECTION_TIME_MAX`].

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use rustix::net::sockopt::set_socket_linger;

use crate::hostile::tls::Certificates;

/// Maximum time of one connection: nearly that of a crawl. On a busy machine a crawl takes minutes, and a connection that ends
/// before it would truncate a response that the kind does not mean to truncate.
pub const CONNECTION_TIME_MAX: Duration = Duration::from_secs(200);

/// Maximum bytes of an endless body: ten times any cap of the crawler.
const FLOOD_BYTES_MAX: usize = 512 << 20;

/// Bytes of a request's head.
const REQUEST_BYTES_MAX: usize = 64 << 10;

/// Maximum connections to one server; more are a bug of the crawler, and reported as one.
pub const CONNECTIONS_MAX: usize = 400;

/// Where a kind misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Its page, and everything linked there except the good torrent.
    Page,
    /// The torrent that its good page links to.
    Torrent,
    /// `/robots.txt`; page and torrent are good.
    Robots,
    /// Every connection, before a request is read.
    Accept,
    /// Every connection, instead of a TLS handshake or with its own certificate.
    Tls,
    /// As the proxy of its site.
    Proxy,
    /// Nothing listens.
    Nowhere,
}

/// The required outcome of the URL at which a kind misbehaves.
#[derive(Clone, Copy, Debug)]
pub enum Ends {
    /// One of these outcomes, by their names in `status`.
    As(&'static [&'static str]),
    /// Its host is given up, for one of these reasons.
    GivenUp(&'static [&'static str]),
    /// In any outcome, or given up: a race decides.
    Somehow,
}

/// One kind of misbehaving server.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    pub name: &'static str,
    pub at: Place,
    pub ends: Ends,
    /// Whether the good torrent must be harvested nevertheless.
    pub keeps: bool,
    /// Connections that a crawl may open to it, retries and robots.txt included.
    pub connections_max: usize,
    pub serve: Serve,
}

pub type Serve = fn(&mut Talk<'_>) -> io::Result<After>;

impl Kind {
    /// The path of its page.
    pub fn page_path(&self) -> String {
        format!("/hostile/{}/", self.name)
    }

    /// The torrent that it serves, unless that is the misbehaviour.
    pub fn torrent(&self) -> Vec<u8> {
        torrent(self.name)
    }

    /// The page that links to it.
    pub fn page(&self) -> String {
        format!(
            "<!doctype html><html><head><title>{0}</title></head><body>\n<a href=\"/hostile/{0}/good.torrent\">{0}</a>\n</body></html>\n",
            self.name
        )
    }
}

/// A v1 torrent of one file with this name.
pub fn torrent(name: &str) -> Vec<u8> {
    format!("d8:announce13:http://a.test4:info{}e", info(name)).into_bytes()
}

/// The info dictionary of [`torrent`].
pub fn info(name: &str) -> String {
    let pieces: String = format!("{name}{}", "-".repeat(20)).chars().take(20).collect();
    format!("d6:lengthi9e4:name{}:{name}12:piece lengthi16384e6:pieces20:{pieces}e", name.len())
}

/// What happens to a connection after a response.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum After {
    /// Waits for the next request.
    Keep,
    /// FIN.
    Close,
    /// RST.
    Reset,
}

trait Wire: Read + Write + Send {}
impl<T: Read + Write + Send> Wire for T {}

/// One connection from a kind's point of view.
pub struct Talk<'a> {
    pub kind: Kind,
    /// Path and query of the request; for a proxy, the whole URL. Empty before the first request.
    pub path: String,
    /// Requests on this connection so far.
    pub requests: usize,
    /// The number of this connection to the server, starting at 1.
    pub connection: usize,
    /// The listening address of this server.
    pub address: SocketAddr,
    pub certificates: &'a Certificates,
    socket: TcpStream,
    wire: Box<dyn Wire>,
    ends: Instant,
    stop: &'a AtomicBool,
}

impl Talk<'_> {
    /// Sends bytes as they are.
    pub fn raw(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<()> {
        if self.stop.load(Ordering::Relaxed) || Instant::now() > self.ends {
            return Err(ErrorKind::TimedOut.into());
        }
        self.wire.write_all(bytes.as_ref())
    }

    /// Sends a response and keeps the connection. Each of the `headers` ends in CRLF.
    pub fn answer(&mut self, status: &str, headers: &str, body: impl AsRef<[u8]>) -> io::Result<After> {
        let body = body.as_ref();
        let head = format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {}\r\n\r\n", body.len());
        if body.len() < 1 << 20 {
            self.raw([head.as_bytes(), body].concat())?;
        } else {
            self.raw(head)?;
            self.raw(body)?;
        }
        Ok(After::Keep)
    }

    /// Responds with a page.
    pub fn html(&mut self, headers: &str, body: impl AsRef<[u8]>) -> io::Result<After> {
        self.answer("200 OK", &format!("Content-Type: text/html; charset=utf-8\r\n{headers}"), body)
    }

    /// Responds with a file that is labelled as a torrent.
    pub fn file(&mut self, body: impl AsRef<[u8]>) -> io::Result<After> {
        self.answer("200 OK", "Content-Type: application/x-bittorrent\r\n", body)
    }

    /// The good page.
    pub fn good_page(&mut self) -> io::Result<After> {
        let page = self.kind.page();
        self.html("", page)
    }

    /// The good torrent.
    pub fn good_torrent(&mut self) -> io::Result<After> {
        let torrent = self.kind.torrent();
        self.file(torrent)
    }

    /// Sends a piece repeatedly until the client is gone.
    pub fn flood(&mut self, piece: &[u8]) -> io::Result<After> {
        let mut sent = 0;
        while sent < FLOOD_BYTES_MAX {
            self.raw(piece)?;
            sent += piece.len();
        }
        Ok(After::Close)
    }

    /// Sends one byte per second.
    pub fn drip(&mut self, bytes: impl AsRef<[u8]>) -> io::Result<After> {
        for byte in bytes.as_ref().chunks(1) {
            self.raw(byte)?;
            self.pause(Duration::from_secs(1))?;
        }
        Ok(After::Close)
    }

    /// Sends nothing for this long, or until the client is gone.
    pub fn pause(&mut self, time: Duration) -> io::Result<()> {
        let until = (Instant::now() + time).min(self.ends);
        self.socket.set_read_timeout(Some(Duration::from_millis(50)))?;
        let mut byte = [0];
        while Instant::now() < until {
            if self.stop.load(Ordering::Relaxed) {
                return Err(ErrorKind::TimedOut.into());
            }
            match self.socket.peek(&mut byte) {
                Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
                // A request that nobody reads.
                Ok(_) => std::thread::sleep(Duration::from_millis(20)),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted) => {
                }
                Err(error) => return Err(error),
            }
        }
        self.socket.set_read_timeout(Some(CONNECTION_TIME_MAX))
    }

    /// Sends nothing until the client is gone.
    pub fn silence(&mut self) -> io::Result<After> {
        self.pause(CONNECTION_TIME_MAX)?;
        Ok(After::Close)
    }

    /// Continues in TLS.
    pub fn tls(&mut self, config: &Arc<rustls::ServerConfig>) -> io::Result<()> {
        let connection = rustls::ServerConnection::new(Arc::clone(config)).map_err(io::Error::other)?;
        self.wire = Box::new(rustls::StreamOwned::new(connection, self.socket.try_clone()?));
        Ok(())
    }

    /// Reads requests and responds until one side stops.
    pub fn converse(&mut self, robots: Serve, page: Serve, torrent: Serve) -> io::Result<After> {
        loop {
            self.read_request()?;
            let after = match self.path.as_str() {
                path if path.ends_with("/robots.txt") => robots(self)?,
                path if path.ends_with("/good.torrent") => torrent(self)?,
                _ => page(self)?,
            };
            if after != After::Keep {
                return Ok(after);
            }
        }
    }

    /// Reads the head of a request.
    pub fn read_request(&mut self) -> io::Result<()> {
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") {
            if head.len() > REQUEST_BYTES_MAX {
                return Err(ErrorKind::FileTooLarge.into());
            }
            self.wire.read_exact(&mut byte)?;
            head.push(byte[0]);
        }
        let text = String::from_utf8_lossy(&head);
        self.path = text.split(' ').nth(1).unwrap_or_default().to_owned();
        self.requests += 1;
        Ok(())
    }

    fn run(&mut self) -> io::Result<After> {
        let good_robots: Serve = |talk| talk.answer("404 Not Found", "", "");
        let (page, torrent): (Serve, Serve) = (|talk| talk.good_page(), |talk| talk.good_torrent());
        match self.kind.at {
            Place::Page => self.converse(good_robots, self.kind.serve, torrent),
            Place::Torrent => self.converse(good_robots, page, self.kind.serve),
            Place::Robots => self.converse(self.kind.serve, page, torrent),
            Place::Accept | Place::Tls | Place::Proxy | Place::Nowhere => (self.kind.serve)(self),
        }
    }
}

/// Responds to every request like a good server; for kinds that misbehave before the first of them.
pub fn behave(talk: &mut Talk<'_>) -> io::Result<After> {
    talk.converse(|talk| talk.answer("404 Not Found", "", ""), |talk| talk.good_page(), |talk| talk.good_torrent())
}

/// A running server of one kind; stops when dropped.
pub struct Hostile {
    pub kind: Kind,
    pub address: SocketAddr,
    /// Connections accepted so far.
    pub connections: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Hostile {
    /// Starts the `number`-th server, on 127.0.0.2 and up.
    pub fn start(kind: Kind, number: usize, certificates: &Arc<Certificates>) -> Self {
        let ip = Ipv4Addr::from(u32::from(Ipv4Addr::LOCALHOST) + 1 + u32::try_from(number).unwrap());
        let listener = TcpListener::bind((ip, 0)).unwrap_or_else(|error| panic!("{ip}: {error}"));
        let address = listener.local_addr().unwrap();
        let (connections, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let thread = (kind.at != Place::Nowhere).then(|| {
            let (connections, stop, certificates) = (connections.clone(), stop.clone(), certificates.clone());
            let accept = move || accept(&listener, kind, &connections, &stop, &certificates);
            std::thread::Builder::new().name(kind.name.to_owned()).spawn(accept).unwrap()
        });
        Self { kind, address, connections, stop, thread }
    }

    /// `scheme://host:port` of the requested URLs.
    pub fn origin(&self) -> String {
        match self.kind.at {
            Place::Tls => format!("https://{}", self.address),
            Place::Proxy => format!("http://{}.invalid", self.kind.name),
            Place::Nowhere if self.kind.name.starts_with("dns-") => format!("http://{}.invalid", self.kind.name),
            _ => format!("http://{}", self.address),
        }
    }

    pub fn page_url(&self) -> String {
        format!("{}{}", self.origin(), self.kind.page_path())
    }

    /// The path of the URL whose outcome is checked against [`Kind::ends`].
    pub fn judged_path(&self) -> String {
        let torrent = if self.kind.at == Place::Torrent { "good.torrent" } else { "" };
        self.kind.page_path() + torrent
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // Wakes the listener; running connections see the flag and end by themselves.
            drop(TcpStream::connect(self.address));
            drop(thread.join());
        }
    }
}

fn accept(
    listener: &TcpListener,
    kind: Kind,
    connections: &AtomicUsize,
    stop: &Arc<AtomicBool>,
    certificates: &Arc<Certificates>,
) {
    for socket in listener.incoming() {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let Ok(socket) = socket else { continue };
        let connection = connections.fetch_add(1, Ordering::Relaxed) + 1;
        if connection > CONNECTIONS_MAX {
            continue;
        }
        let (stop, certificates, address) = (stop.clone(), certificates.clone(), listener.local_addr().unwrap());
        let serve = move || {
            // Most of them end when the client closes the connection.
            let _ = converse(kind, connection, socket, address, &stop, &certificates);
        };
        std::thread::Builder::new().name(kind.name.to_owned()).stack_size(512 << 10).spawn(serve).unwrap();
    }
}

fn converse(
    kind: Kind,
    connection: usize,
    socket: TcpStream,
    address: SocketAddr,
    stop: &AtomicBool,
    certificates: &Certificates,
) -> io::Result<()> {
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(CONNECTION_TIME_MAX))?;
    socket.set_write_timeout(Some(CONNECTION_TIME_MAX))?;
    let ends = Instant::now() + CONNECTION_TIME_MAX;
    let wire = Box::new(socket.try_clone()?);
    let mut talk =
        Talk { kind, path: String::new(), requests: 0, connection, address, certificates, socket, wire, ends, stop };
    match talk.run()? {
        After::Keep | After::Close => talk.socket.shutdown(Shutdown::Both),
        After::Reset => Ok(set_socket_linger(&talk.socket, Some(Duration::ZERO))?),
    }
}
