//! Labels: a site's own word for what a torrent is (`1_2`, `401`), and the number by which clients ask for it. A number is made from its
//! site and its text, so that another database gives the same one wherever it can, and is kept once it is given.

use std::collections::{BTreeMap, HashMap};

use xxhash_rust::xxh3::xxh3_64;

use super::record::LabelRow;
use crate::limits::{LABEL_BYTES_MAX, LABELS_PER_SITE_MAX};
use gleaner_base::newznab::OF_SITES;

/// Numbers that labels may have, from [`OF_SITES`] on.
const NUMBERS: u32 = 900_000;

/// The labels of all sites.
#[derive(Clone, Debug, Default)]
pub(super) struct Labels {
    texts: BTreeMap<u32, (Box<str>, Box<str>)>,
    numbers: HashMap<Box<str>, HashMap<Box<str>, u32>>,
}

/// True for a text that may be a label.
pub(super) fn is_keepable(text: &str) -> bool {
    (1..=LABEL_BYTES_MAX).contains(&text.len()) && !text.chars().any(char::is_control)
}

impl Labels {
    pub(super) fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    pub(super) fn number(&self, site: &str, text: &str) -> Option<u32> {
        self.numbers.get(site)?.get(text).copied()
    }

    pub(super) fn text(&self, number: u32) -> Option<&str> {
        self.texts.get(&number).map(|(_, text)| &**text)
    }

    /// In the order of their numbers.
    pub(super) fn rows(&self) -> impl Iterator<Item = LabelRow> {
        self.texts.iter().map(|(number, (site, text))| LabelRow {
            site: site.clone(),
            text: text.clone(),
            number: *number,
        })
    }

    pub(super) fn add(&mut self, LabelRow { site, text, number }: LabelRow) {
        self.numbers.entry(site.clone()).or_default().insert(text.clone(), number);
        self.texts.insert(number, (site, text));
    }

    /// A new label with a number that neither these labels nor `more` have; None once the site has too many.
    pub(super) fn new_row(&self, site: &str, text: &str, more: &[LabelRow]) -> Option<LabelRow> {
        let of_site =
            self.numbers.get(site).map_or(0, HashMap::len) + more.iter().filter(|row| &*row.site == site).count();
        if of_site >= LABELS_PER_SITE_MAX {
            return None;
        }
        let hash = xxh3_64([site, text].join("\0").as_bytes());
        let first = u32::try_from(hash % u64::from(NUMBERS)).unwrap_or_default();
        let is_free = |number: &u32| !self.texts.contains_key(number) && more.iter().all(|row| row.number != *number);
        let number = (0..NUMBERS).map(|step| OF_SITES + (first + step) % NUMBERS).find(is_free)?;
        Some(LabelRow { site: site.into(), text: text.into(), number })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_has_the_same_number_everywhere_and_collisions_take_the_next() {
        let (mut labels, other) = (Labels::default(), Labels::default());
        let row = labels.new_row("a", "1_2", &[]).unwrap();
        assert_eq!(other.new_row("a", "1_2", &[]), Some(row.clone()));
        assert!((OF_SITES..OF_SITES + NUMBERS).contains(&row.number));
        assert_ne!(other.new_row("b", "1_2", &[]).unwrap().number, row.number);
        labels.add(LabelRow { text: "other".into(), ..row.clone() });
        assert_eq!(labels.new_row("a", "1_2", &[]).unwrap().number, row.number + 1);
        let staged = [LabelRow { number: row.number + 1, ..row.clone() }];
        assert_eq!(labels.new_row("a", "1_2", &staged).unwrap().number, row.number + 2);
        assert_eq!((labels.number("a", "other"), labels.text(row.number)), (Some(row.number), Some("other")));
    }

    #[test]
    fn a_site_has_no_more_labels_than_the_limit() {
        let mut labels = Labels::default();
        for number in 0..LABELS_PER_SITE_MAX {
            let row = labels.new_row("a", &number.to_string(), &[]).unwrap();
            labels.add(row);
        }
        assert_eq!(labels.new_row("a", "one more", &[]), None);
        assert!(labels.new_row("b", "one more", &[]).is_some());
        assert!(!is_keepable("") && !is_keepable("a\nb") && !is_keepable(&"x".repeat(LABEL_BYTES_MAX + 1)));
    }
}
