//! The `[login]` table of a site file and of its families: as written → validated.

use url::Url;

use super::fault::Faults;
use super::file::{IndexMapOfStrings, JsonLoginFile, LoginFile};
use super::judge::{JsonLogin, LoginRules, owns};
use super::schema::Spans;
use super::secrets;
use crate::url::{Canonical, CrawlUrl, UrlFault};

/// A site's own table and what its families say.
pub(super) struct Tables<'a> {
    /// The site's name.
    pub site: &'a str,
    pub own: &'a LoginFile,
    pub inherited: &'a LoginFile,
    /// False where the file is no TOML: then a missing key may only have been lost.
    pub is_toml: bool,
}

/// What both say; where both say it, `own` wins.
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

/// Checks a family's table, which has no place yet and no user.
pub(super) fn conventions(faults: &mut Faults, spans: &Spans, login: &LoginFile) -> LoginFile {
    if login.user.is_some() {
        let hint = "take it out: each site's own file names its account".to_owned();
        faults.add(spans.key("login.user"), "login.user", "a family has no account", Some(hint));
    }
    let json_url = login.json.as_ref().map(|json| json.url.as_str());
    for (key, text) in [("page", login.page.as_deref()), ("probe", login.probe.as_deref()), ("json.url", json_url)] {
        // A path joined to any host stays there; a whole URL, or one that begins with `//`, leads away.
        let (text, key) = (text.unwrap_or_default(), format!("login.{key}"));
        let joined = Url::parse("http://family.invalid/").and_then(|base| base.join(text));
        let joined = joined.ok().filter(|url| url.host_str() == Some("family.invalid"));
        if let Some(url) = joined.as_ref().and_then(CrawlUrl::exact) {
            secrets::parameter(faults, spans.value(&key), &key, &url);
        } else {
            secrets::hide_userinfo(faults, spans.value(&key), text);
            let hint = "write it as it stands behind the host, as /login.php".to_owned();
            faults.add(
                spans.value(&key),
                &key,
                format!("{} is no path: families have no host", shown(text)),
                Some(hint),
            );
        }
    }
    shapes(faults, spans, login, secrets::HINT);
    agree(faults, spans, login, login);
    login.clone()
}

/// Checks a site's table and fills it up from its families; None where it has faults.
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
    shapes(faults, spans, own, &secrets::hint(tables.site));
    let base = start.and_then(|start| start.to_url().ok());
    let all = merged(own, tables.inherited);
    agree(faults, spans, own, &all);
    let mut url = |key: &str, own: Option<&str>, inherited: Option<&str>| match own {
        Some(text) => placed(faults, spans, &format!("login.{key}"), text, hosts, base.as_ref()),
        // The families have been checked: it can only be missing where the start URL is.
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
    })
}

/// A URL of the site's own hosts; what begins with `/` is one of the first start URL's host. A path without that is
/// none: `example.org/login` with its scheme forgotten would be one, too.
fn placed(
    faults: &mut Faults,
    spans: &Spans,
    key: &str,
    text: &str,
    hosts: &[Box<str>],
    base: Option<&Url>,
) -> Option<CrawlUrl> {
    let (span, is_path) = (spans.value(key), text.starts_with('/'));
    let whole = base.filter(|_| is_path).and_then(|base| base.join(text).ok());
    // Sessions and tokens of such URLs are the site's business: nothing is dropped from them.
    let (message, hint) = match CrawlUrl::parse(whole.as_ref().map_or(text, Url::as_str), &Canonical::default()) {
        Ok(url) if owns(hosts, url.authority()) => {
            secrets::parameter(faults, span, key, &url);
            return Some(url);
        }
        Ok(url) => (
            format!("`{}` is no host of this site: the password goes to its own hosts alone", url.authority()),
            "add it to `hosts`, if it is the site's",
        ),
        // Without a start URL, which has a fault of its own, a path is nowhere.
        Err(_) if base.is_none() && is_path => return None,
        Err(UrlFault::Syntax(_)) => (
            format!("{} is neither a whole URL nor a path that begins with `/`", shown(text)),
            "write it as /login.php, or as https://example.org/login.php",
        ),
        Err(error) => (
            format!("{} cannot be asked for: {error}", shown(text)),
            "write it as /login.php, or as https://example.org/login.php",
        ),
    };
    secrets::hide_userinfo(faults, span.clone(), text);
    faults.add(span, key, message, Some(hint.to_owned()));
    None
}

/// What was to be a URL, as it may be told: without what stands in front of a host.
fn shown(text: &str) -> String {
    if text.contains('@') { "this".to_owned() } else { format!("`{text}`") }
}

/// What is wrong with a table wherever it stands; `hint` tells where its password belongs.
fn shapes(faults: &mut Faults, spans: &Spans, login: &LoginFile, hint: &str) {
    for name in login.fields.0.keys() {
        let is_password = login.password_field.as_deref() == Some(name)
            || ["pass", "pwd", "secret"].iter().any(|word| name.to_ascii_lowercase().contains(word));
        if is_password {
            let key = format!("login.fields.{name}");
            let message = format!("the field `{name}` looks like a password's: secrets do not belong in rule files");
            faults.add(spans.key(&key), &key, message, Some(hint.to_owned()));
            faults.hide(spans.value(&key));
        }
    }
    if let Some(JsonLoginFile { token, .. }) = &login.json
        && !token.starts_with('/')
        && !token.is_empty()
    {
        let hint = "write it as /data/token".to_owned();
        faults.add(
            spans.value("login.json.token"),
            "login.json.token",
            format!("`{token}` is no JSON pointer"),
            Some(hint),
        );
    }
}

/// What contradicts itself once the families have been added. Faults stand at keys of the file's own.
fn agree(faults: &mut Faults, spans: &Spans, own: &LoginFile, all: &LoginFile) {
    let user_key = if own.user_field.is_some() { "login.user_field" } else { "login.password_field" };
    let is_own = own.user_field.is_some() || own.password_field.is_some();
    if let (Some(user), true) = (&all.user_field, is_own && all.user_field == all.password_field) {
        let message = format!("the field `{user}` cannot take both the user's name and the password");
        let hint = "name two fields, or take the keys out: they are found on the page".to_owned();
        faults.add(spans.value(user_key), user_key, message, Some(hint));
    }
    let Some(json) = &all.json else { return };
    let names = own.json.as_ref().map(|json| (json.user.as_deref().unwrap_or(JSON_USER), json.password.as_deref()));
    if let Some((user, password)) = names
        && user == password.unwrap_or(JSON_PASSWORD)
    {
        let key = if password.is_some() { "login.json.password" } else { "login.json.user" };
        let message = format!("the member `{user}` cannot take both the user's name and the password");
        let hint = format!("name the two members that {} reads", json.url);
        faults.add(spans.value(key), key, message, Some(hint));
    }
    let of_a_form = [
        ("page", own.page.is_some()),
        ("form", own.form.is_some()),
        ("user_field", own.user_field.is_some()),
        ("password_field", own.password_field.is_some()),
    ];
    for (name, _) in of_a_form.into_iter().filter(|(_, is_there)| *is_there) {
        let whose = if own.json.is_some() { "" } else { " of its family" };
        let message = format!("`{name}` is about a form, and `json`{whose} logs in without one");
        let hint = "take one of them out; `json` has its own `user` and `password`".to_owned();
        let key = format!("login.{name}");
        faults.add(spans.key(&key), &key, message, Some(hint));
    }
}

/// Members of a login by JSON where the file names none.
const JSON_USER: &str = "username";
const JSON_PASSWORD: &str = "password";
