//! The shipped family that agrees with what was learned (LEARNING §14.11).

use crate::choose::Choice;
use crate::limits::TRIED_MAX;
use crate::map::Map;
use gleaner_rules::{Class, SiteRules, Verdict, families, from_text};

/// A family and what it says of the learned URLs.
#[derive(Clone, Debug, PartialEq)]
pub struct Agreement {
    /// `families/phpbb`
    pub name: String,
    /// Classes of which it takes too few URLs: they are learned.
    pub lacks: Vec<Class>,
    /// By class: the share of URLs that it takes as that class.
    pub shares: Vec<(Class, f64)>,
}

/// The share of a class's URLs that a family must take.
const AGREED: f64 = 0.95;

/// Classes that must agree for a family with one that does not.
const OTHERS_MIN: usize = 2;

/// The family that fits; None if none does.
#[must_use]
pub fn agreeing(map: &Map, choice: &Choice) -> Option<Agreement> {
    let lists_folders = lists_folders(map, choice);
    let start = map.home.url("/");
    let mut best: Option<(Agreement, f64)> = None;
    for (name, _) in families::BUILT_IN {
        if SERVERS.contains(&name) && !lists_folders {
            continue;
        }
        let text = format!("start = [\"{start}\"]\nextends = \"families/{name}\"\nclasses.page = ['^/$']\n");
        let Ok(rules) = from_text("learned", &text) else { continue };
        let shares = shares(map, choice, &rules);
        let agreed = shares.iter().filter(|(_, share)| *share >= AGREED).count();
        let lacks: Vec<Class> = shares.iter().filter(|(_, share)| *share < AGREED).map(|(class, _)| *class).collect();
        let is_broken_in_one = |lacks: &[Class]| {
            lacks.len() == 1
                && agreed >= OTHERS_MIN
                && shares.iter().all(|(_, share)| *share >= AGREED || *share <= 0.05)
        };
        if shares.is_empty() || agreed == 0 || !lacks.is_empty() && !is_broken_in_one(&lacks) {
            continue;
        }
        // Of servers' listings, the family of all of them is the plainest.
        let worth = agreed as f64 - lacks.len() as f64 + if name == "autoindex" { 0.5 } else { 0.0 };
        if best.as_ref().is_none_or(|(_, other)| worth > *other) {
            best = Some((Agreement { name: format!("families/{name}"), lacks, shares }, worth));
        }
    }
    best.map(|(agreement, _)| agreement)
}

/// Where the login of a software is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginPlaces {
    /// Whole URLs.
    pub page: String,
    pub probe: Option<String>,
}

/// The login of the family whose login page the site links to; of several, the one whose rules take most links.
#[must_use]
pub fn login_places(map: &Map) -> Option<LoginPlaces> {
    let start = map.home.url("/");
    let mut best: Option<(usize, LoginPlaces)> = None;
    for (name, _) in families::BUILT_IN {
        let text = format!(
            "start = [\"{start}\"]\nextends = \"families/{name}\"\nclasses.page = ['^/$']\n[login]\nuser = 'someone'\n"
        );
        let Some(rules) = from_text("learned", &text).ok().filter(|rules| rules.login.is_some()) else { continue };
        let Some(page) = rules.login.as_ref().and_then(|login| login.page.as_ref()) else { continue };
        if !map.urls().any(|(_, url)| *url.path == *page.path()) {
            continue;
        }
        let taken = |path: &str| matches!(rules.judge(&map.home.url(path)), Verdict::Take { .. });
        let taken = map.urls().filter(|(_, url)| taken(&url.path)).count();
        if best.as_ref().is_none_or(|(most, _)| taken > *most) {
            let probe = rules.login.as_ref().and_then(|login| login.probe.as_ref());
            let places =
                LoginPlaces { page: page.as_str().to_owned(), probe: probe.map(|probe| probe.as_str().to_owned()) };
            best = Some((taken, places));
        }
    }
    best.map(|(_, places)| places)
}

/// Families of listings that web servers make of folders. They take any folder.
const SERVERS: [&str; 6] = ["apache", "autoindex", "h5ai", "lighttpd", "nginx", "python-http"];

/// Most of the lists are such listings.
fn lists_folders(map: &Map, choice: &Choice) -> bool {
    let pages = || choice.lists.iter().flat_map(|list| &list.pages).filter_map(|id| map.page(*id));
    pages().filter(|page| page.lists_folder).count() * 2 > pages().count()
}

/// By class, the share of learned URLs that rules take as that class.
fn shares(map: &Map, choice: &Choice, rules: &SiteRules) -> Vec<(Class, f64)> {
    let mut shares = Vec::new();
    for class in [Class::Download, Class::Detail, Class::Index] {
        let shapes = choice.classes.iter().filter(|(_, of)| **of == class).map(|(shape, _)| *shape);
        let urls = shapes.flat_map(|shape| map.urls_of(shape)).filter(|url| map.url(**url).refused.is_none());
        let (mut count, mut taken) = (0_usize, 0_usize);
        for url in urls.take(TRIED_MAX) {
            count += 1;
            let url = gleaner_base::url::CrawlUrl::parse(map.home.url(map.path(*url)).as_str(), &rules.canonical);
            let Ok(url) = url else { continue };
            taken += usize::from(matches!(rules.judge(&url), Verdict::Take { class: own, .. } if is_same(own, class)));
        }
        if count > 0 {
            shares.push((class, taken as f64 / count as f64));
        }
    }
    shares
}

/// Threads are details, boards are lists.
fn is_same(own: Class, learned: Class) -> bool {
    own == learned
        || matches!((own, learned), (Class::Thread, Class::Detail) | (Class::Board | Class::Page, Class::Index))
}
