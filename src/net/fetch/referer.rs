//! The `Referer` of a request, by the policy that browsers use unless a page asks for another:
//! strict-origin-when-cross-origin (W3C Referrer Policy §3.7).

use reqwest::header::HeaderValue;
use url::Url;

use gleaner_base::url::CrawlUrl;

/// What a request to `to` says of the page that linked it: its URL to its own origin, only its origin to any other, and
/// nothing from https to http. A [`CrawlUrl`] has neither fragment nor user name; a key in it stays at its origin.
pub(super) fn of(page: &CrawlUrl, to: &Url) -> Option<HeaderValue> {
    let is_downgrade = page.scheme() == "https" && to.scheme() != "https";
    let is_own = page.origin() == to.origin().ascii_serialization();
    let told = match (is_downgrade, is_own) {
        (true, _) => return None,
        (false, true) => page.as_str().to_owned(),
        (false, false) => format!("{}/", page.origin()),
    };
    let mut value = HeaderValue::from_str(&told).ok()?;
    value.set_sensitive(true);
    Some(value)
}

#[cfg(test)]
mod tests {
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
            let (page, to) = (CrawlUrl::exact(&Url::parse(page).unwrap()).unwrap(), Url::parse(to).unwrap());
            let value = of(&page, &to);
            assert_eq!(value.as_ref().map(|value| value.to_str().unwrap()), told, "{} {to}", page.as_str());
        }
    }
}
