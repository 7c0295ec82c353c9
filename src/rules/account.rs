//! The `[login]` table of a site file and of its families: as written → validated.

use url::Url;

use super::fault::Faults;
use super::file::{IndexMapOfStrings, JsonLoginFile, LoginFile};
use super::judge::{JsonLogin, LoginRules, owns};
use super::schema::Spans;
use crate::url::{Canonical, CrawlUrl};

/// A site's own table and what its families say.
pub(super) struct Tables<'a> {
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
        let stays = joined.is_ok_and(|url| url.host_str() == Some("family.invalid"));
        if !stays {
            let hint = "write it as it stands behind the host, as /login.php".to_owned();
            faults.add(spans.value(&key), &key, format!("`{text}` is no path: families have no host"), Some(hint));
        }
    }
    shapes(faults, spans, login);
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
    shapes(faults, spans, own);
    let base = start.and_then(|start| start.to_url().ok());
    let mut url = |key: &str, own: Option<&str>, inherited: Option<&str>| match own {
        Some(text) => placed(faults, spans, &format!("login.{key}"), text, hosts, base.as_ref()),
        // The families have been checked: it can only be missing where the start URL is.
        None => base
            .as_ref()?
            .join(inherited?)
            .ok()
            .and_then(|url| CrawlUrl::parse(url.as_str(), &Canonical::default()).ok()),
    };
    let all = merged(own, tables.inherited);
    let page = url("page", own.page.as_deref(), all.page.as_deref());
    let probe = url("probe", own.probe.as_deref(), all.probe.as_deref());
    let own_json = own.json.as_ref().map(|json| json.url.as_str());
    let json = all.json.as_ref().and_then(|json| {
        Some(JsonLogin {
            url: url("json.url", own_json, Some(&json.url))?,
            user: json.user.as_deref().unwrap_or("username").into(),
            password: json.password.as_deref().unwrap_or("password").into(),
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

/// A URL of the site's own hosts; a path is one of the first start URL's host.
fn placed(
    faults: &mut Faults,
    spans: &Spans,
    key: &str,
    text: &str,
    hosts: &[Box<str>],
    base: Option<&Url>,
) -> Option<CrawlUrl> {
    let whole = base.filter(|_| text.starts_with('/')).and_then(|base| base.join(text).ok());
    // Sessions and tokens of such URLs are the site's business: nothing is dropped from them.
    match CrawlUrl::parse(whole.as_ref().map_or(text, Url::as_str), &Canonical::default()) {
        Ok(url) if owns(hosts, url.authority()) => return Some(url),
        Ok(url) => {
            let message =
                format!("`{}` is no host of this site: the password goes to its own hosts alone", url.authority());
            faults.add(spans.value(key), key, message, Some("add it to `hosts`, if it is the site's".to_owned()));
        }
        // Without a start URL, which has a fault of its own, a path is nowhere.
        Err(_) if base.is_none() && text.starts_with('/') => {}
        Err(error) => {
            let hint = "write the whole URL, as https://example.org/login".to_owned();
            faults.add(spans.value(key), key, format!("`{text}` is no URL: {error}"), Some(hint));
        }
    }
    None
}

/// What is wrong with a table wherever it stands.
fn shapes(faults: &mut Faults, spans: &Spans, login: &LoginFile) {
    for name in login.fields.0.keys() {
        let is_password = login.password_field.as_deref() == Some(name)
            || ["pass", "pwd", "secret"].iter().any(|word| name.to_ascii_lowercase().contains(word));
        if is_password {
            let key = format!("login.fields.{name}");
            let hint = "take it out: the password comes from a credential, see docs/login.md".to_owned();
            faults.add(spans.key(&key), &key, format!("the field `{name}` looks like a password's"), Some(hint));
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
