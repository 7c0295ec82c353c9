//! The `[login]` table of a site file: as written → validated; and which URLs a site with an account must not be asked
//! for, because they end its session.

use super::fault::Faults;
use super::file::LoginFile;
use super::judge::{LoginRules, owns};
use super::schema::Spans;
use crate::url::{Canonical, CrawlUrl};

/// Checks the table; None where it has faults.
pub(super) fn login(faults: &mut Faults, spans: &Spans, login: &LoginFile, hosts: &[Box<str>]) -> Option<LoginRules> {
    let before = faults.len();
    let mut url = |key: &str, text: Option<&str>| {
        let (text, key) = (text?, format!("login.{key}"));
        // Sessions and tokens of such URLs are the site's business: nothing is dropped from them.
        match CrawlUrl::parse(text, &Canonical::default()) {
            Ok(url) if owns(hosts, url.authority()) => return Some(url),
            Ok(url) => {
                let message =
                    format!("`{}` is no host of this site: the password goes to its own hosts alone", url.authority());
                faults.add(spans.value(&key), &key, message, Some("add it to `hosts`, if it is the site's".to_owned()));
            }
            Err(error) => {
                let hint = "write the whole URL, as https://example.org/login".to_owned();
                faults.add(spans.value(&key), &key, format!("`{text}` is no URL: {error}"), Some(hint));
            }
        }
        None
    };
    let (page, probe) = (url("page", login.page.as_deref()), url("probe", login.probe.as_deref()));
    for name in login.fields.0.keys() {
        let is_password = login.password_field.as_deref() == Some(name)
            || ["pass", "pwd", "secret"].iter().any(|word| name.to_ascii_lowercase().contains(word));
        if is_password {
            let key = format!("login.fields.{name}");
            let hint = "take it out: the password comes from a credential, see docs/login.md".to_owned();
            faults.add(spans.key(&key), &key, format!("the field `{name}` looks like a password's"), Some(hint));
        }
    }
    (faults.len() == before).then(|| LoginRules {
        user: login.user.as_str().into(),
        page,
        probe,
        form: login.form.map(|place| usize::from(place) - 1),
        user_field: login.user_field.as_deref().map(Into::into),
        password_field: login.password_field.as_deref().map(Into::into),
        fields: login.fields.0.iter().map(|(name, value)| (name.as_str().into(), value.as_str().into())).collect(),
    })
}

/// Words of a URL that ends the session: a path segment, a key or a value of the query.
const LOG_OUT: [&str; 7] = ["logout", "logoff", "signout", "sign_out", "sign-out", "log_out", "log-out"];

/// True for a URL, or a reference, that by its words ends the session: `member.php?mod=logging&action=logout`,
/// `ucp.php?mode=logout&sid=…`, `/user/sign-out/17`, `logout.php`.
#[must_use]
pub fn ends_session(reference: &str) -> bool {
    let is_word = |part: &str| {
        let part = part.split('.').next().unwrap_or_default();
        let part = part.trim_matches(|of: char| !of.is_alphanumeric());
        LOG_OUT.iter().any(|word| part.eq_ignore_ascii_case(word))
    };
    reference.split('#').next().unwrap_or_default().split(['/', '?', '&', '=', ';', ':']).any(is_word)
}
