//! Cookies that a site set and that were dropped, and why: this alone may make a login fail to give a session.

use cookie_store::{CookieDomain, RawCookie};
use url::Url;

/// The name of a cookie, and why it was dropped.
pub type Dropped = (Box<str>, &'static str);

/// Reason for cookies that only an https site may set.
pub const CAME_IN_THE_CLEAR: &str = "it is for https only, but came over http";

/// Why a cookie from `url` is invalid; None if the text is not a cookie, or its loss is harmless.
pub(super) fn why(text: &str, url: &Url) -> Option<Dropped> {
    let raw = RawCookie::parse(text).ok()?;
    let name = raw.name();
    if raw.value().is_empty() || raw.value().eq_ignore_ascii_case("deleted") {
        return None;
    }
    let is_prefixed = |prefix: &str| name.get(..prefix.len()).is_some_and(|of| of.eq_ignore_ascii_case(prefix));
    let is_bound = is_prefixed("__Secure-") || is_prefixed("__Host-");
    let is_elsewhere =
        || matches!(CookieDomain::try_from(&raw), Ok(domain @ CookieDomain::Suffix(_)) if !domain.matches(url));
    let why = match (raw.secure() == Some(true) || is_bound, url.scheme()) {
        (true, "http") => CAME_IN_THE_CLEAR,
        _ if is_bound => "its name prefix requires `Secure`, the path / or no domain",
        _ if is_elsewhere() => "it is for another host",
        _ => "it had expired when it came, or is too long",
    };
    Some((name[..name.floor_char_boundary(NAME_BYTES)].into(), why))
}

/// Maximum bytes of a reported name.
const NAME_BYTES: usize = 64;
