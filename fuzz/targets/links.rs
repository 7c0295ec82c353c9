//! Links that are not plain URLs, and page numbers in URLs.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use gleaner_base::limits::URL_BYTES_MAX;
use gleaner_page::encoded_links::{Decoded, EncodedLinkError, decode, find, is_encoded};
use gleaner_page::limits::{ENCODED_LINK_NESTING_MAX, LINKS_PER_PAGE_MAX};
use gleaner_page::pagination as pages;
use gleaner_torrent::Infohashes;
use gleaner_torrent::limits::TRACKERS_PER_TORRENT_MAX;
use gleaner_torrent::magnet as link;

/// A magnet link, parsed and written again, parses to the same value.
pub fn magnet(input: &[u8]) {
    let text = super::text(input);
    let Ok(magnet) = link::parse(&text) else { return };
    assert!(text.len() <= URL_BYTES_MAX + text.len() - text.trim().len());
    assert!(magnet.trackers.len() <= TRACKERS_PER_TORRENT_MAX && magnet.trackers.iter().all(|one| !one.is_empty()));
    assert!(magnet.trackers.iter().collect::<HashSet<_>>().len() == magnet.trackers.len(), "a tracker stands twice");
    assert!(magnet.name.as_ref().is_none_or(|name| !name.is_empty()));
    let written = write_magnet(&magnet);
    if written.len() <= URL_BYTES_MAX {
        assert_eq!(link::parse(&written).as_ref(), Ok(&magnet), "{written}");
    }
}

fn write_magnet(magnet: &link::Magnet) -> String {
    let Infohashes { v1, v2 } = magnet.infohashes;
    let hex = |bytes: &[u8]| data_encoding::HEXLOWER.encode(bytes);
    let escaped = |text: &str| text.bytes().map(|byte| format!("%{byte:02x}")).collect::<String>();
    let mut parameters: Vec<String> = Vec::new();
    parameters.extend(v1.map(|hash| format!("xt=urn:btih:{}", hex(&hash))));
    parameters.extend(v2.map(|hash| format!("xt=urn:btmh:1220{}", hex(&hash))));
    parameters.extend(magnet.name.as_deref().map(|name| format!("dn={}", escaped(name))));
    parameters.extend(magnet.trackers.iter().map(|tracker| format!("tr={}", escaped(tracker))));
    format!("magnet:?{}", parameters.join("&"))
}

/// A decoded link is never wrapped again, and if wrapped once more it decodes to the same; links found in a page are within
/// their bounds.
pub fn encoded_links(input: &[u8]) {
    let mut rest = input;
    let encoding = super::encoding(super::choice(&mut rest));
    let text = super::text(rest);
    match decode(&text) {
        Ok(Decoded::Url(url)) => {
            assert!(!is_encoded(&url) && url.split_once("://").is_some(), "{url:?}");
            opens_as_wrapped(&url, &Decoded::Url(url.clone()));
        }
        Ok(Decoded::Magnet(magnet)) => {
            assert_eq!(decode(&magnet), Ok(Decoded::Magnet(magnet.clone())));
            opens_as_wrapped(&magnet, &Decoded::Magnet(magnet.clone()));
        }
        Ok(Decoded::Other(other)) => {
            assert!(!is_encoded(&other) && other.contains(':'), "{other:?}");
            opens_as_wrapped(&other, &Decoded::Other(other.clone()));
        }
        Err(EncodedLinkError::Scheme) => {}
        Err(_) => assert!(is_encoded(text.trim_ascii())),
    }
    let found = find(rest, encoding);
    assert!(found.len() <= LINKS_PER_PAGE_MAX);
    let mut seen = HashSet::new();
    let mut before = None;
    for link in &found {
        assert!(is_encoded(&link.link) && link.link.len() <= URL_BYTES_MAX, "{link:?}");
        assert!(seen.insert(link.link.as_str()), "{link:?} twice");
        assert!(before.is_none_or(|before| before < link.offset), "{link:?} out of order");
        assert!(!encoding.is_ascii_compatible() || link.offset < rest.len());
        before = Some(link.offset);
        let _ = decode(&link.link);
    }
}

fn opens_as_wrapped(inner: &str, expected: &Decoded) {
    let wraps: [fn(&str) -> String; 3] = [
        |inner| format!("thunder://{}", BASE64_STANDARD.encode(format!("AA{inner}ZZ"))),
        |inner| format!("flashget://{}&site", BASE64_STANDARD.encode(format!("[FLASHGET]{inner}[FLASHGET]"))),
        |inner| format!("qqdl://{}", BASE64_STANDARD.encode(inner)),
    ];
    for wrap in wraps {
        let mut link = inner.to_owned();
        // A magnet link is itself one of the layers.
        let layers = ENCODED_LINK_NESTING_MAX + usize::from(!matches!(expected, Decoded::Magnet(_)));
        for layer in 1..=layers + 1 {
            link = wrap(&link);
            if link.len() > URL_BYTES_MAX {
                assert_eq!(decode(&link), Err(EncodedLinkError::TooLong));
                break;
            }
            let opened = decode(&link);
            if layer <= layers {
                assert_eq!(opened.as_ref(), Ok(expected), "{link}");
            } else {
                assert_eq!(opened, Err(EncodedLinkError::Nesting), "{link}");
            }
        }
    }
}

/// The page number occurs in the page's URL, and all pages of a series share the series.
pub fn pagination(input: &[u8]) {
    let mut rest = input;
    let (start, length) = (usize::from(super::choice(&mut rest)), usize::from(super::choice(&mut rest)));
    let url = super::text(rest);
    let _ = pages::series_of_first(&url);
    if let Some(page) = pages::of(&url, None) {
        let runs = digit_runs(&url);
        let digits = |run: &RangeInclusive<usize>| &url[run.clone()];
        assert!(
            runs.iter().any(|run| digits(run).parse() == Ok(page.number)),
            "{} does not stand in {url:?}",
            page.number
        );
        if let [run] = runs.as_slice() {
            let (before, after) = (&url[..*run.start()], &url[run.end() + 1..]);
            let other = format!("{before}{}{after}", "7".repeat(digits(run).len()));
            let other = pages::of(&other, None).expect("another page of the series");
            assert_eq!(other.series, page.series);
        }
    }
    // A rule's capture, which need not be on character boundaries or within the text.
    if let Some(page) = pages::of(&url, Some((start, start + length))) {
        assert_eq!(url.get(start..start + length).and_then(|digits| digits.parse().ok()), Some(page.number));
    }
    let mut numbers: Vec<u64> = rest.chunks_exact(8).map(|word| u64::from_le_bytes(word.try_into().unwrap())).collect();
    let count = pages::page_count(&numbers);
    assert!(count >= 1);
    numbers.reverse();
    numbers.extend_from_within(..);
    assert_eq!(pages::page_count(&numbers), count, "order and repetition say nothing");
}

/// The byte ranges of the ASCII digits.
fn digit_runs(text: &str) -> Vec<RangeInclusive<usize>> {
    let mut runs: Vec<RangeInclusive<usize>> = Vec::new();
    for (at, _) in text.bytes().enumerate().filter(|(_, byte)| byte.is_ascii_digit()) {
        match runs.last_mut() {
            Some(run) if run.end() + 1 == at => *run = *run.start()..=at,
            _ => runs.push(at..=at),
        }
    }
    runs
}
