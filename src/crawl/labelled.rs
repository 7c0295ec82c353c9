//! Whose word for a thread counts where several lists show it under labels of their own: the first list's, until that one does not show it any more,
//! or has not been read for a while. Else a thread that two boards list would change its label at each recheck of either.
//!
//! In memory: a restart begins with the list that is read first.

use std::collections::{HashMap, HashSet};

use gleaner_base::clock::UnixMillis;
use gleaner_base::url::CrawlUrl;
use xxhash_rust::xxh3::xxh3_64;

use crate::job::PageLabel;
use crate::limits::{LABELLED_TIME, LABELLED_URLS_MAX};

/// See the module.
#[derive(Default)]
pub struct Labelled {
    /// By the hash of a URL, that of the list whose label it has, and when that one has shown it last.
    lists: HashMap<u64, (u64, UnixMillis)>,
    /// By list, the URLs that have its labels.
    urls: HashMap<u64, HashSet<u64>>,
}

fn hash(url: &CrawlUrl) -> u64 {
    xxh3_64(url.as_str().as_bytes())
}

impl Labelled {
    /// The labels of a page that count.
    #[must_use]
    pub fn kept(&mut self, page: &CrawlUrl, labels: Vec<PageLabel>, at: UnixMillis) -> Vec<PageLabel> {
        let list = hash(page);
        let now: HashSet<u64> = labels.iter().filter(|label| !label.is_own).map(|label| hash(&label.url)).collect();
        for url in self.urls.remove(&list).into_iter().flatten().filter(|url| !now.contains(url)) {
            if self.lists.get(&url).is_some_and(|(owner, _)| *owner == list) {
                self.lists.remove(&url);
            }
        }
        if self.lists.len() + now.len() > LABELLED_URLS_MAX {
            *self = Self::default();
        }
        let mut own = HashSet::new();
        let mut is_kept = |label: &PageLabel| {
            if label.is_own {
                return true;
            }
            let url = hash(&label.url);
            let (owner, shown) = self.lists.entry(url).or_insert((list, at));
            let is_its = *owner == list || at.since(*shown) > LABELLED_TIME;
            if is_its {
                (*owner, *shown) = (list, at);
                own.insert(url);
            }
            is_its
        };
        let kept = labels.into_iter().filter(|label| is_kept(label)).collect();
        if !own.is_empty() {
            self.urls.insert(list, own);
        }
        kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gleaner_base::url::Canonical;

    fn url(path: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://a.example/{path}"), &Canonical::default()).unwrap()
    }

    fn label(path: &str, text: &str, is_own: bool) -> PageLabel {
        PageLabel { url: url(path), text: text.into(), is_own }
    }

    const NOW: UnixMillis = UnixMillis(1_000);

    fn texts(kept: &[PageLabel]) -> Vec<&str> {
        kept.iter().map(|label| &*label.text).collect()
    }

    #[test]
    fn a_thread_of_two_boards_keeps_the_first_one_s_label_until_that_one_drops_it() {
        let (mut labelled, one, two) = (Labelled::default(), url("one"), url("two"));
        for _ in 0..3 {
            assert_eq!(texts(&labelled.kept(&one, vec![label("t", "films", false)], NOW)), ["films"]);
            let of_two = labelled.kept(&two, vec![label("t", "all", false), label("u", "all", false)], NOW);
            assert_eq!((texts(&of_two), of_two[0].url.path()), (vec!["all"], "/u"));
        }
        // What a page says of itself is none of a list's.
        assert_eq!(texts(&labelled.kept(&url("t"), vec![label("t", "own", true)], NOW)), ["own"]);
        assert!(labelled.kept(&two, vec![label("t", "all", false)], NOW).is_empty(), "and ends nothing");
        assert!(labelled.kept(&one, Vec::new(), NOW).is_empty());
        assert_eq!(texts(&labelled.kept(&two, vec![label("t", "all", false)], NOW)), ["all"]);
        assert!(labelled.kept(&one, vec![label("t", "films", false)], NOW).is_empty());
        // A list that is not read any more holds nothing.
        let later = NOW.plus(LABELLED_TIME + std::time::Duration::from_secs(1));
        assert_eq!(texts(&labelled.kept(&one, vec![label("t", "films", false)], later)), ["films"]);
        let of_two = vec![label("t", "all", false)];
        assert!(labelled.kept(&two, Vec::new(), later).is_empty() && labelled.kept(&two, of_two, later).is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut labelled = Labelled::default();
        for page in 0..3 {
            let many = (0..LABELLED_URLS_MAX / 2).map(|nth| label(&format!("{page}/{nth}"), "x", false)).collect();
            let _ = labelled.kept(&url(&format!("page{page}")), many, NOW);
            assert!(labelled.lists.len() <= LABELLED_URLS_MAX);
        }
    }
}
