//! Requests and their results. A transport sends one request and returns status, headers and a body that is still
//! arriving; the crawl decides from the first bytes whether it wants the rest.
//!
//! Nothing here interprets content, follows a redirect or knows a rule: every hop goes back to the crawl, which
//! checks it like any other URL.

pub mod body;
pub mod charset;
pub mod codings;
pub mod dns;
mod failure;
pub mod http;
mod referer;
pub mod resolve;
pub mod session;
pub mod tls;

use std::net::IpAddr;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;

use gleaner_base::url::CrawlUrl;

/// A GET, or the POST of a form.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub url: &'a CrawlUrl,
    /// The validators of an earlier response: the server may answer 304 without a body (RFC 9110 §13).
    pub validators: Option<&'a Validators>,
    pub post: Option<Post<'a>>,
    /// The page that linked to the URL, if known. It is told as browsers tell it, unless the rule file's own headers do.
    pub referer: Option<&'a CrawlUrl>,
    /// Set if a page's script sends the request. The response then includes all headers that scripts may see.
    pub by_script: Option<ByScript<'a>>,
}

/// The script's options for its request.
#[derive(Clone, Copy, Debug)]
pub struct ByScript<'a> {
    /// Headers set by the script; headers reserved for the client are left out.
    pub headers: &'a [(String, String)],
    /// Whether cookies and authorisation are sent, and cookies of the response are kept.
    pub credentials: bool,
}

/// The body of a POST. It may contain a password, so it is never displayed.
#[derive(Clone, Copy)]
pub struct Post<'a> {
    pub content_type: &'a str,
    pub body: &'a [u8],
    /// The page of the form, sent as the referrer: servers that guard their forms check it.
    pub referer: &'a CrawlUrl,
}

impl std::fmt::Debug for Post<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Post({}, {} bytes)", self.content_type, self.body.len())
    }
}

impl<'a> From<&'a CrawlUrl> for Request<'a> {
    fn from(url: &'a CrawlUrl) -> Self {
        Self { url, validators: None, post: None, referer: None, by_script: None }
    }
}

/// The validators of a response, verbatim from its headers (RFC 9110 §8.8).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Validators {
    pub etag: Option<Box<str>>,
    pub last_modified: Option<Box<str>>,
}

/// The addresses of a host.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Resolution {
    /// Empty if unknown here, because a proxy resolves the name.
    pub addresses: Vec<IpAddr>,
    /// How long the addresses are valid.
    pub ttl: Duration,
}

/// The headers used for decisions, as text. Bytes that are not UTF-8 are replaced, except in values that go back to
/// the server.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ResponseHeaders {
    pub content_type: Option<String>,
    pub content_disposition: Option<String>,
    /// Bytes of the body, if announced and without a content coding.
    pub content_length: Option<u64>,
    /// ASCII: other bytes are percent-encoded.
    pub location: Option<String>,
    pub retry_after: Option<String>,
    /// `Refresh`, which browsers treat as the `meta` element of that name.
    pub refresh: Option<String>,
    /// Up to [`crate::limits::VALIDATOR_BYTES_MAX`] bytes. Longer values and values that are not UTF-8 are dropped.
    pub etag: Option<String>,
    pub last_modified: Option<String>,
    /// All `X-Robots-Tag` headers.
    pub robots_tags: Vec<String>,
    /// All `WWW-Authenticate` headers.
    pub challenges: Vec<String>,
    /// If a script sent the request: all headers that it may see, names in lower case, without `HttpOnly` cookies.
    pub for_scripts: Vec<(String, String)>,
}

/// A response whose body has not been read yet.
pub struct Response {
    pub status: u16,
    pub headers: ResponseHeaders,
    pub body: Box<dyn Body>,
}

/// A body as it arrives, with its content codings decoded. Dropping it ends the transfer.
#[async_trait]
pub trait Body: Send {
    /// The next piece; None at the end.
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure>;
}

/// Sends requests: reqwest over sockets, or a simulated web. One per site, because cookies, headers and proxy
/// are the site's.
#[async_trait]
pub trait Transport: Send + Sync + 'static {
    /// Sends a request and waits for the headers. Redirects are returned, not followed.
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure>;

    /// The addresses of a URL's host, from a cache if known. A rate is counted by them, and the lookup is a prefetch
    /// for the requests that follow.
    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure>;

    /// The cookies that the scripts of a page at `url` may see, as `name=value`.
    fn script_cookies(&self, _url: &CrawlUrl) -> Vec<String> {
        Vec::new()
    }

    /// Stores a cookie that a script of a page at `url` set, in `Set-Cookie` syntax.
    fn set_script_cookie(&self, _url: &CrawlUrl, _text: &str) {}
}

/// A shared transport is a transport: a site's visits and its scripts share one.
#[async_trait]
impl<T: Transport + ?Sized> Transport for std::sync::Arc<T> {
    async fn send(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        (**self).send(request).await
    }

    async fn resolve(&self, url: &CrawlUrl) -> Result<Resolution, FetchFailure> {
        (**self).resolve(url).await
    }

    fn script_cookies(&self, url: &CrawlUrl) -> Vec<String> {
        (**self).script_cookies(url)
    }

    fn set_script_cookie(&self, url: &CrawlUrl, text: &str) {
        (**self).set_script_cookie(url, text);
    }
}

/// Why there is no response, or only part of it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{kind}: {detail}", kind = kind.name())]
pub struct FetchFailure {
    pub kind: FailureKind,
    pub detail: String,
}

/// The kinds of [`FetchFailure`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// The name does not exist, or no name server answers; the detail says which.
    Dns,
    /// The host has no public address, and the site's rule file allows no others.
    AddressRefused,
    /// Refused, unreachable, or silent for [`crate::limits::CONNECT_TIME_MAX`].
    Connect,
    Tls,
    TimedOut,
    /// The body ended before its announced length, or the connection broke during the transfer.
    Truncated,
    /// The response was not HTTP, or did not match its headers (content coding, chunks).
    Protocol,
}

impl FailureKind {
    fn name(self) -> &'static str {
        match self {
            Self::Dns => "name not resolved",
            Self::AddressRefused => "address refused",
            Self::Connect => "no connection",
            Self::Tls => "TLS failed",
            Self::TimedOut => "timed out",
            Self::Truncated => "ended early",
            Self::Protocol => "protocol error",
        }
    }
}
