//! Lean: details that nothing needs are left out (LEARNING §14, §16). A row of a list that links a torrent and the page about it makes the
//! page needless, unless it shows more than the row does.
//!
//! Whether it does is measured: once [`IDLE`] details of a rule in a row, each with its torrent beside it in a list, have shown nothing new,
//! those whose torrent is stored are left out, but for one in [`SAMPLE`]. If one of these shows something, all that were left out are asked
//! after all, and others only once [`IDLE_AGAIN`] in a row were idle. Pure.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Details in a row without anything new, before others are left out.
const IDLE: u32 = 20;

/// The same once that was wrong.
const IDLE_AGAIN: u32 = 2_000;

/// One of so many is asked all the same.
const SAMPLE: u32 = 20;

/// The details of one rule.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Details {
    /// How many in a row have shown nothing new.
    idle: u32,
    /// One showed something while others were left out.
    was_wrong: bool,
    /// Left out since the last sample.
    #[serde(skip)]
    left_out: u32,
}

impl Details {
    fn are_needless(&self) -> bool {
        self.idle >= if self.was_wrong { IDLE_AGAIN } else { IDLE }
    }
}

/// The details of a site's rules.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lean {
    /// By the index of the rule.
    rules: BTreeMap<usize, Details>,
    /// How often what was left out had to be asked after all.
    generation: u64,
}

#[derive(Default, Serialize, Deserialize)]
struct Kept {
    rules: BTreeMap<String, Details>,
    generation: u64,
}

impl Lean {
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

    /// True if details of this rule may be left out.
    #[must_use]
    pub fn may_leave_out(&self, rule: usize) -> bool {
        self.rules.get(&rule).is_some_and(Details::are_needless)
    }

    /// A detail of this rule may be left out. False if it is a sample.
    pub fn leave_out(&mut self, rule: usize) -> bool {
        let of = self.rules.entry(rule).or_default();
        of.left_out = (of.left_out + 1) % SAMPLE;
        of.left_out != 0
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
        let kept = Kept { rules: self.rules.iter().filter_map(of_rule).collect(), generation: self.generation };
        serde_json::to_vec(&kept).unwrap_or_default()
    }

    /// The state of an earlier run, without rules that the file has no more; none for a note that cannot be read.
    #[must_use]
    pub fn from_bytes(note: &[u8], rules: &[String]) -> Self {
        let kept: Kept = serde_json::from_slice(note).unwrap_or_default();
        let of_rule = |(number, key): (usize, &String)| Some((number, *kept.rules.get(key)?));
        Self { rules: rules.iter().enumerate().filter_map(of_rule).collect(), generation: kept.generation }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn details_are_left_out_once_enough_were_idle_and_asked_again_when_one_is_not() {
        let mut lean = Lean::default();
        (0..IDLE - 1).for_each(|_| lean.read(3, false));
        assert!(!lean.may_leave_out(3));
        lean.read(3, true);
        assert_eq!(lean.generation(), 0, "nothing was left out so far");
        (0..IDLE).for_each(|_| lean.read(3, false));
        assert!(lean.may_leave_out(3) && !lean.may_leave_out(4));
        let taken = (0..200).filter(|_| !lean.leave_out(3)).count();
        assert_eq!(taken, 10, "samples");
        lean.read(3, true);
        assert!(!lean.may_leave_out(3) && lean.generation() == 1);
        (0..IDLE_AGAIN - 1).for_each(|_| lean.read(3, false));
        assert!(!lean.may_leave_out(3), "many more");
        lean.read(3, false);
        assert!(lean.may_leave_out(3));
    }

    #[test]
    fn the_state_survives_a_restart_by_the_keys_of_the_rules() {
        let rules = ["a", "b"].map(str::to_owned);
        let mut lean = Lean::default();
        (0..IDLE).for_each(|_| lean.read(1, false));
        let again = Lean::from_bytes(&lean.to_bytes(&rules), &["b".to_owned()]);
        assert!(again.may_leave_out(0));
        assert_eq!(Lean::from_bytes(b"]", &rules), Lean::default());
        assert_eq!(Lean::from_bytes(&lean.to_bytes(&rules), &[]), Lean::default());
    }
}
