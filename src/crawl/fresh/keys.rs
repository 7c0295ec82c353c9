//! Learns on the pages of a members' site where its addresses hold keys of the member, so that no output shows them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use gleaner_base::url::{KEYS_NOTE, MembersKeys};
use gleaner_rules::SiteRules;

/// The keys of one site, which this process masks.
pub struct Keys {
    keys: Arc<MembersKeys>,
    is_changed: AtomicBool,
}

impl Keys {
    /// Masks them from now on.
    #[must_use]
    pub fn of(rules: &SiteRules) -> Self {
        let keys = Arc::new(MembersKeys::new(rules.hosts.iter().map(|host| &**host)));
        MembersKeys::watch(Arc::clone(&keys));
        // The first note says that the site is a members' one.
        Self { keys, is_changed: AtomicBool::new(true) }
    }

    /// Adds what earlier runs have learned.
    pub fn take_up(&self, note: &[u8]) {
        let is_same = self.keys.take_up(note);
        self.is_changed.store(!is_same, Ordering::Relaxed);
    }

    /// The note, if something has changed.
    pub fn note(&self) -> Option<(String, Vec<u8>)> {
        self.is_changed.swap(false, Ordering::Relaxed).then(|| (KEYS_NOTE.to_owned(), self.keys.note()))
    }

    /// Learns from the links of one page.
    pub fn learn<'u>(&self, links: impl Iterator<Item = &'u str>) {
        if self.keys.learn(links) {
            self.is_changed.store(true, Ordering::Relaxed);
        }
    }
}
