//! Pages as they were sent a moment ago, packed: fifty open ones that refresh at the same event are made once, and who has the newest already is
//! sent nothing.

use std::collections::HashMap;
use std::io::Write as _;
use std::sync::Arc;

use axum::body::{Body, Bytes, to_bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use flate2::Compression;
use flate2::write::GzEncoder;
use gleaner_base::clock::UnixMillis;
use sha2::{Digest as _, Sha256};
use tokio::sync::Mutex;

use super::visit::Visit;
use crate::limits::{ANSWER_BYTES_MAX, PAGE_KEPT, PAGES_KEPT_MAX};
use crate::problem::Problem;
use crate::tokens::Scope;

/// Of whom and where a page is: nobody else gets it.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Key {
    here: String,
    /// The code of its forms: one for each token and session.
    code: String,
    scope: Option<Scope>,
    base: String,
}

impl Key {
    pub fn of(visit: &Visit) -> Self {
        let (here, code) = visit.identity();
        let (scope, base) = (visit.caller.scope, visit.caller.links.base.clone());
        Self { here: here.to_owned(), code: code.to_owned(), scope, base }
    }
}

/// A page, packed.
pub struct Kept {
    at: UnixMillis,
    headers: HeaderMap,
    tag: HeaderValue,
    bytes: Bytes,
}

impl Kept {
    /// As an answer; without a body for who has it already.
    fn answer(&self, asked: Option<&HeaderValue>) -> Response {
        let is_known = asked == Some(&self.tag);
        let mut response = match is_known {
            true => StatusCode::NOT_MODIFIED.into_response(),
            false => Body::from(self.bytes.clone()).into_response(),
        };
        response.headers_mut().extend(self.headers.clone());
        response.headers_mut().insert(header::ETAG, self.tag.clone());
        if !is_known {
            response.headers_mut().insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
        response
    }
}

/// Held while the page is made.
type Place = Arc<Mutex<Option<Kept>>>;

/// See the module.
#[derive(Default)]
pub struct Pages(std::sync::Mutex<HashMap<Key, Place>>);

impl Pages {
    /// The page of a moment ago, else the one that `make` gives. What is no page is not kept.
    pub async fn get<F: Future<Output = Response>>(
        &self,
        key: Key,
        now: UnixMillis,
        asked: Option<HeaderValue>,
        make: impl FnOnce() -> F,
    ) -> Response {
        let place = {
            let mut pages = self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            if pages.len() >= PAGES_KEPT_MAX && !pages.contains_key(&key) {
                pages.clear();
            }
            Arc::clone(pages.entry(key).or_default())
        };
        let mut place = place.lock().await;
        if let Some(kept) = &*place
            && now >= kept.at
            && now.since(kept.at) < PAGE_KEPT
        {
            return kept.answer(asked.as_ref());
        }
        *place = None;
        let response = make().await;
        let is_page = response.status() == StatusCode::OK
            && response.headers().get(header::CONTENT_TYPE).is_some_and(super::is_html);
        if !is_page {
            return response;
        }
        let (parts, body) = response.into_parts();
        let Some(body) = whole(body).await else { return too_long() };
        let Ok(bytes) = packed(&body) else { return Response::from_parts(parts, Body::from(body)) };
        let kept = Kept { at: now, headers: parts.headers, tag: tag(&body), bytes };
        let answer = kept.answer(asked.as_ref());
        *place = Some(kept);
        answer
    }

    /// Something was pressed: each page is made anew.
    pub fn forget(&self) {
        self.0.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clear();
    }
}

/// The answer, packed.
pub async fn pack(response: Response) -> Response {
    let (mut parts, body) = response.into_parts();
    let Some(body) = whole(body).await else { return too_long() };
    match packed(&body) {
        Ok(packed) if !body.is_empty() => {
            parts.headers.remove(header::CONTENT_LENGTH);
            parts.headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            Response::from_parts(parts, Body::from(packed))
        }
        _ => Response::from_parts(parts, Body::from(body)),
    }
}

/// Made in memory: it is all there.
async fn whole(body: Body) -> Option<Bytes> {
    to_bytes(body, ANSWER_BYTES_MAX).await.ok()
}

fn too_long() -> Response {
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "this page is too long", "ask for less").into_response()
}

fn packed(body: &[u8]) -> std::io::Result<Bytes> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(body.len() / 4), Compression::new(5));
    encoder.write_all(body)?;
    Ok(encoder.finish()?.into())
}

/// What a page says, but for the ages of its times: the script of the page counts these on.
fn tag(body: &[u8]) -> HeaderValue {
    let (mut hash, mut rest) = (Sha256::new(), body);
    let find = |text: &[u8], what: &[u8]| text.windows(what.len()).position(|part| part == what);
    while let Some(at) = find(rest, b"<time ") {
        let end = find(&rest[at..], b">").map_or(rest.len(), |end| at + end);
        hash.update(&rest[..end]);
        rest = &rest[end..];
        rest = &rest[find(rest, b"</time>").unwrap_or(0)..];
    }
    hash.update(rest);
    let hex = data_encoding::HEXLOWER.encode(&hash.finalize()[..12]);
    HeaderValue::from_str(&format!("W/\"{hex}\"")).unwrap_or(HeaderValue::from_static("W/\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_page_says_changes_its_tag() {
        let page = |age: &str, at: &str, name: &str| {
            tag(format!("<p>{name} <time datetime=\"{at}\">{age}</time>, <time datetime=\"x\">now</time> end")
                .as_bytes())
        };
        let first = page("2 min ago", "2026-12-01T00:00:00Z", "a");
        assert_eq!(first, page("3 min ago", "2026-12-01T00:00:00Z", "a"));
        assert_ne!(first, page("2 min ago", "2026-12-01T00:00:01Z", "a"));
        assert_ne!(first, page("2 min ago", "2026-12-01T00:00:00Z", "b"));
        assert_ne!(tag(b"<time a"), tag(b"<time b"));
    }
}
