//! File URLs (URL Standard §4.4 "file state" and on): the `url` crate drops empty segments and the hosts of drives, which browsers keep.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use url::{Host, form_urlencoded};

/// URL Standard §1.3: what is percent-encoded in fragments, queries of special schemes, and paths.
const FRAGMENT: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'<').add(b'>').add(b'`');
const QUERY: &AsciiSet = &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'\'');
const PATH: &AsciiSet =
    &CONTROLS.add(b' ').add(b'"').add(b'#').add(b'<').add(b'>').add(b'?').add(b'^').add(b'`').add(b'{').add(b'}');

/// A `file:` URL.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct FileUrl {
    host: String,
    path: Vec<String>,
    query: Option<String>,
    fragment: Option<String>,
}

fn is_slash(c: char) -> bool {
    matches!(c, '/' | '\\')
}

/// "Windows drive letter".
fn is_drive(text: &str) -> bool {
    matches!(text.as_bytes(), [letter, b':' | b'|'] if letter.is_ascii_alphabetic())
}

/// "Starts with a Windows drive letter", for a text without query and fragment.
fn starts_with_drive(text: &str) -> bool {
    text.get(..2).is_some_and(is_drive) && text[2..].chars().next().is_none_or(is_slash)
}

fn encoded(text: &str, set: &'static AsciiSet) -> String {
    utf8_percent_encode(text, set).to_string()
}

impl FileUrl {
    /// Parses the part after `file:`, or a relative URL; surrounding whitespace, tabs and newlines are already removed. `None` for an
    /// invalid host.
    pub fn parse(text: &str, base: Option<&Self>) -> Option<Self> {
        let (text, fragment) = match text.split_once('#') {
            Some((text, fragment)) => (text, Some(encoded(fragment, FRAGMENT))),
            None => (text, None),
        };
        let (body, query) = match text.split_once('?') {
            Some((body, query)) => (body, Some(encoded(query, QUERY))),
            None => (text, None),
        };
        let mut url = Self { query, fragment, ..Self::default() };
        let Some(slashed) = body.strip_prefix(is_slash) else {
            match base {
                Some(base) if body.is_empty() => {
                    (url.host, url.path) = (base.host.clone(), base.path.clone());
                    url.query = url.query.or_else(|| base.query.clone());
                    return Some(url);
                }
                Some(base) => {
                    url.host = base.host.clone();
                    if !starts_with_drive(body) {
                        url.path = base.path.clone();
                        url.shorten();
                    }
                }
                None => {}
            }
            url.read_path(body);
            return Some(url);
        };
        match slashed.strip_prefix(is_slash) {
            Some(authority) => {
                let (host, path) = authority.split_at(authority.find(is_slash).unwrap_or(authority.len()));
                if is_drive(host) {
                    url.read_path(authority);
                } else {
                    url.host = host_of(host)?;
                    url.read_path(path.strip_prefix(is_slash).unwrap_or(path));
                }
            }
            None => {
                if let Some(base) = base {
                    url.host = base.host.clone();
                    let drive = base.path.first().filter(|first| is_drive(first) && first.ends_with(':'));
                    url.path.extend(drive.filter(|_| !starts_with_drive(slashed)).cloned());
                }
                url.read_path(slashed);
            }
        }
        Some(url)
    }

    /// "Path state".
    fn read_path(&mut self, text: &str) {
        let mut segments = text.split(is_slash).peekable();
        while let Some(segment) = segments.next() {
            let is_last = segments.peek().is_none();
            let dots = segment.to_ascii_lowercase().replace("%2e", ".");
            match dots.as_str() {
                ".." => {
                    self.shorten();
                    if is_last {
                        self.path.push(String::new());
                    }
                }
                "." if is_last => self.path.push(String::new()),
                "." => {}
                _ if self.path.is_empty() && is_drive(segment) => self.path.push(format!("{}:", &segment[..1])),
                _ => self.path.push(encoded(segment, PATH)),
            }
        }
    }

    /// "Shorten a url's path": a drive letter stays.
    fn shorten(&mut self) {
        if !matches!(self.path.as_slice(), [drive] if is_drive(drive) && drive.ends_with(':')) {
            self.path.pop();
        }
    }

    /// The whole URL.
    pub fn href(&self) -> String {
        let part = |mark: char, text: &Option<String>| text.as_ref().map(|text| format!("{mark}{text}"));
        let (query, fragment) = (part('?', &self.query), part('#', &self.fragment));
        let (query, fragment) = (query.unwrap_or_default(), fragment.unwrap_or_default());
        format!("file://{}{}{query}{fragment}", self.host, self.pathname())
    }

    pub fn host(&self) -> &str {
        &self.host
    }

    pub fn pathname(&self) -> String {
        self.path.iter().flat_map(|segment| ["/", segment]).collect()
    }

    /// With its question mark; empty if there is no query.
    pub fn search(&self) -> String {
        self.query.as_ref().filter(|query| !query.is_empty()).map(|query| format!("?{query}")).unwrap_or_default()
    }

    /// With its hash; empty if there is no fragment.
    pub fn hash(&self) -> String {
        self.fragment.as_ref().filter(|text| !text.is_empty()).map(|text| format!("#{text}")).unwrap_or_default()
    }

    /// Sets the host; an invalid one changes nothing.
    pub fn set_host(&mut self, text: &str) {
        let end = text.find(|c| is_slash(c) || matches!(c, '?' | '#')).unwrap_or(text.len());
        if let Some(host) = host_of(&text[..end]) {
            self.host = host;
        }
    }

    pub fn set_pathname(&mut self, text: &str) {
        self.path.clear();
        self.read_path(text.strip_prefix(is_slash).unwrap_or(text));
    }

    pub fn set_search(&mut self, text: &str) {
        let text = text.strip_prefix('?').unwrap_or(text);
        self.query = (!text.is_empty()).then(|| encoded(text, QUERY));
    }

    pub fn set_hash(&mut self, text: &str) {
        let text = text.strip_prefix('#').unwrap_or(text);
        self.fragment = (!text.is_empty()).then(|| encoded(text, FRAGMENT));
    }

    /// Sets a query that is already encoded.
    pub fn set_query(&mut self, query: Option<&str>) {
        self.query = query.map(str::to_owned);
    }

    pub fn query_pairs(&self) -> form_urlencoded::Parse<'_> {
        form_urlencoded::parse(self.query.as_deref().unwrap_or_default().as_bytes())
    }
}

/// "File host state": `localhost` means no host; `None` if the host is invalid.
fn host_of(text: &str) -> Option<String> {
    if text.is_empty() {
        return Some(String::new());
    }
    let host = Host::parse(text).ok()?.to_string();
    Some(if host == "localhost" { String::new() } else { host })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_files_keep_hosts_drives_and_empty_segments() {
        let base = |text: &str| FileUrl::parse(text.strip_prefix("file:").unwrap(), None).unwrap();
        for (text, around, expected) in [
            ("///w|/m", None, "file:///w:/m"),
            ("//example.net/C:/", None, "file://example.net/C:/"),
            ("//localhost//a//../..//foo", None, "file://///foo"),
            ("\\\\//", None, "file:////"),
            ("/", Some("file://h/C:/a/b"), "file://h/C:/"),
            ("C|#", Some("file://host/dir/file"), "file://host/C:#"),
            ("..", Some("file:///C:/"), "file:///C:/"),
            ("?q", Some("file:///a/b#c"), "file:///a/b?q"),
            ("", Some("file:///a?b#c"), "file:///a?b"),
            ("x^y", Some("file:///a/b"), "file:///a/x%5Ey"),
            ("", None, "file:///"),
        ] {
            let around = around.map(base);
            assert_eq!(FileUrl::parse(text, around.as_ref()).unwrap().href(), expected, "{text}");
        }
        assert_eq!(FileUrl::parse("//a b/", None), None);
    }
}
