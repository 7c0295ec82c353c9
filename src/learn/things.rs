//! What a page lists: rows and torrents, told apart by their identifiers and not by their URLs (LEARNING §14.6).

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::hash::{Hash as _, Hasher as _};

use xxhash_rust::xxh3::Xxh3;

use crate::map::{Map, Page, PageLink, ShapeId, UrlId};
use crate::shape::Place;

/// A row or a torrent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Thing {
    hash: u64,
    /// Its identifier, if that is a number.
    pub number: Option<u64>,
}

fn hashed(kind: &str, text: impl std::hash::Hash) -> u64 {
    let mut hasher = Xxh3::new();
    kind.hash(&mut hasher);
    text.hash(&mut hasher);
    hasher.finish()
}

/// Tells things apart.
#[derive(Debug, Default)]
pub struct Things {
    pub downloads: HashSet<ShapeId>,
    pub details: Vec<ShapeId>,
    /// Download URLs are made anew on each view: torrents are told apart by the texts of their links.
    pub are_volatile: bool,
    /// These texts name the torrents; "Download" does not.
    are_named: bool,
    /// Which field identifies the URLs of a shape; found anew as more of them are known.
    fields: RefCell<HashMap<(ShapeId, usize), Option<Place>>>,
}

/// URLs of a shape after which its identifying field is found anew.
const FIELDS_EACH: usize = 32;

impl Things {
    /// The same choice, with torrents told apart by the texts of their links.
    #[must_use]
    pub fn by_text(&self) -> Self {
        let (downloads, details) = (self.downloads.clone(), self.details.clone());
        Self { downloads, details, are_volatile: true, are_named: true, fields: RefCell::default() }
    }

    /// Download URLs turned out to be made anew on each view.
    pub fn found_volatile(&mut self, map: &Map) {
        self.are_volatile = true;
        self.are_named = self.are_titled(map);
    }

    /// True unless each view of a torrent looks like another one.
    #[must_use]
    pub fn are_told_apart(&self) -> bool {
        !self.are_volatile || self.are_named
    }

    /// True if the texts of download links tell torrents apart: within one shape, whose pages are views of different things.
    #[must_use]
    pub fn are_titled(&self, map: &Map) -> bool {
        const PAGES_MIN: usize = 3;
        map.shapes().any(|(shape, _)| {
            let pages = || map.pages_of(shape).filter(|(_, page)| page.is_page());
            let links: HashSet<UrlId> = pages()
                .flat_map(|(_, page)| page.out.iter().copied())
                .filter(|url| self.downloads.contains(&map.shape_of(*url)))
                .collect();
            let titles: HashSet<&str> = links.iter().map(|url| &*map.url(*url).text).collect();
            !links.is_empty() && pages().count() >= PAGES_MIN && titles.len() as f64 >= OF_TEXTS * links.len() as f64
        })
    }

    /// Torrents that a page links to: by download URLs, else by magnets.
    #[must_use]
    pub fn torrents(&self, map: &Map, id: UrlId, page: &Page) -> BTreeSet<Thing> {
        let is_own = |url: UrlId| self.downloads.contains(&map.shape_of(url)) && !map.is_navigation(url) && url != id;
        let found: BTreeSet<Thing> = if self.are_volatile {
            let own = page.links.iter().filter(|link| is_own(link.url));
            // Each link of each page may be another torrent where texts name none.
            let hash = |link: &PageLink| match self.are_named {
                true => hashed("text", link.text),
                false => hashed("link", (id, link.url)),
            };
            own.map(|link| Thing { hash: hash(link), number: None }).collect()
        } else {
            page.out.iter().filter(|url| is_own(**url)).map(|url| self.of_url(map, *url)).collect()
        };
        if !found.is_empty() {
            return found;
        }
        page.magnets.iter().map(|magnet| Thing { hash: hashed("magnet", magnet), number: None }).collect()
    }

    /// URLs of details that a page links to as its own content.
    pub fn row_urls<'a>(&'a self, map: &'a Map, id: UrlId, page: &'a Page) -> impl Iterator<Item = UrlId> + 'a {
        map.content(id, page).filter(|url| self.details.contains(&map.shape_of(*url)))
    }

    /// What the rows of a page are about.
    #[must_use]
    pub fn rows(&self, map: &Map, id: UrlId, page: &Page) -> BTreeSet<Thing> {
        self.row_urls(map, id, page).map(|url| self.of_url(map, url)).collect()
    }

    /// The thing that a URL names.
    #[must_use]
    pub fn of_url(&self, map: &Map, url: UrlId) -> Thing {
        let shape = map.shape_of(url);
        let path = map.path(url);
        if let Some(place) = self.field(map, shape)
            && let Some(field) = map.shape(shape).field(path, &place)
        {
            let hash = hashed("field", (&map.shape(shape).path, field.value));
            return Thing { hash, number: field.number() };
        }
        Thing { hash: hashed("url", path), number: longest_number(path) }
    }

    /// The one field of a shape that identifies its URLs, if there are several: it has as many values as there are things.
    fn field(&self, map: &Map, shape: ShapeId) -> Option<Place> {
        let urls = map.urls_of(shape);
        let key = (shape, urls.len() / FIELDS_EACH);
        if let Some(known) = self.fields.borrow().get(&key) {
            return known.clone();
        }
        let found = identifying(map, shape, urls);
        self.fields.borrow_mut().insert(key, found.clone());
        found
    }
}

/// An identifier that has at least this share of the most values a field has, and of the different texts.
const OF_VALUES: f64 = 0.9;
const OF_TEXTS: f64 = 0.7;

fn identifying(map: &Map, shape: ShapeId, urls: &[UrlId]) -> Option<Place> {
    let form = map.shape(shape);
    if form.places() < 2 {
        return None;
    }
    let mut values: HashMap<Place, (u8, HashSet<&str>)> = HashMap::new();
    for url in urls {
        for field in form.fields(map.path(*url)) {
            let kind = match field.sign.as_str() {
                "{n}" | "{h}" => 2,
                "{x}" => 1,
                _ => 0,
            };
            values.entry(field.place).or_insert_with(|| (kind, HashSet::new())).1.insert(field.value);
        }
    }
    let texts: HashSet<&str> = urls.iter().map(|url| &*map.url(*url).text).collect();
    let most = values.values().map(|(_, values)| values.len()).max()?;
    let candidates = values.iter().filter(|(_, (_, values))| values.len() as f64 >= OF_VALUES * most as f64);
    let (place, (_, best)) =
        candidates.max_by_key(|(place, (kind, values))| (*kind, values.len(), (*place).clone()))?;
    (best.len() as f64 >= OF_TEXTS * texts.len() as f64).then(|| place.clone())
}

/// The longest number of a path, unless a hash stands in it.
fn longest_number(path: &str) -> Option<u64> {
    const HASH_BYTES: usize = 32;
    let is_hash = |part: &str| part.len() >= HASH_BYTES && part.bytes().all(|of| of.is_ascii_hexdigit());
    if path.split(|of: char| !of.is_ascii_alphanumeric()).any(is_hash) {
        return None;
    }
    let numbers = path.split(|of: char| !of.is_ascii_digit()).filter(|number| !number.is_empty());
    numbers.max_by_key(|number| number.len()).and_then(|number| number.parse().ok())
}
