//! robots.txt by RFC 9309: what one product token may fetch on one origin.
//!
//! `parse` reads the groups (§2.2.1), `Robots::allows` takes the most specific match (§2.2.2). The crawl handles
//! fetching, caching and missing files (§2.3): see [`Robots::allow_all`].

use std::cell::LazyCell;
use std::time::Duration;

use crate::limits;

/// The rules that apply to us on one origin.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Robots {
    rules: Vec<Rule>,
    /// Parts of all rules, in their order, and their texts. A file may have tens of thousands of rules.
    parts: Vec<Part>,
    texts: Vec<u8>,
    /// Hash of the rules as written; 0 without rules.
    fingerprint: u64,
    /// `Crawl-delay` of our group. Not part of the RFC, but many sites use it.
    pub crawl_delay: Option<Duration>,
    /// URLs of `Sitemap` lines as written, of any group; at most `limits::SITEMAPS_PER_ROBOTS_MAX`.
    pub sitemaps: Vec<Box<str>>,
}

#[derive(Clone, Debug, PartialEq)]
struct Rule {
    allow: bool,
    /// The parts of the pattern between its `*`: index of the first among all parts, and their number (at least one).
    parts: (u32, u32),
    /// True if the pattern has a `%` that starts no escape: its escapes are then compared as written.
    as_written: bool,
    /// True if the pattern ends in `$`.
    to_the_end: bool,
    /// Length of the pattern in octets: the longest match decides.
    octets: u32,
}

/// The text between two `*` of a pattern, with unified percent-encoding; bytes of [`Robots::texts`].
#[derive(Clone, Debug, PartialEq)]
struct Part {
    /// The text if the part starts in the path: everything after its first `?` belongs to the query.
    text: Text,
    /// The text if the whole part is in the query; None if that makes no difference.
    in_query: Option<Text>,
}

/// Start and end.
type Text = (u32, u32);

impl Robots {
    /// No rules: the meaning of an unavailable file (4xx), §2.3.1.3.
    #[must_use]
    pub fn allow_all() -> Self {
        Self::default()
    }

    /// Parses a robots.txt for a product token such as `gleaner`. Never fails: lines that are not records are
    /// skipped, and bytes beyond `limits::ROBOTS_BYTES_MAX` are ignored.
    #[must_use]
    pub fn parse(body: &[u8], product_token: &str) -> Self {
        let body = &body[..body.len().min(limits::ROBOTS_BYTES_MAX)];
        let body = body.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(body);
        let mut ours = Self::default();
        let mut everyones = Self::default();
        let mut sitemaps = Vec::new();
        let (mut for_us, mut for_all, mut named, mut in_rules) = (false, false, false, false);
        for line in body.split(|&byte| byte == b'\n' || byte == b'\r') {
            let Some((key, value)) = record(line) else { continue };
            match key {
                Key::UserAgent => {
                    // A user-agent line after rules starts a new group; several in a row share one.
                    if std::mem::take(&mut in_rules) {
                        (for_us, for_all) = (false, false);
                    }
                    let token = value.split(|byte| !is_token(*byte)).next().unwrap_or_default();
                    for_us |= token.eq_ignore_ascii_case(product_token.as_bytes());
                    for_all |= value.starts_with(b"*");
                    named |= for_us;
                }
                Key::Allow | Key::Disallow => {
                    in_rules = true;
                    // An empty value is not a rule (§2.2.2): `Disallow:` allows everything.
                    if value.is_empty() {
                        continue;
                    }
                    if for_us {
                        ours.add(key == Key::Allow, value);
                    }
                    if for_all {
                        everyones.add(key == Key::Allow, value);
                    }
                }
                Key::Sitemap => {
                    let url =
                        std::str::from_utf8(value).ok().filter(|url| (1..=limits::URL_BYTES_MAX).contains(&url.len()));
                    if sitemaps.len() < limits::SITEMAPS_PER_ROBOTS_MAX {
                        sitemaps.extend(url.map(Into::into));
                    }
                }
                Key::CrawlDelay => {
                    let delay = std::str::from_utf8(value)
                        .ok()
                        .and_then(|text| text.parse::<f64>().ok())
                        .filter(|seconds| seconds.is_finite() && *seconds >= 0.0)
                        .map(|seconds| Duration::from_secs_f64(seconds.min(limits::CRAWL_DELAY_MAX.as_secs_f64())));
                    if for_us {
                        ours.crawl_delay = ours.crawl_delay.max(delay);
                    }
                    if for_all {
                        everyones.crawl_delay = everyones.crawl_delay.max(delay);
                    }
                }
            }
        }
        Self { sitemaps, ..if named { ours } else { everyones } }
    }

    /// Equal for equal rules, regardless of the rest of the file.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    fn add(&mut self, allow: bool, pattern: &[u8]) {
        let seed = self.fingerprint ^ u64::from(allow);
        self.fingerprint = xxhash_rust::xxh3::xxh3_64_with_seed(pattern, seed);
        let (pattern, to_the_end) = match pattern.strip_suffix(b"$") {
            Some(pattern) => (pattern, true),
            None => (pattern, false),
        };
        let as_written = memchr::memchr_iter(b'%', pattern).any(|at| escaped(&pattern[at..]).is_none());
        let first = self.parts.len();
        let mut octets = u32::from(to_the_end);
        for part in pattern.split(|&byte| byte == b'*') {
            octets += u32::from(self.parts.len() > first);
            let part = self.part(part, as_written);
            octets += part.text.1 - part.text.0;
            self.parts.push(part);
        }
        let parts = (place(first), place(self.parts.len() - first));
        self.rules.push(Rule { allow, parts, as_written, to_the_end, octets });
    }

    fn part(&mut self, pattern: &[u8], as_written: bool) -> Part {
        if as_written {
            return Part { text: self.keep(&unified(pattern, UrlPart::Anywhere)), in_query: None };
        }
        let (text, in_query) = (unified(pattern, UrlPart::Path), unified(pattern, UrlPart::Query));
        let in_query = (in_query != text).then(|| self.keep(&in_query));
        Part { text: self.keep(&text), in_query }
    }

    fn keep(&mut self, text: &[u8]) -> Text {
        let start = place(self.texts.len());
        self.texts.extend_from_slice(text);
        (start, place(self.texts.len()))
    }

    fn text(&self, (start, end): Text) -> &[u8] {
        &self.texts[start as usize..end as usize]
    }

    /// May this path and query be fetched? `path` starts with `/`. The longest matching pattern decides, allow wins
    /// between equals; no match means yes. `/robots.txt` itself is always allowed.
    #[must_use]
    pub fn allows(&self, path: &str) -> bool {
        if self.rules.is_empty() || path == "/robots.txt" {
            return true;
        }
        let unified_at = |place| unified(path.as_bytes(), place);
        let (path, written) = (unified_at(UrlPart::Path), LazyCell::new(|| unified_at(UrlPart::Anywhere)));
        let matching =
            self.rules.iter().filter(|rule| self.matches(rule, if rule.as_written { &written } else { &path }));
        let deciding = matching.max_by_key(|rule| (rule.octets, rule.allow));
        deciding.is_none_or(|rule| rule.allow)
    }

    /// Matches each part at its first occurrence. This finds a match if there is one, in linear time.
    fn matches(&self, rule: &Rule, path: &[u8]) -> bool {
        let query_at = memchr::memchr(b'?', path).map_or(path.len(), |mark| mark + 1);
        let (first, count) = (rule.parts.0 as usize, rule.parts.1 as usize);
        let Some((first, others)) = self.parts[first..first + count].split_first() else { return false };
        let first = self.text(first.text);
        if !path.starts_with(first) {
            return false;
        }
        let mut at = first.len();
        let Some((last, middle)) = others.split_last() else {
            return !rule.to_the_end || at == path.len();
        };
        for part in middle {
            match self.end_of_first(part, path, at, query_at) {
                Some(end) => at = end,
                None => return false,
            }
        }
        if rule.to_the_end {
            self.ends(last, path, at, query_at)
        } else {
            self.end_of_first(last, path, at, query_at).is_some()
        }
    }

    /// End of the first occurrence of the part in `path[at..]`. The query starts at `query_at`.
    fn end_of_first(&self, part: &Part, path: &[u8], at: usize, query_at: usize) -> Option<usize> {
        let find = |from: usize, text: &[u8]| Some(from + memchr::memmem::find(&path[from..], text)? + text.len());
        let text = self.text(part.text);
        let found = find(at, text);
        let Some(in_query) = part.in_query else { return found };
        found.filter(|end| end - text.len() < query_at).or_else(|| find(at.max(query_at), self.text(in_query)))
    }

    /// True if `path[at..]` ends with the part.
    fn ends(&self, part: &Part, path: &[u8], at: usize, query_at: usize) -> bool {
        let text = self.text(part.text);
        let ends = path[at..].ends_with(text);
        let Some(in_query) = part.in_query else { return ends };
        (ends && path.len() - text.len() < query_at) || path[at.max(query_at)..].ends_with(self.text(in_query))
    }
}

/// An offset in the texts: less than [`limits::ROBOTS_BYTES_MAX`] times six, because texts are encoded and stored
/// twice.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

/// True if an `X-Robots-Tag` asks this product token, or all robots, not to follow the links of the response. A value
/// may start with the name of a robot: `otherbot: noindex, nofollow`.
#[must_use]
pub fn tags_say_nofollow(tags: &[impl AsRef<str>], product_token: &str) -> bool {
    /// Directives with a value of their own, which are not names of robots.
    const VALUED: [&str; 4] = ["unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"];
    tags.iter().any(|tag| {
        let tag = tag.as_ref();
        let directives = match tag.split_once(':') {
            Some((name, rest))
                if !name.contains(',') && !VALUED.iter().any(|valued| name.trim().eq_ignore_ascii_case(valued)) =>
            {
                if !name.trim().eq_ignore_ascii_case(product_token) && name.trim() != "*" {
                    return false;
                }
                rest
            }
            _ => tag,
        };
        directives
            .split(',')
            .map(str::trim)
            .any(|directive| directive.eq_ignore_ascii_case("nofollow") || directive.eq_ignore_ascii_case("none"))
    })
}

#[derive(Clone, Copy, PartialEq)]
enum Key {
    UserAgent,
    Allow,
    Disallow,
    CrawlDelay,
    Sitemap,
}

/// Misspellings that the large crawlers accept.
const KEYS: [(&str, Key); 15] = [
    ("user-agent", Key::UserAgent),
    ("useragent", Key::UserAgent),
    ("user agent", Key::UserAgent),
    ("allow", Key::Allow),
    ("disallow", Key::Disallow),
    ("dissallow", Key::Disallow),
    ("dissalow", Key::Disallow),
    ("disalow", Key::Disallow),
    ("diasllow", Key::Disallow),
    ("disallaw", Key::Disallow),
    ("crawl-delay", Key::CrawlDelay),
    ("crawldelay", Key::CrawlDelay),
    ("crawl delay", Key::CrawlDelay),
    ("sitemap", Key::Sitemap),
    ("site-map", Key::Sitemap),
];

fn record(line: &[u8]) -> Option<(Key, &[u8])> {
    let line = line.split(|&byte| byte == b'#').next()?;
    let colon = memchr::memchr(b':', line)?;
    let name = line[..colon].trim_ascii();
    let (_, key) = KEYS.iter().find(|(spelling, _)| name.eq_ignore_ascii_case(spelling.as_bytes()))?;
    Some((*key, line[colon + 1..].trim_ascii()))
}

fn is_token(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == b'_' || byte == b'-'
}

/// The part of a URL that a text belongs to, for unification.
#[derive(Clone, Copy, PartialEq)]
enum UrlPart {
    /// Everything after its first `?` belongs to the query.
    Path,
    Query,
    /// Reserved characters and their escapes are kept as written.
    Anywhere,
}

/// Percent-encoding as RFC 9309 §2.2.2 compares it: unreserved characters are decoded; characters that are neither
/// unreserved nor reserved (RFC 3986 §2.2) are encoded; hex digits are in upper case. Reserved characters are kept as
/// written, because `%2F` is not `/`. Those that mean the same either way are decoded: many in the query, and `*` and
/// `$`, which a pattern escapes to mean them literally (§2.2.3).
fn unified(text: &[u8], mut place: UrlPart) -> Vec<u8> {
    const HEX: &[u8; 16] = b"0123456789ABCDEF";
    const RESERVED: &[u8] = b":/?#[]@!$&'()*+,;=";
    const SAME: &[u8] = b"*$";
    // The others separate the fields and values of a form, or mean a space there.
    const SAME_IN_QUERY: &[u8] = b"*$:/?[]@!'(),";
    let mut out = Vec::with_capacity(text.len());
    let mut at = 0;
    while at < text.len() {
        let byte = text[at];
        let (value, width) = escaped(&text[at..]).map_or((byte, 1), |value| (value, 3));
        let unreserved = value.is_ascii_alphanumeric() || b"-._~".contains(&value);
        let as_it_is = width == 1 && (value == b'%' || RESERVED.contains(&value));
        let made_plain = match place {
            UrlPart::Path => SAME.contains(&value),
            UrlPart::Query => SAME_IN_QUERY.contains(&value),
            UrlPart::Anywhere => false,
        };
        if unreserved || as_it_is || made_plain {
            out.push(value);
        } else {
            out.extend([b'%', HEX[usize::from(value >> 4)], HEX[usize::from(value & 15)]]);
        }
        if byte == b'?' && place == UrlPart::Path {
            place = UrlPart::Query;
        }
        at += width;
    }
    out
}

/// The octet of the escape at the start of a text.
fn escaped(text: &[u8]) -> Option<u8> {
    let digits = text.strip_prefix(b"%")?.get(..2)?;
    data_encoding::HEXLOWER_PERMISSIVE.decode(digits).ok()?.first().copied()
}

#[cfg(test)]
mod tests;
