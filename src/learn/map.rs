//! What was seen of a site: its URLs by shape, the pages that were read, the links between them.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;

use xxhash_rust::xxh3::xxh3_64;

use crate::guard::{self, Refused};
use crate::label::Label;
use crate::limits::URLS_MAX;
use crate::reading::{Home, Kind, Link, Reading};
use crate::shape::{Shape, Shaper};
use gleaner_frontier::tokens::Tokens;

/// A URL, by its number in the order of discovery.
pub type UrlId = u32;

/// A shape, by its number. Numbers change when words are merged.
pub type ShapeId = usize;

/// What is known of a URL.
#[derive(Debug)]
pub struct UrlSeen {
    /// Path and query.
    pub path: Box<str>,
    /// The text of its first link that had one.
    pub text: Box<str>,
    /// Links of its shape in the same place on the page that named it first.
    pub repeats: u16,
    /// The page that named it first.
    pub from: Option<UrlId>,
    /// Pages that link to it.
    pub on: u32,
    pub refused: Option<Refused>,
    asks: bool,
}

/// A link of a page, as far as pagers and volatile addresses need it.
#[derive(Clone, Copy, Debug)]
pub struct PageLink {
    pub url: UrlId,
    /// Hash of the text.
    pub text: u64,
    pub label: Option<Label>,
}

/// A page or a torrent that was read.
#[derive(Debug)]
pub struct Page {
    pub kind: Kind,
    /// URLs that it links to, each once.
    pub out: Vec<UrlId>,
    pub links: Vec<PageLink>,
    pub magnets: BTreeSet<String>,
    /// The URL that it was redirected to.
    pub moved_to: Option<UrlId>,
    /// Its number in the order of requests.
    pub order: u32,
    pub has_login: bool,
    pub is_built: bool,
    /// It is the listing of a folder that a web server makes.
    pub lists_folder: bool,
}

impl Page {
    /// False for a failure that may be over when it is asked for again.
    #[must_use]
    pub fn is_answered(&self) -> bool {
        !matches!(self.kind, Kind::Failed(0 | 429 | 500..))
    }

    /// True for a page whose links count.
    #[must_use]
    pub fn is_page(&self) -> bool {
        self.kind == Kind::Page
    }

    /// The archive key of a torrent.
    #[must_use]
    pub fn torrent(&self) -> Option<String> {
        if let Kind::Torrent(key) = &self.kind { Some(key.clone()) } else { None }
    }

    #[must_use]
    pub fn is_torrent(&self) -> bool {
        matches!(self.kind, Kind::Torrent(_))
    }
}

/// What was seen of a site.
#[derive(Debug)]
pub struct Map {
    pub home: Home,
    urls: Vec<UrlSeen>,
    index: HashMap<Box<str>, UrlId>,
    pages: BTreeMap<UrlId, Page>,
    shaper: Shaper,
    shapes: Vec<Rc<Shape>>,
    shape_ids: HashMap<Rc<Shape>, ShapeId>,
    /// Shape of each URL.
    shape_of: Vec<ShapeId>,
    urls_of: Vec<Vec<UrlId>>,
    tokens: Tokens,
    /// Pages whose links were counted.
    pages_read: usize,
    /// Hosts elsewhere to which links to torrents lead.
    pub elsewhere: BTreeMap<String, usize>,
    /// Links name the site with and without `www.`.
    pub names_twin: bool,
    /// Shapes are no longer merged.
    is_frozen: bool,
    /// URLs beyond the cap were seen.
    pub is_full: bool,
}

/// Pages on which a link must stand to be navigation: at least so many, and this share of all.
const NAVIGATION_PAGES_MIN: u32 = 4;
const NAVIGATION_SHARE: f64 = 0.4;
const NAVIGATION_FROM: usize = 5;

impl Map {
    #[must_use]
    pub fn new(home: Home) -> Self {
        Self {
            home,
            urls: Vec::new(),
            index: HashMap::new(),
            pages: BTreeMap::new(),
            shaper: Shaper::default(),
            shapes: Vec::new(),
            shape_ids: HashMap::new(),
            shape_of: Vec::new(),
            urls_of: Vec::new(),
            tokens: Tokens::default(),
            pages_read: 0,
            elsewhere: BTreeMap::new(),
            names_twin: false,
            is_frozen: false,
            is_full: false,
        }
    }

    /// The number of a URL, given as path and query; a new one if it is not known. None beyond the cap.
    pub fn url_id(&mut self, path: &str) -> Option<UrlId> {
        if let Some(known) = self.index.get(path) {
            return Some(*known);
        }
        if self.urls.len() >= URLS_MAX {
            self.is_full = true;
            return None;
        }
        let id = UrlId::try_from(self.urls.len()).ok()?;
        self.index.insert(path.into(), id);
        self.urls.push(UrlSeen {
            path: path.into(),
            text: "".into(),
            repeats: 0,
            from: None,
            on: 0,
            refused: None,
            asks: false,
        });
        let shape = self.shape_id(path);
        self.shape_of.push(shape);
        self.urls_of[shape].push(id);
        Some(id)
    }

    fn shape_id(&mut self, path: &str) -> ShapeId {
        let shape = self.shaper.shape(path);
        if let Some(known) = self.shape_ids.get(&shape) {
            return *known;
        }
        let id = self.shapes.len();
        self.shapes.push(Rc::clone(&shape));
        self.shape_ids.insert(shape, id);
        self.urls_of.push(Vec::new());
        id
    }

    #[must_use]
    pub fn url(&self, id: UrlId) -> &UrlSeen {
        &self.urls[id as usize]
    }

    #[must_use]
    pub fn path(&self, id: UrlId) -> &str {
        &self.urls[id as usize].path
    }

    /// All URLs in the order of discovery.
    pub fn urls(&self) -> impl Iterator<Item = (UrlId, &UrlSeen)> {
        (0..).zip(&self.urls)
    }

    #[must_use]
    pub fn page(&self, id: UrlId) -> Option<&Page> {
        self.pages.get(&id)
    }

    /// What was read, by the numbers of the URLs.
    pub fn pages(&self) -> impl Iterator<Item = (UrlId, &Page)> {
        self.pages.iter().map(|(id, page)| (*id, page))
    }

    #[must_use]
    pub fn shape_of(&self, id: UrlId) -> ShapeId {
        self.shape_of[id as usize]
    }

    #[must_use]
    pub fn shape(&self, id: ShapeId) -> &Shape {
        &self.shapes[id]
    }

    /// All shapes that have URLs.
    pub fn shapes(&self) -> impl Iterator<Item = (ShapeId, &Shape)> {
        self.shapes.iter().enumerate().filter(|(id, _)| !self.urls_of[*id].is_empty()).map(|(id, shape)| (id, &**shape))
    }

    #[must_use]
    pub fn urls_of(&self, shape: ShapeId) -> &[UrlId] {
        &self.urls_of[shape]
    }

    /// What was read of a shape, in the order of discovery.
    pub fn pages_of(&self, shape: ShapeId) -> impl Iterator<Item = (UrlId, &Page)> {
        self.urls_of[shape].iter().filter_map(|id| Some((*id, self.pages.get(id)?)))
    }

    #[must_use]
    pub fn pages_read(&self) -> usize {
        self.pages_read
    }

    /// True for a link that stands on most pages: a menu's.
    #[must_use]
    pub fn is_navigation(&self, id: UrlId) -> bool {
        let on = self.urls[id as usize].on;
        self.pages_read >= NAVIGATION_FROM
            && on >= NAVIGATION_PAGES_MIN
            && f64::from(on) >= NAVIGATION_SHARE * self.pages_read as f64
    }

    /// The page's links that are its own, without those of menus and to itself.
    pub fn content<'a>(&'a self, id: UrlId, page: &'a Page) -> impl Iterator<Item = UrlId> + 'a {
        page.out.iter().copied().filter(move |link| *link != id && !self.is_navigation(*link))
    }

    /// The URL that a request ended at.
    #[must_use]
    pub fn end_of(&self, id: UrlId) -> UrlId {
        self.pages.get(&id).and_then(|page| page.moved_to).unwrap_or(id)
    }

    /// Takes in what an answer shows.
    pub fn read(&mut self, id: UrlId, reading: Reading, moved_to: Option<UrlId>, order: u32) {
        let mut page = Page {
            kind: reading.kind,
            out: Vec::new(),
            links: Vec::new(),
            magnets: reading.magnets,
            moved_to,
            order,
            has_login: reading.has_login,
            is_built: reading.is_built,
            lists_folder: reading.lists_folder,
        };
        for (host, count) in reading.elsewhere {
            *self.elsewhere.entry(host).or_default() += count;
        }
        self.names_twin |= reading.names_twin;
        if matches!(page.kind, Kind::Page | Kind::Failed(_)) {
            self.pages_read += 1;
            self.tokens.read(reading.links.iter().map(|link| &*link.path));
            self.links(id, &mut page, &reading.links);
        }
        self.pages.insert(id, page);
    }

    fn links(&mut self, id: UrlId, page: &mut Page, links: &[Link]) {
        let mut places: HashMap<(u64, ShapeId), u16> = HashMap::new();
        let mut found = Vec::with_capacity(links.len());
        for link in links {
            let Some(url) = self.url_id(&link.path) else { continue };
            *places.entry((link.tags, self.shape_of(url))).or_default() += 1;
            found.push((url, link));
        }
        let mut seen = HashSet::with_capacity(found.len());
        for (url, link) in found {
            let repeats = places.get(&(link.tags, self.shape_of(url))).copied().unwrap_or_default();
            let known = &mut self.urls[url as usize];
            known.asks |= link.asks;
            if known.text.is_empty() {
                known.text.clone_from(&link.text);
            }
            if known.from.is_none() && url != id {
                (known.from, known.repeats) = (Some(id), repeats);
            }
            let label = Label::of(&link.text);
            if !link.text.is_empty() || !seen.contains(&url) {
                page.links.push(PageLink { url, text: xxh3_64(link.text.as_bytes()), label });
            }
            if seen.insert(url) {
                known.on += 1;
                page.out.push(url);
            }
        }
    }

    /// Merges words that are many, and makes the shapes anew where that changes them.
    pub fn regroup(&mut self) {
        while !self.is_frozen && self.shaper.merge() {
            self.reshape();
        }
    }

    fn reshape(&mut self) {
        self.shapes.clear();
        self.shape_ids.clear();
        self.urls_of.clear();
        let paths: Vec<Box<str>> = self.urls.iter().map(|url| url.path.clone()).collect();
        self.shape_of = paths.iter().map(|path| self.shape_id(path)).collect();
        for (id, shape) in (0..).zip(&self.shape_of) {
            self.urls_of[*shape].push(id);
        }
    }

    /// From now on shapes stay as they are.
    pub fn freeze(&mut self) {
        self.regroup();
        self.is_frozen = true;
    }

    /// Why a URL must not be asked for; what is found is kept.
    pub fn refuse(&mut self, id: UrlId) -> Option<Refused> {
        let url = &mut self.urls[id as usize];
        if url.refused.is_none() {
            url.refused = guard::refused(&url.path, url.asks, &self.tokens);
        }
        url.refused
    }

    /// Keeps that a URL must not be asked for.
    pub fn refuse_as(&mut self, id: UrlId, why: Refused) {
        self.urls[id as usize].refused = Some(why);
    }

    /// True for a link that carries what is a token by now.
    #[must_use]
    pub fn has_token(&self, path: &str) -> bool {
        self.tokens.are_in(path)
    }
}
