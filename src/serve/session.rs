//! Sessions of browsers: whoever shows a token once has a cookie for a while, which dies with the token. It holds a random number, its end, and a code over both by the
//! token's hash: nothing of it is stored, and a restart ends none.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};

use axum::Extension;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use gleaner_base::clock::UnixMillis;
use hmac::{Hmac, KeyInit as _, Mac as _};
use serde::Deserialize;
use sha2::Sha256;

use crate::Outlet;
use crate::access::Caller;
use crate::acts::must_be_ours;
use crate::limits::{BODY_BYTES_MAX, CLIENTS_MAX, SESSION_TIME, SESSIONS_ENDED_MAX, TRIES_PER_MINUTE};
use crate::problem::Problem;
use crate::tokens::{Token, Tokens};

/// Name of the cookie.
pub const COOKIE: &str = "gleaner_session";

/// Sessions that were ended before their time, and who tried tokens in vain.
#[derive(Default)]
pub struct Sessions {
    /// By their code, until when they would have been good.
    ended: Mutex<HashMap<String, UnixMillis>>,
    /// Since when, and how often.
    tries: Mutex<HashMap<Option<IpAddr>, (UnixMillis, u32)>>,
}

impl Sessions {
    /// The token of a session: of the value of a cookie.
    #[must_use]
    pub fn find(&self, tokens: &Tokens, value: &str, now: UnixMillis) -> Option<Token> {
        let (front, code) = value.rsplit_once('.')?;
        let end: u64 = front.split_once('.')?.1.parse().ok()?;
        let is_ended = || self.ended.lock().unwrap_or_else(PoisonError::into_inner).contains_key(code);
        if end <= now.0 || is_ended() {
            return None;
        }
        let decoded = data_encoding::HEXLOWER.decode(code.as_bytes()).ok()?;
        tokens.of_code(now, |token| code_of(token, front).is_some_and(|mac| mac.verify_slice(&decoded).is_ok()))
    }

    /// Ends a session; what is none changes nothing.
    fn end(&self, tokens: &Tokens, value: &str, now: UnixMillis) {
        if self.find(tokens, value, now).is_none() {
            return;
        }
        let Some((front, code)) = value.rsplit_once('.') else { return };
        let until = front.split_once('.').and_then(|(_, end)| end.parse().ok()).map_or(now, UnixMillis);
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        ended.retain(|_, until| *until > now);
        if ended.len() >= SESSIONS_ENDED_MAX {
            // The one that would be over first.
            let first = ended.iter().min_by_key(|(_, until)| **until).map(|(code, _)| code.clone());
            first.map(|code| ended.remove(&code));
        }
        ended.insert(code.to_owned(), until);
    }

    /// Counts a try; false if it is one too many.
    fn may_try(&self, client: Option<IpAddr>, now: UnixMillis) -> bool {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        tries.retain(|_, (since, _)| now.since(*since).as_secs() < 60);
        if tries.len() >= CLIENTS_MAX && !tries.contains_key(&client) {
            return false;
        }
        let (_, count) = tries.entry(client).or_insert((now, 0));
        *count += 1;
        *count <= TRIES_PER_MINUTE
    }

    /// Takes back a try: the token was one.
    fn succeeded(&self, client: Option<IpAddr>) {
        let mut tries = self.tries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, count)) = tries.get_mut(&client) {
            *count = count.saturating_sub(1);
        }
    }
}

fn code_of(token: &Token, front: &str) -> Option<Hmac<Sha256>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(token.sha256.as_bytes()).ok()?;
    // No code of a download link is one of a session.
    mac.update(b"session ");
    mac.update(front.as_bytes());
    Some(mac)
}

/// The value of a new session's cookie.
fn begun(token: &Token, end: UnixMillis) -> Option<String> {
    let mut id = [0; 16];
    getrandom::fill(&mut id).ok()?;
    let front = format!("{}.{}", data_encoding::HEXLOWER.encode(&id), end.0);
    let code = data_encoding::HEXLOWER.encode(&code_of(token, &front)?.finalize().into_bytes());
    Some(format!("{front}.{code}"))
}

/// The session's cookie of a request.
#[must_use]
pub fn cookie(headers: &HeaderMap) -> Option<&str> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let pairs = lines.flat_map(|line| line.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.filter(|(name, _)| *name == COOKIE).map(|(_, value)| value).next()
}

fn set_cookie(base: &str, value: &str, seconds: u64) -> Option<HeaderValue> {
    let url = url::Url::parse(base).ok()?;
    let path = if url.path().is_empty() { "/" } else { url.path() };
    let secure = if url.scheme() == "https" { "; Secure" } else { "" };
    let text = format!("{COOKIE}={value}; Path={path}; Max-Age={seconds}; HttpOnly; SameSite=Strict{secure}");
    HeaderValue::from_str(&text).ok()
}

#[derive(Deserialize)]
struct Shown {
    token: String,
}

/// `POST /session`: a token, from a form or as JSON, for a cookie.
pub async fn begin(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    request: Request,
) -> Result<Response, Problem> {
    let (parts, body) = request.into_parts();
    let (base, now) = (caller.links.base, outlet.clock.now());
    must_be_ours(&parts.headers, &base)?;
    if !outlet.sessions.may_try(caller.address, now) {
        return Err(Problem::new(StatusCode::TOO_MANY_REQUESTS, "too many tries", "ask again in 60 s").waiting(60));
    }
    let too_large = |_| Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "the body is too large", "send a token alone");
    let body = to_bytes(body, BODY_BYTES_MAX).await.map_err(too_large)?;
    let kind = parts.headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_form = kind.starts_with("application/x-www-form-urlencoded");
    let shown = match kind.split(';').next().unwrap_or_default().trim() {
        _ if is_form => {
            url::form_urlencoded::parse(&body).find(|(name, _)| name == "token").map(|(_, value)| value.into_owned())
        }
        "application/json" => serde_json::from_slice::<Shown>(&body).ok().map(|shown| shown.token),
        _ => {
            let hint = "send a form, or `Content-Type: application/json` and {\"token\": \"…\"}";
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "this is neither a form nor JSON", hint));
        }
    };
    let shown = shown.ok_or_else(|| Problem::wrong("no token is in the body", "send it as `token`"))?;
    let Some(token) = outlet.tokens.find(shown.trim(), now) else {
        tracing::warn!(
            address = caller.address.map(|of| of.to_string()),
            "a token was shown that is unknown or revoked"
        );
        let hint = "make one: gleaner token new NAME --scope admin";
        // Not 401: a browser would ask for a password of its own.
        return Err(Problem::new(StatusCode::FORBIDDEN, "this token is unknown or revoked", hint));
    };
    outlet.sessions.succeeded(caller.address);
    let end = now.plus(SESSION_TIME);
    let value = begun(&token, end).and_then(|value| set_cookie(&base, &value, SESSION_TIME.as_secs()));
    let Some(value) = value else {
        return Err(Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "there is no session", "ask again"));
    };
    let with_cookie = [(header::SET_COOKIE, value)];
    if is_form {
        let to = HeaderValue::from_str(&format!("{base}/")).map_err(|error| Problem::ours(&error))?;
        return Ok((StatusCode::SEE_OTHER, with_cookie, [(header::LOCATION, to)]).into_response());
    }
    let told = serde_json::json!({ "scope": token.scope.name(), "until": end.rfc3339() });
    Ok((with_cookie, axum::Json(told)).into_response())
}

/// `DELETE /session`: ends it.
pub async fn end(
    State(outlet): State<Arc<Outlet>>,
    Extension(caller): Extension<Caller>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    must_be_ours(&headers, &caller.links.base)?;
    let cleared = ended(&outlet, &headers, &caller.links.base, outlet.clock.now());
    let cleared = [(header::SET_COOKIE, cleared.unwrap_or(HeaderValue::from_static("")))];
    Ok((StatusCode::NO_CONTENT, cleared).into_response())
}

/// Ends the session of a request; returns the cookie that has its browser forget it.
pub fn ended(outlet: &Outlet, headers: &HeaderMap, base: &str, now: UnixMillis) -> Option<HeaderValue> {
    if let Some(value) = cookie(headers) {
        outlet.sessions.end(&outlet.tokens, value, now);
    }
    set_cookie(base, "", 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::{self, Scope};
    use std::time::Duration;

    #[test]
    fn a_session_ends_with_its_time_its_token_or_by_hand_and_cannot_be_made_up() {
        let (folder, now) = (tempfile::tempdir().unwrap(), UnixMillis(1_795_651_200_000));
        let secret = tokens::create(folder.path(), "page", Scope::Admin, now).unwrap();
        let (known, sessions) = (Tokens::of(folder.path()), Sessions::default());
        let token = known.find(&secret, now).unwrap();
        let end = now.plus(Duration::from_secs(60));
        let [one, two] = [(); 2].map(|()| begun(&token, end).unwrap());
        assert_eq!(sessions.find(&known, &one, now), Some(token.clone()));
        assert_eq!(sessions.find(&known, &one, end), None, "its time is over");
        let mut longer = one.clone();
        longer = longer.replacen(&end.0.to_string(), &(end.0 + 1).to_string(), 1);
        for wrong in [longer.as_str(), "", ".", "..", "a.b.c", &one[1..], &one[..one.len() - 2]] {
            assert_eq!(sessions.find(&known, wrong, now), None, "{wrong}");
        }
        // A code of a download link with the same text is none.
        let front = one.rsplit_once('.').unwrap().0;
        assert_eq!(sessions.find(&known, &format!("{front}.{}", crate::links::mac(&token, front)), now), None);
        for junk in ["x.18446744073709551615.ff", &longer, "", "."] {
            sessions.end(&known, junk, now);
        }
        assert!(sessions.ended.lock().unwrap().is_empty(), "what is no session is not remembered");
        sessions.end(&known, &one, now);
        assert_eq!((sessions.find(&known, &one, now), sessions.find(&known, &two, now).is_some()), (None, true));
        tokens::revoke(folder.path(), "page").unwrap();
        assert_eq!(sessions.find(&known, &two, now), None, "its token is revoked");
    }

    #[test]
    fn five_tries_a_minute_are_enough() {
        let (sessions, now) = (Sessions::default(), UnixMillis(1_000_000));
        let client = |last: u8| Some(IpAddr::from([10, 0, 0, last]));
        let tried: Vec<bool> = (0..7).map(|_| sessions.may_try(client(1), now)).collect();
        assert_eq!(tried, [true, true, true, true, true, false, false]);
        for _ in 0..20 {
            assert!(sessions.may_try(client(3), now), "who shows a token each time may go on");
            sessions.succeeded(client(3));
        }
        assert!(sessions.may_try(client(2), now) && sessions.may_try(client(1), now.plus(Duration::from_secs(60))));
    }

    #[test]
    fn the_cookie_is_for_this_server_alone() {
        let of = |base: &str| set_cookie(base, "v", 5).unwrap().to_str().unwrap().to_owned();
        assert_eq!(of("http://127.0.0.1:8717"), "gleaner_session=v; Path=/; Max-Age=5; HttpOnly; SameSite=Strict");
        assert_eq!(
            of("https://a.example/g"),
            "gleaner_session=v; Path=/g; Max-Age=5; HttpOnly; SameSite=Strict; Secure"
        );
        let headers =
            HeaderMap::from_iter([(header::COOKIE, HeaderValue::from_static("a=b; gleaner_session=x.y; c=d"))]);
        assert_eq!(cookie(&headers), Some("x.y"));
    }
}
