//! Members-only sites on loopback, one for the login shape of each family of software: where the form is, its fields,
//! its responses, how guests are rejected, when sessions end. One engine; the differences are data (`forums`, `trackers`).
//!
//! ```text
//! request ── site (which place, may the visitor see it) ─┬─ gate (sessions, tries, forms)
//!                                                        └─ shelf (torrents, their addresses) ── answer
//! ```
//!
//! The shapes follow the families' public code and pages; none of them is the real software. Like the rest of the demo, this
//! knows nothing of the crawler. Wrong passwords lock the account as on real sites, so that a test detects a crawler that guesses.

mod family;
mod forums;
mod gate;
mod log;
mod pattern;
mod shelf;
mod site;
mod trackers;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode, header};

pub use log::MembersLog;

use super::serving::{self, Serving};
use super::{DemoError, Truth};
use crate::limits::{DEMO_FORM_BYTES_MAX, DEMO_TORRENTS_MAX};
use gate::Gate;
use gleaner_base::clock::{Clock as _, SystemClock};
use gleaner_torrent::Infohashes;
use shelf::MembersCatalogue;
use site::{Ask, Reply, Site};

/// Parameters of the site.
#[derive(Clone, Debug)]
pub struct MembersOptions {
    /// One of [`families`].
    pub family: String,
    /// Torrents that members see, at most `limits::DEMO_TORRENTS_MAX`.
    pub torrents: usize,
    pub seed: u64,
    /// Address to listen on; port 0 lets the system choose.
    pub bind: SocketAddr,
    /// Password of the site's one account; ASCII if the family's script hashes it.
    pub password: String,
    /// Requests of a member after which the session ends; 0 for no limit.
    pub expire_every: u64,
    /// Delay before each response.
    pub response_delay: Duration,
}

impl Default for MembersOptions {
    fn default() -> Self {
        Self {
            family: "phpbb".to_owned(),
            torrents: 60,
            seed: 1,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            password: "correct horse & 7 staples".to_owned(),
            expire_every: 0,
            response_delay: Duration::ZERO,
        }
    }
}

/// Names of the available shapes.
pub fn families() -> impl Iterator<Item = &'static str> {
    family::all().map(|family| family.name)
}

/// The running site. Dropped without [`MembersSite::stop`], it aborts its connections.
pub struct MembersSite {
    /// The address it listens on.
    pub address: SocketAddr,
    /// Its rule file: the family, the start URL and the account's name, without a rate limit.
    pub rules_text: String,
    site: Arc<Site>,
    serving: Serving,
}

/// Builds the site and serves it on the current runtime.
///
/// # Errors
/// [`DemoError`] when there is no such family, when there are too many torrents, or when the address is not loopback or
/// not available.
pub async fn start(options: MembersOptions) -> Result<MembersSite, DemoError> {
    let Some(family) = family::all().find(|family| family.name == options.family) else {
        return Err(DemoError::NoFamily { asked: options.family, known: families().collect::<Vec<_>>().join(", ") });
    };
    if options.torrents > DEMO_TORRENTS_MAX {
        return Err(DemoError::TooManyTorrents { asked: options.torrents });
    }
    let (listener, address) = serving::listen(options.bind).await?;
    let (seed, torrents) = (options.seed, options.torrents);
    let shelf = tokio::task::spawn_blocking(move || MembersCatalogue::new(seed, torrents)).await?;
    let gate = Gate::new(family, options.password, options.expire_every, seed);
    let origin = format!("http://{address}");
    let rules_text = format!(
        "start = [\"{origin}{}\"]\nextends = \"families/{}\"\n\n[login]\nuser = \"{}\"\n\n[rate]\nrequests_per_second = 1000000\n\
         connections = 16\n",
        family.at.front, family.rules, family.user
    );
    let site = Arc::new(Site::new(family, origin, gate, shelf));

    let serving = serving::serve(listener, Arc::clone(&site), options.response_delay, respond);
    Ok(MembersSite { address, rules_text, site, serving })
}

impl MembersSite {
    /// `http://host:port`, without a slash at the end.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.site.origin
    }

    /// The torrents that members can get.
    #[must_use]
    pub fn truth(&self) -> &Truth {
        &self.site.shelf.truth
    }

    /// What the site says that a torrent is, if its software says so at all.
    #[must_use]
    pub fn label(&self, infohashes: &Infohashes) -> Option<&'static str> {
        let at = self.site.shelf.torrents.iter().position(|torrent| torrent.infohashes == *infohashes)?;
        Some(self.site.family.categories?.of(at))
    }

    /// The requests so far.
    #[must_use]
    pub fn log(&self) -> MembersLog {
        self.site.state().log.clone()
    }

    /// Stops listening, lets running responses finish, and releases the port; after `limits::DEMO_STOP_TIME_MAX`
    /// the remaining connections are aborted.
    pub async fn stop(self) {
        self.serving.stop().await;
    }
}

async fn respond(site: Arc<Site>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    let Ok(body) = axum::body::to_bytes(body, DEMO_FORM_BYTES_MAX).await else {
        return failed(StatusCode::PAYLOAD_TOO_LARGE);
    };
    let text = |name| head.headers.get(name).and_then(|value| value.to_str().ok());
    let cookies: Vec<&str> =
        head.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    let ask = Ask {
        is_post: head.method == Method::POST,
        target: head.uri.path_and_query().map_or("/", |target| target.as_str()),
        cookies: &cookies.join("; "),
        bearer: text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")),
        content_type: text(header::CONTENT_TYPE).unwrap_or_default(),
        body: &body,
    };
    let Reply { status, content_type, headers, body } = site.answer(&ask, SystemClock.now());
    let mut response = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    // Names, values and numbers are this module's own; if one were wrong, the client would get an error.
    response.body(Body::from(body)).unwrap_or_else(|_| failed(StatusCode::INTERNAL_SERVER_ERROR))
}

fn failed(status: StatusCode) -> Response<Body> {
    let mut failed = Response::new(Body::empty());
    *failed.status_mut() = status;
    failed
}
