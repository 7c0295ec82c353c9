//! Cookies: a host's cookies are sent only to its own site, and nothing is sent beyond what was set.

use gleaner_net::fetch::session::Jar;
use reqwest::header::{HeaderMap, HeaderValue, SET_COOKIE};
use url::Url;

/// `Set-Cookie` lines of a host in `a.co.uk`.
pub fn cookies(input: &[u8]) {
    let url = |text: &str| Url::parse(text).expect("a URL of this file");
    let setter = url("https://www.a.co.uk/dir/page");
    let headers: Vec<HeaderValue> =
        input.split(|&byte| byte == b'\n').filter_map(|line| HeaderValue::from_bytes(line).ok()).collect();
    let jar = Jar::default();
    jar.take(&headers.iter().map(|cookie| (SET_COOKIE, cookie.clone())).collect::<HeaderMap>(), &setter);

    for foreign in [
        "https://b.co.uk/dir/",
        "https://co.uk/dir/",
        "https://a.com/dir/",
        "https://www.a.co.uk.evil.com/dir/",
        "https://xwww.a.co.uk.com/dir/",
        "https://127.0.0.1/dir/",
        "https://xa.co.uk/dir/",
    ] {
        assert_eq!(jar.cookies(&url(foreign)), None, "sent to {foreign}");
    }
    let mut sent_bytes = 0;
    for own in
        ["https://www.a.co.uk/dir/page", "https://a.co.uk/", "https://dl.a.co.uk/dir/x", "http://www.a.co.uk/dir/"]
    {
        let Some(sent) = jar.cookies(&url(own)) else { continue };
        sent_bytes = sent_bytes.max(sent.len());
        assert!(!sent.is_empty(), "an empty header for {own}");
        if own.starts_with("http:") {
            let secure = |header: &HeaderValue| {
                let text = String::from_utf8_lossy(header.as_bytes()).to_ascii_lowercase();
                text.split(';').skip(1).any(|attribute| attribute.trim() == "secure")
            };
            assert!(!headers.iter().all(secure), "a cookie that is to be sent over TLS alone went without");
        }
    }
    // Names and values are sent as received, separated by `; `.
    assert!(sent_bytes <= input.len() + 2 * headers.len(), "{sent_bytes} bytes sent of {}", input.len());
}

/// A browser's `cookies.txt`: imported cookies are sent only to the site's own hosts, and survive a round trip through our
/// own file.
pub fn cookie_file(input: &[u8]) {
    let text = super::text(input);
    let jar = Jar::default();
    let owns_host = |host: &str| host == "site.example" || host.ends_with(".site.example");
    let Ok(imported) = jar.import(&text, owns_host) else { return };
    let lines = text.lines().count();
    assert!(imported.taken + imported.foreign + imported.expired <= lines, "{imported:?} of {lines} lines");
    let kept = jar.to_bytes();
    let again = Jar::default();
    again.take_up(&kept).expect("what was written is read");
    assert_eq!(again.to_bytes(), kept);
    for foreign in ["https://other.example/", "https://xsite.example/", "https://example/", "http://127.0.0.1/"] {
        let url = Url::parse(foreign).expect("a URL of this file");
        assert_eq!(jar.cookies(&url), None, "sent to {foreign}");
    }
    let own = Url::parse("https://www.site.example/a").expect("a URL of this file");
    assert_eq!(jar.cookies(&own), again.cookies(&own));
}
