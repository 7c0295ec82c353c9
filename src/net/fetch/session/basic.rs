//! HTTP Basic authentication (RFC 7617) of the operator's account: which page asked for it, and what is sent. The
//! credentials go to that page's origin only. They are never stored: the session file has the page alone, and its reader
//! sets them again.

use std::sync::atomic::Ordering;
use std::sync::{MutexGuard, PoisonError};

use reqwest::header::HeaderValue;
use serde::{Deserialize, Serialize};
use url::Url;

use super::Jar;
use crate::limits;

/// The page that asked for the credentials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BasicPage {
    /// `https://host[:port]`.
    pub origin: Box<str>,
    /// Path and query.
    pub path: Box<str>,
}

impl BasicPage {
    pub(super) fn is_valid(&self) -> bool {
        let is_short = self.origin.len() + self.path.len() <= limits::URL_BYTES_MAX;
        let own = Url::parse(&format!("{}{}", self.origin, self.path)).ok();
        is_short && own.is_some_and(|own| own.origin().ascii_serialization() == *self.origin)
    }
}

/// The page, and the header if the credentials are known.
pub(super) struct Basic {
    pub(super) page: BasicPage,
    header: Option<HeaderValue>,
}

impl Basic {
    pub(super) fn unarmed(page: BasicPage) -> Self {
        Self { page, header: None }
    }

    /// The `Authorization` of a request.
    pub(super) fn header(&self, url: &Url) -> Option<HeaderValue> {
        self.header.clone().filter(|_| *self.page.origin == url.origin().ascii_serialization())
    }
}

fn header(token: &str) -> Option<HeaderValue> {
    let is_short = (1..=limits::BASIC_BYTES_MAX).contains(&token.len());
    let mut header = HeaderValue::from_str(&format!("Basic {token}")).ok().filter(|_| is_short)?;
    header.set_sensitive(true);
    Some(header)
}

impl Jar {
    /// From now on the credentials (base64 of `user:password`) go with each request to the origin of `page`, which asked
    /// for them. False if no header can hold them.
    pub fn set_basic(&self, page: &Url, token: &str) -> bool {
        let path = &page[url::Position::BeforePath..url::Position::AfterQuery];
        let page = BasicPage { origin: page.origin().ascii_serialization().into(), path: path.into() };
        let Some(header) = header(token).filter(|_| page.is_valid()) else { return false };
        *self.basic() = Some(Basic { page, header: Some(header) });
        self.changes.fetch_add(1, Ordering::Relaxed);
        true
    }

    /// Sets the credentials again after the session was read from its file.
    pub fn arm_basic(&self, token: &str) {
        if let Some(basic) = &mut *self.basic() {
            basic.header = header(token);
        }
    }

    /// The page that asked for the credentials, if one has.
    #[must_use]
    pub fn basic_page(&self) -> Option<BasicPage> {
        self.basic().as_ref().map(|basic| basic.page.clone())
    }

    pub(super) fn basic(&self) -> MutexGuard<'_, Option<Basic>> {
        // They are set or not.
        self.basic.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOKEN: &str = "YW5uYTpzM2NyZXQ=";

    fn url(text: &str) -> Url {
        Url::parse(text).unwrap()
    }

    #[test]
    fn credentials_go_to_the_origin_that_asked_and_nowhere_else() {
        let jar = Jar::default();
        assert!(jar.set_basic(&url("https://s.example/members/?a=1#top"), TOKEN) && !jar.is_empty());
        let sent = jar.authorization(&url("https://s.example/dl/1")).unwrap();
        assert!(sent.is_sensitive() && sent.to_str().unwrap() == format!("Basic {TOKEN}"));
        for other in ["http://s.example/", "https://www.s.example/", "https://s.example:8443/", "https://evil.example/"]
        {
            assert!(jar.authorization(&url(other)).is_none(), "{other}");
        }
        jar.clear();
        assert!(jar.is_empty() && jar.authorization(&url("https://s.example/dl/1")).is_none());
    }

    #[test]
    fn the_file_of_a_session_has_the_page_and_not_the_credentials() {
        let jar = Jar::default();
        assert!(jar.set_basic(&url("https://s.example/members/?a=1"), TOKEN));
        let written = jar.to_bytes();
        assert!(!String::from_utf8_lossy(&written).contains(TOKEN.trim_end_matches('=')));
        let again = Jar::default();
        assert_eq!(again.take_up(&written).unwrap(), 1);
        assert!(!again.is_empty() && again.authorization(&url("https://s.example/")).is_none());
        assert_eq!(again.basic_page().map(|page| page.path), Some("/members/?a=1".into()));
        again.arm_basic(TOKEN);
        assert!(again.authorization(&url("https://s.example/")).is_some());
        assert_eq!(again.to_bytes(), written);
        // Without a page that asked, there is nothing to send them to.
        let other = Jar::default();
        other.arm_basic(TOKEN);
        assert!(other.is_empty() && other.authorization(&url("https://s.example/")).is_none());
    }

    #[test]
    fn what_no_header_can_hold_and_what_is_no_page_is_not_taken() {
        let (jar, page) = (Jar::default(), url("https://s.example/"));
        let long = "a".repeat(limits::BASIC_BYTES_MAX + 1);
        for token in ["", "a\r\nX-Evil: 1", &long] {
            assert!(!jar.set_basic(&page, token), "{token:?}");
        }
        for page in
            [r#"{ "origin": "https://s.example", "path": ".evil.example/" }"#, r#"{ "origin": "x", "path": "/" }"#]
        {
            let forged = format!(r#"{{ "cookies": [], "bearer": null, "basic": {page} }}"#);
            assert_eq!(jar.take_up(forged.as_bytes()).unwrap(), 0, "{page}");
        }
        assert!(jar.is_empty());
    }
}
