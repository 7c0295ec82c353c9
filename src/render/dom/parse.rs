//! The HTML parser (HTML §13.2): html5ever builds the tree in pieces, with scripts running in between.
//!
//! ```text
//! feed(text) → Script(node)   the engine runs it, and meanwhile perhaps:
//!                write(text) → Script(node) …, resume_write() → Done
//!              feed("") → … → Done, finish()
//! ```
//!
//! Each call borrows the tree, since scripts change it between calls. An active parser holds nodes that nothing else may reach:
//! [`Parser::roots`] reports them to the sweep.

mod depth;
mod sink;

#[cfg(test)]
mod tests;

use html5ever::TokenizerResult;
use html5ever::buffer_queue::BufferQueue;
use html5ever::interface::QuirksMode;
use html5ever::local_name;
use html5ever::tendril::StrTendril;
use html5ever::tokenizer::{Tokenizer, TokenizerOpts};
use html5ever::tree_builder::{TreeBuilder, TreeBuilderOpts};

use self::depth::Shallow;
use self::sink::Sink;
use super::Error;
use super::node::{Document, NodeData, NodeId};
use super::tree::Tree;

/// Where the parser stopped.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Step {
    /// At the end of a script element, which must run before the parser continues.
    Script(NodeId),
    /// At the end of the text.
    Done,
}

/// A parser of one document, paused between two pieces of its markup.
pub struct Parser {
    tokenizer: Tokenizer<Shallow>,
    /// Input from the network.
    fed: BufferQueue,
    /// Input of `document.write`, read before `fed`; the innermost call is last.
    written: Vec<BufferQueue>,
    is_finished: bool,
}

impl Parser {
    /// A parser that fills an empty document. The document decides whether scripts run, and with it how `<noscript>` is parsed.
    pub fn new(tree: &mut Tree, document: NodeId) -> Self {
        let scripting = tree.document_data(document).is_some_and(|data| data.scripting);
        let sink = Sink::new(std::mem::take(tree), document, document, false);
        let options = TreeBuilderOpts { scripting_enabled: scripting, ..TreeBuilderOpts::default() };
        let parser = Self::of_builder(TreeBuilder::new(sink, options), TokenizerOpts::default());
        parser.sink().swap_tree(tree);
        parser
    }

    fn of_builder(builder: TreeBuilder<NodeId, Sink>, options: TokenizerOpts) -> Self {
        let tokenizer = Tokenizer::new(Shallow::new(builder), options);
        Self { tokenizer, fed: BufferQueue::default(), written: Vec::new(), is_finished: false }
    }

    fn sink(&self) -> &Sink {
        &self.tokenizer.sink.builder.sink
    }

    /// Adds text from the network and continues; pending `document.write` text is read first.
    ///
    /// # Errors
    /// [`Error::Full`] once the document has reached the caps of `limits.rs`; the rest of the markup is then lost.
    pub fn feed(&mut self, tree: &mut Tree, text: &str) -> Result<Step, Error> {
        self.fed.push_back(StrTendril::from(text));
        self.run(tree, None)
    }

    /// `document.write(text)` while a script that this parser returned runs: the text is parsed at once, before the remaining input, up
    /// to the first script in it.
    pub fn write(&mut self, tree: &mut Tree, text: &str) -> Result<Step, Error> {
        let queue = BufferQueue::default();
        queue.push_back(StrTendril::from(text));
        self.written.push(queue);
        self.resume_write(tree)
    }

    /// Continues the innermost write after the script at which it stopped has run. A write whose script is still being fetched is
    /// continued by the next `feed`.
    pub fn resume_write(&mut self, tree: &mut Tree) -> Result<Step, Error> {
        let around = self.written.len().saturating_sub(1);
        self.run(tree, Some(around))
    }

    /// Parses until only `keep` written texts are left, or everything.
    fn run(&mut self, tree: &mut Tree, keep: Option<usize>) -> Result<Step, Error> {
        self.sink().swap_tree(tree);
        let step = loop {
            if keep == Some(self.written.len()) {
                break Step::Done;
            }
            let queue = self.written.last().unwrap_or(&self.fed);
            match self.tokenizer.feed(queue) {
                TokenizerResult::Script(node) => break Step::Script(node),
                TokenizerResult::EncodingIndicator(_) => {}
                TokenizerResult::Done if self.written.is_empty() => break Step::Done,
                TokenizerResult::Done => self.leave_write(),
            }
        };
        self.sink().swap_tree(tree);
        if self.tokenizer.sink.is_full() { Err(Error::Full) } else { Ok(step) }
    }

    /// Input that the tokenizer still needs is moved before the text around it.
    fn leave_write(&mut self) {
        let Some(queue) = self.written.pop() else {
            return;
        };
        let around = self.written.last().unwrap_or(&self.fed);
        let rest: Vec<StrTendril> = std::iter::from_fn(|| queue.pop_front()).collect();
        for piece in rest.into_iter().rev() {
            around.push_front(piece);
        }
    }

    /// The end of the markup: closes open elements. Later calls do nothing.
    pub fn finish(&mut self, tree: &mut Tree) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_finished, true) {
            return Ok(());
        }
        self.run(tree, None)?;
        self.sink().swap_tree(tree);
        self.tokenizer.end();
        self.sink().swap_tree(tree);
        Ok(())
    }

    /// Whether a script's `document.write` would go to this parser.
    pub fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Bytes fed but not yet parsed.
    pub fn unread(&self) -> usize {
        let rest: Vec<StrTendril> = std::iter::from_fn(|| self.fed.pop_front()).collect();
        let bytes = rest.iter().map(|piece| piece.len()).sum();
        rest.into_iter().rev().for_each(|piece| self.fed.push_front(piece));
        bytes
    }

    /// The nodes that the parser holds.
    pub fn roots(&self) -> Vec<NodeId> {
        self.tokenizer.sink.handles()
    }
}

/// Parsing whole documents and fragments at once.
impl Tree {
    /// Parses a document whose scripts never run, as `Document.parseHTMLUnsafe` does.
    pub fn parse_document(&mut self, markup: &str) -> Result<NodeId, Error> {
        self.parse_document_with(markup, true)
    }

    /// [`Tree::parse_document`]; without `shadow_roots`, as in `DOMParser`, `<template shadowrootmode>` stays a template.
    pub fn parse_document_with(&mut self, markup: &str, shadow_roots: bool) -> Result<NodeId, Error> {
        let document = self.create_document(true)?;
        // No observer exists for nodes that no script has seen.
        let mut log = None;
        self.swap_log(&mut log);
        let result = self.parse_into(document, markup, shadow_roots);
        self.swap_log(&mut log);
        result.map(|()| document)
    }

    fn parse_into(&mut self, document: NodeId, markup: &str, shadow_roots: bool) -> Result<(), Error> {
        let mut parser = Parser::new(self, document);
        parser.sink().allow_shadow_roots(shadow_roots);
        let mut step = parser.feed(self, markup)?;
        while let Step::Script(script) = step {
            if let Some(state) = self.state_mut(script) {
                state.already_started = true;
            }
            step = parser.feed(self, "")?;
        }
        parser.finish(self)
    }

    /// The HTML fragment parsing algorithm (HTML §13.4), used by `innerHTML` and similar properties. Returns a fragment of the element's
    /// document; its scripts will not run.
    ///
    /// # Errors
    /// [`Error::NotSupported`] if the context is not an element, [`Error::Full`].
    pub fn parse_fragment(&mut self, context: NodeId, markup: &str) -> Result<NodeId, Error> {
        self.parse_fragment_with(context, markup, false)
    }

    /// [`Tree::parse_fragment`]; with `shadow_roots`, as in `setHTMLUnsafe`, `<template shadowrootmode>` creates shadow roots.
    pub fn parse_fragment_with(&mut self, context: NodeId, markup: &str, shadow_roots: bool) -> Result<NodeId, Error> {
        if !self.is_element(context) {
            return Err(Error::NotSupported);
        }
        // No observer exists for nodes that no script has seen.
        let mut log = None;
        self.swap_log(&mut log);
        let fragment = self.parse_fragment_unobserved(context, markup, shadow_roots);
        self.swap_log(&mut log);
        fragment
    }

    fn parse_fragment_unobserved(
        &mut self,
        context: NodeId,
        markup: &str,
        shadow_roots: bool,
    ) -> Result<NodeId, Error> {
        let owner = self.document_of(context);
        let fragment = self.create_fragment(owner)?;
        let (scripting, quirks) = match self.document_data(owner) {
            Some(data) => (data.scripting, data.quirks),
            None => (false, QuirksMode::NoQuirks),
        };
        let of_its_own = Document {
            is_html: true,
            quirks,
            content_type: "text/html",
            encoding: "UTF-8",
            scripting,
            inert: Some(owner),
        };
        // Nodes parsed into it belong to the owner from the start.
        let document = self.place(NodeData::Document(Box::new(of_its_own)), Some(owner));
        let is_form = |id: &NodeId| self.element(*id).is_some_and(|element| element.is_html(&local_name!("form")));
        let form = self.inclusive_ancestors(context).find(is_form);

        let sink = Sink::new(std::mem::take(self), document, owner, true);
        sink.allow_shadow_roots(shadow_roots);
        let options =
            TreeBuilderOpts { scripting_enabled: scripting, quirks_mode: quirks, ..TreeBuilderOpts::default() };
        let builder = TreeBuilder::new_for_fragment(sink, context, form, options);
        let options = TokenizerOpts {
            initial_state: Some(builder.tokenizer_state_for_context_elem(scripting)),
            discard_bom: false,
            ..TokenizerOpts::default()
        };
        let mut parser = Parser::of_builder(builder, options);
        parser.sink().swap_tree(self);

        let mut step = parser.feed(self, markup);
        while let Ok(Step::Script(_)) = step {
            step = parser.feed(self, "");
        }
        let end = parser.finish(self);
        let root = self.document_element(document);
        for child in root.map(|root| self.children(root).collect::<Vec<_>>()).unwrap_or_default() {
            self.unlink(child);
            self.link(fragment, child, None);
        }
        for scaffold in root.into_iter().chain([document]) {
            self.unlink(scaffold);
            self.vacate(scaffold);
        }
        step.and(end).map(|()| fragment)
    }
}

impl std::fmt::Debug for Parser {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Parser").field("is_finished", &self.is_finished).finish()
    }
}
