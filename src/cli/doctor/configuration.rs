//! What the configuration lacks. Its faults were found when it was read.

use super::{Finding, Patient};

pub(super) fn check(of: &Patient) -> Vec<Finding> {
    let mut found = Vec::new();
    let file = of.config.file.as_ref().map_or_else(|| "gleaner.toml".to_owned(), |file| file.display().to_string());
    if of.config.contact.is_none() && of.sites.iter().any(|site| asks_strangers(site)) {
        found.push(Finding::new(
            "contact_missing",
            file,
            "operators of sites cannot reach you",
            "set contact = \"crawler@example.org\", or a URL",
        ));
    }
    found
}

/// True for a site that is not on this machine.
fn asks_strangers(site: &gleaner_rules::SiteRules) -> bool {
    let is_here = |host: &str| host == "localhost" || host.starts_with("127.") || host.starts_with("[::1]");
    site.start.iter().any(|url| !is_here(url.origin().split("://").nth(1).unwrap_or_default()))
}
