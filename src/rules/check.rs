//! The meaning of rule files: as written → validated, every fault noted where it stands.
//!
//! Each function looks at one key of the file, notes what is wrong and answers with what is right, so that one
//! fault hides no other. Only a file without faults becomes a [`SiteRules`].

use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;
use regex::{RegexBuilder, RegexSet, RegexSetBuilder};
use url::Url;

use super::families::{Families, Inherited, merged};
use super::fault::{Fault, Faults, nearest};
use super::file::{Class, ClassedExample, Classes, Example, FamilyFile, LaneKey, ParametersFile, RobotsFile, SiteFile};
use super::judge::{Lanes, Rate, Refusal, Robots, Rule, SiteRules, Verdict};
use super::schema::{Read, Spans};
use crate::limits::{DEPTH_MAX, REGEX_BYTES_MAX, REGEX_PATTERN_BYTES_MAX, RULES_PER_SITE_MAX};
use crate::url::{Canonical, CrawlUrl, NamePattern, UrlFault};

/// Rules in the order in which they are asked: a file's denials, its classes, then those of its family. The nearer
/// file wins, so that a site may take what its family denies.
#[derive(Debug, Default)]
pub struct RuleList(Vec<Rule>);

impl RuleList {
    /// Puts the rules of a family behind these.
    pub(super) fn append(&mut self, mut elder: Self) {
        self.0.append(&mut elder.0);
    }

    fn compile(self) -> Result<(Vec<Rule>, RegexSet), regex::Error> {
        let patterns = self.0.iter().map(|rule| &*rule.pattern);
        let set = RegexSetBuilder::new(patterns).size_limit(REGEX_BYTES_MAX).build()?;
        Ok((self.0, set))
    }
}

/// Leaves out what a fault of syntax may have caused: other faults of its line, and faults of the whole file.
pub(super) fn keep_certain(faults: &mut Faults, syntax_faults: usize) {
    let lines: Vec<usize> = faults
        .list()
        .iter()
        .take(syntax_faults)
        .map(|fault| fault.line)
        .collect();
    faults.retain_from(syntax_faults, |fault| {
        !fault.span.is_empty() && !lines.contains(&fault.line)
    });
}

/// A family's own parts, without its ancestors'.
pub(super) fn family_parts(faults: &mut Faults, read: &Read<FamilyFile>) -> Inherited {
    let file = &read.value;
    Inherited {
        rules: rule_list(faults, &read.spans, &file.classes, &file.deny),
        parameters: file.parameters.clone(),
        charset: charset(faults, &read.spans, file.charset.as_deref()),
        below_start: file.below_start,
    }
}

/// Checks a family on its own, as the rules of a site without a place.
pub(super) fn family(faults: &mut Faults, read: &Read<FamilyFile>, families: &Families) -> Option<SiteRules> {
    const HOST: &str = "http://family.invalid";
    let file = &read.value;
    let own = family_parts(faults, read);
    let inherited = inherit(faults, &read.spans, file.extends.as_deref(), families);
    let canonical = canonical(faults, &read.spans, &file.parameters, &inherited.parameters);
    let mut rules = own.rules;
    rules.append(inherited.rules);
    let site = SiteRules {
        hosts: vec!["family.invalid".into()],
        canonical,
        charset: own.charset.or(inherited.charset),
        ..compiled(faults, rules)?
    };
    let placed = |url: &str| {
        if url.starts_with('/') {
            format!("{HOST}{url}")
        } else {
            url.to_owned()
        }
    };
    examples(faults, &read.spans, &file.examples, &site, placed);
    Some(site)
}

/// Checks a site file. None where its faults leave nothing to build.
pub(super) fn site(
    faults: &mut Faults,
    read: &Read<SiteFile>,
    path: &Path,
    default_name: &str,
    families: &Families,
) -> Option<SiteRules> {
    let (file, spans) = (&read.value, &read.spans);
    let name = name(faults, spans, file.name.as_deref(), default_name);
    let own = rule_list(faults, spans, &file.classes, &file.deny);
    let inherited = inherit(faults, spans, file.extends.as_deref(), families);
    let canonical = canonical(faults, spans, &file.parameters, &inherited.parameters);
    let charset = charset(faults, spans, file.charset.as_deref()).or(inherited.charset);
    let start = start(faults, spans, &file.start, &canonical);
    let hosts = hosts(faults, spans, file.hosts.as_deref(), &start);
    let below_start = file.below_start.or(inherited.below_start).unwrap_or(false);
    let mut rules = own;
    rules.append(inherited.rules);
    if read.is_toml && !spans.may_have("classes") && !spans.may_have("extends") {
        let hint = "write at least one class, as [classes] download = ['\\.torrent$'], or `extends`".to_owned();
        faults.add(spans.key("classes"), "classes", "no class takes any URL", Some(hint));
    }
    let site = SiteRules {
        name,
        file: path.into(),
        enabled: file.enabled,
        below: if below_start {
            start.iter().map(|(_, url)| folder(url)).collect()
        } else {
            Vec::new()
        },
        hosts,
        canonical,
        charset,
        rate: rate(file),
        lanes: lanes(faults, spans, file),
        depth_max: file.depth_max.unwrap_or(DEPTH_MAX),
        pages_max: file.pages_max,
        revisit: Duration::from_secs(u64::from(file.revisit_minutes) * 60),
        robots: robots(faults, spans, &file.robots),
        headers: headers(faults, spans, file),
        proxy: proxy(faults, spans, file.proxy.as_deref()),
        private_addresses: file
            .private_addresses
            .unwrap_or_else(|| start.iter().any(|(_, url)| is_private(url))),
        start: start.iter().map(|(_, url)| url.clone()).collect(),
        ..compiled(faults, rules)?
    };
    judge_start(faults, spans, &site, &start);
    examples(faults, spans, &file.examples, &site, str::to_owned);
    Some(site)
}

/// A site of nothing but its rules, to be completed.
fn compiled(faults: &mut Faults, rules: RuleList) -> Option<SiteRules> {
    let (rules, set) = compile(faults, rules)?;
    Some(SiteRules {
        name: "".into(),
        file: Path::new("").into(),
        enabled: false,
        start: Vec::new(),
        hosts: Vec::new(),
        below: Vec::new(),
        canonical: Canonical::default(),
        charset: None,
        rate: Rate {
            interval: Duration::from_secs(1),
            connections: 1,
        },
        lanes: Lanes {
            key: LaneKey::Host,
            count: 1,
        },
        depth_max: DEPTH_MAX,
        pages_max: None,
        revisit: Duration::ZERO,
        robots: Robots::Obey,
        headers: Vec::new(),
        proxy: None,
        private_addresses: false,
        rules,
        set,
    })
}

fn compile(faults: &mut Faults, rules: RuleList) -> Option<(Vec<Rule>, RegexSet)> {
    let count = rules.0.len();
    if count > RULES_PER_SITE_MAX {
        let message = format!("{count} regular expressions are more than {RULES_PER_SITE_MAX}");
        faults.add(0..0, "classes", message, Some("join some with `|`".to_owned()));
        return None;
    }
    match rules.compile() {
        Ok(compiled) => Some(compiled),
        Err(error) => {
            let message = format!(
                "the regular expressions together are too large: {}",
                first_line(&error.to_string())
            );
            faults.add(
                0..0,
                "classes",
                message,
                Some("write fewer or shorter repetitions".to_owned()),
            );
            None
        }
    }
}

fn inherit(faults: &mut Faults, spans: &Spans, extends: Option<&str>, families: &Families) -> Inherited {
    let Some(extends) = extends else {
        return Inherited::default();
    };
    families.inherit(extends).unwrap_or_else(|none| {
        faults.add(spans.value("extends"), "extends", none.message, none.hint);
        Inherited::default()
    })
}

fn name(faults: &mut Faults, spans: &Spans, name: Option<&str>, default: &str) -> Box<str> {
    let value = name.unwrap_or(default);
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    let is_valid = (1..=64).contains(&value.len()) && value.bytes().all(is_plain) && !value.starts_with('.');
    if !is_valid {
        let hint = "use letters, digits, `-`, `_` and `.`, at most 64, no `.` in front".to_owned();
        let shown: String = value.chars().take(64).collect();
        faults.add(
            spans.value("name"),
            "name",
            format!("`{shown}` cannot be the name of a site"),
            Some(hint),
        );
    }
    value.into()
}

fn rule_list(faults: &mut Faults, spans: &Spans, classes: &Classes, deny: &[String]) -> RuleList {
    let mut list = RuleList::default();
    let mut seen: HashMap<&str, String> = HashMap::new();
    let denied = deny
        .iter()
        .enumerate()
        .map(|(index, pattern)| (format!("deny[{index}]"), None, pattern));
    let taken = classes.iter().flat_map(|(class, patterns)| {
        let key = move |index| format!("classes.{}[{index}]", class.name());
        patterns
            .iter()
            .enumerate()
            .map(move |(index, pattern)| (key(index), Some(*class), pattern))
    });
    for (key, class, pattern) in denied.chain(taken) {
        let span = spans.value(&key);
        if let Some(first) = seen.get(pattern.as_str()) {
            let message = format!("this rule is never reached: `{first}` has the same expression");
            faults.add(span, &key, message, Some("take one of the two out".to_owned()));
            continue;
        }
        if let Some(rule) = rule(faults, span, &key, pattern, class) {
            seen.insert(pattern, key);
            list.0.push(rule);
        }
    }
    list
}

fn rule(faults: &mut Faults, span: Range<usize>, key: &str, pattern: &str, class: Option<Class>) -> Option<Rule> {
    if let Some((message, hint)) = suspicious(pattern) {
        faults.add(span.clone(), key, message, Some(hint.to_owned()));
    }
    let regex = match RegexBuilder::new(pattern).size_limit(REGEX_PATTERN_BYTES_MAX).build() {
        Ok(regex) => regex,
        Err(error) => {
            let text = error.to_string();
            let span = offending(&text, pattern, faults.source(), &span);
            let message = format!("bad regular expression: {}", regex_message(&error, &text));
            faults.add(span, key, message, regex_hint(&text));
            return None;
        }
    };
    let (line, column) = faults.place(span.start);
    let has_page = regex.capture_names().flatten().any(|name| name == "page");
    if let Some(other) = regex.capture_names().flatten().find(|name| *name != "page") {
        let message = format!("the group `{other}` means nothing here");
        faults.add(
            span,
            key,
            message,
            Some("name it `page` where it marks the page number, else (?:…)".to_owned()),
        );
    }
    Some(Rule {
        file: faults.path().into(),
        line,
        column,
        pattern: pattern.into(),
        class,
        page: has_page.then_some(regex),
    })
}

/// Expressions that compile and cannot be meant.
fn suspicious(pattern: &str) -> Option<(&'static str, &'static str)> {
    let body = pattern.strip_prefix("(?i)").unwrap_or(pattern);
    let anchored = body.strip_prefix('^');
    let text = anchored.unwrap_or(body);
    if pattern.is_empty() {
        return Some((
            "an empty expression matches every URL",
            "write `.` where that is meant, or take it out",
        ));
    }
    if text.starts_with("http:") || text.starts_with("https:") || text.starts_with("https?:") {
        let hint = "begin behind the host, as `^/path`; name hosts under `hosts`";
        return Some((
            "expressions are matched against path and query, without scheme and host",
            hint,
        ));
    }
    if anchored.is_some_and(|text| text.starts_with(|first: char| first.is_ascii_alphanumeric())) {
        return Some(("this can never match: a path begins with `/`", "write `^/…`"));
    }
    None
}

/// The last line of the message of the `regex` crate says what is wrong; the ones before it draw it.
fn regex_message(error: &regex::Error, text: &str) -> String {
    if let regex::Error::CompiledTooBig(limit) = error {
        return format!("compiled it is larger than {limit} bytes");
    }
    let last = text.lines().rev().find_map(|line| line.trim().strip_prefix("error: "));
    last.map_or_else(|| first_line(text).to_owned(), str::to_owned)
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}

fn regex_hint(text: &str) -> Option<String> {
    let hint = if text.contains("look-around") {
        "look-around is not supported; put what must not match under `deny`"
    } else if text.contains("backreferences") {
        "back references are not supported"
    } else if text.contains("unclosed group") || text.contains("unopened group") {
        "close the group, or write `\\(` for the character itself"
    } else if text.contains("repetition operator missing expression") {
        "write `\\?`, `\\*` or `\\+` for the character itself"
    } else if text.contains("unclosed character class") {
        "close it with `]`, or write `\\[` for the character itself"
    } else {
        return None;
    };
    Some(hint.to_owned())
}

/// Where in the file the fault of an expression stands: the drawing's carets, where the expression is written in the
/// file as it is and in one line.
fn offending(text: &str, pattern: &str, source: &str, whole: &Range<usize>) -> Range<usize> {
    let quoted = source.get(whole.start + 1..whole.end.saturating_sub(1));
    let carets = text
        .lines()
        .find(|line| line.contains('^') && line.trim().bytes().all(|byte| byte == b'^'));
    let (Some(carets), true) = (carets, quoted == Some(pattern) && !pattern.contains('\n')) else {
        return whole.clone();
    };
    // Four blanks stand before the drawn expression; the carets count characters.
    let skip = carets.find('^').unwrap_or(0).saturating_sub(4);
    let count = carets.trim().len();
    let at = |characters: usize| {
        pattern
            .char_indices()
            .nth(characters)
            .map_or(pattern.len(), |(at, _)| at)
    };
    let start = whole.start + 1 + at(skip);
    start..(whole.start + 1 + at(skip + count)).max(start)
}

fn canonical(faults: &mut Faults, spans: &Spans, own: &ParametersFile, elder: &ParametersFile) -> Canonical {
    let lists = [("drop", &own.drop), ("keep", &own.keep), ("session", &own.session)];
    for (list, index, name) in lists
        .iter()
        .flat_map(|(list, names)| names.iter().enumerate().map(move |(index, name)| (list, index, name)))
    {
        let inner = name.strip_suffix('*').unwrap_or(name);
        if name.is_empty() || inner.contains(['*', '&', '=', '?', '#', ' ']) {
            let key = format!("parameters.{list}[{index}]");
            let hint = "write the name as it stands in the URL, with `*` at its end at most".to_owned();
            faults.add(
                spans.value(&key),
                &key,
                format!("`{name}` is no name of a parameter"),
                Some(hint),
            );
        } else if *list == "keep" && own.drop.contains(name) {
            let key = format!("parameters.keep[{index}]");
            faults.add(
                spans.value(&key),
                &key,
                format!("`{name}` is also named in parameters.drop"),
                None,
            );
        }
    }
    let all = merged(own, elder);
    let patterns = |names: &[String]| names.iter().map(|name| NamePattern::new(name)).collect();
    Canonical {
        drop: patterns(&all.drop),
        keep: patterns(&all.keep),
        session: patterns(&all.session),
        sort: all.sort.unwrap_or(false),
    }
}

fn charset(faults: &mut Faults, spans: &Spans, label: Option<&str>) -> Option<&'static Encoding> {
    const COMMON: [&str; 14] = [
        "utf-8",
        "gbk",
        "gb2312",
        "gb18030",
        "big5",
        "shift_jis",
        "euc-jp",
        "iso-2022-jp",
        "euc-kr",
        "windows-1251",
        "windows-1252",
        "koi8-r",
        "iso-8859-1",
        "iso-8859-2",
    ];
    let label = label?;
    let found = Encoding::for_label(label.as_bytes());
    if found.is_none() {
        let hint = match nearest(label, COMMON) {
            Some(meant) => format!("did you mean `{meant}`?"),
            None => format!(
                "write a label of the WHATWG Encoding Standard, as {}",
                COMMON.join(", ")
            ),
        };
        faults.add(
            spans.value("charset"),
            "charset",
            format!("unknown charset `{label}`"),
            Some(hint),
        );
    }
    found
}

fn start(faults: &mut Faults, spans: &Spans, urls: &[String], canonical: &Canonical) -> Vec<(usize, CrawlUrl)> {
    if urls.is_empty() && spans.has("start") && !faults.concern("start") {
        let hint = "write at least one, as start = [\"https://example.org/\"]".to_owned();
        faults.add(spans.value("start"), "start", "there is no start URL", Some(hint));
    }
    let mut found = Vec::new();
    for (index, text) in urls.iter().enumerate() {
        let key = format!("start[{index}]");
        match CrawlUrl::parse(text, canonical) {
            Ok(url) => {
                secret_parameter(faults, spans.value(&key), &key, &url);
                found.push((index, url));
            }
            Err(fault) => faults.add(spans.value(&key), &key, fault.to_string(), url_hint(&fault)),
        }
    }
    found
}

/// Parameters that hold a secret wherever they are seen.
fn secret_parameter(faults: &mut Faults, span: Range<usize>, key: &str, url: &CrawlUrl) {
    const SECRET: [&str; 9] = [
        "passkey",
        "torrent_pass",
        "authkey",
        "rsskey",
        "password",
        "passwd",
        "apikey",
        "api_key",
        "access_token",
    ];
    let query = url.path().split_once('?').map_or("", |(_, query)| query);
    let names = query
        .split('&')
        .map(|parameter| parameter.split('=').next().unwrap_or_default());
    for name in names.filter(|name| SECRET.iter().any(|secret| name.eq_ignore_ascii_case(secret))) {
        let hint = "take it out: secrets never stand in rule files".to_owned();
        faults.add(
            span.clone(),
            key,
            format!("the parameter `{name}` holds a secret"),
            Some(hint),
        );
    }
}

fn url_hint(fault: &UrlFault) -> Option<String> {
    let hint = match fault {
        UrlFault::Syntax(_) => "write it in full, as https://example.org/path",
        UrlFault::Credentials => "take them out: secrets never stand in rule files",
        _ => return None,
    };
    Some(hint.to_owned())
}

fn hosts(faults: &mut Faults, spans: &Spans, hosts: Option<&[String]>, start: &[(usize, CrawlUrl)]) -> Vec<Box<str>> {
    let Some(hosts) = hosts else {
        let mut found: Vec<Box<str>> = start.iter().map(|(_, url)| url.authority().into()).collect();
        found.sort();
        found.dedup();
        return found;
    };
    if hosts.is_empty() && !faults.concern("hosts") {
        let hint = "name at least one host, or take the key out".to_owned();
        faults.add(spans.value("hosts"), "hosts", "there is no host", Some(hint));
    }
    let mut found = Vec::new();
    for (index, text) in hosts.iter().enumerate() {
        let key = format!("hosts[{index}]");
        match host(text) {
            Ok(host) => found.push(host),
            Err((message, hint)) => faults.add(spans.value(&key), &key, message, Some(hint)),
        }
    }
    found
}

/// Reads `host`, `host:port` or `*.host`.
fn host(text: &str) -> Result<Box<str>, (String, String)> {
    let (star, plain) = text.strip_prefix("*.").map_or(("", text), |rest| ("*.", rest));
    if let Some((_, rest)) = text.split_once("://") {
        let host = rest.split(['/', '?', '#']).next().unwrap_or_default();
        return Err((format!("`{text}` is a URL, not a host"), format!("write \"{host}\"")));
    }
    let bad = || {
        (
            format!("`{text}` is not a host"),
            "write it as example.org, example.org:8080 or *.example.org".into(),
        )
    };
    if plain.is_empty() || plain.contains(['/', '?', '#', '@', '*', '\\', ' ', '\t', '\n', '\r']) {
        return Err(bad());
    }
    // As https, port 80 is no default and stays; so both defaults are found.
    let url = Url::parse(&format!("https://{plain}/")).map_err(|_| bad())?;
    let has_default_port = url.port() == Some(80) || plain.ends_with(":443");
    if has_default_port {
        let host = url.host_str().unwrap_or_default();
        let message = format!("`{text}` names a default port");
        return Err((
            message,
            format!("write \"{star}{host}\": it stands for http and https at their own ports"),
        ));
    }
    let normal = CrawlUrl::parse(url.as_str(), &Canonical::default()).map_err(|_| bad())?;
    Ok(format!("{star}{}", normal.authority()).into())
}

/// The folder of a URL: authority, and path up to its last `/`.
fn folder(url: &CrawlUrl) -> (Box<str>, Box<str>) {
    let path = url.path().split('?').next().unwrap_or_default();
    let end = path.rfind('/').map_or(0, |at| at + 1);
    (url.authority().into(), path[..end].into())
}

fn rate(file: &SiteFile) -> Rate {
    let rate = &file.rate;
    let is_unlimited = rate.requests_per_second >= 1_000_000.0;
    // The schema holds the rate between 0.0001 and 1000000.
    let by_rate = if is_unlimited {
        Duration::ZERO
    } else {
        Duration::from_secs_f64(1.0 / rate.requests_per_second)
    };
    Rate {
        interval: by_rate.max(Duration::from_millis(rate.delay_ms)),
        connections: rate.connections,
    }
}

fn lanes(faults: &mut Faults, spans: &Spans, file: &SiteFile) -> Lanes {
    if file.lanes > 1 && file.lane_key == LaneKey::Host {
        let message = format!("{} lanes keyed by the host are one lane", file.lanes);
        let hint = "write lane_key = \"xxh3\" or \"elf\" too, or take `lanes` out".to_owned();
        faults.add(spans.value("lanes"), "lanes", message, Some(hint));
    }
    Lanes {
        key: file.lane_key,
        count: file.lanes,
    }
}

fn robots(faults: &mut Faults, spans: &Spans, file: &RobotsFile) -> Robots {
    if file.obey {
        return Robots::Obey;
    }
    let reason = file.reason.as_deref().unwrap_or_default().trim();
    if reason.is_empty() {
        let hint = "write why, as robots = { obey = false, reason = \"own server\" }".to_owned();
        let span = spans.value("robots.obey");
        faults.add(
            span,
            "robots.reason",
            "robots.txt is not to be obeyed, and no reason is given",
            Some(hint),
        );
    }
    Robots::Ignore { reason: reason.into() }
}

fn headers(faults: &mut Faults, spans: &Spans, file: &SiteFile) -> Vec<(Box<str>, Box<str>)> {
    /// Computed for each request; a fixed value would break it.
    const OWN: [&str; 8] = [
        "host",
        "content-length",
        "connection",
        "transfer-encoding",
        "accept-encoding",
        "te",
        "upgrade",
        "if-none-match",
    ];
    const SECRET: [&str; 6] = ["authorization", "cookie", "token", "api-key", "apikey", "passkey"];
    for (name, value) in &file.headers.0 {
        let key = format!("headers.{name}");
        let lower = name.to_ascii_lowercase();
        let mut fault = |message: String, hint: &str| {
            faults.add(spans.key(&key), &key, message, Some(hint.to_owned()));
        };
        if SECRET.iter().any(|secret| lower.contains(secret)) {
            fault(
                format!("the header `{name}` holds a secret"),
                "take it out: secrets never stand in rule files",
            );
        } else if OWN.contains(&lower.as_str()) {
            fault(format!("the header `{name}` is the crawler's own"), "take it out");
        } else if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
            fault(
                format!("`{name}` is not the name of a header"),
                "use letters, digits and `-`",
            );
        } else if reqwest::header::HeaderValue::from_str(value).is_err() {
            fault(
                format!("the value of `{name}` holds control characters"),
                "write it in one line",
            );
        }
    }
    file.headers
        .0
        .iter()
        .map(|(name, value)| (name.as_str().into(), value.as_str().into()))
        .collect()
}

fn proxy(faults: &mut Faults, spans: &Spans, text: Option<&str>) -> Option<Url> {
    let text = text?;
    let (message, hint) = match Url::parse(text) {
        Err(error) => (
            format!("`{text}` is not a URL: {error}"),
            "write it as socks5://127.0.0.1:1080",
        ),
        Ok(url) if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") => (
            format!("`{}` is no kind of proxy", url.scheme()),
            "write http, https, socks5 or socks5h",
        ),
        Ok(url) if !url.username().is_empty() || url.password().is_some() => (
            "a user name or password stands in the proxy's URL".to_owned(),
            "take them out: secrets never stand in rule files",
        ),
        Ok(url) if url.host_str().is_none_or(str::is_empty) => (
            "the proxy has no host".to_owned(),
            "write it as socks5://127.0.0.1:1080",
        ),
        Ok(url) => return Some(url),
    };
    faults.add(spans.value("proxy"), "proxy", message, Some(hint.to_owned()));
    None
}

/// True for a host that is written as a private or loopback address, or as localhost.
fn is_private(url: &CrawlUrl) -> bool {
    let host = url.host();
    if host == "localhost" || host.ends_with(".localhost") {
        return true;
    }
    let v6 = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    match v6.unwrap_or(host).parse() {
        Ok(std::net::IpAddr::V4(ip)) => ip.is_private() || ip.is_loopback() || ip.is_link_local(),
        Ok(std::net::IpAddr::V6(ip)) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        Err(_) => false,
    }
}

fn judge_start(faults: &mut Faults, spans: &Spans, site: &SiteRules, start: &[(usize, CrawlUrl)]) {
    let certain = Certain::of(faults, spans);
    for (index, url) in start {
        let key = format!("start[{index}]");
        let (message, hint) = match site.judge(url) {
            Verdict::Take {
                class: Class::Login, ..
            } => (
                "the login page cannot be a start URL".to_owned(),
                "give it another class, or another start URL",
            ),
            Verdict::Take { .. } => continue,
            Verdict::Refuse { reason } if !certain.is_certain(reason) => continue,
            Verdict::Refuse { reason } => (
                format!("the start URL is refused: {}", told(reason)),
                start_hint(reason),
            ),
        };
        faults.add(spans.value(&key), &key, message, Some(hint.to_owned()));
    }
}

/// Which refusals no other fault of the file can have caused.
#[derive(Clone, Copy)]
struct Certain {
    places: bool,
    classes: bool,
}

impl Certain {
    fn of(faults: &Faults, spans: &Spans) -> Self {
        let is_sound = |key: &str| !faults.concern(key) && (spans.has(key) || !spans.may_have(key));
        Self {
            places: is_sound("hosts") && is_sound("start"),
            classes: (spans.has("classes") || spans.has("extends")) && is_sound("classes") && is_sound("extends"),
        }
    }

    fn is_certain(self, reason: Refusal<'_>) -> bool {
        match reason {
            Refusal::WrongHost | Refusal::NotBelowStart => self.places,
            Refusal::NoClass => self.classes,
            Refusal::Denied(_) => true,
        }
    }
}

fn start_hint(reason: Refusal<'_>) -> &'static str {
    match reason {
        Refusal::WrongHost => "add its host to `hosts`, or take `hosts` out",
        Refusal::Denied(_) => "narrow that expression",
        Refusal::NoClass | Refusal::NotBelowStart => "add an expression that matches it to a class, as index = ['^/$']",
    }
}

/// A refusal in words.
pub(super) fn told(reason: Refusal<'_>) -> String {
    match reason {
        Refusal::WrongHost => "its host is none of `hosts`".to_owned(),
        Refusal::NotBelowStart => "it lies outside the folders of the start URLs (below_start)".to_owned(),
        Refusal::Denied(rule) => format!("denied by `{}` at {}", rule.pattern, rule.place()),
        Refusal::NoClass => "no class matches it".to_owned(),
    }
}

fn examples(
    faults: &mut Faults,
    spans: &Spans,
    examples: &super::file::ExamplesFile,
    site: &SiteRules,
    placed: impl Fn(&str) -> String,
) {
    let certain = Certain::of(faults, spans);
    for (index, example) in examples.accept.iter().enumerate() {
        let key = format!("examples.accept[{index}]");
        let fault = match CrawlUrl::parse(&placed(example.url()), &site.canonical) {
            Ok(url) => match site.judge(&url) {
                Verdict::Refuse { reason } if !certain.is_certain(reason) => None,
                _ => accepted(site, &url, example),
            },
            Err(fault) => Some((fault.to_string(), url_hint(&fault))),
        };
        if let Some((message, hint)) = fault {
            faults.add(spans.value(&key), &key, message, hint);
        }
    }
    for (index, text) in examples.refuse.iter().enumerate() {
        let key = format!("examples.refuse[{index}]");
        // What is no URL for a crawler is refused, too.
        let Ok(url) = CrawlUrl::parse(&placed(text), &site.canonical) else {
            continue;
        };
        if let Verdict::Take { class, rule, .. } = site.judge(&url) {
            let message = format!(
                "this example must be refused, and is taken as {} by `{}` at {}",
                class.name(),
                rule.pattern,
                rule.place()
            );
            let hint = Some("narrow that expression, or deny the URL".to_owned());
            faults.add(spans.value(&key), &key, message, hint);
        }
    }
}

/// What is wrong with an example that must be taken.
fn accepted(site: &SiteRules, url: &CrawlUrl, example: &Example) -> Option<(String, Option<String>)> {
    let (class, rule, page_capture) = match site.judge(url) {
        Verdict::Take {
            class,
            rule,
            page_capture,
        } => (class, rule, page_capture),
        Verdict::Refuse { reason } => {
            let seen = if url.as_str() == example.url() {
                String::new()
            } else {
                format!(" (as {url})")
            };
            return Some((
                format!("this example must be taken, and is refused{seen}: {}", told(reason)),
                None,
            ));
        }
    };
    let Example::Classed(ClassedExample {
        class: due_class,
        page: due_page,
        ..
    }) = example
    else {
        return None;
    };
    if let Some(due) = due_class
        && *due != class
    {
        let by = format!("by `{}` at {}", rule.pattern, rule.place());
        let message = format!(
            "this example must be taken as {}, and is taken as {} {by}",
            due.name(),
            class.name()
        );
        return Some((
            message,
            Some("narrow that expression, or move it behind the right one".to_owned()),
        ));
    }
    let page = page_capture.and_then(|(start, end)| url.path().get(start..end)?.parse::<u64>().ok());
    if let Some(due) = due_page
        && page != Some(*due)
    {
        let found = page.map_or_else(|| "none".to_owned(), |page| page.to_string());
        let message = format!(
            "this example must show page number {due}, and `{}` finds {found}",
            rule.pattern
        );
        return Some((message, Some("mark the number with (?<page>\\d+)".to_owned())));
    }
    None
}

/// Reads and checks the text of a site file.
pub(super) fn site_text(
    path: &Path,
    text: &str,
    default_name: &str,
    families: &Families,
) -> Result<Arc<SiteRules>, Vec<Fault>> {
    let mut faults = Faults::new(path, text);
    let read = super::schema::read::<SiteFile>(&mut faults);
    let rules = site(&mut faults, &read, path, default_name, families);
    if !read.is_toml {
        keep_certain(&mut faults, read.syntax_faults);
    }
    match rules {
        Some(rules) if faults.is_empty() => Ok(Arc::new(rules)),
        _ => Err(faults.into_sorted()),
    }
}
