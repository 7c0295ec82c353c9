//! `XMLSerializer` (DOM Parsing and Serialization §3.2), which libraries use for SVG and to compare trees.

use std::collections::HashMap;

use html5ever::{Namespace, QualName, ns};

use super::super::attributes::qualified_name;
use super::super::node::{Element, NodeData, NodeId};
use super::super::tree::Tree;
use super::VOID;

/// The namespace of each prefix in scope; the empty prefix is the default namespace.
type Scope = HashMap<String, Namespace>;

enum Work {
    Node(NodeId),
    Siblings(NodeId),
    End(String),
}

impl Tree {
    /// The XML serialization of a node.
    pub fn to_xml(&self, node: NodeId) -> String {
        let mut xml = String::new();
        let mut work = vec![Work::Node(node)];
        // One scope for each open element, the innermost last.
        let mut scopes = vec![Scope::new()];
        while let Some(next) = work.pop() {
            let id = match next {
                Work::Node(id) => id,
                Work::Siblings(id) => {
                    work.extend(self.next_sibling(id).map(Work::Siblings));
                    id
                }
                Work::End(name) => {
                    xml.extend(["</", &name, ">"]);
                    scopes.pop();
                    continue;
                }
            };
            match self.data(id) {
                NodeData::Element(element) => self.open_element(&mut xml, id, element, &mut scopes, &mut work),
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

    fn open_element(
        &self,
        xml: &mut String,
        id: NodeId,
        element: &Element,
        scopes: &mut Vec<Scope>,
        work: &mut Vec<Work>,
    ) {
        let declared = declarations(element);
        let in_scope = |prefix: &str| {
            declared.get(prefix).or_else(|| scopes.iter().rev().find_map(|scope| scope.get(prefix))).cloned()
        };
        let mut added = Scope::new();
        let name = element_name(&element.name, &in_scope, &mut added);
        xml.extend(["<", &name]);
        let mut attributes = String::new();
        for attribute in &element.attributes {
            // A default namespace that is not the element's own would lie about its name.
            let is_default = attribute.name.ns == ns!(xmlns) && attribute.name.prefix.is_none();
            if is_default && attribute.value != *element.name.ns && !name.contains(':') {
                continue;
            }
            let shown = attribute_name(&attribute.name, &in_scope, &mut added);
            attributes.extend([" ", &shown, "=\""]);
            escape(&mut attributes, &attribute.value, true);
            attributes.push('"');
        }
        let mut new: Vec<(&String, &Namespace)> = added.iter().collect();
        new.sort_unstable_by_key(|(prefix, _)| prefix.as_str());
        for (prefix, namespace) in new {
            let colon = if prefix.is_empty() { "" } else { ":" };
            xml.extend([" xmlns", colon, prefix, "=\""]);
            escape(xml, namespace, true);
            xml.push('"');
        }
        xml.push_str(&attributes);

        let holder = element.template_contents().unwrap_or(id);
        let is_html = element.name.ns == ns!(html);
        match self.first_child(holder) {
            Some(child) => {
                xml.push('>');
                let mut scope = declared;
                scope.extend(added);
                scopes.push(scope);
                work.push(Work::End(name));
                work.push(Work::Siblings(child));
            }
            None if is_html && VOID.contains(&&*element.name.local) => xml.push_str(" />"),
            None if is_html => xml.extend(["></", &name, ">"]),
            None => xml.push_str("/>"),
        }
    }
}

/// The namespaces that the element's own `xmlns` attributes declare.
fn declarations(element: &Element) -> Scope {
    let own = element.attributes.iter().filter(|attribute| attribute.name.ns == ns!(xmlns));
    own.filter_map(|attribute| {
        let namespace = Namespace::from(attribute.value.as_str());
        match attribute.name.prefix {
            None if namespace != element.name.ns => None,
            None => Some((String::new(), namespace)),
            Some(_) => Some((attribute.name.local.to_string(), namespace)),
        }
    })
    .collect()
}

/// The element's name as it is written, and the declaration that it needs.
fn element_name(name: &QualName, in_scope: &impl Fn(&str) -> Option<Namespace>, added: &mut Scope) -> String {
    if name.ns == ns!(xml) {
        return format!("xml:{}", name.local);
    }
    let prefix = name.prefix.as_deref().unwrap_or_default();
    let is_known = match in_scope(prefix) {
        Some(namespace) => namespace == name.ns,
        None => prefix.is_empty() && name.ns == ns!(),
    };
    if name.ns == ns!() && !prefix.is_empty() {
        return name.local.to_string();
    }
    if !is_known {
        added.insert(prefix.to_owned(), name.ns.clone());
    }
    qualified_name(name).into_owned()
}

fn attribute_name(name: &QualName, in_scope: &impl Fn(&str) -> Option<Namespace>, added: &mut Scope) -> String {
    if name.ns == ns!() {
        return name.local.to_string();
    }
    if name.ns == ns!(xml) {
        return format!("xml:{}", name.local);
    }
    if name.ns == ns!(xmlns) {
        return if name.prefix.is_some() { format!("xmlns:{}", name.local) } else { name.local.to_string() };
    }
    let holds = |scope: &Scope, prefix: &str| {
        scope.get(prefix).cloned().or_else(|| in_scope(prefix)).map(|namespace| namespace == name.ns)
    };
    let wished = name.prefix.as_deref().filter(|prefix| *prefix != "xmlns");
    let candidates = wished.map(str::to_owned).into_iter().chain((1..).map(|number| format!("ns{number}")));
    for prefix in candidates {
        match holds(added, &prefix) {
            Some(false) => continue,
            Some(true) => {}
            None => {
                added.insert(prefix.clone(), name.ns.clone());
            }
        }
        return format!("{prefix}:{}", name.local);
    }
    name.local.to_string()
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
