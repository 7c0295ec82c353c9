//! Lists: families of pages with rows, and which of them are enough (LEARNING §14.7).

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Chooser, Series};
use crate::learner::Ask;
use crate::limits::{QUESTIONS_MAX, WALK_REQUESTS_MAX};
use crate::map::{ShapeId, UrlId};
use crate::paging::{Family, PageField};
use crate::parts::Parts;
use crate::prior::{SIDE_VIEW, prior};
use crate::shape::Place;
use crate::things::Thing;

/// A family of lists.
#[derive(Clone, Debug)]
pub struct List {
    pub family: Family,
    pub shapes: Vec<ShapeId>,
    /// Pages that were read.
    pub pages: Vec<UrlId>,
    pub rows: BTreeSet<Thing>,
    pub torrents: BTreeSet<Thing>,
    /// Most rows, or torrents, of a page.
    pub per_page: usize,
    /// Pages of each of its series.
    pub series: BTreeMap<Series, u64>,
}

impl List {
    /// Pages of the longest series.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.series.values().copied().max().unwrap_or_default()
    }

    /// Rows that its series announce.
    #[must_use]
    pub fn announced(&self) -> u64 {
        self.series.values().map(|pages| (*pages).max(1) * self.per_page as u64).sum()
    }

    /// Rows and torrents.
    pub(super) fn all(&self) -> BTreeSet<Thing> {
        self.rows.union(&self.torrents).copied().collect()
    }
}

gleaner_base::topics! { address: ARRANGED; }

/// Rows, or torrents, of a page from which on it is a list.
const ROWS_MIN: usize = 3;

/// A page number so many times the next is far behind the last one.
const FAR_BEHIND: u64 = 97;

impl<A: Ask> Chooser<'_, '_, A> {
    pub(super) async fn choose_lists(&mut self) {
        let mut families = self.families();
        families.sort_by(|a, b| {
            self.order_of(a)
                .total_cmp(&self.order_of(b))
                .then_with(|| a.family.0.len().cmp(&b.family.0.len()))
                .then_with(|| a.family.cmp(&b.family))
        });
        for list in families {
            if self.choice.lists.is_empty() {
                self.take(list).await;
                continue;
            }
            let is_contained = self.is_contained(&list);
            if is_contained == Some(true) {
                continue;
            }
            if self.is_side_view(&list) {
                let known: BTreeSet<Thing> = self.choice.lists.iter().flat_map(List::all).collect();
                let more = list.all().difference(&known).count();
                self.ask_person(format!(
                    "{}: looks like a search or a person's page; {more} of its rows are known from nowhere else; refused",
                    list.family.0
                ));
                continue;
            }
            if list.longest() > 1 && self.is_endless(&list).await {
                self.ask_person(format!("{}: its page numbers go on without end; refused", list.family.0));
                continue;
            }
            self.take(list).await;
        }
        self.choice.lean = self.lean();
    }

    pub(super) fn ask_person(&mut self, question: String) {
        if self.choice.questions.len() < QUESTIONS_MAX {
            self.choice.questions.push(question);
        }
    }

    fn families(&self) -> Vec<List> {
        let map = self.map();
        let mut families: HashMap<Family, List> = HashMap::new();
        for (shape, _) in map.shapes() {
            let things = &self.choice.things;
            if things.downloads.contains(&shape) || things.details.contains(&shape) || self.is_redirected(shape) {
                continue;
            }
            for (id, page) in map.pages_of(shape).filter(|(_, page)| page.is_page()) {
                let (rows, torrents) = (things.rows(map, id, page), things.torrents(map, id, page));
                if rows.len() < ROWS_MIN && torrents.len() < ROWS_MIN {
                    continue;
                }
                let family = self.family(shape);
                let list = families.entry(family.clone()).or_insert_with(|| List {
                    family,
                    shapes: Vec::new(),
                    pages: Vec::new(),
                    rows: BTreeSet::new(),
                    torrents: BTreeSet::new(),
                    per_page: 0,
                    series: BTreeMap::new(),
                });
                list.pages.push(id);
                list.per_page = list.per_page.max(rows.len()).max(torrents.len());
                list.rows.extend(rows);
                list.torrents.extend(torrents);
            }
        }
        let mut families: Vec<List> = families.into_values().collect();
        families.iter_mut().for_each(|list| self.complete(list));
        families
    }

    /// All shapes and series of a family.
    pub(super) fn complete(&self, list: &mut List) {
        let map = self.map();
        let things = &self.choice.things;
        let own = |shape: &ShapeId| {
            !things.downloads.contains(shape)
                && !things.details.contains(shape)
                && !self.choice.barred.contains(shape)
                && self.family(*shape) == list.family
        };
        list.shapes = map.shapes().map(|(shape, _)| shape).filter(own).collect();
        list.series.clear();
        for shape in &list.shapes {
            let field = self.choice.fields.get(shape);
            for url in map.urls_of(*shape).iter().filter(|url| self.is_in_order(**url)) {
                let pages = pages_of(field, self.page_number(*url));
                let known = list.series.entry(self.series(*url)).or_default();
                *known = pages.max(*known);
            }
        }
    }

    /// The least is taken first: long lists of many rows, of few parameters, with pages.
    fn order_of(&self, list: &List) -> f64 {
        let rows = (list.longest().max(1) as f64 * list.per_page as f64).ln();
        let series = (list.series.len().max(1) as f64).ln();
        let weight = ((rows + 0.3 * series) * 10.0).round() / 10.0;
        let pages = if list.longest() > 1 { 0.5 } else { 0.0 };
        let map = self.map();
        let urls = list.shapes.iter().flat_map(|shape| map.urls_of(*shape)).map(|url| map.path(*url));
        let longest = urls.max_by_key(|path| path.len()).unwrap_or("/");
        let side = if prior(longest, "") <= SIDE_VIEW { 1.2 } else { 0.0 };
        -weight + 0.35 * self.varying(list) - pages + side
    }

    /// Parameters of a family that vary, or that are words.
    fn varying(&self, list: &List) -> f64 {
        let map = self.map();
        let Some(shape) = list.shapes.first() else { return 0.0 };
        let form = map.shape(*shape);
        let page_key = self.choice.fields.get(shape).and_then(|field| match &field.place {
            Place::Query(key, _) => Some(key.as_str()),
            Place::Path(_) => None,
        });
        let varies = |key: &str| {
            let urls = list.shapes.iter().flat_map(|shape| map.urls_of(*shape));
            let mut values: Vec<Option<&str>> = urls.map(|url| Parts::of(map.path(*url)).value(key)).collect();
            values.sort_unstable();
            values.dedup();
            values.len() > 1 || form.form_of(key).is_none_or(|form| !form.contains('{'))
        };
        form.keys().filter(|key| Some(*key) != page_key && varies(key)).count() as f64
    }

    /// By its words a search's, a person's, or another order.
    fn is_side_view(&self, list: &List) -> bool {
        let map = self.map();
        let mut urls = list.shapes.iter().flat_map(|shape| map.urls_of(*shape).iter().take(2));
        urls.all(|url| prior(map.path(*url), "") <= SIDE_VIEW)
    }

    /// Takes a list and walks along its front with a third of what is left: the best evidence there is, and cheap.
    pub(super) async fn take(&mut self, list: List) {
        self.choose_order(&list);
        let index = self.choice.lists.len();
        let most = (self.run.left() / 3).clamp(3, WALK_REQUESTS_MAX);
        let kept = self.share(0.12).max(10);
        self.choice.lists.push(list);
        let mut walked = 0;
        let mut passed: BTreeSet<UrlId> = BTreeSet::new();
        while walked < most && self.run.left() > kept {
            let Some(next) = self.next_of_front(index, &passed) else { break };
            passed.insert(next);
            if !self.run.may_ask(next) {
                continue;
            }
            walked += 1;
            self.run.fetch(next, "walk along the list").await;
            self.add_page(index, next);
        }
        self.run.map.regroup();
        self.choice.fields = crate::paging::page_fields(&self.run.map);
        let mut list = self.choice.lists[index].clone();
        self.complete(&mut list);
        self.choice.lists[index] = list;
    }

    /// Pagers keep the order in which a list is shown: the one that most of their links have is enough.
    fn choose_order(&mut self, list: &List) {
        let map = self.map();
        let urls = || list.shapes.iter().flat_map(|shape| map.urls_of(*shape)).map(|url| map.path(*url));
        let mut counts: BTreeMap<Vec<(&str, &str)>, usize> = BTreeMap::new();
        for path in urls() {
            let parts = Parts::of(path);
            let arranged = parts.pairs.into_iter().filter(|(key, _)| ARRANGED.has(&key.to_ascii_lowercase()));
            let order: Vec<(&str, &str)> = arranged.collect();
            if !order.is_empty() {
                *counts.entry(order).or_default() += 1;
            }
        }
        if counts.len() < 2 {
            return;
        }
        let best = counts.into_iter().max_by(|a, b| (a.1, &b.0).cmp(&(b.1, &a.0))).map(|(order, _)| order);
        let best: Vec<(String, String)> =
            best.into_iter().flatten().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        for (key, value) in best {
            self.choice.orders.entry(key).or_insert(value);
        }
    }

    /// The unread page of the least number.
    fn next_of_front(&self, index: usize, passed: &BTreeSet<UrlId>) -> Option<UrlId> {
        let map = self.map();
        let list = &self.choice.lists[index];
        let paged = list.shapes.iter().filter(|shape| self.choice.fields.contains_key(*shape));
        let urls = paged.flat_map(|shape| map.urls_of(*shape)).copied();
        urls.filter(|url| map.page(*url).is_none() && !passed.contains(url) && map.url(*url).refused.is_none())
            .filter(|url| self.is_in_order(*url))
            .min_by_key(|url| (self.page_number(*url).unwrap_or_default(), *url))
    }

    pub(super) fn add_page(&mut self, index: usize, id: UrlId) {
        let map = &self.run.map;
        let Some(page) = map.page(id).filter(|page| page.is_page()) else { return };
        let (rows, torrents) = (self.choice.things.rows(map, id, page), self.choice.things.torrents(map, id, page));
        let list = &mut self.choice.lists[index];
        list.pages.push(id);
        list.per_page = list.per_page.max(rows.len()).max(torrents.len());
        list.rows.extend(rows);
        list.torrents.extend(torrents);
    }

    /// A page far behind the last: a list answers with nothing or with what is known, a trap with new rows.
    async fn is_endless(&mut self, list: &List) -> bool {
        for shape in &list.shapes {
            let Some(PageField { place: Place::Query(key, 0), step, .. }) = self.choice.fields.get(shape).cloned()
            else {
                continue;
            };
            let map = &self.run.map;
            let Some(read) = map.urls_of(*shape).iter().find(|url| map.page(**url).is_some()) else { continue };
            let Some(number) = self.page_number(*read) else { continue };
            let far = (number + step).saturating_mul(FAR_BEHIND).to_string();
            let path = Parts::of(map.path(*read)).with(&key, &far);
            if self.run.left() == 0 {
                return false;
            }
            let Some(id) = self.run.fetch_path(&path, "far behind the last page").await else { return false };
            let map = &self.run.map;
            let Some(page) = map.page(id).filter(|page| page.is_page()) else { return false };
            let rows = self.choice.things.rows(map, id, page);
            return !rows.is_empty() && rows.intersection(&list.rows).count() * 2 < rows.len();
        }
        false
    }

    /// Why details need not be fetched: their torrents are those that list rows link to.
    fn lean(&self) -> Option<String> {
        const DETAILS_MIN: usize = 3;
        let map = self.map();
        let things = &self.choice.things;
        let listed: BTreeSet<Thing> = self.choice.lists.iter().flat_map(|list| list.torrents.iter().copied()).collect();
        let (mut read, mut same, mut pages, mut full) = (0, 0, 0, 0);
        for id in self.choice.lists.iter().flat_map(|list| &list.pages) {
            let Some(page) = map.page(*id) else { continue };
            let torrents = things.torrents(map, *id, page);
            for row in things.row_urls(map, *id, page) {
                let of_row = self.torrents_of(row);
                if !of_row.is_empty() {
                    read += 1;
                    same += usize::from(of_row.is_subset(&torrents) || of_row.is_subset(&listed));
                }
            }
            let rows = things.rows(map, *id, page).len();
            if rows > 0 {
                pages += 1;
                full += usize::from(torrents.len() * 10 >= rows * 9);
            }
        }
        let is_lean = read >= DETAILS_MIN && same * 10 >= read * 9 && pages > 0 && full * 10 >= pages * 9;
        is_lean.then(|| format!("{same} of {read} details showed only torrents that their lists link to"))
    }
}

/// Pages up to the one of this number.
pub(super) fn pages_of(field: Option<&PageField>, number: Option<u64>) -> u64 {
    match (field, number) {
        (Some(field), Some(number)) => field.pages_to(number),
        _ => 0,
    }
}
