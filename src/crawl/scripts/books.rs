//! What was learned of the requests that return the data of a site's pages, or pinned in the rule file: a table for each class, kept over
//! restarts in a note.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};

use crate::limits;
use gleaner_page::shortcut::ClassShortcuts;
use gleaner_page::shortcut::book::KeptBook;
use gleaner_rules::{Class, SiteRules};

/// Name of the note that stores what was learned.
pub const SHORTCUTS_NOTE: &str = "shortcuts";

/// Version of [`SHORTCUTS_NOTE`]: other versions are learned again.
const VERSION: u32 = 3;

/// The learned tables of a site's classes of pages.
pub struct Shortcuts(Mutex<Vec<ClassShortcuts>>);

/// The part that is kept over restarts.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Note {
    version: u32,
    /// The rules under which it was learned: others may take other links.
    rules: u64,
    /// By class name.
    pub classes: BTreeMap<String, KeptBook>,
}

impl Note {
    /// Parses a note; one of another version, of other rules or that is broken counts as none.
    #[must_use]
    pub fn read(note: &[u8], rules: &SiteRules) -> Option<Self> {
        let note: Self = serde_json::from_slice(note).ok()?;
        (note.version == VERSION && note.rules == rules.links_fingerprint()).then_some(note)
    }
}

impl Shortcuts {
    /// Starts with nothing but what the rule file pins.
    #[must_use]
    pub fn new(rules: &SiteRules) -> Self {
        let book = |class: Class| {
            let mut book =
                if rules.learns_shortcuts(class) { ClassShortcuts::default() } else { ClassShortcuts::closed() };
            rules.shortcuts(class).for_each(|endpoint| book.pin(endpoint));
            book
        };
        Self(Mutex::new(Class::ALL.into_iter().map(book).collect()))
    }

    /// Access to the table of a class. Not to be held across an await.
    pub(super) fn book<T>(&self, class: Class, what: impl FnOnce(&mut ClassShortcuts) -> T) -> Option<T> {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.get_mut(class as usize).map(what)
    }

    /// Restores the stored tables.
    pub fn take_up(&self, rules: &SiteRules, note: Option<&[u8]>) {
        let Some(mut note) = note.and_then(|note| Note::read(note, rules)) else { return };
        for class in Class::ALL {
            if let Some(kept) = note.classes.remove(class.name()) {
                self.book(class, |book| book.take_up(kept));
            }
        }
    }

    /// Pages that are to be revisited, because the endpoint they were visited by was wrong or may have been.
    #[must_use]
    pub fn again(&self) -> Vec<String> {
        let books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.iter().flat_map(ClassShortcuts::again).cloned().collect()
    }

    /// A crawl has nothing left: what was visited since endpoints were last confirmed is checked. True if there is any.
    pub fn close(&self, may_render: impl Fn(Class) -> bool) -> bool {
        let close = |class: &Class| self.book(*class, |book| book.close(may_render(*class))) == Some(true);
        // Evaluates all of them.
        Class::ALL.iter().filter(|class| close(class)).count() > 0
    }

    /// Records that these pages are queued now.
    pub fn queued(&self, pages: &[String]) {
        let mut books = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        books.iter_mut().filter(|book| !book.again().is_empty()).for_each(|book| book.queued(pages));
    }

    /// The state to be stored, as a note; `None` if nothing has changed, or if it is longer than notes may be.
    #[must_use]
    pub fn note(&self, rules: &SiteRules) -> Option<Vec<u8>> {
        let (mut is_changed, mut classes) = (false, BTreeMap::new());
        for class in Class::ALL {
            self.book(class, |book| {
                is_changed |= book.take_changed();
                let kept = book.to_keep();
                if kept != KeptBook::default() {
                    classes.insert(class.name().to_owned(), kept);
                }
            });
        }
        let note = Note { version: VERSION, rules: rules.links_fingerprint(), classes };
        let note = serde_json::to_vec(&note).unwrap_or_default();
        (is_changed && note.len() <= limits::NOTE_BYTES_MAX).then_some(note)
    }
}
