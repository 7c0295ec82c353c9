//! `innerText` and `outerText` (HTML §3.2.7): the rendered text of an element.
//!
//! There is no layout: the element's name and its own `style` attribute determine what is a block, a row or hidden, not style sheets.

use boa_engine::{Context, JsResult};
use html5ever::{local_name, ns};

use super::element::is_called;
use super::reflect::{has, text};
use crate::dom::{Error, NodeData, NodeId, Tree};
use crate::web::change;
use crate::web::cssom::style_table::display_of;

/// The display type of an element.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Display {
    None,
    Inline,
    InlineBlock,
    /// With this many line breaks around it; none for a replaced element on a line of its own.
    Block(usize),
    Table,
    InlineTable,
    /// Groups and columns, whose text is not rendered.
    TablePart,
    Row,
    Cell,
    /// Its contents are not text: images, controls.
    Replaced,
    /// It is replaced by its contents.
    Contents,
}

/// Elements that render something other than their text.
const REPLACED: &[&str] =
    &["audio", "canvas", "embed", "iframe", "img", "input", "meter", "object", "progress", "textarea", "video"];

/// The default display of an element.
fn usual(local: &str) -> Display {
    match display_of(local) {
        _ if REPLACED.contains(&local) => Display::Replaced,
        "none" => Display::None,
        "inline" => Display::Inline,
        "inline-block" => Display::InlineBlock,
        "table" => Display::Table,
        "table-row" => Display::Row,
        "table-cell" => Display::Cell,
        "table-caption" => Display::Block(1),
        part if part.starts_with("table-") => Display::TablePart,
        _ if local == "p" => Display::Block(2),
        _ => Display::Block(1),
    }
}

/// The style that descendants inherit.
#[derive(Clone, Copy)]
struct Style {
    keeps_spaces: bool,
    keeps_breaks: bool,
    visible: bool,
}

/// An element whose end has not been reached.
struct OpenElement {
    display: Display,
    style: Style,
    /// Whether it already contains a row (in a table) or a cell (in a row).
    filled: bool,
    /// In a list of options, other text is not rendered.
    options: Options,
}

/// What an element allows besides options.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Options {
    No,
    /// A list: allows groups too.
    List,
    Group,
}

/// The value of a property in the element's own `style`.
fn own_style<'a>(tree: &'a Tree, id: NodeId, property: &str) -> Option<&'a str> {
    let declarations = text(tree, id, "style")?.split(';').filter_map(|one| one.split_once(':'));
    let last = declarations.rev().find(|(name, _)| name.trim().eq_ignore_ascii_case(property));
    last.map(|(_, value)| value.trim())
}

fn display(tree: &Tree, id: NodeId) -> Display {
    let Some(element) = tree.element(id) else { return Display::Inline };
    let usual = if element.name().ns == ns!(html) {
        usual(&element.name().local)
    } else if element.name().ns == ns!(svg) && matches!(&*element.name().local, "defs" | "stop" | "title" | "desc") {
        Display::None
    } else {
        Display::Inline
    };
    if usual == Display::Block(2) {
        // Paragraphs have margins whatever their display.
        let is_gone = own_style(tree, id, "display").map_or_else(|| has(tree, id, "hidden"), |value| value == "none");
        return if is_gone { Display::None } else { usual };
    }
    let value = own_style(tree, id, "display").map(str::to_ascii_lowercase);
    let out_of_line = || {
        own_style(tree, id, "float").is_some_and(|side| side != "none")
            || own_style(tree, id, "position").is_some_and(|place| matches!(place, "absolute" | "fixed"))
    };
    let is_hidden = || {
        has(tree, id, "hidden")
            || (is_called(tree, id, &["dialog"]) && !has(tree, id, "open"))
            || (is_called(tree, id, &["input"]) && text(tree, id, "type").is_some_and(|kind| kind == "hidden"))
    };
    let is_unread = is_called(tree, id, &["noscript"]);
    let in_flex = || {
        let parent = tree.parent(id).and_then(|parent| own_style(tree, parent, "display"));
        parent.is_some_and(|display| display.ends_with("flex") || display.ends_with("grid"))
    };
    match value.as_deref() {
        Some("none") => Display::None,
        _ if is_unread => Display::None,
        Some("contents") if usual != Display::Replaced => Display::Contents,
        Some("block" | "flex" | "grid" | "list-item" | "flow-root") if usual == Display::Replaced => Display::Block(0),
        Some("block" | "flex" | "grid" | "list-item" | "flow-root") => Display::Block(1),
        Some("inline-block" | "inline-flex" | "inline-grid") if usual != Display::Replaced => Display::InlineBlock,
        Some("table") => Display::Table,
        Some("inline-table") => Display::InlineTable,
        Some("table-row") => Display::Row,
        Some("table-cell") => Display::Cell,
        Some("inline") if usual != Display::Replaced => Display::Inline,
        None if is_hidden() => Display::None,
        _ if usual != Display::None && (out_of_line() || in_flex()) => {
            Display::Block(usize::from(usual != Display::Replaced))
        }
        _ => usual,
    }
}

fn style(tree: &Tree, id: NodeId, above: Style) -> Style {
    let mut style = above;
    if is_called(tree, id, &["pre", "textarea", "listing", "xmp", "plaintext"]) {
        (style.keeps_spaces, style.keeps_breaks) = (true, true);
    }
    match own_style(tree, id, "white-space") {
        Some("pre" | "pre-wrap" | "break-spaces") => (style.keeps_spaces, style.keeps_breaks) = (true, true),
        Some("pre-line") => (style.keeps_spaces, style.keeps_breaks) = (false, true),
        Some("normal" | "nowrap") => (style.keeps_spaces, style.keeps_breaks) = (false, false),
        _ => {}
    }
    match own_style(tree, id, "visibility") {
        Some("hidden" | "collapse") => style.visible = false,
        Some("visible") => style.visible = true,
        _ => {}
    }
    style
}

/// Text built from words, line breaks and gaps.
#[derive(Default)]
struct Lines {
    out: String,
    /// A space that is written if more text follows on its line.
    space: bool,
    /// Line breaks that are written if more text follows.
    breaks: usize,
    /// Whether the line has content, so that a space may follow.
    filled: bool,
}

impl Lines {
    fn break_line(&mut self, count: usize) {
        (self.space, self.filled) = (false, false);
        self.breaks = self.breaks.max(count);
    }

    /// Writes the pending whitespace.
    fn settle(&mut self) {
        if self.breaks > 0 {
            if !self.out.is_empty() {
                self.out.extend(std::iter::repeat_n('\n', self.breaks));
            }
            self.breaks = 0;
        }
        if std::mem::take(&mut self.space) {
            self.out.push(' ');
        }
    }

    fn write(&mut self, text: &str, style: Style) {
        for letter in text.chars() {
            match letter {
                '\n' if style.keeps_breaks => {
                    self.space = false;
                    self.settle();
                    self.out.push('\n');
                    self.filled = false;
                }
                ' ' | '\t' | '\n' | '\r' | '\x0C' if !style.keeps_spaces => self.space = self.filled,
                letter => {
                    self.settle();
                    self.out.push(letter);
                    // A preserved space does not collapse with the next one.
                    self.filled = true;
                }
            }
        }
    }

    /// Writes a tab or line break unconditionally.
    fn put(&mut self, letter: char) {
        self.space = false;
        self.settle();
        self.out.push(letter);
        self.filled = false;
    }
}

/// Whether an element is rendered: neither it nor an ancestor is hidden or replaced.
fn is_rendered(tree: &Tree, id: NodeId) -> bool {
    tree.is_connected(id)
        && display(tree, id) != Display::None
        && tree.ancestors(id).filter(|id| tree.is_element(*id)).all(|above| {
            let display = display(tree, above);
            let is_replaced = is_called(tree, above, &["canvas", "audio", "video", "object", "iframe", "textarea"]);
            display != Display::None && !is_replaced
        })
}

/// The getter (§3.2.7).
pub fn of(tree: &Tree, root: NodeId) -> String {
    if !is_rendered(tree, root) {
        return tree.text_content(root).unwrap_or_default();
    }
    let plain = Style { keeps_spaces: false, keeps_breaks: false, visible: true };
    let around: Vec<NodeId> = tree.ancestors(root).collect();
    let above = around.iter().rev().fold(plain, |above, id| style(tree, *id, above));
    let mut lines = Lines::default();
    let mut open: Vec<OpenElement> = Vec::new();
    let mut next = Some(root);
    while let Some(id) = next {
        let style_above = open.last().map_or(above, |last| last.style);
        let goes_in = enter(tree, id, id == root, style_above, &mut open, &mut lines);
        next = tree.first_child(id).filter(|_| goes_in);
        let mut at = id;
        let mut is_open = goes_in;
        while next.is_none() {
            if is_open && let Some(closed) = open.pop() {
                leave(&closed, open.is_empty(), &mut lines);
            }
            if at == root {
                break;
            }
            next = tree.next_sibling(at);
            if next.is_none() {
                let Some(parent) = tree.parent(at) else { break };
                at = parent;
                is_open = true;
            }
        }
    }
    lines.out
}

/// Enters a node; true if it is an element whose children follow and whose end must be handled.
fn enter(tree: &Tree, id: NodeId, is_root: bool, above: Style, open: &mut Vec<OpenElement>, lines: &mut Lines) -> bool {
    match tree.data(id) {
        NodeData::Text(data) => {
            if is_read(tree, id, data, above, open.last()) {
                lines.write(data, above);
            }
            return false;
        }
        NodeData::Element(_) => {}
        _ => return false,
    }
    let display = display(tree, id);
    if is_called(tree, id, &["br"]) {
        if above.visible && !is_root && display != Display::None {
            lines.put('\n');
        }
        return false;
    }
    let style = style(tree, id, above);
    let options = if is_called(tree, id, &["select"]) {
        Options::List
    } else if is_called(tree, id, &["optgroup"]) {
        Options::Group
    } else {
        Options::No
    };
    let in_closed_details = || {
        let details =
            tree.parent(id).filter(|parent| is_called(tree, *parent, &["details"]) && !has(tree, *parent, "open"));
        !is_root
            && details.is_some_and(|details| {
                tree.child_elements(details).find(|child| is_called(tree, *child, &["summary"])) != Some(id)
            })
    };
    let beside_options = !is_root
        && match open.last().map_or(Options::No, |one| one.options) {
            Options::No => false,
            Options::List => !is_called(tree, id, &["option", "optgroup"]),
            Options::Group => !is_called(tree, id, &["option"]),
        };
    if (display == Display::None && !is_root) || beside_options || in_closed_details() {
        return false;
    }
    match display {
        Display::Replaced => {
            lines.settle();
            lines.filled = true;
            return false;
        }
        Display::Block(0) => {
            lines.break_line(1);
            return false;
        }
        _ if is_root => {}
        display => begin_box(display, style, open, lines),
    }
    open.push(OpenElement { display, style, filled: false, options });
    true
}

/// Whether a text is rendered.
fn is_read(tree: &Tree, id: NodeId, data: &str, above: Style, parent: Option<&OpenElement>) -> bool {
    let in_table = parent.is_some_and(|one| {
        matches!(one.display, Display::Table | Display::InlineTable | Display::TablePart | Display::Row)
    });
    let is_blank = || data.chars().all(|letter| letter.is_ascii_whitespace());
    let in_closed_details = || {
        let details = tree.parent(id).filter(|above| is_called(tree, *above, &["details"]));
        details.is_some_and(|details| !has(tree, details, "open"))
    };
    above.visible
        && !in_closed_details()
        && parent.is_none_or(|one| one.options == Options::No)
        && !(in_table && is_blank())
}

/// Writes what precedes the contents of a box.
fn begin_box(display: Display, style: Style, open: &mut [OpenElement], lines: &mut Lines) {
    match display {
        Display::Block(count) => lines.break_line(if style.visible { count } else { usize::from(count == 1) }),
        Display::Table => lines.break_line(1),
        Display::InlineBlock | Display::InlineTable => {
            lines.settle();
            lines.filled = false;
        }
        Display::Row => {
            let table = open.iter_mut().rev().find(|one| matches!(one.display, Display::Table | Display::InlineTable));
            if table.is_some_and(|table| std::mem::replace(&mut table.filled, true)) {
                lines.put('\n');
            }
        }
        Display::Cell => {
            let is_row =
                |one: &&mut OpenElement| matches!(one.display, Display::Row | Display::Table | Display::InlineTable);
            if open.iter_mut().rev().find(is_row).is_some_and(|row| std::mem::replace(&mut row.filled, true)) {
                lines.put('\t');
            }
            (lines.space, lines.filled) = (false, false);
        }
        Display::Replaced | Display::None | Display::Inline | Display::TablePart | Display::Contents => {}
    }
}

fn leave(closed: &OpenElement, is_root: bool, lines: &mut Lines) {
    match closed.display {
        _ if is_root => {}
        Display::Block(count) => lines.break_line(if closed.style.visible { count } else { usize::from(count == 1) }),
        Display::Table => lines.break_line(1),
        Display::InlineBlock | Display::InlineTable => (lines.space, lines.filled) = (false, true),
        _ => {}
    }
}

/// "Rendered text fragment": line breaks become `<br>`.
fn fragment(tree: &mut Tree, document: NodeId, text: &str) -> Result<NodeId, Error> {
    let fragment = tree.create_fragment(document)?;
    let lines = text.replace("\r\n", "\n").replace('\r', "\n");
    for (place, line) in lines.split('\n').enumerate() {
        if place > 0 {
            let name = html5ever::QualName::new(None, ns!(html), local_name!("br"));
            let line_break = tree.create_element(document, name, Vec::new())?;
            tree.append(fragment, line_break)?;
        }
        if !line.is_empty() {
            let text = tree.create_text(document, line.to_owned())?;
            tree.append(fragment, text)?;
        }
    }
    Ok(fragment)
}

/// The setter of `innerText`.
///
/// # Errors
/// When the document is full.
pub fn set(id: NodeId, text: &str, context: &mut Context) -> JsResult<()> {
    change(context, |tree| {
        let document = tree.document_of(id);
        let fragment = fragment(tree, document, text)?;
        tree.replace_all(id, Some(fragment));
        Ok(())
    })
}

/// The setter of `outerText`.
///
/// # Errors
/// `NoModificationAllowedError` without a parent.
pub fn replace(id: NodeId, text: &str, context: &mut Context) -> JsResult<()> {
    change(context, |tree| {
        let parent = tree.parent(id).ok_or(Error::NoModificationAllowed)?;
        let (document, next, previous) = (tree.document_of(id), tree.next_sibling(id), tree.previous_sibling(id));
        let fragment = fragment(tree, document, text)?;
        if tree.first_child(fragment).is_none() {
            let empty = tree.create_text(document, String::new())?;
            tree.append(fragment, empty)?;
        }
        tree.replace(parent, fragment, id)?;
        if let Some(last) = next.and_then(|next| tree.previous_sibling(next)) {
            merge_with_next(tree, last)?;
        }
        if let Some(previous) = previous {
            merge_with_next(tree, previous)?;
        }
        Ok(())
    })
}

/// "Merge with the next text node".
fn merge_with_next(tree: &mut Tree, id: NodeId) -> Result<(), Error> {
    let Some(next) = tree.next_sibling(id) else { return Ok(()) };
    let (NodeData::Text(data), NodeData::Text(more)) = (tree.data(id), tree.data(next)) else { return Ok(()) };
    let whole = format!("{data}{more}");
    tree.set_data(id, &whole)?;
    tree.remove(next);
    Ok(())
}
