//! HTML elements for scripts (HTML §4): the members of each interface beyond `HTMLElement`, forms, and click activation.
//!
//! ```text
//! table (reflected attributes) → reflect → the tree's attributes
//! click → activation → form (entries, submission) | link | details … → navigation
//! ```
//!
//! Nothing is laid out, played or fetched here: images, media and frames exist as empty elements.

pub(crate) mod activation;
pub(crate) mod closed;
pub mod controls;
pub(crate) mod cookies;
pub(crate) mod custom;
mod dataset;
pub mod document_state;
mod element;
mod embedded;
pub(crate) mod event_source;
pub mod filling;
pub mod form;
pub(crate) mod frames;
pub mod handlers;
pub(crate) mod history;
mod inner_text;
mod input;
mod interactive;
mod link;
pub mod load;
pub(crate) mod location;
pub(crate) mod messages;
mod moments;
pub(crate) mod named;
pub mod navigation;
pub mod numbers;
pub(crate) mod parsing;
mod references;
pub mod reflect;
pub(crate) mod resources;
pub(crate) mod scripts;
pub mod select;
pub(crate) mod source;
pub mod storage;
pub mod submit;
pub mod table;
mod tables;
#[cfg(test)]
mod tests;
mod text;
pub(super) mod values;
pub mod window;
pub(crate) mod windows;
pub(crate) mod writing;

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use boa_engine::property::PropertyDescriptor;
use boa_engine::{Context, JsArgs, JsResult, JsValue, NativeFunction, js_string};

use crate::dom::{Mutation, NodeId};
use crate::engine::{bind, blob, realm, target};
use crate::web::of;

/// State of elements that scripts set and no attribute holds.
#[derive(Default)]
pub struct ScriptedState {
    references: HashMap<(NodeId, &'static str), references::Reference>,
    /// Nonces set by scripts; setting the attribute replaces them.
    nonces: HashMap<NodeId, String>,
    /// Elements whose `click()` is running.
    clicks: HashSet<NodeId>,
    /// Popovers that are shown.
    popovers: HashSet<NodeId>,
    selections: HashMap<NodeId, text::Selection>,
    /// The control in which a script has selected text last.
    selected: Option<NodeId>,
    /// Forms in the process of submission, entry list construction or reset.
    submitting: HashSet<NodeId>,
    listing: HashSet<NodeId>,
    resetting: HashSet<NodeId>,
    /// Modal dialogs, and the return values of dialogs.
    modals: HashSet<NodeId>,
    results: HashMap<NodeId, String>,
    /// Texts of `output` elements before scripts set their values.
    outputs: HashMap<NodeId, String>,
    /// Media whose `muted` a script has set.
    muted: HashMap<NodeId, bool>,
}

type SharedState = Rc<RefCell<ScriptedState>>;

/// The text that a script selected in a control of the document, and the control.
pub(super) fn selected_text(context: &Context) -> Option<(String, NodeId)> {
    text::selected_text(context)
}

fn state(context: &Context) -> SharedState {
    context.get_data::<SharedState>().cloned().unwrap_or_default()
}

/// Defines the members of the elements' interfaces, which already exist.
///
/// # Errors
/// None that a page could cause.
pub(super) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(SharedState::default, context);
    of(context).borrow_mut().tree.validity = Some(controls::validity);
    dataset::install(context)?;
    element::install(context)?;
    link::install(context)?;
    tables::install(context)?;
    handlers::install(context)?;
    controls::install(context)?;
    controls::install_gauges(context)?;
    input::install(context)?;
    text::install(context)?;
    select::install(context)?;
    form::install(context)?;
    interactive::install(context)?;
    embedded::install(context)?;
    blob::set_form_reader(submit::read_form, context);
    target::set_document_hooks(handlers::compile, activation::begin, context);
    put_off(context)
}

/// Rows of interfaces that are not used yet: most pages use a dozen of sixty, and defining rows is most of the cost of starting a page.
#[derive(Default)]
struct Pending(RefCell<HashMap<&'static str, &'static [reflect::Row]>>);

/// Defines the rows of the interfaces that all elements share. Those of other interfaces wait for the first element, or for a script that
/// reads the constructor.
fn put_off(context: &mut Context) -> JsResult<()> {
    realm::keep(Pending::default(), context);
    let global = context.global_object();
    for (interface, rows) in table::TABLE.iter().copied() {
        if matches!(interface, "Element" | "HTMLElement") {
            reflect::define(interface, rows, context)?;
            continue;
        }
        if let Some(pending) = realm::own::<Pending>(context) {
            pending.0.borrow_mut().insert(interface, rows);
        }
        let get = NativeFunction::from_copy_closure(move |_, _, context| {
            complete(interface, context)?;
            // It stays an accessor: if its getter replaced it by a plain value, the engine's inline cache would take the value for the
            // getter.
            bind::constructor(interface, context).map(JsValue::from)
        });
        let set = NativeFunction::from_copy_closure(move |_, args, context| {
            let global = context.global_object();
            bind::hidden(&global, js_string!(interface), args.get_or_undefined(0).clone(), true, context)?;
            Ok(JsValue::undefined())
        });
        let (get, set) = (get.to_js_function(context.realm()), set.to_js_function(context.realm()));
        let asked = PropertyDescriptor::builder().get(get).set(set).enumerable(false).configurable(true);
        global.define_property_or_throw(js_string!(interface), asked, context)?;
    }
    Ok(())
}

/// Defines the deferred rows of an interface and its parent.
///
/// # Errors
/// When the page has sealed a prototype, which it cannot have accessed before.
pub(super) fn complete(interface: &str, context: &mut Context) -> JsResult<()> {
    let rows = realm::own::<Pending>(context).and_then(|pending| pending.0.borrow_mut().remove(interface));
    let Some(rows) = rows else { return Ok(()) };
    if matches!(interface, "HTMLAudioElement" | "HTMLVideoElement") {
        complete("HTMLMediaElement", context)?;
    }
    reflect::define(interface, rows, context)
}

/// Updates the state that scripts set as the tree changes.
pub(super) fn tree_changed(log: &[Mutation], context: &mut Context) {
    handlers::body_came_in(log, context);
    for one in log {
        let Mutation::Attribute { target, namespace, local, old, new } = one else {
            if let Mutation::Children { target, removed, .. } = one {
                select::children_changed(*target, !removed.is_empty(), context);
            }
            continue;
        };
        if !namespace.is_empty() {
            continue;
        }
        match &**local {
            "type" => input::type_changed(*target, old.as_deref(), context),
            "open" => interactive::open_changed(*target, old.is_some(), new.is_some(), context),
            "nonce" => drop(state(context).borrow_mut().nonces.remove(target)),
            name if name.starts_with("aria-") || name == "popovertarget" => {
                references::attribute_written(*target, name, context);
            }
            name if name.starts_with("on") => handlers::attribute_changed(*target, name, new.as_deref(), context),
            _ => {}
        }
    }
}
