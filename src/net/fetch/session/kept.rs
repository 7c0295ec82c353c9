//! Cookies that outlive the process: a site's own list as JSON, and the `cookies.txt` of browser add-ons, curl and
//! wget (Netscape's format).
//!
//! Both contain credentials: a file with them must be readable by its owner alone.

use cookie_store::{CookieDomain, CookieExpiration, CookiePath};
use serde::{Deserialize, Serialize};
use time::format_description::well_known::Rfc2822;
use time::{Date, OffsetDateTime};
use url::{Host, Url};

use super::{Basic, BasicPage, Bearer, Cookie, Jar, is_public_suffix};
use crate::limits;

/// A serialised cookie.
#[derive(Serialize, Deserialize)]
struct StoredCookie {
    name: Box<str>,
    value: Box<str>,
    domain: Box<str>,
    host_only: bool,
    path: Box<str>,
    /// Seconds since 1970; None for a session cookie, which we keep beyond the process.
    expires: Option<i64>,
    secure: bool,
    http_only: bool,
}

/// Serialised if there is more than cookies, or no cookie; cookies alone are a list.
#[derive(Serialize, Deserialize)]
struct Session {
    cookies: Vec<StoredCookie>,
    bearer: Option<Bearer>,
    /// The page that asked for HTTP Basic, without the credentials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    basic: Option<BasicPage>,
}

impl Session {
    /// Parses either form. Errors name only the position: the parser's message would show the content.
    fn of(bytes: &[u8]) -> Result<Self, KeptError> {
        let place = |error: serde_json::Error| {
            let what =
                if error.is_data() { "this is not a cookie or token written by gleaner" } else { "this is not JSON" };
            KeptError::Broken(format!("line {}, column {}: {what}", error.line(), error.column()))
        };
        match bytes.trim_ascii_start().first() {
            Some(b'[') => {
                let cookies: Vec<StoredCookie> = serde_json::from_slice(bytes).map_err(place)?;
                // Our own format is a table if there is no cookie.
                if cookies.is_empty() {
                    Err(KeptError::Emptied)
                } else {
                    Ok(Self { cookies, bearer: None, basic: None })
                }
            }
            Some(b'{') => serde_json::from_slice(bytes).map_err(place),
            Some(_) => Err(KeptError::Broken("line 1, column 1: this is not JSON".to_owned())),
            None => Err(KeptError::Emptied),
        }
    }
}

/// Why a list of cookies is useless.
#[derive(Debug, thiserror::Error)]
pub enum KeptError {
    #[error("not a list of cookies: {0}")]
    Broken(String),
    #[error("it is empty, but a session never is")]
    Emptied,
    #[error("longer than {} bytes", limits::COOKIE_FILE_BYTES_MAX)]
    TooLong,
    #[error(
        "line 1: the file has no cookie in it\nhint: log in with the browser, and export the cookies while the site is open"
    )]
    Empty,
    #[error(
        "line 1: this is a browser's database, not a cookies.txt\nhint: export the site's cookies with an add-on that writes \
         cookies.txt"
    )]
    Database,
    #[error("line {0}: the file is not text\nhint: export it as a cookies.txt, and save it as UTF-8")]
    Binary(usize),
    #[error("line 1: this is JSON\nhint: have the add-on export in the format of Netscape, cookies.txt")]
    Json,
}

/// The result of an import.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Imported {
    pub taken: usize,
    /// Cookies of other sites: skipped without further checks.
    pub foreign: usize,
    /// Expired cookies of the site.
    pub expired: usize,
    /// Invalid lines that belong to the site or to no known host: the first `limits::COOKIE_FAULTS_TOLD_MAX`.
    pub faults: Vec<LineFault>,
    /// Total number of such lines.
    pub faulty: usize,
}

/// What is wrong with a line of a cookies.txt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct LineFault {
    /// From 1.
    pub line: usize,
    pub problem: Problem,
}

/// Why a line contains no cookie, and the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    #[error("this cookie expired on {0}; log in with the browser again, then export again")]
    Expired(Date),
    #[error("its fields are separated by spaces, not by tabs; export the file again: copied text loses its tabs")]
    Blanks,
    #[error("it has {0} of the seven fields of a cookies.txt; export the file again")]
    Fields(usize),
    #[error("it is not UTF-8; save the file as UTF-8")]
    NoText,
    #[error("its host, path or expiry is invalid; export the file again")]
    Unreadable,
    #[error("no browser would store this cookie: it is too large, or for more than its site; export the file again")]
    Refused,
}

impl Jar {
    /// The cookies, the oldest first, and the token as bytes.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let cookies: Vec<StoredCookie> = self
            .lock()
            .list
            .iter()
            .filter(|cookie| !cookie.expires.is_expired())
            .filter_map(StoredCookie::of)
            .collect();
        let (bearer, basic) = (self.bearer().clone(), self.basic_page());
        // Text and numbers only: serde_json cannot fail.
        let written = match bearer.is_none() && basic.is_none() && !cookies.is_empty() {
            true => serde_json::to_vec_pretty(&cookies),
            false => serde_json::to_vec_pretty(&Session { cookies, bearer, basic }),
        };
        written.unwrap_or_default()
    }

    /// Adds the cookies and the token of [`Self::to_bytes`], and the page that asked for HTTP Basic; returns how many
    /// there are of all.
    ///
    /// # Errors
    /// The bytes are not such a list. Cookies that have expired, or that no host may set, are skipped.
    pub fn take_up(&self, bytes: &[u8]) -> Result<usize, KeptError> {
        if bytes.len() > limits::COOKIE_FILE_BYTES_MAX {
            return Err(KeptError::TooLong);
        }
        let Session { cookies: kept, bearer, basic } = Session::of(bytes)?;
        let (bearer, basic) = (bearer.filter(Bearer::is_valid), basic.filter(BasicPage::is_valid));
        let tokens = usize::from(bearer.is_some()) + usize::from(basic.is_some());
        if basic.is_some() {
            *self.basic() = basic.map(Basic::unarmed);
        }
        if bearer.is_some() {
            *self.bearer() = bearer;
        }
        let mut cookies = self.lock();
        let taken: usize =
            kept.into_iter().filter_map(StoredCookie::cookie).map(|cookie| usize::from(cookies.put(cookie))).sum();
        Ok(taken + tokens)
    }

    /// Adds the cookies of a `cookies.txt` that belong to a site, by `owns_host`.
    ///
    /// # Errors
    /// The text is too long, or is not such a file. Errors of single lines are part of the result.
    pub fn import(&self, text: &str, owns_host: impl Fn(&str) -> bool) -> Result<Imported, KeptError> {
        if text.len() > limits::COOKIE_FILE_BYTES_MAX {
            return Err(KeptError::TooLong);
        }
        if text.starts_with("SQLite format 3\0") {
            return Err(KeptError::Database);
        }
        if let Some(at) = text.find('\0') {
            return Err(KeptError::Binary(text[..at].matches('\n').count() + 1));
        }
        if text.trim_start().starts_with(['{', '[']) {
            return Err(KeptError::Json);
        }
        let mut imported = Imported::default();
        let mut lines = 0_usize;
        for (number, line) in text.trim_start_matches('\u{feff}').lines().enumerate() {
            let line = line.trim_end_matches('\r');
            let (line, http_only) = line.strip_prefix("#HttpOnly_").map_or((line, false), |rest| (rest, true));
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            lines += 1;
            let Some((host, header, url)) = of_line(line, http_only) else {
                imported.note(number + 1, problem_of(line));
                continue;
            };
            if !owns_host(host) {
                imported.foreign += 1;
                continue;
            }
            match Cookie::parse(&header, &url) {
                Some(Cookie { expires: expires @ CookieExpiration::AtUtc(at), .. }) if expires.is_expired() => {
                    imported.expired += 1;
                    imported.note(number + 1, Problem::Expired(at.date()));
                }
                Some(cookie) => {
                    self.lock().put(cookie);
                    imported.taken += 1;
                }
                None => imported.note(number + 1, Problem::Refused),
            }
        }
        if lines == 0 {
            return Err(KeptError::Empty);
        }
        self.changes.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        Ok(imported)
    }
}

impl Imported {
    fn note(&mut self, line: usize, problem: Problem) {
        self.faulty += 1;
        if self.faults.len() < limits::COOKIE_FAULTS_TOLD_MAX {
            self.faults.push(LineFault { line, problem });
        }
    }
}

/// What is wrong with a line of a cookies.txt.
fn problem_of(line: &str) -> Problem {
    let fields = line.split('\t').count();
    // An empty value may be missing together with its tab.
    if fields >= 6 {
        return if line.contains(char::REPLACEMENT_CHARACTER) { Problem::NoText } else { Problem::Unreadable };
    }
    if line.split_whitespace().count() >= 6 { Problem::Blanks } else { Problem::Fields(fields) }
}

impl StoredCookie {
    fn of(cookie: &Cookie) -> Option<Self> {
        let (domain, host_only) = match &cookie.domain {
            CookieDomain::HostOnly(host) => (host, true),
            CookieDomain::Suffix(suffix) => (suffix, false),
            CookieDomain::NotPresent | CookieDomain::Empty => return None,
        };
        let expires = match cookie.expires {
            CookieExpiration::AtUtc(at) => Some(at.unix_timestamp()),
            CookieExpiration::SessionEnd => None,
        };
        Some(Self {
            name: cookie.name.clone(),
            value: cookie.value.clone(),
            domain: domain.as_str().into(),
            host_only,
            path: (*cookie.path).into(),
            expires,
            secure: cookie.secure,
            http_only: cookie.http_only,
        })
    }

    fn cookie(self) -> Option<Cookie> {
        let host = self.domain.trim_start_matches('.');
        let domain = match self.host_only {
            true => CookieDomain::HostOnly(host.to_owned()),
            false => CookieDomain::Suffix(host.to_owned()),
        };
        let is_too_long = self.name.len() + self.value.len() > limits::COOKIE_BYTES_MAX;
        if is_too_long || (!self.host_only && is_public_suffix(&domain)) {
            return None;
        }
        let expires = match self.expires {
            Some(at) => CookieExpiration::AtUtc(OffsetDateTime::from_unix_timestamp(at).ok()?),
            None => CookieExpiration::SessionEnd,
        };
        let is_name = matches!(Host::parse(host), Ok(Host::Domain(_)));
        let registrable = if is_name { psl::domain_str(host).unwrap_or(host) } else { host };
        Some(Cookie {
            registrable: registrable.into(),
            name: self.name,
            value: self.value,
            domain,
            path: CookiePath::parse(&self.path)?,
            expires,
            secure: self.secure,
            http_only: self.http_only,
            used: 0,
        })
    }
}

/// Converts a line of a cookies.txt (domain, subdomains too, path, secure, expiry, name, value) to the header that
/// would set it, with its host and a URL to set it from.
fn of_line(line: &str, http_only: bool) -> Option<(&str, String, Url)> {
    let mut fields = line.splitn(7, '\t');
    let mut field = || fields.next();
    let (domain, with_subdomains, path) = (field()?, field()?, field()?);
    let (secure, expiry, name) = (field()?.eq_ignore_ascii_case("true"), field()?, field()?);
    // curl omits an empty value together with its tab.
    let value = fields.next().unwrap_or_default();
    // A semicolon would start an attribute: no browser stores one, and no host has one, though URLs may.
    if [domain, path, name, value].iter().any(|field| field.contains(';')) {
        return None;
    }
    let host = domain.strip_prefix('.').unwrap_or(domain);
    let url = Url::parse(&format!("{}://{host}/", if secure { "https" } else { "http" })).ok()?;
    // No host has an empty label, though URLs may.
    let is_host = !host.starts_with('.') && !host.contains("..");
    if !is_host || url.host_str() != Some(host.to_ascii_lowercase().as_str()) || !path.starts_with('/') {
        return None;
    }
    let mut header = format!("{name}={value}; Path={path}");
    if with_subdomains.eq_ignore_ascii_case("true") && matches!(url.host(), Some(Host::Domain(_))) {
        header.push_str(&format!("; Domain={host}"));
    }
    // Some programs write fractions; zero means a session cookie.
    let expiry: i64 = expiry.split('.').next()?.parse().ok()?;
    if expiry > 0 {
        // Browsers cap at 400 days; other programs write the end of time.
        let at = OffsetDateTime::from_unix_timestamp(expiry.min(253_402_300_799)).ok()?;
        header.push_str(&format!("; Expires={}", at.format(&Rfc2822).ok()?.replace("+0000", "GMT")));
    }
    for (is_set, attribute) in [(secure, "; Secure"), (http_only, "; HttpOnly")] {
        if is_set {
            header.push_str(attribute);
        }
    }
    Some((host, header, url))
}

#[cfg(test)]
mod tests;
