//! Hubs: pages that lead to lists which nothing chosen leads to (LEARNING §14.9).

use crate::limits::PATHS_MAX;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use super::{Chooser, Series};
use crate::learner::Ask;
use crate::map::{ShapeId, UrlId};
use crate::prior::{SIDE_VIEW, prior};

/// Sweeps over the fronts of lists that nobody has read, and URLs in each.
const FRONT_SWEEPS: usize = 2;
const FRONTS: usize = 4;

/// Fewer URLs gained are no reason for a rule.
const GAINED_MIN: usize = 4;

impl<A: Ask> Chooser<'_, '_, A> {
    pub(super) async fn choose_hubs(&mut self) {
        let Some(start) = self.run.map.pages().min_by_key(|(_, page)| page.order).map(|(id, _)| id) else { return };
        let mut chosen = self.chosen();
        chosen.insert(self.map().shape_of(start));
        chosen.insert(self.map().shape_of(self.map().end_of(start)));
        for _ in 0..FRONT_SWEEPS {
            let reached = self.reached(start, &chosen);
            let is_front = |url: &UrlId| {
                self.map().page(*url).is_none()
                    && self.map().url(*url).refused.is_none()
                    && self.choice.lists.iter().any(|list| list.shapes.contains(&self.map().shape_of(*url)))
            };
            let fronts: Vec<UrlId> = reached.into_iter().filter(is_front).take(FRONTS).collect();
            for url in fronts {
                self.run.fetch(url, "front of a list").await;
            }
        }
        let wanted = self.wanted();
        let mut missing = self.missing(start, &chosen, &wanted);
        for _ in 0..PATHS_MAX {
            let Some((path, gained)) = self.best_path(start, &chosen, &missing) else { break };
            let is_side = path.iter().any(|shape| self.is_side(*shape));
            let least = (wanted.len() / 50).max(1);
            if gained < least && gained < GAINED_MIN || is_side && gained * 10 < wanted.len() {
                break;
            }
            self.choice.hubs.extend(path.iter().copied());
            chosen.extend(path);
            missing = self.missing(start, &chosen, &wanted);
        }
        self.choice.unreached = missing.len();
    }

    /// What is to be reached: the lists, or else the details, or the torrents.
    fn wanted(&self) -> Vec<UrlId> {
        let things = &self.choice.things;
        let lists: BTreeSet<ShapeId> = self.choice.lists.iter().flat_map(|list| list.shapes.iter().copied()).collect();
        let shapes: Vec<ShapeId> = match () {
            () if !lists.is_empty() => lists.into_iter().collect(),
            () if !things.details.is_empty() => things.details.clone(),
            () => things.downloads.iter().copied().collect(),
        };
        let map = self.map();
        let urls = shapes.iter().flat_map(|shape| map.urls_of(*shape)).copied();
        urls.filter(|url| map.url(*url).refused.is_none() && self.is_in_order(*url)).collect()
    }

    /// URLs that are found from the start over pages of chosen shapes.
    fn reached(&self, start: UrlId, chosen: &BTreeSet<ShapeId>) -> BTreeSet<UrlId> {
        let map = self.map();
        let mut seen = BTreeSet::from([start, map.end_of(start)]);
        let mut open = vec![start];
        while let Some(id) = open.pop() {
            let Some(page) = map.page(id).filter(|page| page.is_page()) else { continue };
            for link in &page.out {
                if chosen.contains(&map.shape_of(*link)) && seen.insert(*link) {
                    open.push(*link);
                }
            }
        }
        seen
    }

    /// Wanted URLs of series that nothing chosen reaches.
    fn missing(&self, start: UrlId, chosen: &BTreeSet<ShapeId>, wanted: &[UrlId]) -> BTreeSet<UrlId> {
        let reached = self.reached(start, chosen);
        let series: HashSet<Series> =
            wanted.iter().filter(|url| reached.contains(url)).map(|url| self.series(*url)).collect();
        let is_missing = |url: &&UrlId| !reached.contains(url) && !series.contains(&self.series(**url));
        wanted.iter().filter(is_missing).copied().collect()
    }

    fn is_side(&self, shape: ShapeId) -> bool {
        let map = self.map();
        map.urls_of(shape).first().is_some_and(|url| prior(map.path(*url), "") <= SIDE_VIEW)
    }

    /// The shapes of one path that gain most per page, and how many URLs they gain.
    fn best_path(
        &self,
        start: UrlId,
        chosen: &BTreeSet<ShapeId>,
        missing: &BTreeSet<UrlId>,
    ) -> Option<(BTreeSet<ShapeId>, usize)> {
        if missing.is_empty() {
            return None;
        }
        let map = self.map();
        let reached = self.reached(start, chosen);
        let mut parents: HashMap<UrlId, Option<UrlId>> = reached.iter().map(|id| (*id, None)).collect();
        let mut open: VecDeque<UrlId> = reached.into_iter().collect();
        let mut found = Vec::new();
        while let Some(id) = open.pop_front() {
            let Some(page) = map.page(id).filter(|page| page.is_page()) else { continue };
            for link in &page.out {
                if parents.contains_key(link) || map.url(*link).refused.is_some() {
                    continue;
                }
                parents.insert(*link, Some(id));
                if missing.contains(link) {
                    found.push(*link);
                }
                if map.pages_of(map.shape_of(*link)).next().is_some() && !self.is_redirected(map.shape_of(*link)) {
                    open.push_back(*link);
                }
            }
        }
        let mut gained: BTreeMap<BTreeSet<ShapeId>, usize> = BTreeMap::new();
        for id in found {
            let mut path = BTreeSet::new();
            let mut at = parents.get(&id).copied().flatten();
            while let Some(id) = at {
                let shape = map.shape_of(id);
                if !chosen.contains(&shape) {
                    path.insert(shape);
                }
                at = parents.get(&id).copied().flatten();
            }
            if !path.is_empty() {
                *gained.entry(path).or_default() += 1;
            }
        }
        let worth = |(path, gained): &(&BTreeSet<ShapeId>, &usize)| {
            let likely = path.iter().map(|shape| if self.is_side(*shape) { 0.4 } else { 1.0 }).fold(1.0, f64::min);
            let pages: usize = path.iter().map(|shape| map.urls_of(*shape).len()).sum();
            **gained as f64 * likely / (pages as f64).sqrt()
        };
        let best = gained.iter().max_by(|a, b| worth(a).total_cmp(&worth(b)))?;
        Some((best.0.clone(), *best.1))
    }
}
