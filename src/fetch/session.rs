//! A site's cookies. The jar is `cookie_store`'s; what is added is the public suffix list, without which a host could
//! set a cookie for `co.uk` and have it sent to others (RFC 6265 §5.3, step 5).
//!
//! Nothing is kept beyond the process, and nothing of a cookie is logged.

use cookie_store::RawCookie;
use reqwest::cookie::CookieStore;
use reqwest::header::HeaderValue;
use reqwest_cookie_store::CookieStoreMutex;
use url::Url;

/// The cookies of one site's client.
#[derive(Default)]
pub struct Jar(CookieStoreMutex);

impl CookieStore for Jar {
    fn set_cookies(&self, cookie_headers: &mut dyn Iterator<Item = &HeaderValue>, url: &Url) {
        let mut proper = cookie_headers.filter(|header| !is_for_a_public_suffix(header, url));
        self.0.set_cookies(&mut proper, url);
    }

    fn cookies(&self, url: &Url) -> Option<HeaderValue> {
        self.0.cookies(url)
    }
}

/// True for a `Set-Cookie` whose `Domain` is a public suffix other than the host itself, and for one that cannot be
/// read. It is read as the jar reads it, bytes beyond ASCII included: what is judged must be what is kept.
fn is_for_a_public_suffix(header: &HeaderValue, url: &Url) -> bool {
    let text = std::str::from_utf8(header.as_bytes()).ok();
    let Some(cookie) = text.and_then(|text| RawCookie::parse(text).ok()) else { return true };
    let Some(domain) = cookie.domain().map(str::to_ascii_lowercase) else { return false };
    let is_suffix = psl::suffix(domain.as_bytes())
        .is_some_and(|suffix| suffix.is_known() && suffix.as_bytes() == domain.as_bytes());
    is_suffix && url.host_str() != Some(&domain)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `b.co.uk` or another host is sent after `a.co.uk` set this cookie.
    fn sent(set: &str, to: &str) -> Option<String> {
        let jar = Jar::default();
        let header = HeaderValue::from_str(set).unwrap();
        jar.set_cookies(&mut std::iter::once(&header), &Url::parse("http://www.a.co.uk/").unwrap());
        let sent = jar.cookies(&Url::parse(to).unwrap())?;
        Some(sent.to_str().unwrap().to_owned())
    }

    #[test]
    fn a_cookie_for_a_public_suffix_is_not_kept() {
        for domain in ["co.uk", ".co.uk", "CO.UK", "uk"] {
            assert_eq!(sent(&format!("s=1; Domain={domain}"), "http://b.co.uk/"), None, "{domain}");
            assert_eq!(sent(&format!("s=1; Domain={domain}"), "http://www.a.co.uk/"), None, "{domain}");
        }
    }

    #[test]
    fn letters_beyond_ascii_do_not_hide_a_public_suffix() {
        let jar = Jar::default();
        let header = HeaderValue::from_bytes("s=é; Domain=co.uk".as_bytes()).unwrap();
        jar.set_cookies(&mut std::iter::once(&header), &Url::parse("http://www.a.co.uk/").unwrap());
        assert_eq!(jar.cookies(&Url::parse("http://b.co.uk/").unwrap()), None);
    }

    #[test]
    fn a_cookie_for_the_site_goes_to_its_hosts_and_to_no_other() {
        assert_eq!(sent("s=1; Domain=a.co.uk", "http://dl.a.co.uk/"), Some("s=1".to_owned()));
        assert_eq!(sent("s=1", "http://www.a.co.uk/x"), Some("s=1".to_owned()));
        assert_eq!(sent("s=1", "http://dl.a.co.uk/"), None);
        assert_eq!(sent("s=1; Domain=a.co.uk", "http://b.co.uk/"), None);
        assert_eq!(sent("s=1; Domain=b.co.uk", "http://b.co.uk/"), None);
        assert_eq!(sent("s=1; Secure", "http://www.a.co.uk/"), None);
    }
}
