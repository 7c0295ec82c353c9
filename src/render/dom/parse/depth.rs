//! Caps the stack of open elements.
//!
//! Chromium inserts an element as a sibling once 512 elements are open. html5ever's stack has no cap, and since it searches the stack at
//! each tag, a megabyte of `<div>` takes minutes. This adapter is between the tokenizer and the tree builder: before a start tag that
//! would nest too deep it sends the end tag of the previous such element, and it swallows the end tags of elements closed that way.

use std::cell::{Cell, RefCell};

use html5ever::LocalName;
use html5ever::tokenizer::{EndTag, StartTag, Tag, TagToken, Token, TokenSink, TokenSinkResult};
use html5ever::tree_builder::{Tracer, TreeBuilder};

use crate::dom::node::NodeId;
use crate::limits;

use super::sink::Sink;

/// Elements created after which the depth is counted again while it is at the cap: a count costs as much as the cap.
const RECOUNT: usize = 64;

/// HTML start tags that open nothing, or nothing that can contain other tags.
const FLAT: &[&str] = &[
    "area", "base", "basefont", "bgsound", "body", "br", "col", "embed", "frame", "frameset", "head", "hr", "html",
    "iframe", "image", "img", "input", "keygen", "link", "meta", "noembed", "noframes", "param", "script", "source",
    "style", "textarea", "title", "track", "wbr", "xmp",
];

pub(super) struct Shallow {
    pub(super) builder: TreeBuilder<NodeId, Sink>,
    depth: RefCell<Depth>,
    is_full: Cell<bool>,
    line: Cell<u64>,
}

/// The depth of the builder's stack, and the elements that would be open beyond the cap.
#[derive(Default)]
struct Depth {
    /// The last count, and the number of elements created by then: each one created since may be open.
    counted: usize,
    made: usize,
    is_stale: bool,
    /// Elements that the markup has open beyond the cap, outermost first.
    beyond: Vec<LocalName>,
    /// The one of them that the builder has open.
    open: Option<LocalName>,
}

impl Depth {
    fn at_most(&self, made: usize) -> usize {
        self.counted + (made - self.made)
    }
}

impl Shallow {
    pub(super) fn new(builder: TreeBuilder<NodeId, Sink>) -> Self {
        Self { builder, depth: RefCell::default(), is_full: Cell::new(false), line: Cell::new(1) }
    }

    pub(super) fn is_full(&self) -> bool {
        self.is_full.get()
    }

    /// All nodes that the builder holds.
    pub(super) fn handles(&self) -> Vec<NodeId> {
        let tracer = Handles::default();
        self.builder.trace_handles(&tracer);
        tracer.0.into_inner()
    }

    /// An upper bound of the open elements: the builder reports its formatting elements together with its stack.
    fn count_open(&self) -> usize {
        let mut handles = self.handles();
        if handles.len() >= limits::DOM_PARSED_DEPTH_MAX {
            handles.sort_unstable();
            handles.dedup();
        }
        handles.len()
    }

    /// Makes room for a start tag; false if there is none.
    fn before_start(&self, tag: &Tag) -> bool {
        let depth = &mut *self.depth.borrow_mut();
        let made = self.builder.sink.created();
        if depth.at_most(made) < limits::DOM_PARSED_DEPTH_MAX || self.is_flat(tag) {
            return true;
        }
        let was_below = depth.counted < limits::DOM_PARSED_DEPTH_MAX;
        if was_below || depth.is_stale || made - depth.made >= RECOUNT {
            (depth.counted, depth.made, depth.is_stale) = (self.count_open(), made, false);
        }
        if depth.counted < limits::DOM_PARSED_DEPTH_MAX {
            depth.beyond.clear();
            depth.open = None;
            return true;
        }
        if let Some(open) = depth.open.take() {
            let _ = self.builder.process_token(TagToken(end_tag(open)), self.line.get());
        }
        depth.beyond.push(tag.name.clone());
        depth.open = Some(tag.name.clone());
        // Real pages have no tags that stay open despite their end tags.
        depth.counted < 2 * limits::DOM_PARSED_DEPTH_MAX
    }

    /// In foreign content any tag nests.
    fn is_flat(&self, tag: &Tag) -> bool {
        FLAT.contains(&&*tag.name) && !self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }

    /// The end tag to send instead.
    fn instead_of_end(&self, tag: Tag) -> Option<Tag> {
        let depth = &mut *self.depth.borrow_mut();
        if depth.beyond.is_empty() {
            return Some(tag);
        }
        let near = depth.beyond.len().saturating_sub(limits::DOM_PARSED_DEPTH_MAX);
        match depth.beyond[near..].iter().rposition(|name| *name == tag.name) {
            Some(place) => {
                depth.beyond.truncate(near + place);
                depth.open.take().map(end_tag)
            }
            None => {
                depth.is_stale = true;
                Some(tag)
            }
        }
    }
}

impl TokenSink for Shallow {
    type Handle = NodeId;

    fn process_token(&self, token: Token, line_number: u64) -> TokenSinkResult<NodeId> {
        self.line.set(line_number);
        if self.is_full.get() || self.builder.sink.tree().is_full() {
            self.is_full.set(true);
            return TokenSinkResult::Continue;
        }
        let token = match token {
            TagToken(tag) if tag.kind == StartTag => {
                if !self.before_start(&tag) {
                    return TokenSinkResult::Continue;
                }
                TagToken(tag)
            }
            TagToken(tag) => match self.instead_of_end(tag) {
                Some(tag) => TagToken(tag),
                None => return TokenSinkResult::Continue,
            },
            token => token,
        };
        self.builder.process_token(token, line_number)
    }

    fn end(&self) {
        self.builder.end();
    }

    fn adjusted_current_node_present_but_not_in_html_namespace(&self) -> bool {
        self.builder.adjusted_current_node_present_but_not_in_html_namespace()
    }
}

fn end_tag(name: LocalName) -> Tag {
    Tag { kind: EndTag, name, self_closing: false, attrs: Vec::new(), had_duplicate_attributes: false }
}

#[derive(Default)]
struct Handles(RefCell<Vec<NodeId>>);

impl Tracer for Handles {
    type Handle = NodeId;

    fn trace_handle(&self, node: &NodeId) {
        self.0.borrow_mut().push(*node);
    }
}
