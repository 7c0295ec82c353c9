//! Shadow trees for scripts: `attachShadow`, `ShadowRoot`, slots and their contents (DOM §4.8, §4.9, HTML §4.12.4).

use boa_engine::{Context, JsArgs, JsResult, JsValue};
use html5ever::{local_name, ns};

use super::observe;
use crate::dom::{HtmlOptions, Mutation, NodeId, ShadowRoot, Tree};
use crate::engine::{bind, exception, target};
use crate::limits;
use crate::web::html::custom;
use crate::web::{change, node_of, of, read, this_element, this_node, wrap, wrap_or_null};

const ELEMENT_METHODS: &[bind::Method] =
    &[("attachShadow", 1, attach_shadow), ("setHTMLUnsafe", 1, set_html_unsafe), ("getHTML", 0, get_html)];

const ELEMENT_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "shadowRoot",
        |this, _, context| {
            let id = this_element(this, context)?;
            let root = read(context, |tree| {
                let root = tree.element(id)?.shadow_root()?;
                tree.fragment(root)?.shadow()?.is_open.then_some(root)
            });
            wrap_or_null(root, context)
        },
        None,
    ),
    ASSIGNED_SLOT,
];

const ASSIGNED_SLOT: bind::Attribute = (
    "assignedSlot",
    |this, _, context| {
        let id = this_node(this, context)?;
        let slot = read(context, |tree| tree.find_slot(id, true));
        wrap_or_null(slot, context)
    },
    None,
);

const ROOT_METHODS: &[bind::Method] = &[
    ("setHTMLUnsafe", 1, set_html_unsafe),
    ("getHTML", 0, get_html),
    // Hit tests and animations need a screen.
    ("elementFromPoint", 2, |_, _, _| Ok(JsValue::null())),
    ("elementsFromPoint", 2, |_, _, context| Ok(bind::array([], context))),
    ("getAnimations", 0, |_, _, context| Ok(bind::array([], context))),
    ("getElementById", 1, |this, args, context| {
        let id = this_root(this, context)?.0;
        bind::want(args, 1, "getElementById' on 'DocumentFragment")?;
        let text = bind::text(args, 0, context)?;
        let found = read(context, |tree| tree.element_by_id(id, &text));
        wrap_or_null(found, context)
    }),
];

const ROOT_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "mode",
        |this, _, context| Ok(bind::js(if this_root(this, context)?.1.is_open { "open" } else { "closed" })),
        None,
    ),
    ("delegatesFocus", |this, _, context| Ok(this_root(this, context)?.1.delegates_focus.into()), None),
    ("clonable", |this, _, context| Ok(this_root(this, context)?.1.clonable.into()), None),
    ("serializable", |this, _, context| Ok(this_root(this, context)?.1.serializable.into()), None),
    (
        "slotAssignment",
        |this, _, context| Ok(bind::js(if this_root(this, context)?.1.manual_slots { "manual" } else { "named" })),
        None,
    ),
    (
        "host",
        |this, _, context| {
            let (id, _) = this_root(this, context)?;
            let host = read(context, |tree| tree.shadow_host(id));
            wrap_or_null(host, context)
        },
        None,
    ),
    (
        "activeElement",
        |this, _, context| {
            let (id, _) = this_root(this, context)?;
            let active = read(context, |tree| tree.focus.filter(|focus| tree.root(*focus) == id));
            wrap_or_null(active, context)
        },
        None,
    ),
    (
        "innerHTML",
        |this, _, context| {
            let (id, _) = this_root(this, context)?;
            Ok(bind::js(&read(context, |tree| tree.inner_html(id))))
        },
        Some(|this, args, context| {
            let (id, _) = this_root(this, context)?;
            let value = args.get_or_undefined(0);
            let text = if value.is_null() { String::new() } else { bind::text(args, 0, context)? };
            fill(id, &text, false, context)
        }),
    ),
];

const SLOT_METHODS: &[bind::Method] = &[
    ("assignedNodes", 0, |this, args, context| assigned(this, args, false, context)),
    ("assignedElements", 0, |this, args, context| assigned(this, args, true, context)),
    ("assign", 0, assign),
];

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    let element = bind::prototype("Element", context)?;
    bind::methods(&element, ELEMENT_METHODS, context)?;
    bind::attributes(&element, ELEMENT_ATTRIBUTES, context)?;
    let text = bind::prototype("Text", context)?;
    bind::attributes(&text, &[ASSIGNED_SLOT], context)?;
    let root = bind::prototype("ShadowRoot", context)?;
    bind::methods(&root, ROOT_METHODS, context)?;
    bind::attributes(&root, ROOT_ATTRIBUTES, context)?;
    target::handlers(&root, &["slotchange"], context)?;
    let slot = bind::prototype("HTMLSlotElement", context)?;
    bind::methods(&slot, SLOT_METHODS, context)
}

/// `this` as a shadow root, with its settings.
fn this_root(this: &JsValue, context: &mut Context) -> JsResult<(NodeId, ShadowRoot)> {
    let id = this_node(this, context)?;
    let settings = read(context, |tree| tree.fragment(id).and_then(|fragment| fragment.shadow().copied()));
    settings.map(|settings| (id, settings)).ok_or_else(|| bind::type_error("Illegal invocation"))
}

/// A keyword of an enumeration (WebIDL §3.2.18), or the default.
fn word(init: &JsValue, name: &str, words: &[&str], context: &mut Context) -> JsResult<Option<String>> {
    let Some(value) = bind::member(init, name, context)? else { return Ok(None) };
    let text = value.to_string(context)?.to_std_string_lossy();
    if words.contains(&text.as_str()) {
        return Ok(Some(text));
    }
    Err(bind::type_error(format!("The provided value '{text}' is not a valid value of '{name}'.")))
}

/// `attachShadow(init)` (DOM §4.9).
fn attach_shadow(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    bind::want(args, 1, "attachShadow' on 'Element")?;
    let init = &args[0];
    let clonable = bind::flag(init, "clonable", context)?;
    let delegates_focus = bind::flag(init, "delegatesFocus", context)?;
    let mode = word(init, "mode", &["open", "closed"], context)?;
    let mode =
        mode.ok_or_else(|| bind::type_error("Failed to read the 'mode' property: Required member is undefined."))?;
    let serializable = bind::flag(init, "serializable", context)?;
    let slots = word(init, "slotAssignment", &["named", "manual"], context)?;
    let definition = read(context, |tree| custom::of(context).of_element(tree, id));
    if definition.is_some_and(|definition| definition.no_shadow) {
        let why = "attachShadow is disabled by disabledFeatures static field.";
        return Err(exception::error("NotSupportedError", why, context));
    }
    let is_open = mode == "open";
    let reused = change(context, |tree| Ok(tree.take_declarative_root(id, is_open)))?;
    let root = match reused {
        Some(root) => root,
        None => {
            let settings = ShadowRoot {
                is_open,
                delegates_focus,
                manual_slots: slots.as_deref() == Some("manual"),
                clonable,
                serializable,
                declarative: false,
            };
            change(context, |tree| tree.attach_shadow(id, settings))?
        }
    };
    wrap(root, context).map(JsValue::from)
}

/// Parses into an element, a template's contents or a shadow root.
fn fill(id: NodeId, text: &str, shadow_roots: bool, context: &mut Context) -> JsResult<JsValue> {
    change(context, |tree| {
        let around = tree.shadow_host(id).unwrap_or(id);
        let fragment = tree.parse_fragment_with(around, text, shadow_roots)?;
        let holder = tree.element(id).and_then(|element| element.template_contents()).unwrap_or(id);
        tree.replace_all(holder, Some(fragment));
        Ok(JsValue::undefined())
    })
}

fn set_html_unsafe(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_node(this, context)?;
    bind::want(args, 1, "setHTMLUnsafe' on 'Element")?;
    let text = bind::text(args, 0, context)?;
    fill(id, &text, true, context)
}

/// `getHTML(options)` (HTML §8.5.4).
fn get_html(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_node(this, context)?;
    let options = args.get_or_undefined(0);
    let serializable_shadow_roots = bind::flag(options, "serializableShadowRoots", context)?;
    let mut shadow_roots = Vec::new();
    if let Some(list) = bind::member(options, "shadowRoots", context)?.and_then(|list| list.as_object()) {
        for value in bind::values(&list, limits::CUSTOM_ELEMENTS_MAX, context)? {
            let root = node_of(&value, context).ok_or_else(|| bind::type_error("not a ShadowRoot"))?;
            shadow_roots.push(root);
        }
    }
    let options = HtmlOptions { serializable_shadow_roots, shadow_roots, ..HtmlOptions::default() };
    Ok(bind::js(&read(context, |tree| tree.html_with(id, &options))))
}

/// `assignedNodes` and `assignedElements` of a slot.
fn assigned(this: &JsValue, args: &[JsValue], elements: bool, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let flatten = bind::flag(args.get_or_undefined(0), "flatten", context)?;
    let nodes = read(context, |tree| {
        let mut nodes = if flatten { tree.flattened_nodes(id) } else { tree.assigned_nodes(id) };
        nodes.retain(|id| !elements || tree.is_element(*id));
        nodes
    });
    let mut values = Vec::with_capacity(nodes.len());
    for node in nodes {
        values.push(wrap(node, context)?.into());
    }
    Ok(bind::array(values, context))
}

fn assign(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let mut nodes: Vec<NodeId> = Vec::new();
    for value in args {
        let node = node_of(value, context).filter(|id| read(context, |tree| tree.slot_name_of(*id).is_some()));
        let node = node.ok_or_else(|| bind::type_error("parameter 1 is not of type 'Element' or 'Text'"))?;
        if !nodes.contains(&node) {
            nodes.push(node);
        }
    }
    let before = read(context, |tree| slots_of(tree, tree.root(id)));
    of(context).borrow_mut().tree.assign_to_slot(id, nodes);
    let after = read(context, |tree| slots_of(tree, tree.root(id)));
    for (slot, nodes) in after {
        if before.iter().any(|(other, held)| *other == slot && *held != nodes) {
            observe::signal_slot(slot, context);
        }
    }
    Ok(JsValue::undefined())
}

/// Every slot of a shadow tree with its nodes.
fn slots_of(tree: &Tree, root: NodeId) -> Vec<(NodeId, Vec<NodeId>)> {
    let slots = tree.descendants(root).filter(|id| is_slot(tree, *id));
    slots.map(|slot| (slot, tree.assigned_nodes(slot))).collect()
}

fn is_slot(tree: &Tree, id: NodeId) -> bool {
    tree.element(id).is_some_and(|element| element.is_html(&local_name!("slot")))
}

/// Finds slots whose nodes have changed (DOM §4.2.2, the steps of "insert", "remove" and of changed attributes).
pub(crate) fn watch(log: &[Mutation], context: &mut Context) {
    if !read(context, Tree::has_shadow_roots) {
        return;
    }
    let mut changed: Vec<NodeId> = Vec::new();
    read(context, |tree| log.iter().for_each(|mutation| slots_touched(tree, mutation, &mut changed)));
    for slot in changed {
        observe::signal_slot(slot, context);
    }
}

fn slots_touched(tree: &Tree, mutation: &Mutation, changed: &mut Vec<NodeId>) {
    match mutation {
        Mutation::Children { target, added, removed, .. } => {
            if let Some(root) = tree.element(*target).and_then(|element| element.shadow_root()) {
                let slots = added.iter().chain(removed).filter_map(|id| tree.slot_named(root, tree.slot_name_of(*id)?));
                changed.extend(slots);
            }
            let root = tree.root(*target);
            let Some(host) = tree.shadow_host(root) else { return };
            if is_slot(tree, *target) && tree.assigned_nodes(*target).is_empty() {
                changed.push(*target);
            }
            for top in removed.iter().chain(added) {
                for slot in tree.composed_elements(*top).into_iter().filter(|id| is_slot(tree, *id)) {
                    let name = tree.attribute(slot, &local_name!("name")).unwrap_or_default();
                    if tree.children(host).any(|id| tree.slot_name_of(id) == Some(name)) {
                        changed.push(slot);
                        changed.extend(tree.slot_named(root, name));
                    }
                }
            }
        }
        Mutation::Attribute { target, namespace, local, old, new } if *namespace == ns!() && old != new => {
            let (old, new) = (old.as_deref().unwrap_or_default(), new.as_deref().unwrap_or_default());
            if *local == local_name!("slot") {
                let host = tree.parent(*target);
                if let Some(root) = host.and_then(|host| tree.element(host)?.shadow_root()) {
                    changed.extend([old, new].into_iter().filter_map(|name| tree.slot_named(root, name)));
                }
            } else if *local == local_name!("name") && is_slot(tree, *target) {
                let root = tree.root(*target);
                let Some(host) = tree.shadow_host(root) else { return };
                let has = |name: &str| tree.children(host).any(|id| tree.slot_name_of(id) == Some(name));
                for name in [old, new].into_iter().filter(|name| has(name)) {
                    changed.push(*target);
                    changed.extend(tree.slot_named(root, name));
                }
            }
        }
        _ => {}
    }
}
