//! Connects html5ever's tree builder to the arena.

use std::borrow::Cow;
use std::cell::{Cell, Ref, RefCell};
use std::sync::LazyLock;

use html5ever::interface::{ElemName, ElementFlags, NodeOrText, QuirksMode, TreeSink};
use html5ever::tendril::StrTendril;
use html5ever::{LocalName, Namespace, QualName, expanded_name, local_name, ns};

use crate::dom::node::{Attribute, DocumentType, Instruction, NodeData, NodeId, NodeKind, ShadowRoot};
use crate::dom::tree::Tree;

/// The builder's view of the arena. It holds the tree only while the tokenizer runs.
pub(super) struct Sink {
    tree: RefCell<Tree>,
    /// The document as the builder sees it; for a fragment a scaffold.
    document: NodeId,
    /// The document that owns the nodes.
    owner: NodeId,
    is_fragment: bool,
    /// Whether `<template shadowrootmode>` makes a shadow root.
    shadow_roots: Cell<bool>,
    /// Elements created so far.
    created: Cell<usize>,
    /// Number of name lookups by the builder: a measure of its work, which is linear as long as the stack is short.
    steps: Cell<u64>,
}

impl Sink {
    pub(super) fn new(tree: Tree, document: NodeId, owner: NodeId, is_fragment: bool) -> Self {
        let (created, steps) = (Cell::new(0), Cell::new(0));
        let shadow_roots = Cell::new(!is_fragment);
        Self { tree: RefCell::new(tree), document, owner, is_fragment, shadow_roots, created, steps }
    }

    pub(super) fn allow_shadow_roots(&self, allow: bool) {
        self.shadow_roots.set(allow);
    }

    pub(super) fn swap_tree(&self, tree: &mut Tree) {
        std::mem::swap(&mut *self.tree.borrow_mut(), tree);
    }

    pub(super) fn tree(&self) -> Ref<'_, Tree> {
        self.tree.borrow()
    }

    pub(super) fn created(&self) -> usize {
        self.created.get()
    }

    #[cfg(test)]
    pub(super) fn steps(&self) -> u64 {
        self.steps.get()
    }

    /// "Insert at the adjusted insertion location" (HTML §13.2.6.1): a node not allowed there is dropped, and text is merged into the
    /// preceding text.
    fn put(&self, parent: NodeId, child: NodeOrText<NodeId>, before: Option<NodeId>) {
        let tree = &mut *self.tree.borrow_mut();
        match child {
            NodeOrText::AppendNode(node) => {
                // A new element can go into any other; only scripts can move a node into its own descendant.
                let is_plain = tree.first_child(node).is_none() && tree.kind(parent) != NodeKind::Document;
                if is_plain || tree.ensure_insertion(parent, node, before).is_ok() {
                    tree.insert(parent, node, before);
                }
            }
            NodeOrText::AppendText(_) if tree.kind(parent) == NodeKind::Document => {}
            NodeOrText::AppendText(text) => {
                let neighbour = match before {
                    Some(before) => tree.previous_sibling(before),
                    None => tree.last_child(parent),
                };
                match neighbour.filter(|id| tree.kind(*id) == NodeKind::Text) {
                    Some(neighbour) => tree.extend_data(neighbour, &text),
                    None => {
                        let document = tree.document_of(parent);
                        let node = tree.place(NodeData::Text(text.into()), Some(document));
                        tree.insert(parent, node, before);
                    }
                }
            }
        }
    }
}

/// A name borrowed from the tree.
#[derive(Debug)]
pub(super) struct Name<'a>(Ref<'a, QualName>);

impl ElemName for Name<'_> {
    fn ns(&self) -> &Namespace {
        &self.0.ns
    }

    fn local_name(&self) -> &LocalName {
        &self.0.local
    }
}

/// The name of a node that is not an element; the builder never reads it as long as the sweep has the parser's roots.
static NAMELESS: LazyLock<QualName> = LazyLock::new(|| QualName::new(None, ns!(), local_name!("")));

impl TreeSink for Sink {
    type Handle = NodeId;
    type Output = ();
    type ElemName<'a> = Name<'a>;

    fn finish(self) {}

    fn parse_error(&self, _: Cow<'static, str>) {}

    fn get_document(&self) -> NodeId {
        self.document
    }

    fn elem_name<'a>(&'a self, target: &'a NodeId) -> Name<'a> {
        self.steps.set(self.steps.get() + 1);
        Name(Ref::map(self.tree.borrow(), |tree| match tree.element(*target) {
            Some(element) => element.name(),
            None => &NAMELESS,
        }))
    }

    fn create_element(&self, name: QualName, attrs: Vec<html5ever::Attribute>, _: ElementFlags) -> NodeId {
        self.created.set(self.created.get() + 1);
        let attributes =
            attrs.into_iter().map(|attribute| Attribute { name: attribute.name, value: attribute.value.into() });
        let is_script = name.expanded() == expanded_name!(html "script");
        let tree = &mut *self.tree.borrow_mut();
        let is = attributes.clone().find(|attribute| attribute.name.ns == ns!() && &*attribute.name.local == "is");
        let is = is.map(|attribute| attribute.value.into_boxed_str());
        let element = tree.place_element(self.owner, name, attributes.collect(), is);
        if is_script && let Some(state) = tree.state_mut(element) {
            state.parser_inserted = !self.is_fragment;
        }
        element
    }

    fn create_comment(&self, text: StrTendril) -> NodeId {
        self.tree.borrow_mut().place(NodeData::Comment(text.into()), Some(self.owner))
    }

    fn create_pi(&self, target: StrTendril, data: StrTendril) -> NodeId {
        let instruction = Instruction { target: target.into(), data: data.into() };
        self.tree.borrow_mut().place(NodeData::Instruction(Box::new(instruction)), Some(self.owner))
    }

    fn append(&self, parent: &NodeId, child: NodeOrText<NodeId>) {
        self.put(*parent, child, None);
    }

    fn append_based_on_parent_node(&self, element: &NodeId, prev_element: &NodeId, child: NodeOrText<NodeId>) {
        let parent = self.tree().parent(*element);
        match parent {
            Some(parent) => self.put(parent, child, Some(*element)),
            None => self.put(*prev_element, child, None),
        }
    }

    fn append_doctype_to_document(&self, name: StrTendril, public_id: StrTendril, system_id: StrTendril) {
        let doctype = DocumentType { name: name.into(), public_id: public_id.into(), system_id: system_id.into() };
        let node = self.tree.borrow_mut().place(NodeData::DocumentType(Box::new(doctype)), Some(self.owner));
        self.put(self.document, NodeOrText::AppendNode(node), None);
    }

    fn mark_script_already_started(&self, node: &NodeId) {
        if let Some(state) = self.tree.borrow_mut().state_mut(*node) {
            state.already_started = true;
        }
    }

    fn get_template_contents(&self, target: &NodeId) -> NodeId {
        self.tree().element(*target).and_then(|element| element.template_contents()).unwrap_or(*target)
    }

    fn same_node(&self, x: &NodeId, y: &NodeId) -> bool {
        self.steps.set(self.steps.get() + 1);
        x == y
    }

    fn set_quirks_mode(&self, mode: QuirksMode) {
        if let Some(data) = self.tree.borrow_mut().document_data_mut(self.document) {
            data.quirks = mode;
        }
    }

    fn append_before_sibling(&self, sibling: &NodeId, new_node: NodeOrText<NodeId>) {
        let parent = self.tree().parent(*sibling);
        if let Some(parent) = parent {
            self.put(parent, new_node, Some(*sibling));
        }
    }

    fn add_attrs_if_missing(&self, target: &NodeId, attrs: Vec<html5ever::Attribute>) {
        let attributes =
            attrs.into_iter().map(|attribute| Attribute { name: attribute.name, value: attribute.value.into() });
        self.tree.borrow_mut().add_missing_attributes(*target, attributes.collect());
    }

    fn associate_with_form(&self, target: &NodeId, form: &NodeId, (place, other): (&NodeId, Option<&NodeId>)) {
        let tree = &mut *self.tree.borrow_mut();
        let is_near = |node: &NodeId| tree.root(*node) == tree.root(*form);
        if (is_near(place) || other.is_some_and(is_near))
            && let Some(state) = tree.state_mut(*target)
        {
            state.parser_form = Some(*form);
        }
    }

    fn remove_from_parent(&self, target: &NodeId) {
        self.tree.borrow_mut().remove(*target);
    }

    fn reparent_children(&self, node: &NodeId, new_parent: &NodeId) {
        let children: Vec<NodeId> = self.tree().children(*node).collect();
        for child in children {
            self.put(*new_parent, NodeOrText::AppendNode(child), None);
        }
    }

    fn is_mathml_annotation_xml_integration_point(&self, handle: &NodeId) -> bool {
        let tree = self.tree();
        let encoding = tree
            .element(*handle)
            .filter(|element| element.name().expanded() == expanded_name!(mathml "annotation-xml"));
        encoding.and_then(|element| element.attribute(&local_name!("encoding"))).is_some_and(|encoding| {
            encoding.eq_ignore_ascii_case("text/html") || encoding.eq_ignore_ascii_case("application/xhtml+xml")
        })
    }

    fn allow_declarative_shadow_roots(&self, _: &NodeId) -> bool {
        self.shadow_roots.get()
    }

    fn attach_declarative_shadow(&self, location: &NodeId, template: &NodeId, attrs: &[html5ever::Attribute]) -> bool {
        let has = |name: &str| attrs.iter().any(|attribute| &*attribute.name.local == name);
        let is_open = |attribute: &html5ever::Attribute| {
            &*attribute.name.local == "shadowrootmode" && attribute.value.eq_ignore_ascii_case("open")
        };
        let settings = ShadowRoot {
            is_open: attrs.iter().any(is_open),
            delegates_focus: has("shadowrootdelegatesfocus"),
            manual_slots: false,
            clonable: has("shadowrootclonable"),
            serializable: has("shadowrootserializable"),
            declarative: true,
        };
        let tree = &mut *self.tree.borrow_mut();
        let root = tree.attach_shadow(*location, settings);
        root.is_ok_and(|root| tree.set_template_contents(*template, root))
    }
}
