//! ETags of answers (RFC 9110 §8.8.3): whoever shows the one that he has is told in a few bytes that nothing has changed.

use axum::body::{Body, to_bytes};
use axum::extract::Request;
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use sha2::{Digest as _, Sha256};

use crate::limits::ANSWER_BYTES_MAX;
use crate::problem::Problem;

/// The tag of a body.
#[must_use]
pub fn of(body: &[u8]) -> String {
    format!("\"{}\"", &data_encoding::HEXLOWER.encode(&Sha256::digest(body))[..32])
}

/// True if the tag is in a list of `If-None-Match`, compared weakly.
#[must_use]
pub fn is_among(tags: &str, tag: &str) -> bool {
    tags.split(',').any(|one| one.trim().trim_start_matches("W/") == tag || one.trim() == "*")
}

/// Tags the JSON that an answer is.
pub async fn tagged(request: Request, next: Next) -> Response {
    // The answer to HEAD has no body to tell it by.
    let is_read = request.method() == Method::GET;
    let known = request.headers().get(header::IF_NONE_MATCH).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let response = next.run(request).await;
    let is_json = response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind == "application/json");
    if !is_read || !is_json || response.status() != StatusCode::OK {
        return response;
    }
    let (mut parts, body) = response.into_parts();
    // Made in memory: it is all there.
    let body = match to_bytes(body, ANSWER_BYTES_MAX).await {
        Ok(body) => body,
        Err(error) => return Problem::ours(&error).into_response(),
    };
    let tag = of(&body);
    let is_known = known.is_some_and(|known| is_among(&known, &tag));
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        parts.headers.insert(header::ETAG, tag);
    }
    if !is_known {
        return Response::from_parts(parts, Body::from(body));
    }
    parts.status = StatusCode::NOT_MODIFIED;
    for about_body in [header::CONTENT_TYPE, header::CONTENT_LENGTH] {
        parts.headers.remove(about_body);
    }
    Response::from_parts(parts, Body::empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_is_found_in_a_list_whether_weak_or_not() {
        let tag = of(b"x");
        assert!(tag.len() == 34 && tag != of(b"y"));
        for (tags, is_known) in [
            (tag.clone(), true),
            (format!("\"a\", W/{tag}"), true),
            ("*".to_owned(), true),
            ("\"a\"".to_owned(), false),
            (String::new(), false),
        ] {
            assert_eq!(is_among(&tags, &tag), is_known, "{tags}");
        }
    }
}
