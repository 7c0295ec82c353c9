//! Options of select lists, where several are chosen before a button shows the results.

use std::collections::HashSet;

use super::super::controls::{Control, LIST_MIN, Rank};
use super::super::shown::News;
use super::super::words::{APPLY, APPLY_ALONE, says};
use super::Explorer;
use super::bounds::PATIENCE_WITH_PAID;

/// Whether a control is an option of a list.
pub(super) fn is_choice(control: &Control) -> bool {
    control.kind.starts_with("select ")
}

/// The results of choices.
#[derive(Default)]
pub(super) struct Choices {
    /// Links that boxes have brought.
    pub chosen: HashSet<String>,
    /// Consecutive choices, each with its button, that brought nothing.
    vain: u32,
}

impl Explorer<'_> {
    /// Whether a choice alone removed links or rows: the page needs no button.
    pub(super) fn has_taken(&mut self, links: &HashSet<String>, before: &[Control]) -> bool {
        let now: HashSet<u64> = self.sight.controls.iter().map(|of| of.identity).collect();
        let has_gone = |of: &Control| of.rank == Rank::Row && !now.contains(&of.identity);
        before.iter().any(has_gone) || !links.is_subset(&self.links())
    }

    /// Clicks the button that applies the choice, if there is one; POSTs are blocked. The lists below the one of the option are explored
    /// for each of its options: true if there are any.
    pub(super) fn apply(&mut self, chosen: &Control, news: &mut News) -> bool {
        let is_single = |kind: &str| self.sight.controls.iter().filter(|of| of.kind == kind).count() < LIST_MIN;
        let applies = |of: &&Control| {
            let words = of.words.to_lowercase();
            let is_alone = APPLY_ALONE.has(words.trim_matches(|c: char| !c.is_alphanumeric()));
            let has_words = is_alone || says(APPLY, &words, true) && words.len() <= APPLY_BYTES;
            has_words && of.view.is_none() && !is_choice(of) && is_single(&of.kind)
        };
        let buttons: Vec<Control> = self.sight.controls.iter().filter(applies).cloned().collect();
        let button = buttons.into_iter().find(|of| !self.tried.harmful.contains(&of.kind) && self.is_shown(of.id));
        let Some(button) = button else { return false };
        self.tried.clicked.insert(button.identity);
        *news = (*news).max(self.click(&Control { unsure: true, ..button }));
        self.choices.vain = if *news == News::None { self.choices.vain + 1 } else { 0 };
        // A combination that brings nothing whatever the other choice is no product of two lists.
        if self.choices.vain >= PATIENCE_WITH_PAID {
            return false;
        }
        let below = self.sight.controls.iter().skip_while(|of| of.kind != chosen.kind);
        let below = below.filter(|of| is_choice(of) && of.kind != chosen.kind);
        let below: Vec<u64> = below.map(|of| of.identity).collect();
        for identity in &below {
            self.tried.clicked.remove(identity);
        }
        !below.is_empty()
    }
}

/// Maximum length of an apply button's label.
const APPLY_BYTES: usize = 40;
