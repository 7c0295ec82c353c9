//! A page's tree that also records the form owner of each control.
//!
//! In `<table><form><tr><td><input>` the form element is closed at once, and the controls are outside of it in the
//! tree. A browser still sends them, because the parser remembers the open form (HTML §13.2.6.1, "form element
//! pointer"). scraper's tree drops it, so this sink records it.

use std::borrow::Cow;
use std::cell::{Ref, RefCell};
use std::collections::HashMap;

use ego_tree::NodeId;
use html5ever::tendril::StrTendril;
use html5ever::tree_builder::{ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::{Attribute, QualName};
use scraper::{Html, HtmlTreeSink};

use gleaner_page::tree::{TreeError, parse_into};

/// A page with the form owners of its controls.
pub struct FormTree {
    pub html: Html,
    /// The form that the parser associated a control with.
    pub owners: HashMap<NodeId, NodeId>,
}

impl FormTree {
    /// Parses a page.
    ///
    /// # Errors
    /// Those of [`gleaner_page::tree::parse`].
    pub fn parse(page: &str) -> Result<Self, TreeError> {
        let sink = Sink { inner: HtmlTreeSink::new(Html::new_document()), owners: RefCell::default() };
        parse_into(page, sink, |sink| sink.inner.0.borrow())
    }
}

struct Sink {
    inner: HtmlTreeSink,
    owners: RefCell<HashMap<NodeId, NodeId>>,
}

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = FormTree;
    type ElemName<'a> = Ref<'a, QualName>;

    fn finish(self) -> FormTree {
        FormTree { html: self.inner.finish(), owners: self.owners.into_inner() }
    }

    fn associate_with_form(&self, target: &NodeId, form: &NodeId, _nodes: (&NodeId, Option<&NodeId>)) {
        self.owners.borrow_mut().insert(*target, *form);
    }

    fn parse_error(&self, message: Cow<'static, str>) {
        self.inner.parse_error(message);
    }

    fn get_document(&self) -> NodeId {
        self.inner.get_document()
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Ref<'a, QualName> {
        self.inner.elem_name(target)
    }

    fn create_element(&self, name: QualName, attributes: Vec<Attribute>, flags: ElementFlags) -> NodeId {
        self.inner.create_element(name, attributes, flags)
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.inner.create_comment(text)
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        self.inner.create_pi(target, data)
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.inner.append(parent, child);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, previous: &NodeId, child: NodeOrText<NodeId>) {
        self.inner.append_based_on_parent_node(element, previous, child);
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        self.inner.append_doctype_to_document(name, public_id, system_id);
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.inner.get_template_contents(target)
    }

    fn same_node(&self, one: &NodeId, other: &NodeId) -> bool {
        one == other
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        self.inner.set_quirks_mode(mode);
    }

    fn append_before_sibling(&self, sibling: &NodeId, new: NodeOrText<NodeId>) {
        self.inner.append_before_sibling(sibling, new);
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attributes: Vec<Attribute>) {
        self.inner.add_attrs_if_missing(target, attributes);
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.inner.remove_from_parent(target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        self.inner.reparent_children(node, new_parent);
    }
}
