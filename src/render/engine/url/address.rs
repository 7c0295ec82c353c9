//! The parsed form of `URL` objects. The `url` crate parses like browsers, except for `file:` URLs and some characters that the standard
//! now encodes.

use std::borrow::Cow;

use url::{Url, form_urlencoded, quirks};

use super::file::FileUrl;

/// A parsed URL.
#[derive(Clone, Debug)]
pub enum Address {
    Web(Url),
    File(FileUrl),
}

impl Address {
    /// URL Standard §4.4 "basic URL parser"; `None` for an invalid URL.
    pub fn parse(text: &str, base: Option<&Self>) -> Option<Self> {
        let text = stripped(text);
        let (scheme, rest) = scheme_of(&text);
        match (scheme.as_deref(), base) {
            (Some("file"), base) => {
                let base = base.and_then(Self::as_file);
                FileUrl::parse(rest, base).map(Self::File)
            }
            (None, Some(Self::File(base))) => FileUrl::parse(&text, Some(base)).map(Self::File),
            (scheme, Some(Self::Web(base))) => base.join(&written(&text, scheme, Some(base))).ok().map(Self::Web),
            (scheme, _) => Url::parse(&written(&text, scheme, None)).ok().map(Self::Web),
        }
    }

    fn as_file(&self) -> Option<&FileUrl> {
        match self {
            Self::File(url) => Some(url),
            Self::Web(_) => None,
        }
    }

    pub fn href(&self) -> String {
        match self {
            Self::Web(url) => url.as_str().to_owned(),
            Self::File(url) => url.href(),
        }
    }

    /// URL Standard §4.7: a blob's origin is that of the web page that created it, and never that of another kind of URL.
    pub fn origin(&self) -> String {
        let of_page = |path: &str| path.starts_with("http:") || path.starts_with("https:");
        match self {
            Self::Web(url) if url.scheme() != "blob" || of_page(url.path()) => quirks::origin(url),
            _ => "null".to_owned(),
        }
    }

    pub fn query_pairs(&self) -> form_urlencoded::Parse<'_> {
        match self {
            Self::Web(url) => url.query_pairs(),
            Self::File(url) => url.query_pairs(),
        }
    }

    /// Sets a query that is already encoded.
    pub fn set_query(&mut self, query: Option<&str>) {
        match self {
            Self::Web(url) => url.set_query(query),
            Self::File(url) => url.set_query(query),
        }
    }
}

/// A component of a URL: its getter and setter. A setter ignores invalid input; a file URL has no user, no password and no port.
pub struct Part {
    pub get: fn(&Address) -> String,
    pub set: fn(&mut Address, &str),
}

/// The result of a setter is ignored.
fn ignore<T>(_: T) {}

/// A component of both kinds of URLs.
macro_rules! part {
    ($name:ident, $get:path, $set:path, $file_get:expr, $file_set:expr) => {
        pub const $name: Part = Part {
            get: |address| match address {
                Address::Web(url) => $get(url).to_string(),
                Address::File(url) => {
                    let get: fn(&FileUrl) -> String = $file_get;
                    get(url)
                }
            },
            set: |address, text| match address {
                Address::Web(url) => ignore($set(url, text)),
                Address::File(url) => {
                    let set: fn(&mut FileUrl, &str) = $file_set;
                    set(url, &stripped_inside(text));
                }
            },
        };
    };
}

part!(USERNAME, quirks::username, quirks::set_username, |_| String::new(), |_, _| {});
part!(PASSWORD, quirks::password, quirks::set_password, |_| String::new(), |_, _| {});
part!(HOST, quirks::host, quirks::set_host, |url| url.host().to_owned(), FileUrl::set_host);
part!(HOSTNAME, quirks::hostname, quirks::set_hostname, |url| url.host().to_owned(), FileUrl::set_host);
part!(PORT, quirks::port, quirks::set_port, |_| String::new(), |_, _| {});
part!(PATHNAME, quirks::pathname, set_pathname, FileUrl::pathname, FileUrl::set_pathname);
part!(SEARCH, quirks::search, quirks::set_search, FileUrl::search, FileUrl::set_search);
part!(HASH, quirks::hash, quirks::set_hash, FileUrl::hash, FileUrl::set_hash);

pub const PROTOCOL: Part = Part {
    get: |address| match address {
        Address::Web(url) => quirks::protocol(url).to_owned(),
        Address::File(_) => "file:".to_owned(),
    },
    set: |address, text| match address {
        Address::Web(url) => {
            // A change of the scheme to `file:` goes through `FileUrl`, not through the crate's parser.
            let mut changed = url.clone();
            if quirks::set_protocol(&mut changed, text).is_ok() && changed.scheme() != "file" {
                *url = changed;
            } else if changed.scheme() == "file"
                && let Some(file) = Address::parse(changed.as_str(), None)
            {
                *address = file;
            }
        }
        // Another special scheme, if there is a host (§4.4 "scheme state" step 2.1).
        Address::File(url) => {
            let scheme = text.split(':').next().unwrap_or_default().to_ascii_lowercase();
            let is_special = matches!(scheme.as_str(), "http" | "https" | "ws" | "wss" | "ftp");
            if is_special
                && !url.host().is_empty()
                && let Ok(web) = Url::parse(&format!("{scheme}{}", &url.href()["file".len()..]))
            {
                *address = Address::Web(web);
            }
        }
    },
};

fn set_pathname(url: &mut Url, text: &str) {
    quirks::set_pathname(url, &text.replace('^', "%5E"));
}

/// Without surrounding whitespace and control characters, and without tabs and newlines.
fn stripped(text: &str) -> Cow<'_, str> {
    stripped_inside(text.trim_matches(|c| c <= ' '))
}

fn stripped_inside(text: &str) -> Cow<'_, str> {
    if text.contains(['\t', '\n', '\r']) { text.replace(['\t', '\n', '\r'], "").into() } else { text.into() }
}

/// The scheme in lower case, and what follows its colon.
fn scheme_of(text: &str) -> (Option<String>, &str) {
    let Some((scheme, rest)) = text.split_once(':') else { return (None, text) };
    let is_sign = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.');
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(is_sign);
    if is_scheme { (Some(scheme.to_ascii_lowercase()), rest) } else { (None, text) }
}

/// The text rewritten so that the crate parses it as the standard does.
fn written<'t>(text: &'t str, scheme: Option<&str>, base: Option<&Url>) -> Cow<'t, str> {
    let is_special = |scheme: &str| matches!(scheme, "http" | "https" | "ws" | "wss" | "ftp");
    let end = text.find(['?', '#']).unwrap_or(text.len());
    let (head, tail) = text.split_at(end);
    let start = scheme.map_or(0, |scheme| scheme.len() + 1);
    let special = scheme.or(base.map(Url::scheme)).is_some_and(is_special);
    let slash: fn(char) -> bool = if special { |c| matches!(c, '/' | '\\') } else { |c| c == '/' };
    let body = &head[start..];
    // A trailing space of an opaque path would otherwise be lost with the query (§4.4 "opaque path state").
    if scheme.is_some() && !special && !body.starts_with('/') {
        return match head.strip_suffix(' ').filter(|_| !tail.is_empty()) {
            Some(head) => format!("{head}%20{tail}").into(),
            None => text.into(),
        };
    }
    let slashes = body.len() - body.trim_start_matches(slash).len();
    // "Special authority ignore slashes state".
    let is_surplus = scheme.is_none() && special && slashes > 2;
    if !is_surplus && !body.contains('^') {
        return text.into();
    }
    let has_authority = slashes >= 2 || (special && scheme.is_some());
    let rest = &body[slashes..];
    let authority = if has_authority { rest.find(slash).unwrap_or(rest.len()) } else { 0 };
    let (authority, path) = rest.split_at(authority);
    let slashes = if is_surplus { "//" } else { &body[..slashes] };
    format!("{}{slashes}{authority}{}{tail}", &head[..start], path.replace('^', "%5E")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_crate_reads_otherwise_is_read_as_the_standard_says() {
        let base = Address::parse("http://example.org/", None);
        for (text, base, expected) in [
            ("///example.org/../path", base.as_ref(), "http://example.org/path"),
            ("///\\//\\//test", base.as_ref(), "http://test/"),
            ("foo://host/^?^", None, "foo://host/%5E?^"),
            ("http://host/^", None, "http://host/%5E"),
            ("a^b", base.as_ref(), "http://example.org/a%5Eb"),
            ("non-special:opaque  ?hi", None, "non-special:opaque %20?hi"),
            ("non-special:opaque  ", None, "non-special:opaque"),
            (" FILE:\\\\?fox ", None, "file:///?fox"),
            ("x", base.as_ref(), "http://example.org/x"),
        ] {
            assert_eq!(Address::parse(text, base).unwrap().href(), expected, "{text}");
        }
        assert!(Address::parse("x", None).is_none());
        assert!(Address::parse("http://a^b/", None).is_none());
    }

    #[test]
    fn the_scheme_of_a_file_changes_with_a_host_only() {
        let mut address = Address::parse("file://h/a", None).unwrap();
        (PROTOCOL.set)(&mut address, "http");
        assert_eq!(address.href(), "http://h/a");
        let mut address = Address::parse("file:///a", None).unwrap();
        (PROTOCOL.set)(&mut address, "http");
        assert_eq!(address.href(), "file:///a");
    }
}
