//! Details: pages with torrents of their own, few each; and which of them show the same ones (LEARNING §14.6).

use crate::limits::{COMPARED_MAX, PROBES_MAX};
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

use super::Chooser;
use crate::learner::Ask;
use crate::map::{ShapeId, UrlId};
use crate::parts::Parts;
use crate::things::Thing;
use gleaner_base::url::without_keys;

gleaner_base::topics! { address: NUMBERS; }

/// A shape whose pages show torrents.
struct Candidate {
    shape: ShapeId,
    rank: f64,
    /// Torrents of the median page.
    median: usize,
    /// Most of its pages show several torrents.
    is_listy: bool,
    /// Share of its pages with torrents.
    share: f64,
}

/// Torrents of a page from which on it is one of a list.
const LISTY: usize = 4;

impl<A: Ask> Chooser<'_, '_, A> {
    pub(super) async fn choose_details(&mut self) {
        let mut candidates = self.candidates();
        candidates.sort_by(|a, b| {
            let length = |of: &Candidate| self.map().shape(of.shape).to_string().len();
            let is_moved = |of: &Candidate| self.is_redirected(of.shape);
            let by_rank = b.rank.total_cmp(&a.rank).then_with(|| length(a).cmp(&length(b)));
            is_moved(a).cmp(&is_moved(b)).then(by_rank)
        });
        for candidate in &candidates {
            let shape = candidate.shape;
            let is_list = candidate.is_listy && candidate.median >= LISTY;
            let is_paged = self.choice.fields.contains_key(&shape) || self.map().urls_of(shape).len() <= 3;
            if is_list && is_paged || self.choice.things.details.contains(&shape) {
                continue;
            }
            let is_spare = match self.is_redirected(shape) {
                true => !self.is_only_way(shape),
                false => !self.choice.things.details.is_empty() && self.is_covered(shape).await,
            };
            if is_spare {
                continue;
            }
            self.choice.things.details.push(shape);
            self.choice.shares.insert(shape, candidate.share);
            self.add_later_pages(shape, &candidates);
        }
    }

    /// Old addresses: most of a shape's redirects lead to details that no other page links to.
    fn is_only_way(&self, shape: ShapeId) -> bool {
        const ENDS_MIN: usize = 2;
        let map = self.map();
        let ends = || map.pages_of(shape).filter_map(|(_, page)| page.moved_to);
        let is_detail = |end: &UrlId| self.choice.things.details.contains(&map.shape_of(*end));
        let is_linked = |end: UrlId| map.pages().any(|(id, page)| map.end_of(id) != end && page.out.contains(&end));
        let alone = ends().filter(is_detail).filter(|end| !is_linked(*end)).count();
        alone >= ENDS_MIN && alone * 10 >= ends().count() * 6
    }

    fn candidates(&self) -> Vec<Candidate> {
        let map = self.map();
        let of_shape = |(shape, _)| {
            let counts: Vec<usize> = map
                .pages_of(shape)
                .filter(|(_, page)| page.is_page())
                .map(|(id, page)| self.choice.things.torrents(map, id, page).len())
                .collect();
            let mut with: Vec<usize> = counts.iter().copied().filter(|count| *count > 0).collect();
            with.sort_unstable();
            if self.choice.things.downloads.contains(&shape) || with.is_empty() || with.len() * 10 < counts.len() * 3 {
                return None;
            }
            let urls = map.urls_of(shape);
            let texts: HashSet<&str> = urls.iter().map(|url| &*map.url(*url).text).collect();
            let share = with.len() as f64 / counts.len() as f64;
            let titles = texts.len() as f64 / urls.len().max(1) as f64;
            Some(Candidate {
                shape,
                rank: urls.len() as f64 * share * (0.3 + titles),
                median: with[with.len() / 2],
                is_listy: counts.iter().filter(|count| **count >= LISTY).count() * 10 >= counts.len() * 6,
                share,
            })
        };
        map.shapes().filter_map(of_shape).collect()
    }

    /// Further pages of the same details: one more parameter, and torrents that the first page does not show.
    fn add_later_pages(&mut self, shape: ShapeId, candidates: &[Candidate]) {
        let base = self.map().shape(shape).clone();
        for other in candidates {
            let form = self.map().shape(other.shape);
            let more: Vec<&str> = form.keys().filter(|key| base.form_of(key).is_none()).collect();
            let is_later = form.path == base.path
                && form.query.len() == base.query.len() + 1
                && matches!(more[..], [key] if NUMBERS.has(&key.to_ascii_lowercase()));
            if !is_later || self.choice.things.details.contains(&other.shape) {
                continue;
            }
            let known = self.shown_by(&[shape]);
            if !self.shown_by(&[other.shape]).is_subset(&known) {
                self.choice.things.details.push(other.shape);
                self.choice.shares.insert(other.shape, other.share);
            }
        }
    }

    /// All torrents on the pages of shapes.
    pub(super) fn shown_by(&self, shapes: &[ShapeId]) -> BTreeSet<Thing> {
        let map = self.map();
        let pages = shapes.iter().flat_map(|shape| map.pages_of(*shape)).filter(|(_, page)| page.is_page());
        pages.flat_map(|(id, page)| self.choice.things.torrents(map, id, page)).collect()
    }

    /// Torrents of a page; none if it was not read.
    pub(super) fn torrents_of(&self, id: UrlId) -> BTreeSet<Thing> {
        let map = self.map();
        map.page(id)
            .filter(|page| page.is_page())
            .map(|page| self.choice.things.torrents(map, id, page))
            .unwrap_or_default()
    }

    /// Most pages of a shape show torrents that chosen details show: "the same posts once more".
    async fn is_covered(&mut self, shape: ShapeId) -> bool {
        let map = self.map();
        let pages: Vec<(UrlId, BTreeSet<Thing>)> = map
            .pages_of(shape)
            .filter(|(_, page)| page.is_page())
            .map(|(id, page)| (id, self.choice.things.torrents(map, id, page)))
            .filter(|(_, torrents)| !torrents.is_empty())
            .take(COMPARED_MAX)
            .collect();
        let (mut probes, mut hits) = (0, 0);
        for (id, torrents) in &pages {
            let known = self.shown_by(&self.choice.things.details);
            if !torrents.is_disjoint(&known) {
                hits += 1;
                continue;
            }
            if self.read_by_another_name(*id).into_iter().any(|other| self.are_volatile_between(*id, other)) {
                hits += 1;
                continue;
            }
            for other in self.same_by_another_name(*id, torrents).into_iter().take(2) {
                if probes >= PROBES_MAX || self.run.left() == 0 {
                    break;
                }
                probes += 1;
                let why = format!("same torrents as {}?", without_keys(self.run.map.path(*id)));
                self.run.fetch(other, &why).await;
                if !self.torrents_of(other).is_disjoint(torrents) || self.are_volatile_between(*id, other) {
                    hits += 1;
                    break;
                }
            }
        }
        !pages.is_empty() && hits * 10 >= pages.len() * 6
    }

    /// Two views of the same torrents, by the texts of their links, with other URLs: these are made anew for each view.
    fn are_volatile_between(&mut self, a: UrlId, b: UrlId) -> bool {
        let by_text = self.choice.things.by_text();
        let map = &self.run.map;
        let texts = |id: UrlId| map.page(id).map(|page| by_text.torrents(map, id, page)).unwrap_or_default();
        let (first, second) = (texts(a), texts(b));
        let are = self.choice.things.are_titled(map)
            && !first.is_empty()
            && first == second
            && map.pages().any(|(_, page)| page.is_torrent());
        if are && !self.choice.things.are_volatile {
            self.choice.things.found_volatile(&self.run.map);
            self.choice.notes.push(super::volatile::NOTE.to_owned());
        }
        are
    }

    /// Chosen details that were read and share a number with this page's URL.
    fn read_by_another_name(&self, id: UrlId) -> Vec<UrlId> {
        let map = &self.run.map;
        let numbers: HashSet<&str> = identifiers(map.path(id)).collect();
        let read = self.choice.things.details.iter().flat_map(|shape| map.pages_of(*shape)).map(|(other, _)| other);
        read.filter(|other| *other != id && identifiers(map.path(*other)).any(|number| numbers.contains(number)))
            .collect()
    }

    /// URLs of chosen details that may show what this page shows: by its identifiers.
    fn same_by_another_name(&mut self, id: UrlId, torrents: &BTreeSet<Thing>) -> Vec<UrlId> {
        let mut found = self.canonical(id);
        let map = &self.run.map;
        let mut numbers: HashSet<String> = identifiers(map.path(id)).map(str::to_owned).collect();
        numbers.extend(torrents.iter().filter_map(|thing| thing.number).map(|number| number.to_string()));
        let details = &self.choice.things.details;
        let likely = details.iter().flat_map(|shape| map.urls_of(*shape)).copied().filter(|url| {
            map.page(*url).is_none() && identifiers(map.path(*url)).any(|number| numbers.contains(number))
        });
        let (linked, other): (Vec<UrlId>, Vec<UrlId>) =
            likely.partition(|url| map.page(id).is_some_and(|page| page.out.contains(url)));
        found.extend(linked);
        found.extend(other);
        found
    }

    /// URLs of chosen details made of the values that this page's links name most: `t=57` of its links to reply and to print (§14.6a).
    fn canonical(&mut self, id: UrlId) -> Vec<UrlId> {
        const LIKELY: usize = 4;
        let map = &self.run.map;
        let Some(page) = map.page(id) else { return Vec::new() };
        let mut values: HashMap<(String, String), usize> = HashMap::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for url in map.content(id, page) {
            let path = map.path(url);
            for (key, value) in Parts::of(path).pairs.iter().collect::<HashSet<_>>() {
                *values.entry(((*key).to_owned(), (*value).to_owned())).or_default() += 1;
            }
            for number in identifiers(path).collect::<HashSet<_>>() {
                *numbers.entry(number.to_owned()).or_default() += 1;
            }
        }
        let mut paths = Vec::new();
        for shape in &self.choice.things.details {
            let form = map.shape(*shape);
            let Some(example) = map.urls_of(*shape).first().map(|url| map.path(*url)) else { continue };
            let varying: Vec<&str> =
                form.query.iter().filter(|(_, form)| form.contains('{')).map(|(key, _)| key.as_str()).collect();
            if varying.is_empty() {
                let mut likely: Vec<(&String, &usize)> = numbers.iter().collect();
                likely.sort_by_key(|(number, count)| (Reverse(**count), (*number).clone()));
                for (number, _) in likely.into_iter().take(LIKELY) {
                    let of_number = |url: &&UrlId| identifiers(map.path(**url)).any(|own| own == number);
                    paths.extend(map.urls_of(*shape).iter().find(of_number).map(|url| map.path(*url).to_owned()));
                }
                continue;
            }
            let mut path = example.to_owned();
            let all_known = varying.iter().all(|key| {
                let named = values.iter().filter(|((own, _), _)| own == key);
                let best = named.max_by_key(|((_, value), count)| (**count, value.clone()));
                best.map(|((_, value), _)| path = Parts::of(&path).with(key, value)).is_some()
            });
            if all_known {
                paths.push(path);
            }
        }
        paths.retain(|path| path != map.path(id));
        paths.truncate(PROBES_MAX);
        paths.iter().filter_map(|path| self.run.map.url_id(path)).collect()
    }
}

/// Numbers and hashes of a path.
fn identifiers(path: &str) -> impl Iterator<Item = &str> {
    const HASH_BYTES: usize = 32;
    path.split(|of: char| !of.is_ascii_alphanumeric()).flat_map(|part| {
        let is_hash = part.len() >= HASH_BYTES && part.bytes().all(|of| of.is_ascii_hexdigit());
        let digits = part.split(|of: char| !of.is_ascii_digit()).filter(|number| !number.is_empty());
        let hash = is_hash.then_some(part);
        hash.into_iter().chain(digits.filter(move |_| !is_hash))
    })
}
