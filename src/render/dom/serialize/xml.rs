//! `XMLSerializer` (DOM Parsing and Serialization §3.2), which libraries use for SVG and to compare trees.

use std::collections::HashMap;

use html5ever::{Namespace, QualName, ns};

use super::super::attributes::qualified_name;
use super::super::node::{Element, NodeData, NodeId};
use super::super::tree::Tree;
use super::VOID;

/// The prefixes declared at the current position.
struct Scope {
    /// Innermost last.
    order: Vec<(String, Namespace)>,
    /// The namespaces of each prefix, innermost last.
    meanings: HashMap<String, Vec<Namespace>>,
    /// The number of the next generated prefix.
    made: usize,
}

impl Scope {
    fn new() -> Self {
        let mut scope = Self { order: Vec::new(), meanings: HashMap::new(), made: 1 };
        scope.declare("xml".to_owned(), ns!(xml));
        scope
    }

    fn declare(&mut self, prefix: String, namespace: Namespace) {
        self.meanings.entry(prefix.clone()).or_default().push(namespace.clone());
        self.order.push((prefix, namespace));
    }

    fn truncate(&mut self, length: usize) {
        for (prefix, _) in self.order.drain(length..) {
            if let Some(meanings) = self.meanings.get_mut(&prefix) {
                meanings.pop();
            }
        }
    }

    fn meaning(&self, prefix: &str) -> Option<&Namespace> {
        self.meanings.get(prefix)?.last()
    }

    /// "Retrieve a preferred prefix string" (§3.2.1.4); a prefix that is redeclared for another namespace does not count.
    fn prefix_of(&self, namespace: &Namespace, preferred: Option<&str>) -> Option<String> {
        if *namespace == ns!() {
            return None;
        }
        if let Some(preferred) = preferred.filter(|prefix| self.meaning(prefix) == Some(namespace)) {
            return Some(preferred.to_owned());
        }
        let mut known = self.order.iter().rev().filter(|(_, known)| known == namespace);
        known.find(|(prefix, _)| self.meaning(prefix) == Some(namespace)).map(|(prefix, _)| prefix.clone())
    }

    /// "Generate a prefix" (§3.2.1.5) that is not in use: an element cannot declare one twice.
    fn make_prefix(&mut self) -> String {
        loop {
            let prefix = format!("ns{}", self.made);
            self.made += 1;
            if self.meaning(&prefix).is_none() {
                return prefix;
            }
        }
    }
}

enum Work {
    Node(NodeId),
    Siblings(NodeId),
    /// An end tag, and the number of declarations that remain in scope after it.
    End(String, usize),
}

/// The namespace declarations of an element itself ("recording the namespace information", §3.2.1.3).
struct NamespaceDeclarations {
    /// Declarations in scope before the element's own.
    outer: usize,
    default: Option<Namespace>,
}

impl Tree {
    /// The XML serialization of a node.
    pub fn to_xml(&self, node: NodeId) -> String {
        let mut xml = String::new();
        let mut work = vec![Work::Node(node)];
        let mut scope = Scope::new();
        // The default namespace in each open element, innermost last.
        let mut defaults = vec![ns!()];
        while let Some(next) = work.pop() {
            let id = match next {
                Work::Node(id) => id,
                Work::Siblings(id) => {
                    work.extend(self.next_sibling(id).map(Work::Siblings));
                    id
                }
                Work::End(name, declared) => {
                    xml.extend(["</", &name, ">"]);
                    scope.truncate(declared);
                    defaults.pop();
                    continue;
                }
            };
            match self.data(id) {
                NodeData::Element(element) => {
                    let inherited = defaults.last().cloned().unwrap_or_default();
                    let own = record(element, &mut scope);
                    let outer = own.outer;
                    let (name, default) = write_start(&mut xml, element, own, inherited, &mut scope);
                    let holder = element.template_contents().unwrap_or(id);
                    let is_html = element.name.ns == ns!(html);
                    match self.first_child(holder) {
                        Some(child) => {
                            xml.push('>');
                            defaults.push(default);
                            work.push(Work::End(name, outer));
                            work.push(Work::Siblings(child));
                            continue;
                        }
                        None if is_html && VOID.contains(&&*element.name.local) => xml.push_str(" />"),
                        None if is_html => xml.extend(["></", &name, ">"]),
                        None => xml.push_str("/>"),
                    }
                    scope.truncate(outer);
                }
                NodeData::Text(text) => escape(&mut xml, text, false),
                NodeData::CData(text) => xml.extend(["<![CDATA[", text, "]]>"]),
                NodeData::Comment(data) => xml.extend(["<!--", data, "-->"]),
                NodeData::Instruction(data) => xml.extend(["<?", &data.target, " ", &data.data, "?>"]),
                NodeData::DocumentType(doctype) => {
                    xml.extend(["<!DOCTYPE ", &doctype.name]);
                    match (doctype.public_id.as_str(), doctype.system_id.as_str()) {
                        ("", "") => {}
                        ("", system) => xml.extend([" SYSTEM \"", system, "\""]),
                        (public, "") => xml.extend([" PUBLIC \"", public, "\""]),
                        (public, system) => xml.extend([" PUBLIC \"", public, "\" \"", system, "\""]),
                    }
                    xml.push('>');
                }
                NodeData::Document(_) | NodeData::Fragment(_) => {
                    work.extend(self.first_child(id).map(Work::Siblings));
                }
                NodeData::Attr(_) | NodeData::Vacant => {}
            }
        }
        xml
    }
}

fn record(element: &Element, scope: &mut Scope) -> NamespaceDeclarations {
    let mut own = NamespaceDeclarations { outer: scope.order.len(), default: None };
    for attribute in element.attributes.iter().filter(|attribute| attribute.name.ns == ns!(xmlns)) {
        let namespace = Namespace::from(attribute.value.as_str());
        if attribute.name.prefix.is_none() {
            own.default = Some(namespace);
        } else if namespace != ns!(xml) && scope.meaning(&attribute.name.local) != Some(&namespace) {
            scope.declare(attribute.name.local.to_string(), namespace);
        }
    }
    own
}

/// Writes a start tag without its end (§3.2.1.1). Returns the element's name as written and the default namespace within it.
fn write_start(
    xml: &mut String,
    element: &Element,
    own: NamespaceDeclarations,
    inherited: Namespace,
    scope: &mut Scope,
) -> (String, Namespace) {
    let QualName { prefix, ns: namespace, local } = &element.name;
    let mut recorded = own.outer..scope.order.len();
    // A default namespace other than the element's own would change its name; one already in scope is redundant.
    let mut skips_default = own.default.is_some();
    let mut declaration = None;
    let (name, default) = if inherited == *namespace {
        let name = if *namespace == ns!(xml) { format!("xml:{local}") } else { local.to_string() };
        (name, inherited)
    } else if let Some(known) = scope.prefix_of(namespace, prefix.as_deref()) {
        skips_default = false;
        (format!("{known}:{local}"), own.default.filter(|default| *default != ns!(xml)).unwrap_or(inherited))
    } else if let Some(prefix) = prefix {
        skips_default = false;
        let is_taken = scope.order[recorded.clone()].iter().any(|(own, _)| **own == **prefix);
        let prefix = if is_taken { scope.make_prefix() } else { prefix.to_string() };
        scope.declare(prefix.clone(), namespace.clone());
        declaration = Some(format!("xmlns:{prefix}"));
        (format!("{prefix}:{local}"), own.default.unwrap_or(inherited))
    } else {
        skips_default = own.default.as_ref() != Some(namespace);
        declaration = skips_default.then(|| "xmlns".to_owned());
        (local.to_string(), namespace.clone())
    };
    xml.extend(["<", &name]);
    if let Some(declaration) = declaration {
        write_attribute(xml, &declaration, namespace);
    }
    for attribute in &element.attributes {
        let name = &attribute.name;
        let shown = if name.ns == ns!(xmlns) {
            let says_nothing = match name.prefix {
                None => skips_default,
                // Recorded declarations are written in the order of the attributes.
                Some(_) => {
                    let next = scope.order[recorded.clone()].first();
                    let is_recorded = next
                        .is_some_and(|(prefix, namespace)| **prefix == *name.local && **namespace == *attribute.value);
                    recorded.start += usize::from(is_recorded);
                    !is_recorded
                }
            };
            if says_nothing || attribute.value == *ns!(xml) {
                continue;
            }
            qualified_name(name).into_owned()
        } else if name.ns == ns!() {
            // Without its namespace such an attribute would be parsed as a declaration.
            if &*name.local == "xmlns" {
                continue;
            }
            name.local.to_string()
        } else {
            format!("{}:{}", attribute_prefix(xml, name, scope), name.local)
        };
        write_attribute(xml, &shown, &attribute.value);
    }
    (name, default)
}

/// The prefix of an attribute's namespace, declared if necessary: its own unless that has another meaning, as in browsers.
fn attribute_prefix(xml: &mut String, name: &QualName, scope: &mut Scope) -> String {
    if let Some(known) = scope.prefix_of(&name.ns, name.prefix.as_deref()) {
        return known;
    }
    let own = name.prefix.as_deref().filter(|prefix| *prefix != "xmlns" && scope.meaning(prefix).is_none());
    let prefix = own.map_or_else(|| scope.make_prefix(), str::to_owned);
    scope.declare(prefix.clone(), name.ns.clone());
    write_attribute(xml, &format!("xmlns:{prefix}"), &name.ns);
    prefix
}

fn write_attribute(xml: &mut String, name: &str, value: &str) {
    xml.extend([" ", name, "=\""]);
    escape(xml, value, true);
    xml.push('"');
}

fn escape(xml: &mut String, text: &str, in_attribute: bool) {
    for character in text.chars() {
        match character {
            '&' => xml.push_str("&amp;"),
            '<' => xml.push_str("&lt;"),
            '>' => xml.push_str("&gt;"),
            '"' if in_attribute => xml.push_str("&quot;"),
            '\t' if in_attribute => xml.push_str("&#9;"),
            '\n' if in_attribute => xml.push_str("&#10;"),
            '\r' if in_attribute => xml.push_str("&#13;"),
            _ => xml.push(character),
        }
    }
}
