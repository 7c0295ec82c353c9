//! What the service is asked to do: pause a site, go on with it, recheck its lists now. This room hands the wish over and writes nothing.
//!
//! A page of another site can have a browser send requests here with the browser's own rights (cross-site request forgery): what changes something is a POST of
//! JSON, which a form cannot send, and is refused unless whatever the browser says of its origin names this server.

use axum::extract::Request;
use axum::http::{HeaderMap, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::access::Caller;
use crate::problem::Problem;

/// What is to be done with a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Wish {
    /// No request from now on, for so many minutes, or until it is resumed.
    Pause {
        minutes: Option<u32>,
    },
    Resume,
    /// Recheck the start pages and all lists at once.
    Crawl,
}

/// A wish, and whose it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Act {
    pub site: String,
    pub wish: Wish,
    /// Name of the token, or what stands for it.
    pub by: String,
}

/// What has been done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Acted {
    pub site: String,
    pub is_paused: bool,
    /// Until when it is paused (UTC); null for a pause without an end, or none.
    pub until: Option<String>,
    /// What a person should know beside, such as why nothing is requested all the same.
    pub note: Option<String>,
}

/// Why nothing has been done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
pub enum Refused {
    #[error("no site is called {0}")]
    Unknown(String),
    /// With what to do.
    #[error("{what}\nhint: {hint}")]
    NotNow { what: String, hint: String },
    /// The service ends, or its database cannot be written.
    #[error("{0}")]
    Failed(String),
}

impl From<Refused> for Problem {
    fn from(refused: Refused) -> Self {
        match refused {
            Refused::Unknown(_) => Self::not_found(refused.to_string(), "/api/v1/sites lists the sites"),
            Refused::NotNow { what, hint } => Self::new(StatusCode::CONFLICT, what, hint),
            Refused::Failed(why) => Self::new(StatusCode::SERVICE_UNAVAILABLE, "the service cannot do that now", why),
        }
    }
}

/// Refuses what another site's page may have sent, and what is not JSON.
///
/// # Errors
/// The refusal.
pub async fn guarded(
    axum::Extension(caller): axum::Extension<Caller>,
    request: Request,
    next: Next,
) -> Result<Response, Response> {
    must_be_ours(request.headers(), &caller.links.base).map_err(Problem::into_response)?;
    let kind = request.headers().get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let kind = kind.split(';').next().unwrap_or_default().trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        let problem = Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "the body is not JSON",
            "send `Content-Type: application/json` and an object, {} at least",
        );
        return Err(problem.into_response());
    }
    Ok(next.run(request).await)
}

/// Refuses a request that a page of another origin than `base` has sent.
///
/// # Errors
/// The refusal.
pub fn must_be_ours(headers: &HeaderMap, base: &str) -> Result<(), Problem> {
    let text = |name| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    let is_own_page = text(header::HeaderName::from_static("sec-fetch-site"))
        .is_none_or(|site| matches!(site, "same-origin" | "none"));
    let own = origin(base);
    let is_own_origin = text(header::ORIGIN).is_none_or(|sent| own.is_some() && origin(sent) == own);
    if is_own_page && is_own_origin {
        return Ok(());
    }
    let detail = "send it from a page of this server, or from no page at all; behind a proxy, set `public_url`";
    Err(Problem::new(StatusCode::FORBIDDEN, "this request comes from a page of another site", detail))
}

/// Scheme, host and port.
fn origin(text: &str) -> Option<(String, String, Option<u16>)> {
    let url = url::Url::parse(text).ok()?;
    Some((url.scheme().to_owned(), url.host_str()?.to_owned(), url.port_or_known_default()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_of_other_sites_press_nothing() {
        let of = |pairs: &[(&'static str, &str)], base: &str| {
            let headers = pairs.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
            must_be_ours(&HeaderMap::from_iter(headers), base).is_ok()
        };
        const BASE: &str = "http://127.0.0.1:8717/g";
        for ours in [
            &[][..],
            &[("origin", "http://127.0.0.1:8717")],
            &[("origin", "http://127.0.0.1:8717"), ("sec-fetch-site", "same-origin")],
            &[("sec-fetch-site", "none")],
        ] {
            assert!(of(ours, BASE), "{ours:?}");
        }
        for others in [
            &[("origin", "http://evil.example")][..],
            &[("origin", "null")],
            &[("origin", "")],
            &[("origin", "http://127.0.0.1")],
            &[("origin", "http://127.0.0.1:8718")],
            &[("origin", "https://127.0.0.1:8717")],
            &[("origin", "http://localhost:8717")],
            &[("sec-fetch-site", "cross-site")],
            &[("sec-fetch-site", "same-site"), ("origin", "http://127.0.0.1:8717")],
        ] {
            assert!(!of(others, BASE), "{others:?}");
        }
        assert!(of(&[("origin", "https://gleaner.example")], "https://gleaner.example"));
        assert!(of(&[("origin", "https://gleaner.example:443")], "https://gleaner.example"));
    }
}
