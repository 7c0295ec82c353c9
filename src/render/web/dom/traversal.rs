//! `TreeWalker`, `NodeIterator`, `NodeFilter` (DOM §6).

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace, js_string};

use crate::dom::{Cursor, LiveCursor, NodeId, Tree};
use crate::engine::{bind, exception, realm};
use crate::web::{node_argument, of, read, this_document, wrap, wrap_or_null};

/// Shared by both kinds: the root and the filter.
#[derive(Clone, Trace, Finalize)]
struct Filter {
    #[unsafe_ignore_trace]
    root: NodeId,
    /// Bit n − 1 for nodes of type n.
    #[unsafe_ignore_trace]
    what_to_show: u32,
    callback: Option<JsObject>,
}

#[derive(Trace, Finalize, JsData)]
struct Walker {
    filter: Filter,
    #[unsafe_ignore_trace]
    current: NodeId,
    #[unsafe_ignore_trace]
    is_active: bool,
}

#[derive(Trace, Finalize, JsData)]
struct Iterator {
    filter: Filter,
    #[unsafe_ignore_trace]
    cursor: LiveCursor,
    #[unsafe_ignore_trace]
    is_active: bool,
}

/// An object whose filter may be active.
trait Filtering: boa_engine::object::NativeObject {
    fn filter(&self) -> &Filter;
    fn active(&mut self) -> &mut bool;
}

impl Filtering for Walker {
    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn active(&mut self) -> &mut bool {
        &mut self.is_active
    }
}

impl Filtering for Iterator {
    fn filter(&self) -> &Filter {
        &self.filter
    }

    fn active(&mut self) -> &mut bool {
        &mut self.is_active
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Accept,
    Reject,
    Skip,
    /// Any other result: the node is skipped, but without the extra steps for `Skip`.
    Other,
}

/// "Filter a node" (DOM §6).
fn judge<T: Filtering>(object: &JsObject<T>, node: NodeId, context: &mut Context) -> JsResult<Verdict> {
    if *object.borrow_mut().data_mut().active() {
        return Err(exception::error("InvalidStateError", "the filter is at work already", context));
    }
    let filter = object.borrow().data().filter().clone();
    let kind = read(context, |tree| tree.kind(node)) as u32;
    if kind == 0 || filter.what_to_show & (1 << (kind - 1)) == 0 {
        return Ok(Verdict::Skip);
    }
    let Some(callback) = filter.callback.clone() else { return Ok(Verdict::Accept) };
    let node: JsValue = wrap(node, context)?.into();
    *object.borrow_mut().data_mut().active() = true;
    let realm = realm::of_object(&callback, context);
    let said = realm::within(&realm, context, |context| {
        ask(&callback, node, context).map_err(|error| realm::thrown_here(error, context))
    });
    *object.borrow_mut().data_mut().active() = false;
    Ok(match said?.to_uint16(context)? {
        1 => Verdict::Accept,
        2 => Verdict::Reject,
        3 => Verdict::Skip,
        _ => Verdict::Other,
    })
}

fn ask(callback: &JsObject, node: JsValue, context: &mut Context) -> JsResult<JsValue> {
    if callback.is_callable() {
        return callback.call(&JsValue::undefined(), &[node], context);
    }
    let method = callback.get(js_string!("acceptNode"), context)?;
    let method = method.as_callable().ok_or_else(|| bind::type_error("acceptNode is not a function"))?;
    method.call(&callback.clone().into(), &[node], context)
}

const FILTER: bind::Interface = bind::Interface {
    name: "NodeFilter",
    constants: &[
        ("FILTER_ACCEPT", 1),
        ("FILTER_REJECT", 2),
        ("FILTER_SKIP", 3),
        ("SHOW_ALL", 0xFFFF_FFFF),
        ("SHOW_ELEMENT", 0x1),
        ("SHOW_ATTRIBUTE", 0x2),
        ("SHOW_TEXT", 0x4),
        ("SHOW_CDATA_SECTION", 0x8),
        ("SHOW_ENTITY_REFERENCE", 0x10),
        ("SHOW_ENTITY", 0x20),
        ("SHOW_PROCESSING_INSTRUCTION", 0x40),
        ("SHOW_COMMENT", 0x80),
        ("SHOW_DOCUMENT", 0x100),
        ("SHOW_DOCUMENT_TYPE", 0x200),
        ("SHOW_DOCUMENT_FRAGMENT", 0x400),
        ("SHOW_NOTATION", 0x800),
    ],
    ..bind::Interface::EMPTY
};

macro_rules! shared {
    ($kind:ty) => {
        [
            (
                "root",
                |this: &JsValue, _: &[JsValue], context: &mut Context| {
                    let root = bind::this::<$kind>(this)?.borrow().data().filter.root;
                    wrap(root, context).map(JsValue::from)
                },
                None,
            ),
            (
                "whatToShow",
                |this: &JsValue, _: &[JsValue], _: &mut Context| {
                    Ok(bind::this::<$kind>(this)?.borrow().data().filter.what_to_show.into())
                },
                None,
            ),
            (
                "filter",
                |this: &JsValue, _: &[JsValue], _: &mut Context| {
                    let callback = bind::this::<$kind>(this)?.borrow().data().filter.callback.clone();
                    Ok(callback.map_or_else(JsValue::null, JsValue::from))
                },
                None,
            ),
        ]
    };
}

const WALKER_SHARED: [bind::Attribute; 3] = shared!(Walker);
const ITERATOR_SHARED: [bind::Attribute; 3] = shared!(Iterator);

const WALKER: bind::Interface = bind::Interface {
    name: "TreeWalker",
    methods: &[
        ("parentNode", 0, parent_node),
        ("firstChild", 0, |this, _, context| child(this, Side::FIRST, context)),
        ("lastChild", 0, |this, _, context| child(this, Side::LAST, context)),
        ("nextSibling", 0, |this, _, context| sibling(this, Side::FIRST, context)),
        ("previousSibling", 0, |this, _, context| sibling(this, Side::LAST, context)),
        ("nextNode", 0, next_node),
        ("previousNode", 0, previous_node),
    ],
    attributes: &[(
        "currentNode",
        |this, _, context| {
            let current = bind::this::<Walker>(this)?.borrow().data().current;
            wrap(current, context).map(JsValue::from)
        },
        Some(|this, args, context| {
            let walker = bind::this::<Walker>(this)?;
            let node = node_argument(args, 0, "currentNode' on 'TreeWalker", context)?;
            walker.borrow_mut().data_mut().current = node;
            Ok(JsValue::undefined())
        }),
    )],
    ..bind::Interface::EMPTY
};

const ITERATOR: bind::Interface = bind::Interface {
    name: "NodeIterator",
    methods: &[
        ("nextNode", 0, |this, _, context| step(this, true, context)),
        ("previousNode", 0, |this, _, context| step(this, false, context)),
        ("detach", 0, |this, _, _| bind::this::<Iterator>(this).map(|_| JsValue::undefined())),
    ],
    attributes: &[
        (
            "referenceNode",
            |this, _, context| {
                let node = bind::this::<Iterator>(this)?.borrow().data().cursor.get().reference;
                wrap(node, context).map(JsValue::from)
            },
            None,
        ),
        (
            "pointerBeforeReferenceNode",
            |this, _, _| Ok(bind::this::<Iterator>(this)?.borrow().data().cursor.get().is_before.into()),
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&FILTER, context)?;
    let walker = bind::define(&WALKER, context)?;
    bind::attributes(&walker, &WALKER_SHARED, context)?;
    let iterator = bind::define(&ITERATOR, context)?;
    bind::attributes(&iterator, &ITERATOR_SHARED, context)?;
    let document = bind::prototype("Document", context)?;
    let methods: [bind::Method; 2] = [
        ("createTreeWalker", 1, |this, args, context| {
            this_document(this, context)?;
            let filter = filter(args, "createTreeWalker' on 'Document", context)?;
            let walker = Walker { current: filter.root, filter, is_active: false };
            bind::object("TreeWalker", walker, context).map(JsValue::from)
        }),
        ("createNodeIterator", 1, |this, args, context| {
            this_document(this, context)?;
            let filter = filter(args, "createNodeIterator' on 'Document", context)?;
            let cursor = Cursor { root: filter.root, reference: filter.root, is_before: true };
            let cursor = of(context).borrow_mut().tree.follow_cursor(cursor);
            bind::object("NodeIterator", Iterator { filter, cursor, is_active: false }, context).map(JsValue::from)
        }),
    ];
    bind::methods(&document, &methods, context)
}

fn filter(args: &[JsValue], what: &str, context: &mut Context) -> JsResult<Filter> {
    bind::want(args, 1, what)?;
    let root = node_argument(args, 0, what, context)?;
    let shown = args.get_or_undefined(1);
    let what_to_show = if shown.is_undefined() { u32::MAX } else { shown.to_u32(context)? };
    let given = args.get_or_undefined(2);
    let callback = given.as_object();
    if callback.is_none() && !given.is_null_or_undefined() {
        return Err(bind::type_error(format!("Failed to execute '{what}': parameter 3 is not of type 'Object'.")));
    }
    Ok(Filter { root, what_to_show, callback })
}

/// The direction of a traversal: the first child, and its next sibling.
#[derive(Clone, Copy)]
struct Side {
    child: fn(&Tree, NodeId) -> Option<NodeId>,
    next: fn(&Tree, NodeId) -> Option<NodeId>,
}

impl Side {
    const FIRST: Self = Self { child: Tree::first_child, next: Tree::next_sibling };
    const LAST: Self = Self { child: Tree::last_child, next: Tree::previous_sibling };
}

fn start(this: &JsValue) -> JsResult<(JsObject<Walker>, NodeId, NodeId)> {
    let walker = bind::this::<Walker>(this)?;
    let (root, current) = {
        let data = walker.borrow();
        (data.data().filter.root, data.data().current)
    };
    Ok((walker, root, current))
}

fn arrive(walker: &JsObject<Walker>, node: NodeId, context: &mut Context) -> JsResult<JsValue> {
    walker.borrow_mut().data_mut().current = node;
    wrap_or_null(Some(node), context)
}

fn parent_node(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (walker, root, mut node) = start(this)?;
    while node != root {
        let Some(parent) = read(context, |tree| tree.parent(node)) else { break };
        node = parent;
        if judge(&walker, node, context)? == Verdict::Accept {
            return arrive(&walker, node, context);
        }
    }
    Ok(JsValue::null())
}

/// "Traverse children" (DOM §6.2).
fn child(this: &JsValue, side: Side, context: &mut Context) -> JsResult<JsValue> {
    let (walker, root, current) = start(this)?;
    let mut next = read(context, |tree| (side.child)(tree, current));
    while let Some(mut node) = next {
        match judge(&walker, node, context)? {
            Verdict::Accept => return arrive(&walker, node, context),
            Verdict::Skip => {
                if let Some(child) = read(context, |tree| (side.child)(tree, node)) {
                    next = Some(child);
                    continue;
                }
            }
            Verdict::Reject | Verdict::Other => {}
        }
        next = loop {
            if let Some(sibling) = read(context, |tree| (side.next)(tree, node)) {
                break Some(sibling);
            }
            match read(context, |tree| tree.parent(node)) {
                Some(parent) if parent != root && parent != current => node = parent,
                _ => break None,
            }
        };
    }
    Ok(JsValue::null())
}

/// "Traverse siblings" (DOM §6.2).
fn sibling(this: &JsValue, side: Side, context: &mut Context) -> JsResult<JsValue> {
    let (walker, root, mut node) = start(this)?;
    if node == root {
        return Ok(JsValue::null());
    }
    loop {
        let mut next = read(context, |tree| (side.next)(tree, node));
        while let Some(at) = next {
            node = at;
            let verdict = judge(&walker, node, context)?;
            if verdict == Verdict::Accept {
                return arrive(&walker, node, context);
            }
            let child = read(context, |tree| (side.child)(tree, node));
            next = match child {
                Some(child) if verdict != Verdict::Reject => Some(child),
                _ => read(context, |tree| (side.next)(tree, node)),
            };
        }
        match read(context, |tree| tree.parent(node)) {
            Some(parent) if parent != root => node = parent,
            _ => return Ok(JsValue::null()),
        }
        if judge(&walker, node, context)? == Verdict::Accept {
            return Ok(JsValue::null());
        }
    }
}

fn next_node(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (walker, root, mut node) = start(this)?;
    let mut verdict = Verdict::Accept;
    loop {
        while verdict != Verdict::Reject {
            let Some(child) = read(context, |tree| tree.first_child(node)) else { break };
            node = child;
            verdict = judge(&walker, node, context)?;
            if verdict == Verdict::Accept {
                return arrive(&walker, node, context);
            }
        }
        let Some(next) = read(context, |tree| tree.next_after_subtree(node, root)) else { return Ok(JsValue::null()) };
        node = next;
        verdict = judge(&walker, node, context)?;
        if verdict == Verdict::Accept {
            return arrive(&walker, node, context);
        }
    }
}

fn previous_node(this: &JsValue, _: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let (walker, root, mut node) = start(this)?;
    while node != root {
        let mut sibling = read(context, |tree| tree.previous_sibling(node));
        while let Some(at) = sibling {
            node = at;
            let mut verdict = judge(&walker, node, context)?;
            while verdict != Verdict::Reject {
                let Some(last) = read(context, |tree| tree.last_child(node)) else { break };
                node = last;
                verdict = judge(&walker, node, context)?;
            }
            if verdict == Verdict::Accept {
                return arrive(&walker, node, context);
            }
            sibling = read(context, |tree| tree.previous_sibling(node));
        }
        if node == root {
            break;
        }
        let Some(parent) = read(context, |tree| tree.parent(node)) else { break };
        node = parent;
        if judge(&walker, node, context)? == Verdict::Accept {
            return arrive(&walker, node, context);
        }
    }
    Ok(JsValue::null())
}

/// "Traverse" (DOM §6.1).
fn step(this: &JsValue, forward: bool, context: &mut Context) -> JsResult<JsValue> {
    let iterator = bind::this::<Iterator>(this)?;
    let cursor = LiveCursor::clone(&iterator.borrow().data().cursor);
    let Cursor { root, mut reference, mut is_before } = cursor.get();
    loop {
        if is_before == forward {
            is_before = !forward;
        } else {
            let next = read(context, |tree| {
                if forward { tree.next_in_order(reference, root) } else { tree.previous_in_order(reference, root) }
            });
            let Some(next) = next else { return Ok(JsValue::null()) };
            reference = next;
        }
        if judge(&iterator, reference, context)? == Verdict::Accept {
            break;
        }
    }
    cursor.set(Cursor { root, reference, is_before });
    wrap_or_null(Some(reference), context)
}
