//! How likely a URL leads to torrents, by its words alone (LEARNING §14.4). The words are data: `models/words/address.tsv`.

use crate::parts::{Parts, form};

gleaner_base::topics! {
    address: ACCOUNTS, ARRANGED, DETAILS, DOWNLOADS, FEEDS, HELPS, LABELS, LISTS, NUMBERS, PAYLOADS, PEOPLE, PRINTED, SEARCHES;
}

/// A URL that says nothing.
pub const NOTHING_KNOWN: f64 = 0.3;

/// At most this, a URL is a search's, a person's, or another order of what is known.
pub const SIDE_VIEW: f64 = 0.15;

/// The probability that a URL, given as path and query, leads to torrents; `text` is its link's.
#[must_use]
pub fn prior(path_and_query: &str, text: &str) -> f64 {
    let parts = Parts::of(path_and_query);
    let mut words = Vec::new();
    for (stem, extension) in &parts.segments {
        // Titles have any words.
        if form(stem) != "{s}" {
            words.extend(words_of(stem));
        }
        if extension.eq_ignore_ascii_case(".torrent") {
            return 0.95;
        }
    }
    let path_words = words.len();
    for (key, value) in parts.pairs.iter().filter(|(_, value)| !value.is_empty()) {
        words.extend(words_of(key));
        if form(value) != "{s}" {
            words.extend(words_of(value));
        }
    }
    let has = |topic: gleaner_base::words::Topic| words.iter().any(|word| topic.has(word));
    // A field of a form that was left empty chooses nothing.
    let has_key = |topic: gleaner_base::words::Topic| {
        parts.pairs.iter().filter(|(_, value)| !value.is_empty()).any(|(key, value)| {
            let key = key.to_ascii_lowercase();
            topic.has(&key) || topic.has(&format!("{key}={}", value.to_ascii_lowercase()))
        }) || words[..path_words].iter().any(|word| word.len() > 2 && topic.has(word))
    };
    let is_numbered = parts.pairs.iter().any(|(key, value)| {
        NUMBERS.has(&key.to_ascii_lowercase()) && !value.is_empty() && value.bytes().all(|of| of.is_ascii_digit())
    });
    let mut value: f64 = NOTHING_KNOWN;
    for (is_so, of) in [
        (has(DOWNLOADS), 0.8),
        (words.iter().any(|word| word.contains("torrent")), 0.75),
        (has(DETAILS), 0.55),
        (has(LISTS) || is_numbered, 0.5),
    ] {
        if is_so {
            value = value.max(of);
        }
    }
    for (is_so, of) in [
        (has(PEOPLE), 0.12),
        (has_key(SEARCHES), 0.1),
        (has(FEEDS), 0.03),
        (has(HELPS), 0.1),
        (has(ACCOUNTS), 0.02),
        (has(PRINTED), 0.06),
        (has_key(ARRANGED), 0.15),
    ] {
        if is_so {
            value = value.min(of + if value > 0.7 { 0.1 } else { 0.0 });
        }
    }
    let labels = LABELS.are_in(&text.to_lowercase());
    if labels { (value + 0.25).min(1.0) } else { value }
}

/// True for the URL of a file that is neither page nor torrent.
#[must_use]
pub fn is_payload(path_and_query: &str) -> bool {
    let path = path_and_query.split(['?', ';']).next().unwrap_or_default();
    path.rsplit_once('.').is_some_and(|(_, extension)| PAYLOADS.has(&extension.to_ascii_lowercase()))
}

/// Words of letters, in lower case. `torrent-details` is two, `order_by` three: itself as well.
fn words_of(text: &str) -> Vec<String> {
    let lower = text.to_ascii_lowercase();
    let mut words: Vec<String> =
        lower.split(|of: char| !of.is_ascii_alphabetic()).filter(|word| !word.is_empty()).map(str::to_owned).collect();
    if words.len() > 1 {
        words.push(lower);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_tell_what_is_asked_first() {
        let order = [
            "/download/5.torrent",
            "/dl.php?t=5",
            "/viewtopic.php?t=5",
            "/viewforum.php?f=1&start=25",
            "/x/7",
            "/viewforum.php?f=1&sort=title",
            "/pub/?C=N;O=D",
            "/faq.php",
            "/rss.php",
            "/login.php",
        ];
        let told: Vec<f64> = order.iter().map(|path| prior(path, "")).collect();
        assert!(told.is_sorted_by(|a, b| a >= b), "{told:?}");
        assert!(prior("/debian-news-for-users-12/", "") >= NOTHING_KNOWN, "titles");
        assert!(prior("/x/7", "种子") > prior("/x/7", "more"));
        assert!(is_payload("/a/b.ISO") && !is_payload("/a/b.torrent") && !is_payload("/v1.2"));
    }
}
