//! What the boxes of lists hold back. A list that draws the rows in view depends on the size of its box: one that the layout gives no
//! height stays empty, and any other goes on below what it shows.

use std::cell::RefCell;

use boa_engine::Context;

use super::layout::{self, ElementBox};
use crate::dom::NodeId;
use crate::engine::realm;
use crate::limits;
use crate::web::cssom::sizes;
use crate::web::html::activation;
use crate::web::{listens_to, own_document, read};
use crate::wire::Unshown;

/// Elements that scripts have measured and that had no height.
#[derive(Default)]
struct Flat(RefCell<Vec<NodeId>>);

pub(crate) fn install(context: &mut Context) {
    realm::share(Flat::default, context);
}

/// A script has measured an element.
pub(crate) fn measured(id: NodeId, place: Option<ElementBox>, context: &Context) {
    if place.is_none_or(|place| place.height > 0.0) {
        return;
    }
    let Some(flat) = context.get_data::<Flat>() else { return };
    let mut flat = flat.0.borrow_mut();
    if flat.len() < limits::RENDER_FLAT_MAX && !flat.contains(&id) {
        flat.push(id);
    }
}

/// The boxes of the page as it is. Those with more below them are looked for if `below` is set.
pub(crate) fn told(below: bool, context: &mut Context) -> Unshown {
    let flat = context.get_data::<Flat>().map(|flat| flat.0.borrow().clone()).unwrap_or_default();
    let flat = flat.into_iter().filter(|id| is_flat(*id, context)).count() as u32;
    let document = own_document(context);
    let elements: Vec<NodeId> = match below {
        true => read(context, |tree| tree.descendants(document).filter(|id| tree.is_element(*id)).collect()),
        false => Vec::new(),
    };
    let boxes = elements.into_iter().filter(|id| listens_to(*id, "scroll", context)).collect::<Vec<_>>();
    let below = boxes.into_iter().take(limits::RENDER_BOXES_MAX).filter(|id| has_more(*id, context)).count() as u32;
    Unshown { flat, below, rows: None }
}

/// Whether an element is the box of a list, shows no link, and has a height that the layout does not know.
fn is_flat(id: NodeId, context: &mut Context) -> bool {
    let around = read(context, |tree| tree.is_connected(id).then(|| tree.parent(id)));
    let Some(parent) = around else { return false };
    let scrolls = [Some(id), parent].into_iter().flatten().any(|id| listens_to(id, "scroll", context));
    scrolls
        && sizes::place(id, context).is_some_and(|place| place.height == 0.0)
        && sizes::is_guess(id, context)
        && read(context, |tree| tree.descendants(id).all(|id| !activation::is_link(tree, id)))
}

/// Whether a box is known to be lower than what is in it, and not scrolled to the end.
fn has_more(id: NodeId, context: &mut Context) -> bool {
    let Some(place) = sizes::place(id, context).filter(|place| place.height > 0.0) else { return false };
    let shown = layout::inner_scroll(id, context).1 + place.height;
    sizes::is_window(id, context) && layout::content_height(id, context) > shown + 1.0
}
