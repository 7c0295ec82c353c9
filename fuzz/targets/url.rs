//! Identity of URLs: normalisation is idempotent, the fast path agrees with the standard, the parts form the whole.

use gleaner_base::limits::URL_BYTES_MAX;
use gleaner_base::url::{Canonical, CrawlUrl, NamePattern, explain};
use url::Url;

/// The first byte selects the site's parameters and the charset; then a base, a line break and a link.
pub fn url(input: &[u8]) {
    let mut rest = input;
    let choice = super::choice(&mut rest);
    let canonical = canonical(choice);
    let encoding = (choice & 8 != 0).then(|| super::encoding(choice >> 4));
    let text = super::text(rest);
    let (base, href) = text.split_once('\n').unwrap_or(("http://h/a/b?c=d", &text));

    // With a space or a fragment more it would be refused unread.
    if base.len().max(href.len()) + "#x".len() > 3 * URL_BYTES_MAX {
        return;
    }
    for text in [base, href] {
        let parsed = CrawlUrl::parse(text, &canonical);
        // The standard strips a leading space, which keeps the text off the fast path.
        assert_eq!(CrawlUrl::parse(&format!(" {text}"), &canonical), parsed, "{text:?}");
        if let Ok(url) = parsed {
            assert_identity(&url, &canonical);
            let (told, steps) = explain(text, &canonical).expect("what is parsed is explained");
            assert_eq!(told, url);
            assert_eq!(steps.last().map_or(text, |step| &step.url), url.as_str());
        }
    }
    let Ok(base) = Url::parse(base) else { return };
    let joined = CrawlUrl::join(&base, href, encoding, &canonical);
    if let Ok(url) = &joined {
        assert_identity(url, &canonical);
    }
    // The standard strips a leading space, which keeps the link off the fast path.
    let slowly = CrawlUrl::join(&base, &format!(" {href}"), encoding, &canonical);
    assert_eq!(joined, slowly, "{href:?} on {base}");
    // A fragment does not identify anything by itself.
    if let Ok(url) = joined
        && !href.contains('#')
    {
        // What the standard strips, and no other white space of Unicode.
        let bare = href.trim_end_matches(|character| character <= ' ');
        assert_eq!(CrawlUrl::join(&base, &format!("{bare}#x"), encoding, &canonical), Ok(url));
    }
}

fn assert_identity(url: &CrawlUrl, canonical: &Canonical) {
    let text = url.as_str();
    assert!(text.len() <= URL_BYTES_MAX && text.is_ascii(), "{text}");
    assert!(!text.bytes().any(|byte| byte <= b' ' || byte == 0x7F || byte == b'#'), "{text}");
    assert_eq!(CrawlUrl::parse(text, canonical).as_ref(), Ok(url), "normalised twice");
    assert_eq!(&CrawlUrl::from_parts(url.origin(), url.path()), url);
    assert!(url.path().starts_with('/') && matches!(url.scheme(), "http" | "https"), "{text}");
    assert_eq!(format!("{}://{}", url.scheme(), url.authority()), url.origin());
    assert!(!url.host().is_empty() && url.authority().starts_with(url.host()), "{text}");
    let standard = url.to_url().expect("the standard reads it");
    assert_eq!(standard.as_str(), text, "the standard changes nothing");
    assert_eq!(standard.host_str(), Some(url.host()));
}

fn canonical(choice: u8) -> Canonical {
    let names = |names: &[&str]| names.iter().map(|name| NamePattern::new(name)).collect();
    let mut canonical = Canonical { sort: choice & 1 != 0, ..Canonical::default() };
    if choice & 2 != 0 {
        canonical.drop = names(&["b", "a*"]);
        canonical.session = names(&["f"]);
    }
    if choice & 4 != 0 {
        canonical.keep = names(&["b", "f*", "c"]);
    }
    if choice & 16 != 0 {
        canonical.default_documents = vec!["index.html".into(), "a".into()];
    }
    canonical.path_sessions = choice & 32 != 0;
    canonical.merge_slashes = choice & 64 != 0;
    canonical.form_values = choice & 128 != 0;
    canonical
}
