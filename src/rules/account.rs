//! The `[login]` table of a site file and of its families: as written → validated.

use std::collections::BTreeMap;

use url::Url;

use super::fault::Faults;
use super::file::{IndexMapOfStrings, JsonLoginFile, LoginFile};
use super::judge::{JsonLogin, LoginRules, mark, owns};
use super::schema::Spans;
use super::secrets;
use crate::limits::FIELD_NAME_BYTES_MAX;
use gleaner_base::url::{Canonical, CrawlUrl, UrlFault};

/// A site's own table and the one inherited from its families.
pub(super) struct Tables<'a> {
    /// The site's name.
    pub site: &'a str,
    pub own: &'a LoginFile,
    pub inherited: &'a LoginFile,
    /// False if the file is not valid TOML: a missing key may then only be lost.
    pub is_toml: bool,
}

/// Merges both tables; `own` wins over `elder`.
pub(super) fn merged(own: &LoginFile, elder: &LoginFile) -> LoginFile {
    let mut fields = elder.fields.0.clone();
    fields.extend(own.fields.0.clone());
    LoginFile {
        user: own.user.clone(),
        page: own.page.clone().or_else(|| elder.page.clone()),
        probe: own.probe.clone().or_else(|| elder.probe.clone()),
        form: own.form.or(elder.form),
        user_field: own.user_field.clone().or_else(|| elder.user_field.clone()),
        password_field: own.password_field.clone().or_else(|| elder.password_field.clone()),
        fields: IndexMapOfStrings(fields),
        json: own.json.clone().or_else(|| elder.json.clone()),
    }
}

/// Checks a family's table, which has no base URL and no user.
pub(super) fn conventions(faults: &mut Faults, spans: &Spans, login: &LoginFile) -> LoginFile {
    if login.user.is_some() {
        let hint = "take it out: each site's own file names its account".to_owned();
        faults.add(spans.key("login.user"), "login.user", "a family has no account", Some(hint));
    }
    let json_url = login.json.as_ref().map(|json| json.url.as_str());
    for (key, text) in [("page", login.page.as_deref()), ("probe", login.probe.as_deref()), ("json.url", json_url)] {
        let (Some(text), key) = (text, format!("login.{key}")) else { continue };
        // A path stays on any host it is joined to; a whole URL, or one that begins with `//`, leaves it.
        let joined = Url::parse("http://family.invalid/").and_then(|base| base.join(text));
        let joined = joined.ok().filter(|url| url.host_str() == Some("family.invalid") && is_path(text, &[]));
        if let Some(url) = joined.as_ref().and_then(CrawlUrl::exact) {
            secrets::parameter(faults, spans.value(&key), &key, &url);
        } else if !text.is_empty() {
            let message = "this is not a path: families have no host";
            faults.add(spans.value(&key), &key, message, Some("write it as /login.php, or as login.php".to_owned()));
        }
    }
    shapes(faults, spans, login, None);
    agree(faults, spans, login, login);
    login.clone()
}

/// Checks a site's table and fills in what its families define. None if it has faults.
pub(super) fn login(
    faults: &mut Faults,
    spans: &Spans,
    tables: Tables<'_>,
    hosts: &[Box<str>],
    start: Option<&CrawlUrl>,
) -> Option<LoginRules> {
    let (before, own) = (faults.len(), tables.own);
    if tables.is_toml && own.user.is_none() && !spans.may_have("login.user") {
        let hint = "The account's name, or its e-mail address where the site asks for that.".to_owned();
        faults.add(spans.value("login"), "login", "the key `user` is missing in `login`", Some(hint));
    }
    shapes(faults, spans, own, Some(tables.site));
    let base = start.and_then(|start| start.to_url().ok());
    let all = merged(own, tables.inherited);
    agree(faults, spans, own, &all);
    let mut url = |key: &str, own: Option<&str>, inherited: Option<&str>| match own {
        Some(text) => placed(faults, spans, &format!("login.{key}"), text, hosts, base.as_ref()),
        // The families have been checked: only a missing start URL can leave this empty.
        None => base
            .as_ref()?
            .join(inherited?)
            .ok()
            .and_then(|url| CrawlUrl::parse(url.as_str(), &Canonical::default()).ok()),
    };
    let page = url("page", own.page.as_deref(), all.page.as_deref());
    let probe = url("probe", own.probe.as_deref(), all.probe.as_deref());
    let own_json = own.json.as_ref().map(|json| json.url.as_str());
    let json = all.json.as_ref().and_then(|json| {
        Some(JsonLogin {
            url: url("json.url", own_json, Some(&json.url))?,
            user: json.user.as_deref().unwrap_or(JSON_USER).into(),
            password: json.password.as_deref().unwrap_or(JSON_PASSWORD).into(),
            token: json.token.as_str().into(),
        })
    });
    (faults.len() == before).then(|| LoginRules {
        user: all.user.unwrap_or_default().into(),
        page,
        probe,
        form: all.form.map(|place| usize::from(place) - 1),
        user_field: all.user_field.map(Into::into),
        password_field: all.password_field.map(Into::into),
        fields: all.fields.0.into_iter().map(|(name, value)| (name.into(), value.into())).collect(),
        json,
        way: way_of(own),
    })
}

/// A hash of a site's own table without its user: another user is another account. The hash is stored in files, so its format must
/// not change.
fn way_of(own: &LoginFile) -> u32 {
    let LoginFile { user: _, page, probe, form, user_field, password_field, fields, json } = own;
    let fields: BTreeMap<&String, &String> = fields.0.iter().collect();
    let json = json.as_ref().map(|json| (&json.url, &json.user, &json.password, &json.token));
    let table = serde_json::json!([page, probe, form, user_field, password_field, fields, json]);
    mark(&table.to_string())
}

/// Resolves a URL on one of the site's own hosts: a whole URL, or a path relative to the first start page.
fn placed(
    faults: &mut Faults,
    spans: &Spans,
    key: &str,
    text: &str,
    hosts: &[Box<str>],
    base: Option<&Url>,
) -> Option<CrawlUrl> {
    const HINT: &str =
        "write it as /login.php, as login.php (relative to the first start URL), or as https://example.org/login.php";
    let (span, is_path) = (spans.value(key), is_path(text, hosts));
    let whole = base.filter(|_| is_path).and_then(|base| base.join(text).ok());
    // Session ids and tokens in such URLs belong to the site: no parameter is dropped.
    let (message, hint) = match CrawlUrl::parse(whole.as_ref().map_or(text, Url::as_str), &Canonical::default()) {
        Ok(url) if owns(hosts, url.authority()) => {
            secrets::parameter(faults, span, key, &url);
            return Some(url);
        }
        Ok(url) => (
            format!("`{}` is not a host of this site: the password only goes to its own hosts", url.authority()),
            "add it to `hosts`, if it is the site's",
        ),
        // Without a start URL (which is a fault of its own) a path cannot be resolved.
        Err(_) if base.is_none() && is_path => return None,
        Err(UrlFault::Syntax(_)) => ("this is neither a whole URL nor a path".to_owned(), HINT),
        Err(error) => (format!("this cannot be requested: {error}"), HINT),
    };
    faults.add(span, key, message, Some(hint.to_owned()));
    None
}

/// True for a path as links contain it: `/login.php`, `login.php?do=in`, `../in`. A host without its scheme
/// (`example.org/login`) is syntactically a path too, but is never meant as one.
fn is_path(text: &str, hosts: &[Box<str>]) -> bool {
    /// File extensions that mark a path; no host ends in them.
    const SCRIPTS: [&str; 7] = ["php", "asp", "aspx", "jsp", "cgi", "html", "htm"];
    if text.is_empty() || text.contains(char::is_whitespace) {
        return false;
    }
    let first = text.split(['/', '?', '#']).next().unwrap_or_default();
    let last_label = first.rsplit('.').next().unwrap_or_default();
    let is_domain = first.contains('.')
        && last_label.len() >= 2
        && last_label.bytes().all(|byte| byte.is_ascii_alphabetic())
        && !SCRIPTS.iter().any(|script| last_label.eq_ignore_ascii_case(script));
    let is_host = first.parse::<std::net::IpAddr>().is_ok()
        || first.starts_with("www.")
        || hosts.iter().any(|host| host.eq_ignore_ascii_case(first))
        || is_domain && text[first.len()..].starts_with('/');
    // Text in front of a colon is a scheme, or a host with its port.
    !is_host && !first.contains(':')
}

/// Characters other than letters and digits in field names that software generates: `user[name]`, `ctl00$user`, `j_id1:user`.
const OF_FIELDS: &str = "_-.:[]$/";

/// The same for members of JSON objects.
const OF_MEMBERS: &str = "_-.$";

/// True for a plausible field name. Anything else may be the value that was meant for the field.
fn is_name(text: &str, others: &str) -> bool {
    text.len() <= FIELD_NAME_BYTES_MAX && text.chars().all(|of| of.is_alphanumeric() || others.contains(of))
}

/// Reports values that are not field names, without showing them: they may be the password itself.
fn names(faults: &mut Faults, spans: &Spans, login: &LoginFile, site: Option<&str>) {
    let json = login.json.as_ref();
    let named = [
        ("user_field", login.user_field.as_deref(), OF_FIELDS, "field"),
        ("password_field", login.password_field.as_deref(), OF_FIELDS, "field"),
        ("json.user", json.and_then(|json| json.user.as_deref()), OF_MEMBERS, "member"),
        ("json.password", json.and_then(|json| json.password.as_deref()), OF_MEMBERS, "member"),
    ];
    let place = site.map_or_else(|| secrets::HINT.to_owned(), secrets::hint);
    for (key, name, others, what) in named {
        if name.is_none_or(|name| is_name(name, others)) {
            continue;
        }
        let key = format!("login.{key}");
        let message = format!("this is not a name: write the name of the {what}, not its value");
        let hint = format!("write the {what}'s name, as `password`. If this is a secret, {place}");
        faults.add(spans.value(&key), &key, message, Some(hint));
    }
    for name in login.fields.0.keys().filter(|name| !is_name(name, OF_FIELDS)) {
        let key = format!("login.fields.{name}");
        let span = spans.key(&key);
        faults.hide(span.clone());
        let hint = format!("write the field's name. If this is a secret, {place}");
        faults.add(span, "login.fields", "this is not the name of a field", Some(hint));
    }
}

/// Checks the shape of a table; `site` is None for a family's.
fn shapes(faults: &mut Faults, spans: &Spans, login: &LoginFile, site: Option<&str>) {
    names(faults, spans, login, site);
    for name in login.fields.0.keys().filter(|name| is_name(name, OF_FIELDS)) {
        let key = format!("login.fields.{name}");
        let lower = name.to_ascii_lowercase();
        let has = |words: &[&str]| words.iter().any(|word| lower.contains(word));
        let is_password = login.password_field.as_deref() == Some(name) || secrets::names_password(name);
        // The fields of a security question and its answer hold the texts that the form expects; no other field takes them.
        let is_question = !is_password && has(&["question", "answer"]);
        if is_password {
            let message = format!("the field `{name}` looks like a password's: secrets do not belong in rule files");
            let place = site.map_or_else(|| secrets::HINT.to_owned(), secrets::hint);
            let hint = format!("{place}; the form's field for it is found, or named by `password_field`");
            faults.add(spans.key(&key), &key, message, Some(hint));
        } else if has(&["secret"]) && !is_question {
            let message = format!("the field `{name}` looks like a secret: secrets do not belong in rule files");
            let how = match site {
                Some(site) => {
                    format!("log in with a browser, then run: gleaner login {site} --cookies cookies.txt")
                }
                None => {
                    "log in to each site of the family with a browser, and import its session (`gleaner login` with --cookies, see \
                         docs/guide/members.md)"
                        .to_owned()
                }
            };
            let hint = format!(
                "take it out: fields that the page's form has already are sent as they are; if more is needed, {how}"
            );
            faults.add(spans.key(&key), &key, message, Some(hint));
        }
    }
    if let Some(JsonLoginFile { token, .. }) = &login.json
        && !token.starts_with('/')
        && !token.is_empty()
    {
        let hint = "write it as /data/token".to_owned();
        faults.add(spans.value("login.json.token"), "login.json.token", "this is not a JSON pointer", Some(hint));
    }
}

/// Reports contradictions that appear once the families are merged, at keys of the site's own file.
fn agree(faults: &mut Faults, spans: &Spans, own: &LoginFile, all: &LoginFile) {
    let user_key = if own.user_field.is_some() { "login.user_field" } else { "login.password_field" };
    let is_own = own.user_field.is_some() || own.password_field.is_some();
    if all.user_field.is_some() && is_own && all.user_field == all.password_field {
        let message = "one field cannot take both the user's name and the password";
        let hint = "name two fields, or take the keys out: they are found on the page".to_owned();
        faults.add(spans.value(user_key), user_key, message, Some(hint));
    }
    if all.json.is_none() {
        return;
    }
    let names = own.json.as_ref().map(|json| (json.user.as_deref().unwrap_or(JSON_USER), json.password.as_deref()));
    if let Some((user, password)) = names
        && user == password.unwrap_or(JSON_PASSWORD)
    {
        let key = if password.is_some() { "login.json.password" } else { "login.json.user" };
        let message = "one member cannot take both the user's name and the password";
        faults.add(spans.value(key), key, message, Some("name the two members that the site reads".to_owned()));
    }
    let of_a_form = [
        ("page", own.page.is_some()),
        ("form", own.form.is_some()),
        ("user_field", own.user_field.is_some()),
        ("password_field", own.password_field.is_some()),
    ];
    for (name, _) in of_a_form.into_iter().filter(|(_, is_there)| *is_there) {
        let whose = if own.json.is_some() { "" } else { " of its family" };
        let message = format!("`{name}` applies to forms, but `json`{whose} logs in without one");
        let hint = "take one of them out; `json` has its own `user` and `password`".to_owned();
        let key = format!("login.{name}");
        faults.add(spans.key(&key), &key, message, Some(hint));
    }
}

/// Members of a JSON login if the file names none.
const JSON_USER: &str = "username";
const JSON_PASSWORD: &str = "password";
