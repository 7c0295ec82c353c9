//! A page's tree as a flat array in tag order, so that subtrees are ranges. The miner walks this form. Scripts,
//! styles, heads and the options of selects are left out. Linear in the nodes; no recursion.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::ops::Range;

use ego_tree::NodeId;
use ego_tree::iter::Edge;
use scraper::node::Element;
use scraper::{ElementRef, Html, Node};

use super::words::{self, Role};

/// One element.
pub(super) struct Flat<'p> {
    pub element: &'p Element,
    pub id: NodeId,
    pub parent: usize,
    /// The first element after its subtree.
    pub end: usize,
    pub depth: usize,
    /// Hash of the tags from the root to here; the same in every version of this program.
    pub path: u64,
    /// Its texts, including those of its descendants.
    pub texts: Range<usize>,
    /// Links with an address within it, including itself.
    pub links: usize,
    /// Meaning of its class and its id: an index into [`Page::says`].
    class: usize,
    name: usize,
}

impl<'p> Flat<'p> {
    pub fn tag(&self) -> &'p str {
        self.element.name()
    }

    /// An attribute without a namespace. The element's own lookup makes an atom of each requested name, which would
    /// take most of the time here.
    pub fn attr(&self, name: &str) -> Option<&'p str> {
        attr(self.element, name)
    }
}

/// See [`Flat::attr`].
pub(super) fn attr<'p>(element: &'p Element, name: &str) -> Option<&'p str> {
    element.attrs().find(|(found, _)| *found == name).map(|(_, value)| value)
}

/// The meaning of the words in a class or an id.
#[derive(Default)]
struct Says {
    roles: Vec<Role>,
    pinned: bool,
    beside: bool,
}

/// A run of text and its element.
pub(super) struct Text<'p> {
    pub parent: usize,
    pub text: &'p str,
}

/// All elements and texts of a page; element 0 is an artificial root.
pub(super) struct Page<'p> {
    html: &'p Html,
    says: Vec<Says>,
    said: HashMap<String, usize>,
    pub elements: Vec<Flat<'p>>,
    pub texts: Vec<Text<'p>>,
    /// `<html lang>`.
    pub language: Option<&'p str>,
    pub base: Option<&'p str>,
    pub title: String,
}

/// Elements without visible content.
const SILENT: [&str; 9] =
    ["script", "style", "template", "select", "textarea", "noscript", "svg", "datalist", "iframe"];

/// Depth of an element's sketch, and the number of tag paths that it keeps.
const SKETCH_LEVELS: usize = 3;
const SKETCH_PATHS: usize = 40;

/// The tags of the first levels below an element, as a set of paths.
pub(super) type Sketch = Vec<u64>;

impl<'p> Page<'p> {
    pub fn of(html: &'p Html) -> Self {
        let mut page = Self {
            html,
            says: vec![Says::default()],
            said: HashMap::new(),
            elements: Vec::new(),
            texts: Vec::new(),
            language: None,
            base: None,
            title: String::new(),
        };
        let mut open: Vec<usize> = Vec::new();
        let mut silent: Option<NodeId> = None;
        for edge in html.tree.root().traverse() {
            match edge {
                Edge::Open(node) => match node.value() {
                    _ if silent.is_some() => {}
                    Node::Element(element) => {
                        page.head(element, node);
                        if SILENT.contains(&element.name()) || element.name() == "head" {
                            if element.name() == "head" {
                                page.read_head(node);
                            }
                            silent = Some(node.id());
                        } else {
                            page.open(element, node.id(), &mut open);
                        }
                    }
                    Node::Text(text) => {
                        if let Some(&parent) = open.last()
                            && !text.trim().is_empty()
                        {
                            page.texts.push(Text { parent, text });
                        }
                    }
                    _ => {}
                },
                Edge::Close(node) => {
                    if silent == Some(node.id()) {
                        silent = None;
                    } else if silent.is_none()
                        && node.value().is_element()
                        && let Some(at) = open.pop()
                    {
                        page.close(at);
                    }
                }
            }
        }
        while let Some(at) = open.pop() {
            page.close(at);
        }
        page
    }

    fn head(&mut self, element: &'p Element, _: ego_tree::NodeRef<'p, Node>) {
        if element.name() == "html" {
            self.language = attr(element, "lang").or_else(|| attr(element, "xml:lang"));
        }
        if element.name() == "base" && self.base.is_none() {
            self.base = attr(element, "href");
        }
    }

    fn read_head(&mut self, head: ego_tree::NodeRef<'p, Node>) {
        for node in head.descendants().take(2_000) {
            if let Some(element) = node.value().as_element() {
                self.head(element, node);
                if element.name() == "title" && self.title.is_empty() {
                    self.title =
                        node.children().filter_map(|child| child.value().as_text()).map(|text| &**text).collect();
                }
            }
        }
    }

    fn open(&mut self, element: &'p Element, id: NodeId, open: &mut Vec<usize>) {
        let at = self.elements.len();
        let class = attr(element, "class").map_or(0, |class| self.what_says(class.to_owned()));
        // Ids contain row numbers.
        let name = attr(element, "id")
            .map_or(0, |id| self.what_says(id.replace(|character: char| character.is_ascii_digit(), "")));
        let parent = open.last().copied().unwrap_or(0);
        let above = self.elements.get(parent).map_or(0, |flat| flat.path);
        self.elements.push(Flat {
            element,
            id,
            parent,
            end: at + 1,
            depth: open.len(),
            path: xxhash_rust::xxh3::xxh3_64_with_seed(element.name().as_bytes(), above),
            texts: self.texts.len()..self.texts.len(),
            links: usize::from(is_link(element)),
            class,
            name,
        });
        open.push(at);
    }

    fn close(&mut self, at: usize) {
        let (end, texts) = (self.elements.len(), self.texts.len());
        self.elements[at].end = end;
        self.elements[at].texts.end = texts;
        let (parent, links) = (self.elements[at].parent, self.elements[at].links);
        if parent != at {
            self.elements[parent].links += links;
        }
    }

    /// The element for selectors.
    pub fn node(&self, at: usize) -> Option<ElementRef<'p>> {
        self.html.tree.get(self.elements[at].id).and_then(ElementRef::wrap)
    }

    /// The children of an element, in order.
    pub fn children(&self, of: usize) -> impl Iterator<Item = usize> + '_ {
        let end = self.elements[of].end;
        let mut next = of + 1;
        std::iter::from_fn(move || {
            let at = next;
            (at < end).then(|| {
                next = self.elements[at].end;
                at
            })
        })
    }

    /// The tag paths in the first levels below an element, which the records of one list share. Bounded, whatever is
    /// below.
    pub fn sketch(&self, of: usize) -> Sketch {
        let top = &self.elements[of];
        let mut sketch = Sketch::with_capacity(SKETCH_PATHS);
        let mut path = [hash(&top.tag()); SKETCH_LEVELS + 1];
        let (mut at, mut looked) = (of + 1, 0);
        while at < top.end && looked < 4 * SKETCH_PATHS && sketch.len() < SKETCH_PATHS {
            let flat = &self.elements[at];
            let level = flat.depth - top.depth;
            looked += 1;
            if level > SKETCH_LEVELS {
                at = flat.end;
                continue;
            }
            path[level] = hash(&(path[level - 1], flat.tag()));
            if !sketch.contains(&path[level]) {
                sketch.push(path[level]);
            }
            at += 1;
        }
        sketch.sort_unstable();
        sketch
    }

    /// The roles named by the class of an element.
    pub fn roles(&self, at: usize) -> &[Role] {
        &self.says[self.elements[at].class].roles
    }

    /// True if the class or the id of an element marks it as pinned.
    pub fn is_pinned(&self, at: usize) -> bool {
        let flat = &self.elements[at];
        self.says[flat.class].pinned || self.says[flat.name].pinned
    }

    /// True if the class or the id of an element marks it as outside the list.
    pub fn is_beside(&self, at: usize) -> bool {
        let flat = &self.elements[at];
        self.says[flat.class].beside || self.says[flat.name].beside
    }

    /// The meaning of a class or an id. A page has few different ones, used many times.
    fn what_says(&mut self, text: String) -> usize {
        if let Some(&known) = self.said.get(&text) {
            return known;
        }
        // Single letters of classes belong to the theme.
        let roles = text.split_ascii_whitespace().filter(|word| word.len() > 2).flat_map(words::roles).collect();
        let says = Says { roles, pinned: words::says_pinned(&text), beside: is_beside(&text) };
        self.says.push(says);
        self.said.insert(text, self.says.len() - 1);
        self.says.len() - 1
    }
}

fn is_beside(class: &str) -> bool {
    const AROUND: [&str; 10] =
        ["with", "has", "no", "without", "main", "content", "wrap", "wrapper", "container", "page"];
    class
        .split_ascii_whitespace()
        .any(|word| words::says_beside(word) && !words::split(word).iter().any(|part| AROUND.contains(&part.as_str())))
}

pub(super) fn is_link(element: &Element) -> bool {
    element.name() == "a" && attr(element, "href").is_some()
}

pub(super) fn hash(of: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    of.hash(&mut hasher);
    hasher.finish()
}

/// Shared paths of two sketches, from 0 to 1 (Jaccard); two empty sketches are equal.
pub(super) fn likeness(a: &Sketch, b: &Sketch) -> f64 {
    if a.is_empty() && b.is_empty() {
        return 1.0;
    }
    let shared = a.iter().filter(|path| b.binary_search(path).is_ok()).count();
    let all = a.len() + b.len() - shared;
    f64::from(u32::try_from(shared).unwrap_or(0)) / f64::from(u32::try_from(all).unwrap_or(1))
}
