//! Nodes: their links, and the data of their kind.

use std::num::NonZeroU32;

use html5ever::interface::QuirksMode;
use html5ever::{LocalName, Namespace, QualName, ns};

/// A node's index in the arena. It stays valid until [`Tree::sweep`](super::Tree::sweep) finds that the node is unreachable; the id of a
/// swept node reads as a vacant node or, once the slot is reused, as another node.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct NodeId(NonZeroU32);

impl NodeId {
    pub(super) fn from_index(index: usize) -> Option<Self> {
        u32::try_from(index).ok()?.checked_add(1).and_then(NonZeroU32::new).map(Self)
    }

    pub(super) fn index(self) -> usize {
        self.0.get() as usize - 1
    }

    /// The number that a wrapper stores; never zero.
    pub fn to_u32(self) -> u32 {
        self.0.get()
    }

    /// The id with this [`NodeId::to_u32`].
    pub fn from_u32(number: u32) -> Option<Self> {
        NonZeroU32::new(number).map(Self)
    }
}

/// One node: its data and its links.
#[derive(Debug)]
pub struct Node {
    pub(super) data: NodeData,
    pub(super) document: Option<NodeId>,
    pub(super) parent: Option<NodeId>,
    pub(super) first_child: Option<NodeId>,
    pub(super) last_child: Option<NodeId>,
    pub(super) previous: Option<NodeId>,
    pub(super) next: Option<NodeId>,
}

/// The node that an empty slot reads as.
pub(super) static VACANT: Node = Node::new(NodeData::Vacant, None);

impl Node {
    pub(super) const fn new(data: NodeData, document: Option<NodeId>) -> Self {
        Self { data, document, parent: None, first_child: None, last_child: None, previous: None, next: None }
    }
}

/// The data of each kind of node.
#[derive(Debug)]
pub enum NodeData {
    /// An empty slot of the arena.
    Vacant,
    Document(Box<Document>),
    DocumentType(Box<DocumentType>),
    /// A fragment, a shadow root, or the contents of a template.
    Fragment(Box<Fragment>),
    Element(Box<Element>),
    Text(String),
    CData(String),
    Comment(String),
    Instruction(Box<Instruction>),
    /// An attribute that a script has requested as a node; never in the tree.
    Attr(Box<Attr>),
}

/// The kinds of nodes with the numbers of `nodeType` (DOM §4.4).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u8)]
pub enum NodeKind {
    Vacant = 0,
    Element = 1,
    Attribute = 2,
    Text = 3,
    CData = 4,
    Instruction = 7,
    Comment = 8,
    Document = 9,
    DocumentType = 10,
    Fragment = 11,
}

/// The document node's own data.
#[derive(Clone, Debug)]
pub struct Document {
    /// HTML, or XML with its case-sensitive names (DOM §4.5 "type").
    pub is_html: bool,
    pub quirks: QuirksMode,
    /// The value of `contentType`: `application/xml`, `text/html` and so on.
    pub content_type: &'static str,
    /// Name of the encoding of the markup.
    pub encoding: &'static str,
    /// Whether scripting is enabled, so that `<noscript>` holds text.
    pub scripting: bool,
    /// The document that owns the contents of this one's templates (HTML §4.12.3); itself for such a document.
    pub(super) inert: Option<NodeId>,
}

/// `<!DOCTYPE name PUBLIC "…" "…">`.
#[derive(Clone, Debug)]
pub struct DocumentType {
    pub name: String,
    pub public_id: String,
    pub system_id: String,
}

/// A fragment; one with a host is a template's contents or a shadow root.
#[derive(Clone, Debug, Default)]
pub struct Fragment {
    pub(super) host: Option<NodeId>,
    pub(super) shadow: Option<ShadowRoot>,
}

impl Fragment {
    /// The template or the shadow host whose fragment this is.
    pub fn host(&self) -> Option<NodeId> {
        self.host
    }

    /// The root's settings, if this fragment is a shadow root.
    pub fn shadow(&self) -> Option<&ShadowRoot> {
        self.shadow.as_ref()
    }
}

/// The options of `attachShadow` (DOM §4.8).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct ShadowRoot {
    pub is_open: bool,
    pub delegates_focus: bool,
    /// Slots are assigned by `slot.assign()` and not by name.
    pub manual_slots: bool,
    pub clonable: bool,
    pub serializable: bool,
    /// The parser made it from `<template shadowrootmode>`.
    pub declarative: bool,
}

/// `<?target data>`.
#[derive(Clone, Debug)]
pub struct Instruction {
    pub target: String,
    pub data: String,
}

/// An attribute: its name keeps prefix, namespace and local part.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    pub name: QualName,
    pub value: String,
}

/// An attribute as a node.
#[derive(Clone, Debug)]
pub struct Attr {
    pub(super) name: QualName,
    /// The value while no element has the attribute; an element keeps it itself.
    pub(super) value: String,
    pub(super) owner: Option<NodeId>,
}

impl Attr {
    pub fn name(&self) -> &QualName {
        &self.name
    }

    /// The element that has the attribute.
    pub fn owner(&self) -> Option<NodeId> {
        self.owner
    }
}

/// The state of a custom element (DOM §4.9).
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub enum CustomState {
    /// Its name or `is` may be defined later.
    Undefined,
    Failed,
    /// A built-in element.
    #[default]
    Uncustomized,
    Precustomized,
    Custom,
}

/// State of an element besides its attributes, as changed by scripts and readers.
#[derive(Clone, Debug, Default)]
pub struct ElementState {
    pub custom: CustomState,
    /// Checkedness of an input or selectedness of an option once it no longer follows its attribute.
    pub checked: Option<bool>,
    /// The option that a drop-down list shows because none is selected: it stays shown while others come in before it (HTML §4.10.7
    /// "selectedness setting algorithm").
    pub shown_option: Option<NodeId>,
    /// Of a list: an option that was selected when its options last changed.
    pub own_option: Option<NodeId>,
    /// The message of `setCustomValidity`, unless it is empty.
    pub complaint: Option<Box<str>>,
    /// `input.indeterminate`.
    pub indeterminate: bool,
    /// The value of a control once it no longer follows its attribute or text.
    pub value: Option<String>,
    /// The form that the parser was in (HTML §4.10.18.3), which a misnested table hides from the tree.
    pub parser_form: Option<NodeId>,
    /// The custom states of the element, matched by `:state()`.
    pub states: Vec<String>,
    /// Whether a custom element is form-associated (HTML §4.13.3).
    pub form_associated: bool,
    /// What it submits with its form: a value under its own name, or fields with their names.
    pub form_value: Option<Box<FormValue>>,
    /// The nodes that `slot.assign()` assigned to a slot.
    pub assigned: Vec<NodeId>,
    /// A script that has run or will never run (HTML §4.12.1).
    pub already_started: bool,
    /// The parser inserted the script, and runs it.
    pub parser_inserted: bool,
    /// A script set the element's `async`: it no longer runs as soon as possible unless it has the attribute.
    pub is_ordered: bool,
}

/// The argument of `setFormValue` (HTML §4.13.7.3 "submission value"); files by their names.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum FormValue {
    Text(String),
    Fields(Vec<(String, String)>),
}

/// An element.
#[derive(Clone, Debug)]
pub struct Element {
    pub(super) name: QualName,
    pub(super) attributes: Vec<Attribute>,
    /// The `is` value of a customised built-in element.
    pub(super) is: Option<Box<str>>,
    pub(super) template: Option<NodeId>,
    pub(super) shadow: Option<NodeId>,
    /// State without an attribute; the engine writes it.
    pub state: ElementState,
}

impl Element {
    pub fn name(&self) -> &QualName {
        &self.name
    }

    /// In order of insertion.
    pub fn attributes(&self) -> &[Attribute] {
        &self.attributes
    }

    pub fn is_value(&self) -> Option<&str> {
        self.is.as_deref()
    }

    /// The fragment that holds a template's contents.
    pub fn template_contents(&self) -> Option<NodeId> {
        self.template
    }

    pub fn shadow_root(&self) -> Option<NodeId> {
        self.shadow
    }

    /// Whether this is the HTML element with that name.
    pub fn is_html(&self, local: &LocalName) -> bool {
        self.name.ns == ns!(html) && self.name.local == *local
    }

    /// The value of an attribute without a namespace.
    pub fn attribute(&self, local: &LocalName) -> Option<&str> {
        self.attribute_ns(&ns!(), local)
    }

    pub fn attribute_ns(&self, namespace: &Namespace, local: &LocalName) -> Option<&str> {
        self.attributes
            .iter()
            .find(|attribute| attribute.name.local == *local && attribute.name.ns == *namespace)
            .map(|attribute| attribute.value.as_str())
    }
}
