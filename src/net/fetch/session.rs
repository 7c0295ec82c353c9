//! A site's cookies, as RFC 6265bis (draft-ietf-httpbis-rfc6265bis) keeps and sends them, with its limits: a site that
//! sets cookies without end must not have its own server refuse our requests for their size, nor fill the memory.
//! Reading dates and comparing domains and paths is `cookie_store`'s.
//!
//! The public suffix list stands guard: without it a host could set a cookie for `co.uk` and have it sent to others.
//! A token that an API gave in place of cookies is kept beside them. Nothing of either is logged. `kept` writes a site's cookies down and reads those of a browser.

mod dropped;
pub mod kept;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use cookie_store::{CookieDomain, CookieExpiration, CookiePath, RawCookie};
use reqwest::header::{self, HeaderMap, HeaderValue};
use time::OffsetDateTime;
use url::Url;

pub use self::dropped::{CAME_IN_THE_CLEAR, Dropped};
use crate::limits;
use gleaner_base::clock::{Clock as _, SystemClock};

/// The cookies of one site's client.
#[derive(Default)]
pub struct Jar {
    cookies: Mutex<Cookies>,
    /// For sites that log in by an API.
    bearer: Mutex<Option<Bearer>>,
    /// Goes up with each cookie that is set, replaced or removed.
    changes: AtomicU64,
    /// What was not kept since the cookies were last cleared, at most `limits::COOKIES_DROPPED_MAX`.
    dropped: Mutex<Vec<Dropped>>,
}

impl Jar {
    /// Another number than before where a cookie has been set, replaced by another value, or removed since.
    pub fn changes(&self) -> u64 {
        self.changes.load(Ordering::Relaxed)
    }

    /// True where it holds no cookie and no token.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lock().list.is_empty() && self.bearer().is_none()
    }

    /// Forgets all cookies, and the token.
    pub fn clear(&self) {
        self.lock().list.clear();
        self.dropped_ones().clear();
        *self.bearer() = None;
        self.changes.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes a token for the origin of `url`, in place of the one before (RFC 6750). False where it cannot stand in a
    /// header, or is longer than `limits::BEARER_BYTES_MAX`.
    pub fn set_bearer(&self, url: &Url, token: &str) -> bool {
        let bearer = Bearer { origin: url.origin().ascii_serialization().into(), token: token.into() };
        if !bearer.is_valid() {
            return false;
        }
        *self.bearer() = Some(bearer);
        self.changes.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// The `Authorization` of a request: for the origin that gave the token alone, so that what came over TLS goes over
    /// TLS.
    pub(super) fn authorization(&self, url: &Url) -> Option<HeaderValue> {
        let bearer = self.bearer();
        let bearer = bearer.as_ref().filter(|bearer| *bearer.origin == url.origin().ascii_serialization())?;
        let mut header = HeaderValue::from_str(&format!("Bearer {}", bearer.token)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    /// Takes the cookies of an answer from `url`, its `Date` for what the server's clock says.
    pub fn take(&self, answer: &HeaderMap, url: &Url) {
        let set = answer.get_all(header::SET_COOKIE).iter();
        self.set(set, url, answer.get(header::DATE).and_then(servers_time));
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

    /// What a site has set since the cookies were cleared, and was not kept, with why.
    #[must_use]
    pub fn dropped(&self) -> Vec<Dropped> {
        self.dropped_ones().clone()
    }

    /// True where it holds cookies, and none of them goes with a request for this URL.
    #[must_use]
    pub fn has_none_for(&self, url: &Url) -> bool {
        let cookies = self.lock();
        !cookies.list.is_empty() && !cookies.list.iter().any(|cookie| cookie.is_for(url))
    }

    fn dropped_ones(&self) -> MutexGuard<'_, Vec<Dropped>> {
        // One is in the list or not.
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The cookies that scripts of a page at `url` may see (§5.8.3, "non-HTTP" API), as `name=value`.
    pub fn for_scripts(&self, url: &Url) -> Vec<String> {
        let cookies = self.lock();
        let seen = cookies.list.iter().filter(|cookie| !cookie.http_only && cookie.is_for(url));
        seen.map(|cookie| format!("{}={}", cookie.name, cookie.value)).collect()
    }

    /// Takes a cookie that a script of a page at `url` has set. Scripts can neither make nor replace one that is hidden from them, nor is
    /// one thrown out to make room for theirs.
    pub fn set_by_script(&self, text: &str, url: &Url) {
        let Some(cookie) = Cookie::parse_at(text, url, None).filter(|cookie| !cookie.http_only) else { return };
        let mut cookies = self.lock();
        let hides = |other: &Cookie| other.http_only && other.name == cookie.name && other.is_for(url);
        if !cookies.list.iter().any(hides) && cookies.put_by(Setter::Script, cookie) {
            self.changes.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// None of the cookies in hand leaves TLS any more, whatever a file says of them: most browsers export the session of
    /// an https site as one that may.
    pub fn keep_to_tls(&self) {
        self.lock().list.iter_mut().for_each(|cookie| cookie.secure = true);
    }

    /// The `Cookie` header of a request; None where no cookie is for it.
    pub fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        let text = self.lock().header(url)?;
        let mut header = HeaderValue::from_maybe_shared(bytes::Bytes::from(text)).ok()?;
        header.set_sensitive(true);
        Some(header)
    }

    fn bearer(&self) -> MutexGuard<'_, Option<Bearer>> {
        // It is there or not.
        self.bearer.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> MutexGuard<'_, Cookies> {
        // A cookie that is half-way in the list is either in or not.
        self.cookies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A token of a login by an API.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
struct Bearer {
    /// `https://host[:port]` that gave it.
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
    /// Requests that took cookies along, by which it is known which one was used last.
    requests: u64,
}

/// Who sets a cookie, and may have others thrown out for it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Setter {
    Server,
    /// It may have only those thrown out that it sees.
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
    /// The registrable domain by which cookies are counted, or the whole host where it has none.
    registrable: Box<str>,
    /// The last request that it went with, or the one before it was set, by [`Cookies::requests`].
    used: u64,
}

impl Cookies {
    /// Takes one `Set-Cookie` of an answer from `url`. One that replaces another keeps its age; one that has
    /// expired only removes (§5.7). True where something is another than before.
    fn set(&mut self, text: &str, url: &Url, date: Option<OffsetDateTime>) -> bool {
        Cookie::parse_at(text, url, date).is_some_and(|cookie| self.put(cookie))
    }

    /// True where one of this name is kept for such an answer.
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

    /// Adds a cookie; where there are too many, those that have expired go, then the one that was used least recently, of equals the
    /// oldest. False where none of those may go that the setter sees.
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
            // Of equals the first, which is the oldest.
            let Some((least, _)) = there.min_by_key(|(_, other)| other.used) else { return false };
            self.list.remove(least);
        }
        self.list.push(cookie);
        true
    }

    /// The `Cookie` header of a request (§5.8.3): longer paths first, among equals the older. A pair that would make it
    /// longer than `limits::COOKIE_HEADER_BYTES_MAX` is left out.
    fn header(&mut self, url: &Url) -> Option<String> {
        self.requests += 1;
        let now = self.requests;
        let mut fitting: Vec<&mut Cookie> = self.list.iter_mut().filter(|cookie| cookie.is_for(url)).collect();
        // The list is in the order of age, and the sort keeps it.
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
    /// Reads one `Set-Cookie` whose server's clock nobody knows.
    fn parse(text: &str, url: &Url) -> Option<Self> {
        Self::parse_at(text, url, None)
    }

    /// Reads one `Set-Cookie` (§5.6) and says whether it may be kept (§5.7); None where not. `Expires` is a time by the
    /// server's clock, which said `date` when it was sent: what counts is how long that is (as Chromium does; the RFC is
    /// silent), so that neither a session is dead on arrival nor what was removed lives on.
    fn parse_at(text: &str, url: &Url, date: Option<OffsetDateTime>) -> Option<Self> {
        // §5.6: control characters but the tab.
        if text.bytes().any(|byte| byte.is_ascii_control() && byte != b'\t') {
            return None;
        }
        // Too long attributes are ignored (§5.6); the pair in front has a cap of its own.
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
        // What came in the clear cannot ask for protection (§5.7).
        if secure && url.scheme() != "https" {
            return None;
        }
        let host_only = CookieDomain::host_only(url).ok()?;
        let domain = match CookieDomain::try_from(&raw).ok()? {
            domain @ CookieDomain::Suffix(_) if is_public_suffix(&domain) => {
                // A host that is a suffix itself may keep its own (§5.7).
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
            // What was set over TLS does not leave it, whether the site asks for that or not.
            secure: secure || url.scheme() == "https",
            http_only: raw.http_only() == Some(true),
            registrable: url.domain().and_then(psl::domain_str).unwrap_or(host).into(),
            used: 0,
        })
    }

    /// True when it goes with a request for this URL.
    fn is_for(&self, url: &Url) -> bool {
        self.domain.matches(url)
            && self.path.matches(url)
            && (!self.secure || url.scheme() == "https")
            && !self.expires.is_expired()
    }
}

/// What the clock of a server says by its `Date`; None where that is no date, or further from ours than clocks go wrong.
fn servers_time(date: &HeaderValue) -> Option<OffsetDateTime> {
    // Of all the forms that dates of servers have, the reader of cookies knows the most.
    let raw = RawCookie::parse(format!("date=; Expires={}", date.to_str().ok()?)).ok()?;
    let date = raw.expires_datetime()?;
    let ours = OffsetDateTime::from_unix_timestamp(i64::try_from(SystemClock.now().0 / 1_000).ok()?).ok()?;
    ((date - ours).unsigned_abs() <= limits::COOKIE_CLOCK_OFF_MAX).then_some(date)
}

/// True for a domain under which anybody may register.
fn is_public_suffix(domain: &CookieDomain) -> bool {
    let domain = domain.as_cow();
    domain.is_some_and(|domain| {
        psl::suffix(domain.as_bytes()).is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == domain.as_bytes())
    })
}

#[cfg(test)]
mod tests;
