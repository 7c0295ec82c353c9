//! `input` (HTML §4.10.5): value, checkedness, numbers, dates and steps.

use boa_engine::object::builtins::JsDate;
use boa_engine::{Context, Finalize, JsArgs, JsData, JsResult, JsValue, Trace};

use super::element::{is_called, null_as_empty};
use super::reflect::{set_text, text as attribute};
use super::text;
use super::values::{self, Mode};
use crate::dom::{NodeId, Tree};
use crate::engine::{bind, exception};
use crate::web::{of, read, slot, this_element, wrap_or_null};

/// The files of an input; always empty, since no user chooses any.
#[derive(Trace, Finalize, JsData)]
struct FileList;

const ATTRIBUTES: &[bind::Attribute] = &[
    (
        "value",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(bind::js(&read(context, |tree| values::of_input(tree, id))))
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = null_as_empty(args, context)?;
            set_value(id, &value, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "checked",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| is_checked(tree, id)).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            set_checked(id, args.get_or_undefined(0).to_boolean(), context);
            Ok(JsValue::undefined())
        }),
    ),
    (
        "indeterminate",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(read(context, |tree| tree.element(id).is_some_and(|one| one.state.indeterminate)).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let on = args.get_or_undefined(0).to_boolean();
            if let Some(state) = of(context).borrow_mut().tree.state_mut(id) {
                state.indeterminate = on;
            }
            Ok(JsValue::undefined())
        }),
    ),
    (
        "files",
        |this, _, context| {
            let id = this_element(this, context)?;
            if read(context, |tree| values::kind(tree, id)) != "file" {
                return Ok(JsValue::null());
            }
            slot(id, "files", context, |context| bind::object("FileList", FileList, context)).map(JsValue::from)
        },
        Some(|this, _, context| this_element(this, context).map(|_| JsValue::undefined())),
    ),
    (
        "list",
        |this, _, context| {
            let id = this_element(this, context)?;
            let list = read(context, |tree| {
                let name = attribute(tree, id, "list")?;
                tree.element_by_id(tree.root(id), name).filter(|list| is_called(tree, *list, &["datalist"]))
            });
            wrap_or_null(list, context)
        },
        None,
    ),
    (
        "valueAsNumber",
        |this, _, context| {
            let id = this_element(this, context)?;
            Ok(number(id, context).unwrap_or(f64::NAN).into())
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let value = args.get_or_undefined(0).to_number(context)?;
            if value.is_infinite() {
                return Err(bind::type_error("The value provided is infinite."));
            }
            let kind = read(context, |tree| values::kind(tree, id));
            if !values::has_numbers(kind) {
                return Err(invalid_state("This input element does not support Number values.", context));
            }
            let text = if value.is_nan() { String::new() } else { values::number_text(kind, value) };
            set_value(id, &text, context).map(|()| JsValue::undefined())
        }),
    ),
    (
        "valueAsDate",
        |this, _, context| {
            let id = this_element(this, context)?;
            match date_of(id, context) {
                Some(time) => {
                    let date = JsDate::new(context);
                    date.set_time(time, context)?;
                    Ok(date.into())
                }
                None => Ok(JsValue::null()),
            }
        },
        Some(|this, args, context| {
            let id = this_element(this, context)?;
            let kind = read(context, |tree| values::kind(tree, id));
            if !matches!(kind, "date" | "month" | "week" | "time") {
                return Err(invalid_state("This input element does not support Date values.", context));
            }
            let given = args.get_or_undefined(0);
            if given.is_null() {
                return set_value(id, "", context).map(|()| JsValue::undefined());
            }
            let date = given.as_object().and_then(|object| JsDate::from_object(object).ok());
            let date = date.ok_or_else(|| bind::type_error("The provided value is not a Date."))?;
            let time = date.get_time(context)?.to_number(context)?;
            let value = match kind {
                "month" => {
                    let day = super::moments::text("date", time);
                    super::moments::number("month", day.get(..day.len().saturating_sub(3)).unwrap_or_default())
                }
                _ => Some(time),
            };
            let text = value.filter(|value| value.is_finite()).map(|value| values::number_text(kind, value));
            set_value(id, &text.unwrap_or_default(), context).map(|()| JsValue::undefined())
        }),
    ),
];

pub(super) fn install(context: &mut Context) -> JsResult<()> {
    let files = bind::define(&bind::Interface { name: "FileList", ..bind::Interface::EMPTY }, context)?;
    bind::methods(&files, &[("item", 1, |_, _, _| Ok(JsValue::null()))], context)?;
    bind::attributes(&files, &[("length", |_, _, _| Ok(0.into()), None)], context)?;
    let prototype = bind::prototype("HTMLInputElement", context)?;
    bind::attributes(&prototype, ATTRIBUTES, context)?;
    let steps: &[bind::Method] = &[
        ("stepUp", 0, |this, args, context| step(this, args, 1.0, context)),
        ("stepDown", 0, |this, args, context| step(this, args, -1.0, context)),
    ];
    bind::methods(&prototype, steps, context)
}

fn invalid_state(message: &str, context: &mut Context) -> boa_engine::JsError {
    exception::error("InvalidStateError", message, context)
}

/// Checkedness; inputs of other types store it as well.
fn is_checked(tree: &Tree, id: NodeId) -> bool {
    let own = tree.element(id).and_then(|element| element.state.checked);
    own.unwrap_or_else(|| super::reflect::has(tree, id, "checked"))
}

/// Sets the value of an input as a script does.
///
/// # Errors
/// For a file input, whose value scripts cannot set.
pub fn set_value(id: NodeId, value: &str, context: &mut Context) -> JsResult<()> {
    let kind = read(context, |tree| values::kind(tree, id));
    match values::mode(kind) {
        Mode::Default | Mode::DefaultOn => set_text(id, "value", value, context),
        Mode::Filename if value.is_empty() => Ok(()),
        Mode::Filename => Err(invalid_state(
            "An input of files accepts a filename, which may only be set to the empty string.",
            context,
        )),
        Mode::Value => {
            let before = read(context, |tree| values::of_input(tree, id));
            let after = read(context, |tree| values::sanitize(tree, id, kind, value));
            let moved = before != after;
            text::keep_value(id, Some(after), context);
            if moved {
                text::cursor_to_end(id, context);
            }
            Ok(())
        }
    }
}

/// The radio buttons that exclude each other, including this one (§4.10.5.1.16).
pub fn group(tree: &Tree, id: NodeId) -> Vec<NodeId> {
    let Some(name) = attribute(tree, id, "name").filter(|name| !name.is_empty()) else { return vec![id] };
    let (root, owner) = (tree.root(id), tree.form_owner(id));
    let is_of_group = |other: &NodeId| {
        is_called(tree, *other, &["input"])
            && attribute(tree, *other, "name") == Some(name)
            && values::kind(tree, *other) == "radio"
            && tree.form_owner(*other) == owner
    };
    std::iter::once(root).chain(tree.descendants(root)).filter(is_of_group).collect()
}

/// Checks or unchecks an input; checking unchecks the other radio buttons of its group.
pub fn set_checked(id: NodeId, on: bool, context: &Context) {
    let is_radio = read(context, |tree| values::kind(tree, id) == "radio");
    let others = if on && is_radio { read(context, |tree| group(tree, id)) } else { Vec::new() };
    let web = of(context);
    let tree = &mut web.borrow_mut().tree;
    for other in others {
        if let Some(state) = tree.state_mut(other) {
            state.checked = Some(false);
        }
    }
    if let Some(state) = tree.state_mut(id) {
        state.checked = Some(on);
    }
}

/// The input's type changed: moves its value to where the new type stores it (§4.10.5 "type change").
pub(super) fn type_changed(id: NodeId, old: Option<&str>, context: &mut Context) {
    let own = read(context, |tree| {
        let own = tree.element(id).filter(|_| is_called(tree, id, &["input"]))?;
        own.state.value.clone().map(|value| (value, values::mode(values::kind(tree, id))))
    });
    let Some((value, now)) = own else { return };
    let before = values::mode(super::table::INPUT_TYPE.state(old).unwrap_or("text"));
    match (before, now) {
        (Mode::Value, Mode::Value) => {}
        (Mode::Value, Mode::Default | Mode::DefaultOn) if !value.is_empty() => {
            text::keep_value(id, None, context);
            // If the document is full, the old attribute stays.
            let _ = set_text(id, "value", &value, context);
        }
        _ => text::keep_value(id, None, context),
    }
}

fn number(id: NodeId, context: &Context) -> Option<f64> {
    read(context, |tree| values::number(values::kind(tree, id), &values::of_input(tree, id)))
}

/// The time that `valueAsDate` returns.
fn date_of(id: NodeId, context: &Context) -> Option<f64> {
    let kind = read(context, |tree| values::kind(tree, id));
    let value = number(id, context)?;
    match kind {
        "date" | "week" | "time" => Some(value),
        "month" => super::moments::number("date", &format!("{}-01", values::number_text(kind, value))),
        _ => None,
    }
}

/// `stepUp(n)` and `stepDown(n)` (§4.10.5.4).
fn step(this: &JsValue, args: &[JsValue], sign: f64, context: &mut Context) -> JsResult<JsValue> {
    let id = this_element(this, context)?;
    let count = match args.get_or_undefined(0) {
        given if given.is_undefined() => 1,
        given => given.to_i32(context)?,
    };
    let kind = read(context, |tree| values::kind(tree, id));
    let step = read(context, |tree| values::step(tree, id, kind));
    let Some(step) = step.filter(|_| values::has_numbers(kind)) else {
        return Err(invalid_state("This form element does not have an allowed value step.", context));
    };
    let (base, (least, most)) =
        read(context, |tree| (values::step_base(tree, id, kind), values::bounds(tree, id, kind)));
    if matches!((least, most), (Some(least), Some(most)) if least > most) {
        return Ok(JsValue::undefined());
    }
    let before = number(id, context).unwrap_or(0.0);
    let by = sign * f64::from(count);
    let steps = (before - base) / step;
    let mut value = if (steps - steps.round()).abs() < 1e-9 {
        before + by * step
    } else if by < 0.0 {
        base + steps.floor() * step + (by + 1.0) * step
    } else {
        base + steps.ceil() * step + (by - 1.0) * step
    };
    if let Some(least) = least.filter(|least| value < *least) {
        value = base + ((least - base) / step).ceil() * step;
    }
    if let Some(most) = most.filter(|most| value > *most) {
        value = base + ((most - base) / step).floor() * step;
    }
    // A step never goes in the opposite direction.
    if (by < 0.0 && value > before) || (by > 0.0 && value < before) {
        return Ok(JsValue::undefined());
    }
    let rounded = (value * 1e12).round() / 1e12;
    let value = if rounded.is_finite() { rounded } else { value };
    set_value(id, &values::number_text(kind, value), context).map(|()| JsValue::undefined())
}

/// Whether a control is an input that a click checks.
pub fn is_checkable(tree: &Tree, id: NodeId) -> bool {
    is_called(tree, id, &["input"]) && matches!(values::kind(tree, id), "checkbox" | "radio")
}
