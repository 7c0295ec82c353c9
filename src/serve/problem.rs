//! Refusals, as RFC 9457 has them: a title, what to do, and nothing of the machine.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use schemars::JsonSchema;
use serde::Serialize;

/// `application/problem+json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Problem {
    #[serde(serialize_with = "number")]
    #[schemars(with = "u16")]
    pub status: StatusCode,
    pub title: String,
    /// What to do.
    pub detail: String,
    /// Seconds to wait: a header.
    #[serde(skip)]
    retry_after: Option<u64>,
}

fn number<S: serde::Serializer>(status: &StatusCode, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_u16(status.as_u16())
}

impl Problem {
    pub fn new(status: StatusCode, title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self { status, title: title.into(), detail: detail.into(), retry_after: None }
    }

    /// With how long to wait.
    #[must_use]
    pub fn waiting(self, seconds: u64) -> Self {
        Self { retry_after: Some(seconds), ..self }
    }

    /// A request that cannot be read.
    pub fn wrong(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, title, detail)
    }

    pub fn not_found(title: impl Into<String>, detail: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, title, detail)
    }

    /// An error of ours: it is logged, and not shown.
    pub fn ours(error: &dyn std::error::Error) -> Self {
        tracing::warn!(%error, "a request cannot be answered");
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "this request cannot be answered now",
            "the log of the service says why",
        )
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.status, Json(&self)).into_response();
        let kind = header::HeaderValue::from_static("application/problem+json");
        response.headers_mut().insert(header::CONTENT_TYPE, kind);
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, seconds.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            // Feed readers send a password only when they are asked.
            let challenge = header::HeaderValue::from_static("Basic realm=\"gleaner\", charset=\"UTF-8\"");
            response.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
        }
        // People see it as a page.
        response.extensions_mut().insert(self);
        response
    }
}

pub async fn nothing_here() -> Problem {
    let detail = "the API is below /api/v1, Torznab at /api, feeds are below /feeds, torrents below /torrents";
    Problem::new(StatusCode::NOT_FOUND, "nothing is here", detail)
}

pub async fn other_method() -> Problem {
    Problem::new(StatusCode::METHOD_NOT_ALLOWED, "this is not answered here", "`Allow` of this answer lists what is")
}
