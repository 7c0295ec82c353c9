//! The XML parser, with namespaces and the entities of an internal subset (XML 1.0, Namespaces in XML, HTML §14.2).
//!
//! `quick-xml` tokenizes; this module checks what it does not: names, a single root, declared prefixes, unique attributes. Entities are
//! plain text: markup or other entities in them are errors, so expansion cannot grow.

/// Char of XML 1.0 §2.2.
fn is_char(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | '\u{20}'..='\u{d7ff}' | '\u{e000}'..='\u{fffd}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use html5ever::{LocalName, Namespace, Prefix, QualName, local_name, ns};
use quick_xml::Reader;
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};

use super::node::{Attribute, NodeId};
use super::tree::Tree;
use super::{Error, is_name};
use crate::limits;

/// Namespace of the error document for invalid XML, as in Firefox.
const FAULT_NAMESPACE: &str = "http://www.mozilla.org/newlayout/xml/parsererror.xml";

impl Tree {
    /// Parses an XML document. If it is not well-formed, the result is an error document.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn parse_xml_document(&mut self, text: &str, content_type: &'static str) -> Result<NodeId, Error> {
        let mut log = None;
        self.swap_log(&mut log);
        let document = self.parse_xml_unobserved(text, content_type);
        self.swap_log(&mut log);
        document
    }

    fn parse_xml_unobserved(&mut self, text: &str, content_type: &'static str) -> Result<NodeId, Error> {
        let document = self.xml_document(content_type)?;
        let mut builder = Builder::new(self, document, document);
        match builder.read(text).and_then(|()| builder.end_document()) {
            Ok(()) => return Ok(document),
            Err(Fault::Full) => return Err(Error::Full),
            Err(Fault::Form) => {}
        }
        let document = self.xml_document(content_type)?;
        let name = QualName::new(None, Namespace::from(FAULT_NAMESPACE), LocalName::from("parsererror"));
        let root = self.create_element(document, name, Vec::new())?;
        let why = self.create_text(document, "XML Parsing Error: not well-formed".to_owned())?;
        self.append(root, why)?;
        self.append(document, root)?;
        Ok(document)
    }

    fn xml_document(&mut self, content_type: &'static str) -> Result<NodeId, Error> {
        let document = self.create_document(false)?;
        if let Some(data) = self.document_data_mut(document) {
            data.content_type = content_type;
        }
        Ok(document)
    }

    /// Parses XML text in the context of an element of an XML document, with its namespaces (HTML §14.4).
    ///
    /// # Errors
    /// [`Error::Syntax`] if it is not well-formed, [`Error::Full`].
    pub fn parse_xml_fragment(&mut self, context: NodeId, text: &str) -> Result<NodeId, Error> {
        let mut log = None;
        self.swap_log(&mut log);
        let document = self.document_of(context);
        let known = self.namespaces_at(context);
        let result = self.create_fragment(document).and_then(|fragment| {
            let mut builder = Builder::new(self, document, fragment);
            builder.scopes.extend(known);
            match builder.read(text).and_then(|()| builder.end()) {
                Ok(()) => Ok(fragment),
                Err(Fault::Full) => Err(Error::Full),
                Err(Fault::Form) => Err(Error::Syntax),
            }
        });
        self.swap_log(&mut log);
        result
    }

    /// Prefixes declared at an element, innermost last.
    fn namespaces_at(&self, id: NodeId) -> Vec<(String, Namespace)> {
        let mut found = Vec::new();
        for id in self.inclusive_ancestors(id) {
            let Some(element) = self.element(id) else { continue };
            for one in element.attributes().iter().filter(|one| one.name.ns == ns!(xmlns)) {
                let prefix = if one.name.prefix.is_some() { one.name.local.to_string() } else { String::new() };
                found.push((prefix, Namespace::from(one.value.as_str())));
            }
            let prefix = element.name.prefix.as_ref().map(ToString::to_string).unwrap_or_default();
            found.push((prefix, element.name.ns.clone()));
        }
        found.reverse();
        found
    }
}

/// Why parsing stopped.
enum Fault {
    /// The text is not well-formed.
    Form,
    Full,
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        if error == Error::Full { Self::Full } else { Self::Form }
    }
}

/// An open element: its node, its name as written, and the number of declarations before it.
struct OpenElement {
    id: NodeId,
    name: String,
    scopes: usize,
}

struct Builder<'a> {
    tree: &'a mut Tree,
    document: NodeId,
    /// The document or fragment that gets the outermost nodes.
    top: NodeId,
    open: Vec<OpenElement>,
    /// Namespaces by prefix, innermost last; no prefix is the empty one.
    scopes: Vec<(String, Namespace)>,
    entities: HashMap<String, String>,
    /// Character data that is not in the tree yet.
    text: String,
    has_doctype: bool,
}

impl<'a> Builder<'a> {
    fn new(tree: &'a mut Tree, document: NodeId, top: NodeId) -> Self {
        let scopes = vec![("xml".to_owned(), ns!(xml))];
        Self {
            tree,
            document,
            top,
            open: Vec::new(),
            scopes,
            entities: HashMap::new(),
            text: String::new(),
            has_doctype: false,
        }
    }

    fn is_document(&self) -> bool {
        self.top == self.document
    }

    fn read(&mut self, text: &str) -> Result<(), Fault> {
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        if text
            .chars()
            .any(|c| matches!(c, '\0'..='\x08' | '\x0B' | '\x0C' | '\x0E'..='\x1F' | '\u{FFFE}' | '\u{FFFF}'))
        {
            return Err(Fault::Form);
        }
        let mut reader = Reader::from_str(text);
        reader.config_mut().check_end_names = false;
        reader.config_mut().check_comments = true;
        reader.config_mut().allow_unmatched_ends = true;
        let mut is_first = true;
        loop {
            match reader.read_event().map_err(|_| Fault::Form)? {
                Event::Eof => return Ok(()),
                Event::Decl(decl) => {
                    if !is_first || !self.is_document() || decl.version().is_err() {
                        return Err(Fault::Form);
                    }
                }
                Event::DocType(doctype) => self.doctype(&doctype)?,
                Event::Start(tag) => self.start(&tag, false)?,
                Event::Empty(tag) => self.start(&tag, true)?,
                Event::End(tag) => {
                    self.flush()?;
                    let open = self.open.pop().filter(|open| open.name == tag.name().0).ok_or(Fault::Form)?;
                    self.scopes.truncate(open.scopes);
                }
                Event::Text(text) => {
                    if text.contains("]]>") {
                        return Err(Fault::Form);
                    }
                    self.text.push_str(&text.xml10_content());
                }
                Event::GeneralRef(reference) => {
                    let resolved = self.resolve(&reference)?;
                    if self.text.len() + resolved.len() > limits::DOM_TEXT_BYTES_MAX {
                        return Err(Fault::Full);
                    }
                    self.text.push_str(&resolved);
                }
                Event::CData(data) => {
                    self.flush()?;
                    if self.open.is_empty() && self.is_document() {
                        return Err(Fault::Form);
                    }
                    let node = self.tree.create_cdata(self.document, data.xml10_content().into_owned());
                    let node = match node {
                        // A fragment for an HTML document has no CDATA sections.
                        Err(Error::NotSupported) => {
                            self.tree.create_text(self.document, data.xml10_content().into_owned())?
                        }
                        node => node?,
                    };
                    self.put(node)?;
                }
                Event::Comment(data) => {
                    self.flush()?;
                    let node = self.tree.create_comment(self.document, data.xml10_content().into_owned())?;
                    self.put(node)?;
                }
                Event::PI(instruction) => {
                    self.flush()?;
                    if instruction.target().eq_ignore_ascii_case("xml") || instruction.target().contains(':') {
                        return Err(Fault::Form);
                    }
                    let data = instruction.content().trim_start();
                    let node = self.tree.create_instruction(self.document, instruction.target(), data)?;
                    self.put(node)?;
                }
            }
            is_first = false;
        }
    }

    /// Every element is closed, and a document has one.
    fn end(&mut self) -> Result<(), Fault> {
        self.flush()?;
        if self.open.is_empty() { Ok(()) } else { Err(Fault::Form) }
    }

    fn end_document(&mut self) -> Result<(), Fault> {
        self.end()?;
        self.tree.document_element(self.document).map(|_| ()).ok_or(Fault::Form)
    }

    fn put(&mut self, node: NodeId) -> Result<(), Fault> {
        let parent = self.open.last().map_or(self.top, |open| open.id);
        self.tree.append(parent, node)?;
        Ok(())
    }

    /// Adds the pending text to the tree; around a document's root it can only be whitespace.
    fn flush(&mut self) -> Result<(), Fault> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        if self.open.is_empty() && self.is_document() {
            let is_space = text.chars().all(|c| matches!(c, ' ' | '\t' | '\n' | '\r'));
            return if is_space { Ok(()) } else { Err(Fault::Form) };
        }
        let node = self.tree.create_text(self.document, text)?;
        self.put(node)
    }

    fn resolve(&self, reference: &BytesRef<'_>) -> Result<String, Fault> {
        if reference.is_char_ref() {
            let found = reference.resolve_char_ref().map_err(|_| Fault::Form)?;
            return found.filter(|c| is_char(*c)).map(String::from).ok_or(Fault::Form);
        }
        self.entity(reference.as_ref())
    }

    fn entity(&self, name: &str) -> Result<String, Fault> {
        if let Some(known) = resolve_xml_entity(name) {
            return Ok(known.to_owned());
        }
        self.entities.get(name).cloned().ok_or(Fault::Form)
    }

    fn start(&mut self, tag: &BytesStart<'_>, is_empty: bool) -> Result<(), Fault> {
        self.flush()?;
        if self.open.len() >= limits::DOM_PARSED_DEPTH_MAX {
            return Err(Fault::Form);
        }
        let scopes = self.scopes.len();
        let mut given: Vec<(String, String)> = Vec::new();
        let mut written = tag.attributes();
        for one in written.with_checks(false) {
            let one = one.map_err(|_| Fault::Form)?;
            if !is_name(one.key.0) || one.value.contains('<') {
                return Err(Fault::Form);
            }
            given.push((one.key.0.to_owned(), self.attribute_value(&one.value)?));
        }
        for (name, value) in &given {
            match (name.as_str(), value.as_str()) {
                ("xmlns", value) => self.scopes.push((String::new(), Namespace::from(value))),
                (name, value) => {
                    if let Some(prefix) = name.strip_prefix("xmlns:") {
                        if value.is_empty() || prefix == "xmlns" || (prefix == "xml") != (value == &*ns!(xml)) {
                            return Err(Fault::Form);
                        }
                        self.scopes.push((prefix.to_owned(), Namespace::from(value)));
                    }
                }
            }
        }
        let mut attributes = Vec::with_capacity(given.len());
        let mut seen = HashSet::new();
        for (name, value) in given {
            let name = if name == "xmlns" {
                QualName::new(None, ns!(xmlns), local_name!("xmlns"))
            } else {
                self.name(&name, false)?
            };
            if !seen.insert((name.ns.clone(), name.local.clone())) {
                return Err(Fault::Form);
            }
            attributes.push(Attribute { name, value });
        }
        let name = tag.name().0.to_owned();
        let id = self.tree.create_element(self.document, self.name(&name, true)?, attributes)?;
        if let Some(state) = self.tree.state_mut(id) {
            // Scripts in a document parsed by a script never run.
            state.already_started = true;
        }
        self.put(id)?;
        // Children of a template go into its contents.
        let inner = self.tree.element(id).and_then(|element| element.template).unwrap_or(id);
        if is_empty {
            self.scopes.truncate(scopes);
        } else {
            self.open.push(OpenElement { id: inner, name, scopes });
        }
        Ok(())
    }

    /// A qualified name with its namespace.
    fn name(&self, qualified: &str, is_element: bool) -> Result<QualName, Fault> {
        if !is_name(qualified) {
            return Err(Fault::Form);
        }
        let (prefix, local) = match qualified.split_once(':') {
            Some((prefix, local)) if is_name(prefix) && is_name(local) && !local.contains(':') => (Some(prefix), local),
            Some(_) => return Err(Fault::Form),
            None => (None, qualified),
        };
        let namespace = match prefix {
            None if !is_element => ns!(),
            Some("xmlns") if !is_element => ns!(xmlns),
            prefix => {
                let wanted = prefix.unwrap_or_default();
                let found = self.scopes.iter().rev().find(|(known, _)| known == wanted);
                match found {
                    Some((_, namespace)) => namespace.clone(),
                    None if prefix.is_none() => ns!(),
                    None => return Err(Fault::Form),
                }
            }
        };
        Ok(QualName::new(prefix.map(Prefix::from), namespace, LocalName::from(local)))
    }

    /// "Attribute-value normalization" (XML §3.3.3).
    fn attribute_value(&self, raw: &str) -> Result<String, Fault> {
        let mut value = String::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(at) = rest.find(['&', '\t', '\n', '\r']) {
            value.push_str(&rest[..at]);
            let special = &rest[at..];
            if let Some(reference) = special.strip_prefix('&') {
                let (name, after) = reference.split_once(';').ok_or(Fault::Form)?;
                let reference = BytesRef::new(name);
                value.push_str(&self.resolve(&reference)?);
                rest = after;
            } else {
                value.push(' ');
                rest = special.strip_prefix("\r\n").unwrap_or(&special[1..]);
            }
        }
        value.push_str(rest);
        Ok(value)
    }

    /// `<!DOCTYPE name PUBLIC "…" "…" [ … ]>` (XML §2.8).
    fn doctype(&mut self, text: &str) -> Result<(), Fault> {
        let has_root = self.tree.document_element(self.document).is_some();
        if !self.is_document() || !self.open.is_empty() || self.has_doctype || has_root {
            return Err(Fault::Form);
        }
        self.flush()?;
        self.has_doctype = true;
        let (head, subset) = match text.split_once('[') {
            Some((head, subset)) => (head, subset.rsplit_once(']').ok_or(Fault::Form)?.0),
            None => (text, ""),
        };
        let head = head.trim();
        let (name, rest) = head.split_once(|c: char| c.is_ascii_whitespace()).unwrap_or((head, ""));
        let rest = rest.trim();
        let (public, system) = if let Some(rest) = rest.strip_prefix("PUBLIC") {
            let (public, rest) = quoted(rest).ok_or(Fault::Form)?;
            (public, quoted(rest).map(|(system, _)| system).unwrap_or_default())
        } else if let Some(rest) = rest.strip_prefix("SYSTEM") {
            (String::new(), quoted(rest).ok_or(Fault::Form)?.0)
        } else if rest.is_empty() {
            (String::new(), String::new())
        } else {
            return Err(Fault::Form);
        };
        if !is_name(name) {
            return Err(Fault::Form);
        }
        self.declare_entities(subset);
        let node = self.tree.create_doctype(self.document, name, &public, &system)?;
        self.put(node)
    }

    /// The general entities of the internal subset that are plain text. Entities inside entities are not expanded: pages need
    /// none, and entity bombs consist of them.
    fn declare_entities(&mut self, subset: &str) {
        for declaration in subset.split("<!ENTITY").skip(1).take(limits::PAIRS_MAX) {
            let declaration = declaration.trim_start();
            let Some((name, rest)) = declaration.split_once(|c: char| c.is_ascii_whitespace()) else { continue };
            let Some((value, _)) = quoted(rest) else { continue };
            let names_another = value.split('&').skip(1).any(|reference| !reference.starts_with('#'));
            if is_name(name)
                && !value.contains('<')
                && !names_another
                && let Ok(value) = self.attribute_value(&value)
                && !value.contains(['&', '<'])
            {
                self.entities.entry(name.to_owned()).or_insert(value);
            }
        }
    }
}

/// A quoted text, and what follows it.
fn quoted(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    let (inner, rest) = text[1..].split_once(quote)?;
    Some((inner.to_owned(), rest))
}
