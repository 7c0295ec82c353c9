//! The demo site's sections that scripts build: without scripts they are empty. Each uses the technique of an era: raw
//! `XMLHttpRequest`, jQuery, a single-page application with a router and lazily loaded views, an endless feed, an
//! API behind expiring tokens.
//!
//! ```text
//! request ── site (which section, may it be asked so) ─┬─ web/ (shells and scripts, as files)
//!                                                      └─ shelf (torrents) ── rows as JSON, metainfo files
//! ```
//!
//! No library is bundled: the jQuery section has a small script with the same calls, which tests replace by jQuery itself. Like
//! the rest of the demo, this knows nothing of the crawler, has no clock and follows from its seed.

mod section;
mod shelf;
mod site;

use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::Request;
use axum::http::{Method, Response, StatusCode, header};

pub use section::Section;
pub use site::AjaxLog;

use super::serving::{self, Serving};
use super::{DemoError, Truth};
use crate::limits::{DEMO_FORM_BYTES_MAX, DEMO_TORRENTS_MAX};
use shelf::AjaxCatalogue;
use site::{Ask, Reply, Site};

/// The rule file in its source form: valid, for a site on port 1.
pub const RULES_TEMPLATE: &str = include_str!("rules.toml");

/// Parameters of the site.
#[derive(Clone, Debug)]
pub struct AjaxOptions {
    /// Its sections; one that is named twice is created once.
    pub sections: Vec<Section>,
    /// Index pages of all sections together; each section has at least one.
    pub pages: usize,
    /// Torrents on each of them; multiplied by the pages at most `limits::DEMO_TORRENTS_MAX` in all.
    pub per_page: usize,
    pub seed: u64,
    /// Address to listen on; port 0 lets the system choose.
    pub bind: SocketAddr,
    /// Delay before each response.
    pub response_delay: Duration,
    /// A script that replaces the jQuery section's own library.
    pub library: Option<String>,
}

impl Default for AjaxOptions {
    /// The size used in the paper: 75 index pages of 100 torrents (BT §3.2).
    fn default() -> Self {
        Self {
            sections: Section::ALL.to_vec(),
            pages: 75,
            per_page: 100,
            seed: 1,
            bind: SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            response_delay: Duration::ZERO,
            library: None,
        }
    }
}

/// The running site. Dropped without [`AjaxSite::stop`], it aborts its connections.
pub struct AjaxSite {
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
pub async fn start(options: AjaxOptions) -> Result<AjaxSite, DemoError> {
    let asked = options.pages.max(options.sections.len()).saturating_mul(options.per_page);
    if asked > DEMO_TORRENTS_MAX {
        return Err(DemoError::TooManyTorrents { asked });
    }
    let (listener, address) = serving::listen(options.bind).await?;
    let origin = format!("http://{address}");
    let rules_text = RULES_TEMPLATE.replace("http://127.0.0.1:1/", &format!("{origin}/"));
    let delay = options.response_delay;
    let build = move || {
        let shelf = AjaxCatalogue::new(options.seed, &options.sections, options.pages, options.per_page);
        Site::new(origin, shelf, options.seed, options.library)
    };
    let site = Arc::new(tokio::task::spawn_blocking(build).await?);

    let serving = serving::serve(listener, Arc::clone(&site), delay, respond);
    Ok(AjaxSite { address, rules_text, site, serving })
}

impl AjaxSite {
    /// `http://host:port`, without a slash at the end.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.site.origin
    }

    /// The torrents on the site: all of them reachable.
    #[must_use]
    pub fn truth(&self) -> &Truth {
        &self.site.shelf.truth
    }

    /// The requests so far.
    #[must_use]
    pub fn log(&self) -> AjaxLog {
        self.site.log()
    }

    /// Stops listening, lets running responses finish, and releases the port; after `limits::DEMO_STOP_TIME_MAX`
    /// the remaining connections are aborted.
    pub async fn stop(self) {
        self.serving.stop().await;
    }
}

async fn respond(site: Arc<Site>, request: Request) -> Response<Body> {
    let (head, body) = request.into_parts();
    if axum::body::to_bytes(body, DEMO_FORM_BYTES_MAX).await.is_err() {
        return failed(StatusCode::PAYLOAD_TOO_LARGE);
    }
    let text = |name: header::HeaderName| head.headers.get(name).and_then(|value| value.to_str().ok());
    let cookies: Vec<&str> =
        head.headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok()).collect();
    let reply = site.answer(&Ask {
        is_post: head.method == Method::POST,
        path: head.uri.path(),
        query: head.uri.query().unwrap_or_default(),
        cookies: &cookies.join("; "),
        requested_with: text(header::HeaderName::from_static("x-requested-with")),
        csrf: text(header::HeaderName::from_static("x-csrf-token")),
        bearer: text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer ")),
    });
    let Reply { status, content_type, cookie, body, .. } = reply;
    let mut response = Response::builder().status(status).header(header::CONTENT_TYPE, content_type);
    if let Some(cookie) = cookie {
        response = response.header(header::SET_COOKIE, cookie);
    }
    // Names, values and numbers are this module's own; if one were wrong, the client would get an error.
    response.body(Body::from(body)).unwrap_or_else(|_| failed(StatusCode::INTERNAL_SERVER_ERROR))
}

fn failed(status: StatusCode) -> Response<Body> {
    let mut failed = Response::new(Body::empty());
    *failed.status_mut() = status;
    failed
}
