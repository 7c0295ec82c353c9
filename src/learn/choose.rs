//! From evidence to classes: which shapes give torrents, which are their pages, which lists are enough, what leads to them.
//!
//! `volatile → details → lists → parameters → hubs → likes → verify → count`, each within what is left of the budget.

mod contained;
mod count;
mod details;
mod hubs;
mod likes;
mod lists;
mod parameters;
mod verify;
mod volatile;

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::evidence::Evidence;
use crate::learner::{Ask, Learner};
use crate::map::{Map, ShapeId, UrlId};
use crate::paging::{PageField, family, page_fields};
use crate::parts::Parts;
use crate::reading::Kind;
use crate::shape::Place;
use crate::things::Things;
use gleaner_rules::Class;
pub use lists::List;
pub use verify::Promise;

/// What was decided.
#[derive(Debug, Default)]
pub struct Choice {
    pub things: Things,
    pub fields: HashMap<ShapeId, PageField>,
    /// Lists whose rows are enough, in the order in which they were taken.
    pub lists: Vec<List>,
    /// Of each shape of details, the share of its pages with torrents.
    pub shares: HashMap<ShapeId, f64>,
    /// Parameters that change nothing.
    pub dropped: Vec<String>,
    /// Of the orders in which lists are shown, the one that is enough: value by parameter.
    pub orders: BTreeMap<String, String>,
    pub hubs: Vec<ShapeId>,
    pub classes: BTreeMap<ShapeId, Class>,
    /// Kept promises and trials, by shape.
    pub promises: HashMap<ShapeId, Promise>,
    /// Why details need not be fetched, if so.
    pub lean: Option<String>,
    /// Magnets alone were found.
    pub has_magnets_only: bool,
    pub notes: Vec<String>,
    /// What a person should decide.
    pub questions: Vec<String>,
    /// URLs of lists that nothing chosen links to.
    pub unreached: usize,
    /// Shapes that get no rule, whatever else speaks for them.
    pub barred: HashSet<ShapeId>,
}

impl Choice {
    /// A path and query as the crawl will know it: without the parameters that change nothing.
    #[must_use]
    pub fn without_dropped(&self, path_and_query: &str) -> String {
        Parts::of(path_and_query).without(|key| self.dropped.iter().any(|dropped| dropped == key))
    }

    /// True for a URL of the order that is enough, or of a list without one.
    #[must_use]
    pub fn is_in_order(&self, path_and_query: &str) -> bool {
        let parts = Parts::of(path_and_query);
        self.orders.iter().all(|(key, value)| parts.value(key).is_none_or(|own| own == value))
    }
}

/// Pages with magnets from which on a site without torrent files is one of magnets.
const MAGNET_PAGES_MIN: usize = 3;

/// A run whose evidence is being decided on.
pub struct Chooser<'r, 'a, A> {
    pub run: &'r mut Learner<'a, A>,
    pub choice: Choice,
}

impl<A: Ask> Chooser<'_, '_, A> {
    /// Decides. None if there is nothing to decide on: neither torrents nor magnets were found.
    pub async fn decide(mut self) -> Option<Choice> {
        let evidence = Evidence::of(&self.run.map);
        self.choice.fields = page_fields(&self.run.map);
        self.choice.things.downloads = evidence.downloads;
        if self.choice.things.downloads.is_empty() {
            let with_magnets = self.run.map.pages().filter(|(_, page)| !page.magnets.is_empty()).count();
            if with_magnets < MAGNET_PAGES_MIN {
                return None;
            }
            self.choice.has_magnets_only = true;
        }
        self.run.stage = "telling lists from details";
        self.test_volatile().await;
        self.choose_details().await;
        self.choose_lists().await;
        self.run.stage = "testing parameters";
        self.test_parameters().await;
        self.test_volatile_lists().await;
        self.run.stage = "looking for what leads to the lists";
        self.choose_hubs().await;
        self.classify();
        self.run.stage = "trying the rules on fresh URLs";
        self.verify().await;
        self.run.stage = "counting";
        self.count().await;
        Some(self.choice)
    }

    fn map(&self) -> &Map {
        &self.run.map
    }

    /// A share of the budget, in requests.
    fn share(&self, of: f64) -> u32 {
        (f64::from(self.run.budget) * of) as u32
    }

    /// Most pages of a shape that are there lead elsewhere.
    fn is_redirected(&self, shape: ShapeId) -> bool {
        let map = self.map();
        let (mut count, mut moved) = (0, 0);
        for (_, page) in map.pages_of(shape).filter(|(_, page)| !matches!(page.kind, Kind::Failed(_))) {
            count += 1;
            moved += usize::from(page.moved_to.is_some_and(|to| map.shape_of(to) != shape));
        }
        moved > 0 && moved * 10 >= count * 6
    }

    fn family(&self, shape: ShapeId) -> crate::paging::Family {
        family(self.map().shape(shape), self.choice.fields.get(&shape))
    }

    /// A URL of the order that is enough, or of a list without one.
    fn is_in_order(&self, url: UrlId) -> bool {
        self.choice.is_in_order(self.map().path(url))
    }

    /// The number of the page that a URL is, of its list.
    fn page_number(&self, url: UrlId) -> Option<u64> {
        let shape = self.map().shape_of(url);
        let place = &self.choice.fields.get(&shape)?.place;
        self.map().shape(shape).field(self.map().path(url), place)?.number()
    }

    /// What a URL has beside its page number: the list that it is a page of.
    fn series(&self, url: UrlId) -> Series {
        let shape = self.map().shape_of(url);
        let of_page = self.choice.fields.get(&shape).map(|field| &field.place);
        let form = self.map().shape(shape);
        let others: Vec<(Place, String)> = form
            .fields(self.map().path(url))
            .into_iter()
            .filter(|field| Some(&field.place) != of_page)
            .filter(|field| !matches!(&field.place, Place::Query(key, _) if self.choice.dropped.contains(key)))
            .map(|field| (field.place, field.value.to_owned()))
            .collect();
        (self.family(shape), others)
    }
}

/// A family and the values of all other fields.
pub type Series = (crate::paging::Family, Vec<(Place, String)>);
