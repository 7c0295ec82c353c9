//! The transport over sockets: one reqwest client per site, with the site's cookies, headers and proxy. Connections
//! are capped over all hosts of a site that share a domain or an address, and a client keeps idle ones per origin; so
//! a site that moves to another origin gets a new client, and the idle connections of the old one close. Redirects
//! are off (every hop goes back to the crawl). Proxies of the environment are ignored (a site's proxy is in its rule
//! file). Addresses that are not public are refused unless the site's rule file allows them (see [`super::resolve`]).

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use percent_encoding::{AsciiSet, percent_encode};
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::codings::{Codings, Step};
use super::dns::{Dns, DnsError};
use super::failure::{LONG_HEAD, LONG_TRAILERS, failure};
use super::referer;
use super::resolve::{self, AddressPolicy, GuardedResolver};
use super::session::Jar;
use super::tls::Tls;
use super::{Body, FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use crate::limits;
use gleaner_base::url::CrawlUrl;

/// Options of a client.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    pub user_agent: &'a str,
    /// Sent with every request to the site.
    pub headers: &'a [(Box<str>, Box<str>)],
    /// `http://`, `https://`, `socks5://` or `socks5h://` URL.
    pub proxy: Option<&'a url::Url>,
    /// Addresses to which connections are allowed. Does not cover names that the proxy resolves.
    pub addresses: AddressPolicy,
    /// The process's resolver.
    pub dns: Dns,
    /// The process's TLS settings.
    pub tls: Tls,
    /// The site's cookies.
    pub cookies: Arc<Jar>,
    /// Idle connections kept, over all origins.
    pub connections_max: usize,
    /// Longest time of one request. Connecting and read pauses have lower caps of their own.
    pub timeout: Duration,
}

const NO_CERTIFICATES: &str = "\nhint: install the system's certificates (Debian: apt-get install ca-certificates)";

/// A client that cannot be built. The checks of the rule file should have reported it before.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be built: {0}")]
pub struct ClientError(String);

impl ClientError {
    fn of(error: impl std::fmt::Display) -> Self {
        let text = error.to_string();
        // A small system has none, and the verifier has no type for that.
        let hint = if text.contains("No CA certificates") { NO_CERTIFICATES } else { "" };
        Self(text + hint)
    }
}

impl From<ClientError> for FetchFailure {
    fn from(error: ClientError) -> Self {
        Self { kind: FailureKind::Protocol, detail: error.to_string() }
    }
}

/// A site's HTTP client.
pub struct HttpTransport {
    clients: Clients,
    kept: Mutex<IdleClients>,
    long_heads: LongHeads,
    addresses: AddressPolicy,
    /// None if the proxy resolves names.
    dns: Option<Dns>,
    timeout: Duration,
    /// The proxy without its credentials, for messages.
    proxy: Option<Box<str>>,
}

/// The options from which all clients of one site are built.
struct Clients {
    headers: HeaderMap,
    proxy: Option<reqwest::Proxy>,
    tls: Tls,
    cookies: Arc<Jar>,
    resolver: Arc<GuardedResolver>,
    connections_max: usize,
    connect_time_max: Duration,
}

/// The clients whose idle connections are kept, one per recently used origin, the latest last: at most as many as the
/// site may have connections. If there are several, each keeps one connection, because origins may share a server.
#[derive(Default)]
struct IdleClients {
    /// With the header lines that each reads of one response.
    clients: Vec<(url::Origin, reqwest::Client, usize)>,
    has_several: bool,
}

/// Origins that sent an answer with more header lines than usual: from their next request on, all are read. Room for so many costs a tenth
/// of a crawl's processor time. The request is not sent again here: its failure is retried as any other, when its host may be asked again.
#[derive(Clone, Default)]
struct LongHeads(Arc<Mutex<Vec<url::Origin>>>);

impl LongHeads {
    /// The header lines to read of an answer of this origin.
    fn lines(&self, origin: &url::Origin) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if known.contains(origin) { limits::HEADER_LINES_MAX } else { limits::USUAL_HEADER_LINES_MAX }
    }

    /// Notes an origin by the failure of its answer. None is forgotten, and beyond the cap none is added.
    fn note(&self, origin: &url::Origin, failure: &FetchFailure) {
        if matches!(&*failure.detail, LONG_HEAD | LONG_TRAILERS) {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            if known.len() < limits::LONG_HEAD_ORIGINS_MAX && !known.contains(origin) {
                known.push(origin.clone());
            }
        }
    }
}

impl HttpTransport {
    /// Builds the client.
    pub fn new(options: &ClientOptions<'_>) -> Result<Self, ClientError> {
        let clients = Clients::of(options)?;
        // Errors show here. Building a trial client would cost each site as much as a real one.
        clients.tls.config().map_err(ClientError::of)?;
        let kept = Mutex::default();
        let proxy_resolves = options.proxy.is_some_and(|proxy| proxy.scheme() != "socks5");
        let dns = (!proxy_resolves).then(|| options.dns.clone());
        let timeout = options.timeout.min(limits::REQUEST_TIME_MAX);
        let proxy = options.proxy.map(told_proxy);
        let long_heads = LongHeads::default();
        Ok(Self { clients, kept, long_heads, addresses: options.addresses.clone(), dns, timeout, proxy })
    }

    /// A failure to connect, which the proxy may be the cause of.
    fn over_proxy(&self, failure: FetchFailure) -> FetchFailure {
        match (&self.proxy, failure.kind) {
            (Some(proxy), FailureKind::Connect | FailureKind::Dns) => {
                FetchFailure { detail: format!("over the proxy {proxy}: {}", failure.detail), ..failure }
            }
            _ => failure,
        }
    }

    /// The client for an origin. A client evicted for it closes its idle connections at once, and the others after their responses.
    fn client(&self, origin: &url::Origin) -> Result<reqwest::Client, ClientError> {
        let lines = self.long_heads.lines(origin);
        // The list is consistent between any two statements that could panic.
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(at) = kept.clients.iter().position(|(known, ..)| known == origin) {
            kept.clients[at..].rotate_left(1);
            let connections_max = if kept.has_several { 1 } else { self.clients.connections_max };
            if let Some((_, client, has)) = kept.clients.last_mut().filter(|(.., has)| *has != lines) {
                (*client, *has) = (self.clients.build(connections_max, lines)?, lines);
            }
        } else {
            if !kept.clients.is_empty() && !kept.has_several {
                kept.has_several = true;
                kept.clients.clear();
            }
            let connections_max = self.clients.connections_max;
            let client = self.clients.build(if kept.has_several { 1 } else { connections_max }, lines)?;
            if kept.clients.len() >= connections_max.max(1) {
                kept.clients.remove(0);
            }
            kept.clients.push((origin.clone(), client, lines));
        }
        let client = kept.clients.last().map(|(_, client, _)| client.clone());
        client.ok_or_else(|| ClientError::of("no client"))
    }

    /// The request as it is sent.
    fn asking(&self, client: &reqwest::Client, request: &Request<'_>, url: &url::Url) -> reqwest::RequestBuilder {
        let jar = &self.clients.cookies;
        let is_known = request.by_script.is_none_or(|script| script.credentials);
        let authorization = jar.authorization(url).filter(|_| is_known);
        // Cookies in the rule file's headers replace those of the jar.
        let cookies = jar.cookies(url).filter(|_| is_known && !self.clients.headers.contains_key(header::COOKIE));
        let page = match request.post {
            Some(post) => Some(post.referer),
            None => request.referer.filter(|_| !self.clients.headers.contains_key(header::REFERER)),
        };
        let referer = page.and_then(|page| referer::of(page, request.url));
        let mut asking = match request.post {
            None => client.get(url.clone()),
            Some(post) => {
                // Browsers send the origin with each POST.
                let asking = client.post(url.clone()).header(header::CONTENT_TYPE, post.content_type);
                asking.header(header::ORIGIN, post.referer.origin()).body(post.body.to_vec())
            }
        };
        for (name, value) in
            request.by_script.map(|script| script.headers).unwrap_or_default().iter().take(limits::HEADERS_MAX)
        {
            // Invalid header values are skipped. Headers of the client and the cookie jar cannot be set by scripts.
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
            let Ok(mut value) = HeaderValue::from_str(value) else { continue };
            let is_told = name == header::AUTHORIZATION && authorization.is_some();
            let overrides = name.as_str().starts_with("x-http-method") || name.as_str() == "x-method-override";
            if !is_told && !overrides && !NOT_FOR_SCRIPTS.contains(&name) {
                value.set_sensitive(true);
                asking = asking.header(name, value);
            }
        }
        let known = [(header::AUTHORIZATION, authorization), (header::COOKIE, cookies), (header::REFERER, referer)];
        for (name, value) in known.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            asking = asking.header(name, value);
        }
        if let Some(validators) = request.validators {
            for (name, value) in
                [(header::IF_NONE_MATCH, &validators.etag), (header::IF_MODIFIED_SINCE, &validators.last_modified)]
            {
                // Invalid header values are skipped: the page is then sent in full.
                if let Some(value) = value.as_deref().and_then(|text| HeaderValue::from_bytes(text.as_bytes()).ok()) {
                    asking = asking.header(name, value);
                }
            }
        }
        asking
    }
}

impl Clients {
    fn of(options: &ClientOptions<'_>) -> Result<Self, ClientError> {
        let mut headers = HeaderMap::new();
        headers.insert(header::USER_AGENT, HeaderValue::from_str(options.user_agent).map_err(ClientError::of)?);
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/x-bittorrent, text/html, application/xhtml+xml, */*;q=0.8"),
        );
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate"));
        for (name, value) in options.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(ClientError::of)?;
            headers.insert(name, HeaderValue::from_str(value).map_err(ClientError::of)?);
        }
        let proxy = options.proxy.map(|proxy| reqwest::Proxy::all(proxy.clone())).transpose();
        let resolver = GuardedResolver::new(options.dns.clone(), options.addresses.clone(), options.proxy);
        Ok(Self {
            headers,
            proxy: proxy.map_err(ClientError::of)?,
            tls: options.tls.clone(),
            cookies: Arc::clone(&options.cookies),
            resolver: Arc::new(resolver),
            connections_max: options.connections_max,
            connect_time_max: limits::CONNECT_TIME_MAX.min(options.timeout),
        })
    }

    fn build(&self, idle_max: usize, lines: usize) -> Result<reqwest::Client, ClientError> {
        let mut builder = reqwest::Client::builder()
            .default_headers(self.headers.clone())
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .tls_backend_preconfigured(self.tls.config().map_err(ClientError::of)?)
            // Data that hyper reads ahead is not counted by the allowance.
            .http2_initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
            .http2_initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
            // Browsers and curl pass over a line that is no header; one bad line must not cost the answer.
            .http1_ignore_invalid_headers_in_responses(true)
            .http1_allow_spaces_after_header_name_in_responses(true)
            .http1_allow_obsolete_multiline_headers_in_responses(true)
            .http1_max_headers(lines)
            // [`Patience`] enforces the read and request timeouts: the client's own timeouts would run on while a
            // large body waits for its share of memory.
            .connect_timeout(self.connect_time_max)
            .pool_max_idle_per_host(idle_max)
            .pool_idle_timeout(limits::IDLE_CONNECTION_TIME)
            .dns_resolver(Arc::clone(&self.resolver));
        if let Some(proxy) = &self.proxy {
            builder = builder.proxy(proxy.clone());
        }
        builder.build().map_err(ClientError::of)
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let url = parsed(request.url)?;
        self.addresses.check_literal(&url)?;
        let mut patience = Patience {
            left: self.timeout,
            silence: limits::CONNECT_TIME_MAX + limits::READ_TIME_MAX,
            origin: url.origin(),
            long_heads: self.long_heads.clone(),
        };
        let asking = self.asking(&self.client(&patience.origin)?, &request, &url);
        let response = patience.wait(asking.send()).await.map_err(|failure| self.over_proxy(failure))?;
        // Done here, because the client's own cookie store ignores the server's clock.
        if request.by_script.is_none_or(|script| script.credentials) {
            self.clients.cookies.take(response.headers(), &url);
        }
        patience.silence = limits::READ_TIME_MAX;
        let status = response.status().as_u16();
        let codings =
            Codings::of(response.headers().get_all(header::CONTENT_ENCODING).iter().map(HeaderValue::as_bytes));
        let mut headers = response_headers(&response);
        if request.by_script.is_some() {
            headers.for_scripts = headers_for_scripts(response.headers());
        }
        Ok(match codings {
            None => Response { status, headers, body: Box::new(PlainBody { response, patience }) },
            Some(codings) => {
                // Content-Length counts coded bytes.
                headers.content_length = None;
                Response { status, headers, body: Box::new(CodedBody { response, patience, codings }) }
            }
        })
    }

    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        let url = parsed(url)?;
        self.addresses.check_literal(&url)?;
        if let Some(address) = resolve::literal(&url) {
            return Ok(Resolution { addresses: vec![address], ttl: limits::DNS_TTL_MAX });
        }
        let (Some(dns), Some(host)) = (&self.dns, url.host_str()) else { return Ok(Resolution::default()) };
        let located = dns.lookup(host).await?;
        Ok(Resolution { addresses: self.addresses.allowed(host, &located.addresses)?, ttl: located.ttl })
    }

    fn script_cookies(&self, url: &CrawlUrl) -> Vec<String> {
        parsed(url).map(|url| self.clients.cookies.for_scripts(&url)).unwrap_or_default()
    }

    fn set_script_cookie(&self, url: &CrawlUrl, text: &str) {
        if let Ok(url) = parsed(url) {
            self.clients.cookies.set_by_script(text, &url);
        }
    }
}

const ROBOTS_TAG: HeaderName = HeaderName::from_static("x-robots-tag");

/// Headers of a request that no script can set (Fetch §2.2.2 "forbidden request-header").
const NOT_FOR_SCRIPTS: [HeaderName; 12] = [
    header::ACCEPT_ENCODING,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::CONTENT_TYPE,
    header::COOKIE,
    header::EXPECT,
    header::HOST,
    header::ORIGIN,
    header::REFERER,
    header::TE,
    header::TRANSFER_ENCODING,
    header::USER_AGENT,
];

/// The response headers that scripts may see, without `HttpOnly` cookies.
fn headers_for_scripts(headers: &HeaderMap) -> Vec<(String, String)> {
    let told = headers.iter().take(limits::SCRIPT_HEADERS_MAX).filter_map(|(name, value)| {
        let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
        let is_hidden = *name == header::SET_COOKIE
            && value.split(';').skip(1).any(|part| part.trim().eq_ignore_ascii_case("httponly"));
        (!is_hidden).then(|| (name.as_str().to_owned(), value))
    });
    told.collect()
}

fn told_proxy(proxy: &url::Url) -> Box<str> {
    let port = proxy.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}://{}{port}", proxy.scheme(), proxy.host_str().unwrap_or_default()).into()
}

fn parsed(url: &CrawlUrl) -> Result<url::Url, FetchFailure> {
    url.to_url().map_err(|error| FetchFailure { kind: FailureKind::Protocol, detail: error.to_string() })
}

impl From<DnsError> for FetchFailure {
    fn from(error: DnsError) -> Self {
        Self { kind: FailureKind::Dns, detail: error.to_string() }
    }
}

/// Timeouts of a request, and what is noted of its failure. Only the time spent waiting counts.
struct Patience {
    /// Time left for the whole request.
    left: Duration,
    /// Timeout for one response, or one piece.
    silence: Duration,
    origin: url::Origin,
    /// Where it is noted if the answer, or what follows its body, has too many header lines.
    long_heads: LongHeads,
}

impl Patience {
    /// Maximum time counted per wait: a site that waits for a commit does not poll its requests meanwhile, and that
    /// must not count against their servers.
    const LOOK: Duration = Duration::from_secs(1);

    async fn wait<T>(&mut self, answer: impl Future<Output = Result<T, reqwest::Error>>) -> Result<T, FetchFailure> {
        let most = self.silence.min(self.left);
        let mut answer = std::pin::pin!(answer);
        let mut waited = Duration::ZERO;
        loop {
            let stretch = Self::LOOK.min(most - waited);
            let began = tokio::time::Instant::now();
            let answered = tokio::time::timeout(stretch, &mut answer).await;
            let counted = began.elapsed().min(stretch);
            waited += counted;
            self.left = self.left.saturating_sub(counted);
            match answered {
                Ok(Ok(answer)) => return Ok(answer),
                Ok(Err(error)) => {
                    let failure = failure(&error);
                    self.long_heads.note(&self.origin, &failure);
                    return Err(failure);
                }
                Err(_) if waited < most => {}
                Err(_) => {
                    let detail = format!(
                        "the server was silent, or the request lasted too long, after {:.0} s",
                        most.as_secs_f64()
                    );
                    return Err(FetchFailure { kind: FailureKind::TimedOut, detail });
                }
            }
        }
    }
}

/// A body without content codings.
struct PlainBody {
    response: reqwest::Response,
    patience: Patience,
}

#[async_trait]
impl Body for PlainBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        self.patience.wait(self.response.chunk()).await
    }
}

/// A body that is decoded as it arrives.
struct CodedBody {
    response: reqwest::Response,
    patience: Patience,
    codings: Codings,
}

#[async_trait]
impl Body for CodedBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        loop {
            match self.codings.step()? {
                Step::Piece(piece) => return Ok(Some(piece)),
                Step::Busy => tokio::task::yield_now().await,
                Step::Hungry if self.codings.may_be_whole() => match self.tail().await {
                    Some(piece) => self.codings.feed(piece),
                    None => self.codings.end(),
                },
                Step::Hungry => match self.patience.wait(self.response.chunk()).await? {
                    Some(piece) => self.codings.feed(piece),
                    None => self.codings.end(),
                },
                Step::End => {
                    // The connection is kept only if the end of the body was read; bytes before it are junk.
                    let _ = self.tail().await;
                    return Ok(None);
                }
            }
        }
    }
}

impl CodedBody {
    /// Reads what follows content that may be complete. A missing end or a reset is harmless here.
    async fn tail(&mut self) -> Option<Bytes> {
        tokio::time::timeout(limits::BODY_TAIL_TIME_MAX, self.response.chunk()).await.ok()?.ok()?
    }
}

fn response_headers(response: &reqwest::Response) -> ResponseHeaders {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let get = |name: HeaderName| response.headers().get(name);
    // A validator must be sent back byte by byte.
    let validator = |name| {
        let value = get(name).filter(|value| value.len() <= limits::VALIDATOR_BYTES_MAX)?;
        std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned)
    };
    let all = |name: HeaderName, bytes_max: usize, most: usize| {
        let values = response.headers().get_all(name).iter();
        values.filter(|value| value.len() <= bytes_max).take(most).map(text).collect()
    };
    ResponseHeaders {
        content_type: get(header::CONTENT_TYPE).map(text),
        content_disposition: get(header::CONTENT_DISPOSITION).map(text),
        content_length: response.content_length(),
        location: get(header::LOCATION).map(location),
        retry_after: get(header::RETRY_AFTER).map(text),
        refresh: get(header::REFRESH).filter(|value| value.len() <= limits::URL_BYTES_MAX).map(text),
        etag: validator(header::ETAG),
        last_modified: validator(header::LAST_MODIFIED),
        robots_tags: all(ROBOTS_TAG, limits::ROBOTS_TAG_BYTES_MAX, limits::ROBOTS_TAGS_MAX),
        challenges: all(header::WWW_AUTHENTICATE, limits::CHALLENGE_BYTES_MAX, limits::CHALLENGES_MAX),
        for_scripts: Vec::new(),
    }
}

/// A `Location` with its non-ASCII bytes percent-encoded one by one, as browsers do: they are in the server's
/// charset, which is unknown.
fn location(value: &HeaderValue) -> String {
    percent_encode(value.as_bytes(), &AsciiSet::EMPTY).to_string()
}

#[cfg(test)]
mod tests;
