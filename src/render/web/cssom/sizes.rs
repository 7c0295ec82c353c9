//! The size of an element: that of the rough layout, corrected by what `style` attributes and the page's rules declare.
//!
//! Virtual lists draw what the box that scrolls has room for. Such a box has the height of the block around it (`height: 100%`, or
//! `flex: 1` below a header), and not that of its rows.

use boa_engine::Context;
use html5ever::local_name;

use super::styles::{ask_for_script, value_of};
use crate::dom::NodeId;
use crate::dom::style::cascade::Cascade;
use crate::limits;
use crate::web::cssom_view::layout::{self, ElementBox};
use crate::web::html::window::viewport;

/// The position of an element, from the layout and the page's rules; `None` if it is not displayed.
pub(crate) fn place(id: NodeId, context: &mut Context) -> Option<ElementBox> {
    let mut place = layout::place(id, context)?;
    let view = viewport(context).height;
    let places = layout::places(context);
    let (is_hidden, width, height) = ask_for_script(context, |cascade| {
        let sizes = Sizes { cascade, view, places: &places };
        let is_none = |id: NodeId| cascade.specified(id, "display", false, None).as_deref() == Some("none");
        let is_hidden =
            sizes.speaks("display") && std::iter::successors(Some(id), |id| cascade.parent(*id)).any(is_none);
        let width = sizes.speaks("width").then(|| value_of(cascade, id, "width", None)).flatten();
        (is_hidden, width.as_deref().and_then(pixels), sizes.height(id, place.height))
    });
    if is_hidden {
        return None;
    }
    place.width = width.unwrap_or(place.width);
    place.height = height;
    Some(place)
}

/// A length that is declared in pixels and not negative.
fn pixels(value: &str) -> Option<f64> {
    value.strip_suffix("px")?.parse::<f64>().ok().filter(|length| *length >= 0.0)
}

/// What heights are determined by.
struct Sizes<'a, 'b> {
    cascade: &'a Cascade<'b>,
    /// The height of the window.
    view: f64,
    places: &'a dyn Fn(NodeId) -> Option<ElementBox>,
}

impl Sizes<'_, '_> {
    /// Whether any rule declares a property.
    fn speaks(&self, property: &str) -> bool {
        self.cascade.indexes.values().any(|index| index.speaks_of(property))
    }

    /// A declared value; without looking through the rules if none declares the property.
    fn value(&self, id: NodeId, property: &str) -> Option<String> {
        let style = self.cascade.tree.attribute(id, &local_name!("style"));
        let is_declared = style.is_some_and(|style| style.contains(property)) || self.speaks(property);
        is_declared.then(|| value_of(self.cascade, id, property, None)).flatten()
    }

    /// The height of an element whose content has this height.
    fn height(&self, id: NodeId, content: f64) -> f64 {
        let height = self.definite(id, "height", 0).unwrap_or_else(|| match self.clips(id) {
            true => self.room(id).map_or(content, |room| content.min(room)),
            false => content,
        });
        self.definite(id, "max-height", 0).map_or(height, |most| height.min(most))
    }

    /// A height that does not depend on the content (CSS Sizing 3 §4): pixels, a share of the window, or of a definite height around; or
    /// what is left in a column for the one that grows (CSS Flexbox 1 §9.8).
    fn definite(&self, id: NodeId, property: &str, depth: usize) -> Option<f64> {
        if depth >= limits::STYLE_BLOCKS_MAX {
            return None;
        }
        if property == "height" && self.grows(id) {
            let parent = self.around(id)?;
            return self
                .definite(parent, "height", depth + 1)
                .map(|height| (height - self.beside(parent, id)).max(0.0));
        }
        let value = self.value(id, property)?;
        if let Some(share) = value.strip_suffix('%') {
            let share = share.parse::<f64>().ok().filter(|share| *share >= 0.0)? / 100.0;
            let around = self.around(id).map_or(Some(self.view), |parent| self.definite(parent, "height", depth + 1));
            return Some(share * around?);
        }
        self.absolute(&value)
    }

    /// A length in pixels, or as a share of the window's height.
    fn absolute(&self, value: &str) -> Option<f64> {
        let of_window = ["dvh", "svh", "lvh", "vh"].into_iter().find_map(|unit| value.strip_suffix(unit));
        match of_window {
            Some(share) => share.parse::<f64>().ok().map(|share| share * self.view / 100.0),
            None => pixels(value),
        }
    }

    /// The block around an element: boxes that are only their contents are none.
    fn around(&self, id: NodeId) -> Option<NodeId> {
        let is_box = |id: &NodeId| self.value(*id, "display").as_deref() != Some("contents");
        std::iter::successors(self.cascade.parent(id), |id| self.cascade.parent(*id)).find(is_box)
    }

    fn is_column(&self, id: NodeId) -> bool {
        self.value(id, "flex-direction").is_some_and(|value| value.starts_with("column"))
    }

    /// Whether an element takes what a column has left.
    fn grows(&self, id: NodeId) -> bool {
        let grow = self.value(id, "flex-grow").filter(|grow| grow != "0").or_else(|| self.value(id, "flex"));
        let is_number =
            |grow: &str| grow.split(' ').next().and_then(|grow| grow.parse().ok()).is_some_and(|n: f64| n > 0.0);
        grow.is_some_and(|grow| grow == "auto" || is_number(&grow))
            && self.around(id).is_some_and(|parent| {
                self.is_column(parent) && self.value(parent, "display").is_some_and(|value| value.ends_with("flex"))
            })
    }

    /// Whether an element shows no more of its content than it has room for.
    fn clips(&self, id: NodeId) -> bool {
        ["overflow-y", "overflow"].into_iter().any(|property| {
            let value = self.value(id, property).unwrap_or_default();
            let last = value.split_ascii_whitespace().next_back().unwrap_or_default();
            matches!(last, "auto" | "scroll" | "hidden" | "clip")
        })
    }

    /// The room in the nearest block of a definite height, without what stands above and below the element in it.
    fn room(&self, id: NodeId) -> Option<f64> {
        let (mut at, mut taken) = (id, 0.0);
        for _ in 0..limits::STYLE_BLOCKS_MAX {
            let parent = self.around(at)?;
            taken += self.beside(parent, at);
            if let Some(height) = self.definite(parent, "height", 0) {
                return Some((height - taken).max(0.0));
            }
            at = parent;
        }
        None
    }

    /// The height of the other children of a block that are above and below one of them.
    fn beside(&self, parent: NodeId, one: NodeId) -> f64 {
        let display = self.value(parent, "display").unwrap_or_default();
        if display.ends_with("grid") || display.ends_with("flex") && !self.is_column(parent) {
            return 0.0;
        }
        let is_apart = |id: NodeId| matches!(self.value(id, "position").as_deref(), Some("absolute" | "fixed"));
        if is_apart(one) {
            return 0.0;
        }
        let others = self.cascade.tree.child_elements(parent).filter(|other| *other != one);
        let heights = others.take(limits::STYLE_SIBLINGS_MAX).filter(|other| !is_apart(*other)).map(|other| {
            let is_none = self.value(other, "display").as_deref() == Some("none");
            let height = self.value(other, "height").and_then(|value| self.absolute(&value));
            if is_none { 0.0 } else { height.or_else(|| Some((self.places)(other)?.height)).unwrap_or_default() }
        });
        heights.sum()
    }
}
