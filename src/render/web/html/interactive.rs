//! `details` and `dialog` (HTML §4.11): open and closed, with their events.

use boa_engine::{Context, JsResult, JsValue};

use super::element::is_called;
use super::reflect::{has, set_flag, text};
use super::state;
use crate::dom::{NodeId, Tree};
use crate::engine::{bind, events, exception, jobs};
use crate::web::{read, this_element, wrap};

const DIALOG_METHODS: &[bind::Method] = &[
    ("show", 0, |this, _, context| show(this, false, context)),
    ("showModal", 0, |this, _, context| show(this, true, context)),
    ("close", 0, |this, args, context| {
        let id = this_element(this, context)?;
        let value = bind::text_if_given(args, 0, context)?;
        close(id, value, context);
        Ok(JsValue::undefined())
    }),
    ("requestClose", 0, |this, args, context| {
        let id = this_element(this, context)?;
        let value = bind::text_if_given(args, 0, context)?;
        let object = wrap(id, context)?;
        if events::fire(&object, "Event", "cancel", (false, true), &[], context) {
            close(id, value, context);
        }
        Ok(JsValue::undefined())
    }),
];

const DIALOG_ATTRIBUTES: &[bind::Attribute] = &[(
    "returnValue",
    |this, _, context| {
        let id = this_element(this, context)?;
        Ok(bind::js(state(context).borrow().results.get(&id).map_or("", String::as_str)))
    },
    Some(|this, args, context| {
        let id = this_element(this, context)?;
        let value = bind::text(args, 0, context)?;
        state(context).borrow_mut().results.insert(id, value);
        Ok(JsValue::undefined())
    }),
)];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let dialog = bind::prototype("HTMLDialogElement", context)?;
    bind::methods(&dialog, DIALOG_METHODS, context)?;
    bind::attributes(&dialog, DIALOG_ATTRIBUTES, context)
}

fn show(this: &JsValue, modal: bool, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let (is_open, is_connected) = read(context, |tree| (has(tree, id, "open"), tree.is_connected(id)));
    let is_modal = state(context).borrow().modals.contains(&id);
    if is_open && is_modal == modal {
        return Ok(JsValue::undefined());
    }
    if is_open || (modal && !is_connected) {
        return Err(exception::error("InvalidStateError", "The dialog is open already, or in no document.", context));
    }
    if modal {
        state(context).borrow_mut().modals.insert(id);
    }
    set_flag(id, "open", true, context).map(|()| JsValue::undefined())
}

/// "Close the dialog" (§4.11.4); its event is a task.
pub fn close(id: NodeId, result: Option<String>, context: &mut Context) {
    if !read(context, |tree| has(tree, id, "open")) {
        return;
    }
    // Removing an attribute needs no space.
    let _ = set_flag(id, "open", false, context);
    let shared = state(context);
    shared.borrow_mut().modals.remove(&id);
    if let Some(result) = result {
        shared.borrow_mut().results.insert(id, result);
    }
    let Ok(object) = wrap(id, context) else { return };
    jobs::post(context, 0, move |context| {
        events::fire(&object, "Event", "close", (false, false), &[], context);
        Ok(())
    });
}

/// The details whose summary this is.
pub fn details_of(tree: &Tree, summary: NodeId) -> Option<NodeId> {
    let details = tree.parent(summary).filter(|parent| is_called(tree, *parent, &["details"]))?;
    let first = tree.child_elements(details).find(|child| is_called(tree, *child, &["summary"]));
    (first == Some(summary)).then_some(details)
}

/// The `open` attribute of an element changed: details fire `toggle` in a task, and others with the same name close.
pub(super) fn open_changed(id: NodeId, was: bool, is: bool, context: &mut Context) {
    if was == is || !read(context, |tree| is_called(tree, id, &["details"])) {
        return;
    }
    if is {
        let others = read(context, |tree| {
            let name = text(tree, id, "name").filter(|name| !name.is_empty())?;
            let same = |other: &NodeId| {
                *other != id
                    && is_called(tree, *other, &["details"])
                    && text(tree, *other, "name") == Some(name)
                    && has(tree, *other, "open")
            };
            Some(tree.descendants(tree.root(id)).filter(same).collect::<Vec<_>>())
        });
        for other in others.unwrap_or_default() {
            let _ = set_flag(other, "open", false, context);
        }
    }
    let Ok(object) = wrap(id, context) else { return };
    let word = |open: bool| if open { "open" } else { "closed" };
    jobs::post(context, 0, move |context| {
        let members = [("oldState", bind::js(word(was))), ("newState", bind::js(word(is)))];
        events::fire(&object, "ToggleEvent", "toggle", (false, false), &members, context);
        Ok(())
    });
}
