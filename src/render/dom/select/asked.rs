//! Selectors of style rules on an element: whether they match, and with which specificity (Selectors 4 §17, CSS Scoping §3).

use html5ever::Namespace;
use selectors::context::SelectorCaches;
use selectors::context::{self, MatchingContext, MatchingForInvalidation, MatchingMode, NeedsSelectorFlags};
use selectors::matching::matches_selector;
use selectors::parser::{MatchesFeaturelessHost, Selector};

use super::grammar::Css;
use super::view::View;
use super::{Need, Selectors};
use crate::dom::{Error, NodeId, Tree};
use crate::limits;

/// An element's relation to the tree of a rule.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Standing {
    /// In it.
    Own,
    /// It is the host, matched by `:host`.
    Host,
    /// It is slotted into it, matched by `::slotted()`.
    Slotted,
    /// It is a part of a shadow tree below it, matched by `::part()`.
    Part,
}

impl Standing {
    fn is_met_by(self, selector: &Selector<Css>) -> bool {
        match self {
            Self::Own => !selector.is_slotted() && !selector.is_part(),
            Self::Host => selector.matches_featureless_host(true) != MatchesFeaturelessHost::Never,
            Self::Slotted => selector.is_slotted(),
            Self::Part => selector.is_part(),
        }
    }
}

/// An element that rules are matched against. It caches facts about its siblings for the next rule.
pub struct ElementMatcher<'a> {
    tree: &'a Tree,
    element: NodeId,
    caches: SelectorCaches,
    quirks: context::QuirksMode,
}

impl<'a> ElementMatcher<'a> {
    pub fn new(tree: &'a Tree, element: NodeId) -> Self {
        Self { tree, element, caches: SelectorCaches::default(), quirks: super::quirks_of(tree, element) }
    }

    /// All needs that the element satisfies.
    pub fn has_for_needs(&self) -> Vec<Need> {
        self.tree.has_for_needs(self.element)
    }

    /// The highest specificity of the matching selectors; `None` if none matches. `host` is the host of the rule's tree, if that is a
    /// shadow tree; `pseudo` names a pseudo-element of the element.
    pub fn specificity(
        &mut self,
        selectors: &Selectors,
        host: Option<NodeId>,
        standing: Standing,
        pseudo: Option<&str>,
    ) -> Option<u32> {
        let mut best = None;
        for selector in selectors.0.slice().iter().filter(|selector| standing.is_met_by(selector)) {
            let named = selector.pseudo_element();
            if named.map(|named| named.name()) != pseudo || best >= Some(selector.specificity()) {
                continue;
            }
            if self.matches(selector, host, named.is_some()) {
                best = Some(selector.specificity());
            }
        }
        best
    }

    fn matches(&mut self, selector: &Selector<Css>, host: Option<NodeId>, of_pseudo: bool) -> bool {
        let view = |id| View { tree: self.tree, id, virtual_scope: None };
        let mode = if of_pseudo { MatchingMode::ForStatelessPseudoElement } else { MatchingMode::Normal };
        let mut context = MatchingContext::new(
            mode,
            None,
            &mut self.caches,
            self.quirks,
            NeedsSelectorFlags::No,
            MatchingForInvalidation::No,
        );
        context.current_host = host.map(|host| selectors::Element::opaque(&view(host)));
        matches_selector(selector, 0, None, &view(self.element), &mut context)
    }
}

/// The declarations of `@namespace` rules (CSS Namespaces 3).
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct Namespaces {
    pub(super) default: Option<Namespace>,
    pub(super) prefixes: Vec<(String, Namespace)>,
}

impl Namespaces {
    /// Parses the prelude of `@namespace`.
    ///
    /// # Errors
    /// [`Error::Syntax`] if it declares no namespace, [`Error::Full`] at the cap of prefixes.
    pub fn declare(&mut self, text: &str) -> Result<(), Error> {
        let mut parser = cssparser::Parser::new(text);
        let prefix = parser.try_parse(|parser| parser.expect_ident().map(|name| name.to_string())).ok();
        let namespace = parser.expect_url_or_string().map_err(|_| Error::Syntax)?;
        parser.expect_exhausted().map_err(|_| Error::Syntax)?;
        let namespace = Namespace::from(&*namespace);
        match prefix {
            None => self.default = Some(namespace),
            Some(_) if self.prefixes.len() >= limits::STYLE_NAMESPACES_MAX => return Err(Error::Full),
            Some(prefix) => {
                self.prefixes.retain(|(known, _)| *known != prefix);
                self.prefixes.push((prefix, namespace));
            }
        }
        Ok(())
    }
}
