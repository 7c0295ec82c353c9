//! `document.cookie` (HTML §3.1.5): the site's cookies that scripts may see. A cookie set by a script is reported to the crawl before the
//! page's next request; one set by a response shows here unless it is `HttpOnly`.
//!
//! The crawl decides which cookies are sent with a request: domains are passed on and not stored here. Paths are: a page may have two
//! cookies of one name, and sees those whose paths lead to it.

use std::cell::RefCell;

use boa_engine::{Context, JsResult, JsValue};

use crate::engine::{bind, jobs, legacy, page, realm};
use crate::limits;
use crate::web::{own_document, this_document};

/// The cookies, in order of arrival.
struct Jar(RefCell<Vec<Cookie>>);

struct Cookie {
    name: String,
    value: String,
    /// `None` if it is not known: the crawl gives cookies that the page sees, without their paths.
    path: Option<String>,
}

pub(crate) fn install(given: &[String], context: &mut Context) -> JsResult<()> {
    let pairs = || {
        let pairs = given.iter().filter_map(|pair| pair.split_once('='));
        let cookie =
            |(name, value): (&str, &str)| Cookie { name: name.trim().into(), value: value.trim().into(), path: None };
        pairs.map(cookie).collect()
    };
    realm::share(|| Jar(RefCell::new(pairs())), context);
    let attribute: bind::Attribute = (
        "cookie",
        |this, _, context| {
            let document = this_document(this, context)?;
            if own_document(context) != document {
                return Ok(bind::js(""));
            }
            Ok(bind::js(&text(context)))
        },
        Some(|this, args, context| {
            let document = this_document(this, context)?;
            let text = bind::text(args, 0, context)?;
            if own_document(context) == document && text.len() <= limits::COOKIE_BYTES_MAX {
                put(&text, true, context);
                page::of(context).borrow_mut().tell_cookie(&text);
            }
            Ok(JsValue::undefined())
        }),
    );
    let prototype = bind::prototype("Document", context)?;
    bind::attributes(&prototype, &[attribute], context)
}

/// The value of `document.cookie`.
fn text(context: &Context) -> String {
    let received = std::mem::take(&mut page::of(context).borrow_mut().cookies_received);
    for cookie in received {
        put(&cookie, false, context);
    }
    let Some(jar) = context.get_data::<Jar>() else { return String::new() };
    let jar = jar.0.borrow();
    let here = realm::base(context).path().to_owned();
    let mut seen: Vec<&Cookie> =
        jar.iter().filter(|one| one.path.as_deref().is_none_or(|path| leads_to(path, &here))).collect();
    // Those with longer paths come first (RFC 6265 §5.4).
    seen.sort_by_key(|one| std::cmp::Reverse(one.path.as_ref().map_or(1, String::len)));
    let pairs: Vec<String> = seen
        .into_iter()
        .map(|Cookie { name, value, .. }| if name.is_empty() { value.clone() } else { format!("{name}={value}") })
        .collect();
    pairs.join("; ")
}

/// "Path-match" (RFC 6265 §5.1.4).
fn leads_to(path: &str, here: &str) -> bool {
    here.strip_prefix(path).is_some_and(|rest| rest.is_empty() || path.ends_with('/') || rest.starts_with('/'))
}

/// "Default-path" (RFC 6265 §5.1.4).
fn folder_of(here: &str) -> &str {
    here.rfind('/').filter(|last| *last > 0).map_or("/", |last| &here[..last])
}

/// Stores a cookie in `Set-Cookie` syntax (RFC 6265 §5.2): an expired one is removed, an `HttpOnly` one stays hidden.
fn put(text: &str, by_script: bool, context: &Context) {
    let Some(jar) = context.get_data::<Jar>() else { return };
    let mut parts = text.split(';');
    let pair = parts.next().unwrap_or_default();
    let (name, value) = pair.split_once('=').unwrap_or(("", pair));
    let (name, value) = (name.trim().to_owned(), value.trim().to_owned());
    if name.is_empty() && value.is_empty() || text.chars().any(|c| c.is_ascii_control() && c != '\t') {
        return;
    }
    let now_ms = jobs::of(context).wall_ms();
    let (mut is_over, mut by_age, mut is_hidden) = (false, false, false);
    // A response's own default path is that of its URL, which is not known here.
    let mut path = by_script.then(|| folder_of(realm::base(context).path()).to_owned());
    for attribute in parts {
        let (key, value) = attribute.split_once('=').unwrap_or((attribute, ""));
        match key.trim().to_ascii_lowercase().as_str() {
            "max-age" => {
                if let Ok(seconds) = value.trim().parse::<i64>() {
                    (is_over, by_age) = (seconds <= 0, true);
                }
            }
            "expires" if !by_age => {
                is_over = legacy::time_of(value.trim()).is_some_and(|time| time <= now_ms);
            }
            "httponly" => is_hidden = true,
            "path" if value.trim().starts_with('/') => path = Some(value.trim().to_owned()),
            _ => {}
        }
    }
    let mut jar = jar.0.borrow_mut();
    // A script can neither create nor change an `HttpOnly` cookie.
    if is_hidden && by_script {
        return;
    }
    let is_same = |one: &Cookie| one.name == name && (one.path == path || one.path.is_none() || path.is_none());
    let place = jar.iter().position(is_same);
    match place {
        Some(place) if is_over || is_hidden => drop(jar.remove(place)),
        Some(place) => jar[place] = Cookie { name, value, path: path.or_else(|| jar[place].path.clone()) },
        None if is_over || is_hidden || jar.len() >= limits::COOKIES_PER_SITE_MAX => {}
        None => jar.push(Cookie { name, value, path }),
    }
}
