//! A rough layout of blocks and lines, as if there were a screen. Scripts that measure (infinite scroll, lazy loading, virtual lists)
//! find a document that grows with its content and a window that has an end.
//!
//! Blocks are stacked, cells of a row are side by side, and text breaks into lines of a fixed height; heights and displays in `style`
//! attributes are respected. Style sheets and fonts are ignored, and nothing is accurate to a pixel; `cssom/sizes.rs` corrects sizes by
//! what sheets declare.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::{Context, JsObject};
use html5ever::{local_name, ns};

use crate::dom::{NodeData, NodeId, Tree};
use crate::engine::{events, jobs, realm};
use crate::limits;
use crate::web::cssom::sizes;
use crate::web::html::window::viewport;
use crate::web::{of, own_document, read, wrap};

/// Height of a line and width of a letter, in CSS pixels.
const LINE: f64 = 20.0;
const LETTER: f64 = 7.0;

/// The position of an element in the document, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ElementBox {
    pub left: f64,
    pub top: f64,
    pub width: f64,
    pub height: f64,
}

/// The last layout, and the scroll position of the page.
#[derive(Default)]
struct Layout {
    /// The tree's generation and the window's width of the layout.
    of: Option<(u64, f64)>,
    /// By node number; elements that are not displayed have none.
    places: Vec<Option<ElementBox>>,
    height: f64,
    scroll: (f64, f64),
    /// Scroll positions of single elements.
    inner: HashMap<NodeId, (f64, f64)>,
    /// Nodes laid out so far: a script that alternates between changing and measuring is only served up to a cap.
    nodes: usize,
    /// A task that fires scroll events is queued.
    telling: bool,
}

type Shared = Rc<RefCell<Layout>>;

pub(crate) fn install(context: &mut Context) {
    realm::keep(RefCell::new(Layout::default()), context);
}

fn shared(context: &Context) -> Shared {
    realm::own(context).unwrap_or_default()
}

/// The layout of the current tree.
fn up_to_date(context: &Context) -> Shared {
    let shared = shared(context);
    let (web, document) = (of(context), own_document(context));
    let web = web.borrow();
    let now = (web.tree.generation(), viewport(context).width);
    let mut layout = shared.borrow_mut();
    if layout.of != Some(now) && layout.nodes < limits::RENDER_LAYOUT_NODES_MAX {
        layout.nodes += web.tree.len();
        (layout.places, layout.height) = flow(&web.tree, document, now.1);
        layout.of = Some(now);
    }
    drop(layout);
    shared
}

/// The position of an element in the document; `None` if it is not displayed.
pub fn place(id: NodeId, context: &Context) -> Option<ElementBox> {
    let shared = up_to_date(context);
    let layout = shared.borrow();
    layout.places.get(id.to_u32() as usize).copied().flatten()
}

/// The positions of all elements, as [`place`] gives them for one.
pub(crate) fn places(context: &Context) -> impl Fn(NodeId) -> Option<ElementBox> + use<> {
    let shared = up_to_date(context);
    move |id| shared.borrow().places.get(id.to_u32() as usize).copied().flatten()
}

/// The height of the document's content, at least the window's.
pub fn document_height(context: &Context) -> f64 {
    let shared = up_to_date(context);
    let height = shared.borrow().height;
    height.max(viewport(context).height)
}

/// The scroll position of the page.
pub fn scroll(context: &Context) -> (f64, f64) {
    shared(context).borrow().scroll
}

/// Scrolls the page within its bounds; scroll events fire before the next frame.
pub fn scroll_to(_: f64, y: f64, context: &mut Context) {
    let most = document_height(context) - viewport(context).height;
    // Pages are as wide as the window.
    let wanted = (0.0, y.clamp(0.0, most.max(0.0)));
    let shared = shared(context);
    if std::mem::replace(&mut shared.borrow_mut().scroll, wanted) == wanted {
        return;
    }
    tell_scroll(None, context);
}

/// Scrolls the page down like a user who wants more. Events fire even at the end, since a style sheet may make the page longer than this
/// layout.
pub fn scroll_down(context: &mut Context) {
    let most = document_height(context) - viewport(context).height;
    shared(context).borrow_mut().scroll = (0.0, most.max(0.0));
    tell_scroll(None, context);
}

/// Scrolls the page by the height of the window, and the boxes in it by a little: lists that draw only what is in view eventually draw
/// everything. True if there is nothing further down.
pub fn scroll_on(boxes: &[NodeId], context: &mut Context) -> bool {
    let shown = viewport(context).height;
    let most = (document_height(context) - shown).max(0.0);
    let from = scroll(context).1;
    // Rows at the edge should be in view twice.
    let to = (from + shown * 0.9).min(most);
    let is_end = to >= most;
    if is_end {
        scroll_down(context);
    } else {
        scroll_to(0.0, to, context);
    }
    scroll_boxes_on(boxes, context) && is_end
}

/// The same for boxes within the page only.
pub fn scroll_boxes_on(boxes: &[NodeId], context: &mut Context) -> bool {
    boxes.iter().fold(true, |is_end, id| {
        let (x, y) = inner_scroll(*id, context);
        scroll_inner_to(*id, x, y + INNER_STEP, context);
        // Listeners that wait for the end get events even if it is unknown whether this is the end.
        let is_still = inner_scroll(*id, context).1 <= y;
        if is_still {
            tell_scroll(Some(*id), context);
        }
        is_end && is_still
    })
}

/// Pixels that a box scrolls at a time: less than the height of most lists.
const INNER_STEP: f64 = 250.0;

/// The height of an element's content, as far as it can be determined.
pub fn content_height(id: NodeId, context: &mut Context) -> f64 {
    let (children, mut fillers) = read(context, |tree| {
        let filler = |id: NodeId| Some((pixels(tree, id, "height")?, id));
        let inside = tree.descendants(id).take(limits::RENDER_CONTENT_ELEMENTS_MAX);
        (tree.child_elements(id).collect::<Vec<_>>(), inside.filter_map(filler).collect::<Vec<_>>())
    });
    let whole = sizes::overflowing(&children, context);
    let whole = whole.max(sizes::place(id, context).map_or(0.0, |place| place.height));
    // Lists that draw the rows in view have something as high as all of them, somewhere inside.
    fillers.retain(|(height, _)| *height > whole);
    fillers.sort_by(|one, other| other.0.total_cmp(&one.0));
    fillers.truncate(limits::RENDER_BOXES_MAX);
    let filled = fillers.into_iter().find(|(_, filler)| !sizes::is_cut_off(*filler, id, context));
    filled.map_or(whole, |(height, _)| height)
}

/// The scroll position within an element.
pub fn inner_scroll(id: NodeId, context: &Context) -> (f64, f64) {
    shared(context).borrow().inner.get(&id).copied().unwrap_or_default()
}

/// Scrolls within an element up to the end of its content. If it is as high as its content, it scrolls as far as requested, since its
/// visible height is unknown.
pub fn scroll_inner_to(id: NodeId, x: f64, y: f64, context: &mut Context) {
    let content = content_height(id, context);
    let own = sizes::place(id, context).map_or(0.0, |place| place.height);
    let most = if own < content { content - own } else { content };
    let wanted = (x.max(0.0), y.min(most).max(0.0));
    let shared = shared(context);
    if shared.borrow_mut().inner.insert(id, wanted).unwrap_or_default() == wanted {
        return;
    }
    tell_scroll(Some(id), context);
}

/// Fires `scroll` and `scrollend` in a task, once for all scrolling until then, and triggers the observers.
fn tell_scroll(id: Option<NodeId>, context: &mut Context) {
    crate::web::intersection_observer::look_again(context);
    if id.is_none() && std::mem::replace(&mut shared(context).borrow_mut().telling, true) {
        return;
    }
    jobs::post(context, 0, move |context| {
        shared(context).borrow_mut().telling = id.is_some() && shared(context).borrow().telling;
        let document = own_document(context);
        let target: JsObject = wrap(id.unwrap_or(document), context)?;
        for kind in ["scroll", "scrollend"] {
            events::fire(&target, "Event", kind, (id.is_none(), false), &[], context);
        }
        Ok(())
    });
}

/// The role of an element in the flow.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Flow {
    Hidden,
    Inline,
    Block,
    Row,
    Cell,
}

/// Whether and how an element is displayed, by its name and attributes.
pub(crate) fn flow_of(tree: &Tree, id: NodeId) -> Flow {
    let Some(element) = tree.element(id) else { return Flow::Hidden };
    let usual = if element.name().ns == ns!(html) { usual_flow(&element.name().local) } else { Flow::Inline };
    match declared(tree, id, "display") {
        Some("none") => Flow::Hidden,
        _ if usual != Flow::Hidden && element.attribute(&local_name!("hidden")).is_some() => Flow::Hidden,
        Some("inline" | "inline-block" | "inline-flex" | "contents") => Flow::Inline,
        Some("block" | "flex" | "grid" | "list-item" | "table") if usual == Flow::Inline => Flow::Block,
        _ => usual,
    }
}

fn usual_flow(local: &str) -> Flow {
    match crate::web::cssom::style_table::display_of(local) {
        "none" => Flow::Hidden,
        "table-row" => Flow::Row,
        "table-cell" => Flow::Cell,
        "inline" | "inline-block" => Flow::Inline,
        _ => Flow::Block,
    }
}

/// The declaration of a property in the `style` attribute, without parsing all of it.
pub(crate) fn declared<'a>(tree: &'a Tree, id: NodeId, property: &str) -> Option<&'a str> {
    let style = tree.attribute(id, &local_name!("style"))?;
    let mut declarations = style.split(';').filter_map(|one| one.split_once(':'));
    let value = declarations.rfind(|(name, _)| name.trim().eq_ignore_ascii_case(property))?.1;
    Some(value.split('!').next().unwrap_or_default().trim())
}

fn pixels(tree: &Tree, id: NodeId, property: &str) -> Option<f64> {
    declared(tree, id, property)?.strip_suffix("px")?.trim().parse().ok().filter(|n: &f64| n.is_finite() && *n >= 0.0)
}

/// The current position of the flow: the height so far, and the used width of the current line.
struct Pen {
    y: f64,
    line: Option<f64>,
    width: f64,
}

impl Pen {
    fn end_line(&mut self) {
        if self.line.take().is_some() {
            self.y += LINE;
        }
    }

    /// Adds this many pixels of text, on as many lines as they take.
    fn write(&mut self, pixels: f64) {
        let mut at = self.line.unwrap_or(0.0) + pixels;
        let lines = (at / self.width).floor();
        if lines > 0.0 {
            self.y += lines * LINE;
            at -= lines * self.width;
        }
        self.line = Some(at);
    }
}

/// An element whose content is being laid out.
struct OpenBox {
    id: NodeId,
    flow: Flow,
    top: f64,
    left: f64,
    /// For a row: the bottom of its lowest cell.
    lowest: f64,
}

/// Lays out a document: the positions of its elements, and its height.
fn flow(tree: &Tree, document: NodeId, width: f64) -> (Vec<Option<ElementBox>>, f64) {
    let mut places: Vec<Option<ElementBox>> = Vec::new();
    let mut pen = Pen { y: 0.0, line: None, width: width.max(LETTER) };
    let mut open: Vec<OpenBox> = Vec::new();
    let mut next = tree.first_child(document);
    while let Some(id) = next {
        let mut enter = false;
        match tree.data(id) {
            NodeData::Text(text) => {
                let letters = text.split_ascii_whitespace().map(|word| word.len() + 1).sum::<usize>();
                if letters > 0 {
                    pen.write(letters as f64 * LETTER);
                }
            }
            NodeData::Element(element) => {
                let flow = flow_of(tree, id);
                if flow != Flow::Hidden {
                    if flow != Flow::Inline {
                        pen.end_line();
                    }
                    if let (Flow::Cell, Some(row)) = (flow, open.last_mut().filter(|row| row.flow == Flow::Row)) {
                        row.lowest = row.lowest.max(pen.y);
                        pen.y = row.top;
                    }
                    if &*element.name().local == "br" {
                        pen.write(0.0);
                        pen.end_line();
                    } else if is_replaced(&element.name().local) {
                        pen.write(100.0);
                    }
                    let left = if flow == Flow::Inline { pen.line.unwrap_or(0.0) } else { 0.0 };
                    open.push(OpenBox { id, flow, top: pen.y, left, lowest: pen.y });
                    if flow == Flow::Block {
                        pen.y += pixels(tree, id, "padding-top").unwrap_or_default();
                    }
                    enter = true;
                }
            }
            _ => {}
        }
        // A shadow root is laid out in place of its host's children; slotted nodes are part of it.
        next = match (enter, tree.first_child(id)) {
            (true, Some(child)) => Some(child),
            _ => {
                let mut at = id;
                loop {
                    if open.last().is_some_and(|last| last.id == at) {
                        close(tree, open.pop(), &mut open, &mut pen, &mut places);
                    }
                    if let Some(sibling) = tree.next_sibling(at) {
                        break Some(sibling);
                    }
                    match tree.parent(at) {
                        Some(parent) if parent != document => at = parent,
                        _ => break None,
                    }
                }
            }
        };
    }
    pen.end_line();
    (places, pen.y)
}

pub(crate) fn is_replaced(local: &str) -> bool {
    matches!(
        local,
        "img" | "input" | "button" | "select" | "textarea" | "video" | "iframe" | "canvas" | "svg" | "object"
    )
}

fn close(
    tree: &Tree,
    closed: Option<OpenBox>,
    open: &mut [OpenBox],
    pen: &mut Pen,
    places: &mut Vec<Option<ElementBox>>,
) {
    let Some(OpenBox { id, flow, top, left, lowest }) = closed else { return };
    if flow != Flow::Inline {
        pen.end_line();
    }
    if flow == Flow::Row {
        pen.y = pen.y.max(lowest);
    }
    // Lists that draw the rows in view have padding in place of the others.
    if flow == Flow::Block {
        pen.y += pixels(tree, id, "padding-bottom").unwrap_or_default();
    }
    if let Some(height) =
        pixels(tree, id, "height").or_else(|| pixels(tree, id, "min-height").filter(|n| top + n > pen.y))
    {
        pen.y = top + height;
    }
    if let (Flow::Cell, Some(row)) = (flow, open.last_mut()) {
        row.lowest = row.lowest.max(pen.y);
    }
    let (width, height) = match flow {
        Flow::Inline => {
            let end = pen.line.unwrap_or(0.0);
            let width = if pen.y > top { pen.width } else { end - left };
            (width, if pen.line.is_some() { pen.y + LINE - top } else { pen.y - top })
        }
        _ => (pen.width, pen.y - top),
    };
    let width = pixels(tree, id, "width").unwrap_or(width);
    let place = id.to_u32() as usize;
    if places.len() <= place {
        places.resize(place + 1, None);
    }
    places[place] = Some(ElementBox { left, top, width, height });
}

/// The innermost element at a point of the window.
pub fn element_at(x: f64, y: f64, context: &Context) -> Option<NodeId> {
    let view = viewport(context);
    if !(0.0..=view.width).contains(&x) || !(0.0..=view.height).contains(&y) {
        return None;
    }
    let (_, scrolled) = scroll(context);
    let shared = up_to_date(context);
    let layout = shared.borrow();
    let document = own_document(context);
    read(context, |tree| {
        let holds = |id: &NodeId| {
            let place = layout.places.get(id.to_u32() as usize).copied().flatten();
            place.is_some_and(|place| {
                (place.left..=place.left + place.width).contains(&x)
                    && (place.top..=place.top + place.height).contains(&(y + scrolled))
            })
        };
        tree.descendants(document).filter(holds).last().or_else(|| tree.document_element(document))
    })
}
