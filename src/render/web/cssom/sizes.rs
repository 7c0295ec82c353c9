//! The size of an element: that of the rough layout, corrected by what `style` attributes and the page's rules declare.
//!
//! Virtual lists draw what the box that scrolls has room for. Such a box has the height of the block around it (`height: 100%`), or what a
//! column has left for it (`flex: 1` below a header), and not that of its rows.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::HashMap;

use boa_engine::Context;
use html5ever::local_name;

use super::styles::{FONT_SIZE, ask_for_sizes, font_size, value_of};
use crate::dom::NodeId;
use crate::dom::style::cascade::Cascade;
use crate::dom::style::length;
use crate::limits;
use crate::web::cssom_view::layout::{self, ElementBox};
use crate::web::html::window::viewport;
use crate::wire::Viewport;

/// What sizes depend on: the tree's generation, the sheets, whether linked ones count, and the window.
pub(super) type Of = (u64, u64, bool, u64, u64);

/// The sizes of a page that does not change. A script that alternates between changing and measuring is only served up to a cap: beyond
/// it elements have the boxes of the layout.
#[derive(Default)]
pub(super) struct KeptSizes {
    of: Cell<Option<Of>>,
    sizes: RefCell<HashMap<(NodeId, Axis), Option<f64>>>,
    lines: RefCell<HashMap<(NodeId, Axis), Line>>,
    /// Elements that are displayed or not, within one question.
    hidden: RefCell<HashMap<NodeId, bool>>,
    determined: Cell<usize>,
}

impl KeptSizes {
    /// Forgets what another page had.
    pub(super) fn begin(&self, of: Of) {
        self.hidden.borrow_mut().clear();
        if self.of.replace(Some(of)) != Some(of) {
            self.sizes.borrow_mut().clear();
            self.lines.borrow_mut().clear();
        }
    }

    /// Whether so many more may be determined.
    fn count(&self, more: usize) -> bool {
        let determined = self.determined.get();
        self.determined.set(determined.saturating_add(more));
        determined < limits::STYLE_SIZES_MAX
    }
}

/// The items of a line that share its size.
#[derive(Clone, Copy, Default)]
struct Line {
    items: usize,
    /// Items whose own size is not known.
    unknown: usize,
    /// Sum of the others' sizes.
    taken: f64,
    growing: usize,
    shrinking: usize,
}

/// The position of an element, from the layout and the page's rules; `None` if it is not displayed.
pub(crate) fn place(id: NodeId, context: &mut Context) -> Option<ElementBox> {
    places(&[id], context).pop().flatten()
}

/// The positions of several.
pub(crate) fn places(ids: &[NodeId], context: &mut Context) -> Vec<Option<ElementBox>> {
    ask(context, |sizes| ids.iter().map(|id| sizes.place(*id)).collect())
}

/// The sum of the heights of elements with what overflows them; those that are not displayed have none.
pub(crate) fn overflowing(ids: &[NodeId], context: &mut Context) -> f64 {
    ask(context, |sizes| {
        let height = |id: &NodeId| {
            let Some(place) = sizes.place(*id) else { return 0.0 };
            let content = (sizes.rough)(*id).map_or(0.0, |rough| rough.height);
            if content <= place.height || sizes.clips(*id, Axis::Height) { place.height } else { content }
        };
        ids.iter().map(height).sum()
    })
}

/// Whether an element is not displayed, or something between it and a box around it cuts off what overflows.
pub(crate) fn is_cut_off(id: NodeId, around: NodeId, context: &mut Context) -> bool {
    ask(context, |sizes| {
        let parent = |id: NodeId| sizes.cascade.parent(id);
        let mut between = std::iter::successors(parent(id), |id| parent(*id)).take_while(|id| *id != around);
        sizes.is_hidden(id) || between.by_ref().take(limits::STYLE_BLOCKS_MAX).any(|id| sizes.clips(id, Axis::Height))
    })
}

/// Whether an element has a height that is known, and cuts off what overflows it.
pub(crate) fn is_window(id: NodeId, context: &mut Context) -> bool {
    ask(context, |sizes| sizes.clips(id, Axis::Height) && sizes.size(id, Axis::Height, 0).is_some())
}

/// Whether an element has a height that is declared and not known here. A share of a block whose height is that of its content is
/// none: it is automatic (CSS 2.1 §10.5).
pub(crate) fn is_guess(id: NodeId, context: &mut Context) -> bool {
    ask(context, |sizes| {
        let declares = |id: NodeId| {
            let is_some = |property: &str, none: &str| sizes.value(id, property).is_some_and(|value| value != none);
            is_some("height", "auto") || is_some("flex-grow", "0") && !sizes.is_alone(id)
        };
        let is_share = sizes.value(id, "height").is_some_and(|height| height.ends_with('%'));
        let is_known = |around: NodeId| is_share && sizes.is_alone(id) && !declares(around);
        sizes.size(id, Axis::Height, 0).is_none() && declares(id) && !sizes.around(id).is_some_and(is_known)
    })
}

/// Runs a question on the sizes of the current page.
fn ask<T>(context: &mut Context, what: impl FnOnce(&Sizes<'_, '_>) -> T) -> T {
    let view = viewport(context);
    let rough = layout::places(context);
    ask_for_sizes(context, |cascade, kept| what(&Sizes { cascade, kept, view, rough: &rough }))
}

/// What sizes are determined by.
struct Sizes<'a, 'b> {
    cascade: &'a Cascade<'b>,
    kept: &'a KeptSizes,
    view: Viewport,
    /// The boxes of the layout.
    rough: &'a dyn Fn(NodeId) -> Option<ElementBox>,
}

impl Sizes<'_, '_> {
    fn place(&self, id: NodeId) -> Option<ElementBox> {
        let mut place = (self.rough)(id)?;
        if self.is_hidden(id) {
            return None;
        }
        place.width = self.size(id, Axis::Width, 0).unwrap_or(place.width);
        // As high as its content, and its least height.
        let least = || self.length(id, "min-height", &|| None).unwrap_or_default();
        place.height = self.size(id, Axis::Height, 0).unwrap_or_else(|| place.height.max(least()));
        Some(place)
    }

    /// Whether it or something around it is not displayed.
    fn is_hidden(&self, id: NodeId) -> bool {
        if !self.speaks("display") {
            return false;
        }
        let mut walked = Vec::new();
        let (mut at, mut is_hidden) = (Some(id), false);
        while let Some(id) = at {
            if let Some(known) = self.kept.hidden.borrow().get(&id) {
                is_hidden = *known;
                break;
            }
            walked.push(id);
            if self.cascade.specified(id, "display", false, None).as_deref() == Some("none") {
                is_hidden = true;
                break;
            }
            at = self.cascade.parent(id);
        }
        self.kept.hidden.borrow_mut().extend(walked.into_iter().map(|id| (id, is_hidden)));
        is_hidden
    }

    /// Whether any rule declares a property.
    fn speaks(&self, property: &str) -> bool {
        self.cascade.indexes.values().any(|index| index.speaks_of(property))
    }

    /// A declared value; without looking through the rules if none declares the property.
    fn value(&self, id: NodeId, property: &str) -> Option<String> {
        // A shorthand is written for its parts.
        let word = property.split('-').next().unwrap_or(property);
        let style = self.cascade.tree.attribute(id, &local_name!("style"));
        let is_declared = style.is_some_and(|style| style.contains(word)) || self.speaks(property);
        is_declared.then(|| value_of(self.cascade, id, property, None)).flatten()
    }

    /// A declared length that is not negative; `whole` is what percentages are shares of.
    fn length(&self, id: NodeId, property: &str, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let value = self.value(id, property)?;
        let unit = |unit: &str| match unit {
            "px" => Some(1.0),
            "%" => whole().map(|whole| whole / 100.0),
            "em" => Some(font_size(self.cascade, id)),
            "rem" => Some(FONT_SIZE),
            "pt" => Some(4.0 / 3.0),
            "vh" | "dvh" | "svh" | "lvh" => Some(self.view.height / 100.0),
            "vw" | "dvw" | "svw" | "lvw" => Some(self.view.width / 100.0),
            _ => None,
        };
        length::pixels(&value, &unit).filter(|length| *length >= 0.0)
    }

    /// The block around an element: boxes that are only their contents are none.
    fn around(&self, id: NodeId) -> Option<NodeId> {
        let is_box = |id: &NodeId| self.value(*id, "display").as_deref() != Some("contents");
        std::iter::successors(self.cascade.parent(id), |id| self.cascade.parent(*id)).find(is_box)
    }

    /// A size that does not depend on the content (CSS Sizing 3 §4); `None` if it does, or is not known.
    fn size(&self, id: NodeId, axis: Axis, depth: usize) -> Option<f64> {
        if let Some(known) = self.kept.sizes.borrow().get(&(id, axis)) {
            return *known;
        }
        if depth >= limits::STYLE_BLOCKS_MAX || !self.kept.count(1) {
            return None;
        }
        let size = self.determined(id, axis, depth);
        self.kept.sizes.borrow_mut().insert((id, axis), size);
        size
    }

    fn determined(&self, id: NodeId, axis: Axis, depth: usize) -> Option<f64> {
        let around = self.around(id);
        let kept = OnceCell::new();
        let whole = || {
            *kept.get_or_init(|| match around {
                Some(around) => self.size(around, axis, depth + 1),
                None => Some(axis.of_view(self.view)),
            })
        };
        let own = match around.filter(|around| !self.is_apart(id) && self.main_axis(*around) == Some(axis)) {
            Some(line) => self.flexed(line, id, axis, &whole),
            None => self.length(id, axis.size(), &whole).or_else(|| self.is_wide(id, axis).then(&whole).flatten()),
        };
        let own = own.or_else(|| self.padding_alone(id, axis, &whole));
        let most = self.length(id, axis.most(), &whole);
        let own = own.or_else(|| Some(axis.of((self.rough)(id)?).min(most?)))?;
        let least = self.length(id, axis.least(), &whole).unwrap_or_default();
        Some(own.min(most.unwrap_or(f64::INFINITY)).max(least))
    }

    /// Whether it is no item of a flex container or a grid.
    fn is_alone(&self, id: NodeId) -> bool {
        let shares = |around: NodeId| {
            self.value(around, "display").is_some_and(|value| value.ends_with("flex") || value.ends_with("grid"))
        };
        !self.around(id).is_some_and(shares)
    }

    /// Whether an element is as wide as the block around it.
    fn is_wide(&self, id: NodeId, axis: Axis) -> bool {
        axis == Axis::Width
            && self.has(id, "display", &["block", "flex", "grid", "list-item"])
            && !self.is_apart(id)
            && !self.has(id, "float", &["left", "right"])
    }

    /// The width of an inline box that is empty.
    fn padding_alone(&self, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let is_empty = axis == Axis::Width && self.cascade.tree.first_child(id).is_none();
        let is_inline = is_empty && self.has(id, "display", &["inline-block", "inline-flex"]);
        let padding = |side: &str| self.length(id, side, whole).unwrap_or_default();
        is_inline.then(|| padding("padding-left") + padding("padding-right"))
    }

    fn has(&self, id: NodeId, property: &str, words: &[&str]) -> bool {
        value_of(self.cascade, id, property, None).is_some_and(|value| words.contains(&value.as_str()))
    }

    /// Whether it takes no room in the block around it.
    fn is_apart(&self, id: NodeId) -> bool {
        self.value(id, "position").is_some_and(|value| matches!(value.as_str(), "absolute" | "fixed"))
    }

    /// The axis along which the children of an element share its size.
    fn main_axis(&self, id: NodeId) -> Option<Axis> {
        self.value(id, "display").filter(|value| value.ends_with("flex"))?;
        let is_column = self.value(id, "flex-direction").is_some_and(|value| value.starts_with("column"));
        Some(if is_column { Axis::Height } else { Axis::Width })
    }

    /// The size of an item of a line, where it is the only one that grows into what is left, or that shrinks by what is missing (CSS
    /// Flexbox 1 §9.7); `None` if it is not known.
    fn flexed(&self, line: NodeId, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let own = self.basis(id, axis, whole);
        let (is_growing, is_shrinking) = (self.grows(id), self.shrinks(id, axis));
        if !is_growing && !is_shrinking || self.value(line, "flex-wrap").is_some_and(|wrap| wrap.starts_with("wrap")) {
            return own;
        }
        let Some(whole_size) = whole() else { return own };
        let all = self.line(line, axis, whole);
        let part = self.part(id, axis, whole);
        let others_unknown = all.unknown.saturating_sub(usize::from(part.is_none()));
        if all.items > limits::STYLE_LINE_MAX || others_unknown > 0 {
            return own;
        }
        let left = whole_size - (all.taken - part.unwrap_or_default());
        let others_grow = all.growing > usize::from(is_growing);
        let others_shrink = all.shrinking > usize::from(is_shrinking);
        // It does not grow where what is left is less than its content, unless that is cut off or declared to be no least size.
        let size = own.or_else(|| self.content(id, axis)).unwrap_or_default();
        let may_be_less = is_growing && (self.clips(id, axis) || self.length(id, axis.least(), whole).is_some());
        match left >= if may_be_less { 0.0 } else { size } {
            true if is_growing && !others_grow => Some(left),
            false if is_shrinking && !others_shrink => Some(left.max(0.0)),
            _ => own,
        }
    }

    /// The items of a line together.
    fn line(&self, line: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Line {
        if let Some(known) = self.kept.lines.borrow().get(&(line, axis)) {
            return *known;
        }
        let mut all = Line::default();
        if !self.kept.count(limits::STYLE_LINE_MAX) {
            return Line { unknown: usize::MAX, ..all };
        }
        // An item whose size is asked for counts, displayed or not.
        let items = self.cascade.tree.child_elements(line).filter(|id| !self.is_apart(*id) && !self.is_none(*id));
        for id in items.take(limits::STYLE_LINE_MAX + 1) {
            all.items += 1;
            match self.part(id, axis, whole) {
                Some(part) => all.taken += part,
                None => all.unknown += 1,
            }
            all.growing += usize::from(self.grows(id));
            all.shrinking += usize::from(self.shrinks(id, axis));
        }
        self.kept.lines.borrow_mut().insert((line, axis), all);
        all
    }

    fn is_none(&self, id: NodeId) -> bool {
        self.value(id, "display").as_deref() == Some("none")
    }

    /// What an item takes of its line before any grows or shrinks.
    fn part(&self, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let size = self.basis(id, axis, whole).or_else(|| self.content(id, axis))?;
        Some(size.max(self.length(id, axis.least(), whole).unwrap_or_default()))
    }

    fn basis(&self, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let basis = self.length(id, "flex-basis", whole).filter(|basis| *basis > 0.0);
        basis.or_else(|| self.length(id, axis.size(), whole))
    }

    /// The layout breaks lines by the width of the window: it knows how high a content is, and not how wide.
    fn content(&self, id: NodeId, axis: Axis) -> Option<f64> {
        if axis == Axis::Height { Some((self.rough)(id)?.height) } else { None }
    }

    fn number(&self, id: NodeId, property: &str, usual: f64) -> f64 {
        self.value(id, property).and_then(|value| value.parse().ok()).unwrap_or(usual)
    }

    fn grows(&self, id: NodeId) -> bool {
        self.number(id, "flex-grow", 0.0) > 0.0
    }

    /// Nothing shrinks below its content, unless it is cut off (§4.5).
    fn shrinks(&self, id: NodeId, axis: Axis) -> bool {
        self.number(id, "flex-shrink", 1.0) > 0.0
            && (self.cascade.tree.first_child(id).is_none() || self.clips(id, axis))
    }

    /// Whether an element shows no more of its content than it has room for.
    fn clips(&self, id: NodeId, axis: Axis) -> bool {
        self.value(id, axis.overflow()).is_some_and(|value| value != "visible")
    }
}

/// Width or height.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Axis {
    Width,
    Height,
}

impl Axis {
    fn size(self) -> &'static str {
        if self == Self::Width { "width" } else { "height" }
    }

    fn least(self) -> &'static str {
        if self == Self::Width { "min-width" } else { "min-height" }
    }

    fn most(self) -> &'static str {
        if self == Self::Width { "max-width" } else { "max-height" }
    }

    fn overflow(self) -> &'static str {
        if self == Self::Width { "overflow-x" } else { "overflow-y" }
    }

    fn of(self, place: ElementBox) -> f64 {
        if self == Self::Width { place.width } else { place.height }
    }

    fn of_view(self, view: Viewport) -> f64 {
        if self == Self::Width { view.width } else { view.height }
    }
}
