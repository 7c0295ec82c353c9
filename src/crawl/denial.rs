//! Signs that a response was served to a guest, at a site that has an account of the operator (ALGORITHMS §4.4). Pure.
//!
//! A sign is a doubt, not a verdict: the site loop requests a page that proves the session before it logs in again, and what a
//! member was denied stays denied.

use crate::job::{Found, Job};
use crate::judging::{judge, resolve};
use gleaner_base::url::CrawlUrl;
use gleaner_login::model::Judge;
use gleaner_login::secret::told_url;
use gleaner_login::verdict::logged_out;
use gleaner_login::view::{View, speaks_of_login};
use gleaner_page::links::PageLinks;
use gleaner_rules::{Class, SiteRules, ends_session};
use gleaner_store::crawldb::Outcome;

/// The sign in a response's status, or in its redirect target.
#[must_use]
pub fn of_answer(rules: &SiteRules, job: &Job, status: u16, location: Option<&str>) -> Option<String> {
    let login = rules.login.as_ref()?;
    let is_due = job.class.is_target() || job.class.is_listing();
    match (status, location) {
        (401 | 403, _) => Some(format!("status {status}")),
        // Some sites hide existing pages from guests, some use statuses of their own.
        (400..=499, _) if is_due && !matches!(status, 408 | 429) => Some(format!("status {status}")),
        (300..=399, Some(location)) => {
            let Some(target) = resolve(rules, &job.url, location) else {
                return is_due.then(|| "a redirect to a URL that cannot be requested".to_owned());
            };
            let is_named = login.page.as_ref().is_some_and(|page| page.path() == target.path());
            let is_off = is_due && !leads_on(rules, job, &target);
            (is_named || is_off || speaks_of_login(target.path()))
                .then(|| format!("a redirect to {}", told_url(target.as_str())))
        }
        _ => None,
    }
}

/// True for an address, as a page writes it, that the rules classify as a torrent's page or a thread: the text of a link to it is its
/// title.
#[must_use]
pub fn is_topic(rules: &SiteRules, page: &CrawlUrl, address: &str) -> bool {
    let target = resolve(rules, page, address);
    target.is_some_and(|url| judge(rules, url).is_ok_and(|found| found.class.is_target()))
}

/// True if a redirect leads to the expected kind of page: a torrent's to a torrent, and no list's back to the start page.
fn leads_on(rules: &SiteRules, job: &Job, target: &CrawlUrl) -> bool {
    let Ok(found) = judge(rules, target.clone()) else { return false };
    let is_start = |url: &CrawlUrl| rules.start.iter().any(|start| start.as_str() == url.as_str());
    match job.class {
        Class::Download => found.class == Class::Download,
        class if class.is_target() => found.class.is_target(),
        class => found.class.is_target() || (found.class == class && (!is_start(&found.url) || is_start(&job.url))),
    }
}

/// The sign in a response that is neither a torrent nor a page, such as a page served under a torrent's type.
#[must_use]
pub fn of_file(rules: &SiteRules, job: &Job, outcome: Outcome) -> Option<String> {
    rules.login.as_ref()?;
    let is_other = match job.class {
        Class::Download => {
            matches!(outcome, Outcome::HtmlPosingAsTorrent | Outcome::NotForUs | Outcome::MalformedTorrent)
        }
        class => outcome == Outcome::NotForUs && (class.is_target() || class.is_listing()),
    };
    is_other.then(|| "something else than what was requested".to_owned())
}

/// The sign in a feed or a sitemap: guests may get one without an entry. A feed names at least its own page and itself; a
/// sitemap names arbitrary pages.
#[must_use]
pub fn of_feed(rules: &SiteRules, job: &Job, found: &[Found], has_magnets: bool) -> Option<String> {
    rules.login.as_ref()?;
    let has_entries = has_magnets || found.iter().any(|found| job.class == Class::Sitemap || found.class.is_target());
    (!has_entries).then(|| "an empty feed".to_owned())
}

/// The sign in a page. A page with a logout link was served to a member; one that shows a login form, or asks the visitor to log in,
/// to a guest; and so perhaps one with a login link, or without content, in place of a torrent or a list of them.
#[must_use]
pub fn of_page(
    rules: &SiteRules,
    job: &Job,
    view: Option<View>,
    links: &PageLinks<'_>,
    found: &[Found],
    has_magnets: bool,
) -> Option<String> {
    rules.login.as_ref()?;
    if links.links.iter().any(|link| ends_session(&link.href)) {
        return None;
    }
    let view = view?.without_topics(|address| is_topic(rules, &job.url, address));
    if view.log_out().is_some() {
        return None;
    }
    let login_form = Judge::stored().login_form(&view.forms, job.url.as_str()).map(|(at, _)| at);
    if let Some(sign) = logged_out(&view, login_form) {
        return Some(sign);
    }
    match job.class {
        Class::Download => Some("a page instead of a torrent, and no link to log out".to_owned()),
        // Guests may see part of it, and other links too.
        class if (class.is_listing() || class.is_target()) && !view.log_in_links.is_empty() => {
            Some("a link to log in, and none to log out".to_owned())
        }
        class if class.is_listing() && !found.iter().any(|found| found.class.is_target()) => {
            Some("an empty page without a link to log out".to_owned())
        }
        class if class.is_target() && !has_magnets && !found.iter().any(|found| found.class == Class::Download) => {
            Some("an empty page without a link to log out".to_owned())
        }
        _ => None,
    }
}
