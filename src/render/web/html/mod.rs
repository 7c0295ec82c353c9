//! Elements of HTML as scripts see them (HTML §4): what each interface adds to `HTMLElement`, forms and what a click does.
//!
//! ```text
//! table (what reflects what) → reflect → the tree's attributes
//! click → activation → form (entries, submission) | link | details … → navigation
//! ```
//!
//! Nothing is laid out, played or fetched here: images, media and frames are there as elements and stay empty.

mod dataset;
mod element;
pub mod handlers;
mod inner_text;
mod link;
pub mod numbers;
mod references;
pub mod reflect;
mod table;
mod tables;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use boa_engine::{Context, JsResult};

use crate::render::dom::{Mutation, NodeId};
use crate::render::engine::target;

/// What scripts told elements that no attribute holds.
#[derive(Default)]
pub struct State {
    references: HashMap<(NodeId, &'static str), references::Reference>,
    /// Nonces that scripts set; an attribute that is written takes their place.
    nonces: HashMap<NodeId, String>,
    /// Elements whose `click()` is under way.
    clicks: HashSet<NodeId>,
    /// Popovers that are shown.
    popovers: HashSet<NodeId>,
}

type SharedState = Rc<RefCell<State>>;

fn state(context: &Context) -> SharedState {
    context.get_data::<SharedState>().cloned().unwrap_or_default()
}

/// Defines the members of the elements' interfaces, which are there.
///
/// # Errors
/// None that a page could cause.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    context.insert_data(SharedState::default());
    for (interface, rows) in table::TABLE {
        reflect::define(interface, rows, context)?;
    }
    dataset::install(context)?;
    element::install(context)?;
    link::install(context)?;
    tables::install(context)?;
    handlers::install(context)?;
    target::set_document_hooks(handlers::compile, |_, _, _| None, context);
    Ok(())
}

/// Keeps what scripts told elements in step with their attributes.
pub(super) fn attributes_changed(log: &[Mutation], context: &mut Context) {
    handlers::body_came_in(log, context);
    for one in log {
        let Mutation::Attribute { target, namespace, local, new, .. } = one else { continue };
        if !namespace.is_empty() {
            continue;
        }
        match &**local {
            "nonce" => drop(state(context).borrow_mut().nonces.remove(target)),
            name if name.starts_with("aria-") || name == "popovertarget" => {
                references::attribute_written(*target, name, context);
            }
            name if name.starts_with("on") => handlers::attribute_changed(*target, name, new.as_deref(), context),
            _ => {}
        }
    }
}
