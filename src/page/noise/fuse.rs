//! The template of a class: the common part of all its pages (ALGORITHMS §8, fusing DOM trees).
//!
//! The paper walks the trees of two pages level by level, keeps the subtrees that agree, and then fuses in the next
//! page. Here a page is the multiset of its (slot, value) pairs, and fusing is intersection: a subtree agrees if its
//! atoms do, a block that was moved still agrees, and one that a page has twice must be there twice.

use super::{Keys, Model, mixed};
use crate::limits::{NOISE_ATOMS_MAX, NOISE_FUSED_PAGES};

/// Pages after which their common part counts as the template.
const PAGES_MIN: usize = 4;

/// A page with less than this share of the common part does not belong to the class: an error, a login.
const KIN: f64 = 0.3;

/// If so many pages in a row have less than this share of the template, the site has a new one.
const STRANGE: f64 = 0.5;
const STRANGERS: u8 = 3;

/// Minimum atoms of a template whose absence counts.
const MISSED_ATOMS: usize = 8;

/// A piece of the template.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece {
    pub slot: u64,
    pub times: u16,
}

/// The common part of pages with different URLs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Template {
    /// By slot and value.
    pub pieces: Keys<Piece>,
    /// The URLs of the fused pages.
    pub urls: Vec<u64>,
}

impl Template {
    /// How often the template contains this piece; None while the template is unknown.
    #[inline]
    pub(super) fn times(&self, key: u64) -> Option<u16> {
        if self.is_known() { self.pieces.get(&key).map(|piece| piece.times) } else { None }
    }

    pub(super) fn is_known(&self) -> bool {
        self.urls.len() >= PAGES_MIN
    }

    /// The share of the template that a page contains, between 0 and 1.
    fn share(&self, page: &Keys<Piece>) -> f64 {
        let found = self.pieces.keys().filter(|key| page.contains_key(*key)).count();
        ratio(found, self.pieces.len())
    }
}

#[allow(clippy::cast_precision_loss)] // a share of at most some thousand
fn ratio(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

/// Counts one more occurrence of a piece.
pub(super) fn add(page: &mut Keys<Piece>, slot: u64, value: u64) {
    if page.len() < NOISE_ATOMS_MAX {
        let piece = page.entry(mixed(slot, value)).or_insert(Piece { slot, times: 0 });
        piece.times = piece.times.saturating_add(1);
    }
}

impl Model {
    /// Fuses a page into the template; true if that changes what is noise.
    pub(super) fn fuse(&mut self, url: u64, page: Keys<Piece>) -> bool {
        let template = &mut self.template;
        if template.urls.len() >= NOISE_FUSED_PAGES || template.urls.contains(&url) {
            return false;
        }
        if template.urls.is_empty() {
            template.pieces = page;
        } else if template.share(&page) < KIN {
            return false;
        } else {
            let before = template.pieces.len();
            let mut is_less = false;
            template.pieces.retain(|key, piece| {
                let there = page.get(key).is_some_and(|other| other.times == piece.times);
                is_less |= !there;
                there
            });
            if template.urls.len() >= PAGES_MIN {
                template.urls.push(url);
                return is_less && before > 0;
            }
        }
        template.urls.push(url);
        template.is_known()
    }

    /// Checks whether the site has a new template; true if everything must be relearned.
    pub(super) fn is_strange(&mut self, page: &Keys<Piece>) -> bool {
        if !self.template.is_known() || self.template.pieces.len() < MISSED_ATOMS {
            return false;
        }
        let is_strange = self.template.share(page) < STRANGE;
        self.strangers = if is_strange { self.strangers.saturating_add(1) } else { 0 };
        self.strangers >= STRANGERS
    }

    /// Columns and records are never template, even if their cells are equal.
    pub(super) fn untemplate(&mut self, slot: u64) -> bool {
        let before = self.template.pieces.len();
        self.template.pieces.retain(|_, piece| piece.slot != slot);
        self.template.is_known() && self.template.pieces.len() < before
    }
}
