//! Sites whose URLs are made anew on each view: downloads with a time in them, lists with the number of a search.

use crate::limits::LINKS_MAX;
use std::collections::{BTreeMap, HashMap, HashSet};

use super::Chooser;
use crate::learner::Ask;
use crate::map::{ShapeId, UrlId};
use crate::parts::Parts;
use crate::reading::Reading;
use crate::shape::Place;

/// What the file says of it.
pub(super) const NOTE: &str =
    "download URLs are new on each view of their page: torrents are told apart by their content";

/// A field that varies on one page, in at least so many links.
const LINKS_MIN: usize = 2;

impl<A: Ask> Chooser<'_, '_, A> {
    /// Asks for one page of a torrent twice: are its download links the same?
    pub(super) async fn test_volatile(&mut self) {
        let map = &self.run.map;
        let downloads = &self.choice.things.downloads;
        let is_own = |url: &UrlId| downloads.contains(&map.shape_of(*url)) && !map.is_navigation(*url);
        let pages = map.pages().filter(|(_, page)| page.is_page()).filter_map(|(id, page)| {
            let own: HashSet<UrlId> = page.out.iter().copied().filter(is_own).collect();
            (1..=LINKS_MAX).contains(&own.len()).then_some((page.order, id, own))
        });
        let Some((_, id, own)) = pages.min_by_key(|(order, ..)| *order) else { return };
        let Some(again) = self.run.again(id, "are its downloads the same once more?").await else { return };
        let map = &mut self.run.map;
        let mut now = HashSet::new();
        for link in &again.links {
            let Some(url) = map.url_id(&link.path) else { continue };
            if self.choice.things.downloads.contains(&map.shape_of(url)) && !map.is_navigation(url) {
                now.insert(url);
            }
        }
        if !now.is_empty() && own.is_disjoint(&now) {
            self.choice.things.found_volatile(map);
            self.choice.notes.push(NOTE.to_owned());
        }
    }

    /// Fields of chosen lists whose values all change while their page does not: dropped, or their lists get no rule.
    pub(super) async fn test_volatile_lists(&mut self) {
        let mut found: BTreeMap<String, Vec<ShapeId>> = BTreeMap::new();
        let shapes: Vec<ShapeId> = self.choice.lists.iter().flat_map(|list| list.shapes.iter().copied()).collect();
        for shape in shapes {
            for key in self.volatile_keys(shape).await {
                found.entry(key).or_default().push(shape);
            }
        }
        for (key, shapes) in found {
            if self.choice.dropped.contains(&key) {
                continue;
            }
            if self.is_idle(shapes[0], &key).await {
                self.choice.notes.push(format!("parameter {key} is new on each view and changes nothing: dropped"));
                self.choice.dropped.push(key);
            } else {
                self.choice.notes.push(format!("URLs with {key} are new on each view: refused"));
                for list in &mut self.choice.lists {
                    list.shapes.retain(|shape| !shapes.contains(shape));
                }
                self.choice.barred.extend(shapes);
            }
        }
    }

    /// Keys whose values are all others when the page that links to URLs of a shape is asked for once more.
    async fn volatile_keys(&mut self, shape: ShapeId) -> Vec<String> {
        let map = &self.run.map;
        let page_key = self.choice.fields.get(&shape).and_then(|field| match &field.place {
            Place::Query(key, _) => Some(key.clone()),
            Place::Path(_) => None,
        });
        let form = map.shape(shape);
        let varying =
            |key: &&str| page_key.as_deref() != Some(*key) && form.form_of(key).is_some_and(|form| form.contains('{'));
        let keys: Vec<String> = form.keys().filter(varying).map(str::to_owned).collect();
        let named = map.urls_of(shape).iter().filter_map(|url| map.url(*url).from);
        let mut by_page: HashMap<UrlId, usize> = HashMap::new();
        named.for_each(|page| *by_page.entry(page).or_default() += 1);
        let Some((page, _)) = by_page.into_iter().max_by_key(|(page, links)| (*links, *page)) else {
            return Vec::new();
        };
        let links: Vec<String> = map
            .page(page)
            .filter(|page| page.is_page())
            .map(|page| page.out.iter().filter(|url| map.shape_of(**url) == shape))
            .into_iter()
            .flatten()
            .map(|url| map.path(*url).to_owned())
            .collect();
        if keys.is_empty() || links.len() < LINKS_MIN {
            return Vec::new();
        }
        let Some(again) = self.run.again(page, "are its lists the same once more?").await else { return Vec::new() };
        let now = self.paths_of_shape(&again, shape);
        if now.is_empty() {
            return Vec::new();
        }
        let values = |paths: &[String], key: &str| -> HashSet<String> {
            paths.iter().filter_map(|path| Parts::of(path).value(key).map(str::to_owned)).collect()
        };
        keys.into_iter().filter(|key| values(&links, key).is_disjoint(&values(&now, key))).collect()
    }

    fn paths_of_shape(&mut self, page: &Reading, shape: ShapeId) -> Vec<String> {
        let map = &mut self.run.map;
        let links = page.links.iter().map(|link| link.path.to_string());
        links.filter(|path| map.url_id(path).is_some_and(|url| map.shape_of(url) == shape)).collect()
    }
}
