//! Applies the site's rules to an address that a page names. Pure.

use crate::job::Found;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{Class, Refusal, SiteRules, Verdict};

/// Resolves one reference against a URL; None when it is no usable http(s) URL.
#[must_use]
pub fn resolve(rules: &SiteRules, base: &CrawlUrl, reference: &str) -> Option<CrawlUrl> {
    let base = url::Url::parse(base.as_str()).ok()?;
    CrawlUrl::join(&base, reference, None, &rules.canonical).ok()
}

/// The rules' verdict on a URL: accepted as some class, or not.
///
/// # Errors
/// The URL, if nothing speaks against it except that no class matches.
pub fn judge(rules: &SiteRules, url: CrawlUrl) -> Result<Found, Option<CrawlUrl>> {
    let url = rules.without_mirror(url);
    match rules.judge(&url) {
        Verdict::Take { class: Class::Login, .. } => Err(None),
        Verdict::Take { class, page_capture, number, .. } => Ok(Found { url, class, rule: number, page_capture }),
        Verdict::Refuse { reason: Refusal::NoClass } => Err(Some(url)),
        Verdict::Refuse { .. } => Err(None),
    }
}
