//! Links of a site that match no class of its rule file, by their shape: what a rule file may have missed. In the same way links are
//! counted that would act in the account's name.
//!
//! Counted while pages are read, reported by `status` and by a crawl's summary, and reset when the rules change. It decides
//! nothing.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::shape::Shape;
use crate::limits::UNCLASSED_SHAPES_MAX;

/// A longer example is cut off: the note must have room for all.
const EXAMPLE_CHARS: usize = 200;

/// Links of one shape.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unclassed {
    /// Pages with such a link, each counted once per link.
    pub links: u64,
    /// The first one that was found: path and query.
    pub example: Box<str>,
    /// Why they are not followed, where that is not that no class matches.
    #[serde(default, skip_serializing_if = "str::is_empty")]
    pub why: Box<str>,
}

/// The links of one site, by shape; at most `limits::UNCLASSED_SHAPES_MAX` shapes, those found first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnclassedLinks {
    /// Marks the rules that did not accept them.
    rules: u64,
    shapes: BTreeMap<Box<str>, Unclassed>,
}

impl UnclassedLinks {
    /// Starts without counts under the rules of this token.
    #[must_use]
    pub fn new(rules: u64) -> Self {
        Self { rules, shapes: BTreeMap::new() }
    }

    /// Continues the stored counts if they were made under the same rules.
    #[must_use]
    pub fn take_up(rules: u64, note: Option<&[u8]>) -> Self {
        let kept = note.and_then(Self::from_bytes).filter(|kept| kept.rules == rules);
        kept.unwrap_or_else(|| Self::new(rules))
    }

    /// Counts a link by its path and query, with why it is not followed where that is not that no class matches. `shown` masks what is
    /// secret in the first one of a shape.
    pub fn add<'p>(&mut self, path: &'p str, why: &str, shown: impl FnOnce(&'p str) -> Cow<'p, str>) {
        let shape = Shape::of(path);
        if let Some(known) = self.shapes.get_mut(shape.as_str()) {
            known.links += 1;
        } else if self.shapes.len() < UNCLASSED_SHAPES_MAX {
            self.shapes.insert(
                shape.as_str().into(),
                Unclassed { links: 1, example: shown(path).chars().take(EXAMPLE_CHARS).collect(), why: why.into() },
            );
        }
    }

    /// The shapes, those with the most links first.
    #[must_use]
    pub fn most(&self) -> Vec<(&str, &Unclassed)> {
        let mut all: Vec<(&str, &Unclassed)> = self.shapes.iter().map(|(shape, of)| (&**shape, of)).collect();
        all.sort_by_key(|(_, of)| std::cmp::Reverse(of.links));
        all
    }

    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// None for bytes that were not written by [`Self::to_bytes`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        serde_json::from_slice(bytes).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_counted_by_shape_and_the_most_come_first() {
        let mut links = UnclassedLinks::new(1);
        for path in ["/faq", "/u/7", "/u/8", "/u/9"] {
            links.add(path, "", Cow::Borrowed);
        }
        let told: Vec<(&str, u64, &str)> =
            links.most().into_iter().map(|(shape, of)| (shape, of.links, &*of.example)).collect();
        assert_eq!(told, [("/u/{n}", 3, "/u/7"), ("/faq", 1, "/faq")]);
        assert_eq!(UnclassedLinks::take_up(1, Some(&links.to_bytes())), links);
        assert_eq!(UnclassedLinks::take_up(2, Some(&links.to_bytes())), UnclassedLinks::new(2), "other rules");
        assert_eq!(UnclassedLinks::take_up(1, Some(b"{")), UnclassedLinks::new(1), "a broken note");
    }

    #[test]
    fn shapes_without_end_are_counted_up_to_the_cap() {
        let mut links = UnclassedLinks::new(1);
        let word = |mut n: usize| {
            let letters = std::iter::from_fn(|| {
                let letter = (n > 0).then(|| char::from(b'a' + (n % 26) as u8));
                n /= 26;
                letter
            });
            format!("/{}/", letters.collect::<String>())
        };
        (1..UNCLASSED_SHAPES_MAX * 3).for_each(|n| links.add(&word(n), "", |path| Cow::Owned(path.to_owned())));
        assert_eq!(links.most().len(), UNCLASSED_SHAPES_MAX);
    }
}
