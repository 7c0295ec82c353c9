//! What a site says that a torrent is: where its own label stands, and which of Newznab's categories that means.

use std::collections::BTreeMap;

use regex::Regex;

use super::fault::Faults;
use super::file::CategoriesFile;
use super::patterns::labelling;
use super::schema::Spans;
use gleaner_base::newznab::{CATEGORIES, full_name};

/// Where labels stand, and what they mean.
#[derive(Clone, Debug, Default)]
pub struct CategoryRules {
    /// Of the whole site, where no label says more.
    pub all: Option<u32>,
    /// Of a link, with the label as group 1.
    link: Option<Regex>,
    /// Of a list's own URL.
    list: Option<Regex>,
    /// The category of each label; others have none.
    pub map: BTreeMap<Box<str>, u32>,
}

impl CategoryRules {
    /// True if links have labels, so that rows have to be told apart.
    #[must_use]
    pub fn reads_links(&self) -> bool {
        self.link.is_some()
    }

    /// The label that a link names, by its path and query.
    #[must_use]
    pub fn of_link<'p>(&self, path: &'p str) -> Option<&'p str> {
        label(self.link.as_ref()?, path)
    }

    /// The label that a list's URL names, by its path and query.
    #[must_use]
    pub fn of_list<'p>(&self, path: &'p str) -> Option<&'p str> {
        label(self.list.as_ref()?, path)
    }

    /// Where labels stand, as written: pages have to be read again once it changes.
    pub(super) fn places(&self) -> (Option<&str>, Option<&str>) {
        (self.link.as_ref().map(Regex::as_str), self.list.as_ref().map(Regex::as_str))
    }

    /// What labels mean, for whoever reads the database: JSON with `all` and `map`; empty if it says nothing.
    #[must_use]
    pub fn note(&self) -> Vec<u8> {
        match (self.all, self.map.is_empty()) {
            (None, true) => Vec::new(),
            (all, _) => serde_json::json!({ "all": all, "map": self.map }).to_string().into_bytes(),
        }
    }

    /// Fills in what a family says.
    pub(super) fn inherit(&mut self, elder: Self) {
        self.all = self.all.or(elder.all);
        self.link = self.link.take().or(elder.link);
        self.list = self.list.take().or(elder.list);
        for (label, number) in elder.map {
            self.map.entry(label).or_insert(number);
        }
    }
}

fn label<'p>(of: &Regex, path: &'p str) -> Option<&'p str> {
    of.captures(path)?.name("label").map(|label| label.as_str()).filter(|label| !label.is_empty())
}

/// Checks the keys `category` and `categories` of a file.
pub(super) fn categories(faults: &mut Faults, spans: &Spans, all: Option<u32>, file: &CategoriesFile) -> CategoryRules {
    let mut is_known = |key: &str, number: u32| {
        let is_known = CATEGORIES.iter().any(|category| category.number == number);
        if !is_known {
            let parent = number - number % 1_000;
            let near = CATEGORIES.iter().filter(|category| category.number - category.number % 1_000 == parent);
            let near: Vec<String> =
                near.filter_map(|of| Some(format!("{} ({})", of.number, full_name(of.number)?))).collect();
            let hint = match near.is_empty() {
                true => "write a number of Newznab, such as 4020 (PC/ISO); `gleaner categories` lists them".to_owned(),
                false => format!("write one of {}", near.join(", ")),
            };
            faults.add(spans.value(key), key, format!("{number} is no category"), Some(hint));
        }
        is_known
    };
    let all = all.filter(|number| is_known("category", *number));
    let mut map = BTreeMap::new();
    for (label, number) in &file.map {
        if is_known(&format!("categories.map.{label}"), *number) {
            map.insert(label.as_str().into(), *number);
        }
    }
    let mut expression = |name: &str, pattern: Option<&String>| {
        let key = format!("categories.{name}");
        pattern.and_then(|pattern| labelling(faults, spans.value(&key), &key, pattern))
    };
    CategoryRules {
        all,
        link: expression("link", file.link.as_ref()),
        list: expression("list", file.list.as_ref()),
        map,
    }
}
