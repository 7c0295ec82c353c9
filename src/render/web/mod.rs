//! The document for scripts: wrappers over the arena of `dom`, on the engine of `engine`.
//!
//! ```text
//! load::Window → engine + document → parser and scripts alternate (`load`) → events → the tree's contents
//! script → native of an interface (`node`, `element`, …) → Web::tree → settle: reactions, observers, inserted scripts
//! ```
//!
//! A wrapper is an object with a node's id; a node has at most one, which lives until the page ends. A native changes the tree through
//! [`change`], which passes the log to all watchers before the script continues. No borrow of [`Web`] is held while a script may run.

pub(crate) mod animations;
pub(crate) mod canvas;
pub(crate) mod clipboard;
pub(crate) mod cssom;
pub(crate) mod cssom_view;
pub(crate) mod dom;
pub(crate) mod file_api;
pub mod html;
pub mod interact;
pub(crate) mod intersection_observer;
pub(crate) mod missing;
pub(crate) mod selection;
mod shown;
#[cfg(test)]
mod tests;
pub(crate) mod webidl;
pub(crate) mod workers;

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::{Context, Finalize, JsData, JsError, JsObject, JsResult, JsValue, Trace};
use url::Url;

use self::animations::{css_animations, web_animations};
use self::cssom::{style, style_sheets, styles};
use self::cssom_view::{layout, media, metrics, unshown};
use self::dom::{
    attr, collection, create_event, data, document, element, event_path, implementation, node, observe, parent, range,
    shadow, tokens, traversal, xpath,
};
pub use self::html::windows::own_document;
use self::html::{
    closed, cookies, custom, document_state, event_source, frames, history, load, location, messages, named,
    navigation, parsing, resources, scripts, storage, window, windows, writing,
};
use self::webidl::{exotic, interfaces};
use super::dom::{Error, Mutation, NodeId, NodeKind, SelectorCache, Tree};
use super::engine::target::{self, Listeners, Target, TargetKind};
use super::engine::{bind, events, exception, realm};

/// The tree of a page and the state that its natives share.
pub struct Web {
    pub tree: Tree,
    /// The document of the page's own window.
    pub document: NodeId,
    pub selectors: SelectorCache,
    /// By node number. Strong references, so that a node that a script has seen keeps its object; dropped with the page.
    wrappers: Vec<Option<JsObject>>,
    recent_lists: collection::Recent,
    frames: frames::Frames,
    realms: windows::Realms,
    /// URLs of documents other than the window's own.
    addresses: HashMap<NodeId, Url>,
}

/// The natives' handle of the tree.
pub type SharedWeb = Rc<RefCell<Web>>;

/// The data of a node's object besides its id.
#[derive(Trace, Finalize, JsData)]
pub struct NodeObject {
    #[unsafe_ignore_trace]
    id: NodeId,
    listeners: Listeners,
    slots: Vec<Slot>,
}

/// An object that belongs to a node and stays the same: its `classList`, its `childNodes`.
#[derive(Trace, Finalize)]
struct Slot {
    #[unsafe_ignore_trace]
    name: &'static str,
    object: JsObject,
}

impl Target for NodeObject {
    fn listeners(&mut self) -> &mut Listeners {
        &mut self.listeners
    }
}

/// The watchers of tree changes. They run in this order before the script continues.
const WATCHERS: &[fn(&[Mutation], &mut Context)] = &[
    observe::watch,
    html::tree_changed,
    shadow::watch,
    named::watch,
    frames::watch,
    custom::watch,
    resources::came_in,
    intersection_observer::tree_changed,
    css_animations::watch,
];

/// Adds a tree with an empty document to the engine, and the DOM interfaces.
///
/// # Errors
/// When the engine's own set-up fails.
pub fn install(setting: &load::Setting, context: &mut Context) -> JsResult<()> {
    let mut tree = Tree::new();
    let document = tree.create_document(true).map_err(|error| bind::type_error(error.to_string()))?;
    if let Some(data) = tree.document_data_mut(document) {
        data.scripting = true;
    }
    tree.keep_log(true);
    let web = Web {
        tree,
        document,
        selectors: SelectorCache::default(),
        wrappers: Vec::new(),
        recent_lists: collection::Recent::default(),
        frames: frames::Frames::default(),
        realms: windows::Realms::default(),
        addresses: HashMap::new(),
    };
    context.insert_data::<SharedWeb>(Rc::new(RefCell::new(web)));
    windows::remember(setting, document, context);
    install_window(setting, context)
}

/// Adds the DOM interfaces to the current window.
fn install_window(setting: &load::Setting, context: &mut Context) -> JsResult<()> {
    exotic::install(context)?;
    missing::install(context)?;
    unshown::install(context);
    html::resources::install(context);
    target::register(TargetKind::with_way::<NodeObject>(event_path::way), context);
    context.insert_data(events::Outermost(event_path::is_outermost));
    node::install(context)?;
    interfaces::install(context)?;
    element::install(context)?;
    document::install(context)?;
    data::install(context)?;
    parent::install(context)?;
    observe::install(context)?;
    shadow::install(context)?;
    custom::install(context)?;
    range::install(context)?;
    selection::install(context)?;
    traversal::install(context)?;
    parsing::install(context)?;
    create_event::install(context)?;
    xpath::install(context)?;
    collection::install(context)?;
    attr::install(context)?;
    tokens::install(context)?;
    implementation::install(context)?;
    named::install(context)?;
    frames::install(context)?;
    html::install(context)?;
    navigation::install(context);
    location::install(context)?;
    history::install(context)?;
    layout::install(context);
    window::install(setting.viewport, context)?;
    media::install(context)?;
    metrics::install(context)?;
    load::install(context)?;
    scripts::install(context)?;
    writing::install(context)?;
    intersection_observer::install(context)?;
    cookies::install(&setting.cookies, context)?;
    storage::install(&setting.stored, context)?;
    messages::install(context)?;
    closed::install(context)?;
    event_source::install(context)?;
    workers::install(context)?;
    file_api::install(context)?;
    canvas::install(context)?;
    style::install(context)?;
    styles::install(context);
    css_animations::install(context);
    style_sheets::install(context)?;
    web_animations::install(context)?;
    clipboard::install(context)?;
    document_state::install(&setting.referrer, context)
}

/// The tree of a context.
///
/// # Panics
/// On a context without a document: natives of this crate are installed together with it.
pub fn of(context: &Context) -> SharedWeb {
    Rc::clone(context.get_data::<SharedWeb>().expect("install gives the context its document"))
}

/// Reads the tree. No script may run during the call.
pub fn read<T>(context: &Context, what: impl FnOnce(&Tree) -> T) -> T {
    what(&of(context).borrow().tree)
}

/// Changes the tree, then settles the consequences of the change.
///
/// # Errors
/// The tree's error as a `DOMException`.
pub fn change<T>(context: &mut Context, what: impl FnOnce(&mut Tree) -> Result<T, Error>) -> JsResult<T> {
    let result = what(&mut of(context).borrow_mut().tree);
    settle(context);
    result.map_err(|error| thrown(error, context))
}

/// Passes changes to the watchers until there are no new ones.
pub fn settle(context: &mut Context) {
    let web = of(context);
    loop {
        let log = web.borrow_mut().tree.take_log();
        if log.is_empty() {
            return;
        }
        if realm::is_single(context) {
            WATCHERS.iter().for_each(|watcher| watcher(&log, context));
            continue;
        }
        for (realm, part) in windows::parts(log, context) {
            realm::within(&realm, context, |context| WATCHERS.iter().for_each(|watcher| watcher(&part, context)));
        }
    }
}

/// A tree error as a script exception.
pub fn thrown(error: Error, context: &mut Context) -> JsError {
    exception::error(error.name(), &error.to_string(), context)
}

/// The object of a node, created on first access.
///
/// # Errors
/// When an interface is missing, which is a bug.
pub fn wrap(id: NodeId, context: &mut Context) -> JsResult<JsObject> {
    let web = of(context);
    if let Some(object) = web.borrow().wrapper(id) {
        return Ok(object);
    }
    windows::within(id, context, |context| wrap_first(id, context))
}

fn wrap_first(id: NodeId, context: &mut Context) -> JsResult<JsObject> {
    let web = of(context);
    let name = interfaces::of(&web.borrow().tree, id);
    html::complete(name, context)?;
    let prototype = bind::prototype(name, context)?;
    let mut listeners = Listeners::default();
    html::handlers::adopt(&web.borrow().tree, id, &mut listeners);
    let object = JsObject::from_proto_and_data(prototype, NodeObject { id, listeners, slots: Vec::new() });
    let object = match html::form::kind_of_element(name) {
        None => object,
        Some(kind) => {
            let proxy = exotic::wrap_target(object.clone(), kind, context)?;
            target::stands_for(proxy.clone(), object, context);
            proxy
        }
    };
    web.borrow_mut().keep(id, object.clone());
    Ok(object)
}

/// The result of a node interface's constructor: a new node, whose object has the prototype of the new target.
///
/// # Errors
/// When it was called without `new`, the new target throws, or the document is full.
pub fn construct(
    new_target: &JsValue,
    interface: &'static str,
    create: impl FnOnce(&mut Tree) -> Result<NodeId, Error>,
    context: &mut Context,
) -> JsResult<JsValue> {
    // The node is created first. If its object then fails, an unreachable node does no harm.
    let id = change(context, create)?;
    let data = NodeObject { id, listeners: Listeners::default(), slots: Vec::new() };
    let made = bind::construct(new_target, interface, data, context)?;
    if let Some(object) = made.as_object() {
        of(context).borrow_mut().keep(id, object);
    }
    Ok(made)
}

/// The object of a node, or `null`.
///
/// # Errors
/// As [`wrap`].
pub fn wrap_or_null(id: Option<NodeId>, context: &mut Context) -> JsResult<JsValue> {
    id.map_or_else(|| Ok(JsValue::null()), |id| Ok(wrap(id, context)?.into()))
}

/// The node of an object; `None` for anything else.
pub fn node_of(value: &JsValue, context: &mut Context) -> Option<NodeId> {
    let object = exotic::target_of(value.as_object()?, context);
    object.downcast_ref::<NodeObject>().map(|node| node.id)
}

/// The node of an object that is not a proxy.
pub fn id_of(object: &JsObject) -> Option<NodeId> {
    object.downcast_ref::<NodeObject>().map(|node| node.id)
}

/// `this` as a node.
///
/// # Errors
/// "Illegal invocation" for anything else.
pub fn this_node(this: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    node_of(this, context).ok_or_else(|| bind::type_error("Illegal invocation"))
}

/// `this` as a node of some kinds.
///
/// # Errors
/// "Illegal invocation" for anything else.
pub fn this_of(this: &JsValue, kinds: &[NodeKind], context: &mut Context) -> JsResult<NodeId> {
    let id = this_node(this, context)?;
    if read(context, |tree| kinds.contains(&tree.kind(id))) {
        Ok(id)
    } else {
        Err(bind::type_error("Illegal invocation"))
    }
}

/// `this` as an element.
///
/// # Errors
/// "Illegal invocation" for anything else.
pub fn this_element(this: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    this_of(this, &[NodeKind::Element], context)
}

/// `this` as a document; a bare call means the window's.
///
/// # Errors
/// "Illegal invocation" for anything else.
pub fn this_document(this: &JsValue, context: &mut Context) -> JsResult<NodeId> {
    this_of(this, &[NodeKind::Document], context)
}

/// An argument that must be a node.
///
/// # Errors
/// A `TypeError` that names the method.
pub fn node_argument(args: &[JsValue], index: usize, what: &str, context: &mut Context) -> JsResult<NodeId> {
    node_argument_or_null(args, index, what, context)?.ok_or_else(|| not_a_node(index, what))
}

/// An argument that must be a node, `null` or missing.
///
/// # Errors
/// A `TypeError` that names the method.
pub fn node_argument_or_null(
    args: &[JsValue],
    index: usize,
    what: &str,
    context: &mut Context,
) -> JsResult<Option<NodeId>> {
    match args.get(index) {
        None => Ok(None),
        Some(value) if value.is_null_or_undefined() => Ok(None),
        Some(value) => node_of(value, context).map(Some).ok_or_else(|| not_a_node(index, what)),
    }
}

fn not_a_node(index: usize, what: &str) -> JsError {
    bind::type_error(format!("Failed to execute '{what}': parameter {} is not of type 'Node'.", index + 1))
}

/// The permanent object of a node under this name, created by `make` on first use.
///
/// # Errors
/// What `make` throws.
pub fn slot(
    id: NodeId,
    name: &'static str,
    context: &mut Context,
    make: impl FnOnce(&mut Context) -> JsResult<JsObject>,
) -> JsResult<JsObject> {
    let object = exotic::target_of(wrap(id, context)?, context);
    let known = object
        .downcast_ref::<NodeObject>()
        .and_then(|node| node.slots.iter().find(|slot| slot.name == name).map(|slot| slot.object.clone()));
    if let Some(known) = known {
        return Ok(known);
    }
    let made = windows::within(id, context, make)?;
    if let Some(mut node) = object.downcast_mut::<NodeObject>() {
        node.slots.push(Slot { name, object: made.clone() });
    }
    Ok(made)
}

/// The permanent object of a node under this name, if it was ever created.
pub fn slot_if_made(id: NodeId, name: &'static str, context: &mut Context) -> Option<JsObject> {
    let wrapper = of(context).borrow().wrapper(id)?;
    let object = exotic::target_of(wrapper, context);
    let node = object.downcast_ref::<NodeObject>()?;
    node.slots.iter().find(|slot| slot.name == name).map(|slot| slot.object.clone())
}

/// Whether a node itself has a listener for events of a type.
pub(crate) fn listens_to(id: NodeId, kind: &str, context: &mut Context) -> bool {
    let Some(wrapper) = of(context).borrow().wrapper(id) else { return false };
    let object = exotic::target_of(wrapper, context);
    object.downcast_ref::<NodeObject>().is_some_and(|node| node.listeners.has_kind(kind))
}

impl Web {
    /// The object of a node that a script has seen.
    pub fn wrapper(&self, id: NodeId) -> Option<JsObject> {
        self.wrappers.get(id.to_u32() as usize).cloned().flatten()
    }

    /// Makes an object the node's wrapper, as the constructor of a custom element does.
    pub fn keep(&mut self, id: NodeId, object: JsObject) {
        let place = id.to_u32() as usize;
        if self.wrappers.len() <= place {
            self.wrappers.resize(place + 1, None);
        }
        self.wrappers[place] = Some(object);
    }
}
