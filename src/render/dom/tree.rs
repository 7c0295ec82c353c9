//! The arena: node slots, node creation, and navigation between nodes.

use std::cell::RefCell;
use std::collections::HashMap;

use html5ever::interface::QuirksMode;
use html5ever::{QualName, expanded_name, local_name, ns};

use crate::limits;

use super::Error;
use super::names::is_custom_element_name;
use super::node::{
    Attribute, CustomState, Document, DocumentType, Element, ElementState, Fragment, Instruction, Node, NodeData,
    NodeId, NodeKind, ShadowRoot, VACANT,
};
use super::record::Mutation;
use super::text::utf16_len;

/// All nodes of a page: its documents, their trees, and detached nodes held by scripts.
#[derive(Debug, Default)]
pub struct Tree {
    nodes: Vec<Node>,
    free: Vec<NodeId>,
    /// Bytes of character data and attribute values.
    text_bytes: usize,
    generation: u64,
    structure: u64,
    has_base: bool,
    /// The `style` elements ever created; some may be gone.
    styles: Vec<NodeId>,
    /// The `link` elements ever created; some may be gone.
    links: Vec<NodeId>,
    log: Option<Vec<Mutation>>,
    /// The text whose end the last mutation of the log has extended.
    extended: Option<NodeId>,
    /// The elements with each `id`, connected or not; see [`Tree::element_by_id`].
    ids: HashMap<Box<str>, Vec<NodeId>>,
    /// Ranges and iterators that move with the tree.
    pub(super) followers: super::live::Followers,
    /// Whether any shadow root was ever attached.
    has_shadow_roots: bool,
    /// Attribute nodes that scripts requested, by element.
    pub(super) attr_nodes: HashMap<NodeId, Vec<NodeId>>,
    /// The element that `:target` matches: the one that the URL's fragment names.
    pub target: Option<NodeId>,
    /// The element that `:focus` matches.
    pub focus: Option<NodeId>,
    /// Whether `:valid` or `:invalid` matches an element, if either does.
    pub validity: Option<fn(&Tree, NodeId) -> Option<bool>>,
    /// What it has said at a generation.
    validities: RefCell<(u64, HashMap<NodeId, Option<bool>>)>,
    /// Grows with each change of an attribute of what has sheets, or of a `base`.
    sheet_attributes: u64,
}

/// Creating and freeing nodes.
impl Tree {
    pub fn new() -> Self {
        Self::default()
    }

    /// A document without children.
    ///
    /// # Errors
    /// [`Error::Full`], as for every function that creates a node.
    pub fn create_document(&mut self, is_html: bool) -> Result<NodeId, Error> {
        let content_type = if is_html { "text/html" } else { "application/xml" };
        let document = Document {
            is_html,
            quirks: QuirksMode::NoQuirks,
            content_type,
            encoding: "UTF-8",
            scripting: false,
            inert: None,
        };
        self.create(NodeData::Document(Box::new(document)), None)
    }

    /// An element with its attributes, and a template's contents. Names are not validated.
    pub fn create_element(
        &mut self,
        document: NodeId,
        name: QualName,
        attributes: Vec<Attribute>,
    ) -> Result<NodeId, Error> {
        self.create_customized(document, name, attributes, None)
    }

    /// An element created by `createElement(name, { is })` (DOM §4.9 "create an element").
    pub fn create_customized(
        &mut self,
        document: NodeId,
        name: QualName,
        attributes: Vec<Attribute>,
        is: Option<Box<str>>,
    ) -> Result<NodeId, Error> {
        self.check_room(1, attributes.iter().map(|attribute| attribute.value.len()).sum())?;
        Ok(self.place_element(document, name, attributes, is))
    }

    pub fn create_text(&mut self, document: NodeId, data: String) -> Result<NodeId, Error> {
        self.create(NodeData::Text(data), Some(document))
    }

    pub fn create_comment(&mut self, document: NodeId, data: String) -> Result<NodeId, Error> {
        self.create(NodeData::Comment(data), Some(document))
    }

    /// # Errors
    /// [`Error::NotSupported`] in HTML, [`Error::InvalidCharacter`] if the data would end the section (DOM §4.5).
    pub fn create_cdata(&mut self, document: NodeId, data: String) -> Result<NodeId, Error> {
        if self.is_html_document(document) {
            return Err(Error::NotSupported);
        }
        if data.contains("]]>") {
            return Err(Error::InvalidCharacter);
        }
        self.create(NodeData::CData(data), Some(document))
    }

    /// # Errors
    /// [`Error::InvalidCharacter`] for a target that is not a name or data that would end the instruction (DOM §4.5).
    pub fn create_instruction(&mut self, document: NodeId, target: &str, data: &str) -> Result<NodeId, Error> {
        if !super::is_name(target) || data.contains("?>") {
            return Err(Error::InvalidCharacter);
        }
        let instruction = Instruction { target: target.into(), data: data.into() };
        self.create(NodeData::Instruction(Box::new(instruction)), Some(document))
    }

    pub fn create_doctype(
        &mut self,
        document: NodeId,
        name: &str,
        public_id: &str,
        system_id: &str,
    ) -> Result<NodeId, Error> {
        let doctype = DocumentType { name: name.into(), public_id: public_id.into(), system_id: system_id.into() };
        self.create(NodeData::DocumentType(Box::new(doctype)), Some(document))
    }

    pub fn create_fragment(&mut self, document: NodeId) -> Result<NodeId, Error> {
        self.create(NodeData::Fragment(Box::default()), Some(document))
    }

    pub(super) fn create(&mut self, data: NodeData, document: Option<NodeId>) -> Result<NodeId, Error> {
        self.check_room(1, text_bytes(&data))?;
        Ok(self.place(data, document))
    }

    /// Whether this much more may be created.
    pub(super) fn check_room(&self, nodes: usize, bytes: usize) -> Result<(), Error> {
        let nodes_fit = self.len() + nodes <= limits::DOM_NODES_MAX;
        let text_fits = self.text_bytes.saturating_add(bytes) <= limits::DOM_TEXT_BYTES_MAX;
        if nodes_fit && text_fits { Ok(()) } else { Err(Error::Full) }
    }

    /// Takes a slot without checking the limits: the parser checks after each token, because html5ever cannot handle a refusal.
    pub(super) fn place(&mut self, data: NodeData, document: Option<NodeId>) -> NodeId {
        self.text_bytes += text_bytes(&data);
        let node = Node::new(data, document);
        if let Some(id) = self.free.pop() {
            if let Some(place) = self.nodes.get_mut(id.index()) {
                *place = node;
            }
            return id;
        }
        // `DOM_NODES_MAX` plus the nodes of one token is far below 2³²; at the very end the last slot is reused.
        let id = NodeId::from_index(self.nodes.len()).or(NodeId::from_u32(u32::MAX)).expect("not zero");
        self.nodes.push(node);
        id
    }

    /// [`Tree::create_customized`] without checking the limits.
    pub(super) fn place_element(
        &mut self,
        document: NodeId,
        name: QualName,
        attributes: Vec<Attribute>,
        is: Option<Box<str>>,
    ) -> NodeId {
        self.has_base |= name.expanded() == expanded_name!(html "base");
        let is_template = name.expanded() == expanded_name!(html "template");
        let is_style = name.local == local_name!("style");
        let is_link = name.expanded() == expanded_name!(html "link");
        let may_be_custom = name.ns == ns!(html) && (is.is_some() || is_custom_element_name(&name.local));
        let custom = if may_be_custom { CustomState::Undefined } else { CustomState::Uncustomized };
        let state = ElementState { custom, ..ElementState::default() };
        let element = Element { name, attributes, is, template: None, shadow: None, state };
        let id = self.place(NodeData::Element(Box::new(element)), Some(document));
        if let Some(value) = self.attribute(id, &local_name!("id")).map(Box::from) {
            self.index_id(id, value);
        }
        if is_style {
            self.styles.push(id);
        }
        if is_link {
            self.links.push(id);
        }
        if is_template {
            let owner = self.inert_document(document);
            let contents = Fragment { host: Some(id), shadow: None };
            let contents = self.place(NodeData::Fragment(Box::new(contents)), Some(owner));
            if let Some(element) = self.element_mut(id) {
                element.template = Some(contents);
            }
        }
        id
    }

    /// The document that owns the contents of templates (HTML §4.12.3).
    pub(super) fn inert_document(&mut self, document: NodeId) -> NodeId {
        let Some(own) = self.document_data(document) else {
            return document;
        };
        if let Some(inert) = own.inert {
            return inert;
        }
        let data = Document { scripting: false, inert: None, ..own.clone() };
        let inert = self.place(NodeData::Document(Box::new(data)), None);
        for id in [document, inert] {
            if let Some(data) = self.document_data_mut(id) {
                data.inert = Some(inert);
            }
        }
        inert
    }

    /// Makes a fragment the shadow root of an element (DOM §4.9 "attach a shadow root").
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the element cannot have one or already has one.
    pub fn attach_shadow(&mut self, host: NodeId, settings: ShadowRoot) -> Result<NodeId, Error> {
        let Some(element) = self.element(host) else {
            return Err(Error::NotSupported);
        };
        let local = &*element.name.local;
        let can_host = element.name.ns == ns!(html)
            && (is_custom_element_name(local) || super::names::BUILT_IN_SHADOW_HOSTS.contains(&local));
        if !can_host || element.shadow.is_some() {
            return Err(Error::NotSupported);
        }
        self.check_room(1, 0)?;
        let fragment = Fragment { host: Some(host), shadow: Some(settings) };
        let document = self.document_of(host);
        let root = self.place(NodeData::Fragment(Box::new(fragment)), Some(document));
        if let Some(element) = self.element_mut(host) {
            element.shadow = Some(root);
        }
        self.has_shadow_roots = true;
        self.changed();
        Ok(root)
    }

    /// Whether slots need to be considered.
    pub fn has_shadow_roots(&self) -> bool {
        self.has_shadow_roots
    }

    /// Makes a parser's template fill a shadow root (HTML §13.2.6.4.4); false if it is not a template.
    pub(super) fn set_template_contents(&mut self, template: NodeId, contents: NodeId) -> bool {
        let element = self.element_mut(template);
        element.is_some_and(|element| element.template.replace(contents).is_some())
    }

    /// Empties a slot. The caller ensures that nothing links to it, and calls [`Tree::forget_vacated_ids`].
    pub(super) fn vacate(&mut self, id: NodeId) {
        let Some(node) = self.nodes.get_mut(id.index()) else {
            return;
        };
        if matches!(node.data, NodeData::Vacant) {
            return;
        }
        let old = std::mem::replace(node, Node::new(NodeData::Vacant, None));
        self.text_bytes = self.text_bytes.saturating_sub(text_bytes(&old.data));
        self.free.push(id);
        self.attr_nodes.remove(&id);
        for special in [&mut self.target, &mut self.focus] {
            if *special == Some(id) {
                *special = None;
            }
        }
    }

    pub(super) fn count_text(&mut self, removed: usize, added: usize) {
        self.text_bytes = self.text_bytes.saturating_add(added).saturating_sub(removed);
    }

    pub(super) fn places(&self) -> usize {
        self.nodes.len()
    }

    /// Whether the document exceeds what a script may create; the parser then stops.
    pub(super) fn is_full(&self) -> bool {
        self.len() >= limits::DOM_NODES_MAX || self.text_bytes >= limits::DOM_TEXT_BYTES_MAX
    }
}

/// Bytes that count against `DOM_TEXT_BYTES_MAX`.
fn text_bytes(data: &NodeData) -> usize {
    match data {
        NodeData::Text(text) | NodeData::CData(text) | NodeData::Comment(text) => text.len(),
        NodeData::Instruction(instruction) => instruction.data.len(),
        NodeData::Attr(attr) => attr.value.len(),
        NodeData::Element(element) => element.attributes.iter().map(|attribute| attribute.value.len()).sum(),
        _ => 0,
    }
}

/// Reading nodes.
impl Tree {
    /// Number of live nodes.
    pub fn len(&self) -> usize {
        self.nodes.len() - self.free.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of character data and attribute values.
    pub fn text_bytes(&self) -> usize {
        self.text_bytes
    }

    /// Grows with each mutation: a live collection is stale if it differs.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Grows with each change of parents or documents: anything that depends only on those is stale if it differs.
    pub fn structure(&self) -> u64 {
        self.structure
    }

    pub(super) fn structure_changed(&mut self) {
        self.structure += 1;
    }

    /// Whether a `<base>` was ever created.
    pub fn has_base(&self) -> bool {
        self.has_base
    }

    pub(super) fn changed(&mut self) {
        self.generation += 1;
    }

    /// Whether `:valid` matches, or `:invalid`; `None` if neither does. Computed once at each generation.
    pub fn validity_of(&self, id: NodeId) -> Option<bool> {
        let of = self.validity?;
        let known = {
            let mut known = self.validities.borrow_mut();
            if known.0 != self.generation {
                *known = (self.generation, HashMap::new());
            }
            known.1.get(&id).copied()
        };
        known.unwrap_or_else(|| {
            let found = of(self, id);
            self.knows_validity(id, found);
            found
        })
    }

    /// Keeps what was found about an element, until something changes.
    pub fn knows_validity(&self, id: NodeId, validity: Option<bool>) {
        let mut known = self.validities.borrow_mut();
        if known.0 == self.generation {
            known.1.insert(id, validity);
        }
    }

    /// Differs once other elements may have sheets, in another order, or from other addresses.
    pub fn sheets_version(&self) -> (u64, u64) {
        (self.structure, self.sheet_attributes)
    }

    /// An attribute of an element has changed.
    pub(super) fn attribute_of_sheet_changed(&mut self, id: NodeId) {
        let is_of_sheet = self.element(id).is_some_and(|element| {
            matches!(element.name.local, local_name!("link") | local_name!("style") | local_name!("base"))
        });
        self.sheet_attributes += u64::from(is_of_sheet);
    }

    /// Whether a `style` element was ever created.
    pub fn has_styles(&self) -> bool {
        !self.styles.is_empty()
    }

    /// The connected `style` elements of HTML and SVG, each with the root of its tree, in tree order within each.
    pub fn style_elements(&self) -> Vec<(NodeId, NodeId)> {
        let is_style = |id: &NodeId| {
            self.element(*id).is_some_and(|element| {
                matches!(element.name.expanded(), expanded_name!(html "style") | expanded_name!(svg "style"))
            }) && self.is_connected(*id)
        };
        let mut found: Vec<_> = self.styles.iter().copied().filter(is_style).map(|id| (self.root(id), id)).collect();
        found.sort_by(|a, b| a.0.cmp(&b.0).then_with(|| self.compare_order(a.1, b.1)));
        found.dedup();
        found
    }

    /// The connected `link` elements that name a style sheet.
    pub fn sheet_links(&self) -> Vec<NodeId> {
        let is_sheet = |id: &NodeId| {
            let rel = self.attribute(*id, &local_name!("rel")).unwrap_or_default();
            let has = |word: &str| rel.split_ascii_whitespace().any(|one| one.eq_ignore_ascii_case(word));
            has("stylesheet") && !has("alternate") && self.attribute(*id, &local_name!("disabled")).is_none()
        };
        let mut found: Vec<_> =
            self.links.iter().copied().filter(|id| self.is_connected(*id)).filter(is_sheet).collect();
        found.sort_by(|a, b| self.compare_order(*a, *b));
        found.dedup();
        found
    }

    /// Drops `style` elements that are gone.
    pub(super) fn forget_styles(&mut self, is_there: impl Fn(NodeId) -> bool) {
        self.styles.retain(|id| is_there(*id));
        self.links.retain(|id| is_there(*id));
    }

    /// Starts or stops the mutation log. Its reader takes it after each call of a script, which bounds it.
    pub fn keep_log(&mut self, keep: bool) {
        self.log = keep.then(Vec::new);
        self.extended = None;
    }

    /// The mutations since the last call.
    pub fn take_log(&mut self) -> Vec<Mutation> {
        self.extended = None;
        self.log.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// Swaps the log out and back in, around changes that nobody can observe.
    pub(super) fn swap_log(&mut self, log: &mut Option<Vec<Mutation>>) {
        std::mem::swap(&mut self.log, log);
        self.extended = None;
    }

    pub(super) fn is_logged(&self) -> bool {
        self.log.is_some()
    }

    pub(super) fn log(&self) -> &[Mutation] {
        self.log.as_deref().unwrap_or_default()
    }

    /// Logs a mutation if the log is on; the record is only built then.
    pub(super) fn record(&mut self, mutation: impl FnOnce() -> Mutation) {
        self.changed();
        self.extended = None;
        if let Some(log) = &mut self.log {
            log.push(mutation());
        }
    }

    /// Logs that a text grows at its end by so many units; `old` is its data before. What follows each other is one mutation, so that a
    /// long text in many pieces is not copied for each.
    pub(super) fn record_extension(&mut self, target: NodeId, more: usize, old: impl FnOnce(&Self) -> String) {
        if self.extended == Some(target)
            && let Some(Mutation::Text { added, .. }) = self.log.as_mut().and_then(|log| log.last_mut())
        {
            *added += more;
            self.changed();
            return;
        }
        if self.is_logged() {
            let old = old(self);
            self.record(|| Mutation::Text { target, offset: utf16_len(&old), removed: 0, added: more, old });
            self.extended = Some(target);
        } else {
            self.changed();
        }
    }

    pub fn node(&self, id: NodeId) -> &Node {
        self.nodes.get(id.index()).unwrap_or(&VACANT)
    }

    pub(super) fn node_mut(&mut self, id: NodeId) -> Option<&mut Node> {
        self.nodes.get_mut(id.index())
    }

    pub fn data(&self, id: NodeId) -> &NodeData {
        &self.node(id).data
    }

    pub(super) fn data_mut(&mut self, id: NodeId) -> Option<&mut NodeData> {
        self.node_mut(id).map(|node| &mut node.data)
    }

    pub fn kind(&self, id: NodeId) -> NodeKind {
        match self.data(id) {
            NodeData::Vacant => NodeKind::Vacant,
            NodeData::Document(_) => NodeKind::Document,
            NodeData::DocumentType(_) => NodeKind::DocumentType,
            NodeData::Fragment(_) => NodeKind::Fragment,
            NodeData::Element(_) => NodeKind::Element,
            NodeData::Text(_) => NodeKind::Text,
            NodeData::CData(_) => NodeKind::CData,
            NodeData::Comment(_) => NodeKind::Comment,
            NodeData::Instruction(_) => NodeKind::Instruction,
            NodeData::Attr(_) => NodeKind::Attribute,
        }
    }

    pub fn element(&self, id: NodeId) -> Option<&Element> {
        match self.data(id) {
            NodeData::Element(element) => Some(element),
            _ => None,
        }
    }

    pub(super) fn element_mut(&mut self, id: NodeId) -> Option<&mut Element> {
        match self.data_mut(id) {
            Some(NodeData::Element(element)) => Some(element),
            _ => None,
        }
    }

    /// The state without an attribute, for the engine to write.
    pub fn state_mut(&mut self, id: NodeId) -> Option<&mut ElementState> {
        self.changed();
        self.element_mut(id).map(|element| &mut element.state)
    }

    pub fn is_element(&self, id: NodeId) -> bool {
        matches!(self.data(id), NodeData::Element(_))
    }

    /// Text and CDATA sections, which every algorithm treats as text.
    pub fn is_text(&self, id: NodeId) -> bool {
        matches!(self.data(id), NodeData::Text(_) | NodeData::CData(_))
    }

    pub fn fragment(&self, id: NodeId) -> Option<&Fragment> {
        match self.data(id) {
            NodeData::Fragment(fragment) => Some(fragment),
            _ => None,
        }
    }

    pub fn document_data(&self, id: NodeId) -> Option<&Document> {
        match self.data(id) {
            NodeData::Document(document) => Some(document),
            _ => None,
        }
    }

    /// For setting the content type, the scripting flag or the quirks mode of a document.
    pub fn document_data_mut(&mut self, id: NodeId) -> Option<&mut Document> {
        match self.data_mut(id) {
            Some(NodeData::Document(document)) => Some(document),
            _ => None,
        }
    }

    pub fn is_html_document(&self, document: NodeId) -> bool {
        self.document_data(document).is_some_and(|data| data.is_html)
    }

    /// The node document (DOM §4.4); a document returns itself.
    pub fn document_of(&self, id: NodeId) -> NodeId {
        self.node(id).document.unwrap_or(id)
    }

    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).parent
    }

    pub fn parent_element(&self, id: NodeId) -> Option<NodeId> {
        self.parent(id).filter(|parent| self.is_element(*parent))
    }

    pub fn first_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).first_child
    }

    pub fn last_child(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).last_child
    }

    pub fn next_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).next
    }

    pub fn previous_sibling(&self, id: NodeId) -> Option<NodeId> {
        self.node(id).previous
    }

    pub fn children(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        Siblings { tree: self, front: self.first_child(id), back: self.last_child(id) }
    }

    pub fn child_elements(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.children(id).filter(|child| self.is_element(*child))
    }

    /// The parent, its parent and so on; shadow roots and template contents have none.
    pub fn ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.parent(id), |id| self.parent(*id))
    }

    pub fn inclusive_ancestors(&self, id: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(Some(id), |id| self.parent(*id))
    }

    /// The descendants of a node, in tree order.
    pub fn descendants(&self, root: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        std::iter::successors(self.next_in_order(root, root), move |id| self.next_in_order(*id, root))
    }

    pub(super) fn ids(&self, id: &str) -> &[NodeId] {
        self.ids.get(id).map_or(&[], Vec::as_slice)
    }

    pub(super) fn index_id(&mut self, element: NodeId, id: Box<str>) {
        if !id.is_empty() {
            self.ids.entry(id).or_default().push(element);
        }
    }

    /// Drops vacated slots from the id index: one pass, however many share an `id`.
    pub(super) fn forget_vacated_ids(&mut self) {
        let nodes = &self.nodes;
        self.ids.retain(|_, elements| {
            elements.retain(|id| nodes.get(id.index()).is_some_and(|node| !matches!(node.data, NodeData::Vacant)));
            !elements.is_empty()
        });
    }

    pub(super) fn unindex_id(&mut self, element: NodeId, id: &str) {
        if let Some(elements) = self.ids.get_mut(id) {
            if let Some(place) = elements.iter().rposition(|other| *other == element) {
                elements.swap_remove(place);
            }
            if elements.is_empty() {
                self.ids.remove(id);
            }
        }
    }
}

/// The siblings, iterable from both ends.
struct Siblings<'a> {
    tree: &'a Tree,
    front: Option<NodeId>,
    back: Option<NodeId>,
}

impl Iterator for Siblings<'_> {
    type Item = NodeId;

    fn next(&mut self) -> Option<NodeId> {
        let id = self.front?;
        if self.front == self.back {
            (self.front, self.back) = (None, None);
        } else {
            self.front = self.tree.next_sibling(id);
        }
        Some(id)
    }
}

impl DoubleEndedIterator for Siblings<'_> {
    fn next_back(&mut self) -> Option<NodeId> {
        let id = self.back?;
        if self.front == self.back {
            (self.front, self.back) = (None, None);
        } else {
            self.back = self.tree.previous_sibling(id);
        }
        Some(id)
    }
}
