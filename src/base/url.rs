//! URL identity: two links that name the same resource become the same text.
//!
//! Every URL that the crawler keeps, compares or fetches is a [`CrawlUrl`]. [`CrawlUrl::join`] makes one from each link, after the page's
//! parser and before the rules. The `url` crate implements the URL standard (WHATWG). On top of it comes the identity of
//! ALGORITHMS §3 (Book 3.2.3): no fragment, percent-encoding unified (RFC 3986 §6.2.2), no empty query, no session or
//! tracking parameters, and the parameter rules of the site's rule file.
//!
//! Parameters are handled as raw `name=value` text. Decoding and re-encoding them would destroy the percent-bytes
//! of GBK, Big5 and Shift_JIS queries.
//!
//! This room does no I/O and never follows, fetches or judges a URL.

mod canonical;
mod form;
mod keys;
mod numbers;
mod plain;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use encoding_rs::{EncoderResult, Encoding};
use url::{Position, Url};

pub use canonical::{Canonical, Dropped, NamePattern};
pub use form::with_form_values;
pub use keys::{KEYS_NOTE, MASK, MembersKeys, tracker_without_keys, without_keys, without_keys_in};

use crate::limits::URL_BYTES_MAX;

/// Why a text is not a URL that can be crawled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UrlFault {
    /// Not a URL by the URL standard.
    #[error("not a URL: {0}")]
    Syntax(String),
    /// Neither http nor https.
    #[error("the scheme is `{0}`, only http and https are crawled")]
    Scheme(String),
    /// It holds `user:password@`. Secrets never travel in URLs.
    #[error("the URL contains a user name or password")]
    Credentials,
    /// A control character that the URL standard does not strip.
    #[error("the URL contains a control character")]
    Control,
    /// Longer than [`URL_BYTES_MAX`].
    #[error("longer than {URL_BYTES_MAX} bytes")]
    TooLong,
    /// A host name that ends with empty labels.
    #[error("the host name ends in empty labels")]
    Host,
}

/// A normalised absolute http(s) URL. Cloning copies a pointer.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CrawlUrl {
    text: Arc<str>,
    /// Offset of the path; the origin comes before it.
    path_at: u16,
}

impl CrawlUrl {
    /// Normalises an absolute URL as written by a person or a sitemap.
    pub fn parse(text: &str, canonical: &Canonical) -> Result<Self, UrlFault> {
        plain::parse(text, canonical).unwrap_or_else(|| parse_by_standard(text, canonical))
    }

    /// Resolves a link of a page. `base` is the page's URL or its `<base href>`. `encoding` is the page's charset;
    /// the query of a link is written in it (WHATWG URL, percent-encode after encoding; None is UTF-8).
    ///
    /// Most links contain nothing that the URL standard would change; they skip its parser.
    pub fn join(
        base: &Url,
        href: &str,
        encoding: Option<&'static Encoding>,
        canonical: &Canonical,
    ) -> Result<Self, UrlFault> {
        plain::join(base, href, canonical).unwrap_or_else(|| join_by_standard(base, href, encoding, canonical))
    }

    /// Rebuilds a URL from the database. Both parts are already normalised: they come from [`Self::origin`] and
    /// [`Self::path`].
    #[must_use]
    pub fn from_parts(origin: &str, path: &str) -> Self {
        let mut text = String::with_capacity(origin.len() + path.len());
        text.push_str(origin);
        text.push_str(path);
        Self { path_at: u16::try_from(origin.len()).unwrap_or(u16::MAX), text: text.into() }
    }

    /// A URL as written, including the parts that [`Self::parse`] would drop. Used for form actions, which may
    /// contain a token. None if it is not an http(s) URL, or too long.
    #[must_use]
    pub fn exact(url: &url::Url) -> Option<Self> {
        let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
        let path = &url[url::Position::BeforePath..url::Position::AfterQuery];
        let origin = url.origin().ascii_serialization();
        let fits = origin.len() + path.len() <= URL_BYTES_MAX;
        (is_web && fits).then(|| Self::from_parts(&origin, path))
    }

    /// The full URL.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// `scheme://host[:port]`, without the scheme's default port.
    #[must_use]
    pub fn origin(&self) -> &str {
        self.text.get(..usize::from(self.path_at)).unwrap_or_default()
    }

    /// Path and query: everything after the origin. Starts with `/`.
    #[must_use]
    pub fn path(&self) -> &str {
        self.text.get(usize::from(self.path_at)..).unwrap_or_default()
    }

    /// `http` or `https`.
    #[must_use]
    pub fn scheme(&self) -> &str {
        self.text.split_once(':').map_or("", |(scheme, _)| scheme)
    }

    /// `host[:port]`, without the scheme's default port.
    #[must_use]
    pub fn authority(&self) -> &str {
        let origin = self.origin();
        origin.strip_prefix("http://").or_else(|| origin.strip_prefix("https://")).unwrap_or_default()
    }

    /// The host without its port, in lower case and punycode; an IPv6 address keeps its brackets.
    #[must_use]
    pub fn host(&self) -> &str {
        split_port(self.authority()).0
    }

    /// The parsed URL, for the HTTP client and as the base of a page's links.
    pub fn to_url(&self) -> Result<Url, UrlFault> {
        Url::parse(&self.text).map_err(|error| UrlFault::Syntax(error.to_string()))
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.text, f)
    }
}

/// Rejects what no later step should have to handle. The URL standard strips tabs and line ends; any other control
/// character is a mistake or an attack.
fn check_text(text: &str) -> Result<(), UrlFault> {
    // Normalisation shortens a text at most threefold (`%41` → `A`). This rejects megabytes of `data:`.
    if text.len() > 3 * URL_BYTES_MAX {
        return Err(UrlFault::TooLong);
    }
    let is_refused = |byte: u8| (byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')) || byte == 0x7F;
    if text.bytes().any(is_refused) { Err(UrlFault::Control) } else { Ok(()) }
}

/// Resolves a reference that is no link to crawl, such as a `base`, by the URL standard.
#[must_use]
pub fn resolve(base: &Url, reference: &str) -> Option<Url> {
    base.join(&two_slashes(base, reference)).ok()
}

fn parse_by_standard(text: &str, canonical: &Canonical) -> Result<CrawlUrl, UrlFault> {
    check_text(text)?;
    let url = Url::parse(text).map_err(|error| UrlFault::Syntax(error.to_string()))?;
    from_url(&url, canonical)
}

fn join_by_standard(
    base: &Url,
    href: &str,
    encoding: Option<&'static Encoding>,
    canonical: &Canonical,
) -> Result<CrawlUrl, UrlFault> {
    check_text(href)?;
    let href = two_slashes(base, href);
    let options = Url::options().base_url(Some(base));
    let joined = match encoding {
        Some(encoding) => {
            options.encoding_override(Some(&|text| Cow::Owned(encode_query(text, encoding)))).parse(&href)
        }
        None => options.parse(&href),
    };
    from_url(&joined.map_err(|error| UrlFault::Syntax(error.to_string()))?, canonical)
}

/// `///host/path` → `//host/path`: the special authority ignore slashes state of the URL standard, which the `url`
/// crate enters after a scheme only.
fn two_slashes<'a>(base: &Url, href: &'a str) -> Cow<'a, str> {
    let is_slash = |character: char| matches!(character, '/' | '\\');
    let is_left_out = |character: char| matches!(character, '\t' | '\n' | '\r');
    let reference = href.trim_start_matches(|character| character <= ' ');
    let rest = reference.trim_start_matches(|character| is_slash(character) || is_left_out(character));
    let slashes = reference[..reference.len() - rest.len()].chars().filter(|&character| is_slash(character)).count();
    if slashes > 2 && matches!(base.scheme(), "http" | "https") {
        Cow::Owned(format!("//{rest}"))
    } else {
        Cow::Borrowed(href)
    }
}

/// WHATWG URL, percent-encode after encoding, step 5: a character that the charset lacks becomes `%26%23…%3B`.
fn encode_query(text: &str, encoding: &'static Encoding) -> Vec<u8> {
    let mut encoder = encoding.new_encoder();
    let mut bytes = Vec::with_capacity(text.len() + 16);
    let mut rest = text;
    loop {
        // Four bytes per byte cover the worst case of every charset of the standard (escapes of ISO-2022-JP). If they
        // did not, the loop would continue with a larger buffer.
        bytes.reserve(4 * rest.len() + 16);
        let (result, read) = encoder.encode_from_utf8_to_vec_without_replacement(rest, &mut bytes, true);
        rest = &rest[read..];
        match result {
            EncoderResult::InputEmpty => return bytes,
            EncoderResult::OutputFull => {}
            EncoderResult::Unmappable(character) => {
                bytes.extend_from_slice(format!("%26%23{}%3B", u32::from(character)).as_bytes());
            }
        }
    }
}

fn from_url(url: &Url, canonical: &Canonical) -> Result<CrawlUrl, UrlFault> {
    if !matches!(url.scheme(), "http" | "https") {
        return Err(UrlFault::Scheme(url.scheme().chars().take(32).collect()));
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err(UrlFault::Credentials);
    }
    finish(&url[..Position::BeforePath], url.path(), url.query(), canonical)
}

/// The crawler's own identity rules, on top of the URL standard.
fn finish(origin: &str, path: &str, query: Option<&str>, canonical: &Canonical) -> Result<CrawlUrl, UrlFault> {
    let origin = without_root_dot(origin)?;
    let path = unify_percent(path);
    let path = without_path_sessions(&path, canonical);
    let query = unify_percent(query.unwrap_or_default());
    let query = form_values(&query, canonical);
    let query = filter_query(&query, canonical);
    let path = without_session_folders(&path, canonical);
    let path = merged_slashes(&path, canonical);
    let path = without_default_document(&path, query.is_empty(), canonical);
    let mut text = String::with_capacity(origin.len() + path.len() + 1 + query.len());
    text.push_str(&origin);
    text.push_str(path);
    if !query.is_empty() {
        text.push('?');
        text.push_str(&query);
    }
    if text.len() > URL_BYTES_MAX {
        return Err(UrlFault::TooLong);
    }
    let path_at = u16::try_from(origin.len()).map_err(|_| UrlFault::TooLong)?;
    Ok(CrawlUrl { text: text.into(), path_at })
}

/// `example.org.` names the same host as `example.org` (RFC 3986 §3.2.2).
fn without_root_dot(origin: &str) -> Result<Cow<'_, str>, UrlFault> {
    if !origin.ends_with('.') && !origin.contains(".:") {
        return Ok(Cow::Borrowed(origin));
    }
    let (host, port) = split_port(origin);
    let host = host.strip_suffix('.').unwrap_or(host);
    if host.ends_with(['.', '/']) {
        return Err(UrlFault::Host);
    }
    Ok(Cow::Owned(match port {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }))
}

/// Splits the port off an authority or an origin.
fn split_port(text: &str) -> (&str, Option<&str>) {
    match text.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()) => (host, Some(port)),
        _ => (text, None),
    }
}

/// RFC 3986 §6.2.2.1–2: hex digits in upper case, unreserved characters decoded, all else untouched.
fn unify_percent(text: &str) -> Cow<'_, str> {
    let Some(first) = memchr::memchr(b'%', text.as_bytes()) else {
        return Cow::Borrowed(text);
    };
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..first]);
    let mut at = first;
    while at < bytes.len() {
        let escaped = (bytes[at] == b'%').then(|| hex_pair(bytes, at + 1)).flatten();
        match escaped {
            Some(byte) if is_unreserved(byte) && !completes_lone_percent(&out, byte) => {
                out.push(char::from(byte));
                at += 3;
            }
            Some(byte) => {
                out.push('%');
                out.push(char::from(HEX[usize::from(byte >> 4)]));
                out.push(char::from(HEX[usize::from(byte & 15)]));
                at += 3;
            }
            None => {
                // Text between escapes is copied in one piece. A lone `%` is copied alone.
                let end = memchr::memchr(b'%', &bytes[at + 1..]).map_or(bytes.len(), |next| at + 1 + next);
                out.push_str(&text[at..end]);
                at = end;
            }
        }
    }
    Cow::Owned(out)
}

const HEX: [u8; 16] = *b"0123456789ABCDEF";

fn hex_pair(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16);
    let (high, low) = (digit(bytes.get(at)?)?, digit(bytes.get(at + 1)?)?);
    u8::try_from(high << 4 | low).ok()
}

fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// True if a decoded hex digit would turn the lone `%` (or `%4`) before it into a new escape.
fn completes_lone_percent(out: &str, byte: u8) -> bool {
    let bytes = out.as_bytes();
    let percent_at = |back: usize| bytes.len() >= back && bytes[bytes.len() - back] == b'%';
    let hex_before = bytes.last().is_some_and(u8::is_ascii_hexdigit);
    byte.is_ascii_hexdigit() && (percent_at(1) || (hex_before && percent_at(2)))
}

/// Drops session IDs from the segments of a path: `/view;jsessionid=1A2B` → `/view`.
fn without_path_sessions<'a>(path: &'a str, canonical: &Canonical) -> Cow<'a, str> {
    let has_session = |segment: &str| segment.split(';').skip(1).any(|part| canonical.is_path_session(part));
    if memchr::memchr(b';', path.as_bytes()).is_none() || !path.split('/').any(has_session) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for (index, segment) in path.split('/').enumerate() {
        if index > 0 {
            out.push('/');
        }
        let mut parts = segment.split(';');
        let name = parts.next().unwrap_or_default();
        out.push_str(name);
        // `/..;jsessionid=1` would become a dot segment, which is another URL.
        let is_dots = matches!(name, "." | "..");
        for part in parts.filter(|part| is_dots || !canonical.is_path_session(part)) {
            out.push(';');
            out.push_str(part);
        }
    }
    Cow::Owned(out)
}

/// Drops folders that are session IDs if the rules say so: `/(S(lit3py55t21z5v55vlm25s55))/a` → `/a`.
fn without_session_folders<'a>(path: &'a str, canonical: &Canonical) -> Cow<'a, str> {
    if !canonical.path_sessions || !path.split('/').any(is_session_folder) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for segment in path.split('/').skip(1).filter(|segment| !is_session_folder(segment)) {
        out.push('/');
        out.push_str(segment);
    }
    if out.is_empty() {
        out.push('/');
    }
    Cow::Owned(out)
}

/// ASP.NET session, anonymous and forms tickets, alone or combined: `(A(…)S(…)F(…))`, or in version 1, 24 letters and
/// digits in one pair of parentheses. Also 32 hex digits after `sid` or `PHPSESSID`.
fn is_session_folder(segment: &str) -> bool {
    if let Some(inner) = segment.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
        let is_plain =
            |text: &str| text.len() == 24 && text.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
        if is_plain(inner) {
            return true;
        }
        // Tickets are URL-safe base64. `(S(x))` has a ticket of at least one character.
        let mut rest = inner;
        while let Some((ticket, behind)) = rest.split_once(')') {
            let (kind, value) = ticket.split_once('(').unwrap_or(("", ""));
            let is_ticket = matches!(kind, "A" | "S" | "F" | "X")
                && !value.is_empty()
                && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            if !is_ticket {
                return false;
            }
            rest = behind;
        }
        return !inner.is_empty() && rest.is_empty();
    }
    let (name, value) = segment.split_once(['-', '=', '_']).unwrap_or(("", ""));
    ["sid", "session", "phpsessid", "sessionid"].iter().any(|known| name.eq_ignore_ascii_case(known))
        && value.len() == 32
        && value.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn merged_slashes<'a>(path: &'a str, canonical: &Canonical) -> Cow<'a, str> {
    if !canonical.merge_slashes || !path.contains("//") {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len());
    for character in path.chars() {
        if character != '/' || !out.ends_with('/') {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

/// The folder of a default document without a query. With a query, the file is a program with its own URL.
fn without_default_document<'a>(path: &'a str, has_no_query: bool, canonical: &Canonical) -> &'a str {
    if !has_no_query || canonical.default_documents.is_empty() {
        return path;
    }
    let folder_end = path.rfind('/').map_or(0, |slash| slash + 1);
    let (folder, file) = path.split_at(folder_end);
    if canonical.default_documents.iter().any(|document| **document == *file) { folder } else { path }
}

fn form_values<'a>(query: &'a str, canonical: &Canonical) -> Cow<'a, str> {
    if canonical.form_values { with_form_values(query) } else { Cow::Borrowed(query) }
}

/// Drops and sorts the parameters of a query, as raw text.
fn filter_query<'a>(query: &'a str, canonical: &Canonical) -> Cow<'a, str> {
    let is_dropped = |parameter: &str| canonical.dropped(parameter).is_some();
    if query.is_empty() || (!canonical.sort && !query.split('&').any(is_dropped)) {
        return Cow::Borrowed(query);
    }
    let mut kept: Vec<&str> = query.split('&').filter(|parameter| !is_dropped(parameter)).collect();
    if canonical.sort {
        kept.sort_by_key(|parameter| parameter.split_once('=').map_or(*parameter, |(name, _)| name));
    }
    Cow::Owned(kept.join("&"))
}

/// One normalisation step that changed something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// A description of the step.
    pub what: String,
    /// The URL after the step.
    pub url: String,
}

/// Normalises an absolute URL as [`CrawlUrl::parse`] does and returns each step that changed something.
pub fn explain(text: &str, canonical: &Canonical) -> Result<(CrawlUrl, Vec<Step>), UrlFault> {
    let done = CrawlUrl::parse(text, canonical)?;
    let mut steps = Vec::new();
    let mut current = text.to_owned();
    let mut step = |what: String, url: String| {
        if url != current {
            steps.push(Step { what, url: url.clone() });
            current = url;
        }
    };
    let mut url = Url::parse(text).map_err(|error| UrlFault::Syntax(error.to_string()))?;
    step("resolved by the URL standard (case, default port, dot segments, escapes)".to_owned(), url.to_string());
    url.set_fragment(None);
    step("fragment dropped".to_owned(), url.to_string());

    let origin = without_root_dot(&url[..Position::BeforePath])?;
    let show = |path: &str, query: &str| {
        let sign = if query.is_empty() { "" } else { "?" };
        format!("{origin}{path}{sign}{query}")
    };
    step("root dot of the host or empty query dropped".to_owned(), show(url.path(), url.query().unwrap_or_default()));
    let path = unify_percent(url.path());
    let query = unify_percent(url.query().unwrap_or_default());
    step("percent-encoding unified (RFC 3986 §6.2.2)".to_owned(), show(&path, &query));
    let query = form_values(&query, canonical);
    step("values written as a form sends them".to_owned(), show(&path, &query));
    let path = without_path_sessions(&path, canonical);
    step("session id dropped from the path".to_owned(), show(&path, &query));

    let mut kept: Vec<&str> = query.split('&').collect();
    while let Some((at, why)) = kept.iter().enumerate().find_map(|(at, text)| Some((at, canonical.dropped(text)?))) {
        let parameter = kept.remove(at);
        step(format!("parameter `{parameter}` dropped: {}", why.reason()), show(&path, &kept.join("&")));
    }
    let query = filter_query(&query, canonical);
    step("parameters sorted by name".to_owned(), show(&path, &query));
    let path = without_session_folders(&path, canonical);
    step("session id dropped that stood as a folder".to_owned(), show(&path, &query));
    let path = merged_slashes(&path, canonical);
    step("slashes merged".to_owned(), show(&path, &query));
    step("default document is its folder".to_owned(), done.as_str().to_owned());
    Ok((done, steps))
}

#[cfg(test)]
mod tests;
