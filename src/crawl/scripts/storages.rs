//! Data that the scripts of a site store from page to page. They stay in memory, are never written to disk or logged, and end with the
//! crawl.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::limits;
use gleaner_render::wire::Stored;

/// Stored data of a site's scripts, by origin.
#[derive(Default)]
pub struct Storages(Mutex<BTreeMap<String, OriginStorage>>);

#[derive(Default)]
struct OriginStorage {
    stored: Stored,
    /// A page has shown something because of it.
    pays: bool,
}

impl Storages {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, OriginStorage>> {
        // Each entry is consistent between calls.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The initial storage of a page of the origin.
    #[must_use]
    pub fn given(&self, origin: &str) -> Stored {
        self.all().get(origin).filter(|kept| kept.pays).map(|kept| kept.stored.clone()).unwrap_or_default()
    }

    /// Adds the data of a page. Returns all of the origin's.
    pub fn leave(&self, origin: &str, left: &Stored) -> Stored {
        let mut all = self.all();
        let has_room = all.contains_key(origin) || all.len() < limits::RENDER_STORED_ORIGINS_MAX;
        if !has_room || left.is_empty() {
            return all.get(origin).map(|kept| kept.stored.clone()).unwrap_or_default();
        }
        let kept = all.entry(origin.to_owned()).or_default();
        let mut stored = kept.stored.clone();
        put_all(&mut stored.local, &left.local);
        put_all(&mut stored.session, &left.session);
        if stored.bytes() > 2 * limits::RENDER_STORED_BYTES_MAX {
            stored = left.clone();
        }
        // A child reports no more than that.
        if stored.bytes() <= 2 * limits::RENDER_STORED_BYTES_MAX {
            kept.stored = stored;
        }
        kept.stored.clone()
    }

    /// Drops the stored data of an origin, which are of no use any more.
    pub fn forget(&self, origin: &str) {
        self.all().remove(origin);
    }

    /// Records that a page has shown something because of data that others stored.
    pub fn pays(&self, origin: &str) {
        if let Some(kept) = self.all().get_mut(origin) {
            kept.pays = true;
        }
    }
}

fn put_all(pairs: &mut Vec<(String, String)>, more: &[(String, String)]) {
    for (key, value) in more {
        match pairs.iter_mut().find(|(known, _)| known == key) {
            Some(pair) => pair.1.clone_from(value),
            None => pairs.push((key.clone(), value.clone())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(key: &str, bytes: usize) -> Stored {
        Stored { local: vec![(key.to_owned(), "x".repeat(bytes))], session: Vec::new() }
    }

    #[test]
    fn what_pages_leave_is_added_up_bounded_and_given_only_once_it_has_paid() {
        let storages = Storages::default();
        storages.leave("https://a.example", &stored("one", 3));
        assert_eq!(storages.leave("https://a.example", &stored("two", 3)).local.len(), 2);
        assert!(storages.given("https://a.example").is_empty());
        storages.pays("https://a.example");
        assert_eq!(storages.given("https://a.example").local.len(), 2);
        assert_eq!(
            storages.leave("https://a.example", &stored("much", 3 * limits::RENDER_STORED_BYTES_MAX)).local.len(),
            2
        );
        for number in 0..limits::RENDER_STORED_ORIGINS_MAX + 9 {
            storages.leave(&format!("https://{number}.example"), &stored("one", 1));
        }
        assert_eq!(storages.all().len(), limits::RENDER_STORED_ORIGINS_MAX);
        assert!(!format!("{:?}", stored("token", 9)).contains("token"), "it may be a secret");
        storages.forget("https://a.example");
        assert!(storages.given("https://a.example").is_empty());
    }
}
