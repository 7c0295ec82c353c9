//! Semantic checks of rule files: as written → validated, each fault reported at its position.
//!
//! Each function checks one key of the file, reports what is wrong and returns what is right, so that one
//! fault hides no other. Only a file without faults becomes a [`SiteRules`].

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use encoding_rs::Encoding;
use url::Url;

use super::account;
use super::categories::{CategoryRules, categories};
use super::class::{Class, RenderActs, RenderWhen};
use super::families::{Families, Inherited, merged};
use super::fault::{Fault, Faults, nearest};
use super::file::{
    AllowActionsFile, FamilyFile, LaneKey, LoginFile, ParametersFile, Pinned, PrivateAddresses, RobotsFile,
    ShortcutTables, SiteFile,
};
use super::judge::{
    AllowedActions, BoardRules, BudgetRules, ClientRules, Lanes, LinkRules, LoginRules, Quota, Rate, Robots,
    ScriptRules, SiteRules, owns,
};
use super::patterns::{RuleList, compile, expressions, rule_list};
use super::places::{folder, hosts, is_private, start};
use super::schema::{ParsedFile, Spans};
use super::secrets;
use super::trials::{examples, judge_start};
use crate::limits::{DEPTH_MAX, SHAPE_PAGES, UNWRITTEN_LANES_MAX};
use gleaner_base::clock::hours::{self, Hours};
use gleaner_base::url::{Canonical, CrawlUrl, NamePattern};
use gleaner_page::shortcut::Endpoint;

/// Drops faults that a syntax fault may have caused: others on its line, and faults of the whole file.
pub(super) fn keep_certain(faults: &mut Faults, syntax_faults: usize) {
    let lines: Vec<usize> = faults.list().iter().take(syntax_faults).map(|fault| fault.line).collect();
    faults.retain_from(syntax_faults, |fault| !fault.span.is_empty() && !lines.contains(&fault.line));
}

/// A family's own parts, without its ancestors'.
pub(super) fn family_parts(faults: &mut Faults, read: &ParsedFile<FamilyFile>) -> Inherited {
    let file = &read.value;
    Inherited {
        rules: rule_list(faults, &read.spans, &file.classes, &file.deny),
        parameters: file.parameters.clone(),
        charset: charset(faults, &read.spans, file.charset.as_deref()),
        categories: categories(faults, &read.spans, None, &file.categories),
        below_start: file.below_start,
        render: file.render.clone(),
        shortcuts: shortcuts(faults, &read.spans, &file.shortcut, None),
        login: account::conventions(faults, &read.spans, &file.login),
    }
}

/// Checks a family by itself, as the rules of a site without URLs.
pub(super) fn family(faults: &mut Faults, read: &ParsedFile<FamilyFile>, families: &Families) -> Option<SiteRules> {
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
        ..compiled(faults, rules, own.categories, &SiteFile::default())?
    };
    let placed = |url: &str| {
        if url.starts_with('/') { format!("{HOST}{url}") } else { url.to_owned() }
    };
    examples(faults, &read.spans, &file.examples, &site, placed);
    Some(site)
}

/// Checks a site file. None if its faults leave nothing to build.
pub(super) fn site(
    faults: &mut Faults,
    read: &ParsedFile<SiteFile>,
    path: &Path,
    default_name: &str,
    families: &Families,
) -> Option<SiteRules> {
    let (file, spans) = (&read.value, &read.spans);
    let name = name(faults, spans, file.name.as_deref(), default_name);
    faults.replace_hint(secrets::HINT, &secrets::hint(&name));
    let own = rule_list(faults, spans, &file.classes, &file.deny);
    let inherited = inherit(faults, spans, file.extends.as_deref(), families);
    let canonical = canonical(faults, spans, &file.parameters, &inherited.parameters);
    let charset = charset(faults, spans, file.charset.as_deref()).or(inherited.charset);
    let mut category_rules = categories(faults, spans, file.category, &file.categories);
    category_rules.inherit(inherited.categories);
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
        file: path.into(),
        enabled: file.enabled,
        below: if below_start { start.iter().map(|(_, url)| folder(url)).collect() } else { Vec::new() },
        hosts: hosts.clone(),
        canonical,
        charset,
        budget: BudgetRules { shape_pages: file.budget.shape_pages, traps: file.budget.traps, lean: file.budget.lean },
        boards: boards(faults, spans, file),
        rate: rate(file),
        login: login(faults, read, &name, &inherited.login, &hosts, start.first().map(|(_, url)| url)),
        name,
        hours: quiet_hours(faults, spans, file),
        quota: Quota { requests_per_day: file.rate.requests_per_day, pages_max: file.pages_max },
        depth_max: file.depth_max.unwrap_or(DEPTH_MAX),
        mirrors: mirrors(faults, spans, &file.mirrors, &start),
        lanes: lanes(faults, spans, file),
        scripts: ScriptRules {
            when: Class::ALL.map(|class| {
                let said = file.render.classes.get(&class).or_else(|| inherited.render.classes.get(&class));
                said.copied().unwrap_or_default()
            }),
            acts: file.render.acts.or(inherited.render.acts).unwrap_or_default(),
            learns_shortcuts: file.render.shortcut.or(inherited.render.shortcut).unwrap_or(true),
            shortcuts: {
                let own = shortcuts(faults, spans, &file.shortcut, Some(&hosts));
                let of_family = inherited.shortcuts.into_iter().filter(|(class, _)| !file.shortcut.contains_key(class));
                own.into_iter().chain(of_family).collect()
            },
        },
        revisit: Duration::from_secs(u64::from(file.revisit_minutes) * 60),
        increment_depth: file.increment_depth,
        robots: robots(faults, spans, &file.robots),
        allow_actions: allowed_actions(faults, spans, &file.allow_actions),
        sitemaps: file.sitemaps,
        client: ClientRules {
            headers: headers(faults, spans, file),
            proxy: proxy(faults, spans, file.proxy.as_deref()),
            private_addresses: private_addresses(faults, spans, file.private_addresses.as_ref(), &start),
        },
        start: start.iter().map(|(_, url)| url.clone()).collect(),
        ..compiled(faults, rules, category_rules, file)?
    };
    judge_start(faults, spans, &site, &start);
    examples(faults, spans, &file.examples, &site, str::to_owned);
    Some(site)
}

/// A site that has only its rules; the caller fills in the rest.
fn compiled(faults: &mut Faults, rules: RuleList, categories: CategoryRules, file: &SiteFile) -> Option<SiteRules> {
    let (rules, set) = compile(faults, rules)?;
    Some(SiteRules {
        name: "".into(),
        file: Path::new("").into(),
        enabled: false,
        start: Vec::new(),
        hosts: Vec::new(),
        below: Vec::new(),
        canonical: Canonical::default(),
        budget: BudgetRules { shape_pages: SHAPE_PAGES, traps: true, lean: true },
        boards: BoardRules::default(),
        charset: None,
        rate: rate(&SiteFile::default()),
        login: None,
        hours: Hours::default(),
        quota: Quota::default(),
        depth_max: DEPTH_MAX,
        mirrors: Vec::new(),
        lanes: Lanes { key: LaneKey::Host, count: 1, increment_min: 1 },
        scripts: ScriptRules {
            when: [RenderWhen::Auto; Class::ALL.len()],
            acts: RenderActs::Auto,
            learns_shortcuts: true,
            shortcuts: Vec::new(),
        },
        revisit: Duration::ZERO,
        increment_depth: 0,
        robots: Robots::Obey,
        allow_actions: AllowedActions::default(),
        sitemaps: true,
        client: ClientRules { headers: Vec::new(), proxy: None, private_addresses: PrivateAddresses::All(false) },
        links: LinkRules { rules, set, categories, are_learned: file.learned, repair: file.learn.repair },
    })
}

fn login(
    faults: &mut Faults,
    read: &ParsedFile<SiteFile>,
    site: &str,
    inherited: &LoginFile,
    hosts: &[Box<str>],
    start: Option<&CrawlUrl>,
) -> Option<LoginRules> {
    let own = read.value.login.as_ref()?;
    account::login(faults, &read.spans, account::Tables { site, own, inherited, is_toml: read.is_toml }, hosts, start)
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
        faults.add(spans.value("name"), "name", format!("`{shown}` cannot be the name of a site"), Some(hint));
    }
    value.into()
}

fn canonical(faults: &mut Faults, spans: &Spans, own: &ParametersFile, elder: &ParametersFile) -> Canonical {
    let lists = [("drop", &own.drop), ("keep", &own.keep), ("session", &own.session)];
    for (list, index, name) in
        lists.iter().flat_map(|(list, names)| names.iter().enumerate().map(move |(index, name)| (list, index, name)))
    {
        let inner = name.strip_suffix('*').unwrap_or(name);
        if name.is_empty() || inner.contains(['*', '&', '=', '?', '#', ' ']) {
            let key = format!("parameters.{list}[{index}]");
            let hint = "write the name as it appears in the URL, with `*` only at its end".to_owned();
            faults.add(spans.value(&key), &key, format!("`{name}` is not the name of a parameter"), Some(hint));
        } else if *list == "keep" && own.drop.contains(name) {
            let key = format!("parameters.keep[{index}]");
            faults.add(spans.value(&key), &key, format!("`{name}` is also named in parameters.drop"), None);
        }
    }
    for (index, name) in own.default_documents.iter().enumerate() {
        if name.is_empty() || matches!(name.as_str(), "." | "..") || name.contains(['/', '?', '#', '*', ' ']) {
            let key = format!("parameters.default_documents[{index}]");
            let hint = "write the file's name as it appears in the URL, as index.html".to_owned();
            faults.add(spans.value(&key), &key, format!("`{name}` is not the name of a file"), Some(hint));
        }
    }
    let all = merged(own, elder);
    let patterns = |names: &[String]| names.iter().map(|name| NamePattern::new(name)).collect();
    Canonical {
        drop: patterns(&all.drop),
        keep: patterns(&all.keep),
        session: patterns(&all.session),
        sort: all.sort.unwrap_or(false),
        default_documents: all.default_documents.iter().map(|name| name.as_str().into()).collect(),
        path_sessions: all.path_sessions.unwrap_or(false),
        merge_slashes: all.merge_slashes.unwrap_or(false),
        form_values: all.form_values.unwrap_or(false),
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
            None => format!("write a label of the WHATWG Encoding Standard, as {}", COMMON.join(", ")),
        };
        faults.add(spans.value("charset"), "charset", format!("unknown charset `{label}`"), Some(hint));
    }
    found
}

/// Selectors are stored as written: the list parser compiles them.
fn boards(faults: &mut Faults, spans: &Spans, file: &SiteFile) -> BoardRules {
    let boards = &file.boards;
    let mut selector = |name: &str, text: &Option<String>| -> Option<Box<str>> {
        let text = text.as_deref()?;
        let key = format!("boards.{name}");
        if scraper::Selector::parse(text).is_err() {
            let hint = "write it as for a style sheet: tr.row, li > a.title".to_owned();
            faults.add(spans.value(&key), &key, format!("`{text}` is not a CSS selector"), Some(hint));
        }
        Some(text.into())
    };
    let (rows, row_link, row_time) = (
        selector("rows", &boards.rows),
        selector("row_link", &boards.row_link),
        selector("row_time", &boards.row_time),
    );
    for (name, given) in [("row_link", &row_link), ("row_time", &row_time)] {
        if rows.is_none() && given.is_some() {
            let key = format!("boards.{name}");
            let hint = "write `rows` too: this selector applies within a row".to_owned();
            faults.add(spans.key(&key), &key, format!("`{name}` needs `rows`"), Some(hint));
        }
    }
    let offset_s = boards.utc_offset.as_deref().and_then(|text| {
        let offset = hours::offset(text);
        if offset.is_none() {
            let hint = "write it as +08:00, at most 14 hours from UTC, in quarters of an hour".to_owned();
            let key = "boards.utc_offset";
            faults.add(spans.value(key), key, format!("`{text}` is not an offset from UTC"), Some(hint));
        }
        offset.map(|minutes| i32::from(minutes) * 60)
    });
    let looks_per_day = boards.looks_per_day;
    let follows_rate = looks_per_day.is_none() && !spans.has("revisit_minutes");
    BoardRules { rows, row_link, row_time, offset_s, looks_per_day, follows_rate, policy: boards.schedule }
}

fn rate(file: &SiteFile) -> Rate {
    let rate = &file.rate;
    let is_unlimited = rate.requests_per_second >= 1_000_000.0;
    // The schema limits the rate to 0.0001..=1000000.
    let by_rate = if is_unlimited { Duration::ZERO } else { Duration::from_secs_f64(1.0 / rate.requests_per_second) };
    Rate {
        interval: by_rate.max(Duration::from_millis(rate.delay_ms)),
        connections: rate.connections,
        rest_factor: rate.rest_factor.unwrap_or(if is_unlimited { 0.0 } else { 1.0 }),
        timeout: Duration::from_secs(rate.timeout_seconds.into()),
    }
}

fn quiet_hours(faults: &mut Faults, spans: &Spans, file: &SiteFile) -> Hours {
    let rate = &file.rate;
    let mut quiet = Vec::new();
    for (index, text) in rate.quiet_hours.iter().enumerate() {
        match hours::window(text) {
            Some(window) => quiet.push(window),
            None => {
                let key = format!("rate.quiet_hours[{index}]");
                let hint = "write it as 22:30-06:00".to_owned();
                faults.add(spans.value(&key), &key, format!("`{text}` is not a range of hours"), Some(hint));
            }
        }
    }
    let offset_minutes = rate.utc_offset.as_deref().map_or(Some(0), hours::offset).unwrap_or_else(|| {
        let hint = "write it as +08:00, at most 14 hours from UTC, in quarters of an hour".to_owned();
        let message = format!("`{}` is not an offset from UTC", rate.utc_offset.as_deref().unwrap_or_default());
        faults.add(spans.value("rate.utc_offset"), "rate.utc_offset", message, Some(hint));
        0
    });
    let hours = Hours { quiet, offset_minutes };
    if hours.is_always_quiet() {
        let hint = "leave some hours, or write enabled = false".to_owned();
        faults.add(
            spans.value("rate.quiet_hours"),
            "rate.quiet_hours",
            "no minute of the day is left for crawling",
            Some(hint),
        );
    }
    hours
}

/// Origins, none of them the first host's own, none twice.
fn mirrors(faults: &mut Faults, spans: &Spans, mirrors: &[String], start: &[(usize, CrawlUrl)]) -> Vec<Box<str>> {
    let mut origins: Vec<Box<str>> = Vec::new();
    for (index, text) in mirrors.iter().enumerate() {
        let key = format!("mirrors[{index}]");
        secrets::hide_userinfo(faults, spans.value(&key), text);
        let mut fault = |message: String, hint: &str| {
            faults.add(spans.value(&key), &key, message, Some(hint.to_owned()));
        };
        match CrawlUrl::parse(text, &Canonical::default()) {
            Err(error) => {
                fault(format!("this is not the URL of a mirror: {error}"), "write it as https://mirror.example.net")
            }
            Ok(url) if url.path() != "/" => fault(
                format!("`{text}` names a path"),
                "write the origin alone: a mirror has the paths of the first host",
            ),
            Ok(url) if start.first().is_some_and(|(_, first)| first.origin() == url.origin()) => {
                fault(format!("`{text}` is the host of the first start URL itself"), "take it out");
            }
            Ok(url) if origins.iter().any(|origin| **origin == *url.origin()) => {
                fault(format!("`{text}` is listed twice"), "take one of them out");
            }
            Ok(url) => origins.push(url.origin().into()),
        }
    }
    origins
}

fn private_addresses(
    faults: &mut Faults,
    spans: &Spans,
    named: Option<&PrivateAddresses>,
    start: &[(usize, CrawlUrl)],
) -> PrivateAddresses {
    match named {
        None => PrivateAddresses::All(start.iter().any(|(_, url)| is_private(url))),
        Some(PrivateAddresses::Of(networks)) => {
            for (index, network) in networks.iter().enumerate() {
                if network.parse::<ipnet::IpNet>().is_err() && network.parse::<IpAddr>().is_err() {
                    let key = format!("private_addresses[{index}]");
                    let hint = "write it as 10.1.0.0/16 or fd00::/8, or 10.1.2.3 for one address".to_owned();
                    faults.add(spans.value(&key), &key, format!("`{network}` is not a network"), Some(hint));
                }
            }
            PrivateAddresses::Of(networks.clone())
        }
        Some(all) => all.clone(),
    }
}

/// The endpoints that a file pins; their URLs must be on the site's hosts. A family knows no hosts.
fn shortcuts(
    faults: &mut Faults,
    spans: &Spans,
    tables: &ShortcutTables,
    hosts: Option<&[Box<str>]>,
) -> Vec<(Class, Endpoint)> {
    let mut found = Vec::new();
    let tables = tables.iter().flat_map(|(class, pinned)| {
        let name = format!("shortcut.{}", class.name());
        let is_one = matches!(pinned, Pinned::One(_));
        let table = move |number| if is_one { name.clone() } else { format!("{name}[{number}]") };
        pinned.all().iter().enumerate().map(move |(number, written)| (class, table(number), written))
    });
    for (class, table, written) in tables {
        let mut fault = |key: &str, message: String, hint: String| {
            let key = format!("{table}.{key}");
            let span = if spans.has(&key) { spans.value(&key) } else { spans.key(&table) };
            faults.add(span, &key, message, Some(hint));
        };
        match written.endpoint() {
            Ok(endpoint) => {
                for origin in endpoint.origins() {
                    let authority = origin.split_once("://").map_or(origin.as_str(), |(_, authority)| authority);
                    let hint = match hosts {
                        Some(hosts) if owns(hosts, authority) => continue,
                        Some(_) => "add it to `hosts`, if it is the site's",
                        None => "write it from `/`; an interface on another host belongs in the site's own file",
                    };
                    fault("url", format!("`{authority}` is not a host of this site"), hint.to_owned());
                }
                found.push((*class, endpoint));
            }
            // The missing key has already been reported.
            Err(_) if written.url.is_empty() => {}
            Err(faults) => faults.into_iter().for_each(|(key, message, hint)| fault(&key, message, hint)),
        }
    }
    found
}

/// A lane does one visit at a time: who allows more connections than the two of everybody means that they are used.
fn lanes(faults: &mut Faults, spans: &Spans, file: &SiteFile) -> Lanes {
    let by_host = file.lane_key == Some(LaneKey::Host);
    if let Some(lanes) = file.lanes.filter(|lanes| *lanes > 1 && by_host) {
        let message = format!("{lanes} lanes keyed by the host are one lane");
        let hint = "write lane_key = \"xxh3\" or \"elf\", or take `lanes` out".to_owned();
        faults.add(spans.value("lanes"), "lanes", message, Some(hint));
    }
    let of_connections = Some(file.rate.connections).filter(|connections| *connections > 2 && !by_host);
    let count = file.lanes.or(of_connections.map(|lanes| lanes.min(UNWRITTEN_LANES_MAX))).unwrap_or(1);
    let usual = if count > 1 { LaneKey::Xxh3 } else { LaneKey::Host };
    let increment_min = if file.lanes.is_some() { 1 } else { count.div_ceil(2) };
    Lanes { key: file.lane_key.unwrap_or(usual), count, increment_min }
}

fn robots(faults: &mut Faults, spans: &Spans, file: &RobotsFile) -> Robots {
    if file.obey {
        return Robots::Obey;
    }
    let reason = file.reason.as_deref().unwrap_or_default().trim();
    if reason.is_empty() {
        let hint = "write why, as robots = { obey = false, reason = \"own server\" }".to_owned();
        let span = spans.value("robots.obey");
        faults.add(span, "robots.reason", "robots.txt is ignored, and no reason is given", Some(hint));
    }
    Robots::Ignore { reason: reason.into() }
}

/// Expressions of URLs that may act in the account's name, with the reason that they need.
fn allowed_actions(faults: &mut Faults, spans: &Spans, file: &AllowActionsFile) -> AllowedActions {
    let reason = file.reason.as_deref().unwrap_or_default().trim();
    if !file.urls.is_empty() && reason.is_empty() {
        let hint = "write why, as allow_actions = { urls = ['^/new-reports'], reason = \"a list\" }".to_owned();
        let message = "URLs may act in the account's name, and no reason is given";
        faults.add(spans.value("allow_actions.urls"), "allow_actions.reason", message, Some(hint));
    }
    AllowedActions { urls: expressions(faults, spans, "allow_actions.urls", &file.urls), reason: reason.into() }
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
    /// Words that mark a secret when they are a whole word of the name: `X-Auth`, but not `X-Author`.
    const WORDS: [&str; 6] = ["auth", "secret", "credentials", "bearer", "jwt", "session"];
    for (name, value) in &file.headers.0 {
        let key = format!("headers.{name}");
        let lower = name.to_ascii_lowercase();
        let has_word = lower.split(['-', '_']).any(|word| WORDS.contains(&word));
        let is_secret = has_word || SECRET.iter().any(|secret| lower.contains(secret)) || secrets::names_password(name);
        // A header without a secret-like name may still hold one, and the excerpt of a neighbouring fault would show it.
        faults.hide(spans.value(&key));
        let mut fault = |message: String, hint: &str| {
            faults.add(spans.key(&key), &key, message, Some(hint.to_owned()));
        };
        if is_secret {
            fault(format!("the header `{name}` holds a secret"), "take it out: secrets do not belong in rule files");
        } else if OWN.contains(&lower.as_str()) {
            fault(format!("the header `{name}` is the crawler's own"), "take it out");
        } else if reqwest::header::HeaderName::from_bytes(name.as_bytes()).is_err() {
            fault(format!("`{name}` is not the name of a header"), "use letters, digits and `-`");
        } else if reqwest::header::HeaderValue::from_str(value).is_err() {
            fault(format!("the value of `{name}` holds control characters"), "write it in one line");
        }
    }
    file.headers.0.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect()
}

fn proxy(faults: &mut Faults, spans: &Spans, text: Option<&str>) -> Option<Url> {
    let text = text?;
    let (message, hint) = match Url::parse(text) {
        Err(error) => {
            let shown = if secrets::may_have_userinfo(text) { "this" } else { &*format!("`{text}`") };
            (format!("{shown} is not a URL: {error}"), "write it as socks5://127.0.0.1:1080")
        }
        Ok(url) if !matches!(url.scheme(), "http" | "https" | "socks5" | "socks5h") => {
            (format!("`{}` is not a proxy scheme", url.scheme()), "write http, https, socks5 or socks5h")
        }
        Ok(url) if !url.username().is_empty() || url.password().is_some() => (
            "the proxy's URL contains a user name or password".to_owned(),
            "take them out: secrets do not belong in rule files",
        ),
        Ok(url) if url.host_str().is_none_or(str::is_empty) => {
            ("the proxy has no host".to_owned(), "write it as socks5://127.0.0.1:1080")
        }
        Ok(url) => return Some(url),
    };
    secrets::hide_userinfo(faults, spans.value("proxy"), text);
    faults.add(spans.value("proxy"), "proxy", message, Some(hint.to_owned()));
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
