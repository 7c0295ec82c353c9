//! Under which categories a torrent is filed: its site's own word for it, what the site's rule file says of the whole site, and where neither
//! says anything, its payload.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::Hasher as _;

use gleaner_base::newznab::MISC;
use gleaner_store::crawldb::{CATEGORIES_NOTE, CrawlDbError, LabelRow, MagnetRow, Reader, SiteLabels, TorrentRow};
use gleaner_torrent::contents::ContainedFile;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::category::{film_by_name, of_payload, parent};

/// What the rule file of a site says, as the crawl leaves it in the database.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SiteFiling {
    /// Of all its torrents, unless a label says more.
    pub all: Option<u32>,
    /// By label.
    pub map: BTreeMap<String, u32>,
}

/// What all sites say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filing {
    pub sites: BTreeMap<Box<str>, SiteFiling>,
    pub labels: SiteLabels,
    /// Torrents are filed again, too, once a site has given known ones other labels. A thread that two boards show may change its label at each
    /// look: whoever asks in between need not wait for that.
    pub with_relabelled: bool,
}

/// Why a torrent is of its category.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// A site's label is mapped to it.
    Label,
    /// `category` of a site's rule file.
    Site,
    Payload,
}

impl Filing {
    /// Reads what the crawls have left.
    ///
    /// # Errors
    /// Those of the database.
    pub async fn read(db: &dyn Reader) -> Result<Self, CrawlDbError> {
        let names: BTreeSet<Box<str>> = db.hosts().await?.into_iter().map(|host| host.site).collect();
        let mut sites = BTreeMap::new();
        for name in names {
            let note = db.note(&name, CATEGORIES_NOTE).await?;
            // One that cannot be read is written again by the next crawl.
            if let Some(filing) = note.and_then(|note| serde_json::from_slice(&note).ok()) {
                sites.insert(name, filing);
            }
        }
        Ok(Self { sites, labels: db.labels().await?, with_relabelled: false })
    }

    /// Changes with what rule files say: then torrents are filed again.
    #[must_use]
    pub fn digest(&self) -> u64 {
        let mut hasher = Xxh3::new();
        hasher.write(serde_json::to_string(&self.sites).unwrap_or_default().as_bytes());
        hasher.finish()
    }

    /// The category of a torrent, and why. The site that stored it first is asked first.
    #[must_use]
    pub fn category(&self, row: &TorrentRow, files: &[ContainedFile]) -> (u32, Why) {
        let payload = of_payload(&row.facts.name, files);
        // A word for the whole is made narrower by what the payload is.
        let narrowed =
            |number: u32| if parent(number) == number && parent(payload) == number { payload } else { number };
        let sources = || {
            let first = row.sources.iter().filter(|source| source.site == row.site);
            first.chain(row.sources.iter().filter(|source| source.site != row.site))
        };
        let of_label = sources().find_map(|source| {
            let label = source.label.as_ref()?;
            self.sites.get(&source.site)?.map.get(&*label.text)
        });
        if let Some(number) = of_label {
            return (narrowed(*number), Why::Label);
        }
        match sources().find_map(|source| self.sites.get(&source.site)?.all) {
            Some(number) => (narrowed(number), Why::Site),
            None => (payload, Why::Payload),
        }
    }

    /// The category of what is known by a magnet link alone: what its site says, and nothing else is known.
    #[must_use]
    pub fn of_magnet(&self, row: &MagnetRow) -> u32 {
        let site = self.sites.get(&row.site);
        let of_label = site.and_then(|site| site.map.get(&*row.label.as_ref()?.text));
        let said = of_label.copied().or(site.and_then(|site| site.all)).unwrap_or(MISC);
        let of_film = film_by_name(row.facts.name.as_deref().unwrap_or_default());
        let is_narrower = matches!(said, 2000 | 5000) && parent(of_film) == said;
        if is_narrower { of_film } else { said }
    }

    /// The category that a label is mapped to.
    #[must_use]
    pub fn of_label(&self, row: &LabelRow) -> Option<u32> {
        self.sites.get(&row.site)?.map.get(&*row.text).copied()
    }
}

/// Numbers of the labels that a torrent's sites give it, in ascending order.
#[must_use]
pub fn labels(row: &TorrentRow) -> Vec<u32> {
    let numbers: BTreeSet<u32> = row.sources.iter().filter_map(|source| Some(source.label.as_ref()?.number)).collect();
    numbers.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_base::clock::UnixMillis;
    use gleaner_store::crawldb::{Label, Source, TorrentFacts};
    use gleaner_torrent::Infohashes;

    fn source(site: &str, label: Option<&str>) -> Source {
        let label = label.map(|text| Label { number: 100_000 + u32::from(text.as_bytes()[0]), text: text.into() });
        let at = UnixMillis(1);
        Source { site: site.into(), url: "http://a/".into(), via: None, label, first_seen: at, last_seen: at }
    }

    fn row(sources: Vec<Source>) -> TorrentRow {
        TorrentRow {
            facts: TorrentFacts {
                infohashes: Infohashes { v1: Some([1; 20]), v2: None },
                name: "Show.S01E01.1080p".into(),
                payload_bytes: 9,
                file_count: 1,
                metainfo_bytes: 9,
                sha256: [0; 32],
                created_unix: None,
                private: false,
            },
            site: "a".into(),
            stored: UnixMillis(1),
            seen_count: 1,
            sources,
        }
    }

    #[test]
    fn a_label_says_more_than_its_site_and_a_site_more_than_the_payload() {
        let file = ContainedFile { path: "a.mkv".to_owned(), bytes: 9 };
        let files = std::slice::from_ref(&file);
        let map = |label: &str, number| BTreeMap::from([(label.to_owned(), number)]);
        let mut filing = Filing::default();
        assert_eq!(filing.category(&row(vec![source("a", Some("x"))]), files), (5040, Why::Payload));
        filing.sites.insert("a".into(), SiteFiling { all: Some(4020), map: map("x", 5070) });
        filing.sites.insert("b".into(), SiteFiling { all: None, map: map("y", 5000) });
        assert_eq!(filing.category(&row(vec![source("a", Some("x"))]), files), (5070, Why::Label));
        assert_eq!(filing.category(&row(vec![source("a", Some("other"))]), files), (4020, Why::Site));
        assert_eq!(filing.category(&row(vec![source("b", Some("y")), source("a", Some("x"))]), files).0, 5070);
        assert_eq!(filing.category(&row(vec![source("b", Some("y"))]), files), (5040, Why::Label), "made narrower");
        assert_eq!(labels(&row(vec![source("b", Some("y")), source("a", Some("x")), source("a", None)])).len(), 2);
        let before = filing.digest();
        filing.sites.get_mut("b").unwrap().all = Some(4020);
        assert_ne!(filing.digest(), before);
    }
}
