//! User input into form controls: types into one, chooses an option, checks a box, and submits the form, with the events that browsers
//! fire.
//!
//! Values are set below any property that a page has defined over `value` (React watches it that way), and then events fire: frameworks
//! take them for typed. The caller decides which control gets what, using markup with marked controls.

use boa_engine::{Context, JsObject, JsValue, js_string};

use super::element::{is_called, move_focus};
use super::{input, select, submit, text, values};
use crate::dom::NodeId;
use crate::engine::{bind, events, jobs};
use crate::web::{interact, read, wrap};
use crate::wire::Submit;

/// The node of a mark, while it is in the document.
fn of_mark(mark: u32, context: &Context) -> Option<NodeId> {
    let id = NodeId::from_u32(mark)?;
    read(context, |tree| is_called(tree, id, &["button", "input", "select", "textarea"]) && tree.is_connected(id))
        .then_some(id)
}

/// Types a text into a control, or checks a box if there is no text; false if the control does not exist.
pub fn fill_in(mark: u32, typed: Option<&str>, context: &mut Context) -> bool {
    let Some(id) = of_mark(mark, context) else { return false };
    let Ok(object) = wrap(id, context) else { return false };
    jobs::outside(context, |context| match typed {
        Some(typed) => type_in(id, &object, typed, context),
        None if read(context, |tree| tree.is_checked(id)) => {}
        // An exception is reported where it is thrown.
        None => drop(interact::click(id, context)),
    });
    true
}

/// Chooses an option of a select list.
pub fn choose(option: NodeId, context: &mut Context) {
    let above = read(context, |tree| tree.ancestors(option).take(2).find(|id| is_called(tree, *id, &["select"])));
    let Some(Ok(object)) = above.map(|select| wrap(select, context)) else { return };
    jobs::outside(context, |context| {
        select::set_selected(option, true, context);
        events::fire(&object, "Event", "input", (true, false), &[], context);
        events::fire(&object, "Event", "change", (true, false), &[], context);
    });
}

fn type_in(id: NodeId, object: &JsObject, typed: &str, context: &mut Context) {
    let is_hidden = read(context, |tree| {
        is_called(tree, id, &["input"]) && values::mode(values::kind(tree, id)) == values::Mode::Default
    });
    if is_hidden {
        // A user cannot type into a hidden input, so no event fires.
        let _ = input::set_value(id, typed, context);
        return;
    }
    move_focus(Some(id), context);
    if read(context, |tree| is_called(tree, id, &["select"])) {
        let wanted = read(context, |tree| {
            select::options(tree, id).into_iter().find(|option| select::option_value(tree, *option) == typed)
        });
        if let Some(option) = wanted {
            select::set_selected(option, true, context);
        }
    } else {
        // One key event stands for the whole text: key listeners read the whole value.
        key(object, "keydown", "Unidentified", context);
        let data = [("data", bind::js(typed)), ("inputType", js_string!("insertText").into())];
        events::fire(object, "InputEvent", "beforeinput", (true, true), &data, context);
        if read(context, |tree| is_called(tree, id, &["textarea"])) {
            text::set_value(id, typed.to_owned(), context);
        } else {
            // Only a file input rejects a value.
            let _ = input::set_value(id, typed, context);
        }
    }
    let data = [("data", bind::js(typed)), ("inputType", js_string!("insertText").into())];
    events::fire(object, "InputEvent", "input", (true, false), &data, context);
    if !read(context, |tree| is_called(tree, id, &["select"])) {
        key(object, "keyup", "Unidentified", context);
    }
    events::fire(object, "Event", "change", (true, false), &[], context);
}

/// A key event; false if it was cancelled.
fn key(object: &JsObject, kind: &str, name: &str, context: &mut Context) -> bool {
    let code = if name == "Enter" { 13 } else { 0 };
    let members = [
        ("key", bind::js(name)),
        ("code", bind::js(if name == "Enter" { name } else { "" })),
        ("keyCode", JsValue::from(code)),
        ("which", JsValue::from(code)),
        ("charCode", JsValue::from(if kind == "keypress" { code } else { 0 })),
    ];
    events::fire(object, "KeyboardEvent", kind, (true, true), &members, context)
}

/// Blurs the control filled in last: the page's reaction belongs to the typing, not to the submission.
pub fn leave(context: &mut Context) {
    jobs::outside(context, |context| move_focus(None, context));
}

/// Submits the form of a control.
///
/// # Errors
/// The mark of a control that does not exist.
pub fn send(how: Submit, context: &mut Context) -> Result<(), u32> {
    let (Submit::Click(mark) | Submit::Enter(mark)) = how;
    let id = of_mark(mark, context).ok_or(mark)?;
    let object = wrap(id, context).map_err(|_| mark)?;
    jobs::outside(context, |context| {
        move_focus(Some(id), context);
        if let Submit::Click(_) = how {
            // An exception is reported where it is thrown.
            let _ = interact::click(id, context);
            return;
        }
        let goes_on = key(&object, "keydown", "Enter", context) && key(&object, "keypress", "Enter", context);
        if let Some(form) = read(context, |tree| tree.form_owner(id)).filter(|_| goes_on) {
            submit::submit(form, None, true, context);
        }
        key(&object, "keyup", "Enter", context);
    });
    Ok(())
}
