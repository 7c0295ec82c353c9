//! Selectors on the arena (Selectors 4): `querySelector`, `matches` and `closest`.
//!
//! The `selectors` crate parses and matches; `grammar` defines the supported pseudo-classes, `view` adapts the tree, and `needs` computes
//! what an element must have to match a selector. Nothing of the tree is cached, so nothing can be stale.

mod asked;
mod grammar;
mod needs;
mod pseudo;
mod view;

#[cfg(test)]
mod tests;

use std::collections::HashMap;

use cssparser::ToCss as _;
use html5ever::interface::QuirksMode;
use selectors::context::{MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags, SelectorCaches};
use selectors::matching::matches_selector;
use selectors::parser::{Component, ParseRelative, SelectorList, SelectorParseErrorKind};
use selectors::{Element as _, context};

use crate::limits;

pub use self::asked::{ElementMatcher, Namespaces, Standing};
use self::grammar::{Css, Grammar};
pub use self::needs::Need;
use self::view::View;
use super::Error;
use super::node::NodeId;
use super::tree::Tree;

/// With more elements of one `id` than this, walking the tree is no slower than sorting them.
const SORTED_IDS: usize = 16;

/// A parsed list of selectors.
#[derive(Clone, Debug)]
pub struct Selectors(SelectorList<Css>);

impl Selectors {
    /// # Errors
    /// [`Error::Syntax`] for what a browser rejects, and for selectors longer or deeper than the caps.
    pub fn parse(text: &str) -> Result<Self, Error> {
        Self::parse_in(text, &Namespaces::default(), false)
    }

    /// As [`Self::parse`], with the prefixes of a style sheet; within another rule, they may begin with a combinator.
    ///
    /// # Errors
    /// As [`Self::parse`].
    pub fn parse_in(text: &str, namespaces: &Namespaces, is_nested: bool) -> Result<Self, Error> {
        if text.len() > limits::SELECTOR_BYTES_MAX {
            return Err(Error::Syntax);
        }
        let mut parser = cssparser::Parser::new(text);
        parser.set_nested_block_limit(limits::SELECTOR_NESTING_MAX);
        Self::read(&mut parser, namespaces, is_nested).map_err(|_| Error::Syntax)
    }

    /// Parses the rest of a parser's input.
    ///
    /// # Errors
    /// The parser's, for an invalid selector list or one longer than the cap.
    pub fn read<'i>(
        input: &mut cssparser::Parser<'i>,
        namespaces: &Namespaces,
        is_nested: bool,
    ) -> Result<Self, cssparser::ParseError<SelectorParseErrorKind>> {
        let start = input.position();
        let relative = if is_nested { ParseRelative::ForNesting } else { ParseRelative::No };
        let list = SelectorList::parse(&Grammar(namespaces), input, relative)?;
        if input.slice_from(start).len() > limits::SELECTOR_BYTES_MAX {
            return Err(cssparser::ParseError::unexpected_token());
        }
        Ok(Self(list))
    }

    /// Whether it is one selector, not a list of several.
    pub fn is_one(&self) -> bool {
        self.0.slice().len() == 1
    }

    /// The selectors as CSSOM §6.7.2 writes them.
    pub fn text(&self) -> String {
        self.0.to_css_string()
    }

    /// These selectors with those of the enclosing rule in place of `&` (CSS Nesting §3).
    pub fn within(&self, parent: &Self) -> Self {
        Self(self.0.replace_parent_selector(&parent.0))
    }

    /// Whether they contain `:scope`.
    fn asks_for_scope(&self) -> bool {
        self.0.slice().iter().any(|selector| selector.has_scope_selector())
    }

    /// The `id` that every match must have.
    fn required_id(&self) -> Option<&str> {
        let [selector] = self.0.slice() else {
            return None;
        };
        selector.iter().find_map(|component| match component {
            Component::ID(id) => Some(id.as_ref()),
            _ => None,
        })
    }
}

/// The cache of parsed selectors of a page.
#[derive(Debug, Default)]
pub struct SelectorCache {
    parsed: HashMap<String, Selectors>,
}

impl SelectorCache {
    /// As [`Selectors::parse`], but parses each text only once.
    pub fn get(&mut self, text: &str) -> Result<Selectors, Error> {
        if let Some(known) = self.parsed.get(text) {
            return Ok(known.clone());
        }
        let selectors = Selectors::parse(text)?;
        if self.parsed.len() >= limits::SELECTORS_CACHED_MAX {
            self.parsed.clear();
        }
        self.parsed.insert(text.to_owned(), selectors.clone());
        Ok(selectors)
    }
}

impl Tree {
    /// `element.matches(selectors)`; `:scope` is the element itself.
    pub fn matches(&self, element: NodeId, selectors: &Selectors) -> bool {
        self.is_element(element) && Matcher::new(self, element, selectors).matches(element)
    }

    /// `element.closest(selectors)`; `:scope` is `element` itself.
    pub fn closest(&self, element: NodeId, selectors: &Selectors) -> Option<NodeId> {
        let mut matcher = Matcher::new(self, element, selectors);
        self.inclusive_ancestors(element).filter(|id| self.is_element(*id)).find(|id| matcher.matches(*id))
    }

    /// `root.querySelector(selectors)`: the first match below the root, in tree order.
    pub fn query_selector(&self, root: NodeId, selectors: &Selectors) -> Option<NodeId> {
        let mut matcher = Matcher::new(self, root, selectors);
        match matcher.candidates(root) {
            Some(candidates) => candidates.into_iter().find(|id| matcher.matches(*id)),
            None => self.descendants(root).filter(|id| self.is_element(*id)).find(|id| matcher.matches(*id)),
        }
    }

    /// `root.querySelectorAll(selectors)`, in tree order.
    pub fn query_selector_all(&self, root: NodeId, selectors: &Selectors) -> Vec<NodeId> {
        let mut matcher = Matcher::new(self, root, selectors);
        match matcher.candidates(root) {
            Some(candidates) => candidates.into_iter().filter(|id| matcher.matches(*id)).collect(),
            None => {
                self.descendants(root).filter(|id| self.is_element(*id)).filter(|id| matcher.matches(*id)).collect()
            }
        }
    }
}

/// The quirks mode of a node's document.
fn quirks_of(tree: &Tree, id: NodeId) -> context::QuirksMode {
    match tree.document_data(tree.document_of(id)).map(|document| document.quirks) {
        Some(QuirksMode::Quirks) => context::QuirksMode::Quirks,
        Some(QuirksMode::LimitedQuirks) => context::QuirksMode::LimitedQuirks,
        _ => context::QuirksMode::NoQuirks,
    }
}

/// One query: many elements against the same selectors from the same root.
struct Matcher<'a> {
    tree: &'a Tree,
    selectors: &'a Selectors,
    caches: SelectorCaches,
    quirks: context::QuirksMode,
    scope: NodeId,
    /// A fragment or shadow root that `:scope` refers to although it is not an element.
    virtual_scope: Option<NodeId>,
    host: Option<NodeId>,
}

impl<'a> Matcher<'a> {
    fn new(tree: &'a Tree, scope: NodeId, selectors: &'a Selectors) -> Self {
        let quirks = quirks_of(tree, scope);
        let is_virtual = tree.fragment(scope).is_some() && selectors.asks_for_scope();
        let host = tree.containing_shadow_root(scope).and_then(|root| tree.shadow_host(root));
        let virtual_scope = is_virtual.then_some(scope);
        Self { tree, selectors, caches: SelectorCaches::default(), quirks, scope, virtual_scope, host }
    }

    fn view(&self, id: NodeId) -> View<'a> {
        View { tree: self.tree, id, virtual_scope: self.virtual_scope }
    }

    fn matches(&mut self, element: NodeId) -> bool {
        let view = self.view(element);
        let has_scope = self.virtual_scope.is_some() || self.tree.is_element(self.scope);
        let scope = has_scope.then(|| self.view(self.scope).opaque());
        let host = self.host.map(|host| self.view(host).opaque());
        let mut context = MatchingContext::new(
            MatchingMode::Normal,
            None,
            &mut self.caches,
            self.quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        context.scope_element = scope;
        context.current_host = host;
        let selectors = self.selectors.0.slice();
        // `::slotted()` and `::part()` match no element here.
        let mut selectors = selectors.iter().filter(|selector| !selector.is_slotted() && !selector.is_part());
        selectors.any(|selector| matches_selector(selector, 0, None, &view, &mut context))
    }

    /// The only possible matches below the root, in tree order, if an `id` makes them quick to find.
    fn candidates(&self, root: NodeId) -> Option<Vec<NodeId>> {
        if self.quirks == context::QuirksMode::Quirks {
            return None;
        }
        let with_id = self.tree.ids(self.selectors.required_id()?);
        if with_id.len() > SORTED_IDS {
            return None;
        }
        let is_below = |id: &NodeId| *id != root && self.tree.contains(root, *id);
        let mut below: Vec<NodeId> = with_id.iter().copied().filter(is_below).collect();
        below.sort_by(|a, b| self.tree.compare_order(*a, *b));
        Some(below)
    }
}
