//! `textarea`, and text selection in it and in inputs (HTML §4.10.11, §4.10.20).

use boa_engine::{Context, JsArgs, JsResult, JsValue};

use super::element::{is_called, null_as_empty};
use super::{state, values};
use crate::dom::{Error, NodeId, Tree, byte_of_unit, utf16_len};
use crate::engine::{bind, events, exception, jobs};
use crate::web::{change, of, read, this_element, thrown, wrap};

/// The selection in a control, in UTF-16 units.
#[derive(Clone, Copy, Default)]
pub struct Selection {
    start: u32,
    end: u32,
    direction: Direction,
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Direction {
    Forward,
    Backward,
    #[default]
    None,
}

const TEXTAREA: &[bind::Attribute] = &[
    ("type", |_, _, _| Ok(bind::js("textarea")), None),
    (
        "value",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| value(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = null_as_empty(args, context)?;
            set_value(id, text, context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "defaultValue",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| tree.child_text(id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let text = bind::text(args, 0, context)?;
            change(context, |tree| tree.set_text_content(id, &text)).map(|()| JsValue::undefined())
        }),
    ),
    (
        "textLength",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(length(id, context).into())
        },
        None,
    ),
];

const SELECTION_METHODS: &[bind::Method] = &[
    ("select", 0, |this, _, context| {
        let id = this_element(this, context)?;
        if applies(id, context) {
            let end = length(id, context);
            put(id, Selection { start: 0, end, direction: Direction::None }, context);
        }
        Ok(JsValue::undefined())
    }),
    ("setSelectionRange", 2, |this, args, context| {
        let id = this_element(this, context)?;
        bind::want(args, 2, "setSelectionRange' on 'HTMLInputElement")?;
        let (start, end) = (args[0].to_u32(context)?, args[1].to_u32(context)?);
        let direction = match bind::text_if_given(args, 2, context)? {
            Some(text) => direction_of(&text),
            None => Direction::None,
        };
        refuse_unless_applies(id, context)?;
        put(id, Selection { start, end, direction }, context);
        Ok(JsValue::undefined())
    }),
    ("setRangeText", 1, set_range_text),
];

const SELECTION_ATTRIBUTES: &[bind::Attribute] = &[
    (
        "selectionStart",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(if applies(id, context) { selection(id, context).start.into() } else { JsValue::null() })
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let start =
                if args.get_or_undefined(0).is_null() { 0 } else { args.get_or_undefined(0).to_u32(context)? };
            refuse_unless_applies(id, context)?;
            let now = selection(id, context);
            put(id, Selection { start, end: now.end.max(start), ..now }, context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "selectionEnd",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(if applies(id, context) { selection(id, context).end.into() } else { JsValue::null() })
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let end = if args.get_or_undefined(0).is_null() { 0 } else { args.get_or_undefined(0).to_u32(context)? };
            refuse_unless_applies(id, context)?;
            let now = selection(id, context);
            put(id, Selection { end, ..now }, context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "selectionDirection",
        |this, _, context| {
            let id = this_element(this, context)?;
            if !applies(id, context) {
                return Ok(JsValue::null());
            }
            Ok(bind::js(match selection(id, context).direction {
                Direction::Forward => "forward",
                Direction::Backward => "backward",
                Direction::None => "none",
            }))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let direction = direction_of(&bind::text(args, 0, context)?);
            refuse_unless_applies(id, context)?;
            let now = selection(id, context);
            put(id, Selection { direction, ..now }, context);
            Ok(JsValue::undefined())
        }),
    ),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    for name in ["HTMLTextAreaElement", "HTMLInputElement"] {
        let prototype = bind::prototype(name, context)?;
        bind::methods(&prototype, SELECTION_METHODS, context)?;
        bind::attributes(&prototype, SELECTION_ATTRIBUTES, context)?;
    }
    let prototype = bind::prototype("HTMLTextAreaElement", context)?;
    bind::attributes(&prototype, TEXTAREA, context)
}

/// The value of a `textarea`, with line breaks as single LFs ("API value").
pub fn value(tree: &Tree, id: NodeId) -> String {
    let own = tree.element(id).and_then(|element| element.state.value.clone());
    let text = own.unwrap_or_else(|| tree.child_text(id));
    if text.contains('\r') { text.replace("\r\n", "\n").replace('\r', "\n") } else { text }
}

/// Sets the value of a `textarea`.
pub fn set_value(id: NodeId, text: String, context: &mut Context) {
    let before = read(context, |tree| value(tree, id));
    keep_value(id, Some(text), context);
    if read(context, |tree| value(tree, id)) != before {
        cursor_to_end(id, context);
    }
}

/// Stores a control's own value if the document has room; with `None` it follows its attribute or text again.
pub(super) fn keep_value(id: NodeId, value: Option<String>, context: &Context) {
    let longest = crate::limits::DOM_TEXT_BYTES_MAX;
    let fits = value.as_ref().is_none_or(|value| value.len() <= longest);
    if let Some(state) = of(context).borrow_mut().tree.state_mut(id).filter(|_| fits) {
        state.value = value;
    }
}

pub(super) fn cursor_to_end(id: NodeId, context: &Context) {
    let end = length(id, context);
    let selection = Selection { start: end, end, direction: Direction::None };
    state(context).borrow_mut().selections.insert(id, selection);
}

fn text_of(tree: &Tree, id: NodeId) -> String {
    if is_called(tree, id, &["textarea"]) { value(tree, id) } else { values::of_input(tree, id) }
}

fn length(id: NodeId, context: &Context) -> u32 {
    u32::try_from(read(context, |tree| utf16_len(&text_of(tree, id)))).unwrap_or(u32::MAX)
}

fn applies(id: NodeId, context: &Context) -> bool {
    read(context, |tree| {
        is_called(tree, id, &["textarea"])
            || matches!(values::kind(tree, id), "text" | "search" | "tel" | "url" | "password")
    })
}

fn refuse_unless_applies(id: NodeId, context: &mut Context) -> JsResult<()> {
    if applies(id, context) {
        return Ok(());
    }
    Err(exception::error("InvalidStateError", "The input element's type does not support selection.", context))
}

fn direction_of(text: &str) -> Direction {
    match text {
        "forward" => Direction::Forward,
        "backward" => Direction::Backward,
        _ => Direction::None,
    }
}

fn selection(id: NodeId, context: &Context) -> Selection {
    let known = state(context).borrow().selections.get(&id).copied().unwrap_or_default();
    let length = length(id, context);
    Selection { start: known.start.min(length), end: known.end.min(length), ..known }
}

/// The text that a script selected in a control of the document, and the control.
pub(super) fn selected_text(context: &Context) -> Option<(String, NodeId)> {
    let id = state(context).borrow().selected?;
    let text = read(context, |tree| tree.is_connected(id).then(|| text_of(tree, id)))?;
    let selection = selection(id, context);
    let from = byte_of_unit(&text, selection.start as usize)?;
    let to = byte_of_unit(&text, selection.end as usize)?;
    text.get(from..to).filter(|text| !text.is_empty()).map(|text| (text.to_owned(), id))
}

/// "Set the selection range"; its event fires in a task.
fn put(id: NodeId, wanted: Selection, context: &mut Context) {
    let length = length(id, context);
    let end = wanted.end.min(length);
    let new = Selection { start: wanted.start.min(end), end, ..wanted };
    let old = selection(id, context);
    {
        let state = state(context);
        let mut state = state.borrow_mut();
        state.selections.insert(id, new);
        if new.start < new.end {
            state.selected = Some(id);
        }
    }
    let same = (old.start, old.end) == (new.start, new.end) && old.direction == new.direction;
    let Ok(object) = wrap(id, context) else { return };
    if !same {
        jobs::post(context, 0, move |context| {
            events::fire(&object, "Event", "select", (true, false), &[], context);
            Ok(())
        });
    }
}

/// `setRangeText(replacement, start, end, mode)` (§4.10.20).
fn set_range_text(this: &JsValue, args: &[JsValue], context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    bind::want(args, 1, "setRangeText' on 'HTMLInputElement")?;
    let new = bind::text(args, 0, context)?;
    let range = match args.len() {
        1 => None,
        2 => return Err(bind::type_error("Failed to execute 'setRangeText': 3 arguments required.")),
        _ => Some((args[1].to_u32(context)?, args[2].to_u32(context)?)),
    };
    let mode = bind::text_if_given(args, 3, context)?.unwrap_or_else(|| "preserve".to_owned());
    if !["select", "start", "end", "preserve"].contains(&mode.as_str()) {
        return Err(bind::type_error("The provided value is not a valid enum value of type SelectionMode."));
    }
    refuse_unless_applies(id, context)?;
    let now = selection(id, context);
    let (start, end) = range.unwrap_or((now.start, now.end));
    if start > end {
        return Err(thrown(Error::IndexSize, context));
    }
    let old = read(context, |tree| text_of(tree, id));
    let length = u32::try_from(utf16_len(&old)).unwrap_or(u32::MAX);
    let (start, end) = (start.min(length), end.min(length));
    let (from, to) = (byte_of_unit(&old, start as usize), byte_of_unit(&old, end as usize));
    let (Some(from), Some(to)) = (from, to) else { return Err(thrown(Error::IndexSize, context)) };
    let whole = format!("{}{new}{}", &old[..from], &old[to..]);
    keep_value(id, Some(whole), context);
    let new_end = start + u32::try_from(utf16_len(&new)).unwrap_or(0);
    let moved = |at: u32, inside: u32| {
        if at > end {
            at - end + new_end
        } else if at > start {
            inside
        } else {
            at
        }
    };
    let (start, end) = match mode.as_str() {
        "select" => (start, new_end),
        "start" => (start, start),
        "end" => (new_end, new_end),
        _ => (moved(now.start, start), moved(now.end, new_end)),
    };
    put(id, Selection { start, end, direction: Direction::None }, context);
    Ok(JsValue::undefined())
}
