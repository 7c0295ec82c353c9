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
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Key {
    here: String,
    /// SHA-256 of its token, and its session: the page has the code of its forms.
    token: Option<String>,
    session: Option<String>,
    scope: Option<Scope>,
    base: String,
}

impl Key {
    pub fn of(visit: &Visit) -> Self {
        let (links, session) = (&visit.caller.links, visit.cookie().map(str::to_owned));
        let token = links.token.as_ref().map(|token| token.sha256.clone());
        Self { here: visit.here().to_owned(), token, session, scope: visit.caller.scope, base: links.base.clone() }
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

/// The page, and since when it is the newest. The lock is held while it is made.
struct Place {
    since: UnixMillis,
    page: Arc<Mutex<Option<Kept>>>,
}

/// See the module.
#[derive(Default)]
pub struct Pages(std::sync::Mutex<HashMap<Key, Place>>);

fn is_fresh(at: UnixMillis, now: UnixMillis) -> bool {
    now >= at && now.since(at) < PAGE_KEPT
}

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
            // One that is being made is held by whoever waits for it.
            pages.retain(|_, place| is_fresh(place.since, now) || Arc::strong_count(&place.page) > 1);
            if pages.len() >= PAGES_KEPT_MAX && !pages.contains_key(&key) {
                let oldest = pages.iter().min_by_key(|(_, place)| place.since).map(|(key, _)| key.clone());
                oldest.map(|oldest| pages.remove(&oldest));
            }
            let place = pages.entry(key).or_insert_with(|| Place { since: now, page: Arc::default() });
            if !is_fresh(place.since, now) {
                place.since = now;
            }
            Arc::clone(&place.page)
        };
        let mut place = place.lock().await;
        if let Some(kept) = &*place
            && is_fresh(kept.at, now)
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
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::response::Html;

    use super::*;

    #[tokio::test]
    async fn old_pages_are_dropped_and_of_others_the_oldest_when_there_are_too_many() {
        let (pages, made) = (Pages::default(), AtomicUsize::new(0));
        let get = async |here: usize, ms: u64| {
            let here = here.to_string();
            let key = Key { here, token: None, session: None, scope: None, base: String::new() };
            let make = async || {
                made.fetch_add(1, Ordering::Relaxed);
                Html("page").into_response()
            };
            pages.get(key, UnixMillis(ms), None, make).await;
            made.load(Ordering::Relaxed)
        };
        for here in 0..=PAGES_KEPT_MAX {
            assert_eq!(get(here, 1_000 + here as u64).await, here + 1);
        }
        let all = PAGES_KEPT_MAX + 1;
        assert_eq!(get(PAGES_KEPT_MAX, 1_100).await, all);
        assert_eq!(get(1, 1_100).await, all, "the others are kept");
        assert_eq!(get(0, 1_100).await, all + 1, "it was the oldest");
        assert_eq!(get(0, 5_000).await, all + 2);
        assert_eq!(pages.0.lock().unwrap().len(), 1, "nobody asks for the others again");
    }

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
