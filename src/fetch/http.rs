//! The transport over sockets: one reqwest client a site, with the site's cookies, headers and proxy. Redirects
//! are off (every hop goes back to the crawl), proxies of the environment are ignored (a site's proxy stands in
//! its rule file).

use std::error::Error as _;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use reqwest::header::{self, HeaderMap, HeaderName, HeaderValue};

use super::{Body, FailureKind, FetchFailure, Response, ResponseHeaders, Transport};
use crate::limits;
use crate::url::CrawlUrl;

/// What a client is built from.
#[derive(Clone, Debug)]
pub struct ClientOptions<'a> {
    pub user_agent: &'a str,
    /// Sent with every request to the site.
    pub headers: &'a [(Box<str>, Box<str>)],
    /// `http://`, `https://`, `socks5://` or `socks5h://` URL.
    pub proxy: Option<&'a url::Url>,
    /// Idle connections kept.
    pub connections_max: usize,
}

/// A client that cannot be built; the rule file's checks should have told before.
#[derive(Debug, thiserror::Error)]
#[error("the HTTP client cannot be built: {0}")]
pub struct ClientError(String);

/// A site's HTTP client.
pub struct HttpTransport {
    client: reqwest::Client,
}

impl HttpTransport {
    /// Builds the client. TLS is rustls with ring and the system's root certificates.
    pub fn new(options: &ClientOptions<'_>) -> Result<Self, ClientError> {
        // Fails only when a provider is there already, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let fault = |error: &dyn std::fmt::Display| ClientError(error.to_string());
        let mut headers = HeaderMap::new();
        headers.insert(
            header::ACCEPT,
            HeaderValue::from_static("application/x-bittorrent, text/html, application/xhtml+xml, */*;q=0.8"),
        );
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
            .cookie_provider(Arc::new(reqwest_cookie_store::CookieStoreMutex::default()))
            .connect_timeout(limits::CONNECT_TIME_MAX)
            .read_timeout(limits::READ_TIME_MAX)
            .timeout(limits::REQUEST_TIME_MAX)
            .pool_max_idle_per_host(options.connections_max);
        if let Some(proxy) = options.proxy {
            builder = builder.proxy(reqwest::Proxy::all(proxy.clone()).map_err(|error| fault(&error))?);
        }
        Ok(Self { client: builder.build().map_err(|error| fault(&error))? })
    }
}

#[async_trait]
impl Transport for HttpTransport {
    async fn get(&self, url: &CrawlUrl) -> Result<Response, FetchFailure> {
        let response = self.client.get(url.as_str()).send().await.map_err(|error| failure(&error))?;
        Ok(Response {
            status: response.status().as_u16(),
            headers: response_headers(&response),
            body: Box::new(HttpBody(response)),
        })
    }
}

struct HttpBody(reqwest::Response);

#[async_trait]
impl Body for HttpBody {
    async fn chunk(&mut self) -> Result<Option<Bytes>, FetchFailure> {
        self.0.chunk().await.map_err(|error| failure(&error))
    }
}

fn response_headers(response: &reqwest::Response) -> ResponseHeaders {
    let text = |name: HeaderName| {
        response.headers().get(name).map(|value| String::from_utf8_lossy(value.as_bytes()).into_owned())
    };
    ResponseHeaders {
        content_type: text(header::CONTENT_TYPE),
        content_disposition: text(header::CONTENT_DISPOSITION),
        content_length: response.content_length(),
        location: text(header::LOCATION),
        retry_after: text(header::RETRY_AFTER),
    }
}

/// Sorts reqwest's errors into ours. The text below the surface is all that tells DNS from TCP and TLS.
fn failure(error: &reqwest::Error) -> FetchFailure {
    let mut chain = Vec::new();
    let mut source = error.source();
    let mut broke_off = false;
    while let Some(cause) = source {
        if let Some(io) = cause.downcast_ref::<std::io::Error>() {
            use std::io::ErrorKind::{BrokenPipe, ConnectionAborted, ConnectionReset, UnexpectedEof};
            broke_off |= matches!(io.kind(), BrokenPipe | ConnectionAborted | ConnectionReset | UnexpectedEof);
        }
        chain.push(cause.to_string());
        source = cause.source();
    }
    let detail = if chain.is_empty() { error.to_string() } else { chain.join(": ") };
    let says = |needle: &str| detail.contains(needle);
    let kind = if error.is_timeout() {
        FailureKind::TimedOut
    } else if error.is_connect() {
        if says("dns error") || says("lookup address") {
            FailureKind::Dns
        } else if says("certificate") || says("TLS") || says("tls") || says("handshake") {
            FailureKind::Tls
        } else {
            FailureKind::Connect
        }
    } else if broke_off || says("end of file before message length") || says("connection closed before message") {
        FailureKind::Truncated
    } else {
        FailureKind::Protocol
    };
    FetchFailure { kind, detail }
}
