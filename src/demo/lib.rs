//! The bundled demo site: a tracker-like index on loopback that `gleaner demo` crawls and with which the tests measure
//! the crawler.
//!
//! It is deterministic from its seed, has no clock and stores nothing. Its [`Truth`] lists which torrents a correct
//! crawl stores and which it cannot or must not get; its [`RequestLog`] counts the requests and shows whether a correct
//! crawl would have made them. Nothing here knows the crawler: infohashes, links and encodings are made by the
//! demo's own code, so that a bug of the crawler cannot be hidden by the same bug of the site.
//!
//! ```text
//! catalogue (what is listed) ── view (sid, tokens, chrome) ── listing_page · detail_page · gbk · traps ─┐
//!     └── torrents (metainfo) ── delivery (headers, BOM, first key) ── answer ──────────────────────────┴── site ── HTTP
//! ```

pub mod limits;

pub mod ajax;
mod answer;
mod catalogue;
mod delivery;
mod detail_page;
mod escape;
mod gbk;
mod links;
mod listing_page;
mod log;
pub mod members;
mod random;
mod rules;
mod serving;
mod site;
mod titles;
mod torrents;
mod traps;
mod truth;
mod view;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode, header};

pub use delivery::{Area, Delivery, Link};
pub use log::{Kind, RequestLog};
pub use rules::RULES_TEMPLATE;
pub use torrents::{FirstKey, Version};
pub use truth::{Fate, Score, Truth, TruthTorrent};

use crate::limits::DEMO_TORRENTS_MAX;
use answer::{Answer, Ask};
use gleaner_torrent::Infohashes;
use serving::Serving;
use site::{COOKIE, Site};

/// Parameters of the site.
#[derive(Clone, Debug)]
pub struct DemoOptions {
    /// Torrents that a correct crawl stores, at most `limits::DEMO_TORRENTS_MAX`; others are added to them.
    pub torrents: usize,
    /// The same seed gives the same torrents under the same numbers.
    pub seed: u64,
    /// Address to listen on; port 0 lets the system choose.
    pub bind: SocketAddr,
    /// Delay before each response.
    pub response_delay: Duration,
    /// Each n-th request, of any kind, is answered 503; 0 for none.
    pub fail_every: u64,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self {
            torrents: 500,
            seed: 1,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            response_delay: Duration::ZERO,
            fail_every: 0,
        }
    }
}

/// Why the site cannot start.
#[derive(Debug, thiserror::Error)]
pub enum DemoError {
    #[error("the demo site cannot listen on {address}: {source}")]
    Bind { address: SocketAddr, source: std::io::Error },
    #[error("the demo site has at most {DEMO_TORRENTS_MAX} torrents, not {asked}")]
    TooManyTorrents { asked: usize },
    #[error("the demo site serves this machine only, and {address} is no loopback address")]
    NotLoopback { address: SocketAddr },
    #[error("there is no members-only demo site `{asked}`; there are {known}")]
    NoFamily { asked: String, known: String },
    #[error("the demo site could not be built: {0}")]
    Build(#[from] tokio::task::JoinError),
}

/// The running site. Dropped without [`DemoSite::stop`], it aborts its connections.
pub struct DemoSite {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its rule file, with this address.
    pub rules_text: String,
    site: Arc<Site>,
    serving: Serving,
}

/// Builds the site and serves it on the current runtime.
///
/// # Errors
/// [`DemoError`] when there are too many torrents or when the address is not loopback or not available.
pub async fn start(options: DemoOptions) -> Result<DemoSite, DemoError> {
    if options.torrents > DEMO_TORRENTS_MAX {
        return Err(DemoError::TooManyTorrents { asked: options.torrents });
    }
    let (listener, address) = serving::listen(options.bind).await?;
    let origin = format!("http://{address}");
    let rules_text = rules::rules_text(&origin);
    let built = move || Site::new(origin, options.seed, options.torrents, options.fail_every);
    let site = Arc::new(tokio::task::spawn_blocking(built).await?);

    let serving = serving::serve(listener, Arc::clone(&site), options.response_delay, |site, request| async move {
        respond(&site, &request)
    });
    Ok(DemoSite { address, rules_text, site, serving })
}

impl DemoSite {
    /// `http://host:port`, without a slash at the end.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.site.origin
    }

    /// The torrents on the site now, including [`Self::publish`]ed ones.
    #[must_use]
    pub fn truth(&self) -> Arc<Truth> {
        self.site.truth()
    }

    /// Puts `count` new torrents on top of the index and returns their infohashes, in the order of publication. Stops
    /// at `limits::DEMO_TORRENTS_MAX` torrents.
    pub fn publish(&self, count: usize) -> Vec<Infohashes> {
        let room = DEMO_TORRENTS_MAX.saturating_sub(self.truth().reachable().count());
        self.site.publish(count.min(room))
    }

    /// The requests so far.
    #[must_use]
    pub fn log(&self) -> RequestLog {
        self.site.recorder.snapshot()
    }

    /// Requests so far that a crawl obeying the demo's rule file and robots.txt does not make; see [`Kind`].
    #[must_use]
    pub fn refused_fetches(&self) -> u64 {
        self.site.recorder.refused_fetches()
    }

    /// Stops listening, lets running responses finish, and releases the port; after `limits::DEMO_STOP_TIME_MAX`
    /// the remaining connections are aborted.
    pub async fn stop(self) {
        self.serving.stop().await;
    }
}

fn respond(site: &Site, request: &Request) -> Response<Body> {
    let text = |name| request.headers().get(name).and_then(|value| value.to_str().ok());
    let cookies = request.headers().get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let ask = Ask {
        path: request.uri().path(),
        query: request.uri().query().unwrap_or_default(),
        host: text(header::HOST),
        has_cookie: cookies.flat_map(|line| line.split(';')).any(|pair| pair.trim().split('=').next() == Some(COOKIE)),
        if_none_match: text(header::IF_NONE_MATCH),
        if_modified_since: text(header::IF_MODIFIED_SINCE),
    };
    http_response(site.answer(matches!(*request.method(), Method::GET | Method::HEAD), &ask))
}

fn http_response(answer: Answer) -> Response<Body> {
    let mut response = Response::builder().status(answer.status);
    if let Some(content_type) = answer.content_type {
        response = response.header(header::CONTENT_TYPE, content_type);
    }
    for (name, value) in answer.headers {
        response = response.header(name, value);
    }
    response.body(Body::from(answer.body)).unwrap_or_else(|_| {
        // Names, values and numbers are this module's own; if one were wrong, the client would get an error.
        let mut failed = Response::new(Body::empty());
        *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        failed
    })
}
