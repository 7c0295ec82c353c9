//! Links of responses that were not stored: at most as many as such responses can contain, and of the same form as
//! those in stored ones. Links made by scripts alone are in no response, stored or not.

use std::collections::{BTreeMap, HashSet};

use url::Url;

use super::call::Slots;
use super::pattern::Pattern;
use super::template::Scope;
use super::{Answer, Endpoint, Normal, Observation};

/// Links that unstored responses may still contain.
pub(super) struct Unread {
    rules: Vec<Form>,
}

/// Links of one rule.
struct Form {
    patterns: Vec<Pattern>,
    /// The maximum in one response.
    most: usize,
    /// Links attributed to unstored responses.
    taken: usize,
}

impl Unread {
    pub(super) fn new(endpoint: &Endpoint, done: &[(Slots, Answer)], scope: &Scope<'_>, normal: Normal<'_>) -> Self {
        let form = |rule| {
            let alone = Endpoint { rules: vec![rule], turning: None, ..endpoint.clone() };
            let (mut most, mut known) = (0, HashSet::new());
            for (slots, answer) in done {
                let Ok(reading) = alone.read(slots, answer, scope, 0) else { continue };
                let keys: HashSet<String> = reading.links.iter().filter_map(|link| normal(scope.page, link)).collect();
                most = most.max(keys.len());
                known.extend(keys);
            }
            let urls: Vec<Url> = known.iter().filter_map(|key| Url::parse(key).ok()).collect();
            let mut alike: BTreeMap<(String, usize), Vec<&Url>> = BTreeMap::new();
            for url in &urls {
                let segments = url.path_segments().map_or(0, Iterator::count);
                alike.entry((url.origin().ascii_serialization(), segments)).or_default().push(url);
            }
            Form { patterns: alike.values().filter_map(|urls| Pattern::of(urls)).collect(), most, taken: 0 }
        };
        Self { rules: endpoint.rules.iter().cloned().map(form).collect() }
    }

    /// Whether a link may come from an unstored response, if no stored one explains it.
    pub(super) fn explains(&mut self, key: &str, observation: &Observation) -> bool {
        let Ok(url) = Url::parse(key) else { return false };
        let answers: usize = observation.unread.values().sum();
        let fits = |form: &&mut Form| {
            form.taken < form.most.saturating_mul(answers) && form.patterns.iter().any(|pattern| pattern.fits(&url))
        };
        let form = self.rules.iter_mut().find(fits);
        form.map(|form| form.taken += 1).is_some()
    }
}
