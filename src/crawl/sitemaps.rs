//! Sitemaps that robots.txt or a sitemap index names, whatever the rules say of their URLs.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::job::Found;
use crate::limits;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{Class, SiteRules};

/// The sitemaps of one site that were seen in this run.
#[derive(Default)]
pub struct Sitemaps(Mutex<HashSet<Box<str>>>);

impl Sitemaps {
    fn known(&self) -> MutexGuard<'_, HashSet<Box<str>>> {
        // A set is consistent at any time.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Accepts a sitemap; None for hosts other than the site's, and beyond `limits::SITEMAPS_PER_SITE_MAX`.
    #[must_use]
    pub fn take(&self, rules: &SiteRules, url: CrawlUrl) -> Option<Found> {
        let url = rules.without_mirror(url);
        if !rules.owns_host(url.authority()) {
            return None;
        }
        let mut known = self.known();
        if !known.contains(url.as_str()) {
            if known.len() >= limits::SITEMAPS_PER_SITE_MAX {
                // No URL is empty: this entry says that the limit has been logged.
                if known.insert("".into()) {
                    let (site, most) = (&rules.name, limits::SITEMAPS_PER_SITE_MAX);
                    tracing::warn!(%site, url = url.as_str(), most, "too many sitemaps: this one and later ones are left out");
                }
                return None;
            }
            known.insert(url.as_str().into());
        }
        Some(Found { url, class: Class::Sitemap, rule: usize::MAX, page_capture: None, beside: None })
    }

    /// Restarts the count after a robots.txt was read again.
    pub fn forget(&self) {
        self.known().clear();
    }
}
