//! Lean: details that nothing needs are left out (LEARNING §14, §16). A row of a list that links a torrent and the page about it makes the
//! page needless, unless it shows more than the row does.
//!
//! Whether it does is measured: once [`IDLE`] details of a rule in a row, each with its torrent beside it in a list, have shown nothing new,
//! those whose torrent is stored are left out, but for one in [`SAMPLE`]. If one of these shows something, all that were left out are asked
//! after all, and others only once [`IDLE_AGAIN`] in a row were idle. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Details in a row without anything new, before others are left out.
const IDLE: u32 = 40;

/// The same once that was wrong.
const IDLE_AGAIN: u32 = 2_000;

/// One of so many is asked all the same.
const SAMPLE: u64 = 10;

/// The details of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Details {
    /// How many in a row have shown nothing new.
    idle: u32,
    /// One showed something while others were left out.
    was_wrong: bool,
}

impl Details {
    fn are_needless(&self) -> bool {
        self.idle >= if self.was_wrong { IDLE_AGAIN } else { IDLE }
    }
}

/// The details of a site's rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lean {
    /// Fingerprint of the rules for links: under others, details may show more.
    links: u64,
    /// By the index of the rule.
    rules: BTreeMap<usize, Details>,
    /// How often what was left out had to be asked after all.
    generation: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    links: u64,
    rules: BTreeMap<String, Details>,
    generation: u64,
}

impl Lean {
    /// Nothing is left out. `links` is the fingerprint of the rules for links.
    #[must_use]
    pub fn new(links: u64) -> Self {
        Self { links, ..Self::default() }
    }

    /// A detail of this rule was read, of which a list shows the torrent; `is_new` if it shows torrents, or links to torrents, details or
    /// lists, that were not known.
    pub fn read(&mut self, rule: usize, is_new: bool) {
        let of = self.rules.entry(rule).or_default();
        if !is_new {
            of.idle = of.idle.saturating_add(1);
            return;
        }
        if of.are_needless() {
            of.was_wrong = true;
            self.generation = self.generation.wrapping_add(1);
        }
        of.idle = 0;
    }

    /// True if this detail of a rule, by its path and query, may be left out. Which ones are samples is the same in every run.
    #[must_use]
    pub fn may_leave_out(&self, rule: usize, path: &str) -> bool {
        self.rules.get(&rule).is_some_and(Details::are_needless) && !xxh3_64(path.as_bytes()).is_multiple_of(SAMPLE)
    }

    /// Another number whenever what was left out is to be asked after all.
    #[must_use]
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// The state as JSON. `rules` are keys of the site's rules, by index.
    #[must_use]
    pub fn to_bytes(&self, rules: &[String]) -> Vec<u8> {
        let of_rule = |(rule, of): (&usize, &Details)| Some((rules.get(*rule)?.clone(), *of));
        let kept = Kept {
            links: self.links,
            rules: self.rules.iter().filter_map(of_rule).collect(),
            generation: self.generation,
        };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// The state of an earlier run under the same rules; none under others, and for a note that cannot be read.
    #[must_use]
    pub fn from_bytes(note: &[u8], links: u64, rules: &[String]) -> Self {
        let kept: Kept = serde_json::from_slice(note).unwrap_or_default();
        if kept.links != links {
            return Self { generation: kept.generation, ..Self::new(links) };
        }
        let of_rule = |(number, key): (usize, &String)| Some((number, *kept.rules.get(key)?));
        Self { links, rules: rules.iter().enumerate().filter_map(of_rule).collect(), generation: kept.generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn left_out(lean: &Lean, rule: usize) -> usize {
        (0..1_000).filter(|number| lean.may_leave_out(rule, &format!("/thing/{number}"))).count()
    }

    #[test]
    fn details_are_left_out_once_enough_were_idle_and_asked_again_when_one_is_not() {
        let mut lean = Lean::default();
        (0..IDLE - 1).for_each(|_| lean.read(3, false));
        lean.read(3, true);
        assert_eq!((left_out(&lean, 3), lean.generation()), (0, 0), "nothing was left out so far");
        (0..IDLE).for_each(|_| lean.read(3, false));
        assert!((850..950).contains(&left_out(&lean, 3)), "but samples");
        assert_eq!(left_out(&lean, 4), 0);
        lean.read(3, true);
        assert_eq!((left_out(&lean, 3), lean.generation()), (0, 1));
        (0..IDLE_AGAIN - 1).for_each(|_| lean.read(3, false));
        assert_eq!(left_out(&lean, 3), 0, "many more");
        lean.read(3, false);
        assert!(left_out(&lean, 3) > 0);
    }

    #[test]
    fn the_state_survives_a_restart_but_no_other_rules() {
        let rules = ["a", "b"].map(str::to_owned);
        let mut lean = Lean::new(7);
        (0..IDLE).for_each(|_| lean.read(1, false));
        let again = Lean::from_bytes(&lean.to_bytes(&rules), 7, &["b".to_owned()]);
        assert!(left_out(&again, 0) > 0);
        assert_eq!(Lean::from_bytes(b"]", 7, &rules), Lean::new(7));
        assert_eq!(Lean::from_bytes(&lean.to_bytes(&rules), 8, &rules), Lean::new(8));
    }
}
