//! Whether a list shows what chosen ones show (LEARNING §14.7).

use std::collections::BTreeSet;

use super::{Chooser, List};
use crate::learner::Ask;
use crate::things::Thing;

/// The share of a list's rows that are known if it shows nothing new.
const SAME: f64 = 0.9;

/// The share of the chosen lists' rows that is known, from which on a comparison says something.
const KNOWN_MIN: f64 = 0.55;

/// Rows that are compared by their numbers.
const BY_NUMBER_MIN: usize = 4;

impl<A: Ask> Chooser<'_, '_, A> {
    /// None if nothing speaks for either. Lists of numbers are compared where the chosen ones were read without gaps: in the upper part of
    /// their numbers.
    pub(super) fn is_contained(&mut self, list: &List) -> Option<bool> {
        let by_rows = !list.rows.is_empty();
        let own = if by_rows { &list.rows } else { &list.torrents };
        if own.is_empty() {
            return Some(true);
        }
        let of = |list: &List| if by_rows { list.rows.clone() } else { list.torrents.clone() };
        let known: BTreeSet<Thing> = self.choice.lists.iter().flat_map(of).collect();
        if known.is_empty() {
            return None;
        }
        let announced: u64 = self.choice.lists.iter().map(List::announced).sum();
        let share = (known.len() as f64 / announced.max(1) as f64).min(1.0);
        let hits = own.intersection(&known).count();
        let part = hits as f64 / own.len() as f64;
        if part >= SAME {
            return Some(true);
        }
        if share >= KNOWN_MIN && own.len() >= 3 {
            return Some(part >= 0.75 * share);
        }
        if let Some(by_number) = by_numbers(own, &known) {
            return Some(by_number);
        }
        if hits >= 3 && part >= 0.6 * share {
            let question = format!(
                "{}: {hits} of {} rows are known from other lists; refused, allow it if torrents are missing",
                list.family.0,
                own.len()
            );
            self.ask_person(question);
            return Some(true);
        }
        Some(false)
    }
}

/// Rows whose numbers lie where the known ones are dense: most of them are known, or few are.
fn by_numbers(own: &BTreeSet<Thing>, known: &BTreeSet<Thing>) -> Option<bool> {
    let mut numbers: Vec<u64> = known.iter().filter_map(|thing| thing.number).collect();
    numbers.sort_unstable();
    if numbers.is_empty() || numbers.len() * 10 < known.len() * 8 {
        return None;
    }
    let (from, to) = (numbers[numbers.len() / 4], *numbers.last()?);
    let within: Vec<&Thing> =
        own.iter().filter(|thing| thing.number.is_some_and(|number| (from..=to).contains(&number))).collect();
    if within.len() < BY_NUMBER_MIN {
        return None;
    }
    let part = within.iter().filter(|thing| known.contains(thing)).count() as f64 / within.len() as f64;
    match part {
        0.8.. => Some(true),
        ..0.3 => Some(false),
        _ => None,
    }
}
