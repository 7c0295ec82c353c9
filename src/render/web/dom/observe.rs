//! `MutationObserver` (DOM §4.3): turns the tree's log into records and delivers them in a microtask.
//!
//! The interested observers are determined when the log is processed, before the script that made the change continues. This matches the
//! standard except for natives that make several changes in one call. `slotchange` events follow after the observers, in the same
//! microtask.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};
use html5ever::LocalName;

use super::collection;
use crate::dom::{Mutation, NodeId, Tree};
use crate::engine::{bind, events, jobs, realm};
use crate::limits;
use crate::web::{node_argument, read, wrap, wrap_or_null};

/// An observer's object.
#[derive(Trace, Finalize, JsData)]
struct Observer {
    callback: JsObject,
    /// The observed nodes.
    #[unsafe_ignore_trace]
    nodes: Vec<NodeId>,
    records: Vec<JsObject>,
}

/// `MutationObserverInit`, with the implied values of omitted members.
#[derive(Clone, Debug, Default)]
struct Options {
    child_list: bool,
    attributes: bool,
    character_data: bool,
    subtree: bool,
    attribute_old_value: bool,
    character_data_old_value: bool,
    filter: Option<Vec<LocalName>>,
}

/// "Registered observer" of a node; a transient one stores the node that it came from.
#[derive(Clone)]
struct Registered {
    observer: JsObject<Observer>,
    options: Rc<Options>,
    source: Option<NodeId>,
}

#[derive(Default)]
struct Observers {
    registered: HashMap<NodeId, Vec<Registered>>,
    /// Observers with pending records, in order of their first.
    pending: Vec<JsObject<Observer>>,
    /// "Signal slots": those that get a `slotchange`.
    slots: Vec<NodeId>,
    is_queued: bool,
}

type SharedObservers = Rc<RefCell<Observers>>;

/// A record's object.
#[derive(Trace, Finalize, JsData)]
struct Record {
    #[unsafe_ignore_trace]
    target: NodeId,
    #[unsafe_ignore_trace]
    what: What,
    #[unsafe_ignore_trace]
    old: Option<String>,
    /// `addedNodes` and `removedNodes`, once requested.
    lists: [Option<JsObject>; 2],
}

#[derive(Clone)]
enum What {
    Attribute { local: LocalName, namespace: String },
    Text,
    Children { lists: Rc<[Vec<NodeId>; 2]>, previous: Option<NodeId>, next: Option<NodeId> },
}

const OBSERVER: bind::Interface = bind::Interface {
    name: "MutationObserver",
    constructor: Some(|new_target, args, context| {
        let callback = args.get_or_undefined(0).as_callable().ok_or_else(|| {
            bind::type_error("Failed to construct 'MutationObserver': parameter 1 is not of type 'Function'.")
        })?;
        let observer = Observer { callback, nodes: Vec::new(), records: Vec::new() };
        bind::construct(new_target, "MutationObserver", observer, context)
    }),
    length: 1,
    methods: &[
        ("observe", 1, observe),
        ("disconnect", 0, |this, _, context| {
            let observer = bind::this::<Observer>(this)?;
            let nodes = std::mem::take(&mut observer.borrow_mut().data_mut().nodes);
            observer.borrow_mut().data_mut().records.clear();
            let state = of(context);
            forget(&mut state.borrow_mut(), &nodes, |one| JsObject::equals(&one.observer, &observer));
            forget_transient(&mut state.borrow_mut(), |one| JsObject::equals(&one.observer, &observer));
            Ok(JsValue::undefined())
        }),
        ("takeRecords", 0, |this, _, context| {
            let records = std::mem::take(&mut bind::this::<Observer>(this)?.borrow_mut().data_mut().records);
            Ok(bind::array(records.into_iter().map(JsValue::from), context))
        }),
    ],
    ..bind::Interface::EMPTY
};

const RECORD: bind::Interface = bind::Interface {
    name: "MutationRecord",
    attributes: &[
        (
            "type",
            |this, _, _| {
                Ok(bind::js(match &bind::this::<Record>(this)?.borrow().data().what {
                    What::Attribute { .. } => "attributes",
                    What::Text => "characterData",
                    What::Children { .. } => "childList",
                }))
            },
            None,
        ),
        (
            "target",
            |this, _, context| {
                let target = bind::this::<Record>(this)?.borrow().data().target;
                wrap(target, context).map(JsValue::from)
            },
            None,
        ),
        ("addedNodes", |this, _, context| list(this, 0, context), None),
        ("removedNodes", |this, _, context| list(this, 1, context), None),
        ("previousSibling", |this, _, context| sibling(this, |previous, _| previous, context), None),
        ("nextSibling", |this, _, context| sibling(this, |_, next| next, context), None),
        (
            "attributeName",
            |this, _, _| {
                Ok(match &bind::this::<Record>(this)?.borrow().data().what {
                    What::Attribute { local, .. } => bind::js(local),
                    _ => JsValue::null(),
                })
            },
            None,
        ),
        (
            "attributeNamespace",
            |this, _, _| {
                Ok(match &bind::this::<Record>(this)?.borrow().data().what {
                    What::Attribute { namespace, .. } if !namespace.is_empty() => bind::js(namespace),
                    _ => JsValue::null(),
                })
            },
            None,
        ),
        (
            "oldValue",
            |this, _, _| {
                let record = bind::this::<Record>(this)?;
                Ok(record.borrow().data().old.as_deref().map_or_else(JsValue::null, bind::js))
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    realm::share(SharedObservers::default, context);
    bind::define(&RECORD, context)?;
    bind::define(&OBSERVER, context)?;
    // Old pages use the WebKit name.
    let global = context.global_object();
    let observer = global.get(boa_engine::js_string!("MutationObserver"), context)?;
    let property =
        boa_engine::property::PropertyDescriptor::builder().value(observer).writable(true).configurable(true);
    global.define_property_or_throw(boa_engine::js_string!("WebKitMutationObserver"), property, context).map(|_| ())
}

fn of(context: &Context) -> SharedObservers {
    context.get_data::<SharedObservers>().cloned().unwrap_or_default()
}

fn observe(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let observer = bind::this::<Observer>(this)?;
    bind::want(args, 1, "observe' on 'MutationObserver")?;
    let target = node_argument(args, 0, "observe' on 'MutationObserver", context)?;
    let options = Rc::new(options(args.get_or_undefined(1), context)?);
    let state = of(context);
    let mut state = state.borrow_mut();
    let registered = state.registered.entry(target).or_default();
    let known = registered.iter_mut().find(|one| one.source.is_none() && JsObject::equals(&one.observer, &observer));
    match known {
        Some(known) => {
            known.options = options;
            forget_transient(&mut state, |one| {
                one.source == Some(target) && JsObject::equals(&one.observer, &observer)
            });
        }
        None => {
            let mut data = observer.borrow_mut();
            if data.data().nodes.len() < limits::OBSERVED_NODES_MAX {
                data.data_mut().nodes.push(target);
                drop(data);
                registered.push(Registered { observer, options, source: None });
            }
        }
    }
    Ok(JsValue::undefined())
}

/// Steps 1 to 7 of `observe` (DOM §4.3.1).
fn options(init: &JsValue, context: &mut Context) -> JsResult<Options> {
    let mut given = |name| bind::member(init, name, context).map(|value| value.map(|value| value.to_boolean()));
    let attribute_old_value = given("attributeOldValue")?;
    let attributes = given("attributes")?;
    let character_data = given("characterData")?;
    let character_data_old_value = given("characterDataOldValue")?;
    let child_list = given("childList")?.unwrap_or(false);
    let subtree = given("subtree")?.unwrap_or(false);
    let filter = match bind::member(init, "attributeFilter", context)? {
        None => None,
        Some(list) => {
            let list = list.as_object().ok_or_else(|| bind::type_error("attributeFilter is no sequence"))?;
            let values = bind::values(&list, limits::OBSERVED_NODES_MAX, context)?;
            let mut names = Vec::with_capacity(values.len());
            for value in values {
                names.push(LocalName::from(value.to_string(context)?.to_std_string_lossy()));
            }
            Some(names)
        }
    };
    let wants_attributes = attributes.unwrap_or(attribute_old_value.is_some() || filter.is_some());
    let wants_data = character_data.unwrap_or(character_data_old_value.is_some());
    let refuse = |why: &str| {
        Err(bind::type_error(format!("Failed to execute 'observe' on 'MutationObserver': The options object {why}.")))
    };
    if !(child_list || wants_attributes || wants_data) {
        return refuse("must set at least one of 'attributes', 'characterData', or 'childList' to true");
    }
    if !wants_attributes && (attribute_old_value == Some(true) || filter.is_some()) {
        return refuse("asks for attributes while 'attributes' is false");
    }
    if !wants_data && character_data_old_value == Some(true) {
        return refuse("asks for old data while 'characterData' is false");
    }
    Ok(Options {
        child_list,
        attributes: wants_attributes,
        character_data: wants_data,
        subtree,
        attribute_old_value: attribute_old_value.unwrap_or(false),
        character_data_old_value: character_data_old_value.unwrap_or(false),
        filter,
    })
}

/// Removes registrations that satisfy `is_it` from these nodes.
fn forget(state: &mut Observers, nodes: &[NodeId], is_it: impl Fn(&Registered) -> bool) {
    for node in nodes {
        if let Some(registered) = state.registered.get_mut(node) {
            registered.retain(|one| !is_it(one));
            if registered.is_empty() {
                state.registered.remove(node);
            }
        }
    }
}

/// Removes transient registrations that satisfy `is_it` from all nodes.
fn forget_transient(state: &mut Observers, is_it: impl Fn(&Registered) -> bool) {
    state.registered.retain(|_, registered| {
        registered.retain(|one| one.source.is_none() || !is_it(one));
        !registered.is_empty()
    });
}

/// "Queue a mutation record" for each entry of the log.
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
    let state = of(context);
    if state.borrow().registered.is_empty() {
        return;
    }
    for mutation in log {
        let interested = read(context, |tree| interested(&state.borrow(), tree, mutation));
        if !interested.is_empty() {
            queue_records(&state, mutation, interested, context);
        }
        if let Mutation::Children { target, removed, .. } = mutation {
            read(context, |tree| follow(&mut state.borrow_mut(), tree, *target, removed));
        }
    }
}

/// The interested observers, and whether they want the old value.
fn interested(state: &Observers, tree: &Tree, mutation: &Mutation) -> Vec<(JsObject<Observer>, bool)> {
    let target = match mutation {
        Mutation::Children { target, .. } | Mutation::Attribute { target, .. } | Mutation::Text { target, .. } => {
            *target
        }
        Mutation::Adopted { .. } | Mutation::Made { .. } => return Vec::new(),
    };
    let mut found: Vec<(JsObject<Observer>, bool)> = Vec::new();
    for node in tree.inclusive_ancestors(target) {
        for one in state.registered.get(&node).into_iter().flatten() {
            let options = &one.options;
            let (wants, wants_old) = match mutation {
                Mutation::Children { .. } => (options.child_list, false),
                Mutation::Text { .. } => (options.character_data, options.character_data_old_value),
                Mutation::Attribute { namespace, local, .. } => {
                    let passes =
                        options.filter.as_ref().is_none_or(|names| namespace.is_empty() && names.contains(local));
                    (options.attributes && passes, options.attribute_old_value)
                }
                Mutation::Adopted { .. } | Mutation::Made { .. } => (false, false),
            };
            if !wants || (node != target && !options.subtree) {
                continue;
            }
            match found.iter_mut().find(|(other, _)| JsObject::equals(other, &one.observer)) {
                Some((_, old)) => *old |= wants_old,
                None => found.push((one.observer.clone(), wants_old)),
            }
        }
    }
    found
}

fn queue_records(
    state: &SharedObservers,
    mutation: &Mutation,
    interested: Vec<(JsObject<Observer>, bool)>,
    context: &mut Context,
) {
    let (target, what, old) = match mutation {
        Mutation::Children { target, added, removed, previous, next } => {
            let lists = Rc::new([added.clone(), removed.clone()]);
            (*target, What::Children { lists, previous: *previous, next: *next }, None)
        }
        Mutation::Attribute { target, namespace, local, old, .. } => {
            (*target, What::Attribute { local: local.clone(), namespace: namespace.to_string() }, old.as_ref())
        }
        Mutation::Text { target, old, .. } => (*target, What::Text, Some(old)),
        Mutation::Adopted { .. } | Mutation::Made { .. } => return,
    };
    for (observer, wants_old) in interested {
        if observer.borrow().data().records.len() >= limits::MUTATION_RECORDS_MAX {
            continue;
        }
        let old = old.filter(|_| wants_old).cloned();
        let record = Record { target, what: what.clone(), old, lists: [None, None] };
        let Ok(record) = bind::object("MutationRecord", record, context) else { return };
        observer.borrow_mut().data_mut().records.push(record);
        let mut state = state.borrow_mut();
        if !state.pending.iter().any(|other| JsObject::equals(other, &observer)) {
            state.pending.push(observer);
        }
    }
    queue_microtask(state, context);
}

/// Observers of a subtree keep observing removed nodes until they are notified (DOM §4.2.3 "remove" step 15).
fn follow(state: &mut Observers, tree: &Tree, target: NodeId, removed: &[NodeId]) {
    if removed.is_empty() {
        return;
    }
    let mut transient = Vec::new();
    for node in tree.inclusive_ancestors(target) {
        for one in state.registered.get(&node).into_iter().flatten().filter(|one| one.options.subtree) {
            transient.push(Registered { source: Some(node), ..one.clone() });
        }
    }
    if transient.is_empty() {
        return;
    }
    for node in removed {
        let registered = state.registered.entry(*node).or_default();
        let room = limits::OBSERVED_NODES_MAX.saturating_sub(registered.len());
        registered.extend(transient.iter().take(room).cloned());
    }
}

/// "Signal a slot change" (DOM §4.2.2.5).
pub(crate) fn signal_slot(slot: NodeId, context: &mut Context) {
    let state = of(context);
    if !state.borrow().slots.contains(&slot) {
        state.borrow_mut().slots.push(slot);
    }
    queue_microtask(&state, context);
}

fn queue_microtask(state: &SharedObservers, context: &mut Context) {
    if !std::mem::replace(&mut state.borrow_mut().is_queued, true) {
        jobs::microtask(context, |context| {
            notify(context);
            Ok(())
        });
    }
}

/// "Notify mutation observers" (DOM §4.3).
fn notify(context: &mut Context) {
    let state = of(context);
    let (pending, slots) = {
        let mut state = state.borrow_mut();
        state.is_queued = false;
        (std::mem::take(&mut state.pending), std::mem::take(&mut state.slots))
    };
    for observer in pending {
        forget_transient(&mut state.borrow_mut(), |one| JsObject::equals(&one.observer, &observer));
        let (callback, records) = {
            let mut observer = observer.borrow_mut();
            let observer = observer.data_mut();
            (observer.callback.clone(), std::mem::take(&mut observer.records))
        };
        if records.is_empty() {
            continue;
        }
        let records = bind::array(records.into_iter().map(JsValue::from), context);
        let this: JsValue = observer.upcast().into();
        jobs::call(&callback, &this, &[records, this.clone()], context);
    }
    for slot in slots {
        if let Ok(slot) = wrap(slot, context) {
            events::fire(&slot, "Event", "slotchange", (true, false), &[], context);
        }
    }
}

fn list(this: &JsValue, which: usize, context: &mut Context) -> JsResult<JsValue> {
    let record = bind::this::<Record>(this)?;
    if let Some(known) = &record.borrow().data().lists[which] {
        return Ok(known.clone().into());
    }
    let nodes = match &record.borrow().data().what {
        What::Children { lists, .. } => lists[which].clone(),
        _ => Vec::new(),
    };
    let target = record.borrow().data().target;
    let list = collection::fixed(target, nodes, context)?;
    record.borrow_mut().data_mut().lists[which] = Some(list.clone());
    Ok(list.into())
}

fn sibling(
    this: &JsValue,
    which: fn(Option<NodeId>, Option<NodeId>) -> Option<NodeId>,
    context: &mut Context,
) -> JsResult<JsValue> {
    let record = bind::this::<Record>(this)?;
    let node = match &record.borrow().data().what {
        What::Children { previous, next, .. } => which(*previous, *next),
        _ => None,
    };
    wrap_or_null(node, context)
}
