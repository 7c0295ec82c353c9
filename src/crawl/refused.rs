//! Links that a site's rules refuse, the last ones, for those who look after its rule file. In memory, and a sample: of each page the first link that each
//! rule refuses, so that a page of a thousand refused links costs what one with a few does.

use std::collections::VecDeque;

use xxhash_rust::xxh3::xxh3_64_with_seed;

use crate::limits::{REFUSED_KEPT_MAX, REFUSED_PER_PAGE_MAX};
use crate::masked::masked;
use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use gleaner_rules::{ActSign, SiteRules};

/// What refuses a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RefusedBy {
    /// The rule of `deny` with this number.
    Rule(usize),
    NoClass,
    NotBelowStart,
    EndsSession,
    Acts(ActSign),
    /// Its host is not one of the site's, and its path is that of a torrent.
    Host,
}

/// Of one page.
#[derive(Debug, Default)]
pub struct OfPage(Vec<(Box<str>, RefusedBy)>);

impl OfPage {
    /// Takes note of a link, the first of its kind.
    pub(crate) fn add(&mut self, url: &CrawlUrl, by: RefusedBy) {
        if self.0.len() < REFUSED_PER_PAGE_MAX && self.0.iter().all(|(_, known)| *known != by) {
            self.0.push((url.as_str().into(), by));
        }
    }

    /// True if there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// A link that was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedLink {
    /// Keys masked.
    pub url: Box<str>,
    pub why: String,
    /// The rule as it is written, and where: file, line and column; for what no rule but a key refuses, the file.
    pub rule: Option<String>,
    pub place: String,
    /// Its number, for a rule of the site's own file.
    pub line: Option<usize>,
    /// Where it was linked last, keys masked.
    pub page: Box<str>,
    pub at: UnixMillis,
    /// Pages of the sample that link it.
    pub pages: u32,
}

/// The last ones of a site, the newest at the end.
#[derive(Clone, Debug, Default)]
pub struct Refused {
    /// With a hash of each.
    links: VecDeque<(u64, RefusedLink)>,
}

impl Refused {
    /// Takes note of what a page links.
    pub(crate) fn add(&mut self, rules: &SiteRules, page: &CrawlUrl, refused: &OfPage, at: UnixMillis) {
        for (url, by) in &refused.0 {
            let hash = xxh3_64_with_seed(url.as_bytes(), seed(*by));
            let known = self.links.iter().rposition(|(known, _)| *known == hash);
            let mut link = match known.and_then(|place| self.links.remove(place)) {
                Some((_, link)) => link,
                None => of(rules, url, *by),
            };
            (link.page, link.at, link.pages) = (masked(page.as_str()).into(), at, link.pages.saturating_add(1));
            if self.links.len() >= REFUSED_KEPT_MAX {
                self.links.pop_front();
            }
            self.links.push_back((hash, link));
        }
    }

    /// The newest first.
    pub fn links(&self) -> impl Iterator<Item = &RefusedLink> {
        self.links.iter().rev().map(|(_, link)| link)
    }
}

fn seed(by: RefusedBy) -> u64 {
    match by {
        RefusedBy::Rule(number) => number as u64,
        RefusedBy::NoClass => u64::MAX,
        RefusedBy::NotBelowStart => u64::MAX - 1,
        RefusedBy::EndsSession => u64::MAX - 2,
        RefusedBy::Acts(_) => u64::MAX - 3,
        RefusedBy::Host => u64::MAX - 4,
    }
}

fn of(rules: &SiteRules, url: &str, by: RefusedBy) -> RefusedLink {
    let rule = if let RefusedBy::Rule(number) = by { rules.rules().get(number) } else { None };
    let why = match by {
        RefusedBy::Rule(_) => "denied".to_owned(),
        RefusedBy::NoClass => format!("none of its {} rules matches it", rules.rules().len()),
        RefusedBy::NotBelowStart => "below_start keeps the crawl below its start URLs".to_owned(),
        RefusedBy::EndsSession => "it would log out the account of [login]".to_owned(),
        RefusedBy::Acts(sign) => format!("it would act for the account: {}", sign.sentence()),
        RefusedBy::Host => "its host is not in `hosts`".to_owned(),
    };
    RefusedLink {
        url: masked(url).into(),
        why,
        rule: rule.map(|rule| format!("{} '{}'", rule.key(), rule.pattern)),
        place: rule.map_or_else(|| rules.file.display().to_string(), gleaner_rules::Rule::place),
        line: rule.filter(|rule| *rule.file == *rules.file).map(|rule| rule.line),
        page: Box::default(),
        at: UnixMillis(0),
        pages: 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules() -> std::sync::Arc<SiteRules> {
        let text = "start = ['http://h.example/']\ndeny = [\n  '^/user/',\n  '^/post/',\n]\nclasses.index = ['^/$']\n";
        gleaner_rules::from_text_at(std::path::Path::new("rules/s.toml"), text).unwrap()
    }

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::from_parts("http://h.example", path)
    }

    #[test]
    fn of_a_page_one_link_a_rule_is_kept() {
        let mut page = OfPage::default();
        assert!(page.is_empty());
        for nth in 0..1_000 {
            page.add(&url(&format!("/user/{nth}")), RefusedBy::Rule(0));
            page.add(&url(&format!("/about/{nth}")), RefusedBy::NoClass);
        }
        assert_eq!(page.0.len(), 2);
        (0..100).for_each(|rule| page.add(&url("/x"), RefusedBy::Rule(rule)));
        assert_eq!(page.0.len(), REFUSED_PER_PAGE_MAX);
    }

    #[test]
    fn a_link_names_the_line_that_refuses_it_once_and_its_keys_are_masked() {
        let (rules, mut refused) = (rules(), Refused::default());
        for at in 1..=3 {
            let mut page = OfPage::default();
            page.add(&url("/post/new?passkey=0123456789abcdef0123456789abcdef"), RefusedBy::Rule(1));
            page.add(&url("/about"), RefusedBy::NoClass);
            refused.add(&rules, &url(&format!("/list/{at}")), &page, UnixMillis(at));
        }
        let links: Vec<&RefusedLink> = refused.links().collect();
        let [about, post] = links[..] else { panic!("{links:?}") };
        assert_eq!((&*about.url, about.line, &*about.place), ("http://h.example/about", None, "rules/s.toml"));
        assert_eq!((post.line, &*post.place, post.pages), (Some(4), "rules/s.toml:4:3", 3));
        assert_eq!((post.rule.as_deref(), &*post.page), (Some("deny '^/post/'"), "http://h.example/list/3"));
        assert!(!post.url.contains("0123456789abcdef"), "{}", post.url);
        for nth in 0..1_000 {
            let mut page = OfPage::default();
            page.add(&url(&format!("/user/{nth}")), RefusedBy::Rule(0));
            refused.add(&rules, &url("/"), &page, UnixMillis(9));
        }
        assert_eq!(refused.links().count(), REFUSED_KEPT_MAX);
        assert_eq!(&*refused.links().next().unwrap().url, "http://h.example/user/999");
    }
}
