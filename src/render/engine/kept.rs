//! The cache of parsed scripts that a child keeps from page to page: a script that all pages of a site run is parsed once.
//!
//! A text is cached when a second page has it, and dropped after a few consecutive pages without it, so that pages of many sites do not
//! fill a child with scripts of one page each. An entry is the syntax tree with its scopes and contains nothing of a page. Its names are
//! indexes into the engine's interner, and its scopes end in the page's global one, so both are passed on to the next page, the scope
//! without its bindings. Not cached are texts that call `eval` directly, which adds bindings to their scopes, and scripts of frames,
//! which have other global scopes.

use std::collections::{HashMap, HashSet};

use boa_engine::module::ParsedModule;
use boa_engine::script::{ParsedScript, Reading};
use xxhash_rust::xxh3::xxh3_64;

use crate::limits;

/// What a page's engine passes to the next.
#[derive(Default)]
pub struct EngineCache {
    pub(super) reading: Reading,
    scripts: ParseCache<ParsedScript>,
    modules: ParseCache<ParsedModule>,
    /// Hashes of texts seen in one page. A collision is harmless: one text is cached a page early.
    met: HashSet<u64>,
    /// Number of the current page.
    page: u64,
}

/// Keyed by the whole text: a page could construct a hash collision on purpose.
struct ParseCache<T>(HashMap<Box<str>, Parsed<T>>);

struct Parsed<T> {
    /// The last page that used it. A page does not use it twice, since the tree's templates belong to one evaluation of the text.
    page: u64,
    tree: T,
}

impl<T> Default for ParseCache<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> ParseCache<T> {
    fn take(&mut self, text: &str, page: u64) -> Option<T> {
        let found = self.0.get_mut(text).filter(|found| found.page != page)?;
        found.page = page;
        Some(found.tree.clone())
    }

    fn bytes(&self) -> usize {
        self.0.keys().map(|text| text.len()).sum()
    }

    fn oldest(&self) -> Option<u64> {
        self.0.values().map(|parsed| parsed.page).min()
    }
}

impl EngineCache {
    /// Prepares the cache for the next page. Drops entries unused for some pages, and all names with their entries once there are too
    /// many. Without a cached tree the names of other pages are not needed.
    pub(super) fn of_next_page(mut self) -> Self {
        self.page += 1;
        let oldest = self.page.saturating_sub(limits::RENDER_KEPT_PAGES_MAX);
        self.scripts.0.retain(|_, parsed| parsed.page >= oldest);
        self.modules.0.retain(|_, parsed| parsed.page >= oldest);
        let has_trees = !self.scripts.0.is_empty() || !self.modules.0.is_empty();
        if !has_trees || self.reading.names() > limits::RENDER_KEPT_NAMES_MAX {
            self = Self { page: self.page, met: self.met, ..Self::default() };
        }
        if self.met.len() > limits::RENDER_KEPT_MET_MAX {
            self.met.clear();
        }
        self
    }

    /// Number of cached scripts and modules.
    #[cfg(test)]
    pub(super) fn trees(&self) -> usize {
        self.scripts.0.len() + self.modules.0.len()
    }

    /// Number of names passed to the next page.
    #[cfg(test)]
    pub(super) fn names(&self) -> usize {
        self.reading.names()
    }

    pub(super) fn script(&mut self, text: &str) -> Option<ParsedScript> {
        self.scripts.take(text, self.page)
    }

    pub(super) fn module(&mut self, text: &str) -> Option<ParsedModule> {
        self.modules.take(text, self.page)
    }

    /// Whether to cache a text that is being parsed: another page had it too.
    pub(super) fn wants(&mut self, text: &str) -> bool {
        let fits = (limits::RENDER_KEPT_TEXT_BYTES_MIN..=limits::RENDER_KEPT_BYTES_MAX).contains(&text.len());
        fits && !self.met.insert(xxh3_64(text.as_bytes()))
    }

    pub(super) fn keep_script(&mut self, text: &str, tree: ParsedScript) {
        self.make_room(text.len());
        self.scripts.0.insert(text.into(), Parsed { page: self.page, tree });
    }

    pub(super) fn keep_module(&mut self, text: &str, tree: ParsedModule) {
        self.make_room(text.len());
        self.modules.0.insert(text.into(), Parsed { page: self.page, tree });
    }

    /// Drops the least recently used entries.
    fn make_room(&mut self, bytes: usize) {
        while self.scripts.bytes() + self.modules.bytes() + bytes > limits::RENDER_KEPT_BYTES_MAX {
            let Some(oldest) = self.scripts.oldest().into_iter().chain(self.modules.oldest()).min() else { return };
            self.scripts.0.retain(|_, parsed| parsed.page != oldest);
            self.modules.0.retain(|_, parsed| parsed.page != oldest);
        }
    }
}

/// [`EngineCache`] on its way from the thread of one page to that of the next.
pub struct Carried(EngineCache);

// SAFETY: its reference counts are not atomic, and the engine of the previous page shares some of what they count. That engine's heap is
// a local of its thread, which has been joined when the next begins, so that no two threads ever hold any of it at a time.
unsafe impl Send for Carried {}

impl Carried {
    /// # Safety
    /// The thread that passes it on has ended, with its locals, when another opens it.
    pub unsafe fn new(kept: EngineCache) -> Self {
        Self(kept)
    }

    /// Call it in the thread that will use it.
    #[must_use]
    pub fn open(self) -> EngineCache {
        self.0
    }
}
