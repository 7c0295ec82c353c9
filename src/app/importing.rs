//! Judges the URLs of an imported manifest by the rule files: which are the site's own, and how the crawl writes them.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use gleaner_base::url::{Canonical, CrawlUrl};
use gleaner_crawl::frontier::priority;
use gleaner_rules::{self as rules, Class, SiteRules};
use gleaner_store::crawldb::{CATEGORIES_NOTE, CrawlDb, CrawlDbError};
use gleaner_store::import::{Judge, Judged};

/// A judge by the rule files of a folder. A file with faults counts as none: its site's URLs are taken as they are.
#[must_use]
pub fn judge(rules_dir: &Path) -> Arc<Judge> {
    let sites: Vec<Arc<SiteRules>> = match rules_dir.is_dir() {
        true => rules::load_dir(rules_dir).into_iter().filter_map(|file| file.site.ok()).collect(),
        false => Vec::new(),
    };
    Arc::new(move |site: &str, url: &str| judged(&sites, site, url))
}

/// Leaves in the database what the rule files of imported sites mean by their labels, as their crawls do.
///
/// # Errors
/// Those of the database.
pub async fn note_categories(db: &dyn CrawlDb, rules_dir: &Path) -> Result<(), CrawlDbError> {
    let known: BTreeSet<Box<str>> = db.hosts().await?.into_iter().map(|host| host.site).collect();
    let sites = if rules_dir.is_dir() { rules::load_dir(rules_dir) } else { Vec::new() };
    for site in sites.into_iter().filter_map(|file| file.site.ok()).filter(|site| known.contains(&site.name)) {
        db.put_note(&site.name, CATEGORIES_NOTE, site.categories().note()).await?;
    }
    Ok(())
}

fn judged(sites: &[Arc<SiteRules>], site: &str, url: &str) -> Judged {
    const FOREIGN: &str = "a manifest lies: a URL is none of its site's hosts";
    let own = sites.iter().find(|rules| *rules.name == *site);
    let plain = Canonical::default();
    let Ok(url) = CrawlUrl::parse(url, own.map_or(&plain, |rules| &rules.canonical)) else {
        return Judged::Lie("a manifest names what is no URL");
    };
    let Some(own) = own else {
        let is_of_another = sites.iter().any(|rules| rules.owns_host(url.authority()));
        return if is_of_another { Judged::Lie(FOREIGN) } else { known(&url, Class::Download) };
    };
    let url = own.without_mirror(url);
    if !own.owns_host(url.authority()) {
        return Judged::Lie(FOREIGN);
    }
    match own.class_of(url.path()) {
        None => known(&url, Class::Download),
        Some(class @ (Class::Download | Class::Detail)) => known(&url, class),
        Some(_) => Judged::List,
    }
}

fn known(url: &CrawlUrl, class: Class) -> Judged {
    let (origin, path) = (url.origin().to_owned(), url.path().to_owned());
    Judged::Known { origin, path, rank: priority::of_class(class), is_detail: class == Class::Detail }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_of_their_site_and_written_as_the_crawl_writes_them() {
        let here = tempfile::tempdir().unwrap();
        for (name, host) in [("a", "a.example"), ("b", "b.example")] {
            let text = format!("start = ['https://{host}/']\n[classes]\nindex = ['^/$']\ndownload = ['[.]torrent$']\n");
            std::fs::write(here.path().join(format!("{name}.toml")), text).unwrap();
        }
        let judge = judge(here.path());
        let path = |judged| match judged {
            Judged::Known { origin, path, .. } => origin + &path,
            other => format!("{other:?}"),
        };
        assert_eq!(path(judge("a", "HTTPS://A.example:443/x/%41.torrent#f")), "https://a.example/x/A.torrent");
        assert_eq!(judge("a", "https://a.example/"), Judged::List);
        assert_eq!(path(judge("c", "https://c.example/x?id=1")), "https://c.example/x?id=1");
        for (site, url) in [
            ("a", "https://b.example/x.torrent"),
            ("c", "https://b.example/x.torrent"),
            ("a", "https://evil.example/x.torrent"),
            ("a", "file:///etc/passwd"),
            ("a", "x"),
            ("a", "https://u:p@a.example/"),
        ] {
            assert!(matches!(judge(site, url), Judged::Lie(_)), "{site} {url}");
        }
        let none = super::judge(&here.path().join("nowhere"));
        assert!(matches!(none("a", "https://a.example/x"), Judged::Known { .. }));
    }
}
