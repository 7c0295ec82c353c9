//! Torznab over the archive: what Sonarr, Radarr, Prowlarr, FlexGet, autobrr and others ask for. No site is asked.

mod ask;
mod caps;
mod items;
#[cfg(test)]
mod rules;

use std::sync::Arc;

use axum::Extension;
use axum::extract::{Path, RawQuery, State};
use axum::http::header;
use axum::response::{IntoResponse, Response};
use gleaner_search::Order;

use self::ask::{Asked, Function, Place};
use crate::Outlet;
use crate::access::Caller;
use crate::names::xml_text;
use crate::rows::{Page, RowsError};
use crate::tokens::Scope;

/// An error in Torznab's words, told with status 200: clients read the text of no other one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    WrongKey,
    Revoked,
    Scope,
    MissingFunction,
    Parameter(&'static str),
    NoFunction(String),
    NotHere(&'static str),
    TooMany,
    /// With a reason that a person can do something about.
    Unknown(String),
}

impl Fault {
    fn told(&self) -> (u16, String) {
        match self {
            Self::WrongKey => (100, "Incorrect user credentials".to_owned()),
            Self::Revoked => (101, "Account suspended".to_owned()),
            Self::Scope => (102, "Insufficient privileges".to_owned()),
            Self::MissingFunction => (200, "Missing parameter (t)".to_owned()),
            Self::Parameter(name) => (201, format!("Incorrect parameter ({name})")),
            Self::NoFunction(name) => (202, format!("No such function ({name})")),
            Self::NotHere(name) => (203, format!("Function not available ({name})")),
            Self::TooMany => (500, "Request limit reached".to_owned()),
            Self::Unknown(why) => (900, why.clone()),
        }
    }
}

impl IntoResponse for Fault {
    fn into_response(self) -> Response {
        let (code, description) = self.told();
        let description = xml_text(&description);
        let description = quick_xml::escape::escape(&*description);
        let text = format!(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<error code=\"{code}\" description=\"{description}\"/>\n"
        );
        ([(header::CONTENT_TYPE, "application/xml; charset=utf-8")], text).into_response()
    }
}

impl From<RowsError> for Fault {
    fn from(error: RowsError) -> Self {
        if let RowsError::NoIndex = error {
            return Self::Unknown(error.to_string());
        }
        tracing::warn!(%error, "a Torznab request cannot be answered");
        Self::Unknown("Unknown error".to_owned())
    }
}

/// True for a path whose errors are Torznab's.
pub fn is_torznab(path: &str) -> bool {
    path == "/api" || path.starts_with("/torznab") || path.starts_with("/api/v2.0/")
}

pub async fn of_all(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Response {
    answer(&outlet, &caller, query.as_deref(), &Place::default()).await
}

/// The base URL itself, which some clients ask what there is. People have a page there.
pub async fn of_base(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    RawQuery(query): RawQuery,
) -> Response {
    let query = query.unwrap_or_default();
    let mut names = url::form_urlencoded::parse(query.as_bytes()).map(|(name, _)| name.to_ascii_lowercase());
    match names.any(|name| name == "t") {
        true => answer(&outlet, &caller, Some(&query), &Place::default()).await,
        false => answer(&outlet, &caller, Some(&format!("{query}&t=caps")), &Place::default()).await,
    }
}

pub async fn of_one(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    answer(&outlet, &caller, query.as_deref(), &Place::named(&name, false)).await
}

/// Jackett's paths: without a function they search.
pub async fn of_jackett(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    Path(name): Path<String>,
    RawQuery(query): RawQuery,
) -> Response {
    answer(&outlet, &caller, query.as_deref(), &Place::named(&name, true)).await
}

async fn answer(outlet: &Outlet, caller: &Caller, query: Option<&str>, place: &Place) -> Response {
    match answered(outlet, caller, query.unwrap_or_default(), place).await {
        Ok(response) => response,
        Err(fault) => fault.into_response(),
    }
}

async fn answered(outlet: &Outlet, caller: &Caller, query: &str, place: &Place) -> Result<Response, Fault> {
    match caller.scope {
        Some(scope) if scope >= Scope::Torznab => {}
        Some(_) => return Err(Fault::Scope),
        None if caller.is_revoked => return Err(Fault::Revoked),
        None => return Err(Fault::WrongKey),
    }
    let mut asked = Asked::read(query, place, outlet.clock.now())?;
    if let Some(name) = place.saved() {
        // What is asked for is looked for within it: no query widens it.
        let saved = outlet.saved(name).ok_or(Fault::Parameter("search: /api/v1/searches lists them"))?;
        asked.query.within = Some(Box::new(saved));
    }
    if let Some(site) = place.site()
        && !outlet.sites().await?.contains(site)
    {
        return Err(Fault::Parameter("site: gleaner status lists them"));
    }
    outlet.requests.torznab(caller.links.token.as_ref().map_or("", |token| &*token.name), asked.name);
    let xml = |text: String| ([(header::CONTENT_TYPE, "application/xml; charset=utf-8")], text).into_response();
    match asked.function {
        Function::Caps => {
            let labels = outlet.labels(place.site()).await?;
            Ok(xml(caps::text(&labels, place.site().is_some())))
        }
        Function::Indexers => Ok(xml(caps::indexers(&outlet.sites().await?))),
        Function::Search => {
            let page = if asked.is_nothing {
                Page::default()
            } else {
                outlet.find(&asked.query, Order::Newest, asked.offset, asked.limit).await?
            };
            let text = items::text(&page, asked.offset, &caller.links);
            Ok(([(header::CONTENT_TYPE, "application/rss+xml; charset=utf-8")], text).into_response())
        }
    }
}
