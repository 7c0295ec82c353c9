//! Parameters that change nothing: pages are asked for with and without them (LEARNING §14.8).

use std::collections::BTreeSet;

use super::Chooser;
use crate::learner::Ask;
use crate::limits::PARAMETER_REQUESTS_MAX;
use crate::map::{ShapeId, UrlId};
use crate::parts::Parts;
use crate::reading::Kind;
use crate::shape::Place;
use gleaner_rules::is_router;

/// Parameters that name things.
const NAMING: [&str; 7] = ["id", "t", "f", "p", "page", "tid", "fid"];

/// Rows and torrents that two views must share to be the same.
const SAME: f64 = 0.9;

/// URLs that a parameter is tested on.
const TRIALS: usize = 2;

impl<A: Ask> Chooser<'_, '_, A> {
    /// All shapes that were chosen.
    pub(super) fn chosen(&self) -> BTreeSet<ShapeId> {
        let things = &self.choice.things;
        let lists = self.choice.lists.iter().flat_map(|list| list.shapes.iter().copied());
        things.downloads.iter().chain(&things.details).copied().chain(lists).collect()
    }

    pub(super) async fn test_parameters(&mut self) {
        let chosen = self.chosen();
        let mut shapes: Vec<ShapeId> = self.map().shapes().map(|(id, _)| id).collect();
        shapes.sort_by_key(|id| {
            (!chosen.contains(id), self.choice.things.downloads.contains(id), self.map().shape(*id).query.len(), *id)
        });
        let mut tested: BTreeSet<String> = BTreeSet::new();
        let until = self.run.used + PARAMETER_REQUESTS_MAX;
        for shape in shapes {
            let keys: Vec<String> = self.map().shape(shape).keys().map(str::to_owned).collect();
            for key in keys {
                if tested.contains(&key) || !self.is_testable(shape, &key, &chosen) {
                    continue;
                }
                let mut results = Vec::new();
                for url in self.trials(shape, &key, &chosen) {
                    if self.run.used >= until || self.run.left() <= self.share(0.06) {
                        break;
                    }
                    results.extend(self.is_same_without(url, std::slice::from_ref(&key)).await);
                }
                if !results.is_empty() {
                    if results.iter().all(|same| *same) && !NAMING.contains(&key.to_ascii_lowercase().as_str()) {
                        self.choice.dropped.push(key.clone());
                    }
                    tested.insert(key);
                }
            }
        }
        self.test_together(&chosen).await;
    }

    /// A parameter of a chosen shape beside others, or one that a chosen shape lacks.
    fn is_testable(&self, shape: ShapeId, key: &str, chosen: &BTreeSet<ShapeId>) -> bool {
        let map = self.map();
        let form = map.shape(shape);
        let is_page = self
            .choice
            .fields
            .get(&shape)
            .is_some_and(|field| matches!(&field.place, Place::Query(own, _) if own == key));
        if is_page {
            return false;
        }
        if chosen.contains(&shape) {
            return form.query.len() > 1
                && !(is_router(key) && form.form_of(key).is_some_and(|form| !form.contains('{')));
        }
        self.bases(shape, key, chosen).next().is_some()
    }

    /// Chosen shapes that are this one without the parameter.
    fn bases<'s>(
        &'s self,
        shape: ShapeId,
        key: &'s str,
        chosen: &'s BTreeSet<ShapeId>,
    ) -> impl Iterator<Item = ShapeId> + 's {
        let map = self.map();
        let form = map.shape(shape);
        let others: BTreeSet<&str> = form.keys().filter(|own| *own != key).collect();
        chosen.iter().copied().filter(move |base| {
            let base = map.shape(*base);
            base.path == form.path && base.keys().collect::<BTreeSet<&str>>() == others
        })
    }

    fn trials(&mut self, shape: ShapeId, key: &str, chosen: &BTreeSet<ShapeId>) -> Vec<UrlId> {
        let map = self.map();
        let is_read =
            |(_, page): &(UrlId, &crate::map::Page)| (page.is_page() || page.is_torrent()) && page.moved_to.is_none();
        let read: Vec<UrlId> = map.pages_of(shape).filter(is_read).map(|(id, _)| id).take(TRIALS).collect();
        let details = &self.choice.things.details;
        let is_details = details.contains(&shape) || self.bases(shape, key, chosen).any(|base| details.contains(&base));
        if !read.is_empty() || chosen.contains(&shape) || !is_details {
            return read;
        }
        let urls = map.urls_of(shape).to_vec();
        urls.into_iter().find(|url| self.run.may_ask(*url)).into_iter().collect()
    }

    /// Whether a URL shows the same without some parameters. None if it cannot be told.
    async fn is_same_without(&mut self, url: UrlId, keys: &[String]) -> Option<bool> {
        self.run.fetch(url, "parameter test").await?;
        let path = Parts::of(self.map().path(url)).without(|key| keys.iter().any(|dropped| dropped == key));
        if path == self.map().path(url) {
            return None;
        }
        let why = format!("without {}", keys.join(" "));
        let other = self.run.fetch_path(&path, &why).await?;
        self.is_same(url, other)
    }

    /// Whether two URLs show the same. Pages without rows and torrents prove nothing.
    pub(super) fn is_same(&self, a: UrlId, b: UrlId) -> Option<bool> {
        let map = self.map();
        let (first, second) = (map.page(a)?, map.page(b)?);
        match (&first.kind, &second.kind) {
            (Kind::Torrent(one), Kind::Torrent(other)) => return Some(one == other),
            (Kind::Page, Kind::Page) => {}
            _ => return Some(false),
        }
        let things = |id, page| {
            let mut things = self.choice.things.torrents(map, id, page);
            things.extend(self.choice.things.rows(map, id, page));
            things
        };
        let (first, second) = (things(a, first), things(b, second));
        let all = first.union(&second).count();
        (all > 0).then(|| first.intersection(&second).count() as f64 >= SAME * all as f64)
    }

    /// Whether a parameter of a shape changes nothing, by one URL.
    pub(super) async fn is_idle(&mut self, shape: ShapeId, key: &str) -> bool {
        let map = self.map();
        let urls = map.urls_of(shape);
        let Some(url) = urls.iter().find(|url| map.page(**url).is_some()).or(urls.first()).copied() else {
            return false;
        };
        self.is_same_without(url, &[key.to_owned()]).await == Some(true)
    }

    /// Each may stand for another: they are tested once more together.
    async fn test_together(&mut self, chosen: &BTreeSet<ShapeId>) {
        for shape in chosen {
            let map = self.map();
            let keys: Vec<String> = map
                .shape(*shape)
                .keys()
                .filter(|key| self.choice.dropped.iter().any(|dropped| dropped == key))
                .map(str::to_owned)
                .collect();
            let shows = |(id, page): &(UrlId, &crate::map::Page)| {
                page.is_page()
                    && !(self.choice.things.rows(map, *id, page).is_empty()
                        && self.choice.things.torrents(map, *id, page).is_empty())
            };
            let Some(url) = map.pages_of(*shape).find(shows).map(|(id, _)| id) else { continue };
            if keys.len() < 2 || self.run.left() == 0 {
                continue;
            }
            if self.is_same_without(url, &keys).await != Some(true) {
                self.choice.dropped.retain(|key| !keys.contains(key));
                let note = format!("not dropped, as pages differ without all of: {}", keys.join(", "));
                self.choice.notes.push(note);
            }
        }
    }
}
