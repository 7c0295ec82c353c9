//! The dashboard: pages made here, which need no script. Each page has a file; `visit` frames them and reads their forms, `words` writes figures and
//! names, `svg` draws, `status` reads the service's report.

mod alarms;
mod assets;
mod connect;
mod exports;
mod health;
mod kept;
mod log;
mod login;
mod overview;
mod rules;
mod schedule;
mod site;
mod status;
mod svg;
mod torrent;
mod torrents;
mod tree;
mod visit;
mod words;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use axum::extract::{FromRequestParts as _, Path, RawQuery, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use axum::{Extension, Router};

use self::kept::Key;
pub use self::visit::Memory;
use self::visit::Visit;
use crate::access::Caller;
use crate::problem::Problem;
use crate::tokens::Scope;
use crate::{Outlet, download, torznab};

/// The routes of all pages.
pub fn router() -> Router<Arc<Outlet>> {
    Router::new()
        .route("/", get(base))
        .route("/sites/{name}", get(site::page))
        .route("/sites/{name}/act", post(site::act))
        .route("/torrents", get(torrents::page))
        .route("/torrents/{name}", get(one_torrent))
        .route("/searches", post(torrents::save))
        .route("/searches/{name}/delete", post(torrents::delete))
        .route("/rules", get(rules::index))
        .route("/rules/{name}", get(rules::page))
        .route("/rules/{name}/save", post(rules::save))
        .route("/schedule", get(schedule::page))
        .route("/alarms", get(alarms::page))
        .route("/alarms/test", post(alarms::test))
        .route("/alarms/{id}", get(alarms::one))
        .route("/alarms/{id}/answer", post(alarms::answer))
        .route("/log", get(log::page))
        .route("/connect", get(connect::page))
        .route("/exports", get(exports::page))
        .route("/health", get(health::page))
        .route("/health/examine", post(health::examine))
        .route("/login", get(login::page))
        .route("/session/end", post(login::end))
        .route("/assets/{name}", get(assets::asset))
}

fn wants_page(headers: &HeaderMap) -> bool {
    let accepts = headers.get(header::ACCEPT).and_then(|kinds| kinds.to_str().ok()).unwrap_or_default();
    accepts.contains("text/html")
}

/// `/`: the overview for people, Torznab for programs.
async fn base(
    state: State<Arc<Outlet>>,
    caller: Extension<Caller>,
    headers: HeaderMap,
    query: RawQuery,
    request: Request,
) -> Response {
    let text = query.0.as_deref().unwrap_or_default();
    let is_torznab = url::form_urlencoded::parse(text.as_bytes()).any(|(name, _)| name.eq_ignore_ascii_case("t"));
    if is_torznab || !wants_page(&headers) {
        return torznab::of_base(state, caller, query).await;
    }
    let mut parts = request.into_parts().0;
    match Visit::from_request_parts(&mut parts, &state.0).await {
        Ok(visit) => overview::page(visit).await.into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// `/torrents/INFOHASH` for people; with `.torrent`, and for programs, its file. Its link admits to that one.
async fn one_torrent(
    state: State<Arc<Outlet>>,
    caller: Extension<Caller>,
    headers: HeaderMap,
    name: Path<String>,
    asked: axum::extract::Query<download::Asked>,
    request: Request,
) -> Response {
    if name.ends_with(".torrent") || !wants_page(&headers) {
        return download::torrent(state, caller, name, asked).await.into_response();
    }
    let mut parts = request.into_parts().0;
    match Visit::from_request_parts(&mut parts, &state.0).await {
        Ok(visit) => torrent::page(visit, &name).await.into_response(),
        Err(problem) => problem.into_response(),
    }
}

/// What every page is sent with: nothing is loaded from elsewhere, and nobody frames it.
const HEADERS: [(&str, &str); 5] = [
    (
        "content-security-policy",
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'self'; \
         frame-ancestors 'none'; base-uri 'none'",
    ),
    ("x-content-type-options", "nosniff"),
    ("referrer-policy", "same-origin"),
    ("cache-control", "no-store"),
    ("vary", "accept, accept-encoding, cookie"),
];

/// True for paths whose refusals are for people, if they ask for pages.
fn is_for_people(path: &str) -> bool {
    let is_below = |of: &str| path == of || path.strip_prefix(of).is_some_and(|rest| rest.starts_with('/'));
    !["/api", "/feeds", "/torznab", "/metrics", "/assets"].into_iter().any(is_below) && !path.ends_with(".torrent")
}

/// Shows refusals as pages to people, and frames and packs what they get.
pub async fn dressed(State(outlet): State<Arc<Outlet>>, request: Request, next: Next) -> Response {
    let is_page = wants_page(request.headers()) && is_for_people(request.uri().path());
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    let is_got = request.method() == Method::GET;
    let encodings = request.headers().get(header::ACCEPT_ENCODING).and_then(|of| of.to_str().ok()).unwrap_or_default();
    let is_packed = encodings.split(',').any(|of| of.trim().split(';').next() == Some("gzip"));
    let asked = request.headers().get(header::IF_NONE_MATCH).cloned();
    let (parts, body) = request.into_parts();
    let visit = if is_page { Visit::of(&parts, &outlet).ok() } else { None };
    let key = visit.as_ref().filter(|_| is_got && is_packed).map(Key::of);
    let make = async || framed(next.run(Request::from_parts(parts, body)).await, visit.as_ref(), is_read);
    let response = match key {
        Some(key) => outlet.pages.kept.get(key, outlet.clock.now(), asked, make).await,
        None => make().await,
    };
    if !is_read {
        outlet.pages.kept.forget();
    }
    let headers = response.headers();
    let is_whole = response.status() != StatusCode::NOT_MODIFIED && !headers.contains_key(header::CONTENT_ENCODING);
    let is_ours = headers.get(header::CONTENT_TYPE).is_some_and(is_html) || is_asset(headers);
    if is_packed && is_whole && is_ours { kept::pack(response).await } else { response }
}

/// Kept for ever.
fn is_asset(headers: &HeaderMap) -> bool {
    headers.get(header::CACHE_CONTROL).is_some_and(|of| of.as_bytes().ends_with(b"immutable"))
}

fn is_html(kind: &HeaderValue) -> bool {
    kind.as_bytes().starts_with(b"text/html")
}

/// A refusal as a page, and each page with its headers.
fn framed(response: Response, visit: Option<&Visit>, is_read: bool) -> Response {
    let mut response = match (response.extensions().get::<Problem>(), visit) {
        (Some(problem), Some(visit)) if problem.status == StatusCode::UNAUTHORIZED && is_read => {
            (StatusCode::SEE_OTHER, [(header::LOCATION, visit.to("/login"))]).into_response()
        }
        (Some(problem), Some(visit)) => {
            let mut page = visit.refusal(problem);
            if let Some(wait) = response.headers().get(header::RETRY_AFTER) {
                page.headers_mut().insert(header::RETRY_AFTER, wait.clone());
            }
            page
        }
        _ => response,
    };
    if response.headers().get(header::CONTENT_TYPE).is_some_and(is_html) {
        for (name, value) in HEADERS {
            response.headers_mut().insert(HeaderName::from_static(name), HeaderValue::from_static(value));
        }
    }
    if is_asset(response.headers()) {
        response.headers_mut().insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// What the caller must have to press.
const ACTING: Scope = Scope::Admin;
