//! Before a first crawl nothing is known of a site: its robots.txt and start pages are requested, and what a crawl would follow from them is
//! told. Nothing is stored.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::collections::btree_map::{BTreeMap, Entry};
use std::sync::Arc;

use serde::Serialize;
use url::Url;

use super::{Judged, judged};
use crate::app::App;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::look::Inspection;
use gleaner_net::fetch::charset;
use gleaner_page::{feed, links, scripted, sitemap};
use gleaner_render::wire::Response;
use gleaner_rules::config::Config;
use gleaner_rules::{Class, RenderWhen, SiteRules, Verdict};

/// URLs of each class shown.
const SHOWN: usize = 5;

/// What a start page leads to.
#[derive(Debug, Default, Serialize)]
pub(in crate::cli) struct Ahead {
    /// Its URL after redirects, if that is another one.
    redirected_to: Option<String>,
    pub(in crate::cli) status: Option<u16>,
    /// Why it was not requested, or not answered.
    pub(in crate::cli) error: Option<String>,
    /// Distinct links by class.
    links: BTreeMap<&'static str, usize>,
    /// Distinct links that the rules refuse, by the reason.
    refused: BTreeMap<&'static str, usize>,
    /// The first links of each class.
    follows: Vec<Judged>,
    /// Scripts may build the page, or more of it: a crawl runs them.
    may_be_built: bool,
}

impl Ahead {
    /// False if a crawl would end here.
    pub(in crate::cli) fn is_well(&self) -> bool {
        let is_answered = self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status));
        is_answered && (!self.links.is_empty() || self.may_be_built)
    }
}

/// Requests the start pages of a site, one after the other, as a crawl would.
pub(in crate::cli) async fn of(config: &Config, rules: &Arc<SiteRules>) -> Vec<Ahead> {
    let failed = |error| Ahead { error: Some(error), ..Ahead::default() };
    let mut looks = BTreeMap::new();
    let mut all = Vec::new();
    for start in &rules.start {
        // One for each host: it knows the host's robots.txt, and when the next request is due.
        let look = match looks.entry(start.origin().to_owned()) {
            Entry::Occupied(look) => look.into_mut(),
            Entry::Vacant(place) => place.insert(begin(config, rules, start).await),
        };
        let answer = match look {
            Ok(look) => look.open(start.clone()).await,
            Err(error) => Err(error.clone()),
        };
        all.push(answer.map_or_else(failed, |answer| read(rules, start, &answer)));
    }
    all
}

async fn begin(config: &Config, rules: &Arc<SiteRules>, start: &CrawlUrl) -> Result<Inspection, String> {
    let site =
        App::site_with_session(&config.into(), rules).map_err(|error| format!("{error:#}").replace('\n', "; "))?;
    Inspection::begin(site.scripts, start.clone()).await
}

fn read(rules: &SiteRules, start: &CrawlUrl, answer: &Response) -> Ahead {
    let mut ahead = Ahead { status: Some(answer.status), ..Ahead::default() };
    ahead.redirected_to = (answer.url != start.as_str()).then(|| answer.url.clone());
    let encoding =
        charset::detect(answer.header("content-type"), &answer.body, rules.charset.map(encoding_rs::Encoding::name));
    let class = match rules.judge(&rules.without_mirror(start.clone())) {
        Verdict::Take { class, .. } => class,
        Verdict::Refuse { .. } => Class::Page,
    };
    let signs = scripted::signs(&answer.body);
    ahead.may_be_built =
        rules.render(class) != RenderWhen::Never && (signs.empty_root || signs.framework || signs.waits);
    let body = if class == Class::Sitemap { sitemap::unpacked(&answer.body) } else { Cow::Borrowed(&answer.body[..]) };
    let page = match class {
        Class::Sitemap => sitemap::links(&body, encoding),
        _ if feed::is_feed(&body, encoding) => feed::links(&body, encoding),
        _ => links::scan(&body, encoding),
    };
    let Some(own) = Url::parse(&answer.url).ok() else { return ahead };
    let base = page.base.as_ref().and_then(|base| own.join(base).ok()).unwrap_or(own);
    let mut seen = BTreeSet::new();
    for link in &page.links {
        let Ok(url) = CrawlUrl::join(&base, &link.href, Some(encoding), &rules.canonical) else { continue };
        let url = rules.without_mirror(url);
        if !seen.insert(url.as_str().to_owned()) {
            continue;
        }
        match rules.judge(&url) {
            Verdict::Take { class, .. } => {
                let links = ahead.links.entry(class.name()).or_default();
                *links += 1;
                if *links <= SHOWN && !rules.start.contains(&url) {
                    ahead.follows.push(judged(rules, &url));
                }
            }
            Verdict::Refuse { reason } => *ahead.refused.entry(reason.name()).or_default() += 1,
        }
    }
    ahead
}

/// Lines for people, each indented.
pub(super) fn lines(ahead: &Ahead) -> Vec<String> {
    let told = |counts: &BTreeMap<&str, usize>| {
        counts.iter().map(|(name, count)| format!("{count} {name}")).collect::<Vec<_>>().join(", ")
    };
    let mut lines = Vec::new();
    if let Some(error) = &ahead.error {
        lines.push(format!("        requested now: not answered: {error}"));
        return lines;
    }
    let to = ahead.redirected_to.as_ref().map(|to| format!(" by {to}")).unwrap_or_default();
    let status = ahead.status.unwrap_or_default();
    lines.push(match ahead.links.is_empty() {
        true => format!("        requested now: status {status}{to}; the rules accept none of its links"),
        false => format!("        requested now: status {status}{to}; its links: {}", told(&ahead.links)),
    });
    if ahead.may_be_built {
        lines.push(
            "        its scripts may show more: a crawl runs them (gleaner render URL shows what they make)".to_owned(),
        );
    }
    if !ahead.refused.is_empty() {
        lines.push(format!("        refused: {}", told(&ahead.refused)));
    }
    lines.extend(ahead.follows.iter().map(|url| format!("  then  {}", super::told(url))));
    lines
}
