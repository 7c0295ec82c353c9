//! A site's cookies, stored and sent by RFC 6265bis (draft-ietf-httpbis-rfc6265bis), with its limits: a site that
//! sets endless cookies must not make its own server reject our requests for their size, nor fill the memory.
//! `cookie_store` parses dates and compares domains and paths.
//!
//! The public suffix list is enforced: without it a host could set a cookie for `co.uk` and have it sent to others. A
//! token that an API gave instead of cookies is kept beside them, and so is what HTTP Basic asks for (`basic`). None is logged. `kept` serialises a site's
//! cookies and imports those of a browser.

mod basic;
mod dropped;
pub mod kept;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cookie_store::{CookieDomain, CookieExpiration, CookiePath, RawCookie};
use reqwest::header::{self, HeaderMap, HeaderValue};
use time::OffsetDateTime;
use url::Url;

use self::basic::Basic;
pub use self::basic::BasicPage;
pub use self::dropped::{CAME_IN_THE_CLEAR, Dropped};
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock};

/// The cookie jar of one site's client.
#[derive(Default)]
pub struct Jar {
    cookies: Mutex<Cookies>,
    /// For sites with an API login.
    bearer: Mutex<Option<Bearer>>,
    /// For sites behind HTTP Basic authentication.
    basic: Mutex<Option<Basic>>,
    /// Incremented for each cookie that is set, replaced or removed.
    changes: AtomicU64,
    /// Cookies dropped since the jar was last cleared, at most `limits::COOKIES_DROPPED_MAX`.
    dropped: Mutex<Vec<Dropped>>,
}

impl Jar {
    /// A counter that changes when a cookie is set, gets another value, or is removed.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// True if it holds no cookie and no token, and no page has asked for HTTP Basic.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().list.is_empty() && self.bearer().is_none() && self.basic().is_none()
    }

    /// Removes all cookies, the token, and the credentials of HTTP Basic.
    pub fn clear(&self) {
        self.lock().list.clear();
        self.dropped_ones().clear();
        *self.bearer() = None;
        *self.basic() = None;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Stores a token for the origin of `url`, replacing the previous one (RFC 6750). False if it is not a valid
    /// header value, or is longer than `limits::BEARER_BYTES_MAX`.
    pub fn set_bearer(&self, url: &Url, token: &str) -> bool {
        let bearer = Bearer { origin: url.origin().ascii_serialization().into(), token: token.into() };
        if !bearer.is_valid() {
            return false;
        }
        *self.bearer() = Some(bearer);
        self.changes.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// The `Authorization` of a request. Sent only to the origin that gave the token, or asked for the credentials, so
    /// that what was agreed over TLS is only sent over TLS.
    pub(super) fn authorization(&self, url: &Url) -> Option<HeaderValue> {
        self.token_for(url).or_else(|| self.basic().as_ref()?.header(url))
    }

    fn token_for(&self, url: &Url) -> Option<HeaderValue> {
        let bearer = self.bearer();
        let bearer = bearer.as_ref().filter(|bearer| *bearer.origin == url.origin().ascii_serialization())?;
        let mut header = HeaderValue::from_str(&format!("Bearer {}", bearer.token)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    /// Stores the cookies of a response from `url`. Its `Date` gives the server's clock.
    pub fn take(&self, answer: &HeaderMap, url: &Url) {
        if answer.contains_key(header::SET_COOKIE) {
            let set = answer.get_all(header::SET_COOKIE).iter();
            self.set(set, url, answer.get(header::DATE).and_then(servers_time));
        }
    }

    fn set<'a>(&self, headers: impl Iterator<Item = &'a HeaderValue>, url: &Url, date: Option<OffsetDateTime>) {
        let mut cookies = self.lock();
        for text in headers.filter_map(|header| std::str::from_utf8(header.as_bytes()).ok()) {
            let was = cookies.list.len();
            if cookies.set(text, url, date) {
                self.changes.fetch_add(1, Ordering::Relaxed);
            } else if cookies.list.len() == was && !cookies.has(text, url) {
                self.note_dropped(text, url);
            }
        }
    }

    fn note_dropped(&self, text: &str, url: &Url) {
        let Some(new) = dropped::why(text, url) else { return };
        let mut dropped = self.dropped_ones();
        if dropped.len() < limits::COOKIES_DROPPED_MAX && !dropped.contains(&new) {
            dropped.push(new);
        }
    }

    /// Cookies that the site set since the jar was cleared and that were dropped, with the reasons.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.dropped_ones().clone()
    }

    /// True if it holds cookies, but none that would be sent to this URL.
    #[must_use]
    pub fn has_none_for(&self, url: &Url) -> bool {
        let cookies = self.lock();
        !cookies.list.is_empty() && !cookies.list.iter().any(|cookie| cookie.is_for(url))
    }

    fn dropped_ones(&self) -> MutexGuard<'_, Vec<Dropped>> {
        // The list is consistent at any panic.
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cookies that scripts of a page at `url` may see (§5.8.3, "non-HTTP" API), as `name=value`.
    pub fn for_scripts(&self, url: &Url) -> Vec<String> {
        let cookies = self.lock();
        let seen = cookies.list.iter().filter(|cookie| !cookie.http_only && cookie.is_for(url));
        seen.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect()
    }

    /// Stores a cookie that a script of a page at `url` set. Scripts can neither create nor replace an `HttpOnly`
    /// cookie, and theirs never evict one.
    pub fn set_by_script(&self, text: &str, url: &Url) {
        let Some(cookie) = Cookie::parse_at(text, url, None).filter(|cookie| !cookie.http_only) else { return };
        let mut cookies = self.lock();
        let hides = |other: &Cookie| other.http_only && other.name == cookie.name && other.is_for(url);
        if !cookies.list.iter().any(hides) && cookies.put_by(Setter::Script, cookie) {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Restricts all current cookies to TLS, whatever a file says: most browsers export the session of an https site
    /// without the flag.
    pub fn keep_to_tls(&self) {
        self.lock().list.iter_mut().for_each(|cookie| cookie.secure = true);
    }

    /// The `Cookie` header of a request; None if no cookie matches.
    pub fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        let text = self.lock().header(url)?;
        let mut header = HeaderValue::from_maybe_shared(bytes::Bytes::from(text)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    fn bearer(&self) -> MutexGuard<'_, Option<Bearer>> {
        // The token is set or not.
        self.bearer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Cookies> {
        // A cookie is in the list or not; no state in between.
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A token of an API login.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Bearer {
    /// The origin that gave it: `https://host[:port]`.
    origin: Box<str>,
    token: Box<str>,
}

impl Bearer {
    fn is_valid(&self) -> bool {
        let is_word = |byte: u8| byte.is_ascii_graphic() && byte != b'"' && byte != b',';
        (1..=limits::BEARER_BYTES_MAX).contains(&self.token.len()) && self.token.bytes().all(is_word)
    }
}

/// Cookies, the oldest first.
#[derive(Default)]
struct Cookies {
    list: Vec<Cookie>,
    /// Number of requests with cookies, to find the least recently used cookie.
    requests: u64,
}

/// Who sets a cookie, which decides what it may evict.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setter {
    Server,
    /// May only evict cookies that scripts can see.
    Script,
}

/// One cookie (§5.7).
struct Cookie {
    name: Box<str>,
    value: Box<str>,
    domain: CookieDomain,
    path: CookiePath,
    expires: CookieExpiration,
    secure: bool,
    /// Hidden from scripts.
    http_only: bool,
    /// The registrable domain by which cookies are counted, or the whole host if it has none.
    registrable: Box<str>,
    /// The last request that sent it, or the one before it was set, by [`Cookies::requests`].
    used: u64,
}

impl Cookies {
    /// Stores one `Set-Cookie` of a response from `url`. A cookie that replaces another keeps its age; an expired one
    /// only removes (§5.7). True if something changed.
    fn set(&mut self, text: &str, url: &Url, date: Option<OffsetDateTime>) -> bool {
        Cookie::parse_at(text, url, date).is_some_and(|cookie| self.put(cookie))
    }

    /// True if a cookie of this name exists for this URL.
    fn has(&self, text: &str, url: &Url) -> bool {
        let name = text.split(['=', ';']).next().unwrap_or_default().trim();
        self.list.iter().any(|cookie| &*cookie.name == name && cookie.is_for(url))
    }

    fn put(&mut self, cookie: Cookie) -> bool {
        self.put_by(Setter::Server, cookie)
    }

    fn put_by(&mut self, setter: Setter, cookie: Cookie) -> bool {
        let is_same =
            |old: &Cookie| old.name == cookie.name && old.domain == cookie.domain && *old.path == *cookie.path;
        match (self.list.iter().position(is_same), cookie.expires.is_expired()) {
            (Some(old), true) => {
                self.list.remove(old);
                true
            }
            (Some(old), false) => {
                let is_other = self.list[old].value != cookie.value || self.list[old].expires != cookie.expires;
                self.list[old] = Cookie { used: self.requests, ..cookie };
                is_other
            }
            (None, true) => false,
            (None, false) => self.insert(setter, Cookie { used: self.requests, ..cookie }),
        }
    }

    /// Adds a cookie. If there are too many, evicts expired ones, then the least recently used one (the oldest of
    /// equals). False if the setter may evict none.
    fn insert(&mut self, setter: Setter, cookie: Cookie) -> bool {
        let is_kin = |other: &Cookie| other.registrable == cookie.registrable;
        let is_full = |cookies: &[Cookie]| {
            let kin = cookies.iter().filter(|other| is_kin(other)).count();
            (kin >= limits::COOKIES_PER_DOMAIN_MAX, cookies.len() >= limits::COOKIES_PER_SITE_MAX)
        };
        if is_full(&self.list) != (false, false) {
            self.list.retain(|other| !other.expires.is_expired());
        }
        let (of_kin, of_all) = is_full(&self.list);
        if of_kin || of_all {
            let may_go = |other: &Cookie| (!of_kin || is_kin(other)) && (setter == Setter::Server || !other.http_only);
            let there = self.list.iter().enumerate().filter(|(_, other)| may_go(other));
            // The first of equals is the oldest.
            let Some((least, _)) = there.min_by_key(|(_, other)| other.used) else { return false };
            self.list.remove(least);
        }
        self.list.push(cookie);
        true
    }

    /// The `Cookie` header of a request (§5.8.3): longer paths first, among equals the older. A pair that would
    /// exceed `limits::COOKIE_HEADER_BYTES_MAX` is left out.
    fn header(&mut self, url: &Url) -> Option<String> {
        self.requests += 1;
        let now = self.requests;
        let mut fitting: Vec<&mut Cookie> = self.list.iter_mut().filter(|cookie| cookie.is_for(url)).collect();
        // The list is sorted by age, and the sort is stable.
        fitting.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let mut header = String::new();
        for Cookie { name, value, used, .. } in fitting {
            *used = now;
            let separator = if header.is_empty() { "" } else { "; " };
            let length = header.len() + separator.len() + name.len() + 1 + value.len();
            if length <= limits::COOKIE_HEADER_BYTES_MAX {
                header.extend([separator, name, "=", value]);
            }
        }
        (!header.is_empty()).then_some(header)
    }
}

impl Cookie {
    /// Parses one `Set-Cookie` without a known server clock.
    fn parse(text: &str, url: &Url) -> Option<Self> {
        Self::parse_at(text, url, None)
    }

    /// Parses one `Set-Cookie` (§5.6); None if it may not be stored (§5.7). `Expires` is a time of the server's
    /// clock, which was `date` when it was sent. So the lifetime counts (as in Chromium; the RFC is silent), so that
    /// no session is expired on arrival and no removed cookie survives.
    fn parse_at(text: &str, url: &Url, date: Option<OffsetDateTime>) -> Option<Self> {
        // §5.6: control characters except the tab.
        if text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        // Attributes that are too long are ignored (§5.6); the pair in front has its own cap.
        let mut parts = text.split(';');
        let pair = parts.next()?;
        let value_bytes = |part: &str| part.split_once('=').map_or(0, |(_, value)| value.trim().len());
        let attributes = parts.filter(|part| value_bytes(part) <= limits::COOKIE_ATTRIBUTE_BYTES_MAX);
        let text: Vec<&str> = std::iter::once(pair).chain(attributes).collect();
        let raw = RawCookie::parse(text.join(";")).ok()?;
        let (name, value) = raw.name_value();
        if name.len() + value.len() > limits::COOKIE_BYTES_MAX {
            return None;
        }
        let secure = raw.secure() == Some(true);
        // A response over plain http cannot set `Secure` (§5.7).
        if secure && url.scheme() != "https" {
            return None;
        }
        let host_only = CookieDomain::host_only(url).ok()?;
        let domain = match CookieDomain::try_from(&raw).ok()? {
            domain @ CookieDomain::Suffix(_) if is_public_suffix(&domain) => {
                // A host that is a public suffix itself may keep its own cookies (§5.7).
                domain.host_is_identical(url).then(|| host_only.clone())?
            }
            domain @ CookieDomain::Suffix(_) => domain.matches(url).then_some(domain)?,
            CookieDomain::HostOnly(_) | CookieDomain::NotPresent | CookieDomain::Empty => host_only.clone(),
        };
        let path_attribute = raw.path().and_then(CookiePath::parse);
        let is_prefixed = |prefix: &str| name.get(..prefix.len()).is_some_and(|of| of.eq_ignore_ascii_case(prefix));
        let is_host_bound = raw.domain().is_none() && path_attribute.as_deref() == Some("/");
        if (is_prefixed("__Secure-") && !secure) || (is_prefixed("__Host-") && !(secure && is_host_bound)) {
            return None;
        }
        let expires = match (raw.max_age(), raw.expires()) {
            (Some(age), _) => age.into(),
            (None, Some(expires)) => match (expires.datetime(), date) {
                (Some(expires), Some(date)) if expires <= date => CookieExpiration::from(0),
                (Some(expires), Some(date)) => (expires - date).into(),
                _ => expires.into(),
            },
            (None, None) => CookieExpiration::SessionEnd,
        };
        let host = url.host_str()?;
        Some(Self {
            name: name.into(),
            value: value.into(),
            domain,
            path: path_attribute.unwrap_or_else(|| CookiePath::default_path(url)),
            expires,
            // Cookies set over TLS stay on TLS, whether the site asks for it or not.
            secure: secure || url.scheme() == "https",
            http_only: raw.http_only() == Some(true),
            registrable: url.domain().and_then(psl::domain_str).unwrap_or(host).into(),
            used: 0,
        })
    }

    /// True if it is sent with a request for this URL.
    fn is_for(&self, url: &Url) -> bool {
        self.domain.matches(url)
            && self.path.matches(url)
            && (!self.secure || url.scheme() == "https")
            && !self.expires.is_expired()
    }
}

/// The server's clock from its `Date`; None if that is not a date, or implausibly far from our clock.
fn servers_time(date: &HeaderValue) -> Option<OffsetDateTime> {
    // The cookie parser accepts more of the date formats of real servers than any other.
    let raw = RawCookie::parse(format!("date=; Expires={}", date.to_str().ok()?)).ok()?;
    let date = raw.expires_datetime()?;
    let ours = OffsetDateTime::from_unix_timestamp(i64::try_from(SystemClock.now().0 / 1_000).ok()?).ok()?;
    ((date - ours).unsigned_abs() <= limits::COOKIE_CLOCK_OFF_MAX).then_some(date)
}

/// True for a domain under which anyone can register.
fn is_public_suffix(domain: &CookieDomain) -> bool {
    let domain = domain.as_cow();
    domain.is_some_and(|domain| {
        psl::suffix(domain.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == domain.as_bytes())
    })
}

#[cfg(test)]
mod tests;
