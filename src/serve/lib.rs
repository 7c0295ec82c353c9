//! The HTTP server: hands the harvest to other programs. It reads the database, the archive and the index, and writes none of them; it runs on a thread and
//! a runtime of its own, so that no reader costs the crawl a lane.
//!
//! `listen` accepts connections, `access` decides who may ask, `tokens` knows by what, `links` makes URLs; `torznab`, `feeds`, `download`, `api`, `metrics` and
//! `pages` are what is answered; `rows` fetches what they show, `pulse` sees once a second what has happened, `searches` keeps those that are saved.

pub mod limits;

mod access;
pub mod acts;
pub mod alarms;
mod api;
mod clients;
pub mod desk;
mod download;
mod feeds;
mod links;
mod listen;
pub mod metrics;
mod names;
mod pages;
mod places;
mod problem;
mod pulse;
mod rows;
mod searches;
mod session;
mod tag;
pub mod tokens;
mod torznab;

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use gleaner_base::clock::Clock;
use gleaner_base::recent::Recent;
use gleaner_rules::config::web::{Listen, Web};
use gleaner_search::Search;
use gleaner_store::crawldb::{CrawlDbError, Reader};
use gleaner_torrent::archive::Archive;
use tokio::sync::Semaphore;

use crate::acts::{Act, Acted, Refused};
use crate::clients::Clients;
use crate::metrics::{Family, Requests};
use crate::tokens::{Scope, Tokens};

pub use api::{Report, SiteWork, lists};
pub use listen::{Listening, serve};

/// The index, or None while it is made.
pub type Finder = Arc<dyn Fn() -> Option<Arc<Search>> + Send + Sync>;

/// What is asked of the service itself.
pub type Told<T> = Pin<Box<dyn Future<Output = Result<T, CrawlDbError>> + Send>>;

/// What becomes of a wish.
pub type Done<T> = Pin<Box<dyn Future<Output = Result<T, Refused>> + Send>>;

/// What the service knows of its crawl.
pub struct Inside {
    /// The report of `gleaner status --json`.
    pub status: Report,
    /// The part of it on one site.
    pub site: Report,
    /// The lists of a site, the one that is rechecked next first.
    pub lists: Box<dyn Fn(String) -> Told<Vec<lists::ListRow>> + Send + Sync>,
    /// The report of `gleaner schedule --json`.
    pub schedule: Report,
    /// The report of `gleaner delay --json`.
    pub delay: Report,
    /// The last lines of the log.
    pub log: Recent,
    /// Does what is wanted of a site.
    pub act: Box<dyn Fn(Act) -> Done<Acted> + Send + Sync>,
    pub alarms: alarms::Alarms,
    /// What the pages show beside.
    pub desk: desk::Desk,
    /// What each crawl does.
    pub works: Box<dyn Fn() -> Vec<SiteWork> + Send + Sync>,
    /// Its figures for Prometheus.
    pub metrics: Box<dyn Fn() -> Told<Vec<Family>> + Send + Sync>,
}

/// Of no service: there is nothing to report.
impl Default for Inside {
    fn default() -> Self {
        let nothing = || Report::of::<(), _>(|_| std::future::ready(Ok(None)));
        Self {
            status: nothing(),
            site: nothing(),
            lists: Box::new(|_| Box::pin(std::future::ready(Ok(Vec::new())))),
            schedule: nothing(),
            delay: nothing(),
            log: Recent::default(),
            act: Box::new(|act| Box::pin(std::future::ready(Err(Refused::Unknown(act.site))))),
            alarms: alarms::Alarms::default(),
            desk: desk::Desk::default(),
            works: Box::new(Vec::new),
            metrics: Box::new(|| Box::pin(std::future::ready(Ok(Vec::new())))),
        }
    }
}

/// What the server reads.
pub struct Outlet {
    pub db: Arc<dyn Reader>,
    pub archive: Arc<Archive>,
    pub finder: Finder,
    pub inside: Inside,
    pub clock: Arc<dyn Clock>,
    pub settings: Web,
    tokens: Tokens,
    clients: Clients,
    requests: Requests,
    feeds: feeds::Changed,
    sessions: session::Sessions,
    pages: pages::Memory,
    searches: Semaphore,
    coverages: api::Coverages,
    pulse: pulse::Pulse,
    saved: searches::Saved,
    /// Places of clients that listen to events.
    streams: Arc<Semaphore>,
    /// False where others than this machine can connect.
    is_local: bool,
}

impl Outlet {
    #[must_use]
    pub fn new(
        (db, archive, finder): (Arc<dyn Reader>, Arc<Archive>, Finder),
        inside: Inside,
        clock: Arc<dyn Clock>,
        settings: Web,
        data_dir: &Path,
    ) -> Self {
        let is_local = settings.listen.as_ref().is_none_or(Listen::is_local);
        Self {
            db,
            archive,
            finder,
            inside,
            clock,
            clients: Clients::new(settings.requests_per_second),
            settings,
            tokens: Tokens::of(data_dir),
            requests: Requests::default(),
            feeds: feeds::Changed::default(),
            sessions: session::Sessions::default(),
            pages: pages::Memory::new(),
            searches: Semaphore::new(limits::SEARCHES_AT_ONCE),
            coverages: api::Coverages::default(),
            pulse: pulse::Pulse::default(),
            saved: searches::Saved::of(data_dir),
            streams: Arc::new(Semaphore::new(limits::EVENT_STREAMS_MAX)),
            is_local,
        }
    }
}

/// All that is answered, without the base path.
pub fn router(outlet: Arc<Outlet>) -> Router {
    // Torznab tells in its own words who may not ask.
    let torznab = Router::new()
        .route("/api", get(torznab::of_all))
        .route("/torznab", get(torznab::of_all))
        .route("/torznab/api", get(torznab::of_all))
        .route("/torznab/{name}", get(torznab::of_one))
        .route("/torznab/{name}/api", get(torznab::of_one))
        .route("/api/v2.0/indexers/{name}/results/torznab", get(torznab::of_jackett))
        .route("/api/v2.0/indexers/{name}/results/torznab/api", get(torznab::of_jackett));
    let feeds = Router::new()
        .route("/feeds/all.{form}", get(feeds::of_query))
        .route("/feeds/search.{form}", get(feeds::of_query))
        .route("/feeds/site/{name}", get(feeds::of_site))
        .route("/feeds/category/{name}", get(feeds::of_category))
        .route("/feeds/saved/{name}", get(feeds::of_saved))
        .route_layer(from_fn(|caller, request, next| access::needs(Scope::Torznab, caller, request, next)));
    let metrics = Router::new()
        .route("/metrics", get(metrics::metrics))
        .route_layer(from_fn(|caller, request, next| access::needs(Scope::Read, caller, request, next)));
    let api = api::router(api::endpoints()).layer(from_fn(tag::tagged));
    Router::new()
        .merge(torznab)
        .merge(feeds)
        .merge(metrics)
        .merge(api)
        .merge(pages::router())
        .route("/session", post(session::begin).delete(session::end))
        .fallback(problem::nothing_here)
        .method_not_allowed_fallback(problem::other_method)
        .layer(from_fn_with_state(Arc::clone(&outlet), pages::dressed))
        .layer(from_fn_with_state(Arc::clone(&outlet), access::guard))
        // These tell nothing but whether it runs.
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(api::ready))
        .layer(from_fn_with_state(Arc::clone(&outlet), metrics::counted))
        .with_state(outlet)
}
