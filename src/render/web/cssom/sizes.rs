//! The size of an element: that of the rough layout, corrected by what `style` attributes and the page's rules declare.
//!
//! Virtual lists draw what the box that scrolls has room for. Such a box has the height of the block around it (`height: 100%`), or what a
//! column has left for it (`flex: 1` below a header), and not that of its rows.

use std::cell::OnceCell;

use boa_engine::Context;
use html5ever::local_name;

use super::styles::{FONT_SIZE, ask_for_script, font_size, value_of};
use crate::dom::NodeId;
use crate::dom::style::cascade::Cascade;
use crate::dom::style::length;
use crate::limits;
use crate::web::cssom_view::layout::{self, ElementBox};
use crate::web::html::window::viewport;
use crate::wire::Viewport;

/// The position of an element, from the layout and the page's rules; `None` if it is not displayed.
pub(crate) fn place(id: NodeId, context: &mut Context) -> Option<ElementBox> {
    let mut place = layout::place(id, context)?;
    let view = viewport(context);
    let rough = layout::places(context);
    let (is_hidden, width, height) = ask_for_script(context, |cascade| {
        let sizes = Sizes { cascade, view, rough: &rough };
        let is_none = |id: NodeId| cascade.specified(id, "display", false, None).as_deref() == Some("none");
        let is_hidden =
            sizes.speaks("display") && std::iter::successors(Some(id), |id| cascade.parent(*id)).any(is_none);
        (is_hidden, sizes.size(id, WIDTH, 0), sizes.size(id, HEIGHT, 0))
    });
    if is_hidden {
        return None;
    }
    place.width = width.unwrap_or(place.width);
    place.height = height.unwrap_or(place.height);
    Some(place)
}

/// The height of an element with what overflows it; zero if it is not displayed.
pub(crate) fn overflowing(id: NodeId, context: &mut Context) -> f64 {
    let Some(place) = place(id, context) else { return 0.0 };
    let content = layout::place(id, context).map_or(0.0, |rough| rough.height);
    if content <= place.height {
        return place.height;
    }
    let rough = layout::places(context);
    let view = viewport(context);
    let clips = ask_for_script(context, |cascade| Sizes { cascade, view, rough: &rough }.clips(id, HEIGHT));
    if clips { place.height } else { content }
}

/// Whether something between an element and a box around it cuts off what overflows.
pub(crate) fn is_cut_off(id: NodeId, around: NodeId, context: &mut Context) -> bool {
    let view = viewport(context);
    let rough = layout::places(context);
    ask_for_script(context, |cascade| {
        let sizes = Sizes { cascade, view, rough: &rough };
        let between =
            std::iter::successors(cascade.parent(id), |id| cascade.parent(*id)).take_while(|id| *id != around);
        between.take(limits::STYLE_BLOCKS_MAX).any(|id| sizes.clips(id, HEIGHT))
    })
}

/// Whether an element has a height that is known, and cuts off what overflows it.
pub(crate) fn is_window(id: NodeId, context: &mut Context) -> bool {
    let view = viewport(context);
    let rough = layout::places(context);
    ask_for_script(context, |cascade| {
        let sizes = Sizes { cascade, view, rough: &rough };
        sizes.clips(id, HEIGHT) && sizes.size(id, HEIGHT, 0).is_some()
    })
}

/// Whether an element has a height that is declared and not known here.
pub(crate) fn is_guess(id: NodeId, context: &mut Context) -> bool {
    let view = viewport(context);
    let rough = layout::places(context);
    ask_for_script(context, |cascade| {
        let sizes = Sizes { cascade, view, rough: &rough };
        let is_some = |property: &str, none: &str| sizes.value(id, property).is_some_and(|value| value != none);
        sizes.size(id, HEIGHT, 0).is_none() && (is_some("height", "auto") || is_some("flex-grow", "0"))
    })
}

/// What sizes are determined by.
struct Sizes<'a, 'b> {
    cascade: &'a Cascade<'b>,
    view: Viewport,
    /// The boxes of the layout.
    rough: &'a dyn Fn(NodeId) -> Option<ElementBox>,
}

impl Sizes<'_, '_> {
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
        if depth >= limits::STYLE_BLOCKS_MAX {
            return None;
        }
        let around = self.around(id);
        let kept = OnceCell::new();
        let whole = || {
            *kept.get_or_init(|| match around {
                Some(around) => self.size(around, axis, depth + 1),
                None => Some(axis.of_view(self.view)),
            })
        };
        let own = match around.filter(|around| self.main_axis(*around) == Some(axis)) {
            Some(line) => self.flexed(line, id, axis, &whole),
            None => self.length(id, axis.size, &whole).or_else(|| self.is_wide(id, axis).then(&whole).flatten()),
        };
        let own = own.or_else(|| self.padding_alone(id, axis, &whole));
        let most = self.length(id, axis.most, &whole);
        let own = own.or_else(|| Some(axis.of((self.rough)(id)?).min(most?)))?;
        let least = self.length(id, axis.least, &whole).unwrap_or_default();
        Some(own.min(most.unwrap_or(f64::INFINITY)).max(least))
    }

    /// Whether an element is as wide as the block around it.
    fn is_wide(&self, id: NodeId, axis: Axis) -> bool {
        axis == WIDTH
            && self.has(id, "display", &["block", "flex", "grid", "list-item"])
            && !self.is_apart(id)
            && !self.has(id, "float", &["left", "right"])
    }

    /// The width of an inline box that is empty.
    fn padding_alone(&self, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let is_empty = axis == WIDTH && self.cascade.tree.first_child(id).is_none();
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
        Some(if is_column { HEIGHT } else { WIDTH })
    }

    /// The size of an item of a line, where it is the only one that grows into what is left, or that shrinks by what is missing (CSS
    /// Flexbox 1 §9.7); `None` if it is not known.
    fn flexed(&self, line: NodeId, id: NodeId, axis: Axis, whole: &dyn Fn() -> Option<f64>) -> Option<f64> {
        let basis = |id: NodeId| {
            let basis = self.length(id, "flex-basis", whole).filter(|basis| *basis > 0.0);
            basis.or_else(|| self.length(id, axis.size, whole))
        };
        let number = |id: NodeId, property: &str, usual: f64| {
            self.value(id, property).and_then(|value| value.parse().ok()).unwrap_or(usual)
        };
        let grows = |id: NodeId| number(id, "flex-grow", 0.0) > 0.0;
        // Nothing shrinks below its content, unless it is cut off (§4.5).
        let tree = self.cascade.tree;
        let shrinks = |id: NodeId| {
            number(id, "flex-shrink", 1.0) > 0.0 && (tree.first_child(id).is_none() || self.clips(id, axis))
        };
        let own = basis(id);
        let (is_growing, is_shrinking) = (grows(id), shrinks(id));
        if !is_growing && !is_shrinking {
            return own;
        }
        let Some(mut left) = whole() else { return own };
        let is_shown = |other: &NodeId| {
            *other != id && !self.is_apart(*other) && self.value(*other, "display").as_deref() != Some("none")
        };
        // The layout breaks lines by the width of the window: it knows how high a content is, and not how wide.
        let content = |id: NodeId| if axis == HEIGHT { Some((self.rough)(id)?.height) } else { None };
        let (mut others_grow, mut others_shrink) = (false, false);
        for (place, other) in tree.child_elements(line).filter(is_shown).enumerate() {
            if place >= limits::STYLE_LINE_MAX {
                return own;
            }
            let Some(size) = basis(other).or_else(|| content(other)) else { return own };
            left -= size.max(self.length(other, axis.least, whole).unwrap_or_default());
            others_grow |= grows(other);
            others_shrink |= shrinks(other);
        }
        // It does not grow where what is left is less than its content, unless that is cut off or declared to be no least size.
        let size = own.or_else(|| content(id)).unwrap_or_default();
        let may_be_less = is_growing && (self.clips(id, axis) || self.length(id, axis.least, whole).is_some());
        match left >= if may_be_less { 0.0 } else { size } {
            true if is_growing && !others_grow => Some(left),
            false if is_shrinking && !others_shrink => Some(left.max(0.0)),
            _ => own,
        }
    }

    /// Whether an element shows no more of its content than it has room for.
    fn clips(&self, id: NodeId, axis: Axis) -> bool {
        self.value(id, axis.overflow).is_some_and(|value| value != "visible")
    }
}

/// The names of what is width or height.
#[derive(Clone, Copy, PartialEq)]
struct Axis {
    size: &'static str,
    least: &'static str,
    most: &'static str,
    overflow: &'static str,
}

const WIDTH: Axis = Axis { size: "width", least: "min-width", most: "max-width", overflow: "overflow-x" };
const HEIGHT: Axis = Axis { size: "height", least: "min-height", most: "max-height", overflow: "overflow-y" };

impl Axis {
    fn of(self, place: ElementBox) -> f64 {
        if self == WIDTH { place.width } else { place.height }
    }

    fn of_view(self, view: Viewport) -> f64 {
        if self == WIDTH { view.width } else { view.height }
    }
}
