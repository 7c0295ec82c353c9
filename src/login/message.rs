//! Messages of a page beside its forms, verbatim. A site's words of rejection may be in none of our lists; the
//! operator then gets the message itself.

use std::collections::HashSet;

use ego_tree::{NodeId, NodeRef};
use scraper::Node;
use scraper::node::Element;

use crate::limits::{MESSAGE_BYTES_MAX, MESSAGES_PER_PAGE_MAX};

/// One text of a page: a block without fields, or the text between two fields.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    text: Box<str>,
    /// Number of forms that start before it, an enclosing one included.
    forms: usize,
    /// The page's markup calls it an error, an alert or a message.
    is_marked: bool,
    is_heading: bool,
}

/// The texts of a page in order, at most `limits::MESSAGES_PER_PAGE_MAX`.
pub(super) fn of_tree(root: NodeRef<'_, Node>) -> Vec<Message> {
    let (mut messages, mut forms, mut seen) = (Vec::new(), 0, HashSet::new());
    let with_fields = with_fields(root);
    for node in root.descendants() {
        if is_named(&node, &["form"]) {
            forms += 1;
        }
        let Node::Text(text) = node.value() else { continue };
        if messages.len() >= MESSAGES_PER_PAGE_MAX {
            break;
        }
        if !text.chars().any(char::is_alphabetic) || node.ancestors().any(|of| is_named(&of, NO_MESSAGES)) {
            continue;
        }
        let mut top = node;
        while let Some(parent) = top.parent().filter(|parent| is_named(parent, WITHIN_A_LINE)) {
            top = parent;
        }
        let is_block = |block: &NodeRef<'_, Node>| block.value().is_element() && !with_fields.contains(&block.id());
        let block = top.parent().filter(is_block).unwrap_or(top);
        if !seen.insert(block.id()) {
            continue;
        }
        let Some(text) = text_of(block) else { continue };
        let around = || std::iter::once(block).chain(block.ancestors());
        let is_marked = around().take_while(|of| !is_named(of, &["form", "body"])).any(|of| is_marked(&of));
        let is_heading = around().any(|of| is_named(&of, HEADINGS));
        messages.push(Message { text: text.into(), forms, is_marked, is_heading });
    }
    messages
}

/// Fields and elements that contain one.
fn with_fields(root: NodeRef<'_, Node>) -> HashSet<NodeId> {
    let mut with = HashSet::new();
    for field in root.descendants().filter(|of| is_named(of, &["form", "input", "button"])) {
        // All ancestors of a known element are known.
        let _ = std::iter::once(field).chain(field.ancestors()).all(|of| with.insert(of.id()));
    }
    with
}

/// The text nearest to a form, by index, that was not on the previous page; marked messages come first.
pub(super) fn nearest<'a>(messages: &'a [Message], form: usize, before: &[Message]) -> Option<&'a str> {
    let is_new = |message: &&Message| before.iter().all(|known| known.text != message.text);
    let in_front = messages.iter().rev().filter(|message| message.forms == form);
    let within_or_behind = messages.iter().filter(|message| message.forms == form + 1);
    let near = || in_front.clone().chain(within_or_behind.clone()).filter(is_new);
    let marked = messages.iter().filter(is_new).find(|message| message.is_marked && message.forms <= form + 1);
    let found = near()
        .find(|message| message.is_marked)
        .or(marked)
        .or_else(|| near().find(|of| !of.is_heading && !of.text.ends_with(':')));
    found.map(|message| &*message.text)
}

/// All texts near a form, or marked as messages before it, that were not on the previous page.
pub(super) fn all<'a>(messages: &'a [Message], form: usize, before: &'a [Message]) -> impl Iterator<Item = &'a str> {
    let is_new = |message: &&Message| before.iter().all(|known| known.text != message.text);
    let is_near = move |message: &&Message| {
        let is_beside = message.forms == form || message.forms == form + 1;
        let is_label = message.is_heading || message.text.ends_with(':');
        message.forms <= form + 1 && message.is_marked || is_beside && !is_label
    };
    messages.iter().filter(is_near).filter(is_new).map(|message| &*message.text)
}

/// All texts.
pub(super) fn texts(messages: &[Message]) -> impl Iterator<Item = &str> {
    messages.iter().map(|message| &*message.text)
}

/// Headings before and in a form that were not on the previous page.
pub(super) fn headings<'a>(
    messages: &'a [Message],
    form: usize,
    before: &'a [Message],
) -> impl Iterator<Item = &'a str> {
    let is_new = |message: &&Message| before.iter().all(|known| known.text != message.text);
    messages.iter().filter(move |of| of.is_heading && of.forms <= form + 1).filter(is_new).map(|of| &*of.text)
}

/// The first text of a page; marked messages come first.
pub(super) fn first(messages: &[Message]) -> Option<&str> {
    let found = messages.iter().find(|of| of.is_marked).or_else(|| messages.iter().find(|of| !of.is_heading));
    found.or_else(|| messages.first()).map(|message| &*message.text)
}

/// The visible text of a page, one line per block, up to `bytes_max`.
pub(super) fn said(root: NodeRef<'_, Node>, bytes_max: usize) -> String {
    let (mut said, mut last) = (String::new(), None);
    for node in root.descendants() {
        if is_named(&node, &["br"]) {
            last = None;
        }
        let Node::Text(text) = node.value() else { continue };
        if text.trim().is_empty() || node.ancestors().any(|of| is_named(&of, NOT_SAID)) {
            continue;
        }
        let block = node.ancestors().find(|of| !is_named(of, WITHIN_A_LINE)).map(|of| of.id());
        said.push(if last == block && block.is_some() { ' ' } else { '\n' });
        last = block;
        for (at, word) in text.split_whitespace().enumerate() {
            if said.len() + word.len() >= bytes_max {
                return said;
            }
            said.extend((at > 0).then_some(' '));
            said.push_str(word);
        }
    }
    said
}

/// Elements without message text: titles, buttons, links, and hidden elements.
const NOT_SAID: &[&str] =
    &["script", "style", "head", "title", "template", "option", "textarea", "button", "a", "nav", "noscript"];

/// Elements whose text is never a message: pressed, typed, chosen, or hidden.
const NO_MESSAGES: &[&str] =
    &["script", "style", "head", "title", "template", "option", "textarea", "button", "label", "a", "noscript"];

const HEADINGS: &[&str] = &["h1", "h2", "h3", "h4", "h5", "h6", "legend", "th"];

const WITHIN_A_LINE: &[&str] = &["b", "i", "u", "em", "strong", "span", "font", "small", "big", "code", "tt", "mark"];

fn is_named(node: &NodeRef<'_, Node>, names: &[&str]) -> bool {
    node.value().as_element().is_some_and(|element| names.contains(&element.name()))
}

fn is_marked(node: &NodeRef<'_, Node>) -> bool {
    const WORDS: [&str; 9] = ["error", "alert", "warn", "fail", "invalid", "message", "notice", "flash", "danger"];
    let says = |element: &Element, name: &str| {
        let text = element.attr(name).unwrap_or_default().to_ascii_lowercase();
        WORDS.iter().any(|word| text.contains(word))
    };
    node.value().as_element().is_some_and(|element| ["class", "id", "role"].iter().any(|name| says(element, name)))
}

/// The text of a block, with single spaces where it has white space: punctuation stays attached. None if longer than
/// `limits::MESSAGE_BYTES_MAX`: it is no message, and a secret could not be masked at the cut.
fn text_of(block: NodeRef<'_, Node>) -> Option<String> {
    let mut text = String::new();
    let mut is_apart = false;
    for node in block.descendants() {
        match node.value() {
            Node::Text(of) => {
                for (at, word) in of.split(char::is_whitespace).enumerate() {
                    is_apart |= at > 0;
                    if !word.is_empty() {
                        if std::mem::take(&mut is_apart) && !text.is_empty() {
                            text.push(' ');
                        }
                        text.push_str(word);
                    }
                    if text.len() > MESSAGE_BYTES_MAX {
                        return None;
                    }
                }
            }
            Node::Element(element) if element.name() == "br" => is_apart = true,
            _ => {}
        }
    }
    Some(text)
}

#[cfg(test)]
mod tests;
