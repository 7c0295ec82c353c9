//! XML to tree (HTML §14.2, XML 1.0, Namespaces in XML 1.0): for frames, `DOMParser` and XMLHttpRequest.
//!
//! Non-validating and without anything from outside: of entities, the five of XML and those that the document itself declares with plain
//! text are known, so that nothing can unfold beyond its own size times one declaration. What is not well-formed becomes a document with a
//! `parsererror` in it, by which scripts tell.

use std::collections::HashMap;

use html5ever::{LocalName, Namespace, Prefix, QualName, ns};
use quick_xml::escape::resolve_xml_entity;
use quick_xml::events::{BytesRef, BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::Error;
use super::names::is_name;
use super::node::{Attribute, NodeId};
use super::tree::Tree;

/// Why the text was given up.
enum Fault {
    /// Not well-formed.
    Malformed(&'static str),
    /// The tree took no more.
    Tree(Error),
}

impl From<Error> for Fault {
    fn from(error: Error) -> Self {
        match error {
            Error::Full => Self::Tree(error),
            _ => Self::Malformed("a node stands where none may"),
        }
    }
}

impl From<quick_xml::Error> for Fault {
    fn from(_: quick_xml::Error) -> Self {
        Self::Malformed("the markup cannot be read")
    }
}

/// A document under way.
struct Builder<'a> {
    tree: &'a mut Tree,
    document: NodeId,
    /// The open elements, each with the number of declarations that stood before its own.
    open: Vec<(NodeId, usize)>,
    /// Declarations of namespaces, the innermost last; the empty prefix is the default.
    declared: Vec<(String, Namespace)>,
    /// Text that has not become a node yet.
    text: String,
    entities: HashMap<String, String>,
}

impl Tree {
    /// Fills an empty document; false when the text is not well-formed.
    ///
    /// # Errors
    /// [`Error::Full`].
    pub fn parse_xml(&mut self, document: NodeId, text: &str) -> Result<bool, Error> {
        let mut builder = Builder {
            tree: self,
            document,
            open: Vec::new(),
            declared: vec![("xml".to_owned(), ns!(xml))],
            text: String::new(),
            entities: HashMap::new(),
        };
        match builder.read(text.strip_prefix('\u{FEFF}').unwrap_or(text)) {
            Ok(()) => Ok(true),
            Err(Fault::Tree(error)) => Err(error),
            Err(Fault::Malformed(why)) => self.put_parser_error(document, why).map(|()| false),
        }
    }

    /// What is left of a document that was not well-formed.
    fn put_parser_error(&mut self, document: NodeId, why: &str) -> Result<(), Error> {
        self.replace_all(document, None);
        let namespace = Namespace::from("http://www.mozilla.org/newlayout/xml/parsererror.xml");
        let name = QualName::new(None, namespace, LocalName::from("parsererror"));
        let element = self.create_element(document, name, Vec::new())?;
        self.append(document, element)?;
        let text = self.create_text(document, format!("XML parsing error: {why}"))?;
        self.append(element, text)?;
        Ok(())
    }
}

impl Builder<'_> {
    fn read(&mut self, text: &str) -> Result<(), Fault> {
        if !text.chars().all(is_character) {
            return Err(Fault::Malformed("a character that XML does not have"));
        }
        let mut reader = Reader::from_str(text);
        let config = reader.config_mut();
        config.check_comments = true;
        let mut is_first = true;
        loop {
            let event = reader.read_event()?;
            if !matches!(event, Event::Text(_) | Event::GeneralRef(_)) {
                self.flush()?;
            }
            match event {
                Event::Start(tag) => self.start(&tag)?,
                Event::Empty(tag) => {
                    self.start(&tag)?;
                    self.end();
                }
                Event::End(_) => self.end(),
                Event::Text(text) => self.text(&text.xml10_content())?,
                Event::CData(text) => {
                    let node = self.tree.create_cdata(self.document, text.xml10_content().into_owned())?;
                    self.put_inside(node)?;
                }
                Event::GeneralRef(reference) => self.reference(&reference)?,
                Event::Comment(text) => {
                    let node = self.tree.create_comment(self.document, text.xml10_content().into_owned())?;
                    self.put(node)?;
                }
                Event::PI(instruction) => {
                    let (target, data) = (instruction.target(), instruction.content().trim_start());
                    if target.eq_ignore_ascii_case("xml") {
                        return Err(Fault::Malformed("a declaration that is not at the beginning"));
                    }
                    let node = self.tree.create_instruction(self.document, target, data)?;
                    self.put(node)?;
                }
                Event::Decl(_) if is_first => {}
                Event::Decl(_) => return Err(Fault::Malformed("a declaration that is not at the beginning")),
                Event::DocType(text) => self.doctype(&text)?,
                Event::Eof => break,
            }
            is_first = false;
        }
        let is_whole = self.open.is_empty() && self.tree.document_element(self.document).is_some();
        if is_whole { Ok(()) } else { Err(Fault::Malformed("an element is missing or not closed")) }
    }

    /// Where the next node goes.
    fn place(&self) -> NodeId {
        let Some((element, _)) = self.open.last() else { return self.document };
        self.tree.element(*element).and_then(|element| element.template).unwrap_or(*element)
    }

    fn put(&mut self, node: NodeId) -> Result<(), Fault> {
        let place = self.place();
        self.tree.append(place, node)?;
        Ok(())
    }

    /// Puts what only elements can hold.
    fn put_inside(&mut self, node: NodeId) -> Result<(), Fault> {
        if self.open.is_empty() {
            return Err(Fault::Malformed("text outside of the element"));
        }
        self.put(node)
    }

    fn flush(&mut self) -> Result<(), Fault> {
        if self.text.is_empty() {
            return Ok(());
        }
        let text = std::mem::take(&mut self.text);
        if self.open.is_empty() {
            let is_space = text.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\n' | b'\r'));
            return if is_space { Ok(()) } else { Err(Fault::Malformed("text outside of the element")) };
        }
        let node = self.tree.create_text(self.document, text)?;
        self.put(node)
    }

    fn text(&mut self, text: &str) -> Result<(), Fault> {
        if text.contains("]]>") {
            return Err(Fault::Malformed("]]> in text"));
        }
        self.text.push_str(text);
        Ok(())
    }

    fn reference(&mut self, reference: &BytesRef) -> Result<(), Fault> {
        if self.open.is_empty() {
            return Err(Fault::Malformed("text outside of the element"));
        }
        match reference.resolve_char_ref()? {
            Some(character) if is_character(character) => self.text.push(character),
            Some(_) => return Err(Fault::Malformed("a character that XML does not have")),
            None => {
                let known =
                    resolve_xml_entity(reference).or_else(|| self.entities.get(&**reference).map(String::as_str));
                self.text.push_str(known.ok_or(Fault::Malformed("an entity that is not declared"))?);
                // One declaration may be used in every place of the text: what it comes to counts as text does.
                self.tree.check_room(0, self.text.len())?;
            }
        }
        Ok(())
    }

    fn start(&mut self, tag: &BytesStart) -> Result<(), Fault> {
        let before = self.declared.len();
        let mut attributes = Vec::new();
        for attribute in tag.attributes() {
            let attribute = attribute.map_err(|_| Fault::Malformed("an attribute that cannot be read"))?;
            if attribute.value.contains('<') {
                return Err(Fault::Malformed("< in an attribute"));
            }
            let resolve = |name: &str| resolve_xml_entity(name).or_else(|| self.entities.get(name).map(String::as_str));
            let value = attribute.normalized_value_with(XmlVersion::Implicit1_0, 2, resolve)?.into_owned();
            if !value.chars().all(is_character) {
                return Err(Fault::Malformed("a character that XML does not have"));
            }
            let (prefix, local) = split(attribute.key.0)?;
            self.declare(prefix, local, &value)?;
            attributes.push((prefix.map(str::to_owned), local.to_owned(), value));
        }
        let mut named: Vec<Attribute> = Vec::with_capacity(attributes.len());
        for (prefix, local, value) in attributes {
            let namespace = match prefix.as_deref() {
                Some("xmlns") => ns!(xmlns),
                Some(prefix) => self.namespace(prefix)?,
                None if local == "xmlns" => ns!(xmlns),
                None => ns!(),
            };
            let name = QualName::new(prefix.map(Prefix::from), namespace, LocalName::from(local));
            if named.iter().any(|other| other.name.ns == name.ns && other.name.local == name.local) {
                return Err(Fault::Malformed("an attribute stands twice"));
            }
            named.push(Attribute { name, value });
        }
        let name = tag.name();
        let (prefix, local) = split(name.0)?;
        let namespace = self.namespace(prefix.unwrap_or_default())?;
        let name = QualName::new(prefix.map(Prefix::from), namespace, LocalName::from(local));
        let element = self.tree.create_element(self.document, name, named)?;
        self.put(element)?;
        self.open.push((element, before));
        Ok(())
    }

    fn end(&mut self) {
        if let Some((_, before)) = self.open.pop() {
            self.declared.truncate(before);
        }
    }

    fn declare(&mut self, prefix: Option<&str>, local: &str, value: &str) -> Result<(), Fault> {
        let declared = match (prefix, local) {
            (None, "xmlns") => "",
            (Some("xmlns"), declared) => declared,
            _ => return Ok(()),
        };
        let is_reserved = declared == "xmlns" || value == &*ns!(xmlns) || (declared == "xml") != (value == &*ns!(xml));
        if is_reserved || (value.is_empty() && !declared.is_empty()) {
            return Err(Fault::Malformed("a namespace that cannot be declared so"));
        }
        self.declared.push((declared.to_owned(), Namespace::from(value)));
        Ok(())
    }

    fn namespace(&self, prefix: &str) -> Result<Namespace, Fault> {
        match self.declared.iter().rev().find(|(known, _)| known == prefix) {
            Some((_, namespace)) => Ok(namespace.clone()),
            None if prefix.is_empty() => Ok(ns!()),
            None => Err(Fault::Malformed("a prefix that is not declared")),
        }
    }

    /// `name PUBLIC "…" "…" [ … ]`.
    fn doctype(&mut self, text: &str) -> Result<(), Fault> {
        let text = text.trim();
        let (outer, subset) = match text.split_once('[') {
            Some((outer, rest)) => (outer, rest.rsplit_once(']').map_or(rest, |(inner, _)| inner)),
            None => (text, ""),
        };
        let (name, ids) = outer.trim().split_once(char::is_whitespace).unwrap_or((outer.trim(), ""));
        if !is_name(name) {
            return Err(Fault::Malformed("a document type without a name"));
        }
        let ids = ids.trim();
        let (public, rest) = match ids.strip_prefix("PUBLIC") {
            Some(rest) => quoted(rest).ok_or(Fault::Malformed("a document type that cannot be read"))?,
            None => ("", ids.strip_prefix("SYSTEM").unwrap_or_default()),
        };
        let system = quoted(rest).map_or("", |(system, _)| system);
        let node = self.tree.create_doctype(self.document, name, public, system)?;
        self.put(node)?;
        for declaration in subset.split("<!ENTITY").skip(1) {
            let declaration = declaration.trim_start();
            let Some((name, rest)) = declaration.split_once(char::is_whitespace) else { continue };
            let Some((value, _)) = quoted(rest) else { continue };
            // Markup and further entities in it would have to be read where it is used: such an entity counts as unknown.
            if is_name(name) && !value.contains(['<', '&', '%']) {
                self.entities.entry(name.to_owned()).or_insert_with(|| value.to_owned());
            }
        }
        Ok(())
    }
}

/// A text between quotes, and what follows it.
fn quoted(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    let quote = text.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    text[1..].split_once(quote)
}

/// A qualified name taken apart (Namespaces in XML §4).
fn split(name: &str) -> Result<(Option<&str>, &str), Fault> {
    let (prefix, local) = match name.split_once(':') {
        Some((prefix, local)) => (Some(prefix), local),
        None => (None, name),
    };
    let is_part = |part: &str| is_name(part) && !part.contains(':');
    if is_part(local) && prefix.is_none_or(is_part) {
        Ok((prefix, local))
    } else {
        Err(Fault::Malformed("a name that cannot be"))
    }
}

/// XML 1.0 §2.2 "Char".
fn is_character(character: char) -> bool {
    matches!(character, '\t' | '\n' | '\r' | ' '..='\u{D7FF}' | '\u{E000}'..='\u{FFFD}' | '\u{10000}'..)
}

#[cfg(test)]
mod tests {
    use super::super::NodeKind;
    use super::*;

    fn parse(text: &str) -> (Tree, NodeId, bool) {
        let mut tree = Tree::new();
        let document = tree.create_document(false).unwrap();
        let is_whole = tree.parse_xml(document, text).unwrap();
        (tree, document, is_whole)
    }

    #[test]
    fn what_is_well_formed_comes_back_as_it_was() {
        for text in [
            "<a/>",
            "<!DOCTYPE a PUBLIC \"p\" \"s\"><a b=\"c\">t<b>u</b><!--x--><?p q?></a>",
            "<a xmlns=\"urn:a\" xmlns:b=\"urn:b\"><b:c b:d=\"e\"/><f xmlns=\"\"/></a>",
            "<a><![CDATA[<x>]]></a>",
        ] {
            let (tree, document, is_whole) = parse(text);
            assert!(is_whole, "{text}");
            assert_eq!(tree.to_xml(document), text);
        }
    }

    #[test]
    fn what_is_not_well_formed_becomes_a_parser_error() {
        for text in [
            "",
            "x",
            "<a>",
            "<a></b>",
            "<a/><b/>",
            "<a/>x",
            "<a b=c/>",
            "<a b='1' b='2'/>",
            "<a b='<'/>",
            "<a>&nope;</a>",
            "<a>&</a>",
            "<p:a/>",
            "<a p:b=''/>",
            "<a xmlns:p=''/>",
            "<a xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>",
            "<a>]]></a>",
            "<1/>",
            "<a:b:c/>",
            "<a>\u{1}</a>",
            "<a>&#1;</a>",
            "<a/><?xml version='1.0'?>",
            "<!DOCTYPE><a/>",
            "<a><!-- -- --></a>",
            "</a>",
        ] {
            let (tree, document, is_whole) = parse(text);
            assert!(!is_whole, "{text}");
            let root = tree.document_element(document).unwrap();
            assert_eq!(&*tree.element(root).unwrap().name().local, "parsererror", "{text}");
        }
    }

    #[test]
    fn references_become_text_and_never_more_than_the_document_may_hold() {
        let (tree, document, is_whole) =
            parse("<!DOCTYPE a [<!ENTITY e \"tree\"><!ENTITY n \"&e;\">]>\n<a b='&e;&#10;&lt;'>1&e;&amp;&#x41;2</a>");
        assert!(is_whole);
        let root = tree.document_element(document).unwrap();
        assert_eq!(tree.text_content(root).as_deref(), Some("1tree&A2"));
        assert_eq!(tree.attribute_by_name(root, "b").unwrap().value, "tree\n<");
        assert_eq!(tree.children(root).count(), 1);
        assert!(!parse("<!DOCTYPE a [<!ENTITY e \"tree\"><!ENTITY n \"&e;\">]><a>&n;</a>").2);
        let long = "x".repeat(1 << 16);
        let bomb = format!("<!DOCTYPE a [<!ENTITY e \"{long}\">]><a>{}</a>", "&e;".repeat(2_000));
        let mut tree = Tree::new();
        let document = tree.create_document(false).unwrap();
        assert_eq!(tree.parse_xml(document, &bomb), Err(Error::Full));
    }

    #[test]
    fn templates_hold_their_contents_aside() {
        let (tree, document, _) = parse("<template xmlns='http://www.w3.org/1999/xhtml'><p/></template>");
        let template = tree.document_element(document).unwrap();
        assert_eq!(tree.first_child(template), None);
        let contents = tree.element(template).unwrap().template_contents().unwrap();
        assert_eq!(tree.kind(tree.first_child(contents).unwrap()), NodeKind::Element);
    }
}
