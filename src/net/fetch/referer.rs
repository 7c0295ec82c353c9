//! The `Referer` of a request, by the policy that browsers use unless a page asks for another:
//! strict-origin-when-cross-origin (W3C Referrer Policy §3.7).

use reqwest::header::HeaderValue;

use gleaner_base::url::CrawlUrl;

/// What a request to `to` says of the page that linked it: its URL to its own origin, only its origin to any other, and
/// nothing from https to http. A [`CrawlUrl`] has neither fragment nor user name; a key in it stays at its origin.
pub(super) fn of(page: &CrawlUrl, to: &CrawlUrl) -> Option<HeaderValue> {
    let is_downgrade = page.scheme() == "https" && to.scheme() != "https";
    let told = match (is_downgrade, page.origin() == to.origin()) {
        (true, _) => return None,
        (false, true) => HeaderValue::from_str(page.as_str()),
        (false, false) => HeaderValue::try_from(format!("{}/", page.origin())),
    };
    let mut value = told.ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
    use url::Url;

    use super::*;

    #[test]
    fn the_page_is_told_to_its_own_origin_its_origin_to_others_and_nothing_below_tls() {
        for (page, to, told) in [
            ("https://a.example/t/1?x=2", "https://a.example/dl/1", Some("https://a.example/t/1?x=2")),
            ("http://a.example:81/t/1", "http://a.example:81/dl/1", Some("http://a.example:81/t/1")),
            ("https://a.example/t?passkey=0123", "https://a.example/dl/1", Some("https://a.example/t?passkey=0123")),
            ("https://a.example/t?passkey=0123", "https://dl.a.example/1", Some("https://a.example/")),
            ("http://a.example/t/1", "http://a.example:81/dl/1", Some("http://a.example/")),
            ("http://a.example/t/1", "https://a.example/dl/1", Some("http://a.example/")),
            ("https://a.example/t/1", "http://a.example/dl/1", None),
            ("https://anna:secret@a.example/t/1#part", "https://a.example/dl/1", Some("https://a.example/t/1")),
        ] {
            let [page, to] = [page, to].map(|url| CrawlUrl::exact(&Url::parse(url).unwrap()).unwrap());
            let value = of(&page, &to);
            assert_eq!(value.as_ref().map(|value| value.to_str().unwrap()), told, "{page} {to}");
        }
    }
}
