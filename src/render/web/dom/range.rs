//! `Range`, `StaticRange` and `AbstractRange` (DOM §5).

use std::cmp::Ordering;

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use crate::dom::{Boundary, Cut, Error, LiveSpan, NodeId, NodeKind, Span, Tree};
use crate::engine::{bind, exception};
use crate::web::{change, node_argument, of, own_document, read, this_document, thrown, wrap};

/// A range's object: the tree moves its boundaries.
#[derive(Trace, Finalize, JsData)]
pub(crate) struct RangeObject {
    #[unsafe_ignore_trace]
    span: LiveSpan,
}

/// A `StaticRange`'s object.
#[derive(Trace, Finalize, JsData)]
struct StaticRange {
    #[unsafe_ignore_trace]
    span: Span,
}

macro_rules! ends {
    ($what:expr) => {
        |this: &JsValue, _: &[JsValue], context: &mut Context| {
            let span = any_span(this)?;
            let what: fn(Span, &mut Context) -> JsResult<JsValue> = $what;
            what(span, context)
        }
    };
}

const ABSTRACT: bind::Interface = bind::Interface {
    name: "AbstractRange",
    attributes: &[
        ("startContainer", ends!(|span, context| wrap(span.start.node, context).map(JsValue::from)), None),
        ("startOffset", ends!(|span, _| Ok(number(span.start.offset))), None),
        ("endContainer", ends!(|span, context| wrap(span.end.node, context).map(JsValue::from)), None),
        ("endOffset", ends!(|span, _| Ok(number(span.end.offset))), None),
        ("collapsed", ends!(|span, _| Ok(span.is_collapsed().into())), None),
    ],
    ..bind::Interface::EMPTY
};

const STATIC: bind::Interface = bind::Interface {
    name: "StaticRange",
    parent: Some("AbstractRange"),
    constructor: Some(|new_target, args, context| {
        bind::want(args, 1, "StaticRange")?;
        let mut end = |container: &str, offset: &str| -> JsResult<Boundary> {
            let missing =
                || bind::type_error(format!("Failed to read the '{container}' property from 'StaticRangeInit'"));
            let node = bind::member(&args[0], container, context)?.ok_or_else(missing)?;
            let node = crate::web::node_of(&node, context).ok_or_else(missing)?;
            if read(context, |tree| matches!(tree.kind(node), NodeKind::DocumentType | NodeKind::Attribute)) {
                let why = "A range cannot begin or end in a document type or an attribute.";
                return Err(exception::error("InvalidNodeTypeError", why, context));
            }
            let offset = bind::member(&args[0], offset, context)?.ok_or_else(missing)?.to_u32(context)?;
            Ok(Boundary { node, offset: offset as usize })
        };
        let span = Span { start: end("startContainer", "startOffset")?, end: end("endContainer", "endOffset")? };
        if [span.start.node, span.end.node]
            .iter()
            .any(|id| read(context, |tree| tree.kind(*id)) == NodeKind::DocumentType)
        {
            return Err(exception::error("InvalidNodeTypeError", "a document type has no boundaries", context));
        }
        bind::construct(new_target, "StaticRange", StaticRange { span }, context)
    }),
    length: 1,
    ..bind::Interface::EMPTY
};

const RANGE: bind::Interface = bind::Interface {
    name: "Range",
    parent: Some("AbstractRange"),
    constructor: Some(|new_target, _, context| {
        let document = own_document(context);
        let span = of(context).borrow_mut().tree.follow_span(Span::at(document, 0));
        bind::construct(new_target, "Range", RangeObject { span }, context)
    }),
    methods: &[
        ("setStart", 2, |this, args, context| set_end(this, args, true, context)),
        ("setEnd", 2, |this, args, context| set_end(this, args, false, context)),
        ("setStartBefore", 1, |this, args, context| set_beside(this, args, true, 0, context)),
        ("setStartAfter", 1, |this, args, context| set_beside(this, args, true, 1, context)),
        ("setEndBefore", 1, |this, args, context| set_beside(this, args, false, 0, context)),
        ("setEndAfter", 1, |this, args, context| set_beside(this, args, false, 1, context)),
        ("collapse", 0, |this, args, _| {
            let live = live(this)?;
            let span = live.get();
            let to = if args.get_or_undefined(0).to_boolean() { span.start } else { span.end };
            live.set(Span { start: to, end: to });
            Ok(JsValue::undefined())
        }),
        ("selectNode", 1, |this, args, context| {
            let live = live(this)?;
            let node = node_argument(args, 0, "selectNode' on 'Range", context)?;
            select(&live, node, context)
        }),
        ("selectNodeContents", 1, |this, args, context| {
            let live = live(this)?;
            let node = node_argument(args, 0, "selectNodeContents' on 'Range", context)?;
            let start = boundary(node, 0, context)?;
            let length = read(context, |tree| tree.node_length(node));
            live.set(Span { start, end: Boundary { node, offset: length } });
            Ok(JsValue::undefined())
        }),
        ("compareBoundaryPoints", 2, compare_boundary_points),
        ("deleteContents", 0, |this, _, context| cut(this, Cut::Delete, context).map(|_| JsValue::undefined())),
        ("extractContents", 0, |this, _, context| {
            let fragment = cut(this, Cut::Extract, context)?;
            wrap(fragment, context).map(JsValue::from)
        }),
        ("cloneContents", 0, |this, _, context| {
            let fragment = cut(this, Cut::Copy, context)?;
            wrap(fragment, context).map(JsValue::from)
        }),
        ("insertNode", 1, |this, args, context| {
            let live = live(this)?;
            let node = node_argument(args, 0, "insertNode' on 'Range", context)?;
            change(context, |tree| tree.insert_into_span(&live, node)).map(|()| JsValue::undefined())
        }),
        ("surroundContents", 1, surround),
        ("cloneRange", 0, |this, _, context| {
            let span = live(this)?.get();
            make(span, context).map(JsValue::from)
        }),
        ("detach", 0, |this, _, _| live(this).map(|_| JsValue::undefined())),
        ("isPointInRange", 2, |this, args, context| {
            let live = live(this)?;
            let (node, offset) = point(args, "isPointInRange' on 'Range", context)?;
            if read(context, |tree| tree.root(node) != tree.root(live.get().start.node)) {
                return Ok(false.into());
            }
            let point = boundary(node, offset, context)?;
            Ok((side_of(point, live.get(), context) == Ordering::Equal).into())
        }),
        ("comparePoint", 2, |this, args, context| {
            let live = live(this)?;
            let (node, offset) = point(args, "comparePoint' on 'Range", context)?;
            if read(context, |tree| tree.root(node) != tree.root(live.get().start.node)) {
                return Err(exception::error("WrongDocumentError", "the node is of another tree", context));
            }
            let point = boundary(node, offset, context)?;
            Ok((side_of(point, live.get(), context) as i8).into())
        }),
        ("intersectsNode", 1, |this, args, context| {
            let span = live(this)?.get();
            let node = node_argument(args, 0, "intersectsNode' on 'Range", context)?;
            Ok(read(context, |tree| intersects(tree, span, node)).into())
        }),
        ("toString", 0, |this, _, context| {
            let span = live(this)?.get();
            Ok(bind::js(&read(context, |tree| tree.span_text(span))))
        }),
        ("createContextualFragment", 1, contextual_fragment),
        ("getClientRects", 0, |this, _, context| live(this).map(|_| bind::array([], context))),
        ("getBoundingClientRect", 0, |this, _, context| {
            live(this)?;
            let rect = JsObject::with_object_proto(context.intrinsics());
            for name in ["x", "y", "top", "left", "right", "bottom", "width", "height"] {
                rect.create_data_property_or_throw(boa_engine::js_string!(name), 0, context)?;
            }
            Ok(rect.into())
        }),
    ],
    attributes: &[(
        "commonAncestorContainer",
        |this, _, context| {
            let span = live(this)?.get();
            let common = read(context, |tree| tree.common_ancestor(span));
            wrap(common, context).map(JsValue::from)
        },
        None,
    )],
    constants: &[("START_TO_START", 0), ("START_TO_END", 1), ("END_TO_END", 2), ("END_TO_START", 3)],
    ..bind::Interface::EMPTY
};

pub(crate) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&ABSTRACT, context)?;
    bind::define(&STATIC, context)?;
    bind::define(&RANGE, context)?;
    let document = bind::prototype("Document", context)?;
    let create: bind::Method = ("createRange", 0, |this, _, context| {
        let document = this_document(this, context)?;
        make(Span::at(document, 0), context).map(JsValue::from)
    });
    bind::methods(&document, &[create], context)
}

/// A range created without `new`.
pub(crate) fn make(span: Span, context: &mut Context) -> JsResult<JsObject> {
    let span = of(context).borrow_mut().tree.follow_span(span);
    bind::object("Range", RangeObject { span }, context)
}

/// The boundaries of a range's object.
pub(crate) fn live(range: &JsValue) -> JsResult<LiveSpan> {
    Ok(LiveSpan::clone(&bind::this::<RangeObject>(range)?.borrow().data().span))
}

fn any_span(this: &JsValue) -> JsResult<Span> {
    match bind::this::<StaticRange>(this) {
        Ok(range) => Ok(range.borrow().data().span),
        Err(_) => live(this).map(|span| span.get()),
    }
}

pub(crate) fn number(value: usize) -> JsValue {
    u32::try_from(value).unwrap_or(u32::MAX).into()
}

/// Checks that a boundary is valid (DOM §5.5 "set the start or end" steps 1 and 2).
///
/// # Errors
/// `InvalidNodeTypeError`, `IndexSizeError`.
pub(crate) fn boundary(node: NodeId, offset: usize, context: &mut Context) -> JsResult<Boundary> {
    let (kind, length) = read(context, |tree| (tree.kind(node), tree.node_length(node)));
    if kind == NodeKind::DocumentType {
        return Err(exception::error("InvalidNodeTypeError", "a document type has no boundaries", context));
    }
    if offset > length {
        return Err(thrown(Error::IndexSize, context));
    }
    Ok(Boundary { node, offset })
}

fn point(args: &[JsValue], what: &str, context: &mut Context) -> JsResult<(NodeId, usize)> {
    bind::want(args, 2, what)?;
    let node = node_argument(args, 0, what, context)?;
    Ok((node, args[1].to_u32(context)? as usize))
}

fn set_end(this: &JsValue, args: &[JsValue], is_start: bool, context: &mut Context) -> JsResult<JsValue> {
    let live = live(this)?;
    let (node, offset) = point(args, "setStart' on 'Range", context)?;
    let at = boundary(node, offset, context)?;
    put_end(&live, at, is_start, context);
    Ok(JsValue::undefined())
}

/// "Set the start or end" (DOM §5.5).
fn put_end(live: &LiveSpan, at: Boundary, is_start: bool, context: &Context) {
    let span = live.get();
    let other = if is_start { span.end } else { span.start };
    let apart = read(context, |tree| {
        tree.root(at.node) != tree.root(other.node) || {
            let order = tree.compare_boundaries(at, other);
            order == if is_start { Ordering::Greater } else { Ordering::Less }
        }
    });
    live.set(match (apart, is_start) {
        (true, _) => Span { start: at, end: at },
        (false, true) => Span { start: at, ..span },
        (false, false) => Span { end: at, ..span },
    });
}

/// A node's parent and its index there.
fn outside(node: NodeId, context: &mut Context) -> JsResult<Boundary> {
    let place =
        read(context, |tree| tree.parent(node).map(|parent| Boundary { node: parent, offset: tree.index(node) }));
    place.ok_or_else(|| exception::error("InvalidNodeTypeError", "the given Node has no parent.", context))
}

fn set_beside(
    this: &JsValue,
    args: &[JsValue],
    is_start: bool,
    beyond: usize,
    context: &mut Context,
) -> JsResult<JsValue> {
    let live = live(this)?;
    let node = node_argument(args, 0, "setStartBefore' on 'Range", context)?;
    let place = outside(node, context)?;
    put_end(&live, Boundary { offset: place.offset + beyond, ..place }, is_start, context);
    Ok(JsValue::undefined())
}

fn select(live: &LiveSpan, node: NodeId, context: &mut Context) -> JsResult<JsValue> {
    let start = outside(node, context)?;
    live.set(Span { start, end: Boundary { offset: start.offset + 1, ..start } });
    Ok(JsValue::undefined())
}

fn compare_boundary_points(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let ours = live(this)?;
    bind::want(args, 2, "compareBoundaryPoints' on 'Range")?;
    let how = args[0].to_uint16(context)?;
    let theirs = live(&args[1]).map_err(|_| bind::type_error("parameter 2 is not of type 'Range'."))?;
    let (ours, theirs) = (ours.get(), theirs.get());
    let (a, b) = match how {
        0 => (ours.start, theirs.start),
        1 => (ours.end, theirs.start),
        2 => (ours.end, theirs.end),
        3 => (ours.start, theirs.end),
        _ => return Err(thrown(Error::NotSupported, context)),
    };
    if read(context, |tree| tree.root(a.node) != tree.root(b.node)) {
        return Err(exception::error("WrongDocumentError", "the ranges are of different trees", context));
    }
    Ok((read(context, |tree| tree.compare_boundaries(a, b)) as i8).into())
}

/// Whether a boundary is before, inside or after a span.
fn side_of(at: Boundary, span: Span, context: &Context) -> Ordering {
    read(context, |tree| {
        if tree.compare_boundaries(at, span.start) == Ordering::Less {
            Ordering::Less
        } else if tree.compare_boundaries(at, span.end) == Ordering::Greater {
            Ordering::Greater
        } else {
            Ordering::Equal
        }
    })
}

fn intersects(tree: &Tree, span: Span, node: NodeId) -> bool {
    if tree.root(node) != tree.root(span.start.node) {
        return false;
    }
    let Some(parent) = tree.parent(node) else { return true };
    let offset = tree.index(node);
    tree.compare_boundaries(Boundary { node: parent, offset }, span.end) == Ordering::Less
        && tree.compare_boundaries(Boundary { node: parent, offset: offset + 1 }, span.start) == Ordering::Greater
}

/// Cuts the contents of a range; returns the fragment.
fn cut(this: &JsValue, how: Cut, context: &mut Context) -> JsResult<NodeId> {
    let live = live(this)?;
    let span = live.get();
    change(context, |tree| {
        let (fragment, place) = tree.cut(span, how)?;
        if let Some(place) = place.filter(|_| how != Cut::Copy) {
            live.set(Span { start: place, end: place });
        }
        Ok(fragment)
    })
}

/// `surroundContents(newParent)` (DOM §5.5).
fn surround(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let live = live(this)?;
    let parent = node_argument(args, 0, "surroundContents' on 'Range", context)?;
    let span = live.get();
    let (cuts_element, kind) = read(context, |tree| {
        let common = tree.common_ancestor(span);
        // A node that contains only one end is partially contained; text nodes may be.
        let partial = |at: NodeId, other: NodeId| {
            tree.inclusive_ancestors(at)
                .take_while(|id| *id != common)
                .any(|id| !tree.is_text(id) && !tree.contains(id, other))
        };
        (partial(span.start.node, span.end.node) || partial(span.end.node, span.start.node), tree.kind(parent))
    });
    if cuts_element {
        let why = "The Range has partially selected a non-Text node.";
        return Err(exception::error("InvalidStateError", why, context));
    }
    if matches!(kind, NodeKind::Document | NodeKind::DocumentType | NodeKind::Fragment) {
        return Err(exception::error("InvalidNodeTypeError", "the node cannot surround", context));
    }
    let fragment = cut(this, Cut::Extract, context)?;
    change(context, |tree| {
        if tree.first_child(parent).is_some() {
            tree.replace_all(parent, None);
        }
        tree.insert_into_span(&live, parent)?;
        tree.append(parent, fragment).map(drop)
    })?;
    select(&live, parent, context)
}

/// `createContextualFragment(text)` (HTML §8.5.7); its scripts run once they are inserted into the document.
fn contextual_fragment(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let live = live(this)?;
    bind::want(args, 1, "createContextualFragment' on 'Range")?;
    let text = bind::text(args, 0, context)?;
    let node = live.get().start.node;
    let fragment = change(context, |tree| {
        let around = if tree.is_element(node) { Some(node) } else { tree.parent_element(node) };
        let fragment = crate::web::html::parsing::fragment(tree, around, node, &text)?;
        let made: Vec<NodeId> = tree.descendants(fragment).collect();
        for id in made {
            let is_script = tree.element(id).is_some_and(|element| element.is_html(&html5ever::local_name!("script")));
            if is_script && let Some(state) = tree.state_mut(id) {
                (state.already_started, state.parser_inserted) = (false, false);
            }
        }
        Ok(fragment)
    })?;
    wrap(fragment, context).map(JsValue::from)
}
