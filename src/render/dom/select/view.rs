//! Adapts an element of the arena to the `selectors` crate.

use std::fmt;

use html5ever::{Namespace, local_name};
use selectors::attr::{AttrSelectorOperation, CaseSensitivity, NamespaceConstraint};
use selectors::bloom::BloomFilter;
use selectors::context::MatchingContext;
use selectors::matching::ElementSelectorFlags;
use selectors::{Element, OpaqueElement};

use super::super::node::{NodeId, NodeKind};
use super::super::tree::Tree;
use super::grammar::{Css, Name, PseudoClass, PseudoElement, Value};
use super::pseudo::is_link;

/// An element; or the fragment that `:scope` refers to, which has no name and no attributes.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) tree: &'a Tree,
    pub(super) id: NodeId,
    pub(super) virtual_scope: Option<NodeId>,
}

impl View<'_> {
    fn at(&self, id: NodeId) -> Self {
        Self { id, ..*self }
    }
}

impl fmt::Debug for View<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:?}", self.id)
    }
}

impl Element for View<'_> {
    type Impl = Css;

    /// A node keeps its address while the tree is borrowed, and no two share one.
    fn opaque(&self) -> OpaqueElement {
        OpaqueElement::new(self.tree.node(self.id))
    }

    fn parent_element(&self) -> Option<Self> {
        let parent = self.tree.parent(self.id)?;
        (self.tree.is_element(parent) || self.virtual_scope == Some(parent)).then(|| self.at(parent))
    }

    fn parent_node_is_shadow_root(&self) -> bool {
        self.tree.parent(self.id).is_some_and(|parent| self.tree.shadow_host(parent).is_some())
    }

    fn containing_shadow_host(&self) -> Option<Self> {
        let root = self.tree.containing_shadow_root(self.id)?;
        self.tree.shadow_host(root).map(|host| self.at(host))
    }

    fn is_pseudo_element(&self) -> bool {
        false
    }

    fn prev_sibling_element(&self) -> Option<Self> {
        let mut siblings =
            std::iter::successors(self.tree.previous_sibling(self.id), |id| self.tree.previous_sibling(*id));
        siblings.find(|id| self.tree.is_element(*id)).map(|id| self.at(id))
    }

    fn next_sibling_element(&self) -> Option<Self> {
        let mut siblings = std::iter::successors(self.tree.next_sibling(self.id), |id| self.tree.next_sibling(*id));
        siblings.find(|id| self.tree.is_element(*id)).map(|id| self.at(id))
    }

    fn first_element_child(&self) -> Option<Self> {
        self.tree.child_elements(self.id).next().map(|id| self.at(id))
    }

    fn is_html_element_in_html_document(&self) -> bool {
        self.tree.is_html_in_html(self.id)
    }

    fn has_local_name(&self, local_name: &Name) -> bool {
        self.tree.element(self.id).is_some_and(|element| element.name().local == local_name.0)
    }

    fn has_namespace(&self, namespace: &Namespace) -> bool {
        self.tree.element(self.id).is_some_and(|element| element.name().ns == *namespace)
    }

    fn is_same_type(&self, other: &Self) -> bool {
        let name = |view: &Self| view.tree.element(view.id).map(|element| element.name().expanded());
        name(self) == name(other)
    }

    fn attr_matches(
        &self,
        namespace: &NamespaceConstraint<&Namespace>,
        local_name: &Name,
        operation: &AttrSelectorOperation<&Value>,
    ) -> bool {
        let attributes = self.tree.element(self.id).map(|element| element.attributes()).unwrap_or_default();
        attributes.iter().any(|attribute| {
            let is_there = match namespace {
                NamespaceConstraint::Any => true,
                NamespaceConstraint::Specific(namespace) => attribute.name.ns == **namespace,
            };
            is_there && attribute.name.local == local_name.0 && operation.eval_str(&attribute.value)
        })
    }

    fn match_non_ts_pseudo_class(&self, class: &PseudoClass, _: &mut MatchingContext<'_, Css>) -> bool {
        self.tree.is_in_state(self.id, class)
    }

    fn match_pseudo_element(&self, _: &PseudoElement, _: &mut MatchingContext<'_, Css>) -> bool {
        false
    }

    fn apply_selector_flags(&self, _: ElementSelectorFlags) {}

    fn is_link(&self) -> bool {
        self.tree.element(self.id).is_some_and(is_link)
    }

    fn assigned_slot(&self) -> Option<Self> {
        self.tree.find_slot(self.id, false).map(|slot| self.at(slot))
    }

    fn is_html_slot_element(&self) -> bool {
        self.tree.element(self.id).is_some_and(|element| element.is_html(&local_name!("slot")))
    }

    fn has_id(&self, id: &Name, case: CaseSensitivity) -> bool {
        self.tree.id(self.id).is_some_and(|own| case.eq(own.as_bytes(), id.0.as_bytes()))
    }

    fn has_class(&self, name: &Name, case: CaseSensitivity) -> bool {
        let name = name.0.as_bytes();
        if case != CaseSensitivity::CaseSensitive {
            return self.tree.classes(self.id).any(|own| case.eq(own.as_bytes(), name));
        }
        let Some(first) = name.first() else { return false };
        let text = self.tree.attribute(self.id, &local_name!("class")).unwrap_or_default().as_bytes();
        let ends = |at: Option<&u8>| at.is_none_or(u8::is_ascii_whitespace);
        memchr::memchr_iter(*first, text).any(|at| {
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            ends(before)
                && text[at..].starts_with(name)
                && ends(text.get(at + name.len()))
                && !name.iter().any(u8::is_ascii_whitespace)
        })
    }

    fn has_custom_state(&self, _: &Name) -> bool {
        false
    }

    fn imported_part(&self, _: &Name) -> Option<Name> {
        None
    }

    fn is_part(&self, name: &Name) -> bool {
        let parts = self.tree.attribute(self.id, &local_name!("part")).unwrap_or_default();
        parts.split_ascii_whitespace().any(|part| part == name.as_ref())
    }

    fn is_empty(&self) -> bool {
        !self.tree.children(self.id).any(|child| {
            self.tree.is_element(child)
                || (self.tree.is_text(child) && self.tree.character_data(child).is_some_and(|text| !text.is_empty()))
        })
    }

    fn is_root(&self) -> bool {
        self.tree.parent(self.id).is_some_and(|parent| self.tree.kind(parent) == NodeKind::Document)
    }

    fn add_element_unique_hashes(&self, _: &mut BloomFilter) -> bool {
        false
    }
}
