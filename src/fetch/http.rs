//! The transport over sockets: one reqwest client a site, with the site's cookies, headers and proxy. Redirects
//! are off (every hop goes back to the crawl), proxies of the environment are ignored (a site's proxy stands in
//! its rule file), and addresses that are not public are refused unless the site's rule file allows them (see
//! [`super::resolve`]).

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::codings::{Codings, Step};
use super::dns::{Dns, DnsError};
use super::failure::failure;
use super::resolve::{self, AddressPolicy, GuardedResolver};
use super::session::Jar;
use super::tls::Tls;
use super::{Body, FailureKind, FetchFailure, Request, Resolution, Response, ResponseHeaders, Transport};
use crate::limits;
use crate::url::CrawlUrl;

/// What a client is built from.
#[derive(Clone)]
pub struct ClientOptions<'a> {
    pub user_agent: &'a str,
    /// Sent with every request to the site.
    pub headers: &'a [(Box<str>, Box<str>)],
    /// `http://`, `https://`, `socks5://` or `socks5h://` URL.
    pub proxy: Option<&'a url::Url>,
    /// Where connections may lead. Names that the proxy resolves are beyond this.
    pub addresses: AddressPolicy,
    /// The process's resolver.
    pub dns: Dns,
    /// The process's TLS settings.
    pub tls: Tls,
    /// Idle connections kept.
    pub connections_max: usize,
    /// Longest time of one request; connecting and silence have caps of their own below it.
    pub timeout: Duration,
}

/// A client that cannot be built; the rule file's checks should have told before.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be built: {0}")]
pub struct ClientError(String);

/// A site's HTTP client.
pub struct HttpTransport {
    client: reqwest::Client,
    addresses: AddressPolicy,
    /// None where the proxy resolves names.
    dns: Option<Dns>,
    timeout: Duration,
}

impl HttpTransport {
    /// Builds the client.
    pub fn new(options: &ClientOptions<'_>) -> Result<Self, ClientError> {
        let fault = |error: &dyn std::fmt::Display| ClientError(error.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/x-bittorrent, text/html, application/xhtml+xml, */*;q=0.8"),
        );
        headers.insert(header::ACCEPT_ENCODING, HeaderValue::from_static("gzip, br, zstd, deflate"));
        for (name, value) in options.headers {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|error| fault(&error))?;
            headers.insert(name, HeaderValue::from_str(value).map_err(|error| fault(&error))?);
        }
        let mut builder = reqwest::Client::builder()
            .user_agent(options.user_agent)
            .default_headers(headers)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .no_proxy()
            .tls_backend_preconfigured(options.tls.config().map_err(|error| fault(&error))?)
            // What hyper reads ahead of us is counted by no allowance.
            .http2_initial_stream_window_size(limits::HTTP2_STREAM_WINDOW_BYTES)
            .http2_initial_connection_window_size(limits::HTTP2_CONNECTION_WINDOW_BYTES)
            .cookie_provider(Arc::new(Jar::default()))
            // Silence and the whole time are ours to watch ([`Patience`]): the client's own clocks would run on while a
            // large body waits for its share of memory.
            .connect_timeout(limits::CONNECT_TIME_MAX.min(options.timeout))
            .pool_max_idle_per_host(options.connections_max)
            .pool_idle_timeout(limits::IDLE_CONNECTION_TIME)
            .dns_resolver(Arc::new(GuardedResolver::new(
                options.dns.clone(),
                options.addresses.clone(),
                options.proxy,
            )));
        if let Some(proxy) = options.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy.clone()).map_err(|error| fault(&error))?);
        }
        let client = builder.build().map_err(|error| fault(&error))?;
        let proxy_resolves = options.proxy.is_some_and(|proxy| proxy.scheme() != "socks5");
        let dns = (!proxy_resolves).then(|| options.dns.clone());
        let timeout = options.timeout.min(limits::REQUEST_TIME_MAX);
        Ok(Self { client, addresses: options.addresses.clone(), dns, timeout })
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn get(&self, request: Request<'_>) -> Result<Response, FetchFailure> {
        let url = parsed(request.url)?;
        self.addresses.check_literal(&url)?;
        let mut asking = self.client.get(url);
        if let Some(validators) = request.validators {
            for (name, value) in
                [(header::IF_NONE_MATCH, &validators.etag), (header::IF_MODIFIED_SINCE, &validators.last_modified)]
            {
                // What cannot stand in a header is left out: the page is then sent in full.
                if let Some(value) = value.as_deref().and_then(|text| HeaderValue::from_str(text).ok()) {
                    asking = asking.header(name, value);
                }
            }
        }
        let mut patience = Patience { left: self.timeout, silence: limits::CONNECT_TIME_MAX + limits::READ_TIME_MAX };
        let response = patience.wait(asking.send()).await?;
        patience.silence = limits::READ_TIME_MAX;
        let status = response.status().as_u16();
        let codings =
            Codings::of(response.headers().get_all(header::CONTENT_ENCODING).iter().map(HeaderValue::as_bytes));
        let mut headers = response_headers(&response);
        Ok(match codings {
            None => Response { status, headers, body: Box::new(PlainBody { response, patience }) },
            Some(codings) => {
                // It counts coded bytes.
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
}

fn parsed(url: &CrawlUrl) -> Result<url::Url, FetchFailure> {
    url.to_url().map_err(|error| FetchFailure { kind: FailureKind::Protocol, detail: error.to_string() })
}

impl From<DnsError> for FetchFailure {
    fn from(error: DnsError) -> Self {
        Self { kind: FailureKind::Dns, detail: error.to_string() }
    }
}

/// How long a server is waited for. Only the time spent waiting counts.
struct Patience {
    /// Of the whole request.
    left: Duration,
    /// For one answer, or one piece.
    silence: Duration,
}

impl Patience {
    async fn wait<T>(&mut self, answer: impl Future<Output = Result<T, reqwest::Error>>) -> Result<T, FetchFailure> {
        let most = self.silence.min(self.left);
        let began = tokio::time::Instant::now();
        let answer = tokio::time::timeout(most, answer).await;
        self.left = self.left.saturating_sub(began.elapsed());
        match answer {
            Ok(answer) => answer.map_err(|error| failure(&error)),
            Err(_) => Err(FetchFailure {
                kind: FailureKind::TimedOut,
                detail: format!(
                    "the server was silent, or the request lasted too long, after {:.0} s",
                    most.as_secs_f64()
                ),
            }),
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
                    // The connection is kept only when the end of the body was seen; what comes before it is junk.
                    let _ = self.tail().await;
                    return Ok(None);
                }
            }
        }
    }
}

impl CodedBody {
    /// What follows a content that may be whole. A server that forgets to end the body, or breaks off here, did no harm.
    async fn tail(&mut self) -> Option<Bytes> {
        tokio::time::timeout(limits::BODY_TAIL_TIME_MAX, self.response.chunk()).await.ok()?.ok()?
    }
}

fn response_headers(response: &reqwest::Response) -> ResponseHeaders {
    let text = |value: &HeaderValue| String::from_utf8_lossy(value.as_bytes()).into_owned();
    let get = |name: HeaderName| response.headers().get(name);
    let validator = |name| get(name).filter(|value| value.len() <= limits::VALIDATOR_BYTES_MAX).map(text);
    let robots_tags = response.headers().get_all("x-robots-tag").iter();
    ResponseHeaders {
        content_type: get(header::CONTENT_TYPE).map(text),
        content_disposition: get(header::CONTENT_DISPOSITION).map(text),
        content_length: response.content_length(),
        location: get(header::LOCATION).map(text),
        retry_after: get(header::RETRY_AFTER).map(text),
        etag: validator(header::ETAG),
        last_modified: validator(header::LAST_MODIFIED),
        robots_tags: robots_tags
            .filter(|value| value.len() <= limits::ROBOTS_TAG_BYTES_MAX)
            .take(limits::ROBOTS_TAGS_MAX)
            .map(text)
            .collect(),
    }
}

#[cfg(test)]
mod tests;
