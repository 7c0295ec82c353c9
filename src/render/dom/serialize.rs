//! Tree to markup: HTML fragments (HTML §13.3) and XML (DOM Parsing and Serialization §3.2).

mod xml;

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use html5ever::{Namespace, QualName, ns};

use super::attributes::qualified_name;
use super::forms::html_name;
use super::node::{Element, NodeData, NodeId};
use super::tree::Tree;

/// Elements without content and end tag.
const VOID: &[&str] = &[
    "area", "base", "basefont", "bgsound", "br", "col", "embed", "frame", "hr", "img", "input", "keygen", "link",
    "meta", "param", "source", "track", "wbr",
];

/// Elements whose text is written unescaped; also `noscript` if scripting is enabled.
const RAW_TEXT: &[&str] = &["iframe", "noembed", "noframes", "plaintext", "script", "style", "xmp"];

/// Options of `getHTML`.
#[derive(Clone, Debug, Default)]
pub struct HtmlOptions {
    /// Shadow roots that are marked serializable.
    pub serializable_shadow_roots: bool,
    /// These, whether marked or not.
    pub shadow_roots: Vec<NodeId>,
    /// For a reader that must find the nodes again: each form control has its node's number as [`MARK`], and the contents of open shadow
    /// roots are written in their hosts, before the hosts' own children.
    pub marked: bool,
}

/// The attribute with a node's number. It is written first, so it takes precedence over one that the page has written.
pub const MARK: &str = "data-gleaner-node";

/// Elements that have the mark.
const MARKED: &[&str] = &["button", "input", "select", "textarea"];

impl Tree {
    /// `innerHTML`: the contents of the node, including a template's.
    pub fn inner_html(&self, node: NodeId) -> String {
        self.html_with(node, &HtmlOptions::default())
    }

    /// `outerHTML`: the node with its contents.
    pub fn outer_html(&self, node: NodeId) -> String {
        let mut html = String::new();
        self.write_html(&mut html, node, true, &HtmlOptions::default());
        html
    }

    /// `getHTML(options)`.
    pub fn html_with(&self, node: NodeId, options: &HtmlOptions) -> String {
        let mut html = String::new();
        self.write_html(&mut html, node, false, options);
        html
    }

    /// A loop with a stack of pending writes, the next one on top.
    fn write_html(&self, html: &mut String, node: NodeId, with_itself: bool, options: &HtmlOptions) {
        let mut work = Vec::new();
        if with_itself {
            work.push(Work::Node(node));
        } else if !self.element(node).is_some_and(is_void) {
            self.push_content(&mut work, node, options);
        }
        while let Some(next) = work.pop() {
            match next {
                Work::Node(id) => self.write_node(html, id, &mut work, options),
                Work::Siblings(id) => {
                    work.extend(self.next_sibling(id).map(Work::Siblings));
                    self.write_node(html, id, &mut work, options);
                }
                Work::End(name) => html.extend(["</", &name, ">"]),
            }
        }
    }

    /// Pushes the children, after the shadow root if it is requested.
    fn push_content<'a>(&'a self, work: &mut Vec<Work<'a>>, node: NodeId, options: &HtmlOptions) {
        let element = self.element(node);
        let holder = element.and_then(|element| element.template).unwrap_or(node);
        work.extend(self.first_child(holder).map(Work::Siblings));
        let Some(root) = element.and_then(|element| element.shadow) else { return };
        let Some(settings) = self.fragment(root).and_then(|fragment| fragment.shadow()) else { return };
        if options.marked && settings.is_open {
            work.extend(self.first_child(root).map(Work::Siblings));
        } else if (options.serializable_shadow_roots && settings.serializable) || options.shadow_roots.contains(&root) {
            work.push(Work::Node(root));
        }
    }

    fn write_node<'a>(&'a self, html: &mut String, id: NodeId, work: &mut Vec<Work<'a>>, options: &HtmlOptions) {
        match self.data(id) {
            NodeData::Element(element) => {
                let name = tag_name(&element.name);
                html.extend(["<", &name]);
                if options.marked && html_name(element).is_some_and(|name| MARKED.contains(&name)) {
                    html.push_str(&format!(" {MARK}=\"{}\"", id.to_u32()));
                }
                self.write_attributes(html, element);
                html.push('>');
                if !is_void(element) {
                    work.push(Work::End(name));
                    self.push_content(work, id, options);
                }
            }
            NodeData::Text(text) | NodeData::CData(text) => {
                if self.parent(id).is_some_and(|parent| self.holds_raw_text(parent)) {
                    html.push_str(text);
                } else {
                    escape(html, text, false);
                }
            }
            NodeData::Comment(data) => html.extend(["<!--", data, "-->"]),
            NodeData::Instruction(data) => html.extend(["<?", &data.target, " ", &data.data, ">"]),
            NodeData::DocumentType(doctype) => html.extend(["<!DOCTYPE ", &doctype.name, ">"]),
            NodeData::Fragment(fragment) => {
                if let Some(shadow) = fragment.shadow() {
                    let mode = if shadow.is_open { "open" } else { "closed" };
                    html.extend(["<template shadowrootmode=\"", mode, "\""]);
                    for (is_set, name) in [
                        (shadow.delegates_focus, "shadowrootdelegatesfocus"),
                        (shadow.serializable, "shadowrootserializable"),
                        (shadow.clonable, "shadowrootclonable"),
                    ] {
                        if is_set {
                            html.extend([" ", name, "=\"\""]);
                        }
                    }
                    html.push('>');
                    work.push(Work::End("template".into()));
                }
                work.extend(self.first_child(id).map(Work::Siblings));
            }
            NodeData::Document(_) => work.extend(self.first_child(id).map(Work::Siblings)),
            NodeData::Attr(_) | NodeData::Vacant => {}
        }
    }

    fn write_attributes(&self, html: &mut String, element: &Element) {
        if let Some(is) = element.is_value()
            && !element.attributes.iter().any(|attribute| &*attribute.name.local == "is" && attribute.name.ns == ns!())
        {
            html.push_str(" is=\"");
            escape(html, is, true);
            html.push('"');
        }
        for attribute in &element.attributes {
            html.extend([" ", &attribute_name(&attribute.name), "=\""]);
            escape(html, &attribute.value, true);
            html.push('"');
        }
    }

    fn holds_raw_text(&self, id: NodeId) -> bool {
        let name = self.element(id).and_then(html_name);
        name.is_some_and(|name| {
            RAW_TEXT.contains(&name)
                || (name == "noscript"
                    && self.document_data(self.document_of(id)).is_some_and(|document| document.scripting))
        })
    }
}

enum Work<'a> {
    Node(NodeId),
    /// A node and its following siblings.
    Siblings(NodeId),
    End(Cow<'a, str>),
}

fn is_void(element: &Element) -> bool {
    html_name(element).is_some_and(|name| VOID.contains(&name))
}

/// HTML, MathML and SVG elements are written without a prefix.
fn tag_name(name: &QualName) -> Cow<'_, str> {
    if [ns!(html), ns!(mathml), ns!(svg)].contains(&name.ns) {
        Cow::Borrowed(&name.local)
    } else {
        qualified_name(name)
    }
}

fn attribute_name(name: &QualName) -> Cow<'_, str> {
    let is_in = |namespace: Namespace| name.ns == namespace;
    match &*name.local {
        local if is_in(ns!()) => Cow::Borrowed(local),
        local if is_in(ns!(xml)) => Cow::Owned(format!("xml:{local}")),
        "xmlns" if is_in(ns!(xmlns)) => Cow::Borrowed("xmlns"),
        local if is_in(ns!(xmlns)) => Cow::Owned(format!("xmlns:{local}")),
        local if is_in(ns!(xlink)) => Cow::Owned(format!("xlink:{local}")),
        _ => qualified_name(name),
    }
}

/// "Escaping a string" (HTML §13.3).
fn escape(html: &mut String, text: &str, in_attribute: bool) {
    let mut rest = text;
    while let Some(at) = rest.find(['&', '<', '>', '"', '\u{A0}']) {
        let (before, special) = rest.split_at(at);
        html.push_str(before);
        let character = special.chars().next().unwrap_or_default();
        html.push_str(match character {
            '&' => "&amp;",
            '<' => "&lt;",
            '>' => "&gt;",
            '\u{A0}' => "&nbsp;",
            _ if in_attribute => "&quot;",
            _ => "\"",
        });
        rest = &special[character.len_utf8()..];
    }
    html.push_str(rest);
}
