//! Before a first crawl nothing is known of a site: its robots.txt and start pages are requested, and what a crawl would follow from them is
//! told. Nothing is stored.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::Serialize;
use url::Url;

use super::{Judged, judged};
use crate::app::App;
use gleaner_base::url::CrawlUrl;
use gleaner_crawl::look::Inspection;
use gleaner_net::fetch::charset;
use gleaner_page::links;
use gleaner_render::wire::Response;
use gleaner_rules::config::Config;
use gleaner_rules::{SiteRules, Verdict};

/// URLs of each class shown.
const SHOWN: usize = 5;

/// What a start page leads to.
#[derive(Debug, Default, Serialize)]
pub(super) struct Ahead {
    /// Its URL after redirects, if that is another one.
    redirected_to: Option<String>,
    status: Option<u16>,
    /// Why it was not requested, or not answered.
    error: Option<String>,
    /// Distinct links by class.
    links: BTreeMap<&'static str, usize>,
    /// Distinct links that the rules refuse, by the reason.
    refused: BTreeMap<&'static str, usize>,
    /// The first links of each class.
    follows: Vec<Judged>,
}

impl Ahead {
    /// False if a crawl would end here.
    pub(super) fn is_well(&self) -> bool {
        self.error.is_none() && self.status.is_some_and(|status| (200..300).contains(&status)) && !self.links.is_empty()
    }
}

/// Requests the start pages of a site, one after the other, as a crawl would.
pub(super) async fn of(config: &Config, rules: &Arc<SiteRules>) -> anyhow::Result<Vec<Ahead>> {
    let mut all = Vec::new();
    for start in &rules.start {
        let site = App::site_with_session(&config.into(), rules)?;
        let answer = match Inspection::begin(site.scripts, start.clone()).await {
            Ok(mut look) => look.open(start.clone()).await,
            Err(error) => Err(error),
        };
        all.push(match answer {
            Ok(answer) => read(rules, start, &answer),
            Err(error) => Ahead { error: Some(error), ..Ahead::default() },
        });
    }
    Ok(all)
}

fn read(rules: &SiteRules, start: &CrawlUrl, answer: &Response) -> Ahead {
    let mut ahead = Ahead { status: Some(answer.status), ..Ahead::default() };
    ahead.redirected_to = (answer.url != start.as_str()).then(|| answer.url.clone());
    let encoding =
        charset::detect(answer.header("content-type"), &answer.body, rules.charset.map(encoding_rs::Encoding::name));
    let page = links::scan(&answer.body, encoding);
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
                if *links <= SHOWN {
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
    if !ahead.refused.is_empty() {
        lines.push(format!("        refused: {}", told(&ahead.refused)));
    }
    lines.extend(ahead.follows.iter().map(|url| format!("  then  {}", super::told(url))));
    lines
}
