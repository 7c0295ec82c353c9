//! URLs as logs, notes and reports show them.

use std::borrow::Cow;

use gleaner_base::url::{CrawlUrl, MASK, without_keys};
use gleaner_rules::names_token;

/// A URL, or a path and query, without keys of members and tokens of sessions. What names the thing stays, so that it can be opened.
#[must_use]
pub fn masked(reference: &str) -> Cow<'_, str> {
    let known = without_keys(reference);
    let is_token = |pair: &str| pair.split_once('=').is_some_and(|(key, value)| !value.is_empty() && names_token(key));
    let Some((path, query)) = known.split_once('?').filter(|(_, query)| query.split(['&', ';']).any(is_token)) else {
        return known;
    };
    let mut text = format!("{path}?");
    for pair in query.split_inclusive(['&', ';']) {
        let end = if pair.ends_with(['&', ';']) { &pair[pair.len() - 1..] } else { "" };
        match pair.split_once('=').filter(|_| is_token(pair.trim_end_matches(['&', ';']))) {
            Some((key, _)) => text.extend([key, "=", MASK, end]),
            None => text.push_str(pair),
        }
    }
    Cow::Owned(text)
}

/// The path and query of a URL: whose keys it may hold is known by the host.
#[must_use]
pub fn masked_path(url: &CrawlUrl) -> String {
    let told = masked(url.as_str());
    told.strip_prefix(url.origin()).map_or(told.to_string(), ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_and_tokens_are_masked_and_what_names_the_thing_stays() {
        assert_eq!(
            masked("http://h.example/get/17?token=0123456789abcdef"),
            format!("http://h.example/get/17?token={MASK}")
        );
        assert_eq!(masked("/d.php?id=17;sesc=abcdef0123&f=a.torrent"), format!("/d.php?id=17;sesc={MASK}&f=a.torrent"));
        assert!(!masked("/download.php?id=5&passkey=0123456789abcdef0123456789abcdef").contains("0123"));
        for plain in ["/a?id=0123456789abcdef0123456789abcdef01234567", "/a", "/a?aid=MTF8ZjA2&token="] {
            assert_eq!(masked(plain), plain);
        }
    }
}
