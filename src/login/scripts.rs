//! Detects forms that are sent by scripts, and describes what they send.
//!
//! Most login forms need no script, and are sent without one. Signs of those that do: what `fill` rejects (no action
//! and no method, fields without names or without a form, a button that only scripts listen to), a handler that
//! hashes or does more than validate the input, and page scripts that hash or encrypt, by their names or calls. A
//! sign costs a render; nothing is sent for it.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::Value;

use super::fields::{own_words, roles};
use super::form::{Form, Kind};
use super::hashing;
use super::mask::Mask;
use super::secret::{MASK, told};
use super::words::Topic;
use crate::limits::CONTROLS_PER_FORM_MAX;

/// Scripts with their tags and texts.
static SCRIPTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?is)<script\b([^>]*)>(.*?)</script").expect("the expression is constant and tested")
});

/// A library that hashes or encrypts, by its file name.
static LIBRARY: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)\bsrc\s*=\s*["']?[^"'\s>]*?(?:^|[/="'._-])(?:md5|sha-?\d+|rsa|aes|jsencrypt|crypto(?:-js)?|bcrypt|(?:de|en)crypt\w*)(?:[/._-]|["'\s]|$)"#)
        .expect("the expression is constant and tested")
});

/// A call that hashes or encrypts.
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b(?:(?:hex_|b64_|str_)?(?:md5|MD5|sha1|SHA1|sha256|SHA256|sha512|SHA512)|CryptoJS|JSEncrypt|RSAKey|encryptedString|crypto\.subtle)\s*[.(]")
        .expect("the expression is constant and tested")
});

/// Calls of a handler, its writes to fields, and handlers that always block the form.
static ACTS: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"([A-Za-z_$][\w$.]*)\s*\(|\.value\s*=[^=]|^\s*return\s+false\b")
        .expect("the expression is constant and tested")
});

/// Words of calls that validate, ask or count, and of things that are not calls.
const HARMLESS: [&str; 16] = [
    "valid", "check", "chk", "verif", "confirm", "alert", "filled", "empty", "require", "disable", "track", "focus",
    "blur", "if", "length", "trim",
];

/// True if a handler of the form, or of its button, does more than validate the input: it may change what is sent, or
/// send it itself.
#[must_use]
pub fn acts(form: &Form) -> bool {
    let button = form.submit().map(|at| &*form.controls[at].onclick);
    let harmless = |name: &str| {
        let name = name.to_ascii_lowercase();
        HARMLESS.iter().any(|word| name.contains(word))
    };
    let acts = |handler: &str| {
        ACTS.captures_iter(handler).any(|found| found.get(1).is_none_or(|name| !harmless(name.as_str())))
    };
    std::iter::once(&*form.onsubmit).chain(button).any(acts)
}

/// True if a form may be sent without its page's scripts: `login::hashing` replaces its handler, or the handler only
/// validates the input.
#[must_use]
pub fn may_go_without(form: &Form) -> bool {
    hashing::Hashing::of(form).is_some() || (hashing::unknown(form).is_none() && !acts(form))
}

/// Why a form that could be sent directly may still need its page's scripts; None without a sign.
#[must_use]
pub fn hashes(form: &Form, markup: &str) -> Option<&'static str> {
    if hashing::Hashing::of(form).is_some() || hashing::unknown(form).is_some() {
        return Some("its handler hashes the password");
    }
    if acts(form) {
        return Some("its handler does more than check what was typed");
    }
    let hashes = |script: regex::Captures<'_>| LIBRARY.is_match(&script[1]) || CALL.is_match(&script[2]);
    SCRIPTS.captures_iter(markup).any(hashes).then_some("a script of its page hashes or encrypts")
}

/// The control that a person would press: the button that submits the form, enabled or not yet; else one with a login
/// label; else the first one after the password; else the first.
#[must_use]
pub fn button(form: &Form) -> Option<usize> {
    let of_kind = |kinds: &[Kind]| -> Vec<usize> {
        (0..form.controls.len()).filter(|at| kinds.contains(&form.controls[*at].kind)).collect()
    };
    let speaks = |at: &usize| own_words(&form.controls[*at]).tally().has(Topic::Login);
    let behind = |at: &usize| roles(form).password.is_none_or(|password| *at > password);
    let (senders, others) = (of_kind(&[Kind::Submit, Kind::Image]), of_kind(&[Kind::Button]));
    let first = form.submit().or_else(|| senders.first().copied());
    first
        .or_else(|| others.iter().copied().find(speaks))
        .or_else(|| others.iter().copied().find(behind))
        .or_else(|| others.first().copied())
}

/// A description of a request body without secrets: its type and its fields.
#[must_use]
pub fn told_body(content_type: &str, body: &[u8], mask: &Mask) -> String {
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let value = |text: &str| if mask.is_in(text.as_bytes()) { MASK.to_owned() } else { told(text).to_owned() };
    let fields: Vec<String> = if kind.ends_with("json") {
        match serde_json::from_slice(body) {
            Ok(Value::Object(object)) => {
                let member = |(name, of): (&String, &Value)| match of {
                    Value::String(text) => format!("{name}={}", value(text)),
                    Value::Object(_) | Value::Array(_) => format!("{name}={{…}}"),
                    other => format!("{name}={}", told(&other.to_string())),
                };
                object.iter().take(CONTROLS_PER_FORM_MAX).map(member).collect()
            }
            _ => Vec::new(),
        }
    } else if kind.ends_with("x-www-form-urlencoded") {
        let pairs = url::form_urlencoded::parse(body).take(CONTROLS_PER_FORM_MAX);
        pairs.map(|(name, text)| format!("{name}={}", value(&text))).collect()
    } else {
        Vec::new()
    };
    let name = match kind.rsplit(['/', '-']).next() {
        Some("json") => "JSON",
        Some("urlencoded") => "a form",
        _ if kind.is_empty() => "a body",
        _ => kind.as_str(),
    };
    match fields.is_empty() {
        true => mask.hide(&format!("{name}, {} bytes", body.len())),
        false => mask.hide(&format!("{name}: {}", fields.join("  "))),
    }
}

/// The visible words of a response; for JSON its texts without the names.
#[must_use]
pub fn words_of(body: &[u8]) -> String {
    let Ok(value) = serde_json::from_slice::<Value>(body) else { return String::from_utf8_lossy(body).into_owned() };
    let mut words = String::new();
    let mut rest = vec![&value];
    while let Some(next) = rest.pop() {
        match next {
            Value::String(text) => {
                // As text, not as markup.
                words.extend(text.chars().map(|of| if matches!(of, '<' | '&') { ' ' } else { of }));
                // Each text is a statement of its own.
                words.push_str("<br>\n");
            }
            Value::Array(list) => rest.extend(list.iter().rev()),
            Value::Object(members) => rest.extend(members.values().rev()),
            _ => {}
        }
    }
    words
}

#[cfg(test)]
mod tests;
