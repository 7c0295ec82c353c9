//! Applies the site's rules to an address that a page names. Pure.

use crate::job::Found;
use crate::refused::RefusedBy;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{ActSign, Class, Refusal, SiteRules, Verdict};

/// Why an address is not accepted, as far as it is counted.
#[derive(Clone, Debug)]
pub enum Declined {
    /// Nothing speaks against it except that no class matches.
    Unclassed(CrawlUrl),
    /// It would act in the account's name.
    Acts(CrawlUrl, ActSign),
    /// A class would match a torrent's URL if its host were one of the site's.
    Elsewhere(CrawlUrl),
    /// The rule of `deny` with this number matches it, where a class of lists would.
    List(CrawlUrl, usize),
    /// For another reason that a rule file or an account gives.
    By(CrawlUrl, RefusedBy),
    Other,
}

/// Resolves one reference against a URL; None when it is no usable http(s) URL.
#[must_use]
pub fn resolve(rules: &SiteRules, base: &CrawlUrl, reference: &str) -> Option<CrawlUrl> {
    let base = url::Url::parse(base.as_str()).ok()?;
    CrawlUrl::join(&base, reference, None, &rules.canonical).ok()
}

/// The rules' verdict on a URL: accepted as some class, or not.
///
/// # Errors
/// Why it is not accepted.
pub fn judge(rules: &SiteRules, url: CrawlUrl) -> Result<Found, Declined> {
    let url = rules.without_mirror(url);
    match rules.judge(&url) {
        Verdict::Take { class: Class::Login, .. } => Err(Declined::Other),
        Verdict::Take { class, page_capture, number, .. } => {
            Ok(Found { url, class, rule: number, page_capture, beside: None })
        }
        Verdict::Refuse { reason: Refusal::NoClass } => Err(Declined::Unclassed(url)),
        Verdict::Refuse { reason: Refusal::ActsForAccount(sign) } => Err(Declined::Acts(url, sign)),
        Verdict::Refuse { reason: Refusal::WrongHost } if rules.class_of(url.path()).is_some_and(Class::is_target) => {
            Err(Declined::Elsewhere(url))
        }
        Verdict::Refuse { reason: Refusal::Denied(number, _) }
            if rules.class_of(url.path()).is_some_and(Class::is_listing) =>
        {
            Err(Declined::List(url, number))
        }
        Verdict::Refuse { reason } => match reason {
            Refusal::Denied(number, _) => Err(Declined::By(url, RefusedBy::Rule(number))),
            Refusal::NotBelowStart => Err(Declined::By(url, RefusedBy::NotBelowStart)),
            Refusal::EndsSession => Err(Declined::By(url, RefusedBy::EndsSession)),
            _ => Err(Declined::Other),
        },
    }
}
