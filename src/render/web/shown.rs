//! The text of a page roughly as laid out: blocks as lines, table rows with their cells side by side, lists with their markers, controls
//! in brackets. Elements that are hidden by their kind or their own attributes are omitted; style sheets are ignored.

use std::collections::HashSet;

use html5ever::{LocalName, local_name};

use super::cssom_view::layout::{Flow, flow_of};
use super::html::load::Window;
use super::html::values;
use super::{own_document, read};
use crate::dom::{NodeData, NodeId, Tree};
use crate::limits;

/// Maximum indentation level of nested lists, and columns per level.
const INDENTS: usize = 8;
const INDENT: usize = 2;

impl Window {
    /// The document's text as rendered, cut at `limits::RENDER_BODY_BYTES_MAX` bytes.
    pub fn shown_text(&mut self) -> String {
        let text = self.engine.look(|context| {
            let document = own_document(context);
            read(context, |tree| shown(tree, document))
        });
        text.unwrap_or_default()
    }
}

/// The stack of pending steps.
enum Step {
    Enter(NodeId),
    Leave(NodeId),
}

fn shown(tree: &Tree, document: NodeId) -> String {
    let mut paper = Paper { layouts: layouts(tree, document), ..Paper::default() };
    let mut steps = vec![Step::Enter(document)];
    while let Some(step) = steps.pop() {
        if paper.text.len() > limits::RENDER_BODY_BYTES_MAX {
            break;
        }
        match step {
            Step::Leave(id) => paper.leave(tree, id),
            Step::Enter(id) => {
                if paper.enter(tree, id) {
                    steps.push(Step::Leave(id));
                    steps.extend(children(tree, id).into_iter().rev().map(Step::Enter));
                }
            }
        }
    }
    paper.end_line();
    paper.text
}

/// The rendered children of a node: a shadow tree instead of the host's children, slotted nodes instead of a slot.
fn children(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    if let Some(root) = tree.element(id).and_then(|element| element.shadow_root()) {
        return tree.children(root).collect();
    }
    let assigned = tree.assigned_nodes(id);
    if assigned.is_empty() { tree.children(id).collect() } else { assigned }
}

/// Rows and cells that contain tables: they lay out a page, and their contents are stacked.
fn layouts(tree: &Tree, document: NodeId) -> HashSet<NodeId> {
    let is = |id: NodeId, name: &str| tree.element(id).is_some_and(|element| &*element.name().local == name);
    let mut found = HashSet::new();
    for table in tree.descendants(document).filter(|id| is(*id, "table")) {
        // If a cell is known, the ones above it are too.
        let cells = tree.ancestors(table).filter(|above| ["td", "th", "tr"].iter().any(|name| is(*above, name)));
        for cell in cells {
            if !found.insert(cell) {
                break;
            }
        }
    }
    found
}

/// The finished lines, and the current one.
#[derive(Default)]
struct Paper {
    text: String,
    line: String,
    /// A space is due before the next word.
    gap: bool,
    /// A blank line is due before the next line.
    free: bool,
    /// Markers and numbers of the open lists.
    lists: Vec<Option<u32>>,
    /// Open rows with their numbers of cells so far: the content of their cells stays on one line.
    rows: Vec<u32>,
    preformatted: u32,
    layouts: HashSet<NodeId>,
}

impl Paper {
    /// Writes what precedes a node's content; false if the content is not rendered.
    fn enter(&mut self, tree: &Tree, id: NodeId) -> bool {
        let element = match tree.data(id) {
            NodeData::Text(text) | NodeData::CData(text) => {
                self.write(text);
                return false;
            }
            NodeData::Document(_) | NodeData::Fragment(_) => return true,
            NodeData::Element(element) => element,
            _ => return false,
        };
        let flow = flow_of(tree, id);
        if flow == Flow::Hidden {
            return false;
        }
        let local = &*element.name().local;
        let is_of_data = !self.layouts.contains(&id);
        if flow == Flow::Row && is_of_data {
            self.break_line();
            self.rows.push(0);
        } else if let (Flow::Cell, true, Some(cells)) = (flow, is_of_data, self.rows.last_mut()) {
            *cells += 1;
            if *cells > 1 {
                self.word(" | ");
            }
        } else if flow != Flow::Inline {
            self.break_line();
            self.set_apart(local);
        }
        match local {
            "br" => self.break_line(),
            "hr" => self.word("----"),
            "ul" | "menu" => self.lists.push(None),
            "ol" => self.lists.push(Some(0)),
            "li" => self.item(),
            "pre" => self.preformatted += 1,
            "img" => self.bracketed(element.attribute(&local_name!("alt")).unwrap_or_default()),
            "input" => self.bracketed(&of_input(tree, id)),
            "button" => {
                let named = || element.attribute(&LocalName::from("aria-label")).unwrap_or_default().to_owned();
                let text = tree.text_content(id).filter(|text| !text.trim().is_empty());
                self.bracketed(&text.unwrap_or_else(named));
            }
            "select" => {
                let chosen = tree.descendants(id).find(|option| is_chosen(tree, *option));
                let chosen = chosen.or_else(|| tree.descendants(id).find(|option| is_option(tree, *option)));
                self.bracketed(&chosen.and_then(|option| tree.text_content(option)).unwrap_or_default());
            }
            _ => {}
        }
        !matches!(local, "button" | "select" | "svg" | "canvas" | "video" | "audio" | "iframe" | "object")
    }

    /// Writes what follows a node's content.
    fn leave(&mut self, tree: &Tree, id: NodeId) {
        let Some(element) = tree.element(id) else { return };
        let local = &*element.name().local;
        match local {
            "ul" | "menu" | "ol" => drop(self.lists.pop()),
            "pre" => self.preformatted = self.preformatted.saturating_sub(1),
            _ => {}
        }
        match flow_of(tree, id) {
            Flow::Inline | Flow::Hidden => {}
            Flow::Row => {
                if !self.layouts.contains(&id) {
                    self.rows.pop();
                }
                self.break_line();
            }
            Flow::Block | Flow::Cell => {
                self.break_line();
                self.set_apart(local);
            }
        }
    }

    /// Adds a blank line before or after an element with margins.
    fn set_apart(&mut self, local: &str) {
        self.free |= is_apart(local) && self.rows.is_empty() && self.lists.is_empty();
    }

    /// Writes text, with whitespace collapsed unless it is preserved.
    fn write(&mut self, text: &str) {
        if self.preformatted > 0 && self.rows.is_empty() {
            for (at, line) in text.split('\n').enumerate() {
                if at > 0 {
                    self.end_line();
                }
                self.line.push_str(line);
            }
            return;
        }
        self.gap |= text.starts_with(|c: char| c.is_ascii_whitespace());
        for (at, word) in text.split_ascii_whitespace().enumerate() {
            self.gap |= at > 0;
            self.word(word);
        }
        self.gap |= text.ends_with(|c: char| c.is_ascii_whitespace());
    }

    fn word(&mut self, word: &str) {
        if std::mem::take(&mut self.gap) && !self.line.is_empty() && !self.line.ends_with(' ') {
            self.line.push(' ');
        }
        self.line.push_str(if self.line.ends_with(' ') { word.trim_start() } else { word });
    }

    fn bracketed(&mut self, text: &str) {
        let text = text.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        if !text.is_empty() {
            self.word(&format!("[{text}]"));
        }
    }

    /// Writes the marker of a list item.
    fn item(&mut self) {
        let deep = self.lists.len().saturating_sub(1).min(INDENTS);
        let mark = match self.lists.last_mut() {
            Some(Some(number)) => {
                *number += 1;
                format!("{number}. ")
            }
            _ => "- ".to_owned(),
        };
        if self.rows.is_empty() {
            self.line.push_str(&" ".repeat(deep * INDENT));
        }
        self.word(&mark);
    }

    /// Ends the line, or the part of it in a cell.
    fn break_line(&mut self) {
        if self.rows.is_empty() {
            self.end_line();
        } else {
            self.gap = true;
        }
    }

    fn end_line(&mut self) {
        self.gap = false;
        let line = self.line.trim_end();
        if line.is_empty() {
            self.line.clear();
            return;
        }
        if std::mem::take(&mut self.free) && !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.extend([line, "\n"]);
        self.line.clear();
    }
}

/// Elements with a blank line above and below.
fn is_apart(local: &str) -> bool {
    matches!(
        local,
        "p" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "table" | "ul" | "ol" | "form" | "pre" | "blockquote"
    )
}

fn is_option(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| element.is_html(&local_name!("option")))
}

fn is_chosen(tree: &Tree, id: NodeId) -> bool {
    is_option(tree, id)
        && tree.element(id).is_some_and(|option| {
            option.state.checked.unwrap_or_else(|| option.attribute(&local_name!("selected")).is_some())
        })
}

/// The rendered text of an input: its value, its placeholder, or its marker.
fn of_input(tree: &Tree, id: NodeId) -> String {
    match values::kind(tree, id) {
        "hidden" => String::new(),
        "checkbox" | "radio" => if tree.is_checked(id) { "x" } else { "_" }.to_owned(),
        "image" => tree.attribute(id, &local_name!("alt")).unwrap_or_default().to_owned(),
        "password" => "…".to_owned(),
        _ => {
            let value = values::of_input(tree, id);
            let stands_in = || tree.attribute(id, &local_name!("placeholder")).unwrap_or_default().to_owned();
            if value.is_empty() { stands_in() } else { value }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dom::Parser;

    fn of_markup(markup: &str) -> String {
        let mut tree = Tree::new();
        let document = tree.create_document(true).unwrap();
        let mut parser = Parser::new(&mut tree, document);
        parser.feed(&mut tree, markup).unwrap();
        parser.finish(&mut tree).unwrap();
        shown(&tree, document)
    }

    #[test]
    fn blocks_are_lines_and_what_is_hidden_is_left_out() {
        let markup = "<title>no</title><h1>A  list</h1><div>one <b>two</b>\n three<br>four</div><script>no()</script>
            <p hidden>no</p><p style='color:red; display: none'>no</p><p>five</p><!-- no --><pre>a\n  b</pre>";
        assert_eq!(of_markup(markup), "A list\n\none two three\nfour\n\nfive\n\na\n  b\n");
    }

    #[test]
    fn rows_lists_and_controls_are_told_as_they_stand() {
        let markup = "<table><tr><th>name<th>size<tr><td><div>x</div><div>y</div><td>5&nbsp;MB</table>
            <ul><li>a<ol><li>b<li>c</ol><li>d</ul><input value=q><input placeholder='search…'><input type=hidden value=t>
            <button> more </button><select><option>1<option selected>2</select><img alt=flag><input type=checkbox checked>";
        let wanted = "name | size\nx y | 5\u{a0}MB\n\n- a\n  1. b\n  2. c\n- d\n\n[q][search…] [more][2][flag][x]\n";
        assert_eq!(of_markup(markup), wanted);
    }

    #[test]
    fn a_table_that_lays_out_a_page_does_not_make_one_line_of_it() {
        let markup = "<table><tr><td><table><tr><td>a<td>b<tr><td>c<td>d</table></table>";
        assert_eq!(of_markup(markup), "a | b\nc | d\n");
    }
}
