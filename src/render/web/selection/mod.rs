//! `Selection` (Selection API) of the window's document. Only scripts select here.

use boa_engine::{Context, Finalize, JsArgs, JsData, JsObject, JsResult, JsValue, Trace};

use super::dom::range;
use super::{change, node_argument, node_argument_or_null, own_document, read, wrap};
use crate::dom::{Boundary, Cut, NodeId, Span};
use crate::engine::{bind, exception, realm};

#[derive(Default, Trace, Finalize, JsData)]
struct Selection {
    range: Option<JsObject>,
    /// The focus is the range's start.
    #[unsafe_ignore_trace]
    is_backward: bool,
}

/// The page's selection, once requested.
struct Shared(JsObject);

macro_rules! end {
    ($name:literal, $is_anchor:literal, $what:expr, $none:expr) => {
        (
            $name,
            |this: &JsValue, _: &[JsValue], context: &mut Context| {
                let what: fn(Boundary, &mut Context) -> JsResult<JsValue> = $what;
                match ends(this)? {
                    Some((anchor, focus)) => what(if $is_anchor { anchor } else { focus }, context),
                    None => Ok($none),
                }
            },
            None,
        )
    };
}

const SELECTION: bind::Interface = bind::Interface {
    name: "Selection",
    methods: &[
        ("getRangeAt", 1, |this, args, context| {
            let index = args.get_or_undefined(0).to_u32(context)?;
            match bind::this::<Selection>(this)?.borrow().data().range.clone() {
                Some(range) if index == 0 => Ok(range.into()),
                _ => Err(exception::error("IndexSizeError", "there is no range at this index", context)),
            }
        }),
        ("addRange", 1, |this, args, context| {
            let selection = bind::this::<Selection>(this)?;
            let range = args.get_or_undefined(0);
            let span = range::live(range).map_err(|_| bind::type_error("parameter 1 is not of type 'Range'."))?.get();
            let document = own_document(context);
            let is_here = read(context, |tree| tree.root(span.start.node) == document);
            let mut selection = selection.borrow_mut();
            let selection = selection.data_mut();
            if is_here && selection.range.is_none() {
                (selection.range, selection.is_backward) = (range.as_object(), false);
            }
            Ok(JsValue::undefined())
        }),
        ("removeRange", 1, |this, args, context| {
            let selection = bind::this::<Selection>(this)?;
            let given = args.get_or_undefined(0).as_object();
            let held = selection.borrow().data().range.clone();
            match (given, held) {
                (Some(given), Some(held)) if JsObject::equals(&given, &held) => {
                    selection.borrow_mut().data_mut().range = None;
                    Ok(JsValue::undefined())
                }
                _ => Err(exception::error("NotFoundError", "the range is not selected", context)),
            }
        }),
        ("removeAllRanges", 0, clear),
        ("empty", 0, clear),
        ("collapse", 1, collapse),
        ("setPosition", 1, collapse),
        ("collapseToStart", 0, |this, _, context| collapse_to(this, true, context)),
        ("collapseToEnd", 0, |this, _, context| collapse_to(this, false, context)),
        ("extend", 1, |this, args, context| {
            let node = node_argument(args, 0, "extend' on 'Selection", context)?;
            let offset = args.get_or_undefined(1).to_u32(context)? as usize;
            let focus = range::boundary(node, offset, context)?;
            let Some((anchor, _)) = ends(this)? else {
                return Err(exception::error("InvalidStateError", "nothing is selected", context));
            };
            set(this, anchor, focus, context)
        }),
        ("setBaseAndExtent", 4, |this, args, context| {
            bind::want(args, 4, "setBaseAndExtent' on 'Selection")?;
            let anchor = node_argument(args, 0, "setBaseAndExtent' on 'Selection", context)?;
            let anchor_offset = args[1].to_u32(context)? as usize;
            let focus = node_argument(args, 2, "setBaseAndExtent' on 'Selection", context)?;
            let focus_offset = args[3].to_u32(context)? as usize;
            let anchor = range::boundary(anchor, anchor_offset, context)?;
            let focus = range::boundary(focus, focus_offset, context)?;
            set(this, anchor, focus, context)
        }),
        ("selectAllChildren", 1, |this, args, context| {
            let node = node_argument(args, 0, "selectAllChildren' on 'Selection", context)?;
            let start = range::boundary(node, 0, context)?;
            let count = read(context, |tree| tree.children(node).count());
            set(this, start, Boundary { node, offset: count }, context)
        }),
        ("deleteFromDocument", 0, |this, _, context| {
            let held = bind::this::<Selection>(this)?.borrow().data().range.clone();
            if let Some(held) = held {
                let live = range::live(&held.into())?;
                change(context, |tree| {
                    let (_, place) = tree.cut(live.get(), Cut::Delete)?;
                    if let Some(place) = place {
                        live.set(Span { start: place, end: place });
                    }
                    Ok(())
                })?;
            }
            Ok(JsValue::undefined())
        }),
        ("containsNode", 1, |this, args, context| {
            let node = node_argument(args, 0, "containsNode' on 'Selection", context)?;
            let Some(span) = span(this)? else { return Ok(false.into()) };
            Ok(read(context, |tree| tree.span_contains(span, node)).into())
        }),
        ("toString", 0, |this, _, context| {
            let span = span(this)?;
            Ok(bind::js(&span.map(|span| read(context, |tree| tree.span_text(span))).unwrap_or_default()))
        }),
        // Lines and words need a screen.
        ("modify", 0, |this, _, _| bind::this::<Selection>(this).map(|_| JsValue::undefined())),
    ],
    attributes: &[
        end!("anchorNode", true, |at, context| wrap(at.node, context).map(JsValue::from), JsValue::null()),
        end!("anchorOffset", true, |at, _| Ok(range::number(at.offset)), 0.into()),
        end!("focusNode", false, |at, context| wrap(at.node, context).map(JsValue::from), JsValue::null()),
        end!("focusOffset", false, |at, _| Ok(range::number(at.offset)), 0.into()),
        ("isCollapsed", |this, _, _| Ok(span(this)?.is_none_or(|span| span.is_collapsed()).into()), None),
        ("rangeCount", |this, _, _| Ok(i32::from(span(this)?.is_some()).into()), None),
        (
            "type",
            |this, _, _| {
                Ok(bind::js(match span(this)? {
                    None => "None",
                    Some(span) if span.is_collapsed() => "Caret",
                    Some(_) => "Range",
                }))
            },
            None,
        ),
        (
            "direction",
            |this, _, _| {
                let selection = bind::this::<Selection>(this)?;
                let is_backward = selection.borrow().data().is_backward;
                Ok(bind::js(match span(this)? {
                    Some(span) if !span.is_collapsed() => {
                        if is_backward {
                            "backward"
                        } else {
                            "forward"
                        }
                    }
                    _ => "none",
                }))
            },
            None,
        ),
    ],
    ..bind::Interface::EMPTY
};

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    bind::define(&SELECTION, context)?;
    let method: bind::Method = ("getSelection", 0, |_, _, context| {
        if let Some(known) = realm::own::<Shared>(context) {
            return Ok(known.0.clone().into());
        }
        let made = bind::object("Selection", Selection::default(), context)?;
        realm::keep(Shared(made.clone()), context);
        Ok(made.into())
    });
    let document = bind::prototype("Document", context)?;
    bind::methods(&document, &[method], context)?;
    let global = context.global_object();
    bind::methods(&global, &[method], context)
}

/// The selected text in the window's document, if any.
pub(super) fn text(context: &Context) -> Option<String> {
    let selection = realm::own::<Shared>(context)?;
    let span = span(&selection.0.clone().into()).ok()??;
    Some(read(context, |tree| tree.span_text(span)))
}

fn span(this: &JsValue) -> JsResult<Option<Span>> {
    let held = bind::this::<Selection>(this)?.borrow().data().range.clone();
    held.map(|range| range::live(&range.into()).map(|live| live.get())).transpose()
}

/// Anchor and focus.
fn ends(this: &JsValue) -> JsResult<Option<(Boundary, Boundary)>> {
    let is_backward = bind::this::<Selection>(this)?.borrow().data().is_backward;
    Ok(span(this)?.map(|span| if is_backward { (span.end, span.start) } else { (span.start, span.end) }))
}

/// Selects a new range from the anchor to the focus, in either order. A boundary outside of the document selects nothing.
fn set(this: &JsValue, anchor: Boundary, focus: Boundary, context: &mut Context) -> JsResult<JsValue> {
    let selection = bind::this::<Selection>(this)?;
    let document = own_document(context);
    let (is_here, is_backward) = read(context, |tree| {
        let is_here = |id: NodeId| tree.root(id) == document;
        let is_here = is_here(anchor.node) && is_here(focus.node);
        (is_here, is_here && tree.compare_boundaries(anchor, focus) == std::cmp::Ordering::Greater)
    });
    if is_here {
        let (start, end) = if is_backward { (focus, anchor) } else { (anchor, focus) };
        let made = range::make(Span { start, end }, context)?;
        let mut selection = selection.borrow_mut();
        let selection = selection.data_mut();
        (selection.range, selection.is_backward) = (Some(made), is_backward);
    }
    Ok(JsValue::undefined())
}

fn clear(this: &JsValue, _: &[JsValue], _: &mut Context) -> JsResult<JsValue> {
    bind::this::<Selection>(this)?.borrow_mut().data_mut().range = None;
    Ok(JsValue::undefined())
}

fn collapse(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let Some(node) = node_argument_or_null(args, 0, "collapse' on 'Selection", context)? else {
        return clear(this, args, context);
    };
    let offset = args.get_or_undefined(1).to_u32(context)? as usize;
    let at = range::boundary(node, offset, context)?;
    set(this, at, at, context)
}

fn collapse_to(this: &JsValue, to_start: bool, context: &mut Context) -> JsResult<JsValue> {
    let Some(span) = span(this)? else {
        return Err(exception::error("InvalidStateError", "nothing is selected", context));
    };
    let at = if to_start { span.start } else { span.end };
    set(this, at, at, context)
}
