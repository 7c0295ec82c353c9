//! Secrets that were written into a rule file against the rules: reported as a fault of their own, and never shown.
//!
//! They are masked in the text that all faults of the file share, so that no excerpt of the line shows them.

use std::ops::Range;
use std::sync::LazyLock;

use regex::Regex;
use toml::de::DeValue;

use super::fault::{Faults, nearest};
use gleaner_base::url::CrawlUrl;

/// Replaces a secret in an excerpt; its length does not depend on the secret.
pub(super) const MASK: &str = "••••••";

/// Keys that can only mean a secret if the schema does not know them.
const KEYS: [&str; 10] = [
    "password",
    "passwort",
    "passphrase",
    "passwd",
    "pass",
    "pwd",
    "user_password",
    "login_password",
    "secret",
    "token",
];

/// True for an unknown key of the table `path` that means a secret, including misspelt keys of a login.
pub(super) fn is_meant(path: &str, name: &str, known: &[&str]) -> bool {
    if KEYS.iter().any(|key| name.eq_ignore_ascii_case(key)) {
        return path.is_empty() || path == "login" || path.starts_with("login.");
    }
    let meant = nearest(name, KEYS.into_iter().chain(known.iter().copied()));
    path == "login" && meant.is_some_and(|meant| KEYS.contains(&meant))
}

// Names of password fields, and words in them.
gleaner_base::topics! { name: PASSWORD_PARTS, PASSWORD_NAMES, PASSWORD_WORDS; }

/// True for a field name that means a password. Capitals, digits and separators split it into words: `userPw`, `login_pw2`.
pub(super) fn names_password(name: &str) -> bool {
    let mut parted = String::with_capacity(name.len() + 4);
    let mut was_lower = false;
    for of in name.chars() {
        if was_lower && of.is_uppercase() {
            parted.push(' ');
        }
        was_lower = of.is_lowercase();
        let of = if of.is_alphabetic() { of } else { ' ' };
        parted.extend(of.to_lowercase());
    }
    let joined: String = parted.split(' ').collect();
    let means = |word: &str| PASSWORD_WORDS.has(word) || PASSWORD_PARTS.are_in(word);
    PASSWORD_NAMES.are_in(&joined) || parted.split(' ').any(means)
}

/// Names that sites give to fields; not secret.
const NAMES: [&str; 14] = [
    "user",
    "username",
    "user_name",
    "login",
    "name",
    "uname",
    "email",
    "mail",
    "pass",
    "passwd",
    "password",
    "pwd",
    "vb_login_username",
    "vb_login_password",
];

/// True for a value of an account's key that cannot be a secret, so that a fault may show it: a small number, yes or no, a URL
/// without parameters, a usual field name.
pub(super) fn is_harmless(key: &str, value: &DeValue<'_>) -> bool {
    match value {
        DeValue::Boolean(_) => true,
        DeValue::Integer(number) => number.as_str().len() <= 3,
        DeValue::String(text) => match key.strip_prefix("login.") {
            Some("page" | "probe" | "json.url") => {
                let is_plain = |of: char| of.is_ascii_alphanumeric() || "/.:-_".contains(of);
                let starts = ["/", "http://", "https://"].iter().any(|start| text.starts_with(start));
                starts && text.chars().all(is_plain)
            }
            Some("user_field" | "password_field" | "json.user" | "json.password") => NAMES.contains(&text.as_ref()),
            _ => false,
        },
        _ => false,
    }
}

/// Where a password belongs, if its site is unknown.
pub(super) const HINT: &str = "take it out: docs/guide/members.md says where the password of each site belongs";

/// Where the password of this site belongs.
pub(super) fn hint(site: &str) -> String {
    format!(
        "take it out, and write it into the file `secrets/{site}` of the data folder (chmod 600), or pass it as the \
         systemd credential `gleaner-{site}`"
    )
}

/// Values of keys that mean secrets, matched in the raw text: it may not be valid TOML, for example with an unquoted
/// password. A value without an end ends with its line.
pub(super) fn values(text: &str) -> Vec<Range<usize>> {
    static KEY: LazyLock<Regex> = LazyLock::new(|| {
        let key = format!(r#"(?im)(?:^|[\s{{,.])["']?(?:{})["']?[ \t]*=[ \t]*"#, KEYS.join("|"));
        // Only words and classes: it compiles.
        Regex::new(&key).unwrap_or_else(|error| unreachable!("{error}"))
    });
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(key) = KEY.find_at(text, at) {
        let value = key.end()..key.end() + value_bytes(&text[key.end()..]);
        at = value.end;
        found.push(value);
    }
    found
}

/// Text that follows the keys of an account's table in lines that are not valid TOML, and in the lines right below: a password
/// may be written in any form, under any name. `broken` are the positions of the syntax faults.
pub(super) fn broken_lines(text: &str, broken: &[usize]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let (mut start, mut is_login, mut is_below) = (0, false, false);
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_broken = broken.iter().any(|at| (start..end).contains(at) || (*at == text.len() && end == text.len()));
        let shown = line.trim();
        let is_header = shown.starts_with('[');
        if is_header {
            is_login = shown.contains("login");
        }
        if (is_broken || is_below) && !is_header && (is_login || shown.starts_with("login")) {
            let from = start + (line.len() - line.trim_start().len());
            const BETWEEN: [char; 4] = [':', '=', ' ', '\t'];
            let value = shown.find(BETWEEN).map_or(shown, |key| shown[key..].trim_start_matches(BETWEEN));
            found.push(from + shown.len() - value.len()..from + shown.len());
        }
        is_below = is_broken;
        start = end;
    }
    found
}

/// Length of the value at the start of a text.
fn value_bytes(text: &str) -> usize {
    for quotes in ["\"\"\"", "'''"] {
        if let Some(inner) = text.strip_prefix(quotes) {
            return inner.find(quotes).map_or(text.len(), |end| end + 2 * quotes.len());
        }
    }
    let line = text.lines().next().unwrap_or_default();
    let Some(quote) = line.chars().next().filter(|first| matches!(first, '"' | '\'')) else { return line.len() };
    let mut is_escaped = false;
    for (at, of) in line.char_indices().skip(1) {
        if of == quote && !is_escaped {
            return at + 1;
        }
        is_escaped = quote == '"' && of == '\\' && !is_escaped;
    }
    line.len()
}

/// User names and passwords in front of hosts, anywhere in the text: an excerpt shows whole lines. A password may have
/// any character except blanks and quotes.
pub(super) fn userinfo(text: &str) -> Vec<Range<usize>> {
    static USERINFO: LazyLock<Regex> = LazyLock::new(|| {
        let of_url = r#"//([^\s"'/@]*@|[^\s"'/@:]*:[^\s"']*@)"#;
        let of_host = r#"["']([^\s"'/@:]*:[^\s"'/][^\s"']*@)"#;
        // Only classes: it compiles.
        Regex::new(&format!("{of_url}|{of_host}")).unwrap_or_else(|error| unreachable!("{error}"))
    });
    let found = USERINFO.captures_iter(text).filter_map(|found| found.get(1).or_else(|| found.get(2)));
    found.map(|found| found.range()).collect()
}

/// True for a host, or a URL, that may have a password in front of the host or instead of it: `anna:hunter2@host`, `anna:hunter2`.
pub(super) fn may_have_userinfo(text: &str) -> bool {
    let behind_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    let port = behind_scheme.split(['/', '?', '#']).next().and_then(|authority| authority.rsplit_once(':'));
    let is_port = |port: &str| port.ends_with(']') || port.bytes().all(|byte| byte.is_ascii_digit());
    text.contains('@') || port.is_some_and(|(_, port)| !is_port(port))
}

/// Hides a URL, or a malformed one, that has a user name or a password in front of its host.
pub(super) fn hide_userinfo(faults: &mut Faults, span: Range<usize>, text: &str) {
    let behind_scheme = text.split_once("://").map_or(text, |(_, rest)| rest);
    if behind_scheme.split(['/', '?', '#']).next().is_some_and(|authority| authority.contains('@')) {
        faults.hide(span);
    }
}

/// Reports URL parameters that hold a secret and hides the URL.
pub(super) fn parameter(faults: &mut Faults, span: Range<usize>, key: &str, url: &CrawlUrl) {
    const SECRET: [&str; 7] = ["passkey", "torrent_pass", "authkey", "rsskey", "apikey", "api_key", "access_token"];
    // A `token` in a link may be harmless.
    let is_secret = |name: &str| {
        let words = KEYS.iter().filter(|key| **key != "token").chain(&SECRET);
        words.into_iter().any(|secret| name.eq_ignore_ascii_case(secret))
    };
    let query = url.path().split_once('?').map_or("", |(_, query)| query);
    let names = query.split(['&', ';']).map(|parameter| parameter.split('=').next().unwrap_or_default());
    for name in names.filter(|name| is_secret(name)) {
        let hint = "take it out: secrets do not belong in rule files".to_owned();
        faults.add(span.clone(), key, format!("the parameter `{name}` holds a secret"), Some(hint));
        faults.hide(span.clone());
    }
}

#[cfg(test)]
mod tests;
